/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How much the potential bends at a typical start: K = H_qq and its declared stiff part K1 = V1_qq as sparse matrices,
 * W = M^-1 = H_pp, and the least and the largest eigenvalue of W (a (K - K1) + b K1), squares of frequencies.  Forces F
 * beside the potential bend K by the symmetric part of -F_q: what has a potential exactly so, else real parts of
 * eigenvalues lie between those of K.
 *
 * These are found by Lanczos' method, in the inner product x.M y, for which the matrix is symmetric.  Vectors x are
 * carried with y = M x, so that nobody needs M itself:
 *
 *     y_j+1 = A x_j - alpha_j y_j - beta_j y_j-1,     x_j+1 = W y_j+1,     alpha_j = x_j . A x_j,     A = a K0 + b K1.
 *
 * Vectors are not made orthogonal again: eigenvalues then come several times, but the extreme ones are right.  C.
 * Lanczos (1950), doi 10.6028/jres.045.026. */
#include "model/model.h"
#include "model/point.h"
#include <math.h>
#include <stdlib.h>

#define MOST_FORCES 300 /* every one is differentiated by itself */
#define MOST_ROUNDS 120 /* the edge of a spectrum without gaps is then known to a thousandth */

struct gather {
    struct lgv_evaluator *e;
    const struct lgv_graph *g;
    const struct lgv_env *env;
    const struct lgv_term *term;
    struct lgv_sparse_numbers *to;
    size_t most, capacity;
    bool failed;
};

static bool put(void *user, const long *vars) {
    struct gather *s = user;
    struct lgv_sparse_numbers *to = s->to;
    if (to->count >= s->most || !lgv_grow(&to->at, &s->capacity, to->count + 1, sizeof *to->at)) {
        s->failed = true;
        return false;
    }
    to->at[to->count++] =
        (struct lgv_number_at){(int)lgv_loops_index(s->g, s->term->row, vars),
                               (int)lgv_loops_index(s->g, s->term->col, vars),
                               lgv_eval_node(s->e, s->term->value, s->env, vars)};
    return true;
}

/* The Hessian of f as numbers; entries may come several times. */
static bool numbers(struct lgv_model *m, struct lgv_evaluator *e, const struct lgv_env *env,
                    const struct lgv_terms *terms, size_t most, struct lgv_sparse_numbers *out) {
    static const long none[LGV_MAX_LOOPS];
    struct gather s = {.e = e, .g = m->graph, .env = env, .to = out, .most = most};
    for (size_t k = 0; k < terms->count && !s.failed; k++) {
        s.term = &terms->term[k];
        if (s.term->nest < 0)
            put(&s, none);
        else if (lgv_loops_each(m->graph, s.term->nest, LGV_MAX_INSTANCES, put, &s) < 0)
            s.failed = true;
    }
    for (size_t k = 0; k < out->count; k++) s.failed = s.failed || !isfinite(out->at[k].value);
    return !s.failed;
}

void lgv_curvature_free(struct lgv_curvature *c) {
    free(c->all.at);
    free(c->stiff.at);
    free(c->inverse_mass.at);
    *c = (struct lgv_curvature){0};
}

static bool hessian(struct lgv_model *m, int formula, enum lgv_space space, struct lgv_terms *out) {
    struct lgv_function f = {0};
    bool ok = lgv_function_split(m->graph, formula, false, &f);
    if (ok) lgv_terms_hessian(m->graph, &f, space, space, out);
    lgv_function_free(&f);
    return ok && !m->graph->failed;
}

/* Adds the symmetric part of -F_q, the rows one by one. */
static bool bend_by_forces(struct lgv_model *m, struct lgv_evaluator *e, const struct lgv_env *env,
                           const struct lgv_terms *gradient, size_t most, struct lgv_sparse_numbers *to) {
    const size_t n = m->np;
    size_t capacity = to->count;
    double *row = lgv_new(n, sizeof *row);
    bool ok = row != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        for (size_t j = 0; j < n; j++) row[j] = 0;
        lgv_eval_terms(e, &gradient[i], env, row, n, 1);
        for (size_t j = 0; ok && j < n; j++) {
            if (row[j] == 0) continue;
            ok = isfinite(row[j]) && to->count + 2 <= most &&
                 lgv_grow(&to->at, &capacity, to->count + 2, sizeof *to->at);
            if (!ok) break;
            to->at[to->count++] = (struct lgv_number_at){(int)i, (int)j, -0.5 * row[j]};
            to->at[to->count++] = (struct lgv_number_at){(int)j, (int)i, -0.5 * row[j]};
        }
    }
    free(row);
    return ok;
}

