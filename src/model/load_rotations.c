/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rotations in a model file: their start values, as a rotation vector, a quaternion, Euler angles, a matrix or at
 * random, and the kinetic energy m.I^-1 m/2 of their angular momenta in the body frame, by principal moments or by a
 * whole tensor. */
#include "model/load.h"
#include <math.h>
#include <string.h>

/* ---- numbers and formulas of a sequence ---- */

/* The scalars of a sequence of `count`, or the components of a formula that is a vector. */
static bool read_list(struct lgv_loader *l, int node, const char *place, unsigned allow, int count, int *out) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    struct lgv_value v;
    if (n->kind == LGV_YAML_SEQUENCE) {
        if (n->count != count) return lgv_yaml_fail(l, node, "expected %d numbers, found %d", count, n->count);
        for (int child = n->first; child >= 0; child = lgv_yaml_next(l, child))
            if (!lgv_load_number(l, child, place, allow, out++)) return false;
        return true;
    }
    if (!lgv_load_formula(l, node, place, allow, &v, NULL)) return false;
    if (v.dim != count) return lgv_yaml_fail(l, node, "expected %d numbers", count);
    memcpy(out, v.node, (size_t)count * sizeof *out);
    return true;
}

static double value_of(struct lgv_loader *l, int formula) {
    struct lgv_evaluator e;
    struct lgv_env env = {.par = l->m->par};
    if (!lgv_eval_begin(&e, l->m->graph)) return NAN;
    double x = lgv_eval_node(&e, formula, &env, NULL);
    lgv_eval_end(&e);
    lgv_scope_fix(&l->m->scope, formula);
    return x;
}

/* Three rows of three numbers. */
static bool read_matrix(struct lgv_loader *l, int node, const char *place, int out[9]) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    if (n->kind != LGV_YAML_SEQUENCE || n->count != 3) return lgv_yaml_fail(l, node, "%s has three rows", place);
    for (int row = n->first; row >= 0; row = lgv_yaml_next(l, row), out += 3)
        if (!read_list(l, row, place, 0, 3, out)) return false;
    return true;
}

/* ---- start values ---- */

#define FORMS                                                                                                          \
    "a rotation starts as a vector of three numbers (its axis times its angle), a quaternion of four, {euler: [phi, "  \
    "theta, psi]}, {matrix: [[..], [..], [..]]} or uniform; {vector: ..} and {quaternion: ..} are the first two"

#define NOT_A_ROTATION 1e-6 /* of R^T R - 1: numbers of seven digits will do */

/* The largest entry of R^T R - 1. */
static double off_rotation(const double R[9]) {
    double worst = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = i == j ? -1 : 0;
            for (int k = 0; k < 3; k++) sum += R[3 * k + i] * R[3 * k + j];
            worst = fmax(worst, fabs(sum));
        }
    return worst;
}

static bool from_matrix(struct lgv_loader *l, int node, int out[4]) {
    int entry[9];
    double R[9], quaternion[4];
    if (!read_matrix(l, node, "a rotation matrix", entry)) return false;
    for (int k = 0; k < 9; k++) R[k] = value_of(l, entry[k]);
    double det = R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
                 R[2] * (R[3] * R[7] - R[4] * R[6]);
    if (!(off_rotation(R) <= NOT_A_ROTATION) || det < 0)
        return lgv_yaml_fail(l, node,
                             "this is not a rotation: R^T R differs from 1 by %.2g, and its determinant is %.6g",
                             off_rotation(R), det);
    if (off_rotation(R) > l->m->projected) {
        l->m->projected = off_rotation(R);
        lgv_yaml_place(l, node, &l->m->projected_line, &l->m->projected_column);
    }
    lgv_rotations_quaternion(R, quaternion);
    for (int k = 0; k < 4; k++) out[k] = lgv_expr_const(l->m->graph, quaternion[k]);
    return true;
}

/* Turn by the first angle about z, by the second about the new x, by the third about the new z. */
static bool from_euler(struct lgv_loader *l, int node, const char *place, unsigned allow, int out[4]) {
    struct lgv_graph *g = l->m->graph;
    int angle[3];
    if (!read_list(l, node, place, allow, 3, angle)) return false;
    for (int k = 0; k < 3; k++) {
        int half = lgv_expr_scale(g, 0.5, angle[k]), turn[4] = {0, 0, 0, 0};
        turn[0] = lgv_expr_call1(g, LGV_COS, half);
        turn[k == 1 ? 1 : 3] = lgv_expr_call1(g, LGV_SIN, half);
        if (k)
            lgv_rotations_multiply(g, out, turn, out);
        else
            memcpy(out, turn, sizeof turn);
    }
    return true;
}

