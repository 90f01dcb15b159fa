/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of rotations, bodies, joints and discrete Lagrangians share: the defect of the symplectic form in
 * (g, m), orders from two steps, momentum maps of a run, means against known ones, bits over lanes; and refusals. */
#ifndef LGV_TESTS_BODIES_H
#define LGV_TESTS_BODIES_H

#include "helpers.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

/* ---- the symplectic form ---- */

/* The largest defect of a step 0.1, at the start and 7 steps later on another path. */
static double defect_of(struct lgv_model *m, const struct lgv_kernel *k) {
    struct lgv_own_block b;
    double x[256], worst = 0;
    const size_t lanes = k->entry->lanes;
    assert_true(k->nx + k->np <= 256);
    for (uint64_t path = 0; path < 2; path++) {
        assert_true(lgv_block_create(k, 0, 0.1, 5, 1, &b));
        for (size_t l = 0; l < lanes; l++) b.path[l] = path;
        k->entry->start(&b.block);
        k->entry->advance(&b.block, 7 * path);
        assert_int_equal(b.block.fail[0], 0);
        for (size_t i = 0; i < k->nx + k->np; i++) x[i] = b.block.state[i * lanes];
        struct lgv_defect how = {.rotations = m->graph};
        double d = lgv_certificate_defect(k, 0, 0.1, 5, path, 7 * path, x, NULL, NULL, NULL, &how);
        assert_true(d >= 0 && how.error < 1e-9);
        worst = fmax(worst, d);
        lgv_block_free(&b);
    }
    return worst;
}

static void assert_symplectic(struct lgv_model *m, const char *method, double limit, const char *what) {
    struct lgv_kernel k = kernel_of(m, method);
    double d = defect_of(m, &k);
    print_message("%s, %s: defect %.2g\n", what, method, d);
    if (!(d < limit)) fail_msg("%s, %s: defect %g", what, method, d);
    lgv_kernel_free(&k);
}

/* ---- paths ---- */

/* The largest difference of all that both observe, of two models but for H, after 40 steps 0.05. */
static double apart(struct lgv_model *a, const char *one, struct lgv_model *b, const char *other) {
    enum { PATHS = 24 };
    struct lgv_kernel k = kernel_of(a, one), l = kernel_of(b, other);
    double *x = final_values(&k, 0.05, 40, PATHS, 3, 1), *y = final_values(&l, 0.05, 40, PATHS, 3, 1), worst = 0;
    size_t both = 0;
    for (size_t i = 0; i < k.watch.count; i++)
        for (size_t j = 0; j < l.watch.count; j++) {
            const char *name = k.watch.item[i].name;
            if (strcmp(name, l.watch.item[j].name) != 0 || (a != b && strcmp(name, "H") == 0)) continue;
            for (size_t p = 0; p < PATHS; p++) {
                assert_true(isfinite(x[p * k.watch.count + i]));
                worst = fmax(worst, fabs(x[p * k.watch.count + i] - y[p * l.watch.count + j]));
            }
            both++;
        }
    assert_true(both >= (a == b ? 1 : 4));
    print_message("%s, %s: %.2g apart\n", one, other, worst);
    free(x);
    free(y);
    lgv_kernel_free(&k);
    lgv_kernel_free(&l);
    return worst;
}

/* The same bits with two lanes and with eight. */
static void assert_bits(struct lgv_model *m, const char *method) {
    struct lgv_kernel two = kernel_with(m, method, 2, NULL), eight = kernel_with(m, method, 8, NULL);
    double *x = final_values(&two, 0.05, 40, 24, 3, 1), *y = final_values(&eight, 0.05, 40, 24, 3, 1);
    assert_memory_equal(x, y, 24 * two.watch.count * sizeof *x);
    free(x);
    free(y);
    lgv_kernel_free(&two);
    lgv_kernel_free(&eight);
}

/* ---- orders ---- */

struct order_row {
    const char *method;
    uint64_t steps;
    double order, tolerance;
};

static void assert_order(const struct order_row *r, double coarse, double half) {
    double slope = log2(coarse / half);
    print_message("%s: %.3f (%.2g, %.2g)\n", r->method, slope, coarse, half);
    if (!(fabs(slope - r->order) < r->tolerance)) fail_msg("%s: order %g", r->method, slope);
}

/* Largest difference of what is observed at t = 1 to a fine run. */
static double difference(const struct lgv_kernel *k, uint64_t steps, const struct lgv_kernel *fine, uint64_t many) {
    double *x = final_values(k, 1.0 / (double)steps, steps, 1, 1, 1);
    double *y = final_values(fine, 1.0 / (double)many, many, 1, 1, 1), worst = 0;
    for (size_t i = 0; i < k->watch.count; i++) worst = fmax(worst, fabs(x[i] - y[i]));
    free(x);
    free(y);
    return worst;
}

static void assert_orders(struct lgv_model *m, const struct order_row *row, size_t rows, const char *reference,
                          uint64_t many) {
    struct lgv_kernel fine = kernel_of(m, reference);
    for (size_t i = 0; i < rows; i++) {
        struct lgv_kernel k = kernel_of(m, row[i].method);
        double coarse = difference(&k, row[i].steps, &fine, many);
        assert_order(&row[i], coarse, difference(&k, 2 * row[i].steps, &fine, many));
        lgv_kernel_free(&k);
    }
    lgv_kernel_free(&fine);
}

