/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An experiment: runs of lgv and claims about their JSON documents, as told by examples/NAME/experiment.yaml. */
#ifndef LGV_EXPERIMENT_H
#define LGV_EXPERIMENT_H

#include "cli/cli.h"

struct lgv_experiment_run {
    char *name, *command, *quick, *full; /* words separated by blanks; the second word of command is the model file */
    json_t *result;                      /* what it printed, NULL when it could not run */
    int code;                            /* its exit code */
};

enum lgv_claim_kind { LGV_CLAIM_EQUALS, LGV_CLAIM_BELOW, LGV_CLAIM_ABOVE };
struct lgv_claim {
    char *text, *measure, *error; /* measure and error: RUN:path into that run's document */
    enum lgv_claim_kind kind;
    double expect, within, sigmas;
    double measured, uncertainty;
    bool known, holds;
};

struct lgv_experiment {
    char *name, *dir, *title, *source, *about;
    size_t nruns, nclaims;
    struct lgv_experiment_run *run;
    struct lgv_claim *claim;
};

enum lgv_status lgv_experiment_read(const char *dir, const char *name, struct lgv_experiment *out,
                                    struct lgv_error *err);
void lgv_experiment_free(struct lgv_experiment *e);
/* The number at a path like "methods[method=VZc].order" or "final.H.mean" or "levels[step=0.04].error"; false: none. */
bool lgv_experiment_number(const json_t *document, const char *path, double *out);
/* Measures and judges every claim. */
void lgv_experiment_judge(struct lgv_experiment *e);

#endif
