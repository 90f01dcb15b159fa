/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Quantiles along time, histograms at the end, of single observables and of pairs, densities of pairs over all output
 * times, and the first coordinates and momenta of some paths, to see the ensemble move.  All are taken from the paths
 * with the lowest numbers, which are a fair sample; which ones does not depend on how many paths there are, so that
 * parts can be merged. */
#include "stats/collect.h"
#include <omp.h>
#include "stats/four.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALL 0xffffu
#define EARLY_BYTES (256u << 20)
#define FINAL_PATHS 1000000
#define DENSITY_BYTES (64u << 20)
#define MOST_BINS 300 /* of each axis of a pair */
#define CLOUD_PATHS 200
#define CLOUD_TIMES 101
#define CLOUD_SERIES 3 /* coordinates, and as many momenta */

/* Values of the first npaths paths at ntimes times, unit by unit as they come; NaN where there is none. */
struct object {
    struct lgv_shape shape;
    size_t first; /* the first output time that is kept */
    size_t ntimes;
    uint64_t npaths;
    size_t units;
    size_t ncolumns;      /* series that are kept */
    const size_t *column; /* their numbers; NULL: all of them */
    double *value;   /* [units][ntimes][ncolumns][LGV_UNIT] */
    size_t *written; /* [units] times that have values */
};

static void destroy(void *object) {
    struct object *o = object;
    if (!o) return;
    free(o->value);
    free(o->written);
    free(o);
}

static struct object *create(const struct lgv_shape *shape, size_t first, uint64_t npaths, size_t ncolumns,
                             const size_t *column) {
    struct object *o = lgv_new(1, sizeof *o);
    if (!o) return NULL;
    *o = (struct object){.shape = *shape, .first = first, .ntimes = shape->ntimes - first, .npaths = npaths};
    o->ncolumns = ncolumns;
    o->column = column;
    o->units = (size_t)((npaths + LGV_UNIT - 1) / LGV_UNIT);
    o->value = lgv_aligned(o->units * o->ntimes * ncolumns * LGV_UNIT + 1);
    o->written = lgv_new(o->units + 1, sizeof *o->written);
    if (o->value && o->written) return o;
    destroy(o);
    return NULL;
}

/* Values of a unit at a time, [ncolumns][LGV_UNIT]. */
static double *values_at(const struct object *o, size_t unit, size_t time) {
    return o->value + (unit * o->ntimes + time) * o->ncolumns * LGV_UNIT;
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
    const struct lgv_shape *s = shape;
    return create(s, 0, early_paths(s), s->nseries, NULL);
}

static void *create_final(const void *shape) {
    const struct lgv_shape *s = shape;
    return create(s, s->ntimes - 1, final_paths(s), s->nseries, NULL);
}

/* As many as fit, at all output times. */
static uint64_t density_paths(const struct lgv_shape *s) {
    if (!s->density || !s->npairs) return 0;
    uint64_t fit = DENSITY_BYTES / (sizeof(double) * s->ntimes * 2 * s->npairs);
    return s->paths < fit ? s->paths : fit ? fit : 1;
}

static void *create_density(const void *shape) {
    const struct lgv_shape *s = shape;
    return create(s, 0, density_paths(s), 2 * s->npairs, s->pair);
}

static bool add(void *object, const struct lgv_piece *piece) {
    struct object *o = object;
    size_t row = o->ncolumns * LGV_UNIT, all_row = o->shape.nseries * LGV_UNIT;
    size_t begin = piece->first < o->first ? o->first - piece->first : 0;
    if (piece->path >= o->npaths || begin >= piece->count) return true;
    uint64_t room = o->npaths - piece->path;
    unsigned lanes = room < piece->used ? (unsigned)room : piece->used, all = (1u << lanes) - 1;
    double *to = values_at(o, (size_t)piece->unit, piece->first + begin - o->first);
    if (!o->column) memcpy(to, piece->value + begin * row, (piece->count - begin) * row * sizeof *to);
    for (size_t i = 0; o->column && i < (piece->count - begin) * o->ncolumns; i++)
        memcpy(to + i * LGV_UNIT,
               piece->value + (begin + i / o->ncolumns) * all_row + o->column[i % o->ncolumns] * LGV_UNIT,
               LGV_UNIT * sizeof *to);
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
    size_t row = a->ncolumns * LGV_UNIT;
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
    size_t row = o->ncolumns * LGV_UNIT;
    for (size_t u = 0; u < o->units; u++) {
        if (!o->written[u]) continue;
        lgv_text_append_count(out, u);
        lgv_text_append_count(out, o->written[u]);
        lgv_text_append(out, (const char *)values_at(o, u, 0), o->written[u] * row * sizeof *o->value);
    }
}

