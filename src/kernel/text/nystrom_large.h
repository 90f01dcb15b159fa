/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The implicit nodes of nystrom.h for many degrees of freedom, x = f(x) with f_i(x) = K_p(p + sum_k R_ik N_k(x)).
 *
 * First x <- f(x): a force a time, and the error shrinks by a factor of about c_k R_ik dt^2 omega^2 (dt^2 omega^2 / 4
 * for the midpoint rule).  Where that is too slow, Newton's method from the first guess, its matrix being sparse along
 * the second derivatives (sparse.h).  Every lane takes its own way and rests when it is there, so its bits do not
 * depend on the others.
 *
 * Both stop by one rule.  A correction e after one of size |e0| leaves an error of about |e|^2 / |e0|, whatever the
 * factors of the matrix are worth: a lane is done when that is round-off of x, or e is round-off of q.
 * Include-free. */

#define LARGE_ROUND 4e-16
#define LARGE_FLOOR 1e-13 /* corrections below this part of the state that no longer fall are round-off of forces */
#define LARGE_SLOW 0.125  /* beyond, Newton's method is cheaper: it needs three or four iterations */

/* The pace of an iteration on lanes. */
struct pace {
    ivec live;
    vec last; /* size of the last correction, 0 before the first */
};

INLINE vec square_sum(long n, const vec *x) {
    vec sum = vec_set(0);
    for (long i = 0; i < n; i++) ADD_PRODUCT(sum, x[i], x[i]);
    return sum;
}

/* Takes the lanes that are done from s->live; e, x, base: squares of the sizes of correction, unknowns, positions.
 * Returns how much smaller the correction is than the one before it, 0 when there was none. */
INLINE vec pace_check(struct pace *s, vec e, vec x, vec base) {
    e = vec_sqrt(e);
    vec size = vec_sqrt(x), whole = vec_sqrt(base) + size;
    ivec first = (ivec)(s->last == 0.0);
    vec rate = vec_select(first, vec_set(1), e / s->last);
    ivec done = (ivec)(rate * e <= LARGE_ROUND * FUSED(rate, whole, size)) | (ivec)(e == 0.0);
    ivec stalled = ~first & (ivec)(rate >= 0.5) & (ivec)(e <= LARGE_FLOOR * whole);
    s->live &= ~(done | stalled);
    s->last = e;
    return vec_select(first, vec_set(0), rate);
}

/* The guess: K_p with the forces of the nodes before. */
INLINE void large_guess(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *N, vec *x) {
    ARRAY(P, NQ);
    for (long i = 0; i < NYS_SETS; i++) {
        nystrom_momentum(c, NYS_PRE + i, NYS_PRE, p, N, P);
        model_K1(c, time_at(c, 0.5), q, P, c->dt, dW, 0, x + i * NQ);
    }
}

/* x <- x + step (f(x) - x) as long as lanes of s are live and not slow; the step of those that rest is 0.  Where K_qq
 * and K_pp are positive the derivative of f has eigenvalues from -rate to 0, and a step of 1 / (1 + rate/2) puts those
 * of the iteration around 0: half as large.  (Several sets have complex ones; their step is 1.) */
INLINE void large_fixed(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *dZ, vec base, vec *N,
                        vec *x, struct pace *s, ivec *slow) {
    ARRAY(Q, NQ);
    ARRAY(K, NQ);
    ARRAY(w, NM);
    vec step = vec_set(1);
    do {
        vec moved = vec_set(0), size = vec_set(0), part = vec_select(s->live, step, vec_set(0));
        ivec before = s->live, first = (ivec)(s->last == 0.0);
        for (long i = 0; i < NYS_IMP; i++) {
            long k = NYS_PRE + i;
            noise_weights(c, METHOD_DZ, NYS_BETA(k), NYS_GAMMA(k), dW, dZ, w);
            for (long j = 0; j < NQ; j++) Q[j] = FUSED(NYS_C(k), x[NYS_SET(i) * NQ + j], q[j]);
            model_K1(c, time_at(c, NYS_C(k)), Q, p, NYS_ALPHA(k) * c->dt, w, K, 0);
            for (long j = 0; i + 1 < NYS_IMP && j < NQ; j++) N[k * NQ + j] = vec_select(before, -K[j], N[k * NQ + j]);
        }
        for (long i = 0; i < NYS_SETS; i++) {
            for (long j = 0; j < NQ; j++) { /* nystrom_momentum, with the force of the last node on the way */
                vec *force = N + (NYS_PRE + NYS_IMP - 1) * NQ + j, P = p[j];
                if (i == 0) *force = vec_select(before, -K[j], *force);
                for (long k = 0; k < NYS_PRE + NYS_IMP; k++)
                    if (NYS_R(NYS_PRE + i, k) != 0) ADD_PRODUCT(P, NYS_R(NYS_PRE + i, k), N[k * NQ + j]);
                Q[j] = P;
            }
            model_K1(c, time_at(c, 0.5), q, Q, c->dt, dW, 0, K);
            for (long j = 0; j < NQ; j++) {
                vec e = K[j] - x[i * NQ + j];
                ADD_PRODUCT(moved, e, e);
                ADD_PRODUCT(size, K[j], K[j]);
                ADD_PRODUCT(x[i * NQ + j], part, e);
            }
        }
        vec rate = pace_check(s, moved, size, base);
        if (NYS_SETS == 1) step = vec_select(first | (ivec)(step != 1.0), step, 1.0 / (1.0 + 0.5 * rate));
        *slow |= before & s->live & ~(ivec)(rate <= LARGE_SLOW);
        s->live &= ~*slow;
        c->iterations++;
    } while (vec_any(s->live));
}

