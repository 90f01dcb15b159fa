/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: any text as a formula over a small fixed set of names.  A formula that is accepted is split into loops,
 * written out, differentiated and evaluated. */
#include "model/formula.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_state(struct lgv_scope *scope, const char *name, enum lgv_space space, long offset, long length,
                      int dim) {
    struct lgv_symbol *s = lgv_scope_add(scope, name, LGV_SYM_STATE);
    if (!s) abort();
    s->space = space;
    s->offset = offset;
    s->length = length;
    s->dim = dim;
}

static void declare(struct lgv_scope *scope) {
    struct lgv_value v;
    struct lgv_formula_error err;
    add_state(scope, "q", LGV_Q, 0, 0, 1);
    add_state(scope, "x", LGV_Q, 1, 6, 1);
    add_state(scope, "y", LGV_Q, 7, 4, 3);
    add_state(scope, "p", LGV_P, 0, 0, 1);
    struct lgv_symbol *s = lgv_scope_add(scope, "N", LGV_SYM_PARAMETER);
    if (!s) abort();
    s->number = 4;
    s = lgv_scope_add(scope, "V", LGV_SYM_MACRO);
    if (!s || !(s->text = lgv_copy("sum(k=1..3, r^2*k + x[k])")) || !(s->formals[0] = lgv_copy("r"))) abort();
    s->nformals = 1;
    if (!lgv_formula_parse(scope, "sum(i=1..N, x[i]*y[i].x)", &v, NULL, &err) ||
        !(s = lgv_scope_add(scope, "S", LGV_SYM_VALUE)))
        abort();
    s->value = v;
}

static void use(struct lgv_graph *g, int node) {
    double state[20] = {1, 2, 3, 4, 5, 6, 7}, par[1] = {4}, out[20];
    struct lgv_function f, written;
    struct lgv_terms terms = {0}, second = {0};
    struct lgv_evaluator e;
    struct lgv_env env = {.par = par, .space = {[LGV_Q] = state, [LGV_P] = state}};
    if (lgv_function_split(g, node, false, &f)) {
        lgv_terms_gradient(g, &f, LGV_Q, &terms);
        if (!g->failed) lgv_terms_hessian(g, &f, LGV_Q, LGV_Q, &second);
        if (!g->failed && lgv_function_split(g, node, true, &written)) lgv_function_free(&written);
        if (!g->failed && lgv_eval_begin(&e, g)) {
            lgv_eval_function(&e, &f, &env);
            lgv_eval_terms(&e, &terms, &env, out, 20, 0);
            lgv_eval_end(&e);
        }
    }
    lgv_terms_free(&terms);
    lgv_terms_free(&second);
    lgv_function_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    struct lgv_graph *g = lgv_expr_graph_create();
    if (!text || !g) abort();
    if (size) memcpy(text, data, size);
    text[size] = 0;
    double par[1] = {4};
    struct lgv_scope scope = {
        .graph = g, .par = par, .allow = LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES_TIME, .place = "a test"};
    declare(&scope);
    struct lgv_value v;
    struct lgv_formula_error err;
    int nest;
    if (lgv_formula_parse(&scope, text, &v, &nest, &err)) {
        if (nest < 0) use(g, v.node[0]);
    } else if (!err.message[0] || err.offset > size) {
        abort();
    }
    lgv_scope_free(&scope);
    lgv_expr_graph_free(g);
    free(text);
    return 0;
}
