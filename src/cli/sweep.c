/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv sweep: one ensemble for every point of a grid of parameters or options.  The kernel is compiled once, unless a
 * value is part of it.  Every point is a file, DIR/points/point-K.h5, a result like that of lgv run; points that are
 * there already, of the same model and options, are not run again, so that a sweep that was interrupted goes on where
 * it was, and several machines can share one (--part).  When all are there they are put together: sweep.h5, sweep.json,
 * figures, report.html. */
#include "cli/cli.h"

#include <stdlib.h>
#include <unistd.h>

#define AT(field) offsetof(struct lgv_flags, field)
static const struct lgv_flag flags[] = {
    {"part", 0, "K/N", AT(part),
     "run every N-th point only, from the K-th on; without --part all points are put together"},
    {"set", 0, "NAME=VALUE", LGV_FLAG_SET, "a parameter of the model, or a run option; may be given many times"},
    {"out", 'o', "DIR", AT(out),
     "directory of sweep.h5, sweep.json, figures, report.html and the points (default lgv-NAME-sweep, or none with "
     "--json)"},
    {"no-files", 0, NULL, AT(no_files), "write no files"},
    {"no-report", 0, NULL, AT(no_report), "no figures and no report"},
    {"json", 0, NULL, AT(json), "one JSON document on standard output and nothing else"},
    {"quiet", 'q', NULL, AT(quiet), "no table and no progress"},
};

struct sweep {
    const struct lgv_arguments *a;
    struct lgv_sweeping core;
    struct lgv_meter meter;
};

static int write_all(struct sweep *w, const char *dir, int code) {
    struct lgv_error err = {0};
    const struct lgv_arguments *a = w->a;
    const struct lgv_sweep *s = &w->core.out;
    bool drawn = true;
    if (lgv_sweep_label(&w->core, &err)) return lgv_complain(&err, LGV_CANNOT_RUN);
    if (!a->flags.json && !a->flags.quiet) lgv_sweep_summary(stdout, s, lgv_colour(stdout));
    char *file = dir ? lgv_join(dir, "sweep.h5") : NULL;
    enum lgv_status status = file ? lgv_sweep_hdf5(s, file, &err) : LGV_OK;
    free(file);
    if (status) return lgv_complain(&err, status);
    code = lgv_study_show(a, lgv_sweep_json(s), dir, "sweep", code);
    if (!dir || code > LGV_EXIT_BROKEN) return code;
    lgv_stop_keeps(false);
    if (!a->flags.no_report) status = lgv_sweep_report(s, dir, &drawn, &err);
    return lgv_study_written(a, dir, "sweep", status, drawn, &err, code);
}

static int sweep(struct sweep *w, const char *dir) {
    struct lgv_error err = {0};
    struct lgv_sweeping *c = &w->core;
    lgv_meter_begin(&w->meter, !w->a->flags.quiet && !w->a->flags.json);
    lgv_meter_phase(&w->meter, "looking at the model and compiling its kernel");
    enum lgv_status status = lgv_sweep_run(c, &err);
    lgv_meter_end(&w->meter);
    if (status == LGV_BAD_INPUT || status == LGV_CANNOT_RUN) {
        char where[200];
        if (!lgv_stop_asked() && !c->out.together)
            lgv_warn("at %s:", lgv_sweep_point(&c->out, c->point, where, sizeof where));
        return lgv_complain(&err, status);
    }
    if (status)
        fprintf(stderr, "lgv: interrupted; %zu of %zu points are done%s\n", c->out.ndone, c->out.npoints,
                c->out.together ? ", which are one run" : c->points ? ", the same command goes on" : "");
    if (c->found && !w->a->flags.quiet && !w->a->flags.json) printf("%zu points were done before\n", c->found);
    if (!c->out.done) return status ? LGV_EXIT_BROKEN : LGV_EXIT_DONE; /* a part without points */
    if (c->parts > 1 && c->out.ndone < c->out.npoints) {
        if (!w->a->flags.quiet && !w->a->flags.json) printf("%zu points of this part are done\n", c->out.ndone);
        return lgv_finish(status ? LGV_EXIT_BROKEN : LGV_EXIT_DONE);
    }
    return write_all(w, dir, status || !lgv_sweep_well(&c->out) ? LGV_EXIT_BROKEN : LGV_EXIT_DONE);
}

