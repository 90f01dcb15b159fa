/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A sweep whose points are one run: a parameter with a value for each point is, like a random one, a row of the state,
 * so that paths of different points are side by side in one kernel.  Path j of point k is path number k N + j, where N
 * is the number of paths of a point; it has the noise and the random start of path j, or of its own number.  All paths
 * are kept, and the arrays of the sweep are found from them as if every point had had a run of its own. */
#include "engine/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct together {
    struct lgv_sweeping *w;
    struct lgv_settings settings; /* of the run */
    uint64_t each;
    uint64_t listed[LGV_MOST_LISTED]; /* paths of a point whose values are kept, where they are listed */
    size_t kept;
    bool list;
    double *point[LGV_SWEEP_AXES]; /* [npoints] values of the parameters of the axes */
    struct lgv_override *override; /* what the model has, then the axes */
    size_t noverrides;
    struct lgv_model *one;        /* the model of one point */
    size_t *series, nseries; /* numbers of the observables that a run of one point has, too */
};

/* ---- what is asked for ---- */

static enum lgv_status check_axes(const struct lgv_sweeping *w, struct lgv_error *err) {
    for (size_t a = 0; a < w->out.naxes; a++) {
        const struct lgv_sweep_axis *x = &w->out.axis[a];
        char name[80];
        lgv_plain(name, sizeof name, x->name);
        if (lgv_option_find(lgv_run_options, lgv_run_option_count, x->name))
            return lgv_fail(err, LGV_BAD_INPUT,
                            "--together: %s is an option of a run, which has one value of it; without --together "
                            "every point is a run",
                            name);
        if (!x->value) return lgv_fail(err, LGV_BAD_INPUT, "--together: the values of %s are not all numbers", name);
        for (size_t i = 0; i < x->count; i++)
            if (!isfinite(x->value[i])) return lgv_fail(err, LGV_BAD_INPUT, "--over %s: %g", name, x->value[i]);
    }
    return LGV_OK;
}

static enum lgv_status check(struct together *t, struct lgv_error *err) {
    const struct lgv_sweeping *w = t->w;
    const struct lgv_settings *s = &w->settings;
    const uint64_t points = w->out.npoints;
    uint64_t number[LGV_MOST_LISTED];
    size_t n;
    if (w->parts > 1) return lgv_fail(err, LGV_BAD_INPUT, "--part: with --together all points are one run");
    if (!w->model->text) return lgv_fail(err, LGV_BAD_INPUT, "--together: a model of C functions has no parameters");
    if (s->until_stderr[0])
        return lgv_fail(err, LGV_BAD_INPUT, "until_stderr: with --together all points have the same number of paths");
    if (s->increments) return lgv_fail(err, LGV_BAD_INPUT, "--together: no increments can be given");
    if (s->paths > LGV_SWEEP_TOGETHER / points)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "--together: %llu points with %llu paths each are more than %d paths, and all are kept; "
                        "without --together every point is a run",
                        (unsigned long long)points, (unsigned long long)s->paths, LGV_SWEEP_TOGETHER);
    enum lgv_status status = lgv_paths_listed("keep", s->keep, number, &n, &t->list, err);
    t->each = s->paths;
    t->kept = t->list ? n : n && number[0] < t->each ? (size_t)number[0] : n ? (size_t)t->each : 0;
    for (size_t k = 0; !status && t->list && k < n; k++) {
        t->listed[k] = number[k];
        if (number[k] >= t->each)
            return lgv_fail(err, LGV_BAD_INPUT, "keep: path %llu is not among the %llu paths (numbers start at 0)",
                            (unsigned long long)number[k], (unsigned long long)t->each);
    }
    return status ? status : check_axes(w, err);
}

static void choose_settings(struct together *t) {
    struct lgv_settings *s = &t->settings;
    *s = t->w->settings;
    s->paths = t->each * t->w->out.npoints;
    s->points = (struct lgv_points){.each = t->each, .common = t->w->out.common};
    snprintf(s->keep, sizeof s->keep, "%llu", (unsigned long long)s->paths);
    s->keep_every = (uint64_t)LGV_MOST_STEPS; /* at output times only */
    s->keep_increments = false;
}

/* ---- the model ---- */

/* The value where structure is looked for. */
static double between(const struct lgv_sweep_axis *x, size_t axis) {
    double low = x->value[0], high = x->value[0];
    for (size_t i = 1; i < x->count; i++) low = fmin(low, x->value[i]), high = fmax(high, x->value[i]);
    return lgv_between(low, high, (int)axis);
}

