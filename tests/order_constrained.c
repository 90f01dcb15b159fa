/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Orders of the methods for constrained systems on the spherical pendulum: without noise against the solution in
 * spherical angles by a Gauss method of order 8; with the noise potentials sin x, sin y, sin z against a fine solution
 * of the same Brownian paths. */
#include "sphere.h"

/* ---- without noise ---- */

/* Steps 1/first, half, and half of that.  The next term of the error is smaller by the step (VE) or its square. */
static void deterministic(struct lgv_model *m, const char *method, double order, uint64_t first, const double *exact) {
    double error[3];
    for (size_t l = 0; l < 3; l++) {
        double *x = sphere_values(m, method, on_sphere, first << l, 1, 1);
        error[l] = sqrt(distance2(x, exact));
        free(x);
    }
    print_message("%s: %.3f, %.3f (%.2g at the end)\n", method, log2(error[0] / error[1]), log2(error[1] / error[2]),
                  error[2]);
    assert_true(error[2] > 1e-13); /* above round-off */
    assert_near(log2(error[1] / error[2]), order, 0.05, method);
}

static void test_deterministic(void **state) {
    (void)state;
    struct lgv_model *angles = angles_from(0, 0.4), *m = sphere_from(0, 0.4);
    double *exact = sphere_values(angles, "P4N4Q8Gau", in_angles, 64, 1, 1);
    deterministic(m, "VE", 1, 128, exact);
    deterministic(m, "VE-adjoint", 1, 128, exact);
    deterministic(m, "PEM", 1, 256, exact);
    deterministic(m, "RATTLE", 2, 16, exact);
    deterministic(m, "SHAKE", 2, 128, exact); /* its momenta are shown projected */
    deterministic(m, "Lobatto3", 4, 8, exact);
    deterministic(m, "Lobatto4", 6, 4, exact);
    free(exact);
    lgv_model_free(angles);
    lgv_model_free(m);
}

/* ---- with noise ---- */

static const size_t paths = 2000, levels = 4;
static const uint64_t fine = 4096;
static double *reference;

static int make_reference(void **state) {
    (void)state;
    struct lgv_model *m = sphere_from(1, 0);
    reference = sphere_values(m, "RATTLE-Jc", on_sphere, fine, paths, 1);
    lgv_model_free(m);
    return 0;
}

static int drop_reference(void **state) {
    (void)state;
    free(reference);
    return 0;
}

/* Norm over what is seen of the mean error, with one part of the paths left out (none: FOLDS). */
static double bias(const double *x, size_t without) {
    double s = 0;
    for (size_t i = 0; i < SEEN; i++) {
        double mean = 0;
        size_t n = 0;
        for (size_t p = 0; p < paths; p++)
            if (p % FOLDS != without) {
                mean += x[p * SEEN + i] - reference[p * SEEN + i];
                n++;
            }
        s += mean * mean / (double)(n * n);
    }
    return sqrt(s);
}

/* Weak order by the mean difference to the reference on the same paths, standard error by leaving parts out. */
static void weak(const char *method, double *const *x, const double *dt, double low, double high) {
    double at[MAX_LEVELS], y[MAX_LEVELS], slope[FOLDS + 1], mean = 0, error = 0;
    for (size_t k = 0; k <= FOLDS; k++) {
        for (size_t l = 0; l < levels; l++) {
            at[l] = log2(dt[l]);
            y[l] = log2(bias(x[l], k));
        }
        slope[k] = slope_through(at, y, levels);
        if (k < FOLDS) mean += slope[k] / FOLDS;
    }
    for (size_t k = 0; k < FOLDS; k++) error += (slope[k] - mean) * (slope[k] - mean) * (FOLDS - 1) / FOLDS;
    error = sqrt(error);
    print_message("%s: weak order %.3f +- %.3f, bias %.3g at dt = 1/256\n", method, slope[FOLDS], error, exp2(y[0]));
    assert_true(error < 0.1);
    assert_true(slope[FOLDS] > low - 3 * error && slope[FOLDS] < high + 3 * error);
}

/* Steps 2^-8 to 2^-5.  `want` is the slope of an independent implementation over these steps (it is above the order:
 * terms of higher order still count), whose own standard error is 0.01. */
static void strong(const char *method, double want, double weak_low, double weak_high) {
    struct lgv_model *m = sphere_from(1, 0);
    double *squared = lgv_new(levels * paths, sizeof *squared), *x[MAX_LEVELS], dt[MAX_LEVELS];
    for (size_t l = 0; l < levels; l++) {
        uint64_t steps = (uint64_t)256 >> l;
        dt[l] = 1.0 / (double)steps;
        x[l] = sphere_values(m, method, on_sphere, steps, paths, fine / steps);
        for (size_t p = 0; p < paths; p++) squared[l * paths + p] = distance2(x[l] + p * SEEN, reference + p * SEEN);
    }
    struct fit f = fit_order(squared, dt, levels, paths);
    print_message("%s: strong order %.3f +- %.3f, RMS %.3g at dt = 1/256\n", method, f.slope, f.slope_error, f.rms[0]);
    assert_true(f.slope_error < 0.05);
    assert_near(f.slope, want, 3 * f.slope_error + 0.03, method);
    if (weak_high > 0) weak(method, x, dt, weak_low, weak_high);
    for (size_t l = 0; l < levels; l++) free(x[l]);
    free(squared);
    lgv_model_free(m);
}

static void test_order_one(void **state) {
    (void)state;
    strong("SVE", 1.008, 1, 1.1);
    strong("RATTLE", 0.987, 0, 0);
    strong("PEM", 0.97, 0, 0); /* order 1; at these steps terms of higher order still take something off */
}

static void test_order_three_halves(void **state) {
    (void)state;
    strong("Lobatto3-W1", 1.56, 0, 0);
    strong("Lobatto3-W2", 1.58, 0, 0);
    strong("RATTLE-Jc", 1.86, 2, 2.1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_order_one),
        cmocka_unit_test(test_order_three_halves),
    };
    return cmocka_run_group_tests(tests, make_reference, drop_reference);
}
