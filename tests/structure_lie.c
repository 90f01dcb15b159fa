/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lagrangians l(g, xi, t) with rotations, whose inertia may depend on everything and that may have terms of first
 * degree in the velocities: derivatives and the Legendre transform, the symplectic form in (g, m) and in (g, mu),
 * agreement with the methods for constant inertia, for vectors and for discrete Lagrangians, momentum maps path by
 * path, orders, strong orders, bits. */
#include "bodies.h"

/* A body with an arm of variable length and a charge in a field. */
#define BOOM(noise)                                                                                                    \
    "parameters: {k: 0.3}\ncoordinates: {R in SO3: [0.4, 0.1, -0.3], s: 0.5}\n"                                        \
    "velocities: {w: [0.3, 1, 0.7], u: 0.2}\n"                                                                         \
    "lagrangian: (1 + k*s^2)*w.x^2/2 + (1.4 + k*s^2)*w.y^2/2 + 0.9*w.z^2/2 + u^2/2 + 0.2*u*w.y + 0.1*w.x*w.z"          \
    " + k*R.zz*w.x + 0.2*s*w.z + k*R.xy*u - (s - 1)^2 - 0.3*R.zz - s*R.xz\n" noise
#define NOISE "noise: [0.3*R.zz + 0.2*s*R.xy]\n"
#define FORCE "force: {R: '-0.3*w + [0.1,0,0]*R', s: -0.2*u}\n" /* at the ends of the step */
/* Inertia that depends on the rotation and on the time, no vector. */
#define TIMED                                                                                                          \
    "coordinates: {R in SO3: [0.4, 0.1, -0.3]}\nvelocities: {w: [0.3, 1, 0.7]}\n"                                      \
    "lagrangian: (1 + 0.2*sin(t))*w.x^2/2 + (1.4 + 0.3*R.zz)*w.y^2/2 + 0.9*w.z^2/2 + cos(t)*w.y - R.zz\n" NOISE_R
#define NOISE_R "noise: [0.3*R.zz]\n"
/* Bodies in a fluid, with a rotor and a plain body beside them: too many coupled velocities for a formula of H. */
#define FLUID                                                                                                          \
    "parameters: {K: 1, k: 0.3}\ncoordinates: {s: 0.2,\n"                                                              \
    "  'b[K] in SE3 coupled': {position: '[0.1*i, 0, 0]', rotation: '[0.4, 0.1*i, 0]'},\n"                             \
    "  c in SE3: {position: [0.3, 0.2, 0.1], rotation: [0, 0, 0.2]}}\n"                                                \
    "velocities: {u: 0.1, V: {linear: '[1, 0.2*i, 0.1]', angular: [0.3, 1, 0.2]}, U: {angular: [0.1, 0.2, -0.3]}}\n"   \
    "lagrangian: u^2/2 + dot(U.linear, U.linear) + U.angular.x^2/2 + U.angular.y^2/1.5 + U.angular.z^2"                \
    " + k*u*U.linear.x*cos(s) + 0.1*U.linear.x*U.angular.y + k*c.rotation.xy*U.angular.z"                              \
    " + sum(i=1..K, (1 + k*s^2)*V[i].angular.x^2/2 + 0.7*V[i].angular.y^2 + 0.9*V[i].angular.z^2/2"                    \
    " + V[i].linear.x^2 + (1 + k*b[i].rotation.zz^2)*V[i].linear.y^2 + 1.2*V[i].linear.z^2"                            \
    " + 0.2*u*(V[i].linear.y + V[i].linear.x) + 0.1*V[i].linear.x*V[i].angular.y + 0.1*V[i].linear.z*U.angular.x"      \
    " + k*b[i].rotation.zz*V[i].angular.x + 0.1*b[i].position.x*V[i].linear.z - 0.3*b[i].rotation.zz"                  \
    " - dot(b[i].position, b[i].position)/2) - (s - 1)^2\n"                                                            \
    "noise: 'each(j=1..K, 0.2*b[j].rotation.zz + 0.1*(b[j]*[0,0,1]).x*c.position.z)'\n"

static void test_derivatives(void **state) {
    (void)state;
    static const char *const text[] = {BOOM(NOISE), TIMED, FLUID};
    for (size_t k = 0; k < 3; k++) {
        struct lgv_model *m = model_of(text[k]);
        double error = lgv_model_derivative_error(m);
        print_message("derivatives to %.1g\n", error);
        assert_true(error < 1e-10);
        assert_int_equal(m->lagrangian_only, k == 2); /* six velocities are coupled */
        lgv_model_free(m);
    }
}

