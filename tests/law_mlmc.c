/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Multilevel Monte Carlo against a mean that is known: E[H] = H0 + beta^2 t/2 for h = beta q. */
#include "helpers.h"
#include "out/study_compare.h"
#include "study/mlmc.h"

#define ANHARMONIC                                                                                                     \
    "parameters: {gamma: 0.1, beta: 0.5}\ncoordinates: {q: 0}\nmomenta: {p: 1}\npotential: gamma*q^4\nnoise: beta*q\n"

static struct lgv_mlmc_result estimate(const char *text, const char *method, double tolerance, double largest,
                                       uint64_t seed, uint64_t threads, uint64_t lanes, enum lgv_status want) {
    struct lgv_model *m = model_of(text);
    struct lgv_settings s = settings_of(m);
    struct lgv_mlmc_result r;
    struct lgv_error err = {0};
    struct lgv_mlmc_options o = {.tolerance = tolerance, .largest = largest};
    s.until = 5;
    s.seed = seed;
    s.threads = threads;
    s.lanes = lanes;
    enum lgv_status status = lgv_mlmc(m, &s, lgv_method_find(method), &o, NULL, NULL, &r, &err);
    if (status != want) fail_msg("status %d: %s", (int)status, err.message);
    lgv_model_free(m);
    return r;
}

/* Twelve seeds.  An interval misses the truth with probability 0.05 or less (the weak error left widens it), so four
 * or more misses of twelve have probability below C(12,4) 0.05^4 = 0.003; and at 4.5 standard errors plus the weak
 * error not one may miss (12 * 7e-6).  Both fail at once when a coarse half uses other noise, or a level is left
 * out. */
static void test_interval(void **state) {
    (void)state;
    double want = 0.5 + 0.25 * 5 / 2, square = 0;
    int missed = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct lgv_mlmc_result r = estimate(ANHARMONIC, "P2N2Q2Lob", 0.01, 0.5, seed, 0, 0, LGV_OK);
        print_message("seed %2d: %.5f +- %.5f, bias %.5f, %zu levels, beta %.2f\n", (int)seed, r.estimate, r.stderror,
                      r.bias, r.nlevels, r.beta);
        assert_true(r.reached && r.failed == 0);
        assert_true(r.stderror <= 1.02 * 0.01 / sqrt(2) && r.bias <= 0.01 / sqrt(2));
        assert_near(r.estimate, want, 4.5 * r.stderror + r.bias, "estimate");
        missed += want < r.low || want > r.high;
        square += (r.estimate - want) * (r.estimate - want) / 12;
        lgv_mlmc_clear(&r);
    }
    assert_true(missed < 4);
    /* the root mean square error asked for; chi^2 with 12 degrees of freedom is above 2.4 * 12 with probability 0.004
     * */
    assert_true(sqrt(square) < 0.01 * sqrt(2.4));
}

/* Strong order 1 makes the variance of the differences fall by 2^2 per level: fitted over levels of 10^4 pairs and
 * more, whose variances are known to a few percent (heavy tails: 10 %). */
static void test_decay(void **state) {
    (void)state;
    struct lgv_mlmc_result r = estimate(ANHARMONIC, "P2N2Q2Lob", 0.002, 0.25, 3, 0, 0, LGV_OK);
    assert_true(r.nlevels >= 3);
    for (size_t l = 1; l + 1 < r.nlevels; l++) {
        double rate = log2(r.level[l].variance / r.level[l + 1].variance);
        print_message("levels %zu to %zu: %.3f\n", l, l + 1, rate);
        assert_near(rate, 2, 0.4, "decay of the variance");
    }
    assert_near(r.beta, 2, 0.35, "fitted decay");
    assert_true(r.plain_cost > 1.5 * r.cost); /* and that is why it pays */
    lgv_mlmc_clear(&r);
}

/* With a bath the coarse noise of a level is made from the fine one by the flow of the bath: the variances fall as the
 * strong order says, by 2^4 a level for UBU and by 2^2 for BAOAB.  E[H] of the oscillator at t = 5, from x = 1, p = 0
 * with friction and kT of 1, solves the linear equations of the second moments; here by 5000 steps of Heun's method. */