/* F_q of every force; NULL: memory is out. */
static struct lgv_terms *force_gradients(struct lgv_model *m) {
    struct lgv_terms *d = lgv_new(m->np, sizeof *d);
    for (size_t i = 0; d && i < m->np; i++) {
        struct lgv_function f = {0};
        if (lgv_function_split(m->graph, m->force[i], false, &f)) lgv_terms_gradient(m->graph, &f, LGV_Q, &d[i]);
        lgv_function_free(&f);
    }
    return d;
}

bool lgv_model_curvature(struct lgv_model *m, size_t most, struct lgv_curvature *out) {
    *out = (struct lgv_curvature){.n = m->np};
    if (!m->kind->formulas || m->hamiltonian < 0 || m->lagrangian_only || m->nx != m->np) return false;
    if (m->force && m->np > MOST_FORCES) return false;
    struct lgv_terms K = {0}, K1 = {0}, W = {0}, *F = m->force ? force_gradients(m) : NULL;
    struct lgv_evaluator e = {0};
    struct lgv_point at = {0};
    bool ok = hessian(m, m->hamiltonian, LGV_Q, &K) && hessian(m, m->hamiltonian, LGV_P, &W) &&
              (m->stiff < 0 || hessian(m, m->stiff, LGV_Q, &K1)) && (F || !m->force) && !m->graph->failed &&
              lgv_eval_begin(&e, m->graph);
    bool begun = ok;
    ok = ok && lgv_point_make(m, &e, -1, 1, &at);
    if (ok) {
        struct lgv_env env = lgv_point_env(m, &at);
        ok = numbers(m, &e, &env, &K, most, &out->all) && numbers(m, &e, &env, &K1, most, &out->stiff) &&
             numbers(m, &e, &env, &W, most, &out->inverse_mass) &&
             (!F || bend_by_forces(m, &e, &env, F, most, &out->all));
        if (ok && m->npenalties) out->penalty = sqrt(lgv_eval_node(&e, m->penalty, &env, NULL));
    }
    if (begun) lgv_eval_end(&e);
    free(at.x);
    for (size_t i = 0; F && i < m->np; i++) lgv_terms_free(&F[i]);
    free(F);
    lgv_terms_free(&K);
    lgv_terms_free(&K1);
    lgv_terms_free(&W);
    if (!ok) lgv_curvature_free(out);
    return ok;
}

/* ---- eigenvalues ---- */

/* y += factor A x */
static void multiply(const struct lgv_sparse_numbers *A, double factor, const double *x, double *y) {
    for (size_t k = 0; factor != 0 && k < A->count; k++) y[A->at[k].row] += factor * A->at[k].value * x[A->at[k].col];
}

static double dot(size_t n, const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* How many eigenvalues of the tridiagonal matrix lie below x (Sturm's sequence). */
static int below(int n, const double *alpha, const double *beta, double x) {
    int count = 0;
    double d = 1;
    for (int i = 0; i < n; i++) {
        d = alpha[i] - x - (i ? beta[i] * beta[i] / d : 0);
        if (d == 0) d = -1e-300;
        count += d < 0;
    }
    return count;
}

/* The eigenvalue with `number` below it. */
static double eigenvalue(int n, const double *alpha, const double *beta, int number) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < n; i++) {
        double reach = fabs(beta[i]) + (i + 1 < n ? fabs(beta[i + 1]) : 0);
        low = fmin(low, alpha[i] - reach);
        high = fmax(high, alpha[i] + reach);
    }
    for (int i = 0; i < 100; i++) {
        double middle = 0.5 * (low + high);
        *(below(n, alpha, beta, middle) > number ? &high : &low) = middle;
    }
    return 0.5 * (low + high);
}

