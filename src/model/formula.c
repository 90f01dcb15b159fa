/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Recursive-descent parser of the formula language (grammar in formula.h).  It builds graph nodes directly; the first
 * error is kept with its exact place and everything after it is skipped. */
#include "model/formula.h"
#include "model/formula_parser.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 200

static const struct {
    const char *name;
    int op, args;
} functions[] = {
    {"exp", LGV_EXP, 1},   {"log", LGV_LOG, 1},     {"sin", LGV_SIN, 1},   {"cos", LGV_COS, 1},
    {"tan", LGV_TAN, 1},   {"asin", LGV_ASIN, 1},   {"acos", LGV_ACOS, 1}, {"atan", LGV_ATAN, 1},
    {"sinh", LGV_SINH, 1}, {"cosh", LGV_COSH, 1},   {"tanh", LGV_TANH, 1}, {"abs", LGV_ABS, 1},
    {"erf", LGV_ERF, 1},   {"min", LGV_LOWER, 2},   {"max", LGV_UPPER, 2}, {"sign", LGV_SIGN, 1},
    {"sqrt", -1, 1},       {"atan2", LGV_ATAN2, 2}, {"dot", -2, 2},        {"cross", -3, 2},
    {"norm", -4, 1},       {"sum", -5, 0},          {"normal", -6, 0},     {"uniform", -7, 0},
    {"each", -8, 0},       {"floor", LGV_FLOOR, 1}, {"mod", -9, 2},        {"transpose", -10, 1},
    {"trace", -11, 1},     {"ln", LGV_LOG, 1},      {"if", -12, 3},        {"pairs", -14, 0},
    {"near", -15, 0},
};
#define NFUNCTIONS (sizeof functions / sizeof *functions)

bool lgv_formula_is_reserved(const char *name) {
    for (size_t i = 0; i < NFUNCTIONS; i++)
        if (strcmp(functions[i].name, name) == 0) return true;
    static const char *const words[] = {"pi", "e", "t", "in", "mod", "wrap", "H", "W", "and", "or", "not",
                                        "table", "file"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0) return true;
    return false;
}

const char *lgv_formula_function(size_t i) {
    return i < NFUNCTIONS ? functions[i].name : NULL;
}

/* ---- values ---- */

static struct lgv_value scalar(int node) {
    return (struct lgv_value){1, {node}};
}

static struct lgv_value number(struct lgv_parser *p, double x) {
    return scalar(lgv_expr_const(p->g, x));
}

static const char *kind_of(struct lgv_value v) {
    return v.dim == 1          ? "number"
           : v.dim == 2        ? "vector of R2"
           : v.dim == 3        ? "vector of R3"
           : v.dim == LGV_PAIR ? "momentum of a body"
           : v.dim == LGV_POSE ? "body"
                               : "matrix";
}

static bool of_body(struct lgv_value v) {
    return v.dim == LGV_POSE || v.dim == LGV_PAIR;
}

/* Row r of a times column c of b, both of 3 x 3 entries `step` apart. */
static int inner(struct lgv_parser *p, const int *a, int a_step, const int *b, int b_step) {
    struct lgv_arg arg[3];
    for (int k = 0; k < 3; k++) arg[k] = (struct lgv_arg){lgv_expr_mul(p->g, a[k * a_step], b[k * b_step]), 1};
    return lgv_expr_sum(p->g, 0, arg, 3);
}

/* Matrix times vector, vector times matrix (as a row), matrix times matrix. */
static struct lgv_value matrix_product(struct lgv_parser *p, struct lgv_value a, struct lgv_value b) {
    struct lgv_value c = {a.dim == b.dim ? LGV_MATRIX : 3, {0}};
    for (int i = 0; i < 3; i++) {
        if (b.dim == 3) c.node[i] = inner(p, a.node + 3 * i, 1, b.node, 1);
        if (a.dim == 3) c.node[i] = inner(p, a.node, 1, b.node + i, 3);
        for (int j = 0; a.dim == b.dim && j < 3; j++) c.node[3 * i + j] = inner(p, a.node + 3 * i, 1, b.node + j, 3);
    }
    return c;
}

