/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps that methods have tried: energy error and survival against the step, as text, JSON, part of a report and
 * figures. */
#include "out/study_compare.h"

#include <math.h>
#include <string.h>

static double survivors(const struct lgv_comparison *c, const struct lgv_trial *t) {
    return 100.0 * (double)(c->paths - t->failed - t->lost) / (double)c->paths;
}

static const char *what_is_lost(const struct lgv_comparison *c) {
    return c->conservative ? "a path is lost when it fails or its energy changes by more than |H(0)|"
                           : "a path is lost when it fails; noise and friction change the energy, too";
}

static const char *expectation(const struct lgv_compared *m, char *out, size_t size) {
    char b[40];
    if (isinf(m->stable))
        snprintf(out, size, "any step is stable for linear forces");
    else if (isnan(m->stable))
        snprintf(out, size, "the limit is not known beforehand");
    else
        snprintf(out, size, "stable up to %s, as far as the start tells", lgv_brief(b, sizeof b, m->stable, 4));
    return out;
}

/* ---- terminal ---- */

static const char *number_or_dash(double x, char *out, size_t size) {
    return isfinite(x) ? lgv_brief(out, size, x, 4) : "-";
}

void lgv_comparison_steps_print(FILE *out, const struct lgv_comparison *c, bool colour) {
    const char *bold = colour ? "\033[1m" : "", *off = colour ? "\033[0m" : "", *bad = colour ? "\033[1;31m" : "";
    char name[80], a[40], b[40], d[40], text[120];
    fprintf(out, "  energy error: largest |H - H(0)| of a path at the output times, its median over paths\n  %s\n",
            what_is_lost(c));
    for (size_t i = 0; i < c->count; i++) {
        const struct lgv_compared *m = &c->method[i];
        fprintf(out, "\n  %s%s%s  %s\n  %14s %14s %14s %12s %10s\n", bold, lgv_plain(name, sizeof name, m->name), off,
                m->ntrials ? expectation(m, text, sizeof text) : "not done", "step", "energy error", "most", "survive",
                "seconds");
        for (size_t k = 0; k < m->ntrials; k++) {
            const struct lgv_trial *t = &m->trial[k];
            double s = survivors(c, t);
            fprintf(out, "  %14s %14s %14s %s%10.4g %%%s %10.2g\n", lgv_brief(a, sizeof a, c->trial_step[k], 5),
                    number_or_dash(t->energy, b, sizeof b), number_or_dash(t->most, d, sizeof d), s < 100 ? bad : "", s,
                    s < 100 ? off : "", t->seconds);
        }
    }
}

/* ---- JSON ---- */

json_t *lgv_comparison_steps_json(const struct lgv_comparison *c, const struct lgv_compared *m) {
    json_t *all = json_array();
    for (size_t k = 0; all && k < m->ntrials; k++) {
        const struct lgv_trial *t = &m->trial[k];
        json_t *x = json_object();
        bool ok = x && lgv_json_put(x, "step", lgv_json_real(c->trial_step[k])) &&
                  lgv_json_put(x, "energy_error", lgv_json_real(t->energy)) &&
                  lgv_json_put(x, "energy_error_max", lgv_json_real(t->most)) &&
                  lgv_json_put(x, "failed", lgv_json_count(t->failed)) &&
                  lgv_json_put(x, "lost", lgv_json_count(t->lost)) &&
                  lgv_json_put(x, "survive", lgv_json_real(survivors(c, t) / 100)) &&
                  lgv_json_put(x, "seconds", lgv_json_real(t->seconds));
        if (ok && json_array_append_new(all, x) == 0) continue;
        json_decref(x);
        json_decref(all);
        return NULL;
    }
    return all;
}

/* ---- the report ---- */

static void put_method(struct lgv_text *out, const struct lgv_comparison *c, const struct lgv_compared *m) {
    char b[40], text[120];
    lgv_text_add(out, "<h2>");
    lgv_html(out, m->name);
    lgv_text_add(out, "</h2>\n<p class=\"sub\">%s</p>\n<div class=\"card\"><table class=\"wide\">\n<tr>"
                      "<th class=\"n\">step</th><th class=\"n\">energy error</th><th class=\"n\">largest of all paths"
                      "</th><th class=\"n\">failed</th><th class=\"n\">lost</th><th class=\"n\">survive</th></tr>\n",
                 m->ntrials ? expectation(m, text, sizeof text) : "not done");
    for (size_t k = 0; k < m->ntrials; k++) {
        const struct lgv_trial *t = &m->trial[k];
        const double value[] = {c->trial_step[k], t->energy, t->most};
        lgv_text_add(out, "<tr>");
        for (size_t n = 0; n < 3; n++)
            lgv_text_add(out, "<td class=\"n\">%s</td>", number_or_dash(value[n], b, sizeof b));
        lgv_text_add(out, "<td class=\"n\">%llu</td><td class=\"n\">%llu</td><td class=\"n%s\">%.4g %%</td></tr>\n",
                     (unsigned long long)t->failed, (unsigned long long)t->lost,
                     t->failed || t->lost ? " mark broken" : "", survivors(c, t));
    }
    lgv_text_add(out, "</table></div>\n");
}

