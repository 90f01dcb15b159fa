/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The paths of a convergence study.  A unit of 16 paths is taken through all levels of all methods, each on the same
 * Brownian increments: those of the reference's step, summed.  Units are added exactly, so that the sums have the same
 * bits for any number of threads. */
#include "base/exact.h"
#include "study/converge.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK ((uint64_t)1 << 17) /* most increments between two looks at the stop flag */

struct shared {
    struct lgv_converge_job *job;
    struct lgv_crew crew;
    uint64_t first; /* unit 0 of the crew */
    atomic_ullong units_done;
    double units;
};

/* The end of a unit of paths. */
struct ends {
    double *state; /* [nx + np][LGV_UNIT] */
    double *value; /* [nquantities + 1][LGV_UNIT]: observables, then the distance to the exact solution */
    bool failed[LGV_UNIT];
};

struct worker {
    struct shared *shared;
    struct lgv_own_block *block; /* [kernels] */
    struct lgv_pace pace[LGV_CONVERGE_METHODS + 1];
    double *watched;               /* [nobserve][lanes] of the widest kernel */
    struct ends end, fine;
    struct lgv_converge_sum *part; /* [nmethods + 1][nlevels] of one unit */
    double *total;                 /* with these numbers for each of them */
};

static size_t kernels(const struct lgv_converge_job *j) {
    return j->nmethods + !j->exact;
}

static bool worker_begin(struct worker *w, struct shared *s) {
    const struct lgv_converge_job *j = s->job;
    size_t n = (j->kernel->nx + j->kernel->np) * LGV_UNIT;
    *w = (struct worker){.shared = s};
    w->block = lgv_new(kernels(j), sizeof *w->block);
    w->part = lgv_new((j->nmethods + 1) * j->nlevels, sizeof *w->part);
    w->total = lgv_new((j->nmethods + 1) * j->nlevels * j->width, sizeof *w->total);
    w->end.state = lgv_new(n, sizeof *w->end.state);
    w->fine.state = lgv_new(n, sizeof *w->fine.state);
    w->end.value = lgv_new((j->nquantities + 1) * LGV_UNIT, sizeof *w->end.value);
    w->fine.value = lgv_new((j->nquantities + 1) * LGV_UNIT, sizeof *w->fine.value);
    /* observe() writes whole vectors */
    if (posix_memalign((void **)&w->watched, 128, (j->kernel->watch.count + 1) * LGV_UNIT * sizeof *w->watched))
        w->watched = NULL;
    if (!w->block || !w->part || !w->total || !w->end.state || !w->fine.state || !w->end.value || !w->fine.value ||
        !w->watched)
        return false;
    for (size_t k = 0; k < kernels(j); k++)
        if (!lgv_block_create(&j->kernel[k], j->t0, j->smallest, j->seed, 1, &w->block[k])) return false;
    return true;
}

static void worker_end(struct worker *w) {
    for (size_t k = 0; w->block && k < kernels(w->shared->job); k++) lgv_block_free(&w->block[k]);
    free(w->block);
    free(w->part);
    free(w->total);
    free(w->end.state);
    free(w->fine.state);
    free(w->end.value);
    free(w->fine.value);
    free(w->watched);
}

static void tell(struct worker *w) {
    struct shared *s = w->shared;
    double done = (double)atomic_load(&s->units_done) * (s->crew.dealt ? lgv_peers->count : 1);
    done = fmax(1e-6, done / s->units);
    lgv_crew_tell(&s->crew, s->job->fraction_base + s->job->fraction_size * fmin(done, 1));
}

/* Lanes path .. path + used - 1 to the end; false after a stop. */
static bool run_block(struct worker *w, const struct lgv_kernel *k, struct lgv_own_block *b, uint64_t steps,
                      uint64_t path, unsigned used) {
    b->block.evaluations = 0;
    lgv_block_start(k, b, path, used);
    uint64_t chunk = b->block.coarsen < CHUNK ? CHUNK / b->block.coarsen : 1;
    struct lgv_pace *pace = &w->pace[b - w->block];
    while (b->block.step < steps) {
        if (b->block.scratch->wanted) lgv_crew_no_memory(&w->shared->crew);
        if (lgv_crew_stopped(&w->shared->crew)) return false;
        k->entry->advance(&b->block, lgv_pace_begin(pace, steps - b->block.step, chunk));
        lgv_pace_end(pace);
        tell(w);
    }
    k->entry->observe(&b->block, w->watched);
    if (k->nextra)
        k->entry->project(&b->block); /* SHAKE leaves momenta off the hidden constraint; the others do not move */
    return true;
}

