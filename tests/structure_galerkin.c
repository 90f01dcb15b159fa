/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Galerkin family: closed and reduced forms against the general equations (general-NAME), the symplectic form and
 * momentum maps of every named method, the energy of a Kubo oscillator, steps without a solution, refusals. */
#include "helpers.h"

/* ---- special forms ---- */

/* Coefficients k1..k4 are drawn anew for every step. */
static const struct {
    const char *name, *text;
    bool noise_of_q, separable;
} systems[] = {
    {"separable, h(q)",
     "hamiltonian: (1 + k1)*u^2/2 + v^2/2 + k2*u*v/2 + k3*a^2*b^2 + k4*cos(a - b)\nnoise: [k1*sin(a*b), 0.5*b^2]\n",
     true, true},
    {"separable, h = A(p) + B(q)",
     "hamiltonian: u^2/2 + v^4/8 + k2*u*v/2 + k3*a^2*b^2 + k4*cos(a)\nnoise: 0.4*k1*sin(a*b) + 0.3*u^2 + 0.2*v\n",
     false, true},
    {"kinetic energy depends on t",
     "hamiltonian: (1 + 0.5*sin(t))*(u^2 + v^2)/2 + k3*a^2*b^2 + k4*cos(a - b)\nnoise: [k1*sin(a*b), k2*b^2]\n", true,
     true},
    {"additive", "hamiltonian: u^2/2 + v^2/2 + k3*a^2*b^2 + k4*sin(a + t)\nnoise: [k1*a, k2*b - a]\n", true, true},
    {"not separable, h(q)",
     "hamiltonian: (1 + k1*a^2)*u^2/2 + v^2/2 + k2*a*v + k3*a^2*b^2\nnoise: [k4*sin(a*b), 0.5*b^2]\n", true, false},
    {"not separable",
     "hamiltonian: u^2/2 + v^2/2 + k2*a*v + k3*a^2*b^2\nnoise: [0.3*(k1*a*u + b^2), 0.4*k4*cos(b)*v]\n", false, false},
};
#define SYSTEM_HEAD                                                                                                    \
    "parameters: {k1: 1, k2: 1, k3: 1, k4: 1}\ncoordinates: {a: 0.7, b: -0.4}\nmomenta: {u: 0.2, v: 0.5}\n"

/* Largest difference to the general solver over random states, coefficients and increments. */
static double difference(struct lgv_model *m, const char *method, double dt) {
    char general[80];
    snprintf(general, sizeof general, "general-%s", method);
    struct lgv_kernel k[2] = {kernel_of(m, method), kernel_of(m, general)};
    uint64_t random = 3;
    double worst = 0;
    struct lgv_own_block b; /* the general equations are always iterated, and by other code */
    assert_true(lgv_block_create(&k[1], 0, dt, 1, 1, &b));
    k[1].entry->start(&b.block);
    k[1].entry->advance(&b.block, 1);
    assert_true(b.block.iterations > 0 && strstr(k[1].method->constants, "GALERKIN_GENERAL 1"));
    lgv_block_free(&b);
    for (uint64_t path = 0; path < 30; path++) {
        double x[2][4];
        for (size_t i = 0; i < m->npar; i++) m->par[i] = uniform_of(&random);
        for (size_t i = 0; i < 4; i++) x[0][i] = x[1][i] = 2 * uniform_of(&random) - 1;
        for (size_t i = 0; i < 2; i++)
            if (!one_step_of(&k[i], 0.3, dt, 11, path, path, x[i]))
                fail_msg("a step of %s fails", i ? general : method);
        for (size_t i = 0; i < 4; i++) worst = fmax(worst, fabs(x[0][i] - x[1][i]));
    }
    lgv_kernel_free(&k[0]);
    lgv_kernel_free(&k[1]);
    return worst;
}