void lgv_comparison_steps_page(struct lgv_text *out, const struct lgv_comparison *c) {
    lgv_text_add(out, "<p>Energy error: the largest |H - H(0)| of a path at the output times, its median over paths. "
                      "Here ");
    lgv_html(out, what_is_lost(c));
    lgv_text_add(out, ".</p>\n");
    for (size_t i = 0; i < c->count; i++) put_method(out, c, &c->method[i]);
}

/* ---- figures ---- */

size_t lgv_comparison_steps_plan(const struct lgv_comparison *c, struct lgv_figure list[2]) {
    static const char *const file[] = {"steps-energy", "steps-survival"};
    static const char *const title[] = {"Energy error against the step", "Surviving paths against the step"};
    bool any = false;
    for (size_t i = 0; i < c->count; i++) any |= c->method[i].ntrials > 0;
    for (size_t k = 0; any && k < 2; k++) {
        list[k] = (struct lgv_figure){
            .kind = LGV_FIGURE_PROFILE,
            .index = k,
            .caption = k ? "Share of the paths that are neither lost nor failed; dotted: largest step that the "
                           "frequencies at the start allow."
                         : "Largest |H - H(0)| of a path, median over paths; curves end where paths fail. Dotted: "
                           "largest step that the frequencies at the start allow."};
        snprintf(list[k].file, sizeof list[k].file, "%s", file[k]);
        snprintf(list[k].title, sizeof list[k].title, "%s, until %.6g", title[k], c->until);
    }
    return any ? 2 : 0;
}

/* Ten times |H(0)| is blown up. */
static void put_energies(struct lgv_text *out, const struct lgv_comparison *c) {
    double low = INFINITY, high = 0, top = c->conservative && c->energy > 0 ? 10 * c->energy : 1e290;
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->method[i].ntrials; k++) {
            double x = c->method[i].trial[k].energy;
            if (!(x > 0) || !(x <= top)) continue;
            low = fmin(low, x);
            high = fmax(high, x);
        }
    lgv_plot_powers(out);
    lgv_text_add(out, "set ylabel 'energy error'\n");
    if (high > 0) lgv_text_add(out, "set yrange [%.6g:%.6g]\n", 0.5 * low, 3 * high);
}

static void put_limits(struct lgv_text *out, const struct lgv_comparison *c) {
    for (size_t i = 0; i < c->count; i++) {
        double x = c->method[i].stable;
        if (c->method[i].ntrials && x > c->trial_step[0] && x < c->trial_step[c->ntrials - 1])
            lgv_text_add(out, "set arrow from %.9g,graph 0 to %.9g,graph 1 nohead lw 1 dt 3 lc rgb '%s'\n", x, x,
                         lgv_study_style(i, c->count).colour);
    }
}

void lgv_comparison_steps_plot(struct lgv_text *out, const struct lgv_comparison *c, const struct lgv_figure *f) {
    struct lgv_text key = {0};
    char name[60];
    size_t widest = 0;
    for (size_t i = 0; i < c->count; i++) {
        size_t width = lgv_text_width(lgv_plain(name, sizeof name, c->method[i].name));
        widest = width > widest ? width : widest;
        lgv_text_add(out, "$m%zu << END\n", i);
        for (size_t k = 0; k < c->method[i].ntrials; k++) {
            const struct lgv_trial *t = &c->method[i].trial[k];
            lgv_study_number(out, c->trial_step[k]);
            lgv_study_number(out, f->index ? survivors(c, t) : t->energy > 0 ? t->energy : (double)NAN);
            lgv_text_add(out, "\n");
        }
        lgv_text_add(out, "%sEND\n", c->method[i].ntrials ? "" : "NaN NaN\n");
    }
    int height = lgv_study_key(&key, c->count, widest);
    lgv_study_plot_begin(out, f->file, f->title, height);
    lgv_text_add(out, "%s", key.failed || !key.data ? "" : key.data);
    lgv_text_free(&key);
    if (f->index)
        lgv_text_add(out, "set yrange [-4:104]\nset ylabel 'surviving paths (%%)'\n");
    else
        put_energies(out, c);
    put_limits(out, c);
    lgv_study_short_tics(out, 'x', c->trial_step[0], c->trial_step[c->ntrials - 1]);
    lgv_text_add(out, "set logscale x\nset format x '%%g'\nset xlabel 'step'\nset xrange [%.9g:%.9g]\nplot ",
                 0.95 * c->trial_step[0], 1.05 * c->trial_step[c->ntrials - 1]);
    for (size_t i = 0; i < c->count; i++) {
        struct lgv_study_style s = lgv_study_style(i, c->count);
        lgv_text_add(out, "%s$m%zu using 1:2 with linespoints lw %.3g dt %s pt %d ps %.3g lc rgb '%s' title ",
                     i ? ", " : "", i, s.width, s.dash, s.mark, s.size, s.colour);
        lgv_quote(out, lgv_plain(name, sizeof name, c->method[i].name));
    }
    lgv_study_plot_end(out, f->file, height);
}
