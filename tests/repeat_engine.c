/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine: an ensemble run whole, in ranges, in parts that are saved and merged in any order, with more paths added
 * later, with any number of threads, has one result, bit for bit.  Parameters do not rebuild the kernel unless its text
 * has them.  Damaged and foreign parts are refused. */
#include "helpers.h"
#include <unistd.h>

#define PATHS 1333 /* the last unit is not full */
/* An implicit method; some paths pass the barrier and become infinite. */
static const char text[] = "name: barrier\nparameters: {beta: 0.5, n: 4}\ncoordinates: {q: 0.3*normal()}\n"
                           "momenta: {p: 1}\n"
                           "hamiltonian: p^2/2 + q^2/2 - 0.08*q^n\nnoise: beta*q\nobserve: {square: q^2}\n"
                           "run: {method: midpoint, step: 0.1, until: 10, paths: 1333, outputs: 5, seed: 4, bins: 10,"
                           " keep: '3,700,1332', keep_increments: yes}\n";
static struct lgv_error err;
static char folder[] = "/tmp/lgv-engine-XXXXXX";

static void good(enum lgv_status status) {
    if (status != LGV_OK) fail_msg("%s", err.message);
}

static void refused(enum lgv_status status, const char *words) {
    assert_int_equal(status, LGV_BAD_INPUT);
    if (!strstr(err.message, words)) fail_msg("'%s' is not in: %s", words, err.message);
}

static struct lgv_engine *engine_of(struct lgv_model *m, const char *threads) {
    struct lgv_engine *e;
    good(lgv_engine_create(m, &e, &err));
    good(lgv_engine_set(e, "threads", threads, &err));
    return e;
}

static struct lgv_result *finish(struct lgv_engine *e, enum lgv_status wanted) {
    struct lgv_result *r;
    if (lgv_engine_finish(e, &r, &err) != wanted) fail_msg("%s", err.message);
    return r;
}

