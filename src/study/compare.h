/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several methods on one model with the same noise: what they do to the energy and to observables along time, their
 * bias at the end, and what accuracy costs. */
#ifndef LGV_STUDY_COMPARE_H
#define LGV_STUDY_COMPARE_H

#include "study/leg.h"

struct lgv_contender {
    const struct lgv_method *method;
    double step;
};

struct lgv_expected { /* --expect NAME=FORMULA */
    const char *name, *formula;
};

struct lgv_compare_options {
    const struct lgv_contender *contender;
    size_t count;
    const char *const *observe; /* names; none: H and the declared observables */
    size_t nobserve;
    const struct lgv_expected *expect; /* known means, formulas in t, parameters and NAME0 (mean at the start) */
    size_t nexpect;
    const struct lgv_method *reference; /* NULL: chosen when one is needed */
    double reference_step;              /* 0: a quarter of the smallest step */
    const char *chosen; /* why `auto` chose one of the methods, NULL when all were named */
    bool no_reference;
    uint64_t ladder;       /* step sizes per method for work and precision, each half of the one before; 0: none */
    uint64_t ladder_paths; /* 0: as many as take some seconds, at most 1000 */
    uint64_t trials;       /* 0: none; else each method tries so many steps from `from` to `to`, and nothing else */
    double from, to;
};

enum lgv_bias_kind { LGV_BIAS_NONE, LGV_BIAS_EXPECTED, LGV_BIAS_REFERENCE };

struct lgv_outcome {           /* one observable of one method */
    double *mean, *err;        /* [ntimes] with the control variate where there is one */
    double *plain, *plain_err; /* [ntimes] plain averages */
    double *average, *average_err; /* [ntimes] time averages of the paths up to there, mean over paths; NULL: none */
    double factor, left;       /* at the end: coefficient of the control variate, share of the variance left */
    double bias, bias_err, bias_plain_err;
    enum lgv_bias_kind bias_kind;
};

struct lgv_rung { /* one step size of one method */
    double step, strong, strong_err, weak, weak_err;
    double seconds, evaluations; /* per path: processor time of one thread; gradient evaluations */
    uint64_t failed;
};

struct lgv_trial {         /* one step size of one method: does it survive? */
    double energy, most;   /* largest |H(t) - H(0)| over the output times: median, largest; infinite for failed paths */
    uint64_t failed, lost; /* lost: not failed, but the energy changed by more than |H(0)| (only without noise) */
    double seconds;
};

struct lgv_compared { /* one method */
    char *name;
    double step;
    uint64_t steps, failed, rescued; /* rescued: path-steps that were taken in parts */
    double seconds, evaluations, iterations; /* of the run; per step */
    double drift_max, drift_median;          /* over paths, of the largest |H(t) - H(0)| over the output times */
    struct lgv_outcome *outcome;             /* [nobservables] */
    size_t nrungs;
    struct lgv_rung *rung;
    size_t ntrials; /* that are done */
    struct lgv_trial *trial;
    double stable; /* largest step that the frequencies at the start allow: INFINITY any, NaN not known */
    bool done;
};

struct lgv_comparison {
    char *model_name, *model_file, *version, *command, *date;
    double t0, until, shorter; /* shorter: steps are this much of those asked for, so that they end at `until` */
    uint64_t paths, seed, threads;
    size_t ntimes;
    double *time;
    size_t nobservables;
    char **observable, **formula;
    double **expected;    /* [nobservables] NULL or [ntimes] */
    char **expected_text; /* [nobservables] NULL or the formula */
    size_t count;
    struct lgv_compared *method;
    const char *chosen; /* as in the options */
    char *reference; /* NULL: none */
    double reference_step, ladder_reference_step;
    bool points;             /* three-point increments, of each method and step its own */
    bool exact, control;     /* strong errors are against the exact solution; control variates were used */
    const char *no_control;  /* why not, when there is noise; NULL: nothing to say */
    bool ladder_skipped;     /* nothing to measure errors against */
    bool ladder_reference;   /* errors of the ladder are against a fine run on the same paths */
    enum lgv_bias_kind weak; /* what its weak errors are against */
    bool strong_energy;      /* the system is large: strong errors are of the energy alone, not of all q and p */
    uint64_t ladder_paths;
    size_t ntrials;     /* steps tried, 0: none */
    double *trial_step; /* [ntrials] ascending */
    double energy;      /* median of |H(0)| over paths */
    bool conservative;  /* no noise, no bath: the energy should not change */
    double seconds;
    bool interrupted;
    uint64_t failed, rescued; /* of all methods at their own steps */
    uint64_t reference_failed;
};

/* LGV_OK, LGV_FAILED_PATHS and LGV_INTERRUPTED fill *out; free it with lgv_comparison_clear.  settings gives start,
 * until, paths, seed, outputs, threads, lanes, truncate and compiler. */
enum lgv_status lgv_compare(struct lgv_model *m, const struct lgv_settings *settings,
                            const struct lgv_compare_options *options, lgv_progress *progress, void *user,
                            struct lgv_comparison *out, struct lgv_error *err);
void lgv_comparison_clear(struct lgv_comparison *c);

#endif
