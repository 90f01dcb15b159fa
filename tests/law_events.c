/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is seen along the way: events, first passages, survival and `stop` against closed forms; the same bits for any
 * number of threads, lanes and parts; conditions that make no sense. */
#include "along.h"

#define PI 3.14159265358979323846

static double event_value(const struct lgv_result *r, const char *name, const char *what) {
    return lgv_finding_value(found(r, "events", name), what);
}

/* ---- closed forms ---- */

/* x = sin t: beyond 1/2 first at pi/6, then once a period, and not between 5 pi/6 and 13 pi/6.  The margin is a
 * straight line inside a step: the error is at most h^2/8 |x''/x'| = 0.0722 h^2, and that of a method of order 6 is
 * nothing. */
static void test_oscillator(void **state) {
    (void)state;
    static const char text[] = "coordinates: {x: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + x^2/2\n"
                               "events: {high: x > 1/2, late: x > 1/2 and t > 3, never: x > 2, start: p > 0 or x > 0,"
                               " between: 0.6 < x < 0.8}\n"
                               "run: {method: P3N3Q6Gau, until: 20, paths: 3}\n";
    static const char *const step[] = {"0.1", "0.05"};
    static const double h[] = {0.1, 0.05};
    for (size_t k = 0; k < 2; k++) {
        struct lgv_result *r = run_text(text, (struct option[]){{"step", step[k]}, {NULL, NULL}});
        double most = 0.08 * h[k] * h[k];
        assert_true(fabs(event_value(r, "high", "mean") - PI / 6) < most);
        assert_true(fabs(event_value(r, "high", "mean") - PI / 6) > 0); /* it is not looked up */
        assert_true(fabs(event_value(r, "late", "mean") - 13 * PI / 6) < most);
        assert_true(event_value(r, "high", "entries_max") == 4); /* pi/6 + 2 pi k <= 20 */
        assert_true(event_value(r, "high", "had") == 3 && event_value(r, "never", "had") == 0);
        assert_true(isnan(event_value(r, "never", "mean")));
        assert_true(event_value(r, "start", "mean") == 0 && event_value(r, "start", "entries_mean") == 4);
        assert_true(event_value(r, "between", "entries_mean") == 7); /* up and down, the last time at 19.78 */
        lgv_result_free(r);
    }
}

/* A free particle with random velocity v comes to 1 at 1/v: T <= t when v >= 1/t, S(t) = Phi(1/t).  The margin is
 * linear in t, so that its times are exact to round-off. */
static void test_survival(void **state) {
    (void)state;
    static const char text[] = "coordinates: {x: 0}\nmomenta: {p: normal()}\nhamiltonian: p^2/2\n"
                               "events: {out: x > 1}\nstop: out\nobserve: {v: p}\n"
                               "run: {step: 0.01, until: 4, outputs: 8, paths: 20000, keep: 200}\n";
    struct lgv_result *r = run_text(text, NULL);
    const struct lgv_finding *f = found(r, "events", "out");
    const double *survival = lgv_finding_get(f, "survival")->data, *time = lgv_finding_get(f, "time")->data;
    const double *error = lgv_finding_get(f, "survival_stderr")->data, *count = lgv_finding_get(f, "count")->data;
    double left = 20000;
    assert_true(r->failed == 0 && r->stopped == (uint64_t)lgv_finding_value(f, "had") && r->stopped > 4000);
    for (size_t i = 0; i < r->ntimes; i++) {
        double exact = i ? 0.5 * (1 + erf(1 / (r->time[i] * sqrt(2)))) : 1;
        left -= count[i];
        if (fabs(survival[i] - exact) > 4 * error[i] + 1e-15)
            fail_msg("S(%g) = %g, not %g", r->time[i], survival[i], exact);
        assert_true(survival[i] == left / 20000 && (double)r->alive[i] == left);
        if (i) assert_true(fabs(error[i] - sqrt(survival[i] * (1 - survival[i]) / 20000)) < 1e-12);
    }
    for (size_t k = 0; k < r->nsamples; k++) { /* kept paths: their velocity at the start, and nothing after the stop */
        size_t v = 1, n = r->ntimes;
        assert_string_equal(r->series[v].name, "v");
        double p = r->sample[k].value[v * n], t = p > 0.25 ? 1 / p : (double)NAN;
        if (p > 0.25 ? fabs(time[r->sample[k].path] - t) > 1e-12 * t : !isnan(time[r->sample[k].path]))
            fail_msg("path %zu with p = %g: %g", k, p, time[r->sample[k].path]);
        for (size_t i = 0; i < n; i++)
            assert_true(isnan(r->sample[k].value[v * n + i]) == (p > 0.25 && r->time[i] >= t));
    }
    lgv_result_free(r);
}

/* Random starts beyond the wall have stopped at t = 0; others that fail leave the survival curve without an event. */
static void test_start(void **state) {
    (void)state;
    static const char text[] = "coordinates: {x: normal()}\nmomenta: {p: 0}\nhamiltonian: p^2/2\nstop: x > 1\n"
                               "run: {step: 0.1, until: 1, outputs: 2, paths: 4000}\n";
    struct lgv_result *r = run_text(text, NULL);
    double s = lgv_finding_get(found(r, "events", "stop"), "survival")->data[0];
    assert_true(fabs(s - 0.8413447) < 4 * sqrt(s * (1 - s) / 4000));
    assert_true(r->alive[0] == 4000 && (double)r->alive[1] == 4000 * s && r->failed == 0);
    assert_true(event_value(r, "stop", "max") == 0);
    lgv_result_free(r);
}

