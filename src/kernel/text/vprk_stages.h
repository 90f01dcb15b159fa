/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Variational methods with any stages (the equations are in methods/vprk.c): for constant masses by rounds that
 * solve for the multipliers alone, for Lagrangians and where these do not converge by Newton's method for all stages
 * at once.  Of many coordinates and constraints it has no dense matrices: vprk_long.h.  Include-free; a part of
 * methods/vprk.c. */

/* Velocity, momentum and force of stage values: unknown Y is V (Lagrangian) or P (constant masses). */
struct stages {
    vec *Y, *V, *Q, *P, *f;     /* [s][NP] */
    vec *PQ, *PY, *fQ, *fY;     /* [NP][NP], of the stage looked at */
    vec *X, *GX, *S, *GT, *lam; /* multipliers: [M][NP], [M][NC][NP], [M][NP][NP], [M][NP], [M][NC] */
};

INLINE void combine(const struct ctx *c, const vec *q, const double *row, const vec *V, vec *Q) {
    for (long i = 0; i < NP; i++) {
        Q[i] = q[i];
        for (long j = 0; j < VS; j++)
            if (row[j] != 0) Q[i] += c->dt * row[j] * V[j * NP + i];
    }
}

INLINE void stage_positions(struct ctx *c, const vec *q, struct stages *s) {
    for (long j = 0; j < VS; j++) {
        if (MODEL_L)
            for (long i = 0; i < NP; i++) s->V[j * NP + i] = s->Y[j * NP + i];
        else
            model_K1(c, time_at(c, V_TIME(j)), q, s->Y + j * NP, 1.0, no_noise, 0, s->V + j * NP);
    }
    for (long j = 0; j < VS; j++) combine(c, q, &V_A(j, 0), s->V, s->Q + j * NP);
    for (long m = 0; NC > 0 && m < VM; m++) {
        combine(c, q, &V_D(m, 0), s->V, s->X + m * NP);
        model_GT(c, s->X + m * NP, s->lam + m * NC, s->GT + m * NP);
    }
}

/* Force of stage j and, if wanted, the derivatives of force and momentum. */
INLINE void stage_values(struct ctx *c, long j, const vec *w, int second, struct stages *s) {
    double t = time_at(c, V_TIME(j));
    const vec *Q = s->Q + j * NP, *Y = s->Y + j * NP;
    vec *f = s->f + j * NP, *P = s->P + j * NP;
    if (MODEL_L) {
        model_L2(c, t, Q, Y, c->dt * V_B(j), w, f, 0, second ? s->fQ : 0, second ? s->fY : 0, 0);
        model_L2(c, t, Q, Y, 1.0, no_noise, 0, P, 0, second ? s->PQ : 0, second ? s->PY : 0);
#if DRAGGED == 2
        bath_resist(c, c->dt * V_B(j), Q, Y, f, second ? s->fY : 0);
#endif
        return;
    }
    if (MODEL_LONG)
        model_K1(c, t, Q, Y, c->dt * V_B(j), w, f, 0);
    else
        model_K2(c, t, Q, Y, c->dt * V_B(j), w, f, 0, second ? s->fQ : 0, 0, 0);
    for (long i = 0; i < NP; i++) {
        f[i] = -f[i];
        P[i] = Y[i];
    }
    for (long i = 0; second && i < NP * NP; i++) s->fQ[i] = -s->fQ[i];
}

/* Adds the correction's force at a stage between the ends of the step, where its position is not known beforehand; the
 * others are found once.  Its derivative, of the size dt^3, is left out of the matrices.  For constant masses. */
INLINE void add_inner_correction(struct ctx *c, long j, const vec *Q, vec *f) {
    if (!CORRECTED || MODEL_L || V_TIME(j) == 0 || V_TIME(j) == 1) return;
    vec *top = c->top;
    ARRAY(G, JACOBIAN);
    ARRAY(x, NP);
    model_G(c, Q, G);
    correction_gradient(c, time_at(c, V_TIME(j)), Q, G, 0, x);
    for (long i = 0; i < NP; i++) ADD_PRODUCT(f[i], -c->dt * c->dt * VPRK_CORRECTION * V_B(j), x[i]);
    c->top = top;
}

