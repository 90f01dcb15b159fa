/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Orders of Langevin methods: strong ones by convergence studies on shared Brownian paths, weak ones from the moments
 * of linear equations, without sampling; forces without a potential; and what is left where friction vanishes. */
#include "langevin_linear.h"
#include "study/study.h"

static struct lgv_convergence study_of(const char *text, const char *methods, double until, double largest_step,
                                       size_t levels, uint64_t paths) {
    struct lgv_model *m = model_of(text);
    struct lgv_settings s = settings_of(m);
    struct lgv_convergence_options o = {.methods = methods, .largest = largest_step, .levels = levels};
    struct lgv_convergence c;
    struct lgv_error err = {0};
    s.until = until;
    s.paths = paths;
    if (lgv_converge(m, &s, &o, NULL, NULL, &c, &err) != LGV_OK) fail_msg("%s", err.message);
    lgv_model_free(m);
    return c;
}

static void check_orders(const struct lgv_convergence *c, const double *want, size_t count) {
    for (size_t k = 0; k < count; k++) {
        const struct lgv_convergence_method *r = &c->method[k];
        print_message("%s: order %.3f +- %.3f\n", r->method->name, r->order, r->order_stderr);
        assert_true(r->order_stderr < 0.05);
        assert_near(r->order, want[k], 4 * r->order_stderr + 0.03, r->method->name);
        assert_int_not_equal(r->verdict, LGV_ORDER_DIFFERS);
    }
}

#define PENDULUM "coordinates: {q: 0.3}\nmomenta: {p: 0.9}\nhamiltonian: p^2/2 - cos(q)\n"

/* Methods with one, two and two spans of noise in a step share their paths: a wrong sharing has errors of order 0. */
static void test_strong(void **state) {
    (void)state;
    static const double want[] = {2, 2, 1, 1, 1, 1};
    struct lgv_convergence c = study_of(PENDULUM "langevin: {friction: 0.8, temperature: 0.7}\n",
                                        "UBU,BUB,BAOAB,SVE-Q,EEM,OBABO", 2, 0.1, 4, 512);
    assert_string_equal(c.reference->name, "UBU");
    check_orders(&c, want, 6);
    lgv_convergence_clear(&c);
}

/* The same with a friction matrix and other noise beside the bath: order 1 all. */
static void test_strong_matrix(void **state) {
    (void)state;
    static const double want[] = {2, 1};
    struct lgv_convergence c =
        study_of("coordinates: {x: 0.3, y: 0}\nmomenta: {u: 0.9, v: 0.1}\n"
                 "hamiltonian: u^2/2 + v^2 + 0.4*u*v - cos(x) - cos(x - y)\n"
                 "langevin: {friction: [[0.8, 0.3], [0.3, 0.5]], temperature: 0.7}\n",
                 "BUB,BBK", 1, 0.1, 3, 512);
    check_orders(&c, want, 2);
    lgv_convergence_clear(&c);
    c = study_of("coordinates: {q: 0.3}\nmomenta: {p: 0.9}\nhamiltonian: p^2/2 - cos(q)\n"
                 "langevin: {friction: 0.5 + q^2, temperature: 0.7}\n", "OBABO,EEM", 1, 0.05, 3, 512);
    assert_near(c.method[0].order, 1, 4 * c.method[0].order_stderr + 0.05, "OBABO, friction of q");
    assert_true(lgv_convergence_judge(&c) != LGV_CONVERGENCE_BROKEN);
    lgv_convergence_clear(&c);
}

/* ---- weak order ---- */

/* Largest error of mean and covariance at time 1 against the exact law, from the maps of the compiled steps. */
static double weak_error(const struct lgv_kernel *k, const struct oscillators *o, int steps) {
    matrix zero = zeros(o->n, o->n);
    struct gaussian exact = flow(field_of(o, true), four_blocks(zero, zero, zero, noise_of(o)), 1);
    struct gaussian one = map_of(k, 1.0 / steps), all = certain(identity(2 * o->n));
    for (int i = 0; i < steps; i++) all = follow(all, one);
    return (double)fmaxl(largest(sum(all.A, -1, exact.A)), largest(sum(all.Q, -1, exact.Q)));
}

