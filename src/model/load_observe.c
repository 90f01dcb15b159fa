/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sections of a model file about what to look at: observables, the exact solution in terms of t, W[1..M] and the
 * start values NAME0, and the options of a run. */
#include "model/load.h"
#include <stdlib.h>
#include <string.h>

#define START (LGV_USES(LGV_DQ) | LGV_USES(LGV_DP))
#define MADE (LGV_USES(LGV_V) | LGV_USES(LGV_MU)) /* from momenta: lgv_load_without_velocities */
#define STATE (LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES(LGV_LAMBDA) | LGV_USES_TIME | START | MADE)

/* NAME0: the start value of a coordinate or momentum, of its shape, unless the file uses the name itself. */
static bool add_starts(struct lgv_loader *l, const struct lgv_declared *d, size_t count, enum lgv_space space) {
    for (size_t k = 0; k < count; k++) {
        char name[80];
        snprintf(name, sizeof name, "%s0", d[k].name);
        if (d[k].size == 0 || lgv_scope_find(&l->m->scope, name)) continue; /* 0: momenta alone */
        if (!lgv_load_symbol(l, name, &d[k], space, d[k].length)) return false;
    }
    return true;
}

static bool add_start_names(struct lgv_loader *l) {
    return add_starts(l, l->coordinate, l->ncoordinates, LGV_DQ) && add_starts(l, l->momentum, l->nmomenta, LGV_DP);
}

/* Names known in observables only: start values, h1, h2, ..., h_NAME, xi and mu of bodies and the multipliers
 * lambda[k], unless the file uses the name itself. */
static bool add_names(struct lgv_loader *l) {
    struct lgv_model *m = l->m;
    for (size_t k = 0; k < m->nentries; k++) {
        char name[2][LGV_MAX_NAME + 8];
        snprintf(name[0], sizeof name[0], "h%zu", m->noise[k].first + 1);
        snprintf(name[1], sizeof name[1], "h_%s", m->noise[k].name ? m->noise[k].name : "");
        for (int i = 0; m->noise[k].nest < 0 && i < (m->noise[k].name ? 2 : 1); i++)
            if (!lgv_scope_find(&m->scope, name[i]) && !lgv_load_value(l, name[i], m->noise[k].body)) return false;
    }
    if (!add_start_names(l) || !lgv_load_body_names(l)) return false;
    size_t multipliers = m->nconstraints + m->npenalties;
    if (!multipliers || lgv_scope_find(&m->scope, "lambda")) return true;
    struct lgv_symbol *s = lgv_scope_add(&m->scope, "lambda", LGV_SYM_STATE);
    if (!s) return lgv_yaml_memory(l);
    s->space = LGV_LAMBDA;
    s->length = (long)multipliers;
    return true;
}

/* ---- observables ---- */

/* An entry NAME: formula of `observe`, with all its components and members. */
struct entry {
    struct lgv_loader *l;
    int key, value; /* nodes of the file */
    const char *name;
    struct lgv_value v;
    int nest; /* of a family, or -1 */
    struct lgv_family family;
    size_t *capacity;
    bool written; /* members are formulas of their own */
};

static bool add_observable(const struct entry *e, const char *name, struct lgv_observable o) {
    struct lgv_model *m = e->l->m;
    if (m->nobservables == LGV_MAX_OBSERVABLES)
        return lgv_yaml_fail(e->l, e->value, "more than %d observables", LGV_MAX_OBSERVABLES);
    if (!lgv_grow(&m->observable, e->capacity, m->nobservables + 1, sizeof *m->observable))
        return lgv_yaml_memory(e->l);
    o.name = lgv_copy(name);
    o.text = lgv_copy(lgv_yaml_node(e->l, e->value)->text);
    m->observable[m->nobservables++] = o;
    return (o.name && o.text) || lgv_yaml_memory(e->l);
}

