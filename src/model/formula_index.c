/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The integer half of the formula language: subscripts, loop ranges and conditions, and declarations of names. */
#include "model/formula_parser.h"
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int index_expression(struct lgv_parser *p, long length);

static int index_call(struct lgv_parser *p, size_t at, const char *name, long length) {
    struct lgv_graph *g = p->g;
    int a = index_expression(p, length), b = -1;
    if (lgv_parser_accept(p, ',')) b = index_expression(p, length);
    lgv_parser_expect(p, ')', "')'");
    if (p->failed) return 0;
    if (b < 0 && length > 0 && strcmp(name, "wrap") == 0) b = lgv_expr_iconst(g, length);
    if (b < 0) {
        lgv_parser_error(p, at, "%s needs a second argument here", name);
        return 0;
    }
    if (g->inode[b].op == LGV_ICONST && g->inode[b].value <= 0) {
        lgv_parser_error(p, at, "the second argument of %s must be positive", name);
        return 0;
    }
    if (strcmp(name, "mod") == 0) return lgv_expr_iop(g, LGV_IMOD, a, b);
    int one = lgv_expr_iconst(g, 1), minus = lgv_expr_iconst(g, -1);
    return lgv_expr_iop(g, LGV_IADD, lgv_expr_iop(g, LGV_IMOD, lgv_expr_iop(g, LGV_IADD, a, minus), b), one);
}

static int index_name(struct lgv_parser *p, long length) {
    char name[LGV_MAX_NAME];
    size_t at = p->start;
    memcpy(name, p->name, sizeof name);
    lgv_parser_next(p);
    if (p->kind == '(' && (strcmp(name, "mod") == 0 || strcmp(name, "wrap") == 0)) {
        lgv_parser_next(p);
        return index_call(p, at, name, length);
    }
    for (int k = p->nloops; k-- > 0;)
        if (strcmp(p->loop[k].name, name) == 0) return lgv_expr_ivar(p->g, k);
    for (int k = 0; k < p->nformals; k++) {
        if (strcmp(p->formal[k], name) != 0) continue;
        const struct lgv_node n = p->g->node[p->actual[k].node[0]];
        if (p->actual[k].dim == 1 && n.op == LGV_INDEX) return n.aux;
        if (p->actual[k].dim == 1 && n.op == LGV_CONST && n.value == floor(n.value) && fabs(n.value) < 1e9)
            return lgv_expr_iconst(p->g, (long)n.value);
        lgv_parser_error(p, at, "%s is not a whole number here", name);
        return 0;
    }
    struct lgv_symbol *s = lgv_scope_use(p->scope, name);
    if (s && s->kind == LGV_SYM_PARAMETER && !s->length) {
        s->fixed = true;
        if (lgv_expr_drawn(p->g, s->index) >= 0)
            lgv_parser_error(p, at, "%s is random and cannot be used as an index", name);
        if (s->number == floor(s->number) && fabs(s->number) < 1e9) return lgv_expr_iconst(p->g, (long)s->number);
        lgv_parser_error(p, at, "the parameter %s = %g is used as an index and must be a whole number%s", name,
                         s->number, s->number == floor(s->number) ? " below 1e9" : "");
        return 0;
    }
    double x;
    if (s && s->kind == LGV_SYM_VALUE && s->value.dim == 1 && lgv_expr_is_const(p->g, s->value.node[0], &x) &&
        x == floor(x) && fabs(x) < 1e9)
        return lgv_expr_iconst(p->g, (long)x);
    lgv_parser_error(p, at, s ? "%s may not be used in an index" : "unknown index %s", name);
    return 0;
}

static int index_factor(struct lgv_parser *p, long length) {
    if (++p->depth > 200) lgv_parser_error(p, p->start, "the index is nested too deeply");
    int r = 0;
    if (p->failed) {
        r = 0;
    } else if (lgv_parser_accept(p, '-')) {
        r = lgv_expr_iop(p->g, LGV_IMUL, index_factor(p, length), lgv_expr_iconst(p->g, -1));
    } else if (lgv_parser_accept(p, '(')) {
        r = index_expression(p, length);
        lgv_parser_expect(p, ')', "')'");
    } else if (p->kind == 'n') {
        r = index_name(p, length);
    } else if (p->kind == '0') {
        if (p->number != floor(p->number)) {
            lgv_parser_error(p, p->start, "an index must be a whole number");
        } else if (p->number > 1e9) {
            lgv_parser_error(p, p->start, "an index may be at most 1000000000");
        } else {
            r = lgv_expr_iconst(p->g, (long)p->number);
            lgv_parser_next(p);
        }
    } else {
        lgv_parser_error(p, p->start, "expected an index");
    }
    p->depth--;
    return r;
}

