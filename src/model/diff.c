/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Symbolic derivatives by reverse accumulation on the graph: the adjoint of a node is the derivative of the root with
 * respect to it; visiting nodes in descending order, each hands its adjoint times its partial derivatives to its
 * arguments.  One pass gives all first derivatives with their common parts shared. */
#include "model/calculus.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(struct lgv_graph *g) {
    if (!g->failed) g->failed = "out of memory";
    return 0;
}

/* Marks what the marked nodes up to `top` consist of. */
static void spread(const struct lgv_graph *g, unsigned char *mark, int top) {
    for (int k = top; k >= 0; k--) {
        const struct lgv_node *n = &g->node[k];
        if (!mark[k] || n->op == LGV_REF) continue;
        for (int i = 0; i < n->count; i++) mark[g->arg[n->first + i].node] = 1;
    }
}

/* Marks what `node` consists of; NULL when memory is out. */
static unsigned char *reach(const struct lgv_graph *g, int node) {
    unsigned char *mark = lgv_new((size_t)node + 1, 1);
    if (!mark) return NULL;
    mark[node] = 1;
    spread(g, mark, node);
    return mark;
}

int *lgv_diff_leaves(struct lgv_graph *g, int node, unsigned spaces, size_t *count) {
    unsigned char *mark = reach(g, node);
    int *leaf = NULL;
    size_t capacity = 0;
    *count = 0;
    if (!mark || !lgv_grow(&leaf, &capacity, 1, sizeof *leaf)) out_of_memory(g);
    for (int k = 0; mark && leaf && k <= node; k++) {
        if (!mark[k] || g->node[k].op != LGV_REF || !(LGV_USES(g->node[k].count) & spaces)) continue;
        if (!lgv_grow(&leaf, &capacity, *count + 1, sizeof *leaf)) {
            out_of_memory(g);
            break;
        }
        leaf[(*count)++] = k;
    }
    free(mark);
    return leaf;
}

long lgv_diff_size(const struct lgv_graph *g, int node) {
    unsigned char *mark = reach(g, node);
    long size = 0;
    for (int k = 0; mark && k <= node; k++) size += mark[k];
    free(mark);
    return size;
}

/* What the sum over near pairs is made of, which is smooth as a whole. */
static bool harmless(const struct lgv_graph *g, int node) {
    for (size_t k = 0; k < g->ncuts; k++)
        for (int i = 0; i < 5; i++)
            if (g->cut[k].kink[i] == node) return true;
    return false;
}

bool lgv_diff_uses(const struct lgv_graph *g, int node, unsigned operations, unsigned uses) {
    unsigned char *mark = reach(g, node);
    bool found = !mark; /* out of memory: nothing is promised */
    for (int k = 0; !found && k <= node; k++) {
        const struct lgv_node *n = &g->node[k]; /* what an `if` picks jumps where its condition does */
        unsigned here = n->op == LGV_PICK ? g->node[g->arg[n->first].node].uses : n->uses;
        found = mark[k] && (operations >> n->op & 1) && (here & uses) && !harmless(g, k);
    }
    free(mark);
    return found;
}

bool lgv_diff_uses_param(const struct lgv_graph *g, int node, int first, long count) {
    if (!(g->node[node].uses & LGV_USES_PARAM)) return false;
    unsigned char *mark = reach(g, node);
    bool found = !mark; /* out of memory: nothing is promised */
    for (int k = 0; !found && k <= node; k++) {
        const struct lgv_node *n = &g->node[k];
        found = mark[k] && ((n->op == LGV_PARAM && n->aux >= first && n->aux - first < count) ||
                            (n->op == LGV_ENTRY && count > 1));
    }
    free(mark);
    return found;
}

