/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over pairs of bodies.  In sum_{i<j} f(u(q_i), u(q_j)) a body enters by few numbers u, its sites or its dipole,
 * that are polynomials of its quaternion: they are computed once for each body and not once for each pair, and so is
 * the way back,
 *     dV/dq_i = (du/dq_i)^T  sum_j dV/du_i.
 *
 * Parts of a summand that know one index only and a rotation get places of their own: LGV_PART holds their values,
 * LGV_PULL the derivatives with respect to them.  Of sums and products the terms of one index are one part. */
#include "model/calculus.h"
#include <stdlib.h>
#include <string.h>

struct part {
    int node, var;
    int row; /* integer expression */
};

struct factoring {
    struct lgv_graph *g;
    int nest, levels;
    int single[LGV_MAX_LOOPS]; /* the nest over one of its indices alone, -1: its values have gaps */
    long low[LGV_MAX_LOOPS], first[LGV_MAX_LOOPS], high[LGV_MAX_LOOPS];
    unsigned *vars; /* of each node: the indices it knows, as bits */
    bool *turns;    /* does it know a rotation? */
    int *memo;      /* 1 + what stands in its place */
    size_t size;
    struct part *part;
    size_t nparts, capacity;
    struct lgv_factored *out;
    unsigned char *seen[LGV_MAX_LOOPS];
    bool started;
};

/* ---- indices ---- */

static bool extend(void *user, const long *vars) {
    struct factoring *f = user;
    for (int k = 0; k < f->levels; k++) {
        if (!f->started) f->low[k] = f->high[k] = f->first[k] = vars[k];
        if (vars[k] < f->low[k]) f->low[k] = vars[k];
        if (vars[k] > f->high[k]) f->high[k] = vars[k];
    }
    f->started = true;
    return true;
}

static bool tick(void *user, const long *vars) {
    struct factoring *f = user;
    for (int k = 0; k < f->levels; k++) f->seen[k][vars[k] - f->low[k]] = 1;
    return true;
}

/* Every index takes all values between its smallest and its largest; a nest over it alone has 1..1 in the place of the
 * others, so that it keeps its number. */
static bool find_ranges(struct factoring *f) {
    struct lgv_graph *g = f->g;
    struct lgv_level level[LGV_MAX_LOOPS];
    int one = lgv_expr_iconst(g, 1);
    if (lgv_loops_each(g, f->nest, LGV_MAX_INSTANCES, extend, f) <= 0) return false;
    bool ok = true;
    for (int k = 0; k < f->levels; k++) {
        ok = ok && f->high[k] - f->low[k] < LGV_MAX_INSTANCES;
        f->seen[k] = ok ? lgv_new((size_t)(f->high[k] - f->low[k] + 1), 1) : NULL;
        ok = f->seen[k] != NULL;
    }
    ok = ok && lgv_loops_each(g, f->nest, LGV_MAX_INSTANCES, tick, f) > 0;
    for (int k = 0; k < f->levels; k++) {
        f->single[k] = -1;
        if (ok && !memchr(f->seen[k], 0, (size_t)(f->high[k] - f->low[k] + 1))) {
            for (int i = 0; i < f->levels; i++)
                level[i] = i == k ? (struct lgv_level){lgv_expr_iconst(g, f->low[k]), lgv_expr_iconst(g, f->high[k])}
                                  : (struct lgv_level){one, one};
            f->single[k] = lgv_expr_nest(g, 0, level, f->levels, NULL, 0);
        }
        free(f->seen[k]);
    }
    return ok;
}

/* ---- parts ---- */

/* What each node up to `body` knows. */
static bool look(struct factoring *f, int body) {
    const struct lgv_graph *g = f->g;
    f->size = (size_t)body + 1;
    f->vars = lgv_new(f->size, sizeof *f->vars);
    f->turns = lgv_new(f->size, sizeof *f->turns);
    f->memo = lgv_new(f->size, sizeof *f->memo);
    if (!f->vars || !f->turns || !f->memo) return false;
    bool *inside = lgv_new(f->size, sizeof *inside); /* indices of other formulas may mean anything */
    if (!inside) return false;
    inside[body] = true;
    for (int k = body; k >= 0; k--)
        for (int i = 0; inside[k] && g->node[k].op != LGV_REF && i < g->node[k].count; i++)
            inside[g->arg[g->node[k].first + i].node] = true;
    for (int k = 0; k <= body; k++) {
        const struct lgv_node *n = &g->node[k];
        if (!inside[k]) continue;
        if (n->op == LGV_LOOP) f->vars[k] = ~0u;
        if (n->op == LGV_REF || n->op == LGV_INDEX || n->op == LGV_ENTRY) f->vars[k] = lgv_index_vars(g, n->aux);
        if (n->op == LGV_REF)
            f->turns[k] = n->count == LGV_Q && lgv_rotations_at(g, lgv_loops_index(g, n->aux, f->first));
        for (int i = 0; n->op != LGV_REF && i < n->count; i++) {
            f->vars[k] |= f->vars[g->arg[n->first + i].node];
            f->turns[k] = f->turns[k] || f->turns[g->arg[n->first + i].node];
        }
    }
    free(inside);
    return true;
}

/* The only index of the mask whose values have no gaps, or -1. */
static int only_var(const struct factoring *f, unsigned vars) {
    for (int k = 0; k < f->levels; k++)
        if (vars == 1u << k && f->single[k] >= 0) return k;
    return -1;
}

