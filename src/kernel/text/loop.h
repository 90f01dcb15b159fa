/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The time loop of a block and the entry points of a kernel: the last part of every kernel.  Include-free.
 *
 * A block is VECS vecs wide.  They take each step in turn, so that the processor can work on several of them at
 * once where a vec is short: the operations of one step wait for each other, those of different vecs do not.  Row
 * i of vec g stands at i VECS + g in the block's state; during a call each vec has its q and p in one array.
 *
 * Noise is drawn for NOISE_STEPS steps at a time: Philox gives normals in pairs, so an odd number of noises wastes
 * nothing. Normal number n of a path's stream belongs to step n / NOISES and noise n % NOISES whatever
 * the block does. */

/* What the quarters of a kernel call of each other (face.h). */
ACROSS void observe(struct lgv_block *b, vec *top, double *out, long *escape);
ACROSS void tally(struct lgv_block *b, vec *top, long *escape);
ACROSS void advance_inside(struct lgv_block *b, unsigned long long steps, long *escape);
ACROSS unsigned long long kernel_increments(const struct lgv_block *b, unsigned long long steps, double *out);

#ifndef NOISES /* Brownian motions; brackets.h: there are more Hamiltonians with weights, and their number is NM */
#define NOISES NM
#define BRACKETS 0
#define BRACKETS_APART 0
#endif
#define BRACKETS_JOINED (BRACKETS && !BRACKETS_APART) /* else the method has them by itself */
#define NOISE_Z (METHOD_DZ || BRACKETS_JOINED)
#define MANY_NOISES 16
#ifndef COARSE
#define COARSE 1 /* noise_coarse for just so many noises, which is a little faster than noise_any */
#endif
#ifndef CONTROLS
#define CONTROLS 0 /* observables whose martingale part is summed, in the last rows of the state */
#endif
#ifndef NC
#define NC 0L
#define MODEL_L 0
#endif
#ifndef COMPENSATED
#define COMPENSATED 0
#endif
/* Velocities, multipliers; or rests; or sums and means of multipliers by penalty. */
#define EXTRA_ROWS (NC + (MODEL_L ? NP : 0) + (COMPENSATED ? 2 * NP : 0) + 2 * PENALTIES)
#define BROWN_ROW (NX + NP + EXTRA_ROWS)
#ifndef START_Q /* start values that observables use are kept as rows */
#define START_Q 0
#define START_P 0
#endif
#define START_ROW (BROWN_ROW + (TRACK_BROWN ? NOISES : 0))
#define START_P_ROW (START_ROW + (START_Q ? NX : 0))
#define DRAWN_ROW (START_P_ROW + (START_P ? NP : 0))
#define CONTROL_ROW (DRAWN_ROW + DRAWN_ROWS)
#if DRAWN_ROWS
#define SEE_DRAWN(c, block, g) ((c)->drawn = (vec *)(block)->state + DRAWN_ROW * VECS + (g))
#else
#define SEE_DRAWN(c, block, g) ((void)0)
#endif
#ifndef WATCHED
#define WATCHED 0
#endif
#if !defined TALLIES || METHOD_LOOSE || METHOD_SHOWN /* what is shown is not the state */
#undef TALLIES
#define TALLIES 0
#define model_watch(c, t, q, p, brown, dq, dp, v, lambda, x) ((void)(x))
#endif
#define DRAWN (BATH_SPANS * (NOISES + NB)) /* normals of a step; of E, and of F where that is used */
#define DRAW_Z (NOISE_Z || BATH_F)
#define TALLY_ROW (CONTROL_ROW + CONTROLS)
#ifndef EVENTS /* events.h */
#define EVENTS 0
#define see_events(c, row, begin) ((void)0)
#endif
#ifndef EXTREMES
#define EXTREMES 0
#endif
#define EVENT_ROW (TALLY_ROW + 2 * TALLIES)
#ifndef SECTIONS /* sections.h */
#define SECTIONS 0
#define SECTION_WIDTH 0
#define SECTION_KEPT 0
#define keep_step(c, kept) ((void)0)
#define see_sections(c, kept, dW, dZ, row, begin) ((void)0)
#endif
#define SECTION_ROW (EVENT_ROW + 3 * EVENTS)
#define STATE_ROWS (SECTION_ROW + 2 * SECTIONS)
#define SIZES ((struct sizes){NX + NP, STATE_ROWS, WATCHED, VECS, TALLY_ROW, TALLIES})
#define LEAST_WORK (FACE_WORK + 2 * DRAWN + 16) /* vecs: what `start` and `increments` take, and a beginning */

