/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures of a sweep.  Of every observable: its mean at the end over the first axis, a curve for each value of the
 * second, or a map where both are numbers and there are many; means along time, a curve for each point of the first
 * axis; and the values of sample paths over the second half of the run as dots over the first axis.  Where there are
 * more axes the others stay at their first value. */
#include "out/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAP_FROM 4   /* values of the second axis from which on there is a map */
#define CURVES 12    /* along time */
#define DOTS 20000   /* of a figure */
#define TIMES 400

static size_t count_of(const struct lgv_sweep *s, size_t axis) {
    return axis < s->naxes ? s->axis[axis].count : 1;
}

/* The point with these values of the first two axes. */
static size_t point_at(const struct lgv_sweep *s, size_t i, size_t k) {
    size_t point = i;
    for (size_t a = 1; a < s->naxes; a++) point = point * s->axis[a].count + (a == 1 ? k : 0);
    return point;
}

static bool numeric(const struct lgv_sweep *s, size_t axis) {
    return axis < s->naxes && s->axis[axis].value && s->axis[axis].count > 1;
}

/* A picture has cells of one size. */
static bool even(const struct lgv_sweep *s, size_t axis) {
    const double *x = s->axis[axis].value;
    size_t n = s->axis[axis].count;
    double step = (x[n - 1] - x[0]) / (double)(n - 1);
    for (size_t i = 1; i < n; i++)
        if (!(fabs(x[i] - x[i - 1] - step) <= 1e-6 * fabs(step))) return false;
    return true;
}

static bool as_map(const struct lgv_sweep *s) {
    return numeric(s, 0) && numeric(s, 1) && count_of(s, 1) >= MAP_FROM && count_of(s, 0) >= MAP_FROM && even(s, 0) &&
           even(s, 1);
}

static void add(struct lgv_figure *list, size_t *n, enum lgv_figure_kind kind, size_t series, const char *prefix,
                const char *name, const char *title, const char *caption) {
    struct lgv_figure f = {.kind = kind, .index = series, .caption = caption};
    char plain[100];
    snprintf(f.title, sizeof f.title, "%s %s", title, lgv_plain(plain, sizeof plain, name));
    lgv_file_name(f.file, 64, prefix, name, true);
    list[(*n)++] = f;
}

size_t lgv_sweep_plan(const struct lgv_sweep *s, struct lgv_figure list[LGV_SWEEP_FIGURES]) {
    size_t n = 0;
    for (size_t i = 0; i < s->nseries && i < LGV_SWEEP_OBSERVABLES; i++) {
        const char *name = s->series[i];
        if (as_map(s))
            add(list, &n, LGV_FIGURE_MAP, i, "map", name, "Mean at the end of",
                "The mean at the end over the first two axes. White: not known.");
        else
            add(list, &n, LGV_FIGURE_MEAN, i, "final", name, "Mean at the end of",
                "The mean at the end, with bars of 95 %, over the first axis.");
        if (s->ntimes > 1)
            add(list, &n, LGV_FIGURE_PATHS, i, "along", name, "Along time:",
                "Means along time, one curve for each value of the first axis (at most 12 of them).");
        if (s->ntimes > 1 && s->nkept && numeric(s, 0))
            add(list, &n, LGV_FIGURE_FOUND, i, "dots", name, "Values of sample paths:",
                "What sample paths have at the output times of the second half of the run, over the first axis.");
    }
    return n;
}

/* ---- over the first axis ---- */

static double place(const struct lgv_sweep *s, size_t axis, size_t i) {
    return s->axis[axis].value ? s->axis[axis].value[i] : (double)i;
}

static void put_tics(struct lgv_text *out, const struct lgv_sweep *s, char letter, size_t axis) {
    lgv_text_add(out, "set %clabel ", letter);
    lgv_quote(out, s->axis[axis].name);
    lgv_text_add(out, "\n");
    if (s->axis[axis].value) return;
    lgv_text_add(out, "set %ctics (", letter);
    for (size_t i = 0; i < s->axis[axis].count; i++) {
        lgv_text_add(out, i ? ", " : "");
        lgv_quote(out, s->axis[axis].text[i]);
        lgv_text_add(out, " %zu", i);
    }
    lgv_text_add(out, ")\nset %crange [-0.5:%g]\n", letter, (double)s->axis[axis].count - 0.5);
}

static const char *value_name(const struct lgv_sweep *s, size_t axis, size_t i, char *out, size_t size) {
    char name[60], text[60];
    snprintf(out, size, "%s = %s", lgv_plain(name, sizeof name, s->axis[axis].name),
             lgv_plain(text, sizeof text, s->axis[axis].text[i]));
    return out;
}

