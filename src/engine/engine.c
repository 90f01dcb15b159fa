/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine of <lgv/lgv.h>.  It is prepared when it is first needed: settings, method, kernel, plan.  What changes
 * results makes it prepare again; the kernel stays as long as its text would be the same. */
#include "engine/private.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER(n) ((unsigned long long)(n))

/* ---- making and ending ---- */

enum lgv_status lgv_engine_create(struct lgv_model *model, struct lgv_engine **out, struct lgv_error *err) {
    if (out) *out = NULL;
    if (!model || !out) return lgv_fail(err, LGV_BAD_INPUT, "no model, or no place for the engine");
    struct lgv_engine *e = lgv_new(1, sizeof *e);
    if (!e) return lgv_fail_memory(err);
    e->model = model;
    enum lgv_status status = lgv_settings_read(model, &e->settings, err);
    if (status == LGV_OK)
        *out = e;
    else
        free(e);
    return status;
}

void lgv_engine_clear(struct lgv_engine *e) {
    if (!e || !e->collected) return;
    lgv_collection_end(e->collected);
    free(e->collected);
    e->collected = NULL;
}

void lgv_engine_unprepare(struct lgv_engine *e) {
    lgv_engine_clear(e);
    lgv_layout_free(e->layout);
    free(e->description);
    e->layout = NULL;
    e->description = NULL;
}

static void drop_kernel(struct lgv_engine *e) {
    if (e->built) lgv_kernel_free(&e->kernel);
    e->built = false;
}

void lgv_engine_free(struct lgv_engine *e) {
    if (!e) return;
    lgv_engine_unprepare(e);
    drop_kernel(e);
    lgv_increments_free(&e->increments);
    free(e->keep_source);
    free(e->record_dir);
    free(e);
}

void lgv_engine_on_progress(struct lgv_engine *e, lgv_progress *progress, void *user) {
    if (!e) return;
    e->progress = progress;
    e->user = user;
}

const struct lgv_kernel *lgv_engine_kernel(const struct lgv_engine *e) {
    return e->built ? &e->kernel : NULL;
}

uint64_t lgv_engine_builds(const struct lgv_engine *e) {
    return e->builds;
}

/* ---- preparing ---- */

static uint64_t few(uint64_t paths) {
    return paths < LGV_UNIT ? paths : LGV_UNIT;
}

/* Would a kernel made now have the text and the width of the one there is? */
static bool kernel_serves(const struct lgv_engine *e, const struct lgv_method *method, const struct lgv_settings *s) {
    return e->built && e->loads == e->model->loads && e->kernel.method == method && e->lanes == s->lanes &&
           e->few == few(s->paths) && strcmp(e->compiler, s->compiler) == 0 &&
           strcmp(e->extremes, s->extremes) == 0 && e->modified == s->modified_energy && !e->keep_source;
}

static enum lgv_status make_kernel(struct lgv_engine *e, const struct lgv_method *method, const struct lgv_settings *s,
                                   struct lgv_error *err) {
    if (kernel_serves(e, method, s)) return lgv_kernel_refresh(&e->kernel, e->model, err);
    struct lgv_kernel_options options = {.lanes = (unsigned)s->lanes,
                                         .paths = s->paths,
                                         .compiler = s->compiler,
                                         .keep_source = e->keep_source,
                                         .events = true,
                                         .modified = s->modified_energy,
                                         .extremes = s->extremes,
                                         .wrapped = true,
                                         .progress = e->progress,
                                         .user = e->user};
    drop_kernel(e);
    enum lgv_status status = lgv_kernel_build(e->model, method, &options, &e->kernel, err);
    if (status == LGV_INTERRUPTED) return lgv_fail(err, LGV_CANNOT_RUN, "stopped before the run began");
    if (status != LGV_OK) return status;
    e->built = true;
    e->builds++;
    e->loads = e->model->loads;
    e->lanes = s->lanes;
    e->few = few(s->paths);
    memcpy(e->compiler, s->compiler, sizeof e->compiler);
    memcpy(e->extremes, s->extremes, sizeof e->extremes);
    e->modified = s->modified_energy;
    return LGV_OK;
}

