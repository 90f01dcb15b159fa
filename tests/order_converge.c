/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv_converge: the measured errors of experiments 1 and 2, orders against exact and fine solutions, standard errors of
 * orders against the scatter over seeds, and the same bits for any number of threads and paths added in parts. */
#include "helpers.h"
#include "study/study.h"

#define KUBO                                                                                                           \
    "parameters: {beta: 0.1}\ncoordinates: {q: 0}\nmomenta: {p: 1}\n"                                                  \
    "hamiltonian: p^2/2 + q^2/2\nnoise: beta*H\n"                                                                      \
    "exact:\n  q: p0*sin(t + beta*W[1]) + q0*cos(t + beta*W[1])\n"                                                     \
    "  p: p0*cos(t + beta*W[1]) - q0*sin(t + beta*W[1])\n"
#define SYNCHROTRON                                                                                                    \
    "parameters: {beta: 0.1}\ncoordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\nnoise: beta*sin(q)\n"
#define STRONG                                                                                                         \
    "parameters: {beta: 2}\ncoordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\nnoise: beta*sin(q)\n"

static struct lgv_convergence study(const char *text, const struct lgv_convergence_options *o, double until,
                                    uint64_t paths, uint64_t seed, uint64_t threads) {
    struct lgv_model *m = model_of(text);
    struct lgv_settings s = settings_of(m);
    struct lgv_convergence c;
    struct lgv_error err = {0};
    s.until = until;
    s.paths = paths;
    s.seed = seed;
    s.threads = threads;
    if (lgv_converge(m, &s, o, NULL, NULL, &c, &err) != LGV_OK) fail_msg("%s", err.message);
    lgv_model_free(m);
    return c;
}

/* want: three digits from 2000 paths (1-2 %), and 3 of our standard errors. */
static void check(const struct lgv_convergence *c, size_t method, size_t level, double want) {
    const struct lgv_convergence_level *l = &c->method[method].level[level];
    print_message("%s: %.4g +- %.2g at step %g, order %.3f +- %.2g\n", c->method[method].method->name, l->error,
                  l->stderror, l->step, c->method[method].order, c->method[method].order_stderr);
    assert_true(l->stderror > 0 && l->stderror < 0.03 * want);
    assert_near(l->error, want, 3 * l->stderror + 0.02 * want, c->method[method].method->name);
    assert_int_not_equal(c->method[method].verdict, LGV_ORDER_DIFFERS);
    assert_int_not_equal(c->method[method].verdict, LGV_ORDER_NONE);
}

static void test_kubo(void **state) {
    (void)state;
    struct lgv_convergence_options o = {.methods = "P1N1Q2Gau,verlet,P1N3Q4Lob,P1N2Q2Otr,P2N2Q2Otr",
                                        .steps = "0.0025,0.02,0.01,0.005"};
    static const double want[] = {1.07e-4, 5.87e-5, 5.26e-5, 8.9e-5, 1.9e-4};
    struct lgv_convergence c = study(KUBO, &o, 3.2, 2000, 1, 0);
    assert_null(c.reference);
    for (size_t k = 0; k < 5; k++) check(&c, k, 1, want[k]);
    assert_int_equal(lgv_convergence_judge(&c), LGV_CONVERGENCE_HOLDS);
    lgv_convergence_clear(&c);
}

static void test_synchrotron(void **state) {
    (void)state;
    struct lgv_convergence_options o = {
        .methods = "P1N1Q1Rec,P1N1Q1RecN2Q2Lob,P2N2Q2LobN1Q1Rec,P2N2Q2Lob,MRT32,LobZ,Taylor15,VZc",
        .largest = 0.08,
        .levels = 3};
    static const double want[] = {4.38e-3, 4.56e-3, 3.14e-3, 1.61e-3, 8.8e-5, 2.25e-5, 7.6e-4, 5.8e-5};
    struct lgv_convergence c = study(SYNCHROTRON, &o, 3.2, 2000, 1, 0);
    for (size_t k = 0; k < 8; k++) check(&c, k, 1, want[k]);
    assert_true(c.reference_fine);
    assert_true(c.quantity[0].reference_error > 0 && c.quantity[0].reference_error < 0.1 * 5e-6);
    lgv_convergence_clear(&c);
}

/* With strong noise the orders themselves show, 3/2 and 1; experiments.md: 1.5 to 1.6. */
static void test_orders(void **state) {
    (void)state;
    struct lgv_convergence_options o = {.methods = "P2N2Q2Lob,MRT32,LobZ", .largest = 0.02, .levels = 4};
    struct lgv_convergence c = study(STRONG, &o, 1, 2048, 1, 0);
    assert_string_equal(c.reference->name, "VZc"); /* not one of those under test */
    assert_near(c.method[0].order, 1.0, 0.05, "Verlet");
    assert_near(c.method[1].order, 1.55, 0.1, "MRT32");
    assert_near(c.method[2].order, 1.55, 0.1, "LobZ");
    lgv_convergence_clear(&c);
    struct lgv_convergence_options w = {
        .methods = "P1N1Q1Rec", .weak = true, .observe = "q", .largest = 0.1, .levels = 4};
    c = study(STRONG, &w, 1, 8192, 1, 0);
    print_message("weak order %.3f +- %.3f\n", c.method[0].order, c.method[0].order_stderr);
    assert_near(c.method[0].order, 1, 4 * c.method[0].order_stderr + 0.1, "weak order of symplectic Euler");
    lgv_convergence_clear(&c);
}

