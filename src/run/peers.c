/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One ensemble by several processes.  Each collects what its own units give; at the end this goes up a tree, process
 * r + 2^k to r, is merged on the way, and comes back to all from process 0.  Everything that is merged is exact, so
 * that the result has the bits of one process.  What a process sends of an ensemble:
 *
 *     numbers      the counts of the enum below
 *     states       of the first unit, NaN in all but one
 *     units        on their way or not begun: number of them, then unit, size and bytes of each
 *     collectors   one after the other, as they save themselves */
#include "run/worker.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WANTED, STOPPED, PATH_STEPS, ITERATIONS, EVALUATIONS, VEC_STEPS, CLIPPED, ASTRAY, DEEPEST, THREADS, COUNTS };

/* ---- up the tree, and back ---- */

static const uint64_t no_memory = 0; /* all that is sent then; else there is a 1 before what is sent */

static void pack_all(const struct lgv_exchange *x, bool ok, struct lgv_text *out) {
    lgv_text_append_count(out, 1);
    if (ok) x->pack(x->user, out);
    if (ok && !out->failed) return;
    lgv_text_free(out);
    *out = (struct lgv_text){0};
}

static bool add_all(const struct lgv_exchange *x, char *data, size_t size) {
    struct lgv_bytes b = {.at = data, .left = data ? size : 0};
    bool ok = lgv_bytes_count(&b) == 1 && !b.bad && x->add(x->user, &b) && !b.bad && !b.left;
    free(data);
    return ok;
}

static bool go_up(const struct lgv_exchange *x, bool ok) {
    const unsigned number = lgv_peers->number, count = lgv_peers->count;
    size_t size = 0;
    for (unsigned k = 1; k < count; k *= 2) {
        if (number & k) {
            struct lgv_text t = {0};
            pack_all(x, ok, &t);
            lgv_peers->send(number - k, t.data ? t.data : (const char *)&no_memory, t.data ? t.size : sizeof no_memory);
            lgv_text_free(&t);
            break;
        }
        if (number + k >= count) continue;
        char *data = lgv_peers->receive(number + k, &size);
        if (ok) ok = add_all(x, data, size);
        else free(data);
    }
    return ok;
}

bool lgv_peers_exchange(const struct lgv_exchange *x, bool ok) {
    struct lgv_text t = {0};
    ok = go_up(x, ok);
    if (lgv_peers->number == 0) pack_all(x, ok, &t);
    size_t size = t.data ? t.size : sizeof no_memory;
    char *all = lgv_peers->spread(t.data ? t.data : (const char *)&no_memory, &size);
    lgv_text_free(&t);
    bool begun = x->reset(x->user), whole = begun && add_all(x, all, size);
    if (!begun) free(all);
    return !lgv_peers->any(!whole);
}

static size_t snapshots(const struct job *j) {
    return j->plan->nsnapshots * LGV_UNIT * (j->plan->kernel->nx + j->plan->kernel->np);
}

/* ---- objects of one process ---- */

static void free_own(struct job *j) {
    for (size_t i = 0; j->own && i < j->ncollectors; i++)
        if (j->own[i].object) j->own[i].kind->free(j->own[i].object);
}

static bool create_own(struct job *j) {
    bool ok = j->own != NULL;
    for (size_t i = 0; j->own && i < j->ncollectors; i++) {
        j->own[i].object = j->own[i].kind->create(j->own[i].shape);
        ok = ok && j->own[i].object;
    }
    return ok;
}

void lgv_peers_begin(struct job *j) {
    lgv_peers->begin();
    j->crew.dealt = true;
    j->own = lgv_new(j->ncollectors + 1, sizeof *j->own);
    if (j->own) memcpy(j->own, j->list, j->ncollectors * sizeof *j->own);
    if (!create_own(j)) lgv_crew_no_memory(&j->crew);
}

/* ---- bytes ---- */

static void pack(void *user, struct lgv_text *out) {
    const struct job *j = user;
    const struct lgv_run_report *r = j->report;
    const uint64_t count[COUNTS] = {
        [WANTED] = atomic_load(&j->wanted),         [STOPPED] = (uint64_t)atomic_load(&j->crew.stop),
        [PATH_STEPS] = atomic_load(&j->path_steps), [ITERATIONS] = atomic_load(&j->iterations),
        [VEC_STEPS] = atomic_load(&j->vec_steps),   [EVALUATIONS] = atomic_load(&j->evaluations),
        [CLIPPED] = atomic_load(&j->clipped),       [ASTRAY] = atomic_load(&j->astray),
        [DEEPEST] = atomic_load(&j->deepest),       [THREADS] = r->threads};
    lgv_text_append(out, (const char *)count, sizeof count);
    lgv_text_append(out, (const char *)r->snapshot, snapshots(j) * sizeof(double));
    lgv_text_append_count(out, r->nsuspended);
    for (size_t i = 0; i < r->nsuspended; i++) {
        lgv_text_append_count(out, r->suspended[i].unit);
        lgv_text_append_count(out, r->suspended[i].size);
        lgv_text_append(out, r->suspended[i].data, r->suspended[i].size);
    }
    lgv_collecting_save(j->own, j->ncollectors, out);
}

