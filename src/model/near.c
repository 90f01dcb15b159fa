/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over near pairs on the host, for the scalar evaluator: points are sorted into cells at least as wide as the
 * radius, so that a pair that counts lies in cells that touch.  Kernels have lists of their own (text/near.h). */
#include "model/calculus.h"
#include "model/point.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

unsigned lgv_index_vars(const struct lgv_graph *g, int index) {
    const struct lgv_inode *n = &g->inode[index];
    if (n->op == LGV_ICONST) return 0;
    if (n->op == LGV_IVAR) return 1u << n->a;
    return lgv_index_vars(g, n->a) | lgv_index_vars(g, n->b);
}

/* Marks the formulas that `node` is made of; NULL: no memory. */
static unsigned char *parts_of(const struct lgv_graph *g, int node) {
    unsigned char *mark = lgv_new((size_t)node + 1, 1);
    if (!mark) return NULL;
    mark[node] = 1;
    for (int k = node; k >= 0; k--)
        for (int i = 0; mark[k] && g->node[k].op != LGV_REF && i < g->node[k].count; i++)
            mark[g->arg[g->node[k].first + i].node] = 1;
    return mark;
}

bool lgv_near_used(const struct lgv_graph *g, int node) {
    bool used = false;
    if (!g->ncuts || node < 0 || !(g->node[node].uses & LGV_USES_LOOP)) return false;
    unsigned char *mark = parts_of(g, node);
    for (int k = 0; mark && k <= node; k++)
        used = used || (mark[k] && g->node[k].op == LGV_LOOP && g->nest[g->node[k].aux].near);
    free(mark);
    return used;
}

bool lgv_near_counts(const struct lgv_graph *g, int node) {
    bool counts = false;
    if (!(g->node[node].uses & LGV_USES_LOOPVAR)) return false;
    unsigned char *mark = parts_of(g, node);
    for (int k = 0; mark && k <= node; k++) {
        const int op = g->node[k].op; /* an entry of an array of numbers knows its index in the same way */
        counts = counts || (mark[k] && (op == LGV_INDEX || op == LGV_ENTRY));
    }
    free(mark);
    return counts;
}

void lgv_near_ranges(const struct lgv_graph *g, int nest, long low[2], long high[2]) {
    const struct lgv_level *level = &g->level[g->nest[nest].first];
    long vars[LGV_MAX_LOOPS] = {0};
    low[0] = lgv_loops_index(g, level[0].low, vars);
    high[0] = lgv_loops_index(g, level[0].high, vars);
    low[1] = 1;
    high[1] = 0;
    bool any = false;
    for (long i = low[0]; i <= high[0]; i++) {
        vars[0] = i;
        long a = lgv_loops_index(g, level[1].low, vars), b = lgv_loops_index(g, level[1].high, vars);
        if (a > b) continue;
        low[1] = !any || a < low[1] ? a : low[1];
        high[1] = !any || b > high[1] ? b : high[1];
        any = true;
    }
    if (!any) high[0] = low[0] - 1;
}

struct cells {
    const struct lgv_cut *cut;
    long count[3], low[2], high[2];
    double from[3], width[3];
    double *point[2]; /* [index][3] */
    int *first;       /* of each cell, in `order`: numbers of the points of the second index */
    int *order, *found;
};

static void take_points(const struct lgv_graph *g, const double *q, struct cells *c) {
    long vars[LGV_MAX_LOOPS] = {0};
    for (int side = 0; side < 2; side++)
        for (long i = c->low[side]; i <= c->high[side]; i++) {
            vars[side] = i;
            double *x = c->point[side] + 3 * (i - c->low[side]);
            for (int k = 0; k < 3; k++) x[k] = k < c->cut->dim ? q[lgv_loops_index(g, c->cut->row[side][k], vars)] : 0;
        }
}

