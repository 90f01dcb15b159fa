/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Newmark's method with gamma = 1/2 for stiff potentials, H = p.M^-1 p/2 + V(q): Newmark (1959), J. Eng. Mech. Div. 85,
 * 67; Kane, Marsden, Ortiz & West (2000), Int. J. Numer. Meth. Engng. 49, 1295.
 *
 *     q' = q + dt v + dt^2/2 ((1 - 2 beta) a + 2 beta a'),     v' = v + dt/2 (a + a'),     a = -M^-1 V'(q)
 *
 * In x = q + beta dt^2 M^-1 V'(q) it is velocity Verlet,
 *
 *     x' = x + dt v + dt^2/2 a,     v' = v + dt/2 (a + a'),     a = -M^-1 V'(x + beta dt^2 a),
 *
 * with the potential min over q of V(q) + |q - x|^2_M/(2 beta dt^2), hence symplectic.
 *
 *     Newmark         the state is (q, p): keeps the symplectic form in (x, p)
 *     PushNewmark     the state is (x, p).  It begins at the x of the start values and shows q: what is seen is Newmark
 *                     up to round-off.  As a step of a composition, or of GLA, it begins at x = q and shows x.
 *     OneStepNewmark  Newmark with one iteration of Newton's method for a', from a: not symplectic and not reversible
 *
 * The implicit equation is q + beta dt^2 M^-1 V'(q) = x, solved by Newton's method from q = x.  Noise h is a kick
 * by its gradient at x, which is symplectic; in OneStepNewmark at q.  What is carried depends on dt. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY (FORCE_ROWS + (NEWMARK_PUSHED && PENALTIES ? NP : 0))
#define METHOD_SHIFT (NEWMARK_PUSHED && PENALTIES ? FORCE_ROWS : -1) /* q - x, which multipliers by penalty need */
#ifndef NEWMARK_PUSHED
#define NEWMARK_PUSHED 0
#endif

#ifdef STIFF_BETA
#include "kernel/text/stiff.h"
#include "kernel/text/backward.h"

/* q + beta dt^2 M^-1 V'(q) = x, and V' at q. */
INLINE void find_q(struct ctx *c, double t, const vec *x, const vec *p, vec *q, vec *H) {
    backward_solve(c, t, STIFF_BETA * c->dt * c->dt, x, p, MODEL_LINEAR, q, H);
}

/* The force at q(x), in the carry; of the noises at x. */
INLINE void pushed_force(struct ctx *c, double t, const vec *x, const vec *p, struct force *F) {
    vec *top = c->top;
    ARRAY(q, NP);
    if (NHQ > 0) model_force(c, t, x, p, F);
    find_q(c, t, x, p, q, F->H);
    for (long i = 0; METHOD_SHIFT >= 0 && i < NP; i++) F->H[METHOD_SHIFT + i] = q[i] - x[i];
    c->top = top;
}

/* x = q + beta dt^2 M^-1 V'(q) */
INLINE void find_x(struct ctx *c, double t, const vec *q, const vec *p, const vec *H, vec *x) {
    vec *top = c->top;
    ARRAY(W, STIFF_W);
    model_stiffness(c, t, q, p, 0, 0, W);
    stiff_move(W, H, x);
    for (long i = 0; i < NP; i++) x[i] = FUSED(STIFF_BETA * c->dt * c->dt, x[i], q[i]);
    c->top = top;
}

#if NEWMARK_PUSHED
INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    struct force F = CARRIED_FORCE(carry);
    pushed_force(c, time_at(c, 0), q, p, &F);
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    (void)dZ;
    stiff_verlet(c, q, p, dW, carry, pushed_force);
}

/* From q to x and back: the loop does so at the start and where the state is looked at.  A start with no way back fails
 * here, with the reason; who only looks sees NaN. */
INLINE void method_enter(struct ctx *c, vec *q, vec *p) {
    ARRAY(H, NP);
    ARRAY(x, NP);
    ARRAY(back, NP);
    model_stiffness(c, time_at(c, 0), q, p, H, 0, 0);
    find_x(c, time_at(c, 0), q, p, H, x);
    for (long i = 0; i < NP; i++) q[i] = x[i];
    find_q(c, time_at(c, 0), x, p, back, H);
}

INLINE void method_show(struct ctx *c, vec *q, vec *p) {
    ARRAY(H, NP);
    ARRAY(x, NP);
    for (long i = 0; i < NP; i++) x[i] = q[i];
    find_q(c, time_at(c, 0), x, p, q, H);
}

#elif NEWMARK_FULL
/* The gradients of the noises at the x of q, found from q alone: what is carried must not depend on the way there. */
INLINE void add_noises(struct ctx *c, double t, const vec *q, const vec *p, struct force *F) {
    vec *top = c->top;
    ARRAY(x, NP);
    ARRAY(H, NP);
    struct force at = {H, F->h};
    find_x(c, t, q, p, F->H, x);
    model_force(c, t, x, p, &at);
    c->top = top;
}

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    struct force F = CARRIED_FORCE(carry);
    model_stiffness(c, time_at(c, 0), q, p, F.H, 0, 0);
    if (NHQ > 0) add_noises(c, time_at(c, 0), q, p, &F);
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    struct force F = CARRIED_FORCE(carry);
    double t1 = time_at(c, 1), half = 0.5 * c->dt;
    ARRAY(w, NW);
    ARRAY(x, NP);
    ARRAY(Kp, NP);
    (void)dZ;
    for (long m = 0; m < NM; m++) w[m] = 0.5 * dW[m];
    find_x(c, time_at(c, 0), q, p, F.H, x);
    model_kick(c, p, &F, half, w);
    model_K1(c, time_at(c, 0), q, p, c->dt, dW, 0, Kp);
    for (long i = 0; i < NP; i++) x[i] += Kp[i];
    find_q(c, t1, x, p, q, F.H);
    if (NHQ > 0) add_noises(c, t1, q, p, &F);
    model_kick(c, p, &F, half, w);
}

