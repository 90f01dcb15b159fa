/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A range of steps that all methods try: what the energy does and how many paths survive, beside the largest step that
 * the frequencies at the start allow (method/stability.c).  Steps form a geometric sequence; each run ends at `until`
 * and has noise of its own, because steps that are no multiples of each other have no common increments.
 *
 * Without noise a path counts as lost when its energy has changed by more than |H(0)|: on the way to overflow numbers
 * stay finite for a long time. */
#include "study/compare_parts.h"
#include <math.h>
#include <stdlib.h>

enum lgv_status lgv_compare_steps_plan(struct lgv_comparing *x) {
    struct lgv_comparison *c = x->out;
    const struct lgv_compare_options *o = x->o;
    double span = x->s->until - x->s->start, most = 0;
    if (!(span > 0))
        return lgv_fail(x->err, LGV_BAD_INPUT, "until = %g must lie after start = %g", x->s->until, x->s->start);
    if (span / o->from > LGV_MOST_STEPS) return lgv_fail(x->err, LGV_BAD_INPUT, "the run would take too many steps");
    c->trial_step = lgv_new(o->trials, sizeof *c->trial_step);
    if (!c->trial_step) return lgv_fail_memory(x->err);
    for (uint64_t k = 0; k < o->trials; k++) {
        double part = (double)k / (double)(o->trials - 1), step;
        double steps = (double)lgv_whole_steps(span, o->from * pow(o->to / o->from, part), &step);
        if (c->ntrials && step == c->trial_step[c->ntrials - 1]) continue; /* long ones have to divide the time */
        c->trial_step[c->ntrials++] = step;
        most += steps;
    }
    c->until = x->s->until;
    c->shorter = 1;
    c->conservative = !x->m->nnoise && !x->m->bath.kind;
    c->chosen = o->chosen;
    x->work = most * (double)o->count * (double)x->s->paths;
    return LGV_OK;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The upper one of two in the middle. */
static double median(double *x, uint64_t n) {
    qsort(x, (size_t)n, sizeof *x, by_value);
    return x[n / 2];
}

static void judge(const struct lgv_comparing *x, struct lgv_leg *leg, struct lgv_trial *t) {
    t->failed = leg->failed;
    for (uint64_t p = 0; p < leg->paths; p++) {
        const bool failed = !isfinite(leg->final[p * leg->ncolumns]), finite = isfinite(leg->drift[p]);
        if (!failed && x->out->conservative && leg->energy[p] != 0 && !(leg->drift[p] <= fabs(leg->energy[p])))
            t->lost++;
        if (failed || !finite) leg->drift[p] = INFINITY;
        leg->energy[p] = fabs(leg->energy[p]);
    }
    t->energy = median(leg->drift, leg->paths);
    t->most = leg->drift[leg->paths - 1];
    t->seconds = leg->report.seconds;
    x->out->energy = median(leg->energy, leg->paths);
}

static enum lgv_status try_step(struct lgv_comparing *x, size_t method, double step, struct lgv_trial *t) {
    static const size_t energy = 0; /* observable 0 */
    double taken;
    struct lgv_leg leg = {.kernel = &x->kernel[method],
                          .t0 = x->s->start,
                          .coarsen = 1,
                          .steps = lgv_whole_steps(x->s->until - x->s->start, step, &taken),
                          .paths = x->s->paths,
                          .seed = x->s->seed,
                          .truncate = x->s->truncate,
                          .threads = (unsigned)x->s->threads,
                          .ncolumns = 1,
                          .column = &energy};
    leg.step = taken;
    leg.time_step = lgv_leg_times(leg.steps, 1, x->s->outputs, &leg.ntimes);
    if (!leg.time_step) return lgv_fail_memory(x->err);
    leg.averages_from = leg.ntimes;
    x->share = (double)leg.steps * (double)leg.paths;
    if (lgv_peers_any(lgv_compare_progress(x, 0))) {
        lgv_leg_free(&leg);
        return LGV_INTERRUPTED;
    }
    enum lgv_status status = lgv_leg_run(&leg, lgv_compare_progress, x, x->err);
    x->done += x->share;
    if (!status) judge(x, &leg, t);
    if (leg.report.threads) x->out->threads = leg.report.threads;
    lgv_leg_free(&leg);
    return status;
}

/* Also what springs in place of constraints are known to stand. */
static double stable_up_to(struct lgv_comparing *x, const struct lgv_method *method,
                           const struct lgv_structure *structure) {
    struct lgv_stability s;
    double step = x->out->trial_step[0];
    lgv_method_stability(method, x->m, structure, step, LGV_STABILITY_QUICKLY, &s);
    double springs = s.penalty > 0 ? step * sqrt(LGV_PENALTY_LIMIT / s.penalty) : (double)INFINITY;
    return isnan(s.largest) ? s.largest : fmin(s.largest, springs);
}

enum lgv_status lgv_compare_steps(struct lgv_comparing *x) {
    struct lgv_comparison *c = x->out;
    struct lgv_structure structure;
    enum lgv_status status = lgv_model_structure(x->m, &structure, x->err);
    for (size_t i = 0; !status && i < c->count; i++) {
        struct lgv_compared *m = &c->method[i];
        m->stable = stable_up_to(x, x->o->contender[i].method, &structure);
        m->trial = lgv_new(c->ntrials, sizeof *m->trial);
        if (!m->trial) status = lgv_fail_memory(x->err);
        for (size_t k = 0; !status && k < c->ntrials; k++) {
            status = try_step(x, i, c->trial_step[k], &m->trial[k]);
            m->ntrials += !status;
        }
    }
    return status;
}
