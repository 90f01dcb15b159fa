/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Quantiles along time, and histograms at the end.  Both are taken from the paths with the lowest numbers, which are a
 * fair sample; which ones does not depend on how many paths there are, so that parts can be merged. */
#include "stats/collect.h"
#include <omp.h>
#include "stats/four.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALL 0xffffu
#define EARLY_BYTES (256u << 20)
#define FINAL_PATHS 1000000

/* Values of the first npaths paths at ntimes times, unit by unit as they come; NaN where there is none. */
struct object {
    struct lgv_shape shape;
    size_t first; /* the first output time that is kept */
    size_t ntimes;
    uint64_t npaths;
    size_t units;
    double *value;   /* [units][ntimes][nseries][LGV_UNIT] */
    size_t *written; /* [units] times that have values */
};

static void destroy(void *object) {
    struct object *o = object;
    if (!o) return;
    free(o->value);
    free(o->written);
    free(o);
}

static struct object *create(const struct lgv_shape *shape, size_t first, uint64_t npaths) {
    struct object *o = lgv_new(1, sizeof *o);
    if (!o) return NULL;
    *o = (struct object){.shape = *shape, .first = first, .ntimes = shape->ntimes - first, .npaths = npaths};
    o->units = (size_t)((npaths + LGV_UNIT - 1) / LGV_UNIT);
    o->value = lgv_aligned(o->units * o->ntimes * shape->nseries * LGV_UNIT + 1);
    o->written = lgv_new(o->units + 1, sizeof *o->written);
    if (o->value && o->written) return o;
    destroy(o);
    return NULL;
}

/* Values of a unit at a time, [nseries][LGV_UNIT]. */
static double *values_at(const struct object *o, size_t unit, size_t time) {
    return o->value + (unit * o->ntimes + time) * o->shape.nseries * LGV_UNIT;
}

static uint64_t early_paths(const struct lgv_shape *s) {
    uint64_t fit = EARLY_BYTES / (sizeof(double) * s->ntimes * s->nseries);
    uint64_t n = s->paths < LGV_EARLY_PATHS ? s->paths : LGV_EARLY_PATHS;
    return n < fit ? n : fit;
}

static uint64_t final_paths(const struct lgv_shape *s) {
    return s->bins ? s->paths < FINAL_PATHS ? s->paths : FINAL_PATHS : 0;
}

static void *create_early(const void *shape) {
    return create(shape, 0, early_paths(shape));
}

static void *create_final(const void *shape) {
    const struct lgv_shape *s = shape;
    return create(s, s->ntimes - 1, final_paths(s));
}

static bool add(void *object, const struct lgv_piece *piece) {
    struct object *o = object;
    size_t row = o->shape.nseries * LGV_UNIT, begin = piece->first < o->first ? o->first - piece->first : 0;
    if (piece->path >= o->npaths || begin >= piece->count) return true;
    uint64_t room = o->npaths - piece->path;
    unsigned lanes = room < piece->used ? (unsigned)room : piece->used, all = (1u << lanes) - 1;
    double *to = values_at(o, (size_t)piece->unit, piece->first + begin - o->first);
    memcpy(to, piece->value + begin * row, (piece->count - begin) * row * sizeof *to);
    for (size_t t = begin; t < piece->count; t++, to += row)
        for (size_t i = 0; (piece->alive[t] & all) != ALL && i < row; i++)
            if (!(piece->alive[t] & all & 1u << i % LGV_UNIT)) to[i] = (double)NAN;
    o->written[piece->unit] = piece->first + piece->count - o->first;
    return true;
}

/* Paths of another part of the run: whatever it has. */
static bool merge(void *object, const void *other) {
    struct object *a = object;
    const struct object *b = other;
    size_t row = a->shape.nseries * LGV_UNIT;
    for (size_t u = 0; u < a->units && u < b->units; u++) {
        uint64_t room = a->npaths - u * LGV_UNIT;
        for (size_t t = 0; t < b->written[u]; t++) {
            double *to = values_at(a, u, t);
            const double *from = values_at(b, u, t);
            for (size_t i = 0; i < row; i++)
                if (t >= a->written[u] || !isnan(from[i])) to[i] = i % LGV_UNIT < room ? from[i] : (double)NAN;
        }
        if (b->written[u] > a->written[u]) a->written[u] = b->written[u];
    }
    return true;
}

/* Units that have values: their number, how many times, and these. */
static void save(void *object, struct lgv_text *out) {
    const struct object *o = object;
    size_t row = o->shape.nseries * LGV_UNIT;
    for (size_t u = 0; u < o->units; u++) {
        if (!o->written[u]) continue;
        lgv_text_append_count(out, u);
        lgv_text_append_count(out, o->written[u]);
        lgv_text_append(out, (const char *)values_at(o, u, 0), o->written[u] * row * sizeof *o->value);
    }
}

static bool load(void *object, struct lgv_bytes *from) {
    struct object *o = object;
    size_t row = o->shape.nseries * LGV_UNIT;
    while (from->left && !from->bad) {
        uint64_t unit = lgv_bytes_count(from), times = lgv_bytes_count(from);
        if (unit >= o->units || times > o->ntimes) from->bad = true;
        if (from->bad) break;
        o->written[unit] = (size_t)times;
        lgv_bytes_take(from, values_at(o, (size_t)unit, 0), (size_t)times * row * sizeof *o->value);
    }
    return true;
}

size_t lgv_keep_numbers(double *x, size_t n) {
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i])) x[k++] = x[i];
    return k;
}

/* 0 when all 16 are finite, else NaN. */
static double values_zero(const double *x) {
    four s = (four_load(x) * 0 + four_load(x + 4) * 0) + (four_load(x + 8) * 0 + four_load(x + 12) * 0);
    return four_sum(s);
}

