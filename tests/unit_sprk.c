/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods given in the model file: rules of the user against built-in ones, partitioned Runge-Kutta methods against the
 * Galerkin methods they are equal to (Holm & Tyranowski 2018), the symplectic conditions against the measured
 * defect, messages with their places. */
#include "helpers.h"
#include "method/rules.h"

#define ROWS 512
#define NOT_SEPARABLE                                                                                                  \
    "coordinates: {a: 0.7, b: -0.4}\nmomenta: {u: 0.2, v: 0.5}\n"                                                      \
    "hamiltonian: u^2/2 + v^2/2 + a^2*b^2/4 + (a^2 + b^2)/2 + 0.4*a*v + 0.1*sin(t)*a\n"                                \
    "noise: [0.3*(a*u + b^2), 0.4*cos(b)*v]\n"
#define NOISE_OF_Q                                                                                                     \
    "coordinates: {a: 0.7, b: -0.4}\nmomenta: {u: 0.2, v: 0.5}\n"                                                      \
    "hamiltonian: (1 + a^2/2)*u^2/2 + v^2/2 + a^2*b^2/4 + 0.4*a*v\nnoise: [0.4*sin(a*b), 0.3*b^2]\n"
#define SEPARABLE                                                                                                      \
    "coordinates: {a: 0.7, b: -0.4}\nmomenta: {u: 0.2, v: 0.5}\n"                                                      \
    "hamiltonian: u^2/2 + v^2/2 + u*v/4 + u^4/8 + a^2*b^2/4 + cos(a - b)\nnoise: [0.4*sin(a*b), 0.3*b^2]\n"

static struct lgv_kernel kernel_for(struct lgv_model *m, const struct lgv_method *method) {
    struct lgv_kernel k;
    struct lgv_error err = {0};
    assert_non_null(method);
    if (lgv_kernel_build(m, method, &(struct lgv_kernel_options){0}, &k, &err) != LGV_OK) fail_msg("%s", err.message);
    return k;
}

/* Largest difference of two methods of the model over one step from random states with their own increments. */
static double difference(struct lgv_model *m, const char *one, const char *two, double dt) {
    struct lgv_kernel k[2] = {kernel_for(m, lgv_method_for(m, one)), kernel_for(m, lgv_method_for(m, two))};
    uint64_t random = 7;
    double worst = 0;
    for (uint64_t path = 0; path < 40; path++) {
        double x[2][16];
        for (size_t i = 0; i < m->nx + m->np; i++) x[0][i] = x[1][i] = 2 * uniform_of(&random) - 1;
        for (size_t i = 0; i < 2; i++) assert_true(one_step_of(&k[i], 0.3, dt, 11, path, path, x[i]));
        for (size_t i = 0; i < m->nx + m->np; i++) worst = fmax(worst, fabs(x[0][i] - x[1][i]));
    }
    print_message("%s, %s: %.2g\n", one, two, worst);
    lgv_kernel_free(&k[0]);
    lgv_kernel_free(&k[1]);
    return worst;
}

static double defect(struct lgv_model *m, const char *method, double dt) {
    struct lgv_kernel k = kernel_for(m, lgv_method_for(m, method));
    double x[] = {0.7, -0.4, 0.2, 0.5}, worst = 0;
    for (uint64_t path = 0; path < 4; path++) {
        struct lgv_defect how = {0};
        double d = lgv_certificate_defect(&k, 0.1, dt, 5, path, 3 * path, x, NULL, NULL, NULL, &how);
        assert_true(d >= 0);
        worst = fmax(worst, d);
    }
    print_message("%s: defect %.2g\n", method, worst);
    lgv_kernel_free(&k);
    return worst;
}

/* ---- the tableau of a rule with as many nodes as its degree ---- */

static double lagrange_at(const struct lgv_rule *r, int j, double x) {
    double value = 1;
    for (int k = 0; k < r->count; k++)
        if (k != j) value *= (x - r->node[k]) / (r->node[j] - r->node[k]);
    return value;
}

