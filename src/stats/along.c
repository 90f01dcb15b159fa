/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Time averages along paths, and correlations in time, from the values at the output times.
 *
 * A path with n values x_t has the average m = sum x_t / n.  Its variance is s^2 g / n, s^2 being the variance of x_t
 * and g = 1 + 2 sum rho_k the statistical inefficiency; n / g is the effective number of samples and g/2 times the
 * interval the integrated autocorrelation time.  The sum is cut at the first k >= 6 tau, tau = g/2 (the window of
 * Madras & Sokal 1988, doi:10.1007/BF01022990, with the correction for the mean of Wolff 2004,
 * doi:10.1016/S0010-4655(03)00467-3); where 50 lags are too few, values are averaged in pairs and looked at again,
 * which keeps the variance of the mean (as in Goodman & Weare 2010, doi:10.2140/camcos.2010.5.65).  The window has 10
 * lags at least, as correlations may change their sign, and each rho_k of N independent values is known to 1/sqrt(N):
 * a g below 1, values that are worth more than independent ones, is believed only where it is three times
 * 2 sqrt(10/N) below, and is 1 otherwise.  Over paths: the
 * mean of the m, g as the quotient of sums, and the standard error from the spread of the m, or from the g when paths
 * are few.  The running average of a path at a time is that of its values up to there; its mean over paths is kept at
 * RUNNING times, the last of which is the end.
 *
 * R-hat tells whether the paths, and the beginning and the end of each, have the same average and spread: every path is
 * cut in two halves of h values (the one in the middle is left out where n is odd).  With W the mean of the variances
 * inside the halves and B the variance of their averages, R-hat^2 = (h - 1)/h + B/W; it is 1 for paths that have
 * forgotten their start, and 1.01 is a usual limit (Gelman & Rubin 1992, doi:10.1214/ss/1177011136; halves: Vehtari,
 * Gelman, Simpson, Carpenter & Buerkner 2021, doi:10.1214/20-BA1221).  One long path has one, too.  Where several paths
 * are beyond that limit, what their averages differ by counts: the standard error is at least that of their spread, and
 * the effective number of values at most the variance of all values over its square.
 *
 * The mean squared displacement M(lag) = <(x(t + lag) - x(t))^2> is taken at the lags of a multiple-tau correlator
 * (Ramirez, Sukumaran, Vorselaars & Likhtman 2010, doi:10.1063/1.3491098): 16, then 8 for every doubling.  Levels take
 * every 2nd, 4th, ... value and average nothing, so that there is no systematic error.  The autocorrelation of a
 * stationary process is 1 - M / (2 variance).
 *
 * Paths that end early are left out.  Inside a unit there is one order of sums, across units sums are exact. */
#include "base/exact.h"
#include "stats/collect.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUNNING 128 /* times of running averages, at most */
#define LISTED 1024 /* paths, from the first on, whose averages are part of the result */

/* Of one number of each path. */
struct pool {
    struct lgv_exact sum, squares;
};

/* m, s^2, s^2 g of a path; average and h - 1 times the variance of half a path: twice as many numbers */
enum { MEAN, VARIANCE, INEFFICIENT, PATH_POOLS, HALF_MEAN = PATH_POOLS, HALF_SQUARES, POOLS };
enum { PATH_MEAN, PATH_ERROR, PATH_TIME, PATH_SAMPLES, PATH_VALUES };

struct object {
    struct lgv_shape shape;
    size_t n, lags;      /* values of a path; lags of correlations, 0: none asked for */
    uint64_t paths;
    double *x;           /* [nseries][n][LGV_UNIT] of the present unit */
    struct pool *pool;   /* [nseries][POOLS] */
    struct pool *running; /* [nseries][times] */
    size_t times;
    struct pool *msd;    /* [nseries][lags][2]: M, and s^2 - M/2 */
    double *listed;      /* [LISTED][nseries][PATH_VALUES]; NaN: not known */
};

static bool wanted(const struct lgv_shape *s) {
    return s->averages || s->correlations;
}

