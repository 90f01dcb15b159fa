/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two implicit stages that partitioned methods share, solved by Newton's method on lanes.  Include-free. */

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
    } while (!MODEL_LINEAR && ++k < NEWTON_MAX && vec_any(live));
    if (!MODEL_LINEAR && vec_any(live)) lanes_failed(c, &live, NQ, LGV_FAIL_NEWTON);
    if (vec_any(singular)) lanes_failed(c, &singular, NQ, LGV_FAIL_SINGULAR);
}

#define STAGE_WORK (2 * NQ + 4 * NQ * NQ)
