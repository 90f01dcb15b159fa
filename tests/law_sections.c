/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Poincare sections: crossings against closed forms, on the surface to 1e-10 whatever the method and the noise, the
 * same bits however the ensemble is run, and sections that make no sense. */
#include "along.h"

#define PI 3.14159265358979323846
#define OSCILLATOR "coordinates: {x: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + x^2/2\n"

static const double *crossings(const struct lgv_result *r, const char *name, size_t *rows, size_t *columns) {
    const struct lgv_found *x = lgv_finding_get(found(r, "sections", name), "crossing");
    assert_non_null(x->data);
    *rows = x->shape[0];
    *columns = x->shape[1];
    return x->data;
}

/* x = sin t, which begins on the surface: it is crossed upwards at 2 pi k, downwards at pi (2 k - 1).  Steps of 0.1 of
 * a method of order 6 are wrong by less than 1e-9 in 100 periods' time. */
static void test_oscillator(void **state) {
    (void)state;
    static const char *const method[] = {"P3N3Q6Gau", "P2N2Q2Lob-Suzuki4", "RK4"};
    static const double most[] = {1e-7, 3e-3, 3e-3};
    for (size_t m = 0; m < 3; m++) {
        struct lgv_result *r = run_text(OSCILLATOR "sections: {up: x, down: {at: x, direction: down, observe: [p, x]},"
                                                   " both: {at: x, direction: both},"
                                                   " turned: {at: sin(t), observe: [t]},"
                                                   " jump: sign(x) + 0.5}\n"
                                                   "run: {step: 0.1, until: 100, paths: 1, outputs: 1}\n",
                                        (struct option[]){{"method", method[m]}, {NULL, NULL}});
        static const char *const name[] = {"up", "down", "both", "turned"};
        static const size_t count[] = {15, 16, 31, 15};
        for (size_t s = 0; s < 4; s++) {
            size_t rows, columns;
            const double *c = crossings(r, name[s], &rows, &columns);
            if (rows != count[s]) fail_msg("%s: %zu crossings", name[s], rows);
            for (size_t i = 0; i < rows; i++, c += columns) {
                double t = s == 0 || s == 3 ? 2 * PI * (double)(i + 1) : PI * (double)((s == 1 ? 2 * i : i) + 1);
                if (fabs(c[1] - t) > (s == 3 ? 1e-11 : most[m])) fail_msg("%s: %.15g, not %.15g", name[s], c[1], t);
                if (s == 3) continue;
                double x = s == 1 ? c[3] : c[2], p = s == 1 ? c[2] : c[3];
                assert_true(c[0] == 0 && fabs(x) < 1e-10 && fabs(p - cos(t)) < most[m]);
            }
        }
        assert_true(lgv_finding_value(found(r, "sections", "jump"), "crossings") == 0);
        lgv_result_free(r);
    }
}

/* With noise that is additive or not, implicit steps, Lagrangians, constraints and baths every crossing is on the
 * surface; so many times they cross it. */
static void test_surface(void **state) {
    (void)state;
    static const char *const text[] = {
        "coordinates: {x: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(x)\nnoise: [0.3*x]\n"
        "sections: {s: {at: x - 0.3*p, direction: both, observe: [x - 0.3*p]}}\nrun: {step: 0.1, until: 100}\n",
        "coordinates: {x: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(x)\nnoise: [0.1*x*p]\n"
        "sections: {s: {at: x, observe: [x]}}\nrun: {step: 0.05, until: 100}\n",
        "coordinates: {a: 1}\nvelocities: {w: 0}\nlagrangian: (1 + 0.2*sin(a)^2)*w^2/2 + cos(a)\n"
        "sections: {s: {at: w, observe: [w]}}\nrun: {step: 0.1, until: 100}\n",
        "coordinates: {x: 1, y: 0}\nmomenta: {p: 0, r: 0}\nhamiltonian: (p^2 + r^2)/2 + y\n"
        "constraints: [x^2 + y^2 - 1]\nsections: {s: {at: x, observe: [x]}}\nrun: {step: 0.05, until: 100}\n",
        "coordinates: {x: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + x^2/2\n"
        "langevin: {friction: 0.2, temperature: 0.5}\n"
        "sections: {s: {at: x, observe: [x]}}\nrun: {step: 0.1, until: 100}\n",
    };
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        struct lgv_result *r = run_text(text[k], (struct option[]){{"paths", "20"}, {"keep", "20"}, {NULL, NULL}});
        size_t rows, columns, above = 0;
        const double *c = crossings(r, "s", &rows, &columns);
        for (size_t i = 0; i < rows; i++) above += !(fabs(c[i * columns + 2]) <= 1e-10);
        if (rows < 150 || above) fail_msg("%zu of %zu are off the surface:\n%s", above, rows, text[k]);
        lgv_result_free(r);
    }
}

static const char noisy[] = "coordinates: {x: normal(), y: 0.3}\nmomenta: {p: 1, r: 0}\n"
                            "hamiltonian: (p^2 + r^2)/2 + x^2/2 + y^2/2 + x^2*y/4 + x^4/4 + y^4/4\n"
                            "noise: [0.1*x, 0.1*y]\n"
                            "sections: {a: {at: x, observe: [y, r]}, b: {at: y - 0.1, direction: down}}\n"
                            "run: {step: 0.05, until: 40, outputs: 10, paths: 301, keep: '300,17,204,3'}\n";

