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
#include <unistd.h>

#define STATE "checkpoint.lgv"
#define BEFORE "checkpoint-before.lgv"

/* ---- saving ---- */

bool lgv_saving_begin(struct lgv_saving *s, const struct lgv_arguments *a, const char *dir, struct lgv_meter *meter) {
    char *end = NULL, plain[80];
    *s = (struct lgv_saving){.dir = dir, .interval = 600, .keep = a->flags.keep_checkpoint, .meter = meter};
    if (a->flags.checkpoint) s->interval = strtod(a->flags.checkpoint, &end);
    if (end && (*end || end == a->flags.checkpoint || !(s->interval >= 0) || isinf(s->interval))) {
        fprintf(stderr, "lgv %s: --checkpoint wants a number of seconds, not %s\n", a->command->name,
                lgv_plain(plain, sizeof plain, a->flags.checkpoint));
        return false;
    }
    s->last = lgv_seconds();
    return true;
}

static int watch(void *user, double fraction) {
    struct lgv_saving *s = user;
    if (lgv_meter_progress(s->meter, fraction > 0 ? s->share + (1 - s->share) * fraction : 0)) return 1;
    if (!s->dir || s->interval <= 0 || lgv_seconds() - s->last < s->interval) return 0;
    return s->due = true;
}

static enum lgv_status save(struct lgv_saving *s, struct lgv_engine *e, struct lgv_error *err) {
    char *state = lgv_join(s->dir, STATE), *before = lgv_join(s->dir, BEFORE);
    enum lgv_status status = state && before ? LGV_OK : lgv_fail_memory(err);
    if (!status && rename(state, before) != 0 && errno != ENOENT)
        status = lgv_fail(err, LGV_CANNOT_RUN, "cannot rename %s: %s", state, strerror(errno));
    if (!status) status = lgv_engine_save(e, state, err);
    free(state);
    free(before);
    s->last = lgv_seconds();
    s->due = false;
    return status;
}

enum lgv_status lgv_saving_run(struct lgv_saving *s, struct lgv_engine *e, struct lgv_error *err) {
    struct lgv_error why = {0};
    lgv_engine_on_progress(e, watch, s);
    enum lgv_status status = lgv_engine_prepare(e, err);
    if (status) return status;
    if (!lgv_engine_suspends(e)) s->dir = NULL;
    do {
        s->share = lgv_engine_share(e);
        status = lgv_engine_continue(e, err);
        bool stopped = status == LGV_INTERRUPTED || (status == LGV_OK && s->keep);
        if (stopped && s->dir && save(s, e, &why) != LGV_OK)
            lgv_warn("the state of the run could not be saved: %s", why.message);
    } while (status == LGV_INTERRUPTED && !lgv_stop_asked());
    lgv_engine_on_progress(e, lgv_meter_progress, s->meter); /* the certificate is not stopped to be saved */
    return status;
}

void lgv_saving_end(struct lgv_saving *s, bool complete) {
    if (!s->dir || !complete) return;
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
    {"threads", 0, "N", AT(threads), "threads of this machine to use (default: all)"},
    LGV_CHECKPOINT_FLAGS,
    {"no-report", 0, NULL, AT(no_report), "write results.h5 only, without figures and report"},
    {"json", 0, NULL, AT(json), "one JSON document on standard output and nothing else"},
    {"quiet", 'q', NULL, AT(quiet), "no summary and no progress"},
};

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

static enum lgv_status find_state(const char *dir, struct lgv_model **m, struct lgv_engine **e, struct lgv_error *err) {
    char *file[2] = {lgv_join(dir, STATE), lgv_join(dir, BEFORE)};
    struct lgv_error why[2] = {{0}};
    bool there[2] = {false, false};
    enum lgv_status status = file[0] && file[1] ? LGV_BAD_INPUT : lgv_fail_memory(err);
    for (int k = 0; status == LGV_BAD_INPUT && k < 2; k++) {
        there[k] = access(file[k], F_OK) == 0;
        if (!there[k]) continue;
        status = open_state(file[k], m, e, &why[k]);
        if (status && !lgv_stop_asked()) lgv_warn("%s", why[k].message);
        if (status) status = LGV_BAD_INPUT;
        if (!status && k && there[0]) lgv_warn("the state before it is used: %s", file[k]);
    }
    if (status == LGV_BAD_INPUT)
        lgv_fail(err, status, there[0] || there[1] ? "%s has no state of a run that could be used"
                                                   : "%s has no " STATE ": there is nothing to go on with", dir);
    free(file[0]);
    free(file[1]);
    return status;
}

static enum lgv_status set_options(const struct lgv_arguments *a, struct lgv_engine *e, struct lgv_error *err) {
    enum lgv_status status = LGV_OK;
    if (a->flags.threads) status = lgv_engine_option(e, "threads", a->flags.threads, err);
    if (!status && a->flags.paths) status = lgv_engine_option(e, "paths", a->flags.paths, err);
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
    if (status == LGV_BAD_INPUT || status == LGV_CANNOT_RUN) return lgv_complain(&err, status);
    if (!complete) fprintf(stderr, "lgv: interrupted; `lgv resume %s` goes on\n", s->dir);
    int code = lgv_run_show(a, &r, s->dir, status);
    lgv_saving_end(s, complete && code != LGV_EXIT_CANNOT);
    lgv_result_clear(&r);
    return code;
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
    if (!lgv_saving_begin(&s, a, a->operand, &meter)) return LGV_EXIT_INPUT;
    enum lgv_status status = lgv_directory(a->operand, &made, &err);
    if (status) return lgv_complain(&err, status);
    lgv_meter_begin(&meter, !a->flags.quiet && !a->flags.json);
    lgv_meter_phase(&meter, "reading the state of the run");
    status = find_state(a->operand, &m, &e, &err);
    if (status) lgv_meter_end(&meter);
    code = status ? lgv_complain(&err, status) : go_on(a, &s, e);
    lgv_engine_free(e);
    lgv_model_free(m);
    return code;
}

const struct lgv_command lgv_command_resume = {
    .name = "resume",
    .operand = "DIR",
    .summary = "go on with a run that was interrupted or killed, or add paths to one",
    .about =
        "Goes on with the run whose state is in a directory: one that a signal has stopped, that was killed, or that "
        "ended with --keep-checkpoint and is to have more paths. Model, parameters and options are those of the state. "
        "The results have the bits of a run that was never stopped, whatever the number of threads. Paths go on from "
        "where they were when the state was saved. A state that is damaged is refused, and the one "
        "before it is used.",
    .examples = "  lgv run kubo.yaml --out kubo            # ... Ctrl-C\n  lgv resume kubo\n"
                "  lgv run kubo.yaml --out kubo --keep-checkpoint\n  lgv resume kubo --paths 50000\n",
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_resume,
};