static bool choose_values(struct together *t) {
    const struct lgv_sweep *s = &t->w->out;
    const struct lgv_model *m = t->w->model;
    if (!(t->override = lgv_new(m->nsettings + s->naxes, sizeof *t->override))) return false;
    for (size_t k = 0; k < m->nsettings; k++)
        t->override[t->noverrides++] = (struct lgv_override){.name = m->setting_name[k], .value = m->setting_value[k]};
    for (size_t a = 0; a < s->naxes; a++) {
        if (!(t->point[a] = lgv_new(s->npoints, sizeof(double)))) return false;
        for (size_t k = 0; k < s->npoints; k++) t->point[a][k] = s->axis[a].value[lgv_sweep_index(s, k, a)];
        t->override[t->noverrides++] = (struct lgv_override){.name = s->axis[a].name,
                                                             .value = between(&s->axis[a], a),
                                                             .point = t->point[a],
                                                             .npoints = s->npoints,
                                                             .each = t->each};
    }
    return true;
}

/* The model of one point: what it refuses is refused for all. */
static enum lgv_status load_one(struct together *t, struct lgv_error *err) {
    const struct lgv_model *m = t->w->model;
    struct lgv_override *one = lgv_new(t->noverrides, sizeof *one);
    if (!one) return lgv_fail_memory(err);
    for (size_t k = 0; k < t->noverrides; k++) {
        const struct lgv_override *o = &t->override[k];
        one[k] = (struct lgv_override){.name = o->name, .value = o->point ? o->point[0] : o->value};
    }
    enum lgv_status status = lgv_model_complete(m->text, m->file, one, t->noverrides, &t->one, err);
    free(one);
    return status;
}

/* The model with a value of its own for each point.  What cannot differ from path to path is refused. */
static enum lgv_status load(const struct together *t, struct lgv_model **out, struct lgv_error *err) {
    struct lgv_error why = {0};
    const struct lgv_model *m = t->w->model;
    enum lgv_status status = lgv_model_complete(m->text, m->file, t->override, t->noverrides, out, &why);
    if (status != LGV_BAD_INPUT) {
        if (err) *err = why;
        return status;
    }
    struct lgv_error place = why;
    lgv_fail(err, LGV_BAD_INPUT,
             "%s\n  (with --together a sweep gives every path values of its own, as to random parameters; without it "
             "every point is a run)",
             why.message);
    if (err) err->line = place.line, err->column = place.column;
    return LGV_BAD_INPUT;
}

/* ---- the arrays ---- */

/* Parameters that are drawn are observed; the axes, and what follows from them, are so only here. */
static bool choose_series(struct together *t, const struct lgv_result *r) {
    const struct lgv_model *m = t->one;
    if (!(t->series = lgv_new(r->nseries + 1, sizeof *t->series))) return false;
    for (size_t i = 0; i < r->nseries; i++) {
        bool own = true;
        for (size_t k = 0; own && k < m->npar; k++)
            own = strcmp(m->par_name[k], r->series[i].name) != 0 || lgv_expr_drawn(m->graph, (int)k) >= 0;
        if (own) t->series[t->nseries++] = i;
    }
    return true;
}

/* At output time i: does the path have a value? */
static bool alive(const struct lgv_result *r, uint64_t path, size_t i) {
    bool any = false;
    for (size_t k = 0; !any && k < r->nseries; k++) any = !isnan(r->sample[path].value[k * r->ntimes + i]);
    return any;
}

/* What a run of the paths first .. first + each - 1 finds for its series x at output time i. */
static void reduce(const struct together *t, const struct lgv_result *r, uint64_t first, size_t series, size_t i,
                   struct lgv_series *x) {
    double sum = 0, square = 0, n = 0, least = INFINITY, most = -INFINITY;
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t j = first; j < first + t->each; j++) {
            const double value = r->sample[j].value[series * r->ntimes + i];
            if (!alive(r, j, i)) continue;
            if (pass) {
                square += (value - sum / n) * (value - sum / n);
                continue;
            }
            sum += value;
            n++;
            least = fmin(least, value);
            most = fmax(most, value);
        }
    if (least >= most && !isnan(sum)) square = 0; /* no round-off where all values are the same */
    x->mean[i] = n > 0 ? sum / n : (double)NAN;
    x->std[i] = n > 1 ? sqrt(square / (n - 1)) : n > 0 ? 0 : (double)NAN;
    x->err[i] = n > 1 ? x->std[i] / sqrt(n) : (double)NAN;
    x->min[i] = least <= most ? least : (double)NAN;
    x->max[i] = least <= most ? most : (double)NAN;
}

