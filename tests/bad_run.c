/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs that go wrong: paths that fail are counted with path, step and reason and the statistics are those of the
 * others; absurd settings are refused with a message that helps; a stopped run leaves valid partial results. */
#include "helpers.h"

#define ONE "coordinates: {q: 0.3}\nmomenta: {p: 0.9}\n"

static struct lgv_result run_text(const char *text, const char *method, double dt, double until, uint64_t paths,
                                  enum lgv_status want) {
    struct lgv_model *m = model_of(text);
    struct lgv_settings s = settings_for(m, method, dt, until, paths);
    struct lgv_result r;
    s.outputs = 20;
    run_with(m, &s, want, &r);
    lgv_model_free(m);
    return r;
}

/* What must hold of every result with failures. */
static void check_failures(const struct lgv_result *r) {
    assert_true(r->failed > 0 && r->failed <= r->paths);
    assert_true(r->nfailures == (r->failed < 10000 ? r->failed : 10000));
    assert_int_equal(r->alive[r->ntimes - 1], r->paths - r->failed);
    for (size_t i = 0; i < r->nfailures; i++) {
        const struct lgv_failure *f = &r->failure[i];
        assert_true(f->path < r->paths && f->step < r->steps);
        assert_true(!i || f->path > r->failure[i - 1].path);
        assert_true(f->reason >= LGV_FAIL_NONFINITE && f->reason <= LGV_FAIL_START);
        assert_null(strstr(lgv_fail_text(f->reason), "unknown"));
    }
    for (size_t t = 1; t < r->ntimes; t++) assert_true(r->alive[t] <= r->alive[t - 1]);
    for (size_t t = 0; t < r->ntimes; t++) {
        /* a path contributes to the times before its failing step is done */
        uint64_t gone = 0, step = (uint64_t)((r->time[t] - r->t0) / r->step + 0.5);
        for (size_t i = 0; i < r->nfailures; i++)
            gone += r->failure[i].reason == LGV_FAIL_START || r->failure[i].step < step;
        if (r->nfailures == r->failed) assert_int_equal(r->alive[t], r->paths - gone);
        for (size_t i = 0; i < r->nseries; i++) {
            /* a finite state of size 1e200 has an infinite energy: that is told, and has no standard error of 0 */
            const struct lgv_series *s = &r->series[i];
            bool state = s->kind == LGV_OBSERVABLE_COORDINATE || s->kind == LGV_OBSERVABLE_CONJUGATE;
            assert_true(r->alive[t] ? !state || !isnan(s->mean[t]) : isnan(s->mean[t]));
            assert_true(isfinite(s->mean[t]) || !(s->std[t] <= 1e300));
        }
    }
}

static uint64_t count_reason(const struct lgv_result *r, int reason) {
    uint64_t n = 0;
    for (size_t i = 0; i < r->nfailures; i++) n += r->failure[i].reason == reason;
    return n;
}

static void test_blow_up(void **state) {
    (void)state;
    /* anharmonic at a huge step: explicit, so some paths go to infinity, others not */
    struct lgv_result r = run_text("parameters: {gamma: 0.1, beta: 1}\ncoordinates: {q: 0}\nmomenta: {p: 1}\n"
                                   "potential: gamma*q^4\nnoise: beta*q\n",
                                   "P2N2Q2Lob", 0.5, 200, 1000, LGV_FAILED_PATHS);
    check_failures(&r);
    assert_true(r.failed < r.paths);
    assert_int_equal(count_reason(&r, LGV_FAIL_NONFINITE), r.failed);
    lgv_result_clear(&r);
    /* every path blows up at the same step: nothing is left, and that is no crash */
    r = run_text("coordinates: {q: 1}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - q^4\n", "P2N2Q2Lob", 0.05, 10, 40,
                 LGV_FAILED_PATHS);
    check_failures(&r);
    assert_int_equal(r.failed, 40);
    for (size_t i = 1; i < 40; i++) assert_int_equal(r.failure[i].step, r.failure[0].step);
    assert_true(r.failure[0].step > 10 && r.failure[0].step < 60); /* the flow itself escapes at about t = 1 */
    lgv_result_clear(&r);
}

