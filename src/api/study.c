/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Studies of the public interface: options as texts, by the tables that the command line has, and one row of functions
 * for each kind. */
#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TEXTS 64 /* options set, at most */

struct lgv_study {
    const struct kind *kind;
    struct lgv_model *model;
    struct lgv_settings settings;
    bool paths; /* were asked for */
    struct lgv_study_texts texts;
    char *text[MOST_TEXTS];
    size_t ntexts;
    lgv_progress *progress;
    void *user;
    bool stopped, done; /* done: there is a result in one of these */
    struct lgv_convergence convergence;
    struct lgv_comparison comparison;
    struct lgv_mlmc_result mlmc;
    struct lgv_sweeping sweep;
    struct lgv_examination examination;
};

struct kind {
    const char *name;
    const struct lgv_study_kind *options; /* or NULL */
    enum lgv_status (*execute)(struct lgv_study *s, struct lgv_error *err);
    char *(*json)(const struct lgv_study *s);
    enum lgv_status (*report)(const struct lgv_study *s, const char *dir, struct lgv_error *err);
    void (*clear)(struct lgv_study *s);
};

static int progress(void *user, double fraction) {
    struct lgv_study *s = user;
    if (s->progress && s->progress(s->user, fraction)) s->stopped = true;
    return s->stopped;
}

static bool gave(enum lgv_status status) {
    return status == LGV_OK || status == LGV_FAILED_PATHS || status == LGV_INTERRUPTED;
}

/* ---- converge ---- */

static enum lgv_status execute_converge(struct lgv_study *s, struct lgv_error *err) {
    struct lgv_convergence_options o;
    struct lgv_settings settings = s->settings;
    enum lgv_status status = lgv_converge_read(&s->texts, s->paths, &settings, &o, err);
    if (!status) status = lgv_converge(s->model, &settings, &o, progress, s, &s->convergence, err);
    s->done = gave(status);
    bool broken = status == LGV_OK && lgv_convergence_judge(&s->convergence) == LGV_CONVERGENCE_BROKEN;
    return broken ? lgv_fail(err, LGV_FAILED_PATHS, "an order is lower than promised, or paths failed") : status;
}

static char *json_converge(const struct lgv_study *s) {
    return lgv_json_convergence(&s->convergence);
}

static enum lgv_status report_converge(const struct lgv_study *s, const char *dir, struct lgv_error *err) {
    lgv_convergence_figure(&s->convergence, dir, err);
    return lgv_convergence_report(&s->convergence, dir, err);
}

static void clear_converge(struct lgv_study *s) {
    lgv_convergence_clear(&s->convergence);
}

/* ---- compare ---- */

static enum lgv_status execute_compare(struct lgv_study *s, struct lgv_error *err) {
    struct lgv_compare_request r;
    enum lgv_status status = lgv_compare_read(s->model, &s->texts, &s->settings, &r, err);
    if (!status) status = lgv_compare(s->model, &s->settings, &r.options, progress, s, &s->comparison, err);
    lgv_compare_request_free(&r);
    s->done = gave(status);
    return status;
}

static char *json_compare(const struct lgv_study *s) {
    return lgv_comparison_json(&s->comparison);
}

static enum lgv_status report_compare(const struct lgv_study *s, const char *dir, struct lgv_error *err) {
    bool drawn;
    return lgv_comparison_report(&s->comparison, dir, &drawn, err);
}

static void clear_compare(struct lgv_study *s) {
    lgv_comparison_clear(&s->comparison);
}

/* ---- mlmc ---- */

static enum lgv_status execute_mlmc(struct lgv_study *s, struct lgv_error *err) {
    struct lgv_mlmc_options o;
    const struct lgv_method *method;
    const char *chosen = NULL;
    enum lgv_status status = lgv_mlmc_read(&s->texts, &o, err);
    if (!status) status = lgv_method_resolve(s->model, s->settings.method, &method, &chosen, err);
    if (!status) status = lgv_mlmc(s->model, &s->settings, method, &o, progress, s, &s->mlmc, err);
    s->done = gave(status);
    s->mlmc.chosen = chosen;
    return status;
}

