/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Implicit methods on more than a few degrees of freedom, by iterations without dense matrices: the ring of Fermi,
 * Pasta, Ulam and Tsingou with two noises against the dense Newton method (the same ring as C functions), against a
 * fixed-point iteration written here, and where that iteration diverges; symplecticity; systems too dense for factors;
 * lanes on their own. */
#include "helpers.h"
#include <lgv/lgv.h>

#define ALPHA 0.25
#define BETA 0.5
#define RING                                                                                                           \
    "coordinates: {'x[N]': 0.2*sin(i)}\nmomenta: {p: 0.3*cos(2*i)}\nwhere: {V(r): r^2/2 + 0.25*r^3/3 + 0.5*r^4/4}\n"   \
    "potential: sum(i=1..N, V(x[wrap(i+1)] - x[i]))\nnoise: ['0.1*sum(i=1..N, x[i]^2/2)', '0.2*sin(x[1])']\n"
#define MOST 1000

static struct lgv_model *ring(int n) {
    char text[600];
    snprintf(text, sizeof text, "parameters: {N: %d}\n" RING, n);
    return model_of(text);
}

/* ---- the same ring as C functions, for which Newton's method is dense ---- */

static void gradient(void *user, const struct lgv_batch *b, double *Hq, double *Hp, double *hq, double *hp) {
    size_t n = *(size_t *)user, lanes = b->lanes;
    for (size_t i = 0; i < 2 * n * lanes; i++) {
        if (hq) hq[i] = 0;
        if (hp) hp[i] = 0;
    }
    for (size_t l = 0; l < lanes; l++) {
        for (size_t i = 0; i < n; i++) {
            double before = b->q[i * lanes + l] - b->q[(i + n - 1) % n * lanes + l];
            double after = b->q[(i + 1) % n * lanes + l] - b->q[i * lanes + l];
            if (Hq)
                Hq[i * lanes + l] = before + ALPHA * before * before + BETA * before * before * before - after -
                                    ALPHA * after * after - BETA * after * after * after;
            if (Hp) Hp[i * lanes + l] = b->p[i * lanes + l];
            if (hq) hq[i * lanes + l] = 0.1 * b->q[i * lanes + l];
        }
        if (hq) hq[n * lanes + l] = 0.2 * cos(b->q[l]);
    }
}

static void clear(double *x, size_t count) {
    for (size_t i = 0; x && i < count; i++) x[i] = 0;
}

static void hessian(void *user, const struct lgv_batch *b, double *Hqq, double *Hqp, double *Hpp, double *hqq,
                    double *hqp, double *hpp) {
    size_t n = *(size_t *)user, lanes = b->lanes, count = n * n * lanes;
    clear(Hqq, count), clear(Hqp, count), clear(Hpp, count);
    clear(hqq, 2 * count), clear(hqp, 2 * count), clear(hpp, 2 * count);
    for (size_t l = 0; l < lanes; l++) {
        for (size_t i = 0; i < n; i++) {
            size_t j = (i + 1) % n;
            double r = b->q[j * lanes + l] - b->q[i * lanes + l], k = 1 + 2 * ALPHA * r + 3 * BETA * r * r;
            if (Hpp) Hpp[(i * n + i) * lanes + l] = 1;
            if (hqq) hqq[(i * n + i) * lanes + l] = 0.1;
            if (!Hqq) continue;
            Hqq[(i * n + i) * lanes + l] += k;
            Hqq[(j * n + j) * lanes + l] += k;
            Hqq[(i * n + j) * lanes + l] -= k;
            Hqq[(j * n + i) * lanes + l] -= k;
        }
        if (hqq) hqq[n * n * lanes + l] = -0.2 * sin(b->q[l]);
    }
}

/* The state of path 0 after some steps, q then p; the other lanes have paths from `others` on. */
static double walk_beside(const struct lgv_kernel *k, size_t others, double dt, uint64_t steps, double *x) {
    struct lgv_own_block b;
    assert_true(lgv_block_create(k, 0, dt, 7, 1, &b));
    for (size_t l = 0; l < k->entry->lanes; l++) b.path[l] = l ? others + l : 0;
    k->entry->start(&b.block);
    k->entry->advance(&b.block, steps);
    for (size_t i = 0; i < k->nx + k->np; i++) x[i] = b.block.state[i * k->entry->lanes];
    assert_int_equal(b.block.fail[0], LGV_FAIL_NONE);
    double iterations = (double)b.block.iterations / (double)steps;
    lgv_block_free(&b);
    return iterations;
}