/* Residual of the equations of the momenta. */
INLINE void stage_residual(const struct ctx *c, const vec *p, const struct stages *s, vec *r) {
    (void)c;
    for (long i = 0; i < VS; i++)
        for (long a = 0; a < NP; a++) {
            vec sum = s->P[i * NP + a] - p[a];
            for (long j = 0; j < VS; j++)
                if (V_AHAT(i, j) != 0) ADD_PRODUCT(sum, -V_AHAT(i, j), s->f[j * NP + a]);
            for (long m = 0; NC > 0 && m < VM; m++) ADD_PRODUCT(sum, -V_AM(i, m), s->GT[m * NP + a]);
            r[i * NP + a] = sum;
        }
}

#if MODEL_LONG
#include "kernel/text/vprk_long.h"
#else
#define STAGES_MATRIX (UNKNOWNS * UNKNOWNS)
#define STAGES_SCRATCH SYSTEM_SCRATCH(UNKNOWNS)

/* B += factor A VY, VY the derivative of the velocity: 1 or the masses. */
INLINE void add_product(double factor, const vec *A, const vec *mass, vec *B, long stride) {
    for (long i = 0; i < NP; i++)
        for (long j = 0; j < NP; j++) {
            vec sum = MODEL_L ? A[i * NP + j] : vec_set(0);
            for (long k = 0; !MODEL_L && k < NP; k++) ADD_PRODUCT(sum, A[i * NP + k], mass[k * NP + j]);
            ADD_PRODUCT(B[i * stride + j], factor, sum);
        }
}

/* Columns of stage j's force and momentum in the matrix; fQ, fY, PQ, PY are those of stage j. */
INLINE void add_stage(const struct ctx *c, long j, const struct stages *s, const vec *mass, vec *A) {
    const long n = UNKNOWNS;
    for (long k = 0; k < VS; k++) {
        if (V_A(j, k) != 0)
            for (long i = 0; i < VS; i++)
                if (V_AHAT(i, j) != 0)
                    add_product(-V_AHAT(i, j) * c->dt * V_A(j, k), s->fQ, mass, A + i * NP * n + k * NP, n);
        if (MODEL_L && V_A(j, k) != 0) /* L_vq: the transpose of L_qv */
            for (long a = 0; a < NP; a++)
                for (long b = 0; b < NP; b++)
                    ADD_PRODUCT(A[(j * NP + a) * n + k * NP + b], c->dt * V_A(j, k), s->PQ[b * NP + a]);
    }
    for (long a = 0; a < NP; a++)
        for (long b = 0; b < NP; b++) {
            A[(j * NP + a) * n + j * NP + b] += MODEL_L ? s->PY[a * NP + b] : vec_set(a == b ? 1.0 : 0.0);
            for (long i = 0; MODEL_L && i < VS; i++)
                ADD_PRODUCT(A[(i * NP + a) * n + j * NP + b], -V_AHAT(i, j), s->fY[a * NP + b]);
        }
}

INLINE void add_multiplier(const struct ctx *c, long m, const struct stages *s, const vec *mass, vec *A) {
    const long n = UNKNOWNS;
    for (long i = 0; i < VS; i++) {
        if (V_AM(i, m) == 0) continue;
        for (long k = 0; k < VS; k++)
            if (V_D(m, k) != 0)
                add_product(-V_AM(i, m) * c->dt * V_D(m, k), s->S + m * NP * NP, mass, A + i * NP * n + k * NP, n);
        for (long a = 0; a < NP; a++)
            for (long l = 0; l < NC; l++)
                ADD_PRODUCT(A[(i * NP + a) * n + VS * NP + m * NC + l], -V_AM(i, m), s->GX[(m * NC + l) * NP + a]);
    }
}

