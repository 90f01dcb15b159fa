/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Forces F(q, v, t) and friction as a force in variational methods with constraints, for constant masses and for
 * Lagrangians whose masses depend on q: orders against the equation of the angle on a circle, multipliers, contraction
 * of the symplectic form, and a stationary law. */
#include "langevin.h"

/* On the circle of radius 1, with x = cos a, y = sin a, w = a': L = m(a) w^2/2 - sin a and a force with the component
 * Q = -c w - d (sin^4 a + cos^4 a) w^3 + k (1 + t) along the circle. */
#define FORCE                                                                                                          \
    "force: {x: -c*u - d*u^3 - k*(1 + t)*y, y: -c*v - d*v^3 + k*(1 + t)*x}\nparameters: {c: 0.7, d: 0.5, k: 0.3}\n"
#define CIRCLE "constraints: x^2 + y^2 - 1\nobserve: {l: 'lambda[1]'}\n"
#define CONSTANT                                                                                                       \
    "coordinates: {x: 0.6, y: 0.8}\nmomenta: {u: 0.8, v: -0.6}\nhamiltonian: (u^2 + v^2)/2 + y\n" CIRCLE FORCE
#define VARIABLE                                                                                                       \
    "coordinates: {x: 0.6, y: 0.8}\nvelocities: {u: 0.8, v: -0.6}\n"                                                   \
    "lagrangian: (1 + y^2)*(u^2 + v^2)/2 - y\n" CIRCLE FORCE

struct state {
    long double a, w;
};

static struct state slope(struct state s, long double t, bool variable) {
    long double x = cosl(s.a), y = sinl(s.a), m = variable ? 1 + y * y : 1, mass_slope = variable ? 2 * x * y : 0;
    long double Q = -0.7L * s.w - 0.5L * (y * y * y * y + x * x * x * x) * s.w * s.w * s.w + 0.3L * (1 + t);
    /* (m w)' = m_a w^2/2 - cos a + Q */
    return (struct state){s.w, (-mass_slope * s.w * s.w / 2 - x + Q) / m};
}

static struct state exact(bool variable) {
    enum { STEPS = 4000 };
    struct state s = {atan2l(0.8L, 0.6L), -1}; /* (0.8, -0.6) is -1 times (-y, x) */
    const long double h = 1.0L / STEPS;
    for (int n = 0; n < STEPS; n++) {
        struct state k[4], at = s;
        for (int i = 0; i < 4; i++) {
            long double part = i == 0 ? 0 : i == 3 ? 1 : 0.5L;
            if (i) at = (struct state){s.a + part * h * k[i - 1].a, s.w + part * h * k[i - 1].w};
            k[i] = slope(at, (n + part) * h, variable);
        }
        s.a += h / 6 * (k[0].a + 2 * k[1].a + 2 * k[2].a + k[3].a);
        s.w += h / 6 * (k[0].w + 2 * k[1].w + 2 * k[2].w + k[3].w);
    }
    return s;
}

/* Largest error of the state at t = 1, and the error of the multiplier. */
static double error_of(const char *text, const char *method, bool variable, uint64_t steps, double *lambda) {
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, method);
    struct state s = exact(variable);
    double *value = final_values(&k, 1.0 / (double)steps, steps, 1, 1, 1);
    double x = (double)cosl(s.a), y = (double)sinl(s.a), w = (double)s.w, mass = variable ? 1 + y * y : 1;
    const double want[] = {x, y, -mass * w * y, mass * w * x};
    static const char *const name[2][4] = {{"x", "y", "u", "v"}, {"x", "y", "p_x", "p_y"}};
    double worst = 0;
    for (int i = 0; i < 4; i++) worst = fmax(worst, fabs(value[watch_number(&k, name[variable][i])] - want[i]));
    /* of d(L_v) = L_q + F + 2 lambda q the component along q: (m q')' . q = -m w^2 */
    double radial = -mass * w * w - ((variable ? y * y * w * w : 0) - y) + 0.5 * x * y * (x * x - y * y) * w * w * w;
    *lambda = fabs(value[watch_number(&k, "l")] - radial / 2);
    free(value);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    return worst;
}

