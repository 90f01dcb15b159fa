/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv reproduce: lists the experiments of the examples, runs one or all, and says which claims hold.
 *
 * Every run of an experiment is this program again with --json and an output directory; the claims are judged on the
 * documents it prints, so whatever an experiment shows a user can see with the same command. */
#include "cli/experiment.h"
#include "base/process.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct lgv_flag flags[] = {
    {"full", 0, NULL, offsetof(struct lgv_flags, full), "the full size of the experiments (default: a quick one)"},
    {"all", 0, NULL, offsetof(struct lgv_flags, all), "run every experiment"},
    {"out", 'o', "DIR", offsetof(struct lgv_flags, out), "where to write (default: lgv-reproduce)"},
    {"json", 0, NULL, offsetof(struct lgv_flags, json), "print one JSON document"},
    {"quiet", 'q', NULL, offsetof(struct lgv_flags, quiet), "no progress"},
};

/* ---- where the examples are ---- */

static bool own_path(char *out, size_t size) {
    ssize_t n = readlink("/proc/self/exe", out, size - 1);
    if (n <= 0) return false;
    out[n] = 0;
    return true;
}

/* $LGV_EXAMPLES, ./examples, beside the program's folder (a build tree), or where `make install` puts them. */
static bool find_examples(char *out, size_t size) {
    char self[1024] = "";
    const char *given = getenv("LGV_EXAMPLES");
    if (own_path(self, sizeof self) && strrchr(self, '/')) *strrchr(self, '/') = 0;
    for (int k = 0; k < 4; k++) {
        if (k == 0) snprintf(out, size, "%s", given ? given : "");
        if (k == 1) snprintf(out, size, "examples");
        if (k == 2) snprintf(out, size, "%s/../examples", self);
        if (k == 3) snprintf(out, size, "%s/../share/lgv/examples", self);
        char probe[1200];
        snprintf(probe, sizeof probe, "%s/kubo/kubo.yaml", out);
        if (out[0] && access(probe, R_OK) == 0) return true;
        if (k == 0 && given && *given) return false; /* what was asked for is not there */
    }
    return false;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of the folders with an experiment.yaml, sorted. */
static size_t list_names(const char *dir, char ***out) {
    size_t count = 0, capacity = 0;
    DIR *d = opendir(dir);
    *out = NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        char probe[1400];
        snprintf(probe, sizeof probe, "%s/%s/experiment.yaml", dir, e->d_name);
        if (e->d_name[0] == '.' || access(probe, R_OK) != 0) continue;
        if (!lgv_grow(out, &capacity, count + 1, sizeof **out)) break;
        (*out)[count] = lgv_copy(e->d_name);
        if ((*out)[count]) count++;
    }
    if (d) closedir(d);
    if (count) qsort(*out, count, sizeof **out, by_name);
    return count;
}

static void free_names(char **name, size_t count) {
    for (size_t i = 0; i < count; i++) free(name[i]);
    free(name);
}

/* ---- running ---- */

#define MAX_WORDS 128

/* Splits at blanks; the words point into copies kept in *store. */
static size_t add_words(const char *text, char **word, size_t count, char **store, size_t *nstore) {
    char *copy = text ? lgv_copy(text) : NULL, *save = NULL;
    if (!copy) return count;
    store[(*nstore)++] = copy;
    for (char *w = strtok_r(copy, " \t\n", &save); w && count + 4 < MAX_WORDS; w = strtok_r(NULL, " \t\n", &save))
        word[count++] = w;
    return count;
}