/* Where a point of the body is in space. */
static struct lgv_value point_of(struct lgv_parser *p, struct lgv_value body, struct lgv_value x) {
    struct lgv_value R = body, c;
    R.dim = LGV_MATRIX;
    c = matrix_product(p, R, x);
    for (int k = 0; k < 3; k++) c.node[k] = lgv_expr_add(p->g, body.node[LGV_MATRIX + k], c.node[k]);
    return c;
}

static struct lgv_value combine(struct lgv_parser *p, size_t at, int op, struct lgv_value a, struct lgv_value b) {
    struct lgv_graph *g = p->g;
    if (p->failed) return number(p, 0);
    if (op == '*' && a.dim == LGV_POSE && b.dim == 3) return point_of(p, a, b);
    if (of_body(a) || of_body(b)) {
        lgv_parser_error(p, at, "a %s has parts, .%s, and body*[a,b,c] is a point of it: it has no other products",
                         kind_of(of_body(a) ? a : b), a.dim == LGV_PAIR || b.dim == LGV_PAIR
                                                          ? "linear and .angular" : "position and .rotation");
        return number(p, 0);
    }
    bool matrix = op == '*' && (a.dim == LGV_MATRIX || b.dim == LGV_MATRIX) && a.dim > 1 && b.dim > 1;
    if (matrix && a.dim != 2 && b.dim != 2) return matrix_product(p, a, b);
    if ((op == '*' && a.dim > 1 && b.dim > 1) || (op == '/' && b.dim > 1)) {
        lgv_parser_error(p, at,
                         matrix      ? "a matrix of three rows times a vector of R2"
                         : op == '*' ? "a product of two vectors: write dot(a,b) or cross(a,b)"
                                     : "cannot divide by a %s",
                         kind_of(b));
        return number(p, 0);
    }
    if (op == '/') {
        double x;
        if (lgv_expr_is_const(g, b.node[0], &x) && x == 0) {
            lgv_parser_error(p, at, "division by zero");
            return number(p, 0);
        }
        for (int k = 0; k < a.dim; k++) a.node[k] = lgv_expr_div(g, a.node[k], b.node[0]);
        return a;
    }
    if (a.dim == 1) {
        struct lgv_value c = a;
        a = b;
        b = c;
    }
    for (int k = 0; k < a.dim; k++) a.node[k] = lgv_expr_mul(g, b.node[0], a.node[k]);
    return a;
}

static int scalar_argument(struct lgv_parser *p, const char *function) {
    size_t at = p->start;
    struct lgv_value v = lgv_parser_expression(p);
    if (v.dim != 1) lgv_parser_error(p, at, "%s needs a number here, not a %s", function, kind_of(v));
    return v.node[0];
}

/* ---- calls ---- */

static int inner_product(struct lgv_parser *p, struct lgv_value a, struct lgv_value b) {
    struct lgv_arg arg[3];
    for (int k = 0; k < a.dim; k++) arg[k] = (struct lgv_arg){lgv_expr_mul(p->g, a.node[k], b.node[k]), 1};
    return lgv_expr_sum(p->g, 0, arg, (size_t)a.dim);
}

static struct lgv_value cross_product(struct lgv_parser *p, struct lgv_value a, struct lgv_value b) {
    struct lgv_graph *g = p->g;
    struct lgv_value c = {3, {0}};
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        c.node[k] = lgv_expr_sub(g, lgv_expr_mul(g, a.node[i], b.node[j]), lgv_expr_mul(g, a.node[j], b.node[i]));
    }
    return a.dim == 2
               ? scalar(lgv_expr_sub(g, lgv_expr_mul(g, a.node[0], b.node[1]), lgv_expr_mul(g, a.node[1], b.node[0])))
               : c;
}

static struct lgv_value vector_call(struct lgv_parser *p, int op, const char *name) {
    size_t at = p->start;
    struct lgv_value a = lgv_parser_expression(p), b = a;
    if (!p->failed && (a.dim == 1 || a.dim > 3))
        lgv_parser_error(p, at, "%s needs a vector, not a %s", name, kind_of(a));
    if (op != -4) {
        lgv_parser_expect(p, ',', "','");
        at = p->start;
        b = lgv_parser_expression(p);
        if (!p->failed && a.dim != b.dim) lgv_parser_error(p, at, "%s needs two vectors of the same dimension", name);
    }
    lgv_parser_expect(p, ')', "')'");
    if (p->failed) return number(p, 0);
    if (op == -3) return cross_product(p, a, b);
    int d = inner_product(p, a, b);
    return scalar(op == -4 ? lgv_expr_power(p->g, d, 0.5) : d);
}

