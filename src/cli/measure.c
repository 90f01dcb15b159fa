/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What claims and figures of an experiment measure: numbers and lists in the JSON documents of its runs.
 *
 *     RUN:final.H.mean      RUN:methods[method=VZc].order      RUN:levels[step=0.04].error      a number
 *     RUN:time              RUN:methods[method=ZS].observables.x.means                          a list
 *     RUN:averages.near[].mean                           a list: one number of every member of the family near[1], ...
 *     RUN:time[2:10:3]                                   of a list, entries 2, 5 and 8 (from 0 on, the end left out)
 *
 * A star stands for each of the names under `of`; the largest absolute value is measured, or with `length: yes` the
 * length of that vector.  With `against`, another place of the same shape, it is that of the difference, entry by
 * entry. */
#include "cli/experiment.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static bool append(struct lgv_list *out, double x) {
    if (!lgv_grow(&out->value, &out->capacity, out->count + 1, sizeof *out->value)) return false;
    out->value[out->count++] = x;
    return true;
}

/* A number, true or false, or a list of numbers, in which null is NaN. */
static bool append_values(struct lgv_list *out, const json_t *at, bool inside) {
    if (json_is_boolean(at)) return append(out, json_is_true(at));
    if (json_is_number(at)) return append(out, json_number_value(at));
    if (json_is_null(at)) return inside && append(out, (double)NAN);
    if (!json_is_array(at) || inside) return false;
    for (size_t i = 0; i < json_array_size(at); i++)
        if (!append_values(out, json_array_get(at, i), true)) return false;
    return true;
}

/* [first:end:stride], each of which may be left out. */
static bool append_slice(struct lgv_list *out, const json_t *at, const char *slice) {
    size_t part[3] = {0, json_array_size(at), 1};
    for (int k = 0; k < 3; k++) {
        char *end;
        unsigned long n = strtoul(slice, &end, 10);
        if (end != slice) part[k] = n;
        if (*end == ']') break;
        if (*end != ':' || k == 2) return false;
        slice = end + 1;
    }
    for (size_t i = part[0]; part[2] > 0 && i < part[1] && i < json_array_size(at); i += part[2])
        if (!append_values(out, json_array_get(at, i), true)) return false;
    return part[2] > 0;
}

static bool find(struct lgv_list *out, const json_t *at, const char *path);

/* NAME[]REST: what find() finds in every entry NAME[..]REST; 0 when there is none. */
static int find_family(struct lgv_list *out, const json_t *object, const char *path) {
    const char *all = strstr(path, "[]"), *key;
    json_t *value;
    int found = 0;
    if (!all) return 0;
    json_object_foreach((json_t *)object, key, value) {
        size_t n = (size_t)(all - path);
        const char *close = strncmp(key, path, n) == 0 && key[n] == '[' ? strchr(key + n, ']') : NULL;
        size_t rest = close ? strlen(close + 1) : 0;
        if (!close || strncmp(all + 2, close + 1, rest) != 0 || !strchr(".[", all[2 + rest])) continue;
        const char *next = all + 2 + rest;
        if (!find(out, value, next + (*next == '.'))) return -1;
        found = 1;
    }
    return found;
}

static bool find(struct lgv_list *out, const json_t *at, const char *path) {
    while (at && *path) {
        size_t n = strcspn(path, "]");
        if (path[0] == '[' && json_is_array(at) && path[1 + strspn(path + 1, "0123456789")] == ':')
            return append_slice(out, at, path + 1);
        if (path[0] == '[') {
            at = select_entry(at, path + 1);
            n += path[n] == ']';
        } else {
            int family = find_family(out, at, path);
            if (family) return family > 0;
            at = named_entry(at, path, &n);
        }
        path += n;
        if (*path == '.') path++;
    }
    return at && append_values(out, at, false);
}

/* `where` is RUN:path; a star in it stands for name. */
static bool find_in_run(const struct lgv_experiment *e, const char *where, const char *name, struct lgv_list *out) {
    const char *colon = strchr(where, ':'), *star = name ? strchr(where, '*') : NULL;
    struct lgv_text path = {0};
    bool found = false;
    if (!colon || (name && (!star || star < colon))) return false;
    if (star)
        lgv_text_add(&path, "%.*s%s%s", (int)(star - colon - 1), colon + 1, name, star + 1);
    else
        lgv_text_add(&path, "%s", colon + 1);
    for (size_t i = 0; path.data && !path.failed && i < e->nruns; i++) {
        const struct lgv_experiment_run *r = &e->run[i];
        if (strlen(r->name) == (size_t)(colon - where) && strncmp(r->name, where, (size_t)(colon - where)) == 0)
            found = r->result && find(out, r->result, path.data);
    }
    lgv_text_free(&path);
    return found;
}

static double larger(double a, double b) {
    return b <= a ? a : b; /* NaN stays */
}

/* Joins component `name` of measure - against to what is in `out`. */
static bool add_component(const struct lgv_experiment *e, const struct lgv_measure *m, const char *name,
                          struct lgv_list *out) {
    struct lgv_list a = {0}, b = {0};
    bool good = find_in_run(e, m->path, name, &a) && (!m->against || find_in_run(e, m->against, name, &b)) &&
                (!m->against || a.count == b.count);
    for (size_t i = 0; good && i < a.count; i++) {
        double d = fabs(a.value[i] - (m->against ? b.value[i] : 0));
        if (i == out->count) good = append(out, d);
        else out->value[i] = m->length ? hypot(out->value[i], d) : larger(out->value[i], d);
    }
    good = good && out->count == a.count;
    lgv_list_free(&a);
    lgv_list_free(&b);
    return good;
}

bool lgv_experiment_measure(const struct lgv_experiment *e, const struct lgv_measure *m, struct lgv_list *out) {
    *out = (struct lgv_list){0};
    bool good = m->path != NULL;
    if (good && !m->against && !m->nof) {
        good = find_in_run(e, m->path, NULL, out);
    } else if (good) {
        for (size_t k = 0; good && k < (m->nof ? m->nof : 1); k++)
            good = add_component(e, m, m->nof ? m->of[k] : NULL, out);
    }
    if (good && out->count > 0) return true;
    lgv_list_free(out);
    return false;
}

void lgv_list_free(struct lgv_list *list) {
    free(list->value);
    *list = (struct lgv_list){0};
}

bool lgv_list_largest(const struct lgv_list *list, size_t *index) {
    *index = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (!isfinite(list->value[i])) return false;
        if (list->value[i] > list->value[*index]) *index = i;
    }
    return list->count > 0;
}