/* Nodes of the noise alone are the only implicit ones here, and additive noise has the same force everywhere. */
static void test_additive_is_explicit(void **state) {
    static const char *const methods[] = {"P1N1Q1RecN1Q2Gau", "P1N2Q2LobN1Q2Gau"};
    static const char *const text[] = {SYSTEM_HEAD "hamiltonian: u^2/2 + v^2/2 + k3*a^2*b^2\nnoise: [k1*a, k2*b - a]\n",
                                       SYSTEM_HEAD "hamiltonian: u^2/2 + v^2/2 + k3*a^2*b^2 + k4*sin(a + t)\n",
                                       SYSTEM_HEAD "hamiltonian: u^2/2 + v^2/2 + k3*a^2*b^2\nnoise: [k1*a^2]\n"};
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct lgv_model *m = model_of(text[i / 2]);
        struct lgv_kernel k = kernel_of(m, methods[i % 2]);
        struct lgv_own_block b;
        bool steady = i < 4;
        assert_true(k.structure.steady_noise == steady && k.structure.additive == (i < 2));
        assert_true(lgv_method_explicit(k.method, &k.structure) == steady);
        assert_true(lgv_block_create(&k, 0, 0.1, 1, 1, &b));
        k.entry->start(&b.block);
        k.entry->advance(&b.block, 3);
        assert_true((b.block.iterations == 0) == steady);
        lgv_block_free(&b);
        lgv_kernel_free(&k);
        assert_true(difference(m, methods[i % 2], 0.05) < 1e-12);
        lgv_model_free(m);
    }
}

/* Both sides solve their equations to about 1e-15 of the state; the general ones have condition numbers up to 100. */
static void test_special_forms(void **state) {
    (void)state;
    static const char *const methods[] = {"P2N2Q2Lob", "P1N1Q2Gau", "P1N1Q1Rec",        "P1N2Q2Lob",
                                          "P1N2Q2Otr", "P1N3Q4Mil", "P1N1Q1RecN2Q2Lob", "P1N2Q2LobN1Q2Gau"};
    size_t compared = 0;
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        char text[800];
        snprintf(text, sizeof text, SYSTEM_HEAD "%s", systems[i].text);
        struct lgv_model *m = model_of(text);
        struct lgv_structure s;
        assert_int_equal(lgv_model_structure(m, &s, NULL), LGV_OK);
        assert_true(s.separable == systems[i].separable && !(s.noise_depends & LGV_ON_P) == systems[i].noise_of_q);
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
            char why[400];
            if (lgv_method_refusal(lgv_method_find(methods[k]), m, &s, why, sizeof why)) continue;
            if (!s.separable && k >= 3) continue; /* these have no special form then */
            double d = difference(m, methods[k], 0.05);
            print_message("%s, %s: %.2g\n", systems[i].name, methods[k], d);
            if (!(d < 1e-12))
                fail_msg("%s on %s differs from the general solver by %g", methods[k], systems[i].name, d);
            compared++;
        }
        lgv_model_free(m);
    }
    assert_int_equal(compared, 8 + 5 + 8 + 8 + 3 + 2);
}

/* ---- what every symplectic method keeps ---- */

static double defect(struct lgv_model *m, const char *method, double dt) {
    struct lgv_kernel k = kernel_of(m, method);
    double x[] = {0.7, -0.4, 0.2, 0.5}, worst = 0;
    for (uint64_t path = 0; path < 3; path++) {
        struct lgv_defect how = {0};
        double d = lgv_certificate_defect(&k, 0.1, dt, 5, path, 7 * path, x, NULL, NULL, NULL, &how), error = how.error;
        assert_true(d >= 0 && error < 1e-9);
        worst = fmax(worst, d);
    }
    lgv_kernel_free(&k);
    return worst;
}