static void do_run(const struct lgv_experiment *e, struct lgv_experiment_run *r, const char *out, bool full) {
    char self[1024], *word[MAX_WORDS], *store[2];
    size_t nstore = 0, n = 1;
    struct lgv_text model = {0}, place = {0}, printed = {0};
    if (!own_path(self, sizeof self)) return;
    word[0] = self;
    n = add_words(r->command, word, n, store, &nstore);
    n = add_words(full ? r->full : r->quick, word, n, store, &nstore);
    if (n > 2) {
        lgv_text_add(&model, "%s/%s", e->dir, word[2]);
        word[2] = model.data;
    }
    lgv_text_add(&place, "%s/%s/%s", out, e->name, r->name);
    word[n++] = "--json";
    word[n++] = "--out";
    word[n++] = place.data;
    word[n] = NULL;
    struct lgv_process process = {.argv = word, .limit = 64u << 20, .printed = &printed};
    r->code = model.data && place.data ? lgv_process_run(&process) : LGV_EXIT_CANNOT;
    const char *begin = printed.data ? strchr(printed.data, '{') : NULL;
    if (begin) r->result = json_loads(begin, JSON_DISABLE_EOF_CHECK, NULL);
    bool ran = r->code == LGV_EXIT_DONE || r->code == LGV_EXIT_BROKEN || r->code == LGV_EXIT_UNKNOWN;
    if (!ran && r->result) { /* it did not run to its end: nothing it printed counts */
        json_decref(r->result);
        r->result = NULL;
    }
    if (r->code == LGV_EXIT_BROKEN) lgv_warn("%s/%s: the run ended with exit code 1", e->name, r->name);
    if (!r->result && printed.data) lgv_warn("%s/%s: %.600s", e->name, r->name, printed.data);
    lgv_text_free(&model);
    lgv_text_free(&place);
    lgv_text_free(&printed);
    while (nstore) free(store[--nstore]);
}

/* A figure that is missing is worth a warning, and no more. */
static void draw(struct lgv_experiment *e, const char *out) {
    struct lgv_text dir = {0};
    struct lgv_error err = {0};
    bool made;
    lgv_text_add(&dir, "%s/%s", out, e->name);
    if (!dir.failed && e->nfigures && lgv_directory(dir.data, &made, &err) == LGV_OK)
        lgv_experiment_draw(e, dir.data, &err);
    if (err.status != LGV_OK) lgv_warn("%s", err.message);
    lgv_text_free(&dir);
}

/* ---- telling ---- */

static const char *expectation(const struct lgv_claim *c, char *out, size_t size) {
    const char *sign = c->kind == LGV_CLAIM_BELOW ? "at most " : c->kind == LGV_CLAIM_ABOVE ? "at least " : "";
    if (c->within > 0)
        snprintf(out, size, "%s%g \xc2\xb1 %g", sign, c->expect, c->within);
    else
        snprintf(out, size, "%s%g", sign, c->expect);
    return out;
}

static const char *measurement(const struct lgv_claim *c, char *out, size_t size) {
    if (!c->known)
        snprintf(out, size, "not measured");
    else if (c->error.path)
        lgv_text_with_error(out, size, c->measured, c->uncertainty);
    else
        snprintf(out, size, "%.4g", c->measured);
    return out;
}

static void print_claims(const struct lgv_experiment *e) {
    char a[96], b[96];
    printf("%s  %s\n", e->name, e->title ? e->title : "");
    for (size_t i = 0; i < e->nclaims; i++) {
        const struct lgv_claim *c = &e->claim[i];
        printf("  %-5s %-62s expected %-18s measured %s\n", c->holds ? "holds" : "FAILS", c->text,
               expectation(c, a, sizeof a), measurement(c, b, sizeof b));
    }
}

static json_t *claims_json(const struct lgv_experiment *e) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < e->nclaims; i++) {
        const struct lgv_claim *c = &e->claim[i];
        json_t *error = c->known && c->error.path ? json_real(c->uncertainty) : json_null();
        json_array_append_new(list, json_pack("{s:s, s:s, s:f, s:o, s:o, s:b}", "claim", c->text, "kind",
                                              c->kind == LGV_CLAIM_BELOW   ? "below"
                                              : c->kind == LGV_CLAIM_ABOVE ? "above"
                                                                           : "equals",
                                              "expected", c->expect, "measured",
                                              c->known ? json_real(c->measured) : json_null(), "stderr", error,
                                              "holds", c->holds));
    }
    return json_pack("{s:s, s:s?, s:s?, s:o}", "name", e->name, "title", e->title, "source", e->source, "claims", list);
}