int lgv_diff_smoothed(struct lgv_graph *g, int node) {
    unsigned char *mark = reach(g, node);
    int *image = lgv_new((size_t)node + 1, sizeof *image), id = 0;
    struct lgv_arg *arg = NULL;
    size_t capacity = 0;
    if (!mark || !image) out_of_memory(g);
    for (int k = 0; mark && image && k <= node && !g->failed; k++) {
        const struct lgv_node n = g->node[k];
        image[k] = k;
        if (!mark[k] || n.op == LGV_REF || n.count == 0) continue;
        if (!lgv_grow(&arg, &capacity, (size_t)n.count, sizeof *arg)) {
            out_of_memory(g);
            break;
        }
        for (int i = 0; i < n.count; i++)
            arg[i] = (struct lgv_arg){image[g->arg[n.first + i].node], g->arg[n.first + i].factor};
        if (!(LGV_KINKS >> n.op & 1)) {
            image[k] = lgv_expr_rebuild(g, &n, arg);
            continue;
        }
        for (int i = 0; i < n.count; i++) /* atan(a) + 2 atan(b): any function that tells its arguments apart */
            arg[i] = (struct lgv_arg){lgv_expr_call1(g, LGV_ATAN, arg[i].node), i + 1};
        image[k] = lgv_expr_sum(g, 0, arg, (size_t)n.count);
    }
    if (image && !g->failed) id = image[node];
    free(mark);
    free(image);
    free(arg);
    return id;
}

/* d op(a, b) / d (argument number `which`), as a node. */
static int partial(struct lgv_graph *g, int node, int which) {
    const struct lgv_node n = g->node[node];
    int a = g->arg[n.first].node, b = n.count > 1 ? g->arg[n.first + 1].node : 0;
    int a2 = lgv_expr_power(g, a, 2);
    int one = lgv_expr_const(g, 1);
    switch (n.op) {
    case LGV_POW:
        if (which == 0) return lgv_expr_mul(g, b, lgv_expr_div(g, node, a));
        return lgv_expr_mul(g, node, lgv_expr_call1(g, LGV_LOG, a));
    case LGV_EXP: return node;
    case LGV_LOG: return lgv_expr_power(g, a, -1);
    case LGV_SIN: return lgv_expr_call1(g, LGV_COS, a);
    case LGV_COS: return lgv_expr_scale(g, -1, lgv_expr_call1(g, LGV_SIN, a));
    case LGV_TAN: return lgv_expr_add(g, one, lgv_expr_power(g, node, 2));
    case LGV_ASIN: return lgv_expr_power(g, lgv_expr_sub(g, one, a2), -0.5);
    case LGV_ACOS: return lgv_expr_scale(g, -1, lgv_expr_power(g, lgv_expr_sub(g, one, a2), -0.5));
    case LGV_ATAN: return lgv_expr_power(g, lgv_expr_add(g, one, a2), -1);
    case LGV_SINH: return lgv_expr_call1(g, LGV_COSH, a);
    case LGV_COSH: return lgv_expr_call1(g, LGV_SINH, a);
    case LGV_TANH: return lgv_expr_sub(g, one, lgv_expr_power(g, node, 2));
    case LGV_ABS: return lgv_expr_call1(g, LGV_SIGN, a);
    case LGV_ERF:
        return lgv_expr_scale(g, 1.1283791670955126 /* 2/sqrt(pi) */,
                              lgv_expr_call1(g, LGV_EXP, lgv_expr_scale(g, -1, a2)));
    case LGV_ATAN2: {
        int r2 = lgv_expr_add(g, a2, lgv_expr_power(g, b, 2));
        return which == 0 ? lgv_expr_div(g, b, r2) : lgv_expr_scale(g, -1, lgv_expr_div(g, a, r2));
    }
    case LGV_LOWER:
    case LGV_UPPER: { /* min(a,b) is b where b < a, else a; max(a,b) is b where a < b, else a */
        int second = n.op == LGV_LOWER ? lgv_expr_call2(g, LGV_LESS, b, a) : lgv_expr_call2(g, LGV_LESS, a, b);
        return which == 1 ? second : lgv_expr_sub(g, one, second);
    }
    case LGV_TABLE: return lgv_expr_table(g, n.aux, (int)n.value + 1, a);
    default: return lgv_expr_const(g, 0); /* sign, floor, less */
    }
}

