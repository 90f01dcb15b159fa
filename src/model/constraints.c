/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a start value stands to the constraints g(q) = 0 with Jacobian G: its residuals |g| and |G v|, the nearest point of
 * g = 0 by Gauss-Newton steps
 *     q -= G^T (G G^T)^-1 g,
 * and the rank of G there.  G G^T is factorised with rows scaled to length 1 and stored by its envelope, which is narrow for
 * chains.  A pivot is the squared distance of a row from the rows before it. */
#include "model/point.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ENVELOPE 20000000L /* entries of the factor, beyond which nothing is said */
#define DENSE_WORK 1.5e8       /* operations of an orthogonalisation of all rows, beyond which the factor has to do */
#define TINY_PIVOT 1e-13       /* of the factor: a distance of 3e-7; smaller ones drown in rounding errors */
#define TINY_ROW 1e-10         /* of the orthogonalisation */
#define MAX_STEPS 60

struct lgv_projector {
    struct lgv_model *m;
    struct lgv_terms g, jacobian;
    struct lgv_evaluator e;
    bool begun;
    size_t nc, nq, count, capacity;
    struct element {
        size_t row, col;
        double value;
    } *G;                 /* sorted by row and column */
    size_t *first;        /* [nc + 1] of a row */
    double *value, *norm; /* [nc] g, length of the rows */
    double *u, *step;     /* [nc], [nq] */
    size_t *low, *at;     /* [nc] envelope: first column of a row, place of the row */
    double *factor;
    size_t room;
};

void lgv_projector_free(struct lgv_projector *c) {
    if (!c) return;
    lgv_terms_free(&c->g);
    lgv_terms_free(&c->jacobian);
    if (c->begun) lgv_eval_end(&c->e);
    free(c->G);
    free(c->first);
    free(c->value);
    free(c->norm);
    free(c->u);
    free(c->step);
    free(c->low);
    free(c->at);
    free(c->factor);
    free(c);
}

struct lgv_projector *lgv_projector_create(struct lgv_model *m) {
    struct lgv_projector *c = lgv_new(1, sizeof *c);
    struct lgv_function S;
    if (!c) return NULL;
    c->m = m;
    c->nc = m->nconstraints;
    c->nq = m->nq;
    bool ok = lgv_model_constraint_sum(m, &S);
    if (ok) {
        lgv_terms_gradient(m->graph, &S, LGV_LAMBDA, &c->g);
        lgv_terms_hessian(m->graph, &S, LGV_LAMBDA, LGV_Q, &c->jacobian);
        lgv_function_free(&S);
    }
    c->first = lgv_new(c->nc + 2, sizeof *c->first);
    c->value = lgv_new(c->nc + 1, sizeof *c->value);
    c->norm = lgv_new(c->nc + 1, sizeof *c->norm);
    c->u = lgv_new(c->nc + 1, sizeof *c->u);
    c->step = lgv_new(c->nq + 1, sizeof *c->step);
    c->low = lgv_new(c->nc + 1, sizeof *c->low);
    c->at = lgv_new(c->nc + 1, sizeof *c->at);
    ok = ok && c->first && c->value && c->norm && c->u && c->step && c->low && c->at && !m->graph->failed;
    c->begun = ok && lgv_eval_begin(&c->e, m->graph);
    if (c->begun) return c;
    lgv_projector_free(c);
    return NULL;
}

/* ---- g and G at a point ---- */

struct gather {
    struct lgv_projector *c;
    const struct lgv_env *env;
    const struct lgv_term *term;
    bool failed;
};

static bool gather_instance(void *user, const long *vars) {
    struct gather *s = user;
    struct lgv_projector *c = s->c;
    if (!lgv_grow(&c->G, &c->capacity, c->count + 1, sizeof *c->G)) {
        s->failed = true;
        return false;
    }
    c->G[c->count++] = (struct element){(size_t)lgv_loops_index(c->e.g, s->term->row, vars),
                                        (size_t)lgv_loops_index(c->e.g, s->term->col, vars),
                                        lgv_eval_node(&c->e, s->term->value, s->env, vars)};
    return true;
}

static int by_row(const void *a, const void *b) {
    const struct element *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return (x->col > y->col) - (x->col < y->col);
}

