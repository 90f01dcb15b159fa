/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sections of a model file that are lists of functions: noise Hamiltonians h_m and constraints g_k(q) = 0.  An
 * entry each(k=1..N, formula) is a family of N of them. */
#include "model/load.h"
#include <stdlib.h>
#include <string.h>

/* ---- families ---- */

bool lgv_load_family(struct lgv_loader *l, int node, int nest_number, struct lgv_family *f) {
    struct lgv_graph *g = l->m->graph;
    const struct lgv_nest nest = g->nest[nest_number];
    if (nest.ncond) return lgv_yaml_fail(l, node, "a family of %s may not have conditions", f->what);
    f->position = lgv_expr_iconst(g, 0);
    f->count = 1;
    for (int k = 0; k < nest.count; k++) {
        const struct lgv_level level = g->level[nest.first + k];
        const struct lgv_inode low = g->inode[level.low], high = g->inode[level.high];
        if (low.op != LGV_ICONST || high.op != LGV_ICONST)
            return lgv_yaml_fail(l, node, "the ranges of a family of %s must be constant", f->what);
        if (low.value > high.value + 1) return lgv_yaml_fail(l, node, "this family of %s is empty", f->what);
        size_t length = (size_t)(high.value - low.value) + 1;
        if (length > f->limit || (f->count *= length) > f->limit)
            return lgv_yaml_fail(l, node, "more than %zu %s", f->limit, f->what);
        int here = lgv_expr_iop(g, LGV_IADD, lgv_expr_ivar(g, k), lgv_expr_iconst(g, -low.value));
        f->position = lgv_expr_iop(g, LGV_IMUL, f->position, lgv_expr_iconst(g, (long)length));
        f->position = lgv_expr_iop(g, LGV_IADD, f->position, here);
    }
    return !g->failed || lgv_yaml_fail(l, node, "%s", g->failed);
}

/* A formula or a sequence of formulas: how many there are. */
static bool list_size(struct lgv_loader *l, int node, size_t *out) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    *out = n->kind == LGV_YAML_SEQUENCE ? (size_t)n->count : 1;
    return n->kind != LGV_YAML_SEQUENCE ||
           lgv_yaml_sequence(l, node, LGV_MAX_ENTRIES, "a formula or a sequence of formulas");
}

/* ---- noise ---- */

bool lgv_load_one_noise(struct lgv_loader *l, int node, const char *place, unsigned allow, size_t first,
                        struct lgv_noise *out) {
    struct lgv_graph *g = l->m->graph;
    struct lgv_value v;
    *out = (struct lgv_noise){.first = first, .count = 1, .at = lgv_yaml_node(l, node)->at};
    if (!lgv_load_formula(l, node, place, allow, &v, &out->nest)) return false;
    if (v.dim != 1) return lgv_yaml_fail(l, node, "%s is a number, but this is a vector", place);
    out->body = v.node[0];
    out->weight = lgv_expr_iconst(g, (long)first + 1);
    if (out->nest < 0) return true;
    struct lgv_family f = {.what = "noises", .limit = LGV_MAX_NOISES};
    if (!lgv_load_family(l, node, out->nest, &f)) return false;
    out->count = f.count;
    out->weight = lgv_expr_iop(g, LGV_IADD, f.position, out->weight);
    return true;
}

static bool read_noise(struct lgv_loader *l, int key, int node, enum lgv_noise_kind kind) {
    struct lgv_model *m = l->m;
    struct lgv_noise h;
    const bool potential = kind == LGV_NOISE_POTENTIAL;
    bool momenta = !potential && m->lagrangian < 0;
    unsigned allow = LGV_USES(LGV_Q) | (momenta ? LGV_USES(LGV_P) : 0) | LGV_USES_TIME;
    const char *place = potential           ? "a noise potential"
                        : m->lagrangian < 0 ? "a noise Hamiltonian"
                                            : "the noise of a model with a Lagrangian";
    if (!lgv_load_one_noise(l, node, place, allow, m->nnoise, &h)) return false;
    if (h.count == 0) return true;
    h.potential = potential;
    if (potential) h.body = lgv_expr_scale(m->graph, -1, h.body);
    if (m->nnoise + h.count > LGV_MAX_NOISES) return lgv_yaml_fail(l, node, "more than %d noises", LGV_MAX_NOISES);
    if (kind == LGV_NOISE_ITO && !lgv_load_ito(l, node, &h)) return false;
    h.text = lgv_copy(lgv_yaml_node(l, node)->text);
    h.name = key < 0 ? NULL : lgv_copy(lgv_yaml_node(l, key)->text);
    m->nnoise += h.count;
    m->noise[m->nentries++] = h;
    return (h.text && (key < 0 || h.name)) || lgv_yaml_memory(l);
}

