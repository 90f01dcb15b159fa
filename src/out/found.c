/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What was found along the way, for people: lines of the summary, tables of the report, figures. */
#include "out/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLUE "#0072B2"
#define NAME 41    /* a name in the summary, with its end */
#define POINTS 600 /* of a curve */
#define UNMIXED 6  /* names of averages that depend on the path */
#define SECTION_POINTS 20000

static bool of_group(const struct lgv_finding *f, const char *group) {
    return strcmp(f->group, group) == 0;
}

static bool any(const struct lgv_result *r, const char *group) {
    for (size_t i = 0; i < r->nfindings; i++)
        if (of_group(&r->finding[i], group)) return true;
    return false;
}

/* One column of the table of a group: a number, or a number with its standard error. */
struct column {
    const char *head, *value, *error;
    int digits;
};
struct table {
    const char *group, *title, *about;
    struct column column[6];
};
static const struct table tables[] = {
    {LGV_FOUND_EVENTS,
     "Events",
     "How many paths had the event, when they had it first, and how often it began on a path.",
     {{"paths that had it", "had", NULL, 8},
      {"first passage, mean", "mean", "stderr", 0},
      {"median", "q50", NULL, 5},
      {"entries per path", "entries_mean", "entries_stderr", 0},
      {"most", "entries_max", NULL, 8}}},
    {LGV_FOUND_AVERAGES,
     "Time averages",
     "Averages along the paths, with the integrated autocorrelation time and the number of independent values that "
     "they are worth. R-hat compares the halves of all paths: well above 1.01 they have not forgotten where they "
     "began.",
     {{"time average", "mean", "stderr", 0},
      {"correlation time", "time", NULL, 4},
      {"effective values", "samples", NULL, 4},
      {"R-hat", "r_hat", NULL, 5},
      {"std along a path", "std", NULL, 4}}},
    {LGV_FOUND_CORRELATIONS,
     "Correlations in time",
     "When the autocorrelation has fallen to 1/e, and the mean squared displacement over twice the lag, at half the "
     "time of a path: the diffusion coefficient of what diffuses.",
     {{"variance", "variance", NULL, 4},
      {"falls to 1/e at", "decay", NULL, 4},
      {"msd / (2 lag)", "diffusion", "diffusion_stderr", 0},
      {"at lag", "half_lag", NULL, 4}}},
    {LGV_FOUND_EXTREMES,
     "Extremes over every step",
     "The smallest and the largest value that each path had at any step, start included: means over paths, and the "
     "extremes of all.",
     {{"least, mean", "least_mean", "least_stderr", 0},
      {"of all", "least_min", NULL, 5},
      {"largest, mean", "largest_mean", "largest_stderr", 0},
      {"of all", "largest_max", NULL, 5}}},
    {LGV_FOUND_SECTIONS,
     "Sections",
     "Crossings of surfaces by the kept paths.",
     {{"crossings", "crossings", NULL, 8}, {"stored", "stored", NULL, 8}, {"kept paths", "paths", NULL, 8}}},
};
#define TABLES (sizeof tables / sizeof *tables)

static const char *cell(char *out, size_t size, const struct lgv_finding *f, const struct column *c) {
    double x = lgv_finding_value(f, c->value);
    if (c->error) return lgv_text_with_error(out, size, x, lgv_finding_value(f, c->error));
    if (isinf(x)) return "infinite";
    return lgv_brief(out, size, x, c->digits);
}

static void print_cell(FILE *out, const char *text, size_t width) {
    size_t have = lgv_text_width(text);
    fprintf(out, "%*s%s", have < width ? (int)(width - have) : 0, "", text);
}

/* Of the first column of a table: the longest name in it. */
static size_t name_width(const struct lgv_result *r, const char *group, const bool *shown) {
    char text[NAME];
    size_t width = strlen(group);
    for (size_t i = 0; i < r->nfindings; i++) {
        if (!of_group(&r->finding[i], group) || (shown && !shown[i])) continue;
        size_t w = lgv_text_width(lgv_plain(text, sizeof text, r->finding[i].name));
        width = w > width ? w : width;
    }
    return width;
}

static void print_name(FILE *out, const char *text, size_t width) {
    size_t have = lgv_text_width(text);
    fprintf(out, "%s%*s", text, have < width ? (int)(width - have) : 0, "");
}

/* Whose time averages depend on the path or its beginning, in words; nothing where there are none. */
static void put_unmixed(struct lgv_text *out, const struct lgv_result *r, const bool *shown) {
    char name[NAME];
    size_t count = 0;
    for (size_t i = 0; i < r->nfindings; i++) {
        const struct lgv_finding *f = &r->finding[i];
        if (!of_group(f, LGV_FOUND_AVERAGES) || !(lgv_finding_value(f, "r_hat") > LGV_R_HAT)) continue;
        if ((shown && !shown[i]) || count++ >= UNMIXED) continue;
        lgv_text_add(out, "%s%s", count > 1 ? ", " : "R-hat is above 1.01: ", lgv_plain(name, sizeof name, f->name));
    }
    if (count > UNMIXED) lgv_text_add(out, " and %zu more", count - UNMIXED);
    if (count > 0)
        lgv_text_add(out, ". %s on the path or its beginning; run longer, or leave out more with burn_in",
                     count > 1 ? "These averages still depend" : "This average still depends");
}

