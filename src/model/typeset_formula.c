/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Formulas as pieces: from their text, as it was written, and from the graph, which has them in its canonical form. */
#include "model/formula_parser.h"
#include "model/typeset.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 100

/* ---- from the text ---- */

struct reader {
    struct lgv_typeset *t;
    struct lgv_parser p;
    struct lgv_formula_error why;
    int depth;
};

static struct lgv_typed expression(struct reader *r);
static struct lgv_typed condition(struct reader *r);

static struct lgv_typed broken(struct reader *r) {
    lgv_parser_error(&r->p, r->p.start, "?");
    return (struct lgv_typed){"", LGV_SET_ATOM, false};
}

static const char *relation_of(int kind) {
    return kind == '<'   ? "<"
           : kind == '>' ? ">"
           : kind == 'l' ? "<="
           : kind == 'g' ? ">="
           : kind == 'q' ? "=="
           : kind == '!' ? "!="
           : kind == '=' ? "="
                         : NULL;
}

static bool word(const struct reader *r, const char *text) {
    return r->p.kind == 'n' && strcmp(r->p.name, text) == 0;
}

/* i = 1..N of a sum, or a formula or condition of any kind. */
static struct lgv_typed range_or_condition(struct reader *r, bool *range) {
    struct lgv_typed x = condition(r);
    *range = false;
    if (!lgv_parser_accept(&r->p, '=')) return x;
    struct lgv_typed low = expression(r);
    lgv_parser_expect(&r->p, 'r', "..");
    *range = true;
    return lgv_set_range(r->t, x, low, expression(r));
}

/* Behind "sum(" and "each(": ranges and conditions, then the body. */
static struct lgv_typed indexed(struct reader *r, bool sum) {
    struct lgv_typed part[LGV_SET_MOST], above[2];
    size_t count = 0;
    bool range;
    do {
        if (count == LGV_SET_MOST) return broken(r);
        part[count++] = range_or_condition(r, &range);
    } while (lgv_parser_accept(&r->p, ','));
    lgv_parser_expect(&r->p, ')', ")");
    if (r->p.failed || count < 2) return broken(r);
    if (sum) return lgv_set_big_sum(r->t, part, count - 1, part[count - 1]);
    above[0] = part[count - 1];
    for (size_t k = 0; k + 1 < count; k++) above[0] = lgv_set_relation(r->t, above[0], "for", part[k]);
    return above[0];
}

static struct lgv_typed choice(struct reader *r) {
    struct lgv_typed x[3];
    for (int k = 0; k < 3; k++) {
        if (k) lgv_parser_expect(&r->p, ',', ",");
        x[k] = k ? expression(r) : condition(r);
    }
    lgv_parser_expect(&r->p, ')', ")");
    return r->p.failed ? broken(r) : lgv_set_choice(r->t, x[0], x[1], x[2]);
}

static struct lgv_typed call(struct reader *r, const char *name) {
    struct lgv_typed arg[LGV_SET_MOST];
    size_t count = 0;
    if (strcmp(name, "sum") == 0 || strcmp(name, "each") == 0) return indexed(r, name[0] == 's');
    if (strcmp(name, "if") == 0) return choice(r);
    if (r->p.kind != ')') do {
            if (count == LGV_SET_MOST) return broken(r);
            arg[count++] = expression(r);
        } while (lgv_parser_accept(&r->p, ','));
    lgv_parser_expect(&r->p, ')', ")");
    return r->p.failed ? broken(r) : lgv_set_call(r->t, name, arg, count);
}

static struct lgv_typed primary(struct reader *r) {
    struct lgv_typed x, arg[LGV_SET_MOST];
    char name[LGV_MAX_NAME];
    size_t count = 0;
    if (r->p.kind == '0') {
        x = lgv_set_number(r->t, r->p.number);
        lgv_parser_next(&r->p);
        return x;
    }
    if (r->p.kind == 'n') {
        memcpy(name, r->p.name, sizeof name);
        lgv_parser_next(&r->p);
        if (lgv_parser_accept(&r->p, '(')) return call(r, name);
        x = lgv_set_name(r->t, name);
        if (!lgv_parser_accept(&r->p, '[')) return x;
        x = lgv_set_entry(r->t, x, expression(r));
        lgv_parser_expect(&r->p, ']', "]");
        return x;
    }
    if (lgv_parser_accept(&r->p, '(')) {
        x = condition(r);
        lgv_parser_expect(&r->p, ')', ")");
        return x; /* it gets brackets again where it needs them */
    }
    if (!lgv_parser_accept(&r->p, '[')) return broken(r);
    do {
        if (count == LGV_SET_MOST) return broken(r);
        arg[count++] = expression(r);
    } while (lgv_parser_accept(&r->p, ','));
    lgv_parser_expect(&r->p, ']', "]");
    return lgv_set_vector(r->t, arg, count);
}

