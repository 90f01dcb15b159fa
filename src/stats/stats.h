/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a run leaves behind.  `struct lgv_result` is plain data: the statistics stage fills it, the output stage
 * writes it and reads it back, so that a report made from results.h5 is the report of the run. */
#ifndef LGV_STATS_H
#define LGV_STATS_H

#include "run/run.h"

#define LGV_QUANTILES 5 /* levels 0.05 0.25 0.5 0.75 0.95 */
extern const double lgv_quantile_levels[LGV_QUANTILES];

/* One observable along time; every array has result->ntimes entries, over the paths alive at that time. */
struct lgv_series {
    char *name, *formula;
    int kind; /* enum lgv_observable_kind */
    int claim; /* momentum maps: 1 method and model promise that it is kept, 0 the method does not, -1 H or a noise has
                  not this symmetry, -2 that is not known */
    double scale; /* over states kept of the run, the largest: of momentum maps |p| |xi(q)|, what round-off is measured
                     by; of H the sum of |kinetic| and |potential|, 0 where they are not known */
    double *mean, *std, *err, *min, *max;
    double *quantile[LGV_QUANTILES]; /* from the first result->sample_paths paths */
    double drift; /* largest |x(t) - x(0)| over all paths: over output times, and see result->tallied_paths */
    double period, from; /* periodic coordinates: values lie in [from, from + period); others: period is not positive */
    double drift_mean;               /* mean over paths of the largest |x(t) - x(0)| of each */
};

struct lgv_histogram {
    char *name; /* of the series; taken at the final time */
    size_t bins;
    double *edge;  /* [bins + 1] */
    double *count; /* [bins] */
    double below, above;
};

struct lgv_sample { /* one kept path; NaN after a failure */
    uint64_t path;
    double *value; /* [nseries][ntimes] */
    double *dense; /* [nseries][ndense]: at more times, for pictures */
};

struct lgv_failure {
    uint64_t path, step;
    int reason; /* enum lgv_fail_reason */
};

/* What was found along the way, each with a name: numbers and arrays that are rows of one table (found.c). */
#define LGV_FOUND_EVENTS "events"
#define LGV_FOUND_AVERAGES "averages"
#define LGV_R_HAT 1.01 /* beyond, averages depend on the path or its beginning (along.c) */
#define LGV_FOUND_CORRELATIONS "correlations"
#define LGV_FOUND_EXTREMES "extremes"
#define LGV_FOUND_PAIRS "histograms2"
#define LGV_FOUND_DENSITIES "densities"
#define LGV_FOUND_SECTIONS "sections"
#define LGV_FOUND_CLOUDS "clouds"
#define LGV_FOUND_ROWS 24 /* of one group, at most */
struct lgv_found_row {
    const char *group, *name;
    int ndim; /* 0: a number */
    const char *unit, *doc;
};
extern const struct lgv_found_row lgv_found_rows[];
extern const size_t lgv_found_row_count;
extern const char *const lgv_found_groups[];
extern const size_t lgv_found_group_count;
struct lgv_found {
    double *data; /* NULL: not there */
    size_t shape[2];
};
struct lgv_finding {
    const char *group; /* of the table */
    char *name, *text; /* text: a formula or condition */
    struct lgv_found item[LGV_FOUND_ROWS]; /* by the numbers of the rows in their group */
};

struct lgv_setting { /* an option as text: how to repeat the run */
    char *name, *value;
};

