/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Exact sums: against rational arithmetic (tests/reference/exact.py made the numbers), in any order and any split. */
#include "base/exact.h"
#include "helpers.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static uint64_t state = 88172645463325252u;

static double draw(void) { /* in (-1, 1) */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(int64_t)state / 9223372036854775808.0;
}

static double sum_of(const double *x, size_t n) {
    struct lgv_exact s = {0};
    for (size_t i = 0; i < n; i++) assert_true(lgv_exact_add(&s, x[i]));
    double r = lgv_exact_round(&s);
    lgv_exact_free(&s, 1);
    return r;
}

/* Sums whose nearest doubles are known. */
static void known_sums(void **unused) {
    (void)unused;
    static const double up[] = {1, 0x1p-53, 0x1p-1074}, tie[] = {1, 0x1p-53}, odd[] = {1 + 0x1p-52, 0x1p-53};
    static const double gone[] = {1e308, 1e-308, -1e308}, small[] = {0x1p-1074, 0x1p-1074, -0x1p-1074};
    static const double wide[] = {0x1p1000, 3, -0x1p1000, 0x1p-1000}, large[] = {0x1.fffffffffffffp1023, 0x1p969};
    static const double over[] = {0x1.fffffffffffffp1023, 0x1p970}, back[] = {0x1.fp1023, 0x1.fp1023, -0x1.fp1023};
    static const double minus[] = {-3, 1, 0x1p-60}, none[] = {0.0, -0.0};
    assert_true(sum_of(up, 3) == 1 + 0x1p-52);
    assert_true(sum_of(tie, 2) == 1);
    assert_true(sum_of(odd, 2) == 1 + 0x1p-51);
    assert_true(sum_of(gone, 3) == 1e-308);
    assert_true(sum_of(small, 3) == 0x1p-1074);
    assert_true(sum_of(wide, 4) == 3);
    assert_true(sum_of(large, 2) == 0x1.fffffffffffffp1023);
    assert_true(isinf(sum_of(over, 2)));
    assert_true(sum_of(back, 3) == 0x1.fp1023); /* passes the largest double on the way */
    assert_true(sum_of(minus, 3) == -2 + 0x1p-60 || sum_of(minus, 3) == -2);
    assert_true(sum_of(none, 2) == 0);
}

static void not_numbers(void **unused) {
    (void)unused;
    static const double inf[] = {1, INFINITY, 2}, minus[] = {-INFINITY, 5}, both[] = {INFINITY, -INFINITY};
    static const double nan[] = {1, NAN};
    assert_true(sum_of(inf, 3) == INFINITY && sum_of(minus, 2) == -INFINITY);
    assert_true(isnan(sum_of(both, 2)) && isnan(sum_of(nan, 2)));
    /* beside numbers so large that their window reaches to the end */
    static const double large[] = {1e300, NAN}, first[] = {NAN, 1e300}, up[] = {1e300, INFINITY},
                        cancel[] = {1e300, INFINITY, -INFINITY};
    assert_true(isnan(sum_of(large, 2)) && isnan(sum_of(first, 2)) && isnan(sum_of(cancel, 3)));
    assert_true(sum_of(up, 2) == INFINITY);
}

struct row {
    int kind; /* which numbers */
    double sum[3], comoment;
};
#include "reference_exact.h"

/* The numbers of a row: those of tests/reference/exact.py. */
static void numbers(int kind, double *x, double *y, size_t n) {
    state = 88172645463325252u + (uint64_t)kind;
    for (size_t i = 0; i < n; i++) {
        x[i] = draw();
        y[i] = draw();
        if (kind == 1) x[i] = ldexp(x[i], (int)(60 * y[i]));
        if (kind == 2) x[i] = ldexp(x[i], (int)(1000 * y[i]));
        if (kind == 3) x[i] += 1e8, y[i] = x[i] + 1e-7 * y[i];
        if (kind == 4) x[i] = ldexp(x[i], -1040), y[i] = 1;
    }
}

