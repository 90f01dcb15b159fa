/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Multilevel Monte Carlo (Giles 2008) for E[f(X_T)]: with step H / 2^l on level l
 *
 *     E[f_L] = E[f_0] + sum_{l=1..L} E[f_l - f_{l-1}],
 *
 * each term from its own paths, the two halves of a pair on the same Brownian path (the coarse one uses sums of two
 * increments).  With variances V_l and costs C_l (steps, not measured time: the numbers of paths must not depend on the
 * machine)
 *
 *     N_l = ceil(2 eps^-2 sqrt(V_l / C_l) sum_k sqrt(V_k C_k))     makes the statistical variance eps^2 / 2,
 *     max_{j <= 2} |m_{L-j}| 2^(-alpha j) / (2^alpha - 1) <= eps / sqrt 2        ends the search for L,
 *
 * alpha and beta fitted to the decay of |m_l| and V_l.  Noise: batch b of level l has the seed mix(seed, l, b), so
 * levels and batches are independent, and nothing depends on threads or lanes. */
#include "study/mlmc.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH 65536u /* pairs in memory at a time */
#define MOST_PATH_STEPS 1e16
#define ROUND_OFF 1e-12 /* of f: differences below have no decay */

struct search {
    const struct lgv_settings *s;
    const struct lgv_mlmc_options *o;
    const struct lgv_kernel *kernel;
    struct lgv_mlmc_result *r;
    size_t column;
    double largest;
    uint64_t steps; /* of level 0 */
    size_t most;    /* highest level allowed */
    struct lgv_pair_sums difference[LGV_MLMC_LEVELS], fine[LGV_MLMC_LEVELS];
    uint64_t batch[LGV_MLMC_LEVELS], wanted[LGV_MLMC_LEVELS];
    double done, planned; /* in steps of level 0 */
    double share;
    lgv_progress *progress;
    void *user;
    struct lgv_error *err;
};

/* splitmix64 of (seed, level, batch): different streams for different batches. */
static uint64_t batch_seed(uint64_t seed, uint64_t level, uint64_t batch) {
    uint64_t z = seed + 0x9E3779B97F4A7C15u * (1 + level + LGV_MLMC_LEVELS * batch);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int on_progress(void *user, double fraction) {
    struct search *x = user;
    double part = x->planned > 0 ? (x->done + fraction * x->share) / x->planned : 0;
    return x->progress ? x->progress(x->user, fmin(1, part)) : 0;
}

static enum lgv_status half(struct search *x, size_t level, bool coarse, uint64_t paths, uint64_t seed,
                            struct lgv_leg *leg) {
    int at = (int)level - coarse;
    *leg = (struct lgv_leg){.kernel = x->kernel,
                            .t0 = x->s->start,
                            .step = ldexp(x->largest, -at),
                            .coarsen = coarse ? 2 : 1,
                            .steps = x->steps << at,
                            .paths = paths,
                            .seed = seed,
                            .truncate = x->s->truncate,
                            .rescue = x->s->rescue,
                            .threads = (unsigned)x->s->threads,
                            .ncolumns = 1,
                            .column = &x->column};
    leg->time_step = lgv_leg_times(leg->steps, 1, 1, &leg->ntimes);
    if (!leg->time_step) return lgv_fail_memory(x->err);
    x->share = (double)paths * ldexp(1, at);
    enum lgv_status status = lgv_leg_run(leg, on_progress, x, x->err);
    x->done += x->share;
    return status;
}

/* A batch is added whole or, when it is stopped, not at all. */
static enum lgv_status add_batch(struct search *x, size_t level, uint64_t paths) {
    struct lgv_mlmc_level *l = &x->r->level[level];
    struct lgv_leg fine = {0}, coarse = {0};
    uint64_t seed = batch_seed(x->s->seed, level, x->batch[level]++);
    double begin = lgv_seconds();
    enum lgv_status status = half(x, level, false, paths, seed, &fine);
    if (!status && level) status = half(x, level, true, paths, seed, &coarse);
    for (uint64_t i = 0; !status && i < paths; i++) {
        double f = fine.final[i], d = level ? f - coarse.final[i] : f;
        if (!isfinite(d)) {
            l->failed++;
            x->r->failed++;
            continue;
        }
        lgv_pair_add(&x->difference[level], d, 0);
        lgv_pair_add(&x->fine[level], f, 0);
        l->paths++;
    }
    if (!status) {
        l->seconds += lgv_seconds() - begin;
        l->fine_seconds += fine.report.seconds;
        x->r->rescued += fine.rescued + coarse.rescued;
        x->r->threads = fine.report.threads > x->r->threads ? fine.report.threads : x->r->threads;
    }
    lgv_leg_free(&fine);
    lgv_leg_free(&coarse);
    return status;
}

static double variance(const struct lgv_pair_sums *s) {
    double ff = s->ff - s->f * s->f / s->n;
    return s->n > 1 ? (ff < 0 ? 0 : ff) / (s->n - 1) : 0; /* what overflowed stays NaN */
}

static void update_level(struct search *x, size_t level) {
    struct lgv_mlmc_level *l = &x->r->level[level];
    const struct lgv_pair_sums *d = &x->difference[level], *f = &x->fine[level];
    l->mean = d->n > 0 ? d->shift + d->f / d->n : (double)NAN;
    l->variance = variance(d);
    l->fine_mean = f->n > 0 ? f->shift + f->f / f->n : (double)NAN;
    l->fine_variance = variance(f);
}

/* Slope of -log2 y over the level, from level 1 on, each value as good as another; NaN when fewer than two are above
 * `floor`, the round-off. */
static double decay(const double *y, size_t count, double floor) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t l = 1; l < count; l++) {
        if (!(y[l] > floor)) continue;
        double v = -log2(y[l]), a = (double)l;
        n += 1;
        sx += a;
        sy += v;
        sxx += a * a;
        sxy += a * v;
    }
    return n >= 2 ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : (double)NAN;
}

