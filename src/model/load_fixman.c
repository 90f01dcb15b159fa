/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Fixman term, `fixman: yes` in `langevin`.  Constrained dynamics samples exp(-V/kT) in the area of g = 0 that the
 * masses measure.  Strong springs |g|^2/(2 eps) in the place of the constraints have, as eps goes to 0, the law
 *
 *     exp(-V/kT) delta(g) dq = exp(-V/kT) det(A)^(-1/2) area,     A = G M^-1 G^T,
 *
 * by the co-area formula.  The potential kT/2 ln det A added to V makes the one the other: Fixman (1974), doi
 * 10.1073/pnas.71.8.3050.  A is eliminated symbolically, A = L D L^T, so that ln det A = sum_k ln d_k is a formula like
 * any other: derivatives, H, all methods follow.  Rows with few others beside them come first, so that the work is
 * linear in the length of a chain. */
#include "model/load.h"
#include <stdlib.h>
#include <string.h>

#define MOST_CONSTRAINTS 200 /* of a chain: the kernel takes a minute to compile */
#define MOST_UPDATES 20000 /* entries changed in the elimination: 46 constraints that all know each other */

struct gram {
    struct lgv_graph *g;
    size_t n;
    int *A; /* [n][n] symmetric */
    int zero;
};

/* ---- A = G M^-1 G^T ---- */

/* The beginning of every row of entries that are sorted by rows: [rows + 1]. */
static size_t *row_starts(const struct lgv_cells *e, size_t rows) {
    size_t *first = lgv_new(rows + 1, sizeof *first), row = 0;
    for (size_t k = 0; first && k < e->count; k++)
        while (row <= (size_t)e->cell[k].row) first[row++] = k;
    while (first && row <= rows) first[row++] = e->count;
    return first;
}

/* Row k of A from w = M^-1 G_k, which is made first. */
static void gram_row(struct gram *s, size_t k, const struct lgv_cells *G, const size_t *first,
                     const struct lgv_cells *M, const size_t *mass, size_t np, int *w, struct lgv_arg *arg) {
    struct lgv_graph *g = s->g;
    for (size_t i = 0; i < np; i++) w[i] = s->zero;
    for (size_t e = first[k]; e < first[k + 1]; e++)
        for (size_t a = mass[G->cell[e].col]; a < mass[G->cell[e].col + 1]; a++) {
            int *at = &w[M->cell[a].col];
            *at = lgv_expr_add(g, *at, lgv_expr_mul(g, M->cell[a].node, G->cell[e].node));
        }
    for (size_t l = 0; l <= k; l++) {
        size_t n = 0;
        for (size_t e = first[l]; e < first[l + 1]; e++) {
            int x = w[G->cell[e].col];
            if (x != s->zero) arg[n++] = (struct lgv_arg){lgv_expr_mul(g, x, G->cell[e].node), 1};
        }
        s->A[k * s->n + l] = s->A[l * s->n + k] = lgv_expr_sum(g, 0, arg, n);
    }
}

static bool gram_of(struct lgv_model *m, struct gram *s, bool *steady) {
    struct lgv_graph *g = m->graph;
    struct lgv_function S = {0};
    struct lgv_terms jacobian = {0}, inverse = {0};
    struct lgv_cells G = {0}, M = {0};
    bool ok = lgv_model_constraint_sum(m, &S) && lgv_algebra_inverse_masses(m, &inverse);
    if (ok) lgv_terms_hessian(g, &S, LGV_LAMBDA, LGV_Q, &jacobian);
    *steady = ok && !lgv_terms_use(g, &inverse, LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES_TIME);
    ok = *steady && lgv_terms_cells(g, &jacobian, LGV_SPACES, &G) && lgv_terms_cells(g, &inverse, LGV_SPACES, &M);
    size_t *first = ok ? row_starts(&G, s->n) : NULL, *mass = ok ? row_starts(&M, m->np) : NULL;
    int *w = lgv_new(m->np, sizeof *w);
    struct lgv_arg *arg = lgv_new(m->np, sizeof *arg);
    if (ok && !(first && mass && w && arg)) g->failed = "out of memory";
    for (size_t k = 0; ok && k < s->n && !g->failed; k++) gram_row(s, k, &G, first, &M, mass, m->np, w, arg);
    free(G.cell);
    free(M.cell);
    free(first);
    free(mass);
    free(w);
    free(arg);
    lgv_terms_free(&jacobian);
    lgv_terms_free(&inverse);
    lgv_function_free(&S);
    return ok && !g->failed;
}

/* ---- ln det A ---- */

/* Of the rows left, one with the fewest others beside it; those go into `beside`. */
static size_t next_row(const struct gram *s, const bool *done, size_t *beside, size_t *count) {
    size_t best = s->n;
    *count = s->n;
    for (size_t k = 0; k < s->n; k++) {
        size_t degree = 0;
        for (size_t l = 0; !done[k] && l < s->n; l++) degree += l != k && !done[l] && s->A[k * s->n + l] != s->zero;
        if (!done[k] && degree < *count) best = k, *count = degree;
    }
    for (size_t l = 0, at = 0; l < s->n; l++)
        if (l != best && !done[l] && s->A[best * s->n + l] != s->zero) beside[at++] = l;
    return best;
}

