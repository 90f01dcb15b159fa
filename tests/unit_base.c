/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The shared pieces: errors, text, memory, files, nearest words and option tables. */
#include "base/base.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void test_error(void **state) {
    (void)state;
    struct lgv_error err = {.line = 3, .column = 4};
    assert_int_equal(lgv_fail(NULL, LGV_BAD_INPUT, "x"), LGV_BAD_INPUT);
    assert_int_equal(lgv_fail(&err, LGV_BAD_INPUT, "step %d", 7), LGV_BAD_INPUT);
    assert_int_equal(err.status, LGV_BAD_INPUT);
    assert_int_equal(err.line, 0);
    assert_string_equal(err.message, "step 7");
    lgv_fail(&err, LGV_CANNOT_RUN, "kubo.yaml: %s", err.message);
    assert_string_equal(err.message, "kubo.yaml: step 7");
    char *longer = lgv_new(5000, 1);
    memset(longer, 'x', 4999);
    lgv_fail(&err, LGV_CANNOT_RUN, "%s", longer);
    free(longer);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_string_equal(err.message + sizeof err.message - 5, "x...");
    assert_int_equal(lgv_fail_memory(&err), LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "memory"));
}

static void test_text(void **state) {
    (void)state;
    struct lgv_text t = {0};
    assert_null(t.data);
    for (int i = 0; i < 1000; i++) lgv_text_add(&t, "%d,", i);
    assert_int_equal(t.size, 10 * 2 + 90 * 3 + 900 * 4);
    assert_int_equal(strlen(t.data), t.size);
    assert_memory_equal(t.data, "0,1,2,", 6);
    lgv_text_free(&t);
    assert_null(t.data);
    char *longer = lgv_new(2001, 1);
    memset(longer, 'y', 2000);
    lgv_text_add(&t, "<%s>", longer);
    lgv_text_append(&t, "a\0b", 3);
    free(longer);
    assert_int_equal(t.size, 2005);
    assert_memory_equal(t.data + 2000, "y>a\0b", 6);
    lgv_text_append(&t, "", SIZE_MAX - 10); /* cannot be had */
    assert_true(t.failed);
    assert_int_equal(t.size, 2005);
    lgv_text_add(&t, "more");
    assert_int_equal(t.size, 2005);
    lgv_text_free(&t);
}

static void test_memory(void **state) {
    (void)state;
    assert_null(lgv_new(SIZE_MAX / 2, 3));
    void *none = lgv_new(0, 8);
    assert_non_null(none);
    free(none);
    double *a = NULL;
    size_t capacity = 0;
    assert_true(lgv_grow(&a, &capacity, 3, sizeof *a));
    assert_true(capacity >= 3);
    a[2] = 5.0;
    assert_true(lgv_grow(&a, &capacity, 1000, sizeof *a));
    assert_true(capacity >= 1000 && a[2] == 5.0);
    size_t before = capacity;
    assert_false(lgv_grow(&a, &capacity, SIZE_MAX / 4, sizeof *a));
    assert_int_equal(capacity, before);
    free(a);
    char *copy = lgv_copy_n("abcdef", 3);
    assert_string_equal(copy, "abc");
    free(copy);
    copy = lgv_copy("abc");
    assert_string_equal(copy, "abc");
    free(copy);
    assert_null(lgv_copy(NULL));
}

static void test_read_file(void **state) {
    (void)state;
    struct lgv_error err;
    char name[] = "/tmp/lgv-unit-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    size_t size = 99;
    char *text = lgv_read_file(name, 10, &size, &err);
    assert_non_null(text);
    assert_int_equal(size, 0);
    assert_string_equal(text, "");
    free(text);
    assert_int_equal(write(fd, "1234567890", 10), 10);
    close(fd);
    text = lgv_read_file(name, 10, &size, &err);
    assert_string_equal(text, "1234567890");
    free(text);
    assert_null(lgv_read_file(name, 9, &size, &err));
    assert_non_null(strstr(err.message, "larger than the 9 bytes"));
    unlink(name);
    assert_null(lgv_read_file(name, 9, &size, &err));
    assert_int_equal(err.status, LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "No such file"));
    assert_null(lgv_read_file("/tmp", 9, NULL, &err));
    assert_non_null(strstr(err.message, "directory"));
}

