/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A later end for a run: the units go on from where they are or have ended, and what is collected then has the bits of
 * a run that had this end from the beginning.  For that
 *
 *   - the end is a whole number of steps and of intervals between outputs away from the start, so that all times that
 *     were observed are output times of the longer run, too: there are more outputs, at the same distance;
 *   - kept paths are seen as often as before (keep_every);
 *   - units that have ended were kept with all they observed (`extendable`): sums over paths do not know any more which
 *     path had what. */
#include "engine/private.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Does every path that has been collected have its unit among those that ended? */
static bool ends_known(const struct lgv_collection *c, uint64_t paths) {
    uint64_t collected = 0, kept = 0;
    for (size_t i = 0; i < c->nranges; i++) collected += c->range[i].end - c->range[i].first;
    for (size_t i = 0; i < c->nended; i++) {
        struct lgv_range r = lgv_unit_range(c->ended[i].unit, paths);
        kept += r.end - r.first;
    }
    return kept == collected;
}

/* Outputs at the same distance up to the new end, and the other options that would follow from it. */
static enum lgv_status lengthen(const struct lgv_engine *e, const char *until, struct lgv_settings *s,
                                struct lgv_error *err) {
    const struct lgv_plan *p = &e->layout->plan;
    uint64_t interval = p->steps / (p->ntimes - 1);
    double step, was = e->layout->settings.until;
    char text[32];
    *s = e->settings;
    enum lgv_status status = lgv_settings_set(s, "until", until, err);
    if (status) return status;
    if (!(s->until > was))
        return lgv_fail(err, LGV_BAD_INPUT, "until = %g is not later than the end that the run has, %g", s->until, was);
    if (p->steps % (p->ntimes - 1))
        return lgv_fail(err, LGV_BAD_INPUT,
                        "the run has %zu outputs in %llu steps, which are not equally far apart: no longer run has the "
                        "same output times",
                        p->ntimes - 1, (unsigned long long)p->steps);
    uint64_t steps = lgv_whole_steps(s->until - s->start, p->dt, &step);
    if (step != p->dt || steps % interval) {
        double each = (double)interval * p->dt, n = floor((s->until - s->start) / each);
        return lgv_fail(err, LGV_BAD_INPUT,
                        "until = %g is not a whole number of intervals between outputs (%g) away from the start; "
                        "until = %.12g is",
                        s->until, each, s->start + each * n > was ? s->start + each * n : was + each);
    }
    snprintf(text, sizeof text, "%.17g", p->dt); /* where a step was made shorter to end at the old time */
    status = lgv_settings_set(s, "step", text, err);
    snprintf(text, sizeof text, "%llu", (unsigned long long)(steps / interval));
    if (!status) status = lgv_settings_set(s, "outputs", text, err);
    snprintf(text, sizeof text, "%llu", (unsigned long long)e->layout->every);
    return status || !e->layout->nkept ? status : lgv_settings_set(s, "keep_every", text, err);
}

/* The longer plan begins with the shorter one. */
static bool begins_with(const struct lgv_plan *a, const struct lgv_plan *b) {
    return a->dt == b->dt && a->t0 == b->t0 && a->ntimes >= b->ntimes && a->ndense >= b->ndense &&
           memcmp(a->time_step, b->time_step, b->ntimes * sizeof *b->time_step) == 0 &&
           (!b->ndense_units || memcmp(a->dense_step, b->dense_step, b->ndense * sizeof *b->dense_step) == 0);
}

/* States for the certificate, of times that both have. */
static void take_snapshots(struct lgv_engine *e, const struct lgv_layout *was, const struct lgv_collection *c) {
    const struct lgv_plan *p = &e->layout->plan;
    size_t n = LGV_UNIT * (e->kernel.nx + e->kernel.np);
    for (size_t i = 0; i < p->nsnapshots; i++)
        for (size_t k = 0; k < was->plan.nsnapshots; k++)
            if (p->snapshot[i] == was->snapshot[k])
                memcpy(e->collected->report.snapshot + i * n, c->report.snapshot + k * n, n * sizeof(double));
}

/* Each unit belongs to one of the two at any time, also when memory runs out. */
static bool move_units(struct lgv_suspended *list, size_t *count, struct lgv_collection *to) {
    bool ok = true;
    for (size_t i = 0; i < *count; i++) ok = lgv_collection_suspend(to, list[i]) && ok;
    *count = 0;
    return ok;
}

/* All units on their way again.  Their steps are counted when they end; iterations were counted step by step. */
static enum lgv_status take_units(struct lgv_engine *e, const struct lgv_layout *was, struct lgv_collection *c,
                                  struct lgv_error *err) {
    if (!begins_with(&e->layout->plan, &was->plan))
        return lgv_fail(err, LGV_BAD_INPUT, "the longer run would not have the output times of the shorter one");
    bool ok = lgv_engine_collecting(e);
    ok = ok && move_units(c->suspended, &c->nsuspended, e->collected);
    ok = ok && move_units(c->ended, &c->nended, e->collected);
    if (!ok) return lgv_fail_memory(err);
    take_snapshots(e, was, c);
    struct lgv_run_report *r = &e->collected->report;
    r->seconds = c->report.seconds;
    r->threads = c->report.threads;
    r->iterated = c->report.iterated;
    r->vec_steps = c->report.vec_steps;
    return LGV_OK;
}

enum lgv_status lgv_engine_extend(struct lgv_engine *e, const char *until, struct lgv_error *err) {
    struct lgv_settings s;
    if (!e || !until) return lgv_fail(err, LGV_BAD_INPUT, "no engine, or no time");
    enum lgv_status status = lgv_engine_ready(e, err);
    if (!status && !e->collected) status = lgv_fail(err, LGV_BAD_INPUT, "no paths have been run");
    if (!status && !(e->layout->settings.extendable && ends_known(e->collected, e->layout->settings.paths)))
        status = lgv_fail(err, LGV_BAD_INPUT,
                          "the run has not kept where its paths have ended: only one with extendable = yes can go on "
                          "to a later time");
    if (!status) status = lengthen(e, until, &s, err);
    if (status) return status;
    struct lgv_collection *c = e->collected;
    struct lgv_layout *was = e->layout;
    e->collected = NULL;
    e->layout = NULL;
    lgv_engine_unprepare(e);
    e->settings = s;
    status = lgv_engine_ready(e, err);
    if (!status) status = take_units(e, was, c, err);
    if (status) lgv_engine_clear(e);
    lgv_collection_end(c);
    free(c);
    lgv_layout_free(was);
    return status;
}
