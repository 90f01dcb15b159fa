/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Coloured noise as numbers.  A process is dz = A z dt + b dW with one row or two; behind them stands the integral of
 * its value, whose law over a step is wanted too.  Over a time h
 *
 *     z(h) = exp(A h) z + L x,   L L^T = Q(h) = integral over 0..h of exp(A s) b b^T exp(A s)^T ds,   x normal.
 *
 * Both are power series for short times, without cancellation in the entry that is smallest, h^3 or h^5; longer ones
 * are doubled, Q(2h) = Q(h) + exp(A h) Q(h) exp(A h)^T, a sum of two semidefinite matrices.  (Van Loan 1978, doi
 * 10.1109/TAC.1978.1101743, has one exponential for both, which loses those small entries.) */
#include "kernel/kernel.h"
#include <math.h>
#include <stdlib.h>

#define N 3                    /* rows at most */
#define NUMBERS (1 + 2 * N * N) /* of a process: rows, exp(A h), L */
#define TERMS 24               /* of the series, at |A| h <= 1/2 */

typedef long double matrix[N][N];

static void multiply(int n, matrix A, matrix B, int transposed, matrix out) {
    matrix C;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int k = 0; k < n; k++) C[i][j] += A[i][k] * (transposed ? B[j][k] : B[k][j]);
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) out[i][j] = C[i][j];
}

/* E = exp(A h) and Q for short h: Q = sum of Q_k h^k / k!, Q_1 = b b^T, Q_(k+1) = A Q_k + Q_k A^T. */
static void series(int n, matrix A, long double square, long double h, matrix E, matrix Q) {
    matrix power = {{0}}, q = {{0}}, left, right;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) E[i][j] = power[i][j] = i == j, Q[i][j] = 0;
    }
    q[0][0] = square * h; /* the noise enters the first row */
    for (int k = 1; k < TERMS; k++) {
        multiply(n, A, power, 0, power);
        multiply(n, A, q, 0, left);
        multiply(n, q, A, 1, right);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                power[i][j] *= h / k;
                E[i][j] += power[i][j];
                Q[i][j] += q[i][j];
                q[i][j] = (left[i][j] + right[i][j]) * h / (k + 1);
            }
    }
}

static void cholesky(int n, matrix Q, matrix L) {
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            long double x = Q[i][j];
            for (int k = 0; k < j; k++) x -= L[i][k] * L[j][k];
            if (i < j) L[i][j] = 0;
            if (i == j) L[j][j] = x > 0 ? sqrtl(x) : 0;
            if (i > j) L[i][j] = L[j][j] > 0 ? x / L[j][j] : 0;
        }
}

static void fill(const double *value, long double h, double *out) {
    const long double sigma = value[LGV_PROCESS_SIGMA], tau = value[LGV_PROCESS_TAU];
    const long double omega = value[LGV_PROCESS_FREQUENCY], gamma = value[LGV_PROCESS_DAMPING];
    const int n = omega > 0 ? 3 : 2;
    matrix A = {{0}}, E, Q, L = {{0}}, moved;
    A[0][0] = n == 3 ? -gamma : -1 / tau;
    A[n - 1][n - 2] = 1; /* the integral of the value */
    if (n == 3) A[1][0] = 1, A[0][1] = -omega * omega;
    /* In units of 1/omega all rows of the oscillator are alike; the norm of A alone would say less. */
    long double rate = n == 3 ? fmaxl(gamma, omega) : 1 / tau, square = 2 * sigma * sigma / tau;
    if (n == 3) square = 2 * sigma * sigma * gamma * omega * omega;
    int doublings = 0;
    while (doublings < 200 && rate * h > 0.5L) h /= 2, doublings++;
    series(n, A, square, h, E, Q);
    for (; doublings > 0; doublings--) {
        multiply(n, E, Q, 0, moved);
        multiply(n, moved, E, 1, moved);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) Q[i][j] += moved[i][j];
        multiply(n, E, E, 0, E);
    }
    cholesky(n, Q, L);
    out[0] = n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            out[1 + i * N + j] = (double)E[i][j];
            out[1 + N * N + i * N + j] = (double)L[i][j];
        }
}

enum lgv_status lgv_process_prepare(struct lgv_model *m, double **out, struct lgv_error *err) {
    free(*out);
    *out = lgv_new(m->nprocesses * LGV_PROCESS_NUMBERS, sizeof **out);
    return *out ? lgv_model_process_values(m, *out, err) : lgv_fail_memory(err);
}

size_t lgv_process_size(const struct lgv_kernel *k) {
    return k->process ? 1 + k->nprocesses * NUMBERS : 0;
}

void lgv_process_fill(const struct lgv_kernel *k, double dt, uint64_t coarsen, double *out) {
    out[0] = (double)coarsen;
    for (size_t i = 0; i < k->nprocesses; i++)
        fill(k->process + i * LGV_PROCESS_NUMBERS, (long double)dt / (long double)coarsen, out + 1 + i * NUMBERS);
}
