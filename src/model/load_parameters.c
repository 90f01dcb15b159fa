/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The section `parameters`: numbers with names, and arrays of them.
 *
 *     N: 3
 *     mass[N]: [1, 2, 4]        one value for each entry, or
 *     charge[N]: 1 - 2*mod(i, 2)        a formula in which i is the number of the entry, or
 *     radius[N]: file(atoms.csv, r)     the numbers of a column
 *     f: file(forces.csv, paths)        a value for every path: a row each, of the column f
 *
 * An array is as many parameters as it has entries, called NAME[1], NAME[2], ...; formulas take entry i of it by the
 * number of its first. */
#include "model/load.h"
#include <stdlib.h>
#include <string.h>

#define MOST_PARAMETERS 100000

static bool is_array(const char *key) {
    return strchr(key, '[') != NULL;
}

/* The value from outside, if there is one: of the entry, or of the whole array. */
static double overridden(const struct lgv_loader *l, const char *name, const char *array, double x) {
    for (size_t k = 0; k < l->noverrides; k++) {
        const char *given = l->override[k].name;
        if (strcmp(given, name) == 0 || (array && strcmp(given, array) == 0)) x = l->override[k].value;
    }
    return x;
}

static bool add(struct lgv_loader *l, const char *name, const char *array, double x) {
    struct lgv_model *m = l->m;
    char **grown = realloc(m->par_name, (m->npar + 2) * sizeof *grown);
    if (grown) m->par_name = grown;
    double *numbers = grown ? realloc(m->par, (m->npar + 2) * sizeof *numbers) : NULL;
    if (numbers) m->par = numbers;
    if (!numbers) return lgv_yaml_memory(l);
    m->par_name[m->npar] = lgv_copy(name);
    m->par_name[m->npar + 1] = NULL;
    if (!m->par_name[m->npar]) return lgv_yaml_memory(l);
    m->par[m->npar++] = overridden(l, name, array, x);
    m->scope.par = m->par;
    m->scope.npar = m->npar;
    return true;
}

bool lgv_load_add_parameter(struct lgv_loader *l, const char *name, double x) {
    return add(l, name, NULL, x);
}

/* The values from outside, if the parameter has another one at every point of a sweep; or NULL. */
static const struct lgv_override *by_point(const struct lgv_loader *l, const char *name, const char *array) {
    const struct lgv_override *found = NULL;
    for (size_t k = 0; k < l->noverrides; k++) {
        const struct lgv_override *o = &l->override[k];
        if (strcmp(o->name, name) == 0 || (array && strcmp(o->name, array) == 0)) found = o;
    }
    return found && found->point ? found : NULL;
}

static bool read_one(struct lgv_loader *l, int key, int value) {
    struct lgv_model *m = l->m;
    const char *name = lgv_yaml_node(l, key)->text;
    double x = 0;
    int formula;
    if (!lgv_load_new_name(l, key, name)) return false;
    const bool listed = lgv_load_is_call(l, value, "file");
    m->scope.draws = m->draws;
    bool ok = listed ? lgv_load_paths_of(l, value, name, &x, &formula)
                     : lgv_load_number(l, value, "a parameter", LGV_USES(LGV_NORMAL) | LGV_USES(LGV_UNIFORM), &formula);
    m->scope.draws = NULL;
    bool drawn = ok && lgv_load_is_drawn(l, formula);
    if (ok && !listed)
        ok = drawn ? lgv_load_typical(l, value, formula, &x) : lgv_load_value_now(l, value, formula, &x);
    ok = ok && add(l, name, NULL, x);
    for (size_t k = 0; k < l->noverrides; k++) drawn = drawn && strcmp(l->override[k].name, name) != 0;
    const struct lgv_override *points = by_point(l, name, NULL);
    if (ok && points) ok = drawn = lgv_load_by_point(l, points, &formula);
    if (!ok || (drawn && !lgv_load_drawn(l, key, (int)m->npar - 1, formula))) return false;
    struct lgv_symbol *s = lgv_scope_add(&m->scope, name, LGV_SYM_PARAMETER);
    if (!s) return lgv_yaml_memory(l);
    if (drawn && !points && !(s->text = lgv_copy(lgv_yaml_node(l, value)->text))) return lgv_yaml_memory(l);
    s->fixed = drawn; /* with a value from outside it is none any more, and the text is read again */
    s->index = (int)m->npar - 1;
    s->number = m->par[m->npar - 1];
    lgv_yaml_place(l, key, &s->line, &s->column);
    return true;
}

/* Has the entry, or its whole array, a value from outside? */
static bool given(const struct lgv_loader *l, const char *name, const char *array) {
    for (size_t k = 0; k < l->noverrides; k++)
        if (strcmp(l->override[k].name, name) == 0 || strcmp(l->override[k].name, array) == 0) return true;
    return false;
}

/* Entry k of the array, with i bound to its number.  *formula: of draws, or -1 where its value is known. */
static bool read_entry(struct lgv_loader *l, int node, const char *array, long k, int *formula) {
    struct lgv_scope *scope = &l->m->scope;
    const size_t known = scope->count;
    char name[LGV_MAX_NAME + 32];
    double x = 0;
    if (!lgv_load_value(l, "i", lgv_expr_const(scope->graph, (double)k))) return false;
    scope->draws = l->m->draws;
    bool ok = lgv_load_number(l, node, "a parameter", LGV_USES(LGV_NORMAL) | LGV_USES(LGV_UNIFORM), formula);
    scope->draws = NULL;
    bool drawn = ok && lgv_load_is_drawn(l, *formula);
    ok = ok && (drawn ? lgv_load_typical(l, node, *formula, &x) : lgv_load_value_now(l, node, *formula, &x));
    lgv_load_drop(scope, known);
    snprintf(name, sizeof name, "%s[%ld]", array, k);
    if (!drawn || given(l, name, array)) *formula = -1;
    const struct lgv_override *points = by_point(l, name, array);
    if (ok && points) ok = lgv_load_by_point(l, points, formula);
    return ok && add(l, name, array, x);
}

