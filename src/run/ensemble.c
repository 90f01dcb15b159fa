/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ensemble: units over threads, blocks of lanes inside a unit.
 *
 * The blocks of a unit go through time together, piece by piece: a piece ends when its buffer of output times is full.
 * Inside a piece they advance in chunks of steps.  After a chunk the state is checked; when a lane has become infinite
 * or NaN the chunk is repeated step by step from a copy, to find the step at which that happened.  Between chunks the
 * stop flag is read, so chunks are kept short in time.  Neither pieces nor chunks change any bit. */
#include "run/worker.h"
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 1024              /* most steps between two looks at the stop flag and the state */
#define PIECE_BYTES (64u << 10) /* of observed values: they stay in the cache until collectors have read them */
#define GIVEN_VALUES (1u << 16) /* increments of a chunk, when they are given */

size_t lgv_crossing_values(const struct lgv_plan *p) {
    return p->kernel->watch.sections * (size_t)p->crossings * lgv_kernel_crossing(&p->kernel->watch);
}

/* ---- blocks ---- */

/* Marks lanes whose state is not finite; true when there is a new one. */
static bool mark_broken(const struct lgv_plan *p, struct lgv_block *b, int reason, uint64_t step) {
    size_t lanes = p->kernel->entry->lanes, rows = p->kernel->nx + p->kernel->np;
    bool found = false;
    for (size_t i = 0; i < rows; i++)
        for (size_t lane = 0; lane < lanes; lane++) {
            if (isfinite(b->state[i * lanes + lane]) || b->fail[lane]) continue;
            found = true;
            if (!reason) continue;
            b->fail[lane] = reason;
            b->fail_step[lane] = step;
        }
    return found;
}

/* Steps whose increments are laid out at once. */
static uint64_t given_steps(size_t rows, size_t lanes) {
    uint64_t n = GIVEN_VALUES / (rows * lanes);
    return n < 1 ? 1 : n > CHUNK ? CHUNK : n;
}

uint64_t lgv_worker_chunk(const struct worker *w) {
    return w->given ? given_steps(w->given_rows, w->lanes) : CHUNK;
}

/* The increments of a block's next steps, when they are given; its first path is number `path`. */
static const double *given_of(struct worker *w, const struct lgv_block *b, uint64_t path, uint64_t steps) {
    if (w->given)
        lgv_increments_lay(w->job->plan->increments, w->given_rows, w->lanes, path, b->step, steps, w->given);
    return w->given;
}

/* Has a path failed since?  That one has stopped is known to the step, whatever the chunk. */
static bool newly_failed(const struct lgv_block *b, const int *before, size_t lanes) {
    for (size_t l = 0; l < lanes; l++)
        if (b->fail[l] != before[l] && b->fail[l] != LGV_STOPPED && b->fail[l] != LGV_STOPPED_START) return true;
    return false;
}

/* Nothing of a block is left to follow. */
static bool at_rest(const struct lgv_block *b, size_t lanes) {
    for (size_t l = 0; l < lanes; l++)
        if (!b->fail[l]) return false;
    return true;
}

/* Which step a path fails at, and why, must not depend on chunks: where one fails inside a chunk, by its own word or by
 * a state that is not finite, the chunk is repeated from its beginning, failures included. */