static double bath_energy(void) {
    double m[3] = {1, 0, 0}; /* E[x^2], E[x p], E[p^2] */
    for (int n = 0; n < 5000; n++) {
        double rate[3], sum[3] = {0}, y[3] = {m[0], m[1], m[2]};
        for (int stage = 0; stage < 2; stage++) {
            rate[0] = 2 * y[1];
            rate[1] = y[2] - y[0] - y[1];
            rate[2] = -2 * y[1] - 2 * y[2] + 2;
            for (int i = 0; i < 3; i++) sum[i] += 0.5e-3 * rate[i], y[i] = m[i] + 1e-3 * rate[i];
        }
        for (int i = 0; i < 3; i++) m[i] += sum[i];
    }
    return 0.5 * (m[0] + m[2]);
}

static void test_bath(void **state) {
    (void)state;
    static const char text[] = "coordinates: {x: 1}\nmomenta: {p: 0}\npotential: x^2/2\n"
                               "langevin: {friction: 1, temperature: 1}\n";
    static const struct {
        const char *method;
        double tolerance, decay, within;
    } row[] = {{"UBU", 0.002, 4, 0.5}, {"BAOAB", 0.004, 2, 0.35}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_mlmc_result r = estimate(text, row[i].method, row[i].tolerance, 0.5, 1, 0, 0, LGV_OK);
        print_message("%s: %.5f +- %.5f, bias %.5f, want %.5f; %zu levels, beta %.2f\n", row[i].method, r.estimate,
                      r.stderror, r.bias, bath_energy(), r.nlevels, r.beta);
        assert_true(r.reached && r.failed == 0 && r.nlevels >= 3);
        assert_near(r.estimate, bath_energy(), 4.5 * r.stderror + r.bias, "estimate with a bath");
        assert_near(r.beta, row[i].decay, row[i].within, "decay of the variance with a bath");
        lgv_mlmc_clear(&r);
    }
}

/* Noises that do not commute: the areas of a coarse half are those of its fine ones, so that variances fall by 2^2 a
 * level, and by 2 without areas.  On the free group of step 2 methods with areas are exact, E cos 2A = 1/cosh 1 at
 * t = 1, and levels differ by round-off. */
static void test_areas(void **state) {
    (void)state;
    static const char pair[] = "coordinates: {q: 0.4}\nmomenta: {p: 0.7}\nhamiltonian: p^2/2 + q^4/4\n"
                               "noise: [0.5*q^2, 0.6*sin(p)]\n";
    static const char group[] = "coordinates: {x: 0, y: 0, a: 0}\nmomenta: {u: 0, v: 0, d: 1}\nhamiltonian: 0*a\n"
                                "noise: [u - y*d/2, v + x*d/2]\nobserve: {f: cos(2*a)}\n";
    static const struct {
        const char *model, *observe, *method;
        double tolerance, largest, decay;
    } row[] = {{pair, "q", "P1N1Q2Gau-Levy", 0.002, 0.0625, 2},
               {pair, "q", "P1N1Q2Gau", 0.006, 0.0625, 1},
               {group, "f", "P1N1Q2Gau-Levy", 0.01, 0.25, 0}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_model *m = model_of(row[i].model);
        struct lgv_settings s = settings_of(m);
        struct lgv_mlmc_result r;
        struct lgv_error err = {0};
        struct lgv_mlmc_options o = {.observe = row[i].observe, .tolerance = row[i].tolerance,
                                     .largest = row[i].largest, .pilot = 4000};
        s.until = 1;
        if (lgv_mlmc(m, &s, lgv_method_find(row[i].method), &o, NULL, NULL, &r, &err)) fail_msg("%s", err.message);
        print_message("%s: %.4f +- %.4f, %zu levels, beta %.2f\n", row[i].method, r.estimate, r.stderror, r.nlevels,
                      r.beta);
        assert_true(r.reached && r.nlevels >= 3);
        if (row[i].decay > 0) assert_near(r.beta, row[i].decay, 0.25, "decay of the variance");
        for (size_t l = 1; row[i].decay <= 0 && l < r.nlevels; l++) assert_true(r.level[l].variance < 1e-28);
        if (row[i].decay <= 0) assert_near(r.estimate, 1 / cosh(1), 4 * r.stderror, "E cos 2A");
        lgv_mlmc_clear(&r);
        lgv_model_free(m);
    }
}