static void free_pools(struct pool *p, size_t count) {
    for (size_t i = 0; p && i < count; i++) {
        lgv_exact_free(&p[i].sum, 1);
        lgv_exact_free(&p[i].squares, 1);
    }
    free(p);
}

static void destroy(void *object) {
    struct object *o = object;
    if (!o) return;
    free_pools(o->pool, o->shape.nseries * POOLS);
    free_pools(o->msd, o->shape.nseries * o->lags * 2);
    free_pools(o->running, o->shape.nseries * o->times);
    free(o->x);
    free(o->listed);
    free(o);
}

static size_t listed_values(const struct object *o) {
    return LISTED * o->shape.nseries * PATH_VALUES;
}

static void *create(const void *shape) {
    struct object *o = lgv_new(1, sizeof *o);
    if (!o) return NULL;
    o->shape = *(const struct lgv_shape *)shape;
    if (!wanted(&o->shape)) return o;
    o->n = o->shape.ntimes - o->shape.along_from;
    if (o->shape.correlations) o->lags = lgv_lags_count(o->n);
    if (o->shape.averages) o->times = o->n < RUNNING ? o->n : RUNNING;
    o->running = lgv_new(o->shape.nseries * o->times + 1, sizeof *o->running);
    o->x = lgv_aligned(o->shape.nseries * o->n * LGV_UNIT);
    o->pool = lgv_new(o->shape.nseries * POOLS, sizeof *o->pool);
    o->msd = lgv_new(o->shape.nseries * o->lags * 2 + 1, sizeof *o->msd);
    o->listed = lgv_new(listed_values(o), sizeof *o->listed);
    if (o->x && o->pool && o->msd && o->running && o->listed) {
        for (size_t i = 0; i < listed_values(o); i++) o->listed[i] = (double)NAN;
        return o;
    }
    destroy(o);
    return NULL;
}

/* The paths of `mask`: their sum, and their squares without cancellation, as in moments.c. */
static bool pool_add(struct pool *p, const double x[LGV_UNIT], unsigned mask) {
    double n = __builtin_popcount(mask), sum = 0, d = 0;
    for (unsigned l = 0; l < LGV_UNIT; l++) sum += mask >> l & 1 ? x[l] : 0;
    double mean = sum / n;
    for (unsigned l = 0; l < LGV_UNIT; l++) d += mask >> l & 1 ? (x[l] - mean) * (x[l] - mean) : 0;
    double high = sum * mean, low = __builtin_fma(sum, mean, -high) + mean * __builtin_fma(-n, mean, sum);
    return lgv_exact_add(&p->sum, sum) && lgv_exact_add(&p->squares, high) && lgv_exact_add(&p->squares, d + low);
}

/* Squared displacements of series i, whose paths have these variances. */
static bool add_lags(struct object *o, size_t i, const double *variance, unsigned mask) {
    double square[LGV_UNIT], product[LGV_UNIT];
    const double *x = o->x + i * o->n * LGV_UNIT;
    for (size_t k = 0; k < o->lags; k++) {
        struct pool *p = o->msd + (i * o->lags + k) * 2;
        lgv_lags_squares(x, o->n, k, square);
        for (unsigned l = 0; l < LGV_UNIT; l++) product[l] = variance[l] - 0.5 * square[l];
        if (!pool_add(p, square, mask) || !pool_add(p + 1, product, mask)) return false;
    }
    return true;
}

/* Number of the last value that running average k counts. */
static size_t running_end(const struct object *o, size_t k) {
    return (k + 1) * o->n / o->times - 1;
}

/* In the order of sums that subtract_means has, so that the last one is the mean of the path, bit by bit. */
static bool add_running(struct object *o, size_t i, unsigned mask) {
    const double *x = o->x + i * o->n * LGV_UNIT;
    double sum[LGV_UNIT] = {0}, mean[LGV_UNIT];
    bool ok = true;
    for (size_t k = 0, t = 0; ok && k < o->times; k++) {
        for (; t <= running_end(o, k); t++)
            for (size_t l = 0; l < LGV_UNIT; l++) sum[l] += x[t * LGV_UNIT + l] - x[l];
        for (size_t l = 0; l < LGV_UNIT; l++) mean[l] = x[l] + sum[l] / (double)t;
        ok = pool_add(o->running + i * o->times + k, mean, mask);
    }
    return ok;
}

