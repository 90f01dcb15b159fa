/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The section `kinetic`: the energy sum_k p_k^2/(2 m_k) with one mass for all, one for each name, or one for each entry
 * of an array; and the inertia of rotations (load_rotations.c). */
#include "model/load.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Does the formula have the name i, and the file no other meaning of it? */
static bool has_i(const struct lgv_loader *l, const char *text) {
    if (lgv_scope_find(&l->m->scope, "i")) return false;
    for (size_t k = 0; text[k];) {
        size_t n = 0, more;
        while ((more = lgv_formula_in_name(text + k + n)) > 0) n += more;
        if (n == 1 && text[k] == 'i') return true;
        k += n ? n : 1;
    }
    return false;
}

/* A formula in which i is the number of the entry, as the body of a loop over them: i is loop variable 0. */
static bool mass_of_entry(struct lgv_loader *l, int node, long length, int *out) {
    struct lgv_scope *scope = &l->m->scope;
    struct lgv_formula_error why;
    struct lgv_value v;
    struct lgv_text text = {0};
    int nest;
    lgv_text_add(&text, "each(i=1..%ld, ", length);
    const size_t before = text.size;
    lgv_text_add(&text, "%s)", lgv_yaml_node(l, node)->text);
    if (text.failed) {
        lgv_text_free(&text);
        return lgv_yaml_memory(l);
    }
    scope->allow = 0;
    scope->place = "a mass";
    bool ok = lgv_formula_parse(scope, text.data, &v, &nest, &why);
    lgv_text_free(&text);
    why.offset = why.offset > before ? why.offset - before : 0;
    if (!ok) return lgv_yaml_fail_in(l, node, &why);
    *out = v.node[0];
    return v.dim == 1 || lgv_yaml_fail(l, node, "a mass is a number, but this is a vector");
}

/* The mass of all entries of d, or of entry i. */
static bool read_mass(struct lgv_loader *l, int node, const struct lgv_declared *d, int *out) {
    struct lgv_evaluator e;
    struct lgv_env env = {.par = l->m->par};
    const char *text = lgv_yaml_text(l, node, "a mass");
    const bool each = text && d->length && has_i(l, text);
    double mass = 1;
    if (!text || !(each ? mass_of_entry(l, node, d->length, out) : lgv_load_number(l, node, "a mass", 0, out)))
        return false;
    if (!lgv_eval_begin(&e, l->m->graph)) return lgv_yaml_memory(l);
    for (long i = 1; i <= (each ? d->length : 1) && mass > 0 && isfinite(mass); i++)
        mass = lgv_eval_node(&e, *out, &env, &i);
    lgv_eval_end(&e);
    lgv_scope_fix(&l->m->scope, *out); /* what is checked here is checked again for another value */
    return (mass > 0 && isfinite(mass)) || lgv_yaml_fail(l, node, "the mass is %g; it must be positive", mass);
}

/* One mass for all, or a mapping name: mass. */
static bool read_masses(struct lgv_loader *l, int node, int *mass) {
    size_t n = l->ncoordinates;
    if (lgv_yaml_node(l, node)->kind != LGV_YAML_MAPPING) {
        size_t k = 0;
        while (k < n && (l->coordinate[k].dim == 4 || l->coordinate[k].coupled)) k++;
        if (k == n)
            return lgv_yaml_fail(l, node, "no coordinate has a mass: the inertia of coupled bodies has an angular and "
                                          "a linear part instead");
        const struct lgv_declared one = {.length = 0};
        if (!read_mass(l, node, n == 1 ? &l->coordinate[0] : &one, &mass[0])) return false;
        for (k = 1; k < n; k++) mass[k] = mass[0];
        return true;
    }
    if (!lgv_yaml_mapping(l, node, "masses as name: mass")) return false;
    bool seen[LGV_MAX_ENTRIES] = {0};
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        size_t k = 0;
        while (k < n && strcmp(l->coordinate[k].name, name) != 0) k++;
        if (k == n) return lgv_yaml_fail(l, key, "there is no coordinate %.60s", name);
        if (seen[k]) return lgv_yaml_fail(l, key, "%s is given twice", name);
        if (l->coordinate[k].dim == 4)
            return lgv_yaml_fail(l, key, "%s is a rotation: it has an inertia, not a mass", name);
        if (l->coordinate[k].coupled)
            return lgv_yaml_fail(l, key, "%s is a coupled body: its inertia has an angular and a linear part", name);
        seen[k] = true;
        if (!read_mass(l, value, &l->coordinate[k], &mass[k])) return false;
    }
    return true;
}

