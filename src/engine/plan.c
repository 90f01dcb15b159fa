/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plan of an ensemble: its steps, its output times, the paths that are kept, and what the statistics need. */
#include "engine/private.h"
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define DENSE_VALUES 1000000 /* of all observables and kept paths */
#define KEPT_VALUES 1e8      /* the same when asked for */

/* A whole number of steps ends at `until`: where the step asked for does not divide the time, it is made shorter. */
static enum lgv_status count_steps(const struct lgv_settings *s, uint64_t *steps, double *step, struct lgv_error *err) {
    double n = (s->until - s->start) / s->step;
    if (!(n > 0)) return lgv_fail(err, LGV_BAD_INPUT, "until = %g must lie after start = %g", s->until, s->start);
    if (n > LGV_MOST_STEPS)
        return lgv_fail(err, LGV_BAD_INPUT, "the run would take %.3g steps; at most %g are possible", n,
                        LGV_MOST_STEPS);
    *steps = lgv_whole_steps(s->until - s->start, s->step, step);
    return LGV_OK;
}

/* Steps between times of kept paths where that is not said: at most LGV_DENSE_TIMES times, and fewer of many values. */
static uint64_t dense_every(uint64_t steps, size_t values) {
    uint64_t most = values && DENSE_VALUES / values < LGV_DENSE_TIMES ? DENSE_VALUES / values : LGV_DENSE_TIMES;
    return most ? (steps + most - 1) / most : steps;
}

