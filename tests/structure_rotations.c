/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Coordinates in SO(3): derivatives against differences along R exp(h hat xi), the symplectic form in (R, m), momentum
 * maps of rotations in space and about axes of the body, orders, the stationary law, and bits. */
#include "bodies.h"

#define TOP(inertia)                                                                                                   \
    "parameters: {s: 0.3}\ncoordinates: {R in SO3: [0.4, 0.1, -0.3]}\nmomenta: {m: [0.1, 0.2, 2]}\n"                   \
    "kinetic: {inertia: " inertia "}\npotential: R.zz + 0.3*R.xx*R.yz\nnoise: [s*R.zz, s*R.xy]\n"
#define TENSOR "[[1, 0.2, 0.1], [0.2, 1.4, -0.1], [0.1, -0.1, 1.7]]"
#define MIXED                                                                                                          \
    "parameters: {K: 2}\ncoordinates: {z: 0.2, 'R[K] in SO3': '[0.3*i, 0.2, -0.1]',\n"                               \
    "  'x[K] in R3': '[i, 0.3, 0.1*i]', S in SO3: [0.5, 0.5, 0.5, -0.5]}\n"                                            \
    "momenta: {p_z: 0.3, m: '[0.3, -0.2*i, 1]', p: '[0.1*i, 0, 0.2]', n: [0.2, 0.1, -0.4]}\n"                          \
    "kinetic: {mass: {x: 1.3, z: 2}, inertia: {R: [0.6, 1, 1.3], S: " TENSOR "}}\n"                                    \
    "potential: sum(i=1..K, dot(x[i], x[i])/2 + z*dot(R[i]*[0,0,1], x[i]))"                                            \
    " + sum(i=1..K, j=i+1..K, dot(R[i]*[0,0,1], R[j]*[1,0,0])*exp(-dot(x[i]-x[j], x[i]-x[j])))"                        \
    " + trace(S*R[1]) + z^2\n"                                                                                         \
    "noise: ['each(k=1..K, 0.2*dot(R[k]*[0,1,0], x[k]))', '0.1*S.xz']\n"

static const char *const words[] = {"BAB", "BRB", "BXB", "BTB", "BR", "BX", "ABA", "TBT", "BAB-4", "BRB-6", "RKN6"};
#define WORDS (sizeof words / sizeof *words)

static void test_derivatives(void **state) {
    (void)state;
    static const char *const text[] = {TOP("[1, 1.4, 0.9]"), TOP(TENSOR), MIXED};
    for (size_t k = 0; k < 3; k++) {
        struct lgv_model *m = model_of(text[k]);
        assert_true(lgv_model_derivative_error(m) < 1e-9);
        lgv_model_free(m);
    }
}

/* ---- pair sums by parts ---- */

#define CROWD(V)                                                                                                       \
    "parameters: {K: 9, d: 0.3}\ncoordinates: {z: 0.2, 'R[K] in SO3': '[0.3*i, 0.2, -0.1]',\n"                        \
    "  'x[K] in R3': '[i, 0.3*mod(i, 3), 0.1*i]', 'S[4] in SO3': [0.5, 0.5, 0.5, -0.5]}\npotential: " V "\n"

