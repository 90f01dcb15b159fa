/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What descriptions promise, on the models where the promise is easily broken: formulas that depend on t, kinetic
 * energies that are not quadratic, several noises. */
#include "helpers.h"

struct measured {
    double order, error, expected; /* expected: what the description promises for this model */
    char why[200];
};

/* The fitted orders on shared paths against a fine solution of `reference`; observe: of its mean, else strong. */
static size_t orders_of(const char *text, const char *methods, const char *reference, const char *observe,
                        double largest, size_t levels, uint64_t paths, struct measured *out) {
    struct lgv_model *m = model_of(text);
    struct lgv_convergence c = converge_of(m, methods, reference, observe, largest, levels, 1, paths);
    size_t count = c.nmethods;
    for (size_t k = 0; k < count; k++) {
        const struct lgv_convergence_method *x = &c.method[k];
        out[k] = (struct measured){.order = x->order, .error = x->order_stderr, .expected = x->expected};
        snprintf(out[k].why, sizeof out[k].why, "%s", x->expected_reason);
        print_message("%s: order %.3f +- %.3f, promised %g (%s)\n", x->method->name, x->order, x->order_stderr,
                      x->expected, x->expected_reason);
    }
    lgv_convergence_clear(&c);
    lgv_model_free(m);
    return count;
}

static struct measured strong_order(const char *text, const char *method, const char *reference, double largest,
                                    size_t levels, uint64_t paths) {
    struct measured x;
    orders_of(text, method, reference, NULL, largest, levels, paths, &x);
    return x;
}

/* A finite range of steps bends a fit by up to 0.12; a wrong order is off by a half. */
static void assert_order(const struct measured *x, double want) {
    assert_near(x->expected, want, 0, "promised order");
    assert_near(x->order, want, 0.12 + 3 * x->error, "measured order");
}

/* ---- explicit time in the kinetic energy ---- */

#define PULSED                                                                                                         \
    "coordinates: {q: 0.5}\nmomenta: {p: 1}\n"                                                                         \
    "hamiltonian: (1 + 0.8*sin(5*t))*p^2/2 + 0.5*p*cos(4*t) - cos(q)*(1 + 0.5*cos(3*t))\n"

static void test_mrt32_in_time(void **state) {
    (void)state;
    struct measured quiet = strong_order(PULSED, "MRT32", "P3N3Q6Gau", 0.05, 4, 16);
    assert_order(&quiet, 2);
    struct measured noisy =
        strong_order(PULSED "noise: 2*sin(q)*(1 + 0.5*sin(2*t))\n", "MRT32", "LobZ", 0.02, 4, 512);
    assert_order(&noisy, 1.5);
}

/* ---- additive noise and kinetic energies that are not quadratic ---- */

#define PUSHED "coordinates: {q: 0.5}\nmomenta: {p: 0.5}\nnoise: [q]\n"
#define OWN_VZ                                                                                                         \
    "methods: {Own: {degree: 2, nodes: [0, 1], weights: [1/2, 1/2], noise_weights: [0, 1], j_weights: [1, -1]}}\n"

static void test_additive(void **state) {
    (void)state;
    struct measured x = strong_order(PUSHED "hamiltonian: p^2/2 - cos(q)\n", "VZ", "VZc", 0.04, 3, 16);
    assert_near(x.expected, 1.5, 0, "promised order");
    assert_true(x.order > 1.4); /* mild noise: the order without noise shows */
    x = strong_order(PUSHED "hamiltonian: p^2/2 + p^4/4 - cos(q)\n", "VZ", "MRT32", 0.04, 4, 256);
    assert_order(&x, 1);
    assert_non_null(strstr(x.why, "constant masses"));
    x = strong_order(PUSHED "hamiltonian: (1 + 0.5*cos(q))*p^2/2 - cos(q)\n", "VZ", "Taylor15", 0.04, 3, 256);
    assert_order(&x, 1);
    x = strong_order(PUSHED "hamiltonian: p^2/2 + p^4/4 - cos(q)\n" OWN_VZ, "Own", "MRT32", 0.04, 3, 256);
    assert_order(&x, 1);
}

/* ---- weak order 2 where the strong order is 3/2 ---- */

#define QUARTIC                                                                                                        \
    "coordinates: {q: 1}\nmomenta: {p: 0}\nhamiltonian: p^2/2 + q^4/4\nnoise: sin(2*q)\nobserve: {square: p^2}\n"

static void test_weak(void **state) {
    static const char *const promise[] = {"VZc", "LobZ", "MRT32", "Taylor15", "Lobatto3-W1", "Lobatto3-W2"};
    struct measured x[4];
    (void)state;
    size_t count = orders_of(QUARTIC, "VZc,MRT32,Taylor15,Lobatto3-W1", "LobZ", "square", 0.125, 3, 49152, x);
    for (size_t k = 0; k < count; k++) {
        assert_order(&x[k], 2);
        assert_true(x[k].error < 0.1); /* far from order 3/2 */
    }
    for (int k = 0; k < 6; k++)
        assert_near(lgv_method_find(promise[k])->weak_order, 2, 0, "weak order of the description");
    orders_of(PUSHED "hamiltonian: p^2/2 - cos(q)\n", "VZ", "VZc", "H", 0.25, 2, 64, x);
    assert_near(x->expected, 2, 0, "weak order of VZ where its strong order is 3/2");
    orders_of(PUSHED "hamiltonian: p^2/2 + p^4/4 - cos(q)\n", "VZ", "MRT32", "H", 0.25, 2, 64, x);
    assert_near(x->expected, 1, 0, "and where it is not");
}

