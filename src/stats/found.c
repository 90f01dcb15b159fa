/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What was found along the way, as part of a result: groups of numbers and arrays with names, all of them rows of one
 * table.  HDF5, JSON, lgv_result_array, the summary and the report go through that table. */
#include "stats/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIME "time"
#define SAME "that of the series"
const struct lgv_found_row lgv_found_rows[] = {
    {LGV_FOUND_EVENTS, "paths", 0, "paths", "paths that were watched to their end"},
    {LGV_FOUND_EVENTS, "had", 0, "paths", "paths for which the condition held at some time"},
    {LGV_FOUND_EVENTS, "stops", 0, "", "1: a path ends when it holds"},
    {LGV_FOUND_EVENTS, "mean", 0, TIME, "mean of the first-passage times, over the paths that had it"},
    {LGV_FOUND_EVENTS, "std", 0, TIME, "their standard deviation"},
    {LGV_FOUND_EVENTS, "stderr", 0, TIME, "standard error of the mean"},
    {LGV_FOUND_EVENTS, "min", 0, TIME, "first of the first-passage times"},
    {LGV_FOUND_EVENTS, "max", 0, TIME, "last of them"},
    {LGV_FOUND_EVENTS, "q05", 0, TIME, "5 % quantile of the first-passage times in `time`"},
    {LGV_FOUND_EVENTS, "q25", 0, TIME, "25 % quantile"},
    {LGV_FOUND_EVENTS, "q50", 0, TIME, "median"},
    {LGV_FOUND_EVENTS, "q75", 0, TIME, "75 % quantile"},
    {LGV_FOUND_EVENTS, "q95", 0, TIME, "95 % quantile"},
    {LGV_FOUND_EVENTS, "entries_mean", 0, "", "how often the condition began to hold, mean over paths"},
    {LGV_FOUND_EVENTS, "entries_stderr", 0, "", "standard error of that mean"},
    {LGV_FOUND_EVENTS, "entries_max", 0, "", "the most of one path"},
    {LGV_FOUND_EVENTS, "count", 1, "paths", "first passages after the output time before and up to every output time"},
    {LGV_FOUND_EVENTS, "survival", 1, "", "part of the paths that have not had it, at every output time"},
    {LGV_FOUND_EVENTS, "survival_stderr", 1, "", "its standard error"},
    {LGV_FOUND_EVENTS, "time", 1, TIME, "first-passage times of the first paths, by number; NaN: never"},
    {LGV_FOUND_EVENTS, "entries", 1, "", "entries of the first paths"},
    {LGV_FOUND_AVERAGES, "mean", 0, SAME, "time average, mean over the paths that reach the end"},
    {LGV_FOUND_AVERAGES, "stderr", 0, SAME,
     "its standard error: stderr_paths from 16 paths on, else stderr_along, or the larger one where R-hat is above "
     "1.01"},
    {LGV_FOUND_AVERAGES, "stderr_paths", 0, SAME, "standard error from the spread of the averages of the paths"},
    {LGV_FOUND_AVERAGES, "stderr_along", 0, SAME, "standard error from the correlation along the paths"},
    {LGV_FOUND_AVERAGES, "time", 0, TIME, "integrated autocorrelation time"},
    {LGV_FOUND_AVERAGES, "samples", 0, "", "effective number of independent values, of all paths"},
    {LGV_FOUND_AVERAGES, "r_hat", 0, "",
     "R-hat of the halves of the paths, 1 where averages do not depend on the path and its beginning; infinite: every "
     "path rests at a value of its own; NaN: constant"},
    {LGV_FOUND_AVERAGES, "std", 0, SAME, "standard deviation along a path"},
    {LGV_FOUND_AVERAGES, "paths", 0, "paths", "paths that reach the end"},
    {LGV_FOUND_AVERAGES, "values", 0, "", "values of each path"},
    {LGV_FOUND_AVERAGES, "path_mean", 1, SAME, "time averages of the first paths, by number; NaN: it ended early"},
    {LGV_FOUND_AVERAGES, "path_stderr", 1, SAME, "their standard errors"},
    {LGV_FOUND_AVERAGES, "path_time", 1, TIME, "their integrated autocorrelation times"},
    {LGV_FOUND_AVERAGES, "path_samples", 1, "", "their effective numbers of values"},
    {LGV_FOUND_AVERAGES, "running_time", 1, TIME, "times up to which running averages are taken, 128 at most"},
    {LGV_FOUND_AVERAGES, "running_mean", 1, SAME, "time average up to there, mean over paths"},
    {LGV_FOUND_AVERAGES, "running_stderr", 1, SAME, "its standard error, from the spread of the paths"},
    {LGV_FOUND_CORRELATIONS, "variance", 0, SAME " squared", "variance over times and paths"},
    {LGV_FOUND_CORRELATIONS, "paths", 0, "paths", "paths that reach the end"},
    {LGV_FOUND_CORRELATIONS, "decay", 0, TIME, "lag at which the autocorrelation is first down to 1/e; NaN: at none"},
    {LGV_FOUND_CORRELATIONS, "half_lag", 0, TIME, "the last lag of at most half the time of a path, at which"},
    {LGV_FOUND_CORRELATIONS, "diffusion", 0, SAME " squared per time", "is msd / (2 lag)"},
    {LGV_FOUND_CORRELATIONS, "diffusion_stderr", 0, SAME " squared per time", "its standard error"},
    {LGV_FOUND_CORRELATIONS, "lag", 1, TIME, "lags: 16, then 8 for every doubling"},
    {LGV_FOUND_CORRELATIONS, "correlation", 1, "", "autocorrelation, 1 - msd / (2 variance)"},
    {LGV_FOUND_CORRELATIONS, "correlation_stderr", 1, "", "its standard error, from the spread over paths"},
    {LGV_FOUND_CORRELATIONS, "msd", 1, SAME " squared", "mean squared displacement over the lag"},
    {LGV_FOUND_CORRELATIONS, "msd_stderr", 1, SAME " squared", "its standard error, from the spread over paths"},
    {LGV_FOUND_EXTREMES, "paths", 0, "paths", "paths that were followed to their end; failed ones are left out"},
    {LGV_FOUND_EXTREMES, "least_mean", 0, SAME, "mean over paths of the smallest value of each, at any step"},
    {LGV_FOUND_EXTREMES, "least_std", 0, SAME, "its standard deviation"},
    {LGV_FOUND_EXTREMES, "least_stderr", 0, SAME, "standard error of the mean"},
    {LGV_FOUND_EXTREMES, "least_min", 0, SAME, "the least of them"},
    {LGV_FOUND_EXTREMES, "least_max", 0, SAME, "the largest of them"},
    {LGV_FOUND_EXTREMES, "least_q05", 0, SAME, "5 % quantile, from the first paths"},
    {LGV_FOUND_EXTREMES, "least_q25", 0, SAME, "25 % quantile"},
    {LGV_FOUND_EXTREMES, "least_q50", 0, SAME, "median"},
    {LGV_FOUND_EXTREMES, "least_q75", 0, SAME, "75 % quantile"},
    {LGV_FOUND_EXTREMES, "least_q95", 0, SAME, "95 % quantile"},
    {LGV_FOUND_EXTREMES, "largest_mean", 0, SAME, "mean over paths of the largest value of each, at any step"},
    {LGV_FOUND_EXTREMES, "largest_std", 0, SAME, "its standard deviation"},
    {LGV_FOUND_EXTREMES, "largest_stderr", 0, SAME, "standard error of the mean"},
    {LGV_FOUND_EXTREMES, "largest_min", 0, SAME, "the least of them"},
    {LGV_FOUND_EXTREMES, "largest_max", 0, SAME, "the largest of them"},
    {LGV_FOUND_EXTREMES, "largest_q05", 0, SAME, "5 % quantile, from the first paths"},
    {LGV_FOUND_EXTREMES, "largest_q25", 0, SAME, "25 % quantile"},
    {LGV_FOUND_EXTREMES, "largest_q50", 0, SAME, "median"},
    {LGV_FOUND_EXTREMES, "largest_q75", 0, SAME, "75 % quantile"},
    {LGV_FOUND_EXTREMES, "largest_q95", 0, SAME, "95 % quantile"},
    {LGV_FOUND_PAIRS, "values", 0, "", "pairs of values at the end that were counted"},
    {LGV_FOUND_PAIRS, "outside", 0, "", "of these, how many lie outside of the edges"},
    {LGV_FOUND_PAIRS, "x_edge", 1, SAME, "edges of the bins of the first observable"},
    {LGV_FOUND_PAIRS, "y_edge", 1, SAME, "edges of the bins of the second"},
    {LGV_FOUND_PAIRS, "count", 2, "", "values in every bin, [x][y]"},
    {LGV_FOUND_DENSITIES, "values", 0, "", "pairs of values at all output times that were counted"},
    {LGV_FOUND_DENSITIES, "outside", 0, "", "of these, how many lie outside of the edges"},
    {LGV_FOUND_DENSITIES, "x_edge", 1, SAME, "edges of the bins of the first observable"},
    {LGV_FOUND_DENSITIES, "y_edge", 1, SAME, "edges of the bins of the second"},
    {LGV_FOUND_DENSITIES, "count", 2, "", "values in every bin, [x][y]"},
    {LGV_FOUND_SECTIONS, "crossings", 0, "", "crossings of the kept paths"},
    {LGV_FOUND_SECTIONS, "stored", 0, "", "those that are stored"},
    {LGV_FOUND_SECTIONS, "paths", 0, "paths", "kept paths"},
    {LGV_FOUND_SECTIONS, "crossing", 2, "", "[crossing][column]: number of the path, time, what is observed"},
    {LGV_FOUND_CLOUDS, "paths", 0, "paths", "the first paths, whose values are here"},
    {LGV_FOUND_CLOUDS, "time", 1, TIME, "some of the output times"},
    {LGV_FOUND_CLOUDS, "value", 2, SAME, "values of these paths, [time][path]; NaN: it has ended"},
};
const size_t lgv_found_row_count = sizeof lgv_found_rows / sizeof *lgv_found_rows;
const char *const lgv_found_groups[] = {LGV_FOUND_EVENTS, LGV_FOUND_AVERAGES, LGV_FOUND_CORRELATIONS,
                                        LGV_FOUND_EXTREMES, LGV_FOUND_PAIRS, LGV_FOUND_DENSITIES,
                                        LGV_FOUND_SECTIONS, LGV_FOUND_CLOUDS};
