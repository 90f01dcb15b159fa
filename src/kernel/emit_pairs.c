/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums whose lanes are instances of one path (text/near.h): all sums over near pairs, and in kernels for fewer paths
 * than lanes other sums over pairs, except those with long rows (emit_rows.c).  LANES values of the innermost index are
 * taken side by side; their terms are added one after the other, so that every sum has the order of the loops.
 *
 * Terms whose row does not know the innermost index are added up in a variable, where it is certain that no other term
 * goes to that row meanwhile. */
#include "kernel/emit.h"
#include <stdlib.h>
#include <string.h>

#define FEW_INSTANCES 32 /* not worth it */
#define SHORT_LOOP 4     /* values of the innermost index, in the mean */

/* ---- which sums ---- */

struct spread {
    long vars[LGV_MAX_LOOPS], outer, all;
    int levels;
};

static bool see(void *user, const long *vars) {
    struct spread *s = user;
    bool same = s->all > 0;
    for (int k = 0; k + 1 < s->levels; k++) same = same && s->vars[k] == vars[k];
    memcpy(s->vars, vars, sizeof s->vars);
    s->all++;
    s->outer += !same;
    return true;
}

/* Of path to path they differ by coordinates and parts only, and the innermost index is no number in them. */
static bool knows_places_only(const struct lgv_graph *g, int node, int inner) {
    unsigned char *mark = lgv_new((size_t)node + 1, 1);
    bool ok = mark != NULL;
    if (ok) mark[node] = 1;
    for (int k = node; ok && k >= 0; k--) {
        const struct lgv_node *n = &g->node[k];
        if (!mark[k]) continue;
        if (n->op == LGV_INDEX || n->op == LGV_ENTRY) ok = !(lgv_index_vars(g, n->aux) & 1u << inner);
        if (n->op == LGV_PARAM || n->op == LGV_ENTRY) ok = ok && lgv_emit_uniform(g, k);
        if (n->op == LGV_REF) ok = n->count == LGV_Q || n->count == LGV_PART || lgv_emit_uniform(g, k);
        for (int i = 0; n->op != LGV_REF && i < n->count; i++) mark[g->arg[n->first + i].node] = 1;
    }
    free(mark);
    return ok;
}

/* Are there enough instances, and enough in a row? */
static bool is_wide(const struct lgv_graph *g, int nest) {
    struct spread s = {.levels = g->nest[nest].count};
    if (s.levels < 2 || g->nest[nest].base) return false;
    lgv_loops_each(g, nest, LGV_MAX_INSTANCES, see, &s);
    return s.all >= FEW_INSTANCES && s.all >= SHORT_LOOP * s.outer;
}

bool lgv_emit_has_pairs(const struct lgv_graph *g) {
    for (int k = 0; k < (int)g->nnests; k++)
        if (!g->nest[k].near && is_wide(g, k)) return true;
    return false;
}

bool lgv_emit_is_over_pairs(const struct lgv_graph *g, const struct lgv_target *target, size_t count, int nest) {
    if (nest < 0 || (!g->pairs && !g->nest[nest].near)) return false;
    if (g->nest[nest].near) return true;
    const int inner = g->nest[nest].count - 1;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < target[k].terms->count; i++) {
            const struct lgv_term *t = &target[k].terms->term[i];
            if (t->nest == nest && (target[k].map || !knows_places_only(g, t->value, inner))) return false;
        }
    return is_wide(g, nest);
}

/* ---- rows ---- */

/* A row as sum of by[k] i_k, + at; false: it is not of that form. */
struct affine {
    long by[LGV_MAX_LOOPS], at;
};

static bool affine(const struct lgv_graph *g, int index, struct affine *out) {
    const struct lgv_inode *n = &g->inode[index];
    struct affine a, b;
    *out = (struct affine){0};
    if (n->op == LGV_ICONST) out->at = n->value;
    if (n->op == LGV_IVAR) out->by[n->a] = 1;
    if (n->op == LGV_ICONST || n->op == LGV_IVAR) return true;
    if ((n->op != LGV_IADD && n->op != LGV_IMUL) || !affine(g, n->a, &a) || !affine(g, n->b, &b)) return false;
    bool add = n->op == LGV_IADD, number = lgv_index_vars(g, n->b) == 0;
    if (!add && !number && lgv_index_vars(g, n->a)) return false;
    long first = add ? 1 : number ? b.at : 0, second = add ? 1 : number ? 0 : a.at;
    for (int k = 0; k < LGV_MAX_LOOPS; k++) out->by[k] = first * a.by[k] + second * b.by[k];
    out->at = add ? a.at + b.at : a.at * b.at;
    return true;
}

