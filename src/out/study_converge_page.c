/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A convergence study as a figure (error over step, both logarithmic, with lines of the expected orders) and as a
 * one-file report. */
#include "out/private.h"
#include "out/study_compare.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int shape[] = {5, 7, 9, 11, 13, 15}; /* filled; one less is the same shape hollow */
#define COLOURS 7                                  /* of lgv_study_style */
#define SHAPES (sizeof shape / sizeof *shape)

static struct lgv_figure figure_of(const struct lgv_convergence *c) {
    struct lgv_figure f = {
        .file = "convergence",
        .caption = c->random ? "Error at the end over the step, with one standard error up and down. Grey lines have "
                               "the slopes of the expected orders. Hollow points are not in the fits: noise, "
                               "round-off, the error of the reference, or paths that have lost the solution."
                             : "Error at the end over the step. Grey lines have the slopes of the expected orders. "
                               "Hollow points are not in the fits: round-off, the error of the reference, or a "
                               "solution that is lost."};
    char name[100], of[100];
    lgv_plain(name, sizeof name, c->model_name);
    lgv_convergence_of(c, of, sizeof of);
    snprintf(f.title, sizeof f.title, "%s: %s error%s%s%s", name, c->weak ? "weak" : "strong", c->whole ? "" : " of ",
             of, !c->weak && c->random ? " (RMS over paths)" : "");
    return f;
}

/* ---- the figure ---- */

/* step, error, low, high; the bar of a point near zero ends at the bottom of the picture. */
static void put_data(struct lgv_text *out, const struct lgv_convergence *c, size_t k, bool fitted, double bottom) {
    lgv_text_add(out, "$%s%zu << END\n", fitted ? "good" : "noise", k);
    for (size_t l = 0; l < c->nlevels; l++) {
        const struct lgv_convergence_level *x = &c->method[k].level[l];
        double se = isfinite(x->stderror) ? x->stderror : 0;
        if ((x->use == LGV_LEVEL_FITTED) != fitted || !(x->error > 0) || !isfinite(x->error)) continue;
        lgv_text_add(out, "%.9g %.9g %.9g %.9g\n", x->step, x->error, fmax(x->error - se, bottom), x->error + se);
    }
    lgv_text_add(out, "NaN NaN NaN NaN\nEND\n"); /* no data at all would be an error */
}

static void error_range(const struct lgv_convergence *c, double *low, double *high) {
    *low = INFINITY;
    *high = 0;
    for (size_t k = 0; k < c->nrows; k++)
        for (size_t l = 0; l < c->nlevels; l++) {
            double e = c->method[k].level[l].error;
            if (!(e > 0) || !isfinite(e)) continue;
            *low = fmin(*low, e);
            *high = fmax(*high, e);
        }
    if (!(*high > 0)) *low = 0.1, *high = 1;
}

static const char *order_name(char *out, size_t size, double order) {
    double twice = 2 * order;
    if (fabs(twice - round(twice)) < 1e-9 && fabs(order - round(order)) > 0.25)
        snprintf(out, size, "%.0f/2", twice);
    else
        snprintf(out, size, "%g", order);
    return out;
}

/* A grey line for every expected order, below the lowest curve that should have it: `data` writes its ends, else it is
 * one item of the plot command. */
static void put_slopes(struct lgv_text *out, const struct lgv_convergence *c, bool data) {
    char name[32];
    double low = c->method[0].level[c->nlevels - 1].step, high = c->method[0].level[0].step;
    for (size_t k = 0; k < c->nrows; k++) {
        double order = c->method[k].expected, size = INFINITY;
        bool seen = !(order > 0);
        for (size_t i = 0; i < k; i++) seen = seen || fabs(c->method[i].expected - order) < 1e-9;
        for (size_t i = k; !seen && i < c->nrows; i++)
            for (size_t l = 0; fabs(c->method[i].expected - order) < 1e-9 && l < c->nlevels; l++) {
                const struct lgv_convergence_level *x = &c->method[i].level[l];
                if (!x->use) size = fmin(size, 0.62 * x->error / pow(x->step, order));
            }
        if (seen || !isfinite(size)) continue;
        if (data)
            lgv_text_add(out,
                         "$slope%zu << END\n%.9g %.9g\n%.9g %.9g\nEND\n$end%zu << END\n%.9g %.9g \"order %s\"\nEND\n",
                         k, low, size * pow(low, order), high, size * pow(high, order), k, high,
                         size * pow(high, order), order_name(name, sizeof name, order));
        else
            lgv_text_add(out,
                         "$slope%zu using 1:2 with lines lw 1.6 dt (8,6) lc rgb '#999999' notitle, "
                         "$end%zu using 1:2:3 with labels left offset 0.8,0 tc rgb '#777777' notitle, ",
                         k, k);
    }
}

