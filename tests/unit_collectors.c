/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectors on made-up units: rows that are added four at a time against rows that are added one by one, the copy for
 * this processor against the one for any, changes along paths and quantiles against the plain way to find them. */
#include "stats/four.h"
#undef HAS_AVX2
#define HAS_AVX2 0
#define lgv_moments plain_moments
#include "../src/stats/moments.c"
#undef lgv_moments
#undef ALL

#undef INLINE
#include "helpers.h"

extern const struct lgv_collected lgv_moments;

#define TIMES 3
#define SERIES 7 /* no multiple of four: rows of one time and the next go together */
#define UNITS 400
#define KINDS 9

static uint64_t random_state = 88172645463325252u;

static double draw(void) { /* in (-1, 1) */
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (double)(int64_t)random_state / 9223372036854775808.0;
}

static double number(int kind) {
    double x = draw(), y = draw();
    switch (kind) {
    case 0: return x;
    case 1: return 1e9 + x;
    case 2: return 3 + 1e-15 * x;                    /* the last bits only */
    case 3: return ldexp(x, (int)(60 * y));          /* some are beyond the limbs */
    case 4: return ldexp(x, (int)(1000 * y));        /* squares overflow */
    case 5: return ldexp(x, -1040);                  /* has no grain */
    case 6: return y > 0.99 ? (double)NAN : y < -0.999 ? INFINITY : x;
    case 7: return y > 0 ? 0.0 : -0.0;
    default: return exp(20 * x);
    }
}

static double value[UNITS][TIMES][SERIES][LGV_UNIT];

static void fill(int kind) {
    for (size_t i = 0; i < sizeof value / sizeof(double); i++) (&value[0][0][0][0])[i] = number(kind);
}

/* Unit u with every path alive, `nseries` of its series from number `first` on, in pieces of `count` times. */
static void add_unit(const struct lgv_collected *c, void *object, size_t u, size_t first, size_t nseries,
                     size_t count) {
    double x[TIMES * SERIES * LGV_UNIT];
    uint16_t alive[TIMES] = {0xffff, 0xffff, 0xffff};
    for (size_t t = 0; t < TIMES; t++)
        memcpy(x + t * nseries * LGV_UNIT, value[u][t][first], nseries * LGV_UNIT * sizeof *x);
    for (size_t t = 0; t < TIMES; t += count) {
        struct lgv_piece piece = {.unit = u, .path = u * LGV_UNIT, .used = LGV_UNIT, .first = t, .count = count,
                                  .value = x + t * nseries * LGV_UNIT, .alive = alive, .last = t + count == TIMES,
                                  .complete = true};
        assert_true(c->collector.add(object, &piece));
    }
}

static struct lgv_result result_of(const struct lgv_collected *c, void *object, size_t nseries) {
    struct lgv_result r = {.ntimes = TIMES, .nseries = nseries, .series = lgv_new(nseries, sizeof *r.series)};
    assert_true(c->finish(object, &r));
    c->collector.free(object);
    return r;
}

static void same(const struct lgv_series *a, const struct lgv_series *b, const char *what) {
    const double *x[] = {a->mean, a->std, a->err, a->min, a->max}, *y[] = {b->mean, b->std, b->err, b->min, b->max};
    for (size_t k = 0; k < 5; k++)
        for (size_t t = 0; t < TIMES; t++)
            if (memcmp(x[k] + t, y[k] + t, sizeof(double)) != 0 && !(isnan(x[k][t]) && isnan(y[k][t])))
                fail_msg("%s, array %zu, time %zu: %a and %a", what, k, t, x[k][t], y[k][t]);
}

/* The units in two objects, merged. */
static struct lgv_result moments_of(const struct lgv_collected *c, size_t first, size_t nseries, size_t count) {
    struct lgv_shape shape = {.ntimes = TIMES, .nseries = nseries};
    void *a = c->collector.create(&shape), *b = c->collector.create(&shape);
    assert_true(a && b);
    for (size_t u = 0; u < UNITS; u++) add_unit(c, u % 3 ? a : b, u, first, nseries, count);
    assert_true(c->collector.merge(a, b));
    c->collector.free(b);
    return result_of(c, a, nseries);
}

