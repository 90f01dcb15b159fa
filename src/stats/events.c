/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events along paths: when each path had one first, how often it began, and the part of the paths that have not had it.
 *
 * The latter is the estimate of Kaplan & Meier (1958), doi:10.1080/01621459.1958.10501452, at the output times: paths
 * that failed leave without having had it.  Without failures it is 1 - F(t), F being the part of all paths that had it
 * up to t.  Its standard error is Greenwood's, sqrt(S (1 - S) / N) without failures.  A path that has stopped for
 * another reason is one that does not have the event any more.
 *
 * Everything across paths is a count or an exact sum. */
#include "base/exact.h"
#include "kernel/text/abi.h"
#include "stats/collect.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LISTED 65536 /* paths, from the first on, whose times are part of the result */

struct seen { /* of one event */
    struct lgv_exact sum, squares; /* of first-passage times */
    uint64_t had, entries, squared, most;
    double first, last;
    uint64_t *count, *lost; /* [ntimes] that had it, and that failed without, up to each output time */
};

struct listed {
    uint64_t path;
    double time, entries;
};

struct object {
    struct lgv_shape shape;
    double *time; /* [ntimes] */
    uint64_t paths;
    struct seen *event;     /* [nevents] */
    struct listed *listed;  /* [nlisted][nevents], in any order of paths */
    size_t nlisted, room;
};

static void destroy(void *object) {
    struct object *o = object;
    if (!o) return;
    for (size_t k = 0; o->event && k < o->shape.nevents; k++) {
        lgv_exact_free(&o->event[k].sum, 1);
        lgv_exact_free(&o->event[k].squares, 1);
        free(o->event[k].count);
        free(o->event[k].lost);
    }
    free(o->event);
    free(o->listed);
    free(o->time);
    free(o);
}

static void *create(const void *shape) {
    struct object *o = lgv_new(1, sizeof *o);
    if (!o) return NULL;
    o->shape = *(const struct lgv_shape *)shape;
    o->event = lgv_new(o->shape.nevents + 1, sizeof *o->event);
    o->time = lgv_new(o->shape.ntimes + 1, sizeof *o->time);
    bool ok = o->event && o->time;
    for (size_t i = 0; ok && i < o->shape.ntimes; i++)
        o->time[i] = o->shape.t0 + (double)o->shape.time_step[i] * o->shape.dt;
    for (size_t k = 0; ok && k < o->shape.nevents; k++) {
        struct seen *e = &o->event[k];
        e->first = INFINITY;
        e->last = -INFINITY;
        e->count = lgv_new(o->shape.ntimes, sizeof *e->count);
        e->lost = lgv_new(o->shape.ntimes, sizeof *e->lost);
        ok = e->count && e->lost;
    }
    if (ok) return o;
    destroy(o);
    return NULL;
}

