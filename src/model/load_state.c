/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sections of a model file that say what there is: coordinates, momenta and velocities with their start values, and
 * generators of symmetries. */
#include "model/load.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- components and their values ---- */

/* Where the values of one declared name go: start values and generators are read alike. */
struct target {
    const struct lgv_declared *d;
    int *out;          /* [d->size] */
    const char *place; /* for messages */
    unsigned allow;
    enum lgv_space space; /* start values: the space of the name itself */
    bool start;
    bool spread; /* one formula may stand for all components */
    const int *row0; /* of the model, beside at[0] */
    size_t *at;      /* NULL, or where in the file each row stands: bytes */
};

static void stands(const struct lgv_loader *l, const struct target *t, const int *out, int node) {
    if (t->at) t->at[out - t->row0] = lgv_yaml_node(l, node)->at;
}

static bool components(struct lgv_loader *l, const struct target *t, int node, int *out) {
    struct lgv_value v;
    if (t->d->dim == 4) return lgv_load_rotation(l, node, t->place, t->allow, out);
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    if (n->kind == LGV_YAML_SEQUENCE && t->d->dim > 1) {
        if (n->count != t->d->dim)
            return lgv_yaml_fail(l, node, "%s has %d components, but this sequence has %d entries", t->d->name,
                                 t->d->dim, n->count);
        for (int child = n->first; child >= 0; child = lgv_yaml_next(l, child), out++) {
            if (!lgv_load_number(l, child, t->place, t->allow, out)) return false;
            stands(l, t, out, child);
        }
        return true;
    }
    if (!lgv_load_formula(l, node, t->place, t->allow, &v, NULL)) return false;
    for (int k = 0; k < t->d->dim; k++) stands(l, t, out + k, node);
    if (v.dim == t->d->dim) {
        memcpy(out, v.node, (size_t)v.dim * sizeof *out);
        return true;
    }
    if (v.dim > 1 || !(t->start || t->spread))
        return lgv_yaml_fail(l, node, "%s has %d component%s, but this value has %d", t->d->name, t->d->dim,
                             t->d->dim > 1 ? "s" : "", v.dim);
    out[0] = v.node[0]; /* one formula for all components: each has draws of its own */
    for (int k = 1; k < t->d->dim; k++)
        if (!lgv_load_number(l, node, t->place, t->allow, &out[k])) return false;
    return true;
}

bool lgv_load_symbol(struct lgv_loader *l, const char *name, const struct lgv_declared *d, enum lgv_space space,
                     long entries) {
    struct lgv_scope *scope = &l->m->scope;
    struct lgv_symbol *s = lgv_scope_find(scope, name);
    if (d->part == 1) return true;
    if (!s && !(s = lgv_scope_add(scope, name, LGV_SYM_STATE))) return lgv_yaml_memory(l);
    s->space = space;
    s->offset = d->part ? d->beside : d->offset;
    s->turned = d->offset;
    s->length = d->length ? entries : 0;
    s->dim = !d->part ? d->dim : d->dim == 4 ? LGV_POSE : LGV_PAIR;
    return true;
}

/* Start values may refer to entries that have one already: the array is known up to there. */
static bool known_so_far(struct lgv_loader *l, const struct target *t, long entries) {
    bool whole = !t->d->part || !t->d->length || entries == t->d->length; /* bodies are known when all of them are */
    return !t->start || entries == 0 || !whole || lgv_load_symbol(l, t->d->name, t->d, t->space, entries);
}

/* A name whose start values are 0, or come later: their nodes are 0, the constant 0. */
static bool known_as_zero(struct lgv_loader *l, const struct target *t) {
    return known_so_far(l, t, 1) && (t->d->length < 2 || known_so_far(l, t, t->d->length));
}

/* A sequence for an array of points: one vector for all of them (its components), or one value per point?  When the
 * number of points is the dimension, points are told from components by being written as vectors. */
