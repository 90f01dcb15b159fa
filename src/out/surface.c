/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The surface g(x, y, z) = 0 that a path in space keeps to, as curves on it: cuts by planes across each axis, found on
 * a grid by marching squares.  It is any surface that the constraint of the model describes. */
#include "model/model.h"
#include "out/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CUTS 9  /* planes across each axis */
#define CELLS 36 /* of the grid on a plane, along each side */

struct cut {
    struct lgv_text *out;
    const struct lgv_axis *axis;
    size_t across, u, v; /* the axis that is cut, and the two of the plane */
    double at;
    double g[CELLS + 1][CELLS + 1];
};

static double grid(const struct lgv_axis *a, double part) {
    return a->low + part * (a->high - a->low);
}

/* Where g changes its sign between two corners, in units of the grid. */
static bool crossing(const struct cut *c, const size_t a[2], const size_t b[2], double out[2]) {
    double p = c->g[a[0]][a[1]], q = c->g[b[0]][b[1]];
    if (!isfinite(p) || !isfinite(q) || (p < 0) == (q < 0)) return false;
    double part = p / (p - q);
    for (int k = 0; k < 2; k++) out[k] = (double)a[k] + part * ((double)b[k] - (double)a[k]);
    return true;
}

static void put_point(const struct cut *c, const double at[2]) {
    double x[3];
    x[c->across] = c->at;
    x[c->u] = grid(&c->axis[c->u], at[0] / CELLS);
    x[c->v] = grid(&c->axis[c->v], at[1] / CELLS);
    for (int k = 0; k < 3; k++) lgv_text_add(c->out, " %.5g", x[k] - c->axis[k].base);
}

static void put_cell(const struct cut *c, size_t i, size_t k) {
    const size_t corner[5][2] = {{i, k}, {i + 1, k}, {i + 1, k + 1}, {i, k + 1}, {i, k}};
    double end[4][2];
    size_t n = 0;
    for (size_t e = 0; e < 4; e++) n += crossing(c, corner[e], corner[e + 1], end[n]) ? 1u : 0u;
    for (size_t e = 0; e + 1 < n; e += 2) {
        put_point(c, end[e]);
        put_point(c, end[e + 1]);
        lgv_text_add(c->out, "\n");
    }
}

static void put_cut(struct cut *c, struct lgv_projector *g, size_t number) {
    double q[3];
    c->at = q[c->across] = grid(&c->axis[c->across], ((double)number + 0.5) / CUTS);
    for (size_t i = 0; i <= CELLS; i++)
        for (size_t k = 0; k <= CELLS; k++) {
            q[c->u] = grid(&c->axis[c->u], (double)i / CELLS);
            q[c->v] = grid(&c->axis[c->v], (double)k / CELLS);
            lgv_projector_residual(g, q, &c->g[i][k]);
        }
    for (size_t i = 0; i < CELLS; i++)
        for (size_t k = 0; k < CELLS; k++) put_cell(c, i, k);
}

/* The model of the run with its parameters; NULL where it is not a point in space with one constraint. */
static struct lgv_model *surface_model(const struct lgv_result *r) {
    struct lgv_model *m = NULL;
    if (r->nconstraints != 1 || !r->model_text || lgv_model_parse(r->model_text, r->model_name, &m, NULL) != LGV_OK)
        return NULL;
    for (size_t i = 0; i < r->nparameters; i++)
        if (r->parameter[i].name && r->parameter[i].value)
            lgv_model_set(m, r->parameter[i].name, strtod(r->parameter[i].value, NULL), NULL);
    if (m->nx == 3 && m->np == 3 && m->nconstraints == 1) return m;
    lgv_model_free(m);
    return NULL;
}

bool lgv_surface_put(struct lgv_text *out, const struct lgv_result *r, struct lgv_axis axis[3]) {
    struct lgv_model *m = surface_model(r);
    struct lgv_projector *g = m ? lgv_projector_create(m) : NULL;
    struct cut *c = g ? lgv_new(1, sizeof *c) : NULL;
    size_t before = out->size;
    if (c) {
        for (size_t k = 0; k < 3; k++) { /* room around the path, so that the surface is seen as a whole */
            double air = 0.12 * (axis[k].high - axis[k].low);
            axis[k].low -= air;
            axis[k].high += air;
        }
        *c = (struct cut){.out = out, .axis = axis};
        lgv_text_add(out, "$surface << END\n");
        before = out->size;
        for (c->across = 0; c->across < 3; c->across++)
            for (size_t n = 0; n < CUTS; n++) {
                c->u = (c->across + 1) % 3;
                c->v = (c->across + 2) % 3;
                put_cut(c, g, n);
            }
    }
    bool any = c && out->size > before;
    if (c) lgv_text_add(out, "%sEND\n", any ? "" : "NaN NaN NaN NaN NaN NaN\n");
    free(c);
    lgv_projector_free(g);
    lgv_model_free(m);
    return any;
}
