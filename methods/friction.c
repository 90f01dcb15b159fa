/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Langevin dynamics with friction and bath as forces of the step, for H = p.M^-1 p/2 + U(q) and forces F(q, p, t).
 *
 * Quasi-symplectic variational Euler, friction explicit (SVE-Q) or implicit (SVE-QI); Bou-Rabee & Owhadi (2009),
 * doi 10.1093/imanum/drn018, with nonconservative forces as in the Lagrange-d'Alembert principle:
 *
 *     SVE-Q    p' = p - K_q(q; dt, dW) + dt (F(q, p, t) - Gamma M^-1 p) + s dB,       q' = q + dt M^-1 p'
 *     SVE-QI   p' = p - K_q(q; dt, dW) + dt (F(q, p, t) - Gamma M^-1 p') + s dB,      q' = q + dt M^-1 p'
 *
 * with s = sqrt(2 kT Gamma).  They contract phase volume by det(1 - dt Gamma M^-1) and 1/det(1 + dt Gamma M^-1).
 *
 * Rotations have their angular momentum m in the place of p and take the variational step with the Cayley map in the
 * place of q' = q + dt M^-1 p' (rotate.c): without friction SVE-Q and SVE-QI are the word BR, bit by bit.  Friction
 * acts on omega = I^-1 m, in SVE-QI with the m' that the free step begins with.  The xi of that step differs from
 * I^-1 m' by O(dt); with it in the place of omega, as g-SVE-QI has it for a Lagrangian (text/vprk_group.h), the order
 * is the same, but contraction depends on xi.
 *
 * Brunger, Brooks & Karplus (1984), doi 10.1016/0009-2614(84)80098-6, with dB = dB_1 + dB_2 of the two halves:
 *
 *     BBK      p*  = p - K_q(q; dt, dW)/2 + dt/2 (F(q, p, t) - Gamma M^-1 p) + s dB_1,       q' = q + dt M^-1 p*
 *              p'  = p* - K_q(q'; dt, dW)/2 + dt/2 (F(q', p*, t') - Gamma M^-1 p') + s dB_2
 *
 * The second half is the adjoint of the first, so the weak order with friction is 2.  Many programs put one random
 * force s R/2 into both halves around a position instead.  A step is then no map of (q, p) with noise of its own, since
 * R of its end is also that of the next one's beginning.  That form has strong order 1/2 and weak order 1; on an
 * oscillator with frequency, mass and friction 1 E[q^2] = kT/(1 - h^2/4) is closer to kT, E[p^2] = kT/(1 + h/2) is
 * not. */
#include "kernel/text/method_file.h"

#ifndef FRICTION_KIND
#define FRICTION_KIND 0
#endif
#define EXPLICIT_FRICTION 0
#define IMPLICIT_FRICTION 1
#define BBK 2
#define METHOD_DZ 0
#define METHOD_CARRY FORCE_ROWS

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    struct force F = CARRIED_FORCE(carry);
    model_force(c, time_at(c, 0), q, p, &F);
}

/* p += part ((F - Gamma M^-1 p) dt - K_q); `drag`: with friction; at time t. */
INLINE void push(struct ctx *c, double t, double part, int drag, const vec *q, vec *p, const struct force *force,
                 const vec *dW) {
    vec *top = c->top;
    ARRAY(w, NM);
    ARRAY(v, NP);
    ARRAY(x, NP);
    ARRAY(y, NP);
    for (long m = 0; m < NM; m++) w[m] = vec_set(0);
    for (long i = 0; i < NP; i++) x[i] = y[i] = vec_set(0);
    if (drag) model_K1(c, t, q, p, part * c->dt, w, 0, v);
#if NB
    if (drag) bath_drag(c, q, v, x);
#endif
#if MODEL_FORCED
    model_push(c, t, q, p, y);
#endif
    for (long m = 0; m < NM; m++) w[m] = part * dW[m];
    model_kick(c, p, force, part * c->dt, w);
    for (long i = 0; i < NP; i++) p[i] += FUSED(part * c->dt, y[i], -x[i]);
    c->top = top;
}

INLINE void shake(struct ctx *c, long span, const vec *q, vec *p) {
#if NB
    c->span = span;
    bath_shake(c, q, p);
    c->span = 0;
#else
    (void)c, (void)span, (void)q, (void)p;
#endif
}

