/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public interface: wrong calls are errors and never crashes; results are what they say. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
/* cmocka wants the ones above */
#include <cmocka.h>
#include <lgv/lgv.h>

static const char model_text[] = "name: disc\n"
                                 "coordinates: { x: 1, y: 0 }\n"
                                 "momenta: { u: 0, v: 1 }\n"
                                 "parameters: { k: 1 }\n"
                                 "hamiltonian: (u^2 + v^2)/2 + k*(x^2 + y^2)/2\n"
                                 "symmetries: { turn: [-y, x] }\n"
                                 "observe: { r: sqrt(x^2 + y^2) }\n"
                                 "run: { method: verlet, step: 0.1, until: 2, paths: 20, outputs: 4 }\n";

static void gradient(void *user, const struct lgv_batch *b, double *H_q, double *H_p, double *h_q, double *h_p) {
    (void)user, (void)h_q, (void)h_p;
    for (size_t i = 0; i < 2 * b->lanes; i++) { /* two degrees of freedom */
        if (H_q) H_q[i] = b->q[i];
        if (H_p) H_p[i] = b->p[i];
    }
}

static size_t thread_count(void) {
    size_t count = 0;
    DIR *dir = opendir("/proc/self/task");
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) count += e->d_name[0] != '.';
    closedir(dir);
    return count;
}

/* One thread is one thread.  The first test: threads that others start stay. */
static void test_one_thread(void **state) {
    (void)state;
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    struct lgv_run *run = NULL;
    struct lgv_result *r = NULL;
    assert_int_equal(lgv_model_parse(model_text, "disc.yaml", &m, &err), LGV_OK);
    assert_int_equal(lgv_run_create(m, &run, &err), LGV_OK);
    assert_int_equal(lgv_run_set(run, "threads", "1", &err), LGV_OK);
    assert_int_equal(lgv_run_execute(run, &r, &err), LGV_OK);
    assert_int_equal(thread_count(), 1);
    lgv_result_free(r);
    lgv_run_free(run);
    lgv_model_free(m);
}

static void test_wrong_callbacks(void **state) {
    (void)state;
    struct lgv_error err;
    struct lgv_model *m = (struct lgv_model *)1;
    struct lgv_callbacks c = {.dof = 2, .gradient = gradient};
    assert_int_equal(lgv_model_from_callbacks(NULL, &m, &err), LGV_BAD_INPUT);
    assert_null(m);
    assert_int_equal(lgv_model_from_callbacks(&c, NULL, &err), LGV_BAD_INPUT);
    c.dof = 0;
    assert_int_equal(lgv_model_from_callbacks(&c, &m, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "dof"));
    c.dof = 100001;
    assert_int_equal(lgv_model_from_callbacks(&c, &m, NULL), LGV_BAD_INPUT);
    c.dof = 2;
    c.noises = 65536;
    assert_int_equal(lgv_model_from_callbacks(&c, &m, &err), LGV_BAD_INPUT);
    c.noises = 0;
    c.gradient = NULL;
    assert_int_equal(lgv_model_from_callbacks(&c, &m, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "gradient"));
    double q0[] = {1, NAN}, p0[] = {INFINITY, 0};
    c.gradient = gradient;
    c.q0 = q0;
    assert_int_equal(lgv_model_from_callbacks(&c, &m, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "q0[1] is nan: start values must be finite numbers"));
    assert_null(m);
    q0[1] = 0;
    c.p0 = p0;
    assert_int_equal(lgv_model_from_callbacks(&c, &m, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "p0[0] is inf: start values must be finite numbers"));
}

/* q0, p0 and the struct are copies: what the caller does with his later does not matter. */
static void test_callbacks_copied(void **state) {
    (void)state;
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    struct lgv_run *run = NULL;
    struct lgv_result *r = NULL;
    double q0[] = {1, 0}, p0[] = {0, 1};
    struct lgv_callbacks c = {.dof = 2, .q0 = q0, .p0 = p0, .separable = 1, .noise_of_q = 1, .gradient = gradient};
    assert_int_equal(lgv_model_from_callbacks(&c, &m, &err), LGV_OK);
    memset(&c, 0, sizeof c);
    q0[0] = p0[1] = 17;
    assert_int_equal(lgv_model_set(m, "k", 1, &err), LGV_BAD_INPUT);
    assert_int_equal(lgv_run_create(m, &run, &err), LGV_OK);
    assert_int_equal(lgv_run_set(run, "paths", "3", &err), LGV_OK);
    /* Without second derivatives an implicit method is refused before anything runs. */
    assert_int_equal(lgv_run_set(run, "method", "midpoint", &err), LGV_OK);
    assert_int_equal(lgv_run_execute(run, &r, &err), LGV_BAD_INPUT);
    assert_null(r);
    assert_non_null(strstr(err.message, "hessian"));
    assert_int_equal(lgv_run_set(run, "method", "verlet", &err), LGV_OK);
    assert_int_equal(lgv_run_execute(run, &r, &err), LGV_OK);
    assert_true(lgv_result_series(r, "q1", LGV_MEAN)[0] == 1);
    assert_true(lgv_result_series(r, "p2", LGV_MEAN)[0] == 1);
    assert_true(isnan(lgv_result_series(r, "H", LGV_MEAN)[0])); /* there is no function for values */
    assert_true(lgv_result_symplectic_defect(r) < 1e-10);
    lgv_result_free(r);
    lgv_run_free(run);
    lgv_model_free(m);
}

