/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over near pairs,
 *
 *     pairs(i=1..N, j=i+1..N, d = x[i] - x[j], f)  =  sum over i, j of S(|d|) f
 *     near(i=1..N, j=i+1..N, d = x[i] - x[j], f)   =  sum over i, j with |d| < R of f
 *
 * where d is the shortest of all periodic images, d - L floor(d/L + 1/2), and S goes from 1 at R - w to 0 at the radius
 * R with two continuous derivatives,
 *
 *     S = 1 - s^3 (10 - 15 s + 6 s^2),  s = (d^2 - (R-w)^2) / (R^2 - (R-w)^2), not below 0 nor above 1.
 *
 * It is a part of the formula, so derivatives of pair sums are derivatives of what is summed.  S is exactly 0 at s = 1,
 * round-off included; pairs farther apart need not be looked at, and the nest says how to find the others. */
#include "model/formula_parser.h"
#include <math.h>
#include <string.h>

static struct lgv_value nothing(struct lgv_parser *p) {
    return (struct lgv_value){1, {lgv_expr_const(p->g, 0)}};
}

/* The rows of the two points: components of d are q[row of i] - q[row of j]. */
static bool find_points(struct lgv_parser *p, size_t at, const struct lgv_value *d, struct lgv_cut *cut) {
    const struct lgv_graph *g = p->g;
    cut->dim = d->dim;
    for (int k = 0; k < 3; k++) cut->row[0][k] = cut->row[1][k] = -1;
    for (int k = 0; k < d->dim; k++) {
        const struct lgv_node *n = &g->node[d->node[k]];
        bool ok = n->op == LGV_SUM && n->count == 2 && n->value == 0 &&
                  g->arg[n->first].factor * g->arg[n->first + 1].factor == -1 && fabs(g->arg[n->first].factor) == 1;
        for (int i = 0; ok && i < 2; i++) {
            const struct lgv_node *x = &g->node[g->arg[n->first + i].node];
            unsigned vars = x->op == LGV_REF && x->count == LGV_Q ? lgv_index_vars(g, x->aux) : 0;
            ok = vars == 1 || vars == 2;
            if (ok) cut->row[vars - 1][k] = x->aux;
        }
        if (!ok || cut->row[0][k] < 0 || cut->row[1][k] < 0) {
            lgv_parser_error(p, at, "expected the difference of a point of the first index and one of the second, "
                                    "like x[i] - x[j]");
            return false;
        }
    }
    return true;
}

/* The nearest periodic image.  It jumps at half a period, where the sum is 0. */
static int image(struct lgv_graph *g, int x, double L, int *jump) {
    if (!(L > 0)) return x;
    *jump = lgv_expr_call1(g, LGV_FLOOR, lgv_expr_add(g, lgv_expr_scale(g, 1 / L, x), lgv_expr_const(g, 0.5)));
    return lgv_expr_sub(g, x, lgv_expr_scale(g, L, *jump));
}

static int switched(struct lgv_graph *g, int square, const struct lgv_cutoff *c, int bend[2]) {
    const double inner = (c->radius - c->width) * (c->radius - c->width), outer = c->radius * c->radius;
    struct lgv_arg part = {square, 1 / (outer - inner)};
    int s = lgv_expr_sum(g, -inner / (outer - inner), &part, 1);
    bend[0] = lgv_expr_call2(g, LGV_UPPER, s, lgv_expr_const(g, 0));
    bend[1] = s = lgv_expr_call2(g, LGV_LOWER, bend[0], lgv_expr_const(g, 1));
    struct lgv_arg rest[] = {{s, -15}, {lgv_expr_power(g, s, 2), 6}};
    int fall = lgv_expr_mul(g, lgv_expr_power(g, s, 3), lgv_expr_sum(g, 10, rest, 2));
    return lgv_expr_sub(g, lgv_expr_const(g, 1), fall);
}

/* name = vector, */
static bool read_distance(struct lgv_parser *p, char *name, struct lgv_cut *cut, struct lgv_value *d) {
    const struct lgv_cutoff *c = &p->scope->cutoff;
    size_t at = p->start;
    bool named = p->kind == 'n';
    memcpy(name, p->name, LGV_MAX_NAME);
    lgv_parser_next(p);
    if (!named || p->kind != '=') {
        lgv_parser_error(p, at, "expected a name for the distance, as in d = x[i] - x[j]");
        return false;
    }
    bool taken = lgv_formula_is_reserved(name) || lgv_scope_find(p->scope, name);
    for (int k = 0; k < p->nloops; k++) taken = taken || strcmp(p->loop[k].name, name) == 0;
    for (int k = 0; k < p->nformals; k++) taken = taken || strcmp(p->formal[k], name) == 0;
    if (taken) lgv_parser_error(p, at, "%s has a meaning already: the distance needs a name of its own", name);
    lgv_parser_next(p);
    at = p->start;
    *d = lgv_parser_expression(p);
    if (p->failed) return false;
    if (d->dim != 2 && d->dim != 3) lgv_parser_error(p, at, "the distance is a vector of R2 or R3");
    if (!p->failed && c->dim > 1 && c->dim != d->dim)
        lgv_parser_error(p, at, "the box of the cutoff has %d sides, and this is a vector of R%d", c->dim, d->dim);
    if (p->failed || !find_points(p, at, d, cut)) return false;
    cut->radius = c->radius;
    cut->skin = c->skin;
    for (int k = 0; k < 3; k++) cut->box[k] = k < d->dim ? c->box[k] : 0;
    for (int k = 0; k < d->dim; k++) d->node[k] = image(p->g, d->node[k], cut->box[k], &cut->kink[k]);
    return lgv_parser_expect(p, ',', "',' and what to sum");
}

