/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The section `methods` of a model file: methods with coefficients of the user.
 *
 *     NAME: { degree: s, nodes: [c_i], weights: [alpha_i] }           Galerkin method with a rule of the user, and for noise h(q)
 *           + noise_nodes, noise_weights                              a second rule, or
 *           + noise_weights, j_weights                                weights beta_i dW + gamma_i J on the same nodes
 *     NAME: { a: [[..]], abar: [[..]], alpha: [..], b: [[..]], bbar: [[..]], beta: [..] }     partitioned Runge-Kutta method
 *     NAME: { a: [[..]], weights: [b_i] }                             variational one, for constraints and Lagrangians,
 *           + noise_weights, psi_weights                              with noise weights nu_i dW + kappa_i psi
 *
 * What methods there are already, and what a description is made of, only the kernel stage knows: this file alone
 * asks it. */
#include "method/rules.h"
#include "method/vprk.h"
#include "model/load.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_METHODS 64
#define MOST LGV_RULE_NODES
#define EXACT 1e-12

enum key {
    DEGREE,
    NODES,
    WEIGHTS,
    NOISE_NODES,
    NOISE_WEIGHTS,
    J_WEIGHTS,
    PSI_WEIGHTS,
    A,
    ABAR,
    ALPHA,
    B,
    BBAR,
    BETA,
    KEYS
};
static const char *const keys[] = {"degree",    "nodes",       "weights", "noise_nodes", "noise_weights",
                                   "j_weights", "psi_weights", "a",       "abar",        "alpha",
                                   "b",         "bbar",        "beta"};

/* ---- numbers ---- */

static bool read_numbers(struct lgv_loader *l, int node, const char *what, double *out, int *count) {
    if (!lgv_yaml_sequence(l, node, MOST, what)) return false;
    *count = 0;
    for (int k = lgv_yaml_node(l, node)->first; k >= 0; k = lgv_yaml_next(l, k))
        if (!lgv_load_constant(l, k, "a coefficient", &out[(*count)++])) return false;
    return *count > 0 || lgv_yaml_fail(l, node, "expected %s, found an empty one", what);
}

static bool same_count(struct lgv_loader *l, int node, const char *name, int count, const char *other, int want) {
    return count == want || lgv_yaml_fail(l, node, "%s has %d %s, but %s has %d", name, count,
                                          count == 1 ? "entry" : "entries", other, want);
}

/* Weights that do not add up belong to another equation. */
static bool sums_to(struct lgv_loader *l, int node, const char *name, const double *x, int count, double want) {
    double sum = 0;
    for (int k = 0; k < count; k++) sum += x[k];
    return fabs(sum - want) <= EXACT ||
           lgv_yaml_fail(l, node, "%s must add up to %g for the method to be consistent; their sum is %.15g", name,
                         want, sum);
}

static bool check_nodes(struct lgv_loader *l, int node, const double *x) {
    int n = 0;
    for (int k = lgv_yaml_node(l, node)->first; k >= 0; k = lgv_yaml_next(l, k), n++) {
        if (!(x[n] >= 0 && x[n] <= 1))
            return lgv_yaml_fail(l, k, "the node %.15g lies outside of the step, 0 to 1", x[n]);
        for (int i = 0; i < n; i++)
            if (fabs(x[i] - x[n]) <= EXACT)
                return lgv_yaml_fail(l, k, "the node %.15g is given twice; nodes must differ", x[n]);
    }
    return true;
}

/* ---- Galerkin methods ---- */

static bool read_rule(struct lgv_loader *l, const int *at, enum key nodes, enum key weights, struct lgv_rule *r) {
    int count;
    if (!read_numbers(l, at[nodes], "a sequence of nodes", r->node, &r->count) || !check_nodes(l, at[nodes], r->node) ||
        !read_numbers(l, at[weights], "a sequence of weights", r->weight, &count) ||
        !same_count(l, at[weights], keys[weights], count, keys[nodes], r->count) ||
        !sums_to(l, at[weights], keys[weights], r->weight, count, 1))
        return false;
    r->order = lgv_rule_order(r, 2 * MOST);
    r->gauss = r->order == 2 * r->count;
    return true;
}

