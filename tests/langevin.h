/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of Langevin dynamics share: matrices in long double with their exponential, the law of a linear
 * equation after a time, steps of compiled kernels with given increments, and their linear maps. */
#ifndef LGV_TESTS_LANGEVIN_H
#define LGV_TESTS_LANGEVIN_H

#include "helpers.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

#define LARGEST 24
typedef struct {
    size_t rows, cols;
    long double at[LARGEST][LARGEST];
} matrix;

static matrix zeros(size_t rows, size_t cols) {
    matrix A = {.rows = rows, .cols = cols};
    assert_true(rows <= LARGEST && cols <= LARGEST);
    return A;
}

static matrix identity(size_t n) {
    matrix A = zeros(n, n);
    for (size_t i = 0; i < n; i++) A.at[i][i] = 1;
    return A;
}

static matrix sum(matrix A, long double a, matrix B) { /* A + a B */
    assert_true(A.rows == B.rows && A.cols == B.cols);
    for (size_t i = 0; i < A.rows; i++)
        for (size_t j = 0; j < A.cols; j++) A.at[i][j] += a * B.at[i][j];
    return A;
}

static matrix scaled(long double a, matrix A) {
    return sum(zeros(A.rows, A.cols), a, A);
}

static matrix product(matrix A, matrix B) {
    matrix C = zeros(A.rows, B.cols);
    assert_true(A.cols == B.rows);
    for (size_t i = 0; i < A.rows; i++)
        for (size_t k = 0; k < A.cols; k++)
            for (size_t j = 0; j < B.cols; j++) C.at[i][j] += A.at[i][k] * B.at[k][j];
    return C;
}

static matrix transposed(matrix A) {
    matrix B = zeros(A.cols, A.rows);
    for (size_t i = 0; i < A.rows; i++)
        for (size_t j = 0; j < A.cols; j++) B.at[j][i] = A.at[i][j];
    return B;
}

static matrix around(matrix A, matrix S) { /* A S A^T */
    return product(product(A, S), transposed(A));
}

static matrix block(matrix A, size_t row, size_t col, size_t rows, size_t cols) {
    matrix B = zeros(rows, cols);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) B.at[i][j] = A.at[row + i][col + j];
    return B;
}

static void put(matrix *A, size_t row, size_t col, matrix B) {
    for (size_t i = 0; i < B.rows; i++)
        for (size_t j = 0; j < B.cols; j++) A->at[row + i][col + j] = B.at[i][j];
}

/* A^-1 and det A, by Gauss and Jordan with pivots. */
static matrix inverse_of(matrix A, long double *determinant) {
    size_t n = A.rows;
    matrix B = identity(n);
    long double det = 1;
    for (size_t k = 0; k < n; k++) {
        size_t p = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabsl(A.at[i][k]) > fabsl(A.at[p][k])) p = i;
        for (size_t j = 0; j < n; j++) {
            long double a = A.at[k][j], b = B.at[k][j];
            A.at[k][j] = A.at[p][j], B.at[k][j] = B.at[p][j];
            A.at[p][j] = a, B.at[p][j] = b;
        }
        long double pivot = A.at[k][k];
        det *= p == k ? pivot : -pivot;
        for (size_t j = 0; j < n; j++) A.at[k][j] /= pivot, B.at[k][j] /= pivot;
        for (size_t i = 0; i < n; i++) {
            long double f = A.at[i][k];
            for (size_t j = 0; i != k && j < n; j++) A.at[i][j] -= f * A.at[k][j], B.at[i][j] -= f * B.at[k][j];
        }
    }
    if (determinant) *determinant = det;
    return B;
}

static matrix inverted(matrix A) {
    return inverse_of(A, NULL);
}

static long double largest(matrix A) {
    long double most = 0;
    for (size_t i = 0; i < A.rows; i++)
        for (size_t j = 0; j < A.cols; j++) most = fmaxl(most, fabsl(A.at[i][j]));
    return most;
}

static matrix exponential(matrix A) { /* Taylor's series of A/2^s, squared s times */
    int s = 0;
    for (long double size = largest(A) * (long double)A.rows; size > 0.25L; size /= 2) s++;
    matrix E = identity(A.rows), term = E;
    A = scaled(ldexpl(1, -s), A);
    for (int k = 1; k < 24; k++) {
        term = scaled(1.0L / k, product(term, A));
        E = sum(E, 1, term);
    }
    for (; s > 0; s--) E = product(E, E);
    return E;
}

static void assert_same_matrix(matrix A, matrix B, double tolerance, const char *what) {
    for (size_t i = 0; i < A.rows; i++)
        for (size_t j = 0; j < A.cols; j++)
            if (!(fabsl(A.at[i][j] - B.at[i][j]) <= tolerance))
                fail_msg("%s, entry (%zu, %zu): %.17Lg is not %.17Lg to %g", what, i, j, A.at[i][j], B.at[i][j],
                         tolerance);
}

/* ---- linear random maps x' = A x + noise with covariance Q ---- */

struct gaussian {
    matrix A, Q;
};

