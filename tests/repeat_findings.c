/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Statistics that are asked for by name: extremes over every step, histograms of pairs.  Closed
 * forms, brute force over every step of every path, and the same bits for any threads, lanes and parts. */
#include "helpers.h"

#include <stdio.h>
#include <unistd.h>

struct option {
    const char *name, *value;
};

static struct lgv_engine *engine_of(struct lgv_model *m, const struct option *o) {
    struct lgv_engine *e = NULL;
    struct lgv_error err = {0};
    if (lgv_engine_create(m, &e, &err) != LGV_OK) fail_msg("%s", err.message);
    for (; o && o->name; o++)
        if (lgv_engine_set(e, o->name, o->value, &err) != LGV_OK) fail_msg("%s", err.message);
    return e;
}

static void run_range(struct lgv_engine *e, uint64_t first, uint64_t count) {
    struct lgv_error err = {0};
    enum lgv_status status = lgv_engine_run(e, first, count, &err);
    if (status != LGV_OK && status != LGV_FAILED_PATHS) fail_msg("%s", err.message);
}

static struct lgv_result *finished(struct lgv_engine *e) {
    struct lgv_result *r = NULL;
    struct lgv_error err = {0};
    enum lgv_status status = lgv_engine_finish(e, &r, &err);
    if (status != LGV_OK && status != LGV_FAILED_PATHS) fail_msg("%s", err.message);
    return r;
}

static struct lgv_result *run_of(const char *text, uint64_t paths, const struct option *o) {
    struct lgv_model *m = model_of(text);
    struct lgv_engine *e = engine_of(m, o);
    run_range(e, 0, paths);
    struct lgv_result *r = finished(e);
    lgv_engine_free(e);
    lgv_model_free(m);
    return r;
}

static const struct lgv_finding *finding_of(const struct lgv_result *r, const char *group, const char *name) {
    for (size_t i = 0; i < r->nfindings; i++)
        if (strcmp(r->finding[i].group, group) == 0 && strcmp(r->finding[i].name, name) == 0) return &r->finding[i];
    fail_msg("no %s of %s", group, name);
    return NULL;
}

static size_t number_of(const struct lgv_result *r, const char *name) {
    size_t i = 0;
    while (i < r->nseries && strcmp(r->series[i].name, name) != 0) i++;
    if (i == r->nseries) fail_msg("no series %s", name);
    return i;
}

/* ---- the same bits ---- */

static void same_arrays(const struct lgv_result *a, const struct lgv_result *b) {
    struct lgv_arrays *x = lgv_arrays_open(a), *y = lgv_arrays_open(b);
    assert_true(x && y && x->count == y->count);
    for (size_t i = 0; i < x->count; i++) {
        const struct lgv_array *p = &x->item[i].array, *q = &y->item[i].array;
        size_t n = 1;
        assert_string_equal(p->name, q->name);
        if (strncmp(p->name, "certificate/", 12) == 0) continue;
        for (int d = 0; d < p->ndim; d++) {
            assert_true(p->shape[d] == q->shape[d]);
            n *= p->shape[d];
        }
        if (n && memcmp(p->data, q->data, n * 8) != 0) fail_msg("%s differs", p->name);
    }
    lgv_arrays_close(x);
    lgv_arrays_close(y);
    assert_true(a->nfindings == b->nfindings);
    for (size_t i = 0; i < a->nfindings; i++)
        for (size_t k = 0; k < LGV_FOUND_ROWS; k++) {
            const struct lgv_found *p = &a->finding[i].item[k], *q = &b->finding[i].item[k];
            assert_true(!p->data == !q->data && p->shape[0] == q->shape[0] && p->shape[1] == q->shape[1]);
            if (p->data && memcmp(p->data, q->data, p->shape[0] * p->shape[1] * 8) != 0)
                fail_msg("%s of %s differs", lgv_found_row(a->finding[i].group, k)->name, a->finding[i].name);
        }
}

