/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Coloured noise, the section `processes`: Gaussian processes with a memory, which formulas of the motion use by name.
 *
 *     eta: { sigma: 0.5, tau: 2 }                    Ornstein-Uhlenbeck: d eta = -eta/tau dt + sigma sqrt(2/tau) dW
 *     xi: { sigma: 1, frequency: 3, damping: 0.2 }   an oscillator: d xi' = -(frequency^2 xi + damping xi') dt + ... dW
 *
 * sigma is the stationary standard deviation.  (Uhlenbeck & Ornstein 1930, doi 10.1103/PhysRev.36.823; Schimansky-Geier
 * & Zuelicke 1990, doi 10.1007/BF01454019.)
 *
 * A process is a random parameter that changes in time: its rows stand behind those of the other random parameters.
 * During a step formulas see its mean over the step, which is exact (text/process.h); between steps its value. */
#include "model/load.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const lgv_process_number_name[LGV_PROCESS_NUMBERS] = {"sigma", "tau", "frequency", "damping"};

/* A row of a process as a parameter of the given name with a formula of draws for its start. */
static bool add_row(struct lgv_loader *l, int key, const char *name, int formula) {
    struct lgv_model *m = l->m;
    double x = 0;
    if (!lgv_load_new_name(l, key, name)) return false;
    for (size_t k = 0; k < l->noverrides; k++)
        if (strcmp(l->override[k].name, name) == 0)
            return lgv_yaml_fail(l, key, "%s is a process and cannot be given a value; its sigma can", name);
    const int steady = m->graph->nsteady;
    if (!lgv_load_typical(l, key, formula, &x) || !lgv_load_add_parameter(l, name, x) ||
        !lgv_load_drawn(l, key, (int)m->npar - 1, formula))
        return false;
    m->graph->nsteady = steady;
    struct lgv_symbol *s = lgv_scope_add(&m->scope, name, LGV_SYM_PARAMETER);
    if (!s) return lgv_yaml_memory(l);
    s->fixed = true;
    s->index = (int)m->npar - 1;
    s->number = x;
    return true;
}

static bool read_numbers(struct lgv_loader *l, int key, int node, struct lgv_coloured *p, int *start) {
    for (int k = 0; k < LGV_PROCESS_NUMBERS; k++) p->node[k] = -1;
    if (!lgv_yaml_mapping(l, node, "a process as { sigma: 1, tau: 2 }")) return false;
    LGV_EACH(l, node, name, value) {
        const char *text = lgv_yaml_node(l, name)->text;
        int k = 0;
        while (k < LGV_PROCESS_NUMBERS && strcmp(text, lgv_process_number_name[k]) != 0) k++;
        if (k == LGV_PROCESS_NUMBERS && strcmp(text, "start") != 0)
            return lgv_yaml_fail(l, name, "unknown key %.60s; a process has sigma and tau, or sigma, frequency and "
                                          "damping, and start", text);
        if (k == LGV_PROCESS_NUMBERS ? *start >= 0 : p->node[k] >= 0)
            return lgv_yaml_fail(l, name, "%s is given twice", text);
        int *formula = k == LGV_PROCESS_NUMBERS ? start : &p->node[k];
        const unsigned draws = k == LGV_PROCESS_NUMBERS ? LGV_USES(LGV_NORMAL) | LGV_USES(LGV_UNIFORM) : 0;
        l->m->scope.draws = draws ? l->m->draws : NULL;
        bool ok = lgv_load_number(l, value, "a number of a process", draws, formula);
        l->m->scope.draws = NULL;
        if (!ok) return false;
        if (!draws && (l->m->graph->node[*formula].uses & LGV_USES(LGV_DRAWN)))
            return lgv_yaml_fail(l, value, "%s of a process is the same for all paths; multiply the process by what is "
                                           "not", text);
        if (!draws) p->at[k] = lgv_yaml_node(l, value)->at;
    }
    const bool oscillates = p->node[LGV_PROCESS_FREQUENCY] >= 0 || p->node[LGV_PROCESS_DAMPING] >= 0;
    p->rows = oscillates ? 2 : 1;
    if (p->node[LGV_PROCESS_SIGMA] < 0) return lgv_yaml_fail(l, key, "a process needs sigma");
    if (oscillates && (p->node[LGV_PROCESS_FREQUENCY] < 0 || p->node[LGV_PROCESS_DAMPING] < 0))
        return lgv_yaml_fail(l, key, "a process that oscillates needs frequency and damping");
    if (oscillates == (p->node[LGV_PROCESS_TAU] >= 0))
        return lgv_yaml_fail(l, key, "a process has either tau, or frequency and damping");
    return true;
}

static int normal(struct lgv_model *m, int scale) {
    return lgv_expr_mul(m->graph, scale, lgv_expr_ref_at(m->graph, LGV_NORMAL, m->draws[0]++));
}

static bool read_process(struct lgv_loader *l, int key, int node) {
    struct lgv_model *m = l->m;
    struct lgv_graph *g = m->graph;
    struct lgv_coloured *p = &m->process[m->nprocesses];
    const char *name = lgv_yaml_node(l, key)->text;
    char rate[LGV_MAX_NAME + 8];
    int start = -1;
    if (m->nprocesses == LGV_MAX_PROCESSES)
        return lgv_yaml_fail(l, key, "more than %d processes", LGV_MAX_PROCESSES);
    if (!read_numbers(l, key, node, p, &start)) return false;
    snprintf(rate, sizeof rate, "%.*s_rate", LGV_MAX_NAME, name);
    if (p->rows == 2) {
        int scale = lgv_expr_mul(g, p->node[LGV_PROCESS_SIGMA], p->node[LGV_PROCESS_FREQUENCY]);
        if (!add_row(l, key, rate, normal(m, scale))) return false;
    }
    if (!add_row(l, key, name, start >= 0 ? start : normal(m, p->node[LGV_PROCESS_SIGMA]))) return false;
    struct lgv_symbol *s = lgv_scope_find(&m->scope, name);
    lgv_yaml_place(l, key, &s->line, &s->column);
    m->nprocesses++;
    return !g->failed || lgv_yaml_fail(l, node, "%s", g->failed);
}

