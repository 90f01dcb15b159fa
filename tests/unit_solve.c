/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The linear systems of the kernels: residuals of random systems, lanes that need pivoting, singular and infinite
 * lanes, and that no lane changes the bits of another.  By kind of system what is singular, and what is free.  Then
 * Newton's method on lanes: lanes that rest keep their bits, those without a solution and singular ones are told. */
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
#include "../src/kernel/text/pivot.h"
#include "../src/kernel/text/solve.h"
#include "../src/kernel/text/system.h"

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

/* ---- kinds of systems ---- */

static ivec solve_kind(enum system_kind kind, int n) {
    switch (n) {
    case 1: return system_solve(kind, 1, A, b, NULL);
    case 2: return system_solve(kind, 2, A, b, NULL);
    case 3: return system_solve(kind, 3, A, b, NULL);
    case 4: return system_solve(kind, 4, A, b, NULL);
    default: return system_solve(kind, n > 4 ? n : 5, A, b, scratch);
    }
}

/* Every kind solves what all of them can. */
static void test_kinds(void **state) {
    (void)state;
    static const enum system_kind kinds[] = {SYSTEM_ANY, SYSTEM_NEAR_ONE, SYSTEM_GRAM, SYSTEM_FREE};
    for (int n = 1; n <= LARGEST; n++) {
        random_state = 300 + (uint64_t)n;
        for (int k = 0; k < 400; k++) {
            fill(n, 1.0);
            memcpy(copyA, A, sizeof A);
            memcpy(copyb, b, sizeof b);
            assert_false(vec_any(solve_kind(kinds[k % 4], n)));
            for (int l = 0; l < LANES; l++) assert_true(residual(n, l) <= 4.0 + n);
        }
    }
}

/* A = 1 + B with a row of it multiplied by 1e-15 in lane 0: for a general matrix that is a matter of units, of 1 + B
 * only round-off is left. */
static void test_near_one(void **state) {
    (void)state;
    for (int n = 1; n <= LARGEST; n++) {
        for (int near = 0; near <= 1; near++) {
            random_state = 400 + (uint64_t)n;
            fill(n, 1.0);
            for (int j = 0; j < n; j++) A[(n - 1) * n + j][0] *= 1e-15;
            b[n - 1][0] = 1;
            ivec mask = solve_kind(near ? SYSTEM_NEAR_ONE : SYSTEM_ANY, n);
            for (int l = 0; l < LANES; l++) assert_int_equal(mask[l], near && l == 0 ? -1 : 0);
        }
    }
}

/* A free unknown: row and column k and b_k vanish in lane 0.  It becomes 0 and the others solve the rest; for any other
 * kind the lane is singular.  With b_k = 1 the equations contradict each other. */
static void test_free_unknown(void **state) {
    (void)state;
    for (int n = 2; n <= LARGEST; n++) {
        for (int k = 0; k < n; k++) {
            for (int wrong = 0; wrong <= 1; wrong++) {
                random_state = 500 + (uint64_t)n;
                fill(n, 1.0);
                for (int i = 0; i < n; i++) A[i * n + k][0] = A[k * n + i][0] = 0.0;
                b[k][0] = wrong;
                memcpy(copyA, A, sizeof A);
                memcpy(copyb, b, sizeof b);
                ivec mask = solve_kind(SYSTEM_FREE, n);
                for (int l = 0; l < LANES; l++) assert_int_equal(mask[l], wrong && l == 0 ? -1 : 0);
                if (wrong) continue;
                assert_true(b[k][0] == 0.0);
                for (int l = 0; l < LANES; l++) assert_true(residual(n, l) <= 4.0 + n);
                memcpy(A, copyA, sizeof A);
                memcpy(b, copyb, sizeof b);
                mask = solve_kind(SYSTEM_ANY, n);
                for (int l = 0; l < LANES; l++) assert_int_equal(mask[l], l == 0 ? -1 : 0);
            }
        }
    }
}

/* ---- Newton's method ---- */

struct ctx { /* what newton.h needs of it */
    vec *top;
    u64 iterations;
    ivec failed[8]; /* by reason */
};
enum { NP = 2, LGV_FAIL_NEWTON = 2, LGV_FAIL_SINGULAR = 3 };

