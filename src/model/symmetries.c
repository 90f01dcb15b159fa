/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Does a declared symmetry hold?  {H, J} = 0 and {h_m, J} = 0 for its momentum map J = p . xi(q), and xi . g_k,q = 0
 * for every constraint where all of them hold; for a Lagrangian without a Hamiltonian in place of H
 * xi . L_q + (xi_q v + [v, xi]) . L_v = 0, where [v, xi] is the bracket of rotations and bodies, 0 for vectors.
 *
 * A function that bends or jumps is asked twice.  When the same formula with smooth functions in the place of abs,
 * floor, min, ... is invariant, so are their arguments, and with them the function.  When the function itself changes
 * at a point, it is not invariant.  In between nothing is known. */
#include "model/brackets.h"
#include <math.h>
#include <stdlib.h>

#define SYMBOLIC_DOF 16 /* beyond it brackets are only evaluated, not built */
#define STATE (LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES(LGV_V))
/* What is left of xi . grad g on g = 0, relative to its parts: the projection onto it leaves more than round-off. */
#define ON_CONSTRAINTS 1e-10

enum outcome { ZERO_BY_FORMULA, ZERO_AT_POINTS, NOT_KNOWN, NOT_ZERO };

/* sum_i first[i] second[i] + sign sum_i third[i] fourth[i]: a bracket, or the change of a Lagrangian. */
struct pairing {
    const struct lgv_terms *part[4];
    const struct lgv_terms *size[4]; /* their magnitudes */
    double sign;
    bool time; /* a part depends on t */
};

/* Gradients of a function with their magnitudes. */
struct sized {
    struct lgv_gradients d, size;
};

int lgv_model_momentum_map(struct lgv_model *m, const struct lgv_symmetry *s) {
    struct lgv_arg *arg = lgv_new(m->np, sizeof *arg);
    if (!arg) return 0;
    for (size_t i = 0; i < m->np; i++)
        arg[i] = (struct lgv_arg){lgv_expr_mul(m->graph, lgv_expr_ref_at(m->graph, LGV_P, (long)i), s->xi[i]), 1};
    int id = lgv_expr_sum(m->graph, 0, arg, m->np);
    free(arg);
    return id;
}

/* Value and magnitude of the pairing at a point, and its value relative to the parts it has there. */
static double pairing_at(struct lgv_evaluator *e, const struct lgv_env *env, const struct pairing *p, double *d,
                         size_t n, double *magnitude, double *relative) {
    double value = 0, parts = 0;
    *magnitude = 0;
    for (size_t k = 0; k < 4; k++) {
        lgv_eval_terms(e, p->part[k], env, d + k * n, n, 1);
        lgv_eval_terms(e, p->size[k], env, d + (4 + k) * n, n, 1);
    }
    for (size_t i = 0; i < n; i++) {
        double a = d[i] * d[n + i], b = d[2 * n + i] * d[3 * n + i];
        value += a + p->sign * b;
        parts += fabs(a) + fabs(b);
        *magnitude += d[4 * n + i] * d[5 * n + i] + d[6 * n + i] * d[7 * n + i];
    }
    if (p->sign < 0) { /* a bracket; parts 2 and 1 are f_p and h_p */
        double turned = 0;
        value -= lgv_rotations_pairing(e->g, env->space[LGV_P], d + 2 * n, d + n, &turned);
        parts += turned;
        turned = 0;
        lgv_rotations_pairing(e->g, env->space[LGV_P], d + 6 * n, d + 5 * n, &turned);
        *magnitude += turned;
    }
    *relative = value == 0 ? 0 : fabs(value) / parts;
    return value;
}

/* Is the pairing zero to round-off at random points?  *residual: largest value seen relative to its parts. */
static enum outcome pairing_zero(struct lgv_model *m, const struct pairing *p, double *residual) {
    struct lgv_evaluator e;
    size_t n = m->np;
    double *d = lgv_new(8 * n, sizeof *d);
    int seen = 0, points = p->time ? LGV_TIMED_POINTS : LGV_POINTS;
    bool zero = true;
    if (d && !m->graph->failed && lgv_eval_begin(&e, m->graph)) {
        for (int k = 0; k < points; k++) {
            struct lgv_point at;
            double magnitude, relative;
            if (!lgv_point_make(m, &e, k, points, &at)) break;
            struct lgv_env env = lgv_point_env(m, &at);
            double value = pairing_at(&e, &env, p, d, n, &magnitude, &relative);
            free(at.x);
            if (!isfinite(value) || !isfinite(magnitude)) continue;
            seen++;
            zero = zero && fabs(value) <= LGV_ROUND_OFF * magnitude;
            *residual = fmax(*residual, relative);
        }
        lgv_eval_end(&e);
    }
    free(d);
    return !zero ? NOT_ZERO : seen >= LGV_FEWEST_POINTS ? ZERO_AT_POINTS : NOT_KNOWN;
}

