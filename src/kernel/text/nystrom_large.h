/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The implicit nodes of nystrom.h for more than a few unknowns, x = f(x) with f_i(x) = K_p(p + sum_k R_ik N_k(x)).
 *
 * First x <- f(x): a force a time, and the error shrinks by a factor of about c_k R_ik dt^2 omega^2 (dt^2 omega^2 / 4
 * for the midpoint rule).  Where that is too slow, and there is one set of unknowns, Chebyshev's iteration: a force a
 * time too, and the factor is (s - 1) / (s + 1) with s^2 = 1 + dt^2 omega^2 / 4, that of conjugate gradients.  Where
 * factors of the matrix cost less than the rounds this takes, Newton's method from the first guess: with a dense
 * matrix where unknowns are few (MODEL_FEW of them; a step is then a few forces where it was some matrices), else with
 * one that is sparse along the second derivatives (sparse.h).  Systems without factors that could be kept have the
 * first two only.  Every lane takes its own way and rests when it is there, so its bits do not depend on the others.
 *
 * All are iterations of newton.h and stop by its rule of the pace, which does not trust the factors.
 * Include-free. */

#define LARGE_LEAST 1e-3  /* no iteration is believed to be faster: its error is then at most 125 times round-off */
/* LARGE_SLOW: beyond this factor a round x <- f(x) gives up; LARGE_PATIENCE: Newton's method is cheaper. */
#if MODEL_FEW
#define LARGE_FACTORS 1
#define LARGE_PATIENCE FEW_PATIENCE
#define LARGE_SLOW (NYS_SETS > 1 ? FEW_PATIENCE : 0.125)
#elif defined SPARSE_SETS
#define LARGE_FACTORS 1
#define LARGE_PATIENCE SPARSE_PATIENCE
#define LARGE_SLOW 0.125
#else
#define LARGE_FACTORS 0
#define LARGE_PATIENCE 0.97
#define LARGE_SLOW (NYS_SETS > 1 ? 0.95 : 0.125)
#endif
#define LARGE_ROUNDS 1000 /* more than an error that falls by these factors can take */
#define LARGE_MARGIN 1.35 /* the first estimate of the largest eigenvalue is an average with large weights at the end */
#define LARGE_MORE 1.1    /* so far beyond what has been seen later */
#define CHEBYSHEV_LOOK 4  /* rounds between two looks at the pace; a fourth root belongs to it */
#define CHEBYSHEV_SLACK 1.3

struct large {
    const vec *q, *p, *dW, *dZ;
    vec base; /* size of q, squared */
    vec *N, *Q, *K, *w;
    vec moved, size, step; /* sizes squared; of x <- f(x) the part of a move that is taken */
    vec *d, keep, ratio;   /* Chebyshev: the last move, the part of it that is kept, rho_k */
    vec reach, begun;      /* eigenvalues of -f' lie from 0 to reach; size of the correction some rounds ago */
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
        nystrom_weights(c, k, h->dW, h->dZ, h->w);
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
            if (h->d) {
                vec move = FUSED(h->keep, h->d[j], h->step * e);
                h->d[j] = move;
                s->x[j] = vec_select(s->live, s->x[j] + move, s->x[j]);
            } else {
                ADD_PRODUCT(s->x[i * NP + j], part, e);
            }
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
    ivec moving = still_falling(s, h->moved, h->size, h->base, vec_set(LARGE_LEAST), &rate);
    (void)c;
    /* the highest frequency: |1 - step (1 + reach)| = rate; what was found slow at once has a larger part still */
    vec reach = LARGE_MARGIN * ((1.0 + rate) / h->step - 1.0);
    h->reach = vec_select(s->live & moving & (ivec)(rate > LARGE_SLOW), reach, h->reach);
    if (NYS_SETS == 1) h->step = vec_select(first | (ivec)(h->step != 1.0), h->step, 1.0 / (1.0 + 0.5 * rate));
    h->slow |= s->live & moving & ~(ivec)(rate <= LARGE_SLOW);
    return moving & ~h->slow;
}

/* Chebyshev's iteration for eigenvalues of 1 - f' from 1 to 1 + reach (Golub & Varga 1961, doi 10.1007/BF01386013):
 * x moves by d_k = rho_k rho_k-1 d_k-1 + (2 rho_k / delta) (f(x) - x), delta = reach/2, theta = 1 + delta, rho_0 =
 * delta / theta, rho_k = 1 / (2 theta / delta - rho_k-1); the first move is (f(x) - x) / theta. */
INLINE void chebyshev_begin(struct large *h, ivec at) {
    vec delta = 0.5 * h->reach, theta = 1.0 + delta;
    h->keep = vec_select(at, vec_set(0), h->keep);
    h->step = vec_select(at, 1.0 / theta, h->step);
    h->ratio = vec_select(at, delta / theta, h->ratio);
}

