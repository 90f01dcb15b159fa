/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An ensemble in parts: lgv run --part K/N runs a range of the paths and writes what was collected to a file; lgv merge
 * joins such files to the result of the whole, with the same bits as one run. */
#include "cli/cli.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_PARTS 10000000

/* ---- lgv run --part ---- */

struct share {
    uint64_t part, parts, first, count; /* part 1 .. parts; paths first .. first + count - 1 */
};

static bool read_share(const char *text, struct share *s) {
    char *end;
    if (*text < '0' || *text > '9') return false;
    s->part = strtoull(text, &end, 10);
    if (*end++ != '/' || *end < '0' || *end > '9') return false;
    s->parts = strtoull(end, &end, 10);
    return !*end && s->part >= 1 && s->part <= s->parts && s->parts <= MOST_PARTS;
}

/* Whole units of 16 paths, as evenly as they go. */
static bool deal(uint64_t paths, struct share *s) {
    uint64_t units = (paths + LGV_UNIT - 1) / LGV_UNIT;
    if (units < s->parts) {
        fprintf(stderr, "lgv: %llu paths are %llu units of %d, which is not enough for %llu parts\n",
                (unsigned long long)paths, (unsigned long long)units, LGV_UNIT, (unsigned long long)s->parts);
        return false;
    }
    uint64_t each = units / s->parts, more = units % s->parts, before = s->part - 1;
    uint64_t first = before * each + (before < more ? before : more), end = first + each + (before < more);
    s->first = first * LGV_UNIT;
    s->count = (end * LGV_UNIT < paths ? end * LGV_UNIT : paths) - s->first;
    return true;
}

static char *part_file(const char *dir, const struct share *s) {
    char name[80], last[32];
    int digits = snprintf(last, sizeof last, "%llu", (unsigned long long)s->parts);
    snprintf(name, sizeof name, "part-%0*llu-of-%s.lgv", digits, (unsigned long long)s->part, last);
    return lgv_join(dir, name);
}

/* Is the file there already, of this very run? */
static bool have(struct lgv_engine *e, const char *file, const struct share *s) {
    struct lgv_error why = {0};
    uint64_t first, end;
    if (access(file, F_OK) != 0) return false;
    enum lgv_status status = lgv_engine_load(e, file, &why);
    bool others = status == LGV_OK && lgv_engine_missing(e, &first, &end) && first == 0 && end != s->first;
    lgv_engine_clear(e);
    if (status == LGV_OK && !others) return true;
    lgv_warn("%s is replaced: %s", file, status ? why.message : "it has other paths");
    return false;
}

static int tell(const struct lgv_arguments *a, const struct share *s, const char *file, bool done_before) {
    if (a->flags.json)
        return lgv_print_json(json_pack("{s:I, s:I, s:I, s:I, s:s, s:b}", "part", (json_int_t)s->part, "parts",
                                        (json_int_t)s->parts, "first_path", (json_int_t)s->first, "paths",
                                        (json_int_t)s->count, "file", file, "done_before", done_before),
                              LGV_EXIT_DONE);
    char plain[400];
    if (!a->flags.quiet)
        printf("part %llu of %llu, paths %llu to %llu: %s %s\n", (unsigned long long)s->part,
               (unsigned long long)s->parts, (unsigned long long)s->first,
               (unsigned long long)(s->first + s->count - 1), done_before ? "done before, in" : "written to",
               lgv_plain(plain, sizeof plain, file));
    return lgv_finish(LGV_EXIT_DONE);
}

static int run_part(const struct lgv_arguments *a, struct lgv_engine *e, const struct share *s, const char *file) {
    struct lgv_error err = {0};
    struct lgv_meter meter;
    lgv_meter_begin(&meter, !a->flags.quiet && !a->flags.json);
    meter.warns = !a->flags.quiet;
    lgv_meter_phase(&meter, "looking at the model and compiling its kernel");
    lgv_engine_on_progress(e, lgv_meter_progress, &meter);
    enum lgv_status status = lgv_engine_prepare(e, &err);
    bool done = !status && have(e, file, s);
    if (!status && !done) status = lgv_engine_run(e, s->first, s->count, &err);
    lgv_meter_end(&meter);
    if (status == LGV_INTERRUPTED || (status && lgv_stop_asked())) {
        fputs("lgv: interrupted; nothing was written\n", stderr);
        return LGV_EXIT_BROKEN;
    }
    if (!status && !done) status = lgv_engine_save(e, file, &err);
    return status ? lgv_complain(&err, status) : tell(a, s, file, done);
}