struct strong_row {
    const char *method;
    double least, most;
};

/* Strong orders at t = 1 on the same paths, from the steps 1/128 to 1/1024, against a reference at 1/4096. */
static void assert_strong(struct lgv_model *m, const struct strong_row *row, size_t rows, const char *reference) {
    enum { FINE = 4096, PATHS = 128, LEVELS = 4 };
    struct lgv_kernel best = kernel_of(m, reference);
    double *fine = final_values(&best, 1.0 / FINE, FINE, PATHS, 7, 1);
    for (size_t i = 0; i < rows; i++) {
        struct lgv_kernel k = kernel_of(m, row[i].method);
        double squared[LEVELS * PATHS], dt[LEVELS];
        for (size_t l = 0; l < LEVELS; l++) {
            uint64_t steps = 128u << l;
            double *x = final_values(&k, 1.0 / (double)steps, steps, PATHS, 7, FINE / steps);
            dt[l] = 1.0 / (double)steps;
            for (size_t p = 0; p < PATHS; p++) {
                squared[l * PATHS + p] = 0;
                for (size_t o = p * k.watch.count; o < (p + 1) * k.watch.count; o++)
                    squared[l * PATHS + p] += (x[o] - fine[o]) * (x[o] - fine[o]);
            }
            free(x);
        }
        struct fit f = fit_order(squared, dt, LEVELS, PATHS);
        print_message("%s: strong order %.3f (%.3f)\n", row[i].method, f.slope, f.slope_error);
        if (!(f.slope > row[i].least && f.slope < row[i].most)) fail_msg("strong order %g", f.slope);
        lgv_kernel_free(&k);
    }
    free(fine);
    lgv_kernel_free(&best);
}

/* ---- runs ---- */

static void run_method(struct lgv_model *m, const char *method, struct lgv_result *r) {
    struct lgv_settings settings = settings_of(m);
    snprintf(settings.method, sizeof settings.method, "%s", method);
    run_with(m, &settings, LGV_OK, r);
}

/* The momentum map is claimed and kept, or neither. */
static void assert_kept(const struct lgv_result *r, const char *method, const char *name, bool kept, double limit) {
    const struct lgv_series *s = series_of(r, name);
    print_message("%s, %s: off by %.2g\n", method, name, s->drift);
    if (kept ? !(s->drift < limit) : !(s->drift > limit)) fail_msg("%s: %s off by %g", method, name, s->drift);
    assert_int_equal(s->claim, kept);
}

/* ---- laws ---- */

/* The mean of an observable over all paths is what is wanted, within so many standard errors. */
static void assert_mean(const struct lgv_kernel *k, const double *value, size_t paths, const char *name, double want,
                        double errors) {
    const size_t at = watch_number(k, name);
    double mean = 0, square = 0;
    for (size_t p = 0; p < paths; p++) {
        double v = value[p * k->watch.count + at];
        mean += v / (double)paths;
        square += v * v / (double)paths;
    }
    double error = sqrt((square - mean * mean) / (double)paths);
    print_message("%s: <%s> = %.4f (%.4f), %.4f\n", k->method->name, name, mean, error, want);
    if (!(fabs(mean - want) < errors * error)) fail_msg("%s: <%s> is %g, not %g", k->method->name, name, mean, want);
}

/* ---- refusals ---- */

struct bad_file {
    const char *text;
    int line, column;
    const char *message;
};

static void assert_complaint(const struct bad_file *r, const struct lgv_error *err) {
    if (!strstr(err->message, r->message)) fail_msg("'%s' is not in: %s", r->message, err->message);
    if (err->line != r->line || err->column != r->column)
        fail_msg("%d:%d expected: %s", r->line, r->column, err->message);
}

/* Files that are refused when they are read. */
static void assert_bad_files(const struct bad_file *row, size_t rows) {
    for (size_t i = 0; i < rows; i++) {
        struct lgv_model *m = NULL;
        struct lgv_error err = {0};
        if (lgv_model_parse(row[i].text, "bad.yaml", &m, &err) != LGV_BAD_INPUT) fail_msg("taken:\n%s", row[i].text);
        assert_null(m);
        assert_complaint(&row[i], &err);
    }
}

struct misfit {
    const char *text, *method, *message;
};

/* Methods that do not fit a model. */
static void assert_misfits(const struct misfit *row, size_t rows) {
    for (size_t i = 0; i < rows; i++) {
        struct lgv_model *m = model_of(row[i].text);
        struct lgv_kernel k;
        struct lgv_error err = {0};
        struct lgv_kernel_options options = {.lanes = 2};
        if (lgv_kernel_build(m, lgv_method_for(m, row[i].method), &options, &k, &err) != LGV_BAD_INPUT)
            fail_msg("%s was taken: %s", row[i].method, row[i].text);
        if (!strstr(err.message, row[i].message)) fail_msg("'%s' is not in: %s", row[i].message, err.message);
        lgv_model_free(m);
    }
}

#pragma GCC diagnostic pop
#endif
