/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stochastic symplectic Euler, P1N1Q1Rec, for noise h(q).  Holm & Tyranowski (2018), section 3.4.2.
 *
 *     q' = q + K_p(q', p; dt, dW),     p' = p - K_q(q', p; dt, dW)
 *
 * For an h that depends on p the end-point rule would converge to another equation; such models are refused. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY 0

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    double t1 = time_at(c, 1);
    ARRAY(K, NP);
    (void)dZ, (void)carry;
    model_K1(c, t1, q, p, c->dt, dW, 0, K);
    if (MODEL_SEPARABLE) {
        for (long i = 0; i < NP; i++) q[i] += K[i];
    } else {
        ARRAY(Q, NP);
        for (long i = 0; i < NP; i++) Q[i] = q[i] + K[i];
        implicit_drift(c, t1, q, p, c->dt, dW, Q);
        for (long i = 0; i < NP; i++) q[i] = vec_select((ivec)(q[i] == q[i]), Q[i], q[i]);
    }
    model_K1(c, t1, q, p, c->dt, dW, K, 0);
    for (long i = 0; i < NP; i++) p[i] -= K[i];
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_method_euler = {
    .name = "P1N1Q1Rec",
    .aliases = "symplectic-euler",
    .family = "Galerkin",
    .paper = "Holm & Tyranowski (2018), Stochastic discrete Hamiltonian variational integrators, section 3.4.2, doi "
             "10.1007/s10543-018-0720-2",
    .doc = "Stochastic symplectic Euler, for noise h(q). Explicit for separable models.",
    .source = "euler.c",
    .needs = LGV_NEEDS_NOISE_OF_Q,
    .face_separable = LGV_FACE_K1,
    .face_general = LGV_FACE_K1 | LGV_FACE_K2,
    .patterned = true,
    .order = 1,
    .strong_order = 1,
    .strong_noncommuting = 1,
    .strong_additive = 1,
    .weak_order = 1,
    .symplectic = true,
    .linear = LGV_LINEAR_VERLET, /* conjugate to it */
    .explicit_separable = true,
    .linear_momentum_maps = true,
    .claims = "Symplectic; keeps momentum maps of symmetries that act linearly on the coordinates or shift them.",
    .callbacks = &KERNEL_NAME,
    .step = &KERNEL_STEP,
};
#endif
