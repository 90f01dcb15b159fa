/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Quantiles along time over all paths, by counts in bins that are fixed before any value is known: in the manner of
 * DDSketch, Masson, Rim & Lee (2019), doi:10.14778/3352063.3352135, for deviations of either sign.
 *
 * With the value c of an observable at the start of path 0, which every part of an ensemble knows, x - c is counted by
 * sign, exponent and the first 7 bits of its mantissa.  A bin is told by its middle, so that every order statistic is
 * known to a part 2^-8 of its distance from c (to 2^-1030 where that is subnormal), however far out or close to c it
 * is, and whatever c is itself.  Counts of the same bins add up: nothing depends on threads, lanes, parts or order. */
#include "stats/collect.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BITS 7
#define BINS (1u << BITS)  /* of an octave */
#define OCTAVES 2048u      /* exponents of a double */
#define KEYS (2 * OCTAVES) /* of a row: negative deviations, then positive ones */

struct chunk { /* the bins of an octave */
    uint64_t key; /* row, sign, exponent */
    uint64_t count[BINS];
};

struct object {
    struct lgv_shape shape;
    struct chunk *chunk;
    size_t count, room;
    struct slot *table; /* open addressing */
    size_t size;        /* a power of 2 */
};

struct slot { /* keys are here too: to find a chunk costs no look at its beginning, which is another line of memory */
    uint64_t key;
    uint64_t chunk; /* 1 + its number, 0 for none */
};

static void destroy(void *object) {
    struct object *o = object;
    if (!o) return;
    free(o->chunk);
    free(o->table);
    free(o);
}

static void *create(const void *shape) {
    struct object *o = lgv_new(1, sizeof *o);
    if (o) o->shape = *(const struct lgv_shape *)shape;
    return o;
}

static size_t place(const struct object *o, uint64_t key) {
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (o->size - 1);
    while (o->table[at].key != key && o->table[at].chunk) at = (at + 1) & (o->size - 1);
    return at;
}

static bool grow_table(struct object *o) {
    size_t size = o->size ? 2 * o->size : 1024;
    struct slot *table = lgv_new(size, sizeof *table);
    if (!table) return false;
    free(o->table);
    o->table = table;
    o->size = size;
    for (size_t i = 0; i < o->count; i++)
        table[place(o, o->chunk[i].key)] = (struct slot){.key = o->chunk[i].key, .chunk = i + 1};
    return true;
}

#define NO_CHUNK SIZE_MAX

/* The number of the chunk of an octave; NO_CHUNK: no memory. */
static size_t chunk_of(struct object *o, uint64_t key) {
    if (2 * o->count >= o->size && !grow_table(o)) return NO_CHUNK;
    size_t at = place(o, key);
    if (!o->table[at].chunk) {
        if (!lgv_grow(&o->chunk, &o->room, o->count + 1, sizeof *o->chunk)) return NO_CHUNK;
        o->chunk[o->count] = (struct chunk){.key = key};
        o->table[at] = (struct slot){.key = key, .chunk = ++o->count};
    }
    return o->table[at].chunk - 1;
}

/* The values of a unit at one time.  Counts are spread over more memory than a cache has: their places are found and
 * asked for first, so that the waits for them run side by side. */
static bool add_row(struct object *o, size_t row, const double *value, double centre, unsigned alive) {
    struct {
        size_t chunk, bin;
    } at[LGV_UNIT];
    unsigned n = 0;
    for (unsigned l = 0; l < LGV_UNIT; l++) {
        double d = value[l] - centre;
        if (!(alive >> l & 1) || !isfinite(value[l])) continue;
        if (!isfinite(d)) d = d > 0 ? 0x1.fffffffffffffp1023 : -0x1.fffffffffffffp1023;
        uint64_t bits, sign = d > 0;
        memcpy(&bits, &d, sizeof bits);
        bits &= INT64_MAX;
        at[n].chunk = chunk_of(o, row * KEYS + sign * OCTAVES + (bits >> 52));
        at[n].bin = bits >> (52 - BITS) & (BINS - 1);
        if (at[n].chunk == NO_CHUNK) return false;
        __builtin_prefetch(&o->chunk[at[n].chunk].count[at[n].bin], 1);
        n++;
    }
    for (unsigned i = 0; i < n; i++) o->chunk[at[i].chunk].count[at[i].bin]++;
    return true;
}

static bool add(void *object, const struct lgv_piece *piece) {
    struct object *o = object;
    size_t n = o->shape.nseries;
    bool ok = true;
    for (size_t t = 0; o->shape.centre && ok && t < piece->count; t++)
        for (size_t k = 0; ok && k < n; k++)
            ok = add_row(o, (piece->first + t) * n + k, piece->value + (t * n + k) * LGV_UNIT, o->shape.centre[k],
                         piece->alive[t]);
    return ok;
}

