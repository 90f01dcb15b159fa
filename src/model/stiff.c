/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers of a stiff part that is quadratic, V1 = q.K q/2 + k.q + const, and of the masses, at the present values of
 * the parameters. */
#include "model/model.h"
#include <stdlib.h>

void lgv_quadratic_free(struct lgv_quadratic *x) {
    free(x->stiffness);
    free(x->inverse_mass);
    free(x->slope);
    *x = (struct lgv_quadratic){0};
}

/* The terms of a matrix as its entries. */
static bool entries(struct lgv_model *m, const struct lgv_terms *t, const struct lgv_env *env,
                    struct lgv_number_at **out, size_t *count) {
    struct lgv_cells cells = {0};
    struct lgv_evaluator e = {0};
    bool ok = lgv_terms_cells(m->graph, t, LGV_SPACES, &cells);
    *out = lgv_new(cells.count + 1, sizeof **out);
    *count = cells.count;
    ok = ok && *out && lgv_eval_begin(&e, m->graph);
    for (size_t i = 0; ok && i < cells.count; i++) {
        const struct lgv_cell *x = &cells.cell[i];
        (*out)[i] = (struct lgv_number_at){x->row, x->col, lgv_eval_node(&e, x->node, env, NULL)};
    }
    if (ok) lgv_eval_end(&e);
    free(cells.cell);
    return ok;
}

bool lgv_model_quadratic(struct lgv_model *m, struct lgv_quadratic *out) {
    struct lgv_graph *g = m->graph;
    struct lgv_terms K = {0}, k = {0}, M = {0};
    struct lgv_function V = {0};
    struct lgv_evaluator e = {0};
    double *zero = lgv_new(m->nx + m->np, sizeof *zero);
    struct lgv_env env = {.par = m->par, .t = m->from};
    *out = (struct lgv_quadratic){.slope = lgv_new(m->np, sizeof *out->slope)};
    env.space[LGV_Q] = env.space[LGV_P] = zero;
    bool ok = zero && out->slope && lgv_function_split(g, m->stiff, false, &V) && lgv_algebra_inverse_masses(m, &M);
    if (ok) lgv_terms_hessian(g, &V, LGV_Q, LGV_Q, &K);
    if (ok) lgv_terms_gradient(g, &V, LGV_Q, &k);
    ok = ok && !g->failed && entries(m, &K, &env, &out->stiffness, &out->nstiffness) &&
         entries(m, &M, &env, &out->inverse_mass, &out->nmass) && lgv_eval_begin(&e, g);
    if (ok) {
        lgv_eval_terms(&e, &k, &env, out->slope, m->np, 1);
        lgv_eval_end(&e);
    } else {
        lgv_quadratic_free(out);
    }
    lgv_terms_free(&K);
    lgv_terms_free(&k);
    lgv_terms_free(&M);
    lgv_function_free(&V);
    free(zero);
    return ok;
}
