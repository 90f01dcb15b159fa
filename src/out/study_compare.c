/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A comparison of methods as text, JSON and a report; its figures are in study_compare_plot.c. */
#include "out/study_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *against(const struct lgv_comparison *c, const struct lgv_outcome *o) {
    (void)c;
    return o->bias_kind == LGV_BIAS_EXPECTED ? "expected mean" : o->bias_kind == LGV_BIAS_REFERENCE ? "reference" : "";
}

static bool has_ladder(const struct lgv_comparison *c) {
    for (size_t i = 0; i < c->count; i++)
        if (c->method[i].nrungs) return true;
    return false;
}

static const char *strong_against(const struct lgv_comparison *c, char *out, size_t size) {
    char name[60], step[32];
    if (c->exact)
        snprintf(out, size, "the exact solution");
    else if (c->ladder_reference)
        snprintf(out, size, "%s at step %s", lgv_plain(name, sizeof name, c->reference ? c->reference : "?"),
                 lgv_brief(step, sizeof step, c->ladder_reference_step, 5));
    else
        out[0] = '\0';
    return out;
}

const char *lgv_comparison_against(const struct lgv_comparison *c, bool weak, char *out, size_t size) {
    if (!weak || c->weak == LGV_BIAS_REFERENCE) return strong_against(c, out, size);
    snprintf(out, size, "%s", c->weak == LGV_BIAS_EXPECTED ? "the expected mean" : "");
    return out;
}

/* One sentence for the head of the table. */
static const char *errors_against(const struct lgv_comparison *c, char *out, size_t size) {
    char strong[100], weak[100], name[40];
    lgv_plain(name, sizeof name, c->observable[0]);
    strong_against(c, strong, sizeof strong);
    lgv_comparison_against(c, true, weak, sizeof weak);
    if (c->weak == LGV_BIAS_REFERENCE)
        snprintf(out, size, "errors against %s on the same paths; weak error: difference of the means of %s", strong,
                 name);
    else if (weak[0] && strong[0])
        snprintf(out, size, "strong errors against %s, weak errors of %s against %s", strong, name, weak);
    else if (weak[0])
        snprintf(out, size, "weak errors of %s against %s; no reference run, so no strong errors", name, weak);
    else
        snprintf(out, size, "strong errors against %s", strong);
    return out;
}

/* ---- terminal ---- */

static void print_observable(FILE *out, const struct lgv_comparison *c, size_t k, const char *bold, const char *off) {
    char name[40], a[40], b[80], d[40], both[90];
    size_t last = c->ntimes - 1;
    snprintf(both, sizeof both, "%s at t = %s", lgv_plain(name, sizeof name, c->observable[k]),
             lgv_brief(a, sizeof a, c->time[last], 8));
    fprintf(out, "\n  %s", bold);
    lgv_study_pad(out, both, 30);
    if (strlen(both) >= 30) fputs("  ", out);
    lgv_study_pad(out, c->paths > 1 ? "mean ± stderr" : "value", 24);
    if (c->control && c->paths > 1) fprintf(out, "%9s  ", "plain");
    bool biased = false;
    for (size_t i = 0; i < c->count; i++) biased |= c->method[i].done && c->method[i].outcome[k].bias_kind;
    if (biased) lgv_study_pad(out, c->paths > 1 ? "bias ± stderr" : "bias", 24);
    fputs(off, out);
    if (c->expected[k]) fprintf(out, "  expected %s", lgv_brief(a, sizeof a, c->expected[k][last], 7));
    fputc('\n', out);
    for (size_t i = 0; i < c->count; i++) {
        const struct lgv_compared *m = &c->method[i];
        if (!m->done) continue;
        const struct lgv_outcome *o = &m->outcome[k];
        snprintf(both, sizeof both, "%s, step %s", lgv_plain(name, sizeof name, m->name),
                 lgv_brief(a, sizeof a, m->step, 5));
        fputs("  ", out);
        lgv_study_pad(out, both, 30);
        lgv_study_pad(out, lgv_text_with_error(b, sizeof b, o->mean[last], o->err[last]), 24);
        if (c->control && c->paths > 1) fprintf(out, "%9s  ", lgv_brief(d, sizeof d, o->plain_err[last], 2));
        if (o->bias_kind != LGV_BIAS_NONE) fputs(lgv_text_with_error(b, sizeof b, o->bias, o->bias_err), out);
        fputc('\n', out);
    }
}