static void lanes_failed(struct ctx *c, const ivec *mask, int reason) {
    c->failed[reason] |= *mask;
}

#include "../src/kernel/text/newton.h"

/* x^2 + x y + y^2 = a,  x - y = d. */
struct curve {
    vec a, d;
    int asked; /* how often the patient rule was */
};

static ivec curve_correct(struct ctx *c, struct newton *s, void *of) {
    struct curve *h = of;
    vec x = s->x[0], y = s->x[1], M[4] = {2.0 * x + y, x + 2.0 * y, vec_set(1), vec_set(-1)};
    c->top++; /* the driver gives it back */
    s->e[0] = x * x + x * y + y * y - h->a;
    s->e[1] = x - y - h->d;
    return system_solve(SYSTEM_ANY, 2, M, s->e, scratch);
}

/* Early enough that one round more would change bits: about 1e-8 is left.  A singular lane still moves. */
static ivec curve_moving(struct ctx *c, struct newton *s, void *of) {
    (void)c, (void)of;
    return still_moving(2, s->e, s->x, s->x, 1e-4) | s->singular;
}

static ivec nothing_settled(struct ctx *c, struct newton *s, void *of) {
    struct curve *h = of;
    (void)c;
    assert_true(s->round >= NEWTON_PATIENT);
    h->asked++;
    return (ivec){0};
}

static ivec all_settled(struct ctx *c, struct newton *s, void *of) {
    (void)c, (void)s, (void)of;
    return ~(ivec){0};
}

/* Lane l has a = l + 1 and starts far enough away to take its own number of rounds. */
static struct newton curve_begin(struct ctx *c, struct curve *h, vec *x, vec *e) {
    *c = (struct ctx){.top = A};
    *h = (struct curve){0};
    for (int l = 0; l < LANES; l++) {
        h->a[l] = l + 1;
        h->d[l] = 0.1 * l;
        x[0][l] = 1 + 40 * l * l;
        x[1][l] = 1;
    }
    return (struct newton){.n = 2, .x = x, .e = e, .live = ~(ivec){0}};
}

/* A lane ends with the bits it has when all the others have the same problem, and its equations hold. */
static void test_newton_lanes(void **state) {
    (void)state;
    vec x[2], e[2], alone[2];
    struct ctx c;
    struct curve h;
    struct newton s = curve_begin(&c, &h, x, e);
    newton(&c, &s, NEWTON_MAX, curve_correct, curve_moving, nothing_settled, &h);
    assert_false(vec_any(s.live | s.singular | c.failed[LGV_FAIL_NEWTON] | c.failed[LGV_FAIL_SINGULAR]));
    assert_int_equal(c.iterations, s.round);
    assert_true(c.top == A);
    assert_true(h.asked > 0);
    u64 most = c.iterations, least = NEWTON_MAX;
    for (int l = 0; l < LANES; l++) {
        assert_true(fabs(x[0][l] * x[0][l] + x[0][l] * x[1][l] + x[1][l] * x[1][l] - (l + 1)) <= 1e-6 * (l + 1));
        s = curve_begin(&c, &h, alone, e);
        for (int m = 0; m < LANES; m++) {
            h.a[m] = h.a[l];
            h.d[m] = h.d[l];
            alone[0][m] = alone[0][l];
        }
        newton(&c, &s, NEWTON_MAX, curve_correct, curve_moving, nothing_settled, &h);
        least = c.iterations < least ? c.iterations : least;
        for (int i = 0; i < 2; i++) {
            double one = alone[i][l], all = x[i][l];
            assert_memory_equal(&one, &all, sizeof one);
        }
    }
    print_message("%d to %d rounds\n", (int)least, (int)most);
    assert_true(least < most); /* lanes did rest */
}

/* Lane 0: no real solution.  Lane 1: a singular matrix at the start.  Lanes 2 and 3 take no part, though the matrix of
 * lane 3 is singular, and do not move. */