/* transpose(R), trace(R) */
static struct lgv_value matrix_call(struct lgv_parser *p, int op, const char *name) {
    size_t at = p->start;
    struct lgv_value a = lgv_parser_expression(p), b = {LGV_MATRIX, {0}};
    if (!p->failed && a.dim != LGV_MATRIX) lgv_parser_error(p, at, "%s needs a matrix, not a %s", name, kind_of(a));
    lgv_parser_expect(p, ')', "')'");
    if (p->failed) return number(p, 0);
    for (int k = 0; k < LGV_MATRIX; k++) b.node[k] = a.node[3 * (k % 3) + k / 3];
    struct lgv_arg diagonal[] = {{a.node[0], 1}, {a.node[4], 1}, {a.node[8], 1}};
    return op == -10 ? b : scalar(lgv_expr_sum(p->g, 0, diagonal, 3));
}

/* if(condition, a, b): numbers, vectors or matrices */
static struct lgv_value pick(struct lgv_parser *p) {
    size_t at = p->start;
    struct lgv_value c = lgv_parser_condition(p), a, b;
    if (!p->failed && !lgv_parser_is_condition(p->g, c))
        lgv_parser_error(p, at, "if needs a condition here, as in if(x > 0, a, b)");
    lgv_parser_expect(p, ',', "',' and the value where the condition holds");
    a = lgv_parser_expression(p);
    lgv_parser_expect(p, ',', "',' and the value where the condition does not hold");
    at = p->start;
    b = lgv_parser_expression(p);
    lgv_parser_expect(p, ')', "')'");
    if (!p->failed && a.dim != b.dim)
        lgv_parser_error(p, at, "both values of if are of one kind, but these are a %s and a %s", kind_of(a),
                         kind_of(b));
    for (int k = 0; !p->failed && k < a.dim; k++)
        a.node[k] = lgv_expr_pick(p->g, c.node[0], a.node[k], b.node[k]);
    return p->failed ? number(p, 0) : a;
}

static struct lgv_value draw(struct lgv_parser *p, int op, size_t at, const char *name) {
    int which = op == -7;
    int a = 0, b = lgv_expr_const(p->g, 1);
    if (!p->scope->draws) {
        lgv_parser_error(p, at, "%s() may only be used in start values and in parameters", name);
        return number(p, 0);
    }
    if (p->nloops) {
        lgv_parser_error(p, at, "%s() may not be used inside a sum", name);
        return number(p, 0);
    }
    if (p->kind != ')') { /* normal(mean, std), uniform(low, high) */
        a = scalar_argument(p, name);
        lgv_parser_expect(p, ',', "','");
        b = scalar_argument(p, name);
        if (which) b = lgv_expr_sub(p->g, b, a);
    }
    lgv_parser_expect(p, ')', "')'");
    int x = lgv_expr_ref_at(p->g, which ? LGV_UNIFORM : LGV_NORMAL, p->scope->draws[which]++);
    return scalar(lgv_expr_add(p->g, a, lgv_expr_mul(p->g, b, x)));
}

/* A number, or the root of one: roots of negative numbers stay powers in the graph. */
static bool is_number(const struct lgv_graph *g, int node, double *x) {
    const struct lgv_node *n = &g->node[node];
    if (n->op != LGV_PRODUCT || n->count != 1) return lgv_expr_is_const(g, node, x);
    struct lgv_arg a = g->arg[n->first];
    if (!lgv_expr_is_const(g, a.node, x)) return false;
    *x = pow(*x, a.factor);
    return true;
}

/* log(0), sqrt(-1), 2^5000, ...: refused where they stand. */
static struct lgv_value defined(struct lgv_parser *p, size_t at, const char *what, int node) {
    double x;
    if (!p->failed && is_number(p->g, node, &x) && !isfinite(x))
        lgv_parser_error(p, at, "the value of %s is not a finite number here", what);
    return scalar(p->failed ? 0 : node);
}