/* Average and squared deviations from it of h values. */
static void half_moments(const double *x, size_t h, double mean[LGV_UNIT], double squares[LGV_UNIT]) {
    double sum[LGV_UNIT] = {0};
    for (size_t t = 0; t < h; t++)
        for (size_t l = 0; l < LGV_UNIT; l++) sum[l] += x[t * LGV_UNIT + l] - x[l];
    for (size_t l = 0; l < LGV_UNIT; l++) {
        mean[l] = x[l] + sum[l] / (double)h;
        squares[l] = 0;
    }
    for (size_t t = 0; t < h; t++)
        for (size_t l = 0; l < LGV_UNIT; l++) {
            double d = x[t * LGV_UNIT + l] - mean[l];
            squares[l] += d * d;
        }
}

static bool add_halves(struct object *o, size_t i, unsigned mask) {
    const double *x = o->x + i * o->n * LGV_UNIT;
    size_t h = o->n / 2;
    struct pool *p = o->pool + i * POOLS;
    double mean[LGV_UNIT], squares[LGV_UNIT];
    bool ok = true;
    for (size_t k = 0; ok && k < 2; k++) {
        half_moments(x + k * (o->n - h) * LGV_UNIT, h, mean, squares);
        ok = pool_add(p + HALF_MEAN, mean, mask) && pool_add(p + HALF_SQUARES, squares, mask);
    }
    return ok;
}

/* x becomes the deviations from the means of the paths. */
static void subtract_means(double *x, size_t n, double mean[LGV_UNIT], double variance[LGV_UNIT]) {
    double sum[LGV_UNIT] = {0};
    for (size_t t = 0; t < n; t++)
        for (size_t l = 0; l < LGV_UNIT; l++) sum[l] += x[t * LGV_UNIT + l] - x[l];
    for (size_t l = 0; l < LGV_UNIT; l++) {
        mean[l] = x[l] + sum[l] / (double)n;
        variance[l] = 0;
    }
    for (size_t t = 0; t < n; t++)
        for (size_t l = 0; l < LGV_UNIT; l++) {
            x[t * LGV_UNIT + l] -= mean[l];
            variance[l] += x[t * LGV_UNIT + l] * x[t * LGV_UNIT + l];
        }
    for (size_t l = 0; l < LGV_UNIT; l++) variance[l] /= (double)n;
}

/* D / s^2, D = s^2 g; what is known of s^2 are deviations from the mean of the path, which miss D/n of it.  NaN where
 * nothing moves. */
static double inefficiency(double D, double variance, double n) {
    return isnan(D) || !(variance > 0) ? (double)NAN : D > 0 ? D / (variance + D / n) : 1;
}

/* D, or that of independent values where those are not excluded by what `values` of them tell. */
static double believed(double D, double variance, double n, double values) {
    double independent = variance * n / (n - 1);
    return D < independent && D > independent * (1 - 3 * lgv_lags_doubt(values)) ? independent : D;
}

static void list_path(struct object *o, uint64_t path, size_t i, double mean, double variance, double D) {
    double *to = o->listed + (path * o->shape.nseries + i) * PATH_VALUES, n = (double)o->n;
    D = believed(D, variance, n, n);
    double g = inefficiency(D, variance, n);
    to[PATH_MEAN] = mean;
    to[PATH_ERROR] = sqrt(D / n);
    to[PATH_TIME] = 0.5 * g * o->shape.interval;
    to[PATH_SAMPLES] = n / g;
}