/* The first output time that is not before t; the last one when there is none, but for round-off. */
static size_t output_of(const struct object *o, double t) {
    size_t low = 0, high = o->shape.ntimes - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (o->time[middle] < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool add_passage(const struct object *o, struct seen *e, double t) {
    double square = t * t;
    e->had++;
    e->count[output_of(o, t)]++;
    e->first = fmin(e->first, t);
    e->last = fmax(e->last, t);
    return lgv_exact_add(&e->sum, t) && lgv_exact_add(&e->squares, square) &&
           lgv_exact_add(&e->squares, __builtin_fma(t, t, -square));
}

static bool add_path(struct object *o, const struct lgv_piece *piece, unsigned l) {
    size_t n = o->shape.nevents;
    bool listed = piece->path + l < LISTED, ok = true;
    if (listed && !lgv_grow(&o->listed, &o->room, (o->nlisted + 1) * n, sizeof *o->listed)) return false;
    for (size_t k = 0; ok && k < n; k++) {
        const double *row = piece->events + k * LGV_EVENT_ROWS * LGV_UNIT + l;
        double t = row[LGV_UNIT], entries = row[2 * LGV_UNIT];
        struct seen *e = &o->event[k];
        e->entries += (uint64_t)entries;
        e->squared += (uint64_t)entries * (uint64_t)entries;
        if ((uint64_t)entries > e->most) e->most = (uint64_t)entries;
        if (listed) o->listed[o->nlisted * n + k] = (struct listed){piece->path + l, t, entries};
        if (isfinite(t))
            ok = add_passage(o, e, t);
        else if (piece->fail[l] && piece->fail[l] != LGV_STOPPED)
            e->lost[output_of(o, o->shape.t0 + (double)(piece->fail_step[l] + 1) * o->shape.dt)]++;
    }
    o->nlisted += listed;
    return ok;
}

static bool add(void *object, const struct lgv_piece *piece) {
    struct object *o = object;
    bool ok = true;
    if (!piece->events || !piece->complete) return true;
    o->paths += piece->used;
    for (unsigned l = 0; ok && l < piece->used; l++) ok = add_path(o, piece, l);
    return ok;
}

static bool merge(void *object, const void *other) {
    struct object *a = object;
    const struct object *b = other;
    size_t n = a->shape.nevents, times = a->shape.ntimes;
    bool ok = lgv_grow(&a->listed, &a->room, (a->nlisted + b->nlisted) * n, sizeof *a->listed);
    if (ok && b->nlisted)
        memcpy(a->listed + a->nlisted * n, b->listed, b->nlisted * n * sizeof *b->listed);
    if (ok) a->nlisted += b->nlisted;
    a->paths += b->paths;
    for (size_t k = 0; ok && k < n; k++) {
        struct seen *x = &a->event[k];
        const struct seen *y = &b->event[k];
        ok = lgv_exact_merge(&x->sum, &y->sum) && lgv_exact_merge(&x->squares, &y->squares);
        x->had += y->had;
        x->entries += y->entries;
        x->squared += y->squared;
        if (y->most > x->most) x->most = y->most;
        x->first = fmin(x->first, y->first);
        x->last = fmax(x->last, y->last);
        for (size_t i = 0; i < times; i++) x->count[i] += y->count[i], x->lost[i] += y->lost[i];
    }
    return ok;
}

static void save(void *object, struct lgv_text *out) {
    const struct object *o = object;
    size_t n = o->shape.nevents;
    if (!n) return;
    lgv_text_append_count(out, o->paths);
    for (size_t k = 0; k < n; k++) {
        const struct seen *e = &o->event[k];
        const uint64_t number[] = {e->had, e->entries, e->squared, e->most};
        const double ends[] = {e->first, e->last};
        lgv_text_append(out, (const char *)number, sizeof number);
        lgv_text_append(out, (const char *)ends, sizeof ends);
        lgv_text_append(out, (const char *)e->count, o->shape.ntimes * sizeof *e->count);
        lgv_text_append(out, (const char *)e->lost, o->shape.ntimes * sizeof *e->lost);
        lgv_exact_save(&e->sum, out);
        lgv_exact_save(&e->squares, out);
    }
    lgv_text_append_count(out, o->nlisted);
    if (o->nlisted) lgv_text_append(out, (const char *)o->listed, o->nlisted * n * sizeof *o->listed);
}

static bool load(void *object, struct lgv_bytes *from) {
    struct object *o = object;
    size_t n = o->shape.nevents;
    if (!n) return true;
    o->paths = lgv_bytes_count(from);
    for (size_t k = 0; k < n; k++) {
        struct seen *e = &o->event[k];
        uint64_t number[4];
        double ends[2];
        lgv_bytes_take(from, number, sizeof number);
        lgv_bytes_take(from, ends, sizeof ends);
        lgv_bytes_take(from, e->count, o->shape.ntimes * sizeof *e->count);
        lgv_bytes_take(from, e->lost, o->shape.ntimes * sizeof *e->lost);
        if (!lgv_exact_load(&e->sum, from) || !lgv_exact_load(&e->squares, from)) return false;
        e->had = number[0];
        e->entries = number[1];
        e->squared = number[2];
        e->most = number[3];
        e->first = ends[0];
        e->last = ends[1];
    }
    uint64_t listed = lgv_bytes_count(from);
    if (listed > from->left / (n * sizeof *o->listed)) from->bad = true;
    if (from->bad) return true;
    if (!lgv_grow(&o->listed, &o->room, (size_t)listed * n, sizeof *o->listed)) return false;
    o->nlisted = (size_t)listed;
    lgv_bytes_take(from, o->listed, o->nlisted * n * sizeof *o->listed);
    return true;
}

/* ---- the result ---- */

static int by_path(const void *a, const void *b) {
    uint64_t x = ((const struct listed *)a)->path, y = ((const struct listed *)b)->path;
    return (x > y) - (x < y);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool put_listed(const struct object *o, size_t k, struct lgv_finding *f) {
    static const char *const name[LGV_QUANTILES] = {"q05", "q25", "q50", "q75", "q95"};
    double *time = lgv_finding_array(f, "time", o->nlisted, 1);
    double *entries = lgv_finding_array(f, "entries", o->nlisted, 1), *sorted = lgv_new(o->nlisted + 1, sizeof *sorted);
    bool ok = time && entries && sorted;
    size_t n = 0;
    for (size_t i = 0; ok && i < o->nlisted; i++) {
        const struct listed *x = &o->listed[i * o->shape.nevents + k];
        time[i] = isfinite(x->time) ? x->time : (double)NAN;
        entries[i] = x->entries;
        if (isfinite(x->time)) sorted[n++] = x->time;
    }
    if (ok && n) qsort(sorted, n, sizeof *sorted, by_value);
    for (size_t q = 0; ok && q < LGV_QUANTILES; q++) {
        double at = lgv_quantile_levels[q] * (double)(n ? n - 1 : 0);
        size_t i = (size_t)at, next = i + 1 < n ? i + 1 : i;
        ok = lgv_finding_number(f, name[q],
                                n ? sorted[i] + (at - (double)i) * (sorted[next] - sorted[i]) : (double)NAN);
    }
    free(sorted);
    return ok;
}

static bool put_survival(const struct object *o, const struct seen *e, struct lgv_finding *f) {
    size_t n = o->shape.ntimes;
    double *count = lgv_finding_array(f, "count", n, 1), *survival = lgv_finding_array(f, "survival", n, 1);
    double *error = lgv_finding_array(f, "survival_stderr", n, 1);
    if (!count || !survival || !error) return false;
    /* Between losses the product of Kaplan and Meier is one quotient. */
    double base = 1, all = (double)o->paths, left = all, greenwood = 0;
    for (size_t i = 0; i < n; i++) {
        double had = (double)e->count[i], lost = (double)e->lost[i];
        if (left > had && had > 0) greenwood += had / (left * (left - had));
        left -= had;
        count[i] = had;
        survival[i] = all > 0 ? base * (left / all) : base;
        error[i] = survival[i] * sqrt(greenwood);
        if (lost > 0) {
            base = survival[i];
            all = left = left - lost;
        }
    }
    return true;
}

static bool put_event(struct object *o, size_t k, struct lgv_result *r) {
    const struct lgv_event *event = &o->shape.event[k];
    struct seen *e = &o->event[k];
    struct lgv_finding *f = lgv_finding_add(r, LGV_FOUND_EVENTS, event->name, event->text);
    if (!f) return false;
    double n = (double)e->had, paths = (double)o->paths, nan = (double)NAN;
    double variance = e->had > 1 ? lgv_exact_comoment(e->had, &e->sum, &e->sum, &e->squares) / (n - 1) : nan;
    double mean = (double)e->entries / paths; /* of entries, whose squares are whole numbers */
    double spread = o->paths > 1 ? fmax(0, (double)e->squared - paths * mean * mean) / (paths - 1) : nan;
    return lgv_finding_number(f, "paths", paths) && lgv_finding_number(f, "had", n) &&
           lgv_finding_number(f, "stops", event->stops) &&
           lgv_finding_number(f, "mean", e->had ? lgv_exact_round(&e->sum) / n : nan) &&
           lgv_finding_number(f, "std", sqrt(variance)) && lgv_finding_number(f, "stderr", sqrt(variance / n)) &&
           lgv_finding_number(f, "min", e->had ? e->first : nan) &&
           lgv_finding_number(f, "max", e->had ? e->last : nan) && lgv_finding_number(f, "entries_mean", mean) &&
           lgv_finding_number(f, "entries_stderr", sqrt(spread / paths)) &&
           lgv_finding_number(f, "entries_max", (double)e->most) && put_survival(o, e, f) && put_listed(o, k, f);
}

static bool finish(void *object, struct lgv_result *r) {
    struct object *o = object;
    bool ok = true;
    if (o->nlisted) qsort(o->listed, o->nlisted, o->shape.nevents * sizeof *o->listed, by_path);
    for (size_t k = 0; ok && k < o->shape.nevents; k++) ok = put_event(o, k, r);
    return ok;
}

static double bytes(const struct lgv_shape *s) {
    double listed = s->paths < LISTED ? (double)s->paths : LISTED;
    return (double)s->nevents * (16.0 * (double)s->ntimes + 2 * listed * sizeof(struct listed));
}

const struct lgv_collected lgv_events = {
    .collector = {.name = "events", .create = create, .add = add, .merge = merge, .free = destroy,
                  .save = save, .load = load},
    .finish = finish,
    .bytes = bytes,
};
