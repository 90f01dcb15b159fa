/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Discrete Lagrangians among the methods of a model file, Bou-Rabee & Owhadi (2009), section 4, doi
 * 10.1093/imanum/drn018; Marsden & West (2001), doi 10.1017/S096249290100006X:
 *
 *     NAME: { discrete_lagrangian: L_d, discrete_noise: [B_1, ...], second: {x: ...} }
 *
 * formulas of the ends of a step, x0 and x1 for a coordinate x, of t, where it begins, and of dt.  The action of a path
 * is the sum over its steps of  S = dt L_d(q0, q1, t) + sum_m B_m(q0, q1, t) dW_m,  and a step (q0, p0) -> (q1, p1) is
 *
 *     p0 = -D_1 S(q0, q1),     p1 = D_2 S(q0, q1).
 *
 * What stands there must belong to the model: with q1 = q0 + dt v a consistent L_d gives p0 -> p = L_v and
 * (p1 - p0)/dt -> L_q as dt -> 0, and B_m gives D_1 B_m + D_2 B_m = -h_m,q at q1 = q0.  This is looked at near the
 * start; so is what the method keeps. */
#include "model/load.h"
#include "model/point.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENDS (LGV_USES(LGV_BEFORE) | LGV_USES(LGV_AFTER) | LGV_USES(LGV_STEP) | LGV_USES_TIME)
#define LOOKS 6 /* points */

/* ---- formulas ---- */

/* x0, x1 for every coordinate x, and dt. */
static bool add_names(struct lgv_loader *l, int key) {
    struct lgv_scope *scope = &l->m->scope;
    for (size_t k = 0; k < l->ncoordinates; k++)
        for (int end = 0; end < 2 && l->coordinate[k].part != 1; end++) {
            char name[LGV_MAX_NAME + 2];
            snprintf(name, sizeof name, "%s%d", l->coordinate[k].name, end);
            if (lgv_scope_find(scope, name))
                return lgv_yaml_fail(l, key, "a discrete Lagrangian has %s for %s at the %s of a step, and the model "
                                             "uses that name: choose another there",
                                     name, l->coordinate[k].name, end ? "end" : "beginning");
            if (!lgv_load_symbol(l, name, &l->coordinate[k], end ? LGV_AFTER : LGV_BEFORE, l->coordinate[k].length))
                return false;
        }
    struct lgv_symbol *dt = lgv_scope_add(scope, "dt", LGV_SYM_VALUE); /* it hides a parameter of that name */
    if (!dt) return lgv_yaml_memory(l);
    dt->value = (struct lgv_value){1, {lgv_expr_ref_at(scope->graph, LGV_STEP, 0)}};
    return true;
}

static bool read_one_noise(struct lgv_loader *l, int node, struct lgv_discrete *d) {
    struct lgv_noise *b = &d->noise[d->nentries];
    if (!lgv_load_one_noise(l, node, "the noise of a discrete Lagrangian", ENDS, d->nnoise, b)) return false;
    lgv_scope_fix(&l->m->scope, b->body);
    d->nnoise += b->count;
    d->nentries += b->count > 0;
    return true;
}

/* As many as the model has. */
static bool read_noise(struct lgv_loader *l, int key, int node, struct lgv_discrete *d) {
    const struct lgv_model *m = l->m;
    const struct lgv_yaml_node *n = node < 0 ? NULL : lgv_yaml_node(l, node);
    bool list = n && n->kind == LGV_YAML_SEQUENCE;
    if (list && !lgv_yaml_sequence(l, node, LGV_MAX_ENTRIES, "a formula or a sequence of formulas")) return false;
    if (!(d->noise = lgv_new((list ? (size_t)n->count : 1) + 1, sizeof *d->noise))) return lgv_yaml_memory(l);
    if (n && !list && !read_one_noise(l, node, d)) return false;
    for (int child = list ? n->first : -1; child >= 0; child = lgv_yaml_next(l, child))
        if (!read_one_noise(l, child, d)) return false;
    if (d->nnoise == m->nnoise) return true;
    if (!n)
        return lgv_yaml_fail(l, key, "the model has %zu noise%s, so discrete_noise is needed: a formula B(x0, x1) for "
                                     "each, about -h", m->nnoise, m->nnoise == 1 ? "" : "s");
    return lgv_yaml_fail(l, node, "the model has %zu noise%s, and here are %zu", m->nnoise, m->nnoise == 1 ? "" : "s",
                         d->nnoise);
}

