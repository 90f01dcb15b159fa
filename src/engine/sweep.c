/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A sweep: one ensemble for every point of a grid of parameters or options.  The kernel is compiled once, unless a
 * value is part of it.  Where there is a folder every point is a file in it, a result like that of a run; points that
 * are there already, of the same model and options, are not run again. */
#include "engine/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_BYTES ((size_t)1 << 31) /* of what is kept along time: beyond, only the ends are */

/* ---- one point ---- */

static bool is_option(const char *name) {
    return lgv_option_find(lgv_run_options, lgv_run_option_count, name) != NULL;
}

/* Parameters and options of a point, for the engine and for what it is compared with. */
static enum lgv_status set_point(struct lgv_sweeping *w, struct lgv_error *err) {
    const struct lgv_sweep *s = &w->out;
    enum lgv_status status = LGV_OK;
    char seed[32];
    for (size_t a = 0; !status && a < s->naxes; a++) {
        const char *name = s->axis[a].name, *value = s->axis[a].text[lgv_sweep_index(s, w->point, a)];
        status = lgv_engine_set(w->engine, name, value, err);
        if (!status && is_option(name)) status = lgv_settings_set(&w->settings, name, value, err);
    }
    uint64_t number[] = {w->seed, w->point}, hash = lgv_hash(LGV_HASH_START, number, sizeof number);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)(hash >> 12));
    if (!status && !s->common) status = lgv_engine_option(w->engine, "seed", seed, err);
    if (!status && !s->common) status = lgv_settings_set(&w->settings, "seed", seed, err);
    return status;
}

static char *point_file(const struct lgv_sweeping *w) {
    char name[80], last[32];
    int digits = snprintf(last, sizeof last, "%zu", w->out.npoints);
    snprintf(name, sizeof name, "point-%0*zu.h5", digits, w->point + 1);
    return lgv_join(w->points, name);
}

static bool of_machine(const char *option) {
    return strcmp(option, "threads") == 0 || strcmp(option, "lanes") == 0 || strcmp(option, "compiler") == 0;
}

static bool same_number(const char *text, double x) {
    double y = strtod(text, NULL);
    return !(x < y) && !(x > y);
}

/* Is this the result of the present point? */
static bool same_run(const struct lgv_sweeping *w, const struct lgv_result *r) {
    const struct lgv_model *m = w->model;
    bool same = r->model_text && m->text && strcmp(r->model_text, m->text) == 0 && !r->interrupted &&
                r->nparameters == m->npar - (size_t)m->graph->ndrawn && strcmp(r->version, lgv_version()) == 0;
    for (size_t i = 0, n = 0; same && i < m->npar; i++) {
        if (lgv_expr_drawn(m->graph, (int)i) >= 0) continue;
        same = strcmp(r->parameter[n].name, m->par_name[i]) == 0 && same_number(r->parameter[n].value, m->par[i]);
        n++;
    }
    for (size_t i = 0; same && i < r->nsettings; i++) {
        char value[LGV_LIST_SIZE];
        const struct lgv_option *row = lgv_option_find(lgv_run_options, lgv_run_option_count, r->setting[i].name);
        if (!row || of_machine(row->name)) continue;
        lgv_option_get(row, &w->settings, value, sizeof value);
        same = strcmp(value, r->setting[i].value) == 0;
    }
    return same;
}

static bool find_point(const struct lgv_sweeping *w, struct lgv_result *r) {
    struct lgv_error why = {0};
    bool have = false;
    char *file = w->points ? point_file(w) : NULL;
    if (file && access(file, F_OK) == 0 && lgv_hdf5_read(file, r, &why) == LGV_OK) {
        have = same_run(w, r);
        if (!have) lgv_result_clear(r);
    }
    free(file);
    return lgv_peers_any(have); /* process 0 knows */
}

static bool stop_asked(const struct lgv_sweeping *w) {
    return w->stopped || (w->stop_asked && w->stop_asked());
}

static int progress(void *user, double fraction) {
    struct lgv_sweeping *w = user;
    double all = ((double)w->point + fraction) / (double)w->out.npoints;
    if (w->progress && w->progress(w->user, all)) w->stopped = true;
    return w->stopped;
}

static enum lgv_status run_point(struct lgv_sweeping *w, struct lgv_result *r, struct lgv_error *err) {
    enum lgv_status status = lgv_engine_whole(w->engine, r, err);
    if (stop_asked(w) && (!status || status == LGV_FAILED_PATHS))
        status = LGV_INTERRUPTED; /* its certificate is not complete */
    bool ran = status == LGV_OK || status == LGV_FAILED_PATHS;
    char *file = ran && w->points ? point_file(w) : NULL;
    if (file) {
        free(r->command);
        r->command = w->command ? lgv_copy(w->command) : NULL;
        enum lgv_status written = lgv_hdf5_write(r, file, err);
        if (written) status = written;
    }
    free(file);
    if (!ran || (status && status != LGV_FAILED_PATHS)) lgv_result_clear(r);
    return status == LGV_FAILED_PATHS ? LGV_OK : status;
}

/* ---- all of them ---- */

