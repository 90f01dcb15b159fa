/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Quantiles along time, and histograms at the end.  Both are taken from the paths with the lowest numbers, which are a
 * fair sample; which ones does not depend on how many paths there are, so that parts can be merged. */
#include "stats/collect.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EARLY_PATHS 2048
#define EARLY_BYTES (256u << 20)
#define FINAL_PATHS 1000000

/* Values of the first npaths paths at ntimes times, NaN where there is none. */
struct object {
    struct lgv_shape shape;
    size_t first; /* the first output time that is kept */
    size_t ntimes;
    uint64_t npaths;
    double *value; /* [ntimes][nseries][npaths] */
};

static void destroy(void *object) {
    struct object *o = object;
    if (o) free(o->value);
    free(o);
}

static struct object *create(const struct lgv_shape *shape, size_t first, uint64_t npaths) {
    struct object *o = lgv_new(1, sizeof *o);
    if (!o) return NULL;
    *o = (struct object){.shape = *shape, .first = first, .ntimes = shape->ntimes - first, .npaths = npaths};
    size_t n = o->ntimes * shape->nseries * (size_t)npaths;
    o->value = malloc((n + 1) * sizeof *o->value);
    if (!o->value) {
        destroy(o);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) o->value[i] = (double)NAN;
    return o;
}

static uint64_t early_paths(const struct lgv_shape *s) {
    uint64_t fit = EARLY_BYTES / (sizeof(double) * s->ntimes * s->nseries);
    uint64_t n = s->paths < EARLY_PATHS ? s->paths : EARLY_PATHS;
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
    size_t n = o->shape.nseries;
    if (piece->path >= o->npaths) return true;
    uint64_t room = o->npaths - piece->path;
    unsigned lanes = room < piece->used ? (unsigned)room : piece->used;
    for (size_t t = 0; t < piece->count; t++) {
        if (piece->first + t < o->first) continue;
        double *to = o->value + (piece->first + t - o->first) * n * o->npaths + piece->path;
        const double *from = piece->value + t * n * LGV_UNIT;
        if (piece->alive[t] == 0xffff && lanes == LGV_UNIT)
            for (size_t i = 0; i < n; i++) memcpy(to + i * o->npaths, from + i * LGV_UNIT, LGV_UNIT * sizeof *to);
        else
            for (size_t i = 0; i < n; i++)
                for (unsigned l = 0; l < lanes; l++)
                    if (piece->alive[t] >> l & 1) to[i * o->npaths + l] = from[i * LGV_UNIT + l];
    }
    return true;
}

/* Paths of another part of the run: whatever it has. */
static bool merge(void *object, const void *other) {
    struct object *a = object;
    const struct object *b = other;
    for (size_t k = 0; k < a->ntimes * a->shape.nseries; k++)
        for (uint64_t i = 0; i < a->npaths && i < b->npaths; i++) {
            double x = b->value[k * b->npaths + i];
            if (!isnan(x)) a->value[k * a->npaths + i] = x;
        }
    return true;
}

/* ---- quantiles ---- */

size_t lgv_keep_numbers(double *x, size_t n) {
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i])) x[k++] = x[i];
    return k;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#define BINS 512
struct ranks { /* scratch: how many values fall into each of BINS equal parts of their range */
    uint32_t below[BINS + 1];
    uint16_t bin[EARLY_PATHS];
    uint8_t wanted[BINS];     /* 1: a rank that is asked for lies there */
    uint32_t place[BINS];     /* where the values of a wanted bin go in `sorted` */
    double sorted[EARLY_PATHS];
};

/* False when the values are all the same, or spread beyond what doubles can divide. */
static bool bin_values(struct ranks *r, const double *x, size_t n) {
    double low = x[0], high = x[0];
    for (size_t i = 1; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    double scale = BINS / (high - low);
    if (!(scale > 0 && isfinite(scale))) return false;
    memset(r->below, 0, sizeof r->below);
    memset(r->wanted, 0, sizeof r->wanted);
    for (size_t i = 0; i < n; i++) {
        int at = (int)((x[i] - low) * scale);
        r->bin[i] = (uint16_t)(at < BINS ? at : BINS - 1);
        r->below[r->bin[i] + 1]++;
    }
    for (size_t k = 0; k < BINS; k++) r->below[k + 1] += r->below[k];
    return true;
}

static size_t bin_of_rank(const struct ranks *r, size_t k) {
    size_t low = 0, high = BINS;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        *(r->below[middle] <= k ? &low : &high) = middle;
    }
    return low;
}