static struct lgv_typed unary(struct reader *r) {
    if (++r->depth > MAX_DEPTH || r->p.failed) return broken(r);
    struct lgv_typed x;
    if (lgv_parser_accept(&r->p, '-')) {
        x = lgv_set_negative(unary(r));
    } else if (lgv_parser_accept(&r->p, '+')) {
        x = unary(r);
    } else {
        x = primary(r);
        while (lgv_parser_accept(&r->p, '.')) {
            if (r->p.kind != 'n') return broken(r);
            x = lgv_set_part(r->t, x, r->p.name);
            lgv_parser_next(&r->p);
        }
        if (lgv_parser_accept(&r->p, '^')) x = lgv_set_power(r->t, x, unary(r));
    }
    r->depth--;
    return x;
}

/* a*b/c*d is (a b d)/c. */
static struct lgv_typed term(struct reader *r) {
    struct lgv_typed over[LGV_SET_MOST], under[LGV_SET_MOST];
    size_t above = 0, below = 0;
    int op = '*';
    over[above++] = unary(r);
    while (!r->p.failed && (r->p.kind == '*' || r->p.kind == '/' || r->p.kind == '%')) {
        op = r->p.kind;
        if (op == '%' || above == LGV_SET_MOST || below == LGV_SET_MOST) return broken(r);
        lgv_parser_next(&r->p);
        if (op == '*') over[above++] = unary(r);
        else under[below++] = unary(r);
    }
    return above == 1 && below == 0 ? over[0] : lgv_set_product(r->t, over, above, under, below);
}

static struct lgv_typed expression(struct reader *r) {
    struct lgv_typed *x = lgv_new(1, sizeof *x), first = term(r), out;
    size_t count = 0, capacity = 1;
    if (!x) return broken(r);
    x[count++] = first;
    while (!r->p.failed && (r->p.kind == '+' || r->p.kind == '-')) {
        bool minus = r->p.kind == '-';
        lgv_parser_next(&r->p);
        struct lgv_typed next = term(r);
        if (!lgv_grow(&x, &capacity, count + 1, sizeof *x)) r->t->failed = r->p.failed = true;
        else x[count++] = minus ? lgv_set_negative(next) : next;
    }
    out = r->p.failed ? broken(r) : lgv_set_sum(r->t, x, count);
    free(x);
    return out;
}

/* Comparisons, also a < b < c, with not, and, or. */
static struct lgv_typed comparison(struct reader *r) {
    if (++r->depth > MAX_DEPTH || r->p.failed) return broken(r);
    if (word(r, "not")) {
        lgv_parser_next(&r->p);
        struct lgv_typed x = comparison(r);
        r->depth--;
        return lgv_set_made(r->t, LGV_SET_RELATION,
                            LGV_FORMS("not (@1)", "\\neg\\left(@1\\right)",
                                      "<mrow><mo>¬</mo><mo>(</mo>@1<mo>)</mo></mrow>"),
                            x.text, "", "");
    }
    struct lgv_typed x = expression(r);
    for (const char *sign; !r->p.failed && r->p.kind != '=' && (sign = relation_of(r->p.kind));) {
        lgv_parser_next(&r->p);
        x = lgv_set_relation(r->t, x, sign, expression(r));
    }
    r->depth--;
    return x;
}

static struct lgv_typed conjunction(struct reader *r) {
    struct lgv_typed x = comparison(r);
    while (!r->p.failed && word(r, "and")) {
        lgv_parser_next(&r->p);
        x = lgv_set_relation(r->t, x, "and", comparison(r));
    }
    return x;
}

static struct lgv_typed condition(struct reader *r) {
    struct lgv_typed x = conjunction(r);
    while (!r->p.failed && word(r, "or")) {
        lgv_parser_next(&r->p);
        x = lgv_set_relation(r->t, x, "or", conjunction(r));
    }
    return x;
}

/* What is no formula: "kinetic energy + ...". */
static struct lgv_typed verbatim(struct lgv_typeset *t, const char *text) {
    struct lgv_text out = {0};
    static const char *const begin[] = {"", "\\texttt{", "<mtext>"}, *const end[] = {"", "}", "</mtext>"};
    lgv_text_add(&out, "%s", begin[t->markup]);
    for (const char *s = text; *s; s++) {
        bool special = t->markup == LGV_LATEX && strchr("\\{}_^&%$#~", *s);
        if (special) lgv_text_add(&out, "\\char%d ", *s);
        else if (t->markup == LGV_MATHML && *s == '<') lgv_text_add(&out, "&lt;");
        else if (t->markup == LGV_MATHML && *s == '&') lgv_text_add(&out, "&amp;");
        else lgv_text_append(&out, s, 1);
    }
    lgv_text_add(&out, "%s", end[t->markup]);
    struct lgv_typed p = lgv_set_made(t, LGV_SET_SUM, LGV_FORMS("@1", "@1", "@1"), out.data ? out.data : "", "", "");
    t->failed = t->failed || out.failed;
    lgv_text_free(&out);
    return p;
}

