/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Implicit methods along the pattern of all second derivatives (pattern.h), on models that are not separable: against
 * dense matrices, which the same model has with a term that couples everything and vanishes; symplecticity and order;
 * memory linear in the size; lanes on their own and lanes of any number. */
#include "helpers.h"

#define MOST 400
#define NOISE "\nnoise: ['s*sum(i=1..N, x[i]^2/2)', 's/2*sum(i=1..N, x[i]*p[i])']\n"
#define COUPLED " + zero*sum(i=1..N, j=1..N, x[i]*x[j])"
/* Gauss's method with two stages, in which P_i and Q_i have the same coefficients. */
#define A "[[1/4, 1/4 - sqrt(3)/6], [1/4 + sqrt(3)/6, 1/4]]"
#define GAUSS "methods:\n  gauss: {a: " A ", abar: " A ", b: " A ", bbar: " A ", alpha: [1/2, 1/2], beta: [1/2, 1/2]}\n"

/* A ring with masses that depend on positions and are coupled; `couple` makes its second derivatives dense. */
static struct lgv_model *ring(int n, bool couple, const char *noise) {
    char text[2000];
    snprintf(text, sizeof text,
             "parameters: {N: %d, zero: 0, s: 0.1}\ncoordinates: {'x[N]': 0.2*sin(i)}\n"
             "momenta: {p: '0.3*cos(2*i) + normal(0, 0.1)'}\n"
             "hamiltonian: sum(i=1..N, p[i]^2/2*(1 + 0.1*cos(x[i])) + 0.1*p[i]*p[wrap(i+1)]*sin(x[i])\n"
             "  + (x[wrap(i+1)] - x[i])^2/2 + (x[wrap(i+1)] - x[i])^4/8)%s\n"
             "%s" GAUSS,
             n, couple ? COUPLED : "", noise);
    return model_of(text);
}

/* A network without any order: sites are coupled to others far away, in three ways. */
static struct lgv_model *network(int n, int seed, bool couple) {
    char text[2000];
    snprintf(text, sizeof text,
             "parameters: {N: %d, zero: 0, s: 0.1}\ncoordinates: {'x[N]': 0.2*sin(i)}\nmomenta: {p: 0.3*cos(2*i)}\n"
             "hamiltonian: sum(i=1..N, p[i]^2/2 + x[i]^2/2) + sum(i=1..N/2, 0.2*p[i]*p[wrap(%d*i + 3)]*cos(x[i]))\n"
             "  + sum(i=1..N/3, 0.2*x[i]*p[wrap(%d*i + 1)] + 0.3*sin(x[i] - 2*x[wrap(%d*i)])^2)%s" NOISE GAUSS,
             n, 2 * seed + 5, 3 * seed + 7, 5 * seed + 6, couple ? COUPLED : "");
    return model_of(text);
}

/* A ring with constant masses, half of it in a bath, and what else is given. */
static struct lgv_model *bath(int n, const char *friction, bool couple, const char *more) {
    char text[1000];
    snprintf(text, sizeof text,
             "parameters: {N: %d, zero: 0, s: 0.1}\ncoordinates: {'x[N]': 0.2*sin(i)}\nmomenta: {p: 0.3*cos(2*i)}\n"
             "hamiltonian: sum(i=1..N, p[i]^2/2*(1 + mod(i, 3)) + (x[wrap(i+1)] - x[i])^2/2\n"
             "  + (x[wrap(i+1)] - x[i])^4/8)%s\nlangevin: {friction: {x: '%s'}, temperature: 0.5}\n%s",
             n, couple ? COUPLED : "", friction, more);
    return model_of(text);
}

/* Path 0 after some steps, beside paths from `others` on; returns the scratch memory of the block in vecs. */
static double walk(const struct lgv_kernel *k, size_t others, double dt, uint64_t steps, double *x) {
    struct lgv_own_block b;
    assert_true(lgv_block_create(k, 0, dt, 7, 1, &b));
    for (size_t l = 0; l < k->entry->lanes; l++) b.path[l] = l ? others + l : 0;
    k->entry->start(&b.block);
    k->entry->advance(&b.block, steps);
    for (size_t i = 0; i < k->nx + k->np; i++) x[i] = b.block.state[i * k->entry->lanes];
    assert_int_equal(b.block.fail[0], LGV_FAIL_NONE);
    double room = (double)b.block.scratch->room / (double)(k->entry->lanes * sizeof(double));
    lgv_block_free(&b);
    return room;
}

