/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The JSON document of `lgv run --json`.  Its fields are a contract and only grow.  Numbers that are not finite are
 * null; integers above 2^63 - 1 (a seed may be) are texts, because JSON readers would round them. */
#include "out/private.h"
#include "out/study_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAILURES_SHOWN 10

/* Short names of what all documents share. */
#define real(x) lgv_json_real(x)
#define count(n) lgv_json_count(n)
#define text(s) lgv_json_text(s)
#define put(object, name, value) lgv_json_put(object, name, value)

static json_t *settings(const struct lgv_setting *list, size_t n) {
    json_t *out = json_object();
    bool good = out != NULL;
    for (size_t i = 0; good && i < n; i++) {
        char *end = NULL;
        const char *value = list[i].value ? list[i].value : "";
        double x = strtod(value, &end);
        bool number = *value && end && *end == '\0' && isfinite(x);
        json_t *whole = NULL;
        if (number && fabs(x) < 9e15 && !(x < floor(x) || x > floor(x))) whole = json_integer((json_int_t)x);
        good = put(out, list[i].name, whole ? whole : number ? json_real(x) : text(value));
    }
    if (good) return out;
    json_decref(out);
    return NULL;
}

/* The last value of every array of a series. */
static json_t *final_values(const struct lgv_result *r, size_t i) {
    const struct lgv_series *s = &r->series[i];
    json_t *out = json_object();
    bool good = out != NULL;
    for (const struct lgv_array_row *row = lgv_array_rows; good && row < lgv_array_rows + lgv_array_row_count; row++)
        if (strcmp(row->group, LGV_ARRAYS_STATISTICS) == 0)
            good = put(out, row->name, real(lgv_at(lgv_array_reals(row, r, i), r->ntimes - 1)));
    good = good && put(out, "kind", json_string(lgv_observable_kind_name(s->kind))) &&
           put(out, "drift", real(s->drift)) && put(out, "period", s->period > 0 ? real(s->period) : json_null());
    if (good) return out;
    json_decref(out);
    return NULL;
}

static json_t *finals(const struct lgv_result *r) {
    json_t *out = json_object();
    bool good = out != NULL;
    for (size_t i = 0; good && i < r->nseries && r->ntimes > 0; i++)
        good = put(out, r->series[i].name, final_values(r, i));
    if (good) return out;
    json_decref(out);
    return NULL;
}

/* Drift of every series of one kind by name. */
static json_t *drifts(const struct lgv_result *r, int kind) {
    json_t *out = json_object();
    bool good = out != NULL;
    for (size_t i = 0; good && i < r->nseries; i++)
        if (r->series[i].kind == kind) good = put(out, r->series[i].name, real(r->series[i].drift));
    if (good) return out;
    json_decref(out);
    return NULL;
}

static json_t *energy(const struct lgv_result *r) {
    double mean = (double)NAN, largest = (double)NAN;
    for (size_t i = 0; i < r->nseries; i++)
        if (r->series[i].kind == LGV_OBSERVABLE_ENERGY) {
            mean = r->series[i].drift_mean;
            largest = r->series[i].drift;
            break;
        }
    json_t *out = json_object();
    if (out && put(out, "mean_drift", real(mean)) && put(out, "max_drift", real(largest)) &&
        put(out, "every_step_paths", count(r->tallied_paths)))
        return out;
    json_decref(out);
    return NULL;
}

/* What holds: true, false, or null where nothing is claimed or could be measured. */
static json_t *three_ways(int holds) {
    return holds < 0 ? json_null() : json_boolean(holds);
}

static json_t *verdicts(const struct lgv_result *r) {
    json_t *out = json_array();
    bool good = out != NULL;
    for (size_t i = 0; good && i < r->nverdicts; i++) {
        const struct lgv_verdict *v = &r->verdict[i];
        json_t *row = json_object();
        good = row && put(row, "name", text(v->name)) && put(row, "value", real(v->value)) &&
               put(row, "error", real(v->error)) && put(row, "limit", real(v->limit)) &&
               put(row, "claim", json_boolean(v->claim == 1)) && put(row, "holds", three_ways(v->holds));
        good = json_array_append_new(out, row) == 0 && good;
    }
    if (good) return out;
    json_decref(out);
    return NULL;
}

