/* SPDX-License-Identifier: BSD-3-Clause
 *
 * if(condition, a, b): values and conditions against C, derivatives against those of the branch that is taken, where
 * the other one is undefined, in the evaluator and in kernels; what counts as a place where a formula jumps. */
#include "helpers.h"

static double value_at(struct lgv_model *m, int node, double q, double p) {
    struct lgv_evaluator e;
    struct lgv_env env = {.par = m->par, .t = 2, .space = {[LGV_Q] = &q, [LGV_P] = &p}};
    assert_true(lgv_eval_begin(&e, m->graph));
    double x = lgv_eval_node(&e, node, &env, NULL);
    lgv_eval_end(&e);
    return x;
}

static struct lgv_model *with(const char *formula) {
    char text[600];
    snprintf(text, sizeof text,
             "parameters: {a: 1.5, λ: 2}\nwhere: {\"V(r)\": \"if(r < a, r^2, a*(2*r - a))\"}\n"
             "coordinates: {q: 1}\nmomenta: {p: 0}\nhamiltonian: \"%s\"\n", formula);
    return model_of(text);
}

static void test_values(void **state) {
    (void)state;
    static const double at[] = {-1, 0, 0.5, 1, 1.5, 2};
    static const char *const formula[] = {"if(q < 1, 10, 20)", "if(q <= 1, 10, 20)", "if(q >= 1, 10, 20)",
                                          "if(q == 1, 10, 20)", "if(q != 1, 10, 20)", "if(0 < q < 1.5, 10, 20)",
                                          "if(q < 0 or q > 1 and p > 0, 10, 20)",
                                          "if((q < 0 or q > 1) and p > 0, 10, 20)",
                                          "if(not q < 1, 10, 20)", "if(not (q < 1 and p > 0), 10, 20)",
                                          "10 + 10*(q > 1)", "V(q)*10", "ln(λ)*if(t > 1, 10, 20)"};
    for (size_t i = 0; i < 6; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const double q = at[i], p = sign;
            const double want[] = {q < 1 ? 10 : 20, q <= 1 ? 10 : 20, q >= 1 ? 10 : 20, q == 1 ? 10 : 20,
                                   q != 1 ? 10 : 20,
                                   0 < q && q < 1.5 ? 10 : 20, q < 0 || (q > 1 && p > 0) ? 10 : 20,
                                   (q < 0 || q > 1) && p > 0 ? 10 : 20, !(q < 1) ? 10 : 20,
                                   !(q < 1 && p > 0) ? 10 : 20, 10 + 10 * (q > 1),
                                   10 * (q < 1.5 ? q * q : 1.5 * (2 * q - 1.5)), 10 * log(2)};
            for (size_t k = 0; k < sizeof formula / sizeof *formula; k++) {
                struct lgv_model *m = with(formula[k]);
                double seen = value_at(m, m->hamiltonian, q, p);
                if (!(fabs(seen - want[k]) <= 1e-14 * fabs(want[k])))
                    fail_msg("%s at q = %g, p = %g is %g, not %g", formula[k], q, p, seen, want[k]);
                lgv_model_free(m);
            }
        }
}

/* V'(q) and V''(q) of if(q > 0, sqrt(q)^3, ln(1 - q)): each branch is undefined where the other is taken. */
static void test_derivatives(void **state) {
    (void)state;
    struct lgv_model *m = with("p^2/2 + sin(2*if(q > 0, sqrt(q)^3, ln(1 - q)))");
    int q = lgv_expr_ref_at(m->graph, LGV_Q, 0);
    int first = lgv_diff_one(m->graph, m->hamiltonian, q), second = lgv_diff_one(m->graph, first, q);
    for (double x = -2; x <= 2.1; x += 0.25) {
        if (x == 0) continue;
        double v = x > 0 ? pow(x, 1.5) : log(1 - x), d = x > 0 ? 1.5 * sqrt(x) : -1 / (1 - x);
        double dd = x > 0 ? 0.75 / sqrt(x) : -1 / ((1 - x) * (1 - x));
        assert_true(fabs(value_at(m, first, x, 0) - 2 * d * cos(2 * v)) < 1e-13);
        assert_true(fabs(value_at(m, second, x, 0) - (2 * dd * cos(2 * v) - 4 * d * d * sin(2 * v))) < 1e-12);
    }
    lgv_model_free(m);
}

static void test_structure(void **state) {
    (void)state;
    static const struct {
        const char *formula;
        bool kinks;
    } row[] = {{"p^2/2 + if(q > 0, q^2, q^4)", true},
               {"p^2/2 + if(a > 1, q^2, q^4)", false}, /* the same branch for the whole run */
               {"p^2/2 + q*if(t < 1, 0, 1)", true},
               {"p^2/2 + q^2*(p > q)", true}};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct lgv_model *m = with(row[k].formula);
        assert_int_equal(lgv_model_kinks(m), row[k].kinks);
        lgv_model_free(m);
    }
}

/* A mass between springs of frequency 1 on the right and 2 on the left: it is back after pi + pi/2, and half way round
 * it has moved to -1/2.  The branch of the left spring has a root that is NaN on the right. */
static void test_kernel(void **state) {
    (void)state;
    static const char *const methods[] = {"verlet", "midpoint", "VZc"};
    for (size_t k = 0; k < 3; k++) {
        struct lgv_model *m = model_of("coordinates: {q: 1}\nmomenta: {p: 0}\nnoise: 0*q\n"
                                       "hamiltonian: p^2/2 + if(q > 0, q^2/2, 2*sqrt(-q)^4)\n");
        struct lgv_run *run = NULL;
        struct lgv_result *r = NULL;
        struct lgv_error err = {0};
        if (lgv_run_create(m, &run, &err) || lgv_run_set(run, "method", methods[k], &err) ||
            lgv_run_set(run, "step", "0.0023561944901923449", &err) ||
            lgv_run_set(run, "until", "4.71238898038469", &err) || lgv_run_set(run, "paths", "5", &err) ||
            lgv_run_set(run, "outputs", "2", &err) || lgv_run_execute(run, &r, &err))
            fail_msg("%s: %s", methods[k], err.message);
        size_t n;
        lgv_result_times(r, &n);
        const double *q = lgv_result_series(r, "q", LGV_MEAN), *p = lgv_result_series(r, "p", LGV_MEAN);
        assert_int_equal(n, 3);
        assert_true(fabs(q[2] - 1) < 1e-5 && fabs(p[2]) < 1e-3);
        assert_true(q[1] < -0.35); /* t = 2.356: on the left */
        lgv_result_free(r);
        lgv_run_free(run);
        lgv_model_free(m);
    }
}

/* Conditions that are made of others twice over are read in a time that grows with their number, not as 2^60. */
static void test_many_conditions(void **state) {
    (void)state;
    struct lgv_text t = {0};
    lgv_text_add(&t, "coordinates: {q: 1}\nmomenta: {p: 0}\nwhere:\n  c0: (q < 1)\n");
    for (int i = 0; i < 60; i++) lgv_text_add(&t, "  c%d: ((c%d and q < %d) or (p < %d and c%d))\n", i + 1, i, i, i, i);
    lgv_text_add(&t, "hamiltonian: p^2/2 + if(c60, 3, 4)\n");
    struct lgv_model *m = model_of(t.data);
    assert_true(value_at(m, m->hamiltonian, -1, -1) == 3.5 && value_at(m, m->hamiltonian, 1, -1) == 4.5);
    lgv_text_free(&t);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_derivatives),
                                       cmocka_unit_test(test_structure), cmocka_unit_test(test_kernel),
                                       cmocka_unit_test(test_many_conditions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