static void tableau_of(const struct lgv_rule *r, const double *beta, struct lgv_tableau *t) {
    struct lgv_galerkin g;
    char why[200];
    assert_true(lgv_galerkin_parse("P4N4Q8Gau", &g, why, sizeof why));
    *t = (struct lgv_tableau){.stages = r->count};
    for (int i = 0; i < r->count; i++) {
        t->alpha[i] = r->weight[i];
        t->beta[i] = beta[i];
        for (int j = 0; j < r->count; j++) /* a_ij = integral of l_j from 0 to c_i */
            for (int k = 0; k < 4; k++)
                t->a[i][j] += r->node[i] * g.rule.weight[k] * lagrange_at(r, j, r->node[i] * g.rule.node[k]);
    }
    for (int i = 0; i < r->count; i++)
        for (int j = 0; j < r->count; j++) {
            t->abar[i][j] = t->alpha[j] * (t->alpha[i] - t->a[j][i]) / t->alpha[i];
            t->b[i][j] = beta[j] * t->a[i][j] / t->alpha[j];
            t->bbar[i][j] = beta[j] * (t->alpha[i] - t->a[j][i]) / t->alpha[i];
        }
}

static void write_row(struct lgv_text *out, const char *before, const double *x, int n, const char *after) {
    lgv_text_add(out, "%s[", before);
    for (int i = 0; i < n; i++) lgv_text_add(out, "%s%.17g", i ? ", " : "", x[i]);
    lgv_text_add(out, "]%s", after);
}

static void write_matrix(struct lgv_text *out, const char *name, double (*x)[LGV_RULE_NODES], int n) {
    lgv_text_add(out, "%s: [", name);
    for (int i = 0; i < n; i++) write_row(out, i ? ", " : "", x[i], n, "");
    lgv_text_add(out, "], ");
}

static void write_tableau(struct lgv_text *out, const char *name, struct lgv_tableau *t) {
    int n = t->stages;
    lgv_text_add(out, "  %s: { ", name);
    write_matrix(out, "a", t->a, n);
    write_matrix(out, "abar", t->abar, n);
    write_matrix(out, "b", t->b, n);
    write_matrix(out, "bbar", t->bbar, n);
    write_row(out, "alpha: ", t->alpha, n, ", ");
    write_row(out, "beta: ", t->beta, n, " }\n");
}

static void rule_named(const char *name, struct lgv_rule *r) {
    struct lgv_galerkin g;
    char why[200];
    assert_true(lgv_galerkin_parse(name, &g, why, sizeof why));
    *r = g.rule;
}

/* Newton's iterations of both forms stop at 1e-15 of the state or better, and the stages add a few roundings more. */
static void test_theorem(void **state) {
    (void)state;
    static const char *const name[] = {"P2N2Q4Gau", "P3N3Q6Gau", "P2N2Q2Otr", "P2N2Q2Lob"};
    static const char *const given[] = {"gauss_2", "gauss_3", "open_2", "lobatto_2"};
    struct lgv_text text = {0};
    lgv_text_add(&text, "%s", NOT_SEPARABLE "methods:\n");
    for (size_t k = 0; k < 4; k++) {
        struct lgv_rule r;
        struct lgv_tableau t;
        rule_named(name[k], &r);
        tableau_of(&r, r.weight, &t);
        write_tableau(&text, given[k], &t);
    }
    struct lgv_model *m = model_of(text.data);
    for (size_t k = 0; k < 4; k++) {
        const struct lgv_method *method = lgv_method_for(m, given[k]);
        assert_true(method->symplectic && method->violation < 1e-15 && method->needs == 0);
        assert_true(method->order == (k == 0 || k == 1 ? 4 : 2)); /* conditions are looked at up to 4 */
        assert_true(method->quadratic_invariants == (k < 2));
        assert_true(difference(m, name[k], given[k], 0.1) < 1e-13);
        assert_true(defect(m, given[k], 0.1) < 1e-11);
    }
    lgv_model_free(m);
    lgv_text_free(&text);
}

/* Own weights of the noise, with h(q): the two parts of K have different coefficients.  On the separable model the
 * stages of the tableau are explicit. */
