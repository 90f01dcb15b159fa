/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The discrete gradient method: H is kept without noise, its mean obeys the exact law with additive noise at any step,
 * and orders are what the description says. */
#include "helpers.h"
#include "study/study.h"

#define WELL                                                                                                           \
    "coordinates: {x: 0.7, y: -0.4}\nmomenta: {u: 0.5, v: 0.2}\n"                                                      \
    "hamiltonian: u^2/2 + v^2/3 + 0.2*u*v + (x^2 - 1)^2/4 + x^2*y^2 + y^4 - 0.3*cos(3*x)\n"
#define PUSHES "noise: [0.8*x, 0.5*y - 0.4*x]\n"

static struct lgv_result run(const char *text, const char *method, double step, double until, uint64_t paths) {
    struct lgv_model *m = model_of(text);
    struct lgv_settings s = settings_for(m, method, step, until, paths);
    struct lgv_result r;
    s.outputs = 4;
    run_with(m, &s, LGV_OK, &r);
    lgv_model_free(m);
    return r;
}

static void test_kept(void **state) {
    (void)state;
    struct lgv_result r = run(WELL, "Gonzalez", 0.25, 250, 16);
    print_message("largest change of H: %.1e\n", series_of(&r, "H")->drift);
    assert_true(series_of(&r, "H")->drift < 1e-11);
    lgv_result_clear(&r);
    r = run(WELL, "P1N1Q2Gau", 0.25, 250, 16);
    assert_true(series_of(&r, "H")->drift > 1e-3);
    lgv_result_clear(&r);
}

/* M^-1 = [[1, 0.2], [0.2, 2/3]]: sigma.M^-1 sigma of (0.8, 0) and (-0.4, 0.5). */
static void test_law(void **state) {
    (void)state;
    const double rate = 0.5 * (0.64 + (0.16 - 2 * 0.2 * 0.4 * 0.5 + 0.25 * 2 / 3));
    static const double step[] = {0.5, 0.25};
    for (int k = 0; k < 2; k++) {
        struct lgv_result r = run(WELL PUSHES, "Gonzalez", step[k], 20, 10000);
        const struct lgv_series *H = series_of(&r, "H");
        for (size_t t = 1; t < r.ntimes; t++) {
            double grown = H->mean[t] - H->mean[0], error = H->std[t] / sqrt((double)r.paths);
            print_message("dt = %g, t = %g: %.4f +- %.4f, law %.4f\n", step[k], r.time[t], grown, error,
                          rate * r.time[t]);
            assert_near(grown, rate * r.time[t], 4.5 * error, "growth of the mean of H");
        }
        assert_near(r.certificate.energy_rate, rate, 1e-12, "rate of the certificate");
        const struct lgv_verdict *v = lgv_verdict_find(&r, "energy_law");
        assert_true(v && v->claim == 1 && v->holds == 1);
        lgv_result_clear(&r);
    }
    struct lgv_result r = run(WELL PUSHES, "EEM", 0.05, 2, 20000); /* a method without the law */
    const struct lgv_series *H = series_of(&r, "H");
    assert_true(fabs(H->mean[4] - H->mean[0] - 2 * rate) > 8 * H->std[4] / sqrt((double)r.paths));
    assert_null(lgv_verdict_find(&r, "energy_law"));
    lgv_result_clear(&r);
}

static void order(const char *text, const char *observe, double largest, uint64_t paths, double want) {
    struct lgv_model *m = model_of(text);
    struct lgv_settings s = settings_of(m);
    struct lgv_convergence_options o = {.methods = "Gonzalez", .reference = "LobZ", .weak = observe, .observe = observe,
                                        .largest = largest, .levels = 3};
    struct lgv_convergence c;
    struct lgv_error err = {0};
    s.until = 1;
    s.paths = paths;
    if (lgv_converge(m, &s, &o, NULL, NULL, &c, &err) != LGV_OK) fail_msg("%s", err.message);
    print_message("order %.3f +- %.3f\n", c.method->order, c.method->order_stderr);
    assert_near(c.method->expected, want, 0, "promised order");
    assert_near(c.method->order, want, 0.15 + 3 * c.method->order_stderr, "measured order");
    lgv_convergence_clear(&c);
    lgv_model_free(m);
}

static void test_orders(void **state) {
    (void)state;
    order(WELL, NULL, 0.05, 16, 2);
    order(WELL PUSHES, NULL, 0.04, 512, 1);
    order("coordinates: {q: 1}\nmomenta: {p: 0}\nhamiltonian: p^2/2 + q^4/4\nnoise: sin(2*q)\nobserve: {square: p^2}\n",
          "square", 0.25, 49152, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_law),
        cmocka_unit_test(test_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