static int part_of(struct factoring *f, int node, int var) {
    struct lgv_graph *g = f->g;
    size_t k = 0;
    while (k < f->nparts && !(f->part[k].node == node && f->part[k].var == var)) k++;
    if (k == f->nparts) {
        if (!lgv_grow(&f->part, &f->capacity, f->nparts + 1, sizeof *f->part)) {
            if (!g->failed) g->failed = "out of memory";
            return 0;
        }
        int row = lgv_expr_iop(g, LGV_IADD, lgv_expr_ivar(g, var), lgv_expr_iconst(g, f->out->rows - f->low[var]));
        f->part[f->nparts++] = (struct part){node, var, row};
        f->out->rows += f->high[var] - f->low[var] + 1;
    }
    return lgv_expr_ref(g, LGV_PART, f->part[k].row);
}

static int replaced(struct factoring *f, int node);

/* The arguments of a sum or product, those of one index as one part where a rotation is among them. */
static size_t grouped(struct factoring *f, const struct lgv_node *n, struct lgv_arg *arg) {
    struct lgv_graph *g = f->g;
    struct lgv_arg *group = lgv_new((size_t)n->count, sizeof *group);
    size_t count = 0;
    for (int i = 0; group && i < n->count; i++) {
        const struct lgv_arg a = g->arg[n->first + i];
        unsigned vars = f->vars[a.node];
        int var = only_var(f, vars);
        size_t members = 0;
        bool before = false, turns = false;
        for (int k = 0; var >= 0 && k < n->count; k++) {
            const struct lgv_arg b = g->arg[n->first + k];
            if (f->vars[b.node] != vars) continue;
            before = before || k < i;
            turns = turns || f->turns[b.node];
            group[members++] = b;
        }
        if (members < 2 || !turns) {
            arg[count++] = (struct lgv_arg){replaced(f, a.node), a.factor};
        } else if (!before) {
            int whole = n->op == LGV_SUM ? lgv_expr_sum(g, 0, group, members) : lgv_expr_product(g, 1, group, members);
            arg[count++] = (struct lgv_arg){part_of(f, whole, var), 1};
        }
    }
    if (!group && !g->failed) g->failed = "out of memory";
    free(group);
    return count;
}

static int replaced(struct factoring *f, int node) {
    struct lgv_graph *g = f->g;
    const struct lgv_node n = g->node[node];
    int var = only_var(f, f->vars[node]);
    if (!f->turns[node] || n.op == LGV_REF || n.op == LGV_LOOP) return node;
    if (g->failed || !lgv_expr_work(g, n.count + 1)) return node;
    if (var >= 0) return part_of(f, node, var);
    if (f->memo[node]) return f->memo[node] - 1;
    struct lgv_arg *arg = lgv_new((size_t)n.count + 1, sizeof *arg);
    int id = 0;
    if (!arg) {
        g->failed = "out of memory";
    } else if (n.op == LGV_SUM || n.op == LGV_PRODUCT) {
        size_t count = grouped(f, &n, arg);
        id = n.op == LGV_SUM ? lgv_expr_sum(g, n.value, arg, count) : lgv_expr_product(g, 1, arg, count);
    } else {
        for (int i = 0; i < n.count; i++) {
            const struct lgv_arg a = g->arg[n.first + i];
            arg[i] = (struct lgv_arg){replaced(f, a.node), a.factor};
        }
        id = lgv_expr_rebuild(g, &n, arg);
    }
    free(arg);
    f->memo[node] = id + 1;
    return id;
}

/* ---- a summand, a function ---- */

static bool add_parts(struct factoring *f) {
    struct lgv_graph *g = f->g;
    bool ok = true;
    for (size_t k = 0; ok && k < f->nparts; k++) {
        const struct part p = f->part[k];
        lgv_terms_add(g, &f->out->parts, (struct lgv_term){f->single[p.var], p.row, -1, p.node});
        ok = lgv_function_add(g, &f->out->back, f->single[p.var],
                              lgv_expr_mul(g, lgv_expr_ref(g, LGV_PULL, p.row), p.node));
    }
    return ok && !g->failed;
}

static bool factor_summand(struct lgv_graph *g, struct lgv_summand s, struct lgv_factored *out) {
    struct factoring f = {.g = g, .nest = s.nest, .out = out};
    bool pairs = s.nest >= 0 && g->nest[s.nest].base == 0 && g->nest[s.nest].count > 1;
    int body = s.body;
    if (pairs) {
        f.levels = g->nest[s.nest].count;
        if (find_ranges(&f) && look(&f, body)) body = replaced(&f, body);
    }
    bool ok = !g->failed && lgv_function_add(g, &out->rest, s.nest, body) && add_parts(&f);
    free(f.vars);
    free(f.turns);
    free(f.memo);
    free(f.part);
    return ok;
}

bool lgv_factor(struct lgv_graph *g, const struct lgv_function *f, struct lgv_factored *out) {
    *out = (struct lgv_factored){0};
    bool ok = true;
    for (size_t k = 0; ok && k < f->count; k++) ok = factor_summand(g, f->summand[k], out);
    return ok && out->rows > 0;
}

void lgv_factored_free(struct lgv_factored *x) {
    lgv_function_free(&x->rest);
    lgv_function_free(&x->back);
    lgv_terms_free(&x->parts);
}
