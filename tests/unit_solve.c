/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The linear systems of the kernels: residuals of random systems, lanes that need pivoting, singular and infinite
 * lanes, and that no lane changes the bits of another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../src/kernel/text/lanes.h"
#include "../src/kernel/text/solve.h"

enum { LARGEST = 12 };

static vec A[LARGEST * LARGEST], b[LARGEST], copyA[LARGEST * LARGEST], copyb[LARGEST], scratch[LARGEST * (LARGEST + 1)];
static ivec singular;
static uint64_t random_state;

static double random_symmetric(void) { /* splitmix64, in (-1, 1) */
    uint64_t z = (random_state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
}

/* Newton-like systems for diagonal = 1, general ones for 0. */
static void fill(int n, double diagonal) {
    for (int i = 0; i < n * n; i++) {
        for (int l = 0; l < LANES; l++) {
            A[i][l] = (i % (n + 1) == 0 ? diagonal : 0.0) + (diagonal > 0.0 ? 0.3 / n : 1.0) * random_symmetric();
        }
    }
    for (int i = 0; i < n; i++) {
        for (int l = 0; l < LANES; l++) {
            b[i][l] = random_symmetric();
        }
    }
}

/* Constant n as in generated kernels, so that the unrolled forms are what is tested. */
static void solve(int n) {
    memcpy(copyA, A, sizeof A);
    memcpy(copyb, b, sizeof b);
    switch (n) {
    case 1: solve_dense(1, A, b, NULL, &singular); break;
    case 2: solve_dense(2, A, b, NULL, &singular); break;
    case 3: solve_dense(3, A, b, NULL, &singular); break;
    case 4: solve_dense(4, A, b, NULL, &singular); break;
    default: solve_dense(n, A, b, scratch, &singular);
    }
}

/* Largest |A x - b| over (|A| |x| + |b|) of a lane, in units of 2^-53. */
static double residual(int n, int l) {
    double top = 0, scale = 0;
    for (int i = 0; i < n; i++) {
        long double r = -(long double)copyb[i][l], s = fabsl(r);
        for (int j = 0; j < n; j++) {
            long double term = (long double)copyA[i * n + j][l] * (long double)b[j][l];
            r += term;
            s += fabsl(term);
        }
        top = fmax(top, (double)fabsl(r));
        scale = fmax(scale, (double)s);
    }
    return top / scale * 0x1p53;
}

/* Diagonally dominant: every route is backward stable, n roundings or so. */
static void test_newton_like(void **state) {
    (void)state;
    for (int n = 1; n <= LARGEST; n++) {
        double worst = 0;
        random_state = (uint64_t)n;
        for (int k = 0; k < 2000; k++) {
            fill(n, 1.0);
            solve(n);
            for (int l = 0; l < LANES; l++) {
                worst = fmax(worst, residual(n, l));
            }
            assert_false(vec_any(singular));
        }
        print_message("n = %2d: residual %.2f\n", n, worst);
        assert_true(worst <= 4.0 + n);
    }
}

/* General matrices: pivots down to 1e-3 of their column pass, which may cost three digits; Cramer's rule for n = 2 is
 * accurate to the condition number, which is below 1e4 in all but one of 1e4 such matrices. */
static void test_general(void **state) {
    (void)state;
    for (int n = 1; n <= LARGEST; n++) {
        long above = 0, count = 0;
        double worst = 0;
        random_state = 100 + (uint64_t)n;
        for (int k = 0; k < 2000; k++) {
            fill(n, 0.0);
            solve(n);
            for (int l = 0; l < LANES; l++) {
                double r = residual(n, l);
                above += !(r <= 1e4);
                worst = fmax(worst, r);
                count++;
            }
            assert_false(vec_any(singular));
        }
        print_message("n = %2d: residual %.1f, %ld of %ld above 1e4\n", n, worst, above, count);
        assert_true(above * 1000 <= count);
        assert_true(worst <= 1e7);
    }
}

/* A permutation matrix with zero or tiny first pivots plus a small part, in one lane only: solved as well as any other,
 * and the other lanes have the bits they have without it. */
static void check_pivoting(int n, int l, double diagonal) {
    vec keepA[LARGEST * LARGEST], keepb[LARGEST], alone[LARGEST];
    random_state = (uint64_t)(1000 * n + l);
    fill(n, 1.0);
    memcpy(keepA, A, sizeof A);
    memcpy(keepb, b, sizeof b);
    solve(n);
    memcpy(alone, b, sizeof b);
    memcpy(A, keepA, sizeof A);
    memcpy(b, keepb, sizeof b);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            A[i * n + j][l] = i == j ? diagonal : j == (i + n - 1) % n ? 1.0 : 0.1 / n * random_symmetric();
        }
    }
    solve(n);
    assert_false(vec_any(singular));
    assert_true(residual(n, l) <= 4.0 + n);
    for (int m = 0; m < LANES; m++) {
        for (int i = 0; i < n && m != l; i++) {
            double x = b[i][m], y = alone[i][m];
            assert_true(memcmp(&x, &y, sizeof x) == 0);
        }
    }
}

