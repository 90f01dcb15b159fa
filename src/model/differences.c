/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Symbolic gradients against finite differences at random points: what `lgv check` shows of the derivatives.
 *
 * Of a sum with many terms some are taken, spread over all of them: its derivative is right when those of its terms
 * are. */
#include "model/brackets.h"
#include "model/kind.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TERMS 64         /* taken of one sum */
#define MOST_VISITS 20000000L /* nodes evaluated for one function: about half a second */
#define EVALUATIONS 28        /* for one component at one point: 7 step sizes, 4 places each */
#define COMPONENTS 24
#define POINTS 6
#define ROUND_OFF 1e-7 /* of a value: its differences are not known better, over steps a tenth of the size */

struct sample { /* terms taken of one summand, as values of its loop variables */
    int body, nest;
    long vars[MOST_TERMS][LGV_MAX_LOOPS];
    long count, every, seen;
    struct lgv_terms d[2]; /* gradients of the body */
};

struct subject {
    struct lgv_model *m;
    struct lgv_evaluator e;
    struct sample *sample;
    size_t count;
    int points, components;
    bool velocities;
};

static bool take(void *user, const long *vars) {
    struct sample *s = user;
    if (s->seen++ % s->every == 0 && s->count < MOST_TERMS) memcpy(s->vars[s->count++], vars, sizeof s->vars[0]);
    return true;
}

static void take_near(const struct lgv_graph *g, const double *q, struct sample *s) {
    if (s->nest < 0 || !g->nest[s->nest].near) return;
    s->count = 0;
    lgv_near_each(g, s->nest, q, take, s);
}

static void take_terms(struct lgv_graph *g, struct lgv_summand summand, enum lgv_space second, struct sample *s) {
    struct lgv_function one = {.summand = &summand, .count = 1};
    *s = (struct sample){.body = summand.body, .nest = summand.nest, .count = 1};
    lgv_terms_gradient(g, &one, LGV_Q, &s->d[0]);
    lgv_terms_gradient(g, &one, second, &s->d[1]);
    if (summand.nest < 0) return;
    s->count = MOST_TERMS;
    s->every = 1;
    if (g->nest[summand.nest].near) return; /* taken at each point: of the others there is nothing to see */
    s->count = 0;
    long all = lgv_loops_count(g, summand.nest, LGV_MAX_INSTANCES);
    s->every = all > MOST_TERMS ? (all + MOST_TERMS - 1) / MOST_TERMS : 1;
    lgv_loops_each(g, summand.nest, LGV_MAX_INSTANCES, take, s);
}

static double value_of(struct subject *x, const struct lgv_env *env) {
    double sum = 0;
    for (size_t k = 0; k < x->count; k++)
        for (long i = 0; i < x->sample[k].count; i++)
            sum += lgv_eval_node(&x->e, x->sample[k].body, env, x->sample[k].vars[i]);
    return sum;
}

/* [2 np], and behind it the sums of the absolute values of its terms, which may cancel. */
static void gradient_at(struct subject *x, const struct lgv_env *env, double *out) {
    const struct lgv_graph *g = x->m->graph;
    size_t n = x->m->np;
    memset(out, 0, 4 * n * sizeof *out);
    for (size_t k = 0; k < x->count; k++)
        for (size_t part = 0; part < 2; part++)
            for (size_t j = 0; j < x->sample[k].d[part].count; j++)
                for (long i = 0; i < x->sample[k].count; i++) {
                    const struct lgv_term *t = &x->sample[k].d[part].term[j];
                    long row = lgv_loops_index(g, t->row, x->sample[k].vars[i]);
                    double value = lgv_eval_node(&x->e, t->value, env, x->sample[k].vars[i]);
                    out[part * n + (size_t)row] += value;
                    out[(2 + part) * n + (size_t)row] += fabs(value);
                }
}

/* The row of x, which holds q, p, v, of degree of freedom i of q, or of momentum i - np. */
static size_t row_of(const struct subject *s, size_t i, int *axis) {
    const struct lgv_model *m = s->m;
    *axis = -1;
    if (i >= m->np) return m->nx + (s->velocities ? m->np : 0) + i - m->np;
    return (size_t)lgv_rotations_row(m->graph, (long)i, axis);
}

static void moved(const struct subject *s, double *x, size_t i, double h) {
    int axis;
    if (i < s->m->np)
        lgv_rotations_nudge(s->m->graph, (long)i, x, h);
    else
        x[row_of(s, i, &axis)] += h;
}

/* Central difference of order 4. */
static double central(struct subject *s, const struct lgv_env *env, double *x, size_t i, double h, double *keep) {
    const size_t bytes = (s->m->nx + 2 * s->m->np) * sizeof *x;
    double v[4];
    memcpy(keep, x, bytes);
    for (int k = 0; k < 4; k++) {
        moved(s, x, i, h * (k < 2 ? k - 2 : k - 1));
        v[k] = value_of(s, env);
        memcpy(x, keep, bytes);
    }
    return (v[0] - v[3] + 8 * (v[2] - v[1])) / (12 * h); /* 0 of what is constant */
}

