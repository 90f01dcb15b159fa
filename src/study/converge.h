/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Convergence: strong and weak errors of several methods at several steps on shared Brownian paths, and the orders that
 * a fit gives.  With x_h the numerical and x the true solution at the end T,
 *
 *     strong   e(h) = sqrt(E |f(x_h) - f(x)|^2),      weak   e(h) = |E f(x_h) - E f(x)|,      e(h) ~ C h^order.
 *
 * x is the exact solution of the model file, or a fine solution of the same paths by another method.  f is the whole
 * state, all positions, all momenta, or an observable; one study may look at several of them. */
#ifndef LGV_CONVERGE_H
#define LGV_CONVERGE_H

#include "run/run.h"

#define LGV_CONVERGE_LEVELS 20
#define LGV_CONVERGE_METHODS 24
#define LGV_CONVERGE_QUANTITIES 8

/* An order agrees with the expected one when it is off by no more than one of these. */
#define LGV_ORDER_ERRORS 4.0 /* standard errors */
#define LGV_ORDER_OFF 0.15   /* the bend of the law at steps that are not small */
/* Orders differ by 1/2: one known worse than this is not compared with anything. */
#define LGV_ORDER_MOST_STDERR (0.5 / LGV_ORDER_ERRORS)

struct lgv_convergence_options {
    const char *methods; /* names separated by commas; NULL: settings.method */
    bool weak;
    const char *observe;   /* names of f separated by commas; NULL: the state for strong errors, "H" for weak ones */
    const char *steps;     /* numbers separated by commas, or NULL: largest, largest/2, ... */
    double largest;        /* 0: settings.step */
    size_t levels;         /* 0: 5 */
    double target;         /* standard error of every order to reach by more paths; 0: settings.paths paths */
    const char *reference; /* name of a method, "exact", or NULL to choose */
};

enum lgv_order_verdict {
    LGV_ORDER_NONE,    /* nothing can be said: see lgv_order_doubt */
    LGV_ORDER_AGREES,  /* over all levels, and not lower at the two smallest steps */
    LGV_ORDER_BENDS,   /* not the fit, but the two smallest steps: the others are too large for the law to hold */
    LGV_ORDER_MIXED,   /* between the strong order and the order without noise: the noise is small at these steps */
    LGV_ORDER_DIFFERS, /* lower over all levels and at the two smallest steps */
    LGV_ORDER_BETTER   /* higher, and that at all steps */
};

/* Why a level is not in the fit. */
enum lgv_level_use {
    LGV_LEVEL_FITTED,
    LGV_LEVEL_UNKNOWN,   /* no path arrived */
    LGV_LEVEL_ROUND_OFF, /* as small as the round-off of so many steps */
    LGV_LEVEL_SPREAD,    /* strong: carried by paths that have lost the solution (see lgv_converge_job.lost) */
    LGV_LEVEL_REFERENCE, /* below ten errors of the reference */
    LGV_LEVEL_NOISE,     /* weak: below two standard errors */
    LGV_LEVEL_USES
};

/* Why there is no verdict. */
enum lgv_order_doubt {
    LGV_DOUBT_NONE,
    LGV_DOUBT_LEVELS,    /* fewer than two levels are left; level[].use says why */
    LGV_DOUBT_SPREAD,    /* it would be lower, but there are levels where paths have lost the solution */
    LGV_DOUBT_REFERENCE, /* it would be lower, but there are levels the reference is too coarse for */
    LGV_DOUBT_UNITS,     /* too few paths for a standard error */
    LGV_DOUBT_STDERR,    /* the standard error of the fit or of the two smallest steps is too large */
    LGV_DOUBT_LAW,       /* the fit and the two smallest steps say different things */
    LGV_DOUBT_PROMISE    /* no order is promised for this model */
};

struct lgv_convergence_level {
    double step;
    uint64_t factor, steps; /* step = factor * smallest step; steps to the end */
    double error, stderror; /* NaN when nothing is known */
    double bias;            /* weak: E f(x_h) - E f(x), with its sign */
    enum lgv_level_use use;
    uint64_t paths, failed; /* behind the error; lost at this level */
    uint64_t truncated;     /* path-steps with a truncated increment */
    double seconds;         /* of all threads together */
    double evaluations;     /* gradient evaluations per path */
};

/* One method and one quantity. */
struct lgv_convergence_method {
    const struct lgv_method *method;
    size_t quantity;
    double order, order_stderr;   /* NaN when there is not enough signal */
    double finest, finest_stderr; /* the same from the two smallest fitted steps */
    double expected;
    const char *expected_reason;
    enum lgv_order_verdict verdict;
    enum lgv_order_doubt doubt;
    size_t fitted; /* levels in the fit */
    struct lgv_convergence_level level[LGV_CONVERGE_LEVELS];
};

/* What the errors are of. */
struct lgv_convergence_quantity {
    char *name, *text;
    double reference_error; /* estimated, NaN for the exact solution */
};

