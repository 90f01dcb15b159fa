/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The scalar evaluator: walks the graph with doubles.  Slow and simple; generated code is tested against it. */
#include "model/calculus.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool lgv_eval_begin(struct lgv_evaluator *e, const struct lgv_graph *g) {
    *e = (struct lgv_evaluator){.g = g, .now = 0, .size = g->nnodes};
    e->value = lgv_new(e->size, sizeof *e->value);
    e->stamp = lgv_new(e->size, sizeof *e->stamp);
    if (e->value && e->stamp) return true;
    lgv_eval_end(e);
    return false;
}

void lgv_eval_end(struct lgv_evaluator *e) {
    free(e->value);
    free(e->stamp);
    *e = (struct lgv_evaluator){0};
}

static double power(double base, double exponent) {
    if (exponent == 1) return base;
    if (exponent == 2) return base * base;
    if (exponent == -1) return 1 / base;
    if (exponent == 0.5) return sqrt(base);
    if (exponent == -0.5) return 1 / sqrt(base);
    return pow(base, exponent);
}

/* A derivative of a table, straight from what struct lgv_table says. */
static double tabulated(const struct lgv_table *t, const double *par, int derivative, double x) {
    const double *head = par + t->at, *row = head + LGV_TABLE_HEAD;
    const double low = head[LGV_TABLE_LOW], high = head[LGV_TABLE_HIGH];
    double inside = x, sum = 0;
    if (t->outside == LGV_OUTSIDE_PERIODIC) inside = x - (high - low) * floor((x - low) / (high - low));
    if (t->outside == LGV_OUTSIDE_LINE) inside = fmin(fmax(x, low), high);
    if (t->outside == LGV_OUTSIDE_NOTHING && !(x >= head[LGV_TABLE_FROM] && x <= head[LGV_TABLE_UNTIL])) return NAN;
    if (isnan(x)) return NAN;
    const bool line = t->outside == LGV_OUTSIDE_LINE && inside != x;
    if (line && derivative > 1) return 0;
    long k = 0;
    while (k + 1 < t->intervals && row[t->degree + 2] <= inside) k++, row += t->degree + 2;
    for (int j = t->degree; j >= derivative; j--) {
        double factor = 1;
        for (int i = 0; i < derivative; i++) factor *= j - i;
        sum = sum * (inside - row[0]) + factor * row[1 + j];
    }
    return line && derivative == 0 ? sum + (x - inside) * tabulated(t, par, 1, inside) : sum;
}

static double visit(struct lgv_evaluator *e, int node, const struct lgv_env *env, const long *vars);

struct total {
    struct lgv_evaluator *e;
    const struct lgv_env *env;
    int body, base, count;
    long vars[LGV_MAX_LOOPS];
    double sum;
};

static bool add_instance(void *user, const long *vars) {
    struct total *t = user;
    for (int k = 0; k < t->count; k++) t->vars[t->base + k] = vars[t->base + k];
    t->e->now++; /* values of another instance are stale */
    t->sum += visit(t->e, t->body, t->env, t->vars);
    return true;
}

/* A LOOP inside a formula (before it is split): its ranges may depend on outer variables, so it has its own walk. */
static void inner(struct total *t, const struct lgv_nest *n, int level) {
    const struct lgv_graph *g = t->e->g;
    if (level == n->count) {
        for (int i = 0; i < n->ncond; i++) {
            const struct lgv_condition *c = &g->condition[n->cond + i];
            long a = lgv_loops_index(g, c->a, t->vars), b = lgv_loops_index(g, c->b, t->vars);
            if (!(c->compare == '<' ? a < b : c->compare == 'l' ? a <= b : c->compare == '=' ? a == b : a != b)) return;
        }
        t->e->now++;
        t->sum += visit(t->e, t->body, t->env, t->vars);
        return;
    }
    const struct lgv_level *l = &g->level[n->first + level];
    long high = lgv_loops_index(g, l->high, t->vars);
    for (long i = lgv_loops_index(g, l->low, t->vars); i <= high && i < LONG_MAX; i++) {
        t->vars[n->base + level] = i;
        inner(t, n, level + 1);
    }
}

static double loop_value(struct lgv_evaluator *e, const struct lgv_node *n, const struct lgv_env *env,
                         const long *vars) {
    struct total t = {.e = e, .env = env, .body = e->g->arg[n->first].node};
    const struct lgv_nest *nest = &e->g->nest[n->aux];
    if (vars) memcpy(t.vars, vars, (size_t)nest->base * sizeof *vars);
    t.count = nest->count;
    if (nest->near)
        lgv_near_each(e->g, n->aux, env->space[LGV_Q], add_instance, &t);
    else
        inner(&t, nest, 0);
    e->now++;
    return t.sum;
}

