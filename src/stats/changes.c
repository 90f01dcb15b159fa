/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Largest change of every observable along a path, over its output times, and of H and the momentum maps over every
 * step where they were tallied: the largest over paths, and the mean over the paths that started. */
#include "base/exact.h"
#include "stats/collect.h"
#include "stats/four.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALL 0xffffu

struct object {
    struct lgv_shape shape;
    double *largest;       /* [nseries] */
    struct lgv_exact *sum; /* [nseries] */
    uint64_t started, seen; /* paths of whole units; of all units */
    unsigned alive;         /* at the start of the present unit */
    double *start, *change; /* [nseries][LGV_UNIT] of the present unit */
};

static void destroy(void *object) {
    struct object *o = object;
    if (!o) return;
    lgv_exact_free(o->sum, o->shape.nseries);
    free(o->largest);
    free(o->sum);
    free(o->start);
    free(o->change);
    free(o);
}

static void *create(const void *shape) {
    struct object *o = lgv_new(1, sizeof *o);
    if (!o) return NULL;
    o->shape = *(const struct lgv_shape *)shape;
    o->largest = lgv_new(o->shape.nseries, sizeof *o->largest);
    o->sum = lgv_new(o->shape.nseries, sizeof *o->sum);
    o->start = lgv_new(o->shape.nseries * LGV_UNIT, sizeof *o->start);
    o->change = lgv_new(o->shape.nseries * LGV_UNIT, sizeof *o->change);
    if (o->largest && o->sum && o->start && o->change) return o;
    destroy(o);
    return NULL;
}

/* change = max(change, |x - start|) over some times, for 16 paths; x of the next time is `stride` further on.  NaN is
 * no change.  Rounding keeps the order, so the extremes of x give the largest difference to the last bit. */
INLINE void look(size_t times, size_t stride, const double *x, const double *start, double *change) {
    four low[LGV_UNIT / 4], high[LGV_UNIT / 4];
    for (size_t k = 0; k < LGV_UNIT / 4; k++) {
        low[k] = four_of(INFINITY);
        high[k] = four_of(-INFINITY);
    }
    for (size_t t = 0; t < times; t++, x += stride)
        for (size_t k = 0; k < LGV_UNIT / 4; k++) {
            low[k] = four_min(four_load(x + 4 * k), low[k]);
            high[k] = four_max(four_load(x + 4 * k), high[k]);
        }
    for (size_t k = 0; k < LGV_UNIT / 4; k++) {
        four s = four_load(start + 4 * k), most = four_load(change + 4 * k);
        four_store(change + 4 * k, four_max(s - low[k], four_max(high[k] - s, most)));
    }
}

static void look_any(size_t times, size_t stride, const double *x, const double *start, double *change) {
    for (size_t i = 0; i < stride; i += LGV_UNIT) look(times, stride, x + i, start + i, change + i);
}

static WITH_AVX2 void look_avx2(size_t times, size_t stride, const double *x, const double *start, double *change) {
    for (size_t i = 0; i < stride; i += LGV_UNIT) look(times, stride, x + i, start + i, change + i);
}

static void look_once(const double *x, const double *start, double *change) {
    double d = fabs(*x - *start);
    if (d > *change) *change = d;
}

/* The unit is done; of one that was stopped only the largest change counts, the mean is over whole paths. */
static bool close_unit(struct object *o, bool complete) {
    bool ok = true;
    o->started += complete ? (unsigned)__builtin_popcount(o->alive) : 0;
    o->seen += (unsigned)__builtin_popcount(o->alive);
    for (size_t i = 0; i < o->shape.nseries; i++) {
        double sum = 0;
        const double *change = o->change + i * LGV_UNIT;
        for (unsigned l = 0; l < LGV_UNIT; l++) {
            sum += change[l];
            if (change[l] > o->largest[i]) o->largest[i] = change[l];
        }
        ok = (!complete || lgv_exact_add(&o->sum[i], sum)) && ok;
    }
    return ok;
}

