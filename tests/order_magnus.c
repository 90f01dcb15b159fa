/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods for any noise h(q,p): strong order 3/2 for one noise and for noises that commute, also with formulas of t,
 * and the same by two inner methods; the weights of a step; weak order 2; strong order 1 for others with Levy areas,
 * also on coadjoint orbits; symplectic to round-off; refusals. */
#include "helpers.h"

enum { PATHS = 256, STEPS = 1024, LEVELS = 4, FIRST = 4 }; /* the reference has steps 4 to 32 times smaller */
#define UNTIL 0.64

static const struct problem {
    const char *name, *text;
} problems[] = {
    {"one noise, H not separable",
     "coordinates: {q: 0.4}\nmomenta: {p: 0.9}\nhamiltonian: (1 + q^2/4)*p^2/2 + q^4/4\nnoise: 0.8*sin(q - p/2)*p\n"},
    {"two noises that commute",
     "coordinates: {x: 0.5, y: 0.3}\nmomenta: {u: 0.8, v: -0.4}\n"
     "hamiltonian: u^2/2*(1 + 0.3*cos(x)) + v^2/2 + x^2/2 + x*y^2/3 + y^4/4 + u*y/5\n"
     "noise: [sin(x - u), 0.8*cos(y)*v]\n"},
    {"formulas of t",
     "coordinates: {q: 0.5}\nmomenta: {p: 0.8}\nhamiltonian: p^2/2*(1 + 0.3*sin(3*t)) + q^4/4\n"
     "noise: 0.6*sin(q + 2*t)*(1 + p^2/4)\n"},
    {"noise h(q), separable",
     "coordinates: {q: 0.5}\nmomenta: {p: 0.8}\nhamiltonian: p^2/2 + q^4/4\nnoise: 0.7*sin(2*q)\n"},
};

/* Noises that do not commute. */
static const struct problem others[] = {
    {"two noises, one degree of freedom",
     "coordinates: {q: 0.4}\nmomenta: {p: 0.7}\nhamiltonian: p^2/2 + q^4/4\nnoise: [0.5*q^2, 0.6*sin(p)]\n"},
    {"three noises, two degrees of freedom",
     "coordinates: {x: 0.4, y: 0.5}\nmomenta: {u: 0.7, v: 0.1}\nhamiltonian: u^2/2 + v^2/2 + x^4/4 + x*y\n"
     "noise: [0.7*sin(x + y), 0.5*(x*v - y*u), 0.6*cos(u + y)]\n"},
};

/* The momenta of a body, m' = m x K_m, alone and as m = u x y of a point y with momentum u. */
#define TURNS "hamiltonian: a(M)^2/2 + b(M)^2/3 + c(M)^2/5\nnoise: [0.8*a(M), 0.7*b(M), 0.4*c(M)^2]\n"
#define SEEN "observe: {f: a(M), g: b(M), h: c(M)}\n"
static const struct problem orbit = {"three noises of the momenta of a body",
                                     "momenta: {m in so3*: [0.3, 0.8, 0.5]}\n"
                                     "where: {a(v): v.x, b(v): v.y, c(v): v.z, M: m}\n" TURNS SEEN},
    point = {"the same of a point", "coordinates: {y in R3: [0.8, -0.3, 0]}\n"
                                    "momenta: {u: [-15/73, -40/73, 1]}\n"
                                    "where: {a(v): v.x, b(v): v.y, c(v): v.z, M: 'cross(u, y)'}\n" TURNS SEEN};

static double *state_of(const struct lgv_kernel *k, uint64_t coarsen) {
    return final_values(k, UNTIL / STEPS * (double)coarsen, STEPS / coarsen, PATHS, 23, coarsen);
}

/* The final states by the smallest steps. */
static double *fine_of(struct lgv_model *m, const char *method) {
    struct lgv_kernel k = kernel_of(m, method);
    double *x = state_of(&k, 1);
    lgv_kernel_free(&k);
    return x;
}