static const char *file_of(const char *name) {
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void same(const double *a, const double *b, size_t n, const char *what) {
    for (size_t i = 0; i < n; i++)
        if (memcmp(a + i, b + i, sizeof *a) != 0) fail_msg("%s, entry %zu: %.17g and %.17g", what, i, a[i], b[i]);
}

static void same_results(const struct lgv_result *a, const struct lgv_result *b) {
    assert_true(a->ntimes == b->ntimes && a->nseries == b->nseries && a->nsamples == b->nsamples &&
                a->nhistograms == b->nhistograms && a->ndense == b->ndense && a->sample_paths == b->sample_paths);
    size_t n = a->ntimes;
    assert_memory_equal(a->alive, b->alive, n * sizeof *a->alive);
    for (size_t i = 0; i < a->nseries; i++) {
        const struct lgv_series *s = &a->series[i], *t = &b->series[i];
        same(s->mean, t->mean, n, "mean");
        same(s->std, t->std, n, "std");
        same(s->err, t->err, n, "stderr");
        same(s->min, t->min, n, "min");
        same(s->max, t->max, n, "max");
        for (size_t k = 0; k < LGV_QUANTILES; k++) same(s->quantile[k], t->quantile[k], n, "quantile");
        same(&s->drift, &t->drift, 1, "drift");
        same(&s->drift_mean, &t->drift_mean, 1, "mean drift");
        same(a->histogram[i].edge, b->histogram[i].edge, a->histogram[i].bins + 1, "edges");
        same(a->histogram[i].count, b->histogram[i].count, a->histogram[i].bins, "histogram");
    }
    for (size_t k = 0; k < a->nsamples; k++) {
        same(a->sample[k].value, b->sample[k].value, a->nseries * n, "kept");
        same(a->sample[k].dense, b->sample[k].dense, a->nseries * a->ndense, "kept, dense");
    }
    same(a->increment, b->increment, a->nsamples * (size_t)a->steps, "increments");
    assert_true(a->failed == b->failed && a->nfailures == b->nfailures && a->paths_done == b->paths_done &&
                a->truncated == b->truncated && a->steps_done == b->steps_done && a->interrupted == b->interrupted);
    for (size_t i = 0; i < a->nfailures; i++)
        assert_true(a->failure[i].path == b->failure[i].path && a->failure[i].step == b->failure[i].step &&
                    a->failure[i].reason == b->failure[i].reason);
    same(&a->newton_iterations, &b->newton_iterations, 1, "iterations");
    same(&a->certificate.symplectic_defect, &b->certificate.symplectic_defect, 1, "defect");
    assert_true(a->nverdicts == b->nverdicts);
    for (size_t i = 0; i < a->nverdicts; i++) same(&a->verdict[i].value, &b->verdict[i].value, 1, a->verdict[i].name);
}

static struct lgv_result *whole_of(struct lgv_model *m) {
    struct lgv_engine *e = engine_of(m, "2");
    good(lgv_engine_run(e, 0, PATHS, &err));
    struct lgv_result *r = finish(e, LGV_FAILED_PATHS);
    assert_true(r->failed > 10 && r->failed < 1000 && r->paths_done == PATHS && !r->interrupted);
    assert_true(isfinite(r->certificate.symplectic_defect)); /* the states of the first unit are there */
    lgv_engine_free(e);
    return r;
}

/* ---- one result ---- */

static const uint64_t cut[] = {0, 16, 480, 496, 1120, PATHS};
static const size_t order[][5] = {{0, 1, 2, 3, 4}, {4, 2, 0, 3, 1}, {1, 0, 4, 3, 2}};
static const char *const threads[] = {"1", "3", "2"};

static void test_ranges(void **state) {
    (void)state;
    struct lgv_model *m = model_of(text);
    struct lgv_result *r = whole_of(m), *t;
    for (size_t way = 0; way < 3; way++) {
        struct lgv_engine *e = engine_of(m, threads[way]);
        for (size_t p = 0; p < 5; p++) {
            size_t k = order[way][p];
            good(lgv_engine_run(e, cut[k], cut[k + 1] - cut[k], &err));
            if (p < 4) { /* a look on the way changes nothing */
                t = finish(e, LGV_INTERRUPTED);
                assert_true(t->interrupted && t->paths_done < PATHS);
                lgv_result_free(t);
            }
        }
        t = finish(e, LGV_FAILED_PATHS);
        same_results(r, t);
        lgv_result_free(t);
        lgv_engine_free(e);
    }
    lgv_result_free(r);
    lgv_model_free(m);
}

static void test_parts(void **state) {
    (void)state;
    static const char *const name[] = {"0.part", "1.part", "2.part", "3.part", "4.part"};
    struct lgv_model *m = model_of(text);
    struct lgv_result *r = whole_of(m), *t;
    for (size_t k = 0; k < 5; k++) { /* each by an engine and a model of its own, as another process would have */
        struct lgv_model *own = model_of(text);
        struct lgv_engine *e = engine_of(own, threads[k % 3]);
        good(lgv_engine_set(e, "lanes", k == 2 ? "16" : "0", &err)); /* fewer lanes: other counts of iterations */
        good(lgv_engine_run(e, cut[k], cut[k + 1] - cut[k], &err));
        good(lgv_engine_save(e, file_of(name[k]), &err));
        lgv_engine_free(e);
        lgv_model_free(own);
    }
    for (size_t way = 0; way < 3; way++) {
        struct lgv_engine *e = engine_of(m, "2"), *half = engine_of(m, "2");
        for (size_t p = 0; p < 3; p++) good(lgv_engine_load(e, file_of(name[order[way][p]]), &err));
        for (size_t p = 3; p < 5; p++) good(lgv_engine_load(half, file_of(name[order[way][p]]), &err));
        refused(lgv_engine_load(e, file_of(name[order[way][1]]), &err), "have been collected already");
        good(lgv_engine_save(half, file_of("half.part"), &err)); /* what was loaded can be saved */
        if (way == 1)
            good(lgv_engine_load(e, file_of("half.part"), &err));
        else
            good(lgv_engine_merge(e, half, &err));
        t = finish(e, LGV_FAILED_PATHS);
        same_results(r, t);
        lgv_result_free(t);
        lgv_engine_free(e);
        lgv_engine_free(half);
    }
    lgv_result_free(r);
    lgv_model_free(m);
}

/* 640 paths, their result, then all of them; and the same by way of a file. */
/* A part is enough to go on with its run. */
static void test_open(void **state) {
    (void)state;
    struct lgv_model *m = model_of(text), *again;
    good(lgv_model_set(m, "beta", 0.4, &err));
    struct lgv_engine *e = engine_of(m, "2"), *f;
    good(lgv_engine_set(e, "step", "0.05", &err));
    good(lgv_engine_run(e, 0, 640, &err));
    good(lgv_engine_save(e, file_of("begun.part"), &err));
    good(lgv_engine_run(e, 640, PATHS - 640, &err));
    struct lgv_result *r = finish(e, LGV_FAILED_PATHS), *t;
    good(lgv_engine_open(file_of("begun.part"), &again, &f, &err));
    refused(lgv_engine_finish(f, &t, &err), "no paths have been run");
    good(lgv_engine_load(f, file_of("begun.part"), &err));
    uint64_t first, end;
    assert_true(lgv_engine_missing(f, &first, &end) && first == 640 && end == PATHS);
    good(lgv_engine_run(f, first, end - first, &err));
    assert_false(lgv_engine_missing(f, &first, &end));
    t = finish(f, LGV_FAILED_PATHS);
    same_results(r, t);
    unlink(file_of("begun.part"));
    lgv_engine_free(f);
    lgv_model_free(again);
    refused(lgv_engine_open("", &again, &f, &err), "empty");
    assert_true(!again && !f);
    lgv_result_free(r);
    lgv_result_free(t);
    lgv_engine_free(e);
    lgv_model_free(m);
}

static void test_more_paths(void **state) {
    (void)state;
    char list[300];
    snprintf(list, sizeof list, "%s", text);
    memcpy(strstr(list, "700,1332"), "600,0016", 8);
    struct lgv_model *m = model_of(list);
    struct lgv_result *r = whole_of(m), *t;
    struct lgv_engine *e = engine_of(m, "2"), *later = engine_of(m, "1");
    good(lgv_engine_set(e, "paths", "640", &err));
    good(lgv_engine_run(e, 0, 640, &err));
    t = finish(e, LGV_FAILED_PATHS);
    assert_true(t->paths == 640 && !t->interrupted);
    lgv_result_free(t);
    good(lgv_engine_save(e, file_of("640.part"), &err));
    const struct lgv_entry *entry = lgv_engine_kernel(e)->entry;
    good(lgv_engine_set(e, "paths", "1333", &err));
    refused(lgv_engine_set(e, "paths", "600", &err), "paths = 600");
    good(lgv_engine_run(e, 640, PATHS - 640, &err));
    assert_ptr_equal(entry, lgv_engine_kernel(e)->entry);
    t = finish(e, LGV_FAILED_PATHS);
    same_results(r, t);
    lgv_result_free(t);
    refused(lgv_engine_set(e, "paths", "2000", &err), "multiple of 16");
    good(lgv_engine_load(later, file_of("640.part"), &err));
    good(lgv_engine_run(later, 640, PATHS - 640, &err));
    t = finish(later, LGV_FAILED_PATHS);
    same_results(r, t);
    lgv_result_free(t);
    lgv_engine_free(e);
    lgv_engine_free(later);
    lgv_result_free(r);
    lgv_model_free(m);
}

/* ---- parameters ---- */

static void value_after(struct lgv_engine *e, const char *name, const char *value, struct lgv_model *fresh) {
    good(lgv_engine_set(e, name, value, &err));
    good(lgv_engine_run(e, 0, PATHS, &err));
    struct lgv_result *a, *b = whole_of(fresh);
    assert_int_equal(lgv_engine_finish(e, &a, &err), LGV_FAILED_PATHS);
    same_results(a, b);
    assert_string_equal(a->parameter[0].value, b->parameter[0].value);
    lgv_result_free(a);
    lgv_result_free(b);
}

static void test_parameters(void **state) {
    (void)state;
    struct lgv_model *m = model_of(text), *fresh = model_of(text);
    struct lgv_engine *e = engine_of(m, "2");
    good(lgv_engine_prepare(e, &err));
    const struct lgv_entry *entry = lgv_engine_kernel(e)->entry;
    const struct lgv_graph *graph = m->graph;
    good(lgv_model_set(fresh, "beta", 0.75, &err));
    value_after(e, "beta", "0.75", fresh);
    assert_ptr_equal(entry, lgv_engine_kernel(e)->entry);
    assert_int_equal(lgv_engine_builds(e), 1);
    assert_true(m->loads == 0 && m->graph == graph); /* nothing was read again */
    good(lgv_engine_set(e, "step", "0.05", &err)); /* no option but lanes, method and compiler is in the kernel */
    good(lgv_engine_set(e, "seed", "9", &err));
    good(lgv_engine_prepare(e, &err));
    assert_int_equal(lgv_engine_builds(e), 1);
    good(lgv_engine_set(e, "step", "0.1", &err));
    good(lgv_engine_set(e, "seed", "4", &err));
    /* q^n is written out for n = 3: another kernel, and beta stays what it was set to */
    good(lgv_model_set(fresh, "n", 3, &err));
    value_after(e, "n", "3", fresh);
    assert_true(m->loads == 1 && m->par[0] == 0.75);
    assert_int_equal(lgv_engine_builds(e), 2);
    good(lgv_engine_set(e, "method", "verlet", &err));
    good(lgv_engine_prepare(e, &err));
    assert_int_equal(lgv_engine_builds(e), 3);
    refused(lgv_engine_set(e, "betta", "1", &err), "did you mean beta");
    refused(lgv_engine_set(e, "beta", "1x", &err), "finite number");
    refused(lgv_engine_set(e, "beta", "nan", &err), "finite number");
    refused(lgv_engine_set(e, "step", "-1", &err), "step");
    lgv_engine_free(e);
    lgv_model_free(m);
    lgv_model_free(fresh);
}

/* Sizes, masses, and parameters that others are made from are read again. */
static void test_fixed_parameters(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {N: 3, k: 1, mass: 2, k2: 2*k, a: 0.5}\n"
                                   "coordinates: {'x[N]': a}\nmomenta: {p: 0}\n"
                                   "kinetic: {mass: mass}\npotential: sum(i=1..N, k2*x[i]^2/2)\n");
    struct lgv_engine *e = engine_of(m, "1");
    good(lgv_engine_set(e, "paths", "2", &err));
    good(lgv_engine_prepare(e, &err));
    const char *const name[] = {"a", "N", "mass", "k", "k2"}, *const value[] = {"1", "4", "3", "5", "7"};
    static const unsigned loads[] = {0, 1, 2, 3, 3};
    for (size_t i = 0; i < 5; i++) {
        good(lgv_engine_set(e, name[i], value[i], &err));
        assert_int_equal(m->loads, loads[i]);
    }
    refused(lgv_engine_set(e, "mass", "-1", &err), "positive");
    assert_true(m->np == 4 && m->par[2] == 3 && m->par[3] == 7 && m->par[4] == 1);
    good(lgv_engine_run(e, 0, 2, &err));
    struct lgv_result *r = finish(e, LGV_OK);
    assert_near(lgv_result_series(r, "H", LGV_MEAN)[0], 4 * 7 * 0.5, 1e-14, "energy");
    lgv_result_free(r);
    /* a change behind the back of the engine is seen */
    good(lgv_model_set(m, "a", 2, &err));
    refused(lgv_engine_run(e, 0, 2, &err), "model was changed");
    lgv_engine_clear(e);
    good(lgv_engine_run(e, 0, 2, &err));
    lgv_engine_free(e);
    lgv_model_free(m);
}

