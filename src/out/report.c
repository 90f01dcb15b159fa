/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The report of a run: what was found, what it rests on, and how to repeat it.  What pages consist of is in page.c. */
#include "out/private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAILURES_SHOWN 20
#define EQUATIONS_LIMIT 60000 /* bytes of MathML; beyond, they are no longer read */

/* Of an ensemble or of one path: the first series that people asked for, at the end. */
static void put_ending(struct lgv_text *out, const struct lgv_result *r, const struct lgv_series *s) {
    size_t last = r->ntimes - 1;
    char value[80], paths[40], time[40];
    lgv_text_add(out, "At t = %s ", lgv_brief(time, sizeof time, r->time[last], 8));
    if (r->paths > 1) lgv_text_add(out, "the mean of ");
    lgv_text_add(out, "<b>");
    lgv_html(out, s->name);
    if (r->paths == 1)
        lgv_text_add(out, " = %s</b>. ", lgv_brief(value, sizeof value, lgv_at(s->mean, last), 8));
    else
        lgv_text_add(out, " is %s</b> over %s paths. ",
                     lgv_text_with_error(value, sizeof value, lgv_at(s->mean, last), lgv_at(s->err, last)),
                     lgv_spaced(paths, sizeof paths, r->alive ? r->alive[last] : r->paths));
}

/* Events and time averages are what such a run was made for. */
static bool put_found(struct lgv_text *out, const struct lgv_finding *f) {
    char value[80];
    double paths = lgv_finding_value(f, "paths"), had = lgv_finding_value(f, "had");
    if (strcmp(f->group, LGV_FOUND_EVENTS) == 0) {
        lgv_text_add(out, "<b>");
        lgv_html(out, f->name);
        lgv_text_add(out, "</b> happened on <b>%.3g %%</b> of the paths", paths > 0 ? 100 * had / paths : 0);
        if (had > 1)
            lgv_text_add(out, ", first at t = %s on average",
                         lgv_text_with_error(value, sizeof value, lgv_finding_value(f, "mean"),
                                             lgv_finding_value(f, "stderr")));
        lgv_text_add(out, ". ");
        return true;
    }
    if (strcmp(f->group, LGV_FOUND_AVERAGES) != 0) return false;
    lgv_text_add(out, "The time average of <b>");
    lgv_html(out, f->name);
    lgv_text_add(out, " is %s</b>%s. ",
                 lgv_text_with_error(value, sizeof value, lgv_finding_value(f, "mean"),
                                     lgv_finding_value(f, "stderr")),
                 lgv_finding_value(f, "r_hat") > LGV_R_HAT
                     ? ", which still depends on the path or its beginning (R-hat)" : "");
    return true;
}

/* What a reader wants to know first, in words and with its number. */
static void put_finding(struct lgv_text *out, const struct lgv_result *r) {
    size_t listed = 0, *order = lgv_series_listed(r, &listed), said = 0;
    lgv_text_add(out, "<p class=\"finding\">");
    for (size_t i = 0; i < r->nfindings && said < 2; i++) said += put_found(out, &r->finding[i]) ? 1u : 0u;
    for (size_t k = 0; order && r->ntimes > 0 && k < listed && said < 2; k++) {
        const struct lgv_series *s = &r->series[order[k]];
        bool asked = s->kind == LGV_OBSERVABLE_DECLARED || (k == 0 && said == 0);
        if (!asked || (r->alive && r->alive[r->ntimes - 1] == 0)) break;
        put_ending(out, r, s);
        said++;
    }
    lgv_text_add(out, "</p>\n");
    free(order);
}

/* One line that tells a reader in a hurry whether all is well. */
static void put_verdict(struct lgv_text *out, const struct lgv_result *r, const struct lgv_check *row, size_t count) {
    size_t holds = 0, broken = 0;
    for (size_t i = 0; i < count; i++) {
        holds += row[i].mark == LGV_MARK_HOLDS;
        broken += row[i].mark == LGV_MARK_BROKEN;
    }
    bool good = broken == 0 && !r->interrupted;
    lgv_text_add(out, "<p class=\"verdict%s\">", good ? "" : " bad");
    if (good && holds == 1)
        lgv_text_add(out, "The one check of this run holds.");
    else if (good)
        lgv_text_add(out, "All %zu checks of this run hold.", holds);
    else if (broken > 0)
        lgv_text_add(out, "%zu of %zu checks of this run %s not hold: ", broken, holds + broken,
                     broken == 1 ? "does" : "do");
    for (size_t i = 0, said = 0; i < count; i++)
        if (row[i].mark == LGV_MARK_BROKEN) {
            lgv_html(out, row[i].name);
            lgv_text_add(out, " (");
            lgv_html(out, row[i].value);
            lgv_text_add(out, "%s", ++said < broken ? "), " : ").");
        }
    if (r->interrupted)
        lgv_text_add(out, " The run was interrupted: %llu of %llu paths and %llu of %llu steps were done.",
                     (unsigned long long)r->paths_done, (unsigned long long)r->paths, (unsigned long long)r->steps_done,
                     (unsigned long long)r->steps);
    lgv_text_add(out, "</p>\n");
}

