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

void lgv_record_show(struct worker *w) {
    w->piece.state = lgv_record_all(w) ? states_at(w, w->piece.first) : NULL;
    w->piece.final = NULL;
    if (!w->recorded || !w->piece.complete) return;
    copy_rows(w, w->final);
    w->piece.final = w->final;
}