/* Residual r and matrix A of stage equations and of constraints (divided by dt). */
INLINE void stage_system(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *dZ, const vec *extra,
                         const vec *mass, struct stages *s, vec *r, vec *A) {
    const long n = UNKNOWNS;
    vec *top = c->top;
    ARRAY(w, NM);
    ARRAY(point, NP);
    ARRAY(G, NC * NP);
    for (long i = 0; i < n * n; i++) A[i] = vec_set(0);
    for (long j = 0; j < VS; j++) {
        noise_weights(c, METHOD_DZ, V_BETA(j), V_GAMMA(j), dW, dZ, w);
        stage_values(c, j, w, 1, s);
        for (long i = 0; CORRECTED && V_TIME(j) == 0 && i < NP; i++) ADD_PRODUCT(s->f[j * NP + i], V_B(j), extra[i]);
        add_inner_correction(c, j, s->Q + j * NP, s->f + j * NP);
        add_stage(c, j, s, mass, A);
    }
    for (long m = 0; NC > 0 && m < VM; m++) {
        model_G(c, s->X + m * NP, s->GX + m * NC * NP);
        model_S2(c, s->X + m * NP, s->lam + m * NC, s->S + m * NP * NP);
        add_multiplier(c, m, s, mass, A);
        combine(c, q, &V_E(m, 0), s->V, point);
        model_g(c, point, r + VS * NP + m * NC);
        model_G(c, point, G);
        for (long l = 0; l < NC; l++) {
            vec *row = A + (VS * NP + m * NC + l) * n;
            r[VS * NP + m * NC + l] /= c->dt;
            for (long k = 0; k < VS; k++)
                for (long a = 0; V_E(m, k) != 0 && a < NP; a++) {
                    vec sum = MODEL_L ? G[l * NP + a] : vec_set(0);
                    for (long b = 0; !MODEL_L && b < NP; b++) ADD_PRODUCT(sum, G[l * NP + b], mass[b * NP + a]);
                    ADD_PRODUCT(row[k * NP + a], V_E(m, k), sum);
                }
        }
    }
    stage_residual(c, p, s, r);
    c->top = top;
}

/* Rows and unknowns in units in which the matrix is of the size of 1: see constrained.h; m is the size of the
 * masses, g that of G. For constant masses the unknowns are momenta, counted in m. */
INLINE void scale_system(vec m, vec g, vec *r, vec *A) {
    const long n = UNKNOWNS;
    vec row[2] = {1.0 / m, 1.0 / g}, col[2] = {MODEL_L ? vec_set(1) : m, m / g};
    for (long i = 0; i < n; i++) {
        r[i] *= row[i >= VS * NP];
        for (long j = 0; j < n; j++) A[i * n + j] *= row[i >= VS * NP] * col[j >= VS * NP];
    }
}

INLINE ivec stage_solve(const struct ctx *c, const struct stages *s, const vec *mass, vec *A, vec *r, vec *scratch) {
    vec m = MODEL_L ? largest_of(s->PY, NP, NP + 1) : 1.0 / largest_of(mass, NP, NP + 1);
    vec g = NC > 0 ? largest_of(s->GX, NC * NP, 1) : vec_set(1);
    (void)c;
    scale_system(m, g, r, A);
    ivec singular = system_solve(SYSTEM_ANY, UNKNOWNS, A, r, scratch);
    for (long i = 0; i < UNKNOWNS; i++) r[i] *= i >= VS * NP ? m / g : MODEL_L ? vec_set(1) : m;
    return singular;
}
#endif

#if MODEL_L || !MODEL_LONG
/* Lanes whose equations hold to round-off of their terms. */
static __attribute__((noinline, cold)) ivec stages_met(struct ctx *c, const vec *q, const vec *p,
                                                       const struct stages *s, const vec *r) {
    vec *top = c->top;
    ARRAY(point, NP);
    vec left = vec_set(0), parts = vec_set(0);
    ivec met = ~(ivec){0}, here;
    for (long i = 0; i < NP; i++) {
        parts += vec_abs(p[i]);
        for (long j = 0; j < VS; j++) {
            left += vec_abs(r[j * NP + i]);
            parts += vec_abs(s->P[j * NP + i]) + vec_abs(s->f[j * NP + i]);
        }
        for (long m = 0; NC > 0 && m < VM; m++) parts += vec_abs(s->GT[m * NP + i]);
    }
    met = (ivec)(left <= 1e-14 * parts);
    for (long m = 0; NC > 0 && m < VM; m++) {
        combine(c, q, &V_E(m, 0), s->V, point);
        constraints_met(c, point, &here);
        met &= here;
    }
    c->top = top;
    return met;
}

struct all_stages {
    const vec *q, *p, *dW, *dZ, *extra, *mass;
    struct stages *at;
    vec *A, *scratch, *last, *end, *move, *x;
    ivec outside;
};

