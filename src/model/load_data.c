/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that a model names: tables, arrays of parameters, start values.
 *
 *     data:
 *       spring.csv: |
 *         0, 1
 *         ...
 *
 * A file is looked for in the section `data`, and without such a section in the folder of the model file.  What was
 * read from there becomes that section of the text that the model keeps: whatever carries the text of a model (parts,
 * results, reports, a parameter that makes it be read again) has the numbers too, and what was run is known for good.
 *
 * Model files are untrusted: a name leads to no other folder than the model's own and those inside it. */
#include "model/load.h"
#include <stdlib.h>
#include <string.h>

#define LARGEST_DATA 4000000 /* bytes of a file */
#define MOST_FILES 100

static bool plain_name(struct lgv_loader *l, int node, const char *name) {
    if (!*name || strlen(name) > 200 || strpbrk(name, "\"'\\:#{}[]|>"))
        return lgv_yaml_fail(l, node, "'%.60s' is not the name of a file of numbers", name);
    if (name[0] == '/' || name[0] == '~' || strcmp(name, "..") == 0 || strncmp(name, "../", 3) == 0 ||
        strstr(name, "/../"))
        return lgv_yaml_fail(l, node, "%.60s: files of a model are in its folder, or in folders inside it", name);
    return true;
}

/* In place: line ends as in the rest of the text. */
static void without_returns(char *text) {
    char *to = text;
    for (const char *s = text; *s; s++)
        if (*s != '\r') *to++ = *s;
    *to = 0;
}

static char *from_disk(struct lgv_loader *l, int node, const char *name) {
    struct lgv_error why = {0};
    struct lgv_text path = {0};
    const char *slash = strrchr(l->file, '/');
    size_t size = 0;
    if (slash) lgv_text_append(&path, l->file, (size_t)(slash - l->file) + 1);
    lgv_text_add(&path, "%s", name);
    char *text = path.failed ? NULL : lgv_read_file(path.data, LARGEST_DATA, &size, &why);
    if (path.failed) lgv_yaml_memory(l);
    else if (!text) lgv_yaml_fail(l, node, "%s", why.message);
    lgv_text_free(&path);
    if (!text) return NULL;
    without_returns(text);
    int line = 1;
    const char *s = text;
    for (size_t n; *s && (strchr("\t\n", *s) || lgv_char_size(s)); s += n) {
        n = strchr("\t\n", *s) ? 1 : lgv_char_size(s);
        line += *s == '\n';
    }
    if (!*s && strlen(text) <= size && !memchr(text, 0, strlen(text))) return text;
    lgv_yaml_fail(l, node, "%s:%d: this is not a text in UTF-8", name, line);
    free(text);
    return NULL;
}

const char *lgv_load_file(struct lgv_loader *l, int node, const char *name) {
    if (!plain_name(l, node, name)) return NULL;
    if (l->data >= 0) {
        LGV_EACH(l, l->data, key, value) {
            if (strcmp(lgv_yaml_node(l, key)->text, name) == 0) return lgv_yaml_text(l, value, "the lines of a file");
        }
        lgv_yaml_fail(l, node, "%s is not in the section data, which has the files of this model", name);
        return NULL;
    }
    for (size_t k = 0; k < l->nfiles; k++)
        if (strcmp(l->files[k].name, name) == 0) return l->files[k].text;
    if (l->nfiles == MOST_FILES) {
        lgv_yaml_fail(l, node, "more than %d files", MOST_FILES);
        return NULL;
    }
    struct lgv_file f = {.text = from_disk(l, node, name)};
    if (!f.text) return NULL;
    f.name = lgv_copy(name);
    if (!f.name || !lgv_grow(&l->files, &l->files_capacity, l->nfiles + 1, sizeof *l->files)) {
        free(f.name);
        free(f.text);
        lgv_yaml_memory(l);
        return NULL;
    }
    l->files[l->nfiles++] = f;
    return f.text;
}

bool lgv_load_data(struct lgv_loader *l, int node) {
    l->data = node;
    return node < 0 || lgv_yaml_mapping(l, node, "files as name: lines");
}

/* A section at the end of the text, as far to the right as the others. */
bool lgv_load_keep_data(struct lgv_loader *l) {
    if (!l->nfiles) return true;
    struct lgv_text t = {0};
    int line, column;
    if (l->text[strspn(l->text, " \t\r\n")] == '{')
        return lgv_yaml_fail(l, 0, "a model in { } gives its files in a section data, as name: lines");
    lgv_yaml_place(l, lgv_yaml_node(l, 0)->first, &line, &column);
    lgv_text_add(&t, "%s%s%*sdata:\n", l->text, l->text[strlen(l->text) - 1] == '\n' ? "" : "\n", column - 1, "");
    for (size_t k = 0; k < l->nfiles; k++) {
        lgv_text_add(&t, "%*s\"%s\": |2\n", column + 1, "", l->files[k].name);
        for (const char *s = l->files[k].text; *s;) {
            size_t n = strcspn(s, "\n");
            if (n) lgv_text_add(&t, "%*s", column + 3, "");
            lgv_text_append(&t, s, n);
            lgv_text_add(&t, "\n");
            s += n + (s[n] == '\n');
        }
    }
    if (t.failed) return lgv_yaml_memory(l);
    free(l->m->text);
    l->m->text = t.data;
    return strlen(t.data) <= LGV_MAX_TEXT ||
           lgv_yaml_fail(l, 0, "the model and its files have more than %d bytes", LGV_MAX_TEXT);
}

