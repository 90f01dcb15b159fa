/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the tests of rotations, bodies, joints and discrete Lagrangians share: the defect of the symplectic form in
 * (g, m) and in (g, mu), orders from two steps, momentum maps of a run, means against known ones, bits over lanes; and
 * refusals. */
#ifndef LGV_TESTS_BODIES_H
#define LGV_TESTS_BODIES_H

#include "helpers.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

static void cross(const double *a, const double *b, double *out) {
    for (int k = 0; k < 3; k++) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

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

/* ---- the symplectic form in other momenta ---- */

#define MOST_MOMENTA 4

/* A state of one rotation and np - 3 vectors behind it, x[np + 1] and then momenta, and a step from it.  to_m, to_mu:
 * the momenta y[np] at x in place, m from others or back; NULL: they are m. */
struct form_at {
    const struct lgv_kernel *k;
    const struct lgv_graph *g;
    size_t np;
    double dt;
    const double *x;
    void (*to_m)(const double *x, double *y), (*to_mu)(const double *x, double *y);
};

/* Where the step leads from x moved by h u: configuration relative to `base` (NULL: itself), then the momenta. */
static void led_to(const struct form_at *f, const double *u, double h, const double *base, double *out) {
    const size_t np = f->np, nx = np + 1;
    double at[2 * MOST_MOMENTA + 1];
    memcpy(at, f->x, (nx + np) * sizeof *at);
    lgv_rotations_advance(f->g, np, at, u, h);
    for (size_t i = 0; i < np; i++) at[nx + i] += h * u[np + i];
    if (f->to_m) f->to_m(at, at + nx);
    assert_true(one_step_of(f->k, 0, f->dt, 3, 5, 7, at));
    if (f->to_mu) f->to_mu(at, at + nx);
    if (base) lgv_rotations_between(f->g, np, base, at, out);
    if (!base) memcpy(out, at, nx * sizeof *at);
    memcpy(out + (base ? np : nx), at + nx, np * sizeof *at);
}

/* The canonical form of T*G in the body frame. */
static double canonical_form(size_t np, const double *momentum, const double *u, const double *v) {
    double bracket[3], sum = 0;
    cross(u, v, bracket);
    for (size_t i = 0; i < np; i++)
        sum += v[np + i] * u[i] - u[np + i] * v[i] + (i < 3 ? momentum[i] * bracket[i] : 0);
    return sum;
}

/* The largest change of the form, by central differences of order 6. */
static double form_defect(const struct form_at *f) {
    static const double weight[] = {3.0 / 4, -3.0 / 20, 1.0 / 60}, h = 2e-3;
    const size_t np = f->np, n = 2 * np;
    double end[2 * MOST_MOMENTA + 1], J[2 * MOST_MOMENTA][2 * MOST_MOMENTA] = {{0}}, worst = 0;
    double u[2 * MOST_MOMENTA][2 * MOST_MOMENTA] = {{0}};
    assert_true(np <= MOST_MOMENTA);
    led_to(f, u[0], 0, NULL, end);
    for (size_t j = 0; j < n; j++) {
        u[j][j] = 1;
        for (int s = 1; s <= 3; s++) {
            double a[2 * MOST_MOMENTA], b[2 * MOST_MOMENTA];
            led_to(f, u[j], s * h, end, a);
            led_to(f, u[j], -s * h, end, b);
            for (size_t i = 0; i < n; i++) J[j][i] += weight[s - 1] * (a[i] - b[i]) / h;
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double change = canonical_form(np, end + np + 1, J[i], J[j]);
            change = fabs(change - canonical_form(np, f->x + np + 1, u[i], u[j]));
            worst = change <= worst ? worst : change; /* NaN counts */
        }
    return worst;
}

/* The step is symplectic in m, and visibly not in the other momenta. */
static void assert_two_momenta(struct form_at f) {
    struct form_at canonical = f;
    canonical.to_m = canonical.to_mu = NULL;
    double m = form_defect(&canonical), mu = form_defect(&f);
    print_message("defect in (g, m) %.2g, in (g, mu) %.2g\n", m, mu);
    if (!(m < 1e-10 && mu > 1e-3)) fail_msg("defect in (g, m) %g, in (g, mu) %g", m, mu);
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
                const double off = x[p * k.watch.count + i] - y[p * l.watch.count + j];
                assert_true(isfinite(off));
                worst = fmax(worst, fabs(off));
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
