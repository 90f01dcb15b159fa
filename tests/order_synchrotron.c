/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Strong order on the synchrotron model (H = p^2/2 - cos q, h = beta sin q) against a fine solution of the same
 * Brownian paths, the measured errors of experiment 2, and the orders of all methods on a nonlinear model without
 * noise. */
#include "helpers.h"

#define SYNCHROTRON "parameters: {beta: 0.1}\ncoordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\n"

#define FINE 1.5625e-4 /* the reference step: its error is 1/256 of the one at 0.04 */
#define STEPS 20480    /* to T = 3.2 */

static double distance2(const double *a, const double *b, size_t q, size_t p) {
    return (a[q] - b[q]) * (a[q] - b[q]) + (a[p] - b[p]) * (a[p] - b[p]);
}

static const size_t paths = 2000;

/* The end points of all paths (q, p): by another method than the one under test, which may converge to anything. */
static double *reference_by(const char *method) {
    struct lgv_model *m = model_of(SYNCHROTRON "noise: beta*sin(q)\n");
    struct lgv_kernel k = kernel_of(m, method);
    size_t q = watch_number(&k, "q"), p = watch_number(&k, "p");
    double *value = final_values(&k, FINE, STEPS, paths, 3, 1);
    double *reference = lgv_new(paths * 2, sizeof *reference);
    assert_non_null(reference);
    for (size_t i = 0; i < paths; i++) {
        reference[2 * i] = value[i * k.watch.count + q];
        reference[2 * i + 1] = value[i * k.watch.count + p];
    }
    free(value);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    return reference;
}

/* Steps 0.02, 0.04, 0.08, 0.16.  want: RMS at 0.04 in experiments.md, three digits from 2000 paths (1-2 %); on top 3 of
 * our standard errors and the error of the reference, 1/256. */
static void strong(const char *method, const char *other, double want) {
    double *reference = reference_by(other);
    struct lgv_model *m = model_of(SYNCHROTRON "noise: beta*sin(q)\n");
    struct lgv_kernel k = kernel_of(m, method);
    size_t q = watch_number(&k, "q"), p = watch_number(&k, "p"), levels = 4;
    double *squared = lgv_new(levels * paths, sizeof *squared), dt[MAX_LEVELS];
    for (size_t l = 0; l < levels; l++) {
        uint64_t coarsen = (uint64_t)128 << l;
        dt[l] = FINE * (double)coarsen;
        double *value = final_values(&k, dt[l], STEPS / coarsen, paths, 3, coarsen);
        for (size_t i = 0; i < paths; i++) {
            double x[2] = {value[i * k.watch.count + q], value[i * k.watch.count + p]};
            squared[l * paths + i] = distance2(x, reference + 2 * i, 0, 1);
        }
        free(value);
    }
    struct fit f = fit_order(squared, dt, levels, paths);
    print_message("%s: order %.4f +- %.4f; RMS at dt = 0.04: %.4g +- %.2g\n", method, f.slope, f.slope_error, f.rms[1],
                  f.rms_error[1]);
    assert_true(f.slope_error < 0.05);
    /* dt^2 terms of the deterministic error are of the same size as the noise error at 0.16 (beta is small) */
    assert_near(f.slope, 1.0, 3 * f.slope_error + 0.1, "order");
    assert_near(f.rms[1], want, 3 * f.rms_error[1] + 0.02 * want, "RMS error at dt = 0.04");
    free(squared);
    free(reference);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

static void test_euler(void **state) {
    (void)state;
    strong("P1N1Q1Rec", "P1N1Q2Gau", 4.38e-3);
}
static void test_verlet(void **state) {
    (void)state;
    strong("P2N2Q2Lob", "P1N1Q2Gau", 1.61e-3);
}
static void test_midpoint(void **state) {
    (void)state;
    strong("P1N1Q2Gau", "P2N2Q2Lob", 1.61e-3);
}

/* Orders without noise, pairwise between halved steps at T = 3.2 against RK4 at a step where its error is 1e-13.  The
 * last pair is within 0.05: the next term is smaller by the step, 0.05 at most. */
static void deterministic(const char *method, double order, const double *exact, double first) {
    struct lgv_model *m = model_of(SYNCHROTRON);
    struct lgv_kernel k = kernel_of(m, method);
    size_t q = watch_number(&k, "q"), p = watch_number(&k, "p");
    double error[3];
    for (int l = 0; l < 3; l++) {
        double dt = first / (1 << l);
        double *value = final_values(&k, dt, (uint64_t)(3.2 / dt + 0.5), 1, 1, 1);
        double x[2] = {value[q], value[p]};
        error[l] = sqrt(distance2(x, exact, 0, 1));
        free(value);
    }
    print_message("%s: without noise %.3f, %.3f\n", method, log2(error[0] / error[1]), log2(error[1] / error[2]));
    assert_near(log2(error[1] / error[2]), order, 0.05, method);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

static void test_deterministic(void **state) {
    (void)state;
    struct lgv_model *m = model_of(SYNCHROTRON);
    struct lgv_kernel k = kernel_of(m, "RK4");
    double *value = final_values(&k, 6.25e-4, 5120, 1, 1, 1);
    double exact[2] = {value[watch_number(&k, "q")], value[watch_number(&k, "p")]};
    free(value);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    deterministic("P1N1Q1Rec", 1, exact, 0.0125);
    deterministic("P2N2Q2Lob", 2, exact, 0.05);
    deterministic("P1N1Q2Gau", 2, exact, 0.05);
    deterministic("RK4", 4, exact, 0.05);
    deterministic("EEM", 1, exact, 0.0125);
    deterministic("IEM", 1, exact, 0.0125);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_euler),
        cmocka_unit_test(test_verlet),
        cmocka_unit_test(test_midpoint),
        cmocka_unit_test(test_deterministic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