/* ---- the symplectic form ---- */

static void test_symplectic(void **state) {
    (void)state;
    static const struct {
        const char *text, *method[5];
    } row[] = {{BOOM(NOISE), {"SVE", "VE-adjoint", "SVE-exp", "VE-adjoint-exp", "RATTLE"}},
               {TIMED, {"RATTLE-exp"}},
               {FLUID, {"RATTLE", "RATTLE-exp"}}};
    for (size_t i = 0; i < 3; i++) {
        struct lgv_model *m = model_of(row[i].text);
        for (size_t k = 0; k < 5 && row[i].method[k]; k++) {
            struct lgv_kernel kernel = kernel_of(m, row[i].method[k]);
            double x[64];
            uint64_t seed = 5;
            for (size_t j = 0; j < m->nx + m->np; j++) x[j] = 1.6 * uniform_of(&seed) - 0.8;
            lgv_rotations_clean(m->graph, x);
            struct lgv_defect how = {.rotations = m->graph};
            double d = lgv_certificate_defect(&kernel, 0.3, 0.1, 5, 1, 3, x, NULL, NULL, NULL, &how);
            print_message("%s: defect %.2g (known to %.1g)\n", row[i].method[k], d, how.error);
            assert_true(d < 1e-10 && how.error < 1e-9);
            lgv_kernel_free(&kernel);
        }
        lgv_model_free(m);
    }
}

#define DT 0.1
#define ARM                                                                                                            \
    "coordinates: {R in SO3: [0.4, 0.1, -0.3], s: 0.5}\nvelocities: {w: [0.3, 1, 0.7], u: 0.2}\n"                      \
    "lagrangian: (1 + s^2/2)*w.x^2/2 + (1.4 + s^2/2)*w.y^2/2 + 0.9*w.z^2/2 + u^2/2 - (s - 1)^2 - R.zz\n"

/* Of the arm: m = (dcay^-1_{-dt w})^* mu, mu = l_xi(g_k, xi) where the step that ends at x began, s - dt u. */
static void m_of_mu(const double *x, const double *mu, double *m) {
    const double at = x[4] - DT * mu[3], I[3] = {1 + at * at / 2, 1.4 + at * at / 2, 0.9};
    double w[3], once[3], along = 0;
    for (int i = 0; i < 3; i++) along += (w[i] = mu[i] / I[i]) * mu[i];
    cross(w, mu, once);
    for (int i = 0; i < 3; i++) m[i] = mu[i] - DT / 2 * once[i] + DT * DT / 4 * along * w[i];
    m[3] = mu[3];
}

static void to_m(const double *x, double *y) {
    double mu[4];
    memcpy(mu, y, sizeof mu);
    m_of_mu(x, mu, y);
}

static void to_mu(const double *x, double *y) {
    double m[4], now[4];
    memcpy(m, y, sizeof m);
    for (int round = 0; round < 200; round++) {
        m_of_mu(x, y, now);
        for (int i = 0; i < 3; i++) y[i] += m[i] - now[i];
    }
}

