/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv run: model file -> ensemble -> summary or JSON, results.h5, figures, report.html. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT(field) offsetof(struct lgv_flags, field)
static const struct lgv_flag flags[] = {
    {"set", 0, "NAME=VALUE", LGV_FLAG_SET, "a parameter of the model, or a run option; may be given many times"},
    {"out", 'o', "DIR", AT(out),
     "directory of results.h5, figures and report.html; made when missing, files of the same "
     "name are replaced (default lgv-NAME, or none with --json)"},
    {"no-files", 0, NULL, AT(no_files), "write no files"},
    {"no-report", 0, NULL, AT(no_report), "write results.h5 only, without figures and report"},
    {"increments", 0, "PATH", AT(increments),
     "use the Brownian increments of PATH instead of noise: results.h5 of a run with keep_increments, or a text with a "
     "line of numbers for every step (docs/noise.md); paths, step and until follow from it where they are not given"},
    {"part", 0, "K/N", AT(part),
     "run part K of N of the ensemble only and write it to a file in the directory; `lgv merge` joins the parts"},
    LGV_CHECKPOINT_FLAGS,
    {"mlmc", 0, NULL, AT(mlmc),
     "multilevel Monte Carlo: the mean of one observable at the end, to a tolerance, with as few steps as possible"},
    {"keep-source", 0, "FILE", AT(keep_source), "write the generated C of the kernel to FILE"},
    {"json", 0, NULL, AT(json), "one JSON document on standard output and nothing else"},
    {"quiet", 'q', NULL, AT(quiet), "no summary and no progress"},
};

/* ---- files ---- */

static enum lgv_status make_directory(const char *dir, bool *made, struct lgv_error *err) {
    char *path = lgv_copy(dir);
    if (!path) return lgv_fail_memory(err);
    int bad = 0;
    for (char *s = path + 1; !bad; s++) {
        if (*s && *s != '/') continue;
        char end = *s;
        *s = '\0';
        if (mkdir(path, 0777) == 0)
            *made = end == '\0';
        else if (errno != EEXIST)
            bad = errno;
        *s = end;
        if (!end) break;
    }
    free(path);
    if (bad) return lgv_fail(err, LGV_CANNOT_RUN, "cannot make the directory %s: %s", dir, strerror(bad));
    return LGV_OK;
}

enum lgv_status lgv_directory_shared(const char *dir, bool *made, struct lgv_error *err) {
    struct stat info;
    *made = false;
    if (stat(dir, &info) != 0) {
        enum lgv_status status = make_directory(dir, made, err);
        if (status != LGV_OK) return status;
        if (*made) lgv_stop_removes(dir);
    } else if (!S_ISDIR(info.st_mode)) {
        return lgv_fail(err, LGV_CANNOT_RUN, "cannot write to %s: it is not a directory", dir);
    }
    if (access(dir, W_OK | X_OK) != 0)
        return lgv_fail(err, LGV_CANNOT_RUN, "cannot write to the directory %s: %s", dir, strerror(errno));
    return LGV_OK;
}

enum lgv_status lgv_directory(const char *dir, bool *made, struct lgv_error *err) {
    enum lgv_status status = lgv_directory_shared(dir, made, err);
    if (status != LGV_OK) return status;
    /* Held until the program ends; a file system that knows no locks does without. */
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(lock);
        return lgv_fail(err, LGV_CANNOT_RUN,
                        "another lgv is writing to the directory %s; wait for it, or choose another one with --out",
                        dir);
    }
    lgv_file_sweep(dir);
    return LGV_OK;
}

void lgv_forget_report(const char *dir) {
    char *file = lgv_join(dir, "report.html");
    if (file) unlink(file);
    free(file);
}

int lgv_pages(const struct lgv_result *r, const char *dir, int code) {
    struct lgv_error err = {0};
    lgv_stop_keeps(false);
    if (lgv_figures(r, dir, &err) != LGV_OK)
        lgv_warn("%s\nThe report has no figures; `lgv report %s/results.h5` draws them later.", err.message, dir);
    enum lgv_status status = lgv_report(r, dir, &err);
    return status == LGV_OK ? code : lgv_complain(&err, status);
}

/* Does everything the certificate claims hold? */
static bool claims_hold(const struct lgv_result *r) {
    bool hold = true;
    for (size_t i = 0; i < r->nverdicts; i++) hold = hold && r->verdict[i].holds != 0;
    return hold;
}

/* ---- the command ---- */

static int show(const struct lgv_arguments *a, const struct lgv_result *r, int code) {
    if (!a->flags.json) {
        if (!a->flags.quiet) lgv_summary(stdout, r, lgv_colour(stdout));
        return lgv_finish(code);
    }
    char *text = lgv_json_result(r);
    if (!text) {
        fputs("lgv: out of memory\n", stderr);
        return LGV_EXIT_CANNOT;
    }
    puts(text);
    free(text);
    return lgv_finish(code);
}

