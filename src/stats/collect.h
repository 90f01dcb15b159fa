/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collectors of a run, private to the statistics stage.  Each is a list entry: it takes pieces of units, merges
 * with another of its kind in any order, and at the end fills its part of the result. */
#ifndef LGV_COLLECT_H
#define LGV_COLLECT_H

#include "stats/stats.h"

struct lgv_collected {
    struct lgv_collector collector;
    /* Fills its part of r, whose series have names and whose ntimes is set.  May use up the object.  False: no memory.
     * */
    bool (*finish)(void *object, struct lgv_result *r);
    /* Bytes that it will need, for one object. */
    double (*bytes)(const struct lgv_shape *shape);
};

extern const struct lgv_collected lgv_moments;  /* means, deviations, extremes, numbers alive */
extern const struct lgv_collected lgv_changes;  /* largest changes along a path */
extern const struct lgv_collected lgv_spread;   /* quantiles along time */
extern const struct lgv_collected lgv_endings;  /* histograms of final values */
extern const struct lgv_collected lgv_kept;     /* sample paths */
extern const struct lgv_collected lgv_failures; /* failed paths, and how many were done */

extern const struct lgv_collected lgv_events;   /* first passages, entries, survival */

extern const struct lgv_collected lgv_sections; /* crossings of Poincare sections by kept paths */
extern const struct lgv_collected lgv_along;    /* time averages, correlations in time */

/* lags.c: 16 series side by side, x [n][LGV_UNIT].  Lags of a multiple-tau correlator for n values: how many, the lag
 * of each, and the mean over pairs of times of squared differences. */
size_t lgv_lags_count(size_t n);
size_t lgv_lags_at(size_t number, size_t *stride);
void lgv_lags_squares(const double *x, size_t n, size_t number, double out[LGV_UNIT]);
/* Of deviations x from their mean, which are lost: n times the variance of that mean, sum over k of covariances. */
void lgv_lags_variance(double *x, size_t n, double out[LGV_UNIT]);
/* The standard error of that, relative to n s^2, for so many independent values. */
double lgv_lags_doubt(double values);
extern const struct lgv_collected lgv_extremes; /* over every step, of chosen observables */

extern const struct lgv_collected lgv_density;  /* of pairs, over all output times */

extern const struct lgv_collected lgv_sketch;   /* quantiles over all paths; behind those of the sample */

#define LGV_EARLY_PATHS 1024 /* of which quantiles are taken, at most */

/* quantiles.c: those of x[0..n), n <= LGV_EARLY_PATHS finite numbers, behind which three more may be read; NaN when n
 * is 0.  Scratch memory of a thread; NULL: no memory. */
struct lgv_ranks *lgv_ranks_create(void);
void lgv_ranks_free(struct lgv_ranks *r);
void lgv_ranks_quantiles(struct lgv_ranks *r, const double *x, size_t n, double out[LGV_QUANTILES]);

/* Moves the numbers among x[0..n) to the front, returns how many. */
size_t lgv_keep_numbers(double *x, size_t n);

#endif