static bool read_degree(struct lgv_loader *l, int node, int *out) {
    double x;
    if (!lgv_load_constant(l, node, "the degree", &x)) return false;
    if (!(x >= 1 && x <= LGV_GALERKIN_DEGREE && x == floor(x)))
        return lgv_yaml_fail(l, node, "the degree must be a whole number from 1 to %d", LGV_GALERKIN_DEGREE);
    *out = (int)x;
    return true;
}

/* Weights beta dW + gamma J of the noise on the nodes of the rule. */
static bool read_noise_weights(struct lgv_loader *l, const int *at, struct lgv_galerkin *g) {
    int count, n = g->rule.count;
    memcpy(g->beta, g->rule.weight, sizeof g->beta);
    if (at[NOISE_WEIGHTS] >= 0 && (!read_numbers(l, at[NOISE_WEIGHTS], "a sequence of weights", g->beta, &count) ||
                                   !same_count(l, at[NOISE_WEIGHTS], keys[NOISE_WEIGHTS], count, keys[NODES], n) ||
                                   !sums_to(l, at[NOISE_WEIGHTS], keys[NOISE_WEIGHTS], g->beta, n, 1)))
        return false;
    return at[J_WEIGHTS] < 0 || (read_numbers(l, at[J_WEIGHTS], "a sequence of weights", g->gamma, &count) &&
                                 same_count(l, at[J_WEIGHTS], keys[J_WEIGHTS], count, keys[NODES], n) &&
                                 sums_to(l, at[J_WEIGHTS], keys[J_WEIGHTS], g->gamma, n, 0));
}

static bool read_galerkin(struct lgv_loader *l, const int *at, struct lgv_galerkin *g) {
    if (!read_degree(l, at[DEGREE], &g->degree) || !read_rule(l, at, NODES, WEIGHTS, &g->rule)) return false;
    if (g->rule.count < g->degree)
        return lgv_yaml_fail(l, at[NODES],
                             "degree %d needs at least %d nodes: with fewer the equations have no unique solution",
                             g->degree, g->degree);
    if (g->rule.order < g->degree)
        return lgv_yaml_fail(l, at[WEIGHTS],
                             "a rule of order %d is too weak for degree %d: below order %d the method does not converge, "
                             "even without noise",
                             g->rule.order, g->degree, g->degree);
    int n = 0;
    for (int k = lgv_yaml_node(l, at[WEIGHTS])->first; k >= 0; k = lgv_yaml_next(l, k), n++)
        if (g->rule.weight[n] == 0)
            return lgv_yaml_fail(l, k,
                                 "a node of weight 0 leaves its momentum without an equation; leave the node out");
    if (at[NOISE_NODES] < 0) return read_noise_weights(l, at, g);
    if (at[J_WEIGHTS] >= 0)
        return lgv_yaml_fail(l, at[J_WEIGHTS],
                             "j_weights belong to the nodes of the rule and cannot be combined with noise_nodes");
    if (at[NOISE_WEIGHTS] < 0) return lgv_yaml_fail(l, at[NOISE_NODES], "noise_nodes need noise_weights");
    memcpy(g->beta, g->rule.weight, sizeof g->beta);
    return read_rule(l, at, NOISE_NODES, NOISE_WEIGHTS, &g->noise);
}

/* ---- partitioned Runge-Kutta methods ---- */

static bool read_matrix(struct lgv_loader *l, int node, const char *name, int want, const char *other,
                        double (*out)[MOST]) {
    int rows = 0, count;
    if (!lgv_yaml_sequence(l, node, MOST, "a sequence of rows")) return false;
    for (int k = lgv_yaml_node(l, node)->first; k >= 0; k = lgv_yaml_next(l, k), rows++)
        if (!read_numbers(l, k, "a row of coefficients", out[rows], &count) ||
            !same_count(l, k, "this row", count, other, want))
            return false;
    return same_count(l, node, name, rows, other, want);
}