static enum lgv_status prepare(struct lgv_engine *e, struct lgv_error *err) {
    const struct lgv_method *method = NULL;
    if (!(e->layout = lgv_new(1, sizeof *e->layout))) return lgv_fail_memory(err);
    struct lgv_settings *s = &e->layout->settings;
    e->chosen = NULL;
    enum lgv_status status = lgv_layout_begin(e->model, &e->settings, e->layout, err);
    if (!status) status = lgv_method_resolve(e->model, s->method, &method, &e->chosen, err);
    if (!status) status = lgv_layout_steps(e->layout, err);
    if (!status) status = make_kernel(e, method, s, err);
    if (!status) status = lgv_layout_finish(e->layout, &e->kernel, err);
    e->changes = e->model->changes;
    if (!status && !(e->description = lgv_engine_describe(e))) status = lgv_fail_memory(err);
    if (status == LGV_BAD_INPUT) lgv_settings_place(s, e->model, err);
    if (status) lgv_engine_unprepare(e);
    return status;
}

enum lgv_status lgv_engine_ready(struct lgv_engine *e, struct lgv_error *err) {
    bool changed = e->layout && e->changes != e->model->changes;
    if (changed && e->collected)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "the model was changed after its paths were run; lgv_engine_clear forgets these");
    if (changed) lgv_engine_unprepare(e);
    return e->layout ? LGV_OK : prepare(e, err);
}

enum lgv_status lgv_engine_prepare(struct lgv_engine *e, struct lgv_error *err) {
    return e ? lgv_engine_ready(e, err) : lgv_fail(err, LGV_BAD_INPUT, "no engine");
}

/* ---- parameters and options ---- */

static enum lgv_status set_parameter(struct lgv_engine *e, const char *name, const char *value, struct lgv_error *err) {
    char *end;
    double x = strtod(value, &end);
    if (end == value || *end || !isfinite(x))
        return lgv_fail(err, LGV_BAD_INPUT, "the parameter %s must be a finite number, not '%.80s'", name, value);
    enum lgv_status status = lgv_model_set(e->model, name, x, err);
    if (status == LGV_OK) lgv_engine_unprepare(e);
    return status;
}

/* Do the ranges belong to an ensemble of so many paths?  Only its last unit may have fewer than 16. */
static enum lgv_status within(const struct lgv_collection *c, uint64_t paths, const char *whose,
                              struct lgv_error *err) {
    for (size_t i = 0; i < c->nranges; i++) {
        uint64_t end = c->range[i].end;
        if (end > paths)
            return lgv_fail(err, LGV_BAD_INPUT, "%s has paths up to number %llu, and paths = %llu", whose,
                            NUMBER(end - 1), NUMBER(paths));
        if (end % LGV_UNIT && end != paths)
            return lgv_fail(err, LGV_BAD_INPUT,
                            "%s ends with path %llu in the middle of a unit of %d: more paths can be added only when "
                            "their number was a multiple of %d",
                            whose, NUMBER(end - 1), LGV_UNIT, LGV_UNIT);
    }
    if (c->nsuspended && c->suspended[c->nsuspended - 1].unit * LGV_UNIT >= paths)
        return lgv_fail(err, LGV_BAD_INPUT, "%s has paths beyond %llu on their way", whose, NUMBER(paths));
    return LGV_OK;
}

static bool same_paths_kept(const struct lgv_layout *a, const struct lgv_layout *b) {
    return a->nkept == b->nkept && memcmp(a->kept, b->kept, a->nkept * sizeof *a->kept) == 0 &&
           a->plan.ndense == b->plan.ndense;
}

