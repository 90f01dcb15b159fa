/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rotations in formulas.  A coordinate R in SO(3) is a unit quaternion (w, v) of four rows of q, its momentum m the
 * three rows of the angular momentum in the body frame.  The entries of R are the quadratic polynomials
 *
 *     R x = (w^2 - v.v) x + 2 v (v.x) + 2 w v x x,
 *
 * so every formula of R is one of q.  A derivative with respect to a rotation is the directional derivative along
 * R exp(hat xi), xi in the body frame (left-trivialised),
 *
 *     R' = R hat xi,     w' = -v.xi/2,     v' = (w xi + v x xi)/2,
 *
 * so it has three components, as momenta have.  All derivatives with respect to q are taken so (lgv_terms_gradient),
 * second ones are derivatives of the first.  With them the equations of motion and the bracket are
 *
 *     m' = m x H_m - H_R,     {f, h} = f_q.h_p - f_p.h_q - m.(f_m x h_m).
 *
 * A body in SE(3) whose inertia couples position x and rotation has both momenta in the body frame, m and P, and moves
 * along (x + R v, R exp(hat w)), so that derivatives with respect to x are R^T U_x.  With the algebra's bracket
 * [(w, v), (w', v')] = (w x w', w x v' - w' x v) the last term of {f, h} is
 *
 *     - m.(f_m x h_m) - P.(f_m x h_P + f_P x h_m),     Kirchhoff's equations m' = m x w + P x v, P' = P x w.
 *
 * A reduced model has momenta alone, and of all this the bracket - m.(f_m x h_m) - ... (load_reduced.c).
 * Marsden & Ratiu (1999), Introduction to Mechanics and Symmetry, doi 10.1007/978-0-387-21792-5. */
#include "model/brackets.h"
#include <math.h>
#include <stdlib.h>

/* ---- the matrix, and quaternions of start values ---- */

/* c a b */
static int product(struct lgv_graph *g, double c, int a, int b) {
    return lgv_expr_scale(g, c, lgv_expr_mul(g, a, b));
}

void lgv_rotations_matrix(struct lgv_graph *g, int node[]) {
    const int w = node[0], v[3] = {node[1], node[2], node[3]};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int k = 3 - i - j; /* the third of 0, 1, 2 where i and j differ */
            struct lgv_arg arg[4] = {{product(g, 2, v[i], v[j]), 1}, {0, 0}, {0, 0}, {0, 0}};
            if (i != j) {
                arg[1] = (struct lgv_arg){product(g, 2, w, v[k]), (j - i + 3) % 3 == 1 ? -1 : 1};
            } else {
                arg[0] = (struct lgv_arg){product(g, 1, w, w), 1};
                for (int l = 0; l < 3; l++) arg[1 + l] = (struct lgv_arg){product(g, 1, v[l], v[l]), l == i ? 1 : -1};
            }
            node[3 * i + j] = lgv_expr_sum(g, 0, arg, i == j ? 4 : 2);
        }
}

void lgv_rotations_normalise(struct lgv_graph *g, int quaternion[4]) {
    int square = 0;
    for (int k = 0; k < 4; k++) square = lgv_expr_add(g, square, product(g, 1, quaternion[k], quaternion[k]));
    int scale = lgv_expr_power(g, square, -0.5);
    for (int k = 0; k < 4; k++) quaternion[k] = lgv_expr_mul(g, quaternion[k], scale);
}

/* (cos r/2, sin(r/2)/r x), r = |x|; the little added to r^2 changes nothing but 0/0. */
void lgv_rotations_vector(struct lgv_graph *g, const int vector[3], int quaternion[4]) {
    int square = lgv_expr_const(g, 1e-300);
    for (int k = 0; k < 3; k++) square = lgv_expr_add(g, square, product(g, 1, vector[k], vector[k]));
    int angle = lgv_expr_power(g, square, 0.5), half = lgv_expr_scale(g, 0.5, angle);
    int factor = lgv_expr_div(g, lgv_expr_call1(g, LGV_SIN, half), angle);
    for (int k = 0; k < 3; k++) quaternion[1 + k] = lgv_expr_mul(g, factor, vector[k]);
    quaternion[0] = lgv_expr_call1(g, LGV_COS, half);
}