/* The output steps and every `every` steps. */
static uint64_t *dense_steps(uint64_t steps, uint64_t every, const uint64_t *output, size_t noutputs, size_t *count) {
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
    bool list;
    uint64_t number[LGV_MOST_LISTED];
    size_t n = 0;
    enum lgv_status status = lgv_paths_listed("keep", s->keep, number, &n, &list, err);
    if (status) return status;
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

/* Output times whose states the certificate has.  Of a run that may go on to a later time those in halves of the last
 * power of two: whatever the time is then, those of them that have been are among these. */
static void choose_snapshots(const struct lgv_settings *s, size_t outputs, size_t snapshot[4]) {
    size_t power = 1;
    while (power <= outputs / 2) power *= 2;
    for (size_t i = 0; i < 4; i++) snapshot[i] = s->extendable ? (i ? power >> (3 - i) : 0) : outputs * i / 4;
}

static enum lgv_status make_plan(const struct lgv_settings *s, struct lgv_layout *w, struct lgv_error *err) {
    uint64_t steps = 0;
    size_t ntimes;
    double step = 0;
    enum lgv_status status = count_steps(s, &steps, &step, err);
    if (status) return status;
    w->time_step = output_steps(steps, s->outputs, &ntimes);
    if (!w->time_step) return lgv_fail_memory(err);
    choose_snapshots(s, ntimes - 1, w->snapshot);
    w->plan = (struct lgv_plan){.t0 = s->start,
                                .dt = step,
                                .steps = steps,
                                .paths = s->paths,
                                .seed = s->seed,
                                .coarsen = 1,
                                .ntimes = ntimes,
                                .time_step = w->time_step,
                                .threads = (unsigned)s->threads,
                                .crossings = s->crossings,
                                .increments = s->increments,
                                .points = s->points,
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

/* "a:b" */
static enum lgv_status find_pair(const struct lgv_watch *watch, const char *text, size_t pair[2],
                                 struct lgv_error *err) {
    const char *colon = strchr(text, ':');
    char name[256];
    struct lgv_error why;
    if (!colon || strchr(colon + 1, ':'))
        return lgv_fail(err, LGV_BAD_INPUT, "histograms2: '%s' is not a pair of observables like q:p", text);
    for (int k = 0; k < 2; k++) {
        const char *from = k ? colon + 1 : text;
        size_t n = k ? strlen(from) : (size_t)(colon - text);
        while (n && *from == ' ') from++, n--;
        while (n && from[n - 1] == ' ') n--;
        snprintf(name, sizeof name, "%.*s", (int)n, from);
        if (lgv_kernel_watched(watch, name, &pair[k], &why) != LGV_OK)
            return lgv_fail(err, LGV_BAD_INPUT, "histograms2: %s", why.message);
    }
    if (pair[0] == pair[1]) return lgv_fail(err, LGV_BAD_INPUT, "histograms2: %s is paired with itself", name);
    return LGV_OK;
}

/* What is observed at the start of path 0: every part of an ensemble finds the same. */
static enum lgv_status find_centre(const struct lgv_settings *s, struct lgv_layout *w, struct lgv_error *err) {
    const struct lgv_kernel *k = w->plan.kernel;
    if (strcmp(s->quantiles, "sample") == 0) return LGV_OK;
    if (strcmp(s->quantiles, "sketch") != 0)
        return lgv_fail(err, LGV_BAD_INPUT, "quantiles: '%s' is neither sample nor sketch", s->quantiles);
    struct lgv_own_block b;
    size_t n = k->watch.count, lanes = k->entry->lanes;
    double *seen = lgv_aligned(n * lanes + 16);
    w->centre = lgv_new(n + 1, sizeof *w->centre);
    bool ok = seen && w->centre && lgv_block_create(k, s->start, w->plan.dt, s->seed, 1, &b);
    if (ok) {
        lgv_block_start(k, &b, 0, 1);
        k->entry->observe(&b.block, seen);
        for (size_t i = 0; i < n; i++) w->centre[i] = isfinite(seen[i * lanes]) ? seen[i * lanes] : 0;
        lgv_block_free(&b);
    }
    free(seen);
    return ok ? LGV_OK : lgv_fail_memory(err);
}

static enum lgv_status find_pairs(const struct lgv_settings *s, struct lgv_layout *w, struct lgv_error *err) {
    const char *list = s->histograms2;
    char text[LGV_LIST_SIZE];
    enum lgv_status status = LGV_OK;
    for (w->npairs = 0; !status && lgv_list_next(&list, text, sizeof text); w->npairs += !status) {
        if (w->npairs == LGV_MAX_PAIRS)
            return lgv_fail(err, LGV_BAD_INPUT, "histograms2: more than %d pairs", LGV_MAX_PAIRS);
        size_t *pair = &w->pair[2 * w->npairs];
        status = find_pair(&w->plan.kernel->watch, text, pair, err);
        for (size_t i = 0; !status && i < w->npairs; i++)
            if (w->pair[2 * i] == pair[0] && w->pair[2 * i + 1] == pair[1])
                status = lgv_fail(err, LGV_BAD_INPUT, "histograms2: %s is listed twice", text);
    }
    if (!status && w->npairs && !s->bins) return lgv_fail(err, LGV_BAD_INPUT, "histograms2 needs bins, and bins is 0");
    if (!status && !w->npairs && s->density)
        return lgv_fail(err, LGV_BAD_INPUT, "density is for the pairs of histograms2, and there are none");
    return status;
}

/* What the collectors need to know, and how often kept paths are seen. */
static enum lgv_status make_shape(const struct lgv_settings *s, struct lgv_layout *w, struct lgv_error *err) {
    struct lgv_plan *p = &w->plan;
    double values = (double)w->nkept * (double)w->plan.kernel->watch.count;
    if (s->keep_every && values * (double)(p->steps / s->keep_every) > KEPT_VALUES)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "keep_every: %zu kept paths every %llu of %llu steps are %.3g values; at most %g can be kept",
                        w->nkept, (unsigned long long)s->keep_every, (unsigned long long)p->steps,
                        values * (double)(p->steps / s->keep_every), KEPT_VALUES);
    bool dense = w->nkept && !w->recording.states; /* else, if nothing is said, no times but the outputs */
    w->every = s->keep_every && (w->nkept || w->recording.states) ? s->keep_every : p->steps;
    if (dense && !s->keep_every) w->every = dense_every(p->steps, w->nkept * w->plan.kernel->watch.count);
    w->dense_step = dense_steps(p->steps, w->every, w->time_step, p->ntimes, &p->ndense);
    w->dense_unit = units_of(w->kept, w->nkept, &p->ndense_units);
    if (!w->dense_step || !w->dense_unit) return lgv_fail_memory(err);
    p->dense_step = w->dense_step;
    p->dense_unit = w->dense_unit;
    w->shape = (struct lgv_shape){.ntimes = p->ntimes,
                                  .nseries = w->plan.kernel->watch.count,
                                  .tallies = w->plan.kernel->watch.tallies,
                                  .tallied = w->plan.kernel->watch.tallied,
                                  .extremes = w->plan.kernel->watch.extremes,
                                  .extreme = w->plan.kernel->watch.extreme,
                                  .time_step = w->time_step,
                                  .t0 = p->t0,
                                  .dt = p->dt,
                                  .nevents = w->plan.kernel->watch.events,
                                  .event = w->plan.kernel->watch.event,
                                  .nsections = w->plan.kernel->watch.sections,
                                  .section = w->plan.kernel->watch.section,
                                  .crossings = s->crossings,
                                  .averages = s->averages,
                                  .correlations = s->correlations,
                                  .interval = (double)p->steps * p->dt / (double)(p->ntimes - 1),
                                  .paths = p->paths,
                                  .bins = (size_t)s->bins,
                                  .centre = w->centre,
                                  .npairs = w->npairs,
                                  .pair = w->pair,
                                  .density = s->density,
                                  .nkept = w->nkept,
                                  .kept = w->kept,
                                  .ndense = p->ndense,
                                  .dense_step = w->dense_step};
    return LGV_OK;
}

#define LEAST_VALUES 8 /* of a path, for time averages and correlations */

/* Time averages and correlations: which output times count. */
static enum lgv_status look_along(const struct lgv_settings *s, struct lgv_layout *w, struct lgv_error *err) {
    const struct lgv_plan *p = &w->plan;
    const char *what = s->averages ? "averages" : "correlations";
    if (!s->averages && !s->correlations) return LGV_OK;
    size_t *from = &w->shape.along_from, n = p->ntimes;
    if (p->steps % (n - 1))
        return lgv_fail(err, LGV_BAD_INPUT,
                        "%s: output times must be equally far apart, and outputs = %zu does not divide the %llu steps",
                        what, n - 1, (unsigned long long)p->steps);
    while (*from < n && (double)p->time_step[*from] * p->dt < s->burn_in * (1 - 1e-12)) ++*from;
    if (n - *from >= LEAST_VALUES) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT, "%s: %zu output times after burn_in = %g are too few; at least %d are needed",
                    what, n - *from, s->burn_in, LEAST_VALUES);
}

static enum lgv_status check_increments(const struct lgv_settings *s, const struct lgv_layout *w,
                                        struct lgv_error *err) {
    size_t noises = w->plan.kernel->nnoise;
    double values = (double)w->nkept * (double)w->plan.steps * (double)lgv_increments_rows(w->plan.kernel);
    if (s->keep_increments && w->plan.kernel->bath)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "keep_increments: the noise of a bath (`langevin`) cannot be kept, and given again");
    if (s->keep_increments && values > LGV_MOST_INCREMENTS)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "keep_increments: %zu kept paths of %llu steps with %zu noise%s are %.3g values; at most %g "
                        "can be kept",
                        w->nkept, (unsigned long long)w->plan.steps, noises, noises == 1 ? "" : "s",
                        values, LGV_MOST_INCREMENTS);
    return lgv_increments_check(&w->plan, err);
}