static void check_order(const char *text, const char *method, bool variable, double order, uint64_t steps) {
    double lambda[2], coarse = error_of(text, method, variable, steps, &lambda[0]);
    double fine = error_of(text, method, variable, 2 * steps, &lambda[1]), slopes = log2(coarse / fine);
    print_message("%s, %s masses: errors %.3g, %.3g, order %.3f; multiplier %.2g\n", method,
                  variable ? "variable" : "constant", coarse, fine, slopes, lambda[1]);
    assert_near(slopes, order, 0.1, method);
    assert_true(fine < (order == 1 ? 0.05 : 0.002));
    assert_true(lambda[1] < 4.0 / (double)(2 * steps)); /* it is a mean over the step */
}

static void test_orders(void **state) {
    (void)state;
    check_order(CONSTANT, "SVE", false, 1, 80);
    check_order(CONSTANT, "VE-adjoint", false, 1, 80);
    check_order(CONSTANT, "g-SVE-Q", false, 1, 80);
    check_order(CONSTANT, "RATTLE", false, 2, 40);
    check_order(CONSTANT, "RATTLE-Suzuki4", false, 4, 10);
    check_order(VARIABLE, "SVE", true, 1, 80);
    check_order(VARIABLE, "VE-adjoint", true, 1, 80);
    check_order(VARIABLE, "RATTLE", true, 2, 40);
}

/* A force F(q) beside variable masses does the work that H gains: it was left out. */
static void test_work(void **state) {
    (void)state;
    static const char *const text =
        "coordinates: {x: 1, y: 0}\nvelocities: {u: 0, v: 0}\nlagrangian: (1 + y^2)*(u^2 + v^2)/2\n"
        "constraints: x^2 + y^2 - 1\nforce: {y: 1}\nobserve: {work: H - y}\n";
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, "RATTLE");
    double *value = final_values(&k, 0.01, 100, 1, 1, 1);
    assert_true(value[watch_number(&k, "y")] > 0.4);
    assert_near(value[watch_number(&k, "work")], 0, 2e-5, "work");
    free(value);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* ---- friction as a force ---- */

#define SPHERE                                                                                                         \
    "coordinates: {x: 1, y: 0, z: 0}\nmomenta: {u: 0, v: '0.5*normal()', w: '0.5*normal()'}\n"                         \
    "hamiltonian: u^2/2 + v^2/4 + w^2/2 + 2*z^2 + x\nconstraints: x^2 + y^2 + z^2 - 1\n"                               \
    "langevin: {friction: %s, temperature: 1}\nobserve: {a: z^2}\n"
#define CHAIN                                                                                                          \
    "coordinates: {'x[9] in R3': '[0.8*i, 0.6*mod(i, 2), 0]'}\n"                                                       \
    "momenta: {p: '[0.3*normal(), 0.3*normal(), 0.3*normal()]'}\nkinetic: {mass: 2}\n"                                 \
    "potential: sum(i=1..9, dot(x[i], x[i]))/2\n"                                                                      \
    "constraints: ['each(i=1..8, dot(x[i+1] - x[i], x[i+1] - x[i]) - 1)']\nlangevin: {friction: %s, temperature: 1}\n"

#define JOINT                                                                                                          \
    "coordinates: {x in R3: [0, 0.2, 0.8], R in SO3: [0.3, 0, 0]}\n"                                                   \
    "momenta: {p: '[0.2*normal(), 0, 0]', m: '[0.3*normal(), 0.2, 0.1]'}\n"                                            \
    "kinetic: {mass: 1.5, inertia: [0.5, 0.6, 0.7]}\npotential: 0*R.zz\nconstraints: 'x - R*[0, 0.2, 0.8]'\n"          \
    "langevin: {friction: %s, temperature: 0}\nobserve: {L: 'norm(R*m + cross(x, p))'}\n"