#else
INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    struct force F = CARRIED_FORCE(carry);
    model_force(c, time_at(c, 0), q, p, &F);
}

/* With a' = a + e, at y = q + dt v + dt^2/2 a:  J e = -(a + M^-1 V'(y)),  q' = y + beta dt^2 e,  M a' = -(V'(y) + beta
 * dt^2 V''(y) e). */
INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    struct force F = CARRIED_FORCE(carry), kick = F;
    double t1 = time_at(c, 1), half = 0.5 * c->dt, s = STIFF_BETA * c->dt * c->dt;
    ARRAY(w, NW);
    ARRAY(Kp, NP);
    ARRAY(B, STIFF_B);
    ARRAY(W, STIFF_W);
    ARRAY(H, NP);
    ARRAY(e, NP);
    (void)dZ;
    for (long m = 0; m < NM; m++) w[m] = 0.5 * dW[m];
    model_kick(c, p, &F, half, w);
    model_K1(c, time_at(c, 0), q, p, c->dt, dW, 0, Kp);
    for (long i = 0; i < NP; i++) q[i] += Kp[i];
    model_stiffness(c, t1, q, p, H, B, W);
    for (long i = 0; i < NP; i++) Kp[i] = F.H[i] - H[i];
    stiff_move(W, Kp, e);
    stiff_failed(c, q, stiff_solve(c, s, B, W, e));
    stiff_bend(B, e, Kp);
    for (long i = 0; i < NP; i++) {
        ADD_PRODUCT(q[i], s, e[i]);
        ADD_PRODUCT(H[i], s, Kp[i]);
    }
    model_force(c, t1, q, p, &F);
    kick.H = H;
    model_kick(c, p, &kick, half, w);
}
#endif
#endif

#ifdef LGV_HOST
#define NEWMARK                                                                                                        \
    .family = "stiff", .source = "newmark.c",                                                                          \
    .needs = LGV_NEEDS_NOISE_OF_Q | LGV_NEEDS_QUADRATIC_KINETIC | LGV_NEEDS_FLAT,                                      \
    .face_separable = LGV_FACE_K1 | LGV_FACE_FORCE | LGV_FACE_STIFFNESS,                                               \
    .face_general = LGV_FACE_K1 | LGV_FACE_FORCE | LGV_FACE_STIFFNESS, .order = 2, .strong_order = 1,                  \
    .strong_noncommuting = 0.5, .strong_additive = 1, .weak_order = 1, .carries_width = true,                          \
    .linear_momentum_maps = true, .only_shifts = true
const struct lgv_method lgv_method_newmark = {
    NEWMARK,
    .linear = LGV_LINEAR_PULLED,
    .name = "Newmark",
    .aliases = "",
    .paper = "Newmark (1959), doi 10.1061/JMCEA3.0000098; Kane, Marsden, Ortiz & West (2000), Int. J. Numer. "
             "Meth. Engng. 49, 1295",
    .doc = "Newmark's method with gamma = 1/2 and the number beta, for stiff potentials: Newton's method in every "
           "step.",
    .constants = "#define NEWMARK_PUSHED 0\n#define NEWMARK_FULL 1\n",
    .symmetric = true,
    .claims = "Reversible; keeps linear momenta and the symplectic form in (x, p), x = q + beta dt^2 M^-1 V'(q). "
              "Stable for linear forces of any frequency when beta >= 1/4.",
};
const struct lgv_method lgv_method_push_newmark = {
    NEWMARK,
    .linear = LGV_LINEAR_VERLET,
    .name = "PushNewmark",
    .aliases = "pushforward-newmark",
    .paper = "Skeel, Zhang & Schlick (1997), doi 10.1137/S1064827595282350; Tao & Owhadi (2016), doi "
             "10.1093/imanum/dru064",
    .doc = "Newmark's method in the variables (x, p), x = q + beta dt^2 M^-1 V'(q); it begins at the x of the start "
           "and shows q.",
    .constants = "#define NEWMARK_PUSHED 1\n#define METHOD_SHOWN 1\n",
    .loose = true,
    .symmetric = true,
    .symplectic = true,
    .claims = "Symplectic in (x, p); keeps linear momenta, and angular momenta of (x, p). Stable for linear forces of "
              "any frequency when beta >= 1/4.",
};
const struct lgv_method lgv_method_one_step_newmark = {
    NEWMARK,
    .linear = LGV_LINEAR_PULLED,
    .name = "OneStepNewmark",
    .aliases = "",
    .paper = "Tao & Owhadi (2016), doi 10.1093/imanum/dru064",
    .doc = "Newmark's method with the number beta and one iteration of Newton's method a step: for comparison.",
    .constants = "#define NEWMARK_PUSHED 0\n#define NEWMARK_FULL 0\n",
    .claims = "Keeps linear momenta only; its energy drifts.",
};
#endif
