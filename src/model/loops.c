/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Indexed sums: enumerating instances, splitting a formula into summands, writing sums out where they must be. */
#include "model/calculus.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

long lgv_loops_index(const struct lgv_graph *g, int index, const long *vars) {
    const struct lgv_inode *n = &g->inode[index];
    if (n->op == LGV_ICONST) return n->value;
    if (n->op == LGV_IVAR) return vars[n->a];
    long a = lgv_loops_index(g, n->a, vars), b = lgv_loops_index(g, n->b, vars), r = 0;
    if (n->op == LGV_IADD) return __builtin_add_overflow(a, b, &r) ? -1 : r;
    if (n->op == LGV_IMUL) return __builtin_mul_overflow(a, b, &r) ? -1 : r;
    if (b <= 0) return -1; /* no such component: caught as out of range */
    long m = a % b;
    if (m < 0) m += b;
    return n->op == LGV_IMOD ? m : (a - m) / b;
}

bool lgv_loops_holds(const struct lgv_graph *g, int nest, const long *vars) {
    const struct lgv_nest *n = &g->nest[nest];
    for (int i = 0; i < n->ncond; i++) {
        const struct lgv_condition *c = &g->condition[n->cond + i];
        long a = lgv_loops_index(g, c->a, vars), b = lgv_loops_index(g, c->b, vars);
        bool ok = c->compare == '<' ? a < b : c->compare == 'l' ? a <= b : c->compare == '=' ? a == b : a != b;
        if (!ok) return false;
    }
    return true;
}

struct walk {
    const struct lgv_graph *g;
    const struct lgv_nest *n;
    long vars[LGV_MAX_LOOPS], count, steps, limit;
    lgv_visit *visit;
    void *user;
};

static bool descend(struct walk *w, int level) {
    if (level == w->n->count) {
        if (!lgv_loops_holds(w->g, (int)(w->n - w->g->nest), w->vars)) return true;
        if (w->count == w->limit) {
            w->count = -1;
            return false;
        }
        w->count++;
        return !w->visit || w->visit(w->user, w->vars);
    }
    const struct lgv_level *l = &w->g->level[w->n->first + level];
    long low = lgv_loops_index(w->g, l->low, w->vars), high = lgv_loops_index(w->g, l->high, w->vars);
    for (long i = low; i <= high && i < LONG_MAX; i++) {
        if (++w->steps / w->n->count > w->limit) { /* a nest of n levels may take n steps for a term */
            w->count = -1;
            return false;
        }
        w->vars[w->n->base + level] = i;
        if (!descend(w, level + 1)) return false;
    }
    return true;
}

/* outer: values of the variables below the nest's base. */
static long each(const struct lgv_graph *g, int nest, const long *outer, long limit, lgv_visit *visit, void *user) {
    struct walk w = {.g = g, .n = &g->nest[nest], .limit = limit, .visit = visit, .user = user};
    if (w.n->base + w.n->count > LGV_MAX_LOOPS) return -1;
    if (outer) memcpy(w.vars, outer, (size_t)w.n->base * sizeof *outer);
    descend(&w, 0);
    return w.count;
}

long lgv_loops_each(const struct lgv_graph *g, int nest, long limit, lgv_visit *visit, void *user) {
    return each(g, nest, NULL, limit, visit, user);
}

long lgv_loops_count(const struct lgv_graph *g, int nest, long limit) {
    return each(g, nest, NULL, limit, NULL, NULL);
}

long lgv_loops_steps(const struct lgv_graph *g, int nest, long limit) {
    struct walk w = {.g = g, .n = &g->nest[nest], .limit = limit};
    if (w.n->base + w.n->count > LGV_MAX_LOOPS) return -1;
    descend(&w, 0);
    return w.count < 0 ? -1 : w.steps;
}

/* ---- writing sums out ---- */

struct unroll {
    struct lgv_graph *g;
    int *memo;
    unsigned *stamp, now, last;
    size_t size;
    long vars[LGV_MAX_LOOPS];
    int known; /* variables below this depth have a value */
};

static int give_up(struct lgv_graph *g, const char *why) {
    if (!g->failed) g->failed = why;
    return 0;
}

static int written_out(struct unroll *u, int node);

struct collect {
    struct unroll *u;
    int body, nest;
    struct lgv_arg *arg;
    size_t count, capacity;
};