/* What is known where friction or forces act. */
static bool langevin(const struct lgv_certificate *c, json_t *out) {
    return !c->dissipative ||
           (put(out, "form_contraction", real(c->form)) && put(out, "volume_contraction", real(c->volume_expected)) &&
            put(out, "volume_defect", real(c->volume)) && put(out, "volume_defect_error", real(c->volume_error)) &&
            put(out, "volume_least", real(c->volume_least)) && put(out, "volume_most", real(c->volume_most)) &&
            put(out, "volume_states", count(c->volume_states)) &&
            put(out, "conservative_defect", real(c->conservative)) &&
            put(out, "conservative_defect_error", real(c->conservative_error)) &&
            put(out, "conservative_states", count(c->conservative_states)) &&
            put(out, "temperature", real(c->temperature)) && put(out, "bias_order", real(c->bias_order)) &&
            put(out, "friction_step", real(c->friction_step)) &&
            put(out, "stationary_law", c->law ? text(c->law) : json_null()) &&
            put(out, "stationary_temperature", real(c->law_temperature)));
}

/* How the step stands to the highest frequency at the start. */
static bool stability(const struct lgv_certificate *c, json_t *out) {
    return !c->stability ||
           (put(out, "highest_frequency", real(c->highest_frequency)) &&
            put(out, "stable_limit", real(c->stable_limit)) && put(out, "largest_step", real(c->largest_step)) &&
            put(out, "penalty_step", real(c->penalty_step)) && put(out, "stable", three_ways(c->stable)) &&
            put(out, "stability", text(c->stability)));
}

static json_t *certificate(const struct lgv_result *r) {
    const struct lgv_certificate *c = &r->certificate;
    json_t *commutes = c->noise_commutes < 0 ? json_null() : json_boolean(c->noise_commutes);
    json_t *out = json_object();
    if (out && put(out, "symplectic_defect", real(c->symplectic_defect)) &&
        put(out, "symplectic_defect_error", real(c->symplectic_defect_error)) &&
        put(out, "symplectic_defect_error_all", real(c->defect_all_error)) &&
        put(out, "defect_states", count(c->defect_states)) &&
        put(out, "symplectic_claim", json_boolean(c->symplectic_claim)) &&
        put(out, "constraint", real(c->constraint)) && put(out, "hidden_constraint", real(c->hidden_constraint)) &&
        (!c->reduced || put(out, "reduced", json_true())) &&
        (isnan(c->rotation) || put(out, "rotation", real(c->rotation))) &&
        put(out, "start_constraint", real(c->start_constraint)) && put(out, "start_hidden", real(c->start_hidden)) &&
        put(out, "momentum", drifts(r, LGV_OBSERVABLE_MOMENTUM)) && put(out, "energy", energy(r)) &&
        put(out, "noise_commutes", commutes) && put(out, "strong_order", real(c->strong_order)) &&
        put(out, "weak_order", real(c->weak_order)) && put(out, "order_reason", text(c->order_reason)) &&
        put(out, "noise_commutes_reason", text(c->commutes_reason)) && langevin(c, out) && stability(c, out) &&
        put(out, "verdicts", verdicts(r)))
        return out;
    json_decref(out);
    return NULL;
}

static json_t *failures(const struct lgv_result *r) {
    json_t *out = json_array();
    bool good = out != NULL;
    for (size_t i = 0; good && i < r->nfailures && i < FAILURES_SHOWN; i++) {
        const struct lgv_failure *f = &r->failure[i];
        json_t *row = json_object();
        good = row && put(row, "path", count(f->path)) && put(row, "step", count(f->step)) &&
               put(row, "time", real(r->t0 + (double)f->step * r->step)) &&
               put(row, "reason", json_string(lgv_fail_text(f->reason)));
        good = json_array_append_new(out, row) == 0 && good;
    }
    if (good) return out;
    json_decref(out);
    return NULL;
}

/* An array of a finding: a list, or a list of lists. */
static json_t *cells(const struct lgv_found *x, int ndim) {
    json_t *out = json_array();
    bool good = out != NULL;
    size_t columns = x->shape[1];
    for (size_t i = 0; good && i < x->shape[0]; i++) {
        json_t *row = ndim == 1 ? real(x->data[i]) : json_array();
        for (size_t j = 0; row && ndim == 2 && good && j < columns; j++)
            good = json_array_append_new(row, real(x->data[i * columns + j])) == 0;
        good = json_array_append_new(out, row) == 0 && good;
    }
    if (good) return out;
    json_decref(out);
    return NULL;
}

