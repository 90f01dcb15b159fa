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
 * turns: 1e-15 for all of 1.6e5 random bodies with |y| up to 100.
 *
 * Of a body whose inertia couples position and rotation mu = (a, b), with (w, v) = I^-1 (a, b) and x = h w,
 *
 *     m = a - x x a + x (x.a) - h v x P,     P = b - x x b,     I^-1 = [[A, B], [B^T, D]],
 *
 * the equation of kirchhoff.h backwards.  Of w alone b = (P + x x P + x (x.P))/(1 + |x|^2), a = A^-1 (w - B b) and
 * v = B^T a + D b, so that three unknowns are left, which ROUNDS rounds of Newton's method find from w = A m + B P:
 * of 3000 random bodies all where the step turns by up to 5, 0.999 of those that turn by up to 10 (a step of such a
 * body itself asks for less than about a turn).  mu is NaN where they do not. */
#include "model/load.h"
#include <math.h>
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

/* ---- mu of coupled bodies ---- */

static void add(struct lgv_graph *g, const int *a, int factor, const int *b, int *out) { /* a + factor b */
    for (int k = 0; k < 3; k++) out[k] = lgv_expr_add(g, a[k], lgv_expr_mul(g, factor, b[k]));
}

static void times_transposed(struct lgv_graph *g, const int *A, const int *x, int *out) {
    const int T[9] = {A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]};
    times(g, T, x, out);
}

/* Rows of adj A; returns det A. */
static int adjugate(struct lgv_graph *g, const int *A, int *out) {
    for (int i = 0; i < 3; i++) cross(g, A + 3 * ((i + 1) % 3), A + 3 * ((i + 2) % 3), out + 3 * i);
    return dot(g, A, out);
}

/* All of it is a function of w. */
struct coupled {
    struct lgv_graph *g;
    const int *m, *P;
    int h, minus, A[9], B[9], D[9], inertia[9]; /* A^-1 */
    int x[3], a[3], b[3], v[3], below, xP, xa;
    int off[3]; /* what is left of the equation of m */
};

/* a = A^-1 (w - B b) and v = B^T a + D b, also of changes. */
static void velocities(struct coupled *c, const int *w, const int *b, int *a, int *v) {
    struct lgv_graph *g = c->g;
    int y[3];
    times(g, c->B, b, y);
    add(g, w, c->minus, y, y);
    times(g, c->inertia, y, a);
    times_transposed(g, c->B, a, v);
    times(g, c->D, b, y);
    add(g, v, lgv_expr_const(g, 1), y, v);
}

static void find_off(struct coupled *c, const int *w) {
    struct lgv_graph *g = c->g;
    const int one = lgv_expr_const(g, 1);
    int y[3];
    for (int k = 0; k < 3; k++) c->x[k] = lgv_expr_mul(g, c->h, w[k]);
    c->below = lgv_expr_add(g, one, dot(g, c->x, c->x));
    c->xP = dot(g, c->x, c->P);
    cross(g, c->x, c->P, y);
    add(g, c->P, one, y, y);
    add(g, y, c->xP, c->x, y);
    for (int k = 0; k < 3; k++) c->b[k] = lgv_expr_div(g, y[k], c->below);
    velocities(c, w, c->b, c->a, c->v);
    c->xa = dot(g, c->x, c->a);
    cross(g, c->a, c->x, y);
    add(g, c->a, one, y, c->off);
    add(g, c->off, c->xa, c->x, c->off);
    cross(g, c->P, c->v, y);
    add(g, c->off, c->h, y, c->off);
    add(g, c->off, c->minus, c->m, c->off);
}

