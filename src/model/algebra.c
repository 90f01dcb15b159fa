/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The symbolic algebra of methods: formulas made from H, the noises h_m and the constraints that a method has in its
 * equations, as nodes or scatter terms.  Everything is built on the Poisson bracket {f, h} = f_q . h_p - f_p . h_q:
 * along the flow of h a function f changes by {f, h}.
 *
 *     Ito correction        C x = 1/2 sum_m {{x, h_m}, h_m}                     x a coordinate or a momentum
 *     generator             L0 f = {f, H} + 1/2 sum_m {{f, h_m}, h_m}
 *     martingale part       sum_m ({f, h_m} + dt/2 {{f, h_m}, H}) dW_m
 *     corrected potential   c sum_m grad h_m . M^-1 grad h_m
 *
 * Sums over instances are written out first (lgv_loops_instance), but for what is said to be summands or terms. */
#include "model/brackets.h"
#include <stdlib.h>

#define STATE (LGV_USES(LGV_Q) | LGV_USES(LGV_P))
#define COLLECTED_DOF 8  /* up to here affine increments are collected by components */
#define CONTROL_SMALL 64 /* noises times degrees of freedom: up to here the second term of a martingale part is cheap */

static void no_memory(struct lgv_graph *g) {
    if (!g->failed) g->failed = "out of memory";
}

/* The component that a REF of the state is, in models whose sums are written out. */
static size_t component(const struct lgv_graph *g, int leaf) {
    return (size_t)g->inode[g->node[leaf].aux].value;
}

/* ---- the Poisson bracket ---- */

static int conjugate(struct lgv_graph *g, int leaf) {
    const struct lgv_node n = g->node[leaf];
    return lgv_expr_ref(g, n.count == LGV_Q ? LGV_P : LGV_Q, n.aux);
}

bool lgv_halves_of(struct lgv_graph *g, int f, int h, struct lgv_halves *out) {
    size_t n = 0;
    out->leaf = lgv_diff_leaves(g, f, STATE, &n);
    out->count = n;
    out->df = lgv_new(n + 1, sizeof *out->df);
    out->dh = lgv_new(n + 1, sizeof *out->dh);
    int *other = lgv_new(n + 1, sizeof *other);
    bool ok = out->leaf && out->df && out->dh && other;
    if (!ok) no_memory(g);
    for (size_t i = 0; ok && i < n; i++) other[i] = conjugate(g, out->leaf[i]);
    if (ok) lgv_diff_gradient(g, f, out->leaf, n, out->df);
    if (ok) lgv_diff_gradient(g, h, other, n, out->dh);
    free(other);
    return ok && !g->failed;
}

void lgv_halves_free(struct lgv_halves *x) {
    free(x->leaf);
    free(x->df);
    free(x->dh);
}

int lgv_algebra_bracket(struct lgv_graph *g, int f, int h) {
    if (g->nrotations) return lgv_rotations_bracket(g, f, h);
    struct lgv_halves x;
    int id = 0;
    struct lgv_arg *arg = lgv_halves_of(g, f, h, &x) ? lgv_new(x.count + 1, sizeof *arg) : NULL;
    for (size_t i = 0; arg && i < x.count; i++)
        arg[i] = (struct lgv_arg){lgv_expr_mul(g, x.df[i], x.dh[i]), g->node[x.leaf[i]].count == LGV_Q ? 1 : -1};
    if (arg)
        id = lgv_expr_sum(g, 0, arg, x.count);
    else
        no_memory(g);
    free(arg);
    lgv_halves_free(&x);
    return id;
}

/* ---- forces ---- */

static bool add_force(struct lgv_graph *g, struct lgv_forces *f, struct lgv_term term, int weight) {
    if (!lgv_grow(&f->term, &f->capacity, f->count + 1, sizeof *f->term) ||
        !lgv_grow(&f->weight, &f->weight_capacity, f->count + 1, sizeof *f->weight)) {
        no_memory(g);
        return false;
    }
    f->weight[f->count] = weight;
    f->term[f->count++] = term;
    f->instances += term.nest < 0 ? 1 : lgv_loops_count(g, term.nest, LGV_MAX_INSTANCES);
    return true;
}

