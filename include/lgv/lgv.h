/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lagrangevin: ensembles of random mechanical systems by structure-preserving integrators.
 *
 * A model is a Hamiltonian H(q,p), noise Hamiltonians h_1..h_M and what to observe, given as formulas (a model file or
 * a string) or as C functions on batches of paths.  A run integrates
 *
 *     dq = H_p dt + sum_m h_m,p o dW_m,     dp = -H_q dt - sum_m h_m,q o dW_m        (Stratonovich)
 *
 * over an ensemble of paths and returns statistics, sample paths and a certificate of what was kept.
 *
 * Conventions.  Every function that can fail returns enum lgv_status and takes a struct lgv_error * (NULL allowed) that
 * receives the details.  The library never prints, never exits and touches no signal handlers.  Objects are
 * independent: different threads may use different objects at the same time; one object must not be used by two
 * threads at once. Times and states are in the units of the model.  Arrays handed out stay valid until their object is
 * freed. */
#ifndef LGV_LGV_H
#define LGV_LGV_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LGV_VERSION "0.1.0"

#if defined(__GNUC__)
#define LGV_API __attribute__((visibility("default")))
#else
#define LGV_API
#endif

enum lgv_status {
    LGV_OK = 0,
    LGV_FAILED_PATHS = 1, /* the run finished, but some paths failed: see lgv_result_failed */
    LGV_BAD_INPUT = 2,    /* a model, a method or an option is wrong; the message says where */
    LGV_CANNOT_RUN = 3,   /* no compiler, no memory, disk full, ... */
    LGV_INTERRUPTED = 4   /* stopped by the progress callback; partial results are valid */
};

/* Details of the last failure.  `message` is complete and may have several lines (file:line:column, the line, a
 * caret). */
struct lgv_error {
    enum lgv_status status;
    int line, column; /* 1-based place in the model text, 0 when there is none */
    char message[2048];
};

LGV_API const char *lgv_version(void);
/* What it was built from and with: commit, compiler, libraries; lines "name: value". */
LGV_API const char *lgv_build(void);

/* The options of "run", of a study ("converge", "compare", "mlmc", "sweep") or of nothing else: row number index = 0,
 * 1, ..., 0 behind the last.  Studies and "check" take those of "run", too. */
struct lgv_option_info {
    const char *name;     /* as lgv_run_set and lgv_study_set take it */
    const char *type;     /* "number", "whole number", "word", "yes or no", "program", "list of names", "text" */
    const char *standard; /* default as text; "" for none */
    const char *unit, *doc;
    double low, high; /* of numbers: both are allowed; else 0 */
};
LGV_API int lgv_options(const char *command, size_t index, struct lgv_option_info *out);

/* The JSON document of `lgv methods --json`, or of `lgv methods NAME --json`; free() it.  NULL when there is no such
 * method or no memory. */
LGV_API char *lgv_methods_json(const char *name);

/* ---- models ---------------------------------------------------------------------------------------------------- */

struct lgv_model;

/* A model from a file or from text in the same format (docs/model-files.md).  `name` stands for the file in messages.
 * */
LGV_API enum lgv_status lgv_model_load(const char *path, struct lgv_model **out, struct lgv_error *err);
LGV_API enum lgv_status lgv_model_parse(const char *text, const char *name, struct lgv_model **out,
                                        struct lgv_error *err);

/* A model given as C functions.  Arrays are [component][lane]: component c of lane l is x[c * lanes + l]; gradients of
 * the noise Hamiltonians are [noise][component][lane], Hessians [component][component][lane] with a noise index in
 * front. The functions are called from several threads at once and must not keep state.  Every pointer that is NULL is
 * one the caller does not want; a function may fill it all the same only when it is not NULL. */
struct lgv_batch {
    size_t lanes;
    double t;            /* time */
    const double *q, *p; /* [dof][lane] */
};