/* Acceptance is the share of the steps that paths have made: of those that stop, up to there; of those that stop at the
 * start, none.  Rejected ones are seen on the paths: the position stays, the momentum turns round. */
static void test_acceptance(void **state) {
    (void)state;
    static const char text[] = "coordinates: {x: normal()}\nmomenta: {p: normal()}\nhamiltonian: p^2/2 + x^4/4\n"
                               "langevin: {friction: 1, temperature: 1}\nstop: x > 1.2\n"
                               "run: {method: OBABO-Metropolis, step: 0.8, until: 16, outputs: 20, paths: 32, "
                               "keep: 32}\n";
    struct lgv_result *r = run_text(text, NULL);
    size_t n = r->ntimes, made = 0, rejected = 0, at_start = 0, x = 0, p = 0;
    while (strcmp(r->series[x].name, "x") != 0) x++;
    while (strcmp(r->series[p].name, "p") != 0) p++;
    assert_true(r->nsamples == 32 && n == 21 && r->stopped > 8 && r->stopped < 32);
    for (size_t k = 0; k < 32; k++) {
        const double *q = r->sample[k].value + x * n, *v = r->sample[k].value + p * n;
        at_start += q[0] > 1.2;
        for (size_t i = 0; i + 1 < n && q[0] <= 1.2 && !isnan(q[i]); i++) {
            made++;
            rejected += q[i + 1] == q[i] && v[i + 1] == -v[i];
        }
    }
    assert_true(at_start > 0 && rejected > 10);
    assert_near(r->acceptance, 1 - (double)rejected / (double)made, 1e-14, "acceptance");
    lgv_result_free(r);
}

/* ---- bits ---- */

static const char busy[] = "parameters: {s: 0.4}\ncoordinates: {x: 0.1*normal()}\nmomenta: {p: 1}\n"
                           "hamiltonian: p^2/2 - x^2/2 + x^4/4\nnoise: [s*x, 0.1*sin(x)]\n"
                           "events: {right: x > 0.5, left: x < -0.5, fast: p > 1.2 or p < -1.2}\nstop: x > 1.9\n"
                           "run: {step: 0.02, until: 20, outputs: 50, paths: 301, keep: 3}\n";

static void test_bits(void **state) {
    (void)state;
    check_bits(busy);
    struct lgv_result *r = run_text(busy, NULL);
    struct lgv_array array;
    assert_true(r->stopped > 10 && r->stopped < 300);
    assert_true(lgv_result_array(r, "events/right/survival", &array) && array.shape[0] == 51 && array.ndim == 1);
    lgv_result_free(r);
}

static size_t events_of(const struct lgv_result *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->nfindings; i++) n += strcmp(r->finding[i].group, LGV_FOUND_EVENTS) == 0;
    return n;
}

/* Looking changes nothing: the same paths without events. */
static void test_unchanged(void **state) {
    (void)state;
    char plain[sizeof busy], watched[sizeof busy];
    const char *at = strstr(busy, "events:"), *stop = strstr(busy, "stop:"), *run = strstr(busy, "run:");
    snprintf(plain, sizeof plain, "%.*s%s", (int)(at - busy), busy, run);
    snprintf(watched, sizeof watched, "%.*s%s", (int)(stop - busy), busy, run);
    struct lgv_result *a = run_text(plain, NULL), *b = run_text(watched, NULL);
    assert_true(events_of(a) == 0 && events_of(b) == 3 && b->stopped == 0);
    for (size_t i = 0; i < a->nseries; i++) {
        assert_memory_equal(a->series[i].mean, b->series[i].mean, a->ntimes * sizeof(double));
        assert_memory_equal(a->series[i].max, b->series[i].max, a->ntimes * sizeof(double));
    }
    lgv_result_free(a);
    lgv_result_free(b);
}

/* ---- bad input ---- */

static void test_bad(void **state) {
    (void)state;
    static const char head[] = "coordinates: {x: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2\n";
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"events: {a: x}", "4:13: a condition compares two formulas"},
        {"events: {a: x >= 1}", "4:15: conditions compare by < and > only"},
        {"events: {a: x > 1 and y < 2}", "4:23: unknown name y"},
        {"events: {a: x > }", "there is no formula on this side"},
        {"events: {a: x > 1 or}", "there is no condition here"},
        {"events: {and: x > 1}", "4:10: and has a meaning of its own"},
        {"events: {a: x > 1}\nstop: b", "5:7: a condition compares"},
        {"events: [x > 1]", "events as name: condition"},
        {"stop: x > -1", "4:7: this holds at the start already"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char text[300];
        struct lgv_model *m = NULL;
        struct lgv_engine *e = NULL;
        struct lgv_error err = {0};
        snprintf(text, sizeof text, "%s%s\n", head, bad[k].text);
        enum lgv_status status = lgv_model_parse(text, "test.yaml", &m, &err);
        if (status == LGV_OK) status = lgv_engine_create(m, &e, &err);
        if (status == LGV_OK) status = lgv_engine_prepare(e, &err);
        assert_int_equal(status, LGV_BAD_INPUT);
        if (!strstr(err.message, bad[k].message)) fail_msg("%s\n%s", bad[k].text, err.message);
        lgv_engine_free(e);
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oscillator), cmocka_unit_test(test_survival),
        cmocka_unit_test(test_start),      cmocka_unit_test(test_acceptance),
        cmocka_unit_test(test_bits),       cmocka_unit_test(test_unchanged), cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