/* The factor a round: the limit of rho_k. */
INLINE vec chebyshev_pace(const struct large *h) {
    vec theta = 1.0 + 0.5 * h->reach;
    return 0.5 * h->reach / (theta + vec_sqrt(1.0 + h->reach));
}

/* Where the error has fallen more slowly than it should, an eigenvalue lies beyond `reach`: its part is multiplied by
 * pace |sigma + sqrt(sigma^2 - 1)| a round, sigma = (lambda - theta) / delta, which gives lambda. */
INLINE ivec chebyshev_moving(struct ctx *c, struct newton *s, void *of) {
    struct large *h = of;
    vec rate;
    ivec moving = still_falling(s, h->moved, h->size, h->base, vec_max(h->reach, vec_set(LARGE_LEAST)), &rate);
    (void)c;
    vec delta = 0.5 * h->reach, next = 1.0 / (2.0 + 2.0 / delta - h->ratio);
    h->keep = next * h->ratio;
    h->step = 2.0 * next / delta;
    h->ratio = next;
    if (s->round == 0) h->begun = s->last;
    if (s->round == 0 || s->round % CHEBYSHEV_LOOK) return moving;
    vec pace = chebyshev_pace(h), part = vec_sqrt(vec_sqrt(s->last / h->begun)) / pace;
    h->begun = s->last;
    ivec reached = s->live & moving & ~(ivec)(part <= CHEBYSHEV_SLACK);
    vec lambda = 1.0 + delta * (1.0 + 0.5 * (part + 1.0 / part));
    h->reach = vec_select(reached, LARGE_MORE * (lambda - 1.0), h->reach);
    chebyshev_begin(h, reached);
    h->slow |= s->live & moving & ~(ivec)(chebyshev_pace(h) <= LARGE_PATIENCE);
    return moving & ~h->slow;
}

/* On the lanes that are slow; those that still are stay in h->slow. */
OUTLINE void large_chebyshev(struct ctx *c, struct large *h, vec *x) {
    ivec live = h->slow & (ivec)(chebyshev_pace(h) <= LARGE_PATIENCE);
    if (!vec_any(live)) return;
    ARRAY(d, NP);
    for (long i = 0; i < NP; i++) d[i] = vec_set(0);
    struct newton s = {.x = x, .live = live};
    h->d = d;
    h->slow &= ~live;
    chebyshev_begin(h, live);
    newton_iterate(c, &s, LARGE_ROUNDS, fixed_correct, chebyshev_moving, 0, h);
    h->slow |= s.live;
}

#if MODEL_FEW
/* Newton's method on the lanes that are slow, from the first guess. */
OUTLINE __attribute__((cold)) void large_newton(struct ctx *c, struct large *h, vec *x) {
    ARRAY(e, NYS_UNKNOWNS);
    ARRAY(N, NYS_N * NP);
    for (long i = 0; i < NYS_N * NP; i++) N[i] = h->N[i];
    nystrom_implicit(c, h->q, h->p, h->dW, h->dZ, h->slow, N, e);
    for (long i = 0; i < NYS_UNKNOWNS; i++) x[i] = vec_select(h->slow, e[i], x[i]);
    for (long i = NYS_PRE * NP; i < (NYS_PRE + NYS_IMP) * NP; i++) h->N[i] = vec_select(h->slow, N[i], h->N[i]);
}
#elif LARGE_FACTORS
_Static_assert(SPARSE_SETS == NYS_SETS, "the tables are for another form");

INLINE ivec sparse_correct(struct ctx *c, struct newton *s, void *of) {
    struct large *h = of;
    for (long i = 0; i < NYS_IMP; i++) {
        long k = NYS_PRE + i;
        nystrom_weights(c, k, h->dW, h->dZ, h->w);
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
    return still_falling(s, h->moved, square_sum(NYS_UNKNOWNS, s->x), h->base, vec_set(0), &rate);
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
#endif

INLINE void nystrom_large(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *dZ, vec *N, vec *x) {
    vec *top = c->top;
    large_guess(c, q, p, dW, N, x);
    c->top = top;
    ARRAY(Q, NP);
    ARRAY(K, NP);
    ARRAY(w, NW);
    struct large h = {q, p, dW, dZ, square_sum(NP, q), N, Q, K, w, .step = vec_set(1)};
    struct newton s = {.x = x, .live = (ivec)(p[0] == p[0])};
    newton_iterate(c, &s, LARGE_ROUNDS, fixed_correct, fixed_moving, 0, &h);
    h.slow |= s.live;
    if (!RARELY(vec_any(h.slow))) return;
    struct large again = h;
    if (NYS_SETS == 1) large_chebyshev(c, &again, x);
    if (!vec_any(again.slow)) return;
#if LARGE_FACTORS
    large_newton(c, &again, x);
#else
    lanes_failed(c, &again.slow, LGV_FAIL_NEWTON);
#endif
}
