/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a model is, which methods fit it, and whether what the file and the method claim holds: `lgv check`.
 *
 * Structure comes from the formulas; the symplecticity defect and the drift of momentum maps are measured by a short
 * run of the chosen method. */
#include "engine/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DERIVATIVE_LIMIT 1e-6 /* finite differences of order 2 leave about 1e-9 */
#define MOST_ENTRIES 4000000

static void problem(struct lgv_examination *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void problem(struct lgv_examination *x, const char *format, ...) {
    if (!lgv_grow(&x->problem, &x->capacity, x->nproblems + 1, sizeof *x->problem)) return;
    va_list args;
    va_start(args, format);
    vsnprintf(x->problem[x->nproblems].text, sizeof x->problem->text, format, args);
    va_end(args);
    x->nproblems++;
}

/* ---- looking ---- */

/* Entries of one quarter of the Hessian that are not identically zero; -1 when there are too many to count. */
static long count_quarter(struct lgv_graph *g, const struct lgv_function *f, enum lgv_space rows, enum lgv_space cols) {
    struct lgv_terms terms = {0};
    struct lgv_place *place = NULL;
    lgv_terms_hessian(g, f, rows, cols, &terms);
    long count = g->failed ? -1 : lgv_terms_pattern(g, &terms, MOST_ENTRIES, &place);
    free(place);
    lgv_terms_free(&terms);
    return count;
}

static long count_entries(struct lgv_model *m) {
    struct lgv_function f;
    bool coupled = m->bath.fixman && m->nconstraints > LGV_DENSE_CONSTRAINTS; /* a formula of very many derivatives */
    if (coupled || !lgv_function_split(m->graph, m->hamiltonian, false, &f)) return -1;
    long qq = count_quarter(m->graph, &f, LGV_Q, LGV_Q), qp = count_quarter(m->graph, &f, LGV_Q, LGV_P),
         pp = count_quarter(m->graph, &f, LGV_P, LGV_P);
    lgv_function_free(&f);
    return qq < 0 || qp < 0 || pp < 0 ? -1 : qq + 2 * qp + pp;
}

/* Which pairs of noises do not commute, and what their areas cost. */
static void see_areas(struct lgv_examination *x) {
    struct lgv_model *m = x->model;
    struct lgv_bracket_list list;
    const struct lgv_method *levy = x->structure.commutes == 1 ? NULL : lgv_method_with_areas(m, &x->structure);
    if (!levy || !lgv_model_brackets(m, LGV_BRACKETS_AREAS, &list) || !list.count) return;
    long modes = 0;
    size_t used = 0;
    while (LGV_AREA_MORE(modes, x->step)) modes++;
    for (size_t k = 0; k < list.count && k < 8; k++)
        used += (size_t)snprintf(x->areas + used, sizeof x->areas - used, "%s(%zu,%zu)", k ? ", " : "",
                                 list.item[k].i + 1, list.item[k].j + 1);
    snprintf(x->areas + used, sizeof x->areas - used,
             "%s of the noises: NAME-Levy, such as %s, has strong order 1 with them. At step %g they take %ld Fourier "
             "mode%s and %ld normals a step, beside %zu of dW and dZ",
             list.count > 8 ? ", ..." : "", levy->name, x->step, modes, modes == 1 ? "" : "s",
             LGV_AREA_NORMALS(modes, (long)m->nnoise), 2 * m->nnoise);
    free(list.item);
}

double lgv_examination_drift(const struct lgv_examination *x, size_t i) {
    for (size_t k = 0; x->measured && k < x->result.nseries; k++) {
        const struct lgv_series *s = &x->result.series[k];
        if (s->kind == LGV_OBSERVABLE_MOMENTUM && strcmp(s->name, x->model->symmetry[i].name) == 0) return s->drift;
    }
    return (double)NAN;
}

/* False: the model cannot be run, which *err explains. */
static bool measure(struct lgv_examination *x, const struct lgv_settings *settings, struct lgv_error *err) {
    struct lgv_settings s = *settings;
    s.until = s.start + LGV_CHECK_STEPS * s.step;
    s.paths = LGV_CHECK_PATHS;
    s.outputs = LGV_CHECK_STEPS;
    s.threads = 1;
    if (!s.histograms2[0]) s.bins = 0;
    s.averages = s.correlations = false; /* a short run has no use for them, and can be shorter than burn_in */
    s.check_states = s.check_states ? s.check_states : 4;
    snprintf(s.keep, sizeof s.keep, "0");
    enum lgv_status status = lgv_engine_once(x->model, &s, NULL, NULL, NULL, &x->result, err);
    x->measured = status != LGV_BAD_INPUT && status != LGV_CANNOT_RUN;
    if (!x->measured) snprintf(x->unmeasured, sizeof x->unmeasured, "%s", err->message);
    return status != LGV_BAD_INPUT;
}

/* ---- judging ---- */

static void not_invariant(struct lgv_examination *x, size_t i) {
    int worst = x->structure.symmetry[i].worst;
    char what[40];
    snprintf(what, sizeof what,
             worst > 0              ? "noise %d is"
             : worst == LGV_WORST_H ? "H is"
                                    : "the constraints are",
             worst);
    problem(x, "symmetry %s: %s not invariant, the change along it reaches %.2g of its parts at random points",
            x->model->symmetry[i].name, what, x->structure.symmetry[i].residual);
}

/* With the place in the file that is to blame, if there is one. */
static void no_fit(struct lgv_examination *x) {
    struct lgv_error err = {0};
    lgv_method_refuse(x->method, x->model, &x->structure, &err);
    if (err.line)
        problem(x, "method %s does not fit: %s (%s:%d:%d)", x->method->name, x->method_why, x->model->file, err.line,
                err.column);
    else
        problem(x, "method %s does not fit: %s", x->method->name, x->method_why);
}

static void judge(struct lgv_examination *x) {
    const struct lgv_certificate *c = &x->result.certificate;
    if (!(x->derivative_error <= DERIVATIVE_LIMIT))
        problem(x, "derivatives: the gradients differ from finite differences by %.2g (relative)", x->derivative_error);
    for (size_t i = 0; i < x->model->nsymmetries && i < x->structure.nsymmetries; i++)
        if (!x->structure.symmetry[i].invariant && !x->structure.symmetry[i].unknown) not_invariant(x, i);
    if (!x->method_fits) no_fit(x);
    if (x->law.kind == LGV_LAW_INFINITE)
        problem(x, "stationary law: the kinetic energy is negative in some direction, so that exp(-H/kT) cannot be "
                   "normalised (%s:%d:%d)", x->model->file, x->model->line, x->model->column);
    if (x->measured && c->symplectic_claim && c->symplectic_defect_error <= LGV_DEFECT_KNOWN &&
        c->symplectic_defect > fmax(LGV_DEFECT_LIMIT, c->symplectic_defect_error))
        problem(x, c->bath ? "method %s is to contract the symplectic form by one factor, but is off by %.2g"
                           : "method %s claims to be symplectic, but its defect is %.2g",
                x->method->name, c->symplectic_defect);
    if (x->measured && x->result.failed) {
        char line[400];
        lgv_failure_line(&x->result, line, sizeof line);
        problem(x, "short run of %d steps: %s", LGV_CHECK_STEPS, line);
    }
}

double lgv_examination_weak(const struct lgv_examination *x, const struct lgv_method *m) {
    return lgv_method_weak_order(m, &x->structure, x->model->nnoise, NULL);
}

enum lgv_status lgv_examine(struct lgv_model *m, const struct lgv_settings *settings, struct lgv_examination *x,
                            struct lgv_error *err) {
    *x = (struct lgv_examination){.model = m, .step = settings->step};
    lgv_settings_times(settings, m);
    enum lgv_status status = lgv_method_resolve(m, settings->method, &x->method, &x->chosen, err);
    if (status == LGV_OK) status = lgv_model_structure(m, &x->structure, err);
    if (status != LGV_OK) return status;
    lgv_model_law(m, &x->structure, &x->law);
    x->derivative_error = lgv_model_derivative_error(m);
    x->hessian_entries = count_entries(m);
    x->force_symmetric = lgv_model_force_symmetric(m);
    see_areas(x);
    x->method_fits = !lgv_method_refusal(x->method, m, &x->structure, x->method_why, sizeof x->method_why);
    if (x->method_fits)
        lgv_method_stability(x->method, m, &x->structure, x->step, LGV_STABILITY_WELL, &x->stability);
    if (x->method_fits && !measure(x, settings, err)) {
        lgv_examination_clear(x);
        return LGV_BAD_INPUT;
    }
    judge(x);
    return LGV_OK;
}

void lgv_examination_clear(struct lgv_examination *x) {
    lgv_result_clear(&x->result);
    free(x->problem);
    x->problem = NULL;
    x->nproblems = x->capacity = 0;
}
