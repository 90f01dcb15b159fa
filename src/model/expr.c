/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The formula graph: hash-consing and the simplifications that keep sums and products canonical. */
#include "model/expr.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sum with at most this many terms is merged into the sum around it, a product into the product around it; a longer
 * one stays a shared term or factor of its own.  Otherwise the derivatives of a function of a function of ... would
 * each have all factors of the chain anew. */
#define MERGE_TERMS 16

struct lgv_graph *lgv_expr_graph_create(void) {
    struct lgv_graph *g = lgv_new(1, sizeof *g);
    if (!g) return NULL;
    g->table_size = 1024;
    g->allowance = LGV_READ_WORK;
    g->table = malloc(g->table_size * sizeof *g->table);
    if (!g->table) {
        free(g);
        return NULL;
    }
    for (size_t i = 0; i < g->table_size; i++) g->table[i] = -1;
    lgv_expr_const(g, 0.0); /* node 0, the answer after a failure */
    lgv_expr_iconst(g, 0);  /* integer expression 0, likewise */
    if (g->failed) {
        lgv_expr_graph_free(g);
        return NULL;
    }
    return g;
}

void lgv_expr_graph_free(struct lgv_graph *g) {
    if (!g) return;
    free(g->node);
    free(g->arg);
    free(g->table);
    free(g->inode);
    free(g->level);
    free(g->condition);
    free(g->nest);
    free(g->cut);
    free(g->tabulated);
    free(g);
}

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9E3779B97F4A7C15ull;
    return h ^ (h >> 29);
}

