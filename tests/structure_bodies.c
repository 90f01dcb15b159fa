/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rigid bodies `body in SE3`: the same paths as a vector and a rotation, to the bit.  Bodies whose inertia couples
 * position and rotation: derivatives, the bracket of the semidirect product, the symplectic form, momentum maps and
 * Casimirs path by path, orders, a body whose frame is not at its centre of mass, and bits. */
#include "bodies.h"

/* ---- a position and a rotation under one name ---- */

#define PLACED                                                                                                         \
    "parameters: {K: 3, k: 2}\nwhere: {at(a): 'exp(-dot(a, a))', 'pair(g, h)': 'at(g*[0,0,0.3] - h*[0.1,0,0])'}\n"     \
    "coordinates: {z: 0.2, 'b[K] in SE3': {position: '[i, 0.3, 0.1*i]', rotation: '[0.3*i, 0.2, -0.1]'}}\n"            \
    "momenta: {pz: 0, p: {linear: '[0.1*i, 0, 0.2]', angular: '[0.3, -0.2*i, 1]'}}\n"                                  \
    "kinetic: {mass: {b: 1.3}, inertia: {b: [0.6, 1, 1.3]}}\n"                                                         \
    "potential: z^2 + sum(i=1..K, k*dot(b[i].position, b[i].position)/2 + z*b[i].rotation.xz)"                         \
    " + sum(i=1..K, j=i+1..K, pair(b[i], b[j]))\n"                                                                     \
    "noise: 'each(k=1..K, 0.2*dot(b[k].rotation*[0,1,0], b[k].position))'\n"                                           \
    "force: {b: {position: '-0.1*p[i].linear', rotation: '-0.2*p[i].angular'}}\n"                                      \
    "observe: {L: 'sum(i=1..K, dot(b[i].rotation*p[i].angular + cross(b[i].position, p[i].linear), [0,0,1]))'}\n"
#define APART                                                                                                          \
    "parameters: {K: 3, k: 2}\nwhere: {at(a): 'exp(-dot(a, a))'}\n"                                                    \
    "coordinates: {z: 0.2, 'x[K] in R3': '[i, 0.3, 0.1*i]', 'R[K] in SO3': '[0.3*i, 0.2, -0.1]'}\n"                    \
    "momenta: {pz: 0, p: '[0.1*i, 0, 0.2]', m: '[0.3, -0.2*i, 1]'}\n"                                                  \
    "kinetic: {mass: {x: 1.3}, inertia: [0.6, 1, 1.3]}\n"                                                              \
    "potential: z^2 + sum(i=1..K, k*dot(x[i], x[i])/2 + z*R[i].xz)"                                                    \
    " + sum(i=1..K, j=i+1..K, at(x[i] + R[i]*[0,0,0.3] - (x[j] + R[j]*[0.1,0,0])))\n"                                  \
    "noise: 'each(k=1..K, 0.2*dot(R[k]*[0,1,0], x[k]))'\n"                                                             \
    "force: {x: '-0.1*p[i]', R: '-0.2*m[i]'}\n"                                                                        \
    "observe: {L: 'sum(i=1..K, dot(R[i]*m[i] + cross(x[i], p[i]), [0,0,1]))'}\n"

static void test_same(void **state) {
    (void)state;
    struct lgv_model *placed = model_of(PLACED), *apart = model_of(APART);
    struct lgv_kernel a = kernel_of(placed, "LieEM"), b = kernel_of(apart, "LieEM");
    assert_int_equal(placed->nx, apart->nx);
    double *x = final_values(&a, 0.05, 40, 8, 3, 1), *y = final_values(&b, 0.05, 40, 8, 3, 1);
    assert_int_equal(a.watch.count, b.watch.count);
    assert_memory_equal(x, y, 8 * a.watch.count * sizeof *x);
    assert_true(lgv_model_derivative_error(placed) < 1e-9);
    assert_string_equal(placed->component[1 + 3], "b[2].position.x");
    assert_string_equal(placed->component[1 + 9 + 4], "b[2].rotation.w");
    assert_string_equal(placed->component[placed->nx + 1 + 9 + 3], "p[2].angular.x");
    free(x);
    free(y);
    lgv_kernel_free(&a);
    lgv_kernel_free(&b);
    lgv_model_free(placed);
    lgv_model_free(apart);
}