/* The derivative of `off` along axis k. */
static void along(struct coupled *c, int k, int out[3]) {
    struct lgv_graph *g = c->g;
    const int one = lgv_expr_const(g, 1);
    int d[3] = {0, 0, 0}, dx[3] = {0, 0, 0}, a[3], b[3], v[3], y[3];
    d[k] = one;
    dx[k] = c->h;
    cross(g, dx, c->P, b);
    add(g, b, c->xP, dx, b);
    add(g, b, dot(g, dx, c->P), c->x, b);
    add(g, b, lgv_expr_scale(g, -2, dot(g, c->x, dx)), c->b, b);
    for (int i = 0; i < 3; i++) b[i] = lgv_expr_div(g, b[i], c->below);
    velocities(c, d, b, a, v);
    cross(g, c->a, dx, out);
    add(g, out, one, a, out);
    cross(g, a, c->x, y);
    add(g, out, one, y, out);
    add(g, out, c->xa, dx, out);
    add(g, out, lgv_expr_add(g, dot(g, dx, c->a), dot(g, c->x, a)), c->x, out);
    cross(g, c->P, v, y);
    add(g, out, c->h, y, out);
}

/* One round of Newton's method, by Cramer's rule. */
static void improve(struct coupled *c, int w[3]) {
    struct lgv_graph *g = c->g;
    int J[9], rows[9];
    find_off(c, w);
    for (int k = 0; k < 3; k++) along(c, k, J + 3 * k); /* columns */
    const int det = adjugate(g, J, rows);
    for (int k = 0; k < 3; k++) w[k] = lgv_expr_sub(g, w[k], lgv_expr_div(g, dot(g, rows + 3 * k, c->off), det));
}

/* The rows of I^-1 [6 each] of a body whose momenta are m and P; the six components of mu. */
static void momenta_of_coupled(struct lgv_graph *g, const int *angular, const int *linear, const int m[3],
                               const int P[3], int out[2][3]) {
    struct coupled c = {.g = g, .m = m, .P = P, .minus = lgv_expr_const(g, -1)};
    int w[3], y[3];
    c.h = lgv_expr_scale(g, 0.5, lgv_expr_ref_at(g, LGV_STEP, 0));
    for (int k = 0; k < 9; k++) {
        c.A[k] = angular[k / 3 * 6 + k % 3];
        c.B[k] = angular[k / 3 * 6 + 3 + k % 3];
        c.D[k] = linear[k / 3 * 6 + 3 + k % 3];
    }
    const int det = adjugate(g, c.A, c.inertia); /* symmetric */
    for (int k = 0; k < 9; k++) c.inertia[k] = lgv_expr_div(g, c.inertia[k], det);
    times(g, c.A, m, w);
    times(g, c.B, P, y);
    add(g, w, lgv_expr_const(g, 1), y, w);
    for (int round = 0; round < ROUNDS; round++) improve(&c, w);
    find_off(&c, w);
    const int push = lgv_expr_mul(g, lgv_expr_power(g, c.h, 2), lgv_expr_mul(g, dot(g, c.v, c.v), dot(g, P, P)));
    const int size = lgv_expr_add(g, lgv_expr_add(g, dot(g, m, m), dot(g, c.a, c.a)), push);
    const int found = lgv_expr_call2(g, LGV_LESS, dot(g, c.off, c.off),
                                     lgv_expr_add(g, lgv_expr_scale(g, 1e-26, size), lgv_expr_const(g, 1e-300)));
    for (int k = 0; k < 3; k++) {
        out[0][k] = lgv_expr_pick(g, found, c.a[k], lgv_expr_const(g, NAN));
        out[1][k] = lgv_expr_pick(g, found, c.b[k], lgv_expr_const(g, NAN));
    }
}

/* ---- of a model ---- */

struct body_at {
    long angular, linear; /* first rows; -1: none */
};

/* The body that row i of p belongs to. */
static struct body_at body_of(const struct lgv_graph *g, long i) {
    for (size_t k = 0; k < g->nrotations; k++) {
        const struct lgv_rotations *r = &g->rotation[k];
        const long n = 3 * r->count, from = r->p - (r->coupled ? n : 0);
        if (i < from || i >= r->p + n) continue;
        const long first = r->p + (i - from) % n / 3 * 3;
        return (struct body_at){first, r->coupled ? first - n : -1};
    }
    return (struct body_at){-1, -1};
}