static int write_and_show(const struct lgv_arguments *a, const struct lgv_result *r, const char *dir, int code) {
    struct lgv_error err = {0};
    char *file = dir ? lgv_join(dir, "results.h5") : NULL;
    bool written = false;
    if (dir) lgv_forget_report(dir);
    if (dir) { /* the numbers first: whatever happens then, they are safe */
        enum lgv_status status = file ? lgv_hdf5_write(r, file, &err) : lgv_fail_memory(&err);
        written = status == LGV_OK;
        if (!written) code = lgv_complain(&err, status);
    }
    code = show(a, r, code);
    struct lgv_meter meter;
    lgv_meter_begin(&meter, written && !a->flags.no_report && !a->flags.quiet && !a->flags.json);
    lgv_meter_phase(&meter, "drawing the figures of the report");
    if (written && !a->flags.no_report) code = lgv_pages(r, dir, code);
    lgv_meter_end(&meter);
    if (written && !a->flags.json && !a->flags.quiet) {
        char plain[400];
        lgv_plain(plain, sizeof plain, dir);
        printf("\n  written to %s/: results.h5%s\n", plain, a->flags.no_report ? "" : ", figures, report.html");
        code = lgv_finish(code);
    }
    free(file);
    return code;
}

int lgv_run_show(const struct lgv_arguments *a, struct lgv_result *r, const char *dir, enum lgv_status status) {
    free(r->command);
    r->command = lgv_copy(a->line);
    lgv_stop_keeps(true);
    bool good = status == LGV_OK && claims_hold(r) && !lgv_stop_asked();
    if (status == LGV_OK && lgv_stop_asked()) fputs("lgv: interrupted; the certificate is not complete\n", stderr);
    return write_and_show(a, r, dir, good ? LGV_EXIT_DONE : LGV_EXIT_BROKEN);
}

/* Noises that do not commute: what that means, and what would be better. */
static void warn_order(struct lgv_model *m, const struct lgv_result *r) {
    struct lgv_structure s;
    const struct lgv_method *areas = lgv_model_structure(m, &s, NULL) ? NULL : lgv_method_with_areas(m, &s);
    lgv_warn("the noises do not commute: single paths converge with order %g only (averages with order %g)%s%s%s",
             r->certificate.strong_order, r->certificate.weak_order, areas ? "; " : "", areas ? areas->name : "",
             areas ? " has order 1" : "");
}

static int run_model(const struct lgv_arguments *a, struct lgv_model *m, const struct lgv_settings *s, const char *dir,
                     struct lgv_error *err) {
    struct lgv_result r = {0};
    struct lgv_engine *e = NULL;
    struct lgv_meter meter;
    struct lgv_saving saving;
    if (!lgv_saving_begin(&saving, a, dir, &meter)) return LGV_EXIT_INPUT;
    char *place = lgv_output_place(a, m, "");
    saving.place = place;
    saving.fresh = true;
    lgv_meter_begin(&meter, !a->flags.quiet && !a->flags.json);
    meter.warns = !a->flags.quiet;
    lgv_meter_phase(&meter, "looking at the model and compiling its kernel");
    enum lgv_status status = lgv_engine_with(m, s, lgv_silent() ? NULL : a->flags.keep_source, &e, err);
    if (!status) status = lgv_saving_run(&saving, e, err);
    bool complete = status == LGV_OK;
    if (complete || status == LGV_INTERRUPTED) status = lgv_engine_end(e, &r, err);
    lgv_meter_end(&meter);
    if (status == LGV_BAD_INPUT || status == LGV_CANNOT_RUN) {
        lgv_engine_free(e);
        free(place);
        if (!lgv_stop_asked()) {
            int code = lgv_complain(err, status);
            lgv_saving_end(&saving, false, code);
            return code;
        }
        fputs("lgv: interrupted before the run began\n", stderr);
        return LGV_EXIT_BROKEN;
    }
    if (!complete) lgv_saving_tell(&saving);
    if (!a->flags.quiet) lgv_warn_model(m);
    if (r.certificate.noise_commutes == 0 && r.certificate.strong_order < 1 && !a->flags.quiet) warn_order(m, &r);
    bool told = s->increments && isfinite(s->increments->step); /* then no other step was possible */
    if (!told && fabs(r.step - s->step) > 1e-9 * s->step && !a->flags.quiet)
        lgv_warn("the step is %.8g instead of %.8g: a whole number of steps has to end at %.8g", r.step, s->step,
                 s->until);
    if (!r.metropolis && isnan(r.certificate.strong_order) && !a->flags.quiet)
        lgv_warn("%s promises no order here: %s", r.method, r.certificate.order_reason);
    char moved[200];
    if (lgv_friction_line(&r.certificate, moved, sizeof moved) && !a->flags.quiet) lgv_warn("%s", moved);
    if (s->truncate > 0 && r.nnoise == 0 && m->bath.kind && !a->flags.quiet)
        lgv_warn("truncate is for noise Hamiltonians, of which there are none: the noise of a bath is never cut");
    if (lgv_start_line(&r.certificate, moved, sizeof moved) && !a->flags.quiet)
        lgv_warn("start values do not meet the constraints and were moved: %s", moved);
    int code = lgv_saving_paths(&saving, a, e, complete, lgv_run_show(a, &r, dir, status));
    lgv_saving_end(&saving, complete, code);
    lgv_engine_free(e);
    free(place);
    lgv_result_clear(&r);
    return code;
}