static bool add_units(struct job *j, struct lgv_bytes *b) {
    uint64_t count = lgv_bytes_count(b);
    for (uint64_t i = 0; i < count && !b->bad; i++) {
        uint64_t unit = lgv_bytes_count(b), size = lgv_bytes_count(b);
        if (b->bad || size > b->left) return false;
        struct lgv_suspended s = {unit, lgv_copy_n(b->at, (size_t)size), (size_t)size};
        if (!s.data || !lgv_report_suspend(j->report, &s)) return false;
        b->at += size;
        b->left -= (size_t)size;
    }
    return !b->bad;
}

/* Loads them into objects of their own, and merges these. */
static bool add_objects(struct job *j, struct lgv_bytes *b) {
    struct lgv_collecting *other = lgv_new(j->ncollectors + 1, sizeof *other);
    bool ok = other && j->own;
    for (size_t i = 0; ok && i < j->ncollectors; i++) {
        other[i] = j->own[i];
        other[i].object = other[i].kind->create(other[i].shape);
        ok = other[i].object && j->own[i].object;
    }
    ok = ok && lgv_collecting_load(other, j->ncollectors, b) && !b->bad;
    for (size_t i = 0; ok && i < j->ncollectors; i++) ok = other[i].kind->merge(j->own[i].object, other[i].object);
    for (size_t i = 0; other && i < j->ncollectors; i++)
        if (other[i].kind && other[i].object) other[i].kind->free(other[i].object);
    free(other);
    return ok;
}

static bool add(void *user, struct lgv_bytes *from) {
    struct job *j = user;
    uint64_t count[COUNTS] = {0};
    size_t n = snapshots(j);
    lgv_bytes_take(from, count, sizeof count);
    atomic_fetch_add(&j->path_steps, count[PATH_STEPS]);
    atomic_fetch_add(&j->iterations, count[ITERATIONS]);
    atomic_fetch_add(&j->evaluations, count[EVALUATIONS]);
    atomic_fetch_add(&j->vec_steps, count[VEC_STEPS]);
    atomic_fetch_add(&j->clipped, count[CLIPPED]);
    atomic_fetch_add(&j->astray, count[ASTRAY]);
    lgv_deepest(j, count[DEEPEST]);
    j->report->threads += (unsigned)count[THREADS];
    if (count[STOPPED]) atomic_store(&j->crew.stop, 1);
    if (count[WANTED]) atomic_store(&j->wanted, count[WANTED]);
    for (size_t i = 0; i < n && !from->bad; i++) {
        double x;
        lgv_bytes_take(from, &x, sizeof x);
        if (isnan(j->report->snapshot[i])) j->report->snapshot[i] = x;
    }
    return add_units(j, from) && add_objects(j, from);
}

/* As after lgv_peers_begin: what was there is in process 0 by now. */
static bool reset(void *user) {
    struct job *j = user;
    atomic_ullong *count[] = {&j->path_steps, &j->iterations, &j->evaluations, &j->vec_steps,
                              &j->clipped,    &j->astray,     &j->deepest};
    for (size_t i = 0; i < sizeof count / sizeof *count; i++) atomic_store(count[i], 0);
    for (size_t i = 0; i < snapshots(j); i++) j->report->snapshot[i] = (double)NAN;
    lgv_suspended_free(j->report->suspended, j->report->nsuspended);
    j->report->nsuspended = j->report->threads = 0;
    free_own(j);
    return create_own(j);
}

static int by_unit(const void *a, const void *b) {
    const struct lgv_suspended *x = a, *y = b;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

void lgv_peers_end(struct job *j) {
    const struct lgv_exchange x = {pack, add, reset, j};
    if (lgv_crew_stopped(&j->crew)) lgv_peers->stop(true);
    bool ok = lgv_peers_exchange(&x, !atomic_load(&j->crew.no_memory));
    atomic_store(&j->crew.next, lgv_peers->deal(0)); /* nobody takes any more */
    if (j->report->nsuspended)
        qsort(j->report->suspended, j->report->nsuspended, sizeof *j->report->suspended, by_unit);
    for (size_t i = 0; ok && i < j->ncollectors; i++)
        ok = j->list[i].kind->merge(j->list[i].object, j->own[i].object);
    if (!ok) lgv_crew_no_memory(&j->crew);
    free_own(j);
    free(j->own);
    j->own = NULL;
}
