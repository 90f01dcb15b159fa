/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Constraints phi(x, R) = 0 of bodies: ball joints, a hinge, a rod, a point on a surface.  The symplectic form on T*S
 * in (x, R, p, m), constraints and hidden constraints, momentum maps, and the same body written in four ways: held
 * at a point by a joint, in a frame away from its centre of mass, as a rotation about that point, and as points with
 * rods between them. */
#include "bodies.h"

#define TENSOR "[[0.6, 0.1, 0.05], [0.1, 0.8, -0.1], [0.05, -0.1, 0.9]]"
#define PENDULUM                                                                                                       \
    "coordinates: {x in R3: [-0.1, -0.2, -1], R in SO3: [0, 0, 0]}\n"                                                  \
    "momenta: {p: [0.3, 0.2, 0], m: [0.1, 0.7, 0.5]}\nkinetic: {mass: 1.3, inertia: " TENSOR "}\n"                     \
    "potential: x.z + 0.3*R.xx*R.yz\nnoise: [0.3*R.zz, 0.2*x.x]\nconstraints: 'x + R*[0.1, 0.2, 1]'\n"
#define HINGE                                                                                                          \
    "coordinates: {'x[2] in R3': '[0, 0, i]', 'R[2] in SO3': [0, 0, 0]}\n"                                             \
    "momenta: {p: '[0.2*i, 0.1, 0.3]', m: '[0.1, 0.2*i, 0.5/i]'}\nkinetic: {mass: 1, inertia: [0.2, 0.3, 0.4]}\n"      \
    "potential: x[1].z + 0.5*x[2].x\nnoise: 0.2*R[1].xz*x[2].y\n"                                                      \
    "constraints: ['x[1] + R[1]*[0, 0, 0.5] - x[2] + R[2]*[0, 0, 0.5]', 'dot(R[1]*[1, 0, 0], R[2]*[0, 1, 0])',\n"      \
    "  'dot(R[1]*[0, 0, 1], R[2]*[0, 1, 0])']\n"
/* a rod between points of two bodies, a point of the first on a sphere, a direction in space of a third one */
#define MIXED                                                                                                          \
    "coordinates: {z: 0.2, R in SO3: [0.3, 0.2, -0.1], x in R3: [1.2, 0.3, 0.1], S in SO3: [0.5, 0.5, 0.5, -0.5],\n"   \
    "  y in R3: [2, 0.4, 1], T in SO3: [0.4, 0.1, 0.3]}\n"                                                             \
    "momenta: {p_z: 0.3, m: [0.3, -0.2, 1], p: [0.1, 0, 0.2], n: [0.2, 0.1, -0.4], r: [0.4, 0, 0.1],\n"                \
    "  l: [0.3, 0.1, 0.6]}\nkinetic: {mass: {x: 1.3, z: 2}, inertia: {R: [0.6, 1, 1.3], S: " TENSOR "}}\n"             \
    "where: {'square(a)': 'dot(a, a)'}\n"                                                                              \
    "potential: dot(x, y)/2 + z*dot(R*[0,0,1], y) + trace(S*R) + z^2 + T.xy\nnoise: '0.2*S.xz*y.x'\n"                  \
    "constraints: ['square(x + R*[0.2, 0, 0.3] - y - S*[0, 0.4, 0]) - 1', 'square(x + R*[0, 0.3, 0.1]) - 1.5',\n"      \
    "  T.zz - 0.8 - 0.1*z]\n"
#define CHAIN                                                                                                          \
    "parameters: {N: 4, a: 0.5}\ncoordinates: {'x[N] in R3': '[(2*i-1)*a, 0, 0]', 'R[N] in SO3': '[0, pi/2, 0]'}\n"    \
    "momenta: {p: '[0.1, 0.2*i, 0.1*i]', m: '[0.1*i, 0.1, 0.05]'}\nkinetic: {mass: 1, inertia: [0.09, 0.1, 0.03]}\n"   \
    "potential: sum(i=1..N, x[i].z)\nconstraints: ['x[1] - R[1]*[0,0,a]',\n"                                           \
    "  'each(i=1..N-1, x[i] + R[i]*[0,0,a] - x[i+1] + R[i+1]*[0,0,a])']\n"

/* The same joints of bodies whose inertia couples position and rotation, with a plain one on the hinge. */
#define INERTIA                                                                                                        \
    "{angular: [[1, 0.1, 0], [0.1, 2, 0], [0, 0, 3]], linear: [4, 2, 1],"                                              \
    " coupling: [[0.1, 0.2, 0], [0, 0.3, 0.1], [0.2, 0, 0.1]]}"