static void test_nearest(void **state) {
    (void)state;
    static const char *const known[] = {"method", "step", "until", "paths", "seed", "VZc"};
    size_t n = sizeof known / sizeof *known;
    assert_string_equal(lgv_nearest("metod", known, n), "method");
    assert_string_equal(lgv_nearest("setp", known, n), "step");
    assert_string_equal(lgv_nearest("METHOD", known, n), "method");
    assert_string_equal(lgv_nearest("vcz", known, n), "VZc");
    assert_null(lgv_nearest("temperature", known, n));
    assert_null(lgv_nearest("x", known, n));
    assert_null(lgv_nearest("", known, n));
    char longer[200];
    memset(longer, 's', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_null(lgv_nearest(longer, known, n));
}

struct settings {
    double step;
    uint64_t paths, seed;
    char method[LGV_WORD_SIZE];
    bool track;
    double none;
};

static const struct lgv_option table[] = {
    {"step", LGV_REAL, "0.05", 1e-12, INFINITY, "time", "length of a step", offsetof(struct settings, step)},
    {"paths", LGV_COUNT, "1e4", 1, 1e12, "", "number of paths", offsetof(struct settings, paths)},
    {"seed", LGV_COUNT, "1", 0, 18446744073709551615.0, "", "seed", offsetof(struct settings, seed)},
    {"method", LGV_WORD, "VZc", 0, 0, "", "method", offsetof(struct settings, method)},
    {"track", LGV_SWITCH, "no", 0, 0, "", "keep W", offsetof(struct settings, track)},
    {"none", LGV_REAL, "", 0, 1, "", "no default", offsetof(struct settings, none)},
};
static const size_t rows = sizeof table / sizeof *table;

static void test_option_set(void **state) {
    (void)state;
    struct settings s;
    memset(&s, 0xff, sizeof s);
    lgv_option_defaults(table, rows, &s);
    assert_true(s.step == 0.05 && s.paths == 10000 && s.seed == 1 && !s.track && s.none == 0.0);
    assert_string_equal(s.method, "VZc");
    static const struct {
        const char *name, *value;
    } good[] = {{"step", "1e-3"},
                {"paths", "250"},
                {"seed", "18446744073709551615"},
                {"method", "midpoint"},
                {"track", "true"}};
    for (size_t k = 0; k < sizeof good / sizeof *good; k++)
        assert_int_equal(lgv_option_set(table, rows, &s, good[k].name, good[k].value, NULL), LGV_OK);
    assert_true(s.step == 1e-3 && s.paths == 250 && s.seed == UINT64_MAX && s.track);
    static const struct {
        const char *name, *value, *message;
    } bad[] = {
        {"stpe", "1", "unknown option \"stpe\"; did you mean \"step\"?"},
        {"dt", "1", "unknown option \"dt\"; did you mean \"step\"?"},
        {"step", "fast", "step: a number is wanted, not \"fast\""},
        {"step", "", "step: a number is wanted"},
        {"step", "0.1x", "step: a number is wanted"},
        {"step", "nan", "step: a number is wanted"},
        {"step", "0", "step: 0 is out of range; it must be at least 1e-12"},
        {"paths", "0", "paths: 0 is out of range; it must be from 1 to 1000000000000"},
        {"paths", "-3", "paths: a whole number from"},
        {"paths", "2.5", "paths: a whole number from"},
        {"seed", "18446744073709551616", "seed: a whole number from"},
        {"track", "maybe", "track: yes or no is wanted"},
        {"method", "a\nb", "control character"},
        {"method", "0123456789012345678901234567890123456789012345678901234567890123", "longer than 63"},
    };
    struct settings before = s;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct lgv_error err = {0};
        assert_int_equal(lgv_option_set(table, rows, &s, bad[k].name, bad[k].value, &err), LGV_BAD_INPUT);
        if (!strstr(err.message, bad[k].message)) fail_msg("wanted \"%s\", got \"%s\"", bad[k].message, err.message);
    }
    assert_memory_equal(&s, &before, sizeof s);
}

static void test_option_get(void **state) {
    (void)state;
    struct settings s = {0};
    char text[LGV_WORD_SIZE];
    lgv_option_defaults(table, rows, &s);
    static const char *const want[] = {"0.05", "10000", "1", "VZc", "no", "0"};
    for (size_t k = 0; k < rows; k++) {
        lgv_option_get(&table[k], &s, text, sizeof text);
        assert_string_equal(text, want[k]);
    }
    static const double values[] = {0.1, 1.0 / 3.0, DBL_MAX, 4.9406564584124654e-300, 0.1 + 0.2};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        s.step = values[k];
        lgv_option_get(&table[0], &s, text, sizeof text);
        s.step = 0.0;
        assert_int_equal(lgv_option_set(table, rows, &s, "step", text, NULL),
                         values[k] < 1e-12 ? LGV_BAD_INPUT : LGV_OK);
        if (values[k] >= 1e-12) assert_true(s.step == values[k]);
    }
    assert_null(lgv_option_find(table, rows, "nothing"));
    assert_ptr_equal(lgv_option_find(table, rows, "seed"), &table[2]);
}

