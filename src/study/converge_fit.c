/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Orders from sums over groups of paths: least squares of log e(h) over log h.
 *
 * Levels share their paths, so their errors are correlated and the residuals of a fit say nothing about its precision.
 * Standard errors come from leaving out one group g of m_g paths at a time (jackknife for groups of different sizes;
 * Busing, Meijer and van der Leeden 1999): with n paths, G groups and H_g = n/m_g,
 *
 *     t_J = G t - sum (1 - 1/H_g) t_g,     var = 1/G sum (H_g t - (H_g - 1) t_g - t_J)^2 / (H_g - 1). */
#include "study/converge.h"

#include <math.h>
#include <string.h>

#define NOBODY LGV_GROUPS  /* no group is left out */
#define NEAR_REFERENCE 4.0 /* errors below so many errors of the reference are not known well enough to be fitted */
#define MOST_STDERR 0.25   /* an order known worse than this neither agrees nor differs */
#define MOST_BEND 0.5      /* between all steps and the two smallest ones, where one power law holds for all */

static double value(const struct lgv_converge_job *j, size_t method, size_t level, size_t without) {
    const struct lgv_converge_sum *s = &j->sum[(method * j->nlevels + level) * LGV_GROUPS];
    double sum = 0, n = 0;
    for (size_t g = 0; g < LGV_GROUPS; g++) {
        if (g == without) continue;
        sum += s[g].sum;
        n += (double)s[g].paths;
    }
    if (!(n > 0)) return NAN;
    return j->weak ? sum / n : sqrt(sum / n);
}

/* Levels of a method that enter the fit. */
struct levels {
    size_t method, count;
    size_t level[LGV_CONVERGE_LEVELS];
};

static double slope(const struct lgv_converge_job *j, const struct levels *fit, size_t without) {
    double x[LGV_CONVERGE_LEVELS], y[LGV_CONVERGE_LEVELS], mx = 0, my = 0, xy = 0, xx = 0, n = (double)fit->count;
    for (size_t i = 0; i < fit->count; i++) {
        x[i] = log((double)j->factor[fit->level[i]]);
        y[i] = log(fabs(value(j, fit->method, fit->level[i], without)));
        mx += x[i] / n;
        my += y[i] / n;
    }
    for (size_t i = 0; i < fit->count; i++) {
        xy += (x[i] - mx) * (y[i] - my);
        xx += (x[i] - mx) * (x[i] - mx);
    }
    return xy / xx;
}

/* The slope, or the error of the first level when `slopes` is false. */
static double estimate(const struct lgv_converge_job *j, const struct levels *fit, bool slopes, size_t without) {
    return slopes ? slope(j, fit, without) : value(j, fit->method, fit->level[0], without);
}

static double jackknife(const struct lgv_converge_job *j, const struct levels *fit, bool slopes) {
    double n = 0, groups = 0, t = estimate(j, fit, slopes, NOBODY), mean, var = 0, left[LGV_GROUPS];
    for (size_t g = 0; g < LGV_GROUPS; g++) {
        n += (double)j->group_paths[g];
        groups += j->group_paths[g] > 0;
    }
    if (groups < 2) return j->random ? (double)NAN : 0;
    mean = groups * t;
    for (size_t g = 0; g < LGV_GROUPS; g++) {
        if (!j->group_paths[g]) continue;
        left[g] = estimate(j, fit, slopes, g);
        mean -= (1 - (double)j->group_paths[g] / n) * left[g];
    }
    for (size_t g = 0; g < LGV_GROUPS; g++) {
        if (!j->group_paths[g]) continue;
        double h = n / (double)j->group_paths[g], d = h * t - (h - 1) * left[g] - mean;
        var += d * d / (h - 1) / groups;
    }
    return sqrt(var);
}

double lgv_converge_error(const struct lgv_converge_job *j, size_t method, size_t level, double *stderror) {
    const struct levels one = {.method = method, .count = 1, .level = {level}};
    if (stderror) *stderror = jackknife(j, &one, false);
    return value(j, method, level, NOBODY);
}

static double expected_order(const struct lgv_converge_job *j, const struct lgv_kernel *k, const char **reason) {
    return (j->weak ? lgv_kernel_weak_order : lgv_kernel_strong_order)(k->method, &k->structure, k->nnoise, reason);
}

/* The difference between step and twice the step.  It is (2^r - 1) errors for a systematic error of order r, and
 * sqrt(2^(2r) - 1) errors when what a smaller step adds is independent of what still lacks, as for the iterated
 * integrals that bound r to 1/2: at least one error in each case. */
double lgv_converge_reference_error(const struct lgv_converge_job *j) {
    if (j->exact) return NAN;
    double stderror, error = fabs(lgv_converge_error(j, j->nmethods, 1, &stderror));
    return j->weak && stderror > error ? stderror : error;
}

