/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random parameters: every path has a value of its own, for its whole time.
 *
 *     parameters: { k: "normal(1, 0.1)", omega: sqrt(k) }
 *
 * A parameter whose formula has draws, or another random parameter, is drawn with the start values, from the same
 * streams.  In kernels it is a row of the state; everywhere else, where structure is examined at some points, it is an
 * ordinary parameter with a typical value.  The entries of an array are drawn all or none, so that their rows follow
 * each other.  What is computed once for all paths cannot depend on it, and is refused. */
#include "model/load.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RANDOM (LGV_USES(LGV_NORMAL) | LGV_USES(LGV_UNIFORM) | LGV_USES(LGV_DRAWN))
#define OBSERVED 8 /* entries of an array that are observed unasked */

/* Draw k of a typical value: no quantity that such a parameter enters vanishes there by accident, and no two are the
 * same. */
static double typical_uniform(int k) {
    double x = 0.57 + 0.6180339887498949 * k;
    return 0.05 + 0.9 * (x - floor(x)) + (k ? 0 : 0.007); /* 0.57 for the first one */
}

static double typical_normal(int k) {
    return k ? 3 * (typical_uniform(k) - 0.5) : 0.31;
}

double lgv_between(double low, double high, int k) {
    double x = typical_uniform(k);
    return low < high ? (1 - x) * low + x * high : low;
}

bool lgv_load_is_drawn(const struct lgv_loader *l, int formula) {
    return (l->m->graph->node[formula].uses & RANDOM) != 0;
}

bool lgv_load_typical(struct lgv_loader *l, int node, int formula, double *out) {
    const int n = l->m->draws[0] + l->m->draws[1] + 1;
    double *z = lgv_new(2 * (size_t)n, sizeof *z);
    struct lgv_evaluator e;
    struct lgv_env env = {.par = l->m->par, .space = {[LGV_NORMAL] = z, [LGV_UNIFORM] = z + n}};
    for (int k = 0; z && k < n; k++) z[k] = typical_normal(k), z[n + k] = typical_uniform(k);
    bool ok = (z && lgv_eval_begin(&e, l->m->graph)) || lgv_yaml_memory(l);
    if (ok) {
        *out = lgv_eval_node(&e, formula, &env, NULL);
        lgv_eval_end(&e);
        ok = isfinite(*out) || lgv_yaml_fail(l, node, "a typical value of it is %g; it must be a finite number", *out);
    }
    free(z);
    return ok;
}

bool lgv_load_drawn(struct lgv_loader *l, int key, int number, int formula) {
    struct lgv_model *m = l->m;
    if (m->graph->ndrawn == LGV_MAX_DRAWN)
        return lgv_yaml_fail(l, key, "more than %d random parameters", LGV_MAX_DRAWN);
    m->drawn[m->graph->ndrawn] = formula;
    m->graph->drawn[m->graph->ndrawn++] = number;
    m->graph->nsteady = m->graph->ndrawn; /* load_process.c takes it back for processes */
    return true;
}

bool lgv_model_masses_drawn(struct lgv_model *m) {
    struct lgv_function H = {0};
    struct lgv_terms t = {0};
    bool found = false;
    if (lgv_function_split(m->graph, m->hamiltonian, false, &H)) lgv_terms_gradient(m->graph, &H, LGV_P, &t);
    for (size_t k = 0; k < t.count; k++) found |= (m->graph->node[t.term[k].value].uses & LGV_USES(LGV_DRAWN)) != 0;
    lgv_terms_free(&t);
    lgv_function_free(&H);
    return found;
}

static const char *fault(struct lgv_model *m) {
    const struct lgv_graph *g = m->graph;
    const size_t n = m->bath.kind == LGV_FRICTION_MATRIX ? m->np * m->np : m->np;
    const bool bath = m->bath.kind != LGV_FRICTION_NONE;
    for (size_t k = 0; bath && k < n; k++)
        if (g->node[m->bath.friction[k]].uses & LGV_USES(LGV_DRAWN)) return "the friction of a bath";
    for (size_t k = 0; bath && k < m->np; k++)
        if (g->node[m->bath.temperature[k]].uses & LGV_USES(LGV_DRAWN)) return "a temperature";
    if (m->stiff >= 0 && g->node[m->stiff].uses & LGV_USES(LGV_DRAWN)) return "the stiff part of a potential";
    for (size_t k = 0; m->nprocesses && k < m->nconstraint_entries; k++)
        if (g->node[m->constraint[k].body].uses & LGV_USES_TIME) return "a constraint";
    if (g->ncuts) return "a model with sums over near pairs";
    if ((bath || g->nrotations || m->stiff >= 0) && lgv_model_masses_drawn(m))
        return bath ? "masses beside a bath" : g->nrotations ? "an inertia" : "masses beside a stiff part";
    return NULL;
}

bool lgv_load_drawn_check(struct lgv_loader *l) {
    struct lgv_model *m = l->m;
    const char *what = m->graph->ndrawn ? fault(m) : NULL;
    if (!what) return true;
    const struct lgv_symbol *s = lgv_model_drawn_symbol(m, 0);
    lgv_model_fail(l->err, l->file, l->text, s ? s->line : 0, s ? s->column : 0,
                   "a random parameter or a process cannot be in %s, which is the same for all paths and times", what);
    return false;
}

/* They are observed under their own names. */
bool lgv_load_observe_drawn(struct lgv_loader *l) {
    struct lgv_model *m = l->m;
    const struct lgv_graph *g = m->graph;
    struct lgv_observable *o =
        g->ndrawn ? realloc(m->observable, (m->nobservables + (size_t)g->ndrawn) * sizeof *o) : m->observable;
    if (g->ndrawn && !o) return lgv_yaml_memory(l);
    m->observable = o;
    for (int k = 0; k < g->ndrawn; k++) {
        const char *name = m->par_name[g->drawn[k]];
        bool known = lgv_model_drawn_symbol(m, k) && lgv_model_drawn_symbol(m, k)->length > OBSERVED;
        for (size_t i = 0; i < m->nobservables; i++) known |= strcmp(m->observable[i].name, name) == 0;
        if (known) continue;
        o = &m->observable[m->nobservables++];
        *o = (struct lgv_observable){.name = lgv_copy(name), .text = lgv_copy(name), .nest = -1,
                                     .node = lgv_expr_param(m->graph, g->drawn[k])};
        if (!o->name || !o->text) return lgv_yaml_memory(l);
    }
    return true;
}

const struct lgv_symbol *lgv_model_drawn_symbol(const struct lgv_model *m, int k) {
    char name[LGV_MAX_NAME + 32];
    snprintf(name, sizeof name, "%s", m->par_name[m->graph->drawn[k]]);
    name[strcspn(name, "[")] = '\0';
    return lgv_scope_find(&m->scope, name);
}

void lgv_model_drawn_words(const struct lgv_model *m, struct lgv_text *out) {
    for (int k = 0; m->graph && k < m->graph->nsteady; k++) {
        const struct lgv_symbol *s = lgv_model_drawn_symbol(m, k);
        if (!s || (k && s == lgv_model_drawn_symbol(m, k - 1))) continue; /* an array, which was told */
        lgv_text_add(out, "%s%s%s", k ? ", " : "", s->name, s->length ? "[i]" : "");
        if (s->text) lgv_text_add(out, " = %s", s->text);
    }
}