static bool one_vector(const struct lgv_loader *l, const struct lgv_declared *d, int node) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    bool fits = n->count == d->dim || (d->dim == 4 && n->count == 3);
    if (d->dim == 1 || !fits) return false;
    if (n->count != d->length) return true;
    const struct lgv_yaml_node *first = lgv_yaml_node(l, n->first);
    if (d->dim == 4 && first->kind == LGV_YAML_SCALAR && strcmp(first->text, "uniform") == 0) return false;
    return first->kind == LGV_YAML_SCALAR && first->text[strspn(first->text, " \t\r\n")] != '[';
}

/* A value for each entry of an array, with i bound to its number. */
static bool entries(struct lgv_loader *l, const struct target *t, int node) {
    struct lgv_scope *scope = &l->m->scope;
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    bool listed = n->kind == LGV_YAML_SEQUENCE && !one_vector(l, t->d, node);
    if (listed && n->count != t->d->length)
        return lgv_yaml_fail(l, node, "%s has %ld entries, but this sequence has %d", t->d->name, t->d->length,
                             n->count);
    int child = listed ? n->first : node;
    for (long k = 0; k < t->d->length; k++) {
        if (!known_so_far(l, t, k)) return false;
        size_t known = scope->count;
        struct lgv_symbol *s = lgv_scope_add(scope, "i", LGV_SYM_VALUE);
        if (!s) return lgv_yaml_memory(l);
        s->value = (struct lgv_value){1, {lgv_expr_const(scope->graph, (double)(k + 1))}};
        bool ok = components(l, t, child, t->out + k * t->d->dim);
        lgv_load_drop(scope, known);
        if (!ok) return false;
        if (listed) child = lgv_yaml_next(l, child);
    }
    return known_so_far(l, t, t->d->length);
}

static void component_name(const struct lgv_declared *d, bool momentum, long k, struct lgv_text *out);

/* file(FILE, paths) or file(FILE, columns, paths): a row for each path, a column for each component. */
static bool by_path(struct lgv_loader *l, const struct target *t, int node, const struct lgv_file_call *c) {
    const size_t named = c->count - 2;
    bool ok = !named || (long)named == t->d->size ||
              lgv_yaml_fail(l, node, "%s has %ld component%s, but %zu columns are named", t->d->name, t->d->size,
                            t->d->size == 1 ? "" : "s", named);
    for (long k = 0; ok && k < t->d->size; k++) {
        struct lgv_text name = {0};
        long column;
        component_name(t->d, t->space != LGV_Q, k, &name);
        if (name.failed) ok = lgv_yaml_memory(l);
        ok = ok && lgv_load_column(l, node, c, named ? c->word[1 + k] : name.data, &column) &&
             lgv_load_by_path(l, node, &c->csv, column, &t->out[k]);
        lgv_text_free(&name);
    }
    return ok && known_so_far(l, t, 1) && known_so_far(l, t, t->d->length ? t->d->length : 1);
}

/* Numbers of a file, a row for each entry. */
static bool from_file(struct lgv_loader *l, const struct target *t, int node) {
    struct lgv_file_call c;
    bool ready = lgv_load_call(l, node, &c);
    const bool paths = ready && c.count > 1 && strcmp(c.word[c.count - 1], "paths") == 0;
    bool done = paths && by_path(l, t, node, &c);
    lgv_csv_free(&c.csv);
    if (!ready || paths) return done;
    const long rows = t->d->length ? t->d->length : 1;
    const int dim = t->d->dim;
    double *x = lgv_new((size_t)t->d->size, sizeof *x);
    bool ok = x ? lgv_load_numbers(l, node, t->d->name, rows, dim, x) : lgv_yaml_memory(l);
    for (long i = 0; ok && i < t->d->size; i++) {
        const double *row = x + i / dim * dim;
        double size = dim == 4 ? sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2] + row[3] * row[3]) : 1;
        if (!(size > 0)) ok = lgv_yaml_fail(l, node, "the quaternion in row %ld is 0", i / dim + 1);
        t->out[i] = lgv_expr_const(l->m->graph, x[i] / size);
    }
    free(x);
    return ok && known_so_far(l, t, 1) && known_so_far(l, t, rows);
}