static bool sized_of(struct lgv_model *m, int node, struct sized *out) {
    *out = (struct sized){0};
    if (!lgv_gradients_of(m, node, &out->d)) return false;
    lgv_terms_magnitude(m->graph, &out->d.q, &out->size.q);
    lgv_terms_magnitude(m->graph, &out->d.p, &out->size.p);
    return !m->graph->failed;
}

static void sized_free(struct sized *s) {
    lgv_gradients_free(&s->d);
    lgv_gradients_free(&s->size);
}

static bool of_time(const struct lgv_graph *g, const struct lgv_gradients *d) {
    return lgv_terms_use(g, &d->q, LGV_USES_TIME) || lgv_terms_use(g, &d->p, LGV_USES_TIME);
}

/* {F, J} */
static enum outcome bracket_zero(struct lgv_model *m, int F, int J, const struct sized *j, double *residual) {
    double zero;
    bool symbolic = !(m->graph->node[F].uses & LGV_USES_LOOP) && m->np <= SYMBOLIC_DOF;
    if (symbolic && lgv_expr_is_const(m->graph, lgv_algebra_bracket(m->graph, F, J), &zero) && zero == 0)
        return ZERO_BY_FORMULA;
    struct sized f;
    enum outcome how = NOT_KNOWN;
    if (sized_of(m, F, &f)) {
        struct pairing p = {.part = {&f.d.q, &j->d.p, &f.d.p, &j->d.q},
                            .size = {&f.size.q, &j->size.p, &f.size.p, &j->size.q},
                            .sign = -1,
                            .time = of_time(m->graph, &f.d)};
        how = pairing_zero(m, &p, residual);
    }
    sized_free(&f);
    return how;
}

/* The derivatives of component i of the generator. */
static void generator_gradient(struct lgv_model *m, const struct lgv_symmetry *symmetry, size_t i,
                               struct lgv_terms *out) {
    struct lgv_function f = {0};
    if (lgv_function_add(m->graph, &f, -1, lgv_loops_instance(m->graph, symmetry->xi[i], NULL, 0)))
        lgv_terms_gradient(m->graph, &f, LGV_Q, out);
    lgv_function_free(&f);
}

/* v x eta, component k: rows of v and of the generator. */
static int crossed(struct lgv_graph *g, long v, const int *eta, long k) {
    const long i = (k + 1) % 3, j = (k + 2) % 3;
    return lgv_expr_sub(g, lgv_expr_mul(g, lgv_expr_ref_at(g, LGV_V, v + i), eta[j]),
                        lgv_expr_mul(g, lgv_expr_ref_at(g, LGV_V, v + j), eta[i]));
}

/* The algebra's bracket of the velocity with the generator, component i: 0 for vectors. */
static int bracket_with(struct lgv_graph *g, const int *xi, long i) {
    for (size_t r = 0; r < g->nrotations; r++) {
        const long n = 3 * g->rotation[r].count, m = g->rotation[r].p, P = m - n;
        if (i >= m && i < m + n) return crossed(g, i - (i - m) % 3, xi + i - (i - m) % 3, (i - m) % 3);
        if (!g->rotation[r].coupled || i < P || i >= m) continue;
        const long k = (i - P) % 3, linear = i - k, angular = linear + n;
        return lgv_expr_add(g, crossed(g, angular, xi + linear, k), crossed(g, linear, xi + angular, k));
    }
    return 0; /* node 0 is the constant 0 */
}

