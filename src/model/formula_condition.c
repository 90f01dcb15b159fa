/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Conditions in formulas: comparisons with not, and, or.  A condition is a number, 1 where it holds and 0 where not:
 *
 *     a < b     less(a, b)           a <= b     1 - less(b, a)         a == b    (1 - less(a, b)) (1 - less(b, a))
 *     not c     1 - c                c and d    min(c, d)              c or d    max(c, d)
 *
 * so derivatives, evaluator and kernels need to know nothing but less, min and max. */
#include "model/formula_parser.h"
#include <string.h>

static struct lgv_value condition_of(int node) {
    return (struct lgv_value){1, {node}};
}

static int opposite(struct lgv_graph *g, int c) {
    return lgv_expr_sub(g, lgv_expr_const(g, 1), c);
}

bool lgv_parser_is_condition(const struct lgv_graph *g, struct lgv_value v) {
    return v.dim == 1 && g->node[v.node[0]].condition;
}

static bool relation(int kind) {
    return kind && strchr("<>lgq!", kind);
}

static int compared(struct lgv_graph *g, int kind, int a, int b) {
    int less = lgv_expr_call2(g, LGV_LESS, a, b), more = lgv_expr_call2(g, LGV_LESS, b, a);
    if (kind == '<') return less;
    if (kind == '>') return more;
    if (kind == 'l') return opposite(g, more);
    if (kind == 'g') return opposite(g, less);
    int unequal = lgv_expr_call2(g, LGV_UPPER, less, more);
    return kind == '!' ? unequal : opposite(g, unequal);
}

/* What follows the first value of a comparison: a < b < c is a < b and b < c. */
static __attribute__((noinline)) struct lgv_value compare(struct lgv_parser *p, struct lgv_value a) {
    int all = -1;
    while (!p->failed && relation(p->kind)) {
        const int kind = p->kind;
        const size_t at = p->start;
        lgv_parser_next(p);
        struct lgv_value b = lgv_parser_expression(p);
        if (!p->failed && (a.dim != 1 || b.dim != 1)) lgv_parser_error(p, at, "a comparison is between numbers");
        if (p->failed) break;
        int one = compared(p->g, kind, a.node[0], b.node[0]);
        all = all < 0 ? one : lgv_expr_call2(p->g, LGV_LOWER, all, one);
        a = b;
    }
    if (p->kind == '=') lgv_parser_error(p, p->start, "write == to compare for equality");
    return condition_of(p->failed ? 0 : all);
}

static bool word(const struct lgv_parser *p, const char *text) {
    return p->kind == 'n' && strcmp(p->name, text) == 0;
}

static void must_be_condition(struct lgv_parser *p, size_t at, struct lgv_value v, const char *what) {
    if (!p->failed && !lgv_parser_is_condition(p->g, v))
        lgv_parser_error(p, at, "%s stands between conditions like a < b, but this is a value", what);
}

static struct lgv_value one(struct lgv_parser *p) {
    bool no = false;
    size_t at = p->start;
    while (word(p, "not")) {
        no = !no;
        lgv_parser_next(p);
    }
    struct lgv_value v = lgv_parser_expression(p);
    if (relation(p->kind))
        v = compare(p, v);
    else if (p->kind == '=')
        lgv_parser_error(p, p->start, "write == to compare for equality");
    if (!no) return v;
    must_be_condition(p, at, v, "not");
    return condition_of(p->failed ? 0 : opposite(p->g, v.node[0]));
}

static __attribute__((noinline)) struct lgv_value joined(struct lgv_parser *p, size_t at, struct lgv_value v) {
    struct lgv_value any = condition_of(-1);
    must_be_condition(p, at, v, p->name);
    while (word(p, "and") || word(p, "or")) {
        const bool both = p->name[0] == 'a';
        const char *what = both ? "and" : "or";
        lgv_parser_next(p);
        at = p->start;
        struct lgv_value w = one(p);
        must_be_condition(p, at, w, what);
        if (p->failed) return condition_of(0);
        if (both) {
            v.node[0] = lgv_expr_call2(p->g, LGV_LOWER, v.node[0], w.node[0]);
            continue;
        }
        any.node[0] = any.node[0] < 0 ? v.node[0] : lgv_expr_call2(p->g, LGV_UPPER, any.node[0], v.node[0]);
        v = w;
    }
    return any.node[0] < 0 ? v : condition_of(lgv_expr_call2(p->g, LGV_UPPER, any.node[0], v.node[0]));
}

struct lgv_value lgv_parser_condition(struct lgv_parser *p) {
    const size_t at = p->start;
    struct lgv_value v = one(p);
    return p->failed || !(word(p, "and") || word(p, "or")) ? v : joined(p, at, v);
}