/* Numbers of a point: `view` is a result with memory for them, whose other parts belong to r. */
static void fill(const struct together *t, const struct lgv_result *r, uint64_t point, struct lgv_result *view) {
    const uint64_t first = point * t->each;
    const size_t nt = r->ntimes;
    for (size_t k = 0; k < t->nseries; k++)
        for (size_t i = 0; i < nt; i++) reduce(t, r, first, t->series[k], i, &view->series[k]);
    for (size_t j = 0; j < t->kept; j++)
        for (size_t k = 0; k < t->nseries; k++)
            memcpy(view->sample[j].value + k * nt,
                   r->sample[first + (t->list ? t->listed[j] : j)].value + t->series[k] * nt, nt * sizeof(double));
    view->failed = 0;
    for (size_t k = 0; k < r->nfailures; k++) view->failed += r->failure[k].path / t->each == point;
}

static enum lgv_status take(struct together *t, const struct lgv_result *r, struct lgv_error *err) {
    const size_t nt = r->ntimes;
    if (!choose_series(t, r)) return lgv_fail_memory(err);
    const size_t n = t->nseries;
    struct lgv_result view = *r;
    view.nseries = n;
    view.nsamples = t->kept;
    view.paths = t->each;
    view.series = lgv_new(n + 1, sizeof *view.series);
    view.sample = lgv_new(t->kept + 1, sizeof *view.sample);
    double *memory = lgv_new((5 + t->kept) * n * nt + 1, sizeof *memory), *at = memory;
    enum lgv_status status = view.series && view.sample && memory ? LGV_OK : lgv_fail_memory(err);
    for (size_t k = 0; !status && k < n; k++, at += 5 * nt)
        view.series[k] = (struct lgv_series){.name = r->series[t->series[k]].name,
                                             .mean = at,
                                             .std = at + nt,
                                             .err = at + 2 * nt,
                                             .min = at + 3 * nt,
                                             .max = at + 4 * nt};
    for (size_t j = 0; !status && j < t->kept; j++, at += n * nt) view.sample[j].value = at;
    for (size_t p = 0; !status && p < t->w->out.npoints; p++) {
        fill(t, r, p, &view);
        status = lgv_sweep_take(&t->w->out, p, &view, err);
    }
    free(view.series);
    free(view.sample);
    free(memory);
    return status;
}

/* ---- the run ---- */

static enum lgv_status run(struct together *t, struct lgv_model *m, struct lgv_error *err) {
    struct lgv_sweeping *w = t->w;
    struct lgv_result r = {0};
    struct lgv_engine *engine = NULL;
    enum lgv_status status = lgv_engine_with(m, &t->settings, NULL, &engine, err);
    if (!status && w->progress) lgv_engine_on_progress(engine, w->progress, w->user);
    if (!status) status = lgv_engine_whole(engine, &r, err);
    bool stopped = w->stop_asked && w->stop_asked(); /* the certificate is not complete, or there is no kernel */
    if (lgv_peers_any(status == LGV_INTERRUPTED || (stopped && status != LGV_BAD_INPUT))) status = LGV_INTERRUPTED;
    if (!status || status == LGV_FAILED_PATHS) status = take(t, &r, err);
    lgv_result_clear(&r);
    lgv_engine_free(engine);
    return status;
}

enum lgv_status lgv_sweep_together(struct lgv_sweeping *w, struct lgv_error *err) {
    struct together t = {.w = w};
    struct lgv_model *m = NULL;
    enum lgv_status status = check(&t, err);
    if (!status) choose_settings(&t);
    if (!status && !choose_values(&t)) status = lgv_fail_memory(err);
    if (!status) status = load_one(&t, err);
    if (!status) status = load(&t, &m, err);
    if (!status) status = run(&t, m, err);
    lgv_model_free(m);
    lgv_model_free(t.one);
    for (size_t a = 0; a < LGV_SWEEP_AXES; a++) free(t.point[a]);
    free(t.override);
    free(t.series);
    return status;
}
