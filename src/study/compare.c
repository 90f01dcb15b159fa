/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods against each other on the same Brownian paths.
 *
 * Along time: mean(f - b M) with the martingale part M = sum_k sum_m {f, h_m}(X_k) dW_m,k, whose mean is zero for
 * every method, so that the bias of a method shows long before the plain average would tell it from noise.  The bias
 * at the end is against a known mean, or against a fine run on the same paths: mean(d - b D), d = f - f_ref, D = M -
 * M_ref. */
#include "study/compare_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LADDER_STEPS 5e8 /* of all rungs, when the number of paths is not given: a few seconds */

int lgv_compare_progress(void *user, double fraction) {
    struct lgv_comparing *x = user;
    return x->progress ? x->progress(x->user, x->work > 0 ? fmin(1, (x->done + fraction * x->share) / x->work) : 0) : 0;
}

/* ---- what is looked at ---- */

static enum lgv_status choose_columns(struct lgv_comparing *x) {
    struct lgv_watch w = {0};
    enum lgv_status status = lgv_kernel_watch(x->m, &w, x->err);
    if (status) return status;
    x->column = lgv_new(2 * w.count + x->o->nobserve, sizeof *x->column);
    if (!x->column) status = lgv_fail_memory(x->err);
    for (size_t i = 0; !status && i < x->o->nobserve; i++) {
        status = lgv_kernel_watched(&w, x->o->observe[i], &x->column[x->nobservables], x->err);
        x->nobservables += !status;
    }
    for (size_t i = 0; !status && !x->o->nobserve && i < w.count; i++)
        if (w.item[i].kind <= LGV_OBSERVABLE_ENERGY) x->column[x->nobservables++] = i;
    x->ncolumns = x->nobservables;
    /* the distance to the exact solution, else all coordinates and momenta */
    int wanted = x->out->exact ? LGV_OBSERVABLE_ERROR : LGV_OBSERVABLE_COORDINATE;
    for (size_t i = 0; !status && i < w.count; i++)
        if (w.item[i].kind == wanted || (!x->out->exact && w.item[i].kind == LGV_OBSERVABLE_CONJUGATE))
            x->column[x->ncolumns++] = i;
    if (!status && x->ncolumns == x->nobservables) { /* a large system: the energy alone */
        x->column[x->ncolumns++] = 0;
        x->out->strong_energy = true;
    }
    x->out->observable = lgv_new(x->nobservables + 1, sizeof *x->out->observable);
    x->out->formula = lgv_new(x->nobservables + 1, sizeof *x->out->formula);
    x->out->expected = lgv_new(x->nobservables + 1, sizeof *x->out->expected);
    x->out->expected_text = lgv_new(x->nobservables + 1, sizeof *x->out->expected_text);
    x->given = lgv_new(x->nobservables + 1, sizeof *x->given);
    if (!status &&
        (!x->out->observable || !x->out->formula || !x->out->expected || !x->out->expected_text || !x->given))
        status = lgv_fail_memory(x->err);
    for (size_t i = 0; !status && i < x->nobservables; i++) {
        x->out->observable[i] = lgv_copy(w.item[x->column[i]].name);
        x->out->formula[i] = lgv_copy(w.item[x->column[i]].text);
        x->out->nobservables++;
    }
    lgv_kernel_watch_free(&w);
    return status;
}

/* ---- legs on a common grid ---- */

static void grid_free(struct lgv_compare_grid *g) {
    free(g->step);
    free(g->multiple);
}

static uint64_t divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* The steps have to meet at the end: where the time they first meet at does not divide the run, all are made shorter by
 * one factor, as a run makes its step shorter. */
