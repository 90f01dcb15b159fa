/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Corrections of H by noise h(q), computed from the coefficients of a method (src/method/variational.c): the numbers
 * themselves, methods that are the same by two routes, orders with and without, structure, and what is refused. */
#include "helpers.h"
#include "stats/stats.h"

/* Two degrees of freedom that masses and potential couple, two noises. */
#define COUPLED                                                                                                        \
    "coordinates: {x: 0.4, y: -0.3}\nmomenta: {u: 0.3, v: 0.2}\n"                                                      \
    "hamiltonian: u^2/2 + v^2/3 + 0.3*u*v + x^2*y^2/2 + (x^4 + y^2)/4\nnoise: [1.6*sin(x + 2*y), 1.2*cos(2*x)*y]\n"
/* H_pp depends on q and p. */
#define CURVED                                                                                                         \
    "coordinates: {x: 0.5, y: -0.2}\nmomenta: {u: 0.3, v: 0.1}\n"                                                      \
    "hamiltonian: (1 + 0.3*cos(x))*u^2/2 + sqrt(1 + v^2) + x^4/4 + y^2/2 + 0.2*x*y*u\n"                                \
    "noise: [1.5*sin(x + y), 1.2*cos(2*y)]\n"
#define QUARTIC "coordinates: {q: 0.5}\nmomenta: {p: 0.3}\nhamiltonian: p^2/2 + q^4/4\nnoise: 2*sin(2*q)\n"
#define SPHERE                                                                                                         \
    "coordinates: {x: 1, y: 0, z: 0}\nmomenta: {u: 0, v: 0.4, w: 0.3}\nhamiltonian: (u^2 + v^2 + w^2)/2 + z\n"         \
    "constraints: x^2 + y^2 + z^2 - 1\nnoise: [0.9*sin(2*x) + 0.5*y*z, 0.8*z^2 + 0.6*y]\n"
#define STAGES "a: [[0, 0, 0], [5/24, 1/3, -1/24], [1/6, 2/3, 1/6]], weights: [1/6, 2/3, 1/6]"
#define RULE "degree: 2, nodes: [0.1, 0.9], weights: [1/2, 1/2], j_weights: [5/4, -5/4], noise_weights: [-1/8, 9/8]"
#define OWN                                                                                                            \
    "methods:\n  Bare: {" RULE "}\n  Mean: {" RULE ", correction: mean}\n  Free: {" RULE ", correction: random}\n"

static void test_numbers(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double correction, strong, additive, weak;
    } row[] = {
        {"VZc", 1.0 / 12, 1.5, 1.5, 2},          {"RATTLE-Jc", 1.0 / 12, 1.5, 1.5, 2},
        {"P2N2Q2Lob-Jc", 1.0 / 12, 1.5, 1.5, 2}, {"RATTLE-weak2", 1.0 / 8, 1, 1, 2},
        {"P1N1Q2Gau-c", 1.0 / 8, 1, 1, 2},       {"P2N2Q4Gau-c", 1.0 / 12, 1, 1, 2},
        {"P2N2Q4Gau-J", 0, 1, 1.5, 1},           {"P2N2Q4Gau-Jc", 1.0 / 24, 1.5, 1.5, 2},
        {"P3N3Q6Gau-Jc", 1.0 / 30, 1.5, 1.5, 2}, {"P2N3Q4Lob-Jc", 1.0 / 24, 1.5, 1.5, 2},
        {"Lobatto3-Jc", 1.0 / 24, 1.5, 1.5, 2},  {"P3N4Q6Lob-Jc", 1.0 / 30, 1.5, 1.5, 2},
        {"Lobatto4-Jc", 1.0 / 30, 1.5, 1.5, 2},  {"LobZ", 0, 1.5, 1.5, 2},
        {"Lobatto3-W1", 0, 1.5, 1.5, 2},         {"Lobatto3-W2", 0, 1.5, 1.5, 2},
        {"RATTLE-J", 0, 1, 1.5, 1},              {"Lobatto3", 0, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct lgv_method *m = lgv_method_find(row[i].name);
        if (!m) fail_msg("%s is no method", row[i].name);
        assert_near(m->correction, row[i].correction, 1e-16, row[i].name);
        assert_near(m->strong_order, row[i].strong, 0, row[i].name);
        assert_near(m->strong_additive, row[i].additive, 0, row[i].name);
        assert_near(m->weak_order, row[i].weak, 0, row[i].name);
        assert_true(m->additive_quadratic == (row[i].additive > row[i].strong));
    }
    assert_true(lgv_method_find("RATTLE-Jc")->correction == 1.0 / 12);
    assert_true(lgv_method_find("RATTLE-weak2")->correction == 1.0 / 8);
}

/* ---- the same method by two routes ---- */

