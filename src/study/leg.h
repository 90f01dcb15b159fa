/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One ensemble of a study: a method with one step size on given paths, its values path by path at the end and their
 * sums along time.  Legs of one study share their Brownian paths: each uses sums of increments of one base step. */
#ifndef LGV_STUDY_LEG_H
#define LGV_STUDY_LEG_H

#include "run/run.h"

#define LGV_REFERENCE_DOF 16 /* up to here implicit methods serve as references */

/* References where noises depend on momenta, the most accurate first: methods that use dW alone have strong order 1
 * there, and 1/2 where noises do not commute.  NULL: elsewhere. */
const char *const *lgv_references_mixed(const struct lgv_model *m, const struct lgv_structure *s);

/* Sums over paths of f - shift and of its martingale part M (mean zero), for mean(f - b M). */
struct lgv_pair_sums {
    double n, shift, f, m, ff, fm, mm;
};

struct lgv_leg {
    /* set before lgv_leg_run */
    const struct lgv_kernel *kernel;
    double t0, step;
    uint64_t coarsen, steps, paths, seed;
    double truncate;
    bool rescue; /* steps without a solution are taken in parts, where that is possible */
    bool points; /* three-point increments */
    unsigned threads;
    size_t ncolumns, nseries; /* columns whose values are kept; the first nseries of them also along time */
    const size_t *column;     /* [ncolumns] numbers of watched observables */
    size_t ntimes;            /* at least 2: start and end */
    uint64_t *time_step;      /* [ntimes]; owned */
    size_t averages_from;     /* number of the output time at which running averages begin; ntimes: there are none */
    /* filled */
    struct lgv_pair_sums *sum;             /* [ntimes][nseries] */
    struct lgv_pair_sums *running;         /* the same of the average of a path over the output times up to there */
    double *final, *start;                 /* [paths][ncolumns], NaN where the path failed */
    double *control;                       /* [paths][ncolumns] martingale parts at the end; NULL without */
    double *drift, *energy;                /* [paths] largest |H(t) - H(0)| over the output times reached; H(0) */
    struct lgv_run_report report;
    uint64_t rescued; /* path-steps that were taken in parts */
    uint64_t failed;
    bool done;
};

enum lgv_status lgv_leg_run(struct lgv_leg *leg, lgv_progress *progress, void *user, struct lgv_error *err);
void lgv_leg_free(struct lgv_leg *leg);
/* Output steps of a leg: `outputs` + 1 of them, multiples of `every`. */
uint64_t *lgv_leg_times(uint64_t steps, uint64_t every, uint64_t outputs, size_t *count);

void lgv_pair_add(struct lgv_pair_sums *s, double f, double m);

/* mean(f), and mean(f - b M) with the b of least variance; standard errors; share of the variance left. */
struct lgv_pair_estimate {
    double mean, err, plain, plain_err, factor, left;
};
struct lgv_pair_estimate lgv_pair_estimate(const struct lgv_pair_sums *s);

/* The largest step of which all given ones are multiples (to 1e-9), and the multiples; false when there is none above a
 * 1024th of the smallest. */
bool lgv_common_step(const double *step, size_t count, double *base, uint64_t *multiple);

#endif
