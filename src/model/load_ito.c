/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Noise in the sense of Ito, `noise_ito`.  With h' the gradient of a noise h, h'' its Hessian and J h' its field,
 *
 *     dz = J H' dt + J h' dW   (Ito)   =   J (H' - a/2) dt + J h' o dW   (Stratonovich),      a = h'' J h'
 *     a_x = U_x - V_x,   U_x = sum_i h_(x q_i) h_(p_i),   V_x = sum_i h_(x p_i) h_(q_i).
 *
 * The equation stays Hamiltonian if and only if a is a gradient K', and then H becomes H - K/2.  The derivative of a is
 * the third derivative of h along J h', which is symmetric, plus h'' J h'', which is antisymmetric: a is a gradient
 * exactly where h'' J h'' = 0.  Three cases are known in closed form:
 *
 *     U = V     K = 0             h(q), h(p), functions of one linear form of q and p
 *     V = 0     K = h_q . h_p     h = c.p + B(q)
 *     U = 0     K = -h_q . h_p    h = A(p) + c.q
 *
 * Others are refused: for most of them, q p say, h'' J h'' is not 0 and no Hamiltonian has that drift. */
#include "model/load.h"
#include <stdlib.h>
#include <string.h>

#define STATE (LGV_USES(LGV_Q) | LGV_USES(LGV_P))
#define MOST_LEAVES 64 /* of a noise whose h'' J h'' is looked at, to tell why it is refused */

struct ito {
    struct lgv_graph *g;
    size_t n;     /* pairs of q_i and p_i that h depends on */
    int *q, *p;   /* leaves [n] */
    int *hq, *hp; /* derivatives [n] */
    int *second;  /* [2n] of one of these by q, then p */
    int *U, *V;   /* [2n] by q, then p */
};

static bool is_zero(const struct lgv_graph *g, int node) {
    double x;
    return lgv_expr_is_const(g, node, &x) && x == 0;
}

static bool all_zero(const struct ito *x, const int *a, const int *b) {
    bool yes = true;
    for (size_t i = 0; i < 2 * x->n && yes; i++) yes = is_zero(x->g, b ? lgv_expr_sub(x->g, a[i], b[i]) : a[i]);
    return yes && !x->g->failed;
}

/* One pair for each component that h has as q or as p. */
static bool find_pairs(struct ito *x, int h) {
    struct lgv_graph *g = x->g;
    size_t count;
    int *leaf = lgv_diff_leaves(g, h, STATE, &count);
    if (!leaf) return false;
    x->q = lgv_new(count + 1, sizeof *x->q);
    x->p = lgv_new(count + 1, sizeof *x->p);
    for (size_t k = 0; x->q && x->p && k < count; k++) {
        int q = lgv_expr_ref(g, LGV_Q, g->node[leaf[k]].aux);
        size_t i = 0;
        while (i < x->n && x->q[i] != q) i++;
        if (i < x->n) continue;
        x->q[x->n] = q;
        x->p[x->n++] = lgv_expr_ref(g, LGV_P, g->node[leaf[k]].aux);
    }
    free(leaf);
    return x->q && x->p;
}

static bool derive(struct ito *x, int h) {
    struct lgv_graph *g = x->g;
    if (!find_pairs(x, h)) return false;
    const size_t n = x->n;
    x->hq = lgv_new(n + 1, sizeof *x->hq);
    x->hp = lgv_new(n + 1, sizeof *x->hp);
    x->second = lgv_new(2 * n + 1, sizeof *x->second);
    x->U = lgv_new(2 * n + 1, sizeof *x->U);
    x->V = lgv_new(2 * n + 1, sizeof *x->V);
    if (!x->hq || !x->hp || !x->second || !x->U || !x->V) return false;
    lgv_diff_gradient(g, h, x->q, n, x->hq);
    lgv_diff_gradient(g, h, x->p, n, x->hp);
    for (size_t i = 0; i < n; i++)
        for (int part = 0; part < 2; part++) {
            int *sum = part ? x->V : x->U;
            lgv_diff_gradient(g, part ? x->hp[i] : x->hq[i], x->q, n, x->second);
            lgv_diff_gradient(g, part ? x->hp[i] : x->hq[i], x->p, n, x->second + n);
            for (size_t k = 0; k < 2 * n; k++)
                sum[k] = lgv_expr_add(g, sum[k], lgv_expr_mul(g, x->second[k], part ? x->hq[i] : x->hp[i]));
        }
    return !g->failed;
}

/* Does the derivative of a have an antisymmetric part, which is h'' J h''? */
static bool is_twisted(struct ito *x) {
    struct lgv_graph *g = x->g;
    const size_t n = 2 * x->n;
    if (n > MOST_LEAVES) return false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            int xi = i < x->n ? x->q[i] : x->p[i - x->n], xk = k < x->n ? x->q[k] : x->p[k - x->n];
            int a = lgv_expr_sub(g, x->U[i], x->V[i]), b = lgv_expr_sub(g, x->U[k], x->V[k]);
            if (!is_zero(g, lgv_expr_sub(g, lgv_diff_one(g, a, xk), lgv_diff_one(g, b, xi)))) return true;
        }
    return false;
}

