/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv report: figures and report.html again, from results.h5 alone. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct lgv_flag flags[] = {
    {"out", 'o', "DIR", offsetof(struct lgv_flags, out), "where to write (default: the directory of the file)"},
    {"json", 0, NULL, offsetof(struct lgv_flags, json), "print the JSON document of the run"},
    {"quiet", 'q', NULL, offsetof(struct lgv_flags, quiet), "no summary"},
};

static char *directory_of(const char *file) {
    const char *slash = strrchr(file, '/');
    return !slash ? lgv_copy(".") : slash == file ? lgv_copy("/") : lgv_copy_n(file, (size_t)(slash - file));
}

char *lgv_results_of(const char *file) {
    struct stat info;
    if (stat(file, &info) != 0 || !S_ISDIR(info.st_mode)) return lgv_copy(file);
    struct lgv_text t = {0};
    lgv_text_add(&t, "%s/results.h5", file);
    if (t.failed) lgv_text_free(&t);
    if (t.data && access(t.data, F_OK) != 0 && lgv_saving_there(file))
        lgv_warn("there are no results yet, only the state of a run: `lgv resume %s` goes on with it, and with "
                 "--max-time 0 writes the results so far", file);
    return t.data;
}

static int write_pages(const struct lgv_arguments *a, const struct lgv_result *r, const char *dir) {
    struct lgv_error err = {0};
    bool made;
    enum lgv_status status = lgv_directory(dir, &made, &err);
    if (status != LGV_OK) return lgv_complain(&err, status);
    int code = LGV_EXIT_DONE;
    if (a->flags.json) {
        char *text = lgv_json_result(r);
        if (!text) return lgv_complain(&err, lgv_fail_memory(&err));
        puts(text);
        code = lgv_finish(code);
        free(text);
    } else if (!a->flags.quiet) {
        lgv_summary(stdout, r, lgv_colour(stdout));
    }
    code = lgv_pages(r, dir, code);
    char plain[400];
    if (!a->flags.json && !a->flags.quiet && code == LGV_EXIT_DONE)
        printf("\n  written to %s/: figures, report.html\n", lgv_plain(plain, sizeof plain, dir));
    return lgv_finish(code);
}

static int command_report(const struct lgv_arguments *a) {
    struct lgv_error err = {0};
    struct lgv_result r = {0};
    char *file = lgv_results_of(a->operand);
    char *dir = !file ? NULL : a->flags.out ? lgv_copy(a->flags.out) : directory_of(file);
    enum lgv_status status = dir ? lgv_hdf5_read(file, &r, &err) : lgv_fail_memory(&err);
    if (status == LGV_OK && r.unsealed)
        lgv_warn("%s has no seal: another program has changed it since lgv wrote it", file);
    int code = status == LGV_OK ? write_pages(a, &r, dir) : lgv_complain(&err, status);
    lgv_result_clear(&r);
    free(file);
    free(dir);
    return code;
}

const struct lgv_command lgv_command_report = {
    .name = "report",
    .operand = "FILE",
    .summary = "figures and report again from results.h5 (or its directory)",
    .about = "Draws the figures and writes report.html again from the results of a run: a file results.h5 or the "
             "directory it is in. Nothing is computed again. Needs gnuplot for the figures.",
    .examples = "  lgv report lgv-kubo/results.h5\n  lgv report lgv-kubo --out pages\n",
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_report,
};