static int index_term(struct lgv_parser *p, long length) {
    int a = index_factor(p, length);
    while (!p->failed && (p->kind == '*' || p->kind == '/' || p->kind == '%')) {
        int op = p->kind;
        size_t at = p->start;
        lgv_parser_next(p);
        int b = index_factor(p, length);
        if (p->failed) return 0;
        if (op != '*' && (p->g->inode[b].op != LGV_ICONST || p->g->inode[b].value <= 0)) {
            lgv_parser_error(p, at, "the divisor of an index must be a positive constant");
            return 0;
        }
        a = lgv_expr_iop(p->g, op == '*' ? LGV_IMUL : op == '/' ? LGV_IDIV : LGV_IMOD, a, b);
    }
    return a;
}

/* length: of the array being indexed, for wrap(i) with one argument; 0 elsewhere. */
static int index_expression(struct lgv_parser *p, long length) {
    int a = index_term(p, length);
    while (!p->failed && (p->kind == '+' || p->kind == '-')) {
        int op = p->kind;
        lgv_parser_next(p);
        int b = index_term(p, length);
        if (op == '-') b = lgv_expr_iop(p->g, LGV_IMUL, b, lgv_expr_iconst(p->g, -1));
        a = lgv_expr_iop(p->g, LGV_IADD, a, b);
    }
    if (!p->failed && p->g->failed) lgv_parser_error(p, p->start, "%s", p->g->failed);
    return p->failed ? 0 : a;
}

/* ---- loops ---- */

static int nest_here(struct lgv_parser *p, int base, int cond) {
    struct lgv_level level[LGV_MAX_LOOPS];
    for (int k = base; k < p->nloops; k++) level[k - base] = p->loop[k].level;
    return lgv_expr_nest(p->g, base, level, p->nloops - base, p->cond + cond, p->nconds - cond);
}

/* Is a loop "name = low .. high" or a condition "i < j" next?  A body may begin with a name too: look ahead. */
static bool range_follows(const struct lgv_parser *p) {
    struct lgv_parser q = *p;
    struct lgv_formula_error ignore;
    q.err = &ignore;
    if (q.kind != 'n') return false;
    lgv_parser_next(&q);
    bool named = q.kind == '=';
    while (named && q.pairs && q.kind && q.kind != 'r' && q.kind != ',') lgv_parser_next(&q); /* d = x[i] - x[j] */
    return named && (!q.pairs || q.kind == 'r');
}

static bool condition_follows(const struct lgv_parser *p) {
    struct lgv_parser q = *p;
    struct lgv_formula_error ignore;
    q.err = &ignore;
    for (int depth = 0; q.kind; lgv_parser_next(&q)) {
        if (q.kind == '(' || q.kind == '[') depth++;
        if (q.kind == ')' || q.kind == ']') depth--;
        if (depth < 0 || (depth == 0 && q.kind == ',')) return false;
        if (depth == 0 && strchr("<>lgq!", q.kind)) return true;
    }
    return false;
}

static void read_range(struct lgv_parser *p) {
    if (p->nloops == LGV_MAX_LOOPS) {
        lgv_parser_error(p, p->start, "more than %d nested loops", LGV_MAX_LOOPS);
        return;
    }
    for (int k = 0; k < p->nloops; k++)
        if (strcmp(p->loop[k].name, p->name) == 0) lgv_parser_error(p, p->start, "the index %s is in use", p->name);
    for (int k = 0; k < p->nformals; k++)
        if (strcmp(p->formal[k], p->name) == 0) lgv_parser_error(p, p->start, "the index %s is in use", p->name);
    char name[LGV_MAX_NAME];
    memcpy(name, p->name, sizeof name);
    lgv_parser_next(p);
    lgv_parser_expect(p, '=', "'='");
    struct lgv_level level;
    level.low = index_expression(p, 0);
    lgv_parser_expect(p, 'r', "'..'");
    level.high = index_expression(p, 0);
    if (p->failed) return;
    memcpy(p->loop[p->nloops].name, name, sizeof name);
    p->loop[p->nloops++].level = level;
}

