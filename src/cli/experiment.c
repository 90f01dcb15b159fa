/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading experiment.yaml, judging its claims, drawing its figures.
 *
 *     title: ...      source: ...      about: ...
 *     runs:   [ { name: strong, command: converge kubo.yaml --kind strong, quick: --paths 256, full: --paths 2000 } ]
 *     claims: [ { claim: order of the midpoint rule, measure: "strong:methods[method=P1N1Q2Gau].order",
 *                 error: "strong:methods[method=P1N1Q2Gau].order_stderr", expect: 1, within: 0.05 } ]
 *     figures: [ { name: error, title: .., xlabel: t, ylabel: .., log: yes, x: "strong:time",
 *                  lines: [ { title: midpoint, y: "a:methods[0].observables.*.means", against: .., of: [x, y] } ] } ]
 *
 * A claim holds when |measured - expect| <= within + 3 standard errors, or with below: / above: when the number is.
 * What can be measured: measure.c. */
#include "cli/experiment.h"

#include <errno.h>
#include <libfyaml.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *scalar(struct fy_node *map, const char *key) {
    size_t size;
    const char *text = fy_node_mapping_lookup_scalar_by_simple_key(map, &size, key, strlen(key));
    return text ? lgv_copy_n(text, size) : NULL;
}

static bool number_of(struct fy_node *map, const char *key, double *out) {
    char *text = scalar(map, key), *end = text;
    if (!text) return false;
    *out = strtod(text, &end);
    bool ok = end != text && *end == 0;
    if (!ok) *out = NAN;
    free(text);
    return true;
}

static struct fy_node *sequence(struct fy_node *root, const char *key) {
    struct fy_node *n = fy_node_mapping_lookup_by_string(root, key, (size_t)-1);
    return n && fy_node_get_type(n) == FYNT_SEQUENCE ? n : NULL;
}

/* An experiment file may come from anybody, too: its runs write to folders of the output directory under their names,
 * and start nothing but this program.  The first word that would do more, or NULL. */
static const char *forbidden_word(const char *words) {
    static const char *const flag[] = {"--out", "-o", "--keep-source", "--keep_source", "--compiler", "compiler",
                                       "--set=compiler"};
    for (const char *w = words ? words : ""; *w; w += strcspn(w, " \t\n")) {
        w += strspn(w, " \t\n");
        for (size_t k = 0; k < sizeof flag / sizeof *flag; k++) {
            size_t n = strlen(flag[k]);
            if (strncmp(w, flag[k], n) == 0 && strchr("= \t\n", w[n])) return flag[k]; /* strchr also finds the end */
        }
    }
    return NULL;
}

static bool good_name(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    return *name && *name != '.' && !name[strspn(name, letters)];
}

static enum lgv_status check_run(const char *file, const struct lgv_experiment_run *r, struct lgv_error *err) {
    static const char *const known[] = {"run", "compare", "converge", "check"};
    size_t n = strcspn(r->command, " \t\n"), k = 0;
    if (!good_name(r->name))
        return lgv_fail(err, LGV_BAD_INPUT, "%s: the name of a run must be made of letters, digits, _, - and .", file);
    while (k < 4 && (strlen(known[k]) != n || strncmp(r->command, known[k], n) != 0)) k++;
    if (k == 4)
        return lgv_fail(err, LGV_BAD_INPUT, "%s: run %s must be one of run, compare, converge and check", file,
                        r->name);
    const char *const part[] = {r->command, r->quick, r->full};
    for (k = 0; k < 3; k++) {
        const char *word = forbidden_word(part[k]);
        if (word) return lgv_fail(err, LGV_BAD_INPUT, "%s: run %s must not use %s", file, r->name, word);
    }
    return LGV_OK;
}

static enum lgv_status read_run(const char *file, struct fy_node *n, struct lgv_experiment_run *r,
                                struct lgv_error *err) {
    if (fy_node_get_type(n) != FYNT_MAPPING) return lgv_fail(err, LGV_BAD_INPUT, "%s: a run must be a mapping", file);
    *r = (struct lgv_experiment_run){
        scalar(n, "name"), scalar(n, "command"), scalar(n, "quick"), scalar(n, "full"), NULL, 0};
    if (!r->name || !r->command) return lgv_fail(err, LGV_BAD_INPUT, "%s: a run needs name and command", file);
    return check_run(file, r, err);
}