#define COUPLED                                                                                                        \
    "coordinates: {g in SE3 coupled: {position: [-0.1, -0.2, -1]}}\n"                                                  \
    "momenta: {p: {linear: [0.3, 0.2, 0], angular: [0.1, 0.7, 0.5]}}\nkinetic: {inertia: {g: " INERTIA "}}\n"          \
    "potential: g.position.z + 0.3*g.rotation.xx*g.rotation.yz\n"                                                      \
    "noise: [0.3*g.rotation.zz, 0.2*g.position.x]\nconstraints: 'g*[0.1, 0.2, 1]'\n"
#define COUPLED_HINGE                                                                                                  \
    "coordinates: {g in SE3 coupled: {position: [0, 0, 1]}, b in SE3: {position: [0, 0, 2]}}\n"                        \
    "momenta: {p: {linear: [0.2, 0.1, 0.3], angular: [0.1, 0.2, 0.5]}, r: {linear: [0.4, 0.1, 0.3]}}\n"                \
    "kinetic: {mass: 1, inertia: {g: " INERTIA ", b: [0.2, 0.3, 0.4]}}\n"                                              \
    "potential: g.position.z + 0.5*b.position.x\nnoise: 0.2*g.rotation.xz*b.position.y\n"                              \
    "constraints: ['g*[0, 0, 0.5] - b*[0, 0, -0.5]', 'dot(g.rotation*[1, 0, 0], b.rotation*[0, 1, 0])',\n"             \
    "  'dot(g.rotation*[0, 0, 1], b.rotation*[0, 1, 0])']\n"
/* a rod between a point of one and a mass, a point of the other on a sphere, its axis on a cone */
#define COUPLED_MIXED                                                                                                  \
    "coordinates: {x in R3: [0, 0.4, 1], 'g[2] in SE3 coupled': {position: '[i, 0.3, 0.1]', rotation: [0.3, "          \
    "0.2, 0]},\n"                                                                                                      \
    "  R in SO3: [0.1, 0.2, 0.1]}\nmomenta: {u: [0.3, 0, 0.1], p: {linear: [0.1, 0.2, 0], angular: '[0.3*i, 0, "       \
    "0.5]'},\n"                                                                                                        \
    "  m: [0.1, 0.2, 0.5]}\nkinetic: {mass: {x: 1.3}, inertia: {g: " INERTIA ", R: " TENSOR "}}\n"                     \
    "where: {'square(a)': 'dot(a, a)'}\npotential: dot(x, g[1].position) + trace(R*g[2].rotation)\n"                   \
    "noise: 0.2*g[2].rotation.xz*x.x\nconstraints: ['square(g[1]*[0.2, 0, 0.3] - x) - 2',\n"                           \
    "  'square(g[2]*[0, 0.3, 0.1]) - 4', 'dot(g[2].rotation*[0, 0, 1], R*[0, 0, 1]) - 0.9']\n"
#define COUPLED_CHAIN(N)                                                                                               \
    "parameters: {N: " N ", a: 0.5}\ncoordinates: {'g[N] in SE3 coupled': {position: '[(2*i-1)*a, 0, 0]',\n"           \
    "  rotation: '[0, pi/2, 0]'}, y in R3: '[2*N*a, 0, 0]'}\nmomenta: {p: {linear: '[0.1, 0.2*i, 0.1*i]',\n"           \
    "  angular: '[0.1*i, 0.1, 0.05]'}, r: [0, 0.1, 0.1]}\nkinetic: {inertia: {g: " INERTIA "}}\n"                      \
    "potential: sum(i=1..N, g[i].position.z)\nconstraints: ['g[1]*[0,0,-a]',\n"                                        \
    "  'each(i=1..N-1, g[i]*[0,0,a] - g[i+1]*[0,0,-a])', 'dot(y - g[N].position, y - g[N].position) - a^2']\n"

/* ---- the symplectic form, constraints ---- */

