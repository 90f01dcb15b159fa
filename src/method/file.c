/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The section `methods` of a model file: methods with coefficients of the user.
 *
 *     NAME: { degree: s, nodes: [c_i], weights: [alpha_i] }   Galerkin method with a rule of the user, and for h(q)
 *           + noise_nodes, noise_weights                      a second rule, or
 *           + noise_weights, j_weights                        weights beta_i dW + gamma_i J on the same nodes
 *           + correction: none, mean, random                  of H by noise h(q): variational.c
 *     NAME: { a: [[..]], abar: [[..]], alpha: [..], b: [[..]], bbar: [[..]], beta: [..] }
 *                                                             partitioned Runge-Kutta method
 *     NAME: { discrete_lagrangian: L_d, discrete_noise: [B_m], second: {..} }
 *                                                             the step of a discrete Lagrangian, whose formulas the
 *                                                             model stage has read (load_discrete.c)
 *     NAME: { a: [[..]], weights: [b_i] }                     variational one, for constraints and Lagrangians,
 *           + noise_weights, psi_weights, correction          with noise weights nu_i dW + kappa_i psi
 *
 * The model stage keeps the section as it stands; here it becomes descriptions of methods.  The public functions that
 * make a model from a file are here too, since a file is only read when its methods are. */
#include "method/compose.h"
#include "method/variational.h"
#include "method/vprk.h"
#include <math.h>
#include <stdarg.h>
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
    CORRECTION,
    A,
    ABAR,
    ALPHA,
    B,
    BBAR,
    BETA,
    DISCRETE_LAGRANGIAN,
    DISCRETE_NOISE,
    SECOND,
    KEYS
};
static const char *const keys[] = {"degree",    "nodes",       "weights", "noise_nodes", "noise_weights",
                                   "j_weights", "psi_weights", "correction", "a",    "abar",    "alpha",
                                   "b",         "bbar",        "beta",
                                   "discrete_lagrangian", "discrete_noise", "second"};

struct reader {
    struct lgv_model *m;
    struct lgv_error *err;
};

/* ---- messages; every bool is false when the error has been filled ---- */

static bool fail_list(struct reader *l, size_t at, const char *format, va_list args) {
    char message[600];
    vsnprintf(message, sizeof message, format, args);
    lgv_model_fail_at(l->err, l->m, at, "%s", message);
    return false;
}

__attribute__((format(printf, 3, 4))) static bool fail(struct reader *l, const struct lgv_raw *r, const char *format,
                                                       ...) {
    va_list args;
    va_start(args, format);
    fail_list(l, r->at, format, args);
    va_end(args);
    return false;
}

/* At the name of an entry. */
__attribute__((format(printf, 3, 4))) static bool fail_key(struct reader *l, const struct lgv_raw *r,
                                                           const char *format, ...) {
    va_list args;
    va_start(args, format);
    fail_list(l, r->key_at, format, args);
    va_end(args);
    return false;
}

static bool expect(struct reader *l, const struct lgv_raw *r, enum lgv_raw_kind kind, const char *what) {
    const char *found = r->kind == LGV_RAW_LIST      ? "a sequence"
                        : r->kind == LGV_RAW_MAPPING ? "a mapping"
                        : *r->text                   ? "a text"
                                                     : "nothing";
    return r->kind == kind || fail(l, r, "expected %s, found %s", what, found);
}

static bool expect_list(struct reader *l, const struct lgv_raw *r, const char *what) {
    return expect(l, r, LGV_RAW_LIST, what) && (r->count <= MOST || fail(l, r, "more than %d entries here", MOST));
}

static bool no_memory(struct reader *l) {
    lgv_fail_memory(l->err);
    return false;
}

/* ---- numbers ---- */

static bool constant(struct reader *l, const struct lgv_raw *r, const char *what, double *out) {
    return lgv_model_constant(l->m, r, what, out, l->err) == LGV_OK;
}

static bool read_numbers(struct reader *l, const struct lgv_raw *r, const char *what, double *out, int *count) {
    if (!expect_list(l, r, what)) return false;
    *count = (int)r->count;
    for (size_t k = 0; k < r->count; k++)
        if (!constant(l, &r->item[k], "a coefficient", &out[k])) return false;
    return *count > 0 || fail(l, r, "expected %s, found an empty one", what);
}

static bool same_count(struct reader *l, const struct lgv_raw *r, const char *name, int count, const char *other,
                       int want) {
    return count == want || fail(l, r, "%s has %d %s, but %s has %d", name, count, count == 1 ? "entry" : "entries",
                                 other, want);
}

