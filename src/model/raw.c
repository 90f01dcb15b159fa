/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sections that a later stage gives a meaning, kept as they stand in the file: names, texts and lists with their
 * places.  What such a text is worth as a formula of the parameters is still found here. */
#include "model/load.h"
#include <stdlib.h>

static const enum lgv_raw_kind kinds[] = {[LGV_YAML_SCALAR] = LGV_RAW_TEXT,
                                          [LGV_YAML_SEQUENCE] = LGV_RAW_LIST,
                                          [LGV_YAML_MAPPING] = LGV_RAW_MAPPING};

static void clear(struct lgv_raw *r) {
    for (size_t i = 0; i < r->count; i++) clear(&r->item[i]);
    free(r->item);
    free(r->key);
    free(r->text);
}

static bool copy(struct lgv_loader *l, int node, struct lgv_raw *r) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    bool mapping = n->kind == LGV_YAML_MAPPING;
    r->kind = kinds[n->kind];
    r->at = n->at;
    r->quote = n->quote;
    if (n->kind == LGV_YAML_SCALAR) return (r->text = lgv_copy(n->text)) || lgv_yaml_memory(l);
    if (mapping && !lgv_yaml_mapping(l, node, "")) return false; /* its keys must be names */
    if (!(r->item = lgv_new((size_t)n->count + 1, sizeof *r->item))) return lgv_yaml_memory(l);
    for (int k = n->first; k >= 0; k = lgv_yaml_next(l, k)) {
        struct lgv_raw *item = &r->item[r->count++];
        if (mapping) {
            if (!(item->key = lgv_copy(lgv_yaml_node(l, k)->text))) return lgv_yaml_memory(l);
            item->key_at = lgv_yaml_node(l, k)->at;
            k = lgv_yaml_next(l, k);
        }
        if (!copy(l, k, item)) return false;
    }
    return true;
}

bool lgv_load_raw(struct lgv_loader *l, int node, struct lgv_raw **out) {
    if (node < 0) return true;
    if (!(*out = lgv_new(1, sizeof **out))) return lgv_yaml_memory(l);
    return copy(l, node, *out);
}

void lgv_load_raw_free(struct lgv_raw *r) {
    if (r) clear(r);
    free(r);
}

enum lgv_status lgv_model_constant(struct lgv_model *m, const struct lgv_raw *r, const char *what, double *out,
                                   struct lgv_error *err) {
    struct lgv_error local;
    struct lgv_yaml_node n = {.kind = LGV_YAML_SCALAR, .quote = r->quote, .text = r->text, .at = r->at};
    struct lgv_loader l = {.m = m, .file = m->file, .text = m->text, .err = err ? err : &local, .yaml = {&n, 1, 1},
                           .observe = -1};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (kinds[k] == r->kind) n.kind = (enum lgv_yaml_kind)k;
    long allowance = m->graph->allowance; /* a formula of the file has what the file has */
    m->graph->allowance = LGV_READ_WORK;
    bool ok = lgv_load_constant(&l, 0, what, out);
    m->graph->allowance = allowance;
    m->scope.place = NULL;
    if (ok) return LGV_OK;
    return lgv_expr_no_memory(m->graph) ? lgv_fail_memory(err) : l.err->status;
}
