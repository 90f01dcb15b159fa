/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What has been collected of an ensemble: statistics, counts, states for the certificate, and of which paths.
 * Everything in it merges in any order with the same bits. */
#include "engine/private.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool lgv_collection_begin(struct lgv_collection *c, const struct lgv_layout *layout) {
    size_t n = layout->plan.nsnapshots * LGV_UNIT * (layout->plan.kernel->nx + layout->plan.kernel->np);
    *c = (struct lgv_collection){0};
    c->report.snapshot = lgv_new(n + 1, sizeof *c->report.snapshot);
    if (!c->report.snapshot || !lgv_statistics_begin(&c->statistics, &layout->shape)) {
        lgv_collection_end(c);
        return false;
    }
    for (size_t i = 0; i < n; i++) c->report.snapshot[i] = (double)NAN;
    return true;
}

void lgv_collection_end(struct lgv_collection *c) {
    lgv_statistics_end(&c->statistics);
    lgv_suspended_free(c->suspended, c->nsuspended);
    lgv_suspended_free(c->ended, c->nended);
    free(c->suspended);
    free(c->ended);
    free(c->report.snapshot);
    free(c->range);
    *c = (struct lgv_collection){0};
}

struct lgv_range lgv_unit_range(uint64_t unit, uint64_t paths) {
    uint64_t end = (unit + 1) * LGV_UNIT;
    return (struct lgv_range){unit * LGV_UNIT, end < paths ? end : paths};
}

static bool insert(struct lgv_suspended **list, size_t *count, size_t *room, struct lgv_suspended s) {
    if (!lgv_grow(list, room, *count + 1, sizeof s)) {
        lgv_suspended_free(&s, 1);
        return false;
    }
    size_t at = (*count)++;
    for (; at > 0 && (*list)[at - 1].unit > s.unit; at--) (*list)[at] = (*list)[at - 1];
    (*list)[at] = s;
    return true;
}

bool lgv_collection_suspend(struct lgv_collection *c, struct lgv_suspended s) {
    return insert(&c->suspended, &c->nsuspended, &c->suspended_room, s);
}

bool lgv_collection_ended(struct lgv_collection *c, struct lgv_suspended s) {
    return insert(&c->ended, &c->nended, &c->ended_room, s);
}

bool lgv_collection_gap(const struct lgv_collection *c, uint64_t paths, struct lgv_range *out) {
    size_t r = 0, s = 0;
    uint64_t at = 0;
    for (bool moved = true; moved;) {
        moved = false;
        while (r < c->nranges && c->range[r].first <= at) at = c->range[r].end > at ? c->range[r].end : at, r++;
        while (s < c->nsuspended && c->suspended[s].unit * LGV_UNIT <= at) {
            uint64_t end = (c->suspended[s++].unit + 1) * LGV_UNIT;
            if (end > at) at = end, moved = true;
        }
    }
    *out = (struct lgv_range){at, paths};
    if (r < c->nranges && c->range[r].first < paths) out->end = c->range[r].first;
    if (s < c->nsuspended && c->suspended[s].unit * LGV_UNIT < out->end) out->end = c->suspended[s].unit * LGV_UNIT;
    return out->first < out->end;
}

void lgv_report_add(struct lgv_run_report *r, const struct lgv_run_report *other, size_t snapshots) {
    r->seconds += other->seconds;
    r->path_steps += other->path_steps;
    r->clipped += other->clipped;
    r->astray += other->astray;
    if (other->deepest > r->deepest) r->deepest = other->deepest;
    r->iterated += other->iterated;
    r->vec_steps += other->vec_steps;
    r->iterations = r->vec_steps ? (double)r->iterated / (double)r->vec_steps : 0;
    r->stopped = r->stopped || other->stopped;
    if (other->threads > r->threads) r->threads = other->threads;
    for (size_t i = 0; i < snapshots; i++) /* only the part with the first unit has any */
        if (isnan(r->snapshot[i])) r->snapshot[i] = other->snapshot[i];
}

/* Keeps the ranges ascending, and joins those that touch. */
bool lgv_ranges_add(struct lgv_collection *c, struct lgv_range r) {
    struct lgv_range *list = lgv_new(c->nranges + 1, sizeof *list);
    size_t n = 0, i = 0;
    if (!list) return false;
    while (i < c->nranges && c->range[i].end < r.first) list[n++] = c->range[i++];
    for (; i < c->nranges && c->range[i].first <= r.end; i++) {
        if (c->range[i].first < r.first) r.first = c->range[i].first;
        if (c->range[i].end > r.end) r.end = c->range[i].end;
    }
    list[n++] = r;
    while (i < c->nranges) list[n++] = c->range[i++];
    free(c->range);
    c->range = list;
    c->nranges = n;
    return true;
}

bool lgv_collection_merge(struct lgv_collection *c, const struct lgv_collection *other, size_t snapshots) {
    if (!lgv_statistics_merge(&c->statistics, &other->statistics)) return false;
    lgv_report_add(&c->report, &other->report, snapshots);
    for (size_t i = 0; i < other->nranges; i++)
        if (!lgv_ranges_add(c, other->range[i])) return false;
    for (size_t i = 0; i < other->nsuspended; i++) {
        struct lgv_suspended s;
        if (!lgv_suspended_copy(&other->suspended[i], &s) || !lgv_collection_suspend(c, s)) return false;
    }
    for (size_t i = 0; i < other->nended; i++) {
        struct lgv_suspended s;
        if (!lgv_suspended_copy(&other->ended[i], &s) || !lgv_collection_ended(c, s)) return false;
    }
    return true;
}
