/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps without a solution (src/run/rescue.c): the law of the noise of halves, the path that comes out against a closed
 * form, and that nobody else's bits change. */
#include "helpers.h"
#include "study/leg.h"

/* ---- the bridge ---- */

#define DRAWS 200000

/* Sums are exact, and the leaves of three halvings of a fresh step are independent N(0, dt/8), N(0, dt/96). */
static void test_law(void **state) {
    (void)state;
    enum { LEAVES = 8, N = 2 * LEAVES };
    const double dt = 0.3;
    static double sum[N][N];
    double fourth = 0;
    for (uint64_t path = 0; path < DRAWS; path++) {
        struct lgv_bridge tree[2 * LEAVES];
        double z[2], x[N];
        lgv_bridge_normals(7, path, 3, 0, z);
        tree[1] = (struct lgv_bridge){sqrt(dt) * z[0], sqrt(dt / 12) * z[1]};
        for (unsigned k = 1; k < LEAVES; k++) {
            double g = k < 2 ? dt : k < 4 ? dt / 2 : dt / 4, h = g / 2;
            lgv_bridge_normals(7, path, 3, k, z);
            lgv_bridge_halve(g, tree[k].dW, tree[k].y, z, &tree[2 * k]);
            const struct lgv_bridge *a = &tree[2 * k], *b = a + 1;
            double dZ = h * (a->dW / 2 + a->y) + h * (b->dW / 2 + b->y) + h * a->dW;
            assert_near(a->dW + b->dW, tree[k].dW, 1e-14, "dW of both halves");
            assert_near(dZ, g * (tree[k].dW / 2 + tree[k].y), 1e-14, "dZ of both halves");
        }
        for (int i = 0; i < LEAVES; i++) {
            x[2 * i] = tree[LEAVES + i].dW / sqrt(dt / 8);
            x[2 * i + 1] = tree[LEAVES + i].y / sqrt(dt / 96);
        }
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i; j++) sum[i][j] += x[i] * x[j];
        fourth += x[5] * x[5] * x[5] * x[5];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            assert_near(sum[i][j] / DRAWS, i == j, 5 * sqrt((i == j ? 2.0 : 1.0) / DRAWS), "covariance of leaves");
    assert_near(fourth / DRAWS, 3, 5 * sqrt(96.0 / DRAWS), "fourth moment");
}

/* ---- steps in closed form ---- */

/* With K = x q p Stoermer-Verlet multiplies q by (1 + x/2)/(1 - x/2), which has no solution at x = 2. */
static double factor(double x) {
    return (1 + x / 2) / (1 - x / 2);
}

static struct lgv_result run(const char *text, const struct lgv_increments *given, double step, double until,
                             uint64_t paths, unsigned lanes, unsigned threads, bool rescue, enum lgv_status want) {
    struct lgv_model *m = model_of(text);
    struct lgv_settings s = settings_of(m);
    struct lgv_result r;
    s.step = step;
    s.until = until;
    s.paths = paths;
    s.lanes = lanes;
    s.threads = threads;
    s.rescue = rescue;
    s.outputs = (uint64_t)(until / step + 0.5);
    s.increments = given;
    run_with(m, &s, want, &r);
    lgv_model_free(m);
    return r;
}

#define PRODUCT "coordinates: {q: 1}\nmomenta: {p: 1}\nrun: {method: P2N2Q2Lob, keep: 3}\n"

static void test_without_noise(void **state) {
    (void)state;
    struct lgv_result r = run(PRODUCT "hamiltonian: q*p\n", NULL, 2, 4, 3, 0, 1, true, LGV_OK);
    assert_int_equal(r.rescued, 6);
    assert_int_equal(r.halvings, 2); /* halves, which their halves agree with */
    assert_near(series_of(&r, "q")->mean[2], pow(factor(0.5), 8), 1e-9, "q after two steps in quarters");
    lgv_result_clear(&r);
    r = run(PRODUCT "hamiltonian: q*p\n", NULL, 2, 4, 3, 0, 1, false, LGV_FAILED_PATHS);
    assert_int_equal(r.failed, 3);
    lgv_result_clear(&r);
}

/* The same step by the rule of rescue.c, written down again: q and p are multiplied by f and 1/f. */
static double in_parts(uint64_t path, uint64_t step, double dt, unsigned place, struct lgv_bridge b) {
    double z[2], f[2], whole = factor(b.dW + dt / 64), both, way[2], apart[2];
    struct lgv_bridge half[2];
    lgv_bridge_normals(1, path, step, place, z);
    lgv_bridge_halve(dt, b.dW, b.y, z, half);
    for (int k = 0; k < 2; k++) f[k] = factor(half[k].dW + dt / 128);
    both = f[0] * f[1];
    way[0] = fabs(f[0] - 1) + fabs(both - f[0]);
    way[1] = fabs(1 / f[0] - 1) + fabs(1 / both - 1 / f[0]);
    apart[0] = fabs(whole - both);
    apart[1] = fabs(1 / whole - 1 / both);
    if (place > 1 && apart[0] <= 0.25 * way[0] && apart[1] <= 0.25 * way[1]) return both;
    return in_parts(path, step, dt / 2, 2 * place, half[0]) * in_parts(path, step, dt / 2, 2 * place + 1, half[1]);
}

