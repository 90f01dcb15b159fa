/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Laws of Langevin dynamics: every method's step on oscillators against its formulas, ensembles against the laws that
 * follow from them, stationary laws where friction depends on q and with constraints. */
#include "langevin_linear.h"

/* ---- one step ---- */

/* The compiled step is the map of the formulas: to round-off. */
static void test_steps(void **state) {
    (void)state;
    for (size_t i = 0; i < OSCILLATORS; i++) {
        struct lgv_model *m = model_of(oscillators[i].text);
        for (size_t k = 0; k < LANGEVIN_METHODS; k++) {
            if (i > 0 && !strstr(i > 2 ? "BAOAB UBU SVE-Q SVE-QI BBK IEM" : "OBABO UBU SVE-QI", langevin_methods[k]))
                continue;
            char what[100];
            struct lgv_kernel kernel = kernel_with(m, langevin_methods[k], 2, NULL);
            for (double h = 0.02; h < 0.5; h *= 10) {
                struct gaussian got = map_of(&kernel, h), want = formula_of(&oscillators[i], langevin_methods[k], h);
                snprintf(what, sizeof what, "%s, %s, step %g", langevin_methods[k], oscillators[i].name, h);
                assert_same_matrix(got.A, want.A, 1e-14, what);
                assert_same_matrix(got.Q, want.Q, 1e-15, what);
            }
            lgv_kernel_free(&kernel);
        }
        lgv_model_free(m);
    }
}

/* ---- ensembles ---- */

/* Means and covariances of a state of `n` numbers over paths, against a Gaussian law; the largest deviation over its
 * standard error. */
static double deviation(const double *value, size_t stride, uint64_t paths, const size_t *column, matrix mean,
                        matrix Q) {
    const size_t n = Q.rows;
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double m = 0;
        for (uint64_t k = 0; k < paths; k++) m += value[k * stride + column[i]] - (double)mean.at[i][0];
        worst = fmax(worst, fabs(m / (double)paths) / sqrt((double)Q.at[i][i] / (double)paths));
        for (size_t j = 0; j <= i; j++) {
            double c = 0, error = sqrt((double)(Q.at[i][i] * Q.at[j][j] + Q.at[i][j] * Q.at[i][j]) / (double)paths);
            for (uint64_t k = 0; k < paths; k++)
                c += (value[k * stride + column[i]] - (double)mean.at[i][0]) *
                     (value[k * stride + column[j]] - (double)mean.at[j][0]);
            worst = fmax(worst, fabs(c / (double)paths - (double)Q.at[i][j]) / error);
        }
    }
    return worst;
}

static void state_columns(const struct lgv_kernel *k, size_t n, size_t *column) {
    static const char *const name[2][4] = {{"x", "u"}, {"x", "y", "u", "v"}};
    for (size_t i = 0; i < 2 * n; i++) column[i] = watch_number(k, name[n - 1][i]);
}

