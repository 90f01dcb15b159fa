/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What methods with stages share: implicit stages by Newton's method on lanes.
 * Include-free. */

/* Near an equilibrium the increments themselves are round-off of K's derivatives, and no correction is small against
 * them. Lanes that still move after NEWTON_PATIENT iterations are done when their corrections (a null pointer: none)
 * are within round-off of what the derivatives consist of, |q| + |K''| |(q,p)|. */
ACROSS __attribute__((cold)) void settle(UNKEPT struct ctx *c, double t, UNKEPT const vec *q, UNKEPT const vec *p,
                                         double a, UNKEPT const vec *w, UNKEPT const vec *eq, UNKEPT const vec *ep,
                                         UNKEPT ivec *settled);
#if LGV_QUARTER != 1
void settle(struct ctx *c, double t, const vec *q, const vec *p, double a, const vec *w, const vec *eq, const vec *ep,
            ivec *settled) {
    vec *top = c->top, dq = vec_set(0), dp = vec_set(0), sq = vec_set(0), sp = vec_set(0);
    ARRAY(Kqq, SECOND);
    ARRAY(Kqp, SECOND);
    ARRAY(Kpp, SECOND);
    model_K2(c, t, q, p, a, w, 0, 0, Kqq, Kqp, Kpp);
    for (long i = 0; i < NP; i++) {
        if (eq) dq += vec_abs(eq[i]);
        if (ep) dp += vec_abs(ep[i]);
        sq += vec_abs(q[i]);
        sp += vec_abs(p[i]);
#if MODEL_PATTERN
        for (long e = pattern_row[i]; e < pattern_row[i + 1]; e++) {
            const long j = pattern_col[e];
            sq += vec_abs(Kqp[pattern_mirror[e]] * q[j]) + vec_abs(Kpp[e] * p[j]);
            sp += vec_abs(Kqq[e] * q[j]) + vec_abs(Kqp[e] * p[j]);
        }
#else
        for (long j = 0; j < NP; j++) {
            sq += vec_abs(Kqp[j * NP + i] * q[j]) + vec_abs(Kpp[i * NP + j] * p[j]);
            sp += vec_abs(Kqq[i * NP + j] * q[j]) + vec_abs(Kqp[i * NP + j] * p[j]);
        }
#endif
    }
    *settled = (ivec)(dq <= 2e-14 * sq) & (ivec)(dp <= 2e-14 * sp);
    c->top = top;
}
#endif

/* One implicit stage in q or in p: unknown x, the other half y known. */
struct half_stage {
    double t, a;
    const vec *from, *y, *w;
    vec *K, *Kqp, *A, *scratch;
};

#if MODEL_PATTERN
#define STAGE_MATRIX PATTERN_BLOCKS(1)
#define STAGE_SCRATCH PATTERN_SCRATCH(1)

/* e = (1 + factor K_qp)^-1 e, or with K_pq. */
OUTLINE ivec pattern_stage(double factor, int across, const vec *Kqp, vec *A, vec *e, vec *scratch) {
    pattern_clear(1, A);
    pattern_add_one(1, 0, 0, 1.0, A);
    pattern_add(1, 0, 0, factor, Kqp, across, A);
    return pattern_solve(1, A, e, scratch);
}
#else
#define STAGE_MATRIX (NP * NP)
#define STAGE_SCRATCH SYSTEM_SCRATCH(NP)
#endif

/* x = p - K_q(y, x) */
INLINE ivec kick_correct(struct ctx *c, struct newton *s, void *of) {
    struct half_stage *h = of;
    model_K2(c, h->t, h->y, s->x, h->a, h->w, h->K, 0, 0, h->Kqp, 0);
    for (long i = 0; i < NP; i++) s->e[i] = s->x[i] - h->from[i] + h->K[i];
#if MODEL_PATTERN
    return pattern_stage(1.0, 0, h->Kqp, h->A, s->e, h->scratch);
#else
    for (long i = 0; i < NP; i++)
        for (long j = 0; j < NP; j++) h->A[i * NP + j] = h->Kqp[i * NP + j] + (i == j ? 1.0 : 0.0);
    return system_solve(SYSTEM_ANY, NP, h->A, s->e, h->scratch);
#endif
}

/* x = q + K_p(x, y) */
INLINE ivec drift_correct(struct ctx *c, struct newton *s, void *of) {
    struct half_stage *h = of;
    model_K2(c, h->t, s->x, h->y, h->a, h->w, 0, h->K, 0, h->Kqp, 0);
    for (long i = 0; i < NP; i++) s->e[i] = s->x[i] - h->from[i] - h->K[i];
#if MODEL_PATTERN
    return pattern_stage(-1.0, 1, h->Kqp, h->A, s->e, h->scratch);
#else
    for (long i = 0; i < NP; i++)
        for (long j = 0; j < NP; j++) h->A[i * NP + j] = (i == j ? 1.0 : 0.0) - h->Kqp[j * NP + i];
    return system_solve(SYSTEM_ANY, NP, h->A, s->e, h->scratch);
#endif
}

