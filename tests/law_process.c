/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Coloured noise: its variance and autocorrelation, from its stationary law or a start value, at steps short and long;
 * the same process for coarse and fine steps, and the same bits in all lanes; moments of a motion that it drives, from
 * the theory of linear equations; strong orders 2, 1 and 1/2; the defect of a step; what is refused. */
#include "helpers.h"

enum { PATHS = 20000 };

#define BODY "coordinates: {x: 0.4}\nmomenta: {p: 0}\nhamiltonian: p^2/2 + 0.7*x^2/2 - eta*x\n"
#define OU "processes: {eta: {sigma: 0.8, tau: 0.7}}\n"
#define OSCILLATOR "processes: {eta: {sigma: 1.2, frequency: 3, damping: 0.5}}\n"

/* E eta(0) eta(t) / sigma^2 */
static double correlation_ou(double t) {
    return exp(-t / 0.7);
}

static double correlation_oscillator(double t) {
    const double w = sqrt(9 - 0.0625);
    return exp(-0.25 * t) * (cos(w * t) + 0.25 / w * sin(w * t));
}

static void check_law(const char *text, double sigma, double (*correlation)(double)) {
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, "verlet");
    static const double dt[] = {0.01, 0.3, 1.7};
    const size_t n = k.watch.count, at = watch_number(&k, "eta");
    for (size_t d = 0; d < 3; d++) {
        double *a = final_values(&k, dt[d], 2, PATHS, 3, 1), *b = final_values(&k, dt[d], 5, PATHS, 3, 1);
        double variance = 0, product = 0, mean = 0;
        for (size_t i = 0; i < PATHS; i++) {
            mean += a[i * n + at] / PATHS;
            variance += b[i * n + at] * b[i * n + at] / PATHS;
            product += a[i * n + at] * b[i * n + at] / PATHS;
        }
        const double v = sigma * sigma, rho = correlation(3 * dt[d]);
        assert_near(mean, 0, 4 * sigma / sqrt(PATHS), "mean");
        assert_near(variance, v, 4 * v * sqrt(2.0 / PATHS), "variance");
        assert_near(product, v * rho, 4 * v * sqrt((1 + rho * rho) / PATHS), "autocorrelation");
        free(a);
        free(b);
    }
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

static void test_law(void **state) {
    (void)state;
    check_law(OU BODY, 0.8, correlation_ou);
    check_law(OSCILLATOR BODY, 1.2, correlation_oscillator);
}

/* Two processes of one kind are independent of each other and of the white noise W, which is p. */
static void test_independence(void **state) {
    (void)state;
    struct lgv_model *m = model_of("processes: {a: {sigma: 1, tau: 0.5}, b: {sigma: 1, tau: 0.5}}\n"
                                   "coordinates: {x: 0}\nmomenta: {p: 0}\nhamiltonian: 0*(a + b)*x\nnoise: -x\n");
    struct lgv_kernel k = kernel_of(m, "verlet");
    const size_t n = k.watch.count;
    const size_t at[] = {watch_number(&k, "a"), watch_number(&k, "b"), watch_number(&k, "p")};
    double *x = final_values(&k, 0.25, 4, PATHS, 3, 1); /* p has variance 1 as well */
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j <= i; j++) {
            double product = 0;
            for (size_t r = 0; r < PATHS; r++) product += x[r * n + at[i]] * x[r * n + at[j]] / PATHS;
            assert_near(product, i == j, 4 * sqrt((i == j ? 2.0 : 1.0) / PATHS), "covariance");
        }
    free(x);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* From a start value: mean x0 e^(-t/tau), variance sigma^2 (1 - e^(-2t/tau)). */