static size_t widest(const struct lgv_sweep *s, size_t axis, size_t count) {
    size_t most = 0;
    char name[140];
    for (size_t i = 0; axis < s->naxes && i < count; i++) {
        size_t width = lgv_text_width(value_name(s, axis, i, name, sizeof name));
        most = width > most ? width : most;
    }
    return most;
}

/* The mean of an observable and its bar of 95 % at a point. */
static double mean_at(const struct lgv_sweep *s, const struct lgv_figure *f, size_t i, size_t k, double *bar) {
    size_t at = point_at(s, i, k) * s->nseries + f->index;
    *bar = isfinite(s->err[at]) ? 1.96 * s->err[at] : 0;
    return s->mean[at];
}

/* Means that do not change, or hardly, are drawn as changes from the first of them. */
static struct lgv_axis final_axis(const struct lgv_sweep *s, const struct lgv_figure *f, size_t curves) {
    struct lgv_axis y = LGV_AXIS_EMPTY;
    double bar, first;
    for (size_t k = 0; k < curves; k++)
        for (size_t i = 0; i < count_of(s, 0); i++) {
            double mean = mean_at(s, f, i, k, &bar);
            lgv_axis_extend(&y, mean - bar);
            lgv_axis_extend(&y, mean + bar);
        }
    first = mean_at(s, f, 0, 0, &bar);
    lgv_axis_settle(&y, first);
    return y;
}

static void put_final_label(struct lgv_text *out, const struct lgv_axis *y, const char *name) {
    char plain[100], label[200];
    lgv_plain(plain, sizeof plain, name);
    if (y->shifted) snprintf(label, sizeof label, "%s - %.8g", plain, y->base);
    lgv_text_add(out, "\nset ylabel ");
    lgv_quote(out, y->shifted ? label : name);
}

static void plot_final(struct lgv_text *out, const struct lgv_sweep *s, const struct lgv_figure *f) {
    size_t n = count_of(s, 0), curves = count_of(s, 1);
    struct lgv_text key = {0};
    char name[140];
    if (curves > CURVES) curves = CURVES;
    const struct lgv_axis y = final_axis(s, f, curves);
    for (size_t k = 0; k < curves; k++) {
        lgv_text_add(out, "$c%zu << END\n", k);
        for (size_t i = 0; i < n; i++) {
            double bar, mean = mean_at(s, f, i, k, &bar);
            lgv_study_number(out, place(s, 0, i));
            lgv_study_number(out, mean - y.base);
            lgv_study_number(out, bar);
            lgv_text_add(out, "\n");
        }
        lgv_text_add(out, "END\n");
    }
    int height = s->naxes > 1 ? lgv_study_key(&key, curves, widest(s, 1, curves)) : LGV_STUDY_HEIGHT;
    lgv_study_plot_begin(out, f->file, f->title, height);
    lgv_text_add(out, "%s", key.data && !key.failed ? key.data : "unset key\n");
    lgv_text_free(&key);
    put_tics(out, s, 'x', 0);
    lgv_axis_range(out, 'y', &y, 0.06);
    put_final_label(out, &y, s->series[f->index]);
    lgv_text_add(out, "\nplot ");
    for (size_t k = 0; k < curves; k++) {
        struct lgv_study_style style = lgv_study_style(k, curves);
        lgv_text_add(out, "%s$c%zu using 1:2:3 with yerrorbars pt 0 lw 1 lc rgb '%s' notitle, ", k ? ", " : "", k,
                     style.colour);
        lgv_text_add(out, "$c%zu using 1:2 with linespoints lw %.3g dt %s pt %d ps %.3g lc rgb '%s' title ", k,
                     style.width, style.dash, style.mark, style.size, style.colour);
        lgv_quote(out, s->naxes > 1 ? value_name(s, 1, k, name, sizeof name) : "");
    }
    lgv_study_plot_end(out, f->file, height);
}

static void plot_map(struct lgv_text *out, const struct lgv_sweep *s, const struct lgv_figure *f) {
    lgv_text_add(out, "$map << END\n");
    for (size_t i = 0; i < count_of(s, 0); i++) {
        for (size_t k = 0; k < count_of(s, 1); k++) {
            lgv_study_number(out, place(s, 0, i));
            lgv_study_number(out, place(s, 1, k));
            lgv_study_number(out, s->mean[point_at(s, i, k) * s->nseries + f->index]);
            lgv_text_add(out, "\n");
        }
        lgv_text_add(out, "\n");
    }
    lgv_text_add(out, "END\n");
    lgv_study_plot_begin(out, f->file, f->title, LGV_STUDY_HEIGHT);
    put_tics(out, s, 'x', 0);
    put_tics(out, s, 'y', 1);
    lgv_text_add(out, "unset key\nunset grid\nset autoscale fix\nset rmargin 14\n"
                      "set palette defined (0 '#06304D', 0.35 '#0072B2', 0.65 '#56B4E9', 1 '#FFF3D6')\nset cblabel ");
    lgv_quote(out, s->series[f->index]);
    lgv_text_add(out, "\nplot $map using 1:2:3 with image notitle");
    lgv_study_plot_end(out, f->file, LGV_STUDY_HEIGHT);
}