/* As many cells as there are points, about. */
static void choose_cells(struct cells *c) {
    const long n = c->high[1] - c->low[1] + 1;
    /* A whole number, since a point outside of a periodic box is moved by so many. */
    const double least = c->cut->radius, most = fmax(1, floor(cbrt((double)n)));
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (long i = 0; i < n; i++) {
            low = fmin(low, c->point[1][3 * i + k]);
            high = fmax(high, c->point[1][3 * i + k]);
        }
        bool periodic = c->cut->box[k] > 0;
        double length = periodic ? c->cut->box[k] : high - low, cells = fmin(floor(length / least), most);
        if (!(cells >= 3)) cells = 1;
        c->count[k] = (long)cells;
        c->from[k] = periodic || !isfinite(low) ? 0 : low;
        c->width[k] = isfinite(length) && length > 0 ? length / cells : 1;
    }
}

/* The cell of a point along one axis, or -1; of a periodic axis after wrapping. */
static long cell_at(const struct cells *c, const double *x, int k) {
    double at = floor((x[k] - c->from[k]) / c->width[k]), n = (double)c->count[k];
    if (c->cut->box[k] > 0) at -= n * floor(at / n);
    if (!isfinite(at)) return -1;
    return (long)fmin(fmax(at, 0), n - 1); /* outside of an open box the outermost cells are the nearest */
}

static long cell_of(const struct cells *c, const double *x) {
    long at = 0;
    for (int k = 0; k < 3; k++) {
        long cell = cell_at(c, x, k);
        if (cell < 0) return 0;
        at = at * c->count[k] + cell;
    }
    return at;
}

static void sort_points(struct cells *c, long ncells) {
    const long n = c->high[1] - c->low[1] + 1;
    memset(c->first, 0, (size_t)(ncells + 1) * sizeof *c->first);
    for (long i = 0; i < n; i++) c->first[cell_of(c, c->point[1] + 3 * i) + 1]++;
    for (long k = 0; k < ncells; k++) c->first[k + 1] += c->first[k];
    for (long i = 0; i < n; i++) c->order[c->first[cell_of(c, c->point[1] + 3 * i)]++] = (int)i;
    for (long k = ncells; k > 0; k--) c->first[k] = c->first[k - 1]; /* each has moved to its end */
    c->first[0] = 0;
}

static bool is_near(const struct cells *c, const double *a, const double *b) {
    double square = 0;
    for (int k = 0; k < 3; k++) {
        double d = a[k] - b[k], L = c->cut->box[k];
        if (L > 0) d -= L * floor(d / L + 0.5);
        square += d * d;
    }
    return square <= c->cut->radius * c->cut->radius * (1 + 1e-9); /* round-off does not decide */
}