INLINE void relax(struct ctx *c, const vec *q, double a, vec *p) {
#if NB
    bath_relax(c, q, a, p);
#else
    (void)c, (void)q, (void)a, (void)p;
#endif
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    struct force F = CARRIED_FORCE(carry);
    const double part = FRICTION_KIND == BBK ? 0.5 : 1.0, t1 = time_at(c, 1);
    vec *top = c->top;
    ARRAY(none, NM);
    ARRAY(move, NP);
    (void)dZ;
    for (long m = 0; m < NM; m++) none[m] = vec_set(0);
    push(c, time_at(c, 0), part, FRICTION_KIND != IMPLICIT_FRICTION, q, p, &F, dW);
    shake(c, 0, q, p);
    if (FRICTION_KIND == IMPLICIT_FRICTION) relax(c, q, c->dt, p);
    model_K1(c, time_at(c, 0.5), q, p, c->dt, none, 0, move);
#if ROTATIONS
    vectors_move(move, q);
    ROTATE_ALL(c, q, p, rotor_cayley)
#else
    for (long i = 0; i < NP; i++) q[i] += move[i];
#endif
    model_force(c, t1, q, p, &F);
    if (FRICTION_KIND == BBK) {
        push(c, t1, 0.5, 0, q, p, &F, dW);
        shake(c, 1, q, p);
        relax(c, q, 0.5 * c->dt, p);
    }
    c->top = top;
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
#define AS_FORCES                                                                                                      \
    .family = "Langevin", .source = "friction.c", .needs = LGV_NEEDS_SEPARABLE | LGV_NEEDS_NOISE_OF_Q,                 \
    .face_separable = LGV_FACE_K1 | LGV_FACE_FORCE, .face_general = LGV_FACE_K1 | LGV_FACE_FORCE, .order = 1,          \
    .strong_order = 1, .strong_noncommuting = 0.5, .strong_additive = 1, .weak_order = 1, .bath = true,                \
    .forced = true, .needs_drag = true, .bath_f = true, .bath_strong = 1, .explicit_separable = true,                  \
    .rotations = true, .linear = LGV_LINEAR_VERLET
const struct lgv_method lgv_method_sve_q = {
    AS_FORCES,
    .name = "SVE-Q",
    .aliases = "quasi-symplectic",
    .paper = "Bou-Rabee & Owhadi (2009), Stochastic variational integrators, doi 10.1093/imanum/drn018",
    .doc = "Quasi-symplectic variational Euler: friction and bath as forces of the step, friction explicit.",
    .constants = "#define FRICTION_KIND 0\n",
    .contraction = LGV_CONTRACTS_EXPLICITLY,
    .friction_limit = 2,
    .bath_weak = 1,
    .bias_order = 1,
    .claims = "Contracts phase volume by det(1 - dt Gamma M^-1); without friction it is variational Euler, symplectic.",
};
const struct lgv_method lgv_method_sve_qi = {
    AS_FORCES,
    .name = "SVE-QI",
    .aliases = "quasi-symplectic-implicit",
    .paper = "Bou-Rabee & Owhadi (2009), Stochastic variational integrators, doi 10.1093/imanum/drn018",
    .doc = "Quasi-symplectic variational Euler, friction implicit: stable for any friction.",
    .constants = "#define FRICTION_KIND 1\n",
    .contraction = LGV_CONTRACTS_IMPLICITLY,
    .bath_weak = 1,
    .bias_order = 1,
    .claims = "Contracts phase volume by 1/det(1 + dt Gamma M^-1); without friction it is variational Euler.",
};
const struct lgv_method lgv_method_bbk = {
    AS_FORCES,
    .name = "BBK",
    .aliases = "brunger-brooks-karplus",
    .paper = "Brunger, Brooks & Karplus (1984), doi 10.1016/0009-2614(84)80098-6",
    .doc = "Brunger-Brooks-Karplus: Verlet with friction half explicit, half implicit, and independent noise in its "
           "two halves; a classic, for comparison.",
    .constants = "#define FRICTION_KIND 2\n",
    .contraction = LGV_CONTRACTS_HALF,
    .bath_spans = 2,
    .bath_weak = 2,
    .bias_order = 2,
    .claims = "Without friction it is the symplectic Verlet method.",
};
#endif
