/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Constraints by penalty: the same as the formula written by hand, and multipliers from means over windows. */
#include "helpers.h"

/* An observable at a time, of the first path. */
static double seen_at(const char *text, const char *method, double dt, uint64_t steps, const char *name) {
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, method);
    double *x = final_values(&k, dt, steps, 1, 3, 1), value = x[watch_number(&k, name)];
    free(x);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    return value;
}

#define RODS "coordinates: {x1: 0, y1: -1, x2: 1, y2: -2}\npotential: y1 + y2"
#define FAMILY                                                                                                         \
    "parameters: {N: 8, w: 20}\ncoordinates: {'x[N]': 0.3*i, 'y[N]': 0}\n"                                             \
    "potential: sum(i=1..N, y[i])%s\n%sobserve: {last: 'y[N]', %s: 'x[1]'}\n"

/* Round-off: the same formula in another order. */
static void test_formula(void **state) {
    (void)state;
    static const char by_hand[] = RODS " + 200*((x1^2 + y1^2 - 1)^2 + ((x2 - x1)^2 + (y2 - y1)^2 - 2)^2)\n";
    static const char penalty[] = RODS "\nconstraints: [x1^2 + y1^2 - 1, (x2 - x1)^2 + (y2 - y1)^2 - 2]\n"
                                       "penalty: {omega: 20}\n";
    static const char lagrangian[] = "coordinates: {x1: 0, y1: -1, x2: 1, y2: -2}\n"
                                     "velocities: {a: 0, b: 0, c: 0, d: 0}\n"
                                     "lagrangian: (a^2 + b^2 + c^2 + d^2)/2 - y1 - y2\n"
                                     "constraints: [x1^2 + y1^2 - 1, (x2 - x1)^2 + (y2 - y1)^2 - 2]\n"
                                     "penalty: {omega: 20}\n";
    static const char *const method[] = {"ZS", "StiffZSs", "P2N2Q2Lob"};
    for (size_t k = 0; k < 3; k++) {
        double dt = k < 2 ? 0.05 : 0.005;
        double x = k == 1 ? seen_at(lagrangian, method[k], dt, 100, "x2") : seen_at(by_hand, method[k], dt, 100, "x2");
        assert_near(seen_at(penalty, method[k], dt, 100, "x2"), x, 1e-10, method[k]);
        assert_near(seen_at(lagrangian, method[k], dt, 100, "x2"), x, 1e-10, method[k]);
    }
    char one[600], two[600];
    snprintf(one, sizeof one, FAMILY, " + w^2/2*sum(k=2..N, ((x[k] - x[k-1])^2 + (y[k] - y[k-1])^2 - 0.09)^2)", "",
             "z");
    snprintf(two, sizeof two, FAMILY, "",
             "constraints: ['each(k=2..N, (x[k] - x[k-1])^2 + (y[k] - y[k-1])^2 - 0.09)']\npenalty: {omega: w}\n", "z");
    assert_near(seen_at(one, "ZS", 0.05, 40, "last"), seen_at(two, "ZS", 0.05, 40, "last"), 1e-11, "a family");
}

/* q1 = 0 is kept by lambda = -q2 = -cos t.  The mean over a window w behind t is that at t - w/2 up to w^2/24, and up
 * to what the fast motion, whose amplitude is 1, leaves of its last part of a period: nothing where w is its period. */