static char *json_mlmc(const struct lgv_study *s) {
    return lgv_mlmc_json(&s->mlmc);
}

static enum lgv_status report_mlmc(const struct lgv_study *s, const char *dir, struct lgv_error *err) {
    bool drawn;
    return lgv_mlmc_report(&s->mlmc, dir, &drawn, err);
}

static void clear_mlmc(struct lgv_study *s) {
    lgv_mlmc_clear(&s->mlmc);
}

/* ---- sweep ---- */

/* The values of the model's parameters before the sweep, which sets them; NULL: none, or no memory. */
static double *keep_parameters(const struct lgv_model *m) {
    double *value = m->npar ? lgv_new(m->npar, sizeof *value) : NULL;
    for (size_t i = 0; value && i < m->npar; i++) value[i] = m->par[i];
    return value;
}

/* Of the parameter, or of an entry of the array of that name. */
static bool named(const char *parameter, const char *name) {
    size_t n = strlen(name);
    return strncmp(parameter, name, n) == 0 && (!parameter[n] || parameter[n] == '[');
}

static enum lgv_status give_back(struct lgv_study *s, const double *value, struct lgv_error *err) {
    enum lgv_status status = LGV_OK;
    struct lgv_model *m = s->model;
    for (size_t a = 0; a < s->sweep.out.naxes; a++)
        for (size_t i = 0; value && i < m->npar; i++)
            if (named(m->par_name[i], s->sweep.out.axis[a].name) && !status)
                status = lgv_model_set(m, m->par_name[i], value[i], err);
    return status;
}

static enum lgv_status execute_sweep(struct lgv_study *s, struct lgv_error *err) {
    struct lgv_sweeping *w = &s->sweep;
    struct lgv_error later;
    *w = (struct lgv_sweeping){
        .model = s->model, .settings = s->settings, .parts = 1, .progress = progress, .user = s};
    enum lgv_status status = lgv_sweep_read(&s->texts, &w->out, err);
    if (status) return status;
    double *value = keep_parameters(s->model);
    status = lgv_sweep_run(w, err);
    enum lgv_status back = give_back(s, value, &later);
    free(value);
    s->done = gave(status) && w->out.done;
    if (!s->done) lgv_sweep_clear(&w->out); /* there is no point yet, or it failed */
    if (s->done && !back) back = lgv_sweep_label(w, &later);
    if (s->done && back) {
        if (err) *err = later;
        return back;
    }
    if (status || !s->done || lgv_sweep_well(&w->out)) return status;
    return lgv_fail(err, LGV_FAILED_PATHS, "paths failed, or something that a certificate claims does not hold");
}

static char *json_sweep(const struct lgv_study *s) {
    return lgv_sweep_json(&s->sweep.out);
}

static enum lgv_status report_sweep(const struct lgv_study *s, const char *dir, struct lgv_error *err) {
    bool drawn;
    return lgv_sweep_report(&s->sweep.out, dir, &drawn, err);
}

static void clear_sweep(struct lgv_study *s) {
    lgv_sweep_clear(&s->sweep.out);
}