void lgv_worker_advance(struct worker *w, struct lgv_block *b, uint64_t path, uint64_t steps) {
    const struct lgv_plan *p = w->job->plan;
    size_t bytes = p->kernel->nstate * w->lanes * sizeof(double);
    if (b->events && b->step > 0 && at_rest(b, w->lanes)) { /* events have begun */
        b->step += steps;
        return;
    }
    struct lgv_block before = *b;
    unsigned long long clipped[LGV_UNIT], astray[LGV_UNIT], fail_step[LGV_UNIT];
    int fail[LGV_UNIT];
    memcpy(w->copy, b->state, bytes);
    memcpy(fail, b->fail, w->lanes * sizeof *fail);
    memcpy(fail_step, b->fail_step, w->lanes * sizeof *fail_step);
    b->given = before.given = given_of(w, b, path, steps);
    p->kernel->entry->advance(b, steps);
    if (b->scratch->wanted) return; /* the run ends: check_scratch */
    if (!newly_failed(b, fail, w->lanes) && !mark_broken(p, b, 0, 0)) return;
    struct lgv_block after = *b; /* counts, and how far its observations have come */
    memcpy(clipped, b->clipped, w->lanes * sizeof *clipped);
    memcpy(astray, b->astray, w->lanes * sizeof *astray);
    memcpy(b->state, w->copy, bytes);
    memcpy(b->fail, fail, w->lanes * sizeof *fail);
    memcpy(b->fail_step, fail_step, w->lanes * sizeof *fail_step);
    *b = before;
    if (!p->rescue) b->ntimes = 0; /* what was observed stands */
    for (uint64_t k = 0; k < steps; k++) {
        const double *given = b->given;
        double *value = b->value;
        bool rescues = p->rescue && lgv_rescue_before(w, b);
        p->kernel->entry->advance(b, 1);
        mark_broken(p, b, LGV_FAIL_NONFINITE, b->step - 1);
        if (rescues) lgv_rescue_after(w, b, given, value);
    }
    *b = after;
    memcpy(b->clipped, clipped, w->lanes * sizeof *clipped);
    if (!p->rescue) memcpy(b->astray, astray, w->lanes * sizeof *astray);
}

/* With others: as if they were as far. */
static void tell(struct job *j) {
    double done = (double)atomic_load(&j->advanced) * (j->crew.dealt ? lgv_peers->count : 1);
    lgv_crew_tell(&j->crew, j->total > 0 ? done / j->total : 1);
}

/* All blocks of the unit on to step `last`, or to where the run was stopped. */
static uint64_t advance_unit(struct worker *w, uint64_t step, uint64_t last) {
    struct job *j = w->job;
    while (step < last && !lgv_crew_stopped(&j->crew)) {
        uint64_t n = lgv_pace_begin(&w->pace, last - step, lgv_worker_chunk(w));
        for (unsigned k = 0; k < w->nblocks; k++)
            lgv_worker_advance(w, &w->block[k].block, w->piece.path + k * w->lanes, n);
        lgv_pace_end(&w->pace);
        step += n;
        atomic_fetch_add(&j->advanced, n * w->piece.used);
        atomic_fetch_add(&j->vec_steps, n * w->nblocks * j->plan->kernel->entry->vecs);
        tell(j);
    }
    return step;
}

/* ---- pieces ---- */

static void take_snapshot(const struct worker *w, size_t time) {
    const struct lgv_plan *p = w->job->plan;
    size_t n = p->kernel->nx + p->kernel->np;
    for (size_t s = 0; s < p->nsnapshots; s++) {
        if (p->time_step[p->snapshot[s]] != w->time_step[time]) continue;
        for (unsigned l = 0; l < w->piece.used; l++) {
            const struct lgv_block *b = &w->block[l / w->lanes].block;
            for (size_t i = 0; i < n; i++)
                w->job->report->snapshot[(s * LGV_UNIT + l) * n + i] =
                    b->fail[l % w->lanes] ? (double)NAN : b->state[i * w->lanes + l % w->lanes];
        }
    }
}

/* The first piece is the start alone; pieces of the first unit end where states are kept. */
static size_t piece_size(const struct worker *w, size_t time) {
    const struct lgv_plan *p = w->job->plan;
    size_t n = w->ntimes - time;
    if (n > w->job->rows) n = w->job->rows;
    if (time == 0 || lgv_record_all(w)) return 1;
    for (size_t s = 0; w->piece.unit == 0 && s < p->nsnapshots; s++)
        for (size_t k = 0; k < n; k++)
            if (w->time_step[time + k] == p->time_step[p->snapshot[s]]) n = k + 1;
    return n;
}

