/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv compare: several methods on one model with the same noise; table or JSON, comparison.json, figures, report. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 32 /* methods, observables, expected means */

#define AT(field) offsetof(struct lgv_flags, field)
static const struct lgv_flag flags[] = {
    {"methods", 0, "A,B,C", AT(methods), "methods to compare, separated by commas (default: the method of the file)"},
    {"steps", 0, "H1,H2,...", AT(steps), "one step for each method (default: --step for all)"},
    {"observe", 0, "NAME,...", AT(observe), "what to compare (default: H and the observables of the file)"},
    {"expect", 0, "NAME=FORMULA", AT(expect),
     "a mean that is known, as a formula in t, the parameters and NAME0, the mean at the start; several separated by "
     ";"},
    {"reference", 0, "METHOD|none", AT(reference),
     "method of a fine run on the same paths, for biases without --expect and for errors (default: chosen; strong "
     "errors are against the exact solution when the file has one); none: no such run, weak errors are against "
     "--expect"},
    {"reference-step", 0, "H", AT(reference_step), "its step (default: a quarter of the smallest)"},
    {"ladder", 0, "N", AT(ladder), "steps H, H/2, ... of each method for work and precision, 0 for none (default 4)"},
    {"ladder-paths", 0, "N", AT(ladder_paths),
     "paths for work and precision (default: as many as take some seconds, from 64 to 1000)"},
    {"set", 0, "NAME=VALUE", LGV_FLAG_SET, "a parameter of the model, or a run option; may be given many times"},
    {"out", 'o', "DIR", AT(out),
     "directory of comparison.json, figures and report.html (default lgv-NAME-compare, or none with --json)"},
    {"no-files", 0, NULL, AT(no_files), "write no files"},
    {"no-report", 0, NULL, AT(no_report), "write comparison.json only, without figures and report"},
    {"json", 0, NULL, AT(json), "one JSON document on standard output and nothing else"},
    {"quiet", 'q', NULL, AT(quiet), "no table and no progress"},
};

/* ---- options ---- */

struct request {
    struct lgv_contender contender[MOST];
    const char *observe[MOST];
    struct lgv_expected expect[MOST];
    struct lgv_compare_options options;
    char *memory[4]; /* lists cut into words */
};

/* Cuts a copy of the list at the separator; blanks around words are dropped.  Returns the number of words, MOST + 1
 * when there are too many or one is empty. */
static size_t cut(char *list, char separator, const char *word[MOST]) {
    size_t n = 0;
    for (char *s = list; s;) {
        char *next = strchr(s, separator);
        if (next) *next++ = '\0';
        s += strspn(s, " ");
        for (char *end = s + strlen(s); end > s && end[-1] == ' ';) *--end = '\0';
        if (!*s && !next && n) break; /* a separator at the end is fine */
        if (!*s || n == MOST) return MOST + 1;
        word[n++] = s;
        s = next;
    }
    return n;
}

static enum lgv_status read_list(const char *flag, const char *text, char separator, char **memory,
                                 const char *word[MOST], size_t *count, struct lgv_error *err) {
    *count = 0;
    if (!text) return LGV_OK;
    if (!(*memory = lgv_copy(text))) return lgv_fail_memory(err);
    *count = cut(*memory, separator, word);
    if (*count <= MOST) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT, "--%s: a list of at most %d words is wanted", flag, MOST);
}

static enum lgv_status read_real(const char *flag, const char *text, double *out, struct lgv_error *err) {
    const struct lgv_option row = {.name = flag, .type = LGV_REAL, .low = 1e-300, .high = 1e300};
    struct lgv_error why;
    if (!text || lgv_option_set(&row, 1, out, flag, text, &why) == LGV_OK) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT, "--%s", why.message);
}

static enum lgv_status read_count(const char *flag, const char *text, double high, uint64_t *out,
                                  struct lgv_error *err) {
    const struct lgv_option row = {.name = flag, .type = LGV_COUNT, .low = 0, .high = high};
    struct lgv_error why;
    if (!text || lgv_option_set(&row, 1, out, flag, text, &why) == LGV_OK) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT, "--%s", why.message);
}