bool lgv_algebra_forces(struct lgv_graph *g, const struct lgv_function *K, struct lgv_terms *Hq,
                        struct lgv_forces *hq) {
    struct lgv_terms Kq = {0};
    bool ok = true;
    lgv_terms_gradient(g, K, LGV_Q, &Kq);
    for (size_t i = 0; ok && i < Kq.count; i++) {
        struct lgv_term t = Kq.term[i];
        size_t count;
        int *leaf = lgv_diff_leaves(g, t.value, LGV_USES(LGV_WEIGHTS), &count);
        for (size_t k = 0; ok && leaf && k < count; k++) {
            int weight = g->node[leaf[k]].aux;
            t.value = lgv_expr_only(g, Kq.term[i].value, LGV_WEIGHTS, leaf[k]);
            if (g->inode[weight].op == LGV_ICONST && g->inode[weight].value == 0)
                lgv_terms_add(g, Hq, t);
            else
                ok = add_force(g, hq, t, weight);
        }
        free(leaf);
    }
    lgv_terms_free(&Kq);
    return ok && !g->failed;
}

void lgv_forces_free(struct lgv_forces *f) {
    free(f->term);
    free(f->weight);
    *f = (struct lgv_forces){0};
}

/* ---- values, masses, curvature of a constraint ---- */

bool lgv_algebra_value(struct lgv_graph *g, int node, long row, struct lgv_terms *out) {
    struct lgv_function f;
    if (!lgv_function_split(g, node, false, &f)) return false;
    for (size_t i = 0; i < f.count; i++)
        lgv_terms_add(g, out, (struct lgv_term){f.summand[i].nest, lgv_expr_iconst(g, row), -1, f.summand[i].body});
    lgv_function_free(&f);
    return true;
}

bool lgv_algebra_inverse_masses(struct lgv_model *m, struct lgv_terms *out) {
    struct lgv_function H;
    if (!lgv_function_split(m->graph, m->hamiltonian, false, &H)) return false;
    lgv_terms_hessian(m->graph, &H, LGV_P, LGV_P, out);
    lgv_function_free(&H);
    return true;
}

int lgv_algebra_distance(struct lgv_model *m) {
    struct lgv_graph *g = m->graph;
    struct lgv_arg *arg = lgv_new(m->nx + m->np, sizeof *arg);
    size_t n = 0;
    if (!arg) no_memory(g);
    for (size_t i = 0; arg && i < m->nx + m->np; i++) {
        if (m->exact[i] < 0) continue;
        int x = lgv_expr_ref_at(g, i < m->nx ? LGV_Q : LGV_P, (long)(i < m->nx ? i : i - m->nx));
        arg[n++] = (struct lgv_arg){lgv_expr_power(g, lgv_expr_sub(g, x, m->exact[i]), 2), 1};
    }
    int id = arg ? lgv_expr_power(g, lgv_expr_sum(g, 0, arg, n), 0.5) : 0;
    free(arg);
    return id;
}

bool lgv_algebra_bend(struct lgv_model *m, const struct lgv_terms *second, struct lgv_terms *out) {
    struct lgv_graph *g = m->graph;
    int plain = lgv_expr_const(g, 0), first = lgv_expr_iconst(g, 0);
    if (m->nconstraints != 1 || g->nrotations || lgv_terms_use(g, second, LGV_USES(LGV_Q)) ||
        lgv_diff_uses(g, m->constraint[0].body, LGV_KINKS, ~0u))
        return false;
    for (size_t i = 0; i < second->count; i++) {
        const struct lgv_term *e = &second->term[i];
        int xx = lgv_expr_mul(g, lgv_expr_ref(g, LGV_Q, e->row), lgv_expr_ref(g, LGV_Q, e->col));
        int value = lgv_expr_only(g, lgv_expr_mul(g, e->value, xx), LGV_LAMBDA, lgv_expr_ref(g, LGV_LAMBDA, first));
        if (e->nest < 0)
            plain = lgv_expr_add(g, plain, value);
        else
            lgv_terms_add(g, out, (struct lgv_term){e->nest, first, -1, value});
    }
    lgv_terms_add(g, out, (struct lgv_term){-1, first, -1, plain});
    return true;
}

/* ---- the Ito correction ---- */

/* Rows of Cq, then of Cp, as sums under construction. */
struct rows {
    size_t n, *count, *capacity;
    struct lgv_arg **arg;
};

static void add_to_row(struct lgv_graph *g, struct rows *r, size_t at, struct lgv_arg arg) {
    if (!lgv_grow(&r->arg[at], &r->capacity[at], r->count[at] + 1, sizeof **r->arg))
        no_memory(g);
    else
        r->arg[at][r->count[at]++] = arg;
}

