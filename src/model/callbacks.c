/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Models given as C functions on batches of paths (struct lgv_callbacks of <lgv/lgv.h>).  There are no formulas: what
 * is known of their structure is what the caller says. */
#include "model/model.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DRAWS 1000000
#define MOST_OBSERVABLES 10000

/* ---- what is asked of any model ---- */

static enum lgv_status structure(struct lgv_model *m, struct lgv_structure *out, struct lgv_error *err) {
    const struct lgv_callbacks *c = m->callbacks;
    (void)err;
    out->separable = out->hamiltonian_separable = c->separable;
    out->flat = c->separable && c->constant_mass;
    out->time_dependent = true;
    out->noise_depends = c->noises == 0 ? LGV_ON_NOTHING : c->noise_of_q ? LGV_ON_Q : LGV_ON_BOTH;
    out->noise_curved = (out->noise_depends & LGV_ON_P) != 0;
    out->commutes = c->noises <= 1 || c->noise_of_q ? 1 : -1;
    return LGV_OK;
}

/* Of the start values as they are given, one path wide.  The terms of g are not known: what g changes by when q does by
 * all of itself is of their size. */
static enum lgv_status constraint_check(struct lgv_model *m, struct lgv_start_report *out, struct lgv_error *err) {
    const struct lgv_callbacks *c = m->callbacks;
    const struct lgv_batch b = {1, m->from, c->q0, c->p0};
    double *g = lgv_new(c->constraints, sizeof *g), *G = lgv_new(c->constraints * c->dof, sizeof *G);
    double *v = lgv_new(c->dof, sizeof *v);
    if (g && G && v) {
        c->constraint(c->user, &b, g, G);
        c->gradient(c->user, &b, NULL, v, NULL, NULL);
    }
    for (size_t k = 0; g && G && v && k < c->constraints; k++) {
        double size = fabs(g[k]), hidden = 0, hidden_size = 0;
        for (size_t i = 0; i < c->dof; i++) {
            size += fabs(G[k * c->dof + i] * c->q0[i]);
            hidden += G[k * c->dof + i] * v[i];
            hidden_size += fabs(G[k * c->dof + i] * v[i]);
        }
        if (fabs(g[k]) > out->residual) out->residual = fabs(g[k]), out->worst = k;
        if (fabs(hidden) > out->hidden) out->hidden = fabs(hidden), out->worst_hidden = k;
        out->size = fmax(out->size, size);
        out->hidden_size = fmax(out->hidden_size, hidden_size);
    }
    bool ok = g && G && v;
    free(g);
    free(G);
    free(v);
    return ok ? LGV_OK : lgv_fail_memory(err);
}

static double derivative_error(struct lgv_model *m) {
    (void)m;
    return NAN;
}

static bool has_second(const struct lgv_model *m) {
    return m->callbacks->hessian != NULL;
}

static bool has_bends(const struct lgv_model *m) {
    return !m->nconstraints || m->callbacks->constraint_hessian;
}

static bool has_energy(const struct lgv_model *m) {
    return m->callbacks->value != NULL;
}

static int component(struct lgv_model *m, size_t i) {
    (void)m, (void)i;
    return -1;
}

/* Its texts and arrays are our copies. */
static void callbacks_free(struct lgv_model *m) {
    if (m->callbacks) {
        free((void *)m->callbacks->name);
        free((void *)m->callbacks->q0);
        free((void *)m->callbacks->p0);
    }
    free(m->callbacks);
}

const struct lgv_model_kind lgv_model_functions = {
    .structure = structure,
    .constraint_check = constraint_check,
    .derivative_error = derivative_error,
    .has_second = has_second,
    .has_bends = has_bends,
    .has_energy = has_energy,
    .component = component,
    .free = callbacks_free,
};

/* ---- making one ---- */

static double *copy_values(const double *from, size_t n) {
    double *to = lgv_new(n, sizeof *to);
    if (to && from) memcpy(to, from, n * sizeof *to);
    return to;
}

static bool name_components(struct lgv_model *m) {
    m->component = lgv_new(m->nx + m->np, sizeof *m->component);
    for (size_t i = 0; m->component && i < m->nx + m->np; i++) {
        char name[32];
        snprintf(name, sizeof name, "%c%zu", i < m->nx ? 'q' : 'p', i % m->nx + 1);
        if (!(m->component[i] = lgv_copy(name))) return false;
    }
    return m->component != NULL;
}

static struct lgv_callbacks *copy_callbacks(const struct lgv_callbacks *from, const char *name) {
    struct lgv_callbacks *c = lgv_new(1, sizeof *c);
    if (!c) return NULL;
    *c = *from;
    c->name = lgv_copy(name);
    c->q0 = copy_values(from->q0, from->dof);
    c->p0 = copy_values(from->p0, from->dof);
    c->observable_names = NULL; /* the model has copies */
    return c; /* what is missing inside is seen by the caller */
}

/* Stands for the text of a model file: what can be told without calling anything. */
static char *describe(const struct lgv_callbacks *c) {
    struct lgv_text t = {0};
    if (!c || !c->q0 || !c->p0) return NULL;
    uint64_t start = lgv_hash(lgv_hash(LGV_HASH_START, c->q0, c->dof * sizeof *c->q0), c->p0, c->dof * sizeof *c->p0);
    lgv_text_add(&t, "# a model given as C functions: %zu degrees of freedom, %zu noises, %zu constraints, start "
                 "values %016llx\n",
                 c->dof, c->noises, c->constraints, (unsigned long long)start);
    if (t.failed) lgv_text_free(&t);
    return t.data;
}