struct lgv_typed lgv_set_text(struct lgv_typeset *t, const char *formula) {
    struct reader r = {.t = t, .p = {.text = formula}};
    r.p.err = &r.why;
    lgv_parser_next(&r.p);
    if (strncmp(formula, "table(", 6) == 0) return verbatim(t, formula); /* with the name of a file */
    struct lgv_typed x = condition(&r);
    return r.p.failed || r.p.kind ? verbatim(t, formula) : x;
}

/* ---- from the graph ---- */

static struct lgv_typed reference(struct lgv_typeset *t, const struct lgv_model *m, const struct lgv_node *n) {
    const struct lgv_inode index = m->graph->inode[n->aux];
    const size_t k = (size_t)index.value;
    char text[80] = "?";
    if (index.op == LGV_ICONST && n->count == LGV_Q && k < m->nx) return lgv_set_text(t, m->component[k]);
    if (index.op == LGV_ICONST && n->count == LGV_P && k < m->np) return lgv_set_text(t, m->component[m->nx + k]);
    if (index.op == LGV_ICONST && n->count == LGV_V && k < m->np && m->velocity_name)
        return lgv_set_text(t, m->velocity_name[k]);
    if (index.op == LGV_ICONST && n->count == LGV_LAMBDA) snprintf(text, sizeof text, "lambda[%zu]", k + 1);
    if (index.op == LGV_ICONST && n->count == LGV_BROWN) snprintf(text, sizeof text, "W[%zu]", k + 1);
    return lgv_set_text(t, text);
}

/* Parameters stand first in a product, then the time, the state, functions, sums. */
static int rank_of(const struct lgv_graph *g, int node) {
    const struct lgv_node *n = &g->node[node];
    return n->op == LGV_PARAM  ? 0
           : n->op == LGV_TIME ? 1
           : n->op == LGV_REF  ? 2
           : n->op == LGV_SUM  ? 4
                               : 3;
}

static struct lgv_typed factor(struct lgv_typeset *t, const struct lgv_model *m, int node, double exponent) {
    struct lgv_typed x = lgv_set_node(t, m, node);
    if (exponent == 1) return x;
    if (exponent == 0.5) return lgv_set_call(t, "sqrt", &x, 1);
    return lgv_set_power(t, x, lgv_set_rational(t, exponent));
}

/* 2 pi says more than 6.283185307179586: the power of pi in a number, which is left without it. */
static int power_of_pi(double *size) {
    static const int power[] = {1, -1, 2, -2};
    char text[40];
    if (strlen(lgv_exact(text, sizeof text, *size)) < 14) return 0;
    for (int k = 0; k < 4; k++)
        for (int d = 1; d <= 12; d++) {
            const double x = *size / pow(M_PI, power[k]) * d, n = round(x);
            if (n < 1 || n > 1000 || fabs(x - n) > 2e-15 * n) continue;
            *size = n / d;
            return power[k];
        }
    return 0;
}

/* coefficient times the factors of a product, or times one node. */
static struct lgv_typed scaled(struct lgv_typeset *t, const struct lgv_model *m, double coefficient, int node) {
    const struct lgv_graph *g = m->graph;
    const struct lgv_node n = g->node[node];
    struct lgv_typed over[LGV_SET_MOST], under[LGV_SET_MOST];
    size_t above = 0, below = 0;
    double size = coefficient < 0 ? -coefficient : coefficient;
    const int pi = power_of_pi(&size);
    double inverse = 1 / size, number = size, divisor = 1;
    for (int d = 2; d <= 12 && size != (double)(long)size && divisor == 1; d++)
        if (size < 1e6 && size * d == (double)(long)(size * d) && (double)(long)(size * d) / d == size)
            number = size * d, divisor = d;
    if (divisor == 1 && size < 1 && inverse < 1e6 && inverse == (double)(long)inverse && 1 / inverse == size)
        number = 1, divisor = inverse;
    if (number != 1) over[above++] = lgv_set_number(t, number);
    if (divisor != 1) under[below++] = lgv_set_number(t, divisor);
    for (int k = 0; k < abs(pi); k++) *(pi > 0 ? &over[above++] : &under[below++]) = lgv_set_name(t, "pi");
    const struct lgv_arg one = {node, 1}, *arg = n.op == LGV_PRODUCT ? g->arg + n.first : &one;
    const int count = n.op == LGV_PRODUCT ? n.count : 1;
    for (int rank = 0; rank <= 4; rank++)
        for (int k = 0; k < count && above + 2 < LGV_SET_MOST && below + 2 < LGV_SET_MOST; k++) {
            if (rank_of(g, arg[k].node) != rank) continue;
            if (arg[k].factor > 0) over[above++] = factor(t, m, arg[k].node, arg[k].factor);
            else under[below++] = factor(t, m, arg[k].node, -arg[k].factor);
        }
    struct lgv_typed p = above == 1 && below == 0 ? over[0] : lgv_set_product(t, over, above, under, below);
    return coefficient < 0 ? lgv_set_negative(p) : p;
}

