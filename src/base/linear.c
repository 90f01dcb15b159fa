/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Small dense matrices on the host: elimination with row interchanges, and what follows from it; Jacobi's method for
 * symmetric ones. */
#include "base/base.h"
#include <math.h>

static void exchange(int count, long double *a, long double *b) {
    for (int j = 0; j < count; j++) {
        long double keep = a[j];
        a[j] = b[j];
        b[j] = keep;
    }
}

/* Column k of A vanishes below the diagonal and, when there are right sides B [n][m], above it too.  Returns the first
 * column whose largest pivot is not above `least`, or -1; *sign: of the interchanges. */
static int eliminate(int n, int m, long double *A, long double *B, long double least, int *sign) {
    *sign = 1;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabsl(A[i * n + k]) > fabsl(A[best * n + k])) best = i;
        if (!(fabsl(A[best * n + k]) > least)) return k;
        if (best != k) {
            *sign = -*sign;
            exchange(n, A + k * n, A + best * n);
            exchange(m, B + k * m, B + best * m);
        }
        for (int i = m ? 0 : k + 1; i < n; i++) {
            long double f = A[i * n + k] / A[k * n + k];
            if (i == k) continue;
            for (int j = k; j < n; j++) A[i * n + j] -= f * A[k * n + j];
            for (int j = 0; j < m; j++) B[i * m + j] -= f * B[k * m + j];
        }
    }
    return -1;
}

bool lgv_linear_solve(int n, int m, long double *A, long double *B, long double least) {
    int sign;
    if (eliminate(n, m, A, B, least, &sign) >= 0) return false;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) B[i * m + j] /= A[i * n + i];
    return true;
}

long double lgv_linear_determinant(int n, long double *A) {
    int sign;
    if (eliminate(n, 0, A, A, 0, &sign) >= 0) return 0;
    long double product = sign;
    for (int i = 0; i < n; i++) product *= A[i * n + i];
    return product;
}

int lgv_linear_dependent(int n, long double *A, long double least) {
    int sign;
    for (int i = 0; i < n; i++) {
        long double size = 0;
        for (int j = 0; j < n; j++) size = fmaxl(size, fabsl(A[i * n + j]));
        for (int j = 0; j < n && size > 0; j++) A[i * n + j] /= size;
    }
    return eliminate(n, 0, A, A, least, &sign);
}

void lgv_linear_rotate(size_t n, double *A, double *Q, size_t i, size_t j) {
    double a = A[i * n + j];
    if (a == 0) return;
    double tau = (A[j * n + j] - A[i * n + i]) / (2 * a);
    double t = (tau >= 0 ? 1 : -1) / (fabs(tau) + sqrt(1 + tau * tau)), c = 1 / sqrt(1 + t * t), s = t * c;
    for (size_t k = 0; k < n; k++) {
        double x = A[k * n + i], y = A[k * n + j];
        A[k * n + i] = c * x - s * y;
        A[k * n + j] = s * x + c * y;
    }
    for (size_t k = 0; k < n; k++) {
        double x = A[i * n + k], y = A[j * n + k];
        A[i * n + k] = c * x - s * y;
        A[j * n + k] = s * x + c * y;
        x = Q[k * n + i], y = Q[k * n + j];
        Q[k * n + i] = c * x - s * y;
        Q[k * n + j] = s * x + c * y;
    }
}

void lgv_linear_diagonalise(size_t n, double *A, double *Q) {
    for (size_t i = 0; i < n * n; i++) Q[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0, all = 0;
        for (size_t i = 0; i < n * n; i++) {
            all += A[i] * A[i];
            if (i % (n + 1)) off += A[i] * A[i];
        }
        if (off <= 1e-34 * all) return;
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++) lgv_linear_rotate(n, A, Q, i, j);
    }
}
