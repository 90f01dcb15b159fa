/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What observables can be: formulas of start values. */
#include "helpers.h"

enum { PATHS = 50 };

/* ---- start values ---- */

static const char spring[] = "coordinates: {x: 'normal(1, 0.2)', 'y[3]': 'i + 0.1*normal()', z in R2: 'normal()'}\n"
                             "momenta: {p: 'normal()', u: 0.5*i, w: '[1, normal()]'}\n"
                             "kinetic: {}\n"
                             "potential: x^2/2 + sum(k=1..3, y[k]^2/2) + dot(z, z)/2\n"
                             "noise: [0.3*x, '0.2*y[2]']\n";
static const char spring_observed[] =
    "observe:\n"
    "  sx: x0\n"
    "  sp: p0\n"
    "  sy: y0[2]\n"
    "  sz: z0.y\n"
    "  sw: w0.y\n"
    "  msd: (x - x0)^2 + sum(k=1..3, (y[k] - y0[k])^2) + dot(z - z0, z - z0)\n"
    "  corr: p*p0\n";

/* A formula of start values against the same from the state at the start and at the end, path by path. */
static void check_starts(unsigned lanes, const char *compiler, const char *method) {
    struct lgv_text text = {0};
    lgv_text_add(&text, "%s%s", spring, spring_observed);
    struct lgv_model *plain = model_of(spring), *m = model_of(text.data);
    struct lgv_kernel a = kernel_with(plain, method, lanes, compiler), b = kernel_with(m, method, lanes, compiler);
    assert_int_equal(b.nstate, a.nstate + a.nx + a.np);
    double *start = final_values(&a, 1e-300, 1, PATHS, 7, 1), *end = final_values(&a, 0.05, 40, PATHS, 7, 1);
    double *seen = final_values(&b, 0.05, 40, PATHS, 7, 1);
#define START(name) start[i * a.watch.count + watch_number(&a, name)]
#define END(name) end[i * a.watch.count + watch_number(&a, name)]
#define SEEN(name) seen[i * b.watch.count + watch_number(&b, name)]
    for (size_t i = 0; i < PATHS; i++) {
        static const char *const same[][2] = {{"sx", "x"}, {"sp", "p"}, {"sy", "y[2]"}, {"sz", "z.y"}, {"sw", "w.y"}};
        static const char *const moved[] = {"x", "y[1]", "y[2]", "y[3]", "z.x", "z.y"};
        double msd = 0;
        for (size_t k = 0; k < 5; k++) assert_true(SEEN(same[k][0]) == START(same[k][1]));
        for (size_t k = 0; k < 6; k++) {
            assert_true(SEEN(moved[k]) == END(moved[k])); /* rows more change no bit of a path */
            msd += (END(moved[k]) - START(moved[k])) * (END(moved[k]) - START(moved[k]));
        }
        assert_near(SEEN("msd"), msd, 1e-13 * (1 + msd), "displacement");
        assert_near(SEEN("corr"), END("p") * START("p"), 1e-15, "correlation");
    }
    free(start);
    free(end);
    free(seen);
    lgv_kernel_free(&a);
    lgv_kernel_free(&b);
    lgv_model_free(plain);
    lgv_model_free(m);
    lgv_text_free(&text);
}

static void test_starts(void **state) {
    (void)state;
    check_starts(0, NULL, "P2N2Q2Lob");
    check_starts(2, NULL, "P1N1Q2Gau");
    check_starts(16, "gcc", "P2N2Q2Lob"); /* blocks of several vecs */
}

/* Rows are there for what is used: nothing, positions, momenta. */
static void test_rows(void **state) {
    (void)state;
    static const char *const observe[] = {"x", "x - x0", "p*p0", "x0 + p0"};
    for (size_t k = 0; k < 4; k++) {
        char text[200];
        snprintf(text, sizeof text, "coordinates: {x: 1, y: 2}\nmomenta: {p: 0, u: 1}\npotential: x^2 + y^2\n"
                                    "observe: {o: '%s'}\n", observe[k]);
        struct lgv_model *m = model_of(text);
        struct lgv_kernel kernel = kernel_of(m, "P2N2Q2Lob");
        assert_int_equal(kernel.nstate, 4 + 2 * kernel.watch.tallies + (k == 0 ? 0u : k == 3 ? 4u : 2u));
        lgv_kernel_free(&kernel);
        lgv_model_free(m);
    }
}

/* On constraints the start is the projected one, and names of the file come first. */
static void test_projected(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {q0: 5}\ncoordinates: {x in R2: '[1.1 + 0.1*normal(), 0.2]', q: 1}\n"
                                   "momenta: {p: '[0.3, 1]', r: 0}\nkinetic: {}\npotential: x.y + q^2/2\n"
                                   "constraints: dot(x, x) - 1\n"
                                   "observe: {length: 'norm(x0)', turned: 'dot(x, x0)', five: q0, rest: r0}\n");
    struct lgv_kernel k = kernel_of(m, "RATTLE");
    double *seen = final_values(&k, 0.01, 20, PATHS, 3, 1);
    for (size_t i = 0; i < PATHS; i++) {
        const double *x = seen + i * k.watch.count;
        assert_near(x[watch_number(&k, "length")], 1, 1e-14, "start on the circle");
        assert_true(fabs(x[watch_number(&k, "turned")]) <= 1 + 1e-12 && x[watch_number(&k, "turned")] < 0.9999);
        assert_true(x[watch_number(&k, "five")] == 5 && x[watch_number(&k, "rest")] == 0);
    }
    free(seen);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* The martingale part of (x - x0)^2, dx = dW: the sum of 2 (x - x0) dW, and with it E (x - x0)^2 = t. */
static void test_martingale(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {x: 'normal()'}\nmomenta: {p: 0}\nhamiltonian: 0*p\nnoise: p\n"
                                   "observe: {d: (x - x0)^2}\n");
    struct lgv_kernel k;
    struct lgv_error err = {0};
    struct lgv_kernel_options options = {.control = true};
    if (lgv_kernel_build(m, lgv_method_find("P2N2Q2Lob"), &options, &k, &err) != LGV_OK) fail_msg("%s", err.message);
    double *seen = final_values(&k, 0.01, 100, PATHS, 3, 1);
    for (size_t i = 0; i < PATHS; i++) { /* (x - x0)^2 = 2 sum (x - x0) dW + sum dW^2 */
        double d = seen[i * k.watch.count + watch_number(&k, "d")];
        double rest = d - seen[i * k.watch.count + watch_number(&k, "d~martingale")];
        assert_near(rest, 1, 6 * sqrt(2.0 / 100), "sum of the squares of 100 increments");
    }
    free(seen);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_projected),
        cmocka_unit_test(test_martingale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
