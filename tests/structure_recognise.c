/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the library reads off the formulas: separability, kind of kinetic energy, what noise depends on, whether noises
 * commute, symmetries, time dependence, and the strong order it promises from all that. */
#include "helpers.h"

#define ONE "coordinates: {q: 0.3}\nmomenta: {p: 0.9}\n"
#define TWO "coordinates: {a: 0.7, b: -0.4}\nmomenta: {u: 0.2, v: 0.5}\n"

static void test_separable(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool separable, hamiltonian, quadratic, linear, time;
    } row[] = {
        {ONE "hamiltonian: p^2/2 - cos(q)\n", true, true, true, false, false},
        {ONE "hamiltonian: p^2/2 + q^2/2\nnoise: 0.1*H\n", true, true, true, true, false},
        {ONE "hamiltonian: p^2/2 + q^2/2\nnoise: 0.1*q*p\n", false, true, true, true, false},
        {ONE "hamiltonian: sqrt(1 + p^2) + q^2/2\n", true, true, false, false, false},
        {ONE "hamiltonian: p^2/2 + p + q^4\n", true, true, true, false, false},
        {ONE "hamiltonian: (1 + q^2)*p^2/2\n", false, false, false, false, false},
        {ONE "hamiltonian: p^2/2 + q*p - (q - 1)*p\n", true, true, true, true, false}, /* q p cancels */
        {ONE "hamiltonian: (p - q)^2/2 + q*p\n", true, true, true, true, false},
        {ONE "hamiltonian: p^2/2 + cos(t)*q^2/2\n", true, true, true, true, true},
        {ONE "hamiltonian: (2 + cos(t))*p^2/2 + q^2\n", true, true, false, true, true},
        {ONE "hamiltonian: p^2/2\nnoise: 't*sin(q)'\n", true, true, true, false, true},
        {TWO "hamiltonian: u^2 + u*v + v^2 + a*b\n", true, true, true, true, false},
        {TWO "hamiltonian: u^2 + v^2 + a*v\n", false, false, false, true, false},
        {"parameters: {N: 30}\ncoordinates: {'x[N]': 0}\nmomenta: {p: 0}\n"
         "hamiltonian: sum(i=1..N, p[i]^2/2 + (x[wrap(i+1)] - x[i])^4)\n",
         true, true, true, false, false},
        {"parameters: {N: 30}\ncoordinates: {'x[N]': 0}\nmomenta: {p: 0}\n"
         "hamiltonian: sum(i=1..N, p[i]^2*(1 + x[i]^2))\n",
         false, false, false, false, false},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_structure s = structure_of(row[i].text);
        if (s.separable != row[i].separable || s.hamiltonian_separable != row[i].hamiltonian ||
            s.quadratic_kinetic != row[i].quadratic || s.linear != row[i].linear || s.time_dependent != row[i].time)
            fail_msg("separable %d, H separable %d, quadratic %d, linear %d, time %d:\n%s", s.separable,
                     s.hamiltonian_separable, s.quadratic_kinetic, s.linear, s.time_dependent, row[i].text);
    }
}