/* The same ensemble with another number of paths; what was collected stays. */
static enum lgv_status resize(struct lgv_engine *e, const struct lgv_settings *s, struct lgv_error *err) {
    enum lgv_status status = within(e->collected, s->paths, "what was run", err);
    struct lgv_layout *layout = lgv_new(1, sizeof *layout);
    struct lgv_collection *grown = lgv_new(1, sizeof *grown);
    if (!status && (!layout || !grown)) status = lgv_fail_memory(err);
    if (!status) status = lgv_layout_begin(e->model, s, layout, err);
    if (!status) status = lgv_layout_steps(layout, err);
    if (!status) status = lgv_layout_finish(layout, &e->kernel, err);
    if (!status && !same_paths_kept(e->layout, layout))
        status = lgv_fail(err, LGV_BAD_INPUT, "with %llu paths others would be kept (keep = %s) than in what was run",
                          NUMBER(s->paths), s->keep);
    size_t n = layout ? layout->plan.nsnapshots * LGV_UNIT * (e->kernel.nx + e->kernel.np) : 0;
    if (!status && (!lgv_collection_begin(grown, layout) || !lgv_collection_merge(grown, e->collected, n)))
        status = lgv_fail_memory(err);
    if (status) {
        if (grown) lgv_collection_end(grown);
        free(grown);
        lgv_layout_free(layout);
        return status;
    }
    lgv_engine_clear(e);
    lgv_layout_free(e->layout);
    e->collected = grown;
    e->layout = layout;
    e->settings = *s;
    return LGV_OK;
}

static enum lgv_status unknown(const struct lgv_model *m, const char *name, struct lgv_error *err) {
    const char *known[256];
    size_t n = 0;
    for (size_t i = 0; i < m->npar && n < 128; i++) known[n++] = m->par_name[i];
    for (size_t i = 0; i < lgv_run_option_count && n < 256; i++) known[n++] = lgv_run_options[i].name;
    const char *near = lgv_nearest(name, known, n);
    return lgv_fail(err, LGV_BAD_INPUT, "%.80s is neither a parameter of the model nor an option of a run%s%s%s", name,
                    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

enum lgv_status lgv_engine_set(struct lgv_engine *e, const char *name, const char *value, struct lgv_error *err) {
    if (!e || !name || !value) return lgv_fail(err, LGV_BAD_INPUT, "no engine, no name or no value");
    if (lgv_model_has_parameter(e->model, name)) return set_parameter(e, name, value, err);
    if (!lgv_option_find(lgv_run_options, lgv_run_option_count, name)) return unknown(e->model, name, err);
    return lgv_engine_option(e, name, value, err);
}

enum lgv_status lgv_engine_option(struct lgv_engine *e, const char *name, const char *value, struct lgv_error *err) {
    struct lgv_settings s = e->settings;
    enum lgv_status status = lgv_settings_set(&s, name, value, err);
    if (status != LGV_OK) return status;
    const struct lgv_option *row = lgv_option_find(lgv_run_options, lgv_run_option_count, name);
    if (row->offset == offsetof(struct lgv_settings, paths) && e->collected && !e->settings.increments) {
        status = lgv_engine_ready(e, err); /* the model may have changed, and its methods with it */
        return status ? status : resize(e, &s, err);
    }
    e->settings = s;
    if (row->offset == offsetof(struct lgv_settings, until_stderr) && e->layout)
        memcpy(e->layout->settings.until_stderr, s.until_stderr, sizeof s.until_stderr);
    else if (row->offset != offsetof(struct lgv_settings, threads))
        lgv_engine_unprepare(e);
    else if (e->layout)
        e->layout->plan.threads = (unsigned)(e->layout->settings.threads = s.threads);
    return LGV_OK;
}

enum lgv_status lgv_engine_increments(struct lgv_engine *e, const char *path, struct lgv_error *err) {
    if (!e) return lgv_fail(err, LGV_BAD_INPUT, "no engine");
    struct lgv_increments fresh = {0};
    enum lgv_status status = path ? lgv_increments_read(path, e->model->nnoise, &fresh, err) : LGV_OK;
    if (status != LGV_OK) return status;
    lgv_engine_unprepare(e);
    lgv_increments_free(&e->increments);
    e->increments = fresh;
    e->settings.increments = path ? &e->increments : NULL;
    return LGV_OK;
}

/* ---- running ---- */

bool lgv_engine_collecting(struct lgv_engine *e) {
    if (e->collected) return true;
    if ((e->collected = lgv_new(1, sizeof *e->collected)) && lgv_collection_begin(e->collected, e->layout)) return true;
    free(e->collected);
    e->collected = NULL;
    return false;
}

static size_t snapshots(const struct lgv_engine *e) {
    return e->layout->plan.nsnapshots * LGV_UNIT * (e->kernel.nx + e->kernel.np);
}

/* Nothing may be added to a range that was stopped: some of its units have come to other times than others. */
static enum lgv_status not_stopped(const struct lgv_collection *c, const char *whose, struct lgv_error *err) {
    if (!c || !c->report.stopped) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT, "%s was stopped on the way: it can be finished or cleared, but nothing else",
                    whose);
}

static enum lgv_status not_twice(const struct lgv_engine *e, struct lgv_range r, struct lgv_error *err) {
    for (size_t i = 0; e->collected && i < e->collected->nranges; i++) {
        const struct lgv_range *have = &e->collected->range[i];
        if (r.first < have->end && have->first < r.end)
            return lgv_fail(err, LGV_BAD_INPUT, "paths %llu to %llu have been collected already",
                            NUMBER(r.first > have->first ? r.first : have->first),
                            NUMBER((r.end < have->end ? r.end : have->end) - 1));
    }
    for (size_t i = 0; e->collected && i < e->collected->nsuspended; i++) {
        uint64_t first = e->collected->suspended[i].unit * LGV_UNIT;
        if (first >= r.first && first < r.end)
            return lgv_fail(err, LGV_BAD_INPUT, "paths from %llu on are on their way; lgv_engine_continue ends them",
                            NUMBER(first));
    }
    return LGV_OK;
}

static enum lgv_status check_range(const struct lgv_engine *e, uint64_t first, uint64_t count, struct lgv_error *err) {
    uint64_t paths = e->layout->settings.paths;
    if (first % LGV_UNIT)
        return lgv_fail(err, LGV_BAD_INPUT, "the first path of a range must be a multiple of %d, and %llu is not",
                        LGV_UNIT, NUMBER(first));
    if (count < 1 || first >= paths || count > paths - first)
        return lgv_fail(err, LGV_BAD_INPUT, "there are no %llu paths from number %llu on: paths = %llu", NUMBER(count),
                        NUMBER(first), NUMBER(paths));
    if (count % LGV_UNIT && first + count != paths)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "a range has a multiple of %d paths, and %llu is none, or it ends with the last path",
                        LGV_UNIT, NUMBER(count));
    enum lgv_status status = not_stopped(e->collected, "the last range", err);
    return status ? status : not_twice(e, (struct lgv_range){first, first + count}, err);
}

