/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the numerical tests share: kernels from model texts, final values of an ensemble path by path, one step from a
 * given state, the increments a kernel will draw, slopes with their standard errors, random numbers with a fixed
 * seed, a model of C functions. */
#ifndef LGV_TESTS_HELPERS_H
#define LGV_TESTS_HELPERS_H

#include "engine/engine.h"
#include "study/study.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
#ifndef LANES
#define LANES 4
#endif
#include "kernel/text/lanes.h"
#include "kernel/text/noise.h"

static struct lgv_model *model_of(const char *text) {
    struct lgv_model *m = NULL;
    struct lgv_error err = {0};
    if (lgv_model_parse(text, "test.yaml", &m, &err) != LGV_OK) fail_msg("%s\n%s", err.message, text);
    return m;
}

static void set_parameter(struct lgv_model *m, const char *name, double value) {
    struct lgv_error err = {0};
    if (lgv_model_set(m, name, value, &err) != LGV_OK) fail_msg("%s", err.message);
}

static struct lgv_structure structure_of(const char *text) {
    struct lgv_model *m = model_of(text);
    struct lgv_structure s;
    struct lgv_error err = {0};
    if (lgv_model_structure(m, &s, &err) != LGV_OK) fail_msg("%s", err.message);
    lgv_model_free(m);
    return s;
}

/* The kernel of a method for a model; lanes 0 and compiler NULL: chosen by the library. */
static struct lgv_kernel kernel_with(struct lgv_model *m, const char *method, unsigned lanes, const char *compiler) {
    struct lgv_kernel k;
    struct lgv_error err = {0};
    const struct lgv_method *found = lgv_method_for(m, method);
    struct lgv_kernel_options options = {.lanes = lanes, .compiler = compiler};
    if (!found) fail_msg("no method %s", method);
    if (lgv_kernel_build(m, found, &options, &k, &err) != LGV_OK) fail_msg("%s", err.message);
    return k;
}

static struct lgv_kernel kernel_of(struct lgv_model *m, const char *method) {
    return kernel_with(m, method, 0, NULL);
}

static size_t watch_number(const struct lgv_kernel *k, const char *name) {
    size_t i = 0;
    while (i < k->watch.count && strcmp(k->watch.item[i].name, name) != 0) i++;
    if (i == k->watch.count) fail_msg("nothing called %s is observed", name);
    return i;
}

/* ---- ensembles, path by path ---- */

struct finals {
    size_t count;  /* of observables */
    double *value; /* [paths][count], NaN where a path failed */
    uint64_t failed;
};

static bool finals_add(void *user, const struct lgv_piece *piece) {
    struct finals *f = user;
    if (!piece->last) return true;
    for (unsigned l = 0; l < piece->used; l++)
        for (size_t o = 0; o < f->count; o++)
            f->value[(piece->path + l) * f->count + o] =
                piece->fail[l] ? (double)NAN : piece->value[((piece->count - 1) * f->count + o) * LGV_UNIT + l];
    return true;
}

/* All observables of every path at time steps * dt; steps are made of `coarsen` fine increments each. */
static double *final_values(const struct lgv_kernel *k, double dt, uint64_t steps, uint64_t paths, uint64_t seed,
                            uint64_t coarsen) {
    uint64_t time_step[2] = {0, steps};
    struct finals f = {.count = k->watch.count, .value = lgv_new(paths * k->watch.count, sizeof *f.value)};
    struct lgv_plan plan = {.kernel = k,
                            .dt = dt,
                            .steps = steps,
                            .paths = paths,
                            .seed = seed,
                            .coarsen = coarsen,
                            .ntimes = 2,
                            .time_step = time_step};
    struct lgv_run_report report;
    struct lgv_error err = {0};
    assert_non_null(f.value);
    const struct lgv_collector collector = {.name = "finals", .shared = true, .add = finals_add};
    struct lgv_collecting list = {&collector, NULL, &f};
    if (lgv_ensemble_run(&plan, &list, 1, NULL, NULL, &report, &err) != LGV_OK) fail_msg("%s", err.message);
    free(report.snapshot);
    return f.value;
}

/* ---- one step ---- */

