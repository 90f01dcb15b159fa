/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of rotations and bodies that observables know: xi_R, the velocity H_m of R, and mu_R, the momentum of the
 * variational step that has led here.  That step with the Cayley map is
 *
 *     R = R_before cay(dt v),     mu = I v,     m = (dcay^-1_{-dt v})^* mu = mu - dt/2 v x mu + dt^2/4 (v.mu) v,
 *
 * so that mu is a function of m and dt.  With h = dt/2, A = I^-1, B = adj A, xi = A m and L = 1 + |h v|^2
 *
 *     mu = (L^2 m + L h xi x m + h^2 |m|^2 B m) / (L (L^2 + e)),     e = h^2 m.B m
 *
 * (the equation of rotor.h backwards, h -> -h, in any axes; I and 1/dt are gone), and u = L - 1 = |h A mu|^2 is the
 * root of one polynomial,
 *
 *     u L^2 (L^2 + e)^2 = |L^2 y + L b + a|^2,     y = h xi,   b = h^2 A (xi x m),   a = h^3 |m|^2 det A m,   a.b = 0,
 *
 * which ROUNDS rounds of Newton's method find to round-off from u = |y|^2/(1 + |y|^2)^(2/3), however far the step
 * turns: 1e-15 for all of 1.6e5 random bodies with |y| up to 100. */
#include "model/load.h"
#include <stdlib.h>

#define ROUNDS 10

/* ---- names ---- */

static bool add_pair(struct lgv_loader *l, const char *of, const struct lgv_declared *d) {
    for (int k = 0; k < 2; k++) {
        char name[LGV_MAX_NAME + 8];
        snprintf(name, sizeof name, "%s%s%s", k ? "mu" : "xi", *of ? "_" : "", of);
        if (lgv_scope_find(&l->m->scope, name)) continue; /* the file uses it itself */
        if (!lgv_load_symbol(l, name, d, k ? LGV_MU : LGV_V, d->length)) return false;
    }
    return true;
}

bool lgv_load_body_names(struct lgv_loader *l) {
    const struct lgv_graph *g = l->m->graph;
    for (size_t k = 0; k < l->ncoordinates; k++) {
        if (l->coordinate[k].dim != 4) continue;
        if (!add_pair(l, l->coordinate[k].name, &l->momentum[k])) return false;
        if (g->nrotations == 1 && !add_pair(l, "", &l->momentum[k])) return false;
    }
    return true;
}

/* ---- xi ---- */

bool lgv_load_hamiltonian_velocities(struct lgv_loader *l, int *out) {
    struct lgv_graph *g = l->m->graph;
    struct lgv_function H = {0};
    struct lgv_terms first = {0};
    struct lgv_cells cells = {0};
    bool ok = lgv_function_split(g, l->m->hamiltonian, false, &H);
    if (ok) lgv_terms_gradient(g, &H, LGV_P, &first);
    ok = ok && lgv_terms_cells(g, &first, LGV_SPACES, &cells);
    for (size_t k = 0; ok && k < cells.count; k++) out[cells.cell[k].row] = cells.cell[k].node;
    free(cells.cell);
    lgv_terms_free(&first);
    lgv_function_free(&H);
    return ok;
}

/* ---- mu ---- */

static int dot(struct lgv_graph *g, const int *a, const int *b) {
    int sum = 0;
    for (int k = 0; k < 3; k++) sum = lgv_expr_add(g, sum, lgv_expr_mul(g, a[k], b[k]));
    return sum;
}

static void cross(struct lgv_graph *g, const int *a, const int *b, int *out) {
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = lgv_expr_sub(g, lgv_expr_mul(g, a[i], b[j]), lgv_expr_mul(g, a[j], b[i]));
    }
}

static void times(struct lgv_graph *g, const int *A, const int *x, int *out) {
    for (int i = 0; i < 3; i++) out[i] = dot(g, A + 3 * i, x);
}

/* ((c3 L + c2) L + c1) L + c0 */
static int cubic(struct lgv_graph *g, int L, int c3, int c2, int c1, int c0) {
    int x = lgv_expr_add(g, lgv_expr_mul(g, c3, L), c2);
    x = lgv_expr_add(g, lgv_expr_mul(g, x, L), c1);
    return lgv_expr_add(g, lgv_expr_mul(g, x, L), c0);
}

/* L; right: yy, 2 y.b, b.b + 2 y.a, a.a. */
static int root_of(struct lgv_graph *g, const int right[4], int e) {
    const int one = lgv_expr_const(g, 1);
    int u = lgv_expr_mul(g, right[0], lgv_expr_power(g, lgv_expr_add(g, one, right[0]), -2.0 / 3));
    for (int round = 0; round < ROUNDS; round++) {
        int L = lgv_expr_add(g, one, u), L2 = lgv_expr_power(g, L, 2);
        int root = lgv_expr_mul(g, L, lgv_expr_add(g, L2, e)), slope = lgv_expr_add(g, lgv_expr_scale(g, 3, L2), e);
        int side = lgv_expr_add(g, lgv_expr_mul(g, L2, cubic(g, L, 0, right[0], right[1], right[2])), right[3]);
        int rise = cubic(g, L, lgv_expr_scale(g, 4, right[0]), lgv_expr_scale(g, 3, right[1]),
                         lgv_expr_scale(g, 2, right[2]), 0);
        int f = lgv_expr_sub(g, lgv_expr_mul(g, u, lgv_expr_power(g, root, 2)), side);
        int df = lgv_expr_add(g, lgv_expr_scale(g, 2, lgv_expr_mul(g, u, slope)), root);
        df = lgv_expr_sub(g, lgv_expr_mul(g, root, df), rise);
        u = lgv_expr_sub(g, u, lgv_expr_div(g, f, df));
    }
    return lgv_expr_add(g, one, u);
}

