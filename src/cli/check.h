/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `lgv check` found out: filled by check.c, printed by check_print.c. */
#ifndef LGV_CLI_CHECK_H
#define LGV_CLI_CHECK_H

#include "cli/cli.h"

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
    long hessian_entries;  /* of H, in all (2 dof)^2; -1 when not counted */
    bool measured;         /* the short run below was possible */
    char unmeasured[2048]; /* why not */
    struct lgv_result result;
    struct {
        char text[500];
    } * problem; /* claims that do not hold */
    size_t nproblems, capacity;
};

/* Drift of the momentum map of symmetry i in the short run; NaN when not measured. */
double lgv_examination_drift(const struct lgv_examination *x, size_t i);
bool lgv_method_is_explicit(const struct lgv_method *m, const struct lgv_structure *s);

void lgv_examination_print(const struct lgv_examination *x);
json_t *lgv_examination_json(const struct lgv_examination *x);

#endif
