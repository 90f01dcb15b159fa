/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The statistics of an ensemble as one object: the list of collectors that a run fills, parts merge into and a file
 * holds, and struct lgv_result made from them. */
#include "stats/collect.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the collectors ---- */

static const struct lgv_collected *const collected[LGV_COLLECTORS] = {&lgv_moments, &lgv_changes, &lgv_spread,
                                                                      &lgv_endings, &lgv_kept,    &lgv_failures,
                                                                      &lgv_events,  &lgv_along,   &lgv_extremes,
                                                                      &lgv_density, &lgv_sections, &lgv_sketch};

bool lgv_statistics_begin(struct lgv_statistics *s, const struct lgv_shape *shape) {
    *s = (struct lgv_statistics){.shape = *shape};
    for (size_t i = 0; i < LGV_COLLECTORS; i++) {
        s->list[i] = (struct lgv_collecting){&collected[i]->collector, &s->shape, NULL};
        if (!(s->list[i].object = collected[i]->collector.create(&s->shape))) {
            lgv_statistics_end(s);
            return false;
        }
    }
    return true;
}

void lgv_statistics_end(struct lgv_statistics *s) {
    for (size_t i = 0; i < LGV_COLLECTORS; i++)
        if (s->list[i].object) collected[i]->collector.free(s->list[i].object);
    *s = (struct lgv_statistics){0};
}

bool lgv_statistics_merge(struct lgv_statistics *s, const struct lgv_statistics *other) {
    bool ok = true;
    for (size_t i = 0; ok && i < LGV_COLLECTORS; i++)
        ok = collected[i]->collector.merge(s->list[i].object, other->list[i].object);
    return ok;
}

void lgv_statistics_save(const struct lgv_statistics *s, struct lgv_text *out) {
    lgv_collecting_save(s->list, LGV_COLLECTORS, out);
}

bool lgv_statistics_load(struct lgv_statistics *s, struct lgv_bytes *from) {
    return lgv_collecting_load(s->list, LGV_COLLECTORS, from);
}

double lgv_statistics_bytes(const struct lgv_shape *shape, double threads) {
    double bytes = 0;
    for (size_t i = 0; i < LGV_COLLECTORS; i++)
        bytes += collected[i]->bytes(shape) * (collected[i]->collector.shared ? 1 : 1 + threads);
    return bytes;
}

/* ---- what was run ---- */

static char *copied(const char *text, bool *ok) {
    char *copy = text ? lgv_copy(text) : NULL;
    *ok &= copy || !text;
    return copy;
}

static bool settings_text(const struct lgv_settings *s, const struct lgv_model *m, struct lgv_result *r) {
    r->setting = lgv_new(lgv_run_option_count, sizeof *r->setting);
    r->parameter = lgv_new(m->npar + 1, sizeof *r->parameter);
    bool ok = r->setting && r->parameter;
    if (!ok) return false;
    for (size_t i = 0; i < lgv_run_option_count; i++) {
        char value[LGV_LIST_SIZE];
        lgv_option_get(&lgv_run_options[i], s, value, sizeof value);
        r->setting[i] = (struct lgv_setting){copied(lgv_run_options[i].name, &ok), copied(value, &ok)};
        r->nsettings++;
    }
    for (size_t i = 0; i < m->npar; i++) {
        char value[64];
        if (m->graph && lgv_expr_drawn(m->graph, (int)i) >= 0) continue; /* observed: every path has its own */
        snprintf(value, sizeof value, "%.17g", m->par[i]);
        r->parameter[r->nparameters] = (struct lgv_setting){copied(m->par_name[i], &ok), copied(value, &ok)};
        r->nparameters++;
    }
    return ok;
}

static bool describe(const struct lgv_ran *ran, struct lgv_result *r) {
    const struct lgv_settings *s = ran->settings;
    const struct lgv_model *m = ran->model;
    const struct lgv_kernel *k = ran->plan->kernel;
    char date[32];
    bool ok = true;
    time_t t = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
    r->model_name = copied(m->name, &ok);
    r->model_text = copied(m->text ? m->text : "(a model of C functions)", &ok);
    r->model_file = copied(m->file, &ok);
    r->increments_file = copied(s->increments ? s->increments->file : NULL, &ok);
    r->method = copied(k->method->name, &ok);
    r->method_doc = copied(k->method->doc, &ok);
    r->method_reason = copied(ran->chosen, &ok);
    r->version = copied(LGV_VERSION, &ok);
    r->compiler = copied(k->compiler, &ok);
    r->date = copied(date, &ok);
    r->dof = k->np;
    r->nnoise = k->nnoise;
    r->nconstraints = m->nconstraints;
    r->t0 = s->start;
    r->paths = s->paths;
    r->seed = s->seed;
    r->lanes = k->entry->lanes;
    r->compile_seconds = k->compile_seconds;
    r->series = lgv_new(k->watch.count, sizeof *r->series);
    if (!r->series || !settings_text(s, m, r)) return false;
    size_t symmetry = 0;
    for (size_t i = 0; i < k->watch.count; i++) {
        if (k->watch.item[i].kind == LGV_OBSERVABLE_MOMENTUM && symmetry < LGV_MAX_SYMMETRIES) {
            r->series[i].claim = lgv_method_keeps(k->method, &k->structure, symmetry);
            if (!k->structure.symmetry[symmetry].invariant)
                r->series[i].claim = k->structure.symmetry[symmetry].unknown ? -2 : -1;
            symmetry++;
        }
        r->series[i].name = copied(k->watch.item[i].name, &ok);
        r->series[i].formula = copied(k->watch.item[i].text, &ok);
        r->series[i].kind = k->watch.item[i].kind;
        r->series[i].period = k->watch.item[i].period;
        r->series[i].from = k->watch.item[i].from;
        r->nseries++;
    }
    return ok;
}