static void test_newton_failures(void **state) {
    (void)state;
    vec x[2], e[2];
    struct ctx c;
    struct curve h;
    struct newton s = curve_begin(&c, &h, x, e);
    h.a[0] = -1;
    x[0][1] = x[1][1] = x[0][3] = x[1][3] = 0;
    s.live[2] = s.live[3] = 0;
    double start = x[0][2];
    newton(&c, &s, NEWTON_MAX, curve_correct, curve_moving, nothing_settled, &h);
    for (int l = 0; l < LANES; l++) {
        assert_int_equal(c.failed[LGV_FAIL_NEWTON][l], l == 0 ? -1 : 0);
        assert_int_equal(c.failed[LGV_FAIL_SINGULAR][l], l == 1 ? -1 : 0);
    }
    assert_int_equal(c.iterations, NEWTON_MAX);
    assert_true(x[0][2] == start && x[0][3] == 0);
    s = curve_begin(&c, &h, x, e); /* who is asked and settles is done, and has not failed */
    h.a[0] = -1;
    newton(&c, &s, NEWTON_MAX, curve_correct, curve_moving, all_settled, &h);
    assert_false(vec_any(c.failed[LGV_FAIL_NEWTON]));
    assert_int_equal(c.iterations, NEWTON_PATIENT + 1);
}

/* Linear equations: one round, and a lane that took no part is not told as singular. */
static ivec line_correct(struct ctx *c, struct newton *s, void *of) {
    vec *M = of;
    (void)c;
    s->e[0] = M[0] * s->x[0] - 1.0;
    return system_solve(SYSTEM_NEAR_ONE, 1, M, s->e, scratch);
}

static ivec line_moving(struct ctx *c, struct newton *s, void *of) {
    (void)c, (void)of;
    return still_moving(1, s->e, s->x, s->x, 1e-4) | s->singular;
}

static void test_newton_linear(void **state) {
    (void)state;
    vec x = vec_set(7), e, M = vec_set(2);
    struct ctx c = {0};
    struct newton s = {.n = 1, .x = &x, .e = &e, .live = ~(ivec){0}};
    M[0] = M[1] = 0;
    s.live[1] = 0;
    newton(&c, &s, 1, line_correct, line_moving, all_settled, &M);
    assert_int_equal(c.iterations, 1);
    assert_false(vec_any(c.failed[LGV_FAIL_NEWTON]));
    for (int l = 0; l < LANES; l++) {
        assert_int_equal(c.failed[LGV_FAIL_SINGULAR][l], l == 0 ? -1 : 0);
        if (l > 1) assert_true(x[l] == 0.5);
    }
}

/* The rule of the pace: corrections 1, 1e-3, 1e-6 ... of x = 1.  Done when e^2 / e0 is round-off, not when e is; and
 * stalled corrections end when they are round-off of the state. */
static void test_newton_pace(void **state) {
    (void)state;
    struct newton s = {.last = vec_set(0)};
    vec rate, one = vec_set(1), none = vec_set(0);
    assert_true(vec_all(still_falling(&s, one, one, one, none, &rate)) && rate[0] == 0.0);
    assert_true(vec_all(still_falling(&s, vec_set(1e-8), one, one, none, &rate)) && fabs(rate[0] - 1e-4) < 1e-12);
    assert_true(vec_all(still_falling(&s, vec_set(1e-16), one, one, none, &rate))); /* 1e-8 after 1e-4: 1e-12 */
    assert_false(vec_any(still_falling(&s, vec_set(1e-26), one, one, none, &rate))); /* 1e-13 after 1e-8: 1e-18 */
    s.last = vec_set(1e-8);
    assert_true(vec_all(still_falling(&s, vec_set(1e-24), one, one, vec_set(1e-3), &rate))); /* a thousandth is left */
    s.last = vec_set(1e-13);
    assert_true(vec_all(still_falling(&s, vec_set(1e-24), one, none, none, &rate)));   /* grows, above the floor */
    assert_false(vec_any(still_falling(&s, vec_set(1e-24), one, vec_set(1e4), none, &rate))); /* rests below it */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newton_like), cmocka_unit_test(test_general), cmocka_unit_test(test_pivoting),
        cmocka_unit_test(test_singular), cmocka_unit_test(test_scaled), cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_near_one), cmocka_unit_test(test_free_unknown), cmocka_unit_test(test_newton_lanes),
        cmocka_unit_test(test_newton_failures), cmocka_unit_test(test_newton_linear),
        cmocka_unit_test(test_newton_pace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