static void test_weak(void **state) {
    (void)state;
    static const struct {
        const char *method;
        double order;
    } row[] = {{"BAOAB", 2}, {"OBABO", 2}, {"ABOBA", 2}, {"OABAO", 2}, {"UBU", 2},           {"BUB", 2},
               {"BAOA", 1},  {"SVE-Q", 1}, {"SVE-QI", 1}, {"EEM", 1},  {"P2N2Q2Lob-GLA", 2}, {"P1N1Q2Gau-GLA", 2},
               {"UB", 1},    {"BBK", 2}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct oscillators *o = &oscillators[0];
        struct lgv_model *m = model_of(o->text);
        struct lgv_kernel k = kernel_with(m, row[i].method, 2, NULL);
        double order = log2(weak_error(&k, o, 40) / weak_error(&k, o, 80));
        print_message("%s: weak order %.3f\n", row[i].method, order);
        assert_near(order, row[i].order, 0.08, row[i].method);
        assert_true(k.method->bath_weak == row[i].order);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

/* ---- forces ---- */

/* A force that has a potential after all: the paths are those of the model with that potential. */
static void test_force_with_potential(void **state) {
    (void)state;
    static const char *const method[] = {"BAB", "RATTLE", "BAOAB", "SVE-Q", "BBK", "EEM", "IEM"};
    static const char with[] = "coordinates: {x: 0.4, y: -0.2}\nmomenta: {u: -0.3, v: 0.5}\n"
                               "hamiltonian: u^2/2 + v^2/2 - cos(x)%s\n%s%s";
    static const char bath[] = "langevin: {friction: 0.7, temperature: 0.4}\n";
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        char text[2][400];
        double x[2][4];
        for (int i = 0; i < 2; i++) {
            snprintf(text[i], sizeof text[i], with, i ? "" : " + x^2*y + cos(t)*y",
                     i ? "force: [-2*x*y, -x^2 - cos(t)]\n" : "", k > 1 ? bath : "");
            struct lgv_model *m = model_of(text[i]);
            struct lgv_kernel kernel = kernel_with(m, method[k], 2, NULL);
            double y[] = {0.4, -0.2, -0.3, 0.5};
            for (uint64_t step = 0; step < 20; step++) assert_true(one_step_of(&kernel, 0, 0.1, 3, 1, step, y));
            memcpy(x[i], y, sizeof y);
            lgv_kernel_free(&kernel);
            lgv_model_free(m);
        }
        for (int i = 0; i < 4; i++) assert_near(x[0][i], x[1][i], 1e-13, method[k]);
    }
}

/* Friction as a force is friction at zero temperature, and orders with forces of velocities are those promised. */
static void test_force_of_velocities(void **state) {
    (void)state;
    static const double want[] = {2, 4, 4, 1};
    struct lgv_convergence c =
        study_of(PENDULUM "force: -0.5*p^3 - 0.3*p\n", "BAB,RKN6,RK4,SVE-Q", 1, 0.2, 4, 1);
    for (size_t k = 0; k < 4; k++) {
        print_message("%s: order %.3f\n", c.method[k].method->name, c.method[k].order);
        assert_near(c.method[k].order, want[k], 0.1, c.method[k].method->name);
        assert_int_not_equal(c.method[k].verdict, LGV_ORDER_DIFFERS);
    }
    lgv_convergence_clear(&c);
    struct lgv_model *cold = model_of(PENDULUM "langevin: {friction: 0.3, temperature: 0}\n"),
                     *pushed = model_of(PENDULUM "force: -0.3*p\n");
    struct lgv_kernel a = kernel_with(cold, "SVE-Q", 2, NULL), b = kernel_with(pushed, "SVE-Q", 2, NULL);
    double x[] = {0.3, 0.9}, y[] = {0.3, 0.9};
    for (uint64_t step = 0; step < 20; step++) {
        one_step_of(&a, 0, 0.1, 3, 1, step, x);
        one_step_of(&b, 0, 0.1, 3, 1, step, y);
    }
    for (int i = 0; i < 2; i++) assert_near(x[i], y[i], 1e-14, "friction as a force");
    lgv_kernel_free(&a);
    lgv_kernel_free(&b);
    lgv_model_free(cold);
    lgv_model_free(pushed);
}

#define PUSHED                                                                                                         \
    "coordinates: {x: 0.3, y: 0.1}\nmomenta: {u: 0.9, v: -0.2}\nhamiltonian: u^2/2 + v^2/2 - cos(x) + x*y^2\n"         \
    "force: {x: 0.7*v - u - 2*y, y: 0.8*x - v + x*u}\n"

static double promised(struct lgv_model *m, const char *method, bool weak) {
    struct lgv_structure s;
    struct lgv_error err = {0};
    if (lgv_model_structure(m, &s, &err) != LGV_OK) fail_msg("%s", err.message);
    const struct lgv_method *x = lgv_method_find(method);
    return weak ? lgv_method_weak_order(x, &s, m->nnoise, NULL) : lgv_method_strong_order(x, &s, m->nnoise, NULL);
}

static void end_of(const struct lgv_kernel *k, int steps, double x[static 4]) {
    static const double start[] = {0.3, 0.1, 0.9, -0.2};
    memcpy(x, start, sizeof start);
    for (int i = 0; i < steps; i++) assert_true(one_step_of(k, (double)i / steps, 1.0 / steps, 3, 1, (uint64_t)i, x));
}

/* A force of velocities sees the bath inside a step, so that drift and bath together are of strong order 1; and
 * methods that take it at momenta that are there already have weak order 1.  At temperature 0 that is the order of one
 * path. */
static void test_force_of_velocities_in_a_bath(void **state) {
    (void)state;
    static const double want[] = {1, 1, 1};
    struct lgv_convergence c = study_of(PUSHED "langevin: {friction: 0.8, temperature: 0.7}\n", "UBU,BUB,BAOAB", 1, 0.1,
                                        3, 512);
    check_orders(&c, want, 3);
    lgv_convergence_clear(&c);
    static const struct {
        const char *method;
        double weak;
    } row[] = {{"UBU", 2}, {"BAOAB", 2}, {"RATTLE-GLA", 2}, {"BBK", 1}, {"SVE-Q", 1}, {"SVE-QI", 1}};
    struct lgv_model *m = model_of(PUSHED "langevin: {friction: 0.8, temperature: 0}\n");
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_kernel k = kernel_with(m, row[i].method, 2, NULL);
        double x[3][4], far = 0, near = 0;
        for (int j = 0; j < 3; j++) end_of(&k, 40 << j, x[j]);
        for (int j = 0; j < 4; j++) {
            far = fmax(far, fabs(x[0][j] - x[1][j]));
            near = fmax(near, fabs(x[1][j] - x[2][j]));
        }
        print_message("%s: order %.3f at temperature 0\n", row[i].method, log2(far / near));
        assert_near(log2(far / near), row[i].weak, 0.1, row[i].method);
        assert_near(promised(m, row[i].method, true), row[i].weak, 0, row[i].method);
        assert_near(promised(m, row[i].method, false), 1, 0, row[i].method);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* ---- without friction ---- */

/* SVE-Q and SVE-QI are the word BA, BBK is BAB: bit by bit, with other noise too. */
static void test_no_friction(void **state) {
    (void)state;
    static const char *const pair[][2] = {{"SVE-Q", "BA"}, {"SVE-QI", "BA"}, {"BBK", "BAB"}};
    static const char text[] = "parameters: {g: 0}\n" PENDULUM "%s";
    struct lgv_model *plain = model_of(PENDULUM), *bath = NULL, *pushed = model_of(PENDULUM "force: [0*t]\n");
    char with[300];
    snprintf(with, sizeof with, text, "langevin: {friction: g, temperature: 0.7}\n");
    bath = model_of(with);
    for (size_t i = 0; i < 3; i++) {
        struct lgv_kernel a = kernel_with(bath, pair[i][0], 2, NULL), b = kernel_with(plain, pair[i][1], 2, NULL),
                          none = kernel_with(pushed, pair[i][0], 2, NULL);
        double x[] = {0.3, 0.9}, y[] = {0.3, 0.9}, z[] = {0.3, 0.9};
        for (uint64_t step = 0; step < 50; step++) {
            one_step_of(&a, 0, 0.1, 3, 1, step, x);
            one_step_of(&b, 0, 0.1, 3, 1, step, y);
            one_step_of(&none, 0, 0.1, 3, 1, step, z);
        }
        assert_memory_equal(x, y, sizeof x);
        assert_memory_equal(z, y, sizeof x);
        lgv_kernel_free(&a);
        lgv_kernel_free(&b);
        lgv_kernel_free(&none);
    }
    lgv_model_free(plain);
    lgv_model_free(pushed);
    lgv_model_free(bath);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strong),
        cmocka_unit_test(test_strong_matrix),
        cmocka_unit_test(test_weak),
        cmocka_unit_test(test_force_with_potential),
        cmocka_unit_test(test_force_of_velocities),
        cmocka_unit_test(test_force_of_velocities_in_a_bath),
        cmocka_unit_test(test_no_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
