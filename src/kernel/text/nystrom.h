/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Nystroem form of Galerkin methods on separable models: positions at the nodes are the only unknowns.
 *
 * Let the nodes of both quadrature rules be c_k, each one once.  With N_k = -K_q(Q_k; alpha_k dt, beta_k dW +
 * gamma_k J) the equations of galerkin.c become
 *
 *     Q_i = q + c_i K_p(p + sum_k R_ik N_k; dt, dW),     q' likewise with c = 1,     p' = p + sum_k N_k
 *
 * where R comes from the degree and the nodes alone (rules.c).  That holds when K_pp is constant: the P_i are then
 * values of one polynomial of degree s - 1; and for s = 1 and any K_p(p): then all P_i are equal, R_ik = 1 - c_k.
 *
 * Nodes stand in the order in which they can be computed: NYS_PRE explicit ones, NYS_IMP that need each other, the
 * rest explicit again.  When nodes 0 and 1 are both there (NYS_CARRY), the force at 1 serves the next step at 0,
 * unless it is faster to compute than to keep.
 *
 * The unknowns of the implicit nodes are x_i = (Q_i - q) / c_i, which are all equal for s = 1 (NYS_STRAIGHT).
 *
 * The including file defines NYS_STRAIGHT, NYS_N, NYS_PRE, NYS_IMP, NYS_END (the node at 1, or -1), NYS_CARRY,
 * METHOD_DZ and NYS(k), the numbers c alpha beta gamma [n], R [n + 1][n], whose last row is that of q'.  With NYS_ONE,
 * one implicit node, METHOD_DZ and the numbers are enough.  Include-free. */

#ifdef NYS_ONE
#define NYS_STRAIGHT 1
#define NYS_N 1L
#define NYS_PRE 0L
#define NYS_IMP 1L
#define NYS_END (-1L)
#define NYS_CARRY 0
#endif

#define NYS_KEEP (NYS_CARRY && !(MODEL_LINEAR && NP <= 2))
#define NYS_C(k) NYS(k)
#define NYS_ALPHA(k) NYS(NYS_N + (k))
#define NYS_BETA(k) NYS(2 * NYS_N + (k))
#define NYS_GAMMA(k) NYS(3 * NYS_N + (k))
#define NYS_R(i, k) NYS((4 + (i)) * NYS_N + (k))
#define NYS_SETS (NYS_STRAIGHT && NYS_IMP > 1 ? 1 : NYS_IMP) /* of NP unknowns */
#define NYS_SET(i) (NYS_SETS == NYS_IMP ? (i) : 0)
#define NYS_UNKNOWNS (NYS_SETS * NP)

/* The weights of the noise and of the correction at node k. */
INLINE void nystrom_weights(struct ctx *c, long k, const vec *dW, const vec *dZ, vec *w) {
    noise_weights(c, METHOD_DZ, NYS_BETA(k), NYS_GAMMA(k), dW, dZ, w);
    correction_weights(c, NYS_ALPHA(k) * c->dt, dW, dZ, w);
}

/* P = p + sum of R_ik N_k over the nodes known so far. */
INLINE void nystrom_momentum(struct ctx *c, long i, long known, const vec *p, const vec *N, vec *P) {
    (void)c;
    for (long j = 0; j < NP; j++) {
        P[j] = p[j];
        for (long k = 0; k < known; k++)
            if (NYS_R(i, k) != 0) ADD_PRODUCT(P[j], NYS_R(i, k), N[k * NP + j]);
    }
}

/* The direction (Q_i - q) / c_i of node i from the forces known: K_p, or what the implicit nodes have found for s = 1.
 * */
INLINE void nystrom_direction(struct ctx *c, long i, const vec *q, const vec *p, const vec *dW, const vec *N, vec *x) {
    ARRAY(P, NP);
    if (NYS_STRAIGHT && NYS_IMP > 0 && i >= NYS_PRE) return;
    nystrom_momentum(c, i, i, p, N, P);
    model_K1(c, time_at(c, 0.5), q, P, c->dt, dW, 0, x);
}