/* Three-point increments belong to no Brownian path: what needs one is refused. */
static enum lgv_status check_weak(const struct lgv_settings *s, const struct lgv_layout *w, struct lgv_error *err) {
    if (!s->weak) return LGV_OK;
    const char *what = s->increments ? "increments are given"
                       : s->keep_increments || w->recording.increments
                           ? "increments are kept as those of Brownian paths"
                           : NULL;
    if (what) return lgv_fail(err, LGV_BAD_INPUT, "weak: no three-point increments here: %s", what);
    return lgv_settings_weak(s, w->plan.kernel, err);
}

static double threads_of(const struct lgv_layout *w) {
    return w->plan.threads ? w->plan.threads : (double)omp_get_num_procs();
}

bool lgv_layout_suspends(const struct lgv_layout *w) {
    return lgv_suspend_values(&w->plan) <= LGV_MOST_SUSPENDED / sizeof(double);
}

/* Where units are kept when they have ended: in memory, and once more while they are saved. */
static double ends_bytes(const struct lgv_layout *w) {
    const struct lgv_plan *p = &w->plan;
    double units = ceil((double)p->paths / LGV_UNIT), dense = (double)p->ndense_units;
    double times = dense * (double)p->ndense + fmax(0, units - dense) * (double)p->ntimes;
    double values = times * (double)p->kernel->watch.count + units * (double)p->kernel->nstate;
    return w->settings.extendable ? 2 * values * LGV_UNIT * sizeof(double) : 0;
}

/* Does not depend on the number of paths, except for values that are stored by path number, which have a limit, and for
 * `extendable`. */