/* Is it certain that i_inner - i_0 is never d? */
static bool never_apart_by(const struct lgv_graph *g, int nest, long d) {
    const struct lgv_nest *n = &g->nest[nest];
    const struct lgv_level *level = &g->level[n->first];
    long vars[LGV_MAX_LOOPS] = {0};
    if (n->count != 2) return false;
    for (int k = 0; d == 0 && k < n->ncond; k++) {
        const struct lgv_condition *c = &g->condition[n->cond + k];
        bool of_both = g->inode[c->a].op == LGV_IVAR && g->inode[c->b].op == LGV_IVAR && c->a != c->b;
        if (of_both && (c->compare == '!' || c->compare == '<')) return true;
    }
    long high = lgv_loops_index(g, level[0].high, vars);
    for (vars[0] = lgv_loops_index(g, level[0].low, vars); vars[0] <= high; vars[0]++) {
        long from = lgv_loops_index(g, level[1].low, vars), to = lgv_loops_index(g, level[1].high, vars);
        if (from <= vars[0] + d && vars[0] + d <= to) return false;
    }
    return true;
}

/* Two terms of one array, the first of which knows outer indices only: are their rows different as long as these stay?
 */
static bool rows_differ(const struct lgv_graph *g, int nest, const struct lgv_term *t, const struct lgv_term *u) {
    struct affine a, b;
    const int inner = g->nest[nest].count - 1;
    if (!affine(g, t->row, &a) || !affine(g, u->row, &b)) return false;
    bool same = true;
    for (int k = 0; k < LGV_MAX_LOOPS; k++) same = same && a.by[k] == b.by[k];
    if (same) return a.at != b.at;
    long step = b.by[inner];
    bool form = inner == 1 && step != 0 && a.by[0] == step && b.by[0] == 0;
    if (!form) return false;
    return (a.at - b.at) % step != 0 || never_apart_by(g, nest, (a.at - b.at) / step);
}

static bool outer_only(const struct lgv_graph *g, int nest, const struct lgv_term *t) {
    return !(lgv_index_vars(g, t->row) & 1u << (g->nest[nest].count - 1));
}

/* May terms of outer rows be added up in variables? */
static bool can_collect(const struct lgv_graph *g, const struct lgv_target *target, int nest) {
    const struct lgv_terms *all = target->terms;
    if (target->cols || target->map) return false;
    for (size_t i = 0; i < all->count; i++) {
        if (all->term[i].nest != nest || !outer_only(g, nest, &all->term[i])) continue;
        for (size_t k = 0; k < all->count; k++)
            if (k != i && all->term[k].nest == nest && !rows_differ(g, nest, &all->term[i], &all->term[k]))
                return false;
    }
    return true;
}

/* ---- text ---- */

struct writing {
    struct lgv_text *out;
    const struct lgv_graph *g;
    const struct lgv_target *target;
    size_t count;
    int nest;
};

static bool has_terms(const struct lgv_target *t, int nest) {
    for (size_t i = 0; i < t->terms->count; i++)
        if (t->terms->term[i].nest == nest) return true;
    return false;
}

/* It has the numbers of a path side by side. */
static bool in_column(const struct lgv_target *t) {
    return t->rows > 0 && !t->cols;
}