static struct lgv_typed sum_node(struct lgv_typeset *t, const struct lgv_model *m, const struct lgv_node *n) {
    const size_t count = (size_t)n->count;
    struct lgv_typed *x = lgv_new(count + 1, sizeof *x), out = {"", LGV_SET_ATOM, false};
    if (!x) {
        t->failed = true;
        return out;
    }
    size_t used = 0;
    for (int sign = 1; sign >= -1; sign -= 2) { /* what is added first: a - b, not -b + a */
        if (sign * n->value > 0 && sign > 0 && count == 1) x[used++] = lgv_set_number(t, n->value);
        for (size_t k = 0; k < count; k++) {
            const struct lgv_arg a = m->graph->arg[n->first + (int)k];
            if (a.factor * sign > 0) x[used++] = scaled(t, m, a.factor, a.node);
        }
    }
    if (n->value != 0 && !(n->value > 0 && count == 1)) x[used++] = lgv_set_number(t, n->value);
    out = lgv_set_sum(t, x, used);
    free(x);
    return out;
}

struct lgv_typed lgv_set_node(struct lgv_typeset *t, const struct lgv_model *m, int node) {
    static const char *const names[] = {
        [LGV_EXP] = "exp",   [LGV_LOG] = "log",   [LGV_SIN] = "sin",   [LGV_COS] = "cos",   [LGV_TAN] = "tan",
        [LGV_ASIN] = "asin", [LGV_ACOS] = "acos", [LGV_ATAN] = "atan", [LGV_SINH] = "sinh", [LGV_COSH] = "cosh",
        [LGV_TANH] = "tanh", [LGV_ABS] = "abs",   [LGV_SIGN] = "sign", [LGV_ERF] = "erf",   [LGV_FLOOR] = "floor",
        [LGV_ATAN2] = "atan2", [LGV_LOWER] = "min", [LGV_UPPER] = "max"};
    const struct lgv_node n = m->graph->node[node];
    struct lgv_typed x[3] = {{"", LGV_SET_ATOM, false}, {"", LGV_SET_ATOM, false}, {"", LGV_SET_ATOM, false}};
    const struct lgv_arg *arg;
    switch (n.op) {
    case LGV_CONST: return lgv_set_rational(t, n.value);
    case LGV_PARAM: return lgv_set_text(t, m->par_name[n.aux]);
    case LGV_TIME: return lgv_set_name(t, "t");
    case LGV_REF: return reference(t, m, &n);
    case LGV_SUM:
        arg = m->graph->arg + n.first;
        return n.count == 1 && n.value == 0 ? scaled(t, m, arg->factor, arg->node) : sum_node(t, m, &n);
    case LGV_PRODUCT: return scaled(t, m, 1, node);
    default: break;
    }
    for (int k = 0; k < n.count && k < 3; k++) x[k] = lgv_set_node(t, m, m->graph->arg[n.first + k].node);
    if (n.op == LGV_POW) return lgv_set_power(t, x[0], x[1]);
    if (n.op == LGV_PICK) return lgv_set_choice(t, x[0], x[1], x[2]);
    if (n.op == LGV_TABLE) { /* V'(x) */
        char table[LGV_MAX_NAME + 8];
        snprintf(table, sizeof table, "%s%.*s", m->graph->tabulated[n.aux].name, (int)n.value, "''''''");
        return lgv_set_call(t, table, x, 1);
    }
    if ((n.op == LGV_LOWER || n.op == LGV_UPPER) && n.condition) /* of conditions */
        return lgv_set_relation(t, x[0], n.op == LGV_LOWER ? "and" : "or", x[1]);
    if (n.op == LGV_LESS) return lgv_set_relation(t, x[0], "<", x[1]); /* as a number it is Iverson's bracket */
    const char *name = (size_t)n.op < sizeof names / sizeof *names ? names[n.op] : NULL;
    return lgv_set_call(t, name ? name : "?", x, (size_t)(n.count < 2 ? n.count : 2));
}
