/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output stage: the result of a run as HDF5, JSON, text, figures and a one-file report. */
#ifndef LGV_OUT_H
#define LGV_OUT_H

#include "stats/stats.h"
#include "study/study.h"

/* Writes path by way of path.tmp and a rename: an existing file is never left half written. */
enum lgv_status lgv_hdf5_write(const struct lgv_result *r, const char *path, struct lgv_error *err);
enum lgv_status lgv_hdf5_read(const char *path, struct lgv_result *r, struct lgv_error *err);
/* Increments for a model of so many noises, from results.h5 of a run that has kept them or from a text.  Free them with
 * lgv_increments_free; after a failure there is nothing to free. */
enum lgv_status lgv_increments_read(const char *path, size_t noises, struct lgv_increments *out, struct lgv_error *err);
/* The JSON document of `lgv run --json`; malloc'd text, NULL when memory is out. */
char *lgv_json_result(const struct lgv_result *r);
/* The terminal summary.  colour: use ANSI escapes. */
void lgv_summary(FILE *out, const struct lgv_result *r, bool colour);
/* Figures mean-NAME.svg/.png etc. in directory dir (which exists).  Needs gnuplot; says so when it is missing. */
enum lgv_status lgv_figures(const struct lgv_result *r, const char *dir, struct lgv_error *err);
/* dir/report.html with the SVG figures of dir inside it. */
enum lgv_status lgv_report(const struct lgv_result *r, const char *dir, struct lgv_error *err);

/* Single paths (`record`), written while they run.  A record is a sink for lgv_ensemble_run: it stores paths that are
 * complete, some at a time, as whole HDF5 files in a folder that is made when it is needed; `run` says which run they
 * belong to.  The plan and the model must outlive it. */
struct lgv_record;
struct lgv_record *lgv_record_open(const struct lgv_plan *plan, const struct lgv_model *m, const char *run,
                                   const char *folder); /* NULL: no memory */
lgv_sink lgv_record_add;
/* Stores what is left and ends the record; the first failure there was. */
enum lgv_status lgv_record_close(struct lgv_record *r, struct lgv_error *err);
/* Doubles of one path that is recorded. */
double lgv_record_size(const struct lgv_plan *plan);
#define LGV_RECORD_BYTES (16u << 20) /* that are collected before they are stored, about */
/* All paths of this run that are in the folders, in the order of their numbers, as one file; *paths: how many.  Needs
 * little memory, however many they are. */
enum lgv_status lgv_record_join(const struct lgv_plan *plan, const struct lgv_model *m, const char *run,
                                const char *const *folder, size_t folders, const char *file, uint64_t *paths,
                                struct lgv_error *err);
/* The final states in paths.h5 as lines of numbers under a line of names.  *missing: paths that failed, left out. */
enum lgv_status lgv_record_ends(const char *path, FILE *out, uint64_t *missing, struct lgv_error *err);
void lgv_record_remove(const char *folder); /* what was stored there */

/* Convergence studies: the document of `lgv converge --json` (malloc'd, NULL when memory is out), the table for the
 * terminal, convergence.svg and .png, and report.html with that figure inside. */
char *lgv_json_convergence(const struct lgv_convergence *c);
void lgv_convergence_summary(FILE *out, const struct lgv_convergence *c, bool colour);
enum lgv_status lgv_convergence_figure(const struct lgv_convergence *c, const char *dir, struct lgv_error *err);
enum lgv_status lgv_convergence_report(const struct lgv_convergence *c, const char *dir, struct lgv_error *err);

/* Comparisons of methods, and multilevel estimates, likewise. */
void lgv_comparison_summary(FILE *out, const struct lgv_comparison *c, bool colour);
char *lgv_comparison_json(const struct lgv_comparison *c); /* malloc'd; NULL: memory is out */
/* Figures and dir/report.html; *drawn is false when there are no figures: err says why, or nothing when there was
 * nothing to draw. */
enum lgv_status lgv_comparison_report(const struct lgv_comparison *c, const char *dir, bool *drawn,
                                      struct lgv_error *err);
void lgv_mlmc_summary(FILE *out, const struct lgv_mlmc_result *r, bool colour);
char *lgv_mlmc_json(const struct lgv_mlmc_result *r);
enum lgv_status lgv_mlmc_report(const struct lgv_mlmc_result *r, const char *dir, bool *drawn, struct lgv_error *err);