static bool values(struct lgv_loader *l, const struct target *t, int node) {
    if (t->start && lgv_load_is_call(l, node, "file")) return from_file(l, t, node);
    if (t->start && t->space != LGV_Q && lgv_load_is_maxwellian(l, node)) {
        for (long i = 0; i < t->d->size; i++) l->maxwellian[t->d->offset + i] = node;
        return known_as_zero(l, t);
    }
    if (t->d->length) return entries(l, t, node);
    return components(l, t, node, t->out) && known_so_far(l, t, 1);
}

static const char *const parts[2][2] = {{"position", "rotation"}, {"linear", "angular"}};

/* A body by its parts, d and d + 1; t->out is row 0.  What is left out is 0, and no rotation. */
static bool body_values(struct lgv_loader *l, struct target t, int node) {
    const struct lgv_declared *d = t.d;
    const char *const *name = parts[t.space == LGV_P || t.space == LGV_V];
    const bool mapping = lgv_yaml_node(l, node)->kind == LGV_YAML_MAPPING;
    int *out = t.out, given[2] = {mapping ? -1 : node, mapping ? -1 : node};
    if (!mapping && !t.spread && !(t.space != LGV_Q && t.start && lgv_load_is_maxwellian(l, node)))
        return lgv_yaml_fail(l, node, "%s belongs to a body: give {%s: ..., %s: ...}", d->name, name[0], name[1]);
    if (mapping) LGV_EACH(l, node, key, value) {
        const char *text = lgv_yaml_node(l, key)->text;
        int k = 0;
        while (k < 2 && strcmp(name[k], text) != 0) k++;
        if (k == 2)
            return lgv_yaml_fail(l, key, "unknown key %.60s; here a body has %s and %s", text, name[0], name[1]);
        if (given[k] >= 0) return lgv_yaml_fail(l, key, "%s is given twice", text);
        given[k] = value;
    }
    for (int k = 0; k < 2; k++) {
        t.d = &d[k];
        t.out = out + t.d->offset;
        if (given[k] >= 0 && !values(l, &t, given[k])) return false;
        if (given[k] < 0 && t.d->dim == 4)
            for (long i = 0; i < t.d->size; i += 4) t.out[i] = lgv_expr_const(l->m->graph, 1);
        if (given[k] < 0 && !known_so_far(l, &t, t.d->length ? t.d->length : 1)) return false;
    }
    return true;
}

/* ---- coordinates and momenta ---- */

/* The value of characters at .. at + n - 1 of a key, a formula of parameters. */
static bool value_in_key(struct lgv_loader *l, int key, size_t at, size_t n, const char *place, double *out) {
    struct lgv_scope *scope = &l->m->scope;
    struct lgv_formula_error why;
    struct lgv_value v;
    char *text = lgv_copy_n(lgv_yaml_node(l, key)->text + at, n);
    if (!text) return lgv_yaml_memory(l);
    scope->allow = 0;
    scope->place = place;
    bool ok = lgv_formula_parse(scope, text, &v, NULL, &why);
    free(text);
    why.offset += at;
    if (!ok) return lgv_yaml_fail_in(l, key, &why);
    struct lgv_evaluator e;
    struct lgv_env env = {.par = l->m->par};
    if (v.dim != 1) return lgv_yaml_fail(l, key, "%s is a number, but this is a vector", place);
    if (lgv_load_is_drawn(l, v.node[0])) return lgv_yaml_fail(l, key, "%s cannot be random", place);
    if (!lgv_eval_begin(&e, l->m->graph)) return lgv_yaml_memory(l);
    *out = lgv_eval_node(&e, v.node[0], &env, NULL);
    lgv_eval_end(&e);
    lgv_scope_fix(scope, v.node[0]);
    return true;
}