static enum lgv_status read_contenders(struct lgv_model *m, const struct lgv_flags *f,
                                       const struct lgv_settings *s, struct request *r, struct lgv_error *err) {
    const char *name[MOST], *step[MOST];
    size_t n, steps;
    enum lgv_status status =
        read_list("methods", f->methods ? f->methods : s->method, ',', &r->memory[0], name, &n, err);
    if (!status) status = read_list("steps", f->steps, ',', &r->memory[1], step, &steps, err);
    if (!status && steps && steps != n && steps != 1)
        status = lgv_fail(err, LGV_BAD_INPUT, "--steps: %zu steps for %zu methods", steps, n);
    for (size_t i = 0; !status && i < n; i++) {
        r->contender[i].step = s->step;
        status = lgv_method_resolve(m, name[i], &r->contender[i].method, &r->options.chosen, err);
        if (!status && steps) status = read_real("steps", step[steps == 1 ? 0 : i], &r->contender[i].step, err);
    }
    r->options.contender = r->contender;
    r->options.count = n;
    return status;
}

static enum lgv_status read_expected(const struct lgv_flags *f, struct request *r, struct lgv_error *err) {
    const char *word[MOST];
    enum lgv_status status = read_list("expect", f->expect, ';', &r->memory[3], word, &r->options.nexpect, err);
    for (size_t i = 0; !status && i < r->options.nexpect; i++) {
        char *name = r->memory[3] + (word[i] - r->memory[3]), *equals = strchr(name, '=');
        if (!equals || equals == name || !equals[1])
            return lgv_fail(err, LGV_BAD_INPUT, "--expect wants NAME=FORMULA, not \"%s\"", name);
        *equals = '\0';
        while (equals > name && equals[-1] == ' ') *--equals = '\0';
        r->expect[i] = (struct lgv_expected){name, name + strlen(name) + 1};
        while (*r->expect[i].formula == '\0') r->expect[i].formula++; /* blanks before = became ends of text */
    }
    r->options.expect = r->expect;
    return status;
}

static enum lgv_status read_request(struct lgv_model *m, const struct lgv_flags *f, const struct lgv_settings *s,
                                    struct request *r, struct lgv_error *err) {
    r->options.ladder = 4;
    enum lgv_status status = read_contenders(m, f, s, r, err);
    if (!status) status = read_list("observe", f->observe, ',', &r->memory[2], r->observe, &r->options.nobserve, err);
    r->options.observe = r->observe;
    if (!status) status = read_expected(f, r, err);
    if (!status) status = read_real("reference-step", f->reference_step, &r->options.reference_step, err);
    if (!status) status = read_count("ladder", f->ladder, 16, &r->options.ladder, err);
    if (!status) status = read_count("ladder-paths", f->ladder_paths, 1e9, &r->options.ladder_paths, err);
    r->options.no_reference = f->reference && strcmp(f->reference, "none") == 0;
    bool complete = m->exact != NULL;
    for (size_t i = 0; complete && i < m->nx + m->np; i++) complete = m->exact[i] >= 0;
    if (!status && f->reference && strcmp(f->reference, "exact") == 0 && !complete)
        status = lgv_fail(err, LGV_BAD_INPUT, "--reference exact: the model %s declares no exact solution%s", m->name,
                          m->exact ? " of all coordinates and momenta" : "");
    if (!status && f->reference && !r->options.no_reference && strcmp(f->reference, "exact") != 0)
        status = lgv_method_resolve(m, f->reference, &r->options.reference, NULL, err);
    return status;
}

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
                         const struct request *r, const char *dir) {
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
    struct request r = {0};
    lgv_stop_on_signals();
    enum lgv_status status = lgv_arguments_model(a, &m, &s, &err);
    if (!status) status = read_request(m, &a->flags, &s, &r, &err);
    char *dir = status ? NULL : lgv_output_directory(a, m, "-compare");
    bool made = false;
    if (dir) status = lgv_directory(dir, &made, &err);
    int code = status == LGV_OK ? compare_model(a, m, &s, &r, dir) : lgv_complain(&err, status);
    if (made) rmdir(dir); /* succeeds only when nothing was written */
    for (size_t i = 0; i < 4; i++) free(r.memory[i]);
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
        "Failed paths are counted and shown, and the exit code is 1. Ctrl-C stops cleanly: runs that were finished "
        "are written.",
    .examples =
        "  lgv compare anharmonic.yaml --methods verlet,Taylor15 --steps 0.25,0.05 --expect 'H = H0 + beta^2*t/2'\n"
        "  lgv compare kubo.yaml --methods midpoint,verlet,P1N3Q4Lob --step 0.25 --until 1000\n",
    .run_options = true,
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_compare,
};
