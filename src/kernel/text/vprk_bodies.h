/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The drift of variational methods in models with rotations: an impulse of the constraints at q, then the free motion,
 *
 *     (q', P) = free(q, p + G(q)^T lam),     g(q') = 0,
 *
 * where G = g_q is left-trivialised: its columns are those of the momenta.  Bou-Rabee & Owhadi (2009), Stochastic
 * variational integrators, doi 10.1093/imanum/drn018, section 5.3; with half kicks around it and the projection behind
 * it this is RATTLE on a Lie group.
 *
 * Newton's method for lam needs how q' depends on the momentum before the motion.  Vectors have dt M^-1.  A body whose
 * momentum in space is changed by a has turned by eta more, eta' = J (a - eta x pi), J = R I^-1 R^T, and pi = R m does
 * not move.  By the midpoint rule, in the frame of the body half-way, (I - dt/2 hat m) eta = dt a, so that
 *
 *     X = H^T (I - dt/2 hat m)^-1 H^T,     H the half of the turn, m half-way,
 *
 * is the derivative over dt up to O(dt^2), for every free step of order 2: errors fall by that factor a round.  Bodies
 * with coupled inertia have theirs in vprk_coupled.h.
 * Include-free; a part of vprk_kicks.h. */
#ifndef VPRK_ROTATE /* a free step of rotor.h */
#define VPRK_ROTATE rotor_exactly
#endif
#ifndef VPRK_ROTATE_COUPLED /* one of kirchhoff.h: the motion itself has no closed form */
#define VPRK_ROTATE_COUPLED kirchhoff_cayley
#endif

INLINE void free_motion(struct ctx *c, const vec *q, const vec *p, const struct kept *k, const vec *lam, vec *P,
                        vec *Q) {
    vec *top = c->top;
    ARRAY(Kp, NP);
    for (long i = 0; i < NP; i++) P[i] = p[i];
    for (long i = 0; i < NX; i++) Q[i] = q[i];
    if (NC > 0) constraint_add(c, k->G, lam, P);
    model_K1(c, time_at(c, 0.5), q, P, c->dt, no_noise, 0, Kp);
    vectors_move(Kp, Q);
    ROTATE_ALL(c, Q, P, VPRK_ROTATE)
#if COUPLED
    COUPLED_ALL(c, Q, P, VPRK_ROTATE_COUPLED)
#endif
    c->top = top;
}

#if !NC_NONE

/* ---- the derivative of the motion of one body, along its principal axes ---- */

INLINE void matrix_product(const vec *A, const vec *B, vec *out) {
    UNROLL for (int i = 0; i < 3; i++)
        UNROLL for (int j = 0; j < 3; j++)
            out[3 * i + j] = FUSED(A[3 * i], B[j], FUSED(A[3 * i + 1], B[3 + j], A[3 * i + 2] * B[6 + j]));
}

/* (D - hat s)^-1, D diagonal. */
INLINE void slope_inverse(const double *D, const vec *s, vec *out) {
    vec det = vec_set(D[0] * D[1] * D[2]);
    UNROLL for (int i = 0; i < 3; i++) ADD_PRODUCT(det, D[i] * s[i], s[i]);
    vec factor = 1.0 / det;
    UNROLL for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[4 * i] = factor * FUSED(s[i], s[i], vec_set(D[j] * D[k]));
        out[3 * i + j] = factor * FUSED(s[i], s[j], -D[k] * s[k]);
        out[3 * j + i] = factor * FUSED(s[i], s[j], D[k] * s[k]);
    }
}

/* The half of the turn from a to b, as a quaternion. */
INLINE void half_turn(const vec *a, const vec *b, vec *h) {
    vec back[4] = {a[0], -a[1], -a[2], -a[3]};
    rotor_turn(back, b);
    vec square = vec_set(1e-30); /* a whole turn has no half */
    UNROLL for (int i = 0; i < 4; i++) {
        h[i] = i ? back[i] : 1.0 + back[0];
        ADD_PRODUCT(square, h[i], h[i]);
    }
    vec scale = 1.0 / vec_sqrt(square);
    UNROLL for (int i = 0; i < 4; i++) h[i] *= scale;
}