/* f_q from parts, and from the function itself, at shaken points; rows: of LGV_PART, 0: there are no parts. */
static void check_parts(const char *text, long rows) {
    struct lgv_model *m = model_of(text);
    struct lgv_graph *g = m->graph;
    struct lgv_function f = {0};
    struct lgv_factored by = {0};
    struct lgv_terms whole = {0}, rest = {0}, pull = {0}, back = {0};
    struct lgv_evaluator e;
    double *q = lgv_new(m->nx, sizeof *q), *p = lgv_new(m->np, sizeof *p), *xi = lgv_new(m->np, sizeof *xi);
    double *part = lgv_new((size_t)rows + 1, sizeof *part), *drawn = lgv_new((size_t)rows + 1, sizeof *drawn);
    double *want = lgv_new(m->np, sizeof *want), *got = lgv_new(2 * m->np, sizeof *got);
    assert_true(lgv_function_split(g, m->hamiltonian, false, &f));
    assert_int_equal(lgv_factor(g, &f, &by), rows > 0);
    if (by.rows != rows) fail_msg("%ld rows of parts, not %ld: %s", by.rows, rows, text);
    lgv_terms_gradient(g, &f, LGV_Q, &whole);
    lgv_terms_gradient(g, &by.rest, LGV_Q, &rest);
    lgv_terms_gradient(g, &by.rest, LGV_PART, &pull);
    lgv_terms_gradient(g, &by.back, LGV_Q, &back);
    assert_null(g->failed);
    assert_true(lgv_eval_begin(&e, g));
    struct lgv_env env = {.par = m->par,
                          .space = {[LGV_Q] = q, [LGV_P] = p, [LGV_PART] = part, [LGV_PULL] = drawn}};
    for (size_t i = 0; i < m->nx; i++) q[i] = lgv_eval_node(&e, m->start[i], &env, NULL);
    for (size_t i = 0; i < m->np; i++) xi[i] = sin(7.0 * (double)i + 1);
    lgv_rotations_advance(g, m->np, q, xi, 0.2);
    lgv_eval_terms(&e, &whole, &env, want, m->np, 1);
    lgv_eval_terms(&e, &by.parts, &env, part, (size_t)rows, 1);
    lgv_eval_terms(&e, &pull, &env, drawn, (size_t)rows, 1);
    lgv_eval_terms(&e, &rest, &env, got, m->np, 1);
    lgv_eval_terms(&e, &back, &env, got + m->np, m->np, 1);
    for (size_t i = 0; rows > 0 && i < m->np; i++)
        assert_near(got[i] + got[m->np + i], want[i], 1e-13 * (1 + fabs(want[i])), text);
    lgv_eval_end(&e);
    double *memory[] = {q, p, xi, part, drawn, want, got};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
    struct lgv_terms *terms[] = {&whole, &rest, &pull, &back};
    for (size_t i = 0; i < 4; i++) lgv_terms_free(terms[i]);
    lgv_factored_free(&by);
    lgv_function_free(&f);
    lgv_model_free(m);
}

static void test_parts(void **state) {
    (void)state;
    /* sites: three numbers of i = 1..8 and of j = 2..9 */
    check_parts(CROWD("sum(i=1..K, j=i+1..K, exp(-norm(x[i] + R[i]*[0,0,d] - x[j] - R[j]*[0,0,d])))"), 6 * 8);
    /* a dipole, and places as they are; other conditions, an index of an index, the number of a body, z */
    check_parts(CROWD("sum(i=1..K, j=1..K, i != j, dot(R[i]*[0,0,1], x[j])*cos(z*i)/norm(x[i] - x[j]))"), 3 * 9);
    check_parts(CROWD("sum(i=1..K, j=1..4, z*R[wrap(i+1)].xy*sin(S[j].zz + R[i].zx))"), 2 * 9 + 4);
    /* three bodies at a time; a function of one body as a factor and alone */
    check_parts(CROWD("sum(i=1..3, j=i+1..4, k=1..5, trace(R[i]*S[j])*exp(R[k].xx)*R[k].yz)"), 2 * 27 + 5);
    /* gaps: i is 1, 3, 5, .. only */
    check_parts(CROWD("sum(i=1..K, j=1..K, i%2 == 1, i < j, R[i].zz*R[j].xz)"), 8);
    check_parts(CROWD("sum(i=1..K, R[i].zz*x[i].x)"), 0);
    check_parts(CROWD("sum(i=1..K, j=i+1..K, 1/norm(x[i] - x[j]))"), 0);
}

