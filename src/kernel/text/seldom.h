/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a kernel does seldom: noise for the caller, failures, and the way out when scratch memory ends too early.
 * Sizes come as arguments, so that it is the same in every kernel of one width.  Include-free; it follows noise.h. */
#ifndef LGV_SELDOM_H
#define LGV_SELDOM_H

struct ctx; /* face.h */

/* The increments of one step of any number of noises, fine or coarse. */
SHARED void noise_any(const struct lgv_block *b, UNKEPT const uvec *path, u64 step, long nm, int want_z, UNKEPT vec *dW,
                      UNKEPT vec *dZ);
/* The increments of a step that the caller has brought along: [row][vec], rows dW and, if want_z, dZ. */
SHARED void noise_given(const double *given, long nm, int want_z, int vecs, UNKEPT vec *dW, UNKEPT vec *dZ);
/* The noise of the next steps: out [step][row][vec].  draw: the kernel's own function, other_noise in loop.h, or 0. */
typedef void noise_drawn(const struct ctx *c, const struct lgv_block *b, const uvec *path, u64 step,
                         const double *given, vec *dW, vec *dZ);
SHARED __attribute__((SELDOM)) void noise_rows(const struct lgv_block *b, u64 steps, double *out, long nm, int want_z,
                                               int vecs, noise_drawn *draw, const struct ctx *c);

/* Records a failure for the lanes of mask that have none yet, and makes their state NaN so that they rest. */
SHARED __attribute__((cold)) void fail_lanes(struct lgv_block *b, u64 step, UNKEPT const ivec *mask, long rows,
                                             vec *state, int reason);
/* Truncated increments, Milstein, Repin & Tretyakov (2002): implicit equations may have no solution for a huge |dW|.
 * Hardly one step in a million has anything to cut: is there any among n of them?  dZ: 0 for none. */
SHARED int beyond_bounds(const struct lgv_block *b, long n, UNKEPT const vec *dW, UNKEPT const vec *dZ);
/* Three-point increments for n of them: the normals chi and eta behind dW and dZ become 0, or +-sqrt 3 where they are
 * beyond THREE_POINT, which one in three is.  Moments up to the fifth stay those of a normal, which weak order 2 needs
 * (Kloeden & Platen (1992), 14.2, doi 10.1007/978-3-662-12616-5).  A large step made of fine ones has such increments
 * too.  dZ: 0 for none. */
SHARED void three_points(const struct lgv_block *b, long n, vec *dW, vec *dZ);
/* Cuts those of a step; b->clipped counts the steps of each path that had one. */
SHARED void cut_increments(const struct lgv_block *b, long nm, UNKEPT vec *dW, UNKEPT vec *dZ);

/* Leaves the step with a note that scratch up to `end` is wanted; the functions below begin it again with more.  Where
 * there is none the paths of the block fail instead of the program. */
int _setjmp(long *) __attribute__((returns_twice));
void longjmp(long *, int) __attribute__((noreturn));
SHARED __attribute__((cold, noreturn)) void scratch_overrun(struct lgv_scratch *s, const vec *end, long *escape);

struct sizes {
    long moved, rows; /* rows of q and p, and of all of the state */
    long watched;     /* observables */
    int vecs;
    long tally, tallies; /* first row of the extremes, and of how many numbers */
};
SHARED void guarded_advance(struct lgv_block *b, u64 steps, void (*inside)(struct lgv_block *, u64, long *),
                            UNKEPT const struct sizes *n);
SHARED void guarded_project(struct lgv_block *b, void (*inside)(struct lgv_block *, long *),
                            UNKEPT const struct sizes *n);
SHARED void guarded_observe(struct lgv_block *b, double *out,
                            void (*inside)(struct lgv_block *, vec *, double *, long *), long vecs);

/* Of every x the least and the largest value so far, two rows each.  What is no number is passed over; what is infinite
 * is, too, but by guarded_advance, which finds it afterwards: nothing has to be looked for at every step. */
SHARED void widen_extremes(vec *row, int vecs, UNKEPT const vec *x, long count);
INLINE void extend_extremes(vec *row, int vecs, const vec *x, long count) {
    for (long k = 0; k < count; k++, row += 2 * vecs) {
        row[0] = vec_select((ivec)(x[k] < row[0]), x[k], row[0]);
        row[vecs] = vec_select((ivec)(x[k] > row[vecs]), x[k], row[vecs]);
    }
}
/* All rows of a state zero, but nothing seen yet of the extremes. */
SHARED void start_rows(double *state, long rows, long first, long extremes, int vecs);

INLINE uvec paths_at(const unsigned long long *path) {
    uvec r;
    __builtin_memcpy(&r, path, sizeof r);
    return r;
}

#if LGV_HALF != 2
SHARED void noise_any(const struct lgv_block *b, const uvec *path, u64 step, long nm, int want_z, vec *dW, vec *dZ) {
    noise_step(b->seed, *path, step, b->coarsen, b->dt, (int)nm, want_z, dW, dZ);
}