/* A method has its colour (a quantity, when there is one method), a quantity its dashes; together their shape. */
static void put_curves(struct lgv_text *out, const struct lgv_convergence *c) {
    static const char *const dash[] = {"", "dt (5,3)", "dt (2,3)", "dt (9,3,2,3)"};
    for (size_t i = 0; i < c->nrows; i++) {
        const struct lgv_convergence_method *m = &c->method[i];
        size_t k = c->nmethods == 1 ? i : i % c->nmethods;
        const char *rgb = lgv_study_style(k, 1).colour;
        int filled = shape[i % SHAPES];
        char title[240], order[80], of[60] = "";
        if (c->nquantities > 1) lgv_plain(of, sizeof of, c->quantity[m->quantity].name);
        int used = snprintf(title, sizeof title, "%s%s%s", m->method->name, of[0] ? ", " : "", of);
        if (isfinite(m->order) && used > 0 && (size_t)used < sizeof title)
            snprintf(title + used, sizeof title - (size_t)used, "  %s",
                     lgv_convergence_order(m->order, m->order_stderr, order, sizeof order));
        lgv_text_add(out, "$good%zu using 1:2:3:4 with yerrorbars lw 1.3 ps 0.01 pt %d lc rgb '%s' notitle, ", i,
                     filled, rgb);
        lgv_text_add(out, "$noise%zu using 1:2:3:4 with yerrorbars lw 1 ps 0.8 pt %d lc rgb '%s' notitle, ", i,
                     filled - 1, rgb);
        lgv_text_add(out, "$good%zu using 1:2 with linespoints lw 1.8 ps 0.8 pt %d %s lc rgb '%s' title ", i, filled,
                     dash[(m->quantity + k / COLOURS) % 4], rgb);
        lgv_quote(out, title);
        lgv_text_add(out, i + 1 < c->nrows ? ", " : "\n");
    }
}

static void put_script(struct lgv_text *out, const struct lgv_convergence *c, const struct lgv_figure *f) {
    double low, high, low_step = c->method[0].level[c->nlevels - 1].step, high_step = c->method[0].level[0].step;
    error_range(c, &low, &high);
    int height = c->nrows > 10 ? 420 + 20 * (int)(c->nrows - 10) : 420;
    lgv_text_add(out, LGV_PLOT_BEGIN
                      "set logscale x\nset format '%%.1g'\nset datafile missing 'NaN'\n"
                      "set lmargin 10\nset tmargin 3\nset key outside right top Left reverse samplen 2 spacing 1.25 "
                      "textcolor rgb '#444444' noenhanced title 'fitted order' left\nset samples 2\n");
    lgv_text_add(out, "set xlabel 'step'\nset ylabel '%s'\n", c->weak ? "weak error" : "strong error");
    lgv_text_add(out, "set xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\nset xtics (", low_step * 0.8, high_step * 1.75,
                 low * 0.35, high * 1.8);
    for (size_t l = 0; l < c->nlevels; l++) /* the steps themselves, every second one when there are many */
        if (c->nlevels <= 7 || l % 2 == 0)
            lgv_text_add(out, "%s'%.3g' %.9g", l ? ", " : "", c->method[0].level[l].step, c->method[0].level[l].step);
    lgv_text_add(out, ")\nset label 1 ");
    lgv_title(out, f->title, LGV_TITLE_LEFT);
    lgv_text_add(out, " at graph 0,1.06 left noenhanced\n");
    put_slopes(out, c, true);
    for (size_t k = 0; k < c->nrows; k++) {
        put_data(out, c, k, true, low * 0.35);
        put_data(out, c, k, false, low * 0.35);
    }
    lgv_plot_open(out, f->file, 760, height);
    lgv_plot_powers(out);
    lgv_text_add(out, "plot ");
    put_slopes(out, c, false);
    put_curves(out, c);
    lgv_plot_close(out, f->file, 760, height);
}

enum lgv_status lgv_convergence_figure(const struct lgv_convergence *c, const char *dir, struct lgv_error *err) {
    struct lgv_figure f = figure_of(c);
    struct lgv_text script = {0};
    /* gnuplot wants points, whatever the locale of the calling program. */
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), before = plain ? uselocale(plain) : (locale_t)0;
    put_script(&script, c, &f);
    enum lgv_status status = lgv_figures_draw(&script, dir, &f, 1, err);
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    lgv_text_free(&script);
    return status;
}