/* What component i of the velocity changes by along the generator: (xi_q v)_i + [v, xi]_i. */
static int velocity_change(struct lgv_model *m, const struct lgv_symmetry *s, size_t i) {
    struct lgv_graph *g = m->graph;
    struct lgv_terms d = {0};
    int sum = bracket_with(g, s->xi, (long)i);
    generator_gradient(m, s, i, &d);
    for (size_t k = 0; k < d.count; k++)
        sum = lgv_expr_add(g, sum, lgv_expr_mul(g, d.term[k].value, lgv_expr_ref(g, LGV_V, d.term[k].row)));
    lgv_terms_free(&d);
    return sum;
}

/* xi . L_q + (xi_q v + [v, xi]) . L_v */
static enum outcome lagrangian_zero(struct lgv_model *m, int L, const struct lgv_symmetry *s, double *residual) {
    struct lgv_graph *g = m->graph;
    struct sized l, x = {0}; /* x.d.q: xi, x.d.p: its change */
    enum outcome how = NOT_KNOWN;
    bool ok = sized_of(m, L, &l);
    for (size_t i = 0; ok && i < m->np; i++) {
        int row = lgv_expr_iconst(g, (long)i), xi = lgv_loops_instance(g, s->xi[i], NULL, 0);
        lgv_terms_add(g, &x.d.q, (struct lgv_term){-1, row, -1, xi});
        lgv_terms_add(g, &x.d.p, (struct lgv_term){-1, row, -1, velocity_change(m, s, i)});
    }
    lgv_terms_magnitude(g, &x.d.q, &x.size.q);
    lgv_terms_magnitude(g, &x.d.p, &x.size.p);
    if (ok && !g->failed) {
        struct pairing p = {.part = {&l.d.q, &x.d.q, &l.d.p, &x.d.p},
                            .size = {&l.size.q, &x.size.q, &l.size.p, &x.size.p},
                            .sign = 1,
                            .time = of_time(g, &l.d)};
        how = pairing_zero(m, &p, residual);
    }
    sized_free(&l);
    sized_free(&x);
    return how;
}

/* ---- constraints ---- */

/* {g, J} = xi . grad g = 0 identically, for every constraint of a small model without families? */
static bool constraints_invariant(struct lgv_model *m, const struct lgv_symmetry *s) {
    struct lgv_graph *g = m->graph;
    bool zero = m->np <= SYMBOLIC_DOF;
    int J = zero ? lgv_model_momentum_map(m, s) : 0;
    for (size_t c = 0; zero && c < m->nconstraint_entries; c++) {
        const struct lgv_constraint *h = &m->constraint[c];
        zero = h->nest < 0 && !(g->node[h->body].uses & LGV_USES_LOOP);
        int change = zero ? lgv_algebra_bracket(g, lgv_diff_smoothed(g, h->body), J) : 0;
        zero = zero && change == 0 && !g->failed; /* node 0 is the constant 0 */
    }
    return zero;
}

/* The same at random points: largest |xi . grad g| relative to its parts, NaN when there is no such point.  onto: at
 * points moved onto g = 0, which stay close enough to the start for that: the first is the start itself, the others are
 * as far from it in all as a tenth of the largest coordinate. */
static double constraint_residual_at(struct lgv_model *m, struct lgv_projector *c, const struct lgv_symmetry *s,
                                     bool onto) {
    struct lgv_evaluator e;
    double *xi = lgv_new(m->np, sizeof *xi), worst = NAN, scale = 0;
    uint64_t seed = 4711;
    if (!xi || !lgv_eval_begin(&e, m->graph)) {
        free(xi);
        return NAN;
    }
    for (int k = 0; k < (onto && m->nconstraints > 100 ? 2 : LGV_POINTS); k++) {
        struct lgv_point at;
        if (!lgv_point_make(m, &e, onto ? -1 - k : k, LGV_POINTS, &at)) break;
        struct lgv_env env = lgv_point_env(m, &at);
        for (size_t i = 0; i < m->nx; i++) scale = fmax(scale, fabs(at.x[i]));
        double amount = onto && k ? 0.3 * (scale > 0 ? scale : 1) / sqrt((double)m->np) : 0;
        for (size_t i = 0; i < m->nx; i++) at.x[i] += amount * (lgv_point_draw(&seed) - 0.5);
        lgv_rotations_clean(m->graph, at.x);
        if (!onto || lgv_projector_move(c, at.x)) {
            for (size_t i = 0; i < m->np; i++) xi[i] = lgv_eval_node(&e, s->xi[i], &env, NULL);
            double r = lgv_projector_change(c, at.x, xi);
            if (isfinite(r)) worst = fmax(isnan(worst) ? 0 : worst, r);
        }
        free(at.x);
    }
    lgv_eval_end(&e);
    free(xi);
    return worst;
}