static void fill_level(const struct lgv_converge_job *j, size_t method, size_t level, double reference,
                       struct lgv_convergence_level *out) {
    const struct lgv_converge_sum *s = &j->sum[(method * j->nlevels + level) * LGV_GROUPS];
    uint64_t evaluations = 0, blocks = 0;
    *out = (struct lgv_convergence_level){.factor = j->factor[level],
                                          .steps = j->smallest_steps / j->factor[level],
                                          .step = j->smallest * (double)j->factor[level]};
    out->bias = lgv_converge_error(j, method, level, &out->stderror);
    out->error = fabs(out->bias);
    /* !(a > b) is true for numbers that are not known, too */
    out->noise =
        !(out->error > 0) || (j->weak && !(out->error > 2 * out->stderror)) || out->error < NEAR_REFERENCE * reference;
    for (size_t g = 0; g < LGV_GROUPS; g++) {
        out->paths += s[g].paths;
        out->failed += s[g].failed;
        out->truncated += s[g].truncated;
        out->seconds += s[g].seconds;
        evaluations += s[g].evaluations;
        blocks += s[g].blocks;
    }
    out->evaluations = blocks ? (double)evaluations / (double)blocks : (double)NAN;
}

static bool agrees(double order, double stderror, double expected) {
    double off = fabs(order - expected);
    return off <= LGV_ORDER_OFF || (stderror <= MOST_STDERR && off <= LGV_ORDER_ERRORS * stderror);
}

/* With noise of size b the error is b^2 C h^strong + D h^order; at steps that are not small for a small b the second
 * part is the larger one. */
static bool between(double order, const struct lgv_convergence_method *m) {
    return order > m->expected - LGV_ORDER_OFF && order < m->method->order + LGV_ORDER_OFF;
}

static void fit_method(const struct lgv_converge_job *j, size_t method, struct lgv_convergence_method *out) {
    struct levels all = {.method = method}, last = {.method = method, .count = 2};
    out->order = out->order_stderr = out->finest = out->finest_stderr = NAN;
    out->verdict = LGV_ORDER_NONE;
    for (size_t l = 0; l < j->nlevels; l++)
        if (!out->level[l].noise) all.level[all.count++] = l;
    out->fitted = all.count;
    if (all.count < 2) return;
    out->order = slope(j, &all, NOBODY);
    out->order_stderr = jackknife(j, &all, true);
    memcpy(last.level, all.level + all.count - 2, 2 * sizeof *last.level);
    out->finest = slope(j, &last, NOBODY);
    out->finest_stderr = jackknife(j, &last, true);
    if (!isfinite(out->order_stderr) || (out->order_stderr > MOST_STDERR && !(out->finest_stderr <= MOST_STDERR)))
        return;
    if (agrees(out->order, out->order_stderr, out->expected))
        out->verdict = LGV_ORDER_AGREES;
    else if (agrees(out->finest, out->finest_stderr, out->expected))
        out->verdict = LGV_ORDER_BENDS;
    else if (j->kernel[method].nnoise > 0 && between(out->order, out) && between(out->finest, out))
        out->verdict = LGV_ORDER_MIXED;
    else if (out->order > out->expected && out->finest > out->expected && fabs(out->order - out->finest) <= MOST_BEND)
        out->verdict = LGV_ORDER_BETTER;
    else
        out->verdict = LGV_ORDER_DIFFERS;
}

void lgv_converge_fit(const struct lgv_converge_job *j, struct lgv_convergence *out) {
    const struct lgv_converge_sum *r = &j->sum[j->nmethods * j->nlevels * LGV_GROUPS];
    double smallest = INFINITY;
    out->paths = out->reference_failed = 0;
    out->reference_seconds = 0;
    for (size_t g = 0; g < LGV_GROUPS; g++) {
        out->paths += j->group_paths[g];
        out->reference_failed += r[g].failed;
        out->reference_seconds += r[g].seconds;
    }
    out->reference_error = lgv_converge_reference_error(j);
    double off = isfinite(out->reference_error) ? out->reference_error : 0;
    for (size_t k = 0; k < j->nmethods; k++) {
        struct lgv_convergence_method *m = &out->method[k];
        m->expected = expected_order(j, &j->kernel[k], &m->expected_reason);
        for (size_t l = 0; l < j->nlevels; l++) {
            fill_level(j, k, l, off, &m->level[l]);
            if (!m->level[l].noise) smallest = fmin(smallest, m->level[l].error);
        }
        fit_method(j, k, m);
    }
    out->reference_fine = j->exact || (isfinite(out->reference_error) && off <= 0.1 * smallest);
}