/* Parts that were saved and are loaded from the last to the first, of other threads and lanes. */
static void check_parts(const char *text, const struct option *o) {
    static const uint64_t cut[] = {0, 16, 480, 1120, 1333};
    struct lgv_model *m = model_of(text);
    struct lgv_engine *whole = engine_of(m, o), *part = engine_of(m, o), *all = engine_of(m, o);
    struct lgv_error err = {0};
    char file[4][64];
    lgv_engine_set(whole, "threads", "1", NULL);
    lgv_engine_set(part, "threads", "2", NULL);
    lgv_engine_set(part, "lanes", "4", NULL);
    run_range(whole, 0, 1333);
    struct lgv_result *a = finished(whole);
    for (size_t i = 0; i < 4; i++) {
        snprintf(file[i], sizeof file[i], "/tmp/lgv-findings-%ld-%zu.part", (long)getpid(), i);
        lgv_engine_clear(part);
        run_range(part, cut[i], cut[i + 1] - cut[i]);
        if (lgv_engine_save(part, file[i], &err) != LGV_OK) fail_msg("%s", err.message);
    }
    for (size_t i = 4; i-- > 0;) {
        if (lgv_engine_load(all, file[i], &err) != LGV_OK) fail_msg("%s", err.message);
        unlink(file[i]);
    }
    struct lgv_result *b = finished(all);
    same_arrays(a, b);
    lgv_result_free(a);
    lgv_result_free(b);
    lgv_engine_free(whole);
    lgv_engine_free(part);
    lgv_engine_free(all);
    lgv_model_free(m);
}

/* Some paths pass the barrier and become infinite. */
static const char barrier[] = "parameters: {beta: 0.5}\ncoordinates: {q: 0.3*normal()}\nmomenta: {p: 1}\n"
                              "noise: beta*q\n"
                              "hamiltonian: p^2/2 + q^2/2 - 0.08*q^4\nobserve: {d: (q - q0)^2, o: 1000 + 0.01*q}\n"
                              "run: {step: 0.1, until: 10, outputs: 10, seed: 4, paths: 1333, method: P2N2Q2Lob}\n";

static void test_parts(void **state) {
    (void)state;
    const struct option o[] = {{"extremes", "q, d, H"}, {"histograms2", "q:p, d : o"}, {"density", "yes"},
                               {"quantiles", "sketch"}, {NULL, NULL}};
    check_parts(barrier, o);
}

/* ---- extremes ---- */

/* Every step of every path is known: the extremes of these. */
static void test_extremes(void **state) {
    (void)state;
    const struct option o[] = {{"paths", "200"}, {"keep", "200"}, {"keep_every", "1"}, {"extremes", "d, q, H, e"},
                               {NULL, NULL}};
    struct lgv_text text = {0};
    lgv_text_add(&text, "%s", barrier);
    const char *at = strstr(text.data, "o: 1000");
    assert_non_null(at);
    struct lgv_text with = {0};
    lgv_text_add(&with, "%.*se: p*p0, %s", (int)(at - text.data), text.data, at);
    struct lgv_result *r = run_of(with.data, 200, o);
    assert_true(r->failed > 2 && r->tallied_paths == 200);
    for (size_t k = 0; k < 4; k++) {
        static const char *const name[] = {"d", "q", "H", "e"};
        const struct lgv_finding *f = finding_of(r, "extremes", name[k]);
        size_t at_series = number_of(r, name[k]);
        double n = 0, least = 0, largest = 0, min = INFINITY, max = -INFINITY, most_least = -INFINITY;
        for (size_t i = 0; i < r->nsamples; i++) {
            const double *x = r->sample[i].dense + at_series * r->ndense;
            double low = INFINITY, high = -INFINITY;
            if (isnan(x[r->ndense - 1])) continue; /* it failed */
            for (size_t t = 0; t < r->ndense; t++) {
                low = fmin(low, x[t]);
                high = fmax(high, x[t]);
            }
            n++;
            least += low;
            largest += high;
            min = fmin(min, low);
            max = fmax(max, high);
            most_least = fmax(most_least, low);
        }
        assert_int_equal(r->ndense, 101);
        assert_true(lgv_finding_value(f, "paths") == n);
        double size = fmax(fabs(min), fabs(max));
        assert_near(lgv_finding_value(f, "least_min"), min, 1e-14 * size, "least of all");
        assert_near(lgv_finding_value(f, "largest_max"), max, 1e-14 * size, "largest of all");
        assert_near(lgv_finding_value(f, "least_max"), most_least, 1e-14 * size, "largest of the least");
        assert_near(lgv_finding_value(f, "least_mean"), least / n, 1e-12 * size, "mean of the least");
        assert_near(lgv_finding_value(f, "largest_mean"), largest / n, 1e-12 * size, "mean of the largest");
    }
    lgv_result_free(r);
    lgv_text_free(&text);
    lgv_text_free(&with);
}

/* The maximum of Brownian motion over steps of size h up to T has the mean sqrt(2 T/pi) + zeta(1/2) sqrt(h/(2 pi)) +
 * O(h): Chernoff (1965), Asmussen, Glynn & Pitman (1995), doi:10.1214/aoap/1177004597. */
