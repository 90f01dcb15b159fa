/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which steps are said to be stable, against what the steps do: limits of dt omega on an oscillator, eigenvalues by
 * Lanczos' method against known ones, declared splits, resonances, and the words for what is wrong. */
#include "helpers.h"

#define LINEAR                                                                                                         \
    "coordinates: {q: 1}\nmomenta: {p: 0}\nparameters: {a: 0.5, w: 1}\n"                                             \
    "hamiltonian: p^2/2 + a*q^2/2 + w^2*q^2/2\nstiff: w^2*q^2/2\n"

/* The larger modulus of the eigenvalues of a step of size 1. */
static double growth_of(struct lgv_model *m, struct lgv_kernel *k, double w) {
    struct lgv_error err = {0};
    double J[4];
    set_parameter(m, "w", w);
    if (lgv_kernel_refresh(k, m, &err) != LGV_OK) fail_msg("%s", err.message);
    for (int j = 0; j < 2; j++) {
        double x[2] = {j == 0, j == 1};
        if (!one_step_of(k, 0, 1, 5, 0, 0, x)) return INFINITY;
        J[j] = x[0];
        J[2 + j] = x[1];
    }
    double half = 0.5 * (J[0] + J[3]), det = J[0] * J[3] - J[1] * J[2], square = half * half - det;
    return square < 0 ? sqrt(det) : fabs(half) + sqrt(square);
}

/* Just below the limit nothing grows, just above it does.  Every kind of method that has a limit. */
static void test_limits(void **state) {
    (void)state;
    static const char *const name[] = {"P2N2Q2Lob", "P1N1Q1Rec", "RK4",      "P2N3Q4Lob",     "P3N4Q6Lob", "P1N2Q2Lob",
                                       "P2N2Q2Otr", "BABAB",     "ZS(0.2)",  "Newmark(0.1)",  "ZSs(0.1)",  "RKN4",
                                       "ZS-Suzuki4", "P2N2Q2Lob-Yoshida4", "Newmark-Suzuki4", "RATTLE",  "SVE",
                                       "PushNewmark(0.1)", "OneStepNewmark(0.2)"};
    static const char *const always[] = {"P1N1Q2Gau", "P2N2Q4Gau", "ZS", "Newmark", "PushNewmark", "IEM",
                                         "P1N1Q2Gau-Yoshida4"};
    struct lgv_model *m = model_of("coordinates: {q: 1}\nmomenta: {p: 0}\nparameters: {w: 1}\n"
                                   "hamiltonian: p^2/2 + w^2*q^2/2\n");
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct lgv_kernel k = kernel_of(m, name[i]);
        double limit = lgv_method_limit(k.method);
        print_message("%s: %.5g\n", name[i], limit);
        assert_true(limit > 0.5 && limit < 20);
        if (!(growth_of(m, &k, limit - 2e-3) < 1 + 2e-7)) fail_msg("%s grows below its limit %g", name[i], limit);
        if (!(growth_of(m, &k, limit + 2e-3) > 1 + 1e-7)) fail_msg("%s is stable beyond %g", name[i], limit);
        lgv_kernel_free(&k);
    }
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        struct lgv_kernel k = kernel_of(m, always[i]);
        assert_true(isinf(lgv_method_limit(k.method)));
        for (double z = 0.3; z < 50; z *= 1.7)
            if (!(growth_of(m, &k, z) < 1 + 1e-9)) fail_msg("%s grows at %g", always[i], z);
        lgv_kernel_free(&k);
    }
    assert_near(lgv_method_limit(lgv_method_find("verlet")), 2, 1e-3, "Verlet");
    assert_near(lgv_method_limit(lgv_method_find("ZS(0.2)")), 2 / sqrt(0.2), 1e-3, "4/(1 - 4 beta)");
    lgv_model_free(m);
}