/* The rows behind q and p of one vec, up to the start values, one behind the other. */
#define REST_AT(row) ((row) - NX - NP)
#if VECS > 1
#define REST_ROWS REST_AT(CONTROL_ROW)
#define REST(name, c)                                                                                                  \
    ARRAY(name, REST_ROWS);                                                                                            \
    for (long i = 0; i < REST_ROWS; i++) name[i] = (c)->extra[i * VECS]
#else
#define REST(name, c) const vec *name = (c)->extra
#endif

#if TRACK_BROWN
#define TRACKED(x) x
#else
#define TRACKED(x)
#endif

#if NB
#include "kernel/text/bath_noise.h"
#endif
#ifdef PROCESSES
#include "kernel/text/process.h"
#endif

/* M += sum_m g_m(X_k) dW_m, g = {f, h_m} and a correction: of mean zero for every method, because X_k does not know the
 * increment of its step. */
#if CONTROLS
INLINE void add_martingale(struct ctx *c, const vec *dW) {
    vec *top = c->top, *M = (vec *)c->b->state + CONTROL_ROW * VECS;
    ARRAY(X, CONTROLS);
    REST(rest, c);
    model_martingale(c, time_at(c, 0), c->q, c->p, c->dt, dW, rest + REST_AT(START_ROW), rest + REST_AT(START_P_ROW),
                     X);
    for (long k = 0; k < CONTROLS; k++) M[k * VECS] += X[k];
    c->top = top;
}
#else
#define add_martingale(c, dW) ((void)0)
#endif

/* Multipliers of constraints by penalty: means of -omega^2 g over windows of time one behind the other.  What is seen
 * is the mean of the last window that is complete, or so far of the first one.  Where the method moves x for a q that
 * is shifted by what it carries, g is taken at q (docs/model-files.md). */
#ifndef METHOD_SHIFT
#define METHOD_SHIFT -1
#endif
#if PENALTIES
INLINE void see_multipliers(struct ctx *c, const vec *carry) {
    vec *top = c->top, *sum = c->extra + (EXTRA_ROWS - 2 * PENALTIES) * VECS, *mean = sum + PENALTIES * VECS;
    const u64 steps = (u64)(PENALTY_WINDOW / c->b->dt + 0.5), window = steps > 0 ? steps : 1;
    ARRAY(q, NX);
    ARRAY(x, PENALTIES);
    for (long i = 0; i < NX; i++) q[i] = METHOD_SHIFT < 0 ? c->q[i] : c->q[i] + carry[METHOD_SHIFT + i];
    model_multipliers(c, q, x);
    for (long k = 0; k < PENALTIES; k++) {
        sum[k * VECS] += x[k];
        if (c->step < window) mean[k * VECS] = sum[k * VECS] / (double)c->step;
        if (c->step % window != 0) continue;
        mean[k * VECS] = sum[k * VECS] / (double)window;
        sum[k * VECS] = vec_set(0);
    }
    c->top = top;
}
#endif