static enum lgv_status make_grid(const struct lgv_comparing *x, struct lgv_compare_grid *g) {
    double span = x->s->until - x->s->start;
    if (!(span > 0))
        return lgv_fail(x->err, LGV_BAD_INPUT, "until = %g must lie after start = %g", x->s->until, x->s->start);
    g->multiple = lgv_new(g->count, sizeof *g->multiple);
    if (!g->multiple) return lgv_fail_memory(x->err);
    if (!lgv_common_step(g->step, g->count, &g->base, g->multiple))
        return lgv_fail(x->err, LGV_BAD_INPUT,
                        "the steps have no common measure: on the same noise each must be a multiple of one base step");
    g->every = 1;
    for (size_t i = 0; i < g->count; i++) {
        g->every *= g->multiple[i] / divisor(g->every, g->multiple[i]);
        if ((double)g->every * g->base > 1.1 * span)
            return lgv_fail(
                x->err, LGV_BAD_INPUT,
                "the steps meet for the first time at %g, and the run ends at %g: choose steps that divide each "
                "other",
                (double)g->every * g->base, span);
    }
    double period = (double)g->every * g->base, fits;
    uint64_t periods = lgv_whole_steps(span, period, &fits);
    if ((double)periods * (double)g->every > LGV_MOST_STEPS)
        return lgv_fail(x->err, LGV_BAD_INPUT, "the run would take too many steps");
    g->total = periods * g->every;
    g->shorter = fits / period;
    if (g->shorter == 1) return LGV_OK;
    g->base *= g->shorter;
    for (size_t i = 0; i < g->count; i++) g->step[i] = (double)g->multiple[i] * g->base;
    return LGV_OK;
}

/* Where the burn-in is over; the last time at the latest. */
static void begin_averages(const struct lgv_settings *s, struct lgv_leg *leg) {
    size_t i = 0;
    while (i + 1 < leg->ntimes && (double)leg->time_step[i] * leg->step < s->burn_in * (1 - 1e-12)) i++;
    leg->averages_from = i;
}

enum lgv_status lgv_compare_leg(struct lgv_comparing *x, const struct lgv_compare_grid *g, size_t at,
                                const struct lgv_kernel *k, uint64_t paths, uint64_t outputs, struct lgv_leg *leg) {
    *leg = (struct lgv_leg){.kernel = k,
                            .t0 = x->s->start,
                            .step = g->step[at],
                            .coarsen = x->s->weak ? 1 : g->multiple[at],
                            .steps = g->total / g->multiple[at],
                            .paths = paths,
                            .seed = x->s->seed,
                            .truncate = x->s->truncate,
                            .rescue = x->s->rescue,
                            .points = x->s->weak,
                            .threads = (unsigned)x->s->threads,
                            .ncolumns = x->ncolumns,
                            .nseries = x->nobservables,
                            .column = x->column};
    leg->time_step = lgv_leg_times(leg->steps, g->every / g->multiple[at], outputs, &leg->ntimes);
    if (!leg->time_step) return lgv_fail_memory(x->err);
    leg->averages_from = leg->ntimes;
    if (x->s->averages && outputs > 1) begin_averages(x->s, leg);
    double bytes = 8.0 * (double)paths * (3.0 * (double)x->ncolumns + 1) +
                   (double)leg->ntimes * (double)x->nobservables * 400.0 * (1.0 + (double)leg->threads);
    if (bytes > LGV_MOST_BYTES)
        return lgv_fail(x->err, LGV_CANNOT_RUN, "the values of the paths need %.1f GB: ask for fewer paths",
                        bytes / 1e9);
    x->share = (double)g->total * (double)paths;
    /* short legs end before they ask whether to go on */
    if (lgv_peers_any(lgv_compare_progress(x, 0))) return LGV_INTERRUPTED;
    enum lgv_status status = lgv_leg_run(leg, lgv_compare_progress, x, x->err);
    x->done += x->share;
    return status;
}

static enum lgv_status build(struct lgv_comparing *x, size_t at, bool control, struct lgv_kernel *out) {
    const struct lgv_method *method = at < x->o->count ? x->o->contender[at].method : x->reference;
    struct lgv_kernel_options options = {.coarse = true,
                                         .lanes = (unsigned)x->s->lanes,
                                         .compiler = x->s->compiler,
                                         .control = control && x->out->control,
                                         .progress = lgv_compare_progress,
                                         .user = x};
    if (out->entry) return LGV_OK;
    enum lgv_status status = lgv_kernel_build(x->m, method, &options, out, x->err);
    unsigned common = x->reference && x->m->bath.kind ? lgv_method_spans(x->reference) : 1;
    for (size_t i = 0; x->m->bath.kind && i < x->o->count; i++)
        common = lgv_method_common_spans(x->o->contender[i].method, common);
    if (!x->s->weak) out->common_spans = common;
    return status ? status : lgv_settings_weak(x->s, out, x->err);
}