/* Increments that are given: one of them has no solution, and the parts are those of the bridge. */
static void test_with_noise(void **state) {
    (void)state;
    double dW[] = {0.25, 2, -0.5, 0.1, 0.3, 2};
    struct lgv_increments given = {.paths = 2, .steps = 3, .noises = 1, .step = 0.5, .dW = dW};
    struct lgv_result r =
        run(PRODUCT "hamiltonian: q*p/100\nnoise: q*p\n", &given, 0.5, 1.5, 2, 0, 1, true, LGV_OK);
    assert_int_equal(r.rescued, 0); /* H moves the sum away from 2 */
    lgv_result_clear(&r);
    for (int i = 0; i < 6; i++)
        if (dW[i] == 2) dW[i] -= 0.5 / 64;
    r = run(PRODUCT "hamiltonian: q*p/64\nnoise: q*p\n", &given, 0.5, 1.5, 2, 0, 1, true, LGV_OK);
    assert_int_equal(r.rescued, 2);
    for (uint64_t path = 0; path < 2; path++) {
        double want = 1;
        for (uint64_t step = 0; step < 3; step++) {
            double w = dW[3 * path + step], y[2];
            lgv_bridge_normals(1, path, step, 0, y);
            want *= w + 0.5 / 64 != 2 ? factor(w + 0.5 / 64)
                                      : in_parts(path, step, 0.5, 1, (struct lgv_bridge){w, sqrt(0.5 / 12) * y[0]});
        }
        size_t q = (size_t)(series_of(&r, "q") - r.series);
        double found = r.sample[path].value[q * r.ntimes + r.ntimes - 1];
        assert_near(found / want, 1, 1e-10, "q of a path with a step in parts");
    }
    lgv_result_clear(&r);
}

/* Many such steps: q or p alone decides in some whether a part is far from its halves. */
static void test_both(void **state) {
    (void)state;
    enum { MANY = 256 };
    double dW[MANY];
    for (int i = 0; i < MANY; i++) dW[i] = (i % 2 ? -2 : 2) - 0.5 / 64; /* q or p becomes infinite */
    struct lgv_increments given = {.paths = MANY, .steps = 1, .noises = 1, .step = 0.5, .dW = dW};
    struct lgv_result r = run("coordinates: {q: 1}\nmomenta: {p: 1}\nhamiltonian: q*p/64\nnoise: q*p\n"
                              "run: {method: P2N2Q2Lob, keep: 256}\n", &given, 0.5, 0.5, MANY, 0, 1, true, LGV_OK);
    assert_int_equal(r.rescued, MANY);
    size_t q = (size_t)(series_of(&r, "q") - r.series);
    for (uint64_t path = 0; path < MANY; path++) {
        double y[2];
        lgv_bridge_normals(1, path, 0, 0, y);
        double want = in_parts(path, 0, 0.5, 1, (struct lgv_bridge){dW[path], sqrt(0.5 / 12) * y[0]});
        assert_near(r.sample[path].value[q * r.ntimes + 1] / want, 1, 1e-9, "q of a path with a step in parts");
    }
    lgv_result_clear(&r);
}

/* Paths that become infinite: solutions on the far side of the pole do not count.  Without that test of parts no
 * path would fail.  Plain steps have no such test and find a share of such paths only, which is measured against small
 * steps.  A path that was taken in parts meets its pole once more, and is found there by plain steps or by parts: with
 * that share at least. */
static void test_poles(void **state) {
    (void)state;
    static const char text[] = "coordinates: {q: 0.3*normal()}\nmomenta: {p: 1}\nnoise: q/2\n"
                               "hamiltonian: p^2/2 + q^2/2 - 0.08*q^4\nrun: {method: midpoint}\n";
    struct lgv_result with = run(text, NULL, 0.1, 10, 1333, 0, 2, true, LGV_FAILED_PATHS);
    struct lgv_result without = run(text, NULL, 0.1, 10, 1333, 0, 2, false, LGV_FAILED_PATHS);
    struct lgv_result small = run(text, NULL, 0.01, 10, 1333, 0, 2, false, LGV_FAILED_PATHS);
    double all = (double)small.failed, lost = (double)without.failed, share = lost / all;
    double error = lost * sqrt(share * (1 - share) / lost + share * share * (1 - all / 1333) / all);
    print_message("%llu and %.0f failed, %.0f by small steps, %llu steps in parts\n", (unsigned long long)with.failed,
                  lost, all, (unsigned long long)with.rescued);
    assert_true(share < 1 && (double)with.failed > share * lost - 3 * error && with.failed <= without.failed);
    lgv_result_clear(&small);
    lgv_result_clear(&with);
    lgv_result_clear(&without);
}