/* Do the flags go together?  False: a message was printed. */
static bool together(const struct lgv_flags *f, const struct lgv_settings *s) {
    const struct lgv_study_texts *t = &f->study;
    const char *why = NULL;
    if (!f->mlmc && (t->tolerance || t->observe || t->largest || t->levels))
        why = "--tolerance, --observe, --largest and --levels belong to --mlmc";
    else if (f->mlmc && f->increments)
        why = "--increments and --mlmc exclude each other: its levels draw as many paths as they need";
    else if (f->part && (f->mlmc || f->increments))
        why = "--part is for ensembles with noise by seed: not with --mlmc or --increments";
    else if (f->part && lgv_peers)
        why = "--part is for ensembles in parts; several processes at once need none";
    else if ((f->part || f->mlmc) && s->until_stderr[0])
        why = f->part ? "until_stderr asks for as many paths as it takes, and --part is for a number of them"
                      : "--mlmc has a --tolerance; until_stderr is for ensembles";
    else if ((f->part || f->mlmc) && (f->checkpoint || f->checkpoint_steps || f->keep_checkpoint || f->max_time))
        why = "--checkpoint, --checkpoint-steps, --keep-checkpoint and --max-time are for runs whose state is saved: "
              "not with --part or --mlmc";
    if (why) fprintf(stderr, "lgv: %s\n", why);
    return !why;
}

static int command_run(const struct lgv_arguments *a) {
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    struct lgv_settings settings;
    lgv_stop_on_signals();
    enum lgv_status status = lgv_arguments_model(a, &m, &settings, &err);
    if (status != LGV_OK) return lgv_complain(&err, status);
    int code;
    if (!together(&a->flags, &settings)) {
        lgv_model_free(m);
        return LGV_EXIT_INPUT;
    }
    if (a->flags.mlmc || a->flags.part) {
        code = a->flags.mlmc ? lgv_run_mlmc(a, m, &settings) : lgv_run_part(a, m, &settings);
        lgv_model_free(m);
        return code;
    }
    struct lgv_increments increments = {0};
    if (a->flags.increments) {
        status = lgv_increments_read(a->flags.increments, m->nnoise, &increments, &err);
        settings.increments = &increments;
    }
    char *dir = lgv_output_directory(a, m, "");
    bool made = false;
    if (dir && status == LGV_OK) status = lgv_directory(dir, &made, &err);
    code = status == LGV_OK ? run_model(a, m, &settings, dir, &err) : lgv_complain(&err, status);
    if (made) rmdir(dir); /* succeeds only when nothing was written */
    free(dir);
    lgv_increments_free(&increments);
    lgv_model_free(m);
    return code;
}

const struct lgv_command lgv_command_run = {
    .name = "run",
    .operand = "FILE",
    .summary = "run the ensemble of a model file; results, figures and a report",
    .about =
        "Runs the ensemble that a model file describes (- reads it from standard input), prints a summary with the "
        "certificate of what was kept, and writes results.h5, figures and report.html to a directory.\n\n"
        "With --mlmc the number of paths follows from --tolerance: pairs of paths with steps H/2^l and H/2^(l-1) on "
        "the same noise, levels and batches with seeds of their own derived from --seed, numbers of pairs by counted "
        "steps, so that the estimate does not depend on threads. Files (mlmc.json, figures, report.html) are written "
        "with --out. The exit code is 1 when the tolerance is not reached or paths failed.\n\n"
        "Ctrl-C stops cleanly: the results of the part that was done are written and marked interrupted (exit code "
        "1), with the state of the run, from which lgv resume goes on; a second Ctrl-C ends at once. SIGTERM and "
        "SIGHUP do the same. While it runs the state is saved every ten minutes (--checkpoint), so that a run that is "
        "killed loses no more than that.",
    .examples = "  lgv run kubo.yaml\n"
                "  lgv run kubo.yaml --step 0.01 --paths 100000 --set beta=0.2 --out kubo-fine\n"
                "  lgv run kubo.yaml --method verlet --json > kubo.json\n"
                "  lgv run kubo.yaml --part 3/100 --out kubo-parts\n"
                "  lgv run anharmonic.yaml --until 20 --mlmc --tolerance 0.002 --observe H --largest 0.5\n",
    .run_options = true,
    .study = &lgv_study_kinds[LGV_STUDY_MLMC],
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_run,
};