/* NAME, NAME[k], NAME.x, NAME[k].x: the components of one member; vars: its loop variables. */
static bool add_components(const struct entry *e, const long *vars, size_t member) {
    struct lgv_graph *g = e->l->m->graph;
    size_t dim = (size_t)e->v.dim;
    int levels = e->nest < 0 ? 0 : g->nest[e->nest].count;
    for (size_t c = 0; c < dim; c++) {
        char name[256];
        int n = snprintf(name, sizeof name, "%s", e->name);
        for (int k = 0; k < levels; k++)
            n += snprintf(name + n, sizeof name - (size_t)n, "%c%ld", k ? ',' : '[', vars[k]);
        n += snprintf(name + n, sizeof name - (size_t)n, dim > 1 ? "%s." : "%s", levels ? "]" : "");
        if (dim == LGV_MATRIX) n += snprintf(name + n, sizeof name - (size_t)n, "%c", "xyz"[c / 3]);
        if (dim > 1) snprintf(name + n, sizeof name - (size_t)n, "%c", "xyz"[c % 3]);
        struct lgv_observable o = {.node = e->v.node[c]};
        if (levels && e->written) o.node = lgv_loops_instance(g, o.node, vars, levels);
        if (levels && !e->written) {
            int row = lgv_expr_iop(g, LGV_IMUL, e->family.position, lgv_expr_iconst(g, (long)dim));
            o.family = true;
            o.nest = e->nest;
            o.row = lgv_expr_iop(g, LGV_IADD, row, lgv_expr_iconst(g, (long)c));
            o.member = member * dim + c;
            o.width = dim;
        }
        if (!levels || e->written) o.node = lgv_load_without_velocities(e->l, o.node);
        if (!add_observable(e, name, o)) return false;
    }
    return !g->failed || lgv_yaml_fail(e->l, e->value, "%s", g->failed);
}

struct members {
    const struct entry *e;
    size_t count;
    bool ok;
};

static bool add_member(void *user, const long *vars) {
    struct members *x = user;
    return x->ok = add_components(x->e, vars, x->count++);
}

/* What the kernel will do with a family, tried here: what cannot be written as loops is refused at its place. */
static bool try_family(const struct entry *e) {
    struct lgv_graph *g = e->l->m->graph;
    for (int c = 0; c < e->v.dim; c++) {
        struct lgv_function f = {0};
        bool ok = lgv_function_split(g, lgv_expr_loop(g, e->nest, e->v.node[c]), false, &f);
        lgv_function_free(&f);
        if (!ok) return lgv_yaml_fail(e->l, e->value, "%s", g->failed ? g->failed : "the formula is too large");
    }
    return true;
}

static bool add_family(struct entry *e) {
    struct members x = {.e = e, .ok = true};
    e->family = (struct lgv_family){.what = "observables", .limit = LGV_MAX_OBSERVABLES};
    if (!lgv_load_family(e->l, e->value, e->nest, &e->family)) return false;
    for (int c = 0; c < e->v.dim; c++) /* velocities of one member may need the masses of others */
        e->written |= (e->l->m->graph->node[e->v.node[c]].uses & MADE) != 0;
    if (!e->written && !try_family(e)) return false;
    lgv_loops_each(e->l->m->graph, e->nest, LGV_MAX_OBSERVABLES, add_member, &x);
    return x.ok;
}

/* Names that are observed anyway, and NAME, NAME[k], NAME.x of an entry before. */
static bool check_name(const struct entry *e) {
    const struct lgv_model *m = e->l->m;
    size_t n = strlen(e->name);
    for (size_t k = 0; k < m->nobservables; k++)
        if (strncmp(m->observable[k].name, e->name, n) == 0 && strchr("[.", m->observable[k].name[n]))
            return lgv_yaml_fail(e->l, e->key, "%.60s is observed twice", e->name);
    if (!lgv_formula_is_name(e->name))
        return lgv_yaml_fail(e->l, e->key, "'%.60s' is not a name (a letter, then letters, digits and _)", e->name);
    if (m->nconstraints && (strcmp(e->name, "constraint") == 0 || strcmp(e->name, "hidden_constraint") == 0))
        return lgv_yaml_fail(e->l, e->key, "%s is always observed in a model with constraints; choose another name",
                             e->name);
    return true;
}

static bool read_observable(struct lgv_loader *l, int key, int value, size_t *capacity) {
    struct entry e = {.l = l, .key = key, .value = value, .name = lgv_yaml_node(l, key)->text, .capacity = capacity};
    if (!check_name(&e) || !lgv_load_formula(l, value, "an observable", STATE, &e.v, &e.nest)) return false;
    if (strcmp(e.name, "H") == 0 && (e.nest >= 0 || e.v.dim > 1 || e.v.node[0] != l->m->hamiltonian))
        return lgv_yaml_fail(l, key, "H is the Hamiltonian and is always observed; choose another name");
    if (e.v.dim == LGV_POSE || e.v.dim == LGV_PAIR)
        return lgv_yaml_fail(l, value, "a body is observed by its parts: write %s",
                             e.v.dim == LGV_POSE ? ".position or .rotation" : ".linear or .angular");
    return e.nest >= 0 ? add_family(&e) : add_components(&e, NULL, 0);
}

bool lgv_load_observe(struct lgv_loader *l, int node) {
    size_t known = l->m->scope.count, capacity = 0;
    if (node < 0) return true;
    if (!lgv_yaml_mapping(l, node, "observables as name: formula") || !add_names(l)) return false;
    LGV_EACH(l, node, key, value) if (!read_observable(l, key, value, &capacity)) return false;
    lgv_load_drop(&l->m->scope, known);
    return true;
}

