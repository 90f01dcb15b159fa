/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The variational Euler method on SO(3) and what is built on it: friction and bath as forces of the step, the spatial
 * form of the equations, the two momenta m and mu, vectors as a group, and weights J and dW - J of the noise. */
#include "bodies.h"

#define TENSOR "[[1, 0.2, 0.1], [0.2, 1.4, -0.1], [0.1, -0.1, 1.7]]"
#define TOP(inertia)                                                                                                   \
    "parameters: {g: 0}\ncoordinates: {R in SO3: [0.4, 0.1, -0.3], x: 0.3}\nmomenta: {m: [0.1, 0.2, 2], p: 0.2}\n"     \
    "kinetic: {inertia: " inertia "}\npotential: R.zz + 0.3*R.xx*R.yz + x*R.xy + x^2\nnoise: [0.7*R.zz, 0.5*R.xy]\n"

static const double inertia[3] = {1, 1.4, 0.9};

/* ---- friction and bath as forces of the step ---- */

static void assert_same_paths(struct lgv_model *a, const char *one, struct lgv_model *b, const char *other) {
    double d = apart(a, one, b, other);
    if (d != 0) fail_msg("%s and %s differ by %g", one, other, d);
}

/* Without friction, and with a force that is nothing, they are the word BR. */
static void test_without_friction(void **state) {
    (void)state;
    static const char *const text[] = {TOP("[1, 1.4, 0.9]"), TOP(TENSOR)};
    for (size_t i = 0; i < 2; i++) {
        char forced[800];
        snprintf(forced, sizeof forced, "%sforce: {R: 'g*m', x: 'g*p'}\n", text[i]);
        struct lgv_model *m = model_of(text[i]), *f = model_of(forced);
        assert_same_paths(f, "SVE-Q", m, "BR");
        assert_same_paths(f, "SVE-QI", m, "BR");
        lgv_model_free(f);
        if (i == 0) { /* friction 0 in a bath: no noise of the model beside it, since the bath has its own */
            f = model_of("coordinates: {R in SO3: [0.4, 0.1, -0.3]}\nmomenta: {m: [0.1, 0.2, 2]}\n"
                         "kinetic: {inertia: [1, 1.4, 0.9]}\npotential: R.zz\nparameters: {g: 0}\n"
                         "langevin: {friction: g, temperature: 0.4}\n");
            struct lgv_model *free_of = model_of("coordinates: {R in SO3: [0.4, 0.1, -0.3]}\n"
                                                 "momenta: {m: [0.1, 0.2, 2]}\n"
                                                 "kinetic: {inertia: [1, 1.4, 0.9]}\npotential: R.zz\n");
            assert_same_paths(f, "SVE-Q", free_of, "BR");
            assert_same_paths(f, "SVE-QI", free_of, "BR");
            lgv_model_free(f);
            lgv_model_free(free_of);
        }
        lgv_model_free(m);
    }
}

/* Phase volume, by all of the Jacobian: det(1 - dt Gamma M^-1), its inverse with the other sign, and their halves. */
static void test_contraction(void **state) {
    (void)state;
    static const char *const method[] = {"SVE-Q", "SVE-QI", "BBK", "BAOAB"};
    static const double rate[] = {0.3 / 1, 0.8 / 1.4, 0.5 / 0.9, 0.6 / 2};
    const double dt = 0.1;
    struct lgv_model *m = model_of("coordinates: {R in SO3: [0.4, 0.1, -0.3], x: 0.3}\n"
                                   "momenta: {m: [0.1, 0.2, 2], p: 0.2}\n"
                                   "kinetic: {mass: {x: 2}, inertia: [1, 1.4, 0.9]}\n"
                                   "potential: R.zz + 0.3*R.xx*R.yz + x*R.xy + x^2\n"
                                   "langevin: {friction: {R: [0.3, 0.8, 0.5], x: 0.6}, temperature: 0.4}\n");
    for (size_t k = 0; k < 4; k++) {
        struct lgv_kernel kernel = kernel_of(m, method[k]);
        double want = 1, x[9] = {0.9, 0.3, -0.1, 0.3, 0.2, 0.5, -0.7, 1.3, 0.4};
        for (size_t i = 0; i < 4; i++) {
            double a = rate[i] * dt;
            want *= k == 0 ? 1 - a : k == 1 ? 1 / (1 + a) : k == 2 ? (1 - a / 2) / (1 + a / 2) : exp(-a);
        }
        struct lgv_defect how = {.rotations = m->graph};
        lgv_certificate_defect(&kernel, 0, dt, 5, 1, 3, x, NULL, NULL, NULL, &how);
        print_message("%s: %.12f, %.12f (%.1g)\n", method[k], how.volume, want, how.volume_error);
        assert_true(how.volume_error < 1e-10);
        assert_near(how.volume, want, 1e-10, "phase volume");
        lgv_kernel_free(&kernel);
    }
    lgv_model_free(m);
}