static struct fit strong(struct lgv_model *m, const char *method, const double *fine) {
    struct lgv_kernel k = kernel_of(m, method);
    double dt[LEVELS], squared[LEVELS * PATHS] = {0};
    const size_t n = k.watch.count, first = n - m->nx - m->np; /* q and p are observed last */
    for (size_t l = 0; l < LEVELS; l++) {
        uint64_t coarsen = (uint64_t)FIRST << l;
        dt[l] = UNTIL / STEPS * (double)coarsen;
        double *x = state_of(&k, coarsen);
        for (size_t i = 0; i < PATHS; i++)
            for (size_t j = first; j < n; j++) {
                double d = x[i * n + j] - fine[i * n + j];
                squared[l * PATHS + i] += d * d;
            }
        free(x);
    }
    struct fit f = fit_order(squared, dt, LEVELS, PATHS);
    double promised = lgv_method_strong_order(k.method, &k.structure, k.nnoise, NULL);
    print_message("    %s: order %.3f +- %.3f, promised %g, error %.3g at %g\n", method, f.slope, f.slope_error,
                  promised, f.rms[0], dt[0]);
    assert_true(f.slope_error < 0.08);
    /* Orders are 1/2 apart.  E |e|^2 = dt^2s (a + b dt + ..), odd powers of dt^(1/2) being odd in the noise: a finite
     * range of steps bends a fit upwards, and the slope is nearer to the promised order than to the next.  Downwards
     * the error of the reference bends it: at a quarter of the least step its square is k^2/4^2s of the other, with k
     * the ratio of constants; for s = 1 a fit through four levels falls by 0.3 log2(1 + k^2/16)/2, 0.03 for k = 1.5. */
    assert_true(f.slope > promised - 3 * f.slope_error - 0.03 && f.slope < promised + 0.25);
    lgv_kernel_free(&k);
    return f;
}

/* Against each other, two ways to one solution: a method that converges to something wrong would agree with itself. */
static void test_strong(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        struct lgv_model *m = model_of(problems[i].text);
        double *flow = fine_of(m, "P2N2Q4Gau-3flows"), *bracket = fine_of(m, "P2N2Q4Gau-Magnus");
        print_message("%s\n", problems[i].name);
        struct fit plain = strong(m, "P2N2Q4Gau", flow), flows = strong(m, "P2N2Q4Gau-3flows", bracket);
        struct fit magnus = strong(m, "P2N2Q4Gau-Magnus", flow), strang = strong(m, "P2N2Q4Gau-MagnusStrang", flow);
        assert_true(flows.rms[0] < 0.5 * plain.rms[0] && magnus.rms[0] < 0.5 * plain.rms[0]);
        assert_true(strang.rms[0] < 0.5 * plain.rms[0]);
        free(flow);
        free(bracket);
        lgv_model_free(m);
    }
}

static void test_levy(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct lgv_model *m = model_of(others[i].text);
        double *gauss = fine_of(m, "P2N2Q4Gau-Levy"), *midpoint = fine_of(m, "P1N1Q2Gau-Levy");
        print_message("%s\n", others[i].name);
        struct fit plain = strong(m, "P1N1Q2Gau", gauss), levy = strong(m, "P1N1Q2Gau-Levy", gauss);
        strong(m, "P2N2Q4Gau-Levy", midpoint);
        assert_true(levy.rms[0] < 0.4 * plain.rms[0]);
        free(gauss);
        free(midpoint);
        lgv_model_free(m);
    }
}

/* f, g and h at the end, by the smallest steps or larger ones. */
static void seen_of(const struct lgv_kernel *k, uint64_t coarsen, double out[][3]) {
    static const char *const name[] = {"f", "g", "h"};
    double *x = state_of(k, coarsen);
    for (size_t i = 0; i < PATHS; i++)
        for (int j = 0; j < 3; j++) out[i][j] = x[i * k->watch.count + watch_number(k, name[j])];
    free(x);
}

static struct fit on_orbit(struct lgv_model *m, const char *method, double fine[][3]) {
    static double x[PATHS][3];
    struct lgv_kernel k = kernel_of(m, method);
    double dt[LEVELS], squared[LEVELS * PATHS] = {0};
    for (size_t l = 0; l < LEVELS; l++) {
        uint64_t coarsen = (uint64_t)FIRST << l;
        dt[l] = UNTIL / STEPS * (double)coarsen;
        seen_of(&k, coarsen, x);
        for (size_t i = 0; i < PATHS; i++)
            for (int j = 0; j < 3; j++) squared[l * PATHS + i] += pow(x[i][j] - fine[i][j], 2);
    }
    struct fit f = fit_order(squared, dt, LEVELS, PATHS);
    double promised = lgv_method_strong_order(k.method, &k.structure, k.nnoise, NULL);
    print_message("    %s: order %.3f +- %.3f, promised %g, error %.3g\n", method, f.slope, f.slope_error, promised,
                  f.rms[0]);
    assert_true(f.slope > promised - 3 * f.slope_error - 0.03 && f.slope < promised + 0.25);
    lgv_kernel_free(&k);
    return f;
}