static void print_methods(FILE *out, const struct lgv_comparison *c, const char *bold, const char *bad,
                          const char *off) {
    char name[60], a[40], b[40], paths[40];
    fprintf(out, "\n  %s", bold);
    lgv_study_pad(out, "runs", 30);
    fprintf(out, "%14s %14s %12s %12s %10s%s\n", "max |H-H0|", "median", "failed", "evaluations", "seconds", off);
    for (size_t i = 0; i < c->count; i++) {
        const struct lgv_compared *m = &c->method[i];
        char line[120];
        snprintf(line, sizeof line, "%s, step %s", lgv_plain(name, sizeof name, m->name),
                 lgv_brief(a, sizeof a, m->step, 5));
        fputs("  ", out);
        lgv_study_pad(out, line, 30);
        if (!m->done) {
            fprintf(out, "not done\n");
            continue;
        }
        fprintf(out, "%14s %14s %s%12s%s %10.3g/step %9.2g\n", lgv_brief(a, sizeof a, m->drift_max, 4),
                lgv_brief(b, sizeof b, m->drift_median, 4), m->failed ? bad : "",
                lgv_spaced(paths, sizeof paths, m->failed), m->failed ? off : "", m->evaluations, m->seconds);
    }
}

static const char *with_error(double x, double err, char *out, size_t size) {
    char b[32];
    if (isfinite(x) && isfinite(err) && err > 0)
        lgv_text_with_error(out, size, x, err);
    else
        snprintf(out, size, "%s", isfinite(x) ? lgv_brief(b, sizeof b, x, 3) : "-");
    return out;
}

static void print_ladder(FILE *out, const struct lgv_comparison *c, const char *bold, const char *off) {
    char name[60], a[32], e[32], line[80], against[340];
    fprintf(out, "\n  %swork and precision%s, %llu path%s\n  %s\n", bold, off, (unsigned long long)c->ladder_paths,
            c->ladder_paths == 1 ? "" : "s", errors_against(c, against, sizeof against));
    if (c->strong_energy) fprintf(out, "  the system is large: strong errors are of the energy alone\n");
    fprintf(out, "  %s%-20s %11s  %-22s%-22s%10s %12s%s\n", bold, "method", "step", "strong error", "weak error",
            "us/path", "evaluations", off);
    for (size_t i = 0; i < c->count; i++)
        for (size_t j = 0; j < c->method[i].nrungs; j++) {
            const struct lgv_rung *r = &c->method[i].rung[j];
            fprintf(out, "  %-20s %11s  ", j ? "" : lgv_plain(name, 21, c->method[i].name),
                    lgv_brief(a, sizeof a, r->step, 6));
            lgv_study_pad(out, with_error(r->strong, r->strong_err, line, sizeof line), 22);
            lgv_study_pad(out, with_error(r->weak, r->weak_err, line, sizeof line), 22);
            fprintf(out, "%10s %12s", lgv_brief(e, sizeof e, 1e6 * r->seconds, 3),
                    lgv_brief(a, sizeof a, r->evaluations, 6));
            if (r->failed) fprintf(out, "  %llu failed", (unsigned long long)r->failed);
            fputc('\n', out);
        }
}