static void test_pivoting(void **state) {
    (void)state;
    for (int n = 2; n <= LARGEST; n++) {
        for (int l = 0; l < LANES; l++) {
            check_pivoting(n, l, 0.0);
            check_pivoting(n, l, 1e-9);
        }
    }
}

/* Lane 0 is spoiled in the given way; it must be marked and NaN, and nothing else. */
static void assert_singular(int n) {
    solve(n);
    for (int l = 0; l < LANES; l++) {
        assert_int_equal(singular[l], l == 0 ? -1 : 0);
        for (int i = 0; i < n; i++) {
            assert_true(l == 0 ? isnan(b[i][l]) : isfinite(b[i][l]));
        }
    }
}

static void test_singular(void **state) {
    (void)state;
    for (int n = 1; n <= LARGEST; n++) {
        random_state = (uint64_t)n;
        fill(n, 1.0);
        for (int i = 0; i < n; i++) { /* a column of zeros */
            A[i * n + n - 1][0] = 0.0;
        }
        assert_singular(n);
        fill(n, 1.0);
        for (int j = 0; j < n; j++) { /* two equal rows of powers of two: elimination is exact; n = 1: zero */
            A[j][0] = n == 1 ? 0.0 : ldexp(1.0, j);
            A[(n - 1) * n + j][0] = A[j][0];
        }
        assert_singular(n);
        static const double spoiled[] = {NAN, INFINITY, -INFINITY};
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < n; i++) {
                fill(n, 1.0);
                A[i * n + i][0] = spoiled[k];
                assert_singular(n);
                fill(n, 1.0);
                b[i][0] = spoiled[k];
                assert_singular(n);
            }
        }
        fill(n, 1.0);
        for (int i = 0; i < n * n; i++) {
            A[i] = vec_set(0.0);
        }
        solve(n);
        assert_true(vec_all(singular));
    }
}

/* Entries near the ends of the range of doubles: determinants overflow, underflow or lose digits as denormal numbers,
 * the solution does not.  With b scaled alike the solution is of order 1, without it of order 1 / scale. */
static void test_scaled(void **state) {
    (void)state;
    static const double scales[] = {1e-200, 1e-160, 1e-154, 1e-150, 1e150, 1e200};
    for (int n = 1; n <= LARGEST; n++) {
        for (int k = 0; k < 12; k++) {
            fill(n, 1.0);
            for (int i = 0; i < n * n; i++) {
                A[i] *= scales[k / 2];
            }
            for (int i = 0; i < n && k % 2; i++) {
                b[i] *= scales[k / 2];
            }
            solve(n);
            assert_false(vec_any(singular));
            for (int l = 0; l < LANES; l++) {
                assert_true(residual(n, l) <= 4.0 + n);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newton_like), cmocka_unit_test(test_general), cmocka_unit_test(test_pivoting),
        cmocka_unit_test(test_singular),    cmocka_unit_test(test_scaled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