/* over: some increment may be beyond its bound. */
INLINE void one_step(struct ctx *c, vec *brown, vec *carry, vec *dW, vec *dZ, int over) {
#if SECTIONS
    vec *begin = c->top;
    ARRAY(kept, SECTION_KEPT);
    if (c->b->crossing) keep_step(c, kept);
#endif
    vec *top = c->top;
#ifdef PROCESSES
    vec ends[PROCESS_ROWS];
    process_step(c, ends);
    method_begin(c, c->q, c->p, carry); /* the force that is carried knew the step before */
#endif
#if NB
    ARRAY(whole, NM);
    ARRAY(wholez, METHOD_DZ ? NM : 0);
    c->bath = dW;
    c->bathz = dZ;
    bath_whole(c, dW, dZ, whole, wholez);
    dW = whole;
    dZ = wholez;
    over = c->b->clip > 0;
    if (NOISES > 0 && c->b->clip < 0) three_points(c->b, NOISES, dW, NOISE_Z ? dZ : 0);
#endif
    TRACKED(for (long m = 0; m < NOISES; m++) brown[m * VECS] += dW[m];) /* the true Brownian motion, before any cut */
#if BRACKETS_JOINED
    ARRAY(area, AREAS);
    ARRAY(weight, NM);
    if (AREAS > 0) areas_of(c, dW, dZ, area);
#endif
    if (NOISES > 0 && RARELY(over)) cut_increments(c->b, NOISES, dW, NOISE_Z ? dZ : 0);
#if BRACKETS_JOINED
    for (long m = 0; m < NOISES; m++) weight[m] = dW[m];
    bracket_weights(c, dW, dZ, area, weight + NOISES);
    dW = weight;
#endif
    add_martingale(c, dW);
    method_step(c, c->q, c->p, dW, dZ, carry);
    c->top = top;
    (void)brown;
    c->step++;
    c->base = (double)c->step;
#if PENALTIES
    see_multipliers(c, carry);
#endif
#if SECTIONS
    if (c->b->crossing) see_sections(c, kept, dW, dZ, (vec *)c->b->state + SECTION_ROW * VECS, 0);
    c->top = begin;
#endif
#ifdef PROCESSES
    process_end(c, ends);
#endif
}

/* Vec g of a block, as a block of its own. */
INLINE struct lgv_block one_vec(const struct lgv_block *b, int g) {
    struct lgv_block one = *b;
    one.state += g * LANES;
    one.path += g * LANES;
    one.number += g * LANES;
    if (b->fail) one.fail += g * LANES;
    if (b->fail_step) one.fail_step += g * LANES;
    if (b->clipped) one.clipped += g * LANES;
    if (b->astray) one.astray += g * LANES;
    if (SECTIONS > 0 && b->crossing) one.crossing += g * LANES * SECTIONS * (long)b->crossings * SECTION_WIDTH;
    return one;
}

/* A context at the present step of a block; its scratch is free from `top` on. */
INLINE struct ctx context_of(struct lgv_block *b, vec *top, long *escape) {
    struct ctx context = {.b = b, .par = b->par, .dt = b->dt, .base = (double)b->step, .width = 1, .step = b->step};
    struct ctx *c = &context;
    c->top = top;
    c->end = (vec *)b->scratch->memory + b->scratch->room / sizeof(vec);
    c->escape = escape;
    CONTEXT_SETUP(c, b->user);
    return context;
}

/* All rows of one vec in one array: the state itself when there is one vec, else a copy. */
#if VECS > 1
#define VEC_ROWS(name, count, block) vec name[count]
#else
#define VEC_ROWS(name, count, block) vec *name = (vec *)(block)
#endif

