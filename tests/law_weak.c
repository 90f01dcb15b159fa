/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Three-point increments.  One step of H = p^2/2 with h = -x from rest has p = dW, and x = dZ by VZ: their moments are
 *   E dW^2 = dt,  E dW^4 = 3 dt^2,  E dW^6 = 9 dt^3 (15 of a normal),  E dZ^2 = dt^3/3,  E dW dZ = dt^2/2,
 * and no |dW| is above sqrt(3 dt).
 *
 * Averages to weak order 2: for H = (p^2 + q^2)/2 and h = s q^2/2 the second moments follow
 *   (q^2)' = 2 qp,  (qp)' = p^2 - q^2,  (p^2)' = -2 qp + s^2 q^2   in the mean,
 * which is integrated here by Taylor's series.
 *
 * Comparisons have such increments too, of each step its own, and control variates, whose mean is zero for them as
 * well. */
#include "helpers.h"
#include "study/compare.h"

static void run_weak(struct lgv_model *m, const char *method, double dt, double until, uint64_t paths,
                     struct lgv_result *r) {
    struct lgv_settings s = settings_for(m, method, dt, until, paths);
    s.outputs = 1;
    s.seed = 5;
    s.weak = true;
    s.check_states = 0;
    s.bins = 0;
    run_with(m, &s, LGV_OK, r);
    assert_true(r->weak);
}

static void is(const struct lgv_result *r, const char *name, double want) {
    const struct lgv_series *x = series_of(r, name);
    print_message("%s: %.5f +- %.5f, expected %.5f\n", name, x->mean[1], x->err[1], want);
    assert_near(x->mean[1], want, 4 * x->err[1] + 1e-14, name);
}

static void test_moments(void **state) {
    (void)state;
    static const char *const with[] = {"", "langevin: {friction: [1, 0], temperature: 0}\n"};
    for (int bath = 0; bath < 2; bath++) {
        char text[600];
        snprintf(text, sizeof text,
                 "coordinates: {y: 0, x: 0}\nmomenta: {r: 0, p: 0}\nhamiltonian: p^2/2 + r^2/2\nnoise: -x\n%s"
                 "observe: {w2: p^2, w4: p^4, w6: p^6, z2: x^2, wz: x*p, zero: \"1 - min(1, 1e6*p^2)\"}\n", with[bath]);
        struct lgv_model *m = model_of(text);
        struct lgv_result r;
        double dt = 0.25;
        run_weak(m, bath ? "P2N2Q2Lob-GLA" : "VZ", dt, dt, 200000, &r);
        is(&r, "p", 0);
        is(&r, "w2", dt);
        is(&r, "w4", 3 * dt * dt);
        is(&r, "w6", 9 * dt * dt * dt);
        is(&r, "zero", 2.0 / 3);
        assert_near(series_of(&r, "p")->max[1], sqrt(3 * dt), 1e-15, "largest");
        if (!bath) {
            is(&r, "z2", dt * dt * dt / 3);
            is(&r, "wz", dt * dt / 2);
        }
        lgv_result_clear(&r);
        lgv_model_free(m);
    }
}

/* p = W, its integral y and the integral of that, z, over a step: the polygon of the three flows has the right dW and
 * dZ whatever its middle side is, and z has the mean 0 where that has a sign of its own at dW = 0. */
static void test_flows(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {y: 0, z: 0}\nmomenta: {p: 0, r: 0}\nhamiltonian: p^2/2 + y*r\n"
                                   "noise: -y\nobserve: {w2: p^2, z2: y^2, flat: \"1 - min(1, 1e6*p^2)\", "
                                   "third: \"z*(1 - min(1, 1e6*p^2))\"}\n");
    struct lgv_result r;
    run_weak(m, "P2N2Q4Gau-3flows", 1, 1, 200000, &r);
    is(&r, "w2", 1);
    is(&r, "z2", 1.0 / 3);
    is(&r, "flat", 2.0 / 3);
    is(&r, "third", 0);
    is(&r, "z", 0);
    lgv_result_clear(&r);
    lgv_model_free(m);
}

#define S 0.8

/* E q^2, E qp or E p^2 at t, from (1, 0, 0). */
static double second_moment(double t, int which) {
    double x[3] = {1, 0, 0}, sum = 0, factor = 1;
    for (int k = 0; k < 40; k++) {
        sum += factor * x[which];
        factor *= t / (k + 1);
        double next[3] = {2 * x[1], x[2] - x[0], S * S * x[0] - 2 * x[1]};
        memcpy(x, next, sizeof x);
    }
    return sum;
}