static bool read_second(struct lgv_loader *l, int node, struct lgv_discrete *d) {
    const unsigned allow = LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES(LGV_STEP);
    if (!(d->second = lgv_new(l->m->nx, sizeof *d->second))) return lgv_yaml_memory(l);
    return lgv_load_positions(l, node, "a second position", allow, d->second);
}

/* ---- what it is worth ---- */

struct look {
    struct lgv_model *m;
    struct lgv_evaluator e;
    struct lgv_function S;
    struct lgv_terms S0, S1, B0, B1, Hq, Hp, hq; /* h: the sum of w_m h_m */
    double *number;                              /* all that follows */
    double *q1, *weight, *s0, *s1, *f, *v, *xi;  /* [nx] [1 + nnoise] [np] ... */
    struct lgv_point at;
};

static void gradients(struct lgv_graph *g, const struct lgv_function *f, enum lgv_space one, struct lgv_terms *first,
                      enum lgv_space other, struct lgv_terms *second) {
    lgv_terms_gradient(g, f, one, first);
    lgv_terms_gradient(g, f, other, second);
}

static bool look_begin(struct look *k, struct lgv_model *m, const struct lgv_discrete *d) {
    struct lgv_graph *g = m->graph;
    struct lgv_function B = {0}, H = {0}, K = {0};
    struct lgv_terms unused = {0};
    *k = (struct look){.m = m};
    bool ok = lgv_model_discrete_action(m, d, false, &k->S) && lgv_model_discrete_action(m, d, true, &B) &&
              lgv_function_split(g, m->hamiltonian, false, &H) && lgv_model_increment(m, &K);
    if (ok) gradients(g, &k->S, LGV_BEFORE, &k->S0, LGV_AFTER, &k->S1);
    if (ok) gradients(g, &B, LGV_BEFORE, &k->B0, LGV_AFTER, &k->B1);
    if (ok) gradients(g, &H, LGV_Q, &k->Hq, LGV_P, &k->Hp);
    if (ok) gradients(g, &K, LGV_Q, &k->hq, LGV_P, &unused); /* with weight 0 for H */
    lgv_function_free(&B);
    lgv_function_free(&H);
    lgv_function_free(&K);
    lgv_terms_free(&unused);
    k->number = lgv_new(m->nx + 1 + m->nnoise + 5 * m->np, sizeof *k->number);
    if (!ok || g->failed || !k->number || !lgv_eval_begin(&k->e, g)) return false;
    k->q1 = k->number;
    k->weight = k->q1 + m->nx;
    k->s0 = k->weight + 1 + m->nnoise;
    k->s1 = k->s0 + m->np;
    k->f = k->s1 + m->np;
    k->v = k->f + m->np;
    k->xi = k->v + m->np;
    return true;
}

static void look_end(struct look *k) {
    struct lgv_terms *t[] = {&k->S0, &k->S1, &k->B0, &k->B1, &k->Hq, &k->Hp, &k->hq};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) lgv_terms_free(t[i]);
    lgv_function_free(&k->S);
    if (k->e.value) lgv_eval_end(&k->e);
    free(k->number);
    free(k->at.x);
}

/* At the present point: q0 there, q1, the weights. */
static struct lgv_env ends_of(const struct look *k, double dt) {
    struct lgv_env env = lgv_point_env(k->m, &k->at);
    env.space[LGV_BEFORE] = k->at.x;
    env.space[LGV_AFTER] = k->q1;
    env.space[LGV_WEIGHTS] = k->weight;
    env.space[LGV_STEP] = k->weight;
    k->weight[0] = dt;
    return env;
}

