/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A multilevel estimate as text, JSON, a figure of the levels and a report. */
#include "out/study_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- terminal ---- */

static void verdict(const struct lgv_mlmc_result *r, char *out, size_t size) {
    char a[32], b[32];
    if (r->interrupted)
        snprintf(out, size, "interrupted: the numbers are of the part that was done");
    else if (!r->reached)
        snprintf(out, size, "the tolerance %s was NOT reached: the weak error left is about %s after %zu levels",
                 lgv_brief(a, sizeof a, r->tolerance, 3), lgv_brief(b, sizeof b, r->bias, 3), r->nlevels);
    else
        snprintf(out, size, "the tolerance %s (root mean square error) is reached",
                 lgv_brief(a, sizeof a, r->tolerance, 3));
}

static void print_levels(FILE *out, const struct lgv_mlmc_result *r, const char *bold, const char *off) {
    char step[32], paths[40], mean[32], var[32], cost[32];
    fprintf(out, "\n  %slevel        step        paths    mean of f_l - f_l-1     variance   cost/pair   seconds%s\n",
            bold, off);
    for (size_t l = 0; l < r->nlevels; l++) {
        const struct lgv_mlmc_level *v = &r->level[l];
        fprintf(out, "  %5zu %11s %12s %22s %12s %11s %9.2g", l, lgv_brief(step, sizeof step, v->step, 6),
                lgv_spaced(paths, sizeof paths, v->paths), lgv_brief(mean, sizeof mean, v->mean, 5),
                lgv_brief(var, sizeof var, v->variance, 4), lgv_brief(cost, sizeof cost, v->cost, 6), v->seconds);
        if (v->failed) fprintf(out, "  %llu pairs failed", (unsigned long long)v->failed);
        fputc('\n', out);
    }
}

/* "2^-1.02" for what falls by that factor from level to level. */
static const char *power(double decay, const char *growing, char *out, size_t size) {
    double shown = round(100 * decay) / 100;
    if (!isfinite(decay))
        snprintf(out, size, "none");
    else
        snprintf(out, size, "2^%.2f%s", shown > 0 || shown < 0 ? -shown : 0, shown < 0 ? growing : "");
    return out;
}

static const char *decays(const struct lgv_mlmc_result *r, char *out, size_t size) {
    const struct lgv_mlmc_level *last = &r->level[r->nlevels ? r->nlevels - 1 : 0];
    bool noise = !(fabs(last->mean) > 2 * sqrt(last->variance / (double)last->paths));
    char a[48], b[48];
    if (r->nlevels < 3)
        snprintf(out, size, "not known from %zu level%s", r->nlevels, r->nlevels == 1 ? "" : "s");
    else if (!isfinite(r->alpha) && !isfinite(r->beta))
        snprintf(out, size, "none (the levels do not differ)");
    else
        snprintf(out, size, "means %s, variances %s",
                 power(r->alpha, noise ? " (within the noise)" : " (growing)", a, sizeof a),
                 power(r->beta, " (growing)", b, sizeof b));
    return out;
}

/* What to do when the levels do not pay, or NULL.  Pairs without anything in common make variances that stay; what
 * makes them grow is still there at smaller steps. */
static const char *advice(const struct lgv_mlmc_result *r) {
    if (r->nlevels > 2 && r->beta < -0.25)
        return "the variances of the differences grow from level to level: multilevel sampling does not suit this "
               "observable; leave out --mlmc and take many paths at one step";
    if (r->nlevels > 2 && r->beta < 0.25)
        return "the variances of the differences do not fall from level to level: the two paths of a pair have little "
               "in common; try a smaller --largest, or plain sampling without --mlmc";
    if (r->nlevels > 1 && (r->nlevels < 3 || isfinite(r->beta)) && !(r->reached && r->plain_cost >= r->cost) &&
        r->level[1].variance > 0.2 * r->level[0].variance)
        return "the levels do not pay here: level 0 is too coarse to go with level 1; try a smaller --largest";
    return NULL;
}

static void print_costs(FILE *out, const struct lgv_mlmc_result *r) {
    char a[120], b[40];
    fprintf(out, "  decay per level: %s\n", decays(r, a, sizeof a));
    fprintf(out, "  cost %s steps of level 0", lgv_brief(a, sizeof a, r->cost, 3));
    if (r->reached) /* else the part that was done would be compared with the whole task */
        fprintf(out, "; plain Monte Carlo at this tolerance %s (%.3g times), about %.2g s",
                lgv_brief(b, sizeof b, r->plain_cost, 3), r->plain_cost / r->cost, r->plain_seconds);
    fputc('\n', out);
    const char *hint = r->interrupted ? NULL : advice(r);
    if (hint) fprintf(out, "  %s\n", hint);
}

