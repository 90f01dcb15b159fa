/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The laws of random start values: normal(mean, std), uniform(low, high), independent components, other values for
 * other seeds; mean, variance, correlation and the Kolmogorov-Smirnov distance.  Rotations that are uniform, momenta
 * and velocities that are Maxwellian. */
#include "helpers.h"

enum { PATHS = 100000 };

static const char text[] = "coordinates: {a: 'normal(2, 0.5)', b: 'uniform(-1, 3)', c: normal()^2, d: 'a + normal()'}\n"
                           "momenta: {u: normal(), v: uniform(), w: normal(), x: 1}\n"
                           "hamiltonian: u^2 + v^2 + w^2 + x^2\n";

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *column(const double *value, size_t count, size_t at) {
    double *x = lgv_new(PATHS, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < PATHS; i++) x[i] = value[i * count + at];
    return x;
}

static double normal_cdf(double x) {
    return 0.5 * erfc(-x / sqrt(2.0));
}

/* Moments within 4 standard errors.  sqrt(n) D > 1.95 has probability 1e-3 when the law is right. */
static void check_law(double *x, double mean, double std, double fourth, bool normal, double low, double high) {
    double m = 0, v = 0, D = 0;
    for (size_t i = 0; i < PATHS; i++) m += x[i] / PATHS;
    for (size_t i = 0; i < PATHS; i++) v += (x[i] - m) * (x[i] - m) / (PATHS - 1);
    assert_near(m, mean, 4 * std / sqrt(PATHS), "mean");
    assert_near(v, std * std, 4 * std * std * sqrt((fourth - 1) / PATHS), "variance");
    qsort(x, PATHS, sizeof *x, ascending);
    for (size_t i = 0; i < PATHS; i++) {
        double F = normal ? normal_cdf((x[i] - mean) / std) : (x[i] - low) / (high - low);
        D = fmax(D, fmax(fabs(F - (double)i / PATHS), fabs(F - (double)(i + 1) / PATHS)));
    }
    assert_true(D * sqrt(PATHS) < 1.95);
    if (!normal) assert_true(x[0] > low && x[PATHS - 1] < high);
}

static void test_laws(void **state) {
    (void)state;
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, "P2N2Q2Lob");
    /* two ends of a run of one step of size 1e-300: nothing moves */
    double *value = final_values(&k, 1e-300, 1, PATHS, 11, 1);
    double *x[8];
    static const char *const name[] = {"a", "b", "c", "d", "u", "v", "w", "x"};
    for (size_t i = 0; i < 8; i++) x[i] = column(value, k.watch.count, watch_number(&k, name[i]));
    double square = 0;
    for (size_t i = 0; i < PATHS; i++) {
        square += x[2][i] / PATHS;
        assert_true(x[7][i] == 1);
    }
    assert_near(square, 1, 4 * sqrt(2.0 / PATHS), "mean of the square of a normal");
    /* independent draws: the correlation of PATHS pairs has standard error 1/sqrt(PATHS) */
    double uw = 0, av = 0, ad = 0;
    for (size_t i = 0; i < PATHS; i++) {
        uw += x[4][i] * x[6][i] / PATHS;
        av += (x[0][i] - 2) * (x[5][i] - 0.5) / PATHS;
        ad += (x[0][i] - 2) * (x[3][i] - 2) / PATHS;
    }
    assert_near(uw, 0, 4 / sqrt(PATHS), "correlation of two normals");
    assert_near(av, 0, 4 * 0.5 * sqrt(1.0 / 12) / sqrt(PATHS), "correlation of a normal and a uniform");
    assert_near(ad, 0.25, 4 * 0.5 * sqrt(1.5) / sqrt(PATHS), "covariance through a start value that refers to another");
    check_law(x[0], 2, 0.5, 3, true, 0, 0);
    check_law(x[1], 1, 4 / sqrt(12.0), 1.8, false, -1, 3);
    check_law(x[3], 2, sqrt(1.25), 3, true, 0, 0);
    check_law(x[4], 0, 1, 3, true, 0, 0);
    check_law(x[5], 0.5, 1 / sqrt(12.0), 1.8, false, 0, 1);
    double *other = final_values(&k, 1e-300, 1, 64, 12, 1), *again = final_values(&k, 1e-300, 1, 64, 11, 1);
    size_t a = watch_number(&k, "a");
    for (size_t i = 0; i < 64; i++) {
        assert_true(other[i * k.watch.count + a] != value[i * k.watch.count + a]);
        assert_true(again[i * k.watch.count + a] == value[i * k.watch.count + a]);
    }
    for (size_t i = 0; i < 8; i++) free(x[i]);
    free(value);
    free(other);
    free(again);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* Mean and covariance of two columns within 4.5 standard errors. */