static bool collect_instance(void *user, const long *vars) {
    struct collect *c = user;
    const struct lgv_nest n = c->u->g->nest[c->nest];
    for (int k = 0; k < n.count; k++) c->u->vars[n.base + k] = vars[n.base + k];
    c->u->now = ++c->u->last; /* what was remembered belongs to another instance */
    int value = written_out(c->u, c->body);
    if (c->u->g->failed) return false;
    if (!lgv_grow(&c->arg, &c->capacity, c->count + 1, sizeof *c->arg)) {
        give_up(c->u->g, "out of memory");
        return false;
    }
    c->arg[c->count++] = (struct lgv_arg){value, 1};
    return true;
}

static int loop_written_out(struct unroll *u, const struct lgv_node *n) {
    struct lgv_nest nest = u->g->nest[n->aux];
    if (nest.base > u->known) return give_up(u->g, "a sum is nested in a way that cannot be written out");
    struct collect c = {.u = u, .body = u->g->arg[n->first].node, .nest = n->aux};
    int known = u->known;
    unsigned now = u->now;
    u->known = nest.base + nest.count;
    long count = each(u->g, n->aux, u->vars, 200000, collect_instance, &c);
    u->known = known;
    u->now = now;
    int id = 0;
    if (count < 0)
        give_up(u->g, "a sum that enters nonlinearly is too large to be written out");
    else if (!u->g->failed)
        id = lgv_expr_sum(u->g, 0, c.arg, c.count);
    free(c.arg);
    return id;
}

static int index_written_out(struct unroll *u, int index) {
    if (u->g->inode[index].vars > u->known) {
        give_up(u->g, "an index is used outside its sum");
        return 0;
    }
    return lgv_expr_iconst(u->g, lgv_loops_index(u->g, index, u->vars));
}

static int written_out(struct unroll *u, int node) {
    struct lgv_graph *g = u->g;
    const struct lgv_node n = g->node[node];
    if (!(n.uses & (LGV_USES_LOOPVAR | LGV_USES_LOOP)) || !lgv_expr_work(g, 4)) return node;
    if ((size_t)node < u->size && u->stamp[node] == u->now) return u->memo[node];
    int id;
    if (n.op == LGV_REF)
        id = lgv_expr_ref(g, (enum lgv_space)n.count, index_written_out(u, n.aux));
    else if (n.op == LGV_INDEX)
        id = lgv_expr_index(g, index_written_out(u, n.aux));
    else if (n.op == LGV_ENTRY)
        id = lgv_expr_entry_like(g, index_written_out(u, n.aux), n.value);
    else if (n.op == LGV_LOOP)
        id = loop_written_out(u, &n);
    else {
        struct lgv_arg small[8], *arg = n.count <= 8 ? small : lgv_new((size_t)n.count, sizeof *arg);
        if (!arg) return give_up(g, "out of memory");
        for (int i = 0; i < n.count; i++) {
            struct lgv_arg a = g->arg[n.first + i];
            arg[i] = (struct lgv_arg){written_out(u, a.node), a.factor};
        }
        id = lgv_expr_rebuild(g, &n, arg);
        if (arg != small) free(arg);
    }
    if ((size_t)node < u->size) {
        u->memo[node] = id;
        u->stamp[node] = u->now;
    }
    return id;
}

int lgv_loops_instance(struct lgv_graph *g, int node, const long *vars, int known) {
    struct unroll u = {.g = g, .size = (size_t)node + 1, .now = 1, .last = 1, .known = known};
    if (known) memcpy(u.vars, vars, (size_t)known * sizeof *vars);
    u.memo = lgv_new(u.size, sizeof *u.memo);
    u.stamp = lgv_new(u.size, sizeof *u.stamp);
    int id = u.memo && u.stamp ? written_out(&u, node) : give_up(g, "out of memory");
    free(u.memo);
    free(u.stamp);
    return id;
}

static int without_loops(struct lgv_graph *g, int node) {
    return lgv_loops_instance(g, node, NULL, 0);
}

/* ---- moving loops ---- */

struct shift {
    struct lgv_graph *g;
    int from, by;
    int *memo; /* 1 + new node */
};

static int index_shifted(struct shift *s, int index) {
    struct lgv_graph *g = s->g;
    const struct lgv_inode n = g->inode[index];
    if (n.vars <= s->from) return index;
    if (n.op == LGV_IVAR) return lgv_expr_ivar(g, n.a + s->by);
    return lgv_expr_iop(g, (enum lgv_iop)n.op, index_shifted(s, n.a), index_shifted(s, n.b));
}

