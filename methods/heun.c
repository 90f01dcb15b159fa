/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Comparison methods in Stratonovich form, with the vector field X_K = (K_p, -K_q) of K = dt H + sum_m dW_m h_m:
 *
 *     Heun       Y = X + X_K(X),   X' = X + (X_K(X) + X_K(Y))/2
 *     Milstein   X' = X + X_K(X) + (D X_k)(X) X_k(X)/2,   k = sum_m dW_m h_m
 *
 * The Milstein term is the one for commuting noises: no iterated integrals of pairs are drawn. */
#include "kernel/text/method_file.h"

#ifndef MILSTEIN
#define MILSTEIN (c->option[0] != 0)
#endif
#define METHOD_DZ 0
#define METHOD_CARRY 0

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    double t = time_at(c, 0), t1 = time_at(c, 1);
    ARRAY(K, 2 * NP);
    (void)dZ, (void)carry;
    model_K1(c, t, q, p, c->dt, dW, K, K + NP);
    if (MILSTEIN && MODEL_NOISE_OF_Q) { /* the Milstein term vanishes */
        for (long i = 0; i < NP; i++) {
            q[i] += K[NP + i];
            p[i] -= K[i];
        }
        return;
    }
    if (MILSTEIN) {
        ARRAY(k, 2 * NP);
        ARRAY(Kqq, NP * NP);
        ARRAY(Kqp, NP * NP);
        ARRAY(Kpp, NP * NP);
        model_K2(c, t, q, p, 0, dW, k, k + NP, Kqq, Kqp, Kpp);
        for (long i = 0; i < NP; i++) {
            vec x = K[NP + i], y = -K[i];
            for (long j = 0; j < NP; j++) {
                ADD_PRODUCT(x, 0.5, FUSED(Kqp[j * NP + i], k[NP + j], -(Kpp[i * NP + j] * k[j])));
                ADD_PRODUCT(y, -0.5, FUSED(Kqq[i * NP + j], k[NP + j], -(Kqp[i * NP + j] * k[j])));
            }
            q[i] += x;
            p[i] += y;
        }
        return;
    }
    ARRAY(z, 2 * NP);
    ARRAY(L, 2 * NP);
    for (long i = 0; i < NP; i++) {
        z[i] = q[i] + K[NP + i];
        z[NP + i] = p[i] - K[i];
    }
    model_K1(c, t1, z, z + NP, c->dt, dW, L, L + NP);
    for (long i = 0; i < NP; i++) {
        ADD_PRODUCT(q[i], 0.5, K[NP + i] + L[NP + i]);
        ADD_PRODUCT(p[i], -0.5, K[i] + L[i]);
    }
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
static const double heun[] = {0}, milstein[] = {1};
#define COMPARISON                                                                                                     \
    .family = "baseline", .source = "heun.c", .strong_order = 1, .strong_noncommuting = 0.5, .strong_additive = 1,     \
    .weak_order = 1, .explicit_separable = true, .explicit_always = true, .callbacks = &KERNEL_NAME,            \
    .step = &KERNEL_STEP
const struct lgv_method lgv_method_heun = {
    COMPARISON,
    .name = "Heun",
    .aliases = "stratonovich-heun",
    .paper = "K. Heun; Stratonovich form, Kloeden & Platen (1992), doi 10.1007/978-3-662-12616-5",
    .doc = "Stochastic Heun method in Stratonovich form: for comparison.",
    .constants = "#define MILSTEIN 0\n",
    .values = heun,
    .face_separable = LGV_FACE_K1,
    .face_general = LGV_FACE_K1,
    .order = 2,
    .claims = "Keeps nothing; the energy drifts slowly.",
};
const struct lgv_method lgv_method_milstein = {
    COMPARISON,
    .name = "Milstein",
    .aliases = "",
    .paper = "Milstein (1975), doi 10.1137/1119062, for commuting noises",
    .doc = "Explicit Milstein scheme: for comparison.",
    .constants = "#define MILSTEIN 1\n",
    .values = milstein,
    .face_separable = LGV_FACE_K1 | LGV_FACE_K2,
    .face_general = LGV_FACE_K1 | LGV_FACE_K2,
    .order = 1,
    .claims = "Keeps nothing; the energy of an oscillator grows.",
};
#endif