static void check_pair(const double *value, const struct lgv_kernel *k, const char *one, const char *other,
                       double mean, double covariance) {
    size_t a = watch_number(k, one), b = watch_number(k, other), n = k->watch.count;
    double m[2] = {0, 0}, sum = 0, square = 0, size = 0;
    for (size_t i = 0; i < PATHS; i++) m[0] += value[i * n + a], m[1] += value[i * n + b];
    m[0] /= PATHS;
    m[1] /= PATHS;
    for (size_t i = 0; i < PATHS; i++) {
        double x = value[i * n + a] - m[0], xy = x * (value[i * n + b] - m[1]);
        size += x * x / PATHS;
        sum += xy / PATHS;
        square += xy * xy / PATHS;
    }
    assert_near(m[0], mean, 4.5 * sqrt(size / PATHS) + 1e-12, one);
    assert_near(sum, covariance, 4.5 * sqrt((square - sum * sum) / PATHS) + 1e-12, other);
}

/* Every entry of R is uniform in (-1, 1); the trace is 1 + 2 cos of the angle, whose density is (1 - cos)/pi: its mean
 * is 0 and its variance 1. */
static void test_rotations(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {'R[2] in SO3': uniform}\nkinetic: {inertia: [1, 1.5, 2]}\n"
                                   "potential: '0'\nobserve: {xx: 'R[2].xx', xy: 'R[2].xy', xz: 'R[2].xz',\n"
                                   "  zx: 'R[2].zx', zz: 'R[2].zz', t: 'trace(R[2])', other: 'R[1].zz'}\n");
    struct lgv_kernel k = kernel_of(m, "BAB");
    double *value = final_values(&k, 1e-300, 1, PATHS, 11, 1);
    static const char *const name[] = {"xx", "xy", "xz", "zx", "zz"};
    for (size_t i = 0; i < 5; i++) {
        double *x = column(value, k.watch.count, watch_number(&k, name[i]));
        check_law(x, 0, 1 / sqrt(3), 1.8, false, -1 - 1e-15, 1 + 1e-15);
        free(x);
    }
    check_pair(value, &k, "t", "t", 0, 1);
    check_pair(value, &k, "zz", "other", 0, 0);
    check_pair(value, &k, "xx", "zz", 0, 0);
    free(value);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* p ~ N(-A^-1 b, kT A^-1), A = H_pp, b = H_p at p = 0. */
