/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structure recognised from the formulas.
 *
 *     separable            every second derivative K_qp vanishes
 *     noises commute       brackets.c
 *     a symmetry holds     symmetries.c */
#include "model/brackets.h"
#include "model/kind.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the noises one by one ---- */

struct noises {
    struct lgv_model *m;
    const struct lgv_noise *entry;
    int *node;
    size_t count;
};

static bool noise_member(void *user, const long *vars) {
    struct noises *n = user;
    n->node[n->count++] =
        lgv_loops_instance(n->m->graph, n->entry->body, vars, n->m->graph->nest[n->entry->nest].count);
    return !n->m->graph->failed;
}

int *lgv_model_noises(struct lgv_model *m) {
    struct noises n = {.m = m, .node = lgv_new(m->nnoise + 1, sizeof *n.node)};
    for (size_t e = 0; n.node && e < m->nentries && !m->graph->failed; e++) {
        n.entry = &m->noise[e];
        if (n.entry->nest < 0)
            n.node[n.count++] = lgv_loops_instance(m->graph, n.entry->body, NULL, 0);
        else
            lgv_loops_each(m->graph, n.entry->nest, LGV_MAX_INSTANCES, noise_member, &n);
    }
    if (!n.node && !m->graph->failed) m->graph->failed = "out of memory";
    return n.node;
}

/* ---- observables ---- */

struct wanted {
    struct lgv_model *m;
    const struct lgv_observable *o;
    int node;
};

static bool is_wanted(void *user, const long *vars) {
    struct wanted *w = user;
    struct lgv_graph *g = w->m->graph;
    if (lgv_loops_index(g, w->o->row, vars) != (long)w->o->member) return true;
    w->node = lgv_loops_instance(g, w->o->node, vars, g->nest[w->o->nest].count);
    return false;
}

int lgv_model_observed(struct lgv_model *m, const struct lgv_observable *o) {
    struct wanted w = {m, o, o->node};
    if (o->family) lgv_loops_each(m->graph, o->nest, LGV_MAX_INSTANCES, is_wanted, &w);
    return w.node;
}

/* ---- all of it ---- */

/* Is one of these operations applied to something with these uses, anywhere in the model? */
static bool bent(const struct lgv_model *m, unsigned operations, unsigned moving) {
    const struct lgv_graph *g = m->graph;
    bool yes = lgv_diff_uses(g, m->hamiltonian, operations, moving) ||
               (m->lagrangian >= 0 && lgv_diff_uses(g, m->lagrangian, operations, moving));
    for (size_t i = 0; i < m->nentries && !yes; i++) yes = lgv_diff_uses(g, m->noise[i].body, operations, moving);
    for (size_t i = 0; i < m->nconstraint_entries && !yes; i++)
        yes = lgv_diff_uses(g, m->constraint[i].body, operations, moving);
    return yes;
}

bool lgv_model_kinks(const struct lgv_model *m) {
    return bent(m, LGV_KINKS, LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES(LGV_V) | LGV_USES_TIME);
}

static void noise_structure(struct lgv_model *m, struct lgv_structure *s) {
    unsigned moving = LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES_TIME;
    s->additive = m->nnoise > 0;
    for (size_t e = 0; e < m->nentries; e++) {
        const struct lgv_noise *n = &m->noise[e];
        struct lgv_gradients d;
        if (!lgv_gradients_of(m, n->nest < 0 ? n->body : lgv_expr_loop(m->graph, n->nest, n->body), &d)) return;
        bool jumps = lgv_diff_uses(m->graph, n->body, LGV_JUMPS, moving); /* their derivatives do not tell it all */
        unsigned uses = jumps ? m->graph->node[n->body].uses : 0;
        if (d.q.count || (uses & LGV_USES(LGV_Q))) s->noise_depends |= LGV_ON_Q;
        if (d.p.count || (uses & LGV_USES(LGV_P))) s->noise_depends |= LGV_ON_P;
        if (lgv_terms_use(m->graph, &d.p, LGV_USES(LGV_P))) s->noise_curved = true;
        if (lgv_terms_use(m->graph, &d.p, LGV_USES(LGV_Q) | LGV_USES(LGV_P)) || (uses & LGV_USES(LGV_P)))
            s->noise_turns = true;
        if (jumps || (d.p.count && m->graph->nrotations)) s->additive = false; /* s.m turns m: no constant field */
        if (lgv_terms_use(m->graph, &d.q, moving) || lgv_terms_use(m->graph, &d.p, moving)) s->additive = false;
        lgv_gradients_free(&d);
    }
    s->steady_noise = s->additive || m->nnoise == 0;
}