void lgv_mlmc_summary(FILE *out, const struct lgv_mlmc_result *r, bool colour) {
    const char *bold = colour ? "\033[1m" : "", *off = colour ? "\033[0m" : "", *bad = colour ? "\033[1;31m" : "";
    char a[120], b[120], c[40], d[40], line[200];
    fprintf(out, "%s%s%s", bold, lgv_plain(a, sizeof a, r->model_name), off);
    if (r->model_file) fprintf(out, "  %s", lgv_plain(b, sizeof b, r->model_file));
    fprintf(out, "\n  multilevel Monte Carlo with %s, until %s, seed %llu, %llu thread%s, %.3g s\n",
            lgv_plain(a, sizeof a, r->method), lgv_brief(c, sizeof c, r->until, 12), (unsigned long long)r->seed,
            (unsigned long long)r->threads, r->threads == 1 ? "" : "s", r->seconds);
    if (r->chosen) fprintf(out, "  method chosen by `auto`: %s\n", r->chosen);
    verdict(r, line, sizeof line);
    fprintf(out, "  %s%s%s\n", r->reached ? "" : bad, line, r->reached ? "" : off);
    print_levels(out, r, bold, off);
    char value[80];
    fprintf(out, "\n  %sE[%s] = %s%s", bold, lgv_plain(a, sizeof a, r->observable),
            lgv_text_with_error(value, sizeof value, r->estimate, r->stderror), off);
    if (isfinite(r->bias))
        fprintf(out, ", weak error left about %s\n  95 %% interval with both: %s to %s\n",
                lgv_brief(b, sizeof b, r->bias, 2), lgv_brief(c, sizeof c, r->low, 8),
                lgv_brief(d, sizeof d, r->high, 8));
    else
        fprintf(out, ", weak error not known\n");
    print_costs(out, r);
    if (r->rescued)
        fprintf(out, "  %llu path-steps without a solution were taken in parts\n", (unsigned long long)r->rescued);
    if (r->failed)
        fprintf(out, "  %s%llu pairs of paths failed%s and are left out: the estimate is of the paths that survive\n",
                bad, (unsigned long long)r->failed, off);
}

/* ---- JSON ---- */

static json_t *level_json(const struct lgv_mlmc_level *v) {
    json_t *o = json_object();
    if (o && lgv_json_put(o, "step", lgv_json_real(v->step)) &&
        lgv_json_put(o, "paths", lgv_json_count(v->paths)) &&
        lgv_json_put(o, "failed", lgv_json_count(v->failed)) && lgv_json_put(o, "mean", lgv_json_real(v->mean)) &&
        lgv_json_put(o, "variance", lgv_json_real(v->variance)) &&
        lgv_json_put(o, "fine_mean", lgv_json_real(v->fine_mean)) &&
        lgv_json_put(o, "fine_variance", lgv_json_real(v->fine_variance)) &&
        lgv_json_put(o, "cost", lgv_json_real(v->cost)) && lgv_json_put(o, "seconds", lgv_json_real(v->seconds)))
        return o;
    json_decref(o);
    return NULL;
}

