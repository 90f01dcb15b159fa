/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Control variates.  M = sum_k g(X_k) dW_k has mean zero for every method and step, because X_k does not know dW_k;
 * so the corrected mean is the mean, with less variance.  And comparisons made with them: biases that plain averages
 * cannot see. */
#include "helpers.h"
#include "study/compare.h"

#define ANHARMONIC                                                                                                     \
    "parameters: {gamma: 0.1, beta: 0.5}\ncoordinates: {q: 0}\nmomenta: {p: 1}\npotential: gamma*q^4\nnoise: beta*q\n" \
    "observe: {square: q^2, wave: sin(q)*p}\n"
#define MULTIPLICATIVE                                                                                                 \
    "coordinates: {q: 0.3, r: 0.1}\nmomenta: {p: 1, s: -0.5}\nhamiltonian: (p^2 + s^2)/2 + q^2/2 + cos(r) + 0.1*q*r\n" \
    "noise: [0.4*sin(q + r), 0.3*r^2]\nobserve: {square: q^2 + r^2}\n"

static struct lgv_kernel controlled(struct lgv_model *m, const char *method) {
    struct lgv_kernel k;
    struct lgv_error err = {0};
    struct lgv_kernel_options options = {.control = true};
    if (lgv_kernel_build(m, lgv_method_find(method), &options, &k, &err) != LGV_OK) fail_msg("%s", err.message);
    return k;
}