int lgv_study_arrays(const struct lgv_study *study, size_t index, struct lgv_array *out) {
    if (!study || !study->done || !out || study->kind->clear != clear_sweep) return 0;
    const struct lgv_sweep *s = &study->sweep.out;
    size_t n = s->npoints, m = s->nseries, t = s->ntimes;
    const struct lgv_array row[] = {
        {"mean", "", "means at the end", LGV_ARRAY_REAL, 2, {n, m}, s->mean},
        {"stderr", "", "standard errors of the means", LGV_ARRAY_REAL, 2, {n, m}, s->err},
        {"std", "", "standard deviations over paths", LGV_ARRAY_REAL, 2, {n, m}, s->std},
        {"min", "", "least values at the end", LGV_ARRAY_REAL, 2, {n, m}, s->min},
        {"max", "", "largest values at the end", LGV_ARRAY_REAL, 2, {n, m}, s->max},
        {"paths", "", "paths of each point", LGV_ARRAY_COUNT, 1, {n}, s->paths},
        {"failed", "", "failed paths of each point", LGV_ARRAY_COUNT, 1, {n}, s->failed},
        {"holds", "", "1: everything that the certificate claims holds", LGV_ARRAY_REAL, 1, {n}, s->holds},
        {"time", "time", "output times", LGV_ARRAY_REAL, 2, {n, t}, s->time},
        {"mean_along_time", "", "means at the output times", LGV_ARRAY_REAL, 3, {n, m, t}, s->along},
        {"sample_paths", "", "observables along kept paths", LGV_ARRAY_REAL, 4, {n, s->nkept, m, t}, s->kept},
    };
    if (index >= (t ? sizeof row / sizeof *row : 8)) return 0;
    *out = row[index];
    return 1;
}

/* ---- check ---- */

static enum lgv_status execute_check(struct lgv_study *s, struct lgv_error *err) {
    enum lgv_status status = lgv_examine(s->model, &s->settings, &s->examination, err);
    s->done = status == LGV_OK;
    if (status || !s->examination.nproblems) return status;
    return lgv_fail(err, LGV_FAILED_PATHS, "%s", s->examination.problem[0].text);
}

static char *json_check(const struct lgv_study *s) {
    return lgv_examination_json(&s->examination);
}

static void clear_check(struct lgv_study *s) {
    lgv_examination_clear(&s->examination);
}

/* ---- the object ---- */

static const struct kind kinds[] = {
    {"converge", &lgv_study_kinds[LGV_STUDY_CONVERGE], execute_converge, json_converge, report_converge,
     clear_converge},
    {"compare", &lgv_study_kinds[LGV_STUDY_COMPARE], execute_compare, json_compare, report_compare, clear_compare},
    {"mlmc", &lgv_study_kinds[LGV_STUDY_MLMC], execute_mlmc, json_mlmc, report_mlmc, clear_mlmc},
    {"sweep", &lgv_study_kinds[LGV_STUDY_SWEEP], execute_sweep, json_sweep, report_sweep, clear_sweep},
    {"check", NULL, execute_check, json_check, NULL, clear_check},
};

static const struct kind *find_kind(const char *name) {
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}

enum lgv_status lgv_study_create(struct lgv_model *model, const char *kind, struct lgv_study **out,
                                 struct lgv_error *err) {
    char plain[60];
    if (out) *out = NULL;
    if (!model || !out) return lgv_fail(err, LGV_BAD_INPUT, "no model, or no place for the study");
    const struct kind *k = find_kind(kind);
    if (!k)
        return lgv_fail(err, LGV_BAD_INPUT, "a study is converge, compare, mlmc, sweep or check, not \"%s\"",
                        lgv_plain(plain, sizeof plain, kind));
    struct lgv_study *s = lgv_new(1, sizeof *s);
    if (!s) return lgv_fail_memory(err);
    s->kind = k;
    s->model = model;
    enum lgv_status status = lgv_settings_read(model, &s->settings, err);
    if (status)
        free(s);
    else
        *out = s;
    return status;
}

/* check_states and check-states are the same name. */
static bool same_name(const char *a, const char *b) {
    while (*a && (*a == *b || (*a == '_' && *b == '-') || (*a == '-' && *b == '_'))) a++, b++;
    return *a == *b;
}

static enum lgv_status set_text(struct lgv_study *s, const struct lgv_flag *f, const char *value,
                                struct lgv_error *err) {
    char *field = (char *)&s->texts + (f->offset == LGV_FLAG_OVER ? 0 : f->offset);
    bool on;
    if (!f->argument) {
        if (!lgv_option_switch(value, &on)) return lgv_fail(err, LGV_BAD_INPUT, "--%s: wanted is yes or no", f->name);
        memcpy(field, &on, sizeof on);
        return LGV_OK;
    }
    if (!*value) return lgv_fail(err, LGV_BAD_INPUT, "--%s: the %s is empty", f->name, f->argument);
    if (s->ntexts == MOST_TEXTS || (f->offset == LGV_FLAG_OVER && s->texts.nover == LGV_SWEEP_AXES))
        return lgv_fail(err, LGV_BAD_INPUT, "--%s is given too often", f->name);
    char *copy = lgv_copy(value);
    if (!copy) return lgv_fail_memory(err);
    s->text[s->ntexts++] = copy;
    const char *text = copy;
    if (f->offset == LGV_FLAG_OVER)
        s->texts.over[s->texts.nover++] = text;
    else
        memcpy(field, &text, sizeof text);
    return LGV_OK;
}

