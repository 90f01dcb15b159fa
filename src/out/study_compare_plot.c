/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures of a comparison: means and biases along time, error against work.  A dozen methods share a figure and often
 * coincide: see lgv_study_style(). */
#include "out/study_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 400
#define MOST_ESCAPE 1e290 /* a curve that is higher is drawn there: far away is far away */

/* Whether there is a point for a figure with logarithmic axes. */
static bool has_work(const struct lgv_comparison *c, bool weak, bool evaluations) {
    for (size_t i = 0; i < c->count; i++)
        for (size_t j = 0; j < c->method[i].nrungs; j++) {
            const struct lgv_rung *r = &c->method[i].rung[j];
            double x = evaluations ? r->evaluations : r->seconds, y = weak ? r->weak : r->strong;
            if (x > 0 && y > 0 && isfinite(y)) return true;
        }
    return false;
}

/* Whether all methods have the same step: then legends need not repeat it. */
static bool one_step(const struct lgv_comparison *c) {
    for (size_t i = 1; i < c->count; i++)
        if (fabs(c->method[i].step - c->method[0].step) > 1e-12 * fabs(c->method[0].step)) return false;
    return true;
}

/* What is drawn of an observable along time. */
enum curve { MEAN, BIAS, AVERAGE };

/* Its value at a time, with half of the 95 % band in *e. */
static double value_at(const struct lgv_comparison *c, size_t k, size_t method, size_t t, enum curve what, double *e) {
    const struct lgv_outcome *o = &c->method[method].outcome[k];
    double error = what == AVERAGE ? o->average_err[t] : o->err[t];
    *e = isfinite(error) ? 1.96 * error : 0;
    return what == AVERAGE ? o->average[t] : o->mean[t] - (what == BIAS ? c->expected[k][t] : 0);
}

static struct lgv_axis axis_of(const struct lgv_comparison *c, size_t k, size_t method, enum curve what) {
    struct lgv_axis a = LGV_AXIS_EMPTY;
    for (size_t t = 0; t < c->ntimes; t++) {
        double e, x = value_at(c, k, method, t, what, &e);
        lgv_axis_extend(&a, x - e);
        lgv_axis_extend(&a, x + e);
    }
    return a;
}

/* A method that runs away must not press all others flat: the axis grows by a factor of 20 at most for one. */
static struct lgv_axis choose_axis(const struct lgv_comparison *c, size_t k, enum curve what) {
    struct lgv_axis all = LGV_AXIS_EMPTY;
    double widest = 0, start = NAN;
    bool *used = lgv_new(c->count + 1, sizeof *used);
    for (size_t turn = 0; used && turn < c->count; turn++) {
        size_t best = c->count;
        double width = INFINITY;
        for (size_t i = 0; i < c->count; i++) {
            if (used[i] || !c->method[i].done) continue;
            struct lgv_axis a = axis_of(c, k, i, what);
            if (a.high - a.low < width) {
                width = a.high - a.low;
                best = i;
            }
        }
        if (best == c->count) break;
        used[best] = true;
        if (widest > 0 && width > 20 * widest) break;
        struct lgv_axis a = axis_of(c, k, best, what);
        lgv_axis_extend(&all, a.low);
        lgv_axis_extend(&all, a.high);
        double e;
        if (!isfinite(start)) start = value_at(c, k, best, 0, what, &e);
        if (all.high - all.low > 1e-9 * fmax(fabs(all.low), fabs(all.high))) widest = all.high - all.low;
    }
    free(used);
    lgv_axis_settle(&all, what == BIAS ? 0 : start);
    return all;
}

/* Far outside the frame one place is as good as another, and numbers stay drawable. */
static double within(const struct lgv_axis *a, double x) {
    double w = a->high - a->low;
    return isfinite(x) ? fmin(fmax(x, a->base + a->low - w), a->base + a->high + w) : x;
}

/* A curve that leaves the frame must not seem to be missing. */
static bool leaves(const struct lgv_comparison *c, size_t k, size_t method, enum curve what, const struct lgv_axis *y) {
    struct lgv_axis a = axis_of(c, k, method, what);
    double room = 0.05 * (y->high - y->low);
    return a.low - y->base < y->low - room || a.high - y->base > y->high + room;
}

static enum curve curve_of(const struct lgv_figure *f) {
    return f->kind == LGV_FIGURE_ENERGY ? BIAS : f->kind == LGV_FIGURE_FOUND ? AVERAGE : MEAN;
}