/* Where Gamma = gamma M the form of the constraint set contracts by a number, exactly. */
static void check_contraction(const char *text, const char *friction, const char *method, double gamma, double want) {
    char whole[1000];
    snprintf(whole, sizeof whole, text, friction);
    struct lgv_model *m = model_of(whole);
    struct lgv_settings s = settings_of(m);
    struct lgv_result r;
    s.step = 0.02;
    s.until = 0.4;
    s.paths = 16;
    snprintf(s.method, sizeof s.method, "%s", method);
    run_with(m, &s, LGV_OK, &r);
    print_message("%s, gamma %g: contracts by %.10g, off by %.2g\n", method, gamma, r.certificate.form,
                  r.certificate.symplectic_defect);
    assert_near(r.certificate.form, want, 1e-14, "contraction");
    assert_true(r.certificate.symplectic_defect < 1e-9 && r.certificate.constraint < 1e-12);
    lgv_result_clear(&r);
    lgv_model_free(m);
}

static void test_contraction(void **state) {
    (void)state;
    check_contraction(SPHERE, "[0.8, 1.6, 0.8]", "g-SVE-Q", 0.8, 1 - 0.016);
    check_contraction(SPHERE, "[0.8, 1.6, 0.8]", "g-SVE-QI", 0.8, 1 / 1.016);
    check_contraction(CHAIN, "3", "g-SVE-Q", 1.5, 1 - 0.03);
    check_contraction(CHAIN, "3", "g-SVE-QI", 1.5, 1 / 1.03);
}

/* A joint without a potential and at temperature 0: where Gamma = gamma M a step of g-SVE-QI, P = (p + G^T lam)/(1 +
 * dt gamma), is one of g-SVE-Q with friction gamma/(1 + dt gamma). */
static void test_joint(void **state) {
    (void)state;
    static const char *const method[] = {"g-SVE-QI", "g-SVE-Q"};
    static const char *const friction[] = {"{x: 1.2, R: [0.4, 0.48, 0.56]}",
                                           "{x: 1.2/1.016, R: [0.4/1.016, 0.48/1.016, 0.56/1.016]}"};
    double *value[2], worst = 0;
    size_t count = 0;
    for (int i = 0; i < 2; i++) {
        char text[1000];
        snprintf(text, sizeof text, JOINT, friction[i]);
        struct lgv_model *m = model_of(text);
        struct lgv_kernel k = kernel_of(m, method[i]);
        value[i] = final_values(&k, 0.02, 100, 16, 4, 1);
        count = 16 * k.watch.count;
        assert_true(value[i][watch_number(&k, "L")] < 0.3); /* of 0.85 */
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
    for (size_t i = 0; i < count; i++) worst = fmax(worst, fabs(value[0][i] - value[1][i]));
    print_message("a joint, friction implicit and explicit: %.2g apart\n", worst);
    assert_true(worst < 1e-12);
    free(value[0]);
    free(value[1]);
}

/* The same with any friction, from the equation: lam follows from where x goes, (1 + dt Gamma/M) M (x' - x)/dt = p +
 * lam, and the body turns freely with (m - c x R^T lam)/(1 + dt Gamma/I). */
static void test_joint_equation(void **state) {
    (void)state;
    const double dt = 0.05, drag[3] = {0.3, 1.1, 0.2}, inertia[3] = {0.5, 0.6, 0.7}, c[3] = {0, 0.2, 0.8};
    const double C = cos(0.3), S = sin(0.3), m[3] = {0.4, -0.3, 0.5}, p[3] = {0.2, 0.7, -0.1};
    const double x[3] = {0, c[1] * C - c[2] * S, c[1] * S + c[2] * C};
    double at[13] = {x[0], x[1], x[2], cos(0.15), sin(0.15), 0, 0, p[0], p[1], p[2], m[0], m[1], m[2]}, lam[3];
    double body[7] = {cos(0.15), sin(0.15), 0, 0}, worst = 0;
    char text[1000];
    snprintf(text, sizeof text, JOINT, "{x: 2, R: [0.3, 1.1, 0.2]}");
    struct lgv_model *joint = model_of(text);
    struct lgv_model *free_body = model_of("coordinates: {R in SO3: [0.3, 0, 0]}\nkinetic: {inertia: [0.5, 0.6, 0.7]}\n"
                                           "potential: 0*R.zz\n");
    struct lgv_kernel k = kernel_of(joint, "g-SVE-QI"), turn = kernel_of(free_body, "BAB");
    assert_true(one_step_of(&k, 0, dt, 3, 5, 7, at));
    for (int i = 0; i < 3; i++) lam[i] = (1 + dt * 2 / 1.5) * 1.5 * (at[i] - x[i]) / dt - p[i];
    const double back[3] = {lam[0], C * lam[1] + S * lam[2], C * lam[2] - S * lam[1]};
    for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        body[4 + i] = (m[i] - (c[a] * back[b] - c[b] * back[a])) / (1 + dt * drag[i] / inertia[i]);
    }
    assert_true(one_step_of(&turn, 0, dt, 3, 5, 7, body));
    for (int i = 0; i < 4; i++) worst = fmax(worst, fabs(body[i] - at[3 + i]));
    print_message("a joint with any friction: %.2g from its equation\n", worst);
    assert_true(worst < 1e-13);
    lgv_kernel_free(&k);
    lgv_kernel_free(&turn);
    lgv_model_free(joint);
    lgv_model_free(free_body);
}

