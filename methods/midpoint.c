/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stochastic midpoint rule, P1N1Q2Gau.  Holm & Tyranowski (2018), section 3.4.1.
 *
 *     q' = q + K_p((q+q')/2, (p+p')/2; dt, dW),     p' = p - K_q((q+q')/2, (p+p')/2; dt, dW)
 *
 * Unknowns x = q' - q, y = p' - p, Newton's method with the exact Hessian.  With residuals r = x - K_p, s = y + K_q the
 * correction (e, f) solves   (1 - K_pq/2) e - K_pp/2 f = r,   K_qq/2 e + (1 + K_qp/2) f = s.
 * Separable models have the Nystroem form: one node, half the unknowns. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define NYS_STRAIGHT 1
#define NYS_N 1L
#define NYS_PRE 0L
#define NYS_IMP 1L
#define NYS_END (-1L)
#define NYS_CARRY 0
#define NYS(k) midpoint_node[k]
static const double midpoint_node[] = {0.5, 1, 1, 0, 0.5, 0.5};

#define METHOD_CARRY 0

#include "kernel/text/nystrom.h"

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

INLINE void general_step(struct ctx *c, vec *q, vec *p, const vec *dW) {
    double t = time_at(c, 0.5);
    ARRAY(x, 2 * NQ); /* x, then y */
    ARRAY(m, 2 * NQ); /* midpoint */
    ARRAY(e, 2 * NQ);
    ARRAY(K, 2 * NQ);
    ARRAY(Kqq, NQ * NQ);
    ARRAY(Kqp, NQ * NQ);
    ARRAY(Kpp, NQ * NQ);
    /* The guess: none for linear equations, which one iteration solves; else an Euler step. */
    if (!MODEL_LINEAR) model_K1(c, t, q, p, c->dt, dW, K, K + NQ);
    for (long i = 0; i < NQ; i++) {
        x[i] = MODEL_LINEAR ? vec_set(0) : K[NQ + i];
        x[NQ + i] = MODEL_LINEAR ? vec_set(0) : -K[i];
    }
    ivec live = (ivec)(p[0] == p[0]), singular = {0}, now;
    vec *top = c->top;
    int k = 0;
    do {
        for (long i = 0; i < NQ; i++) {
            m[i] = FUSED(0.5, x[i], q[i]);
            m[NQ + i] = FUSED(0.5, x[NQ + i], p[i]);
        }
        model_K2(c, t, m, m + NQ, c->dt, dW, K, K + NQ, Kqq, Kqp, Kpp);
        for (long i = 0; i < NQ; i++) {
            e[i] = x[i] - K[NQ + i];
            e[NQ + i] = x[NQ + i] + K[i];
        }
        solve_partitioned(c, 0.5, Kqq, Kqp, Kpp, e, &now);
        singular |= now & live;
        c->top = top;
        for (long i = 0; i < 2 * NQ; i++) x[i] = MODEL_LINEAR ? x[i] - e[i] : vec_select(live, x[i] - e[i], x[i]);
        live &= (still_moving(NQ, e, x, q, NEWTON_RATE) | still_moving(NQ, e + NQ, x + NQ, p, NEWTON_RATE)) & ~singular;
        c->iterations++;
        if (!MODEL_LINEAR && k >= NEWTON_PATIENT && vec_any(live)) settle(c, t, m, m + NQ, c->dt, dW, e, e + NQ, &live);
    } while (!MODEL_LINEAR && ++k < NEWTON_MAX && vec_any(live));
    for (long i = 0; i < NQ; i++) {
        q[i] += x[i];
        p[i] += x[NQ + i];
    }
    if (!MODEL_LINEAR && vec_any(live)) lanes_failed(c, &live, NQ, LGV_FAIL_NEWTON);
    if (vec_any(singular)) lanes_failed(c, &singular, NQ, LGV_FAIL_SINGULAR);
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    if (MODEL_SEPARABLE)
        nystrom_step(c, q, p, dW, dZ, carry);
    else
        general_step(c, q, p, dW);
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_method_midpoint = {
    .name = "P1N1Q2Gau",
    .aliases = "midpoint implicit-midpoint",
    .family = "Galerkin",
    .paper = "Holm & Tyranowski (2018), Stochastic discrete Hamiltonian variational integrators, section 3.4.1, doi "
             "10.1007/s10543-018-0720-2",
    .doc = "Stochastic midpoint rule: implicit, for any H(q,p) and h(q,p).",
    .source = "midpoint.c",
    .face_separable = LGV_FACE_K1 | LGV_FACE_K2,
    .face_general = LGV_FACE_K1 | LGV_FACE_K2,
    .implicit_sets = 1,
    .order = 2,
    .strong_order = 1,
    .strong_noncommuting = 0.5,
    .strong_additive = 1,
    .weak_order = 1,
    .symplectic = true,
    .symmetric = true,
    .quadratic_invariants = true,
    .linear_momentum_maps = true,
    .claims = "Symplectic; keeps every quadratic invariant of H and all h (the energy of a Kubo oscillator too) and "
              "momentum maps of symmetries that act linearly on the coordinates or shift them.",
    .callbacks = &KERNEL_NAME,
    .step = &KERNEL_STEP,
};
#endif
