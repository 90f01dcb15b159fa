/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Orders of methods for stiff potentials: without noise of themselves and of their compositions, and strong order 1
 * with noise h(q). */
#include "helpers.h"

#define MODEL                                                                                                          \
    "coordinates: {x: 0.4, y: 0.2}\nmomenta: {px: 0.3, py: -0.5}\n"                                                    \
    "where: {V1: 2*x^2 + x^4/4, V0: x^2*y/2 + y^2/2 + y^4/5}\nhamiltonian: px^2/2 + py^2/4 + V0 + V1\nstiff: V1\n"

/* The same with a stiff part that is quadratic. */
#define QUADRATIC                                                                                                      \
    "coordinates: {x: 0.4, y: 0.2}\nmomenta: {px: 0.3, py: -0.5}\n"                                                    \
    "where: {V1: 2*x^2 + x*y + 3*y^2 + x/4, V0: x^2*y + x^4 + y^4/2}\n"                                                \
    "hamiltonian: px^2/2 + py^2/4 + V0 + V1\nstiff: V1\n"

static void end_of(struct lgv_model *m, const char *method, double until, uint64_t steps, double *x) {
    struct lgv_kernel k = kernel_of(m, method);
    struct lgv_own_block b;
    assert_true(lgv_block_create(&k, 0, until / (double)steps, 5, 1, &b));
    lgv_block_start(&k, &b, 0, k.entry->lanes);
    k.entry->advance(&b.block, steps);
    assert_int_equal(b.block.fail[0], 0);
    for (size_t i = 0; i < 4; i++) x[i] = b.block.state[i * k.entry->lanes];
    lgv_block_free(&b);
    lgv_kernel_free(&k);
}

struct order {
    const char *method;
    double order;
    uint64_t steps; /* to the end, the largest ones */
};

/* Four steps, smaller by the factors of `finer`, from where the error is asymptotic to where it is 1e-12: the slope is
 * that of the order to 0.1. */
static void check_orders(const char *text, double until, const uint64_t finer[4], const struct order *row,
                         size_t count) {
    struct lgv_model *m = model_of(text);
    double exact[4], x[4], size[4], error[4];
    end_of(m, "RKN8", until, (uint64_t)(2000 * until), exact);
    for (size_t k = 0; k < count; k++) {
        for (int l = 0; l < 4; l++) {
            uint64_t steps = row[k].steps * finer[l] / finer[0];
            end_of(m, row[k].method, until, steps, x);
            error[l] = 0;
            for (int i = 0; i < 4; i++) error[l] = fmax(error[l], fabs(x[i] - exact[i]));
            size[l] = -log2((double)steps);
            error[l] = log2(error[l]);
        }
        double order = slope_through(size, error, 4);
        print_message("%s: order %.3f, last error %.2g\n", row[k].method, order, exp2(error[3]));
        assert_near(order, row[k].order, 0.15, row[k].method);
    }
    lgv_model_free(m);
}

static const uint64_t halves[] = {1, 2, 4, 8}, thirds[] = {4, 5, 6, 8};

static void test_orders(void **state) {
    (void)state;
    static const struct order row[] = {
        {"ZS(0.3)", 2, 40},           {"ZSs(0.3)", 2, 40},          {"StiffZSs(0.3)", 2, 40},   {"Newmark(0.3)", 2, 40},
        {"OneStepNewmark(0.3)", 2, 40}, {"PushNewmark(0.3)", 2, 40},  {"ZS(0.3)-Suzuki4", 4, 20}, {"ZSs(0.3)-4", 4, 20},
        {"StiffZSs(0.3)-Suzuki4", 4, 20}, {"Newmark(0.3)-Suzuki4", 4, 20}, {"PushNewmark(0.3)-Suzuki4", 4, 20},
        {"ZS(0.3)-6", 6, 8},          {"Newmark(0.3)-6", 6, 8},
        {"Impulse(3)", 2, 40},        {"MOLLY(3)", 2, 40},          {"IMEX", 2, 40},
        {"Impulse(3)-Suzuki4", 4, 20}, {"MOLLY(3)-Suzuki4", 4, 20}, {"IMEX-Suzuki4", 4, 20},
        {"Impulse(3)-6", 6, 8},       {"MOLLY(3)-6", 6, 8},         {"IMEX-6", 6, 8},
    };
    check_orders(MODEL, 2, halves, row, sizeof row / sizeof *row);
}

