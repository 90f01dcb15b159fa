/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs that survive: the state of a run is saved to its directory from time to time and when a signal stops it, and lgv
 * resume goes on from there, with the bits of a run that was never stopped.
 *
 *     checkpoint.lgv          the state: a part of the ensemble (engine/part.c) with the paths that are on their way
 *     checkpoint-before.lgv   the one before it, used when the newer one is damaged or was not finished */
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATE "checkpoint.lgv"
#define BEFORE "checkpoint-before.lgv"
#define TOLD_BYTES 2e8 /* of memory: less is not worth a line */

/* ---- saving ---- */

/* A number of at least 0 behind a flag. */
static bool read_number(const struct lgv_arguments *a, const char *flag, const char *text, const char *what,
                        double *out) {
    char *end, plain[80];
    *out = strtod(text, &end);
    if (end != text && !*end && *out >= 0 && !isinf(*out)) return true;
    fprintf(stderr, "lgv %s: --%s wants %s, not %s\n", a->command->name, flag, what,
            lgv_plain(plain, sizeof plain, text));
    return false;
}

bool lgv_saving_begin(struct lgv_saving *s, const struct lgv_arguments *a, const char *dir, struct lgv_meter *meter) {
    double time = 0;
    *s = (struct lgv_saving){.dir = dir, .interval = 600, .keep = a->flags.keep_checkpoint, .last_share = -1,
                             .meter = meter};
    if (a->flags.checkpoint && !read_number(a, "checkpoint", a->flags.checkpoint, "a number of seconds", &s->interval))
        return false;
    const char *steps = a->flags.checkpoint_steps;
    if (steps && !read_number(a, "checkpoint-steps", steps, "a number of steps", &s->every)) return false;
    if (a->flags.max_time && !read_number(a, "max-time", a->flags.max_time, "a number of seconds", &time)) return false;
    s->last = lgv_seconds();
    if (a->flags.max_time) s->until = s->last + time;
    return true;
}

/* Is it time to save, by the clock or by what has been done since? */
static bool due(struct lgv_saving *s, double share) {
    if (s->interval > 0 && lgv_seconds() - s->last >= s->interval) return true;
    if (!(s->every > 0)) return false;
    if (!(s->last_share >= 0) || share < s->last_share) s->last_share = share; /* what this sitting began with */
    return (share - s->last_share) * s->path_steps >= s->every;
}

static int watch(void *user, double fraction) {
    struct lgv_saving *s = user;
    double share = fraction > 0 ? s->share + (1 - s->share) * fraction : 0;
    if (lgv_meter_progress(s->meter, share)) return 1;
    if (s->until > 0 && fraction > 0 && lgv_seconds() >= s->until) return s->over = true;
    if (!s->dir || !(fraction > 0) || !due(s, share)) return 0;
    s->last_share = share;
    return s->due = true;
}

static enum lgv_status save(struct lgv_saving *s, struct lgv_engine *e, struct lgv_error *err) {
    char *state = lgv_join(s->dir, STATE), *before = lgv_join(s->dir, BEFORE);
    enum lgv_status status = state && before ? LGV_OK : lgv_fail_memory(err);
    if (!status && !s->damaged && rename(state, before) != 0 && errno != ENOENT)
        status = lgv_fail(err, LGV_CANNOT_RUN, "cannot rename %s: %s", state, strerror(errno));
    if (!status) status = lgv_engine_save(e, state, err);
    if (!status) s->damaged = false;
    s->saved = !status || (before && access(before, F_OK) == 0); /* the one before is good, too */
    free(state);
    free(before);
    s->last = lgv_seconds();
    s->due = false;
    return status;
}

/* A full disk may stay so for days: it is told when it begins, when it is over, and at the end. */
static void save_or_tell(struct lgv_saving *s, struct lgv_engine *e, bool last) {
    struct lgv_error why = {0};
    bool failed = save(s, e, &why) != LGV_OK;
    if (failed && (last || !s->failing))
        lgv_warn("the state of the run could not be saved: %s%s", why.message,
                 last ? "" : "; the run goes on, and tries again");
    if (!failed && s->failing) fputs("lgv: the state of the run is saved again\n", stderr);
    s->failing = failed;
}

/* A step that is too large for the method is told before time is spent on it. */
static void warn_unstable(struct lgv_engine *e) {
    const struct lgv_kernel *k = lgv_engine_kernel(e);
    struct lgv_stability stability;
    lgv_method_stability(k->method, lgv_engine_model(e), &k->structure, lgv_engine_step(e),
                         LGV_STABILITY_QUICKLY, &stability);
    if (stability.stable == 0) lgv_warn("the step may be too large: %s", stability.text);
}

/* ---- the state of another run, where one begins ---- */

