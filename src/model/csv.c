/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text to columns of numbers.  A line is divided at semicolons where it has any, else at commas, else at tabs, else at
 * blanks, so that a decimal comma is noticed instead of being read as two numbers. */
#include "model/csv.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIELD 100

struct line {
    const char *at, *end; /* without comment and blanks around it */
    int number;
    char separator;
    bool more; /* fields to come */
};

/* The next line that has something on it; false: there is none. */
static bool next_line(const char **text, struct line *l) {
    while (**text) {
        const char *begin = *text, *end = begin + strcspn(begin, "\n");
        *text = *end ? end + 1 : end;
        l->number++;
        const char *comment = memchr(begin, '#', (size_t)(end - begin));
        if (comment) end = comment;
        while (begin < end && strchr(" \r", *begin)) begin++;
        while (end > begin && strchr(" \t\r", end[-1])) end--;
        if (begin == end) continue;
        l->at = begin;
        l->end = end;
        l->more = true;
        l->separator = ' ';
        for (const char *s = ";,\t"; *s && l->separator == ' '; s++)
            if (memchr(begin, *s, (size_t)(end - begin))) l->separator = *s;
        return true;
    }
    return false;
}

/* The next field, without blanks and quotes around it; false: the line is at its end. */
static bool next_field(struct line *l, char out[MAX_FIELD]) {
    if (!l->more) return false;
    const char *begin = l->at, *end = begin;
    while (end < l->end && *end != l->separator) end++;
    l->more = end < l->end;
    l->at = l->more ? end + 1 : end;
    while (l->separator == ' ' && l->at < l->end && *l->at == ' ') l->at++;
    while (begin < end && strchr(" \"'", *begin)) begin++;
    while (end > begin && strchr(" \"'", end[-1])) end--;
    size_t n = (size_t)(end - begin) < MAX_FIELD ? (size_t)(end - begin) : MAX_FIELD - 1;
    memcpy(out, begin, n);
    out[n] = 0;
    return true;
}

static bool number_of(const char *text, double *x) {
    char *end;
    *x = strtod(text, &end);
    return *text && !*end;
}

static bool begins_with_number(struct line l) {
    char field[MAX_FIELD];
    double x;
    return next_field(&l, field) && number_of(field, &x);
}

static bool has_number(struct line l) {
    char field[MAX_FIELD];
    double x;
    bool found = false;
    while (!found && next_field(&l, field)) found = number_of(field, &x);
    return found;
}

/* The first line has names: it has no number, or begins with a word and the next one with a number. */
static bool is_head(struct line l, const char *rest) {
    return !has_number(l) || (!begins_with_number(l) && next_line(&rest, &l) && begins_with_number(l));
}

static bool read_names(struct lgv_csv *c, struct line l) {
    char field[MAX_FIELD];
    size_t capacity = 0;
    while (c->columns < LGV_MAX_COLUMNS && next_field(&l, field)) {
        if (!lgv_grow(&c->name, &capacity, c->columns + 1, sizeof *c->name)) return false;
        if (!(c->name[c->columns++] = lgv_copy(field))) return false;
    }
    return true;
}

/* A field that is no number, for those who want to use its column. */
static bool keep_odd(struct lgv_csv *c, struct line l, size_t column, const char *field) {
    char shown[MAX_FIELD], text[MAX_FIELD + 100];
    double x;
    const bool comma = l.separator == ';' && strchr(field, ',');
    if (!c->odd && !(c->odd = lgv_new(LGV_MAX_COLUMNS, sizeof *c->odd))) return false;
    if (c->odd[column]) return true;
    snprintf(text, sizeof text, "%d: '%s' is not a %snumber%s", l.number, lgv_plain(shown, sizeof shown, field),
             number_of(field, &x) ? "finite " : "", comma ? "; numbers are written with a point" : "");
    return (c->odd[column] = lgv_copy(text)) != NULL;
}

static bool read_row(struct lgv_csv *c, struct line l, size_t *capacity, char *why, size_t size) {
    char field[MAX_FIELD];
    size_t n = 0, first = c->rows * c->columns;
    const bool counted = c->columns > 0;
    for (double x; next_field(&l, field); n++) {
        if (n == LGV_MAX_COLUMNS || (counted && n == c->columns)) {
            n++;
            break;
        }
        const bool fine = number_of(field, &x) && isfinite(x);
        if (!lgv_grow(&c->value, capacity, first + n + 1, sizeof *c->value)) return false;
        if (!fine && !keep_odd(c, l, n, field)) return false;
        c->value[first + n] = fine ? x : NAN;
    }
    if (n > LGV_MAX_COLUMNS) snprintf(why, size, "%d: more than %d columns", l.number, LGV_MAX_COLUMNS);
    else if (counted && n != c->columns)
        snprintf(why, size, "%d: %s numbers than the lines before, which have %zu", l.number,
                 n > c->columns ? "more" : "fewer", c->columns);
    else if (c->rows == LGV_MAX_ROWS) snprintf(why, size, "%d: more than %d rows", l.number, LGV_MAX_ROWS);
    c->columns = counted ? c->columns : n;
    return !*why;
}

bool lgv_csv_read(const char *text, struct lgv_csv *out, char *why, size_t size) {
    struct line l = {.number = 0};
    size_t capacity = 0, lines = 0;
    bool ok = true, first = true;
    *out = (struct lgv_csv){0};
    *why = 0;
    for (; ok && next_line(&text, &l); first = false) {
        if (first && is_head(l, text)) {
            ok = read_names(out, l);
            continue;
        }
        ok = read_row(out, l, &capacity, why, size) && lgv_grow(&out->line, &lines, out->rows + 1, sizeof *out->line);
        if (ok) out->line[out->rows++] = l.number;
    }
    if (ok && !out->rows) {
        snprintf(why, size, "%d: there are no numbers", l.number ? l.number : 1);
        ok = false;
    }
    if (!ok && !*why) snprintf(why, size, "%d: out of memory", l.number);
    if (!ok) lgv_csv_free(out);
    return ok;
}

void lgv_csv_free(struct lgv_csv *c) {
    for (size_t k = 0; c->name && k < c->columns; k++) free(c->name[k]);
    for (size_t k = 0; c->odd && k < LGV_MAX_COLUMNS; k++) free(c->odd[k]);
    free(c->name);
    free(c->odd);
    free(c->value);
    free(c->line);
    *c = (struct lgv_csv){0};
}

long lgv_csv_column(const struct lgv_csv *c, const char *name) {
    for (size_t k = 0; c->name && k < c->columns; k++)
        if (strcmp(c->name[k], name) == 0) return (long)k;
    char *end;
    long k = strtol(name, &end, 10);
    return *name && !*end && k >= 1 && (size_t)k <= c->columns ? k - 1 : -1;
}
