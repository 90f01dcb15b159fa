/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Convergence: strong and weak errors of several methods at several steps on shared Brownian paths, and the orders that
 * a fit gives.  With x_h the numerical and x the true solution at the end T,
 *
 *     strong   e(h) = sqrt(E |x_h - x|^2),      weak   e(h) = |E f(x_h) - E f(x)|,      e(h) ~ C h^order.
 *
 * x is the exact solution of the model file, or a fine solution of the same paths by another method. */
#ifndef LGV_CONVERGE_H
#define LGV_CONVERGE_H

#include "run/run.h"

#define LGV_CONVERGE_LEVELS 20
#define LGV_CONVERGE_METHODS 24

/* An order agrees with the expected one when it is off by no more than one of these. */
#define LGV_ORDER_ERRORS 4.0 /* standard errors */
#define LGV_ORDER_OFF 0.15   /* the bend of the law at steps that are not small */

struct lgv_convergence_options {
    const char *methods; /* names separated by commas; NULL: settings.method */
    bool weak;
    const char *observe;   /* weak: name of f, NULL for "H" */
    const char *steps;     /* numbers separated by commas, or NULL: largest, largest/2, ... */
    double largest;        /* 0: settings.step */
    size_t levels;         /* 0: 5 */
    double target;         /* standard error of every order to reach by more paths; 0: settings.paths paths */
    const char *reference; /* name of a method, "exact", or NULL to choose */
};

enum lgv_order_verdict {
    LGV_ORDER_NONE,    /* nothing to compare, or not enough signal */
    LGV_ORDER_AGREES,  /* the fit over all levels */
    LGV_ORDER_BENDS,   /* not the fit, but the two smallest steps: the others are too large for the law to hold */
    LGV_ORDER_MIXED,   /* between the strong order and the order without noise: the noise is small at these steps */
    LGV_ORDER_DIFFERS, /* lower, or no power law at these steps */
    LGV_ORDER_BETTER   /* higher, and that at all steps */
};

struct lgv_convergence_level {
    double step;
    uint64_t factor, steps; /* step = factor * smallest step; steps to the end */
    double error, stderror; /* NaN when nothing is known */
    double bias;            /* weak: E f(x_h) - E f(x), with its sign */
    bool noise;             /* weak: below two standard errors, not fitted */
    uint64_t paths, failed; /* behind the error; lost at this level */
    uint64_t truncated;     /* path-steps with a truncated increment */
    double seconds;         /* of all threads together */
    double evaluations;     /* gradient evaluations per path */
};

struct lgv_convergence_method {
    const struct lgv_method *method;
    double order, order_stderr;   /* NaN when there is not enough signal */
    double finest, finest_stderr; /* the same from the two smallest fitted steps */
    double expected;
    const char *expected_reason;
    enum lgv_order_verdict verdict;
    size_t fitted; /* levels in the fit */
    struct lgv_convergence_level level[LGV_CONVERGE_LEVELS];
};

struct lgv_convergence {
    char *model_name, *model_text, *model_file, *command;
    char date[32], compiler[256];
    bool weak;
    char *observe, *observe_text; /* weak */
    size_t nparameters;
    char **parameter;
    double *parameter_value;
    double t0, until, until_wanted;
    uint64_t paths, seed, threads;
    double target;
    bool target_reached, interrupted, random;
    int noise_commutes;
    size_t nq, nnoise;
    const struct lgv_method *reference;     /* NULL: the exact solution */
    double reference_step, reference_error; /* error: estimated, NaN for the exact solution */
    bool reference_fine;                    /* its error is below a tenth of every fitted one */
    uint64_t reference_failed;
    double reference_seconds, seconds;
    const char *chosen;       /* why `method: auto` chose a method, NULL when all were named */
    size_t nlevels, nmethods; /* levels from the largest step to the smallest */
    struct lgv_convergence_method *method;
};

/* LGV_OK and LGV_INTERRUPTED fill *out; anything else leaves it empty.  The model must outlive *out. */
enum lgv_status lgv_converge(struct lgv_model *m, const struct lgv_settings *settings,
                             const struct lgv_convergence_options *options, lgv_progress *progress, void *user,
                             struct lgv_convergence *out, struct lgv_error *err);
void lgv_convergence_clear(struct lgv_convergence *c);
/* Failed paths over all methods and levels. */
uint64_t lgv_convergence_failed(const struct lgv_convergence *c);
/* No failed path, every strong order at least as expected, an order for every method. */
bool lgv_convergence_holds(const struct lgv_convergence *c);

/* ---- private to the study stage: converge_paths.c and converge_fit.c ---- */

/* What one group of paths adds up for one level of one method. */
struct lgv_converge_sum {
    double sum; /* of |x_h - x|^2, or of f(x_h) - f(x) */
    uint64_t paths, failed, truncated, evaluations, blocks;
    double seconds;
};

struct lgv_converge_job {
    const struct lgv_kernel *kernel; /* [nmethods], and the reference behind them when there is one */
    size_t nmethods, nlevels;
    const uint64_t *factor;  /* [nlevels] in smallest steps */
    uint64_t smallest_steps; /* to the end */
    double t0, smallest, truncate;
    uint64_t seed, refine; /* the reference takes `refine` steps in a smallest one; 1 for the exact one */
    bool weak, exact;
    bool random;    /* noise or random start values: one path is not the whole story */
    size_t observe; /* number of f, or of the observable "error" */
    unsigned threads;
    uint64_t first, end;                 /* paths first .. end - 1; first is a multiple of LGV_UNIT */
    double fraction_base, fraction_size; /* of the whole work, for progress */
    lgv_progress *progress;
    void *user;
    struct lgv_converge_sum *sum; /* [nmethods + 1][nlevels][LGV_GROUPS]; last: reference, at its step and twice it */
    uint64_t group_paths[LGV_GROUPS];
};
/* Adds the paths of the job to its sums; the same bits for any number of threads. */
enum lgv_status lgv_converge_paths(struct lgv_converge_job *j, struct lgv_error *err);

/* sqrt(E |x_h - x|^2) or E f(x_h) - E f(x) (with its sign) of a method and a level, and its standard error.  Method
 * number nmethods is the reference: level 1 compares twice its step with its step. */
double lgv_converge_error(const struct lgv_converge_job *j, size_t method, size_t level, double *stderror);
/* How far the reference may be off, from its values at twice its step. */
double lgv_converge_reference_error(const struct lgv_converge_job *j);
/* Errors, orders and verdicts of *out from the sums. */
void lgv_converge_fit(const struct lgv_converge_job *j, struct lgv_convergence *out);

#endif