/* ---- the report ---- */

static void put_verdict(struct lgv_text *out, const struct lgv_convergence *c) {
    uint64_t failed = lgv_convergence_failed(c);
    char line[200];
    bool good = lgv_convergence_judge(c) == LGV_CONVERGENCE_HOLDS && !c->interrupted;
    lgv_text_add(out, "<p class=\"verdict%s\">", good ? "" : " bad");
    lgv_text_add(out, "%s", lgv_convergence_banner(c, line, sizeof line));
    if (failed) lgv_text_add(out, " %llu paths failed and are left out where they failed.", (unsigned long long)failed);
    if (!c->reference_fine)
        lgv_text_add(out, " The reference is not fine enough for some errors, which are left out of the fits.");
    if (c->interrupted) lgv_text_add(out, " The study was interrupted.");
    lgv_text_add(out, "</p>\n");
}

static void put_facts(struct lgv_text *out, const struct lgv_convergence *c) {
    char a[64], of[400];
    lgv_text_add(out, "<dl class=\"facts\">\n");
    lgv_page_fact(out, "error", c->weak ? "weak" : "strong");
    lgv_page_fact(out, "of", c->whole ? "the state" : lgv_convergence_of(c, of, sizeof of));
    lgv_page_fact(out, "until", lgv_brief(a, sizeof a, c->until, 12));
    lgv_page_fact(out, "paths", lgv_spaced(a, sizeof a, c->paths));
    snprintf(a, sizeof a, "%llu", (unsigned long long)c->seed);
    lgv_page_fact(out, "seed", a);
    lgv_page_fact(out, "reference", c->reference ? c->reference->name : "exact solution");
    if (c->reference) {
        lgv_page_fact(out, "its step", lgv_brief(a, sizeof a, c->reference_step, 6));
        lgv_page_fact(out, "its own error, about", lgv_brief(a, sizeof a, c->quantity[0].reference_error, 2));
    }
    snprintf(a, sizeof a, "%.3g s", c->seconds);
    lgv_page_fact(out, "time taken", a);
    lgv_text_add(out, "</dl>\n");
}

static void cell(struct lgv_text *out, double x, int digits) {
    char b[40];
    lgv_text_add(out, "<td class=\"n\">%s</td>", lgv_brief(b, sizeof b, x, digits));
}

static void put_name(struct lgv_text *out, const struct lgv_convergence *c, const struct lgv_convergence_method *m) {
    lgv_text_add(out, "<td class=\"name\">");
    lgv_html(out, m->method->name);
    if (c->nquantities > 1) {
        lgv_text_add(out, ", ");
        lgv_html(out, c->quantity[m->quantity].name);
    }
    lgv_text_add(out, "</td>");
}

static void put_orders(struct lgv_text *out, const struct lgv_convergence *c) {
    static const char *const class[] = {"broken", "holds", "holds", "holds", "broken", "holds"};
    static const char *const mark[] = {"not known",           "\xe2\x9c\x93 as expected", "\xe2\x9c\x93 as expected",
                                       "\xe2\x9c\x93 better", "\xe2\x9c\x97 worse",       "\xe2\x9c\x93 better"};
    lgv_text_add(out,
                 "<h2>Orders</h2>\n<div class=\"card\"><table class=\"certificate\">\n<tr><th></th><th>method</th>"
                 "<th class=\"n\">order</th><th class=\"n\">expected</th><th>what it means</th></tr>\n");
    for (size_t k = 0; k < c->nrows; k++) {
        const struct lgv_convergence_method *m = &c->method[k];
        char line[600], order[80] = "n/a";
        if (isfinite(m->order)) lgv_convergence_order(m->order, m->order_stderr, order, sizeof order);
        lgv_text_add(out, "<tr><td class=\"mark %s\">%s</td>", class[m->verdict], mark[m->verdict]);
        put_name(out, c, m);
        lgv_text_add(out, "<td class=\"n\">%s</td>", order);
        cell(out, m->expected, 3);
        lgv_text_add(out, "<td>");
        lgv_html(out, lgv_convergence_verdict(c, m, line, sizeof line));
        lgv_text_add(out, "<div class=\"why\">expected%s", isnan(m->expected) ? ": " : "");
        if (!isnan(m->expected)) lgv_text_add(out, " %g: ", m->expected);
        lgv_html(out, m->expected_reason);
        lgv_text_add(out, "</div></td></tr>\n");
    }
    lgv_text_add(
        out,
        "</table></div>\n<p class=\"sub gap\">The fit is least squares of log error over log step. %sAn order is "
        "as expected when it is off by at most %g%s, and the two smallest steps are not lower; worse when both are "
        "lower.</p>\n",
        c->random ? "All levels share their Brownian paths; the standard errors come from leaving out groups "
                    "of whole paths (jackknife), so that this is taken into account. "
                  : "",
        LGV_ORDER_OFF, c->random ? " or four standard errors" : "");
}