static void test_start(void **state) {
    (void)state;
    struct lgv_model *m = model_of("processes: {eta: {sigma: 0.8, tau: 0.7, start: 2}}\n" BODY);
    struct lgv_kernel k = kernel_of(m, "verlet");
    const size_t n = k.watch.count, at = watch_number(&k, "eta");
    double *x = final_values(&k, 0.1, 5, PATHS, 3, 1), mean = 0, variance = 0;
    const double want = 2 * exp(-0.5 / 0.7), v = 0.64 * (1 - exp(-1 / 0.7));
    for (size_t i = 0; i < PATHS; i++) {
        mean += x[i * n + at] / PATHS;
        variance += (x[i * n + at] - want) * (x[i * n + at] - want) / PATHS;
    }
    assert_near(mean, want, 4 * sqrt(v / PATHS), "mean");
    assert_near(variance, v, 4 * v * sqrt(2.0 / PATHS), "variance");
    free(x);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* p' = eta: p(t) is the integral, of variance 2 sigma^2 tau (t - tau (1 - e^(-t/tau))), exactly at any step. */
static void test_integral(void **state) {
    (void)state;
    struct lgv_model *m = model_of(OU "coordinates: {x: 0}\nmomenta: {p: 0}\nhamiltonian: p^2/2 - eta*x\n");
    struct lgv_kernel k = kernel_of(m, "verlet");
    const size_t n = k.watch.count, at = watch_number(&k, "p");
    static const double dt[] = {0.02, 0.5, 3};
    for (size_t d = 0; d < 3; d++) {
        const double t = 4 * dt[d], v = 2 * 0.64 * 0.7 * (t - 0.7 * (1 - exp(-t / 0.7)));
        double *x = final_values(&k, dt[d], 4, PATHS, 9, 1), variance = 0;
        for (size_t i = 0; i < PATHS; i++) variance += x[i * n + at] * x[i * n + at] / PATHS;
        assert_near(variance, v, 4 * v * sqrt(2.0 / PATHS), "variance of the integral");
        free(x);
    }
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* Two processes of different kinds beside a random parameter: what a block looks like does not matter; and coarse steps
 * have the processes of fine ones, to the last bit. */
static void test_bits(void **state) {
    (void)state;
    static const unsigned lanes[] = {2, 4, 8, 16};
    struct lgv_model *m = model_of("parameters: {a: \"normal(1, 0.1)\"}\n"
                                   "processes: {xi: {sigma: 1, frequency: 3, damping: 0.5}, eta: {sigma: 1, tau: 2}}\n"
                                   "coordinates: {x: 1}\nmomenta: {p: 0}\n"
                                   "hamiltonian: p^2/2 + x^2/2 + x^4/4 - a*xi*x + eta*x^2\nnoise: 0.1*x\n");
    double *first = NULL;
    for (size_t w = 0; w < 4; w++) {
        struct lgv_kernel k = kernel_with(m, "verlet", lanes[w], NULL);
        const size_t n = k.watch.count, eta = watch_number(&k, "eta"), xi = watch_number(&k, "xi_rate");
        double *x = final_values(&k, 0.05, 40, 48, 5, 1), *coarse = final_values(&k, 0.2, 10, 48, 5, 4);
        for (size_t i = 0; i < 48; i++) {
            assert_true(memcmp(&x[i * n + eta], &coarse[i * n + eta], sizeof *x) == 0);
            assert_true(memcmp(&x[i * n + xi], &coarse[i * n + xi], sizeof *x) == 0);
        }
        for (size_t j = 0; first && j < 48 * n; j++) assert_true(memcmp(&first[j], &x[j], sizeof *x) == 0);
        free(coarse);
        if (first) free(x);
        else first = x;
        lgv_kernel_free(&k);
    }
    free(first);
    lgv_model_free(m);
}

#define WELL "coordinates: {x: 0.4}\nmomenta: {p: 0}\nhamiltonian: p^2/2 + x^2/2 + x^4/4"
static const struct {
    const char *text, *method;
    double order;
} orders[] = {
    {OU WELL " - eta*x\n", "verlet", 2},
    {OU WELL " + eta*x^2\n", "midpoint", 2},
    {OSCILLATOR WELL " - eta*x\n", "P3N3Q6Gau", 2},
    {OU WELL " - eta*x\n", "BA", 1},
    {OU WELL " + eta^2*x\n", "verlet", 1},
    {OU WELL "\nnoise: eta*x\n", "verlet", 0.5},
};

/* Errors of x at t = 1 against the same paths at a step 16 times finer; the model predicts the order. */
static void test_orders(void **state) {
    (void)state;
    enum { LEVELS = 4, MANY = 2000, FINEST = 1024 };
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct lgv_model *m = model_of(orders[i].text);
        struct lgv_kernel k = kernel_of(m, orders[i].method);
        const size_t n = k.watch.count, at = watch_number(&k, "x");
        double *fine = final_values(&k, 1.0 / FINEST, FINEST, MANY, 7, 1), dt[LEVELS];
        double *squared = lgv_new(LEVELS * MANY, sizeof *squared);
        for (size_t l = 0; l < LEVELS; l++) {
            const uint64_t steps = (uint64_t)FINEST >> (4 + l);
            dt[l] = 1.0 / (double)steps;
            double *x = final_values(&k, dt[l], steps, MANY, 7, FINEST / steps);
            for (size_t p = 0; p < MANY; p++)
                squared[l * MANY + p] = (x[p * n + at] - fine[p * n + at]) * (x[p * n + at] - fine[p * n + at]);
            free(x);
        }
        struct fit f = fit_order(squared, dt, LEVELS, MANY);
        const double promised = lgv_method_strong_order(k.method, &k.structure, m->nnoise, NULL);
        assert_near(promised, orders[i].order, 0, orders[i].text);
        assert_near(f.slope, promised, 4 * f.slope_error + 0.06, orders[i].text); /* steps up to 1/8 */
        free(squared);
        free(fine);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

/* Symplectic for every path of the process; its numbers may be changed, itself it may not. */
static void test_run(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {s: 0.8}\nprocesses: {eta: {sigma: s, tau: 0.7}}\n" BODY);
    struct lgv_run *run = NULL;
    struct lgv_result *r = NULL;
    struct lgv_error err = {0};
    for (int set = 0; set < 2; set++) {
        if (set) set_parameter(m, "s", 0);
        if (lgv_run_create(m, &run, &err) || lgv_run_set(run, "method", "verlet", &err) ||
            lgv_run_set(run, "until", "1", &err) || lgv_run_set(run, "paths", "64", &err) ||
            lgv_run_execute(run, &r, &err))
            fail_msg("%s", err.message);
        assert_true(lgv_result_symplectic_defect(r) < 1e-12);
        const double *low = lgv_result_series(r, "eta", LGV_MIN), *high = lgv_result_series(r, "eta", LGV_MAX);
        assert_true(set ? low[0] == 0 && high[0] == 0 : low[0] < high[0]);
        lgv_result_free(r);
        lgv_run_free(run);
    }
    assert_int_equal(lgv_model_set(m, "eta", 1, &err), LGV_BAD_INPUT);
    lgv_model_free(m);
}

static void test_refused(void **state) {
    (void)state;
#define REST "\ncoordinates: {x: 1}\nhamiltonian: p_x^2/2 - eta*x\n"
    static const char *const row[][2] = {
        {"processes: {eta: {sigma: 1}}" REST, "either tau, or frequency and damping"},
        {"processes: {eta: {tau: 1}}" REST, "needs sigma"},
        {"processes: {eta: {sigma: 1, tau: 0}}" REST, "tau of a process is 0; it must be a positive number"},
        {"processes: {eta: {sigma: -1, tau: 1}}" REST, "finite nonnegative"},
        {"processes: {eta: {sigma: 1, frequency: 2}}" REST, "needs frequency and damping"},
        {"processes: {eta: {sigma: 1, tau: 1, frequency: 2, damping: 1}}" REST, "either tau, or"},
        {"processes: {eta: {sigma: 1, colour: 2}}" REST, "unknown key colour"},
        {"parameters: {eta: 1}\nprocesses: {eta: {sigma: 1, tau: 1}}" REST, "eta"},
        {"parameters: {k: normal()}\nprocesses: {eta: {sigma: k, tau: 1}}" REST, "the same for all paths"},
        {"processes: {eta: {sigma: 1, tau: 1}}\nconstraints: x - eta" REST, "in a constraint"},
        {"processes: {eta: {sigma: 1, tau: 1}}\nlangevin: {friction: eta^2, temperature: 1}" REST, "in the friction"},
        {"processes: {eta: {sigma: 1, tau: 1}}\nlangevin: {friction: 1, temperature: eta^2}" REST, "in a temperature"},
        {"processes: 3" REST, "processes as name"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_model *m = NULL;
        struct lgv_error err = {0};
        if (lgv_model_parse(row[i][0], "test.yaml", &m, &err) != LGV_BAD_INPUT) fail_msg("taken: %s", row[i][0]);
        if (!strstr(err.message, row[i][1])) fail_msg("%s\nsays %s", row[i][0], err.message);
        assert_true(err.line > 0);
    }
    static const char *const methods[] = {"Newmark", "SHAKE", "Taylor15", "Gonzalez", "BAOAB-Metropolis"};
    struct lgv_model *m = model_of(OU BODY);
    struct lgv_structure s;
    struct lgv_error err = {0};
    char why[400];
    assert_int_equal(lgv_model_structure(m, &s, &err), LGV_OK);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (!lgv_method_refusal(lgv_method_find(methods[i]), m, &s, why, sizeof why)) fail_msg("%s fits", methods[i]);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_law),      cmocka_unit_test(test_start),
                                       cmocka_unit_test(test_integral), cmocka_unit_test(test_bits),
                                       cmocka_unit_test(test_orders),   cmocka_unit_test(test_run),
                                       cmocka_unit_test(test_refused),  cmocka_unit_test(test_independence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
