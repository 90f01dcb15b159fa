/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stochastic partitioned Runge-Kutta methods with coefficients of the user: Ma, Ding & Ding (2012), Ma & Ding (2015),
 * Holm & Tyranowski (2018).
 *
 *     Q_i = q + sum_j [a_ij dt H_p + b_ij dW.h_p](Q_j, P_j)
 *     P_i = p - sum_j [abar_ij dt H_q + bbar_ij dW.h_q](Q_j, P_j)
 *     q'  = q + sum_i [alpha_i dt H_p + beta_i dW.h_p](Q_i, P_i)
 *     p'  = p - sum_i [alpha_i dt H_q + beta_i dW.h_q](Q_i, P_i)
 *
 * The parts (dt, 0) and (0, dW) of K are evaluated separately, unless both have the same coefficients.  Newton's
 * method for X_i = Q_i - q, Y_i = P_i - p with the exact Hessians; for separable models Q_i needs P_j only and P_i
 * needs Q_j only, and when the stages can be put in an order in which each one needs earlier ones only, they are
 * computed one by one. */
#include "kernel/text/method_file.h"

/* Layout of the table: r, same, explicit; order of the stages [2r] (i: Q_i, r + i: P_i); alpha beta c [r]; a abar b
 * bbar [r][r]. */
#ifndef SPRK_R
#define TABLE(k) c->option[k]
#define SPRK_R ((long)TABLE(0))
#define SPRK_SAME (TABLE(1) != 0)
#define SPRK_EXPLICIT (TABLE(2) != 0)
#else
#define TABLE(k) sprk_table[k]
#endif
#define SR SPRK_R
#define STAGE(k) ((long)TABLE(3 + (k)))
#define WEIGHT(part, i) TABLE(3 + (2 + (part)) * SR + (i))
#define TIME(i) TABLE(3 + 4 * SR + (i))
#define A_Q(part, i, j) TABLE(3 + 5 * SR + (2 * (part)) * SR * SR + (i)*SR + (j))
#define A_P(part, i, j) TABLE(3 + 5 * SR + (2 * (part) + 1) * SR * SR + (i)*SR + (j))
#define PARTS (SPRK_SAME || NM == 0 ? 1L : 2L)
#define UNKNOWNS (2 * SR * NP)

#if MODEL_PATTERN
#define SPRK_MATRIX PATTERN_BLOCKS(2 * SR)
#define SPRK_SCRATCH PATTERN_SCRATCH(2 * SR)
#else
#define SPRK_MATRIX (UNKNOWNS * UNKNOWNS)
#define SPRK_SCRATCH SYSTEM_SCRATCH(UNKNOWNS)
#endif

#define METHOD_DZ 0
#define METHOD_CARRY 0

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

/* Part 0 is dt H, or all of K when the parts are not told apart; part 1 is the noise. */
INLINE double part_dt(const struct ctx *c, long part) {
    return part ? 0.0 : c->dt;
}

/* K_q and K_p of every part at stage j, in G [PARTS][r][2 NP]; x is [r][2 NP].  Either half can be left out. */
INLINE void stage_gradient(struct ctx *c, long j, const vec *q, const vec *p, const vec *x, const vec *dW,
                           const vec *zero, int with_q, int with_p, vec *G) {
    double t = time_at(c, TIME(j));
    vec *top = c->top;
    ARRAY(Q, NP);
    ARRAY(P, NP);
    for (long i = 0; i < NP; i++) {
        Q[i] = q[i] + x[2 * j * NP + i];
        P[i] = p[i] + x[(2 * j + 1) * NP + i];
    }
    for (long part = 0; part < PARTS; part++) {
        vec *K = G + (part * SR + j) * 2 * NP;
        model_K1(c, t, Q, P, part_dt(c, part), PARTS == 2 && part == 0 ? zero : dW, with_q ? K : 0,
                 with_p ? K + NP : 0);
    }
    c->top = top;
}