/* One step number `step` of the path from x = (q, p), in place; false when it fails.  iterations may be NULL. */
static bool one_step_of(const struct lgv_kernel *k, double t0, double dt, uint64_t seed, uint64_t path, uint64_t step,
                        double *x) {
    struct lgv_own_block b;
    size_t lanes = k->entry->lanes;
    assert_true(lgv_block_create(k, t0, dt, seed, 1, &b));
    for (size_t l = 0; l < lanes; l++) {
        b.path[l] = path;
        for (size_t i = 0; i < k->nx + k->np; i++) b.block.state[i * lanes + l] = x[i];
    }
    b.block.step = step;
    k->entry->advance(&b.block, 1);
    for (size_t i = 0; i < k->nx + k->np; i++) x[i] = b.block.state[i * lanes];
    bool ok = !b.block.fail[0];
    lgv_block_free(&b);
    return ok;
}

/* The mean of the integral of W_i W_j over a step given dW and y, divided by the step. */
static double mean_product(double dt, const double *dW, const double *y, int i, int j) {
    return dW[i] * dW[j] / 3 + (dW[i] * y[j] + y[i] * dW[j]) / 2 + 1.2 * y[i] * y[j] + (i == j ? dt / 15 : 0);
}

/* dW and y = dZ/dt - dW/2 of all noises in the first step of a path, for a method that uses dZ. */
static void first_noise(const struct lgv_kernel *k, double dt, uint64_t seed, uint64_t path, double *dW, double *y) {
    const size_t lanes = k->entry->lanes;
    struct lgv_own_block b;
    double *drawn = lgv_aligned(lgv_increments_rows(k) * lanes);
    assert_true(drawn && lgv_block_create(k, 0, dt, seed, 1, &b));
    for (size_t l = 0; l < lanes; l++) b.path[l] = path;
    k->entry->increments(&b.block, 1, drawn);
    for (size_t m = 0; m < k->nnoise; m++) {
        dW[m] = drawn[m * lanes];
        y[m] = drawn[(k->nnoise + m) * lanes] / dt - dW[m] / 2;
    }
    lgv_block_free(&b);
    free(drawn);
}

/* The increments dW[nm] that step number `step` of the path will use. */
static void increments_of(uint64_t seed, uint64_t path, uint64_t step, double dt, size_t nm, double *dW) {
    vec w[64], z[64];
    assert_true(nm <= 64);
    noise_step(seed, uvec_set(path), step, 1, dt, (int)nm, 0, w, z);
    for (size_t m = 0; m < nm; m++) dW[m] = w[m][0];
}

/* ---- numbers ---- */