static double difference(size_t n, const double *x, const double *y) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(isfinite(x[i]) && isfinite(y[i]));
        most = fmax(most, fabs(x[i] - y[i]));
    }
    return most;
}

static const char *const methods[] = {"P1N1Q2Gau", "P2N2Q4Gau", "P3N3Q6Gau", "P3N4Q6Lob",
                                      "P2N2Q2Lob", "IEM",       "gauss",     "midpoint-yoshida4"};
enum { METHODS = sizeof methods / sizeof *methods };

static void against_dense(struct lgv_model *sparse, struct lgv_model *dense, const char *method, double dt) {
    double x[2 * MOST], y[2 * MOST];
    struct lgv_kernel k = kernel_of(sparse, method), other = kernel_of(dense, method);
    double here = walk(&k, 0, dt, 5, x), there = walk(&other, 0, dt, 5, y), d = difference(2 * sparse->np, x, y);
    print_message("%s, dt = %g: %.2g from the dense method, %.0f vecs of scratch instead of %.0f\n", method, dt, d,
                  here, there);
    if (!(d <= 1e-13)) fail_msg("%s, dt = %g: %g", method, dt, d);
    assert_true(here < there / 2);
    lgv_kernel_free(&k);
    lgv_kernel_free(&other);
}

/* Values are of the size 1; each of 5 steps has round-off of some 1e-16 in both. */
static void test_ring(void **state) {
    (void)state;
    static const char *const of_q[] = {"P1N1Q1Rec", "P2N3Q4Lob"};
    struct lgv_model *sparse = ring(50, false, NOISE), *dense = ring(50, true, NOISE);
    for (int i = 0; i < METHODS; i++)
        for (double dt = 0.05; dt < 0.5; dt *= 4) against_dense(sparse, dense, methods[i], dt);
    lgv_model_free(sparse);
    lgv_model_free(dense);
    sparse = ring(50, false, "noise: s*sum(i=1..N, x[i]^2/2)\n");
    dense = ring(50, true, "noise: s*sum(i=1..N, x[i]^2/2)\n");
    for (int i = 0; i < 2; i++) against_dense(sparse, dense, of_q[i], 0.1);
    lgv_model_free(sparse);
    lgv_model_free(dense);
}

static void test_network(void **state) {
    (void)state;
    static const char *const method[] = {"P1N1Q2Gau", "P3N4Q6Lob", "gauss"};
    for (int seed = 1; seed <= 3; seed++) {
        struct lgv_model *sparse = network(60, seed, false), *dense = network(60, seed, true);
        against_dense(sparse, dense, method[seed - 1], 0.1);
        lgv_model_free(sparse);
        lgv_model_free(dense);
    }
}