/* Parts that are left out, generators, friction and temperatures by part, entries of a matrix that is observed. */
static void test_parts(void **state) {
    (void)state;
    struct lgv_model *m = model_of(
        "coordinates: {'b in SE3 mod 5': {position: [1, 2, 3]}, c in SE3: {rotation: [0, 0, 1]}}\n"
        "potential: dot(b.position - c.position, b.position - c.position)/2 + dot(b*[0,0,1], c*[1,0,0])\n"
        "langevin: {friction: {b: {position: 2}, c: 1}, temperature: {b: 1, c: {position: 1, rotation: 3}}}\n"
        "symmetries: {spin: {b: {position: 'cross([0,0,1], b.position)', rotation: '[0,0,1]*b.rotation'},\n"
        "                    c: {position: 'cross([0,0,1], c.position)', rotation: '[0,0,1]*c.rotation'}}}\n"
        "observe: {S: c.rotation, start: 'b0.position', back: 'transpose(b0.rotation)*p_b0.linear'}\n");
    struct lgv_structure s;
    struct lgv_error err = {0};
    double friction[12], temperature[12];
    assert_int_equal(lgv_model_structure(m, &s, &err), LGV_OK);
    assert_true(s.symmetry[0].invariant);
    assert_int_equal(lgv_model_bath_values(m, friction, temperature, &err), LGV_OK);
    static const double want[12] = {2, 2, 2, 0, 0, 0, 1, 1, 1, 1, 1, 1}, hot[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3};
    assert_memory_equal(friction, want, sizeof want);
    assert_memory_equal(temperature, hot, sizeof hot);
    assert_string_equal(m->observable[5].name, "S.yz");
    assert_int_equal(m->nobservables, 15);
    assert_true(m->period[2] == 5 && m->period[3] == 0 && m->period[7] == 0);
    assert_string_equal(m->component[m->nx + 3], "p_b.angular.x");
    lgv_model_free(m);
}

/* ---- coupled inertia ---- */

#define INERTIA                                                                                                        \
    "{angular: [[1, 0.1, 0], [0.1, 2, 0], [0, 0, 5]], linear: [4, 2, 1],"                                              \
    " coupling: [[0.1, 0.2, 0], [0, 0.3, 0.1], [0.2, 0, 0.1]]}"
#define COUPLED(noise)                                                                                                 \
    "coordinates: {b in SE3 coupled: {position: [0.1, 0.2, 0.3], rotation: [0.4, 0.1, -0.3]}}\n"                       \
    "momenta: {p: {linear: [1, 0.2, -0.3], angular: [0.5, 1, 0.2]}}\nkinetic: {inertia: {b: " INERTIA "}}\n"           \
    "potential: 0.5*(b*[0,0,0.3]).z + 0.1*b.position.x^2*b.position.y + 0.2*b.rotation.xy\n" noise
#define NOISE "noise: ['0.2*(b*[0,0,0.3]).z', '0.2*b.position.x*b.rotation.xx']\n"
#define MIXED                                                                                                          \
    "parameters: {K: 2}\ncoordinates: {z: 0.3,\n"                                                                     \
    "  'b[K] in SE3 coupled': {position: '[i, 0, 0.2]', rotation: '[0.3*i, 0.2, 0]'},\n"                               \
    "  x in R2: [1, 2], 'c[K] in SE3': {position: '[0, i, 0]', rotation: [0.1, 0.2, 0.3]}}\n"                          \
    "momenta: {pz: 0.1, p: {linear: '[0.2*i, 1, 0]', angular: [0.1, 0.2, 0.9]}, px: 0.3, n: {angular: [0, 0, 1]}}\n"   \
    "kinetic: {mass: 1.2, inertia: {b: " INERTIA ", c: [1, 1.2, 0.9]}}\n"                                              \
    "potential: z^2 + dot(x, x) + sum(i=1..K, j=1..K, exp(-dot(b[i]*[0,0,0.2] - c[j]*[0.1,0,0], b[i].position -"      \
    " c[j].position))) + sum(i=1..K, z*b[i].rotation.yz + x.x*b[i].position.x)\n"                                      \
    "noise: 'each(k=1..K, 0.2*dot(b[k].rotation*[0,1,0], c[k].position))'\n"

