/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Discrete Lagrangians that are none: refused at their place in the file. */
#include "bodies.h"

#define MODEL "coordinates: {x: 0.5}\nmomenta: {p: 0.3}\nhamiltonian: p^2/2 - cos(x)\n"
#define NOISY MODEL "noise: 0.3*sin(x)\n"
#define OWN "methods:\n  own:\n    discrete_lagrangian: "
#define GOOD "((x1 - x0)/dt)^2/2 + cos(x0)\n"
#define BODY "coordinates: {R in SO3: [0.1, 0, 0]}\nmomenta: {m: [0, 0, 1]}\npotential: R.zz\n"

static void test_files(void **state) {
    (void)state;
    static const struct bad_file row[] = {
        {MODEL OWN "((x1 - x0)/dt)^2/2 + cos(x)\n", 6, 51, "x may not be used in a discrete Lagrangian"},
        {MODEL OWN "dt*(((x1 - x0)/dt)^2/2 + cos(x0))\n", 6, 26, "without a factor dt"},
        {MODEL OWN "((x1 - x0)/dt)^2/2 - cos(x0)\n", 6, 26, "no discrete Lagrangian of the model"},
        {MODEL OWN "((x1 - x0)/dt)^2 + cos(x0)\n", 6, 26, "no discrete Lagrangian of the model"},
        {MODEL OWN "cos(x0)\n", 6, 26, "no discrete Lagrangian of the model"},
        {MODEL OWN "'[x0, x1]'\n", 6, 27, "is a number, but this is a vector"},
        {MODEL OWN "((x1 - x0)/dt)^2/2 + cos(x2)\n", 6, 51, "unknown name x2; did you mean x"},
        {NOISY OWN GOOD, 6, 3, "discrete_noise is needed"},
        {NOISY OWN GOOD "    discrete_noise: [-0.3*sin(x0), x1]\n", 8, 21, "the model has 1 noise, and here are 2"},
        {MODEL OWN GOOD "    discrete_noise: -0.3*sin(x0)\n", 7, 21, "the model has 0 noises, and here are 1"},
        {NOISY OWN GOOD "    discrete_noise: 0.3*sin(x0)\n", 8, 21, "that of -h"},
        {MODEL OWN GOOD "    nodes: [1]\n", 7, 12, "does not belong to a discrete Lagrangian"},
        {MODEL OWN GOOD "    second: {y: 1}\n", 7, 14, "there is no coordinate y"},
        {MODEL OWN GOOD "    second: {}\n", 7, 13, "x is missing"},
        {MODEL OWN GOOD "    second: {x: normal()}\n", 7, 17, "may only be used in start values"},
        {MODEL "methods:\n  own:\n    second: {x: 1}\n", 6, 5, "there is none"},
        {MODEL "methods: {own: {discrete_lagrangian: [1, 2]}}\n", 4, 38, "a formula"},
        {"parameters: {x1: 2}\n" MODEL OWN GOOD, 6, 3, "the model uses that name"},
        {"coordinates: {x: 0.5}\nvelocities: {v: 0.1}\nlagrangian: 1 - sqrt(1 - v^2)\n" OWN GOOD, 6, 26,
         "needs a model with a Hamiltonian"},
        {BODY OWN "(R1 - R0)/dt\n", 6, 26, "this is a matrix"},
        {MODEL OWN "((x1 - x0)/dt)^2/2 + cos(x0) + sqrt(-1 - x0^2)\n", 6, 26, "no value at short steps"},
        {"coordinates: {b in SE3 coupled: {}}\nmomenta: {p: {linear: [1, 0, 0]}}\npotential: '0'\n" OWN
         "dot(b1.position - b0.position, b1.position - b0.position)/2/dt^2\n", 6, 26, "no discrete Lagrangian of the"},
        {BODY OWN "trace(transpose(R0)*R1)/dt^2 - R0.zz\n", 6, 26, "no discrete Lagrangian of the model"},
        {BODY OWN "trace(transpose(R0)*R1)/dt^2 - R0.zz\n    second: {R: uniform}\n", 7, 17,
         "uniform may only be used in start values"},
    };
    assert_bad_files(row, sizeof row / sizeof *row);
}

static void test_models(void **state) {
    (void)state;
    static const struct misfit row[] = {
        {"coordinates: {x: 1, y: 0}\nmomenta: {p: 0, r: 1}\nhamiltonian: (p^2 + r^2)/2\n"
         "constraints: x^2 + y^2 - 1\n" OWN "((x1 - x0)^2 + (y1 - y0)^2)/2/dt^2\n", "own", "does not keep them"},
        {MODEL "force: -p\n" OWN GOOD, "own", "does not use it"},
        {MODEL "langevin: {friction: 1, temperature: 1}\n" OWN GOOD, "own", "knows nothing of them"},
    };
    assert_misfits(row, sizeof row / sizeof *row);
}

/* Another value of a parameter makes it another model, which the same formula does not belong to. */
static void test_parameters(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {k: 1, n: 1}\ncoordinates: {x: 0.5}\nmomenta: {p: 0.3}\n"
                                   "hamiltonian: p^2/2 - k*cos(x)\n" OWN GOOD);
    struct lgv_error err = {0};
    assert_int_equal(lgv_model_set(m, "n", 3, &err), LGV_OK);
    assert_int_equal(lgv_model_set(m, "k", 2, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "no discrete Lagrangian of the model"));
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_files), cmocka_unit_test(test_models),
                                       cmocka_unit_test(test_parameters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
