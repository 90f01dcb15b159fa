/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linear systems of single lanes by LU with partial pivoting, for lanes that solve.h cannot solve together with the
 * others.  Seldom and of any size, so it is in the half of the text that kernels share.
 * This file has no includes; it follows lanes.h. */
#ifndef LGV_PIVOT_H
#define LGV_PIVOT_H

#define SOLVE_COLUMNS 256 /* larger systems have their rows scaled only */

/* Solves the lanes of the mask again, from the copy in A and b; the mask keeps those that are singular. */
SHARED __attribute__((cold)) void solve_again(int n, UNKEPT vec *A, UNKEPT vec *b, UNKEPT ivec *mask);

#if LGV_HALF != 2
/* Gaussian elimination with partial pivoting on one lane of A [n][n] and b [n], in place.  0 if singular: if a pivot is
 * round-off of its column, columns and rows being scaled to 1: unknowns and equations may have very different units. */
static __attribute__((noinline, cold)) int solve_lane(int n, int lane, vec *A, vec *b) {
    double *a = (double *)A + lane, *x = (double *)b + lane;
#define SOLVE_AT(i, j) a[((i)*n + (j)) * LANES]
    double column[SOLVE_COLUMNS];
    PLAIN for (int j = 0; j < n && n <= SOLVE_COLUMNS; j++) {
        column[j] = 0.0;
        PLAIN for (int i = 0; i < n; i++) {
            column[j] = __builtin_fmax(column[j], __builtin_fabs(SOLVE_AT(i, j)));
        }
        PLAIN for (int i = 0; i < n && column[j] > 0.0; i++) {
            SOLVE_AT(i, j) /= column[j];
        }
    }
    PLAIN for (int i = 0; i < n; i++) {
        double size = 0.0;
        PLAIN for (int j = 0; j < n; j++) {
            size = __builtin_fmax(size, __builtin_fabs(SOLVE_AT(i, j)));
        }
        PLAIN for (int j = 0; j < n && size > 0.0; j++) {
            SOLVE_AT(i, j) /= size;
        }
        x[i * LANES] /= size > 0.0 ? size : 1.0;
    }
    PLAIN for (int k = 0; k < n; k++) {
        int best = k;
        double above = 0.0;
        PLAIN for (int i = 0; i < k; i++) {
            above = __builtin_fmax(above, __builtin_fabs(SOLVE_AT(i, k)));
        }
        PLAIN for (int i = k + 1; i < n; i++) {
            if (__builtin_fabs(SOLVE_AT(i, k)) > __builtin_fabs(SOLVE_AT(best, k))) {
                best = i;
            }
        }
        double pivot = __builtin_fabs(SOLVE_AT(best, k));
        if (!(pivot > 2e-15 * n * above && pivot <= 1.79769313486231570815e+308)) {
            return 0;
        }
        PLAIN for (int j = k; j < n && best != k; j++) {
            double other = SOLVE_AT(best, j);
            SOLVE_AT(best, j) = SOLVE_AT(k, j);
            SOLVE_AT(k, j) = other;
        }
        double right = x[best * LANES];
        x[best * LANES] = x[k * LANES];
        x[k * LANES] = right;
        PLAIN for (int i = k + 1; i < n; i++) {
            double factor = SOLVE_AT(i, k) / SOLVE_AT(k, k);
            PLAIN for (int j = k + 1; j < n; j++) {
                SOLVE_AT(i, j) -= factor * SOLVE_AT(k, j);
            }
            x[i * LANES] -= factor * right;
        }
    }
    double sum = 0.0;
    PLAIN for (int i = n - 1; i >= 0; i--) {
        PLAIN for (int j = i + 1; j < n; j++) {
            x[i * LANES] -= SOLVE_AT(i, j) * x[j * LANES];
        }
        x[i * LANES] /= SOLVE_AT(i, i);
    }
    PLAIN for (int i = 0; i < n; i++) {
        if (n <= SOLVE_COLUMNS && column[i] > 0.0) {
            x[i * LANES] /= column[i];
        }
        sum += __builtin_fabs(x[i * LANES]);
    }
#undef SOLVE_AT
    return sum <= 1.79769313486231570815e+308;
}

SHARED void solve_again(int n, vec *A, vec *b, ivec *mask) {
    PLAIN for (int l = 0; l < LANES; l++) {
        if ((*mask)[l] && solve_lane(n, l, A, b)) {
            (*mask)[l] = 0;
        } else if ((*mask)[l]) {
            PLAIN for (int i = 0; i < n; i++) {
                b[i][l] = __builtin_nan("");
            }
        }
    }
}
#endif

#endif
