/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rigid bodies `body in SE3`: the same paths as a vector and a rotation, to the bit. */
#include "helpers.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
