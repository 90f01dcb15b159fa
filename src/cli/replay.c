/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv replay: one path of a finished run again, step by step, from results.h5 alone.  A path is a function of model,
 * options, seed and its number, so that it has the same bits as in the run; the paths of its unit are run with it and
 * forgotten.  Without --path: how the paths that failed have ended, with their last good states. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_LISTED 10
#define MOST_NUMBERS 50000000 /* of a replay: steps times observables */

static const struct lgv_flag flags[] = {
    {"path", 0, "K", offsetof(struct lgv_flags, path), "number of the path; without it the failed paths are listed"},
    {"all", 0, NULL, offsetof(struct lgv_flags, all), "list all failed paths, not the first ten only"},
    {"last", 0, "N", offsetof(struct lgv_flags, last), "only the last N steps that the path has made"},
    {"every", 0, "N", offsetof(struct lgv_flags, every), "every N-th step only (default 1)"},
    {"out", 'o', "DIR", offsetof(struct lgv_flags, out), "also draw the path: figures in this directory"},
    {"quiet", 'q', NULL, offsetof(struct lgv_flags, quiet), "the numbers only"},
};

/* ---- the run again ---- */

static const char *setting(const struct lgv_result *r, const char *name) {
    for (size_t i = 0; i < r->nsettings; i++)
        if (strcmp(r->setting[i].name, name) == 0) return r->setting[i].value;
    return NULL;
}

/* What the path itself depends on; all else is left as it is by default. */
static enum lgv_status set_options(struct lgv_engine *e, const struct lgv_result *was, struct lgv_error *err) {
    static const char *const of_path[] = {"method", "step", "until", "start", "paths", "seed", "truncate",
                                         "rescue"};
    static const char *const without[][2] = {{"tally", "0"},      {"averages", "no"}, {"correlations", "no"},
                                             {"density", "no"},   {"bins", "0"},      {"histograms2", ""},
                                             {"check_states", "0"}, {"outputs", "1"}, {"extremes", ""},
                                             {"quantiles", "sample"}};
    enum lgv_status status = LGV_OK;
    for (size_t i = 0; !status && i < sizeof without / sizeof *without; i++)
        status = lgv_engine_option(e, without[i][0], without[i][1], err);
    for (size_t i = 0; !status && i < sizeof of_path / sizeof *of_path; i++) {
        const char *value = setting(was, of_path[i]);
        if (value) status = lgv_engine_option(e, of_path[i], value, err);
    }
    if (!status && was->increments_file) status = lgv_engine_increments(e, was->increments_file, err);
    return status;
}

static enum lgv_status make(const struct lgv_result *was, struct lgv_model **m, struct lgv_engine **e,
                            struct lgv_error *err) {
    struct lgv_override *parameter = lgv_new(was->nparameters + 1, sizeof *parameter);
    if (!parameter) return lgv_fail_memory(err);
    for (size_t i = 0; i < was->nparameters; i++)
        parameter[i] = (struct lgv_override){.name = was->parameter[i].name,
                                             .value = strtod(was->parameter[i].value, NULL)};
    enum lgv_status status = lgv_model_complete(was->model_text, was->model_file, parameter, was->nparameters, m, err);
    if (!status) status = lgv_engine_create(*m, e, err);
    if (!status) status = set_options(*e, was, err);
    free(parameter);
    return status;
}

/* The path at every `every`-th step; its values are those of out->sample[0].dense. */
static enum lgv_status again(struct lgv_engine *e, const struct lgv_result *was, uint64_t path, uint64_t every,
                             struct lgv_result **out, struct lgv_error *err) {
    char number[32], steps[32];
    uint64_t first = path / LGV_UNIT * LGV_UNIT, count = was->paths - first;
    snprintf(number, sizeof number, "%llu,", (unsigned long long)path);
    snprintf(steps, sizeof steps, "%llu", (unsigned long long)every);
    lgv_engine_clear(e);
    enum lgv_status status = lgv_engine_option(e, "keep", number, err);
    if (!status) status = lgv_engine_option(e, "keep_every", steps, err);
    if (!status) status = lgv_engine_prepare(e, err);
    if (!status) status = lgv_engine_run(e, first, count < LGV_UNIT ? count : LGV_UNIT, err);
    if (!status) status = lgv_engine_finish(e, out, err);
    return *out ? LGV_OK : status;
}

/* ---- what is shown ---- */

