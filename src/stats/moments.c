/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Means, deviations and extremes of every observable at every output time.
 *
 * Inside a unit of n living paths, in one fixed order:  S = sum x,  D = sum (x - S/n)^2.  Across units exactly:
 *
 *     A = sum S,    B = sum (D + S^2/n)        S^2/n = high + low, so that no bit of B is lost to cancellation later
 *     mean = A / N,    variance = (B - A^2/N) / (N - 1)
 *
 * Exact sums commute, so the bits depend neither on threads nor on the order of units, and parts can be merged.  Failed
 * paths count until they fail.
 *
 * This file is compiled without contraction of products and sums: the copies for different processors have the same
 * bits. */
#include "base/exact.h"
#include "stats/collect.h"
#include "stats/four.h"
#include <math.h>
#include <stdlib.h>

#define ALL 0xffffu

struct moments {
    struct lgv_exact sum, squares;
    four min, max; /* of paths l, l + 4, l + 8, l + 12 of all units */
};

struct object {
    struct lgv_shape shape;
    struct moments *row; /* [ntimes][nseries] */
    uint64_t *alive;     /* [ntimes] */
};

static void destroy(void *object) {
    struct object *o = object;
    if (!o) return;
    for (size_t i = 0; o->row && i < o->shape.ntimes * o->shape.nseries; i++) {
        lgv_exact_free(&o->row[i].sum, 1);
        lgv_exact_free(&o->row[i].squares, 1);
    }
    free(o->row);
    free(o->alive);
    free(o);
}

static void *create(const void *shape) {
    struct object *o = lgv_new(1, sizeof *o);
    if (!o) return NULL;
    o->shape = *(const struct lgv_shape *)shape;
    size_t n = o->shape.ntimes * o->shape.nseries;
    o->alive = lgv_new(o->shape.ntimes, sizeof *o->alive);
    if (posix_memalign((void **)&o->row, 64, (n + 1) * sizeof *o->row)) o->row = NULL;
    if (!o->row || !o->alive) {
        destroy(o);
        return NULL;
    }
    four inf = {INFINITY, INFINITY, INFINITY, INFINITY};
    for (size_t i = 0; i < n; i++) o->row[i] = (struct moments){.min = inf, .max = -inf};
    return o;
}

/* ---- one row: an observable of 16 paths ---- */

INLINE four sum_of(const double *x) {
    return (four_load(x) + four_load(x + 4)) + (four_load(x + 8) + four_load(x + 12));
}

INLINE four deviations(const double *x, double mean) {
    four m = four_of(mean), a = four_load(x) - m, b = four_load(x + 4) - m, c = four_load(x + 8) - m,
         d = four_load(x + 12) - m;
    return (a * a + b * b) + (c * c + d * d);
}

INLINE void add_extremes(struct moments *m, const double *x) {
    four a = four_load(x), b = four_load(x + 4), c = four_load(x + 8), d = four_load(x + 12);
    m->min = four_min(d, four_min(c, four_min(b, four_min(a, m->min))));
    m->max = four_max(d, four_max(c, four_max(b, four_max(a, m->max))));
}

/* S of n paths, and D + S^2/n in two parts: S mean differs from S^2/n by the rounding of mean, mean (S - n mean). */
INLINE bool add_sums(struct moments *m, double sum, double n, double mean, double d) {
    double squares = sum * mean, low = __builtin_fma(sum, mean, -squares) + mean * __builtin_fma(-n, mean, sum);
    bool ok = lgv_exact_add(&m->sum, sum);
    ok &= lgv_exact_add(&m->squares, squares);
    ok &= lgv_exact_add(&m->squares, d + low);
    return ok;
}

/* With some paths missing: zeros in the sum, the mean in the deviations, any living path in the extremes. */
static bool add_some(struct moments *m, const double *x, unsigned alive) {
    double copy[LGV_UNIT], n = __builtin_popcount(alive);
    for (unsigned l = 0; l < LGV_UNIT; l++) copy[l] = alive >> l & 1 ? x[l] : 0;
    double sum = four_sum(sum_of(copy)), mean = sum / n;
    for (unsigned l = 0; l < LGV_UNIT; l++) copy[l] = alive >> l & 1 ? x[l] : mean;
    double d = four_sum(deviations(copy, mean));
    for (unsigned l = 0; l < LGV_UNIT; l++) copy[l] = alive >> l & 1 ? x[l] : x[__builtin_ctz(alive)];
    add_extremes(m, copy);
    return add_sums(m, sum, n, mean, d);
}

/* Rows of 16 living paths, four at a time: the last few may be taken twice for what is computed, never for what is
 * added. */