struct lgv_certificate {
    double symplectic_defect;             /* max |J^T Omega J - Omega| over the sampled states; NaN when not measured */
    int reduced;                          /* momenta alone: it is max |J B J^T - B+| of their brackets B */
    double symplectic_defect_error;       /* how well the derivative J is known: defects below it mean "round-off" */
    double defect_all_error; /* the same for a fault in any single one of many degrees of freedom */
    uint64_t defect_states;               /* number of states it was measured at, and is known well enough */
    double constraint, hidden_constraint; /* largest residuals over the run; NaN when there are no constraints */
    double constraint_size, hidden_size;  /* size of the terms they consist of: their round-off is a part of it */
    double start_constraint, start_hidden; /* the same of typical start values as given, before they were projected */
    int rotation_claim;                    /* the method keeps rotations on the group */
    double rotation;                       /* largest |R^T R - 1| over kept states; NaN when there are no rotations */
    double conservative, conservative_error; /* the defect with the bath switched off; NaN: there is none, or it is not
                                                measured */
    uint64_t conservative_states;
    int conservative_claim;                /* the method's step is symplectic without the bath */
    int symplectic_claim;                  /* the method's table says it is symplectic */
    double form, volume_expected;          /* by what a step is to contract the form and phase volume; NaN: not known */
    double volume, volume_error;           /* the largest deviation from that, measured; NaN when not */
    double volume_least, volume_most;      /* the factors themselves, over the states; NaN when not measured */
    uint64_t volume_states;                /* number of them */
    int bath;                              /* there is friction with its noise */
    double temperature, bias_order;        /* kT (NaN: several), and the order of stationary averages */
    double friction_step;                  /* largest rate of friction times the step; 0: none, or it depends on q */
    double friction_limit;                 /* beyond which the method is unstable; 0: it has none */
    int friction_exact;                    /* the method has the exact flow of the bath */
    double highest_frequency;              /* of the motion linearised at a typical start; NaN: not known */
    double stable_limit, largest_step;     /* of dt times that, and of dt, for linear forces; INFINITY: none, NaN: not
                                              known */
    double penalty_step;                   /* omega dt^2 of constraints by penalty, where that has a limit, else NaN */
    int stable;                            /* 1 yes, 0 no, -1 unknown: by these numbers alone */
    char *stability;                       /* the same in words; NULL: nothing is said */
    char *law;                             /* the stationary law in words; NULL: nothing is said */
    double law_temperature;                /* kT of the law exp(-H/kT), where that is stationary; else NaN */
    int dissipative;                       /* friction or forces without a potential: H need not be kept */
    double energy_rate;                    /* by which the mean of H grows per time, where that is claimed; else NaN */
    int time_dependent;                    /* a formula depends on t: H need not be kept */
    int noise_commutes;                    /* 1 yes, 0 no, -1 unknown */
    int commutes_decided;                  /* enum lgv_decided */
    double strong_order, weak_order;       /* to expect for this method on this model */
    char *order_reason;                    /* one sentence */
    char *commutes_reason;                 /* one sentence: how it was decided; NULL in files of earlier versions */
};

struct lgv_result {
    char *model_name, *model_text, *model_file; /* file may be NULL */
    char *method, *method_doc;
    char *method_reason; /* why `method: auto` chose it; NULL when it was named */
    bool unsealed; /* read from a file that another program has changed */
    char *version, *compiler, *command, *date; /* date in UTC, ISO 8601; command may be NULL */
    size_t nsettings;
    struct lgv_setting *setting; /* run options */
    size_t nparameters;
    struct lgv_setting *parameter;
    uint64_t dof, nnoise, nconstraints;
    double t0, step, until;
    uint64_t steps, steps_done, paths, paths_done, seed, threads, lanes;
    int interrupted;
    double seconds;       /* of the run by the wall clock, statistics and certificate included, compiling not */
    double paths_seconds; /* of the paths alone */
    double compile_seconds, path_steps_per_second; /* by `seconds` */
    double newton_iterations; /* mean per step, 0 for explicit methods */

