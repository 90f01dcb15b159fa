/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stationary law where there is friction.  With friction Gamma(q), of `langevin` and of forces F = -Gamma v, and
 * noise that acts on p with amplitudes that depend on q alone,
 *
 *     dp = (-H_q - Gamma v) dt + sum_k b_k(q) dW_k,     v = H_p,     D = sum_k b_k b_k^T,
 *
 * the equation for the density has the flow of H, which keeps every function of H, and div_p(Gamma v rho + D rho_p/2).
 * For rho = exp(-H/kT), rho_p = -v rho/kT, that is div_p (A v rho) with A = Gamma - D/(2 kT).  It vanishes when
 * tr(A H_pp) = v.A v/kT for all v, that is, when the symmetric part of A vanishes: exp(-H/kT) is stationary if and only
 * if D = kT (Gamma + Gamma^T) at every q.  Nothing in this asks D or Gamma to be constant: noise h(q) kicks p and needs
 * no correction of Ito.  It does for h(q, p), of which nothing is said here.
 *
 * Forces are known as F_p = -Gamma M^-1, so both sides are compared between two factors M^-1. */
#include "model/point.h"
#include <math.h>
#include <stdlib.h>

#define SAME 1e-6 /* of what is compared: parameters are often written with seven digits */

/* The two sides, and what they are made from. */
struct sides {
    struct lgv_model *m;
    size_t n;
    struct lgv_evaluator e;
    struct lgv_terms noise, *force; /* h_m,q by row q and column m, column 0 being H_q; F_i,p for every i */
    double *inverse;                /* M^-1 */
    double *friction, *kT;          /* of the bath: matrix and temperatures */
    double *F, *b, *Gamma, *D;      /* F_p; amplitudes [n][nnoise + 1]; what is to be compared */
    double *work;
};

static void free_sides(struct sides *s) {
    lgv_terms_free(&s->noise);
    for (size_t i = 0; s->force && i < s->n; i++) lgv_terms_free(&s->force[i]);
    free(s->force);
    free(s->inverse);
}

/* All derivatives as terms, and room for all matrices.  False: no memory, or the formulas are too large. */
static bool make_sides(struct sides *s) {
    struct lgv_model *m = s->m;
    struct lgv_graph *g = m->graph;
    const size_t n = s->n, nn = n * n;
    struct lgv_function K = {0};
    s->inverse = lgv_new(7 * nn + n * (m->nnoise + 1) + 2 * n, sizeof *s->inverse);
    s->force = lgv_new(n, sizeof *s->force);
    if (!s->inverse || !s->force || !lgv_model_increment(m, &K)) return false;
    lgv_terms_hessian(g, &K, LGV_Q, LGV_WEIGHTS, &s->noise);
    lgv_function_free(&K);
    for (size_t i = 0; m->force && i < n && !g->failed; i++) {
        struct lgv_function F = {0};
        if (!lgv_function_split(g, m->force[i], false, &F)) return false;
        lgv_terms_gradient(g, &F, LGV_P, &s->force[i]);
        lgv_function_free(&F);
    }
    s->friction = s->inverse + nn;
    s->F = s->friction + nn;
    s->Gamma = s->F + nn;
    s->D = s->Gamma + nn;
    s->work = s->D + nn; /* [2 n n] */
    s->b = s->work + 2 * nn;
    s->kT = s->b + n * (m->nnoise + 1); /* [n], and a shift of the velocities [n] */
    return !g->failed && lgv_model_masses(m, false, s->inverse, s->kT + n);
}

/* C = A B */
static void product(size_t n, const double *A, const double *B, double *C) {
    for (size_t i = 0; i < n * n; i++) C[i] = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; A[i * n + k] != 0 && j < n; j++) C[i * n + j] += A[i * n + k] * B[k * n + j];
}

/* The bath's friction as a matrix. */
static void bath_friction(struct sides *s, const struct lgv_env *env) {
    const struct lgv_bath *b = &s->m->bath;
    const size_t n = s->n;
    for (size_t i = 0; i < n * n; i++) s->friction[i] = 0;
    for (size_t i = 0; b->kind != LGV_FRICTION_NONE && i < n; i++)
        for (size_t j = 0; j < n; j++) {
            if (b->kind != LGV_FRICTION_MATRIX && i != j) continue;
            int node = b->friction[b->kind == LGV_FRICTION_MATRIX ? i * n + j : i];
            s->friction[i * n + j] = lgv_eval_node(&s->e, node, env, NULL);
        }
}