static int absolute(struct lgv_graph *g, int node) {
    return lgv_expr_call1(g, LGV_ABS, node);
}

static int magnitude_of(struct lgv_graph *g, int node, const int *of) {
    const struct lgv_node n = g->node[node];
    const struct lgv_arg *arg = g->arg + n.first;
    if (n.op == LGV_PICK) return lgv_expr_pick(g, arg[0].node, of[arg[1].node], of[arg[2].node]);
    if (n.op == LGV_REF || n.count == 0) return absolute(g, node);
    if (n.op == LGV_LOOP) return lgv_expr_loop(g, n.aux, of[g->arg[n.first].node]);
    int id = n.op == LGV_SUM       ? lgv_expr_const(g, fabs(n.value))
             : n.op == LGV_PRODUCT ? lgv_expr_const(g, 1)
                                   : absolute(g, node);
    for (int i = 0; i < n.count && !g->failed; i++) {
        struct lgv_arg x = g->arg[n.first + i];
        int size = of[x.node];
        if (n.op == LGV_SUM) {
            id = lgv_expr_add(g, id, lgv_expr_scale(g, fabs(x.factor), size));
        } else if (n.op != LGV_PRODUCT) {
            id = lgv_expr_add(g, id, lgv_expr_mul(g, absolute(g, partial(g, node, i)), size));
        } else {
            if (x.factor < 1) { /* x^k + |k| x^(k-1) |x|: roots, and quotients with a cancelling denominator */
                int part = lgv_expr_mul(g, lgv_expr_power(g, absolute(g, x.node), x.factor - 1), size);
                size = lgv_expr_add(g, lgv_expr_power(g, absolute(g, x.node), x.factor),
                                    lgv_expr_scale(g, fabs(x.factor), part));
            } else {
                size = lgv_expr_power(g, size, x.factor);
            }
            id = lgv_expr_mul(g, id, size);
        }
    }
    return id;
}

/* In one pass over all that the nodes consist of. */
static void magnitudes(struct lgv_graph *g, int *node, size_t count) {
    int top = 0;
    for (size_t i = 0; i < count; i++) top = node[i] > top ? node[i] : top;
    unsigned char *mark = lgv_new((size_t)top + 1, 1);
    int *of = lgv_new((size_t)top + 1, sizeof *of);
    if (!mark || !of) out_of_memory(g);
    for (size_t i = 0; mark && i < count; i++) mark[node[i]] = 1;
    if (mark) spread(g, mark, top);
    for (int k = 0; mark && of && k <= top && !g->failed; k++)
        if (mark[k]) of[k] = magnitude_of(g, k, of);
    for (size_t i = 0; i < count; i++) node[i] = of && !g->failed ? of[node[i]] : 0;
    free(mark);
    free(of);
}

int lgv_diff_magnitude(struct lgv_graph *g, int node) {
    magnitudes(g, &node, 1);
    return node;
}

void lgv_terms_magnitude(struct lgv_graph *g, const struct lgv_terms *t, struct lgv_terms *out) {
    int *value = lgv_new(t->count + 1, sizeof *value);
    if (!value) {
        out_of_memory(g);
        return;
    }
    for (size_t i = 0; i < t->count; i++) value[i] = t->term[i].value;
    magnitudes(g, value, t->count);
    for (size_t i = 0; i < t->count; i++)
        lgv_terms_add(g, out, (struct lgv_term){t->term[i].nest, t->term[i].row, t->term[i].col, value[i]});
    free(value);
}

struct contribution { /* a contribution to an adjoint, in a chain per node */
    int node, next;
    double factor;
};

struct adjoint {
    struct lgv_graph *g;
    int *chain; /* 1 + first contribution */
    struct contribution *contribution;
    size_t count, capacity;
};