static void fact_count(struct lgv_text *out, const char *name, uint64_t value) {
    char b[64];
    lgv_page_fact(out, name, lgv_spaced(b, sizeof b, value));
}

/* The step of the options: a run may take a shorter one to end at `until`. */
static double asked_step(const struct lgv_result *r) {
    for (size_t i = 0; i < r->nsettings; i++)
        if (r->setting[i].name && strcmp(r->setting[i].name, "step") == 0 && r->setting[i].value)
            return strtod(r->setting[i].value, NULL);
    return r->step;
}

static void put_facts(struct lgv_text *out, const struct lgv_result *r) {
    char b[96], c[48];
    lgv_text_add(out, "<h2>What was run</h2>\n<dl class=\"facts\">\n");
    lgv_page_fact(out, "method", r->method);
    double asked = asked_step(r);
    lgv_brief(b, sizeof b, r->step, 12);
    if (fabs(asked - r->step) > 1e-9 * r->step) snprintf(b, sizeof b, "%.8g (%.8g was asked for)", r->step, asked);
    lgv_page_fact(out, "step", b);
    lgv_page_fact(out, "until", lgv_brief(b, sizeof b, r->until, 12));
    fact_count(out, "steps", r->steps);
    fact_count(out, "paths", r->paths);
    snprintf(b, sizeof b, "%llu", (unsigned long long)r->seed);
    lgv_page_fact(out, "seed", b);
    if (r->increments_file) lgv_page_fact(out, "increments from", r->increments_file);
    fact_count(out, "degrees of freedom", r->dof);
    fact_count(out, "noises", r->nnoise);
    if (r->nconstraints > 0) fact_count(out, "constraints", r->nconstraints);
    snprintf(b, sizeof b, "%.3g s", r->seconds);
    lgv_page_fact(out, "time taken", b);
    lgv_page_fact(out, "path-steps per second", lgv_rate(b, sizeof b, r->path_steps_per_second));
    snprintf(b, sizeof b, "%llu x %s", (unsigned long long)r->threads, lgv_spaced(c, sizeof c, r->lanes));
    lgv_page_fact(out, "threads x lanes", b);
    if (r->newton_iterations > 0)
        lgv_page_fact(out, "Newton iterations per step", lgv_brief(b, sizeof b, r->newton_iterations, 3));
    lgv_text_add(out, "</dl>\n");
    if (r->method_doc) {
        lgv_text_add(out, "<p class=\"sub gap\">Method <b>");
        lgv_html(out, r->method);
        lgv_text_add(out, "</b>: ");
        lgv_html(out, r->method_doc);
        if (r->method_reason) {
            lgv_text_add(out, " Chosen by <code>method: auto</code>: ");
            lgv_html(out, r->method_reason);
            lgv_text_add(out, ".");
        }
        lgv_text_add(out, "</p>\n");
    }
}

/* The model as formulas, and the equations of motion that follow from them. */
static void put_equations(struct lgv_text *out, const struct lgv_result *r) {
    static const enum lgv_equations which[] = {LGV_EQUATIONS_DEFINITION, LGV_EQUATIONS_STRATONOVICH};
    struct lgv_model *model = NULL;
    if (!r->model_text || lgv_model_parse(r->model_text, r->model_name, &model, NULL) != LGV_OK) return;
    struct lgv_text math = {0};
    for (size_t i = 0; i < sizeof which / sizeof *which; i++) {
        char *one = NULL;
        if (lgv_model_equations(model, which[i], LGV_MATHML, &one, NULL) == LGV_OK && one)
            lgv_text_add(&math, "%s\n", one);
        free(one);
    }
    if (math.size > 0 && math.size < EQUATIONS_LIMIT)
        lgv_text_add(out, "<h2>Equations</h2>\n<div class=\"card equations\">\n%s</div>\n", math.data);
    lgv_text_free(&math);
    lgv_model_free(model);
}