void lgv_comparison_summary(FILE *out, const struct lgv_comparison *c, bool colour) {
    const char *bold = colour ? "\033[1m" : "", *off = colour ? "\033[0m" : "", *bad = colour ? "\033[1;31m" : "";
    char a[120], b[120], d[40];
    fprintf(out, "%s%s%s", bold, lgv_plain(a, sizeof a, c->model_name), off);
    if (c->model_file) fprintf(out, "  %s", lgv_plain(b, sizeof b, c->model_file));
    fprintf(out, "\n  until %s, %s path%s, seed %llu, %s%.3g s\n", lgv_brief(a, sizeof a, c->until, 12),
            lgv_spaced(d, sizeof d, c->paths), c->paths == 1 ? "" : "s", (unsigned long long)c->seed,
            c->ntrials  ? ""
            : c->points ? "three-point increments, "
                        : "the same noise for all methods, ",
            c->seconds);
    if (c->chosen) fprintf(out, "  method chosen by `auto`: %s\n", c->chosen);
    if (c->control)
        fprintf(out, "  means and biases are with control variates; \"plain\" is the standard error without\n");
    else if (c->no_control)
        fprintf(out, "  control variates: %s\n", c->no_control);
    if (c->interrupted) fprintf(out, "  %sinterrupted%s: only finished runs are shown\n", bad, off);
    if (c->ntrials) {
        lgv_comparison_steps_print(out, c, colour);
        return;
    }
    for (size_t k = 0; c->ntimes && k < c->nobservables; k++) print_observable(out, c, k, bold, off);
    bool reference = false;
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; c->method[i].done && k < c->nobservables; k++)
            reference |= c->method[i].outcome[k].bias_kind == LGV_BIAS_REFERENCE;
    if (reference)
        fprintf(out, "  biases without an expected mean are against %s with step %s on the same paths\n",
                c->reference ? c->reference : "?", lgv_brief(a, sizeof a, c->reference_step, 5));
    print_methods(out, c, bold, bad, off);
    if (c->rescued)
        fprintf(out, "  %s path-steps without a solution were taken in parts\n", lgv_spaced(d, sizeof d, c->rescued));
    if (c->failed)
        fprintf(out, "  failed paths count until they fail: means after that are of the survivors and so are biases\n");
    if (c->reference_failed)
        fprintf(out, "  %s%llu path%s of the reference failed%s and count neither in biases nor in errors\n", bad,
                (unsigned long long)c->reference_failed, c->reference_failed == 1 ? "" : "s", off);
    if (has_ladder(c)) print_ladder(out, c, bold, off);
    if (c->ladder_skipped)
        fprintf(out, "  no work and precision: without a reference and an expected mean of %s errors are not known\n",
                lgv_plain(a, sizeof a, c->observable[0]));
}

/* ---- JSON ---- */

static json_t *array(const double *x, size_t n) {
    json_t *a = json_array();
    for (size_t i = 0; a && i < n; i++)
        if (json_array_append_new(a, lgv_json_real(x[i])) != 0) {
            json_decref(a);
            return NULL;
        }
    return a;
}

/* Of the whole time, and along time. */
static bool averages_json(const struct lgv_comparison *c, const struct lgv_outcome *o, json_t *x) {
    size_t last = c->ntimes - 1;
    return lgv_json_put(x, "time_average", lgv_json_real(o->average[last])) &&
           lgv_json_put(x, "time_average_stderr", lgv_json_real(o->average_err[last])) &&
           lgv_json_put(x, "time_averages", array(o->average, c->ntimes)) &&
           lgv_json_put(x, "time_average_stderrs", array(o->average_err, c->ntimes));
}

