/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friction, temperatures, masses and inertia as numbers, at the present values of the parameters. */
#include "model/point.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No pivot of the Cholesky decomposition is negative, and where one vanishes so does its row. */
bool lgv_semidefinite(size_t n, const double *given) {
    long double *A = lgv_new(n * n, sizeof *A), size = 0;
    bool ok = A != NULL;
    for (size_t i = 0; ok && i < n * n; i++) {
        A[i] = given[i];
        size = fmaxl(size, fabsl(A[i]));
    }
    for (size_t i = 0; ok && i < n; i++)
        for (size_t j = 0; j < i; j++) ok = ok && fabsl(A[i * n + j] - A[j * n + i]) <= 1e-13L * size;
    for (size_t k = 0; ok && k < n; k++) {
        long double pivot = A[k * n + k];
        ok = pivot >= -1e-13L * size;
        if (!ok || pivot > 1e-13L * size) {
            for (size_t i = k + 1; ok && i < n; i++)
                for (size_t j = k + 1; j < n; j++) A[i * n + j] -= A[i * n + k] * A[k * n + j] / pivot;
            continue;
        }
        for (size_t i = k + 1; ok && i < n; i++) ok = fabsl(A[i * n + k]) <= 1e-6L * size;
    }
    free(A);
    return ok;
}

static void evaluate(const struct lgv_model *m, struct lgv_evaluator *e, const int *node, size_t count, double *out) {
    struct lgv_env env = {.par = m->par};
    for (size_t i = 0; i < count; i++) out[i] = lgv_eval_node(e, node[i], &env, NULL);
}

static enum lgv_status judge(struct lgv_model *m, const double *friction, const double *temperature,
                             struct lgv_error *err) {
    const struct lgv_bath *b = &m->bath;
    const size_t n = m->np, count = b->kind == LGV_FRICTION_MATRIX ? n * n : n;
    for (size_t i = 0; i < count; i++) {
        bool sign = b->kind == LGV_FRICTION_MATRIX || friction[i] >= 0;
        if (!isfinite(friction[i]) || !sign)
            return lgv_model_fail_at(err, m, b->friction_at[i],
                                     "the friction is %g here; it must be a finite number%s", friction[i],
                                     b->kind == LGV_FRICTION_MATRIX ? "" : " that is not negative");
    }
    if (b->kind == LGV_FRICTION_MATRIX && !lgv_semidefinite(n, friction))
        return lgv_model_fail(err, m->file, m->text, b->line, b->column,
                              "the friction matrix must be symmetric and positive semidefinite");
    for (size_t i = 0; i < b->rows; i++)
        if (!(temperature[b->row[i]] >= 0) || !isfinite(temperature[b->row[i]]))
            return lgv_model_fail_at(err, m, b->temperature_at[b->row[i]],
                                     "the temperature is %g; it must be a finite number that is not negative",
                                     temperature[b->row[i]]);
    return LGV_OK;
}

enum lgv_status lgv_model_bath_values(struct lgv_model *m, double *friction, double *temperature,
                                      struct lgv_error *err) {
    const struct lgv_bath *b = &m->bath;
    const size_t n = m->np, count = b->kind == LGV_FRICTION_MATRIX ? n * n : n;
    struct lgv_evaluator e = {0};
    double *G = lgv_new(count, sizeof *G), *T = lgv_new(n, sizeof *T);
    bool ok = G && T && lgv_eval_begin(&e, m->graph);
    if (ok && b->kind != LGV_FRICTION_OF_Q) evaluate(m, &e, b->friction, count, G);
    if (ok) evaluate(m, &e, b->temperature, n, T);
    if (ok) lgv_eval_end(&e);
    enum lgv_status status = ok ? judge(m, G, T, err) : lgv_fail_memory(err);
    for (size_t i = 0; !status && friction && i < count; i++) friction[i] = G[i];
    for (size_t i = 0; !status && temperature && i < n; i++) temperature[i] = T[i];
    free(G);
    free(T);
    return status;
}

enum lgv_status lgv_model_bath_start(struct lgv_model *m, struct lgv_error *err) {
    struct lgv_evaluator e;
    struct lgv_point at;
    enum lgv_status status = LGV_OK;
    if (m->bath.kind != LGV_FRICTION_OF_Q) return LGV_OK;
    if (!lgv_eval_begin(&e, m->graph)) return lgv_fail_memory(err);
    bool ok = lgv_point_make(m, &e, -1, 1, &at);
    const struct lgv_env env = ok ? lgv_point_env(m, &at) : (struct lgv_env){0};
    for (size_t i = 0; ok && !status && i < m->np; i++) {
        double x = lgv_eval_node(&e, m->bath.friction[i], &env, NULL);
        if (!(x >= 0 && isfinite(x)))
            status = lgv_model_fail_at(err, m, m->bath.friction_at[i], "the friction is %g at the start; it must be %s",
                                       x, x < 0 ? "at least 0" : "a finite number");
    }
    if (ok) free(at.x);
    lgv_eval_end(&e);
    return ok ? status : lgv_fail_memory(err);
}

