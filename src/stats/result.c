/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The result as an object: its constants, the words for failures and how to free it. */
#include "stats/stats.h"

#include "kernel/text/abi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double lgv_quantile_levels[LGV_QUANTILES] = {0.05, 0.25, 0.5, 0.75, 0.95};

const char *lgv_fail_text(int reason) {
    switch (reason) {
    case LGV_FAIL_NONE: return "no failure";
    case LGV_FAIL_NONFINITE: return "the state became infinite or not a number";
    case LGV_FAIL_NEWTON:
        return "the equations of the step were not solved (Newton's method did not converge, or there is no solution); "
               "try a smaller step";
    case LGV_FAIL_SINGULAR: return "the linear system of the step is singular";
    case LGV_FAIL_START: return "the start values, or H there, are not finite";
    case LGV_FAIL_PROJECT:
        return "the start values could not be moved onto the constraints, or masses are singular there";
    case LGV_FAIL_SCRATCH: return "there is not enough memory for the scratch of the step";
    case LGV_FAIL_FRICTION: return "the friction became negative there";
    case LGV_FAIL_INDEFINITE:
        return "M + beta dt^2 V'' of the step is not positive definite: V bends downwards too much there for this beta "
               "and step, or the path was lost before; try a smaller step";
    case LGV_FAIL_NEAR:
        return "far too many pairs are within the radius of the cutoff: points have come together; try a smaller step";
    case LGV_STOPPED: return "no failure: stopped";
    default: return "unknown reason";
    }
}

static void settings_free(struct lgv_setting *list, size_t count) {
    for (size_t i = 0; list && i < count; i++) {
        free(list[i].name);
        free(list[i].value);
    }
    free(list);
}

static void series_free(struct lgv_series *s) {
    free(s->name);
    free(s->formula);
    free(s->mean);
    free(s->std);
    free(s->err);
    free(s->min);
    free(s->max);
    for (int k = 0; k < LGV_QUANTILES; k++) free(s->quantile[k]);
}

void lgv_series_core(const struct lgv_series *s, size_t i, double *low, double *high) {
    double q[LGV_QUANTILES];
    for (int k = 0; k < LGV_QUANTILES; k++) q[k] = s->quantile[k] ? s->quantile[k][i] : (double)NAN;
    double half = q[3] - q[1];
    bool wide = half > 0 && q[4] / 100 - q[0] / 100 > half;
    *low = wide ? q[1] - half : q[0];
    *high = wide ? q[3] + half : q[4];
}

double lgv_increment_bound(const struct lgv_result *r) {
    return r->truncation * sqrt(r->step);
}

double lgv_integral_bound(const struct lgv_result *r) {
    return LGV_CLIP_INTEGRAL * lgv_increment_bound(r) * r->step;
}

void lgv_result_clear(struct lgv_result *r) {
    if (!r) return;
    char *text[] = {r->model_name,
                    r->model_text,
                    r->model_file,
                    r->method,
                    r->method_doc,
                    r->method_reason,
                    r->version,
                    r->compiler,
                    r->command,
                    r->date,
                    r->certificate.order_reason, r->certificate.stability,
                    r->certificate.commutes_reason, r->certificate.law,
                    r->increments_file};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) free(text[i]);
    lgv_verdicts_free(r);
    lgv_findings_free(r);
    lgv_arrays_close(r->arrays);
    settings_free(r->setting, r->nsettings);
    settings_free(r->parameter, r->nparameters);
    for (size_t i = 0; r->series && i < r->nseries; i++) series_free(&r->series[i]);
    for (size_t i = 0; r->histogram && i < r->nhistograms; i++) {
        free(r->histogram[i].name);
        free(r->histogram[i].edge);
        free(r->histogram[i].count);
    }
    for (size_t i = 0; r->sample && i < r->nsamples; i++) {
        free(r->sample[i].value);
        free(r->sample[i].dense);
    }
    free(r->dense_time);
    free(r->increment);
    free(r->integral);
    free(r->time);
    free(r->alive);
    free(r->series);
    free(r->histogram);
    free(r->sample);
    free(r->failure);
    memset(r, 0, sizeof *r);
}