static json_t *outcome_json(const struct lgv_comparison *c, const struct lgv_outcome *o) {
    size_t last = c->ntimes - 1;
    json_t *x = json_object();
    if (x && lgv_json_put(x, "mean", lgv_json_real(o->mean[last])) &&
        lgv_json_put(x, "stderr", lgv_json_real(o->err[last])) &&
        lgv_json_put(x, "plain_mean", lgv_json_real(o->plain[last])) &&
        lgv_json_put(x, "plain_stderr", lgv_json_real(o->plain_err[last])) &&
        lgv_json_put(x, "control_factor", lgv_json_real(o->factor)) &&
        lgv_json_put(x, "variance_left", lgv_json_real(o->left)) &&
        lgv_json_put(x, "bias", lgv_json_real(o->bias)) &&
        lgv_json_put(x, "bias_stderr", lgv_json_real(o->bias_err)) &&
        lgv_json_put(x, "bias_plain_stderr", lgv_json_real(o->bias_plain_err)) &&
        lgv_json_put(x, "bias_against", o->bias_kind ? json_string(against(c, o)) : json_null()) &&
        lgv_json_put(x, "means", array(o->mean, c->ntimes)) &&
        lgv_json_put(x, "stderrs", array(o->err, c->ntimes)) && (!o->average || averages_json(c, o, x)))
        return x;
    json_decref(x);
    return NULL;
}

static json_t *rung_json(const struct lgv_rung *r) {
    json_t *x = json_object();
    if (x && lgv_json_put(x, "step", lgv_json_real(r->step)) &&
        lgv_json_put(x, "strong", lgv_json_real(r->strong)) &&
        lgv_json_put(x, "strong_stderr", lgv_json_real(r->strong_err)) &&
        lgv_json_put(x, "weak", lgv_json_real(r->weak)) &&
        lgv_json_put(x, "weak_stderr", lgv_json_real(r->weak_err)) &&
        lgv_json_put(x, "seconds_per_path", lgv_json_real(r->seconds)) &&
        lgv_json_put(x, "evaluations_per_path", lgv_json_real(r->evaluations)) &&
        lgv_json_put(x, "failed", lgv_json_count(r->failed)))
        return x;
    json_decref(x);
    return NULL;
}

static json_t *method_json(const struct lgv_comparison *c, const struct lgv_compared *m) {
    json_t *x = json_object(), *observables = json_object(), *rungs = json_array();
    bool ok = x && observables && rungs;
    for (size_t k = 0; ok && m->done && k < c->nobservables; k++)
        ok = lgv_json_put(observables, c->observable[k], outcome_json(c, &m->outcome[k]));
    for (size_t j = 0; ok && j < m->nrungs; j++) ok = json_array_append_new(rungs, rung_json(&m->rung[j])) == 0;
    ok = ok && lgv_json_put(x, "method", lgv_json_text(m->name)) &&
         lgv_json_put(x, "step", lgv_json_real(m->step)) && lgv_json_put(x, "done", json_boolean(m->done)) &&
         lgv_json_put(x, "steps", lgv_json_count(m->steps)) &&
         lgv_json_put(x, "failed", lgv_json_count(m->failed)) &&
         lgv_json_put(x, "rescued", lgv_json_count(m->rescued)) &&
         lgv_json_put(x, "seconds", lgv_json_real(m->seconds)) &&
         lgv_json_put(x, "evaluations_per_step", lgv_json_real(m->evaluations)) &&
         lgv_json_put(x, "newton_iterations", lgv_json_real(m->iterations)) &&
         lgv_json_put(x, "energy_drift_max", lgv_json_real(m->drift_max)) &&
         lgv_json_put(x, "energy_drift_median", lgv_json_real(m->drift_median)) &&
         json_object_set(x, "observables", observables) == 0 && json_object_set(x, "work_precision", rungs) == 0 &&
         (!c->ntrials || lgv_json_put(x, "steps_tried", lgv_comparison_steps_json(c, m))) &&
         (!c->ntrials || lgv_json_put(x, "stable_up_to", isinf(m->stable) ? json_string("any step")
                                                                           : lgv_json_real(m->stable)));
    json_decref(observables);
    json_decref(rungs);
    if (ok) return x;
    json_decref(x);
    return NULL;
}

static json_t *expected_json(const struct lgv_comparison *c) {
    json_t *x = json_object();
    bool ok = x != NULL;
    for (size_t k = 0; ok && k < c->nobservables; k++) {
        if (!c->expected[k]) continue;
        json_t *e = json_object();
        ok = e && lgv_json_put(e, "formula", lgv_json_text(c->expected_text[k])) &&
             lgv_json_put(e, "value", lgv_json_real(c->expected[k][c->ntimes - 1]));
        ok = lgv_json_put(x, c->observable[k], e) && ok;
    }
    if (ok) return x;
    json_decref(x);
    return NULL;
}