/* The largest of `count` numbers, -1 where one of them is a formula of parameters or indices. */
static double largest_number(const struct lgv_graph *g, int count, const int *formula) {
    double x, largest = 0;
    for (int k = 0; k < count; k++) {
        if (!lgv_expr_is_const(g, formula[k], &x)) return -1;
        largest = fmax(largest, fabs(x));
    }
    return largest;
}

static bool from_quaternion(struct lgv_loader *l, int node, const char *place, unsigned allow, int out[4]) {
    struct lgv_graph *g = l->m->graph;
    if (!read_list(l, node, place, allow, 4, out)) return false;
    const double largest = largest_number(g, 4, out);
    if (largest == 0) return lgv_yaml_fail(l, node, "the quaternion 0 is no rotation");
    double x = 0;
    if (largest > 0 && (largest < 1e-100 || largest > 1e100)) /* squares would be 0 or infinite */
        for (int k = 0; k < 4; k++)
            if (lgv_expr_is_const(g, out[k], &x)) out[k] = lgv_expr_const(g, x / largest);
    lgv_rotations_normalise(g, out);
    return true;
}

static bool from_vector(struct lgv_loader *l, int node, const char *place, unsigned allow, int out[4]) {
    int vector[3];
    struct lgv_value v;
    if (lgv_yaml_node(l, node)->kind == LGV_YAML_SCALAR) {
        if (!lgv_load_formula(l, node, place, allow, &v, NULL)) return false;
        if (v.dim != 3) return lgv_yaml_fail(l, node, "%s", FORMS);
        memcpy(vector, v.node, sizeof vector);
    } else if (!read_list(l, node, place, allow, 3, vector)) {
        return false;
    }
    if (largest_number(l->m->graph, 3, vector) > 1e15)
        return lgv_yaml_fail(l, node, "the angle of this rotation is too large: a number has 16 digits");
    lgv_rotations_vector(l->m->graph, vector, out);
    return true;
}

static bool at_random(struct lgv_loader *l, int node, int out[4]) {
    struct lgv_graph *g = l->m->graph;
    int uniform[3];
    if (!l->m->scope.draws) return lgv_yaml_fail(l, node, "uniform may only be used in start values");
    for (int k = 0; k < 3; k++) uniform[k] = lgv_expr_ref_at(g, LGV_UNIFORM, l->m->scope.draws[1]++);
    lgv_rotations_uniform(g, uniform, out);
    return true;
}

bool lgv_load_rotation(struct lgv_loader *l, int node, const char *place, unsigned allow, int out[4]) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    static const char *const known[] = {"vector", "quaternion", "euler", "matrix"};
    if (n->kind == LGV_YAML_SCALAR && strcmp(n->text, "uniform") == 0) return at_random(l, node, out);
    if (n->kind == LGV_YAML_SEQUENCE && n->count == 4) return from_quaternion(l, node, place, allow, out);
    if (n->kind != LGV_YAML_MAPPING) {
        if (n->kind == LGV_YAML_SEQUENCE && n->count != 3) return lgv_yaml_fail(l, node, "%s", FORMS);
        if (n->kind == LGV_YAML_SEQUENCE && lgv_yaml_node(l, n->first)->kind == LGV_YAML_SEQUENCE)
            return from_matrix(l, node, out);
        return from_vector(l, node, place, allow, out);
    }
    if (n->count != 2) return lgv_yaml_fail(l, node, "a rotation is given in one way: %s", FORMS);
    const char *name = lgv_yaml_node(l, n->first)->text;
    int value = lgv_yaml_next(l, n->first), k = 0;
    while (k < 4 && strcmp(known[k], name) != 0) k++;
    switch (k) {
    case 0: return from_vector(l, value, place, allow, out);
    case 1: return from_quaternion(l, value, place, allow, out);
    case 2: return from_euler(l, value, place, allow, out);
    case 3: return from_matrix(l, value, out);
    default:
        return lgv_yaml_fail(l, n->first, "unknown key %.60s: %s", name, FORMS);
    }
}

/* ---- inertia ---- */

/* Eigenvalues of a symmetric matrix. */
static void moments(const double I[9], double out[3]) {
    double A[9], axes[9];
    memcpy(A, I, sizeof A);
    lgv_linear_diagonalise(3, A, axes);
    for (int k = 0; k < 3; k++) out[k] = A[4 * k];
}