/* Which paths have a value at the times of the piece: those that fail at a later step, or never. */
static void find_alive(struct worker *w) {
    struct lgv_piece *piece = &w->piece;
    bool failed = false;
    for (unsigned l = 0; l < piece->used; l++) {
        w->fail[l] = w->block[l / w->lanes].block.fail[l % w->lanes];
        if (w->fail[l] == LGV_STOPPED_START) w->fail[l] = LGV_STOPPED;
        w->fail_step[l] = w->block[l / w->lanes].block.fail_step[l % w->lanes];
        w->steps[l] = lgv_steps_made(&w->block[l / w->lanes].block, l % w->lanes);
        failed = failed || w->fail[l];
    }
    for (size_t t = 0; t < piece->count; t++) {
        unsigned alive = (1u << piece->used) - 1;
        for (unsigned l = 0; failed && l < piece->used; l++)
            if (w->fail[l] && (w->lost >> l & 1 || w->time_step[piece->first + t] > w->fail_step[l]))
                alive &= ~(1u << l);
        w->alive[t] = (uint16_t)alive;
    }
}

/* Where block number k writes what it observes. */
static double *block_values(const struct worker *w, unsigned k) {
    return !w->by_block ? w->value : w->by_block + k * w->job->rows * w->job->plan->kernel->watch.count * w->lanes;
}

/* Puts the values of the unit's blocks side by side. */
static void join_blocks(struct worker *w, size_t count) {
    size_t rows = count * w->job->plan->kernel->watch.count;
    for (unsigned k = 0; w->by_block && k < w->nblocks; k++)
        for (size_t i = 0; i < rows; i++)
            memcpy(w->value + i * LGV_UNIT + k * w->lanes, block_values(w, k) + i * w->lanes,
                   w->lanes * sizeof *w->value);
}

/* So many rows of the states of the unit, of which `behind` are further on. */
static const double *rows_behind(const struct worker *w, size_t behind, size_t rows, double *out) {
    size_t first = w->job->plan->kernel->nstate - behind - rows;
    for (size_t i = 0; i < rows; i++)
        for (unsigned l = 0; l < w->piece.used; l++)
            out[i * LGV_UNIT + l] = w->block[l / w->lanes].block.state[(first + i) * w->lanes + l % w->lanes];
    return out;
}

/* What was seen at every step of the unit, once it is done. */
static void take_tallies(struct worker *w) {
    const struct lgv_kernel *k = w->job->plan->kernel;
    size_t events = LGV_EVENT_ROWS * k->watch.events, sections = LGV_SECTION_ROWS * k->watch.sections;
    if (!w->piece.last) return;
    if (k->watch.events) w->piece.events = rows_behind(w, sections, events, w->events);
    if (w->block[0].block.crossing) {
        w->piece.crossings = rows_behind(w, 0, sections, w->crossings);
        w->piece.crossing = w->crossing;
    }
    if (!w->block[0].block.tally) return;
    w->piece.tally = rows_behind(w, sections + events, 2 * k->watch.tallies, w->tally);
}

static bool give(struct worker *w, bool dense) {
    for (size_t i = 0; i < w->job->ncollectors; i++)
        if (w->job->list[i].kind->dense == dense && !w->job->list[i].kind->add(w->object[i], &w->piece)) return false;
    return true;
}

/* Hands the piece to the collectors: as it is to those of dense units, the planned times of it to the others. */
static void deliver(struct worker *w) {
    const struct lgv_plan *p = w->job->plan;
    struct lgv_piece *piece = &w->piece;
    size_t row = p->kernel->watch.count * LGV_UNIT, count = 0, first = piece->first;
    bool ok = true;
    find_alive(w);
    if (w->recorded && p->sink && !p->sink(p->sink_user, piece)) atomic_store(&w->job->crew.stop, 1);
    if (w->dense) {
        ok = give(w, true);
        for (size_t t = 0; t < piece->count; t++) {
            size_t next = w->planned + count;
            if (next >= p->ntimes || p->time_step[next] != w->time_step[first + t]) continue;
            if (t != count) memcpy(w->value + count * row, w->value + t * row, row * sizeof *w->value);
            w->alive[count++] = w->alive[t];
        }
        piece->count = count;
        piece->first = w->planned;
    }
    w->planned += piece->count;
    if (ok && (piece->count || piece->last)) ok = give(w, false);
    if (ok) return;
    lgv_crew_no_memory(&w->job->crew);
}

