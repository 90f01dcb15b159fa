/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scatter terms written out: one formula without sums for every place of a matrix or vector. */
#include "model/calculus.h"
#include <stdlib.h>

struct walk {
    struct lgv_graph *g;
    const struct lgv_term *term;
    struct lgv_cells *out;
};

static bool put_cell(void *user, const long *vars) {
    struct walk *s = user;
    struct lgv_cells *out = s->out;
    const struct lgv_term t = *s->term;
    if (!lgv_grow(&out->cell, &out->capacity, out->count + 1, sizeof *out->cell)) {
        if (!s->g->failed) s->g->failed = "out of memory";
        return false;
    }
    struct lgv_cell e = {.row = (int)lgv_loops_index(s->g, t.row, vars)};
    e.col = t.col < 0 ? 0 : (int)lgv_loops_index(s->g, t.col, vars);
    e.node = t.nest < 0 ? t.value : lgv_loops_instance(s->g, t.value, vars, s->g->nest[t.nest].count);
    out->cell[out->count++] = e;
    return !s->g->failed;
}

static int by_place(const void *a, const void *b) {
    const struct lgv_cell *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->col != y->col) return x->col < y->col ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

bool lgv_terms_cells(struct lgv_graph *g, const struct lgv_terms *t, enum lgv_space at_zero, struct lgv_cells *out) {
    static const long none[LGV_MAX_LOOPS];
    struct walk s = {.g = g, .out = out};
    *out = (struct lgv_cells){0};
    for (size_t k = 0; k < t->count && !g->failed; k++) {
        struct lgv_term term = t->term[k];
        if (at_zero < LGV_SPACES) term.value = lgv_expr_only(g, term.value, at_zero, -1);
        s.term = &term;
        if (term.nest < 0)
            put_cell(&s, none);
        else
            lgv_loops_each(g, term.nest, LGV_MAX_INSTANCES, put_cell, &s);
    }
    if (out->count) qsort(out->cell, out->count, sizeof *out->cell, by_place);
    size_t n = 0;
    for (size_t k = 0; k < out->count; k++) {
        struct lgv_cell e = out->cell[k];
        if (n && out->cell[n - 1].row == e.row && out->cell[n - 1].col == e.col)
            out->cell[n - 1].node = lgv_expr_add(g, out->cell[n - 1].node, e.node);
        else
            out->cell[n++] = e;
    }
    out->count = n;
    return !g->failed;
}