/* alpha [MOST_ROUNDS], beta likewise with beta[0] = 0; the number of rounds, 0: M is not positive definite. */
static int lanczos(const struct lgv_curvature *c, double a, double b, double *v, double *alpha, double *beta) {
    size_t n = c->n;
    double *x = v, *y = v + n, *before = v + 2 * n, *next = v + 3 * n, size = 0;
    uint64_t seed = 0x1a2b3c;
    for (size_t i = 0; i < n; i++) {
        y[i] = lgv_point_draw(&seed) - 0.5;
        before[i] = x[i] = 0;
    }
    multiply(&c->inverse_mass, 1, y, x);
    beta[0] = 0;
    for (int j = 0; j < MOST_ROUNDS; j++) {
        double square = dot(n, x, y), norm = sqrt(square);
        if (!(square > 0)) return isnan(square) || square < 0 ? 0 : j;
        if (j) beta[j] = norm;
        if (j && norm <= 1e-12 * size) return j; /* all there is has been seen */
        for (size_t i = 0; i < n; i++) {
            x[i] /= norm;
            y[i] /= norm;
            next[i] = 0;
        }
        multiply(&c->all, a, x, next);
        multiply(&c->stiff, b - a, x, next);
        alpha[j] = dot(n, x, next);
        size = fmax(size, fabs(alpha[j]) + beta[j]);
        for (size_t i = 0; i < n; i++) {
            double now = y[i];
            y[i] = next[i] - alpha[j] * now - (j ? norm * before[i] : 0);
            before[i] = now;
            x[i] = 0;
        }
        multiply(&c->inverse_mass, 1, y, x);
    }
    return MOST_ROUNDS;
}

bool lgv_curvature_extremes(const struct lgv_curvature *c, double a, double b, double *least, double *most) {
    double alpha[MOST_ROUNDS], beta[MOST_ROUNDS];
    double *v = lgv_new(4 * c->n + 1, sizeof *v);
    int rounds = v && c->n ? lanczos(c, a, b, v, alpha, beta) : 0;
    *least = *most = NAN;
    if (rounds > 0) {
        *least = eigenvalue(rounds, alpha, beta, 0);
        *most = eigenvalue(rounds, alpha, beta, rounds - 1);
    }
    free(v);
    return rounds > 0 && isfinite(*least) && isfinite(*most);
}

/* ---- modes of the stiff part ---- */

static void densely(const struct lgv_sparse_numbers *A, double factor, const double *root, size_t n, double *out) {
    for (size_t k = 0; k < A->count; k++) {
        size_t i = (size_t)A->at[k].row, j = (size_t)A->at[k].col;
        out[i * n + j] += factor * A->at[k].value * root[i] * root[j];
    }
}

bool lgv_curvature_modes(const struct lgv_curvature *c, double *square, double *rest) {
    size_t n = c->n;
    if (n > LGV_CURVATURE_MODES) return false;
    double *A = lgv_new(3 * n * n + n, sizeof *A);
    if (!A) return false;
    double *B = A + n * n, *Q = B + n * n, *root = Q + n * n;
    bool ok = true;
    for (size_t k = 0; ok && k < c->inverse_mass.count; k++) {
        const struct lgv_number_at *at = &c->inverse_mass.at[k];
        if (at->row == at->col)
            root[at->row] += at->value;
        else
            ok = at->value == 0; /* masses off the diagonal are left */
    }
    for (size_t i = 0; ok && i < n; i++) {
        ok = root[i] > 0;
        root[i] = sqrt(root[i]);
    }
    if (ok) {
        densely(&c->stiff, 1, root, n, A);
        densely(&c->all, 1, root, n, B);
        densely(&c->stiff, -1, root, n, B);
        lgv_linear_diagonalise(n, A, Q);
        for (size_t k = 0; k < n; k++) {
            square[k] = A[k * n + k];
            rest[k] = 0;
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++) rest[k] += Q[i * n + k] * B[i * n + j] * Q[j * n + k];
        }
    }
    free(A);
    return ok;
}