INLINE bool add_full(struct moments *m, const double *x, size_t rows) {
    bool ok = true;
    for (size_t k = 0; k < rows; k += 4) {
        const double *row[4];
        four s[4];
        for (size_t i = 0; i < 4; i++) {
            row[i] = x + (k + i < rows ? k + i : rows - 1) * LGV_UNIT;
            s[i] = sum_of(row[i]);
        }
        four sum = four_sums(s), mean = sum * (1.0 / LGV_UNIT);
        for (size_t i = 0; i < 4; i++) s[i] = deviations(row[i], mean[i]);
        four d = four_sums(s);
        for (size_t i = 0; i < 4 && k + i < rows; i++) {
            add_extremes(&m[k + i], row[i]);
            ok &= add_sums(&m[k + i], sum[i], LGV_UNIT, mean[i], d[i]);
        }
    }
    return ok;
}

static bool add_full_any(struct moments *m, const double *x, size_t rows) {
    return add_full(m, x, rows);
}

static WITH_AVX2 bool add_full_avx2(struct moments *m, const double *x, size_t rows) {
    return add_full(m, x, rows);
}

static bool add(void *object, const struct lgv_piece *piece) {
    struct object *o = object;
    bool (*full)(struct moments *, const double *, size_t) = HAS_AVX2 ? add_full_avx2 : add_full_any;
    size_t n = o->shape.nseries, t = 0;
    bool ok = true;
    while (t < piece->count) {
        const double *x = piece->value + t * n * LGV_UNIT;
        struct moments *m = o->row + (piece->first + t) * n;
        unsigned alive = piece->alive[t];
        size_t times = 1; /* with all paths alive */
        while (alive == ALL && t + times < piece->count && piece->alive[t + times] == ALL) times++;
        if (alive == ALL) ok &= full(m, x, times * n);
        for (size_t i = 0; alive && alive != ALL && i < n; i++) ok &= add_some(&m[i], x + i * LGV_UNIT, alive);
        for (; times > 0; times--) o->alive[piece->first + t++] += (unsigned)__builtin_popcount(alive);
    }
    return ok;
}

static bool merge(void *object, const void *other) {
    struct object *a = object;
    const struct object *b = other;
    bool ok = true;
    for (size_t i = 0; i < a->shape.ntimes * a->shape.nseries; i++) {
        ok = lgv_exact_merge(&a->row[i].sum, &b->row[i].sum) && ok;
        ok = lgv_exact_merge(&a->row[i].squares, &b->row[i].squares) && ok;
        a->row[i].min = four_min(b->row[i].min, a->row[i].min);
        a->row[i].max = four_max(b->row[i].max, a->row[i].max);
    }
    for (size_t t = 0; t < a->shape.ntimes; t++) a->alive[t] += b->alive[t];
    return ok;
}

/* ---- results ---- */

static void finish_row(const struct moments *m, uint64_t n, struct lgv_series *s, size_t t) {
    double count = (double)n, square = n > 1 ? lgv_exact_comoment(n, &m->sum, &m->sum, &m->squares) : 0;
    double min = fmin(fmin(m->min[0], m->min[1]), fmin(m->min[2], m->min[3]));
    double max = fmax(fmax(m->max[0], m->max[1]), fmax(m->max[2], m->max[3]));
    if (square < 0 || (min >= max && isfinite(square))) square = 0; /* no round-off where all values are the same */
    s->mean[t] = n ? lgv_exact_round(&m->sum) / count : (double)NAN;
    s->std[t] = n > 1 ? sqrt(square / (count - 1)) : n ? 0 : (double)NAN;
    s->err[t] = n > 1 ? s->std[t] / sqrt(count) : (double)NAN;
    s->min[t] = min <= max ? min : (double)NAN; /* over the values that are numbers */
    s->max[t] = min <= max ? max : (double)NAN;
}

static bool finish(void *object, struct lgv_result *r) {
    struct object *o = object;
    size_t n = o->shape.ntimes;
    r->alive = o->alive;
    o->alive = NULL;
    for (size_t i = 0; i < o->shape.nseries; i++) {
        struct lgv_series *s = &r->series[i];
        double **array[] = {&s->mean, &s->std, &s->err, &s->min, &s->max};
        for (size_t k = 0; k < 5; k++)
            if (!(*array[k] = lgv_new(n, sizeof(double)))) return false;
        for (size_t t = 0; t < n; t++) finish_row(&o->row[t * o->shape.nseries + i], r->alive[t], s, t);
    }
    return true;
}

static double bytes(const struct lgv_shape *s) {
    return (double)s->ntimes * (double)s->nseries * sizeof(struct moments);
}

const struct lgv_collected lgv_moments = {
    .collector = {.name = "moments", .create = create, .add = add, .merge = merge, .free = destroy},
    .finish = finish,
    .bytes = bytes,
};
