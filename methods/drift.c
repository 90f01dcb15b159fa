/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The letter A of splitting words, for separable models: the flow of the part of K that depends on p,
 *
 *     q' = q + K_p(p; dt, dW),     p' = p.
 *
 * Exact when that part does not depend on t, else of order 2 (its middle).  Rotations move as free bodies do, exactly
 * (text/rotor.h), between two halves of the flow of noise that is linear in their momenta; rotate.c has letters that
 * turn them in other ways. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY 0

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    ARRAY(Kp, NP);
    (void)dZ, (void)carry;
    model_K1(c, time_at(c, 0.5), q, p, c->dt, dW, 0, Kp);
#if ROTATIONS
    vectors_move(Kp, q);
    noise_turn(c, q, p, dW);
    ROTATE_ALL(c, q, p, rotor_exactly)
    noise_turn(c, q, p, dW);
#elif COMPENSATED
    for (long i = 0; i < NP; i++) add_compensated(&q[i], &c->extra[i * VECS], Kp[i]);
#else
    for (long i = 0; i < NP; i++) q[i] += Kp[i];
#endif
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_letter_drift = {
    .name = "A",
    .source = "drift.c",
    .face_separable = LGV_FACE_K1,
    .moves = LGV_MOVES_Q,
    .rotations = true,
    .reduced = true,
    .swings = true,
    .explicit_separable = true,
    .callbacks = &KERNEL_NAME,
    .step = &KERNEL_STEP,
};
#endif