/* The mean of z^2 in exp(-V) on the sphere, in the area that the masses 1, 2, 1 measure: sqrt(det G M^-1 G^T) times
 * the plain one, |q|_{M^-1}. */
static double stationary_square(void) {
    enum { N = 400 };
    double total = 0, square = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double s = M_PI * (i + 0.5) / N, t = 2 * M_PI * (j + 0.5) / N;
            double z = cos(s), x = sin(s) * cos(t), y = sin(s) * sin(t);
            double w = sin(s) * sqrt(x * x + y * y / 2 + z * z) * exp(-2 * z * z - x);
            total += w;
            square += w * z * z;
        }
    return square / total;
}

/* Friction that is no multiple of the mass, and one that depends on q. */
static void test_law(void **state) {
    (void)state;
    enum { PATHS = 5000 };
    static const char *const friction[] = {"[0.5, 1, 2]", "{x: 1 + z^2, y: 1, z: 2}", "[0.5, 1, 2]"};
    static const char *const method[] = {"g-SVE-Q", "g-SVE-QI", "g-SVE-QI"};
    for (size_t i = 0; i < 3; i++) {
        char text[1000];
        double mean = 0, square = 0, want = stationary_square();
        snprintf(text, sizeof text, SPHERE, friction[i]);
        struct lgv_model *m = model_of(text);
        struct lgv_kernel k = kernel_of(m, method[i]);
        double *value = final_values(&k, 0.02, 400, PATHS, 4, 1);
        for (size_t n = 0; n < PATHS; n++) {
            double x = value[n * k.watch.count + watch_number(&k, "a")];
            mean += x / PATHS;
            square += x * x / PATHS;
        }
        double error = sqrt((square - mean * mean) / PATHS);
        print_message("%s, friction %s: %.4f +- %.4f, exact %.4f\n", method[i], friction[i], mean, error, want);
        assert_near(mean, want, 4 * error, "law"); /* the bias of the step is smaller */
        free(value);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

/* Where friction is no multiple of the mass the noise of a step is dW: what is drawn beside it does not matter. */
static void test_increments(void **state) {
    (void)state;
    char text[1000];
    snprintf(text, sizeof text, SPHERE, "[0.5, 1, 2]");
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, "g-SVE-Q");
    double x[2][6] = {{1, 0, 0, 0, 0.2, -0.3}, {1, 0, 0, 0, 0.2, -0.3}};
    double given[2][6] = {{0, 0.3, -0.1}, {0, 0.3, -0.1}};
    assert_int_equal(rows_of(&k), 6);
    for (int i = 3; i < 6; i++) given[1][i] = 0.2;
    for (int i = 0; i < 2; i++) step_given(&k, 0, 0.05, given[i], x[i]);
    for (int i = 0; i < 6; i++) assert_true(x[0][i] == x[1][i]);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_contraction), cmocka_unit_test(test_joint),
        cmocka_unit_test(test_joint_equation),
        cmocka_unit_test(test_law),
        cmocka_unit_test(test_increments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
