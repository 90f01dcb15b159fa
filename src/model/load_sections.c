/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The section `sections` of a model file: Poincare sections, surfaces s(q, p, v, t) = 0 whose crossings are kept.
 *
 *     sections:
 *       plane: x                                  # or
 *       plane: { at: x, direction: up, observe: [y, py] } */
#include "model/load.h"
#include <stdlib.h>
#include <string.h>

#define STATE (LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES(LGV_V) | LGV_USES_TIME)

static bool number(struct lgv_loader *l, int node, const char *what, int *out) {
    if (!lgv_load_number(l, node, what, STATE, out)) return false;
    *out = lgv_load_without_velocities(l, *out);
    return !l->m->graph->failed || lgv_yaml_fail(l, node, "%s", l->m->graph->failed);
}

/* A periodic coordinate is shown in its range, as everywhere; formulas see it with all its turns. */
static int shown(struct lgv_model *m, int node) {
    struct lgv_graph *g = m->graph;
    for (size_t i = 0; m->period && i < m->nx; i++) {
        if (!(m->period[i] > 0) || node != lgv_expr_ref_at(g, LGV_Q, (long)i)) continue;
        int from = lgv_expr_const(g, -m->period[m->nx + i]);
        int turns = lgv_expr_scale(g, 1 / m->period[i], lgv_expr_add(g, node, from));
        return lgv_expr_add(g, node, lgv_expr_scale(g, -m->period[i], lgv_expr_call1(g, LGV_FLOOR, turns)));
    }
    return node;
}

static bool add_seen(struct lgv_loader *l, struct lgv_section *s, const char *text, int node) {
    s->seen[s->nseen] = shown(l->m, node);
    s->label[s->nseen] = lgv_copy(text);
    return s->label[s->nseen++] || lgv_yaml_memory(l);
}

/* Without `observe`: where the path is. */
static bool see_state(struct lgv_loader *l, struct lgv_section *s, int node) {
    struct lgv_model *m = l->m;
    bool ok = true;
    if (m->nx + m->np > LGV_MAX_SEEN)
        return lgv_yaml_fail(l, node, "say what to observe at crossings, `observe: [x, ...]`: there are more than %d "
                                      "coordinates and momenta",
                             LGV_MAX_SEEN);
    for (size_t i = 0; ok && i < m->nx + m->np; i++) ok = add_seen(l, s, m->component[i], m->kind->component(m, i));
    return ok;
}

static bool read_observed(struct lgv_loader *l, struct lgv_section *s, int list) {
    if (!lgv_yaml_sequence(l, list, LGV_MAX_SEEN, "formulas to observe at crossings, [y, py]")) return false;
    for (int k = lgv_yaml_node(l, list)->first; k >= 0; k = lgv_yaml_next(l, k)) {
        int node;
        if (!number(l, k, "what is observed at a crossing", &node)) return false;
        if (!add_seen(l, s, lgv_yaml_node(l, k)->text, node)) return false;
    }
    return s->nseen > 0 || lgv_yaml_fail(l, list, "there is nothing to observe");
}

static bool read_direction(struct lgv_loader *l, struct lgv_section *s, int node) {
    static const char *const word[] = {"down", "both", "up"};
    const char *text = lgv_yaml_text(l, node, "up, down or both");
    if (!text) return false;
    for (int k = 0; k < 3; k++)
        if (strcmp(text, word[k]) == 0) {
            s->direction = k - 1;
            return true;
        }
    return lgv_yaml_fail(l, node, "the direction of a section is up, down or both");
}

static bool read_section(struct lgv_loader *l, struct lgv_section *s, int value) {
    int at = -1, direction = -1, observe = -1;
    s->direction = 1;
    if (lgv_yaml_node(l, value)->kind == LGV_YAML_SCALAR) {
        at = value;
    } else {
        if (!lgv_yaml_mapping(l, value, "a formula, or {at: FORMULA, direction: up, observe: [...]}")) return false;
        LGV_EACH(l, value, key, item) {
            const char *name = lgv_yaml_node(l, key)->text;
            int *to = strcmp(name, "at") == 0          ? &at
                      : strcmp(name, "direction") == 0 ? &direction
                      : strcmp(name, "observe") == 0   ? &observe
                                                       : NULL;
            if (!to) return lgv_yaml_fail(l, key, "a section has at, direction and observe, but not %.60s", name);
            *to = item;
        }
    }
    if (at < 0) return lgv_yaml_fail(l, value, "a section needs `at: FORMULA`, whose zeros are its surface");
    if (!number(l, at, "a section", &s->node)) return false;
    if (lgv_model_has_process(l->m, s->node))
        return lgv_yaml_fail(l, at, "a process cannot be in a section: inside a step its mean is all that is known of "
                                    "it (an event can have it)");
    if (!(l->m->graph->node[s->node].uses & STATE))
        return lgv_yaml_fail(l, at, "this depends neither on the state nor on t, and so has no zeros to cross");
    if (!(s->text = lgv_copy(lgv_yaml_node(l, at)->text))) return lgv_yaml_memory(l);
    if (direction >= 0 && !read_direction(l, s, direction)) return false;
    return observe >= 0 ? read_observed(l, s, observe) : see_state(l, s, value);
}

bool lgv_load_sections(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (node < 0) return true;
    if (!lgv_yaml_mapping(l, node, "sections as name: formula")) return false;
    if (!(m->section = lgv_new(LGV_MAX_SECTIONS, sizeof *m->section))) return lgv_yaml_memory(l);
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        if (!lgv_formula_is_name(name))
            return lgv_yaml_fail(l, key, "'%.60s' is not a name (a letter, then letters, digits and _)", name);
        for (size_t k = 0; k < m->nsections; k++)
            if (strcmp(m->section[k].name, name) == 0)
                return lgv_yaml_fail(l, key, "there are two sections %.60s", name);
        if (m->nsections == LGV_MAX_SECTIONS)
            return lgv_yaml_fail(l, key, "there are more than %d sections", LGV_MAX_SECTIONS);
        struct lgv_section *s = &m->section[m->nsections++];
        if (!(s->name = lgv_copy(name))) return lgv_yaml_memory(l);
        if (!read_section(l, s, value)) return false;
    }
    return true;
}

void lgv_load_sections_free(struct lgv_model *m) {
    for (size_t k = 0; k < m->nsections; k++) {
        struct lgv_section *s = &m->section[k];
        for (size_t i = 0; i < s->nseen; i++) free(s->label[i]);
        free(s->name);
        free(s->text);
    }
    free(m->section);
}