INLINE ivec stage_moving(struct ctx *c, struct newton *s, void *of) {
    (void)c, (void)of;
    return still_moving(s->n, s->e, s->x, s->x, NEWTON_RATE);
}

INLINE ivec kick_settled(struct ctx *c, struct newton *s, void *of) {
    struct half_stage *h = of;
    ivec settled;
    settle(c, h->t, h->y, s->x, h->a, h->w, 0, s->e, &settled);
    return settled;
}

INLINE ivec drift_settled(struct ctx *c, struct newton *s, void *of) {
    struct half_stage *h = of;
    ivec settled;
    settle(c, h->t, s->x, h->y, h->a, h->w, s->e, 0, &settled);
    return settled;
}

INLINE void implicit_stage(struct ctx *c, double t, const vec *from, const vec *y, double a, const vec *w, vec *x,
                           ivec live, newton_correct *correct, newton_settled *settled) {
    ARRAY(K, NP);
    ARRAY(Kqp, SECOND);
    ARRAY(A, STAGE_MATRIX);
    ARRAY(r, NP);
    ARRAY(scratch, STAGE_SCRATCH);
    struct half_stage stage = {t, a, from, y, w, K, Kqp, A, scratch};
    struct newton s = {.n = NP, .x = x, .e = r, .live = live};
    newton(c, &s, MODEL_LINEAR ? 1 : NEWTON_MAX, correct, stage_moving, settled, &stage);
}

/* P = p - K_q(q, P; a, w): on entry P is the guess.  Returns nothing; lanes without a solution are marked. */
INLINE void implicit_kick(struct ctx *c, double t, const vec *q, const vec *p, double a, const vec *w, vec *P) {
    implicit_stage(c, t, p, q, a, w, P, (ivec)(p[0] == p[0]), kick_correct, kick_settled);
}

/* Q = q + K_p(Q, p; a, w): on entry Q is the guess. */
INLINE void implicit_drift(struct ctx *c, double t, const vec *q, const vec *p, double a, const vec *w, vec *Q) {
    implicit_stage(c, t, q, p, a, w, Q, (ivec)(p[0] == p[0]), drift_correct, drift_settled);
}

/* Solves (1 - theta K_pq) e - theta K_pp f = r,  theta K_qq e + (1 + theta K_qp) f = s: Newton's correction for
 * implicit steps x = theta-part of the field.  (r, s) in x [2 NP] become (e, f).  For separable models f = s - theta
 * K_qq e leaves half the size, (1 + theta^2 K_pp K_qq) e = r + theta K_pp s. */
INLINE ivec solve_partitioned(struct ctx *c, double theta, const vec *Kqq, const vec *Kqp, const vec *Kpp, vec *x) {
#if MODEL_PATTERN
    ARRAY(A, PATTERN_BLOCKS(2));
    ARRAY(scratch, PATTERN_SCRATCH(2));
    pattern_clear(2, A);
    for (long i = 0; i < 2; i++) pattern_add_one(2, i, i, 1.0, A);
    pattern_add_flow(2, 0, 0, theta, theta, Kqq, Kqp, Kpp, A);
    return pattern_solve(2, A, x, scratch);
#else
    vec *f = x + NP;
    if (MODEL_SEPARABLE) {
        ARRAY(A, NP * NP);
        ARRAY(scratch, SYSTEM_SCRATCH(NP));
        for (long i = 0; i < NP; i++) {
            for (long j = 0; j < NP; j++) ADD_PRODUCT(x[i], theta * Kpp[i * NP + j], f[j]);
            for (long j = 0; j < NP; j++) {
                vec a = vec_set(i == j ? 1.0 : 0.0);
                for (long k = 0; k < NP; k++) ADD_PRODUCT(a, theta * theta * Kpp[i * NP + k], Kqq[k * NP + j]);
                A[i * NP + j] = a;
            }
        }
        ivec singular = system_solve(SYSTEM_ANY, NP, A, x, scratch);
        for (long i = 0; i < NP; i++)
            for (long j = 0; j < NP; j++) ADD_PRODUCT(f[i], -theta * Kqq[i * NP + j], x[j]);
        return singular;
    }
    const long n = 2 * NP;
    ARRAY(A, 4 * NP * NP);
    ARRAY(scratch, SYSTEM_SCRATCH(2 * NP));
    for (long i = 0; i < NP; i++)
        for (long j = 0; j < NP; j++) {
            double one = i == j ? 1.0 : 0.0;
            A[i * n + j] = FUSED(-theta, Kqp[j * NP + i], one);
            A[i * n + NP + j] = -theta * Kpp[i * NP + j];
            A[(NP + i) * n + j] = theta * Kqq[i * NP + j];
            A[(NP + i) * n + NP + j] = FUSED(theta, Kqp[i * NP + j], one);
        }
    return system_solve(SYSTEM_ANY, n, A, x, scratch);
#endif
}