static const struct lgv_failure *failure_of(const struct lgv_result *r, uint64_t path) {
    for (size_t i = 0; i < r->nfailures; i++)
        if (r->failure[i].path == path) return &r->failure[i];
    return NULL;
}

/* The number of times at which the path is known. */
static size_t known(const struct lgv_result *r) {
    size_t n = 0;
    for (size_t k = 0; k < r->ndense; k++)
        for (size_t i = 0; i < r->nseries; i++)
            if (isfinite(r->sample[0].dense[i * r->ndense + k])) n = k + 1;
    return n;
}

static uint64_t step_at(const struct lgv_result *r, size_t k) {
    return (uint64_t)llround((r->dense_time[k] - r->t0) / r->step);
}

static void tell_end(FILE *out, const struct lgv_result *r, uint64_t path) {
    const struct lgv_failure *f = failure_of(r, path);
    char time[40];
    if (!f) return;
    fprintf(out, "path %llu failed in step %llu, at t = %s: %s\n", (unsigned long long)path,
            (unsigned long long)f->step, lgv_brief(time, sizeof time, r->t0 + (double)f->step * r->step, 10),
            lgv_fail_text(f->reason));
}

static void print_steps(const struct lgv_result *r, size_t from, size_t end) {
    char plain[100];
    printf("# step\ttime");
    for (size_t i = 0; i < r->nseries; i++) printf("\t%s", lgv_plain(plain, sizeof plain, r->series[i].name));
    putchar('\n');
    for (size_t k = from; k < end; k++) {
        printf("%llu\t%.17g", (unsigned long long)step_at(r, k), r->dense_time[k]);
        for (size_t i = 0; i < r->nseries; i++) printf("\t%.17g", r->sample[0].dense[i * r->ndense + k]);
        putchar('\n');
    }
}

/* The path as the result of a run that has no other: its series are its values, and every array has all its times. */
static enum lgv_status draw(const struct lgv_result *r, const char *dir, struct lgv_error *err) {
    bool made;
    struct lgv_result one = *r;
    struct lgv_sample sample = {r->sample[0].path, r->sample[0].dense, r->sample[0].dense};
    one.series = lgv_new(r->nseries + 1, sizeof *one.series);
    double *none = lgv_new(r->ndense + 1, sizeof *none);
    uint64_t *alive = lgv_new(r->ndense + 1, sizeof *alive);
    enum lgv_status status = one.series && alive && none ? lgv_directory(dir, &made, err) : lgv_fail_memory(err);
    for (size_t i = 0; !status && i < r->nseries; i++) {
        double *value = r->sample[0].dense + i * r->ndense;
        one.series[i] = r->series[i];
        one.series[i].mean = one.series[i].min = one.series[i].max = value;
        one.series[i].std = one.series[i].err = none;
        for (size_t q = 0; q < LGV_QUANTILES; q++) one.series[i].quantile[q] = value;
    }
    for (size_t k = 0; !status && k < r->ndense; k++) alive[k] = 1;
    one.paths = one.paths_done = one.nsamples = 1;
    one.ntimes = r->ndense;
    one.time = r->dense_time;
    one.alive = alive;
    one.sample = &sample;
    one.nhistograms = one.nfindings = 0;
    if (!status) status = lgv_figures(&one, dir, err);
    free(one.series);
    free(none);
    free(alive);
    return status;
}

/* ---- the command ---- */

static bool read_count(const char *flag, const char *text, uint64_t least, uint64_t *out) {
    char *end, plain[80];
    if (!text) return true;
    *out = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && *out >= least) return true;
    fprintf(stderr, "lgv replay: --%s wants a whole number of at least %llu, not %s\n", flag,
            (unsigned long long)least, lgv_plain(plain, sizeof plain, text));
    return false;
}

static bool too_many(const struct lgv_result *was, uint64_t every) {
    return was->steps / every > MOST_NUMBERS / (was->nseries + 1);
}