/* F_p, and whether F = F_p p there and v = M^-1 p: nothing is left of the force where the velocities vanish. */
static bool is_drag(struct sides *s, const struct lgv_env *env) {
    const size_t n = s->n;
    const double *shift = s->kT + n;
    bool drag = true;
    for (size_t i = 0; s->m->force && i < n; i++) drag = drag && shift[i] == 0;
    for (size_t i = 0; s->m->force && i < n; i++) {
        double *row = s->F + i * n, rest = lgv_eval_node(&s->e, s->m->force[i], env, NULL), size = fabs(rest);
        lgv_eval_terms(&s->e, &s->force[i], env, row, n, 1);
        for (size_t j = 0; j < n; j++) {
            rest -= row[j] * env->space[LGV_P][j];
            size += fabs(row[j] * env->space[LGV_P][j]);
        }
        drag = drag && fabs(rest) <= 1e-10 * size;
    }
    return drag;
}

/* M^-1 D M^-1 and M^-1 (Gamma + Gamma^T) M^-1 at a point. */
static void compare_at(struct sides *s, const struct lgv_env *env) {
    const size_t n = s->n, columns = s->m->nnoise + 1;
    double *D = s->work, *G = s->work + n * n;
    lgv_eval_terms(&s->e, &s->noise, env, s->b, n * columns, columns);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            D[i * n + j] = (s->kT[i] + s->kT[j]) * s->friction[i * n + j];
            for (size_t k = 1; k < columns; k++) D[i * n + j] += s->b[i * columns + k] * s->b[j * columns + k];
        }
    product(n, D, s->inverse, s->Gamma);
    product(n, s->inverse, s->Gamma, s->D);
    product(n, s->friction, s->inverse, G);
    for (size_t i = 0; s->m->force && i < n * n; i++) G[i] -= s->F[i];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) { /* what is no friction cancels, but for round-off */
            double sum = 0, size = 0;
            for (size_t k = 0; k < n; k++) {
                double a = s->inverse[i * n + k] * G[k * n + j], b = s->inverse[j * n + k] * G[k * n + i];
                sum += a + b;
                size += fabs(a) + fabs(b);
            }
            s->Gamma[i * n + j] = fabs(sum) <= 1e-14 * size ? 0 : sum;
        }
}

/* What the points have shown. */
struct sums {
    double top, bottom;  /* D.Gamma and Gamma.Gamma */
    double noise;        /* the largest entry of D */
    double low, high;    /* least and largest kT of a single coordinate */
    bool diagonal, finite, drag;
    bool drives;         /* some friction is negative */
    bool partial;        /* some velocities have none */
};

/* Is a semidefinite matrix definite, also where its rows are of very different size? */
static bool definite(size_t n, const double *A) {
    double *B = lgv_new(n * n, sizeof *B);
    bool ok = B != NULL;
    for (size_t i = 0; i < n; i++) ok = ok && A[i * (n + 1)] > 0;
    for (size_t i = 0; ok && i < n * n; i++)
        B[i] = i % (n + 1) ? A[i] / sqrt(A[i / n * (n + 1)]) / sqrt(A[i % n * (n + 1)]) : 1 - 1e-10;
    ok = ok && lgv_semidefinite(n, B);
    free(B);
    return ok;
}

static void look_at(const struct sides *s, struct sums *x) {
    const size_t n = s->n;
    x->drives = x->drives || !lgv_semidefinite(n, s->Gamma);
    x->partial = x->partial || !definite(n, s->Gamma);
    for (size_t i = 0; i < n * n; i++) {
        double G = s->Gamma[i], D = s->D[i];
        x->finite = x->finite && isfinite(G) && isfinite(D);
        x->top += D * G;
        x->bottom += G * G;
        x->noise = fmax(x->noise, fabs(D));
        if (i % (n + 1))
            x->diagonal = x->diagonal && G == 0 && D == 0;
        else if (G != 0 || D != 0) {
            double kT = G > 0 ? D / G : INFINITY;
            x->low = fmin(x->low, kT);
            x->high = fmax(x->high, kT);
        }
    }
}

