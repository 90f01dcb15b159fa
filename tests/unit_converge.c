/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fits and verdicts of a convergence study on made-up sums: which levels are left out, what the fit and the two
 * smallest steps say together, and standard errors with heavy tails.  Nothing is run. */
#include "helpers.h"
#include "study/study.h"

#define LEVELS 5

struct made {
    struct lgv_kernel kernel;
    struct lgv_converge_job job;
    struct lgv_convergence out;
    uint64_t factor[LEVELS];
};

/* Strong errors of Stoermer-Verlet, order 2 without noise, against an exact solution; sizes and spread are 1. */
static void make(struct made *x, uint64_t groups, uint64_t paths) {
    *x = (struct made){.kernel = {.method = lgv_method_find("P2N2Q2Lob"), .nx = 1, .np = 1}};
    for (size_t l = 0; l < LEVELS; l++) x->factor[l] = (uint64_t)1 << (LEVELS - 1 - l);
    x->job = (struct lgv_converge_job){.kernel = &x->kernel,
                                       .nmethods = 1,
                                       .nlevels = LEVELS,
                                       .factor = x->factor,
                                       .smallest_steps = 16,
                                       .smallest = 0.01,
                                       .exact = true,
                                       .random = groups > 1,
                                       .refine = 1,
                                       .nquantities = 1,
                                       .quantity = {{.of_state = true, .count = 2, .width = 1, .size = 1}},
                                       .spread = 1,
                                       .lost = 0.5,
                                       .width = LGV_SLOTS};
    assert_true(lgv_converge_new_sums(&x->job));
    for (size_t g = 0; g < groups; g++) x->job.group_paths[g] = paths;
    x->out = (struct lgv_convergence){.nlevels = LEVELS, .nmethods = 1, .nquantities = 1, .nrows = 1};
    x->out.method = lgv_new(1, sizeof *x->out.method);
    x->out.method->method = x->kernel.method;
}

static void drop(struct made *x) {
    lgv_converge_free_sums(&x->job);
    free(x->out.method);
}

static void set_error(struct made *x, size_t method, size_t level, double error) {
    size_t cell = (method * LEVELS + level) * LGV_GROUPS;
    x->job.sum[cell].paths = 1;
    x->job.total[cell * LGV_SLOTS + LGV_SLOT_STATE] = error * error;
    if (error > x->job.lost) x->job.total[cell * LGV_SLOTS + LGV_SLOT_LOST] = error * error;
}

/* Errors from the largest step to the smallest; of the reference, 0 for an exact one. */
static struct lgv_convergence_method judged(const double error[LEVELS], double reference) {
    struct made x;
    make(&x, 1, 1);
    x.job.exact = !(reference > 0);
    for (size_t l = 0; l < LEVELS; l++) set_error(&x, 0, l, error[l]);
    set_error(&x, 1, 1, reference);
    lgv_converge_fit(&x.job, &x.out);
    struct lgv_convergence_method m = x.out.method[0];
    drop(&x);
    return m;
}

/* Order 2 is expected.  Worse is what is lower in the fit and at the two smallest steps; what they do not agree on
 * is no verdict. */
static void test_verdicts(void **state) {
    (void)state;
    static const struct {
        double slope[LEVELS - 1]; /* between neighbouring levels */
        enum lgv_order_verdict verdict;
        enum lgv_order_doubt doubt;
    } row[] = {
        {{2, 2, 2, 2}, LGV_ORDER_AGREES, LGV_DOUBT_NONE},
        {{1, 1, 1, 1}, LGV_ORDER_DIFFERS, LGV_DOUBT_NONE},
        {{0.5, 1, 1.5, 2}, LGV_ORDER_BENDS, LGV_DOUBT_NONE},
        {{3, 3, 2.5, 2}, LGV_ORDER_BENDS, LGV_DOUBT_NONE},
        {{3, 3, 3, 3}, LGV_ORDER_BETTER, LGV_DOUBT_NONE},
        {{2.3, 2.2, 2.2, 1}, LGV_ORDER_NONE, LGV_DOUBT_LAW}, /* the fit agrees */
        {{0, 0, 1, 3}, LGV_ORDER_NONE, LGV_DOUBT_LAW},       /* the fit is lower, the smallest steps are higher */
        {{4, 4, 4, 1}, LGV_ORDER_NONE, LGV_DOUBT_LAW},
        {{2.3, 2.5, 3, 5}, LGV_ORDER_NONE, LGV_DOUBT_LAW}, /* both are higher, but there is no one law */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        double error[LEVELS] = {0.1};
        for (size_t l = 1; l < LEVELS; l++) error[l] = error[l - 1] * exp2(-row[i].slope[l - 1]);
        struct lgv_convergence_method m = judged(error, 0);
        print_message("%zu: order %.3f, smallest %.3f\n", i, m.order, m.finest);
        assert_int_equal(m.verdict, row[i].verdict);
        assert_int_equal(m.doubt, row[i].doubt);
        assert_int_equal(m.fitted, LEVELS);
    }
}

