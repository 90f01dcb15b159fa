/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What formulas are read from: the names of a scope, and the tokens of a text with the place of the first error. */
#include "model/formula.h"
#include "model/formula_parser.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

struct lgv_symbol *lgv_scope_find(const struct lgv_scope *scope, const char *name) {
    for (size_t i = scope->count; i-- > 0;)
        if (strcmp(scope->symbol[i].name, name) == 0) return &scope->symbol[i];
    return NULL;
}

struct lgv_symbol *lgv_scope_use(const struct lgv_scope *scope, const char *name) {
    struct lgv_symbol *s = lgv_scope_find(scope, name);
    if (s) s->used = true;
    return s;
}

void lgv_scope_fix(const struct lgv_scope *scope, int formula) {
    for (size_t i = 0; i < scope->count; i++) {
        struct lgv_symbol *s = &scope->symbol[i];
        if (s->kind == LGV_SYM_PARAMETER && !s->fixed)
            s->fixed = lgv_diff_uses_param(scope->graph, formula, s->index, s->length ? s->length : 1);
    }
}

struct lgv_symbol *lgv_scope_add(struct lgv_scope *scope, const char *name, enum lgv_symbol_kind kind) {
    if (!lgv_grow(&scope->symbol, &scope->capacity, scope->count + 1, sizeof *scope->symbol)) return NULL;
    struct lgv_symbol *s = &scope->symbol[scope->count];
    *s = (struct lgv_symbol){.name = lgv_copy(name), .kind = kind, .dim = 1};
    if (!s->name) return NULL;
    scope->count++;
    return s;
}

void lgv_scope_free(struct lgv_scope *scope) {
    for (size_t i = 0; i < scope->count; i++) {
        free(scope->symbol[i].name);
        free(scope->symbol[i].text);
        for (int k = 0; k < scope->symbol[i].nformals; k++) free(scope->symbol[i].formals[k]);
    }
    free(scope->symbol);
    *scope = (struct lgv_scope){0};
}

/* ---- letters ---- */

size_t lgv_formula_letter(const char *s) {
    const unsigned char a = (unsigned char)s[0], b = a ? (unsigned char)s[1] : 0;
    if (a < 0x80) return isalpha(a) ? 1 : 0;
    /* U+0391 .. U+03FF, without the signs at U+03F6 and U+03FC */
    const unsigned code = (a & 0x1Fu) << 6 | (b & 0x3Fu);
    return (a == 0xCE || a == 0xCF) && (b & 0xC0) == 0x80 && code >= 0x391 && code != 0x3F6 && code != 0x3FC ? 2 : 0;
}

size_t lgv_formula_in_name(const char *s) {
    return isdigit((unsigned char)*s) || *s == '_' ? 1 : lgv_formula_letter(s);
}

/* ---- errors and tokens ---- */

void lgv_parser_error(struct lgv_parser *p, size_t at, const char *format, ...) {
    if (p->failed) return;
    p->failed = true;
    p->kind = 0;
    p->err->offset = at;
    va_list args;
    va_start(args, format);
    vsnprintf(p->err->message, sizeof p->err->message, format, args);
    va_end(args);
}

void lgv_parser_next(struct lgv_parser *p) {
    if (p->failed) return;
    if (p->g && !lgv_expr_work(p->g, 10)) {
        lgv_parser_error(p, p->start, "%s", p->g->failed);
        return;
    }
    const char *s = p->text;
    size_t i = p->end;
    while (isspace((unsigned char)s[i])) i++;
    p->start = i;
    p->kind = 0;
    if (!s[i]) {
        p->end = i;
        return;
    }
    if (lgv_formula_letter(s + i) || s[i] == '_') {
        for (size_t n; (n = lgv_formula_in_name(s + i)) > 0;) i += n;
        p->kind = 'n';
        if (i - p->start >= sizeof p->name) {
            lgv_parser_error(p, p->start, "this name is too long");
            return;
        }
        memcpy(p->name, s + p->start, i - p->start);
        p->name[i - p->start] = 0;
    } else if (isdigit((unsigned char)s[i]) || (s[i] == '.' && isdigit((unsigned char)s[i + 1]))) {
        p->kind = '0';
        while (isdigit((unsigned char)s[i])) i++;
        if (s[i] == '.' && s[i + 1] != '.') {
            i++;
            while (isdigit((unsigned char)s[i])) i++;
        }
        if ((s[i] == 'e' || s[i] == 'E') &&
            (isdigit((unsigned char)s[i + 1]) ||
             ((s[i + 1] == '+' || s[i + 1] == '-') && isdigit((unsigned char)s[i + 2])))) {
            i += 2;
            while (isdigit((unsigned char)s[i])) i++;
        }
        char number[64];
        if (i - p->start >= sizeof number) {
            lgv_parser_error(p, p->start, "this number is too long");
            return;
        }
        memcpy(number, s + p->start, i - p->start);
        number[i - p->start] = 0;
        p->number = strtod(number, NULL);
        if (!isfinite(p->number)) lgv_parser_error(p, p->start, "this number is too large");
        if (lgv_formula_letter(s + i) || s[i] == '_')
            lgv_parser_error(p, i, "expected an operator between the number and the name (write 2*x, not 2x)");
    } else if ((s[i] == '.' && s[i + 1] == '.') || (strchr("<>=!", s[i]) && s[i + 1] == '=')) {
        p->kind = s[i] == '.' ? 'r' : s[i] == '<' ? 'l' : s[i] == '>' ? 'g' : s[i] == '=' ? 'q' : '!';
        i += 2;
    } else if (s[i] == '*' && s[i + 1] == '*') {
        p->kind = '^';
        i += 2;
    } else if (strchr("+-*/^()[],.=<>%", s[i])) {
        p->kind = s[i++];
    } else if ((unsigned char)s[i] >= 0x80 || !isprint((unsigned char)s[i])) {
        lgv_parser_error(p, i, strncmp(s + i, "\u00b5", 2) == 0
                                   ? "this is the micro sign; the Greek letter is \u03bc"
                                   : "unexpected character (formulas are ASCII, with Greek letters in names)");
        return;
    } else {
        if (s[i] == '|') lgv_parser_error(p, i, "|x| is abs(x), of a vector norm(x); between conditions stands or");
        else if (s[i] == '?') lgv_parser_error(p, i, "write if(condition, a, b)");
        else if (s[i] == '&') lgv_parser_error(p, i, "between conditions stands and");
        else if (s[i] == '!') lgv_parser_error(p, i, "the opposite of a condition is not (condition)");
        else lgv_parser_error(p, i, "unexpected character '%c'", s[i]);
        return;
    }
    p->end = i;
}

const char *lgv_parser_token(struct lgv_parser *p, char *buffer, size_t size) {
    size_t n = p->end - p->start;
    if (!p->text[p->start]) return "the end of the formula";
    snprintf(buffer, size, "'%.*s'", (int)(n < 40 ? n : 40), p->text + p->start);
    return buffer;
}

bool lgv_parser_accept(struct lgv_parser *p, int kind) {
    if (p->failed || p->kind != kind) return false;
    lgv_parser_next(p);
    return true;
}

bool lgv_parser_expect(struct lgv_parser *p, int kind, const char *what) {
    char b[64];
    if (lgv_parser_accept(p, kind)) return true;
    const char *hint = kind == ',' && !p->text[p->start]
                           ? " (in a list [ ] or { } of the file, a formula with commas needs quotes)"
                           : "";
    if (!p->failed)
        lgv_parser_error(p, p->start, "expected %s, found %s%s", what, lgv_parser_token(p, b, sizeof b), hint);
    return false;
}