/* Weights that do not add up belong to another equation. */
static bool sums_to(struct reader *l, const struct lgv_raw *r, const char *name, const double *x, int count,
                    double want) {
    double sum = 0;
    for (int k = 0; k < count; k++) sum += x[k];
    return fabs(sum - want) <= EXACT ||
           fail(l, r, "%s must add up to %g for the method to be consistent; their sum is %.15g", name, want, sum);
}

static bool check_nodes(struct reader *l, const struct lgv_raw *r, const double *x) {
    for (size_t n = 0; n < r->count; n++) {
        if (!(x[n] >= 0 && x[n] <= 1))
            return fail(l, &r->item[n], "the node %.15g lies outside of the step, 0 to 1", x[n]);
        for (size_t i = 0; i < n; i++)
            if (fabs(x[i] - x[n]) <= EXACT)
                return fail(l, &r->item[n], "the node %.15g is given twice; nodes must differ", x[n]);
    }
    return true;
}

static bool read_correction(struct reader *l, const struct lgv_raw *r, int *out) {
    static const char *const word[] = {"none", "mean", "random"}; /* as enum lgv_correction */
    *out = LGV_CORRECTION_NONE;
    if (!r) return true;
    if (!expect(l, r, LGV_RAW_TEXT, "none, mean or random")) return false;
    for (int k = 0; k < 3; k++)
        if (strcmp(r->text, word[k]) == 0) {
            *out = k;
            return true;
        }
    return fail(l, r, "expected none, mean or random, found %.60s", r->text);
}

/* ---- Galerkin methods ---- */