static const char *const words[] = {"BRB", "BXB", "BTB", "BR", "BX", "RBR", "BRB-4", "VZ", "VZc"};
#define WORDS (sizeof words / sizeof *words)

static void test_derivatives(void **state) {
    (void)state;
    static const char *const text[] = {COUPLED(NOISE), MIXED};
    for (size_t k = 0; k < 2; k++) {
        struct lgv_model *m = model_of(text[k]);
        assert_true(lgv_model_derivative_error(m) < 1e-9);
        lgv_model_free(m);
    }
}

/* Kirchhoff's equations m' = m x w + P x v - torque, P' = P x w - R^T U_x, from brackets; {m_1, P_2} = -P_3. */
static void test_bracket(void **state) {
    (void)state;
    struct lgv_model *model = model_of(COUPLED(""));
    struct lgv_graph *g = model->graph;
    const double q[7] = {0.3, -0.4, 0.9, 0.5, -0.1, 0.7, 0.5}, p[6] = {0.7, 1.1, -0.2, 0.3, -0.8, 1.1};
    struct lgv_evaluator e;
    struct lgv_env env = {.par = model->par, .space = {[LGV_Q] = q, [LGV_P] = p}};
    struct lgv_function H = {0};
    struct lgv_terms Hp = {0}, Hq = {0};
    double v[6], f[6], worst = 0;
    int change[6], cross = lgv_algebra_bracket(g, lgv_expr_ref_at(g, LGV_P, 3), lgv_expr_ref_at(g, LGV_P, 1));
    for (int k = 0; k < 6; k++) change[k] = lgv_algebra_bracket(g, lgv_expr_ref_at(g, LGV_P, k), model->hamiltonian);
    assert_true(lgv_function_split(g, model->hamiltonian, false, &H));
    lgv_terms_gradient(g, &H, LGV_P, &Hp);
    lgv_terms_gradient(g, &H, LGV_Q, &Hq);
    assert_true(lgv_eval_begin(&e, g));
    lgv_eval_terms(&e, &Hp, &env, v, 6, 1);
    lgv_eval_terms(&e, &Hq, &env, f, 6, 1);
    assert_near(lgv_eval_node(&e, cross, &env, NULL), -p[2], 1e-15, "{m1, P2}");
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        const double *P = p, *m = p + 3, *w = v + 3;
        double linear = P[i] * w[j] - P[j] * w[i] - f[k];
        double angular = m[i] * w[j] - m[j] * w[i] + P[i] * v[j] - P[j] * v[i] - f[3 + k];
        worst = fmax(worst, fabs(lgv_eval_node(&e, change[k], &env, NULL) - linear));
        worst = fmax(worst, fabs(lgv_eval_node(&e, change[3 + k], &env, NULL) - angular));
    }
    assert_true(worst < 1e-14);
    lgv_eval_end(&e);
    lgv_terms_free(&Hp);
    lgv_terms_free(&Hq);
    lgv_function_free(&H);
    lgv_model_free(model);
}

static void test_symplectic(void **state) {
    (void)state;
    static const char *const text[] = {COUPLED(NOISE), MIXED};
    for (size_t i = 0; i < 2; i++) {
        struct lgv_model *m = model_of(text[i]);
        for (size_t w = 0; w < (i ? 3 : WORDS); w++) assert_symplectic(m, words[w], 1e-10, i ? "mixed" : "coupled");
        lgv_model_free(m);
    }
}

/* Moved along x or turned about the vertical in space, and turned about its axis in the body: noise with the same
 * symmetries keeps each momentum map path by path. */