/* {m_1, m_2} = -m_3, {R, m}: derivatives along the axes of the body, {m, H} the equations of motion. */
static void test_bracket(void **state) {
    (void)state;
    struct lgv_model *model = model_of(TOP("[1, 1.4, 0.9]"));
    struct lgv_graph *g = model->graph;
    const double q[4] = {0.5, -0.1, 0.7, 0.5}, m[3] = {0.3, -0.8, 1.1}, I[3] = {1, 1.4, 0.9};
    double x[4], size = 0;
    struct lgv_evaluator e;
    for (int k = 0; k < 4; k++) size += q[k] * q[k];
    for (int k = 0; k < 4; k++) x[k] = q[k] / sqrt(size);
    struct lgv_env env = {.par = model->par, .space = {[LGV_Q] = x, [LGV_P] = m}};
    int node[3], change[3], free_change[3];
    for (int k = 0; k < 3; k++) node[k] = lgv_expr_ref_at(g, LGV_P, k);
    int cross = lgv_algebra_bracket(g, node[0], node[1]);
    int kinetic = 0;
    for (int k = 0; k < 3; k++)
        kinetic = lgv_expr_add(g, kinetic, lgv_expr_scale(g, 0.5 / I[k], lgv_expr_power(g, node[k], 2)));
    for (int k = 0; k < 3; k++) free_change[k] = lgv_algebra_bracket(g, node[k], kinetic);
    for (int k = 0; k < 3; k++) change[k] = lgv_algebra_bracket(g, node[k], model->hamiltonian);
    assert_true(lgv_eval_begin(&e, g));
    assert_near(lgv_eval_node(&e, cross, &env, NULL), -m[2], 1e-15, "{m1, m2}");
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        double xi[3] = {0, 0, 0}, at[4], V[2];
        assert_near(lgv_eval_node(&e, free_change[k], &env, NULL), m[i] * m[j] * (1 / I[j] - 1 / I[i]), 1e-14, "Euler");
        for (int side = 0; side < 2; side++) { /* the torque by a difference */
            memcpy(at, x, sizeof at);
            xi[k] = side ? 1e-5 : -1e-5;
            lgv_rotations_turn(at, xi);
            struct lgv_env moved = {.par = model->par, .space = {[LGV_Q] = at, [LGV_P] = m}};
            V[side] = lgv_eval_node(&e, model->hamiltonian, &moved, NULL);
        }
        double torque = lgv_eval_node(&e, change[k], &env, NULL) - lgv_eval_node(&e, free_change[k], &env, NULL);
        assert_near(torque, -(V[1] - V[0]) / 2e-5, 1e-9, "torque");
    }
    lgv_eval_end(&e);
    lgv_model_free(model);
}

static void test_symplectic(void **state) {
    (void)state;
    static const char *const text[] = {TOP("[1, 1.4, 0.9]"), TOP(TENSOR), MIXED};
    for (size_t i = 0; i < 3; i++) {
        struct lgv_model *m = model_of(text[i]);
        for (size_t k = 0; k < WORDS; k++) {
            if (i > 0 && k > 3) continue; /* one letter of each kind is enough there */
            assert_symplectic(m, words[k], 1e-11, i == 2 ? "mixed" : "top");
        }
        lgv_model_free(m);
    }
}

/* ---- momentum maps ---- */

#define SYMMETRIC                                                                                                      \
    "coordinates: {R in SO3: [0.4, 0.1, -0.3]}\nmomenta: {m: [0.1, 0.2, 2]}\nkinetic: {inertia: [1.2, 1.2, 0.7]}\n"    \
    "potential: R.zz\nnoise: [0.3*R.zz, 0.2*R.zz^2]\n"                                                                 \
    "symmetries: {space: {R: '[0,0,1]*R'}, body: {R: '[0,0,1]'}}\nrun: {step: 0.1, until: 50, paths: 32}\n"

static void test_momenta(void **state) {
    (void)state;
    struct lgv_model *m = model_of(SYMMETRIC);
    struct lgv_structure s;
    struct lgv_error err = {0};
    assert_int_equal(lgv_model_structure(m, &s, &err), LGV_OK);
    for (int k = 0; k < 2; k++) assert_true(s.symmetry[k].invariant && s.symmetry[k].affine);
    assert_true(!s.symmetry[0].of_body && s.symmetry[1].of_body);
    for (size_t k = 0; k < 6; k++) {
        struct lgv_result r;
        const bool turns = strcmp(words[k], "BTB") == 0;
        run_method(m, words[k], &r);
        assert_kept(&r, words[k], "space", true, 1e-12);
        assert_kept(&r, words[k], "body", !turns, turns ? 1e-6 : 1e-12);
        assert_true(r.certificate.rotation < 1e-14);
        lgv_result_clear(&r);
    }
    lgv_model_free(m);
}