/* The same step with friction at the xi that the step solves for, at m as it begins, for inertia 1, 1.4, 0.9. */
static void friction_inside(double dt, const double *drag, const double *m, double *out) {
    const double *I = inertia;
    double xi[3] = {0}, r[3];
    for (int round = 0; round < 200; round++) { /* I xi + dt/2 xi x I xi + dt^2/4 (xi.I xi) xi = m - dt Gamma xi = r */
        double J[3] = {I[0] * xi[0], I[1] * xi[1], I[2] * xi[2]}, square = xi[0] * J[0] + xi[1] * J[1] + xi[2] * J[2];
        double turned[3] = {xi[1] * J[2] - xi[2] * J[1], xi[2] * J[0] - xi[0] * J[2], xi[0] * J[1] - xi[1] * J[0]};
        for (int i = 0; i < 3; i++) r[i] = m[i] - dt * drag[i] * xi[i];
        for (int i = 0; i < 3; i++)
            xi[i] = (r[i] - dt / 2 * turned[i] - dt * dt / 4 * square * xi[i]) / I[i];
    }
    double x[3] = {dt * xi[0], dt * xi[1], dt * xi[2]}, size = 4 + x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    double once[3] = {x[1] * r[2] - x[2] * r[1], x[2] * r[0] - x[0] * r[2], x[0] * r[1] - x[1] * r[0]};
    double twice[3] = {x[1] * once[2] - x[2] * once[1], x[2] * once[0] - x[0] * once[2],
                       x[0] * once[1] - x[1] * once[0]};
    for (int i = 0; i < 3; i++) out[i] = r[i] + 4 / size * (-once[i] + twice[i] / 2); /* cay(x)^T r */
}