/* A node that needs earlier ones only. */
INLINE void nystrom_node(struct ctx *c, long k, const vec *q, const vec *p, const vec *dW, const vec *dZ, vec *N,
                         vec *x, vec *end, vec *carry) {
    double at = NYS_C(k), t = time_at(c, at), a = NYS_ALPHA(k) * c->dt;
    ARRAY(Q, NP);
    ARRAY(K, NP);
    ARRAY(w, NW);
    struct force F = CARRIED_FORCE(carry);
    nystrom_weights(c, k, dW, dZ, w);
    for (long i = 0; i < NP; i++) Q[i] = q[i];
    if (at != 0) {
        nystrom_direction(c, k, q, p, dW, N, x);
        for (long i = 0; i < NP; i++) ADD_PRODUCT(Q[i], at, x[i]);
    }
    if (k == NYS_END)
        for (long i = 0; i < NP; i++) end[i] = Q[i];
    if (NYS_KEEP && (at == 0 || k == NYS_END)) {
        if (k == NYS_END) model_force(c, t, Q, p, &F);
        for (long i = 0; i < NP; i++) N[k * NP + i] = vec_set(0);
        model_kick(c, N + k * NP, &F, a, w);
    } else {
        model_K1(c, t, Q, p, a, w, K, 0);
        for (long i = 0; i < NP; i++) N[k * NP + i] = -K[i];
    }
}

/* The rows of set i in the Newton system: e = x_i - K_p(P_i), A_ik = delta_ik + c_k R_ik K_pp K_qq,k. */
INLINE void nystrom_rows(struct ctx *c, long i, const vec *q, const vec *p, const vec *dW, const vec *N, const vec *x,
                         const vec *Kqq, vec *Kpp, vec *e, vec *A) {
    long n = NYS_UNKNOWNS, node = NYS_PRE + i;
    ARRAY(P, NP);
    ARRAY(Kp, NP);
    nystrom_momentum(c, node, NYS_PRE + NYS_IMP, p, N, P);
    model_K2(c, time_at(c, 0.5), q, P, c->dt, dW, 0, Kp, 0, 0, Kpp);
    for (long j = 0; j < NP; j++) {
        vec *row = A + (i * NP + j) * n;
        e[i * NP + j] = x[i * NP + j] - Kp[j];
        for (long l = 0; l < n; l++) row[l] = vec_set(l == i * NP + j ? 1.0 : 0.0);
        for (long k = 0; k < NYS_IMP; k++) {
            double factor = NYS_C(NYS_PRE + k) * NYS_R(node, NYS_PRE + k);
            for (long l = 0; factor != 0 && l < NP; l++)
                for (long h = 0; h < NP; h++)
                    ADD_PRODUCT(row[NYS_SET(k) * NP + l], factor * Kpp[j * NP + h], Kqq[(k * NP + h) * NP + l]);
        }
    }
}

struct nodes {
    const vec *q, *p, *dW, *dZ;
    vec *N, *found, *A, *scratch, *Kqq, *Kpp, *Q, *K, *w;
};

INLINE ivec nodes_correct(struct ctx *c, struct newton *s, void *of) {
    struct nodes *h = of;
    vec *top = c->top;
    for (long i = 0; i < NYS_IMP; i++) {
        long k = NYS_PRE + i;
        nystrom_weights(c, k, h->dW, h->dZ, h->w);
        for (long j = 0; j < NP; j++) h->Q[j] = FUSED(NYS_C(k), s->x[NYS_SET(i) * NP + j], h->q[j]);
        model_K2(c, time_at(c, NYS_C(k)), h->Q, h->p, NYS_ALPHA(k) * c->dt, h->w, h->K, 0, h->Kqq + i * NP * NP, 0, 0);
        for (long j = 0; j < NP; j++) h->N[k * NP + j] = -h->K[j];
    }
    for (long i = 0; i < NYS_SETS; i++) {
        nystrom_rows(c, i, h->q, h->p, h->dW, h->N, s->x, h->Kqq, h->Kpp, s->e, h->A);
        c->top = top;
    }
    return system_solve(SYSTEM_NEAR_ONE, NYS_UNKNOWNS, h->A, s->e, h->scratch);
}

/* The forces follow the last correction by their linear term, which is exact to round-off by then, and rest with their
 * lane. */
INLINE ivec nodes_moving(struct ctx *c, struct newton *s, void *of) {
    struct nodes *h = of;
    ivec moving = {0};
    (void)c;
    for (long i = 0; i < NYS_SETS; i++) moving |= still_moving(NP, s->e + i * NP, s->x + i * NP, h->q, NEWTON_RATE);
    for (long i = 0; i < NYS_IMP; i++)
        for (long j = 0; j < NP; j++) {
            vec next = h->N[(NYS_PRE + i) * NP + j], *found = h->found + i * NP + j;
            for (long l = 0; l < NP; l++)
                ADD_PRODUCT(next, NYS_C(NYS_PRE + i) * h->Kqq[(i * NP + j) * NP + l], s->e[NYS_SET(i) * NP + l]);
            *found = MODEL_LINEAR || s->round == 0 ? next : vec_select(s->live, next, *found);
        }
    return moving;
}