/* The figures of an experiment, and every SVG that its runs drew, at most `most` a run. */
static void put_pictures(struct lgv_text *page, const struct lgv_experiment *e, const char *out, size_t most) {
    char dir[1400];
    snprintf(dir, sizeof dir, "%s/%s", out, e->name);
    for (size_t i = 0; i < e->nfigures; i++)
        if (e->figure[i].drawn) lgv_page_figure(page, dir, e->figure[i].name, e->figure[i].title, "");
    for (size_t i = 0; i < e->nruns; i++) {
        snprintf(dir, sizeof dir, "%s/%s/%s", out, e->name, e->run[i].name);
        struct dirent **entry;
        int n = scandir(dir, &entry, NULL, alphasort);
        size_t shown = 0;
        for (int k = 0; k < n; k++) {
            size_t length = strlen(entry[k]->d_name);
            if (length > 4 && length < 80 && strcmp(entry[k]->d_name + length - 4, ".svg") == 0 && shown < most) {
                entry[k]->d_name[length - 4] = '\0';
                lgv_page_figure(page, dir, entry[k]->d_name, e->run[i].name, e->run[i].command);
                shown++;
            }
            free(entry[k]);
        }
        if (n >= 0) free(entry);
    }
}

static void put_experiment(struct lgv_text *page, const struct lgv_experiment *e, const char *out) {
    char a[96], b[96];
    lgv_text_add(page, "<h2>");
    lgv_html(page, e->title ? e->title : e->name);
    lgv_text_add(page, "</h2>\n<p class=\"sub\">");
    lgv_html(page, e->source ? e->source : "");
    lgv_text_add(page, "</p>\n<p>");
    lgv_html(page, e->about ? e->about : "");
    lgv_text_add(
        page,
        "</p>\n<div class=\"card\"><table>\n<tr><th></th><th>claim</th><th>expected</th><th>measured</th></tr>\n");
    for (size_t i = 0; i < e->nclaims; i++) {
        const struct lgv_claim *c = &e->claim[i];
        lgv_text_add(page, "<tr><td class=\"%s\">%s</td><td>", c->holds ? "holds" : "broken",
                     c->holds ? "\xe2\x9c\x93 holds" : "\xe2\x9c\x97 does not hold");
        lgv_html(page, c->text);
        lgv_text_add(page, "</td><td>%s</td><td>%s</td></tr>\n", expectation(c, a, sizeof a),
                     measurement(c, b, sizeof b));
    }
    lgv_text_add(page, "</table></div>\n<div class=\"figures\" style=\"margin-top:1em\">\n");
    put_pictures(page, e, out, 6);
    lgv_text_add(page, "</div>\n");
}

/* ---- the command ---- */

static int list_experiments(const struct lgv_arguments *a, const char *dir, char **name, size_t count) {
    json_t *list = a->flags.json ? json_array() : NULL;
    if (!a->flags.json) printf("experiments in %s (lgv reproduce NAME, or --all; --full for the full size):\n\n", dir);
    for (size_t i = 0; i < count; i++) {
        struct lgv_experiment e;
        struct lgv_error err = {0};
        if (lgv_experiment_read(dir, name[i], &e, &err) != LGV_OK)
            lgv_warn("%s", err.message);
        else if (list)
            json_array_append_new(list,
                                  json_pack("{s:s, s:s?, s:s?}", "name", e.name, "title", e.title, "source", e.source));
        else
            printf("  %-24s %s (%zu claims; %s)\n", e.name, e.title ? e.title : "", e.nclaims,
                   e.source ? e.source : "");
        lgv_experiment_free(&e);
    }
    return a->flags.json ? lgv_print_json(list, LGV_EXIT_DONE) : lgv_finish(LGV_EXIT_DONE);
}