/* A kernel that could not get the scratch it needs ends the run. */
static void check_scratch(struct worker *w) {
    for (unsigned k = 0; k < w->nblocks; k++) {
        uint64_t wanted = w->block[k].block.scratch->wanted;
        if (!wanted) continue;
        atomic_store(&w->job->wanted, wanted);
        lgv_crew_no_memory(&w->job->crew);
    }
}

/* Observes the first `count` of the times from `time` on; returns how many were reached before a stop. */
static size_t run_piece(struct worker *w, size_t time, size_t count) {
    const struct lgv_kernel *k = w->job->plan->kernel;
    uint64_t step = w->block[0].block.step, last = w->time_step[time + count - 1];
    for (unsigned i = 0; i < w->nblocks; i++) {
        struct lgv_block *b = &w->block[i].block;
        b->time_step = w->time_step + time;
        b->ntimes = count;
        b->row = k->watch.count * w->lanes;
        b->value = block_values(w, i);
        if (time == 0) k->entry->observe(b, b->value);
    }
    if (step < last) step = advance_unit(w, step, last);
    size_t reached = 0;
    while (reached < count && w->time_step[time + reached] <= step) reached++;
    return reached;
}

/* ---- units ---- */

/* Paths whose increments are those of an earlier run start where they did there. */
void lgv_worker_start(struct worker *w, struct lgv_own_block *b, uint64_t path, unsigned used) {
    const struct lgv_plan *p = w->job->plan;
    lgv_block_start_points(p->kernel, b, &p->points, path, used);
    if (!p->increments || !p->increments->number) return;
    for (unsigned l = 0; l < w->lanes; l++) b->path[l] = b->number[l] = p->increments->number[b->path[l]];
    p->kernel->entry->start(&b->block);
}

/* Where the crossings of the unit from path l on go; NULL: none are kept. */
static double *crossings_of(const struct worker *w, unsigned l) {
    const struct lgv_plan *p = w->job->plan;
    return w->crossing ? w->crossing + l * lgv_crossing_values(p) : NULL;
}

static void begin_unit(struct worker *w, uint64_t unit) {
    const struct lgv_plan *p = w->job->plan;
    uint64_t left = p->paths - unit * LGV_UNIT;
    unsigned used = left < LGV_UNIT ? (unsigned)left : LGV_UNIT;
    w->piece = (struct lgv_piece){.unit = unit,
                                  .path = unit * LGV_UNIT,
                                  .used = used,
                                  .alive = w->alive,
                                  .fail = w->fail,
                                  .fail_step = w->fail_step,
                                  .steps = w->steps};
    w->planned = 0;
    w->value = w->values;
    bool kept = false;
    for (size_t i = 0; i < p->ndense_units; i++) kept = kept || p->dense_unit[i] == unit;
    w->recorded = p->recording && lgv_recording_unit(p->recording, unit);
    w->dense = kept || lgv_record_all(w);
    w->ntimes = w->dense ? p->ndense : p->ntimes;
    w->time_step = w->dense ? p->dense_step : p->time_step;
    w->nblocks = (used + w->lanes - 1) / w->lanes;
    for (unsigned k = 0; k < w->nblocks; k++) {
        unsigned rest = used - k * w->lanes;
        w->block[k].block.clip = p->clip;
        w->block[k].block.tally = unit < p->tally_units && p->kernel->watch.tallies > 0;
        w->block[k].block.events = p->kernel->watch.events > 0;
        w->block[k].block.crossings = p->crossings;
        w->block[k].block.crossing = kept ? crossings_of(w, k * w->lanes) : NULL;
        lgv_worker_start(w, &w->block[k], w->piece.path + k * w->lanes, rest < w->lanes ? rest : w->lanes);
        mark_broken(p, &w->block[k].block, LGV_FAIL_START, 0);
    }
}