/* A rigid body has positive moments, none larger than the sum of the others. */
static bool check_inertia(struct lgv_loader *l, int node, const int entry[9]) {
    double I[9], J[3], size = 0;
    for (int k = 0; k < 9; k++) size = fmax(size, fabs(I[k] = value_of(l, entry[k])));
    for (int k = 0; k < 9; k++) {
        if (!isfinite(I[k])) return lgv_yaml_fail(l, node, "the inertia is not a finite number");
        if (fabs(I[k] - I[3 * (k % 3) + k / 3]) > 1e-13 * size)
            return lgv_yaml_fail(l, node, "the inertia must be a symmetric matrix");
    }
    moments(I, J);
    for (int k = 0; k < 3; k++)
        if (!(J[k] > 1e-13 * size))
            return lgv_yaml_fail(l, node, "a principal moment of inertia is %g; all must be positive", J[k]);
    for (int k = 0; k < 3; k++)
        if (J[k] > (J[(k + 1) % 3] + J[(k + 2) % 3]) * (1 + 1e-12))
            return lgv_yaml_fail(l, node,
                                 "no body has the moments of inertia %g, %g, %g: none is larger than the sum of the "
                                 "other two",
                                 J[0], J[1], J[2]);
    return true;
}

/* One number, three numbers of a diagonal or a matrix. */
static bool read_entries(struct lgv_loader *l, int node, int I[9]) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    bool matrix = n->kind == LGV_YAML_SEQUENCE && n->count > 0 && lgv_yaml_node(l, n->first)->kind == LGV_YAML_SEQUENCE;
    int moment[3];
    if (n->kind == LGV_YAML_MAPPING)
        return lgv_yaml_fail(l, node, "an inertia is a number, three moments or a matrix here; one with parts "
                                      "(angular, linear, coupling) is that of a body declared with `in SE3 coupled`");
    if (matrix) return read_matrix(l, node, "an inertia", I);
    if (n->kind == LGV_YAML_SCALAR) {
        struct lgv_value v;
        if (!lgv_load_formula(l, node, "an inertia", 0, &v, NULL)) return false;
        if (v.dim != 1 && v.dim != 3) return lgv_yaml_fail(l, node, "an inertia has three moments");
        for (int k = 0; k < 3; k++) moment[k] = v.node[v.dim == 1 ? 0 : k];
    } else if (!read_list(l, node, "an inertia", 0, 3, moment)) {
        return false;
    }
    for (int k = 0; k < 9; k++) I[k] = k % 4 ? 0 : moment[k / 4];
    return true;
}

static bool read_tensor(struct lgv_loader *l, int node, int I[9]) {
    return read_entries(l, node, I) && check_inertia(l, node, I);
}

/* ---- coupled bodies ---- */

/* The inverse of the inertia of a coupled body, whose kinetic energy is w.J w/2 + w.C v + v.M v/2: J is `angular`, C
 * `coupling`, M `linear`.  Nothing is left of formulas: parameters that enter here are read anew when they change. */
static bool read_coupled(struct lgv_loader *l, int node, double inverse[36]) {
    static const char *const part[] = {"angular", "linear", "coupling"};
    int entry[3][9], given[3] = {-1, -1, -1};
    long double A[36], B[36];
    if (node >= 0 && lgv_yaml_node(l, node)->kind != LGV_YAML_MAPPING)
        return lgv_yaml_fail(l, node, "a coupled body has an inertia {angular: ..., linear: ..., coupling: ...}");
    if (node >= 0) LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        int k = 0;
        while (k < 3 && strcmp(part[k], name) != 0) k++;
        if (k == 3) return lgv_yaml_fail(l, key, "unknown key %.60s; this inertia has angular, linear, coupling", name);
        if (given[k] >= 0) return lgv_yaml_fail(l, key, "%s is given twice", name);
        given[k] = value;
    }
    for (int k = 0; k < 3; k++) {
        int one = lgv_expr_const(l->m->graph, k < 2);
        for (int i = 0; i < 9; i++) entry[k][i] = i % 4 ? 0 : one;
        if (given[k] >= 0 && !(k < 2 ? read_entries(l, given[k], entry[k])
                                     : read_matrix(l, given[k], "a coupling", entry[k])))
            return false;
    }
    for (int i = 0; i < 36; i++) {
        int row = i / 6, col = i % 6, k = row / 3 == col / 3 ? row / 3 : 2, at = 3 * (row % 3) + col % 3;
        if (k == 2 && row > col) at = 3 * (col % 3) + row % 3;
        A[i] = value_of(l, entry[k][at]);
        B[i] = row == col;
        if (!isfinite((double)A[i])) return lgv_yaml_fail(l, given[k], "the inertia is not a finite number");
        if (k < 2 && row > col && fabsl(A[i] - A[6 * col + row]) > 1e-13L * (fabsl(A[7 * row]) + fabsl(A[7 * col])))
            return lgv_yaml_fail(l, given[k], "the inertia must be a symmetric matrix");
    }
    long double L[36];
    memcpy(L, A, sizeof L);
    for (int k = 0; k < 6; k++) {
        if (!(L[7 * k] > 1e-13L * A[7 * k]))
            return lgv_yaml_fail(l, node, "the inertia of a coupled body must be positive definite");
        for (int i = k + 1; i < 6; i++)
            for (int j = k + 1; j < 6; j++) L[6 * i + j] -= L[6 * i + k] * L[6 * k + j] / L[7 * k];
    }
    if (!lgv_linear_solve(6, 6, A, B, 0)) return lgv_yaml_fail(l, node, "the inertia has no inverse");
    for (int i = 0; i < 36; i++) inverse[i] = (double)((B[i] + B[6 * (i % 6) + i / 6]) / 2);
    return true;
}

