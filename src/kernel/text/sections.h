/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Poincare sections: crossings of s(q, p, v, t) = 0, looked for after every step and located inside it.  Include-free;
 * part of kernels that have any, in front of loop.h.
 *
 * Each section has two rows of the state: s at the last step, and the number of crossings so far, by which they have
 * their places in b->crossing; what is repeated is written to the same place again.
 *
 * A crossing is located on the curve of the part z of the step, 0 <= z <= 1: the method's own step of the length z dt
 * from where the step began, with the noise z dW (a Brownian motion that is straight inside the step).  With a bath,
 * whose map is made for whole steps only, the curve is the straight line between the ends of the step.  z is found by
 * the Illinois method (Dowell & Jarratt 1971, doi:10.1007/BF01934364), until s is 1e-12 of its values at the ends.
 * What crosses and returns inside one step is not seen; what jumps over zero is no crossing. */

#ifndef NC
#define NC 0L
#define MODEL_L 0
#endif
#ifndef NB
#define NB 0
#endif
#define SECTION_EXTRA (NC + (MODEL_L ? NP : 0) + (COMPENSATED ? 2 * NP : 0)) /* velocities, multipliers; or rests */
#define SECTION_KEPT (NX + NP + SECTION_EXTRA)
#define SECTION_ZERO 1e-12
#define SECTION_JUMP 1e-10

static const int section_way[] = {SECTION_WAYS}, section_first[] = {SECTION_FIRSTS};
static const int section_count[] = {SECTION_COUNTS};

INLINE double *crossing_place(const struct lgv_block *b, long lane, long section, u64 number) {
    return b->crossing + ((u64)(lane * SECTIONS + section) * b->crossings + number) * SECTION_WIDTH;
}

/* The state before the step: q and p, then the rows behind. */
INLINE void keep_step(const struct ctx *c, vec *kept) {
    for (long i = 0; i < NX; i++) kept[i] = c->q[i];
    for (long i = 0; i < NP; i++) kept[NX + i] = c->p[i];
    for (long i = 0; i < SECTION_EXTRA; i++) kept[NX + NP + i] = c->extra[i * VECS];
}

/* A part of the step that has been made. */
struct part_step {
    const vec *kept, *dW, *dZ;
    vec *state; /* [SECTION_KEPT] at the part */
    double t;
};

INLINE void make_part(struct ctx *c, struct part_step *s, double z) {
    const double begin = c->b->t0 + (double)(c->step - 1) * c->b->dt;
    s->t = begin + z * c->b->dt;
    for (long i = 0; i < SECTION_KEPT; i++) s->state[i] = s->kept[i];
#if NB
    for (long i = 0; i < SECTION_KEPT; i++) {
        vec end = i < NX ? c->q[i] : i < NX + NP ? c->p[i - NX] : c->extra[(i - NX - NP) * VECS];
        s->state[i] += z * (end - s->kept[i]);
    }
#else
    int fail[LANES] = {0};
    u64 fail_step[LANES] = {0};
    struct lgv_block quiet = *c->b;
    struct ctx own = *c;
    struct ctx *before = c;
    c = &own; /* arrays are taken from its scratch */
    ARRAY(w, NM);
    ARRAY(x, METHOD_DZ ? NM : 0);
    ARRAY(extra, SECTION_EXTRA * VECS);
    ARRAY(carry, METHOD_CARRY);
    for (long m = 0; m < NM; m++) w[m] = z * s->dW[m];
    for (long m = 0; METHOD_DZ && m < NM; m++) x[m] = z * z * s->dZ[m];
    for (long i = 0; i < SECTION_EXTRA; i++) extra[i * VECS] = s->kept[NX + NP + i];
    quiet.fail = fail;
    quiet.fail_step = fail_step;
    quiet.t0 = begin;
    quiet.dt = z * before->b->dt;
    own.b = &quiet;
    own.dt = quiet.dt;
    own.base = own.from = 0;
    own.width = 1;
    own.q = s->state;
    own.p = s->state + NX;
    own.extra = extra;
    method_begin(&own, own.q, own.p, carry);
    method_step(&own, own.q, own.p, w, x, carry);
    for (long i = 0; i < SECTION_EXTRA; i++) s->state[NX + NP + i] = extra[i * VECS];
#endif
}