static void extremes_of(const char *text, double least, double most, double part) {
    struct lgv_model *m = model_of(text);
    struct lgv_curvature c;
    double a, b;
    assert_true(lgv_model_curvature(m, 100000, &c));
    assert_true(lgv_curvature_extremes(&c, 1, 1, &a, &b));
    print_message("%zu degrees of freedom: %.12g to %.12g\n", m->np, a, b);
    assert_near(a, least, part * fabs(most), "least");
    assert_near(b, most, part * fabs(most), "most");
    lgv_curvature_free(&c);
    lgv_model_free(m);
}

/* A chain of N masses 2 with springs 3 between walls has 4 (3/2) sin^2(k pi/(2N + 2)); two coordinates with masses off
 * the diagonal: K = (3, 1; 1, 2), M^-1 = (2, 1/2; 1/2, 1), whose product has trace 9 and determinant 35/4.  The edge of
 * the long chain is not resolved by 120 rounds; it is then known to (pi/240)^2. */
static void test_eigenvalues(void **state) {
    (void)state;
    static const char chain[] = "parameters: {N: %d}\ncoordinates: {'x[N]': 0}\nmomenta: {p: 0}\nkinetic: {mass: 2}\n"
                                "potential: '3/2*(x[1]^2 + x[N]^2 + sum(i=2..N, (x[i] - x[i-1])^2))'\n";
    char text[400];
    const double pi = acos(-1);
    for (int n = 30; n <= 3000; n *= 100) {
        snprintf(text, sizeof text, chain, n);
        extremes_of(text, 6 * pow(sin(pi / (2 * n + 2)), 2), 6 * pow(cos(pi / (2 * n + 2)), 2), n < 100 ? 1e-12 : 1e-3);
    }
    const double root = sqrt(81.0 / 4 - 35.0 / 4);
    extremes_of("coordinates: {x: 1, y: 2}\nmomenta: {a: 0, b: 0}\n"
                "hamiltonian: a^2 + a*b/2 + b^2/2 + 3/2*x^2 + x*y + y^2\n", 4.5 - root, 4.5 + root, 1e-12);
    extremes_of("coordinates: {x: 1}\nmomenta: {p: 0}\nhamiltonian: p^2/2 - 2*x^2\n", -4, -4, 1e-12);
}

/* Three coordinates, one that V1 does not bend: at 0.999 of the step that is said to be the largest nothing grows, at
 * 1.001 of it something does.  IMEX is the same with beta = 1/4. */
#define THREE                                                                                                          \
    "coordinates: {x: 0.4, y: 0.2, z: -0.3}\nmomenta: {a: 0.3, b: -0.5, c: 0.1}\n"                                     \
    "where: {V1: 20*(x - y)^2 + x^2, V0: 3*x*y + 4*y^2 - y*z + 2*z^2}\n"                                         \
    "hamiltonian: a^2/2 + b^2/4 + c^2 + V0 + V1\nstiff: V1\n"

static struct lgv_stability stability_of(const char *text, const char *method, double dt) {
    struct lgv_model *m = model_of(text);
    struct lgv_structure s = structure_of(text);
    struct lgv_stability out;
    lgv_method_stability(lgv_method_find(method), m, &s, dt, LGV_STABILITY_QUICKLY, &out);
    print_message("%s, dt = %g: %s\n", method, dt, out.text);
    lgv_model_free(m);
    return out;
}

/* Of the state after many steps; infinite where the path is lost. */
static double size_after(const char *text, const char *method, double dt) {
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, method);
    struct lgv_own_block b;
    double sum = 0;
    assert_true(lgv_block_create(&k, 0, dt, 5, 1, &b));
    lgv_block_start(&k, &b, 0, k.entry->lanes);
    k.entry->advance(&b.block, 4000);
    for (size_t i = 0; i < k.nx + k.np; i++) sum += fabs(b.block.state[i * k.entry->lanes]);
    lgv_block_free(&b);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    return isfinite(sum) ? sum : INFINITY;
}