static bool merge(void *object, const void *other) {
    struct object *a = object;
    const struct object *b = other;
    for (size_t i = 0; i < b->count; i++) {
        size_t at = chunk_of(a, b->chunk[i].key);
        if (at == NO_CHUNK) return false;
        for (size_t k = 0; k < BINS; k++) a->chunk[at].count[k] += b->chunk[i].count[k];
    }
    return true;
}

static void save(void *object, struct lgv_text *out) {
    const struct object *o = object;
    for (size_t i = 0; i < o->count; i++)
        for (size_t k = 0; k < BINS; k++) {
            if (!o->chunk[i].count[k]) continue;
            lgv_text_append_count(out, o->chunk[i].key * BINS + k);
            lgv_text_append_count(out, o->chunk[i].count[k]);
        }
}

static bool load(void *object, struct lgv_bytes *from) {
    struct object *o = object;
    uint64_t rows = (uint64_t)o->shape.ntimes * o->shape.nseries;
    while (from->left && !from->bad) {
        uint64_t at = lgv_bytes_count(from), n = lgv_bytes_count(from);
        if (!o->shape.centre || at / BINS / KEYS >= rows) from->bad = true;
        if (from->bad) break;
        size_t chunk = chunk_of(o, at / BINS);
        if (chunk == NO_CHUNK) return false;
        o->chunk[chunk].count[at % BINS] += n;
    }
    return true;
}

/* ---- results ---- */

/* Chunks in the order of rows and of the values in them. */
static uint64_t rank_of(const struct chunk *c) {
    uint64_t octave = c->key % OCTAVES, sign = c->key / OCTAVES % 2;
    return c->key / KEYS * KEYS + (sign ? OCTAVES + octave : OCTAVES - 1 - octave);
}

static int by_rank(const void *a, const void *b) {
    uint64_t x = rank_of(a), y = rank_of(b);
    return (x > y) - (x < y);
}

/* The middle of a bin. */
static double middle(uint64_t key, uint64_t bin) {
    uint64_t bits = (key % OCTAVES) << 52 | bin << (52 - BITS), next = bits + (UINT64_C(1) << (52 - BITS)) - 1;
    double low, high;
    memcpy(&low, &bits, sizeof low);
    memcpy(&high, &next, sizeof high);
    double d = bits ? low + (high - low) / 2 : 0;
    return key / OCTAVES % 2 ? d : -d;
}

/* Order statistic number k of the n chunks of a row. */
static double statistic(const struct chunk *c, size_t n, uint64_t k) {
    for (size_t i = 0; i < n; i++) {
        bool positive = c[i].key / OCTAVES % 2;
        for (size_t j = 0; j < BINS; j++) {
            uint64_t bin = positive ? j : BINS - 1 - j;
            if (k < c[i].count[bin]) return middle(c[i].key, bin);
            k -= c[i].count[bin];
        }
    }
    return (double)NAN;
}

/* As for a sample: between two order statistics.  The extremes are known exactly. */
static void finish_row(const struct object *o, const struct chunk *c, size_t n, struct lgv_series *s, size_t series,
                       size_t time) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < BINS; j++) total += c[i].count[j];
    for (size_t k = 0; total && k < LGV_QUANTILES; k++) {
        double at = lgv_quantile_levels[k] * (double)(total - 1);
        uint64_t rank = (uint64_t)at, next = rank + 1 < total ? rank + 1 : rank;
        double a = statistic(c, n, rank), b = statistic(c, n, next);
        double x = o->shape.centre[series] + (a + (at - (double)rank) * (b - a));
        s->quantile[k][time] = fmin(fmax(x, s->min[time]), s->max[time]);
    }
}

static bool finish(void *object, struct lgv_result *r) {
    struct object *o = object;
    size_t n = o->shape.nseries;
    if (!o->shape.centre) return true;
    if (o->count) qsort(o->chunk, o->count, sizeof *o->chunk, by_rank);
    for (size_t i = 0, end; i < o->count; i = end) {
        size_t row = (size_t)(o->chunk[i].key / KEYS);
        for (end = i + 1; end < o->count && o->chunk[end].key / KEYS == row;) end++;
        finish_row(o, o->chunk + i, end - i, &r->series[row % n], row % n, row / n);
    }
    r->sample_paths = r->paths;
    return true;
}

/* Some thirty octaves have values. */
static double bytes(const struct lgv_shape *s) {
    return s->centre ? 32.0 * sizeof(struct chunk) * (double)s->ntimes * (double)s->nseries : 0;
}

const struct lgv_collected lgv_sketch = {
    .collector = {.name = "sketch", .create = create, .add = add, .merge = merge, .free = destroy,
                  .save = save, .load = load},
    .finish = finish,
    .bytes = bytes,
};