void lgv_found_summary(FILE *out, const struct lgv_result *r, const char *bold, const char *off) {
    char text[100];
    bool *shown = lgv_findings_shown(r);
    for (const struct table *t = tables; t < tables + TABLES; t++) {
        if (!any(r, t->group)) continue;
        size_t width = name_width(r, t->group, shown);
        fprintf(out, "\n  %s", bold);
        print_name(out, t->group, width);
        for (const struct column *c = t->column; c->head; c++) print_cell(out, c->head, 21);
        fprintf(out, "%s\n", off);
        for (size_t i = 0; i < r->nfindings; i++) {
            const struct lgv_finding *f = &r->finding[i];
            if (!of_group(f, t->group) || (shown && !shown[i])) continue;
            fputs("  ", out);
            print_name(out, lgv_plain(text, NAME, f->name), width);
            for (const struct column *c = t->column; c->head; c++) print_cell(out, cell(text, 80, f, c), 21);
            fputc('\n', out);
        }
    }
    struct lgv_text unmixed = {0};
    put_unmixed(&unmixed, r, shown);
    if (unmixed.size > 0 && !unmixed.failed) fprintf(out, "\n  %s\n", unmixed.data);
    lgv_text_free(&unmixed);
    free(shown);
    if (r->stopped)
        fprintf(out, "\n  %llu of %llu paths ended where `stop` holds; statistics are over the paths still running\n",
                (unsigned long long)r->stopped, (unsigned long long)r->paths_done);
}

static void report_unmixed(struct lgv_text *out, const struct lgv_result *r, const bool *shown) {
    struct lgv_text text = {0};
    put_unmixed(&text, r, shown);
    if (text.size > 0 && !text.failed) {
        lgv_text_add(out, "<p class=\"sub gap\">");
        lgv_html(out, text.data);
        lgv_text_add(out, "</p>\n");
    }
    lgv_text_free(&text);
}

void lgv_found_report(struct lgv_text *out, const struct lgv_result *r) {
    char text[100];
    bool *shown = lgv_findings_shown(r);
    for (const struct table *t = tables; t < tables + TABLES; t++) {
        if (!any(r, t->group)) continue;
        lgv_text_add(out, "<h2>%s</h2>\n<p class=\"sub\">%s</p>\n<div class=\"card\"><table>\n<tr><th></th>", t->title,
                     t->about);
        for (const struct column *c = t->column; c->head; c++) lgv_text_add(out, "<th class=\"n\">%s</th>", c->head);
        lgv_text_add(out, "</tr>\n");
        for (size_t i = 0; i < r->nfindings; i++) {
            const struct lgv_finding *f = &r->finding[i];
            if (!of_group(f, t->group) || (shown && !shown[i])) continue;
            lgv_text_add(out, "<tr><td class=\"name\">");
            lgv_html(out, f->name);
            lgv_text_add(out, "</td>");
            for (const struct column *c = t->column; c->head; c++)
                lgv_text_add(out, "<td class=\"n\">%s</td>", cell(text, 80, f, c));
            lgv_text_add(out, "</tr>\n");
        }
        lgv_text_add(out, "</table></div>\n");
        if (strcmp(t->group, LGV_FOUND_AVERAGES) == 0) report_unmixed(out, r, shown);
    }
    free(shown);
    if (r->stopped)
        lgv_text_add(out,
                     "<p class=\"sub\">%llu of %llu paths ended where <code>stop</code> holds. That is no failure: "
                     "they rest, and statistics at later times are over the paths still running.</p>\n",
                     (unsigned long long)r->stopped, (unsigned long long)r->paths_done);
}

/* ---- figures ---- */

/* What is drawn of a group: y with its standard error over x; x NULL: output times. */
struct drawing {
    const char *group, *x, *y, *error, *title, *file, *along, *up, *caption;
};
static const struct drawing drawings[] = {
    {LGV_FOUND_SECTIONS, "crossing", "crossing", "crossing", "Section", "section", "", "",
     "Where kept paths cross the section: the first two of the observed values."},
    {LGV_FOUND_EVENTS, NULL, "survival", "survival_stderr", "Paths without the event", "survival", "time t",
     "part of the paths", "Part of the paths that have not had the event up to a time, with its 95 % band."},
    {LGV_FOUND_AVERAGES, "running_time", "running_mean", "running_stderr", "Time average of", "average", "time t",
     "average up to t", "Time average along a path up to a time, mean over paths with its 95 % band."},
    {LGV_FOUND_CORRELATIONS, "lag", "correlation", "correlation_stderr", "Autocorrelation of", "correlation", "lag",
     "autocorrelation", "Autocorrelation over time lags, with its 95 % band."},
    {LGV_FOUND_CORRELATIONS, "lag", "msd", "msd_stderr", "Mean squared displacement of", "msd", "lag",
     "mean squared displacement", "Mean squared displacement over time lags, with its 95 % band."},
};
#define DRAWINGS (sizeof drawings / sizeof *drawings)