char *lgv_comparison_json(const struct lgv_comparison *c) {
    json_t *x = json_object(), *methods = json_array();
    bool ok = x && methods;
    for (size_t i = 0; ok && i < c->count; i++) ok = json_array_append_new(methods, method_json(c, &c->method[i])) == 0;
    ok = ok && lgv_json_put(x, "kind", json_string("compare")) &&
         lgv_json_put(x, "model", lgv_json_text(c->model_name)) &&
         lgv_json_put(x, "until", lgv_json_real(c->until)) && lgv_json_put(x, "paths", lgv_json_count(c->paths)) &&
         lgv_json_put(x, "seed", lgv_json_count(c->seed)) && lgv_json_put(x, "failed", lgv_json_count(c->failed)) &&
         lgv_json_put(x, "reference_failed", lgv_json_count(c->reference_failed)) &&
         lgv_json_put(x, "seconds", lgv_json_real(c->seconds)) &&
         lgv_json_put(x, "interrupted", json_boolean(c->interrupted)) &&
         lgv_json_put(x, "control_variates", json_boolean(c->control)) &&
         lgv_json_put(x, "three_points", json_boolean(c->points)) &&
         lgv_json_put(x, "control_variates_why_not", lgv_json_text(c->no_control)) &&
         lgv_json_put(x, "reference", lgv_json_text(c->reference)) &&
         lgv_json_put(x, "reference_step", lgv_json_real(c->reference ? c->reference_step : (double)NAN)) &&
         lgv_json_put(x, "ladder_reference_step",
                       lgv_json_real(c->ladder_reference ? c->ladder_reference_step : (double)NAN)) &&
         lgv_json_put(x, "ladder_paths", lgv_json_count(c->ladder_paths)) &&
         lgv_json_put(x, "strong_against",
                       lgv_json_text(c->exact              ? "exact solution"
                                      : c->ladder_reference ? "reference"
                                                            : NULL)) &&
         lgv_json_put(x, "weak_against",
                       lgv_json_text(c->weak == LGV_BIAS_EXPECTED    ? "expected mean"
                                      : c->weak == LGV_BIAS_REFERENCE ? "reference"
                                                                      : NULL)) &&
         lgv_json_put(x, "method_reason", lgv_json_text(c->chosen)) &&
         lgv_json_put(x, "strong_of", json_string(c->strong_energy ? "energy" : "state")) &&
         (!c->ntrials || lgv_json_put(x, "energy_scale", lgv_json_real(c->energy))) &&
         lgv_json_put(x, "expected", expected_json(c)) && lgv_json_put(x, "time", array(c->time, c->ntimes)) &&
         lgv_json_put(x, "version", lgv_json_text(c->version)) && lgv_json_put(x, "date", lgv_json_text(c->date)) &&
         json_object_set(x, "methods", methods) == 0;
    char *text = ok ? json_dumps(x, JSON_INDENT(2)) : NULL;
    json_decref(methods);
    json_decref(x);
    return text;
}

/* ---- the report ---- */

static void cell(struct lgv_text *out, double x, int digits) {
    char b[40];
    lgv_text_add(out, "<td class=\"n\">%s</td>", lgv_brief(b, sizeof b, x, digits));
}

static void put_name(struct lgv_text *out, const struct lgv_compared *m) {
    lgv_text_add(out, "<tr><td class=\"name\">");
    lgv_html(out, m->name);
    lgv_text_add(out, "</td>");
    cell(out, m->step, 6);
}