static int by_number(const void *a, const void *b) {
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* The points near x, in order. */
static size_t find(const struct cells *c, const double *x) {
    size_t n = 0;
    long at[3];
    for (int k = 0; k < 3; k++)
        if ((at[k] = cell_at(c, x, k)) < 0) return 0;
    for (int s = 0; s < 27; s++) {
        long cell = 0;
        const int step[3] = {s / 9 - 1, s / 3 % 3 - 1, s % 3 - 1};
        bool there = true;
        for (int k = 0; k < 3; k++) {
            long i = at[k] + step[k];
            if (c->cut->box[k] > 0 && c->count[k] > 1) i = (i + c->count[k]) % c->count[k];
            there = there && i >= 0 && i < c->count[k];
            cell = cell * c->count[k] + i;
        }
        for (int i = there ? c->first[cell] : 0; there && i < c->first[cell + 1]; i++)
            if (is_near(c, x, c->point[1] + 3 * c->order[i])) c->found[n++] = c->order[i];
    }
    qsort(c->found, n, sizeof *c->found, by_number);
    return n;
}

static long visit_all(const struct lgv_graph *g, int nest, const struct cells *c, lgv_visit *visit, void *user) {
    const struct lgv_level *level = &g->level[g->nest[nest].first];
    long vars[LGV_MAX_LOOPS] = {0}, count = 0;
    for (long i = c->low[0]; i <= c->high[0]; i++) {
        vars[0] = i;
        const long low = lgv_loops_index(g, level[1].low, vars), high = lgv_loops_index(g, level[1].high, vars);
        size_t n = find(c, c->point[0] + 3 * (i - c->low[0]));
        for (size_t k = 0; k < n; k++) {
            vars[1] = c->low[1] + c->found[k];
            if (vars[1] < low || vars[1] > high || !lgv_loops_holds(g, nest, vars)) continue;
            count++;
            if (!visit(user, vars)) return count;
        }
    }
    return count;
}

long lgv_near_each(const struct lgv_graph *g, int nest, const double *q, lgv_visit *visit, void *user) {
    struct cells c = {.cut = &g->cut[g->nest[nest].near - 1]};
    lgv_near_ranges(g, nest, c.low, c.high);
    if (c.low[0] > c.high[0]) return 0;
    const size_t na = (size_t)(c.high[0] - c.low[0] + 1), nb = (size_t)(c.high[1] - c.low[1] + 1);
    long count = -1;
    c.point[0] = lgv_new(3 * na, sizeof *c.point[0]);
    c.point[1] = lgv_new(3 * nb, sizeof *c.point[1]);
    c.order = lgv_new(nb, sizeof *c.order);
    c.found = lgv_new(nb, sizeof *c.found);
    if (c.point[0] && c.point[1] && c.order && c.found) {
        take_points(g, q, &c);
        choose_cells(&c);
        long ncells = c.count[0] * c.count[1] * c.count[2];
        c.first = lgv_new((size_t)ncells + 1, sizeof *c.first);
        if (c.first) sort_points(&c, ncells);
        if (c.first) count = visit_all(g, nest, &c, visit, user);
    }
    free(c.point[0]);
    free(c.point[1]);
    free(c.first);
    free(c.order);
    free(c.found);
    return count;
}

/* ---- how many ---- */

#define SAMPLES 64 /* points of the first index whose near ones are counted */

/* About how many pairs a list has at q: those within the radius and its skin, of every k-th point. */
static double estimate(const struct lgv_graph *g, int nest, const double *q) {
    const struct lgv_level *level = &g->level[g->nest[nest].first];
    struct lgv_cut cut = g->cut[g->nest[nest].near - 1];
    struct cells c = {.cut = &cut};
    long vars[LGV_MAX_LOOPS] = {0}, counted = 0;
    double found = 0;
    lgv_near_ranges(g, nest, c.low, c.high);
    const long na = c.high[0] - c.low[0] + 1, nb = c.high[1] - c.low[1] + 1;
    if (na <= 0 || nb <= 0) return 0;
    cut.radius += cut.skin;
    c.point[0] = lgv_new(3 * (size_t)na, sizeof *c.point[0]);
    c.point[1] = lgv_new(3 * (size_t)nb, sizeof *c.point[1]);
    const bool ok = c.point[0] && c.point[1];
    if (ok) take_points(g, q, &c);
    for (long i = 0; ok && i < na; i += na / SAMPLES + 1, counted++) {
        vars[0] = c.low[0] + i;
        const long low = lgv_loops_index(g, level[1].low, vars), high = lgv_loops_index(g, level[1].high, vars);
        for (vars[1] = low; vars[1] <= high; vars[1]++)
            found += lgv_loops_holds(g, nest, vars) &&
                     is_near(&c, c.point[0] + 3 * i, c.point[1] + 3 * (vars[1] - c.low[1]));
    }
    free(c.point[0]);
    free(c.point[1]);
    return counted ? found * (double)na / (double)counted : 0;
}

enum lgv_status lgv_near_start(struct lgv_model *m, struct lgv_error *err) {
    const struct lgv_graph *g = m->graph;
    struct lgv_evaluator e;
    struct lgv_point at;
    double most = 0;
    if (!g || !g->ncuts) return LGV_OK; /* C functions have no graph */
    if (!lgv_eval_begin(&e, g)) return lgv_fail_memory(err);
    const bool ok = lgv_point_make(m, &e, -1, 1, &at);
    for (int k = 0; ok && k < (int)g->nnests; k++)
        if (g->nest[k].near) most = fmax(most, estimate(g, k, lgv_point_env(m, &at).space[LGV_Q]));
    if (ok) free(at.x);
    lgv_eval_end(&e);
    if (!ok) return lgv_fail_memory(err);
    if (most > LGV_MOST_NEAR)
        return lgv_model_fail_at(err, m, m->scope.cutoff.at,
                                 "about %.2g pairs are within the radius and its skin at the start: more than a list "
                                 "can hold (%.2g); a smaller radius, or points further apart, give fewer",
                                 most, LGV_MOST_NEAR);
    return LGV_OK;
}