/* The place under `key`, and for what is measured itself `against` and `of` beside it. */
static enum lgv_status read_measure(const char *file, struct fy_node *n, const char *key, bool whole,
                                    struct lgv_measure *m, struct lgv_error *err) {
    struct fy_node *of = whole ? sequence(n, "of") : NULL;
    size_t count = of ? (size_t)fy_node_sequence_item_count(of) : 0;
    *m = (struct lgv_measure){.path = scalar(n, key), .against = whole ? scalar(n, "against") : NULL};
    char *length = whole ? scalar(n, "length") : NULL;
    m->length = length && strcmp(length, "yes") == 0;
    free(length);
    if (count && !(m->of = lgv_new(count, sizeof *m->of))) return lgv_fail_memory(err);
    for (; m->nof < count; m->nof++) {
        size_t size;
        const char *text = fy_node_get_scalar(fy_node_sequence_get_by_index(of, (int)m->nof), &size);
        if (!text || !(m->of[m->nof] = lgv_copy_n(text, size)))
            return lgv_fail(err, LGV_BAD_INPUT, "%s: of: must be a list of names", file);
    }
    const char *const place[] = {m->path, m->against};
    for (int k = 0; k < 2; k++)
        if (place[k] && !strchr(place[k], ':'))
            return lgv_fail(err, LGV_BAD_INPUT, "%s: '%s' must be RUN:path", file, place[k]);
    return LGV_OK;
}

static void free_measure(struct lgv_measure *m) {
    for (size_t i = 0; i < m->nof; i++) free(m->of[i]);
    free(m->of);
    free(m->path);
    free(m->against);
}

static enum lgv_status read_claim(const char *file, struct fy_node *n, struct lgv_claim *c, struct lgv_error *err) {
    if (fy_node_get_type(n) != FYNT_MAPPING) return lgv_fail(err, LGV_BAD_INPUT, "%s: a claim must be a mapping", file);
    *c = (struct lgv_claim){.text = scalar(n, "claim"), .sigmas = 3, .measured = NAN};
    enum lgv_status status = read_measure(file, n, "measure", true, &c->measure, err);
    if (status == LGV_OK) status = read_measure(file, n, "error", false, &c->error, err);
    if (status == LGV_OK) status = read_measure(file, n, "at", false, &c->at, err);
    if (status != LGV_OK) return status;
    if (number_of(n, "below", &c->expect))
        c->kind = LGV_CLAIM_BELOW;
    else if (number_of(n, "above", &c->expect))
        c->kind = LGV_CLAIM_ABOVE;
    else if (!number_of(n, "expect", &c->expect))
        c->expect = NAN;
    number_of(n, "within", &c->within);
    number_of(n, "sigmas", &c->sigmas);
    if (!c->text || !c->measure.path || !isfinite(c->expect) || !isfinite(c->within))
        return lgv_fail(err, LGV_BAD_INPUT,
                        "%s: claim '%s' needs measure: RUN:path and a number under expect:, below: or above:", file,
                        c->text ? c->text : "?");
    return LGV_OK;
}

static enum lgv_status read_line(const char *file, struct fy_node *figure, struct fy_node *n,
                                 struct lgv_experiment_line *l, struct lgv_error *err) {
    if (fy_node_get_type(n) != FYNT_MAPPING) return lgv_fail(err, LGV_BAD_INPUT, "%s: a line must be a mapping", file);
    bool own = fy_node_mapping_lookup_by_string(n, "x", (size_t)-1) != NULL;
    *l = (struct lgv_experiment_line){.title = scalar(n, "title")};
    enum lgv_status status = read_measure(file, n, "y", true, &l->y, err);
    if (status == LGV_OK) status = read_measure(file, own ? n : figure, "x", false, &l->x, err);
    if (status == LGV_OK && (!l->title || !l->y.path || !l->x.path))
        status = lgv_fail(err, LGV_BAD_INPUT, "%s: a line needs title, y: RUN:path and x: here or in the figure",
                          file);
    return status;
}