static enum outcome constraints_zero(struct lgv_model *m, const struct lgv_symmetry *s, double *residual) {
    if (constraints_invariant(m, s)) return ZERO_BY_FORMULA;
    struct lgv_projector *c = lgv_projector_create(m);
    double r = c ? constraint_residual_at(m, c, s, false) : NAN, limit = LGV_ROUND_OFF;
    if (c && !(r <= LGV_ROUND_OFF)) r = constraint_residual_at(m, c, s, true), limit = ON_CONSTRAINTS;
    lgv_projector_free(c);
    if (isnan(r)) return NOT_KNOWN;
    *residual = r;
    if (r > limit) return NOT_ZERO;
    for (size_t k = 0; k < m->nconstraint_entries; k++)
        if (lgv_diff_uses(m->graph, m->constraint[k].body, LGV_KINKS, STATE)) return NOT_KNOWN;
    return ZERO_AT_POINTS;
}

/* ---- all of it ---- */

struct asked {
    struct lgv_model *m;
    const struct lgv_symmetry *symmetry;
    int J;
    struct sized j; /* its gradients */
};

static enum outcome change_of(struct asked *a, int F, bool lagrangian, double *residual) {
    return lagrangian ? lagrangian_zero(a->m, F, a->symmetry, residual)
                      : bracket_zero(a->m, F, a->J, &a->j, residual);
}

/* F: H (or L, when there is no formula for H) or a noise. */
static enum outcome function_invariant(struct asked *a, int F, bool lagrangian, double *residual) {
    struct lgv_graph *g = a->m->graph;
    unsigned moving = STATE | LGV_USES_TIME;
    if (!lgv_diff_uses(g, F, LGV_KINKS, moving)) return change_of(a, F, lagrangian, residual);
    double unused = 0;
    enum outcome smooth = change_of(a, lgv_diff_smoothed(g, F), lagrangian, &unused);
    if (smooth < NOT_KNOWN) return smooth;
    return change_of(a, F, lagrangian, residual) == NOT_ZERO ? NOT_ZERO : NOT_KNOWN;
}

/* Row k of hat(a). */
static void add_hat(const double a[3], size_t k, double *out) {
    out[(k + 1) % 3] -= a[(k + 2) % 3];
    out[(k + 2) % 3] += a[(k + 1) % 3];
}

/* The rotation of three components from i on: does eta change xi by -eta x xi, as it does R^T c?  Of a coupled body the
 * linear components at i - before too: by -ad_eta xi, as the group does Ad_{g^-1} c.  At random points. */
static bool turns_in_space(struct lgv_model *m, const struct lgv_symmetry *symmetry, size_t i, size_t before) {
    struct lgv_terms d[6] = {0};
    struct lgv_evaluator e;
    const size_t rows = before ? 6 : 3;
    double *x = lgv_new(m->np, sizeof *x), xi[6];
    for (size_t k = 0; k < rows; k++) generator_gradient(m, symmetry, k < 3 ? i + k : i - before + k - 3, &d[k]);
    bool begun = x && !m->graph->failed && lgv_eval_begin(&e, m->graph), yes = begun;
    for (int point = 0; yes && point < LGV_FEWEST_POINTS; point++) {
        struct lgv_point at;
        if (!lgv_point_make(m, &e, point, LGV_FEWEST_POINTS, &at)) break;
        struct lgv_env env = lgv_point_env(m, &at);
        double size = 0;
        for (size_t k = 0; k < rows; k++) {
            xi[k] = lgv_eval_node(&e, symmetry->xi[k < 3 ? i + k : i - before + k - 3], &env, NULL);
            size += fabs(xi[k]);
        }
        for (size_t k = 0; k < rows; k++) xi[k] = -xi[k]; /* what is to be taken off */
        for (size_t k = 0; k < rows; k++) {
            lgv_eval_terms(&e, &d[k], &env, x, m->np, 1);
            /* row k of -hat(eta) xi = hat(xi) eta */
            add_hat(k < 3 ? xi : xi + 3, k % 3, x + i);
            if (k >= 3) add_hat(xi, k % 3, x + i - before);
            for (size_t j = 0; j < m->np; j++) yes = yes && fabs(x[j]) <= 1e-12 * size;
        }
        free(at.x);
    }
    if (begun) lgv_eval_end(&e);
    for (size_t k = 0; k < rows; k++) lgv_terms_free(&d[k]);
    free(x);
    return yes;
}