static void test_noise(void **state) {
    (void)state;
    static const struct {
        const char *noise;
        int depends, additive, commutes;
        double midpoint_order;
    } row[] = {
        {"[]", LGV_ON_NOTHING, false, 1, 2},
        {"0.1*q", LGV_ON_Q, true, 1, 1},
        {"0.1*sin(q)", LGV_ON_Q, false, 1, 1},
        {"0.1*p^2", LGV_ON_P, false, 1, 1},
        {"0.1*H", LGV_ON_BOTH, false, 1, 1},
        {"[0.5*q^2/2, 0.5*p^2/2]", LGV_ON_BOTH, false, 0, 0.5},
        {"[0.5*sin(q), 0.5*cos(q)]", LGV_ON_Q, false, 1, 1},
        {"[0.1*H, 0.3*H]", LGV_ON_BOTH, false, 1, 1},
        {"['each(k=1..2, 0.1*k*H)']", LGV_ON_BOTH, false, 1, 1},
        {"[0.1*q, 0.2*p]", LGV_ON_BOTH, true, 1, 1}, /* {q, p} = 1 is constant */
        {"[0.1*q, 0.2*p^2]", LGV_ON_BOTH, false, 0, 0.5},
        {"[0.1*(q^2 + p^2), 0.2*(q^2 + p^2)^2]", LGV_ON_BOTH, false, 1, 1},
        {"[0.1*(q^2 + p^2), 0.2*sin(q^2 + p^2)]", LGV_ON_BOTH, false, 1, 1},
        {"[0.1*exp(q)*p, 0.2*exp(q)^2*p^2]", LGV_ON_BOTH, false, 1, 1}, /* both functions of exp(q) p */
        {"[0.1*q*p, 0.2*q*p + 1e-4*q^2]", LGV_ON_BOTH, false, 0, 0.5},
        {"0.1*t*q", LGV_ON_Q, false, 1, 1},
        {"0.1*(sin(q)^2 + cos(q)^2)", LGV_ON_NOTHING, true, 1, 1}, /* its gradient vanishes */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[300];
        snprintf(text, sizeof text, ONE "hamiltonian: p^2/2 + q^2/2\nnoise: %s\n", row[i].noise);
        struct lgv_model *m = model_of(text);
        struct lgv_structure s;
        assert_int_equal(lgv_model_structure(m, &s, NULL), LGV_OK);
        const char *why;
        double order = lgv_kernel_strong_order(lgv_method_find("midpoint"), &s, m->nnoise, &why);
        if (s.noise_depends != row[i].depends || s.additive != row[i].additive || s.commutes != row[i].commutes ||
            order != row[i].midpoint_order || strlen(why) < 10)
            fail_msg("noise %s: depends %d, additive %d, commutes %d, order %g (%s)", row[i].noise, s.noise_depends,
                     s.additive, s.commutes, order, why);
        lgv_model_free(m);
    }
}

static void test_symmetries(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool invariant;
    } row[] = {
        {"hamiltonian: u^2/2 + v^2/2 + (a^2 + b^2)^2\nsymmetries:\n  turn: [-b, a]\n", true},
        {"hamiltonian: u^2/2 + v^2/2 + (a^2 + 1.001*b^2)^2\nsymmetries:\n  turn: [-b, a]\n", false},
        {"hamiltonian: u^2/2 + v^2/2 + (a^2 + b^2)^2\nnoise: 0.1*log(1 + a^2 + b^2)\nsymmetries:\n  turn: [-b, a]\n",
         true},
        {"hamiltonian: u^2/2 + v^2/2 + (a^2 + b^2)^2\nnoise: 0.001*a\nsymmetries:\n  turn: [-b, a]\n", false},
        {"hamiltonian: u^2/2 + v^2/2 + cos(a - b)\nsymmetries:\n  shift: [1, 1]\n", true},
        {"hamiltonian: u^2/2 + v^2/2 + cos(a - b)\nsymmetries:\n  shift: [1, -1]\n", false},
        {"hamiltonian: u^2/2 + v^2/2 + cos(a - 2*b)\nsymmetries:\n  shift: [2, 1]\n", true},
        {"hamiltonian: u^2/2 + v^2 + (a^2 + b^2)^2\nsymmetries:\n  turn: [-b, a]\n", false}, /* unequal masses */
        /* sinh^2 hides the invariance from the canonical form: decided at random points */
        {"hamiltonian: u^2/2 + v^2/2 + (cosh(a - b)^2 - sinh(a - b)^2)*b\nsymmetries:\n  shift: [1, 0]\n", true},
        {"hamiltonian: u^2/2 + v^2/2 + cos(t)*(a^2 + b^2)\nsymmetries:\n  turn: [-b, a]\n", true},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[400];
        snprintf(text, sizeof text, TWO "%s", row[i].text);
        struct lgv_structure s = structure_of(text);
        assert_int_equal(s.nsymmetries, 1);
        if (s.symmetry[0].invariant != row[i].invariant || (s.symmetry[0].residual > 1e-10) == row[i].invariant)
            fail_msg("invariant %d, residual %g:\n%s", s.symmetry[0].invariant, s.symmetry[0].residual, text);
    }
    struct lgv_structure s = structure_of(
        "parameters: {N: 40}\ncoordinates: {'x[N]': 0.1*i}\nmomenta: {p: 0}\n"
        "potential: sum(i=1..N, cos(x[wrap(i+1)] - x[i]))\nnoise: ['each(k=1..N, sin(x[wrap(k+1)] - x[k]))']\n"
        "symmetries: {shift: {x: 1}}\n");
    assert_true(s.symmetry[0].invariant && s.separable && s.noise_depends == LGV_ON_Q && s.commutes == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_separable),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_symmetries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
