/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friction and a bath with Lagrangians whose masses or inertia vary, on groups and on vectors: the discrete equations
 * of g-SVE-Q and g-SVE-QI from outside, with friction at xi that belongs to m and at xi of the step; the stationary
 * law, in which det M(q) counts; equipartition with joints; strong orders; bits; refusals. */
#include "bodies.h"
#include "study/study.h"

#define DT 0.1
#define DRAG_R 1.2
#define DRAG_S 1.1
#define KT 0.5
/* A body with an arm of variable length. */
#define ARM                                                                                                            \
    "coordinates: {R in SO3: [0.4, 0.1, -0.3], s: 0.5}\nvelocities: {w: [0.3, 1, 0.7], u: 0.2}\n"                      \
    "lagrangian: (1 + s^2/2)*w.x^2/2 + (1.4 + s^2/2)*w.y^2/2 + 0.9*w.z^2/2 + u^2/2 - (s - 1)^2 - R.zz\n"
#define COLD "langevin: {friction: {R: 1.2, s: 1.1}, temperature: 0}\n"
#define WARM "langevin: {friction: {R: 1.2, s: 1.1}, temperature: 0.5}\n"
#define PENDULUM                                                                                                       \
    "coordinates: {a: 0.5, b: 0}\nvelocities: {u: 0.2, w: 0.3}\n"                                                      \
    "lagrangian: u^2 + u*w*cos(a - b) + w^2/2 + 2*cos(a) + cos(b)\nobserve: {A: cos(a), B: cos(b), C: cos(a - b)}\n"
/* Two bodies on ball joints, with a mass inside the first. */
#define JOINTED                                                                                                        \
    "coordinates: {'b[2] in SE3': {position: '[0, 0, 0.5 - i]'}, s: 0.2}\n"                                            \
    "velocities: {w: {angular: '[0.4, 0, 0.3]', linear: '[0, 0.4*(i - 0.5), 0]'}, u: 0.1}\n"                           \
    "lagrangian: sum(i=1..2, dot(w[i].linear, w[i].linear)/2 + (0.3 + 0.3*s^2)*w[i].angular.x^2/2"                     \
    " + 0.2*w[i].angular.y^2 + w[i].angular.z^2/8 - b[i].position.z) + u^2/2 - 2*s^2\n"                                \
    "constraints: ['b[1]*[0,0,0.5]', 'b[1]*[0,0,-0.5] - b[2]*[0,0,0.5]']\n"                                            \
    "langevin: {friction: {b: {position: 0.6, rotation: 0.4}, s: 0.5}, temperature: 0.5}\n"

/* u with cay(u) = R_0^T R_1, of unit quaternions. */
static void turn_between(const double *a, const double *b, double *u) {
    double w = a[0] * b[0], once[3];
    cross(a + 1, b + 1, once);
    for (int i = 0; i < 3; i++) w += a[1 + i] * b[1 + i];
    for (int i = 0; i < 3; i++) u[i] = 2 * (a[0] * b[1 + i] - b[0] * a[1 + i] - once[i]) / w;
}

/* What is left of (dcay^-1_u)^* I xi = m + dt (l_g - Gamma xi_F) and u_s = p + dt (l_s - gamma u_F) of a step. */
static double residual(const double *x, const double *y, bool inside) {
    const double s = x[4], *q = x, *m = x + 5, I[3] = {1 + s * s / 2, 1.4 + s * s / 2, 0.9};
    const double up[3] = {2 * (q[1] * q[3] - q[0] * q[2]), 2 * (q[2] * q[3] + q[0] * q[1]), /* R^T e_z */
                          1 - 2 * (q[1] * q[1] + q[2] * q[2])},
                 axis[3] = {0, 0, 1};
    double u[3], xi[3], mu[3], once[3], torque[3], inner = 0, worst = 0;
    turn_between(x, y, u);
    for (int i = 0; i < 3; i++) xi[i] = u[i] / DT, mu[i] = I[i] * xi[i], inner += u[i] * mu[i] / 4;
    cross(u, mu, once);
    cross(up, axis, torque);
    for (int i = 0; i < 3; i++) {
        double drag = DRAG_R * (inside ? xi[i] : m[i] / I[i]);
        worst = fmax(worst, fabs(mu[i] + once[i] / 2 + inner * u[i] - m[i] - DT * (torque[i] - drag)));
    }
    const double v = (y[4] - s) / DT, pull = s / 2 * (xi[0] * xi[0] + xi[1] * xi[1]) - 2 * (s - 1);
    return fmax(worst, fabs(v - x[8] - DT * (pull - DRAG_S * (inside ? v : x[8]))));
}

static void test_equation(void **state) {
    (void)state;
    static const char *const method[] = {"g-SVE-Q", "g-SVE-QI"};
    struct lgv_model *m = model_of(ARM COLD);
    for (int k = 0; k < 2; k++) {
        struct lgv_kernel kernel = kernel_of(m, method[k]);
        uint64_t seed = 5;
        for (int n = 0; n < 20; n++) {
            double x[9], y[9];
            for (int i = 0; i < 9; i++) x[i] = 2 * uniform_of(&seed) - 1;
            lgv_rotations_clean(m->graph, x);
            memcpy(y, x, sizeof y);
            assert_true(one_step_of(&kernel, 0, DT, 3, 5, 7, y));
            assert_true(residual(x, y, k == 1) < 1e-13);
            assert_true(residual(x, y, k == 0) > 1e-6);
        }
        lgv_kernel_free(&kernel);
    }
    lgv_model_free(m);
}

/* ---- the law ---- */

