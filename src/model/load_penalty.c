/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Constraints by penalty, `penalty`: H gets omega^2/2 sum_k g_k(q)^2 in the place of g = 0, when the file is read.
 * Rubin & Ungar (1957), doi 10.1002/cpa.3160100103.  For large omega the motion is near the constrained one, and the
 * mean of -omega^2 g_k over a time that is long against 1/omega is near the multiplier of g_k: lambda[k] in `observe`
 * is that mean over windows, which the time loop takes (text/loop.h). */
#include "model/load.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int squares(struct lgv_model *m) {
    struct lgv_graph *g = m->graph;
    int sum = lgv_expr_const(g, 0);
    for (size_t k = 0; k < m->nconstraint_entries; k++) {
        const struct lgv_constraint *c = &m->constraint[k];
        int square = lgv_expr_power(g, c->body, 2);
        sum = lgv_expr_add(g, sum, c->nest < 0 ? square : lgv_expr_loop(g, c->nest, square));
    }
    return sum;
}

static bool add_term(struct lgv_loader *l, int omega) {
    struct lgv_model *m = l->m;
    struct lgv_graph *g = m->graph;
    struct lgv_text t = {0};
    m->penalty = lgv_expr_power(g, omega, 2);
    int term = lgv_expr_scale(g, 0.5, lgv_expr_mul(g, m->penalty, squares(m)));
    m->hamiltonian = lgv_expr_add(g, m->hamiltonian, term);
    if (m->lagrangian >= 0) m->lagrangian = lgv_expr_sub(g, m->lagrangian, term);
    m->stiff = m->stiff < 0 ? term : lgv_expr_add(g, m->stiff, term);
    lgv_text_add(&t, "%s + penalty", m->hamiltonian_text);
    free(m->hamiltonian_text);
    m->hamiltonian_text = t.data;
    if (t.failed) return lgv_yaml_memory(l);
    m->npenalties = m->nconstraints;
    m->nconstraints = 0; /* nobody keeps them */
    lgv_scope_find(&m->scope, "H")->value.node[0] = m->hamiltonian;
    return lgv_scope_find(&m->scope, "penalty") || lgv_load_value(l, "penalty", term);
}

bool lgv_load_penalty(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    int omega = -1, window = -1, formula;
    double number;
    if (node < 0) return true;
    if (!lgv_yaml_mapping(l, node, "a penalty: { omega: ... }")) return false;
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        int *at = strcmp(name, "omega") == 0 ? &omega : strcmp(name, "window") == 0 ? &window : NULL;
        if (!at) return lgv_yaml_fail(l, key, "unknown key %.60s; penalty has omega and window", name);
        if (*at >= 0) return lgv_yaml_fail(l, key, "%s is given twice", name);
        *at = value;
    }
    if (!m->nconstraints) return lgv_yaml_fail(l, node, "a penalty is for models with constraints");
    if (m->lagrangian_only)
        return lgv_yaml_fail(l, node, "a penalty needs a Lagrangian that is quadratic in the velocities");
    if (omega < 0) return lgv_yaml_fail(l, node, "penalty needs omega");
    if (!lgv_load_number(l, omega, "omega of the penalty", 0, &formula)) return false;
    if (!lgv_load_constant(l, window >= 0 ? window : omega, "the penalty", &number)) return false;
    if (!(number > 0))
        return lgv_yaml_fail(l, window >= 0 ? window : omega, "expected a positive number, found %g", number);
    if (m->stiff < 0) lgv_yaml_place(l, node, &m->stiff_line, &m->stiff_column);
    m->penalty_window = window >= 0 ? number : 2 * acos(-1) / number;
    return add_term(l, formula);
}

/* omega can be set from outside after the file was read; without springs there is nothing in the place of g = 0. */
enum lgv_status lgv_penalty_start(const struct lgv_model *m, struct lgv_error *err) {
    struct lgv_evaluator e;
    const struct lgv_env env = {.par = m->par};
    if (!m->npenalties) return LGV_OK;
    if (!lgv_eval_begin(&e, m->graph)) return lgv_fail_memory(err);
    const double square = lgv_eval_node(&e, m->penalty, &env, NULL);
    lgv_eval_end(&e);
    if (square > 0 && isfinite(square)) return LGV_OK;
    return lgv_model_fail(err, m->file, m->text, m->stiff_line, m->stiff_column,
                          "omega^2 of the penalty is %g at these parameters; it must be positive and finite", square);
}
