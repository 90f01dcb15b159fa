/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sections `force`, forces F(q, v, t) without a potential, and `langevin`, friction and temperature:
 *
 *     dp = (-H_q + F - Gamma v) dt + sqrt(2 kT Gamma) dW. */
#include "model/load.h"
#include <stdlib.h>
#include <string.h>

bool lgv_load_force(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    const unsigned allow = LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES(LGV_V) | LGV_USES_TIME;
    if (node < 0) return true;
    m->force_at = lgv_yaml_node(l, node)->at;
    if (!(m->force = lgv_new(m->np, sizeof *m->force))) return lgv_yaml_memory(l);
    if (!lgv_load_per_coordinate(l, node, "a force", allow, m->np == 1, m->force, NULL)) return false;
    for (size_t i = 0; i < m->np; i++) {
        m->force[i] = lgv_load_without_velocities(l, m->force[i]);
        if (m->graph->failed) return lgv_yaml_fail(l, node, "%s", m->graph->failed);
        if (m->graph->node[m->force[i]].uses & (LGV_USES(LGV_P) | LGV_USES(LGV_V))) m->force_of_p = true;
    }
    return true;
}

/* ---- langevin ---- */

/* A sequence of sequences. */
static bool is_matrix(const struct lgv_loader *l, int node) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    return n->kind == LGV_YAML_SEQUENCE && n->count > 0 && lgv_yaml_node(l, n->first)->kind == LGV_YAML_SEQUENCE;
}

static bool read_matrix(struct lgv_loader *l, int node, int *out, size_t *at) {
    const size_t n = l->m->np;
    if ((size_t)lgv_yaml_node(l, node)->count != n)
        return lgv_yaml_fail(l, node, "the friction matrix has %d rows, but there are %zu coordinates",
                             lgv_yaml_node(l, node)->count, n);
    for (int row = lgv_yaml_node(l, node)->first; row >= 0; row = lgv_yaml_next(l, row), out += n, at += n) {
        if (lgv_yaml_node(l, row)->kind != LGV_YAML_SEQUENCE || (size_t)lgv_yaml_node(l, row)->count != n)
            return lgv_yaml_fail(l, row, "a row of the friction matrix is a sequence of %zu numbers", n);
        int k = 0;
        for (int child = lgv_yaml_node(l, row)->first; child >= 0; child = lgv_yaml_next(l, child), k++) {
            if (!lgv_load_number(l, child, "an entry of a friction matrix", 0, &out[k])) return false;
            at[k] = lgv_yaml_node(l, child)->at;
        }
    }
    return true;
}

static bool read_friction(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    struct lgv_bath *b = &m->bath;
    bool matrix = is_matrix(l, node);
    if (matrix && m->np > LGV_BATH_MATRIX)
        return lgv_yaml_fail(l, node, "a friction matrix may have %d rows at most", LGV_BATH_MATRIX);
    b->kind = matrix ? LGV_FRICTION_MATRIX : LGV_FRICTION_DIAGONAL;
    b->friction = lgv_new(matrix ? m->np * m->np : m->np, sizeof *b->friction);
    b->friction_at = lgv_new(matrix ? m->np * m->np : m->np, sizeof *b->friction_at);
    b->row = lgv_new(m->np, sizeof *b->row);
    if (!b->friction || !b->friction_at || !b->row) return lgv_yaml_memory(l);
    lgv_yaml_place(l, node, &b->line, &b->column);
    if (!(matrix ? read_matrix(l, node, b->friction, b->friction_at)
                 : lgv_load_per_coordinate(l, node, "friction, which is a function of the coordinates",
                                           LGV_USES(LGV_Q), true, b->friction, b->friction_at)))
        return false;
    for (size_t i = 0; i < m->np; i++) {
        double x = 1;
        if (!matrix && (m->graph->node[b->friction[i]].uses & LGV_USES(LGV_Q))) b->kind = LGV_FRICTION_OF_Q;
        if (matrix || !lgv_expr_is_const(m->graph, b->friction[i], &x) || x != 0) b->row[b->rows++] = i;
    }
    return b->rows > 0 || lgv_yaml_fail(l, node, "the friction is zero everywhere: leave `langevin` out");
}

static bool read_temperature(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    struct lgv_bath *b = &m->bath;
    b->temperature = lgv_new(m->np, sizeof *b->temperature);
    b->temperature_at = lgv_new(m->np, sizeof *b->temperature_at);
    if (!b->temperature || !b->temperature_at) return lgv_yaml_memory(l);
    lgv_yaml_place(l, node, &b->temperature_line, &b->temperature_column);
    for (size_t i = 0; i < m->np; i++) b->temperature[i] = -1;
    if (!lgv_load_per_coordinate(l, node, "a temperature", 0, true, b->temperature, b->temperature_at)) return false;
    for (size_t i = 0; i < b->rows; i++)
        if (b->temperature[b->row[i]] < 0)
            return lgv_yaml_fail(l, node, "%s has friction, and no temperature", m->component[b->row[i]]);
    for (size_t i = 0; i < m->np; i++)
        if (b->temperature[i] < 0) b->temperature[i] = 0; /* the constant 0: nothing uses it */
    b->one_temperature = true;
    for (size_t i = 1; i < b->rows; i++)
        if (b->temperature[b->row[i]] != b->temperature[b->row[0]]) b->one_temperature = false;
    if (b->kind == LGV_FRICTION_MATRIX && !b->one_temperature)
        return lgv_yaml_fail(l, node, "a friction matrix has one temperature; give friction for each coordinate to "
                                      "have several");
    return true;
}

bool lgv_load_langevin_keys(struct lgv_loader *l, int node, int *friction, int *temperature) {
    int fixman = -1; /* read with the constraints: load_fixman.c */
    *friction = *temperature = -1;
    if (node < 0) return true;
    if (!lgv_yaml_mapping(l, node, "{friction: ..., temperature: ...}")) return false;
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        int *at = strcmp(name, "friction") == 0      ? friction
                  : strcmp(name, "temperature") == 0 ? temperature
                  : strcmp(name, "fixman") == 0      ? &fixman
                                                     : NULL;
        if (!at) return lgv_yaml_fail(l, key, "unknown key %.60s; langevin has friction, temperature and fixman", name);
        if (*at >= 0) return lgv_yaml_fail(l, key, "%s is given twice", name);
        *at = value;
    }
    if (*friction < 0 || *temperature < 0)
        return lgv_yaml_fail(l, node, "langevin needs %s", *friction < 0 ? "friction" : "temperature (kT)");
    return true;
}

bool lgv_load_langevin(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    int friction, temperature;
    if (node < 0) return true;
    if (!lgv_load_langevin_keys(l, node, &friction, &temperature)) return false;
    return read_friction(l, friction) && read_temperature(l, temperature) &&
           !lgv_model_bath_values(m, NULL, NULL, l->err);
}
