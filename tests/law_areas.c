/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Levy areas: on the free group of step 2, noises h_i = p_i + sum_j x_j p_ij / 2 whose positions are W_i and the areas
 * A_ij, methods with areas show them as they are.  Their law, its covariance given W, and given W and the integrals of
 * W with the tail alone and with modes, and Chen's relation. */
#include "helpers.h"

#define NILPOTENT                                                                                                      \
    "coordinates: {x: 0, y: 0, z: 0, a: 0, b: 0, c: 0}\nmomenta: {u: 0, v: 0, w: 0, d: 1, g: 1, f: 1}\n"               \
    "hamiltonian: 0*a\n"                                                                                               \
    "noise: [u - y*d/2 - z*g/2, v + x*d/2 - z*f/2, w + x*g/2 + y*f/2]\n"

enum { PATHS = 40000, FINE = 16, MOST = 16 };

/* Mean of a number that is there for each path, within four standard errors of what is expected; bias: what the
 * moments of the tail may be off by. */
static void expect(const double *x, double want, double bias, const char *what) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < PATHS; i++) mean += x[i] / PATHS, square += x[i] * x[i] / PATHS;
    double error = sqrt((square - mean * mean) / PATHS);
    print_message("%-28s %.5f +- %.5f, expected %.5f\n", what, mean, error, want);
    assert_true(error < 0.2 * (fabs(want) + 0.1));
    assert_near(mean, want, 4 * error + bias, what);
}

struct areas {
    double *value;
    size_t n, W[3], A[3];
};

static struct areas run(const struct lgv_kernel *k, uint64_t coarsen) {
    struct areas r = {final_values(k, (double)coarsen / FINE, FINE / coarsen, PATHS, 31, coarsen), k->watch.count,
                      {watch_number(k, "x"), watch_number(k, "y"), watch_number(k, "z")},
                      {watch_number(k, "a"), watch_number(k, "b"), watch_number(k, "c")}};
    return r;
}