/* Does a derivative with respect to q depend on p, or the other way round?  Second derivatives do not tell where a
 * function jumps: q floor(p). */
static bool mixed(struct lgv_graph *g, const struct lgv_function *f) {
    struct lgv_terms q = {0}, p = {0};
    lgv_terms_gradient(g, f, LGV_Q, &q);
    lgv_terms_gradient(g, f, LGV_P, &p);
    bool yes = lgv_terms_use(g, &q, LGV_USES(LGV_P)) || lgv_terms_use(g, &p, LGV_USES(LGV_Q));
    lgv_terms_free(&q);
    lgv_terms_free(&p);
    return yes;
}

/* Does H_p not vanish with p? */
static bool is_shifted(struct lgv_model *m) {
    double *shift = lgv_new(2 * m->np, sizeof *shift);
    bool yes = false;
    if (shift && lgv_model_masses(m, true, shift + m->np, shift))
        for (size_t i = 0; i < m->np; i++) yes = yes || shift[i] != 0;
    free(shift);
    return yes;
}

/* Second derivatives of the stiff part that depend on neither q nor t.  They do not tell where it bends or jumps. */
static bool is_quadratic(struct lgv_model *m, int node) {
    struct lgv_graph *g = m->graph;
    struct lgv_function V = {0};
    struct lgv_terms t = {0};
    bool ok = lgv_function_split(g, node, false, &V);
    if (ok) lgv_terms_hessian(g, &V, LGV_Q, LGV_Q, &t);
    if (ok) lgv_terms_gradient(g, &V, LGV_Q, &t);
    ok = ok && !lgv_diff_uses(g, node, LGV_KINKS, LGV_USES(LGV_Q) | LGV_USES_TIME);
    for (size_t i = 0; ok && i < t.count; i++)
        ok = !(g->node[t.term[i].value].uses & (LGV_USES_TIME | (t.term[i].col < 0 ? 0 : LGV_USES(LGV_Q))));
    lgv_terms_free(&t);
    lgv_function_free(&V);
    return ok;
}

/* Do rotations move freely without their momenta in the way of others? */
static bool is_free(struct lgv_model *m, const struct lgv_structure *s) {
    const size_t entries = 9 * lgv_model_bodies(m, false) + 36 * lgv_model_bodies(m, true);
    if (!s->flat || !s->quadratic_kinetic || m->lagrangian_only) return false;
    double *inverse = lgv_new(entries, sizeof *inverse);
    bool yes = inverse && lgv_model_inertia(m, inverse, NULL) == LGV_OK;
    free(inverse);
    return yes;
}

