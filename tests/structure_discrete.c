/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Discrete Lagrangians of a model file: those of known methods give their paths, on vectors and on SO(3), with noise
 * and explicit time; the symplectic form, J+ = J-, two positions in the place of momenta, bits. */
#include "bodies.h"

/* ---- vectors ---- */

#define KINETIC "m/2*((x1 - x0)/dt)^2 + ((y1 - y0)/dt)^2/2"
#define VECTORS                                                                                                        \
    "parameters: {m: 1.3, b: 0.6}\ncoordinates: {x: 0.5, y: 0.2}\nmomenta: {u: 0.3, v: -0.4}\n"                        \
    "where:\n  V(r, s, t): r^4/4 + r*s^2*(1 + 0.5*sin(3*t)) + s^2 + cos(r)\n  h(r, s): b*sin(r)*s\n"                   \
    "hamiltonian: u^2/(2*m) + v^2/2 + V(x, y, t)\nnoise: ['h(x, y)', 0.3*x]\nmethods:\n"                               \
    "  middle:\n    discrete_lagrangian: " KINETIC " - V((x0 + x1)/2, (y0 + y1)/2, t + dt/2)\n"                        \
    "    discrete_noise: ['-h((x0 + x1)/2, (y0 + y1)/2)', -0.3*(x0 + x1)/2]\n"                                         \
    "  end:\n    discrete_lagrangian: " KINETIC " - V(x1, y1, t + dt)\n"                                               \
    "    discrete_noise: ['-h(x1, y1)', -0.3*x1]\n"                                                                    \
    "  ends:\n    discrete_lagrangian: " KINETIC " - (V(x0, y0, t) + V(x1, y1, t + dt))/2\n"                           \
    "    discrete_noise: ['-(h(x0, y0) + h(x1, y1))/2', -0.3*(x0 + x1)/2]\n"

static void test_known(void **state) {
    (void)state;
    static const struct {
        const char *own, *known;
        bool symmetric;
    } row[] = {{"middle", "P1N1Q2Gau", true}, {"end", "P1N1Q1Rec", false}, {"ends", "P2N2Q2Lob", true}};
    struct lgv_model *m = model_of(VECTORS);
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(lgv_method_for(m, row[k].own)->symmetric, row[k].symmetric);
        assert_true(apart(m, row[k].own, m, row[k].known) < 1e-12);
    }
    assert_true(apart(m, "middle", m, "ends") > 1e-5);
    lgv_model_free(m);
}

/* Sums over indices, and a family of noises; the equations are dense for a short chain and sparse for a long one, whose
 * ends are the same coordinates to round-off.  With the force in the middle the matrix has three bands. */
#define CHAIN                                                                                                          \
    "parameters: {N: 7}\ncoordinates: {'x[N]': 0.1*i/N}\nmomenta: {'p[N]': 0.9*i/N - 0.5}\n"                           \
    "where:\n  U(r): r^4/4\n"                                                                                          \
    "hamiltonian: sum(i=1..N, p[i]^2/2 + x[i]^2/2) + sum(i=1..N-1, U(x[i+1] - x[i]))\n"                                \
    "noise: 'each(k=1..N, 0.2*sin(x[k]))'\nmethods:\n  ends:\n"                                                        \
    "    discrete_lagrangian: sum(i=1..N, ((x1[i] - x0[i])/dt)^2/2 - (x0[i]^2 + x1[i]^2)/4)"                           \
    " - sum(i=1..N-1, U(x0[i+1] - x0[i]) + U(x1[i+1] - x1[i]))/2\n"                                                    \
    "    discrete_noise: 'each(k=1..N, -0.1*(sin(x0[k]) + sin(x1[k])))'\n"                                             \
    "  middle:\n    discrete_lagrangian: sum(i=1..N, ((x1[i] - x0[i])/dt)^2/2 - ((x0[i] + x1[i])/2)^2/2)"              \
    " - sum(i=1..N-1, U((x0[i+1] - x0[i] + x1[i+1] - x1[i])/2))\n"                                                     \
    "    discrete_noise: 'each(k=1..N, -0.2*sin((x0[k] + x1[k])/2))'\n"

