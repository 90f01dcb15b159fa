/* SPDX-License-Identifier: BSD-3-Clause
 *
 * States of single paths for whoever stores them (`record`).  Where all of them are asked for, pieces of the unit have
 * one time each, so that the blocks stand there when the piece ends; like other pieces they change no bit. */
#include "run/worker.h"
#include <stdlib.h>
#include <string.h>

bool lgv_recording_path(const struct lgv_recording *r, uint64_t path) {
    bool has = path < r->first;
    for (size_t i = 0; !has && i < r->npaths; i++) has = r->path[i] == path;
    return has;
}

bool lgv_recording_unit(const struct lgv_recording *r, uint64_t unit) {
    bool has = unit * LGV_UNIT < r->first;
    for (size_t i = 0; !has && i < r->npaths; i++) has = r->path[i] / LGV_UNIT == unit;
    return has;
}

static size_t rows(const struct lgv_plan *p) {
    return p->kernel->nx + p->kernel->np;
}

size_t lgv_record_values(const struct lgv_plan *p) {
    if (!p->recording || !p->recording->states) return 0;
    return (p->suspend ? p->ndense : 1) * rows(p) * LGV_UNIT;
}

bool lgv_record_create(struct worker *w) {
    const struct lgv_plan *p = w->job->plan;
    if (!p->recording) return true;
    w->final = lgv_new(rows(p) * LGV_UNIT + 1, sizeof *w->final);
    w->states = p->recording->states ? lgv_new(lgv_record_values(p) + 1, sizeof *w->states) : NULL;
    return w->final && (w->states || !p->recording->states);
}

void lgv_record_destroy(struct worker *w) {
    free(w->final);
    free(w->states);
}

bool lgv_record_all(const struct worker *w) {
    return w->recorded && w->states;
}

static double *states_at(const struct worker *w, size_t time) {
    return w->states + (w->job->plan->suspend ? time : 0) * rows(w->job->plan) * LGV_UNIT;
}

static void copy_rows(const struct worker *w, double *out) {
    for (size_t i = 0; i < rows(w->job->plan); i++)
        for (unsigned l = 0; l < w->piece.used; l++)
            out[i * LGV_UNIT + l] = w->block[l / w->lanes].block.state[i * w->lanes + l % w->lanes];
}

void lgv_record_take(struct worker *w, size_t time) {
    if (lgv_record_all(w)) copy_rows(w, states_at(w, time));
}

/* Where paths have stopped that are recorded: a lane at rest has no state any more, so the block is run again without
 * looking at events, each lane up to its stop.  False: no memory. */
static bool ends_of_stopped(struct worker *w, unsigned number) {
    const struct lgv_plan *p = w->job->plan;
    const struct lgv_block *was = &w->block[number].block;
    const uint64_t path = w->piece.path + number * w->lanes;
    unsigned used = w->piece.used - number * w->lanes, left = 0;
    if (used > w->lanes) used = w->lanes;
    for (unsigned l = 0; l < used; l++)
        if (was->fail[l] == LGV_STOPPED || was->fail[l] == LGV_STOPPED_START) left |= 1u << l;
    if (!left) return true;
    struct lgv_own_block *b = &w->again;
    if (!b->memory && !lgv_block_create(p->kernel, p->t0, p->dt, p->seed, p->coarsen, b)) return false;
    b->block.clip = p->clip;
    lgv_worker_start(w, b, path, used);
    while (left && !b->block.scratch->wanted) {
        uint64_t next = UINT64_MAX;
        for (unsigned l = 0; l < used; l++) {
            uint64_t made = lgv_steps_made(was, l);
            if (left >> l & 1 && made == b->block.step) {
                for (size_t i = 0; i < rows(p); i++)
                    w->final[i * LGV_UNIT + number * w->lanes + l] = b->block.state[i * w->lanes + l];
                left &= ~(1u << l);
            } else if (left >> l & 1 && made < next) {
                next = made;
            }
        }
        uint64_t most = lgv_worker_chunk(w), far = next - b->block.step;
        if (left) lgv_worker_advance(w, &b->block, path, far < most ? far : most);
    }
    return !left;
}

void lgv_record_show(struct worker *w) {
    w->piece.state = lgv_record_all(w) ? states_at(w, w->piece.first) : NULL;
    w->piece.final = NULL;
    if (!w->recorded || !w->piece.complete) return;
    copy_rows(w, w->final);
    w->piece.final = w->final;
    if (!w->job->plan->recording->final || !w->job->plan->kernel->watch.events) return;
    for (unsigned k = 0; k < w->nblocks; k++)
        if (!ends_of_stopped(w, k)) lgv_crew_no_memory(&w->job->crew);
}
