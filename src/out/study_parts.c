/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the outputs of studies share: JSON values, padding, frame, legend and line styles of figures, figures and page
 * written together. */
#include "out/study_compare.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#define KEY_WIDTH 590.0 /* pixels for the legend below a figure */
#define KEY_COLUMNS 4

json_t *lgv_json_real(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *lgv_json_count(uint64_t n) {
    char digits[32];
    if (n <= INT64_MAX) return json_integer((json_int_t)n);
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    return json_string(digits);
}

json_t *lgv_json_text(const char *s) {
    if (!s) return json_null();
    char *plain = lgv_plain_copy(s);
    json_t *out = plain ? json_string(plain) : NULL;
    free(plain);
    return out;
}

bool lgv_json_put(json_t *object, const char *name, json_t *value) {
    char *plain = lgv_plain_copy(name);
    bool good = plain && json_object_set_new(object, plain, value) == 0;
    if (!plain) json_decref(value);
    free(plain);
    return good;
}

void lgv_study_pad(FILE *out, const char *text, size_t width) {
    size_t have = lgv_text_width(text);
    fprintf(out, "%s%*s", text, have < width ? (int)(width - have) : 0, "");
}

void lgv_study_number(struct lgv_text *out, double x) {
    if (isfinite(x) && fabs(x) < 1e300)
        lgv_text_add(out, " %.9g", x);
    else
        lgv_text_add(out, " NaN");
}

/* Curve `index` of `count`: colour (Okabe and Ito's, told apart by colour-blind readers too), dashes and marker are
 * different together for many curves.  Later curves are dashed, thinner and lie above the earlier ones: of two that
 * coincide both are seen. */
struct lgv_study_style lgv_study_style(size_t index, size_t count) {
    static const char *const colour[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666"};
    static const char *const dash[] = {"1", "(10,5)", "(3,3)", "(12,4,3,4)"};
    static const int mark[] = {5, 7, 9, 11, 13, 4, 6, 8, 10, 12, 1, 2};
    size_t colours = sizeof colour / sizeof *colour, dashes = sizeof dash / sizeof *dash,
           marks = sizeof mark / sizeof *mark;
    double late = count > 1 ? (double)index / (double)(count - 1) : 0;
    bool many = count > 3;
    return (struct lgv_study_style){.colour = colour[index % colours],
                                    .dash = many && index > 0 ? dash[1 + (index - 1) % (dashes - 1)] : dash[0],
                                    .mark = mark[index % marks],
                                    .width = many ? 3.2 - 1.9 * late : 1.8,
                                    .size = many ? 1.1 - 0.4 * late : 0.8};
}

int lgv_study_key(struct lgv_text *out, size_t entries, size_t widest) {
    double column = 45 + 9.8 * (double)widest; /* as wide as gnuplot makes it */
    size_t columns = (size_t)fmin(KEY_COLUMNS, fmax(1, floor(KEY_WIDTH / column)));
    if (columns > entries) columns = entries ? entries : 1;
    size_t rows = (entries + columns - 1) / columns;
    lgv_text_add(out,
                 "set bmargin %.3g\nset key at screen 0.5,0.015 center bottom vertical maxrows %zu Left reverse "
                 "samplen 3.2 textcolor rgb '#444444' noenhanced\n",
                 4.4 + 1.08 * (double)rows, rows ? rows : 1);
    return 330 + 20 * (int)rows;
}

void lgv_study_plot_begin(struct lgv_text *out, const char *file, const char *title, int height) {
    lgv_text_add(out,
                 LGV_PLOT_BEGIN
                 "set format '%%g'\nset datafile missing 'NaN'\nset lmargin 13\nset rmargin 3\nset tmargin 2\n"
                 "set key outside bottom center horizontal Left reverse samplen 2 height 1 textcolor rgb '#444444' "
                 "noenhanced\n"
                 "set label 1 ");
    lgv_title(out, title, LGV_TITLE_LEFT);
    lgv_text_add(out, " at graph 0,1.07 left noenhanced\n");
    lgv_plot_open(out, file, 600, height);
}

void lgv_study_plot_end(struct lgv_text *out, const char *file, int height) {
    lgv_text_add(out, "\n");
    lgv_plot_close(out, file, 600, height);
}

enum lgv_status lgv_study_pages(const void *study, const char *dir, const struct lgv_figure *list, size_t count,
                                 lgv_study_write *script, lgv_study_write *page, bool *drawn, struct lgv_error *err) {
    struct lgv_text plot = {0}, text = {0}, path = {0};
    struct lgv_error figures = {0};
    /* gnuplot and readers of the page want points, whatever the locale of the calling program */
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), before = c ? uselocale(c) : (locale_t)0;
    script(&plot, study, dir, list, count);
    *drawn = count > 0 && lgv_figures_draw(&plot, dir, list, count, &figures) == LGV_OK;
    page(&text, study, dir, list, count);
    lgv_text_add(&path, "%s/report.html", dir);
    enum lgv_status status =
        text.failed || path.failed ? lgv_fail_memory(err) : lgv_file_replace(path.data, text.data, text.size, err);
    if (status == LGV_OK && !*drawn && err) *err = figures;
    if (c) {
        uselocale(before);
        freelocale(c);
    }
    lgv_text_free(&plot);
    lgv_text_free(&text);
    lgv_text_free(&path);
    return status;
}
