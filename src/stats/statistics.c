/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A whole run: plan, ensemble, statistics, certificate, everything that goes into struct lgv_result. */
#include "stats/collect.h"
#include <ctype.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DENSE 4000           /* times of kept paths, unless asked for otherwise */
#define DENSE_VALUES 1000000 /* of all observables and kept paths */
#define KEPT_VALUES 1e8      /* the same when asked for */
#define MAX_BYTES 4e9 /* of accumulators: beyond it ask for fewer outputs */

/* ---- the plan ---- */

/* A whole number of steps ends at `until`: where the step asked for does not divide the time, it is made shorter. */
static enum lgv_status count_steps(const struct lgv_settings *s, uint64_t *steps, double *step, struct lgv_error *err) {
    double n = (s->until - s->start) / s->step;
    if (!(n > 0)) return lgv_fail(err, LGV_BAD_INPUT, "until = %g must lie after start = %g", s->until, s->start);
    if (n > 2.8e14)
        return lgv_fail(err, LGV_BAD_INPUT, "the run would take %.3g steps; at most 2.8e14 are possible", n);
    *steps = lgv_whole_steps(s->until - s->start, s->step, step);
    return LGV_OK;
}

/* The output steps and every `every` steps; 0: at most DENSE of these, and fewer of many values. */
static uint64_t *dense_steps(uint64_t steps, uint64_t every, size_t values, const uint64_t *output, size_t noutputs,
                             size_t *count) {
    uint64_t most = values && DENSE_VALUES / values < DENSE ? DENSE_VALUES / values : DENSE;
    if (!every) every = most ? (steps + most - 1) / most : steps;
    uint64_t *at = lgv_new((size_t)(steps / every) + noutputs + 1, sizeof *at), next = 0;
    for (size_t i = 0, n = 0; at && i < noutputs;) {
        at[n] = next < output[i] ? next : output[i];
        if (at[n] == output[i]) i++;
        if (at[n] == next) next += every;
        *count = ++n;
    }
    return at;
}

static uint64_t *output_steps(uint64_t steps, uint64_t outputs, size_t *count) {
    if (outputs > steps) outputs = steps;
    uint64_t *at = lgv_new((size_t)outputs + 1, sizeof *at);
    if (!at) return NULL;
    for (uint64_t i = 0; i <= outputs; i++)
        at[i] = (uint64_t)((long double)steps * (long double)i / (long double)outputs);
    *count = (size_t)outputs + 1;
    return at;
}

/* "8" or "0,17,204" */
static enum lgv_status kept_paths(const struct lgv_settings *s, uint64_t **out, size_t *count, struct lgv_error *err) {
    bool list = strchr(s->keep, ',') != NULL;
    uint64_t number[64];
    size_t n = 0;
    for (const char *c = s->keep; *c;) {
        char *end;
        if (!isdigit((unsigned char)*c) || n == 64)
            return lgv_fail(err, LGV_BAD_INPUT, "keep: '%s' is neither a number of paths nor a list like 0,17,204",
                            s->keep);
        number[n++] = strtoull(c, &end, 10);
        if (*end && *end != ',')
            return lgv_fail(err, LGV_BAD_INPUT, "keep: '%s' is neither a number of paths nor a list like 0,17,204",
                            s->keep);
        c = *end ? end + 1 : end;
    }
    uint64_t total = list ? n : n ? number[0] : 0;
    if (!list && total > s->paths) total = s->paths;
    if (total > 10000) return lgv_fail(err, LGV_BAD_INPUT, "keep: at most 10000 sample paths can be kept");
    *out = lgv_new((size_t)total + 1, sizeof **out);
    if (!*out) return lgv_fail_memory(err);
    for (uint64_t i = 0; i < total; i++) {
        (*out)[i] = list ? number[i] : i;
        for (uint64_t k = 0; k < i; k++)
            if ((*out)[k] == (*out)[i])
                return lgv_fail(err, LGV_BAD_INPUT, "keep: path %llu is listed twice", (unsigned long long)(*out)[i]);
        if ((*out)[i] >= s->paths)
            return lgv_fail(err, LGV_BAD_INPUT, "keep: path %llu is not among the %llu paths (numbers start at 0)",
                            (unsigned long long)(*out)[i], (unsigned long long)s->paths);
    }
    *count = (size_t)total;
    return LGV_OK;
}

