/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The letter B of splitting words, for separable models: the flow of the part of K that depends on q,
 *
 *     q' = q,     p' = p - K_q(q; dt, dW).
 *
 * Time stands still in it: words let A alone move it on.  The force serves until q moves.  Forces F(q, t) without a
 * potential are added to it; F(q, p, t) makes p' = -K_q + F(q, p, t) an equation with q held fixed, solved by the
 * classical Runge-Kutta method of order 4.  With constraints p is then moved back into the cotangent space. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY FORCE_ROWS

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    struct force F = CARRIED_FORCE(carry);
    model_force(c, time_at(c, 0), q, p, &F);
#if MODEL_FORCED && !MODEL_FORCE_P
    vec *top = c->top;
    ARRAY(x, NP);
    model_push(c, time_at(c, 0), q, p, x);
    for (long i = 0; i < NP; i++) F.H[i] -= x[i];
    c->top = top;
#endif
}

#if MODEL_FORCED && MODEL_FORCE_P
INLINE void pushed_kick(struct ctx *c, const vec *q, vec *p, const struct force *F, const vec *dW) {
    vec *top = c->top;
    ARRAY(shift, NP);
    ARRAY(k, 4 * NP);
    ARRAY(at, NP);
    for (long i = 0; i < NP; i++) shift[i] = vec_set(0);
    model_kick(c, shift, F, c->dt, dW); /* all of it; a part of the kick is that part of it */
    for (long stage = 0; stage < 4; stage++) {
        const double part = stage == 0 ? 0.0 : stage == 3 ? 1.0 : 0.5;
        for (long i = 0; i < NP; i++) {
            vec slope = stage == 0 ? vec_set(0) : k[(stage - 1) * NP + i];
            at[i] = FUSED(part, slope, p[i]);
        }
        model_push(c, time_at(c, 0), q, at, k + stage * NP);
        for (long i = 0; i < NP; i++) k[stage * NP + i] = FUSED(c->dt, k[stage * NP + i], shift[i]);
    }
    for (long i = 0; i < NP; i++)
        p[i] += ((k[i] + k[3 * NP + i]) + 2.0 * (k[NP + i] + k[2 * NP + i])) / 6.0;
    c->top = top;
}
#endif

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    struct force F = CARRIED_FORCE(carry);
    (void)q, (void)dZ;
#if MODEL_FORCED && MODEL_FORCE_P
    pushed_kick(c, q, p, &F, dW);
#elif COMPENSATED
    vec *top = c->top;
    ARRAY(shift, NP);
    for (long i = 0; i < NP; i++) shift[i] = vec_set(0);
    model_kick(c, shift, &F, c->dt, dW);
    for (long i = 0; i < NP; i++) add_compensated(&p[i], &c->extra[(NP + i) * VECS], shift[i]);
    c->top = top;
#else
    model_kick(c, p, &F, c->dt, dW);
#endif
#if CONSTRAINED && !NC_NONE && !defined LGV_HOST
    vec *top = c->top;
    onto_tangent(c, q, p);
    c->top = top;
#endif
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_letter_kick = {
    .name = "B",
    .source = "kick.c",
    .face_separable = LGV_FACE_FORCE,
    .moves = LGV_MOVES_P,
    .rotations = true,
    .reduced = true,
    .curved = true,
    .coupled = true,
    .swings = true,
    .explicit_separable = true,
    .callbacks = &KERNEL_NAME,
    .step = &KERNEL_STEP,
};
#endif
