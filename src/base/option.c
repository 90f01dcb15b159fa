/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Options: text to field and back, by table. */
#include "base/base.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double exact_integers = 9007199254740992.0; /* 2^53: above it, 1e17 and its neighbours look alike */

static bool read_real(const char *text, double *out) {
    char *end;
    double x = strtod(text, &end);
    if (end == text || isspace((unsigned char)text[0])) return false;
    while (isspace((unsigned char)*end)) end++;
    *out = x;
    return *end == '\0' && !isnan(x);
}

/* Digits, or a real such as 1e6 that is a whole number. */
static bool read_count(const char *text, uint64_t *out) {
    if (text[0] != '\0' && strspn(text, "0123456789") == strlen(text)) {
        errno = 0;
        unsigned long long n = strtoull(text, NULL, 10);
        *out = n;
        return errno == 0;
    }
    double x;
    if (!read_real(text, &x) || x < 0.0 || x > exact_integers || x != floor(x)) return false;
    *out = (uint64_t)x;
    return true;
}

bool lgv_option_switch(const char *text, bool *out) {
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        if (strcmp(text, words[k]) == 0) {
            *out = k % 2 == 1;
            return true;
        }
    }
    return false;
}

static void real_text(double x, char *out, size_t size) {
    char text[64];
    double back = 0.0;
    for (int digits = 15; digits <= 17; digits++) { /* the shortest that reads back as x */
        snprintf(text, sizeof text, "%.*g", digits, x);
        back = strtod(text, NULL);
        if (!(back < x || back > x)) break;
    }
    snprintf(out, size, "%s", text);
}

static enum lgv_status out_of_range(const struct lgv_option *row, const char *value, struct lgv_error *err) {
    char low[64], high[64], wanted[160];
    real_text(row->low, low, sizeof low);
    real_text(row->high, high, sizeof high);
    if (row->type == LGV_COUNT && row->high >= 1.8e19)
        snprintf(wanted, sizeof wanted, "at least %s", low);
    else if (isinf(row->high) && isinf(row->low))
        snprintf(wanted, sizeof wanted, "a number");
    else if (isinf(row->high))
        snprintf(wanted, sizeof wanted, "at least %s", low);
    else if (isinf(row->low))
        snprintf(wanted, sizeof wanted, "at most %s", high);
    else
        snprintf(wanted, sizeof wanted, "from %s to %s", low, high);
    return lgv_fail(err, LGV_BAD_INPUT, "%s: %.80s is out of range; it must be %s", row->name, value, wanted);
}

static const size_t field_size[] = {sizeof(double), sizeof(uint64_t), LGV_WORD_SIZE,
                                    sizeof(bool),   LGV_WORD_SIZE,    LGV_LIST_SIZE};

static enum lgv_status set_row(const struct lgv_option *row, void *options, const char *value, bool ranged,
                               struct lgv_error *err) {
    char *field = (char *)options + row->offset;
    double real;
    uint64_t number;
    bool on;
    switch (row->type) {
    case LGV_REAL:
        if (!read_real(value, &real))
            return lgv_fail(err, LGV_BAD_INPUT, "%s: a number is wanted, not \"%.80s\"", row->name, value);
        if (ranged && (real < row->low || real > row->high)) return out_of_range(row, value, err);
        memcpy(field, &real, sizeof real);
        return LGV_OK;
    case LGV_COUNT:
        if (!read_count(value, &number))
            return lgv_fail(err, LGV_BAD_INPUT, "%s: a whole number from %g to %g is wanted, not \"%.80s\"", row->name,
                            row->low, row->high, value);
        if (ranged && ((double)number < row->low || (double)number > row->high)) return out_of_range(row, value, err);
        memcpy(field, &number, sizeof number);
        return LGV_OK;
    case LGV_WORD:
    case LGV_PROGRAM:
    case LGV_LIST:
        if (strlen(value) >= field_size[row->type])
            return lgv_fail(err, LGV_BAD_INPUT, "%s: \"%.20s...\" is longer than %zu characters", row->name, value,
                            field_size[row->type] - 1);
        for (const char *s = value; *s; s++) {
            if (iscntrl((unsigned char)*s))
                return lgv_fail(err, LGV_BAD_INPUT, "%s: the word has a control character in it", row->name);
        }
        memset(field, 0, field_size[row->type]);
        memcpy(field, value, strlen(value));
        return LGV_OK;
    case LGV_SWITCH:
        if (!lgv_option_switch(value, &on))
            return lgv_fail(err, LGV_BAD_INPUT, "%s: yes or no is wanted, not \"%.80s\"", row->name, value);
        memcpy(field, &on, sizeof on);
        return LGV_OK;
    }
    return lgv_fail(err, LGV_BAD_INPUT, "%s: unknown type of option", row->name);
}

const struct lgv_option *lgv_option_find(const struct lgv_option *table, size_t count, const char *name) {
    for (size_t k = 0; k < count; k++) {
        if (strcmp(table[k].name, name) == 0) return &table[k];
    }
    return NULL;
}

enum lgv_status lgv_option_set(const struct lgv_option *table, size_t count, void *options, const char *name,
                               const char *value, struct lgv_error *err) {
    const struct lgv_option *row = lgv_option_find(table, count, name);
    if (row) return set_row(row, options, value, true, err);
    const char **known = lgv_new(count, sizeof *known);
    if (!known) return lgv_fail_memory(err);
    for (size_t k = 0; k < count; k++) known[k] = table[k].name;
    const char *near = lgv_nearest(name, known, count);
    free(known);
    if (near) return lgv_fail(err, LGV_BAD_INPUT, "unknown option \"%.80s\"; did you mean \"%s\"?", name, near);
    return lgv_fail(err, LGV_BAD_INPUT, "unknown option \"%.80s\"", name);
}

/* A row without a default leaves zero, the empty word or no. */
void lgv_option_defaults(const struct lgv_option *table, size_t count, void *options) {
    for (size_t k = 0; k < count; k++) {
        memset((char *)options + table[k].offset, 0, field_size[table[k].type]);
        if (table[k].standard && table[k].standard[0]) set_row(&table[k], options, table[k].standard, false, NULL);
    }
}

void lgv_option_get(const struct lgv_option *row, const void *options, char *out, size_t size) {
    const char *field = (const char *)options + row->offset;
    double real;
    uint64_t number;
    bool on;
    switch (row->type) {
    case LGV_REAL:
        memcpy(&real, field, sizeof real);
        real_text(real, out, size);
        return;
    case LGV_COUNT:
        memcpy(&number, field, sizeof number);
        snprintf(out, size, "%llu", (unsigned long long)number);
        return;
    case LGV_WORD:
    case LGV_PROGRAM:
    case LGV_LIST: snprintf(out, size, "%.*s", (int)field_size[row->type] - 1, field); return;
    case LGV_SWITCH:
        memcpy(&on, field, sizeof on);
        snprintf(out, size, "%s", on ? "yes" : "no");
        return;
    }
}

bool lgv_list_next(const char **list, char *out, size_t size) {
    const char *s = *list + strspn(*list, " "), *end = s;
    int open = 0;
    for (; *end && (*end != ',' || open > 0); end++) open += (*end == '[') - (*end == ']');
    size_t n = (size_t)(end - s);
    while (n > 0 && s[n - 1] == ' ') n--;
    snprintf(out, size, "%.*s", (int)n, s);
    *list = *end ? end + 1 : end;
    return n > 0 || *end;
}