#if LGV_QUARTER != 1
#ifdef CONSTRAINED
#define OBSERVE_CONSTRAINTS(c, state, seen) observe_constraints(c, state, state + NX, state + NX + NP, seen)
static __attribute__((noinline)) void project_inside(struct lgv_block *b, long *escape) {
    struct ctx context = context_of(b, (vec *)b->scratch->memory, escape), *c = &context;
    for (int g = 0; g < VECS; g++) {
        struct lgv_block one = one_vec(b, g);
        VEC_ROWS(state, STATE_ROWS, b->state);
        for (long i = 0; VECS > 1 && i < STATE_ROWS; i++) state[i] = ((vec *)b->state)[i * VECS + g];
        context.b = &one;
        context.q = state;
        context.p = state + NX;
        SEE_DRAWN(c, b, g);
        project_state(c, state, state + NX, state + NX + NP);
        for (long i = 0; VECS > 1 && i < STATE_ROWS; i++) ((vec *)b->state)[i * VECS + g] = state[i];
    }
}
static void kernel_project(struct lgv_block *b) {
    struct ctx context = {0}, *c = &context; /* sizes of callback models come from it */
    CONTEXT_SETUP(c, b->user);
    guarded_project(b, project_inside, &SIZES);
}
#if METHOD_LOOSE /* SHAKE: momenta are shown on the hidden constraint */
#define SHOW(c, state) project_state(c, state, state + NX, state + NX + NP)
#endif
#else
#define OBSERVE_CONSTRAINTS(c, state, seen) ((void)0)
static void kernel_project(struct lgv_block *b) {
    (void)b;
}
#if METHOD_SHOWN /* the method works in other variables, which it finds at the start */
#define SHOW(c, state) method_show(c, state, state + NX)
static __attribute__((noinline)) void enter_inside(struct lgv_block *b, long *escape) {
    struct ctx context = context_of(b, (vec *)b->scratch->memory, escape), *c = &context;
    for (int g = 0; g < VECS; g++) {
        struct lgv_block one = one_vec(b, g);
        VEC_ROWS(state, NX + NP, b->state);
        for (long i = 0; VECS > 1 && i < NX + NP; i++) state[i] = ((vec *)b->state)[i * VECS + g];
        context.b = &one;
        context.q = state;
        context.p = state + NX;
        SEE_DRAWN(c, b, g);
        method_enter(c, state, state + NX);
        c->top = (vec *)b->scratch->memory;
        for (long i = 0; VECS > 1 && i < NX + NP; i++) ((vec *)b->state)[i * VECS + g] = state[i];
    }
}
#endif
#endif

#ifdef SHOW /* on a copy of the state */
INLINE vec *shown(struct ctx *c, const struct lgv_block *b, const vec *state) {
    int fail[LANES] = {0};
    unsigned long long fail_step[LANES] = {0};
    struct lgv_block quiet = *b;
    vec *copy = take(c, STATE_ROWS), *q = c->q, *p = c->p;
    struct lgv_block *before = c->b;
    for (long i = 0; i < STATE_ROWS; i++) copy[i] = state[i];
    quiet.fail = fail;
    quiet.fail_step = fail_step;
    c->b = &quiet;
    c->q = copy;
    c->p = copy + NX;
    SHOW(c, copy);
    c->b = before;
    c->q = q;
    c->p = p;
    return copy;
}
#define SHOWN(c, b, state) shown(c, b, state)
#else
#define SHOWN(c, b, state) (state)
#endif

/* Who looks at the state between two steps looks at the block, out of line: in the time loop the text would only cost,
 * and what it needs of the context would have to be kept there.  Scratch is free from `top` on. */

void observe(struct lgv_block *b, vec *top, double *out, long *escape) {
    struct ctx context = context_of(b, top, escape), *c = &context;
    for (int g = 0; g < VECS; g++) {
        VEC_ROWS(state, STATE_ROWS, b->state);
        VEC_ROWS(seen, WATCHED, out);
        for (long i = 0; VECS > 1 && i < STATE_ROWS; i++) state[i] = ((const vec *)b->state)[i * VECS + g];
        SEE_DRAWN(c, b, g);
        const vec *x = SHOWN(c, b, state);
        model_observe(c, time_at(c, 0), x, x + NX, x + BROWN_ROW, x + START_ROW, x + START_P_ROW, x + NX + NP,
                      x + BROWN_ROW - NC - PENALTIES, seen);
        OBSERVE_CONSTRAINTS(c, x, seen);
        c->top = top;
        for (long k = 0; k < CONTROLS; k++) seen[CONTROLS + k] = state[CONTROL_ROW + k];
        for (long i = 0; VECS > 1 && i < WATCHED; i++) ((vec *)out)[i * VECS + g] = seen[i];
    }
}