char *lgv_mlmc_json(const struct lgv_mlmc_result *r) {
    json_t *o = json_object(), *levels = json_array();
    bool ok = o && levels;
    for (size_t l = 0; ok && l < r->nlevels; l++) ok = json_array_append_new(levels, level_json(&r->level[l])) == 0;
    const struct {
        const char *name;
        double value;
    } number[] = {{"until", r->until},
                  {"tolerance", r->tolerance},
                  {"estimate", r->estimate},
                  {"stderr", r->stderror},
                  {"bias", r->bias},
                  {"low", r->low},
                  {"high", r->high},
                  {"alpha", r->alpha},
                  {"beta", r->beta},
                  {"cost", r->cost},
                  {"plain_cost", r->plain_cost},
                  {"plain_paths", r->plain_paths},
                  {"seconds", r->seconds},
                  {"plain_seconds", r->plain_seconds}};
    ok = ok && lgv_json_put(o, "kind", json_string("mlmc")) &&
         lgv_json_put(o, "model", lgv_json_text(r->model_name)) &&
         lgv_json_put(o, "method", lgv_json_text(r->method)) &&
         lgv_json_put(o, "method_reason", lgv_json_text(r->chosen)) &&
         lgv_json_put(o, "observable", lgv_json_text(r->observable)) &&
         lgv_json_put(o, "seed", lgv_json_count(r->seed)) && lgv_json_put(o, "failed", lgv_json_count(r->failed)) &&
         lgv_json_put(o, "rescued", lgv_json_count(r->rescued)) &&
         lgv_json_put(o, "reached", json_boolean(r->reached)) &&
         lgv_json_put(o, "interrupted", json_boolean(r->interrupted)) &&
         lgv_json_put(o, "version", lgv_json_text(r->version)) && lgv_json_put(o, "date", lgv_json_text(r->date));
    for (size_t i = 0; ok && i < sizeof number / sizeof *number; i++)
        ok = lgv_json_put(o, number[i].name, lgv_json_real(number[i].value));
    ok = ok && json_object_set(o, "levels", levels) == 0;
    char *text = ok ? json_dumps(o, JSON_INDENT(2)) : NULL;
    json_decref(levels);
    json_decref(o);
    return text;
}

/* ---- figure and report ---- */

static void script(struct lgv_text *out, const void *study, const char *dir, const struct lgv_figure *list,
                   size_t count) {
    const struct lgv_mlmc_result *r = study;
    (void)dir;
    for (size_t i = 0; i < count; i++) {
        bool paths = i == 1;
        lgv_text_add(out, "$level << END\n");
        for (size_t l = 0; l < r->nlevels; l++) {
            const struct lgv_mlmc_level *v = &r->level[l];
            const double row[] = {(double)l,
                                  v->variance,
                                  v->fine_variance,
                                  fabs(v->mean),
                                  1.96 * sqrt(v->variance / (double)v->paths),
                                  (double)v->paths,
                                  (double)v->paths * v->cost};
            for (size_t k = 0; k < sizeof row / sizeof *row; k++)
                lgv_study_number(out, row[k] > 0 || k == 0 ? row[k] : (double)NAN);
            lgv_text_add(out, "\n");
        }
        lgv_text_add(out, "END\n");
        lgv_study_plot_begin(out, list[i].file, list[i].title, LGV_STUDY_HEIGHT);
        lgv_plot_powers(out);
        lgv_text_add(out, "set xlabel 'level l'\nset xtics 1\nset xrange [-0.3:%g]\n", (double)r->nlevels - 0.7);
        if (paths)
            lgv_text_add(out, "plot $level using 1:6 with linespoints pt 7 lw 2 lc rgb '#0072B2' title 'paths', "
                              "$level using 1:7 with linespoints pt 5 lw 2 lc rgb '#D55E00' title 'cost'");
        else
            lgv_text_add(
                out, "plot $level using 1:3 with linespoints pt 6 lw 1.5 lc rgb '#666666' title 'variance of f_l', "
                     "$level using 1:2 with linespoints pt 7 lw 2 lc rgb '#0072B2' title 'variance of the difference', "
                     "$level using 1:4 with linespoints pt 5 lw 2 lc rgb '#D55E00' title '|mean of the difference|', "
                     "$level using 1:5 with points pt 2 lc rgb '#D55E00' title 'its 95 %% noise'");
        lgv_study_plot_end(out, list[i].file, LGV_STUDY_HEIGHT);
    }
}

static void put_levels(struct lgv_text *out, const struct lgv_mlmc_result *r) {
    char b[40];
    lgv_text_add(out,
                 "<h2>Levels</h2>\n<div class=\"card\"><table>\n<tr><th class=\"n\">level</th><th class=\"n\">step</th>"
                 "<th class=\"n\">pairs</th><th class=\"n\">failed</th><th class=\"n\">mean of the difference</th>"
                 "<th class=\"n\">variance</th><th class=\"n\">cost of a pair</th><th class=\"n\">seconds</th></tr>\n");
    for (size_t l = 0; l < r->nlevels; l++) {
        const struct lgv_mlmc_level *v = &r->level[l];
        lgv_text_add(out, "<tr><td class=\"n\">%zu</td><td class=\"n\">%s</td>", l, lgv_brief(b, sizeof b, v->step, 6));
        lgv_text_add(out, "<td class=\"n\">%s</td><td class=\"n\">%llu</td>", lgv_spaced(b, sizeof b, v->paths),
                     (unsigned long long)v->failed);
        lgv_text_add(out, "<td class=\"n\">%s</td>", lgv_brief(b, sizeof b, v->mean, 6));
        lgv_text_add(out, "<td class=\"n\">%s</td>", lgv_brief(b, sizeof b, v->variance, 4));
        lgv_text_add(out, "<td class=\"n\">%g</td><td class=\"n\">%.2g</td></tr>\n", v->cost, v->seconds);
    }
    lgv_text_add(out, "</table></div>\n");
}