/* Each entry against those of the diagonal in its row and column: masses may differ by any factor. */
static bool fits(const struct sides *s, double kT) {
    const size_t n = s->n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double row = fmax(fabs(s->D[i * (n + 1)]), fabs(kT * s->Gamma[i * (n + 1)]));
            double column = fmax(fabs(s->D[j * (n + 1)]), fabs(kT * s->Gamma[j * (n + 1)]));
            double off = fabs(s->D[i * n + j] - kT * s->Gamma[i * n + j]);
            if (!(off <= SAME * sqrt(row) * sqrt(column))) return false;
        }
    return true;
}

/* Goes through the points twice: to find kT, and to see whether it is the same everywhere. */
static bool walk(struct sides *s, int points, struct sums *x, struct lgv_law *out) {
    *x = (struct sums){.low = INFINITY, .high = -INFINITY, .diagonal = true, .finite = true, .drag = true};
    out->kind = LGV_LAW_GIBBS;
    for (int k = 0; k < 2 * points; k++) {
        struct lgv_point at;
        if (!lgv_point_make(s->m, &s->e, k % points, points, &at)) return false;
        struct lgv_env env = lgv_point_env(s->m, &at);
        bath_friction(s, &env);
        x->drag = is_drag(s, &env) && x->drag;
        compare_at(s, &env);
        if (k < points) look_at(s, x);
        if (k == points - 1) out->temperature = x->bottom > 0 ? x->top / x->bottom : (double)NAN;
        if (k >= points && !fits(s, out->temperature)) out->kind = LGV_LAW_MISMATCH;
        free(at.x);
    }
    return true;
}

static struct lgv_law unknown(const char *why) {
    return (struct lgv_law){.kind = LGV_LAW_UNKNOWN, .temperature = NAN, .low = NAN, .high = NAN, .why = why};
}

static void settle(const struct sums *x, struct lgv_law *out) {
    if (!x->finite || !x->drag) {
        *out = unknown(x->finite ? "forces without a potential that are not proportional to the velocities"
                                 : "formulas that have no value near the start");
        return;
    }
    if (x->noise == 0 && x->drives) {
        *out = unknown("forces that drive in the place of friction, and no noise");
        return;
    }
    if (x->noise == 0) out->kind = x->bottom > 0 ? LGV_LAW_REST : LGV_LAW_NONE; /* a magnetic force keeps H */
    out->partial = x->partial;
    if (out->kind == LGV_LAW_NONE) return;
    if (out->kind == LGV_LAW_GIBBS && !(out->temperature > 0)) out->kind = LGV_LAW_MISMATCH;
    if (out->kind != LGV_LAW_GIBBS) out->temperature = x->noise == 0 ? 0 : (double)NAN;
    out->low = x->diagonal ? x->low : (double)NAN;
    out->high = x->diagonal ? x->high : (double)NAN;
}

/* Nothing but the bath. */
static void bath_alone(struct lgv_model *m, struct lgv_law *out) {
    const size_t n = m->np;
    const bool matrix = m->bath.kind == LGV_FRICTION_MATRIX;
    double *kT = lgv_new(n, sizeof *kT), *friction = lgv_new(matrix ? n * n : n, sizeof *friction);
    out->kind = LGV_LAW_MISMATCH;
    bool one = kT && friction && !lgv_model_bath_values(m, friction, kT, &(struct lgv_error){0});
    out->partial = m->bath.rows < n || (one && matrix && !definite(n, friction));
    for (size_t i = 0; one && m->bath.kind == LGV_FRICTION_DIAGONAL && i < n; i++)
        out->partial = out->partial || !(friction[i] > 0);
    for (size_t i = 1; one && i < m->bath.rows; i++) one = kT[m->bath.row[i]] == kT[m->bath.row[0]];
    if (one) {
        out->temperature = kT[m->bath.row[0]];
        out->kind = out->temperature > 0 ? LGV_LAW_GIBBS : LGV_LAW_REST;
    }
    free(kT);
    free(friction);
}

/* ---- kinetic energies that vary ---- */

/* M(q) = L_vv, or H_pp where there is no Lagrangian, and G; `mass` and `bend` are their terms. */
struct kinetic {
    struct lgv_terms mass, bend;
    double *M, *G; /* [n][n], [nconstraints][n] */
};

