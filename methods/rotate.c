/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Letters of splitting words that move rotations freely in other ways than A does; vectors drift, q' = q + K_p.
 *
 *     R  the variational step with the Cayley map, T = cay(dt xi)
 *     X  the same with the exponential, T = exp(dt xi)
 *     T  turns about the principal axes, one after the other in a symmetric order: explicit, of order 2; it does not
 *        keep rotations about an axis of the body (Touma & Wisdom (1994), doi 10.1086/116931)
 *
 *     (dtau^-1_{dt xi})^* I xi = m,     R+ = R T,     m+ = T^T m
 *
 * is the equation of R and X.  All of them move bodies in SE(3) whose inertia couples position and rotation, too, T by
 * screws (text/kirchhoff.h).  The word BR is the stochastic variational Euler method on SO(3) of Bou-Rabee & Owhadi
 * (2009), doi 10.1093/imanum/drn018, in the momentum that is canonical; BRB is its symmetric form (Lie-Verlet).  R and
 * X keep the momentum maps of rotations in space, and of rotations about an axis of the body that its inertia allows,
 * to round-off. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY 0

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    vec *top = c->top;
    (void)q, (void)p, (void)dW, (void)dZ, (void)carry;
#if ROTATIONS
    ARRAY(Kp, NP);
    model_K1(c, time_at(c, 0.5), q, p, c->dt, dW, 0, Kp);
    vectors_move(Kp, q);
    noise_turn(c, q, p, dW);
    ROTATE_ALL(c, q, p, ROTATE)
#if COUPLED
    COUPLED_ALL(c, q, p, ROTATE_COUPLED)
#endif
    noise_turn(c, q, p, dW);
#endif
    c->top = top;
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
#define LETTER(letter, text, function, body, turns)                                                                    \
    {                                                                                                                  \
        .name = letter, .doc = text, .source = "rotate.c",                                                             \
        .constants = "#define ROTATE " function "\n#define ROTATE_COUPLED " body "\n", .needs = LGV_NEEDS_ROTATIONS,   \
        .face_separable = LGV_FACE_K1, .moves = LGV_MOVES_Q, .rotations = true, .swings = true, .coupled = true,       \
        .reduced = true, .explicit_separable = turns, .breaks_body_axes = turns                                        \
    }
const struct lgv_method lgv_letter_cayley = LETTER("R", "free motions (R: rotations by the Cayley map, implicit)",
                                                   "rotor_cayley", "kirchhoff_cayley", false),
                        lgv_letter_exponential =
                            LETTER("X", "free motions (X: rotations by the exponential, implicit)",
                                   "rotor_exponential", "kirchhoff_exponential", false),
                        lgv_letter_turns = LETTER("T", "free motions (T: rotations by turns about their axes)",
                                                  "rotor_planarly", "kirchhoff_screws", true);
#endif