static enum lgv_status check_settings(const struct lgv_settings *s, struct lgv_error *err) {
    if (s->lanes && s->lanes != 2 && s->lanes != 4 && s->lanes != 8 && s->lanes != 16)
        return lgv_fail(err, LGV_BAD_INPUT, "lanes must be 2, 4, 8 or 16 (or 0 to choose)");
    return LGV_OK;
}

/* ---- what was run ---- */

static bool settings_text(const struct lgv_settings *s, const struct lgv_model *m, struct lgv_result *r) {
    r->setting = lgv_new(lgv_run_option_count, sizeof *r->setting);
    r->parameter = lgv_new(m->npar + 1, sizeof *r->parameter);
    if (!r->setting || !r->parameter) return false;
    for (size_t i = 0; i < lgv_run_option_count; i++) {
        char value[128];
        lgv_option_get(&lgv_run_options[i], s, value, sizeof value);
        r->setting[i] = (struct lgv_setting){lgv_copy(lgv_run_options[i].name), lgv_copy(value)};
        r->nsettings++;
    }
    for (size_t i = 0; i < m->npar; i++) {
        char value[64];
        snprintf(value, sizeof value, "%.17g", m->par[i]);
        r->parameter[i] = (struct lgv_setting){lgv_copy(m->par_name[i]), lgv_copy(value)};
        r->nparameters++;
    }
    return true;
}

static bool describe(const struct lgv_settings *s, const struct lgv_model *m, const struct lgv_kernel *k,
                     const char *chosen, struct lgv_result *r) {
    char date[32];
    time_t t = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
    r->model_name = lgv_copy(m->name);
    r->model_text = lgv_copy(m->text ? m->text : "(a model of C functions)");
    r->model_file = m->file ? lgv_copy(m->file) : NULL;
    r->increments_file = s->increments ? lgv_copy(s->increments->file) : NULL;
    r->method = lgv_copy(k->method->name);
    r->method_doc = lgv_copy(k->method->doc);
    r->method_reason = chosen ? lgv_copy(chosen) : NULL;
    r->version = lgv_copy(LGV_VERSION);
    r->compiler = lgv_copy(k->compiler);
    r->date = lgv_copy(date);
    r->nq = k->nq;
    r->nnoise = k->nnoise;
    r->nconstraints = m->nconstraints;
    r->t0 = s->start;
    r->paths = s->paths;
    r->seed = s->seed;
    r->lanes = k->entry->lanes;
    r->compile_seconds = k->compile_seconds;
    r->series = lgv_new(k->watch.count, sizeof *r->series);
    if (!r->series || !r->model_name || !r->model_text || !r->method || !settings_text(s, m, r)) return false;
    size_t symmetry = 0;
    for (size_t i = 0; i < k->watch.count; i++) {
        if (k->watch.item[i].kind == LGV_SERIES_MOMENTUM && symmetry < 32) {
            r->series[i].claim = k->method->linear_momentum_maps && k->structure.symmetry[symmetry].invariant &&
                                 k->structure.symmetry[symmetry].affine;
            if (!k->structure.symmetry[symmetry].invariant)
                r->series[i].claim = k->structure.symmetry[symmetry].unknown ? -2 : -1;
            symmetry++;
        }
        r->series[i].name = lgv_copy(k->watch.item[i].name);
        r->series[i].formula = lgv_copy(k->watch.item[i].text);
        r->series[i].kind = k->watch.item[i].kind;
        r->nseries++;
    }
    return true;
}

/* ---- the certificate ---- */

static bool one_name(const char *a, const char *b) { /* "x[3].y" and "x[4].x" */
    size_t n = strcspn(a, "[.");
    return strcspn(b, "[.") == n && strncmp(a, b, n) == 0;
}

#define ROUND_OFF 1e-12 /* of the largest scale */
#define CONSTANT 1e-9   /* moves that are smaller, compared with the values, are not taken for moves */

/* How far the components move over the states kept of the run; where they do not, how large they are.  Components of
 * one name have one unit and one scale; one that is always 0 gets that of the others. */
