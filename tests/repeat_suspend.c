/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Paths that are stopped on their way, gone on with, saved and loaded by another engine with other threads, have the
 * bits of a run that was never stopped: in every array of the result, with failed and stopped paths, events, sections,
 * extremes, averages and sketches.  States that make no sense cost time and change nothing. */
#include "helpers.h"
#include <unistd.h>

static struct lgv_error err;
static char folder[] = "/tmp/lgv-suspend-XXXXXX", file[60];

/* Some paths pass the barrier, where they stop, or fail because the force is none beyond. */
static const char barrier[] =
    "name: barrier\nparameters: {s: 0.35}\ncoordinates: {x: -1 + 0.1*normal()}\nmomenta: {p: 0}\n"
    "hamiltonian: p^2/2 - x^2/2 + x^4/4 + 1e-6*(1.4 - x + 0.02*t)^1.5\nnoise: s*x\n"
    "langevin: {friction: 0.3, temperature: 0.15}\n"
    "observe: {square: x^2}\nevents: {over: x > 0, far: x > 1.6 or x < -1.7}\nstop: p > 1.5 + 0.02*t\n"
    "sections: {plane: x}\n"
    "run: {method: BAOAB, step: 0.05, until: 1500, paths: 88, outputs: 60, seed: 4, keep: '3,40', bins: 10,\n"
    "  averages: yes, correlations: yes, extremes: [x, H], quantiles: sketch, histograms2: [[x, p]], density: yes}\n";
static const char sphere[] =
    "name: sphere\ncoordinates: {x in R3: [1, 0, 0]}\nmomenta: {p: [0, 1, 0.4]}\n"
    "hamiltonian: dot(p, p)/2 + x.z\nconstraints: dot(x, x) - 1\nnoise: [0.3*x.z, 0.2*x.x]\n"
    "symmetries: {vertical: [-x.y, x.x, 0]}\n"
    "run: {method: RATTLE, step: 0.02, until: 400, paths: 40, outputs: 30, seed: 2, keep: 2}\n";
/* More rows in the state than q and p: what is rounded off. */
static const char exactly[] =
    "name: carried\nparameters: {a: 1}\ncoordinates: {x: 0.2, y: 0.1}\nmomenta: {p: 0.05*normal(), q: 0.1}\n"
    "hamiltonian: (p^2 + q^2 + x^2 + y^2)/2 + x^2*y - y^3/3\n"
    "run: {method: RKN6-Compensated, step: 0.1, until: 3000, paths: 20, outputs: 40, keep: '0,19'}\n";

static void good(enum lgv_status status) {
    if (status != LGV_OK) fail_msg("%s", err.message);
}

/* Stops every few chunks of steps, however fast these are. */
static int calls;
static int stop_often(void *user, double fraction) {
    (void)user;
    return fraction > 0 && ++calls % 9 == 0;
}

/* Every array but those of times that were measured. */
static void same_results(const struct lgv_result *a, const struct lgv_result *b) {
    struct lgv_array x, y;
    size_t count = 0;
    for (size_t i = 0; lgv_result_arrays(a, i, &x); i++, count++) {
        assert_true(lgv_result_array(b, x.name, &y));
        size_t n = 1;
        for (int d = 0; d < x.ndim; d++) n *= x.shape[d];
        assert_int_equal(x.ndim, y.ndim);
        assert_memory_equal(x.shape, y.shape, (size_t)x.ndim * sizeof *x.shape);
        if (memcmp(x.data, y.data, n * 8) == 0) continue;
        for (size_t k = 0; k < n; k++) {
            const double *u = x.data, *v = y.data;
            if (memcmp(&u[k], &v[k], 8) != 0) fail_msg("%s, entry %zu: %.17g and %.17g", x.name, k, u[k], v[k]);
        }
    }
    assert_true(count > 20);
}