/* What has to be seen at every step: extremes of H and of momentum maps. */
void tally(struct lgv_block *b, vec *top, long *escape) {
    struct ctx context = context_of(b, top, escape), *c = &context;
    for (int g = 0; g < VECS; g++) {
        ARRAY(x, TALLIES);
        VEC_ROWS(state, CONTROL_ROW, b->state);
        SEE_DRAWN(c, b, g);
        for (long i = 0; VECS > 1 && i < CONTROL_ROW; i++) state[i] = ((const vec *)b->state)[i * VECS + g];
        model_watch(c, time_at(c, 0), state, state + NX, state + BROWN_ROW, state + START_ROW, state + START_P_ROW,
                    state + NX + NP, state + BROWN_ROW - NC - PENALTIES, x);
        widen_extremes((vec *)b->state + TALLY_ROW * VECS + g, VECS, x, TALLIES);
        c->top = top;
    }
}
#endif

/* Where extremes are asked for, every path is seen at every step: then it pays to look inside the loop. */
#if EXTREMES
INLINE void tally_here(struct ctx *c, vec *row) {
    vec *top = c->top;
    ARRAY(x, TALLIES);
    REST(rest, c);
    model_watch(c, time_at(c, 0), c->q, c->p, rest + REST_AT(BROWN_ROW), rest + REST_AT(START_ROW),
                rest + REST_AT(START_P_ROW), rest, rest + REST_AT(BROWN_ROW) - NC - PENALTIES, x);
    extend_extremes(row, VECS, x, TALLIES);
    c->top = top;
}
#endif

#define GIVEN_ROWS ((DRAW_Z ? 2 : 1) * DRAWN)

INLINE const double *given_at(const double *given, u64 step, long rows, int g) {
    return given ? given + (step * (u64)rows * VECS + (u64)g) * LANES : 0;
}

/* The increments of one step and vec that are not drawn for several steps at once: coarse ones, those of many noises,
 * and those that a caller has brought along.  Out of line, so that they do not cost the others anything. */
OUTLINE void other_noise(const struct ctx *c, const struct lgv_block *b, const uvec *path, u64 step,
                         const double *given, vec *dW, vec *dZ) {
    if (given)
        noise_given(given, DRAWN, DRAW_Z, VECS, dW, dZ);
#if NB
    else
        bath_coarse(b, path, step, dW, dZ);
#else
    else if (COARSE && NOISES <= MANY_NOISES)
        noise_coarse(b->seed, path, step, b->coarsen, b->dt, (int)NOISES, NOISE_Z, dW, dZ);
    else
        noise_any(b, path, step, NOISES, NOISE_Z, dW, dZ);
#endif
    (void)c;
}

/* The noise of NOISE_STEPS fine steps. */
#if NB
#define DRAW(b, path, step, w, z)                                                                                      \
    do {                                                                                                               \
        u64 pair = (step) / 2 * (u64)DRAWN;                                                                            \
        noise_pairs((b)->seed, path, pair, NOISE_SIDE * (int)DRAWN, STREAM_W, w);                                      \
        if (DRAW_Z) noise_pairs((b)->seed, path, pair, NOISE_SIDE * (int)DRAWN, STREAM_Z, z);                          \
        bath_scale(b, NOISE_STEPS * BATH_SPANS, w, z);                                                                 \
    } while (0)
#else
#define DRAW(b, path, step, w, z) noise_steps((b)->seed, path, step, (b)->dt, (int)NOISES, NOISE_Z, w, z)
#endif

/* The rows of q and p into the block. */
INLINE void put_back(const struct ctx *c, vec *state) {
    for (long i = 0; i < NX + NP; i++) state[i * VECS] = c->q[i];
}