/* It is another method of order 1: they differ by O(dt^2) in a step. */
static void test_friction_inside(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {R in SO3: [0, 0, 0]}\nmomenta: {m: [0.5, -0.7, 1.3]}\n"
                                   "kinetic: {inertia: [1, 1.4, 0.9]}\npotential: 0*R.zz\n"
                                   "langevin: {friction: [0.3, 0.8, 0.5], temperature: 0}\n");
    static const double drag[3] = {0.3, 0.8, 0.5}, none[3] = {0};
    struct lgv_kernel k = kernel_of(m, "SVE-QI");
    double off[3];
    for (int level = 0; level < 3; level++) {
        double dt = 0.04 / (1 << level), x[7] = {1, 0, 0, 0, 0.5, -0.7, 1.3}, y[3], relaxed[3];
        friction_inside(dt, drag, x + 4, y);
        for (int i = 0; i < 3; i++) relaxed[i] = x[4 + i] / (1 + dt * drag[i] / inertia[i]);
        assert_true(one_step_of(&k, 0, dt, 3, 5, 0, x));
        friction_inside(dt, none, relaxed, relaxed);
        off[level] = 0;
        for (int i = 0; i < 3; i++) {
            assert_near(x[4 + i], relaxed[i], 1e-14, "SVE-QI");
            off[level] = fmax(off[level], fabs(x[4 + i] - y[i]));
        }
    }
    print_message("friction inside the equation: %.2g, %.2g, %.2g apart\n", off[0], off[1], off[2]);
    assert_near(log2(off[0] / off[1]), 2, 0.1, "power of dt");
    assert_near(log2(off[1] / off[2]), 2, 0.05, "power of dt");
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* V = a R.zz at temperature kT; a bias of order dt is below the statistical error. */
static void test_law(void **state) {
    (void)state;
    static const char *const method[] = {"SVE-Q", "SVE-QI"}, *const name[] = {"up", "T1", "T3", "Tx"};
    enum { PATHS = 6000 };
    struct lgv_model *m = model_of(
        "parameters: {a: 2, kT: 0.8}\ncoordinates: {R in SO3: uniform, x: 0}\n"
        "momenta: {m: '[normal(), normal(), normal()]', p: normal()}\nkinetic: {inertia: [0.6, 1, 1.3]}\n"
        "potential: a*R.zz + x^2\nlangevin: {friction: {R: [0.6, 1, 0.4], x: 0.7}, temperature: kT}\n"
        "observe: {up: R.zz, T1: m.x^2/0.6, T3: m.z^2/1.3, Tx: p^2}\n");
    for (size_t i = 0; i < 2; i++) {
        struct lgv_kernel k = kernel_of(m, method[i]);
        double *value = final_values(&k, 0.01, 1000, PATHS, 11, 1), ratio = 2 / 0.8, up = 1 / ratio - 1 / tanh(ratio);
        for (size_t o = 0; o < 4; o++) assert_mean(&k, value, PATHS, name[o], o ? 0.8 : up, 4);
        free(value);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* ---- vectors as a group ---- */

/* Of a vector beside a rotation BR is BA, bit by bit: kick, then q' = q + dt M^-1 p'.  P1N1Q1Rec is the other order of
 * the two, AB, and rounds a kick in one sum, not in one product after the other. */
#define VECTORS "hamiltonian: u^2/2 + v^2/3 + x^4/4 + x*y^2"
static void test_vectors(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {x: 0.5, y: 0.2}\nmomenta: {u: 0.3, v: -0.4}\n"
                                   VECTORS "\nnoise: [0.4*x*y, 0.3*sin(x)]\n");
    struct lgv_model *with = model_of("coordinates: {x: 0.5, R in SO3: [0.4, 0.1, -0.3], y: 0.2}\n"
                                      "momenta: {u: 0.3, m: [0, 0.3, 0.2], v: -0.4}\n"
                                      VECTORS " + dot(m, m)/2\nnoise: [0.4*x*y, 0.3*sin(x)]\n");
    assert_same_paths(m, "BA", with, "BR");
    double d = apart(m, "AB", m, "P1N1Q1Rec");
    if (!(d < 1e-13)) fail_msg("AB and P1N1Q1Rec differ by %g", d);
    assert_true(apart(m, "BA", m, "P1N1Q1Rec") > 1e-3);
    lgv_model_free(m);
    lgv_model_free(with);
}

/* ---- the spatial form, and mu ---- */

#define DT 0.1
#define FREE_TOP                                                                                                       \
    "coordinates: {R in SO3: [0.4, 0.1, -0.3]}\nmomenta: {m: [0.1, 0.2, 2]}\nkinetic: {inertia: [1, 1.4, 0.9]}\n"      \
    "potential: R.zz\nnoise: [0.7*R.zz, 0.5*R.xx]\n"

/* R v, or R^T v */
static void turned(const double *R, bool back, const double *v, double *out) {
    for (int i = 0; i < 3; i++) {
        out[i] = 0;
        for (int j = 0; j < 3; j++) out[i] += R[back ? 3 * j + i : 3 * i + j] * v[j];
    }
}

static void matrix_of(const double *q, double *R) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int k = 3 - i - j;
            R[3 * i + j] = i == j ? 2 * (q[0] * q[0] + q[1 + i] * q[1 + i]) - 1
                                  : 2 * (q[1 + i] * q[1 + j] + ((j - i + 3) % 3 == 1 ? -1 : 1) * q[0] * q[1 + k]);
        }
}