/* s of section k for one lane at a part of the step. */
INLINE double section_at(struct ctx *c, struct part_step *s, double z, long k, int lane) {
    vec *top = c->top;
    ARRAY(x, SECTIONS);
    make_part(c, s, z);
    model_sections(c, s->t, s->state, s->state + NX, s->state + NX + NP, x);
    c->top = top;
    return x[k][lane];
}

/* Makes the state at the crossing of one lane; 0 when there is none. */
INLINE int locate(struct ctx *c, struct part_step *s, long k, int lane, double first, double last) {
    const double size = __builtin_fabs(first) + __builtin_fabs(last);
    double a = 0, fa = first, b = 1, fb = last, f = last;
    for (int i = 0, moved = 0; i < 100; i++) {
        double z = (fa * b - fb * a) / (fa - fb);
        if (!(z > a && z < b)) z = 0.5 * (a + b);
        f = section_at(c, s, z, k, lane);
        if (!(__builtin_fabs(f) > SECTION_ZERO * size) || !(z > a && z < b)) break;
        if ((f < 0) == (first < 0)) {
            if (moved < 0) fb *= 0.5; /* the same end twice: the other one weighs less */
            a = z, fa = f, moved = -1;
        } else {
            if (moved > 0) fa *= 0.5;
            b = z, fb = f, moved = 1;
        }
    }
    return __builtin_fabs(f) <= SECTION_JUMP * (size > 1 ? size : 1);
}

static __attribute__((noinline)) void record_crossings(struct ctx *c, const vec *kept, const vec *dW, const vec *dZ,
                                                       long k, const ivec *crosses, const vec *first, const vec *last,
                                                       vec *count) {
    vec *top = c->top;
    ARRAY(state, SECTION_KEPT);
    ARRAY(seen, SECTION_SEEN);
    struct part_step s = {.kept = kept, .dW = dW, .dZ = dZ, .state = state};
    for (int l = 0; l < LANES; l++) {
        if (!(*crosses)[l] || c->b->fail[l] || !locate(c, &s, k, l, (*first)[l], (*last)[l])) continue;
        const u64 number = (u64)(*count)[l];
        (*count)[l] += 1;
        if (number >= c->b->crossings) continue;
        model_crossing(c, s.t, state, state + NX, state + NX + NP, seen);
        double *to = crossing_place(c->b, l, k, number);
        to[0] = s.t;
        for (long i = 0; i < section_count[k]; i++) to[1 + i] = seen[section_first[k] + i][l];
    }
    c->top = top;
}

INLINE void see_sections(struct ctx *c, const vec *kept, const vec *dW, const vec *dZ, vec *row, int begin) {
    vec *top = c->top;
    ARRAY(x, SECTIONS);
    ARRAY(v, MODEL_L ? NP : 0);
    for (long i = 0; MODEL_L && i < NP; i++) v[i] = c->extra[i * VECS];
    model_sections(c, time_at(c, 0), c->q, c->p, v, x);
    for (long k = 0; k < SECTIONS; k++, row += 2 * VECS) {
        if (begin) {
            row[VECS] = vec_set(0);
        } else {
            ivec up = (ivec)(row[0] < 0) & (ivec)(x[k] >= 0), down = (ivec)(row[0] > 0) & (ivec)(x[k] <= 0);
            ivec crosses = section_way[k] > 0 ? up : section_way[k] < 0 ? down : up | down;
            if (RARELY(vec_any(crosses))) {
                ARRAY(state, NX + NP);
                struct ctx own = apart(c, state);
                const ivec which = crosses;
                const vec last = x[k];
                record_crossings(&own, kept, dW, dZ, k, &which, &row[0], &last, &row[VECS]);
            }
        }
        row[0] = x[k];
    }
    c->top = top;
}