/* sqrt(sum (order - mean)^2 / 11) over 12 seeds has a relative standard deviation of 1/sqrt(22) = 0.21: within 3 of
 * them of the mean standard error that the jackknife tells.  A plain fit error would be off by a factor. */
static void test_standard_error(void **state) {
    (void)state;
    struct lgv_convergence_options o = {.methods = "P2N2Q2Lob", .steps = "0.04,0.02,0.01"};
    double order[12], mean = 0, told = 0, var = 0;
    for (uint64_t i = 0; i < 12; i++) {
        struct lgv_convergence c = study(STRONG, &o, 1, 700, 100 + i, 0); /* groups of different sizes */
        order[i] = c.method[0].order;
        mean += order[i] / 12;
        told += c.method[0].order_stderr / 12;
        lgv_convergence_clear(&c);
    }
    for (int i = 0; i < 12; i++) var += (order[i] - mean) * (order[i] - mean) / 11;
    print_message("scatter %.4f, told %.4f\n", sqrt(var), told);
    assert_near(sqrt(var), told, 0.63 * told, "scatter of orders over seeds");
}

static void test_bits(void **state) {
    (void)state;
    struct lgv_convergence_options o = {.methods = "P2N2Q2Lob,P1N1Q2Gau", .largest = 0.1, .levels = 3};
    struct lgv_convergence_options t = o;
    t.target = 0.02;
    struct lgv_convergence c = study(STRONG, &t, 1, 1, 1, 2);
    assert_true(c.target_reached && c.paths > 1024); /* doubled at least once */
    for (uint64_t threads = 1; threads <= 3; threads++) {
        struct lgv_convergence d = study(STRONG, &o, 1, c.paths, 1, threads);
        for (size_t k = 0; k < 2; k++)
            for (size_t l = 0; l < 3; l++)
                assert_memory_equal(&c.method[k].level[l].error, &d.method[k].level[l].error, sizeof(double));
        assert_memory_equal(&c.method[0].order_stderr, &d.method[0].order_stderr, sizeof(double));
        lgv_convergence_clear(&d);
    }
    lgv_convergence_clear(&c);
}

/* After a whole turn of the oscillator symplectic Euler, which is conjugate to Verlet, has order 2: better than the
 * 1 it promises, and that is no failure.  A force with a jump spoils RK4: worse, and a failure. */
static void test_better_and_worse(void **state) {
    (void)state;
    struct lgv_convergence_options o = {.methods = "P1N1Q1Rec", .largest = 6.283185307179586 / 64, .levels = 4};
    struct lgv_convergence c =
        study("coordinates: {q: 0.3}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + q^2/2\n", &o, 6.283185307179586, 1, 1, 1);
    assert_near(c.method[0].order, 2, 0.05, "symplectic Euler over a whole turn");
    assert_int_equal(c.method[0].verdict, LGV_ORDER_BETTER);
    assert_true(lgv_convergence_judge(&c) == LGV_CONVERGENCE_HOLDS && !c.random);
    lgv_convergence_clear(&c);
    struct lgv_convergence_options w = {.methods = "RK4", .largest = 0.1, .levels = 6};
    c = study("coordinates: {q: 1}\nmomenta: {p: 0}\nhamiltonian: p^2/2 + abs(q)\n", &w, 2, 1, 1, 1);
    print_message("RK4 with a jump: order %.3f\n", c.method[0].order);
    assert_int_equal(c.method[0].verdict, LGV_ORDER_DIFFERS);
    assert_int_equal(lgv_convergence_judge(&c), LGV_CONVERGENCE_BROKEN);
    lgv_convergence_clear(&c);
}

/* The pendulum with strong noise is chaotic: at T = 24 the paths of all levels have lost the solution, and that is no
 * fault of the method.  The study names an end that would do, and there the order is as promised. */
static void test_lost(void **state) {
    (void)state;
    struct lgv_convergence_options o = {.methods = "P2N2Q2Lob", .largest = 0.1, .levels = 3, .reference = "MRT32"};
    struct lgv_convergence c = study(STRONG, &o, 24, 64, 1, 0);
    print_message("spread %.3g, error %.3g, until %g would do\n", c.spread, c.method[0].level[2].error, c.until_enough);
    assert_int_equal(c.method[0].verdict, LGV_ORDER_NONE);
    assert_int_equal(c.method[0].level[0].use, LGV_LEVEL_SPREAD);
    assert_int_equal(lgv_convergence_judge(&c), LGV_CONVERGENCE_UNKNOWN);
    assert_true(c.until_enough > 0.1 && c.until_enough < 12);
    double until = c.until_enough;
    lgv_convergence_clear(&c);
    c = study(STRONG, &o, until, 512, 1, 0);
    assert_int_equal(c.method[0].verdict, LGV_ORDER_AGREES);
    assert_int_equal(lgv_convergence_judge(&c), LGV_CONVERGENCE_HOLDS);
    assert_true(isnan(c.until_enough));
    lgv_convergence_clear(&c);
}

