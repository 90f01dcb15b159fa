/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ensemble: groups over threads, units of paths inside a group, blocks of lanes inside a unit.
 *
 * A block runs in chunks of steps.  After a chunk its state is checked; when a lane has become infinite or NaN the
 * chunk is repeated step by step from a copy, to find the step at which that happened.  Chunks do not change any
 * bit. */
#include "run/run.h"
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEAST_CLIP 6.0
#define CHUNK 1024 /* most steps between two looks at the stop flag and the state */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t rounded(size_t bytes) {
    return (bytes + 127) / 128 * 128;
}

double lgv_clip_bound(const struct lgv_kernel *k, double dt, double truncate) {
    bool explicit_step = lgv_kernel_explicit(k->method, &k->structure);
    /* (3.9) is about small dt, and dt has a unit: the automatic bound never cuts below LEAST_CLIP, one normal in 5e8. */
    double least = truncate < 0 ? LEAST_CLIP : 0;
    if (truncate < 0) truncate = explicit_step ? 0 : 4;
    if (!(truncate > 0)) return 0;
    return fmax(dt < 1 ? sqrt(2 * truncate * -log(dt)) : 0, least);
}

enum lgv_status lgv_clip_check(const struct lgv_kernel *k, double dt, double truncate, struct lgv_error *err) {
    if (!(truncate > 0) || dt < 1 || k->nnoise == 0) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT,
                    "truncate = %g cuts increments at sqrt(2 k dt |ln dt|), which is for steps below 1, and the step is "
                    "%g: choose a smaller step, a larger unit of time, truncate = 0 for no bound or -1 for the usual one",
                    truncate, dt);
}

bool lgv_block_create(const struct lgv_kernel *k, double t0, double dt, uint64_t seed, uint64_t coarsen,
                      struct lgv_bench_block *out) {
    size_t lanes = k->entry->lanes;
    size_t state = rounded(k->nstate * lanes * sizeof(double));
    size_t work = rounded((size_t)k->entry->work(&k->user));
    size_t small = rounded(lanes * sizeof(unsigned long long));
    char *memory = NULL;
    *out = (struct lgv_bench_block){0};
    if (posix_memalign((void **)&memory, 128, state + work + 4 * small)) return false;
    memset(memory, 0, state + 4 * small);
    out->memory = memory;
    out->path = (unsigned long long *)(void *)(memory + state);
    out->block = (struct lgv_block){.state = (double *)(void *)memory,
                                    .path = out->path,
                                    .seed = seed,
                                    .t0 = t0,
                                    .dt = dt,
                                    .coarsen = coarsen ? coarsen : 1,
                                    .par = k->par,
                                    .fail = (int *)(void *)(memory + state + small),
                                    .fail_step = (unsigned long long *)(void *)(memory + state + 2 * small),
                                    .clipped = (unsigned long long *)(void *)(memory + state + 3 * small),
                                    .work = (double *)(void *)(memory + state + 4 * small),
                                    .user = &k->user};
    return true;
}

void lgv_block_free(struct lgv_bench_block *b) {
    free(b->memory);
    *b = (struct lgv_bench_block){0};
}

struct job {
    const struct lgv_plan *plan;
    lgv_block_done *done;
    void *user;
    lgv_progress *progress;
    void *progress_user;
    struct lgv_run_report *report;
    atomic_int stop, no_memory;
    atomic_ullong path_steps, iterations, evaluations, block_steps, clipped;
    atomic_flag telling; /* guards told and the call */
    double told;         /* when progress was last reported */
    double total;
};

struct worker {
    struct lgv_bench_block b;
    double *value, *copy;
    uint64_t *fail_step;
    struct lgv_pace pace;
};

static bool worker_begin(struct worker *w, const struct lgv_plan *p) {
    size_t lanes = p->kernel->entry->lanes;
    *w = (struct worker){0};
    w->copy = lgv_new(p->kernel->nstate * lanes, sizeof *w->copy);
    w->fail_step = lgv_new(lanes, sizeof *w->fail_step);
    /* observe() writes whole vectors */
    if (posix_memalign((void **)&w->value, 128, (p->ntimes * p->kernel->watch.count * lanes + 16) * sizeof *w->value))
        w->value = NULL;
    return w->value && w->copy && w->fail_step && lgv_block_create(p->kernel, p->t0, p->dt, p->seed, p->coarsen, &w->b);
}

