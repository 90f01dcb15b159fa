/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Without constraints and with constant masses variational methods are known Galerkin methods: two programs with
 * nothing in common but the model must give the same path.
 *
 *     RATTLE = P2N2Q2Lob (Stoermer-Verlet)    RATTLE-J = VZ    RATTLE-Jc = VZc    VE-adjoint = P1N1Q1Rec
 *     Lobatto3 = P2N3Q4Lob                    Lobatto4 = P3N4Q6Lob
 *
 * The same Lagrangian once with constant masses hidden (so that stages are solved in terms of velocities) must agree
 * too. */
#include "helpers.h"

#define STEPS 20

static const char *const model = "coordinates: {x: 0.3, y: -0.2}\nmomenta: {u: 0.5, v: 1}\n"
                                 "hamiltonian: u^2/2 + v^2/3 + x^2*y^2/4 + (x^2 + y^2)/2 - cos(x)\n"
                                 "noise: [0.3*sin(x + y), 0.2*x*y]\n";
/* The same by L; the term 0*x*... would be simplified away, so the second mass depends on a parameter times y, set
 * to 0. */
static const char *const lagrangian =
    "parameters: {off: 0}\ncoordinates: {x: 0.3, y: -0.2}\nvelocities: {u: 0.5, v: 2/3}\n"
    "lagrangian: u^2/2*(1 + off*x) + 3*v^2/4 - (x^2*y^2/4 + (x^2 + y^2)/2 - cos(x))\n"
    "noise: [0.3*sin(x + y), 0.2*x*y]\n";

/* q and p of path 3 after STEPS steps. */
static void walk(const char *text, const char *method, double *x) {
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, method);
    struct lgv_own_block b;
    size_t lanes = k.entry->lanes;
    assert_true(lgv_block_create(&k, 0, 0.1, 5, 1, &b));
    for (size_t l = 0; l < lanes; l++) b.path[l] = 3;
    k.entry->start(&b.block);
    k.entry->advance(&b.block, STEPS);
    for (size_t i = 0; i < 4; i++) x[i] = b.block.state[i * lanes];
    assert_int_equal(b.block.fail[0], 0);
    lgv_block_free(&b);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

static double distance(const double *a, const double *b) {
    double most = 0;
    for (int i = 0; i < 4; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static void test_pairs(void **state) {
    (void)state;
    static const char *const pair[][2] = {{"RATTLE", "P2N2Q2Lob"},   {"RATTLE-J", "VZ"},
                                          {"RATTLE-Jc", "VZc"},      {"VE-adjoint", "P1N1Q1Rec"},
                                          {"Lobatto3", "P2N3Q4Lob"}, {"Lobatto4", "P3N4Q6Lob"}};
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        double a[4], b[4], c[4];
        walk(model, pair[i][0], a);
        walk(model, pair[i][1], b);
        walk(lagrangian, pair[i][0], c);
        print_message("%s and %s: %.1e, by L %.1e\n", pair[i][0], pair[i][1], distance(a, b), distance(a, c));
        assert_true(distance(a, b) < 1e-13);
        assert_true(distance(a, c) < 1e-12);
    }
}

static void test_shake(void **state) {
    (void)state;
    double a[4], b[4];
    walk(model, "SHAKE", a);
    walk(model, "RATTLE", b);
    assert_true(distance(a, b) == 0); /* nothing to project */
    walk(model, "VE", a);
    assert_true(distance(a, b) > 1e-3); /* the comparison can fail */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs), cmocka_unit_test(test_shake)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
