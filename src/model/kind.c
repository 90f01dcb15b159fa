/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kinds of models: what is asked of any model goes to its kind.  Models of formulas are described here, those of C
 * functions in callbacks.c. */
#include "model/kind.h"
#include <math.h>

/* What was found before, if nothing that it comes from has changed: brackets at random points take seconds where
 * coordinates are many, and several parts of the program ask. */
static bool known(const struct lgv_model *m, struct lgv_structure *out) {
    const struct lgv_structure *s = m->known;
    if (!s || m->known_changes != m->changes) return false;
    if (s->time_dependent && (s->from != m->from || s->until != m->until)) return false;
    *out = *s;
    out->from = m->from;
    out->until = m->until;
    return true;
}

static void remember(struct lgv_model *m, uint64_t changes, const struct lgv_structure *s) {
    if (!m->known) m->known = lgv_new(1, sizeof *m->known);
    if (!m->known) return;
    *m->known = *s;
    m->known_changes = changes;
}

enum lgv_status lgv_model_structure(struct lgv_model *m, struct lgv_structure *out, struct lgv_error *err) {
    *out = (struct lgv_structure){.derivative_error = NAN, .commutes = 1, .constrained = m->nconstraints > 0};
    enum lgv_status status = lgv_near_start(m, err);
    if (status == LGV_OK) status = lgv_penalty_start(m, err);
    if (status || known(m, out)) return status;
    const uint64_t changes = m->changes;
    status = m->kind->structure(m, out, err);
    if (status == LGV_OK) remember(m, changes, out);
    return status;
}

enum lgv_status lgv_model_constraint_check(struct lgv_model *m, struct lgv_start_report *out, struct lgv_error *err) {
    *out = (struct lgv_start_report){0};
    return m->nconstraints ? m->kind->constraint_check(m, out, err) : LGV_OK;
}

double lgv_model_derivative_error(struct lgv_model *m) {
    return m->kind->derivative_error(m);
}

/* ---- formulas ---- */

static bool always(const struct lgv_model *m) {
    (void)m;
    return true;
}

static int component(struct lgv_model *m, size_t i) {
    return lgv_expr_ref_at(m->graph, i < m->nx ? LGV_Q : LGV_P, (long)(i < m->nx ? i : i - m->nx));
}

static void graph_free(struct lgv_model *m) {
    lgv_scope_free(&m->scope);
    lgv_expr_graph_free(m->graph);
}

const struct lgv_model_kind lgv_model_formulas = {
    .formulas = true,
    .structure = lgv_formulas_structure,
    .constraint_check = lgv_formulas_constraint_check,
    .derivative_error = lgv_formulas_derivative_error,
    .has_second = always,
    .has_bends = always,
    .has_energy = always,
    .component = component,
    .free = graph_free,
};