/* cay(w) R */
static void cayley_times(const double *w, const double *R, double *out) {
    double factor = 4 / (4 + w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    for (int j = 0; j < 3; j++) {
        double x[3] = {R[j], R[3 + j], R[6 + j]}, once[3], twice[3];
        cross(w, x, once);
        cross(w, once, twice);
        for (int i = 0; i < 3; i++) out[3 * i + j] = x[i] + factor * (once[i] + twice[i] / 2);
    }
}

/* (dcay^-1_{-w})^* y = y - w x y/2 + w (w.y)/4 */
static void dual(const double *w, const double *y, double *out) {
    double once[3], along = w[0] * y[0] + w[1] * y[1] + w[2] * y[2];
    cross(w, y, once);
    for (int i = 0; i < 3; i++) out[i] = y[i] - once[i] / 2 + w[i] * along / 4;
}

/* (dcay^-1_{-dt w})^* R I R^T w, for the R that the step with w leads to, or that it is given. */
static void momentum_of(const double *R, bool moves, const double *w, double *out) {
    double at[9], x[3], y[3], step[3] = {DT * w[0], DT * w[1], DT * w[2]};
    memcpy(at, R, sizeof at);
    if (moves) cayley_times(step, R, at);
    turned(at, true, w, x);
    for (int i = 0; i < 3; i++) x[i] *= inertia[i];
    turned(at, false, x, y);
    dual(step, y, out);
}

/* w with that momentum, by a fixed point with the matrix of the beginning. */
static void velocity_of(const double *R, bool moves, const double *momentum, double *w) {
    for (int i = 0; i < 3; i++) w[i] = 0;
    for (int round = 0; round < 200; round++) {
        double y[3], x[3], e[3];
        momentum_of(R, moves, w, y);
        for (int i = 0; i < 3; i++) y[i] = momentum[i] - y[i];
        turned(R, true, y, x);
        for (int i = 0; i < 3; i++) x[i] /= inertia[i];
        turned(R, false, x, e);
        for (int i = 0; i < 3; i++) w[i] += e[i];
    }
}

/* Spatial form: (dtau^-1_{-dt w+})^* pi+ = (dtau^-1_{-dt w})^* pi - dt U_R - sum h_R dW, R+ = tau(dt w+) R. */
static void test_spatial(void **state) {
    (void)state;
    struct lgv_model *m = model_of(FREE_TOP);
    struct lgv_kernel k = kernel_of(m, "LieEuler-spatial"); /* the same map as the body form, BR, and the same bits */
    assert_same_paths(m, "LieEuler-spatial", m, "BR");
    double x[7] = {0.5, 0.5, 0.5, -0.5, 0.1, 0.2, 2}, R[9], w[3], y[3], off = 0;
    matrix_of(x, R);
    turned(R, false, x + 4, y);
    velocity_of(R, false, y, w);
    for (uint64_t step = 0; step < 50; step++) {
        double dW[2], e[3], axis[2][3] = {{0, 0, 1}, {1, 0, 0}}, next[9], turn[3], S[9];
        increments_of(3, 5, step, DT, 2, dW);
        const double weight[2] = {DT + 0.7 * dW[0], 0.5 * dW[1]};
        momentum_of(R, false, w, y);
        for (int a = 0; a < 2; a++) { /* the gradient of e.R e in space is (R e) x e */
            double Re[3];
            turned(R, false, axis[a], Re);
            cross(Re, axis[a], e);
            for (int i = 0; i < 3; i++) y[i] -= weight[a] * e[i];
        }
        velocity_of(R, true, y, w);
        for (int i = 0; i < 3; i++) turn[i] = DT * w[i];
        cayley_times(turn, R, next);
        memcpy(R, next, sizeof R);
        assert_true(one_step_of(&k, 0, DT, 3, 5, step, x));
        matrix_of(x, S);
        for (int i = 0; i < 9; i++) off = fmax(off, fabs(R[i] - S[i]));
        momentum_of(R, false, w, y);
        turned(R, true, y, e);
        for (int i = 0; i < 3; i++) off = fmax(off, fabs(e[i] - x[4 + i]));
    }
    print_message("spatial and body form: %.2g apart\n", off);
    assert_true(off < 1e-12);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* m from mu = I xi, or back: m = (dtau^-1_{-dt xi})^* I xi. */
static void other_momentum(bool to_m, double *x) {
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double xi[3];
    if (to_m) {
        for (int i = 0; i < 3; i++) xi[i] = x[i] / inertia[i];
        momentum_of(one, false, xi, x);
    } else {
        velocity_of(one, false, x, xi);
        for (int i = 0; i < 3; i++) x[i] = xi[i] * inertia[i];
    }
}

static void to_m(const double *x, double *y) {
    (void)x;
    other_momentum(true, y);
}

static void to_mu(const double *x, double *y) {
    (void)x;
    other_momentum(false, y);
}

static void test_two_momenta(void **state) {
    (void)state;
    static const double x[7] = {0.5, 0.5, 0.5, -0.5, 0.4, 0.7, 2};
    struct lgv_model *m = model_of(FREE_TOP);
    struct lgv_kernel k = kernel_of(m, "BR");
    assert_two_momenta((struct form_at){&k, m->graph, 3, DT, x, to_m, to_mu});
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* xi = I^-1 m, and mu by the fixed point x <- J(m + dt/2 x x I x - dt^2/4 (x.I x) x): round by round, and by name. */
static void test_observed(void **state) {
    (void)state;
    char text[1500] = "parameters: {dt: 0.1}\n" FREE_TOP
                      "where: {I(v): '[v.x, 1.4*v.y, 0.9*v.z]', J(v): '[v.x, v.y/1.4, v.z/0.9]',\n"
                      "  round(x): 'J(m + dt/2*cross(x, I(x)) - dt^2/4*dot(x, I(x))*x)', x0: J(m)";
    for (int k = 1; k <= 24; k++) snprintf(text + strlen(text), 60, ", x%d: round(x%d)", k, k - 1);
    strcat(text, "}\nobserve: {xi: xi, rate: J(m), mu: mu, other: I(x24), named: mu_R - xi_R}\n");
    struct lgv_model *model = model_of(text);
    struct lgv_kernel k = kernel_of(model, "BR");
    double *value = final_values(&k, DT, 20, 24, 3, 1), off[4] = {0};
    const size_t xi = watch_number(&k, "xi.x"), rate = watch_number(&k, "rate.x"), mu = watch_number(&k, "mu.x");
    const size_t other = watch_number(&k, "other.x"), named = watch_number(&k, "named.x"), m = watch_number(&k, "m.x");
    for (double *x = value; x < value + 24 * k.watch.count; x += k.watch.count) {
        double want[3] = {x[m], x[m + 1], x[m + 2]};
        other_momentum(false, want);
        for (size_t i = 0; i < 3; i++) {
            off[0] = fmax(off[0], fabs(x[xi + i] - x[rate + i]));
            off[1] = fmax(off[1], fabs(x[mu + i] - x[other + i]));
            off[2] = fmax(off[2], fabs(x[mu + i] - want[i]));
            off[3] = fmax(off[3], fabs(x[mu + i] - x[xi + i] - x[named + i]));
        }
    }
    print_message("xi: %.2g, mu: %.2g and %.2g, other names: %.2g\n", off[0], off[1], off[2], off[3]);
    for (int i = 0; i < 4; i++) assert_true(off[i] < 1e-14);
    free(value);
    lgv_kernel_free(&k);
    lgv_model_free(model);
}

/* The equation of mu, in axes that are not principal ones, for small turns and for many at once; and in arrays. */
#define LEFT(mu) mu " - h*cross(J(" mu "), " mu ") + h^2*dot(J(" mu "), " mu ")*J(" mu ")"
static void test_equation_of_mu(void **state) {
    (void)state;
    static const double step[] = {0.01, 0.1, 1, 10, 100};
    struct lgv_model *m = model_of(
        "parameters: {h: 0}\nwhere: {J(v): '[v.x + 0.2*v.y, 0.2*v.x + 0.8*v.y - 0.1*v.z, 0.7*v.z - 0.1*v.y]'}\n"
        "coordinates: {R in SO3: [0.4, 0.1, -0.3], 'b[2] in SE3': {}}\n"
        "momenta: {m: '[normal(), normal(), 1]', p: {linear: normal(), angular: normal()}}\n"
        "hamiltonian: 'dot(m, J(m))/2 + R.zz + sum(i=1..2, dot(p[i].linear, p[i].linear)/3 + "
        "dot(p[i].angular, J(p[i].angular))/2)'\n"
        "observe: {one: '" LEFT("mu_R") " - m', of: 'each(i=1..2, " LEFT("mu_b[i].angular") " - p[i].angular)',\n"
        "  linear: 'each(i=1..2, mu_b[i].linear - p[i].linear)', v: 'xi_b[2].linear - p[2].linear*2/3',\n"
        "  w: 'sum(i=1..2, xi_b[i].angular.x) - (J(p[1].angular) + J(p[2].angular)).x', far: norm(mu_R - m)}\n");
    for (size_t s = 0; s < 5; s++) {
        m->par[0] = step[s] / 2;
        struct lgv_kernel k = kernel_of(m, "BR");
        double *value = final_values(&k, step[s], 3, 40, 3, 1), off = 0, size = 0;
        size_t from = watch_number(&k, "one.x"), far = watch_number(&k, "far");
        for (size_t p = 0; p < 40; p++) {
            const double *x = value + p * k.watch.count;
            for (size_t i = from; i < far; i++) off = fmax(off, fabs(x[i]));
            size = fmax(size, x[far]);
        }
        print_message("step %g: equation of mu to %.2g, mu - m up to %.2g\n", step[s], off, size);
        assert_int_equal(far - from, 3 + 6 + 6 + 3 + 1);
        assert_true(off < 3e-14 && size > step[s] / (1 + step[s]) / 10);
        free(value);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* The same of bodies whose inertia couples position and rotation: both equations, and the step that mu leads through,
 * x = x0 + R0 y with y = dt (1 - h hat w)^-1 v. */
#define COUPLED_LEFT(w, v, a, b) a " - h*cross(" w ", " a ") + h^2*dot(" w ", " a ")*" w " - h*cross(" v ", " b ")"
static void test_mu_of_coupled(void **state) {
    (void)state;
    static const double step[] = {0.01, 0.1, 1};
    struct lgv_model *m = model_of(
        "parameters: {h: 0}\nwhere:\n"
        "  A(a, b): '[a.x + 0.3*a.y + 0.2*b.x - 0.1*b.z, 0.3*a.x + 0.8*a.y + 0.3*b.y, 0.6*a.z + 0.1*b.x]'\n"
        "  D(a, b): '[0.2*a.x + 0.1*a.z + 0.7*b.x, 0.3*a.y + 0.9*b.y + 0.1*b.z, 0.8*b.z - 0.1*a.x + 0.1*b.y]'\n"
        "  square(a, b): 'dot(a, A(a, b)) + dot(b, D(a, b))'\n"
        "  w(i): 'A(mu_b[i].angular, mu_b[i].linear)'\n  v(i): 'D(mu_b[i].angular, mu_b[i].linear)'\n"
        "  y(x, v): '2*h*(v + cross(x, v) + dot(x, v)*x)/(1 + dot(x, x))'\n"
        "coordinates: {c in SE3: {}, 'b[2] in SE3 coupled': {position: '[i, 0, 1]', rotation: uniform}}\n"
        "momenta: {n: {linear: 1}, p: {linear: normal(), angular: normal()}}\n"
        "hamiltonian: 'square(n.angular, n.angular)/2 + dot(n.linear, n.linear) + "
        "sum(i=1..2, square(p[i].angular, p[i].linear)/2 + (b[i]*[0.3, 0, 1]).z)'\nobserve:\n"
        "  one: 'each(i=1..2, " COUPLED_LEFT("w(i)", "v(i)", "mu_b[i].angular", "p[i].linear") " - p[i].angular)'\n"
        "  two: 'each(i=1..2, mu_b[i].linear - h*cross(w(i), mu_b[i].linear) - p[i].linear)'\n"
        "  way: 'each(i=1..2, b[i].position - b0[i].position - b0[i].rotation*y(h*w(i), v(i)))'\n"
        "  far: norm(mu_b[2].angular - p[2].angular)\n");
    for (size_t s = 0; s < sizeof step / sizeof *step; s++) {
        m->par[0] = step[s] / 2;
        struct lgv_kernel k = kernel_of(m, "BR");
        double *value = final_values(&k, step[s], 1, 40, 3, 1), off = 0, size = 0;
        const size_t from = watch_number(&k, "one[1].x"), far = watch_number(&k, "far");
        for (size_t p = 0; p < 40; p++) {
            const double *x = value + p * k.watch.count;
            for (size_t i = from; i < far; i++) off = isnan(x[i]) ? INFINITY : fmax(off, fabs(x[i]));
            size = fmax(size, x[far]);
        }
        print_message("step %g: coupled bodies to %.2g, mu - m up to %.2g\n", step[s], off, size);
        assert_int_equal(far - from, 18);
        assert_true(off < 2e-14 && size > step[s] / (1 + step[s]) / 10);
        free(value);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* |mu - m| at t = 1 of BR, without noise, against dt. */
static void test_mu_is_near(void **state) {
    (void)state;
    enum { LEVELS = 6 };
    struct lgv_model *m = model_of("coordinates: {R in SO3: [0.4, 0.1, -0.3]}\nmomenta: {m: [1, -1.5, 0.7]}\n"
                                   "kinetic: {inertia: [1, 1.4, 0.9]}\npotential: R.zz\n"
                                   "observe: {off: norm(mu - m)}\n");
    struct lgv_kernel k = kernel_of(m, "BR");
    double x[LEVELS], y[LEVELS], mx = 0, my = 0, xx = 0, xy = 0, rest = 0;
    for (int l = 0; l < LEVELS; l++) {
        double *value = final_values(&k, 0.01 / (1 << l), (uint64_t)100 << l, 1, 3, 1);
        x[l] = -l;
        y[l] = log2(value[watch_number(&k, "off")]);
        mx += x[l] / LEVELS;
        my += y[l] / LEVELS;
        free(value);
    }
    for (int l = 0; l < LEVELS; l++) xx += (x[l] - mx) * (x[l] - mx), xy += (x[l] - mx) * (y[l] - my);
    for (int l = 0; l < LEVELS; l++) rest += pow(y[l] - my - xy / xx * (x[l] - mx), 2);
    const double error = sqrt(rest / (LEVELS - 2) / xx);
    print_message("mu - m: power %.4f +- %.4f of dt, %.2g at 0.01\n", xy / xx, error, exp2(y[0]));
    assert_near(xy / xx, 1, 0.02, "power of dt");
    assert_true(error < 0.01);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* ---- weights J and dW - J ---- */

static void test_weights(void **state) {
    (void)state;
    static const char *const method[] = {"VZ", "VZc"};
    struct lgv_model *m = model_of(TOP(TENSOR));
    for (size_t i = 0; i < 2; i++) {
        assert_symplectic(m, method[i], 1e-11, "top");
        assert_bits(m, method[i]);
    }
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_friction), cmocka_unit_test(test_contraction), cmocka_unit_test(test_law),
        cmocka_unit_test(test_vectors),          cmocka_unit_test(test_spatial),     cmocka_unit_test(test_two_momenta),
        cmocka_unit_test(test_weights),          cmocka_unit_test(test_observed),
        cmocka_unit_test(test_friction_inside),  cmocka_unit_test(test_mu_is_near),
        cmocka_unit_test(test_equation_of_mu), cmocka_unit_test(test_mu_of_coupled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