/* A start without an energy is no start: row 0 is H. */
static void check_start(struct worker *w) {
    w->lost = 0;
    for (unsigned l = 0; l < w->piece.used; l++) {
        int *fail = &w->block[l / w->lanes].block.fail[l % w->lanes];
        if (w->job->plan->kernel->energy_known && !isfinite(w->value[l]) && !*fail) *fail = LGV_FAIL_START;
        if (*fail) w->lost |= 1u << l;
    }
}

/* Steps that a path has made before it failed or came to rest.  One that stops has made the step to there. */
uint64_t lgv_steps_made(const struct lgv_block *b, unsigned lane) {
    if (!b->fail[lane]) return b->step;
    return b->fail[lane] == LGV_STOPPED ? b->fail_step[lane] + 1 : b->fail_step[lane];
}

static double *value_at(const struct worker *w, size_t time) {
    return w->job->plan->suspend ? w->values + time * w->job->plan->kernel->watch.count * LGV_UNIT : w->values;
}

/* Times first .. first + count - 1 to the collectors; the last piece of a unit, which may be incomplete, ends it. */
static void hand_over(struct worker *w, size_t first, size_t count, bool last, bool complete) {
    w->piece.value = w->value = value_at(w, first);
    w->piece.first = first;
    w->piece.count = count;
    w->piece.complete = complete;
    w->piece.last = last;
    take_tallies(w);
    lgv_record_show(w);
    deliver(w);
}

/* A unit that could be suspended keeps what it has observed until it ends. */
static void hand_over_all(struct worker *w, size_t times, bool complete) {
    for (size_t time = 0, n; time < times; time += n) {
        n = time == 0 ? 1 : times - time < w->job->rows ? times - time : w->job->rows;
        bool last = time + n == times;
        hand_over(w, time, n, last, last && complete);
    }
}

void lgv_deepest(struct job *j, uint64_t deepest) {
    unsigned long long before = atomic_load(&j->deepest);
    while (before < deepest && !atomic_compare_exchange_weak(&j->deepest, &before, deepest)) {}
}

static void count_unit(struct worker *w) {
    struct job *j = w->job;
    uint64_t steps = 0, clipped = 0, astray = 0, deepest = 0;
    for (unsigned l = 0; l < w->piece.used; l++) {
        const struct lgv_block *b = &w->block[l / w->lanes].block;
        steps += lgv_steps_made(b, l % w->lanes);
        clipped += b->clipped[l % w->lanes];
        astray += LGV_RESCUE_COUNT(b->astray[l % w->lanes]);
        if (LGV_RESCUE_DEEPEST(b->astray[l % w->lanes]) > deepest)
            deepest = LGV_RESCUE_DEEPEST(b->astray[l % w->lanes]);
    }
    atomic_fetch_add(&j->path_steps, steps);
    atomic_fetch_add(&j->clipped, clipped);
    atomic_fetch_add(&j->astray, astray);
    lgv_deepest(j, deepest);
}

bool lgv_report_suspend(struct lgv_run_report *r, const struct lgv_suspended *s) {
    if (!lgv_grow(&r->suspended, &r->suspended_room, r->nsuspended + 1, sizeof *s)) return false;
    r->suspended[r->nsuspended++] = *s;
    return true;
}

static void suspend(struct worker *w, size_t times) {
    struct lgv_suspended s = {0};
    bool ok = lgv_suspend(w, times, &s);
#pragma omp critical(lgv_suspended)
    ok = ok && lgv_report_suspend(w->job->report, &s);
    if (ok) return;
    lgv_suspended_free(&s, 1);
    lgv_crew_no_memory(&w->job->crew);
}