static void test_split(void **state) {
    (void)state;
    static const char *const name[] = {"StiffZSs(0)", "StiffZSs(0.2)", "StiffZSs(0.26)", "StiffZSs(0.4)", "IMEX"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        double largest = stability_of(THREE, name[i], 0.01).largest;
        assert_true(largest > 0 && isfinite(largest));
        assert_int_equal(stability_of(THREE, name[i], 0.999 * largest).stable, 1);
        assert_int_equal(stability_of(THREE, name[i], 1.001 * largest).stable, 0);
        assert_true(size_after(THREE, name[i], 0.999 * largest) < 1e3);
        assert_true(size_after(THREE, name[i], 1.001 * largest) > 1e6);
    }
    /* where no beta helps, and the least one that does */
    struct lgv_stability kernel = stability_of(THREE, "StiffZSs(0.4)", 1.2), beta = stability_of(THREE, "ZS(0.1)", 1);
    assert_true(kernel.stable == 0 && isnan(kernel.beta) && strstr(kernel.text, "no beta helps"));
    assert_true(beta.stable == 0);
    beta = stability_of(THREE, "StiffZSs(0.1)", 0.6);
    char better[40], worse[40];
    assert_true(beta.beta > 0.1 && beta.beta < 1);
    snprintf(better, sizeof better, "StiffZSs(%.6g)", beta.beta + 1e-4);
    snprintf(worse, sizeof worse, "StiffZSs(%.6g)", beta.beta - 1e-4);
    assert_int_equal(stability_of(THREE, better, 0.6).stable, 1);
    assert_int_equal(stability_of(THREE, worse, 0.6).stable, 0);
    /* beta >= (1 + largest of V0''/least of V1'')/4 is enough: V1 bends everything here */
    static const char all[] = "coordinates: {x: 0, y: 0}\nmomenta: {a: 0.3, b: -0.5}\nwhere: {V1: 10*x^2 + 5*y^2}\n"
                              "hamiltonian: a^2/2 + b^2/2 + 2*sin(x)^2 + x*y + sin(y)^2 + V1\nstiff: V1\n";
    const double mu = 3 + sqrt(2);
    snprintf(better, sizeof better, "StiffZSs(%.6g)", (1 + mu / 10) / 4);
    assert_true(isinf(stability_of(all, better, 1).largest));
}