/* Means and variances as they are believed: never much smaller than the decay lets expect, so that a lucky pilot run
 * does not end the search early. */
static void believe(struct search *x, double *mean, double *var) {
    struct lgv_mlmc_result *r = x->r;
    size_t n = r->nlevels;
    double size = 0;
    for (size_t l = 0; l < n; l++) {
        update_level(x, l);
        mean[l] = fabs(r->level[l].mean);
        var[l] = r->level[l].variance;
        size = fmax(size, fabs(r->level[l].fine_mean) + sqrt(r->level[l].fine_variance));
    }
    r->alpha = decay(mean, n, ROUND_OFF * size);
    r->beta = decay(var, n, ROUND_OFF * size * ROUND_OFF * size);
    /* A decay faster than the method's weak order is luck of a few noisy means. */
    const struct lgv_kernel *k = x->kernel;
    double most = fmax(1, lgv_method_weak_order(k->method, &k->structure, k->nnoise, NULL)),
           alpha = fmax(0.5, isfinite(r->alpha) ? fmin(r->alpha, most) : 1),
           beta = fmax(0.5, isfinite(r->beta) ? r->beta : 1);
    for (size_t l = 2; l < n; l++) {
        mean[l] = fmax(mean[l], 0.5 * mean[l - 1] / exp2(alpha));
        var[l] = fmax(var[l], 0.5 * var[l - 1] / exp2(beta));
    }
    r->bias = 0;
    for (size_t j = 0; j < 3 && j + 1 < n; j++)
        r->bias = fmax(r->bias, mean[n - 1 - j] * exp2(-alpha * (double)j) / (exp2(alpha) - 1));
}

/* The level whose own values scatter most, or overflow: it makes the sum over all levels large, and every number of
 * pairs with it. */
static size_t worst_level(const struct lgv_mlmc_result *r) {
    size_t worst = 0;
    for (size_t l = 1; l < r->nlevels && !isnan(r->level[worst].fine_variance); l++)
        if (!(r->level[l].fine_variance <= r->level[worst].fine_variance)) worst = l;
    return worst;
}