static void give(struct adjoint *a, int to, int node, double factor) {
    if (!lgv_grow(&a->contribution, &a->capacity, a->count + 1, sizeof *a->contribution)) {
        out_of_memory(a->g);
        return;
    }
    a->contribution[a->count] = (struct contribution){node, a->chain[to], factor};
    a->chain[to] = (int)++a->count;
}

static int taken(struct adjoint *a, int node) {
    size_t count = 0;
    for (int k = a->chain[node]; k; k = a->contribution[k - 1].next) count++;
    struct lgv_arg *arg = lgv_new(count + 1, sizeof *arg);
    if (!arg) return out_of_memory(a->g);
    size_t i = count;
    for (int k = a->chain[node]; k; k = a->contribution[k - 1].next)
        arg[--i] = (struct lgv_arg){a->contribution[k - 1].node, a->contribution[k - 1].factor};
    int id = lgv_expr_sum(a->g, 0, arg, count);
    free(arg);
    return id;
}

/* d if(c, a, b) = if(c, da, db), leaf by leaf: an adjoint times a derivative that is not defined where its branch is
 * not taken would be NaN there. */
static void hand_branches(struct adjoint *a, int node, int adj, unsigned wanted) {
    struct lgv_graph *g = a->g;
    const struct lgv_node n = g->node[node];
    const int condition = g->arg[n.first].node, yes = g->arg[n.first + 1].node, no = g->arg[n.first + 2].node;
    size_t count;
    int *leaf = lgv_diff_leaves(g, node, wanted, &count);
    int *dy = lgv_new(count + 1, sizeof *dy), *dn = lgv_new(count + 1, sizeof *dn);
    if (leaf && dy && dn) {
        lgv_diff_gradient(g, yes, leaf, count, dy);
        lgv_diff_gradient(g, no, leaf, count, dn);
        for (size_t i = 0; i < count && !g->failed; i++)
            give(a, leaf[i], lgv_expr_mul(g, adj, lgv_expr_pick(g, condition, dy[i], dn[i])), 1);
    } else {
        out_of_memory(g);
    }
    free(leaf);
    free(dy);
    free(dn);
}

static void hand_down(struct adjoint *a, int node, int adj, unsigned wanted) {
    struct lgv_graph *g = a->g;
    const struct lgv_node n = g->node[node];
    if (n.op == LGV_PICK) {
        hand_branches(a, node, adj, wanted);
        return;
    }
    struct lgv_arg *f = lgv_new((size_t)n.count + 1, sizeof *f);
    if (!f) {
        out_of_memory(g);
        return;
    }
    for (int i = 0; i < n.count; i++) {
        struct lgv_arg x = g->arg[n.first + i];
        if (!(g->node[x.node].uses & wanted)) continue;
        if (n.op == LGV_SUM) {
            give(a, x.node, adj, x.factor);
        } else if (n.op == LGV_PRODUCT) {
            for (int k = 0; k < n.count; k++) f[k] = g->arg[n.first + k];
            f[i].factor -= 1;
            f[n.count] = (struct lgv_arg){adj, 1};
            give(a, x.node, lgv_expr_product(g, x.factor, f, (size_t)n.count + 1), 1);
        } else {
            give(a, x.node, lgv_expr_mul(g, adj, partial(g, node, i)), 1);
        }
    }
    free(f);
}