/* ---- steps of studies ---- */

enum { FINE = 4, STUDIED = 20000 };

/* z at the end of one step of the width 1.2 in a study, of FINE fine ones, or by the fine ones. */
static double *ends_of(const struct lgv_kernel *k, uint64_t coarsen, bool rescue, uint64_t *rescued) {
    size_t z = watch_number(k, "z");
    struct lgv_leg leg = {.kernel = k,
                          .step = 1.2 * (double)coarsen / FINE,
                          .coarsen = coarsen,
                          .steps = FINE / coarsen,
                          .paths = STUDIED,
                          .seed = 11,
                          .rescue = rescue,
                          .ncolumns = 1,
                          .column = &z};
    struct lgv_error err = {0};
    leg.time_step = lgv_leg_times(leg.steps, 1, 1, &leg.ntimes);
    leg.averages_from = leg.ntimes;
    assert_non_null(leg.time_step);
    if (lgv_leg_run(&leg, NULL, NULL, &err)) fail_msg("%s", err.message);
    double *out = leg.final;
    leg.final = NULL;
    *rescued = leg.rescued;
    lgv_leg_free(&leg);
    return out;
}

/* x = W and z = its integral by trapezoids over the parts of a step: the parts of a coarse step have the noise of its
 * fine ones, so that z is theirs to round-off where the parts are the fine steps, and near that where these are halved
 * again.  Parts drawn anew would be off by 0.4. */
static void test_study(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {q: 0.5, x: 0, z: 0}\nmomenta: {p: 0.3, u: 0, w: 0}\n"
                                   "hamiltonian: p^2/2 - cos(q) + x*w\nnoise: cos(q)*cos(p) + u\n");
    static const char *const method[] = {"P1N1Q2Gau", "P2N2Q4Gau"};
    for (size_t j = 0; j < 2; j++) {
        struct lgv_kernel k = kernel_of(m, method[j]);
        uint64_t rescued, none, exact = 0, lost = 0;
        double *with = ends_of(&k, FINE, true, &rescued), *without = ends_of(&k, FINE, false, &none);
        double *fine = ends_of(&k, 1, true, &none), worst = 0;
        for (size_t i = 0; i < STUDIED; i++) {
            if (isfinite(without[i])) {
                assert_memory_equal(&with[i], &without[i], sizeof *with);
                continue;
            }
            lost++;
            double off = fabs(with[i] - fine[i]);
            exact += off < 1e-13;
            worst = fmax(worst, off);
        }
        print_message("%s: %llu rescued, %llu with the fine steps as parts, %.3g at most\n", method[j],
                      (unsigned long long)rescued, (unsigned long long)exact, worst);
        assert_true(lost >= 10 && rescued == lost && 3 * exact >= lost && worst < 0.2);
        free(with);
        free(without);
        free(fine);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* ---- bits ---- */

#define STRONG                                                                                                         \
    "coordinates: {q: 0.5}\nmomenta: {p: '0.3*normal()'}\nhamiltonian: p^2/2 - cos(q)\nnoise: [cos(q)*cos(p)]\n"       \
    "run: {method: P1N1Q2Gau}\n"

static void same(const struct lgv_result *a, const struct lgv_result *b) {
    assert_int_equal(a->rescued, b->rescued);
    assert_int_equal(a->halvings, b->halvings);
    for (size_t i = 0; i < a->nseries; i++)
        for (size_t t = 0; t < a->ntimes; t++) {
            assert_true(isfinite(a->series[i].mean[t]));
            assert_memory_equal(&a->series[i].mean[t], &b->series[i].mean[t], sizeof(double));
        }
}

static void test_bits(void **state) {
    (void)state;
    struct lgv_result a = run(STRONG, NULL, 0.8, 8, 2000, 16, 1, true, LGV_OK);
    struct lgv_result b = run(STRONG, NULL, 0.8, 8, 2000, 2, 2, true, LGV_OK);
    print_message("%llu steps in parts, down to dt/2^%llu\n", (unsigned long long)a.rescued,
                  (unsigned long long)a.halvings);
    assert_true(a.rescued > 0 && a.failed == 0);
    same(&a, &b);
    lgv_result_clear(&b);
    b = run(STRONG, NULL, 0.8, 8, 2000, 4, 2, false, LGV_FAILED_PATHS);
    assert_true(b.failed > 0 && b.failed <= a.rescued && b.rescued == 0);
    lgv_result_clear(&a);
    lgv_result_clear(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_law),
        cmocka_unit_test(test_without_noise),
        cmocka_unit_test(test_with_noise),
        cmocka_unit_test(test_both),
        cmocka_unit_test(test_poles),
        cmocka_unit_test(test_study),
        cmocka_unit_test(test_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