#define N 1000

static void rational(void **unused) {
    (void)unused;
    static double x[N], y[N];
    for (size_t r = 0; r < COUNT(reference_exact); r++) {
        const struct row *row = &reference_exact[r];
        struct lgv_exact sx = {0}, sy = {0}, xy = {0};
        double part[3];
        numbers(row->kind, x, y, N);
        for (size_t i = 0; i < N; i++) {
            double high = x[i] * y[i];
            lgv_exact_add(&sx, x[i]);
            lgv_exact_add(&sy, y[i]);
            lgv_exact_add(&xy, high);
            lgv_exact_add(&xy, fma(x[i], y[i], -high));
        }
        lgv_exact_parts(&sx, part);
        for (int k = 0; k < 3; k++)
            if (part[k] != row->sum[k])
                fail_msg("kind %d, part %d: %a instead of %a", row->kind, k, part[k], row->sum[k]);
        double c = lgv_exact_comoment(N, &sx, &sy, &xy);
        if (!(fabs(c - row->comoment) <= 4e-16 * fabs(row->comoment)))
            fail_msg("kind %d: %a instead of %a", row->kind, c, row->comoment);
        lgv_exact_free(&sx, 1);
        lgv_exact_free(&sy, 1);
        lgv_exact_free(&xy, 1);
    }
}

/* Any order, any split into parts merged in any order: the same bits. */
static void any_order(void **unused) {
    (void)unused;
    static double x[N], y[N];
    for (int kind = 0; kind < 5; kind++) {
        numbers(kind, x, y, N);
        double whole = sum_of(x, N);
        for (int way = 0; way < 20; way++) {
            struct lgv_exact part[5] = {0}, total = {0};
            for (size_t i = N; i-- > 1;) {
                size_t j = (size_t)(fabs(draw()) * (double)i);
                double swap = x[i];
                x[i] = x[j], x[j] = swap;
            }
            for (size_t i = 0; i < N; i++) lgv_exact_add(&part[(size_t)(fabs(draw()) * 4.999)], x[i]);
            for (size_t k = 0; k < 5; k++) assert_true(lgv_exact_merge(&total, &part[(k + (size_t)way) % 5]));
            if (lgv_exact_round(&total) != whole) fail_msg("kind %d, way %d", kind, way);
            lgv_exact_free(part, 5);
            lgv_exact_free(&total, 1);
        }
    }
}

/* So many additions that digits must be carried. */
static void many(void **unused) {
    (void)unused;
    struct lgv_exact s = {0}, t = {0};
    lgv_exact_add(&s, 0x1.fffffffffffffp31);
    s.pending = (1u << 30) - 3; /* as if there had been more */
    for (int i = 0; i < 10; i++) lgv_exact_add(&s, 0x1.fffffffffffffp31);
    assert_true(lgv_exact_round(&s) == 11 * 0x1.fffffffffffffp31);
    for (int i = 0; i < 3000; i++) { /* doubles each time: the top digit of the window overflows into the wide sum */
        if (i % 60 == 0) t = (struct lgv_exact){0}, lgv_exact_add(&t, -1.5);
        struct lgv_exact copy = t;
        copy.wide = NULL;
        if (t.wide) {
            copy.wide = lgv_new(1, sizeof *copy.wide);
            *copy.wide = *t.wide;
        }
        lgv_exact_merge(&t, &copy);
        lgv_exact_free(&copy, 1);
        if (lgv_exact_round(&t) != -1.5 * ldexp(1, i % 60 + 1)) fail_msg("after %d doublings", i % 60 + 1);
        if (i % 60 == 59) lgv_exact_free(&t, 1);
    }
    lgv_exact_free(&s, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_sums), cmocka_unit_test(not_numbers),
                                       cmocka_unit_test(rational), cmocka_unit_test(any_order), cmocka_unit_test(many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