static void put_levels(struct lgv_text *out, const struct lgv_convergence *c) {
    static const char *const head[] = {"step", "error", "gradients per path", "seconds", "failed", "truncated"};
    lgv_text_add(out, "<h2>Errors</h2>\n<div class=\"card\"><table>\n<tr><th>method</th>");
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) lgv_text_add(out, "<th class=\"n\">%s</th>", head[i]);
    lgv_text_add(out, "<th></th></tr>\n");
    for (size_t k = 0; k < c->nrows; k++)
        for (size_t l = 0; l < c->nlevels; l++) {
            const struct lgv_convergence_level *x = &c->method[k].level[l];
            char error[80];
            if (x->stderror > 0)
                lgv_text_with_error(error, sizeof error, x->error, x->stderror);
            else
                lgv_brief(error, sizeof error, x->error, 4);
            lgv_text_add(out, "<tr>");
            if (l == 0)
                put_name(out, c, &c->method[k]);
            else
                lgv_text_add(out, "<td></td>");
            cell(out, x->step, 6);
            lgv_text_add(out, "<td class=\"n\">%s</td>", error);
            cell(out, x->evaluations, 6);
            cell(out, x->seconds, 3);
            lgv_text_add(out, "<td class=\"n\">%llu</td><td class=\"n\">%llu</td><td class=\"why\">%s%s</td></tr>\n",
                         (unsigned long long)x->failed, (unsigned long long)x->truncated,
                         x->use ? "not fitted: " : "", lgv_convergence_left_out(x->use));
        }
    lgv_text_add(
        out, "</table></div>\n<p class=\"sub gap\">Seconds are of all threads together and contain the sums of fine "
             "Brownian increments, which a run at that step alone would not need: gradients per path are the "
             "better measure of work. Truncated: path-steps whose increment was cut.</p>\n");
}

static void put_page(struct lgv_text *out, const struct lgv_convergence *c, const char *dir) {
    struct lgv_figure f = figure_of(c);
    char line[600];
    lgv_page_begin(out, c->model_name);
    lgv_text_add(out, "<h1>");
    lgv_html(out, c->model_name);
    lgv_text_add(out, "</h1>\n<p class=\"sub\">%s convergence by Lagrangevin", c->weak ? "Weak" : "Strong");
    if (c->model_file) {
        lgv_text_add(out, " from <code>");
        lgv_html(out, c->model_file);
        lgv_text_add(out, "</code>");
    }
    lgv_text_add(out, ", %s</p>\n", c->date);
    put_verdict(out, c);
    put_facts(out, c);
    lgv_convergence_reference(c, line, sizeof line);
    lgv_text_add(out, "<p class=\"sub gap\">Errors are against ");
    lgv_html(out, line);
    lgv_text_add(out, ".</p>\n<h2>Figure</h2>\n<div class=\"figures\">\n");
    lgv_page_planned(out, dir, &f, 1);
    lgv_text_add(out, "</div>\n");
    put_orders(out, c);
    put_levels(out, c);
    if (c->command) {
        lgv_text_add(out, "<h2>How to repeat it</h2>\n<p>The same command gives the same bits, whatever the number of "
                          "threads.</p>\n<pre>");
        lgv_html(out, c->command);
        lgv_text_add(out, "</pre>\n");
    }
    lgv_text_add(out, "<p>The model:</p>\n<pre>");
    lgv_html(out, c->model_text);
    lgv_text_add(out, "</pre>\n<footer>Lagrangevin " LGV_VERSION ", kernel compiler ");
    lgv_html(out, c->compiler);
    lgv_text_add(out, ". All numbers are in convergence.json beside this report.</footer>\n");
    lgv_page_end(out);
}

enum lgv_status lgv_convergence_report(const struct lgv_convergence *c, const char *dir, struct lgv_error *err) {
    struct lgv_text page = {0}, path = {0};
    put_page(&page, c, dir);
    lgv_text_add(&path, "%s/report.html", dir);
    enum lgv_status status =
        page.failed || path.failed ? lgv_fail_memory(err) : lgv_file_replace(path.data, page.data, page.size, err);
    lgv_text_free(&page);
    lgv_text_free(&path);
    return status;
}