/* What the legend calls a method; figures of work have every step of it, those along time one. */
static const char *legend_of(const struct lgv_comparison *c, const struct lgv_figure *f, size_t method,
                             const struct lgv_axis *y, char *out, size_t size) {
    char name[60], number[32], step[50] = "";
    const struct lgv_compared *m = &c->method[method];
    bool along = f->kind != LGV_FIGURE_PATHS;
    if (along && !one_step(c)) snprintf(step, sizeof step, ", step %s", lgv_brief(number, sizeof number, m->step, 5));
    bool off = y && leaves(c, f->index, method, curve_of(f), y);
    snprintf(out, size, "%s%s%s", lgv_plain(name, sizeof name, m->name), step, off ? " (off frame)" : "");
    return out;
}

/* The frame of a figure with its legend; returns its height. */
static int put_frame(struct lgv_text *out, const struct lgv_comparison *c, const struct lgv_figure *f,
                     const struct lgv_axis *y, const bool *shown, bool law) {
    size_t entries = law, widest = law ? strlen("expected") : 0;
    char name[140];
    struct lgv_text key = {0};
    for (size_t i = 0; i < c->count; i++) {
        if ((y && !c->method[i].done) || (shown && !shown[i])) continue;
        size_t width = lgv_text_width(legend_of(c, f, i, y, name, sizeof name));
        widest = width > widest ? width : widest;
        entries++;
    }
    int height = lgv_study_key(&key, entries, widest);
    lgv_study_plot_begin(out, f->file, f->title, height);
    lgv_text_add(out, "%s", key.failed || !key.data ? "" : key.data);
    lgv_text_free(&key);
    return height;
}

static void put_means(struct lgv_text *out, const struct lgv_comparison *c, size_t k, size_t method, enum curve what,
                      const struct lgv_axis *y) {
    static const struct lgv_axis plain_axis;
    size_t points = c->ntimes < POINTS ? c->ntimes : POINTS;
    lgv_text_add(out, "$m%zu << END\n", method);
    for (size_t j = 0; j < points; j++) {
        size_t t = points > 1 ? j * (c->ntimes - 1) / (points - 1) : 0;
        double e, x = value_at(c, k, method, t, what, &e);
        const double row[] = {within(y, x), within(y, x - e), within(y, x + e),
                              c->expected[k] ? within(y, c->expected[k][t]) : (double)NAN};
        lgv_axis_number(out, &plain_axis, c->time[t]);
        for (size_t n = 0; n < 4; n++) lgv_axis_number(out, y, row[n]);
        lgv_text_add(out, "\n");
    }
    lgv_text_add(out, "END\n");
}

/* Line and a few markers, which every method has at other times than the rest: coinciding curves show all of theirs. */
static void put_curve(struct lgv_text *out, const struct lgv_comparison *c, const struct lgv_figure *f, size_t i,
                      const struct lgv_axis *y) {
    struct lgv_study_style s = lgv_study_style(i, c->count);
    size_t points = c->ntimes < POINTS ? c->ntimes : POINTS;
    bool marks = c->count > 3 || points == 1;
    char name[140];
    size_t apart = points / 8 > c->count ? points / 8 : c->count;
    if (apart > points) apart = points;
    lgv_text_add(out, "$m%zu using 1:2 with lines lw %.3g dt %s lc rgb '%s' notitle, ", i, s.width, s.dash, s.colour);
    if (marks)
        lgv_text_add(out, "$m%zu every %zu::%zu using 1:2 with points pt %d ps %.3g lc rgb '%s' notitle, ", i, apart,
                     i * apart / c->count, s.mark, s.size, s.colour);
    /* the entry of the legend has both */
    lgv_text_add(out, "NaN with %s lw %.3g dt %s", marks ? "linespoints" : "lines", s.width, s.dash);
    if (marks) lgv_text_add(out, " pt %d ps %.3g", s.mark, s.size);
    lgv_text_add(out, " lc rgb '%s' title ", s.colour);
    lgv_quote(out, legend_of(c, f, i, y, name, sizeof name));
}

/* Below all lines, and the fainter the more there are: a dozen that coincide must not hide the rest. */
static void put_bands(struct lgv_text *out, const struct lgv_comparison *c, size_t k, enum curve what,
                      const struct lgv_axis *y) {
    for (size_t i = 0; i < c->count && c->paths > 1; i++) /* the band of a curve that runs away would fill the frame */
        if (c->method[i].done && !leaves(c, k, i, what, y))
            lgv_text_add(out,
                         "$m%zu using 1:3:4 with filledcurves fc rgb '%s' fs transparent solid %.3g noborder notitle, ",
                         i, lgv_study_style(i, c->count).colour, fmin(0.25, 0.75 / (double)c->count));
}