void lgv_rotations_multiply(struct lgv_graph *g, const int a[4], const int b[4], int out[4]) {
    static const int partner[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    static const int sign[4][4] = {{1, -1, -1, -1}, {1, 1, 1, -1}, {1, -1, 1, 1}, {1, 1, -1, 1}};
    int x[4];
    for (int k = 0; k < 4; k++) {
        x[k] = 0;
        for (int i = 0; i < 4; i++) x[k] = lgv_expr_add(g, x[k], product(g, sign[k][i], a[i], b[partner[k][i]]));
    }
    for (int k = 0; k < 4; k++) out[k] = x[k];
}

/* Three uniform numbers, as in Shoemake (1992). */
void lgv_rotations_uniform(struct lgv_graph *g, const int uniform[3], int quaternion[4]) {
    const double two_pi = 6.283185307179586;
    int one = lgv_expr_const(g, 1);
    for (int k = 0; k < 2; k++) {
        int radius = lgv_expr_power(g, k ? uniform[0] : lgv_expr_sub(g, one, uniform[0]), 0.5);
        int angle = lgv_expr_scale(g, two_pi, uniform[1 + k]);
        quaternion[2 * k] = lgv_expr_mul(g, radius, lgv_expr_call1(g, LGV_COS, angle));
        quaternion[2 * k + 1] = lgv_expr_mul(g, radius, lgv_expr_call1(g, LGV_SIN, angle));
    }
}

/* ---- rows ---- */

const struct lgv_rotations *lgv_rotations_at(const struct lgv_graph *g, long row) {
    for (size_t k = 0; k < g->nrotations; k++)
        if (row >= g->rotation[k].q && row < g->rotation[k].q + 4 * g->rotation[k].count) return &g->rotation[k];
    return NULL;
}

/* The coupled bodies among whose positions row `row` of q is, or NULL. */
static const struct lgv_rotations *coupled_at(const struct lgv_graph *g, long row) {
    for (size_t k = 0; k < g->nrotations; k++)
        if (g->rotation[k].coupled && row < g->rotation[k].q && row >= g->rotation[k].q - 3 * g->rotation[k].count)
            return &g->rotation[k];
    return NULL;
}

/* The row of p that belongs to row `row` of q, which is no rotation's. */
static long partner_of(const struct lgv_graph *g, long row) {
    long p = row;
    for (size_t k = 0; k < g->nrotations; k++)
        if (g->rotation[k].q < row) p -= g->rotation[k].count;
    return p;
}

/* ---- derivatives ---- */

struct found {
    const struct lgv_graph *g;
    int index;
    long row;
};

static bool first_row(void *user, const long *vars) {
    struct found *f = user;
    f->row = lgv_loops_index(f->g, f->index, vars);
    return false;
}

/* The value of an index in the first instance of a nest, whose others are of the same array.  -1: there is none. */
static long row_of(const struct lgv_graph *g, int nest, int index) {
    struct found f = {g, index, -1};
    if (nest < 0) return g->inode[index].value;
    lgv_loops_each(g, nest, LGV_MAX_INSTANCES, first_row, &f);
    return f.row;
}

/* d q_c / d xi_k times 2, as a signed component of the quaternion: c and k give component[c][k]. */
static const struct {
    int sign, of;
} tangent[4][3] = {{{-1, 1}, {-1, 2}, {-1, 3}},
                   {{1, 0}, {-1, 3}, {1, 2}},
                   {{1, 3}, {1, 0}, {-1, 1}},
                   {{-1, 2}, {1, 1}, {1, 0}}};

/* Terms of one row are added up. */
static void gather(struct lgv_graph *g, struct lgv_term t, size_t first, struct lgv_terms *out) {
    size_t i = first;
    while (i < out->count && (out->term[i].nest != t.nest || out->term[i].row != t.row)) i++;
    if (i < out->count)
        out->term[i].value = lgv_expr_add(g, out->term[i].value, t.value);
    else
        lgv_terms_add(g, out, t);
}

/* The three directions of one body, from what its four rows give. */
static void fold(struct lgv_graph *g, enum lgv_space space, const struct lgv_rotations *r, struct lgv_term t,
                 long component, size_t first, struct lgv_terms *out) {
    int body = lgv_expr_iop(g, LGV_IADD, t.row, lgv_expr_iconst(g, -component)); /* its first row */
    int number = lgv_expr_iop(g, LGV_IDIV, lgv_expr_iop(g, LGV_IADD, body, lgv_expr_iconst(g, -r->q)),
                              lgv_expr_iconst(g, 4));
    int row = lgv_expr_iop(g, LGV_IADD, lgv_expr_iop(g, LGV_IMUL, number, lgv_expr_iconst(g, 3)),
                           lgv_expr_iconst(g, r->p));
    for (int k = 0; k < 3 && !g->failed; k++) {
        int at = lgv_expr_iop(g, LGV_IADD, row, lgv_expr_iconst(g, k));
        int of = lgv_expr_iop(g, LGV_IADD, body, lgv_expr_iconst(g, tangent[component][k].of));
        int value = product(g, 0.5 * tangent[component][k].sign, lgv_expr_ref(g, space, of), t.value);
        gather(g, (struct lgv_term){t.nest, at, t.col, value}, first, out);
    }
}

/* The derivative with respect to component c of the position of a coupled body, along the axes of the body: R^T U_x. */
static void fold_position(struct lgv_graph *g, enum lgv_space space, const struct lgv_rotations *r, struct lgv_term t,
                          long c, size_t first, struct lgv_terms *out) {
    const long x = r->q - 3 * r->count, p = r->p - 3 * r->count;
    int body = lgv_expr_iop(g, LGV_IADD, t.row, lgv_expr_iconst(g, -c - x)); /* 3 times its number */
    int number = lgv_expr_iop(g, LGV_IDIV, body, lgv_expr_iconst(g, 3)), R[LGV_MATRIX];
    for (int k = 0; k < 4; k++)
        R[k] = lgv_expr_ref(g, space,
                            lgv_expr_iop(g, LGV_IADD, lgv_expr_iop(g, LGV_IMUL, number, lgv_expr_iconst(g, 4)),
                                         lgv_expr_iconst(g, r->q + k)));
    lgv_rotations_matrix(g, R);
    for (int k = 0; k < 3 && !g->failed; k++) {
        int at = lgv_expr_iop(g, LGV_IADD, body, lgv_expr_iconst(g, p + k));
        gather(g, (struct lgv_term){t.nest, at, t.col, lgv_expr_mul(g, R[3 * c + k], t.value)}, first, out);
    }
}

void lgv_rotations_fold(struct lgv_graph *g, enum lgv_space space, const struct lgv_terms *given,
                        struct lgv_terms *out) {
    size_t first = out->count;
    for (size_t i = 0; i < given->count && !g->failed; i++) {
        struct lgv_term t = given->term[i];
        long row = row_of(g, t.nest, t.row);
        const struct lgv_rotations *r = lgv_rotations_at(g, row), *coupled = coupled_at(g, row);
        if (row < 0) continue;
        if (r) fold(g, space, r, t, (row - r->q) % 4, first, out);
        if (coupled) fold_position(g, space, coupled, t, (row - coupled->q + 3 * coupled->count) % 3, first, out);
        if (r || coupled) continue;
        t.row = lgv_expr_iop(g, LGV_IADD, t.row, lgv_expr_iconst(g, partner_of(g, row) - row));
        lgv_terms_add(g, out, t);
    }
    size_t kept = first; /* sums may have cancelled */
    double x;
    for (size_t i = first; i < out->count; i++)
        if (!lgv_expr_is_const(g, out->term[i].value, &x) || x != 0) out->term[kept++] = out->term[i];
    out->count = kept;
}

/* ---- the bracket ---- */

static int entry(const struct lgv_graph *g, const struct lgv_terms *t, long row) {
    for (size_t i = 0; i < t->count; i++)
        if (g->inode[t->term[i].row].value == row) return t->term[i].value;
    return 0; /* node 0 is the constant 0 */
}

/* sum_i a_i b_i over the rows of a */
static int paired(struct lgv_graph *g, const struct lgv_terms *a, const struct lgv_terms *b) {
    int sum = 0;
    for (size_t i = 0; i < a->count; i++)
        sum = lgv_expr_add(g, sum, lgv_expr_mul(g, a->term[i].value, entry(g, b, g->inode[a->term[i].row].value)));
    return sum;
}

/* m.(f_a x h_b): rows from m, a and b on */
static int turned(struct lgv_graph *g, long m, long a, long b, const struct lgv_terms *f, const struct lgv_terms *h) {
    int sum = 0;
    for (long k = 0; k < 3; k++) {
        long i = (k + 1) % 3, j = (k + 2) % 3;
        int cross = lgv_expr_sub(g, lgv_expr_mul(g, entry(g, f, a + i), entry(g, h, b + j)),
                                 lgv_expr_mul(g, entry(g, f, a + j), entry(g, h, b + i)));
        sum = lgv_expr_add(g, sum, lgv_expr_mul(g, lgv_expr_ref_at(g, LGV_P, m + k), cross));
    }
    return sum;
}

int lgv_rotations_bracket(struct lgv_graph *g, int f, int h) {
    struct lgv_terms d[4] = {0}; /* f_q, f_p, h_q, h_p */
    for (int k = 0; k < 4; k++) {
        struct lgv_summand one = {-1, k < 2 ? f : h};
        struct lgv_function function = {.summand = &one, .count = 1};
        lgv_terms_gradient(g, &function, k % 2 ? LGV_P : LGV_Q, &d[k]);
    }
    int sum = lgv_expr_sub(g, paired(g, &d[0], &d[3]), paired(g, &d[1], &d[2]));
    bool turns = d[1].count && d[3].count;
    for (size_t r = 0; turns && r < g->nrotations; r++)
        for (long k = 0; k < g->rotation[r].count && !g->failed; k++) {
            const long m = g->rotation[r].p + 3 * k, P = m - 3 * g->rotation[r].count;
            sum = lgv_expr_sub(g, sum, turned(g, m, m, m, &d[1], &d[3]));
            if (!g->rotation[r].coupled) continue;
            sum = lgv_expr_sub(g, sum, turned(g, P, m, P, &d[1], &d[3]));
            sum = lgv_expr_sub(g, sum, turned(g, P, P, m, &d[1], &d[3]));
        }
    for (int k = 0; k < 4; k++) lgv_terms_free(&d[k]);
    return sum;
}

/* m.(f x h) */
static double triple(const double *m, const double *f, const double *h, double *size) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        sum += m[k] * (f[i] * h[j] - f[j] * h[i]);
        *size += fabs(m[k]) * (fabs(f[i] * h[j]) + fabs(f[j] * h[i]));
    }
    return sum;
}

