/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The section `cutoff`: radius, switch, box and skin of the sums pairs(...) and near(...), see formula_pairs.c. */
#include "model/load.h"
#include <string.h>

#define SWITCH 0.2 /* of the radius: the shell in which sums are switched off, unless it is given */
#define SKIN 0.12  /* of the radius: how far beyond it lists reach */

static bool read_box(struct lgv_loader *l, int node, struct lgv_cutoff *c) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    if (n->kind != LGV_YAML_SEQUENCE) {
        if (!lgv_load_constant(l, node, "the box", &c->box[0])) return false;
        c->dim = 1;
        c->box[1] = c->box[2] = c->box[0];
    } else {
        if (!lgv_yaml_sequence(l, node, 3, "the sides of the box")) return false;
        if (n->count < 2) return lgv_yaml_fail(l, node, "a box has one length for all sides, two or three");
        for (int side = n->first; side >= 0; side = lgv_yaml_next(l, side))
            if (!lgv_load_constant(l, side, "the box", &c->box[c->dim++])) return false;
    }
    for (int k = 0; k < 3; k++) {
        if (c->box[k] < 0) return lgv_yaml_fail(l, node, "a side of the box is %g; it is positive, or 0: open",
                                                c->box[k]);
        if (c->box[k] > 0 && c->radius > 0.5 * c->box[k])
            return lgv_yaml_fail(l, node, "the radius %g is more than half of the side %g of the box: a point would "
                                          "meet several images of another one", c->radius, c->box[k]);
    }
    return true;
}

static bool read_length(struct lgv_loader *l, int node, const char *what, double most, double *out) {
    if (node < 0) return true;
    if (!lgv_load_constant(l, node, what, out)) return false;
    if (!(*out > 0)) return lgv_yaml_fail(l, node, "%s is %g; it must be positive", what, *out);
    return *out <= most || lgv_yaml_fail(l, node, "%s is %g; it may be at most the radius, %g", what, *out, most);
}

bool lgv_load_cutoff(struct lgv_loader *l, int node) {
    static const char *const names[] = {"radius", "switch", "skin", "box"};
    int at[4] = {-1, -1, -1, -1};
    struct lgv_cutoff *c = &l->m->scope.cutoff;
    if (node < 0) return true;
    if (!lgv_yaml_mapping(l, node, "a cutoff: { radius: ... }")) return false;
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        int k = 0;
        while (k < 4 && strcmp(names[k], name) != 0) k++;
        if (k == 4) return lgv_yaml_fail(l, key, "unknown key %.60s; cutoff has radius, switch, skin and box", name);
        if (at[k] >= 0) return lgv_yaml_fail(l, key, "%s is given twice", name);
        at[k] = value;
    }
    if (at[0] < 0) return lgv_yaml_fail(l, node, "cutoff needs a radius");
    if (!read_length(l, at[0], "the radius", 1e100, &c->radius)) return false;
    c->at = (unsigned)lgv_yaml_node(l, at[0])->at;
    lgv_yaml_place(l, at[0], &c->line, &c->column);
    c->width = SWITCH * c->radius;
    c->skin = SKIN * c->radius;
    if (!read_length(l, at[1], "the switch", c->radius, &c->width) ||
        !read_length(l, at[2], "the skin", c->radius, &c->skin))
        return false;
    c->given = true;
    return at[3] < 0 || read_box(l, at[3], c);
}

/* Where sums over near pairs have no derivatives of the kind that is needed. */
bool lgv_load_near_check(struct lgv_loader *l, int node) {
    const struct lgv_model *m = l->m;
    const char *what = m->lagrangian_text && lgv_near_used(m->graph, m->lagrangian) ? "a lagrangian" : NULL;
    for (size_t k = 0; k < m->nentries; k++)
        if (lgv_near_used(m->graph, m->noise[k].body)) what = "noise";
    for (size_t k = 0; k < m->nconstraint_entries; k++)
        if (lgv_near_used(m->graph, m->constraint[k].body)) what = "constraints";
    return !what || lgv_yaml_fail(l, node, "pairs(...) is for the potential and for observables, not for %s", what);
}