/* Round-off 1e-16 over differences of 1e-3 with order 8: 1e-13 to 1e-12.  A wrong coefficient gives 1e-3. */
static void test_defect(void **state) {
    (void)state;
    struct lgv_model *m[2] = {
        model_of("coordinates: {a: 0.7, b: -0.4}\nmomenta: {u: 0.2, v: 0.5}\n"
                 "hamiltonian: u^2/2 + v^2/2 + a^2*b^2/4 + (a^2 + b^2)/2 + 0.4*a*v\nnoise: [0.1*(a*u + b^2), "
                 "0.2*cos(b)*v]\n"),
        model_of("coordinates: {a: 0.7, b: -0.4}\nmomenta: {u: 0.2, v: 0.5}\n"
                 "hamiltonian: u^2/2 + v^2 + u*v/2 + a^2*b^2/4 + cos(a - b) + 2*(a - b)^2\nstiff: 2*(a - b)^2\n"
                 "noise: [0.3*sin(a*b), 0.2*b^2]\n")};
    struct lgv_structure s;
    const struct lgv_method *method;
    size_t count[2] = {0};
    assert_int_equal(lgv_model_structure(m[0], &s, NULL), LGV_OK);
    for (size_t i = 0; (method = lgv_method_at(i)); i++) {
        char why[400];
        if (!method->symplectic || (method->needs & LGV_NEEDS_ROTATIONS)) continue; /* structure_rotations.c */
        size_t which = lgv_method_refusal(method, m[0], &s, why, sizeof why) ? 1 : 0;
        double d = defect(m[which], method->name, 0.1);
        print_message("%s%s: %.2g\n", method->name, which ? ", separable" : "", d);
        if (!(d < 1e-11)) fail_msg("%s: defect %g", method->name, d);
        count[which]++;
    }
    assert_true(count[0] >= 7 && count[1] >= 10);
    lgv_model_free(m[0]);
    lgv_model_free(m[1]);
}

/* Angular momentum x.x p.y - x.y p.x, of size 1, over 200 steps: round-off and what Newton's iteration leaves, 1e-15 a
 * step. */
static void test_momentum_map(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates:\n  x in R2: '[1 + 0.1*normal(), 0.1*normal()]'\n"
                                   "momenta:\n  p: '[0.1*normal(), 1 + 0.1*normal()]'\nwhere: {r2: 'dot(x, x)'}\n"
                                   "hamiltonian: dot(p, p)/2 + r2^2/4 + r2/2\nstiff: r2/2\n"
                                   "noise: 0.3*log(1 + r2)\nsymmetries:\n  rotation: [-x.y, x.x]\n");
    const struct lgv_method *method;
    for (size_t i = 0; (method = lgv_method_at(i)); i++)
        if (method->symplectic && !method->only_shifts && !(method->needs & LGV_NEEDS_ROTATIONS) &&
            !(drift_in_run(m, method->name, 0.05, 10, 16, "rotation") < 1e-12))
            fail_msg("%s does not keep the angular momentum", method->name);
    lgv_model_free(m);
}

static void test_kubo_energy(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {beta: 0.1}\ncoordinates: {q: 0}\nmomenta: {p: 1}\n"
                                   "hamiltonian: p^2/2 + q^2/2\nnoise: beta*H\n");
    static const char *const keep[] = {"P1N1Q2Gau", "P2N2Q4Gau", "P3N3Q6Gau"}, *const lose[] = {"P2N3Q4Lob",
                                                                                                "P1N2Q2Lob"};
    for (size_t k = 0; k < 3; k++) assert_true(drift_in_run(m, keep[k], 0.25, 1000, 16, "H") < 1e-12);
    for (size_t k = 0; k < 2; k++) assert_true(drift_in_run(m, lose[k], 0.25, 1000, 16, "H") > 1e-5);
    lgv_model_free(m);
}

/* ---- steps without a solution ---- */

/* On Kubo a step of P2N2Q2Otr is a rational map of x = dt + beta dW with double poles at x = 3 and x = -3.  beta is
 * chosen so that path 2 meets a pole (to round-off); paths whose x is 5 % away from it must not notice. */