static double walk(const struct lgv_kernel *k, double dt, uint64_t steps, double *x) {
    return walk_beside(k, 0, dt, steps, x);
}

static double difference(size_t n, const double *x, const double *y) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(isfinite(x[i]) && isfinite(y[i]));
        most = fmax(most, fabs(x[i] - y[i]));
    }
    return most;
}

static void against_dense(size_t n, const char *method, double dt, uint64_t steps, double tolerance) {
    double q[60], p[60], x[120], y[120];
    assert_true(n <= 60);
    struct lgv_error err = {0};
    for (size_t i = 0; i < n; i++) {
        q[i] = 0.2 * sin((double)i + 1);
        p[i] = 0.3 * cos(2 * ((double)i + 1));
    }
    struct lgv_callbacks cb = {.name = "ring", .dof = n, .noises = 2, .user = &n, .q0 = q, .p0 = p, .separable = 1,
                               .noise_of_q = 1, .constant_mass = 1, .gradient = gradient, .hessian = hessian};
    struct lgv_model *m = ring((int)n), *other = NULL;
    assert_int_equal(lgv_model_from_callbacks(&cb, &other, &err), LGV_OK);
    struct lgv_kernel k = kernel_of(m, method), dense = kernel_of(other, method);
    double iterations = walk(&k, dt, steps, x), newton = walk(&dense, dt, steps, y), d = difference(2 * n, x, y);
    print_message("%zu sites, %s, dt = %g: %.2g from the dense method; %.3g iterations, %.3g dense\n", n, method, dt,
                  d, iterations, newton);
    if (!(d <= tolerance)) fail_msg("%zu sites, %s, dt = %g: %g", n, method, dt, d);
    lgv_kernel_free(&k);
    lgv_kernel_free(&dense);
    lgv_model_free(m);
    lgv_model_free(other);
}

/* Values are of the size 1; each of 5 steps has round-off of some 1e-16 in both. */
static void test_dense(void **state) {
    (void)state;
    static const char *const method[] = {"P1N1Q2Gau", "P2N2Q4Gau", "P3N3Q6Gau", "P2N3Q4Lob", "IEM"};
    static const size_t sites[] = {4, 8, 16, 60};
    for (size_t i = 0; i < sizeof method / sizeof *method; i++)
        for (size_t k = 0; k < sizeof sites / sizeof *sites; k++) {
            against_dense(sites[k], method[i], 0.1, 5, 1e-13);
            against_dense(sites[k], method[i], 0.5, 5, 1e-13); /* slow: Chebyshev's iteration, or Newton's method */
        }
}

/* x <- K_p((q + q')/2) in plain C.  Returns the last correction: large where this does not converge. */
static double fixed_point(size_t n, double dt, const double *dW, double *q, double *p, int rounds) {
    static double x[MOST], m[MOST], f[MOST];
    double most = 0;
    for (size_t i = 0; i < n; i++) x[i] = dt * p[i];
    for (int it = 0; it < rounds; it++) {
        most = 0;
        for (size_t i = 0; i < n; i++) m[i] = q[i] + x[i] / 2;
        for (size_t i = 0; i < n; i++) {
            double a = m[i] - m[(i + n - 1) % n], b = m[(i + 1) % n] - m[i];
            f[i] = dt * (b + ALPHA * b * b + BETA * b * b * b - a - ALPHA * a * a - BETA * a * a * a) -
                   0.1 * m[i] * dW[0] - (i == 0 ? 0.2 * cos(m[0]) * dW[1] : 0);
        }
        for (size_t i = 0; i < n; i++) {
            double next = dt * (p[i] + f[i] / 2);
            if (!(fabs(next - x[i]) <= most)) most = fabs(next - x[i]); /* NaN too */
            x[i] = next;
        }
    }
    for (size_t i = 0; i < n; i++) {
        q[i] += x[i];
        p[i] += f[i];
    }
    return most;
}

