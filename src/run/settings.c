/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of a run: one table for the model file, the command line, the results and the reference page. */
#include "run/run.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct lgv_settings, field)
const struct lgv_option lgv_run_options[] = {
    {"method", LGV_WORD, LGV_METHOD_AUTO, 0, 0, "",
     "integrator, by name or alias (lgv methods lists them); auto: the best that fits the model, by the rule that lgv "
     "methods prints",
     AT(method)},
    {"step", LGV_REAL, "0.01", 1e-300, 1e300, "time", "size of a time step", AT(step)},
    {"until", LGV_REAL, "10", -1e300, 1e300, "time",
     "end of the run; a step that does not divide the time is made shorter", AT(until)},
    {"start", LGV_REAL, "0", -1e300, 1e300, "time", "time at which the run starts", AT(start)},
    {"paths", LGV_COUNT, "1000", 1, LGV_MOST_COUNT, "", "number of paths of the ensemble", AT(paths)},
    {"until_stderr", LGV_WORD, "", 0, 0, "",
     "NAME=E: paths are added until the standard error of the mean of an observable at the end is at most E; `paths` "
     "is the number to begin with",
     AT(until_stderr)},
    {"seed", LGV_COUNT, "1", 0, 1.8446744073709552e19, "", "seed of all noise and of random start values", AT(seed)},
    {"truncate", LGV_REAL, "-1", -1, 1000, "",
     "k of truncated increments |dW| <= sqrt(2 k dt |ln dt|), 0 for none; -1: k = 4 for implicit methods but never "
     "below 6 sqrt(dt), none for explicit methods; the noise of a bath is never cut",
     AT(truncate)},
    {"rescue", LGV_SWITCH, "yes", 0, 0, "",
     "steps whose equations have no solution are taken in two halves, and these likewise, with the noise that belongs "
     "to the step; else such a path fails",
     AT(rescue)},
    {"weak", LGV_SWITCH, "no", 0, 0, "",
     "increments of three points, 0 and +-sqrt(3 dt), for averages only: methods keep their weak order up to 2, but "
     "paths do not follow any Brownian motion; the noise of a bath stays normal",
     AT(weak)},
    {"outputs", LGV_COUNT, "200", 1, 1000000, "", "number of output intervals; statistics are kept at their ends",
     AT(outputs)},
    {"threads", LGV_COUNT, "0", 0, LGV_MOST_THREADS, "",
     "threads, 0 for one per core; results do not depend on it", AT(threads)},
    {"lanes", LGV_COUNT, "0", 0, LGV_MOST_LANES, "",
     "paths side by side in a block: 2, 4, 8 or 16, 0 to choose by model and number of paths; results do not depend "
     "on it",
     AT(lanes)},
    {"keep", LGV_WORD, "8", 0, 0, "", "sample paths to keep: how many, or their numbers as in 0,17,204", AT(keep)},
    {"keep_every", LGV_COUNT, "0", 0, LGV_MOST_COUNT, "",
     "sample paths are stored every this many steps, 0 for at most " LGV_DIGITS(LGV_DENSE_TIMES) " times",
     AT(keep_every)},
    {"keep_increments", LGV_SWITCH, "no", 0, 0, "",
     "also store the Brownian increments of the sample paths, step by step, so that another program can follow them",
     AT(keep_increments)},
    {"tally", LGV_COUNT, "256", 0, LGV_MOST_COUNT, "",
     "paths, from the first on and rounded up to a multiple of 16, whose largest changes of H and of momentum maps are "
     "taken over every step, not only over output times; above " LGV_DIGITS(LGV_TALLY_DOF)
     " degrees of freedom none unless it is given",
     AT(tally)},
    {"averages", LGV_SWITCH, "no", 0, 0, "",
     "time averages of every observable along the paths, over the output times, with integrated autocorrelation times "
     "and standard errors",
     AT(averages)},
    {"correlations", LGV_SWITCH, "no", 0, 0, "",
     "autocorrelation and mean squared displacement of every observable, over lags between output times",
     AT(correlations)},
    {"extendable", LGV_SWITCH, "no", 0, 0, "",
     "keep what every path has observed, and where it ends, in the state of the run, so that lgv resume --until can go "
     "on from there",
     AT(extendable)},
    {"record", LGV_LIST, "", 0, 0, "",
     "what is written of single paths, while they run, to paths.h5: any of final (states at the end), states (at all "
     "times of sample paths: output times, and every keep_every steps), increments (of every step)",
     AT(record)},
    {"record_paths", LGV_WORD, "all", 0, 0, "",
     "paths of which that is written: all, how many, or their numbers as in 0,17,204", AT(record_paths)},
    {"burn_in", LGV_REAL, "0", 0, 1e300, "time",
     "how much of the beginning of a path time averages and correlations leave out", AT(burn_in)},
    {"extremes", LGV_LIST, "", 0, 0, "",
     "observables whose least and largest value along each path are taken over every step, as in x, r; of all paths, "
     "or of the first `tally` of them where that is given",
     AT(extremes)},
    {"modified_energy", LGV_SWITCH, "no", 0, 0, "",
     "also observe H_modified, the Hamiltonian that a method of order 2 follows to the next order: its change stands "
     "beside that of H in the certificate",
     AT(modified_energy)},
    {"crossings", LGV_COUNT, "1000", 1, 1e7, "",
     "crossings of each section that are stored of each sample path, at most", AT(crossings)},
    {"quantiles", LGV_WORD, "sample", 0, 0, "",
     "sample: quantiles of the first 1024 paths; sketch: of all paths, each known to 0.4 % of its distance from the "
     "start of path 0",
     AT(quantiles)},
    {"bins", LGV_COUNT, "60", 0, 100000, "", "bins of the histograms of final values, 0 for none", AT(bins)},
    {"histograms2", LGV_LIST, "", 0, 0, "",
     "pairs of observables that get a histogram together at the end, as in q:p, x:y; with `bins` bins each way, at "
     "most 300",
     AT(histograms2)},
    {"density", LGV_SWITCH, "no", 0, 0, "",
     "the same over all output times, of as many of the first paths as fit 64 MB", AT(density)},
    {"check_states", LGV_COUNT, "4", 0, 16, "",
     "states at which the symplecticity defect is measured, 0 for none; half as many above "
     LGV_DIGITS(LGV_MANY_DOF) " degrees of freedom",
     AT(check_states)},
    {"compiler", LGV_PROGRAM, "", 0, 0, "",
     "compiler of the kernels: a name or a path; empty for clang, else gcc; not in model files",
     AT(compiler)},
};
const size_t lgv_run_option_count = sizeof lgv_run_options / sizeof *lgv_run_options;