static void test_closed_form(void **state) {
    (void)state;
    static const char model[] = "coordinates: {q1: 0, q2: 1}\npotential: (q2 - q1)^2/2\nconstraints: [q1]\n"
                                "penalty: {omega: 100%s}\nobserve: {multiplier: 'lambda[1]'}\n";
    char text[300];
    const double w = 2 * acos(-1) / 100;
    snprintf(text, sizeof text, model, "");
    for (int k = 1; k <= 4; k++) {
        uint64_t windows = (uint64_t)(k / w);
        double t = (double)windows * w - w / 2, x = seen_at(text, "P2N2Q2Lob", w / 40, 40 * windows, "multiplier");
        print_message("t = %.3f: %.5f, -cos t = %.5f\n", t, x, -cos(t));
        assert_near(x, -cos(t), 2e-3, "Verlet");
    }
    snprintf(text, sizeof text, model, ", window: 0.5");
    for (int k = 1; k <= 4; k++) { /* ten times the step of Verlet: the fast motion is not resolved */
        double t = k - 0.25, x = seen_at(text, "ZS", 0.05, (uint64_t)(20 * k), "multiplier");
        print_message("t = %.3f: %.5f, -cos t = %.5f\n", t, x, -cos(t));
        assert_near(x, -cos(t), 0.12, "ZS");
    }
}

#define CIRCLE                                                                                                         \
    "coordinates: {x: 1, y: 0}\nmomenta: {px: 0, py: 1}\nhamiltonian: px^2/2 + py^2/2\nconstraints: [x^2 + y^2 - 1]\n" \
    "penalty: {omega: 20, window: 20}\nobserve: {multiplier: 'lambda[1]', at_x: '-400*(x^2 + y^2 - 1)'}\n"

/* On a circle lambda = -1/2.  A program of its own has -0.49387 with g at x + beta dt^2 a (-0.48532 with g + beta dt^2
 * G a), and -3.504 with g at x. */
static void test_circle(void **state) {
    (void)state;
    double mean = 0;
    assert_near(seen_at(CIRCLE, "ZS", 0.1, 200, "multiplier"), -0.493873, 1e-5, "ZS");
    assert_near(seen_at(CIRCLE, "ZSs", 0.1, 200, "multiplier"), -0.525007, 1e-5, "ZSs");
    for (uint64_t k = 1; k <= 40; k++) mean += seen_at(CIRCLE, "ZS", 0.1, 5 * k, "at_x") / 40;
    print_message("at x: %.3f\n", mean);
    assert_near(mean, -3.5, 0.3, "at x");
    static const char *const method[] = {"Newmark", "PushNewmark", "StiffZSs"};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        double x = seen_at(CIRCLE, method[k], 0.05, 400, "multiplier");
        print_message("%s: %.4f\n", method[k], x);
        assert_near(x, -0.5, 0.02, method[k]);
    }
    /* the shifts of the substeps cancel up to dt^4: -0.534 at twice the step */
    assert_near(seen_at(CIRCLE, "ZS-Suzuki4", 0.025, 800, "multiplier"), -0.5, 0.005, "ZS-Suzuki4");
    assert_near(seen_at(CIRCLE, "P2N2Q2Lob", 0.005, 4000, "multiplier"), -0.5, 0.01, "Verlet");
}

/* omega is set to what the file may not have. */
static void test_no_springs(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {omega: 20}\ncoordinates: {x: 1, y: 0}\nmomenta: {a: 0, b: 1}\n"
                                   "hamiltonian: a^2/2 + b^2/2\nconstraints: [x^2 + y^2 - 1]\n"
                                   "penalty: {omega: omega, window: 0.5}\n");
    static const double bad[] = {0, 1e200};
    struct lgv_structure s;
    struct lgv_error err = {0};
    assert_int_equal(lgv_model_structure(m, &s, &err), LGV_OK);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(lgv_model_set(m, "omega", bad[k], &err), LGV_OK);
        assert_int_equal(lgv_model_structure(m, &s, &err), LGV_BAD_INPUT);
        assert_non_null(strstr(err.message, "omega^2 of the penalty is"));
        assert_int_equal(err.line, 6);
    }
    assert_int_equal(lgv_model_set(m, "omega", 30, &err), LGV_OK);
    assert_int_equal(lgv_model_structure(m, &s, &err), LGV_OK);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_formula), cmocka_unit_test(test_closed_form),
                                       cmocka_unit_test(test_circle), cmocka_unit_test(test_no_springs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