/* Puts the values of ranks k[0..count) among x[0..n) where sorting all would put them: only their bins are sorted. */
static void sort_ranks(struct ranks *r, const double *x, size_t n, const size_t *k, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t bin = bin_of_rank(r, k[i]);
        r->wanted[bin] = 1;
        r->place[bin] = r->below[bin];
    }
    for (size_t i = 0; i < n; i++)
        if (r->wanted[r->bin[i]]) r->sorted[r->place[r->bin[i]]++] = x[i];
    for (size_t i = 0; i < count; i++) {
        size_t bin = bin_of_rank(r, k[i]);
        if (r->wanted[bin])
            qsort(r->sorted + r->below[bin], r->below[bin + 1] - r->below[bin], sizeof *r->sorted, ascending);
        r->wanted[bin] = 0;
    }
}

static void quantiles(struct ranks *r, double *x, size_t n, double *out) {
    double at[LGV_QUANTILES];
    size_t rank[2 * LGV_QUANTILES];
    for (size_t k = 0; k < LGV_QUANTILES; k++) {
        at[k] = lgv_quantile_levels[k] * (double)(n ? n - 1 : 0);
        rank[2 * k] = (size_t)at[k];
        rank[2 * k + 1] = rank[2 * k] + 1 < n ? rank[2 * k] + 1 : rank[2 * k];
        out[k] = (double)NAN;
    }
    if (!n) return;
    if (bin_values(r, x, n))
        sort_ranks(r, x, n, rank, 2 * LGV_QUANTILES);
    else {
        memcpy(r->sorted, x, n * sizeof *x);
        qsort(r->sorted, n, sizeof *r->sorted, ascending);
    }
    for (size_t k = 0; k < LGV_QUANTILES; k++) {
        double a = r->sorted[rank[2 * k]], b = r->sorted[rank[2 * k + 1]];
        out[k] = a + (at[k] - (double)rank[2 * k]) * (b - a);
    }
}

static bool finish_quantiles(void *object, struct lgv_result *r) {
    struct object *o = object;
    size_t n = o->shape.nseries;
    bool ok = true;
    r->sample_paths = o->npaths;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < LGV_QUANTILES; k++)
            if (!(r->series[i].quantile[k] = lgv_new(o->ntimes, sizeof(double)))) return false;
    int threads = o->ntimes * n * o->npaths > 100000 && r->threads ? (int)r->threads : 1;
#pragma omp parallel num_threads(threads)
    {
        struct ranks *scratch = malloc(sizeof *scratch);
#pragma omp for schedule(static)
        for (size_t at = 0; at < o->ntimes * n; at++) {
            double *x = o->value + at * o->npaths, out[LGV_QUANTILES];
            if (!scratch) continue;
            quantiles(scratch, x, lgv_keep_numbers(x, (size_t)o->npaths), out);
            for (size_t k = 0; k < LGV_QUANTILES; k++) r->series[at % n].quantile[k][at / n] = out[k];
        }
        if (!scratch) {
#pragma omp atomic write
            ok = false;
        }
        free(scratch);
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
    bool ok = (r->histogram = lgv_new(o->shape.nseries, sizeof *r->histogram)) != NULL;
    for (size_t i = 0; ok && o->shape.bins && i < o->shape.nseries; i++) {
        double *x = o->value + i * o->npaths;
        ok = histogram(x, lgv_keep_numbers(x, (size_t)o->npaths), o->shape.bins, &r->series[i], o->first,
                       &r->histogram[i]);
        r->nhistograms++;
    }
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
                  .free = destroy},
    .finish = finish_quantiles,
    .bytes = bytes_early,
};

const struct lgv_collected lgv_endings = {
    .collector = {.name = "histograms", .shared = true, .create = create_final, .add = add, .merge = merge,
                  .free = destroy},
    .finish = finish_histograms,
    .bytes = bytes_final,
};
