/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Families of observables, NAME[1] .. NAME[N]: a thousand of them are one figure and a few rows of a table. */
#include "out/private.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN 3 /* rows of a large family */

/* The length of NAME in NAME[k]; 0 for other names. */
static size_t stem(const struct lgv_series *s) {
    const char *bracket = s->kind == LGV_OBSERVABLE_DECLARED && s->name ? strchr(s->name, '[') : NULL;
    return bracket ? (size_t)(bracket - s->name) : 0;
}

/* The length of NAME[k]. */
static size_t member(const struct lgv_series *s) {
    const char *end = strrchr(s->name, ']');
    return end ? (size_t)(end - s->name) + 1 : strlen(s->name);
}

static bool same(const struct lgv_series *a, const struct lgv_series *b, size_t length) {
    return strncmp(a->name, b->name, length) == 0;
}

struct lgv_member *lgv_members(const struct lgv_result *r) {
    struct lgv_member *out = lgv_new(r->nseries + 1, sizeof *out);
    for (size_t i = 0, end; out && i < r->nseries; i = end) {
        const struct lgv_series *s = &r->series[i];
        size_t n = stem(s), width = 1;
        for (end = i + 1; n && end < r->nseries && stem(&r->series[end]) == n && same(s, &r->series[end], n);) end++;
        while (n && i + width < end && same(s, &r->series[i + width], member(s))) width++;
        for (size_t k = i; k < end; k++)
            out[k] = (struct lgv_member){.place = (k - i) / width, .count = (end - i) / width, .width = width};
    }
    return out;
}

bool *lgv_findings_shown(const struct lgv_result *r) {
    bool *out = lgv_new(r->nfindings + 1, sizeof *out);
    struct lgv_member *m = lgv_members(r);
    for (size_t i = 0, at = 0; out && i < r->nfindings; i++) { /* those of a group are in the order of the series */
        size_t tried = 0;
        while (tried < r->nseries && strcmp(r->series[at].name ? r->series[at].name : "", r->finding[i].name) != 0) {
            at = at + 1 < r->nseries ? at + 1 : 0;
            tried++;
        }
        out[i] = !m || tried == r->nseries || !lgv_family_large(&m[at]) || m[at].place < SHOWN;
    }
    free(m);
    return out;
}

size_t *lgv_series_listed(const struct lgv_result *r, size_t *count) {
    size_t *order = lgv_series_order(r);
    struct lgv_member *m = lgv_members(r);
    *count = 0;
    for (size_t i = 0; order && m && i < r->nseries; i++)
        if (!lgv_family_large(&m[order[i]]) || m[order[i]].place < SHOWN) order[(*count)++] = order[i];
    if (!m) {
        free(order);
        order = NULL;
    }
    free(m);
    return order;
}