static void test_momenta(void **state) {
    (void)state;
    struct lgv_model *m = model_of(
        "coordinates: {b in SE3 coupled: {position: [0.1, 0.2, 0.3], rotation: [0.4, 0.1, -0.3]}}\n"
        "momenta: {p: {linear: [1, 0.2, -0.3], angular: [0.5, 1, 0.2]}}\n"
        "kinetic: {inertia: {b: {angular: [2, 2, 1], linear: [3, 3, 1],\n"
        "  coupling: [[0.3, 0.2, 0], [-0.2, 0.3, 0], [0, 0, 0.4]]}}}\n"
        "potential: b.rotation.zz + 0.1*b.position.z\nnoise: ['0.3*b.rotation.zz', '0.2*sin(b.position.z)']\n"
        "symmetries: {along: {b: {position: '[1,0,0]*b.rotation'}},\n"
        "  vertical: {b: {position: 'cross([0,0,1], b.position)*b.rotation', rotation: '[0,0,1]*b.rotation'}},\n"
        "  body: {b: {rotation: '[0,0,1]'}},\n  not: {b: {position: 'cross([0,0,1], b.position)'}}}\n"
        "run: {step: 0.1, until: 50, paths: 32}\n");
    struct lgv_structure s;
    struct lgv_error err = {0};
    assert_int_equal(lgv_model_structure(m, &s, &err), LGV_OK);
    for (int k = 0; k < 4; k++)
        assert_true(s.symmetry[k].invariant == (k < 3) && s.symmetry[k].affine == (k < 3) &&
                    s.symmetry[k].of_body == (k == 2));
    for (size_t w = 0; w < 3; w++) {
        struct lgv_result r;
        static const char *const name[] = {"along", "vertical", "body"};
        run_method(m, words[w], &r);
        for (int k = 0; k < 3; k++) {
            const bool kept = w != 2 || k != 2; /* screws along axes do not know those of the body */
            assert_kept(&r, words[w], name[k], kept, kept ? 1e-12 : 1e-6);
        }
        assert_true(series_of(&r, "not")->claim != 1 && r.certificate.rotation < 1e-14);
        lgv_result_clear(&r);
    }
    lgv_model_free(m);
}

static void test_orders(void **state) {
    (void)state;
    static const struct order_row row[] = {
        {"BRB", 64, 2, 0.02},        {"BXB", 64, 2, 0.02},        {"BTB", 64, 2, 0.02},
        {"BTB-4", 16, 4, 0.15},      {"VZc", 64, 2, 0.02},        {"BR", 512, 1, 0.03},
        {"BX", 512, 1, 0.03},        {"BRB-4", 16, 4, 0.15},      {"BXB-4", 16, 4, 0.15},
        {"RKMK4", 32, 4, 0.1},       {"LieEM", 1024, 1, 0.05},    {"BRB-6", 8, 6, 0.4},
        {"RK4-embedded", 32, 4, 0.1}, {"EM-embedded", 1024, 1, 0.05},
    };
    struct lgv_model *m = model_of(COUPLED(""));
    assert_orders(m, row, sizeof row / sizeof *row, "BXB-8", 100);
    lgv_model_free(m);
}

/* A body in the frame of its centre of mass, and in one that has it at c: J + M (c.c - c c^T), M, and M hat(c) between
 * them; its linear momentum in space is R P.  The same motion. */
