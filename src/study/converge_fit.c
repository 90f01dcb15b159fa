/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Orders from sums over groups of paths: least squares of log e(h) over log h.
 *
 * Levels share their paths, so their errors are correlated and the residuals of a fit say nothing about its precision.
 * Standard errors come from leaving out one group g of m_g paths at a time (jackknife for groups of different sizes;
 * Busing, Meijer and van der Leeden 1999): with n paths, G groups and H_g = n/m_g,
 *
 *     t_J = G t - sum (1 - 1/H_g) t_g,    var = 1/G sum d_g^2,    d_g^2 = (H_g t - (H_g - 1) t_g - t_J)^2 / (H_g - 1).
 *
 * With heavy tails a few groups carry var, and a sample that lacks them says too little: standard errors were 1.3
 * times too small on average, 1.9 at worst, for strong errors of a pendulum with strong noise (1.05 and 1.5 now).  So
 * what the fourth moment k = G sum d_g^4 / (sum d_g^2)^2 has above 3, the value of a normal law, is added as one
 * standard error of var: var (1 + sqrt((k - 3)/G)). */
#include "study/converge.h"

#include <math.h>
#include <string.h>

#define NOBODY LGV_GROUPS   /* no group is left out */
#define NEAR_REFERENCE 10.0 /* errors below so many errors of the reference are not known well enough to be fitted */
#define LOST_SHARE 0.1      /* of the mean square: moves a slope between neighbouring levels by 0.07 at most */
#define ROUND_OFF 16.0      /* times epsilon, size and the root of the number of steps */
#define DIVIDED 4.0         /* the same where the step divides it: times the square of the number of steps */
#define MOST_BEND 0.5       /* between all steps and the two smallest ones, where one power law holds for all */

/* Mean over paths of one number of a cell, group `without` left out. */
static double mean(const struct lgv_converge_job *j, size_t cell, size_t slot, size_t without) {
    double sum = 0, n = 0;
    for (size_t g = 0; g < LGV_GROUPS; g++) {
        if (g == without) continue;
        sum += j->total[(cell * LGV_GROUPS + g) * j->width + slot];
        n += (double)j->sum[cell * LGV_GROUPS + g].paths;
    }
    return n > 0 ? sum / n : (double)NAN;
}

/* What is estimated: the error at a level, one difference of means, or the slope over several levels. */
struct levels {
    size_t method, quantity, count;
    size_t level[LGV_CONVERGE_LEVELS];
    enum { ERROR, DIFFERENCE, SLOPE } what;
    size_t slot; /* DIFFERENCE */
};

static double value(const struct lgv_converge_job *j, const struct levels *x, size_t i, size_t without) {
    const struct lgv_converge_quantity *q = &j->quantity[x->quantity];
    size_t cell = x->method * j->nlevels + x->level[i];
    double square = 0;
    if (!j->weak) return sqrt(mean(j, cell, q->slot, without));
    if (q->width == 1) return mean(j, cell, q->slot, without); /* with its sign */
    for (size_t k = 0; k < q->width; k++) {
        double d = mean(j, cell, q->slot + k, without);
        square += d * d;
    }
    return sqrt(square);
}

static double slope(const struct lgv_converge_job *j, const struct levels *fit, size_t without) {
    double x[LGV_CONVERGE_LEVELS], y[LGV_CONVERGE_LEVELS], mx = 0, my = 0, xy = 0, xx = 0, n = (double)fit->count;
    for (size_t i = 0; i < fit->count; i++) {
        x[i] = log((double)j->factor[fit->level[i]]);
        y[i] = log(fabs(value(j, fit, i, without)));
        mx += x[i] / n;
        my += y[i] / n;
    }
    for (size_t i = 0; i < fit->count; i++) {
        xy += (x[i] - mx) * (y[i] - my);
        xx += (x[i] - mx) * (x[i] - mx);
    }
    return xy / xx;
}

static double estimate(const struct lgv_converge_job *j, const struct levels *x, size_t without) {
    if (x->what == SLOPE) return slope(j, x, without);
    if (x->what == DIFFERENCE) return mean(j, x->method * j->nlevels + x->level[0], x->slot, without);
    return value(j, x, 0, without);
}

static double jackknife(const struct lgv_converge_job *j, const struct levels *x) {
    double n = 0, groups = 0, t = estimate(j, x, NOBODY), middle, square = 0, fourth = 0, left[LGV_GROUPS];
    for (size_t g = 0; g < LGV_GROUPS; g++) {
        n += (double)j->group_paths[g];
        groups += j->group_paths[g] > 0;
    }
    if (groups < 2) return j->random ? (double)NAN : 0;
    middle = groups * t;
    for (size_t g = 0; g < LGV_GROUPS; g++) {
        if (!j->group_paths[g]) continue;
        left[g] = estimate(j, x, g);
        middle -= (1 - (double)j->group_paths[g] / n) * left[g];
    }
    for (size_t g = 0; g < LGV_GROUPS; g++) {
        if (!j->group_paths[g]) continue;
        double h = n / (double)j->group_paths[g], d = h * t - (h - 1) * left[g] - middle;
        square += d * d / (h - 1);
        fourth += d * d * d * d / (h - 1) / (h - 1);
    }
    double tail = square > 0 ? groups * fourth / square / square - 3 : 0;
    return sqrt(square / groups * (1 + sqrt(fmax(0, tail) / groups)));
}