static void put_observable(struct lgv_text *out, const struct lgv_comparison *c, size_t k) {
    size_t last = c->ntimes - 1;
    char b[40];
    lgv_text_add(out, "<h2>");
    lgv_html(out, c->observable[k]);
    lgv_text_add(out, " at t = %s</h2>\n<p class=\"sub\"><code>", lgv_brief(b, sizeof b, c->time[last], 8));
    lgv_html(out, c->formula[k]);
    lgv_text_add(out, "</code>");
    if (c->expected[k]) {
        lgv_text_add(out, "; expected mean <code>");
        lgv_html(out, c->expected_text[k]);
        lgv_text_add(out, "</code> = %s", lgv_brief(b, sizeof b, c->expected[k][last], 8));
    }
    lgv_text_add(out, "</p>\n<div class=\"card\"><table class=\"wide\">\n<tr><th>method</th>"
                      "<th class=\"n\">step</th><th class=\"n\">mean</th><th class=\"n\">&plusmn; stderr</th>");
    if (c->control) lgv_text_add(out, "<th class=\"n\">plain stderr</th><th class=\"n\">variance left</th>");
    bool averaged = c->method[0].done && c->method[0].outcome[k].average;
    if (averaged) lgv_text_add(out, "<th class=\"n\">time average</th><th class=\"n\">&plusmn; stderr</th>");
    lgv_text_add(out, "<th class=\"n\">bias</th><th class=\"n\">&plusmn; stderr</th><th>against</th></tr>\n");
    for (size_t i = 0; i < c->count; i++) {
        if (!c->method[i].done) continue;
        const struct lgv_outcome *o = &c->method[i].outcome[k];
        put_name(out, &c->method[i]);
        cell(out, o->mean[last], 7);
        cell(out, o->err[last], 2);
        if (c->control) cell(out, o->plain_err[last], 2);
        if (c->control) cell(out, o->left, 2);
        if (averaged) cell(out, o->average[last], 6);
        if (averaged) cell(out, o->average_err[last], 2);
        cell(out, o->bias, 4);
        cell(out, o->bias_err, 2);
        lgv_text_add(out, "<td>%s</td></tr>\n", against(c, o));
    }
    lgv_text_add(out, "</table></div>\n");
}

static void put_runs(struct lgv_text *out, const struct lgv_comparison *c) {
    char b[40];
    lgv_text_add(
        out, "<h2>Runs</h2>\n<div class=\"card\"><table class=\"wide\">\n<tr><th>method</th><th class=\"n\">step</th>"
             "<th class=\"n\">largest |H - H0|</th><th class=\"n\">median over paths</th><th class=\"n\">failed paths"
             "</th><th class=\"n\">evaluations per step</th><th class=\"n\">Newton iterations</th></tr>\n");
    for (size_t i = 0; i < c->count; i++) {
        const struct lgv_compared *m = &c->method[i];
        put_name(out, m);
        cell(out, m->done ? m->drift_max : (double)NAN, 4);
        cell(out, m->done ? m->drift_median : (double)NAN, 4);
        lgv_text_add(out, "<td class=\"n%s\">%s</td>", m->failed ? " mark broken" : "",
                     m->done ? lgv_spaced(b, sizeof b, m->failed) : "not done");
        cell(out, m->evaluations, 4);
        cell(out, m->iterations, 3);
        lgv_text_add(out, "</tr>\n");
    }
    lgv_text_add(out, "</table></div>\n");
}

