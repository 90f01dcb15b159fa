/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The explicit symplectic method of strong order 3/2 of Milstein, Repin & Tretyakov (2002),
 * for H = T(p) + U(q) and noise h(q); J = dZ/dt.
 *
 *     P1 = p - dt/4 U'(q) - h'(q) (3J - dW)/2
 *     Q2 = q + 2/3 dt T'(P1)
 *     P2 = P1 - 3/4 dt U'(Q2) - 3/2 h'(Q2) (dW - J)
 *     q' = q + dt (2 T'(P1) + T'(P2))/3,     p' = P2
 *
 * With explicit time U' and h' are taken where their positions are, at t and t + 2dt/3, and T' in the middle of what
 * its momentum drives: P1 moves q from t to t + 2dt/3 and P2 from there to t + dt, so at t + dt/3 and t + 5dt/6. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 1
#define METHOD_CARRY 0

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    double t = time_at(c, 0), t2 = t + 2.0 / 3 * c->dt;
    ARRAY(w, NM);
    ARRAY(K, NP);
    ARRAY(T1, NP);
    ARRAY(Q, NP);
    (void)carry;
    for (long m = 0; m < NM; m++) w[m] = 0.5 * FUSED(3.0 / c->dt, dZ[m], -dW[m]);
    model_K1(c, t, q, p, 0.25 * c->dt, w, K, 0);
    for (long i = 0; i < NP; i++) p[i] -= K[i];
    model_K1(c, t + 1.0 / 3 * c->dt, q, p, c->dt, w, 0, T1);
    for (long i = 0; i < NP; i++) Q[i] = FUSED(2.0 / 3, T1[i], q[i]);
    for (long m = 0; m < NM; m++) w[m] = 1.5 * (dW[m] - dZ[m] / c->dt);
    model_K1(c, t2, Q, p, 0.75 * c->dt, w, K, 0);
    for (long i = 0; i < NP; i++) p[i] -= K[i];
    model_K1(c, t + 5.0 / 6 * c->dt, Q, p, c->dt, w, 0, K);
    for (long i = 0; i < NP; i++) q[i] += FUSED(2.0, T1[i], K[i]) / 3.0;
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_method_mrt32 = {
    .name = "MRT32",
    .aliases = "milstein-repin-tretyakov",
    .family = "order 3/2",
    .paper = "Milstein, Repin & Tretyakov (2002), Numerical methods for stochastic systems preserving symplectic "
             "structure, doi 10.1137/S0036142901395588",
    .doc =
        "Explicit symplectic method of strong order 3/2, for separable H and noise h(q); two force evaluations a step.",
    .source = "mrt32.c",
    .needs = LGV_NEEDS_NOISE_OF_Q | LGV_NEEDS_SEPARABLE,
    .face_separable = LGV_FACE_K1,
    .face_general = LGV_FACE_K1,
    .order = 2,
    .strong_order = 1.5,
    .strong_noncommuting = 1.5,
    .strong_additive = 1.5,
    .weak_order = 2,
    .symplectic = true,
    .explicit_separable = true,
    .linear_momentum_maps = true,
    .uses_dz = true,
    .claims = "Symplectic; keeps momentum maps of symmetries that act linearly on the coordinates or shift them.",
    .callbacks = &KERNEL_NAME,
    .step = &KERNEL_STEP,
};
#endif