static void test_symplectic(void **state) {
    (void)state;
    static const struct {
        const char *name, *text, *method;
    } row[] = {
        {"pendulum", PENDULUM, "RATTLE"}, {"pendulum", PENDULUM, "SVE"},   {"pendulum", PENDULUM, "VE-adjoint"},
        {"pendulum", PENDULUM, "g-BRB"},  {"pendulum", PENDULUM, "g-BX"},  {"pendulum", PENDULUM, "g-BTB"},
        {"pendulum", PENDULUM, "SHAKE"},  {"hinge", HINGE, "RATTLE"},      {"rod, sphere", MIXED, "g-BRB"},
        {"rod, sphere", MIXED, "RATTLE"}, {"chain", CHAIN, "RATTLE-4"},
        {"pendulum", PENDULUM, "RATTLE-Jc"},
        {"hinge", HINGE, "RATTLE-weak2"},
        {"coupled", COUPLED, "RATTLE"},
        {"coupled", COUPLED, "SVE"},
        {"coupled", COUPLED, "RATTLE-Jc"},
        {"coupled", COUPLED, "g-BX"},
        {"coupled", COUPLED, "g-BTB"},
        {"coupled hinge", COUPLED_HINGE, "RATTLE"},
        {"coupled rod, sphere, cone", COUPLED_MIXED, "RATTLE-Jc"},
        {"coupled chain", COUPLED_CHAIN("3"), "RATTLE-4"},
        {"sparse coupled chain", COUPLED_CHAIN("14"), "g-BTB"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_model *m = model_of(row[i].text);
        struct lgv_kernel k = kernel_with(m, row[i].method, 8, NULL);
        assert_true(lgv_model_derivative_error(m) < 1e-9);
        double d = defect_of(m, &k);
        print_message("%s, %s: defect %.2g\n", row[i].name, row[i].method, d);
        if (!(d < 1e-11)) fail_msg("%s, %s: defect %g", row[i].name, row[i].method, d);
        double *x = final_values(&k, 0.05, 200, 8, 3, 1);
        for (size_t path = 0; path < 8; path++) {
            double g = x[path * k.watch.count + watch_number(&k, "constraint")];
            double hidden = x[path * k.watch.count + watch_number(&k, "hidden_constraint")];
            if (!(g < 1e-14 && hidden < 2e-14)) fail_msg("%s, %s: %g, %g", row[i].name, row[i].method, g, hidden);
        }
        free(x);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

/* Newton's method for the multipliers has a derivative of the motion that is off by O(dt^2): few rounds, and fewer for
 * small steps, of a body that turns fast; with the masses in its place there are 10 and 6.  Screws are explicit, so no
 * other rounds are counted. */
static void test_rounds(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {g in SE3 coupled: {position: [-0.1, -0.2, -1]}}\n"
                                   "momenta: {p: {linear: [3, 2, 0], angular: [2, 7, 25]}}\n"
                                   "kinetic: {inertia: {g: " INERTIA "}}\npotential: g.position.z\n"
                                   "constraints: 'g*[0.1, 0.2, 1]'\n");
    double rounds[2];
    for (int i = 0; i < 2; i++) {
        struct lgv_settings settings = settings_of(m);
        struct lgv_result r;
        snprintf(settings.method, sizeof settings.method, "g-BTB");
        settings.step = i ? 0.001 : 0.01;
        settings.until = 100 * settings.step;
        settings.paths = 16;
        run_with(m, &settings, LGV_OK, &r);
        rounds[i] = r.newton_iterations;
        lgv_result_clear(&r);
    }
    print_message("rounds a step: %.2f, small steps: %.2f\n", rounds[0], rounds[1]);
    assert_true(rounds[0] < 8.5 && rounds[1] < 5.5);
    lgv_model_free(m);
}

/* `space` by all of them, `body` by all but the last, which turns about axes. */
static void assert_momenta(struct lgv_model *m, const char *const *method, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct lgv_result r;
        const bool turns = i + 1 == count;
        run_method(m, method[i], &r);
        assert_kept(&r, method[i], "space", true, 1e-12);
        assert_kept(&r, method[i], "body", !turns, turns ? 1e-7 : 1e-12);
        assert_true(r.certificate.rotation < 1e-14 && r.certificate.constraint < 1e-14);
        lgv_result_clear(&r);
    }
}

/* A symmetric body held at a point of its axis, with noise that does not see turns about the vertical nor about that
 * axis; turns about principal axes keep the first only. */
static void test_momenta(void **state) {
    (void)state;
    struct lgv_model *m = model_of(
        "coordinates: {x in R3: '[0, -sin(0.4), cos(0.4)]', R in SO3: [0.4, 0, 0]}\n"
        "momenta: {p: [0, 0, 0], m: [0.1, 0.2, 2]}\nkinetic: {inertia: [0.5, 0.5, 0.7]}\npotential: x.z\n"
        "noise: [0.3*R.zz, 0.2*x.z^2]\nconstraints: 'x - R*[0, 0, 1]'\n"
        "symmetries: {space: {x: 'cross([0,0,1], x)', R: '[0,0,1]*R'}, body: {R: '[0,0,1]'}}\n"
        "run: {step: 0.05, until: 50, paths: 32}\n");
    static const char *const method[] = {"RATTLE", "SVE", "g-BRB", "RATTLE-Jc", "g-BTB"};
    assert_momenta(m, method, 5);
    lgv_model_free(m);
    m = model_of(
        "coordinates: {g in SE3 coupled: {rotation: [0.4, 0, 0]}}\nmomenta: {p: {angular: [0.1, 0.2, 2]}}\n"
        "kinetic: {inertia: {g: {angular: [2, 2, 1], linear: [3, 3, 1],\n"
        "  coupling: [[0.3, 0.2, 0], [-0.2, 0.3, 0], [0, 0, 0.4]]}}}\npotential: g.position.z + g.rotation.zz\n"
        "noise: [0.3*g.rotation.zz, 0.2*g.position.z^2]\nconstraints: 'g*[0, 0, -1] - [0, sin(0.4), -cos(0.4)]'\n"
        "symmetries: {space: {g: {position: 'cross([0,0,1], g.position - [0, sin(0.4), 0])*g.rotation',\n"
        "  rotation: '[0,0,1]*g.rotation'}}, body: {g: {rotation: '[0,0,1]'}}}\n"
        "run: {step: 0.05, until: 50, paths: 32}\n");
    assert_momenta(m, method, 5);
    lgv_model_free(m);
}

/* ---- one body, written in different ways ---- */

/* Held at its tip: a body of mass M and inertia I about its centre, which lies at c from the tip.  About the tip its
 * inertia is I + M (|c|^2 - c c^T), its momentum m + c x R^T p: M = 1.5, c = (0, 0.2, 0.8), omega = (0.3, 0.7, 1.1). */
#define SEEN "observe: {a: R.xx, b: R.yz, c: R.zz}\n"
#define NOISE(s) "parameters: {s: " s "}\n"
#define HELD(s)                                                                                                        \
    NOISE(s) "coordinates: {x in R3: [0, 0.2, 0.8], R in SO3: [0, 0, 0]}\n"                                            \
    "momenta: {p: '1.5*cross([0.3, 0.7, 1.1], [0, 0.2, 0.8])', m: [0.15, 0.42, 0.77]}\n"                               \
    "kinetic: {mass: 1.5, inertia: [0.5, 0.6, 0.7]}\npotential: 1.5*x.z\nnoise: [s*R.zz, s*x.y]\n"                     \
    "constraints: 'x - R*[0, 0.2, 0.8]'\n" SEEN
#define TURNING(s)                                                                                                     \
    NOISE(s) "coordinates: {R in SO3: [0, 0, 0]}\nmomenta: {m: [0.456, 0.828, 0.668]}\n"                               \
    "kinetic: {inertia: [[1.52, 0, 0], [0, 1.56, -0.24], [0, -0.24, 0.76]]}\n"                                         \
    "where: {y: '(R*[0, 0.2, 0.8]).y', z: '(R*[0, 0.2, 0.8]).z'}\n"                                                    \
    "potential: 1.5*z\nnoise: [s*R.zz, s*y]\n" SEEN

/* The same in a frame that has the centre at (a, b, c) and the tip at (0.1, -0.3, -0.5). */
#define FRAMED(s)                                                                                                      \
    "parameters: {s: " s ", M: 1.5, a: 0.1, b: -0.1, c: 0.3}\nwhere: {R: g.rotation}\n"                                \
    "coordinates: {g in SE3 coupled: {position: [-0.1, 0.3, 0.5]}}\n"                                                  \
    "momenta: {p: {linear: '1.5*cross([0.3, 0.7, 1.1], [0, 0.2, 0.8])',\n"                                             \
    "  angular: '[0.15, 0.42, 0.77] + cross([a,b,c], 1.5*cross([0.3, 0.7, 1.1], [0, 0.2, 0.8]))'}}\n"                  \
    "kinetic: {inertia: {g: {linear: M, coupling: [[0, -M*c, M*b], [M*c, 0, -M*a], [-M*b, M*a, 0]],\n"                 \
    "  angular: [[0.5 + M*(b^2 + c^2), -M*a*b, -M*a*c], [-M*a*b, 0.6 + M*(a^2 + c^2), -M*b*c],\n"                      \
    "    [-M*a*c, -M*b*c, 0.7 + M*(a^2 + b^2)]]}}}\npotential: 1.5*(g*[a,b,c]).z\n"                                    \
    "noise: [s*R.zz, 's*(g*[a,b,c]).y']\nconstraints: 'g*[0.1, -0.3, -0.5]'\n" SEEN

/* Three points with rods between them, the first held; the same as a body, whose centre has all forces. */
#define POINTS(s)                                                                                                      \
    NOISE(s) "coordinates: {u in R3: [0.6, 0, 0], v in R3: [-0.3, 0.4, 0], w in R3: [-0.3, -0.6, 0]}\n"                \
    "momenta: {p: [0, 0, 0], q: '1.2*cross([0.3, 0.7, 1.1], [-0.9, 0.4, 0])',\n"                                       \
    "  r: '0.8*cross([0.3, 0.7, 1.1], [-0.9, -0.6, 0])'}\nkinetic: {mass: {u: 1, v: 1.2, w: 0.8}}\n"                   \
    "potential: u.z + 1.2*v.z + 0.8*w.z\nnoise: [s*v.z, s*w.y^2]\nwhere: {'far(a)': 'dot(a, a)'}\n"                    \
    "constraints: ['u - [0.6, 0, 0]', far(u - v) - 0.97, far(u - w) - 1.17, far(v - w) - 1]\n"                         \
    "observe: {a: v.x, b: w.y, c: w.z}\n"
#define TRIANGLE(s)                                                                                                    \
    NOISE(s) "coordinates: {x in R3: [0, 0, 0], R in SO3: [0, 0, 0]}\n"                                                \
    "momenta: {p: '3*cross([0.3, 0.7, 1.1], [-0.6, 0, 0])', m: [0.144, 0.378, 1.122]}\n"                               \
    "kinetic: {mass: 3, inertia: [0.48, 0.54, 1.02]}\npotential: 3*x.z\n"                                              \
    "where: {v: 'x + R*[-0.3, 0.4, 0]', w: 'x + R*[-0.3, -0.6, 0]'}\nnoise: [s*v.z, s*w.y^2]\n"                        \
    "constraints: 'x + R*[0.6, 0, 0] - [0.6, 0, 0]'\nobserve: {a: v.x, b: w.y, c: w.z}\n"

/* A torque against the angular velocity omega in the body frame: F(q, p) of the body, and of the rotation. */
#define HELD_FORCED HELD("0") "force: {R: '-[m.x/0.5, m.y/0.6, m.z/0.7]'}\n"
#define TURNING_FORCED TURNING("0")                                                                                    \
    "force: {R: '-[m.x/1.52, (0.76*m.y + 0.24*m.z)/1.128, (0.24*m.y + 1.56*m.z)/1.128]'}\n"

/* a, b, c of every path at t = 1. */
static double *seen_of(const char *text, const char *method, uint64_t steps, size_t paths, uint64_t coarsen) {
    static const char *const name[] = {"a", "b", "c"};
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_with(m, method, 8, NULL);
    double *x = final_values(&k, 1.0 / (double)steps, steps, paths, 7, coarsen), *seen = calloc(3 * paths, sizeof *x);
    assert_non_null(seen);
    for (size_t i = 0; i < 3 * paths; i++) seen[i] = x[i / 3 * k.watch.count + watch_number(&k, name[i % 3])];
    free(x);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    return seen;
}

/* The sum of squares of their differences, path by path. */
static void differ(const double *x, const double *y, size_t paths, double *out) {
    for (size_t path = 0; path < paths; path++) {
        out[path] = 0;
        for (size_t k = 3 * path; k < 3 * path + 3; k++) out[path] += (x[k] - y[k]) * (x[k] - y[k]);
    }
}

/* Without noise, against the rotation about the tip by RKN8. */
static void test_orders(void **state) {
    (void)state;
    static const struct {
        struct order_row order;
        const char *text;
    } row[] = {{{"RATTLE", 64, 2, 0.03}, HELD("0")},    {{"g-BRB", 64, 2, 0.03}, HELD("0")},
               {{"g-BTB", 64, 2, 0.03}, HELD("0")},     {{"SVE", 256, 1, 0.03}, HELD("0")},
               {{"g-BX", 256, 1, 0.03}, HELD("0")},     {{"g-BAB", 64, 2, 0.03}, HELD("0")},
               {{"RATTLE-4", 16, 4, 0.1}, HELD("0")},   {{"g-BRB-4", 16, 4, 0.1}, HELD("0")},
               {{"RATTLE", 64, 2, 0.03}, HELD_FORCED},  {{"SVE", 256, 1, 0.03}, HELD_FORCED},
               {{"VE-adjoint", 256, 1, 0.03}, HELD_FORCED}, {{"RATTLE", 64, 2, 0.03}, FRAMED("0")},
               {{"SVE", 256, 1, 0.03}, FRAMED("0")},    {{"g-BXB", 64, 2, 0.03}, FRAMED("0")},
               {{"g-BTB", 64, 2, 0.03}, FRAMED("0")},   {{"RATTLE-4", 16, 4, 0.1}, FRAMED("0")}};
    double *free_of = seen_of(TURNING("0"), "RKN8", 400, 1, 1), *forced = seen_of(TURNING_FORCED, "RKN8", 400, 1, 1);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        double error[2];
        for (uint64_t k = 0; k < 2; k++) {
            double *x = seen_of(row[i].text, row[i].order.method, row[i].order.steps << k, 1, 1);
            differ(x, strstr(row[i].text, "force") ? forced : free_of, 1, &error[k]);
            free(x);
        }
        assert_order(&row[i].order, sqrt(error[0]), sqrt(error[1]));
    }
    free(free_of);
    free(forced);
}