static void test_chain(void **state) {
    (void)state;
    static const double length[] = {7, 17, 100};
    for (size_t i = 0; i < 3; i++) {
        struct lgv_model *m = model_of(CHAIN);
        set_parameter(m, "N", length[i]);
        assert_int_equal(m->np, (size_t)length[i]);
        assert_true(apart(m, "ends", m, "P2N2Q2Lob") < 1e-12);
        assert_true(apart(m, "middle", m, "P1N1Q2Gau") < 1e-12);
        lgv_model_free(m);
    }
}

/* ---- rotations ---- */

/* x = cay^-1(R0^T R1) = 2 (T - T^T)^vee / (1 + tr T), T = R0^T R1. */
#define BODY                                                                                                           \
    "coordinates: {R in SO3: [0.4, 0.1, -0.3], z: 0.2}\nmomenta: {m: [0.1, 0.5, 2], p: 0.3}\n"                         \
    "kinetic: {inertia: [1, 1.4, 0.9]}\nwhere:\n"                                                                      \
    "  x(T): 2*[(T).zy - (T).yz, (T).xz - (T).zx, (T).yx - (T).xy]/(1 + trace(T))\n"                                   \
    "  K(w): ((w).x^2 + 1.4*(w).y^2 + 0.9*(w).z^2)/2\n  U(S, r): (S).zz + 0.3*(S).xx*(S).yz + r*(S).xy + r^2\n"        \
    "  T(S, s, r, d): K(x(transpose(S)*s)/d) + r^2/(2*d^2)\n"                                                          \
    "  h(S, r): 0.6*(S).zz + 0.2*r*(S).xy\npotential: U(R, z)\nnoise: ['h(R, z)']\nmethods:\n"                         \
    "  first:\n    discrete_lagrangian: T(R0, R1, z1 - z0, dt) - U(R0, z0)\n    discrete_noise: '-h(R0, z0)'\n"        \
    "  both:\n    discrete_lagrangian: T(R0, R1, z1 - z0, dt) - (U(R0, z0) + U(R1, z1))/2\n"                           \
    "    discrete_noise: '-(h(R0, z0) + h(R1, z1))/2'\n"

/* The same for a position and a rotation under one name. */
#define PLACED                                                                                                         \
    "coordinates: {b in SE3: {position: [0.1, 0.2, 0.3], rotation: [0.4, 0.1, -0.3]}}\n"                               \
    "momenta: {p: {linear: [0.1, 0, 0.2], angular: [0.1, 0.5, 1]}}\nkinetic: {mass: 2, inertia: [1, 1.4, 0.9]}\n"      \
    "where:\n  x(T): 2*[T.zy - T.yz, T.xz - T.zx, T.yx - T.xy]/(1 + trace(T))\n"                                       \
    "  K(w): (w.x^2 + 1.4*w.y^2 + 0.9*w.z^2)/2\n  U(r, S): dot(r, r)/2 + S.zz + dot(S*[0,0,1], r)\n"                   \
    "potential: U(b.position, b.rotation)\nnoise: 0.5*b.rotation.zz\nmethods:\n  both:\n"                              \
    "    discrete_lagrangian: dot(b1.position - b0.position, b1.position - b0.position)/dt^2"                          \
    " + K(x(transpose(b0.rotation)*b1.rotation)/dt) - (U(b0.position, b0.rotation) + U(b1.position, b1.rotation))/2\n" \
    "    discrete_noise: -0.25*(b0.rotation.zz + b1.rotation.zz)\n"

