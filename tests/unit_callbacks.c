/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Models of C functions against generated code for the same formulas: paths are equal to round-off.  Observables,
 * random starts. */
#include "helpers.h"

static struct lgv_error err;

/* Runs with some paths kept. */
static struct lgv_result *run_of(struct lgv_model *m, const char *method, const char *threads) {
    const char *const option[][2] = {{"method", method}, {"step", "0.02"}, {"until", "2"},      {"paths", "100"},
                                     {"seed", "11"},     {"keep", "40"},   {"threads", threads}};
    struct lgv_run *run;
    struct lgv_result *r;
    assert_int_equal(lgv_run_create(m, &run, &err), LGV_OK);
    for (size_t i = 0; i < 7; i++) assert_int_equal(lgv_run_set(run, option[i][0], option[i][1], &err), LGV_OK);
    if (lgv_run_execute(run, &r, &err) != LGV_OK) fail_msg("%s: %s", method, err.message);
    lgv_run_free(run);
    return r;
}

static void same_paths(const struct lgv_result *a, const char *name, const struct lgv_result *b, const char *other,
                       double tolerance) {
    for (size_t k = 0; k < 40; k++) {
        const double *x = lgv_result_path(a, k, name), *y = lgv_result_path(b, k, other);
        assert_true(x && y);
        for (size_t t = 0; t < a->ntimes; t++)
            if (!(fabs(x[t] - y[t]) <= tolerance * (1 + fabs(y[t]))))
                fail_msg("%s, path %zu, time %zu: %.17g and %.17g", name, k, t, x[t], y[t]);
    }
}

/* ---- a pendulum with random starts ---- */

static void pendulum_observe(void *user, const struct lgv_batch *b, double *values) {
    (void)user;
    for (size_t l = 0; l < b->lanes; l++) {
        values[l] = b->q[l] * b->q[l];
        values[b->lanes + l] = b->q[l] * b->p[l] + b->t;
    }
}

/* Three normals: the last pair is used by half. */
static void pendulum_start(void *user, const struct lgv_batch *b, const double *normal, const double *uniform,
                           double *q, double *p) {
    (void)user;
    for (size_t l = 0; l < b->lanes; l++) {
        double z[3] = {normal[l], normal[b->lanes + l], normal[2 * b->lanes + l]};
        q[l] += 0.3 * z[0] + 0.1 * z[1];
        p[l] += 0.2 * z[2] * uniform[l];
    }
}

static const char *const names[] = {"square", "product"};
static const double q0[] = {0.5, 0, 0}, p0[] = {1, 0, 0};
static const struct lgv_callbacks pendulum = {
    .dof = 1, .noises = 1, .q0 = q0, .p0 = p0, .separable = 1, .noise_of_q = 1, .constant_mass = 1,
    .value = pendulum_value, .gradient = pendulum_gradient, .observables = 2, .observable_names = names,
    .observe = pendulum_observe, .normals = 3, .uniforms = 1, .start = pendulum_start};
static const char pendulum_text[] = "parameters: {beta: 0.3}\ncoordinates: {q: 0.5 + 0.3*normal() + 0.1*normal()}\n"
                                    "momenta: {p: 1 + 0.2*normal()*uniform()}\nhamiltonian: p^2/2 - cos(q)\n"
                                    "noise: beta*sin(q)\nobserve: {square: q^2, product: q*p + t}\n";

static void test_pendulum(void **state) {
    (void)state;
    struct lgv_model *m, *formulas = model_of(pendulum_text);
    assert_int_equal(lgv_model_from_callbacks(&pendulum, &m, &err), LGV_OK);
    struct lgv_result *a = run_of(m, "verlet", "1"), *b = run_of(formulas, "verlet", "2");
    struct lgv_result *c = run_of(m, "verlet", "3");
    same_paths(a, "square", b, "square", 1e-12);
    same_paths(a, "product", b, "product", 1e-12);
    same_paths(a, "q1", b, "q", 1e-12);
    same_paths(a, "p1", b, "p", 1e-12);
    same_paths(a, "H", b, "H", 1e-12);
    const double *std = lgv_result_series(a, "square", LGV_STD);
    assert_true(std[0] > 0.1); /* they start at different places */
    same_paths(a, "square", c, "square", 0); /* whatever the threads */
    assert_memory_equal(std, lgv_result_series(c, "square", LGV_STD), a->ntimes * sizeof *std);
    lgv_result_free(a);
    lgv_result_free(b);
    lgv_result_free(c);
    lgv_model_free(m);
    lgv_model_free(formulas);
}