static void residual(struct lgv_projector *c, const double *q, double *out) {
    struct lgv_env env = {.par = c->m->par, .space = {[LGV_Q] = q}};
    lgv_eval_terms(&c->e, &c->g, &env, out, c->nc, 1);
}

static bool jacobian(struct lgv_projector *c, const double *q) {
    static const long none[LGV_MAX_LOOPS];
    struct lgv_env env = {.par = c->m->par, .space = {[LGV_Q] = q}};
    struct gather s = {.c = c, .env = &env};
    c->count = 0;
    for (size_t k = 0; k < c->jacobian.count && !s.failed; k++) {
        s.term = &c->jacobian.term[k];
        if (s.term->nest < 0)
            gather_instance(&s, none);
        else
            lgv_loops_each(c->e.g, s.term->nest, LGV_MAX_INSTANCES, gather_instance, &s);
    }
    if (s.failed) return false;
    if (c->count) qsort(c->G, c->count, sizeof *c->G, by_row);
    size_t n = 0, row = 0;
    for (size_t k = 0; k < c->count; k++) {
        if (n && c->G[n - 1].row == c->G[k].row && c->G[n - 1].col == c->G[k].col)
            c->G[n - 1].value += c->G[k].value;
        else
            c->G[n++] = c->G[k];
    }
    c->count = n;
    memset(c->norm, 0, c->nc * sizeof *c->norm);
    for (size_t k = 0; k < n; k++) {
        while (row <= c->G[k].row) c->first[row++] = k;
        c->norm[c->G[k].row] += c->G[k].value * c->G[k].value;
    }
    while (row <= c->nc) c->first[row++] = n;
    for (size_t k = 0; k < c->nc; k++) c->norm[k] = sqrt(c->norm[k]);
    return true;
}

/* ---- the factor of the scaled G G^T ---- */

static double *row_of(struct lgv_projector *c, size_t k) { /* [j] for j = low[k] .. k */
    return c->factor + c->at[k] - c->low[k];
}

/* Columns of G as lists of elements: rows that meet in a column are coupled. */
static bool assemble(struct lgv_projector *c) {
    size_t *order = lgv_new(c->count + c->nq + 2, sizeof *order), *begin = order ? order + c->count : NULL, total = 0;
    if (!order) return false;
    for (size_t k = 0; k < c->count; k++) begin[c->G[k].col + 1]++;
    for (size_t j = 0; j < c->nq; j++) begin[j + 1] += begin[j];
    for (size_t k = 0; k < c->count; k++) order[begin[c->G[k].col]++] = k; /* rows ascend within a column */
    for (size_t j = c->nq; j > 0; j--) begin[j] = begin[j - 1];
    begin[0] = 0;
    for (size_t k = 0; k < c->nc; k++) {
        c->low[k] = k;
        for (size_t i = c->first[k]; i < c->first[k + 1]; i++) {
            size_t row = c->G[order[begin[c->G[i].col]]].row;
            if (row < c->low[k]) c->low[k] = row;
        }
        c->at[k] = total;
        total += k - c->low[k] + 1;
    }
    bool ok = total <= MAX_ENVELOPE && lgv_grow(&c->factor, &c->room, total + 1, sizeof *c->factor);
    if (ok) memset(c->factor, 0, total * sizeof *c->factor);
    for (size_t j = 0; ok && j < c->nq; j++)
        for (size_t a = begin[j]; a < begin[j + 1]; a++)
            for (size_t b = begin[j]; b <= a; b++) {
                const struct element *x = &c->G[order[a]], *y = &c->G[order[b]];
                double scale = c->norm[x->row] * c->norm[y->row];
                if (scale > 0) row_of(c, x->row)[y->row] += x->value * y->value / scale;
            }
    free(order);
    return ok;
}

/* Cholesky; rows that depend on those before them get pivot 0 and are left out.  The number of rows that count. */
static size_t factorise(struct lgv_projector *c) {
    size_t rank = 0;
    for (size_t k = 0; k < c->nc; k++) {
        double *r = row_of(c, k), d = r[k];
        for (size_t j = c->low[k]; j < k; j++) {
            double *s = row_of(c, j), sum = r[j];
            for (size_t i = c->low[j] > c->low[k] ? c->low[j] : c->low[k]; i < j; i++) sum -= r[i] * s[i];
            r[j] = s[j] > 0 ? sum / s[j] : 0;
            d -= r[j] * r[j];
        }
        r[k] = d > TINY_PIVOT ? sqrt(d) : 0;
        rank += r[k] > 0;
    }
    return rank;
}