INLINE ivec stages_correct(struct ctx *c, struct newton *s, void *of) {
    struct all_stages *h = of;
    struct stages *at = h->at;
    const long n = UNKNOWNS;
    vec *r = s->e;
    stage_system(c, h->q, h->p, h->dW, h->dZ, h->extra, h->mass, at, r, h->A);
    if (s->round >= NEWTON_PATIENT) s->live &= ~stages_met(c, h->q, h->p, at, r);
    h->outside = s->round > 0 ? left_domain(n, r, s->live) : (ivec){0};
    ivec singular = stage_solve(c, at, h->mass, h->A, r, h->scratch);
    damp(n, h->outside, r, h->last);
    return singular & ~h->outside;
}

/* By how far the end of the step moves. */
INLINE ivec stages_moving(struct ctx *c, struct newton *s, void *of) {
    struct all_stages *h = of;
    for (long i = 0; i < NP; i++) h->move[i] = h->end[i];
    stage_positions(c, h->q, h->at);
    combine(c, h->q, vprk_table, h->at->V, h->end);
    for (long i = 0; i < NP; i++) {
        h->x[i] = h->end[i] - h->q[i];
        h->move[i] -= h->end[i];
    }
    ivec first = (ivec)(vec_set(s->round == 0 ? 1.0 : 0.0) > 0.5);
    return still_moving(NP, h->move, h->x, h->q, 1e-9) | h->outside | first;
}

/* Newton's method for all stages, on the lanes `live`; those without a solution fail.  The unknowns are Y and lam,
 * which stand one behind the other. */
INLINE void newton_stages(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *dZ, const vec *extra,
                          const vec *mass, struct stages *at, ivec live) {
    vec *top = c->top;
    ARRAY(A, STAGES_MATRIX);
    ARRAY(scratch, STAGES_SCRATCH);
    ARRAY(r, UNKNOWNS);
    ARRAY(last, UNKNOWNS);
    ARRAY(end, NP);
    ARRAY(move, NP);
    ARRAY(x, NP);
    struct all_stages h = {q, p, dW, dZ, extra, mass, at, A, scratch, last, end, move, x, {0}};
    struct newton s = {.n = UNKNOWNS, .x = at->Y, .e = r, .live = live};
    stage_positions(c, q, at);
    combine(c, q, vprk_table, at->V, end);
    newton(c, &s, NEWTON_MAX, stages_correct, stages_moving, 0, &h);
    c->top = top;
}
#else
INLINE void newton_stages(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *dZ, const vec *extra,
                          const vec *mass, struct stages *at, ivec live) {
    (void)q, (void)p, (void)dW, (void)dZ, (void)extra, (void)mass, (void)at;
    lanes_failed(c, &live, LGV_FAIL_NEWTON);
}
#endif

#if MODEL_L
#define quick_stages(...) __builtin_trap()
#else
/* For constant masses and tableaux whose multipliers and constraints lie at the stages themselves (VPRK_S >= 2: X_m
 * = Q_m, constraint m at Q_m+1) the multipliers alone are solved for, with forces and directions of the multipliers
 * from the stages before:
 *
 *     sum_m C_im G(Q_i) M^-1 G(Q_m)^T delta_m = g(Q_i) / dt,   C_im = sum_k a_ik ahat_km,   lam_m -= delta_m.
 *
 * The error falls by a factor of the size dt^2 in each round; lanes where it falls too slowly are left in *live. */
#define QUICK_SIZE (VM * NC)
#if MODEL_LONG /* nothing else is left: as long as it falls */
#define QUICK_ROUNDS 200
#define QUICK_SLOW 0.9
#define QUICK_ROWS 0
#if NC_NONE
#define QUICK_MATRIX 0
#define QUICK_SCRATCH 0
#else
#define QUICK_MATRIX PATTERN_BLOCKS(VM)
#define QUICK_SCRATCH (PATTERN_SCRATCH(VM) + SPARSE_NA)
#endif
#else
#define QUICK_ROUNDS 12
#define QUICK_SLOW 0.5
#define QUICK_ROWS (VS * NC * NP)
#define QUICK_MATRIX (QUICK_SIZE * QUICK_SIZE)
#define QUICK_SCRATCH SYSTEM_SCRATCH(QUICK_SIZE)
#endif