/* Entries that have values among those that are drawn are drawn, too: always the same. */
static bool draw_entries(struct lgv_loader *l, int key, int first, const int *formula, long length) {
    struct lgv_model *m = l->m;
    for (long k = 0; k < length; k++) {
        int number = first + (int)k, node = formula[k] >= 0 ? formula[k] : lgv_expr_const(m->graph, m->par[number]);
        if (!lgv_load_drawn(l, key, number, node)) return false;
    }
    return true;
}

/* *drawn: some of them are random. */
static bool read_entries(struct lgv_loader *l, int key, int value, const char *name, long length, bool *drawn) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, value);
    const bool listed = n->kind == LGV_YAML_SEQUENCE;
    const int first = (int)l->m->npar;
    int *formula = lgv_new((size_t)length + 1, sizeof *formula);
    bool ok = formula || lgv_yaml_memory(l);
    for (long k = 0, child = listed ? n->first : value; ok && k < length; k++) {
        ok = read_entry(l, (int)child, name, k + 1, &formula[k]);
        *drawn = *drawn || (ok && formula[k] >= 0);
        if (listed) child = lgv_yaml_next(l, (int)child);
    }
    ok = ok && (!*drawn || draw_entries(l, key, first, formula, length));
    free(formula);
    return ok;
}

/* All entries from a file. */
static bool read_column(struct lgv_loader *l, int node, const char *array, long length) {
    double *x = lgv_new((size_t)length + 1, sizeof *x);
    bool ok = x ? lgv_load_numbers(l, node, array, length, 1, x) : lgv_yaml_memory(l);
    for (long k = 0; ok && k < length; k++) {
        char name[LGV_MAX_NAME + 32];
        snprintf(name, sizeof name, "%s[%ld]", array, k + 1);
        ok = (!by_point(l, name, array) ||
              lgv_yaml_fail(l, node, "an entry of an array that is in a file has the same value at all points")) &&
             add(l, name, array, x[k]);
    }
    free(x);
    return ok;
}

static bool read_array(struct lgv_loader *l, int key, int value) {
    struct lgv_model *m = l->m;
    struct lgv_formula_error why;
    const struct lgv_yaml_node *n = lgv_yaml_node(l, value);
    char name[LGV_MAX_NAME];
    long length;
    int dim;
    if (!lgv_formula_declaration(&m->scope, lgv_yaml_node(l, key)->text, name, sizeof name, &length, &dim, &why))
        return lgv_yaml_fail_in(l, key, &why);
    if (dim != 1) return lgv_yaml_fail(l, key, "an array of parameters has numbers: %s[N]", name);
    if (!lgv_load_new_name(l, key, name)) return false;
    if (m->npar + (size_t)length > MOST_PARAMETERS)
        return lgv_yaml_fail(l, key, "more than %d parameters", MOST_PARAMETERS);
    const bool listed = n->kind == LGV_YAML_SEQUENCE;
    if (listed && n->count != length)
        return lgv_yaml_fail(l, value, "%s has %ld entries, but this sequence has %d", name, length, n->count);
    const int first = (int)m->npar;
    const bool column = lgv_load_is_call(l, value, "file");
    bool drawn = false;
    if (!(column ? read_column(l, value, name, length) : read_entries(l, key, value, name, length, &drawn)))
        return false;
    struct lgv_symbol *s = lgv_scope_add(&m->scope, name, LGV_SYM_PARAMETER);
    if (!s || (drawn && !listed && !(s->text = lgv_copy(n->text)))) return lgv_yaml_memory(l);
    s->index = first;
    s->length = length;
    lgv_yaml_place(l, key, &s->line, &s->column);
    return true;
}

bool lgv_model_has_parameter(const struct lgv_model *m, const char *name) {
    const struct lgv_symbol *s = lgv_scope_find(&m->scope, name);
    bool found = s && s->kind == LGV_SYM_PARAMETER;
    for (size_t i = 0; i < m->npar && !found; i++) found = strcmp(m->par_name[i], name) == 0;
    return found;
}

bool lgv_load_parameters(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (node >= 0 && !lgv_yaml_mapping(l, node, "parameters as name: value")) return false;
    m->par_name = lgv_new(1, sizeof *m->par_name);
    m->par = lgv_new(1, sizeof *m->par);
    if (!m->par_name || !m->par) return lgv_yaml_memory(l);
    if (node >= 0) LGV_EACH(l, node, key, value) {
        bool array = is_array(lgv_yaml_node(l, key)->text);
        if (array ? !read_array(l, key, value) : !read_one(l, key, value)) return false;
    }
    for (size_t k = 0; k < l->noverrides; k++) {
        const char *name = l->override[k].name;
        if (lgv_model_has_parameter(m, name)) continue;
        const char *near = lgv_nearest(name, (const char *const *)m->par_name, m->npar);
        lgv_fail(l->err, LGV_BAD_INPUT,
                 near ? "%s: there is no parameter %.80s; did you mean %s?" : "%s: there is no parameter %.80s",
                 l->file, name, near);
        return false;
    }
    return true;
}