/* A body whose principal axes are not those of its frame is turned to them and back in every step: the momentum in
 * space must not drift with the steps: 1e-11 in 2e5 steps when the quaternion for it has a norm that is not quite 1. */
static void test_tilted(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {R in SO3: [0.4, 0.1, -0.3]}\nmomenta: {m: [0.1, 0.7, 2]}\n"
                                   "kinetic: {inertia: " TENSOR "}\npotential: 0*R.zz\nobserve: {M: R*m}\n");
    struct lgv_kernel k = kernel_of(m, "BTB");
    static const char *const name[] = {"M.x", "M.y", "M.z"};
    double *x = final_values(&k, 0.1, 1, 1, 1, 1), *y = final_values(&k, 0.1, 200000, 1, 1, 1);
    for (size_t i = 0; i < 3; i++) {
        size_t at = watch_number(&k, name[i]);
        if (!(fabs(x[at] - y[at]) < 1.5e-12)) fail_msg("%s drifts by %g", name[i], y[at] - x[at]);
    }
    free(x);
    free(y);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* 1e7 steps with noise and a body whose axes are tilted: R^T R - 1, whose entries are |q|^4 - 1 at most, stays at
 * round-off, and so does the momentum about the vertical. */
static void test_many_steps(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {R in SO3: [0.4, 0.1, -0.3]}\nmomenta: {m: [0.1, 0.7, 2]}\n"
                                   "kinetic: {inertia: " TENSOR "}\npotential: R.zz\nnoise: 0.02*R.zz\n"
                                   "observe: {M: '(R*m).z'}\n");
    static const char *const method[] = {"BRB", "BTB"};
    for (int i = 0; i < 2; i++) {
        struct lgv_kernel k = kernel_with(m, method[i], 2, NULL);
        struct lgv_own_block b;
        assert_true(lgv_block_create(&k, 0, 0.1, 5, 1, &b));
        for (size_t l = 0; l < k.entry->lanes; l++) b.path[l] = l;
        k.entry->start(&b.block);
        double worst = 0, drift = 0, start = NAN;
        for (int piece = 0; piece < 1000; piece++) {
            const double *x = b.block.state;
            size_t lanes = k.entry->lanes;
            k.entry->advance(&b.block, 10000);
            for (size_t l = 0; l < lanes; l++) {
                double q[4], size = 0;
                for (size_t r = 0; r < 4; r++) {
                    q[r] = x[r * lanes + l];
                    size += q[r] * q[r];
                }
                double zx = 2 * (q[1] * q[3] - q[0] * q[2]), zy = 2 * (q[2] * q[3] + q[0] * q[1]);
                double zz = 1 - 2 * (q[1] * q[1] + q[2] * q[2]);
                double M = zx * x[4 * lanes + l] + zy * x[5 * lanes + l] + zz * x[6 * lanes + l];
                if (isnan(start)) start = M;
                drift = fmax(drift, fabs(M - start));
                worst = fmax(worst, fabs(size * size - 1));
            }
        }
        print_message("%s: R^T R - 1: %.2g, momentum about the vertical: %.2g\n", method[i], worst, drift);
        if (!(worst < 3e-15)) fail_msg("%s: R^T R - 1 is %g", method[i], worst);
        if (!(drift < 2e-11)) fail_msg("%s: the momentum about the vertical is off by %g", method[i], drift);
        lgv_block_free(&b);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* ---- orders ---- */

static void test_orders(void **state) {
    (void)state;
    static const struct order_row row[] = {
        {"BAB", 64, 2, 0.02},        {"BRB", 64, 2, 0.02},        {"BXB", 64, 2, 0.02},
        {"BTB", 64, 2, 0.02},        {"BR", 256, 1, 0.03},        {"BX", 256, 1, 0.03},
        {"BAB-4", 16, 4, 0.15},      {"BRB-4", 16, 4, 0.15},      {"BTB-6", 5, 6, 0.3},
        {"RKN4", 4, 4, 0.2},         {"RKMK4", 32, 4, 0.1},       {"LieEM", 512, 1, 0.05},
        {"RK4-embedded", 32, 4, 0.1}, {"EM-embedded", 512, 1, 0.05},
    };
    struct lgv_model *m = model_of("coordinates: {R in SO3: [0.4, 0.1, -0.3], z: 0.3}\n"
                                   "momenta: {m: [0.1, 0.7, 2], p: 0}\n"
                                   "kinetic: {inertia: " TENSOR "}\npotential: R.zz + 0.3*R.xx*R.yz + z*R.xy + z^2\n");
    assert_orders(m, row, sizeof row / sizeof *row, "RKN8", 400);
    lgv_model_free(m);
}

/* With noise gamma(R), two that commute. */
static void test_strong(void **state) {
    (void)state;
    static const struct strong_row row[] = {{"BA", 0.9, 1.1}, {"BR", 0.9, 1.1},  {"BX", 0.9, 1.1}, {"BAB", 0.85, 1.25},
                                            {"BRB", 0.85, 1.25}, {"LieEM", 0.85, 1.2}, {"VZc", 1.4, 2.1}};
    struct lgv_model *m = model_of("coordinates: {R in SO3: [0.4, 0.1, -0.3]}\nmomenta: {m: [0.1, 0.7, 2]}\n"
                                   "kinetic: {inertia: " TENSOR "}\npotential: R.zz\nnoise: [2*R.zz, 3*R.xx]\n");
    assert_strong(m, row, sizeof row / sizeof *row, "VZc");
    lgv_model_free(m);
}

/* ---- the stationary law ---- */

/* V = a R.zz: <R.zz> = -(coth(a/kT) - kT/a), <m_k^2/I_k> = kT, within 4 standard errors. */
static void test_law(void **state) {
    (void)state;
    struct lgv_model *m = model_of(
        "parameters: {a: 2, kT: 0.8}\ncoordinates: {R in SO3: uniform}\n"
        "momenta: {m: '[normal(), normal(), normal()]'}\n"
        "kinetic: {inertia: [0.6, 1, 1.3]}\npotential: a*R.zz\nlangevin: {friction: [0.6, 1, 0.4], temperature: kT}\n"
        "observe: {up: R.zz, T1: m.x^2/0.6, T3: m.z^2/1.3}\n");
    static const char *const method[] = {"BAOAB", "BRORB", "OBABO-Metropolis"};
    double x = 2 / 0.8, up = -(1 / tanh(x) - 1 / x);
    for (size_t i = 0; i < 3; i++) {
        struct lgv_kernel k = kernel_of(m, method[i]);
        enum { PATHS = 6000 };
        double *value = final_values(&k, i == 2 ? 0.3 : 0.05, i == 2 ? 40 : 240, PATHS, 11, 1);
        static const char *const name[] = {"up", "T1", "T3"};
        for (size_t o = 0; o < 3; o++) assert_mean(&k, value, PATHS, name[o], o ? 0.8 : up, 4);
        free(value);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* ---- bits ---- */

static void test_bits(void **state) {
    (void)state;
    struct lgv_model *m = model_of(MIXED);
    for (size_t i = 0; i < 4; i++) assert_bits(m, words[i]);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives), cmocka_unit_test(test_bracket), cmocka_unit_test(test_symplectic),
        cmocka_unit_test(test_momenta),     cmocka_unit_test(test_orders),  cmocka_unit_test(test_law),
        cmocka_unit_test(test_bits),        cmocka_unit_test(test_tilted),
        cmocka_unit_test(test_many_steps), cmocka_unit_test(test_parts),  cmocka_unit_test(test_strong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