double lgv_layout_bytes(const struct lgv_layout *w) {
    double unit = lgv_layout_suspends(w) ? (double)lgv_suspend_values(&w->plan) * sizeof(double) : 0;
    return lgv_statistics_bytes(&w->shape, threads_of(w)) + threads_of(w) * unit + ends_bytes(w) +
           lgv_layout_record_bytes(w, threads_of(w));
}

static enum lgv_status check_memory(const struct lgv_layout *w, struct lgv_error *err) {
    double bytes = lgv_statistics_bytes(&w->shape, threads_of(w)), all = lgv_layout_bytes(w);
    double there = lgv_memory_there();
    if (bytes > LGV_MOST_BYTES)
        return lgv_fail(err, LGV_CANNOT_RUN,
                        "the statistics of %zu output times and %zu observables need %.1f GB; ask for fewer "
                        "outputs",
                        w->plan.ntimes, w->plan.kernel->watch.count, bytes / 1e9);
    if (w->settings.extendable && !lgv_layout_suspends(w))
        return lgv_fail(err, LGV_CANNOT_RUN,
                        "extendable: %zu output times and %zu observables are too many to keep; ask for fewer",
                        w->plan.ntimes, w->plan.kernel->watch.count);
    if (there > 0 && all > there && ends_bytes(w) > 0.5 * all)
        return lgv_fail(err, LGV_CANNOT_RUN,
                        "extendable: the run needs %.1f GB of memory for what all %llu paths observe, and there are "
                        "%.1f GB; ask for fewer outputs, observables or paths",
                        all / 1e9, (unsigned long long)w->plan.paths, there / 1e9);
    if (there > 0 && all > there)
        return lgv_fail(err, LGV_CANNOT_RUN,
                        "the run needs %.1f GB of memory for %zu output times and %zu observables in %.0f threads, and "
                        "there are %.1f GB; ask for fewer outputs, observables or threads",
                        all / 1e9, w->plan.ntimes, w->plan.kernel->watch.count, threads_of(w), there / 1e9);
    return LGV_OK;
}

enum lgv_status lgv_layout_begin(struct lgv_model *m, const struct lgv_settings *asked, struct lgv_layout *w,
                                 struct lgv_error *err) {
    *w = (struct lgv_layout){.settings = *asked};
    struct lgv_settings *s = &w->settings;
    enum lgv_status status = lgv_kernel_lanes(s->lanes, err);
    if (!status && s->increments) status = lgv_increments_fit(s->increments, m, s, err);
    if (!status) status = lgv_settings_check(s, m, err);
    lgv_settings_times(s, m);
    return status ? status : lgv_model_stop_check(m, err);
}

enum lgv_status lgv_layout_steps(struct lgv_layout *w, struct lgv_error *err) {
    enum lgv_status status = make_plan(&w->settings, w, err);
    if (!status) status = lgv_layout_recording(w, err);
    return status ? status : kept_paths(&w->settings, &w->kept, &w->nkept, err);
}

enum lgv_status lgv_layout_finish(struct lgv_layout *w, const struct lgv_kernel *k, struct lgv_error *err) {
    const struct lgv_settings *s = &w->settings;
    w->plan.kernel = k;
    enum lgv_status status = find_centre(s, w, err);
    if (!status) status = find_pairs(s, w, err);
    if (!status) status = make_shape(s, w, err);
    if (!status) status = look_along(s, w, err);
    if (!status) status = check_increments(s, w, err);
    if (!status) status = lgv_layout_recorded(w, err);
    if (!status) status = check_weak(s, w, err);
    if (!status) status = check_memory(w, err);
    if (!status) status = lgv_normals_check(k, w->plan.steps, 1, err);
    if (!status) status = lgv_clip_check(k, s->step, s->truncate, err);
    bool given = lgv_settings_given(s, "tally"), tallied = k->np <= LGV_TALLY_DOF || given;
    uint64_t paths = k->watch.extremes && !given ? s->paths : tallied ? s->tally : 0;
    w->plan.tally_units = paths / LGV_UNIT + (paths % LGV_UNIT != 0);
    if (!status) w->plan.clip = s->weak ? LGV_CLIP_THREE : lgv_clip_bound(k, w->plan.dt, s->truncate);
    w->plan.rescue = s->rescue && !s->weak && lgv_rescue_possible(k);
    return status;
}

void lgv_layout_free(struct lgv_layout *w) {
    if (!w) return;
    free(w->time_step);
    free(w->kept);
    free(w->dense_step);
    free(w->dense_unit);
    free(w->centre);
    free(w->recording.path);
    free(w);
}