/* The three components of mu, of a body with A = I^-1 and angular momentum m. */
static void momentum_of_step(struct lgv_graph *g, const int A[9], const int m[3], int out[3]) {
    const int h = lgv_expr_scale(g, 0.5, lgv_expr_ref_at(g, LGV_STEP, 0)), h2 = lgv_expr_mul(g, h, h);
    int B[9], xi[3], turned[3], y[3], b[3], a[3], Bm[3];
    for (int i = 0; i < 3; i++) cross(g, A + 3 * ((i + 1) % 3), A + 3 * ((i + 2) % 3), B + 3 * i);
    const int det = dot(g, A, B), size = lgv_expr_mul(g, h2, dot(g, m, m));
    times(g, A, m, xi);
    times(g, B, m, Bm);
    cross(g, xi, m, turned);
    times(g, A, turned, b);
    for (int k = 0; k < 3; k++) {
        y[k] = lgv_expr_mul(g, h, xi[k]);
        b[k] = lgv_expr_mul(g, h2, b[k]);
        a[k] = lgv_expr_mul(g, lgv_expr_mul(g, h, size), lgv_expr_mul(g, det, m[k]));
    }
    const int e = lgv_expr_mul(g, h2, dot(g, m, Bm)), both = lgv_expr_scale(g, 2, dot(g, y, a));
    const int right[4] = {dot(g, y, y), lgv_expr_scale(g, 2, dot(g, y, b)), lgv_expr_add(g, dot(g, b, b), both),
                          dot(g, a, a)};
    const int L = root_of(g, right, e), L2 = lgv_expr_power(g, L, 2);
    const int below = lgv_expr_mul(g, L, lgv_expr_add(g, L2, e));
    for (int k = 0; k < 3; k++) {
        int sum = lgv_expr_add(g, lgv_expr_mul(g, L2, m[k]), lgv_expr_mul(g, lgv_expr_mul(g, L, h), turned[k]));
        out[k] = lgv_expr_div(g, lgv_expr_add(g, sum, lgv_expr_mul(g, size, Bm[k])), below);
    }
}

enum { VECTOR = -1, COUPLED = -2 };

/* The first row of the angular momentum that row i of p belongs to.  The step of coupled bodies is that of SE(3). */
static long body_of(const struct lgv_graph *g, long i) {
    for (size_t k = 0; k < g->nrotations; k++) {
        const struct lgv_rotations *r = &g->rotation[k];
        const long n = 3 * r->count;
        if (i >= r->p - (r->coupled ? n : 0) && i < r->p + n) return r->coupled ? COUPLED : i - (i - r->p) % 3;
    }
    return VECTOR;
}

/* A = H_mm of each body, three rows of three in `A` [3 np].  Bodies of which H knows more than m.A m/2 with constant A
 * get A = 0: H_m at p = 0, and H_mp, are in the cells. */
static void inverse_inertia(const struct lgv_graph *g, const struct lgv_cells *second, const struct lgv_cells *linear,
                            int *A) {
    const unsigned moving = (LGV_USES(LGV_SPACES) - 1) | LGV_USES_TIME;
    for (size_t pass = 0; pass < 2; pass++) /* what spoils a body comes last */
        for (size_t k = 0; k < second->count + linear->count; k++) {
            const struct lgv_cell *e = k < second->count ? &second->cell[k] : &linear->cell[k - second->count];
            const long from = body_of(g, e->row);
            if (from < 0 || !e->node) continue;
            const long col = k < second->count ? e->col - from : -1;
            const bool fits = col >= 0 && col < 3 && !(g->node[e->node].uses & moving);
            if (!pass && fits) A[3 * e->row + col] = e->node;
            if (pass && !fits) A[3 * from] = 0;
        }
}

bool lgv_load_step_momenta(struct lgv_loader *l, int *out) {
    struct lgv_graph *g = l->m->graph;
    struct lgv_function H = {0};
    struct lgv_terms first = {0}, second = {0};
    struct lgv_cells cells = {0}, linear = {0};
    const long np = (long)l->m->np;
    int *A = lgv_new(3 * l->m->np, sizeof *A);
    bool ok = A && lgv_function_split(g, l->m->hamiltonian, false, &H);
    if (ok) lgv_terms_hessian(g, &H, LGV_P, LGV_P, &second);
    if (ok) lgv_terms_gradient(g, &H, LGV_P, &first);
    ok = ok && lgv_terms_cells(g, &second, LGV_SPACES, &cells) && lgv_terms_cells(g, &first, LGV_P, &linear);
    if (ok) inverse_inertia(g, &cells, &linear, A);
    for (long i = 0; ok && i < np && !g->failed; i++) {
        const int m[3] = {lgv_expr_ref_at(g, LGV_P, i), lgv_expr_ref_at(g, LGV_P, i + 1),
                          lgv_expr_ref_at(g, LGV_P, i + 2)};
        const long from = body_of(g, i);
        out[i] = from == VECTOR ? m[0] : -1; /* vectors are kicked, then they move */
        if (from < 0 || !A[3 * i] || !A[3 * i + 4] || !A[3 * i + 8]) continue;
        momentum_of_step(g, A + 3 * i, m, out + i);
        i += 2;
    }
    free(A);
    free(cells.cell);
    free(linear.cell);
    lgv_terms_free(&first);
    lgv_terms_free(&second);
    lgv_function_free(&H);
    return ok && !g->failed;
}