/* A coupled body by the Cayley map of SE(3): w as before, v = (1 - hat w/2) R0^T (x1 - x0). */
#define COUPLED                                                                                                        \
    "coordinates: {b in SE3 coupled: {position: [0.1, 0.2, 0.3], rotation: [0.4, 0.1, -0.3]}}\n"                       \
    "momenta: {p: {linear: [1, 0.2, -0.3], angular: [0.5, 1, 0.2]}}\n"                                                 \
    "kinetic: {inertia: {b: {angular: [2, 2.5, 1], linear: [3, 2, 1], coupling: [[0.3, 0.2, 0], [0, 0.3, 0], "         \
    "[0, 0, 0.4]]}}}\n"                                                                                                \
    "where:\n  w(T): 2*[T.zy - T.yz, T.xz - T.zx, T.yx - T.xy]/(1 + trace(T))\n"                                       \
    "  C(v): '[0.3*v.x + 0.2*v.y, 0.3*v.y, 0.4*v.z]'\n"                                                                \
    "  K(a, v): (2*a.x^2 + 2.5*a.y^2 + a.z^2)/2 + dot(a, C(v)) + (3*v.x^2 + 2*v.y^2 + v.z^2)/2\n"                      \
    "  T(a, y): K(a, y - cross(a, y)/2)\n  step(g, f): T(w(transpose(g.rotation)*f.rotation), "                        \
    "transpose(g.rotation)*(f.position - g.position))\n"                                                               \
    "  U(g): g.rotation.zz + 0.1*g.position.z + 0.2*g.position.z*g.rotation.xx\n"                                      \
    "  h(g): 0.3*g.rotation.zz + 0.2*sin(g.position.z)\npotential: U(b)\nnoise: ['h(b)']\n"                            \
    "symmetries: {along: {b: {position: '[1,0,0]*b.rotation'}}}\nmethods:\n"                                           \
    "  first:\n    discrete_lagrangian: step(b0, b1)/dt^2 - U(b0)\n    discrete_noise: '-h(b0)'\n"                     \
    "  both:\n    discrete_lagrangian: step(b0, b1)/dt^2 - (U(b0) + U(b1))/2\n"                                        \
    "    discrete_noise: '-(h(b0) + h(b1))/2'\nrun: {step: 0.05, until: 20, paths: 32}\n"

static void test_coupled(void **state) {
    (void)state;
    struct lgv_model *m = model_of(COUPLED);
    struct lgv_result r;
    assert_true(apart(m, "first", m, "BR") < 1e-11);
    assert_true(apart(m, "both", m, "BRB") < 1e-11);
    assert_true(apart(m, "first", m, "both") > 1e-5);
    assert_true(!lgv_method_for(m, "first")->symmetric && lgv_method_for(m, "both")->symmetric);
    assert_symplectic(m, "first", 1e-10, "SE3");
    assert_symplectic(m, "both", 1e-10, "SE3");
    run_method(m, "both", &r);
    assert_kept(&r, "both", "along", true, 1e-11);
    lgv_result_clear(&r);
    lgv_model_free(m);
}

static void test_group(void **state) {
    (void)state;
    struct lgv_model *m = model_of(BODY);
    assert_true(apart(m, "first", m, "BR") < 1e-11);
    assert_true(apart(m, "both", m, "BRB") < 1e-11);
    assert_true(apart(m, "first", m, "both") > 1e-5);
    assert_symplectic(m, "first", 1e-10, "SO3");
    assert_symplectic(m, "both", 1e-10, "SO3");
    lgv_model_free(m);
    m = model_of(PLACED);
    assert_true(apart(m, "both", m, "BRB") < 1e-11);
    lgv_model_free(m);
}

/* ---- momentum maps ---- */

/* Moser & Veselov (1991), doi 10.1007/BF02352494: tr(Lambda) - tr(R0 Lambda R1^T), I = tr(Lambda) - Lambda. */
#define VESELOV                                                                                                        \
    "parameters: {a: 0.65, b: 0.25, c: 0.75}\ncoordinates: {R in SO3: [0.4, 0.1, -0.3]}\n"                             \
    "momenta: {m: [0.1, 0.2, 2]}\n"                                                                                    \
    "kinetic: {inertia: [1, 1.4, 0.9]}\npotential: R.zz\nnoise: [0.3*R.zz, 0.2*R.zz^2]\nwhere:\n"                      \
    "  D(T): (a*(1 - (T).xx) + b*(1 - (T).yy) + c*(1 - (T).zz))\n"                                                     \
    "symmetries: {space: {R: '[0,0,1]*R'}}\nmethods:\n"                                                                \
    "  keeps:\n    discrete_lagrangian: D(transpose(R0)*R1)/dt^2 - R0.zz\n"                                            \
    "    discrete_noise: [-0.3*R1.zz, -0.2*R0.zz*R1.zz]\n"                                                             \
    "  breaks:\n    discrete_lagrangian: D(transpose(R0)*R1)/dt^2 - R0.zz + 0.2*dt*R1.xx\n"                            \
    "    discrete_noise: [-0.3*R1.zz, -0.2*R0.zz*R1.zz]\n"                                                             \
    "run: {step: 0.05, until: 20, paths: 32}\n"