/* Resonances: what is said of one mode is what the step does, over many frequencies. */
static void test_resonances(void **state) {
    (void)state;
    static const char *const name[] = {"Impulse(20)", "Deuflhard", "MOLLY(20)", "GarciaArchilla"};
    struct lgv_model *m = model_of(LINEAR);
    struct lgv_structure s = structure_of(LINEAR);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct lgv_kernel k = kernel_of(m, name[i]);
        int unstable = 0;
        for (double w = 0.5; w < 13; w += 0.0137) {
            bool grows = growth_of(m, &k, w) > 1 + 1e-6;
            struct lgv_stability out;
            lgv_method_stability(k.method, m, &s, 1, LGV_STABILITY_QUICKLY, &out);
            unstable += grows;
            if (out.stable != !grows) fail_msg("%s at %g: %s", name[i], w, out.text);
            if (grows) assert_non_null(strstr(out.text, "resonance"));
        }
        print_message("%s: %d unstable\n", name[i], unstable);
        assert_true((unstable > 10) == (i < 2));
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* What is indefinite, and springs in the place of constraints. */
static void test_words(void **state) {
    (void)state;
    static const char saddle[] = "coordinates: {x: 0.1}\nmomenta: {p: 0}\nhamiltonian: p^2/2 + cos(10*x)\n";
    static const char springs[] = "coordinates: {x: 1, y: 0}\nmomenta: {a: 0, b: 0.5}\n"
                                  "hamiltonian: a^2/2 + b^2/2 + y\nconstraints: ['x^2 + y^2 - 1']\n"
                                  "penalty: {omega: 40}\n";
    static const char top[] = "coordinates: {x: 0.01}\nmomenta: {p: 0}\nhamiltonian: p^2/2 + cos(10*x)\n";
    struct lgv_stability out = stability_of(top, "ZS(0.4)", 0.2);
    assert_true(out.stable == 0 && strstr(out.text, "positive definite"));
    /* the stiff part by itself: 1 - 2 beta dt^2 vanishes at dt = 1.118 for beta = 0.4, and at 1.414 for 1/4 */
    static const char down[] = "coordinates: {x: 0.1, y: 0}\nmomenta: {p: 0, r: 0}\nwhere: {V1: y^2 - x^2}\n"
                               "hamiltonian: p^2/2 + r^2/2 + V1 - 3*cos(x)\nstiff: V1\n";
    static const struct {
        const char *method;
        double below;
    } row[] = {{"StiffZSs(0.4)", 1.11803}, {"IMEX", 1.41421}};
    for (size_t i = 0; i < 2; i++) {
        out = stability_of(down, row[i].method, 1.001 * row[i].below);
        assert_true(out.stable == 0 && strstr(out.text, "M + beta dt^2 V1'' is not positive definite"));
        assert_true(!strstr(stability_of(down, row[i].method, 0.999 * row[i].below).text, "positive definite"));
    }
    assert_true(stability_of(saddle, "verlet", 0.01).stable == 1);
    out = stability_of(springs, "ZS(0.4)", 0.1);
    assert_near(out.penalty, 0.4, 1e-12, "omega dt^2");
    assert_true(out.stable == 0 && strstr(out.text, "penalty"));
    assert_true(stability_of(springs, "ZS(0.4)", 0.05).stable == 1);
    assert_true(isnan(stability_of(springs, "verlet", 0.01).penalty));
    /* nothing is said where nothing is known */
    out = stability_of("coordinates: {x: 1, y: 0}\nmomenta: {a: 0, b: 0.5}\nhamiltonian: a^2/2 + b^2/2 + y\n"
                       "constraints: ['x^2 + y^2 - 1']\n", "RATTLE", 0.1);
    assert_true(out.stable == -1 && !out.text[0] && isnan(out.frequency));
    out = stability_of("coordinates: {x: 1}\nmomenta: {p: 0}\nhamiltonian: p^2/(1 + x^2) + x^2\n", "midpoint", 0.1);
    assert_true(out.stable == -1 && !out.text[0]);
}

/* Forces without a potential bend as a potential does: the same oscillators written both ways, W K = (6, 2; 2, 3) with
 * eigenvalues 7 and 2, and with a rotation beside, which has no symmetric part. */
static void test_forces(void **state) {
    (void)state;
    static const char start[] = "coordinates: {x: 1, y: 0.5}\nmomenta: {a: 0, b: 0}\nhamiltonian: a^2 + b^2/2";
    static const char *const rest[] = {" + (3*x^2 + 3*y^2)/2 + sqrt(2)*x*y\n",
                                       "\nforce: ['-3*x - sqrt(2)*y', '-3*y - sqrt(2)*x']\n",
                                       " + x^2\nforce: ['-x - sqrt(2)*y', '-3*y - sqrt(2)*x']\n",
                                       " + y^2\nforce: ['-3*x - (sqrt(2) + 5)*y', '-y - (sqrt(2) - 5)*x']\n"};
    const double omega = sqrt(0.5 * (9 + sqrt(81 - 4 * 14)));
    for (size_t k = 0; k < sizeof rest / sizeof *rest; k++) {
        char text[300];
        snprintf(text, sizeof text, "%s%s", start, rest[k]);
        struct lgv_stability out = stability_of(text, "BAB", 0.9 * 2 / omega);
        assert_near(out.frequency, omega, 1e-10, "frequency");
        assert_near(out.largest, 2 / omega, 1e-6, "step");
        assert_int_equal(out.stable, 1);
        assert_int_equal(stability_of(text, "BAB", 1.1 * 2 / omega).stable, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_eigenvalues), cmocka_unit_test(test_split),
        cmocka_unit_test(test_resonances), cmocka_unit_test(test_words),
        cmocka_unit_test(test_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