struct lgv_convergence {
    char *model_name, *model_text, *model_file, *command;
    char date[32], compiler[256];
    bool weak;
    bool whole; /* strong errors of the whole state: nothing was asked for */
    size_t nquantities;
    struct lgv_convergence_quantity quantity[LGV_CONVERGE_QUANTITIES];
    size_t nparameters;
    char **parameter;
    double *parameter_value;
    double t0, until, until_wanted;
    uint64_t paths, seed, threads;
    double target;
    bool target_reached, interrupted, random;
    int noise_commutes;
    size_t dof, nnoise;
    const struct lgv_method *reference; /* NULL: the exact solution */
    double reference_step;
    bool reference_fine;  /* no level was left out because of it */
    double spread;        /* of the states over paths and time; NaN when not known */
    double until_enough;  /* NaN, or an end at which levels would not be lost to spread or reference */
    bool until_looked_at; /* and whether one was searched for */
    uint64_t reference_failed;
    double reference_seconds, seconds;
    const char *chosen;       /* why `method: auto` chose a method, NULL when all were named */
    size_t nlevels, nmethods; /* levels from the largest step to the smallest */
    size_t nrows;             /* nmethods * nquantities */
    struct lgv_convergence_method *method; /* [nrows]: all methods for the first quantity, then for the next */
};

/* LGV_OK and LGV_INTERRUPTED fill *out; anything else leaves it empty.  The model must outlive *out. */
enum lgv_status lgv_converge(struct lgv_model *m, const struct lgv_settings *settings,
                             const struct lgv_convergence_options *options, lgv_progress *progress, void *user,
                             struct lgv_convergence *out, struct lgv_error *err);
void lgv_convergence_clear(struct lgv_convergence *c);
/* Failed paths over all methods and levels. */
uint64_t lgv_convergence_failed(const struct lgv_convergence *c);
/* BROKEN: failed paths, or a strong order that is worse.  UNKNOWN: otherwise, when there is an order without verdict.
 * */
enum lgv_convergence_outcome { LGV_CONVERGENCE_HOLDS, LGV_CONVERGENCE_UNKNOWN, LGV_CONVERGENCE_BROKEN };
enum lgv_convergence_outcome lgv_convergence_judge(const struct lgv_convergence *c);

/* ---- private to the study stage: converge_paths.c, converge_scales.c and converge_fit.c ---- */

/* Rows of the state (the whole, positions, momenta) or an observable.  Its sums are `width` numbers from `slot` on: of
 * the squared distance for strong errors, of every difference for weak ones. */
struct lgv_converge_quantity {
    bool of_state;
    size_t first, count; /* rows of the state; or first: number of the observable */
    size_t slot, width;
    double size; /* root mean square over paths and time, for round-off */
};

/* What one group of paths adds up for one level of one method. */
struct lgv_converge_sum {
    uint64_t paths, failed, truncated, evaluations, vecs;
    double seconds;
};

enum { LGV_SLOT_STATE, LGV_SLOT_LOST, LGV_SLOTS }; /* |x_h - x|^2 of all paths; of those that have lost the solution */

struct lgv_converge_job {
    const struct lgv_kernel *kernel; /* [nmethods], and the reference behind them when there is one */
    size_t nmethods, nlevels;
    const uint64_t *factor;  /* [nlevels] in smallest steps */
    uint64_t smallest_steps; /* to the end */
    double t0, smallest, truncate;
    uint64_t seed, refine; /* the reference takes `refine` steps in a smallest one; 1 for the exact one */
    bool weak, exact;
    bool random;     /* noise or random start values: one path is not the whole story */
    size_t distance; /* exact: number of the observable "error" */
    size_t nquantities;
    struct lgv_converge_quantity quantity[LGV_CONVERGE_QUANTITIES];
    double spread;
    double lost; /* a path farther than this from the solution has lost it; infinite when not known */
    unsigned threads;
    uint64_t first, end;                 /* paths first .. end - 1; first is a multiple of LGV_UNIT */
    double fraction_base, fraction_size; /* of the whole work, for progress */
    lgv_progress *progress;
    void *user;
    /* Of group g, level l, method k at (k nlevels + l) LGV_GROUPS + g; last method: reference, at its step and twice
     * it.  total has `width` numbers for each: the slots, then the quantities; rounded from long_total, which is
     * exact. */
    struct lgv_converge_sum *sum;
    struct lgv_exact *long_total;
    double *total;
    size_t width;
    uint64_t group_paths[LGV_GROUPS];
};
bool lgv_converge_new_sums(struct lgv_converge_job *j);
void lgv_converge_free_sums(struct lgv_converge_job *j);
/* Adds the paths of the job to its sums; the same bits for any number of threads. */
enum lgv_status lgv_converge_paths(struct lgv_converge_job *j, struct lgv_error *err);
/* Spread and sizes of the job, from a few of its paths at the smallest step.  False when memory is out. */
bool lgv_converge_scales(struct lgv_converge_job *j, uint64_t paths);

/* sqrt(E |f(x_h) - f(x)|^2) or |E f(x_h) - E f(x)| of a method, a level and a quantity, and its standard error.  Method
 * number nmethods is the reference: level 1 compares twice its step with its step. */
double lgv_converge_error(const struct lgv_converge_job *j, size_t method, size_t level, size_t quantity,
                          double *stderror);
/* How far the reference may be off, from its values at twice its step. */
double lgv_converge_reference_error(const struct lgv_converge_job *j, size_t quantity);
/* Errors, orders and verdicts of *out from the sums. */
void lgv_converge_fit(const struct lgv_converge_job *j, struct lgv_convergence *out);

#endif
