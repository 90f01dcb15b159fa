/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What methods with stages share: noise weights, and implicit stages by Newton's method on lanes.
 * Include-free. */

/* w = beta dW + gamma J, J = dZ / dt; methods without dZ leave it out. */
INLINE void noise_weights(const struct ctx *c, int dz, double beta, double gamma, const vec *dW, const vec *dZ,
                          vec *w) {
    for (long m = 0; m < NM; m++) {
        w[m] = beta * dW[m];
        if (dz) ADD_PRODUCT(w[m], gamma / c->dt, dZ[m]);
    }
}

/* Near an equilibrium the increments themselves are round-off of K's derivatives, and no correction is small against
 * them. Lanes that still move after NEWTON_PATIENT iterations are done when their corrections (a null pointer: none)
 * are within round-off of what the derivatives consist of, |q| + |K''| |(q,p)|. */
#define NEWTON_PATIENT 6
static __attribute__((noinline, cold, unused)) void settle(struct ctx *c, double t, const vec *q, const vec *p,
                                                           double a, const vec *w, const vec *eq, const vec *ep,
                                                           ivec *live) {
    vec *top = c->top, dq = vec_set(0), dp = vec_set(0), sq = vec_set(0), sp = vec_set(0);
    ARRAY(Kqq, NQ * NQ);
    ARRAY(Kqp, NQ * NQ);
    ARRAY(Kpp, NQ * NQ);
    model_K2(c, t, q, p, a, w, 0, 0, Kqq, Kqp, Kpp);
    for (long i = 0; i < NQ; i++) {
        if (eq) dq += vec_abs(eq[i]);
        if (ep) dp += vec_abs(ep[i]);
        sq += vec_abs(q[i]);
        sp += vec_abs(p[i]);
        for (long j = 0; j < NQ; j++) {
            sq += vec_abs(Kqp[j * NQ + i] * q[j]) + vec_abs(Kpp[i * NQ + j] * p[j]);
            sp += vec_abs(Kqq[i * NQ + j] * q[j]) + vec_abs(Kqp[i * NQ + j] * p[j]);
        }
    }
    *live &= ~((ivec)(dq <= 2e-14 * sq) & (ivec)(dp <= 2e-14 * sp));
    c->top = top;
}

/* P = p - K_q(q, P; a, w): on entry P is the guess.  Returns nothing; lanes without a solution are marked. */
INLINE void implicit_kick(struct ctx *c, double t, const vec *q, const vec *p, double a, const vec *w, vec *P) {
    ARRAY(Kq, NQ);
    ARRAY(Kqp, NQ * NQ);
    ARRAY(A, NQ * NQ);
    ARRAY(r, NQ);
    ARRAY(scratch, NQ * NQ + NQ);
    ivec live = (ivec)(p[0] == p[0]), singular = {0}, now;
    int k = 0;
    do {
        model_K2(c, t, q, P, a, w, Kq, 0, 0, Kqp, 0);
        for (long i = 0; i < NQ; i++) {
            r[i] = P[i] - p[i] + Kq[i];
            for (long j = 0; j < NQ; j++) A[i * NQ + j] = Kqp[i * NQ + j] + (i == j ? 1.0 : 0.0);
        }
        solve_dense((int)NQ, A, r, scratch, &now);
        singular |= now & live;
        for (long i = 0; i < NQ; i++) P[i] = vec_select(live, P[i] - r[i], P[i]);
        live &= still_moving(NQ, r, P, P, NEWTON_RATE) & ~singular;
        c->iterations++;
        if (!MODEL_LINEAR && k >= NEWTON_PATIENT && vec_any(live)) settle(c, t, q, P, a, w, 0, r, &live);
    } while (!MODEL_LINEAR && ++k < NEWTON_MAX && vec_any(live));
    if (!MODEL_LINEAR && vec_any(live)) lanes_failed(c, &live, NQ, LGV_FAIL_NEWTON);
    if (vec_any(singular)) lanes_failed(c, &singular, NQ, LGV_FAIL_SINGULAR);
}