static enum lgv_status read_figure(const char *file, struct fy_node *n, struct lgv_experiment_figure *f,
                                   struct lgv_error *err) {
    if (fy_node_get_type(n) != FYNT_MAPPING)
        return lgv_fail(err, LGV_BAD_INPUT, "%s: a figure must be a mapping", file);
    struct fy_node *lines = sequence(n, "lines");
    char *log = scalar(n, "log");
    *f = (struct lgv_experiment_figure){.name = scalar(n, "name"),
                                        .title = scalar(n, "title"),
                                        .xlabel = scalar(n, "xlabel"),
                                        .ylabel = scalar(n, "ylabel"),
                                        .log = log && strcmp(log, "yes") == 0};
    free(log);
    if (!f->name || !good_name(f->name) || !f->title || !lines)
        return lgv_fail(err, LGV_BAD_INPUT, "%s: a figure needs title, lines: [...] and a name of letters, digits, "
                        "_, - and .", file);
    size_t count = (size_t)fy_node_sequence_item_count(lines);
    f->line = lgv_new(count + 1, sizeof *f->line);
    enum lgv_status status = f->line ? LGV_OK : lgv_fail_memory(err);
    while (status == LGV_OK && f->nlines < count) {
        struct fy_node *line = fy_node_sequence_get_by_index(lines, (int)f->nlines);
        status = read_line(file, n, line, &f->line[f->nlines++], err);
    }
    return status;
}

static void free_figure(struct lgv_experiment_figure *f) {
    for (size_t i = 0; i < f->nlines; i++) {
        free_measure(&f->line[i].x);
        free_measure(&f->line[i].y);
        free(f->line[i].title);
    }
    free(f->line);
    free(f->name);
    free(f->title);
    free(f->xlabel);
    free(f->ylabel);
}

enum lgv_status lgv_experiment_read(const char *dir, const char *name, struct lgv_experiment *out,
                                    struct lgv_error *err) {
    struct lgv_text file = {0};
    *out = (struct lgv_experiment){.name = lgv_copy(name)};
    lgv_text_add(&file, "%s/%s", dir, name);
    out->dir = lgv_copy(file.data);
    lgv_text_add(&file, "/experiment.yaml");
    if (file.failed || !out->name || !out->dir) return lgv_fail_memory(err);
    size_t size;
    char *text = lgv_read_file(file.data, 1 << 20, &size, err);
    enum lgv_status status = text ? LGV_OK : LGV_BAD_INPUT;
    struct fy_parse_cfg quiet = {.flags = FYPCF_QUIET};
    struct fy_document *doc = text ? fy_document_build_from_string(&quiet, text, size) : NULL;
    struct fy_node *root = doc ? fy_document_root(doc) : NULL;
    struct fy_node *runs = root && fy_node_get_type(root) == FYNT_MAPPING ? sequence(root, "runs") : NULL;
    struct fy_node *claims = runs ? sequence(root, "claims") : NULL;
    if (text && !claims)
        status = lgv_fail(err, LGV_BAD_INPUT, "%s: expected title, runs: [...] and claims: [...]", file.data);
    if (claims) {
        struct fy_node *figures = sequence(root, "figures");
        int nruns = fy_node_sequence_item_count(runs), nclaims = fy_node_sequence_item_count(claims);
        int nfigures = figures ? fy_node_sequence_item_count(figures) : 0;
        out->title = scalar(root, "title");
        out->source = scalar(root, "source");
        out->about = scalar(root, "about");
        out->run = lgv_new((size_t)nruns + 1, sizeof *out->run);
        out->claim = lgv_new((size_t)nclaims + 1, sizeof *out->claim);
        out->figure = lgv_new((size_t)nfigures + 1, sizeof *out->figure);
        if (!out->run || !out->claim || !out->figure) status = lgv_fail_memory(err);
        for (int i = 0; !status && i < nruns; i++)
            status = read_run(file.data, fy_node_sequence_get_by_index(runs, i), &out->run[out->nruns++], err);
        for (int i = 0; !status && i < nclaims; i++)
            status = read_claim(file.data, fy_node_sequence_get_by_index(claims, i), &out->claim[out->nclaims++], err);
        for (int i = 0; !status && i < nfigures; i++)
            status = read_figure(file.data, fy_node_sequence_get_by_index(figures, i), &out->figure[out->nfigures++],
                                 err);
    }
    if (doc) fy_document_destroy(doc);
    free(text);
    lgv_text_free(&file);
    return status;
}