static void put_certificate(struct lgv_text *out, const struct lgv_check *row, size_t count) {
    lgv_text_add(out, "<h2>Certificate</h2>\n<div class=\"card\"><table class=\"certificate\">\n"
                      "<tr><th></th><th>what</th><th>measured</th><th>what it means</th></tr>\n");
    for (size_t i = 0; i < count; i++) {
        static const char *const class[] = {"none", "broken", "holds"};
        static const char *const mark[] = {"for information", "\xe2\x9c\x97 does not hold", "\xe2\x9c\x93 holds"};
        lgv_text_add(out, "<tr><td class=\"mark %s\">%s</td><td class=\"name\">", class[row[i].mark + 1],
                     mark[row[i].mark + 1]);
        lgv_html(out, row[i].name);
        lgv_text_add(out, "</td><td>");
        lgv_html(out, row[i].value);
        lgv_text_add(out, "</td><td>");
        lgv_html(out, row[i].verdict);
        lgv_text_add(out, "<div class=\"why\">");
        lgv_html(out, row[i].explained);
        lgv_text_add(out, "</div></td></tr>\n");
    }
    lgv_text_add(out, "</table></div>\n");
}

static void put_figures(struct lgv_text *out, const struct lgv_result *r, const char *dir) {
    size_t count;
    struct lgv_figure *list = lgv_figure_plan(r, &count);
    if (!list) return;
    lgv_text_add(out, "<h2>Figures</h2>\n<div class=\"figures\">\n");
    lgv_players(out, r);
    lgv_page_planned(out, dir, list, count);
    lgv_text_add(out, "</div>\n");
    free(list);
}

static void cell(struct lgv_text *out, double x, int digits) {
    char b[40];
    lgv_text_add(out, "<td class=\"n\">%s</td>", lgv_brief(b, sizeof b, x, digits));
}

static void put_series_name(struct lgv_text *out, const struct lgv_series *s) {
    const char *kind = lgv_observable_kind_name(s->kind);
    lgv_text_add(out, "<tr><td class=\"name\">");
    lgv_html(out, s->name);
    if (!s->name || strcmp(s->name, kind) != 0) lgv_text_add(out, " <span class=\"kind\">%s</span>", kind);
    char b[40];
    if (s->period > 0) lgv_text_add(out, " <span class=\"kind\">mod %s</span>", lgv_brief(b, sizeof b, s->period, 6));
    lgv_text_add(out, "</td>");
}

/* Of one path: where it is, and how far it has been from its start. */
static void put_values(struct lgv_text *out, const struct lgv_result *r, const size_t *order, size_t listed) {
    size_t last = r->ntimes - 1;
    char b[40];
    lgv_text_add(out,
                 "<h2>Values at t = %s</h2>\n<div class=\"card\"><table>\n<tr><th>series</th><th class=\"n\">at the "
                 "start</th><th class=\"n\">at the end</th><th class=\"n\">largest change from the start</th></tr>\n",
                 lgv_brief(b, sizeof b, r->time[last], 8));
    for (size_t k = 0; k < listed; k++) {
        const struct lgv_series *s = &r->series[order[k]];
        put_series_name(out, s);
        cell(out, lgv_at(s->mean, 0), 8);
        cell(out, lgv_at(s->mean, last), 8);
        cell(out, s->drift, 3);
        lgv_text_add(out, "</tr>\n");
    }
    lgv_text_add(out, "</table></div>\n");
}