static void test_threads(void **state) {
    (void)state;
    struct lgv_mlmc_result a = estimate(ANHARMONIC, "P1N1Q2Gau", 0.02, 0.5, 1, 1, 4, LGV_OK);
    struct lgv_mlmc_result b = estimate(ANHARMONIC, "P1N1Q2Gau", 0.02, 0.5, 1, 3, 8, LGV_OK);
    assert_int_equal(a.nlevels, b.nlevels);
    assert_memory_equal(&a.estimate, &b.estimate, sizeof a.estimate);
    assert_memory_equal(&a.stderror, &b.stderror, sizeof a.stderror);
    for (size_t l = 0; l < a.nlevels; l++) assert_int_equal(a.level[l].paths, b.level[l].paths);
    lgv_mlmc_clear(&a);
    lgv_mlmc_clear(&b);
}

/* Paths that run away to infinity: pairs are counted and left out, and the status says so. */
static void test_failures(void **state) {
    (void)state;
    static const char text[] = "coordinates: {q: 0.4*normal()}\nmomenta: {p: 0}\nhamiltonian: p^2/2 + q^2/2 - q^6/5\n"
                               "noise: 0.1*q\nobserve: {inside: exp(-q^2)}\n";
    struct lgv_model *m = model_of(text);
    struct lgv_settings s = settings_of(m);
    struct lgv_mlmc_result r;
    struct lgv_error err = {0};
    struct lgv_mlmc_options o = {.observe = "inside", .tolerance = 0.02, .largest = 0.1, .pilot = 400};
    s.until = 6;
    enum lgv_status status = lgv_mlmc(m, &s, lgv_method_find("P2N2Q2Lob"), &o, NULL, NULL, &r, &err);
    assert_int_equal(status, LGV_FAILED_PATHS);
    assert_true(r.failed > 0 && isfinite(r.estimate) && r.level[0].failed > 0);
    lgv_mlmc_clear(&r);
    o.observe = "outside";
    assert_int_equal(lgv_mlmc(m, &s, lgv_method_find("P2N2Q2Lob"), &o, NULL, NULL, &r, &err), LGV_BAD_INPUT);
    lgv_model_free(m);
}

/* The words under the table: levels whose variances grow are called that, without advice that cannot help, and the part
 * that was done is not compared with the whole task. */
static char *words(const struct lgv_mlmc_result *r) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    lgv_mlmc_summary(out, r, false);
    fclose(out);
    return text;
}

static void test_words(void **state) {
    (void)state;
    struct lgv_mlmc_result r = {
        .model_name = "m", .method = "RATTLE", .observable = "f", .nlevels = 4, .tolerance = 0.1};
    for (size_t l = 0; l < 4; l++)
        r.level[l] = (struct lgv_mlmc_level){.paths = 1000, .mean = 0.3, .variance = ldexp(0.07, (int)l), .cost = 1};
    r.alpha = -0.6;
    r.beta = -0.98;
    r.cost = 10;
    r.plain_cost = 5;
    char *text = words(&r);
    assert_non_null(strstr(text, "means 2^0.60 (growing), variances 2^0.98 (growing)"));
    assert_non_null(strstr(text, "grow from level to level"));
    assert_null(strstr(text, "--largest"));
    assert_null(strstr(text, "plain Monte Carlo"));
    free(text);
    r.reached = true;
    r.alpha = 1;
    r.beta = NAN;
    r.level[3].mean = 0;
    text = words(&r);
    assert_non_null(strstr(text, "means 2^-1.00, variances none"));
    assert_non_null(strstr(text, "plain Monte Carlo"));
    assert_null(strstr(text, "nan"));
    free(text);
}

/* Stopped after a number of calls.  How many come while a kernel is compiled, or inside a batch, depends on the clock:
 * here the kernel is in the cache, and calls come between batches only. */
static int stop_after(void *user, double fraction) {
    (void)fraction;
    return --*(int *)user < 0;
}