/* ---- masses ---- */

bool lgv_model_masses(struct lgv_model *m, bool diagonal, double *inverse, double *shift) {
    const size_t n = m->np;
    struct lgv_terms Hp = {0}, Hpp = {0};
    struct lgv_function H = {0};
    struct lgv_evaluator e = {0};
    double *x = lgv_new(3 * n + m->nx, sizeof *x); /* p: zeros, ones; H_p at ones; q: zeros */
    bool ok = x && lgv_function_split(m->graph, m->hamiltonian, false, &H);
    if (ok) lgv_terms_gradient(m->graph, &H, LGV_P, &Hp);
    if (ok && !diagonal) lgv_terms_hessian(m->graph, &H, LGV_P, LGV_P, &Hpp);
    ok = ok && !m->graph->failed && lgv_eval_begin(&e, m->graph);
    if (ok) {
        struct lgv_env env = {.par = m->par, .t = m->from};
        env.space[LGV_P] = x;
        env.space[LGV_Q] = x + 3 * n;
        for (size_t i = 0; i < n; i++) x[n + i] = 1;
        lgv_eval_terms(&e, &Hp, &env, shift, n, 1);
        if (!diagonal) lgv_eval_terms(&e, &Hpp, &env, inverse, n * n, n);
        env.space[LGV_P] = x + n;
        lgv_eval_terms(&e, &Hp, &env, x + 2 * n, n, 1);
        for (size_t i = 0; diagonal && i < n; i++) inverse[i] = x[2 * n + i] - shift[i];
        if (lgv_terms_use(m->graph, &Hp, LGV_USES_TIME)) shift[0] = 1; /* only in terms of first degree in p */
        lgv_eval_end(&e);
    }
    lgv_function_free(&H);
    lgv_terms_free(&Hp);
    lgv_terms_free(&Hpp);
    free(x);
    return ok;
}

/* ---- inertia ---- */

size_t lgv_model_bodies(const struct lgv_model *m, bool coupled) {
    size_t count = 0;
    for (size_t k = 0; m->graph && k < m->graph->nrotations; k++)
        if (m->graph->rotation[k].coupled == coupled) count += (size_t)m->graph->rotation[k].count;
    return count;
}

/* Where row p of the momenta stands in the matrices of lgv_model_inertia: the first entry of its matrix, how many rows
 * that has, and which it is.  False: it belongs to a vector. */
struct place {
    long matrix;
    int rows, row;
};

static bool place_of(const struct lgv_model *m, long p, struct place *out) {
    const struct lgv_graph *g = m->graph;
    long plain = 0, coupled = 9 * (long)lgv_model_bodies(m, false);
    for (size_t k = 0; k < g->nrotations; k++) {
        const struct lgv_rotations *r = &g->rotation[k];
        const long n = 3 * r->count, i = p - (r->coupled ? r->p - n : r->p), body = (i % n) / 3;
        if (i >= 0 && i < (r->coupled ? 2 * n : n)) {
            out->rows = r->coupled ? 6 : 3;
            out->row = (int)(i % 3) + (r->coupled && i < n ? 3 : 0);
            out->matrix = r->coupled ? coupled + 36 * body : plain + 9 * body;
            return true;
        }
        if (r->coupled)
            coupled += 36 * r->count;
        else
            plain += 9 * r->count;
    }
    return false;
}

struct inertia {
    const struct lgv_model *m;
    struct lgv_evaluator e;
    struct lgv_env env;
    const struct lgv_term *term;
    double *inverse;
    bool coupled; /* to other momenta */
};

static bool add_entry(void *user, const long *vars) {
    struct inertia *x = user;
    const struct lgv_graph *g = x->e.g;
    struct place a, b;
    bool body = place_of(x->m, lgv_loops_index(g, x->term->row, vars), &a);
    bool other = place_of(x->m, lgv_loops_index(g, x->term->col, vars), &b);
    if (body && other && a.matrix == b.matrix)
        x->inverse[a.matrix + a.rows * a.row + b.row] += lgv_eval_node(&x->e, x->term->value, &x->env, vars);
    else if (body || other)
        x->coupled = true;
    return true;
}

/* By its pivots. */
static bool definite(int n, const double *A) {
    double L[36];
    memcpy(L, A, (size_t)(n * n) * sizeof *L);
    for (int k = 0; k < n; k++) {
        if (!(L[k * n + k] > 0) || !isfinite(L[k * n + k])) return false;
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++) L[i * n + j] -= L[i * n + k] * L[k * n + j] / L[k * n + k];
    }
    return true;
}