/* From its start, or from where it was suspended. */
static void run_unit(struct worker *w, uint64_t unit, const struct lgv_suspended *from) {
    size_t time = 0;
    begin_unit(w, unit);
    if (from && !(time = lgv_suspend_end(w, from))) begin_unit(w, unit); /* nothing to go on with: all of it again */
    atomic_fetch_add(&w->job->advanced, w->block[0].block.step * w->piece.used);
    for (size_t count, reached; time < w->ntimes; time += reached) {
        w->value = value_at(w, time);
        count = piece_size(w, time);
        reached = run_piece(w, time, count);
        check_scratch(w);
        join_blocks(w, reached);
        if (time == 0) check_start(w);
        if (reached == count) lgv_record_take(w, time + count - 1);
        if (unit == 0 && reached == count) take_snapshot(w, time + count - 1);
        bool complete = time + reached == w->ntimes, stopped = reached < count;
        if (!w->job->plan->suspend) hand_over(w, time, reached, complete || stopped, complete);
        if (!stopped) continue;
        if (w->job->plan->suspend) {
            suspend(w, time + reached);
            return;
        }
        break;
    }
    if (w->job->plan->ends) suspend(w, w->ntimes); /* before what was observed is thinned out */
    if (w->job->plan->suspend) hand_over_all(w, w->ntimes, true);
    count_unit(w);
}

/* ---- threads ---- */

static const struct lgv_collecting *collecting(const struct job *j) {
    return j->own ? j->own : j->list;
}

/* What worker_begin asks for. */
static enum lgv_status no_memory(const struct job *j, unsigned threads, struct lgv_error *err) {
    const struct lgv_kernel *k = j->plan->kernel;
    uint64_t wanted = atomic_load(&j->wanted), first = k->entry->work(&k->user);
    double lanes = k->entry->lanes, blocks = LGV_UNIT / lanes;
    double step = blocks * (double)(wanted > first ? wanted : first);
    double piece = (double)(j->rows * k->watch.count * LGV_UNIT) * sizeof(double);
    double kept = j->plan->suspend ? (double)lgv_suspend_values(j->plan) * sizeof(double) : piece;
    double values = kept + (lanes < LGV_UNIT ? piece : 0);
    double states = (double)k->nstate * (LGV_UNIT + lanes) * sizeof(double);
    return lgv_fail(err, LGV_CANNOT_RUN,
                    "out of memory: each of %u threads needs %.3g MB for %d paths at a time: %.3g MB for their step, "
                    "%.3g MB for their states, %.3g MB for what is observed",
                    threads, 1e-6 * (step + values + states), LGV_UNIT, 1e-6 * step, 1e-6 * states, 1e-6 * values);
}

static bool worker_begin(struct worker *w, struct job *j) {
    const struct lgv_plan *p = j->plan;
    *w = (struct worker){.job = j, .lanes = p->kernel->entry->lanes};
    w->nblocks = LGV_UNIT / w->lanes;
    if (p->paths < LGV_UNIT) w->nblocks = ((unsigned)p->paths + w->lanes - 1) / w->lanes;
    size_t values = j->rows * p->kernel->watch.count * LGV_UNIT;
    w->copy = lgv_new(p->kernel->nstate * w->lanes, sizeof *w->copy);
    w->values = lgv_aligned(p->suspend ? lgv_suspend_values(p) : values);
    w->by_block = w->lanes == LGV_UNIT ? NULL : lgv_aligned(values);
    w->object = lgv_new(j->ncollectors + 1, sizeof *w->object);
    w->tally = lgv_new(2 * p->kernel->watch.tallies * LGV_UNIT + 1, sizeof *w->tally);
    w->events = lgv_new(LGV_EVENT_ROWS * p->kernel->watch.events * LGV_UNIT + 1, sizeof *w->events);
    if (w->lanes < LGV_UNIT && !w->by_block) return false;
    if (!w->copy || !w->values || !w->object || !w->tally || !w->events || !lgv_record_create(w)) return false;
    if (p->kernel->watch.sections && p->crossings && p->ndense_units) {
        w->crossing = lgv_new(LGV_UNIT * lgv_crossing_values(p), sizeof *w->crossing);
        w->crossings = lgv_new(LGV_SECTION_ROWS * p->kernel->watch.sections * LGV_UNIT, sizeof *w->crossings);
        if (!w->crossing || !w->crossings) return false;
    }
    if (p->increments) {
        w->given_rows = lgv_increments_rows(p->kernel);
        w->given = lgv_aligned(given_steps(w->given_rows, w->lanes) * w->given_rows * w->lanes);
        if (!w->given) return false;
    }
    for (unsigned k = 0; k < w->nblocks; k++)
        if (!lgv_block_create(p->kernel, p->t0, p->dt, p->seed, p->coarsen, &w->block[k])) return false;
    for (size_t i = 0; i < j->ncollectors; i++) {
        const struct lgv_collecting *c = &collecting(j)[i];
        w->object[i] = c->kind->shared ? c->object : c->kind->create(c->shape);
        if (!w->object[i]) return false;
    }
    return true;
}