/* |mean| <= 4.5 standard errors for each of about 50 numbers: a right program fails with probability 50 * 7e-6. */
static void check_mean(const char *text, const char *method, double dt) {
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = controlled(m, method);
    uint64_t paths = 4000;
    size_t n = k.watch.count;
    double *x = final_values(&k, dt, 20, paths, 7, 1);
    assert_int_equal(2 * k.watch.controls, n);
    for (size_t o = k.watch.controls; o < n; o++) {
        struct lgv_pair_sums s = {0};
        for (uint64_t p = 0; p < paths; p++) lgv_pair_add(&s, x[p * n + o], 0);
        struct lgv_pair_estimate e = lgv_pair_estimate(&s);
        if (!(fabs(e.plain) <= 4.5 * e.plain_err))
            fail_msg("%s, %s: mean %g, standard error %g", method, k.watch.item[o].name, e.plain, e.plain_err);
    }
    /* the energy moves along its martingale: its variance must fall by far */
    struct lgv_pair_sums s = {0};
    for (uint64_t p = 0; p < paths; p++) lgv_pair_add(&s, x[p * n], x[p * n + k.watch.controls]);
    struct lgv_pair_estimate e = lgv_pair_estimate(&s);
    print_message("%s: variance of H left %.4f, factor %.3f\n", method, e.left, e.factor);
    assert_true(e.left < 0.2);
    assert_near(e.factor, 1, 0.5, "factor"); /* 1 but for the step: the energy of EEM grows by itself */
    free(x);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

static void test_mean_zero(void **state) {
    (void)state;
    static const char *const method[] = {"P2N2Q2Lob", "P1N1Q2Gau", "VZc", "EEM", "Heun"};
    for (size_t i = 0; i < sizeof method / sizeof *method; i++) {
        check_mean(ANHARMONIC, method[i], 0.1);
        if (i < 2) check_mean(MULTIPLICATIVE, method[i], 0.05);
    }
}

/* One step: M = ({f, h} + dt/2 {{f, h}, H}) dW.  For f = q^2, h = beta q, H = p^2/2 + gamma q^4: {H, h} = -beta p and
 * {{H, h}, H} = beta gamma 4 q^3, {q^2, h} = 0. */
static void test_one_step(void **state) {
    (void)state;
    struct lgv_model *m = model_of(ANHARMONIC);
    struct lgv_kernel k = controlled(m, "P2N2Q2Lob");
    struct lgv_own_block b;
    size_t lanes = k.entry->lanes;
    double dt = 0.2, q = 0.7, p = -0.4, dW;
    assert_true(lgv_block_create(&k, 0, dt, 5, 1, &b));
    double *out = NULL;
    assert_int_equal(posix_memalign((void **)&out, 128, k.watch.count * lanes * sizeof *out), 0);
    for (size_t l = 0; l < lanes; l++) {
        b.path[l] = 3;
        b.block.state[l] = q;
        b.block.state[lanes + l] = p;
    }
    increments_of(5, 3, 0, dt, 1, &dW);
    k.entry->advance(&b.block, 1);
    k.entry->observe(&b.block, out);
    double want = (-0.5 * p + dt / 2 * 0.5 * 0.4 * q * q * q) * dW;
    assert_near(out[k.watch.controls * lanes], want, 1e-14, "martingale of H");
    assert_near(out[(k.watch.controls + watch_number(&k, "square")) * lanes], 0, 1e-14, "martingale of q^2");
    free(out);
    lgv_block_free(&b);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* Experiment 4, shorter: E[H] = H0 + beta^2 t/2.  The bias of Verlet falls by 4 when the step is halved, which plain
 * averages of so few paths could not show: their standard error is larger than the biases. */
static void test_bias(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {gamma: 0.1, beta: 0.1}\ncoordinates: {q: 0}\nmomenta: {p: 1}\n"
                                   "potential: gamma*q^4\nnoise: beta*q\n");
    const struct lgv_contender verlet[] = {{lgv_method_find("P2N2Q2Lob"), 0.25}, {lgv_method_find("P2N2Q2Lob"), 0.125}};
    const struct lgv_expected expect = {"H", "H0 + beta^2*t/2"};
    struct lgv_compare_options o = {.contender = verlet, .count = 2, .expect = &expect, .nexpect = 1};
    struct lgv_settings s = settings_of(m);
    struct lgv_comparison c;
    struct lgv_error err = {0};
    s.until = 392;
    s.paths = 4000;
    s.outputs = 4;
    if (lgv_compare(m, &s, &o, NULL, NULL, &c, &err) != LGV_OK) fail_msg("%s", err.message);
    const struct lgv_outcome *a = &c.method[0].outcome[0], *b = &c.method[1].outcome[0];
    print_message("bias %.5f +- %.5f (plain %.5f), %.5f +- %.5f\n", a->bias, a->bias_err, a->bias_plain_err, b->bias,
                  b->bias_err);
    assert_true(a->bias_err < 0.2 * a->bias_plain_err);
    assert_true(a->bias < -4 * a->bias_err && b->bias < -4 * b->bias_err);
    assert_true(fabs(a->bias) < a->bias_plain_err);
    double error = 4 * sqrt(a->bias_err * a->bias_err + 16 * b->bias_err * b->bias_err);
    assert_near(a->bias, 4 * b->bias, error + 0.25 * fabs(a->bias), "bias of order 2");
    lgv_comparison_clear(&c);
    lgv_model_free(m);
}

/* Experiment 1: RMS error of Kubo at T = 3.2, step 0.01, against the exact solution: midpoint 1.07e-4, Verlet
 * 5.87e-5, each known to 1 %; 2000 paths of our own add about as much.  And Gauss keeps H to round-off, Verlet does
 * not. */
static void test_kubo(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {beta: 0.1}\ncoordinates: {q: 0}\nmomenta: {p: 1}\n"
                                   "hamiltonian: p^2/2 + q^2/2\nnoise: beta*H\n"
                                   "exact:\n  q: p0*sin(t + beta*W[1])\n  p: p0*cos(t + beta*W[1])\n");
    const struct lgv_contender pair[] = {{lgv_method_find("P1N1Q2Gau"), 0.02}, {lgv_method_find("P2N2Q2Lob"), 0.02}};
    const double want[] = {1.07e-4, 5.87e-5};
    const struct lgv_expected expect = {"H", "H0"};
    struct lgv_compare_options o = {
        .contender = pair, .count = 2, .expect = &expect, .nexpect = 1, .ladder = 2, .ladder_paths = 2000};
    struct lgv_settings s = settings_of(m);
    struct lgv_comparison c;
    struct lgv_error err = {0};
    s.until = 3.2;
    s.paths = 2000;
    if (lgv_compare(m, &s, &o, NULL, NULL, &c, &err) != LGV_OK) fail_msg("%s", err.message);
    assert_true(c.exact && c.method[0].nrungs == 2);
    assert_true(c.method[0].drift_max < 1e-13);
    assert_true(c.method[1].drift_max > 1e-6);
    for (size_t i = 0; i < 2; i++) {
        const struct lgv_rung *r = &c.method[i].rung[1];
        print_message("%s: %.4g +- %.2g\n", c.method[i].name, r->strong, r->strong_err);
        assert_near(r->strong, want[i], 0.01 * want[i] + 4 * r->strong_err, "strong error");
        assert_true(r->seconds > 0 && r->evaluations > 1.9 * c.method[i].rung[0].evaluations);
    }
    lgv_comparison_clear(&c);
    lgv_model_free(m);
}

static void test_refuse(void **state) {
    (void)state;
    struct lgv_model *m = model_of(ANHARMONIC);
    struct lgv_settings s = settings_of(m);
    const struct lgv_contender odd[] = {{lgv_method_find("P2N2Q2Lob"), 0.1},
                                        {lgv_method_find("P2N2Q2Lob"), 0.1 * sqrt(2)}};
    const struct lgv_expected bad[] = {{"nothing", "1"}, {"H", "H0 + (t"}, {"H", "q"}};
    struct lgv_compare_options o = {.contender = odd, .count = 2};
    struct lgv_comparison c;
    struct lgv_error err = {0};
    assert_int_equal(lgv_compare(m, &s, &o, NULL, NULL, &c, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "common measure"));
    o.count = 1;
    o.nexpect = 1;
    for (size_t i = 0; i < 3; i++) {
        o.expect = &bad[i];
        assert_int_equal(lgv_compare(m, &s, &o, NULL, NULL, &c, &err), LGV_BAD_INPUT);
    }
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_step), cmocka_unit_test(test_mean_zero), cmocka_unit_test(test_bias),
        cmocka_unit_test(test_kubo),     cmocka_unit_test(test_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
