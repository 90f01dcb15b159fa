/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Time averages and correlations along paths: autoregressive series with known autocorrelation times, displacements of
 * a free particle with noise, the autocorrelation of an oscillator, the same bits however the ensemble is run. */
#include "along.h"
#include "stats/collect.h"

/* ---- autoregressive series ---- */

#define VALUES 4096
#define UNITS 16

static double normal_of(uint64_t *state) {
    double u[2];
    for (int k = 0; k < 2; k++) {
        uint64_t z = (*state += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        u[k] = ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
    }
    return sqrt(-2 * log(u[0])) * cos(6.283185307179586 * u[1]);
}

/* x' = phi x + z: correlations phi^k, 1 + 2 sum phi^k = (1 + phi) / (1 - phi), variance 1 / (1 - phi^2).  Two series,
 * the second with a mean that is large compared with its spread. */
static struct lgv_result autoregressive(double phi, size_t n) {
    static uint64_t time_step[VALUES];
    for (size_t t = 0; t < n; t++) time_step[t] = t;
    struct lgv_shape shape = {.ntimes = n, .nseries = 2, .time_step = time_step, .dt = 1, .interval = 0.5,
                              .paths = UNITS * LGV_UNIT, .averages = true, .correlations = true};
    const struct lgv_collected *c = &lgv_along;
    void *object = c->collector.create(&shape);
    double *value = lgv_new(n * 2 * LGV_UNIT, sizeof *value), x[LGV_UNIT];
    uint16_t *alive = lgv_new(n, sizeof *alive);
    int fail[LGV_UNIT] = {0};
    uint64_t seed = 7;
    for (size_t u = 0; u < UNITS; u++) {
        for (size_t l = 0; l < LGV_UNIT; l++) x[l] = normal_of(&seed) / sqrt(1 - phi * phi);
        for (size_t t = 0; t < n; t++)
            for (size_t l = 0; l < LGV_UNIT; l++) {
                value[2 * t * LGV_UNIT + l] = 3 + x[l];
                value[(2 * t + 1) * LGV_UNIT + l] = 1e6 + x[l];
                x[l] = phi * x[l] + normal_of(&seed);
            }
        for (size_t t = 0; t < n; t += 512) {
            bool last = t + 512 >= n;
            struct lgv_piece piece = {.unit = u, .path = u * LGV_UNIT, .used = LGV_UNIT, .first = t,
                                      .count = last ? n - t : 512, .value = value + 2 * t * LGV_UNIT, .alive = alive,
                                      .fail = fail, .last = last, .complete = last};
            assert_true(c->collector.add(object, &piece));
        }
    }
    struct lgv_result r = {.nseries = 2, .series = lgv_new(2, sizeof *r.series)};
    r.series[0].name = lgv_copy("x");
    r.series[1].name = lgv_copy("far");
    assert_true(c->finish(object, &r));
    c->collector.free(object);
    free(value);
    free(alive);
    return r;
}

/* The last running average is the average itself, bit by bit; the k-th has the error of a shorter series. */
static void running_of(const struct lgv_finding *f, double n, double error) {
    size_t count;
    const double *time = found_array(f, "running_time", &count), *mean = found_array(f, "running_mean", &count);
    const double *sigma = found_array(f, "running_stderr", &count), all = lgv_finding_value(f, "mean");
    assert_int_equal(count, 128);
    assert_true(mean[127] == all && sigma[127] == lgv_finding_value(f, "stderr_paths"));
    assert_near(time[127], 0.5 * (n - 1), 1e-9, "the last time");
    assert_near(time[31], 0.5 * (n / 4 - 1), 1e-9, "a quarter of the time");
    assert_true(fabs(sigma[31] / (error / sqrt(n / 4)) - 1) < 0.35 && fabs(mean[31] - all) < 5 * sigma[31]);
    assert_true(mean[31] != all);
}

static void test_autoregressive(void **state) {
    (void)state;
    static const double phi[] = {0, 0.5, 0.9, 0.99, -0.5};
    for (size_t k = 0; k < 5; k++) {
        struct lgv_result r = autoregressive(phi[k], VALUES);
        double g = (1 + phi[k]) / (1 - phi[k]), n = VALUES, paths = UNITS * LGV_UNIT;
        double variance = 1 / (1 - phi[k] * phi[k]), error = sqrt(variance * g / (n * paths));
        /* The window of 6 tau leaves 2 (6 tau + 1/2) lags with a relative error of sqrt(2/n) each, for every path. */
        double unsure = 4 * sqrt(2 * (6 * fmax(g, 1) + 1) / (n * paths)) + exp(-6) + 2e-3;
        for (size_t i = 0; i < 2; i++) {
            const struct lgv_finding *f = found(&r, "averages", i ? "far" : "x");
            double time = lgv_finding_value(f, "time"), mean = lgv_finding_value(f, "mean") - (i ? 1e6 : 3);
            if (fabs(time / (0.25 * g) - 1) > unsure) fail_msg("phi = %g: %g, not %g", phi[k], time, 0.25 * g);
            assert_true(fabs(mean) < 4 * error);
            assert_true(fabs(lgv_finding_value(f, "stderr_along") / error - 1) < unsure);
            assert_true(fabs(lgv_finding_value(f, "stderr_paths") / error - 1) < 4 / sqrt(2 * paths));
            assert_true(fabs(lgv_finding_value(f, "samples") * g / (n * paths) - 1) < unsure);
            /* Averages of halves have the variance s^2 g/h, known from 512 of them. */
            double h = n / 2, r_hat = lgv_finding_value(f, "r_hat"), known = (g / h) / ((1 - g / h) * h / (h - 1));
            if (fabs((r_hat * r_hat - (h - 1) / h) / known - 1) > 4 * sqrt(2 / (2 * paths - 1)) + 2 * g / n)
                fail_msg("phi = %g: R-hat %.6f, not %.6f", phi[k], r_hat, sqrt((h - 1) / h + known));
            size_t count, lags;
            const double *tau = found_array(f, "path_time", &count), *m = found_array(f, "path_mean", &count);
            assert_true(count == UNITS * LGV_UNIT && tau[17] > 0);
            assert_true(fabs(m[17] - mean - (i ? 1e6 : 3)) < 6 * error * 16);
            running_of(f, n, error * sqrt(n));
            f = found(&r, "correlations", i ? "far" : "x");
            const double *lag = found_array(f, "lag", &lags), *rho = found_array(f, "correlation", &lags);
            const double *sigma = found_array(f, "correlation_stderr", &lags);
            for (size_t j = 0; j < lags && lag[j] < 100; j++)
                if (fabs(rho[j] - pow(phi[k], 2 * lag[j])) > 4.5 * sigma[j] + 4 * g / n / sqrt(paths) + 1e-12)
                    fail_msg("phi = %g, lag %g: %g +- %g", phi[k], lag[j], rho[j], sigma[j]);
        }
        lgv_result_clear(&r);
    }
}

/* Paths of 100 independent values, whose correlations are known to 0.1 each: none has more than 100 values, and the
 * means keep to their errors.  Where values are anticorrelated beyond doubt, they are worth more. */
static void test_few_values(void **state) {
    (void)state;
    struct lgv_result r = autoregressive(0, 100);
    size_t count;
    const double *m = found_array(found(&r, "averages", "x"), "path_mean", &count);
    const double *e = found_array(found(&r, "averages", "x"), "path_stderr", &count);
    const double *worth = found_array(found(&r, "averages", "x"), "path_samples", &count);
    double squares = 0;
    for (size_t p = 0; p < count; p++) {
        if (worth[p] > 100 * (1 + 1e-12)) fail_msg("path %zu: 100 values are worth %g", p, worth[p]);
        squares += (m[p] - 3) * (m[p] - 3) / (e[p] * e[p] * (double)count);
    }
    assert_true(count == UNITS * LGV_UNIT && squares > 0.5 && squares < 1 + 4 * sqrt(2. / UNITS / LGV_UNIT));
    lgv_result_clear(&r);
    r = autoregressive(-0.5, VALUES);
    worth = found_array(found(&r, "averages", "x"), "path_samples", &count);
    for (size_t p = 0; p < count; p++) assert_true(worth[p] > 1.5 * VALUES);
    lgv_result_clear(&r);
}

/* One path of nine values: 0 .. 8, whose halves 0 .. 3 and 5 .. 8 have variances 5/3 inside and 25/2 between; and one
 * that rests, where nothing can be said. */
static void test_one_path(void **state) {
    (void)state;
    static uint64_t time_step[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    struct lgv_shape shape = {.ntimes = 9, .nseries = 2, .time_step = time_step, .dt = 1, .interval = 1, .paths = 1,
                              .averages = true};
    void *object = lgv_along.collector.create(&shape);
    double value[9 * 2 * LGV_UNIT];
    uint16_t alive[9] = {0};
    int fail[LGV_UNIT] = {0};
    for (size_t t = 0; t < 9; t++)
        for (size_t l = 0; l < LGV_UNIT; l++) {
            value[2 * t * LGV_UNIT + l] = l ? 100 : (double)t;
            value[(2 * t + 1) * LGV_UNIT + l] = 7;
        }
    struct lgv_piece piece = {.used = 1, .count = 9, .value = value, .alive = alive, .fail = fail, .last = true,
                              .complete = true};
    struct lgv_result r = {.nseries = 2, .series = lgv_new(2, sizeof *r.series)};
    r.series[0].name = lgv_copy("x");
    r.series[1].name = lgv_copy("rest");
    assert_true(lgv_along.collector.add(object, &piece) && lgv_along.finish(object, &r));
    assert_near(lgv_finding_value(found(&r, "averages", "x"), "r_hat"), sqrt(0.75 + 12.5 / (5. / 3)), 1e-14, "R-hat");
    assert_true(isnan(lgv_finding_value(found(&r, "averages", "rest"), "r_hat")));
    lgv_along.collector.free(object);
    lgv_result_clear(&r);
}

/* Four paths that rest at 0, 1, 1 and 1; that alternate by 0.1 about -1, 1, 1 and 1; and that all rest at 0.1.  What
 * the averages of the first two differ by is their error, and four values are all they are worth. */
static void test_two_wells(void **state) {
    (void)state;
    static uint64_t time_step[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const char *const names[] = {"side", "q", "rest"};
    struct lgv_shape shape = {.ntimes = 8, .nseries = 3, .time_step = time_step, .dt = 1, .interval = 1, .paths = 4,
                              .averages = true};
    void *object = lgv_along.collector.create(&shape);
    double value[8 * 3 * LGV_UNIT], squared = 0.75 + 6. / 7 / (0.04 / 3);
    uint16_t alive[8] = {0};
    int fail[LGV_UNIT] = {0};
    for (size_t t = 0; t < 8; t++)
        for (size_t l = 0; l < LGV_UNIT; l++) {
            value[3 * t * LGV_UNIT + l] = l > 0;
            value[(3 * t + 1) * LGV_UNIT + l] = (l ? 1 : -1) + (t % 2 ? 0.1 : -0.1);
            value[(3 * t + 2) * LGV_UNIT + l] = 0.1;
        }
    struct lgv_piece piece = {.used = 4, .count = 8, .value = value, .alive = alive, .fail = fail, .last = true,
                              .complete = true};
    struct lgv_result r = {.nseries = 3, .series = lgv_new(3, sizeof *r.series)};
    for (size_t i = 0; i < 3; i++) r.series[i].name = lgv_copy(names[i]);
    assert_true(lgv_along.collector.add(object, &piece) && lgv_along.finish(object, &r));
    const struct lgv_finding *side = found(&r, "averages", "side"), *q = found(&r, "averages", "q");
    const struct lgv_finding *rest = found(&r, "averages", "rest");
    assert_true(isinf(lgv_finding_value(side, "r_hat")) && isnan(lgv_finding_value(side, "time")));
    assert_near(lgv_finding_value(side, "stderr"), 0.25, 1e-15, "error of the side");
    assert_near(lgv_finding_value(side, "samples"), 4, 1e-14, "values of the side");
    assert_near(lgv_finding_value(q, "r_hat"), sqrt(squared), 1e-12, "R-hat of q");
    assert_near(lgv_finding_value(q, "stderr"), 0.5, 1e-14, "error of q");
    assert_near(lgv_finding_value(q, "samples"), 4.04, 1e-13, "values of q");
    assert_true(isnan(lgv_finding_value(rest, "r_hat")) && isnan(lgv_finding_value(rest, "samples")));
    lgv_along.collector.free(object);
    lgv_result_clear(&r);
}

/* ---- closed forms of runs ---- */

/* dp = s dW, dx = p dt from rest: <(p(t + L) - p(t))^2> = s^2 L, and <(x(t + L) - x(t))^2> = s^2 (t L^2 + L^3/3), which
 * is averaged over the times t that the correlator takes. */
static void test_displacement(void **state) {
    (void)state;
    static const char text[] = "coordinates: {x: 0}\nmomenta: {p: 0}\nhamiltonian: p^2/2\nnoise: -0.7*x\n"
                               "run: {method: VZc, step: 0.05, until: 40, outputs: 400, paths: 2000, burn_in: 2, "
                               "correlations: yes}\n";
    struct lgv_result *r = run_text(text, NULL);
    size_t lags, n = 381;
    const struct lgv_finding *x = found(r, "correlations", "x"), *p = found(r, "correlations", "p");
    const double *lag = found_array(x, "lag", &lags), *far = found_array(x, "msd", &lags);
    const double *fast = found_array(p, "msd", &lags);
    const double *far_error = found_array(x, "msd_stderr", &lags), *fast_error = found_array(p, "msd_stderr", &lags);
    assert_true(lags == lgv_lags_count(n) && lag[lags - 1] > 20);
    for (size_t k = 1; k < lags; k++) {
        size_t stride, steps = lgv_lags_at(k, &stride), starts = (n - 1 - steps) / stride;
        double L = 0.1 * (double)steps, t = 2 + 0.05 * (double)(starts * stride), s = 0.49;
        if (fabs(lag[k] - L) > 1e-12 * L) fail_msg("lag %zu is %g, not %g", k, lag[k], L);
        if (fabs(fast[k] - s * L) > 4 * fast_error[k]) fail_msg("p, lag %g: %g +- %g", L, fast[k], fast_error[k]);
        if (fabs(far[k] - s * (t * L * L + L * L * L / 3)) > 4 * far_error[k])
            fail_msg("x, lag %g: %g +- %g, not %g", L, far[k], far_error[k], s * (t * L * L + L * L * L / 3));
    }
    lgv_result_free(r);
}

/* x(t) = A cos t + B sin t with normal A and B: the autocorrelation is cos. */
static void test_oscillator(void **state) {
    (void)state;
    static const char text[] = "coordinates: {x: normal()}\nmomenta: {p: normal()}\nhamiltonian: p^2/2 + x^2/2\n"
                               "run: {method: P3N3Q6Gau, step: 0.1, until: 62.8, outputs: 628, paths: 3000, "
                               "averages: yes, correlations: yes}\n";
    struct lgv_result *r = run_text(text, NULL);
    size_t lags;
    const struct lgv_finding *x = found(r, "correlations", "x");
    const double *lag = found_array(x, "lag", &lags), *rho = found_array(x, "correlation", &lags);
    for (size_t k = 0; k < lags && lag[k] < 31; k++) /* averages are not over whole periods */
        if (fabs(rho[k] - cos(lag[k])) > 0.03) fail_msg("lag %g: %g", lag[k], rho[k]);
    assert_true(fabs(lgv_finding_value(found(r, "averages", "H"), "mean") - 1) < 4 / sqrt(3000));
    lgv_result_free(r);
}

/* A free particle in a bath: p is an Ornstein-Uhlenbeck process, exact at every step, with the autocorrelation
 * exp(-g lag), the integrated time 1/g and <(x(t + L) - x(t))^2> = 2 T (L - (1 - exp(-g L))/g)/g. */
static void test_bath(void **state) {
    (void)state;
    static const char text[] = "coordinates: {x: 0}\nmomenta: {p: sqrt(0.5)*normal()}\nhamiltonian: p^2/2\n"
                               "langevin: {friction: 0.5, temperature: 0.5}\n"
                               "run: {step: 0.1, until: 1600, outputs: 8000, paths: 320, averages: yes, "
                               "correlations: yes}\n";
    struct lgv_result *r = run_text(text, NULL);
    size_t lags;
    const struct lgv_finding *x = found(r, "correlations", "x"), *p = found(r, "correlations", "p");
    const double *lag = found_array(p, "lag", &lags), *rho = found_array(p, "correlation", &lags);
    const double *rho_error = found_array(p, "correlation_stderr", &lags), *msd = found_array(x, "msd", &lags);
    const double *msd_error = found_array(x, "msd_stderr", &lags);
    /* exp(-g lag) = 1/e at lag 2; at L = 768 of 1600 the diffusion coefficient is T/g (1 - (1 - exp(-g L))/(g L)) */
    double decay = lgv_finding_value(p, "decay"), half = lgv_finding_value(x, "half_lag");
    double diffusion = lgv_finding_value(x, "diffusion"), unsure = lgv_finding_value(x, "diffusion_stderr");
    print_message("decay %.4f, diffusion %.3f +- %.3f at lag %g\n", decay, diffusion, unsure, half);
    assert_true(fabs(decay - 2) < 0.02 && half > 400 && half <= 800 && unsure < 0.1);
    assert_true(fabs(diffusion - (1 - 2 / half)) < 4 * unsure);
    for (size_t k = 0; k < lags && lag[k] < 50; k++) {
        double e = exp(-0.5 * lag[k]), far = 2 * (lag[k] - (1 - e) / 0.5);
        if (fabs(rho[k] - e) > 4 * rho_error[k] + 1e-3) fail_msg("p, lag %g: %g +- %g", lag[k], rho[k], rho_error[k]);
        if (fabs(msd[k] - far) > 4 * msd_error[k] + 4e-3 * far)
            fail_msg("x, lag %g: %g +- %g, not %g", lag[k], msd[k], msd_error[k], far);
    }
    const struct lgv_finding *a = found(r, "averages", "p"); /* of paths that are 800 integrated times long */
    if (fabs(lgv_finding_value(a, "time") - 2) > 0.06) fail_msg("%g, not 2", lgv_finding_value(a, "time"));
    assert_true(fabs(lgv_finding_value(a, "stderr_along") / lgv_finding_value(a, "stderr_paths") - 1) < 0.2);
    lgv_result_free(r);
}

static void test_bits(void **state) {
    (void)state;
    check_bits("parameters: {s: 0.4}\ncoordinates: {x: 0.1*normal()}\nmomenta: {p: 1}\n"
               "hamiltonian: p^2/2 - x^2/2 + x^4/4\nnoise: [s*x, 0.1*sin(x)]\nstop: x > 1.9\n"
               "run: {step: 0.02, until: 20, outputs: 100, paths: 301, keep: 3, averages: yes, correlations: yes, "
               "burn_in: 1}\n");
}

static void test_bad(void **state) {
    (void)state;
    static const struct {
        const char *outputs, *burn_in, *message;
    } bad[] = {{"7", "0", "outputs = 7 does not divide the 100 steps"}, {"10", "9", "are too few"}};
    for (size_t k = 0; k < 2; k++) {
        struct lgv_model *m = model_of("coordinates: {x: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2\n"
                                       "run: {step: 0.1, until: 10, averages: yes}\n");
        const struct option option[] = {{"outputs", bad[k].outputs}, {"burn_in", bad[k].burn_in}, {NULL, NULL}};
        struct lgv_engine *e = engine_of(m, option);
        struct lgv_error err = {0};
        assert_int_equal(lgv_engine_prepare(e, &err), LGV_BAD_INPUT);
        if (!strstr(err.message, bad[k].message)) fail_msg("%s", err.message);
        lgv_engine_free(e);
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_autoregressive), cmocka_unit_test(test_displacement), cmocka_unit_test(test_oscillator),
        cmocka_unit_test(test_bits),           cmocka_unit_test(test_bad),          cmocka_unit_test(test_bath),
        cmocka_unit_test(test_one_path),       cmocka_unit_test(test_two_wells),     cmocka_unit_test(test_few_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
