/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stochastic Stoermer-Verlet, P2N2Q2Lob.  Holm & Tyranowski, stochastic Galerkin Hamiltonian variational integrators (3.29).
 *
 *     P  = p - K_q(q, P; dt/2, dW/2)
 *     q' = q + K_p(q, P; dt/2, dW/2) + K_p(q', P; dt/2, dW/2)
 *     p' = P - K_q(q', P; dt/2, dW/2)
 *
 * Explicit when H and every h are separable; the force at q' then serves the next step too. */
#include "kernel/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY (MODEL_SEPARABLE ? NQ + NHQ : 0)
#define METHOD_WORK (4 * NQ + NM + 2 * STAGE_WORK)

INLINE struct force carried(const struct ctx *c, vec *carry) {
    (void)c;
    return (struct force){carry, carry + NQ};
}

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    struct force F = carried(c, carry);
    if (MODEL_SEPARABLE) model_force(c, c->b->t0 + (double)c->step * c->dt, q, p, &F);
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    double t = c->b->t0 + (double)c->step * c->dt, t1 = c->b->t0 + (double)(c->step + 1) * c->dt, half = 0.5 * c->dt;
    ARRAY(w, NM);
    ARRAY(Kp, NQ);
    for (long m = 0; m < NM; m++) w[m] = 0.5 * dW[m];
    (void)dZ;
    if (MODEL_SEPARABLE) {
        struct force F = carried(c, carry);
        model_kick(c, p, &F, half, w);
        model_K1(c, t, q, p, half, w, 0, Kp);
        if (MODEL_TIME) { /* K_p changes between the two ends of the step */
            for (long i = 0; i < NQ; i++) q[i] += Kp[i];
            model_K1(c, t1, q, p, half, w, 0, Kp);
            for (long i = 0; i < NQ; i++) q[i] += Kp[i];
        } else {
            for (long i = 0; i < NQ; i++) q[i] += 2.0 * Kp[i];
        }
        model_force(c, t1, q, p, &F);
        model_kick(c, p, &F, half, w);
        return;
    }
    ARRAY(Kq, NQ);
    ARRAY(P, NQ);
    ARRAY(Q, NQ);
    model_K1(c, t, q, p, half, w, Kq, 0);
    for (long i = 0; i < NQ; i++) P[i] = p[i] - Kq[i];
    implicit_kick(c, t, q, p, half, w, P);
    model_K1(c, t, q, P, half, w, 0, Kp);
    for (long i = 0; i < NQ; i++) {
        q[i] += Kp[i];
        Q[i] = q[i] + Kp[i];
    }
    implicit_drift(c, t1, q, P, half, w, Q);
    model_K1(c, t1, Q, P, half, w, Kq, 0);
    for (long i = 0; i < NQ; i++) {
        q[i] = Q[i];
        p[i] = P[i] - Kq[i];
    }
}

#include "kernel/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_method_verlet = {
    .name = "P2N2Q2Lob",
    .aliases = "verlet stoermer-verlet",
    .family = "Galerkin",
    .paper = "Holm & Tyranowski, stochastic Galerkin Hamiltonian variational integrators, (3.29)",
    .doc = "Stochastic Stoermer-Verlet. Explicit for separable models with one force evaluation a step, implicit otherwise.",
    .source = "verlet.c",
    .face_separable = LGV_FACE_K1 | LGV_FACE_FORCE,
    .face_general = LGV_FACE_K1 | LGV_FACE_K2,
    .order = 2,
    .strong_order = 1,
    .strong_noncommuting = 0.5,
    .strong_additive = 1,
    .weak_order = 1,
    .symplectic = true,
    .explicit_separable = true,
    .linear_momentum_maps = true,
    .claims = "Symplectic; keeps momentum maps of symmetries that act on coordinates. Energy without drift, not exactly.",
    .callbacks = &KERNEL_NAME,
};
#endif
