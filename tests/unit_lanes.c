/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The vector functions of the kernels against libm in long double: largest error in units in the last place over
 * random arguments, special values in every lane position, and the small helpers. */
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

static uint64_t random_state = 1;

static double random_unit(void) { /* splitmix64 */
    uint64_t z = (random_state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double between(double low, double high) {
    return low + (high - low) * random_unit();
}

/* Both signs, all magnitudes alike between the powers of two. */
static double magnitude(double low, double high) {
    double x = exp2(between(low, high));
    return random_unit() < 0.5 ? x : -x;
}

static void apply_exp(vec *x) {
    *x = vec_exp(*x);
}
static void apply_log(vec *x) {
    *x = vec_log(*x);
}
static void apply_minus_two_log(vec *x) {
    *x = vec_minus_two_log(*x);
}
static void apply_sin(vec *x) {
    *x = vec_sin(*x);
}
static void apply_cos(vec *x) {
    *x = vec_cos(*x);
}

static void apply_inverses(vec *x, int whole) {
    vec all[3] = {*x, vec_set(2.0), *x}; /* as many as three side by side, the last one is looked at */
    vec_inverses(all, 3, whole, 1);
    *x = all[2];
}
static void apply_inverse_root(vec *x) {
    apply_inverses(x, 0);
}
static void apply_inverse_root_3(vec *x) {
    apply_inverses(x, 1);
}
static void apply_inverse_root_7(vec *x) {
    apply_inverses(x, 3);
}

/* |computed - exact| in units of the spacing of doubles at the exact value. */
static double ulps(double computed, long double exact) {
    if (isnan(exact)) {
        return isnan(computed) ? 0.0 : INFINITY;
    }
    if (fabsl(exact) > (long double)DBL_MAX || isinf(computed)) {
        return (double)exact == computed ? 0.0 : INFINITY;
    }
    int e = 0;
    frexpl(exact, &e);
    e = exact == 0.0L || e < -1021 ? -1021 : e;
    return (double)(fabsl((long double)computed - exact) / ldexpl(1.0L, e - 53));
}

struct range {
    const char *what;
    void (*apply)(vec *);
    long double (*exact)(long double);
    double low, high;
    bool logarithmic;
    double bound; /* ulp */
};

static long double minus_two_logl(long double x) {
    return -2.0L * logl(x);
}

static long double inverse_root(long double x) {
    return 1.0L / sqrtl(x);
}
static long double inverse_root_3(long double x) {
    return 1.0L / (x * sqrtl(x));
}
static long double inverse_root_7(long double x) {
    return 1.0L / (x * x * x * sqrtl(x));
}

/* exp: 1/4 each from the reduction and the inner sum, 1/2 from the last rounding; a little less for log.  -2 log, for
 * the normals only, rounds s and the sum of its series.  sin and cos: 1/2 from the reduced argument (fused) or from
 * rounding 1 - z/2 (not fused), the rest from z.  Where libm answers the error stays below 1.  1/sqrt: 1/2 each from
 * the residual and the last rounding; where it is a root and a division, 1.5.  Its powers have its error as many times,
 * and that of each product. */
#define ROOT_ULPS (LANES_FUSED ? 1.1 : 1.5)
static const struct range ranges[] = {
    {"exp, result near 1", apply_exp, expl, -1.0, 1.0, false, 1.0},
    {"exp, normal results", apply_exp, expl, -708.0, 709.7, false, 1.0},
    {"exp, denormal results and zero", apply_exp, expl, -760.0, -700.0, false, 1.0},
    {"exp, small and huge", apply_exp, expl, -80.0, 30.0, true, 1.0},
    {"log, near 1", apply_log, logl, 0.5, 2.0, false, 1.0},
    {"log, 1 +- 1e-6", apply_log, logl, 0.999999, 1.000001, false, 1.0},
    {"log, everywhere", apply_log, logl, -1074.0, 1023.9, true, 1.0},
    {"-2 log, (0, 1]", apply_minus_two_log, minus_two_logl, 0x1p-52, 1.0, false, 3.5},
    {"-2 log, near 1", apply_minus_two_log, minus_two_logl, 0.999, 1.0, false, 3.5},
    {"sin, quadrants", apply_sin, sinl, -10.0, 10.0, false, 1.5},
    {"sin, small to the end of the reduction", apply_sin, sinl, -60.0, 19.0, true, 1.5},
    {"sin, large", apply_sin, sinl, -800000.0, 800000.0, false, 1.5},
    {"sin, beyond", apply_sin, sinl, 19.0, 1023.0, true, 1.0},
    {"cos, quadrants", apply_cos, cosl, -10.0, 10.0, false, 1.5},
    {"cos, small to the end of the reduction", apply_cos, cosl, -60.0, 19.0, true, 1.5},
    {"cos, large", apply_cos, cosl, -800000.0, 800000.0, false, 1.5},
    {"cos, beyond", apply_cos, cosl, 19.0, 1023.0, true, 1.0},
    {"1/sqrt, two octaves", apply_inverse_root, inverse_root, 1.0, 4.0, false, ROOT_ULPS},
    {"1/sqrt, everywhere", apply_inverse_root, inverse_root, -1074.0, 1023.9, true, 1.5},
    {"x^(-3/2), two octaves", apply_inverse_root_3, inverse_root_3, 1.0, 4.0, false, 6.0},
    {"x^(-7/2), two octaves", apply_inverse_root_7, inverse_root_7, 1.0, 4.0, false, 15.0},
};

static void test_accuracy(void **state) {
    (void)state;
    bool good = true;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const struct range *r = &ranges[i];
        double worst = 0.0, where = 0.0;
        for (int n = 0; n < 400000 / LANES; n++) {
            vec x, y;
            for (int l = 0; l < LANES; l++) {
                x[l] = r->logarithmic ? magnitude(r->low, r->high) : between(r->low, r->high);
            }
            y = x;
            r->apply(&y);
            for (int l = 0; l < LANES; l++) {
                double e = ulps(y[l], r->exact((long double)x[l]));
                if (!(e <= worst)) {
                    worst = e;
                    where = x[l];
                }
            }
        }
        print_message("%-42s %.3f ulp at %.17g\n", r->what, worst, where);
        good = good && worst <= r->bound;
    }
    assert_true(good);
}

/* The doubles nearest to multiples of pi/2, where the reduction cancels most. */
static void test_near_multiples(void **state) {
    (void)state;
    double worst = 0.0;
    for (int n = 1; n <= 500000; n += LANES) {
        vec x, s, c;
        for (int l = 0; l < LANES; l++) {
            x[l] = (double)((long double)(n + l) * 1.57079632679489661923132169163975144L);
        }
        vec_sincos(x, &s, &c);
        for (int l = 0; l < LANES; l++) {
            worst = fmax(worst, ulps(s[l], sinl((long double)x[l])));
            worst = fmax(worst, ulps(c[l], cosl((long double)x[l])));
        }
    }
    print_message("sin, cos at multiples of pi/2: %.3f ulp\n", worst);
    assert_true(worst <= 1.5);
}

static const double special[] = {0.0,      -0.0,         1.0,       -1.0,     0x1p-1074, -0x1p-1074, DBL_MIN,
                                 -DBL_MIN, DBL_MAX,      -DBL_MAX,  INFINITY, -INFINITY, NAN,        709.78,
                                 709.79,   -745.13,      -745.14,   -708.5,   800000.0,  800000.5,   1e22,
                                 0.5,      0x1.fffffp-1, 0x1p-1022, 708.0,    -708.0,    0x1p-30,    1e300};

/* Same zero sign, infinity and NaN as libm, and at most 1.5 ulp (two errors of 0.75) apart otherwise. */
static void assert_like(const char *name, double x, double got, double expected) {
    bool same = isnan(expected) ? isnan(got) : got == expected && signbit(got) == signbit(expected);
    bool near = isfinite(expected) && expected != 0.0 && ulps(got, (long double)expected) <= 1.5;
    if (!same && !near) {
        fail_msg("%s(%a) = %a, expected %a", name, x, got, expected);
    }
}

static void test_special(void **state) {
    (void)state;
    volatile double base = 0.3; /* volatile: the compiler must not evaluate one of the two calls itself */
    static const struct {
        const char *name;
        void (*apply)(vec *);
        double (*exact)(double);
    } functions[] = {
        {"exp", apply_exp, exp}, {"log", apply_log, log}, {"sin", apply_sin, sin}, {"cos", apply_cos, cos}};
    for (size_t f = 0; f < 4; f++) {
        for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
            for (int l = 0; l < LANES; l++) {
                vec x, alone, y;
                for (int m = 0; m < LANES; m++) {
                    x[m] = base + 0.01 * m;
                }
                alone = x;
                functions[f].apply(&alone);
                x[l] = special[i];
                y = x;
                functions[f].apply(&y);
                double got = y[l] == 0.0 && x[l] == 0.0 ? x[l] : y[l]; /* the sign of sin(-0) is not kept */
                assert_like(functions[f].name, x[l], got, functions[f].exact(x[l]));
                for (int m = 0; m < LANES; m++) { /* the other lanes keep their bits */
                    double a = alone[m], b = y[m];
                    assert_true(m == l || memcmp(&a, &b, sizeof a) == 0);
                }
            }
        }
    }
}