/* u = (G G^T)^-1 g in scaled rows, then step = G^T u. */
static void newton_step(struct lgv_projector *c) {
    for (size_t k = 0; k < c->nc; k++) {
        double *r = row_of(c, k), sum = c->norm[k] > 0 ? c->value[k] / c->norm[k] : 0;
        for (size_t j = c->low[k]; j < k; j++) sum -= r[j] * c->u[j];
        c->u[k] = r[k] > 0 ? sum / r[k] : 0;
    }
    for (size_t k = c->nc; k-- > 0;) {
        double *r = row_of(c, k);
        c->u[k] = r[k] > 0 ? c->u[k] / r[k] : 0;
        for (size_t j = c->low[k]; j < k; j++) c->u[j] -= r[j] * c->u[k];
    }
    memset(c->step, 0, c->nq * sizeof *c->step);
    for (size_t k = 0; k < c->count; k++) {
        const struct element *x = &c->G[k];
        if (c->norm[x->row] > 0) c->step[x->col] += x->value * c->u[x->row] / c->norm[x->row];
    }
}

/* ---- projection ---- */

static double largest(const double *x, size_t n) {
    double big = 0;
    for (size_t i = 0; i < n; i++) big = isfinite(x[i]) ? fmax(big, fabs(x[i])) : INFINITY;
    return big;
}

/* The largest |g_k| in units of the distance it means, and its number. */
static double distance(const struct lgv_projector *c, size_t *which) {
    double far = 0;
    for (size_t k = 0; k < c->nc; k++) {
        double d = c->value[k] == 0 ? 0 : fabs(c->value[k]) / c->norm[k];
        if (!(d <= far)) far = isnan(d) ? INFINITY : d, *which = k;
    }
    return far;
}

/* One step of Gauss-Newton, halved while |g| grows. */
static bool damped_step(struct lgv_projector *c, double *q) {
    double before = largest(c->value, c->nc), length = 1;
    for (size_t i = 0; i < c->nq; i++) q[i] -= c->step[i];
    for (int k = 0; k < 30; k++) {
        residual(c, q, c->u);
        if (largest(c->u, c->nc) <= before) return true;
        length /= 2;
        for (size_t i = 0; i < c->nq; i++) q[i] += length * c->step[i];
    }
    return false;
}

enum outcome { ON_IT, OFF_IT, UNKNOWN };

/* worst: the constraint that stays farthest off. */
static enum outcome project(struct lgv_projector *c, double *q, int *iterations, size_t *worst) {
    double scale = largest(q, c->nq), far = INFINITY;
    if (!isfinite(scale)) return UNKNOWN;
    for (*iterations = 0; *iterations < MAX_STEPS; ++*iterations) {
        residual(c, q, c->value);
        if (!jacobian(c, q)) return UNKNOWN;
        scale = fmax(scale, largest(q, c->nq));
        double now = distance(c, worst), unit = scale > 0 ? scale : 1;
        if (now <= 1e-14 * unit || (now <= 1e-11 * unit && now > 0.3 * far)) return ON_IT;
        far = now;
        if (!assemble(c)) return UNKNOWN;
        factorise(c);
        newton_step(c);
        if (!damped_step(c, q)) return now <= 1e-11 * unit ? ON_IT : OFF_IT;
    }
    return OFF_IT;
}

bool lgv_projector_move(struct lgv_projector *c, double *q) {
    int iterations;
    size_t worst = 0;
    return project(c, q, &iterations, &worst) == ON_IT;
}

double lgv_projector_change(struct lgv_projector *c, const double *q, const double *xi) {
    double worst = 0;
    if (!jacobian(c, q)) return NAN;
    for (size_t k = 0; k < c->nc; k++) {
        double sum = 0, parts = 0;
        for (size_t i = c->first[k]; i < c->first[k + 1]; i++) {
            sum += c->G[i].value * xi[c->G[i].col];
            parts += fabs(c->G[i].value * xi[c->G[i].col]);
        }
        if (!isfinite(sum)) return NAN;
        worst = fmax(worst, fabs(sum) / (1e-300 + parts));
    }
    return worst;
}
