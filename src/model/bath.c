/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friction, temperatures, masses and inertia as numbers, at the present values of the parameters. */
#include "model/model.h"
#include <math.h>
#include <stdlib.h>

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
            return lgv_model_fail(err, m->file, m->text, b->line, b->column,
                                  "the friction is %g here; it must be a finite number that is not negative",
                                  friction[i]);
    }
    if (b->kind == LGV_FRICTION_MATRIX && !lgv_semidefinite(n, friction))
        return lgv_model_fail(err, m->file, m->text, b->line, b->column,
                              "the friction matrix must be symmetric and positive semidefinite");
    for (size_t i = 0; i < b->rows; i++)
        if (!(temperature[b->row[i]] >= 0) || !isfinite(temperature[b->row[i]]))
            return lgv_model_fail(err, m->file, m->text, b->temperature_line, b->temperature_column,
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

size_t lgv_model_bodies(const struct lgv_model *m) {
    size_t count = 0;
    for (size_t k = 0; m->graph && k < m->graph->nrotations; k++) count += (size_t)m->graph->rotation[k].count;
    return count;
}

/* The body whose momentum has row p, or -1. */
static long body_of(const struct lgv_graph *g, long p, long *axis) {
    long before = 0;
    for (size_t k = 0; k < g->nrotations; before += g->rotation[k++].count) {
        long i = p - g->rotation[k].p;
        if (i < 0 || i >= 3 * g->rotation[k].count) continue;
        *axis = i % 3;
        return before + i / 3;
    }
    return -1;
}

struct inertia {
    struct lgv_evaluator e;
    struct lgv_env env;
    const struct lgv_term *term;
    double *inverse; /* [bodies][9] */
    bool coupled;    /* to other momenta */
};

static bool add_entry(void *user, const long *vars) {
    struct inertia *x = user;
    const struct lgv_graph *g = x->e.g;
    long i = 0, j = 0;
    long body = body_of(g, lgv_loops_index(g, x->term->row, vars), &i);
    long other = body_of(g, lgv_loops_index(g, x->term->col, vars), &j);
    if (body >= 0 && body == other)
        x->inverse[9 * body + 3 * i + j] += lgv_eval_node(&x->e, x->term->value, &x->env, vars);
    else if (body != other)
        x->coupled = true;
    return true;
}

/* By its leading minors. */
static bool definite(const double *A) {
    double two = A[0] * A[4] - A[1] * A[3];
    double three = two * A[8] - A[5] * (A[0] * A[7] - A[1] * A[6]) + A[2] * (A[3] * A[7] - A[4] * A[6]);
    return A[0] > 0 && two > 0 && three > 0 && isfinite(three);
}

/* Does H_p vanish with p, for the momenta of rotations? */
static bool at_rest(struct lgv_model *m, struct lgv_evaluator *e, const struct lgv_terms *Hp, const double *zero) {
    struct lgv_env env = {.par = m->par, .t = m->from, .space = {[LGV_Q] = zero, [LGV_P] = zero}};
    double *x = lgv_new(m->np, sizeof *x);
    bool rest = x != NULL;
    long axis;
    if (rest) lgv_eval_terms(e, Hp, &env, x, m->np, 1);
    for (size_t i = 0; rest && i < m->np; i++) rest = body_of(m->graph, (long)i, &axis) < 0 || x[i] == 0;
    free(x);
    return rest;
}

enum lgv_status lgv_model_inertia(struct lgv_model *m, double *inverse, struct lgv_error *err) {
    static const long none[LGV_MAX_LOOPS];
    struct inertia x = {.inverse = inverse};
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
        for (size_t k = 0; k < 9 * lgv_model_bodies(m); k++) inverse[k] = 0;
        for (size_t i = 0; i < Hpp.count; i++) {
            x.term = &Hpp.term[i];
            if (x.term->nest < 0)
                add_entry(&x, none);
            else
                lgv_loops_each(m->graph, x.term->nest, LGV_MAX_INSTANCES, add_entry, &x);
        }
        for (size_t k = 0; k < lgv_model_bodies(m); k++)
            if (!definite(inverse + 9 * k)) fault = "the inertia of a rotation must be positive definite";
        if (x.coupled) fault = "the angular momentum of a rotation is coupled to other momenta";
        if (!at_rest(m, &x.e, &Hp, zero)) fault = "the kinetic energy of a rotation has a term of first degree in m";
        lgv_eval_end(&x.e);
    }
    lgv_function_free(&H);
    lgv_terms_free(&Hp);
    lgv_terms_free(&Hpp);
    free(zero);
    if (!ok) return lgv_fail_memory(err);
    return fault ? lgv_model_fail(err, m->file, m->text, m->line, m->column, "%s", fault) : LGV_OK;
}
