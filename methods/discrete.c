/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The step of a discrete Lagrangian of the model file, in its position-momentum form: with the action of a step
 * S(q, q') = dt L_d(q, q', t) + sum_m B_m(q, q', t) dW_m
 *
 *     p = -D_1 S(q, q'),     p' = D_2 S(q, q').
 *
 * The first equation is solved for q' by Newton's method with the matrix D_2 D_1 S, from q' = q + dt H_p on.  Rotations
 * have left-trivialised derivatives and move by R' exp(hat xi), bodies in SE(3) with coupled inertia by g' exp(xi).
 * For vectors p' = p + (D_1 + D_2) S, where differences of positions divided by dt cancel in the formulas, not in
 * numbers.  Beyond 16 degrees of freedom the matrix is sparse where its factors are, and factored without pivoting:
 * for short steps it is -M/dt.
 *
 * Bou-Rabee & Owhadi (2009), Stochastic variational integrators, section 4, doi 10.1093/imanum/drn018; Marsden & West
 * (2001), doi 10.1017/S096249290100006X. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY 0

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

#ifndef LGV_HOST
struct step_end {
    double t;
    const vec *q, *p, *dW;
    vec *end, *size, *A, *scratch; /* q', the sizes of its rows, matrix */
    vec *entry, *one;              /* sparse: those of D_2 D_1 S, and what they are multiplied with */
};

#if ACTION_SPARSE
#define MATRIX SPARSE_NA
#define WORK SPARSE_NC
#else
#define MATRIX (NP * NP)
#define WORK SYSTEM_SCRATCH(NP)
#endif

INLINE void end_moves(const vec *x, vec *end) {
#if ROTATIONS
    vectors_move(x, end);
    rotations_turn(x, end);
    coupled_move(x, end);
#else
    for (long i = 0; i < NP; i++) end[i] += x[i];
#endif
}

INLINE ivec end_correct(struct ctx *c, struct newton *s, void *of) {
    struct step_end *h = of;
    vec *top = c->top;
    ARRAY(back, NP);
    ARRAY(moved, NX);
    model_action(c, h->t, h->q, h->end, c->dt, h->dW, s->e, 0, 0, ACTION_SPARSE ? h->entry : h->A);
    for (long i = 0; i < NP; i++) s->e[i] += h->p[i];
#if ACTION_SPARSE
    for (long k = 0; k < SPARSE_NA; k++) h->A[k] = vec_set(0);
    sparse_add_tile(0, 0, 1.0, h->one, h->entry, h->A);
#endif
    ivec singular = system_solve(ACTION_SPARSE ? SYSTEM_SPARSE : SYSTEM_ANY, NP, h->A, s->e, h->scratch);
    for (long i = 0; i < NP; i++) back[i] = -s->e[i];
    for (long i = 0; i < NX; i++) moved[i] = h->end[i];
    end_moves(back, moved);
    for (long i = 0; i < NX; i++) h->end[i] = vec_select(s->live, moved[i], h->end[i]);
    c->top = top;
    return singular;
}

INLINE ivec end_moving(struct ctx *c, struct newton *s, void *of) {
    const struct step_end *h = of;
    (void)c;
    return still_moving(NP, s->e, s->x, h->size, NEWTON_RATE);
}

/* Where S_12 is large, round-off of D_1 S is more than that of q'. */
INLINE ivec end_settled(struct ctx *c, struct newton *s, void *of) {
    const struct step_end *h = of;
    vec moved = vec_set(0), size = vec_set(0);
    (void)c;
    for (long i = 0; i < NP; i++) {
        moved += vec_abs(s->e[i]);
        size += h->size[i] + vec_abs(s->x[i]);
    }
    return (ivec)(moved <= 1e-13 * size);
}

INLINE void discrete_step(struct ctx *c, vec *q, vec *p, const vec *dW) {
    vec *top = c->top;
    ARRAY(none, NM);
    ARRAY(move, NP);
    ARRAY(size, NP);
    ARRAY(e, NP);
    ARRAY(end, NX);
    ARRAY(A, MATRIX);
    ARRAY(scratch, WORK);
    ARRAY(entry, ACTION_ENTRIES);
    ARRAY(one, ACTION_SPARSE ? NP : 0);
    const double t = time_at(c, 0);
    struct step_end h = {t, q, p, dW, end, size, A, scratch, entry, one};
    for (long i = 0; ACTION_SPARSE && i < NP; i++) one[i] = vec_set(1);
    struct newton s = {.n = NP, .x = move, .e = e, .live = (ivec)(p[0] == p[0])};
    for (long m = 0; m < NM; m++) none[m] = vec_set(0);
    model_K1(c, t, q, p, c->dt, none, 0, move);
    for (long i = 0; i < NX; i++) end[i] = q[i];
    end_moves(move, end);
#if ROTATIONS
    for (long i = 0; i < NP; i++) size[i] = vec_set(1);
    for (long run = 0; run < VECTOR_RUNS; run++)
        for (long k = 0; k < vector_run[run].count; k++)
            size[vector_run[run].p + k] = vec_abs(q[vector_run[run].q + k]);
#if COUPLED
    for (long run = 0; run < COUPLED_RUNS; run++)
        for (long k = 0, n = 3 * coupled_run[run].count; k < n; k++) { /* linear components are along the body */
            const vec *x = q + coupled_run[run].q - n + k - k % 3;
            size[coupled_run[run].p - n + k] = vec_sqrt(rotor_dot(x, x));
        }
#endif
#else
    for (long i = 0; i < NP; i++) size[i] = vec_abs(q[i]);
#endif
    newton(c, &s, NEWTON_MAX, end_correct, end_moving, end_settled, &h);
    const ivec well = (ivec)(p[0] == p[0]); /* lanes that have failed on the way are NaN, and stay so */
#if ROTATIONS
    model_action(c, t, q, end, c->dt, dW, 0, e, 0, 0);
    for (long i = 0; i < NP; i++) p[i] = vec_select(well, e[i], p[i]);
#else
    model_action(c, t, q, end, c->dt, dW, 0, 0, e, 0);
    for (long i = 0; i < NP; i++) p[i] = vec_select(well, p[i] + e[i], p[i]);
#endif
    for (long i = 0; i < NX; i++) q[i] = vec_select(well, end[i], q[i]);
    c->top = top;
}
#endif

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    (void)c, (void)q, (void)p, (void)dW, (void)dZ, (void)carry;
#ifndef LGV_HOST
    discrete_step(c, q, p, dW);
#endif
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_method_discrete = {
    .family = "discrete Lagrangian",
    .source = "discrete.c",
    .paper = "Bou-Rabee & Owhadi (2009), Stochastic variational integrators, section 4, doi 10.1093/imanum/drn018",
    .needs = LGV_NEEDS_NOISE_OF_Q,
    .face_separable = LGV_FACE_K1 | LGV_FACE_ACTION,
    .face_general = LGV_FACE_K1 | LGV_FACE_ACTION,
    .order = 1,
    .strong_order = 1,
    .strong_noncommuting = 1,
    .strong_additive = 1,
    .weak_order = 1,
    .symplectic = true,
    .rotations = true,
    .coupled = true,
    .varies = true,
    .claims = "Symplectic; keeps momentum maps of symmetries that leave the discrete Lagrangian as it is, J+ = J-.",
};
#endif