struct lgv_callbacks {
    const char *name;
    size_t dof, noises;
    void *user;            /* handed to every function */
    const double *q0, *p0; /* [dof] start values, finite; copied; NULL: zeros */
    int separable;         /* H and every h are A(p) + B(q,t): methods may then be explicit */
    int noise_of_q;        /* every h is a function of q (and t) alone */
    int constant_mass;     /* separable, and H_pp and every h_pp are constant: shorter forms of implicit methods */
    /* values: H [lane], h [noise][lane].  NULL: the energy is not known, and nothing is said about it. */
    void (*value)(void *user, const struct lgv_batch *b, double *H, double *h);
    /* H_q, H_p [dof][lane]; h_q, h_p [noise][dof][lane] */
    void (*gradient)(void *user, const struct lgv_batch *b, double *H_q, double *H_p, double *h_q, double *h_p);
    /* H_qq, H_qp (row q, column p), H_pp [dof][dof][lane]; h_.. with [noise] in front.  NULL: implicit methods and
     * methods with an Ito correction are refused. */
    void (*hessian)(void *user, const struct lgv_batch *b, double *H_qq, double *H_qp, double *H_pp, double *h_qq,
                    double *h_qp, double *h_pp);

    /* Members below may all be left 0. */

    /* What to observe beside the energy: so many names (copied; all different, and none of H q1 p1 q2 p2 ...), and one
     * function for all values [observable][lane]. */
    size_t observables;
    const char *const *observable_names;
    void (*observe)(void *user, const struct lgv_batch *b, double *values);

    /* Random starts.  For every path the library draws `normals` standard normals and `uniforms` numbers between 0 and
     * 1, by seed and number of the path: the same that normal() and uniform() are in a model file.  `start` gets them
     * as [draw][lane] and fills in b->q, b->p; q and p are the same arrays, and hold q0 and p0 before. */
    size_t normals, uniforms;
    void (*start)(void *user, const struct lgv_batch *b, const double *normal, const double *uniform, double *q,
                  double *p);

    /* Constraints g(q) = 0: values g [constraint][lane] and derivatives G = g_q [constraint][dof][lane].  They need
     * constant_mass and a method that keeps constraints by kicks: RATTLE, SVE and their relatives.  b->p is not for
     * them.  constraint_hessian gives sum_k lambda_k g_k,qq [dof][dof][lane] for lambda [constraint][lane]; NULL:
     * methods with a correction (RATTLE-Jc) are refused. */
    size_t constraints;
    void (*constraint)(void *user, const struct lgv_batch *b, double *g, double *G);
    void (*constraint_hessian)(void *user, const struct lgv_batch *b, const double *lambda, double *S_qq);
};
LGV_API enum lgv_status lgv_model_from_callbacks(const struct lgv_callbacks *callbacks, struct lgv_model **out,
                                                 struct lgv_error *err);

LGV_API enum lgv_status lgv_model_set(struct lgv_model *model, const char *parameter, double value,
                                      struct lgv_error *err);
/* Names, formulas and values as a JSON document: name text parameters coordinates momenta hamiltonian noise
 * constraints observe symmetries ...; free() it.  NULL when memory is out. */
LGV_API char *lgv_model_json(struct lgv_model *model);
LGV_API void lgv_model_free(struct lgv_model *model);

/* The equations of a model of formulas: what the file says (H or L, noises, constraints, abbreviations), or the
 * equations of motion in the sense of Stratonovich or Ito.  Small models have an equation for every coordinate and
 * momentum, derived from the formulas; large ones, and those with rotations, one for all of a kind.
 * Plain text has one equation a line, LaTeX is an `aligned` environment for $$ $$, MathML one <math> element.
 * free() *out. */
enum lgv_equations { LGV_EQUATIONS_DEFINITION, LGV_EQUATIONS_STRATONOVICH, LGV_EQUATIONS_ITO };
enum lgv_markup { LGV_PLAIN, LGV_LATEX, LGV_MATHML };
LGV_API enum lgv_status lgv_model_equations(const struct lgv_model *model, enum lgv_equations which,
                                            enum lgv_markup markup, char **out, struct lgv_error *err);

/* ---- runs ------------------------------------------------------------------------------------------------------ */

struct lgv_run;
struct lgv_result;

/* A run of the model with the options of its `run:` section; the model must outlive it.  Options and their defaults:
 * docs/reference/run.md.  Values are text as in a model file: lgv_run_set(run, "paths", "10000", &err). */
LGV_API enum lgv_status lgv_run_create(struct lgv_model *model, struct lgv_run **out, struct lgv_error *err);
LGV_API enum lgv_status lgv_run_set(struct lgv_run *run, const char *option, const char *value, struct lgv_error *err);

