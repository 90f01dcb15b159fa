/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that take units of work, one after the other, and tell somebody how far they have come: what every ensemble
 * and every study runs on. */
#include "run/run.h"
#include <omp.h>

#define MOST_DEALT 1024 /* units at once; those that a stopped process has not begun are handed back */

double lgv_crew_pause = 0.1;
const struct lgv_peers *lgv_peers = NULL;

bool lgv_peers_any(bool mine) {
    return lgv_peers ? lgv_peers->any(mine) : mine;
}

unsigned lgv_crew_run(struct lgv_crew *c, unsigned threads, lgv_crew_work *work, void *user) {
    uint64_t first = atomic_load(&c->next), units = c->end > first ? c->end - first : 0;
    if (threads > units) threads = (unsigned)units;
    if (threads < 1 || omp_in_parallel()) threads = 1; /* there are several crews already */
    c->told = lgv_seconds();
    c->furthest = 0;
    if (threads == 1)
        work(c, user);
    else {
#pragma omp parallel num_threads((int)threads)
        work(c, user);
    }
    return threads;
}

/* A part of what is left, smaller and smaller, so that all processes end at about the same time. */
static bool next_dealt(struct lgv_crew *c, uint64_t *unit) {
    if (c->have == c->have_end && c->seen < c->end) {
        uint64_t count = (c->end - c->seen) / (16 * lgv_peers->count);
        count = count < 1 ? 1 : count > MOST_DEALT ? MOST_DEALT : count;
        uint64_t first = lgv_peers->deal(count);
        c->seen = first + count;
        c->have = first < c->end ? first : c->end;
        c->have_end = c->seen < c->end ? c->seen : c->end;
    }
    *unit = c->have;
    return c->have < c->have_end && ++c->have;
}

bool lgv_crew_next(struct lgv_crew *c, uint64_t *unit) {
    bool ok;
    if (lgv_crew_stopped(c)) return false;
    if (!c->dealt) return (*unit = atomic_fetch_add(&c->next, 1)) < c->end;
#pragma omp critical(lgv_peers)
    ok = next_dealt(c, unit);
    return ok;
}

/* Hears what the other processes say, and tells them. */
static void ask_others(struct lgv_crew *c) {
    bool stop;
    if (!c->dealt) return;
#pragma omp critical(lgv_peers)
    stop = lgv_peers->stop(lgv_crew_stopped(c));
    if (stop) atomic_store(&c->stop, 1);
}

bool lgv_crew_stopped(struct lgv_crew *c) {
    return atomic_load(&c->stop) != 0;
}

void lgv_crew_no_memory(struct lgv_crew *c) {
    atomic_store(&c->no_memory, 1);
    atomic_store(&c->stop, 1);
}

/* By whichever thread comes first: thread 0 may have run out of units while others still work. */
void lgv_crew_tell(struct lgv_crew *c, double fraction) {
    if ((!c->progress && !c->dealt) || atomic_flag_test_and_set(&c->telling)) return;
    double t = lgv_seconds();
    if (t - c->told >= lgv_crew_pause) {
        c->told = t;
        if (fraction > c->furthest) c->furthest = fraction < 1 ? fraction : 1;
        if (c->progress && c->progress(c->user, c->furthest)) atomic_store(&c->stop, 1);
        ask_others(c);
    }
    atomic_flag_clear(&c->telling);
}
