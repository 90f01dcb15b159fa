/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Three flows for any noise h(q,p): the path of (t, W) over a step is replaced by a polygon with three sides, along
 * each of which a step of order 4 or more follows the flow of an autonomous Hamiltonian,
 *
 *     sum_m a_m h_m  at t,      dt H + sum_m b_m h_m  from t to t + dt,      sum_m c_m h_m  at t + dt
 *
 *     b = sign(dW) sqrt(dW^2 + 4/5 dt + 12/5 y^2),   a = (dW - b)/2 + y,   c = (dW - b)/2 - y,   y = dZ/dt - dW/2
 *
 * The polygon has the increments of the path, a + b + c = dW, its integral over time, (a - c)/2 = y, and the mean given
 * (dW, dZ) of what {h, {h, H}} comes with: for a polygon that is dt (y^2 + (b^2 - dW^2)/12)/2 = dt (3/5 y^2 + dt/30).
 * For two noises the coefficient has b_i b_j - dW_i dW_j in it, of mean zero because b is odd in dW.  So the strong
 * order is 3/2 for one noise and for noises that commute, and the weak order 2 by parity, without any derivative of
 * H or h that the step does not have by itself.  Every side is symplectic.  With three-point increments dW is 0 or -0,
 * each in one of three steps: with one sign for both the weak order would be 3/2, and 1 for two noises.
 *
 * Splitting paths: Foster, dos Reis & Strange (2022), High order splitting methods for SDEs satisfying a commutativity
 * condition, doi 10.48550/arXiv.2210.17543.  The weights are derived here. */
#include "kernel/text/method_file.h"
#include "kernel/text/program.h"
#undef METHOD_DZ
#define METHOD_DZ 1

enum { FLOW_BEFORE, FLOW_MIDDLE };

INLINE vec flow_weight(long flow, vec dW, vec y, double dt) {
    vec size = vec_sqrt(FUSED(dW, dW, FUSED(2.4 * y, y, vec_set(0.8 * dt))));
    vec middle = vec_select((ivec)dW < 0, -size, size); /* by the bit of the sign, which three points of 0 have too */
    return flow == FLOW_MIDDLE ? middle : 0.5 * (dW - middle) + (flow == FLOW_BEFORE ? y : -y);
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    ARRAY(w, NM);
    vec *top = c->top;
    const double dt = c->dt;
    for (long k = 0; k < PROGRAM_SUBSTEPS; k++) {
        enter(c, SUBSTEP_FROM(k), SUBSTEP_WIDTH(k));
        for (long m = 0; m < NM; m++) w[m] = flow_weight(k, dW[m], FUSED(-0.5, dW[m], dZ[m] / dt), dt);
        substep_step(c, SUBSTEP_STEP(k), q, p, w, dZ, carry);
        c->top = top;
    }
    enter(c, 0, 1);
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_method_flows = {
    .source = "flows.c",
    .callbacks = &KERNEL_NAME,
};
#endif