static void test_order(void **state) {
    (void)state;
    static const char text[] = "parameters: {s: 0.8}\ncoordinates: {q: 1}\nmomenta: {p: 0}\n"
                               "hamiltonian: (p^2 + q^2)/2\nnoise: s*q^2/2\nobserve: {qq: q^2}\n";
    double until = 2, error[2], err[2];
    struct lgv_model *m = model_of(text);
    struct lgv_result r;
    for (int i = 0; i < 2; i++) {
        run_weak(m, "VZc", ldexp(0.25, -i), until, 8000000, &r);
        error[i] = series_of(&r, "qq")->mean[1] - second_moment(until, 0);
        err[i] = series_of(&r, "qq")->err[1];
        print_message("step %g: error %.5f +- %.5f\n", ldexp(0.25, -i), error[i], err[i]);
        lgv_result_clear(&r);
    }
    double order = log2(fabs(error[0] / error[1]));
    double spread = hypot(err[0] / error[0], err[1] / error[1]) / log(2);
    print_message("weak order %.2f +- %.2f\n", order, spread);
    assert_true(spread < 0.4 && order > 2 - 2 * spread && error[0] < 0);
    run_weak(m, "P2N2Q4Gau-Jc", 0.25, until, 8000000, &r); /* its error is below 0.001 */
    assert_near(series_of(&r, "qq")->mean[1], second_moment(until, 0), 0.002, "Gauss");
    lgv_result_clear(&r);
    lgv_model_free(m);
}

static void compare_weak(const char *text, const struct lgv_contender *contender, size_t count, const char *observe,
                         double until, uint64_t paths, struct lgv_comparison *c) {
    struct lgv_model *m = model_of(text);
    struct lgv_settings s = settings_of(m);
    struct lgv_compare_options o = {
        .contender = contender, .count = count, .observe = &observe, .nobserve = 1, .no_reference = true};
    struct lgv_error err = {0};
    s.weak = true;
    s.until = until;
    s.paths = paths;
    s.outputs = 1;
    s.seed = 5;
    if (lgv_compare(m, &s, &o, NULL, NULL, c, &err) != LGV_OK) fail_msg("%s", err.message);
    assert_true(c->points && !c->reference);
    lgv_model_free(m);
}

/* p = 0 after one step with probability 2/3, after two with 4/9 + 2/36: each step has three points, no sums of them.
 * Means with control variates keep weak order 2, with less variance. */
static void test_compare(void **state) {
    (void)state;
    static const char kick[] = "coordinates: {x: 0}\nmomenta: {p: 0}\nhamiltonian: p^2/2\nnoise: -x\n"
                               "observe: {zero: \"1 - min(1, 1e6*p^2)\"}\n";
    static const char linear[] = "parameters: {s: 0.8}\ncoordinates: {q: 1}\nmomenta: {p: 0}\n"
                                 "hamiltonian: (p^2 + q^2)/2\nnoise: s*q^2/2\nobserve: {pp: p^2}\n";
    const struct lgv_contender one[2] = {{.method = lgv_method_find("VZ"), .step = 0.25},
                                         {.method = lgv_method_find("VZ"), .step = 0.125}};
    const struct lgv_contender two[1] = {{.method = lgv_method_find("P2N2Q4Gau-Jc"), .step = 0.125}};
    struct lgv_comparison c;
    compare_weak(kick, one, 2, "zero", 0.25, 100000, &c);
    for (int i = 0; i < 2; i++)
        assert_near(c.method[i].outcome->plain[1], i ? 0.5 : 2.0 / 3, 4.5 * c.method[i].outcome->plain_err[1], "zero");
    lgv_comparison_clear(&c);
    compare_weak(linear, two, 1, "pp", 2, 100000, &c);
    const struct lgv_outcome *x = c.method->outcome;
    print_message("E p^2: %.5f +- %.5f, without control variates %.5f, expected %.5f\n", x->mean[1], x->err[1],
                  x->plain_err[1], second_moment(2, 2));
    assert_near(x->mean[1], second_moment(2, 2), 4.5 * x->err[1] + 1e-4, "E p^2");
    assert_true(x->err[1] < 0.8 * x->plain_err[1]);
    lgv_comparison_clear(&c);
}

/* Without a Brownian path there is nothing to compare, keep or cut. */
static void refused(const char *name, const char *value, const char *method) {
    struct lgv_model *m = model_of("coordinates: {q: 1}\nmomenta: {p: 0}\nhamiltonian: (p^2 + q^2)/2\n"
                                   "noise: [q*p, p]\n");
    struct lgv_settings s = settings_of(m);
    struct lgv_result r;
    s.weak = true;
    s.until = 1;
    s.paths = 16;
    snprintf(s.method, sizeof s.method, "%s", method);
    assert_int_equal(lgv_settings_set(&s, name, value, NULL), LGV_OK);
    run_with(m, &s, LGV_BAD_INPUT, &r);
    lgv_model_free(m);
}

static void test_refused(void **state) {
    (void)state;
    refused("seed", "1", "P1N1Q2Gau-Levy");
    refused("keep_increments", "yes", "P1N1Q2Gau");
    refused("record", "increments", "P1N1Q2Gau");
    refused("truncate", "4", "P1N1Q2Gau");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_flows),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