static void test_offset(void **state) {
    (void)state;
    static const char *const name[] = {"x.x", "x.y", "x.z", "R.xy", "R.zz", "v.x", "v.y", "v.z", "m.x", "m.y", "m.z",
                                       "H"};
    struct lgv_model *plain = model_of(
        "coordinates: {b in SE3: {position: [0.4, 0.4, 0.7], rotation: '[0, 0, pi/2]'}}\n"
        "momenta: {p: {linear: [1.3, 0.2, -0.3], angular: [0.5, 1, 0.2]}}\n"
        "kinetic: {mass: 1.3, inertia: [0.6, 1, 1.2]}\npotential: (b*[0.1,0,0.3]).z + 0.5*dot(b.position, b.position)\n"
        "observe: {x: b.position, R: b.rotation, v: p.linear, m: p.angular}\n");
    struct lgv_model *moved = model_of(
        "parameters: {M: 1.3, a: 0.2, b: -0.3, c: 0.4}\n"
        "coordinates: {g in SE3 coupled: {position: [0.1, 0.2, 0.3], rotation: '[0, 0, pi/2]'}}\n"
        "momenta: {p: {linear: '[1.3,0.2,-0.3]*g.rotation',\n"
        "  angular: '[0.5,1,0.2] + cross([a,b,c], [1.3,0.2,-0.3]*g.rotation)'}}\n"
        "kinetic: {inertia: {g: {linear: M, coupling: [[0, -M*c, M*b], [M*c, 0, -M*a], [-M*b, M*a, 0]],\n"
        "  angular: [[0.6 + M*(b^2 + c^2), -M*a*b, -M*a*c], [-M*a*b, 1 + M*(a^2 + c^2), -M*b*c],\n"
        "    [-M*a*c, -M*b*c, 1.2 + M*(a^2 + b^2)]]}}}\n"
        "potential: (g*[0.1+a,b,0.3+c]).z + 0.5*dot(g*[a,b,c], g*[a,b,c])\n"
        "observe: {x: 'g*[a,b,c]', R: g.rotation, v: g.rotation*p.linear,\n"
        "  m: 'p.angular - cross([a,b,c], p.linear)'}\n");
    struct lgv_kernel one = kernel_of(plain, "BXB-6"), other = kernel_of(moved, "BXB-6");
    double *x = final_values(&one, 0.01, 200, 1, 1, 1), *y = final_values(&other, 0.01, 200, 1, 1, 1);
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        double first = x[watch_number(&one, name[k])], second = y[watch_number(&other, name[k])];
        if (!(fabs(first - second) < 1e-9)) fail_msg("%s: %g and %g", name[k], first, second);
    }
    free(x);
    free(y);
    lgv_kernel_free(&one);
    lgv_kernel_free(&other);
    lgv_model_free(plain);
    lgv_model_free(moved);
}

/* Strong orders on the same paths, with noise that is as large as the motion.  What VZc has of order 3/2 stands beside
 * an error of order 2 of its free motion; VZ, without the correction, has order 1. */
static void test_strong(void **state) {
    (void)state;
    static const struct strong_row row[] = {{"BTB", 0.85, 1.25}, {"VZ", 0.85, 1.25}, {"VZc", 1.4, 2.1}};
    struct lgv_model *m = model_of(COUPLED("noise: ['4*(b*[0,0,0.3]).z', '4*b.position.x*b.rotation.xx']\n"));
    assert_strong(m, row, 3, "VZc");
    lgv_model_free(m);
}

/* ---- a body and its points ---- */

/* Four masses 1, 1, 2, 2 in a body, with their centre at its origin; and as points with six rods between them.  One is
 * drawn to the origin, one pushed by noise, all begin at rest. */
#define FOUR                                                                                                           \
    "parameters: {'mass[4]': [1, 1, 2, 2], 'a[4]': [1, -1, 0, 0], 'b[4]': [0.4, 0.4, 0.5, -0.9],"                      \
    " 'c[4]': [0.2, 0.2, -0.6, 0.4]}\n"
#define PUSHED(one, three)                                                                                             \
    "potential: 'dot(" one ", " one ")'\nnoise: '3*(" three ").z + (" one ").x'\n"                                     \
    "observe: {one: '" one "', three: '" three "'}\n"
#define ALL(x) "'sum(i=1..4, mass[i]*(" x "))'"
static const char one_body[] = FOUR
    "coordinates: {g in SE3: {position: [0.1, 0.2, 0.3]}}\nkinetic: {mass: 6, inertia:\n"
    " [[" ALL("b[i]^2 + c[i]^2") ", " ALL("-a[i]*b[i]") ", " ALL("-a[i]*c[i]") "],\n"
    "  [" ALL("-a[i]*b[i]") ", " ALL("a[i]^2 + c[i]^2") ", " ALL("-b[i]*c[i]") "],\n"
    "  [" ALL("-a[i]*c[i]") ", " ALL("-b[i]*c[i]") ", " ALL("a[i]^2 + b[i]^2") "]]}\n"
    PUSHED("g*[a[1],b[1],c[1]]", "g*[a[3],b[3],c[3]]");
#define ROD(k)                                                                                                         \
    "dot(x[i] - x[" k "], x[i] - x[" k "]) - (a[i] - a[" k "])^2 - (b[i] - b[" k "])^2 - (c[i] - c[" k "])^2"