static uint64_t bits(double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static uint64_t hash_of(const struct lgv_node *n, const struct lgv_arg *arg) {
    uint64_t h = mix(mix((uint64_t)n->op, (uint64_t)n->aux), mix((uint64_t)n->count, bits(n->value)));
    if (n->op != LGV_REF)
        for (int i = 0; i < n->count; i++) h = mix(mix(h, (uint64_t)arg[i].node), bits(arg[i].factor));
    return h;
}

static bool same(const struct lgv_graph *g, const struct lgv_node *a, const struct lgv_node *b,
                 const struct lgv_arg *barg) {
    if (a->op != b->op || a->aux != b->aux || a->count != b->count || bits(a->value) != bits(b->value)) return false;
    if (a->op == LGV_REF) return true;
    for (int i = 0; i < a->count; i++) {
        const struct lgv_arg *x = &g->arg[a->first + i];
        if (x->node != barg[i].node || bits(x->factor) != bits(barg[i].factor)) return false;
    }
    return true;
}

static bool rehash(struct lgv_graph *g) {
    size_t size = g->table_size * 2;
    int *table = malloc(size * sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < size; i++) table[i] = -1;
    for (size_t k = 0; k < g->nnodes; k++) {
        const struct lgv_node *n = &g->node[k];
        size_t slot = hash_of(n, g->arg + n->first) & (size - 1);
        while (table[slot] >= 0) slot = (slot + 1) & (size - 1);
        table[slot] = (int)k;
    }
    free(g->table);
    g->table = table;
    g->table_size = size;
    return true;
}

static int fail(struct lgv_graph *g, const char *why) {
    if (!g->failed) g->failed = why;
    return 0;
}

bool lgv_expr_work(struct lgv_graph *g, long steps) {
    g->work += steps;
    if (g->work > g->allowance)
        fail(g, g->allowance > LGV_READ_WORK ? "the derivatives of the formulas grow too large"
                                             : "written out, the formulas grow too large");
    return !g->failed;
}

/* A factor that overflowed or is undefined would poison every value without a word. */
static bool all_finite(const struct lgv_node *n, const struct lgv_arg *arg) {
    if (n->op != LGV_SUM && n->op != LGV_PRODUCT) return true;
    double sum = n->value;
    for (int i = 0; i < n->count; i++) sum += fabs(arg[i].factor);
    return isfinite(sum);
}

/* Arguments know it of themselves: a walk down would take a time exponential in the depth. */
static bool is_condition(const struct lgv_graph *g, const struct lgv_node *n, const struct lgv_arg *arg) {
    if (n->op == LGV_CONST) return n->value == 0 || n->value == 1; /* comparisons of constants are known */
    if (n->op == LGV_LESS) return true;
    if (n->op == LGV_SUM)
        return n->count == 1 && n->value == 1 && arg[0].factor == -1 && g->node[arg[0].node].condition;
    return (n->op == LGV_LOWER || n->op == LGV_UPPER) && g->node[arg[0].node].condition &&
           g->node[arg[1].node].condition;
}

/* Processes are functions of time, too. */
static unsigned drawn_uses(const struct lgv_graph *g, int drawn) {
    return drawn < 0 ? 0 : LGV_USES(LGV_DRAWN) | (drawn < g->nsteady ? 0 : LGV_USES_TIME);
}

static void inherit(const struct lgv_graph *g, struct lgv_node *n, const struct lgv_arg *arg) {
    n->condition = is_condition(g, n, arg);
    if (n->op == LGV_REF) {
        n->uses = LGV_USES(n->count) | (g->inode[n->aux].vars ? LGV_USES_LOOPVAR : 0);
        return;
    }
    if (n->op == LGV_TIME) n->uses = LGV_USES_TIME;
    if (n->op == LGV_PARAM)
        n->uses = LGV_USES_PARAM | drawn_uses(g, lgv_expr_drawn(g, n->aux));
    if (n->op == LGV_INDEX) n->uses = LGV_USES_LOOPVAR;
    if (n->op == LGV_ENTRY) n->uses = LGV_USES_PARAM | LGV_USES_LOOPVAR | drawn_uses(g, n->value < 0 ? 0 : -1);
    if (n->op == LGV_TABLE) n->uses = LGV_USES_PARAM;
    if (n->op == LGV_LOOP) n->uses = LGV_USES_LOOP;
    for (int i = 0; i < n->count; i++) {
        const struct lgv_node *a = &g->node[arg[i].node];
        n->uses |= a->uses;
        if (a->depth >= n->depth) n->depth = a->depth + 1;
    }
}

static int intern(struct lgv_graph *g, struct lgv_node n, const struct lgv_arg *arg) {
    if (g->failed || !lgv_expr_work(g, 10)) return 0; /* mostly a miss of the cache */
    uint64_t h = hash_of(&n, arg);
    size_t slot = h & (g->table_size - 1);
    for (; g->table[slot] >= 0; slot = (slot + 1) & (g->table_size - 1))
        if (same(g, &g->node[g->table[slot]], &n, arg)) return g->table[slot];
    if (!all_finite(&n, arg)) return fail(g, "a number in the formula is too large or undefined");
    inherit(g, &n, arg);
    if (n.depth > LGV_MAX_DEPTH) return fail(g, "the formula is nested too deeply");
    size_t nargs = n.op == LGV_REF ? 0 : (size_t)n.count;
    if (g->nnodes >= LGV_MAX_NODES || g->nargs + nargs > LGV_MAX_ARGS) return fail(g, "the formula is too large");
    if (!lgv_grow(&g->node, &g->node_capacity, g->nnodes + 1, sizeof *g->node) ||
        !lgv_grow(&g->arg, &g->arg_capacity, g->nargs + nargs + 1, sizeof *g->arg))
        return fail(g, "out of memory");
    n.first = (int)g->nargs;
    if (nargs) memcpy(g->arg + g->nargs, arg, nargs * sizeof *arg);
    g->nargs += nargs;
    int id = (int)g->nnodes;
    g->node[g->nnodes++] = n;
    g->table[slot] = id;
    if (g->nnodes * 2 > g->table_size && !rehash(g)) return fail(g, "out of memory");
    return id;
}

int lgv_expr_const(struct lgv_graph *g, double value) {
    if (value == 0) value = 0; /* no negative zero: one constant 0 */
    return intern(g, (struct lgv_node){.op = LGV_CONST, .value = value}, NULL);
}

int lgv_expr_param(struct lgv_graph *g, int number) {
    return intern(g, (struct lgv_node){.op = LGV_PARAM, .aux = number}, NULL);
}

int lgv_expr_entry_like(struct lgv_graph *g, int index, double value) {
    if (g->inode[index].op == LGV_ICONST) return lgv_expr_param(g, (int)g->inode[index].value);
    return intern(g, (struct lgv_node){.op = LGV_ENTRY, .aux = index, .value = value}, NULL);
}

int lgv_expr_entry(struct lgv_graph *g, int index, int first) {
    int row = lgv_expr_drawn(g, first);
    return lgv_expr_entry_like(g, index, row < 0 ? 0 : row - first - 1);
}

int lgv_expr_time(struct lgv_graph *g) {
    return intern(g, (struct lgv_node){.op = LGV_TIME}, NULL);
}

int lgv_expr_ref(struct lgv_graph *g, enum lgv_space space, int index) {
    return intern(g, (struct lgv_node){.op = LGV_REF, .count = (int)space, .aux = index}, NULL);
}

int lgv_expr_ref_at(struct lgv_graph *g, enum lgv_space space, long component) {
    return lgv_expr_ref(g, space, lgv_expr_iconst(g, component));
}

int lgv_expr_index(struct lgv_graph *g, int index) {
    if (g->inode[index].op == LGV_ICONST) return lgv_expr_const(g, (double)g->inode[index].value);
    return intern(g, (struct lgv_node){.op = LGV_INDEX, .aux = index}, NULL);
}

bool lgv_expr_is_const(const struct lgv_graph *g, int node, double *value) {
    if (g->node[node].op != LGV_CONST) return false;
    if (value) *value = g->node[node].value;
    return true;
}

static int by_node(const void *a, const void *b) {
    int x = ((const struct lgv_arg *)a)->node, y = ((const struct lgv_arg *)b)->node;
    return (x > y) - (x < y);
}

/* Sorts, merges equal nodes by adding their factors, drops those with factor 0. */
static size_t collect(struct lgv_arg *arg, size_t count) {
    size_t out = 0, sorted = 1;
    while (sorted < count && arg[sorted - 1].node <= arg[sorted].node) sorted++;
    if (sorted < count) qsort(arg, count, sizeof *arg, by_node);
    for (size_t i = 0; i < count;) {
        struct lgv_arg a = arg[i++];
        while (i < count && arg[i].node == a.node) a.factor += arg[i++].factor;
        if (a.factor != 0) arg[out++] = a;
    }
    return out;
}

struct list {
    struct lgv_arg fixed[32], *arg;
    size_t count, capacity;
    bool failed;
};

static void list_add(struct list *l, int node, double factor) {
    if (l->count == l->capacity) {
        struct lgv_arg *more = malloc(2 * l->capacity * sizeof *more);
        if (!more) {
            l->failed = true;
            return;
        }
        memcpy(more, l->arg, l->count * sizeof *more);
        if (l->arg != l->fixed) free(l->arg);
        l->arg = more;
        l->capacity *= 2;
    }
    l->arg[l->count++] = (struct lgv_arg){node, factor};
}

static void list_begin(struct list *l) {
    l->arg = l->fixed;
    l->capacity = sizeof l->fixed / sizeof *l->fixed;
    l->count = 0;
    l->failed = false;
}

static void list_end(struct list *l) {
    if (l->arg != l->fixed) free(l->arg);
}

int lgv_expr_sum(struct lgv_graph *g, double value, const struct lgv_arg *arg, size_t count) {
    struct list l;
    list_begin(&l);
    for (size_t i = 0; i < count; i++) {
        const struct lgv_node n = g->node[arg[i].node];
        double f = arg[i].factor;
        if (n.op == LGV_CONST) {
            value += f * n.value;
        } else if (n.op == LGV_SUM && (n.count <= MERGE_TERMS || count == 1 || f == 1)) {
            value += f * n.value;
            for (int k = 0; k < n.count; k++) list_add(&l, g->arg[n.first + k].node, f * g->arg[n.first + k].factor);
        } else {
            list_add(&l, arg[i].node, f);
        }
    }
    int id;
    lgv_expr_work(g, 4 * (long)l.count);
    l.count = collect(l.arg, l.count);
    if (l.failed)
        id = fail(g, "out of memory");
    else if (l.count == 0)
        id = lgv_expr_const(g, value);
    else if (l.count == 1 && value == 0 && l.arg[0].factor == 1)
        id = l.arg[0].node;
    else
        id = intern(g, (struct lgv_node){.op = LGV_SUM, .count = (int)l.count, .value = value + 0.0}, l.arg);
    list_end(&l);
    return id;
}

/* The factor that makes the first coefficient of a sum 1, so that 2x - 2y and y - x share x - y; 1 when taking it
 * out would not be exact. */
static double content(const struct lgv_graph *g, const struct lgv_node *n) {
    double c = g->arg[n->first].factor;
    for (int i = 0; i < n->count; i++) {
        double f = g->arg[n->first + i].factor;
        if (f / c * c != f) return 1;
    }
    return n->value / c * c == n->value ? c : 1;
}

/* base^exponent as factors of the product being built; the numerical part goes to *coefficient. */
static void factor_in(struct lgv_graph *g, struct list *l, double *coefficient, int base, double exponent) {
    const struct lgv_node n = g->node[base];
    bool whole = exponent == floor(exponent);
    if (n.op == LGV_CONST && (n.value > 0 || whole)) {
        *coefficient *= pow(n.value, exponent);
    } else if (n.op == LGV_PRODUCT && whole && n.count <= MERGE_TERMS) {
        for (int k = 0; k < n.count; k++)
            factor_in(g, l, coefficient, g->arg[n.first + k].node, exponent * g->arg[n.first + k].factor);
    } else if (n.op == LGV_SUM && n.count == 1 && n.value == 0 && (whole || g->arg[n.first].factor > 0)) {
        *coefficient *= pow(g->arg[n.first].factor, exponent);
        factor_in(g, l, coefficient, g->arg[n.first].node, exponent);
    } else if (n.op == LGV_SUM && n.count <= MERGE_TERMS && whole) {
        double c = content(g, &n);
        *coefficient *= pow(c, exponent);
        list_add(l, c == 1 ? base : lgv_expr_scale(g, 1 / c, base), exponent);
    } else {
        list_add(l, base, exponent);
    }
}

int lgv_expr_product(struct lgv_graph *g, double coefficient, const struct lgv_arg *arg, size_t count) {
    struct list l;
    list_begin(&l);
    for (size_t i = 0; i < count; i++) factor_in(g, &l, &coefficient, arg[i].node, arg[i].factor);
    lgv_expr_work(g, 4 * (long)l.count);
    l.count = collect(l.arg, l.count);
    int id;
    if (l.failed)
        id = fail(g, "out of memory");
    else if (coefficient == 0 || l.count == 0)
        id = lgv_expr_const(g, coefficient);
    else {
        if (l.count == 1 && l.arg[0].factor == 1)
            id = l.arg[0].node;
        else
            id = intern(g, (struct lgv_node){.op = LGV_PRODUCT, .count = (int)l.count}, l.arg);
        if (coefficient != 1) id = lgv_expr_scale(g, coefficient, id);
    }
    list_end(&l);
    return id;
}

int lgv_expr_add(struct lgv_graph *g, int a, int b) {
    return lgv_expr_sum(g, 0, (struct lgv_arg[]){{a, 1}, {b, 1}}, 2);
}

int lgv_expr_sub(struct lgv_graph *g, int a, int b) {
    return lgv_expr_sum(g, 0, (struct lgv_arg[]){{a, 1}, {b, -1}}, 2);
}

int lgv_expr_scale(struct lgv_graph *g, double factor, int a) {
    if (factor == 0) return lgv_expr_const(g, 0);
    const struct lgv_node n = g->node[a];
    if (n.op == LGV_SUM && n.count > MERGE_TERMS) /* keep the long sum shared */
        return intern(g, (struct lgv_node){.op = LGV_SUM, .count = 1}, &(struct lgv_arg){a, factor});
    return lgv_expr_sum(g, 0, &(struct lgv_arg){a, factor}, 1);
}

int lgv_expr_mul(struct lgv_graph *g, int a, int b) {
    return lgv_expr_product(g, 1, (struct lgv_arg[]){{a, 1}, {b, 1}}, 2);
}

int lgv_expr_div(struct lgv_graph *g, int a, int b) {
    return lgv_expr_product(g, 1, (struct lgv_arg[]){{a, 1}, {b, -1}}, 2);
}

int lgv_expr_power(struct lgv_graph *g, int a, double exponent) {
    if (exponent == 0) return lgv_expr_const(g, 1);
    return lgv_expr_product(g, 1, &(struct lgv_arg){a, exponent}, 1);
}

int lgv_expr_pow(struct lgv_graph *g, int a, int b) {
    double e;
    if (lgv_expr_is_const(g, b, &e)) return lgv_expr_power(g, a, e);
    return lgv_expr_call2(g, LGV_POW, a, b);
}

double lgv_expr_apply(enum lgv_op op, double a, double b) {
    switch (op) {
    case LGV_POW: return pow(a, b);
    case LGV_EXP: return exp(a);
    case LGV_LOG: return log(a);
    case LGV_SIN: return sin(a);
    case LGV_COS: return cos(a);
    case LGV_TAN: return tan(a);
    case LGV_ASIN: return asin(a);
    case LGV_ACOS: return acos(a);
    case LGV_ATAN: return atan(a);
    case LGV_SINH: return sinh(a);
    case LGV_COSH: return cosh(a);
    case LGV_TANH: return tanh(a);
    case LGV_ABS: return fabs(a);
    case LGV_SIGN: return (a > 0) - (a < 0);
    case LGV_ERF: return erf(a);
    case LGV_FLOOR: return floor(a);
    case LGV_ATAN2: return atan2(a, b);
    case LGV_LOWER: return b < a ? b : a;
    case LGV_UPPER: return b > a ? b : a;
    case LGV_LESS: return a < b;
    default: return NAN;
    }
}

/* The argument is -x for a simpler x: lets odd and even functions share sin(x) and sin(-x). */
static bool negated(const struct lgv_graph *g, int a) {
    const struct lgv_node *n = &g->node[a];
    return n->op == LGV_SUM && n->value <= 0 && g->arg[n->first].factor < 0;
}

int lgv_expr_call1(struct lgv_graph *g, enum lgv_op op, int a) {
    double x;
    if (lgv_expr_is_const(g, a, &x)) return lgv_expr_const(g, lgv_expr_apply(op, x, 0));
    bool odd = op == LGV_SIN || op == LGV_TAN || op == LGV_ASIN || op == LGV_ATAN || op == LGV_SINH || op == LGV_TANH ||
               op == LGV_ERF || op == LGV_SIGN;
    bool even = op == LGV_COS || op == LGV_COSH || op == LGV_ABS;
    bool flip = (odd || even) && negated(g, a);
    if (flip) a = lgv_expr_scale(g, -1, a);
    int id = intern(g, (struct lgv_node){.op = (int)op, .count = 1}, &(struct lgv_arg){a, 1});
    return flip && odd ? lgv_expr_scale(g, -1, id) : id;
}

int lgv_expr_call2(struct lgv_graph *g, enum lgv_op op, int a, int b) {
    double x, y;
    if (lgv_expr_is_const(g, a, &x) && lgv_expr_is_const(g, b, &y)) return lgv_expr_const(g, lgv_expr_apply(op, x, y));
    if (a == b && (op == LGV_LOWER || op == LGV_UPPER)) return a;
    return intern(g, (struct lgv_node){.op = (int)op, .count = 2}, (struct lgv_arg[]){{a, 1}, {b, 1}});
}

int lgv_expr_pick(struct lgv_graph *g, int condition, int a, int b) {
    double x;
    if (lgv_expr_is_const(g, condition, &x)) return x != 0 ? a : b;
    if (a == b) return a;
    return intern(g, (struct lgv_node){.op = LGV_PICK, .count = 3}, (struct lgv_arg[]){{condition, 1}, {a, 1}, {b, 1}});
}

int lgv_expr_table(struct lgv_graph *g, int table, int derivative, int a) {
    if (derivative > g->tabulated[table].degree) return lgv_expr_const(g, 0);
    return intern(g, (struct lgv_node){.op = LGV_TABLE, .count = 1, .aux = table, .value = derivative},
                  &(struct lgv_arg){a, 1});
}

int lgv_expr_drawn(const struct lgv_graph *g, int number) {
    int k = g->ndrawn;
    while (--k >= 0 && g->drawn[k] != number) continue;
    return k;
}

int lgv_expr_loop(struct lgv_graph *g, int nest, int body) {
    double x;
    if (lgv_expr_is_const(g, body, &x) && x == 0) return body;
    return intern(g, (struct lgv_node){.op = LGV_LOOP, .count = 1, .aux = nest}, &(struct lgv_arg){body, 1});
}

/* ---- rebuilding ---- */

int lgv_expr_rebuild(struct lgv_graph *g, const struct lgv_node *n, const struct lgv_arg *arg) {
    if (n->op == LGV_SUM) return lgv_expr_sum(g, n->value, arg, (size_t)n->count);
    if (n->op == LGV_PRODUCT) return lgv_expr_product(g, 1, arg, (size_t)n->count);
    if (n->op == LGV_POW) return lgv_expr_pow(g, arg[0].node, arg[1].node);
    if (n->op == LGV_LOOP) return lgv_expr_loop(g, n->aux, arg[0].node);
    if (n->op == LGV_PICK) return lgv_expr_pick(g, arg[0].node, arg[1].node, arg[2].node);
    if (n->op == LGV_TABLE) return lgv_expr_table(g, n->aux, (int)n->value, arg[0].node);
    if (n->count == 1) return lgv_expr_call1(g, (enum lgv_op)n->op, arg[0].node);
    return lgv_expr_call2(g, (enum lgv_op)n->op, arg[0].node, arg[1].node);
}

/* In ascending order every argument is known when its parent comes. */
int lgv_expr_only(struct lgv_graph *g, int node, enum lgv_space space, int leaf) {
    int *image = lgv_new((size_t)node + 1, sizeof *image);
    struct lgv_arg *arg = NULL;
    size_t capacity = 0;
    if (!image) return fail(g, "out of memory");
    for (int k = 0; k <= node && !g->failed; k++) {
        const struct lgv_node n = g->node[k];
        image[k] = k;
        if (!(n.uses & LGV_USES(space))) continue;
        if (n.op == LGV_REF) {
            image[k] = lgv_expr_const(g, k == leaf ? 1 : 0);
            continue;
        }
        if (!lgv_grow(&arg, &capacity, (size_t)n.count, sizeof *arg)) {
            fail(g, "out of memory");
            break;
        }
        for (int i = 0; i < n.count; i++)
            arg[i] = (struct lgv_arg){image[g->arg[n.first + i].node], g->arg[n.first + i].factor};
        image[k] = lgv_expr_rebuild(g, &n, arg);
    }
    int id = g->failed ? 0 : image[node];
    free(image);
    free(arg);
    return id;
}

/* ---- integer expressions ---- */

static int iadd(struct lgv_graph *g, struct lgv_inode n) {
    size_t size = sizeof g->itable / sizeof *g->itable;
    size_t slot = mix(mix((uint64_t)n.op, (uint64_t)n.value), ((uint64_t)n.a << 32) | (uint64_t)n.b) & (size - 1);
    for (int k = g->itable[slot] - 1; k >= 0; k = g->inode[k].next - 1) {
        const struct lgv_inode *m = &g->inode[k];
        if (m->op == n.op && m->a == n.a && m->b == n.b && m->value == n.value) return k;
    }
    if (g->ninodes >= LGV_MAX_NODES) return fail(g, "too many different indices");
    if (!lgv_grow(&g->inode, &g->inode_capacity, g->ninodes + 1, sizeof *g->inode)) return fail(g, "out of memory");
    n.next = g->itable[slot];
    g->inode[g->ninodes] = n;
    g->itable[slot] = (int)++g->ninodes;
    return (int)g->ninodes - 1;
}

int lgv_expr_iconst(struct lgv_graph *g, long value) {
    return iadd(g, (struct lgv_inode){.op = LGV_ICONST, .value = value});
}

int lgv_expr_ivar(struct lgv_graph *g, int depth) {
    return iadd(g, (struct lgv_inode){.op = LGV_IVAR, .a = depth, .vars = depth + 1});
}

int lgv_expr_iop(struct lgv_graph *g, enum lgv_iop op, int a, int b) {
    struct lgv_inode x = g->inode[a], y = g->inode[b];
    if (x.op == LGV_ICONST && y.op == LGV_ICONST) {
        long r = 0;
        if (op == LGV_IADD && __builtin_add_overflow(x.value, y.value, &r)) return fail(g, "an index is too large");
        if (op == LGV_IMUL && __builtin_mul_overflow(x.value, y.value, &r)) return fail(g, "an index is too large");
        if (op == LGV_IMOD || op == LGV_IDIV) {
            if (y.value <= 0) return fail(g, "the divisor of an index must be positive");
            long m = x.value % y.value;
            if (m < 0) m += y.value;
            r = op == LGV_IMOD ? m : (x.value - m) / y.value;
        }
        return lgv_expr_iconst(g, r);
    }
    if (op == LGV_IADD && x.op == LGV_ICONST) return lgv_expr_iop(g, op, b, a);
    if (op == LGV_IMUL && x.op == LGV_ICONST) return lgv_expr_iop(g, op, b, a);
    if (op == LGV_IADD && y.op == LGV_ICONST) {
        if (y.value == 0) return a;
        if (x.op == LGV_IADD && g->inode[x.b].op == LGV_ICONST)
            return lgv_expr_iop(g, op, x.a, lgv_expr_iop(g, op, x.b, b));
    }
    if (op == LGV_IMUL && y.op == LGV_ICONST && y.value == 1) return a;
    int depth = 1 + (x.depth > y.depth ? x.depth : y.depth);
    if (depth > LGV_MAX_INDEX_DEPTH) return fail(g, "an index is too long");
    return iadd(g, (struct lgv_inode){
                       .op = (int)op, .a = a, .b = b, .vars = x.vars > y.vars ? x.vars : y.vars, .depth = depth});
}

static bool same_nest(const struct lgv_graph *g, const struct lgv_nest *n, int base, const struct lgv_level *level,
                      int count, const struct lgv_condition *cond, int ncond) {
    if (n->near || n->base != base || n->count != count || n->ncond != ncond) return false;
    for (int i = 0; i < count; i++)
        if (g->level[n->first + i].low != level[i].low || g->level[n->first + i].high != level[i].high) return false;
    for (int i = 0; i < ncond; i++) {
        const struct lgv_condition *c = &g->condition[n->cond + i];
        if (c->compare != cond[i].compare || c->a != cond[i].a || c->b != cond[i].b) return false;
    }
    return true;
}

int lgv_expr_nest(struct lgv_graph *g, int base, const struct lgv_level *level, int count,
                  const struct lgv_condition *cond, int ncond) {
    lgv_expr_work(g, (long)g->nnests);
    for (size_t i = 0; i < g->nnests; i++)
        if (same_nest(g, &g->nest[i], base, level, count, cond, ncond)) return (int)i;
    if (!lgv_grow(&g->nest, &g->nest_capacity, g->nnests + 1, sizeof *g->nest) ||
        !lgv_grow(&g->level, &g->level_capacity, g->nlevels + (size_t)count + 1, sizeof *g->level) ||
        !lgv_grow(&g->condition, &g->condition_capacity, g->nconditions + (size_t)ncond + 1, sizeof *g->condition))
        return fail(g, "out of memory");
    struct lgv_nest n = {
        .base = base, .count = count, .first = (int)g->nlevels, .ncond = ncond, .cond = (int)g->nconditions};
    if (count) memcpy(g->level + g->nlevels, level, (size_t)count * sizeof *level);
    if (ncond) memcpy(g->condition + g->nconditions, cond, (size_t)ncond * sizeof *cond);
    g->nlevels += (size_t)count;
    g->nconditions += (size_t)ncond;
    g->nest[g->nnests] = n;
    return (int)g->nnests++;
}

static bool same_cut(const struct lgv_cut *a, const struct lgv_cut *b) {
    for (int k = 0; k < 3; k++)
        if (a->row[0][k] != b->row[0][k] || a->row[1][k] != b->row[1][k] || a->box[k] != b->box[k]) return false;
    return a->dim == b->dim && a->radius == b->radius && a->skin == b->skin;
}

int lgv_expr_nest_near(struct lgv_graph *g, int nest, const struct lgv_cut *cut) {
    struct lgv_nest n = g->nest[nest];
    size_t k = 0;
    while (k < g->ncuts && !same_cut(&g->cut[k], cut)) k++;
    if (k == g->ncuts) {
        if (!lgv_grow(&g->cut, &g->cut_capacity, k + 1, sizeof *g->cut)) return fail(g, "out of memory");
        g->cut[g->ncuts++] = *cut;
    }
    for (int i = 0; i < 5; i++)
        if (cut->kink[i]) g->cut[k].kink[i] = cut->kink[i];
    n.near = 1 + (int)k;
    for (size_t i = 0; i < g->nnests; i++) /* levels and conditions are those of the plain nest */
        if (g->nest[i].near == n.near && g->nest[i].first == n.first && g->nest[i].cond == n.cond) return (int)i;
    if (!lgv_grow(&g->nest, &g->nest_capacity, g->nnests + 1, sizeof *g->nest)) return fail(g, "out of memory");
    g->nest[g->nnests] = n;
    return (int)g->nnests++;
}

bool lgv_expr_no_memory(const struct lgv_graph *g) {
    return g->failed && strcmp(g->failed, "out of memory") == 0;
}