/* ---- wrong calls ---- */

static int stop(void *user, double fraction) {
    (void)user, (void)fraction;
    return 1;
}

static void test_wrong(void **state) {
    (void)state;
    struct lgv_model *m = model_of(text);
    struct lgv_engine *e = engine_of(m, "1"), *other;
    struct lgv_result *r;
    refused(lgv_engine_finish(e, &r, &err), "no paths");
    refused(lgv_engine_save(e, file_of("none"), &err), "no paths");
    refused(lgv_engine_run(e, 8, 16, &err), "multiple of 16");
    refused(lgv_engine_run(e, 0, 17, &err), "multiple of 16");
    refused(lgv_engine_run(e, 0, 0, &err), "no 0 paths");
    refused(lgv_engine_run(e, 1328, 6, &err), "paths = 1333");
    refused(lgv_engine_run(e, 16, UINT64_MAX - 15, &err), "paths = 1333");
    refused(lgv_engine_create(NULL, &other, &err), "no model");
    assert_int_equal(lgv_engine_run(NULL, 0, 16, NULL), LGV_BAD_INPUT);
    assert_int_equal(lgv_engine_load(e, NULL, NULL), LGV_BAD_INPUT);
    assert_int_equal(lgv_engine_load(e, file_of("missing"), &err), LGV_BAD_INPUT);
    good(lgv_engine_run(e, 1328, 5, &err));
    refused(lgv_engine_run(e, 1328, 5, &err), "1328 to 1332");
    refused(lgv_engine_merge(e, e, &err), "already");
    lgv_engine_clear(e);
    good(lgv_engine_set(e, "until", "2e4", &err));
    lgv_engine_on_progress(e, stop, NULL);
    double pause = lgv_crew_pause;
    lgv_crew_pause = 0; /* told after every chunk of steps, whatever the time */
    assert_int_equal(lgv_engine_run(e, 0, 16, &err), LGV_INTERRUPTED);
    lgv_crew_pause = pause;
    refused(lgv_engine_run(e, 0, 16, &err), "on their way");
    good(lgv_engine_save(e, file_of("begun"), &err));
    refused(lgv_engine_load(e, file_of("begun"), &err), "on their way");
    unlink(file_of("begun"));
    assert_int_equal(lgv_engine_finish(e, &r, &err), LGV_INTERRUPTED);
    lgv_result_free(r);
    lgv_engine_free(e);
    lgv_engine_free(NULL);
    lgv_engine_clear(NULL);
    lgv_model_free(m);
}