/* ---- stages one by one ---- */

INLINE void explicit_stages(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *zero, vec *x, vec *G) {
    for (long k = 0; k < 2 * SR; k++) {
        long momentum = STAGE(k) >= SR, i = STAGE(k) - momentum * SR;
        for (long l = 0; l < NP; l++) {
            vec sum = vec_set(0);
            for (long part = 0; part < PARTS; part++)
                for (long j = 0; j < SR; j++) {
                    double a = momentum ? -A_P(part, i, j) : A_Q(part, i, j);
                    if (a != 0) ADD_PRODUCT(sum, a, G[((part * SR + j) * 2 + !momentum) * NP + l]);
                }
            x[(2 * i + momentum) * NP + l] = sum;
        }
        stage_gradient(c, i, q, p, x, dW, zero, !momentum, (int)momentum, G);
    }
}

/* ---- Newton's method ---- */

/* Columns of stage j in the matrix of the residuals X_i - sum a K_p, Y_i + sum abar K_q, and G at stage j. */
INLINE void add_stage(struct ctx *c, long j, const vec *q, const vec *p, const vec *x, const vec *dW, const vec *zero,
                      vec *G, vec *A) {
    double t = time_at(c, TIME(j));
    ARRAY(Q, NP);
    ARRAY(P, NP);
    ARRAY(Kqq, SECOND);
    ARRAY(Kqp, SECOND);
    ARRAY(Kpp, SECOND);
    for (long i = 0; i < NP; i++) {
        Q[i] = q[i] + x[2 * j * NP + i];
        P[i] = p[i] + x[(2 * j + 1) * NP + i];
    }
    for (long part = 0; part < PARTS; part++) {
        vec *K = G + (part * SR + j) * 2 * NP;
        model_K2(c, t, Q, P, part_dt(c, part), PARTS == 2 && part == 0 ? zero : dW, K, K + NP, Kqq, Kqp, Kpp);
        for (long i = 0; i < SR; i++) {
            double a = A_Q(part, i, j), abar = A_P(part, i, j);
#if MODEL_PATTERN
            pattern_add_flow(2 * SR, i, j, a, abar, Kqq, Kqp, Kpp, A);
#else
            const long n = UNKNOWNS;
            for (long k = 0; k < NP; k++) {
                vec *up = A + (2 * i * NP + k) * n + 2 * j * NP, *down = up + NP * n;
                for (long l = 0; l < NP; l++) {
                    ADD_PRODUCT(up[l], -a, Kqp[l * NP + k]);
                    ADD_PRODUCT(up[NP + l], -a, Kpp[k * NP + l]);
                    ADD_PRODUCT(down[l], abar, Kqq[k * NP + l]);
                    ADD_PRODUCT(down[NP + l], abar, Kqp[k * NP + l]);
                }
            }
#endif
        }
    }
}

INLINE void residual(const struct ctx *c, const vec *x, const vec *G, vec *r) {
    (void)c;
    for (long i = 0; i < SR; i++)
        for (long k = 0; k < NP; k++) {
            vec up = x[2 * i * NP + k], down = x[(2 * i + 1) * NP + k];
            for (long part = 0; part < PARTS; part++)
                for (long j = 0; j < SR; j++) {
                    const vec *K = G + (part * SR + j) * 2 * NP;
                    ADD_PRODUCT(up, -A_Q(part, i, j), K[NP + k]);
                    ADD_PRODUCT(down, A_P(part, i, j), K[k]);
                }
            r[2 * i * NP + k] = up;
            r[(2 * i + 1) * NP + k] = down;
        }
}

struct rk {
    const vec *q, *p, *dW, *zero;
    vec *G, *A, *scratch;
};