/* X of a body that went from q to Q and has the momentum m there. */
INLINE void body_slope(double dt, const double *spin, const vec *q, const vec *Q, const vec *m, vec *X) {
    vec a[4], b[4], n[3], h[4], E[9], B[9], s[3];
    UNROLL for (int i = 0; i < 4; i++) a[i] = q[i], b[i] = Q[i];
    UNROLL for (int i = 0; i < 3; i++) n[i] = s[i] = m[i];
    if (ROTATIONS_TILTED) rotation_tilt(spin, 0, a, s);
    if (ROTATIONS_TILTED) rotation_tilt(spin, 0, b, n);
    half_turn(a, b, h);
    vec forth[4] = {h[0], -h[1], -h[2], -h[3]};
    rotor_turn_back(n, forth);
    UNROLL for (int i = 0; i < 3; i++) s[i] = 0.5 * dt * n[i];
    UNROLL for (int j = 0; j < 3; j++) { /* columns of H^T */
        vec e[3] = {vec_set(j == 0), vec_set(j == 1), vec_set(j == 2)};
        rotor_turn_back(e, h);
        UNROLL for (int i = 0; i < 3; i++) E[3 * i + j] = e[i];
    }
    slope_inverse(spin, s, X);
    matrix_product(X, E, B);
    matrix_product(E, B, X);
    if (!ROTATIONS_TILTED) return;
    const double *t = spin + LGV_SPIN_TILT, turn[4] = {t[0], t[1], t[2], t[3]};
    for (int twice = 0; twice < 2; twice++) { /* both sides */
        for (int i = 0; i < 3; i++) quaternion_turn(turn, X + 3 * i);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < i; j++) {
                vec x = X[3 * i + j];
                X[3 * i + j] = X[3 * j + i];
                X[3 * j + i] = x;
            }
    }
}

#if COUPLED
#include "kernel/text/vprk_coupled.h"
#endif

/* ---- all of them: X in the place of the masses ---- */

INLINE void motion_slope(struct ctx *c, const vec *q, const vec *Q, const vec *P, const struct kept *k,
                         struct kept *out) {
    long body = 0;
#if MODEL_SPARSE
    for (long i = 0; i < MASSES; i++) out->mass[i] = k->mass[i];
#else
    for (long i = 0; i < NC * NP; i++) out->MG[i] = k->MG[i];
#endif
    for (long run = 0; run < ROTATION_RUNS; run++)
        for (long n = 0; n < rotation_run[run].count; n++, body++) {
            const long at = rotation_run[run].q + 4 * n, p = rotation_run[run].p + 3 * n;
            vec X[9];
            body_slope(c->dt, c->b->spin + LGV_SPIN * body, q + at, Q + at, P + p, X);
#if MODEL_SPARSE /* the rows of a body have three entries */
            for (long i = 0; i < 3; i++)
                for (long j = 0; j < 3; j++) out->mass[SPARSE_TABLE(m_row)[p + i] + j] = X[3 * i + j];
#else
            for (long m = 0; m < NC; m++) {
                const vec *G = k->G + m * NP + p;
                for (long i = 0; i < 3; i++) out->MG[m * NP + p + i] = rotor_dot(X + 3 * i, G);
            }
#endif
        }
#if COUPLED
    coupled_slopes(c, q, Q, P, k, out);
#endif
}

/* ---- multipliers ---- */

/* Lengths and angles are compared by the radius of gyration, squared: the mean of all moments over that of all masses.
 * Constant. */
INLINE vec square_radius(struct ctx *c, double t, const vec *q) {
    vec *top = c->top, light = vec_set(0);
    double inertia = 0, vectors = 0;
    ARRAY(one, NP);
    ARRAY(v, NP);
    for (long i = 0; i < NP; i++) one[i] = vec_set(0);
    for (long run = 0; run < VECTOR_RUNS; run++)
        for (long k = 0; k < vector_run[run].count; k++, vectors++) one[vector_run[run].p + k] = vec_set(1);
    for (long k = 0; k < ROTATIONS - COUPLED; k++)
        for (int i = 0; i < 3; i++) inertia += (c->b->spin + LGV_SPIN * k)[i];
#if COUPLED
    for (long run = 0; run < COUPLED_RUNS; run++)
        for (long k = 0, n = 3 * coupled_run[run].count; k < n; k++, vectors++)
            one[coupled_run[run].p - n + k] = vec_set(1);
    for (long k = 0; k < COUPLED; k++)
        for (int i = 0; i < 3; i++) inertia += (c->b->spin + COUPLED_FROM + LGV_COUPLED_NUMBERS * k)[7 * i];
#endif
    model_K1(c, t, q, one, 1.0, no_noise, 0, v);
    for (long i = 0; i < NP; i++) ADD_PRODUCT(light, one[i], v[i]);
    c->top = top;
    return vectors > 0 ? inertia / (3.0 * (double)ROTATIONS) / vectors * light : vec_set(1);
}