    size_t ntimes;
    double *time;
    uint64_t *alive; /* [ntimes] paths that contribute to the statistics at that time */
    size_t nseries;
    struct lgv_series *series;
    uint64_t tallied_paths; /* the first so many paths have changes of H and momentum maps over every step */
    uint64_t sample_paths; /* paths behind quantiles; histograms are of the first million */
    size_t nhistograms;
    struct lgv_histogram *histogram;
    size_t nsamples;
    struct lgv_sample *sample;
    size_t ndense; /* times at which kept paths are known: all output times and others between them */
    double *dense_time;
    double *increment; /* dW [nsamples][steps][nnoise] of the kept paths, before any cut; NULL when they are not kept */
    double *integral;  /* dZ likewise, the integral of W - W_n over the step; NULL also where the method uses none */
    char *increments_file; /* where the increments came from; NULL: noise by seed */

    double truncation;  /* bound of |dW| / sqrt(dt), 0 when increments are not truncated */
    int metropolis;     /* steps are proposals, and */
    double acceptance;  /* this share of them was accepted */
    double astray;      /* with constraints: this share led to no place, or to one from which no step leads back */
    uint64_t truncated; /* path-steps with a truncated increment */
    int weak;           /* three-point increments: averages only */
    int rescue;         /* steps without a solution are taken in parts: */
    uint64_t rescued;   /* so many path-steps were, */
    uint64_t halvings;  /* and the smallest parts are dt / 2^halvings */
    uint64_t failed;    /* number of failed paths */
    uint64_t stopped;   /* paths that ended where `stop` holds: no failures */
    size_t nfindings;
    struct lgv_finding *finding; /* group by group */
    size_t nfailures;   /* recorded details, at most 10000, the lowest path numbers first */
    struct lgv_failure *failure;
    struct lgv_certificate certificate;
    size_t nverdicts; /* made from all of the above by lgv_verdicts_make */
    struct lgv_verdict *verdict;
    struct lgv_arrays *arrays; /* made by lgv_result_array when it is first asked; NULL before */
};

#define LGV_DEFECT_KNOWN 1e-6  /* a defect whose uncertainty is larger says nothing */
#define LGV_LOW_ACCEPTANCE 0.3 /* fewer accepted steps than this are warned about */
#define LGV_ALL_COMPONENTS 200 /* of q and p: beyond, phase volume is not measured */
#define LGV_DEFECT_LIMIT 1e-11 /* a defect below this (or below its own uncertainty) is round-off */

/* What the collectors of a run need to know. */
struct lgv_shape {
    size_t ntimes, nseries, tallies;
    const size_t *tallied;     /* [tallies] numbers of the series that are seen at every step */
    size_t extremes;
    const size_t *extreme;     /* [extremes] numbers of the tallies whose extremes are part of the result */
    const uint64_t *time_step; /* [ntimes] */
    double t0, dt;
    size_t nevents;
    const struct lgv_event *event; /* [nevents] */
    size_t nsections;
    const struct lgv_section *section; /* [nsections] */
    uint64_t crossings;                /* of each and of each kept path, at most */
    bool averages, correlations;   /* asked for; then output times are equally far apart: */
    double interval;
    size_t along_from; /* the first output time that counts there */
    uint64_t paths;
    size_t bins; /* of histograms */
    const double *centre; /* [nseries] what quantiles by a sketch are relative to; NULL: they are those of a sample */
    size_t npairs;
    const size_t *pair; /* [npairs][2] numbers of series that have a histogram together */
    bool density;       /* these also over all output times */
    size_t nkept;
    const uint64_t *kept; /* [nkept] numbers of the paths that are kept whole */
    size_t ndense;
    const uint64_t *dense_step; /* [ndense] where they are observed */
};

/* The statistics of an ensemble, or of a part of it, while it is run.  They merge in any order with the same bits. */
#define LGV_COLLECTORS 12
struct lgv_statistics {
    struct lgv_shape shape;
    struct lgv_collecting list[LGV_COLLECTORS]; /* for lgv_ensemble_run; refers to shape: the struct must not move */
};
/* False: no memory.  The arrays of the shape must outlive it. */
bool lgv_statistics_begin(struct lgv_statistics *s, const struct lgv_shape *shape);
void lgv_statistics_end(struct lgv_statistics *s); /* one that is all zero has ended already */
/* s += other, whose number of paths may be another one.  False: no memory, and s is lost. */
bool lgv_statistics_merge(struct lgv_statistics *s, const struct lgv_statistics *other);
/* As in struct lgv_collector. */
void lgv_statistics_save(const struct lgv_statistics *s, struct lgv_text *out);
bool lgv_statistics_load(struct lgv_statistics *s, struct lgv_bytes *from);
double lgv_statistics_bytes(const struct lgv_shape *shape, double threads); /* that it will need */

