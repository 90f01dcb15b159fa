/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Paths that are kept whole, at times close enough for pictures of their orbits. */
#include "stats/collect.h"
#include <math.h>
#include <stdlib.h>

struct object {
    struct lgv_shape shape;
    double *value; /* [nkept][nseries][ndense], NaN where there is none */
};

static void destroy(void *object) {
    struct object *o = object;
    if (o) free(o->value);
    free(o);
}

static void *create(const void *shape) {
    struct object *o = lgv_new(1, sizeof *o);
    if (!o) return NULL;
    o->shape = *(const struct lgv_shape *)shape;
    size_t n = o->shape.nkept * o->shape.nseries * o->shape.ndense;
    o->value = lgv_new(n + 1, sizeof *o->value);
    if (!o->value) {
        destroy(o);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) o->value[i] = (double)NAN;
    return o;
}

static bool add(void *object, const struct lgv_piece *piece) {
    struct object *o = object;
    const struct lgv_shape *s = &o->shape;
    for (size_t k = 0; k < s->nkept; k++) {
        uint64_t lane = s->kept[k] - piece->path;
        if (s->kept[k] < piece->path || lane >= piece->used) continue;
        for (size_t t = 0; t < piece->count; t++)
            for (size_t i = 0; piece->alive[t] >> lane & 1 && i < s->nseries; i++)
                o->value[(k * s->nseries + i) * s->ndense + piece->first + t] =
                    piece->value[(t * s->nseries + i) * LGV_UNIT + lane];
    }
    return true;
}

static bool merge(void *object, const void *other) {
    struct object *a = object;
    const struct object *b = other;
    for (size_t i = 0; i < a->shape.nkept * a->shape.nseries * a->shape.ndense; i++)
        if (isnan(a->value[i])) a->value[i] = b->value[i];
    return true;
}

/* Paths that are not known are left out: a part of an ensemble has few of them. */
static void save(void *object, struct lgv_text *out) {
    const struct object *o = object;
    size_t n = o->shape.nseries * o->shape.ndense;
    for (size_t k = 0; k < o->shape.nkept; k++) {
        uint64_t known = 0;
        for (size_t i = 0; i < n && !known; i++) known = isnan(o->value[k * n + i]) ? 0u : 1u;
        lgv_text_append_count(out, known);
        if (known) lgv_text_append(out, (const char *)(o->value + k * n), n * sizeof *o->value);
    }
}

static bool load(void *object, struct lgv_bytes *from) {
    struct object *o = object;
    size_t n = o->shape.nseries * o->shape.ndense;
    for (size_t k = 0; k < o->shape.nkept; k++)
        if (lgv_bytes_count(from)) lgv_bytes_take(from, o->value + k * n, n * sizeof *o->value);
    return true;
}

/* The output times are among the dense ones. */
static void thin(const struct lgv_shape *s, const double *dense, double *out) {
    for (size_t t = 0, d = 0; t < s->ntimes; t++) {
        while (s->dense_step[d] < s->time_step[t]) d++;
        out[t] = dense[d];
    }
}

static bool finish(void *object, struct lgv_result *r) {
    struct object *o = object;
    const struct lgv_shape *s = &o->shape;
    r->sample = lgv_new(s->nkept + 1, sizeof *r->sample);
    if (!r->sample) return false;
    for (size_t k = 0; k < s->nkept; k++, r->nsamples++) {
        struct lgv_sample *x = &r->sample[k];
        *x = (struct lgv_sample){.path = s->kept[k],
                                 .value = lgv_new(s->nseries * s->ntimes, sizeof(double)),
                                 .dense = lgv_new(s->nseries * s->ndense, sizeof(double))};
        if (!x->value || !x->dense) {
            r->nsamples++;
            return false;
        }
        for (size_t i = 0; i < s->nseries; i++) {
            const double *from = o->value + (k * s->nseries + i) * s->ndense;
            for (size_t t = 0; t < s->ndense; t++) x->dense[i * s->ndense + t] = from[t];
            thin(s, from, x->value + i * s->ntimes);
        }
    }
    return true;
}

static double bytes(const struct lgv_shape *s) {
    return 8.0 * (double)s->nkept * (double)s->nseries * (2.0 * (double)s->ndense + (double)s->ntimes);
}

const struct lgv_collected lgv_kept = {
    .collector = {.name = "samples", .shared = true, .dense = true, .create = create, .add = add, .merge = merge,
                  .free = destroy, .save = save, .load = load},
    .finish = finish,
    .bytes = bytes,
};