static void test_fixed_point(void **state) {
    (void)state;
    static double x[2 * MOST], y[2 * MOST];
    double dW[2], dt = 0.1;
    struct lgv_model *m = ring(MOST);
    struct lgv_kernel k = kernel_of(m, "midpoint");
    for (size_t i = 0; i < MOST; i++) {
        y[i] = 0.2 * sin((double)i + 1);
        y[MOST + i] = 0.3 * cos(2 * ((double)i + 1));
    }
    for (uint64_t step = 0; step < 20; step++) {
        increments_of(7, 0, step, dt, 2, dW);
        assert_true(fixed_point(MOST, dt, dW, y, y + MOST, 40) < 1e-15);
    }
    double iterations = walk(&k, dt, 20, x), d = difference(2 * (size_t)MOST, x, y);
    print_message("%d sites: %.2g from the fixed point, %.3g iterations\n", MOST, d, iterations);
    assert_true(d <= 1e-13);
    assert_true(iterations < 10); /* no Newton's method here */
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* An iteration that is slow, by factors of 0.6 to 0.8 a round, goes on until round-off. */
static void test_slow(void **state) {
    (void)state;
    against_dense(16, "P2N2Q4Gau", 1.4, 5, 2e-14);
    against_dense(16, "P3N3Q6Gau", 1.6, 5, 2e-14);
    against_dense(8, "P3N3Q6Gau", 1.8, 5, 2e-14);
}

/* dt omega = 3: the fixed point goes away by a factor of about 2; Newton's method finds what the dense one finds. */
static void test_stiff(void **state) {
    (void)state;
    double q[60], p[60], dW[2] = {0, 0};
    for (size_t i = 0; i < 60; i++) {
        q[i] = 0.2 * sin((double)i + 1);
        p[i] = 0.3 * cos(2 * ((double)i + 1));
    }
    assert_false(fixed_point(60, 1.5, dW, q, p, 60) < 1);
    for (size_t n = 12; n <= 60; n *= 5) {
        against_dense(n, "P1N1Q2Gau", 1.5, 3, 1e-12);
        against_dense(n, "P2N2Q4Gau", 1.5, 3, 1e-12);
    }
}

static void test_symplectic(void **state) {
    (void)state;
    static const char *const method[] = {"P1N1Q2Gau", "P2N2Q4Gau"};
    static const double step[] = {0.1, 1};
    struct lgv_model *m = ring(100);
    double x[200];
    for (int i = 0; i < 4; i++) {
        struct lgv_kernel k = kernel_of(m, method[i / 2]);
        struct lgv_defect how = {0};
        double dt = step[i % 2];
        walk(&k, dt, 3, x);
        double d = lgv_certificate_defect(&k, 0, dt, 7, 0, 3, x, NULL, NULL, NULL, &how);
        print_message("%s, dt = %g: defect %.2g\n", method[i / 2], dt, d);
        assert_true(d >= 0 && d < 1e-11 && how.error < 1e-9);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* Where all sites move alike the first round is nearly exact, and what is left is not: that must not pass for done. */
static void test_smooth(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {N: 60}\ncoordinates: {'x[N]': 0}\nmomenta: {p: 1}\n"
                                   "hamiltonian: sum(i=1..N, p[i]^2/2 + (x[wrap(i+1)] - x[i])^2/2 + x[i]^4/4)\n"
                                   "noise: 0.1*sum(i=1..N, x[i])\n");
    static const char *const method[] = {"midpoint", "gauss4", "midpoint-yoshida4"};
    for (size_t i = 0; i < sizeof method / sizeof *method; i++) {
        struct lgv_kernel k = kernel_of(m, method[i]);
        struct lgv_defect how = {0};
        double *x = lgv_new(2 * m->np, sizeof *x);
        walk(&k, 0.02, 3, x);
        double d = lgv_certificate_defect(&k, 0, 0.02, 7, 0, 3, x, NULL, NULL, NULL, &how);
        print_message("%s: defect %.2g, known to %.2g\n", method[i], d, how.error);
        assert_true(d >= 0 && d < 1e-12);
        free(x);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* A ring of any size has no dense matrices. */
static void test_limits(void **state) {
    (void)state;
    struct lgv_model *m = ring(3000);
    struct lgv_kernel k = kernel_of(m, "midpoint");
    struct lgv_own_block b;
    assert_true(lgv_block_create(&k, 0, 0.1, 1, 1, &b));
    lgv_block_start(&k, &b, 0, k.entry->lanes);
    k.entry->advance(&b.block, 1);
    assert_int_equal(b.block.fail[0], LGV_FAIL_NONE);
    assert_true(b.block.scratch->room / (k.entry->lanes * sizeof(double)) < 60 * 3000);
    lgv_block_free(&b);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* Everything is coupled with everything: too many entries for any factors.  The force is a mean field, which is written
 * here in plain C; dt^2 omega^2 / 4 is about 0.2 and 0.8 at most. */
static void test_coupled(void **state) {
    (void)state;
    enum { N = 2100 };
    static double q[2 * N], x[2 * N], v[N], f[N];
    struct lgv_model *m = model_of("parameters: {N: 2100}\ncoordinates: {'x[N]': 0.5*sin(i)}\nmomenta: {p: cos(2*i)}\n"
                                   "potential: -sum(i=1..N, sum(j=i+1..N, cos(x[i] - x[j])))/N\n");
    struct lgv_kernel k = kernel_of(m, "midpoint");
    for (double dt = 1; dt < 3; dt++) {
        for (int i = 0; i < N; i++) {
            q[i] = 0.5 * sin(i + 1);
            q[N + i] = cos(2 * (i + 1));
            v[i] = 0;
        }
        for (int round = 0; round < 200; round++) { /* v: the velocity between, damped for the larger step */
            double c = 0, s = 0, move = 0;
            for (int i = 0; i < N; i++) {
                c += cos(q[i] + dt * v[i] / 2) / N;
                s += sin(q[i] + dt * v[i] / 2) / N;
            }
            for (int i = 0; i < N; i++) {
                double a = q[i] + dt * v[i] / 2;
                f[i] = s * cos(a) - c * sin(a);
                double e = q[N + i] + dt * f[i] / 2 - v[i];
                move = fmax(move, fabs(e));
                v[i] += 0.7 * e;
            }
            if (round == 199) assert_true(move < 1e-14);
        }
        for (int i = 0; i < N; i++) {
            q[i] += dt * v[i];
            q[N + i] += dt * f[i];
        }
        double iterations = walk(&k, dt, 1, x), d = difference(2 * (size_t)N, x, q);
        print_message("%d coupled sites, dt = %g: %.2g from the fixed point, %.3g iterations\n", N, dt, d, iterations);
        assert_true(d <= 1e-13);
    }
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* A path has its bits whatever the others need: the fixed point, Chebyshev's iteration, Newton's method, sparse and
 * dense.  Where the fixed point goes to infinity, that is not taken for the next state. */
static void alone(size_t n) {
    char text[400];
    snprintf(text, sizeof text, "parameters: {N: %zu}\ncoordinates: {'x[N]': 0}\nmomenta: {p: 'normal(0, 1)'}\n"
             "potential: sum(i=1..N, (x[wrap(i+1)] - x[i])^2/2 + (x[wrap(i+1)] - x[i])^4/4)\n"
             "noise: 0.3*sum(i=1..N, x[i]^2/2)\n", n);
    struct lgv_model *m = model_of(text);
    double x[80], y[80];
    for (double dt = 0.1; dt < 2; dt *= 2) {
        struct lgv_kernel k = kernel_of(m, "midpoint");
        double first = walk_beside(&k, 0, dt, 20, x), second = walk_beside(&k, 1000, dt, 20, y);
        print_message("%zu sites, dt = %g: %.3g and %.3g iterations\n", n, dt, first, second);
        assert_memory_equal(x, y, 2 * n * sizeof *x);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

static void test_alone(void **state) {
    (void)state;
    alone(10);
    alone(40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense),  cmocka_unit_test(test_fixed_point), cmocka_unit_test(test_stiff),
        cmocka_unit_test(test_slow),   cmocka_unit_test(test_symplectic),  cmocka_unit_test(test_smooth),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_coupled),     cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