static enum lgv_status out_of_range(const char *what, size_t n, size_t low, size_t high, struct lgv_error *err) {
    if (n >= low && n <= high) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT, "%s: %zu is out of range; it must be from %zu to %zu", what, n, low, high);
}

static enum lgv_status missing(const char *what, const char *why, struct lgv_error *err) {
    return lgv_fail(err, LGV_BAD_INPUT, "%s: the function is missing; %s", what, why);
}

static enum lgv_status check_start(const char *name, const double *x, size_t n, struct lgv_error *err) {
    for (size_t i = 0; x && i < n; i++)
        if (!isfinite(x[i]))
            return lgv_fail(err, LGV_BAD_INPUT, "%s[%zu] is %g: start values must be finite numbers", name, i,
                            isnan(x[i]) ? fabs(x[i]) : x[i]);
    return LGV_OK;
}

static enum lgv_status check_callbacks(const struct lgv_callbacks *c, struct lgv_error *err) {
    enum lgv_status status = out_of_range("dof", c->dof, 1, LGV_MAX_DOF, err);
    if (!status) status = out_of_range("noises", c->noises, 0, LGV_MAX_NOISES, err);
    if (!status) status = out_of_range("observables", c->observables, 0, MOST_OBSERVABLES, err);
    if (!status) status = out_of_range("constraints", c->constraints, 0, c->dof - 1, err);
    if (!status) status = out_of_range("normals", c->normals, 0, MOST_DRAWS, err);
    if (!status) status = out_of_range("uniforms", c->uniforms, 0, MOST_DRAWS, err);
    if (!status) status = check_start("q0", c->q0, c->dof, err);
    if (!status) status = check_start("p0", c->p0, c->dof, err);
    if (status) return status;
    if (!c->gradient) return missing("gradient", "every method needs first derivatives", err);
    if (c->observables && (!c->observe || !c->observable_names))
        return missing("observe", "it gives the values of the observables, which need names too", err);
    if (c->constraints && !c->constraint) return missing("constraint", "it gives the constraints their values", err);
    if (c->constraints && !c->constant_mass)
        return lgv_fail(err, LGV_BAD_INPUT, "constraints: they need constant masses (separable and constant_mass)");
    if ((c->normals || c->uniforms) && !c->start) return missing("start", "nothing else uses the draws", err);
    return LGV_OK;
}

static bool named(const struct lgv_model *m, const char *name) {
    if (strcmp(name, "H") == 0) return true;
    if (strcmp(name, "constraint") == 0 || strcmp(name, "hidden_constraint") == 0) return true;
    for (size_t i = 0; i < m->nx + m->np; i++)
        if (strcmp(m->component[i], name) == 0) return true;
    for (size_t i = 0; i < m->nobservables; i++)
        if (strcmp(m->observable[i].name, name) == 0) return true;
    return false;
}

/* Needs the names of the components. */
static enum lgv_status name_observables(struct lgv_model *m, const struct lgv_callbacks *c, struct lgv_error *err) {
    m->observable = lgv_new(c->observables + 1, sizeof *m->observable);
    if (!m->observable) return lgv_fail_memory(err);
    for (size_t i = 0; i < c->observables; i++) {
        const char *name = c->observable_names[i];
        if (!name || !*name || named(m, name))
            return lgv_fail(err, LGV_BAD_INPUT, "observable_names: number %zu, '%.80s', is empty or taken", i,
                            name ? name : "");
        m->observable[i] = (struct lgv_observable){.name = lgv_copy(name), .text = lgv_copy(name), .node = -1};
        m->nobservables++;
        if (!m->observable[i].name || !m->observable[i].text) return lgv_fail_memory(err);
    }
    return LGV_OK;
}

enum lgv_status lgv_model_from_callbacks(const struct lgv_callbacks *callbacks, struct lgv_model **out,
                                         struct lgv_error *err) {
    if (out) *out = NULL;
    if (!callbacks || !out) return lgv_fail(err, LGV_BAD_INPUT, "no callbacks, or no place for the model");
    enum lgv_status status = check_callbacks(callbacks, err);
    if (status) return status;
    const char *name = callbacks->name && *callbacks->name ? callbacks->name : "callbacks";
    struct lgv_model *m = lgv_new(1, sizeof *m);
    if (!m) return lgv_fail_memory(err);
    m->kind = &lgv_model_functions;
    m->nx = m->np = callbacks->dof;
    m->nnoise = callbacks->noises;
    m->nconstraints = callbacks->constraints;
    m->lagrangian = m->hamiltonian = -1;
    m->draws[0] = (int)callbacks->normals;
    m->draws[1] = (int)callbacks->uniforms;
    m->callbacks = copy_callbacks(callbacks, name);
    m->name = lgv_copy(name);
    m->text = describe(m->callbacks);
    m->hamiltonian_text = lgv_copy("H");
    m->par = lgv_new(1, sizeof *m->par);
    bool ok = name_components(m) && m->name && m->text && m->hamiltonian_text && m->par && m->callbacks &&
              m->callbacks->name && m->callbacks->q0 && m->callbacks->p0;
    status = ok ? name_observables(m, callbacks, err) : lgv_fail_memory(err);
    if (status) {
        if (!m->component) m->nx = m->np = 0;
        lgv_model_free(m);
        return status;
    }
    *out = m;
    return LGV_OK;
}
