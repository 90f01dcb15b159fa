/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the output stage share: user text made safe, numbers as text, files written whole or not at all,
 * the checks of a run in words, and the plan of figures. */
#ifndef LGV_OUT_PRIVATE_H
#define LGV_OUT_PRIVATE_H

#include "out/out.h"

#include <math.h>

/* Bytes of the character at s; 0 when it is a control character, turns the writing direction or is not UTF-8.  Names
 * and titles come from model and result files: nothing of them may reach a terminal, gnuplot or HTML unexamined. */
size_t lgv_char_size(const char *s);
/* text (NULL is "") with '?' for every bad byte and a blank for line breaks, cut at a character when it is too long. */
const char *lgv_plain(char *out, size_t size, const char *text);
char *lgv_plain_copy(const char *text);   /* malloc'd, whole */
size_t lgv_text_width(const char *plain); /* characters, not bytes */

/* x with as few digits as read back to the same number; "n/a" when it is not finite. */
const char *lgv_exact(char *out, size_t size, double x);
/* x with `digits` digits for people. */
const char *lgv_brief(char *out, size_t size, double x, int digits);
/* 1234567 -> "1 234 567" */
const char *lgv_grouped(char *out, size_t size, uint64_t n);
/* 1.5e8 -> "150 million" */
const char *lgv_rate(char *out, size_t size, double per_second);

/* Writes by way of path.tmp, fsync and rename; removes path.tmp when anything fails. */
enum lgv_status lgv_file_replace(const char *path, const void *data, size_t size, struct lgv_error *err);
/* Removes temporary files in dir of processes that have ended without doing so. */
void lgv_file_sweep(const char *dir);
/* Name for a file from any text: letters, digits, '_' and '-' only, not empty; a long text ends in a number made from
 * all of it. */
void lgv_file_name(char *out, size_t size, const char *prefix, const char *text);

/* One row of the certificate in words. */
enum lgv_mark { LGV_MARK_NONE = -1, LGV_MARK_BROKEN = 0, LGV_MARK_HOLDS = 1 };
struct lgv_check {
    enum lgv_mark mark;    /* NONE: information, or nothing was claimed */
    char name[80];         /* plain text */
    char value[48];        /* the measured number */
    char verdict[200];     /* what it means here */
    const char *explained; /* what the row is about, for readers who do not know the words */
};
/* malloc'd rows; NULL when memory is out. */
struct lgv_check *lgv_checks(const struct lgv_result *r, size_t *count);
/* "137 of 10000 paths failed, first at t = ...: reason" or "no path failed". */
void lgv_failure_line(const struct lgv_result *r, char *out, size_t size);

/* How far start values were off the constraints; true when that is worth telling. */
bool lgv_start_line(const struct lgv_certificate *k, char *out, size_t size);

/* What is stored of a system too large to store all coordinates, and how to get more; false when all are stored. */
bool lgv_stored_line(const struct lgv_result *r, char *out, size_t size);

/* Value i of an array that may be missing. */
double lgv_at(const double *array, size_t i);
/* The series in the order people want them: observables, energy, momentum maps, coordinates, momenta, errors.
 * malloc'd indices; NULL when memory is out or there is none. */
size_t *lgv_series_order(const struct lgv_result *r);
const char *lgv_series_kind_name(int kind);

/* A figure that lgv_figures draws as file.svg and file.png and that the report shows. */
enum lgv_figure_kind {
    LGV_FIGURE_MEAN, /* along time; of one path, the path itself */
    LGV_FIGURE_ENERGY,
    LGV_FIGURE_PATHS,
    LGV_FIGURE_PHASE,
    LGV_FIGURE_TRAJECTORY,
    LGV_FIGURE_HISTOGRAM
};
struct lgv_figure {
    enum lgv_figure_kind kind;
    size_t index, second;       /* of the series (PHASE: coordinate and momentum) or of the histogram */
    size_t place[3], dimension; /* TRAJECTORY: the series of two or three coordinates */
    char file[80];              /* without extension */
    char title[240];            /* plain text */
    const char *caption;
};
/* malloc'd plan, determined by the result alone; NULL when memory is out or nothing is to be drawn. */
struct lgv_figure *lgv_figure_plan(const struct lgv_result *r, size_t *count);
/* Appends what draws it to a gnuplot script. */
void lgv_figure_script(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f);
/* Text of the user in a gnuplot script: in single quotes nothing of it has a meaning. */
void lgv_quote(struct lgv_text *out, const char *text);