const size_t lgv_found_group_count = sizeof lgv_found_groups / sizeof *lgv_found_groups;

const struct lgv_found_row *lgv_found_row(const char *group, size_t number) {
    for (size_t i = 0; i < lgv_found_row_count; i++)
        if (strcmp(lgv_found_rows[i].group, group) == 0 && number-- == 0) return &lgv_found_rows[i];
    return NULL;
}

static size_t rank(const char *group) {
    size_t k = 0;
    while (k < lgv_found_group_count && strcmp(lgv_found_groups[k], group) != 0) k++;
    return k;
}

/* In the order of the groups, whichever collector comes first: that is their order in files, too. */
struct lgv_finding *lgv_finding_add(struct lgv_result *r, const char *group, const char *name, const char *text) {
    struct lgv_finding *list = realloc(r->finding, (r->nfindings + 1) * sizeof *list);
    if (!list) return NULL;
    r->finding = list;
    size_t at = r->nfindings++;
    for (; at > 0 && rank(list[at - 1].group) > rank(group); at--) list[at] = list[at - 1];
    struct lgv_finding *f = &list[at];
    *f = (struct lgv_finding){.group = group, .name = lgv_copy(name), .text = lgv_copy(text ? text : name)};
    return f->name && f->text ? f : NULL;
}