/* The finite values of series i at a time, in the order of paths; returns how many. */
static size_t gather(const struct object *o, size_t time, size_t i, double *x) {
    size_t n = 0;
    double zero = 0; /* becomes NaN when a value is not finite */
    for (size_t u = 0; u < o->units; u++) {
        const double *from = values_at(o, u, time) + i * LGV_UNIT;
        if (time >= o->written[u]) continue;
        __builtin_prefetch(from + LGV_UNIT); /* the next series, or the first of the next time, is asked for next */
        __builtin_prefetch(from + LGV_UNIT + LGV_UNIT / 2);
        for (size_t l = 0; l < LGV_UNIT; l++) x[n + l] = from[l];
        zero += values_zero(from);
        n += LGV_UNIT;
    }
    return zero == 0 ? n : lgv_keep_numbers(x, n);
}

static bool finish_quantiles(void *object, struct lgv_result *r) {
    struct object *o = object;
    size_t n = o->shape.nseries;
    bool ok = true;
    r->sample_paths = o->npaths;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < LGV_QUANTILES; k++)
            if (!(r->series[i].quantile[k] = lgv_new(o->ntimes, sizeof(double)))) return false;
    uint64_t most = (uint64_t)omp_get_num_procs(); /* parts may come from a larger machine */
    int threads = o->ntimes * n * o->npaths <= 100000 || !r->threads ? 1 : (int)(r->threads < most ? r->threads : most);
#pragma omp parallel num_threads(threads)
    {
        struct lgv_ranks *scratch = lgv_ranks_create();
        double *x = lgv_aligned(LGV_EARLY_PATHS);
#pragma omp for schedule(static)
        for (size_t at = 0; at < o->ntimes * n; at++) {
            double out[LGV_QUANTILES];
            if (!scratch || !x) continue;
            lgv_ranks_quantiles(scratch, x, gather(o, at / n, at % n, x), out);
            for (size_t k = 0; k < LGV_QUANTILES; k++) r->series[at % n].quantile[k][at / n] = out[k];
        }
        if (!scratch || !x) {
#pragma omp atomic write
            ok = false;
        }
        free(x);
        lgv_ranks_free(scratch);
    }
    return ok;
}

/* ---- histograms ---- */

/* Values far outside of the range that most paths keep to are counted, but get no bins: they would take all of them. */
static void core_range(const struct lgv_series *s, size_t last, double *low, double *high) {
    double a, b;
    lgv_series_core(s, last, &a, &b);
    double width = b - a;
    if (!(width > 0) || !(*high / 100 - *low / 100 > width)) return;
    *low = fmax(*low, a - 0.5 * width);
    *high = fmin(*high, b + 0.5 * width);
}

/* Needs the quantiles of the series. */
static bool histogram(double *x, size_t n, size_t bins, const struct lgv_series *s, size_t last,
                      struct lgv_histogram *h) {
    double low = n ? x[0] : 0, high = n ? x[0] : 1;
    for (size_t i = 1; i < n; i++) {
        if (x[i] < low) low = x[i];
        if (x[i] > high) high = x[i];
    }
    core_range(s, last, &low, &high);
    if (!(high / 2 - low / 2 > 0)) {
        double w = 1e-3 * (1 + fabs(low));
        low -= w;
        high += w;
    }
    *h = (struct lgv_histogram){.name = lgv_copy(s->name),
                                .bins = bins,
                                .edge = lgv_new(bins + 1, sizeof *h->edge),
                                .count = lgv_new(bins, sizeof *h->count)};
    if (!h->name || !h->edge || !h->count) return false;
    double half = high / 2 - low / 2; /* high - low may overflow */
    for (size_t i = 0; i <= bins; i++) h->edge[i] = low + 2 * (half * ((double)i / (double)bins));
    for (size_t i = 0; i < n; i++) {
        if (x[i] < low || x[i] > high) {
            *(x[i] < low ? &h->below : &h->above) += 1;
            continue;
        }
        size_t at = (size_t)((x[i] / 2 - low / 2) / half * (double)bins);
        h->count[at < bins ? at : bins - 1]++;
    }
    return true;
}

static bool finish_histograms(void *object, struct lgv_result *r) {
    struct object *o = object;
    double *x = lgv_aligned(o->units * LGV_UNIT + 1);
    bool ok = (r->histogram = lgv_new(o->shape.nseries, sizeof *r->histogram)) != NULL && x;
    for (size_t i = 0; ok && o->shape.bins && i < o->shape.nseries; i++) {
        ok = histogram(x, gather(o, 0, i, x), o->shape.bins, &r->series[i], o->first, &r->histogram[i]);
        r->nhistograms++;
    }
    free(x);
    return ok;
}

static double bytes_early(const struct lgv_shape *s) {
    return (double)s->ntimes * (double)s->nseries * 8 * ((double)early_paths(s) + LGV_QUANTILES);
}

static double bytes_final(const struct lgv_shape *s) {
    return (double)s->nseries * 8 * (double)final_paths(s);
}

const struct lgv_collected lgv_spread = {
    .collector = {.name = "quantiles", .shared = true, .create = create_early, .add = add, .merge = merge,
                  .free = destroy, .save = save, .load = load},
    .finish = finish_quantiles,
    .bytes = bytes_early,
};

const struct lgv_collected lgv_endings = {
    .collector = {.name = "histograms", .shared = true, .create = create_final, .add = add, .merge = merge,
                  .free = destroy, .save = save, .load = load},
    .finish = finish_histograms,
    .bytes = bytes_final,
};