/* q and p of path 3 after 20 steps. */
static void walk(const char *text, const char *method, double *x) {
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, method);
    struct lgv_own_block b;
    size_t lanes = k.entry->lanes;
    assert_true(lgv_block_create(&k, 0, 0.05, 5, 1, &b));
    for (size_t l = 0; l < lanes; l++) b.path[l] = 3;
    k.entry->start(&b.block);
    k.entry->advance(&b.block, 20);
    for (size_t i = 0; i < 4; i++) x[i] = b.block.state[i * lanes];
    assert_int_equal(b.block.fail[0], 0);
    lgv_block_free(&b);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

static double apart(const char *text, const char *one, const char *other) {
    double a[4], b[4], most = 0;
    walk(text, one, a);
    walk(text, other, b);
    for (int i = 0; i < 4; i++) most = fmax(most, fabs(a[i] - b[i]));
    print_message("%s and %s: %.1e\n", one, other, most);
    return most;
}

static void test_routes(void **state) {
    (void)state;
    assert_true(apart(COUPLED, "P2N2Q2Lob-Jc", "VZc") < 1e-13);   /* nodes at the ends, and Stoermer-Verlet */
    assert_true(apart(CURVED, "P2N2Q2Lob-Jc", "VZc") < 1e-12);    /* the same with H_pp */
    assert_true(apart(COUPLED, "P2N3Q4Lob-Jc", "Lobatto3-Jc") < 1e-12); /* symbolic, and by second derivatives */
    assert_true(apart(COUPLED, "P3N4Q6Lob-Jc", "Lobatto4-Jc") < 1e-12);
    assert_true(apart(COUPLED, "LobZ", "Lobatto3-W1") < 1e-12);
    assert_true(apart(COUPLED, "general-P2N2Q4Gau-Jr", "P2N2Q4Gau-Jr") < 1e-12);
    assert_true(apart(COUPLED, "P2N2Q4Gau-J", "P2N2Q4Gau-Jc") > 1e-5);
}

/* The random coefficient.  u = W1, v = W2, and a and b are the integrals of u u and u v: a step gives their means given
 * dW and y.  H_pp is singular at the start: methods with as many nodes as degrees do not invert it. */