/* From the start: x = A^n x0, Q_n. */
static void check_ensemble(const struct oscillators *o, const char *method, double h, uint64_t steps, uint64_t paths,
                           struct gaussian step) {
    static const double start[2][4] = {{0.4, -0.3}, {0.4, -0.2, -0.3, 0.5}};
    struct lgv_model *m = model_of(o->text);
    struct lgv_kernel k = kernel_with(m, method, 2, NULL);
    struct gaussian all = certain(identity(2 * o->n));
    matrix x = zeros(2 * o->n, 1);
    size_t column[4];
    for (uint64_t i = 0; i < steps; i++) all = follow(all, step);
    for (size_t i = 0; i < 2 * o->n; i++) x.at[i][0] = start[o->n - 1][i];
    state_columns(&k, o->n, column);
    double *value = final_values(&k, h, steps, paths, 5, 1);
    double worst = deviation(value, k.watch.count, paths, column, product(all.A, x), all.Q);
    print_message("%s, %s after %d steps: %.2f standard errors\n", method, o->name, (int)steps, worst);
    if (!(worst < 4)) fail_msg("%s, %s: %g standard errors", method, o->name, worst);
    free(value);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* Without force all words are exact: the law of the equation itself at several times. */
static void test_free_particles(void **state) {
    (void)state;
    static const char *const bath[] = {"friction: 0.6, temperature: 0.7",
                                       "friction: [0.6, 1.1], temperature: [0.7, 0.2]",
                                       "friction: [[0.6, 0.4], [0.4, 0.9]], temperature: 2"};
    static const double friction[][4] = {{0.6, 0, 0, 0.6}, {0.6, 0, 0, 1.1}, {0.6, 0.4, 0.4, 0.9}};
    static const double kT[][2] = {{0.7, 0.7}, {0.7, 0.2}, {2, 2}};
    for (size_t b = 0; b < 3; b++) {
        char text[400];
        snprintf(text, sizeof text, TWO_STARTS "hamiltonian: u^2 + v^2/4\nlangevin: {%s}\n", bath[b]);
        struct oscillators o = {.name = bath[b], .text = text, .n = 2, .inverse = {2, 0, 0, 0.5}};
        memcpy(o.friction, friction[b], sizeof o.friction);
        memcpy(o.kT, kT[b], sizeof o.kT);
        for (uint64_t steps = 1; steps < 40; steps = 5 * steps + 1)
            check_ensemble(&o, "UBU", 0.3, steps, 8000, bath_of(&o, true, 0.3L));
        check_ensemble(&o, "BAOAB", 0.3, 7, 8000, word_of(&o, "AOA", 0.3L));
    }
}

/* Behind the decay of the start the law is the stationary one of the method. */
static void test_stationary(void **state) {
    (void)state;
    for (size_t k = 0; k < LANGEVIN_METHODS; k++) {
        const struct oscillators *o = &oscillators[strstr("OBABO SVE-QI", langevin_methods[k]) ? 1 : 0];
        const double h = strcmp(langevin_methods[k], "EEM") == 0 ? 0.05 : 0.5;
        struct gaussian step = formula_of(o, langevin_methods[k], h);
        matrix Q = stationary(step);
        struct gaussian late = certain(identity(2 * o->n));
        for (int i = 0; i < 60 / h; i++) late = follow(late, step);
        assert_same_matrix(late.Q, Q, 1e-6, "long enough");
        check_ensemble(o, langevin_methods[k], h, (uint64_t)(60 / h), 8000, step);
    }
}

/* What is known of stationary laws on the oscillator, of the compiled steps themselves: positions of BAOAB and of words
 * with the same cycle are exact, q and p of
 * symmetric words of A, B, O are not correlated, BAOA correlates them in first order.
 * Leimkuhler & Matthews (2013). */
static void test_known_laws(void **state) {
    (void)state;
    const struct oscillators *o = &oscillators[0];
    struct lgv_model *m = model_of(o->text);
    const long double q2 = 0.7L / 1.8L, p2 = 0.7L * 0.8L; /* kT/K, kT M */
    static const double step[] = {0.04, 0.02};
    for (size_t k = 0; k < LANGEVIN_METHODS; k++) {
        struct lgv_kernel kernel = kernel_with(m, langevin_methods[k], 2, NULL);
        long double bias[2][3];
        for (int i = 0; i < 2; i++) {
            matrix Q = stationary(map_of(&kernel, step[i]));
            bias[i][0] = fabsl(Q.at[0][0] - q2);
            bias[i][1] = fabsl(Q.at[1][1] - p2);
            bias[i][2] = fabsl(Q.at[0][1]);
        }
        const char *name = langevin_methods[k];
        long double even = fmaxl(bias[0][0], bias[0][1]) / fmaxl(bias[1][0], bias[1][1]), all = bias[0][2] / bias[1][2];
        print_message("%-15s q^2 %9.2Le  p^2 %9.2Le  qp %9.2Le, bias falls by %.2Lf\n", name, bias[0][0], bias[0][1],
                      bias[0][2], even);
        if (strcmp(name, "BAOAB") == 0 || strcmp(name, "BAOA") == 0) assert_true(bias[0][0] < 1e-13L);
        if (strcmp(name, "BAOA") == 0) assert_true(all > 1.9L && all < 2.1L);
        if (kernel.method->symmetric && !strchr(name, 'U')) assert_true(bias[0][2] < 1e-13L);
        /* the midpoint rule keeps the law of an oscillator; others have the order of the table */
        if (strcmp(name, "P1N1Q2Gau-GLA") == 0)
            assert_true(bias[0][0] < 1e-13L && bias[0][1] < 1e-13L);
        else if (strcmp(name, "BAOA") == 0)
            assert_true(bias[0][1] < 1e-13L);
        else if (kernel.method->bias_order == 2)
            assert_true(even > 3.9L && even < 4.2L);
        else
            assert_true(even > 1.8L && even < 2.3L);
        lgv_kernel_free(&kernel);
    }
    lgv_model_free(m);
}

#define ONE_BATH                                                                                                       \
    "coordinates: {x: 0.4}\nmomenta: {u: -0.3}\nhamiltonian: u^2/2 + x^2/2\n"                                        \
    "langevin: {friction: 1, temperature: 1}\n"
#define ONE_NOISY ONE_BATH "noise: 0.35*x^2\n"
#define ONE_PUSHED ONE_BATH "force: [-u^3]\n"

/* What is said of the bias: around a composition it has the order of that, beside other noise the weak order.  (BAOAB
 * and OBABO share the other noise among two kicks.  On x'' = -x - x' + sqrt(2) W' - 0.7 x V' the biases of their
 * stationary E[x^2] = 1.3245 at steps 0.1 and 0.05 are 0.0180, 0.0099 and 0.0213, 0.0107, from the linear equations for
 * the moments.) */
static void test_bias_orders(void **state) {
    (void)state;
    const struct oscillators *o = &oscillators[0];
    struct lgv_model *m = model_of(o->text), *noisy = model_of(ONE_NOISY), *pushed = model_of(ONE_PUSHED);
    struct lgv_kernel kernel = kernel_with(m, "P2N2Q2Lob-Suzuki4-GLA", 2, NULL);
    long double bias[2];
    for (int i = 0; i < 2; i++) bias[i] = fabsl(stationary(map_of(&kernel, i ? 0.15 : 0.3)).at[0][0] - 0.7L / 1.8L);
    print_message("bias %.3Le, falls by %.2Lf\n", bias[0], bias[0] / bias[1]);
    assert_true(bias[0] / bias[1] > 15 && bias[0] / bias[1] < 18);
    lgv_kernel_free(&kernel);
    const struct {
        struct lgv_model *m;
        const char *method;
        double order;
    } row[] = {{m, "P2N2Q2Lob-Suzuki4-GLA", 4}, {m, "P2N2Q2Lob-GLA1", 2}, {m, "BAOAB", 2},  {m, "BAOA", 2},
               {m, "SVE-Q", 1},                 {noisy, "BAOAB", 1},      {noisy, "UBU", 1}, {pushed, "BBK", 1},
               {pushed, "BAOAB", 2},            {noisy, "P2N2Q2Lob-Suzuki4-GLA", 1}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_structure s;
        struct lgv_error err = {0};
        if (lgv_model_structure(row[i].m, &s, &err) != LGV_OK) fail_msg("%s", err.message);
        double order = lgv_method_bias_order(lgv_method_find(row[i].method), &s, row[i].m->nnoise);
        assert_near(order, row[i].order, 0, row[i].method);
    }
    lgv_model_free(m);
    lgv_model_free(noisy);
    lgv_model_free(pushed);
}

/* ---- friction that depends on q ---- */

#define QUARTIC                                                                                                        \
    "coordinates: {x: 0.4}\nmomenta: {u: -0.3}\nhamiltonian: u^2/(2*0.8) + x^4/4\n"                                    \
    "langevin: {friction: 0.5 + x^2, temperature: 0.7}\n"

/* The flow of the bath at x over h with the increment dW, and half kicks and drifts around it. */
static double bath_at(double x, double u, double h, double dW) {
    double g = 0.5 + x * x, e = exp(-g * h / 0.8);
    return e * u + sqrt(0.7 * 0.8 * -expm1(-2 * g * h / 0.8) / h) * dW;
}

static void quartic_step(const char *method, double h, const double *dW, double *x, double *u) {
    const double g = 0.5 + *x * *x, noise = sqrt(2 * 0.7 * g), x0 = *x;
    if (strcmp(method, "BAOAB") == 0) {
        *u -= h / 2 * pow(*x, 3);
        *x += h / 2 * *u / 0.8;
        *u = bath_at(*x, *u, h, dW[0]);
        *x += h / 2 * *u / 0.8;
        *u -= h / 2 * pow(*x, 3);
    } else if (strcmp(method, "OBABO") == 0) {
        *u = bath_at(*x, *u, h / 2, dW[0]) - h / 2 * pow(*x, 3);
        *x += h * *u / 0.8;
        *u = bath_at(*x, *u - h / 2 * pow(*x, 3), h / 2, dW[1]);
    } else if (strcmp(method, "SVE-Q") == 0) {
        *u += -h * pow(*x, 3) - h * g * *u / 0.8 + noise * dW[0];
        *x += h * *u / 0.8;
    } else if (strcmp(method, "SVE-QI") == 0) {
        *u = (*u - h * pow(*x, 3) + noise * dW[0]) / (1 + h * g / 0.8);
        *x += h * *u / 0.8;
    } else if (strcmp(method, "BBK") == 0) {
        *u += -h / 2 * pow(*x, 3) - h / 2 * g * *u / 0.8 + noise * dW[0];
        *x += h * *u / 0.8;
        double g1 = 0.5 + *x * *x;
        *u = (*u - h / 2 * pow(*x, 3) + sqrt(2 * 0.7 * g1) * dW[1]) / (1 + h / 2 * g1 / 0.8);
    } else if (strcmp(method, "EEM") == 0) {
        *x += h * *u / 0.8;
        *u += -h * pow(x0, 3) - h * g * *u / 0.8 + noise * dW[0];
    } else { /* IEM: x1 = x + h u1/m in the equation of u1, by Newton's method with a numerical slope */
        double u1 = *u;
        for (int k = 0; k < 50; k++) {
            double r[2], small = 1e-6;
            for (int i = 0; i < 2; i++) {
                double v = u1 + i * small, x1 = *x + h * v / 0.8;
                r[i] = v - *u + h * (pow(x1, 3) + (0.5 + x1 * x1) * v / 0.8) - noise * dW[0];
            }
            u1 -= r[0] * small / (r[1] - r[0]);
        }
        *x += h * u1 / 0.8;
        *u = u1;
    }
}

static void test_friction_of_q(void **state) {
    (void)state;
    static const char *const method[] = {"BAOAB", "OBABO", "SVE-Q", "SVE-QI", "BBK", "EEM", "IEM"};
    static const double dW[] = {0.17, -0.23, 0, 0};
    struct lgv_model *m = model_of(QUARTIC);
    for (size_t k = 0; k < 7; k++) {
        struct lgv_kernel kernel = kernel_with(m, method[k], 2, NULL);
        for (double h = 0.01; h < 0.5; h *= 4) {
            double got[] = {0.7, -0.4}, x = 0.7, u = -0.4;
            assert_true(rows_of(&kernel) <= 4);
            step_given(&kernel, 0, h, dW, got);
            quartic_step(method[k], h, dW, &x, &u);
            assert_near(got[0], x, 2e-15, method[k]);
            assert_near(got[1], u, 2e-15, method[k]);
        }
        lgv_kernel_free(&kernel);
    }
    lgv_model_free(m);
}

/* Means of q^2, q^4 and p^2 in the law exp(-H/kT), the first by quadrature.  Its bias at this step is far below a
 * standard error. */
static void test_quartic_law(void **state) {
    (void)state;
    enum { PATHS = 12000 };
    struct lgv_model *m = model_of(QUARTIC);
    struct lgv_kernel k = kernel_with(m, "BAOAB", 2, NULL);
    double *value = final_values(&k, 0.08, 250, PATHS, 9, 1), total[3] = {0}, mean[3] = {0}, var[3] = {0};
    size_t x = watch_number(&k, "x"), u = watch_number(&k, "u");
    for (int i = -600; i <= 600; i++) {
        double q = i * 0.01, w = exp(-q * q * q * q / 4 / 0.7);
        for (int n = 0; n < 3; n++) total[n] += w * pow(q, 2 * n);
    }
    const double want[] = {total[1] / total[0], total[2] / total[0], 0.7 * 0.8};
    for (size_t i = 0; i < PATHS; i++) {
        const double *row = value + i * k.watch.count, y[] = {pow(row[x], 2), pow(row[x], 4), pow(row[u], 2)};
        for (int n = 0; n < 3; n++) mean[n] += y[n] / PATHS, var[n] += y[n] * y[n] / PATHS;
    }
    for (int n = 0; n < 3; n++) {
        double error = sqrt((var[n] - mean[n] * mean[n]) / PATHS);
        print_message("moment %d: %.4f +- %.4f, exact %.4f\n", n, mean[n], error, want[n]);
        assert_near(mean[n], want[n], 4 * error, "stationary law");
    }
    free(value);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* ---- on the sphere ---- */

/* exp(-H/kT) on the tangent bundle: z is distributed as exp(-f z/kT) on [-1, 1], the momentum at x as a Gaussian with
 * covariance kT (1 - x x^T), which has 3 - 1 degrees of freedom. */
static void check_sphere(const char *friction) {
    enum { PATHS = 8000, NUMBERS = 5 };
    const double kT = 0.6, f = 1.3, a = f / kT;
    char text[600];
    snprintf(text, sizeof text,
             "coordinates: {x in R3: '[0.6, -0.48, 0.64]'}\nmomenta: {p: '[0.3, 0.7, 0.5]'}\n"
             "hamiltonian: dot(p, p)/2 + 1.3*x.z\nconstraints: dot(x, x) - 1\n"
             "langevin: {friction: %s, temperature: 0.6}\n"
             "observe: {z: x.z, z2: x.z^2, p2: 'dot(p, p)', pz2: p.z^2, pp: p.x*p.y}\n",
             friction);
    static const char *const name[NUMBERS] = {"z", "z2", "p2", "pz2", "pp"};
    const double z = -(1 / tanh(a) - 1 / a), z2 = 1 + 2 * z / a;
    const double want[NUMBERS] = {z, z2, 2 * kT, kT * (1 - z2), 0};
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_with(m, "RATTLE-GLA", 2, NULL);
    double *value = final_values(&k, 0.05, 240, PATHS, 9, 1);
    for (size_t n = 0; n < NUMBERS; n++) {
        double mean = 0, var = 0;
        size_t column = watch_number(&k, name[n]);
        for (size_t i = 0; i < PATHS; i++) mean += value[i * k.watch.count + column] / PATHS;
        for (size_t i = 0; i < PATHS; i++) var += pow(value[i * k.watch.count + column] - mean, 2) / PATHS;
        print_message("%s %s: %.4f +- %.4f, exact %.4f\n", friction, name[n], mean, sqrt(var / PATHS), want[n]);
        assert_near(mean, want[n], 4 * sqrt(var / PATHS), name[n]);
    }
    for (size_t i = 0; i < PATHS; i++) {
        size_t g = watch_number(&k, "constraint"), hidden = watch_number(&k, "hidden_constraint");
        assert_true(fabs(value[i * k.watch.count + g]) < 1e-12 && fabs(value[i * k.watch.count + hidden]) < 1e-12);
    }
    free(value);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

static void test_sphere(void **state) {
    (void)state;
    check_sphere("0.8");                          /* a multiple of the mass: the projected map is exact */
    check_sphere("[0.5, 1, 2]");                  /* midpoint rule */
    check_sphere("{x: '[1 + x.z, 1 + x.z, 2]'}"); /* depends on q */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_free_particles),
        cmocka_unit_test(test_stationary),
        cmocka_unit_test(test_known_laws),
        cmocka_unit_test(test_bias_orders),
        cmocka_unit_test(test_friction_of_q),
        cmocka_unit_test(test_quartic_law),
        cmocka_unit_test(test_sphere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