static bool read_tableau(struct lgv_loader *l, const int *at, struct lgv_tableau *t) {
    int count;
    return read_numbers(l, at[ALPHA], "a sequence of weights", t->alpha, &t->stages) &&
           sums_to(l, at[ALPHA], "alpha", t->alpha, t->stages, 1) &&
           read_numbers(l, at[BETA], "a sequence of weights", t->beta, &count) &&
           same_count(l, at[BETA], "beta", count, "alpha", t->stages) &&
           sums_to(l, at[BETA], "beta", t->beta, t->stages, 1) &&
           read_matrix(l, at[A], "a", t->stages, "alpha", t->a) &&
           read_matrix(l, at[ABAR], "abar", t->stages, "alpha", t->abar) &&
           read_matrix(l, at[B], "b", t->stages, "alpha", t->b) &&
           read_matrix(l, at[BBAR], "bbar", t->stages, "alpha", t->bbar);
}

/* A variational method: a and weights, and what its conditions say. */
static bool read_variational(struct lgv_loader *l, int key, const int *at, struct lgv_vprk *t) {
    double a[MOST][MOST], x[MOST];
    char why[400];
    int count;
    for (int k = 0; k < KEYS; k++)
        if (at[k] >= 0 && k != A && k != WEIGHTS && k != NOISE_WEIGHTS && k != PSI_WEIGHTS)
            return lgv_yaml_fail(l, at[k],
                                 "%s does not belong to a variational method, which has a, weights, noise_weights "
                                 "and psi_weights",
                                 keys[k]);
    if (at[WEIGHTS] < 0) return lgv_yaml_fail(l, key, "weights is missing: a variational method has a and weights");
    if (!read_numbers(l, at[WEIGHTS], "a sequence of weights", x, &t->stages) ||
        !sums_to(l, at[WEIGHTS], "weights", x, t->stages, 1) || !read_matrix(l, at[A], "a", t->stages, "weights", a))
        return false;
    if (t->stages > LGV_VPRK_STAGES)
        return lgv_yaml_fail(l, at[WEIGHTS], "a variational method has at most %d stages", LGV_VPRK_STAGES);
    for (int i = 0; i < t->stages; i++) {
        if (x[i] == 0)
            return lgv_yaml_fail(l, at[WEIGHTS], "weight %d is zero: the momentum of that stage is then not determined",
                                 i + 1);
        t->b[i] = t->nu[i] = x[i];
        for (int j = 0; j < t->stages; j++) t->a[i][j] = a[i][j];
    }
    if (at[NOISE_WEIGHTS] >= 0) {
        if (!read_numbers(l, at[NOISE_WEIGHTS], "a sequence of weights", x, &count) ||
            !same_count(l, at[NOISE_WEIGHTS], "noise_weights", count, "weights", t->stages) ||
            !sums_to(l, at[NOISE_WEIGHTS], "noise_weights", x, count, 1))
            return false;
        for (int i = 0; i < count; i++) t->nu[i] = x[i];
    }
    if (at[PSI_WEIGHTS] >= 0) {
        if (!read_numbers(l, at[PSI_WEIGHTS], "a sequence of weights", x, &count) ||
            !same_count(l, at[PSI_WEIGHTS], "psi_weights", count, "weights", t->stages) ||
            !sums_to(l, at[PSI_WEIGHTS], "psi_weights", x, count, 0))
            return false;
        for (int i = 0; i < count; i++) t->kappa[i] = x[i];
    }
    t->project = true;
    return lgv_vprk_complete(t, why, sizeof why) || lgv_yaml_fail(l, at[A], "%s", why);
}

/* ---- the section ---- */