static int reproduce(const struct lgv_arguments *a, const char *dir, char **name, size_t count) {
    const char *out = a->flags.out ? a->flags.out : "lgv-reproduce";
    struct lgv_error err = {0};
    struct lgv_text page = {0}, body = {0}, file = {0};
    json_t *list = json_array();
    size_t broken = 0, total = 0;
    bool made;
    enum lgv_status status = lgv_directory(out, &made, &err);
    for (size_t i = 0; status == LGV_OK && i < count; i++) {
        struct lgv_experiment e;
        status = lgv_experiment_read(dir, name[i], &e, &err);
        for (size_t k = 0; status == LGV_OK && k < e.nruns; k++) {
            if (!a->flags.quiet && !a->flags.json && isatty(2)) fprintf(stderr, "%s: %s ...\n", e.name, e.run[k].name);
            do_run(&e, &e.run[k], out, a->flags.full);
        }
        if (status == LGV_OK) {
            lgv_experiment_judge(&e);
            draw(&e, out);
            for (size_t k = 0; k < e.nclaims; k++, total++) broken += !e.claim[k].holds;
            if (!a->flags.json) print_claims(&e);
            json_array_append_new(list, claims_json(&e));
            put_experiment(&body, &e, out);
        }
        lgv_experiment_free(&e);
    }
    lgv_page_begin(&page, "Experiments reproduced by Lagrangevin");
    lgv_text_add(&page, "<h1>Experiments</h1>\n<p class=\"sub\">Lagrangevin %s, %s size</p>\n<p class=\"verdict%s\">",
                 LGV_VERSION, a->flags.full ? "full" : "quick", broken ? " bad" : "");
    lgv_text_add(&page, "%zu of %zu claims hold.</p>\n", total - broken, total);
    if (body.data) lgv_text_append(&page, body.data, body.size);
    lgv_page_end(&page);
    lgv_text_add(&file, "%s/report.html", out);
    if (status == LGV_OK && (page.failed || body.failed || file.failed)) status = lgv_fail_memory(&err);
    if (status == LGV_OK) status = lgv_file_replace(file.data, page.data, page.size, &err);
    if (status == LGV_OK && !a->flags.json)
        printf("\n%zu of %zu claims hold; report: %s\n", total - broken, total, file.data);
    lgv_text_free(&page);
    lgv_text_free(&body);
    lgv_text_free(&file);
    if (status != LGV_OK) {
        json_decref(list);
        return lgv_complain(&err, status);
    }
    int code = broken ? LGV_EXIT_BROKEN : LGV_EXIT_DONE;
    if (a->flags.json) return lgv_print_json(json_pack("{s:b, s:o}", "full", a->flags.full, "experiments", list), code);
    json_decref(list);
    return lgv_finish(code);
}

static int command_reproduce(const struct lgv_arguments *a) {
    lgv_stop_on_signals();
    char dir[1100], **name;
    if (!find_examples(dir, sizeof dir)) {
        struct lgv_error err = {0};
        return lgv_complain(
            &err, lgv_fail(&err, LGV_CANNOT_RUN, "the examples were not found; set LGV_EXAMPLES to their directory"));
    }
    size_t count = list_names(dir, &name);
    int code;
    if (a->flags.all) {
        code = reproduce(a, dir, name, count);
    } else if (!a->operand) {
        code = list_experiments(a, dir, name, count);
    } else {
        char *one = NULL;
        for (size_t i = 0; i < count; i++)
            if (strcmp(name[i], a->operand) == 0) one = name[i];
        if (one) {
            code = reproduce(a, dir, &one, 1);
        } else {
            const char *near = lgv_nearest(a->operand, (const char *const *)name, count);
            fprintf(stderr,
                    near ? "lgv: there is no experiment %s; did you mean %s?\n"
                         : "lgv: there is no experiment %s; `lgv reproduce` lists them\n",
                    a->operand, near);
            code = LGV_EXIT_INPUT;
        }
    }
    free_names(name, count);
    return code;
}

const struct lgv_command lgv_command_reproduce = {
    .name = "reproduce",
    .operand = "[NAME]",
    .summary = "list the experiments of the papers, or run one (or --all) and judge its claims",
    .about = "Without a name: the experiments in the examples directory. With a name, or --all: runs them and writes a "
             "report with every claim, what was expected, what was measured with its standard error, and whether it "
             "holds. Exit code 1 when a claim does not hold.",
    .examples = "  lgv reproduce\n  lgv reproduce kubo-long\n  lgv reproduce --all --full --out report\n",
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_reproduce,
};
