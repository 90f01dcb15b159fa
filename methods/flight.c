/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The letter U of splitting words: free motion and bath together, exactly,
 *
 *     dq = M^-1 p dt,     dp = -Gamma M^-1 p dt + sqrt(2 kT Gamma) dW,
 *
 * for constant friction and masses.  A mode with rate g moves by (1 - exp(-g h))/g z + sqrt(2 kT g) F, and becomes
 * exp(-g h) z + sqrt(2 kT g) E, with E and F drawn together: src/kernel/bath.c. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY 0

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    vec *top = c->top;
    (void)q, (void)p, (void)dW, (void)dZ, (void)carry;
#if NB && BATH_DENSE
    ARRAY(z, NB);
    const double *T = bath_matrix(c, 0), *from = bath_matrix(c, 1), *move = bath_matrix(c, 2);
    for (long j = 0; j < NB; j++) {
        z[j] = vec_set(0);
        for (long i = 0; i < NP; i++) ADD_PRODUCT(z[j], from[j * NP + i], p[i]);
    }
    for (long i = 0; i < NP; i++) p[i] = vec_set(0);
    for (long j = 0; j < NB; j++) {
        const double *k = bath_channel(c, j);
        vec far = FUSED(k[1], z[j], k[2] * bath_F(c)[j]), end = FUSED(k[0], z[j], k[2] * bath_E(c)[j]);
        for (long i = 0; i < NP; i++) {
            ADD_PRODUCT(q[i], move[i * NB + j], far);
            ADD_PRODUCT(p[i], T[i * NB + j], end);
        }
    }
#elif NB && !BATH_OF_Q
    ARRAY(v, NP);
    ARRAY(none, NM);
    for (long m = 0; m < NM; m++) none[m] = vec_set(0);
    model_K1(c, time_at(c, 0.5), q, p, 1.0, none, 0, v);
    for (long i = 0, j = 0; i < NP; i++) {
        if (j == NB || i != BATH_ROW(j)) {
            ADD_PRODUCT(q[i], c->dt, v[i]);
            continue;
        }
        const double *k = bath_channel(c, j);
        q[i] = FUSED(k[1], v[i], FUSED(k[2] * k[3], bath_F(c)[j], q[i]));
        p[i] = FUSED(k[0], p[i], k[2] * bath_E(c)[j]);
        j++;
    }
#endif
    c->top = top;
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_letter_flight = {
    .name = "U",
    .source = "flight.c",
    .explicit_separable = true,
    .face_separable = LGV_FACE_K1,
    .face_general = LGV_FACE_K1,
    .moves = LGV_MOVES_Q | LGV_MOVES_P,
};
#endif
