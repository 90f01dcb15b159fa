/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Studies by words: the options of converge, compare, mlmc and sweep as texts in one table each, from which the command
 * line and the C interface are made, and how they are read; sweeps, and what `lgv check` finds out. */
#ifndef LGV_ENGINE_STUDY_H
#define LGV_ENGINE_STUDY_H

#include "out/out.h"

/* ---- options ---- */

struct lgv_flag {
    const char *name;     /* without the dashes */
    char letter;          /* short form, or 0 */
    const char *argument; /* what the value is, NULL for a switch */
    size_t offset;        /* of the field: bool, or const char * when there is an argument */
    const char *doc;
};
#define LGV_FLAG_OVER (SIZE_MAX - 1) /* may be given several times, kept in lgv_study_texts.over */

/* What was given, NULL where nothing was.  The texts belong to the caller. */
struct lgv_study_texts {
    const char *methods, *kind, *observe, *steps, *largest, *levels, *target, *reference;
    const char *expect, *reference_step, *ladder, *ladder_paths, *tolerance;
    const char *over[LGV_SWEEP_AXES];
    size_t nover;
    bool independent, together;
};

enum lgv_study_number { LGV_STUDY_CONVERGE, LGV_STUDY_COMPARE, LGV_STUDY_MLMC, LGV_STUDY_SWEEP, LGV_STUDIES };
struct lgv_study_kind {
    const char *name;
    const struct lgv_flag *option; /* offsets in struct lgv_study_texts */
    size_t count;
};
extern const struct lgv_study_kind lgv_study_kinds[LGV_STUDIES];

/* ---- reading them: messages begin with "--NAME" ---- */

#define LGV_CONVERGE_PATHS 2048 /* at most, unless paths are asked for: files say how many paths a run has */
/* paths: they were asked for, not only by the model file. */
enum lgv_status lgv_converge_read(const struct lgv_study_texts *t, bool paths, struct lgv_settings *s,
                                  struct lgv_convergence_options *out, struct lgv_error *err);

#define LGV_COMPARE_MOST 32    /* methods, observables, expected means */
#define LGV_COMPARE_TRIALS 200 /* steps of a range */
struct lgv_compare_request {
    struct lgv_contender contender[LGV_COMPARE_MOST];
    const char *observe[LGV_COMPARE_MOST];
    struct lgv_expected expect[LGV_COMPARE_MOST];
    struct lgv_compare_options options;
    char *memory[4]; /* lists cut into words */
};
enum lgv_status lgv_compare_read(struct lgv_model *m, const struct lgv_study_texts *t, const struct lgv_settings *s,
                                 struct lgv_compare_request *out, struct lgv_error *err);
void lgv_compare_request_free(struct lgv_compare_request *r);

enum lgv_status lgv_mlmc_read(const struct lgv_study_texts *t, struct lgv_mlmc_options *out, struct lgv_error *err);
/* The axes and what follows from them. */
enum lgv_status lgv_sweep_read(const struct lgv_study_texts *t, struct lgv_sweep *out, struct lgv_error *err);

/* ---- sweep.c ---- */

struct lgv_sweeping {
    struct lgv_model *model;
    struct lgv_settings settings;
    struct lgv_sweep out;
    uint64_t seed, part, parts; /* part 0 .. parts - 1 */
    size_t point, found;        /* the one that has failed; how many were there before */
    double advanced;            /* points that are done, with parts of points */
    const char *points;         /* folder of their files; NULL: none */
    const char *command;        /* for their files, or NULL */
    lgv_progress *progress;
    void *user;
    bool (*stop_asked)(void); /* also between calls of progress; NULL: not known */
    bool stopped;
};
/* All points of the part.  LGV_OK or LGV_INTERRUPTED; after a failure `point` is where. */
enum lgv_status lgv_sweep_run(struct lgv_sweeping *w, struct lgv_error *err);
/* together.c: the same with all points as one run. */
#define LGV_SWEEP_TOGETHER 10000 /* paths of all points */
enum lgv_status lgv_sweep_together(struct lgv_sweeping *w, struct lgv_error *err);
/* What a point gives to the arrays. */
enum lgv_status lgv_sweep_take(struct lgv_sweep *s, size_t point, const struct lgv_result *r, struct lgv_error *err);
/* Date, command and name of a sweep that is done. */
enum lgv_status lgv_sweep_label(struct lgv_sweeping *w, struct lgv_error *err);
/* No path failed, and everything claimed holds. */
bool lgv_sweep_well(const struct lgv_sweep *s);

/* ---- check.c, check_json.c ---- */

#define LGV_CHECK_STEPS 100 /* of the short run that measures */
#define LGV_CHECK_PATHS 16

struct lgv_examination {
    struct lgv_model *model;
    struct lgv_structure structure;
    struct lgv_law law;
    const struct lgv_method *method; /* the one of the run: section or of --method */
    const char *chosen;              /* why `auto` chose it, NULL when it was named */
    bool method_fits;
    char method_why[400]; /* why it does not */
    double step;
    double derivative_error;
    struct lgv_stability stability; /* of the chosen method and step */
    char areas[400];       /* which pairs of noises need Levy areas, and what these cost; empty: none */
    int force_symmetric;   /* lgv_model_force_symmetric */
    long hessian_entries;  /* of H, in all (2 dof)^2; -1 when not counted */
    bool measured;         /* the short run below was possible */
    char unmeasured[2048]; /* why not */
    struct lgv_result result;
    struct {
        char text[500];
    } * problem; /* claims that do not hold */
    size_t nproblems, capacity;
};
enum lgv_status lgv_examine(struct lgv_model *m, const struct lgv_settings *settings, struct lgv_examination *out,
                            struct lgv_error *err);
void lgv_examination_clear(struct lgv_examination *x);
/* Drift of the momentum map of symmetry i in the short run; NaN when not measured. */
double lgv_examination_drift(const struct lgv_examination *x, size_t i);
double lgv_examination_weak(const struct lgv_examination *x, const struct lgv_method *m); /* its weak order here */
char *lgv_examination_json(const struct lgv_examination *x); /* malloc'd; NULL: memory is out */
/* Random parameters, processes, tables and files of start values, into a JSON object. */
struct json_t;
void lgv_inputs_json(struct lgv_model *m, struct json_t *out);

#endif