static double visit(struct lgv_evaluator *e, int node, const struct lgv_env *env, const long *vars) {
    const struct lgv_node *n = &e->g->node[node];
    const struct lgv_arg *arg = e->g->arg + n->first;
    if (n->op == LGV_CONST) return n->value;
    if (e->stamp[node] == e->now) return e->value[node];
    double x = n->value;
    switch (n->op) {
    case LGV_PARAM: x = env->par[n->aux]; break;
    case LGV_ENTRY: x = env->par[lgv_loops_index(e->g, n->aux, vars)]; break;
    case LGV_TIME: x = env->t; break;
    case LGV_REF: x = env->space[n->count][lgv_loops_index(e->g, n->aux, vars)]; break;
    case LGV_INDEX: x = (double)lgv_loops_index(e->g, n->aux, vars); break;
    case LGV_LOOP: x = loop_value(e, n, env, vars); break;
    case LGV_TABLE:
        x = tabulated(&e->g->tabulated[n->aux], env->par, (int)n->value, visit(e, arg[0].node, env, vars));
        break;
    case LGV_SUM:
        for (int i = 0; i < n->count; i++) x += arg[i].factor * visit(e, arg[i].node, env, vars);
        break;
    case LGV_PRODUCT:
        x = 1;
        for (int i = 0; i < n->count; i++) x *= power(visit(e, arg[i].node, env, vars), arg[i].factor);
        break;
    case LGV_PICK: x = visit(e, arg[visit(e, arg[0].node, env, vars) != 0 ? 1 : 2].node, env, vars); break;
    default: {
        double a = visit(e, arg[0].node, env, vars);
        x = lgv_expr_apply((enum lgv_op)n->op, a, n->count > 1 ? visit(e, arg[1].node, env, vars) : 0);
    }
    }
    e->value[node] = x;
    e->stamp[node] = e->now;
    return x;
}

double lgv_eval_node(struct lgv_evaluator *e, int node, const struct lgv_env *env, const long *vars) {
    e->now++;
    return visit(e, node, env, vars);
}

/* All instances; of near pairs those whose values are not 0. */
static void each(const struct lgv_graph *g, int nest, const struct lgv_env *env, lgv_visit *call, void *user) {
    if (g->nest[nest].near)
        lgv_near_each(g, nest, env->space[LGV_Q], call, user);
    else
        lgv_loops_each(g, nest, LGV_MAX_INSTANCES, call, user);
}

double lgv_eval_function(struct lgv_evaluator *e, const struct lgv_function *f, const struct lgv_env *env) {
    double sum = 0;
    for (size_t k = 0; k < f->count; k++) {
        struct lgv_summand summand = f->summand[k];
        if (summand.nest < 0) {
            sum += lgv_eval_node(e, summand.body, env, NULL);
            continue;
        }
        struct total t = {.e = e, .env = env, .body = summand.body, .count = e->g->nest[summand.nest].count};
        each(e->g, summand.nest, env, add_instance, &t);
        sum += t.sum;
    }
    return sum;
}

struct scatter {
    struct lgv_evaluator *e;
    const struct lgv_env *env;
    const struct lgv_term *term;
    double *out;
    size_t size, ncols;
};

static bool scatter_instance(void *user, const long *vars) {
    struct scatter *s = user;
    const struct lgv_graph *g = s->e->g;
    size_t at = (size_t)lgv_loops_index(g, s->term->row, vars);
    if (s->term->col >= 0) at = at * s->ncols + (size_t)lgv_loops_index(g, s->term->col, vars);
    if (at < s->size) s->out[at] += lgv_eval_node(s->e, s->term->value, s->env, vars);
    return true;
}

void lgv_eval_terms(struct lgv_evaluator *e, const struct lgv_terms *t, const struct lgv_env *env, double *out,
                    size_t size, size_t ncols) {
    static const long none[LGV_MAX_LOOPS];
    memset(out, 0, size * sizeof *out);
    for (size_t i = 0; i < t->count; i++) {
        struct scatter s = {e, env, &t->term[i], out, size, ncols};
        if (t->term[i].nest < 0)
            scatter_instance(&s, none);
        else
            each(e->g, t->term[i].nest, env, scatter_instance, &s);
    }
}