static bool read_part(struct lgv_sweeping *w, const char *text) {
    char *end, plain[80];
    w->parts = 1;
    if (!text) return true;
    w->part = strtoull(text, &end, 10);
    w->parts = *end == '/' ? strtoull(end + 1, &end, 10) : 0;
    if (*text >= '0' && *text <= '9' && !*end && w->part >= 1 && w->part <= w->parts) return w->part--, true;
    fprintf(stderr, "lgv sweep: --part wants K/N with 1 <= K <= N, such as 3/100, not %s\n",
            lgv_plain(plain, sizeof plain, text));
    return false;
}

static enum lgv_status begin_files(struct lgv_sweeping *w, const char *dir, char **points, bool *made,
                                   struct lgv_error *err) {
    bool inner;
    if (!dir) return LGV_OK;
    enum lgv_status status = w->parts > 1 ? lgv_directory_shared(dir, made, err) : lgv_directory(dir, made, err);
    if (w->out.together) return status; /* points have no files */
    if (!status && !(w->points = *points = lgv_join(dir, "points"))) status = lgv_fail_memory(err);
    return status ? status : lgv_directory_shared(w->points, &inner, err);
}

static int command_sweep(const struct lgv_arguments *a) {
    struct lgv_error err = {0};
    struct sweep w = {.a = a};
    struct lgv_sweeping *c = &w.core;
    bool made = false;
    char *points = NULL;
    *c = (struct lgv_sweeping){
        .command = a->line, .progress = lgv_meter_progress, .user = &w.meter, .stop_asked = lgv_stop_asked};
    lgv_stop_on_signals();
    enum lgv_status status = lgv_sweep_read(&a->flags.study, &c->out, &err);
    if (status) return lgv_complain(&err, status);
    if (!read_part(c, a->flags.part)) {
        lgv_sweep_clear(&c->out);
        return LGV_EXIT_INPUT;
    }
    status = lgv_arguments_model(a, &c->model, &c->settings, &err);
    char *dir = status ? NULL : lgv_output_directory(a, c->model, "-sweep");
    if (!status) status = begin_files(c, dir, &points, &made, &err);
    int code = status ? lgv_complain(&err, status) : sweep(&w, dir);
    if (points) rmdir(points); /* succeeds only when nothing was written */
    if (made) rmdir(dir);
    lgv_model_free(c->model);
    lgv_sweep_clear(&c->out);
    free(points);
    free(dir);
    return code;
}

const struct lgv_command lgv_command_sweep = {
    .name = "sweep",
    .operand = "FILE",
    .summary = "one ensemble for every point of a grid of parameters",
    .about =
        "Runs the ensemble of a model file for every point of a grid of parameters or run options, and writes arrays "
        "over the grid (sweep.h5, sweep.json), maps, families of curves, values of sample paths over a parameter, and "
        "a report. The kernel is compiled once, unless a value is part of it. All points have the same noise unless "
        "--independent is given.\n\n"
        "Every point is kept in DIR/points as a result of its own. A sweep that was interrupted goes on when the same "
        "command is given again. With --part several machines share one: each runs its points, and the command "
        "without --part puts them together.\n\n"
        "Where points have few paths, --together makes all of them one run, with different values side by side in one "
        "kernel: the numbers are the same up to round-off, and there are no files of points.",
    .examples = "  lgv sweep kubo.yaml --over beta=0:1:11\n"
                "  lgv sweep kubo.yaml --over beta=0:1:11 --over step=0.1,0.05 --paths 1000 --until 10\n"
                "  lgv sweep kubo.yaml --over beta=0:1:501 --paths 1 --together\n"
                "  lgv sweep kubo.yaml --over method=midpoint,verlet --over beta=0.1,0.2 --json\n",
    .run_options = true,
    .study = &lgv_study_kinds[LGV_STUDY_SWEEP],
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_sweep,
};