enum lgv_status lgv_study_set(struct lgv_study *study, const char *option, const char *value, struct lgv_error *err) {
    if (!study || !option || !value) return lgv_fail(err, LGV_BAD_INPUT, "no study, no option or no value");
    const struct lgv_study_kind *o = study->kind->options;
    for (size_t i = 0; o && i < o->count; i++)
        if (same_name(o->option[i].name, option)) return set_text(study, &o->option[i], value, err);
    if (strcmp(option, "paths") == 0) study->paths = true;
    return lgv_settings_set(&study->settings, option, value, err);
}

void lgv_study_on_progress(struct lgv_study *study, lgv_progress *function, void *user) {
    if (!study) return;
    study->progress = function;
    study->user = user;
}

static void forget(struct lgv_study *s) {
    if (s->done) s->kind->clear(s);
    s->done = s->stopped = false;
}

enum lgv_status lgv_study_execute(struct lgv_study *study, struct lgv_error *err) {
    if (!study) return lgv_fail(err, LGV_BAD_INPUT, "no study");
    forget(study);
    enum lgv_status status = lgv_settings_check(&study->settings, study->model, err);
    if (status) return status;
    lgv_settings_times(&study->settings, study->model); /* the rule of `auto` looks at the model at these times */
    status = study->kind->execute(study, err);
    if (!gave(status) && study->stopped) status = LGV_INTERRUPTED; /* before there was a result */
    if (status == LGV_INTERRUPTED) lgv_fail(err, status, "interrupted");
    return status;
}

char *lgv_study_json(const struct lgv_study *study) {
    return study && study->done ? study->kind->json(study) : NULL;
}

enum lgv_status lgv_study_report(const struct lgv_study *study, const char *dir, struct lgv_error *err) {
    if (!study || !dir) return lgv_fail(err, LGV_BAD_INPUT, "no study or no directory");
    if (!study->done || !study->kind->report) return lgv_fail(err, LGV_BAD_INPUT, "there is nothing to report");
    return study->kind->report(study, dir, err);
}

void lgv_study_free(struct lgv_study *study) {
    if (!study) return;
    forget(study);
    for (size_t i = 0; i < study->ntexts; i++) free(study->text[i]);
    free(study);
}

/* ---- the tables ---- */

static int run_option(size_t index, struct lgv_option_info *out) {
    static const char *const type[] = {"number", "whole number", "word", "yes or no", "program", "list of names"};
    if (index >= lgv_run_option_count) return 0;
    const struct lgv_option *row = &lgv_run_options[index];
    bool ranged = row->type == LGV_REAL || row->type == LGV_COUNT;
    *out = (struct lgv_option_info){row->name, type[row->type], row->standard, row->unit, row->doc,
                                    ranged ? row->low : 0, ranged ? row->high : 0};
    return 1;
}

int lgv_options(const char *command, size_t index, struct lgv_option_info *out) {
    if (!command || !out) return 0;
    if (strcmp(command, "run") == 0) return run_option(index, out);
    const struct kind *k = find_kind(command);
    if (!k || !k->options || index >= k->options->count) return 0;
    const struct lgv_flag *f = &k->options->option[index];
    *out = (struct lgv_option_info){.name = f->name,
                                    .type = f->argument ? "text" : "yes or no",
                                    .standard = "",
                                    .unit = f->argument ? f->argument : "",
                                    .doc = f->doc};
    return 1;
}