/* In a full box it is known how many there will be. */
static void check_density(struct lgv_parser *p, size_t at, int nest, const struct lgv_cut *cut) {
    long low[2], high[2];
    double volume = 1, reach = cut->radius + cut->skin;
    lgv_near_ranges(p->g, nest, low, high);
    double a = (double)(high[0] - low[0] + 1), b = (double)(high[1] - low[1] + 1);
    for (int k = 0; k < cut->dim; k++) volume *= cut->box[k];
    double ball = cut->dim == 3 ? 4.0 / 3 * acos(-1) * reach * reach * reach : acos(-1) * reach * reach;
    double share = volume > 0 && ball < volume ? ball / volume : 1;
    if (volume > 0 && a * b * share / 2 > LGV_MOST_NEAR)
        lgv_parser_error(p, at, "about %.2g pairs are within the radius and its skin, %.3g for each point: more than a "
                                "list can hold (%.2g); the radius is too large for this box, or the box too small",
                         a * b * share / 2, b * share, LGV_MOST_NEAR);
}

/* Ranges without a pair: the sum is 0, and nobody makes a list of nothing. */
static bool has_none(const struct lgv_graph *g, int nest) {
    long low[2], high[2];
    lgv_near_ranges(g, nest, low, high);
    return low[0] > high[0];
}

static struct lgv_value read_pairs(struct lgv_parser *p, bool sharp) {
    struct lgv_graph *g = p->g;
    struct lgv_cut cut = {0};
    struct lgv_value d;
    char name[LGV_MAX_NAME];
    size_t at = p->start;
    int nest = lgv_parser_loops(p);
    if (!p->failed && p->nloops != 2) lgv_parser_error(p, at, "expected two ranges, like i=1..N, j=i+1..N");
    if (p->failed || !read_distance(p, name, &cut, &d)) return nothing(p);
    check_density(p, at, nest, &cut);
    if (p->nformals == LGV_MAX_ARGUMENTS) lgv_parser_error(p, at, "more than %d arguments", LGV_MAX_ARGUMENTS);
    if (p->failed) return nothing(p);
    p->formal[p->nformals] = name;
    p->actual[p->nformals++] = d;
    at = p->start;
    struct lgv_value f = lgv_parser_expression(p);
    p->nformals--;
    lgv_parser_expect(p, ')', "')'");
    if (!p->failed && f.dim != 1) lgv_parser_error(p, at, "expected a number to sum");
    if (!p->failed && g->node[f.node[0]].uses & LGV_USES_LOOP)
        lgv_parser_error(p, at, "a sum may not stand inside pairs(...): write its terms out, in a function of where");
    if (!p->failed && lgv_near_counts(g, f.node[0]))
        lgv_parser_error(p, at, "indices of pairs(...) may be used in subscripts only; for points of several kinds "
                                "write a sum for each pair of kinds");
    if (p->failed || has_none(g, nest)) return nothing(p);
    struct lgv_arg square[3];
    for (int k = 0; k < d.dim; k++) square[k] = (struct lgv_arg){lgv_expr_power(g, d.node[k], 2), 1};
    int r2 = lgv_expr_sum(g, 0, square, (size_t)d.dim);
    int factor = sharp ? lgv_expr_call2(g, LGV_LESS, r2, lgv_expr_const(g, cut.radius * cut.radius))
                       : switched(g, r2, &p->scope->cutoff, &cut.kink[3]);
    int body = lgv_expr_mul(g, factor, f.node[0]);
    return (struct lgv_value){1, {lgv_expr_loop(g, lgv_expr_nest_near(g, nest, &cut), body)}};
}

struct lgv_value lgv_parser_pairs(struct lgv_parser *p, size_t at, const char *name, bool sharp) {
    if (!p->scope->cutoff.given)
        lgv_parser_error(p, at, "%s(...) needs a section cutoff with a radius; without one write sum(i=.., j=.., ...)",
                         name);
    else if (p->nloops)
        lgv_parser_error(p, at, "%s(...) may not stand inside another sum", name);
    else if (sharp && strcmp(p->scope->place, "an observable") != 0 && strcmp(p->scope->place, "an abbreviation") != 0)
        lgv_parser_error(p, at, "near(...) counts pairs up to a sharp edge: it is for observables; pairs(...) is "
                                "switched off smoothly");
    if (p->failed) return nothing(p);
    p->pairs = true;
    struct lgv_value v = read_pairs(p, sharp);
    p->pairs = false;
    p->nloops = p->nconds = 0;
    return v;
}