/* How leaf i moves along the flow of h, whose derivatives by the leaves are d: h_p for a q and -h_q for a p. */
static int flow_of(struct lgv_graph *g, const int *leaf, const int *d, size_t n, size_t i) {
    int partner = conjugate(g, leaf[i]);
    size_t k = 0;
    while (k < n && leaf[k] != partner) k++;
    return k == n ? lgv_expr_const(g, 0) : g->node[leaf[i]].count == LGV_Q ? d[k] : lgv_expr_scale(g, -1, d[k]);
}

/* Adds {{x, h}, h} / 2 for every component x that h moves.  Only second derivatives of h are taken, one gradient for
 * each leaf: brackets of brackets would take them again for each component. */
static void add_ito(struct lgv_graph *g, int h, struct rows *r) {
    size_t n, k;
    int *leaf = lgv_diff_leaves(g, h, STATE, &n);
    int *d = lgv_new(n + 1, sizeof *d), *second = lgv_new(n + 1, sizeof *second), *flow = lgv_new(n + 1, sizeof *flow);
    struct lgv_arg *arg = lgv_new(n + 1, sizeof *arg);
    bool ok = leaf && d && second && flow && arg;
    if (!ok) no_memory(g);
    if (ok) lgv_diff_gradient(g, h, leaf, n, d);
    for (size_t i = 0; ok && i < n; i++) flow[i] = flow_of(g, leaf, d, n, i);
    for (size_t i = 0; ok && i < n && !g->failed; i++) {
        bool q = g->node[leaf[i]].count == LGV_Q;
        lgv_diff_gradient(g, d[i], leaf, n, second);
        for (k = 0; k < n; k++) arg[k] = (struct lgv_arg){lgv_expr_mul(g, second[k], flow[k]), 1};
        int value = lgv_expr_sum(g, 0, arg, n);
        /* h_q moves p with a minus sign, h_p moves q */
        add_to_row(g, r, component(g, leaf[i]) + (q ? r->n : 0), (struct lgv_arg){value, q ? -0.5 : 0.5});
    }
    free(leaf);
    free(d);
    free(second);
    free(flow);
    free(arg);
}

void lgv_algebra_ito(struct lgv_model *m, struct lgv_terms *Cq, struct lgv_terms *Cp) {
    struct lgv_graph *g = m->graph;
    size_t n = m->np;
    struct rows r = {n, lgv_new(2 * n, sizeof *r.count), lgv_new(2 * n, sizeof *r.capacity),
                     lgv_new(2 * n, sizeof *r.arg)};
    int *h = lgv_model_noises(m);
    bool ok = r.count && r.capacity && r.arg && h;
    if (!ok) no_memory(g);
    for (size_t k = 0; ok && k < m->nnoise && !g->failed; k++) add_ito(g, h[k], &r);
    for (size_t i = 0; ok && i < 2 * n; i++) {
        int value = lgv_expr_sum(g, 0, r.arg[i], r.count[i]);
        int at = lgv_expr_iconst(g, (long)(i < n ? i : i - n));
        lgv_terms_add(g, i < n ? Cq : Cp, (struct lgv_term){-1, at, -1, value});
    }
    for (size_t i = 0; r.arg && i < 2 * n; i++) free(r.arg[i]);
    free(r.count);
    free(r.capacity);
    free(r.arg);
    free(h);
}

/* ---- corrected potentials ---- */

/* H_p of every degree of freedom, each found once: its own derivatives are the entries of M^-1 that do not vanish. */
static int *velocities(struct lgv_model *m) {
    struct lgv_graph *g = m->graph;
    size_t n;
    int T = lgv_loops_instance(g, m->hamiltonian, NULL, 0);
    int *leaf = lgv_diff_leaves(g, T, LGV_USES(LGV_P), &n), *d = lgv_new(n + 1, sizeof *d);
    int *v = lgv_new(m->np, sizeof *v), zero = lgv_expr_const(g, 0);
    if (leaf && d && v) {
        lgv_diff_gradient(g, T, leaf, n, d);
        for (size_t i = 0; i < m->np; i++) v[i] = zero;
        for (size_t i = 0; i < n; i++) v[component(g, leaf[i])] = d[i];
    } else {
        no_memory(g);
    }
    free(leaf);
    free(d);
    return v;
}