/* ---- along time ---- */

/* Curve number c of n over so many values. */
static size_t chosen(size_t c, size_t n, size_t values) {
    return n > 1 ? c * (values - 1) / (n - 1) : 0;
}

static void plot_along(struct lgv_text *out, const struct lgv_sweep *s, const struct lgv_figure *f) {
    size_t values = count_of(s, 0), n = values < CURVES ? values : CURVES;
    size_t times = s->ntimes < TIMES ? s->ntimes : TIMES;
    struct lgv_text key = {0};
    char name[140];
    for (size_t c = 0; c < n; c++) {
        size_t point = point_at(s, chosen(c, n, values), 0);
        lgv_text_add(out, "$c%zu << END\n", c);
        for (size_t j = 0; j < times; j++) {
            size_t t = chosen(j, times, s->ntimes);
            lgv_study_number(out, s->time[point * s->ntimes + t]);
            lgv_study_number(out, s->along[(point * s->nseries + f->index) * s->ntimes + t]);
            lgv_text_add(out, "\n");
        }
        lgv_text_add(out, "END\n");
    }
    int height = lgv_study_key(&key, n, widest(s, 0, values));
    lgv_study_plot_begin(out, f->file, f->title, height);
    lgv_text_add(out, "%sset xlabel 'time t'\nset ylabel ", key.data && !key.failed ? key.data : "");
    lgv_text_free(&key);
    lgv_quote(out, s->series[f->index]);
    lgv_text_add(out, "\nset palette defined (0 '#0072B2', 0.5 '#CC79A7', 1 '#E69F00')\nset cbrange [0:1]\n"
                      "unset colorbox\nplot ");
    for (size_t c = 0; c < n; c++) {
        lgv_text_add(out, "%s$c%zu using 1:2 with lines lw 1.8 lc palette frac %.4g title ", c ? ", " : "", c,
                     n > 1 ? (double)c / (double)(n - 1) : 0);
        lgv_quote(out, value_name(s, 0, chosen(c, n, values), name, sizeof name));
    }
    lgv_study_plot_end(out, f->file, height);
}

static void plot_dots(struct lgv_text *out, const struct lgv_sweep *s, const struct lgv_figure *f) {
    size_t first = s->ntimes / 2, each = s->nkept * (s->ntimes - first), all = each * count_of(s, 0);
    size_t every = all / DOTS + 1, number = 0;
    lgv_text_add(out, "$dots << END\n");
    for (size_t i = 0; i < count_of(s, 0); i++)
        for (size_t k = 0; k < s->nkept; k++) {
            const double *x = s->kept + ((point_at(s, i, 0) * s->nkept + k) * s->nseries + f->index) * s->ntimes;
            for (size_t t = first; t < s->ntimes; t++) {
                if (number++ % every) continue;
                lgv_study_number(out, place(s, 0, i));
                lgv_study_number(out, x[t]);
                lgv_text_add(out, "\n");
            }
        }
    lgv_text_add(out, "END\n");
    lgv_study_plot_begin(out, f->file, f->title, LGV_STUDY_HEIGHT);
    put_tics(out, s, 'x', 0);
    lgv_text_add(out, "unset key\nset ylabel ");
    lgv_quote(out, s->series[f->index]);
    lgv_text_add(out, "\nplot $dots using 1:2 with points pt 7 ps 0.15 lc rgb '#0072B2' notitle");
    lgv_study_plot_end(out, f->file, LGV_STUDY_HEIGHT);
}

void lgv_sweep_script(struct lgv_text *out, const void *study, const char *dir, const struct lgv_figure *list,
                      size_t count) {
    const struct lgv_sweep *s = study;
    (void)dir;
    for (size_t i = 0; i < count; i++) {
        if (list[i].kind == LGV_FIGURE_MAP) plot_map(out, s, &list[i]);
        if (list[i].kind == LGV_FIGURE_MEAN) plot_final(out, s, &list[i]);
        if (list[i].kind == LGV_FIGURE_PATHS) plot_along(out, s, &list[i]);
        if (list[i].kind == LGV_FIGURE_FOUND) plot_dots(out, s, &list[i]);
    }
}