static void test_maxwellian(void **state) {
    (void)state;
    static const struct {
        const char *text, *method;
        struct {
            const char *one, *other;
            double mean, covariance;
        } row[8];
    } model[] = {
        {"parameters: {kT: 0.7}\ncoordinates: {'x[3] in R2': 0, 'R[2] in SO3': uniform}\nmomenta: maxwellian\n"
         "kinetic: {mass: 1.3, inertia: [[1, 0.2, 0.1], [0.2, 1.4, -0.1], [0.1, -0.1, 1.7]]}\npotential: '0'\n"
         "langevin: {friction: 1, temperature: kT}\nobserve: {a: 'p_x[2].y', b: 'p_x[3].x', m: 'p_R[2]'}\n",
         "BAB-GLA",
         {{"a", "a", 0, 0.91}, {"b", "a", 0, 0}, {"m.x", "m.x", 0, 0.7}, {"m.x", "m.y", 0, 0.14},
          {"m.y", "m.y", 0, 0.98}, {"m.y", "m.z", 0, -0.07}, {"m.z", "m.z", 0, 1.19}, {"m.z", "a", 0, 0}}},
        {"coordinates: {'b[2] in SE3': {rotation: uniform}, c in SE3: {}}\n"
         "momenta: {p: maxwellian(2), r: {linear: 1, angular: maxwellian(3)}}\n"
         "kinetic: {mass: 1.5, inertia: [1, 2, 2.5]}\npotential: '0'\n"
         "observe: {a: 'p[2].linear', m: 'p[2].angular', b: 'r.linear', n: 'r.angular'}\n", "BAB",
         {{"a.x", "a.x", 0, 3}, {"a.z", "a.y", 0, 0}, {"m.x", "m.x", 0, 2}, {"m.z", "m.z", 0, 5}, {"b.x", "b.x", 1, 0},
          {"n.y", "n.y", 0, 6}}},
        /* a bath for one, and a temperature of its own for another */
        {"coordinates: {x: 1, y: 2, z: 0}\nmomenta: {u: maxwellian(0.25), v: maxwellian, w: u}\n"
         "kinetic: {mass: {x: 4, y: 2}}\npotential: x^2\nlangevin: {friction: {y: 1}, temperature: {y: 3}}\n",
         "BAB-GLA", {{"u", "u", 0, 1}, {"v", "v", 0, 6}, {"u", "v", 0, 0}, {"w", "u", 0, 1}}},
        /* coupled, of first degree in p, of q: A = [[2, 1], [1, 1]]/x, b = (-1, 0.5) */
        {"coordinates: {x: 2, y: 1}\nmomenta: {u: maxwellian(1.5), v: maxwellian(1.5)}\n"
         "hamiltonian: (u^2 + u*v + v^2/2)/x - u + v/2\n", "P1N1Q2Gau",
         {{"u", "u", 3, 3}, {"v", "v", -4, 6}, {"u", "v", 3, -3}}},
        {"coordinates: {x: 2, y: 1}\nvelocities: {u: maxwellian(1.5), v: maxwellian(1.5)}\n"
         "lagrangian: (u^2 + u*v + v^2/2)/x - u\nobserve: {a: u, b: v}\n", "P1N1Q2Gau",
         {{"a", "a", 0, 3}, {"b", "b", 0, 6}, {"a", "b", 0, -3}}},
        /* kT P M^-1 P^T: masses 1 and 4 with x + y = 1 move together, as one mass 5 */
        {"coordinates: {x: 1, y: 0, z: 0}\nvelocities: {u: maxwellian(2), v: maxwellian(2), w: maxwellian(2)}\n"
         "lagrangian: u^2/2 + 2*v^2 + w^2/2\nconstraints: x + y - 1\nobserve: {a: u, b: v, c: w}\n", "RATTLE",
         {{"a", "a", 0, 0.4}, {"a", "b", 0, -0.4}, {"b", "b", 0, 0.4}, {"c", "c", 0, 2}}},
    };
    for (size_t i = 0; i < sizeof model / sizeof *model; i++) {
        struct lgv_model *m = model_of(model[i].text);
        struct lgv_kernel k = kernel_of(m, model[i].method);
        double *value = final_values(&k, 1e-300, 1, PATHS, 11, 1);
        for (size_t j = 0; j < 8 && model[i].row[j].one; j++)
            check_pair(value, &k, model[i].row[j].one, model[i].row[j].other, model[i].row[j].mean,
                       model[i].row[j].covariance);
        free(value);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

/* Another temperature is another start, without a new kernel. */
static void test_temperature(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {kT: 1}\ncoordinates: {x: 0}\nmomenta: maxwellian\npotential: x^2\n"
                                   "langevin: {friction: 1, temperature: kT}\n");
    struct lgv_kernel k = kernel_of(m, "BAB-GLA");
    double *warm = final_values(&k, 1e-300, 1, 4, 1, 1);
    m->par[0] = 4;
    double *hot = final_values(&k, 1e-300, 1, 4, 1, 1);
    size_t at = watch_number(&k, "p_x");
    for (size_t i = 0; i < 4; i++)
        assert_near(hot[i * k.watch.count + at], 2 * warm[i * k.watch.count + at], 1e-14, "start momentum");
    free(warm);
    free(hot);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_laws), cmocka_unit_test(test_rotations),
                                       cmocka_unit_test(test_maxwellian), cmocka_unit_test(test_temperature)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