struct products { /* terms of sums of grad h . H_pp grad k */
    struct lgv_arg *term;
    size_t count, capacity;
    const int *v; /* [np] H_p */
    int *at;      /* [np] 1 + number of the leaf of k of that component, 0 between two products */
    double factor;
};

/* The leaves of h among the coordinates and its derivatives there. */
static bool gradient_of(struct lgv_graph *g, int h, int **leaf, int **d, size_t *n) {
    *leaf = lgv_diff_leaves(g, h, LGV_USES(LGV_Q), n);
    *d = lgv_new(*n + 1, sizeof **d);
    if (*leaf && *d) lgv_diff_gradient(g, h, *leaf, *n, *d);
    return *leaf && *d;
}

static bool add_product(struct lgv_graph *g, struct products *s, int h, int k) {
    size_t n, m, others;
    int *leaf, *d, *leaf_k = NULL, *d_k = NULL;
    bool ok = gradient_of(g, h, &leaf, &d, &n);
    others = n;
    if (h != k) ok = gradient_of(g, k, &leaf_k, &d_k, &others) && ok;
    const int *const to_leaf = h == k ? leaf : leaf_k, *const to_d = h == k ? d : d_k;
    for (size_t i = 0; ok && i < others; i++) s->at[component(g, to_leaf[i])] = (int)i + 1;
    for (size_t i = 0; ok && i < n; i++) {
        int row = s->v[component(g, leaf[i])];
        int *other = lgv_diff_leaves(g, row, LGV_USES(LGV_P), &m);
        ok = other != NULL;
        for (size_t l = 0; ok && l < m; l++) {
            int to = s->at[component(g, other[l])];
            if (to == 0) continue;
            int value = lgv_expr_mul(g, lgv_diff_one(g, row, other[l]), lgv_expr_mul(g, d[i], to_d[to - 1]));
            ok = lgv_grow(&s->term, &s->capacity, s->count + 1, sizeof *s->term);
            if (ok) s->term[s->count++] = (struct lgv_arg){value, s->factor};
        }
        free(other);
    }
    for (size_t i = 0; to_leaf && i < others; i++) s->at[component(g, to_leaf[i])] = 0;
    free(leaf);
    free(d);
    free(leaf_k);
    free(d_k);
    return ok;
}

/* With rotations: grad h . M^-1 grad k = {h, {k, H}}, whatever space they live on. */
static int bracket_correction(struct lgv_model *m, const int *h, size_t first, size_t last, size_t other,
                              double factor) {
    struct lgv_graph *g = m->graph;
    int H = lgv_loops_instance(g, m->hamiltonian, NULL, 0), id = 0;
    for (size_t i = first; i < last && !g->failed; i++) {
        int k = h[other < m->nnoise ? other : i];
        id = lgv_expr_add(g, id, lgv_algebra_bracket(g, h[i], lgv_algebra_bracket(g, k, H)));
    }
    return lgv_expr_scale(g, factor, id);
}

/* All terms are collected and summed once: work is linear in degrees of freedom and noises.  Noises first..last - 1,
 * each with itself, or with `other`. */
static int correction(struct lgv_model *m, size_t first, size_t last, size_t other, double factor) {
    struct lgv_graph *g = m->graph;
    int *h = lgv_model_noises(m), id = 0;
    if (h && g->nrotations) {
        id = bracket_correction(m, h, first, last, other, factor);
        free(h);
        return id;
    }
    int *v = velocities(m);
    struct products s = {.v = v, .at = lgv_new(m->np, sizeof *s.at), .factor = factor};
    bool ok = h && v && s.at;
    for (size_t i = first; ok && i < last && !g->failed; i++)
        ok = add_product(g, &s, h[i], h[other < m->nnoise ? other : i]);
    if (!ok) no_memory(g);
    id = lgv_expr_sum(g, 0, s.term, s.count);
    free(h);
    free(v);
    free(s.at);
    free(s.term);
    return id;
}

int lgv_algebra_correction(struct lgv_model *m, double factor) {
    return correction(m, 0, m->nnoise, m->nnoise, factor);
}

int lgv_algebra_correction_pair(struct lgv_model *m, size_t i, size_t j, double factor) {
    return correction(m, i, i + 1, j, factor);
}

/* ---- the modified Hamiltonian ---- */