static void plot_mean(struct lgv_text *out, const struct lgv_comparison *c, const struct lgv_figure *f) {
    const enum curve what = curve_of(f);
    size_t k = f->index, first = c->count;
    struct lgv_axis y = choose_axis(c, k, what);
    bool law = what == MEAN && c->expected[k];
    for (size_t i = 0; i < c->count; i++)
        if (c->method[i].done) put_means(out, c, k, i, what, &y);
    int height = put_frame(out, c, f, &y, NULL, law);
    lgv_axis_range(out, 'y', &y, 0.06);
    lgv_axis_label(out, 'y', &y, c->observable[k], NULL, c->time[0]);
    lgv_text_add(out, "set xrange [%.12g:%.12g]\nset xlabel 'time t'\nplot ", c->time[0],
                 c->ntimes > 1 ? c->time[c->ntimes - 1] : c->time[0] + 1);
    put_bands(out, c, k, what, &y);
    for (size_t i = 0; i < c->count; i++) {
        if (!c->method[i].done) continue;
        lgv_text_add(out, "%s", first < c->count ? ", " : "");
        put_curve(out, c, f, i, &y);
        if (first == c->count) first = i;
    }
    if (what == BIAS)
        lgv_text_add(out, ", 0 with lines lw 1.2 lc rgb 'black' notitle");
    else if (law)
        lgv_text_add(out, ", $m%zu using 1:5 with lines lw 1.6 dt 3 lc rgb 'black' title 'expected'", first);
    lgv_study_plot_end(out, f->file, height);
}

/* Does a curve with only positive values leave the frame of the others?  Then it has a place on a logarithmic axis. */
static bool runs_away(const struct lgv_comparison *c, size_t k, size_t method, const struct lgv_axis *y) {
    const struct lgv_outcome *o = &c->method[method].outcome[k];
    if (!c->method[method].done || !leaves(c, k, method, MEAN, y)) return false;
    for (size_t t = 0; t < c->ntimes; t++)
        if (!(o->mean[t] > 0) && isfinite(o->mean[t])) return false;
    return true;
}