/* What has been run since: units that are complete become ranges, the others are on their way.  False: no memory. */
static bool note_units(struct lgv_collection *c, const struct lgv_plan *part, struct lgv_run_report *report,
                       uint64_t paths) {
    struct lgv_collection was = {.suspended = c->suspended, .nsuspended = c->nsuspended};
    bool ok = true;
    c->suspended = NULL;
    c->nsuspended = c->suspended_room = 0;
    for (size_t i = 0; i < report->nsuspended; i++) {
        bool ended = lgv_suspended_step(&report->suspended[i]) == part->steps;
        ok = (ended ? lgv_collection_ended : lgv_collection_suspend)(c, report->suspended[i]) && ok;
    }
    report->nsuspended = 0;
    size_t s = 0;
    for (uint64_t from = part->first_unit, unit = from; ok && unit <= report->next_unit; unit++) {
        while (s < c->nsuspended && c->suspended[s].unit < unit) s++;
        bool ends = unit == report->next_unit || (s < c->nsuspended && c->suspended[s].unit == unit);
        if (!ends) continue;
        struct lgv_range done = {from * LGV_UNIT, unit ? lgv_unit_range(unit - 1, paths).end : 0};
        if (from < unit) ok = lgv_ranges_add(c, done);
        from = unit + 1;
    }
    for (size_t i = 0, k = 0; i < was.nsuspended; i++) {
        while (k < c->nsuspended && c->suspended[k].unit < was.suspended[i].unit) k++;
        bool still = k < c->nsuspended && c->suspended[k].unit == was.suspended[i].unit;
        if (!still) ok = ok && lgv_ranges_add(c, lgv_unit_range(was.suspended[i].unit, paths));
    }
    lgv_suspended_free(was.suspended, was.nsuspended);
    free(was.suspended);
    return ok;
}