static void test_singular_step(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {beta: 1}\ncoordinates: {q: 0.3}\nmomenta: {p: 1}\n"
                                   "hamiltonian: p^2/2 + q^2/2\nnoise: beta*H\n");
    struct lgv_kernel k = kernel_of(m, "P2N2Q2Otr");
    size_t lanes = k.entry->lanes, fine = 0;
    const double dt = 0.1;
    for (int sign = -1; sign <= 1; sign += 2) {
        struct lgv_own_block b;
        double dW;
        increments_of(9, 2, 0, dt, 1, &dW);
        m->par[0] = (3.0 * sign - dt) / dW;
        assert_true(lgv_block_create(&k, 0, dt, 9, 1, &b));
        for (size_t l = 0; l < lanes; l++) b.path[l] = l;
        k.entry->start(&b.block);
        k.entry->advance(&b.block, 1);
        for (size_t l = 0; l < lanes; l++) {
            increments_of(9, l, 0, dt, 1, &dW);
            double away = fabs(fabs(dt + m->par[0] * dW) - 3);
            if (l == 2) assert_int_equal(b.block.fail[l], LGV_FAIL_SINGULAR);
            if (l == 2) assert_true(isnan(b.block.state[l]));
            if (away < 0.15) continue;
            assert_int_equal(b.block.fail[l], LGV_FAIL_NONE);
            assert_true(isfinite(b.block.state[l]));
            fine++;
        }
        lgv_block_free(&b);
    }
    assert_true(fine >= lanes);
    lgv_kernel_free(&k);
    struct lgv_settings s = settings_of(m); /* in a run: the path is lost, the others go on, and the reason is said */
    struct lgv_result r;
    snprintf(s.method, sizeof s.method, "P2N2Q2Otr");
    s.step = s.until = dt;
    s.paths = 16;
    s.seed = 9;
    s.outputs = 1;
    s.check_states = 0;
    s.truncate = 0;
    s.rescue = false;
    run_with(m, &s, LGV_FAILED_PATHS, &r);
    assert_true(r.failed >= 1 && r.failed < 8);
    for (size_t i = 0; i < r.nfailures; i++) {
        const char *why = lgv_fail_text(r.failure[i].reason);
        print_message("path %llu: %s\n", (unsigned long long)r.failure[i].path, why);
        assert_non_null(strstr(why, r.failure[i].path == 2 ? "singular" : "Newton"));
    }
    lgv_result_clear(&r);
    lgv_model_free(m);
}

/* ---- refusals ---- */

static void test_refusals(void **state) {
    (void)state;
    struct lgv_model *m =
        model_of("parameters: {s: 0.3}\ncoordinates: {q: 0.3}\nmomenta: {p: 1}\nhamiltonian: p^2/2\nnoise: s*q*p\n");
    static const char *const none[] = {"P1N2Q2Lob", "P1N2Q2Otr", "P1N3Q4Lob", "P1N3Q4Mil", "P1N4Q6Lob"},
                             *const fine[] = {"P1N1Q2Gau", "P2N2Q2Lob", "P2N2Q4Gau", "P2N3Q4Lob", "P2N2Q2Otr"};
    struct lgv_structure s;
    char why[400];
    assert_int_equal(lgv_model_structure(m, &s, NULL), LGV_OK);
    for (size_t k = 0; k < 5; k++) {
        struct lgv_error err = {0};
        struct lgv_kernel kernel;
        assert_int_equal(lgv_kernel_build(m, lgv_method_find(none[k]), &(struct lgv_kernel_options){0}, &kernel, &err),
                         LGV_BAD_INPUT);
        assert_non_null(strstr(err.message, none[k]));
        assert_non_null(strstr(err.message, "degree 1 and several nodes"));
        assert_non_null(strstr(err.message, "P2N2Q2Lob")); /* one that fits */
        assert_null(lgv_method_refusal(lgv_method_find(fine[k]), m, &s, why, sizeof why));
    }
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_special_forms),
        cmocka_unit_test(test_additive_is_explicit),
        cmocka_unit_test(test_defect),
        cmocka_unit_test(test_momentum_map),
        cmocka_unit_test(test_kubo_energy),
        cmocka_unit_test(test_singular_step),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
