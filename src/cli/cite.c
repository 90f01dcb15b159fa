/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv cite: what to cite for a run, from its results. */
#include "cli/cli.h"

#include <stdlib.h>

static int command_cite(const struct lgv_arguments *a) {
    struct lgv_error err = {0};
    struct lgv_result r = {0};
    char *file = lgv_results_of(a->operand), *text = NULL;
    enum lgv_status status = file ? lgv_hdf5_read(file, &r, &err) : lgv_fail_memory(&err);
    if (!status && !(text = lgv_cite(&r))) status = lgv_fail_memory(&err);
    if (text) fputs(text, stdout);
    lgv_result_clear(&r);
    free(text);
    free(file);
    return status ? lgv_complain(&err, status) : lgv_finish(LGV_EXIT_DONE);
}

const struct lgv_command lgv_command_cite = {
    .name = "cite",
    .operand = "DIR",
    .summary = "what to cite for a run, in BibTeX",
    .about = "Prints BibTeX entries for a run: the software in the version that was used, and the papers behind its "
             "method. A method made of another one (verlet-8, RATTLE-GLA) is cited with that. DIR is the directory of "
             "lgv run, or its results.h5.",
    .examples = "  lgv cite lgv-kubo > kubo.bib\n",
    .run = command_cite,
};
