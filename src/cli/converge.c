/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv converge: orders of methods on a model, measured on shared Brownian paths; table or JSON, figure, report. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(field) offsetof(struct lgv_flags, field)
static const struct lgv_flag flags[] = {
    {"set", 0, "NAME=VALUE", LGV_FLAG_SET, "a parameter of the model, or a run option; may be given many times"},
    {"out", 'o', "DIR", AT(out),
     "directory of convergence.json, the figure and report.html (default lgv-NAME-converge, or none with --json)"},
    {"no-files", 0, NULL, AT(no_files), "write no files"},
    {"json", 0, NULL, AT(json), "one JSON document on standard output and nothing else"},
    {"quiet", 'q', NULL, AT(quiet), "no table and no progress"},
};

/* ---- options ---- */

static bool was_given(const struct lgv_arguments *a, const char *name) {
    for (size_t i = 0; i < a->ngiven; i++)
        if (strcmp(a->given[i].name, name) == 0) return true;
    return false;
}

/* ---- output ---- */

static void warn(struct lgv_model *m, const struct lgv_convergence *c) {
    char a[40], b[40];
    if (c->until < c->until_wanted || c->until > c->until_wanted)
        lgv_warn("until is %s instead of %s: it has to be a multiple of every step",
                 lgv_brief(a, sizeof a, c->until, 12), lgv_brief(b, sizeof b, c->until_wanted, 12));
    bool half = false;
    for (size_t k = 0; k < c->nmethods; k++) half = half || c->method[k].expected < 0.75;
    if (!c->weak && c->noise_commutes == 0 && half) {
        struct lgv_structure s;
        const struct lgv_method *areas = lgv_model_structure(m, &s, NULL) ? NULL : lgv_method_with_areas(m, &s);
        lgv_warn("the noises do not commute: strong order 1/2 is expected of methods that use increments alone%s%s%s",
                 areas ? "; " : "", areas ? areas->name : "", areas ? " has areas, too, and strong order 1" : "");
    }
    if (!c->reference_fine && isfinite(c->quantity[0].reference_error))
        lgv_warn("the error of the reference %s, about %.2g, is more than a tenth of some errors: those are not fitted",
                 c->reference ? c->reference->name : "", c->quantity[0].reference_error);
    if (c->target > 0 && c->random && !c->target_reached && !c->interrupted)
        lgv_warn("%llu paths are not enough for the target %g", (unsigned long long)c->paths, c->target);
}

static int write_files(const struct lgv_convergence *c, const char *dir, const char *json, bool *drawn, int code) {
    struct lgv_error err = {0};
    struct lgv_text path = {0};
    lgv_forget_report(dir);
    lgv_text_add(&path, "%s/convergence.json", dir);
    enum lgv_status status =
        path.failed ? lgv_fail_memory(&err) : lgv_file_replace(path.data, json, strlen(json), &err);
    lgv_text_free(&path);
    if (status) return lgv_complain(&err, status);
    lgv_stop_keeps(false);
    *drawn = lgv_convergence_figure(c, dir, &err) == LGV_OK;
    if (!*drawn) lgv_warn("%s\nThe report has no figure.", err.message);
    status = lgv_convergence_report(c, dir, &err);
    return status ? lgv_complain(&err, status) : code;
}

static int show(const struct lgv_arguments *a, const struct lgv_convergence *c, const char *dir, int code) {
    char *json = lgv_json_convergence(c), plain[400];
    if (!json) {
        fputs("lgv: out of memory\n", stderr);
        return LGV_EXIT_CANNOT;
    }
    if (a->flags.json)
        puts(json);
    else if (!a->flags.quiet)
        lgv_convergence_summary(stdout, c, lgv_colour(stdout));
    if (!a->flags.quiet) fflush(stdout);
    bool drawn = false;
    if (dir) code = write_files(c, dir, json, &drawn, code);
    if (dir && !a->flags.json && !a->flags.quiet && code != LGV_EXIT_CANNOT)
        printf("\n  written to %s/: convergence.json, %sreport.html\n", lgv_plain(plain, sizeof plain, dir),
               drawn ? "convergence.svg, convergence.png, " : "");
    free(json);
    return lgv_finish(code);
}

/* ---- the command ---- */

