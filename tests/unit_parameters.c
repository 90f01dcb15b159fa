/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrays of parameters: the same values, gradients and paths as with the numbers written out; settings of one entry and
 * of all; masses; where they are refused. */
#include "helpers.h"

#define HEAD "coordinates: {\"x[N]\": 0.2*i}\nmomenta: {p: 0.3 - 0.1*i}\n"

static const char *const array =
    "parameters: {N: 9, \"m[N]\": \"1 + i/4\", \"c[N]\": [1, -2, 3, 1, -2, 3, 1, -2, 3]}\n" HEAD
    "kinetic: {mass: {x: \"m[i]\"}}\n"
    "potential: sum(i=1..N, c[i]^2*x[i]^2/2) + sum(i=1..N, j=i+1..N, c[i]*c[j]*cos(x[i] - x[j]))\n"
    "noise: each(k=1..N, c[wrap(k+1)]*x[k]^2/7)\nobserve: {x3: \"x[3]\"}\n";
/* The same as functions of the index: c = 1, -2, 3, ... */
static const char *const plain =
    "parameters: {N: 9}\n" HEAD
    "where: {\"c(i)\": \"(i - 3*floor((i - 0.5)/3))*(1 - 2*(i - 3*floor((i - 0.5)/3) == 2))\"}\n"
    "kinetic: {mass: {x: 1 + i/4}}\n"
    "potential: sum(i=1..N, c(i)^2*x[i]^2/2) + sum(i=1..N, j=i+1..N, c(i)*c(j)*cos(x[i] - x[j]))\n"
    "noise: each(k=1..N, c(mod(k, 9) + 1)*x[k]^2/7)\nobserve: {x3: \"x[3]\"}\n";

static void gradient(const char *text, double *out) {
    struct lgv_model *m = model_of(text);
    struct lgv_function K;
    struct lgv_terms t = {0};
    struct lgv_evaluator e;
    double q[9], p[9], w[10];
    for (int i = 0; i < 9; i++) q[i] = sin(1.3 * i), p[i] = cos(0.7 * i), w[i + 1] = 0.1 * i;
    w[0] = 0.4;
    struct lgv_env env = {.par = m->par, .space = {[LGV_Q] = q, [LGV_P] = p, [LGV_WEIGHTS] = w}};
    assert_true(lgv_model_increment(m, &K));
    for (int part = 0; part < 2; part++) {
        lgv_terms_free(&t);
        lgv_terms_gradient(m->graph, &K, part ? LGV_P : LGV_Q, &t);
        assert_true(lgv_eval_begin(&e, m->graph));
        lgv_eval_terms(&e, &t, &env, out + 9 * part, 9, 1);
        lgv_eval_end(&e);
    }
    lgv_terms_free(&t);
    lgv_function_free(&K);
    lgv_model_free(m);
}

static void test_gradient(void **state) {
    (void)state;
    double a[18], b[18];
    gradient(array, a);
    gradient(plain, b);
    for (int i = 0; i < 18; i++) assert_true(fabs(a[i] - b[i]) < 1e-13);
}

/* Mean of H at the end, and of x[3]. */
static void means(struct lgv_model *m, double *out) {
    struct lgv_run *run = NULL;
    struct lgv_result *r = NULL;
    struct lgv_error err = {0};
    if (lgv_run_create(m, &run, &err) || lgv_run_set(run, "method", "verlet", &err) ||
        lgv_run_set(run, "until", "1", &err) || lgv_run_set(run, "paths", "20", &err) ||
        lgv_run_set(run, "outputs", "1", &err) || lgv_run_execute(run, &r, &err))
        fail_msg("%s", err.message);
    out[0] = lgv_result_series(r, "H", LGV_MEAN)[1];
    out[1] = lgv_result_series(r, "x3", LGV_MEAN)[1];
    lgv_result_free(r);
    lgv_run_free(run);
}

static void test_kernel(void **state) {
    (void)state;
    double a[2], b[2];
    struct lgv_model *one = model_of(array), *other = model_of(plain);
    means(one, a);
    means(other, b);
    assert_true(fabs(a[0] - b[0]) < 1e-11 * fabs(b[0]) && fabs(a[1] - b[1]) < 1e-11);
    set_parameter(one, "c[3]", -1.5); /* changes what the kernel sees */
    means(one, b);
    assert_true(fabs(a[1] - b[1]) > 1e-3);
    set_parameter(one, "c[3]", 3);
    means(one, b);
    assert_true(a[0] == b[0] && a[1] == b[1]);
    set_parameter(one, "c", 0.5);
    for (size_t i = 0; i < one->npar; i++)
        if (one->par_name[i][0] == 'c') assert_true(one->par[i] == 0.5);
    lgv_model_free(one);
    lgv_model_free(other);
}

static void refused(const char *parameters, const char *potential, const char *why) {
    char text[400];
    struct lgv_model *m = NULL;
    struct lgv_error err = {0};
    snprintf(text, sizeof text, "parameters: {%s}\ncoordinates: {x: 1}\nmomenta: {p: 0}\npotential: %s\n", parameters,
             potential);
    assert_int_equal(lgv_model_parse(text, "test.yaml", &m, &err), LGV_BAD_INPUT);
    if (!strstr(err.message, why)) fail_msg("%s", err.message);
}

static void test_refused(void **state) {
    (void)state;
    refused("\"c[2]\": [1, 2, 3]", "x", "c has 2 entries, but this sequence has 3");
    refused("\"c[2]\": 1", "c*x", "c is an array of 2: write c[i]");
    refused("\"c[2]\": 1", "c[3]*x", "index 3 is outside 1..2 of c");
    refused("c: 1", "c[1]*x", "c is not an array");
    refused("\"c[2]\": [1, b]", "x", "unknown name b");
    refused("\"c[2]\": 1, \"x[c]\": 1", "x", "may not be used in an index");
    refused("\"c[2] in R2\": 1", "x", "has numbers");
    refused("\"c[200000]\": 1", "x", "more than 100000 parameters");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gradient), cmocka_unit_test(test_kernel),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