static void go_on(struct lgv_model *m, const char *lanes, const struct lgv_result *whole, enum lgv_status wanted) {
    static const char *const threads[] = {"1", "3", "2"};
    struct lgv_engine *e, *f;
    struct lgv_result *r;
    enum lgv_status status = LGV_INTERRUPTED;
    good(lgv_engine_create(m, &e, &err));
    good(lgv_engine_set(e, "lanes", lanes, &err));
    lgv_engine_on_progress(e, stop_often, NULL);
    calls = 0;
    int times = 0;
    for (; status == LGV_INTERRUPTED; times++) {
        assert_true(times < 1000);
        good(lgv_engine_set(e, "threads", threads[times % 3], &err));
        status = lgv_engine_continue(e, &err);
        if (status != LGV_INTERRUPTED || times % 2) continue;
        if (times == 2) { /* a look on the way changes nothing */
            assert_int_equal(lgv_engine_finish(e, &r, &err), LGV_INTERRUPTED);
            assert_true(r->interrupted && r->alive[0] > 0);
            lgv_result_free(r);
        }
        good(lgv_engine_save(e, file, &err));
        good(lgv_engine_create(m, &f, &err));
        good(lgv_engine_set(f, "lanes", times % 4 ? lanes : "2", &err)); /* and with other widths of blocks */
        lgv_engine_on_progress(f, stop_often, NULL);
        good(lgv_engine_load(f, file, &err));
        lgv_engine_free(e);
        e = f;
    }
    good(status);
    assert_true(times > 5);
    lgv_engine_on_progress(e, NULL, NULL); /* the certificate takes its time */
    assert_int_equal(lgv_engine_finish(e, &r, &err), wanted);
    same_results(whole, r);
    lgv_result_free(r);
    lgv_engine_free(e);
}

static void check(const char *text, bool failures) {
    struct lgv_model *m = model_of(text);
    struct lgv_engine *e;
    struct lgv_result *r;
    good(lgv_engine_create(m, &e, &err));
    good(lgv_engine_continue(e, &err));
    const enum lgv_status wanted = lgv_engine_finish(e, &r, &err);
    assert_int_equal(wanted, failures ? LGV_FAILED_PATHS : LGV_OK);
    go_on(m, "0", r, wanted);
    go_on(m, "4", r, wanted);
    lgv_result_free(r);
    lgv_engine_free(e);
    lgv_model_free(m);
}

static void test_barrier(void **state) {
    (void)state;
    check(barrier, true);
}

static void test_sphere(void **state) {
    (void)state;
    check(sphere, false);
}

static void test_carried(void **state) {
    (void)state;
    check(exactly, false);
}

/* Units whose bytes are wrong are run from their start. */
static void test_nonsense(void **state) {
    (void)state;
    struct lgv_model *m = model_of(sphere);
    struct lgv_kernel k = kernel_of(m, "RATTLE");
    static const uint64_t times[] = {0, 50, 100};
    struct lgv_suspended bad[3] = {{0, lgv_copy("x"), 1}, {1, lgv_new(100, 8), 800}, {2, lgv_new(7, 8), 56}};
    for (int way = 0; way < 2; way++) {
        struct lgv_run_report report;
        struct lgv_plan plan = {.kernel = &k, .dt = 0.02, .steps = 100, .seed = 4, .coarsen = 1, .ntimes = 3,
                                .time_step = times, .paths = 40, .suspend = true, .first_unit = way ? 3 : 0,
                                .resume = bad, .nresume = way ? 3 : 0};
        assert_int_equal(lgv_ensemble_run(&plan, NULL, 0, NULL, NULL, &report, NULL), LGV_OK);
        assert_true(report.path_steps == 4000 && report.nsuspended == 0);
        free(report.snapshot);
    }
    lgv_suspended_free(bad, 3);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_barrier), cmocka_unit_test(test_sphere),
                                       cmocka_unit_test(test_carried), cmocka_unit_test(test_nonsense)};
    if (!mkdtemp(folder)) return 1;
    lgv_crew_pause = 0;
    snprintf(file, sizeof file, "%s/state", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(file);
    rmdir(folder);
    return failed;
}