/* How far before its angular components the linear ones of a coupled body are; 0: i is of none.  *first: its first
 * angular one. */
static size_t coupled_before(const struct lgv_graph *g, size_t i, size_t *first) {
    for (size_t k = 0; k < g->nrotations; k++) {
        const struct lgv_rotations *r = &g->rotation[k];
        const long at = (long)i - (r->p - 3 * r->count);
        if (!r->coupled || at < 0 || at >= 6 * r->count) continue;
        *first = (size_t)(r->p + at % (3 * r->count) / 3 * 3);
        return (size_t)(3 * r->count);
    }
    return 0;
}

static void find_action(struct lgv_model *m, const struct lgv_symmetry *symmetry, size_t number,
                        struct lgv_structure *s) {
    bool affine = true, of_body = false, shift = true;
    for (size_t i = 0; i < m->np; i++) {
        struct lgv_terms d = {0};
        int axis;
        double x;
        lgv_rotations_row(m->graph, (long)i, &axis);
        generator_gradient(m, symmetry, i, &d);
        bool constant = d.count == 0, zero = lgv_expr_is_const(m->graph, symmetry->xi[i], &x) && x == 0;
        size_t first = i - (size_t)(axis < 0 ? 0 : axis), before = coupled_before(m->graph, i, &first);
        bool turns = axis >= 0 || before;
        if (!turns) affine = affine && !lgv_terms_use(m->graph, &d, LGV_USES(LGV_Q));
        if (turns && !constant) affine = affine && turns_in_space(m, symmetry, first, before);
        shift = shift && constant && (!turns || zero);
        of_body = of_body || (turns && constant && !zero);
        lgv_terms_free(&d);
    }
    s->symmetry[number].affine = affine;
    s->symmetry[number].of_body = of_body;
    s->symmetry[number].shift = shift;
}

void lgv_symmetry_check(struct lgv_model *m, size_t k, struct lgv_structure *s) {
    if (m->symmetry[k].casimir) { /* of every H and h */
        s->symmetry[k].invariant = s->symmetry[k].affine = s->symmetry[k].decided_by_formula = true;
        return;
    }
    struct asked a = {.m = m, .symmetry = &m->symmetry[k], .J = lgv_model_momentum_map(m, &m->symmetry[k])};
    enum outcome worst = ZERO_BY_FORMULA;
    double largest = 0;
    bool ok = sized_of(m, a.J, &a.j);
    int *h = lgv_model_noises(m);
    for (size_t i = 0; ok && h && i <= m->nnoise + (m->nconstraints > 0); i++) {
        double r = 0;
        bool lagrangian = i == 0 && m->lagrangian_only;
        int F = lagrangian ? m->lagrangian : i == 0 ? m->hamiltonian : i <= m->nnoise ? h[i - 1] : 0;
        enum outcome how =
            i > m->nnoise ? constraints_zero(m, a.symmetry, &r) : function_invariant(&a, F, lagrangian, &r);
        if (how > worst || (how == worst && r > largest))
            s->symmetry[k].worst = i > m->nnoise ? LGV_WORST_CONSTRAINTS : i == 0 ? LGV_WORST_H : (int)i;
        if (how > worst) worst = how;
        largest = fmax(largest, r);
    }
    double ignore = 0;
    s->symmetry[k].of_stiff = ok && m->stiff >= 0 && function_invariant(&a, m->stiff, false, &ignore) < NOT_KNOWN;
    sized_free(&a.j);
    free(h);
    s->symmetry[k].residual = largest;
    s->symmetry[k].decided_by_formula = worst == ZERO_BY_FORMULA;
    s->symmetry[k].invariant = worst < NOT_KNOWN;
    s->symmetry[k].unknown = worst == NOT_KNOWN;
    find_action(m, a.symmetry, k, s);
}