int lgv_run_part(const struct lgv_arguments *a, struct lgv_model *m, const struct lgv_settings *settings) {
    struct lgv_error err = {0};
    struct lgv_engine *e = NULL;
    struct share s = {0};
    char plain[80];
    bool made = false;
    if (!read_share(a->flags.part, &s)) {
        fprintf(stderr, "lgv run: --part wants K/N with 1 <= K <= N, such as 3/100, not %s\n",
                lgv_plain(plain, sizeof plain, a->flags.part));
        return LGV_EXIT_INPUT;
    }
    if (a->flags.no_files) {
        fputs("lgv run: --part writes a file; it excludes --no-files\n", stderr);
        return LGV_EXIT_INPUT;
    }
    if (!deal(settings->paths, &s)) return LGV_EXIT_INPUT;
    char *dir = lgv_output_directory(a, m, ""), *file;
    if (!dir) dir = lgv_copy("."); /* --json */
    file = dir ? part_file(dir, &s) : NULL;
    enum lgv_status status = file ? lgv_directory_shared(dir, &made, &err) : lgv_fail_memory(&err);
    if (!status) status = lgv_engine_with(m, settings, a->flags.keep_source, &e, &err);
    char *folder = dir ? lgv_recorded_in(dir) : NULL;
    if (!status) status = folder ? lgv_engine_record_in(e, folder, &err) : lgv_fail_memory(&err);
    free(folder);
    int code = status ? lgv_complain(&err, status) : run_part(a, e, &s, file);
    lgv_engine_free(e);
    if (made) rmdir(dir); /* succeeds only when nothing was written */
    free(file);
    free(dir);
    return code;
}

/* ---- lgv merge ---- */

#define AT(field) offsetof(struct lgv_flags, field)
static const struct lgv_flag flags[] = {
    {"out", 'o', "DIR", AT(out),
     "directory of results.h5, figures and report.html (default: that of the parts, where one is given, else lgv-NAME; "
     "none with --json)"},
    {"no-files", 0, NULL, AT(no_files), "write no files"},
    {"no-report", 0, NULL, AT(no_report), "write results.h5 only, without figures and report"},
    {"json", 0, NULL, AT(json), "one JSON document on standard output and nothing else"},
    {"quiet", 'q', NULL, AT(quiet), "no summary"},
};

struct list {
    char **name;
    size_t count, capacity;
};

static void list_free(struct list *l) {
    for (size_t i = 0; i < l->count; i++) free(l->name[i]);
    free(l->name);
}

static bool list_add(struct list *l, char *name) {
    if (name && lgv_grow(&l->name, &l->capacity, l->count + 1, sizeof *l->name)) {
        l->name[l->count++] = name;
        return true;
    }
    free(name);
    return false;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_part(const char *name) {
    size_t n = strlen(name);
    return strncmp(name, "part-", 5) == 0 && n > 9 && strcmp(name + n - 4, ".lgv") == 0;
}

/* The parts that the command line names: files, or folders with part-*.lgv in them. */
static enum lgv_status find_parts(const struct lgv_arguments *a, struct list *out, struct lgv_error *err) {
    for (size_t i = 0; i < a->noperands; i++) {
        DIR *folder = opendir(a->operands[i]);
        size_t before = out->count;
        if (!folder) {
            if (!list_add(out, lgv_copy(a->operands[i]))) return lgv_fail_memory(err);
            continue;
        }
        bool ok = true;
        for (struct dirent *entry; ok && (entry = readdir(folder));)
            if (is_part(entry->d_name)) ok = list_add(out, lgv_join(a->operands[i], entry->d_name));
        closedir(folder);
        if (!ok) return lgv_fail_memory(err);
        if (out->count == before)
            return lgv_fail(err, LGV_BAD_INPUT, "%s has no parts: files part-K-of-N.lgv, as lgv run --part writes them",
                            a->operands[i]);
        qsort(out->name + before, out->count - before, sizeof *out->name, by_name);
    }
    return LGV_OK;
}

static int merge_progress(void *meter, double fraction) {
    (void)fraction;
    return lgv_meter_progress(meter, 0) || lgv_stop_asked();
}

static enum lgv_status load_all(struct lgv_engine *e, const struct list *l, struct lgv_meter *meter,
                                struct lgv_error *err) {
    enum lgv_status status = LGV_OK;
    for (size_t i = 0; !status && i < l->count; i++) {
        status = lgv_engine_load(e, l->name[i], err);
        if (lgv_meter_progress(meter, (double)(i + 1) / (double)l->count))
            return lgv_fail(err, LGV_CANNOT_RUN, "interrupted");
    }
    return status;
}

/* The only directory that is given, or as with other commands. */
static char *output_directory(const struct lgv_arguments *a, const struct lgv_model *m) {
    struct stat info;
    bool folder = a->noperands == 1 && stat(a->operand, &info) == 0 && S_ISDIR(info.st_mode);
    if (folder && !a->flags.out && !a->flags.no_files && !a->flags.json) return lgv_copy(a->operand);
    return lgv_output_directory(a, m, "");
}

/* Single paths, from the directories of all parts. */
static int join_records(const struct lgv_arguments *a, struct lgv_engine *e, const struct list *parts, const char *dir,
                        bool complete, int code) {
    struct list folders = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < parts->count; i++) {
        char *slash = strrchr(parts->name[i], '/');
        char *of = slash ? lgv_copy_n(parts->name[i], (size_t)(slash - parts->name[i])) : lgv_copy(".");
        char *folder = of ? lgv_recorded_in(of) : NULL;
        bool known = folder && folders.count && strcmp(folders.name[folders.count - 1], folder) == 0;
        ok = folder != NULL;
        if (known)
            free(folder);
        else if (ok)
            ok = list_add(&folders, folder);
        free(of);
    }
    if (ok)
        code = lgv_recorded_join(a, e, (const char *const *)folders.name, folders.count, dir, complete, code);
    else
        fputs("lgv: out of memory\n", stderr), code = LGV_EXIT_CANNOT;
    list_free(&folders);
    return code;
}