int lgv_algebra_modified(struct lgv_model *m, const double k[3]) {
    struct lgv_graph *g = m->graph;
    const int H = lgv_loops_instance(g, m->hamiltonian, NULL, 0), dt = lgv_expr_ref_at(g, LGV_STEP, 0);
    const long n = (long)m->np;
    int sum = 0, *d = lgv_new(2 * m->np, sizeof *d); /* H_q, H_p */
    if (!d) no_memory(g);
    for (long i = 0; d && i < 2 * n; i++) d[i] = lgv_diff_one(g, H, lgv_expr_ref_at(g, i < n ? LGV_Q : LGV_P, i % n));
    for (long i = 0; d && i < 2 * n && !g->failed; i++)
        for (long j = i; j < 2 * n; j++) {
            double factor = i >= n ? k[2] : j < n ? k[0] : -2 * k[1];
            int second = lgv_diff_one(g, d[i], lgv_expr_ref_at(g, j < n ? LGV_Q : LGV_P, j % n));
            if (i != j && (i >= n) == (j >= n)) factor *= 2;
            int along = lgv_expr_mul(g, d[(i + n) % (2 * n)], d[(j + n) % (2 * n)]);
            sum = lgv_expr_add(g, sum, lgv_expr_scale(g, factor, lgv_expr_mul(g, second, along)));
        }
    free(d);
    return lgv_expr_add(g, H, lgv_expr_mul(g, lgv_expr_power(g, dt, 2), sum));
}

/* ---- strong Taylor scheme 1.5 (Kloeden & Platen 10.4): one noise, or additive ones ---- */

struct fields { /* H and the noises, written out */
    struct lgv_graph *g;
    int H, *h;
    size_t nnoise;
};

static bool fields_of(struct lgv_model *m, struct fields *out) {
    *out = (struct fields){.g = m->graph, .h = lgv_model_noises(m), .nnoise = m->nnoise};
    out->H = lgv_loops_instance(m->graph, m->hamiltonian, NULL, 0);
    if (!out->h) no_memory(m->graph);
    return out->h && !m->graph->failed;
}

/* L0 f, in Stratonovich form (+ d/dt: for models without t only). */
static int generator(const struct fields *x, int f) {
    struct lgv_graph *g = x->g;
    int id = lgv_algebra_bracket(g, f, x->H);
    for (size_t m = 0; m < x->nnoise; m++) {
        int twice = lgv_algebra_bracket(g, lgv_algebra_bracket(g, f, x->h[m]), x->h[m]);
        id = lgv_expr_add(g, id, lgv_expr_scale(g, 0.5, twice));
    }
    return id;
}

/* Does the flow of H commute with that of h, so that L^m a = L0 b and dZ drops out?  {H, h} is then constant. */
static bool drift_commutes(const struct fields *x, int h) {
    return !(x->g->node[lgv_algebra_bracket(x->g, x->H, h)].uses & STATE);
}

/* X = a dt + L0 a dt^2/2 + sum_m [b_m dW_m + L^m a dZ_m + L0 b_m (dW_m dt - dZ_m)], and for one noise
 *     + L1 b (dW^2 - dt)/2 + L1 L1 b (dW^2/3 - dt) dW/2,   a = L0 x, b_m = L^m x = {x, h_m} for the component x.
 * Several noises are all h(q), all h(p) or additive: a field b_m moves p and depends on q, or the other way round, or
 * is constant, so L^k b_m = 0 for all pairs and no integral of two of them is needed. */
static int taylor_component(const struct fields *s, int x) {
    struct lgv_graph *g = s->g;
    int dt = lgv_expr_ref_at(g, LGV_WEIGHTS, 0), a = generator(s, x);
    int sum = lgv_expr_mul(g, a, dt);
    sum = lgv_expr_add(g, sum, lgv_expr_scale(g, 0.5, lgv_expr_mul(g, generator(s, a), lgv_expr_power(g, dt, 2))));
    for (size_t m = 0; m < s->nnoise; m++) {
        int dW = lgv_expr_ref_at(g, LGV_WEIGHTS, (long)m + 1);
        int dZ = lgv_expr_ref_at(g, LGV_WEIGHTS, (long)(s->nnoise + m) + 1);
        int b = lgv_algebra_bracket(g, x, s->h[m]), square = lgv_expr_power(g, dW, 2);
        sum = lgv_expr_add(g, sum, lgv_expr_mul(g, b, dW));
        bool commutes = drift_commutes(s, s->h[m]);
        if (!commutes) sum = lgv_expr_add(g, sum, lgv_expr_mul(g, lgv_algebra_bracket(g, a, s->h[m]), dZ));
        int b1 = lgv_algebra_bracket(g, b, s->h[m]), b11 = lgv_algebra_bracket(g, b1, s->h[m]);
        int rest = lgv_expr_mul(g, dW, dt);
        if (!commutes) rest = lgv_expr_sub(g, rest, dZ);
        int third = lgv_expr_mul(g, lgv_expr_sub(g, lgv_expr_scale(g, 1.0 / 3, square), dt), dW);
        sum = lgv_expr_add(g, sum, lgv_expr_scale(g, 0.5, lgv_expr_mul(g, b1, lgv_expr_sub(g, square, dt))));
        sum = lgv_expr_add(g, sum, lgv_expr_mul(g, generator(s, b), rest));
        sum = lgv_expr_add(g, sum, lgv_expr_scale(g, 0.5, lgv_expr_mul(g, b11, third)));
    }
    return sum;
}