/* Order 6 down to round-off, and then levels that must not be fitted. */
static void test_round_off(void **state) {
    (void)state;
    struct lgv_convergence_options o = {.methods = "P3N3Q6Gau", .largest = 0.8, .levels = 10};
    struct lgv_convergence c = study("coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + q^2/2\n"
                                     "exact: {q: p0*sin(t), p: p0*cos(t)}\n",
                                     &o, 3.2, 1, 1, 1);
    const struct lgv_convergence_method *m = &c.method[0];
    for (size_t l = 0; l < c.nlevels; l++)
        print_message("%g: %.3g, %d\n", m->level[l].step, m->level[l].error, (int)m->level[l].use);
    assert_int_equal(m->level[9].use, LGV_LEVEL_ROUND_OFF);
    assert_true(m->fitted >= 4 && m->fitted <= 6);
    assert_near(m->order, 6, 0.05, "order of the Gauss method");
    assert_int_equal(m->verdict, LGV_ORDER_AGREES);
    lgv_convergence_clear(&c);
}

/* Strong errors of positions and momenta make up that of the state; an observable alone is one of the positions.  Weak
 * ones have one difference of means for every coordinate. */
static void test_quantities(void **state) {
    (void)state;
    static const char plane[] = "coordinates: {x: 1, y: 0}\nmomenta: {u: 0, v: 1}\n"
                                "hamiltonian: u^2/2 + v^2/2 + (x^2 + y^2)^2/4\nnoise: 0.5*sin(x)*cos(y)\n";
    struct lgv_convergence_options o = {.methods = "P2N2Q2Lob,P1N1Q2Gau",
                                        .observe = "state,positions,momenta,x,y,H",
                                        .largest = 0.1,
                                        .levels = 3};
    struct lgv_convergence c = study(plane, &o, 1, 256, 1, 0);
    assert_int_equal(c.nquantities, 6);
    assert_int_equal(c.nrows, 12);
    for (size_t k = 0; k < 2; k++)
        for (size_t l = 0; l < 3; l++) {
            double e[6];
            for (size_t q = 0; q < 6; q++) e[q] = c.method[2 * q + k].level[l].error;
            assert_near(hypot(e[1], e[2]), e[0], 1e-12 * e[0], "state");
            assert_near(hypot(e[3], e[4]), e[1], 1e-12 * e[1], "positions");
            assert_true(e[5] > 0 && fabs(e[5] - e[0]) > 1e-3 * e[0]);
        }
    for (size_t i = 0; i < 4; i++) assert_near(c.method[i].order, 1, 0.35, c.quantity[i / 2].name);
    double state_error = c.method[0].level[0].error;
    lgv_convergence_clear(&c);
    o.observe = NULL;
    c = study(plane, &o, 1, 256, 1, 0);
    assert_memory_equal(&c.method[0].level[0].error, &state_error, sizeof state_error);
    lgv_convergence_clear(&c);
    o.weak = true;
    o.observe = "positions,x,y";
    c = study(plane, &o, 1, 256, 1, 0);
    for (size_t k = 0; k < 2; k++) {
        const struct lgv_convergence_level *p = &c.method[k].level[0], *x = &c.method[2 + k].level[0],
                                           *y = &c.method[4 + k].level[0];
        assert_near(p->error, hypot(x->error, y->error), 1e-12 * p->error, "weak error of the positions");
        assert_near(p->stderror, hypot(x->stderror, y->stderror), 1e-12 * p->stderror, "its standard error");
    }
    lgv_convergence_clear(&c);
}

static void test_refusals(void **state) {
    (void)state;
    static const struct lgv_convergence_options bad[] = {
        {.methods = "VZc"},                /* h(q,p) */
        {.methods = "P1N1Q2Gau,VZc"},      /* one of two */
        {.methods = "P1N1Q2Gau,midpoint"}, /* twice the same */
        {.steps = "0.1,0.07"},             /* no shared paths */
        {.steps = "0.1"},                  /* no order from one step */
        {.steps = "0.1,0.1"},
        {.weak = true, .observe = "nothing"},
        {.weak = true, .reference = "exact"},
        {.observe = "q", .reference = "exact"},
        {.observe = "q,nothing"},
        {.observe = "q,q"},
        {.reference = "VZc"},
        {.largest = 5}, /* longer than the run */
    };
    struct lgv_model *m = model_of(KUBO);
    struct lgv_settings s = settings_of(m);
    s.until = 3.2;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct lgv_convergence c;
        struct lgv_error err = {0};
        assert_int_equal(lgv_converge(m, &s, &bad[i], NULL, NULL, &c, &err), LGV_BAD_INPUT);
        assert_true(err.message[0] != '\0');
    }
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kubo),
        cmocka_unit_test(test_synchrotron),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_standard_error),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_better_and_worse),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_round_off),
        cmocka_unit_test(test_quantities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
