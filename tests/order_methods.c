/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The strong order of every named method, fitted on shared Brownian paths: on the Kubo oscillator against its exact
 * solution and on the synchrotron problem against a fine solution, both with noise strong enough that the order of the
 * noise terms shows at these steps. */
#include "helpers.h"
#include "study/study.h"

#define KUBO                                                                                                           \
    "parameters: {beta: 1}\ncoordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + q^2/2\nnoise: beta*H\n"         \
    "exact:\n  q: p0*sin(t + beta*W[1]) + q0*cos(t + beta*W[1])\n  p: p0*cos(t + beta*W[1]) - q0*sin(t + beta*W[1])\n"
#define SYNCHROTRON                                                                                                    \
    "parameters: {beta: 2}\ncoordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\nnoise: beta*sin(q)\n"

/* Methods of higher order without noise: on Kubo their step is exact to higher powers of dt + beta dW, so the fit there
 * is larger. */
static bool better_on_kubo(const struct lgv_method *m) {
    return m->order > 2 && (m->strong_order == 1 || m->quadratic_invariants);
}

/* All methods that fit the model, as a list for lgv_converge. */
static void list_methods(struct lgv_model *m, char *list, size_t size) {
    struct lgv_structure s;
    char why[400];
    const struct lgv_method *method;
    assert_int_equal(lgv_model_structure(m, &s, NULL), LGV_OK);
    list[0] = 0;
    for (size_t i = 0; (method = lgv_method_at(i)); i++) {
        size_t used = strlen(list);
        if (lgv_method_refusal(method, m, &s, why, sizeof why)) continue;
        snprintf(list + used, size - used, "%s%s", used ? "," : "", method->name);
    }
}

/* Some of the methods at a time: a study takes at most LGV_CONVERGE_METHODS.  A finite range of steps bends a fit: 0.12
 * covers what the theory leaves at these steps (largest seen 0.09), 3 standard errors the statistics. */
static size_t check_orders(const char *text, const char *names, bool kubo) {
    struct lgv_model *m = model_of(text);
    struct lgv_settings s = settings_of(m);
    struct lgv_convergence_options o = {.methods = names, .largest = 0.02, .levels = 4};
    struct lgv_convergence c;
    struct lgv_error err = {0};
    s.until = 1;
    s.paths = 1024;
    s.seed = 3;
    if (lgv_converge(m, &s, &o, NULL, NULL, &c, &err) != LGV_OK) fail_msg("%s", err.message);
    for (size_t k = 0; k < c.nmethods; k++) {
        const struct lgv_convergence_method *x = &c.method[k];
        bool better = kubo && better_on_kubo(x->method);
        print_message("%s: order %.3f +- %.3f, expected %g%s\n", x->method->name, x->order, x->order_stderr,
                      x->expected, better ? " or more" : "");
        assert_true(better || x->order_stderr < 0.05);
        if (better)
            assert_true(x->order > x->expected - 3 * x->order_stderr);
        else
            assert_true(fabs(x->order - x->expected) <= 3 * x->order_stderr + 0.12);
    }
    size_t count = c.nmethods;
    lgv_convergence_clear(&c);
    lgv_model_free(m);
    return count;
}

static void check_model(const char *text, bool kubo, size_t least) {
    struct lgv_model *m = model_of(text);
    char list[2048];
    list_methods(m, list, sizeof list);
    lgv_model_free(m);
    size_t count = 0;
    for (char *rest = list; rest;) {
        char *names = rest, *end = rest;
        for (size_t n = 0; end && n < LGV_CONVERGE_METHODS / 2; n++) end = strchr(n ? end + 1 : end, ',');
        rest = end ? end + 1 : NULL;
        if (end) *end = 0;
        count += check_orders(text, names, kubo);
    }
    assert_true(count >= least);
}

static void test_kubo(void **state) {
    (void)state;
    check_model(KUBO, true, 16);
}

static void test_synchrotron(void **state) {
    (void)state;
    check_model(SYNCHROTRON, false, 24);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kubo), cmocka_unit_test(test_synchrotron)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