static double *state_scales(const struct lgv_model *m, const struct lgv_plan *plan,
                            const struct lgv_run_report *report) {
    size_t nq = m->nq;
    double *scale = lgv_new(2 * nq, sizeof *scale), most[2] = {0, 0};
    for (size_t i = 0, end; scale && i < 2 * nq; i = end) {
        double moved = 0, size = 0;
        for (end = i; end < (i < nq ? nq : 2 * nq) && one_name(m->component[i], m->component[end]); end++) {
            double low = INFINITY, high = -INFINITY;
            for (size_t k = 0; k < plan->nsnapshots * LGV_UNIT; k++) {
                double x = report->snapshot[k * 2 * nq + end];
                if (isfinite(x)) low = fmin(low, x), high = fmax(high, x);
            }
            if (low <= high) moved = fmax(moved, high - low), size = fmax(size, fmax(fabs(low), fabs(high)));
        }
        for (size_t k = i; k < end; k++) scale[k] = moved > CONSTANT * size ? moved : size;
        most[i >= nq] = fmax(most[i >= nq], scale[i]);
    }
    for (size_t i = 0; scale && i < 2 * nq; i++)
        if (!(scale[i] > ROUND_OFF * most[i >= nq])) scale[i] = most[i >= nq] > 0 ? most[i >= nq] : 1;
    return scale;
}

/* Largest sum_i |p_i xi_i(q)| of a symmetry over the kept states. */
static double momentum_scale(struct lgv_model *m, const struct lgv_symmetry *symmetry, const struct lgv_plan *plan,
                             const struct lgv_run_report *report) {
    struct lgv_evaluator e;
    double largest = 0;
    size_t n = m->nq;
    if (!lgv_eval_begin(&e, m->graph)) return 0;
    for (size_t k = 0; k < plan->nsnapshots * LGV_UNIT; k++) {
        const double *x = report->snapshot + k * 2 * n;
        struct lgv_env env = {.par = m->par, .space = {[LGV_Q] = x, [LGV_P] = x + n}};
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += fabs(x[n + i] * lgv_eval_node(&e, symmetry->xi[i], &env, NULL));
        if (isfinite(sum)) largest = fmax(largest, sum);
    }
    lgv_eval_end(&e);
    return largest;
}