enum lgv_status lgv_settings_set(struct lgv_settings *s, const char *name, const char *value, struct lgv_error *err) {
    enum lgv_status status = lgv_option_set(lgv_run_options, lgv_run_option_count, s, name, value, err);
    for (size_t i = 0; status == LGV_OK && i < lgv_run_option_count; i++)
        if (strcmp(lgv_run_options[i].name, name) == 0) s->given |= 1ull << i;
    return status;
}

bool lgv_settings_given(const struct lgv_settings *s, const char *name) {
    const struct lgv_option *row = lgv_option_find(lgv_run_options, lgv_run_option_count, name);
    return row && s->given >> (row - lgv_run_options) & 1;
}

enum lgv_status lgv_settings_read(const struct lgv_model *m, struct lgv_settings *out, struct lgv_error *err) {
    memset(out, 0, sizeof *out);
    lgv_option_defaults(lgv_run_options, lgv_run_option_count, out);
    for (size_t i = 0; i < m->nrun; i++) {
        const struct lgv_run_entry *e = &m->run[i];
        struct lgv_error why = {0};
        const struct lgv_option *known = lgv_option_find(lgv_run_options, lgv_run_option_count, e->key);
        if (known && known->type == LGV_PROGRAM)
            return lgv_model_fail(err, m->file, m->text, e->key_line, e->key_column,
                                  "a model file must not name programs to start: give --%s on the command line, or "
                                  "use lgv_run_set",
                                  e->key);
        if (lgv_settings_set(out, e->key, e->value, &why) == LGV_OK) continue;
        return lgv_model_fail(err, m->file, m->text, known ? e->line : e->key_line, known ? e->column : e->key_column,
                              "%s", why.message);
    }
    return LGV_OK;
}

