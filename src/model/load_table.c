/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions given by points, among those of `where`:
 *
 *     V(x): table(potential.csv)                   the spline through the points of columns 1 and 2
 *     F(t): table(wind.csv, time:force, periodic)
 *
 * The spline is of degree 5 and has four continuous derivatives: forces of a potential have three, and methods of order
 * 4 keep it.  `cubic` has degree 3 and two, for points that are not smooth.  Outside of its points a table is not
 * defined (paths that go there fail), continues along its tangents (`linear`) or repeats itself (`periodic`). */
#include "model/load.h"
#include "model/spline.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far beyond its ends a table is still defined, of its length: times are sums of steps. */
#define BEYOND 1e-9

struct source {
    struct lgv_file_call call;
    struct lgv_table table;
    long x, y; /* columns */
};

static bool read_words(struct lgv_loader *l, int node, struct source *s) {
    s->table.degree = LGV_SPLINE_DEGREE;
    s->x = 0;
    s->y = 1;
    if (s->call.csv.columns < 2)
        return lgv_yaml_fail(l, node, "%s has one column; a table needs two, x and y", s->call.word[0]);
    for (size_t k = 1; k < s->call.count; k++) {
        char *word = s->call.word[k], *colon = strchr(word, ':');
        if (colon) {
            *colon = 0;
            if (!lgv_load_column(l, node, &s->call, word, &s->x) ||
                !lgv_load_column(l, node, &s->call, colon + 1, &s->y))
                return false;
        } else if (strcmp(word, "cubic") == 0) {
            s->table.degree = 3;
        } else if (strcmp(word, "periodic") == 0) {
            s->table.outside = LGV_OUTSIDE_PERIODIC;
        } else if (strcmp(word, "linear") == 0) {
            s->table.outside = LGV_OUTSIDE_LINE;
        } else {
            return lgv_yaml_fail(l, node, "'%.60s' is none of periodic, linear, cubic and X:Y (columns)", word);
        }
    }
    return lgv_load_column_at(l, node, &s->call, s->x) && lgv_load_column_at(l, node, &s->call, s->y);
}

/* The points, [2][rows]. */
static double *points(struct lgv_loader *l, int node, const struct source *s) {
    const struct lgv_csv *c = &s->call.csv;
    const size_t n = c->rows;
    double *x = lgv_new(2 * n, sizeof *x);
    bool ok = x || lgv_yaml_memory(l);
    for (size_t k = 0; ok && k < n; k++) {
        x[k] = c->value[k * c->columns + (size_t)s->x];
        x[n + k] = c->value[k * c->columns + (size_t)s->y];
        if (k && !(x[k] > x[k - 1]))
            ok = lgv_yaml_fail(l, node, "%s:%d: x must increase from line to line, but %g follows %g",
                               s->call.word[0], c->line[k], x[k], x[k - 1]);
    }
    double most = 0;
    for (size_t k = 0; ok && k < n; k++) most = fmax(most, fabs(x[n + k]));
    const bool periodic = s->table.outside == LGV_OUTSIDE_PERIODIC;
    if (ok && n < (periodic ? 3 : 2))
        ok = lgv_yaml_fail(l, node, "%s:%d: a%s table has at least %d points", s->call.word[0], c->line[n - 1],
                           periodic ? " periodic" : "", periodic ? 3 : 2);
    if (ok && periodic && fabs(x[2 * n - 1] - x[n]) > 1e-9 * most)
        ok = lgv_yaml_fail(l, node, "%s:%d: the last point of a periodic table is the first one again, but y is %g "
                           "there and %g at the beginning", s->call.word[0], c->line[n - 1], x[2 * n - 1], x[n]);
    if (ok) return x;
    free(x);
    return NULL;
}

static bool evenly(const double *x, size_t n) {
    double h = (x[n - 1] - x[0]) / (double)(n - 1);
    for (size_t k = 0; k < n; k++)
        if (!(fabs(x[k] - x[0] - (double)k * h) <= 1e-9 * h)) return false;
    return true;
}