static void test_symplectic(void **state) {
    (void)state;
    static const char *const method[] = {"P1N1Q2Gau", "P2N2Q4Gau", "P3N4Q6Lob", "P2N2Q2Lob", "gauss"};
    struct lgv_model *m = ring(50, false, NOISE);
    double x[100];
    for (size_t i = 0; i < sizeof method / sizeof *method; i++) {
        struct lgv_kernel k = kernel_of(m, method[i]);
        struct lgv_defect how = {0};
        walk(&k, 0, 0.2, 3, x);
        double d = lgv_certificate_defect(&k, 0, 0.2, 7, 0, 3, x, NULL, NULL, NULL, &how);
        print_message("%s: defect %.2g\n", method[i], d);
        assert_true(d >= 0 && d < 1e-11 && how.error < 1e-9);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* Without noise: the error at time 1 falls by 2^order when the step is halved. */
static void test_order(void **state) {
    (void)state;
    static const struct {
        const char *method;
        double order;
    } row[] = {{"P1N1Q2Gau", 2}, {"P2N2Q4Gau", 4}, {"gauss", 4}, {"IEM", 1}};
    struct lgv_model *m = ring(50, false, NOISE);
    double x[3][100];
    set_parameter(m, "s", 0);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_kernel k = kernel_of(m, row[i].method);
        for (int l = 0; l < 3; l++) walk(&k, 0, 0.25 / (1 << l), 4u << l, x[l]);
        double order = log2(difference(100, x[0], x[1]) / difference(100, x[1], x[2]));
        print_message("%s: order %.3f\n", row[i].method, order);
        assert_true(fabs(order - row[i].order) < 0.35);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* Memory is linear, at sizes that have no dense matrices. */
static void test_linear(void **state) {
    (void)state;
    static const char *const method[] = {"P1N1Q2Gau", "P2N2Q4Gau"};
    static double x[4400];
    for (size_t i = 0; i < sizeof method / sizeof *method; i++) {
        double room[2];
        for (int l = 0; l < 2; l++) {
            struct lgv_model *m = ring(l ? 2200 : 220, false, NOISE);
            struct lgv_kernel k = kernel_of(m, method[i]);
            room[l] = walk(&k, 0, 0.1, 1, x);
            lgv_kernel_free(&k);
            lgv_model_free(m);
        }
        print_message("%s: %.1f and %.1f vecs of scratch a site\n", method[i], room[0] / 220, room[1] / 2200);
        assert_true(room[1] < 11 * room[0]);
    }
}

/* In a bath: around methods that know nothing of it, and as friction in the equations, which beside forces, and where
 * friction varies, are not solved by their derivatives alone.  At sizes without dense matrices memory is linear. */
static void test_bath(void **state) {
    (void)state;
    static const char *const friction[] = {"0.7", "3*mod(i, 2)", "0.5*mod(i, 2)*(1 + x[i]^2)"};
    static const char *const more[] = {"", "noise: s*sum(i=1..N, x[i]^2/2)\n", "force: {x: '-0.2*x[i]^3'}\n"};
    static const char *const method[] = {"IEM", "P1N1Q2Gau-GLA", "P1N1Q2Gau-Suzuki4-GLA"};
    for (int f = 0; f < 3; f++)
        for (int k = 0; k < 3; k++) {
            struct lgv_model *sparse = bath(50, friction[f], false, more[k]);
            struct lgv_model *dense = bath(50, friction[f], true, more[k]);
            for (int i = 0; i < (k == 2 ? 1 : 3); i++) against_dense(sparse, dense, method[i], 0.2);
            lgv_model_free(sparse);
            lgv_model_free(dense);
        }
    static double x[4400];
    for (int i = 0; i < 2; i++) {
        double room[2];
        for (int l = 0; l < 2; l++) {
            struct lgv_model *m = bath(l ? 2200 : 220, friction[0], false, "");
            struct lgv_kernel k = kernel_of(m, method[i]);
            room[l] = walk(&k, 0, 0.1, 1, x);
            lgv_kernel_free(&k);
            lgv_model_free(m);
        }
        print_message("%s: %.1f and %.1f vecs of scratch a site\n", method[i], room[0] / 220, room[1] / 2200);
        assert_true(room[1] < 20 * room[0]); /* it grows by leaps; dense matrices would have 100 times as much */
    }
}

/* A path has its bits whatever the others do, and however many lanes there are. */
static void test_alone(void **state) {
    (void)state;
    static const char *const method[] = {"P1N1Q2Gau", "P2N2Q4Gau"};
    struct lgv_model *m = ring(50, false, NOISE);
    double x[100], y[100];
    for (size_t i = 0; i < sizeof method / sizeof *method; i++) {
        for (unsigned lanes = 2; lanes <= 8; lanes *= 4) {
            struct lgv_kernel k = kernel_with(m, method[i], lanes, NULL);
            walk(&k, lanes == 2 ? 0 : 1000, 0.3, 10, lanes == 2 ? x : y);
            if (lanes > 2) assert_memory_equal(x, y, sizeof x);
            lgv_kernel_free(&k);
        }
    }
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring),  cmocka_unit_test(test_network), cmocka_unit_test(test_symplectic),
        cmocka_unit_test(test_order), cmocka_unit_test(test_linear),  cmocka_unit_test(test_alone),
        cmocka_unit_test(test_bath),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