static double uniform_of(uint64_t *state) { /* splitmix64, in (0, 1) */
    uint64_t z = (*state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static void assert_near(double a, double b, double tolerance, const char *what) {
    if (!(fabs(a - b) <= tolerance)) fail_msg("%s: %.17g is not %.17g to %.3g", what, a, b, tolerance);
}

static double slope_through(const double *x, const double *y, size_t n) {
    double mx = 0, my = 0, xy = 0, xx = 0;
    for (size_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xy += (x[i] - mx) * (y[i] - my);
        xx += (x[i] - mx) * (x[i] - mx);
    }
    return xy / xx;
}

#define FOLDS 20
#define MAX_LEVELS 12

struct fit {
    double slope, slope_error; /* of log2 RMS over log2 dt; jackknife over FOLDS parts of the paths */
    double rms[MAX_LEVELS], rms_error[MAX_LEVELS];
};

/* squared[level * paths + path]: squared errors.  Levels share their Brownian paths, so their errors are correlated and
 * only a resampling of whole paths gives the right standard error. */
static struct fit fit_order(const double *squared, const double *dt, size_t levels, size_t paths) {
    struct fit f = {0};
    double part[FOLDS][MAX_LEVELS] = {{0}}, total[MAX_LEVELS] = {0}, x[MAX_LEVELS], y[MAX_LEVELS], s[FOLDS], mean = 0;
    for (size_t l = 0; l < levels; l++) {
        x[l] = log2(dt[l]);
        for (size_t p = 0; p < paths; p++) {
            part[p % FOLDS][l] += squared[l * paths + p];
            total[l] += squared[l * paths + p];
        }
        f.rms[l] = sqrt(total[l] / (double)paths);
        y[l] = log2(f.rms[l]);
        double var = 0;
        for (size_t p = 0; p < paths; p++) {
            double d = squared[l * paths + p] - total[l] / (double)paths;
            var += d * d;
        }
        f.rms_error[l] = sqrt(var) / (double)paths / (2 * f.rms[l]);
    }
    f.slope = slope_through(x, y, levels);
    for (size_t k = 0; k < FOLDS; k++) {
        for (size_t l = 0; l < levels; l++)
            y[l] = 0.5 * log2(total[l] - part[k][l]); /* the number of paths left only shifts all y */
        s[k] = slope_through(x, y, levels);
        mean += s[k] / FOLDS;
    }
    for (size_t k = 0; k < FOLDS; k++) f.slope_error += (s[k] - mean) * (s[k] - mean) * (FOLDS - 1) / FOLDS;
    f.slope_error = sqrt(f.slope_error);
    return f;
}

/* ---- the pendulum as C functions: H = p^2/2 - cos q, h = 0.3 sin q ---- */

static void pendulum_value(void *user, const struct lgv_batch *b, double *H, double *h) {
    (void)user;
    for (size_t l = 0; l < b->lanes; l++) {
        if (H) H[l] = 0.5 * b->p[l] * b->p[l] - cos(b->q[l]);
        if (h) h[l] = 0.3 * sin(b->q[l]);
    }
}

static void pendulum_gradient(void *user, const struct lgv_batch *b, double *Hq, double *Hp, double *hq, double *hp) {
    (void)user;
    for (size_t l = 0; l < b->lanes; l++) {
        if (Hq) Hq[l] = sin(b->q[l]);
        if (Hp) Hp[l] = b->p[l];
        if (hq) hq[l] = 0.3 * cos(b->q[l]);
        if (hp) hp[l] = 0;
    }
}

static void pendulum_hessian(void *user, const struct lgv_batch *b, double *Hqq, double *Hqp, double *Hpp, double *hqq,
                             double *hqp, double *hpp) {
    (void)user;
    for (size_t l = 0; l < b->lanes; l++) {
        if (Hqq) Hqq[l] = cos(b->q[l]);
        if (Hqp) Hqp[l] = 0;
        if (Hpp) Hpp[l] = 1;
        if (hqq) hqq[l] = -0.3 * sin(b->q[l]);
        if (hqp) hqp[l] = 0;
        if (hpp) hpp[l] = 0;
    }
}

/* ---- whole runs ---- */

static struct lgv_settings settings_of(const struct lgv_model *m) {
    struct lgv_settings s;
    struct lgv_error err = {0};
    if (lgv_settings_read(m, &s, &err) != LGV_OK) fail_msg("%s", err.message);
    return s;
}

/* Of a model's settings those that nearly every run sets. */
static struct lgv_settings settings_for(const struct lgv_model *m, const char *method, double step, double until,
                                        uint64_t paths) {
    struct lgv_settings s = settings_of(m);
    snprintf(s.method, sizeof s.method, "%s", method);
    s.step = step;
    s.until = until;
    s.paths = paths;
    return s;
}

/* A run that has to end with the given status. */
static void run_with(struct lgv_model *m, const struct lgv_settings *s, enum lgv_status want, struct lgv_result *out) {
    struct lgv_error err = {0};
    enum lgv_status status = lgv_engine_once(m, s, NULL, NULL, NULL, out, &err);
    if (status != want) fail_msg("status %d instead of %d: %s", (int)status, (int)want, err.message);
}

static const struct lgv_series *series_of(const struct lgv_result *r, const char *name) {
    for (size_t i = 0; i < r->nseries; i++)
        if (strcmp(r->series[i].name, name) == 0) return &r->series[i];
    fail_msg("no series %s", name);
    return NULL;
}

/* Largest change of a series over all paths, by a whole run. */
static double drift_in_run(struct lgv_model *m, const char *method, double dt, double until, uint64_t paths,
                           const char *series) {
    struct lgv_settings s = settings_for(m, method, dt, until, paths);
    struct lgv_result r;
    s.outputs = 100;
    s.check_states = 0;
    run_with(m, &s, LGV_OK, &r);
    double d = series_of(&r, series)->drift;
    print_message("%s, %s: drift %.2g\n", series, method, d);
    assert_true(d >= 0);
    lgv_result_clear(&r);
    return d;
}

/* The fitted orders of methods, on shared paths, against a fine solution of `reference`; observe: weak ones.  Names in
 * the result are those of the model. */
static struct lgv_convergence converge_of(struct lgv_model *m, const char *methods, const char *reference,
                                          const char *observe, double largest, size_t levels, double until,
                                          uint64_t paths) {
    struct lgv_settings s = settings_of(m);
    struct lgv_convergence_options o = {.methods = methods,
                                        .reference = reference,
                                        .weak = observe != NULL,
                                        .observe = observe,
                                        .largest = largest,
                                        .levels = levels};
    struct lgv_convergence c;
    struct lgv_error err = {0};
    s.until = until;
    s.paths = paths;
    s.seed = 5;
    if (lgv_converge(m, &s, &o, NULL, NULL, &c, &err) != LGV_OK) fail_msg("%s: %s", methods, err.message);
    return c;
}

#pragma GCC diagnostic pop

#endif