/* A path of the first unit that is alive at snapshot `snap`, beginning with number `first`; -1 when there is none. */
static long living_path(const struct lgv_run_report *report, size_t snap, size_t first, size_t nq) {
    for (size_t k = 0; k < LGV_UNIT; k++) {
        size_t path = (first + k) % LGV_UNIT;
        if (isfinite(report->snapshot[(snap * LGV_UNIT + path) * 2 * nq])) return (long)path;
    }
    return -1;
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The defect of a stopped run is not measured: it may take longer than all steps that were done. */
static void certify(const struct lgv_model *m, const struct lgv_settings *s, const struct lgv_kernel *k,
                    const struct lgv_plan *plan, const struct lgv_run_report *report, lgv_progress *progress,
                    void *user, struct lgv_result *r) {
    struct lgv_certificate *c = &r->certificate;
    const char *reason;
    *c = (struct lgv_certificate){.symplectic_defect = NAN,
                                  .symplectic_defect_error = NAN,
                                  .defect_all_error = NAN,
                                  .constraint = NAN,
                                  .hidden_constraint = NAN,
                                  .symplectic_claim = k->method->symplectic,
                                  .constraint_size = r->nconstraints ? k->start.size : NAN,
                                  .hidden_size = r->nconstraints ? k->start.hidden_size : NAN,
                                  .start_constraint = r->nconstraints ? k->start.residual : NAN,
                                  .start_hidden = r->nconstraints ? k->start.hidden : NAN,
                                  .noise_commutes = k->structure.commutes,
                                  .time_dependent = k->structure.time_dependent,
                                  .commutes_decided = k->structure.commutes_decided};
    c->strong_order = lgv_method_strong_order(k->method, &k->structure, k->nnoise, &reason);
    c->weak_order = lgv_method_weak_order(k->method, &k->structure, k->nnoise, NULL);
    c->order_reason = lgv_copy(reason);
    char commutes[200];
    lgv_structure_commutes(&k->structure, k->nnoise, commutes, sizeof commutes);
    c->commutes_reason = lgv_copy(commutes);
    for (size_t i = 0; i < r->nseries; i++) {
        const struct lgv_series *x = &r->series[i];
        double *to = x->kind == LGV_SERIES_CONSTRAINT ? &c->constraint : &c->hidden_constraint;
        for (size_t j = 0; x->kind >= LGV_SERIES_CONSTRAINT && j < r->ntimes; j++) *to = fmax(*to, x->max[j]);
    }
    double *scale = state_scales(m, plan, report);
    double *given = plan->increments ? lgv_new(lgv_increments_rows(k), sizeof *given) : NULL;
    struct lgv_defect how = {.given = given};
    /* by size, not by the clock: the certificate must not depend on the machine */
    uint64_t states = k->nq > LGV_MANY_DOF ? (s->check_states + 1) / 2 : s->check_states;
    if (plan->increments && !given) states = 0; /* no memory */
    for (size_t i = 0; scale && plan->nsnapshots && !report->stopped && i < states; i++) {
        /* path i at snapshot i, cycling through both */
        size_t snap = i % plan->nsnapshots;
        long path = living_path(report, snap, i, k->nq);
        if (path < 0) continue;
        const double *x = report->snapshot + (snap * LGV_UNIT + (size_t)path) * 2 * k->nq;
        uint64_t step = plan->time_step[plan->snapshot[snap]];
        if (given) lgv_increments_lay(plan->increments, lgv_increments_rows(k), 1, (uint64_t)path, step, 1, given);
        double d = lgv_certificate_defect(k, plan->t0, plan->dt, plan->seed, (uint64_t)path, step, x, scale, progress,
                                          user, &how);
        double error = how.error;
        if (isnan(d)) continue;
        c->defect_all_error = fmax(c->defect_all_error, how.all_error);
        c->defect_states++;
        bool seen = d > error, first = isnan(c->symplectic_defect);
        bool before = c->symplectic_defect > c->symplectic_defect_error;
        if (first || (seen && (!before || d - error > c->symplectic_defect - c->symplectic_defect_error))) {
            c->symplectic_defect = d; /* what is certain counts before all others */
            c->symplectic_defect_error = error;
        } else if (!seen && !before) {
            c->symplectic_defect = fmax(c->symplectic_defect, d);
            c->symplectic_defect_error = fmax(c->symplectic_defect_error, error);
        }
    }
    free(scale);
    free(given);
}

/* ---- the run ---- */

struct whole {
    struct lgv_kernel kernel;
    struct lgv_plan plan;
    struct lgv_shape shape;
    struct lgv_collecting list[8];
    struct lgv_run_report report;
    uint64_t *time_step, *kept, *dense_step, *dense_unit;
    size_t nkept, snapshot[4];
    double begin; /* of the paths */
};

static const struct lgv_collected *const collected[] = {&lgv_moments, &lgv_changes, &lgv_spread,
                                                        &lgv_endings, &lgv_kept,    &lgv_failures};
#define NCOLLECTED (sizeof collected / sizeof *collected)

static bool collectors_begin(struct whole *w) {
    for (size_t i = 0; i < NCOLLECTED; i++) {
        w->list[i] = (struct lgv_collecting){&collected[i]->collector, &w->shape, NULL};
        if (!(w->list[i].object = collected[i]->collector.create(&w->shape))) return false;
    }
    return true;
}

static void collectors_end(struct whole *w) {
    for (size_t i = 0; i < NCOLLECTED; i++) collected[i]->collector.free(w->list[i].object);
}

static enum lgv_status make_plan(const struct lgv_settings *s, struct whole *w, struct lgv_error *err) {
    uint64_t steps = 0;
    size_t ntimes;
    double step = 0;
    enum lgv_status status = count_steps(s, &steps, &step, err);
    if (status) return status;
    w->time_step = output_steps(steps, s->outputs, &ntimes);
    if (!w->time_step) return lgv_fail_memory(err);
    for (size_t i = 0; i < 4; i++) w->snapshot[i] = (ntimes - 1) * i / 4;
    w->plan = (struct lgv_plan){.kernel = &w->kernel,
                                .t0 = s->start,
                                .dt = step,
                                .steps = steps,
                                .paths = s->paths,
                                .seed = s->seed,
                                .coarsen = 1,
                                .ntimes = ntimes,
                                .time_step = w->time_step,
                                .threads = (unsigned)s->threads,
                                .increments = s->increments,
                                .nsnapshots = s->check_states ? 4 : 0,
                                .snapshot = w->snapshot};
    if (!s->check_states) return LGV_OK;
    size_t distinct = 1; /* a run of one output has fewer than four different times */
    for (size_t i = 1; i < 4; i++)
        if (w->snapshot[i] != w->snapshot[distinct - 1]) w->snapshot[distinct++] = w->snapshot[i];
    w->plan.nsnapshots = distinct;
    return LGV_OK;
}

/* The kept paths' units, each once. */
static uint64_t *units_of(const uint64_t *path, size_t count, size_t *units) {
    uint64_t *unit = lgv_new(count + 1, sizeof *unit);
    for (size_t i = 0; unit && i < count; i++) {
        size_t k = 0;
        while (k < *units && unit[k] != path[i] / LGV_UNIT) k++;
        unit[k] = path[i] / LGV_UNIT;
        if (k == *units) ++*units;
    }
    return unit;
}

/* What the collectors need to know, and how often kept paths are seen. */
static enum lgv_status make_shape(const struct lgv_settings *s, struct whole *w, struct lgv_error *err) {
    struct lgv_plan *p = &w->plan;
    double values = (double)w->nkept * (double)w->kernel.watch.count;
    if (s->keep_every && values * (double)(p->steps / s->keep_every) > KEPT_VALUES)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "keep_every: %zu kept paths every %llu of %llu steps are %.3g values; at most %g can be kept",
                        w->nkept, (unsigned long long)s->keep_every, (unsigned long long)p->steps,
                        values * (double)(p->steps / s->keep_every), KEPT_VALUES);
    uint64_t every = w->nkept ? s->keep_every : p->steps; /* nothing to keep: no times but the outputs */
    w->dense_step = dense_steps(p->steps, every, w->nkept * w->kernel.watch.count, w->time_step, p->ntimes,
                                &p->ndense);
    w->dense_unit = units_of(w->kept, w->nkept, &p->ndense_units);
    if (!w->dense_step || !w->dense_unit) return lgv_fail_memory(err);
    p->dense_step = w->dense_step;
    p->dense_unit = w->dense_unit;
    w->shape = (struct lgv_shape){.ntimes = p->ntimes,
                                  .nseries = w->kernel.watch.count,
                                  .time_step = w->time_step,
                                  .paths = p->paths,
                                  .bins = (size_t)s->bins,
                                  .nkept = w->nkept,
                                  .kept = w->kept,
                                  .ndense = p->ndense,
                                  .dense_step = w->dense_step};
    return LGV_OK;
}