/* What follows the name: " mod PERIOD" and perhaps " from START". */
static bool read_period(struct lgv_loader *l, int key, size_t at, struct lgv_declared *d) {
    const char *text = lgv_yaml_node(l, key)->text, *from = strstr(text + at, " from ");
    size_t end = from ? (size_t)(from - text) : strlen(text), begin = at + strlen(" mod ");
    if (!value_in_key(l, key, begin, end - begin, "a period", &d->period)) return false;
    if (from && !value_in_key(l, key, end + 6, strlen(from + 6), "the beginning of a range", &d->from)) return false;
    if (!(d->period > 0) || !isfinite(d->period) || !(d->period > 1e-9 * fabs(d->from)))
        return lgv_yaml_fail(l, key, "%s has the period %g from %g on; it must be a positive number, not small against "
                                     "where it begins", d->name, d->period, d->from);
    return true;
}

bool lgv_load_declare(struct lgv_loader *l, int key, struct lgv_declared *d) {
    struct lgv_formula_error why;
    const char *text = lgv_yaml_node(l, key)->text, *period = strstr(text, " mod ");
    char *name = lgv_copy_n(text, period ? (size_t)(period - text) : strlen(text));
    if (!name) return lgv_yaml_memory(l);
    bool ok = lgv_formula_declaration(&l->m->scope, name, d->name, sizeof d->name, &d->length, &d->dim, &why);
    free(name);
    if (!ok) return lgv_yaml_fail_in(l, key, &why);
    if (!lgv_load_new_name(l, key, d->name)) return false;
    d->reduced = d->dim == LGV_SO3_DUAL || d->dim == LGV_SE3_DUAL;
    d->coupled = d->dim == LGV_COUPLED || d->dim == LGV_SE3_DUAL;
    d->part = d->dim == LGV_POSE || d->coupled;
    if (d->part || d->reduced) d->dim = 3;
    d->size = d->dim * (d->length ? d->length : 1);
    if (d->reduced && (period || l->ncoordinates))
        return lgv_yaml_fail(l, key, period ? "a momentum has no period: only coordinates can be periodic"
                                            : "momenta in so3* or se3* stand for themselves, without rotations and "
                                              "bodies: a model of them has no coordinates");
    return !period || read_period(l, key, (size_t)(period - text), d);
}

struct lgv_declared lgv_load_second_part(const struct lgv_declared *d, int dim) {
    struct lgv_declared r = *d;
    r.part = 2;
    r.period = r.from = 0;
    r.beside = d->offset;
    r.dim = dim;
    r.size = dim * (d->length ? d->length : 1);
    r.offset = d->offset + d->size;
    return r;
}

/* Of every component, when there are any. */
static bool keep_periods(struct lgv_loader *l) {
    struct lgv_model *m = l->m;
    for (size_t k = 0; k < l->ncoordinates; k++) {
        const struct lgv_declared *d = &l->coordinate[k];
        if (!(d->period > 0)) continue;
        if (!m->period && !(m->period = lgv_new(2 * m->nx, sizeof *m->period))) return lgv_yaml_memory(l);
        for (long i = d->offset; i < d->offset + d->size; i++) {
            m->period[i] = d->period;
            m->period[m->nx + (size_t)i] = d->from;
        }
    }
    return true;
}

static void component_name(const struct lgv_declared *d, bool momentum, long k, struct lgv_text *out) {
    lgv_text_add(out, "%s", d->name);
    if (d->length) lgv_text_add(out, "[%ld]", k / d->dim + 1);
    if (d->part) lgv_text_add(out, ".%s", parts[momentum][d->part - 1]);
    if (d->dim > 1) lgv_text_add(out, ".%c", (d->dim == 4 ? "wxyz" : "xyz")[k % d->dim]);
}

static bool name_components(struct lgv_loader *l, const struct lgv_declared *d, bool momentum, char **out) {
    for (long k = 0; k < d->size; k++) {
        struct lgv_text t = {0};
        component_name(d, momentum, k, &t);
        out[k] = t.data;
        if (t.failed) return lgv_yaml_memory(l);
    }
    return true;
}

