/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The default method: what `method: auto` chooses for models of every kind, that it fits, and that the reason
 * arrives. */
#include "helpers.h"

static const struct {
    const char *text, *method;
} row[] = {
    {"coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\n", "P2N2Q2Lob"},
    {"coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\nnoise: 0.1*sin(q)\n", "VZc"},
    {"coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: sqrt(1 + p^2) - cos(q)\nnoise: 0.1*sin(q)\n", "MRT32"},
    {"coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\nnoise: 0.1*p\n", "P2N2Q2Lob"},
    {"coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\nnoise: 0.1*p*q\n", "P1N1Q2Gau"},
    {"coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2*(1 + q^2)\n", "P1N1Q2Gau"},
    {"coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2*(1 + q^2)\nnoise: 0.1*q\n", "P1N1Q2Gau"},
    /* a bath, and other noise beside it */
    {"coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\nlangevin: {friction: 1, temperature: 1}\n",
     "BAOAB"},
    {"coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\nlangevin: {friction: 1, temperature: 1}\n"
     "noise: 0.1*sin(q)\n",
     "BAOAB"},
    {"coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\nlangevin: {friction: 1, temperature: 1}\n"
     "noise: 0.1*p*q\n",
     "P1N1Q2Gau-GLA"},
    /* many degrees of freedom: the correction of VZc is cheap for additive noise only */
    {"coordinates: {'q[64]': 0}\nmomenta: {'p[64]': 1}\nnoise: 'each(i=1..64, 0.1*q[i])'\n"
     "hamiltonian: 'sum(i=1..64, p[i]^2/2) + sum(i=1..63, exp(q[i] - q[i+1]))'\n",
     "VZc"},
    {"coordinates: {'q[64]': 0}\nmomenta: {'p[64]': 1}\nnoise: 'sum(i=1..64, j=i+1..64, 0.1*cos(q[i] - q[j]))'\n"
     "hamiltonian: 'sum(i=1..64, p[i]^2/2) + sum(i=1..63, exp(q[i] - q[i+1]))'\n",
     "MRT32"},
    /* constraints and Lagrangians */
    {"coordinates: {x in R3: [1, 0, 0]}\nvelocities: {v: [0, 1, 0]}\nlagrangian: dot(v, v)/2\n"
     "constraints: dot(x, x) - 1\n",
     "Lobatto3"},
    {"coordinates: {x in R3: [1, 0, 0]}\nvelocities: {v: [0, 1, 0]}\nlagrangian: dot(v, v)/2\nnoise: 0.1*x.z\n"
     "constraints: dot(x, x) - 1\n",
     "RATTLE-Jc"},
    {"coordinates: {'x[9] in R2': '[i, 0]'}\nvelocities: {v: '[0, 1]'}\nlagrangian: 'sum(i=1..9, dot(v[i], v[i])/2)'\n"
     "constraints: 'each(k=1..9, dot(x[k], x[k]) - k^2)'\n",
     "RATTLE"},
    {"coordinates: {q: 0}\nvelocities: {v: 1}\nlagrangian: v^2/2 + cos(q)\nnoise: 0.1*q\n", "VZc"},
    {"coordinates: {q: 0}\nvelocities: {v: 1}\nlagrangian: v^2/2*(1 + q^2)\n", "Lobatto3"},
    {"coordinates: {q: 0}\nvelocities: {v: 1}\nlagrangian: v^2/2 + v^4\n", "Lobatto3"},
    {"coordinates: {q: 0}\nvelocities: {v: 0.1}\nlagrangian: -sqrt(1 - v^2) - q^2/2\nnoise: 0.1*q\n", "Lobatto3-W1"},
};

static void test_models(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_error err = {0};
        struct lgv_model *m = NULL;
        struct lgv_structure s;
        const struct lgv_method *method = NULL;
        const char *chosen = NULL;
        char why[400] = "";
        if (lgv_model_parse(row[i].text, "model", &m, &err) || lgv_method_resolve(m, "auto", &method, &chosen, &err) ||
            lgv_model_structure(m, &s, &err))
            fail_msg("%s: %s", row[i].text, err.message);
        if (strcmp(method->name, row[i].method) != 0)
            fail_msg("%s not %s:\n%s", method->name, row[i].method, row[i].text);
        assert_non_null(chosen);
        if (lgv_method_refusal(method, m, &s, why, sizeof why)) fail_msg("%s does not fit: %s", method->name, why);
        lgv_model_free(m);
    }
}

