/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Studies of the public interface: wrong calls are errors, options are those of the tables, results are what the runs
 * they are made of give, and parameters that a sweep has set are given back. */
#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the ones above */
#include <cmocka.h>
#include <lgv/lgv.h>

static const char text[] = "name: kubo\nparameters: { beta: 0.5 }\ncoordinates: { q: 0 }\nmomenta: { p: 1 }\n"
                           "hamiltonian: p^2/2 + q^2/2\nnoise: beta*q\n"
                           "run: { method: verlet, step: 0.1, until: 1, paths: 32, outputs: 4, threads: 1 }\n";

static struct lgv_model *model(void) {
    struct lgv_model *m = NULL;
    assert_int_equal(lgv_model_parse(text, "kubo.yaml", &m, NULL), LGV_OK);
    return m;
}

static struct lgv_study *study(struct lgv_model *m, const char *kind, const char *const *option) {
    struct lgv_study *s = NULL;
    struct lgv_error err = {0};
    assert_int_equal(lgv_study_create(m, kind, &s, &err), LGV_OK);
    for (; option && *option; option += 2)
        if (lgv_study_set(s, option[0], option[1], &err) != LGV_OK) fail_msg("%s: %s", option[0], err.message);
    return s;
}

static void test_wrong_calls(void **state) {
    (void)state;
    struct lgv_error err;
    struct lgv_study *s = (void *)1;
    struct lgv_array a;
    struct lgv_model *m = model();
    assert_int_equal(lgv_study_create(NULL, "sweep", &s, &err), LGV_BAD_INPUT);
    assert_null(s);
    assert_int_equal(lgv_study_create(m, "sweeep", &s, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "sweeep"));
    assert_int_equal(lgv_study_create(m, NULL, &s, NULL), LGV_BAD_INPUT);
    assert_int_equal(lgv_study_execute(NULL, NULL), LGV_BAD_INPUT);
    assert_null(lgv_study_json(NULL));
    assert_int_equal(lgv_study_arrays(NULL, 0, &a), 0);
    lgv_study_free(NULL);
    s = study(m, "converge", NULL);
    assert_null(lgv_study_json(s)); /* nothing yet */
    assert_int_equal(lgv_study_report(s, ".", &err), LGV_BAD_INPUT);
    assert_int_equal(lgv_study_set(s, "kindd", "weak", &err), LGV_BAD_INPUT);
    assert_int_equal(lgv_study_set(s, "step", "-1", &err), LGV_BAD_INPUT);
    assert_int_equal(lgv_study_set(s, "kind", "strange", &err), LGV_OK);
    assert_int_equal(lgv_study_execute(s, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "kind"));
    lgv_study_free(s);
    lgv_model_free(m);
}

static void test_options(void **state) {
    (void)state;
    struct lgv_option_info o;
    static const char *const command[] = {"run", "converge", "compare", "mlmc", "sweep"};
    for (size_t k = 0; k < 5; k++) {
        size_t n = 0;
        for (; lgv_options(command[k], n, &o); n++) assert_true(o.name && o.type && o.standard && o.unit && o.doc);
        assert_true(n >= 2);
    }
    assert_int_equal(lgv_options("check", 0, &o), 0);
    assert_int_equal(lgv_options(NULL, 0, &o), 0);
    assert_true(lgv_options("run", 1, &o));
    assert_string_equal(o.name, "step");
    assert_true(o.low > 0);
}

static void test_converge_twice(void **state) {
    (void)state;
    struct lgv_model *m = model();
    struct lgv_error err = {0};
    const char *const option[] = {"levels", "3", "methods", "verlet", "paths", "64", NULL};
    struct lgv_study *s = study(m, "converge", option);
    for (int k = 0; k < 2; k++) {
        enum lgv_status status = lgv_study_execute(s, &err);
        assert_true(status == LGV_OK || status == LGV_FAILED_PATHS);
        char *json = lgv_study_json(s);
        assert_non_null(json);
        assert_non_null(strstr(json, "\"order\""));
        free(json);
    }
    lgv_study_free(s);
    lgv_model_free(m);
}

static double last_mean(struct lgv_model *m, const char *paths) {
    struct lgv_run *run = NULL;
    struct lgv_result *r = NULL;
    size_t n;
    assert_int_equal(lgv_run_create(m, &run, NULL), LGV_OK);
    assert_int_equal(lgv_run_set(run, "paths", paths, NULL), LGV_OK);
    assert_int_equal(lgv_run_execute(run, &r, NULL), LGV_OK);
    lgv_result_times(r, &n);
    double x = lgv_result_series(r, "q", LGV_MEAN)[n - 1];
    lgv_result_free(r);
    lgv_run_free(run);
    return x;
}