static struct lgv_value plain_call(struct lgv_parser *p, size_t at, int op, int args, const char *name) {
    int a = scalar_argument(p, name);
    if (op == -9) { /* mod(a, b) = a - b floor(a/b) */
        lgv_parser_expect(p, ',', "',' and a second argument");
        int b = scalar_argument(p, name);
        int n = lgv_expr_call1(p->g, LGV_FLOOR, lgv_expr_div(p->g, a, b));
        a = lgv_expr_sub(p->g, a, lgv_expr_mul(p->g, b, n));
    } else if (args == 2) {
        lgv_parser_expect(p, ',', "',' and a second argument");
        a = lgv_expr_call2(p->g, (enum lgv_op)op, a, scalar_argument(p, name));
        while ((op == LGV_LOWER || op == LGV_UPPER) && lgv_parser_accept(p, ','))
            a = lgv_expr_call2(p->g, (enum lgv_op)op, a, scalar_argument(p, name));
    } else {
        a = op == -1 ? lgv_expr_power(p->g, a, 0.5) : lgv_expr_call1(p->g, (enum lgv_op)op, a);
    }
    lgv_parser_expect(p, ')', "')'");
    return defined(p, at, name, a);
}

/* A macro is parsed anew for each call with its formal names bound to the arguments. */
static struct lgv_value macro_call(struct lgv_parser *p, size_t at, const struct lgv_symbol *macro) {
    struct lgv_value arg[LGV_MAX_ARGUMENTS];
    lgv_expr_work(p->g, 100); /* a parser of its own */
    for (int k = 0; k < macro->nformals; k++) {
        if (k && !lgv_parser_accept(p, ','))
            lgv_parser_error(p, p->start, "%s has %d arguments, here it is given %d", macro->name, macro->nformals, k);
        arg[k] = lgv_parser_expression(p);
    }
    if (p->kind == ',')
        lgv_parser_error(p, p->start, "%s has %d argument%s, here it is given more", macro->name, macro->nformals,
                         macro->nformals == 1 ? "" : "s");
    lgv_parser_expect(p, ')', "')'");
    if (p->failed) return number(p, 0);
    if (p->depth > MAX_DEPTH / 2) {
        lgv_parser_error(p, at, "%s is nested too deeply (does it refer to itself?)", macro->name);
        return number(p, 0);
    }
    struct lgv_formula_error inner = {0};
    struct lgv_parser q = {.scope = p->scope,
                           .g = p->g,
                           .text = macro->text,
                           .err = &inner,
                           .depth = p->depth + 8,
                           .nformals = macro->nformals};
    memcpy(q.loop, p->loop, sizeof q.loop); /* the loops around the call stay, but their names are not visible inside */
    memcpy(q.cond, p->cond, sizeof q.cond);
    for (int k = 0; k < p->nloops; k++) q.loop[k].name[0] = 0;
    q.nloops = q.outer = p->nloops;
    q.nconds = p->nconds;
    q.steps = p->steps;
    q.pairs = p->pairs;
    for (int k = 0; k < macro->nformals; k++) {
        q.formal[k] = macro->formals[k];
        q.actual[k] = arg[k];
    }
    lgv_parser_next(&q);
    struct lgv_value v = lgv_parser_expression(&q);
    char b[64];
    if (!q.failed && q.kind) lgv_parser_error(&q, q.start, "unexpected %s", lgv_parser_token(&q, b, sizeof b));
    if (q.failed) lgv_parser_error(p, at, "in %s: %.200s", macro->name, inner.message);
    return q.failed ? number(p, 0) : v;
}

static struct lgv_value table_call(struct lgv_parser *p, const struct lgv_symbol *table) {
    int a = scalar_argument(p, table->name);
    if (p->kind == ',') lgv_parser_error(p, p->start, "%s is a table and has one argument", table->name);
    lgv_parser_expect(p, ')', "')'");
    return scalar(p->failed ? 0 : lgv_expr_table(p->g, table->index, 0, a));
}

