/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linearly implicit methods for stiff potentials, H = p.M^-1 p/2 + V(q).  Zhang & Skeel (1997), Appl. Numer. Math. 25,
 * 297; as variational integrators, and for constraints by penalty: Tao & Owhadi (2016), IMA J. Numer. Anal. 36, 80.
 * With A(x) = M + beta dt^2 V''(x) and A a = -V'(x) they are velocity Verlet with the force
 *
 *     ZS        M a - beta^2 dt^4/2 a.V'''.a
 *     ZSEuler   the same, but variational Euler: a whole kick, then the drift (order 1)
 *     ZSs       M a
 *     StiffZSs  M a, where A = M + beta dt^2 V1'' has the declared stiff part V1 of V only
 *
 * The force of ZS has the potential V - beta dt^2/2 V'.A^-1 V', so it is symplectic.  The others are so where a.V'''.a
 * is a gradient too: in one degree of freedom, and where the eigenvectors of V'' do not turn.  M a is computed as
 * -V' - beta dt^2 V'' a.  Noise h(q) is a kick.  What is carried depends on dt. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY (FORCE_ROWS + (PENALTIES ? NP : 0))
#define METHOD_SHIFT (PENALTIES ? FORCE_ROWS : -1) /* beta dt^2 a, which multipliers by penalty need */

#ifdef STIFF_BETA
#include "kernel/text/stiff.h"

/* F is the beginning of what is carried. */
INLINE void effective_force(struct ctx *c, double t, const vec *x, const vec *p, struct force *F) {
    const double s = STIFF_BETA * c->dt * c->dt;
    vec *top = c->top;
    ARRAY(B, STIFF_B);
    ARRAY(W, STIFF_W);
    ARRAY(a, NP);
    ARRAY(y, NP);
    if (NHQ > 0) model_force(c, t, x, p, F);
    model_stiffness(c, t, x, p, NHQ > 0 ? 0 : F->H, B, W);
    stiff_move(W, F->H, a);
    for (long i = 0; i < NP; i++) a[i] = -a[i];
    stiff_failed(c, x, stiff_solve(c, s, B, W, a));
    for (long i = 0; PENALTIES && i < NP; i++) F->H[METHOD_SHIFT + i] = s * a[i];
    stiff_bend(B, a, y);
    for (long i = 0; i < NP; i++) ADD_PRODUCT(F->H[i], s, y[i]);
    if (STIFF_THIRD) {
        model_V3(c, t, x, p, a, y);
        for (long i = 0; i < NP; i++) ADD_PRODUCT(F->H[i], 0.5 * s * s, y[i]);
    }
    c->top = top;
}

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    struct force F = CARRIED_FORCE(carry);
    effective_force(c, time_at(c, 0), q, p, &F);
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    (void)dZ;
#ifdef STIFF_EULER
    struct force F = CARRIED_FORCE(carry);
    ARRAY(Kp, NP);
    model_kick(c, p, &F, c->dt, dW);
    model_K1(c, time_at(c, 0), q, p, c->dt, dW, 0, Kp);
    for (long i = 0; i < NP; i++) q[i] += Kp[i];
    effective_force(c, time_at(c, 1), q, p, &F);
#else
    stiff_verlet(c, q, p, dW, carry, effective_force);
#endif
}
#endif

#ifdef LGV_HOST
#define STIFF_ANY                                                                                                      \
    .family = "stiff", .source = "zhang_skeel.c", .strong_order = 1, .strong_noncommuting = 0.5,                       \
    .strong_additive = 1, .weak_order = 1, .carries_width = true,                                                      \
    .paper = "Zhang & Skeel (1997), Appl. Numer. Math. 25, 297; Tao & Owhadi (2016), doi 10.1093/imanum/dru064"
#define STIFF STIFF_ANY, .order = 2, .symmetric = true
#define STIFF_NEEDS LGV_NEEDS_NOISE_OF_Q | LGV_NEEDS_QUADRATIC_KINETIC | LGV_NEEDS_FLAT
#define STIFF_FACE LGV_FACE_K1 | LGV_FACE_FORCE | LGV_FACE_STIFFNESS
const struct lgv_method lgv_method_zs = {
    STIFF,
    .linear = LGV_LINEAR_VERLET,
    .name = "ZS",
    .needs = STIFF_NEEDS,
    .aliases = "zhang-skeel z&s",
    .doc = "Method of Zhang and Skeel for stiff potentials, with the number beta: velocity Verlet with a force from "
           "one linear system a step.",
    .constants = "#define STIFF_THIRD 1\n",
    .face_separable = STIFF_FACE | LGV_FACE_V3,
    .face_general = STIFF_FACE | LGV_FACE_V3,
    .symplectic = true,
    .linear_momentum_maps = true,
    .claims = "Symplectic; keeps momentum maps of symmetries that act linearly on the coordinates or shift them. "
              "Stable for linear forces of any frequency when beta >= 1/4.",
};
const struct lgv_method lgv_method_zs_euler = {
    STIFF_ANY,
    .name = "ZSEuler",
    .needs = STIFF_NEEDS,
    .aliases = "",
    .doc = "Variational Euler with the force of ZS, with the number beta: order 1, one linear system a step.",
    .constants = "#define STIFF_THIRD 1\n#define STIFF_EULER 1\n",
    .face_separable = STIFF_FACE | LGV_FACE_V3,
    .face_general = STIFF_FACE | LGV_FACE_V3,
    .order = 1,
    .symplectic = true,
    .linear_momentum_maps = true,
    .claims = "Symplectic; keeps momentum maps of symmetries that act linearly on the coordinates or shift them. "
              "Stable for linear forces of any frequency when beta >= 1/4.",
};
const struct lgv_method lgv_method_zss = {
    STIFF,
    .linear = LGV_LINEAR_VERLET,
    .name = "ZSs",
    .needs = STIFF_NEEDS,
    .aliases = "z&ss",
    .doc = "ZS without third derivatives, with the number beta.",
    .constants = "#define STIFF_THIRD 0\n",
    .face_separable = STIFF_FACE,
    .face_general = STIFF_FACE,
    .linear_momentum_maps = true,
    .only_shifts = true,
    .claims = "Reversible; keeps linear momenta, but no angular ones. Symplectic in one degree of freedom and where "
              "the eigenvectors of V'' are constant, else up to dt^5 a step. Stable for linear forces of any frequency "
              "when beta >= 1/4.",
};
const struct lgv_method lgv_method_stiff_zss = {
    STIFF,
    .linear = LGV_LINEAR_SPLIT,
    .name = "StiffZSs",
    .aliases = "",
    .doc = "ZSs with the number beta and the second derivatives of the stiff part of the potential only, which the "
           "model declares (`stiff`).",
    .constants = "#define STIFF_THIRD 0\n",
    .needs = STIFF_NEEDS | LGV_NEEDS_SPLIT,
    .face_separable = STIFF_FACE | LGV_FACE_SPLIT,
    .face_general = STIFF_FACE | LGV_FACE_SPLIT,
    .linear_momentum_maps = true,
    .only_shifts = true,
    .claims = "Reversible; keeps linear momenta where V1 has the symmetry too. Stable for linear forces when beta >= "
              "(1 + largest frequency^2 of V0/least of V1)/4.",
};
#endif