static bool add_series(struct object *o, const struct lgv_piece *piece, size_t i, unsigned mask) {
    double value[PATH_POOLS][LGV_UNIT], *x = o->x + i * o->n * LGV_UNIT;
    if (!add_running(o, i, mask) || !add_halves(o, i, mask)) return false;
    subtract_means(x, o->n, value[MEAN], value[VARIANCE]);
    if (!add_lags(o, i, value[VARIANCE], mask)) return false; /* differences do not see the means */
    lgv_lags_variance(x, o->n, value[INEFFICIENT]);
    bool ok = true;
    for (unsigned l = 0; l < LGV_UNIT; l++)
        if ((mask >> l & 1) && piece->path + l < LISTED)
            list_path(o, piece->path + l, i, value[MEAN][l], value[VARIANCE][l], value[INEFFICIENT][l]);
    for (size_t k = 0; ok && k < PATH_POOLS; k++) ok = pool_add(o->pool + i * POOLS + k, value[k], mask);
    return ok;
}

static bool add(void *object, const struct lgv_piece *piece) {
    struct object *o = object;
    size_t n = o->shape.nseries, from = o->shape.along_from;
    if (!wanted(&o->shape)) return true;
    for (size_t t = 0; t < piece->count; t++) {
        size_t at = piece->first + t;
        for (size_t i = 0; at >= from && i < n; i++)
            memcpy(o->x + (i * o->n + at - from) * LGV_UNIT, piece->value + (t * n + i) * LGV_UNIT,
                   LGV_UNIT * sizeof *o->x);
    }
    if (!piece->complete) return true;
    unsigned mask = 0;
    for (unsigned l = 0; l < piece->used; l++) mask |= piece->fail[l] ? 0 : 1u << l;
    o->paths += (unsigned)__builtin_popcount(mask);
    bool ok = true;
    for (size_t i = 0; ok && mask && i < n; i++) ok = add_series(o, piece, i, mask);
    return ok;
}

static bool merge_pools(struct pool *a, const struct pool *b, size_t count) {
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = lgv_exact_merge(&a[i].sum, &b[i].sum) && lgv_exact_merge(&a[i].squares, &b[i].squares);
    return ok;
}

static bool merge(void *object, const void *other) {
    struct object *a = object;
    const struct object *b = other;
    if (!wanted(&a->shape)) return true;
    a->paths += b->paths;
    for (size_t i = 0; i < listed_values(a); i++)
        if (isnan(a->listed[i])) a->listed[i] = b->listed[i];
    return merge_pools(a->pool, b->pool, a->shape.nseries * POOLS) &&
           merge_pools(a->msd, b->msd, a->shape.nseries * a->lags * 2) &&
           merge_pools(a->running, b->running, a->shape.nseries * a->times);
}

static void save_pools(const struct pool *p, size_t count, struct lgv_text *out) {
    for (size_t i = 0; i < count; i++) {
        lgv_exact_save(&p[i].sum, out);
        lgv_exact_save(&p[i].squares, out);
    }
}

static void save(void *object, struct lgv_text *out) {
    const struct object *o = object;
    if (!wanted(&o->shape)) return;
    lgv_text_append_count(out, o->paths);
    lgv_text_append(out, (const char *)o->listed, listed_values(o) * sizeof *o->listed);
    save_pools(o->pool, o->shape.nseries * POOLS, out);
    save_pools(o->msd, o->shape.nseries * o->lags * 2, out);
    save_pools(o->running, o->shape.nseries * o->times, out);
}

static bool load_pools(struct pool *p, size_t count, struct lgv_bytes *from) {
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = lgv_exact_load(&p[i].sum, from) && lgv_exact_load(&p[i].squares, from);
    return ok;
}

static bool load(void *object, struct lgv_bytes *from) {
    struct object *o = object;
    if (!wanted(&o->shape)) return true;
    o->paths = lgv_bytes_count(from);
    lgv_bytes_take(from, o->listed, listed_values(o) * sizeof *o->listed);
    return load_pools(o->pool, o->shape.nseries * POOLS, from) &&
           load_pools(o->msd, o->shape.nseries * o->lags * 2, from) &&
           load_pools(o->running, o->shape.nseries * o->times, from);
}

/* ---- the result ---- */