/* The length of several differences is at least their noise: its standard error is that of all of them together. */
static double level_stderr(const struct lgv_converge_job *j, struct levels one) {
    const struct lgv_converge_quantity *q = &j->quantity[one.quantity];
    double square = 0;
    if (!j->weak || q->width == 1) return jackknife(j, &one);
    one.what = DIFFERENCE;
    for (size_t k = 0; k < q->width; k++) {
        one.slot = q->slot + k;
        square += pow(jackknife(j, &one), 2);
    }
    return sqrt(square);
}

double lgv_converge_error(const struct lgv_converge_job *j, size_t method, size_t level, size_t quantity,
                          double *stderror) {
    const struct levels one = {.method = method, .quantity = quantity, .count = 1, .level = {level}};
    if (stderror) *stderror = level_stderr(j, one);
    return value(j, &one, 0, NOBODY);
}

static double expected_order(const struct lgv_converge_job *j, const struct lgv_kernel *k, const char **reason) {
    return (j->weak ? lgv_method_weak_order : lgv_method_strong_order)(k->method, &k->structure, k->nnoise, reason);
}

/* The difference between step and twice the step.  It is (2^r - 1) errors for a systematic error of order r, and
 * sqrt(2^(2r) - 1) errors when what a smaller step adds is independent of what still lacks, as for the iterated
 * integrals that bound r to 1/2: at least one error in each case. */
double lgv_converge_reference_error(const struct lgv_converge_job *j, size_t quantity) {
    if (j->exact) return NAN;
    double stderror, error = fabs(lgv_converge_error(j, j->nmethods, 1, quantity, &stderror));
    return j->weak && stderror > error ? stderror : error;
}

/* What round-off leaves of a number of this size.  A discrete Lagrangian of rotations divides by the step what is left
 * of products of their entries, the same way in every step: that grows like the square of the number of steps. */
static double round_off(const struct lgv_kernel *k, double size, double steps) {
    const bool divided = k->method->discrete && k->structure.rotations;
    return 2.220446049250313e-16 * size * (divided ? DIVIDED * steps * steps : ROUND_OFF * sqrt(steps));
}

/* !(a > b) is true for numbers that are not known, too. */
static enum lgv_level_use judge_level(const struct lgv_converge_job *j, size_t cell, size_t quantity, double reference,
                                      const struct lgv_convergence_level *x) {
    double floor = round_off(&j->kernel[cell / j->nlevels], j->quantity[quantity].size, (double)x->steps);
    if (!isfinite(x->error)) return LGV_LEVEL_UNKNOWN;
    if (!(x->error > floor)) return LGV_LEVEL_ROUND_OFF;
    if (!j->weak && mean(j, cell, LGV_SLOT_LOST, NOBODY) > LOST_SHARE * mean(j, cell, LGV_SLOT_STATE, NOBODY))
        return LGV_LEVEL_SPREAD;
    if (x->error < NEAR_REFERENCE * reference) return LGV_LEVEL_REFERENCE;
    return j->weak && !(x->error > 2 * x->stderror) ? LGV_LEVEL_NOISE : LGV_LEVEL_FITTED;
}

static void fill_level(const struct lgv_converge_job *j, size_t method, size_t level, size_t quantity, double reference,
                       struct lgv_convergence_level *out) {
    size_t cell = method * j->nlevels + level;
    const struct lgv_converge_sum *s = &j->sum[cell * LGV_GROUPS];
    uint64_t evaluations = 0, vecs = 0;
    *out = (struct lgv_convergence_level){.factor = j->factor[level],
                                          .steps = j->smallest_steps / j->factor[level],
                                          .step = j->smallest * (double)j->factor[level]};
    out->bias = lgv_converge_error(j, method, level, quantity, &out->stderror);
    out->error = fabs(out->bias);
    out->use = judge_level(j, cell, quantity, reference, out);
    for (size_t g = 0; g < LGV_GROUPS; g++) {
        out->paths += s[g].paths;
        out->failed += s[g].failed;
        out->truncated += s[g].truncated;
        out->seconds += s[g].seconds;
        evaluations += s[g].evaluations;
        vecs += s[g].vecs;
    }
    out->evaluations = vecs ? (double)evaluations / (double)vecs : (double)NAN;
}