/* ---- exact solutions and options ---- */

static bool read_exact_entry(struct lgv_loader *l, int key, int value) {
    struct lgv_model *m = l->m;
    const char *name = lgv_yaml_node(l, key)->text, *known[64];
    size_t n = strcspn(name, "[. "), nknown = 0;
    for (size_t k = 0; k < l->ncoordinates + l->nmomenta; k++) {
        bool momentum = k >= l->ncoordinates;
        const struct lgv_declared *d = momentum ? &l->momentum[k - l->ncoordinates] : &l->coordinate[k];
        if (nknown < 64) known[nknown++] = d->name;
        if (strncmp(d->name, name, n) != 0 || d->name[n] || d->size == 0) continue;
        if (d->size != 1 || d->length || name[n])
            return lgv_yaml_fail(l, key,
                                 "exact solutions are supported for single numbers only, not for arrays and points");
        int *node = &m->exact[(momentum ? m->nx : 0) + (size_t)d->offset];
        if (*node >= 0) return lgv_yaml_fail(l, key, "%s is given twice", name);
        return lgv_load_number(l, value, "the exact solution",
                               LGV_USES(LGV_BROWN) | START | LGV_USES_TIME, node);
    }
    const char *near = lgv_nearest(name, known, nknown);
    return lgv_yaml_fail(l, key,
                         near ? "there is no coordinate or momentum %.60s; did you mean %s?"
                              : "there is no coordinate or momentum %.60s",
                         name, near);
}

bool lgv_load_exact(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (node < 0) return true;
    if (!lgv_yaml_mapping(l, node, "the exact solution as name: formula")) return false;
    m->exact = lgv_new(m->nx + m->np, sizeof *m->exact);
    if (!m->exact) return lgv_yaml_memory(l);
    for (size_t k = 0; k < m->nx + m->np; k++) m->exact[k] = -1;
    size_t known = m->scope.count;
    if (!add_start_names(l)) return false;
    if (m->nnoise) {
        struct lgv_symbol *s = lgv_scope_add(&m->scope, "W", LGV_SYM_STATE);
        if (!s) return lgv_yaml_memory(l);
        s->space = LGV_BROWN;
        s->length = (long)m->nnoise;
    }
    LGV_EACH(l, node, key, value) if (!read_exact_entry(l, key, value)) return false;
    lgv_load_drop(&m->scope, known);
    return true;
}

/* A list as the text of an option: entries separated by commas, those of a list in it by colons. */
static bool join(struct lgv_loader *l, int node, bool inner, struct lgv_text *out) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    for (int child = n->first; child >= 0; child = lgv_yaml_next(l, child)) {
        if (child != n->first) lgv_text_add(out, inner ? ":" : ", ");
        if (!inner && lgv_yaml_node(l, child)->kind == LGV_YAML_SEQUENCE) {
            if (!join(l, child, true, out)) return false;
            continue;
        }
        const char *text = lgv_yaml_text(l, child, "a name");
        if (!text) return false;
        lgv_text_add(out, "%s", text);
    }
    return !out->failed || lgv_yaml_memory(l);
}

/* The value of an option, malloc'd; NULL with a message. */
static char *option_text(struct lgv_loader *l, int node) {
    struct lgv_text t = {0};
    bool listed = lgv_yaml_node(l, node)->kind == LGV_YAML_SEQUENCE;
    const char *text = listed ? "" : lgv_yaml_text(l, node, "a value");
    if (text) lgv_text_add(&t, "%s", text);
    if (text && (!listed || join(l, node, false, &t)) && !t.failed) return t.data;
    if (t.failed) lgv_yaml_memory(l);
    lgv_text_free(&t);
    return NULL;
}

bool lgv_load_run(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (node < 0) return true;
    if (!lgv_yaml_mapping(l, node, "options as name: value")) return false;
    size_t count = (size_t)lgv_yaml_node(l, node)->count / 2;
    if (count > 100) return lgv_yaml_fail(l, node, "more than 100 options");
    m->run = lgv_new(count + 1, sizeof *m->run);
    if (!m->run) return lgv_yaml_memory(l);
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        for (size_t k = 0; k < m->nrun; k++)
            if (strcmp(m->run[k].key, name) == 0) return lgv_yaml_fail(l, key, "%.60s is given twice", name);
        struct lgv_run_entry *e = &m->run[m->nrun++];
        e->key = lgv_copy(name);
        if (!(e->value = option_text(l, value))) return false;
        if (!e->key) return lgv_yaml_memory(l);
        lgv_yaml_place(l, value, &e->line, &e->column);
        lgv_yaml_place(l, key, &e->key_line, &e->key_column);
    }
    return true;
}
