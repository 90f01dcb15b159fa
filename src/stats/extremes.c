/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The least and the largest value of chosen observables along each path, over every step and the start: the tallies of
 * units.  Over paths: means and deviations by exact sums, extremes, and quantiles of the first paths. */
#include "base/exact.h"
#include "kernel/text/abi.h"
#include "stats/collect.h"
#include <math.h>
#include <stdlib.h>

struct side { /* the least, or the largest values of one observable */
    struct lgv_exact sum, squares;
    double min, max;
    double *early; /* [LGV_EARLY_PATHS] of the first paths, NaN where there is none */
};

struct object {
    struct lgv_shape shape;
    uint64_t paths;
    struct side *side; /* [extremes][2] */
    double *start;     /* [extremes][LGV_UNIT] of the present unit */
};

static void destroy(void *object) {
    struct object *o = object;
    if (!o) return;
    for (size_t i = 0; o->side && i < 2 * o->shape.extremes; i++) {
        lgv_exact_free(&o->side[i].sum, 1);
        lgv_exact_free(&o->side[i].squares, 1);
        free(o->side[i].early);
    }
    free(o->side);
    free(o->start);
    free(o);
}

static void *create(const void *shape) {
    struct object *o = lgv_new(1, sizeof *o);
    if (!o) return NULL;
    o->shape = *(const struct lgv_shape *)shape;
    size_t n = o->shape.extremes;
    o->side = lgv_new(2 * n + 1, sizeof *o->side);
    o->start = lgv_new(n * LGV_UNIT + 1, sizeof *o->start);
    bool ok = o->side && o->start;
    for (size_t i = 0; ok && i < 2 * n; i++) {
        struct side *s = &o->side[i];
        s->min = (double)INFINITY;
        s->max = -(double)INFINITY;
        s->early = lgv_aligned(LGV_EARLY_PATHS + 4);
        ok = s->early != NULL;
        for (size_t k = 0; ok && k < LGV_EARLY_PATHS + 4; k++) s->early[k] = (double)NAN;
    }
    if (ok) return o;
    destroy(o);
    return NULL;
}

static bool add_value(struct side *s, uint64_t path, double x) {
    double square = x * x;
    if (path < LGV_EARLY_PATHS) s->early[path] = x;
    s->min = fmin(s->min, x);
    s->max = fmax(s->max, x);
    return lgv_exact_add(&s->sum, x) && lgv_exact_add(&s->squares, square) &&
           lgv_exact_add(&s->squares, fma(x, x, -square));
}

/* Paths that ended well, at the end of the run or where they were to stop. */
static bool close_unit(struct object *o, const struct lgv_piece *piece) {
    bool ok = true;
    for (unsigned l = 0; l < piece->used; l++) {
        if (piece->fail[l] && piece->fail[l] != LGV_STOPPED) continue;
        o->paths++;
        for (size_t k = 0; ok && k < o->shape.extremes; k++) {
            const double *tally = piece->tally + 2 * o->shape.extreme[k] * LGV_UNIT + l;
            double start = o->start[k * LGV_UNIT + l];
            ok = add_value(&o->side[2 * k], piece->path + l, fmin(start, tally[0])) &&
                 add_value(&o->side[2 * k + 1], piece->path + l, fmax(start, tally[LGV_UNIT]));
        }
    }
    return ok;
}

static bool add(void *object, const struct lgv_piece *piece) {
    struct object *o = object;
    if (piece->first == 0 && piece->count)
        for (size_t i = 0; i < o->shape.extremes * LGV_UNIT; i++)
            o->start[i] = piece->value[o->shape.tallied[o->shape.extreme[i / LGV_UNIT]] * LGV_UNIT + i % LGV_UNIT];
    return !o->shape.extremes || !piece->last || !piece->complete || !piece->tally || close_unit(o, piece);
}

static bool merge(void *object, const void *other) {
    struct object *a = object;
    const struct object *b = other;
    bool ok = true;
    a->paths += b->paths;
    for (size_t i = 0; ok && i < 2 * a->shape.extremes; i++) {
        struct side *s = &a->side[i];
        const struct side *t = &b->side[i];
        s->min = fmin(s->min, t->min);
        s->max = fmax(s->max, t->max);
        for (size_t k = 0; k < LGV_EARLY_PATHS; k++)
            if (isnan(s->early[k])) s->early[k] = t->early[k];
        ok = lgv_exact_merge(&s->sum, &t->sum) && lgv_exact_merge(&s->squares, &t->squares);
    }
    return ok;
}