static double mean_of(const struct object *o, const struct pool *p) {
    return o->paths ? lgv_exact_round(&p->sum) / (double)o->paths : (double)NAN;
}

/* Of the mean over paths. */
static double error_of(const struct object *o, const struct pool *p) {
    double n = (double)o->paths;
    return o->paths > 1 ? sqrt(fmax(0, lgv_exact_comoment(o->paths, &p->sum, &p->sum, &p->squares)) / (n * (n - 1)))
                        : (double)NAN;
}

/* NaN where nothing moves, infinite where every path rests at a value of its own, beyond the round-off of averages. */
static double r_hat(const struct object *o, const struct pool *p) {
    double h = (double)(o->n / 2), halves = 2 * (double)o->paths;
    if (o->paths == 0) return (double)NAN;
    double within = lgv_exact_round(&p[HALF_SQUARES].sum) / (halves * (h - 1));
    const struct lgv_exact *sum = &p[HALF_MEAN].sum;
    double between = fmax(0, lgv_exact_comoment(2 * o->paths, sum, sum, &p[HALF_MEAN].squares) / (halves - 1));
    if (within > 0) return sqrt((h - 1) / h + between / within);
    return sqrt(between) > 1e-14 * fabs(lgv_exact_round(sum) / halves) ? (double)INFINITY : (double)NAN;
}

static bool put_paths(const struct object *o, size_t i, struct lgv_finding *f) {
    static const char *const name[PATH_VALUES] = {"path_mean", "path_stderr", "path_time", "path_samples"};
    size_t n = o->shape.paths < LISTED ? (size_t)o->shape.paths : LISTED;
    for (size_t k = 0; k < PATH_VALUES; k++) {
        double *to = lgv_finding_array(f, name[k], n, 1);
        if (!to) return false;
        for (size_t p = 0; p < n; p++) to[p] = o->listed[(p * o->shape.nseries + i) * PATH_VALUES + k];
    }
    return true;
}

static bool put_running(const struct object *o, size_t i, struct lgv_finding *f) {
    double *time = lgv_finding_array(f, "running_time", o->times, 1);
    double *mean = lgv_finding_array(f, "running_mean", o->times, 1);
    double *error = lgv_finding_array(f, "running_stderr", o->times, 1);
    if (!time || !mean || !error) return false;
    for (size_t k = 0; k < o->times; k++) {
        const struct pool *p = o->running + i * o->times + k;
        time[k] = o->shape.t0 + (double)(o->shape.along_from + running_end(o, k)) * o->shape.interval;
        mean[k] = mean_of(o, p);
        error[k] = error_of(o, p);
    }
    return true;
}

static bool put_average(const struct object *o, size_t i, struct lgv_result *r) {
    struct lgv_finding *f = lgv_finding_add(r, LGV_FOUND_AVERAGES, r->series[i].name, r->series[i].formula);
    const struct pool *p = o->pool + i * POOLS;
    if (!f) return false;
    double paths = (double)o->paths, spread = error_of(o, p + MEAN), variance = mean_of(o, p + VARIANCE);
    double n = (double)o->n, D = believed(mean_of(o, p + INEFFICIENT), variance, n, n * paths);
    double along = o->paths ? sqrt(D / (n * paths)) : (double)NAN;
    double g = inefficiency(D, variance, n), mixed = r_hat(o, p);
    double error = o->paths >= LGV_UNIT ? spread : along, samples = n * paths / g;
    if (o->paths > 1 && mixed > LGV_R_HAT) { /* the paths have averages of their own, which no path alone can tell */
        error = fmax(error, spread);
        samples = fmin(samples, variance / (spread * spread) + paths); /* the variance of all values is both */
    }
    return lgv_finding_number(f, "mean", mean_of(o, p + MEAN)) && lgv_finding_number(f, "stderr", error) &&
           lgv_finding_number(f, "stderr_paths", spread) && lgv_finding_number(f, "stderr_along", along) &&
           lgv_finding_number(f, "time", 0.5 * g * o->shape.interval) && lgv_finding_number(f, "samples", samples) &&
           lgv_finding_number(f, "r_hat", mixed) &&
           lgv_finding_number(f, "std", sqrt(variance)) && lgv_finding_number(f, "paths", paths) &&
           lgv_finding_number(f, "values", n) && put_paths(o, i, f) && put_running(o, i, f);
}