size_t lgv_found_plan(const struct lgv_result *r, struct lgv_figure *list, size_t most) {
    size_t count = 0;
    bool *shown = lgv_findings_shown(r);
    for (size_t d = 0; d < DRAWINGS; d++)
        for (size_t i = 0; i < r->nfindings && count < most; i++) {
            const struct lgv_finding *f = &r->finding[i];
            if (!of_group(f, drawings[d].group) || (shown && !shown[i])) continue;
            if (!lgv_finding_get(f, drawings[d].y)->data) continue;
            if (lgv_finding_get(f, drawings[d].y)->shape[0] < 2) continue;
            char name[100];
            struct lgv_figure x = {
                .kind = LGV_FIGURE_FOUND, .index = i, .second = d, .caption = drawings[d].caption};
            snprintf(x.title, sizeof x.title, "%s %s", drawings[d].title, lgv_plain(name, sizeof name, f->name));
            lgv_file_name(x.file, 64, drawings[d].file, f->name, true);
            list[count++] = x;
        }
    free(shown);
    return count;
}

/* Column `number` of a list "...: path, time, a, b". */
static void column_name(const char *text, size_t number, char *out, size_t size) {
    const char *at = text ? strstr(text, ": path, ") : NULL;
    at = at ? at + 2 : "";
    for (; number > 0 && *at; number--) {
        const char *next = strstr(at, ", ");
        at = next ? next + 2 : "";
    }
    const char *end = strstr(at, ", ");
    char name[100];
    snprintf(name, sizeof name, "%.*s", (int)(end ? (size_t)(end - at) : strlen(at)), at);
    lgv_plain(out, size, name);
}

/* The first two observed values, or time and the only one. */
static void section_script(struct lgv_text *out, const struct lgv_finding *f) {
    const struct lgv_found *table = lgv_finding_get(f, "crossing");
    static const struct lgv_axis plain;
    size_t columns = table->shape[1], n = table->shape[0], first = columns > 3 ? 2 : 1;
    size_t every = n / SECTION_POINTS + 1;
    lgv_text_add(out, "$found << END\n");
    for (size_t i = 0; columns > 2 && i < n; i += every) {
        lgv_axis_number(out, &plain, table->data[i * columns + first]);
        lgv_axis_number(out, &plain, table->data[i * columns + first + 1]);
        lgv_text_add(out, " 0x%s\n", lgv_path_colour((size_t)table->data[i * columns]) + 1);
    }
    lgv_text_add(out, "END\n");
    for (size_t k = 0; k < 2; k++) {
        char name[100];
        column_name(f->text, first + k, name, sizeof name);
        lgv_text_add(out, "set %clabel ", "xy"[k]);
        lgv_quote(out, name);
        lgv_text_add(out, "\n");
    }
    lgv_text_add(out, "plot $found using 1:2:3 with points pt 7 ps 0.25 lc rgb variable notitle\n");
}

void lgv_found_script(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    static const struct lgv_axis plain;
    const struct lgv_finding *x = &r->finding[f->index];
    const struct drawing *d = &drawings[f->second];
    if (of_group(x, LGV_FOUND_SECTIONS)) {
        section_script(out, x);
        return;
    }
    const struct lgv_found *y = lgv_finding_get(x, d->y), *e = lgv_finding_get(x, d->error);
    const double *at = d->x ? lgv_finding_get(x, d->x)->data : r->time;
    size_t n = y->shape[0], points = n < POINTS ? n : POINTS;
    struct lgv_axis axis = LGV_AXIS_EMPTY;
    lgv_text_add(out, "$found << END\n");
    for (size_t k = 0; at && k < points && (d->x || n <= r->ntimes); k++) {
        size_t i = points > 1 ? k * (n - 1) / (points - 1) : 0;
        double half = 1.96 * lgv_at(e->data, i);
        if (!isfinite(half)) half = 0;
        double low = y->data[i] - half, high = y->data[i] + half;
        if (of_group(x, LGV_FOUND_EVENTS)) low = fmax(low, 0), high = fmin(high, 1); /* a part of the paths */
        lgv_axis_number(out, &plain, at[i]);
        lgv_axis_number(out, &plain, y->data[i]);
        lgv_axis_number(out, &plain, low);
        lgv_axis_number(out, &plain, high);
        lgv_text_add(out, "\n");
        lgv_axis_extend(&axis, low);
        lgv_axis_extend(&axis, high);
    }
    lgv_text_add(out, "END\n");
    lgv_axis_settle(&axis, (double)NAN);
    lgv_axis_range(out, 'y', &axis, 0.06);
    lgv_text_add(out,
                 "set xlabel '%s'\nset ylabel '%s'\n"
                 "plot $found using 1:3:4 with filledcurves fc rgb '" BLUE "' fs transparent solid 0.3 noborder "
                 "notitle, $found using 1:2 with %s lw 2 lc rgb '" BLUE "' notitle\n",
                 d->along, d->up, d->x && strcmp(d->x, "lag") == 0 ? "linespoints pt 7 ps 0.5" : "lines");
}