/* Its numbers, behind those of the parameters. */
static bool store(struct lgv_loader *l, int node, struct source *s, const double *x) {
    struct lgv_model *m = l->m;
    struct lgv_table *t = &s->table;
    const size_t n = s->call.csv.rows, wide = (size_t)t->degree + 1;
    t->at = (long)(m->npar + m->ntabulated);
    t->intervals = (long)n - 1;
    t->even = evenly(x, n);
    size_t more = LGV_TABLE_HEAD + (n - 1) * (wide + 1);
    double *grown = realloc(m->par, ((size_t)t->at + more + 2) * sizeof *grown);
    double *c = lgv_new((n - 1) * wide, sizeof *c);
    if (grown) m->par = grown;
    m->scope.par = m->par;
    bool ok = (grown && c && lgv_spline(x, x + n, n, t->degree, t->outside == LGV_OUTSIDE_PERIODIC, c)) ||
              lgv_yaml_memory(l);
    if (ok) {
        double *to = m->par + t->at, length = x[n - 1] - x[0];
        to[LGV_TABLE_LOW] = x[0];
        to[LGV_TABLE_HIGH] = x[n - 1];
        to[LGV_TABLE_PER_KNOT] = (double)(n - 1) / length;
        to[LGV_TABLE_FROM] = x[0] - BEYOND * length;
        to[LGV_TABLE_UNTIL] = x[n - 1] + BEYOND * length;
        to += LGV_TABLE_HEAD;
        for (size_t k = 0; k < n - 1; k++) {
            *to++ = x[k];
            for (size_t j = 0; j < wide; j++, to++) {
                *to = c[k * wide + j];
                ok = ok && isfinite(*to);
            }
        }
        m->ntabulated += more;
        if (!ok) lgv_yaml_fail(l, node, "%s: numbers so large or so near to each other have no spline",
                               s->call.word[0]);
    }
    free(c);
    return ok;
}

/* The table gets a number. */
static bool keep(struct lgv_loader *l, int node, const struct lgv_table *t) {
    struct lgv_graph *g = l->m->graph;
    if (!lgv_grow(&g->tabulated, &g->tables_capacity, g->ntables + 1, sizeof *g->tabulated)) return lgv_yaml_memory(l);
    g->tabulated[g->ntables++] = *t;
    return g->ntables <= LGV_MAX_TABLES || lgv_yaml_fail(l, node, "more than %d tables", LGV_MAX_TABLES);
}

bool lgv_load_table(struct lgv_loader *l, int key, int value, const char *name, char *formal) {
    struct source s = {.call = {.count = 0}};
    bool ok = lgv_load_call(l, value, &s.call) && read_words(l, value, &s);
    double *x = ok ? points(l, value, &s) : NULL;
    snprintf(s.table.name, sizeof s.table.name, "%s", name);
    ok = x && store(l, value, &s, x) && keep(l, value, &s.table);
    free(x);
    lgv_csv_free(&s.call.csv);
    struct lgv_symbol *symbol = ok ? lgv_scope_add(&l->m->scope, name, LGV_SYM_TABLE) : NULL;
    if (!symbol) {
        free(formal);
        return ok && lgv_yaml_memory(l);
    }
    symbol->formals[symbol->nformals++] = formal;
    symbol->index = (int)l->m->graph->ntables - 1;
    if (!(symbol->text = lgv_copy(lgv_yaml_node(l, value)->text))) return lgv_yaml_memory(l);
    lgv_yaml_place(l, key, &symbol->line, &symbol->column);
    return true;
}

/* Steps: the value in row k for k <= x < k + 1, again and again.  Its numbers, one in every `stride` of those given: */
static size_t step_room(size_t rows) {
    return LGV_TABLE_HEAD + 2 * rows;
}
static void fill_steps(double *to, const double *value, size_t rows, size_t stride) {
    const double head[LGV_TABLE_HEAD] = {[LGV_TABLE_HIGH] = (double)rows, [LGV_TABLE_PER_KNOT] = 1};
    memcpy(to, head, sizeof head);
    for (size_t k = 0; k < rows; k++) {
        to[LGV_TABLE_HEAD + 2 * k] = (double)k;
        to[LGV_TABLE_HEAD + 2 * k + 1] = value[k * stride];
    }
}

/* The table at `at`, looked up by x. */
static bool look_up(struct lgv_loader *l, int node, size_t at, size_t rows, int x, int *out) {
    struct lgv_model *m = l->m;
    struct lgv_table t = {.name = "row", .at = (long)at, .intervals = (long)rows, .outside = LGV_OUTSIDE_PERIODIC,
                          .even = true};
    m->ntabulated += step_room(rows);
    m->by_path = true;
    if (!keep(l, node, &t)) return false;
    *out = lgv_expr_table(m->graph, (int)m->graph->ntables - 1, 0, x);
    return true;
}

/* Number of the path; half a one more, away from the steps. */
static int path_number(struct lgv_graph *g) {
    return lgv_expr_add(g, lgv_expr_ref_at(g, LGV_UNIFORM, LGV_PATH), lgv_expr_const(g, 0.5));
}

