/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The implicit nodes of nystrom.h for many degrees of freedom, x = f(x) with f_i(x) = K_p(p + sum_k R_ik N_k(x)).
 *
 * First x <- f(x): a force a time, and the error shrinks by a factor of about c_k R_ik dt^2 omega^2 (dt^2 omega^2 / 4
 * for the midpoint rule).  Where that is too slow, Newton's method from the first guess, its matrix being sparse along
 * the second derivatives (sparse.h).  Every lane takes its own way and rests when it is there, so its bits do not
 * depend on the others.
 *
 * Both are iterations of newton.h and stop by its rule of the pace, which does not trust the factors.
 * Include-free. */

#define LARGE_LEAST 1e-3  /* no iteration is believed to be faster: its error is then at most 125 times round-off */
#define LARGE_SLOW 0.125 /* beyond, Newton's method is cheaper: it needs three or four iterations */
#define LARGE_ROUNDS 1000 /* of x <- f(x): more than an error that falls by LARGE_SLOW a time can take */

struct large {
    const vec *q, *p, *dW, *dZ;
    vec base; /* size of q, squared */
    vec *N, *Q, *K, *w;
    vec moved, size, step; /* sizes squared; of x <- f(x) the part of a move that is taken */
    ivec slow;
    vec *A, *M, *H, *work;
};

INLINE vec square_sum(long n, const vec *x) {
    vec sum = vec_set(0);
    for (long i = 0; i < n; i++) ADD_PRODUCT(sum, x[i], x[i]);
    return sum;
}

/* The guess: K_p with the forces of the nodes before. */
INLINE void large_guess(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *N, vec *x) {
    ARRAY(P, NP);
    for (long i = 0; i < NYS_SETS; i++) {
        nystrom_momentum(c, NYS_PRE + i, NYS_PRE, p, N, P);
        model_K1(c, time_at(c, 0.5), q, P, c->dt, dW, 0, x + i * NP);
    }
}

/* x <- x + step (f(x) - x) as long as lanes are live and not slow; the step of those that rest is 0.  Where K_qq
 * and K_pp are positive the derivative of f has eigenvalues from -rate to 0, and a step of 1 / (1 + rate/2) puts those
 * of the iteration around 0: half as large.  (Several sets have complex ones; their step is 1.) */
INLINE ivec fixed_correct(struct ctx *c, struct newton *s, void *of) {
    struct large *h = of;
    vec moved = vec_set(0), size = vec_set(0), part = vec_select(s->live, h->step, vec_set(0));
    for (long i = 0; i < NYS_IMP; i++) {
        long k = NYS_PRE + i;
        noise_weights(c, METHOD_DZ, NYS_BETA(k), NYS_GAMMA(k), h->dW, h->dZ, h->w);
        for (long j = 0; j < NP; j++) h->Q[j] = FUSED(NYS_C(k), s->x[NYS_SET(i) * NP + j], h->q[j]);
        model_K1(c, time_at(c, NYS_C(k)), h->Q, h->p, NYS_ALPHA(k) * c->dt, h->w, h->K, 0);
        for (long j = 0; i + 1 < NYS_IMP && j < NP; j++)
            h->N[k * NP + j] = vec_select(s->live, -h->K[j], h->N[k * NP + j]);
    }
    for (long i = 0; i < NYS_SETS; i++) {
        for (long j = 0; j < NP; j++) { /* nystrom_momentum, with the force of the last node on the way */
            vec *force = h->N + (NYS_PRE + NYS_IMP - 1) * NP + j, P = h->p[j];
            if (i == 0) *force = vec_select(s->live, -h->K[j], *force);
            for (long k = 0; k < NYS_PRE + NYS_IMP; k++)
                if (NYS_R(NYS_PRE + i, k) != 0) ADD_PRODUCT(P, NYS_R(NYS_PRE + i, k), h->N[k * NP + j]);
            h->Q[j] = P;
        }
        model_K1(c, time_at(c, 0.5), h->q, h->Q, c->dt, h->dW, 0, h->K);
        for (long j = 0; j < NP; j++) {
            vec e = h->K[j] - s->x[i * NP + j];
            ADD_PRODUCT(moved, e, e);
            ADD_PRODUCT(size, h->K[j], h->K[j]);
            ADD_PRODUCT(s->x[i * NP + j], part, e);
        }
    }
    h->moved = moved;
    h->size = size;
    return (ivec){0};
}

INLINE ivec fixed_moving(struct ctx *c, struct newton *s, void *of) {
    struct large *h = of;
    ivec first = (ivec)(s->last == 0.0);
    vec rate;
    ivec moving = still_falling(s, h->moved, h->size, h->base, LARGE_LEAST, &rate);
    (void)c;
    if (NYS_SETS == 1) h->step = vec_select(first | (ivec)(h->step != 1.0), h->step, 1.0 / (1.0 + 0.5 * rate));
    h->slow |= s->live & moving & ~(ivec)(rate <= LARGE_SLOW);
    return moving & ~h->slow;
}