static int nest_shifted(struct shift *s, int nest) {
    struct lgv_graph *g = s->g;
    const struct lgv_nest n = g->nest[nest];
    if (n.base < s->from) return nest;
    if (n.near) return give_up(g, "a sum over near pairs cannot stand inside another sum");
    if (n.base + n.count + s->by > LGV_MAX_LOOPS || n.ncond > LGV_MAX_CONDITIONS)
        return give_up(g, "too many nested sums");
    struct lgv_level level[LGV_MAX_LOOPS];
    struct lgv_condition cond[LGV_MAX_CONDITIONS];
    for (int i = 0; i < n.count; i++) {
        const struct lgv_level l = g->level[n.first + i];
        level[i] = (struct lgv_level){index_shifted(s, l.low), index_shifted(s, l.high)};
    }
    for (int i = 0; i < n.ncond; i++) {
        const struct lgv_condition c = g->condition[n.cond + i];
        cond[i] = (struct lgv_condition){c.compare, index_shifted(s, c.a), index_shifted(s, c.b)};
    }
    return lgv_expr_nest(g, n.base + s->by, level, n.count, cond, n.ncond);
}

static int shifted(struct shift *s, int node) {
    struct lgv_graph *g = s->g;
    const struct lgv_node n = g->node[node];
    if (!(n.uses & (LGV_USES_LOOPVAR | LGV_USES_LOOP)) || !lgv_expr_work(g, 1)) return node;
    if (s->memo[node]) return s->memo[node] - 1;
    int id;
    if (n.op == LGV_REF) {
        id = lgv_expr_ref(g, (enum lgv_space)n.count, index_shifted(s, n.aux));
    } else if (n.op == LGV_INDEX) {
        id = lgv_expr_index(g, index_shifted(s, n.aux));
    } else if (n.op == LGV_ENTRY) {
        id = lgv_expr_entry_like(g, index_shifted(s, n.aux), n.value);
    } else if (n.op == LGV_LOOP) {
        int nest = nest_shifted(s, n.aux);
        id = lgv_expr_loop(g, nest, shifted(s, g->arg[n.first].node));
    } else {
        struct lgv_arg *arg = lgv_new((size_t)n.count, sizeof *arg);
        if (!arg) return give_up(g, "out of memory");
        for (int i = 0; i < n.count; i++) {
            struct lgv_arg a = g->arg[n.first + i];
            arg[i] = (struct lgv_arg){shifted(s, a.node), a.factor};
        }
        id = lgv_expr_rebuild(g, &n, arg);
        free(arg);
    }
    s->memo[node] = id + 1;
    return id;
}

int lgv_loops_shift(struct lgv_graph *g, int node, int from, int by) {
    if (by == 0 || !(g->node[node].uses & LGV_USES_LOOP)) return node;
    struct shift s = {g, from, by, lgv_new((size_t)node + 1, sizeof *s.memo)};
    int id = s.memo ? shifted(&s, node) : give_up(g, "out of memory");
    free(s.memo);
    return id;
}

/* ---- splitting into summands ---- */

bool lgv_function_add(struct lgv_graph *g, struct lgv_function *f, int nest, int body) {
    double x;
    if (lgv_expr_is_const(g, body, &x) && x == 0) return true;
    for (size_t i = 0; i < f->count; i++)
        if (f->summand[i].nest == nest) {
            f->summand[i].body = lgv_expr_add(g, f->summand[i].body, body);
            return !g->failed;
        }
    if (!lgv_grow(&f->summand, &f->capacity, f->count + 1, sizeof *f->summand)) {
        give_up(g, "out of memory");
        return false;
    }
    f->summand[f->count++] = (struct lgv_summand){nest, body};
    return true;
}

void lgv_function_free(struct lgv_function *f) {
    free(f->summand);
    *f = (struct lgv_function){0};
}

/* The nest `outer` (-1: none) with the levels of `inner` inside it. */
static int joined(struct lgv_graph *g, int outer, int inner) {
    if (outer < 0) return inner;
    struct lgv_nest a = g->nest[outer], b = g->nest[inner];
    if (b.base != a.count) return give_up(g, "a sum is nested in a way that cannot be split");
    if (a.near || b.near) return give_up(g, "a sum over near pairs cannot stand inside another sum");
    if (a.count + b.count > LGV_MAX_LOOPS || a.ncond + b.ncond > LGV_MAX_CONDITIONS)
        return give_up(g, "too many nested sums");
    struct lgv_level level[LGV_MAX_LOOPS];
    struct lgv_condition cond[LGV_MAX_CONDITIONS];
    for (int i = 0; i < a.count; i++) level[i] = g->level[a.first + i];
    for (int i = 0; i < b.count; i++) level[a.count + i] = g->level[b.first + i];
    for (int i = 0; i < a.ncond; i++) cond[i] = g->condition[a.cond + i];
    for (int i = 0; i < b.ncond; i++) cond[a.ncond + i] = g->condition[b.cond + i];
    return lgv_expr_nest(g, 0, level, a.count + b.count, cond, a.ncond + b.ncond);
}

