/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Projected Euler-Maruyama (PEM) for constraints g(q) = 0, H = p . M^-1 p / 2 + U(q) with constant masses and noise
 * h(q): for comparison, not structure preserving.  A step in the ambient space, then both projections onto T*S:
 *
 *     q* = q + dt M^-1 p,     p* = p - dt U_q(q) - sum_m h_m,q(q) dW_m
 *     q' = q* - M^-1 G^T y    so that g(q') = 0                 (Newton's method, G = g_q at the last iterate)
 *     p' = p* + G(q')^T mu    so that G(q') M^-1 p' = 0
 *
 * The Ito form needs no correction of the drift: on T*S a noise field is (0, -P(q) h_q(q)), P the projector onto the
 * cotangent space; it moves p and depends on q alone, so its derivative along itself vanishes.  The curvature of the
 * constraint set enters through the projection of p*.  Strong and weak order are 1, as for Euler-Maruyama with h(q). */
#ifdef NP /* in a kernel */

#define METHOD_DZ 0
#define METHOD_CARRY 0

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    ARRAY(Kq, NP);
    ARRAY(Kp, NP);
    ARRAY(mu, NC);
    (void)dZ, (void)carry;
    model_K1(c, time_at(c, 0), q, p, c->dt, dW, Kq, Kp);
    for (long i = 0; i < NP; i++) {
        q[i] += Kp[i];
        p[i] -= Kq[i];
    }
    project_onto(c, q, p, p, mu, LGV_FAIL_NEWTON); /* velocities are no rows of their own for constant masses */
    for (long k = 0; k < NC; k++) c->extra[k * VECS] = mu[k] * (1 / c->dt);
}
#else
#include "method/method.h"
const struct lgv_method lgv_method_pem = {
    .name = "PEM",
    .aliases = "projected-euler-maruyama",
    .family = "baseline",
    .paper = "Maruyama (1955), doi 10.1007/BF02846028, in the ambient space, then projection onto the constraints "
             "and the hidden constraints",
    .doc = "Projected Euler-Maruyama, for constraints, constant masses and noise h(q): for comparison only.",
    .source = "pem.c",
    .needs = LGV_NEEDS_NOISE_OF_Q | LGV_NEEDS_CONSTRAINTS,
    .face_separable = LGV_FACE_K1,
    .face_general = LGV_FACE_K1,
    .order = 1,
    .strong_order = 1,
    .strong_noncommuting = 1,
    .strong_additive = 1,
    .weak_order = 1,
    .constrained = true,
    .kicks = true,
    .claims = "Keeps constraints and hidden constraints, and nothing else: not symplectic on T*S, the energy drifts.",
};
#endif