static struct lgv_value call(struct lgv_parser *p, size_t at, const char *name) {
    for (size_t i = 0; i < NFUNCTIONS; i++) {
        if (strcmp(functions[i].name, name) != 0) continue;
        int op = functions[i].op;
        if (op == -8) {
            lgv_parser_error(p, at, "each(...) may only stand at the beginning of an observable or an entry of noise");
            return number(p, 0);
        }
        if (op == -5) {
            long steps = p->steps;
            int nest = lgv_parser_loops(p);
            int body = scalar_argument(p, name);
            lgv_parser_expect(p, ')', "')'");
            if (p->failed) return number(p, 0);
            p->nloops -= p->g->nest[nest].count;
            p->nconds -= p->g->nest[nest].ncond;
            p->steps = steps;
            return scalar(lgv_expr_loop(p->g, nest, body));
        }
        if (op <= -14) return lgv_parser_pairs(p, at, name, op == -15);
        if (op == -6 || op == -7) return draw(p, op, at, name);
        if (op == -12) return pick(p);
        if (op <= -10) return matrix_call(p, op, name);
        if (op <= -2 && op != -9) return vector_call(p, op, name);
        return plain_call(p, at, op, functions[i].args, name);
    }
    const struct lgv_symbol *s = lgv_scope_use(p->scope, name);
    if (s && s->kind == LGV_SYM_MACRO) return macro_call(p, at, s);
    if (s && s->kind == LGV_SYM_TABLE) return table_call(p, s);
    if (!s && (strcmp(name, "table") == 0 || strcmp(name, "file") == 0)) {
        lgv_parser_error(p, at, name[0] == 't'
                                    ? "a table is given a name among the functions of where, as in "
                                      "where: { V(x): table(file.csv) }, and is then V(q) in formulas"
                                    : "file(NAME) is all of the value of an array of parameters or of a start value");
        return number(p, 0);
    }
    if (s) {
        lgv_parser_error(p, at, "%s is not a function (write * for a product)", name);
        return number(p, 0);
    }
    lgv_parser_unknown_function(p, at, name);
    return number(p, 0);
}

/* ---- names ---- */

/* `count` rows of entry i (an index expression from 1, or -1: no array) of what begins at row `from`. */
static void rows_of(struct lgv_graph *g, enum lgv_space space, long from, int count, int i, int *out) {
    int index = lgv_expr_iconst(g, from);
    if (i >= 0)
        index = lgv_expr_iop(g, LGV_IADD, lgv_expr_iop(g, LGV_IMUL, i, lgv_expr_iconst(g, count)),
                             lgv_expr_iconst(g, from - count));
    for (int k = 0; k < count; k++)
        out[k] = lgv_expr_ref(g, space, lgv_expr_iop(g, LGV_IADD, index, lgv_expr_iconst(g, k)));
}

static struct lgv_value state(struct lgv_parser *p, size_t at, const struct lgv_symbol *s) {
    if (!(p->scope->allow & LGV_USES(s->space))) {
        lgv_parser_error(p, at, "%s may not be used in %s", s->name, p->scope->place);
        return number(p, 0);
    }
    struct lgv_graph *g = p->g;
    int i = -1;
    if (s->length) {
        if (p->kind != '[') {
            lgv_parser_error(p, at, "%s is an array of %ld: write %s[i]", s->name, s->length, s->name);
            return number(p, 0);
        }
        i = lgv_parser_subscript(p, s->name, s->length);
    } else if (p->kind == '[') {
        lgv_parser_error(p, p->start, s->dim == 4 ? "%s is not an array; entries of a matrix are .xx to .zz"
                                                  : "%s is not an array", s->name);
    }
    struct lgv_value v = {s->dim == 4 ? LGV_MATRIX : s->dim, {0}};
    const bool pose = s->dim == LGV_POSE, turns = pose || s->dim == 4;
    if (pose) rows_of(g, s->space, s->offset, 3, i, v.node + LGV_MATRIX);
    if (s->dim == LGV_PAIR) {
        rows_of(g, s->space, s->offset, 3, i, v.node);
        rows_of(g, s->space, s->turned, 3, i, v.node + 3);
    } else {
        rows_of(g, s->space, pose ? s->turned : s->offset, turns ? 4 : s->dim, i, v.node);
    }
    if (turns) lgv_rotations_matrix(g, v.node);
    return v;
}

static struct lgv_value parameter(struct lgv_parser *p, size_t at, const struct lgv_symbol *s) {
    struct lgv_graph *g = p->g;
    if (s->length && p->kind != '[')
        lgv_parser_error(p, at, "%s is an array of %ld: write %s[i]", s->name, s->length, s->name);
    else if (!s->length && p->kind == '[')
        lgv_parser_error(p, p->start, "%s is not an array", s->name);
    if (p->failed) return number(p, 0);
    if (!s->length) return scalar(lgv_expr_param(g, s->index));
    int i = lgv_parser_subscript(p, s->name, s->length);
    return scalar(lgv_expr_entry(g, lgv_expr_iop(g, LGV_IADD, i, lgv_expr_iconst(g, s->index - 1)), s->index));
}