#if LGV_QUARTER != 2
void advance_inside(struct lgv_block *b, unsigned long long steps, long *escape) {
    struct lgv_block one[VECS];
    struct ctx context[VECS], *c = context;
    uvec path[VECS];
    vec *state = (vec *)b->state;
    context[0] = context_of(b, (vec *)b->scratch->memory, escape);
    const struct ctx other = context[0]; /* for calls out of line, as `apart` */
#ifdef PARAMETERS /* beside everything else the loop reads: where they lie must not matter for its speed */
    double par[PARAMETERS + 1];
    for (int i = 0; i < PARAMETERS; i++) par[i] = b->par[i];
    context[0].par = par;
#endif
    ARRAY(q, VECS * (NX + NP));                  /* small states live here for the whole loop */
    int local = VECS * (NX + NP) <= SMALL_ARRAY; /* always, when there is more than one vec */
    if (!local) q = state;
    ARRAY(carry, VECS * METHOD_CARRY);
    ARRAY(dW, VECS * NOISE_STEPS * DRAWN);
    ARRAY(dZ, DRAW_Z ? VECS * NOISE_STEPS * DRAWN : 0);
    int over[VECS] = {0};
    for (int g = 0; g < VECS; g++) {
        one[g] = one_vec(b, g);
        path[g] = paths_at(one[g].path);
        context[g] = context[0];
        context[g].iterations = context[g].evaluations = 0;
        context[g].b = &one[g];
        context[g].q = q + g * (NX + NP);
        context[g].p = context[g].q + NX;
        context[g].extra = state + (NX + NP) * VECS + g;
        SEE_DRAWN(&context[g], b, g);
        for (long i = 0; local && i < NX + NP; i++) context[g].q[i] = state[i * VECS + g];
        method_begin(&context[g], context[g].q, context[g].p, carry + g * METHOD_CARRY);
        if (b->step > 0) context[g].iterations = context[g].evaluations = 0; /* the step before has counted them */
        if (SECTIONS > 0 && b->crossing && b->step == 0)
            see_sections(&context[g], 0, 0, 0, state + SECTION_ROW * VECS + g, 1);
        if (EVENTS > 0 && b->events && b->step == 0) see_events(&context[g], state + EVENT_ROW * VECS + g, 1);
    }
    int fine = DRAWN > 0 && DRAWN <= MANY_NOISES && b->coarsen == 1 && !b->given, fresh = 1;
    /* One copy of the step serves every case: a step's bits must not depend on where a call begins or ends. */
    const u64 begin = b->step;
    for (u64 step = begin, end = step + steps;;) {
        u64 stop = b->ntimes && *b->time_step < end ? *b->time_step : end;
        for (; step < stop; step++) {
            long at = fine ? (long)(step % NOISE_STEPS) : 0;
            if (DRAWN > 0 && (!fine || fresh || at == 0)) {
                for (int g = 0; g < VECS; g++) {
                    vec *w = dW + g * NOISE_STEPS * DRAWN, *z = dZ + (DRAW_Z ? g * NOISE_STEPS * DRAWN : 0);
                    if (fine)
                        DRAW(b, &path[g], step - (u64)at, w, z);
                    else
                        other_noise(&other, b, &path[g], step, given_at(b->given, step - begin, GIVEN_ROWS, g), w, z);
                    if (NOISES > 0 && !NB && RARELY(b->clip < 0))
                        three_points(b, fine ? NOISE_STEPS * NOISES : NOISES, w, NOISE_Z ? z : 0);
                    if (NOISES > 0 && !NB && b->clip > 0)
                        over[g] = beyond_bounds(b, fine ? NOISE_STEPS * NOISES : NOISES, w, NOISE_Z ? z : 0);
                }
            }
            fresh = 0;
            for (int g = 0; g < VECS; g++)
                one_step(&context[g], state + BROWN_ROW * VECS + g, carry + g * METHOD_CARRY,
                         dW + (g * NOISE_STEPS + at) * DRAWN, dZ + (DRAW_Z ? (g * NOISE_STEPS + at) * DRAWN : 0),
                         over[g]);
#if EXTREMES
            for (int g = 0; TALLIES > 0 && b->tally && g < VECS; g++)
                tally_here(&context[g], state + TALLY_ROW * VECS + g);
#else
            if (TALLIES > 0 && b->tally) {
                for (int g = 0; local && g < VECS; g++) put_back(&context[g], state + g);
                b->step = step + 1;
                tally(b, c->top, escape);
            }
#endif
            for (int g = 0; EVENTS > 0 && b->events && g < VECS; g++)
                see_events(&context[g], state + EVENT_ROW * VECS + g, 0);
        }
        for (int g = 0; local && g < VECS; g++) put_back(&context[g], state + g);
        b->step = step;
        if (!b->ntimes || *b->time_step != step) break;
        observe(b, c->top, b->value, escape);
        b->value += b->row;
        b->time_step++;
        b->ntimes--;
    }
    if (b->given) b->given += steps * (u64)GIVEN_ROWS * VECS * LANES;
    for (int g = 0; g < VECS; g++) {
        b->iterations += context[g].iterations;
        b->evaluations += context[g].evaluations;
    }
}