static void test_with_error(void **state) {
    (void)state;
    static const struct {
        double value, error;
        const char *text;
    } row[] = {
        {1.1201701, 0.014, "1.120 ± 0.014"},
        {0.438698, 0.0047, "0.4387 ± 0.0047"},
        {-0.00139878, 0.065, "-0.001 ± 0.065"},
        {-1e-9, 0.5, "0.00 ± 0.50"},
        {2.5, 0.0996, "2.50 ± 0.10"}, /* rounded up to the next place */
        {9.9996, 0.094, "10.000 ± 0.094"},
        {12345.6, 231, "12350 ± 230"},
        {123456.7, 12, "123457 ± 12"},
        {1.2345e-9, 1.4e-11, "(1.234 ± 0.014)e-9"},
        {-6.022e23, 3.1e21, "(-6.022 ± 0.031)e23"},
        {3, 1e-15, "3 ± 1e-15"},
        {0.5, 0, "0.5 ± 0"},
        {0.123456789, NAN, "0.123457"},
        {2, -1, "2"},
        {NAN, 1, "n/a"},
        {1e-310, 1e-312, "1e-310 ± 1e-312"},
        {-1.7e308, 1e300, "-1.7e+308 ± 1e+300"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char out[80];
        assert_string_equal(lgv_text_with_error(out, sizeof out, row[i].value, row[i].error), row[i].text);
    }
}

/* Vandermonde matrices: the determinant is a product of differences, and the solution for a right side of values of a
 * polynomial its coefficients.  Then pivots that are 0 or tiny. */
static void test_linear(void **state) {
    (void)state;
    enum { N = 6 };
    static const long double point[N] = {0, 3, -1, 2, 0.5L, -2}, coefficient[N] = {1, -2, 0, 4, 0.25L, 3};
    for (int n = 1; n <= N; n++) {
        long double A[N * N], copy[N * N], B[2 * N], product = 1;
        for (int i = 0; i < n; i++) {
            long double power = 1;
            B[2 * i] = B[2 * i + 1] = 0;
            for (int j = 0; j < n; j++, power *= point[i]) {
                copy[i * n + j] = A[i * n + j] = power;
                B[2 * i] += coefficient[j] * power;
                B[2 * i + 1] -= 2 * coefficient[j] * power;
            }
            for (int j = 0; j < i; j++) product *= point[i] - point[j];
        }
        assert_true(fabsl(lgv_linear_determinant(n, A) - product) <= 1e-15L * fabsl(product));
        memcpy(A, copy, sizeof A);
        assert_true(lgv_linear_solve(n, 2, A, B, 0));
        for (int j = 0; j < n; j++) {
            assert_true(fabsl(B[2 * j] - coefficient[j]) < 1e-15L);
            assert_true(fabsl(B[2 * j + 1] + 2 * coefficient[j]) < 1e-15L);
        }
        memcpy(A, copy, sizeof A);
        for (int j = 0; j < n; j++) A[j] *= 1e-30L; /* units of a row do not count */
        assert_int_equal(lgv_linear_dependent(n, A, 1e-13L), -1);
        for (int k = 1; k < n; k++) { /* column k: the sum of those before it */
            memcpy(A, copy, sizeof A);
            for (int i = 0; i < n; i++) {
                A[i * n + k] = 0;
                for (int j = 0; j < k; j++) A[i * n + k] += A[i * n + j];
            }
            assert_int_equal(lgv_linear_dependent(n, A, 1e-13L), k);
            assert_false(lgv_linear_solve(n, 2, A, B, 1e-13L));
        }
    }
    long double zero = 0, turned[4] = {0, 2, 3, 0}, tiny[4] = {1e-25L, 1, 1, 1}, right[2] = {1, 2};
    assert_true(lgv_linear_determinant(1, &zero) == 0);
    assert_true(lgv_linear_determinant(2, turned) == -6);
    assert_true(lgv_linear_solve(2, 1, tiny, right, 0)); /* (1, 1); without interchanges (0, 1) */
    assert_true(fabsl(right[0] - 1) < 1e-18L && fabsl(right[1] - 1) < 1e-18L);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error),      cmocka_unit_test(test_text),    cmocka_unit_test(test_memory),
        cmocka_unit_test(test_read_file),  cmocka_unit_test(test_nearest), cmocka_unit_test(test_option_set),
        cmocka_unit_test(test_option_get), cmocka_unit_test(test_with_error), cmocka_unit_test(test_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