static const char four_points[] = FOUR
    "coordinates: {'x[4] in R3': '[0.1 + a[i], 0.2 + b[i], 0.3 + c[i]]'}\nkinetic: {mass: {x: 'mass[i]'}}\n"
    "constraints: ['each(i=2..4, " ROD("1") ")', 'each(i=3..4, " ROD("2") ")', 'each(i=4..4, " ROD("3") ")']\n"
    PUSHED("x[1]", "x[3]");

/* On the same paths both become one motion as the step becomes small, to the order of their methods.  BAB and RATTLE
 * have the same kicks: only their free motions differ, by order 2. */
static void test_points(void **state) {
    (void)state;
    enum { PATHS = 64, LEVELS = 4, FINE = 256 };
    static const struct {
        const char *body, *points;
        double least, most;
    } row[] = {{"BAB", "RATTLE", 1.95, 2.05}, {"BAB", "RATTLE-Jc", 0.85, 1.25}, {"VZc", "RATTLE-Jc", 1.45, 2.1}};
    struct lgv_model *m = model_of(one_body), *n = model_of(four_points);
    for (size_t i = 0; i < 3; i++) {
        struct lgv_kernel k = kernel_of(m, row[i].body), l = kernel_of(n, row[i].points);
        double squared[LEVELS * PATHS] = {0}, dt[LEVELS];
        for (size_t s = 0; s < LEVELS; s++) {
            const uint64_t steps = 32u << s;
            dt[s] = 1.0 / (double)steps;
            double *x = final_values(&k, dt[s], steps, PATHS, 7, FINE / steps);
            double *y = final_values(&l, dt[s], steps, PATHS, 7, FINE / steps);
            for (size_t o = 0; o < 6; o++) {
                static const char *const name[] = {"one.x", "one.y", "one.z", "three.x", "three.y", "three.z"};
                const size_t at = watch_number(&k, name[o]), to = watch_number(&l, name[o]);
                for (size_t p = 0; p < PATHS; p++) {
                    double d = x[p * k.watch.count + at] - y[p * l.watch.count + to];
                    squared[s * PATHS + p] += d * d;
                }
            }
            free(x);
            free(y);
        }
        struct fit f = fit_order(squared, dt, LEVELS, PATHS);
        print_message("%s and %s: order %.3f (%.3f), %.2g apart\n", row[i].body, row[i].points, f.slope, f.slope_error,
                      sqrt(squared[(LEVELS - 1) * PATHS]));
        if (!(f.slope > row[i].least && f.slope < row[i].most)) fail_msg("order %g", f.slope);
        lgv_kernel_free(&k);
        lgv_kernel_free(&l);
    }
    lgv_model_free(m);
    lgv_model_free(n);
}

/* ---- noise that is linear in momenta: on the dual of the algebra, whose orbits it keeps ---- */

#define SWINGS                                                                                                         \
    "parameters: {s: 0.6}\ncoordinates: {R in SO3: [0.1, 0.2, 0.3],\n"                                                \
    "  b in SE3 coupled: {position: [0.1, 0.2, 0.3], rotation: [0.4, 0.1, -0.3]}}\n"                                  \
    "momenta: {m: [0.3, 1, 0.2], p: {linear: [1, 0.2, -0.3], angular: [0.5, 1, 0.2]}}\n"                              \
    "kinetic: {inertia: {R: [1, 1.4, 0.9], b: " INERTIA "}}\npotential: '0'\n"                                        \
    "noise: [s*(m.x + 0.4*m.z + p.linear.x - p.angular.y), s*(m.y + 0.3*p.linear.z + p.angular.z)]\n"                 \
    "symmetries: {space: {R: '[0,0,1]*R'}, along: {b: {position: '[1,0,0]*b.rotation'}},\n"                            \
    "  turned: {b: {position: 'cross([0,0,1], b.position)*b.rotation', rotation: '[0,0,1]*b.rotation'}}}\n"           \
    "observe: {mm: 'dot(m, m)', PP: 'dot(p.linear, p.linear)', mP: 'dot(p.linear, p.angular)'}\n"                     \
    "run: {step: 0.1, until: 50, paths: 32}\n"

