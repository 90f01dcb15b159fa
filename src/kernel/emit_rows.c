/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over pairs in long rows: for each outer instance a row of values of the innermost index.  In kernels for few
 * paths (text/near.h) lanes are places in a row of one path: what the row reads lies in streams, one number for each
 * value of the innermost index, and what it adds to them goes to streams likewise.
 *
 * Both layouts add in one order, which has nothing to do with their width.  What goes to an outer row is added up in
 * ROW_SUMS sums, that of place k in number k mod ROW_SUMS, and these are joined when the row ends.  What goes to rows
 * of the innermost index is added up row by row, and joins what is there when all rows are done. */
#include "kernel/emit.h"
#include <stdlib.h>
#include <string.h>

#define ROW_SUMS 8       /* a multiple of the lanes of kernels for few paths; ROW_TOTAL in text/rows.h */
#define LONG_ROW 16      /* values of the innermost index in a row, in the mean */
#define ROW_PLACES 65536 /* of streams */

/* ---- which sums ---- */

struct reach {
    long low, high; /* values of the innermost index */
    long rows, all;
    int inner;
    unsigned char *seen; /* [high - low + 1] */
};

/* Goes through the rows of a nest, conditions aside: first for the least and the largest value, then to tick off which
 * values there are. */
static void walk(const struct lgv_graph *g, int nest, struct reach *r, long *vars, int level) {
    const struct lgv_level *l = &g->level[g->nest[nest].first + level];
    const long low = lgv_loops_index(g, l->low, vars), high = lgv_loops_index(g, l->high, vars);
    if (level < r->inner) {
        for (vars[level] = low; vars[level] <= high && r->rows < LGV_MAX_INSTANCES; vars[level]++)
            walk(g, nest, r, vars, level + 1);
        return;
    }
    r->rows++;
    if (low > high) return;
    if (r->all == 0 || low < r->low) r->low = low;
    if (r->all == 0 || high > r->high) r->high = high;
    if (r->seen) memset(r->seen + (low - r->low), 1, (size_t)(high - low + 1));
    r->all += high - low + 1;
}

static bool tick(void *user, const long *vars) {
    struct reach *r = user;
    r->seen[vars[r->inner] - r->low] = 1;
    return true;
}

/* There are several rows, they are long, and every value of the innermost index between the least and the largest
 * occurs. */
static bool find_reach(const struct lgv_graph *g, int nest, struct reach *r) {
    long vars[LGV_MAX_LOOPS] = {0};
    *r = (struct reach){.inner = g->nest[nest].count - 1};
    if (r->inner < 1 || g->nest[nest].base) return false;
    walk(g, nest, r, vars, 0);
    if (r->rows < 2 || r->rows >= LGV_MAX_INSTANCES || r->all < LONG_ROW * r->rows || r->high - r->low >= ROW_PLACES)
        return false;
    r->seen = lgv_new((size_t)(r->high - r->low + 1), 1);
    if (!r->seen) return false;
    struct reach again = {.inner = r->inner, .low = r->low, .high = r->high, .seen = r->seen, .all = 1};
    bool known = true;
    if (g->nest[nest].ncond)
        known = lgv_loops_each(g, nest, LGV_MAX_INSTANCES, tick, r) > 0;
    else
        walk(g, nest, &again, vars, 0);
    bool whole = known && !memchr(r->seen, 0, (size_t)(r->high - r->low + 1));
    free(r->seen);
    return whole;
}

static unsigned inner_bit(const struct lgv_graph *g, int nest) {
    return 1u << (g->nest[nest].count - 1);
}

/* Does an index know the innermost loop variable alone, or not at all? */
static bool apart(const struct lgv_graph *g, int nest, int index) {
    unsigned vars = lgv_index_vars(g, index), inner = inner_bit(g, nest);
    return !(vars & inner) || vars == inner;
}

static bool along_row(const struct lgv_graph *g, int nest, int index) {
    return lgv_index_vars(g, index) & inner_bit(g, nest);
}

