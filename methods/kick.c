/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The letter B of splitting words, for separable models: the flow of the part of K that depends on q,
 *
 *     q' = q,     p' = p - K_q(q; dt, dW).
 *
 * Time stands still in it: words let A alone move it on.  The force serves until q moves. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY (NP + NHQ)

INLINE struct force carried(const struct ctx *c, vec *carry) {
    (void)c;
    return (struct force){carry, carry + NP};
}

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    struct force F = carried(c, carry);
    model_force(c, time_at(c, 0), q, p, &F);
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    struct force F = carried(c, carry);
    (void)q, (void)dZ;
    model_kick(c, p, &F, c->dt, dW);
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_letter_kick = {
    .name = "B",
    .source = "kick.c",
    .face_separable = LGV_FACE_FORCE,
    .moves = LGV_MOVES_P,
    .callbacks = &KERNEL_NAME,
    .step = &KERNEL_STEP,
};
#endif