bool lgv_emit_repeats(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_target *target, size_t count,
                      int nest) {
    bool may = true;
    for (size_t k = 0; k < count; k++) {
        may = may && (!has_terms(&target[k], nest) || target[k].rows > 0);
        for (size_t i = 0; may && i < target[k].terms->count; i++) {
            const struct lgv_term *t = &target[k].terms->term[i];
            may = t->nest != nest || knows_places_only(g, t->value, LGV_MAX_LOOPS);
        }
    }
    if (!may) return false;
    lgv_text_add(out, "    int pairs_same[LANES] = {0};\n    for (int l = 1; l < LANES; l++) {\n"
                      "    pairs_same[l] = column_same(q, NX, l);\n");
    for (size_t k = 0; k < count; k++)
        if (has_terms(&target[k], nest))
            lgv_text_add(out, "    pairs_same[l] = pairs_same[l] && (%s%s%scolumn_same(%s, %ld, l));\n",
                         target[k].guarded ? "!" : "", target[k].guarded ? target[k].array : "",
                         target[k].guarded ? " || " : "", target[k].array, target[k].rows);
    lgv_text_add(out, "    }\n");
    return true;
}

void lgv_emit_repeat(struct lgv_text *out, const struct lgv_target *target, size_t count, int nest, const char *lane) {
    lgv_text_add(out, "    if (pairs_same[%s]) {\n", lane);
    for (size_t k = 0; k < count; k++)
        if (has_terms(&target[k], nest))
            lgv_text_add(out, "    %s%s%scolumn_repeat(%s, %ld, %s);\n", target[k].guarded ? "if (" : "",
                         target[k].guarded ? target[k].array : "", target[k].guarded ? ") " : "", target[k].array,
                         target[k].rows, lane);
    lgv_text_add(out, "    continue;\n    }\n");
}

/* Where a term of target k goes. */
static void destination(const struct writing *w, size_t k, const struct lgv_term *t) {
    const struct lgv_target *to = &w->target[k];
    if (in_column(to)) {
        lgv_text_add(w->out, "pairs_to%zu[", k);
        lgv_emit_index(w->out, w->g, t->row);
        lgv_text_add(w->out, "]");
        return;
    }
    lgv_text_add(w->out, "%s[", to->array);
    lgv_emit_index(w->out, w->g, t->row);
    if (to->cols) {
        lgv_text_add(w->out, " * %s + ", to->cols);
        lgv_emit_index(w->out, w->g, t->col);
    }
    lgv_text_add(w->out, "][pairs_lane]");
}

enum piece { LOAD, STORE, VALUES, ADD, COLLECT };

/* One line for each term: those collected in a variable, or the others. */
static void terms(const struct writing *w, enum piece piece) {
    for (size_t k = 0; k < w->count; k++) {
        const struct lgv_target *to = &w->target[k];
        bool collects = can_collect(w->g, to, w->nest);
        for (size_t i = 0; i < to->terms->count; i++) {
            const struct lgv_term *t = &to->terms->term[i];
            if (t->nest != w->nest) continue;
            bool collected = collects && outer_only(w->g, w->nest, t);
            if (piece != VALUES && collected != (piece != ADD)) continue;
            lgv_text_add(w->out, "    ");
            if (to->guarded && piece != VALUES && piece != LOAD) lgv_text_add(w->out, "if (%s) ", to->array);
            if (piece == LOAD) {
                lgv_text_add(w->out, "double pairs_s%zu_%zu = ", k, i);
                if (to->guarded) lgv_text_add(w->out, "!%s ? 0 : ", to->array);
                destination(w, k, t);
            } else if (piece == STORE) {
                destination(w, k, t);
                lgv_text_add(w->out, " = pairs_s%zu_%zu", k, i);
            } else if (piece == VALUES) {
                bool widen = lgv_emit_uniform(w->g, t->value);
                lgv_text_add(w->out, "const vec pairs_v%zu_%zu = %s(", k, i, widen ? "vec_set" : "");
                lgv_emit_value(w->out, w->g, t->value);
                lgv_text_add(w->out, ")");
            } else {
                if (piece == COLLECT)
                    lgv_text_add(w->out, "pairs_s%zu_%zu", k, i);
                else
                    destination(w, k, t);
                lgv_text_add(w->out, " += pairs_v%zu_%zu[m]", k, i);
            }
            lgv_text_add(w->out, ";\n");
        }
    }
}

