/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An ensemble in parts: collectors of ranges of units, merged in any order, give the bits of the whole run; so does any
 * number of threads.  Means and variances against sums in higher precision. */
#include "helpers.h"
#include "stats/collect.h"

#define PATHS 1333 /* the last unit is not full */
#define TIMES 6
static const uint64_t times[TIMES] = {0, 7, 20, 21, 60, 100}, kept[] = {3, 700, 1332};
static const uint64_t dense[] = {0, 7, 8, 20, 21, 33, 60, 100}, dense_unit[] = {0, 43, 83};
static const struct lgv_collected *const kinds[] = {&lgv_moments, &lgv_changes, &lgv_spread,
                                                    &lgv_endings, &lgv_kept,    &lgv_failures};
#define KINDS (sizeof kinds / sizeof *kinds)

/* Some paths pass the barrier and become infinite. */
#define START "parameters: {beta: 0.5}\ncoordinates: {q: 0.3*normal()}\nmomenta: {p: 1}\nnoise: beta*q\n"
static const char model[] = START "hamiltonian: p^2/2 + q^2/2 - 0.08*q^4\n";
/* The mean of `far` is large compared with its spread. */
static const char calm[] = START "hamiltonian: p^2/2 + q^2/2\nobserve: {far: 1e9 + q}\n";

static struct lgv_shape shape_of(const struct lgv_kernel *k) {
    return (struct lgv_shape){.ntimes = TIMES, .nseries = k->watch.count, .time_step = times, .paths = PATHS,
                              .bins = 10, .nkept = 3, .kept = kept, .ndense = 8, .dense_step = dense};
}

static void create(struct lgv_collecting *list, const struct lgv_shape *shape) {
    for (size_t i = 0; i < KINDS; i++) {
        list[i] = (struct lgv_collecting){&kinds[i]->collector, shape, kinds[i]->collector.create(shape)};
        assert_non_null(list[i].object);
    }
}

/* Units first .. end - 1 into the list. */
static void run_part(const struct lgv_kernel *k, struct lgv_collecting *list, uint64_t first, uint64_t end,
                     unsigned threads) {
    struct lgv_plan plan = {.kernel = k, .dt = 0.1, .steps = 100, .seed = 4, .coarsen = 1, .ntimes = TIMES,
                            .time_step = times, .threads = threads, .ndense = 8, .dense_step = dense,
                            .ndense_units = 3, .dense_unit = dense_unit, .first_unit = first,
                            .paths = end * LGV_UNIT < PATHS ? end * LGV_UNIT : PATHS};
    struct lgv_run_report report;
    assert_int_equal(lgv_ensemble_run(&plan, list, KINDS, NULL, NULL, &report, NULL), LGV_OK);
    free(report.snapshot);
}

static struct lgv_result finish(struct lgv_collecting *list, const struct lgv_kernel *k) {
    struct lgv_result r = {.ntimes = TIMES, .nseries = k->watch.count};
    r.series = lgv_new(r.nseries, sizeof *r.series);
    for (size_t i = 0; i < r.nseries; i++) r.series[i].name = lgv_copy(k->watch.item[i].name);
    for (size_t i = 0; i < KINDS; i++) {
        assert_true(kinds[i]->finish(list[i].object, &r));
        kinds[i]->collector.free(list[i].object);
    }
    return r;
}

static void same(const double *a, const double *b, size_t n, const char *what) {
    for (size_t i = 0; i < n; i++)
        if (memcmp(a + i, b + i, sizeof *a) != 0) fail_msg("%s, entry %zu: %.17g and %.17g", what, i, a[i], b[i]);
}

static void same_results(const struct lgv_result *a, const struct lgv_result *b, size_t ndense) {
    assert_memory_equal(a->alive, b->alive, TIMES * sizeof *a->alive);
    for (size_t i = 0; i < a->nseries; i++) {
        const struct lgv_series *s = &a->series[i], *t = &b->series[i];
        same(s->mean, t->mean, TIMES, "mean");
        same(s->std, t->std, TIMES, "std");
        same(s->err, t->err, TIMES, "stderr");
        same(s->min, t->min, TIMES, "min");
        same(s->max, t->max, TIMES, "max");
        for (size_t k = 0; k < LGV_QUANTILES; k++) same(s->quantile[k], t->quantile[k], TIMES, "quantile");
        same(&s->drift, &t->drift, 1, "drift");
        same(&s->drift_mean, &t->drift_mean, 1, "mean drift");
        same(a->histogram[i].edge, b->histogram[i].edge, 11, "edges");
        same(a->histogram[i].count, b->histogram[i].count, 10, "histogram");
    }
    for (size_t k = 0; k < 3; k++) {
        same(a->sample[k].value, b->sample[k].value, a->nseries * TIMES, "kept");
        same(a->sample[k].dense, b->sample[k].dense, a->nseries * ndense, "kept, dense");
    }
    assert_true(a->failed == b->failed && a->nfailures == b->nfailures && a->paths_done == b->paths_done);
    for (size_t i = 0; i < a->nfailures; i++)
        assert_true(a->failure[i].path == b->failure[i].path && a->failure[i].step == b->failure[i].step &&
                    a->failure[i].reason == b->failure[i].reason);
}