/* False: it is not quadratic, or memory is out. */
static bool make_kinetic(struct lgv_model *m, struct kinetic *k) {
    struct lgv_function f = {0}, sum = {0};
    const enum lgv_space space = m->lagrangian >= 0 ? LGV_V : LGV_P;
    bool ok = m->lagrangian >= 0 ? lgv_model_lagrangian(m, &f)
                                 : lgv_function_split(m->graph, m->hamiltonian, false, &f);
    if (ok) lgv_terms_hessian(m->graph, &f, space, space, &k->mass);
    if (ok && m->nconstraints) ok = lgv_model_constraint_sum(m, &sum);
    if (ok && m->nconstraints) lgv_terms_hessian(m->graph, &sum, LGV_LAMBDA, LGV_Q, &k->bend);
    lgv_function_free(&f);
    lgv_function_free(&sum);
    k->M = lgv_new(m->np * (m->np + m->nconstraints), sizeof *k->M);
    k->G = k->M ? k->M + m->np * m->np : NULL;
    return ok && k->M && !m->graph->failed && !lgv_terms_use(m->graph, &k->mass, LGV_USES(space));
}

/* Is M positive on the velocities with G v = 0?  Then M + c G^T G is positive for large c, and only then (Finsler). */
static bool positive(const struct lgv_model *m, struct kinetic *k) {
    const size_t n = m->np;
    double mass = 0, bend = 0;
    for (size_t i = 0; i < n * n; i++) mass = fmax(mass, fabs(k->M[i]));
    for (size_t i = 0; i < n * m->nconstraints; i++) bend = fmax(bend, k->G[i] * k->G[i]);
    for (size_t c = 0; c < m->nconstraints; c++)
        for (size_t i = 0; bend > 0 && i < n * n; i++)
            k->M[i] += 1e6 * mass / bend * k->G[c * n + i / n] * k->G[c * n + i % n];
    return !isfinite(mass) || lgv_semidefinite(n, k->M);
}

/* A kinetic energy that is negative in some direction, at the start or near it, where H has a value. */
static bool falls(struct lgv_model *m) {
    struct kinetic k = {0};
    struct lgv_evaluator e;
    bool found = false, ready = make_kinetic(m, &k) && lgv_eval_begin(&e, m->graph);
    struct lgv_projector *on = ready && m->nconstraints ? lgv_projector_create(m) : NULL;
    for (int number = -1; ready && !found && number < LGV_POINTS; number++) {
        struct lgv_point at;
        if (!lgv_point_make(m, &e, number, LGV_POINTS, &at)) break;
        const struct lgv_env env = lgv_point_env(m, &at);
        bool there = !m->nconstraints || (on && lgv_projector_move(on, at.x));
        if (there && isfinite(lgv_eval_node(&e, m->hamiltonian, &env, NULL))) {
            lgv_eval_terms(&e, &k.mass, &env, k.M, m->np * m->np, m->np);
            if (m->nconstraints) lgv_eval_terms(&e, &k.bend, &env, k.G, m->np * m->nconstraints, m->np);
            found = !positive(m, &k);
        }
        free(at.x);
    }
    if (ready) lgv_eval_end(&e);
    if (on) lgv_projector_free(on);
    lgv_terms_free(&k.mass);
    lgv_terms_free(&k.bend);
    free(k.M);
    return found;
}

static bool force_uses(const struct sides *s, enum lgv_space space) {
    for (size_t i = 0; s->m->force && i < s->n; i++)
        if (lgv_terms_use(s->m->graph, &s->force[i], LGV_USES(space))) return true;
    return false;
}

static void examine(struct lgv_model *m, const struct lgv_structure *structure, struct lgv_law *out) {
    struct sides s = {.m = m, .n = m->np};
    struct sums sums;
    bool begun = false, ok = make_sides(&s) && (begun = lgv_eval_begin(&s.e, m->graph));
    if (ok && structure->bath) ok = !lgv_model_bath_values(m, NULL, s.kT, &(struct lgv_error){0});
    double given = ok && structure->bath && m->bath.one_temperature ? s.kT[m->bath.row[0]] : (double)NAN;
    bool constant = structure->steady_noise && m->bath.kind != LGV_FRICTION_OF_Q && !force_uses(&s, LGV_Q);
    out->points = ok && constant ? 0 : LGV_POINTS;
    if (ok && walk(&s, out->points ? out->points : 1, &sums, out)) {
        sums.drag = sums.drag && !force_uses(&s, LGV_P); /* F = F_p p also where F is abs(p) */
        settle(&sums, out);
    } else
        *out = unknown("formulas that are too large");
    if (out->kind == LGV_LAW_MISMATCH && m->nconstraints) /* it may hold between the tangents */
        *out = unknown("constraints beside noise that does not match friction");
    out->given = given;
    if (begun) lgv_eval_end(&s.e);
    free_sides(&s);
}