/* ---- along time ---- */

static bool fill_averages(struct lgv_outcome *o, const struct lgv_leg *leg, size_t series) {
    o->average = lgv_new(leg->ntimes, sizeof *o->average);
    o->average_err = lgv_new(leg->ntimes, sizeof *o->average_err);
    for (size_t t = 0; o->average && o->average_err && t < leg->ntimes; t++) {
        struct lgv_pair_estimate e = lgv_pair_estimate(&leg->running[t * leg->nseries + series]);
        o->average[t] = e.plain; /* NaN before the averages begin */
        o->average_err[t] = e.plain_err;
    }
    return o->average && o->average_err;
}

static bool fill_outcome(struct lgv_outcome *o, const struct lgv_leg *leg, size_t series) {
    double **array[] = {&o->mean, &o->err, &o->plain, &o->plain_err};
    for (size_t i = 0; i < 4; i++)
        if (!(*array[i] = lgv_new(leg->ntimes, sizeof(double)))) return false;
    o->bias = o->bias_err = o->bias_plain_err = NAN;
    for (size_t t = 0; t < leg->ntimes; t++) {
        struct lgv_pair_sums s = leg->sum[t * leg->nseries + series];
        struct lgv_pair_estimate e = lgv_pair_estimate(&s);
        o->mean[t] = e.mean;
        o->err[t] = e.err;
        o->plain[t] = e.plain;
        o->plain_err[t] = e.plain_err;
        o->factor = e.factor;
        o->left = e.left;
    }
    return !leg->running || fill_averages(o, leg, series);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool fill_method(struct lgv_compared *c, struct lgv_leg *leg) {
    c->outcome = lgv_new(leg->nseries + 1, sizeof *c->outcome);
    if (!c->outcome) return false;
    for (size_t k = 0; k < leg->nseries; k++)
        if (!fill_outcome(&c->outcome[k], leg, k)) return false;
    c->steps = leg->steps;
    c->failed = leg->failed;
    c->rescued = leg->rescued;
    c->seconds = leg->report.seconds;
    c->evaluations = leg->report.evaluations;
    c->iterations = leg->report.iterations;
    qsort(leg->drift, (size_t)leg->paths, sizeof *leg->drift, by_value);
    c->drift_max = leg->drift[leg->paths - 1];
    c->drift_median = leg->drift[leg->paths / 2];
    c->done = true;
    return true;
}

/* Bias at the end against the known mean, or against the reference on the paths that both kept. */
static void find_bias(const struct lgv_comparing *x, struct lgv_outcome *o, size_t k, const struct lgv_leg *leg,
                      const struct lgv_leg *reference) {
    size_t last = leg->ntimes - 1;
    if (x->out->expected[k]) {
        o->bias_kind = LGV_BIAS_EXPECTED;
        o->bias = o->mean[last] - x->out->expected[k][last];
        o->bias_err = o->err[last];
        o->bias_plain_err = o->plain_err[last];
    } else if (reference && reference->done) {
        struct lgv_pair_sums s = {0};
        for (uint64_t p = 0; p < leg->paths; p++) {
            size_t at = p * leg->ncolumns + k;
            double d = leg->final[at] - reference->final[at];
            if (isfinite(d)) lgv_pair_add(&s, d, leg->control ? leg->control[at] - reference->control[at] : 0);
        }
        struct lgv_pair_estimate e = lgv_pair_estimate(&s);
        o->bias_kind = LGV_BIAS_REFERENCE;
        o->bias = e.mean;
        o->bias_err = e.err;
        o->bias_plain_err = e.plain_err;
    }
}

static enum lgv_status along_time(struct lgv_comparing *x, const struct lgv_compare_grid *g) {
    struct lgv_comparison *c = x->out;
    struct lgv_leg reference = {0};
    enum lgv_status status = LGV_OK;
    if (x->reference_wanted)
        status = lgv_compare_leg(x, g, x->o->count, &x->kernel[x->o->count], x->s->paths, 1, &reference);
    c->reference_failed = reference.failed;
    for (size_t i = 0; !status && i < x->o->count; i++) {
        struct lgv_leg leg = {0};
        status = lgv_compare_leg(x, g, i, &x->kernel[i], x->s->paths, x->s->outputs, &leg);
        if (!status && !c->time) {
            c->ntimes = leg.ntimes;
            c->time = lgv_new(leg.ntimes, sizeof *c->time);
            for (size_t t = 0; c->time && t < leg.ntimes; t++)
                c->time[t] = x->s->start + (double)leg.time_step[t] * leg.step;
            status = c->time ? lgv_compare_known(x, &leg) : lgv_fail_memory(x->err);
        }
        /* the drift is sorted by fill_method; biases need only what is kept path by path */
        if (!status && !fill_method(&c->method[i], &leg)) status = lgv_fail_memory(x->err);
        for (size_t k = 0; !status && k < x->nobservables; k++)
            find_bias(x, &c->method[i].outcome[k], k, &leg, x->reference_wanted ? &reference : NULL);
        c->failed += c->method[i].failed;
        c->rescued += c->method[i].rescued;
        c->threads = leg.report.threads ? leg.report.threads : c->threads;
        lgv_leg_free(&leg);
    }
    lgv_leg_free(&reference);
    return status;
}

/* ---- the whole ---- */

/* The most accurate first: order 3/2 with noise and order 4 without where its equations stay small. */
static enum lgv_status choose_reference(struct lgv_comparing *x) {
    static const char *const small[] = {"LobZ", "VZc", "P2N2Q4Gau", "P1N1Q2Gau", "RATTLE-Jc", "Lobatto3-W1",
                                        "BAB",  "RATTLE", "BRB", NULL};
    static const char *const large[] = {"VZc", "P2N2Q2Lob", "P2N2Q4Gau", "P1N1Q2Gau", "RATTLE-Jc", "RATTLE", "BAB",
                                        "BRB", NULL};
    static const char *const still[] = {"RK4", "P3N3Q6Gau", "P2N2Q2Lob", "P1N1Q2Gau", "Lobatto4", "RATTLE", "BAB-4",
                                        "BRB-4", NULL};
    static const char *const bath[] = {"UBU", "BAOAB", "OBABO", "RATTLE-GLA", "BRORB", "P1N1Q2Gau-GLA", NULL};
    const char *const *good = x->m->bath.kind                 ? bath
                              : x->m->np > LGV_REFERENCE_DOF ? large
                              : x->m->nnoise                 ? small
                                                             : still;
    struct lgv_structure structure;
    char why[400];
    bool all_given = true;
    for (size_t i = 0; i < x->nobservables; i++) all_given &= x->given[i];
    const bool none = x->o->no_reference || x->s->weak; /* steps of other sizes have no increments in common */
    x->reference_wanted = !none && (x->o->reference || !all_given);
    x->reference = x->o->reference;
    x->rungs = x->out->exact || !none || x->given[0] ? (size_t)x->o->ladder : 0;
    x->out->ladder_skipped = x->rungs < x->o->ladder;
    x->out->ladder_reference = x->rungs && !x->out->exact && !none;
    x->out->weak = x->out->ladder_reference ? LGV_BIAS_REFERENCE : x->given[0] ? LGV_BIAS_EXPECTED : LGV_BIAS_NONE;
    if (x->reference || (!x->reference_wanted && !x->out->ladder_reference)) return LGV_OK;
    enum lgv_status status = lgv_model_structure(x->m, &structure, x->err);
    if (!status && lgv_references_mixed(x->m, &structure)) good = lgv_references_mixed(x->m, &structure);
    for (; !status && !x->reference && *good; good++) {
        const struct lgv_method *m = lgv_method_find(*good);
        if (m && !lgv_method_refusal(m, x->m, &structure, why, sizeof why)) x->reference = m;
    }
    if (!status && !x->reference)
        status = lgv_fail(x->err, LGV_BAD_INPUT, "no method serves as a reference here: name one, or expected means");
    return status;
}

static enum lgv_status plan_grids(struct lgv_comparing *x, struct lgv_compare_grid *time,
                                  struct lgv_compare_grid *ladder) {
    size_t n = x->o->count, rungs = x->rungs;
    time->step = lgv_new(n + 1, sizeof *time->step);
    ladder->step = lgv_new(n * rungs + 1, sizeof *ladder->step);
    if (!time->step || !ladder->step) return lgv_fail_memory(x->err);
    double least = INFINITY;
    for (size_t i = 0; i < n; i++) {
        time->step[time->count++] = x->o->contender[i].step;
        least = fmin(least, x->o->contender[i].step);
    }
    double fine = x->o->reference_step > 0 ? x->o->reference_step : least / 4;
    if (x->reference_wanted) time->step[time->count++] = fine;
    enum lgv_status status = make_grid(x, time);
    if (status) return status;
    fine *= time->shorter;
    double finest = fmin(fine, ldexp(least * time->shorter, 1 - (int)rungs) / 4);
    x->out->reference_step = fine;
    x->out->chosen = x->o->chosen;
    x->out->ladder_reference_step = finest;
    for (size_t i = 0; i < n; i++) {
        x->out->method[i].step = time->step[i];
        for (size_t j = 0; j < rungs; j++) ladder->step[ladder->count++] = ldexp(time->step[i], -(int)j);
    }
    if (x->out->ladder_reference) ladder->step[ladder->count++] = finest;
    if (rungs) status = make_grid(x, ladder);
    if (status) return status;
    if (rungs && ladder->shorter != 1)
        return lgv_fail(x->err, LGV_BAD_INPUT,
                        "the steps of the ladder meet at %g only, which does not divide the time %g: choose a "
                        "reference step that divides the steps",
                        (double)ladder->every * ladder->base / ladder->shorter, x->s->until - x->s->start);
    double most = LADDER_STEPS / (double)(ladder->total * (ladder->count + 1) + 1);
    if (!x->o->ladder_paths) x->out->ladder_paths = (uint64_t)fmin((double)x->s->paths, fmax(64, fmin(1000, most)));
    x->out->until = x->s->until;
    x->out->shorter = time->shorter;
    x->work = (double)time->total * (double)time->count * (double)x->s->paths;
    if (rungs) x->work += (double)ladder->total * (double)ladder->count * (double)x->out->ladder_paths;
    return LGV_OK;
}

static enum lgv_status build_all(struct lgv_comparing *x) {
    size_t n = x->o->count;
    enum lgv_status status = LGV_OK;
    for (size_t i = 0; !status && i <= n; i++) {
        bool needed = i < n || x->reference_wanted || x->out->ladder_reference;
        if (needed) status = build(x, i, true, &x->kernel[i]);
        if (!status && i < n && x->rungs) status = build(x, i, false, &x->plain[i]);
    }
    return status;
}

static bool describe(struct lgv_comparing *x) {
    struct lgv_comparison *c = x->out;
    char date[32];
    time_t t = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
    c->date = lgv_copy(date);
    c->version = lgv_copy(LGV_VERSION);
    c->model_name = lgv_copy(x->m->name);
    c->model_file = x->m->file ? lgv_copy(x->m->file) : NULL;
    c->t0 = x->s->start;
    c->paths = x->s->paths;
    c->seed = x->s->seed;
    c->method = lgv_new(x->o->count, sizeof *c->method);
    x->kernel = lgv_new(x->o->count + 1, sizeof *x->kernel);
    x->plain = lgv_new(x->o->count + 1, sizeof *x->plain);
    bool copied = c->date && c->version && c->model_name && (c->model_file || !x->m->file);
    if (!c->method || !x->kernel || !x->plain || !copied) return false;
    for (size_t i = 0; i < x->o->count; i++) {
        c->method[i].name = lgv_copy(x->o->contender[i].method->name);
        c->method[i].step = x->o->contender[i].step;
        c->count++;
        if (!c->method[i].name) return false;
    }
    return true;
}

static const char *why_no_control(const struct lgv_model *m) {
    if (lgv_kernel_can_control(m) || !m->nnoise) return NULL;
    return !m->kind->formulas   ? "not for models of C functions"
           : m->nconstraints    ? "not with constraints"
           : m->lagrangian_only ? "not without a Hamiltonian in closed form"
                                : "not for a system of this size";
}

static enum lgv_status plan(struct lgv_comparing *x, struct lgv_compare_grid *time, struct lgv_compare_grid *ladder) {
    enum lgv_status status = lgv_compare_expected(x);
    if (!status) status = choose_reference(x);
    return status ? status : plan_grids(x, time, ladder);
}

enum lgv_status lgv_compare(struct lgv_model *m, const struct lgv_settings *settings,
                            const struct lgv_compare_options *options, lgv_progress *progress, void *user,
                            struct lgv_comparison *out, struct lgv_error *err) {
    struct lgv_comparing x = {
        .m = m, .s = settings, .o = options, .out = out, .progress = progress, .user = user, .err = err};
    struct lgv_compare_grid time = {0}, ladder = {0};
    double begin = lgv_seconds();
    bool exact = m->exact != NULL; /* of every component, or it is no solution to measure errors by */
    for (size_t i = 0; exact && i < m->nx + m->np; i++) exact = m->exact[i] >= 0;
    lgv_settings_times(settings, m);
    *out = (struct lgv_comparison){0};
    if (settings->weak && (options->reference || options->trials))
        return lgv_fail(err, LGV_BAD_INPUT,
                        "weak: three-point increments of one step size are not sums of those of another: there is no "
                        "%s with them; compare with known means (--expect)",
                        options->reference ? "reference on the same paths" : "range of steps");
    *out = (struct lgv_comparison){.exact = exact && !options->reference && !settings->weak,
                                   .points = settings->weak,
                                   .control = !options->trials && lgv_kernel_can_control(m)};
    if (!options->trials) out->no_control = why_no_control(m);
    out->ladder_paths =
        options->ladder_paths && options->ladder_paths < settings->paths ? options->ladder_paths : settings->paths;
    enum lgv_status status = options->count ? LGV_OK : lgv_fail(err, LGV_BAD_INPUT, "no methods to compare");
    if (!status && !describe(&x)) status = lgv_fail_memory(err);
    if (!status) status = choose_columns(&x);
    if (!status) status = options->trials ? lgv_compare_steps_plan(&x) : plan(&x, &time, &ladder);
    if (!status) status = build_all(&x);
    if (!status && x.reference) out->reference = lgv_copy(x.reference->name);
    bool begun = !status;
    if (!status) status = options->trials ? lgv_compare_steps(&x) : along_time(&x, &time);
    if (!status && x.rungs) status = lgv_compare_ladder(&x, &ladder);
    if (status == LGV_INTERRUPTED && !begun) status = lgv_fail(err, LGV_CANNOT_RUN, "stopped before the run began");
    out->interrupted = status == LGV_INTERRUPTED;
    out->seconds = lgv_seconds() - begin;
    for (size_t i = 0; x.kernel && x.plain && i <= options->count; i++) {
        lgv_kernel_free(&x.kernel[i]);
        lgv_kernel_free(&x.plain[i]);
    }
    free(x.kernel);
    free(x.plain);
    free(x.column);
    free(x.given);
    grid_free(&time);
    grid_free(&ladder);
    if (status == LGV_BAD_INPUT || status == LGV_CANNOT_RUN) lgv_comparison_clear(out);
    return status == LGV_OK && (out->failed || out->reference_failed) ? LGV_FAILED_PATHS : status;
}

void lgv_comparison_clear(struct lgv_comparison *c) {
    for (size_t i = 0; i < c->count; i++) {
        struct lgv_compared *m = &c->method[i];
        for (size_t k = 0; m->outcome && k < c->nobservables; k++) {
            free(m->outcome[k].mean);
            free(m->outcome[k].err);
            free(m->outcome[k].plain);
            free(m->outcome[k].plain_err);
            free(m->outcome[k].average);
            free(m->outcome[k].average_err);
        }
        free(m->outcome);
        free(m->rung);
        free(m->trial);
        free(m->name);
    }
    for (size_t i = 0; i < c->nobservables; i++) {
        free(c->observable[i]);
        free(c->formula[i]);
        free(c->expected[i]);
        free(c->expected_text[i]);
    }
    free(c->method);
    free(c->observable);
    free(c->formula);
    free(c->expected);
    free(c->expected_text);
    free(c->time);
    free(c->trial_step);
    free(c->model_name);
    free(c->model_file);
    free(c->version);
    free(c->command);
    free(c->date);
    free(c->reference);
    *c = (struct lgv_comparison){0};
}