_Static_assert(SPARSE_SETS == NYS_SETS, "the tables are for another form");

/* Newton's method on the lanes of s.  Forces follow the last correction by their linear term. */
OUTLINE __attribute__((cold)) void large_newton(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *dZ,
                                                const vec *size_of_q, vec *N, vec *x, struct pace *s, ivec *singular) {
    ARRAY(Q, NQ);
    ARRAY(K, NQ);
    ARRAY(w, NM);
    ARRAY(e, NYS_UNKNOWNS);
    ARRAY(work, SPARSE_NC);
    ARRAY(A, SPARSE_NA);
    ARRAY(M, SPARSE_NM);
    ARRAY(H, NYS_IMP * SPARSE_NG);
    ivec now;
    int it = 0;
    do {
        vec size = vec_set(0);
        for (long i = 0; i < NYS_IMP; i++) {
            long k = NYS_PRE + i;
            noise_weights(c, METHOD_DZ, NYS_BETA(k), NYS_GAMMA(k), dW, dZ, w);
            for (long j = 0; j < NQ; j++) Q[j] = FUSED(NYS_C(k), x[NYS_SET(i) * NQ + j], q[j]);
            model_K2_sparse(c, time_at(c, NYS_C(k)), Q, p, NYS_ALPHA(k) * c->dt, w, K, 0, H + i * SPARSE_NG, 0);
            for (long j = 0; j < NQ; j++) N[k * NQ + j] = vec_select(s->live, -K[j], N[k * NQ + j]);
        }
        sparse_one(A);
        for (long i = 0; i < NYS_SETS; i++) {
            nystrom_momentum(c, NYS_PRE + i, NYS_PRE + NYS_IMP, p, N, Q);
            model_K2_sparse(c, time_at(c, 0.5), q, Q, c->dt, dW, 0, K, 0, M);
            for (long j = 0; j < NQ; j++) e[i * NQ + j] = x[i * NQ + j] - K[j];
            for (long k = 0; k < NYS_IMP; k++)
                sparse_add_block((int)i, (int)NYS_SET(k), NYS_C(NYS_PRE + k) * NYS_R(NYS_PRE + i, NYS_PRE + k), M,
                                 H + k * SPARSE_NG, A);
        }
        vec residual = square_sum(NYS_UNKNOWNS, e);
        sparse_solve(A, e, work, &now);
        vec moved = square_sum(NYS_UNKNOWNS, e);
        now |= (ivec)(moved > 1e24 * residual); /* A is 1 + ...; where those cancel, what is left is round-off */
        *singular |= now & s->live;
        for (long j = 0; j < NYS_UNKNOWNS; j++) {
            x[j] = vec_select(s->live, x[j] - e[j], x[j]);
            ADD_PRODUCT(size, x[j], x[j]);
        }
        for (long i = 0; i < NYS_IMP; i++) {
            sparse_multiply_rows(SPARSE_NQ, H + i * SPARSE_NG, e + NYS_SET(i) * NQ, K);
            vec *to = N + (NYS_PRE + i) * NQ;
            for (long j = 0; j < NQ; j++)
                to[j] = vec_select(s->live, FUSED(NYS_C(NYS_PRE + i), K[j], to[j]), to[j]);
        }
        (void)pace_check(s, moved, size, *size_of_q);
        s->live &= ~*singular;
        c->iterations++;
    } while (++it < NEWTON_MAX && vec_any(s->live));
}

INLINE void nystrom_large(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *dZ, vec *N, vec *x) {
    ivec slow = {0}, singular = {0};
    struct pace s = {(ivec)(p[0] == p[0]), vec_set(0)};
    vec base = square_sum(NQ, q), *top = c->top;
    large_guess(c, q, p, dW, N, x);
    c->top = top;
    large_fixed(c, q, p, dW, dZ, base, N, x, &s, &slow);
    c->top = top;
    if (!RARELY(vec_any(slow))) return;
    ARRAY(guess, NYS_UNKNOWNS);
    large_guess(c, q, p, dW, N, guess);
    for (long i = 0; i < NYS_UNKNOWNS; i++) x[i] = vec_select(slow, guess[i], x[i]);
    s = (struct pace){slow, vec_set(0)};
    large_newton(c, q, p, dW, dZ, &base, N, x, &s, &singular);
    if (vec_any(s.live)) lanes_failed(c, &s.live, NQ, LGV_FAIL_NEWTON);
    if (vec_any(singular)) lanes_failed(c, &singular, NQ, LGV_FAIL_SINGULAR);
}