SHARED void noise_rows(const struct lgv_block *b, u64 steps, double *out, long nm, int want_z, int vecs,
                       noise_drawn *draw, const struct ctx *c) {
    vec *dW = (vec *)b->scratch->memory, *to = (vec *)out;
    long rows = want_z ? 2 * nm : nm;
    PLAIN for (u64 k = 0; k < steps; k++, to += rows * vecs)
        PLAIN for (int g = 0; g < vecs; g++) {
            uvec path = paths_at(b->path + g * LANES);
            if (draw)
                draw(c, b, &path, b->step + k, 0, dW, dW + nm);
            else
                noise_any(b, &path, b->step + k, nm, want_z, dW, dW + nm);
            PLAIN for (long i = 0; i < rows; i++) __builtin_memcpy(&to[i * vecs + g], &dW[i], sizeof(vec));
        }
}

SHARED void noise_given(const double *given, long nm, int want_z, int vecs, vec *dW, vec *dZ) {
    const vec *row = (const vec *)given;
    PLAIN for (long m = 0; m < nm; m++) {
        dW[m] = row[m * vecs];
        if (want_z) dZ[m] = row[(nm + m) * vecs];
    }
}

SHARED void fail_lanes(struct lgv_block *b, u64 step, const ivec *mask, long rows, vec *state, int reason) {
    PLAIN for (int l = 0; l < LANES; l++) {
        if (!(*mask)[l] || b->fail[l]) continue;
        b->fail[l] = reason;
        b->fail_step[l] = step;
        PLAIN for (long i = 0; i < rows; i++) state[i][l] = __builtin_nan("");
    }
}

struct bounds {
    double w, z;
};
static struct bounds bounds_of(const struct lgv_block *b) {
    double most = b->clip * __builtin_sqrt(b->dt);
    return (struct bounds){most, LGV_CLIP_INTEGRAL * most * b->dt};
}

SHARED int beyond_bounds(const struct lgv_block *b, long n, const vec *dW, const vec *dZ) {
    struct bounds most = bounds_of(b);
    ivec over = {0};
    PLAIN for (long m = 0; m < n; m++) {
        over |= (ivec)(vec_abs(dW[m]) > most.w);
        if (dZ) over |= (ivec)(vec_abs(dZ[m]) > most.z);
    }
    return vec_any(over);
}

#define THREE_POINT 0.96742156610170103955 /* 2/3 of all normals are within it */
static vec three_point(vec z) { /* 0 has the sign of z: methods/flows.c */
    vec size = vec_select((ivec)(vec_abs(z) > THREE_POINT), vec_set(1.7320508075688772935), vec_set(0.0));
    return vec_select((ivec)z < 0, -size, size);
}

SHARED void three_points(const struct lgv_block *b, long n, vec *dW, vec *dZ) {
    double root = __builtin_sqrt(b->dt), half = 0.5 * b->dt * root;
    PLAIN for (long m = 0; m < n; m++) {
        vec chi = dW[m] / root, point = three_point(chi);
        dW[m] = root * point;
        if (dZ) {
            vec eta = (dZ[m] / half - chi) * 1.7320508075688772935;
            dZ[m] = half * FUSED(0.57735026918962576451, three_point(eta), point);
        }
    }
}

SHARED void cut_increments(const struct lgv_block *b, long nm, vec *dW, vec *dZ) {
    struct bounds most = bounds_of(b);
    ivec over = {0};
    PLAIN for (long m = 0; m < nm; m++) {
        over |= (ivec)(vec_abs(dW[m]) > most.w);
        dW[m] = vec_min(vec_max(dW[m], vec_set(-most.w)), vec_set(most.w));
        if (dZ) dZ[m] = vec_min(vec_max(dZ[m], vec_set(-most.z)), vec_set(most.z));
    }
    PLAIN for (int l = 0; l < LANES; l++)
        if (over[l]) b->clipped[l]++;
}

SHARED void scratch_overrun(struct lgv_scratch *s, const vec *end, long *escape) {
    s->wanted = (unsigned long long)((const char *)end - (const char *)s->memory);
    longjmp(escape, 1);
}

static __attribute__((noinline, cold)) int more_scratch(struct lgv_block *b) {
    struct lgv_scratch *s = b->scratch;
    unsigned long long bytes = s->room + s->room / 4;
    if (bytes < s->wanted) bytes = s->wanted;
    if (!s->grow || !s->grow(s, bytes)) return 0;
    s->wanted = 0;
    return 1;
}

#define ESCAPE_ROOM 128 /* a jmp_buf of any C library */

/* What a block was before a call, to begin it again: the rows of its state are in b->scratch->state. */
struct before {
    struct lgv_block block;
    int fail[LGV_MOST_LANES];
    unsigned long long fail_step[LGV_MOST_LANES], clipped[LGV_MOST_LANES], astray[LGV_MOST_LANES];
};