/* sum_i p_i^2/(2 m_i) with masses that differ from entry to entry. */
static int entry_energies(struct lgv_graph *g, const struct lgv_declared *d, int mass) {
    const struct lgv_level level[2] = {{lgv_expr_iconst(g, 1), lgv_expr_iconst(g, d->length)},
                                       {lgv_expr_iconst(g, 0), lgv_expr_iconst(g, d->dim - 1)}};
    int nest = lgv_expr_nest(g, 0, level, d->dim > 1 ? 2 : 1, NULL, 0);
    int index = lgv_expr_iop(g, LGV_IMUL, lgv_expr_ivar(g, 0), lgv_expr_iconst(g, d->dim));
    index = lgv_expr_iop(g, LGV_IADD, index, lgv_expr_iconst(g, d->offset - d->dim));
    if (d->dim > 1) index = lgv_expr_iop(g, LGV_IADD, index, lgv_expr_ivar(g, 1));
    int square = lgv_expr_power(g, lgv_expr_ref(g, LGV_P, index), 2);
    return lgv_expr_loop(g, nest, lgv_expr_scale(g, 0.5, lgv_expr_div(g, square, mass)));
}

/* p^2 summed over the components of one momentum; an array as a loop over all of them. */
static int squares(struct lgv_graph *g, const struct lgv_declared *d) {
    if (!d->length) {
        int sum = 0;
        for (long k = 0; k < d->size; k++)
            sum = lgv_expr_add(g, sum, lgv_expr_power(g, lgv_expr_ref_at(g, LGV_P, d->offset + k), 2));
        return sum;
    }
    struct lgv_level level = {lgv_expr_iconst(g, 1), lgv_expr_iconst(g, d->size)};
    int nest = lgv_expr_nest(g, 0, &level, 1, NULL, 0);
    int index = lgv_expr_iop(g, LGV_IADD, lgv_expr_ivar(g, 0), lgv_expr_iconst(g, d->offset - 1));
    return lgv_expr_loop(g, nest, lgv_expr_power(g, lgv_expr_ref(g, LGV_P, index), 2));
}

bool lgv_load_kinetic(struct lgv_loader *l, int node, int *out) {
    struct lgv_graph *g = l->m->graph;
    int mass[LGV_MAX_ENTRIES], one = lgv_expr_const(g, 1), inertia = -1;
    for (size_t k = 0; k < l->ncoordinates; k++) mass[k] = one;
    if (node >= 0) {
        if (!lgv_yaml_mapping(l, node, "masses as {mass: ..., inertia: ...} (a formula of momenta is a part of "
                                       "hamiltonian)"))
            return false;
        bool given = false;
        LGV_EACH(l, node, key, value) {
            const char *name = lgv_yaml_node(l, key)->text;
            bool of_rotations = strcmp(name, "inertia") == 0;
            if (strcmp(name, "mass") != 0 && !of_rotations)
                return lgv_yaml_fail(l, key, "unknown key %.60s; kinetic has mass, and inertia of rotations", name);
            if (of_rotations ? inertia >= 0 : given) return lgv_yaml_fail(l, key, "%s is given twice", name);
            if (of_rotations && !g->nrotations)
                return lgv_yaml_fail(l, key, "inertia is for rotations: there are none");
            if (!of_rotations && g->nrotations == l->ncoordinates)
                return lgv_yaml_fail(l, key, "all coordinates are rotations: they have an inertia, not a mass");
            if (of_rotations)
                inertia = value;
            else if (!read_masses(l, value, mass))
                return false;
            given |= !of_rotations;
        }
    }
    if (!lgv_load_inertia(l, inertia, out)) return false;
    for (size_t k = 0; k < l->ncoordinates; k++) {
        if (l->coordinate[k].dim == 4 || l->coordinate[k].coupled) continue;
        int half = g->node[mass[k]].uses & LGV_USES_LOOPVAR
                       ? entry_energies(g, &l->momentum[k], mass[k])
                       : lgv_expr_scale(g, 0.5, lgv_expr_div(g, squares(g, &l->momentum[k]), mass[k]));
        *out = lgv_expr_add(g, *out, half);
    }
    return !g->failed || (node < 0 ? lgv_yaml_fail_at(l, 0, "%s", g->failed) : lgv_yaml_fail(l, node, "%s", g->failed));
}