/* ---- bad files ---- */

static void write_file(const char *name, const char *data, size_t size) {
    good(lgv_file_replace(file_of(name), data, size, &err));
}

static void seal(char *data, size_t size) {
    uint64_t hash = lgv_hash(LGV_HASH_START, data, size - 8);
    memcpy(data + size - 8, &hash, 8);
}

static void test_damaged(void **state) {
    (void)state;
    struct lgv_model *m = model_of(text);
    struct lgv_engine *e = engine_of(m, "1"), *o = engine_of(m, "1");
    good(lgv_engine_run(e, 0, 32, &err));
    good(lgv_engine_save(e, file_of("good"), &err));
    size_t size;
    char *data = lgv_read_file(file_of("good"), 1 << 28, &size, &err), *copy = lgv_new(size + 1, 1);
    assert_true(data && copy && size > 1000);
    for (size_t n = 0; n < size; n += n < 64 ? 1 : size / 23) {
        write_file("bad", data, n);
        refused(lgv_engine_load(o, file_of("bad"), &err), n < 8 ? "not a saved part" : "damaged");
    }
    memcpy(copy, data, size);
    write_file("bad", copy, size + 1);
    refused(lgv_engine_load(o, file_of("bad"), &err), "damaged");
    for (size_t at = 0; at < size; at += at < 64 ? 1 : size / 41) {
        memcpy(copy, data, size);
        copy[at] ^= 4;
        write_file("bad", copy, size);
        assert_int_equal(lgv_engine_load(o, file_of("bad"), &err), LGV_BAD_INPUT);
    }
    /* a hostile file has a right check sum: whatever comes of it, it is no crash */
    srand(1);
    for (int trial = 0; trial < 150; trial++) {
        memcpy(copy, data, size);
        size_t at = 24 + (size_t)rand() % (trial % 2 ? size - 32 : 2000);
        copy[at] = (char)(trial % 3 ? rand() : 0xff);
        seal(copy, size);
        write_file("bad", copy, size);
        enum lgv_status status = lgv_engine_load(o, file_of("bad"), &err);
        assert_true(status == LGV_OK || status == LGV_BAD_INPUT || status == LGV_CANNOT_RUN);
        struct lgv_result *r = NULL;
        if (status == LGV_OK && trial % 8 == 0) lgv_engine_finish(o, &r, &err);
        lgv_result_free(r);
        lgv_engine_clear(o);
    }
    good(lgv_engine_load(o, file_of("good"), &err));
    free(data);
    free(copy);
    lgv_engine_free(e);
    lgv_engine_free(o);
    lgv_model_free(m);
}