void lgv_experiment_free(struct lgv_experiment *e) {
    for (size_t i = 0; i < e->nruns; i++) {
        free(e->run[i].name);
        free(e->run[i].command);
        free(e->run[i].quick);
        free(e->run[i].full);
        json_decref(e->run[i].result);
    }
    for (size_t i = 0; i < e->nclaims; i++) {
        free(e->claim[i].text);
        free_measure(&e->claim[i].measure);
        free_measure(&e->claim[i].error);
        free_measure(&e->claim[i].at);
    }
    for (size_t i = 0; i < e->nfigures; i++) free_figure(&e->figure[i]);
    free(e->figure);
    free(e->run);
    free(e->claim);
    free(e->name);
    free(e->dir);
    free(e->title);
    free(e->source);
    free(e->about);
    *e = (struct lgv_experiment){0};
}

/* ---- claims ---- */

/* The largest entry of what is measured, or the entry of `at` that stands there. */
static bool measured(const struct lgv_experiment *e, const struct lgv_measure *m, const struct lgv_measure *at,
                     double *out) {
    struct lgv_list list, place = {0};
    size_t index = 0;
    bool known = lgv_experiment_measure(e, m, &list) && lgv_list_largest(&list, &index);
    if (known && at->path) known = lgv_experiment_measure(e, at, &place) && place.count == list.count;
    if (known) *out = at->path ? place.value[index] : list.value[index];
    lgv_list_free(&list);
    lgv_list_free(&place);
    return known;
}

void lgv_experiment_judge(struct lgv_experiment *e) {
    static const struct lgv_measure nowhere;
    for (size_t i = 0; i < e->nclaims; i++) {
        struct lgv_claim *c = &e->claim[i];
        c->known = measured(e, &c->measure, &c->at, &c->measured) &&
                   (!c->error.path || measured(e, &c->error, &nowhere, &c->uncertainty));
        double slack = c->within + c->sigmas * c->uncertainty;
        c->holds = c->known && (c->kind == LGV_CLAIM_BELOW   ? c->measured <= c->expect
                                : c->kind == LGV_CLAIM_ABOVE ? c->measured >= c->expect
                                                             : fabs(c->measured - c->expect) <= slack);
    }
}

/* ---- figures ---- */

/* An old figure must not pass for a new one. */
static void remove_figure(const char *dir, const char *name) {
    static const char *const ending[] = {"svg", "png", "pdf"};
    for (int k = 0; k < 3; k++) {
        struct lgv_text file = {0};
        lgv_text_add(&file, "%s/%s.%s", dir, name, ending[k]);
        if (!file.failed) unlink(file.data);
        lgv_text_free(&file);
    }
}

static enum lgv_status draw_figure(const struct lgv_experiment *e, struct lgv_experiment_figure *f, const char *dir,
                                   struct lgv_error *err) {
    struct lgv_list *list = lgv_new(2 * f->nlines + 1, sizeof *list);
    struct lgv_curve *curve = lgv_new(f->nlines + 1, sizeof *curve);
    enum lgv_status status = list && curve ? LGV_OK : lgv_fail_memory(err);
    remove_figure(dir, f->name);
    for (size_t i = 0; status == LGV_OK && i < f->nlines; i++) {
        const struct lgv_experiment_line *l = &f->line[i];
        struct lgv_list *x = &list[2 * i], *y = &list[2 * i + 1];
        if (!lgv_experiment_measure(e, &l->x, x) || !lgv_experiment_measure(e, &l->y, y) || x->count != y->count)
            status = lgv_fail(err, LGV_CANNOT_RUN,
                              "%s: line '%s' of figure %s: its lists are missing or have different lengths", e->name,
                              l->title, f->name);
        curve[i] = (struct lgv_curve){l->title, x->value, y->value, y->count};
    }
    struct lgv_curves all = {f->name, f->title, f->xlabel, f->ylabel, f->log, f->nlines, curve};
    if (status == LGV_OK) status = lgv_curves_draw(&all, dir, err);
    f->drawn = status == LGV_OK;
    for (size_t i = 0; list && i < 2 * f->nlines; i++) lgv_list_free(&list[i]);
    free(list);
    free(curve);
    return status;
}

enum lgv_status lgv_experiment_draw(struct lgv_experiment *e, const char *dir, struct lgv_error *err) {
    enum lgv_status status = LGV_OK;
    for (size_t i = 0; i < e->nfigures; i++) {
        enum lgv_status one = draw_figure(e, &e->figure[i], dir, status == LGV_OK ? err : NULL);
        if (status == LGV_OK) status = one;
    }
    return status;
}
