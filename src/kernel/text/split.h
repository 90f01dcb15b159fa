/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What methods for a declared split V = V0 + V1 share: half a kick, the stiff flow, half a kick,
 *
 *     P = p - dt/2 f(q) - dW/2 h'(q),     (q', P') = flow of p.M^-1 p/2 + V1,     p' = P' - dt/2 f(q') - dW/2 h'(q'),
 *
 * with f = V0', or what is made of it.  A kick is symplectic where f is a gradient, and keeps phase volume whatever f
 * is; with a symmetric flow the step is symmetric.  Noise h(q) is a plain kick.
 *
 * Part of the text of a method: include-free, behind face.h. */

/* The force f at q with those of the noises, weights not yet applied; and the stiff flow over the span.  `carry`: of
 * the method. */
typedef void split_force(struct ctx *c, double t, const vec *q, const vec *p, vec *carry);
typedef void split_flow(struct ctx *c, vec *q, vec *p, const vec *dW, vec *carry);

INLINE void split_step(struct ctx *c, vec *q, vec *p, const vec *dW, vec *carry, split_force *force, split_flow *flow) {
    struct force F = CARRIED_FORCE(carry);
    const double half = 0.5 * c->dt;
    ARRAY(w, NW);
    for (long m = 0; m < NM; m++) w[m] = 0.5 * dW[m];
    model_kick(c, p, &F, half, w);
    flow(c, q, p, dW, carry);
    force(c, time_at(c, 1), q, p, carry);
    model_kick(c, p, &F, half, w);
}