/* Among the six columns of the body, -1: of another. */
static long column_of(const struct body_at *at, long col) {
    if (col >= at->angular && col < at->angular + 3) return col - at->angular;
    return at->linear >= 0 && col >= at->linear && col < at->linear + 3 ? 3 + col - at->linear : -1;
}

/* The inverse inertia of each body, six entries in every row of `A` [6 np], angular ones first.  Bodies of which H
 * knows more, or whose inertia is not constant, get A = 0 at their first entry: H_m at p = 0, and H_mp, are in the
 * cells. */
static void inverse_inertia(const struct lgv_graph *g, const struct lgv_cells *second, const struct lgv_cells *linear,
                            int *A) {
    const unsigned moving = (LGV_USES(LGV_SPACES) - 1) | LGV_USES_TIME;
    for (size_t pass = 0; pass < 2; pass++) /* what spoils a body comes last */
        for (size_t k = 0; k < second->count + linear->count; k++) {
            const bool quadratic = k < second->count;
            const struct lgv_cell *e = quadratic ? &second->cell[k] : &linear->cell[k - second->count];
            const struct body_at at = body_of(g, e->row);
            if (at.angular < 0 || !e->node) continue;
            const long col = quadratic ? column_of(&at, e->col) : -1;
            const bool fits = col >= 0 && !(g->node[e->node].uses & moving);
            if (!pass && fits) A[6 * e->row + col] = e->node;
            if (pass && !fits) A[6 * at.angular] = 0;
        }
}

/* The body whose angular momentum begins with row i. */
static void momenta_of_body(struct lgv_graph *g, const int *A, const struct body_at *at, int *out) {
    const long i = at->angular, j = at->linear;
    int m[3], P[3], plain[9], both[2][3];
    for (int k = 0; k < 3; k++) {
        if (!A[6 * (i + k) + k] || (j >= 0 && !A[6 * (j + k) + 3 + k])) return;
        m[k] = lgv_expr_ref_at(g, LGV_P, i + k);
        P[k] = j < 0 ? 0 : lgv_expr_ref_at(g, LGV_P, j + k);
    }
    for (int k = 0; k < 9; k++) plain[k] = A[6 * (i + k / 3) + k % 3];
    if (j < 0) {
        momentum_of_step(g, plain, m, out + i);
        return;
    }
    momenta_of_coupled(g, A + 6 * i, A + 6 * j, m, P, both);
    for (int k = 0; k < 3; k++) {
        out[i + k] = both[0][k];
        out[j + k] = both[1][k];
    }
}

bool lgv_load_step_momenta(struct lgv_loader *l, int *out) {
    struct lgv_graph *g = l->m->graph;
    struct lgv_function H = {0};
    struct lgv_terms first = {0}, second = {0};
    struct lgv_cells cells = {0}, linear = {0};
    const long np = (long)l->m->np;
    int *A = lgv_new(6 * l->m->np, sizeof *A);
    bool ok = A && lgv_function_split(g, l->m->hamiltonian, false, &H);
    if (ok) lgv_terms_hessian(g, &H, LGV_P, LGV_P, &second);
    if (ok) lgv_terms_gradient(g, &H, LGV_P, &first);
    ok = ok && lgv_terms_cells(g, &second, LGV_SPACES, &cells) && lgv_terms_cells(g, &first, LGV_P, &linear);
    if (ok) inverse_inertia(g, &cells, &linear, A);
    for (long i = 0; ok && i < np; i++) /* vectors are kicked, then they move */
        out[i] = body_of(g, i).angular < 0 ? lgv_expr_ref_at(g, LGV_P, i) : -1;
    for (long i = 0; ok && i < np && !g->failed; i++) {
        const struct body_at at = body_of(g, i);
        if (at.angular == i) momenta_of_body(g, A, &at, out);
    }
    free(A);
    free(cells.cell);
    free(linear.cell);
    lgv_terms_free(&first);
    lgv_terms_free(&second);
    lgv_function_free(&H);
    return ok && !g->failed;
}