/* Means of s and s^2 with the weight sqrt(det M) exp(-(s - 1)^2/kT). */
static void arm_law(double *mean, double *square) {
    double sum = 0;
    *mean = *square = 0;
    for (int i = -4000; i <= 6000; i++) {
        double s = i * 1e-3, w = sqrt((1 + s * s / 2) * (1.4 + s * s / 2)) * exp(-(s - 1) * (s - 1) / KT);
        sum += w, *mean += s * w, *square += s * s * w;
    }
    *mean /= sum;
    *square /= sum;
}

static void pendulum_law(double mean[3]) {
    enum { N = 200 };
    double sum = 0;
    mean[0] = mean[1] = mean[2] = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double a = 2 * M_PI * i / N, b = 2 * M_PI * j / N, c = cos(a - b);
            double w = sqrt(2 - c * c) * exp((2 * cos(a) + cos(b)) / KT);
            sum += w, mean[0] += w * cos(a), mean[1] += w * cos(b), mean[2] += w * c;
        }
    for (int k = 0; k < 3; k++) mean[k] /= sum;
}

static void test_law(void **state) {
    (void)state;
    enum { PATHS = 3000 };
    static const struct {
        const char *method;
        double dt;
    } row[] = {{"RATTLE-GLA", 0.1}, {"RATTLE-exp-GLA", 0.1}, {"g-SVE-Q", 0.02}, {"g-SVE-QI", 0.02}};
    const double up = -(1 / tanh(1 / KT) - KT);
    double s, square;
    arm_law(&s, &square);
    struct lgv_model *m = model_of(ARM WARM "observe: {up: R.zz, at: s, square: s^2}\n");
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_kernel k = kernel_with(m, row[i].method, 8, NULL);
        double *value = final_values(&k, row[i].dt, (uint64_t)(12 / row[i].dt), PATHS, 11, 1);
        assert_mean(&k, value, PATHS, "up", up, 3);
        assert_mean(&k, value, PATHS, "at", s, 3);
        assert_mean(&k, value, PATHS, "square", square, 3);
        assert_mean(&k, value, PATHS, "kinetic_temperature", KT, 3);
        free(value);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* Vectors; friction as a matrix, and as a function of q. */
static void test_vectors(void **state) {
    (void)state;
    enum { PATHS = 3000 };
    static const char *const text[] = {PENDULUM "langevin: {friction: [[0.7, 0.2], [0.2, 0.4]], temperature: 0.5}\n",
                                       PENDULUM "langevin: {friction: [0.7 + 0.3*cos(b), 0.4], temperature: 0.5}\n"};
    double mean[3];
    pendulum_law(mean);
    for (size_t i = 0; i < 2; i++) {
        struct lgv_model *m = model_of(text[i]);
        struct lgv_kernel k = kernel_with(m, "RATTLE-GLA", 8, NULL);
        double *value = final_values(&k, 0.1, 150, PATHS, 11, 1);
        assert_mean(&k, value, PATHS, "A", mean[0], 3);
        assert_mean(&k, value, PATHS, "B", mean[1], 3);
        assert_mean(&k, value, PATHS, "C", mean[2], 3);
        assert_mean(&k, value, PATHS, "kinetic_temperature", KT, 3);
        free(value);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

static void test_joints(void **state) {
    (void)state;
    enum { PATHS = 400 };
    struct lgv_model *m = model_of(JOINTED);
    struct lgv_kernel k = kernel_with(m, "RATTLE-GLA", 8, NULL);
    double *value = final_values(&k, 0.1, 60, PATHS, 5, 1);
    assert_mean(&k, value, PATHS, "kinetic_temperature", KT, 3);
    free(value);
    lgv_kernel_free(&k);
    assert_bits(m, "g-SVE-QI");
    lgv_model_free(m);
}

/* ---- orders ---- */

static void test_orders(void **state) {
    (void)state;
    struct lgv_model *m = model_of(ARM WARM);
    struct lgv_settings s = settings_of(m);
    struct lgv_convergence_options o = {.methods = "RATTLE-GLA,g-SVE-Q,g-SVE-QI", .largest = 0.05, .levels = 3};
    struct lgv_convergence c;
    struct lgv_error err = {0};
    s.until = 1;
    s.paths = 256;
    if (lgv_converge(m, &s, &o, NULL, NULL, &c, &err) != LGV_OK) fail_msg("%s", err.message);
    for (size_t k = 0; k < 3; k++) {
        const struct lgv_convergence_method *r = &c.method[k];
        print_message("%s: order %.3f +- %.3f\n", r->method->name, r->order, r->order_stderr);
        assert_true(r->order_stderr < 0.05);
        assert_near(r->order, 1, 4 * r->order_stderr + 0.03, r->method->name);
    }
    lgv_convergence_clear(&c);
    lgv_model_free(m);
}

static void test_bits(void **state) {
    (void)state;
    struct lgv_model *m = model_of(ARM WARM);
    assert_bits(m, "RATTLE-GLA");
    lgv_model_free(m);
}

static void test_refused(void **state) {
    (void)state;
    static const struct misfit row[] = {
        {ARM WARM, "g-BAOAB", "constant masses and inertia"},
        {ARM WARM, "RATTLE-GLA-Metropolis", "needs constant masses and inertia"},
        {ARM WARM, "RATTLE", "knows nothing of them"},
        {"coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/(2 + cos(q))\n"
         "langevin: {friction: 1, temperature: 1}\n", "EEM", "write the model with `lagrangian:`"},
    };
    assert_misfits(row, sizeof row / sizeof *row);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_equation), cmocka_unit_test(test_law),
                                       cmocka_unit_test(test_vectors),  cmocka_unit_test(test_joints),
                                       cmocka_unit_test(test_orders),   cmocka_unit_test(test_bits),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
