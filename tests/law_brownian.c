/* SPDX-License-Identifier: BSD-3-Clause
 *
 * h = -sigma q on a free particle: p = p0 + sigma W exactly and q = q0 + t p0 + sigma * integral of W, so that
 * Var p = sigma^2 t, Var q = sigma^2 t^3/3, Cov(q, p) = sigma^2 t^2/2.  And what coarsening promises: sums of
 * increments. */
#include "helpers.h"

enum { PATHS = 40000, STEPS = 200 };
#define MODEL                                                                                                          \
    "parameters: {sigma: 0.7}\ncoordinates: {q: 0}\nmomenta: {p: 0.5}\n"                                               \
    "hamiltonian: p^2/2\nnoise: -sigma*q\nexact: {p: 'p0 + sigma*W[1]'}\nobserve: {Brown: 'p - 0.5'}\n"

static void check(const char *method) {
    struct lgv_model *m = model_of(MODEL);
    struct lgv_kernel k = kernel_of(m, method);
    double dt = 0.01, t = dt * STEPS, s2 = 0.49, mean[2] = {0}, v[3] = {0};
    double *value = final_values(&k, dt, STEPS, PATHS, 21, 1);
    size_t n = k.watch.count, q = watch_number(&k, "q"), p = watch_number(&k, "p"), e = watch_number(&k, "error");
    for (size_t i = 0; i < PATHS; i++) {
        double x[2] = {value[i * n + q], value[i * n + p]};
        assert_true(value[i * n + e] < 1e-13); /* 200 additions of numbers of size 1 */
        mean[0] += x[0] / PATHS;
        mean[1] += x[1] / PATHS;
        v[0] += (x[0] - 0.5 * t) * (x[0] - 0.5 * t) / PATHS;
        v[1] += (x[1] - 0.5) * (x[1] - 0.5) / PATHS;
        v[2] += (x[0] - 0.5 * t) * (x[1] - 0.5) / PATHS;
    }
    /* 4 standard errors; a variance of normals has the relative standard error sqrt(2/n).  The step replaces the
     * integral of W by a sum: Var q is off by a factor 1 + O(dt/t), at most 3 dt/(2 t) = 0.75 % for a
     * rectangle rule. */
    double rel = 4 * sqrt(2.0 / PATHS), bias = 1.5 * dt / t;
    print_message("%s: Var p / t = %.4f, 3 Var q / t^3 = %.4f, 2 Cov / t^2 = %.4f\n", method, v[1] / (s2 * t),
                  3 * v[0] / (s2 * t * t * t), 2 * v[2] / (s2 * t * t));
    assert_near(mean[0], 0.5 * t, 4 * sqrt(s2 * t * t * t / 3 / PATHS), "mean of q");
    assert_near(mean[1], 0.5, 4 * sqrt(s2 * t / PATHS), "mean of p");
    assert_near(v[0] / (s2 * t * t * t / 3), 1, rel + bias, "variance of q");
    assert_near(v[1] / (s2 * t), 1, rel, "variance of p");
    assert_near(v[2] / (s2 * t * t / 2), 1, rel + bias, "covariance");
    /* the same end point of p in one step made of 200 increments: only the order of additions differs */
    double *coarse = final_values(&k, t, 1, 100, 21, STEPS);
    for (size_t i = 0; i < 100; i++) assert_near(coarse[i * n + p], value[i * n + p], 1e-13, "coarse increment");
    free(coarse);
    free(value);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

static void test_methods(void **state) {
    (void)state;
    static const char *const methods[] = {"P2N2Q2Lob", "P1N1Q2Gau", "P1N1Q1Rec", "EEM", "IEM"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) check(methods[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_methods)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