/* Q = q + K_p(Q, p; a, w): on entry Q is the guess. */
INLINE void implicit_drift(struct ctx *c, double t, const vec *q, const vec *p, double a, const vec *w, vec *Q) {
    ARRAY(Kp, NQ);
    ARRAY(Kqp, NQ * NQ);
    ARRAY(A, NQ * NQ);
    ARRAY(r, NQ);
    ARRAY(scratch, NQ * NQ + NQ);
    ivec live = (ivec)(p[0] == p[0]), singular = {0}, now;
    int k = 0;
    do {
        model_K2(c, t, Q, p, a, w, 0, Kp, 0, Kqp, 0);
        for (long i = 0; i < NQ; i++) {
            r[i] = Q[i] - q[i] - Kp[i];
            for (long j = 0; j < NQ; j++) A[i * NQ + j] = (i == j ? 1.0 : 0.0) - Kqp[j * NQ + i];
        }
        solve_dense((int)NQ, A, r, scratch, &now);
        singular |= now & live;
        for (long i = 0; i < NQ; i++) Q[i] = vec_select(live, Q[i] - r[i], Q[i]);
        live &= still_moving(NQ, r, Q, Q, NEWTON_RATE) & ~singular;
        c->iterations++;
        if (!MODEL_LINEAR && k >= NEWTON_PATIENT && vec_any(live)) settle(c, t, Q, p, a, w, r, 0, &live);
    } while (!MODEL_LINEAR && ++k < NEWTON_MAX && vec_any(live));
    if (!MODEL_LINEAR && vec_any(live)) lanes_failed(c, &live, NQ, LGV_FAIL_NEWTON);
    if (vec_any(singular)) lanes_failed(c, &singular, NQ, LGV_FAIL_SINGULAR);
}

/* Solves (1 - theta K_pq) e - theta K_pp f = r,  theta K_qq e + (1 + theta K_qp) f = s: Newton's correction for
 * implicit steps x = theta-part of the field.  (r, s) in x [2 NQ] become (e, f).  For separable models f = s - theta
 * K_qq e leaves half the size, (1 + theta^2 K_pp K_qq) e = r + theta K_pp s. */
INLINE void solve_partitioned(struct ctx *c, double theta, const vec *Kqq, const vec *Kqp, const vec *Kpp, vec *x,
                              ivec *singular) {
    vec *f = x + NQ;
    if (MODEL_SEPARABLE) {
        ARRAY(A, NQ * NQ);
        ARRAY(scratch, NQ * NQ + NQ);
        for (long i = 0; i < NQ; i++) {
            for (long j = 0; j < NQ; j++) ADD_PRODUCT(x[i], theta * Kpp[i * NQ + j], f[j]);
            for (long j = 0; j < NQ; j++) {
                vec a = vec_set(i == j ? 1.0 : 0.0);
                for (long k = 0; k < NQ; k++) ADD_PRODUCT(a, theta * theta * Kpp[i * NQ + k], Kqq[k * NQ + j]);
                A[i * NQ + j] = a;
            }
        }
        solve_dense((int)NQ, A, x, scratch, singular);
        for (long i = 0; i < NQ; i++)
            for (long j = 0; j < NQ; j++) ADD_PRODUCT(f[i], -theta * Kqq[i * NQ + j], x[j]);
        return;
    }
    const long n = 2 * NQ;
    ARRAY(A, 4 * NQ * NQ);
    ARRAY(scratch, 4 * NQ * NQ + 2 * NQ);
    for (long i = 0; i < NQ; i++)
        for (long j = 0; j < NQ; j++) {
            double one = i == j ? 1.0 : 0.0;
            A[i * n + j] = FUSED(-theta, Kqp[j * NQ + i], one);
            A[i * n + NQ + j] = -theta * Kpp[i * NQ + j];
            A[(NQ + i) * n + j] = theta * Kqq[i * NQ + j];
            A[(NQ + i) * n + NQ + j] = FUSED(theta, Kqp[i * NQ + j], one);
        }
    solve_dense((int)n, A, x, scratch, singular);
}