/* The failing step is the one whose result is not finite: found again with a raw block, step by step. */
static void test_step_of_failure(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {q: 'normal()'}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - q^4\n");
    struct lgv_settings s = settings_for(m, "P2N2Q2Lob", 0.05, 4, 50);
    struct lgv_result r;
    run_with(m, &s, LGV_FAILED_PATHS, &r);
    struct lgv_kernel k = kernel_of(m, "P2N2Q2Lob");
    for (size_t i = 0; i < r.nfailures; i += 7) {
        struct lgv_own_block b;
        assert_true(lgv_block_create(&k, 0, 0.05, 1, 1, &b));
        for (size_t l = 0; l < k.entry->lanes; l++) b.path[l] = r.failure[i].path;
        k.entry->start(&b.block);
        while (isfinite(b.block.state[0]) && isfinite(b.block.state[k.entry->lanes])) k.entry->advance(&b.block, 1);
        assert_int_equal(b.block.step - 1, r.failure[i].step);
        lgv_block_free(&b);
    }
    lgv_kernel_free(&k);
    lgv_result_clear(&r);
    lgv_model_free(m);
}

static void test_domains(void **state) {
    (void)state;
    static const char *const texts[] = {
        "coordinates: {q: 0.5}\nmomenta: {p: -1}\nhamiltonian: p^2/2 + sqrt(q)\nnoise: 0.1*q\n",
        "coordinates: {q: 0.5}\nmomenta: {p: -1}\nhamiltonian: p^2/2 + q*log(q)\nnoise: 0.1*q\n",
        "coordinates: {q: 0.5}\nmomenta: {p: -1}\nhamiltonian: p^2/2 + q^1.5\nnoise: 0.1*q\n",
        "coordinates: {q: 0.5}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - asin(q)\nnoise: 0.1*q\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct lgv_result r = run_text(texts[i], "P2N2Q2Lob", 0.01, 5, 60, LGV_FAILED_PATHS);
        check_failures(&r);
        assert_true(r.failed == 60); /* the domain ends on the way of all of them */
        lgv_result_clear(&r);
        r = run_text(texts[i], "P1N1Q2Gau", 0.01, 5, 60, LGV_FAILED_PATHS);
        check_failures(&r);
        lgv_result_clear(&r);
    }
    /* a singularity that only some paths come near */
    struct lgv_result r = run_text("coordinates: {x: 1, y: 'normal(0, 0.02)'}\nmomenta: {u: 0, v: 0}\n"
                                   "potential: -1/(x^2 + y^2)^1.5\n",
                                   "P1N1Q2Gau", 0.05, 5, 100, LGV_FAILED_PATHS);
    check_failures(&r);
    lgv_result_clear(&r);
    /* paths on their way to infinity at the end take no bins from the others, but are counted */
    r = run_text("coordinates: {q: 0}\nmomenta: {p: 0}\nhamiltonian: p^2/2 + q^2/2 - q^4/10\nnoise: 0.3*q\n", "VZc",
                 0.05, 20, 500, LGV_FAILED_PATHS);
    assert_true(r.paths_seconds >= 0 && r.seconds >= r.paths_seconds); /* with statistics and certificate */
    const struct lgv_histogram *h = &r.histogram[1]; /* of q; H is the first */
    double most = 0;
    for (size_t i = 0; i < h->bins; i++) most += h->count[i];
    assert_true(h->edge[0] > -20 && h->edge[h->bins] < 20 && h->below + h->above > 0);
    double alive = (double)r.alive[r.ntimes - 1];
    assert_true(most + h->below + h->above == alive && most > 0.85 * alive);
    lgv_result_clear(&r);
    /* a wall of 10^10: repeated multiplication would never end */
    r = run_text("coordinates: {q: 0.9}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + q^1e10\n", "P2N2Q2Lob", 0.01, 1, 3,
                 LGV_FAILED_PATHS);
    check_failures(&r);
    assert_int_equal(r.failed, 3);
    lgv_result_clear(&r);
    /* exactly on the singularity, from the start: the first step fails */
    r = run_text("coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + 1/q\n", "P2N2Q2Lob", 0.01, 1, 3,
                 LGV_FAILED_PATHS);
    assert_int_equal(r.failed, 3);
    assert_int_equal(r.failure[2].step, 0);
    lgv_result_clear(&r);
}