static void test_two_momenta(void **state) {
    (void)state;
    static const double x[9] = {0.5, 0.5, 0.5, -0.5, 0.4, 0.7, 0.3, 1.1, 0.6};
    struct lgv_model *m = model_of(ARM);
    struct lgv_kernel k = kernel_of(m, "SVE");
    assert_two_momenta((struct form_at){&k, m->graph, 4, DT, x, to_m, to_mu});
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* ---- the same as other methods ---- */

/* Constant inertia: the words BR and BX; k = 0 is a run-time value, so that the Lagrangian is used all the same. */
#define FREE "coordinates: {R in SO3: [0.4, 0.1, -0.3], x: 0.3}\n"
#define FORCES "noise: [0.7*R.zz, 0.5*R.xy*x]\n"
static void test_constant(void **state) {
    (void)state;
    struct lgv_model *l = model_of("parameters: {k: 0}\n" FREE "velocities: {w: [0.1, 0.2, 2], u: 0.2}\n"
                                   "lagrangian: w.x^2/2 + 0.7*w.y^2 + 0.45*w.z^2 + 0.1*w.x*w.y + (1 + k*x)*u^2/2"
                                   " - R.zz - 0.3*R.xx*R.yz - x*R.xy - x^2 + k*x*w.x\n" FORCES);
    struct lgv_model *flat = model_of(FREE "velocities: {w: [0.1, 0.2, 2], u: 0.2}\n"
                                      "lagrangian: w.x^2/2 + 0.7*w.y^2 + 0.45*w.z^2 + 0.1*w.x*w.y + u^2/2"
                                      " - R.zz - 0.3*R.xx*R.yz - x*R.xy - x^2\n" FORCES);
    struct lgv_model *h = model_of(FREE "momenta: {p_R: [0.12, 0.29, 1.8], p_x: 0.2}\n"
                                   "kinetic: {inertia: [[1, 0.1, 0], [0.1, 1.4, 0], [0, 0, 0.9]]}\n"
                                   "potential: R.zz + 0.3*R.xx*R.yz + x*R.xy + x^2\n" FORCES);
    assert_true(apart(l, "SVE", h, "BR") < 1e-12);
    assert_true(apart(flat, "SVE-exp", h, "BX") < 1e-12);
    assert_true(apart(l, "VE-adjoint-exp", h, "XB") < 1e-12);
    assert_true(apart(l, "SVE", h, "BX") > 1e-4);
    lgv_model_free(l);
    lgv_model_free(flat);
    lgv_model_free(h);
}

static void test_constant_body(void **state) {
    (void)state;
    static const char noise[] = "noise: ['0.2*(b*[0,0,0.3]).z', '0.2*b.position.x*b.rotation.xx']\n";
#define BODY "coordinates: {b in SE3 coupled: {position: [0.1, 0.2, 0.3], rotation: [0.4, 0.1, -0.3]}, x: 0.3}\n"
    char text[2][1500];
    snprintf(text[0], sizeof text[0],
             "parameters: {k: 0}\n" BODY "velocities: {v: {linear: [1, 0.2, -0.3], angular: [0.5, 1, 0.2]}, u: 0.2}\n"
             "lagrangian: v.angular.x^2/2 + v.angular.y^2 + 2.5*v.angular.z^2 + 2*v.linear.x^2 + v.linear.y^2"
             " + v.linear.z^2/2 + 0.2*v.linear.z*v.angular.x + 0.1*v.linear.x*v.angular.y + (1 + k*x)*u^2/2"
             " + k*x*v.linear.x - x^2 - 0.5*(b*[0,0,0.3]).z - 0.1*b.position.x^2*b.position.y\n%s", noise);
    snprintf(text[1], sizeof text[1],
             BODY "momenta: {p_b: {linear: [4.1, 0.4, -0.2], angular: [0.44, 2.1, 1]}, p_x: 0.2}\n"
             "kinetic: {inertia: {b: {angular: [1, 2, 5], linear: [4, 2, 1],\n"
             "  coupling: [[0, 0, 0.2], [0.1, 0, 0], [0, 0, 0]]}}}\n"
             "potential: x^2 + 0.5*(b*[0,0,0.3]).z + 0.1*b.position.x^2*b.position.y\n%s", noise);
    struct lgv_model *l = model_of(text[0]), *h = model_of(text[1]);
    assert_true(apart(l, "SVE", h, "BR") < 1e-12);
    assert_true(apart(l, "VE-adjoint-exp", h, "XB") < 1e-12);
    lgv_model_free(l);
    lgv_model_free(h);
}

/* Vectors beside a rotation that has nothing to do with them. */
#define ROAD "(1 + x^2)*u^2/2 + x*y*u*v + (2 + y^2)*v^2/2 + y*u - x^4/4 - x*y^2"
static void test_vectors(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {x: 0.5, y: 0.2}\nvelocities: {u: 0.3, v: -0.4}\n"
                                   "lagrangian: " ROAD "\nnoise: [0.4*x*y, 0.3*sin(x)]\n");
    struct lgv_model *with = model_of("coordinates: {x: 0.5, R in SO3: [0.4, 0.1, -0.3], y: 0.2}\n"
                                      "velocities: {u: 0.3, w: [0, 0.3, 0.2], v: -0.4}\n"
                                      "lagrangian: " ROAD " + (1 + R.zz^2)*w.x^2/2 + w.y^2/2 + w.z^2\n"
                                      "noise: [0.4*x*y, 0.3*sin(x)]\n");
    assert_true(apart(m, "RATTLE-J", with, "RATTLE-J") < 1e-12); /* half a step of SVE, and of its adjoint */
    lgv_model_free(m);
    lgv_model_free(with);
}

