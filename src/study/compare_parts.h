/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of `lgv compare` share.  Private to them. */
#ifndef LGV_STUDY_COMPARE_PARTS_H
#define LGV_STUDY_COMPARE_PARTS_H

#include "study/compare.h"

struct lgv_comparing {
    struct lgv_model *m;
    const struct lgv_settings *s;
    const struct lgv_compare_options *o;
    struct lgv_comparison *out;
    struct lgv_kernel *kernel; /* [count + 1] with control variates; the last is the reference */
    struct lgv_kernel *plain;  /* [count + 1] without, to measure times */
    const struct lgv_method *reference;
    size_t *column, ncolumns, nobservables; /* observables asked for, then what strong errors are made of */
    size_t rungs;                           /* of the ladder */
    bool reference_wanted, *given;          /* given[i]: the mean of observable i is known */
    double work, done;                      /* base steps times paths: for progress */
    lgv_progress *progress;
    void *user;
    double share; /* of the present leg */
    struct lgv_error *err;
};

/* Steps of several ensembles that meet. */
struct lgv_compare_grid {
    size_t count;
    double *step, base;
    uint64_t *multiple, every, total; /* every: least common multiple; total: base steps to the end */
    double shorter;                   /* steps are this much of those asked for: 1 when they end at `until` */
};

/* compare.c: one ensemble, with step number `at` of a grid. */
enum lgv_status lgv_compare_leg(struct lgv_comparing *x, const struct lgv_compare_grid *g, size_t at,
                                const struct lgv_kernel *k, uint64_t paths, uint64_t outputs, struct lgv_leg *leg);
/* compare_expected.c: are they formulas of what is compared?  Their values, once the means at the start are known. */
enum lgv_status lgv_compare_expected(struct lgv_comparing *x);
enum lgv_status lgv_compare_known(struct lgv_comparing *x, const struct lgv_leg *leg);
/* compare_ladder.c */
enum lgv_status lgv_compare_ladder(struct lgv_comparing *x, const struct lgv_compare_grid *g);
/* compare_steps.c: which steps, and what comes of them. */
enum lgv_status lgv_compare_steps_plan(struct lgv_comparing *x);
enum lgv_status lgv_compare_steps(struct lgv_comparing *x);
int lgv_compare_progress(void *comparing, double fraction);

#endif