/* A formula that is affine in the state, as constant term plus coefficient times component: then what the
 * coefficients have in common is computed once. */
static int collected(struct lgv_graph *g, int x) {
    size_t n = 0;
    int *leaf = lgv_diff_leaves(g, x, STATE, &n);
    int id = lgv_expr_only(g, lgv_expr_only(g, x, LGV_Q, -1), LGV_P, -1);
    for (size_t i = 0; leaf && i < n; i++)
        id = lgv_expr_add(g, id, lgv_expr_mul(g, lgv_diff_one(g, x, leaf[i]), leaf[i]));
    if (!leaf) no_memory(g);
    free(leaf);
    return id;
}

bool lgv_algebra_taylor(struct lgv_model *m, bool linear, struct lgv_terms *Xq, struct lgv_terms *Xp) {
    struct fields x;
    size_t n = m->np;
    bool ok = fields_of(m, &x), dz = false;
    for (size_t k = 0; ok && k < m->nnoise; k++) dz |= !drift_commutes(&x, x.h[k]);
    for (size_t i = 0; ok && i < 2 * n && !x.g->failed; i++) {
        long at = (long)(i < n ? i : i - n);
        int value = taylor_component(&x, lgv_expr_ref_at(x.g, i < n ? LGV_Q : LGV_P, at));
        if (linear && n <= COLLECTED_DOF) value = collected(x.g, value);
        lgv_terms_add(x.g, i < n ? Xq : Xp, (struct lgv_term){-1, lgv_expr_iconst(x.g, at), -1, value});
    }
    free(x.h);
    return dz;
}

/* ---- control variates ---- */

/* The second term moves the bracket to the middle of the step along the drift: known at its beginning too, and what
 * most methods really do. */
static int martingale_of(const struct fields *x, size_t np, int f) {
    struct lgv_graph *g = x->g;
    bool small = x->nnoise * np <= CONTROL_SMALL;
    int id = lgv_expr_const(g, 0), node = lgv_loops_instance(g, f, NULL, 0);
    for (size_t m = 0; m < x->nnoise && !g->failed; m++) {
        /* {f, h} = -{h, f}: h has few leaves */
        int bracket = lgv_expr_scale(g, -1, lgv_algebra_bracket(g, x->h[m], node));
        int half = lgv_expr_scale(g, 0.5, lgv_expr_ref_at(g, LGV_WEIGHTS, 0));
        if (small) bracket = lgv_expr_add(g, bracket, lgv_expr_mul(g, half, lgv_algebra_bracket(g, bracket, x->H)));
        id = lgv_expr_add(g, id, lgv_expr_mul(g, lgv_expr_ref_at(g, LGV_WEIGHTS, (long)m + 1), bracket));
    }
    return id;
}

void lgv_algebra_martingale(struct lgv_model *m, const struct lgv_observable *f, size_t count, struct lgv_terms *out) {
    struct fields x;
    bool ok = fields_of(m, &x);
    for (size_t k = 0; ok && k < count && !x.g->failed; k++) {
        /* The distance to the exact solution depends on W itself and gets none. */
        bool plain = !(x.g->node[f[k].node].uses & LGV_USES(LGV_BROWN));
        int value = plain ? martingale_of(&x, m->np, lgv_model_observed(m, &f[k])) : lgv_expr_const(x.g, 0);
        lgv_terms_add(x.g, out, (struct lgv_term){-1, lgv_expr_iconst(x.g, (long)k), -1, value});
    }
    free(x.h);
}