_Static_assert(SPARSE_SETS == NYS_SETS, "the tables are for another form");

INLINE ivec sparse_correct(struct ctx *c, struct newton *s, void *of) {
    struct large *h = of;
    for (long i = 0; i < NYS_IMP; i++) {
        long k = NYS_PRE + i;
        noise_weights(c, METHOD_DZ, NYS_BETA(k), NYS_GAMMA(k), h->dW, h->dZ, h->w);
        for (long j = 0; j < NP; j++) h->Q[j] = FUSED(NYS_C(k), s->x[NYS_SET(i) * NP + j], h->q[j]);
        model_K2_sparse(c, time_at(c, NYS_C(k)), h->Q, h->p, NYS_ALPHA(k) * c->dt, h->w, h->K, 0, h->H + i * SPARSE_NG,
                        0);
        for (long j = 0; j < NP; j++) h->N[k * NP + j] = vec_select(s->live, -h->K[j], h->N[k * NP + j]);
    }
    sparse_one(h->A);
    for (long i = 0; i < NYS_SETS; i++) {
        nystrom_momentum(c, NYS_PRE + i, NYS_PRE + NYS_IMP, h->p, h->N, h->Q);
        model_K2_sparse(c, time_at(c, 0.5), h->q, h->Q, c->dt, h->dW, 0, h->K, 0, h->M);
        for (long j = 0; j < NP; j++) s->e[i * NP + j] = s->x[i * NP + j] - h->K[j];
        for (long k = 0; k < NYS_IMP; k++)
            sparse_add_tile((int)i, (int)NYS_SET(k), NYS_C(NYS_PRE + k) * NYS_R(NYS_PRE + i, NYS_PRE + k), h->M,
                             h->H + k * SPARSE_NG, h->A);
    }
    vec residual = square_sum(NYS_UNKNOWNS, s->e);
    ivec singular = system_solve(SYSTEM_SPARSE, NYS_UNKNOWNS, h->A, s->e, h->work);
    h->moved = square_sum(NYS_UNKNOWNS, s->e);
    return singular | (ivec)(h->moved > SYSTEM_CANCELLED * SYSTEM_CANCELLED * residual);
}

/* Forces follow the last correction by their linear term. */
INLINE ivec sparse_moving(struct ctx *c, struct newton *s, void *of) {
    struct large *h = of;
    vec rate;
    (void)c;
    for (long i = 0; i < NYS_IMP; i++) {
        sparse_multiply_rows(SPARSE_NQ, h->H + i * SPARSE_NG, s->e + NYS_SET(i) * NP, h->K);
        vec *to = h->N + (NYS_PRE + i) * NP;
        for (long j = 0; j < NP; j++)
            to[j] = vec_select(s->live, FUSED(NYS_C(NYS_PRE + i), h->K[j], to[j]), to[j]);
    }
    return still_falling(s, h->moved, square_sum(NYS_UNKNOWNS, s->x), h->base, 0, &rate);
}

/* Newton's method on the lanes that are slow, from the first guess. */
OUTLINE __attribute__((cold)) void large_newton(struct ctx *c, struct large *h, vec *x) {
    ARRAY(e, NYS_UNKNOWNS);
    ARRAY(work, SPARSE_NC);
    ARRAY(A, SPARSE_NA);
    ARRAY(M, SPARSE_NM);
    ARRAY(H, NYS_IMP * SPARSE_NG);
    vec *top = c->top;
    large_guess(c, h->q, h->p, h->dW, h->N, e);
    c->top = top;
    for (long i = 0; i < NYS_UNKNOWNS; i++) x[i] = vec_select(h->slow, e[i], x[i]);
    h->A = A, h->M = M, h->H = H, h->work = work;
    struct newton s = {.n = NYS_UNKNOWNS, .x = x, .e = e, .live = h->slow};
    newton(c, &s, NEWTON_MAX, sparse_correct, sparse_moving, 0, h);
}

INLINE void nystrom_large(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *dZ, vec *N, vec *x) {
    vec *top = c->top;
    large_guess(c, q, p, dW, N, x);
    c->top = top;
    ARRAY(Q, NP);
    ARRAY(K, NP);
    ARRAY(w, NM);
    struct large h = {q, p, dW, dZ, square_sum(NP, q), N, Q, K, w, .step = vec_set(1)};
    struct newton s = {.x = x, .live = (ivec)(p[0] == p[0])};
    newton_iterate(c, &s, LARGE_ROUNDS, fixed_correct, fixed_moving, 0, &h);
    h.slow |= s.live;
    if (!RARELY(vec_any(h.slow))) return;
    struct large again = h;
    large_newton(c, &again, x);
}
