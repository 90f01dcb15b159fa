/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model file as a tree: YAML events of libfyaml with their places, and messages that point at the exact character,
 * "file:line:column: message", the line, a caret.  Aliases and tags are refused, so a small file stays a small tree. */
#include "model/load.h"
#include <ctype.h>
#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NODES 300000
#define MAX_DEPTH 16
#define SHOWN 120 /* characters of a source line in a message */

/* ---- places and messages ---- */

/* Bytes of the well-formed UTF-8 character at s, 0 when it is none. */
static size_t utf8(const char *s) {
    const unsigned char *u = (const unsigned char *)s;
    size_t n = u[0] < 0x80                   ? 1
               : u[0] >= 0xC2 && u[0] < 0xE0 ? 2
               : (u[0] & 0xF0) == 0xE0       ? 3
               : u[0] >= 0xF0 && u[0] < 0xF5 ? 4
                                             : 0;
    for (size_t k = 1; k < n; k++)
        if ((u[k] & 0xC0) != 0x80) return 0;
    if (n == 3 && ((u[0] == 0xE0 && u[1] < 0xA0) || (u[0] == 0xED && u[1] >= 0xA0))) return 0;
    if (n == 4 && ((u[0] == 0xF0 && u[1] < 0x90) || (u[0] == 0xF4 && u[1] >= 0x90))) return 0;
    return n;
}

static const char *next_character(const char *s) {
    size_t n = utf8(s);
    return s + (n ? n : 1);
}

static bool line_end(const char *s) {
    return *s == 0 || *s == '\n' || *s == '\r';
}

static const char *next_line(const char *s) {
    while (!line_end(s)) s++;
    if (s[0] == '\r' && s[1] == '\n') s++;
    return *s ? s + 1 : s;
}

static void place_of(const char *text, size_t at, int *line, int *column) {
    const char *start = text, *end = text + at;
    *line = *column = 1;
    for (const char *next = next_line(start); next <= end && next > start; next = next_line(next)) {
        if (next[-1] != '\n' && next[-1] != '\r') break; /* the last line has no end */
        start = next;
        ++*line;
        if (!*next) break;
    }
    if (*line == 1 && strncmp(text, "\xEF\xBB\xBF", 3) == 0) start += 3;
    for (; start < end && !line_end(start); start = next_character(start)) ++*column;
}

