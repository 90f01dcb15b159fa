/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random parameters: every path moves with the value it shows, in explicit and implicit steps, to the same bits in all
 * lanes; their law; the certificate is measured with the parameters of its path; a value from outside; what is
 * refused. */
#include "helpers.h"

#define OSCILLATOR \
    "parameters: {m: \"exp(normal(0, 0.2))\", k: \"uniform(1, 3)\", w: sqrt(k/m)}\n" \
    "coordinates: {q: 1/k}\nmomenta: {p: 0}\nhamiltonian: p^2/(2*m) + k*q^2/2\nnoise: 0*q\n" \
    "observe: {error: q - cos(w*t)/k, energy: H - 1/(2*k)}\n"

static void test_motion(void **state) {
    (void)state;
    static const char *const methods[] = {"verlet", "midpoint", "VZ"};
    struct lgv_model *m = model_of(OSCILLATOR);
    for (size_t i = 0; i < 3; i++) {
        static const unsigned lanes[] = {2, 8, 16};
        double *first = NULL;
        for (size_t w = 0; w < (i ? 1 : 3); w++) {
            struct lgv_kernel k = kernel_with(m, methods[i], lanes[w], NULL);
            double *x = final_values(&k, 0.002, 1000, 48, 5, 1);
            size_t n = k.watch.count, error = watch_number(&k, "error"), energy = watch_number(&k, "energy");
            for (size_t path = 0; path < 48; path++) {
                assert_near(x[path * n + error], 0, 1e-5, methods[i]);
                assert_near(x[path * n + energy], 0, 1e-5, methods[i]);
                assert_true(path == 0 || x[path * n + watch_number(&k, "k")] != x[watch_number(&k, "k")]);
            }
            for (size_t j = 0; first && j < 48 * n; j++) assert_true(memcmp(&first[j], &x[j], sizeof *x) == 0);
            if (first) free(x);
            else first = x;
            lgv_kernel_free(&k);
        }
        free(first);
    }
    /* gcc makes several vecs of a block, with rows of their own */
    struct lgv_kernel k = kernel_with(m, "verlet", 16, "gcc");
    double *x = final_values(&k, 0.002, 1000, 48, 5, 1);
    for (size_t path = 1, row = watch_number(&k, "k"), n = k.watch.count; path < 48; path++) {
        assert_near(x[path * n + watch_number(&k, "error")], 0, 1e-5, "gcc");
        assert_true(x[path * n + row] != x[row]);
    }
    free(x);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* Several random masses, whose inverses are computed side by side. */
static void test_masses(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {a: \"uniform(1, 3)\", b: \"uniform(1, 3)\", c: \"uniform(1, 3)\"}\n"
                                   "coordinates: {x: 1, y: 1, z: 1}\nmomenta: {p: 0, q: 0, r: 0}\n"
                                   "hamiltonian: p^2/(2*a) + q^2/(2*b) + r^2/(2*c) + (x^2 + y^2 + z^2)/2\n"
                                   "observe: {error: abs(x - cos(t/sqrt(a))) + abs(y - cos(t/sqrt(b))) + "
                                   "abs(z - cos(t/sqrt(c)))}\n");
    struct lgv_kernel k = kernel_of(m, "midpoint");
    double *x = final_values(&k, 0.001, 1000, 16, 5, 1);
    for (size_t path = 0; path < 16; path++)
        assert_near(x[path * k.watch.count + watch_number(&k, "error")], 0, 1e-6, "midpoint");
    free(x);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* Means and deviations of 20000 paths, within four standard errors. */
static void test_law(void **state) {
    (void)state;
    enum { PATHS = 20000 };
    struct lgv_model *m = model_of(OSCILLATOR);
    struct lgv_kernel k = kernel_of(m, "verlet");
    double *x = final_values(&k, 0.1, 1, PATHS, 11, 1);
    const char *const name[] = {"m", "k"};
    const double mean[] = {exp(0.02), 2}, variance[] = {exp(0.04) * (exp(0.04) - 1), 1.0 / 3};
    for (int i = 0; i < 2; i++) {
        double sum = 0, squares = 0;
        for (size_t path = 0; path < PATHS; path++) {
            double v = x[path * k.watch.count + watch_number(&k, name[i])];
            sum += v;
            squares += (v - mean[i]) * (v - mean[i]);
        }
        assert_near(sum / PATHS, mean[i], 4 * sqrt(variance[i] / PATHS), name[i]);
        assert_near(squares / PATHS, variance[i], 4 * variance[i] * sqrt(3.0 / PATHS), name[i]);
    }
    free(x);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* The defect of a step with 1/m, m a row of the state; a setting makes it an ordinary parameter, and is seen. */
static void test_run(void **state) {
    (void)state;
    struct lgv_model *m = model_of(OSCILLATOR);
    struct lgv_run *run = NULL;
    struct lgv_result *r = NULL;
    struct lgv_error err = {0};
    for (int set = 0; set < 2; set++) {
        if (set) set_parameter(m, "k", 2.5);
        if (lgv_run_create(m, &run, &err) || lgv_run_set(run, "method", "verlet", &err) ||
            lgv_run_set(run, "until", "1", &err) || lgv_run_set(run, "paths", "64", &err) ||
            lgv_run_execute(run, &r, &err))
            fail_msg("%s", err.message);
        assert_true(lgv_result_symplectic_defect(r) < 1e-12);
        const double *low = lgv_result_series(r, "q", LGV_MIN), *high = lgv_result_series(r, "q", LGV_MAX);
        assert_true(set ? low[0] == high[0] && low[0] == 1 / 2.5 : low[0] < high[0]);
        lgv_result_free(r);
        lgv_run_free(run);
    }
    assert_int_equal(m->graph->ndrawn, 2); /* m and w are left */
    lgv_model_free(m);
}

/* The mean of H grows by additive noise at a rate that every path has of its own where its amplitude or the mass is
 * random: then the certificate claims none. */
static void test_rate(void **state) {
    (void)state;
    static const char *const model[] = {"{s: 0.4, m: 2, k: \"uniform(1, 3)\"}", "{s: \"normal(0, 1)\", m: 2, k: 1}",
                                        "{s: 0.4, m: \"uniform(1, 3)\", k: 1}"};
    for (int i = 0; i < 3; i++) {
        char text[300];
        snprintf(text, sizeof text, "parameters: %s\ncoordinates: {q: 0.5}\nhamiltonian: p_q^2/(2*m) + k*q^4/4\n"
                 "noise: s*q\nrun: {method: gonzalez, step: 0.05, until: 2, paths: 16}\n", model[i]);
        struct lgv_model *m = model_of(text);
        struct lgv_settings s;
        struct lgv_result r;
        struct lgv_error err = {0};
        assert_int_equal(lgv_settings_read(m, &s, &err), LGV_OK);
        if (lgv_engine_once(m, &s, NULL, NULL, NULL, &r, &err)) fail_msg("%s", err.message);
        if (i == 0) assert_near(r.certificate.energy_rate, 0.04, 1e-12, "rate");
        if (i) assert_true(isnan(r.certificate.energy_rate));
        lgv_result_clear(&r);
        lgv_model_free(m);
    }
}

#define ARRAYS \
    "parameters: {N: 12, \"m[N]\": \"exp(normal(0, 0.2*i/N))\", \"k[N]\": \"uniform(1, 3)\", c: 0.3, " \
    "\"w[N]\": \"sqrt(k[i]/m[i])\", \"one[3]\": [1, \"normal(5, 0.1)\", 3]}\n" \
    "coordinates: {\"q[N]\": \"1/k[i]\"}\nmomenta: {\"p[N]\": 0}\n" \
    "hamiltonian: sum(i=1..N, p[i]^2/(2*m[i]) + k[i]*q[i]^2/2)\n" \
    "observe: {error: \"sum(i=1..N, (q[i] - cos(w[i]*t)/k[i])^2)\", m2: \"m[2]\", m12: \"m[12]\", k2: \"k[2]\", " \
    "product: \"m[12]*m[11]\"}\n"

/* Every oscillator has a mass and a spring of its own, on every path; they are independent, with the laws they have. */
static void test_arrays(void **state) {
    (void)state;
    enum { PATHS = 4000 };
    struct lgv_model *m = model_of(ARRAYS);
    double *first = NULL, mean[3] = {0}, square = 0;
    for (size_t w = 0; w < 3; w++) {
        struct lgv_kernel k = kernel_with(m, w == 2 ? "midpoint" : "verlet", w ? 16 : 2, w == 1 ? "gcc" : NULL);
        size_t n = k.watch.count, e = watch_number(&k, "error"), m12 = watch_number(&k, "m12");
        size_t m2 = watch_number(&k, "m2");
        double *x = final_values(&k, 0.002, 500, PATHS, 5, 1);
        for (size_t path = 0; path < PATHS; path++) {
            assert_near(x[path * n + e], 0, 1e-9, "error");
            assert_near(x[path * n + watch_number(&k, "one[1]")], 1, 1e-15, "an entry that is no draw");
            if (w) assert_true(memcmp(&first[path * n + m2], &x[path * n + m2], sizeof *x) == 0);
            mean[0] += w ? 0 : x[path * n + m12];
            mean[1] += w ? 0 : x[path * n + watch_number(&k, "product")];
            mean[2] += w ? 0 : x[path * n + watch_number(&k, "k2")];
            square += w ? 0 : log(x[path * n + m2]) * log(x[path * n + m2]);
        }
        if (first) free(x);
        else first = x;
        lgv_kernel_free(&k);
    }
    free(first);
    double eleven = 0.2 * 11 / 12;
    assert_near(mean[0] / PATHS, exp(0.02), 4 * 0.21 / sqrt(PATHS), "mass 12");
    assert_near(mean[1] / PATHS, exp(0.02 + eleven * eleven / 2), 4 * 0.3 / sqrt(PATHS), "masses 11 and 12");
    assert_near(mean[2] / PATHS, 2, 4 / sqrt(3. * PATHS), "spring 2");
    assert_near(square / PATHS, 1. / 900, 4 * sqrt(2. / PATHS) / 900, "the spread of mass 2");
    set_parameter(m, "m[2]", 4);
    assert_int_equal(m->graph->ndrawn, 39);
    set_parameter(m, "one", 1);
    assert_int_equal(m->graph->ndrawn, 36);
    struct lgv_kernel k = kernel_of(m, "verlet");
    double *x = final_values(&k, 0.002, 500, 16, 5, 1);
    for (size_t path = 0; path < 16; path++) {
        assert_true(x[path * k.watch.count + watch_number(&k, "m2")] == 4);
        assert_near(x[path * k.watch.count + watch_number(&k, "error")], 0, 1e-9, "a mass of 4");
    }
    free(x);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* Values from a file, by path and again from the first row on; what follows from them; a value from outside. */
static void test_by_path(void **state) {
    (void)state;
    static const double f[] = {0.5, 2, -1}, b[] = {7, 8, 9};
    struct lgv_model *m = model_of("parameters: {a: 3, f: \"file(f.csv, paths)\", g: \"file(f.csv, b, paths)\", "
                                   "w: \"g - a*f\", c: 5}\ncoordinates: {q: f}\nhamiltonian: p_q^2/2 + w*q*g/10\n"
                                   "noise: \"c*0*q\"\nobserve: {force: p_q/0.1}\n"
                                   "data: {f.csv: \"f,b\\n0.5,7\\n2,8\\n-1,9\\n\"}\n");
    for (int set = 0; set < 2; set++) {
        if (set) set_parameter(m, "f", 4);
        struct lgv_kernel k = kernel_of(m, "verlet");
        double *x = final_values(&k, 0.1, 1, 20, 5, 1);
        for (size_t path = 0; path < 20; path++) {
            double now = set ? 4 : f[path % 3], g = b[path % 3], w = g - 3 * now;
            const double *at = x + path * k.watch.count;
            if (!set) assert_true(at[watch_number(&k, "f")] == now);
            assert_true(at[watch_number(&k, "g")] == g && at[watch_number(&k, "w")] == w);
            assert_near(at[watch_number(&k, "q")], now - 0.005 * w * g / 10, 1e-14, "q");
            assert_near(at[watch_number(&k, "force")], -w * g / 10, 1e-13, "force");
        }
        free(x);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* Pair sums with random couplings, whose rows are long enough for lanes that are pairs: the force is that of H, and
 * paths have the same bits in all lanes. */
static void test_couplings(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {N: 30, \"J[N]\": \"normal()\"}\n"
                                   "coordinates: {\"q[N]\": \"uniform(0, 6)\"}\nmomenta: {\"p[N]\": 0}\n"
                                   "hamiltonian: sum(i=1..N, p[i]^2/2) - sum(i=1..N, j=i+1..N, "
                                   "J[i]*J[j]*cos(q[i] - q[j]))/N\n");
    double *first = NULL;
    static const unsigned lanes[] = {1, 2, 16};
    struct lgv_kernel start = kernel_with(m, "P3N3Q6Gau", 2, NULL);
    double *before = final_values(&start, 1e-9, 1, 2, 5, 1);
    for (size_t w = 0; w < 3; w++) {
        struct lgv_kernel k = kernel_with(m, "P3N3Q6Gau", lanes[w] > 1 ? lanes[w] : 2, NULL);
        size_t n = k.watch.count, h = watch_number(&k, "H");
        double *x = final_values(&k, 0.05, 60, lanes[w] > 1 ? 16 : 2, 5, 1);
        for (size_t path = 0; path < 2; path++) {
            assert_near(x[path * n + h], before[path * n + h], 1e-9, "H");
            assert_true(!first || memcmp(&first[path * n + h], &x[path * n + h], sizeof *x) == 0);
        }
        assert_true(fabs(x[h] - x[n + h]) > 1e-3);
        if (first) free(x);
        else first = x;
        lgv_kernel_free(&k);
    }
    free(first);
    free(before);
    lgv_kernel_free(&start);
    lgv_model_free(m);
}

static void test_refused(void **state) {
    (void)state;
#define HEAD "parameters: {k: \"normal(1, 0.1)\", N: 3%s}\ncoordinates: {\"q%s\": 1}\nhamiltonian: "
    static const char *const row[][4] = {
        {"", "", "p_q^2/2\nlangevin: {friction: k, temperature: 1}\n", "in the friction of a bath"},
        {"", "", "p_q^2/2\nlangevin: {friction: 1, temperature: k^2}\n", "in a temperature"},
        {"", "", "p_q^2/(2*k)\nlangevin: {friction: 1, temperature: 1}\n", "in masses beside a bath"},
        {"", "", "p_q^2/2 + k*q^2\nstiff: k*q^2\n", "in the stiff part"},
        {"", "", "sum(i=1..k, q)\n", "k is random and cannot be used as an index"},
        {"", " mod k", "q\n", "a period cannot be random"},
        {", \"c[N]\": \"normal(1, 0.1)\"", "", "p_q^2/2\nlangevin: {friction: \"c[2]\", temperature: 1}\n",
         "in the friction of a bath"},
        {", \"c[N]\": k", "[N]", "sum(i=1..N, p_q[i]^2/(2*c[i]))\nlangevin: {friction: 1, temperature: 1}\n",
         "in masses beside a bath"},
        {", \"c[2000]\": normal()", "", "q\n", "more than 1024 random parameters"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[500];
        struct lgv_model *m = NULL;
        struct lgv_error err = {0};
        snprintf(text, sizeof text, HEAD "%s", row[i][0], row[i][1], row[i][2]);
        assert_int_equal(lgv_model_parse(text, "test.yaml", &m, &err), LGV_BAD_INPUT);
        if (!strstr(err.message, row[i][3])) fail_msg("%s\nsays %s", text, err.message);
        assert_true(err.line > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_motion), cmocka_unit_test(test_law),       cmocka_unit_test(test_masses),
        cmocka_unit_test(test_arrays), cmocka_unit_test(test_couplings), cmocka_unit_test(test_run),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_rate), cmocka_unit_test(test_by_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
