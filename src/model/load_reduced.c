/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reduced models: momenta alone, on the dual of so(3) or se(3), without the rotations or bodies they would belong to.
 * Where H, noise and forces do not know these, momenta have a motion of their own, the (stochastic) Lie-Poisson or
 * Euler-Poincare equation
 *
 *     so(3)*:  dm = m x (H_m dt + sum_k h_k,m o dW_k)
 *     se(3)*:  dm = m x w + P x v,  dP = P x w,   w and v the same sums of derivatives with respect to m and P,
 *
 * on the coadjoint orbits, where the Casimirs |m|^2, or |P|^2 and m.P, have their values for ever.  They are watched as
 * momentum maps are: m.m is p.xi with xi = m.
 *
 * Every name is among the coordinates too, without rows: inertia and forces are given by it.
 * Marsden & Ratiu (1999), doi 10.1007/978-0-387-21792-5; Arnaudon, De Castro & Holm (2018), doi
 * 10.1007/s00332-017-9404-3. */
#include "model/load.h"
#include <string.h>

/* The name among the coordinates, and where its momenta stand. */
static bool keep(struct lgv_loader *l, int key, size_t k) {
    struct lgv_graph *g = l->m->graph;
    const struct lgv_declared *d = &l->momentum[k];
    l->coordinate[k] = *d;
    l->coordinate[k].offset = l->coordinate[k].size = 0;
    if (d->part == 1) return true;
    l->coordinate[k].dim = 4;
    if (g->nrotations == LGV_MAX_ROTATIONS)
        return lgv_yaml_fail(l, key, "more than %d names of momenta in so3* or se3*; use arrays", LGV_MAX_ROTATIONS);
    g->rotation[g->nrotations++] =
        (struct lgv_rotations){.p = d->offset, .count = d->length ? d->length : 1, .coupled = d->coupled};
    return true;
}

bool lgv_load_reduced(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (!lgv_yaml_mapping(l, node, "momenta as name: start value")) return false;
    size_t count = (size_t)lgv_yaml_node(l, node)->count, names = 0; /* two for each */
    if (!count) return lgv_yaml_fail(l, node, "the model has no momenta, and no coordinates");
    l->coordinate = lgv_new(count, sizeof *l->coordinate);
    l->momentum = lgv_new(count, sizeof *l->momentum);
    if (!l->coordinate || !l->momentum) return lgv_yaml_memory(l);
    m->graph->reduced = true;
    long total = 0;
    LGV_EACH(l, node, key, value) {
        struct lgv_declared *d = &l->momentum[names];
        if (!lgv_load_declare(l, key, d)) return false;
        if (!d->reduced)
            return lgv_yaml_fail(l, key, "%s has no coordinate: only momenta in so3* or se3* can do without, as `%s in "
                                         "so3*`", d->name, d->name);
        for (size_t k = 0; k < names; k++)
            if (strcmp(l->momentum[k].name, d->name) == 0)
                return lgv_yaml_fail(l, key, "%s is declared twice", d->name);
        d->offset = total;
        if (d->part) d[1] = lgv_load_second_part(d, 3);
        for (int part = 0; part < (d->part ? 2 : 1); part++) {
            total += l->momentum[names].size;
            if (!keep(l, key, names++)) return false;
        }
        if (total > LGV_MAX_DOF) return lgv_yaml_fail(l, key, "more than %d degrees of freedom", LGV_MAX_DOF);
    }
    m->start = lgv_new((size_t)total, sizeof *m->start);
    m->component = lgv_new((size_t)total, sizeof *m->component);
    l->maxwellian = lgv_new((size_t)total, sizeof *l->maxwellian);
    if (!m->start || !m->component || !l->maxwellian) return lgv_yaml_memory(l);
    m->np = (size_t)total;
    l->ncoordinates = l->nmomenta = names;
    return lgv_load_starts(l, node, l->momentum, LGV_P, m->start, m->component);
}

/* p.xi with xi = the momenta from row `of` on, in rows `at`: |m|^2, |P|^2 or m.P, summed over an array. */
static bool add_casimir(struct lgv_loader *l, const char *name, const char *text, const struct lgv_rotations *r,
                        long at, long of) {
    struct lgv_model *m = l->m;
    if (m->nsymmetries == LGV_MAX_SYMMETRIES) return true; /* others are not watched */
    for (size_t k = 0; k < m->nsymmetries; k++)
        if (strcmp(m->symmetry[k].name, name) == 0) return true;
    struct lgv_symmetry *s = &m->symmetry[m->nsymmetries++];
    *s = (struct lgv_symmetry){
        .name = lgv_copy(name), .text = lgv_copy(text), .xi = lgv_new(m->np, sizeof *s->xi), .casimir = true};
    if (!s->name || !s->text || !s->xi) return lgv_yaml_memory(l);
    for (long i = 0; i < 3 * r->count; i++) s->xi[at + i] = lgv_expr_ref_at(m->graph, LGV_P, of + i);
    return true;
}

bool lgv_load_casimirs(struct lgv_loader *l) {
    const struct lgv_graph *g = l->m->graph;
    size_t r = 0;
    for (size_t k = 0; g->reduced && k < l->nmomenta; k++) {
        const struct lgv_declared *d = &l->momentum[k];
        char name[LGV_MAX_NAME + 40], text[LGV_MAX_NAME + 40];
        if (d->part == 1) continue;
        const struct lgv_rotations *at = &g->rotation[r++];
        const long P = at->p - 3 * at->count;
        snprintf(name, sizeof name, "casimir_%s", d->name);
        snprintf(text, sizeof text, d->part ? "%s.linear, of m.P" : "%s, a Casimir", d->name);
        if (!add_casimir(l, name, text, at, at->p, d->part ? P : at->p)) return false;
        snprintf(name, sizeof name, "casimir_%s_linear", d->name);
        snprintf(text, sizeof text, "%s.linear, of P.P", d->name);
        if (d->part && !add_casimir(l, name, text, at, P, P)) return false;
    }
    return true;
}