/* Brownian increments from a file instead of noise by seed: results.h5 of a run with keep_increments, or a text with a
 * line dW_1 .. dW_M [dZ_1 .. dZ_M] for every step and an empty line between paths (docs/noise.md).  It is read now.
 * Options paths, step and until that neither the model nor lgv_run_set has given follow from it; others must agree with
 * it, or lgv_run_execute refuses.  NULL for path: noise by seed again. */
LGV_API enum lgv_status lgv_run_increments(struct lgv_run *run, const char *path, struct lgv_error *err);

/* Called from time to time by one of the threads with the fraction done; a return other than 0 stops the run cleanly.
 * While the compiler of the kernel takes long the fraction is 0, and a stop ends it: LGV_CANNOT_RUN, without a result.
 * */
typedef int lgv_progress(void *user, double fraction);
LGV_API void lgv_run_on_progress(struct lgv_run *run, lgv_progress *progress, void *user);

/* LGV_OK, LGV_FAILED_PATHS and LGV_INTERRUPTED give a result; anything else leaves *out NULL. */
LGV_API enum lgv_status lgv_run_execute(struct lgv_run *run, struct lgv_result **out, struct lgv_error *err);
LGV_API void lgv_run_free(struct lgv_run *run);

/* ---- engines --------------------------------------------------------------------------------------------------- */

/* An engine is a run that is kept: prepared once, run in ranges of paths, given other parameters, saved, merged with
 * parts that other processes or machines have run, finished as often as wanted.  The kernel is compiled once.
 *
 * The bits of a result do not depend on how its paths were run: as a whole, in ranges, in parts that were saved and
 * merged in any order, with any number of threads.  (Times and speeds are measured and differ.)  Parts from machines
 * whose compilers or processors differ merge too, but their paths may differ from others in the last bit.
 *
 *     lgv_engine_create(model, &engine, &err);
 *     lgv_engine_set(engine, "paths", "100000", &err);
 *     lgv_engine_run(engine, 0, 50000, &err);            another process runs (engine, 50000, 50000)
 *     lgv_engine_save(engine, "first.part", &err);       and saves second.part; whoever collects them:
 *     lgv_engine_load(other, "first.part", &err);  lgv_engine_load(other, "second.part", &err);
 *     lgv_engine_finish(other, &result, &err); */
struct lgv_engine;

/* With the options of the model's `run:` section.  The model must outlive the engine. */
LGV_API enum lgv_status lgv_engine_create(struct lgv_model *model, struct lgv_engine **out, struct lgv_error *err);
LGV_API void lgv_engine_free(struct lgv_engine *engine);

/* A parameter of the model or an option of a run (docs/reference/run.md), its value as text.  A parameter is set in the
 * model itself, and the kernel stays as it is, unless the parameter fixes a size, a range, an exponent or a mass.
 * Paths that were run before are forgotten, except by two options: `threads`, and `paths`, by which paths can be added
 * when their number was a multiple of 16. */
LGV_API enum lgv_status lgv_engine_set(struct lgv_engine *engine, const char *name, const char *value,
                                       struct lgv_error *err);
/* As lgv_run_increments and lgv_run_on_progress; the fraction is that of the range. */
LGV_API enum lgv_status lgv_engine_increments(struct lgv_engine *engine, const char *path, struct lgv_error *err);
LGV_API void lgv_engine_on_progress(struct lgv_engine *engine, lgv_progress *progress, void *user);

/* Looks at the model, makes the plan and compiles the kernel.  All others do this when it is needed. */
LGV_API enum lgv_status lgv_engine_prepare(struct lgv_engine *engine, struct lgv_error *err);

/* Paths first .. first + count - 1 of the ensemble, added to what is there.  first must be a multiple of 16, and count
 * too unless the range ends with the last path.  No path can be added twice.  LGV_INTERRUPTED: the progress function
 * has stopped it.  Paths that were on their way then are kept where they are: lgv_engine_save saves them,
 * lgv_engine_finish shows how far they have come, and lgv_engine_continue goes on, with the bits of a run that was
 * never stopped.  (Where 16 paths observe more than 256 MB they are lost, and only finish and clear are left.) */
LGV_API enum lgv_status lgv_engine_run(struct lgv_engine *engine, uint64_t first, uint64_t count,
                                       struct lgv_error *err);