INLINE ivec rk_correct(struct ctx *c, struct newton *s, void *of) {
    struct rk *h = of;
    const long n = UNKNOWNS;
    vec *top = c->top;
#if MODEL_PATTERN
    pattern_clear(2 * SR, h->A);
    for (long i = 0; i < 2 * SR; i++) pattern_add_one(2 * SR, i, i, 1.0, h->A);
#else
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) h->A[i * n + j] = vec_set(i == j ? 1.0 : 0.0);
#endif
    for (long j = 0; j < SR; j++) {
        add_stage(c, j, h->q, h->p, s->x, h->dW, h->zero, h->G, h->A);
        c->top = top;
    }
    residual(c, s->x, h->G, s->e);
#if MODEL_PATTERN
    (void)n;
    return pattern_solve(2 * SR, h->A, s->e, h->scratch);
#else
    return system_solve(SYSTEM_ANY, n, h->A, s->e, h->scratch);
#endif
}

/* Every stage for itself. */
INLINE ivec rk_moving(struct ctx *c, struct newton *s, void *of) {
    struct rk *h = of;
    ivec moving = {0};
    (void)c;
    for (long i = 0; i < SR; i++)
        moving |= still_moving(NP, s->e + 2 * i * NP, s->x + 2 * i * NP, h->q, NEWTON_RATE) |
                  still_moving(NP, s->e + (2 * i + 1) * NP, s->x + (2 * i + 1) * NP, h->p, NEWTON_RATE);
    return moving;
}

INLINE void implicit_stages(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *zero, vec *x, vec *G) {
    ARRAY(A, SPRK_MATRIX);
    ARRAY(scratch, SPRK_SCRATCH);
    ARRAY(r, UNKNOWNS);
    struct rk stages = {q, p, dW, zero, G, A, scratch};
    struct newton s = {.n = UNKNOWNS, .x = x, .e = r, .live = (ivec)(p[0] == p[0])};
    for (long i = 0; i < UNKNOWNS; i++) x[i] = vec_set(0);
    newton(c, &s, MODEL_LINEAR ? 1 : NEWTON_MAX, rk_correct, rk_moving, 0, &stages);
    for (long j = 0; j < SR; j++) stage_gradient(c, j, q, p, x, dW, zero, 1, 1, G);
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    ARRAY(x, UNKNOWNS);
    ARRAY(G, 2 * UNKNOWNS);
    ARRAY(zero, NM);
    (void)dZ, (void)carry;
    for (long m = 0; m < NM; m++) zero[m] = vec_set(0);
    for (long i = 0; i < PARTS * UNKNOWNS; i++) G[i] = vec_set(0);
    if (MODEL_SEPARABLE && SPRK_EXPLICIT) {
        for (long i = 0; i < UNKNOWNS; i++) x[i] = vec_set(0);
        explicit_stages(c, q, p, dW, zero, x, G);
    } else {
        implicit_stages(c, q, p, dW, zero, x, G);
    }
    for (long part = 0; part < PARTS; part++)
        for (long i = 0; i < SR; i++)
            for (long k = 0; k < NP; k++) {
                ADD_PRODUCT(q[k], WEIGHT(part, i), G[((part * SR + i) * 2 + 1) * NP + k]);
                ADD_PRODUCT(p[k], -WEIGHT(part, i), G[(part * SR + i) * 2 * NP + k]);
            }
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_method_sprk = {
    .family = "Runge-Kutta",
    .paper = "given in the model file; Ma, Ding & Ding (2012) and Ma & Ding (2015), stochastic symplectic "
             "(partitioned) Runge-Kutta methods; Holm & Tyranowski (2018), doi 10.1007/s10543-018-0720-2",
    .source = "sprk.c",
    .face_separable = LGV_FACE_K1 | LGV_FACE_K2,
    .face_general = LGV_FACE_K1 | LGV_FACE_K2,
    .patterned = true,
    .strong_order = 1,
    .strong_noncommuting = 0.5,
    .strong_additive = 1,
    .weak_order = 1,
    .callbacks = &KERNEL_NAME,
    .step = &KERNEL_STEP,
};
#endif