static bool load(void *object, struct lgv_bytes *from) {
    struct object *o = object;
    size_t row = o->ncolumns * LGV_UNIT;
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

/* Some paths of one series at some times. */
static bool put_cloud(const struct object *o, size_t series, struct lgv_result *r) {
    size_t paths = o->npaths < CLOUD_PATHS ? (size_t)o->npaths : CLOUD_PATHS;
    size_t times = o->ntimes < CLOUD_TIMES ? o->ntimes : CLOUD_TIMES;
    struct lgv_finding *f = lgv_finding_add(r, LGV_FOUND_CLOUDS, r->series[series].name, NULL);
    double *time = f ? lgv_finding_array(f, "time", times, 1) : NULL;
    double *value = time ? lgv_finding_array(f, "value", times, paths) : NULL;
    for (size_t k = 0; value && k < times; k++) {
        size_t t = k * (o->ntimes - 1) / (times - 1);
        time[k] = r->time[t];
        for (size_t p = 0; p < paths; p++) {
            size_t unit = p / LGV_UNIT;
            bool known = t < o->written[unit];
            value[k * paths + p] = known ? values_at(o, unit, t)[series * LGV_UNIT + p % LGV_UNIT] : (double)NAN;
        }
    }
    return value && lgv_finding_number(f, "paths", (double)paths);
}

/* Of the first coordinates and the first momenta, where there is an ensemble and it moves. */
static bool put_clouds(const struct object *o, struct lgv_result *r) {
    bool ok = true;
    size_t taken[2] = {0, 0};
    for (size_t i = 0; ok && o->npaths > 1 && o->ntimes > 1 && i < r->nseries; i++) {
        int kind = r->series[i].kind;
        if (kind != LGV_OBSERVABLE_COORDINATE && kind != LGV_OBSERVABLE_CONJUGATE) continue;
        if (taken[kind == LGV_OBSERVABLE_CONJUGATE]++ < CLOUD_SERIES) ok = put_cloud(o, i, r);
    }
    return ok;
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
    return ok && put_clouds(o, r);
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

/* Values that go around more than half of the period get the whole of it. */
static void whole_period(const struct lgv_series *s, double *low, double *high) {
    if (!(s->period > 0) || !(*high - *low > 0.5 * s->period)) return;
    *low = s->from;
    *high = s->from + s->period;
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
    whole_period(s, &low, &high);
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

/* ---- pairs ---- */

struct range {
    double low, high;
    size_t bins;
};

static size_t bin_of(const struct range *a, double x) {
    if (!(x >= a->low && x <= a->high)) return a->bins;
    size_t at = (size_t)((x / 2 - a->low / 2) / (a->high / 2 - a->low / 2) * (double)a->bins);
    return at < a->bins ? at : a->bins - 1;
}

/* Both values of every path and time that has them, one behind the other in x and y; returns how many. */
static size_t gather_pairs(const struct object *o, size_t a, size_t b, double *x, double *y) {
    size_t n = 0;
    for (size_t u = 0; u < o->units; u++)
        for (size_t t = 0; t < o->written[u]; t++) {
            const double *p = values_at(o, u, t) + a * LGV_UNIT, *q = values_at(o, u, t) + b * LGV_UNIT;
            for (size_t l = 0; l < LGV_UNIT; l++) {
                x[n] = p[l];
                y[n] = q[l];
                n += isfinite(p[l]) && isfinite(q[l]);
            }
        }
    return n;
}

/* As for one observable; over several times, what most paths keep to at any of them. */
static struct range range_of(const struct object *o, const double *x, size_t n, const struct lgv_series *s) {
    struct range a = {n ? x[0] : 0, n ? x[0] : 1, o->shape.bins < MOST_BINS ? o->shape.bins : MOST_BINS};
    for (size_t i = 1; i < n; i++) {
        a.low = fmin(a.low, x[i]);
        a.high = fmax(a.high, x[i]);
    }
    double low = a.high, high = a.low;
    for (size_t t = o->first; t < o->first + o->ntimes; t++) {
        double l = a.low, h = a.high;
        core_range(s, t, &l, &h);
        low = fmin(low, l);
        high = fmax(high, h);
    }
    if (low < high) {
        a.low = low;
        a.high = high;
    }
    whole_period(s, &a.low, &a.high);
    if (!(a.high / 2 - a.low / 2 > 0)) {
        double w = 1e-3 * (1 + fabs(a.low));
        a.low -= w;
        a.high += w;
    }
    return a;
}

static bool put_edges(struct lgv_finding *f, const char *name, const struct range *a) {
    double *edge = lgv_finding_array(f, name, a->bins + 1, 1), half = a->high / 2 - a->low / 2;
    for (size_t i = 0; edge && i <= a->bins; i++) edge[i] = a->low + 2 * (half * ((double)i / (double)a->bins));
    return edge != NULL;
}

/* a, b: columns of the object; k: the pair. */
static bool put_pair(const struct object *o, size_t k, size_t a, size_t b, const char *group, double *x, double *y,
                     struct lgv_result *r) {
    const struct lgv_series *s = &r->series[o->shape.pair[2 * k]], *t = &r->series[o->shape.pair[2 * k + 1]];
    struct lgv_text name = {0};
    lgv_text_add(&name, "%s:%s", s->name, t->name);
    struct lgv_finding *f = name.failed ? NULL : lgv_finding_add(r, group, name.data, NULL);
    lgv_text_free(&name);
    size_t n = gather_pairs(o, a, b, x, y), outside = 0;
    struct range u = range_of(o, x, n, s), v = range_of(o, y, n, t);
    double *count = f && put_edges(f, "x_edge", &u) && put_edges(f, "y_edge", &v)
                        ? lgv_finding_array(f, "count", u.bins, v.bins)
                        : NULL;
    if (!count) return false;
    for (size_t i = 0; i < n; i++) {
        size_t at = bin_of(&u, x[i]), up = bin_of(&v, y[i]);
        if (at < u.bins && up < v.bins)
            count[at * v.bins + up]++;
        else
            outside++;
    }
    return lgv_finding_number(f, "values", (double)n) && lgv_finding_number(f, "outside", (double)outside);
}

static bool put_pairs(const struct object *o, const char *group, struct lgv_result *r) {
    size_t most = o->units * LGV_UNIT * o->ntimes + 1;
    if (!o->shape.npairs || !o->npaths) return true;
    double *x = lgv_new(most, sizeof *x), *y = lgv_new(most, sizeof *y);
    bool ok = x && y;
    for (size_t k = 0; ok && k < o->shape.npairs; k++)
        ok = put_pair(o, k, o->column ? 2 * k : o->shape.pair[2 * k], o->column ? 2 * k + 1 : o->shape.pair[2 * k + 1],
                      group, x, y, r);
    free(x);
    free(y);
    return ok;
}

static bool finish_density(void *object, struct lgv_result *r) {
    return put_pairs(object, LGV_FOUND_DENSITIES, r);
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
    return ok && put_pairs(o, LGV_FOUND_PAIRS, r);
}

static double bytes_early(const struct lgv_shape *s) {
    return (double)s->ntimes * (double)s->nseries * 8 * ((double)early_paths(s) + LGV_QUANTILES);
}

static double bytes_final(const struct lgv_shape *s) {
    return (double)s->nseries * 8 * (double)final_paths(s);
}

static double bytes_density(const struct lgv_shape *s) {
    return (double)s->npairs * 2 * 8 * (double)s->ntimes * (double)density_paths(s);
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

const struct lgv_collected lgv_density = {
    .collector = {.name = "densities", .shared = true, .create = create_density, .add = add, .merge = merge,
                  .free = destroy, .save = save, .load = load},
    .finish = finish_density,
    .bytes = bytes_density,
};
