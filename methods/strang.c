/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Magnus step for any noise h(q,p) (kernel/text/brackets.h) in Strang's form: with B = sum_k w_k B_k, the brackets
 * of H and the noises with their weights, half a step of B at t, a step of order 4 or more of dt H + sum_m dW_m h_m,
 * and the adjoint of the first half at t + dt:
 *
 *     p' = p - B_q(q, p')/2,  q' = q + B_p(q, p')/2;     dt H + sum_m dW_m h_m;     q' = q + B_p(q', p)/2,
 *                                                                                  p' = p - B_q(q', p)/2
 *
 * B is of size dt^(3/2) and of mean dt^2, so that what the splitting leaves is of size dt^(5/2) and of mean dt^3:
 * strong order 3/2 and weak order 2 are kept.  The halves are symplectic Euler steps, solved by fixed points: they need
 * third derivatives and no matrix, and the step between them has the form that it has by itself. */
#include "kernel/text/method_file.h"
#include "kernel/text/program.h"
#undef METHOD_DZ
#define METHOD_DZ 1

#ifdef BRACKETS
#define STRANG_PACE 0.02 /* as CURVE_PACE in galerkin.c */

struct half {
    double t;
    const vec *q, *p, *w; /* where the half begins; its weights */
    vec *Bq, *Bp;
    int momenta; /* are the unknowns? */
};

INLINE ivec half_correct(struct ctx *c, struct newton *s, void *of) {
    struct half *h = of;
    if (h->momenta)
        model_brackets(c, h->t, h->q, s->x, h->w, h->Bq, h->Bp);
    else
        model_brackets(c, h->t, s->x, h->p, h->w, h->Bq, h->Bp);
    for (long i = 0; i < NP; i++) s->e[i] = h->momenta ? s->x[i] - h->p[i] + h->Bq[i] : s->x[i] - h->q[i] - h->Bp[i];
    return (ivec){0};
}

INLINE ivec half_moving(struct ctx *c, struct newton *s, void *of) {
    vec e = vec_set(0), x = vec_set(0), rate;
    (void)c, (void)of;
    for (long i = 0; i < NP; i++) {
        ADD_PRODUCT(e, s->e[i], s->e[i]);
        ADD_PRODUCT(x, s->x[i], s->x[i]);
    }
    return still_falling(s, e, x, vec_set(0), vec_set(STRANG_PACE), &rate);
}

/* Half a step of the brackets: by momenta, or its adjoint. */
INLINE void strang_half(struct ctx *c, double t, int momenta, const vec *w, vec *q, vec *p) {
    ARRAY(x, NP);
    ARRAY(e, NP);
    ARRAY(Bq, NP);
    ARRAY(Bp, NP);
    for (long i = 0; i < NP; i++) x[i] = momenta ? p[i] : q[i];
    struct half h = {t, q, p, w, Bq, Bp, momenta};
    struct newton s = {.n = NP, .x = x, .e = e, .live = (ivec)(p[0] == p[0])};
    newton(c, &s, NEWTON_MAX, half_correct, half_moving, 0, &h);
    if (momenta)
        model_brackets(c, t, q, x, w, Bq, Bp);
    else
        model_brackets(c, t, x, p, w, Bq, Bp);
    for (long i = 0; i < NP; i++) {
        ivec alive = (ivec)(p[i] == p[i]);
        q[i] = vec_select(alive, momenta ? q[i] + Bp[i] : x[i], q[i]);
        p[i] = vec_select(alive, momenta ? x[i] : p[i] - Bq[i], p[i]);
    }
}
#endif

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    vec *top = c->top;
#ifdef BRACKETS
    ARRAY(w, BRACKETS);
    bracket_weights(c, dW, dZ, 0, w);
    for (long k = 0; k < BRACKETS; k++) w[k] = 0.5 * w[k];
    vec *kept = c->top;
    strang_half(c, time_at(c, 0), 1, w, q, p);
    c->top = kept;
    if (METHOD_CARRY > 0) substep_begin(c, 0, q, p, carry);
    substep_step(c, 0, q, p, dW, dZ, carry);
    c->top = kept;
    strang_half(c, time_at(c, 1), 0, w, q, p);
#else
    substep_step(c, 0, q, p, dW, dZ, carry);
#endif
    c->top = top;
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_method_strang = {
    .source = "strang.c",
    .callbacks = &KERNEL_NAME, /* nobody asks for it: brackets need formulas */
};
#endif