static void test_noise_weights(void **state) {
    (void)state;
    static const char *const models[] = {NOISE_OF_Q, SEPARABLE};
    double beta[] = {0.2, 0.8};
    for (size_t k = 0; k < 2; k++) {
        struct lgv_text text = {0};
        struct lgv_rule r;
        struct lgv_tableau t;
        rule_named("P2N2Q2Lob", &r);
        tableau_of(&r, beta, &t);
        lgv_text_add(&text,
                     "%smethods:\n  rule: {degree: 2, nodes: [0, 1], weights: [1/2, 1/2], noise_weights: [1/5, 4/5]}\n",
                     models[k]);
        write_tableau(&text, "stages", &t);
        struct lgv_model *m = model_of(text.data);
        assert_true(lgv_method_for(m, "stages")->explicit_separable && lgv_method_for(m, "stages")->symplectic);
        assert_true(lgv_method_for(m, "stages")->needs == LGV_NEEDS_NOISE_OF_Q);
        assert_true(difference(m, "rule", "stages", 0.1) < 1e-13);
        assert_true(difference(m, "P2N2Q2Lob", "stages", 0.1) > 1e-3); /* the weights do something */
        assert_true(defect(m, "stages", 0.1) < 1e-11 && defect(m, "rule", 0.1) < 1e-11);
        lgv_model_free(m);
        lgv_text_free(&text);
    }
}

static void test_rules(void **state) {
    (void)state;
    struct lgv_model *m =
        model_of("parameters: {sixth: 1/6}\n" NOT_SEPARABLE
                 "methods:\n  simpson: {degree: 2, nodes: [0, 1/2, 1], weights: [sixth, 2/3, sixth]}\n");
    const struct lgv_method *mine = lgv_method_for(m, "Simpson"), *built = lgv_method_find("P2N3Q4Lob");
    assert_ptr_equal(lgv_method_for(m, "verlet"), lgv_method_find("P2N2Q2Lob"));
    assert_null(lgv_method_for(m, "simpsons"));
    assert_true(mine->order == built->order && mine->needs == built->needs && mine->symplectic);
    assert_true(difference(m, "simpson", "P2N3Q4Lob", 0.1) <= 1e-15);
    lgv_model_free(m);
    m = model_of(NOISE_OF_Q
                 "methods:\n  two: {degree: 1, nodes: [1/2], weights: [1], noise_nodes: [0, 1], noise_weights: [1/2, "
                 "1/2]}\n  zed: {degree: 2, nodes: [0, 1/2, 1], weights: [1/6, 2/3, 1/6], noise_weights: "
                 "[-sqrt(2)/3, 2*sqrt(2)/3, 1 - sqrt(2)/3], j_weights: [1, 0, -1]}\n");
    assert_true(difference(m, "two", "P1N1Q2GauN2Q2Lob", 0.1) <= 1e-15);
    assert_true(difference(m, "zed", "LobZ", 0.1) <= 1e-14);
    mine = lgv_method_for(m, "zed");
    assert_true(mine->uses_dz && mine->needs == LGV_NEEDS_NOISE_OF_Q && mine->strong_additive == 1.5);
    lgv_model_free(m);
}

/* Two coefficients changed by 0.1: the conditions are violated by alpha_2 * 0.1 = 0.05, the defect is of the order
 * of that times dt^2 and the second derivatives. */
static void test_wrong(void **state) {
    (void)state;
    struct lgv_rule r;
    struct lgv_tableau t;
    const char *condition;
    int i, j;
    rule_named("P2N2Q4Gau", &r);
    for (int k = 0; k < 4; k++) {
        struct lgv_text text = {0};
        tableau_of(&r, r.weight, &t);
        double(*const block[])[LGV_RULE_NODES] = {t.a, t.abar, t.b, t.bbar};
        block[k][1][0] += 0.1;
        block[k][0][0] -= 0.1; /* sum beta_i b_ij stays 1/2: with h(q,p) the method still converges */
        assert_near(lgv_tableau_violation(&t, &condition, &i, &j), 0.05, 1e-15, "violation");
        lgv_text_add(&text, "%s", NOT_SEPARABLE "methods:\n");
        write_tableau(&text, "wrong", &t);
        struct lgv_model *m = model_of(text.data);
        const struct lgv_method *method = lgv_method_for(m, "wrong");
        assert_false(method->symplectic);
        assert_non_null(strstr(method->doc, "Not symplectic"));
        assert_non_null(strstr(method->doc, condition));
        assert_true(method->needs == 0);
        assert_true(defect(m, "wrong", 0.3) > 1e-4);
        lgv_model_free(m);
        lgv_text_free(&text);
    }
}

/* ---- models of C functions ---- */