/* A is used up.  False: it would become too large. */
static bool log_determinant(struct gram *s, int *out) {
    struct lgv_graph *g = s->g;
    bool *done = lgv_new(s->n, sizeof *done);
    size_t *beside = lgv_new(s->n, sizeof *beside), count, updates = 0;
    struct lgv_arg *arg = lgv_new(s->n, sizeof *arg);
    if (!done || !beside || !arg) g->failed = "out of memory";
    for (size_t step = 0; step < s->n && !g->failed && updates <= MOST_UPDATES; step++) {
        size_t k = next_row(s, done, beside, &count);
        int pivot = s->A[k * s->n + k];
        done[k] = true;
        updates += count * (count + 1) / 2;
        arg[step] = (struct lgv_arg){lgv_expr_call1(g, LGV_LOG, pivot), 1};
        for (size_t i = 0; i < count && updates <= MOST_UPDATES; i++) {
            int part = lgv_expr_div(g, s->A[beside[i] * s->n + k], pivot);
            for (size_t j = 0; j <= i; j++) {
                int *at = &s->A[beside[i] * s->n + beside[j]];
                *at = lgv_expr_sub(g, *at, lgv_expr_mul(g, part, s->A[beside[j] * s->n + k]));
                s->A[beside[j] * s->n + beside[i]] = *at;
            }
        }
    }
    bool small = updates <= MOST_UPDATES;
    if (!g->failed && small) *out = lgv_expr_sum(g, 0, arg, s->n);
    free(done);
    free(beside);
    free(arg);
    return small;
}

/* ---- the term ---- */

/* kT/2 ln det A becomes a part of H, and of L with the other sign. */
static bool add_term(struct lgv_loader *l, int logarithm, int kT) {
    struct lgv_model *m = l->m;
    struct lgv_graph *g = m->graph;
    struct lgv_text t = {0};
    int term = lgv_expr_scale(g, 0.5, lgv_expr_mul(g, kT, logarithm));
    m->hamiltonian = lgv_expr_add(g, m->hamiltonian, term);
    if (m->lagrangian >= 0) m->lagrangian = lgv_expr_sub(g, m->lagrangian, term);
    lgv_text_add(&t, "%s + Fixman term", m->hamiltonian_text);
    free(m->hamiltonian_text);
    m->hamiltonian_text = t.data;
    if (t.failed) return lgv_yaml_memory(l);
    m->bath.fixman = true;
    lgv_scope_find(&m->scope, "H")->value.node[0] = m->hamiltonian;
    return lgv_scope_find(&m->scope, "fixman") ? true : lgv_load_value(l, "fixman", term);
}

static bool make_term(struct lgv_loader *l, int node, int kT) {
    struct lgv_model *m = l->m;
    struct gram s = {.g = m->graph, .n = m->nconstraints, .zero = lgv_expr_const(m->graph, 0)};
    int logarithm = 0;
    bool steady = true, small = true;
    if (s.n > MOST_CONSTRAINTS)
        return lgv_yaml_fail(l, node, "the Fixman term is for %d constraints at most, and there are %zu",
                             MOST_CONSTRAINTS, s.n);
    if (!(s.A = lgv_new(s.n * s.n, sizeof *s.A))) return lgv_yaml_memory(l);
    if (gram_of(m, &s, &steady)) small = log_determinant(&s, &logarithm);
    free(s.A);
    if (m->graph->failed) return lgv_yaml_fail(l, node, "the Fixman term: %s", m->graph->failed);
    if (!steady) return lgv_yaml_fail(l, node, "the Fixman term needs constant masses");
    if (!small)
        return lgv_yaml_fail(l, node, "the Fixman term is too large: too many of the %zu constraints share coordinates",
                             s.n);
    return add_term(l, logarithm, kT);
}

bool lgv_load_fixman(struct lgv_loader *l, int node) {
    int fixman = -1, temperature = -1, kT;
    bool wanted = false;
    if (node < 0 || lgv_yaml_node(l, node)->kind != LGV_YAML_MAPPING) return true; /* refused later, if at all */
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        if (strcmp(name, "fixman") == 0) fixman = value;
        if (strcmp(name, "temperature") == 0) temperature = value;
    }
    if (fixman < 0) return true;
    const char *text = lgv_yaml_text(l, fixman, "yes or no");
    if (!text) return false;
    if (!lgv_option_switch(text, &wanted)) return lgv_yaml_fail(l, fixman, "expected yes or no");
    if (!wanted || temperature < 0) return true;
    if (l->m->nconstraints == 0) return lgv_yaml_fail(l, fixman, "the Fixman term is for models with constraints");
    if (l->m->lagrangian_only) return lgv_yaml_fail(l, fixman, "the Fixman term needs constant masses");
    if (lgv_yaml_node(l, temperature)->kind != LGV_YAML_SCALAR)
        return lgv_yaml_fail(l, temperature, "the Fixman term needs one temperature");
    return lgv_load_number(l, temperature, "a temperature", 0, &kT) && make_term(l, fixman, kT);
}