bool lgv_load_starts(struct lgv_loader *l, int node, const struct lgv_declared *d, enum lgv_space space, int *start,
                     char **component) {
    struct lgv_model *m = l->m;
    size_t k = 0;
    m->scope.draws = m->draws;
    bool ok = true;
    LGV_EACH(l, node, key, value) {
        const size_t count = d[k].part ? 2 : 1;
        struct target t = {.d = &d[k],
                           .out = d[k].part ? start : start + d[k].offset,
                           .place = "a start value",
                           .space = space,
                           .start = true,
                           .allow = LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES(LGV_V) | LGV_USES(LGV_NORMAL) |
                                    LGV_USES(LGV_UNIFORM)};
        ok = d[k].part ? body_values(l, t, value) : values(l, &t, value);
        for (size_t i = 0; ok && i < count; i++, k++)
            ok = name_components(l, &d[k], space != LGV_Q, component + d[k].offset);
        if (!ok) break;
    }
    m->scope.draws = NULL;
    return ok;
}

/* What stands for forces, friction or a direction by the name of a coordinate. */
static bool no_coordinate(struct lgv_loader *l, int key, const char *name) {
    const size_t n = strcspn(name, "[ ");
    for (size_t k = 0; k < l->nmomenta + l->nvelocities; k++) {
        const bool velocity = k >= l->nmomenta;
        const struct lgv_declared *d = velocity ? &l->velocity[k - l->nmomenta] : &l->momentum[k];
        if (strncmp(d->name, name, n) == 0 && !d->name[n])
            return lgv_yaml_fail(l, key, "%.60s is a %s; what belongs to it stands under its coordinate, %.60s", name,
                                 velocity ? "velocity" : "momentum",
                                 l->coordinate[velocity ? k - l->nmomenta : k].name);
    }
    return lgv_yaml_fail(l, key, "there is no coordinate %.60s", name);
}

bool lgv_load_positions(struct lgv_loader *l, int node, const char *place, unsigned allow, int *out) {
    bool seen[LGV_MAX_ENTRIES] = {0};
    if (!lgv_yaml_mapping(l, node, "positions as name: value")) return false;
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        size_t k = 0;
        while (k < l->ncoordinates && strcmp(l->coordinate[k].name, name) != 0) k++;
        if (k == l->ncoordinates) return no_coordinate(l, key, name);
        if (seen[k]) return lgv_yaml_fail(l, key, "%s is given twice", name);
        const struct lgv_declared *d = &l->coordinate[k];
        struct target t = {.d = d, .out = d->part ? out : out + d->offset, .place = place, .allow = allow};
        if (d->part ? !body_values(l, t, value) : !values(l, &t, value)) return false;
        seen[k] = true;
        if (d->part) seen[k + 1] = true;
    }
    for (size_t k = 0; k < l->ncoordinates; k++)
        if (!seen[k])
            return lgv_yaml_fail(l, node, "%s is missing: every coordinate has a position", l->coordinate[k].name);
    return true;
}

/* Where the rotations of one name stand; bodies: how many there have been. */
static bool keep_rotations(struct lgv_loader *l, int key, const struct lgv_declared *d, long *bodies) {
    struct lgv_graph *g = l->m->graph;
    long count = d->length ? d->length : 1;
    if (d->period > 0) return lgv_yaml_fail(l, key, "%s is a rotation, which has no period", d->name);
    if (g->nrotations == LGV_MAX_ROTATIONS)
        return lgv_yaml_fail(l, key, "more than %d names of rotations; use arrays", LGV_MAX_ROTATIONS);
    g->rotation[g->nrotations++] = (struct lgv_rotations){
        .q = d->offset, .p = d->offset - *bodies, .count = count, .coupled = d->coupled};
    *bodies += count;
    return true;
}

/* The shape that momenta, velocities, forces, ... of a coordinate have. */
static struct lgv_declared partner(const struct lgv_loader *l, size_t k) {
    struct lgv_declared d = l->coordinate[k];
    const struct lgv_graph *g = l->m->graph;
    if (g->reduced) return l->momentum[k];
    for (size_t i = 0; i < g->nrotations; i++)
        if (g->rotation[i].q < l->coordinate[k].offset) d.offset -= g->rotation[i].count;
    if (d.dim == 4) {
        d.dim = 3;
        d.size = 3 * (d.length ? d.length : 1);
        d.beside = d.offset - d.size; /* of a body: its linear momenta come first */
    }
    return d;
}