static void rows_together(void **unused) {
    (void)unused;
    for (int kind = 0; kind < KINDS; kind++) {
        char what[64];
        fill(kind);
        struct lgv_result fast = moments_of(&lgv_moments, 0, SERIES, TIMES);
        struct lgv_result plain = moments_of(&plain_moments, 0, SERIES, TIMES);
        for (size_t i = 0; i < SERIES; i++) {
            struct lgv_result alone = moments_of(&plain_moments, i, 1, 1);
            snprintf(what, sizeof what, "kind %d, series %zu", kind, i);
            same(&fast.series[i], &plain.series[i], what);
            same(&fast.series[i], &alone.series[0], what);
            lgv_result_clear(&alone);
        }
        lgv_result_clear(&fast);
        lgv_result_clear(&plain);
    }
}

/* So many numbers whose squares just fit into the limbs that these would overflow. */
static void many_units(void **unused) {
    (void)unused;
    struct lgv_shape shape = {.ntimes = TIMES, .nseries = SERIES};
    void *object = lgv_moments.collector.create(&shape);
    const uint64_t units = 150000;
    const double large = -1.93 * 0x1p10;
    for (size_t i = 0; i < sizeof value[0] / sizeof(double); i++) {
        (&value[0][0][0][0])[i] = 1;
        (&value[1][0][0][0])[i] = large;
    }
    for (uint64_t u = 0; u < units; u++) add_unit(&lgv_moments, object, u > 0, 0, SERIES, TIMES);
    struct lgv_result r = result_of(&lgv_moments, object, SERIES);
    double n = 16.0 * (double)units, mean = (16 + (n - 16) * large) / n;
    double std = (1 - large) * sqrt(16 * (n - 16) / (n * (n - 1)));
    for (size_t i = 0; i < SERIES; i++)
        for (size_t t = 0; t < TIMES; t++)
            if (fabs(r.series[i].mean[t] - mean) > 1e-15 * fabs(mean) || fabs(r.series[i].std[t] - std) > 1e-14 * std)
                fail_msg("mean %a and %a, deviation %a and %a", r.series[i].mean[t], mean, r.series[i].std[t], std);
    lgv_result_clear(&r);
}

static void changes(void **unused) {
    (void)unused;
    for (int kind = 0; kind < KINDS; kind++) {
        struct lgv_shape shape = {.ntimes = TIMES, .nseries = SERIES};
        void *object = lgv_changes.collector.create(&shape);
        fill(kind);
        for (size_t u = 0; u < UNITS; u++) add_unit(&lgv_changes, object, u, 0, SERIES, u % 2 ? 1 : TIMES);
        struct lgv_result r = result_of(&lgv_changes, object, SERIES);
        for (size_t i = 0; i < SERIES; i++) {
            double largest = 0;
            for (size_t u = 0; u < UNITS; u++)
                for (size_t t = 0; t < TIMES; t++)
                    for (size_t l = 0; l < LGV_UNIT; l++)
                        largest = fmax(largest, fabs(value[u][t][i][l] - value[u][0][i][l]));
            if (r.series[i].drift != largest) fail_msg("kind %d: %a instead of %a", kind, r.series[i].drift, largest);
        }
        lgv_result_clear(&r);
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void quantiles(void **unused) {
    (void)unused;
    static const size_t sizes[] = {1, 2, 3, 5, 17, 100, 129, 1021, 1023, LGV_EARLY_PATHS};
    static double x[LGV_EARLY_PATHS + 3], sorted[LGV_EARLY_PATHS];
    struct lgv_ranks *ranks = lgv_ranks_create();
    assert_non_null(ranks);
    for (int kind = 0; kind < KINDS + 3; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            size_t n = sizes[s];
            double out[LGV_QUANTILES];
            for (size_t i = 0; i < n; i++) {
                x[i] = kind < KINDS ? number(kind) : kind == KINDS ? 5 : floor(3 * draw());
                if (!isfinite(x[i])) x[i] = 1e300;
                if (kind == KINDS + 2) x[i] = i < 128 ? draw() : 1e3 + draw(); /* most lie outside of the range found */
            }
            memcpy(sorted, x, n * sizeof *x);
            qsort(sorted, n, sizeof *sorted, ascending);
            lgv_ranks_quantiles(ranks, x, n, out);
            for (size_t k = 0; k < LGV_QUANTILES; k++) {
                double at = lgv_quantile_levels[k] * (double)(n - 1), a = sorted[(size_t)at];
                double b = sorted[(size_t)at + ((size_t)at + 1 < n)], want = a + (at - floor(at)) * (b - a);
                if (out[k] != want) fail_msg("kind %d of %zu, level %zu: %a instead of %a", kind, n, k, out[k], want);
            }
        }
    lgv_ranks_free(ranks);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_together), cmocka_unit_test(many_units),
                                       cmocka_unit_test(changes), cmocka_unit_test(quantiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