INLINE ivec nodes_settled(struct ctx *c, struct newton *s, void *of) {
    struct nodes *h = of;
    ivec all = ~(ivec){0}, settled;
    for (long i = 0; i < NYS_SETS; i++) {
        settle(c, time_at(c, 0.5), h->q, h->p, c->dt, h->dW, s->e + i * NP, 0, &settled);
        all &= settled;
    }
    return all;
}

/* Nodes that need each other: Newton's method for x. */
INLINE void nystrom_implicit(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *dZ, ivec live, vec *N,
                             vec *x) {
    ARRAY(found, NYS_IMP * NP);
    ARRAY(e, NYS_UNKNOWNS);
    ARRAY(A, NYS_UNKNOWNS * NYS_UNKNOWNS);
    ARRAY(scratch, SYSTEM_SCRATCH(NYS_UNKNOWNS));
    ARRAY(Kqq, NYS_IMP * NP * NP);
    ARRAY(Kpp, NP * NP);
    ARRAY(Q, NP);
    ARRAY(K, NP);
    ARRAY(w, NW);
    struct nodes nodes = {q, p, dW, dZ, N, found, A, scratch, Kqq, Kpp, Q, K, w};
    struct newton s = {.n = NYS_UNKNOWNS, .x = x, .e = e, .live = live};
    const int rounds = MODEL_LINEAR ? 1 : NEWTON_MAX;
    for (long i = 0; i < NYS_SETS; i++) {
        if (!MODEL_LINEAR) {
            nystrom_momentum(c, NYS_PRE + i, NYS_PRE, p, N, Q);
            model_K1(c, time_at(c, 0.5), q, Q, c->dt, dW, 0, K);
        }
        for (long j = 0; j < NP; j++) x[i * NP + j] = MODEL_LINEAR ? vec_set(0) : K[j];
    }
    newton_iterate(c, &s, rounds, nodes_correct, nodes_moving, nodes_settled, &nodes);
    newton_end(c, &s, rounds);
    for (long i = 0; i < NYS_IMP * NP; i++) N[NYS_PRE * NP + i] = found[i];
}

#if MODEL_LARGE
#include "kernel/text/nystrom_large.h"
#endif

INLINE void nystrom_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    struct force F = CARRIED_FORCE(carry);
    if (NYS_KEEP) model_force(c, time_at(c, 0), q, p, &F);
}

INLINE void nystrom_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    ARRAY(N, NYS_N * NP);
    ARRAY(end, NP);
    ARRAY(x, NYS_UNKNOWNS + NP);
    ARRAY(whole, NW > NM ? NW : 0); /* of the step, with those of the correction */
    for (long m = 0; NW > NM && m < NM; m++) whole[m] = dW[m];
    correction_weights(c, c->dt, dW, dZ, whole);
    if (NW > NM) dW = whole;
    vec *top = c->top;
    for (long k = 0; k < NYS_N; k++) {
        if (k == NYS_PRE && NYS_IMP > 0) {
#if MODEL_LARGE
            nystrom_large(c, q, p, dW, dZ, N, x);
#else
            nystrom_implicit(c, q, p, dW, dZ, (ivec)(p[0] == p[0]), N, x);
#endif
            k += NYS_IMP - 1;
        } else {
            nystrom_node(c, k, q, p, dW, dZ, N, x, end, carry);
        }
        c->top = top;
    }
    if (NYS_END < 0) {
        nystrom_direction(c, NYS_N, q, p, dW, N, x);
        for (long i = 0; i < NP; i++) end[i] = q[i] + x[i];
    }
    for (long i = 0; i < NP; i++) {
        /* a lane that failed behind the end node has NaN in q and not yet here */
        q[i] =
            NYS_IMP > 0 && NYS_END >= 0 && NYS_END < NYS_PRE ? vec_select((ivec)(q[i] == q[i]), end[i], q[i]) : end[i];
        for (long k = 0; k < NYS_N; k++) p[i] += N[k * NP + i];
    }
}
