/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How a start value stands to the constraints g(q) = 0 with Jacobian G: its residuals |g| and |G v|, the nearest point
 * of g = 0 by Gauss-Newton steps
 *     q -= G^T (G G^T)^-1 g      (a rotation is turned by its three components of that),
 * and the rank of G there.  G G^T is factorised with rows scaled to length 1 and stored by its envelope, which is
 * narrow for chains.  A pivot is the squared distance of a row from the rows before it. */
#include "model/kind.h"
#include "model/point.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ENVELOPE 20000000L /* entries of the factor, beyond which nothing is said */
#define DENSE_WORK 1.5e8       /* operations of an orthogonalisation of all rows, beyond which the factor has to do */
#define TINY_PIVOT 1e-13       /* of the factor: a distance of 3e-7; smaller ones drown in rounding errors */
#define TINY_ROW 3e-7          /* of the orthogonalisation: G M^-1 G^T has the square of it */
#define MAX_STEPS 100
#define MAX_WORK 5e8       /* operations of one factor */
#define VANISHING_ROWS 100 /* more constraints are only looked at where their gradient is zero */

struct lgv_projector {
    struct lgv_model *m;
    struct lgv_terms g, jacobian, size;
    struct lgv_evaluator e;
    bool begun;
    size_t nc, nx, np, count, capacity;
    struct element {
        size_t row, col;
        double value;
    } * G;                /* sorted by row and column */
    size_t *first;        /* [nc + 1] of a row */
    double *value, *norm; /* [nc] g, length of the rows */
    double *u, *step;     /* [nc], [np] */
    size_t *low, *at;     /* [nc] envelope: first column of a row, place of the row */
    double *factor;
    size_t room;
};