static void test_bits(void **state) {
    (void)state;
    check_bits(noisy);
    const struct option four[] = {{"compiler", "gcc"}, {"lanes", "4"}, {NULL, NULL}};
    const struct option sixteen[] = {{"compiler", "gcc"}, {"lanes", "16"}, {NULL, NULL}}; /* four vecs */
    struct lgv_result *a = run_text(noisy, four), *b = run_text(noisy, sixteen);
    same_findings(a, b, "gcc");
    lgv_result_free(a);
    lgv_result_free(b);
}

/* Looking changes nothing; a bound leaves the first crossings of each path. */
static void test_bound(void **state) {
    (void)state;
    char plain[sizeof noisy];
    const char *at = strstr(noisy, "sections:"), *run = strstr(noisy, "run:");
    snprintf(plain, sizeof plain, "%.*s%s", (int)(at - noisy), noisy, run);
    struct lgv_result *a = run_text(plain, NULL), *b = run_text(noisy, NULL);
    struct lgv_result *few = run_text(noisy, (struct option[]){{"crossings", "3"}, {NULL, NULL}});
    for (size_t i = 0; i < a->nseries; i++)
        assert_memory_equal(a->series[i].mean, b->series[i].mean, a->ntimes * sizeof(double));
    size_t all, some, columns;
    const double *x = crossings(b, "a", &all, &columns), *y = crossings(few, "a", &some, &columns);
    assert_true(columns == 4 && some == 12 && all > 15 && x[0] == 300 && y[3 * 4] == 17);
    assert_memory_equal(x, y, 3 * 4 * sizeof *x);
    assert_true(lgv_finding_value(found(few, "sections", "a"), "crossings") == (double)all);
    lgv_result_free(a);
    lgv_result_free(b);
    lgv_result_free(few);
}

/* Events and surfaces are formulas, which see a periodic coordinate with all its turns; `mod` takes them away.  What is
 * shown of the coordinate itself is in its range, a formula of it is not. */
static void test_periodic(void **state) {
    (void)state;
    static const char text[] = "coordinates: {'a mod 2*pi from -pi': 0.5}\nmomenta: {p: 1}\nhamiltonian: p^2/2\n"
                               "events: {far: a > 7, lap: 'mod(a, 2*pi) > 5'}\n"
                               "sections: {far: a - 7, turn: {at: 'sin(a/2 - 1)', direction: both, observe: [a, 2*a]},"
                               " lap: 'mod(a, 2*pi) - 3'}\n"
                               "run: {step: 0.1, until: 20, outputs: 20, paths: 1, method: verlet}\n";
    struct lgv_result *r = run_text(text, NULL);
    size_t rows, columns;
    const double *x = crossings(r, "far", &rows, &columns), two_pi = 2 * acos(-1.0);
    assert_true(rows == 1 && columns == 4);
    assert_near(x[1], 6.5, 1e-12, "time of 7");
    assert_near(x[2], 7 - two_pi, 1e-12, "7 as it is shown");
    x = crossings(r, "turn", &rows, &columns); /* 2, 2 + 2 pi, 2 + 4 pi */
    assert_true(rows == 3);
    for (size_t k = 0; k < 3; k++) {
        assert_near(x[k * 4 + 2], 2, 1e-11, "shown in its range");
        assert_near(x[k * 4 + 3], 4 + 2 * two_pi * (double)k, 1e-11, "a formula of it");
    }
    crossings(r, "lap", &rows, &columns);
    assert_true(rows == 3);
    assert_near(lgv_finding_value(found(r, "events", "far"), "mean"), 6.5, 1e-12, "an event with turns");
    assert_near(lgv_finding_value(found(r, "events", "lap"), "entries_mean"), 3, 0, "an event without");
    lgv_result_free(r);
}

static void test_bad(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"sections: {a: y}", "4:15: unknown name y"},
        {"sections: {a: {at: x, direction: left}}", "4:34: the direction of a section is up, down or both"},
        {"sections: {a: {at: x, observe: [p, z]}}", "4:36: unknown name z"},
        {"sections: {a: {at: x, observe: []}}", "there is nothing to observe"},
        {"sections: {a: {direction: up}}", "a section needs `at: FORMULA`"},
        {"sections: {a: {at: x, see: p}}", "4:23: a section has at, direction and observe"},
        {"sections: [x]", "sections as name: formula"},
        {"sections: {a: 3}", "4:15: this depends neither on the state nor on t"},
        {"processes: {eta: {sigma: 1, tau: 1}}\nsections: {a: x - eta}", "5:15: a process cannot be in a section"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char text[300];
        struct lgv_model *m = NULL;
        struct lgv_error err = {0};
        snprintf(text, sizeof text, "%s%s\n", OSCILLATOR, bad[k].text);
        assert_int_equal(lgv_model_parse(text, "test.yaml", &m, &err), LGV_BAD_INPUT);
        if (!strstr(err.message, bad[k].message)) fail_msg("%s\n%s", bad[k].text, err.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oscillator), cmocka_unit_test(test_surface), cmocka_unit_test(test_bits),
        cmocka_unit_test(test_bound),      cmocka_unit_test(test_bad),     cmocka_unit_test(test_periodic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