static double largest(const double *x, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = isfinite(x[i]) ? fmax(most, fabs(x[i])) : INFINITY;
    return most;
}

/* f += a x b, rows from each on. */
static void add_cross(const double *a, const double *b, double *f) {
    for (int k = 0; k < 3; k++) f[k] += a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* f = -H_q, with m x omega for rotations, m x omega + P x v and P x omega for coupled bodies; v = H_p. */
static void field(struct look *k) {
    const struct lgv_graph *g = k->m->graph;
    const double *p = k->at.x + k->m->nx;
    struct lgv_env env = lgv_point_env(k->m, &k->at);
    lgv_eval_terms(&k->e, &k->Hq, &env, k->f, k->m->np, 1);
    lgv_eval_terms(&k->e, &k->Hp, &env, k->v, k->m->np, 1);
    for (size_t i = 0; i < k->m->np; i++) k->f[i] = -k->f[i];
    for (size_t r = 0; r < g->nrotations; r++)
        for (long i = 0; i < 3 * g->rotation[r].count; i += 3) {
            const long m = g->rotation[r].p + i, P = m - 3 * g->rotation[r].count;
            add_cross(p + m, k->v + m, k->f + m);
            if (!g->rotation[r].coupled) continue;
            add_cross(p + P, k->v + P, k->f + m);
            add_cross(p + P, k->v + m, k->f + P);
        }
}

/* How far p0 and (p1 - p0)/dt of a step dt v are from p and f, in their own units. */
static double off_model(struct look *k, double dt) {
    const size_t np = k->m->np;
    const double *p = k->at.x + k->m->nx;
    double worst[2] = {0}, size[2] = {largest(p, np), largest(k->f, np)};
    memcpy(k->q1, k->at.x, k->m->nx * sizeof *k->q1);
    lgv_rotations_advance(k->m->graph, np, k->q1, k->v, dt);
    for (size_t i = 0; i < k->m->nnoise; i++) k->weight[1 + i] = 0;
    struct lgv_env env = ends_of(k, dt);
    lgv_eval_terms(&k->e, &k->S0, &env, k->s0, np, 1);
    lgv_eval_terms(&k->e, &k->S1, &env, k->s1, np, 1);
    for (size_t i = 0; i < np; i++) {
        worst[0] = fmax(worst[0], fabs(k->s0[i] + p[i]));
        worst[1] = fmax(worst[1], fabs((k->s0[i] + k->s1[i]) / dt - k->f[i]));
        if (!isfinite(k->s0[i]) || !isfinite(k->s1[i])) return NAN;
    }
    return fmax(worst[0] / fmax(size[0], 1e-300), worst[1] / fmax(size[1] + size[0], 1e-300));
}

/* How far D_1 B + D_2 B is from -h_q, for random weights. */
static double off_noise(struct look *k, double dt, uint64_t *seed) {
    const size_t np = k->m->np;
    double worst = 0, size = 0;
    memcpy(k->q1, k->at.x, k->m->nx * sizeof *k->q1);
    for (size_t i = 0; i < k->m->nnoise; i++) k->weight[1 + i] = lgv_point_draw(seed) - 0.5;
    struct lgv_env env = ends_of(k, dt);
    lgv_eval_terms(&k->e, &k->B0, &env, k->s0, np, 1);
    lgv_eval_terms(&k->e, &k->B1, &env, k->s1, np, 1);
    k->weight[0] = 0;
    lgv_eval_terms(&k->e, &k->hq, &env, k->xi, np, 1);
    for (size_t i = 0; i < np; i++) {
        worst = fmax(worst, fabs(k->s0[i] + k->s1[i] + k->xi[i]));
        size = fmax(size, fabs(k->s0[i]) + fabs(k->s1[i]) + fabs(k->xi[i]));
        if (!isfinite(k->s0[i] + k->s1[i] + k->xi[i])) return NAN;
    }
    return worst / fmax(size, 1e-300);
}

/* S(q0, q1, t; dt, w) + S(q1, q0, t + dt; -dt, -w) against their size, with q1 away from q0. */
static double off_symmetric(struct look *k, double dt) {
    struct lgv_env there = ends_of(k, dt), back = there;
    double one = lgv_eval_function(&k->e, &k->S, &there);
    back.space[LGV_BEFORE] = k->q1;
    back.space[LGV_AFTER] = k->at.x;
    back.t = there.t + dt;
    for (size_t i = 0; i <= k->m->nnoise; i++) k->weight[i] = -k->weight[i];
    double other = lgv_eval_function(&k->e, &k->S, &back);
    for (size_t i = 0; i <= k->m->nnoise; i++) k->weight[i] = -k->weight[i];
    return fabs(one + other) / fmax(fabs(one) + fabs(other), 1e-300);
}

/* xi(q0).D_1 S + xi(q1).D_2 S against its parts: J+ - J-. */
static double off_invariant(struct look *k, const struct lgv_symmetry *y, double dt) {
    struct lgv_env env = ends_of(k, dt);
    double sum = 0, size = 0;
    for (int end = 0; end < 2; end++) {
        lgv_eval_terms(&k->e, end ? &k->S1 : &k->S0, &env, k->s0, k->m->np, 1);
        struct lgv_env here = env;
        here.space[LGV_Q] = end ? k->q1 : k->at.x;
        for (size_t i = 0; i < k->m->np; i++) {
            double part = k->s0[i] * lgv_eval_node(&k->e, y->xi[i], &here, NULL);
            sum += part;
            size += fabs(part);
        }
    }
    return fabs(sum) / fmax(size, 1e-300);
}

/* q1 some way from q0, and random weights. */
static void apart(struct look *k, double dt, uint64_t *seed) {
    for (size_t i = 0; i < k->m->np; i++) k->xi[i] = k->v[i] + 0.3 * (lgv_point_draw(seed) - 0.5) / dt;
    memcpy(k->q1, k->at.x, k->m->nx * sizeof *k->q1);
    lgv_rotations_advance(k->m->graph, k->m->np, k->q1, k->xi, dt);
    for (size_t i = 0; i < k->m->nnoise; i++) k->weight[1 + i] = lgv_point_draw(seed) - 0.5;
}

#define SAME 1e-11

static bool judge(struct lgv_loader *l, int formula, int noise, struct look *k, struct lgv_discrete *d) {
    struct lgv_model *m = l->m;
    uint64_t seed = 77;
    int points = 0, undefined = 0;
    d->symmetric = true;
    d->invariant = ~0u;
    for (int number = -1; number < LOOKS; number++) {
        free(k->at.x);
        if (!lgv_point_make(m, &k->e, number, LOOKS, &k->at)) return lgv_yaml_memory(l);
        field(k);
        double p = largest(k->at.x + m->nx, m->np), f = largest(k->f, m->np), v = largest(k->v, m->np);
        if (!isfinite(p + f + v)) continue; /* no point of the model */
        double pace = 1 / (1 + f / fmax(p, 1e-3) + v / fmax(largest(k->at.x, m->nx), 1e-3));
        double far = off_model(k, 1e-4 * pace), near = off_model(k, 1e-5 * pace);
        points++;
        undefined += isnan(near);
        if (near > 0.01 && near > 0.5 * far)
            return lgv_yaml_fail(l, formula,
                                 "this is no discrete Lagrangian of the model: with q1 = q0 + dt H_p a short step does "
                                 "not begin with p and change it by dt (-H_q), off by %.2g of their size. The action "
                                 "is the sum of dt L_d, so L_d is about L, without a factor dt", near);
        if (m->nnoise && off_noise(k, 1e-4 * pace, &seed) > 1e-6)
            return lgv_yaml_fail(l, noise, "this is no noise of the model: where x1 = x0 its gradient is not that of "
                                           "-h (the action has + B dW, the Hamiltonian + h)");
        apart(k, 0.1 * pace, &seed);
        if (off_symmetric(k, 0.1 * pace) > SAME) d->symmetric = false;
        for (size_t i = 0; i < m->nsymmetries; i++)
            if (off_invariant(k, &m->symmetry[i], 0.1 * pace) > SAME) d->invariant &= ~(1u << i);
    }
    return undefined == 0 || undefined < points ||
           lgv_yaml_fail(l, formula, "this has no value at short steps near the start, where the model has one");
}

static bool examine(struct lgv_loader *l, int formula, int noise, struct lgv_discrete *d) {
    struct look k;
    bool ok = look_begin(&k, l->m, d);
    const char *why = l->m->graph->failed;
    ok = ok ? judge(l, formula, noise, &k, d) : lgv_yaml_fail(l, formula, "%s", why ? why : "out of memory");
    look_end(&k);
    return ok;
}

/* ---- the section ---- */

static bool read_entry(struct lgv_loader *l, int key, int entry) {
    struct lgv_model *m = l->m;
    int formula = -1, noise = -1, second = -1;
    if (lgv_yaml_node(l, entry)->kind != LGV_YAML_MAPPING) return true; /* the method stage says so */
    LGV_EACH(l, entry, name, value) {
        const char *text = lgv_yaml_node(l, name)->text;
        if (strcmp(text, "discrete_lagrangian") == 0) formula = value;
        if (strcmp(text, "discrete_noise") == 0) noise = value;
        if (strcmp(text, "second") == 0) second = value;
    }
    if (formula < 0) return true;
    if (m->lagrangian_only)
        return lgv_yaml_fail(l, formula, "a discrete Lagrangian needs a model with a Hamiltonian, and this Lagrangian "
                                         "has none in closed form");
    struct lgv_discrete *d = &m->discrete[m->ndiscrete++];
    if (!(d->name = lgv_copy(lgv_yaml_node(l, key)->text))) return lgv_yaml_memory(l);
    if (!lgv_load_number(l, formula, "a discrete Lagrangian (the ends of a step are NAME0 and NAME1)", ENDS,
                         &d->lagrangian))
        return false;
    lgv_scope_fix(&m->scope, d->lagrangian);
    return read_noise(l, key, noise, d) && (second < 0 || read_second(l, second, d)) && examine(l, formula, noise, d);
}

bool lgv_load_discrete(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (node < 0 || lgv_yaml_node(l, node)->kind != LGV_YAML_MAPPING) return true;
    bool any = false, ok = true;
    LGV_EACH(l, node, method, entry) {
        if (lgv_yaml_node(l, entry)->kind != LGV_YAML_MAPPING) continue;
        LGV_EACH(l, entry, key, value) any |= strcmp(lgv_yaml_node(l, key)->text, "discrete_lagrangian") == 0;
    }
    if (!any) return true;
    m->discrete = lgv_new((size_t)lgv_yaml_node(l, node)->count / 2, sizeof *m->discrete);
    if (!m->discrete) return lgv_yaml_memory(l);
    size_t known = m->scope.count;
    if (!add_names(l, node)) return false;
    LGV_EACH(l, node, key, entry)
        if (ok) ok = read_entry(l, key, entry);
    lgv_scope_fix(&m->scope, m->hamiltonian); /* with other parameters it would have to be judged again */
    for (size_t k = 0; k < m->nentries; k++) lgv_scope_fix(&m->scope, m->noise[k].body);
    lgv_load_drop(&m->scope, known);
    return ok;
}

void lgv_load_discrete_free(struct lgv_model *m) {
    for (size_t k = 0; k < m->ndiscrete; k++) {
        free(m->discrete[k].name);
        free(m->discrete[k].noise);
        free(m->discrete[k].second);
    }
    free(m->discrete);
}