static void test_callbacks(void **state) {
    (void)state;
    double q0 = 0, p0 = 1;
    struct lgv_rule r;
    struct lgv_tableau t;
    struct lgv_text text = {0};
    static const char *const rules[] = {"P2N2Q4Gau", "P2N2Q2Lob"}, *const given[] = {"gauss_2", "lobatto_2"};
    lgv_text_add(&text,
                 "coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\nnoise: 0.3*sin(q)\nmethods:\n");
    for (size_t k = 0; k < 2; k++) {
        double beta[] = {0.3, 0.7};
        rule_named(rules[k], &r);
        tableau_of(&r, k ? beta : r.weight, &t);
        write_tableau(&text, given[k], &t);
    }
    struct lgv_model *m = model_of(text.data), *c;
    struct lgv_callbacks functions = {.dof = 1,
                                      .noises = 1,
                                      .q0 = &q0,
                                      .p0 = &p0,
                                      .gradient = pendulum_gradient,
                                      .hessian = pendulum_hessian,
                                      .separable = true,
                                      .noise_of_q = true};
    assert_int_equal(lgv_model_from_callbacks(&functions, &c, NULL), LGV_OK);
    for (size_t k = 0; k < 2; k++) {
        const struct lgv_method *method = lgv_method_for(m, given[k]);
        struct lgv_kernel one = kernel_for(m, method), two = kernel_for(c, method);
        for (uint64_t path = 0; path < 20; path++) {
            double x[] = {0.3, 0.9}, y[] = {0.3, 0.9};
            assert_true(one_step_of(&one, 0, 0.2, 3, path, 5, x) && one_step_of(&two, 0, 0.2, 3, path, 5, y));
            assert_near(x[0], y[0], 1e-14, "q");
            assert_near(x[1], y[1], 1e-14, "p");
        }
        lgv_kernel_free(&one);
        lgv_kernel_free(&two);
    }
    lgv_model_free(c);
    lgv_model_free(m);
    lgv_text_free(&text);
}

/* ---- messages ---- */