/* The values of the innermost index: how many, and text of number `k` of them. */
static void instances(const struct writing *w, long list) {
    const struct lgv_nest *n = &w->g->nest[w->nest];
    const struct lgv_level *l = &w->g->level[n->first + n->count - 1];
    const int inner = n->count - 1;
    if (n->near) {
        lgv_text_add(w->out,
                     "    const long pairs_first = i0 - near_kinds[%ld].low[0];\n"
                     "    const int *const pairs_list = pairs_near->index + pairs_near->start[pairs_first];\n"
                     "    const long pairs_count = pairs_near->start[pairs_first + 1] - "
                     "pairs_near->start[pairs_first];\n#define PAIRS_AT(k) pairs_list[k]\n",
                     list);
        return;
    }
    lgv_text_add(w->out, "    const long pairs_low = ");
    lgv_emit_index(w->out, w->g, l->low);
    lgv_text_add(w->out, ", pairs_high = ");
    lgv_emit_index(w->out, w->g, l->high);
    lgv_text_add(w->out, ";\n");
    if (!n->ncond) {
        lgv_text_add(w->out, "    const long pairs_count = pairs_high - pairs_low + 1;\n"
                             "#define PAIRS_AT(k) (pairs_low + (k))\n");
        return;
    }
    lgv_text_add(w->out, "    vec *const pairs_before = c->top;\n    long pairs_count = 0;\n"
                         "    int *const pairs_list = (int *)take(c, pairs_high < pairs_low ? 1 : "
                         "(pairs_high - pairs_low) / LANES + 1);\n"
                         "    for (long i%d = pairs_low; i%d <= pairs_high; i%d++)\n    if (", inner, inner, inner);
    for (int k = 0; k < n->ncond; k++) {
        lgv_text_add(w->out, k ? " && (" : "(");
        lgv_emit_condition(w->out, w->g, &w->g->condition[n->cond + k]);
        lgv_text_add(w->out, ")");
    }
    lgv_text_add(w->out, ") pairs_list[pairs_count++] = (int)i%d;\n    c->top = pairs_before;\n"
                         "#define PAIRS_AT(k) pairs_list[k]\n", inner);
}

/* Full vectors are added without asking for each lane. */
static void add_lanes(const struct writing *w, const char *loop) {
    lgv_text_add(w->out, "    %s {\n    const long i%d = pairs_at[m];\n    (void)i%d;\n", loop,
                 w->g->nest[w->nest].count - 1, w->g->nest[w->nest].count - 1);
    terms(w, ADD);
    terms(w, COLLECT);
    lgv_text_add(w->out, "    }\n");
}

static long list_number(const struct lgv_graph *g, int nest) {
    long number = 0;
    for (int k = 0; k < nest; k++) number += g->nest[k].near != 0;
    return number;
}

long lgv_emit_near_lists(const struct lgv_graph *g) {
    return list_number(g, (int)g->nnests);
}