static enum lgv_status too_many(const struct search *x, const double *pairs, const double *var) {
    struct lgv_text text = {0};
    size_t level = worst_level(x->r);
    lgv_text_add(&text, "a tolerance of %g needs ", x->o->tolerance);
    if (isfinite(pairs[level]) && isfinite(var[level]))
        lgv_text_add(&text, "%.2g paths on level %zu, more than can be run: the variance there is %.2g; ", pairs[level],
                     level, var[level]);
    else
        lgv_text_add(&text, "more paths than can be run: the variance on level %zu overflows; ", level);
    if (x->r->beta < 0)
        lgv_text_add(&text,
                     "the variances grow from level to level, multilevel sampling does not suit this observable");
    else
        lgv_text_add(&text, "when the method is unstable with the step %g, a smaller --largest helps",
                     x->r->level[level].step);
    enum lgv_status status =
        text.failed ? lgv_fail_memory(x->err) : lgv_fail(x->err, LGV_BAD_INPUT, "%s", text.data);
    lgv_text_free(&text);
    return status;
}

static enum lgv_status allocate(struct search *x, const double *var) {
    double sum = 0, eps = x->o->tolerance, pairs[LGV_MLMC_LEVELS];
    bool possible = true;
    x->planned = 0;
    for (size_t l = 0; l < x->r->nlevels; l++) sum += sqrt(var[l] * x->r->level[l].cost);
    for (size_t l = 0; l < x->r->nlevels; l++) {
        pairs[l] = ceil(2 / (eps * eps) * sqrt(var[l] / x->r->level[l].cost) * sum);
        possible = possible && pairs[l] * x->r->level[l].cost * (double)x->steps < MOST_PATH_STEPS;
    }
    if (!possible) return too_many(x, pairs, var);
    for (size_t l = 0; l < x->r->nlevels; l++) {
        uint64_t have = x->r->level[l].paths + x->r->level[l].failed;
        x->wanted[l] = (uint64_t)pairs[l] > have ? (uint64_t)pairs[l] : have;
        x->planned += (double)x->wanted[l] * x->r->level[l].cost;
    }
    return LGV_OK;
}

static enum lgv_status fill_levels(struct search *x) {
    enum lgv_status status = LGV_OK;
    for (size_t l = 0; !status && l < x->r->nlevels; l++) {
        struct lgv_mlmc_level *v = &x->r->level[l];
        while (!status && v->paths + v->failed < x->wanted[l]) {
            uint64_t left = x->wanted[l] - v->paths - v->failed;
            x->share = 0; /* asked here too: small batches end before they ask whether to go on */
            bool stop = lgv_peers_any(on_progress(x, 0));
            status = stop ? LGV_INTERRUPTED : add_batch(x, l, left < BATCH ? left : BATCH);
        }
    }
    return status;
}

static void add_level(struct search *x) {
    size_t l = x->r->nlevels++;
    x->r->level[l] = (struct lgv_mlmc_level){
        .step = ldexp(x->largest, -(int)l), .mean = NAN, .fine_mean = NAN, .cost = l ? 1.5 * ldexp(1, (int)l) : 1};
}

/* Is every level at most 1 % short of what it should have? */
static bool enough(const struct search *x) {
    for (size_t l = 0; l < x->r->nlevels; l++) {
        double have = (double)(x->r->level[l].paths + x->r->level[l].failed);
        if ((double)x->wanted[l] - have > 0.01 * have) return false;
    }
    return true;
}

static enum lgv_status search(struct search *x) {
    double mean[LGV_MLMC_LEVELS], var[LGV_MLMC_LEVELS], pilot = x->o->pilot ? (double)x->o->pilot : 1000;
    enum lgv_status status = LGV_OK;
    while (x->r->nlevels < 3 && x->r->nlevels <= x->most) {
        x->wanted[x->r->nlevels] = (uint64_t)pilot;
        x->planned += pilot * 4;
        add_level(x);
    }
    while (!status) {
        status = fill_levels(x);
        for (size_t l = 0; !status && l < x->r->nlevels; l++)
            if (!x->r->level[l].paths)
                status =
                    lgv_fail(x->err, LGV_CANNOT_RUN, "all paths fail on level %zu (step %g): a smaller --largest helps",
                             l, x->r->level[l].step);
        believe(x, mean, var);
        if (!status) status = allocate(x, var);
        if (status || !enough(x)) continue;
        x->r->reached = x->r->bias <= x->o->tolerance / sqrt(2) && x->r->nlevels >= 2;
        if (x->r->reached || x->r->nlevels > x->most) return LGV_OK;
        double beta = fmax(0.5, isfinite(x->r->beta) ? x->r->beta : 1);
        var[x->r->nlevels] = var[x->r->nlevels - 1] / exp2(beta);
        add_level(x);
        status = allocate(x, var);
        /* a new level needs enough pairs to show its variance */
        size_t l = x->r->nlevels - 1;
        if (x->wanted[l] < 100) x->wanted[l] = 100;
    }
    return status;
}

