/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A sweep: one ensemble for every point of a grid of parameters or options.  The kernel is compiled once, unless a
 * value is part of it.  Where there is a folder every point is a file in it, a result like that of a run; points that
 * are there already, of the same model and options, are not run again.
 *
 * Points of many paths are run one after the other, each by all threads.  Points that have too few for that are run
 * side by side, each by one thread, with a model and an engine of its own: the bits are the same, and so is the point
 * that is named when several are refused, the first of them.  Points can also be one run: together.c. */
#include "engine/engine.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_BYTES ((size_t)1 << 31) /* of what is kept along time: beyond, only the ends are */
#define MANY_UNITS 8                 /* for every thread: a point that has these keeps all threads busy by itself */

/* Who runs a point. */
struct hand {
    struct lgv_sweeping *all;
    struct lgv_model *model;
    struct lgv_settings settings; /* of the present point */
    struct lgv_engine *engine;
    size_t point;
    double fraction; /* of it that is done */
};

struct work {
    struct lgv_sweeping *all;
    struct hand *hand;
    size_t hands;
    atomic_size_t begun; /* hands that have begun to work */
    enum lgv_status status; /* of the first point that has failed, number all->point */
    struct lgv_error *err;
};

/* ---- one point ---- */

static bool is_option(const char *name) {
    return lgv_option_find(lgv_run_options, lgv_run_option_count, name) != NULL;
}

/* Parameters and options of a point, for the engine and for what it is compared with. */
static enum lgv_status set_point(struct hand *h, struct lgv_error *err) {
    const struct lgv_sweep *s = &h->all->out;
    enum lgv_status status = LGV_OK;
    char seed[32];
    for (size_t a = 0; !status && a < s->naxes; a++) {
        const char *name = s->axis[a].name, *value = s->axis[a].text[lgv_sweep_index(s, h->point, a)];
        status = lgv_engine_set(h->engine, name, value, err);
        if (!status && is_option(name)) status = lgv_settings_set(&h->settings, name, value, err);
    }
    uint64_t number[] = {h->all->seed, h->point}, hash = lgv_hash(LGV_HASH_START, number, sizeof number);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)(hash >> 12));
    if (!status && !s->common) status = lgv_engine_option(h->engine, "seed", seed, err);
    if (!status && !s->common) status = lgv_settings_set(&h->settings, "seed", seed, err);
    return status;
}

static char *point_file(const struct hand *h) {
    char name[80], last[32];
    int digits = snprintf(last, sizeof last, "%zu", h->all->out.npoints);
    snprintf(name, sizeof name, "point-%0*zu.h5", digits, h->point + 1);
    return lgv_join(h->all->points, name);
}

static bool of_machine(const char *option) {
    return strcmp(option, "threads") == 0 || strcmp(option, "lanes") == 0 || strcmp(option, "compiler") == 0;
}

static bool same_number(const char *text, double x) {
    double y = strtod(text, NULL);
    return !(x < y) && !(x > y);
}

/* Is this the result of the present point? */
static bool same_run(const struct hand *h, const struct lgv_result *r) {
    const struct lgv_model *m = h->model;
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
        lgv_option_get(row, &h->settings, value, sizeof value);
        same = strcmp(value, r->setting[i].value) == 0;
    }
    return same;
}

static bool find_point(const struct hand *h, struct lgv_result *r) {
    struct lgv_error why = {0};
    bool have = false;
    char *file = h->all->points ? point_file(h) : NULL;
    if (file && access(file, F_OK) == 0 && lgv_hdf5_read(file, r, &why) == LGV_OK) {
        have = same_run(h, r);
        if (!have) lgv_result_clear(r);
    }
    free(file);
    return lgv_peers_any(have); /* process 0 knows */
}

static bool stop_asked(const struct lgv_sweeping *w) {
    bool stopped;
#pragma omp critical(lgv_sweep)
    stopped = w->stopped || (w->stop_asked && w->stop_asked());
    return stopped;
}

/* By the thread of a hand, or by another one that runs its point with it. */
static int progress(void *user, double fraction) {
    struct hand *h = user;
    struct lgv_sweeping *w = h->all;
    bool stopped;
#pragma omp critical(lgv_sweep)
    {
        w->advanced += fraction - h->fraction;
        h->fraction = fraction;
        if (w->progress && w->progress(w->user, w->advanced / (double)w->out.npoints)) w->stopped = true;
        stopped = w->stopped;
    }
    return stopped;
}