/* A value made inside `outer` loops, used at the present place: its own loops move inside all loops around it. */
static struct lgv_value inside(struct lgv_parser *p, struct lgv_value v, int outer) {
    for (int k = 0; k < v.dim; k++) v.node[k] = lgv_loops_shift(p->g, v.node[k], outer, p->nloops - outer);
    return v;
}

/* Brackets are nested through primary and its callers, names are not: their variables stay out of that stack. */
static __attribute__((noinline)) struct lgv_value name_value(struct lgv_parser *p) {
    char name[LGV_MAX_NAME];
    size_t at = p->start;
    memcpy(name, p->name, sizeof name);
    lgv_parser_next(p);
    if (p->kind == '(') {
        lgv_parser_next(p);
        return call(p, at, name);
    }
    for (int k = 0; k < p->nformals; k++)
        if (strcmp(p->formal[k], name) == 0) return inside(p, p->actual[k], p->outer);
    for (int k = p->nloops; k-- > 0;)
        if (strcmp(p->loop[k].name, name) == 0) return scalar(lgv_expr_index(p->g, lgv_expr_ivar(p->g, k)));
    const struct lgv_symbol *s = lgv_scope_use(p->scope, name);
    if (!s) {
        if (strcmp(name, "pi") == 0) return number(p, 3.14159265358979323846);
        if (strcmp(name, "e") == 0) return number(p, 2.71828182845904523536);
        if (strcmp(name, "t") == 0 && (p->scope->allow & LGV_USES_TIME)) return scalar(lgv_expr_time(p->g));
        if (strcmp(name, "t") == 0) {
            lgv_parser_error(p, at, "the time t may not be used in %s", p->scope->place);
            return number(p, 0);
        }
        lgv_parser_unknown_name(p, at, name);
        return number(p, 0);
    }
    if (s->kind == LGV_SYM_PARAMETER) return parameter(p, at, s);
    if (s->kind == LGV_SYM_STATE) return state(p, at, s);
    if (s->kind == LGV_SYM_MACRO || s->kind == LGV_SYM_TABLE) {
        lgv_parser_error(p, at, "%s needs its arguments: write %s(...)", name, name);
        return number(p, 0);
    }
    for (int k = 0; k < s->value.dim; k++)
        if (p->g->node[s->value.node[k]].uses & ~p->scope->allow & (LGV_USES_TIME | (LGV_USES(LGV_DRAWN) - 1))) {
            lgv_parser_error(p, at, "%s depends on what may not be used in %s", name, p->scope->place);
            return number(p, 0);
        }
    return inside(p, s->value, 0);
}

static struct lgv_value primary(struct lgv_parser *p) {
    char b[64];
    if (p->kind == '0') {
        double x = p->number;
        lgv_parser_next(p);
        return number(p, x);
    }
    if (p->kind == 'n') return name_value(p);
    if (lgv_parser_accept(p, '(')) {
        struct lgv_value v = lgv_parser_condition(p);
        lgv_parser_expect(p, ')', "')'");
        return v;
    }
    if (p->kind == '[') {
        size_t at = p->start;
        lgv_parser_next(p);
        struct lgv_value v = {0, {0}};
        do {
            if (v.dim == 3) lgv_parser_error(p, at, "a vector has two or three components");
            if (!p->failed) v.node[v.dim++] = scalar_argument(p, "a vector");
        } while (lgv_parser_accept(p, ','));
        lgv_parser_expect(p, ']', "']'");
        if (v.dim < 2) lgv_parser_error(p, at, "a vector has two or three components");
        return p->failed ? number(p, 0) : v;
    }
    lgv_parser_error(p, p->start, "expected a value, found %s", lgv_parser_token(p, b, sizeof b));
    return number(p, 0);
}

/* The number of the component with that name, or -1. */
static int component_named(const char *name, int dim) {
    int row = name[0] - 'x', column = name[0] ? name[1] - 'x' : 0;
    if (row < 0 || row > 2 || (dim != LGV_MATRIX && row >= dim)) return -1;
    if (dim != LGV_MATRIX) return name[1] ? -1 : row;
    return column < 0 || column > 2 || name[2] ? -1 : 3 * row + column;
}