/* The curves that leave the frame of plot_mean, on a logarithmic axis, with the best of the others beside them. */
static void plot_escapes(struct lgv_text *out, const struct lgv_comparison *c, const struct lgv_figure *f) {
    size_t k = f->index, last = 0;
    struct lgv_axis y = choose_axis(c, k, MEAN);
    bool *shown = lgv_new(c->count + 1, sizeof *shown), one = false;
    double low = INFINITY, high = 0;
    for (size_t i = 0; shown && i < c->count; i++) {
        const struct lgv_outcome *o = &c->method[i].outcome[k];
        shown[i] = runs_away(c, k, i, &y);
        if (!shown[i] && !one && c->method[i].done && o->mean[0] > 0) shown[i] = one = true;
        if (!shown[i]) continue;
        last = i;
        lgv_text_add(out, "$m%zu << END\n", i);
        for (size_t j = 0; j < POINTS && j < c->ntimes; j++) {
            size_t t = c->ntimes <= POINTS ? j : j * (c->ntimes - 1) / (POINTS - 1);
            double x = fmin(o->mean[t], MOST_ESCAPE);
            lgv_study_number(out, c->time[t]);
            lgv_study_number(out, x > 0 ? x : (double)NAN);
            lgv_text_add(out, "\n");
            if (x > 0) low = fmin(low, x), high = fmax(high, x);
        }
        lgv_text_add(out, "END\n");
    }
    int height = put_frame(out, c, f, NULL, shown, false);
    lgv_axis_label(out, 'y', &(struct lgv_axis){0}, c->observable[k], NULL, c->time[0]);
    lgv_plot_powers(out);
    lgv_study_short_tics(out, 'y', 0.5 * low, 2 * high);
    lgv_text_add(out,
                 "set yrange [%.6g:%.6g]\nset xrange [%.12g:%.12g]\nset xlabel 'time t'\nplot ",
                 0.5 * low, 2 * high, c->time[0], c->ntimes > 1 ? c->time[c->ntimes - 1] : c->time[0] + 1);
    for (size_t i = 0; shown && i < c->count; i++) {
        struct lgv_study_style s = lgv_study_style(i, c->count);
        char name[140];
        if (!shown[i]) continue;
        lgv_text_add(out, "$m%zu using 1:2 with lines lw %.3g dt %s lc rgb '%s' title ", i, s.width, s.dash, s.colour);
        lgv_quote(out, legend_of(c, f, i, NULL, name, sizeof name));
        lgv_text_add(out, "%s", i < last ? ", " : "");
    }
    free(shown);
    lgv_study_plot_end(out, f->file, height);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Powers of ten alone would leave a short logarithmic axis with a single label.  The axis y has powers. */
void lgv_study_short_tics(struct lgv_text *out, char axis, double low, double high) {
    static const int one[] = {1, 2, 5, 3, 7};
    size_t count = high < 10 * low ? 5 : high < 100 * low ? 3 : 0;
    for (int ten = (int)floor(log10(low)); count && pow(10, ten) < high; ten++)
        for (size_t i = 0; i < count; i++) {
            double x = one[i] * pow(10, ten);
            if (axis == 'x')
                lgv_text_add(out, "set xtics add ('%g' %g)\n", x, x);
            else if (i > 0)
                lgv_text_add(out, "set ytics add ('%d·10^{%d}' %g)\n", one[i], ten, x);
        }
}

/* Around the median: an exploded method, or round-off, would leave no room for the others. */
static void put_decades(struct lgv_text *out, const struct lgv_comparison *c, bool weak) {
    size_t n = 0, capacity = 0;
    double *y = NULL;
    for (size_t i = 0; i < c->count; i++)
        for (size_t j = 0; j < c->method[i].nrungs; j++) {
            double x = weak ? c->method[i].rung[j].weak : c->method[i].rung[j].strong;
            if (x > 0 && isfinite(x) && lgv_grow(&y, &capacity, n + 1, sizeof *y)) y[n++] = x;
        }
    if (n) {
        qsort(y, n, sizeof *y, by_value);
        double low = 0.5 * fmax(y[0], 1e-6 * y[n / 2]), high = 2 * fmin(y[n - 1], 1e6 * y[n / 2]);
        lgv_text_add(out, "set yrange [%.6g:%.6g]\n", low, high);
        lgv_study_short_tics(out, 'y', low, high);
    }
    free(y);
}

/* f->second: 0 time, 1 evaluations; f->index: 0 strong, 1 weak. */
static void plot_work(struct lgv_text *out, const struct lgv_comparison *c, const struct lgv_figure *f) {
    bool weak = f->index == 1;
    for (size_t i = 0; i < c->count; i++) {
        lgv_text_add(out, "$m%zu << END\n", i);
        for (size_t j = 0; j < c->method[i].nrungs; j++) {
            const struct lgv_rung *r = &c->method[i].rung[j];
            double x = f->second ? r->evaluations : 1e6 * r->seconds, y = weak ? r->weak : r->strong;
            double e = 1.96 * (weak ? r->weak_err : r->strong_err);
            if (!(y > 0) || !(x > 0)) y = NAN; /* round-off has no place on a logarithmic axis */
            lgv_study_number(out, x);
            lgv_study_number(out, y);
            lgv_study_number(out, isfinite(e) ? fmax(y - e, 1e-2 * y) : y);
            lgv_study_number(out, isfinite(e) ? y + e : y);
            lgv_text_add(out, "\n");
        }
        lgv_text_add(out, "END\n");
    }
    int height = put_frame(out, c, f, NULL, NULL, false);
    lgv_plot_powers(out);
    put_decades(out, c, weak);
    lgv_text_add(out,
                 "set logscale x\nset format x '%%g'\nset xlabel '%s'\nset ylabel '%s'\nplot ",
                 f->second ? "gradient evaluations per path" : "time per path (microseconds, one thread)",
                 weak ? "weak error" : "strong error");
    for (size_t i = 0; i < c->count; i++) {
        struct lgv_study_style s = lgv_study_style(i, c->count);
        char name[60];
        lgv_text_add(out,
                     "%s$m%zu using 1:2:3:4 with yerrorbars lw 0.8 pt %d ps 0.01 lc rgb '%s' notitle, "
                     "$m%zu using 1:2 with linespoints lw %.3g dt %s pt %d ps %.3g lc rgb '%s' title ",
                     i ? ", " : "", i, s.mark, s.colour, i, s.width, s.dash, s.mark, s.size, s.colour);
        lgv_quote(out, lgv_plain(name, sizeof name, c->method[i].name));
    }
    lgv_study_plot_end(out, f->file, height);
}

void lgv_comparison_script(struct lgv_text *out, const void *study, const char *dir, const struct lgv_figure *list,
                           size_t count) {
    const struct lgv_comparison *c = study;
    (void)dir;
    for (size_t i = 0; i < count; i++) {
        if (list[i].kind == LGV_FIGURE_PROFILE)
            lgv_comparison_steps_plot(out, c, &list[i]);
        else if (list[i].kind == LGV_FIGURE_TRAJECTORY)
            plot_escapes(out, c, &list[i]);
        else if (list[i].kind == LGV_FIGURE_PATHS)
            plot_work(out, c, &list[i]);
        else
            plot_mean(out, c, &list[i]);
    }
}

/* MEAN: an observable; TRAJECTORY: those of its curves that leave the frame; ENERGY: its distance to the expected mean;
 * FOUND: its running time average; PATHS: work and precision; PROFILE: steps that were tried. */
size_t lgv_comparison_plan(const struct lgv_comparison *c, struct lgv_figure list[LGV_COMPARISON_FIGURES]) {
    if (c->ntrials) return lgv_comparison_steps_plan(c, list);
    size_t n = 0;
    char name[100], step[60] = "";
    bool any = false, one = c->paths == 1;
    if (c->count && one_step(c)) snprintf(step, sizeof step, ", step %.5g", c->method[0].step);
    for (size_t i = 0; i < c->count; i++) any |= c->method[i].done;
    for (size_t k = 0; any && k < c->nobservables && k < LGV_COMPARISON_OBSERVABLES; k++) {
        lgv_plain(name, sizeof name, c->observable[k]);
        struct lgv_figure f = {.kind = LGV_FIGURE_MEAN,
                               .index = k,
                               .caption = one     ? "Along the path."
                                          : *step ? "Mean over the ensemble with its 95 % band."
                                                  : "Mean over the ensemble with its 95 % band, each method at its "
                                                    "own step."};
        snprintf(f.file, sizeof f.file, "mean-%zu", k + 1);
        snprintf(f.title, sizeof f.title, "%s%s%s", one ? "" : "Mean of ", name, step);
        list[n++] = f;
        struct lgv_axis y = choose_axis(c, k, MEAN);
        bool away = false;
        for (size_t i = 0; i < c->count; i++) away = away || (c->method[i].done && runs_away(c, k, i, &y));
        if (away) {
            struct lgv_figure g = f;
            g.kind = LGV_FIGURE_TRAJECTORY;
            g.caption = "The methods that leave the frame of the figure before, and one of the others, on a "
                        "logarithmic axis.";
            snprintf(g.file, sizeof g.file, "mean-%zu-escapes", k + 1);
            snprintf(g.title, sizeof g.title, "%s%s%s, off the frame", one ? "" : "Mean of ", name, step);
            list[n++] = g;
        }
        if (c->method[0].done && c->method[0].outcome[k].average) {
            struct lgv_figure g = f;
            g.kind = LGV_FIGURE_FOUND;
            g.caption = one ? "Time average along the path up to a time."
                            : "Time average along a path up to a time, mean over the ensemble with its 95 % band.";
            snprintf(g.file, sizeof g.file, "average-%zu", k + 1);
            snprintf(g.title, sizeof g.title, "Time average of %s up to t%s", name, step);
            list[n++] = g;
        }
        if (!c->expected[k]) continue;
        f.kind = LGV_FIGURE_ENERGY;
        f.caption = one ? "Along the path, minus the expected value."
                        : "Mean minus expected mean with its 95 % band: what is left is the bias of the method.";
        snprintf(f.file, sizeof f.file, "bias-%zu", k + 1);
        snprintf(f.title, sizeof f.title,
                 one ? "Distance of %s from what is expected%s" : "Mean of %s minus expected mean%s", name, step);
        list[n++] = f;
    }
    for (size_t i = 0; i < 4; i++) {
        static const char *const file[] = {"work-strong-time", "work-strong-evaluations", "work-weak-time",
                                           "work-weak-evaluations"};
        struct lgv_figure f = {.kind = LGV_FIGURE_PATHS,
                               .index = i / 2,
                               .second = i % 2,
                               .caption = "Error against work with 95 % bars; lower left is better."};
        char to[120];
        lgv_comparison_against(c, i >= 2, to, sizeof to);
        if (!to[0] || !has_work(c, i >= 2, i % 2)) continue;
        snprintf(f.file, sizeof f.file, "%s", file[i]);
        snprintf(f.title, sizeof f.title, "%s error%s%s against %s, by %s", i < 2 ? "Strong" : "Weak",
                 i < 2 ? "" : " of ", i < 2 ? "" : lgv_plain(name, 24, c->observable[0]), to,
                 i % 2 ? "evaluations" : "time");
        list[n++] = f;
    }
    return n;
}