enum lgv_status lgv_settings_paths(const struct lgv_settings *s, struct lgv_error *err) {
    if (!s->weak) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT,
                    "weak: three-point increments follow no Brownian motion, so steps of different sizes have no "
                    "paths in common: they are for runs, sweeps and lgv compare with known means");
}

enum lgv_status lgv_settings_weak(const struct lgv_settings *s, const struct lgv_kernel *k, struct lgv_error *err) {
    if (!s->weak) return LGV_OK;
    const char *what = NULL;
    if (k->nnoise == 0) what = "the model has no noise but that of a bath";
    else if (k->method->brackets == LGV_BRACKETS_AREAS) what = "Levy areas have a law for normal increments only";
    else if (lgv_settings_given(s, "truncate") && s->truncate != 0)
        what = "truncate is for normal increments, and these are bounded already";
    return what ? lgv_fail(err, LGV_BAD_INPUT, "weak: no three-point increments here: %s", what) : LGV_OK;
}

void lgv_settings_times(const struct lgv_settings *s, struct lgv_model *m) {
    m->from = s->start;
    m->until = s->until;
}

/* Is this what the file says, and not a later setting? */
static bool in_force(const struct lgv_settings *s, const struct lgv_run_entry *e, const struct lgv_option *row) {
    struct lgv_settings of_file = {0};
    char there[LGV_LIST_SIZE], here[LGV_LIST_SIZE];
    if (lgv_settings_set(&of_file, e->key, e->value, NULL) != LGV_OK) return false;
    lgv_option_get(row, &of_file, there, sizeof there);
    lgv_option_get(row, s, here, sizeof here);
    return strcmp(there, here) == 0;
}

enum lgv_status lgv_settings_place(const struct lgv_settings *s, const struct lgv_model *m, struct lgv_error *err) {
    if (!err || err->line) return LGV_BAD_INPUT;
    for (size_t i = 0; i < m->nrun; i++) {
        const struct lgv_run_entry *e = &m->run[i];
        const struct lgv_option *row = lgv_option_find(lgv_run_options, lgv_run_option_count, e->key);
        size_t n = strlen(e->key);
        if (!row || strncmp(err->message, e->key, n) != 0 || !strchr(": ", err->message[n]) || !in_force(s, e, row))
            continue;
        struct lgv_error why = *err;
        return lgv_model_fail(err, m->file, m->text, e->line, e->column, "%s", why.message);
    }
    return LGV_BAD_INPUT;
}

enum lgv_status lgv_settings_check(const struct lgv_settings *s, const struct lgv_model *m, struct lgv_error *err) {
    double start = fabs(s->start), apart = nextafter(start, INFINITY) - start;
    if (s->step >= apart) return LGV_OK;
    char why[200];
    snprintf(why, sizeof why, "the step %g is lost in rounding: near t = %g different times are %g apart", s->step,
             s->start, apart);
    for (size_t i = 0; i < m->nrun; i++)
        if (strcmp(m->run[i].key, "step") == 0 && strtod(m->run[i].value, NULL) == s->step)
            return lgv_model_fail(err, m->file, m->text, m->run[i].line, m->run[i].column, "%s", why);
    return lgv_fail(err, LGV_BAD_INPUT, "%s", why);
}
