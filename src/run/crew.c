/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that take units of work, one after the other, and tell somebody how far they have come: what every ensemble
 * and every study runs on. */
#include "run/run.h"

double lgv_crew_pause = 0.1;

unsigned lgv_crew_run(struct lgv_crew *c, unsigned threads, lgv_crew_work *work, void *user) {
    uint64_t first = atomic_load(&c->next), units = (c->end > first ? c->end - first : 0) + c->beside;
    if (threads > units) threads = (unsigned)units;
    if (threads < 1) threads = 1;
    c->told = lgv_seconds();
    if (threads == 1)
        work(c, user);
    else {
#pragma omp parallel num_threads((int)threads)
        work(c, user);
    }
    return threads;
}

bool lgv_crew_next(struct lgv_crew *c, uint64_t *unit) {
    return !lgv_crew_stopped(c) && (*unit = atomic_fetch_add(&c->next, 1)) < c->end;
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
    if (!c->progress || atomic_flag_test_and_set(&c->telling)) return;
    double t = lgv_seconds();
    if (t - c->told >= lgv_crew_pause) {
        c->told = t;
        if (c->progress(c->user, fraction < 1 ? fraction : 1)) atomic_store(&c->stop, 1);
    }
    atomic_flag_clear(&c->telling);
}