/* ---- the result ---- */

static bool times(const struct lgv_plan *plan, struct lgv_result *r) {
    r->ntimes = plan->ntimes;
    r->ndense = plan->ndense;
    r->time = lgv_new(r->ntimes, sizeof *r->time);
    r->dense_time = lgv_new(r->ndense, sizeof *r->dense_time);
    if (!r->time || !r->dense_time) return false;
    for (size_t i = 0; i < r->ntimes; i++) r->time[i] = plan->t0 + (double)plan->time_step[i] * plan->dt;
    for (size_t i = 0; i < r->ndense; i++) r->dense_time[i] = plan->t0 + (double)plan->dense_step[i] * plan->dt;
    return true;
}

static enum lgv_status fill(struct lgv_statistics *s, const struct lgv_ran *ran, lgv_progress *progress, void *user,
                            struct lgv_result *r, struct lgv_error *err) {
    double begin = lgv_seconds();
    const struct lgv_plan *plan = ran->plan;
    const struct lgv_run_report *report = ran->report;
    if (!describe(ran, r) || !times(plan, r)) return lgv_fail_memory(err);
    r->steps = plan->steps;
    r->step = plan->dt;
    r->until = plan->t0 + (double)plan->steps * plan->dt;
    for (size_t i = 0, k = 0; i < r->nseries; i++) {
        struct lgv_series *x = &r->series[i];
        if (x->kind == LGV_OBSERVABLE_MOMENTUM)
            x->scale = lgv_certificate_momentum(ran->model, &ran->model->symmetry[k++], plan, report);
        if (x->kind == LGV_OBSERVABLE_ENERGY) x->scale = lgv_certificate_energy(ran->model, plan, report);
    }
    r->threads = report->threads;
    r->paths_seconds = report->seconds;
    r->newton_iterations = report->iterations;
    r->truncation = plan->clip > 0 ? plan->clip : 0;
    r->weak = plan->clip < 0;
    r->metropolis = plan->kernel->method->metropolis;
    r->truncated = r->metropolis ? 0 : report->clipped;
    if (r->metropolis && report->path_steps) /* counted in the same place: there is no noise that could be cut */
        r->acceptance = 1 - (double)report->clipped / (double)report->path_steps;
    if (r->metropolis && report->path_steps) r->astray = (double)report->astray / (double)report->path_steps;
    r->rescue = plan->rescue;
    r->rescued = plan->rescue ? report->astray : 0;
    r->halvings = plan->rescue ? report->deepest : 0;
    for (size_t i = 0; i < LGV_COLLECTORS; i++)
        if (!collected[i]->finish(s->list[i].object, r)) return lgv_fail_memory(err);
    r->interrupted = report->stopped || r->paths_done < r->paths;
    if (ran->settings->keep_increments &&
        lgv_increments_of(plan, s->shape.kept, s->shape.nkept, &r->increment, &r->integral, err) != LGV_OK)
        return LGV_CANNOT_RUN;
    for (size_t i = 0; i < r->ntimes; i++)
        if (r->alive[i]) r->steps_done = plan->time_step[i];
    uint64_t tallied = plan->tally_units * LGV_UNIT;
    if (plan->kernel->watch.tallies) r->tallied_paths = tallied < plan->paths ? tallied : plan->paths;
    lgv_certificate_make(ran, progress, user, r);
    r->seconds = report->seconds + (lgv_seconds() - begin);
    r->path_steps_per_second = r->seconds > 0 ? (double)report->path_steps / r->seconds : 0;
    if (!lgv_verdicts_make(r)) return lgv_fail_memory(err);
    return r->interrupted ? LGV_INTERRUPTED : r->failed ? LGV_FAILED_PATHS : LGV_OK;
}

enum lgv_status lgv_statistics_finish(struct lgv_statistics *s, const struct lgv_ran *ran, lgv_progress *progress,
                                      void *user, struct lgv_result *out, struct lgv_error *err) {
    *out = (struct lgv_result){0};
    enum lgv_status status = fill(s, ran, progress, user, out, err);
    if (status == LGV_BAD_INPUT || status == LGV_CANNOT_RUN) lgv_result_clear(out);
    return status;
}