double lgv_rotations_pairing(const struct lgv_graph *g, const double *m, const double *f, const double *h,
                             double *size) {
    double sum = 0;
    for (size_t r = 0; r < g->nrotations; r++)
        for (long k = 0; k < g->rotation[r].count; k++) {
            const long a = g->rotation[r].p + 3 * k, b = a - 3 * g->rotation[r].count;
            sum += triple(m + a, f + a, h + a, size);
            if (g->rotation[r].coupled) sum += triple(m + b, f + a, h + b, size) + triple(m + b, f + b, h + a, size);
        }
    return sum;
}

/* ---- numbers ---- */

long lgv_rotations_row(const struct lgv_graph *g, long i, int *axis) {
    long row = i;
    *axis = -1;
    for (size_t k = 0; k < g->nrotations && g->rotation[k].p <= i; k++) {
        const struct lgv_rotations *r = &g->rotation[k];
        if (i < r->p + 3 * r->count) {
            *axis = (int)((i - r->p) % 3);
            return r->q + (i - r->p) / 3 * 4;
        }
        row += r->count;
    }
    return row;
}

/* x turned by a unit quaternion, or back. */
static void turn_vector(const double q[4], bool back, const double x[3], double out[3]) {
    const double w = back ? -q[0] : q[0], *v = q + 1;
    double c[3];
    for (int k = 0; k < 3; k++) c[k] = v[(k + 1) % 3] * x[(k + 2) % 3] - v[(k + 2) % 3] * x[(k + 1) % 3] + w * x[k];
    for (int k = 0; k < 3; k++)
        out[k] = x[k] + 2 * (v[(k + 1) % 3] * c[(k + 2) % 3] - v[(k + 2) % 3] * c[(k + 1) % 3]);
}