static void put_ladder(struct lgv_text *out, const struct lgv_comparison *c) {
    char against[340];
    lgv_text_add(out, "<h2>Work and precision</h2>\n<p class=\"sub\">%llu path%s; ",
                 (unsigned long long)c->ladder_paths, c->ladder_paths == 1 ? "" : "s");
    lgv_html(out, errors_against(c, against, sizeof against));
    lgv_text_add(
        out,
        "%s.</p>\n<div class=\"card\"><table class=\"wide\">\n<tr><th>method</th><th class=\"n\">step</th>"
        "<th class=\"n\">strong error</th><th class=\"n\">&plusmn; stderr</th>"
        "<th class=\"n\">weak error</th><th class=\"n\">&plusmn; stderr</th>"
        "<th class=\"n\">&micro;s per path</th><th class=\"n\">evaluations per path</th>"
        "<th class=\"n\">failed</th></tr>\n",
        c->strong_energy ? "; the system is large, strong errors are of the energy alone" : "");
    for (size_t i = 0; i < c->count; i++)
        for (size_t j = 0; j < c->method[i].nrungs; j++) {
            const struct lgv_rung *r = &c->method[i].rung[j];
            lgv_text_add(out, "<tr><td class=\"name\">");
            lgv_html(out, j ? "" : c->method[i].name);
            lgv_text_add(out, "</td>");
            const double value[] = {r->step,     r->strong,        r->strong_err, r->weak,
                                    r->weak_err, 1e6 * r->seconds, r->evaluations};
            static const int digits[] = {6, 3, 2, 3, 2, 3, 6};
            for (size_t n = 0; n < 7; n++) cell(out, value[n], digits[n]);
            lgv_text_add(out, "<td class=\"n\">%llu</td></tr>\n", (unsigned long long)r->failed);
        }
    lgv_text_add(out, "</table></div>\n");
}

/* The number `value` of a method among those with one that are done: where it is least and largest; false: nowhere, or
 * it is the same. */
static bool extremes(const struct lgv_comparison *c, double (*value)(const struct lgv_comparison *c, size_t i),
                     size_t *least, size_t *most) {
    *least = *most = c->count;
    for (size_t i = 0; i < c->count; i++) {
        const double x = c->method[i].done ? value(c, i) : (double)NAN;
        if (!isfinite(x)) continue;
        if (*least == c->count || x < value(c, *least)) *least = i;
        if (*most == c->count || x > value(c, *most)) *most = i;
    }
    return *least != *most && value(c, *most) > value(c, *least);
}

static double last_mean(const struct lgv_comparison *c, size_t i) {
    return c->method[i].outcome[0].mean[c->ntimes - 1];
}

static double first_error(const struct lgv_comparison *c, size_t i) {
    const struct lgv_compared *m = &c->method[i];
    return m->nrungs && m->rung[0].strong > 0 ? m->rung[0].strong : (double)NAN;
}

static void put_method(struct lgv_text *out, const struct lgv_compared *m, double step) {
    char b[40];
    lgv_text_add(out, " with ");
    lgv_html(out, m->name);
    lgv_text_add(out, " (step %s)", lgv_brief(b, sizeof b, step, 6));
}

/* What a reader wants to know first: how far the methods differ. */
static void put_finding(struct lgv_text *out, const struct lgv_comparison *c) {
    size_t end[2];
    char b[64];
    if (c->ntrials) return;
    lgv_text_add(out, "<p class=\"finding\">");
    if (c->ntimes && c->nobservables && extremes(c, last_mean, &end[0], &end[1])) {
        lgv_text_add(out, "The mean of <b>");
        lgv_html(out, c->observable[0]);
        lgv_text_add(out, "</b> at t = %s is", lgv_brief(b, sizeof b, c->time[c->ntimes - 1], 8));
        for (size_t k = 0; k < 2; k++) {
            const struct lgv_compared *m = &c->method[end[k]];
            lgv_text_add(out, "%s <b>%s</b>", k ? " and" : "",
                         lgv_text_with_error(b, sizeof b, last_mean(c, end[k]), m->outcome[0].err[c->ntimes - 1]));
            put_method(out, m, m->step);
        }
        lgv_text_add(out, "%s. ", c->count > 2 ? ", the least and the largest" : "");
    }
    if (extremes(c, first_error, &end[0], &end[1])) {
        lgv_text_add(out, "The strong error is %s", c->count > 2 ? "least, " : "");
        for (size_t k = 0; k < 2; k++) {
            lgv_text_add(out, "%s<b>%s</b>", k ? c->count > 2 ? ", and largest, " : " and " : "",
                         lgv_brief(b, sizeof b, first_error(c, end[k]), 3));
            put_method(out, &c->method[end[k]], c->method[end[k]].rung[0].step);
        }
        lgv_text_add(out, ".");
    }
    lgv_text_add(out, "</p>\n");
}