#if !MODEL_LONG
/* The rows of the system for the multipliers. */
INLINE void quick_system(struct ctx *c, const vec *G, const vec *MG, vec *A) {
    for (long i = 1; i < VS; i++)
        for (long m = 0; m < VM; m++) {
            double C = 0;
            for (long k = 0; k < VS; k++) C += V_A(i, k) * V_AM(k, m);
            for (long a = 0; a < NC; a++)
                for (long b = 0; b < NC; b++)
                    A[((i - 1) * NC + a) * QUICK_SIZE + m * NC + b] =
                        C * dot(c, G + (i * NC + a) * NP, MG + (m * NC + b) * NP);
        }
}

INLINE ivec quick_solve(struct ctx *c, const vec *G, const vec *MG, vec *A, vec *r, vec *scratch) {
    quick_system(c, G, MG, A);
    return system_solve(SYSTEM_ANY, QUICK_SIZE, A, r, scratch);
}
#endif

/* Momenta and velocities of the stages from their forces and multipliers, in the lanes that are not done: a lane's
 * bits must not depend on the others. */
INLINE void quick_momenta(struct ctx *c, const vec *q, const vec *p, const ivec *far, struct stages *s) {
    for (long j = 0; j < VS; j++) {
        for (long i = 0; i < NP; i++) {
            vec sum = p[i];
            for (long k = 0; k < VS; k++)
                if (V_AHAT(j, k) != 0) ADD_PRODUCT(sum, V_AHAT(j, k), s->f[k * NP + i]);
            for (long m = 0; NC > 0 && m < VM; m++)
                if (V_AM(j, m) != 0) ADD_PRODUCT(sum, V_AM(j, m), s->GT[m * NP + i]);
            s->Y[j * NP + i] = vec_select(*far, sum, s->Y[j * NP + i]);
        }
        model_K1(c, time_at(c, V_TIME(j)), q, s->Y + j * NP, 1.0, no_noise, 0, s->V + j * NP);
    }
}

struct quick {
    const vec *q, *p, *w, *extra;
    struct stages *at;
    vec *G, *MG, *A, *scratch, *r, *old; /* long: MG are the masses */
    vec moved, size; /* of the coordinates that move */
    ivec stuck;
};

/* Position of stage j, from the second round on, its force and its part of the system. */
INLINE void quick_stage(struct ctx *c, long j, int round, struct quick *h) {
    struct stages *at = h->at;
    if (round > 0 && j > 0) {
        combine(c, h->q, &V_A(j, 0), at->V, at->Q + j * NP);
        for (long i = 0; i < NP; i++) {
            vec step = vec_abs(at->Q[j * NP + i] - h->old[j * NP + i]);
            h->moved += step;
            h->size += vec_select((ivec)(step == 0.0), vec_set(0), vec_abs(h->q[i]));
        }
    }
    for (long i = 0; i < NP; i++) h->old[j * NP + i] = at->Q[j * NP + i];
    if (round > 0 && j == 0) return; /* the first stage is q */
    model_K1(c, time_at(c, V_TIME(j)), at->Q + j * NP, h->p, c->dt * V_B(j), h->w + j * NM, at->f + j * NP, 0);
    for (long i = 0; i < NP; i++) {
        at->f[j * NP + i] = -at->f[j * NP + i];
        if (CORRECTED && V_TIME(j) == 0) ADD_PRODUCT(at->f[j * NP + i], V_B(j), h->extra[i]);
    }
    add_inner_correction(c, j, at->Q + j * NP, at->f + j * NP);
    if (NC == 0) return;
    model_G(c, at->Q + j * NP, h->G + j * JACOBIAN);
    if (j < VM && !MODEL_LONG) constraint_rows(c, h->G + j * JACOBIAN, 0, h->MG + j * JACOBIAN);
    if (round > 0 && j > 0) model_g(c, at->Q + j * NP, h->r + (j - 1) * NC);
}