static __attribute__((noinline)) void remember(const struct lgv_block *b, struct before *m, const struct sizes *n) {
    unsigned long paths = (unsigned long)(LANES * n->vecs);
    m->block = *b;
    __builtin_memcpy(m->fail, b->fail, paths * sizeof *b->fail);
    __builtin_memcpy(m->fail_step, b->fail_step, paths * sizeof *b->fail_step);
    __builtin_memcpy(m->clipped, b->clipped, paths * sizeof *b->clipped);
    __builtin_memcpy(m->astray, b->astray, paths * sizeof *b->astray);
    __builtin_memcpy(b->scratch->state, b->state, (unsigned long)n->rows * paths * sizeof(double));
}

static __attribute__((noinline, cold)) void go_back(struct lgv_block *b, const struct before *m,
                                                    const struct sizes *n) {
    unsigned long paths = (unsigned long)(LANES * n->vecs);
    *b = m->block;
    __builtin_memcpy(b->fail, m->fail, paths * sizeof *b->fail);
    __builtin_memcpy(b->fail_step, m->fail_step, paths * sizeof *b->fail_step);
    __builtin_memcpy(b->clipped, m->clipped, paths * sizeof *b->clipped);
    __builtin_memcpy(b->astray, m->astray, paths * sizeof *b->astray);
    __builtin_memcpy(b->state, b->scratch->state, (unsigned long)n->rows * paths * sizeof(double));
}

static __attribute__((noinline, cold)) void scratch_failed(struct lgv_block *b, const struct sizes *n) {
    PLAIN for (int l = 0; l < LANES * n->vecs; l++) {
        if (b->fail[l]) continue;
        b->fail[l] = LGV_FAIL_SCRATCH;
        b->fail_step[l] = b->step;
        PLAIN for (long i = 0; i < n->moved; i++) b->state[i * LANES * n->vecs + l] = __builtin_nan("");
    }
}

static __attribute__((noinline, cold)) void nothing_seen(double *out, long vecs) {
    PLAIN for (long i = 0; i < vecs * LANES; i++) out[i] = __builtin_nan("");
}

static __attribute__((noinline, cold)) void advance_failed(struct lgv_block *b, u64 steps, const struct sizes *n) {
    const u64 end = b->step + steps;
    scratch_failed(b, n);
    PLAIN for (; b->ntimes && *b->time_step <= end; b->value += b->row, b->time_step++, b->ntimes--)
        nothing_seen(b->value, n->watched * n->vecs);
    b->step = end;
}

/* Puts extremes that have become infinite back to what they were before the call; returns whether there are any. */
static __attribute__((noinline)) int put_back_infinite(struct lgv_block *b, const struct sizes *n) {
    const long paths = LANES * n->vecs, first = n->tally * paths;
    double *now = b->state + first, *before = b->scratch->state + first;
    int any = 0;
    PLAIN for (long i = 0; i < 2 * n->tallies * paths; i++) {
        if (now[i] != (i / paths % 2 ? __builtin_inf() : -__builtin_inf())) continue;
        now[i] = before[i];
        any = 1;
    }
    return any;
}

SHARED void guarded_advance(struct lgv_block *b, u64 steps, void (*inside)(struct lgv_block *, u64, long *),
                            const struct sizes *n) {
    long escape[ESCAPE_ROOM] __attribute__((aligned(16)));
    struct before before;
    remember(b, &before, n);
    if (_setjmp(escape) != 0) {
        go_back(b, &before, n);
        if (!more_scratch(b)) {
            advance_failed(b, steps, n);
            return;
        }
    }
    inside(b, steps, escape);
    if (!b->tally || !put_back_infinite(b, n) || steps == 1) return;
    go_back(b, &before, n); /* what was finite in these steps is lost */
    PLAIN for (u64 k = 0; k < steps; k++) guarded_advance(b, 1, inside, n);
}

SHARED void guarded_project(struct lgv_block *b, void (*inside)(struct lgv_block *, long *), const struct sizes *n) {
    long escape[ESCAPE_ROOM] __attribute__((aligned(16)));
    struct before before;
    remember(b, &before, n);
    if (_setjmp(escape) != 0) {
        go_back(b, &before, n);
        if (!more_scratch(b)) {
            scratch_failed(b, n);
            return;
        }
    }
    inside(b, escape);
}

SHARED void guarded_observe(struct lgv_block *b, double *out,
                            void (*inside)(struct lgv_block *, vec *, double *, long *), long vecs) {
    long escape[ESCAPE_ROOM] __attribute__((aligned(16)));
    if (_setjmp(escape) != 0) {
        if (!more_scratch(b)) {
            nothing_seen(out, vecs);
            return;
        }
    }
    inside(b, (vec *)b->scratch->memory, out, escape);
}

SHARED void start_rows(double *state, long rows, long first, long extremes, int vecs) {
    vec *row = (vec *)state;
    PLAIN for (long i = 0; i < rows; i++) {
        long at = (i - first) / vecs;
        int extreme = i >= first && at < 2 * extremes;
        row[i] = vec_set(!extreme ? 0 : at % 2 ? -__builtin_inf() : __builtin_inf());
    }
}

SHARED void widen_extremes(vec *row, int vecs, const vec *x, long count) {
    PLAIN for (long k = 0; k < count; k++) extend_extremes(row + 2 * vecs * k, vecs, x + k, 1);
}
#endif

#endif