void lgv_projector_free(struct lgv_projector *c) {
    if (!c) return;
    lgv_terms_free(&c->g);
    lgv_terms_free(&c->jacobian);
    lgv_terms_free(&c->size);
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
    c->nx = m->nx;
    c->np = m->np;
    bool ok = lgv_model_constraint_sum(m, &S);
    if (ok) {
        lgv_terms_gradient(m->graph, &S, LGV_LAMBDA, &c->g);
        lgv_terms_hessian(m->graph, &S, LGV_LAMBDA, LGV_Q, &c->jacobian);
        lgv_function_free(&S);
        ok = lgv_model_constraint_size(m, &S);
    }
    if (ok) {
        lgv_terms_gradient(m->graph, &S, LGV_LAMBDA, &c->size);
        lgv_function_free(&S);
    }
    c->first = lgv_new(c->nc + 2, sizeof *c->first);
    c->value = lgv_new(c->nc + 1, sizeof *c->value);
    c->norm = lgv_new(c->nc + 1, sizeof *c->norm);
    c->u = lgv_new(c->nc + 1, sizeof *c->u);
    c->step = lgv_new(c->np + 1, sizeof *c->step);
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

void lgv_projector_residual(struct lgv_projector *c, const double *q, double *out) {
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
    size_t *order = lgv_new(c->count + c->np + 2, sizeof *order), *begin = order ? order + c->count : NULL, total = 0;
    if (!order) return false;
    for (size_t k = 0; k < c->count; k++) begin[c->G[k].col + 1]++;
    for (size_t j = 0; j < c->np; j++) begin[j + 1] += begin[j];
    for (size_t k = 0; k < c->count; k++) order[begin[c->G[k].col]++] = k; /* rows ascend within a column */
    for (size_t j = c->np; j > 0; j--) begin[j] = begin[j - 1];
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
    double work = 0;
    for (size_t k = 0; k < c->nc; k++) work += (double)(k - c->low[k] + 1) * (double)(k - c->low[k] + 1);
    bool ok = total <= MAX_ENVELOPE && work <= MAX_WORK && lgv_grow(&c->factor, &c->room, total + 1, sizeof *c->factor);
    if (ok) memset(c->factor, 0, total * sizeof *c->factor);
    for (size_t j = 0; ok && j < c->np; j++)
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
    memset(c->step, 0, c->np * sizeof *c->step);
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
    lgv_rotations_advance(c->m->graph, c->np, q, c->step, -1);
    for (int k = 0; k < 30; k++) {
        lgv_projector_residual(c, q, c->u);
        if (largest(c->u, c->nc) <= before) return true;
        length /= 2;
        lgv_rotations_advance(c->m->graph, c->np, q, c->step, length);
    }
    return false;
}

enum outcome { ON_IT, OFF_IT, UNKNOWN };

/* worst: the constraint that stays farthest off. */
static enum outcome project(struct lgv_projector *c, double *q, int *iterations, size_t *worst) {
    double scale = largest(q, c->nx), far = INFINITY;
    if (!isfinite(scale)) return UNKNOWN;
    for (*iterations = 0; *iterations < MAX_STEPS; ++*iterations) {
        lgv_projector_residual(c, q, c->value);
        if (!jacobian(c, q)) return UNKNOWN;
        scale = fmax(scale, largest(q, c->nx));
        double now = distance(c, worst), size = scale > 0 ? scale : 1;
        if (now <= 1e-14 * size || (now <= 1e-11 * size && now > 0.3 * far)) return ON_IT;
        far = now;
        if (!assemble(c)) return UNKNOWN;
        factorise(c);
        newton_step(c);
        if (!damped_step(c, q)) return now <= 1e-11 * size ? ON_IT : OFF_IT;
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

/* ---- rank ---- */

struct dependence {
    size_t rank, row;    /* row: the first dependent constraint, when rank < nc */
    size_t other[4];     /* some of the constraints it depends on */
    size_t nother, more; /* more: how many further ones */
};

/* The combination of chosen rows that gives row r: coef[k * nc + s] are components along the s-th direction. */
static void combination(const struct lgv_projector *c, const double *coef, const size_t *chosen, double *x,
                        struct dependence *out) {
    size_t nc = c->nc, r = out->row;
    for (size_t s = out->rank; s-- > 0;) {
        x[s] = coef[r * nc + s];
        for (size_t t = s + 1; t < out->rank; t++) x[s] -= x[t] * coef[chosen[t] * nc + s];
        x[s] /= coef[chosen[s] * nc + s];
    }
    for (size_t k = 0; k < nc; k++)
        for (size_t s = 0; s < out->rank; s++) {
            if (chosen[s] != k || fabs(x[s]) < 1e-6) continue;
            if (out->nother < 4)
                out->other[out->nother++] = k;
            else
                out->more++;
        }
}

/* Orthogonalises the scaled rows of G, the longest remaining one first; a[nc][np] and coef[nc][nc] are cleared. */
static void orthogonalise(const struct lgv_projector *c, double *a, double *coef, size_t *chosen,
                          struct dependence *out) {
    size_t nc = c->nc, np = c->np;
    double *length = coef + nc * nc;
    bool *used = (bool *)(chosen + nc);
    for (size_t k = 0; k < c->count; k++)
        if (c->norm[c->G[k].row] > 0) a[c->G[k].row * np + c->G[k].col] = c->G[k].value / c->norm[c->G[k].row];
    for (size_t k = 0; k < nc; k++) length[k] = c->norm[k] > 0;
    while (out->rank < nc) {
        size_t best = nc;
        for (size_t k = 0; k < nc; k++)
            if (!used[k] && (best == nc || length[k] > 1.0000001 * length[best])) best = k;
        if (!(length[best] > TINY_ROW)) break;
        size_t s = out->rank++;
        double *e = a + best * np;
        used[best] = true;
        chosen[s] = best;
        coef[best * nc + s] = length[best];
        for (size_t i = 0; i < np; i++) e[i] /= length[best];
        for (size_t k = 0; k < nc; k++) {
            double dot = 0, rest = 0, *r = a + k * np;
            if (used[k]) continue;
            for (size_t i = 0; i < np; i++) dot += r[i] * e[i];
            for (size_t i = 0; i < np; i++) {
                r[i] -= dot * e[i];
                rest += r[i] * r[i];
            }
            coef[k * nc + s] = dot;
            length[k] = sqrt(rest);
        }
    }
    out->row = nc;
    for (size_t k = nc; k-- > 0;)
        if (!used[k]) out->row = k;
}

/* The rank of G as it stands in c; false when it cannot be found.  Large models, where all rows cannot be
 * orthogonalised in passing, have the pivots of the factor instead, which name one row only. */
static bool find_rank(struct lgv_projector *c, struct dependence *out) {
    size_t nc = c->nc;
    *out = (struct dependence){.row = nc};
    if ((double)nc * (double)nc * (double)c->np <= DENSE_WORK) {
        double *a = lgv_new(nc * c->np, sizeof *a), *coef = lgv_new(nc * nc + 2 * nc, sizeof *coef);
        size_t *chosen = lgv_new(2 * nc, sizeof *chosen);
        bool ok = a && coef && chosen;
        if (ok) orthogonalise(c, a, coef, chosen, out);
        if (ok && out->rank < nc) combination(c, coef, chosen, coef + nc * nc + nc, out);
        free(a);
        free(coef);
        free(chosen);
        return ok;
    }
    if (!assemble(c)) return false;
    out->rank = factorise(c);
    for (size_t k = nc; k-- > 0;)
        if (!(row_of(c, k)[k] > 0)) out->row = k;
    return true;
}

/* ---- messages ---- */

static const struct lgv_constraint *entry_of(const struct lgv_model *m, size_t k) {
    size_t e = 0;
    while (e + 1 < m->nconstraint_entries && k >= m->constraint[e].first + m->constraint[e].count) e++;
    return &m->constraint[e];
}

void lgv_model_constraint_name(const struct lgv_model *m, size_t k, char *out, size_t size) {
    const char *text = entry_of(m, k)->text;
    snprintf(out, size, "constraint %zu (%.*s%s)", k + 1, 60, text, strlen(text) > 60 ? "..." : "");
}

static enum lgv_status refuse(const struct lgv_model *m, size_t k, struct lgv_error *err, const char *format,
                              const char *detail) {
    const struct lgv_constraint *at = entry_of(m, k);
    char name[128];
    lgv_model_constraint_name(m, k, name, sizeof name);
    return lgv_model_fail(err, m->file, m->text, at->line, at->column, "%s%s%s", name, format, detail);
}

static enum lgv_status refuse_dependent(const struct lgv_model *m, const struct dependence *d, bool holds,
                                        struct lgv_error *err) {
    struct lgv_text t = {0};
    for (size_t i = 0; i < d->nother; i++) {
        char name[128];
        lgv_model_constraint_name(m, d->other[i], name, sizeof name);
        lgv_text_add(&t, "%s%s", i == 0 ? "" : i + 1 < d->nother || d->more ? ", " : " and ", name);
    }
    if (d->more) lgv_text_add(&t, " and %zu more", d->more);
    if (!d->nother) lgv_text_add(&t, "constraints before it");
    enum lgv_status status =
        refuse(m, d->row, err,
               holds ? " is redundant: at the start its gradient depends on that of "
                     : " cannot hold together with the others: near the start its gradient depends on that of ",
               t.data ? t.data : "others");
    lgv_text_free(&t);
    return status;
}

/* moved: the projection got away from the start, but not to g = 0. */
static enum lgv_status refuse_start(struct lgv_projector *c, const double *q, size_t worst, bool moved,
                                    struct lgv_error *err) {
    const struct lgv_env env = {.par = c->m->par, .space = {[LGV_Q] = q}};
    const double value = c->value[worst];
    struct dependence d;
    char text[160];
    if (!moved && !(c->norm[worst] > 0))
        return refuse(c->m, worst, err, " does not hold at the start, and its gradient vanishes there", "");
    if (find_rank(c, &d) && d.rank < c->nc && c->norm[d.row] > 0) return refuse_dependent(c->m, &d, false, err);
    lgv_eval_terms(&c->e, &c->size, &env, c->value, c->nc, 1);
    if (fabs(value) <= 1e-10 * c->value[worst])
        return refuse(c->m, worst, err, " has a solution near the start, but gradients vanish there", "");
    snprintf(text, sizeof text, "it stays at %.3g", value);
    return refuse(c->m, worst, err, " cannot be met near the start: ", text);
}

static enum lgv_status refuse_undefined(struct lgv_projector *c, size_t k, struct lgv_error *err) {
    if (isfinite(c->value[k])) return refuse(c->m, k, err, " has no finite gradient at the start", "");
    return refuse(c->m, k, err,
                  isnan(c->value[k]) ? " is not a number at the start (a root or logarithm of a negative number?)"
                                     : " is infinite at the start",
                  "");
}

/* ---- the check ---- */

/* The first constraint without a value or a gradient at the start; their number when there is none. */
static size_t undefined(const struct lgv_projector *c) {
    size_t k = 0;
    while (k < c->nc && isfinite(c->value[k]) && isfinite(c->norm[k])) k++;
    return k;
}

/* v at the point: of the start, or H_p. */
static void velocity_at(struct lgv_model *m, struct lgv_evaluator *e, const struct lgv_terms *Hp,
                        const struct lgv_point *at, double *v) {
    struct lgv_env env = lgv_point_env(m, at);
    if (m->lagrangian_only)
        memcpy(v, at->x + (m->nx + m->np), m->np * sizeof *v);
    else
        lgv_eval_terms(e, Hp, &env, v, m->np, 1);
}

/* Residuals of the start as given. */
static void residuals(struct lgv_projector *c, const double *q, const double *v, struct lgv_start_report *out) {
    struct lgv_env env = {.par = c->m->par, .space = {[LGV_Q] = q}};
    lgv_eval_terms(&c->e, &c->size, &env, c->value, c->nc, 1);
    for (size_t k = 0; k < c->nc; k++) out->size = fmax(out->size, c->value[k]);
    if (out->size == 0) /* like z = 0: round-off of the other coordinates */
        out->size = largest(c->norm, c->nc) * largest(q, c->nx);
    lgv_projector_residual(c, q, c->value);
    for (size_t k = 0; k < c->nc; k++) {
        double hidden = 0, size = 0;
        for (size_t i = c->first[k]; i < c->first[k + 1]; i++) {
            hidden += c->G[i].value * v[c->G[i].col];
            size += fabs(c->G[i].value * v[c->G[i].col]);
        }
        if (c->m->maxwellian) hidden = 0; /* the projection is a part of that law */
        out->hidden_size = fmax(out->hidden_size, size);
        if (!(fabs(c->value[k]) <= out->residual)) out->residual = fabs(c->value[k]), out->worst = k;
        if (!(fabs(hidden) <= out->hidden)) out->hidden = fabs(hidden), out->worst_hidden = k;
    }
}

/* Of the coordinate of degree of freedom i; a rotation has 1. */
static double size_at(const struct lgv_projector *c, const double *q, size_t i) {
    int axis;
    long row = lgv_rotations_row(c->m->graph, (long)i, &axis);
    return axis < 0 ? fabs(q[row]) : 1;
}

/* A constraint whose gradient is tiny on g = 0 compared with points around: a square, or a singular point. */
static size_t vanishing(struct lgv_projector *c, const double *q) {
    double *norm = lgv_new(c->nc + c->nx + c->np, sizeof *norm), *x = norm ? norm + c->nc : NULL;
    double *xi = norm ? x + c->nx : NULL;
    uint64_t seed = 99;
    size_t bad = c->nc;
    if (!norm) return bad;
    memcpy(norm, c->norm, c->nc * sizeof *norm);
    for (size_t k = c->nc; k-- > 0;) { /* shaken by the size of the coordinates that the constraint knows */
        double scale = 0;
        if (norm[k] > 0 && c->nc > VANISHING_ROWS) continue;
        for (size_t a = c->first[k]; a < c->first[k + 1]; a++) scale = fmax(scale, size_at(c, q, c->G[a].col));
        for (size_t i = 0; i < c->np; i++) xi[i] = 0.2 * (scale > 0 ? scale : 1) * (lgv_point_draw(&seed) - 0.5);
        memcpy(x, q, c->nx * sizeof *x);
        lgv_rotations_advance(c->m->graph, c->np, x, xi, 1);
        if (norm[k] == 0 || (jacobian(c, x) && norm[k] < 1e-6 * c->norm[k])) bad = k;
        jacobian(c, q);
    }
    free(norm);
    return bad;
}

static enum lgv_status check_at(struct lgv_projector *c, double *q, struct lgv_start_report *out,
                                struct lgv_error *err) {
    size_t worst = 0;
    double *start = lgv_new(c->nx, sizeof *start);
    if (!start) return lgv_fail_memory(err);
    memcpy(start, q, c->nx * sizeof *start);
    enum outcome how = project(c, q, &out->iterations, &worst);
    for (size_t i = 0; i < c->nx; i++) out->moved = fmax(out->moved, fabs(q[i] - start[i]));
    free(start);
    if (how == UNKNOWN) return LGV_OK;
    if (how == OFF_IT) return refuse_start(c, q, worst, out->moved > 0, err);
    size_t flat = vanishing(c, q);
    if (flat < c->nc)
        return refuse(c->m, flat, err, " is singular: its gradient vanishes where it holds, near the start", "");
    struct dependence d;
    if (!find_rank(c, &d)) return LGV_OK;
    out->rank_known = true;
    out->rank = d.rank;
    return d.rank < c->nc ? refuse_dependent(c->m, &d, true, err) : LGV_OK;
}

enum lgv_status lgv_formulas_constraint_check(struct lgv_model *m, struct lgv_start_report *out,
                                              struct lgv_error *err) {
    struct lgv_function H = {0};
    struct lgv_terms Hp = {0};
    struct lgv_point at = {0};
    if (!m->lagrangian_only && lgv_function_split(m->graph, m->hamiltonian, false, &H))
        lgv_terms_gradient(m->graph, &H, LGV_P, &Hp);
    lgv_function_free(&H);
    struct lgv_projector *c = lgv_projector_create(m);
    double *v = lgv_new(m->np, sizeof *v);
    enum lgv_status status;
    if (lgv_expr_no_memory(m->graph))
        status = lgv_fail_memory(err);
    else if (m->graph->failed)
        status = lgv_fail(err, LGV_BAD_INPUT, "%s: the constraints cannot be analysed: %s", m->file, m->graph->failed);
    else if (!c || !v || !lgv_point_make(m, &c->e, -1, 1, &at))
        status = lgv_fail_memory(err);
    else if (!isfinite(largest(at.x, m->nx)))
        status = lgv_fail(err, LGV_BAD_INPUT, "%s: start values of the coordinates are not finite", m->file);
    else {
        velocity_at(m, &c->e, &Hp, &at, v);
        bool ok = jacobian(c, at.x);
        if (ok) residuals(c, at.x, v, out);
        size_t bad = ok ? undefined(c) : 0;
        status = !ok ? lgv_fail_memory(err) : bad < c->nc ? refuse_undefined(c, bad, err) : check_at(c, at.x, out, err);
    }
    lgv_projector_free(c);
    lgv_terms_free(&Hp);
    free(at.x);
    free(v);
    return status;
}