/* The paths of a range, and the units on their way if these are asked for. */
static enum lgv_status run_range(struct lgv_engine *e, struct lgv_range r, bool resume, struct lgv_error *err) {
    struct lgv_collection *c = e->collected;
    struct lgv_plan part = e->layout->plan;
    struct lgv_run_report report;
    part.first_unit = (r.first + LGV_UNIT - 1) / LGV_UNIT; /* an empty range begins behind the last path */
    part.end_unit = (r.end + LGV_UNIT - 1) / LGV_UNIT;
    part.suspend = lgv_layout_suspends(e->layout);
    part.ends = part.suspend && e->layout->settings.extendable;
    part.resume = resume ? c->suspended : NULL;
    part.nresume = resume ? c->nsuspended : 0;
    struct lgv_record *record;
    enum lgv_status status = lgv_engine_recorder(e, &part, &record, err), stored = LGV_OK;
    if (part.recording && lgv_peers_any(status != LGV_OK)) return status ? status : lgv_fail_memory(err);
    status = lgv_ensemble_run(&part, c->statistics.list, LGV_COLLECTORS, e->progress, e->user, &report, err);
    if (record) stored = lgv_record_close(record, err);
    if (part.recording && lgv_peers_any(stored != LGV_OK)) /* by one of them: then nobody has seen these paths */
        status = stored ? stored : lgv_fail(err, LGV_CANNOT_RUN, "another process could not write what it recorded");
    bool valid = status == LGV_OK || status == LGV_INTERRUPTED;
    if (valid) lgv_report_add(&c->report, &report, snapshots(e));
    if (valid && !resume) /* those stay as they are */
        for (size_t i = 0; i < c->nsuspended && valid; i++) {
            struct lgv_suspended s;
            valid = lgv_suspended_copy(&c->suspended[i], &s) &&
                    lgv_grow(&report.suspended, &report.suspended_room, report.nsuspended + 1, sizeof s);
            if (valid) report.suspended[report.nsuspended++] = s;
        }
    if (valid && !note_units(c, &part, &report, e->layout->settings.paths)) valid = false;
    if (!valid && (status == LGV_OK || status == LGV_INTERRUPTED)) status = lgv_fail_memory(err);
    lgv_suspended_free(report.suspended, report.nsuspended);
    free(report.suspended);
    free(report.snapshot);
    if (!valid) lgv_engine_clear(e);
    return status;
}

enum lgv_status lgv_engine_run(struct lgv_engine *e, uint64_t first, uint64_t count, struct lgv_error *err) {
    if (!e) return lgv_fail(err, LGV_BAD_INPUT, "no engine");
    enum lgv_status status = lgv_engine_ready(e, err);
    if (!status) status = check_range(e, first, count, err);
    if (status) return status;
    if (!lgv_engine_collecting(e)) return lgv_fail_memory(err);
    return run_range(e, (struct lgv_range){first, first + count}, false, err);
}

enum lgv_status lgv_engine_continue(struct lgv_engine *e, struct lgv_error *err) {
    if (!e) return lgv_fail(err, LGV_BAD_INPUT, "no engine");
    enum lgv_status status = lgv_engine_ready(e, err);
    if (!status) status = not_stopped(e->collected, "the last range", err);
    if (status) return status;
    if (!lgv_engine_collecting(e)) return lgv_fail_memory(err);
    const uint64_t paths = e->layout->settings.paths;
    struct lgv_range gap;
    while (!status && (lgv_collection_gap(e->collected, paths, &gap) || e->collected->nsuspended)) {
        if (gap.first >= gap.end) gap = (struct lgv_range){paths, paths};
        status = run_range(e, gap, true, err);
    }
    return status;
}