/* Needs no more scratch than a block has from the beginning. */
unsigned long long kernel_increments(const struct lgv_block *b, unsigned long long steps, double *out) {
    struct ctx context = {0}, *c = &context;
    CONTEXT_SETUP(c, b->user);
    if (out) noise_rows(b, steps, out, DRAWN, DRAW_Z, VECS, NB ? other_noise : 0, c);
    return (unsigned long long)GIVEN_ROWS;
}
#endif

#if LGV_QUARTER != 1
static void kernel_advance(struct lgv_block *b, unsigned long long steps) {
    struct ctx context = {0}, *c = &context;
    CONTEXT_SETUP(c, b->user);
    guarded_advance(b, steps, advance_inside, &SIZES);
}

static void kernel_start(struct lgv_block *b) {
    struct ctx context = {.b = b}, *c = &context;
    CONTEXT_SETUP(c, b->user);
    start_rows(b->state, STATE_ROWS * VECS, TALLY_ROW * VECS, TALLIES, VECS);
    for (int g = 0; g < VECS; g++) {
        struct lgv_block one = one_vec(b, g);
        VEC_ROWS(state, BROWN_ROW, b->state);
        context.b = &one;
        SEE_DRAWN(c, b, g);
        for (long i = NX + NP; VECS > 1 && i < BROWN_ROW; i++) state[i] = vec_set(0);
        model_start(c, paths_at(one.path), state, state + NX, state + NX + NP);
        for (long i = 0; VECS > 1 && i < BROWN_ROW; i++) ((vec *)b->state)[i * VECS + g] = state[i];
    }
    kernel_project(b);
    vec *row = (vec *)b->state; /* start values: those on the constraints */
    for (long i = 0; START_Q && i < NX * VECS; i++) row[START_ROW * VECS + i] = row[i];
    for (long i = 0; START_P && i < NP * VECS; i++) row[START_P_ROW * VECS + i] = row[NX * VECS + i];
#if METHOD_SHOWN
    guarded_project(b, enter_inside, &SIZES);
#endif
}

static void kernel_observe(struct lgv_block *b, double *out) {
    struct ctx context = {0}, *c = &context; /* sizes of callback models come from it */
    CONTEXT_SETUP(c, b->user);
    guarded_observe(b, out, observe, WATCHED * VECS);
}

static unsigned long long kernel_work(const void *user) {
    struct ctx context = {0}, *c = &context;
    CONTEXT_SETUP(c, user);
    return (unsigned long long)LEAST_WORK * sizeof(vec);
}

KERNEL_LINKAGE const struct lgv_entry KERNEL_NAME = {
    LGV_ABI, LANES *VECS, VECS, kernel_work, kernel_start, kernel_advance, kernel_observe, kernel_project,
    kernel_increments,
};
#endif
