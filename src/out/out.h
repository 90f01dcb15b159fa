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

#endif