static enum lgv_status run_point(const struct hand *h, struct lgv_result *r, struct lgv_error *err) {
    const struct lgv_sweeping *w = h->all;
    enum lgv_status status = lgv_engine_whole(h->engine, r, err);
    if (stop_asked(w) && (!status || status == LGV_FAILED_PATHS))
        status = LGV_INTERRUPTED; /* its certificate is not complete */
    bool ran = status == LGV_OK || status == LGV_FAILED_PATHS;
    char *file = ran && w->points ? point_file(h) : NULL;
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

/* Where points have other numbers of output times nothing is kept along time. */
enum lgv_status lgv_sweep_take(struct lgv_sweep *s, size_t p, const struct lgv_result *r, struct lgv_error *err) {
    if (!s->done && !begin_arrays(s, r)) return lgv_fail_memory(err);
    if (r->nseries != s->nseries)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "the points of a sweep must have the same observables: one has %zu, another %zu", s->nseries,
                        r->nseries);
    if (r->ntimes != s->ntimes) s->ntimes = 0;
    if (strcmp(s->method, r->method) != 0) s->method[0] = '\0';
    size_t n = s->nseries, nt = s->ntimes;
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

/* A point, from its file or by running it, and what it gives.  One that cannot be run at the end of a sweep that was
 * stopped is no failure: a kernel was being compiled. */
static enum lgv_status do_point(struct hand *h, size_t point, struct lgv_error *err) {
    struct lgv_sweeping *w = h->all;
    struct lgv_result r = {0};
    h->point = point;
    h->fraction = 0;
    enum lgv_status status = set_point(h, err);
    bool have = !status && find_point(h, &r);
    if (!status && !have) status = run_point(h, &r, err);
#pragma omp critical(lgv_sweep)
    {
        w->found += have;
        w->advanced += 1 - h->fraction;
        if (!status && r.nseries) status = lgv_sweep_take(&w->out, point, &r, err);
    }
    lgv_result_clear(&r);
    return status == LGV_CANNOT_RUN && stop_asked(w) ? LGV_INTERRUPTED : status;
}

/* Points that are left, by one of the threads.  After a failure no other is begun. */
static void do_points(struct lgv_crew *crew, void *user) {
    struct work *k = user;
    struct lgv_sweeping *w = k->all;
    uint64_t n;
    struct hand *h = &k->hand[atomic_fetch_add(&k->begun, 1)];
    while (!stop_asked(w) && lgv_crew_next(crew, &n)) {
        struct lgv_error why = {0};
        size_t point = w->part + n * w->parts;
        enum lgv_status status = do_point(h, point, &why);
        if (status) atomic_store(&crew->stop, 1);
        bool failed = status && status != LGV_INTERRUPTED;
#pragma omp critical(lgv_sweep)
        if (failed && (!k->status || point < w->point)) {
            k->status = status;
            w->point = point;
            if (k->err) *k->err = why;
        }
    }
}

static enum lgv_status hand_begin(struct hand *h, struct lgv_sweeping *w, struct lgv_model *m, struct lgv_error *err) {
    *h = (struct hand){.all = w, .model = m, .settings = w->settings};
    enum lgv_status status = lgv_engine_with(m, &w->settings, NULL, &h->engine, err);
    if (!status) lgv_engine_on_progress(h->engine, progress, h);
    return status;
}

/* The same model once more; NULL: it is none of a file, or memory is out. */
static struct lgv_model *another(const struct lgv_model *m) {
    struct lgv_model *copy = NULL;
    struct lgv_override *all = m->text ? lgv_new(m->nsettings + 1, sizeof *all) : NULL;
    for (size_t i = 0; all && i < m->nsettings; i++)
        all[i] = (struct lgv_override){.name = m->setting_name[i], .value = m->setting_value[i]};
    if (all && lgv_model_complete(m->text, m->file, all, m->nsettings, &copy, NULL)) copy = NULL;
    free(all);
    return copy;
}

/* How many points are run at a time. */
static unsigned at_a_time(const struct lgv_sweeping *w, uint64_t points) {
    const struct lgv_settings *s = &w->settings;
    unsigned threads = s->threads ? (unsigned)s->threads : (unsigned)omp_get_num_procs();
    if (lgv_peers || s->paths / LGV_UNIT >= (uint64_t)threads * MANY_UNITS) return 1;
    for (size_t a = 0; a < w->out.naxes; a++) {
        const char *name = w->out.axis[a].name;
        if (strcmp(name, "paths") == 0 || strcmp(name, "threads") == 0) return 1;
    }
    return points < threads ? (unsigned)points : threads;
}

/* The first point is run by itself: then the kernel is there, and the arrays have the shape that it gives. */
static enum lgv_status do_all(struct work *k, uint64_t points, struct lgv_error *err) {
    struct lgv_sweeping *w = k->all;
    enum lgv_status status = points ? do_point(&k->hand[0], w->point = w->part, err) : LGV_OK;
    if (status && status != LGV_INTERRUPTED) return status; /* of this process alone, perhaps */
    if (lgv_peers_any(status == LGV_INTERRUPTED || stop_asked(w))) return LGV_INTERRUPTED;
    unsigned wanted = points > 1 ? at_a_time(w, points - 1) : 1;
    struct lgv_model *copy;
    for (; k->hands < wanted && (copy = another(w->model)); k->hands++)
        if (hand_begin(&k->hand[k->hands], w, copy, NULL)) lgv_model_free(copy), wanted = 0;
    if (k->hands > 1) {
        struct lgv_crew crew = LGV_CREW(1, points, NULL, NULL);
        lgv_crew_run(&crew, (unsigned)k->hands, do_points, k);
        return k->status ? k->status : lgv_crew_stopped(&crew) || stop_asked(w) ? LGV_INTERRUPTED : LGV_OK;
    }
    for (uint64_t n = 1; n < points; n++) {
        status = do_point(&k->hand[0], w->point = w->part + n * w->parts, err);
        if (status && status != LGV_INTERRUPTED) return status;
        if (lgv_peers_any(status == LGV_INTERRUPTED || stop_asked(w))) return LGV_INTERRUPTED;
    }
    return LGV_OK;
}

enum lgv_status lgv_sweep_run(struct lgv_sweeping *w, struct lgv_error *err) {
    if (w->out.together) return lgv_sweep_together(w, err);
    uint64_t points = w->part < w->out.npoints ? (w->out.npoints - w->part - 1) / w->parts + 1 : 0;
    struct work k = {.all = w, .err = err, .hands = 1};
    w->seed = w->settings.seed;
    if (!(k.hand = lgv_new(LGV_MOST_THREADS, sizeof *k.hand))) return lgv_fail_memory(err);
    enum lgv_status status = hand_begin(&k.hand[0], w, w->model, err);
    if (!status) status = do_all(&k, points, err);
    for (size_t i = 0; i < k.hands; i++) {
        lgv_engine_free(k.hand[i].engine);
        if (i) lgv_model_free(k.hand[i].model);
    }
    free(k.hand);
    return status;
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
