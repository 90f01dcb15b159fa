/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output stage: the result of a run as HDF5, JSON, text, figures and a one-file report. */
#ifndef LGV_OUT_H
#define LGV_OUT_H

#include "stats/stats.h"
#include "study/study.h"

/* Writes path by way of path.tmp and a rename: an existing file is never left half written. */
enum lgv_status lgv_hdf5_write(const struct lgv_result *r, const char *path, struct lgv_error *err);
enum lgv_status lgv_hdf5_read(const char *path, struct lgv_result *r, struct lgv_error *err);
/* Increments for a model of so many noises, from results.h5 of a run that has kept them or from a text.  Free them with
 * lgv_increments_free; after a failure there is nothing to free. */
enum lgv_status lgv_increments_read(const char *path, size_t noises, struct lgv_increments *out, struct lgv_error *err);
/* The JSON document of `lgv run --json`; malloc'd text, NULL when memory is out. */
char *lgv_json_result(const struct lgv_result *r);
/* The terminal summary.  colour: use ANSI escapes. */
void lgv_summary(FILE *out, const struct lgv_result *r, bool colour);
/* Figures mean-NAME.svg/.png etc. in directory dir (which exists).  Needs gnuplot; says so when it is missing. */
enum lgv_status lgv_figures(const struct lgv_result *r, const char *dir, struct lgv_error *err);
/* dir/report.html with the SVG figures of dir inside it. */
enum lgv_status lgv_report(const struct lgv_result *r, const char *dir, struct lgv_error *err);

/* Convergence studies: the document of `lgv converge --json` (malloc'd, NULL when memory is out), the table for the
 * terminal, convergence.svg and .png, and report.html with that figure inside. */
char *lgv_json_convergence(const struct lgv_convergence *c);
void lgv_convergence_summary(FILE *out, const struct lgv_convergence *c, bool colour);
enum lgv_status lgv_convergence_figure(const struct lgv_convergence *c, const char *dir, struct lgv_error *err);
enum lgv_status lgv_convergence_report(const struct lgv_convergence *c, const char *dir, struct lgv_error *err);

/* Comparisons of methods, and multilevel estimates, likewise. */
void lgv_comparison_summary(FILE *out, const struct lgv_comparison *c, bool colour);
char *lgv_comparison_json(const struct lgv_comparison *c); /* malloc'd; NULL: memory is out */
/* Figures and dir/report.html; *drawn is false when there are no figures: err says why, or nothing when there was
 * nothing to draw. */
enum lgv_status lgv_comparison_report(const struct lgv_comparison *c, const char *dir, bool *drawn,
                                      struct lgv_error *err);
void lgv_mlmc_summary(FILE *out, const struct lgv_mlmc_result *r, bool colour);
char *lgv_mlmc_json(const struct lgv_mlmc_result *r);
enum lgv_status lgv_mlmc_report(const struct lgv_mlmc_result *r, const char *dir, bool *drawn, struct lgv_error *err);

/* One row of the certificate in words. */
enum lgv_mark { LGV_MARK_NONE = -1, LGV_MARK_BROKEN = 0, LGV_MARK_HOLDS = 1 };
struct lgv_check {
    enum lgv_mark mark;    /* NONE: information, or nothing was claimed */
    char name[80];         /* plain text */
    char value[48];        /* the measured number */
    char verdict[400];     /* what it means here */
    const char *explained; /* what the row is about, for readers who do not know the words */
};
/* What there is to say about friction times step, or nothing; true: the method is not made for so much of it. */
bool lgv_friction_line(const struct lgv_certificate *k, char *out, size_t size);
/* malloc'd rows; NULL when memory is out. */
struct lgv_check *lgv_checks(const struct lgv_result *r, size_t *count);
/* "137 of 10000 paths failed, first at t = ...: reason" or "no path failed". */
void lgv_failure_line(const struct lgv_result *r, char *out, size_t size);

/* How far start values were off the constraints; true when that is worth telling. */
bool lgv_start_line(const struct lgv_certificate *k, char *out, size_t size);

/* Parts of a one-file page, for reports of other things than one run.  Text of the user goes through lgv_html. */
void lgv_html(struct lgv_text *out, const char *text);
void lgv_page_begin(struct lgv_text *out, const char *title); /* up to <main>; title is plain text */
void lgv_page_end(struct lgv_text *out);
/* dir/file.svg inside. */
void lgv_page_figure(struct lgv_text *out, const char *dir, const char *file, const char *title, const char *caption);

#endif
