/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An experiment: runs of lgv, claims about their JSON documents and figures of them, as told by
 * examples/NAME/experiment.yaml. */
#ifndef LGV_EXPERIMENT_H
#define LGV_EXPERIMENT_H

#include "cli/cli.h"

struct lgv_experiment_run {
    char *name, *command, *quick, *full; /* words separated by blanks; the second word of command is the model file */
    json_t *result;                      /* what it printed, NULL when it could not run */
    int code;                            /* its exit code */
};

/* Places in the documents of runs: see measure.c. */
struct lgv_measure {
    char *path, *against;
    char **of;
    size_t nof;
    bool length;
};
struct lgv_list {
    double *value;
    size_t count, capacity;
};

enum lgv_claim_kind { LGV_CLAIM_EQUALS, LGV_CLAIM_BELOW, LGV_CLAIM_ABOVE };
struct lgv_claim {
    char *text;
    struct lgv_measure measure, error, at; /* of a list the largest entry counts; with `at` the one of that list */
    enum lgv_claim_kind kind;
    double expect, within, sigmas;
    double measured, uncertainty;
    bool known, holds;
};

struct lgv_experiment_line {
    struct lgv_measure x, y;
    char *title;
};
struct lgv_experiment_figure {
    char *name, *title, *xlabel, *ylabel;
    bool log; /* the vertical axis */
    bool drawn;
    size_t nlines;
    struct lgv_experiment_line *line;
};

struct lgv_experiment {
    char *name, *dir, *title, *source, *about;
    size_t nruns, nclaims, nfigures;
    struct lgv_experiment_run *run;
    struct lgv_claim *claim;
    struct lgv_experiment_figure *figure;
};

enum lgv_status lgv_experiment_read(const char *dir, const char *name, struct lgv_experiment *out,
                                    struct lgv_error *err);
void lgv_experiment_free(struct lgv_experiment *e);
/* Measures and judges every claim. */
void lgv_experiment_judge(struct lgv_experiment *e);
/* Draws every figure as NAME.svg and NAME.png in dir; the first that cannot be drawn is the error. */
enum lgv_status lgv_experiment_draw(struct lgv_experiment *e, const char *dir, struct lgv_error *err);

/* measure.c: what stands at these places, in a list to be freed; false: nothing. */
bool lgv_experiment_measure(const struct lgv_experiment *e, const struct lgv_measure *m, struct lgv_list *out);
void lgv_list_free(struct lgv_list *list);
/* The place of the largest entry; false when there is none or an entry is not finite. */
bool lgv_list_largest(const struct lgv_list *list, size_t *index);

#endif