static void save(void *object, struct lgv_text *out) {
    const struct object *o = object;
    if (!o->shape.extremes) return;
    lgv_text_append_count(out, o->paths);
    for (size_t i = 0; i < 2 * o->shape.extremes; i++) {
        const struct side *s = &o->side[i];
        lgv_text_append(out, (const char *)&s->min, sizeof s->min);
        lgv_text_append(out, (const char *)&s->max, sizeof s->max);
        lgv_text_append(out, (const char *)s->early, LGV_EARLY_PATHS * sizeof *s->early);
        lgv_exact_save(&s->sum, out);
        lgv_exact_save(&s->squares, out);
    }
}

static bool load(void *object, struct lgv_bytes *from) {
    struct object *o = object;
    bool ok = true;
    if (!o->shape.extremes) return true;
    o->paths = lgv_bytes_count(from);
    for (size_t i = 0; ok && i < 2 * o->shape.extremes; i++) {
        struct side *s = &o->side[i];
        lgv_bytes_take(from, &s->min, sizeof s->min);
        lgv_bytes_take(from, &s->max, sizeof s->max);
        lgv_bytes_take(from, s->early, LGV_EARLY_PATHS * sizeof *s->early);
        ok = lgv_exact_load(&s->sum, from) && lgv_exact_load(&s->squares, from);
    }
    return ok;
}

static bool put(struct lgv_finding *f, const char *side, const char *what, double x) {
    char name[32];
    snprintf(name, sizeof name, "%s_%s", side, what);
    return lgv_finding_number(f, name, x);
}

/* Adding 0 makes one zero of the two. */
static bool put_side(struct lgv_finding *f, const char *name, const struct side *s, uint64_t n, struct lgv_ranks *r) {
    static const char *const quantile[LGV_QUANTILES] = {"q05", "q25", "q50", "q75", "q95"};
    double count = (double)n, nan = (double)NAN, q[LGV_QUANTILES];
    double square = n > 1 ? fmax(0, lgv_exact_comoment(n, &s->sum, &s->sum, &s->squares)) : 0;
    double std = n > 1 ? s->max > s->min ? sqrt(square / (count - 1)) : 0 : nan;
    lgv_ranks_quantiles(r, s->early, lgv_keep_numbers(s->early, LGV_EARLY_PATHS), q);
    bool ok = put(f, name, "mean", n ? lgv_exact_round(&s->sum) / count : nan) && put(f, name, "std", std) &&
              put(f, name, "stderr", n > 1 ? std / sqrt(count) : nan) && put(f, name, "min", n ? s->min + 0.0 : nan) &&
              put(f, name, "max", n ? s->max + 0.0 : nan);
    for (int k = 0; ok && k < LGV_QUANTILES; k++) ok = put(f, name, quantile[k], q[k]);
    return ok;
}

static bool finish(void *object, struct lgv_result *r) {
    struct object *o = object;
    struct lgv_ranks *ranks = lgv_ranks_create();
    bool ok = ranks != NULL;
    for (size_t k = 0; ok && k < o->shape.extremes; k++) {
        const struct lgv_series *s = &r->series[o->shape.tallied[o->shape.extreme[k]]];
        struct lgv_finding *f = lgv_finding_add(r, LGV_FOUND_EXTREMES, s->name, s->formula);
        ok = f && lgv_finding_number(f, "paths", (double)o->paths) &&
             put_side(f, "least", &o->side[2 * k], o->paths, ranks) &&
             put_side(f, "largest", &o->side[2 * k + 1], o->paths, ranks);
    }
    lgv_ranks_free(ranks);
    return ok;
}

static double bytes(const struct lgv_shape *s) {
    return (double)s->extremes * 2 * (8.0 * LGV_EARLY_PATHS + 400);
}

const struct lgv_collected lgv_extremes = {
    .collector = {.name = "extremes", .create = create, .add = add, .merge = merge, .free = destroy,
                  .save = save, .load = load},
    .finish = finish,
    .bytes = bytes,
};