static void worker_end(struct worker *w) {
    struct job *j = w->job;
    for (unsigned k = 0; k < LGV_UNIT; k++) {
        atomic_fetch_add(&j->iterations, w->block[k].block.iterations);
        atomic_fetch_add(&j->evaluations, w->block[k].block.evaluations);
        lgv_block_free(&w->block[k]);
    }
    for (size_t i = 0; w->object && i < j->ncollectors; i++) {
        const struct lgv_collecting *c = &collecting(j)[i];
        if (c->kind->shared || !w->object[i]) continue;
#pragma omp critical(lgv_merge)
        if (!c->object || !c->kind->merge(c->object, w->object[i])) lgv_crew_no_memory(&j->crew);
        c->kind->free(w->object[i]);
    }
    lgv_rescue_end(w);
    lgv_block_free(&w->again);
    free(w->by_block);
    free(w->values);
    free(w->copy);
    free(w->given);
    free(w->tally);
    free(w->events);
    lgv_record_destroy(w);
    free(w->crossing);
    free(w->crossings);
    free(w->object);
}

static void work(struct lgv_crew *crew, void *user) {
    struct worker w;
    uint64_t unit;
    if (!worker_begin(&w, user)) lgv_crew_no_memory(crew);
    const struct lgv_plan *p = w.job->plan;
    while (lgv_crew_next(crew, &unit)) /* units to go on with come first */
        if (unit < p->nresume)
            run_unit(&w, p->resume[unit].unit, &p->resume[unit]);
        else
            run_unit(&w, p->first_unit + (unit - p->nresume), NULL);
    worker_end(&w);
}

/* Units first .. end - 1 of the crew, whose turn has not come: those to go on with stay as they are, and the others
 * have made no step.  False: no memory. */
static bool not_begun(struct job *j, uint64_t first, uint64_t end) {
    const struct lgv_plan *p = j->plan;
    struct lgv_suspended s, none = {.data = (char[]){""}};
    bool ok = true;
    for (uint64_t k = first; ok && k < end; k++) {
        none.unit = k < p->nresume ? 0 : p->first_unit + (k - p->nresume);
        ok = lgv_suspended_copy(k < p->nresume ? &p->resume[k] : &none, &s) && lgv_report_suspend(j->report, &s);
    }
    return ok;
}

/* What a stopped crew has left: units to go on with that nobody has taken. */
static bool still_suspended(struct job *j) {
    return not_begun(j, atomic_load(&j->crew.next), j->plan->nresume);
}

static void count_up(const struct job *j, struct lgv_run_report *report) {
    report->path_steps = atomic_load(&j->path_steps);
    report->clipped = atomic_load(&j->clipped);
    report->astray = atomic_load(&j->astray);
    report->deepest = atomic_load(&j->deepest);
    uint64_t vec_steps = report->vec_steps = atomic_load(&j->vec_steps);
    report->iterated = atomic_load(&j->iterations);
    report->iterations = vec_steps ? (double)report->iterated / (double)vec_steps : 0;
    report->evaluations = vec_steps ? (double)atomic_load(&j->evaluations) / (double)vec_steps : 0;
}

static size_t piece_rows(const struct lgv_plan *plan) {
    size_t row = plan->kernel->watch.count * LGV_UNIT * sizeof(double);
    size_t rows = row && row < PIECE_BYTES ? PIECE_BYTES / row : 1;
    return rows > PIECE_TIMES ? PIECE_TIMES : rows;
}