/* What was run: everything else that a result is made from. */
struct lgv_ran {
    struct lgv_model *model;
    const struct lgv_settings *settings;
    const struct lgv_plan *plan; /* of the whole ensemble */
    const struct lgv_run_report *report;
    const char *chosen; /* why `method: auto` chose the method, or NULL */
};
/* Fills *out (statistics, certificate, everything) and uses up the statistics.  LGV_OK, LGV_FAILED_PATHS or
 * LGV_INTERRUPTED (some of the paths have not been run) with a valid result; else *out is empty. */
enum lgv_status lgv_statistics_finish(struct lgv_statistics *s, const struct lgv_ran *ran, lgv_progress *progress,
                                      void *user, struct lgv_result *out, struct lgv_error *err);

/* certificate.c.  The certificate of a result whose statistics are known. */
void lgv_certificate_make(const struct lgv_ran *ran, lgv_progress *progress, void *user, struct lgv_result *r);
/* Largest sum_i |p_i xi_i(q)| of a symmetry over the states kept of the run. */
double lgv_certificate_momentum(struct lgv_model *m, const struct lgv_symmetry *symmetry, const struct lgv_plan *plan,
                                const struct lgv_run_report *report);
/* Largest |T| + |V| over these states; 0: not known. */
double lgv_certificate_energy(struct lgv_model *m, const struct lgv_plan *plan, const struct lgv_run_report *report);
/* Symplecticity defect max |omega(J u, J v) - omega(u, v)| of one step from state x (nx + np) at step number n of a
 * path, in units of scale[2 np] (NULL: the sizes of x).  NaN when the step fails there, or when progress (NULL
 * allowed) asks to stop. */
struct lgv_defect {   /* begins as {0} */
    double error;     /* how well J is known */
    double all_error; /* how well a fault in any single one of many degrees of freedom is known */
    int size;         /* what the next measurement begins with */
    const struct lgv_graph *rotations; /* of the model, when it may have any; NULL: it has none */
    const double *given; /* increments of the step, a row each; NULL: its noise */
    struct lgv_points points; /* of the run */
    bool contracts;      /* the form is to be contracted by `form`, else kept */
    double form;
    size_t constraints;
    bool without_bath; /* the step with its bath switched off; none where a proposal of it is not accepted */
    bool complete;     /* all of J, if it has at most LGV_ALL_COMPONENTS columns */
    double volume, volume_error; /* det J, on the constraint set if there is one; NaN: not all of J is measured */
};
double lgv_certificate_defect(const struct lgv_kernel *k, double t0, double dt, uint64_t seed, uint64_t path,
                              uint64_t n, const double *x, const double *scale, lgv_progress *progress, void *user,
                              struct lgv_defect *how);

/* The range that most paths keep to at output time i: between the 5 % and 95 % quantiles, or between the quartiles with
 * as much again around them where even those quantiles lie a hundred times as far out. */
void lgv_series_core(const struct lgv_series *s, size_t i, double *low, double *high);

/* verdicts.c: false when memory is out; NULL when there is none of that name. */
#define LGV_GROWTH_PATHS 100   /* with fewer the mean of H is not held against its law */
#define LGV_GROWTH_ERRORS 4.5 /* standard errors it may be off: one run in 150 000 by chance */
bool lgv_verdicts_make(struct lgv_result *r);
void lgv_verdicts_free(struct lgv_result *r);
const struct lgv_verdict *lgv_verdict_find(const struct lgv_result *r, const char *name);