static void test_foreign(void **state) {
    (void)state;
    struct lgv_model *m = model_of(text);
    struct lgv_engine *e = engine_of(m, "1");
    good(lgv_engine_run(e, 0, 16, &err));
    good(lgv_engine_save(e, file_of("good"), &err));
    good(lgv_engine_set(e, "beta", "0.25", &err));
    refused(lgv_engine_load(e, file_of("good"), &err), "parameter beta is 0.5 there and 0.25 here");
    good(lgv_engine_set(e, "beta", "0.5", &err));
    good(lgv_engine_set(e, "step", "0.05", &err));
    refused(lgv_engine_load(e, file_of("good"), &err), "option step is 0.1 there and 0.05 here");
    good(lgv_engine_set(e, "step", "0.1", &err));
    good(lgv_engine_set(e, "method", "verlet", &err));
    refused(lgv_engine_load(e, file_of("good"), &err), "method is");
    good(lgv_engine_set(e, "method", "midpoint", &err));
    good(lgv_engine_load(e, file_of("good"), &err));
    size_t size;
    char *data = lgv_read_file(file_of("good"), 1 << 28, &size, &err);
    assert_non_null(data);
    char *version = data;
    while (memcmp(version, LGV_VERSION, strlen(LGV_VERSION)) != 0) version++; /* among the first lines */
    version[0]++;
    seal(data, size);
    write_file("newer", data, size);
    lgv_engine_clear(e);
    refused(lgv_engine_load(e, file_of("newer"), &err), "version of lgv");
    data[7]++;
    write_file("newer", data, size);
    refused(lgv_engine_load(e, file_of("newer"), &err), "another version");
    free(data);
    write_file("other", text, sizeof text);
    refused(lgv_engine_load(e, file_of("other"), &err), "not a saved part");
    refused(lgv_engine_load(e, "", &err), "the name of the file is empty");
    good(lgv_engine_run(e, 0, 16, &err));
    refused(lgv_engine_save(e, "", &err), "the name of the file is empty");
    lgv_engine_free(e);
    struct lgv_model *second =
        model_of("name: other\ncoordinates: {q: 1}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + q^2\n");
    struct lgv_engine *o = engine_of(second, "1");
    refused(lgv_engine_load(o, file_of("good"), &err), "model is barrier there and other here");
    struct lgv_engine *f = engine_of(m, "1");
    refused(lgv_engine_merge(o, f, &err), "another run");
    lgv_engine_free(f);
    lgv_engine_free(o);
    lgv_model_free(second);
    lgv_model_free(m);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),           cmocka_unit_test(test_parts),   cmocka_unit_test(test_more_paths),
        cmocka_unit_test(test_parameters),       cmocka_unit_test(test_wrong),   cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_fixed_parameters), cmocka_unit_test(test_foreign), cmocka_unit_test(test_open),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) || failed;
}