INLINE ivec quick_correct(struct ctx *c, struct newton *s, void *of) {
    struct quick *h = of;
    struct stages *at = h->at;
    ivec live = s->live;
    h->moved = h->size = vec_set(0);
    for (long j = 0; j < VS; j++) quick_stage(c, j, s->round, h);
    if (NC > 0 && s->round > 0) {
        for (long k = 0; k < QUICK_SIZE; k++) h->r[k] *= 1 / c->dt;
        (void)quick_solve(c, h->G, h->MG, h->A, h->r, h->scratch);
        for (long k = 0; k < QUICK_SIZE; k++) at->lam[k] -= vec_select(live, h->r[k], vec_set(0));
    }
    for (long m = 0; NC > 0 && m < VM; m++) {
        for (long i = 0; i < NP; i++) at->GT[m * NP + i] = vec_set(0);
        constraint_add(c, h->G + m * JACOBIAN, at->lam + m * NC, at->GT + m * NP);
    }
    quick_momenta(c, h->q, h->p, &live, at);
    return (ivec){0}; /* a singular lane has no finite momentum */
}

INLINE ivec quick_moving(struct ctx *c, struct newton *s, void *of) {
    struct quick *h = of;
    vec moved = h->moved, size = h->size, before = s->last;
    ivec far = ~(ivec){0};
    (void)c;
    if (s->round > 1) far = (ivec)(moved * moved > 1e-18 * size * before) & (ivec)(moved > 1e-15 * size);
    if (s->round > 2) h->stuck |= s->live & far & (ivec)(moved > QUICK_SLOW * before);
    s->last = moved;
    return far & ~h->stuck;
}

INLINE void quick_stages(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *dZ, const vec *extra,
                         vec *mass, struct stages *at, ivec *live) {
    vec *top = c->top;
    ARRAY(G, VS * JACOBIAN);
    ARRAY(MG, QUICK_ROWS);
    ARRAY(A, QUICK_MATRIX);
    ARRAY(scratch, QUICK_SCRATCH);
    ARRAY(r, QUICK_SIZE);
    ARRAY(w, VS * NM);
    ARRAY(old, VS * NP);
    ivec known = *live;
    for (long j = 0; j < VS; j++) noise_weights(c, METHOD_DZ, V_BETA(j), V_GAMMA(j), dW, dZ, w + j * NM);
    for (long j = 0; j < VS; j++)
        for (long i = 0; i < NP; i++) {
            at->Q[j * NP + i] = q[i];
            at->Y[j * NP + i] = p[i];
        }
    struct quick h = {q, p, w, extra, at, G, MODEL_LONG ? mass : MG, A, scratch, r, old, vec_set(0), vec_set(0), {0}};
    struct newton s = {.live = known};
    newton_iterate(c, &s, QUICK_ROUNDS, quick_correct, quick_moving, 0, &h);
    *live = s.live | h.stuck;
    for (long i = 0; i < NP; i++) *live |= known & ~vec_finite(at->Y[(VS - 1) * NP + i]);
    c->top = top;
}
#endif

/* What the stages have found becomes the end of the step. */
INLINE void stages_end(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, const vec *extra, struct stages *s,
                       vec *v) {
    ARRAY(w, NM);
    ARRAY(end, NP);
    combine(c, q, vprk_table, s->V, end);
    for (long j = 0; j < VS; j++) {
        noise_weights(c, METHOD_DZ, V_BETA(j), V_GAMMA(j), dW, dZ, w);
        stage_values(c, j, w, 0, s);
        add_inner_correction(c, j, s->Q + j * NP, s->f + j * NP);
        for (long i = 0; i < NP; i++)
            p[i] += s->f[j * NP + i] + (CORRECTED && V_TIME(j) == 0 ? V_B(j) * extra[i] : vec_set(0));
    }
    for (long m = 0; NC > 0 && m < VM; m++)
        for (long i = 0; i < NP; i++) p[i] += s->GT[m * NP + i];
    for (long i = 0; i < NP; i++) {
        q[i] = vec_select((ivec)(q[i] == q[i]), end[i], q[i]);
        v[i] = s->Y[(VS - 1) * NP + i];
    }
}

#if MODEL_LONG
#define STAGE_SECOND (MODEL_L ? SECOND : 0)
#define STAGE_BENDS STAGE_SECOND
#define STAGE_MASSES (MODEL_SPARSE ? MASSES : 0)
#else
#define STAGE_SECOND SECOND
#define STAGE_BENDS (VM * SECOND)
#define STAGE_MASSES (NP * NP)
#endif