/* The numbers of everything that was found of one group, by name; of histograms of pairs all cells. */
static json_t *findings(const struct lgv_result *r, const char *group) {
    json_t *out = json_object();
    bool good = out != NULL;
    const struct lgv_found_row *row;
    bool whole = strcmp(group, LGV_FOUND_PAIRS) == 0 || strcmp(group, LGV_FOUND_DENSITIES) == 0 ||
                 strcmp(group, LGV_FOUND_CORRELATIONS) == 0;
    for (size_t i = 0; good && i < r->nfindings; i++) {
        const struct lgv_finding *f = &r->finding[i];
        if (strcmp(f->group, group) != 0) continue;
        json_t *one = json_object();
        good = one && put(one, "formula", text(f->text));
        for (size_t k = 0; good && (row = lgv_found_row(group, k)); k++)
            if (row->ndim == 0 && f->item[k].data) good = put(one, row->name, real(f->item[k].data[0]));
            else if (whole && f->item[k].data) good = put(one, row->name, cells(&f->item[k], row->ndim));
        good = put(out, f->name, one) && good;
    }
    if (good) return out;
    json_decref(out);
    return NULL;
}

static bool put_findings(json_t *d, const struct lgv_result *r) {
    bool good = true;
    for (size_t g = 0; good && g < lgv_found_group_count; g++)
        good = put(d, lgv_found_groups[g], findings(r, lgv_found_groups[g]));
    return good;
}

static bool put_run(json_t *d, const struct lgv_result *r) {
    return put(d, "model", text(r->model_name)) && put(d, "file", text(r->model_file)) &&
           put(d, "method", text(r->method)) && put(d, "method_reason", text(r->method_reason)) &&
           put(d, "step", real(r->step)) && put(d, "until", real(r->until)) && put(d, "start", real(r->t0)) &&
           put(d, "paths", count(r->paths)) && put(d, "seed", count(r->seed)) &&
           put(d, "steps", count(r->steps)) && put(d, "failed", count(r->failed)) &&
           put(d, "stopped", count(r->stopped)) &&
           put(d, "seconds", real(r->seconds)) && put(d, "paths_seconds", real(r->paths_seconds)) &&
           put(d, "path_steps_per_second", real(r->path_steps_per_second)) &&
           put(d, "steps_done", count(r->steps_done)) && put(d, "paths_done", count(r->paths_done)) &&
           put(d, "interrupted", json_boolean(r->interrupted)) && put(d, "threads", count(r->threads)) &&
           put(d, "lanes", count(r->lanes)) && put(d, "compile_seconds", real(r->compile_seconds)) &&
           put(d, "newton_iterations", real(r->newton_iterations)) && put(d, "truncation", real(r->truncation)) &&
           put(d, "truncated", count(r->truncated)) && put(d, "rescued", count(r->rescued)) &&
           put(d, "halvings", count(r->halvings)) && put(d, "weak", json_boolean(r->weak)) &&
           (!r->metropolis || put(d, "acceptance", real(r->acceptance))) &&
           (!r->metropolis || !r->nconstraints || put(d, "astray", real(r->astray))) && put(d, "dof", count(r->dof)) &&
           put(d, "noises", count(r->nnoise)) && put(d, "constraints", count(r->nconstraints)) &&
           put(d, "version", text(r->version)) && put(d, "compiler", text(r->compiler)) &&
           put(d, "date", text(r->date)) && put(d, "increments_file", text(r->increments_file));
}

char *lgv_json_result(const struct lgv_result *r) {
    json_t *d = json_object();
    char *out = NULL;
    if (d && put_run(d, r) && put(d, "parameters", settings(r->parameter, r->nparameters)) &&
        put(d, "options", settings(r->setting, r->nsettings)) && put(d, "final", finals(r)) &&
        put(d, "certificate", certificate(r)) && put(d, "failures", failures(r)) && put_findings(d, r))
        out = json_dumps(d, JSON_INDENT(2));
    json_decref(d);
    return out;
}