static size_t number_of(const char *group, const char *name) {
    const struct lgv_found_row *row;
    size_t k = 0;
    while ((row = lgv_found_row(group, k)) && strcmp(row->name, name) != 0) k++;
    return row && k < LGV_FOUND_ROWS ? k : LGV_FOUND_ROWS;
}

double *lgv_finding_array(struct lgv_finding *f, const char *name, size_t rows, size_t columns) {
    size_t k = number_of(f->group, name);
    if (k == LGV_FOUND_ROWS) return NULL;
    struct lgv_found *x = &f->item[k];
    *x = (struct lgv_found){lgv_new(rows * columns + 1, sizeof *x->data), {rows, columns}};
    return x->data;
}

bool lgv_finding_number(struct lgv_finding *f, const char *name, double value) {
    double *to = lgv_finding_array(f, name, 1, 1);
    if (to) *to = value;
    return to != NULL;
}

const struct lgv_found *lgv_finding_get(const struct lgv_finding *f, const char *name) {
    static const struct lgv_found none;
    size_t k = number_of(f->group, name);
    return k < LGV_FOUND_ROWS ? &f->item[k] : &none;
}

double lgv_finding_value(const struct lgv_finding *f, const char *name) {
    const struct lgv_found *x = lgv_finding_get(f, name);
    return x->data ? x->data[0] : (double)NAN;
}

void lgv_findings_free(struct lgv_result *r) {
    for (size_t i = 0; r->finding && i < r->nfindings; i++) {
        free(r->finding[i].name);
        free(r->finding[i].text);
        for (size_t k = 0; k < LGV_FOUND_ROWS; k++) free(r->finding[i].item[k].data);
    }
    free(r->finding);
}