/* ---- the Taylor scheme with several noises ---- */

static void test_taylor(void **state) {
    (void)state;
    struct measured x = strong_order("coordinates: {x: 0.5, y: 0.3}\nmomenta: {px: 0.5, py: 1}\n"
                                     "hamiltonian: px^2/2 + py^2 + px*py/2 + x^4/4 + cos(x - y)\n"
                                     "noise: [1.5*sin(x + y), cos(2*x)*y]\n",
                                     "Taylor15", "VZc", 0.02, 4, 512);
    assert_order(&x, 1.5);
    x = strong_order("coordinates: {q: 0.5}\nmomenta: {p: 0.5}\nhamiltonian: (1 + 0.5*cos(q))*p^2/2 + q^2/2\n"
                     "noise: [1.5*sin(q), cos(2*q)]\n",
                     "Taylor15", "LobZ", 0.02, 4, 512);
    assert_order(&x, 1.5);
    struct lgv_model *m = model_of("coordinates: {q: 0.5}\nmomenta: {p: 0.5}\nhamiltonian: p^2/2\nnoise: [q^2, p^2]\n");
    struct lgv_structure s;
    char why[400];
    assert_int_equal(lgv_model_structure(m, &s, NULL), LGV_OK);
    assert_non_null(lgv_method_refusal(lgv_method_find("Taylor15"), m, &s, why, sizeof why));
    lgv_model_free(m);
}

/* ---- rules of the user ---- */

/* Order min(u, 2s, 2(u - s) + 2) of a rule of order u on degree s; Ralston's rule has order 3, the 3/8 rule order 4. */
static void test_rules(void **state) {
    static const double want[] = {2, 3, 2, 4, 2};
    struct measured x[5];
    struct lgv_model *m = NULL;
    struct lgv_error err = {0};
    (void)state;
    size_t count = orders_of("coordinates: {q: 0.5}\nmomenta: {p: 1}\n"
                             "hamiltonian: (1 + 0.3*sin(q))*p^2/2 - cos(q) + q^3/5\n"
                             "methods:\n  r1: {degree: 1, nodes: [0, 1/2, 3/4], weights: [2/9, 1/3, 4/9]}\n"
                             "  r2: {degree: 2, nodes: [0, 1/2, 3/4], weights: [2/9, 1/3, 4/9]}\n"
                             "  r3: {degree: 3, nodes: [0, 1/2, 3/4], weights: [2/9, 1/3, 4/9]}\n"
                             "  e3: {degree: 3, nodes: [0, 1/3, 2/3, 1], weights: [1/8, 3/8, 3/8, 1/8]}\n"
                             "  e4: {degree: 4, nodes: [0, 1/3, 2/3, 1], weights: [1/8, 3/8, 3/8, 1/8]}\n",
                             "r1,r2,r3,e3,e4", "P4N4Q8Gau", NULL, 0.1, 3, 1, x);
    for (size_t k = 0; k < count; k++) {
        assert_near(x[k].expected, want[k], 0, "promised order");
        assert_near(x[k].order, want[k], 0.15, "measured order");
    }
    assert_int_equal(lgv_model_parse("coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + q^2/2\n"
                                     "methods: {weak: {degree: 2, nodes: [0, 1], weights: [1/4, 3/4]}}\n",
                                     "test.yaml", &m, &err),
                     LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "does not converge"));
}

/* ---- rotations ---- */

/* Strong order 3/2 needs the correction with left-trivialised gradients: without it the order is 1. */
static void test_bodies(void **state) {
    (void)state;
    static const char text[] = "coordinates: {R in SO3: [0.4, 0.1, -0.3], x: 0.2}\n"
                               "momenta: {m: [0.1, 0.2, 2], p: 0.1}\n"
                               "kinetic: {inertia: [[1, 0.2, 0.1], [0.2, 1.4, -0.1], [0.1, -0.1, 1.7]]}\n"
                               "potential: R.zz + 0.3*R.xx*R.yz + x^2/2\nnoise: [1.5*R.zz, 0.8*R.xy, 1.2*x*R.xx]\n";
    struct measured x = strong_order(text, "VZc", "VZc", 0.02, 4, 512);
    assert_order(&x, 1.5);
    x = strong_order(text, "VZ", "VZc", 0.02, 4, 256);
    assert_order(&x, 1);
    x = strong_order(text, "BRB", "VZc", 0.02, 4, 256); /* another method with the same limit */
    assert_order(&x, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mrt32_in_time), cmocka_unit_test(test_additive),
                                       cmocka_unit_test(test_weak), cmocka_unit_test(test_taylor),
                                       cmocka_unit_test(test_rules), cmocka_unit_test(test_bodies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