static void test_sweep(void **state) {
    (void)state;
    struct lgv_model *m = model();
    struct lgv_array a;
    double before = last_mean(m, "32");
    const char *const option[] = {"over", "beta=0.25,1", "over", "paths=16,32", "independent", "no", NULL};
    struct lgv_study *s = study(m, "sweep", option);
    assert_int_equal(lgv_study_arrays(s, 0, &a), 0);
    assert_int_equal(lgv_study_execute(s, NULL), LGV_OK);
    double after = last_mean(m, "32"); /* beta is what it was */
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(lgv_study_arrays(s, 0, &a), 1);
    assert_string_equal(a.name, "mean");
    assert_int_equal(a.ndim, 2);
    assert_int_equal(a.shape[0], 4);
    assert_int_equal(lgv_model_set(m, "beta", 1, NULL), LGV_OK);
    double x = last_mean(m, "16");
    const double *mean = a.data;
    bool found = false; /* q is one of the observables of point beta = 1, paths = 16 */
    for (size_t i = 0; i < a.shape[1]; i++) found = found || memcmp(&x, &mean[2 * a.shape[1] + i], sizeof x) == 0;
    assert_true(found);
    lgv_study_free(s);
    lgv_model_free(m);
}

/* All points as one run: the same arrays up to round-off, and the model as it was. */
static void test_together(void **state) {
    (void)state;
    struct lgv_model *m = model();
    struct lgv_array a, b;
    double before = last_mean(m, "32");
    const char *const option[] = {"over", "beta=0.25:2:5", "paths", "5", "together", "yes", NULL};
    struct lgv_study *s = study(m, "sweep", option), *plain = study(m, "sweep", option);
    assert_int_equal(lgv_study_set(plain, "together", "no", NULL), LGV_OK);
    assert_int_equal(lgv_study_execute(s, NULL), LGV_OK);
    assert_int_equal(lgv_study_execute(plain, NULL), LGV_OK);
    double after = last_mean(m, "32");
    assert_memory_equal(&before, &after, sizeof before);
    for (size_t k = 0; k < 5; k++) {
        assert_true(lgv_study_arrays(s, k, &a) && lgv_study_arrays(plain, k, &b));
        assert_true(a.ndim == 2 && a.shape[0] == 5 && a.shape[1] == b.shape[1]);
        const double *x = a.data, *y = b.data;
        for (size_t i = 0; i < a.shape[0] * a.shape[1]; i++) assert_true(fabs(x[i] - y[i]) < 1e-12);
    }
    lgv_study_free(s);
    lgv_study_free(plain);
    lgv_model_free(m);
}

static int stop(void *user, double fraction) {
    (void)fraction;
    return ++*(int *)user > 0;
}

static void test_stopped(void **state) {
    (void)state;
    struct lgv_model *m = model();
    struct lgv_error err = {0};
    static const char *const kind[] = {"converge", "compare", "mlmc", "sweep"};
    static const char *const option[][5] = {{NULL}, {NULL}, {"tolerance", "1e-6", NULL}, {"over", "beta=1,2", NULL}};
    for (size_t k = 0; k < 4; k++) {
        int calls = 0;
        struct lgv_study *s = study(m, kind[k], option[k]);
        assert_int_equal(lgv_study_set(s, "until", "100000", &err), LGV_OK);
        assert_int_equal(lgv_study_set(s, "paths", "100000", &err), LGV_OK);
        lgv_study_on_progress(s, stop, &calls);
        assert_int_equal(lgv_study_execute(s, &err), LGV_INTERRUPTED);
        assert_true(calls > 0);
        free(lgv_study_json(s));
        lgv_study_free(s);
    }
    lgv_model_free(m);
}

static void test_documents(void **state) {
    (void)state;
    struct lgv_model *m = model();
    struct lgv_study *s = study(m, "check", NULL);
    assert_int_equal(lgv_study_execute(s, NULL), LGV_OK);
    char *json = lgv_study_json(s), *about = lgv_model_json(m), *one = lgv_methods_json("verlet");
    assert_non_null(strstr(json, "\"separable\": true"));
    assert_non_null(strstr(about, "\"beta\": 0.5"));
    assert_non_null(strstr(one, "P2N2Q2Lob"));
    assert_null(lgv_methods_json("no such method"));
    assert_null(lgv_model_json(NULL));
    assert_non_null(strstr(lgv_build(), "compiler: "));
    free(json);
    free(about);
    free(one);
    lgv_study_free(s);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_calls),    cmocka_unit_test(test_options), cmocka_unit_test(test_converge_twice),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_sweep),          cmocka_unit_test(test_stopped), cmocka_unit_test(test_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
