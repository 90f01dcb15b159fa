/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Multilevel Monte Carlo for E[f(X_T)]. */
#ifndef LGV_STUDY_MLMC_H
#define LGV_STUDY_MLMC_H

#include "study/leg.h"

#define LGV_MLMC_LEVELS 24

struct lgv_mlmc_options {
    const char *observe; /* NULL: H */
    double tolerance;    /* root mean square error asked for */
    double largest;      /* step of level 0; 0: the step of the run */
    uint64_t levels;     /* most levels; 0: 12 */
    uint64_t pilot;      /* pairs of a level before anything is known; 0: 1000 */
};

struct lgv_mlmc_level {
    double step;
    uint64_t paths, failed;          /* pairs used; pairs left out because one of the two paths failed */
    double mean, variance;           /* of f_l - f_{l-1}; of f_0 on level 0 */
    double fine_mean, fine_variance; /* of f_l */
    double cost;                     /* of a pair, in steps of level 0 */
    double seconds, fine_seconds;    /* measured: all pairs; the fine halves alone */
};

struct lgv_mlmc_result {
    const char *chosen; /* why `auto` chose the method; NULL when it was named.  Set by the caller */
    char *model_name, *model_file, *method, *observable, *formula, *version, *command, *date;
    double t0, until, tolerance;
    uint64_t seed, threads;
    size_t nlevels;
    struct lgv_mlmc_level level[LGV_MLMC_LEVELS];
    double estimate, stderror, bias; /* bias: bound of the weak error left, from the decay of the level means */
    double low, high;                /* 95 %: estimate -+ (1.96 stderror + bias) */
    double alpha, beta;              /* fitted decay 2^(-alpha l) of means and 2^(-beta l) of variances; NaN: unknown */
    double cost, plain_cost;         /* in steps of level 0, against plain Monte Carlo at the same tolerance */
    double plain_paths, seconds, plain_seconds; /* plain: predicted from the finest level */
    uint64_t failed, rescued; /* rescued: path-steps that were taken in parts */
    bool reached, interrupted; /* reached: bias and statistical error are within the tolerance */
};

/* LGV_OK, LGV_FAILED_PATHS and LGV_INTERRUPTED fill *out; clear it with lgv_mlmc_clear. */
enum lgv_status lgv_mlmc(struct lgv_model *m, const struct lgv_settings *settings, const struct lgv_method *method,
                         const struct lgv_mlmc_options *options, lgv_progress *progress, void *user,
                         struct lgv_mlmc_result *out, struct lgv_error *err);
void lgv_mlmc_clear(struct lgv_mlmc_result *r);

#endif