static void test_interrupted(void **state) {
    (void)state;
    struct lgv_model *m = model_of(ANHARMONIC);
    struct lgv_settings s = settings_of(m);
    struct lgv_mlmc_options o = {.tolerance = 1e-5, .largest = 0.5};
    s.until = 4;
    s.threads = 1;
    struct lgv_mlmc_result whole = estimate(ANHARMONIC, "P1N1Q2Gau", 0.1, 0.5, 1, 1, 0, LGV_OK);
    lgv_mlmc_clear(&whole);
    double pause = lgv_crew_pause;
    lgv_crew_pause = INFINITY;
    bool none = false, one = false;
    for (int calls = 0; calls < 20; calls++) {
        struct lgv_mlmc_result r;
        struct lgv_error err = {0};
        int left = calls;
        enum lgv_status status = lgv_mlmc(m, &s, lgv_method_find("P1N1Q2Gau"), &o, stop_after, &left, &r, &err);
        if (status == LGV_CANNOT_RUN) { /* nothing was done */
            none = true;
            continue;
        }
        assert_int_equal(status, LGV_INTERRUPTED);
        assert_true(r.interrupted && !r.reached && r.nlevels > 0);
        if (r.nlevels == 1) {
            char *text = words(&r);
            assert_non_null(strstr(text, "weak error not known"));
            free(text);
            one = true;
        }
        lgv_mlmc_clear(&r);
    }
    lgv_crew_pause = pause;
    assert_true(none && one);
    lgv_model_free(m);
}

static void test_refusals(void **state) {
    (void)state;
    static const char bead[] = "coordinates: {\"x in R2\": [1, 0]}\nmomenta: {p: 0}\nhamiltonian: dot(p, p)/2 + x.y\n"
                               "constraints: dot(x, x) - 1\nobserve: {force: \"2*lambda[1] + x.x\"}\n";
    static const struct {
        const char *noise, *observe, *says;
    } row[] = {{"noise: 0.2*x.x\n", "force", "force depends on multipliers"}, {"", "force", "nothing is random"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[400];
        snprintf(text, sizeof text, "%s%s", bead, row[i].noise);
        struct lgv_model *m = model_of(text);
        struct lgv_settings s = settings_of(m);
        struct lgv_mlmc_result r;
        struct lgv_error err = {0};
        struct lgv_mlmc_options o = {.observe = row[i].observe, .tolerance = 0.1};
        assert_int_equal(lgv_mlmc(m, &s, lgv_method_find("RATTLE"), &o, NULL, NULL, &r, &err), LGV_BAD_INPUT);
        assert_non_null(strstr(err.message, row[i].says));
        lgv_model_free(m);
    }
}

/* A step that is too large: on level 0 all paths that run away fail and are left out, on level 1 some arrive with huge
 * energies.  The message names that level, and never prints what is no number. */
static void test_too_many(void **state) {
    (void)state;
    static const struct {
        const char *method, *says;
        double gamma, largest, until;
    } row[] = {{"Taylor15", "paths on level 1, more than can be run", 0.1, 0.4, 200},
               {"P2N2Q2Lob", "the variance on level 1 overflows", 1, 0.9, 20.7}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_model *m = model_of("parameters: {gamma: 0.1, beta: 0.1}\ncoordinates: {q: 0}\nmomenta: {p: 1}\n"
                                       "potential: gamma*q^4\nnoise: beta*q\n");
        struct lgv_settings s = settings_of(m);
        struct lgv_mlmc_result r;
        struct lgv_error err = {0};
        struct lgv_mlmc_options o = {.tolerance = 0.01, .largest = row[i].largest, .levels = 3};
        set_parameter(m, "gamma", row[i].gamma);
        s.until = row[i].until;
        assert_int_equal(lgv_mlmc(m, &s, lgv_method_find(row[i].method), &o, NULL, NULL, &r, &err), LGV_BAD_INPUT);
        print_message("%s\n", err.message);
        assert_non_null(strstr(err.message, row[i].says));
        assert_null(strstr(err.message, "nan"));
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interval), cmocka_unit_test(test_decay),
        cmocka_unit_test(test_bath), cmocka_unit_test(test_areas), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_failures), cmocka_unit_test(test_words), cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
