/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Points near the start values: where formulas are evaluated when they do not answer a question by their form. */
#include "model/point.h"
#include <math.h>
#include <stdlib.h>

double lgv_point_draw(uint64_t *state) { /* splitmix64 */
    uint64_t z = (*state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double draw_normal(uint64_t *state) {
    double u = lgv_point_draw(state), v = lgv_point_draw(state);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* x += normal numbers times the largest of its entries. */
static void shake(double *x, size_t n, double amount, uint64_t *seed) {
    double scale = 0;
    for (size_t i = 0; i < n; i++) scale = fmax(scale, isfinite(x[i]) ? fabs(x[i]) : 0);
    for (size_t i = 0; i < n; i++) x[i] += amount * (scale > 0 ? scale : 1) * draw_normal(seed);
}

bool lgv_point_make(const struct lgv_model *m, struct lgv_evaluator *e, int number, int count, struct lgv_point *out) {
    uint64_t seed = 0x5eed + (uint64_t)(number < 0 ? -1 - number : number) * 7919;
    size_t nx = m->nx, np = m->np, draws = (size_t)(m->draws[0] > m->draws[1] ? m->draws[0] : m->draws[1]);
    double *z = lgv_new(2 * draws + 2, sizeof *z); /* one between both: the number of the path, 0 */
    out->x = lgv_new(nx + 2 * np, sizeof *out->x);
    if (!z || !out->x) {
        free(z);
        free(out->x);
        out->x = NULL;
        return false;
    }
    for (size_t i = 0; i < draws; i++) {
        z[i] = draw_normal(&seed);
        z[draws + 1 + i] = lgv_point_draw(&seed);
    }
    struct lgv_env env = lgv_point_env(m, out);
    env.space[LGV_NORMAL] = z;
    env.space[LGV_UNIFORM] = z + draws + 1;
    env.t = m->from;
    for (size_t i = 0; i < nx; i++) out->x[i] = lgv_eval_node(e, m->start[i], &env, NULL);
    for (size_t i = 0; m->start_velocity && i < np; i++)
        out->x[nx + np + i] = lgv_eval_node(e, m->start_velocity[i], &env, NULL);
    for (size_t i = nx; i < nx + np; i++) out->x[i] = lgv_eval_node(e, m->start[i], &env, NULL);
    double amount = number % 2 ? 1.0 : 0.1;
    if (number >= 0) {
        shake(out->x, nx, amount, &seed);
        shake(out->x + nx, np, amount, &seed);
        if (m->start_velocity) shake(out->x + nx + np, np, amount, &seed);
    }
    if (m->graph) lgv_rotations_clean(m->graph, out->x);
    out->t = m->from;
    if (number >= 0) out->t += (m->until - m->from) * (number % count + lgv_point_draw(&seed)) / count;
    free(z);
    return true;
}

struct lgv_env lgv_point_env(const struct lgv_model *m, const struct lgv_point *at) {
    const double *p = at->x + m->nx;
    return (struct lgv_env){
        .par = m->par, .space = {[LGV_Q] = at->x, [LGV_P] = p, [LGV_V] = p + m->np}, .t = at->t};
}
