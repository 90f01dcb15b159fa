/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods made of others: compositions and splitting words.  A substep does what its step does alone, bit by bit;
 * orders, symplecticity and the number of force evaluations follow. */
#include "helpers.h"

#define HENON                                                                                                          \
    "coordinates: {x: 0.1, y: 0.2}\nmomenta: {px: 0.3, py: -0.1}\n"                                                    \
    "hamiltonian: px^2/2 + py^2/2 + x^2/2 + y^2/2 + x^2*y - y^3/3\n"
#define MIXED "coordinates: {q: 0.4}\nmomenta: {p: 1}\nhamiltonian: p^2/2*(1 + q^2/3) - cos(q) + p*q/5\n"
#define SPHERE                                                                                                         \
    "coordinates: {x: 1, y: 0, z: 0}\nmomenta: {px: 0, py: 1.1, pz: 0.3}\nhamiltonian: (px^2+py^2+pz^2)/2 + z\n"       \
    "constraints: [x^2+y^2+z^2-1]\n"
#define DRIVEN                                                                                                         \
    "coordinates: {q: 0.4}\nmomenta: {p: 1}\nhamiltonian: p^2/2*(1+0.3*sin(t)) - cos(q)*(1+0.5*cos(2*t))\n"

static const double yoshida[] = {1.3512071919596576340, 1 - 2 * 1.3512071919596576340, 1.3512071919596576340};

/* ---- parts ---- */

static void begin_block(const struct lgv_kernel *k, double dt, struct lgv_own_block *b) {
    assert_true(lgv_block_create(k, 0, dt, 5, 1, b));
    lgv_block_start(k, b, 0, k->entry->lanes);
}

/* A composed step with the increment dW = 0.3 against three steps of its base with the parts of dt and dW. */
static void check_parts(const char *text, const char *base, bool noise) {
    struct lgv_model *m = model_of(text);
    char name[64];
    snprintf(name, sizeof name, "%s-Yoshida4", base);
    struct lgv_kernel whole = kernel_of(m, name), part = kernel_of(m, base);
    struct lgv_own_block a, b;
    double *dW = lgv_aligned(16), dt = 0.07;
    begin_block(&whole, dt, &a);
    begin_block(&part, dt, &b);
    size_t lanes = whole.entry->lanes;
    assert_int_equal(lanes, part.entry->lanes);
    for (int l = 0; l < 16; l++) dW[l] = 0.3;
    if (noise) a.block.given = dW;
    whole.entry->advance(&a.block, 1);
    for (int k = 0; k < 3; k++) {
        b.block.dt = yoshida[k] * dt;
        for (int l = 0; l < 16; l++) dW[l] = yoshida[k] * 0.3;
        if (noise) b.block.given = dW;
        part.entry->advance(&b.block, 1);
    }
    assert_int_equal(a.block.fail[0], 0);
    if (memcmp(a.block.state, b.block.state, (m->nx + m->np) * lanes * sizeof(double)) != 0)
        fail_msg("%s: %.17g is not %.17g", name, a.block.state[0], b.block.state[0]);
    lgv_block_free(&a);
    lgv_block_free(&b);
    free(dW);
    lgv_kernel_free(&whole);
    lgv_kernel_free(&part);
    lgv_model_free(m);
}

static void test_substeps(void **state) {
    (void)state;
    check_parts(HENON, "P2N2Q2Lob", false);
    check_parts(HENON "noise: 0.3*x*y\n", "P2N2Q2Lob", true);
    check_parts(HENON "noise: 0.3*x*y\n", "P1N2Q2Lob", true);
    check_parts(HENON "noise: 0.3*x*y\n", "P1N1Q2Gau", true);
    check_parts(MIXED "noise: 0.2*q*p\n", "P2N2Q2Lob", true);
    check_parts(MIXED "noise: 0.2*q*p\n", "P1N1Q2Gau", true);
    check_parts(SPHERE, "RATTLE", false);
    check_parts(SPHERE "noise: 0.2*x\n", "RATTLE", true);
}

