/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output stage: the result of a run as HDF5, JSON, text, figures and a one-file report. */
#ifndef LGV_OUT_H
#define LGV_OUT_H

#include "stats/stats.h"

/* Writes path by way of path.tmp and a rename: an existing file is never left half written. */
enum lgv_status lgv_hdf5_write(const struct lgv_result *r, const char *path, struct lgv_error *err);
enum lgv_status lgv_hdf5_read(const char *path, struct lgv_result *r, struct lgv_error *err);
/* The JSON document of `lgv run --json`; malloc'd text, NULL when memory is out. */
char *lgv_json_result(const struct lgv_result *r);
/* The terminal summary.  colour: use ANSI escapes. */
void lgv_summary(FILE *out, const struct lgv_result *r, bool colour);
/* Figures mean-NAME.svg/.png etc. in directory dir (which exists).  Needs gnuplot; says so when it is missing. */
enum lgv_status lgv_figures(const struct lgv_result *r, const char *dir, struct lgv_error *err);
/* dir/report.html with the SVG figures of dir inside it. */
enum lgv_status lgv_report(const struct lgv_result *r, const char *dir, struct lgv_error *err);

#endif