/* -1 lower than expected, 0 as expected, 1 higher. */
static int against(double order, double stderror, double expected) {
    double off = order - expected, allowed = fmax(LGV_ORDER_OFF, LGV_ORDER_ERRORS * stderror);
    return off < -allowed ? -1 : off > allowed;
}

/* With noise of size b the error is b^2 C h^strong + D h^order; at steps that are not small for a small b the second
 * part is the larger one. */
static bool between(double order, const struct lgv_convergence_method *m) {
    return order > m->expected - LGV_ORDER_OFF && order < m->method->order + LGV_ORDER_OFF;
}

static bool has_use(const struct lgv_convergence_method *m, size_t nlevels, enum lgv_level_use use) {
    for (size_t l = 0; l < nlevels; l++)
        if (m->level[l].use == use) return true;
    return false;
}

/* What the fit over all levels and the two smallest steps say together. */
static enum lgv_order_verdict judge(const struct lgv_converge_job *j, bool noise, struct lgv_convergence_method *m) {
    int fit = against(m->order, m->order_stderr, m->expected),
        finest = against(m->finest, m->finest_stderr, m->expected);
    if (fit == 0 && finest >= 0) return LGV_ORDER_AGREES;
    if (finest == 0) return LGV_ORDER_BENDS;
    if (fit > 0 && finest > 0 && noise && between(m->order, m) && between(m->finest, m)) return LGV_ORDER_MIXED;
    if (fit > 0 && finest > 0 && fabs(m->order - m->finest) <= MOST_BEND) return LGV_ORDER_BETTER;
    /* amplified by the motion, or hidden by the reference, a good method can look like that */
    if (has_use(m, j->nlevels, LGV_LEVEL_SPREAD))
        m->doubt = LGV_DOUBT_SPREAD;
    else if (has_use(m, j->nlevels, LGV_LEVEL_REFERENCE))
        m->doubt = LGV_DOUBT_REFERENCE;
    else if (fit < 0 && finest < 0)
        return LGV_ORDER_DIFFERS;
    else
        m->doubt = LGV_DOUBT_LAW;
    return LGV_ORDER_NONE;
}

static void fit_method(const struct lgv_converge_job *j, size_t method, struct lgv_convergence_method *out) {
    struct levels all = {.method = method, .quantity = out->quantity, .what = SLOPE}, last = all;
    out->order = out->order_stderr = out->finest = out->finest_stderr = NAN;
    out->verdict = LGV_ORDER_NONE;
    out->doubt = LGV_DOUBT_NONE;
    for (size_t l = 0; l < j->nlevels; l++)
        if (out->level[l].use == LGV_LEVEL_FITTED) all.level[all.count++] = l;
    out->fitted = all.count;
    if (all.count < 2) {
        out->doubt = LGV_DOUBT_LEVELS;
        return;
    }
    out->order = slope(j, &all, NOBODY);
    out->order_stderr = jackknife(j, &all);
    last.count = 2;
    memcpy(last.level, all.level + all.count - 2, 2 * sizeof *last.level);
    out->finest = slope(j, &last, NOBODY);
    out->finest_stderr = jackknife(j, &last);
    if (isnan(out->expected))
        out->doubt = LGV_DOUBT_PROMISE;
    else if (!isfinite(out->order_stderr) || !isfinite(out->finest_stderr))
        out->doubt = LGV_DOUBT_UNITS;
    else if (fmax(out->order_stderr, out->finest_stderr) > LGV_ORDER_MOST_STDERR)
        out->doubt = LGV_DOUBT_STDERR;
    else
        out->verdict = judge(j, j->kernel[method].nnoise > 0 || j->kernel[method].bath, out);
}

void lgv_converge_fit(const struct lgv_converge_job *j, struct lgv_convergence *out) {
    const struct lgv_converge_sum *r = &j->sum[j->nmethods * j->nlevels * LGV_GROUPS];
    out->paths = out->reference_failed = 0;
    out->reference_seconds = 0;
    out->spread = j->spread;
    out->reference_fine = true;
    for (size_t g = 0; g < LGV_GROUPS; g++) {
        out->paths += j->group_paths[g];
        out->reference_failed += r[g].failed;
        out->reference_seconds += r[g].seconds;
    }
    for (size_t i = 0; i < out->nrows; i++) {
        struct lgv_convergence_method *m = &out->method[i];
        size_t k = i % j->nmethods, q = m->quantity = i / j->nmethods;
        double off = out->quantity[q].reference_error = lgv_converge_reference_error(j, q);
        m->expected = expected_order(j, &j->kernel[k], &m->expected_reason);
        for (size_t l = 0; l < j->nlevels; l++) fill_level(j, k, l, q, isfinite(off) ? off : 0, &m->level[l]);
        fit_method(j, k, m);
        out->reference_fine = out->reference_fine && !has_use(m, j->nlevels, LGV_LEVEL_REFERENCE);
    }
    if (!j->exact && !isfinite(out->quantity[0].reference_error)) out->reference_fine = false;
}