/* The best of several step sizes: near a singularity only small ones are good, and a wrong derivative fails at all. */
static double difference_error(struct subject *s, const struct lgv_env *env, double *x, size_t i, double derivative,
                               double size, double scale, double *keep) {
    double best = INFINITY;
    for (double h = 0.1 * scale; h > 1e-7 * scale; h /= 8)
        best = fmin(best, fabs(central(s, env, x, i, h, keep) - derivative) / (1e-300 + size));
    return best;
}

/* What it is measured by; a rotation by radians. */
static double size_of(const struct subject *s, const double *x, size_t i) {
    int axis;
    size_t row = row_of(s, i, &axis);
    return axis < 0 ? x[row] : 1;
}

/* NaN where no value is finite. */
static double error_at(struct subject *s, int number, double *g, double *keep) {
    size_t n = s->m->np;
    struct lgv_point at;
    uint64_t pick = 77 + (uint64_t)number;
    if (!lgv_point_make(s->m, &s->e, number, s->points, &at)) return 0;
    struct lgv_env env = lgv_point_env(s->m, &at);
    for (size_t k = 0; k < s->count; k++) take_near(s->m->graph, at.x, &s->sample[k]);
    gradient_at(s, &env, g);
    /* Size of the gradient, per component of the same kind.  Differences know it no better than the round-off of the
     * values, which is all there is of sin(q)^2 + cos(q)^2. */
    double size = ROUND_OFF * fabs(value_of(s, &env)), worst = NAN;
    for (size_t i = 0; i < 2 * n; i++) size = fmax(size, fabs(g[2 * n + i] * size_of(s, at.x, i)));
    for (int c = 0; c < s->components; c++) {
        size_t i = 2 * n <= (size_t)s->components ? (size_t)c : (size_t)(lgv_point_draw(&pick) * (double)(2 * n));
        double x = fabs(size_of(s, at.x, i));
        double error = difference_error(s, &env, at.x, i, g[i], g[2 * n + i] + (x != 0 ? size / x : 0),
                                        x != 0 ? x : 1, keep);
        if (isfinite(error)) worst = fmax(worst, error);
    }
    free(at.x);
    return worst;
}

/* As many points and components as the size of the formulas allows. */
static void choose_amount(struct subject *s) {
    long visits = 1;
    for (size_t k = 0; k < s->count; k++) visits += s->sample[k].count * lgv_diff_size(s->m->graph, s->sample[k].body);
    long amount = MOST_VISITS / (visits * EVALUATIONS), n = 2 * (long)s->m->np;
    s->components = (int)(n < COMPONENTS ? n : COMPONENTS);
    s->points = POINTS;
    while (s->points > 1 && (long)s->points * s->components > amount) s->points--;
    while (s->components > 2 && s->components > amount) s->components--;
}

static double function_error(struct lgv_model *m, int node) {
    struct lgv_function f;
    struct subject s = {.m = m, .velocities = (m->graph->node[node].uses & LGV_USES(LGV_V)) != 0};
    if (!lgv_function_split(m->graph, node, false, &f)) return NAN;
    double *g = lgv_new(6 * m->np + m->nx, sizeof *g), worst = NAN; /* and a copy of a point */
    s.sample = lgv_new(f.count + 1, sizeof *s.sample);
    for (; s.sample && s.count < f.count; s.count++)
        take_terms(m->graph, f.summand[s.count], s.velocities ? LGV_V : LGV_P, &s.sample[s.count]);
    if (g && s.sample && !m->graph->failed && lgv_eval_begin(&s.e, m->graph)) {
        choose_amount(&s);
        for (int k = 0; k < s.points; k++) worst = fmax(worst, error_at(&s, k, g, g + 4 * m->np));
        /* All of them may be where bonds are longer than formulas have them; starts are not. */
        for (int k = -1; isnan(worst) && k >= -s.points; k--) worst = error_at(&s, k, g, g + 4 * m->np);
        lgv_eval_end(&s.e);
        if (isnan(worst)) worst = 0;
    }
    for (size_t k = 0; k < s.count; k++)
        for (int part = 0; part < 2; part++) lgv_terms_free(&s.sample[k].d[part]);
    free(s.sample);
    free(g);
    lgv_function_free(&f);
    return worst;
}

double lgv_formulas_derivative_error(struct lgv_model *m) {
    double worst = function_error(m, m->hamiltonian);
    for (size_t e = 0; e < m->nentries; e++) {
        const struct lgv_noise *n = &m->noise[e];
        worst = fmax(worst, function_error(m, n->nest < 0 ? n->body : lgv_expr_loop(m->graph, n->nest, n->body)));
    }
    for (size_t e = 0; e < m->nconstraint_entries; e++) {
        const struct lgv_constraint *c = &m->constraint[e];
        worst = fmax(worst, function_error(m, c->nest < 0 ? c->body : lgv_expr_loop(m->graph, c->nest, c->body)));
    }
    if (m->lagrangian_text) worst = fmax(worst, function_error(m, m->lagrangian));
    return worst;
}