static int study(const struct lgv_arguments *a, struct lgv_model *m, const struct lgv_settings *s,
                 const struct lgv_convergence_options *o, const char *dir) {
    struct lgv_error err = {0};
    struct lgv_convergence c;
    struct lgv_meter meter;
    lgv_meter_begin(&meter, !a->flags.quiet && !a->flags.json);
    lgv_meter_phase(&meter, "looking at the model and compiling kernels");
    enum lgv_status status = lgv_converge(m, s, o, lgv_meter_progress, &meter, &c, &err);
    lgv_meter_end(&meter);
    if (status != LGV_OK && status != LGV_INTERRUPTED) {
        if (!lgv_stop_asked()) return lgv_complain(&err, status);
        fputs("lgv: interrupted before there was a result\n", stderr);
        return LGV_EXIT_BROKEN;
    }
    if (c.interrupted) fputs("lgv: interrupted; the results are of the paths that were done\n", stderr);
    c.command = lgv_copy(a->line);
    lgv_warn_events(m, "lgv converge");
    warn(m, &c);
    enum lgv_convergence_outcome outcome = lgv_convergence_judge(&c);
    bool short_of = o->target > 0 && c.random && !c.target_reached;
    int code = outcome == LGV_CONVERGENCE_BROKEN || c.interrupted || short_of ? LGV_EXIT_BROKEN
               : outcome == LGV_CONVERGENCE_UNKNOWN                           ? LGV_EXIT_UNKNOWN
                                                                              : LGV_EXIT_DONE;
    code = show(a, &c, dir, code);
    lgv_convergence_clear(&c);
    return code;
}

static int command_converge(const struct lgv_arguments *a) {
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    struct lgv_settings settings;
    struct lgv_convergence_options options;
    lgv_stop_on_signals();
    enum lgv_status status = lgv_arguments_model(a, &m, &settings, &err);
    if (status != LGV_OK) return lgv_complain(&err, status);
    char *dir = lgv_output_directory(a, m, "-converge");
    bool made = false;
    status = lgv_converge_read(&a->flags.study, was_given(a, "paths"), &settings, &options, &err);
    if (status == LGV_OK && dir) status = lgv_directory(dir, &made, &err);
    int code = status == LGV_OK ? study(a, m, &settings, &options, dir) : lgv_complain(&err, status);
    if (made) rmdir(dir); /* succeeds only when nothing was written */
    free(dir);
    lgv_model_free(m);
    return code;
}

const struct lgv_command lgv_command_converge = {
    .name = "converge",
    .operand = "FILE",
    .summary = "measure strong and weak orders of methods on a model",
    .about =
        "Measures the errors of one or several methods at several steps, all on the same Brownian paths (the "
        "increments of large steps are sums of those of the smallest one), and fits the order: error ~ step^order. "
        "Standard errors of the orders come from leaving out groups of paths, because all levels share their "
        "paths.\n\n"
        "The solution is the exact one of the model file, or a fine one of the same paths by another method, whose "
        "own error is measured too: its step is halved until that is a tenth of the smallest error of the methods.\n\n"
        "Not every level is fitted. Left out are errors below ten errors of the reference; errors at round-off; "
        "strong errors of which more than a tenth (of the mean square) comes from paths that are farther from the "
        "solution than half the spread of the states over paths and time, and so have lost it; weak errors below two "
        "standard errors. Standard errors of levels, too, come from leaving out groups of paths.\n\n"
        "Every method is judged against the order that its description promises for this model, by the fit over all "
        "levels and by the two smallest steps together; off is what is more than 4 standard errors and more than 0.15 "
        "away. As expected: the fit is not off, and the two smallest steps are not lower; or the two smallest steps "
        "alone are not off, where the law does not hold yet at the larger ones. Worse: both are lower. Higher is no "
        "failure (small noise, for example, shows at smaller steps only). There is no verdict when fewer than two "
        "levels are left, when a standard error is above 0.125 (orders differ by 1/2), when the fit and the smallest "
        "steps contradict each other, and when a lower order comes with levels that were lost or that the reference "
        "is too coarse for; the message then says why, and which --until would do.\n\n"
        "Exit code 1: a strong order is worse, paths failed, the study was interrupted or --target was not reached. "
        "Exit code 4: none of that, but there is an order without a verdict. Paths default to those of the file, at "
        "most " LGV_DIGITS(LGV_CONVERGE_PATHS) ".",
    .examples = "  lgv converge kubo.yaml --methods P1N1Q2Gau,P2N2Q2Lob --largest 0.02 --levels 6 --until 3.2\n"
                "  lgv converge synchrotron.yaml --methods VZc --steps 0.16,0.08,0.04 --until 3.2 --set beta=2\n"
                "  lgv converge kubo.yaml --observe positions,momenta --until 3.2\n"
                "  lgv converge anharmonic.yaml --kind weak --observe H --until 4 --target 0.1 --json\n",
    .run_options = true,
    .study = &lgv_study_kinds[LGV_STUDY_CONVERGE],
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_converge,
};