/* A unit of paths by one kernel with steps of `coarsen` increments of size dt / coarsen.  False after a stop. */
static bool run_unit(struct worker *w, size_t kernel, double dt, uint64_t coarsen, uint64_t steps, uint64_t path,
                     unsigned used, struct ends *end, struct lgv_converge_sum *s) {
    const struct lgv_converge_job *j = w->shared->job;
    const struct lgv_kernel *k = &j->kernel[kernel];
    struct lgv_own_block *b = &w->block[kernel];
    unsigned lanes = k->entry->lanes;
    double begin = lgv_seconds();
    lgv_block_step(k, b, dt, coarsen);
    b->block.clip = lgv_clip_bound(k, dt, j->truncate);
    for (unsigned at = 0; at < used; at += lanes) {
        unsigned n = used - at < lanes ? used - at : lanes;
        if (!run_block(w, k, b, steps, path + at, n)) return false;
        for (unsigned l = 0; l < n; l++) {
            bool failed = b->block.fail[l] != 0;
            for (size_t i = 0; i < k->nx + k->np; i++) {
                double x = b->block.state[i * lanes + l];
                end->state[i * LGV_UNIT + at + l] = x;
                failed = failed || !isfinite(x);
            }
            for (size_t q = 0; q <= j->nquantities; q++) {
                size_t o = q == j->nquantities ? j->distance : j->quantity[q].first;
                bool needed = q == j->nquantities ? j->exact : !j->quantity[q].of_state;
                double x = needed ? w->watched[o * lanes + l] : 0;
                end->value[q * LGV_UNIT + at + l] = x;
                failed = failed || !isfinite(x);
            }
            end->failed[at + l] = failed;
            s->truncated += k->method->metropolis ? 0 : b->block.clipped[l];
        }
        s->evaluations += b->block.evaluations;
        s->vecs += k->entry->vecs;
    }
    s->seconds += lgv_seconds() - begin;
    return true;
}

static double square_distance(const struct ends *end, const struct ends *fine, unsigned lane, size_t first,
                              size_t count) {
    double d = 0;
    for (size_t i = first; i < first + count; i++) {
        double x = end->state[i * LGV_UNIT + lane] - fine->state[i * LGV_UNIT + lane];
        d += x * x;
    }
    return d;
}

/* Adds the differences of one path to its slots. */
static void add_path(const struct lgv_converge_job *j, const struct ends *end, const struct ends *fine, unsigned lane,
                     double *total) {
    double far = end->value[j->nquantities * LGV_UNIT + lane];
    double d = fine ? square_distance(end, fine, lane, 0, j->kernel->nx + j->kernel->np) : far * far;
    total[LGV_SLOT_STATE] += d;
    if (d > j->lost * j->lost) total[LGV_SLOT_LOST] += d;
    for (size_t k = 0; fine && k < j->nquantities; k++) {
        const struct lgv_converge_quantity *q = &j->quantity[k];
        double *slot = total + q->slot, x = end->value[k * LGV_UNIT + lane] - fine->value[k * LGV_UNIT + lane];
        if (q->slot < LGV_SLOTS) continue; /* the whole state */
        if (!q->of_state)
            *slot += j->weak ? x : x * x;
        else if (!j->weak)
            *slot += square_distance(end, fine, lane, q->first, q->count);
        else
            for (size_t i = 0; i < q->count; i++)
                slot[i] += end->state[(q->first + i) * LGV_UNIT + lane] - fine->state[(q->first + i) * LGV_UNIT + lane];
    }
}