/* All paths of the ensemble that are missing, those that were stopped on their way first. */
LGV_API enum lgv_status lgv_engine_continue(struct lgv_engine *engine, struct lgv_error *err);
/* Forgets the paths that were run; the kernel is kept. */
LGV_API void lgv_engine_clear(struct lgv_engine *engine);

/* What has been collected, as a file; and such a file added to what is there.  A file of another model, other
 * parameters, options or another version of lgv is refused, and so is one that is damaged; `paths`, `threads`, `lanes`
 * and `compiler` may differ.  Files are replaced whole or not at all. */
LGV_API enum lgv_status lgv_engine_save(struct lgv_engine *engine, const char *path, struct lgv_error *err);
LGV_API enum lgv_status lgv_engine_load(struct lgv_engine *engine, const char *path, struct lgv_error *err);
/* The model and the engine that a saved part belongs to, with its parameters and options: nothing else is needed to go
 * on with the run or to merge its parts.  Nothing is collected yet.  Parts of C functions and of given increments are
 * refused.  The model must outlive the engine; free both. */
LGV_API enum lgv_status lgv_engine_open(const char *path, struct lgv_model **model, struct lgv_engine **engine,
                                        struct lgv_error *err);
/* Adds what another engine has collected, which stays as it is.  Where memory runs out, here, in lgv_engine_load or in
 * lgv_engine_run, what was collected is lost: save it before. */
LGV_API enum lgv_status lgv_engine_merge(struct lgv_engine *engine, struct lgv_engine *other, struct lgv_error *err);

/* The result of the paths collected so far; more can be added afterwards.  LGV_OK, LGV_FAILED_PATHS, or LGV_INTERRUPTED
 * while paths are missing, give a result; anything else leaves *out NULL.  The engine may be freed before it. */
LGV_API enum lgv_status lgv_engine_finish(struct lgv_engine *engine, struct lgv_result **out, struct lgv_error *err);

/* ---- results --------------------------------------------------------------------------------------------------- */

enum lgv_statistic { LGV_MEAN, LGV_STD, LGV_STDERR, LGV_MIN, LGV_MAX, LGV_MEDIAN };

LGV_API uint64_t lgv_result_failed(const struct lgv_result *result);
/* Output times; *count (NULL allowed) receives their number. */
LGV_API const double *lgv_result_times(const struct lgv_result *result, size_t *count);
/* A statistic of an observable ("H" is the energy) at every output time, or NULL when there is no such observable. */
LGV_API const double *lgv_result_series(const struct lgv_result *result, const char *observable,
                                        enum lgv_statistic statistic);
/* An observable along kept path number k, or NULL. */
LGV_API const double *lgv_result_path(const struct lgv_result *result, size_t k, const char *observable);
/* Of a run with keep_increments = yes: the Brownian increments dW of kept path number k, [step][noise], as they were
 * drawn or given; *steps and *noises (NULL allowed) receive the sizes.  NULL, and 0 sizes, when there are none. */
LGV_API const double *lgv_result_increments(const struct lgv_result *result, size_t k, size_t *steps, size_t *noises);
/* Likewise dZ, the integrals of W - W_n over each step; NULL also when the method does not use them. */
LGV_API const double *lgv_result_integrals(const struct lgv_result *result, size_t k);
/* The steps have used min(max(dW, -bound), bound), and dZ cut at (1 + 1/sqrt 3)/2 step * bound; 0: nothing was cut. */
LGV_API double lgv_result_increment_bound(const struct lgv_result *result);
LGV_API double lgv_result_symplectic_defect(const struct lgv_result *result);
/* Largest change of the momentum map of a declared symmetry, NaN when there is none of that name. */
LGV_API double lgv_result_momentum_drift(const struct lgv_result *result, const char *symmetry);

/* Any array of a result by its place in results.h5: "time", "statistics/q/mean", "histograms/q/count", "paths/value",
 * "paths/increments", "failures/step", "certificate/value", ... (docs/README.md).  In a name '/' is written as '_'. */
enum lgv_array_type { LGV_ARRAY_REAL, LGV_ARRAY_COUNT }; /* double, uint64_t */
struct lgv_array {
    const char *name, *unit, *doc;
    enum lgv_array_type type;
    int ndim;
    size_t shape[4]; /* ndim of them; the last index is the fastest */
    const void *data;
};
/* 1 and *out filled, or 0 when there is no such array (or no memory).  Names, numbers and texts stay valid as long as
 * the result. */