static void finish(struct search *x) {
    struct lgv_mlmc_result *r = x->r;
    double square = 0, eps = x->o->tolerance;
    size_t planned = r->nlevels;
    while (r->nlevels && !r->level[r->nlevels - 1].paths) r->nlevels--; /* an interrupted level that has nothing */
    if (r->nlevels < planned) {
        double mean[LGV_MLMC_LEVELS], var[LGV_MLMC_LEVELS];
        believe(x, mean, var);
    }
    if (r->nlevels < 2) r->bias = NAN; /* one level says nothing about the weak error */
    for (size_t l = 0; l < r->nlevels; l++) {
        struct lgv_mlmc_level *v = &r->level[l];
        if (!v->paths) continue;
        r->estimate += v->mean;
        square += v->variance / (double)v->paths;
        r->cost += (double)(v->paths + v->failed) * v->cost;
    }
    r->stderror = sqrt(square);
    r->low = r->estimate - 1.96 * r->stderror - r->bias;
    r->high = r->estimate + 1.96 * r->stderror + r->bias;
    if (!r->nlevels) return;
    const struct lgv_mlmc_level *last = &r->level[r->nlevels - 1], *first = &r->level[0];
    double v = last->paths > 1000 ? last->fine_variance : fmax(last->fine_variance, first->variance);
    r->plain_paths = ceil(2 * v / (eps * eps));
    r->plain_cost = r->plain_paths * ldexp(1, (int)r->nlevels - 1);
    /* the time of a path-step where most was measured */
    const struct lgv_mlmc_level *measured = first->fine_seconds > last->fine_seconds ? first : last;
    double steps = (double)(measured->paths + measured->failed) * x->largest / measured->step;
    r->plain_seconds = steps > 0 ? r->plain_cost * measured->fine_seconds / steps : (double)NAN;
}

/* Refuses what levels cannot help with before anything is compiled.  The multiplier of a step is a mean over it and
 * contains the noise as dW/dt: its variance grows like 1/dt, and so do the variances of the differences. */
static enum lgv_status suits(struct search *x, struct lgv_model *m) {
    struct lgv_watch w = {0};
    if (!m->nnoise && !m->bath.kind && !m->draws[0] && !m->draws[1])
        return lgv_fail(x->err, LGV_BAD_INPUT, "nothing is random: one path is enough (leave out --mlmc)");
    enum lgv_status status = lgv_kernel_watch(m, &w, x->err);
    if (!status) status = lgv_kernel_watched(&w, x->o->observe ? x->o->observe : "H", &x->column, x->err);
    int node = status ? -1 : lgv_model_observed(m, &w.item[x->column]);
    if (m->nnoise > 0 && node >= 0 && (m->graph->node[node].uses & LGV_USES(LGV_LAMBDA)))
        status = lgv_fail(x->err, LGV_BAD_INPUT,
                          "%s depends on multipliers, and with noise levels cannot help: a multiplier is a mean over "
                          "one step and contains dW/dt, so its variance grows like 1/step; leave out --mlmc and take "
                          "many paths at one step",
                          w.item[x->column].name);
    lgv_kernel_watch_free(&w);
    return status;
}