bool lgv_load_coordinates(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (!lgv_yaml_mapping(l, node, "coordinates as name: start value")) return false;
    size_t count = (size_t)lgv_yaml_node(l, node)->count / 2;
    if (!count) return lgv_yaml_fail(l, node, "the model has no coordinates");
    l->coordinate = lgv_new(2 * count, sizeof *l->coordinate);
    if (!l->coordinate) return lgv_yaml_memory(l);
    long total = 0, bodies = 0;
    LGV_EACH(l, node, key, value) {
        struct lgv_declared *d = &l->coordinate[l->ncoordinates];
        if (!lgv_load_declare(l, key, d)) return false;
        if (d->reduced)
            return lgv_yaml_fail(l, key, "so3* and se3* are spaces of momenta: declare %s in the section momenta, in a "
                                         "model without coordinates", d->name);
        for (size_t k = 0; k < l->ncoordinates; k++)
            if (strcmp(l->coordinate[k].name, d->name) == 0)
                return lgv_yaml_fail(l, key, "%s is declared twice", d->name);
        d->offset = total;
        total += d->size;
        l->ncoordinates++;
        if (d->part) {
            d[1] = lgv_load_second_part(d, 4);
            total += (++d)->size;
            l->ncoordinates++;
        }
        if (d->dim == 4 && !keep_rotations(l, key, d, &bodies)) return false;
        if (total > LGV_MAX_DOF) return lgv_yaml_fail(l, key, "more than %d degrees of freedom", LGV_MAX_DOF);
        if (l->ncoordinates > LGV_MAX_ENTRIES) return lgv_yaml_fail(l, key, "more than %d names", LGV_MAX_ENTRIES);
    }
    m->start = lgv_new((size_t)(2 * total - bodies), sizeof *m->start);
    m->component = lgv_new((size_t)(2 * total - bodies), sizeof *m->component);
    l->maxwellian = lgv_new((size_t)(total - bodies), sizeof *l->maxwellian);
    if (!m->start || !m->component || !l->maxwellian) return lgv_yaml_memory(l);
    m->nx = (size_t)total;
    m->np = (size_t)(total - bodies);
    if (!keep_periods(l)) return false;
    return lgv_load_starts(l, node, l->coordinate, LGV_Q, m->start, m->component);
}

static bool standard_momenta(struct lgv_loader *l) {
    struct lgv_model *m = l->m;
    for (size_t k = 0; k < l->ncoordinates; k++) {
        struct lgv_declared *d = &l->momentum[k];
        *d = partner(l, k);
        snprintf(d->name, sizeof d->name, "p_%.60s", l->coordinate[k].name);
        if (d->part != 2 && lgv_scope_find(&m->scope, d->name)) {
            lgv_fail(l->err, LGV_BAD_INPUT,
                     l->nvelocities ? "%s: %s is the name of the momentum of %s: choose another name"
                                    : "%s: %s is in use: give the momenta names in a section momenta",
                     l->file, d->name, l->coordinate[k].name);
            return false;
        }
        struct target t = {.d = d, .space = LGV_P, .start = true};
        if (!known_as_zero(l, &t)) return false;
        if (!name_components(l, d, true, m->component + m->nx + d->offset)) return false;
    }
    l->nmomenta = l->ncoordinates;
    return true;
}