static void test_momenta(void **state) {
    (void)state;
    struct lgv_model *m = model_of(VESELOV);
    static const char *const method[] = {"keeps", "breaks"};
    for (int i = 0; i < 2; i++) {
        struct lgv_result r;
        run_method(m, method[i], &r);
        assert_kept(&r, method[i], "space", i == 0, i ? 1e-3 : 1e-11);
        assert_true(r.certificate.symplectic_defect < 1e-10); /* both are variational */
        lgv_result_clear(&r);
    }
    lgv_model_free(m);
}

/* The round-off of D_2 S is that of q' over dt, and compositions take short steps: what the certificate calls round-off
 * has to know that. */
static void test_round_off(void **state) {
    (void)state;
    static const char *const method[] = {"own", "own-4", "own-6", "own-8"};
    static const double step[] = {0.05, 0.02, 0.01};
    struct lgv_model *m = model_of(
        "coordinates: {R in SO3: [0.4, 0, 0]}\nmomenta: {m: [0.3, 0.8, 0.5]}\nkinetic: {inertia: [1, 2, 2.5]}\n"
        "potential: R.zz\nwhere: {J(S): 1.75*S.xx + 0.75*S.yy + 0.25*S.zz}\nmethods:\n  own:\n"
        "    discrete_lagrangian: (2.75 - J(transpose(R0)*R1))/dt^2 - (R0.zz + R1.zz)/2\n"
        "run: {until: 1, paths: 8}\n");
    for (size_t i = 0; i < 12; i++) {
        struct lgv_settings settings = settings_of(m);
        struct lgv_result r;
        snprintf(settings.method, sizeof settings.method, "%s", method[i % 4]);
        settings.step = step[i / 4];
        run_with(m, &settings, LGV_OK, &r);
        const double defect = r.certificate.symplectic_defect, error = r.certificate.symplectic_defect_error;
        print_message("%s, step %g: defect %.2g, known to %.2g\n", method[i % 4], step[i / 4], defect, error);
        assert_true(defect <= fmax(error, 1e-11) && error < 1e-8);
        lgv_result_clear(&r);
    }
    lgv_model_free(m);
}

/* ---- two positions ---- */

static void test_second(void **state) {
    (void)state;
    struct lgv_model *m = model_of(
        "coordinates: {R in SO3: [0.4, 0.1, -0.3], x: 0.5}\nmomenta: {m: [0, 0, 7], p: 3}\n"
        "kinetic: {inertia: [1, 1.4, 0.9]}\npotential: R.zz + x^2*R.xx\nwhere:\n"
        "  D(T): (0.65*(1 - (T).xx) + 0.25*(1 - (T).yy) + 0.75*(1 - (T).zz))\nmethods:\n  own:\n"
        "    discrete_lagrangian: D(transpose(R0)*R1)/dt^2 + ((x1 - x0)/dt)^2/2 - R0.zz - x1^2*R0.xx\n"
        "    second: {R: [0.45, 0.1, -0.2], x: x + 0.02 + dt}\n");
    struct lgv_kernel k = kernel_of(m, "own");
    double *x = final_values(&k, 0.05, 1, 1, 3, 1);
    const double vector[3] = {0.45, 0.1, -0.2};
    double want[4] = {1, 0, 0, 0};
    static const char *const name[] = {"R.w", "R.x", "R.y", "R.z"};
    lgv_rotations_turn(want, vector);
    for (int i = 0; i < 4; i++) assert_near(x[watch_number(&k, name[i])], want[i], 1e-14, name[i]);
    assert_near(x[watch_number(&k, "x")], 0.57, 1e-14, "x");
    free(x);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* ---- bits ---- */

static void test_bits(void **state) {
    (void)state;
    static const char *const text[] = {BODY, VECTORS}, *const method[] = {"both", "middle"};
    for (int i = 0; i < 2; i++) {
        struct lgv_model *m = model_of(text[i]);
        assert_bits(m, method[i]);
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),  cmocka_unit_test(test_chain), cmocka_unit_test(test_group),
        cmocka_unit_test(test_coupled),
        cmocka_unit_test(test_momenta), cmocka_unit_test(test_second), cmocka_unit_test(test_bits),
        cmocka_unit_test(test_round_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