/* Where nothing fits, the method whose refusal tells why is one for the kind of model: here joints, not a bath. */
static void test_none(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {x in R3: [0, 0, -1], R in SO3: [0, 0, 0]}\nmomenta: {p: [0, 0, 0], "
                                   "m: [0, 0, 1]}\nkinetic: {mass: 1}\npotential: x.z\nnoise: p.x*R.zz\n"
                                   "constraints: x + R*[0, 0, 1]\n");
    const struct lgv_method *method = NULL;
    assert_int_equal(lgv_method_resolve(m, "auto", &method, NULL, &(struct lgv_error){0}), LGV_OK);
    assert_string_equal(method->name, "RATTLE");
    lgv_model_free(m);
}

/* A name is a name: no reason; what does not exist is refused with the nearest word. */
static void test_names(void **state) {
    (void)state;
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    const struct lgv_method *method = NULL;
    const char *chosen = NULL;
    assert_int_equal(lgv_model_parse(row[0].text, "model", &m, &err), LGV_OK);
    assert_int_equal(lgv_method_resolve(m, "Verlet", &method, &chosen, &err), LGV_OK);
    assert_string_equal(method->name, "P2N2Q2Lob");
    assert_null(chosen);
    assert_int_equal(lgv_method_resolve(m, "verlett", &method, &chosen, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "did you mean verlet?"));
    assert_int_equal(lgv_method_resolve(m, "AUTO", &method, NULL, &err), LGV_OK);
    lgv_model_free(m);
    assert_int_equal(lgv_model_parse("coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2\n"
                                     "methods: {auto: {degree: 1, nodes: [0.5], weights: [1]}}\n",
                                     "model", &m, &err),
                     LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "built-in"));
}

/* A model of C functions: dq = p dt, dp = -q dt + 0.1 o dW. */
static void gradient(void *user, const struct lgv_batch *b, double *H_q, double *H_p, double *h_q, double *h_p) {
    (void)user;
    for (size_t l = 0; l < b->lanes; l++) {
        if (H_q) H_q[l] = b->q[l];
        if (H_p) H_p[l] = b->p[l];
        if (h_q) h_q[l] = -0.1;
        if (h_p) h_p[l] = 0;
    }
}

static void test_callbacks(void **state) {
    (void)state;
    static const double zero[1] = {0};
    struct lgv_callbacks c = {.dof = 1, .noises = 1, .q0 = zero, .p0 = zero, .gradient = gradient};
    struct lgv_error err = {0};
    for (int separable = 0; separable < 2; separable++) {
        struct lgv_model *m = NULL;
        struct lgv_run *run = NULL;
        struct lgv_result *r = NULL;
        c.separable = c.noise_of_q = separable;
        assert_int_equal(lgv_model_from_callbacks(&c, &m, &err), LGV_OK);
        assert_int_equal(lgv_run_create(m, &run, &err), LGV_OK);
        assert_int_equal(lgv_run_set(run, "until", "1", &err), LGV_OK);
        enum lgv_status status = lgv_run_execute(run, &r, &err);
        if (separable) {
            assert_int_equal(status, LGV_OK);
            char *json = lgv_result_json(r);
            assert_non_null(strstr(json, "\"method\": \"MRT32\""));
            assert_non_null(strstr(json, "\"method_reason\": \"explicit, strong order 3/2"));
            free(json);
        } else { /* nothing that keeps the structure does without second derivatives: told, not replaced */
            assert_int_equal(status, LGV_BAD_INPUT);
            assert_non_null(strstr(err.message, "P1N1Q2Gau needs second derivatives"));
        }
        lgv_result_free(r);
        lgv_run_free(run);
        lgv_model_free(m);
    }
}

/* The table that the documentation prints: every method exists. */
static void test_table(void **state) {
    (void)state;
    const struct lgv_default *d;
    size_t n = 0;
    for (; (d = lgv_default_at(n)); n++) {
        assert_non_null(lgv_method_find(d->method));
        assert_string_equal(lgv_method_find(d->method)->name, d->method);
        assert_true(lgv_method_find(d->method)->symplectic || lgv_method_find(d->method)->bath);
    }
    assert_true(n >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_callbacks),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