/* Noises with names, in a mapping. */
static bool read_named(struct lgv_loader *l, int node, enum lgv_noise_kind kind) {
    const struct lgv_model *m = l->m;
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        if (!lgv_formula_is_name(name))
            return lgv_yaml_fail(l, key, "'%.60s' is not a name (a letter, then letters, digits and _)", name);
        for (size_t k = 0; k < m->nentries; k++)
            if (m->noise[k].name && strcmp(m->noise[k].name, name) == 0)
                return lgv_yaml_fail(l, key, "the noise %s is given twice", name);
        if (!read_noise(l, key, value, kind)) return false;
    }
    return true;
}

bool lgv_load_noise(struct lgv_loader *l, int node, enum lgv_noise_kind kind) {
    struct lgv_model *m = l->m;
    size_t count;
    if (node < 0) return true;
    const bool named = lgv_yaml_node(l, node)->kind == LGV_YAML_MAPPING;
    if (named ? !lgv_yaml_mapping(l, node, "noises as name: formula") : !list_size(l, node, &count)) return false;
    if (named) count = (size_t)lgv_yaml_node(l, node)->count / 2;
    struct lgv_noise *grown = realloc(m->noise, (m->nentries + count + 1) * sizeof *grown);
    if (!grown) return lgv_yaml_memory(l);
    m->noise = grown;
    if (named) return read_named(l, node, kind);
    if (lgv_yaml_node(l, node)->kind != LGV_YAML_SEQUENCE) return read_noise(l, -1, node, kind);
    for (int child = lgv_yaml_node(l, node)->first; child >= 0; child = lgv_yaml_next(l, child))
        if (!read_noise(l, -1, child, kind)) return false;
    return true;
}

/* ---- constraints ---- */

/* A vector is as many constraints as it has components, those of one instance one after the other. */
static bool read_constraint(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    struct lgv_graph *g = m->graph;
    struct lgv_value v;
    struct lgv_constraint c = {.first = m->nconstraints, .count = 1};
    if (!lgv_load_formula(l, node, "a constraint, which is a function of the coordinates", LGV_USES(LGV_Q), &v,
                          &c.nest))
        return false;
    if (v.dim > 3) return lgv_yaml_fail(l, node, "a constraint is a number or a vector, but this is a matrix");
    for (int k = 0; k < v.dim; k++)
        if (!(g->node[v.node[k]].uses & LGV_USES(LGV_Q)))
            return lgv_yaml_fail(l, node, v.dim == 1 ? "this constraint does not depend on any coordinate"
                                                     : "a component of this constraint depends on no coordinate");
    int weight = lgv_expr_iconst(g, 0);
    if (c.nest >= 0) {
        struct lgv_family f = {.what = "constraints", .limit = LGV_MAX_DOF};
        if (!lgv_load_family(l, node, c.nest, &f)) return false;
        if (f.count == 0) return true;
        c.count = f.count;
        weight = lgv_expr_iop(g, LGV_IMUL, f.position, lgv_expr_iconst(g, v.dim));
    }
    c.count *= (size_t)v.dim;
    if (m->nconstraints + c.count > m->np)
        return lgv_yaml_fail(l, node, "more constraints than coordinates: %zu up to here, but %zu coordinates",
                             m->nconstraints + c.count, m->np);
    lgv_yaml_place(l, node, &c.line, &c.column);
    m->nconstraints += c.count;
    for (int k = 0; k < v.dim; k++) {
        c.body = v.node[k];
        c.weight = lgv_expr_iop(g, LGV_IADD, weight, lgv_expr_iconst(g, (long)c.first + k));
        if (!(c.text = lgv_copy(lgv_yaml_node(l, node)->text))) return lgv_yaml_memory(l);
        m->constraint[m->nconstraint_entries++] = c;
    }
    return true;
}

/* What later stages do first: what cannot be written as loops must be refused with the file's name. */
static bool try_sum(struct lgv_loader *l, int node) {
    struct lgv_function f = {0};
    bool ok = lgv_model_constraint_sum(l->m, &f);
    lgv_function_free(&f);
    const char *why = l->m->graph->failed;
    return ok || lgv_yaml_fail(l, node, "%s", why ? why : "the formulas are too large");
}

bool lgv_load_constraints(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    size_t count;
    if (node < 0) return true;
    if (!list_size(l, node, &count)) return false;
    m->constraint = lgv_new(3 * count + 1, sizeof *m->constraint);
    if (!m->constraint) return lgv_yaml_memory(l);
    if (lgv_yaml_node(l, node)->kind != LGV_YAML_SEQUENCE) return read_constraint(l, node) && try_sum(l, node);
    for (int child = lgv_yaml_node(l, node)->first; child >= 0; child = lgv_yaml_next(l, child))
        if (!read_constraint(l, child)) return false;
    return try_sum(l, node);
}