/* Extremes over all steps.  Infinite ones are those of a path that never made one. */
static void look_at_tallies(struct object *o, const double *tally, unsigned alive) {
    for (size_t k = 0; k < o->shape.tallies; k++, tally += 2 * LGV_UNIT) {
        size_t at = o->shape.tallied[k] * LGV_UNIT;
        for (unsigned l = 0; l < LGV_UNIT; l++)
            for (unsigned i = l; (alive >> l & 1) && i < 2 * LGV_UNIT; i += LGV_UNIT)
                if (isfinite(tally[i])) look_once(&tally[i], &o->start[at + l], &o->change[at + l]);
    }
}

static bool add(void *object, const struct lgv_piece *piece) {
    struct object *o = object;
    size_t n = o->shape.nseries * LGV_UNIT;
    void (*all)(size_t, size_t, const double *, const double *, double *) = HAS_AVX2 ? look_avx2 : look_any;
    for (size_t t = 0, times; t < piece->count; t += times) {
        const double *x = piece->value + t * n;
        unsigned alive = piece->alive[t];
        if (piece->first + t == 0) {
            memcpy(o->start, x, n * sizeof *x);
            memset(o->change, 0, n * sizeof *o->change);
            o->alive = alive;
        }
        times = 1;
        while (alive == ALL && t + times < piece->count && piece->alive[t + times] == ALL) times++;
        if (alive == ALL)
            all(times, n, x, o->start, o->change);
        else
            for (unsigned l = 0; l < LGV_UNIT; l++)
                for (size_t i = l; (alive >> l & 1) && i < n; i += LGV_UNIT)
                    look_once(x + i, o->start + i, o->change + i);
    }
    if (piece->last && piece->tally) look_at_tallies(o, piece->tally, o->alive);
    return !piece->last || close_unit(o, piece->complete);
}

static bool merge(void *object, const void *other) {
    struct object *a = object;
    const struct object *b = other;
    bool ok = true;
    a->started += b->started;
    a->seen += b->seen;
    for (size_t i = 0; i < a->shape.nseries; i++) {
        a->largest[i] = fmax(a->largest[i], b->largest[i]);
        ok = lgv_exact_merge(&a->sum[i], &b->sum[i]) && ok;
    }
    return ok;
}

static void save(void *object, struct lgv_text *out) {
    const struct object *o = object;
    lgv_text_append_count(out, o->started);
    lgv_text_append_count(out, o->seen);
    lgv_text_append(out, (const char *)o->largest, o->shape.nseries * sizeof *o->largest);
    for (size_t i = 0; i < o->shape.nseries; i++) lgv_exact_save(&o->sum[i], out);
}

static bool load(void *object, struct lgv_bytes *from) {
    struct object *o = object;
    bool ok = true;
    o->started = lgv_bytes_count(from);
    o->seen = lgv_bytes_count(from);
    lgv_bytes_take(from, o->largest, o->shape.nseries * sizeof *o->largest);
    for (size_t i = 0; ok && i < o->shape.nseries; i++) ok = lgv_exact_load(&o->sum[i], from);
    return ok;
}

static bool finish(void *object, struct lgv_result *r) {
    struct object *o = object;
    for (size_t i = 0; i < o->shape.nseries; i++) {
        r->series[i].drift = o->seen ? o->largest[i] : (double)NAN;
        r->series[i].drift_mean = o->started ? lgv_exact_round(&o->sum[i]) / (double)o->started : (double)NAN;
    }
    return true;
}

static double bytes(const struct lgv_shape *s) {
    return 400.0 * (double)s->nseries;
}

const struct lgv_collected lgv_changes = {
    .collector = {.name = "changes", .create = create, .add = add, .merge = merge, .free = destroy,
                  .save = save, .load = load},
    .finish = finish,
    .bytes = bytes,
};
