/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Units that rest on their way, as bytes that do not depend on the width of blocks:
 *
 *     numbers      paths of the unit, step, output times that have been observed, rows of the state and of a time,
 *                  values of a path's crossings, paths without a start (bits), rows of states that are recorded
 *     [4][16]      reason of a failure and its step, truncated increments, proposals that led astray
 *     [rows][16]   state
 *     [times][observed][16]   what was observed
 *     [16][values]            crossings of sections, in units that keep them
 *     [times][rows][16]       states, in units that are recorded
 *
 * Going on from there gives the bits of a unit that was never suspended. */
#include "run/worker.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS 8
#define LANE_NUMBERS 4

size_t lgv_suspend_values(const struct lgv_plan *p) {
    size_t times = p->ndense > p->ntimes ? p->ndense : p->ntimes;
    return times * p->kernel->watch.count * LGV_UNIT;
}

void lgv_suspended_free(struct lgv_suspended *s, size_t count) {
    for (size_t i = 0; i < count; i++) free(s[i].data);
}

bool lgv_suspended_copy(const struct lgv_suspended *from, struct lgv_suspended *to) {
    *to = *from;
    to->data = lgv_copy_n(from->data, from->size);
    return to->data != NULL;
}

uint64_t lgv_suspended_step(const struct lgv_suspended *s) {
    struct lgv_bytes b = {.at = s->data, .left = s->size};
    lgv_bytes_count(&b);
    return lgv_bytes_count(&b);
}

static size_t crossing_values(const struct worker *w) {
    return w->block[0].block.crossing ? lgv_crossing_values(w->job->plan) : 0;
}

/* Rows of the states that are recorded at every time. */
static size_t recorded_rows(const struct worker *w) {
    const struct lgv_kernel *k = w->job->plan->kernel;
    return lgv_record_all(w) ? k->nx + k->np : 0;
}

bool lgv_suspend(const struct worker *w, size_t times, struct lgv_suspended *out) {
    const struct lgv_kernel *k = w->job->plan->kernel;
    const size_t crossings = crossing_values(w);
    const uint64_t number[NUMBERS] = {w->piece.used, w->block[0].block.step, times, k->nstate, k->watch.count,
                                      crossings, w->lost, recorded_rows(w)};
    struct lgv_text t = {0};
    lgv_text_append(&t, (const char *)number, sizeof number);
    for (unsigned what = 0; what < LANE_NUMBERS; what++)
        for (unsigned l = 0; l < LGV_UNIT; l++) {
            unsigned at = l < w->piece.used ? l : w->piece.used - 1, lane = at % w->lanes;
            const struct lgv_block *b = &w->block[at / w->lanes].block;
            const uint64_t value[LANE_NUMBERS] = {(uint64_t)b->fail[lane], b->fail_step[lane], b->clipped[lane],
                                                  b->astray[lane]};
            lgv_text_append_count(&t, value[what]);
        }
    for (size_t i = 0; i < k->nstate; i++)
        for (unsigned l = 0; l < LGV_UNIT; l++) {
            unsigned at = l < w->piece.used ? l : w->piece.used - 1;
            const double *x = &w->block[at / w->lanes].block.state[i * w->lanes + at % w->lanes];
            lgv_text_append(&t, (const char *)x, sizeof *x);
        }
    lgv_text_append(&t, (const char *)w->values, times * k->watch.count * LGV_UNIT * sizeof(double));
    if (crossings) lgv_text_append(&t, (const char *)w->crossing, LGV_UNIT * crossings * sizeof(double));
    if (lgv_record_all(w))
        lgv_text_append(&t, (const char *)w->states, times * recorded_rows(w) * LGV_UNIT * sizeof(double));
    if (t.failed) lgv_text_free(&t);
    *out = (struct lgv_suspended){w->piece.unit, t.data, t.data ? t.size : 0};
    return t.data != NULL;
}

/* ---- and back ---- */

/* Does it belong to this unit, and can the run have come there? */
static bool fits(const struct worker *w, const uint64_t number[NUMBERS]) {
    const struct lgv_kernel *k = w->job->plan->kernel;
    const uint64_t step = number[1], times = number[2];
    return number[0] == w->piece.used && step <= w->job->plan->steps && times >= 1 && times <= w->ntimes &&
           number[3] == k->nstate && number[4] == k->watch.count && number[5] == crossing_values(w) &&
           number[7] == recorded_rows(w) &&
           w->time_step[times - 1] <= step && (times == w->ntimes || w->time_step[times] > step);
}

/* Numbers of crossings are places in an array. */
static bool counts_are_counts(const struct worker *w) {
    const struct lgv_kernel *k = w->job->plan->kernel;
    size_t first = k->nstate - LGV_SECTION_ROWS * k->watch.sections;
    for (size_t i = first + 1; i < k->nstate; i += LGV_SECTION_ROWS)
        for (unsigned l = 0; l < w->nblocks * w->lanes; l++) {
            double x = w->block[l / w->lanes].block.state[i * w->lanes + l % w->lanes];
            if (!(x >= 0 && x < 1e15)) return false;
        }
    return true;
}

static bool take_lanes(struct worker *w, struct lgv_bytes *b) {
    bool ok = true;
    for (unsigned what = 0; what < LANE_NUMBERS; what++)
        for (unsigned l = 0; l < LGV_UNIT; l++) {
            uint64_t x = lgv_bytes_count(b);
            if (l >= w->nblocks * w->lanes) continue;
            struct lgv_block *block = &w->block[l / w->lanes].block;
            unsigned lane = l % w->lanes;
            if (what == 0) ok = ok && x <= LGV_FAIL_LAST;
            if (what == 0) block->fail[lane] = ok ? (int)x : 0;
            if (what == 1) block->fail_step[lane] = x;
            if (what == 2) block->clipped[lane] = x;
            if (what == 3) block->astray[lane] = x;
        }
    return ok;
}

size_t lgv_suspend_end(struct worker *w, const struct lgv_suspended *from) {
    const struct lgv_kernel *k = w->job->plan->kernel;
    struct lgv_bytes b = {.at = from->data, .left = from->size};
    uint64_t number[NUMBERS];
    lgv_bytes_take(&b, number, sizeof number);
    if (b.bad || !fits(w, number)) return 0;
    const size_t times = (size_t)number[2], values = times * k->watch.count * LGV_UNIT * sizeof(double);
    const size_t crossings = LGV_UNIT * (size_t)number[5] * sizeof(double);
    const size_t states = times * (size_t)number[7] * LGV_UNIT * sizeof(double);
    if (b.left != (LANE_NUMBERS + k->nstate) * LGV_UNIT * sizeof(double) + values + crossings + states) return 0;
    if (!take_lanes(w, &b)) return 0;
    for (size_t i = 0; i < k->nstate; i++)
        for (unsigned l = 0; l < LGV_UNIT; l++) {
            double x;
            lgv_bytes_take(&b, &x, sizeof x);
            if (l < w->nblocks * w->lanes) w->block[l / w->lanes].block.state[i * w->lanes + l % w->lanes] = x;
        }
    if (!counts_are_counts(w)) return 0;
    lgv_bytes_take(&b, w->values, values);
    if (crossings) lgv_bytes_take(&b, w->crossing, crossings);
    if (states) lgv_bytes_take(&b, w->states, states);
    for (unsigned i = 0; i < w->nblocks; i++) w->block[i].block.step = number[1];
    w->lost = (unsigned)number[6];
    return times;
}