/* Largest |dW| and |dZ| that a step uses: what lies beyond is cut there.  0: nothing is. */
double lgv_increment_bound(const struct lgv_result *r);
double lgv_integral_bound(const struct lgv_result *r);

/* arrays.c: the arrays of a result as a table.  Names are those of results.h5. */
enum lgv_array_size {
    LGV_SIZE_TIMES,
    LGV_SIZE_SERIES,
    LGV_SIZE_SAMPLES,
    LGV_SIZE_DENSE,
    LGV_SIZE_STEPS,
    LGV_SIZE_NOISES,
    LGV_SIZE_FAILURES,
    LGV_SIZE_VERDICTS,
    LGV_SIZE_EDGES,
    LGV_SIZE_BINS
};
#define LGV_ARRAYS_STATISTICS "statistics" /* groups with a group for each series, and each histogram */
#define LGV_ARRAYS_HISTOGRAMS "histograms"
struct lgv_array_row {
    const char *group, *name, *unit, *doc; /* group: of results.h5 */
    enum lgv_array_type type;
    int ndim;
    enum lgv_array_size size[3];
    size_t offset;  /* of the pointer, in struct lgv_result, lgv_series or lgv_histogram; or: */
    void *(*gather)(const struct lgv_result *r); /* a malloc'd array; NULL: no memory */
    bool (*scatter)(struct lgv_result *r, const void *data, size_t first); /* the way back; false: no memory */
    bool defines;  /* its first size is known from the array only */
    bool optional; /* files and results may be without */
    bool derived;  /* never read: it is made from other numbers */
};
extern const struct lgv_array_row lgv_array_rows[];
extern const size_t lgv_array_row_count;
/* Sizes of an array in a result; item: the number of the series or histogram. */
void lgv_array_shape(const struct lgv_array_row *row, const struct lgv_result *r, size_t item, size_t shape[3]);
/* The array itself where a struct holds it as doubles one behind the other, else NULL. */
const double *lgv_array_reals(const struct lgv_array_row *row, const struct lgv_result *r, size_t item);
/* Stores a malloc'd array that was read, of the shape that lgv_array_shape says but for `first` in a row that defines
 * it.  False: no memory. */
bool lgv_array_take(const struct lgv_array_row *row, struct lgv_result *r, size_t item, void *data, size_t first);
struct lgv_listed_array {
    struct lgv_array array; /* data is NULL where a result made by hand has none */
    const struct lgv_array_row *row;
    size_t index; /* of the series or histogram */
    void *owned;
};
struct lgv_arrays {
    size_t count, room;
    struct lgv_listed_array *item; /* group by group */
    size_t nseries, nhistograms;
    char **series, **histogram; /* the names of their groups */
    bool failed;
};
struct lgv_arrays *lgv_arrays_open(const struct lgv_result *r); /* NULL: no memory */
void lgv_arrays_close(struct lgv_arrays *a);

/* found.c: the row of that number in a group, NULL behind the last. */
const struct lgv_found_row *lgv_found_row(const char *group, size_t number);
/* A new finding at the end of the list, NULL: no memory; pointers to others are then no longer valid. */
struct lgv_finding *lgv_finding_add(struct lgv_result *r, const char *group, const char *name, const char *text);
/* Room for an array of a finding, zero; NULL: no memory, or no row of that name. */
double *lgv_finding_array(struct lgv_finding *f, const char *name, size_t rows, size_t columns);
bool lgv_finding_number(struct lgv_finding *f, const char *name, double value);
/* What a finding has; data is NULL, the value NaN, when it does not. */
const struct lgv_found *lgv_finding_get(const struct lgv_finding *f, const char *name);
double lgv_finding_value(const struct lgv_finding *f, const char *name);
void lgv_findings_free(struct lgv_result *r);

const char *lgv_fail_text(int reason);       /* "Newton iteration did not converge", ... */
void lgv_result_clear(struct lgv_result *r); /* frees everything inside */

#endif