/* ---- merging ---- */

enum lgv_status lgv_engine_absorb(struct lgv_engine *e, const struct lgv_collection *c, const char *whose,
                                  struct lgv_error *err) {
    enum lgv_status status = not_stopped(e->collected, "the last range", err);
    if (!status) status = not_stopped(c, whose, err);
    if (!status) status = within(c, e->layout->settings.paths, whose, err);
    for (size_t i = 0; !status && i < c->nranges; i++) status = not_twice(e, c->range[i], err);
    for (size_t i = 0; !status && i < c->nsuspended; i++)
        status = not_twice(e, lgv_unit_range(c->suspended[i].unit, e->layout->settings.paths), err);
    if (status) return status;
    if (lgv_engine_collecting(e) && lgv_collection_merge(e->collected, c, snapshots(e))) return LGV_OK;
    lgv_engine_clear(e); /* it is neither the old sum nor the new one */
    return lgv_fail_memory(err);
}

enum lgv_status lgv_engine_merge(struct lgv_engine *e, struct lgv_engine *other, struct lgv_error *err) {
    if (!e || !other) return lgv_fail(err, LGV_BAD_INPUT, "no engine");
    enum lgv_status status = lgv_engine_ready(e, err);
    if (!status) status = lgv_engine_ready(other, err);
    if (!status) status = lgv_engine_agree(e, other->description, "the other engine", err);
    return status || !other->collected ? status : lgv_engine_absorb(e, other->collected, "the other engine", err);
}

/* ---- finishing ---- */

static enum lgv_status finish(struct lgv_engine *e, struct lgv_collection *c, struct lgv_result *out,
                              struct lgv_error *err) {
    struct lgv_ran ran = {.model = e->model,
                          .settings = &e->layout->settings,
                          .plan = &e->layout->plan,
                          .report = &c->report,
                          .chosen = e->chosen};
    struct lgv_plan plan = e->layout->plan;
    plan.suspend = true;
    c->report.stopped = c->report.stopped || c->nsuspended; /* no certificate before the end */
    if (c->nsuspended && !lgv_ensemble_partly(&plan, c->statistics.list, LGV_COLLECTORS, c->suspended, c->nsuspended,
                                              &c->report))
        return lgv_fail_memory(err);
    return lgv_statistics_finish(&c->statistics, &ran, e->progress, e->user, out, err);
}

/* On a copy: paths may be added afterwards. */
enum lgv_status lgv_result_status(const struct lgv_result *r, enum lgv_status status, struct lgv_error *err) {
    if (status == LGV_FAILED_PATHS)
        return lgv_fail(err, status, "%llu of %llu paths failed", (unsigned long long)r->failed,
                        (unsigned long long)r->paths);
    if (status == LGV_INTERRUPTED)
        return lgv_fail(err, status, "the ensemble is not complete: %llu of %llu paths were run to the end",
                        (unsigned long long)r->paths_done, (unsigned long long)r->paths);
    return status;
}

enum lgv_status lgv_engine_finish(struct lgv_engine *e, struct lgv_result **out, struct lgv_error *err) {
    struct lgv_collection copy;
    if (out) *out = NULL;
    if (!e || !out) return lgv_fail(err, LGV_BAD_INPUT, "no engine, or no place for the result");
    enum lgv_status status = lgv_engine_ready(e, err);
    if (status) return status;
    if (!e->collected) return lgv_fail(err, LGV_BAD_INPUT, "no paths have been run");
    struct lgv_result *r = lgv_new(1, sizeof *r);
    bool begun = r && lgv_collection_begin(&copy, e->layout);
    if (begun && lgv_collection_merge(&copy, e->collected, snapshots(e)))
        status = finish(e, &copy, r, err);
    else
        status = lgv_fail_memory(err);
    if (begun) lgv_collection_end(&copy);
    if (status == LGV_BAD_INPUT || status == LGV_CANNOT_RUN)
        free(r);
    else
        *out = r;
    return *out ? lgv_result_status(*out, status, err) : status;
}

