/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The laws of random start values: normal(mean, std), uniform(low, high), independent components, other values for
 * other seeds; mean, variance, correlation and the Kolmogorov-Smirnov distance. */
#include "helpers.h"

enum { PATHS = 100000 };

static const char text[] = "coordinates: {a: 'normal(2, 0.5)', b: 'uniform(-1, 3)', c: normal()^2, d: 'a + normal()'}\n"
                           "momenta: {u: normal(), v: uniform(), w: normal(), x: 1}\n"
                           "hamiltonian: u^2 + v^2 + w^2 + x^2\n";

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *column(const double *value, size_t count, size_t at) {
    double *x = lgv_new(PATHS, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < PATHS; i++) x[i] = value[i * count + at];
    return x;
}

static double normal_cdf(double x) {
    return 0.5 * erfc(-x / sqrt(2.0));
}

/* Moments within 4 standard errors.  sqrt(n) D > 1.95 has probability 1e-3 when the law is right. */
static void check_law(double *x, double mean, double std, double fourth, bool normal, double low, double high) {
    double m = 0, v = 0, D = 0;
    for (size_t i = 0; i < PATHS; i++) m += x[i] / PATHS;
    for (size_t i = 0; i < PATHS; i++) v += (x[i] - m) * (x[i] - m) / (PATHS - 1);
    assert_near(m, mean, 4 * std / sqrt(PATHS), "mean");
    assert_near(v, std * std, 4 * std * std * sqrt((fourth - 1) / PATHS), "variance");
    qsort(x, PATHS, sizeof *x, ascending);
    for (size_t i = 0; i < PATHS; i++) {
        double F = normal ? normal_cdf((x[i] - mean) / std) : (x[i] - low) / (high - low);
        D = fmax(D, fmax(fabs(F - (double)i / PATHS), fabs(F - (double)(i + 1) / PATHS)));
    }
    assert_true(D * sqrt(PATHS) < 1.95);
    if (!normal) assert_true(x[0] > low && x[PATHS - 1] < high);
}

static void test_laws(void **state) {
    (void)state;
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, "P2N2Q2Lob");
    /* two ends of a run of one step of size 1e-300: nothing moves */
    double *value = final_values(&k, 1e-300, 1, PATHS, 11, 1);
    double *x[8];
    static const char *const name[] = {"a", "b", "c", "d", "u", "v", "w", "x"};
    for (size_t i = 0; i < 8; i++) x[i] = column(value, k.watch.count, watch_number(&k, name[i]));
    double square = 0;
    for (size_t i = 0; i < PATHS; i++) {
        square += x[2][i] / PATHS;
        assert_true(x[7][i] == 1);
    }
    assert_near(square, 1, 4 * sqrt(2.0 / PATHS), "mean of the square of a normal");
    /* independent draws: the correlation of PATHS pairs has standard error 1/sqrt(PATHS) */
    double uw = 0, av = 0, ad = 0;
    for (size_t i = 0; i < PATHS; i++) {
        uw += x[4][i] * x[6][i] / PATHS;
        av += (x[0][i] - 2) * (x[5][i] - 0.5) / PATHS;
        ad += (x[0][i] - 2) * (x[3][i] - 2) / PATHS;
    }
    assert_near(uw, 0, 4 / sqrt(PATHS), "correlation of two normals");
    assert_near(av, 0, 4 * 0.5 * sqrt(1.0 / 12) / sqrt(PATHS), "correlation of a normal and a uniform");
    assert_near(ad, 0.25, 4 * 0.5 * sqrt(1.5) / sqrt(PATHS), "covariance through a start value that refers to another");
    check_law(x[0], 2, 0.5, 3, true, 0, 0);
    check_law(x[1], 1, 4 / sqrt(12.0), 1.8, false, -1, 3);
    check_law(x[3], 2, sqrt(1.25), 3, true, 0, 0);
    check_law(x[4], 0, 1, 3, true, 0, 0);
    check_law(x[5], 0.5, 1 / sqrt(12.0), 1.8, false, 0, 1);
    double *other = final_values(&k, 1e-300, 1, 64, 12, 1), *again = final_values(&k, 1e-300, 1, 64, 11, 1);
    size_t a = watch_number(&k, "a");
    for (size_t i = 0; i < 64; i++) {
        assert_true(other[i * k.watch.count + a] != value[i * k.watch.count + a]);
        assert_true(again[i * k.watch.count + a] == value[i * k.watch.count + a]);
    }
    for (size_t i = 0; i < 8; i++) free(x[i]);
    free(value);
    free(other);
    free(again);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_laws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