static void test_helpers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        for (size_t j = 0; j < sizeof special / sizeof *special; j++) {
            double a = special[i], b = special[j];
            bool nan = isnan(a) || isnan(b);
            vec x = vec_set(a), y = vec_set(b);
            assert_like("min", a, vec_min(x, y)[LANES - 1], nan ? NAN : a < b ? a : b);
            assert_like("max", a, vec_max(x, y)[0], nan ? NAN : a > b ? a : b);
            assert_true(vec_less(x, y)[0] == (a < b ? 1.0 : 0.0));
            assert_true(vec_le(x, y)[0] == (a <= b ? 1.0 : 0.0));
            assert_like("pow", a, vec_pow(x, y)[0], pow(a, b));
            assert_like("atan2", a, vec_atan2(x, y)[LANES - 1], atan2(a, b));
        }
        double a = special[i];
        vec x = vec_set(a);
        assert_like("abs", a, vec_abs(x)[0], fabs(a));
        assert_like("sqrt", a, vec_sqrt(x)[LANES - 1], sqrt(a));
        assert_like("sign", a, vec_sign(x)[0], isnan(a) || a == 0.0 ? a : copysign(1.0, a));
        assert_true((vec_finite(x)[0] != 0) == (isfinite(a) != 0));
        assert_like("tan", a, vec_tan(x)[0], tan(a));
        assert_like("asin", a, vec_asin(x)[0], asin(a));
        assert_like("acos", a, vec_acos(x)[0], acos(a));
        assert_like("atan", a, vec_atan(x)[0], atan(a));
        assert_like("sinh", a, vec_sinh(x)[0], sinh(a));
        assert_like("cosh", a, vec_cosh(x)[0], cosh(a));
        assert_like("tanh", a, vec_tanh(x)[0], tanh(a));
        assert_like("erf", a, vec_erf(x)[0], erf(a));
    }
}

static void test_masks(void **state) {
    (void)state;
    ivec none = {0};
    assert_false(vec_any(none));
    assert_true(vec_all(~none));
    assert_false(vec_more(none, none) || vec_more(~none, ~none) || vec_more(none, ~none));
    for (int l = 0; l < LANES; l++) {
        ivec one = {0};
        one[l] = -1;
        assert_true(vec_any(one));
        assert_true(vec_more(one, none) && vec_more(~none, ~one) && !vec_more(none, one) && !vec_more(one, one));
        assert_true(vec_more(one, ~one) && !vec_more(~one, ~none));
        assert_false(vec_all(~one));
        assert_int_equal(vec_all(one), LANES == 1);
        vec chosen = vec_select(one, vec_set(1.0), vec_set(2.0));
        for (int m = 0; m < LANES; m++) {
            assert_true(chosen[m] == (m == l ? 1.0 : 2.0));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accuracy), cmocka_unit_test(test_near_multiples), cmocka_unit_test(test_special),
        cmocka_unit_test(test_helpers),  cmocka_unit_test(test_masks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