static void put_verdict(struct lgv_text *out, const struct lgv_comparison *c) {
    bool good = !c->failed && !c->interrupted && !c->reference_failed;
    if (c->ntrials && good) return; /* paths that fail are what is looked for */
    lgv_text_add(out, "<p class=\"verdict%s\">", good ? "" : " bad");
    if (c->interrupted) lgv_text_add(out, "The comparison was interrupted; only finished runs are shown. ");
    if (c->failed)
        lgv_text_add(out, "%llu path%s failed; means after that, and biases, are of the survivors.",
                     (unsigned long long)c->failed, c->failed == 1 ? "" : "s");
    else if (!c->ntrials)
        lgv_text_add(out, "No path failed.");
    if (c->reference_failed)
        lgv_text_add(out, " Without the %llu path%s of the reference that failed.",
                     (unsigned long long)c->reference_failed, c->reference_failed == 1 ? "" : "s");
    lgv_text_add(out, "</p>\n");
}

static void page(struct lgv_text *out, const void *study, const char *dir, const struct lgv_figure *list,
                 size_t count) {
    const struct lgv_comparison *c = study;
    char b[64];
    lgv_page_begin(out, c->model_name);
    lgv_text_add(out, "<h1>");
    lgv_html(out, c->model_name);
    lgv_text_add(out, "</h1>\n<p class=\"sub\">%zu methods %s, %s</p>\n", c->count,
                 c->ntrials  ? "at many steps"
                 : c->points ? "by three-point increments: averages only"
                             : "on the same Brownian paths",
                 c->date ? c->date : "");
    put_finding(out, c);
    put_verdict(out, c);
    lgv_text_add(out, "<dl class=\"facts\">\n");
    lgv_page_fact(out, "until", lgv_brief(b, sizeof b, c->until, 12));
    lgv_page_fact(out, "paths", lgv_spaced(b, sizeof b, c->paths));
    snprintf(b, sizeof b, "%llu", (unsigned long long)c->seed);
    lgv_page_fact(out, "seed", b);
    if (!c->ntrials)
        lgv_page_fact(out, "control variates",
                      c->control      ? "yes"
                      : c->no_control ? c->no_control
                                      : "no: there is no noise");
    if (c->reference) lgv_page_fact(out, "reference", c->reference);
    snprintf(b, sizeof b, "%.3g s", c->seconds);
    lgv_page_fact(out, "time taken", b);
    lgv_text_add(out, "</dl>\n<h2>Figures</h2>\n<div class=\"figures\">\n");
    lgv_page_planned(out, dir, list, count);
    lgv_text_add(out, "</div>\n");
    for (size_t k = 0; c->ntimes && k < c->nobservables; k++) put_observable(out, c, k);
    if (c->ntrials)
        lgv_comparison_steps_page(out, c);
    else
        put_runs(out, c);
    if (has_ladder(c)) put_ladder(out, c);
    if (c->command) {
        lgv_text_add(out, "<h2>How to repeat it</h2>\n<pre>");
        lgv_html(out, c->command);
        lgv_text_add(out, "</pre>\n");
    }
    lgv_text_add(out, "<footer>Lagrangevin %s.%s</footer>\n", c->version ? c->version : "",
                 c->control
                     ? " Control variate: the sum of {f, h}(X) dW along the path has mean zero for every method, "
                       "so f - b times it has the mean of f and less variance."
                     : "");
    lgv_page_end(out);
}

enum lgv_status lgv_comparison_report(const struct lgv_comparison *c, const char *dir, bool *drawn,
                                      struct lgv_error *err) {
    struct lgv_figure list[LGV_COMPARISON_FIGURES];
    size_t count = lgv_comparison_plan(c, list);
    return lgv_study_pages(c, dir, list, count, lgv_comparison_script, page, drawn, err);
}