enum lgv_status lgv_formulas_structure(struct lgv_model *m, struct lgv_structure *out, struct lgv_error *err) {
    struct lgv_graph *g = m->graph;
    struct lgv_function K, H;
    struct lgv_terms t[4] = {0};
    unsigned state = LGV_USES(LGV_Q) | LGV_USES(LGV_P);
    if (lgv_model_increment(m, &K) && lgv_function_split(g, m->hamiltonian, false, &H)) {
        lgv_terms_hessian(g, &K, LGV_Q, LGV_P, &t[0]);
        if (!m->bath.fixman) lgv_terms_hessian(g, &K, LGV_Q, LGV_Q, &t[1]); /* large, and not constant: a logarithm */
        lgv_terms_hessian(g, &K, LGV_P, LGV_P, &t[2]);
        bool jumps = bent(m, LGV_JUMPS, state);
        out->separable = t[0].count == 0 && !(jumps && mixed(g, &K));
        out->linear = !g->nrotations && !m->bath.fixman && !bent(m, LGV_KINKS, state);
        for (int k = 0; k < 3; k++) out->linear &= !lgv_terms_use(g, &t[k], state);
        for (size_t i = 0; i < K.count; i++)
            out->time_dependent |= (g->node[K.summand[i].body].uses & LGV_USES_TIME) != 0;
        lgv_terms_gradient(g, &K, LGV_P, &t[3]);
        out->kinetic_time = lgv_terms_use(g, &t[3], LGV_USES_TIME);
        out->flat = out->separable && !out->kinetic_time && !lgv_terms_use(g, &t[2], state);
        t[3].count = 0;
        lgv_terms_hessian(g, &H, LGV_Q, LGV_P, &t[3]);
        out->hamiltonian_separable = t[3].count == 0 && !(jumps && mixed(g, &H));
        t[3].count = 0;
        lgv_terms_hessian(g, &H, LGV_P, LGV_P, &t[3]);
        out->quadratic_kinetic =
            out->hamiltonian_separable && t[3].count && !lgv_terms_use(g, &t[3], state | LGV_USES_TIME);
        out->diagonal_mass = t[3].count > 0;
        for (size_t k = 0; k < t[3].count; k++) out->diagonal_mass &= t[3].term[k].row == t[3].term[k].col;
        out->rotations = g->nrotations > 0;
        out->coupled = lgv_model_bodies(m, true) > 0;
        out->spins = g->nrotations && is_free(m, out);
        out->reduced = g->reduced;
        if (g->nrotations && !out->spins && out->quadratic_kinetic && m->lagrangian < 0)
            out->inertia_fault = lgv_model_inertia_fault(m);
        out->bath = m->bath.kind != LGV_FRICTION_NONE;
        out->shifted = (out->bath || m->stiff >= 0) && out->quadratic_kinetic && is_shifted(m);
        out->stiff_quadratic = m->stiff >= 0 && is_quadratic(m, m->stiff);
        out->process = m->nprocesses > 0;
        out->process_linear = out->process && lgv_model_processes_linear(m);
        for (size_t k = 0; k < m->nentries; k++) out->process_in_noise |= lgv_model_has_process(m, m->noise[k].body);
        out->steady_bath = out->bath && m->bath.kind != LGV_FRICTION_OF_Q;
        out->forced = m->force != NULL;
        out->force_of_p = m->force_of_p;
        for (size_t i = 0; m->force && i < m->np; i++)
            out->time_dependent |= (g->node[m->force[i]].uses & LGV_USES_TIME) != 0;
        if (m->lagrangian_only) /* the energy in terms of q and v says nothing about H */
            out->separable = out->linear = out->flat = out->hamiltonian_separable = out->quadratic_kinetic = false;
        noise_structure(m, out);
        lgv_brackets_commute(m, out);
        out->nsymmetries = m->nsymmetries;
        for (size_t k = 0; k < m->nsymmetries && k < LGV_MAX_SYMMETRIES; k++) lgv_symmetry_check(m, k, out);
        lgv_function_free(&H);
    }
    lgv_function_free(&K);
    for (int k = 0; k < 4; k++) lgv_terms_free(&t[k]);
    if (lgv_expr_no_memory(g)) return lgv_fail_memory(err);
    if (g->failed)
        return lgv_model_fail(err, m->file, m->text, m->line, m->column, "the formulas cannot be analysed: %s",
                              g->failed);
    return LGV_OK;
}