void lgv_model_law(struct lgv_model *m, const struct lgv_structure *s, struct lgv_law *out) {
    *out = (struct lgv_law){.kind = LGV_LAW_NONE, .temperature = NAN, .given = NAN, .low = NAN, .high = NAN};
    if (!m->graph || (!s->bath && !s->force_of_p)) return;
    bool alone = s->bath && !m->force && !m->nnoise;
    out->why = s->time_dependent              ? "formulas that depend on t"
               : s->noise_depends & LGV_ON_P  ? "noise that depends on the momenta"
               : !s->quadratic_kinetic && !alone ? "masses that are not constant"
               : s->rotations && !alone       ? "noise or forces beside friction in a model with rotations"
               : m->np > LGV_BATH_MATRIX && !alone ? "noise or forces beside friction in a model of this size"
                                                   : NULL;
    if (out->why)
        out->kind = LGV_LAW_UNKNOWN;
    else if (alone)
        bath_alone(m, out);
    else
        examine(m, s, out);
    if (out->kind == LGV_LAW_GIBBS && !s->quadratic_kinetic && m->np <= LGV_BATH_MATRIX && falls(m))
        *out = (struct lgv_law){.kind = LGV_LAW_INFINITE, .temperature = NAN, .given = NAN, .low = NAN, .high = NAN};
}

/* ---- in words ---- */

static void gibbs_words(const struct lgv_model *m, const struct lgv_law *law, struct lgv_text *t) {
    const struct lgv_bath *b = &m->bath;
    const bool alone = b->kind != LGV_FRICTION_NONE && !m->force && !m->nnoise;
    lgv_text_add(t, "exp(-H/kT)");
    if (!alone) lgv_text_add(t, " with kT = %.6g", law->temperature);
    if (b->fixman)
        lgv_text_add(t, " with the Fixman term in H, on the constraint set in the measure of its kinetic energy: the "
                        "law of stiff springs in the place of the constraints");
    else if (m->nconstraints)
        lgv_text_add(t, " on the constraint set, in the measure of its kinetic energy (stiff springs in the place of "
                        "the constraints have another law, which `fixman: yes` samples)");
    lgv_text_add(t, ", where that can be normalised");
    if (alone && law->partial) lgv_text_add(t, "; unique when the bath reaches all coordinates through the forces");
    if (!alone)
        lgv_text_add(t, ": the strength of all noise is 2 kT times all friction%s",
                     law->points ? " at random points near the start" : "");
}

static void mismatch_words(const struct lgv_model *m, const struct lgv_law *law, struct lgv_text *t) {
    if (!m->force && !m->nnoise) {
        lgv_text_add(t, "not in closed form: there are several temperatures, and heat flows between them");
        return;
    }
    lgv_text_add(t, "not exp(-H/kT) for any kT: the strength of the noise, sigma sigma^T, is not 2 kT Gamma");
    if (isfinite(law->high))
        lgv_text_add(t, " (by coordinate%s kT would have to be from %.4g to %.4g)",
                     law->points ? " and point" : "", law->low, law->high);
    else if (law->high > 0)
        lgv_text_add(t, " (noise acts where there is no friction)");
}

void lgv_law_words(const struct lgv_model *m, const struct lgv_law *law, struct lgv_text *t) {
    if (law->kind == LGV_LAW_GIBBS) gibbs_words(m, law, t);
    if (law->kind == LGV_LAW_MISMATCH) mismatch_words(m, law, t);
    if (law->kind == LGV_LAW_REST)
        lgv_text_add(t, "none but rest%s: there is friction and no noise",
                     law->partial ? ", where the friction reaches all coordinates through the forces" : "");
    if (law->kind == LGV_LAW_INFINITE)
        lgv_text_add(t, "none: exp(-H/kT) cannot be normalised, because the kinetic energy is negative in some "
                        "direction at the start or near it: a mass or an inertia is negative there");
    if (law->kind == LGV_LAW_UNKNOWN) lgv_text_add(t, "not known: %s", law->why);
    if (law->kind == LGV_LAW_GIBBS && fabs(law->temperature - law->given) > SAME * law->temperature)
        lgv_text_add(t, "; `langevin` has kT = %.6g, and other noise or forces change it", law->given);
}