static void put_statistics(struct lgv_text *out, const struct lgv_result *r, const size_t *order, size_t listed) {
    size_t last = r->ntimes - 1;
    uint64_t alive = r->alive ? r->alive[last] : 0;
    char b[40];
    lgv_text_add(out,
                 "<h2>Statistics at t = %s</h2>\n<p class=\"sub\">%llu path%s; quantiles are from those of the first "
                 "%llu that do.</p>\n<div class=\"card\"><table class=\"wide\">\n<tr><th>series</th>",
                 lgv_brief(b, sizeof b, r->time[last], 8), (unsigned long long)alive,
                 alive == 1 ? " contributes" : "s contribute", (unsigned long long)r->sample_paths);
    static const char *const head[] = {"mean \xc2\xb1 stderr", "std", "min", "5 %", "median", "95 %", "max"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) lgv_text_add(out, "<th class=\"n\">%s</th>", head[i]);
    lgv_text_add(out, "</tr>\n");
    for (size_t k = 0; k < listed; k++) {
        const struct lgv_series *s = &r->series[order[k]];
        put_series_name(out, s);
        char both[80];
        lgv_text_with_error(both, sizeof both, lgv_at(s->mean, last), lgv_at(s->err, last));
        lgv_text_add(out, "<td class=\"n\">%s</td>", both);
        cell(out, lgv_at(s->std, last), 4);
        cell(out, lgv_at(s->min, last), 5);
        cell(out, lgv_at(s->quantile[0], last), 5);
        cell(out, lgv_at(s->quantile[2], last), 5);
        cell(out, lgv_at(s->quantile[4], last), 5);
        cell(out, lgv_at(s->max, last), 5);
        lgv_text_add(out, "</tr>\n");
    }
    lgv_text_add(out, "</table></div>\n");
}

static void put_finals(struct lgv_text *out, const struct lgv_result *r) {
    size_t listed, *order = lgv_series_listed(r, &listed);
    char line[300];
    if (order && r->ntimes > 0) (r->paths == 1 ? put_values : put_statistics)(out, r, order, listed);
    if (order && listed < r->nseries)
        lgv_text_add(out, "<p class=\"sub\">%zu more, members of families like these, are in results.h5.</p>\n",
                     r->nseries - listed);
    if (order && lgv_stored_line(r, line, sizeof line)) {
        lgv_text_add(out, "<p class=\"sub\">");
        lgv_html(out, line);
        lgv_text_add(out, "</p>\n");
    }
    free(order);
}

static void put_failures(struct lgv_text *out, const struct lgv_result *r) {
    char line[300];
    lgv_failure_line(r, line, sizeof line);
    lgv_text_add(out, "<h2>Failures</h2>\n<p>");
    lgv_html(out, line);
    lgv_text_add(out, ".</p>\n");
    if (r->nfailures == 0) return;
    lgv_text_add(out, "<div class=\"card\"><table>\n<tr><th class=\"n\">path</th><th class=\"n\">step</th>"
                      "<th class=\"n\">time</th><th>reason</th></tr>\n");
    for (size_t i = 0; i < r->nfailures && i < FAILURES_SHOWN; i++) {
        const struct lgv_failure *f = &r->failure[i];
        lgv_text_add(out, "<tr><td class=\"n\">%llu</td><td class=\"n\">%llu</td>", (unsigned long long)f->path,
                     (unsigned long long)f->step);
        cell(out, r->t0 + (double)f->step * r->step, 6);
        lgv_text_add(out, "<td>%s</td></tr>\n", lgv_fail_text(f->reason));
    }
    lgv_text_add(out, "</table></div>\n");
    if (r->failed > FAILURES_SHOWN) lgv_text_add(out, "<p class=\"sub\">More are listed in results.h5.</p>\n");
}