bool lgv_load_processes(struct lgv_loader *l, int node) {
    if (node < 0) return true;
    if (!lgv_yaml_mapping(l, node, "processes as name: { sigma: 1, tau: 2 }")) return false;
    LGV_EACH(l, node, key, value) if (!read_process(l, key, value)) return false;
    return lgv_model_process_values(l->m, NULL, l->err) == LGV_OK;
}

enum lgv_status lgv_model_process_values(struct lgv_model *m, double *out, struct lgv_error *err) {
    struct lgv_evaluator e = {0};
    struct lgv_env env = {.par = m->par};
    enum lgv_status status = LGV_OK;
    if (!lgv_eval_begin(&e, m->graph)) return lgv_fail_memory(err);
    for (size_t i = 0; !status && i < m->nprocesses * LGV_PROCESS_NUMBERS; i++) {
        const struct lgv_coloured *p = &m->process[i / LGV_PROCESS_NUMBERS];
        const size_t k = i % LGV_PROCESS_NUMBERS;
        double x = p->node[k] < 0 ? 0 : lgv_eval_node(&e, p->node[k], &env, NULL);
        if (p->node[k] >= 0 && (!isfinite(x) || x < 0 || (k != LGV_PROCESS_SIGMA && !(x > 0))))
            status = lgv_model_fail_at(err, m, p->at[k], "%s of a process is %g; it must be a %s number",
                                       lgv_process_number_name[k], x,
                                       k == LGV_PROCESS_SIGMA ? "finite nonnegative" : "positive");
        if (out) out[i] = x;
    }
    lgv_eval_end(&e);
    return status;
}

/* ---- what there is to say of them ---- */

const char *lgv_model_process_name(const struct lgv_model *m, size_t k) {
    int row = m->graph->nsteady - 1;
    for (size_t i = 0; i <= k; i++) row += m->process[i].rows;
    return m->par_name[m->graph->drawn[row]];
}

/* All formulas with processes do, and few others. */
static bool moves(const struct lgv_node *n) {
    const unsigned both = LGV_USES(LGV_DRAWN) | LGV_USES_TIME;
    return (n->uses & both) == both;
}

bool lgv_model_has_process(const struct lgv_model *m, int node) {
    const struct lgv_graph *g = m->graph;
    const struct lgv_node *n = &g->node[node];
    if (!m->nprocesses || !moves(n)) return false;
    if (n->op == LGV_PARAM) return true;
    for (int i = 0; i < n->count; i++)
        if (lgv_model_has_process(m, g->arg[n->first + i].node)) return true;
    return false;
}

void lgv_model_process_words(struct lgv_model *m, struct lgv_text *out) {
    double x[LGV_MAX_PROCESSES * LGV_PROCESS_NUMBERS];
    if (!m->nprocesses || lgv_model_process_values(m, x, NULL)) return;
    for (size_t k = 0; k < m->nprocesses; k++) {
        const double *v = x + k * LGV_PROCESS_NUMBERS;
        lgv_text_add(out, "%s%s, ", k ? "; " : "", lgv_model_process_name(m, k));
        if (m->process[k].rows == 1)
            lgv_text_add(out, "an Ornstein-Uhlenbeck process with standard deviation %.6g and correlation time %.6g",
                         v[LGV_PROCESS_SIGMA], v[LGV_PROCESS_TAU]);
        else
            lgv_text_add(out, "an oscillator in a bath with standard deviation %.6g, frequency %.6g and damping %.6g",
                         v[LGV_PROCESS_SIGMA], v[LGV_PROCESS_FREQUENCY], v[LGV_PROCESS_DAMPING]);
    }
}

/* ---- linear or not ---- */

/* Is a node of first degree at most in the processes?  A random parameter times a function of time counts as one. */
static bool linear(const struct lgv_graph *g, int node) {
    const struct lgv_node *n = &g->node[node];
    const struct lgv_arg *arg = &g->arg[n->first];
    int random = 0;
    if (!moves(n) || n->op == LGV_PARAM) return true;
    if (n->op == LGV_LOOP) return linear(g, arg[0].node);
    if (n->op != LGV_SUM && n->op != LGV_PRODUCT) return false;
    for (int i = 0; i < n->count; i++) {
        if (!moves(&g->node[arg[i].node])) continue;
        if (!linear(g, arg[i].node) || (n->op == LGV_PRODUCT && (arg[i].factor != 1 || ++random > 1))) return false;
    }
    return true;
}

bool lgv_model_processes_linear(const struct lgv_model *m) {
    const struct lgv_graph *g = m->graph;
    bool ok = m->hamiltonian >= 0 && linear(g, m->hamiltonian) && (m->lagrangian < 0 || linear(g, m->lagrangian));
    for (size_t k = 0; ok && k < m->nentries; k++) ok = linear(g, m->noise[k].body);
    for (size_t k = 0; ok && m->force && k < m->np; k++) ok = linear(g, m->force[k]);
    return ok;
}