static bool has_complete_results(const char *dir) {
    struct lgv_error err = {0};
    struct lgv_result r = {0};
    char *file = lgv_results_of(dir);
    bool whole = file && access(file, F_OK) == 0 && lgv_hdf5_read(file, &r, &err) == LGV_OK && !r.interrupted;
    lgv_result_clear(&r);
    free(file);
    return whole;
}

static bool earlier(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* A run that has ended keeps one state at most, and has written its results after it. */
static bool unfinished(const char *dir) {
    char *state = lgv_join(dir, STATE), *before = lgv_join(dir, BEFORE), *results = lgv_join(dir, "results.h5");
    struct stat saved, written;
    bool known = state && before && results, ended = known && access(before, F_OK) != 0;
    ended = ended && stat(state, &saved) == 0 && stat(results, &written) == 0 &&
            !earlier(&written.st_mtim, &saved.st_mtim) && has_complete_results(dir);
    free(state);
    free(before);
    free(results);
    return !ended;
}

/* DIR/unfinished, or DIR/unfinished-2 ...: a new directory.  NULL: errno tells why. */
static char *new_place(const char *dir) {
    for (int k = 1; k < 1000; k++) {
        char name[32];
        snprintf(name, sizeof name, k > 1 ? "unfinished-%d" : "unfinished", k);
        char *place = lgv_join(dir, name);
        if (!place || mkdir(place, 0777) == 0) return place;
        free(place);
        if (errno != EEXIST) break;
    }
    return NULL;
}

static enum lgv_status set_aside(const char *dir, struct lgv_error *err) {
    static const char *const what[] = {STATE, BEFORE, "recorded"};
    char plain[400];
    if (!lgv_saving_there(dir) || !unfinished(dir)) return LGV_OK;
    char *place = new_place(dir);
    bool moved = place;
    for (size_t k = 0; moved && k < sizeof what / sizeof *what; k++) {
        char *from = lgv_join(dir, what[k]), *to = lgv_join(place, what[k]);
        moved = from && to && (rename(from, to) == 0 || errno == ENOENT);
        free(from);
        free(to);
    }
    if (moved)
        lgv_warn("another run in this directory was not finished; its state is kept: `lgv resume %s` goes on with it",
                 lgv_plain(plain, sizeof plain, place));
    free(place);
    if (moved) return LGV_OK;
    return lgv_fail(err, LGV_CANNOT_RUN, "cannot move the state of a run that was not finished to a folder in %s: %s",
                    lgv_plain(plain, sizeof plain, dir), strerror(errno));
}

/* ---- a run whose state is saved ---- */

/* Where single paths go that are recorded. */
static enum lgv_status begin_records(const struct lgv_saving *s, struct lgv_engine *e, struct lgv_error *err) {
    if (!lgv_engine_records(e)) return LGV_OK;
    if (!s->place)
        return lgv_fail(err, LGV_BAD_INPUT, "record: single paths are written to a file; give a directory with --out");
    char *folder = lgv_recorded_in(s->place);
    if (folder && s->fresh && !lgv_silent()) lgv_record_remove(folder);
    enum lgv_status status = folder ? lgv_engine_record_in(e, folder, err) : lgv_fail_memory(err);
    free(folder);
    return status;
}

enum lgv_status lgv_saving_run(struct lgv_saving *s, struct lgv_engine *e, struct lgv_error *err) {
    bool again = true;
    lgv_engine_on_progress(e, watch, s);
    enum lgv_status status = lgv_engine_aim(e, err);
    if (!status && s->fresh && s->dir) status = set_aside(s->dir, err); /* not for a run that is refused */
    if (!status) status = begin_records(s, e, err);
    if (status) return status;
    if (!lgv_engine_suspends(e)) s->dir = NULL;
    s->keep = s->keep || lgv_engine_extendable(e);
    s->path_steps = lgv_engine_path_steps(e);
    if (s->meter->warns && lgv_engine_bytes(e) > TOLD_BYTES && !lgv_silent())
        fprintf(stderr, "lgv: the run needs about %.1f GB of memory\n", lgv_engine_bytes(e) / 1e9);
    if (s->meter->warns) warn_unstable(e);
    while (again) {
        s->share = lgv_engine_share(e);
        status = lgv_engine_continue(e, err);
        if (status && status != LGV_INTERRUPTED) return status; /* of this process alone, perhaps */
        again = !lgv_peers_any(s->over || lgv_stop_asked()) && status == LGV_INTERRUPTED;
        bool all = status == LGV_OK;
        if (all) status = lgv_engine_grow(e, &again, err);
        bool keep = all && !again && (s->keep || status); /* also where no more paths can be added to those there are */
        if ((status == LGV_INTERRUPTED || keep) && s->dir) save_or_tell(s, e, !again);
    }
    lgv_engine_on_progress(e, lgv_meter_progress, s->meter); /* the certificate is not stopped to be saved */
    return status;
}

void lgv_saving_tell(const struct lgv_saving *s) {
    fprintf(stderr, "lgv: %s; the results are of the part that was done", s->over ? "the time is over" : "interrupted");
    if (s->dir && s->saved) fprintf(stderr, ", `lgv resume %s` goes on", s->dir);
    fputc('\n', stderr);
}

void lgv_saving_end(struct lgv_saving *s, bool complete, int code) {
    char plain[400];
    if (code == LGV_EXIT_CANNOT && s->dir && s->saved && lgv_saving_there(s->dir))
        fprintf(stderr, "lgv: the last state of the run stays; `lgv resume %s` goes on from there\n",
                lgv_plain(plain, sizeof plain, s->dir));
    if (!s->dir || !complete || code == LGV_EXIT_CANNOT) return;
    char *state = lgv_join(s->dir, STATE), *before = lgv_join(s->dir, BEFORE);
    if (state && !s->keep) unlink(state);
    if (before) unlink(before);
    free(state);
    free(before);
}

/* ---- lgv resume ---- */

#define AT(field) offsetof(struct lgv_flags, field)
static const struct lgv_flag flags[] = {
    {"paths", 0, "N", AT(paths), "so many paths instead: more than there were, when their number was a multiple of 16"},
    {"until", 0, "T", AT(until),
     "a later end, of a run with extendable=yes: a whole number of intervals between outputs, of which there are more "
     "then; the bits are those of a run that had it, and that number of outputs, from the beginning"},
    {"threads", 0, "N", AT(threads), "threads of this machine to use (default: all)"},
    {"until-stderr", 0, "NAME=E", AT(until_stderr),
     "add paths until the standard error of the mean of an observable at the end is at most E, instead of what the run "
     "was given"},
    LGV_CHECKPOINT_FLAGS,
    {"no-report", 0, NULL, AT(no_report), "write results.h5 only, without figures and report"},
    {"json", 0, NULL, AT(json), "one JSON document on standard output and nothing else"},
    {"quiet", 'q', NULL, AT(quiet), "no summary and no progress"},
};

bool lgv_saving_there(const char *dir) {
    char *state[2] = {lgv_join(dir, STATE), lgv_join(dir, BEFORE)};
    bool there = (state[0] && access(state[0], F_OK) == 0) || (state[1] && access(state[1], F_OK) == 0);
    free(state[0]);
    free(state[1]);
    return there;
}

/* Model, engine and what was collected, from one file. */
static enum lgv_status open_state(const char *file, struct lgv_model **m, struct lgv_engine **e,
                                  struct lgv_error *err) {
    enum lgv_status status = lgv_engine_open(file, m, e, err);
    if (!status) status = lgv_engine_load(*e, file, err);
    if (!status) return LGV_OK;
    lgv_engine_free(*e);
    lgv_model_free(*m);
    *e = NULL;
    *m = NULL;
    return status;
}

/* *second: it is that of the state before, as the other one cannot be used. */
static enum lgv_status find_state(const char *dir, bool *second, struct lgv_model **m, struct lgv_engine **e,
                                  struct lgv_error *err) {
    char *file[2] = {lgv_join(dir, STATE), lgv_join(dir, BEFORE)};
    struct lgv_error why[2] = {{0}};
    bool there[2] = {false, false}, cannot = false;
    enum lgv_status status = file[0] && file[1] ? LGV_BAD_INPUT : lgv_fail_memory(err);
    for (int k = 0; status == LGV_BAD_INPUT && k < 2; k++) {
        there[k] = access(file[k], F_OK) == 0;
        if (!there[k]) continue;
        status = open_state(file[k], m, e, &why[k]);
        if (status && !lgv_stop_asked()) lgv_warn("%s", why[k].message);
        cannot = cannot || status == LGV_CANNOT_RUN; /* no memory, no compiler: the state may be good */
        if (status) status = LGV_BAD_INPUT;
        *second = !status && k && there[0];
        if (*second) lgv_warn("the state before it is used: %s", file[k]);
    }
    char *aside = lgv_join(dir, "unfinished");
    if (status == LGV_BAD_INPUT && (there[0] || there[1]))
        status = lgv_fail(err, cannot ? LGV_CANNOT_RUN : status, "%s has no state of a run that could be used", dir);
    else if (status == LGV_BAD_INPUT && aside && lgv_saving_there(aside))
        status = lgv_fail(err, status, "%s has no " STATE "; a run that was not finished before is in %s", dir, aside);
    else if (status == LGV_BAD_INPUT)
        status = lgv_fail(err, status, "%s has no " STATE ": there is nothing to go on with", dir);
    free(aside);
    free(file[0]);
    free(file[1]);
    return status;
}

static enum lgv_status set_options(const struct lgv_arguments *a, struct lgv_engine *e, struct lgv_error *err) {
    enum lgv_status status = LGV_OK;
    if (a->flags.threads) status = lgv_engine_option(e, "threads", a->flags.threads, err);
    if (!status && a->flags.until) status = lgv_engine_extend(e, a->flags.until, err);
    if (!status && a->flags.paths) status = lgv_engine_option(e, "paths", a->flags.paths, err);
    const char *goal = a->flags.until_stderr;
    if (!status && goal) status = lgv_engine_option(e, "until_stderr", goal, err);
    return status;
}

static int go_on(const struct lgv_arguments *a, struct lgv_saving *s, struct lgv_engine *e) {
    struct lgv_error err = {0};
    struct lgv_result r = {0};
    enum lgv_status status = set_options(a, e, &err);
    if (!status) status = lgv_saving_run(s, e, &err);
    bool complete = status == LGV_OK;
    if (complete || status == LGV_INTERRUPTED) status = lgv_engine_end(e, &r, &err);
    lgv_meter_end(s->meter);
    if (status == LGV_BAD_INPUT || status == LGV_CANNOT_RUN) {
        int bad = lgv_complain(&err, status);
        lgv_saving_end(s, false, bad);
        return bad;
    }
    if (!complete) lgv_saving_tell(s);
    int code = lgv_saving_paths(s, a, e, complete, lgv_run_show(a, &r, s->dir, status));
    lgv_saving_end(s, complete, code);
    lgv_result_clear(&r);
    return code;
}

/* Is there no state because the run has come to its end? */
static bool finished(const struct lgv_arguments *a) {
    return !lgv_saving_there(a->operand) && has_complete_results(a->operand);
}

static int tell_finished(const struct lgv_arguments *a) {
    char plain[400];
    bool more = a->flags.paths || a->flags.until || a->flags.until_stderr;
    if (more || !a->flags.quiet)
        fprintf(stderr, "lgv: the run in %s is finished, and there is nothing left to do%s\n",
                lgv_plain(plain, sizeof plain, a->operand),
                more ? "; only a run that has kept its state (--keep-checkpoint, or extendable=yes) can be given more "
                       "paths or a later end"
                     : "");
    return more ? LGV_EXIT_INPUT : LGV_EXIT_DONE;
}

static int command_resume(const struct lgv_arguments *a) {
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    struct lgv_engine *e = NULL;
    struct lgv_meter meter;
    struct lgv_saving s;
    bool made = false;
    int code;
    lgv_stop_on_signals();
    if (access(a->operand, F_OK) != 0) {
        fprintf(stderr, "lgv: there is no directory %s\n", a->operand);
        return LGV_EXIT_INPUT;
    }
    if (!lgv_saving_begin(&s, a, lgv_silent() ? NULL : a->operand, &meter)) return LGV_EXIT_INPUT;
    s.place = a->operand;
    enum lgv_status status = lgv_silent() ? LGV_OK : lgv_directory(a->operand, &made, &err);
    if (status) return lgv_complain(&err, status);
    lgv_meter_begin(&meter, !a->flags.quiet && !a->flags.json);
    meter.warns = !a->flags.quiet;
    lgv_meter_phase(&meter, "reading the state of the run");
    status = find_state(a->operand, &s.damaged, &m, &e, &err);
    s.saved = status == LGV_OK;
    if (status) lgv_meter_end(&meter);
    if (status == LGV_BAD_INPUT && finished(a))
        code = tell_finished(a);
    else
        code = status ? lgv_complain(&err, status) : go_on(a, &s, e);
    lgv_engine_free(e);
    lgv_model_free(m);
    return code;
}

const struct lgv_command lgv_command_resume = {
    .name = "resume",
    .operand = "DIR",
    .summary = "go on with a run that was interrupted or killed, or give one more paths or a later end",
    .about =
        "Goes on with the run whose state is in a directory: one that a signal has stopped, that was killed, or that "
        "ended with --keep-checkpoint and is to have more paths or, with extendable=yes, a later end. Model, "
        "parameters and options are those of the state. "
        "The results have the bits of a run that was never stopped, whatever the number of threads. Paths go on from "
        "where they were when the state was saved. A state that is damaged is refused, and the one "
        "before it is used. Of a run that is finished it says so, and ends with 0.",
    .examples = "  lgv run kubo.yaml --out kubo            # ... Ctrl-C\n  lgv resume kubo\n"
                "  lgv run kubo.yaml --out kubo --keep-checkpoint\n  lgv resume kubo --paths 50000\n"
                "  lgv run kubo.yaml --out kubo --set extendable=yes --outputs 100\n  lgv resume kubo --until 40\n",
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_resume,
};