/* A sweep: one ensemble for every point of a grid of parameters or options; of its axes the last runs fastest. */
#define LGV_SWEEP_AXES 4
struct lgv_sweep_axis {
    char *name;
    size_t count;
    char **text;   /* [count] the values as given */
    double *value; /* the same as numbers; NULL: they are words */
};
struct lgv_sweep {
    char *model_name, *model_text, *command, *method;
    char date[32];
    bool common; /* all points have the same seed */
    bool together; /* they were one run */
    size_t naxes, npoints, ndone;
    struct lgv_sweep_axis axis[LGV_SWEEP_AXES];
    bool *done;      /* [npoints] all arrays below have NaN or 0 where it is not */
    size_t nseries;
    char **series;   /* names of the observables */
    double *mean, *err, *std, *min, *max; /* [npoints][nseries] at the end */
    uint64_t *paths, *failed;             /* [npoints] */
    double *holds;                        /* [npoints] 1: everything that the certificate claims holds */
    size_t ntimes;                        /* 0: they differ in number, and there is nothing along time */
    double *time;                         /* [npoints][ntimes] */
    double *along;                        /* [npoints][nseries][ntimes] means */
    size_t nkept;                         /* sample paths of each point */
    double *kept;                         /* [npoints][nkept][nseries][ntimes] */
};
/* Number of the value of an axis at a point. */
size_t lgv_sweep_index(const struct lgv_sweep *s, size_t point, size_t axis);
const char *lgv_sweep_point(const struct lgv_sweep *s, size_t point, char *out, size_t size); /* "a = 0.1, b = 2" */
void lgv_sweep_clear(struct lgv_sweep *s);
void lgv_sweep_summary(FILE *out, const struct lgv_sweep *s, bool colour);
char *lgv_sweep_json(const struct lgv_sweep *s); /* malloc'd; NULL: memory is out */
enum lgv_status lgv_sweep_hdf5(const struct lgv_sweep *s, const char *path, struct lgv_error *err);
enum lgv_status lgv_sweep_report(const struct lgv_sweep *s, const char *dir, bool *drawn, struct lgv_error *err);

/* Curves of any origin in one figure: dir/file.svg and .png. */
struct lgv_curve {
    const char *title;
    const double *x, *y;
    size_t count;
};
struct lgv_curves {
    const char *file, *title, *xlabel, *ylabel; /* labels may be NULL */
    bool log;                                   /* the vertical axis; what is not positive is not drawn */
    size_t count;
    const struct lgv_curve *curve;
};
enum lgv_status lgv_curves_draw(const struct lgv_curves *c, const char *dir, struct lgv_error *err);

/* One row of the certificate in words. */
enum lgv_mark { LGV_MARK_NONE = -1, LGV_MARK_BROKEN = 0, LGV_MARK_HOLDS = 1 };
struct lgv_check {
    enum lgv_mark mark;    /* NONE: information, or nothing was claimed */
    char name[80];         /* plain text */
    char value[48];        /* the measured number */
    char verdict[400];     /* what it means here */
    const char *explained; /* what the row is about, for readers who do not know the words */
};
/* What there is to say about friction times step, or nothing; true: the method is not made for so much of it. */
bool lgv_friction_line(const struct lgv_certificate *k, char *out, size_t size);
/* malloc'd rows; NULL when memory is out. */
struct lgv_check *lgv_checks(const struct lgv_result *r, size_t *count);
/* How the step stands to the highest frequency at the start; true: beyond what the method stands. */
bool lgv_stability_line(const struct lgv_certificate *k, char *out, size_t size);
/* "137 of 10000 paths failed, first at t = ...: reason" or "no path failed". */
void lgv_failure_line(const struct lgv_result *r, char *out, size_t size);

/* How far start values were off the constraints; true when that is worth telling. */
bool lgv_start_line(const struct lgv_certificate *k, char *out, size_t size);

/* Names, formulas and values of a model as JSON; malloc'd, NULL when memory is out. */
char *lgv_json_model(struct lgv_model *m);
/* The software and the papers behind the method of a run, in BibTeX; malloc'd, NULL when memory is out. */
char *lgv_cite(const struct lgv_result *r);
/* The papers behind a method alone; adds nothing where there are none. */
void lgv_cite_method(struct lgv_text *out, const char *method);

/* A method in words: what it needs (at most 5 words; returns their number), for which models it is explicit, what a
 * step uses of the noise; and the document of `lgv methods --json`, of all or of one (malloc'd; NULL: no memory). */
size_t lgv_method_needs(const struct lgv_method *m, const char **word);
const char *lgv_method_explicit_for(const struct lgv_method *m);
const char *lgv_method_increments(const struct lgv_method *m);
char *lgv_json_methods(const struct lgv_method *one);

/* Parts of a one-file page, for reports of other things than one run.  Text of the user goes through lgv_html. */
void lgv_html(struct lgv_text *out, const char *text);
void lgv_page_begin(struct lgv_text *out, const char *title); /* up to <main>; title is plain text */
void lgv_page_end(struct lgv_text *out);
/* dir/file.svg inside. */
void lgv_page_figure(struct lgv_text *out, const char *dir, const char *file, const char *title, const char *caption);

#endif
