/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv compare: several methods on one model with the same noise; table or JSON, comparison.json, figures, report. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(field) offsetof(struct lgv_flags, field)
static const struct lgv_flag flags[] = {
    {"set", 0, "NAME=VALUE", LGV_FLAG_SET, "a parameter of the model, or a run option; may be given many times"},
    {"out", 'o', "DIR", AT(out),
     "directory of comparison.json, figures and report.html (default lgv-NAME-compare, or none with --json)"},
    {"no-files", 0, NULL, AT(no_files), "write no files"},
    {"no-report", 0, NULL, AT(no_report), "write comparison.json only, without figures and report"},
    {"json", 0, NULL, AT(json), "one JSON document on standard output and nothing else"},
    {"quiet", 'q', NULL, AT(quiet), "no table and no progress"},
};

/* ---- output ---- */

int lgv_study_show(const struct lgv_arguments *a, char *json, const char *dir, const char *name, int code) {
    struct lgv_error err = {0};
    struct lgv_text path = {0};
    if (!json) {
        fputs("lgv: out of memory\n", stderr);
        return LGV_EXIT_CANNOT;
    }
    if (a->flags.json) puts(json);
    code = lgv_finish(code);
    if (dir) {
        lgv_forget_report(dir);
        lgv_text_add(&path, "%s/%s.json", dir, name);
        enum lgv_status status =
            path.failed ? lgv_fail_memory(&err) : lgv_file_replace(path.data, json, strlen(json), &err);
        if (status) code = lgv_complain(&err, status);
    }
    lgv_text_free(&path);
    free(json);
    return code;
}

int lgv_study_written(const struct lgv_arguments *a, const char *dir, const char *name, enum lgv_status status,
                      bool drawn, const struct lgv_error *err, int code) {
    char plain[400];
    if (status) return lgv_complain(err, status);
    if (!drawn && err->message[0]) lgv_warn("%s\nThe report has no figures.", err->message);
    if (!a->flags.json && !a->flags.quiet)
        printf("\n  written to %s/: %s.json%s\n", lgv_plain(plain, sizeof plain, dir), name,
               a->flags.no_report ? ""
               : drawn            ? ", figures, report.html"
                                  : ", report.html");
    return lgv_finish(code);
}

static int compare_model(const struct lgv_arguments *a, struct lgv_model *m, const struct lgv_settings *s,
                         const struct lgv_compare_request *r, const char *dir) {
    struct lgv_error err = {0};
    struct lgv_comparison c = {0};
    struct lgv_meter meter;
    lgv_meter_begin(&meter, !a->flags.quiet && !a->flags.json);
    lgv_meter_phase(&meter, "looking at the model and compiling kernels");
    enum lgv_status status = lgv_compare(m, s, &r->options, lgv_meter_progress, &meter, &c, &err);
    lgv_meter_end(&meter);
    if (status == LGV_BAD_INPUT || status == LGV_CANNOT_RUN) {
        if (!lgv_stop_asked()) return lgv_complain(&err, status);
        fputs("lgv: interrupted before the run began\n", stderr);
        return LGV_EXIT_BROKEN;
    }
    free(c.command);
    c.command = lgv_copy(a->line);
    lgv_warn_events(m, "lgv compare");
    for (size_t i = 0; c.shorter < 1 && i < c.count; i++)
        lgv_warn("the step of %s is %.8g instead of %.8g: the steps have to meet at until = %.8g", c.method[i].name,
                 c.method[i].step, r->contender[i].step, s->until);
    if (status == LGV_INTERRUPTED) fputs("lgv: interrupted; only the runs that were finished are shown\n", stderr);
    if (!a->flags.json && !a->flags.quiet) lgv_comparison_summary(stdout, &c, lgv_colour(stdout));
    int code = lgv_study_show(a, lgv_comparison_json(&c), dir, "comparison", status ? LGV_EXIT_BROKEN : LGV_EXIT_DONE);
    if (dir && code <= LGV_EXIT_BROKEN) {
        bool drawn = true;
        lgv_stop_keeps(false);
        status = a->flags.no_report ? LGV_OK : lgv_comparison_report(&c, dir, &drawn, &err);
        code = lgv_study_written(a, dir, "comparison", status, drawn, &err, code);
    }
    lgv_comparison_clear(&c);
    return code;
}

static int command_compare(const struct lgv_arguments *a) {
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    struct lgv_settings s;
    struct lgv_compare_request r = {0};
    lgv_stop_on_signals();
    enum lgv_status status = lgv_arguments_model(a, &m, &s, &err);
    if (!status) status = lgv_compare_read(m, &a->flags.study, &s, &r, &err);
    char *dir = status ? NULL : lgv_output_directory(a, m, "-compare");
    bool made = false;
    if (dir) status = lgv_directory(dir, &made, &err);
    int code = status == LGV_OK ? compare_model(a, m, &s, &r, dir) : lgv_complain(&err, status);
    if (made) rmdir(dir); /* succeeds only when nothing was written */
    lgv_compare_request_free(&r);
    free(dir);
    lgv_model_free(m);
    return code;
}

const struct lgv_command lgv_command_compare = {
    .name = "compare",
    .operand = "FILE",
    .summary = "several methods on one model with the same noise",
    .about =
        "Runs several methods on the same Brownian paths and shows what each does to the energy and to observables: "
        "means along time, the bias at the end with its standard error, the largest change of the energy, failed "
        "paths, and what accuracy costs (strong and weak error against measured time and gradient evaluations for a "
        "ladder of steps).\n\n"
        "Means and biases use control variates: for an observable f the sum of {f, h}(X) dW along the path has mean "
        "zero for every method, so f minus a multiple of it has the same mean and less variance (not with "
        "constraints, and not in large systems). A bias is against --expect, else against a fine run on the same "
        "paths; the errors of the ladder are against a fine run on the same paths, the weak one is the difference of "
        "the means of the first observable. The steps of all methods must be multiples of one base step.\n\n"
        "With --weak yes every size of step has three-point increments of its own: only averages mean something, "
        "and there is no reference.\n\n"
        "With a range, --steps from:to:number, every method tries every step instead (noise of its own for each), and "
        "shown are the energy error and the share of surviving paths against the step, beside the largest step that "
        "the frequencies at the start allow. Paths that fail are what is looked for then: the exit code is 0.\n\n"
        "Failed paths are counted and shown, and the exit code is 1. Ctrl-C stops cleanly: runs that were finished "
        "are written.",
    .examples =
        "  lgv compare anharmonic.yaml --methods verlet,Taylor15 --steps 0.25,0.05 --expect 'H = H0 + beta^2*t/2'\n"
        "  lgv compare kubo.yaml --methods midpoint,verlet,P1N3Q4Lob --step 0.25 --until 1000\n"
        "  lgv compare double-pendulum-stiff.yaml --methods verlet,ZS,Newmark --steps 0.02:0.3:14 --until 50\n",
    .run_options = true,
    .study = &lgv_study_kinds[LGV_STUDY_COMPARE],
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_compare,
};
