/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The strong Taylor scheme of order 3/2 (Kloeden & Platen, section 10.4): for comparison. Its increment is made from
 * the formulas by symbolic differentiation; with a the Ito drift, b the noise field, L0 the generator, L1 = b . grad:
 *
 *     X' = X + a dt + b dW + L1 b (dW^2 - dt)/2 + L1 a dZ + L0 b (dW dt - dZ) + L0 a dt^2/2
 *            + L1 L1 b (dW^2/3 - dt) dW/2
 *
 * Several noises need no integrals of pairs where every L^k b_m vanishes: for additive noise, when every h is a
 * function of q alone, and when every h is one of p alone.  The terms in dW, dZ and dt are then sums over noises. */
#include "kernel/text/method_file.h"

#ifdef TAYLOR_DZ
#define METHOD_DZ TAYLOR_DZ /* 0 where the noise commutes with the drift: dZ drops out */
#else
#define METHOD_DZ 1
#endif
#define METHOD_CARRY 0

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    ARRAY(X, 2 * NP);
    ARRAY(w, 2 * NM);
    (void)carry;
    for (long m = 0; m < NM; m++) {
        w[m] = dW[m];
        w[NM + m] = METHOD_DZ ? dZ[m] : vec_set(0);
    }
    model_taylor(c, time_at(c, 0), q, p, c->dt, w, X, X + NP);
    for (long i = 0; i < NP; i++) {
        q[i] += X[i];
        p[i] += X[NP + i];
    }
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_method_taylor = {
    .name = "Taylor15",
    .aliases = "taylor",
    .family = "baseline",
    .paper = "Kloeden & Platen (1992), doi 10.1007/978-3-662-12616-5, section 10.4",
    .doc = "Strong Taylor scheme of order 3/2, derivatives from the formulas: for comparison. For one noise, additive "
           "noise, or noises h(q).",
    .source = "taylor.c",
    .needs = LGV_NEEDS_ONE_NOISE | LGV_NEEDS_NO_TIME,
    .face_separable = LGV_FACE_TAYLOR,
    .face_general = LGV_FACE_TAYLOR,
    .order = 2,
    .strong_order = 1.5,
    .strong_noncommuting = 1.5,
    .strong_additive = 1.5,
    .weak_order = 2,
    .explicit_separable = true,
    .explicit_always = true,
    .uses_dz = true,
    .claims = "Keeps nothing; the energy drifts.",
    .callbacks = &KERNEL_NAME,
    .step = &KERNEL_STEP,
};
#endif