static int product(struct ito *x, double factor) {
    int K = 0;
    for (size_t i = 0; i < x->n; i++) K = lgv_expr_add(x->g, K, lgv_expr_mul(x->g, x->hq[i], x->hp[i]));
    return lgv_expr_scale(x->g, factor, K);
}

static bool refuse(struct lgv_loader *l, int node, struct ito *x) {
    if (is_twisted(x))
        return lgv_yaml_fail(l, node, "in the sense of Ito this noise adds a drift, -1/2 {{x, h}, h}, that is not the "
                                      "motion of any Hamiltonian: the model would not be Hamiltonian. If Stratonovich "
                                      "is meant, write it under noise");
    return lgv_yaml_fail(l, node, "in the sense of Ito this noise adds a drift, -1/2 {{x, h}, h}, for which no "
                                  "Hamiltonian is known in closed form; noise_ito takes h(q), h(p), c.p + B(q) and "
                                  "A(p) + c.q");
}

/* K of one noise. */
static bool convert(struct lgv_loader *l, int node, int h, int *K) {
    struct ito x = {.g = l->m->graph};
    bool ok = true;
    if (!derive(&x, h))
        ok = x.g->failed ? lgv_yaml_fail(l, node, "%s", x.g->failed) : lgv_yaml_memory(l);
    else if (all_zero(&x, x.U, x.V))
        *K = lgv_expr_const(x.g, 0);
    else if (all_zero(&x, x.V, NULL))
        *K = product(&x, 1);
    else if (all_zero(&x, x.U, NULL))
        *K = product(&x, -1);
    else
        ok = refuse(l, node, &x);
    free(x.q);
    free(x.p);
    free(x.hq);
    free(x.hp);
    free(x.second);
    free(x.U);
    free(x.V);
    return ok;
}

struct members {
    struct lgv_loader *l;
    const struct lgv_noise *h;
    int node, sum;
    bool failed;
};

static bool add_member(void *user, const long *vars) {
    struct members *s = user;
    struct lgv_graph *g = s->l->m->graph;
    int depth = s->h->nest < 0 ? 0 : g->nest[s->h->nest].count, K = 0;
    s->failed = !convert(s->l, s->node, lgv_loops_instance(g, s->h->body, vars, depth), &K);
    s->sum = lgv_expr_add(g, s->sum, K);
    return !s->failed;
}

bool lgv_load_ito(struct lgv_loader *l, int node, struct lgv_noise *h) {
    struct lgv_model *m = l->m;
    struct lgv_graph *g = m->graph;
    const unsigned uses = g->node[h->body].uses & STATE;
    struct members s = {.l = l, .h = h, .node = node};
    h->ito = true;
    if (g->nrotations && (uses & LGV_USES(LGV_P)))
        return lgv_yaml_fail(l, node, "noise_ito does not take noise of the momenta of rotations: it turns them, and "
                                      "in the sense of Ito it would not keep their length. Write it under noise");
    if (uses != STATE) return true; /* h(q), h(p): both senses agree */
    if (h->nest < 0)
        add_member(&s, NULL);
    else
        lgv_loops_each(g, h->nest, LGV_MAX_NOISES, add_member, &s);
    if (s.failed) return false;
    m->hamiltonian = lgv_expr_add(g, m->hamiltonian, lgv_expr_scale(g, -0.5, s.sum));
    return !g->failed || lgv_yaml_fail(l, node, "%s", g->failed);
}
