/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A method with an exact law of the mean energy, for H = p.M^-1 p/2 + U(q) and noise h(q): a kick by the noise, a step
 * that keeps H, a kick,
 *
 *     p1 = p - w1 h_q(q),     q' = q + dt H_p((p1 + p2)/2),     p2 = p1 - dt D,     p' = p2 - w2 h_q(q')
 *     D = U_q(m) + x (U(q') - U(q) - U_q(m).x) / |x|^2,     x = q' - q,  m = (q + q')/2
 *
 * with the discrete gradient D of Gonzalez (1996), doi 10.1007/BF02440162: x.D = U(q') - U(q), so that H is the same
 * before and behind the step.  The weights are w1 = dW/2 + sqrt 3 y and w2 = dW/2 - sqrt 3 y, y = dZ/dt - dW/2, two
 * independent normals of variance dt/2.  For additive noise h = sigma.q a kick by an increment that p does not know of
 * adds sigma.M^-1 sigma Var(w)/2 to the mean of H, so E[H] grows by sigma.M^-1 sigma/2 per time, for every step.  (With
 * the same dW/2 in both kicks it would not: p2 knows of dW.)  The idea, with one kick a step, is that of Chen, Cohen,
 * D'Ambrosio & Lang (2020), Drift-preserving numerical integrators for stochastic Hamiltonian systems,
 * doi 10.1007/s10444-020-09771-5.
 *
 * In the terms of src/method/variational.c these weights have nu = (1/2, 1/2), kappa = (1/2, -1/2) and G = 0: weak
 * order 2; kappa.(1 - c) = 1/2 where 1/sqrt 12 is needed leaves the strong order at 1.
 *
 * Unknown is x, by Newton's method with the matrix 1 + H_pp U_qq(m) dt^2/4 of the midpoint rule; what D has more is
 * small. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 1
#define METHOD_CARRY 0
#define GONZALEZ_ROUND 1e-15 /* differences of U below this part of it are round-off, of which no direction is made */

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

/* p -= sum_m w_m h_m,q(q) */
INLINE void noise_kick(struct ctx *c, const vec *q, const vec *w, vec *p) {
    vec *top = c->top;
    ARRAY(Kq, NP);
    model_K1(c, time_at(c, 0), q, p, 0.0, w, Kq, 0);
    for (long i = 0; i < NP; i++) p[i] -= Kq[i];
    c->top = top;
}

struct energy_step {
    const vec *q, *p, *zero, *none; /* zero momenta, and no noise */
    vec U;
    vec *m, *D, *Kp, *Kqq, *Kpp, *A, *scratch;
};

/* D = dt times the discrete gradient at x, with second derivatives at the midpoint. */
INLINE void discrete_gradient(struct ctx *c, struct energy_step *h, const vec *x) {
    vec U, square = vec_set(0), rest;
    for (long i = 0; i < NP; i++) h->m[i] = h->q[i] + x[i];
    model_H(c, time_at(c, 0), h->m, h->zero, &U);
    for (long i = 0; i < NP; i++) h->m[i] = FUSED(0.5, x[i], h->q[i]);
    model_K2(c, time_at(c, 0), h->m, h->zero, c->dt, h->none, h->D, 0, h->Kqq, 0, h->Kpp);
    rest = c->dt * (U - h->U);
    for (long i = 0; i < NP; i++) {
        ADD_PRODUCT(rest, -h->D[i], x[i]);
        ADD_PRODUCT(square, x[i], x[i]);
    }
    ivec round = (ivec)(vec_abs(rest) <= GONZALEZ_ROUND * c->dt * (vec_abs(U) + vec_abs(h->U)));
    rest = vec_select(round | (ivec)(square == 0.0), vec_set(0), rest / square);
    for (long i = 0; i < NP; i++) ADD_PRODUCT(h->D[i], rest, x[i]);
}

INLINE ivec energy_correct(struct ctx *c, struct newton *s, void *of) {
    struct energy_step *h = of;
    discrete_gradient(c, h, s->x);
    for (long i = 0; i < NP; i++) h->m[i] = FUSED(-0.5, h->D[i], h->p[i]);
    model_K1(c, time_at(c, 0), h->q, h->m, c->dt, h->none, 0, h->Kp);
    for (long i = 0; i < NP; i++) {
        s->e[i] = s->x[i] - h->Kp[i];
        for (long j = 0; j < NP; j++) {
            vec sum = vec_set(i == j ? 1.0 : 0.0);
            for (long k = 0; k < NP; k++) ADD_PRODUCT(sum, 0.25 * h->Kpp[i * NP + k], h->Kqq[k * NP + j]);
            h->A[i * NP + j] = sum;
        }
    }
    return system_solve(SYSTEM_NEAR_ONE, NP, h->A, s->e, h->scratch);
}

/* The matrix is not exact, and corrections fall by a factor: the last one must be round-off. */
INLINE ivec energy_moving(struct ctx *c, struct newton *s, void *of) {
    struct energy_step *h = of;
    (void)c;
    return still_moving(NP, s->e, s->x, h->q, 1e-14);
}

/* Differences of U have a round-off of their own. */
INLINE ivec energy_settled(struct ctx *c, struct newton *s, void *of) {
    struct energy_step *h = of;
    (void)c;
    return ~still_moving(NP, s->e, s->x, h->q, 1e-11);
}

INLINE void keep_energy(struct ctx *c, vec *q, vec *p) {
    ARRAY(zero, NP);
    ARRAY(none, NW);
    ARRAY(x, NP);
    ARRAY(e, NP);
    ARRAY(m, NP);
    ARRAY(D, NP);
    ARRAY(Kp, NP);
    ARRAY(Kqq, NP * NP);
    ARRAY(Kpp, NP * NP);
    ARRAY(A, NP * NP);
    ARRAY(scratch, SYSTEM_SCRATCH(NP));
    for (long i = 0; i < NP; i++) zero[i] = vec_set(0);
    for (long i = 0; i < NW; i++) none[i] = vec_set(0);
    struct energy_step h = {q, p, zero, none, vec_set(0), m, D, Kp, Kqq, Kpp, A, scratch};
    struct newton s = {.n = NP, .x = x, .e = e, .live = (ivec)(p[0] == p[0])};
    model_H(c, time_at(c, 0), q, zero, &h.U);
    model_K1(c, time_at(c, 0), q, p, c->dt, none, 0, x);
    newton(c, &s, NEWTON_MAX, energy_correct, energy_moving, energy_settled, &h);
    discrete_gradient(c, &h, x);
    for (long i = 0; i < NP; i++) { /* lanes that have failed are NaN, and stay so */
        q[i] += x[i];
        p[i] -= D[i];
    }
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    ARRAY(w, NW);
    ARRAY(v, NW);
    (void)carry;
    for (long m = 0; m < NM; m++) {
        vec y = dZ[m] / c->dt - 0.5 * dW[m];
        w[m] = FUSED(1.7320508075688772, y, 0.5 * dW[m]);
        v[m] = dW[m] - w[m];
    }
    if (NM > 0) noise_kick(c, q, w, p);
    keep_energy(c, q, p);
    if (NM > 0) noise_kick(c, q, v, p);
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_method_gonzalez = {
    .name = "Gonzalez",
    .aliases = "discrete-gradient",
    .family = "energy",
    .paper = "Gonzalez (1996), Time integration and discrete Hamiltonian systems, doi 10.1007/BF02440162; with noise "
             "after Chen, Cohen, D'Ambrosio & Lang (2020), doi 10.1007/s10444-020-09771-5",
    .doc = "Discrete gradient step between two kicks by the noise h(q), with independent increments: an exact law of "
           "the mean energy for additive noise. For H = p.M^-1 p/2 + U(q).",
    .claims = "Keeps H without noise, to round-off. With additive noise h = sigma.q the mean of H grows by exactly sum "
              "sigma.M^-1 sigma/2 per time, for every step. Not symplectic.",
    .source = "gonzalez.c",
    .needs = LGV_NEEDS_NOISE_OF_Q | LGV_NEEDS_SEPARABLE | LGV_NEEDS_QUADRATIC_KINETIC | LGV_NEEDS_NO_TIME,
    .face_separable = LGV_FACE_K1 | LGV_FACE_K2 | LGV_FACE_H,
    .face_general = LGV_FACE_K1 | LGV_FACE_K2 | LGV_FACE_H,
    .order = 2,
    .strong_order = 1,
    .strong_noncommuting = 1,
    .strong_additive = 1,
    .weak_order = 2,
    .uses_dz = true,
    .energy_law = true,
    .linear = LGV_LINEAR_FREE,
    .callbacks = &KERNEL_NAME,
    .step = &KERNEL_STEP,
};
#endif
