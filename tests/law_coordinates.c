/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A constraint describes the same motion as generalised coordinates: the spherical pendulum in R3 with g = |x|^2 - 1,
 * and in spherical angles without any constraint, on the same Brownian paths.  Different equations, different methods;
 * the difference is their errors and vanishes with the step. */
#include "sphere.h"

static const double noise = 0.5, up = 0.3; /* no path comes near a pole, where angles fail */

/* Steps 1/first, 1/(2 first), ... of the method on the sphere against the midpoint rule in angles: with the same steps,
 * or with `fine` ones. */
static void compare(const char *method, size_t paths, uint64_t first, uint64_t fine, bool same, double order,
                    double band) {
    struct lgv_model *m = sphere_from(noise, up), *angles = angles_from(noise, up);
    size_t levels = 4;
    double *squared = lgv_new(levels * paths, sizeof *squared), dt[MAX_LEVELS];
    double *b = same ? NULL : sphere_values(angles, "P1N1Q2Gau", in_angles, fine, paths, 1);
    for (size_t l = 0; l < levels; l++) {
        uint64_t steps = first << l;
        dt[l] = 1.0 / (double)steps;
        double *a = sphere_values(m, method, on_sphere, steps, paths, fine / steps);
        if (same) b = sphere_values(angles, "P1N1Q2Gau", in_angles, steps, paths, fine / steps);
        for (size_t p = 0; p < paths; p++) squared[l * paths + p] = distance2(a + p * SEEN, b + p * SEEN);
        free(a);
        if (same) free(b);
    }
    if (!same) free(b);
    struct fit f = fit_order(squared, dt, levels, paths);
    print_message("%s: order %.3f +- %.3f, RMS %.3g to %.3g\n", method, f.slope, f.slope_error, f.rms[0], f.rms[3]);
    assert_true(f.slope_error < 0.05);
    assert_near(f.slope, order, 3 * f.slope_error + band, method);
    free(squared);
    lgv_model_free(m);
    lgv_model_free(angles);
}

/* The midpoint rule and RATTLE share their terms dt^(3/2), those of a path that is straight in each step, and the term
 * -dt dW^2 / 24 |P grad h|^2 of their modified Hamiltonians, which does not depend on coordinates: they differ by the
 * square of dt.  Variational Euler differs by dt. */
static void test_same_steps(void **state) {
    (void)state;
    compare("RATTLE", 400, 16, 128, true, 2, 0.03);
    compare("VE", 400, 16, 128, true, 1, 0.1);
}

/* Against small steps in angles what is left is the error of the method itself, of order 3/2 or slightly above at these
 * steps; that of the midpoint rule is 3e-6. */
static void test_small_steps(void **state) {
    (void)state;
    compare("Lobatto3-W1", 200, 16, 65536, false, 1.6, 0.1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_steps),
        cmocka_unit_test(test_small_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