/* Adds the unit; paths that the reference lost say nothing about a level. */
static void add(const struct lgv_converge_job *j, const struct ends *end, const struct ends *fine, unsigned used,
                struct lgv_converge_sum *s, double *total) {
    for (unsigned l = 0; l < used; l++) {
        if (fine && fine->failed[l]) continue;
        if (end->failed[l]) {
            s->failed++;
            continue;
        }
        add_path(j, end, fine, l, total);
        s->paths++;
    }
}

/* The levels of all methods for one unit, into the worker's part. */
static bool run_levels(struct worker *w, uint64_t path, unsigned used) {
    struct lgv_converge_job *j = w->shared->job;
    size_t r = j->nmethods * j->nlevels;
    if (!j->exact) {
        double fine = j->smallest / (double)j->refine;
        uint64_t steps = j->smallest_steps * j->refine;
        if (!run_unit(w, j->nmethods, fine, 1, steps, path, used, &w->fine, &w->part[r]) ||
            !run_unit(w, j->nmethods, 2 * fine, 2, steps / 2, path, used, &w->end, &w->part[r + 1]))
            return false;
        for (unsigned l = 0; l < used; l++) w->part[r].failed += w->fine.failed[l];
        add(j, &w->end, &w->fine, used, &w->part[r + 1], w->total + (r + 1) * j->width);
    }
    for (size_t k = 0; k < j->nmethods; k++)
        for (size_t l = 0; l < j->nlevels; l++) {
            uint64_t f = j->factor[l];
            size_t i = k * j->nlevels + l;
            if (!run_unit(w, k, j->smallest * (double)f, f * j->refine, j->smallest_steps / f, path, used, &w->end,
                          &w->part[i]))
                return false;
            add(j, &w->end, j->exact ? NULL : &w->fine, used, &w->part[i], w->total + i * j->width);
        }
    return true;
}

static void add_sum(struct lgv_converge_sum *s, const struct lgv_converge_sum *part) {
    s->paths += part->paths;
    s->failed += part->failed;
    s->truncated += part->truncated;
    s->evaluations += part->evaluations;
    s->vecs += part->vecs;
    s->seconds += part->seconds;
}

/* The worker's unit to the sums of its group. */
static bool add_sums(const struct worker *w, unsigned group, unsigned used) {
    struct lgv_converge_job *j = w->shared->job;
    bool ok = true;
    for (size_t i = 0; i < (j->nmethods + 1) * j->nlevels; i++) {
        struct lgv_converge_sum *s = &j->sum[i * LGV_GROUPS + group], *part = &w->part[i];
        for (size_t n = 0; n < j->width; n++)
            ok &= lgv_exact_add(&j->long_total[(i * LGV_GROUPS + group) * j->width + n], w->total[i * j->width + n]);
        add_sum(s, part);
    }
    j->group_paths[group] += used;
    return ok;
}

/* One unit.  Sums change only when the whole unit is done. */
static void do_unit(struct worker *w, uint64_t unit) {
    struct lgv_converge_job *j = w->shared->job;
    uint64_t path = unit * LGV_UNIT;
    unsigned used = j->end - path < LGV_UNIT ? (unsigned)(j->end - path) : LGV_UNIT;
    size_t rows = (j->nmethods + 1) * j->nlevels;
    memset(w->part, 0, rows * sizeof *w->part);
    memset(w->total, 0, rows * j->width * sizeof *w->total);
    if (!run_levels(w, path, used)) return;
    bool ok;
#pragma omp critical(lgv_converge_add)
    ok = add_sums(w, (unsigned)(unit % LGV_GROUPS), used);
    atomic_fetch_add(&w->shared->units_done, 1);
    if (!ok) lgv_crew_no_memory(&w->shared->crew);
}

static void work(struct lgv_crew *crew, void *user) {
    struct worker w;
    uint64_t unit;
    if (!worker_begin(&w, user)) lgv_crew_no_memory(crew);
    while (lgv_crew_next(crew, &unit)) {
        do_unit(&w, w.shared->first + unit);
        tell(&w);
    }
    worker_end(&w);
}