static void test_maximum(void **state) {
    (void)state;
    const struct option o[] = {{"extremes", "x"}, {NULL, NULL}};
    struct lgv_result *r = run_of("coordinates: {x: 0}\nmomenta: {p: 0}\nhamiltonian: 0*p\nnoise: p\n"
                                  "run: {step: 0.01, until: 1, outputs: 2, paths: 20000, method: P2N2Q2Lob}\n",
                                  20000, o);
    const struct lgv_finding *f = finding_of(r, "extremes", "x");
    double mean = sqrt(2 / M_PI) - 1.4603545088 * sqrt(0.01 / (2 * M_PI)), error = sqrt((1 - 2 / M_PI) / 20000);
    assert_near(lgv_finding_value(f, "largest_mean"), mean, 4 * error + 0.002, "mean maximum");
    assert_near(lgv_finding_value(f, "least_mean"), -mean, 4 * error + 0.002, "mean minimum");
    assert_near(lgv_finding_value(f, "largest_stderr"), error, 0.03 * error, "its standard error");
    /* |N| has the median 0.6745; 1024 paths know it to 1/(2 f sqrt(n)) with the density f = 0.6355 there */
    assert_near(lgv_finding_value(f, "largest_q50"), 0.6745 - 0.0583, 4 / (2 * 0.6355 * 32), "median");
    lgv_result_free(r);
}

/* A free motion through x = 0, where 1/x^2 is infinite for one step: the others count. */
static void test_infinite(void **state) {
    (void)state;
    const struct option o[] = {{"extremes", "x, s, m"}, {NULL, NULL}};
    struct lgv_result *r = run_of("coordinates: {x: -1}\nmomenta: {p: 1}\nhamiltonian: p^2/2\n"
                                  "observe: {s: 1/x^2, m: -1/x^2}\n"
                                  "run: {step: 0.125, until: 3, outputs: 2, paths: 20, method: P2N2Q2Lob}\n",
                                  20, o);
    static const struct {
        const char *name;
        double least, largest;
    } known[] = {{"x", -1, 2}, {"s", 0.25, 64}, {"m", -64, -0.25}};
    for (size_t k = 0; k < 3; k++) {
        const struct lgv_finding *f = finding_of(r, "extremes", known[k].name);
        assert_true(lgv_finding_value(f, "paths") == 20);
        assert_near(lgv_finding_value(f, "least_min"), known[k].least, 1e-15, known[k].name);
        assert_near(lgv_finding_value(f, "largest_max"), known[k].largest, 1e-15, known[k].name);
    }
    lgv_result_free(r);
}

/* ---- histograms of pairs ---- */

static size_t bin_at(const struct lgv_found *edge, double x) {
    size_t n = edge->shape[0] - 1;
    if (!(x >= edge->data[0] && x <= edge->data[n])) return n;
    for (size_t i = 1; i < n; i++)
        if (x < edge->data[i]) return i - 1;
    return n - 1;
}

/* All paths are kept: their values at the output times from `first` on, counted one by one. */
static void check_pair(const struct lgv_result *r, const char *group, const char *a, const char *b, size_t first) {
    char name[64];
    snprintf(name, sizeof name, "%s:%s", a, b);
    const struct lgv_finding *f = finding_of(r, group, name);
    const struct lgv_found *x = lgv_finding_get(f, "x_edge"), *y = lgv_finding_get(f, "y_edge"),
                           *count = lgv_finding_get(f, "count");
    size_t nx = x->shape[0] - 1, ny = y->shape[0] - 1, p = number_of(r, a), q = number_of(r, b), different = 0;
    double *own = lgv_new(nx * ny, sizeof *own), values = 0, outside = 0;
    assert_true(nx == 20 && ny == 20 && count->shape[0] == 20 && count->shape[1] == 20);
    for (size_t i = 0; i < r->nsamples; i++)
        for (size_t t = first; t < r->ntimes; t++) {
            double u = r->sample[i].value[p * r->ntimes + t], v = r->sample[i].value[q * r->ntimes + t];
            if (isnan(u) || isnan(v)) continue;
            size_t at = bin_at(x, u), up = bin_at(y, v);
            values++;
            if (at < nx && up < ny)
                own[at * ny + up]++;
            else
                outside++;
        }
    for (size_t i = 0; i < nx * ny; i++) different += own[i] != count->data[i];
    assert_true(values > 20);
    assert_near(lgv_finding_value(f, "values"), values, 0, "values");
    assert_near(lgv_finding_value(f, "outside"), outside, 0, "outside");
    assert_int_equal(different, 0);
    free(own);
}

static void test_pairs(void **state) {
    (void)state;
    const struct option o[] = {{"paths", "200"}, {"keep", "200"}, {"histograms2", "q:p, o:d"}, {"density", "yes"},
                               {"bins", "20"}, {NULL, NULL}};
    struct lgv_result *r = run_of(barrier, 200, o);
    check_pair(r, "histograms2", "q", "p", r->ntimes - 1);
    check_pair(r, "histograms2", "o", "d", r->ntimes - 1);
    check_pair(r, "densities", "q", "p", 0);
    check_pair(r, "densities", "o", "d", 0);
    lgv_result_free(r);
}