static void worker_end(struct worker *w) {
    lgv_block_free(&w->b);
    free(w->value);
    free(w->copy);
    free(w->fail_step);
}

/* Marks lanes whose state is not finite; true when there is a new one. */
static bool mark_broken(const struct lgv_plan *p, struct lgv_block *b, int reason, uint64_t step) {
    size_t lanes = p->kernel->entry->lanes, rows = 2 * p->kernel->nq;
    bool found = false;
    for (size_t i = 0; i < rows * lanes; i++) {
        size_t lane = i % lanes;
        if (isfinite(b->state[i]) || b->fail[lane]) continue;
        found = true;
        if (!reason) continue;
        b->fail[lane] = reason;
        b->fail_step[lane] = step;
    }
    return found;
}

static void advance(const struct lgv_plan *p, struct worker *w, uint64_t steps) {
    struct lgv_block *b = &w->b.block;
    size_t bytes = p->kernel->nstate * p->kernel->entry->lanes * sizeof(double);
    uint64_t first = b->step;
    memcpy(w->copy, b->state, bytes);
    p->kernel->entry->advance(b, steps);
    if (!mark_broken(p, b, 0, 0)) return;
    unsigned long long iterations = b->iterations, evaluations = b->evaluations, clipped[LGV_UNIT];
    size_t lanes = p->kernel->entry->lanes;
    memcpy(clipped, b->clipped, lanes * sizeof *clipped);
    memcpy(b->state, w->copy, bytes);
    b->step = first;
    for (uint64_t k = 0; k < steps; k++) {
        p->kernel->entry->advance(b, 1);
        mark_broken(p, b, LGV_FAIL_NONFINITE, b->step - 1);
    }
    b->iterations = iterations;
    b->evaluations = evaluations;
    memcpy(b->clipped, clipped, lanes * sizeof *clipped);
}

/* By whichever thread comes first: thread 0 may have run out of groups while others still work. */
static void tell(struct job *j) {
    if (!j->progress || atomic_flag_test_and_set(&j->telling)) return;
    double t = now();
    if (t - j->told >= 0.1) {
        j->told = t;
        double fraction = j->total > 0 ? (double)atomic_load(&j->path_steps) / j->total : 1;
        if (j->progress(j->progress_user, fraction < 1 ? fraction : 1)) atomic_store(&j->stop, 1);
    }
    atomic_flag_clear(&j->telling);
}

static void take_snapshot(struct job *j, const struct lgv_block *b, uint64_t path, unsigned used, size_t time) {
    const struct lgv_plan *p = j->plan;
    size_t n = 2 * p->kernel->nq, lanes = p->kernel->entry->lanes;
    for (size_t s = 0; s < p->nsnapshots; s++) {
        if (p->snapshot[s] != time) continue;
        for (unsigned l = 0; l < used; l++)
            for (size_t i = 0; i < n; i++)
                j->report->snapshot[(s * LGV_UNIT + path + l) * n + i] = b->fail[l] ? NAN : b->state[i * lanes + l];
    }
}

/* Returns the number of output times reached. */
static size_t run_block(struct job *j, struct worker *w, uint64_t path, unsigned used) {
    const struct lgv_plan *p = j->plan;
    const struct lgv_entry *entry = p->kernel->entry;
    struct lgv_block *b = &w->b.block;
    size_t lanes = entry->lanes, row = p->kernel->watch.count * lanes, time = 0;
    for (unsigned l = 0; l < lanes; l++) { /* idle lanes repeat the last path */
        w->b.path[l] = path + (l < used ? l : used - 1);
        b->fail[l] = 0;
        b->fail_step[l] = 0;
        b->clipped[l] = 0;
    }
    b->clip = p->clip;
    b->step = 0;
    entry->start(b);
    mark_broken(p, b, LGV_FAIL_START, 0);
    for (; time < p->ntimes; time++) {
        while (b->step < p->time_step[time]) {
            if (atomic_load(&j->stop)) return time;
            uint64_t n = lgv_pace_begin(&w->pace, p->time_step[time] - b->step, CHUNK);
            advance(p, w, n);
            lgv_pace_end(&w->pace);
            atomic_fetch_add(&j->path_steps, n * used);
            atomic_fetch_add(&j->block_steps, n);
            tell(j);
        }
        entry->observe(b, w->value + time * row);
        if (time == 0 && p->kernel->energy_known)
            for (unsigned l = 0; l < lanes; l++) /* row 0 is H */
                if (!isfinite(w->value[l]) && !b->fail[l]) b->fail[l] = LGV_FAIL_START;
        if (path < LGV_UNIT) take_snapshot(j, b, path, used, time);
    }
    return time;
}