/* The product of a shared subformula is split once per path to it: the work is counted.
 * What to do with a formula inside a nest: false means "this body holds a sum nonlinearly: write the whole out". */
static bool split(struct lgv_graph *g, int node, int nest, int factor, struct lgv_function *f) {
    const struct lgv_node n = g->node[node];
    if (!lgv_expr_work(g, 20)) return false;
    if (!(n.uses & LGV_USES_LOOP)) return lgv_function_add(g, f, nest, lgv_expr_mul(g, factor, node));
    if (n.op == LGV_SUM) {
        if (n.value != 0 && !lgv_function_add(g, f, nest, lgv_expr_scale(g, n.value, factor))) return false;
        for (int i = 0; i < n.count; i++) {
            struct lgv_arg a = g->arg[n.first + i];
            if (!split(g, a.node, nest, lgv_expr_scale(g, a.factor, factor), f)) return false;
        }
        return true;
    }
    if (n.op == LGV_LOOP) return split(g, g->arg[n.first].node, joined(g, nest, n.aux), factor, f);
    if (n.op != LGV_PRODUCT) return false;
    int loops = 0, which = -1, rest = factor;
    for (int i = 0; i < n.count; i++) {
        struct lgv_arg a = g->arg[n.first + i];
        if (!(g->node[a.node].uses & LGV_USES_LOOP))
            rest = lgv_expr_mul(g, rest, lgv_expr_power(g, a.node, a.factor));
        else if (a.factor == 1)
            loops++, which = a.node;
        else
            loops = 99;
    }
    return loops == 1 && split(g, which, nest, rest, f);
}

static long size_of(const struct lgv_graph *g, int node, long limit) {
    const struct lgv_node *n = &g->node[node];
    long size = 1;
    if (n->op != LGV_REF)
        for (int i = 0; i < n->count && size < limit; i++) size += size_of(g, g->arg[n->first + i].node, limit - size);
    return size;
}

static bool split_terms(struct lgv_graph *g, int node, bool unroll, struct lgv_function *f) {
    if (unroll) return lgv_function_add(g, f, -1, without_loops(g, node)) && !g->failed;
    struct lgv_function parts = {0};
    const struct lgv_node top = g->node[node];
    bool ok = true;
    /* Term by term, so that one nonlinear sum does not force the others to be written out. */
    int terms = top.op == LGV_SUM ? top.count : 1;
    if (top.op == LGV_SUM) ok = lgv_function_add(g, f, -1, lgv_expr_const(g, top.value));
    for (int i = 0; ok && i < terms; i++) {
        struct lgv_arg a = top.op == LGV_SUM ? g->arg[g->node[node].first + i] : (struct lgv_arg){node, 1};
        struct lgv_function part = {0};
        if (split(g, a.node, -1, lgv_expr_const(g, a.factor), &part)) {
            for (size_t k = 0; ok && k < part.count; k++)
                ok = lgv_function_add(g, &parts, part.summand[k].nest, part.summand[k].body);
        } else {
            ok = !g->failed && lgv_function_add(g, &parts, -1, lgv_expr_scale(g, a.factor, without_loops(g, a.node)));
        }
        lgv_function_free(&part);
    }
    for (size_t k = 0; ok && k < parts.count; k++) {
        struct lgv_summand p = parts.summand[k];
        if (p.nest >= 0 && !g->nest[p.nest].near) {
            long count = lgv_loops_count(g, p.nest, LGV_MAX_INSTANCES);
            if (count < 0) return give_up(g, "a sum has too many terms"), lgv_function_free(&parts), false;
            if (count * size_of(g, p.body, LGV_UNROLL_NODES) <= LGV_UNROLL_NODES)
                p = (struct lgv_summand){-1, without_loops(g, lgv_expr_loop(g, p.nest, p.body))};
        }
        ok = lgv_function_add(g, f, p.nest, p.body);
    }
    lgv_function_free(&parts);
    return ok && !g->failed;
}

bool lgv_function_split(struct lgv_graph *g, int node, bool unroll, struct lgv_function *f) {
    *f = (struct lgv_function){0};
    bool ok = split_terms(g, node, unroll, f);
    if (!ok) lgv_function_free(f);
    return ok;
}