static double *unknown(size_t n) {
    double *x = lgv_new(n + 1, sizeof *x);
    for (size_t i = 0; x && i < n; i++) x[i] = (double)NAN;
    return x;
}

static bool begin_arrays(struct lgv_sweep *s, const struct lgv_result *r) {
    size_t n = s->npoints, cells = n * r->nseries;
    double **grid[] = {&s->mean, &s->err, &s->std, &s->min, &s->max};
    s->nseries = r->nseries;
    s->series = lgv_new(r->nseries + 1, sizeof *s->series);
    bool ok = s->series && (s->paths = lgv_new(n, 8)) && (s->failed = lgv_new(n, 8)) && (s->done = lgv_new(n, 1)) &&
              (s->holds = lgv_new(n, sizeof *s->holds));
    for (size_t i = 0; ok && i < r->nseries; i++) ok = (s->series[i] = lgv_copy(r->series[i].name)) != NULL;
    for (size_t k = 0; ok && k < 5; k++) ok = (*grid[k] = unknown(cells)) != NULL;
    s->ntimes = cells * r->ntimes * sizeof(double) <= MOST_BYTES ? r->ntimes : 0;
    s->nkept = cells * r->ntimes * r->nsamples * sizeof(double) <= MOST_BYTES ? r->nsamples : 0;
    s->time = unknown(n * s->ntimes);
    s->along = unknown(cells * s->ntimes);
    s->kept = unknown(cells * s->ntimes * s->nkept);
    return ok && s->time && s->along && s->kept && (s->method = lgv_copy(r->method));
}

static bool claims_hold(const struct lgv_result *r) {
    bool hold = true;
    for (size_t i = 0; i < r->nverdicts; i++) hold = hold && r->verdict[i].holds != 0;
    return hold;
}

/* What the point gives to the arrays.  Where points have other numbers of output times nothing is kept along time. */
static enum lgv_status take_point(struct lgv_sweeping *w, const struct lgv_result *r, struct lgv_error *err) {
    struct lgv_sweep *s = &w->out;
    if (!s->done && !begin_arrays(s, r)) return lgv_fail_memory(err);
    if (r->nseries != s->nseries)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "the points of a sweep must have the same observables: one has %zu, another %zu", s->nseries,
                        r->nseries);
    if (r->ntimes != s->ntimes) s->ntimes = 0;
    if (strcmp(s->method, r->method) != 0) s->method[0] = '\0';
    size_t p = w->point, n = s->nseries, nt = s->ntimes;
    for (size_t i = 0; i < n; i++) {
        const struct lgv_series *x = &r->series[i];
        size_t last = r->ntimes - 1, at = p * n + i;
        s->mean[at] = x->mean[last];
        s->err[at] = x->err[last];
        s->std[at] = x->std[last];
        s->min[at] = x->min[last];
        s->max[at] = x->max[last];
        if (nt) memcpy(s->along + at * nt, x->mean, nt * sizeof(double));
        for (size_t k = 0; nt && k < s->nkept && k < r->nsamples; k++)
            memcpy(s->kept + ((p * s->nkept + k) * n + i) * nt, r->sample[k].value + i * nt, nt * sizeof(double));
    }
    if (nt) memcpy(s->time + p * nt, r->time, nt * sizeof(double));
    s->paths[p] = r->paths;
    s->failed[p] = r->failed;
    s->holds[p] = claims_hold(r);
    s->done[p] = true;
    s->ndone++;
    return LGV_OK;
}

enum lgv_status lgv_sweep_run(struct lgv_sweeping *w, struct lgv_error *err) {
    w->seed = w->settings.seed;
    enum lgv_status status = lgv_engine_with(w->model, &w->settings, NULL, &w->engine, err);
    if (status) return status;
    lgv_engine_on_progress(w->engine, progress, w);
    for (w->point = w->part; w->point < w->out.npoints; w->point += w->parts) {
        struct lgv_result r = {0};
        status = set_point(w, err);
        bool have = !status && find_point(w, &r);
        w->found += have;
        if (!status && !have) status = run_point(w, &r, err);
        if (!status && r.nseries) status = take_point(w, &r, err);
        lgv_result_clear(&r);
        if (status == LGV_CANNOT_RUN && stop_asked(w)) status = LGV_INTERRUPTED; /* while a kernel was compiled */
        if (status && status != LGV_INTERRUPTED) return status; /* of this process alone, perhaps */
        if (lgv_peers_any(status == LGV_INTERRUPTED || stop_asked(w))) return LGV_INTERRUPTED;
    }
    return LGV_OK;
}

enum lgv_status lgv_sweep_label(struct lgv_sweeping *w, struct lgv_error *err) {
    time_t t = time(NULL);
    struct tm utc;
    strftime(w->out.date, sizeof w->out.date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
    w->out.command = w->command ? lgv_copy(w->command) : NULL;
    w->out.model_name = lgv_copy(w->model->name);
    return w->out.model_name ? LGV_OK : lgv_fail_memory(err);
}

bool lgv_sweep_well(const struct lgv_sweep *s) {
    bool well = true;
    for (size_t k = 0; k < s->npoints; k++) well = well && (!s->done[k] || (s->holds[k] > 0 && !s->failed[k]));
    return well;
}