static void test_random(void **state) {
    (void)state;
    enum { PATHS = 64 };
    const double dt = 0.25;
    static const char *const method[] = {"P2N2Q2Lob-Jr", "P2N2Q4Gau-Jr"};
    struct lgv_model *m = model_of("coordinates: {x: 0, y: 0, a: 0, b: 0}\nmomenta: {u: 0, v: 0, f: 1, g: 1}\n"
                                   "hamiltonian: u^2*f + u*v*g\nnoise: [-x, -y]\n");
    for (size_t j = 0; j < 2; j++) {
        struct lgv_kernel k = kernel_of(m, method[j]);
        const size_t n = k.watch.count, a = watch_number(&k, "a"), b = watch_number(&k, "b");
        double *x = final_values(&k, dt, 1, PATHS, 23, 1), w[2], y[2];
        for (size_t i = 0; i < PATHS; i++) {
            first_noise(&k, dt, 23, i, w, y);
            double one = mean_product(dt, w, y, 0, 0), two = mean_product(dt, w, y, 0, 1);
            assert_near(x[i * n + a], dt * one, 1e-13, method[j]);
            assert_near(x[i * n + b], dt * two, 1e-13, method[j]);
        }
        free(x);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* ---- orders ---- */

struct measured {
    double order, error, expected, smallest;
};

static void orders(const char *text, const char *methods, const char *reference, const char *observe, double largest,
                   size_t levels, uint64_t paths, struct measured *out) {
    const double until = observe ? 1 : 0.64;
    struct lgv_model *m = model_of(text);
    struct lgv_convergence c = converge_of(m, methods, reference, observe, largest, levels, until, paths);
    for (size_t k = 0; k < c.nmethods; k++) {
        const struct lgv_convergence_method *x = &c.method[k];
        out[k] = (struct measured){x->order, x->order_stderr, x->expected, x->level[levels - 1].error};
        print_message("%s: order %.3f +- %.3f, promised %g, smallest error %.3g\n", x->method->name, x->order,
                      x->order_stderr, x->expected, out[k].smallest);
    }
    lgv_convergence_clear(&c);
    lgv_model_free(m);
}

/* A finite range of steps bends a fit by up to 0.12; a wrong order is off by a half. */
static void assert_orders(const struct measured *x, const double *want, size_t count) {
    for (size_t k = 0; k < count; k++) {
        assert_near(x[k].expected, want[k], 0, "promised order");
        assert_near(x[k].order, want[k], 0.12 + 3 * x[k].error, "measured order");
    }
}

static void test_flat(void **state) {
    (void)state;
    static const double want[] = {1, 1.5, 1.5, 1.5};
    struct measured x[4];
    orders(QUARTIC, "P2N2Q4Gau-J,P2N2Q4Gau-Jc,P2N2Q2Lob-Jc,P2N2Q2Lob-Jr", "LobZ", NULL, 0.01, 3, 768, x);
    assert_orders(x, want, 4);
    assert_true(x[3].smallest < 0.75 * x[2].smallest); /* the random coefficient: 0.6 */
}

static void test_curved(void **state) {
    (void)state;
    static const double want[] = {1, 1.5, 1.5, 1.5};
    struct measured x[4];
    orders(CURVED, "VZ,VZc,P2N2Q4Gau-Jc,P2N2Q4Gau-Jr", "LobZ", NULL, 0.04, 3, 512, x);
    assert_orders(x, want, 4);
}

/* Rules of the user: the order is found from the coefficients. */
static void test_own(void **state) {
    (void)state;
    static const double want[] = {1, 1.5, 1.5};
    struct measured x[3];
    orders(QUARTIC OWN, "Bare,Mean,Free", "LobZ", NULL, 0.01, 3, 768, x);
    assert_orders(x, want, 3);
}

static void test_constrained(void **state) {
    (void)state;
    static const double want[] = {1, 1.5, 1.5};
    struct measured x[3];
    orders(SPHERE "methods:\n  Bare: {" STAGES ", psi_weights: [1/sqrt(12), 0, -1/sqrt(12)]}\n"
                  "  Mean: {" STAGES ", psi_weights: [1/sqrt(12), 0, -1/sqrt(12)], correction: mean}\n",
           "Bare,Mean,Lobatto4-Jc", "RATTLE-Jc", NULL, 0.02, 3, 512, x);
    assert_orders(x, want, 3);
}

static void test_weak(void **state) {
    (void)state;
    static const double want[] = {2, 2};
    struct measured x[2];
    orders("coordinates: {q: 0.5}\nmomenta: {p: 0.5}\nhamiltonian: p^2/2 + q^4/4\nnoise: sin(2*q)\n"
           "observe: {square: p^2}\n",
           "P1N1Q2Gau-c,P2N2Q2Lob-Jr", "LobZ", "square", 0.25, 3, 49152, x);
    assert_near(x[0].expected, want[0], 0, "promised order");
    assert_near(x[1].expected, want[1], 0, "promised order");
    for (int k = 0; k < 2; k++) assert_near(x[k].order, want[k], 0.3 + 3 * x[k].error, "measured order");
}

/* ---- structure ---- */

static double defect(const char *text, const char *method) {
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, method);
    double worst = 0;
    for (uint64_t path = 0; path < 5; path++) {
        double x[] = {0.4 + 0.1 * (double)path, -0.3, 0.2, 0.5 - 0.1 * (double)path};
        struct lgv_defect how = {0};
        double d = lgv_certificate_defect(&k, 0.1, 0.05, 5, path, 7 * path, x, NULL, NULL, NULL, &how);
        assert_true(d >= 0 && how.error < 1e-9);
        worst = fmax(worst, d);
    }
    lgv_kernel_free(&k);
    lgv_model_free(m);
    return worst;
}

static void test_defect(void **state) {
    (void)state;
    static const char *const method[] = {"VZc", "P2N2Q4Gau-Jc", "P2N2Q2Lob-Jr", "P2N3Q4Lob-Jc"};
    for (size_t i = 0; i < 4; i++) {
        double d = defect(CURVED, method[i]);
        print_message("%s: defect %.1e\n", method[i], d);
        assert_true(d < 1e-11);
    }
    assert_true(defect(COUPLED, "Lobatto3-Jc") < 1e-11);
}

/* ---- what is refused ---- */

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *name, *why;
    } row[] = {{"P1N1Q2Gau-Jc", "several nodes"},
               {"P2N2Q4Gau-r", "needs noise weights of J"},
               {"LobZ-c", "nothing to correct"},
               {"P2N2Q4Gau-Jx", "known are -J, -c, -Jc and -Jr"},
               {"P1N1Q2GauN2Q2Lob-J", "no other rule for the noise"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char why[300];
        if (lgv_method_find(row[i].name)) fail_msg("%s should not be", row[i].name);
        lgv_method_explain(NULL, row[i].name, why, sizeof why);
        if (!strstr(why, row[i].why)) fail_msg("%s: %s", row[i].name, why);
    }
    static const struct {
        const char *method, *why;
    } file[] = {{"{degree: 1, nodes: [1/2], weights: [1], correction: random}", "needs noise weights of J"},
                {"{degree: 1, nodes: [1/2], weights: [1], correction: often}", "none, mean or random"},
                {"{degree: 1, nodes: [1/2], weights: [1], psi_weights: [0]}", "a Galerkin method has j_weights"},
                {"{" STAGES ", correction: random}", "for Galerkin methods"}};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        char text[400];
        struct lgv_model *m = NULL;
        struct lgv_error err = {0};
        snprintf(text, sizeof text, "coordinates: {q: 0}\nmomenta: {p: 0}\nhamiltonian: p^2\nmethods: {Own: %s}\n",
                 file[i].method);
        assert_int_equal(lgv_model_parse(text, "own.yaml", &m, &err), LGV_BAD_INPUT);
        if (!strstr(err.message, file[i].why)) fail_msg("%s: %s", file[i].method, err.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_routes), cmocka_unit_test(test_random),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_curved),  cmocka_unit_test(test_own),    cmocka_unit_test(test_constrained),
        cmocka_unit_test(test_weak),    cmocka_unit_test(test_defect), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
