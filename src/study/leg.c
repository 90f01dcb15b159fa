/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An ensemble of a study.  Values of single paths are stored by path number and added later in that order; sums along
 * time are added per group in path order and merged in group order: the same bits for any number of threads.
 *
 * Control variate: with n pairs (f, M) and E[M] = 0 the estimate is mean(f) - b mean(M), b = cov(f, M) / var(M); its
 * variance is that of f times 1 - corr(f, M)^2.  The b of the same sample makes a bias of order 1/n only. */
#include "study/leg.h"
#include <math.h>
#include <stdlib.h>

/* ---- sums ---- */

void lgv_pair_add(struct lgv_pair_sums *s, double f, double m) {
    if (s->n <= 0) s->shift = f;
    double d = f - s->shift;
    s->n += 1;
    s->f += d;
    s->m += m;
    s->ff += d * d;
    s->fm += d * m;
    s->mm += m * m;
}

static void merge(struct lgv_pair_sums *a, const struct lgv_pair_sums *b) {
    if (b->n <= 0) return;
    if (a->n <= 0) {
        *a = *b;
        return;
    }
    double move = b->shift - a->shift;
    a->ff += b->ff + 2 * move * b->f + move * move * b->n;
    a->fm += b->fm + move * b->m;
    a->f += b->f + move * b->n;
    a->m += b->m;
    a->mm += b->mm;
    a->n += b->n;
}

struct lgv_pair_sums lgv_leg_sums(const struct lgv_leg *leg, size_t time, size_t series) {
    struct lgv_pair_sums total = {0};
    for (unsigned g = 0; g < LGV_GROUPS; g++)
        if (leg->sum[g]) merge(&total, &leg->sum[g][time * leg->nseries + series]);
    return total;
}

struct lgv_pair_estimate lgv_pair_estimate(const struct lgv_pair_sums *s) {
    double n = s->n;
    struct lgv_pair_estimate e = {NAN, NAN, NAN, NAN, 0, 1};
    if (n < 1) return e;
    e.mean = e.plain = s->shift + s->f / n;
    if (n < 4) return e;
    double ff = s->ff - s->f * s->f / n, mm = s->mm - s->m * s->m / n, fm = s->fm - s->f * s->m / n;
    if (ff < 0) ff = 0; /* round-off; what overflowed stays NaN */
    e.err = e.plain_err = sqrt(ff / (n - 1) / n);
    if (!(mm > 1e-24 * fmax(s->mm, 1e-280)) || !(ff > 0)) return e;
    double rest = fmax(0, ff - fm * fm / mm);
    e.factor = fm / mm;
    e.left = rest / ff;
    e.mean = e.plain - e.factor * s->m / n;
    e.err = sqrt(rest / (n - 2) / n);
    return e;
}

/* ---- blocks ---- */

static size_t lifetime(const struct lgv_leg *leg, const struct lgv_block_result *b, unsigned lane) {
    size_t n = 0;
    if (!b->fail[lane]) return b->ntimes;
    while (n < b->ntimes && leg->time_step[n] <= b->fail_step[lane]) n++;
    return b->fail[lane] == LGV_FAIL_START ? 0 : n;
}

static void add_lane(struct lgv_leg *leg, const struct lgv_block_result *b, unsigned lane) {
    size_t watched = leg->kernel->watch.count, controls = leg->kernel->watch.controls, alive = lifetime(leg, b, lane);
    uint64_t path = b->path + lane;
    double *final = leg->final + path * leg->ncolumns, *start = leg->start + path * leg->ncolumns;
    for (size_t t = 0; t < alive; t++) {
        const double *row = b->value + t * watched * b->lanes + lane;
        for (size_t k = 0; k < leg->nseries; k++) {
            size_t o = leg->column[k];
            lgv_pair_add(&leg->sum[b->group][t * leg->nseries + k], row[o * b->lanes],
                         controls ? row[(controls + o) * b->lanes] : 0);
        }
        double change = fabs(row[0] - b->value[lane]); /* observable 0 is the energy */
        if (change > leg->drift[path]) leg->drift[path] = change;
    }
    bool whole = alive == leg->ntimes;
    if (b->fail[lane]) {
#pragma omp atomic
        leg->failed++;
    }
    for (size_t k = 0; k < leg->ncolumns; k++) {
        const double *last = b->value + (leg->ntimes - 1) * watched * b->lanes + lane;
        size_t o = leg->column[k];
        final[k] = whole ? last[o * b->lanes] : (double)NAN;
        start[k] = alive ? b->value[o * b->lanes + lane] : (double)NAN;
        if (leg->control)
            leg->control[path * leg->ncolumns + k] = whole ? last[(controls + o) * b->lanes] : (double)NAN;
    }
}