/* Levels that say nothing are left out, and a lower order that comes with lost or hidden levels is no verdict. */
static void test_left_out(void **state) {
    (void)state;
    /* 16 eps sqrt(steps) is 5e-15 and more */
    struct lgv_convergence_method m = judged((const double[]){1e-10, 2.5e-11, 6.25e-12, 4e-15, 5e-15}, 0);
    assert_int_equal(m.level[3].use, LGV_LEVEL_ROUND_OFF);
    assert_int_equal(m.level[4].use, LGV_LEVEL_ROUND_OFF);
    assert_int_equal(m.verdict, LGV_ORDER_AGREES);
    m = judged((const double[]){1.4, 1.3, 1.4, 1.2, 1.3}, 0);
    assert_int_equal(m.doubt, LGV_DOUBT_LEVELS);
    for (size_t l = 0; l < LEVELS; l++) assert_int_equal(m.level[l].use, LGV_LEVEL_SPREAD);
    m = judged((const double[]){1.4, 0.4, 0.3, 0.2, 0.15}, 0); /* order 1/2 from the levels that are left */
    assert_int_equal(m.fitted, 4);
    assert_int_equal(m.verdict, LGV_ORDER_NONE);
    assert_int_equal(m.doubt, LGV_DOUBT_SPREAD);
    m = judged((const double[]){0.4, 0.3, 0.2, 0.1, 0.05}, 0.008);
    assert_int_equal(m.level[4].use, LGV_LEVEL_REFERENCE);
    assert_int_equal(m.verdict, LGV_ORDER_NONE);
    assert_int_equal(m.doubt, LGV_DOUBT_REFERENCE);
    m = judged((const double[]){0.4, 0.1, 0.025, 0.00625, 0.0015625}, 0.0005); /* as it should be on what is left */
    assert_int_equal(m.level[4].use, LGV_LEVEL_REFERENCE);
    assert_int_equal(m.verdict, LGV_ORDER_AGREES);
}

/* Squares of distances with a lognormal law, exp(s n): the scatter of the error over 3000 samples of 16 groups of 16
 * paths against the mean standard error told.  Without the correction for tails the ratio is 1.18 for s = 1.8. */
static void test_heavy_tails(void **state) {
    (void)state;
    static const double sigma[] = {0, 1.2, 1.8};
    uint64_t seed = 7;
    for (size_t i = 0; i < 3; i++) {
        struct made x;
        double n = 3000, told = 0, mean = 0, square = 0;
        make(&x, 16, 16);
        for (int turn = 0; turn < (int)n; turn++) {
            for (size_t g = 0; g < 16; g++) {
                double *total = &x.job.total[g * LGV_SLOTS + LGV_SLOT_STATE];
                *total = 0;
                x.job.sum[g].paths = 16;
                for (int p = 0; p < 16; p++) {
                    double z = sqrt(-2 * log(uniform_of(&seed))) * cos(2 * M_PI * uniform_of(&seed));
                    *total += sigma[i] > 0 ? exp(sigma[i] * z) : z * z;
                }
            }
            double se, e = lgv_converge_error(&x.job, 0, 0, 0, &se);
            told += se / n;
            mean += e / n;
            square += e * e / n;
        }
        double ratio = sqrt(square - mean * mean) / told;
        print_message("s = %g: scatter / told = %.3f\n", sigma[i], ratio);
        assert_true(ratio < 1.15 && ratio > 0.85);
        drop(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_heavy_tails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
