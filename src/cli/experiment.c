/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading experiment.yaml and judging its claims.
 *
 *     title: ...      source: ...      about: ...
 *     runs:   [ { name: strong, command: converge kubo.yaml --kind strong, quick: --paths 256, full: --paths 2000 } ]
 *     claims: [ { claim: order of the midpoint rule, measure: "strong:methods[method=P1N1Q2Gau].order",
 *                 error: "strong:methods[method=P1N1Q2Gau].order_stderr", expect: 1, within: 0.05 } ]
 *
 * A claim holds when |measured - expect| <= within + 3 standard errors, or with below: / above: when the number is. */
#include "cli/experiment.h"

#include <ctype.h>
#include <errno.h>
#include <libfyaml.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static enum lgv_status check_run(const char *file, const struct lgv_experiment_run *r, struct lgv_error *err) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    static const char *const known[] = {"run", "compare", "converge", "check"};
    size_t n = strcspn(r->command, " \t\n"), k = 0;
    if (!*r->name || *r->name == '.' || r->name[strspn(r->name, letters)])
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

static enum lgv_status read_claim(const char *file, struct fy_node *n, struct lgv_claim *c, struct lgv_error *err) {
    if (fy_node_get_type(n) != FYNT_MAPPING) return lgv_fail(err, LGV_BAD_INPUT, "%s: a claim must be a mapping", file);
    *c = (struct lgv_claim){.text = scalar(n, "claim"),
                            .measure = scalar(n, "measure"),
                            .error = scalar(n, "error"),
                            .sigmas = 3,
                            .measured = NAN};
    if (number_of(n, "below", &c->expect))
        c->kind = LGV_CLAIM_BELOW;
    else if (number_of(n, "above", &c->expect))
        c->kind = LGV_CLAIM_ABOVE;
    else if (!number_of(n, "expect", &c->expect))
        c->expect = NAN;
    number_of(n, "within", &c->within);
    number_of(n, "sigmas", &c->sigmas);
    if (!c->text || !c->measure || !strchr(c->measure, ':') || !isfinite(c->expect) || !isfinite(c->within))
        return lgv_fail(err, LGV_BAD_INPUT,
                        "%s: claim '%s' needs measure: RUN:path and a number under expect:, below: or above:", file,
                        c->text ? c->text : "?");
    return LGV_OK;
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
        int nruns = fy_node_sequence_item_count(runs), nclaims = fy_node_sequence_item_count(claims);
        out->title = scalar(root, "title");
        out->source = scalar(root, "source");
        out->about = scalar(root, "about");
        out->run = lgv_new((size_t)nruns + 1, sizeof *out->run);
        out->claim = lgv_new((size_t)nclaims + 1, sizeof *out->claim);
        if (!out->run || !out->claim) status = lgv_fail_memory(err);
        for (int i = 0; !status && i < nruns; i++)
            status = read_run(file.data, fy_node_sequence_get_by_index(runs, i), &out->run[out->nruns++], err);
        for (int i = 0; !status && i < nclaims; i++)
            status = read_claim(file.data, fy_node_sequence_get_by_index(claims, i), &out->claim[out->nclaims++], err);
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
        free(e->claim[i].measure);
        free(e->claim[i].error);
    }
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

/* Does entry[key] equal text, as a word or as a number (to 1e-9)? */
static bool matches(const json_t *entry, const char *key, const char *text) {
    const json_t *v = json_object_get(entry, key);
    if (json_is_string(v)) return strcmp(json_string_value(v), text) == 0;
    double want = strtod(text, NULL), have = json_number_value(v);
    return json_is_number(v) && fabs(have - want) <= 1e-9 * fmax(1, fabs(want));
}

/* key=text,key=text,... */
static bool matches_all(const json_t *entry, const char *selector) {
    char key[64], text[128];
    int used;
    for (;; selector += used + 1) {
        if (sscanf(selector, "%63[^=]=%127[^],]%n", key, text, &used) != 2 || !matches(entry, key, text)) return false;
        if (selector[used] != ',') return true;
    }
}

static const json_t *select_entry(const json_t *list, const char *selector) {
    if (!json_is_array(list)) return NULL;
    if (isdigit((unsigned char)selector[0])) return json_array_get(list, strtoul(selector, NULL, 10));
    for (size_t i = 0; i < json_array_size(list); i++)
        if (matches_all(json_array_get(list, i), selector)) return json_array_get(list, i);
    return NULL;
}

/* The entry that the path begins with, and the length of its name.  Names of observables have dots and brackets of
 * their own, as in L.x and msd[2].y: the longest name is meant. */
static const json_t *named_entry(const json_t *object, const char *path, size_t *length) {
    const json_t *found = NULL;
    const char *key;
    json_t *value;
    *length = 0;
    json_object_foreach((json_t *)object, key, value) {
        size_t n = strlen(key);
        if (n <= *length || strncmp(path, key, n) != 0 || !strchr(".[", path[n])) continue;
        found = value;
        *length = n;
    }
    return found;
}

bool lgv_experiment_number(const json_t *document, const char *path, double *out) {
    const json_t *at = document;
    while (at && *path) {
        size_t n = strcspn(path, "]");
        if (path[0] == '[') {
            at = select_entry(at, path + 1);
            n += path[n] == ']';
        } else {
            at = named_entry(at, path, &n);
        }
        path += n;
        if (*path == '.') path++;
    }
    if (json_is_boolean(at))
        *out = json_is_true(at);
    else if (json_is_number(at))
        *out = json_number_value(at);
    else
        return false;
    return true;
}

static bool measured(const struct lgv_experiment *e, const char *where, double *out) {
    const char *colon = where ? strchr(where, ':') : NULL;
    for (size_t i = 0; colon && i < e->nruns; i++)
        if (strlen(e->run[i].name) == (size_t)(colon - where) &&
            strncmp(e->run[i].name, where, (size_t)(colon - where)) == 0)
            return e->run[i].result && lgv_experiment_number(e->run[i].result, colon + 1, out);
    return false;
}

void lgv_experiment_judge(struct lgv_experiment *e) {
    for (size_t i = 0; i < e->nclaims; i++) {
        struct lgv_claim *c = &e->claim[i];
        c->known = measured(e, c->measure, &c->measured) && (!c->error || measured(e, c->error, &c->uncertainty));
        double slack = c->within + c->sigmas * c->uncertainty;
        c->holds = c->known && (c->kind == LGV_CLAIM_BELOW   ? c->measured <= c->expect
                                : c->kind == LGV_CLAIM_ABOVE ? c->measured >= c->expect
                                                             : fabs(c->measured - c->expect) <= slack);
    }
}