static enum lgv_status check_increments(const struct lgv_settings *s, const struct whole *w, struct lgv_error *err) {
    double values = (double)w->nkept * (double)w->plan.steps * (double)lgv_increments_rows(&w->kernel);
    if (s->keep_increments && values > LGV_MOST_INCREMENTS)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "keep_increments: %zu kept paths of %llu steps with %zu noise%s are %.3g values; at most %g "
                        "can be kept",
                        w->nkept, (unsigned long long)w->plan.steps, w->kernel.nnoise, w->kernel.nnoise == 1 ? "" : "s",
                        values, LGV_MOST_INCREMENTS);
    return lgv_increments_check(&w->plan, err);
}

static enum lgv_status check_memory(const struct whole *w, struct lgv_error *err) {
    double threads = w->plan.threads ? w->plan.threads : (double)omp_get_num_procs(), bytes = 0;
    for (size_t i = 0; i < NCOLLECTED; i++)
        bytes += collected[i]->bytes(&w->shape) * (collected[i]->collector.shared ? 1 : 1 + threads);
    if (bytes <= MAX_BYTES) return LGV_OK;
    return lgv_fail(err, LGV_CANNOT_RUN,
                    "the statistics of %zu output times and %zu observables need %.1f GB; ask for fewer "
                    "outputs",
                    w->plan.ntimes, w->kernel.watch.count, bytes / 1e9);
}