/* One of the two parts of a body or of its momentum. */
static struct lgv_value part_of(struct lgv_parser *p, struct lgv_value v) {
    static const char *const names[2][2] = {{"rotation", "position"}, {"linear", "angular"}};
    const int pair = v.dim == LGV_PAIR, size[2] = {pair ? 3 : LGV_MATRIX, 3};
    int k = 0;
    while (k < 2 && (p->kind != 'n' || strcmp(p->name, names[pair][k]) != 0)) k++;
    if (k == 2) {
        lgv_parser_error(p, p->start, pair ? "the momentum of a body has .linear and .angular"
                                           : "a body has .position and .rotation");
        return number(p, 0);
    }
    struct lgv_value out = {size[k], {0}};
    memcpy(out.node, v.node + (k ? size[0] : 0), (size_t)size[k] * sizeof *out.node);
    lgv_parser_next(p);
    return out;
}

static struct lgv_value postfix(struct lgv_parser *p) {
    struct lgv_value v = primary(p);
    if (!lgv_parser_accept(p, '.')) return v;
    if (of_body(v)) {
        v = part_of(p, v);
        if (!lgv_parser_accept(p, '.')) return v;
    }
    size_t at = p->start;
    int k = p->kind == 'n' && v.dim > 1 ? component_named(p->name, v.dim) : -1;
    if (!p->failed && k < 0)
        lgv_parser_error(p, at, "%s",
                         v.dim == 1   ? "a number has no components"
                         : v.dim == 2 ? "components are .x .y"
                         : v.dim == 3 ? "components are .x .y .z"
                                      : "entries of a matrix are .xx .xy .xz .yx ... .zz, its transpose is "
                                        "transpose(..)");
    if (p->failed) return number(p, 0);
    lgv_parser_next(p);
    return scalar(v.node[k]);
}

/* An exponent made of parameters is fixed now when it is a whole or half number: x^n with n = 2 becomes x*x. */
static int raised(struct lgv_parser *p, int base, int exponent) {
    unsigned uses = p->g->node[exponent].uses;
    if (uses == LGV_USES_PARAM) {
        lgv_scope_fix(p->scope, exponent);
        struct lgv_evaluator e;
        if (lgv_eval_begin(&e, p->g)) {
            struct lgv_env env = {.par = p->scope->par};
            double x = lgv_eval_node(&e, exponent, &env, NULL);
            lgv_eval_end(&e);
            if (2 * x == floor(2 * x) && fabs(x) <= LGV_MAX_POWER) return lgv_expr_power(p->g, base, x);
        }
    }
    return lgv_expr_pow(p->g, base, exponent);
}

static struct lgv_value unary(struct lgv_parser *p) {
    size_t at = p->start;
    struct lgv_value v;
    if (++p->depth > MAX_DEPTH)
        lgv_parser_error(p, at, "the formula is nested too deeply (more than %d levels)", MAX_DEPTH);
    if (p->failed) {
        v = number(p, 0);
    } else if (lgv_parser_accept(p, '-')) {
        v = unary(p);
        for (int k = 0; k < v.dim; k++) v.node[k] = lgv_expr_scale(p->g, -1, v.node[k]);
    } else if (lgv_parser_accept(p, '+')) {
        v = unary(p);
    } else {
        v = postfix(p);
        size_t power = p->start;
        if (lgv_parser_accept(p, '^')) {
            struct lgv_value e = unary(p);
            if (!p->failed && (v.dim != 1 || e.dim != 1))
                lgv_parser_error(p, power, v.dim > 3 ? "a power needs numbers; the square of a matrix is R*R"
                                                     : "a power needs numbers; the square of a vector is dot(x,x)");
            if (!p->failed) v = defined(p, power, "the power", raised(p, v.node[0], e.node[0]));
        }
    }
    p->depth--;
    return v;
}

static struct lgv_value term(struct lgv_parser *p) {
    struct lgv_value v = unary(p);
    while (!p->failed && (p->kind == '*' || p->kind == '/')) {
        int op = p->kind;
        size_t at = p->start;
        lgv_parser_next(p);
        v = combine(p, at, op, v, unary(p));
    }
    return v;
}