static int show_path(const struct lgv_arguments *a, struct lgv_engine *e, const struct lgv_result *was, uint64_t path,
                     uint64_t every, uint64_t last) {
    struct lgv_error err = {0};
    struct lgv_result *r = NULL;
    if (path >= was->paths) {
        fprintf(stderr, "lgv replay: there is no path %llu; the run has paths 0 to %llu\n", (unsigned long long)path,
                (unsigned long long)(was->paths - 1));
        return LGV_EXIT_INPUT;
    }
    if (too_many(was, every)) {
        fprintf(stderr, "lgv replay: %llu steps of %zu numbers are too many at once; use --every\n",
                (unsigned long long)was->steps, was->nseries);
        return LGV_EXIT_INPUT;
    }
    enum lgv_status status = again(e, was, path, every, &r, &err);
    if (status) return lgv_complain(&err, status);
    size_t end = known(r), from = last && last < end ? end - (size_t)last : 0;
    print_steps(r, from, end);
    if (!a->flags.quiet) tell_end(stderr, r, path);
    if (a->flags.out && !lgv_silent() && draw(r, a->flags.out, &err) != LGV_OK) status = err.status;
    lgv_result_free(r);
    return status ? lgv_complain(&err, status) : lgv_finish(LGV_EXIT_DONE);
}

static int show_failed(const struct lgv_arguments *a, struct lgv_engine *e, const struct lgv_result *was) {
    const size_t most = a->flags.all ? was->nfailures : MOST_LISTED;
    if (was->nfailures == 0 && !a->flags.quiet) puts("no path failed; --path K shows one");
    for (size_t i = 0; i < was->nfailures && i < most; i++) {
        struct lgv_error err = {0};
        struct lgv_result *r = NULL;
        char number[40];
        tell_end(stdout, was, was->failure[i].path);
        if (too_many(was, 1)) continue;
        enum lgv_status status = again(e, was, was->failure[i].path, 1, &r, &err);
        if (status) return lgv_complain(&err, status);
        size_t end = known(r);
        for (size_t k = 0; end && k < r->nseries; k++)
            printf("%s%s = %s", k ? ", " : "    before it: ", r->series[k].name,
                   lgv_brief(number, sizeof number, r->sample[0].dense[k * r->ndense + end - 1], 10));
        if (end) putchar('\n');
        lgv_result_free(r);
    }
    if (was->failed > most && !a->flags.quiet)
        printf("and %llu more%s\n", (unsigned long long)(was->failed - most),
               was->nfailures > most ? "; --all lists them" : ", of which results.h5 has no details");
    return lgv_finish(LGV_EXIT_DONE);
}

static int replay(const struct lgv_arguments *a, const struct lgv_result *was) {
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    struct lgv_engine *e = NULL;
    uint64_t path = 0, every = 1, last = 0;
    if (!read_count("path", a->flags.path, 0, &path) || !read_count("every", a->flags.every, 1, &every) ||
        !read_count("last", a->flags.last, 1, &last))
        return LGV_EXIT_INPUT;
    if (strcmp(was->version, lgv_version()) != 0)
        lgv_warn("the run is of lgv %s, this is %s: numbers may differ", was->version, lgv_version());
    enum lgv_status status = make(was, &m, &e, &err);
    int code = status          ? lgv_complain(&err, status)
               : a->flags.path ? show_path(a, e, was, path, every, last)
                               : show_failed(a, e, was);
    lgv_engine_free(e);
    lgv_model_free(m);
    return code;
}

static int command_replay(const struct lgv_arguments *a) {
    struct lgv_error err = {0};
    struct lgv_result was = {0};
    struct stat info;
    bool folder = stat(a->operand, &info) == 0 && S_ISDIR(info.st_mode);
    char *file = folder ? lgv_join(a->operand, "results.h5") : lgv_copy(a->operand);
    enum lgv_status status = file ? lgv_hdf5_read(file, &was, &err) : lgv_fail_memory(&err);
    int code = status ? lgv_complain(&err, status) : replay(a, &was);
    lgv_result_clear(&was);
    free(file);
    return code;
}

const struct lgv_command lgv_command_replay = {
    .name = "replay",
    .operand = "DIR",
    .summary = "one path of a run again, every step; or how the failed ones ended",
    .about = "Runs one path of a finished run again, from its results.h5 alone (DIR is the directory or the file), and "
             "prints a line with step, time and every observable for each step, up to the end or to the step that "
             "failed. The path has the bits it had in the run. Without --path the paths that failed are listed, "
             "with step, time, reason and their last good state.",
    .examples = "  lgv replay lgv-kubo\n  lgv replay lgv-kubo --path 17 > path.tsv\n"
                "  lgv replay lgv-kubo --path 17 --last 20\n  lgv replay lgv-kubo --path 17 --out pictures -q\n",
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_replay,
};