/* BAB is the Stoermer-Verlet method, one force evaluation a step; so has ABA. */
static void test_words(void **state) {
    (void)state;
    struct lgv_model *m = model_of(HENON "noise: 0.1*x*y\n");
    static const char *const name[] = {"P2N2Q2Lob", "bab", "ABA", "ABABA", "BAB-Yoshida4"};
    static const unsigned evaluations[] = {101, 101, 100, 200, 301};
    struct lgv_own_block b[5];
    struct lgv_kernel k[5];
    for (int i = 0; i < 5; i++) {
        k[i] = kernel_of(m, name[i]);
        begin_block(&k[i], 0.05, &b[i]);
        k[i].entry->advance(&b[i].block, 100);
        if (b[i].block.evaluations != evaluations[i] * k[i].entry->vecs)
            fail_msg("%s: %llu evaluations", name[i], b[i].block.evaluations);
        for (size_t r = 0; i < 2 && r < 4 * k[i].entry->lanes; r++)
            assert_near(b[i].block.state[r], b[0].block.state[r], 1e-12, name[i]);
        assert_true(fabs(b[i].block.state[0] - b[0].block.state[0]) < 0.1);
    }
    for (int i = 0; i < 5; i++) {
        lgv_block_free(&b[i]);
        lgv_kernel_free(&k[i]);
    }
    lgv_model_free(m);
}