/* ---- a spherical pendulum ---- */

static void sphere_value(void *user, const struct lgv_batch *b, double *H, double *h) {
    (void)user;
    size_t n = b->lanes;
    for (size_t l = 0; l < n; l++) {
        const double *q = b->q + l, *p = b->p + l;
        if (H) H[l] = 0.5 * (p[0] * p[0] + p[n] * p[n] + p[2 * n] * p[2 * n]) + q[2 * n];
        if (h) h[l] = 0.3 * q[0] * q[0];
    }
}

static void sphere_gradient(void *user, const struct lgv_batch *b, double *H_q, double *H_p, double *h_q,
                            double *h_p) {
    (void)user;
    size_t n = b->lanes;
    for (size_t i = 0; i < 3; i++)
        for (size_t l = 0; l < n; l++) {
            if (H_q) H_q[i * n + l] = i == 2;
            if (H_p) H_p[i * n + l] = b->p[i * n + l];
            if (h_q) h_q[i * n + l] = i == 0 ? 0.6 * b->q[l] : 0;
            if (h_p) h_p[i * n + l] = 0;
        }
}

static void sphere_hessian(void *user, const struct lgv_batch *b, double *H_qq, double *H_qp, double *H_pp,
                           double *h_qq, double *h_qp, double *h_pp) {
    (void)user;
    double *const all[] = {H_qq, H_qp, H_pp, h_qq, h_qp, h_pp};
    for (size_t k = 0; k < 6; k++)
        for (size_t i = 0; all[k] && i < 9; i++)
            for (size_t l = 0; l < b->lanes; l++)
                all[k][i * b->lanes + l] = k == 2 ? i % 4 == 0 : k == 3 && i == 0 ? 0.6 : 0;
}

static void sphere_constraint(void *user, const struct lgv_batch *b, double *g, double *G) {
    (void)user;
    size_t n = b->lanes;
    for (size_t l = 0; l < n; l++) {
        const double *q = b->q + l;
        if (g) g[l] = q[0] * q[0] + q[n] * q[n] + q[2 * n] * q[2 * n] - 1;
        for (size_t i = 0; G && i < 3; i++) G[i * n + l] = 2 * q[i * n];
    }
}

static void sphere_bend(void *user, const struct lgv_batch *b, const double *lambda, double *S_qq) {
    (void)user;
    for (size_t i = 0; i < 9; i++)
        for (size_t l = 0; l < b->lanes; l++) S_qq[i * b->lanes + l] = i % 4 == 0 ? 2 * lambda[l] : 0;
}

static const double sphere_q[] = {0.6, 0, -0.8}, sphere_p[] = {0, 1, 0};
static const struct lgv_callbacks sphere = {
    .dof = 3, .noises = 1, .q0 = sphere_q, .p0 = sphere_p, .separable = 1, .noise_of_q = 1, .constant_mass = 1,
    .value = sphere_value, .gradient = sphere_gradient, .hessian = sphere_hessian, .constraints = 1,
    .constraint = sphere_constraint, .constraint_hessian = sphere_bend};
static const char sphere_text[] = "coordinates: {x in R3: '[0.6, 0, -0.8]'}\nmomenta: {p: '[0, 1, 0]'}\n"
                                  "hamiltonian: dot(p, p)/2 + x.z\nnoise: 0.3*x.x^2\nconstraints: dot(x, x) - 1\n";

static void test_constraints(void **state) {
    (void)state;
    static const char *const method[] = {"RATTLE", "SVE", "VE-adjoint", "RATTLE-J", "RATTLE-Jc"};
    struct lgv_model *m, *formulas = model_of(sphere_text);
    assert_int_equal(lgv_model_from_callbacks(&sphere, &m, &err), LGV_OK);
    for (size_t i = 0; i < 5; i++) {
        struct lgv_result *a = run_of(m, method[i], "2"), *b = run_of(formulas, method[i], "2");
        same_paths(a, "q1", b, "x.x", 1e-11);
        same_paths(a, "q3", b, "x.z", 1e-11);
        same_paths(a, "p2", b, "p.y", 1e-11);
        same_paths(a, "H", b, "H", 1e-11);
        assert_true(a->certificate.constraint < 1e-14 && a->certificate.hidden_constraint < 1e-13);
        assert_true(a->certificate.symplectic_defect < 1e-11 && a->certificate.constraint_size >= 1);
        for (size_t k = 0; k < a->nverdicts; k++)
            if (a->verdict[k].holds == 0) fail_msg("%s: %s", method[i], a->verdict[k].name);
        lgv_result_free(a);
        lgv_result_free(b);
    }
    lgv_model_free(m);
    lgv_model_free(formulas);
}