LGV_API int lgv_result_array(const struct lgv_result *result, const char *name, struct lgv_array *out);
/* Array number index = 0, 1, ..., in the order of results.h5; 0 behind the last. */
LGV_API int lgv_result_arrays(const struct lgv_result *result, size_t index, struct lgv_array *out);

/* The certificate as data.  Names: symplectic, momentum/NAME for each declared symmetry, energy, failed_paths; with a
 * bath or forces conservative, volume, temperature; of Metropolis methods acceptance; with constraints constraint,
 * hidden_constraint; with rotations rotation; with options or methods that have them modified_energy, energy_law. */
struct lgv_verdict {
    const char *name;
    double value; /* what was measured; NaN when it was not */
    double error; /* how well it is known, NaN when that is not known */
    double limit; /* what it is held against: value <= limit (acceptance >= limit), NaN when it is not */
    int claim;    /* 1: method and model promise it; 0: the method does not; -1: the model does not have it */
    int holds;    /* 1 or 0; -1: nothing is claimed, or it could not be measured */
};
LGV_API const struct lgv_verdict *lgv_result_verdicts(const struct lgv_result *result, size_t *count);

/* The JSON document of `lgv run --json`; free() it.  NULL when memory is out. */
LGV_API char *lgv_result_json(const struct lgv_result *result);
LGV_API enum lgv_status lgv_result_write(const struct lgv_result *result, const char *path, struct lgv_error *err);
/* A result again from its file. */
LGV_API enum lgv_status lgv_result_read(const char *path, struct lgv_result **out, struct lgv_error *err);
/* Figures and report.html in a directory that exists.  Without gnuplot the report has no figures. */
LGV_API enum lgv_status lgv_result_report(const struct lgv_result *result, const char *dir, struct lgv_error *err);
/* The software and the papers behind the method of the run as BibTeX; free() it.  NULL when memory is out. */
LGV_API char *lgv_result_cite(const struct lgv_result *result);
LGV_API void lgv_result_free(struct lgv_result *result);

/* ---- studies --------------------------------------------------------------------------------------------------- */

/* Questions that take many runs, or none: what the commands converge, compare, run --mlmc ("mlmc"), sweep and check do,
 * with the same options.  The model must outlive the study.
 *
 *     lgv_study_create(model, "converge", &study, &err);
 *     lgv_study_set(study, "methods", "midpoint,verlet", &err);
 *     lgv_study_execute(study, &err);
 *     char *document = lgv_study_json(study);  */
struct lgv_study;
LGV_API enum lgv_status lgv_study_create(struct lgv_model *model, const char *kind, struct lgv_study **out,
                                         struct lgv_error *err);
/* An option of the study or of a run, as text.  `over` of a sweep may be set up to four times, one axis each. */
LGV_API enum lgv_status lgv_study_set(struct lgv_study *study, const char *option, const char *value,
                                      struct lgv_error *err);
LGV_API void lgv_study_on_progress(struct lgv_study *study, lgv_progress *progress, void *user);
/* LGV_OK, LGV_FAILED_PATHS (paths failed, or something claimed does not hold) and LGV_INTERRUPTED leave a result; the
 * latter perhaps none, when it came before there was anything.  What was found before is forgotten. */
LGV_API enum lgv_status lgv_study_execute(struct lgv_study *study, struct lgv_error *err);
/* The document that the command prints with --json; free() it.  NULL: no result, or no memory. */
LGV_API char *lgv_study_json(const struct lgv_study *study);
/* Array number index of a sweep, over [point][observable] and perhaps [time]; the last axis runs fastest.  0 behind the
 * last; other studies have none.  They stay valid until the study is executed again or freed. */
LGV_API int lgv_study_arrays(const struct lgv_study *study, size_t index, struct lgv_array *out);
/* Figures and report.html in a directory that exists; `check` has none. */
LGV_API enum lgv_status lgv_study_report(const struct lgv_study *study, const char *dir, struct lgv_error *err);
LGV_API void lgv_study_free(struct lgv_study *study);

#ifdef __cplusplus
}
#endif

#endif
