/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The time loop of a block and the entry points of a kernel: the last part of every kernel.  Include-free.
 *
 * Noise is drawn for NOISE_STEPS steps at a time: Philox gives normals in pairs, so an odd number of noises wastes nothing.
 * Normal number n of a path's stream belongs to step n / NM and noise n % NM whatever the block does. */

#define MANY_NOISES 16
#ifndef CONTROLS
#define CONTROLS 0 /* observables whose martingale part is summed, in the last rows of the state */
#endif
#define CONTROL_ROW (2 * NQ + (TRACK_BROWN ? NM + 2 * NQ : 0))
#define LOOP_WORK (2 * NQ + 8 * NM + 64 + FACE_WORK + CONTROLS)

#if TRACK_BROWN
#define TRACKED(x) x
#else
#define TRACKED(x)
#endif

/* Truncated increments, Holm & Tyranowski (3.9): implicit equations may have no solution for a huge |dW|. */
static __attribute__((noinline, cold)) void count_clipped(struct ctx *c, const ivec *over) {
    for (int l = 0; l < LANES; l++)
        if ((*over)[l]) c->b->clipped[l]++;
}

INLINE void clip_increments(struct ctx *c, vec *dW, vec *dZ) {
    double most = c->b->clip * __builtin_sqrt(c->dt),
           most_z = 0.78867513459481288 * most * c->dt; /* (1 + 1/sqrt 3)/2 */
    ivec over = {0};
    for (long m = 0; m < NM; m++) {
        over |= (ivec)(vec_abs(dW[m]) > most);
        dW[m] = vec_min(vec_max(dW[m], vec_set(-most)), vec_set(most));
        if (METHOD_DZ) dZ[m] = vec_min(vec_max(dZ[m], vec_set(-most_z)), vec_set(most_z));
    }
    if (vec_any(over)) count_clipped(c, &over);
}

/* M += sum_m g_m(X_k) dW_m, g = {f, h_m} and a correction: of mean zero for every method, because X_k does not know the
 * increment of its step. */
#if CONTROLS
INLINE void add_martingale(struct ctx *c, const vec *dW) {
    vec *top = c->top, *M = (vec *)c->b->state + CONTROL_ROW;
    ARRAY(X, CONTROLS);
    model_martingale(c, c->b->t0 + (double)c->step * c->dt, c->q, c->p, c->dt, dW, X);
    for (long k = 0; k < CONTROLS; k++) M[k] += X[k];
    c->top = top;
}
#else
#define add_martingale(c, dW) ((void)0)
#endif

INLINE void one_step(struct ctx *c, vec *brown, vec *carry, vec *dW, vec *dZ) {
    vec *top = c->top;
    TRACKED(for (long m = 0; m < NM; m++) brown[m] += dW[m];) /* the true Brownian motion, before any cut */
    if (NM > 0 && c->b->clip > 0) clip_increments(c, dW, dZ);
    add_martingale(c, dW);
    method_step(c, c->q, c->p, dW, dZ, carry);
    c->top = top;
    (void)brown;
    c->step++;
}

static void kernel_advance(struct lgv_block *b, unsigned long long steps) {
    struct ctx context = {.b = b, .par = b->par, .dt = b->dt, .step = b->step, .top = (vec *)b->work};
    struct ctx *c = &context;
    CONTEXT_SETUP(c, b->user);
    c->end = c->top + METHOD_CARRY + METHOD_WORK + LOOP_WORK;
    vec *state = (vec *)b->state;
    ARRAY(q, 2 * NQ); /* small states live here for the whole loop */
    int local = 2 * NQ <= SMALL_ARRAY;
    if (!local) q = state;
    vec *p = q + NQ, *brown = state + 2 * NQ;
    for (long i = 0; local && i < 2 * NQ; i++) q[i] = state[i];
    c->q = q;
    c->p = p;
    ARRAY(carry, METHOD_CARRY);
    ARRAY(dW, NOISE_STEPS * NM);
    ARRAY(dZ, METHOD_DZ ? NOISE_STEPS * NM : 0);
    method_begin(c, q, p, carry);
    uvec path;
    for (int l = 0; l < LANES; l++) path[l] = b->path[l];
    int fine = NM > 0 && NM <= MANY_NOISES && b->coarsen == 1, fresh = 1;
    /* One copy of the step serves every case: a step's bits must not depend on where a call begins or ends. */
    for (u64 end = b->step + steps; c->step < end;) {
        long at = fine ? (long)(c->step % NOISE_STEPS) : 0;
        if (fine && (fresh || at == 0))
            noise_steps(b->seed, &path, c->step - (u64)at, b->dt, (int)NM, METHOD_DZ, dW, dZ);
        if (NM > 0 && !fine) noise_step(b->seed, path, c->step, b->coarsen, b->dt, (int)NM, METHOD_DZ, dW, dZ);
        fresh = 0;
        one_step(c, brown, carry, dW + at * NM, dZ + (METHOD_DZ ? at * NM : 0));
    }
    for (long i = 0; local && i < 2 * NQ; i++) state[i] = q[i];
    b->step = c->step;
    b->iterations += c->iterations;
    b->evaluations += c->evaluations;
}

static void kernel_start(struct lgv_block *b) {
    struct ctx context = {.b = b}, *c = &context;
    CONTEXT_SETUP(c, b->user);
    uvec path;
    for (int l = 0; l < LANES; l++) path[l] = b->path[l];
    vec *state = (vec *)b->state;
    model_start(c, path, state, state + NQ);
    for (long m = 0; TRACK_BROWN && m < NM; m++) state[2 * NQ + m] = vec_set(0);
    for (long i = 0; TRACK_BROWN && i < 2 * NQ; i++) state[2 * NQ + NM + i] = state[i];
    for (long k = 0; k < CONTROLS; k++) state[CONTROL_ROW + k] = vec_set(0);
}

static void kernel_observe(const struct lgv_block *b, double *out) {
    struct ctx context = {.par = b->par, .top = (vec *)b->work}, *c = &context;
    CONTEXT_SETUP(c, b->user);
    c->end = c->top + FACE_WORK;
    const vec *state = (const vec *)b->state;
    model_observe(c, b->t0 + (double)b->step * b->dt, state, state + NQ, state + 2 * NQ, state + 2 * NQ + NM,
                  state + 3 * NQ + NM, (vec *)out);
    for (long k = 0; k < CONTROLS; k++) ((vec *)out)[CONTROLS + k] = state[CONTROL_ROW + k];
}

static unsigned long long kernel_work(const void *user) {
    struct ctx context = {0}, *c = &context;
    CONTEXT_SETUP(c, user);
    return (unsigned long long)(METHOD_CARRY + METHOD_WORK + LOOP_WORK) * sizeof(vec);
}

KERNEL_LINKAGE const struct lgv_entry KERNEL_NAME = {
    LGV_ABI, LANES, kernel_work, kernel_start, kernel_advance, kernel_observe,
};