/* I^-1 by its minors. */
static void invert(struct lgv_graph *g, const int I[9], int out[9]) {
    if (!I[1] && !I[2] && !I[5]) { /* node 0 is the constant 0 */
        for (int k = 0; k < 9; k++) out[k] = k % 4 ? 0 : lgv_expr_power(g, I[k], -1);
        return;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            out[3 * j + i] = lgv_expr_sub(g, lgv_expr_mul(g, I[3 * a + c], I[3 * b + d]),
                                          lgv_expr_mul(g, I[3 * a + d], I[3 * b + c]));
        }
    int det = 0;
    for (int k = 0; k < 3; k++) det = lgv_expr_add(g, det, lgv_expr_mul(g, I[k], out[3 * k]));
    for (int k = 0; k < 9; k++) out[k] = lgv_expr_div(g, out[k], det);
}

/* m.A m/2 of one name, A of n rows: angular momenta, then linear ones.  An array as a loop over its bodies. */
static int kinetic(struct lgv_graph *g, const struct lgv_declared *d, int n, const int *A) {
    int m[6], sum = 0;
    for (int part = 0; part < n / 3; part++) {
        const long offset = part ? d->beside : d->offset;
        int first = lgv_expr_iconst(g, offset);
        if (d->length)
            first = lgv_expr_iop(g, LGV_IADD, lgv_expr_iop(g, LGV_IMUL, lgv_expr_ivar(g, 0), lgv_expr_iconst(g, 3)),
                                 lgv_expr_iconst(g, offset - 3));
        for (int k = 0; k < 3; k++)
            m[3 * part + k] = lgv_expr_ref(g, LGV_P, lgv_expr_iop(g, LGV_IADD, first, lgv_expr_iconst(g, k)));
    }
    for (int k = 0; k < n * n; k++)
        sum = lgv_expr_add(g, sum,
                           lgv_expr_scale(g, 0.5, lgv_expr_mul(g, A[k], lgv_expr_mul(g, m[k / n], m[k % n]))));
    if (!d->length) return sum;
    struct lgv_level level = {lgv_expr_iconst(g, 1), lgv_expr_iconst(g, d->length)};
    return lgv_expr_loop(g, lgv_expr_nest(g, 0, &level, 1, NULL, 0), sum);
}

bool lgv_load_inertia(struct lgv_loader *l, int node, int *out) {
    struct lgv_graph *g = l->m->graph;
    const bool by_name = node >= 0 && lgv_yaml_node(l, node)->kind == LGV_YAML_MAPPING;
    int one = lgv_expr_const(g, 1), tensor[LGV_MAX_ENTRIES][9], at[LGV_MAX_ENTRIES];
    for (size_t k = 0; k < l->ncoordinates; k++) {
        const bool plain = l->coordinate[k].dim == 4 && !l->coordinate[k].coupled;
        at[k] = by_name ? -1 : node;
        for (int i = 0; i < 9; i++) tensor[k][i] = i % 4 ? 0 : one;
        if (plain && at[k] >= 0 && !read_tensor(l, node, tensor[k])) return false;
    }
    if (by_name && !lgv_yaml_mapping(l, node, "inertia as name: inertia")) return false;
    if (by_name) LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        size_t k = 0;
        while (k < l->ncoordinates && (l->coordinate[k].dim != 4 || strcmp(l->coordinate[k].name, name) != 0)) k++;
        if (k == l->ncoordinates)
            return lgv_yaml_fail(l, key, "there is no rotation %.60s; inertia is given as name: inertia", name);
        if (at[k] >= 0) return lgv_yaml_fail(l, key, "%s is given twice", name);
        at[k] = value;
        if (!l->coordinate[k].coupled && !read_tensor(l, value, tensor[k])) return false;
    }
    *out = 0;
    for (size_t k = 0; k < l->ncoordinates; k++) {
        const bool coupled = l->coordinate[k].coupled;
        int A[36];
        double inverse[36];
        if (l->coordinate[k].dim != 4) continue;
        if (coupled && !read_coupled(l, at[k], inverse)) return false;
        for (int i = 0; coupled && i < 36; i++) A[i] = lgv_expr_const(g, inverse[i]);
        if (!coupled) invert(g, tensor[k], A);
        *out = lgv_expr_add(g, *out, kinetic(g, &l->momentum[k], coupled ? 6 : 3, A));
    }
    return true;
}
