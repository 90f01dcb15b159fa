/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Strong order on the Kubo oscillator against its exact solution, all steps on the same Brownian paths, and the measured
 * errors of experiment 1 (T = 3.2, beta = 0.1, q0 = 0, p0 = 1). */
#include "helpers.h"

#define KUBO                                                                                                           \
    "parameters: {beta: 0.1}\ncoordinates: {q: 0}\nmomenta: {p: 1}\n"                                                  \
    "hamiltonian: p^2/2 + q^2/2\nnoise: beta*H\n"                                                                      \
    "exact:\n  q: p0*sin(t + beta*W[1]) + q0*cos(t + beta*W[1])\n"                                                     \
    "  p: p0*cos(t + beta*W[1]) - q0*sin(t + beta*W[1])\n"

/* Step 0.02 / 2^level is made of 32 / 2^level increments of size 6.25e-4. */
static struct fit measure(const char *text, const char *method, size_t levels, size_t paths) {
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, method);
    size_t error = watch_number(&k, "error");
    double *squared = lgv_new(levels * paths, sizeof *squared), dt[MAX_LEVELS];
    for (size_t l = 0; l < levels; l++) {
        uint64_t coarsen = (uint64_t)32 >> l;
        dt[l] = 6.25e-4 * (double)coarsen;
        double *value = final_values(&k, dt[l], 5120 / coarsen, paths, 7, coarsen);
        for (size_t p = 0; p < paths; p++)
            squared[l * paths + p] = value[p * k.watch.count + error] * value[p * k.watch.count + error];
        free(value);
    }
    struct fit f = fit_order(squared, dt, levels, paths);
    print_message("%s: order %.4f +- %.4f; RMS at dt = 0.01: %.4g +- %.2g\n", method, f.slope, f.slope_error, f.rms[1],
                  f.rms_error[1]);
    free(squared);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    return f;
}

/* The next term of the error expansion bends the line: on Kubo one step is a rotation by x + kappa x^3 + O(x^5) with
 * x = dt + beta dW, a relative change of the order dt + beta^2 of the error, hence BEND on the slope. */
#define BEND 0.01

static void check_order(const struct fit *f, double order) {
    assert_true(f->slope_error < 0.05);
    assert_near(f->slope, order, 3 * f->slope_error + BEND, "order");
}

/* experiments.md gives its numbers to 1 %; ours have their standard error: 3 of it, and the 1 % (2 % for rounding to
 * three digits on top). */
static void check_rms(const struct fit *f, double want) {
    assert_true(f->rms_error[1] < 0.02 * want);
    assert_near(f->rms[1], want, 3 * f->rms_error[1] + 0.02 * want, "RMS error at dt = 0.01");
}

static void test_midpoint(void **state) {
    (void)state;
    struct fit f = measure(KUBO, "P1N1Q2Gau", 6, 8000);
    check_order(&f, 1.0);
    check_rms(&f, 1.07e-4);
}

static void test_verlet(void **state) {
    (void)state;
    struct fit f = measure(KUBO, "P2N2Q2Lob", 6, 8000);
    check_order(&f, 1.0);
    check_rms(&f, 5.87e-5);
}

/* With beta = 1 the term of order 1/2 (the missing iterated integral, beta^2/2) outweighs the deterministic error of
 * order 1 by sqrt(dt): a bend of less than 0.05 at dt <= 0.01. */
static void test_maruyama(void **state) {
    (void)state;
    static const char strong[] = "parameters: {beta: 1}\n";
    char text[1000];
    snprintf(text, sizeof text, "%s%s", strong, strchr(KUBO, '\n') + 1);
    struct fit f = measure(text, "EEM", 6, 4000);
    assert_true(f.slope_error < 0.05);
    assert_near(f.slope, 0.5, 3 * f.slope_error + 0.05, "order");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_midpoint),
        cmocka_unit_test(test_verlet),
        cmocka_unit_test(test_maruyama),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