static bool add_block(void *user, const struct lgv_block_result *b) {
    struct lgv_leg *leg = user;
    if (!leg->sum[b->group] && !(leg->sum[b->group] = lgv_new(leg->ntimes * leg->nseries + 1, sizeof **leg->sum)))
        return false;
    if (!b->complete) return true; /* the run was stopped: the leg is not used */
    for (unsigned lane = 0; lane < b->used; lane++) add_lane(leg, b, lane);
    return true;
}

/* ---- the run ---- */

enum lgv_status lgv_leg_run(struct lgv_leg *leg, lgv_progress *progress, void *user, struct lgv_error *err) {
    if (lgv_clip_check(leg->kernel, leg->step, leg->truncate, err)) return LGV_BAD_INPUT;
    size_t values = (size_t)leg->paths * leg->ncolumns;
    leg->final = lgv_new(values, sizeof *leg->final);
    leg->start = lgv_new(values, sizeof *leg->start);
    leg->drift = lgv_new((size_t)leg->paths, sizeof *leg->drift);
    leg->control = leg->kernel->watch.controls ? lgv_new(values, sizeof *leg->control) : NULL;
    if (!leg->final || !leg->start || !leg->drift || (leg->kernel->watch.controls && !leg->control))
        return lgv_fail_memory(err);
    struct lgv_plan plan = {.kernel = leg->kernel,
                            .t0 = leg->t0,
                            .dt = leg->step,
                            .steps = leg->steps,
                            .paths = leg->paths,
                            .seed = leg->seed,
                            .coarsen = leg->coarsen,
                            .ntimes = leg->ntimes,
                            .time_step = leg->time_step,
                            .threads = leg->threads,
                            .clip = lgv_clip_bound(leg->kernel, leg->step, leg->truncate)};
    enum lgv_status status = lgv_ensemble_run(&plan, add_block, leg, progress, user, &leg->report, err);
    free(leg->report.snapshot);
    leg->report.snapshot = NULL;
    leg->done = status == LGV_OK;
    return status;
}

void lgv_leg_free(struct lgv_leg *leg) {
    for (unsigned g = 0; g < LGV_GROUPS; g++) free(leg->sum[g]);
    free(leg->time_step);
    free(leg->final);
    free(leg->start);
    free(leg->control);
    free(leg->drift);
    *leg = (struct lgv_leg){0};
}

uint64_t *lgv_leg_times(uint64_t steps, uint64_t every, uint64_t outputs, size_t *count) {
    uint64_t units = steps / every;
    if (outputs > units) outputs = units;
    uint64_t *at = lgv_new((size_t)outputs + 1, sizeof *at);
    if (!at) return NULL;
    for (uint64_t i = 0; i <= outputs; i++)
        at[i] = every * (uint64_t)((long double)units * (long double)i / (long double)outputs);
    at[outputs] = steps;
    *count = (size_t)outputs + 1;
    return at;
}

bool lgv_common_step(const double *step, size_t count, double *base, uint64_t *multiple) {
    double least = step[0];
    for (size_t i = 1; i < count; i++) least = fmin(least, step[i]);
    for (int k = 1; k <= 1024; k++) {
        bool all = true;
        *base = least / k;
        for (size_t i = 0; all && i < count; i++) {
            double ratio = step[i] / *base, whole = floor(ratio + 0.5);
            all = fabs(ratio - whole) <= 1e-9 * whole && whole < 1e15;
            multiple[i] = (uint64_t)whole;
        }
        if (all) return true;
    }
    return false;
}
