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
#define NYS_ONE
#define NYS(k) midpoint_node[k]
static const double midpoint_node[] = {0.5, 1, 1, 0, 0.5, 0.5};

#define METHOD_CARRY 0

#include "kernel/text/nystrom.h"

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

/* Unknowns x, then y; m: the midpoint. */
struct midpoint {
    double t;
    const vec *q, *p, *dW;
    vec *m, *K, *Kqq, *Kqp, *Kpp;
};

INLINE ivec midpoint_correct(struct ctx *c, struct newton *s, void *of) {
    struct midpoint *h = of;
    for (long i = 0; i < NP; i++) {
        h->m[i] = FUSED(0.5, s->x[i], h->q[i]);
        h->m[NP + i] = FUSED(0.5, s->x[NP + i], h->p[i]);
    }
    model_K2(c, h->t, h->m, h->m + NP, c->dt, h->dW, h->K, h->K + NP, h->Kqq, h->Kqp, h->Kpp);
    for (long i = 0; i < NP; i++) {
        s->e[i] = s->x[i] - h->K[NP + i];
        s->e[NP + i] = s->x[NP + i] + h->K[i];
    }
    return solve_partitioned(c, 0.5, h->Kqq, h->Kqp, h->Kpp, s->e);
}

INLINE ivec midpoint_moving(struct ctx *c, struct newton *s, void *of) {
    struct midpoint *h = of;
    (void)c;
    return still_moving(NP, s->e, s->x, h->q, NEWTON_RATE) |
           still_moving(NP, s->e + NP, s->x + NP, h->p, NEWTON_RATE);
}

INLINE ivec midpoint_settled(struct ctx *c, struct newton *s, void *of) {
    struct midpoint *h = of;
    ivec settled;
    settle(c, h->t, h->m, h->m + NP, c->dt, h->dW, s->e, s->e + NP, &settled);
    return settled;
}

INLINE void general_step(struct ctx *c, vec *q, vec *p, const vec *dW) {
    ARRAY(x, 2 * NP);
    ARRAY(m, 2 * NP);
    ARRAY(e, 2 * NP);
    ARRAY(K, 2 * NP);
    ARRAY(Kqq, SECOND);
    ARRAY(Kqp, SECOND);
    ARRAY(Kpp, SECOND);
    struct midpoint rule = {time_at(c, 0.5), q, p, dW, m, K, Kqq, Kqp, Kpp};
    struct newton s = {.n = 2 * NP, .x = x, .e = e, .live = (ivec)(p[0] == p[0])};
    const int rounds = MODEL_LINEAR ? 1 : NEWTON_MAX;
    /* The guess: none for linear equations, which one iteration solves; else an Euler step. */
    if (!MODEL_LINEAR) model_K1(c, rule.t, q, p, c->dt, dW, K, K + NP);
    for (long i = 0; i < NP; i++) {
        x[i] = MODEL_LINEAR ? vec_set(0) : K[NP + i];
        x[NP + i] = MODEL_LINEAR ? vec_set(0) : -K[i];
    }
    newton_iterate(c, &s, rounds, midpoint_correct, midpoint_moving, midpoint_settled, &rule);
    newton_end(c, &s, rounds);
    for (long i = 0; i < NP; i++) {
        q[i] += x[i];
        p[i] += x[NP + i];
    }
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    if (MODEL_SEPARABLE && !MODEL_PATTERN)
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
    .patterned = true,
    .implicit_sets = 1,
    .order = 2,
    .strong_order = 1,
    .strong_noncommuting = 0.5,
    .strong_additive = 1,
    .weak_order = 1,
    .symplectic = true,
    .linear = LGV_LINEAR_FREE,
    .modified = {-1.0 / 24, -1.0 / 24, -1.0 / 24},
    .symmetric = true,
    .quadratic_invariants = true,
    .linear_momentum_maps = true,
    .claims = "Symplectic; keeps every quadratic invariant of H and all h (the energy of a Kubo oscillator too) and "
              "momentum maps of symmetries that act linearly on the coordinates or shift them.",
    .callbacks = &KERNEL_NAME,
    .step = &KERNEL_STEP,
};
#endif
