/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The public interface <lgv/lgv.h> over the stages: runs and results.  Models are made in src/method/file.c and
 * src/model/callbacks.c.  Every pointer may be NULL here: a wrong call is an error, never a crash. */
#include "engine/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *lgv_version(void) {
    return LGV_VERSION;
}

char *lgv_methods_json(const char *name) {
    const struct lgv_method *m = name ? lgv_method_find(name) : NULL;
    return name && !m ? NULL : lgv_json_methods(m);
}

char *lgv_model_json(struct lgv_model *model) {
    return model ? lgv_json_model(model) : NULL;
}

/* ---- runs ---- */

/* A run is an engine that runs all its paths at once. */
struct lgv_run {
    struct lgv_engine *engine;
};

enum lgv_status lgv_run_create(struct lgv_model *model, struct lgv_run **out, struct lgv_error *err) {
    if (out) *out = NULL;
    if (!model || !out) return lgv_fail(err, LGV_BAD_INPUT, "no model, or no place for the run");
    struct lgv_run *run = lgv_new(1, sizeof *run);
    if (!run) return lgv_fail_memory(err);
    enum lgv_status status = lgv_engine_create(model, &run->engine, err);
    if (status == LGV_OK)
        *out = run;
    else
        free(run);
    return status;
}

enum lgv_status lgv_run_set(struct lgv_run *run, const char *option, const char *value, struct lgv_error *err) {
    if (!run || !option || !value) return lgv_fail(err, LGV_BAD_INPUT, "no run, no option or no value");
    return lgv_engine_option(run->engine, option, value, err);
}

enum lgv_status lgv_run_increments(struct lgv_run *run, const char *path, struct lgv_error *err) {
    return run ? lgv_engine_increments(run->engine, path, err) : lgv_fail(err, LGV_BAD_INPUT, "no run");
}

void lgv_run_on_progress(struct lgv_run *run, lgv_progress *progress, void *user) {
    if (run) lgv_engine_on_progress(run->engine, progress, user);
}

enum lgv_status lgv_run_execute(struct lgv_run *run, struct lgv_result **out, struct lgv_error *err) {
    if (out) *out = NULL;
    if (!run || !out) return lgv_fail(err, LGV_BAD_INPUT, "no run, or no place for the result");
    struct lgv_result *r = lgv_new(1, sizeof *r);
    if (!r) return lgv_fail_memory(err);
    enum lgv_status status = lgv_engine_whole(run->engine, r, err);
    if (status == LGV_OK || status == LGV_FAILED_PATHS || status == LGV_INTERRUPTED)
        *out = r;
    else
        free(r);
    return *out ? lgv_result_status(*out, status, err) : status;
}

void lgv_run_free(struct lgv_run *run) {
    if (run) lgv_engine_free(run->engine);
    free(run);
}

/* ---- results ---- */

static const struct lgv_series *find_series(const struct lgv_result *r, const char *name) {
    for (size_t i = 0; r && name && i < r->nseries; i++)
        if (r->series[i].name && strcmp(r->series[i].name, name) == 0) return &r->series[i];
    return NULL;
}

uint64_t lgv_result_failed(const struct lgv_result *result) {
    return result ? result->failed : 0;
}

const double *lgv_result_times(const struct lgv_result *result, size_t *count) {
    if (count) *count = result ? result->ntimes : 0;
    return result ? result->time : NULL;
}

const double *lgv_result_series(const struct lgv_result *result, const char *observable, enum lgv_statistic statistic) {
    const struct lgv_series *s = find_series(result, observable);
    if (!s) return NULL;
    switch (statistic) {
    case LGV_MEAN: return s->mean;
    case LGV_STD: return s->std;
    case LGV_STDERR: return s->err;
    case LGV_MIN: return s->min;
    case LGV_MAX: return s->max;
    case LGV_MEDIAN: return s->quantile[LGV_QUANTILES / 2];
    }
    return NULL;
}

const double *lgv_result_path(const struct lgv_result *result, size_t k, const char *observable) {
    const struct lgv_series *s = find_series(result, observable);
    if (!s || k >= result->nsamples || !result->sample[k].value) return NULL;
    return result->sample[k].value + (size_t)(s - result->series) * result->ntimes;
}