static void test_trigonometric(void **state) {
    (void)state;
    static const struct order row[] = {
        {"Gautschi", 2, 40},           {"Deuflhard", 2, 40},         {"GarciaArchilla", 2, 40},
        {"HochbruckLubich", 2, 40},    {"HairerLubich", 2, 40},      {"GrimmHochbruck", 2, 40},
        {"Gautschi-Suzuki4", 4, 20},   {"Deuflhard-4", 4, 20},       {"GarciaArchilla-Suzuki4", 4, 20},
        {"HairerLubich-Suzuki4", 4, 20}, {"Deuflhard-6", 6, 12},     {"GarciaArchilla-6", 6, 12},
        {"GrimmHochbruck-6", 6, 12},
    };
    check_orders(QUADRATIC, 2, halves, row, sizeof row / sizeof *row);
}

/* Order 8 shows between the largest steps and round-off, 4e-14 here, over a factor of two in the step; over a longer
 * time than above, since errors grow like the time and round-off does like its root. */
static void test_eight(void **state) {
    (void)state;
    static const struct order row[] = {
        {"ZS(0.3)-8", 8, 96},          {"ZSs(0.3)-8", 8, 96}, {"StiffZSs(0.3)-8", 8, 96},
        {"PushNewmark(0.3)-8", 8, 96}, {"Newmark(0.3)-8", 8, 64}, {"IMEX-8", 8, 64},
        {"Impulse(3)-8", 8, 64},       {"MOLLY(3)-8", 8, 64},
    };
    static const struct order quadratic[] = {
        {"Gautschi-8", 8, 64}, {"Deuflhard-8", 8, 64}, {"GarciaArchilla-8", 8, 64}};
    check_orders(MODEL, 16, thirds, row, sizeof row / sizeof *row);
    check_orders(QUADRATIC, 16, thirds, quadratic, sizeof quadratic / sizeof *quadratic);
}

/* Root mean square differences between steps dt and dt/2 over the same Brownian paths. */
static void test_strong(void **state) {
    (void)state;
    enum { PATHS = 400, LEVELS = 4, FINE = 256 }; /* 32, 64, 128, 256 steps to T = 2 */
    static const char *const method[] = {"ZS(0.3)", "StiffZSs(0.3)", "Newmark(0.3)", "PushNewmark(0.3)",
                                         "OneStepNewmark(0.3)", "Impulse(3)", "MOLLY(3)", "IMEX",
                                         "GarciaArchilla", "Gautschi"}; /* these two with QUADRATIC */
    struct lgv_model *model[] = {model_of(MODEL "noise: [0.5*sin(x*y), 0.4*x^2]\n"),
                                 model_of(QUADRATIC "noise: [0.5*sin(x*y), 0.4*x^2]\n")};
    double *squared = lgv_new(LEVELS * PATHS, sizeof *squared), dt[LEVELS];
    assert_non_null(squared);
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        struct lgv_kernel kernel = kernel_of(model[k >= sizeof method / sizeof *method - 2], method[k]);
        size_t n = kernel.watch.count, x = watch_number(&kernel, "x");
        double *value[LEVELS];
        for (uint64_t l = 0; l < LEVELS; l++)
            value[l] = final_values(&kernel, (double)(8u >> l) * 2 / FINE, FINE >> (3 - l), PATHS, 9, 8u >> l);
        for (size_t l = 0; l < LEVELS - 1; l++) {
            dt[l] = exp2(-(double)l);
            for (size_t p = 0; p < PATHS; p++) {
                double d = value[l][p * n + x] - value[l + 1][p * n + x];
                squared[l * PATHS + p] = d * d;
            }
        }
        struct fit f = fit_order(squared, dt, LEVELS - 1, PATHS);
        print_message("%s: strong order %.3f +- %.3f\n", method[k], f.slope, f.slope_error);
        assert_true(fabs(f.slope - 1) < 3 * f.slope_error + 0.08);
        for (int l = 0; l < LEVELS; l++) free(value[l]);
        lgv_kernel_free(&kernel);
    }
    free(squared);
    for (int i = 0; i < 2; i++) lgv_model_free(model[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders), cmocka_unit_test(test_trigonometric),
                                       cmocka_unit_test(test_eight), cmocka_unit_test(test_strong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
