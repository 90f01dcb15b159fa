/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Forces F(q, t) beside the potential: is the matrix F_q symmetric?  Kicks by F are symplectic if and only if it is,
 * and F has a potential then.  Derivatives are symbolic, and compared at points near the start. */
#include "model/calculus.h"
#include "model/point.h"
#include <math.h>
#include <stdlib.h>

#define MOST_ROWS 300
#define SYMMETRIC 1e-10 /* of the largest entry: sums of some hundred terms have round-off of 1e-14 */

/* 1: yes at this point, or nothing is known there; 0: no; -1: no memory. */
static int symmetric_at(struct lgv_model *m, struct lgv_evaluator *e, const struct lgv_terms *d, int number,
                        double *J) {
    const size_t n = m->np;
    struct lgv_point at;
    double size = 0, apart = 0;
    if (!lgv_point_make(m, e, number, LGV_POINTS, &at)) return -1;
    struct lgv_env env = lgv_point_env(m, &at);
    for (size_t i = 0; i < n * n; i++) J[i] = 0;
    for (size_t i = 0; i < n; i++) lgv_eval_terms(e, &d[i], &env, J + i * n, n, 1);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            size = fmax(size, fmax(fabs(J[i * n + k]), fabs(J[k * n + i])));
            apart = fmax(apart, fabs(J[i * n + k] - J[k * n + i]));
        }
    free(at.x);
    return !(apart > SYMMETRIC * size);
}

static bool gradients(struct lgv_model *m, struct lgv_terms *d) {
    for (size_t i = 0; i < m->np; i++) {
        struct lgv_function f = {0};
        if (!lgv_function_split(m->graph, m->force[i], false, &f)) return false;
        lgv_terms_gradient(m->graph, &f, LGV_Q, &d[i]);
        lgv_function_free(&f);
    }
    return !m->graph->failed;
}

int lgv_model_force_symmetric(struct lgv_model *m) {
    struct lgv_graph *g = m->graph;
    if (!m->force || m->force_of_p || g->nrotations || m->np > MOST_ROWS) return -1;
    for (size_t i = 0; i < m->np; i++) /* derivatives do not tell where it jumps */
        if (lgv_diff_uses(g, m->force[i], LGV_JUMPS, LGV_USES(LGV_Q))) return -1;
    struct lgv_terms *d = lgv_new(m->np, sizeof *d);
    double *J = lgv_new(m->np * m->np, sizeof *J);
    struct lgv_evaluator e;
    int yes = d && J && gradients(m, d) && lgv_eval_begin(&e, g) ? 1 : -1;
    if (yes > 0) {
        for (int k = 0; k < LGV_POINTS && yes > 0; k++) yes = symmetric_at(m, &e, d, k, J);
        lgv_eval_end(&e);
    }
    for (size_t i = 0; d && i < m->np; i++) lgv_terms_free(&d[i]);
    free(d);
    free(J);
    return yes;
}