/* The same discrete Lagrangians as formulas of both ends of a step: S = R0^T R1, cay^-1(S) = 2 (S - S^T)/(1 + tr S). */
#define DISCRETE                                                                                                       \
    "parameters: {k: 0.3}\ncoordinates: {R in SO3: [0.4, 0.1, -0.3], s: 0.5}\n"                                        \
    "velocities: {w: [0.3, 1, 0.7], u: 0.2}\nwhere:\n"                                                                 \
    "  l(A, s, w, u): (1 + k*s^2)*w.x^2/2 + (1.4 + k*s^2)*w.y^2/2 + 0.9*w.z^2/2 + u^2/2 + 0.2*u*w.y"                   \
    " + k*A.zz*w.x + 0.2*s*w.z - (s - 1)^2 - 0.3*A.zz - s*A.xz\n  h(A, s): 0.3*A.zz + 0.2*s*A.xy\n"                    \
    "  turn(S): 2/(1 + trace(S))*[S.zy - S.yz, S.xz - S.zx, S.yx - S.xy]\n"                                            \
    "lagrangian: l(R, s, w, u)\nnoise: 'h(R, s)'\nmethods:\n"                                                          \
    "  early: {discrete_lagrangian: 'l(R0, s0, turn(transpose(R0)*R1)/dt, (s1 - s0)/dt)',\n"                           \
    "          discrete_noise: ['-h(R0, s0)']}\n"                                                                      \
    "  late: {discrete_lagrangian: 'l(R1, s1, turn(transpose(R0)*R1)/dt, (s1 - s0)/dt)',\n"                            \
    "         discrete_noise: ['-h(R1, s1)']}\n"

static void test_discrete(void **state) {
    (void)state;
    struct lgv_model *m = model_of(DISCRETE);
    assert_true(apart(m, "early", m, "SVE") < 1e-11);
    assert_true(apart(m, "late", m, "VE-adjoint") < 1e-11);
    assert_true(apart(m, "early", m, "VE-adjoint") > 1e-3);
    lgv_model_free(m);
}

/* ---- momentum maps ---- */

#define SYMMETRIC                                                                                                      \
    "parameters: {k: 0.3}\ncoordinates: {s: 0.2, b in SE3 coupled: {position: [0.1, 0, 0], rotation: [0.4, 0.1, 0]},\n"\
    "  R in SO3: [0, 0.3, 0]}\n"                                                                                       \
    "velocities: {u: 0.1, V: {linear: [1, 0.2, 0.1], angular: [0.3, 1, 0.2]}, w: [0.2, 0.1, 1]}\n"                     \
    "lagrangian: (1 + k*s^2)*(V.angular.x^2 + V.angular.y^2)/2 + 0.9*V.angular.z^2/2 + u^2/2 + 0.2*u*V.linear.z"       \
    " + V.linear.x^2 + V.linear.y^2 + 1.2*V.linear.z^2 + 0.1*V.linear.z*V.angular.z + k*b.rotation.zz*V.angular.z"     \
    " + 0.1*s*V.linear.z - 0.3*b.rotation.zz - (s - 1)^2 + (1 + k*R.zz^2)*(w.x^2 + w.y^2)/2 + w.z^2 + k*w.z*R.zz"      \
    " + 0.2*dot(R*w, b.rotation*V.angular)\n"                                                                          \
    "noise: [0.2*b.rotation.zz, 0.1*R.zz]\nsymmetries:\n"                                                              \
    "  along: {b: {position: '[1,0,0]*b.rotation'}}\n"                                                                 \
    "  vertical: {b: {position: 'cross([0,0,1], b.position)*b.rotation', rotation: '[0,0,1]*b.rotation'},\n"           \
    "             R: '[0,0,1]*R'}\n  spin: {b: {rotation: [0, 0, 1]}}\n  side: {R: '[0,1,0]*R'}\n"