/* The nodes that values are made of, for which `take` is asked; false: it has said no. */
static bool each_node(const struct lgv_graph *g, const int *list, size_t count, bool (*take)(void *, int), void *user) {
    int last = -1;
    for (size_t i = 0; i < count; i++) last = list[i] > last ? list[i] : last;
    unsigned char *mark = lgv_new((size_t)last + 2, 1);
    bool ok = mark != NULL;
    for (size_t i = 0; ok && i < count; i++) mark[list[i]] = 1;
    for (int k = last; ok && k >= 0; k--) {
        const struct lgv_node *n = &g->node[k];
        if (!mark[k]) continue;
        ok = take(user, k);
        for (int i = 0; n->op != LGV_REF && i < n->count; i++) mark[g->arg[n->first + i].node] = 1;
    }
    free(mark);
    return ok;
}

struct asked {
    const struct lgv_graph *g;
    int nest;
    struct lgv_text *out;
    const struct reach *reach;
};

/* Of path to path values differ by coordinates and parts only, and the innermost index is no number in them. */
static bool fits_row(void *user, int k) {
    const struct asked *a = user;
    const struct lgv_graph *g = a->g;
    const struct lgv_node *n = &g->node[k];
    if (n->op == LGV_ENTRY && !lgv_emit_uniform(g, k)) return false;
    if (n->op == LGV_INDEX || n->op == LGV_ENTRY) return !along_row(g, a->nest, n->aux);
    if (n->op == LGV_PARAM) return lgv_emit_uniform(g, k);
    if (n->op != LGV_REF || lgv_emit_uniform(g, k)) return true;
    return (n->count == LGV_Q || n->count == LGV_PART) && apart(g, a->nest, n->aux);
}

bool lgv_emit_is_in_rows(const struct lgv_graph *g, const struct lgv_target *target, size_t count, int nest,
                         const int *list, size_t n) {
    struct reach r;
    if (nest < 0 || g->nest[nest].near || !find_reach(g, nest, &r)) return false;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < target[k].terms->count; i++) {
            const struct lgv_term *t = &target[k].terms->term[i];
            if (t->nest == nest && (target[k].map || target[k].cols || !apart(g, nest, t->row))) return false;
        }
    return each_node(g, list, n, fits_row, &(struct asked){.g = g, .nest = nest});
}

/* ---- text ---- */

struct writing {
    struct lgv_text *out;
    const struct lgv_graph *g;
    const struct lgv_target *target;
    size_t count;
    int nest, inner;
    bool pairs; /* lanes are places in a row */
    struct reach reach;
};

/* The first term of target k that goes to the row of term i. */
static size_t same_row(const struct writing *w, size_t k, size_t i) {
    const struct lgv_term *t = w->target[k].terms->term;
    size_t first = 0;
    while (t[first].nest != w->nest || t[first].row != t[i].row) first++;
    return first;
}

static bool goes_along(const struct writing *w, const struct lgv_term *t) {
    return along_row(w->g, w->nest, t->row);
}

static void guard(const struct writing *w, size_t k) {
    lgv_text_add(w->out, w->target[k].guarded ? "    if (%s) " : "    ", w->target[k].array);
}

enum piece { STREAMS, SUMS, VALUES, ADD, KEEP, JOIN, FINISH };