/* A word as a shell would read it back, then made safe for HTML. */
static void shell_word(struct lgv_text *out, const char *word) {
    const char *safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%";
    if (*word && word[strspn(word, safe)] == '\0') {
        lgv_html(out, word);
        return;
    }
    struct lgv_text quoted = {0};
    lgv_text_add(&quoted, "'");
    for (; *word; word++) lgv_text_append(&quoted, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    lgv_text_add(&quoted, "'");
    lgv_html(out, quoted.failed ? "?" : quoted.data);
    lgv_text_free(&quoted);
}

/* A value as text that reads back to the same bits: 0.10000000000000001 is 0.1. */
static const char *short_value(char *out, size_t size, const char *value) {
    char *end;
    double x = strtod(value, &end);
    if (!strchr(value, '.') || *end || !isfinite(x)) return value;
    return strlen(lgv_exact(out, size, x)) < strlen(value) ? out : value;
}

static void put_sets(struct lgv_text *out, const struct lgv_setting *list, size_t count) {
    /* These have switches of their own, or do not change the result. */
    static const char *const known[] = {"method", "step", "until", "paths", "seed", "threads", "out", "json"};
    for (size_t i = 0; i < count; i++) {
        bool skip = !list[i].name || !list[i].value || !*list[i].value;
        for (size_t k = 0; !skip && k < sizeof known / sizeof *known; k++) skip = strcmp(list[i].name, known[k]) == 0;
        if (skip) continue;
        struct lgv_text word = {0};
        char number[40];
        lgv_text_add(&word, "%s=%s", list[i].name, short_value(number, sizeof number, list[i].value));
        lgv_text_add(out, " --set ");
        shell_word(out, word.failed ? "?" : word.data);
        lgv_text_free(&word);
    }
}

/* The end as people write it: 628 steps of 0.1 end at 62.800000000000004, and 62.8 asks for the same steps.  All digits
 * where it might not: the number of steps is (until - start) / step up to a part in 1e6. */
static const char *until_text(char *out, size_t size, const struct lgv_result *r) {
    lgv_brief(out, size, r->until, 12);
    double steps = (double)r->steps, n = (strtod(out, NULL) - r->t0) / r->step;
    return fabs(n - steps) <= 1e-7 * fmax(1, steps) && fabs(n - steps) < 0.1 ? out : lgv_exact(out, size, r->until);
}

static void put_repeat(struct lgv_text *out, const struct lgv_result *r) {
    char step[40], until[40];
    lgv_text_add(out,
                 "<h2>How to repeat it</h2>\n<p>The same command gives the same bits, whatever the number of threads."
                 "</p>\n<pre>lgv run ");
    shell_word(out, r->model_file ? r->model_file : "model.yaml");
    lgv_text_add(out, " --method ");
    shell_word(out, r->method ? r->method : "");
    lgv_text_add(out, " --step %s --until %s --paths %llu --seed %llu", lgv_exact(step, sizeof step, r->step),
                 until_text(until, sizeof until, r), (unsigned long long)r->paths, (unsigned long long)r->seed);
    if (r->increments_file) {
        lgv_text_add(out, " --increments ");
        shell_word(out, r->increments_file);
    }
    put_sets(out, r->parameter, r->nparameters);
    put_sets(out, r->setting, r->nsettings);
    lgv_text_add(out, "</pre>\n");
    if (r->command) {
        lgv_text_add(out, "<p>It was called as <code>");
        lgv_html(out, r->command);
        lgv_text_add(out, "</code></p>\n");
    }
    if (r->model_text) {
        lgv_text_add(out, "<p>The model%s:</p>\n<pre>", r->model_file ? "" : " (save it as model.yaml)");
        lgv_html(out, r->model_text);
        lgv_text_add(out, "</pre>\n");
    }
}

static void put_page(struct lgv_text *out, const struct lgv_result *r, const char *dir, const struct lgv_check *row,
                     size_t count) {
    lgv_page_begin(out, r->model_name);
    lgv_text_add(out, "<h1>");
    lgv_html(out, r->model_name);
    lgv_text_add(out, "</h1>\n<p class=\"sub\">%s of Lagrangevin", r->paths == 1 ? "Run" : "Ensemble run");
    if (r->model_file) {
        lgv_text_add(out, " from <code>");
        lgv_html(out, r->model_file);
        lgv_text_add(out, "</code>");
    }
    lgv_text_add(out, "%s", r->date ? ", " : "");
    lgv_html(out, r->date);
    lgv_text_add(out, "</p>\n");
    put_finding(out, r);
    put_verdict(out, r, row, count);
    put_facts(out, r);
    put_equations(out, r);
    put_certificate(out, row, count);
    put_figures(out, r, dir);
    put_finals(out, r);
    lgv_found_report(out, r);
    put_failures(out, r);
    put_repeat(out, r);
    lgv_text_add(out, "<footer>Lagrangevin ");
    lgv_html(out, r->version);
    lgv_text_add(out, ", kernel compiler ");
    lgv_html(out, r->compiler ? r->compiler : "not known");
    lgv_text_add(out, ". All numbers are in results.h5 beside this report.</footer>\n");
    lgv_page_end(out);
}

enum lgv_status lgv_report(const struct lgv_result *r, const char *dir, struct lgv_error *err) {
    struct lgv_text page = {0}, path = {0};
    size_t count;
    struct lgv_check *row = lgv_checks(r, &count);
    enum lgv_status status = LGV_OK;
    if (row) {
        put_page(&page, r, dir, row, count);
        lgv_text_add(&path, "%s/report.html", dir);
    }
    if (!row || page.failed || path.failed)
        status = lgv_fail_memory(err);
    else
        status = lgv_file_replace(path.data, page.data, page.size, err);
    free(row);
    lgv_text_free(&page);
    lgv_text_free(&path);
    return status;
}