/* |x|^2 of a move, and |q|^2: rotations count 1. */
INLINE vec square_move(vec radius, const vec *x) {
    vec sum = vec_set(0);
    for (long run = 0; run < VECTOR_RUNS; run++)
        for (long k = 0; k < vector_run[run].count; k++)
            ADD_PRODUCT(sum, x[vector_run[run].p + k], x[vector_run[run].p + k]);
    for (long run = 0; run < ROTATION_RUNS; run++)
        for (long k = 0; k < 3 * rotation_run[run].count; k++)
            ADD_PRODUCT(sum, radius * x[rotation_run[run].p + k], x[rotation_run[run].p + k]);
#if COUPLED
    for (long run = 0; run < COUPLED_RUNS; run++)
        for (long k = 0, n = 3 * coupled_run[run].count; k < n; k++) {
            const vec *turn = x + coupled_run[run].p + k, *way = turn - n;
            sum += FUSED(radius * *turn, *turn, *way * *way);
        }
#endif
    return sum;
}

INLINE vec square_place(vec radius, const vec *q) {
    vec sum = (double)ROTATIONS * radius;
    for (long run = 0; run < VECTOR_RUNS; run++)
        for (long k = 0; k < vector_run[run].count; k++)
            ADD_PRODUCT(sum, q[vector_run[run].q + k], q[vector_run[run].q + k]);
#if COUPLED
    for (long run = 0; run < COUPLED_RUNS; run++)
        for (long k = 0, n = 3 * coupled_run[run].count; k < n; k++) {
            const vec *x = q + coupled_run[run].q - n + k;
            ADD_PRODUCT(sum, *x, *x);
        }
#endif
    return sum;
}

struct motion {
    const vec *q, *p;
    const struct kept *kept;
    struct kept *slope;
    vec *P, *Q, *move, *row_size, *G1;
    vec radius, place, moved;
};

INLINE ivec motion_correct(struct ctx *c, struct newton *s, void *of) {
    struct motion *h = of;
    ivec singular;
    free_motion(c, h->q, h->p, h->kept, s->x, h->P, h->Q);
    model_g(c, h->Q, s->e);
    model_G(c, h->Q, h->G1);
    motion_slope(c, h->q, h->Q, h->P, h->kept, h->slope);
    kept_solve(c, h->slope, h->G1, s->e, &singular);
    kept_move(c, h->slope, h->row_size, s->e, h->move);
    for (long k = 0; k < NC; k++) s->e[k] *= 1 / c->dt;
    return singular;
}

INLINE ivec motion_moving(struct ctx *c, struct newton *s, void *of) {
    struct motion *h = of;
    vec rate;
    (void)c;
    return still_falling(s, square_move(h->radius, h->move), h->moved, h->place, vec_set(0.1), &rate);
}

/* Of p its part in the cotangent space at q decides where the motion leads: lam begins with the rest. */
INLINE void tangent_impulse(struct ctx *c, const vec *q, const vec *p, const struct kept *kept, vec *v, vec *lam) {
    ivec singular;
    model_K1(c, time_at(c, 0.5), q, p, 1.0, no_noise, 0, v);
    constraint_multiply(c, kept->G, v, lam);
    kept_solve_here(c, kept, lam, &singular);
    for (long k = 0; k < NC; k++) lam[k] = -lam[k];
}
#endif

/* P = momentum behind the motion, Q its end. */
INLINE void constrained_drift(struct ctx *c, const vec *q, const vec *p, const struct kept *kept, vec *P, vec *Q,
                              vec *lam) {
#if !NC_NONE
    ARRAY(e, NC);
    ARRAY(move, NP);
    ARRAY(row_size, NC);
    ARRAY(G1, JACOBIAN);
    ARRAY(rows, MODEL_SPARSE ? MASSES : NC * NP);
    vec *top = c->top;
    struct kept slope = *kept;
    *(MODEL_SPARSE ? &slope.mass : &slope.MG) = rows;
    for (long k = 0; k < NC; k++) row_size[k] = vec_set(0);
    tangent_impulse(c, q, p, kept, move, lam);
    vec radius = square_radius(c, time_at(c, 0.5), q);
    struct motion h = {q, p, kept, &slope, P, Q, move, row_size, G1, radius, square_place(radius, q),
                       square_move(radius, move) * (c->dt * c->dt)};
    struct newton s = {.n = NC, .x = lam, .e = e, .live = (ivec)(p[0] == p[0])};
    newton_iterate(c, &s, NEWTON_MAX, motion_correct, motion_moving, 0, &h);
    c->top = top;
#endif
    free_motion(c, q, p, kept, lam, P, Q);
#if !NC_NONE
    ivec live = s.live;
    if (RARELY(!vec_all(vec_finite(lam[0])) || vec_any(live))) drift_failed(c, p, lam, P, Q, &live);
#endif
}
