/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How many paths were done, how many failed, and the details of the failed ones with the lowest numbers. */
#include "stats/collect.h"
#include <stdlib.h>

#define MAX_FAILURES 10000

struct object {
    struct lgv_failure *failure; /* sorted and cut to MAX_FAILURES when it becomes long */
    size_t nfailures, capacity;
    uint64_t failed, complete, stopped;
};

static void destroy(void *object) {
    struct object *o = object;
    if (o) free(o->failure);
    free(o);
}

static void *create(const void *shape) {
    (void)shape;
    return lgv_new(1, sizeof(struct object));
}

static int by_path(const void *a, const void *b) {
    uint64_t x = ((const struct lgv_failure *)a)->path, y = ((const struct lgv_failure *)b)->path;
    return (x > y) - (x < y);
}

static void lowest(struct object *o) {
    if (o->nfailures) qsort(o->failure, o->nfailures, sizeof *o->failure, by_path);
    if (o->nfailures > MAX_FAILURES) o->nfailures = MAX_FAILURES;
}

static bool record(struct object *o, struct lgv_failure f) {
    if (o->nfailures >= 2 * MAX_FAILURES) lowest(o);
    if (!lgv_grow(&o->failure, &o->capacity, o->nfailures + 1, sizeof *o->failure)) return false;
    o->failure[o->nfailures++] = f;
    return true;
}

static bool add(void *object, const struct lgv_piece *piece) {
    struct object *o = object;
    if (!piece->last) return true;
    if (piece->complete) o->complete += piece->used;
    for (unsigned l = 0; l < piece->used; l++) {
        if (piece->fail[l] == LGV_STOPPED && piece->complete) o->stopped++; /* of the paths that are counted */
        if (!piece->fail[l] || piece->fail[l] == LGV_STOPPED) continue;
        o->failed++;
        if (!record(o, (struct lgv_failure){piece->path + l, piece->fail_step[l], piece->fail[l]})) return false;
    }
    return true;
}

static bool merge(void *object, const void *other) {
    struct object *a = object;
    const struct object *b = other;
    a->failed += b->failed;
    a->complete += b->complete;
    a->stopped += b->stopped;
    for (size_t i = 0; i < b->nfailures; i++)
        if (!record(a, b->failure[i])) return false;
    return true;
}

static void save(void *object, struct lgv_text *out) {
    const struct object *o = object;
    lgv_text_append_count(out, o->failed);
    lgv_text_append_count(out, o->complete);
    lgv_text_append_count(out, o->stopped);
    lgv_text_append_count(out, o->nfailures);
    for (size_t i = 0; i < o->nfailures; i++) {
        lgv_text_append_count(out, o->failure[i].path);
        lgv_text_append_count(out, o->failure[i].step);
        lgv_text_append_count(out, (uint64_t)o->failure[i].reason);
    }
}

static bool load(void *object, struct lgv_bytes *from) {
    struct object *o = object;
    bool ok = true;
    o->failed = lgv_bytes_count(from);
    o->complete = lgv_bytes_count(from);
    o->stopped = lgv_bytes_count(from);
    for (uint64_t left = lgv_bytes_count(from); ok && left > 0 && !from->bad; left--) {
        uint64_t path = lgv_bytes_count(from), step = lgv_bytes_count(from), reason = lgv_bytes_count(from);
        if (reason > LGV_FAIL_LAST) from->bad = true;
        if (!from->bad) ok = record(o, (struct lgv_failure){path, step, (int)reason});
    }
    return ok;
}

static bool finish(void *object, struct lgv_result *r) {
    struct object *o = object;
    lowest(o);
    r->failed = o->failed;
    r->paths_done = o->complete;
    r->stopped = o->stopped;
    r->nfailures = o->nfailures;
    r->failure = o->failure ? o->failure : lgv_new(1, sizeof *r->failure);
    o->failure = NULL;
    return r->failure != NULL;
}

static double bytes(const struct lgv_shape *s) {
    (void)s;
    return 2.0 * MAX_FAILURES * sizeof(struct lgv_failure);
}

const struct lgv_collected lgv_failures = {
    .collector = {.name = "failures", .create = create, .add = add, .merge = merge, .free = destroy,
                  .save = save, .load = load},
    .finish = finish,
    .bytes = bytes,
};