/* An axis of values: extend it by all of them, settle it, then write numbers, range and label.  Values that stay close
 * to where they start are drawn as their change. */
struct lgv_axis {
    double low, high;
    double base;  /* subtracted from what is drawn */
    bool shifted; /* base is worth telling */
    bool clipped; /* the axis does not show all: the values go from least to most */
    double least, most;
};
#define LGV_AXIS_EMPTY ((struct lgv_axis){.low = (double)INFINITY, .high = -(double)INFINITY})
void lgv_axis_extend(struct lgv_axis *a, double x);     /* what is not finite does not count */
/* Before it is settled: where the values reach a hundred times as far as the range that most of them keep to, a few of
 * them escape, and the axis shows that range with as much again around it. */
void lgv_axis_clip(struct lgv_axis *a, double low, double high);
void lgv_axis_settle(struct lgv_axis *a, double start); /* start: the value at the first time, or NaN */
void lgv_axis_number(struct lgv_text *out, const struct lgv_axis *a, double x);
void lgv_axis_range(struct lgv_text *out, char letter, const struct lgv_axis *a, double air);
/* A line at the foot of the figure about axes that are clipped, or nothing. */
void lgv_axis_note(struct lgv_text *out, const struct lgv_axis *a, size_t count);
/* "name", or "name - symbol(time), symbol(time) = base"; symbol NULL: the name. */
void lgv_axis_label(struct lgv_text *out, char letter, const struct lgv_axis *a, const char *name, const char *symbol,
                    double time);

/* Runs scripts that draw list[i].file as .svg and .png in dir, one gnuplot each at the same time; whatever was not
 * finished is removed and an error. */
enum lgv_status lgv_figures_draw_all(const struct lgv_text *script, size_t scripts, const char *dir,
                                     const struct lgv_figure *list, size_t count, struct lgv_error *err);
/* The same with one script. */
enum lgv_status lgv_figures_draw(const struct lgv_text *script, const char *dir, const struct lgv_figure *list,
                                 size_t count, struct lgv_error *err);
/* Runs gnuplot in dir on script texts, all of them at the same time. */
enum lgv_status lgv_gnuplot(const char *dir, const struct lgv_text *script, size_t count, struct lgv_error *err);

/* Parts of a one-file page, for reports of other things than one run.  Text of the user goes through lgv_html. */
void lgv_html(struct lgv_text *out, const char *text);
void lgv_page_begin(struct lgv_text *out, const char *title); /* up to <main>; title is plain text */
void lgv_page_end(struct lgv_text *out);
void lgv_page_fact(struct lgv_text *out, const char *name, const char *value);           /* inside <dl class="facts"> */
void lgv_page_figure(struct lgv_text *out, const char *dir, const struct lgv_figure *f); /* dir/f->file.svg inside */

/* The order of a method against what was expected, and the reference, in words. */
const char *lgv_convergence_verdict(const struct lgv_convergence *c, const struct lgv_convergence_method *m, char *out,
                                    size_t size);
void lgv_convergence_reference(const struct lgv_convergence *c, char *out, size_t size);
/* All methods in one sentence: how many are as expected, better, not as expected. */
const char *lgv_convergence_banner(const struct lgv_convergence *c, char *out, size_t size);
/* "1.012 ± 0.023", or "1.012" when there is no randomness or the error is not known. */
const char *lgv_convergence_order(double order, double stderror, char *out, size_t size);
/* One word for why a level is not in the fit; "" when it is. */
const char *lgv_convergence_left_out(enum lgv_level_use use);
/* What the errors are of, "positions, momenta"; "" for the whole state. */
const char *lgv_convergence_of(const struct lgv_convergence *c, char *out, size_t size);

#endif