/* Where c has first fallen to 1/e, between two lags on a straight line. */
static double decay(size_t n, const double *lag, const double *c) {
    const double level = exp(-1);
    for (size_t k = 1; k < n; k++)
        if (c[k] <= level) return lag[k - 1] + (lag[k] - lag[k - 1]) * (c[k - 1] - level) / (c[k - 1] - c[k]);
    return NAN;
}

static bool put_correlation(const struct object *o, size_t i, struct lgv_result *r) {
    struct lgv_finding *f = lgv_finding_add(r, LGV_FOUND_CORRELATIONS, r->series[i].name, r->series[i].formula);
    const struct pool *p = o->pool + i * POOLS;
    if (!f) return false;
    double *lag = lgv_finding_array(f, "lag", o->lags, 1), *msd = lgv_finding_array(f, "msd", o->lags, 1);
    double *msd_error = lgv_finding_array(f, "msd_stderr", o->lags, 1);
    double *c = lgv_finding_array(f, "correlation", o->lags, 1);
    double *c_error = lgv_finding_array(f, "correlation_stderr", o->lags, 1);
    if (!lag || !msd || !msd_error || !c || !c_error) return false;
    /* About the mean of all paths: what the averages of the paths differ by is a part of it. */
    double between = error_of(o, p + MEAN), n = (double)o->paths;
    double variance = mean_of(o, p + VARIANCE) + (o->paths > 1 ? between * between * (n - 1) : 0);
    for (size_t k = 0; k < o->lags; k++) {
        const struct pool *at = o->msd + (i * o->lags + k) * 2;
        size_t stride;
        lag[k] = (double)lgv_lags_at(k, &stride) * o->shape.interval;
        msd[k] = mean_of(o, at);
        msd_error[k] = error_of(o, at);
        c[k] = variance > 0 ? 1 - msd[k] / (2 * variance) : (double)NAN;
        c_error[k] = variance > 0 ? error_of(o, at + 1) / variance : (double)NAN;
    }
    size_t half = o->lags - 1;
    while (half > 1 && lag[half] > (double)(o->n - 1) * o->shape.interval / 2) half--;
    return lgv_finding_number(f, "variance", variance) && lgv_finding_number(f, "paths", n) &&
           lgv_finding_number(f, "decay", decay(o->lags, lag, c)) &&
           lgv_finding_number(f, "half_lag", lag[half]) &&
           lgv_finding_number(f, "diffusion", msd[half] / (2 * lag[half])) &&
           lgv_finding_number(f, "diffusion_stderr", msd_error[half] / (2 * lag[half]));
}

static bool finish(void *object, struct lgv_result *r) {
    struct object *o = object;
    bool ok = true;
    for (size_t i = 0; ok && o->shape.averages && i < o->shape.nseries; i++) ok = put_average(o, i, r);
    for (size_t i = 0; ok && o->shape.correlations && i < o->shape.nseries; i++)
        if (!(r->series[i].period > 0)) ok = put_correlation(o, i, r); /* values that jump back have none */
    return ok;
}

static double bytes(const struct lgv_shape *s) {
    double n = wanted(s) ? (double)(s->ntimes - s->along_from) : 0;
    double lags = s->correlations ? (double)lgv_lags_count(s->ntimes) : 0;
    return (double)s->nseries * (n * LGV_UNIT * 8 + (n > 0 ? LISTED * PATH_VALUES * 8 : 0) +
                                 (lags * 2 + (s->averages ? fmin(n, RUNNING) : 0)) * sizeof(struct pool));
}

const struct lgv_collected lgv_along = {
    .collector = {.name = "along", .create = create, .add = add, .merge = merge, .free = destroy,
                  .save = save, .load = load},
    .finish = finish,
    .bytes = bytes,
};