/* On coadjoint orbits, against canonical coordinates, whose brackets and steps are others, on the same areas. */
static void test_orbits(void **state) {
    (void)state;
    static double fine[PATHS][3];
    struct lgv_model *m = model_of(orbit.text), *canonical = model_of(point.text);
    struct lgv_kernel k = kernel_of(canonical, "P2N2Q4Gau-Levy");
    seen_of(&k, 1, fine);
    print_message("%s\n", orbit.name);
    struct fit plain = on_orbit(m, "BCB", fine), levy = on_orbit(m, "BCB-Levy", fine);
    on_orbit(m, "BEB-Levy", fine);
    assert_true(levy.rms[0] < 0.4 * plain.rms[0]);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    lgv_model_free(canonical);
}

/* x = W1, y = W2 and the integrals of x x and x y, which a step gives by its weights alone: they are the means given
 * dW and y.  The polygon of the three flows has that of x x. */
static void test_weights(void **state) {
    (void)state;
    const double dt = 0.25;
    static const char *const method[] = {"P2N2Q4Gau-Magnus", "P2N2Q4Gau-MagnusStrang", "P2N2Q4Gau-3flows"};
    struct lgv_model *m = model_of("coordinates: {x: 0, y: 0, a: 0, b: 0}\nmomenta: {u: 0, v: 0, f: 1, g: 1}\n"
                                   "hamiltonian: x^2*f + x*y*g\nnoise: [u, v]\n");
    for (size_t j = 0; j < 3; j++) {
        struct lgv_kernel k = kernel_of(m, method[j]);
        const size_t n = k.watch.count, a = watch_number(&k, "a"), b = watch_number(&k, "b");
        double *x = final_values(&k, dt, 1, PATHS, 23, 1), w[2], y[2];
        for (size_t i = 0; i < PATHS; i++) {
            first_noise(&k, dt, 23, i, w, y);
            double one = mean_product(dt, w, y, 0, 0), two = mean_product(dt, w, y, 0, 1);
            assert_near(x[i * n + a], dt * one, 1e-14, method[j]);
            if (j < 2) assert_near(x[i * n + b], dt * two, 1e-14, method[j]);
        }
        free(x);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* Means of f over paths that a coarse and a fine run share: what they differ by has little variance. */
static void test_weak(void **state) {
    (void)state;
    enum { MANY = 12000, FINEST = 64 };
    static const char *const method[] = {"P2N2Q4Gau-3flows", "P2N2Q4Gau-Magnus"};
    struct lgv_model *m = model_of("coordinates: {q: 0.4}\nmomenta: {p: 0.9}\nhamiltonian: p^2/2 + q^2/2 + q^4/8\n"
                                   "noise: 0.7*sin(q)*cos(p)\nobserve: {f: 'p^2 + sin(q)'}\n");
    struct lgv_kernel reference = kernel_of(m, "P2N2Q4Gau-3flows");
    const size_t n = reference.watch.count, f = watch_number(&reference, "f");
    double first[2] = {0, 0}, *fine = final_values(&reference, 1.0 / FINEST, FINEST, MANY, 29, 1);
    for (size_t j = 0; j < sizeof method / sizeof *method; j++) {
        struct lgv_kernel k = kernel_of(m, method[j]);
        double bias[2], error[2];
        for (size_t l = 0; l < 2; l++) {
            uint64_t coarsen = FINEST / 8 >> l;
            double *x = final_values(&k, (double)coarsen / FINEST, FINEST / coarsen, MANY, 29, coarsen);
            double sum = 0, sq = 0;
            for (size_t i = 0; i < MANY; i++) {
                double d = x[i * n + f] - fine[i * n + f];
                sum += d / MANY;
                sq += d * d / MANY;
            }
            bias[l] = sum;
            error[l] = sqrt((sq - sum * sum) / MANY);
            free(x);
        }
        double slope = log2(bias[0] / bias[1]), spread = hypot(error[0] / bias[0], error[1] / bias[1]) / log(2);
        print_message("%s: %.3g +- %.1g and %.3g +- %.1g, weak order %.2f +- %.2f\n", method[j], bias[0], error[0],
                      bias[1], error[1], slope, spread);
        assert_true(lgv_method_weak_order(k.method, &k.structure, k.nnoise, NULL) == 2);
        if (j > 0) { /* too small for a slope */
            assert_true(fabs(bias[0]) < 0.3 * fabs(first[0]) && fabs(bias[1]) < 0.3 * fabs(first[1]));
        } else {
            assert_true(spread < 0.2 && fabs(slope - 2) < 3 * spread + 0.1);
            memcpy(first, bias, sizeof first);
        }
        lgv_kernel_free(&k);
    }
    free(fine);
    lgv_kernel_free(&reference);
    lgv_model_free(m);
}

static void check_defect(const struct problem *x, const char *method) {
    struct lgv_model *m = model_of(x->text);
    struct lgv_kernel k = kernel_of(m, method);
    const double at[] = {0.5, m->np > 1 ? 0.3 : 0.8, 0.8, -0.4};
    struct lgv_defect how = {.rotations = m->graph->nrotations ? m->graph : NULL};
    if (isnan(lgv_method_strong_order(k.method, &k.structure, k.nnoise, NULL))) { /* it loses paths */
        assert_true(k.method->surplus_momenta);
    } else {
        double d = lgv_certificate_defect(&k, 0.1, 0.05, 5, 3, 4, at, NULL, NULL, NULL, &how);
        print_message("%s, %s: defect %.2g +- %.1g\n", x->name, method, d, how.error);
        assert_true(k.method->symplectic && d >= 0 && d < 1e-12);
    }
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* Kernels that the orders above have made already, and other inner methods where they say the most. */
static void test_symplectic(void **state) {
    static const char *const method[] = {"P2N2Q4Gau-3flows", "P2N2Q4Gau-Magnus", "P2N2Q4Gau-MagnusStrang"};
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        for (size_t j = 0; j < sizeof method / sizeof *method; j++) check_defect(&problems[i], method[j]);
    check_defect(&problems[0], "P3N3Q6Gau-3flows");
    check_defect(&problems[0], "P3N3Q6Gau-Magnus");
    check_defect(&problems[3], "P2N3Q4Lob-3flows");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        check_defect(&others[i], "P1N1Q2Gau-Levy");
        check_defect(&others[i], "P2N2Q4Gau-Levy");
    }
    check_defect(&orbit, "BCB-Levy");
    check_defect(&orbit, "BEB-Levy");
}

static void refused(const char *name, const char *why) {
    char text[400];
    assert_null(lgv_method_find(name));
    assert_int_equal(lgv_method_unknown(NULL, name, text, sizeof text), LGV_BAD_INPUT);
    if (!strstr(text, why)) fail_msg("%s: %s", name, text);
}

static void test_refusals(void **state) {
    (void)state;
    refused("midpoint-3flows", "would leave strong order 1");
    refused("midpoint-Magnus", "would leave strong order 1");
    refused("midpoint-MagnusStrang", "would leave strong order 1");
    refused("VZc-3flows", "goes around a Galerkin method");
    refused("LobZ-3flows", "goes around a Galerkin method");
    refused("P2N2Q4Gau-3flows-3flows", "goes around a Galerkin method");
    refused("nothing-3flows", "is not a method");
    refused("VZc-Levy", "with dW alone");
    refused("P1N1Q1Rec-Levy", "is none");
    refused("EEM-Levy", "with dW alone");
    refused("midpoint-Levy-Levy", "with dW alone");
    refused("BAB-Levy", "is none"); /* A and R have noise that is linear in momenta by its exact flow */
    refused("BCOCB-Levy", "without bath");
    assert_ptr_equal(lgv_method_find("gauss4-3FLOWS"), lgv_method_find("P2N2Q4Gau-3flows"));
}

/* Formulas that bend have no brackets. */
static void test_kinks(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {q: 0.4}\nmomenta: {p: 0.9}\nhamiltonian: p^2/2 + q^2/2\n"
                                   "noise: [abs(q), p^2]\n");
    struct lgv_structure s;
    char why[400];
    assert_int_equal(lgv_model_structure(m, &s, NULL), LGV_OK);
    assert_non_null(lgv_method_refusal(lgv_method_find("midpoint-Levy"), m, &s, why, sizeof why));
    assert_non_null(strstr(why, "bend or jump"));
    assert_non_null(lgv_method_refusal(lgv_method_find("P2N2Q4Gau-Magnus"), m, &s, why, sizeof why));
    assert_non_null(strstr(why, "bend or jump"));
    assert_null(lgv_method_refusal(lgv_method_find("P2N2Q4Gau-3flows"), m, &s, why, sizeof why));
    lgv_model_free(m);
    m = model_of("coordinates: {R in SO3: [0.4, 0, 0]}\nmomenta: {m: [0, 1, 1]}\nkinetic: {inertia: [1, 1, 0.6]}\n"
                 "potential: R.zz\nnoise: [0.1*m.x, R.zx]\n");
    assert_int_equal(lgv_model_structure(m, &s, NULL), LGV_OK);
    assert_non_null(lgv_method_refusal(lgv_method_find("BCB-Levy"), m, &s, why, sizeof why));
    assert_non_null(strstr(why, "needs noise of momenta alone"));
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strong),     cmocka_unit_test(test_levy),     cmocka_unit_test(test_orbits),
        cmocka_unit_test(test_weights),    cmocka_unit_test(test_weak),     cmocka_unit_test(test_symplectic),
        cmocka_unit_test(test_refusals),   cmocka_unit_test(test_kinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
