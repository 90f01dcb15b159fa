/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Known means of a comparison, --expect NAME=FORMULA. */
#include "study/compare_parts.h"
#include <stdlib.h>
#include <string.h>

static void drop_symbols(struct lgv_scope *scope, size_t count) {
    while (scope->count > count) free(scope->symbol[--scope->count].name);
}

/* The formula with NAME0 standing for the mean of each observable at the start. */
static enum lgv_status read_expected(struct lgv_comparing *x, size_t which, const double *start, int *node) {
    struct lgv_scope *scope = &x->m->scope;
    size_t known = scope->count;
    struct lgv_value value;
    struct lgv_formula_error why = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < x->nobservables; i++) {
        struct lgv_text name = {0};
        lgv_text_add(&name, "%s0", x->out->observable[i]);
        if (!name.failed && !lgv_scope_find(scope, name.data)) {
            struct lgv_symbol *s = lgv_scope_add(scope, name.data, LGV_SYM_VALUE);
            ok = s != NULL;
            if (s) s->value = (struct lgv_value){1, {lgv_expr_const(scope->graph, start ? start[i] : 1), 0, 0}};
        }
        lgv_text_free(&name);
    }
    scope->allow = LGV_USES_TIME;
    scope->place = "an expected mean";
    ok = ok && lgv_formula_parse(scope, x->o->expect[which].formula, &value, NULL, &why);
    drop_symbols(scope, known);
    if (!ok)
        return lgv_fail(x->err, LGV_BAD_INPUT, "--expect %s: at character %zu: %s", x->o->expect[which].name,
                        why.offset + 1, why.message);
    if (value.dim != 1)
        return lgv_fail(x->err, LGV_BAD_INPUT, "--expect %s: a number is wanted, not a vector",
                        x->o->expect[which].name);
    *node = value.node[0];
    return LGV_OK;
}

static size_t observable_named(const struct lgv_comparing *x, const char *name) {
    size_t i = 0;
    while (i < x->nobservables && strcmp(x->out->observable[i], name) != 0) i++;
    return i;
}

enum lgv_status lgv_compare_expected(struct lgv_comparing *x) {
    for (size_t k = 0; k < x->o->nexpect; k++) {
        int node;
        size_t i = observable_named(x, x->o->expect[k].name);
        if (i == x->nobservables)
            return lgv_fail(x->err, LGV_BAD_INPUT, "--expect %s: it is not among what is compared",
                            x->o->expect[k].name);
        enum lgv_status status = read_expected(x, k, NULL, &node);
        if (status) return status;
        x->given[i] = true;
    }
    return LGV_OK;
}

enum lgv_status lgv_compare_known(struct lgv_comparing *x, const struct lgv_leg *leg) {
    double *start = lgv_new(x->nobservables + 1, sizeof *start);
    enum lgv_status status = start ? LGV_OK : lgv_fail_memory(x->err);
    for (size_t i = 0; start && i < x->nobservables; i++) {
        struct lgv_pair_sums s = leg->sum[i];
        start[i] = lgv_pair_estimate(&s).plain;
    }
    for (size_t k = 0; !status && k < x->o->nexpect; k++) {
        struct lgv_evaluator e;
        int node;
        size_t i = observable_named(x, x->o->expect[k].name);
        status = read_expected(x, k, start, &node);
        free(x->out->expected[i]);
        free(x->out->expected_text[i]);
        x->out->expected[i] = lgv_new(x->out->ntimes, sizeof **x->out->expected);
        x->out->expected_text[i] = lgv_copy(x->o->expect[k].formula);
        if (status || !x->out->expected[i] || !lgv_eval_begin(&e, x->m->graph)) {
            if (!status) status = lgv_fail_memory(x->err);
            break;
        }
        for (size_t t = 0; t < x->out->ntimes; t++) {
            struct lgv_env env = {.par = x->m->par, .t = x->out->time[t]};
            x->out->expected[i][t] = lgv_eval_node(&e, node, &env, NULL);
        }
        lgv_eval_end(&e);
    }
    free(start);
    return status;
}