#define PATHS 256
#define LEVELS 4

/* With noise: the strong order of one way of writing against a fine run of the other, on the same paths. */
static void strong(const char *text, const char *method, const char *other, const char *fine_method, double order,
                   uint64_t fewest) {
    enum { FINE = 2048 };
    double squared[LEVELS * PATHS], dt[LEVELS], *fine = seen_of(other, fine_method, FINE, PATHS, 1);
    for (size_t k = 0; k < LEVELS; k++) {
        uint64_t steps = fewest << k;
        double *x = seen_of(text, method, steps, PATHS, FINE / steps);
        dt[k] = 1.0 / (double)steps;
        differ(x, fine, PATHS, squared + k * PATHS);
        free(x);
    }
    struct fit f = fit_order(squared, dt, LEVELS, PATHS);
    print_message("%s against %s: strong order %.3f (%.3f)\n", method, fine_method, f.slope, f.slope_error);
    double most = order > 1 ? 2.1 : 1.1; /* where the error of order 2 without noise is the larger one */
    if (!(f.slope > order - 0.1 && f.slope < most)) fail_msg("%s: strong order %g", method, f.slope);
    free(fine);
}

static void test_strong(void **state) {
    (void)state;
    strong(HELD("0.4"), "RATTLE", TURNING("0.4"), "BAB", 1, 16);
    strong(HELD("0.4"), "g-BR", TURNING("0.4"), "BAB", 1, 16);
    strong(FRAMED("0.4"), "RATTLE", TURNING("0.4"), "BAB", 1, 16);
    strong(TRIANGLE("0.4"), "RATTLE", POINTS("0.4"), "RATTLE", 1, 16);
    strong(HELD("3"), "RATTLE-Jc", TURNING("3"), "VZc", 1.5, 16);
    strong(FRAMED("3"), "RATTLE-Jc", TURNING("3"), "VZc", 1.5, 64);
}

/* Bodies and points, without noise: the same motion up to errors of order 2. */
static void test_points(void **state) {
    (void)state;
    double error[2];
    for (uint64_t k = 0; k < 2; k++) {
        const uint64_t steps = UINT64_C(32) << k;
        double *x = seen_of(TRIANGLE("0"), "RATTLE", steps, 1, 1), *y = seen_of(POINTS("0"), "RATTLE", steps, 1, 1);
        differ(x, y, 1, &error[k]);
        free(x);
        free(y);
    }
    double slope = log2(error[0] / error[1]) / 2;
    print_message("points and body: %.3f (%.2g, %.2g)\n", slope, sqrt(error[0]), sqrt(error[1]));
    if (!(fabs(slope - 2) < 0.05 && error[1] < 1e-7)) fail_msg("order %g, %g", slope, sqrt(error[1]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symplectic), cmocka_unit_test(test_rounds), cmocka_unit_test(test_momenta),
        cmocka_unit_test(test_orders),     cmocka_unit_test(test_strong), cmocka_unit_test(test_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