/* By this process alone, or with others. */
static void run_job(struct job *j, unsigned threads, struct lgv_error *err) {
    bool peers = lgv_peers != NULL;
    for (size_t i = 0; i < j->ncollectors; i++) peers = peers && j->list[i].kind->save;
    if (peers) lgv_peers_begin(j);
    j->report->threads = threads = lgv_crew_run(&j->crew, threads, work, j);
    bool hands_back = peers && j->plan->suspend && lgv_crew_stopped(&j->crew); /* what was dealt to it */
    if (hands_back && !not_begun(j, j->crew.have, j->crew.have_end)) lgv_crew_no_memory(&j->crew);
    if (peers) lgv_peers_end(j); /* by now `next` is that of all processes */
    if (lgv_crew_stopped(&j->crew) && !still_suspended(j)) lgv_crew_no_memory(&j->crew);
    if (atomic_load(&j->crew.no_memory)) no_memory(j, threads, err);
}

enum lgv_status lgv_ensemble_run(const struct lgv_plan *plan, const struct lgv_collecting *list, size_t count,
                                 lgv_progress *progress, void *user, struct lgv_run_report *report,
                                 struct lgv_error *err) {
    uint64_t end_unit = plan->end_unit ? plan->end_unit : (plan->paths + LGV_UNIT - 1) / LGV_UNIT;
    uint64_t units = end_unit > plan->first_unit ? end_unit - plan->first_unit : 0;
    struct job j = {.plan = plan,
                    .list = list,
                    .ncollectors = count,
                    .report = report,
                    .rows = piece_rows(plan),
                    .crew = LGV_CREW(0, plan->nresume + units, progress, user)};
    uint64_t first = plan->first_unit * LGV_UNIT, end = end_unit * LGV_UNIT;
    if (end > plan->paths) end = plan->paths;
    j.total = (double)plan->steps * (double)((end > first ? end - first : 0) + plan->nresume * LGV_UNIT);
    size_t n = plan->nsnapshots * LGV_UNIT * (plan->kernel->nx + plan->kernel->np);
    *report = (struct lgv_run_report){0};
    report->snapshot = lgv_new(n + 1, sizeof *report->snapshot);
    if (!report->snapshot) return lgv_fail_memory(err);
    for (size_t i = 0; i < n; i++) report->snapshot[i] = NAN;
    unsigned threads = plan->threads ? plan->threads : (unsigned)omp_get_num_procs();
    double begin = lgv_seconds();
    run_job(&j, threads, err);
    report->seconds = lgv_seconds() - begin;
    count_up(&j, report);
    bool stopped = lgv_crew_stopped(&j.crew);
    uint64_t next = atomic_load(&j.crew.next);
    if (next > j.crew.end) next = j.crew.end;
    report->next_unit = plan->first_unit + (next > plan->nresume ? next - plan->nresume : 0);
    report->stopped = stopped && !plan->suspend;
    if (atomic_load(&j.crew.no_memory)) return LGV_CANNOT_RUN;
    return stopped ? LGV_INTERRUPTED : LGV_OK;
}

/* As if the suspended units ended where they are. */
bool lgv_ensemble_partly(const struct lgv_plan *plan, const struct lgv_collecting *list, size_t count,
                         const struct lgv_suspended *unit, size_t units, struct lgv_run_report *report) {
    struct job j = {.plan = plan,
                    .list = list,
                    .ncollectors = count,
                    .report = report,
                    .rows = piece_rows(plan),
                    .crew = LGV_CREW(0, 0, NULL, NULL)};
    struct worker w;
    if (!worker_begin(&w, &j)) lgv_crew_no_memory(&j.crew);
    for (size_t k = 0; k < units && !lgv_crew_stopped(&j.crew); k++) {
        begin_unit(&w, unit[k].unit);
        hand_over_all(&w, lgv_suspend_end(&w, &unit[k]), false);
        count_unit(&w);
    }
    worker_end(&w);
    struct lgv_run_report more = {0};
    count_up(&j, &more);
    report->path_steps += more.path_steps;
    report->clipped += more.clipped;
    report->astray += more.astray;
    if (more.deepest > report->deepest) report->deepest = more.deepest;
    return !atomic_load(&j.crew.no_memory);
}