static void test_parts(void **state) {
    (void)state;
    static const uint64_t cut[] = {0, 1, 30, 31, 70, 84};
    static const size_t order[][5] = {{0, 1, 2, 3, 4}, {4, 2, 0, 3, 1}, {1, 0, 4, 3, 2}};
    struct lgv_model *m = model_of(model);
    struct lgv_kernel k = kernel_of(m, "P2N2Q2Lob");
    struct lgv_shape shape = shape_of(&k);
    struct lgv_collecting whole[KINDS], part[5][KINDS], total[KINDS];
    create(whole, &shape);
    run_part(&k, whole, 0, 84, 1);
    struct lgv_result r = finish(whole, &k);
    assert_true(r.failed > 10 && r.failed < 1000 && r.paths_done == PATHS);
    for (size_t way = 0; way < 3; way++) {
        create(total, &shape);
        for (size_t p = 0; p < 5; p++) {
            create(part[p], &shape);
            run_part(&k, part[p], cut[p], cut[p + 1], 1 + (unsigned)way);
        }
        for (size_t p = 0; p < 5; p++)
            for (size_t i = 0; i < KINDS; i++) {
                assert_true(kinds[i]->collector.merge(total[i].object, part[order[way][p]][i].object));
                kinds[i]->collector.free(part[order[way][p]][i].object);
            }
        struct lgv_result t = finish(total, &k);
        same_results(&r, &t, 8);
        lgv_result_clear(&t);
    }
    lgv_result_clear(&r);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

static void test_threads(void **state) {
    (void)state;
    struct lgv_model *m = model_of(model);
    struct lgv_result first = {0};
    for (int way = 0; way < 5; way++) {
        static const unsigned threads[] = {1, 2, 7, 70, 84}, lanes[] = {16, 2, 4, 16, 8};
        struct lgv_kernel k = kernel_with(m, "P2N2Q2Lob", lanes[way], NULL);
        struct lgv_shape shape = shape_of(&k);
        struct lgv_collecting list[KINDS];
        create(list, &shape);
        run_part(&k, list, 0, 84, threads[way]);
        struct lgv_result r = finish(list, &k);
        if (way)
            same_results(&first, &r, 8), lgv_result_clear(&r);
        else
            first = r;
        lgv_kernel_free(&k);
    }
    lgv_result_clear(&first);
    lgv_model_free(m);
}

/* Means and standard deviations against long double sums about the mean, path by path. */
static void test_moments(void **state) {
    (void)state;
    struct lgv_model *m = model_of(calm);
    struct lgv_kernel k = kernel_of(m, "P2N2Q2Lob");
    struct lgv_shape shape = shape_of(&k);
    struct lgv_collecting list[KINDS];
    create(list, &shape);
    run_part(&k, list, 0, 84, 2);
    struct lgv_result r = finish(list, &k);
    double *final = final_values(&k, 0.1, 100, PATHS, 4, 1);
    for (size_t o = 0; o < k.watch.count; o++) {
        long double sum = 0, square = 0, n = 0;
        double low = INFINITY, high = -INFINITY;
        for (size_t p = 0; p < PATHS; p++) {
            double x = final[p * k.watch.count + o];
            if (isnan(x)) continue;
            sum += x, n++, low = fmin(low, x), high = fmax(high, x);
        }
        for (size_t p = 0; p < PATHS; p++) {
            long double d = final[p * k.watch.count + o] - sum / n;
            if (!isnan(final[p * k.watch.count + o])) square += d * d;
        }
        const struct lgv_series *s = &r.series[o];
        double mean = (double)(sum / n), std = (double)sqrtl(square / (n - 1));
        assert_true((double)r.alive[TIMES - 1] == (double)n && s->min[TIMES - 1] == low && s->max[TIMES - 1] == high);
        /* 16 values are added in doubles: a few roundings of their sum */
        if (!(fabs(s->mean[TIMES - 1] - mean) <= 4e-16 * fmax(fabs(low), fabs(high))))
            fail_msg("%s: mean %.17g, not %.17g", s->name, s->mean[TIMES - 1], mean);
        /* of `far`, values have 1e-16 * 1e9 as last digit: nothing is lost beyond that */
        if (!(fabs(s->std[TIMES - 1] - std) <= 1e-14 * std + 1e-16 * fmax(fabs(low), fabs(high))))
            fail_msg("%s: standard deviation %.17g, not %.17g", s->name, s->std[TIMES - 1], std);
    }
    free(final);
    lgv_result_clear(&r);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* A run of few paths has few lanes, and the same bits. */
static void test_few_paths(void **state) {
    (void)state;
    static const struct {
        uint64_t paths, lanes;
    } few[] = {{1, 2}, {2, 2}, {3, 4}, {5, 8}, {9, 16}, {40, 16}};
    struct lgv_model *m = model_of(calm);
    struct lgv_result all = {0};
    for (size_t i = 6; i-- > 0;) {
        struct lgv_settings set;
        struct lgv_result r;
        assert_int_equal(lgv_settings_read(m, &set, NULL), LGV_OK);
        set.paths = few[i].paths;
        set.check_states = 0;
        snprintf(set.keep, sizeof set.keep, "1");
        assert_int_equal(lgv_engine_once(m, &set, NULL, NULL, NULL, &r, NULL), LGV_OK);
        assert_int_equal(r.lanes, few[i].lanes);
        if (i == 5)
            all = r;
        else
            same(r.sample[0].dense, all.sample[0].dense, r.nseries * r.ndense, "path 0"), lgv_result_clear(&r);
    }
    lgv_result_clear(&all);
    lgv_model_free(m);
}

/* Step and reason of a failure do not depend on where chunks and pieces end. */
static void test_failures(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {q: 0.1}\nmomenta: {p: 0}\nnoise: 0.5*q\n"
                                   "hamiltonian: p^2/2 - 200*q^2 + 0.1*q*p\n"); /* infinite after 650 steps or so */
    struct lgv_result first = {0};
    static const uint64_t outputs[] = {1, 528, 2001, 97};
    for (size_t i = 0; i < 4; i++) {
        struct lgv_settings set;
        struct lgv_result r;
        assert_int_equal(lgv_settings_read(m, &set, NULL), LGV_OK);
        snprintf(set.method, sizeof set.method, "P1N1Q2Gau");
        snprintf(set.keep, sizeof set.keep, i == 3 ? "2" : "0");
        set.paths = 8;
        set.step = 0.05;
        set.until = 100.05;
        set.outputs = outputs[i];
        set.check_states = 0;
        assert_int_equal(lgv_engine_once(m, &set, NULL, NULL, NULL, &r, NULL), LGV_FAILED_PATHS);
        assert_int_equal(r.nfailures, 8);
        for (size_t k = 0; i && k < 8; k++)
            if (r.failure[k].step != first.failure[k].step || r.failure[k].reason != first.failure[k].reason)
                fail_msg("path %zu, %d outputs: step %d, reason %d; was %d, %d", k, (int)outputs[i],
                         (int)r.failure[k].step, r.failure[k].reason, (int)first.failure[k].step,
                         first.failure[k].reason);
        if (i)
            lgv_result_clear(&r);
        else
            first = r;
    }
    lgv_result_clear(&first);
    lgv_model_free(m);
}

/* Paths whose start cannot be moved onto the constraint are not alive at any time. */
static void test_lost_starts(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {x in R2: '[1 + normal(), 0]'}\nmomenta: {p: '[0, 1]'}\n"
                                   "hamiltonian: dot(p, p)/2\nconstraints: exp(-4*dot(x, x)) - exp(-4)\n");
    struct lgv_settings set;
    struct lgv_result r;
    assert_int_equal(lgv_settings_read(m, &set, NULL), LGV_OK);
    snprintf(set.method, sizeof set.method, "RATTLE");
    set.paths = 64;
    set.until = 0.1;
    set.check_states = 0;
    assert_int_equal(lgv_engine_once(m, &set, NULL, NULL, NULL, &r, NULL), LGV_FAILED_PATHS);
    assert_true(r.failed > 0 && r.failed < 64);
    assert_int_equal(r.alive[0], 64 - r.failed);
    assert_true(isfinite(r.series[0].mean[0]));
    lgv_result_clear(&r);
    lgv_model_free(m);
}

/* The last step ends at `until`, however many there are. */
static void test_ends(void **state) {
    (void)state;
    double step;
    assert_true(lgv_whole_steps(10, 3, &step) == 4 && step == 2.5);
    assert_true(lgv_whole_steps(100000.05, 0.1, &step) == 1000001 && step == 100000.05 / 1000001);
    assert_true(lgv_whole_steps(5e-7, 1, &step) == 1 && step == 5e-7);
    assert_true(lgv_whole_steps(62.8, 0.1, &step) == 628 && step == 0.1);
    assert_true(lgv_whole_steps(1e6, 0.1, &step) == 10000000 && step == 0.1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts), cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_moments),
                                       cmocka_unit_test(test_few_paths), cmocka_unit_test(test_failures),
                                       cmocka_unit_test(test_lost_starts), cmocka_unit_test(test_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