static struct gaussian follow(struct gaussian first, struct gaussian then) {
    return (struct gaussian){product(then.A, first.A), sum(around(then.A, first.Q), 1, then.Q)};
}

static struct gaussian certain(matrix A) {
    return (struct gaussian){A, zeros(A.rows, A.rows)};
}

/* dx = F x dt + noise of covariance S dt, after time h: blocks of exp([-F, S; 0, F^T] h), Van Loan (1978),
 * doi 10.1109/TAC.1978.1101743. */
static struct gaussian flow(matrix F, matrix S, long double h) {
    size_t n = F.rows;
    matrix C = zeros(2 * n, 2 * n);
    put(&C, 0, 0, scaled(-h, F));
    put(&C, 0, n, scaled(h, S));
    put(&C, n, n, scaled(h, transposed(F)));
    C = exponential(C);
    matrix A = transposed(block(C, n, n, n, n));
    return (struct gaussian){A, product(A, block(C, 0, n, n, n))};
}

/* Q = A Q A^T + Q1 after infinitely many steps, by doubling. */
static matrix stationary(struct gaussian step) {
    for (int k = 0; k < 60; k++) step = follow(step, step);
    return step.Q;
}

/* ---- compiled steps ---- */

/* One step from x with the increments given, in place; rows as entry->increments tells them. */
static void step_given(const struct lgv_kernel *k, double t0, double dt, const double *given, double *x) {
    struct lgv_own_block b;
    size_t lanes = k->entry->lanes;
    assert_true(lgv_block_create(k, t0, dt, 1, 1, &b));
    size_t rows = (size_t)k->entry->increments(&b.block, 0, NULL);
    double *all = NULL;
    assert_int_equal(posix_memalign((void **)&all, 128, (rows + 1) * lanes * sizeof *all), 0);
    for (size_t l = 0; l < lanes; l++) {
        b.path[l] = l;
        for (size_t i = 0; i < k->nx + k->np; i++) b.block.state[i * lanes + l] = x[i];
        for (size_t r = 0; r < rows; r++) all[r * lanes + l] = given ? given[r] : 0;
    }
    b.block.given = all;
    k->entry->advance(&b.block, 1);
    for (size_t i = 0; i < k->nx + k->np; i++) x[i] = b.block.state[i * lanes];
    assert_int_equal(b.block.fail[0], 0);
    free(all);
    lgv_block_free(&b);
}

static size_t rows_of(const struct lgv_kernel *k) {
    struct lgv_own_block b;
    assert_true(lgv_block_create(k, 0, 1, 1, 1, &b));
    size_t rows = (size_t)k->entry->increments(&b.block, 0, NULL);
    lgv_block_free(&b);
    return rows;
}

/* Variances and covariance of E and F over a time h at rate g, by their integrals. */
static void bath_covariance(long double g, long double h, long double out[3]) {
    static const long double node[] = {0.3399810435848562648L, 0.8611363115940525752L},
                             weight[] = {0.6521451548625461426L, 0.3478548451374538574L};
    const int panels = 64 + (int)(32 * g * h);
    out[0] = out[1] = out[2] = 0;
    for (int k = 0; k < panels; k++)
        for (int i = 0; i < 4; i++) {
            long double s = h / panels * ((long double)k + (1 + (i % 2 ? -1 : 1) * node[i / 2]) / 2);
            long double w = h / panels / 2 * weight[i / 2];
            long double e = expl(-g * s), f = g > 0 ? -expm1l(-g * s) / g : s;
            out[0] += w * e * e;
            out[1] += w * e * f;
            out[2] += w * f * f;
        }
}

/* The random map of a kernel of a linear model with a bath and no other noise. */
static struct gaussian map_of(const struct lgv_kernel *k, double dt) {
    const size_t n = k->nx + k->np, rows = rows_of(k), channels = k->bath->channels;
    const size_t spans = lgv_method_spans(k->method), drawn = spans * channels;
    struct gaussian g = {zeros(n, n), zeros(n, n)};
    matrix B = zeros(n, rows), C = zeros(rows, rows);
    double zero[LARGEST] = {0};
    assert_true(rows == drawn || rows == 2 * drawn);
    step_given(k, 0, dt, NULL, zero);
    for (size_t j = 0; j < n + rows; j++) {
        double x[LARGEST] = {0}, given[LARGEST] = {0};
        (j < n ? x : given)[j < n ? j : j - n] = 1;
        step_given(k, 0, dt, given, x);
        for (size_t i = 0; i < n; i++)
            (j < n ? &g.A : &B)->at[i][j < n ? j : j - n] = (long double)x[i] - zero[i];
    }
    for (size_t r = 0; r < drawn; r++) {
        long double c[3];
        bath_covariance(k->bath->noise_rate[r % channels], (long double)dt / (long double)spans, c);
        C.at[r][r] = c[0];
        if (rows == drawn) continue;
        C.at[r][drawn + r] = C.at[drawn + r][r] = c[1];
        C.at[drawn + r][drawn + r] = c[2];
    }
    g.Q = around(B, C);
    return g;
}

#pragma GCC diagnostic pop
#endif