void lgv_emit_over_pairs(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_target *target, size_t count,
                         int nest, const int *list, size_t n) {
    const struct writing w = {out, g, target, count, nest};
    const int inner = g->nest[nest].count - 1;
    lgv_text_add(out, "    {\n");
    bool same = lgv_emit_repeats(out, g, target, count, nest);
    lgv_text_add(out, "    for (int pairs_lane = 0; pairs_lane < LANES; pairs_lane++) {\n");
    if (same) lgv_emit_repeat(out, target, count, nest, "pairs_lane");
    lgv_text_add(out, "    vec *const pairs_top = c->top;\n"
                      "    const double *const pairs_q = column_take(c, q, NX, pairs_lane);\n    (void)pairs_q;\n");
    for (size_t k = 0; k < count; k++)
        if (has_terms(&target[k], nest) && in_column(&target[k]))
            lgv_text_add(out, "    double *const pairs_to%zu = %s%s%scolumn_take(c, %s, %ld, pairs_lane);\n", k,
                         target[k].guarded ? "!" : "", target[k].guarded ? target[k].array : "",
                         target[k].guarded ? " ? 0 : " : "", target[k].array, target[k].rows);
    if (g->nest[nest].near)
        lgv_text_add(out, "    const struct near *const pairs_near = near_%ld(c, q, pairs_lane);\n"
                          "    if (!pairs_near) {\n    c->top = pairs_top;\n    continue;\n    }\n",
                     list_number(g, nest));
    lgv_emit_levels(out, g, nest, inner);
    instances(&w, list_number(g, nest));
    terms(&w, LOAD);
    lgv_text_add(out, "    for (long pairs_k = 0; pairs_k < pairs_count; pairs_k += LANES) {\n"
                      "    const long pairs_n = pairs_count - pairs_k < LANES ? pairs_count - pairs_k : LANES;\n"
                      "    long pairs_at[LANES];\n    UNROLL for (long m = 0; m < LANES; m++) "
                      "pairs_at[m] = PAIRS_AT(pairs_k + (m < pairs_n ? m : pairs_n - 1));\n");
    lgv_emit_nodes_each(out, g, list, n, target->seldom, inner);
    terms(&w, VALUES);
    lgv_text_add(out, "    if (pairs_n == LANES) {\n");
    add_lanes(&w, "UNROLL for (long m = 0; m < LANES; m++)");
    lgv_text_add(out, "    } else\n");
    add_lanes(&w, "for (long m = 0; m < pairs_n; m++)");
    lgv_text_add(out, "    }\n#undef PAIRS_AT\n");
    terms(&w, STORE);
    for (int k = 0; k < inner; k++) lgv_text_add(out, "    }\n");
    for (size_t k = 0; k < count; k++)
        if (has_terms(&target[k], nest) && in_column(&target[k]))
            lgv_text_add(out, "    %s%s%scolumn_put(%s, %ld, pairs_lane, pairs_to%zu);\n",
                         target[k].guarded ? "if (" : "", target[k].guarded ? target[k].array : "",
                         target[k].guarded ? ") " : "", target[k].array, target[k].rows, k);
    lgv_text_add(out, "    c->top = pairs_top;\n    }\n    }\n");
}

/* ---- lists ---- */

static void points(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_cut *cut, long number, int side) {
    lgv_text_add(out, "    for (long i%d = near_kinds[%ld].low[%d]; i%d < near_kinds[%ld].low[%d] + "
                      "near_kinds[%ld].count[%d]; i%d++, x += 3) {\n",
                 side, number, side, side, number, side, number, side, side);
    for (int k = 0; k < 3; k++) {
        if (k < cut->dim) {
            lgv_text_add(out, "    x[%d] = ((const double *)&q[", k);
            lgv_emit_index(out, g, cut->row[side][k]);
            lgv_text_add(out, "])[l];\n");
        } else {
            lgv_text_add(out, "    x[%d] = 0;\n", k);
        }
    }
    lgv_text_add(out, "    }\n");
}

static void one_list(struct lgv_text *out, const struct lgv_graph *g, int nest, long number) {
    const struct lgv_nest *n = &g->nest[nest];
    const struct lgv_level *l = &g->level[n->first + 1];
    const struct lgv_cut *cut = &g->cut[n->near - 1];
    lgv_text_add(out, "\nINLINE int near_allows_%ld(long i0, long i1) {\n    return i1 >= ", number);
    lgv_emit_index(out, g, l->low);
    lgv_text_add(out, " && i1 <= ");
    lgv_emit_index(out, g, l->high);
    for (int k = 0; k < n->ncond; k++) {
        lgv_text_add(out, " && (");
        lgv_emit_condition(out, g, &g->condition[n->cond + k]);
        lgv_text_add(out, ")");
    }
    lgv_text_add(out,
                 ";\n}\n\nOUTLINE const struct near *near_%ld(struct ctx *c, const vec *q, int l) {\n"
                 "    vec *top = c->top;\n"
                 "    double *at = (double *)take(c, near_vecs((u64)(3 * (near_kinds[%ld].count[0] + "
                 "near_kinds[%ld].count[1])) * sizeof(double))), *x = at;\n",
                 number, number, number);
    points(out, g, cut, number, 0);
    points(out, g, cut, number, 1);
    lgv_text_add(out,
                 "    const struct near *n = near_list(c, %ld, at, near_allows_%ld, l);\n    c->top = top;\n"
                 "    return n;\n}\n",
                 number, number);
}

void lgv_emit_near(struct lgv_text *out, const struct lgv_graph *g) {
    for (int k = 0; k < (int)g->nnests; k++)
        if (g->nest[k].near) one_list(out, g, k, list_number(g, k));
}
