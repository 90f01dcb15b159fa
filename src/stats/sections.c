/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Crossings of Poincare sections by the paths that are kept: time and observed values of the first so many. */
#include "stats/collect.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct list { /* of one kept path and section */
    bool known;
    uint64_t crossings; /* all of them */
    size_t count;       /* that are stored */
    double *value;      /* [count][width] */
};

struct object {
    struct lgv_shape shape;
    size_t width;
    struct list *list; /* [nkept][nsections] */
};

static size_t lists(const struct object *o) {
    return o->shape.nkept * o->shape.nsections;
}

static void destroy(void *object) {
    struct object *o = object;
    if (!o) return;
    for (size_t i = 0; o->list && i < lists(o); i++) free(o->list[i].value);
    free(o->list);
    free(o);
}

static size_t width_of(const struct lgv_shape *s) {
    size_t most = 0;
    for (size_t k = 0; k < s->nsections; k++)
        if (s->section[k].nseen > most) most = s->section[k].nseen;
    return 1 + most;
}

static void *create(const void *shape) {
    struct object *o = lgv_new(1, sizeof *o);
    if (!o) return NULL;
    o->shape = *(const struct lgv_shape *)shape;
    o->width = width_of(&o->shape);
    o->list = lgv_new(lists(o) + 1, sizeof *o->list);
    if (o->list) return o;
    free(o);
    return NULL;
}

static bool put(struct object *o, struct list *x, uint64_t crossings, const double *value) {
    size_t count = crossings < o->shape.crossings ? (size_t)crossings : (size_t)o->shape.crossings;
    double *copy = lgv_new(count * o->width + 1, sizeof *copy);
    if (!copy) return false;
    memcpy(copy, value, count * o->width * sizeof *copy);
    free(x->value);
    *x = (struct list){true, crossings, count, copy};
    return true;
}

static bool add(void *object, const struct lgv_piece *piece) {
    struct object *o = object;
    const struct lgv_shape *s = &o->shape;
    bool ok = true;
    if (!piece->last || !piece->crossing) return true;
    for (size_t p = 0; p < s->nkept; p++) {
        uint64_t lane = s->kept[p] - piece->path;
        if (s->kept[p] < piece->path || lane >= piece->used) continue;
        for (size_t k = 0; ok && k < s->nsections; k++)
            ok = put(o, &o->list[p * s->nsections + k],
                     (uint64_t)piece->crossings[(LGV_SECTION_ROWS * k + 1) * LGV_UNIT + lane],
                     piece->crossing + (lane * s->nsections + k) * (size_t)s->crossings * o->width);
    }
    return ok;
}

static bool merge(void *object, const void *other) {
    struct object *a = object;
    const struct object *b = other;
    bool ok = true;
    for (size_t i = 0; ok && i < lists(a); i++)
        if (b->list[i].known) ok = put(a, &a->list[i], b->list[i].crossings, b->list[i].value);
    return ok;
}

static void save(void *object, struct lgv_text *out) {
    const struct object *o = object;
    for (size_t i = 0; i < lists(o); i++) {
        const struct list *x = &o->list[i];
        lgv_text_append_count(out, x->known);
        if (!x->known) continue;
        lgv_text_append_count(out, x->crossings);
        if (x->count) lgv_text_append(out, (const char *)x->value, x->count * o->width * sizeof *x->value);
    }
}

static bool load(void *object, struct lgv_bytes *from) {
    struct object *o = object;
    for (size_t i = 0; i < lists(o) && !from->bad; i++) {
        if (!lgv_bytes_count(from)) continue;
        uint64_t crossings = lgv_bytes_count(from);
        uint64_t count = crossings < o->shape.crossings ? crossings : o->shape.crossings;
        if (count > from->left / (o->width * sizeof(double))) from->bad = true;
        if (from->bad) break;
        double *value = lgv_new((size_t)count * o->width + 1, sizeof *value);
        if (!value) return false;
        lgv_bytes_take(from, value, (size_t)count * o->width * sizeof *value);
        o->list[i] = (struct list){true, crossings, (size_t)count, value};
    }
    return true;
}

/* "x = 0, up: path, time, y, py" */
static char *describe(const struct lgv_section *s) {
    static const char *const way[] = {"down", "both ways", "up"};
    struct lgv_text t = {0};
    lgv_text_add(&t, "%s = 0, %s: path, time", s->text, way[s->direction + 1]);
    for (size_t i = 0; i < s->nseen; i++) lgv_text_add(&t, ", %s", s->label[i]);
    if (t.failed) lgv_text_free(&t);
    return t.data;
}

static bool put_section(const struct object *o, size_t k, struct lgv_result *r) {
    const struct lgv_section *s = &o->shape.section[k];
    size_t n = o->shape.nsections, rows = 0, columns = 2 + s->nseen, row = 0;
    uint64_t crossings = 0;
    char *text = describe(s);
    struct lgv_finding *f = text ? lgv_finding_add(r, LGV_FOUND_SECTIONS, s->name, text) : NULL;
    free(text);
    for (size_t p = 0; p < o->shape.nkept; p++) {
        rows += o->list[p * n + k].count;
        crossings += o->list[p * n + k].crossings;
    }
    double *table = f ? lgv_finding_array(f, "crossing", rows, columns) : NULL;
    if (!table) return false;
    for (size_t p = 0; p < o->shape.nkept; p++) {
        const struct list *x = &o->list[p * n + k];
        for (size_t i = 0; i < x->count; i++, row++) {
            table[row * columns] = (double)o->shape.kept[p];
            memcpy(table + row * columns + 1, x->value + i * o->width, (columns - 1) * sizeof *table);
        }
    }
    return lgv_finding_number(f, "crossings", (double)crossings) && lgv_finding_number(f, "stored", (double)rows) &&
           lgv_finding_number(f, "paths", (double)o->shape.nkept);
}

static bool finish(void *object, struct lgv_result *r) {
    struct object *o = object;
    bool ok = true;
    for (size_t k = 0; ok && k < o->shape.nsections; k++) ok = put_section(o, k, r);
    return ok;
}

static double bytes(const struct lgv_shape *s) {
    return (double)s->nsections * (double)s->crossings * (double)width_of(s) * 8 * ((double)s->nkept + LGV_UNIT);
}

const struct lgv_collected lgv_sections = {
    .collector = {.name = "sections", .dense = true, .create = create, .add = add, .merge = merge, .free = destroy,
                  .save = save, .load = load},
    .finish = finish,
    .bytes = bytes,
};