/* The line with a caret under the column; a long line only around it.  A tab stays a tab under a tab. */
static void show(struct lgv_text *out, const char *text, int line, int column) {
    for (int k = 1; k < line && *text; k++) text = next_line(text);
    if (line == 1 && strncmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3;
    int from = column > SHOWN - 20 ? column - SHOWN / 2 : 1, k = 1;
    for (; k < from && !line_end(text); k++) text = next_character(text);
    const char *dots = from > 1 ? "..." : "";
    lgv_text_add(out, "\n    %s", dots);
    const char *s = text;
    for (; k < from + SHOWN && !line_end(s); k++) {
        size_t n = utf8(s);
        bool plain = n && (*s == '\t' || n > 1 || isprint((unsigned char)*s));
        lgv_text_append(out, plain ? s : "?", plain ? n : 1);
        s = next_character(s);
    }
    lgv_text_add(out, "%s\n    %s", line_end(s) ? "" : "...", from > 1 ? "   " : "");
    s = text;
    for (k = from; k < column; k++) {
        lgv_text_append(out, *s == '\t' ? "\t" : " ", 1);
        if (!line_end(s)) s = next_character(s);
    }
    lgv_text_append(out, "^", 1);
}

/* What went into a message may be cut in the middle of a character: JSON wants it whole. */
static void scrub(char *message) {
    for (char *s = message; *s;) {
        size_t n = utf8(s);
        if (n == 0 || (n == 1 && *s != '\n' && *s != '\t' && !isprint((unsigned char)*s))) *s = '?', n = 1;
        s += n;
    }
}

static void fail_list(struct lgv_error *err, const char *file, const char *text, int line, int column,
                      const char *format, va_list args) {
    if (!err) return;
    char message[1700]; /* the line of the file has to fit in behind it */
    vsnprintf(message, sizeof message, format, args);
    struct lgv_text t = {0};
    lgv_text_add(&t, "%s:%d:%d: %s", file, line, column, message);
    if (text && line > 0) show(&t, text, line, column);
    lgv_fail(err, LGV_BAD_INPUT, "%s", t.data ? t.data : message);
    lgv_text_free(&t);
    scrub(err->message);
    err->line = line;
    err->column = column;
}

enum lgv_status lgv_model_fail(struct lgv_error *err, const char *file, const char *text, int line, int column,
                               const char *format, ...) {
    va_list args;
    va_start(args, format);
    fail_list(err, file, text, line, column, format, args);
    va_end(args);
    return LGV_BAD_INPUT;
}

enum lgv_status lgv_model_fail_at(struct lgv_error *err, const struct lgv_model *m, size_t at, const char *format,
                                  ...) {
    int line, column;
    va_list args;
    place_of(m->text, at, &line, &column);
    va_start(args, format);
    fail_list(err, m->file, m->text, line, column, format, args);
    va_end(args);
    return LGV_BAD_INPUT;
}

bool lgv_yaml_fail_at(struct lgv_loader *l, size_t at, const char *format, ...) {
    int line, column;
    va_list args;
    place_of(l->text, at, &line, &column);
    va_start(args, format);
    fail_list(l->err, l->file, l->text, line, column, format, args);
    va_end(args);
    return false;
}

bool lgv_yaml_fail(struct lgv_loader *l, int node, const char *format, ...) {
    int line, column;
    va_list args;
    lgv_yaml_place(l, node, &line, &column);
    va_start(args, format);
    fail_list(l->err, l->file, l->text, line, column, format, args);
    va_end(args);
    return false;
}

bool lgv_yaml_memory(struct lgv_loader *l) {
    lgv_fail_memory(l->err);
    return false;
}

const struct lgv_yaml_node *lgv_yaml_node(const struct lgv_loader *l, int node) {
    return &l->yaml.node[node];
}

int lgv_yaml_next(const struct lgv_loader *l, int node) {
    return node < 0 ? -1 : lgv_yaml_node(l, node)->next;
}

void lgv_yaml_place(const struct lgv_loader *l, int node, int *line, int *column) {
    place_of(l->text, lgv_yaml_node(l, node)->at, line, column);
}

/* Length of the escape at s ("\n", "\x41", backslash at the end of a line), and whether it stands for blank space. */
static size_t escape(const char *s, bool *blank) {
    *blank = s[1] == 0 || strchr("tnr \t\n\rLPN_", s[1]) != NULL;
    size_t hex = s[1] == 'x' ? 2 : s[1] == 'u' ? 4 : s[1] == 'U' ? 8 : 0, n = s[1] ? 2 : 1;
    while (hex-- && isxdigit((unsigned char)s[n])) n++;
    return n;
}

/* The byte of the file at which character `offset` of a scalar's value stands: YAML folds lines, drops indentation and
 * has escapes, but keeps the order of the characters that are not blank. */
static size_t byte_of(const struct lgv_loader *l, const struct lgv_yaml_node *n, size_t offset) {
    const char *raw = l->text + n->at;
    bool blank;
    for (size_t k = 0; n->text[k]; k++) {
        char c = n->text[k];
        if (isspace((unsigned char)c)) {
            if (k >= offset) break;
            continue;
        }
        for (;;) {
            if (isspace((unsigned char)*raw))
                raw++;
            else if (n->quote == '"' && *raw == '\\' && (escape(raw, &blank), blank))
                raw += escape(raw, &blank);
            else
                break;
        }
        if (k >= offset || !*raw) break;
        bool escaped = n->quote == '"' && *raw == '\\';
        if (!escaped && *raw != c) return n->at; /* cannot happen; the beginning is never wrong */
        raw += escaped ? escape(raw, &blank) : n->quote == '\'' && c == '\'' ? 2 : 1;
    }
    return (size_t)(raw - l->text);
}

bool lgv_yaml_fail_in(struct lgv_loader *l, int node, const struct lgv_formula_error *why) {
    const char *more = "";
    if (*why->unknown && l->observe >= 0)
        LGV_EACH(l, l->observe, key, value)
            if (strcmp(lgv_yaml_node(l, key)->text, why->unknown) == 0)
                more = "; formulas do not know the names of observe: name it under where, and use that name in both";
    return lgv_yaml_fail_at(l, byte_of(l, lgv_yaml_node(l, node), why->offset), "%s%s", why->message, more);
}

/* ---- events to tree ---- */

struct builder {
    struct lgv_loader *l;
    int open[MAX_DEPTH + 1], last[MAX_DEPTH + 1]; /* collections around the present place, and their last child */
    int depth, documents;
    size_t length; /* of the text */
    size_t seen;   /* byte where the last event ended: the place of values that are not there */
};

static bool add_node(struct builder *b, struct lgv_yaml_node n) {
    struct lgv_loader *l = b->l;
    struct lgv_yaml *y = &l->yaml;
    if (y->count >= MAX_NODES) return lgv_yaml_fail_at(l, n.at, "the file has more than %d entries", MAX_NODES);
    if (!lgv_grow(&y->node, &y->capacity, y->count + 1, sizeof *y->node)) {
        free(n.text);
        return lgv_yaml_memory(l);
    }
    int id = (int)y->count++;
    n.first = n.next = -1;
    y->node[id] = n;
    if (b->depth) {
        int parent = b->open[b->depth - 1], *last = &b->last[b->depth - 1];
        if (*last < 0)
            y->node[parent].first = id;
        else
            y->node[*last].next = id;
        *last = id;
        y->node[parent].count++;
    }
    return true;
}

static bool open_collection(struct builder *b, enum lgv_yaml_kind kind, size_t at) {
    if (b->depth >= MAX_DEPTH) return lgv_yaml_fail_at(b->l, at, "nested more than %d levels deep", MAX_DEPTH);
    if (!add_node(b, (struct lgv_yaml_node){.kind = kind, .at = at})) return false;
    b->open[b->depth] = (int)b->l->yaml.count - 1;
    b->last[b->depth++] = -1;
    return true;
}

/* `q: normal(0, 0.5)` inside { } is read as `q: normal(0` and another entry `0.5)`. */
static bool cut_at_comma(const struct builder *b, const char *text, size_t size) {
    const char *next = b->l->text + b->seen;
    int open = 0;
    for (size_t k = 0; k < size; k++) open += (text[k] == '(') - (text[k] == ')');
    while (*next == ' ') next++;
    return open > 0 && *next == ',';
}

static bool add_scalar(struct builder *b, struct fy_event *e, size_t at) {
    struct fy_token *t = e->scalar.value;
    static const char quotes[] = {[FYSS_PLAIN] = 0,
                                  [FYSS_SINGLE_QUOTED] = '\'',
                                  [FYSS_DOUBLE_QUOTED] = '"',
                                  [FYSS_LITERAL] = '|',
                                  [FYSS_FOLDED] = '|'};
    struct lgv_yaml_node n = {.kind = LGV_YAML_SCALAR, .at = at};
    size_t size = 0;
    const char *text = t ? fy_token_get_text(t, &size) : "";
    if (!text) return lgv_yaml_memory(b->l);
    if (memchr(text, 0, size)) return lgv_yaml_fail_at(b->l, at, "a zero character in a text");
    enum fy_scalar_style style = t ? fy_token_scalar_style(t) : FYSS_PLAIN;
    n.quote = style >= FYSS_PLAIN && (size_t)style < sizeof quotes ? quotes[style] : 0;
    if (style == FYSS_PLAIN && cut_at_comma(b, text, size))
        return lgv_yaml_fail_at(b->l, b->seen,
                                "this comma ends the value, whose brackets are still open: inside { } and [ ] a "
                                "formula with a comma has to be quoted, as in {q: \"normal(0, 0.5)\"}");
    n.text = lgv_copy_n(text, size);
    return n.text ? add_node(b, n) : lgv_yaml_memory(b->l);
}

static bool take(struct builder *b, struct fy_event *e) {
    const struct fy_mark *mark = fy_event_start_mark(e), *end = fy_event_end_mark(e);
    size_t at = mark ? mark->input_pos : b->seen;
    if (at > b->length) at = b->length;
    if (end && end->input_pos <= b->length) b->seen = end->input_pos;
    struct fy_token *tag = e->type == FYET_SCALAR           ? e->scalar.tag
                           : e->type == FYET_MAPPING_START  ? e->mapping_start.tag
                           : e->type == FYET_SEQUENCE_START ? e->sequence_start.tag
                                                            : NULL;
    if (tag) return lgv_yaml_fail_at(b->l, at, "YAML tags (!...) are not used here; quote a text that begins with !");
    switch (e->type) {
    case FYET_DOCUMENT_START:
        return ++b->documents == 1 ||
               lgv_yaml_fail_at(b->l, at, "a second document begins here: one file is one model");
    case FYET_MAPPING_START: return open_collection(b, LGV_YAML_MAPPING, at);
    case FYET_SEQUENCE_START: return open_collection(b, LGV_YAML_SEQUENCE, at);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END: b->depth--; return true;
    case FYET_SCALAR: return add_scalar(b, e, at);
    case FYET_ALIAS:
        if (at && b->l->text[at - 1] == '*') at--;
        return lgv_yaml_fail_at(b->l, at, "YAML aliases (*name) are not used here; quote a formula that begins with *");
    default: return true;
    }
}

static void silent(struct fy_diag *diag, void *user, const char *text, size_t size) {
    (void)diag;
    (void)user;
    (void)text;
    (void)size;
}

/* The first complaint of libfyaml in our form. */
static bool syntax_error(struct lgv_loader *l, struct fy_diag *diag) {
    void *at = NULL;
    const struct fy_diag_error *e = fy_diag_errors_iterate(diag, &at);
    if (!e) return lgv_yaml_fail_at(l, 0, "this is not a YAML file");
    int line = e->line > 0 ? e->line : 1, column = e->column > 0 ? e->column : 1;
    lgv_model_fail(l->err, l->file, l->text, line, column,
                   "%s (names and formulas with [ ] { } , # or : in them are best quoted)",
                   e->msg ? e->msg : "not YAML");
    return false;
}

static bool check_characters(struct lgv_loader *l) {
    const char *data = strstr(l->text, "\ndata:");
    const size_t most = data && data - l->text <= LGV_MAX_FILE ? LGV_MAX_TEXT : LGV_MAX_FILE;
    for (const char *s = l->text; *s; s = next_character(s)) {
        size_t at = (size_t)(s - l->text);
        if (!utf8(s))
            return lgv_yaml_fail_at(l, at, "this is not a text file (byte 0x%02x is not UTF-8)", (unsigned char)*s);
        if (((unsigned char)*s < 0x20 && !strchr("\t\n\r", *s)) || *s == 0x7F)
            return lgv_yaml_fail_at(l, at, "control character 0x%02x", (unsigned char)*s);
        if (at > most) return lgv_yaml_fail_at(l, at, "the file is larger than %zu bytes", most);
    }
    return true;
}

bool lgv_yaml_read(struct lgv_loader *l) {
    if (!check_characters(l)) return false;
    struct fy_diag_cfg how;
    fy_diag_cfg_default(&how);
    how.fp = NULL;
    how.output_fn = silent;
    struct fy_diag *diag = fy_diag_create(&how);
    if (!diag) return lgv_yaml_memory(l);
    fy_diag_set_collect_errors(diag, true);
    struct fy_parse_cfg cfg = {.flags = FYPCF_QUIET | FYPCF_JSON_NONE | FYPCF_DEFAULT_VERSION_1_2, .diag = diag};
    struct fy_parser *parser = fy_parser_create(&cfg);
    bool ok = parser && fy_parser_set_string(parser, l->text, strlen(l->text)) == 0;
    if (!ok) lgv_yaml_memory(l);
    struct builder b = {.l = l, .length = strlen(l->text)};
    struct fy_event *e = NULL;
    while (ok && (e = fy_parser_parse(parser))) {
        ok = take(&b, e);
        fy_parser_event_free(parser, e);
    }
    if (ok && fy_parser_get_stream_error(parser)) ok = syntax_error(l, diag);
    if (parser) fy_parser_destroy(parser);
    fy_diag_destroy(diag);
    if (ok && !l->yaml.count) ok = lgv_yaml_fail_at(l, 0, "the model is empty");
    return ok;
}

void lgv_yaml_free(struct lgv_yaml *y) {
    for (size_t k = 0; k < y->count; k++) free(y->node[k].text);
    free(y->node);
    *y = (struct lgv_yaml){0};
}

/* ---- what is expected of a node ---- */

static const char *kind_of(const struct lgv_yaml_node *n) {
    if (n->kind == LGV_YAML_SCALAR) return *n->text ? "a text" : "nothing";
    return n->kind == LGV_YAML_MAPPING ? "a mapping" : "a sequence";
}

const char *lgv_yaml_text(struct lgv_loader *l, int node, const char *what) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    if (n->kind == LGV_YAML_SCALAR && n->text[strspn(n->text, " \t\r\n")]) return n->text;
    size_t comma = n->at;
    while (comma > 0 && isdigit((unsigned char)l->text[comma - 1])) comma--;
    if (n->kind == LGV_YAML_SCALAR && comma > 0 && lgv_decimal_comma(l->text, comma - 1)) {
        lgv_yaml_fail_at(l, comma - 1, LGV_DECIMAL_COMMA);
        return NULL;
    }
    bool flow = n->kind != LGV_YAML_SCALAR && (l->text[n->at] == '[' || l->text[n->at] == '{');
    if (n->kind == LGV_YAML_SCALAR)
        lgv_yaml_fail(l, node, "expected %s, found nothing", what);
    else
        lgv_yaml_fail(l, node, "expected %s, found %s%s", what, kind_of(n),
                      flow ? " (quote a formula that begins with [ or {)" : "");
    return NULL;
}

bool lgv_yaml_mapping(struct lgv_loader *l, int node, const char *what) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    if (n->kind != LGV_YAML_MAPPING) return lgv_yaml_fail(l, node, "expected %s, found %s", what, kind_of(n));
    if (n->count / 2 > LGV_MAX_ENTRIES) return lgv_yaml_fail(l, node, "more than %d entries here", LGV_MAX_ENTRIES);
    LGV_EACH(l, node, key, value) {
        if (value < 0 || !lgv_yaml_text(l, key, "a name")) return false;
    }
    return true;
}

bool lgv_yaml_sequence(struct lgv_loader *l, int node, long limit, const char *what) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    if (n->kind != LGV_YAML_SEQUENCE) return lgv_yaml_fail(l, node, "expected %s, found %s", what, kind_of(n));
    if (n->count > limit) return lgv_yaml_fail(l, node, "more than %ld entries here", limit);
    return true;
}
