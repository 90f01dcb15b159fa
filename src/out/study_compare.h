/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files about comparisons of methods and multilevel estimates share. */
#ifndef LGV_OUT_STUDY_COMPARE_H
#define LGV_OUT_STUDY_COMPARE_H

#include "out/private.h"

#include <jansson.h>

/* What the errors of the ladder are against; "" when they are not known. */
const char *lgv_comparison_against(const struct lgv_comparison *c, bool weak, char *out, size_t size);

#define LGV_COMPARISON_OBSERVABLES 6 /* that are drawn */
#define LGV_COMPARISON_FIGURES (4 * LGV_COMPARISON_OBSERVABLES + 4)
size_t lgv_comparison_plan(const struct lgv_comparison *c, struct lgv_figure list[LGV_COMPARISON_FIGURES]);
void lgv_comparison_script(struct lgv_text *out, const void *study, const char *dir, const struct lgv_figure *list,
                           size_t count);

/* study_compare_plot.c: more labels for a short logarithmic axis, 'x' or 'y'. */
void lgv_study_short_tics(struct lgv_text *out, char axis, double low, double high);

/* study_compare_steps.c: steps that were tried. */
void lgv_comparison_steps_print(FILE *out, const struct lgv_comparison *c, bool colour);
json_t *lgv_comparison_steps_json(const struct lgv_comparison *c, const struct lgv_compared *m);
void lgv_comparison_steps_page(struct lgv_text *out, const struct lgv_comparison *c);
size_t lgv_comparison_steps_plan(const struct lgv_comparison *c, struct lgv_figure list[2]);
void lgv_comparison_steps_plot(struct lgv_text *out, const struct lgv_comparison *c, const struct lgv_figure *f);

/* Values of all JSON documents.  Jansson refuses NULL, so that memory running out anywhere makes the whole fail. */
json_t *lgv_json_real(double x);      /* null when not finite */
json_t *lgv_json_count(uint64_t n);   /* a text above 2^63 - 1, which readers would round */
json_t *lgv_json_text(const char *s); /* any text as valid UTF-8; null for NULL */
bool lgv_json_put(json_t *object, const char *name, json_t *value);
void lgv_study_pad(FILE *out, const char *text, size_t width);
void lgv_study_number(struct lgv_text *out, double x);
#define LGV_STUDY_HEIGHT 400 /* of a figure with a short legend, in pixels of 600 in width */
/* Everything before the plot command of a figure, and everything after it. */
void lgv_study_plot_begin(struct lgv_text *out, const char *file, const char *title, int height);
void lgv_study_plot_end(struct lgv_text *out, const char *file, int height);
/* Appends the settings of a legend below the figure, in columns, for titles of so many characters; returns the height
 * that the figure needs. */
int lgv_study_key(struct lgv_text *out, size_t entries, size_t widest);
struct lgv_study_style {
    const char *colour, *dash; /* as gnuplot has them */
    int mark;
    double width, size; /* of line and marker */
};
struct lgv_study_style lgv_study_style(size_t index, size_t count);
/* Draws what `script` fills in and writes the page that `page` fills in. */
typedef void lgv_study_write(struct lgv_text *out, const void *study, const char *dir, const struct lgv_figure *list,
                             size_t count);
enum lgv_status lgv_study_pages(const void *study, const char *dir, const struct lgv_figure *list, size_t count,
                                 lgv_study_write *script, lgv_study_write *page, bool *drawn, struct lgv_error *err);

#endif