static void piece_of(const struct writing *w, enum piece piece, size_t k, size_t i) {
    const struct lgv_target *to = &w->target[k];
    const struct lgv_term *t = &to->terms->term[i];
    const size_t first = same_row(w, k, i);
    const bool along = goes_along(w, t), widen = lgv_emit_uniform(w->g, t->value);
    struct lgv_text *out = w->out;
    if (piece == VALUES) {
        lgv_text_add(out, "    vec row_v%zu_%zu = %s(", k, i, widen ? "vec_set" : "");
        lgv_emit_value(out, w->g, t->value);
        lgv_text_add(out, ");\n");
    } else if (piece == KEEP) {
        lgv_text_add(out, "    row_v%zu_%zu = vec_select(row_here, row_v%zu_%zu, vec_set(-0.0));\n", k, i, k, i);
    } else if (piece == ADD) {
        guard(w, k);
        if (along && w->pairs)
            lgv_text_add(out, "row_add(row_y%zu_%zu + row_k, row_v%zu_%zu);\n", k, first, k, i);
        else if (along)
            lgv_text_add(out, "row_y%zu_%zu[row_k] += row_v%zu_%zu;\n", k, first, k, i);
        else
            lgv_text_add(out, "row_s%zu_%zu[row_sum] += row_v%zu_%zu;\n", k, first, k, i);
    } else if (first == i && piece == STREAMS && along) {
        const long places = w->reach.high - w->reach.low + 1;
        if (w->pairs)
            lgv_text_add(out, "    double *const row_y%zu_%zu = row_stream(c, %ld);\n", k, i, places);
        else
            lgv_text_add(out, "    vec *const row_y%zu_%zu = take(c, %ld);\n"
                              "    for (long z = 0; z < %ld; z++) row_y%zu_%zu[z] = vec_set(0);\n",
                         k, i, places, places, k, i);
    } else if (first == i && piece == SUMS && !along) {
        lgv_text_add(out, w->pairs ? "    vec row_s%zu_%zu[%d / LANES] = {0};\n" : "    vec row_s%zu_%zu[%d] = {0};\n",
                     k, i, ROW_SUMS);
    } else if (first == i && (piece == JOIN ? !along : piece == FINISH && along)) {
        guard(w, k);
        lgv_text_add(out, "%s[", to->array);
        lgv_emit_index(out, w->g, t->row);
        lgv_text_add(out, w->pairs ? "][row_lane] += " : "] += ");
        if (along)
            lgv_text_add(out, "row_y%zu_%zu[row_k];\n", k, i);
        else
            lgv_text_add(out, "ROW_TOTAL(%s, row_s%zu_%zu);\n", w->pairs ? "double" : "vec", k, i);
    }
}

static void pieces(const struct writing *w, enum piece piece) {
    for (size_t k = 0; k < w->count; k++)
        for (size_t i = 0; i < w->target[k].terms->count; i++)
            if (w->target[k].terms->term[i].nest == w->nest) piece_of(w, piece, k, i);
}

/* A node that a row reads from a stream. */
static bool fill_stream(void *user, int k) {
    const struct asked *a = user;
    const struct lgv_node *n = &a->g->node[k];
    if (n->op != LGV_REF || lgv_emit_uniform(a->g, k) || !along_row(a->g, a->nest, n->aux)) return true;
    const long low = a->reach->low, high = a->reach->high;
    const int inner = a->reach->inner;
    lgv_text_add(a->out, "    double *const row_x%d = row_stream(c, %ld);\n"
                         "    for (long i%d = %ld; i%d <= %ld; i%d++) row_x%d[i%d - %ld] = %s[",
                 k, high - low + 1, inner, low, inner, high, inner, k, inner, low, n->count == LGV_Q ? "q" : "part");
    lgv_emit_index(a->out, a->g, n->aux);
    lgv_text_add(a->out, "][row_lane];\n    row_fill(row_x%d, %ld);\n", k, high - low + 1);
    return true;
}

/* What lanes hold that are in the row: those up to its end for which conditions hold. */
static void conditions(const struct writing *w) {
    const struct lgv_nest *n = &w->g->nest[w->nest];
    lgv_text_add(w->out, "    ivec row_here = (ivec)(row_numbers() <= row_last - row_k);\n");
    for (int k = 0; k < n->ncond; k++) {
        const struct lgv_condition *c = &w->g->condition[n->cond + k];
        const bool vectors = lgv_emit_plain_index(w->g, c->a) && lgv_emit_plain_index(w->g, c->b) &&
                             ((lgv_index_vars(w->g, c->a) | lgv_index_vars(w->g, c->b)) & inner_bit(w->g, w->nest));
        lgv_text_add(w->out,
                     vectors ? "    {\n    const ivec i%d = row_numbers() + (row_k + %ld);\n    row_here &= (ivec)("
                             : "    UNROLL for (long m = 0; m < LANES; m++) {\n    const long i%d = row_k + m + %ld;\n"
                               "    if (row_here[m] && !(",
                     w->inner, w->reach.low);
        lgv_emit_condition(w->out, w->g, c);
        lgv_text_add(w->out, vectors ? ");\n    }\n" : ")) row_here[m] = 0;\n    }\n");
    }
    if (n->ncond) lgv_text_add(w->out, "    if (!vec_any(row_here)) continue;\n");
}

