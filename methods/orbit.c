/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Letters of splitting words that move momenta along coadjoint orbits for any H and any noise of momenta:
 *
 *     C  with the Cayley map         E  with the exponential
 *
 *     m = (dtau^-1_u)^* mu,   u = K_p(mu),     g+ = g tau(u),   m+ = Ad*_tau(u) m
 *
 * (text/coadjoint.h).  Letters R and X are the same for H = m.I^-1 m/2, and have noise that is linear in momenta by its
 * exact flow. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY 0

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    (void)c, (void)q, (void)p, (void)dW, (void)dZ, (void)carry;
#if ROTATIONS
    coadjoint_step(c, ORBIT_EXPONENTIAL, q, p, dW);
#endif
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
#define ORBIT(letter, text, exponential)                                                                               \
    {                                                                                                                  \
        .name = letter, .doc = text, .source = "orbit.c", .constants = "#define ORBIT_EXPONENTIAL " exponential "\n",  \
        .needs = LGV_NEEDS_ROTATIONS, .face_separable = LGV_FACE_K1 | LGV_FACE_K2, .moves = LGV_MOVES_Q,               \
        .rotations = true, .coupled = true, .reduced = true, .curved = true                                            \
    }
const struct lgv_method
    lgv_letter_orbit = ORBIT("C", "free motions (C: any H and noise of momenta, by the Cayley map, implicit)", "0"),
    lgv_letter_orbit_exponential =
        ORBIT("E", "free motions (E: any H and noise of momenta, by the exponential, implicit)", "1");
#endif