static void test_results(void **state) {
    (void)state;
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    struct lgv_run *run = NULL;
    struct lgv_result *r = NULL;
    size_t count = 0;
    assert_int_equal(lgv_model_parse(model_text, "disc.yaml", &m, &err), LGV_OK);
    assert_int_equal(lgv_model_set(m, "kk", 2, &err), LGV_BAD_INPUT);
    assert_int_equal(lgv_model_set(m, "k", 1, &err), LGV_OK);
    assert_int_equal(lgv_run_create(m, &run, &err), LGV_OK);
    assert_int_equal(lgv_run_set(run, "pahts", "3", &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "paths"));
    assert_int_equal(lgv_run_execute(run, &r, &err), LGV_OK);
    const double *t = lgv_result_times(r, &count);
    assert_int_equal(count, 5);
    assert_true(t[0] == 0 && fabs(t[4] - 2) < 1e-12);
    assert_int_equal(lgv_result_failed(r), 0);
    for (int s = LGV_MEAN; s <= LGV_MEDIAN; s++) assert_non_null(lgv_result_series(r, "r", (enum lgv_statistic)s));
    assert_true(fabs(lgv_result_series(r, "r", LGV_MEDIAN)[0] - 1) < 1e-15);
    assert_null(lgv_result_series(r, "nothing", LGV_MEAN));
    assert_null(lgv_result_series(r, "r", (enum lgv_statistic)99));
    assert_true(lgv_result_path(r, 0, "x")[0] == 1);
    assert_null(lgv_result_path(r, 1000000, "x"));
    assert_null(lgv_result_path(r, 0, "nothing"));
    assert_true(lgv_result_momentum_drift(r, "turn") < 1e-12); /* rotations are kept to round-off */
    assert_true(isnan(lgv_result_momentum_drift(r, "r")));
    char *json = lgv_result_json(r);
    assert_non_null(strstr(json, "\"model\": \"disc\""));
    free(json);
    assert_int_equal(lgv_result_write(r, "/nonexistent/no-such/folder/results.h5", &err), LGV_CANNOT_RUN);
    lgv_result_free(r);
    lgv_run_free(run);
    lgv_model_free(m);
}

static int stop_at_once(void *user, double fraction) {
    (void)fraction;
    ++*(int *)user;
    return 1;
}

static void test_stop(void **state) {
    (void)state;
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    struct lgv_run *run = NULL;
    struct lgv_result *r = NULL;
    int calls = 0;
    assert_int_equal(lgv_model_parse(model_text, "disc.yaml", &m, &err), LGV_OK);
    assert_int_equal(lgv_run_create(m, &run, &err), LGV_OK);
    assert_int_equal(lgv_run_set(run, "paths", "1000000000", &err), LGV_OK);
    assert_int_equal(lgv_run_set(run, "until", "1000", &err), LGV_OK);
    lgv_run_on_progress(run, stop_at_once, &calls);
    assert_int_equal(lgv_run_execute(run, &r, &err), LGV_INTERRUPTED);
    assert_non_null(r);
    assert_true(calls > 0);
    lgv_result_free(r);
    lgv_run_free(run);
    lgv_model_free(m);
}

static void slow_gradient(void *user, const struct lgv_batch *b, double *H_q, double *H_p, double *h_q, double *h_p) {
    struct timespec time = {.tv_nsec = 10000000};
    nanosleep(&time, NULL);
    ++*(int *)user;
    gradient(user, b, H_q, H_p, h_q, h_p);
}