bool lgv_converge_new_sums(struct lgv_converge_job *j) {
    size_t cells = (j->nmethods + 1) * j->nlevels * LGV_GROUPS;
    j->sum = lgv_new(cells, sizeof *j->sum);
    j->total = lgv_new(cells * j->width, sizeof *j->total);
    j->long_total = lgv_new(cells * j->width, sizeof *j->long_total);
    return j->sum && j->total && j->long_total;
}

void lgv_converge_free_sums(struct lgv_converge_job *j) {
    if (j->long_total) lgv_exact_free(j->long_total, (j->nmethods + 1) * j->nlevels * LGV_GROUPS * j->width);
    free(j->sum);
    free(j->total);
    free(j->long_total);
    j->sum = NULL;
    j->total = NULL;
    j->long_total = NULL;
}

/* ---- several processes ---- */

static size_t cells(const struct lgv_converge_job *j) {
    return (j->nmethods + 1) * j->nlevels * LGV_GROUPS;
}

static void pack(void *user, struct lgv_text *out) {
    const struct lgv_converge_job *j = user;
    lgv_text_append(out, (const char *)j->group_paths, sizeof j->group_paths);
    lgv_text_append(out, (const char *)j->sum, cells(j) * sizeof *j->sum);
    for (size_t i = 0; i < cells(j) * j->width; i++) lgv_exact_save(&j->long_total[i], out);
}

static bool add_other(void *user, struct lgv_bytes *from) {
    struct lgv_converge_job *j = user;
    uint64_t paths[LGV_GROUPS] = {0};
    bool ok = j->sum && j->total && j->long_total;
    if (!ok) return false;
    lgv_bytes_take(from, paths, sizeof paths);
    for (size_t g = 0; g < LGV_GROUPS; g++) j->group_paths[g] += paths[g];
    for (size_t i = 0; i < cells(j) && !from->bad; i++) {
        struct lgv_converge_sum other = {0};
        lgv_bytes_take(from, &other, sizeof other);
        add_sum(&j->sum[i], &other);
    }
    for (size_t i = 0; ok && i < cells(j) * j->width && !from->bad; i++) {
        struct lgv_exact other = {0};
        ok = lgv_exact_load(&other, from) && lgv_exact_merge(&j->long_total[i], &other);
        lgv_exact_free(&other, 1);
    }
    return ok;
}

static bool reset(void *user) {
    struct lgv_converge_job *j = user;
    lgv_converge_free_sums(j);
    memset(j->group_paths, 0, sizeof j->group_paths);
    return lgv_converge_new_sums(j);
}

/* This one begins with nothing, unless it is the first: what was done before is there. */
static void begin_together(struct shared *s) {
    lgv_peers->begin();
    s->crew.dealt = true;
    if (lgv_peers->number && !reset(s->job)) lgv_crew_no_memory(&s->crew);
}

static void end_together(struct shared *s) {
    const struct lgv_exchange x = {pack, add_other, reset, s->job};
    if (lgv_crew_stopped(&s->crew)) lgv_peers->stop(true);
    bool ok = lgv_peers_exchange(&x, !atomic_load(&s->crew.no_memory));
    if (lgv_peers->any(lgv_crew_stopped(&s->crew))) atomic_store(&s->crew.stop, 1);
    if (!ok) lgv_crew_no_memory(&s->crew);
}

enum lgv_status lgv_converge_paths(struct lgv_converge_job *j, struct lgv_error *err) {
    uint64_t first = j->first / LGV_UNIT, end = (j->end + LGV_UNIT - 1) / LGV_UNIT;
    struct shared s = {.job = j,
                       .first = first,
                       .units = (double)(j->end - j->first + LGV_UNIT - 1) / LGV_UNIT,
                       .crew = LGV_CREW(0, end > first ? end - first : 0, j->progress, j->user)};
    if (lgv_peers) begin_together(&s);
    lgv_crew_run(&s.crew, j->threads, work, &s);
    if (lgv_peers) end_together(&s);
    for (size_t i = 0; j->long_total && i < cells(j) * j->width; i++)
        j->total[i] = lgv_exact_round(&j->long_total[i]);
    if (atomic_load(&s.crew.no_memory)) return lgv_fail_memory(err);
    return lgv_crew_stopped(&s.crew) ? LGV_INTERRUPTED : LGV_OK;
}