static void run_group(struct job *j, struct worker *w, unsigned group) {
    const struct lgv_plan *p = j->plan;
    unsigned lanes = p->kernel->entry->lanes;
    uint64_t units = (p->paths + LGV_UNIT - 1) / LGV_UNIT;
    for (uint64_t unit = group; unit < units && !atomic_load(&j->stop); unit += LGV_GROUPS) {
        uint64_t end = (unit + 1) * LGV_UNIT < p->paths ? (unit + 1) * LGV_UNIT : p->paths;
        for (uint64_t path = unit * LGV_UNIT; path < end && !atomic_load(&j->stop); path += lanes) {
            unsigned used = end - path < lanes ? (unsigned)(end - path) : lanes;
            size_t times = run_block(j, w, path, used);
            for (unsigned l = 0; l < lanes; l++) w->fail_step[l] = w->b.block.fail_step[l];
            for (unsigned l = 0; l < used; l++) atomic_fetch_add(&j->clipped, w->b.block.clipped[l]);
            struct lgv_block_result r = {.group = group,
                                         .lanes = lanes,
                                         .used = used,
                                         .path = path,
                                         .ntimes = times,
                                         .value = w->value,
                                         .fail = w->b.block.fail,
                                         .fail_step = w->fail_step,
                                         .complete = times == p->ntimes};
            if (times && !j->done(j->user, &r)) {
                atomic_store(&j->no_memory, 1);
                atomic_store(&j->stop, 1);
            }
        }
    }
}

enum lgv_status lgv_ensemble_run(const struct lgv_plan *plan, lgv_block_done *done, void *user, lgv_progress *progress,
                                 void *progress_user, struct lgv_run_report *report, struct lgv_error *err) {
    struct job j = {.plan = plan,
                    .done = done,
                    .user = user,
                    .progress = progress,
                    .progress_user = progress_user,
                    .report = report,
                    .telling = ATOMIC_FLAG_INIT};
    size_t n = plan->nsnapshots * LGV_UNIT * 2 * plan->kernel->nq;
    *report = (struct lgv_run_report){0};
    report->snapshot = lgv_new(n + 1, sizeof *report->snapshot);
    if (!report->snapshot) return lgv_fail_memory(err);
    for (size_t i = 0; i < n; i++) report->snapshot[i] = NAN;
    j.total = (double)plan->steps * (double)plan->paths;
    unsigned threads = plan->threads ? plan->threads : (unsigned)omp_get_num_procs();
    uint64_t units = (plan->paths + LGV_UNIT - 1) / LGV_UNIT;
    if (threads > LGV_GROUPS) threads = LGV_GROUPS;
    if (threads > units) threads = (unsigned)units;
    report->threads = threads;
    double begin = j.told = now();
#pragma omp parallel num_threads((int)threads)
    {
        struct worker w;
        if (worker_begin(&w, plan)) {
#pragma omp for schedule(dynamic, 1)
            for (unsigned g = 0; g < LGV_GROUPS; g++) run_group(&j, &w, g);
            atomic_fetch_add(&j.iterations, w.b.block.iterations);
            atomic_fetch_add(&j.evaluations, w.b.block.evaluations);
        } else {
            atomic_store(&j.no_memory, 1);
            atomic_store(&j.stop, 1);
#pragma omp for schedule(dynamic, 1)
            for (unsigned g = 0; g < LGV_GROUPS; g++) continue;
        }
        worker_end(&w);
    }
    report->seconds = now() - begin;
    report->path_steps = atomic_load(&j.path_steps);
    report->clipped = atomic_load(&j.clipped);
    uint64_t block_steps = atomic_load(&j.block_steps);
    report->iterations = block_steps ? (double)atomic_load(&j.iterations) / (double)block_steps : 0;
    report->evaluations = block_steps ? (double)atomic_load(&j.evaluations) / (double)block_steps : 0;
    report->stopped = atomic_load(&j.stop) != 0;
    if (atomic_load(&j.no_memory)) return lgv_fail_memory(err);
    return report->stopped ? LGV_INTERRUPTED : LGV_OK;
}