static void test_newton(void **state) {
    (void)state;
    /* an exponential wall at an absurd step: Newton's method crawls or flies off */
    struct lgv_result r = run_text("coordinates: {q: 3}\nmomenta: {p: 'normal(0, 5)'}\n"
                                   "hamiltonian: p^2/2 + cos(10*q)*exp(q)\nnoise: sin(5*q)\nrun: {rescue: no}\n",
                                   "P1N1Q2Gau", 3, 60, 100, LGV_FAILED_PATHS);
    check_failures(&r);
    assert_true(count_reason(&r, LGV_FAIL_NEWTON) > 0);
    lgv_result_clear(&r);
    /* singular: the stage of Verlet with H = q p reads P (1 + dt/2) = p and Q (1 - dt/2) = ..., which is 0 at dt = 2 */
    r = run_text(ONE "hamiltonian: q*p\nrun: {rescue: no}\n", "P2N2Q2Lob", 2, 20, 10, LGV_FAILED_PATHS);
    check_failures(&r);
    assert_int_equal(count_reason(&r, LGV_FAIL_SINGULAR), 10);
    assert_int_equal(r.failure[0].step, 0);
    lgv_result_clear(&r);
}

static void test_start(void **state) {
    (void)state;
    struct lgv_result r = run_text("coordinates: {q: 'sqrt(normal())'}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + q^2/2\n",
                                   "P2N2Q2Lob", 0.1, 1, 400, LGV_FAILED_PATHS);
    check_failures(&r);
    assert_int_equal(count_reason(&r, LGV_FAIL_START), r.failed);
    assert_true(r.failed > 160 && r.failed < 240); /* half of them: 200 +- 4 * 10 */
    assert_int_equal(r.alive[0], 400 - r.failed);
    lgv_result_clear(&r);
    r = run_text("coordinates: {q: 'log(uniform() - 1)'}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + q^2/2\n", "P1N1Q2Gau",
                 0.1, 1, 5, LGV_FAILED_PATHS);
    assert_int_equal(r.failed, 5);
    assert_int_equal(r.alive[0], 0);
    assert_true(isnan(r.series[0].mean[0]) && isnan(r.certificate.symplectic_defect));
    lgv_result_clear(&r);
}

/* Lanes with failures do not disturb the others: the survivors' means are those of the survivors alone. */
static void test_survivors(void **state) {
    (void)state;
    static const char text[] = "coordinates: {q: 'normal()'}\nmomenta: {p: 0}\nhamiltonian: p^2/2 + q^2/2 - 0.1*q^4\n";
    struct lgv_result r = run_text(text, "P2N2Q2Lob", 0.1, 20, 300, LGV_FAILED_PATHS);
    check_failures(&r);
    assert_true(r.failed > 10 && r.failed < 290);
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, "P2N2Q2Lob");
    double *x = final_values(&k, 0.1, 200, 300, 1, 1), mean = 0, n = 0;
    size_t H = watch_number(&k, "H");
    for (size_t i = 0; i < 300; i++)
        if (isfinite(x[i * k.watch.count + H])) {
            mean += x[i * k.watch.count + H];
            n++;
        }
    assert_true(n == 300 - (double)r.failed);
    assert_near(series_of(&r, "H")->mean[r.ntimes - 1], mean / n, 1e-13, "mean of the survivors");
    free(x);
    lgv_kernel_free(&k);
    lgv_result_clear(&r);
    lgv_model_free(m);
}

static void test_reasons(void **state) {
    (void)state;
    for (int i = LGV_FAIL_NONE; i <= LGV_FAIL_START; i++)
        for (int j = LGV_FAIL_NONE; j < i; j++) assert_string_not_equal(lgv_fail_text(i), lgv_fail_text(j));
    assert_non_null(strstr(lgv_fail_text(LGV_FAIL_NONFINITE), "infinite"));
    assert_non_null(strstr(lgv_fail_text(LGV_FAIL_NEWTON), "converge"));
    assert_non_null(strstr(lgv_fail_text(LGV_FAIL_SINGULAR), "singular"));
    assert_non_null(strstr(lgv_fail_text(LGV_FAIL_START), "start"));
    assert_non_null(lgv_fail_text(-1));
    assert_non_null(lgv_fail_text(99));
}

/* ---- settings ---- */