/* v + a w x v + b w x (w x v) */
static void bent(const double w[3], double a, double b, double v[3]) {
    double once[3], twice[3];
    for (int k = 0; k < 3; k++) once[k] = w[(k + 1) % 3] * v[(k + 2) % 3] - w[(k + 2) % 3] * v[(k + 1) % 3];
    for (int k = 0; k < 3; k++) twice[k] = w[(k + 1) % 3] * once[(k + 2) % 3] - w[(k + 2) % 3] * once[(k + 1) % 3];
    for (int k = 0; k < 3; k++) v[k] += a * once[k] + b * twice[k];
}

/* v <- dexp_w v, or its inverse: exp(w, v) = (exp w, dexp_w v). */
static void exponential(const double w[3], bool inverse, double v[3]) {
    double s = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], r = sqrt(s), half = r / 2;
    double a = r > 0 ? 2 * sin(half) * sin(half) / s : 0.5, b = r > 1e-2 ? (1 - sin(r) / r) / s : (1 - s / 20) / 6;
    double c = r > 1e-2 ? (1 - half * cos(half) / sin(half)) / s : (1 + s / 60) / 12;
    bent(w, inverse ? -0.5 : a, inverse ? c : b, v);
}

/* Coupled bodies move along the group: positions, then rotations have their turn. */
static void advance_positions(const struct lgv_graph *g, double *q, const double *xi, double h) {
    for (size_t r = 0; g && r < g->nrotations; r++)
        for (long k = 0; g->rotation[r].coupled && k < g->rotation[r].count; k++) {
            const long behind = 3 * g->rotation[r].count, p = g->rotation[r].p + 3 * k;
            const double *w = xi + p, *v = w - behind, turn[3] = {h * w[0], h * w[1], h * w[2]};
            double *x = q + g->rotation[r].q - behind + 3 * k, y[3] = {h * v[0], h * v[1], h * v[2]};
            exponential(turn, false, y);
            turn_vector(q + g->rotation[r].q + 4 * k, false, y, y);
            for (int i = 0; i < 3; i++) x[i] += y[i];
        }
}