static void test_swings(void **state) {
    (void)state;
    struct lgv_model *m = model_of(SWINGS);
    static const char *const name[] = {"space", "along", "turned", "mm", "PP", "mP"};
    for (size_t w = 0; w < 3; w++) {
        struct lgv_result r;
        run_method(m, words[w], &r);
        assert_true(r.certificate.symplectic_defect < 1e-10);
        for (size_t k = 0; k < 6; k++)
            if (!(series_of(&r, name[k])->drift < 1e-12))
                fail_msg("%s: %s off by %g", words[w], name[k], series_of(&r, name[k])->drift);
        assert_true(series_of(&r, "H")->drift > 0.1);
        lgv_result_clear(&r);
    }
    lgv_model_free(m);
}

/* Of a ball with noise s m.e_k in all directions m is a Brownian motion on a sphere, <m> = m0 exp(-s^2 t); with noise
 * s P.e_k beside it P is one too, and nothing else moves it. */
static void test_sphere(void **state) {
    (void)state;
    static const struct {
        const char *text, *method;
    } row[] = {{"coordinates: {R in SO3: [0.1, 0.2, 0.3]}\nmomenta: {m: [0, 0, 1]}\npotential: '0'\n"
                "noise: [0.7*m.x, 0.7*m.y, 0.7*m.z]\nobserve: {up: m.z}\n", "BAB"},
               {"coordinates: {b in SE3 coupled: {}}\nmomenta: {p: {linear: [0, 0, 1], angular: [0.1, 0.3, 0.2]}}\n"
                "kinetic: {inertia: {b: {angular: 1e6, linear: 1}}}\npotential: '0'\n"
                "noise: [0.7*p.angular.x, 0.7*p.angular.y, 0.7*p.angular.z, 0.3*p.linear.y]\n"
                "observe: {up: p.linear.z}\n", "BXB"}};
    enum { PATHS = 6000 };
    for (size_t i = 0; i < 2; i++) {
        struct lgv_model *m = model_of(row[i].text);
        struct lgv_kernel k = kernel_of(m, row[i].method);
        double *value = final_values(&k, 0.02, 50, PATHS, 5, 1);
        assert_mean(&k, value, PATHS, "up", exp(-0.49), 4);
        free(value);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

/* ---- the stationary law ---- */

/* <m_i (I^-1 m)_i> = kT for each of the six momenta of a coupled body, <U_v v> follows: within 4 standard errors. */
static void test_law(void **state) {
    (void)state;
    struct lgv_model *m = model_of(
        "coordinates: {b in SE3 coupled: {}}\nkinetic: {inertia: {b: {angular: [1, 2, 5], linear: [4, 2, 1]}}}\n"
        "potential: dot(b*[0,0,0.3], b*[0,0,0.3])\nlangevin: {friction: 1.5, temperature: 0.8}\n"
        "observe: {T1: p_b.angular.x^2, T3: p_b.angular.z^2/5, T4: p_b.linear.x^2/4, T6: p_b.linear.z^2,\n"
        "  virial: 'dot(b*[0,0,0.3], b*[0,0,0.3])*2/3'}\n");
    static const char *const name[] = {"T1", "T3", "T4", "T6", "virial"};
    struct lgv_kernel k = kernel_of(m, "BRORB");
    enum { PATHS = 4000 };
    double *value = final_values(&k, 0.05, 300, PATHS, 11, 1);
    for (size_t o = 0; o < 5; o++) assert_mean(&k, value, PATHS, name[o], 0.8, 4);
    free(value);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

static void test_bits(void **state) {
    (void)state;
    struct lgv_model *m = model_of(MIXED);
    for (size_t i = 0; i < 3; i++) assert_bits(m, words[i]);
    assert_bits(m, "VZc");
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),      cmocka_unit_test(test_parts),   cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_bracket),   cmocka_unit_test(test_momenta), cmocka_unit_test(test_symplectic),
        cmocka_unit_test(test_orders),    cmocka_unit_test(test_offset),  cmocka_unit_test(test_bits),
        cmocka_unit_test(test_swings),    cmocka_unit_test(test_sphere),  cmocka_unit_test(test_law),
        cmocka_unit_test(test_strong),    cmocka_unit_test(test_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
