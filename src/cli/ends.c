/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv ends: where the recorded or kept paths of a run have ended, as a file that start values can be read from. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of all recorded paths, where the run has stored them. */
static int recorded_ends(const char *file) {
    struct lgv_error err = {0};
    uint64_t missing = 0;
    if (lgv_record_ends(file, stdout, &missing, &err)) return lgv_complain(&err, LGV_BAD_INPUT);
    if (missing) lgv_warn("%llu paths have failed and are left out", (unsigned long long)missing);
    return lgv_finish(LGV_EXIT_DONE);
}

/* H is not among the names that start values have, and is told anyway: whoever reads the table may want it. */
static void print_names(const struct lgv_result *r) {
    for (size_t i = 0; i < r->nseries; i++) printf("%s,", r->series[i].name);
    puts("path");
}

/* Of larger models coordinates and momenta are there only where the file observes them. */
static bool whole(const struct lgv_result *r) {
    return r->dof <= LGV_WATCHED_DOF;
}

/* False: the path has failed or was stopped, and has no end. */
static bool print_end(const struct lgv_result *r, const struct lgv_sample *x) {
    for (size_t i = 0; i < r->nseries; i++)
        if (!isfinite(x->value[i * r->ntimes + r->ntimes - 1])) return false;
    for (size_t i = 0; i < r->nseries; i++) printf("%.17g,", x->value[i * r->ntimes + r->ntimes - 1]);
    printf("%llu\n", (unsigned long long)x->path);
    return true;
}

static int command_ends(const struct lgv_arguments *a) {
    struct lgv_error err = {0};
    struct lgv_result r = {0};
    char *file = lgv_results_of(a->operand);
    size_t missing = 0;
    char *paths = lgv_join(a->operand, "paths.h5");
    if (paths && access(paths, F_OK) == 0) {
        int code = recorded_ends(paths);
        free(paths);
        free(file);
        return code;
    }
    free(paths);
    enum lgv_status status = file ? lgv_hdf5_read(file, &r, &err) : lgv_fail_memory(&err);
    if (!status && (!r.nsamples || !r.ntimes))
        status = lgv_fail(&err, LGV_BAD_INPUT, "%s has no kept paths: run it with --keep N", a->operand);
    if (!status && !whole(&r))
        lgv_warn("coordinates and momenta of this model are stored only where it observes them: a run with "
                 "--record final has them all");
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
    .about = "Prints the states at the end of every recorded path of a run with record=final, or else the values of "
             "everything that was observed at the end of every kept path (run option keep, up to "
             "10000 paths): a line of names, then a line for each path, with all digits, and its number in the last "
             "column: paths that have failed are left out. Another model can start from "
             "there, path by path: coordinates: { x: \"file(ends.csv, paths)\" } takes the column x. Paths that were "
             "stopped by an event are at the event in the first case and left out in the second. Without record=final "
             "coordinates and momenta of models with many of them are not there unless they are observed, and periodic "
             "coordinates are in their range. DIR is the directory of lgv run, or its results.h5.",
    .examples = "  lgv run warm.yaml --record final --out warm\n  lgv ends warm > ends.csv\n  lgv run main.yaml\n",
    .run = command_ends,
};