static void put_costs(struct lgv_text *out, const struct lgv_mlmc_result *r) {
    char b[64], c[64], line[200];
    snprintf(line, sizeof line, "%s to %s", lgv_brief(b, sizeof b, r->low, 8), lgv_brief(c, sizeof c, r->high, 8));
    if (isfinite(r->bias)) lgv_page_fact(out, "95 % interval, weak error included", line);
    lgv_page_fact(out, "weak error left, about", isfinite(r->bias) ? lgv_brief(b, sizeof b, r->bias, 2) : "not known");
    lgv_page_fact(out, "decay per level", decays(r, line, sizeof line));
    snprintf(line, sizeof line, "%.3g times, %.2g s instead of %.2g s", r->plain_cost / r->cost, r->plain_seconds,
             r->seconds);
    if (r->reached) lgv_page_fact(out, "cost of plain Monte Carlo", line);
    const char *hint = r->interrupted ? NULL : advice(r);
    if (hint) lgv_page_fact(out, "note", hint);
}

static void page(struct lgv_text *out, const void *study, const char *dir, const struct lgv_figure *list,
                 size_t count) {
    const struct lgv_mlmc_result *r = study;
    char b[64], line[200];
    lgv_page_begin(out, r->model_name);
    lgv_text_add(out, "<h1>");
    lgv_html(out, r->model_name);
    lgv_text_add(out, "</h1>\n<p class=\"sub\">Multilevel Monte Carlo estimate of the mean of ");
    lgv_html(out, r->observable);
    lgv_text_add(out, " = <code>");
    lgv_html(out, r->formula);
    lgv_text_add(out, "</code> at t = %s, %s</p>\n", lgv_brief(b, sizeof b, r->until, 8), r->date ? r->date : "");
    verdict(r, line, sizeof line);
    bool good = r->reached && !r->failed;
    char value[80];
    lgv_text_add(out, "<p class=\"verdict%s\">E = %s (standard error); %s.", good ? "" : " bad",
                 lgv_text_with_error(value, sizeof value, r->estimate, r->stderror), line);
    if (r->failed) lgv_text_add(out, " %llu pairs of paths failed and are left out.", (unsigned long long)r->failed);
    lgv_text_add(out, "</p>\n<dl class=\"facts\">\n");
    lgv_page_fact(out, "method", r->method);
    put_costs(out, r);
    snprintf(line, sizeof line, "%llu", (unsigned long long)r->seed);
    lgv_page_fact(out, "seed", line);
    lgv_text_add(out, "</dl>\n");
    put_levels(out, r);
    lgv_text_add(out, "<h2>Figures</h2>\n<div class=\"figures\">\n");
    lgv_page_planned(out, dir, list, count);
    lgv_text_add(out, "</div>\n");
    if (r->command) {
        lgv_text_add(out, "<h2>How to repeat it</h2>\n<pre>");
        lgv_html(out, r->command);
        lgv_text_add(out, "</pre>\n");
    }
    lgv_text_add(
        out,
        "<footer>Lagrangevin %s. Numbers of paths follow from counted steps, not from measured times: the same "
        "command gives the same estimate for any number of threads.</footer>\n",
        r->version ? r->version : "");
    lgv_page_end(out);
}

enum lgv_status lgv_mlmc_report(const struct lgv_mlmc_result *r, const char *dir, bool *drawn, struct lgv_error *err) {
    const struct lgv_figure list[] = {
        {.file = "mlmc-levels",
         .title = "Decay over the levels",
         .caption =
             "Variance of the differences between levels and their mean; the faster they fall, the fewer paths the "
             "expensive levels need."},
        {.file = "mlmc-paths",
         .title = "Paths and cost of each level",
         .caption = "Pairs of paths on each level and their cost in steps of level 0."}};
    return lgv_study_pages(r, dir, list, 2, script, page, drawn, err);
}