static const double *kept_increments(const struct lgv_result *r, const double *all, size_t k) {
    return r && all && k < r->nsamples ? all + k * (size_t)r->steps * (size_t)r->nnoise : NULL;
}

const double *lgv_result_increments(const struct lgv_result *result, size_t k, size_t *steps, size_t *noises) {
    const double *dW = result ? kept_increments(result, result->increment, k) : NULL;
    if (steps) *steps = dW ? (size_t)result->steps : 0;
    if (noises) *noises = dW ? (size_t)result->nnoise : 0;
    return dW;
}

const double *lgv_result_integrals(const struct lgv_result *result, size_t k) {
    return result ? kept_increments(result, result->integral, k) : NULL;
}

double lgv_result_increment_bound(const struct lgv_result *result) {
    return result ? lgv_increment_bound(result) : 0;
}

double lgv_result_symplectic_defect(const struct lgv_result *result) {
    return result ? result->certificate.symplectic_defect : (double)NAN;
}

double lgv_result_momentum_drift(const struct lgv_result *result, const char *symmetry) {
    for (size_t i = 0; result && symmetry && i < result->nseries; i++) {
        const struct lgv_series *s = &result->series[i];
        if (s->kind == LGV_OBSERVABLE_MOMENTUM && s->name && strcmp(s->name, symmetry) == 0) return s->drift;
    }
    return (double)NAN;
}

/* The list is made once; a result of the public interface does not change. */
static const struct lgv_arrays *arrays_of(const struct lgv_result *result) {
    if (result && !result->arrays) ((struct lgv_result *)result)->arrays = lgv_arrays_open(result);
    return result ? result->arrays : NULL;
}

int lgv_result_arrays(const struct lgv_result *result, size_t index, struct lgv_array *out) {
    const struct lgv_arrays *a = arrays_of(result);
    if (!a || !out || index >= a->count) return 0;
    *out = a->item[index].array;
    return 1;
}

int lgv_result_array(const struct lgv_result *result, const char *name, struct lgv_array *out) {
    struct lgv_array x;
    for (size_t i = 0; name && out && lgv_result_arrays(result, i, &x); i++) {
        if (strcmp(x.name, name) != 0) continue;
        *out = x;
        return 1;
    }
    return 0;
}

const struct lgv_verdict *lgv_result_verdicts(const struct lgv_result *result, size_t *count) {
    if (count) *count = result ? result->nverdicts : 0;
    return result ? result->verdict : NULL;
}

char *lgv_result_json(const struct lgv_result *result) {
    return result ? lgv_json_result(result) : NULL;
}

char *lgv_result_cite(const struct lgv_result *result) {
    return result ? lgv_cite(result) : NULL;
}

enum lgv_status lgv_result_write(const struct lgv_result *result, const char *path, struct lgv_error *err) {
    if (!result || !path) return lgv_fail(err, LGV_BAD_INPUT, "no result or no file name");
    if (!*path) return lgv_fail(err, LGV_BAD_INPUT, "the name of the file is empty");
    return lgv_hdf5_write(result, path, err);
}

enum lgv_status lgv_result_read(const char *path, struct lgv_result **out, struct lgv_error *err) {
    if (out) *out = NULL;
    if (!path || !out) return lgv_fail(err, LGV_BAD_INPUT, "no file name, or no place for the result");
    struct lgv_result *r = lgv_new(1, sizeof *r);
    enum lgv_status status = r ? lgv_hdf5_read(path, r, err) : lgv_fail_memory(err);
    if (status == LGV_OK)
        *out = r;
    else
        free(r);
    return status;
}

enum lgv_status lgv_result_report(const struct lgv_result *result, const char *dir, struct lgv_error *err) {
    if (!result || !dir) return lgv_fail(err, LGV_BAD_INPUT, "no result or no directory");
    lgv_figures(result, dir, err);
    return lgv_report(result, dir, err);
}

void lgv_result_free(struct lgv_result *result) {
    lgv_result_clear(result);
    free(result);
}