static int show(const struct lgv_arguments *a, struct lgv_engine *e, struct lgv_model *m, const struct list *parts) {
    struct lgv_error err = {0};
    struct lgv_result *r = NULL;
    uint64_t first, end;
    enum lgv_status whole = lgv_engine_finish(e, &r, &err), status = LGV_OK;
    if (!r) return lgv_complain(&err, whole);
    if (lgv_engine_missing(e, &first, &end))
        lgv_warn("%s; paths %llu to %llu are the first that are missing", err.message, (unsigned long long)first,
                 (unsigned long long)(end - 1));
    bool made = false;
    char *dir = output_directory(a, m);
    if (dir) status = lgv_directory(dir, &made, &err);
    int code = status ? lgv_complain(&err, status) : lgv_run_show(a, r, dir, whole);
    if (dir && !status && code != LGV_EXIT_CANNOT && lgv_engine_records(e))
        code = join_records(a, e, parts, dir, whole != LGV_INTERRUPTED, code);
    if (made) rmdir(dir);
    free(dir);
    lgv_result_free(r);
    return code;
}

static int command_merge(const struct lgv_arguments *a) {
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    struct lgv_engine *e = NULL;
    struct list parts = {0};
    struct lgv_meter meter;
    lgv_stop_on_signals();
    enum lgv_status status = find_parts(a, &parts, &err);
    lgv_meter_begin(&meter, !a->flags.quiet && !a->flags.json);
    lgv_meter_phase(&meter, "reading the parts");
    if (!status) status = lgv_engine_open(parts.name[0], &m, &e, &err);
    if (!status) lgv_engine_on_progress(e, merge_progress, &meter);
    if (!status) status = load_all(e, &parts, &meter, &err);
    lgv_meter_end(&meter);
    int code = status ? lgv_complain(&err, status) : show(a, e, m, &parts);
    lgv_engine_free(e);
    lgv_model_free(m);
    list_free(&parts);
    return code;
}

const struct lgv_command lgv_command_merge = {
    .name = "merge",
    .operand = "PART ...",
    .summary = "join the parts that lgv run --part has written; results, figures and a report",
    .about = "Joins parts of an ensemble, given as files or as directories that hold them, to the result of the whole: "
             "summary, results.h5, figures and report.html as lgv run makes them, beside the parts, with the same "
             "bits as one run of all paths. The parts say themselves which model, parameters and options they belong "
             "to; parts of another run, and paths that stand in two parts, are refused. While parts are missing the "
             "result is that of the paths there are, it is marked as not complete, and the exit code is 1.",
    .examples = "  lgv run kubo.yaml --part 1/2 --out parts\n  lgv run kubo.yaml --part 2/2 --out parts\n"
                "  lgv merge parts\n",
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_merge,
};