/* Does H_p vanish with p, for the momenta of rotations? */
static bool at_rest(struct lgv_model *m, struct lgv_evaluator *e, const struct lgv_terms *Hp, const double *zero) {
    struct lgv_env env = {.par = m->par, .t = m->from, .space = {[LGV_Q] = zero, [LGV_P] = zero}};
    double *x = lgv_new(m->np, sizeof *x);
    bool rest = x != NULL;
    struct place at;
    if (rest) lgv_eval_terms(e, Hp, &env, x, m->np, 1);
    for (size_t i = 0; rest && i < m->np; i++) rest = !place_of(m, (long)i, &at) || x[i] == 0;
    free(x);
    return rest;
}

/* What keeps H from being m.I^-1 m/2 of each body by itself, positive; *known false: no memory, or the graph has
 * failed. */
static const char *find_inertia(struct lgv_model *m, double *inverse, bool *known) {
    static const long none[LGV_MAX_LOOPS];
    const size_t plain = lgv_model_bodies(m, false), coupled = lgv_model_bodies(m, true);
    struct inertia x = {.m = m, .inverse = inverse};
    struct lgv_function H = {0};
    struct lgv_terms Hp = {0}, Hpp = {0};
    double *zero = lgv_new(m->nx + m->np, sizeof *zero);
    const char *fault = NULL;
    bool ok = zero && lgv_function_split(m->graph, m->hamiltonian, false, &H);
    if (ok) lgv_terms_gradient(m->graph, &H, LGV_P, &Hp);
    if (ok) lgv_terms_hessian(m->graph, &H, LGV_P, LGV_P, &Hpp);
    ok = ok && !m->graph->failed && lgv_eval_begin(&x.e, m->graph);
    if (ok) {
        x.env = (struct lgv_env){.par = m->par, .t = m->from, .space = {[LGV_Q] = zero, [LGV_P] = zero}};
        for (size_t k = 0; k < 9 * plain + 36 * coupled; k++) inverse[k] = 0;
        for (size_t i = 0; i < Hpp.count; i++) {
            x.term = &Hpp.term[i];
            if (x.term->nest < 0)
                add_entry(&x, none);
            else
                lgv_loops_each(m->graph, x.term->nest, LGV_MAX_INSTANCES, add_entry, &x);
        }
        for (size_t k = 0; k < plain; k++)
            if (!definite(3, inverse + 9 * k)) fault = "the inertia of a rotation must be positive definite";
        for (size_t k = 0; k < coupled; k++)
            if (!definite(6, inverse + 9 * plain + 36 * k)) fault = "the inertia of a body must be positive definite";
        if (x.coupled) fault = "the angular momentum of a rotation is coupled to other momenta";
        if (!at_rest(m, &x.e, &Hp, zero)) fault = "the kinetic energy of a rotation has a term of first degree in m";
        lgv_eval_end(&x.e);
    }
    lgv_function_free(&H);
    lgv_terms_free(&Hp);
    lgv_terms_free(&Hpp);
    free(zero);
    *known = ok;
    return fault;
}

enum lgv_status lgv_model_inertia(struct lgv_model *m, double *inverse, struct lgv_error *err) {
    bool known;
    const char *fault = find_inertia(m, inverse, &known);
    if (!known) return lgv_fail_memory(err);
    return fault ? lgv_model_fail(err, m->file, m->text, m->line, m->column, "%s", fault) : LGV_OK;
}

const char *lgv_model_inertia_fault(struct lgv_model *m) {
    bool known = false;
    double *inverse = lgv_new(9 * lgv_model_bodies(m, false) + 36 * lgv_model_bodies(m, true), sizeof *inverse);
    const char *fault = inverse ? find_inertia(m, inverse, &known) : NULL;
    free(inverse);
    return fault;
}

#define ALMOST 1e-10 /* moments written as quotients may exceed the sum of the others by their rounding */

bool lgv_model_no_body(struct lgv_model *m, double moments[3]) {
    const size_t plain = lgv_model_bodies(m, false), entries = 9 * plain + 36 * lgv_model_bodies(m, true);
    struct lgv_structure s;
    if (!plain || m->graph->reduced || lgv_model_structure(m, &s, NULL) || !s.spins) return false;
    double *inverse = lgv_new(entries, sizeof *inverse), axes[9];
    bool found = false, known = inverse && !lgv_model_inertia(m, inverse, NULL);
    for (size_t k = 0; known && !found && k < plain; k++) {
        lgv_linear_diagonalise(3, inverse + 9 * k, axes);
        for (int i = 0; i < 3; i++) moments[i] = 1 / inverse[9 * k + 4 * (size_t)i];
        for (int i = 0; i < 3; i++)
            found |= moments[i] > (moments[(i + 1) % 3] + moments[(i + 2) % 3]) * (1 + ALMOST);
    }
    free(inverse);
    return found;
}
