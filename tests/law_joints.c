/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stationary law of bodies with joints in a bath that has one friction for positions and another for rotations.
 *
 * A body held at a point is a rotation about it with the inertia J = I + M (|c|^2 - c c^T): its orientation has the law
 * exp(-V/kT) with respect to the uniform one, and omega is normal with covariance kT J^-1.  So <p.p>/M + <m.I^-1 m> =
 * 3 kT, of which kT tr(I J^-1) is that of the rotation.  M = 1.5, c = (0, 0.2, 0.8), I = (0.5, 0.6, 0.7). */
#include "bodies.h"

#define HELD                                                                                                           \
    "parameters: {kT: 0.8}\ncoordinates: {x in R3: [0, 0.2, 0.8], R in SO3: [0.3, 0, 0]}\n"                            \
    "momenta: {p: [0, 0, 0], m: [0.3, 0.2, 0.1]}\nkinetic: {mass: 1.5, inertia: [0.5, 0.6, 0.7]}\n"                    \
    "potential: 2*R.zz\nconstraints: 'x - R*[0, 0.2, 0.8]'\n"                                                          \
    "langevin: {friction: {x: 0.4, R: 1}, temperature: kT}\n"                                                          \
    "observe: {up: R.zz, shift: 'dot(p, p)/1.5', turn: m.x^2/0.5 + m.y^2/0.6 + m.z^2/0.7}\n"
#define CHAIN                                                                                                          \
    "parameters: {N: 4, a: 0.5}\ncoordinates: {'x[N] in R3': '[(2*i-1)*a, 0, 0]', 'R[N] in SO3': '[0, pi/2, 0]'}\n"    \
    "momenta: {p: 'normal(0, 0.6)', m: '[0.1, 0.1, 0.05]'}\nkinetic: {mass: 1, inertia: [0.09, 0.1, 0.03]}\n"          \
    "potential: sum(i=1..N, x[i].z)\nconstraints: ['x[1] - R[1]*[0,0,a]',\n"                                           \
    "  'each(i=1..N-1, x[i] + R[i]*[0,0,a] - x[i+1] + R[i+1]*[0,0,a])']\n"                                             \
    "langevin: {friction: {x: 0.8, R: 0.1}, temperature: 0.4}\n"

/* The same in another frame: the centre at (0.1, -0.1, 0.3), the tip at (0.1, -0.3, -0.5). */
#define FRAMED                                                                                                         \
    "parameters: {kT: 0.8, M: 1.5, a: 0.1, b: -0.1, c: 0.3}\n"                                                         \
    "coordinates: {g in SE3 coupled: {position: [-0.1, 0.3, 0.5]}}\nmomenta: {p: {angular: [0.3, 0.2, 0.1]}}\n"        \
    "kinetic: {inertia: {g: {linear: M, coupling: [[0, -M*c, M*b], [M*c, 0, -M*a], [-M*b, M*a, 0]],\n"                 \
    "  angular: [[0.5 + M*(b^2 + c^2), -M*a*b, -M*a*c], [-M*a*b, 0.6 + M*(a^2 + c^2), -M*b*c],\n"                      \
    "    [-M*a*c, -M*b*c, 0.7 + M*(a^2 + b^2)]]}}}\npotential: 2*g.rotation.zz\nconstraints: 'g*[0.1, -0.3, -0.5]'\n"  \
    "where: {m: 'p.angular - cross([a, b, c], p.linear)'}\n"                                                           \
    "langevin: {friction: {g: {position: 0.4, rotation: 1}}, temperature: kT}\n"                                       \
    "observe: {up: g.rotation.zz, shift: 'dot(p.linear, p.linear)/M', turn: m.x^2/0.5 + m.y^2/0.6 + m.z^2/0.7}\n"

static void test_held(void **state) {
    (void)state;
    static const struct {
        const char *text, *method;
        double dt;
    } row[] = {{HELD, "RATTLE-GLA", 0.05},         {HELD, "g-BAOAB", 0.05},     {HELD, "g-BRORB", 0.05},
               {HELD, "g-OBABO-Metropolis", 0.25}, {HELD, "g-SVE-QI", 0.01},    {FRAMED, "RATTLE-GLA", 0.05},
               {FRAMED, "g-BTOTB", 0.05},          {FRAMED, "g-OBRBO-Metropolis", 0.25}};
    const double x = 2 / 0.8, up = -(1 / tanh(x) - 1 / x), turn = 0.5 / 1.52 + (0.6 * 0.76 + 0.7 * 1.56) / 1.128;
    enum { PATHS = 4000 };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_model *m = model_of(row[i].text);
        struct lgv_kernel k = kernel_with(m, row[i].method, 8, NULL);
        double *value = final_values(&k, row[i].dt, (uint64_t)(12 / row[i].dt), PATHS, 11, 1);
        assert_mean(&k, value, PATHS, "up", up, 3);
        assert_mean(&k, value, PATHS, "turn", 0.8 * turn, 3);
        assert_mean(&k, value, PATHS, "shift", 0.8 * (3 - turn), 3);
        assert_mean(&k, value, PATHS, "kinetic_temperature", 0.8, 3);
        free(value);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

/* Many constraints, and a friction that is no multiple of the mass: 12 of 24 degrees of freedom are left. */
static void test_chain(void **state) {
    (void)state;
    enum { PATHS = 1000 };
    struct lgv_model *m = model_of(CHAIN);
    struct lgv_kernel k = kernel_with(m, "RATTLE-GLA", 8, NULL);
    double *value = final_values(&k, 0.04, 150, PATHS, 5, 1);
    assert_mean(&k, value, PATHS, "kinetic_temperature", 0.4, 3);
    free(value);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_held), cmocka_unit_test(test_chain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