void lgv_load_files_free(struct lgv_loader *l) {
    for (size_t k = 0; k < l->nfiles; k++) free(l->files[k].name), free(l->files[k].text);
    free(l->files);
}

/* ---- WORD(FILE, a, b, ...) ---- */

bool lgv_load_is_call(const struct lgv_loader *l, int node, const char *word) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    size_t size = strlen(word);
    return n->kind == LGV_YAML_SCALAR && strncmp(n->text, word, size) == 0 && n->text[size] == '(';
}

bool lgv_load_call(struct lgv_loader *l, int node, struct lgv_file_call *out) {
    const char *text = lgv_yaml_node(l, node)->text, *s = strchr(text, '(') + 1, *end = strchr(s, ')');
    *out = (struct lgv_file_call){0};
    if (!end || end[1 + strspn(end + 1, " \t\r\n")])
        return lgv_yaml_fail(l, node, "expected %.*s(FILE) or %.*s(FILE, ...) and nothing else", (int)(s - text - 1),
                             text, (int)(s - text - 1), text);
    for (; s < end; out->count++) {
        if (out->count == LGV_MAX_FILE_WORDS) return lgv_yaml_fail(l, node, "too many words in %.60s", text);
        s += strspn(s, " \t\r\n");
        size_t n = strcspn(s, ",)"), used = n;
        while (used && strchr(" \t\r\n", s[used - 1])) used--;
        if (used >= sizeof out->word[0]) return lgv_yaml_fail(l, node, "%.60s: too long", s);
        memcpy(out->word[out->count], s, used);
        s += n + 1;
    }
    const char *lines = lgv_load_file(l, node, out->word[0]);
    char why[300];
    if (!lines) return false;
    if (lgv_csv_read(lines, &out->csv, why, sizeof why)) return true;
    return lgv_yaml_fail(l, node, "%s:%s", out->word[0], why);
}

bool lgv_load_column_at(struct lgv_loader *l, int node, const struct lgv_file_call *c, long column) {
    const char *odd = c->csv.odd ? c->csv.odd[column] : NULL;
    return !odd || lgv_yaml_fail(l, node, "%s:%s", c->word[0], odd);
}

bool lgv_load_column(struct lgv_loader *l, int node, const struct lgv_file_call *c, const char *name, long *out) {
    *out = lgv_csv_column(&c->csv, name);
    if (*out >= 0) return lgv_load_column_at(l, node, c, *out);
    char list[400] = "";
    for (size_t k = 0; c->csv.name && k < c->csv.columns && strlen(list) < 300; k++) {
        size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%.40s", k ? ", " : ": ", c->csv.name[k]);
    }
    return lgv_yaml_fail(l, node, "%s has no column %.60s; it has %zu%s", c->word[0], name, c->csv.columns, list);
}

bool lgv_load_numbers(struct lgv_loader *l, int node, const char *name, long rows, int columns, double *out) {
    struct lgv_file_call c = {.count = 0};
    long column[LGV_MAX_FILE_WORDS];
    bool ok = lgv_load_call(l, node, &c);
    const bool named = c.count > 1;
    if (ok && (named ? (int)c.count - 1 != columns : (int)c.csv.columns < columns))
        ok = lgv_yaml_fail(l, node, named ? "%s needs %d columns of %s, but %zu are named"
                                          : "%s needs %d columns, but %s has %zu",
                           name, columns, c.word[0], named ? c.count - 1 : c.csv.columns);
    if (ok && (long)c.csv.rows != rows)
        ok = lgv_yaml_fail(l, node, "%s needs %ld row%s, but %s has %zu", name, rows, rows == 1 ? "" : "s", c.word[0],
                           c.csv.rows);
    for (int k = 0; ok && k < columns; k++) {
        column[k] = k;
        ok = named ? lgv_load_column(l, node, &c, c.word[k + 1], &column[k]) : lgv_load_column_at(l, node, &c, k);
    }
    for (long i = 0; ok && i < rows; i++)
        for (int k = 0; k < columns; k++)
            out[i * columns + k] = c.csv.value[(size_t)i * c.csv.columns + (size_t)column[k]];
    lgv_csv_free(&c.csv);
    return ok;
}