/* ---- quantiles by a sketch ---- */

/* Up to 1024 paths a sample is all of them: the sketch is within 2^-8 of the distance from the start of path 0. */
static void test_sketch(void **state) {
    (void)state;
    const struct option sample[] = {{"paths", "1000"}, {"keep", "1"}, {NULL, NULL}};
    const struct option sketch[] = {{"paths", "1000"}, {"keep", "1"}, {"quantiles", "sketch"}, {NULL, NULL}};
    struct lgv_result *a = run_of(barrier, 1000, sample), *b = run_of(barrier, 1000, sketch);
    size_t different = 0;
    for (size_t i = 0; i < a->nseries; i++) {
        double c = a->sample[0].value[i * a->ntimes];
        for (size_t t = 0; t < a->ntimes; t++)
            for (int k = 0; k < LGV_QUANTILES; k++) {
                double x = a->series[i].quantile[k][t], y = b->series[i].quantile[k][t];
                double width = a->series[i].quantile[4][t] - a->series[i].quantile[0][t];
                /* between two order statistics on either side of c the distance is a little more */
                assert_near(y, x, (fabs(x - c) + 0.02 * width) / 256 + 1e-15 * fabs(c), a->series[i].name);
                different += x != y;
            }
    }
    assert_true(different > 20 && b->sample_paths == 1000);
    lgv_result_free(a);
    lgv_result_free(b);
}

/* 30000 paths of x = N(0, t) around 1e6, and of its exponential: quantiles of the law. */
static void test_sketch_law(void **state) {
    (void)state;
    const struct option o[] = {{"quantiles", "sketch"}, {NULL, NULL}};
    struct lgv_result *r = run_of("coordinates: {x: 0}\nmomenta: {p: 0}\nhamiltonian: 0*p\nnoise: p\n"
                                  "observe: {far: 1e6 + x, wide: exp(5*x)}\n"
                                  "run: {step: 0.5, until: 1, outputs: 2, paths: 30000, method: P2N2Q2Lob}\n",
                                  30000, o);
    static const double z[] = {-1.6448536, -0.6744898, 0, 0.6744898, 1.6448536};
    const struct lgv_series *far = &r->series[number_of(r, "far")], *wide = &r->series[number_of(r, "wide")];
    for (int k = 0; k < LGV_QUANTILES; k++) {
        double level = lgv_quantile_levels[k], density = exp(-z[k] * z[k] / 2) / sqrt(2 * M_PI);
        double error = 4 * sqrt(level * (1 - level) / 30000) / density;
        assert_near(far->quantile[k][2], 1e6 + z[k], error + fabs(z[k]) / 256, "normal");
        double x = exp(5 * z[k]), spread = x * (exp(5 * error) - 1);
        assert_near(wide->quantile[k][2], x, spread + fabs(x - 1) / 256, "law with a long tail"); /* it starts at 1 */
    }
    lgv_result_free(r);
}

static void refused_by(const char *name, const char *value, const char *message) {
    struct lgv_model *m = model_of(barrier);
    struct lgv_engine *e = engine_of(m, (const struct option[]){{name, value}, {NULL, NULL}});
    struct lgv_error err = {0};
    assert_int_equal(lgv_engine_prepare(e, &err), LGV_BAD_INPUT);
    if (!strstr(err.message, message)) fail_msg("%s\n  instead of: %s", err.message, message);
    lgv_engine_free(e);
    lgv_model_free(m);
}

static void refused(const char *value, const char *message) {
    refused_by("extremes", value, message);
}

static void test_refused(void **state) {
    (void)state;
    refused_by("histograms2", "q", "'q' is not a pair of observables like q:p");
    refused_by("histograms2", "q:p:d", "is not a pair");
    refused_by("histograms2", "q:r", "histograms2: nothing called r is observed");
    refused_by("histograms2", "q:p, q:p", "q:p is listed twice");
    refused_by("histograms2", "q:q", "q is paired with itself");
    refused_by("quantiles", "exact", "'exact' is neither sample nor sketch");
    refused_by("density", "yes", "density is for the pairs of histograms2");
    refused("q, nothing", "extremes: nothing called nothing is observed");
    refused("q,,p", "extremes: a name is missing");
    refused("q, p, q", "extremes: q is listed twice");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_infinite),
        cmocka_unit_test(test_maximum),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_sketch),
        cmocka_unit_test(test_sketch_law),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
