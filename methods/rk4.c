/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The classical Runge-Kutta method of order 4, for models without noise: the non-symplectic comparison.
 *
 *     k1 = f(t, X), k2 = f(t + dt/2, X + dt/2 k1), k3 = f(t + dt/2, X + dt/2 k2), k4 = f(t + dt, X + dt k3)
 *     X' = X + dt (k1 + 2 k2 + 2 k3 + k4) / 6                                                                      */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY 0

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    static const double at[4] = {0, 0.5, 0.5, 1}, share[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    ARRAY(z, 2 * NP);
    ARRAY(K, 2 * NP);
    ARRAY(sum, 2 * NP);
    (void)dZ, (void)carry;
    for (int s = 0; s < 4; s++) {
        for (long i = 0; i < NP; i++) {
            z[i] = s ? FUSED(at[s], K[NP + i], q[i]) : q[i];
            z[NP + i] = s ? FUSED(-at[s], K[i], p[i]) : p[i];
        }
        model_K1(c, time_at(c, at[s]), z, z + NP, c->dt, dW, K, K + NP);
#if MODEL_FORCED
        vec *top = c->top;
        ARRAY(x, NP);
        model_push(c, time_at(c, at[s]), z, z + NP, x);
        for (long i = 0; i < NP; i++) ADD_PRODUCT(K[i], -c->dt, x[i]);
        c->top = top;
#endif
        for (long i = 0; i < NP; i++) {
            sum[i] = FUSED(share[s], K[NP + i], s ? sum[i] : vec_set(0));
            sum[NP + i] = FUSED(-share[s], K[i], s ? sum[NP + i] : vec_set(0));
        }
    }
    for (long i = 0; i < NP; i++) {
        q[i] += sum[i];
        p[i] += sum[NP + i];
    }
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_method_rk4 = {
    .name = "RK4",
    .aliases = "runge-kutta-4",
    .family = "baseline",
    .paper = "W. Kutta (1901)",
    .doc = "Classical Runge-Kutta method of order 4, for models without noise: for comparison.",
    .source = "rk4.c",
    .needs = LGV_NEEDS_NO_NOISE,
    .face_separable = LGV_FACE_K1,
    .face_general = LGV_FACE_K1,
    .order = 4,
    .strong_order = 4,
    .strong_noncommuting = 4,
    .strong_additive = 4,
    .weak_order = 4,
    .explicit_separable = true,
    .explicit_always = true,
    .forced = true,
    .linear = LGV_LINEAR_RK4,
    .claims = "Not symplectic: the energy drifts slowly, with sign and size set by the step.",
    .callbacks = &KERNEL_NAME,
    .step = &KERNEL_STEP,
};
#endif
