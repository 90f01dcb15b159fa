/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two noises: the midpoint rule has strong order 1 when every bracket {h_i, h_j} is constant and order 1/2 otherwise,
 * and the library says which from the formulas (experiment 6). */
#include "helpers.h"

enum { PATHS = 1000, STEPS = 8192, LEVELS = 4 }; /* coarse steps are made of 64 to 512 fine ones */
#define FINE (1.0 / STEPS)

static void check(const char *noise, int commutes, double bend) {
    char text[300];
    snprintf(text, sizeof text,
             "parameters: {sigma: 0.5}\ncoordinates: {q: 0.5}\nmomenta: {p: 1}\n"
             "hamiltonian: p^2/2 + q^2/2\nnoise: %s\n",
             noise);
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, "P1N1Q2Gau"), other = kernel_of(m, "P2N2Q2Lob");
    size_t q = watch_number(&k, "q"), p = watch_number(&k, "p"), n = k.watch.count;
    double *fine = final_values(&other, FINE, STEPS, PATHS, 17, 1), dt[LEVELS];
    double *squared = lgv_new(LEVELS * PATHS, sizeof *squared);
    for (size_t l = 0; l < LEVELS; l++) {
        uint64_t coarsen = (uint64_t)64 << l;
        dt[l] = FINE * (double)coarsen;
        double *x = final_values(&k, dt[l], STEPS / coarsen, PATHS, 17, coarsen);
        for (size_t i = 0; i < PATHS; i++) {
            double a = x[i * n + q] - fine[i * n + q], b = x[i * n + p] - fine[i * n + p];
            squared[l * PATHS + i] = a * a + b * b;
        }
        free(x);
    }
    struct fit f = fit_order(squared, dt, LEVELS, PATHS);
    double promised = lgv_method_strong_order(k.method, &k.structure, k.nnoise, NULL);
    print_message("%s: order %.3f +- %.3f, promised %g\n", noise, f.slope, f.slope_error, promised);
    assert_int_equal(k.structure.commutes, commutes);
    assert_true(promised == (commutes ? 1 : 0.5));
    assert_true(f.slope_error < 0.05);
    assert_near(f.slope, promised, 3 * f.slope_error + bend, "order");
    free(squared);
    free(fine);
    lgv_kernel_free(&k);
    lgv_kernel_free(&other);
    lgv_model_free(m);
}

/* The next term is smaller by sqrt(dt) <= 0.25 or dt <= 0.06; the fine solution, by another method, adds 1/64 (order
 * 1/2) of the squared error at the smallest step and less at the others, half a per cent of slope.  The orders are 0.5
 * apart. */
static void test_orders(void **state) {
    (void)state;
    check("[sigma*q^2/2, sigma*p^2/2]", 0, 0.08);
    check("[sigma*sin(q), sigma*cos(q)]", 1, 0.05);
    check("[sigma*H, sigma*H^2/2]", 1, 0.08);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
