/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sections of a model file about what to look at: observables, the exact solution in terms of t, W[1..M] and the
 * start values NAME0, and the options of a run. */
#include "model/load.h"
#include <stdlib.h>
#include <string.h>

#define START (LGV_USES(LGV_DQ) | LGV_USES(LGV_DP))
#define STATE (LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES(LGV_V) | LGV_USES(LGV_LAMBDA) | LGV_USES_TIME | START)

/* NAME0: the start value of a coordinate or momentum, of its shape, unless the file uses the name itself. */
static bool add_starts(struct lgv_loader *l, const struct lgv_declared *d, size_t count, enum lgv_space space) {
    for (size_t k = 0; k < count; k++) {
        char name[80];
        snprintf(name, sizeof name, "%s0", d[k].name);
        if (lgv_scope_find(&l->m->scope, name)) continue;
        struct lgv_symbol *s = lgv_scope_add(&l->m->scope, name, LGV_SYM_STATE);
        if (!s) return lgv_yaml_memory(l);
        s->space = space;
        s->offset = d[k].offset;
        s->length = d[k].length;
        s->dim = d[k].dim;
    }
    return true;
}

static bool add_start_names(struct lgv_loader *l) {
    return add_starts(l, l->coordinate, l->ncoordinates, LGV_DQ) && add_starts(l, l->momentum, l->nmomenta, LGV_DP);
}

/* Names known in observables only: start values, h1, h2, ... and the multipliers lambda[k], unless the file uses the
 * name itself. */
static bool add_names(struct lgv_loader *l) {
    struct lgv_model *m = l->m;
    for (size_t k = 0; k < m->nentries; k++) {
        char name[32];
        snprintf(name, sizeof name, "h%zu", m->noise[k].first + 1);
        if (m->noise[k].nest < 0 && !lgv_scope_find(&m->scope, name) && !lgv_load_value(l, name, m->noise[k].body))
            return false;
    }
    if (!add_start_names(l)) return false;
    if (!m->nconstraints || lgv_scope_find(&m->scope, "lambda")) return true;
    struct lgv_symbol *s = lgv_scope_add(&m->scope, "lambda", LGV_SYM_STATE);
    if (!s) return lgv_yaml_memory(l);
    s->space = LGV_LAMBDA;
    s->length = (long)m->nconstraints;
    return true;
}

bool lgv_load_observe(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (node < 0) return true;
    if (!lgv_yaml_mapping(l, node, "observables as name: formula")) return false;
    m->observable = lgv_new((size_t)lgv_yaml_node(l, node)->count / 2 + 1, sizeof *m->observable);
    if (!m->observable) return lgv_yaml_memory(l);
    size_t known = m->scope.count;
    if (!add_names(l)) return false;
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        struct lgv_observable *o = &m->observable[m->nobservables];
        for (size_t k = 0; k < m->nobservables; k++)
            if (strcmp(m->observable[k].name, name) == 0) return lgv_yaml_fail(l, key, "%.60s is observed twice", name);
        if (!lgv_formula_is_name(name))
            return lgv_yaml_fail(l, key, "'%.60s' is not a name (a letter, then letters, digits and _)", name);
        if (!lgv_load_number(l, value, "an observable", STATE, &o->node)) return false;
        o->node = lgv_load_without_velocities(l, o->node);
        if (m->graph->failed) return lgv_yaml_fail(l, value, "%s", m->graph->failed);
        if (strcmp(name, "H") == 0 && o->node != m->hamiltonian)
            return lgv_yaml_fail(l, key, "H is the Hamiltonian and is always observed; choose another name");
        if (m->nconstraints && (strcmp(name, "constraint") == 0 || strcmp(name, "hidden_constraint") == 0))
            return lgv_yaml_fail(l, key, "%s is always observed in a model with constraints; choose another name",
                                 name);
        m->nobservables++;
        o->name = lgv_copy(name);
        o->text = lgv_copy(lgv_yaml_node(l, value)->text);
        if (!o->name || !o->text) return lgv_yaml_memory(l);
    }
    lgv_load_drop(&m->scope, known);
    return true;
}

static bool read_exact_entry(struct lgv_loader *l, int key, int value) {
    struct lgv_model *m = l->m;
    const char *name = lgv_yaml_node(l, key)->text, *known[64];
    size_t n = strcspn(name, "[. "), nknown = 0;
    for (size_t k = 0; k < l->ncoordinates + l->nmomenta; k++) {
        bool momentum = k >= l->ncoordinates;
        const struct lgv_declared *d = momentum ? &l->momentum[k - l->ncoordinates] : &l->coordinate[k];
        if (nknown < 64) known[nknown++] = d->name;
        if (strncmp(d->name, name, n) != 0 || d->name[n]) continue;
        if (d->size != 1 || d->length || name[n])
            return lgv_yaml_fail(l, key,
                                 "exact solutions are supported for single numbers only, not for arrays and points");
        int *node = &m->exact[(momentum ? m->nx : 0) + (size_t)d->offset];
        if (*node >= 0) return lgv_yaml_fail(l, key, "%s is given twice", name);
        return lgv_load_number(l, value, "the exact solution",
                               LGV_USES(LGV_BROWN) | START | LGV_USES_TIME, node);
    }
    const char *near = lgv_nearest(name, known, nknown);
    return lgv_yaml_fail(l, key,
                         near ? "there is no coordinate or momentum %.60s; did you mean %s?"
                              : "there is no coordinate or momentum %.60s",
                         name, near);
}

bool lgv_load_exact(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (node < 0) return true;
    if (!lgv_yaml_mapping(l, node, "the exact solution as name: formula")) return false;
    m->exact = lgv_new(m->nx + m->np, sizeof *m->exact);
    if (!m->exact) return lgv_yaml_memory(l);
    for (size_t k = 0; k < m->nx + m->np; k++) m->exact[k] = -1;
    size_t known = m->scope.count;
    if (!add_start_names(l)) return false;
    if (m->nnoise) {
        struct lgv_symbol *s = lgv_scope_add(&m->scope, "W", LGV_SYM_STATE);
        if (!s) return lgv_yaml_memory(l);
        s->space = LGV_BROWN;
        s->length = (long)m->nnoise;
    }
    LGV_EACH(l, node, key, value) if (!read_exact_entry(l, key, value)) return false;
    lgv_load_drop(&m->scope, known);
    return true;
}

bool lgv_load_run(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (node < 0) return true;
    if (!lgv_yaml_mapping(l, node, "options as name: value")) return false;
    size_t count = (size_t)lgv_yaml_node(l, node)->count / 2;
    if (count > 100) return lgv_yaml_fail(l, node, "more than 100 options");
    m->run = lgv_new(count + 1, sizeof *m->run);
    if (!m->run) return lgv_yaml_memory(l);
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text, *text = lgv_yaml_text(l, value, "a value");
        if (!text) return false;
        for (size_t k = 0; k < m->nrun; k++)
            if (strcmp(m->run[k].key, name) == 0) return lgv_yaml_fail(l, key, "%.60s is given twice", name);
        struct lgv_run_entry *e = &m->run[m->nrun++];
        e->key = lgv_copy(name);
        e->value = lgv_copy(text);
        if (!e->key || !e->value) return lgv_yaml_memory(l);
        lgv_yaml_place(l, value, &e->line, &e->column);
        lgv_yaml_place(l, key, &e->key_line, &e->key_column);
    }
    return true;
}
