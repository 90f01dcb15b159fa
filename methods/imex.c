/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Implicit-explicit midpoint for a declared split V = V0 + V1 of the potential of H = p.M^-1 p/2 + V(q): kicks by V0
 * around one step of the implicit midpoint rule for V1.  Stern & Grinspun (2009), doi 10.1137/080732936.
 *
 *     m = q + dt/2 M^-1 p - dt^2/4 M^-1 V1'(m),     q' = 2 m - q,     p' = p - dt V1'(m)
 *
 * Where V1 is quadratic with frequency w the midpoint rule turns by the angle 2 arctan(dt w/2), which is below pi:
 * there are no resonances, and the step is stable where Verlet is for V0 alone, dt^2 a < 4.  Fast oscillations have a
 * wrong frequency and the right amplitude. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY FORCE_ROWS

#if defined STIFF_QUADRATIC
#include "kernel/text/stiff.h"
#include "kernel/text/backward.h"
#include "kernel/text/split.h"

INLINE void kick_force(struct ctx *c, double t, const vec *q, const vec *p, vec *carry) {
    struct force F = CARRIED_FORCE(carry);
    model_force(c, t, q, p, &F);
}

INLINE void midpoint(struct ctx *c, vec *q, vec *p, const vec *dW, vec *carry) {
    vec *top = c->top;
    const double quarter = 0.25 * c->dt * c->dt;
    ARRAY(x, NP);
    ARRAY(m, NP);
    ARRAY(V, NP);
    (void)carry;
    model_K1(c, time_at(c, 0), q, p, 0.5 * c->dt, dW, 0, x);
    for (long i = 0; i < NP; i++) x[i] += q[i];
    backward_solve(c, time_at(c, 0.5), quarter, x, p, STIFF_QUADRATIC, m, V);
    for (long i = 0; i < NP; i++) { /* lanes that have failed on the way are NaN, and stay so */
        q[i] = vec_select((ivec)(q[i] == q[i]), 2.0 * m[i] - q[i], q[i]);
        p[i] = vec_select((ivec)(p[i] == p[i]), FUSED(-c->dt, V[i], p[i]), p[i]);
    }
    c->top = top;
}

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    kick_force(c, time_at(c, 0), q, p, carry);
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    (void)dZ;
    split_step(c, q, p, dW, carry, kick_force, midpoint);
}
#endif

#ifdef LGV_HOST
#define IMEX_FACE LGV_FACE_K1 | LGV_FACE_FORCE | LGV_FACE_STIFFNESS | LGV_FACE_SPLIT | LGV_FACE_APART
const struct lgv_method lgv_method_imex = {
    .family = "stiff",
    .name = "IMEX",
    .aliases = "implicit-explicit",
    .source = "imex.c",
    .paper = "Stern & Grinspun (2009), doi 10.1137/080732936",
    .doc = "Implicit-explicit midpoint: kicks by V - V1 around a step of the implicit midpoint rule with the declared "
           "stiff part V1 (`stiff`).",
    .needs = LGV_NEEDS_NOISE_OF_Q | LGV_NEEDS_QUADRATIC_KINETIC | LGV_NEEDS_FLAT | LGV_NEEDS_SPLIT,
    .face_separable = IMEX_FACE,
    .face_general = IMEX_FACE,
    .order = 2,
    .strong_order = 1,
    .strong_noncommuting = 0.5,
    .strong_additive = 1,
    .weak_order = 1,
    .symmetric = true,
    .symplectic = true,
    .linear = LGV_LINEAR_SPLIT,
    .number = 0.25, /* of beta: the two-step form is that of StiffZSs */
    .linear_momentum_maps = true,
    .claims = "Symplectic; keeps momentum maps of symmetries that act linearly on the coordinates or shift them, where "
              "V1 has the symmetry too. No resonances: for linear forces stable where dt^2 mu < 4, mu being the "
              "largest eigenvalue of M^-1 V0'', whatever V1 is.",
};
#endif