INLINE void stages_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ) {
    ARRAY(unknowns, UNKNOWNS);
    ARRAY(values, VS * 4 * NP);
    ARRAY(second, 4 * STAGE_SECOND);
    ARRAY(multipliers, VM * (2 * NP + JACOBIAN) + STAGE_BENDS);
    ARRAY(mass, STAGE_MASSES);
    ARRAY(v, NP);
    ARRAY(mu, NC);
    ARRAY(extra, NP);
    ARRAY(G, JACOBIAN);
    struct stages s = {.Y = unknowns,
                       .V = values,
                       .Q = values + VS * NP,
                       .P = values + 2 * VS * NP,
                       .f = values + 3 * VS * NP,
                       .PQ = second,
                       .PY = second + STAGE_SECOND,
                       .fQ = second + 2 * STAGE_SECOND,
                       .fY = second + 3 * STAGE_SECOND,
                       .X = multipliers,
                       .GT = multipliers + VM * NP,
                       .GX = multipliers + 2 * VM * NP,
                       .S = multipliers + VM * (2 * NP + JACOBIAN),
                       .lam = unknowns + VS * NP};
    ivec live = (ivec)(p[0] == p[0]), singular = {0};
    for (long i = 0; i < NP; i++) v[i] = MODEL_L ? c->extra[i * VECS] : p[i];
    for (long i = 0; i < VM * NC; i++) s.lam[i] = vec_set(0);
    if (MODEL_L && CORRECTED) constraint_masses(c, time_at(c, 0), q, v, mass);
    if (CORRECTED) {
        model_G(c, q, G);
        correction_gradient(c, time_at(c, 0), q, G, mass, extra);
        for (long i = 0; i < NP; i++) extra[i] *= -c->dt * VPRK_CORRECTION * c->dt;
    }
#if MODEL_SPARSE
    constraint_masses(c, time_at(c, 0), q, p, mass);
#endif
    if (QUICK) quick_stages(c, q, p, dW, dZ, extra, mass, &s, &live);
    if (!QUICK || RARELY(vec_any(live))) {
        for (long j = 0; j < VS; j++)
            for (long i = 0; i < NP; i++) s.Y[j * NP + i] = QUICK ? vec_select(live, v[i], s.Y[j * NP + i]) : v[i];
        for (long i = 0; i < VM * NC; i++) s.lam[i] = vec_select(live, vec_set(0), s.lam[i]);
        if (!MODEL_L && !MODEL_LONG) constraint_masses(c, time_at(c, 0), q, v, mass);
        newton_stages(c, q, p, dW, dZ, extra, mass, &s, live);
    }
    stage_positions(c, q, &s);
    stages_end(c, q, p, dW, dZ, extra, &s, v);
    model_G(c, q, G);
    if (MODEL_L && CORRECTED) constraint_masses(c, time_at(c, 1), q, v, mass);
    if (CORRECTED) {
        correction_gradient(c, time_at(c, 1), q, G, mass, extra);
        for (long j = 0; j < VS; j++)
            for (long i = 0; V_TIME(j) == 1 && i < NP; i++)
                ADD_PRODUCT(p[i], -V_B(j) * c->dt * VPRK_CORRECTION * c->dt, extra[i]);
    }
    for (long m = 0; m < NC; m++) mu[m] = vec_set(0);
    singular = live = (ivec){0};
    if (VPRK_PROJECT) project_momentum(c, time_at(c, 1), q, G, mass, p, v, mu, &singular, &live);
    if (!VPRK_PROJECT && MODEL_L) project_velocity(c, time_at(c, 1), q, G, 0, p, v, mu, &singular, &live);
    live &= (ivec)(p[0] == p[0]);
    if (vec_any(live)) lanes_failed(c, &live, LGV_FAIL_NEWTON);
    singular &= (ivec)(p[0] == p[0]);
    if (vec_any(singular)) lanes_failed(c, &singular, LGV_FAIL_SINGULAR);
    for (long i = 0; MODEL_L && i < NP; i++) c->extra[i * VECS] = v[i];
    for (long m = 0; m < NC; m++) {
        vec sum = mu[m];
        for (long k = 0; k < VM; k++) sum += s.lam[k * NC + m];
        c->extra[(m + (MODEL_L ? NP : 0)) * VECS] = sum / c->dt;
    }
}