void lgv_diff_gradient(struct lgv_graph *g, int node, const int *leaf, size_t count, int *out) {
    unsigned wanted = 0;
    for (size_t i = 0; i < count; i++) {
        wanted |= g->node[leaf[i]].op == LGV_TIME ? LGV_USES_TIME : g->node[leaf[i]].uses & (LGV_USES_TIME - 1);
        out[i] = 0;
    }
    struct adjoint a = {.g = g, .chain = lgv_new((size_t)node + 1, sizeof *a.chain)};
    if (!a.chain) {
        out_of_memory(g);
        return;
    }
    give(&a, node, lgv_expr_const(g, 1), 1);
    for (int k = node; k >= 0 && !g->failed; k--) {
        if (!a.chain[k] || !(g->node[k].uses & wanted)) continue;
        int adj = taken(&a, k);
        if (g->node[k].op != LGV_REF && g->node[k].op != LGV_TIME) {
            hand_down(&a, k, adj, wanted);
            continue;
        }
        for (size_t i = 0; i < count; i++)
            if (leaf[i] == k) out[i] = adj;
    }
    free(a.chain);
    free(a.contribution);
}

int lgv_diff_one(struct lgv_graph *g, int node, int leaf) {
    int out;
    lgv_diff_gradient(g, node, &leaf, 1, &out);
    return out;
}

int lgv_diff_along(struct lgv_graph *g, int node, unsigned spaces) {
    size_t count;
    int *leaf = lgv_diff_leaves(g, node, spaces, &count);
    int *d = lgv_new(count + 1, sizeof *d);
    struct lgv_arg *arg = lgv_new(count + 1, sizeof *arg);
    int id = 0;
    if (leaf && d && arg) {
        lgv_diff_gradient(g, node, leaf, count, d);
        for (size_t i = 0; i < count; i++) {
            const struct lgv_node n = g->node[leaf[i]];
            int direction = lgv_expr_ref(g, n.count == LGV_Q ? LGV_DQ : LGV_DP, n.aux);
            arg[i] = (struct lgv_arg){lgv_expr_mul(g, d[i], direction), 1};
        }
        id = lgv_expr_sum(g, 0, arg, count);
    } else {
        out_of_memory(g);
    }
    free(leaf);
    free(d);
    free(arg);
    return id;
}

/* ---- scatter terms ---- */

void lgv_terms_add(struct lgv_graph *g, struct lgv_terms *t, struct lgv_term term) {
    double x;
    if (g->failed || (lgv_expr_is_const(g, term.value, &x) && x == 0)) return;
    if (!lgv_grow(&t->term, &t->capacity, t->count + 1, sizeof *t->term)) {
        out_of_memory(g);
        return;
    }
    t->term[t->count++] = term;
}

void lgv_terms_free(struct lgv_terms *t) {
    free(t->term);
    *t = (struct lgv_terms){0};
}

void lgv_terms_merge(struct lgv_graph *g, struct lgv_terms *t) {
    struct lgv_terms out = {0};
    for (size_t i = 0; i < t->count && !g->failed; i++) {
        const struct lgv_term x = t->term[i];
        size_t k = 0;
        while (k < out.count &&
               (out.term[k].nest != x.nest || out.term[k].row != x.row || out.term[k].col != x.col))
            k++;
        if (k < out.count)
            out.term[k].value = lgv_expr_add(g, out.term[k].value, x.value);
        else
            lgv_terms_add(g, &out, x);
    }
    lgv_terms_free(t);
    for (size_t i = 0; i < out.count; i++) lgv_terms_add(g, t, out.term[i]); /* not those that are 0 by now */
    lgv_terms_free(&out);
}

/* Rows: the leaves of `node` in a space, for one summand. */
static void gradient_of(struct lgv_graph *g, int nest, int node, enum lgv_space space, struct lgv_terms *out) {
    size_t count;
    int *leaf = lgv_diff_leaves(g, node, LGV_USES(space), &count);
    int *d = lgv_new(count + 1, sizeof *d);
    if (!leaf || !d)
        out_of_memory(g);
    else
        lgv_diff_gradient(g, node, leaf, count, d);
    bool folded = g->nrotations && (space == LGV_Q || space == LGV_BEFORE || space == LGV_AFTER);
    struct lgv_terms rows = {0};
    for (size_t i = 0; !g->failed && i < count; i++)
        lgv_terms_add(g, folded ? &rows : out, (struct lgv_term){nest, g->node[leaf[i]].aux, -1, d[i]});
    if (folded) lgv_rotations_fold(g, space, &rows, out);
    lgv_terms_free(&rows);
    free(leaf);
    free(d);
}