static bool find_keys(struct lgv_loader *l, int node, int *at) {
    if (!lgv_yaml_mapping(l, node, "the coefficients of a method as name: values")) return false;
    for (int k = 0; k < KEYS; k++) at[k] = -1;
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        int k = 0;
        while (k < KEYS && strcmp(keys[k], name) != 0) k++;
        const char *near = k < KEYS ? NULL : lgv_nearest(name, keys, KEYS);
        if (k == KEYS)
            return lgv_yaml_fail(l, key, near ? "unknown key %.60s; did you mean %s?" : "unknown key %.60s", name,
                                 near);
        if (at[k] >= 0) return lgv_yaml_fail(l, key, "%s is given twice", name);
        at[k] = value;
    }
    return true;
}

/* Either kind has keys it needs, and none of the other kind. */
static bool check_keys(struct lgv_loader *l, int key, const int *at, bool tableau) {
    for (int k = 0; k < KEYS; k++) {
        bool needed = tableau ? k >= A : k <= WEIGHTS, other = (k >= A) != tableau;
        if (needed && at[k] < 0)
            return lgv_yaml_fail(l, key, "%s is missing: a %s", keys[k],
                                 tableau ? "partitioned Runge-Kutta method has a, abar, alpha, b, bbar and beta"
                                         : "Galerkin method has degree, nodes and weights");
        if (other && at[k] >= 0)
            return lgv_yaml_fail(l, at[k], "%s belongs to a %s", keys[k],
                                 tableau ? "Galerkin method, and this is a partitioned Runge-Kutta method"
                                         : "partitioned Runge-Kutta method, and this is a Galerkin method");
    }
    return true;
}

static bool check_name(struct lgv_loader *l, int key, const char *name) {
    if (!lgv_formula_is_name(name))
        return lgv_yaml_fail(l, key, "'%.60s' is not a name (a letter, then letters, digits and _)", name);
    if (lgv_method_find(name) || strcasecmp(name, "exact") == 0 || strcasecmp(name, LGV_METHOD_AUTO) == 0)
        return lgv_yaml_fail(l, key, "%s is the name of a built-in method; choose another", name);
    for (size_t k = 0; k < l->m->nmethods; k++)
        if (strcasecmp(l->m->method[k]->name, name) == 0)
            return lgv_yaml_fail(l, key, "the method %s is given twice", name);
    return true;
}

static bool read_method(struct lgv_loader *l, int key, int value) {
    const char *name = lgv_yaml_node(l, key)->text;
    struct lgv_galerkin g = {0};
    struct lgv_tableau t = {0};
    struct lgv_vprk v = {0};
    int at[KEYS];
    if (!check_name(l, key, name) || !find_keys(l, value, at)) return false;
    bool variational = at[A] >= 0 && at[ABAR] < 0 && at[ALPHA] < 0 && at[B] < 0 && at[BBAR] < 0 && at[BETA] < 0;
    bool tableau = !variational && at[DEGREE] < 0 && at[NODES] < 0 && at[WEIGHTS] < 0;
    if (variational
            ? !read_variational(l, key, at, &v)
            : !check_keys(l, key, at, tableau) || !(tableau ? read_tableau(l, at, &t) : read_galerkin(l, at, &g)))
        return false;
    struct lgv_method *made = variational ? lgv_vprk_describe(name, &v)
                              : tableau   ? lgv_tableau_describe(name, &t)
                                          : lgv_galerkin_describe(name, &g);
    if (!made) return lgv_yaml_memory(l);
    l->m->method[l->m->nmethods++] = made;
    return true;
}

bool lgv_load_methods(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (node < 0) return true;
    if (!lgv_yaml_mapping(l, node, "methods as name: coefficients")) return false;
    size_t count = (size_t)lgv_yaml_node(l, node)->count / 2;
    if (count > MOST_METHODS) return lgv_yaml_fail(l, node, "more than %d methods", MOST_METHODS);
    m->method = lgv_new(count + 1, sizeof *m->method);
    if (!m->method) return lgv_yaml_memory(l);
    LGV_EACH(l, node, key, value) if (!read_method(l, key, value)) return false;
    return true;
}

void lgv_load_methods_free(struct lgv_model *m) {
    for (size_t k = 0; k < m->nmethods; k++) lgv_method_free(m->method[k]);
    free(m->method);
}