static void test_messages(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int column;
        const char *want;
    } bad[] = {
        {"{degree: 2, nodes: [0, 1], weights: [1/2, 1/3]}", 42, "must add up to 1"},
        {"{degree: 2, nodes: [0, 1], weights: [1]}", 42, "weights has 1 entry, but nodes has 2"},
        {"{degree: 2, nodes: [1, 1], weights: [1/2, 1/2]}", 29, "given twice"},
        {"{degree: 2, nodes: [0, 3/2], weights: [1/2, 1/2]}", 29, "outside of the step"},
        {"{degree: 3, nodes: [0, 1], weights: [1/2, 1/2]}", 25, "degree 3 needs at least 3 nodes"},
        {"{degree: 1.5, nodes: [0, 1], weights: [1/2, 1/2]}", 15, "whole number"},
        {"{degree: 1, nodes: [0, 1], weights: [1, 0]}", 46, "a node of weight 0"},
        {"{degree: 1, nodes: [q], weights: [1]}", 26, "q"},
        {"{degree: 1, nodes: [0/0], weights: [1]}", 27, "division by zero"},
        {"{degree: 1, node: [1], weights: [1]}", 18, "unknown key node; did you mean nodes?"},
        {"{degree: 1, nodes: [1]}", 3, "weights is missing"},
        {"{degree: 1, nodes: [1], weights: [1], noise_nodes: [0]}", 57, "noise_nodes need noise_weights"},
        {"{degree: 1, nodes: [1], weights: [1], j_weights: [1]}", 55, "must add up to 0"},
        {"{degree: 1, nodes: [1], weights: [1], alpha: [1]}", 51, "alpha belongs to a partitioned"},
        {"{a: [[1]], abar: [[0]], alpha: [1], b: [[1]], bbar: [[0]]}", 3, "beta is missing"},
        {"{a: [[1]], abar: [[0]], alpha: [1], b: [[1]], bbar: [[0, 1]], beta: [1]}", 59,
         "this row has 2 entries, but alpha has 1"},
        {"{a: [[1], [1]], abar: [[0]], alpha: [1], b: [[1]], bbar: [[0]], beta: [1]}", 10,
         "a has 2 entries, but alpha has 1"},
        {"{a: [[1]], abar: [[0]], alpha: [1], b: [[1]], bbar: [[0]], beta: [0.9]}", 71, "beta must add up to 1"},
        {"{a: [[0, 0], [1/2, 1/2]], weights: [1/2, 1/3]}", 41, "weights must add up to 1"},
        {"{a: [[0, 0], [1, 0]], weights: [1, 0]}", 37, "weight 2 is zero"},
        {"{a: [[1/2, 1/2], [1/2, 1/2]], weights: [1/2, 1/2]}", 10, "the first row of a must vanish"},
        {"{a: [[0, 0], [1/2, 1/4]], weights: [1/2, 1/2]}", 10, "its last row must be b (column 2)"},
        {"{a: [[0, 0, 0], [1/12, 1/3, 1/12], [1/6, 2/3, 1/6]], weights: [1/6, 2/3, 1/6]}", 10,
         "the solvability condition fails"},
        {"{a: [[0, 0], [1/2, 1/2]], weights: [1/2, 1/2], noise_weights: [1, 1]}", 68, "noise_weights must add up"},
        {"{a: [[0, 0], [1/2, 1/2]], weights: [1/2, 1/2], psi_weights: [1, 1]}", 66, "psi_weights must add up to 0"},
        {"{a: [[0, 0], [1/2, 1/2]], weights: [1/2, 1/2], degree: 1}", 61, "degree does not belong"},
        {"[1, 2]", 6, "expected the coefficients"},
        {"{degree: 1, nodes: [0, 1/12, 1/11, 1/10, 1/9, 1/8, 1/7, 1/6, 1/5, 1/4, 1/3, 1/2, 1], weights: [1]}", 25,
         "more than 12 entries"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char text[ROWS];
        struct lgv_model *m = NULL;
        struct lgv_error err = {0};
        snprintf(text, sizeof text, "coordinates: {q: 0}\nhamiltonian: p_q^2/2\nmethods:\n  w: %s\n", bad[k].text);
        if (lgv_model_parse(text, "test.yaml", &m, &err) != LGV_BAD_INPUT) fail_msg("taken: %s", text);
        if (!strstr(err.message, bad[k].want)) fail_msg("%s\nwithout '%s'", err.message, bad[k].want);
        if (err.line != 4 || err.column != bad[k].column)
            fail_msg("at %d:%d instead of 4:%d: %s", err.line, err.column, bad[k].column, err.message);
    }
    static const char *const names[] = {"verlet", "P2N2Q4Gau", "lobz", "exact", "a-b"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char text[ROWS];
        struct lgv_model *m = NULL;
        struct lgv_error err = {0};
        snprintf(text, sizeof text,
                 "coordinates: {q: 0}\nhamiltonian: p_q^2/2\nmethods:\n  %s: {degree: 1, nodes: [1], weights: [1]}\n",
                 names[k]);
        assert_int_equal(lgv_model_parse(text, "test.yaml", &m, &err), LGV_BAD_INPUT);
        assert_true(err.line == 4 && err.column == 3);
    }
}

/* Coefficients are formulas of the parameters: another value is another method, or none. */
static void test_parameters(void **state) {
    (void)state;
    static const char text[] = "parameters: {c: 1/2}\ncoordinates: {q: 0}\nhamiltonian: p_q^2/2\n"
                               "methods:\n  w: {degree: 1, nodes: [c], weights: ['2 - 2*c']}\n";
    struct lgv_model *m = NULL, *raw = NULL;
    struct lgv_error err = {0};
    if (lgv_model_parse(text, "test.yaml", &m, &err) != LGV_OK) fail_msg("%s", err.message);
    const struct lgv_method *method = lgv_method_for(m, "w");
    assert_non_null(method);
    assert_true(method->order == 2);
    assert_int_equal(lgv_model_set(m, "c", 0.25, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "weights must add up to 1"));
    assert_true(err.line == 5 && err.column == 39);
    assert_ptr_equal(lgv_method_for(m, "w"), method); /* the model is as it was */
    lgv_model_free(m);
    /* the model stage alone has no opinion */
    const struct lgv_override c = {.name = "c", .value = 0.25};
    assert_int_equal(lgv_model_read(text, "test.yaml", &c, 1, &raw, &err), LGV_OK);
    assert_true(raw->nmethods == 0 && raw->methods && raw->methods->count == 1);
    assert_string_equal(raw->methods->item[0].key, "w");
    lgv_model_free(raw);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_theorem), cmocka_unit_test(test_noise_weights), cmocka_unit_test(test_rules),
        cmocka_unit_test(test_wrong),   cmocka_unit_test(test_callbacks),     cmocka_unit_test(test_messages),
        cmocka_unit_test(test_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