/* Terms of a sum, added up in batches: one at a time would build a new sum for each prefix. */
struct terms {
    struct lgv_arg arg[96];  /* shared by the components: nested sums each have one of these on the stack */
    size_t count, most;      /* of one component */
};

static void add_up(struct lgv_parser *p, struct terms *s, struct lgv_value *v) {
    for (int k = 0; k < v->dim; k++) {
        struct lgv_arg *arg = s->arg + (size_t)k * s->most;
        arg[s->count] = (struct lgv_arg){v->node[k], 1};
        v->node[k] = lgv_expr_sum(p->g, 0, arg, s->count + 1);
    }
    s->count = 0;
}

/* What follows the first term. */
static __attribute__((noinline)) struct lgv_value sum_from(struct lgv_parser *p, struct lgv_value v) {
    struct terms s;
    s.count = 0;
    s.most = v.dim > 3 ? 10 : 32;
    while (!p->failed && (p->kind == '+' || p->kind == '-')) {
        int op = p->kind;
        size_t at = p->start;
        lgv_parser_next(p);
        struct lgv_value w = term(p);
        if (!p->failed && (v.dim != w.dim || of_body(v)))
            lgv_parser_error(p, at, "cannot %s a %s and a %s", op == '+' ? "add" : "subtract", kind_of(v), kind_of(w));
        if (p->failed) return number(p, 0);
        for (int k = 0; k < v.dim; k++)
            s.arg[(size_t)k * s.most + s.count] = (struct lgv_arg){w.node[k], op == '+' ? 1 : -1};
        if (++s.count == s.most - 1) add_up(p, &s, &v);
    }
    add_up(p, &s, &v);
    return v;
}

struct lgv_value lgv_parser_expression(struct lgv_parser *p) {
    struct lgv_value v = term(p);
    return p->failed || (p->kind != '+' && p->kind != '-') ? v : sum_from(p, v);
}

bool lgv_decimal_comma(const char *text, size_t at) {
    return at > 0 && text[at] == ',' && isdigit((unsigned char)text[at - 1]) && isdigit((unsigned char)text[at + 1]);
}

bool lgv_formula_parse(const struct lgv_scope *scope, const char *text, struct lgv_value *out, int *nest,
                       struct lgv_formula_error *err) {
    char b[64];
    struct lgv_parser p = {.scope = scope, .g = scope->graph, .text = text, .err = err};
    *err = (struct lgv_formula_error){0};
    *out = scalar(0);
    if (nest) *nest = -1;
    if (strlen(text) > 100000) lgv_parser_error(&p, 0, "the formula is longer than 100000 characters");
    lgv_parser_next(&p);
    bool family = nest && p.kind == 'n' && strcmp(p.name, "each") == 0;
    if (family) {
        lgv_parser_next(&p);
        lgv_parser_expect(&p, '(', "'('");
        *nest = lgv_parser_loops(&p);
    }
    *out = lgv_parser_expression(&p);
    if (family) lgv_parser_expect(&p, ')', "')'");
    if (!p.failed && p.kind)
        lgv_parser_error(&p, p.start, "unexpected %s%s", lgv_parser_token(&p, b, sizeof b),
                         p.kind == '=' || p.kind == 'q' ? "; for the equation a = b write a - b"
                         : p.kind && strchr("<>lg!", p.kind)
                             ? "; a comparison stands in brackets, (a < b) is 1 where it holds and else 0"
                         : (p.kind == 'n' && strcmp(p.name, "and") != 0 && strcmp(p.name, "or") != 0) ||
                                 p.kind == '0' || p.kind == '('
                             ? "; there is no implied product: write a*b for a b"
                         : p.kind == '%' ? "; the remainder of a/b is mod(a, b)"
                         : p.kind == ',' && lgv_decimal_comma(text, p.start) ? "; " LGV_DECIMAL_COMMA
                                                                             : "");
    if (!p.failed && scope->graph->failed) lgv_parser_error(&p, 0, "%s", scope->graph->failed);
    for (int k = 0; !p.failed && k < out->dim; k++) {
        double x;
        if (lgv_expr_is_const(p.g, out->node[k], &x) && !isfinite(x))
            lgv_parser_error(&p, 0, "the value of this formula is not a finite number");
    }
    return !p.failed;
}