enum lgv_status lgv_engine_end(struct lgv_engine *e, struct lgv_result *out, struct lgv_error *err) {
    *out = (struct lgv_result){0};
    enum lgv_status status = lgv_engine_ready(e, err);
    if (!status && !e->collected) status = lgv_fail(err, LGV_BAD_INPUT, "no paths have been run");
    if (!status) status = finish(e, e->collected, out, err);
    if (e->built) e->kernel.compile_seconds = 0; /* the next result did not take them */
    lgv_engine_clear(e);
    return status;
}

enum lgv_status lgv_engine_whole(struct lgv_engine *e, struct lgv_result *out, struct lgv_error *err) {
    *out = (struct lgv_result){0};
    lgv_engine_clear(e);
    enum lgv_status status = lgv_engine_aim(e, err);
    for (bool more = true; !status && more;) {
        status = lgv_engine_continue(e, err);
        if (!status) status = lgv_engine_grow(e, &more, err);
    }
    if (status == LGV_OK || status == LGV_INTERRUPTED) return lgv_engine_end(e, out, err);
    lgv_engine_clear(e);
    return status;
}

bool lgv_engine_suspends(const struct lgv_engine *e) {
    return lgv_layout_suspends(e->layout) && e->model->text && !e->layout->settings.increments;
}

bool lgv_engine_extendable(const struct lgv_engine *e) {
    return e->layout->settings.extendable;
}

double lgv_engine_path_steps(const struct lgv_engine *e) {
    return (double)e->layout->plan.steps * (double)e->layout->settings.paths;
}

double lgv_engine_bytes(const struct lgv_engine *e) {
    return lgv_layout_bytes(e->layout);
}

uint64_t lgv_engine_paths(const struct lgv_engine *e) {
    return e->layout ? e->layout->settings.paths : e->settings.paths;
}

struct lgv_model *lgv_engine_model(const struct lgv_engine *e) {
    return e->model;
}

double lgv_engine_step(const struct lgv_engine *e) {
    return e->layout ? e->layout->plan.dt : e->settings.step;
}

double lgv_engine_share(const struct lgv_engine *e) {
    double sum = 0, paths = (double)lgv_engine_paths(e);
    for (size_t i = 0; e->collected && i < e->collected->nranges; i++)
        sum += (double)(e->collected->range[i].end - e->collected->range[i].first);
    return paths > 0 ? sum / paths : 0;
}

enum lgv_status lgv_engine_with(struct lgv_model *m, const struct lgv_settings *settings, const char *keep_source,
                                struct lgv_engine **out, struct lgv_error *err) {
    struct lgv_engine *e = *out = lgv_new(1, sizeof *e);
    if (!e) return lgv_fail_memory(err);
    e->model = m;
    e->settings = *settings;
    if (!keep_source || (e->keep_source = lgv_copy(keep_source))) return LGV_OK;
    lgv_engine_free(e);
    *out = NULL;
    return lgv_fail_memory(err);
}

bool lgv_engine_missing(const struct lgv_engine *e, uint64_t *first, uint64_t *end) {
    const struct lgv_collection *c = e->collected;
    size_t after = c && c->nranges && c->range[0].first == 0; /* ranges that touch are one */
    *first = after ? c->range[0].end : 0;
    *end = c && c->nranges > after ? c->range[after].first : lgv_engine_paths(e);
    return *first < *end;
}

enum lgv_status lgv_engine_once(struct lgv_model *m, const struct lgv_settings *settings, const char *keep_source,
                                lgv_progress *progress, void *user, struct lgv_result *out, struct lgv_error *err) {
    struct lgv_engine *e;
    *out = (struct lgv_result){0};
    enum lgv_status status = lgv_engine_with(m, settings, keep_source, &e, err);
    if (status) return status;
    lgv_engine_on_progress(e, progress, user);
    status = lgv_engine_whole(e, out, err);
    lgv_engine_free(e);
    return status;
}