static void test_law(void **state) {
    (void)state;
    struct lgv_model *m = model_of(NILPOTENT);
    struct lgv_kernel k = kernel_of(m, "P1N1Q2Gau-Levy");
    assert_int_equal(k.structure.commutes, 0);
    double *x = lgv_new(PATHS, sizeof *x);
    struct areas one[2] = {run(&k, 1), {0}};
    one[1] = (struct areas){final_values(&k, 1, 1, PATHS, 37, 1), one[0].n, {0}, {0}}; /* p = 0, one step */
    memcpy(one[1].W, one[0].W, sizeof one[0].W);
    memcpy(one[1].A, one[0].A, sizeof one[0].A);
    for (size_t s = 0; s < 2; s++) {
        const struct areas *r = &one[s];
        const double bias = s ? 0.01 : 0.001; /* of the tail alone: 2.8e-4 dt^2 is the square of its distance */
#define EACH(expression, want, bias, what)                                                                             \
    do {                                                                                                               \
        for (size_t i = 0; i < PATHS; i++) {                                                                           \
            const double *at = r->value + i * r->n, A = at[r->A[0]], B = at[r->A[1]], C = at[r->A[2]];                 \
            const double U = at[r->W[0]], V = at[r->W[1]], W = at[r->W[2]];                                            \
            (void)A, (void)B, (void)C, (void)U, (void)V, (void)W;                                                      \
            x[i] = (expression);                                                                                       \
        }                                                                                                              \
        expect(x, want, bias, what);                                                                                   \
    } while (0)
        EACH(cos(2 * A), 1 / cosh(1), bias, "E cos 2A = 1/cosh 1");
        EACH(cos(5 * C), 1 / cosh(2.5), bias, "E cos 5C = 1/cosh 5/2");
        EACH(B * B, 0.25, 0, "E B^2 = 1/4");
        /* Given W the variance of each is (1 + U^2 + V^2)/12: the tail has the right covariance whatever p is. */
        EACH((A * A + B * B + C * C - (U * U + V * V + W * W) / 6) / 3, 1.0 / 12, 0, "E var A given W, less W^2/12");
        EACH(C * C * C * C, 5.0 / 16, bias, "E C^4 = 5/16");
        EACH(A * A * (U * U + V * V), 5.0 / 6, 0, "E A^2 |W|^2 = 5/6"); /* 1/12 + |W|^2/12 given W */
        EACH(A * B * V * W, 1.0 / 12, 0, "E A B V W = 1/12");
        EACH(A * C * U * W, -1.0 / 12, 0, "E A C U W = -1/12");
        EACH(A * W, 0, 0, "E A W = 0");
        EACH(U * U, 1, 0, "E U^2 = 1");
    }
    free(one[0].value);
    free(one[1].value);
    free(x);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

static double normal(uint64_t path, long number) { /* of stream 5; docs/noise.md */
    double z[2];
    lgv_bridge_normals(41, path, (uint64_t)number / 2, 5u - 0x8000u, z);
    return z[number % 2];
}

/* The areas of the first step written down again, in units in which its width is 1. */
static void areas_again(uint64_t path, long p, const double *W, const double *y, double *A) {
    const double kappa = 1 / (2 * M_PI * M_PI);
    double V = 1.0 / 12, S4 = pow(M_PI, 4) / 90, s[3], a[3], c[3], b[3][3] = {{0}};
    for (int i = 0; i < 3; i++) s[i] = -y[i];
    for (long r = 1; r <= p; r++) {
        const double v = kappa / (double)(r * r), left = V - v;
        for (int i = 0; i < 3; i++) {
            a[i] = s[i] * v / V + sqrt(v * left / V) * normal(path, 6 * (r - 1) + i);
            c[i] = sqrt(v) * normal(path, 6 * (r - 1) + 3 + i);
            s[i] -= a[i];
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) b[i][j] += M_PI * (double)r * (a[i] * c[j] - c[i] * a[j]);
        V = left;
        S4 -= pow((double)r, -4);
    }
    const double S2 = V / kappa;
    for (int i = 0, k = 0; i < 3; i++)
        for (int j = i + 1; j < 3; j++, k++) {
            double eta[2] = {normal(path, 6 * p + i), normal(path, 6 * p + j)};
            A[k] = y[i] * W[j] - W[i] * y[j] + b[i][j] + sqrt(S4 / 2) / S2 * (s[i] * eta[1] - s[j] * eta[0]) +
                   sqrt((S2 - S4 / S2) * kappa) * normal(path, 6 * p + 3 + k);
        }
}

/* One step of the width dt, in units of which W is of variance 1 and A - y_i W_j + W_i y_j = b has the variance
 * (y_i^2 + y_j^2)/5 + 1/20 given y = J - W/2, of variance 1/12, and is not correlated with W: whatever the number of
 * modes. Then E b^2 = 1/12, E b^2 (y_i^2 + y_j^2) = 1/90 + 1/120, E b_12 b_13 y_2 y_3 = 1/720. */
static void test_given(void **state) {
    (void)state;
    static const double step[] = {1, 1.0 / 32, 1.0 / 1024}; /* no mode, one, three */
    static const long modes[] = {0, 1, 3};
    for (double dt = 1; dt > 1e-9; dt /= 3) { /* p + 1 = 0.081 (theta dt)^(-1/3), theta = 0.01, rounded up */
        long p = 0;
        while (LGV_AREA_MORE(p, dt)) p++;
        assert_int_equal(p, (long)fmax(ceil(0.081 * cbrt(100 / dt)) - 1, 0));
    }
    struct lgv_model *m = model_of(NILPOTENT);
    struct lgv_kernel k = kernel_of(m, "P1N1Q2Gau-Levy");
    const size_t lanes = k.entry->lanes, rows = lgv_increments_rows(&k);
    double *x[4], *drawn = lgv_aligned(rows * lanes);
    for (size_t i = 0; i < 4; i++) x[i] = lgv_new(PATHS, sizeof *x[i]);
    for (size_t s = 0; s < 3; s++) {
        const double dt = step[s];
        struct areas r = run(&k, 1);
        free(r.value);
        r.value = final_values(&k, dt, 1, PATHS, 41, 1);
        long p = 0;
        while (LGV_AREA_MORE(p, dt)) p++;
        assert_int_equal(p, modes[s]);
        struct lgv_own_block b;
        assert_true(lgv_block_create(&k, 0, dt, 41, 1, &b));
        for (size_t path = 0; path < PATHS; path++) {
            if (path % lanes == 0) {
                for (size_t l = 0; l < lanes; l++) b.path[l] = path + l;
                k.entry->increments(&b.block, 1, drawn);
            }
            double W[3], y[3], A[3];
            for (size_t i = 0; i < 3; i++) {
                W[i] = drawn[i * lanes + path % lanes] / sqrt(dt);
                y[i] = drawn[(3 + i) * lanes + path % lanes] / (dt * sqrt(dt)) - W[i] / 2;
                A[i] = r.value[path * r.n + r.A[i]] / dt;
                assert_near(r.value[path * r.n + r.W[i]], W[i] * sqrt(dt), 1e-14, "W");
            }
            double c = A[0] - y[0] * W[1] + W[0] * y[1], d = A[1] - y[0] * W[2] + W[0] * y[2];
            if (path < 100) {
                double again[3];
                areas_again(path, p, W, y, again);
                for (int i = 0; i < 3; i++) assert_near(A[i], again[i], 1e-11, "area");
            }
            x[0][path] = c * c;
            x[1][path] = c * c * (y[0] * y[0] + y[1] * y[1]);
            x[2][path] = c * d * y[1] * y[2];
            x[3][path] = c * d * W[1] * W[2] + c * W[0] * W[1];
        }
        print_message("dt = %g, %ld modes\n", dt, p);
        expect(x[0], 1.0 / 12, 0, "E b^2 = 1/12");
        expect(x[1], 1.0 / 90 + 1.0 / 120, 0, "E b^2 |y|^2 = 7/360");
        expect(x[2], 1.0 / 720, 0, "E b b' y y' = 1/720");
        expect(x[3], 0, 0, "b and W");
        lgv_block_free(&b);
        free(r.value);
    }
    for (size_t i = 0; i < 4; i++) free(x[i]);
    free(drawn);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* Coarse steps of one path have the same W and A at the end, whatever their number; other inner methods too. */
static void test_chen(void **state) {
    (void)state;
    struct lgv_model *m = model_of(NILPOTENT);
    static const char *const method[] = {"P1N1Q2Gau-Levy", "P2N2Q4Gau-Levy", "Heun-Levy"};
    double worst = 0;
    struct lgv_kernel first = kernel_of(m, method[0]);
    struct areas fine = run(&first, 1);
    for (size_t j = 0; j < 3; j++) {
        struct lgv_kernel k = kernel_of(m, method[j]);
        for (uint64_t coarsen = 1; coarsen <= MOST; coarsen *= 4) {
            struct areas coarse = run(&k, coarsen);
            for (size_t i = 0; i < PATHS; i++)
                for (size_t c = 0; c < 3; c++) {
                    size_t A = i * fine.n + fine.A[c], W = i * fine.n + fine.W[c];
                    worst = fmax(worst, fabs(coarse.value[A] - fine.value[A]));
                    worst = fmax(worst, fabs(coarse.value[W] - fine.value[W]));
                }
            free(coarse.value);
        }
        lgv_kernel_free(&k);
    }
    print_message("Chen: %.2g\n", worst);
    assert_true(worst < 5e-14);
    free(fine.value);
    lgv_kernel_free(&first);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_law), cmocka_unit_test(test_given),
                                       cmocka_unit_test(test_chen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