/* Bits do not depend on where a call begins, also where forces depend on time. */
static void test_calls(void **state) {
    (void)state;
    static const char *const name[] = {"P2N2Q2Lob-Suzuki4", "P2N2Q2Lob-Yoshida4", "BAB", "BA", "P1N1Q2Gau-Yoshida4"};
    static const char *const text[] = {DRIVEN "noise: 0.2*sin(q+t)\n", HENON "noise: 0.1*x*y\n"};
    for (size_t i = 0; i < 2 * sizeof name / sizeof *name; i++) {
        struct lgv_model *m = model_of(text[i % 2]);
        struct lgv_kernel k = kernel_of(m, name[i / 2]);
        struct lgv_own_block one, many;
        begin_block(&k, 0.1, &one);
        begin_block(&k, 0.1, &many);
        k.entry->advance(&one.block, 41);
        for (int s = 0; s < 41; s++) k.entry->advance(&many.block, 1);
        if (memcmp(one.block.state, many.block.state, (m->nx + m->np) * k.entry->lanes * sizeof(double)) != 0)
            fail_msg("%s depends on calls", name[i / 2]);
        lgv_block_free(&one);
        lgv_block_free(&many);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

/* ---- orders ---- */

static void final_state(struct lgv_model *m, const char *method, double dt, uint64_t steps, double *x) {
    struct lgv_kernel k = kernel_of(m, method);
    struct lgv_own_block b;
    begin_block(&k, dt, &b);
    k.entry->advance(&b.block, steps);
    assert_int_equal(b.block.fail[0], 0);
    for (size_t i = 0; i < m->nx + m->np; i++) x[i] = b.block.state[i * k.entry->lanes];
    lgv_block_free(&b);
    lgv_kernel_free(&k);
}

/* Slope of log error against log step over five steps, and its standard error. */
static void check_order(const char *text, const char *method, const char *reference, double order) {
    struct lgv_model *m = model_of(text);
    double exact[16], x[16], lx[5], ly[5], sx = 0, sy = 0, sxx = 0, sxy = 0, left = 0;
    final_state(m, reference, 2.0 / 4096, 4096, exact);
    for (int i = 0; i < 5; i++) {
        uint64_t steps = 32u << i;
        double error = 0;
        final_state(m, method, 2.0 / (double)steps, steps, x);
        for (size_t j = 0; j < m->nx + m->np; j++) error += (x[j] - exact[j]) * (x[j] - exact[j]);
        sx += lx[i] = log(2.0 / (double)steps);
        sy += ly[i] = 0.5 * log(error);
    }
    for (int i = 0; i < 5; i++) {
        sxx += (lx[i] - sx / 5) * (lx[i] - sx / 5);
        sxy += (lx[i] - sx / 5) * (ly[i] - sy / 5);
    }
    for (int i = 0; i < 5; i++) left += pow(ly[i] - sy / 5 - sxy / sxx * (lx[i] - sx / 5), 2);
    double slope = sxy / sxx, error = sqrt(left / 3 / sxx);
    print_message("%s: order %.4f +- %.4f\n", method, slope, error);
    /* the standard error tells how far the largest steps are from where only one term counts */
    if (!(error < 0.05 && fabs(slope - order) < 0.02 + 3 * error))
        fail_msg("%s: order %g, expected %g", method, slope, order);
    lgv_model_free(m);
}

static void test_orders(void **state) {
    (void)state;
    check_order(HENON, "P2N2Q2Lob-Yoshida4", "P3N3Q6Gau", 4);
    check_order(HENON, "P2N2Q2Lob-Suzuki4", "P3N3Q6Gau", 4);
    check_order(MIXED, "P2N2Q2Lob-Suzuki4", "P3N3Q6Gau", 4);
    check_order(DRIVEN, "P1N1Q2Gau-Suzuki4", "P3N3Q6Gau", 4);
    check_order(SPHERE, "RATTLE-Yoshida4", "Lobatto4", 4);
    check_order(SPHERE, "RATTLE-Suzuki4", "Lobatto4", 4);
    check_order(HENON, "ABA-Suzuki4", "P3N3Q6Gau", 4);
    check_order(HENON, "ABA", "P3N3Q6Gau", 2);
    check_order(DRIVEN, "BAB", "P3N3Q6Gau", 2);
    check_order(HENON, "BA", "P3N3Q6Gau", 1);
}

/* ---- C functions ---- */

static void test_callbacks(void **state) {
    (void)state;
    static const char *const name[] = {"BAB", "ABABA", "P2N2Q2Lob-Yoshida4", "P1N1Q2Gau-Suzuki4", "P1N2Q2Lob-Yoshida4"};
    double q0 = 0.4, p0 = 1;
    struct lgv_callbacks c = {.name = "pendulum", .dof = 1, .noises = 1, .q0 = &q0, .p0 = &p0, .separable = 1,
                              .noise_of_q = 1, .constant_mass = 1, .value = pendulum_value,
                              .gradient = pendulum_gradient, .hessian = pendulum_hessian};
    struct lgv_model *m, *f = model_of("coordinates: {q: 0.4}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\n"
                                       "noise: 0.3*sin(q)\n");
    assert_int_equal(lgv_model_from_callbacks(&c, &m, NULL), LGV_OK);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct lgv_kernel a = kernel_of(m, name[i]), b = kernel_of(f, name[i]);
        double *x = final_values(&a, 0.1, 50, 20, 3, 1), *y = final_values(&b, 0.1, 50, 20, 3, 1);
        for (size_t j = 0; j < 20 * a.watch.count; j++) assert_near(x[j], y[j], 1e-12, name[i]);
        free(x);
        free(y);
        lgv_kernel_free(&a);
        lgv_kernel_free(&b);
    }
    lgv_model_free(m);
    lgv_model_free(f);
}

/* ---- names ---- */

static void test_names(void **state) {
    (void)state;
    static const char *const none[] = {"RK4-Yoshida4", "VZc-Yoshida4", "P1N1Q1Rec-Yoshida4", "P2N2Q4Gau-Suzuki4",
                                       "SHAKE-Suzuki4", "P2N2Q2Lob-Yoshida4-Suzuki4", "-Yoshida4", "AB-", "AABB", "A",
                                       "BB", "ABABABABAB", "ABC", "BA-Suzuki4"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (lgv_method_find(none[i])) fail_msg("%s is a method", none[i]);
    char why[400];
    lgv_method_unknown(NULL, "RK4-Yoshida4", why, sizeof why);
    assert_non_null(strstr(why, "symmetric in time, and RK4 is not"));
    lgv_method_unknown(NULL, "gauss4-Suzuki4", why, sizeof why);
    assert_non_null(strstr(why, "P2N2Q4Gau has order 4"));
    static const char *const fault[][2] = {{"ABAA", "neighbouring letters of a splitting word must differ"},
                                           {"bb", "a splitting word needs both drifts (A) and kicks (B)"},
                                           {"ABABABABAB", "a splitting word has at most 9 letters"},
                                           {"", "the name of the method is empty"}};
    for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) {
        lgv_method_unknown(NULL, fault[i][0], why, sizeof why);
        if (!strstr(why, fault[i][1])) fail_msg("%s, not %s", why, fault[i][1]);
    }
    assert_string_equal(lgv_method_find("verlet-yoshida4")->name, "P2N2Q2Lob-Yoshida4");
    assert_ptr_equal(lgv_method_find("verlet-yoshida4"), lgv_method_find("leapfrog-YOSHIDA4"));
    assert_string_equal(lgv_method_find("bab")->name, "BAB");
    assert_true(lgv_method_find("BABAB")->symmetric && !lgv_method_find("BABA")->symmetric);
    assert_string_equal(lgv_method_find("BAB-Yoshida4")->name, "BAB-Yoshida4");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_substeps), cmocka_unit_test(test_words),     cmocka_unit_test(test_calls),
        cmocka_unit_test(test_orders),   cmocka_unit_test(test_callbacks), cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
