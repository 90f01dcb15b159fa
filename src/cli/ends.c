/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv ends: where the kept paths of a run have ended, as a file that start values can be read from. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* H is not among the names that start values have, and is told anyway: whoever reads the table may want it. */
static void print_names(const struct lgv_result *r) {
    for (size_t i = 0; i < r->nseries; i++) printf("%s%s", i ? "," : "", r->series[i].name);
    putchar('\n');
}

/* False: the path has failed or was stopped, and has no end. */
static bool print_end(const struct lgv_result *r, const struct lgv_sample *x) {
    for (size_t i = 0; i < r->nseries; i++)
        if (!isfinite(x->value[i * r->ntimes + r->ntimes - 1])) return false;
    for (size_t i = 0; i < r->nseries; i++) printf("%s%.17g", i ? "," : "", x->value[i * r->ntimes + r->ntimes - 1]);
    putchar('\n');
    return true;
}

static int command_ends(const struct lgv_arguments *a) {
    struct lgv_error err = {0};
    struct lgv_result r = {0};
    char *file = lgv_results_of(a->operand);
    size_t missing = 0;
    enum lgv_status status = file ? lgv_hdf5_read(file, &r, &err) : lgv_fail_memory(&err);
    if (!status && (!r.nsamples || !r.ntimes))
        status = lgv_fail(&err, LGV_BAD_INPUT, "%s has no kept paths: run it with --keep N", a->operand);
    if (!status) print_names(&r);
    for (size_t k = 0; !status && k < r.nsamples; k++) missing += !print_end(&r, &r.sample[k]);
    if (missing) lgv_warn("%zu of %zu kept paths have failed or were stopped and are left out", missing, r.nsamples);
    lgv_result_clear(&r);
    free(file);
    return status ? lgv_complain(&err, status) : lgv_finish(LGV_EXIT_DONE);
}

const struct lgv_command lgv_command_ends = {
    .name = "ends",
    .operand = "DIR",
    .summary = "where kept paths have ended, to start others from",
    .about = "Prints the values of everything that was observed, at the end of every kept path (run option keep, up to "
             "10000 paths): a line of names, then a line for each path, with all digits. Another model can start from "
             "there, path by path: coordinates: { x: \"file(ends.csv, paths)\" } takes the column x. Coordinates and "
             "momenta of large models are only there when they are observed, and periodic coordinates are in their "
             "range. DIR is the directory of lgv run, or its results.h5.",
    .examples = "  lgv run warm.yaml --keep 1000 --out warm\n  lgv ends warm > ends.csv\n  lgv run main.yaml\n",
    .run = command_ends,
};
