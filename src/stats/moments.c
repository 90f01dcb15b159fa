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
#include "stats/collect.h"
#include "stats/limbs.h"
#include <math.h>
#include <stdlib.h>

#define ALL 0xffffu

struct object {
    struct lgv_shape shape;
    size_t rows; /* a row is an observable at an output time: [ntimes][nseries] */
    struct lgv_limbs limbs[3];        /* of S, of high and of D + low: numbers of one row that are alike */
    struct lgv_exact *sum, *squares;  /* what does not fit there */
    double *min, *max; /* [rows] */
    uint64_t *alive;   /* [ntimes] */
    unsigned units;    /* since the limbs were last empty */
};

static void destroy(void *object) {
    struct object *o = object;
    if (!o) return;
    for (size_t i = 0; i < 3; i++) {
        free(o->limbs[i].grain);
        free(o->limbs[i].high);
        free(o->limbs[i].low);
    }
    lgv_exact_free(o->sum, o->rows);
    lgv_exact_free(o->squares, o->rows);
    free(o->sum);
    free(o->squares);
    free(o->min);
    free(o->max);
    free(o->alive);
    free(o);
}

static void *create(const void *shape) {
    struct object *o = lgv_new(1, sizeof *o);
    if (!o) return NULL;
    o->shape = *(const struct lgv_shape *)shape;
    o->rows = o->shape.ntimes * o->shape.nseries;
    o->alive = lgv_new(o->shape.ntimes, sizeof *o->alive);
    o->min = lgv_new(o->rows, sizeof *o->min);
    o->max = lgv_new(o->rows, sizeof *o->max);
    o->sum = lgv_new(o->rows, sizeof *o->sum);
    o->squares = lgv_new(o->rows, sizeof *o->squares);
    bool ok = o->min && o->max && o->alive && o->sum && o->squares;
    for (size_t i = 0; i < 3; i++) {
        struct lgv_limbs *s = &o->limbs[i];
        s->grain = lgv_new(o->rows, sizeof *s->grain);
        s->high = lgv_new(o->rows, sizeof *s->high);
        s->low = lgv_new(o->rows, sizeof *s->low);
        ok = ok && s->grain && s->high && s->low;
    }
    if (!ok) {
        destroy(o);
        return NULL;
    }
    for (size_t i = 0; i < o->rows; i++) {
        o->min[i] = INFINITY;
        o->max[i] = -INFINITY;
        for (size_t k = 0; k < 3; k++) o->limbs[k].grain[i] = LGV_LIMBS_NONE;
    }
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

/* Of numbers: a NaN may be passed over, or not. */
INLINE four least(const double *x) {
    return four_min(four_min(four_load(x), four_load(x + 4)), four_min(four_load(x + 8), four_load(x + 12)));
}
INLINE four largest(const double *x) {
    return four_max(four_max(four_load(x), four_load(x + 4)), four_max(four_load(x + 8), four_load(x + 12)));
}

/* ---- adding ---- */

/* A row that is added by itself: S of n paths, and D + S^2/n in two parts.  S mean differs from S^2/n by the rounding
 * of mean, mean (S - n mean), which is nothing when n is 16. */
static bool add_sums(struct object *o, size_t row, double sum, double n, double mean, double d) {
    double squares = sum * mean, low = __builtin_fma(sum, mean, -squares) + mean * __builtin_fma(-n, mean, sum);
    bool ok = lgv_exact_add(&o->sum[row], sum);
    ok &= lgv_exact_add(&o->squares[row], squares);
    ok &= lgv_exact_add(&o->squares[row], d + low);
    return ok;
}

/* With some paths missing: zeros in the sum, the mean in the deviations. */
static bool add_some(struct object *o, size_t row, const double *x, unsigned alive) {
    double copy[LGV_UNIT], n = __builtin_popcount(alive);
    for (unsigned l = 0; l < LGV_UNIT; l++) copy[l] = alive >> l & 1 ? x[l] : 0;
    double sum = four_sum(sum_of(copy)), mean = sum / n;
    for (unsigned l = 0; l < LGV_UNIT; l++) {
        copy[l] = alive >> l & 1 ? x[l] : mean;
        if (!(alive >> l & 1)) continue;
        o->min[row] = fmin(x[l], o->min[row]);
        o->max[row] = fmax(x[l], o->max[row]);
    }
    return add_sums(o, row, sum, n, mean, four_sum(deviations(copy, mean)));
}

/* Four rows one by one: some of their numbers do not fit the limbs.  The first ones choose the grains; D tells how
 * large a small S may become. */
static __attribute__((noinline)) bool add_slowly(struct object *o, size_t row, const double *x, const double *part,
                                                 const double *d) {
    bool ok = true;
    for (size_t i = 0; i < 4; i++) {
        double size[] = {fmax(fabs(part[i]), sqrt(d[i])), fmax(part[4 + i], d[i]), fabs(part[8 + i])};
        for (size_t k = 0; k < 3; k++) lgv_limbs_begin(&o->limbs[k], row + i, size[k]);
        ok &= add_some(o, row + i, x + i * LGV_UNIT, ALL);
    }
    return ok;
}

/* Rows row .. row + 3, 16 living paths each. */
INLINE bool add_four(struct object *o, size_t row, const double *x) {
    four s[4], m[4], part[3];
    struct lgv_limbs_step step[3];
    four_masks bad = {0, 0, 0, 0};
    for (size_t i = 0; i < 4; i++) s[i] = sum_of(x + i * LGV_UNIT);
    part[0] = four_sums(s);
    four mean = part[0] * (1.0 / LGV_UNIT);
    for (size_t i = 0; i < 4; i++) s[i] = deviations(x + i * LGV_UNIT, mean[i]);
    four d = four_sums(s);
    part[1] = part[0] * mean;
    part[2] = d + four_fused(part[0], mean, -part[1]);
    for (size_t i = 0; i < 3; i++) step[i] = lgv_limbs_split(&o->limbs[i], row, part[i], &bad);
    if (__builtin_expect(four_any(bad, LGV_LIMBS_BAD), 0)) {
        double copy[3 * 4], dev[4];
        for (size_t i = 0; i < 3; i++) four_store(copy + 4 * i, part[i]);
        four_store(dev, d);
        return add_slowly(o, row, x, copy, dev);
    }
    for (size_t i = 0; i < 3; i++) lgv_limbs_add(&o->limbs[i], row, &step[i]);
    for (size_t i = 0; i < 4; i++) { /* no NaN is among them: it would have been in the sums */
        s[i] = least(x + i * LGV_UNIT);
        m[i] = largest(x + i * LGV_UNIT);
    }
    four_store(o->min + row, four_min(four_mins(s), four_load(o->min + row)));
    four_store(o->max + row, four_max(four_maxs(m), four_load(o->max + row)));
    return true;
}

INLINE bool add_full(struct object *o, size_t row, const double *x, size_t rows) {
    bool ok = true;
    for (; rows >= 4; rows -= 4, row += 4, x += (size_t)4 * LGV_UNIT) ok &= add_four(o, row, x);
    for (; rows > 0; rows--, row++, x += LGV_UNIT) ok &= add_some(o, row, x, ALL);
    return ok;
}

static bool add_full_any(struct object *o, size_t row, const double *x, size_t rows) {
    return add_full(o, row, x, rows);
}

static WITH_AVX2 bool add_full_avx2(struct object *o, size_t row, const double *x, size_t rows) {
    return add_full(o, row, x, rows);
}

/* a += what the limbs of b hold. */
static bool take_limbs(struct object *a, const struct object *b) {
    bool ok = true;
    for (size_t i = 0; i < a->rows; i++) {
        ok &= lgv_limbs_into(&b->limbs[0], i, &a->sum[i]);
        ok &= lgv_limbs_into(&b->limbs[1], i, &a->squares[i]);
        ok &= lgv_limbs_into(&b->limbs[2], i, &a->squares[i]);
    }
    return ok;
}

static bool empty_limbs(struct object *o) {
    bool ok = take_limbs(o, o);
    for (size_t i = 0; i < 3; i++) {
        memset(o->limbs[i].high, 0, o->rows * sizeof *o->limbs[i].high);
        memset(o->limbs[i].low, 0, o->rows * sizeof *o->limbs[i].low);
    }
    o->units = 0;
    return ok;
}

/* Before the limbs can overflow. */
static bool count_unit(struct object *o) {
    return ++o->units < LGV_LIMBS_MOST || empty_limbs(o);
}

static bool add(void *object, const struct lgv_piece *piece) {
    struct object *o = object;
    bool (*full)(struct object *, size_t, const double *, size_t) = HAS_AVX2 ? add_full_avx2 : add_full_any;
    size_t n = o->shape.nseries, t = 0;
    bool ok = piece->first > 0 || count_unit(o);
    while (t < piece->count) {
        const double *x = piece->value + t * n * LGV_UNIT;
        size_t row = (piece->first + t) * n, times = 1; /* with all paths alive */
        unsigned alive = piece->alive[t];
        while (alive == ALL && t + times < piece->count && piece->alive[t + times] == ALL) times++;
        if (alive == ALL) ok &= full(o, row, x, times * n);
        for (size_t i = 0; alive && alive != ALL && i < n; i++) ok &= add_some(o, row + i, x + i * LGV_UNIT, alive);
        for (; times > 0; times--) o->alive[piece->first + t++] += (unsigned)__builtin_popcount(alive);
    }
    return ok;
}

static bool merge(void *object, const void *other) {
    struct object *a = object;
    const struct object *b = other;
    bool ok = take_limbs(a, b);
    for (size_t i = 0; i < a->rows; i++) {
        ok &= lgv_exact_merge(&a->sum[i], &b->sum[i]);
        ok &= lgv_exact_merge(&a->squares[i], &b->squares[i]);
        a->min[i] = fmin(a->min[i], b->min[i]);
        a->max[i] = fmax(a->max[i], b->max[i]);
    }
    for (size_t t = 0; t < a->shape.ntimes; t++) a->alive[t] += b->alive[t];
    return ok;
}

/* ---- parts ---- */

static void save(void *object, struct lgv_text *out) {
    struct object *o = object;
    if (!empty_limbs(o)) out->failed = true;
    lgv_text_append(out, (const char *)o->alive, o->shape.ntimes * sizeof *o->alive);
    lgv_text_append(out, (const char *)o->min, o->rows * sizeof *o->min);
    lgv_text_append(out, (const char *)o->max, o->rows * sizeof *o->max);
    for (size_t i = 0; i < o->rows; i++) {
        lgv_exact_save(&o->sum[i], out);
        lgv_exact_save(&o->squares[i], out);
    }
}

static bool load(void *object, struct lgv_bytes *from) {
    struct object *o = object;
    bool ok = true;
    lgv_bytes_take(from, o->alive, o->shape.ntimes * sizeof *o->alive);
    lgv_bytes_take(from, o->min, o->rows * sizeof *o->min);
    lgv_bytes_take(from, o->max, o->rows * sizeof *o->max);
    for (size_t i = 0; ok && !from->bad && i < o->rows; i++)
        ok = lgv_exact_load(&o->sum[i], from) && lgv_exact_load(&o->squares[i], from);
    return ok;
}

/* ---- results ---- */

/* Adding 0 makes one zero of the two: which of them came first depends on threads. */
static void finish_row(const struct object *o, size_t row, uint64_t n, struct lgv_series *s, size_t t) {
    const struct lgv_exact *sum = &o->sum[row], *squares = &o->squares[row];
    double count = (double)n, square = n > 1 ? lgv_exact_comoment(n, sum, sum, squares) : 0;
    double min = o->min[row] + 0.0, max = o->max[row] + 0.0;
    if (square < 0 || (min >= max && isfinite(square))) square = 0; /* no round-off where all values are the same */
    s->mean[t] = n ? lgv_exact_round(sum) / count : (double)NAN;
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
    if (!take_limbs(o, o)) return false;
    for (size_t i = 0; i < o->shape.nseries; i++) {
        struct lgv_series *s = &r->series[i];
        double **array[] = {&s->mean, &s->std, &s->err, &s->min, &s->max};
        for (size_t k = 0; k < 5; k++)
            if (!(*array[k] = lgv_new(n, sizeof(double)))) return false;
        for (size_t t = 0; t < n; t++) finish_row(o, t * o->shape.nseries + i, r->alive[t], s, t);
    }
    return true;
}

static double bytes(const struct lgv_shape *s) {
    double limbs = 3 * (sizeof(double) + 2 * sizeof(int64_t)), rest = 2 * sizeof(struct lgv_exact), extremes = 16;
    return (double)s->ntimes * (double)s->nseries * (limbs + rest + extremes);
}

const struct lgv_collected lgv_moments = {
    .collector = {.name = "moments", .create = create, .add = add, .merge = merge, .free = destroy,
                  .save = save, .load = load},
    .finish = finish,
    .bytes = bytes,
};