/* Where paths belong to points of a sweep, the first path of every point has row 0. */
static int path_in_point(struct lgv_loader *l) {
    struct lgv_graph *g = l->m->graph;
    double each = 0;
    for (size_t k = 0; k < l->noverrides; k++)
        if (l->override[k].point) each = (double)l->override[k].each;
    int path = path_number(g);
    if (!(each > 0)) return path;
    int point = lgv_expr_call1(g, LGV_FLOOR, lgv_expr_div(g, path, lgv_expr_const(g, each)));
    return lgv_expr_sub(g, path, lgv_expr_scale(g, each, point));
}

bool lgv_load_by_path(struct lgv_loader *l, int node, const struct lgv_csv *c, long column, int *out) {
    struct lgv_model *m = l->m;
    const size_t at = m->npar + m->ntabulated;
    double *grown = realloc(m->par, (at + step_room(c->rows) + 2) * sizeof *grown);
    if (grown) m->par = grown;
    m->scope.par = m->par;
    if (!grown) return lgv_yaml_memory(l);
    fill_steps(m->par + at, c->value + column, c->rows, c->columns);
    return look_up(l, node, at, c->rows, path_in_point(l), out);
}

/* The same before all parameters are known: the numbers wait. */
static bool look_up_later(struct lgv_loader *l, int node, const double *value, size_t rows, size_t stride, int x,
                          int *out) {
    const size_t at = l->m->ntabulated;
    double *grown = realloc(l->rows, (at + step_room(rows)) * sizeof *grown);
    if (!grown) return lgv_yaml_memory(l);
    l->rows = grown;
    fill_steps(l->rows + at, value, rows, stride);
    return look_up(l, node, at, rows, x, out);
}

bool lgv_load_by_point(struct lgv_loader *l, const struct lgv_override *o, int *out) {
    struct lgv_graph *g = l->m->graph;
    int point = lgv_expr_div(g, path_number(g), lgv_expr_const(g, (double)o->each));
    return look_up_later(l, 0, o->point, o->npoints, 1, point, out);
}

bool lgv_load_paths_of(struct lgv_loader *l, int node, const char *name, double *typical, int *out) {
    struct lgv_file_call c;
    long column;
    double low = INFINITY, high = -INFINITY;
    bool ready = lgv_load_call(l, node, &c), ok = ready;
    if (ok && (c.count < 2 || c.count > 3 || strcmp(c.word[c.count - 1], "paths") != 0))
        ok = lgv_yaml_fail(l, node, "a parameter is a number, or file(FILE, paths) or file(FILE, COLUMN, paths)");
    ok = ok && lgv_load_column(l, node, &c, c.count == 3 ? c.word[1] : name, &column) &&
         look_up_later(l, node, c.csv.value + column, c.csv.rows, c.csv.columns, path_in_point(l), out);
    for (size_t k = 0; ok && k < c.csv.rows; k++) {
        low = fmin(low, c.csv.value[k * c.csv.columns + (size_t)column]);
        high = fmax(high, c.csv.value[k * c.csv.columns + (size_t)column]);
    }
    *typical = lgv_between(low, high, 8 + (int)l->m->graph->ndrawn);
    if (ready) lgv_csv_free(&c.csv);
    return ok;
}

bool lgv_load_by_point_end(struct lgv_loader *l) {
    struct lgv_model *m = l->m;
    if (!m->ntabulated) return true;
    double *grown = realloc(m->par, (m->npar + m->ntabulated + 2) * sizeof *grown);
    if (!grown) return lgv_yaml_memory(l);
    m->par = grown;
    m->scope.par = m->par;
    memcpy(m->par + m->npar, l->rows, m->ntabulated * sizeof *grown);
    for (size_t k = 0; k < m->graph->ntables; k++) m->graph->tabulated[k].at += (long)m->npar;
    return true;
}

void lgv_model_table_words(const struct lgv_model *m, size_t k, struct lgv_text *out) {
    static const char *const outside[] = {"not defined outside", "straight on outside", "periodic"};
    const struct lgv_table *t = &m->graph->tabulated[k];
    lgv_text_add(out, "%s on [%.6g, %.6g], %ld points%s, degree %d, %s", t->name, m->par[t->at + LGV_TABLE_LOW],
                 m->par[t->at + LGV_TABLE_HIGH], t->intervals + 1, t->even ? " equally far apart" : "", t->degree,
                 outside[t->outside]);
}
