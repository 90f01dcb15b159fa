/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The stiff part V1 of a potential V = V0 + V1, `stiff`.  It has to be a part of V term by term, else V0 would hold
 * what takes a wrong V1 back.  Terms are those of the sums that are left when factors in front of sums are multiplied
 * out. */
#include "model/load.h"
#include <math.h>
#include <stdlib.h>

#define MOST_TERMS 20000

struct terms {
    struct lgv_arg *arg;
    size_t count, capacity;
};

static bool multiplied_out(struct lgv_graph *g, int node, double factor, struct terms *out);

/* rest times every term of a sum. */
static bool over_sum(struct lgv_graph *g, int rest, int sum, double factor, struct terms *out) {
    const struct lgv_node n = g->node[sum];
    bool ok = n.value == 0 || multiplied_out(g, rest, factor * n.value, out);
    for (int i = 0; ok && i < n.count; i++) {
        struct lgv_arg a = g->arg[n.first + i];
        ok = multiplied_out(g, lgv_expr_mul(g, rest, a.node), factor * a.factor, out);
    }
    return ok;
}

static bool multiplied_out(struct lgv_graph *g, int node, double factor, struct terms *out) {
    const struct lgv_node n = g->node[node];
    double x;
    if (g->failed || lgv_expr_is_const(g, node, &x)) return !g->failed;
    if (n.op == LGV_SUM) return over_sum(g, lgv_expr_const(g, 1), node, factor, out);
    int sum = -1, rest = lgv_expr_const(g, 1);
    for (int i = 0; n.op == LGV_PRODUCT && i < n.count; i++) {
        struct lgv_arg a = g->arg[n.first + i];
        if (sum < 0 && a.factor == 1 && g->node[a.node].op == LGV_SUM)
            sum = a.node;
        else
            rest = lgv_expr_mul(g, rest, lgv_expr_power(g, a.node, a.factor));
    }
    if (sum >= 0) return over_sum(g, rest, sum, factor, out);
    if (out->count == MOST_TERMS || !lgv_grow(&out->arg, &out->capacity, out->count + 1, sizeof *out->arg)) {
        g->failed = "a potential of too many terms";
        return false;
    }
    out->arg[out->count++] = (struct lgv_arg){node, factor};
    return true;
}

static int by_node(const void *a, const void *b) {
    int x = ((const struct lgv_arg *)a)->node, y = ((const struct lgv_arg *)b)->node;
    return (x > y) - (x < y);
}

/* Sorted, every term once. */
static void merge(struct terms *t) {
    size_t n = 0;
    if (t->count) qsort(t->arg, t->count, sizeof *t->arg, by_node);
    for (size_t i = 0; i < t->count; i++) {
        if (n && t->arg[n - 1].node == t->arg[i].node)
            t->arg[n - 1].factor += t->arg[i].factor;
        else
            t->arg[n++] = t->arg[i];
    }
    t->count = n;
}

/* Are all terms of `part` terms of `whole`? */
static bool is_part(struct lgv_graph *g, int part, int whole) {
    struct terms a = {0}, b = {0};
    bool yes = multiplied_out(g, part, 1, &a) && multiplied_out(g, whole, 1, &b);
    merge(&a);
    merge(&b);
    for (size_t i = 0; yes && i < a.count; i++) {
        const struct lgv_arg *at = b.count ? bsearch(&a.arg[i], b.arg, b.count, sizeof *b.arg, by_node) : NULL;
        yes = at && fabs(at->factor - a.arg[i].factor) <= 1e-12 * fabs(at->factor);
    }
    free(a.arg);
    free(b.arg);
    return yes;
}

/* V1 and H by their nests. */
static bool is_part_of_H(struct lgv_model *m, int stiff) {
    struct lgv_graph *g = m->graph;
    struct lgv_function V = {0}, H = {0};
    bool yes = lgv_function_split(g, stiff, false, &V) && lgv_function_split(g, m->hamiltonian, false, &H);
    for (size_t i = 0; yes && i < V.count; i++) {
        size_t k = 0;
        while (k < H.count && H.summand[k].nest != V.summand[i].nest) k++;
        yes = k < H.count && is_part(g, V.summand[i].body, H.summand[k].body);
    }
    lgv_function_free(&V);
    lgv_function_free(&H);
    return yes;
}

bool lgv_load_stiff(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (node < 0) return true;
    lgv_yaml_place(l, node, &m->stiff_line, &m->stiff_column);
    if (!lgv_load_number(l, node, "the stiff part of the potential", LGV_USES(LGV_Q) | LGV_USES_TIME, &m->stiff))
        return false;
    if (!(m->graph->node[m->stiff].uses & LGV_USES(LGV_Q)))
        return lgv_yaml_fail(l, node, "the stiff part of the potential does not depend on the coordinates");
    bool part = is_part_of_H(m, m->stiff);
    if (m->graph->failed) return lgv_yaml_fail(l, node, "%s", m->graph->failed);
    return part || lgv_yaml_fail(l, node,
                                 "this is not a part of the potential: its terms must be terms of it, with the same "
                                 "factors; write it in `where`, and its name here and in the potential");
}