void lgv_rotations_advance(const struct lgv_graph *g, size_t np, double *q, const double *xi, double h) {
    advance_positions(g, q, xi, h);
    for (size_t i = 0; i < np; i++) {
        int axis = -1;
        long row = g ? lgv_rotations_row(g, (long)i, &axis) : (long)i;
        if (axis < 0) {
            if (!g || !coupled_at(g, row)) q[row] += h * xi[i];
            continue;
        }
        double turn[3] = {h * xi[i], h * xi[i + 1], h * xi[i + 2]};
        lgv_rotations_turn(q + row, turn);
        i += 2;
    }
}

void lgv_rotations_nudge(const struct lgv_graph *g, long i, double *q, double h) {
    int axis;
    const long row = lgv_rotations_row(g, i, &axis);
    const struct lgv_rotations *r = coupled_at(g, row);
    double xi[3] = {0, 0, 0};
    if (g->reduced) return; /* there is no q */
    if (axis < 0 && !r) {
        q[row] += h;
        return;
    }
    if (axis >= 0) {
        xi[axis] = h;
        lgv_rotations_turn(q + row, xi);
        return;
    }
    const long c = row - (r->q - 3 * r->count);
    xi[c % 3] = h;
    turn_vector(q + r->q + c / 3 * 4, false, xi, xi);
    for (long k = 0; k < 3; k++) q[row - c % 3 + k] += xi[k];
}