/* Names in the order and with the shapes of the coordinates. */
static bool declare_partners(struct lgv_loader *l, int node, bool velocities, struct lgv_declared *out, size_t *count) {
    const char *many = velocities ? "velocities" : "momenta", *one = velocities ? "velocity" : "momentum";
    char what[64];
    snprintf(what, sizeof what, "%s as name: start value", many);
    if (!lgv_yaml_mapping(l, node, what)) return false;
    size_t given = (size_t)lgv_yaml_node(l, node)->count / 2, names = 0;
    for (size_t k = 0; k < l->ncoordinates; k++) names += l->coordinate[k].part != 2;
    if (given != names)
        return lgv_yaml_fail(l, node, "%zu coordinates, but %zu %s: each coordinate has one, in the same order", names,
                             given, many);
    LGV_EACH(l, node, key, value) {
        const struct lgv_declared own = partner(l, *count), *q = &own;
        struct lgv_declared *d = &out[*count];
        if (!lgv_load_declare(l, key, d)) return false;
        if (d->period > 0) return lgv_yaml_fail(l, key, "a %s has no period: only coordinates can be periodic", one);
        for (size_t k = 0; k < *count; k++)
            if (strcmp(out[k].name, d->name) == 0) return lgv_yaml_fail(l, key, "%s is declared twice", d->name);
        if ((d->length && d->length != q->length) || (d->dim > 1 && d->dim != q->dim) || (d->part && !q->part))
            return lgv_yaml_fail(l, key, "%s is the %s of %s and must have its shape", d->name, one, q->name);
        d->length = q->length;
        d->dim = q->dim;
        d->offset = q->offset;
        d->size = q->size;
        d->part = q->part;
        d->coupled = q->coupled;
        ++*count;
        if (!d->part) continue;
        d[1] = lgv_load_second_part(d, 3);
        ++*count;
    }
    return true;
}

bool lgv_load_momenta(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    l->momentum = lgv_new(l->ncoordinates, sizeof *l->momentum);
    if (!l->momentum) return lgv_yaml_memory(l);
    if (node < 0) return standard_momenta(l);
    if (lgv_load_is_maxwellian(l, node)) {
        for (size_t i = 0; i < m->np; i++) l->maxwellian[i] = node;
        return standard_momenta(l);
    }
    return declare_partners(l, node, false, l->momentum, &l->nmomenta) &&
           lgv_load_starts(l, node, l->momentum, LGV_P, m->start + m->nx, m->component + m->nx);
}

bool lgv_load_velocities(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (node < 0) return true;
    l->velocity = lgv_new(l->ncoordinates, sizeof *l->velocity);
    m->start_velocity = lgv_new(m->np, sizeof *m->start_velocity);
    m->velocity_name = lgv_new(m->np, sizeof *m->velocity_name);
    if (!l->velocity || !m->start_velocity || !m->velocity_name) return lgv_yaml_memory(l);
    return declare_partners(l, node, true, l->velocity, &l->nvelocities) &&
           lgv_load_starts(l, node, l->velocity, LGV_V, m->start_velocity, m->velocity_name);
}

/* ---- symmetries ---- */

static bool by_name(struct lgv_loader *l, int node, const char *place, unsigned allow, bool spread, int *out,
                    size_t *at) {
    if (!lgv_yaml_mapping(l, node, "coordinates as name: formula")) return false;
    bool seen[LGV_MAX_ENTRIES] = {0};
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        size_t k = 0, n = strcspn(name, "[ ");
        while (k < l->ncoordinates && (strncmp(l->coordinate[k].name, name, n) != 0 || l->coordinate[k].name[n])) k++;
        if (k == l->ncoordinates) return no_coordinate(l, key, name);
        if (seen[k]) return lgv_yaml_fail(l, key, "%s is given twice", l->coordinate[k].name);
        seen[k] = true;
        const struct lgv_declared own = partner(l, k), *d = &own;
        if (name[n] == '[' && isdigit((unsigned char)name[n + 1]) && strtol(name + n + 1, NULL, 10) != d->length)
            return lgv_yaml_fail(l, key,
                                 "%.60s is one entry of %s; give all of them: a sequence, or a formula where i is the "
                                 "number of the entry", name, d->name);
        struct target t = {.d = d, .out = out + d->offset, .place = place, .allow = allow, .spread = spread,
                           .space = own.reduced ? LGV_P : LGV_Q, .row0 = out, .at = at};
        const struct lgv_declared both[2] = {own, own.part ? partner(l, k + 1) : own};
        if (own.part) t.d = both, t.out = out;
        if (!(own.part ? body_values(l, t, value) : values(l, &t, value))) return false;
    }
    return true;
}