/* Opens the loop over a row; what it needs from the outside is there by then. */
static void open_row(void *user, struct lgv_text *out) {
    const struct writing *w = user;
    const struct lgv_nest *n = &w->g->nest[w->nest];
    const struct lgv_level *l = &w->g->level[n->first + w->inner];
    pieces(w, SUMS);
    lgv_text_add(out, "    const long row_first = ");
    lgv_emit_index(out, w->g, l->low);
    lgv_text_add(out, " - %ld, row_last = ", w->reach.low);
    lgv_emit_index(out, w->g, l->high);
    lgv_text_add(out, " - %ld;\n    for (long row_k = row_first; row_k <= row_last; row_k += %s) {\n", w->reach.low,
                 w->pairs ? "LANES" : "1");
    if (w->pairs) {
        conditions(w);
        lgv_text_add(out, "    const long row_sum = (row_k - row_first) / LANES %% (%d / LANES);\n    (void)row_sum;\n",
                     ROW_SUMS);
        return;
    }
    lgv_text_add(out, "    const long i%d = row_k + %ld, row_sum = (row_k - row_first) %% %d;\n    (void)i%d;\n"
                      "    (void)row_sum;\n",
                 w->inner, w->reach.low, ROW_SUMS, w->inner);
    for (int k = 0; k < n->ncond; k++) {
        lgv_text_add(out, "    if (!(");
        lgv_emit_condition(out, w->g, &w->g->condition[n->cond + k]);
        lgv_text_add(out, ")) continue;\n");
    }
}

/* Parameters in a place of their own, which no sum can change. */
static void parameters(struct lgv_text *out) {
    lgv_text_add(out, "#ifdef PARAMETERS\n    double row_par[PARAMETERS + 1];\n"
                      "    UNROLL for (int i = 0; i < PARAMETERS; i++) row_par[i] = par[i];\n#endif\n    {\n"
                      "#ifdef PARAMETERS\n    const double *const par = row_par;\n    (void)par;\n#endif\n");
}

void lgv_emit_in_rows(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_target *target, size_t count,
                      int nest, const int *list, size_t n) {
    struct writing w = {out, g, target, count, nest, .inner = g->nest[nest].count - 1, .pairs = g->pairs};
    if (!find_reach(g, nest, &w.reach)) { /* it was found before: no memory */
        out->failed = true;
        return;
    }
    lgv_text_add(out, "    {\n");
    bool same = w.pairs && lgv_emit_repeats(out, g, target, count, nest);
    if (w.pairs) lgv_text_add(out, "    for (int row_lane = 0; row_lane < LANES; row_lane++) {\n");
    if (same) lgv_emit_repeat(out, target, count, nest, "row_lane");
    lgv_text_add(out, "    vec *const row_top = c->top;\n");
    parameters(out);
    if (w.pairs && !each_node(g, list, n, fill_stream, &(struct asked){g, nest, out, &w.reach})) out->failed = true;
    pieces(&w, STREAMS);
    lgv_emit_levels(out, g, nest, w.inner);
    lgv_text_add(out, "    {\n");
    lgv_emit_nodes_row(out, g, list, n, target->seldom, w.inner, open_row, &w);
    pieces(&w, VALUES);
    if (w.pairs) {
        lgv_text_add(out, "    if (!vec_all(row_here)) {\n");
        pieces(&w, KEEP);
        lgv_text_add(out, "    }\n");
    }
    pieces(&w, ADD);
    lgv_text_add(out, "    }\n");
    pieces(&w, JOIN);
    lgv_text_add(out, "    }\n");
    for (int k = 0; k < w.inner; k++) lgv_text_add(out, "    }\n");
    lgv_text_add(out, "    for (long row_k = 0; row_k <= %ld; row_k++) {\n    const long i%d = row_k + %ld;\n"
                      "    (void)i%d;\n",
                 w.reach.high - w.reach.low, w.inner, w.reach.low, w.inner);
    pieces(&w, FINISH);
    lgv_text_add(out, "    }\n    }\n    c->top = row_top;\n    }\n%s", w.pairs ? "    }\n" : "");
}