static void read_condition(struct lgv_parser *p) {
    if (p->nconds == LGV_MAX_CONDITIONS) {
        lgv_parser_error(p, p->start, "more than %d conditions", LGV_MAX_CONDITIONS);
        return;
    }
    int a = index_expression(p, 0);
    int op = p->kind;
    lgv_parser_next(p);
    int b = index_expression(p, 0);
    if (p->failed) return;
    bool swap = op == '>' || op == 'g';
    p->cond[p->nconds++] = (struct lgv_condition){op == '>' || op == '<'   ? '<'
                                                  : op == 'g' || op == 'l' ? 'l'
                                                  : op == 'q'              ? '='
                                                                           : '!',
                                                  swap ? b : a, swap ? a : b};
}

int lgv_parser_loops(struct lgv_parser *p) {
    int base = p->nloops, cond = p->nconds;
    size_t at = p->start;
    if (!range_follows(p)) {
        lgv_parser_error(p, at, "expected a range like i=1..N");
        return 0;
    }
    while (!p->failed) {
        if (range_follows(p))
            read_range(p);
        else if (condition_follows(p))
            read_condition(p);
        else
            break;
        lgv_parser_expect(p, ',', "',' and what to sum");
    }
    if (p->failed) return 0;
    if (p->pairs) return nest_here(p, base, cond); /* counted by its points */
    const int all = nest_here(p, 0, 0);
    if (p->g->failed) return lgv_parser_error(p, at, "%s", p->g->failed), 0;
    p->steps = lgv_loops_steps(p->g, all, LGV_MAX_INSTANCES);
    if (p->steps < 0) lgv_parser_error(p, at, "this sum has more than %d terms", LGV_MAX_INSTANCES);
    if (!p->failed && !lgv_expr_work(p->g, p->steps)) lgv_parser_error(p, at, "%s", p->g->failed);
    if (p->failed) return 0;
    return nest_here(p, base, cond);
}

struct bounds {
    const struct lgv_graph *g;
    int index;
    long length, bad;
    bool found;
    long vars[LGV_MAX_LOOPS];
};

static bool within(void *user, const long *vars) {
    struct bounds *b = user;
    long i = lgv_loops_index(b->g, b->index, vars);
    if (i >= 1 && i <= b->length) return true;
    b->bad = i;
    b->found = true;
    memcpy(b->vars, vars, sizeof b->vars);
    return false;
}

/* In pairs(...) a subscript knows one of the two indices: their ranges are walked through one after the other. */
static void check_pairs(struct lgv_parser *p, size_t at, struct bounds *b) {
    long low[2], high[2], vars[LGV_MAX_LOOPS] = {0};
    unsigned known = lgv_index_vars(p->g, b->index);
    if (known == 3) {
        lgv_parser_error(p, at, "a subscript in pairs(...) may know one of its two indices only");
        return;
    }
    lgv_near_ranges(p->g, nest_here(p, 0, 0), low, high);
    for (int k = 0; k < 2; k++) {
        if (!(known & 1u << k) || !lgv_expr_work(p->g, high[k] - low[k] + 1)) continue;
        for (vars[k] = low[k]; vars[k] <= high[k] && within(b, vars);) vars[k]++;
    }
}

int lgv_parser_subscript(struct lgv_parser *p, const char *array, long length) {
    lgv_parser_expect(p, '[', "'['");
    size_t at = p->start;
    int index = index_expression(p, length);
    lgv_parser_expect(p, ']', "']'");
    if (p->failed) return 0;
    struct bounds b = {.g = p->g, .index = index, .length = length};
    static const long none[LGV_MAX_LOOPS];
    if (p->pairs && p->g->inode[index].vars) {
        check_pairs(p, at, &b);
    } else if (p->nloops && p->g->inode[index].vars) {
        if (lgv_expr_work(p->g, p->steps)) lgv_loops_each(p->g, nest_here(p, 0, 0), LONG_MAX, within, &b);
    } else {
        within(&b, none);
    }
    if (b.found && p->nloops && p->g->inode[index].vars) {
        char where[128] = "";
        for (int k = 0; k < p->nloops; k++) {
            size_t used = strlen(where);
            snprintf(where + used, sizeof where - used, "%s%s=%ld", k ? ", " : "", p->loop[k].name, b.vars[k]);
        }
        lgv_parser_error(p, at, "index %ld is outside 1..%ld of %s (at %s); wrap(i+1) makes an index periodic", b.bad,
                         length, array, where);
    } else if (b.found) {
        lgv_parser_error(p, at, "index %ld is outside 1..%ld of %s", b.bad, length, array);
    }
    return p->failed ? lgv_expr_iconst(p->g, 1) : index;
}