static bool as_list(struct lgv_loader *l, int node, const char *place, unsigned allow, int *out, size_t *at) {
    size_t np = l->m->np;
    const struct target t = {.row0 = out, .at = at};
    if (!lgv_yaml_sequence(l, node, LGV_MAX_DOF, "a sequence of formulas or a mapping name: formula")) return false;
    if ((size_t)lgv_yaml_node(l, node)->count != np)
        return lgv_yaml_fail(l, node,
                             "%s has one component for each of the %zu degrees of freedom, but this sequence has %d",
                             place, np, lgv_yaml_node(l, node)->count);
    for (int child = lgv_yaml_node(l, node)->first; child >= 0; child = lgv_yaml_next(l, child), out++) {
        if (!lgv_load_number(l, child, place, allow, out)) return false;
        stands(l, &t, out, child);
    }
    return true;
}

bool lgv_load_per_coordinate(struct lgv_loader *l, int node, const char *place, unsigned allow, bool spread, int *out,
                             size_t *at) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    for (size_t k = 0; at && k < l->m->np; k++) at[k] = n->at;
    if (n->kind == LGV_YAML_MAPPING) return by_name(l, node, place, allow, spread, out, at);
    if (n->kind == LGV_YAML_SEQUENCE || !spread) return as_list(l, node, place, allow, out, at);
    if (!lgv_load_number(l, node, place, allow, &out[0])) return false;
    for (size_t k = 1; k < l->m->np; k++) out[k] = out[0];
    return true;
}

/* The generator as written, on one line. */
static char *source_of(struct lgv_loader *l, int node) {
    struct lgv_text t = {0};
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    bool mapping = n->kind == LGV_YAML_MAPPING;
    int k = 0;
    for (int child = n->first; child >= 0 && t.size < 1000; child = lgv_yaml_next(l, child), k++) {
        const struct lgv_yaml_node *c = lgv_yaml_node(l, child);
        lgv_text_add(&t, "%s", k == 0 ? "" : mapping && k % 2 ? ": " : ", ");
        if (c->kind == LGV_YAML_SCALAR) {
            lgv_text_add(&t, "%s", c->text);
        } else {
            char *inner = source_of(l, child);
            lgv_text_add(&t, "[%s]", inner ? inner : "");
            free(inner);
        }
    }
    lgv_text_add(&t, "%s", "");
    return t.data;
}

bool lgv_load_symmetries(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (node < 0 && !m->graph->reduced) return true;
    if (node >= 0 && !lgv_yaml_mapping(l, node, "symmetries as name: generator")) return false;
    size_t count = node >= 0 ? (size_t)lgv_yaml_node(l, node)->count / 2 : 0;
    if (count > LGV_MAX_SYMMETRIES) return lgv_yaml_fail(l, node, "more than %d symmetries", LGV_MAX_SYMMETRIES);
    m->symmetry = lgv_new(m->graph->reduced ? LGV_MAX_SYMMETRIES : count + 1, sizeof *m->symmetry);
    if (!m->symmetry) return lgv_yaml_memory(l);
    if (node < 0) return true;
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        for (size_t k = 0; k < m->nsymmetries; k++)
            if (strcmp(m->symmetry[k].name, name) == 0) return lgv_yaml_fail(l, key, "%.60s is declared twice", name);
        if (!lgv_formula_is_name(name))
            return lgv_yaml_fail(l, key, "'%.60s' is not a name (a letter, then letters, digits and _)", name);
        struct lgv_symmetry *s = &m->symmetry[m->nsymmetries++];
        s->name = lgv_copy(name);
        s->text = source_of(l, value);
        s->xi = lgv_new(m->np, sizeof *s->xi); /* node 0 is the constant 0 */
        if (!s->name || !s->text || !s->xi) return lgv_yaml_memory(l);
        if (!lgv_load_per_coordinate(l, value, "a symmetry", LGV_USES(LGV_Q), false, s->xi, NULL)) return false;
    }
    return true;
}