void lgv_terms_gradient(struct lgv_graph *g, const struct lgv_function *f, enum lgv_space space,
                        struct lgv_terms *out) {
    for (size_t k = 0; k < f->count; k++) gradient_of(g, f->summand[k].nest, f->summand[k].body, space, out);
}

void lgv_terms_hessian(struct lgv_graph *g, const struct lgv_function *f, enum lgv_space rows, enum lgv_space cols,
                       struct lgv_terms *out) {
    struct lgv_terms first = {0}, second = {0};
    lgv_terms_gradient(g, f, rows, &first);
    for (size_t k = 0; k < first.count && !g->failed; k++) {
        struct lgv_term t = first.term[k];
        second.count = 0;
        gradient_of(g, t.nest, t.value, cols, &second);
        for (size_t i = 0; i < second.count; i++) {
            struct lgv_term s = second.term[i];
            lgv_terms_add(g, out, (struct lgv_term){t.nest, t.row, s.row, s.value});
        }
    }
    lgv_terms_free(&first);
    lgv_terms_free(&second);
}

void lgv_terms_third(struct lgv_graph *g, const struct lgv_function *f, struct lgv_terms *out) {
    for (size_t k = 0; k < f->count; k++) {
        unsigned q = LGV_USES(LGV_Q);
        int twice = lgv_diff_along(g, lgv_diff_along(g, f->summand[k].body, q), q);
        gradient_of(g, f->summand[k].nest, twice, LGV_Q, out);
    }
}

bool lgv_terms_use(const struct lgv_graph *g, const struct lgv_terms *t, unsigned uses) {
    for (size_t i = 0; i < t->count; i++)
        if (g->node[t->term[i].value].uses & uses) return true;
    return false;
}

struct places {
    const struct lgv_graph *g;
    const struct lgv_term *term;
    struct lgv_place *place;
    size_t count, capacity, limit;
    bool failed;
};

static bool put_place(void *user, const long *vars) {
    struct places *p = user;
    if (p->count >= p->limit || !lgv_grow(&p->place, &p->capacity, p->count + 1, sizeof *p->place)) {
        p->failed = true;
        return false;
    }
    struct lgv_place at = {(int)lgv_loops_index(p->g, p->term->row, vars), 0};
    if (p->term->col >= 0) at.col = (int)lgv_loops_index(p->g, p->term->col, vars);
    p->place[p->count++] = at;
    return true;
}

int lgv_place_order(const void *a, const void *b) {
    const struct lgv_place *x = a, *y = b;
    return x->row != y->row ? (x->row > y->row) - (x->row < y->row) : (x->col > y->col) - (x->col < y->col);
}

long lgv_terms_pattern(const struct lgv_graph *g, const struct lgv_terms *t, long limit, struct lgv_place **out) {
    struct places p = {.g = g, .limit = (size_t)limit};
    *out = NULL;
    if (!lgv_grow(&p.place, &p.capacity, 1, sizeof *p.place)) return -1;
    long none[LGV_MAX_LOOPS] = {0};
    for (size_t i = 0; i < t->count && !p.failed; i++) {
        p.term = &t->term[i];
        if (p.term->nest < 0)
            put_place(&p, none);
        else if (lgv_loops_each(g, p.term->nest, limit, put_place, &p) < 0)
            p.failed = true;
    }
    if (p.failed) {
        free(p.place);
        return -1;
    }
    qsort(p.place, p.count, sizeof *p.place, lgv_place_order);
    size_t unique = 0;
    for (size_t i = 0; i < p.count; i++)
        if (i == 0 || lgv_place_order(&p.place[i], &p.place[unique - 1]) != 0) p.place[unique++] = p.place[i];
    *out = p.place;
    return (long)unique;
}