/* ---- declarations ---- */

bool lgv_formula_is_name(const char *text) {
    size_t i = lgv_formula_letter(text);
    if (!i) return false;
    for (size_t n; (n = lgv_formula_in_name(text + i)) > 0;) i += n;
    return !text[i] && i < LGV_MAX_NAME;
}

/* What follows `in`: a space, with the words and signs that belong to it. */
static int declared_space(struct lgv_parser *p) {
    static const struct {
        const char *name;
        int dim, star; /* with a star behind it: of the dual */
    } space[] = {{"R1", 1, 0}, {"R2", 2, 0}, {"R3", 3, 0}, {"SO3", 4, 0}, {"SE3", LGV_POSE, 0},
                 {"so3", LGV_SO3_DUAL, 1}, {"se3", LGV_SE3_DUAL, 1}};
    const size_t count = sizeof space / sizeof *space;
    size_t k = 0;
    while (k < count && !(p->kind == 'n' && strcmp(p->name, space[k].name) == 0)) k++;
    if (k == count) {
        lgv_parser_error(p, p->start, "expected R2, R3, SO3 or SE3; so3* or se3* of momenta alone");
        return 1;
    }
    lgv_parser_next(p);
    if (space[k].star && !p->failed)
        lgv_parser_expect(p, '*', "'*': momenta are in so3* or se3*, coordinates in SO3 or SE3");
    if (space[k].dim != LGV_POSE || p->kind != 'n' || strcmp(p->name, "coupled") != 0) return space[k].dim;
    lgv_parser_next(p);
    return LGV_COUPLED;
}

bool lgv_formula_declaration(const struct lgv_scope *scope, const char *text, char *name, size_t size, long *length,
                             int *dim, struct lgv_formula_error *err) {
    struct lgv_parser p = {.scope = scope, .g = scope->graph, .text = text, .err = err};
    *err = (struct lgv_formula_error){0};
    *length = 0;
    *dim = 1;
    lgv_parser_next(&p);
    if (p.kind != 'n' || p.name[0] == '_')
        lgv_parser_error(&p, p.start, "expected a name like q, x[N], x in R3, x[N] in R3, R in SO3 or body in SE3");
    snprintf(name, size, "%s", p.name);
    lgv_parser_next(&p);
    if (lgv_parser_accept(&p, '[')) {
        size_t at = p.start;
        int n = index_expression(&p, 0);
        if (!p.failed && p.g->inode[n].op == LGV_ICONST) *length = p.g->inode[n].value;
        if (!p.failed && (*length < 1 || *length > 1000000))
            lgv_parser_error(&p, at, "the length of %s is %ld; it must lie between 1 and 1000000", name, *length);
        lgv_parser_expect(&p, ']', "']'");
    }
    if (!p.failed && p.kind == 'n' && strcmp(p.name, "in") == 0) {
        lgv_parser_next(&p);
        *dim = declared_space(&p);
    }
    if (!p.failed && p.kind)
        lgv_parser_error(&p, p.start,
                         "expected a name like q, x[N], x in R3, x[N] in R3, R in SO3, body in SE3 or q mod 2*pi");
    return !p.failed;
}

bool lgv_formula_macro_head(const char *text, struct lgv_symbol *out, struct lgv_formula_error *err) {
    struct lgv_parser p = {.text = text, .err = err};
    lgv_parser_next(&p);
    bool ok = p.kind == 'n';
    lgv_parser_next(&p);
    if (!ok || !lgv_parser_accept(&p, '(')) return false;
    do {
        if (out->nformals == LGV_MAX_ARGUMENTS) {
            lgv_parser_error(&p, p.start, "a function has at most %d arguments", LGV_MAX_ARGUMENTS);
            return false;
        }
        if (p.kind != 'n') return false;
        out->formals[out->nformals] = lgv_copy(p.name);
        if (!out->formals[out->nformals]) return false;
        out->nformals++;
        lgv_parser_next(&p);
    } while (lgv_parser_accept(&p, ','));
    return lgv_parser_accept(&p, ')') && !p.kind && !p.failed;
}