static bool read_rule(struct reader *l, const struct lgv_raw *const *at, enum key nodes, enum key weights,
                      struct lgv_rule *r) {
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

static bool read_degree(struct reader *l, const struct lgv_raw *r, int *out) {
    double x;
    if (!constant(l, r, "the degree", &x)) return false;
    if (!(x >= 1 && x <= LGV_GALERKIN_DEGREE && x == floor(x)))
        return fail(l, r, "the degree must be a whole number from 1 to %d", LGV_GALERKIN_DEGREE);
    *out = (int)x;
    return true;
}

/* Weights beta dW + gamma J of the noise on the nodes of the rule. */
static bool read_noise_weights(struct reader *l, const struct lgv_raw *const *at, struct lgv_galerkin *g) {
    int count, n = g->rule.count;
    memcpy(g->beta, g->rule.weight, sizeof g->beta);
    if (at[NOISE_WEIGHTS] && (!read_numbers(l, at[NOISE_WEIGHTS], "a sequence of weights", g->beta, &count) ||
                              !same_count(l, at[NOISE_WEIGHTS], keys[NOISE_WEIGHTS], count, keys[NODES], n) ||
                              !sums_to(l, at[NOISE_WEIGHTS], keys[NOISE_WEIGHTS], g->beta, n, 1)))
        return false;
    return !at[J_WEIGHTS] || (read_numbers(l, at[J_WEIGHTS], "a sequence of weights", g->gamma, &count) &&
                              same_count(l, at[J_WEIGHTS], keys[J_WEIGHTS], count, keys[NODES], n) &&
                              sums_to(l, at[J_WEIGHTS], keys[J_WEIGHTS], g->gamma, n, 0));
}

static bool read_galerkin(struct reader *l, const struct lgv_raw *const *at, struct lgv_galerkin *g) {
    if (!read_degree(l, at[DEGREE], &g->degree) || !read_rule(l, at, NODES, WEIGHTS, &g->rule)) return false;
    if (g->rule.count < g->degree)
        return fail(l, at[NODES],
                    "degree %d needs at least %d nodes: with fewer the equations have no unique solution", g->degree,
                    g->degree);
    if (g->rule.order < g->degree)
        return fail(l, at[WEIGHTS],
                    "a rule of order %d is too weak for degree %d: below order %d the method does not converge, even "
                    "without noise",
                    g->rule.order, g->degree, g->degree);
    for (size_t n = 0; n < at[WEIGHTS]->count; n++)
        if (g->rule.weight[n] == 0)
            return fail(l, &at[WEIGHTS]->item[n],
                        "a node of weight 0 leaves its momentum without an equation; leave the node out");
    if (at[PSI_WEIGHTS])
        return fail(l, at[PSI_WEIGHTS], "psi_weights belong to a variational method; a Galerkin method has j_weights");
    if (!at[NOISE_NODES]) return read_noise_weights(l, at, g);
    if (at[J_WEIGHTS])
        return fail(l, at[J_WEIGHTS],
                    "j_weights belong to the nodes of the rule and cannot be combined with noise_nodes");
    if (!at[NOISE_WEIGHTS]) return fail(l, at[NOISE_NODES], "noise_nodes need noise_weights");
    memcpy(g->beta, g->rule.weight, sizeof g->beta);
    return read_rule(l, at, NOISE_NODES, NOISE_WEIGHTS, &g->noise);
}

static bool read_corrected(struct reader *l, const struct lgv_raw *const *at, struct lgv_galerkin *g) {
    char why[300];
    return read_galerkin(l, at, g) && read_correction(l, at[CORRECTION], &g->correction) &&
           (lgv_galerkin_corrects(g, why, sizeof why) || fail(l, at[CORRECTION], "%s", why));
}

/* ---- partitioned Runge-Kutta methods ---- */

static bool read_matrix(struct reader *l, const struct lgv_raw *r, const char *name, int want, const char *other,
                        double (*out)[MOST]) {
    int count;
    if (!expect_list(l, r, "a sequence of rows")) return false;
    for (size_t k = 0; k < r->count; k++)
        if (!read_numbers(l, &r->item[k], "a row of coefficients", out[k], &count) ||
            !same_count(l, &r->item[k], "this row", count, other, want))
            return false;
    return same_count(l, r, name, (int)r->count, other, want);
}

static bool read_tableau(struct reader *l, const struct lgv_raw *const *at, struct lgv_tableau *t) {
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
static bool read_variational(struct reader *l, const struct lgv_raw *method, const struct lgv_raw *const *at,
                             struct lgv_vprk *t) {
    double a[MOST][MOST], x[MOST];
    char why[400];
    int count;
    for (int k = 0; k < KEYS; k++)
        if (at[k] && k != A && k != WEIGHTS && k != NOISE_WEIGHTS && k != PSI_WEIGHTS && k != CORRECTION)
            return fail(l, at[k],
                        "%s does not belong to a variational method, which has a, weights, noise_weights, psi_weights "
                        "and correction",
                        keys[k]);
    if (!at[WEIGHTS]) return fail_key(l, method, "weights is missing: a variational method has a and weights");
    if (!read_numbers(l, at[WEIGHTS], "a sequence of weights", x, &t->stages) ||
        !sums_to(l, at[WEIGHTS], "weights", x, t->stages, 1) || !read_matrix(l, at[A], "a", t->stages, "weights", a))
        return false;
    if (t->stages > LGV_VPRK_STAGES)
        return fail(l, at[WEIGHTS], "a variational method has at most %d stages", LGV_VPRK_STAGES);
    for (int i = 0; i < t->stages; i++) {
        if (x[i] == 0)
            return fail(l, at[WEIGHTS], "weight %d is zero: the momentum of that stage is then not determined", i + 1);
        t->b[i] = t->nu[i] = x[i];
        for (int j = 0; j < t->stages; j++) t->a[i][j] = a[i][j];
    }
    if (at[NOISE_WEIGHTS]) {
        if (!read_numbers(l, at[NOISE_WEIGHTS], "a sequence of weights", x, &count) ||
            !same_count(l, at[NOISE_WEIGHTS], "noise_weights", count, "weights", t->stages) ||
            !sums_to(l, at[NOISE_WEIGHTS], "noise_weights", x, count, 1))
            return false;
        for (int i = 0; i < count; i++) t->nu[i] = x[i];
    }
    if (at[PSI_WEIGHTS]) {
        if (!read_numbers(l, at[PSI_WEIGHTS], "a sequence of weights", x, &count) ||
            !same_count(l, at[PSI_WEIGHTS], "psi_weights", count, "weights", t->stages) ||
            !sums_to(l, at[PSI_WEIGHTS], "psi_weights", x, count, 0))
            return false;
        for (int i = 0; i < count; i++) t->kappa[i] = x[i];
    }
    t->project = true;
    if (!read_correction(l, at[CORRECTION], &count)) return false;
    if (count == LGV_CORRECTION_RANDOM)
        return fail(l, at[CORRECTION], "a random coefficient is for Galerkin methods (degree, nodes, weights)");
    t->corrected = count != LGV_CORRECTION_NONE;
    return lgv_vprk_complete(t, why, sizeof why) || fail(l, at[A], "%s", why);
}

/* ---- discrete Lagrangians ---- */

extern const struct lgv_method lgv_method_discrete;

static struct lgv_method *describe_discrete(const char *name, const struct lgv_discrete *d) {
    struct lgv_method *m = lgv_new(1, sizeof *m);
    if (!m) return NULL;
    *m = lgv_method_discrete;
    m->name = lgv_copy(name);
    m->doc = lgv_copy(d->symmetric ? "The discrete Lagrangian of that name in the model file, symmetric in time."
                                   : "The discrete Lagrangian of that name in the model file.");
    m->discrete = d;
    m->symmetric = d->symmetric;
    if (d->symmetric) m->order = 2;
    if (m->name && m->doc) return m;
    lgv_method_free(m);
    return NULL;
}

static bool read_discrete(struct reader *l, const struct lgv_raw *method, const struct lgv_raw *const *at) {
    const struct lgv_discrete *d = NULL;
    for (int k = 0; k < DISCRETE_LAGRANGIAN; k++)
        if (at[k])
            return fail(l, at[k], "%s does not belong to a discrete Lagrangian, which has discrete_lagrangian, "
                                  "discrete_noise and second", keys[k]);
    for (size_t k = 0; k < l->m->ndiscrete; k++)
        if (strcmp(l->m->discrete[k].name, method->key) == 0) d = &l->m->discrete[k];
    struct lgv_method *made = d ? describe_discrete(method->key, d) : NULL;
    if (!made) return no_memory(l);
    l->m->method[l->m->nmethods++] = made;
    return true;
}

/* ---- the section ---- */

static bool find_keys(struct reader *l, const struct lgv_raw *method, const struct lgv_raw **at) {
    if (!expect(l, method, LGV_RAW_MAPPING, "the coefficients of a method as name: values")) return false;
    for (int k = 0; k < KEYS; k++) at[k] = NULL;
    for (size_t i = 0; i < method->count; i++) {
        const struct lgv_raw *r = &method->item[i];
        int k = 0;
        while (k < KEYS && strcmp(keys[k], r->key) != 0) k++;
        const char *near = k < KEYS ? NULL : lgv_nearest(r->key, keys, KEYS);
        if (k == KEYS)
            return fail_key(l, r, near ? "unknown key %.60s; did you mean %s?" : "unknown key %.60s", r->key, near);
        if (at[k]) return fail_key(l, r, "%s is given twice", r->key);
        at[k] = r;
    }
    return true;
}

/* Either kind has keys it needs, and none of the other kind. */
static bool check_keys(struct reader *l, const struct lgv_raw *method, const struct lgv_raw *const *at, bool tableau) {
    for (int k = 0; k < KEYS; k++) {
        bool needed = tableau ? k >= A && k <= BETA : k <= WEIGHTS, other = (k >= A) != tableau;
        if (needed && !at[k])
            return fail_key(l, method, "%s is missing: a %s", keys[k],
                            tableau ? "partitioned Runge-Kutta method has a, abar, alpha, b, bbar and beta"
                                    : "Galerkin method has degree, nodes and weights");
        if (other && at[k])
            return fail(l, at[k], "%s belongs to a %s", keys[k],
                        tableau ? "Galerkin method, and this is a partitioned Runge-Kutta method"
                                : "partitioned Runge-Kutta method, and this is a Galerkin method");
    }
    return true;
}

static bool check_name(struct reader *l, const struct lgv_raw *method) {
    const char *name = method->key;
    if (!lgv_formula_is_name(name))
        return fail_key(l, method, "'%.60s' is not a name (a letter, then letters, digits and _)", name);
    const struct lgv_method *known = lgv_method_find(name);
    bool word = known && known->program && !known->constants && strcmp(known->family, "splitting") == 0;
    if ((known && !word) || strcasecmp(name, "exact") == 0 || strcasecmp(name, LGV_METHOD_AUTO) == 0)
        return fail_key(l, method, "%s is the name of a built-in method; choose another", name);
    for (size_t k = 0; k < l->m->nmethods; k++)
        if (strcasecmp(l->m->method[k]->name, name) == 0)
            return fail_key(l, method, "the method %s is given twice", name);
    return true;
}

static bool read_method(struct reader *l, const struct lgv_raw *method) {
    struct lgv_galerkin g = {0};
    struct lgv_tableau t = {0};
    struct lgv_vprk v = {0};
    const struct lgv_raw *at[KEYS];
    if (!check_name(l, method) || !find_keys(l, method, at)) return false;
    if (at[DISCRETE_LAGRANGIAN]) return read_discrete(l, method, at);
    for (int k = DISCRETE_NOISE; k < KEYS; k++)
        if (at[k]) return fail_key(l, at[k], "%s belongs to a discrete_lagrangian, and there is none", keys[k]);
    bool variational = at[A] && !at[ABAR] && !at[ALPHA] && !at[B] && !at[BBAR] && !at[BETA];
    bool tableau = !variational && !at[DEGREE] && !at[NODES] && !at[WEIGHTS];
    if (variational
            ? !read_variational(l, method, at, &v)
            : !check_keys(l, method, at, tableau) || !(tableau ? read_tableau(l, at, &t) : read_corrected(l, at, &g)))
        return false;
    struct lgv_method *made = variational ? lgv_vprk_describe(method->key, &v)
                              : tableau   ? lgv_tableau_describe(method->key, &t)
                                          : lgv_galerkin_describe(method->key, &g);
    if (!made) return no_memory(l);
    l->m->method[l->m->nmethods++] = made;
    return true;
}

/* All compositions of the methods that a suffix can compose. */
static bool compose_methods(struct reader *l) {
    struct lgv_model *m = l->m;
    m->composed = lgv_new(m->nmethods * lgv_composition_count + 1, sizeof *m->composed);
    if (!m->composed) return no_memory(l);
    for (size_t k = 0; k < m->nmethods; k++)
        for (size_t i = 0; lgv_compose_takes(m->method[k]) && i < lgv_composition_count; i++) {
            m->composed[m->ncomposed] = lgv_compose_describe(m->method[k], &lgv_compositions[i]);
            if (!m->composed[m->ncomposed]) return no_memory(l);
            m->ncomposed++;
        }
    return true;
}

static bool read_methods(struct reader *l) {
    struct lgv_model *m = l->m;
    const struct lgv_raw *all = m->methods;
    if (!all) return true;
    if (!expect(l, all, LGV_RAW_MAPPING, "methods as name: coefficients")) return false;
    if (all->count > MOST_METHODS) return fail(l, all, "more than %d methods", MOST_METHODS);
    m->method = lgv_new(all->count + 1, sizeof *m->method);
    m->method_free = lgv_method_free;
    if (!m->method) return no_memory(l);
    for (size_t k = 0; k < all->count; k++)
        if (!read_method(l, &all->item[k])) return false;
    return compose_methods(l);
}

/* ---- model files as a whole ---- */

enum lgv_status lgv_model_complete(const char *text, const char *file, const struct lgv_override *override,
                                   size_t count, struct lgv_model **out, struct lgv_error *err) {
    struct lgv_error local;
    struct reader l = {.err = err ? err : &local};
    enum lgv_status status = lgv_model_read(text, file, override, count, out, err);
    if (status != LGV_OK) return status;
    l.m = *out;
    if (read_methods(&l)) return LGV_OK;
    lgv_model_free(*out);
    *out = NULL;
    return l.err->status;
}

enum lgv_status lgv_model_parse(const char *text, const char *name, struct lgv_model **out, struct lgv_error *err) {
    return lgv_model_complete(text, name, NULL, 0, out, err);
}

enum lgv_status lgv_model_load(const char *path, struct lgv_model **out, struct lgv_error *err) {
    struct lgv_error local;
    struct lgv_error *e = err ? err : &local;
    if (out) *out = NULL;
    if (!path || !out) return lgv_fail(err, LGV_BAD_INPUT, "no model file");
    char *text = lgv_model_text(path, e);
    if (!text) return e->status;
    enum lgv_status status = lgv_model_complete(text, path, NULL, 0, out, e);
    free(text);
    return status;
}

enum lgv_status lgv_model_set(struct lgv_model *model, const char *parameter, double value, struct lgv_error *err) {
    if (!model || !parameter) return lgv_fail(err, LGV_BAD_INPUT, "no model or no parameter");
    if (!model->kind->formulas) return lgv_fail(err, LGV_BAD_INPUT, "a model of C functions has no parameters");
    if (lgv_model_adjust(model, parameter, value)) return LGV_OK;
    struct lgv_override *all = lgv_new(model->nsettings + 1, sizeof *all);
    if (!all) return lgv_fail_memory(err);
    size_t count = 0;
    for (size_t k = 0; k < model->nsettings; k++)
        if (strcmp(model->setting_name[k], parameter) != 0)
            all[count++] =
                (struct lgv_override){.name = model->setting_name[k], .value = model->setting_value[k]};
    all[count++] = (struct lgv_override){.name = parameter, .value = value};
    struct lgv_model *fresh = NULL;
    enum lgv_status status = lgv_model_complete(model->text, model->file, all, count, &fresh, err);
    free(all);
    if (status != LGV_OK) return status;
    struct lgv_model old = *model; /* the handle stays the same */
    *model = *fresh;
    model->loads = old.loads + 1;
    model->changes = old.changes + 1;
    *fresh = old;
    lgv_model_free(fresh);
    return LGV_OK;
}