/* Steps that take long: the run looks at its stop flag after some tenths of a second, not after many steps. */
static void test_stop_slow(void **state) {
    (void)state;
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    struct lgv_run *run = NULL;
    struct lgv_result *r = NULL;
    int calls = 0, gradients = 0;
    struct lgv_callbacks c = {.dof = 2, .separable = 1, .noise_of_q = 1, .gradient = slow_gradient, .user = &gradients};
    assert_int_equal(lgv_model_from_callbacks(&c, &m, &err), LGV_OK);
    assert_int_equal(lgv_run_create(m, &run, &err), LGV_OK);
    const char *const set[][2] = {{"method", "verlet"}, {"step", "0.01"},  {"until", "5"},       {"outputs", "1"},
                                  {"paths", "1"},       {"threads", "1"}};
    for (size_t k = 0; k < sizeof set / sizeof *set; k++)
        assert_int_equal(lgv_run_set(run, set[k][0], set[k][1], &err), LGV_OK);
    lgv_run_on_progress(run, stop_at_once, &calls);
    assert_int_equal(lgv_run_execute(run, &r, &err), LGV_INTERRUPTED);
    assert_int_equal(calls, 1);
    assert_true(gradients < 100); /* at least 10 ms each */
    lgv_result_free(r);
    lgv_run_free(run);
    lgv_model_free(m);
}

static void test_null(void **state) {
    (void)state;
    struct lgv_run *run = (struct lgv_run *)1;
    struct lgv_result *r = (struct lgv_result *)1;
    size_t count = 7;
    assert_string_equal(lgv_version(), LGV_VERSION);
    assert_int_equal(lgv_run_create(NULL, &run, NULL), LGV_BAD_INPUT);
    assert_null(run);
    assert_int_equal(lgv_run_set(NULL, "paths", "1", NULL), LGV_BAD_INPUT);
    assert_int_equal(lgv_run_execute(NULL, &r, NULL), LGV_BAD_INPUT);
    assert_null(r);
    lgv_run_on_progress(NULL, NULL, NULL);
    assert_int_equal(lgv_result_failed(NULL), 0);
    assert_null(lgv_result_times(NULL, &count));
    assert_int_equal(count, 0);
    assert_null(lgv_result_series(NULL, "H", LGV_MEAN));
    assert_null(lgv_result_path(NULL, 0, "H"));
    assert_true(isnan(lgv_result_symplectic_defect(NULL)));
    assert_true(isnan(lgv_result_momentum_drift(NULL, "J")));
    assert_null(lgv_result_json(NULL));
    assert_int_equal(lgv_result_write(NULL, "x.h5", NULL), LGV_BAD_INPUT);
    lgv_result_free(NULL);
    lgv_run_free(NULL);
    lgv_model_free(NULL);
}

/* The certificate as data: what is claimed and holds, what is only told. */
static void test_verdicts(void **state) {
    (void)state;
    static const char text[] = "coordinates: {x: 1, y: 0}\nmomenta: {px: 0.3, py: 1}\n"
                               "hamiltonian: (px^2 + py^2)/2 + (x^2 + y^2)/2 + (x^2 + y^2)^2/8\n"
                               "noise: 0.2*(x^2 + y^2)\nsymmetries: {turn: [-y, x], shift: [1, 0]}\n";
    static const struct {
        const char *method, *name;
        int claim, holds;
    } row[] = {{"verlet", "symplectic", 1, 1},     {"verlet", "momentum/turn", 1, 1},
               {"verlet", "momentum/shift", -1, -1}, {"verlet", "energy", -1, -1},
               {"verlet", "failed_paths", 1, 1},   {"EEM", "symplectic", 0, -1},
               {"EEM", "momentum/turn", 0, -1}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_error err = {0};
        struct lgv_model *m = NULL;
        struct lgv_run *run = NULL;
        struct lgv_result *r = NULL;
        size_t count = 0;
        if (lgv_model_parse(text, "test", &m, &err) || lgv_run_create(m, &run, &err) ||
            lgv_run_set(run, "method", row[i].method, &err) || lgv_run_set(run, "paths", "16", &err) ||
            lgv_run_set(run, "until", "1", &err) || lgv_run_execute(run, &r, &err))
            fail_msg("%s", err.message);
        const struct lgv_verdict *v = lgv_result_verdicts(r, &count), *found = NULL;
        for (size_t k = 0; k < count; k++)
            if (strcmp(v[k].name, row[i].name) == 0) found = &v[k];
        if (!found) fail_msg("no verdict %s", row[i].name);
        if (found->claim != row[i].claim || found->holds != row[i].holds)
            fail_msg("%s, %s: claim %d, holds %d", row[i].method, row[i].name, found->claim, found->holds);
        if (found->holds == 1) assert_true(found->value <= found->limit);
        char *json = lgv_result_json(r);
        assert_non_null(strstr(json, "\"verdicts\""));
        free(json);
        lgv_result_free(r);
        lgv_run_free(run);
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts), cmocka_unit_test(test_one_thread), cmocka_unit_test(test_wrong_callbacks),
        cmocka_unit_test(test_callbacks_copied),
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_stop), cmocka_unit_test(test_stop_slow),
        cmocka_unit_test(test_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