static void test_momentum_maps(void **state) {
    (void)state;
    struct lgv_structure s = structure_of(SYMMETRIC);
    for (size_t k = 0; k < 4; k++)
        if (s.symmetry[k].invariant != (k < 3)) fail_msg("symmetry %zu: residual %g", k, s.symmetry[k].residual);
    struct lgv_model *m = model_of(SYMMETRIC);
    static const char *const method[] = {"RATTLE", "RATTLE-exp"}; /* the halves are SVE and its adjoint */
    for (size_t k = 0; k < 2; k++) {
        struct lgv_kernel kernel = kernel_of(m, method[k]);
        double *x = final_values(&kernel, 0.1, 400, 8, 3, 1), *y = final_values(&kernel, 0.1, 1, 8, 3, 1), most[3];
        static const char *const name[] = {"along", "vertical", "spin"};
        for (size_t i = 0; i < 3; i++) {
            const size_t at = watch_number(&kernel, name[i]), n = kernel.watch.count;
            most[i] = 0;
            for (size_t p = 0; p < 8; p++) most[i] = fmax(most[i], fabs(x[p * n + at] - y[p * n + at]));
            assert_true(most[i] < 1e-12);
        }
        print_message("%s: momentum maps to %.1g, %.1g, %.1g in 400 steps\n", method[k], most[0], most[1], most[2]);
        free(x);
        free(y);
        lgv_kernel_free(&kernel);
    }
    lgv_model_free(m);
}

/* ---- orders ---- */

static void check_orders(const char *text, const char *names, const char *steps, double until, uint64_t paths,
                         const char *reference, const double *want) {
    struct lgv_model *m = model_of(text);
    struct lgv_settings s = settings_of(m);
    struct lgv_convergence_options o = {.methods = names, .steps = steps, .reference = reference};
    struct lgv_convergence c;
    struct lgv_error err = {0};
    s.until = until;
    s.paths = paths;
    if (lgv_converge(m, &s, &o, NULL, NULL, &c, &err) != LGV_OK) fail_msg("%s", err.message);
    for (size_t k = 0; k < c.nmethods; k++) {
        print_message("%s: order %.3f +- %.2g, reference %s\n", c.method[k].method->name, c.method[k].order,
                      c.method[k].order_stderr, c.reference ? c.reference->name : "none");
        assert_near(c.method[k].order, want[k], 0.1 + 3 * c.method[k].order_stderr, c.method[k].method->name);
    }
    lgv_convergence_clear(&c);
    lgv_model_free(m);
}

static void test_orders(void **state) {
    (void)state;
    static const double low[] = {1, 1, 2, 2}, high[] = {4}, strong[] = {1, 1}, forced[] = {1, 2};
    check_orders(BOOM(""), "SVE,VE-adjoint-exp,RATTLE,RATTLE-exp", "0.04,0.02,0.01", 2, 1, NULL, low);
    check_orders(BOOM(""), "RATTLE-exp-Suzuki4", "0.2,0.1,0.05", 2, 1, NULL, high);
    check_orders(BOOM(NOISE), "SVE-exp,VE-adjoint", "0.04,0.02,0.01,0.005", 1, 400, NULL, strong);
    check_orders(BOOM(FORCE), "SVE,RATTLE-exp", "0.04,0.02,0.01", 2, 1, "RKMK4", forced);
}

/* RKMK4 knows nothing of the Lagrangian. */
static void test_reference(void **state) {
    (void)state;
    struct lgv_model *m = model_of(BOOM(""));
    struct lgv_kernel a = kernel_of(m, "RATTLE-6"), b = kernel_of(m, "RKMK4");
    double *x = final_values(&a, 0.02, 100, 1, 3, 1), *y = final_values(&b, 0.002, 1000, 1, 3, 1), worst = 0;
    for (size_t i = 0; i < a.watch.count; i++) worst = fmax(worst, fabs(x[i] - y[i]));
    print_message("RATTLE-6 and RKMK4: %.2g apart\n", worst);
    assert_true(worst < 1e-9);
    free(x);
    free(y);
    lgv_kernel_free(&a);
    lgv_kernel_free(&b);
    lgv_model_free(m);
}

/* ---- bits ---- */

static void test_bits(void **state) {
    (void)state;
    struct lgv_model *m = model_of(BOOM(NOISE));
    assert_bits(m, "RATTLE");
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),    cmocka_unit_test(test_symplectic), cmocka_unit_test(test_two_momenta),
        cmocka_unit_test(test_constant),       cmocka_unit_test(test_constant_body),
        cmocka_unit_test(test_vectors),        cmocka_unit_test(test_discrete),   cmocka_unit_test(test_momentum_maps),
        cmocka_unit_test(test_orders),         cmocka_unit_test(test_bits),
        cmocka_unit_test(test_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