/* Two constraints, one of them linear: the pendulum of a plane.  Methods that are not kicks are refused. */
static void plane_constraint(void *user, const struct lgv_batch *b, double *g, double *G) {
    sphere_constraint(user, b, g, G);
    for (size_t l = 0; l < b->lanes; l++) {
        if (g) g[b->lanes + l] = b->q[b->lanes + l];
        for (size_t i = 0; G && i < 3; i++) G[(3 + i) * b->lanes + l] = i == 1;
    }
}

static void method_refused(struct lgv_model *m, const char *method, const char *words) {
    struct lgv_run *run;
    struct lgv_result *r;
    assert_int_equal(lgv_run_create(m, &run, &err), LGV_OK);
    assert_int_equal(lgv_run_set(run, "method", method, &err), LGV_OK);
    assert_int_equal(lgv_run_execute(run, &r, &err), LGV_BAD_INPUT);
    if (!strstr(err.message, words)) fail_msg("'%s' is not in: %s", words, err.message);
    lgv_run_free(run);
}

static void test_two_constraints(void **state) {
    (void)state;
    static const double p[] = {0.8, 0, 0.6};
    struct lgv_callbacks c = sphere;
    c.constraints = 2;
    c.constraint = plane_constraint;
    c.constraint_hessian = NULL;
    c.p0 = p;
    struct lgv_model *m, *formulas = model_of("coordinates: {x in R3: '[0.6, 0, -0.8]'}\n"
                                              "momenta: {p: '[0.8, 0, 0.6]'}\n"
                                              "hamiltonian: dot(p, p)/2 + x.z\nnoise: 0.3*x.x^2\n"
                                              "constraints: ['dot(x, x) - 1', x.y]\n");
    assert_int_equal(lgv_model_from_callbacks(&c, &m, &err), LGV_OK);
    struct lgv_result *a = run_of(m, "RATTLE", "1"), *b = run_of(formulas, "RATTLE", "1");
    same_paths(a, "q1", b, "x.x", 1e-11);
    same_paths(a, "p3", b, "p.z", 1e-11);
    method_refused(m, "RATTLE-Jc", "constraint_hessian");
    method_refused(m, "Lobatto3", "kicks around one drift");
    method_refused(m, "SHAKE", "kicks around one drift");
    method_refused(m, "verlet", "does not keep them");
    lgv_result_free(a);
    lgv_result_free(b);
    lgv_model_free(m);
    lgv_model_free(formulas);
}

static void refused(struct lgv_callbacks c, const char *words) {
    struct lgv_model *m;
    assert_int_equal(lgv_model_from_callbacks(&c, &m, &err), LGV_BAD_INPUT);
    assert_null(m);
    if (!strstr(err.message, words)) fail_msg("'%s' is not in: %s", words, err.message);
}

static void test_wrong(void **state) {
    (void)state;
    static const char *const taken[][2] = {{"H", "b"}, {"a", "q1"}, {"a", "a"}, {"", "b"}};
    for (size_t i = 0; i < 4; i++) {
        struct lgv_callbacks c = pendulum;
        c.observable_names = taken[i];
        refused(c, "observable_names");
    }
    struct lgv_callbacks c = pendulum;
    c.observe = NULL;
    refused(c, "observe");
    c = pendulum;
    c.start = NULL;
    refused(c, "start");
    c = sphere;
    c.constraint = NULL;
    refused(c, "constraint");
    c = sphere;
    c.constraints = 3;
    refused(c, "constraints");
    c = sphere;
    c.constant_mass = 0;
    refused(c, "constant masses");
    c = pendulum;
    c.normals = SIZE_MAX;
    refused(c, "normals");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pendulum), cmocka_unit_test(test_constraints),
                                       cmocka_unit_test(test_two_constraints), cmocka_unit_test(test_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