static enum lgv_status prepare(struct search *x, struct lgv_model *m, const struct lgv_method *method) {
    struct lgv_mlmc_result *r = x->r;
    const struct lgv_observable *f = &x->kernel->watch.item[x->column];
    double span = x->s->until - x->s->start;
    x->largest = x->o->largest > 0 ? x->o->largest : x->s->step;
    if (!(span > 0))
        return lgv_fail(x->err, LGV_BAD_INPUT, "until = %g must lie after start = %g", x->s->until, x->s->start);
    double whole = fmin(ceil(span / x->largest), 1e18); /* refused below when it is too large */
    if (whole <= LGV_MOST_STEPS) whole = (double)lgv_whole_steps(span, x->largest, &x->largest);
    x->most = x->o->levels ? (size_t)x->o->levels - 1 : 11;
    if (x->most >= LGV_MLMC_LEVELS) x->most = LGV_MLMC_LEVELS - 1;
    if (ldexp(whole, (int)x->most) > LGV_MOST_STEPS)
        return lgv_fail(x->err, LGV_BAD_INPUT, "%zu levels from a step of %g take too many steps", x->most + 1,
                        x->largest);
    x->steps = (uint64_t)whole;
    r->t0 = x->s->start;
    r->until = x->s->start + whole * x->largest;
    if (fabs(r->until - x->s->until) <= 1e-9 * span) r->until = x->s->until;
    r->tolerance = x->o->tolerance;
    r->seed = x->s->seed;
    char date[32];
    time_t t = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
    r->date = lgv_copy(date);
    r->version = lgv_copy(LGV_VERSION);
    r->model_name = lgv_copy(m->name);
    r->model_file = m->file ? lgv_copy(m->file) : NULL;
    r->method = lgv_copy(method->name);
    r->observable = lgv_copy(f->name);
    r->formula = lgv_copy(f->text);
    return r->model_name && r->method && r->observable ? LGV_OK : lgv_fail_memory(x->err);
}

enum lgv_status lgv_mlmc(struct lgv_model *m, const struct lgv_settings *settings, const struct lgv_method *method,
                         const struct lgv_mlmc_options *options, lgv_progress *progress, void *user,
                         struct lgv_mlmc_result *out, struct lgv_error *err) {
    struct lgv_kernel kernel = {0};
    struct lgv_kernel_options build = {.coarse = true,
                                       .lanes = (unsigned)settings->lanes,
                                       .compiler = settings->compiler,
                                       .progress = progress,
                                       .user = user};
    struct search x = {
        .s = settings, .o = options, .kernel = &kernel, .r = out, .progress = progress, .user = user, .err = err};
    *out = (struct lgv_mlmc_result){.alpha = NAN, .beta = NAN};
    lgv_settings_times(settings, m);
    double begin = lgv_seconds();
    if (lgv_settings_paths(settings, err)) return LGV_BAD_INPUT;
    if (!(options->tolerance > 0)) return lgv_fail(err, LGV_BAD_INPUT, "the tolerance must be above 0");
    if (method->metropolis)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "%s has no order, and levels of steps extrapolate by one: its steps are accepted or not. Its "
                        "stationary averages have no bias from the step; leave out --mlmc",
                        method->name);
    enum lgv_status status = suits(&x, m);
    if (!status) status = lgv_kernel_build(m, method, &build, &kernel, err);
    if (status == LGV_INTERRUPTED) return lgv_fail(err, LGV_CANNOT_RUN, "stopped before the run began");
    if (!status) status = prepare(&x, m, method);
    if (!status) status = search(&x);
    if (status == LGV_OK || status == LGV_INTERRUPTED) finish(&x);
    if (status == LGV_INTERRUPTED && !out->nlevels)
        status = lgv_fail(err, LGV_CANNOT_RUN, "stopped before any pair of paths was done");
    if (status == LGV_BAD_INPUT || status == LGV_CANNOT_RUN) lgv_mlmc_clear(out);
    out->interrupted = status == LGV_INTERRUPTED;
    out->seconds = lgv_seconds() - begin;
    lgv_kernel_free(&kernel);
    return status == LGV_OK && out->failed ? LGV_FAILED_PATHS : status;
}

void lgv_mlmc_clear(struct lgv_mlmc_result *r) {
    char *text[] = {r->model_name, r->model_file, r->method,  r->observable,
                    r->formula,    r->version,    r->command, r->date};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) free(text[i]);
    *r = (struct lgv_mlmc_result){0};
}