/* 2 log(a^-1 b) */
static void angle_between(const double a[4], const double b[4], double out[3]) {
    double w = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    double v[3] = {a[0] * b[1] - a[1] * b[0] - a[2] * b[3] + a[3] * b[2],
                   a[0] * b[2] + a[1] * b[3] - a[2] * b[0] - a[3] * b[1],
                   a[0] * b[3] - a[1] * b[2] + a[2] * b[1] - a[3] * b[0]};
    if (w < 0) w = -w, v[0] = -v[0], v[1] = -v[1], v[2] = -v[2]; /* the same rotation, by the shorter way */
    double s = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), factor = s > 0 ? 2 * atan2(s, w) / s : 2;
    for (int k = 0; k < 3; k++) out[k] = factor * v[k];
}

void lgv_rotations_between(const struct lgv_graph *g, size_t np, const double *from, const double *to, double *xi) {
    for (size_t i = 0; i < np; i++) {
        int axis = -1;
        long row = g ? lgv_rotations_row(g, (long)i, &axis) : (long)i;
        if (axis < 0) {
            xi[i] = to[row] - from[row];
            continue;
        }
        angle_between(from + row, to + row, xi + i);
        i += 2;
    }
    for (size_t r = 0; g && r < g->nrotations; r++)
        for (long k = 0; g->rotation[r].coupled && k < g->rotation[r].count; k++) {
            const double *w = xi + g->rotation[r].p + 3 * k;
            double *v = xi + g->rotation[r].p + 3 * k - 3 * g->rotation[r].count;
            turn_vector(from + g->rotation[r].q + 4 * k, true, v, v);
            exponential(w, true, v);
        }
}

void lgv_rotations_clean(const struct lgv_graph *g, double *q) {
    for (size_t r = 0; r < g->nrotations && !g->reduced; r++)
        for (long k = 0; k < g->rotation[r].count; k++) {
            double *x = q + g->rotation[r].q + 4 * k;
            double size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
            for (int i = 0; i < 4; i++) x[i] = size > 0 ? x[i] / size : i == 0;
        }
}

void lgv_rotations_turn(double *quaternion, const double xi[3]) {
    double r = sqrt(xi[0] * xi[0] + xi[1] * xi[1] + xi[2] * xi[2]), c = cos(r / 2), s = r > 0 ? sin(r / 2) / r : 0.5;
    const double w = quaternion[0], x = quaternion[1], y = quaternion[2], z = quaternion[3];
    const double a = s * xi[0], b = s * xi[1], d = s * xi[2];
    quaternion[0] = w * c - x * a - y * b - z * d;
    quaternion[1] = x * c + w * a + y * d - z * b;
    quaternion[2] = y * c + w * b + z * a - x * d;
    quaternion[3] = z * c + w * d + x * b - y * a;
}

/* The quaternion of a rotation: its largest component first, so that nothing cancels. */
void lgv_rotations_quaternion(const double R[9], double out[4]) {
    double square[4] = {1 + R[0] + R[4] + R[8], 1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8], 1 - R[0] - R[4] + R[8]};
    int k = 0;
    for (int i = 1; i < 4; i++)
        if (square[i] > square[k]) k = i;
    const double s[4][4] = {{square[0], R[7] - R[5], R[2] - R[6], R[3] - R[1]},
                            {R[7] - R[5], square[1], R[1] + R[3], R[2] + R[6]},
                            {R[2] - R[6], R[1] + R[3], square[2], R[5] + R[7]},
                            {R[3] - R[1], R[2] + R[6], R[5] + R[7], square[3]}};
    double size = 0;
    for (int i = 0; i < 4; i++) size += s[k][i] * s[k][i];
    for (int i = 0; i < 4; i++) out[i] = s[k][i] / sqrt(size);
}