static void test_settings(void **state) {
    (void)state;
    static const struct {
        const char *option, *value, *words; /* the message names these */
    } row[] = {
        {"step", "0", "step"},       {"step", "-0.1", "step"},       {"step", "nan", "step"},
        {"step", "inf", "step"},     {"step", "abc", "step"},        {"until", "-5", "until"},
        {"until", "0", "until"},     {"lanes", "3", "lanes"},        {"lanes", "17", "lanes"},
        {"keep", "garbage", "keep"}, {"keep", "1,x", "keep"},        {"keep", "1,2,9999999", "keep"},
        {"keep", "-3", "keep"},      {"paths", "0", "paths"},        {"paths", "-1", "paths"},
        {"paths", "1.5", "paths"},   {"method", "P2N2Q2Lop", "Lob"}, {"method", "nothing", "nothing"},
        {"method", "", "method"},    {"step", "1e-300", "steps"},    {"nonsense", "1", "nonsense"},
        {"seed", "-1", "seed"},      {"outputs", "0", "outputs"},    {"start", "1e9", "until"},
        {"method", "RK4", "noise"},  {"paths", "1e99", "paths"},     {"threads", "-2", "threads"},
    };
    struct lgv_model *m = model_of(ONE "hamiltonian: p^2/2 - cos(q)\nnoise: 0.1*sin(q)\n");
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_settings s = settings_of(m);
        struct lgv_result r = {0};
        struct lgv_error err = {0};
        s.paths = 10;
        s.until = 1;
        enum lgv_status status =
            lgv_option_set(lgv_run_options, lgv_run_option_count, &s, row[i].option, row[i].value, &err);
        if (status == LGV_OK) status = lgv_engine_once(m, &s, NULL, NULL, NULL, &r, &err);
        if (status != LGV_BAD_INPUT || !strstr(err.message, row[i].words) || strlen(err.message) < 15)
            fail_msg("%s = '%s': status %d, message '%s'", row[i].option, row[i].value, (int)status, err.message);
        assert_int_equal(err.status, LGV_BAD_INPUT);
        assert_null(r.series);
    }
    struct lgv_settings s = settings_of(m);
    struct lgv_result r;
    struct lgv_error err = {0};
    snprintf(s.keep, sizeof s.keep, "99999999999999999999"); /* more than there are: all of them */
    s.paths = 10;
    s.until = 1;
    assert_int_equal(lgv_engine_once(m, &s, NULL, NULL, NULL, &r, &err), LGV_OK);
    assert_int_equal(r.nsamples, 10);
    assert_true(err.status == LGV_OK && !*err.message);
    lgv_result_clear(&r);
    lgv_model_free(m);
}

/* ---- stopping ---- */

static int stop_soon(void *user, double fraction) {
    double *seen = user;
    bool fine = fraction >= *seen && fraction <= 1;
    *seen = fine ? fraction : 99;
    return fraction > 0.05;
}

/* Stopped at a twentieth.  Paths come in units, so that some have finished, some are on their way, most have not begun:
 * every time has its own number of paths. */
static void test_interrupted(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\nnoise: q/10\n");
    struct lgv_settings s = settings_of(m);
    struct lgv_result r = {0};
    struct lgv_error err = {0};
    double seen = 0;
    snprintf(s.method, sizeof s.method, "P2N2Q2Lob");
    s.step = 0.001;
    s.until = 100;
    s.paths = 5000;
    s.outputs = 50;
    s.threads = 2;
    double pause = lgv_crew_pause;
    lgv_crew_pause = 0; /* told after every chunk of steps, whatever the time */
    assert_int_equal(lgv_engine_once(m, &s, NULL, stop_soon, &seen, &r, &err), LGV_INTERRUPTED);
    lgv_crew_pause = pause;
    assert_true(seen > 0.05 && seen < 0.5);
    assert_true(r.interrupted && r.ntimes == 51 && r.failed == 0);
    assert_true(r.alive[0] > 0 && r.alive[0] < s.paths && r.paths_done > 0);
    assert_int_equal(r.paths_done, r.alive[r.ntimes - 1]);
    for (size_t t = 0; t < r.ntimes; t++) {
        assert_true(!t || r.alive[t] <= r.alive[t - 1]);
        double H = r.series[0].mean[t];
        /* E[H] = H0 + t/200 with H0 = -1/2; one path alone can be off by sqrt(t)/10 times a few */
        assert_true(r.alive[t] ? fabs(H + 0.5 - r.time[t] / 200) < 5 : isnan(H));
    }
    lgv_result_clear(&r);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blow_up), cmocka_unit_test(test_step_of_failure), cmocka_unit_test(test_domains),
        cmocka_unit_test(test_newton),  cmocka_unit_test(test_start),           cmocka_unit_test(test_survivors),
        cmocka_unit_test(test_reasons), cmocka_unit_test(test_settings),        cmocka_unit_test(test_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