static enum lgv_status finish(const struct lgv_settings *s, struct lgv_model *m, struct whole *w,
                              lgv_progress *progress, void *user, struct lgv_result *r, struct lgv_error *err) {
    r->steps = w->plan.steps;
    r->step = w->plan.dt;
    for (size_t i = 0, k = 0; i < r->nseries; i++)
        if (r->series[i].kind == LGV_SERIES_MOMENTUM)
            r->series[i].scale = momentum_scale(m, &m->symmetry[k++], &w->plan, &w->report);
    r->until = w->plan.t0 + (double)w->plan.steps * w->plan.dt;
    r->threads = w->report.threads;
    r->paths_seconds = w->report.seconds;
    r->newton_iterations = w->report.iterations;
    r->truncation = w->plan.clip;
    r->truncated = w->report.clipped;
    r->interrupted = w->report.stopped;
    r->ntimes = w->plan.ntimes;
    r->time = lgv_new(r->ntimes, sizeof *r->time);
    if (!r->time) return lgv_fail_memory(err);
    for (size_t i = 0; i < r->ntimes; i++) r->time[i] = w->plan.t0 + (double)w->time_step[i] * w->plan.dt;
    r->ndense = w->plan.ndense;
    r->dense_time = lgv_new(r->ndense, sizeof *r->dense_time);
    if (!r->dense_time) return lgv_fail_memory(err);
    for (size_t i = 0; i < r->ndense; i++) r->dense_time[i] = w->plan.t0 + (double)w->dense_step[i] * w->plan.dt;
    for (size_t i = 0; i < NCOLLECTED; i++)
        if (!collected[i]->finish(w->list[i].object, r)) return lgv_fail_memory(err);
    if (s->keep_increments &&
        lgv_increments_of(&w->plan, w->kept, w->nkept, &r->increment, &r->integral, err) != LGV_OK)
        return LGV_CANNOT_RUN;
    for (size_t i = 0; i < r->ntimes; i++)
        if (r->alive[i]) r->steps_done = w->time_step[i];
    certify(m, s, &w->kernel, &w->plan, &w->report, progress, user, r);
    r->seconds = seconds_now() - w->begin;
    r->path_steps_per_second = r->seconds > 0 ? (double)w->report.path_steps / r->seconds : 0;
    if (!lgv_verdicts_make(r)) return lgv_fail_memory(err);
    return r->interrupted ? LGV_INTERRUPTED : r->failed ? LGV_FAILED_PATHS : LGV_OK;
}

enum lgv_status lgv_statistics_run(struct lgv_model *m, const struct lgv_settings *asked, const char *keep_source,
                                   lgv_progress *progress, void *user, struct lgv_result *out, struct lgv_error *err) {
    struct whole w = {0};
    struct lgv_settings fitted = *asked, *s = &fitted;
    struct lgv_kernel_options options = {
        .lanes = (unsigned)s->lanes,
        .compiler = s->compiler,
        .keep_source = keep_source,
        .progress = progress,
        .user = user};
    *out = (struct lgv_result){0};
    enum lgv_status status = check_settings(s, err);
    if (!status && s->increments) status = lgv_increments_fit(s->increments, m, s, err);
    if (!status) status = lgv_settings_check(s, m, err);
    options.paths = s->paths;
    const struct lgv_method *method = NULL;
    const char *chosen = NULL;
    lgv_settings_times(s, m);
    if (!status) status = lgv_method_resolve(m, s->method, &method, &chosen, err);
    if (!status) status = make_plan(s, &w, err);
    if (!status) status = kept_paths(s, &w.kept, &w.nkept, err);
    if (!status) status = lgv_kernel_build(m, method, &options, &w.kernel, err);
    if (status == LGV_INTERRUPTED) status = lgv_fail(err, LGV_CANNOT_RUN, "stopped before the run began");
    if (!status) status = make_shape(s, &w, err);
    if (!status) status = check_increments(s, &w, err);
    if (!status) status = check_memory(&w, err);
    if (!status &&
        (double)w.plan.steps * (double)w.kernel.nnoise > 5.6e14) /* pairs of normals are numbered by 48 bits */
        status = lgv_fail(err, LGV_BAD_INPUT, "%.3g steps with %zu noises need more than the 5.6e14 normals a path has",
                          (double)w.plan.steps, w.kernel.nnoise);
    if (!status) status = lgv_clip_check(&w.kernel, s->step, s->truncate, err);
    if (!status) w.plan.clip = lgv_clip_bound(&w.kernel, w.plan.dt, s->truncate);
    if (!status && (!describe(s, m, &w.kernel, chosen, out) || !collectors_begin(&w))) status = lgv_fail_memory(err);
    if (!status) {
        w.begin = seconds_now();
        status = lgv_ensemble_run(&w.plan, w.list, NCOLLECTED, progress, user, &w.report, err);
        if (status == LGV_OK || status == LGV_INTERRUPTED) status = finish(s, m, &w, progress, user, out, err);
    }
    if (status == LGV_BAD_INPUT || status == LGV_CANNOT_RUN) lgv_result_clear(out);
    collectors_end(&w);
    lgv_kernel_free(&w.kernel);
    free(w.report.snapshot);
    free(w.time_step);
    free(w.kept);
    free(w.dense_step);
    free(w.dense_unit);
    return status;
}
