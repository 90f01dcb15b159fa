/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Building a kernel for a model and a method, and what it observes. */
#include "kernel/kernel.h"
#include "kernel/compile.h"
#include "kernel/emit.h"
#include <stdlib.h>
#include <string.h>

/* ---- what is observed ---- */

/* A copy of the observable under a name. */
static bool watch_copy(struct lgv_watch *w, size_t *capacity, const char *name, struct lgv_observable o) {
    if (!lgv_grow(&w->item, capacity, w->count + 1, sizeof *w->item)) return false;
    o.name = lgv_copy(name);
    o.text = lgv_copy(o.text ? o.text : name);
    w->item[w->count] = o;
    if (!o.name || !o.text) {
        free(o.name);
        free(o.text);
        return false;
    }
    w->count++;
    return true;
}

static bool watch_add(struct lgv_watch *w, size_t *capacity, const char *name, char *text, int kind, int node) {
    return watch_copy(w, capacity, name, (struct lgv_observable){.text = text, .kind = kind, .node = node});
}

static bool watch_has(const struct lgv_watch *w, const char *name) {
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->item[i].name, name) == 0) return true;
    return false;
}

/* Can all coordinates be bound?  None that is declared to turn round, or that H does not depend on. */
static bool can_be_bound(struct lgv_model *m) {
    struct lgv_function H = {0};
    struct lgv_terms Hq = {0};
    struct lgv_place *place = NULL;
    long count = -1;
    if (m->nx != m->np) return false; /* rotations have no place to be far from */
    if (m->graph->ncuts) return false; /* no force beyond the radius */
    if (m->lagrangian_only) return false; /* no formula for H_q */
    for (size_t i = 0; m->period && i < m->nx; i++)
        if (m->period[i] > 0) return false;
    if (lgv_function_split(m->graph, m->hamiltonian, false, &H)) lgv_terms_gradient(m->graph, &H, LGV_Q, &Hq);
    for (size_t i = 0; i < Hq.count; i++) Hq.term[i].col = Hq.term[i].row; /* places of a vector on the diagonal */
    if (!m->graph->failed) count = lgv_terms_pattern(m->graph, &Hq, LGV_MAX_INSTANCES, &place);
    free(place);
    lgv_terms_free(&Hq);
    lgv_function_free(&H);
    return count < 0 || (size_t)count == m->np;
}

/* Both are kT in the mean, where the model has a stationary law: of p.H_p over the degrees of freedom that are left by
 * constraints, of q.U_q where all coordinates are bound;
 * where some cannot be, it would be a number without a meaning. */
static bool watch_temperatures(struct lgv_model *m, struct lgv_watch *w, size_t *capacity) {
    double free = (double)m->np - (double)m->nconstraints;
    if (!m->bath.kind || !(free > 0)) return true;
    if (!watch_has(w, LGV_KINETIC) &&
        !watch_add(w, capacity, LGV_KINETIC, "p . H_p / degrees of freedom", LGV_OBSERVABLE_DECLARED,
                   lgv_expr_scale(m->graph, 1 / free, lgv_model_virial(m, LGV_P))))
        return false;
    return m->nconstraints || m->graph->nrotations || watch_has(w, LGV_CONFIGURATIONAL) || !can_be_bound(m) ||
           watch_add(w, capacity, LGV_CONFIGURATIONAL, "q . U_q / degrees of freedom", LGV_OBSERVABLE_DECLARED,
                     lgv_expr_scale(m->graph, 1 / free, lgv_model_virial(m, LGV_Q)));
}

/* A periodic coordinate, also where the file observes it itself under its own name. */
static void watch_periods(struct lgv_model *m, struct lgv_watch *w) {
    for (size_t i = 0; m->period && i < w->count; i++)
        for (size_t k = 0; k < m->nx; k++) {
            struct lgv_observable *o = &w->item[i];
            if (!(m->period[k] > 0) || o->node < 0 || strcmp(o->name, m->component[k]) != 0) continue;
            if (lgv_model_observed(m, o) != lgv_expr_ref_at(m->graph, LGV_Q, (long)k)) continue;
            o->period = m->period[k];
            o->from = m->period[m->nx + k];
        }
}

enum lgv_status lgv_kernel_watch(struct lgv_model *m, struct lgv_watch *out, struct lgv_error *err) {
    size_t capacity = 0, n = m->np;
    *out = (struct lgv_watch){0};
    bool ok = watch_add(out, &capacity, "H", m->hamiltonian_text ? m->hamiltonian_text : "H", LGV_OBSERVABLE_ENERGY,
                        m->hamiltonian);
    for (size_t i = 0; ok && i < m->nobservables; i++)
        ok = watch_copy(out, &capacity, m->observable[i].name, m->observable[i]);
    ok = ok && watch_temperatures(m, out, &capacity);
    for (size_t i = 0; ok && i < m->nsymmetries; i++) {
        char text[256];
        snprintf(text, sizeof text, "p . xi, xi = %s", m->symmetry[i].text ? m->symmetry[i].text : "generator");
        ok = watch_add(out, &capacity, m->symmetry[i].name, text, LGV_OBSERVABLE_MOMENTUM,
                       lgv_model_momentum_map(m, &m->symmetry[i]));
    }
    if (ok && m->exact)
        ok = watch_add(out, &capacity, "error", "distance to the exact solution", LGV_OBSERVABLE_ERROR,
                       lgv_algebra_distance(m));
    for (size_t i = 0; ok && n <= LGV_WATCHED_DOF && i < m->nx + n; i++)
        if (!watch_has(out, m->component[i]))
            ok = watch_add(out, &capacity, m->component[i], NULL,
                           i < m->nx ? LGV_OBSERVABLE_COORDINATE : LGV_OBSERVABLE_CONJUGATE, m->kind->component(m, i));
    if (ok && m->nconstraints) /* the last two, filled by the time loop */
        ok = watch_add(out, &capacity, "constraint", "largest |g_k(q)|", LGV_OBSERVABLE_CONSTRAINT, -1) &&
             watch_add(out, &capacity, "hidden_constraint", "largest |(G(q) v)_k|", LGV_OBSERVABLE_HIDDEN, -1);
    if (ok) watch_periods(m, out);
    for (size_t i = 0; ok && i < out->count; i++)
        if (out->item[i].node >= 0) out->uses |= m->graph->node[out->item[i].node].uses;
    for (size_t i = 0; ok && i < out->count; i++)
        if (out->item[i].kind == LGV_OBSERVABLE_MOMENTUM ||
            (out->item[i].kind == LGV_OBSERVABLE_ENERGY && m->kind->has_energy(m)))
            out->tallied[out->tallies++] = i;
    if (ok && !(m->graph && m->graph->failed)) return LGV_OK;
    lgv_kernel_watch_free(out);
    return m->graph && m->graph->failed ? lgv_fail(err, LGV_CANNOT_RUN, "%s", m->graph->failed) : lgv_fail_memory(err);
}

void lgv_kernel_watch_free(struct lgv_watch *w) {
    for (size_t i = 0; i < w->count; i++) {
        free(w->item[i].name);
        free(w->item[i].text);
    }
    free(w->item);
    *w = (struct lgv_watch){0};
}

enum lgv_status lgv_kernel_watched(const struct lgv_watch *w, const char *name, size_t *at, struct lgv_error *err) {
    const char *known[64];
    size_t n = 0;
    for (*at = 0; *at < w->count; ++*at)
        if (strcmp(w->item[*at].name, name) == 0) return LGV_OK;
    for (; n < w->count && n < sizeof known / sizeof *known; n++) known[n] = w->item[n].name;
    const char *near = lgv_nearest(name, known, n);
    return lgv_fail(err, LGV_BAD_INPUT, "nothing called %s is observed%s%s%s", name, near ? "; did you mean " : "",
                    near ? near : "", near ? "?" : "");
}

/* ---- control variates ---- */

#define CONTROL_DOF 200
#define CONTROL_BRACKETS 20000

bool lgv_kernel_can_control(const struct lgv_model *m) {
    size_t watched = 2 + m->nobservables + m->nsymmetries + (m->np <= LGV_WATCHED_DOF ? (m->nx + m->np) : 0);
    return m->kind->formulas && !m->graph->nrotations && !m->nconstraints && !m->lagrangian_only && m->nnoise > 0 &&
           m->np <= CONTROL_DOF && watched * m->nnoise <= CONTROL_BRACKETS;
}

/* Doubles the list: behind every observable its martingale part. */
static enum lgv_status watch_controls(const struct lgv_model *m, struct lgv_watch *w, struct lgv_error *err) {
    if (!lgv_kernel_can_control(m))
        return lgv_fail(
            err, LGV_CANNOT_RUN,
            "control variates need formulas, noise, at most %d degrees of freedom and %d pairs of observable "
            "and noise",
            CONTROL_DOF, CONTROL_BRACKETS);
    size_t n = w->count, capacity = w->count;
    for (size_t i = 0; i < n; i++) {
        struct lgv_text name = {0};
        lgv_text_add(&name, "%s~martingale", w->item[i].name);
        struct lgv_observable o = w->item[i];
        o.kind = LGV_OBSERVABLE_MARTINGALE;
        o.text = NULL;
        bool ok = !name.failed && watch_copy(w, &capacity, name.data, o);
        lgv_text_free(&name);
        if (!ok) return lgv_fail_memory(err);
    }
    w->controls = n;
    return LGV_OK;
}

/* ---- the modified Hamiltonian ---- */

/* Why there is none, or NULL. */
static const char *unmodified(struct lgv_model *m, const struct lgv_method *method, const struct lgv_structure *s,
                              double k[3]) {
    if (!m->kind->formulas || m->hamiltonian < 0 || m->lagrangian_only) return "it is made of a formula for H";
    if (m->nconstraints || s->rotations) return "it is known without constraints and rotations only";
    if (s->time_dependent || s->bath || s->forced)
        return "H must not depend on t, and there is none with a bath or forces";
    if (m->np > LGV_BRACKET_DOF) return "at most " LGV_DIGITS(LGV_BRACKET_DOF) " degrees of freedom";
    if (lgv_model_kinks(m)) return "a formula bends or jumps, and second derivatives are needed";
    if (method->loose || !lgv_method_modified(method, s, k))
        return "it is known for symplectic methods of order 2: Verlet, the midpoint rule, words and tableaux";
    return NULL;
}

static enum lgv_status watch_modified(struct lgv_model *m, const struct lgv_method *method,
                                      const struct lgv_structure *s, struct lgv_watch *w, struct lgv_error *err) {
    double k[3] = {0};
    size_t capacity = w->count;
    char text[160];
    const char *why = unmodified(m, method, s, k);
    if (why) return lgv_fail(err, LGV_CANNOT_RUN, "modified_energy: %s with this model: %s", method->name, why);
    if (watch_has(w, LGV_MODIFIED))
        return lgv_fail(err, LGV_BAD_INPUT, "modified_energy: the file observes another " LGV_MODIFIED " already");
    int node = lgv_algebra_modified(m, k);
    snprintf(text, sizeof text, "H + dt^2 (%.6g H_qq[H_p,H_p] + %.6g H_qp[H_q,H_p] + %.6g H_pp[H_q,H_q])", k[0],
             -2 * k[1], k[2]);
    if (m->graph->failed) return lgv_fail(err, LGV_CANNOT_RUN, "modified_energy: %s", m->graph->failed);
    if (!watch_add(w, &capacity, LGV_MODIFIED, text, LGV_OBSERVABLE_MODIFIED, node)) return lgv_fail_memory(err);
    w->uses |= m->graph->node[node].uses;
    w->tallied[w->tallies++] = w->count - 1;
    return LGV_OK;
}

/* ---- extremes ---- */

/* The observable of that name becomes a tally, unless it is one. */
static enum lgv_status watch_extreme(struct lgv_watch *w, const char *name, struct lgv_error *err) {
    size_t at = 0, k = 0;
    struct lgv_error why;
    if (!*name) return lgv_fail(err, LGV_BAD_INPUT, "extremes: a name is missing between two commas");
    if (lgv_kernel_watched(w, name, &at, &why) != LGV_OK)
        return lgv_fail(err, LGV_BAD_INPUT, "extremes: %s", why.message);
    while (k < w->tallies && w->tallied[k] != at) k++;
    if (k == w->tallies && w->item[at].node < 0)
        return lgv_fail(err, LGV_BAD_INPUT, "extremes: %s cannot be followed at every step", name);
    for (size_t i = 0; i < w->extremes; i++)
        if (w->extreme[i] == k) return lgv_fail(err, LGV_BAD_INPUT, "extremes: %s is listed twice", name);
    if (w->extremes == LGV_MAX_EXTREMES)
        return lgv_fail(err, LGV_BAD_INPUT, "extremes: more than %d observables", LGV_MAX_EXTREMES);
    if (k == w->tallies) w->tallied[w->tallies++] = at;
    w->extreme[w->extremes++] = k;
    return LGV_OK;
}

static enum lgv_status watch_extremes(const struct lgv_method *method, const char *list, struct lgv_watch *w,
                                      struct lgv_error *err) {
    char name[256];
    enum lgv_status status = LGV_OK;
    while (!status && lgv_list_next(&list, name, sizeof name)) status = watch_extreme(w, name, err);
    if (!status && w->extremes && method->loose)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "extremes: between the steps of %s the state is not what it shows; use %s", method->name,
                        method->constrained ? "RATTLE" : "Newmark");
    return status;
}

/* ---- events and sections ---- */

size_t lgv_kernel_crossing(const struct lgv_watch *w) {
    size_t most = 0;
    for (size_t k = 0; k < w->sections; k++)
        if (w->section[k].nseen > most) most = w->section[k].nseen;
    return 1 + most;
}

static enum lgv_status watch_events(const struct lgv_model *m, const struct lgv_method *method, struct lgv_watch *w,
                                    struct lgv_error *err) {
    if (method->loose)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "%s cannot look at events and sections: between its steps the state is not what it shows; use "
                        "%s",
                        method->name, method->constrained ? "RATTLE" : "Newmark");
    w->events = m->nevents;
    w->event = m->event;
    w->sections = m->nsections;
    w->section = m->section;
    return LGV_OK;
}

/* ---- building ---- */

/* The widest block whose state and matrices are still served by registers and the first cache (measured).  Sparse
 * systems of constraints are worked on through tables of indices, whose cost more lanes share. */
static unsigned choose_lanes(size_t np, bool dense, bool sparse, bool clang) {
    if (np < (dense ? 3 : clang ? 10 : 9)) return 16;
    if (!clang) return 4;
    if (sparse) return np <= 256 ? 16 : 8; /* beyond, compiling takes much longer for a tenth less time per step */
    double vectors = dense ? 6.0 * (double)np * (double)np + 12.0 * (double)np : 8.0 * (double)np;
    return vectors * 8 * 8 <= 131072 ? 8 : 4;
}

/* gcc is only good at vectors of the hardware width, so there a wide block of a small model is made of several. */
static struct lgv_width choose_width(size_t np, unsigned lanes, bool clang) {
    if (clang || lanes <= 4 || 2 * np * lanes / 4 > 64) return (struct lgv_width){.lanes = lanes, .vecs = 1};
    return (struct lgv_width){.lanes = 4, .vecs = lanes / 4};
}

#define PAIR_LANES 4 /* where lanes are instances of pair sums: the rest of the step does not gain by more */

/* k->entry stays NULL when what was loaded is not a kernel for this library. */
static enum lgv_status load_entry(const char *source, const struct lgv_compiler *cc, const char *keep, unsigned lanes,
                                  struct lgv_kernel *k, struct lgv_error *err) {
    enum lgv_status status = lgv_module_build(source, cc, keep, &k->module, &k->compile_seconds, err);
    if (status != LGV_OK) return status;
    const struct lgv_entry *entry = lgv_module_symbol(k->module, "lgv_kernel_entry");
    if (entry && entry->abi == LGV_ABI && entry->lanes == lanes) k->entry = entry;
    return LGV_OK;
}

static enum lgv_status compile(struct lgv_model *m, const struct lgv_kernel_options *options, struct lgv_kernel *k,
                               struct lgv_error *err) {
    struct lgv_compiler cc;
    const char *wanted = options->compiler && *options->compiler ? options->compiler : NULL;
    const char *keep = options->keep_source && *options->keep_source ? options->keep_source : NULL;
    enum lgv_status status = lgv_compiler_find(wanted, &cc, err);
    if (status) return status;
    cc.progress = options->progress;
    cc.user = options->user;
    snprintf(k->compiler, sizeof k->compiler, "%s", cc.version);
    unsigned face = lgv_method_face(k->method, &k->structure);
    unsigned lanes = options->lanes;
    bool sparse = lgv_method_sparse(k->method, m, &k->structure);
    bool dense = (face & LGV_FACE_K2) && !lgv_method_large(k->method, m, &k->structure) &&
                 !lgv_method_patterned(k->method, m, &k->structure) && !lgv_method_long(k->method, m, &k->structure);
    if (!lanes) lanes = choose_lanes(m->np, dense, sparse, cc.kind == LGV_COMPILER_CLANG);
    const bool near = m->graph->ncuts > 0, few = options->paths && 2 * options->paths <= PAIR_LANES;
    const bool pairs = few && options->lanes <= 2 * PAIR_LANES && lgv_emit_has_pairs(m->graph);
    const unsigned least = near || pairs ? PAIR_LANES : 2; /* instances of pair sums fill them */
    if (near && !options->lanes && lanes > 2 * PAIR_LANES) lanes = 2 * PAIR_LANES;
    while (!options->lanes && options->paths && lanes > least && lanes / 2 >= options->paths) lanes /= 2;
    struct lgv_width width = choose_width(m->np, lanes, cc.kind == LGV_COMPILER_CLANG);
    if (near) width = (struct lgv_width){.lanes = lanes, .vecs = 1};
    width.pairs = pairs && width.vecs == 1 && lanes <= 2 * PAIR_LANES;
    width.coarse = options->coarse;
    char *source = lgv_kernel_source(m, k->method, &k->structure, &k->watch, &width, err);
    if (!source) return LGV_CANNOT_RUN;
    status = load_entry(source, &cc, keep, lanes, k, err);
    if (status == LGV_OK && !k->entry && lgv_module_cached(k->module)) { /* somebody changed the cache */
        lgv_module_free(k->module);
        k->module = NULL;
        lgv_module_forget(source, &cc);
        status = load_entry(source, &cc, NULL, lanes, k, err);
    }
    free(source);
    if (status == LGV_OK && !k->entry)
        return lgv_fail(err, LGV_CANNOT_RUN, "the compiled kernel does not fit this version of the library");
    return status;
}

enum lgv_status lgv_kernel_refresh(struct lgv_kernel *k, struct lgv_model *m, struct lgv_error *err) {
    k->par = m->par;
    k->compile_seconds = 0;
    enum lgv_status status = lgv_model_structure(m, &k->structure, err);
    if (!status) status = lgv_method_refuse(k->method, m, &k->structure, err);
    if (!status && m->bath.kind) {
        const bool varying = lgv_method_lagrangian(k->method, m, &k->structure);
        status = lgv_bath_prepare(m, &k->structure, varying, &k->bath, err);
    }
    k->nprocesses = m->nprocesses;
    if (!status && m->nprocesses) status = lgv_process_prepare(m, &k->process, err);
    if (!status && k->structure.rotations && lgv_method_spins(k->method, m, &k->structure))
        status = lgv_spin_prepare(m, &k->spin, err);
    if (!status && k->method->needs & LGV_NEEDS_QUADRATIC_STIFF) status = lgv_modes_prepare(m, &k->modes, err);
    if (!status && k->method->metropolis && !(k->bath->temperature[0] > 0))
        return lgv_model_fail(err, m->file, m->text, m->bath.temperature_line, m->bath.temperature_column,
                              "%s accepts steps by exp(-w/kT), which needs a temperature above 0", k->method->name);
    return status ? status : lgv_model_constraint_check(m, &k->start, err);
}

enum lgv_status lgv_kernel_lanes(uint64_t lanes, struct lgv_error *err) {
    if (lanes == 1 || lanes > LGV_MOST_LANES || (lanes & (lanes - 1)))
        return lgv_fail(err, LGV_BAD_INPUT, "lanes must be 2, 4, 8 or 16 (or 0 to choose)");
    return LGV_OK;
}

/* Of the Brownian motion and the start values. */
static size_t kept_rows(const struct lgv_kernel *k) {
    unsigned uses = k->watch.uses;
    return (uses & LGV_USES(LGV_BROWN) ? k->nnoise : 0) + (uses & LGV_USES(LGV_DQ) ? k->nx : 0) +
           (uses & LGV_USES(LGV_DP) ? k->np : 0);
}

enum lgv_status lgv_kernel_build(struct lgv_model *m, const struct lgv_method *method,
                                 const struct lgv_kernel_options *options, struct lgv_kernel *out,
                                 struct lgv_error *err) {
    *out = (struct lgv_kernel){.method = method, .par = m->par, .spans = 1, .common_spans = 1};
    if (m->bath.kind) out->spans = out->common_spans = lgv_method_spans(method);
    out->nx = m->nx;
    out->np = m->np;
    out->energy_known = m->kind->has_energy(m);
    out->nnoise = m->nnoise;
    enum lgv_status status = lgv_kernel_lanes(options->lanes, err);
    if (!status) status = lgv_kernel_refresh(out, m, err);
    if (status) {
        lgv_kernel_free(out);
        return status;
    }
    out->nextra = m->nconstraints + (lgv_method_lagrangian(method, m, &out->structure) ? m->np : 0) +
                  (method->compensated ? 2 * m->np : 0);
    unsigned face = lgv_method_face(method, &out->structure);
    if ((face & LGV_FACE_K2) && m->np > LGV_DENSE_DOF && !lgv_method_large(method, m, &out->structure) &&
        !lgv_method_patterned(method, m, &out->structure) && !lgv_method_long(method, m, &out->structure)) {
        lgv_kernel_free(out);
        return lgv_method_too_large(method, m, err);
    }
    status = lgv_kernel_watch(m, &out->watch, err);
    if (out->watch.uses & LGV_USES(LGV_LAMBDA)) out->nextra += 2 * m->npenalties;
    if (!status && options->modified) status = watch_modified(m, method, &out->structure, &out->watch, err);
    if (!status && options->control) status = watch_controls(m, &out->watch, err);
    for (size_t i = 0; i < out->watch.count && !options->wrapped; i++) out->watch.item[i].period = 0;
    if (!status && options->extremes) status = watch_extremes(method, options->extremes, &out->watch, err);
    if (method->loose) out->watch.tallies = 0; /* what is shown is not the state */
    if (!status && options->events && (m->nevents || m->nsections)) status = watch_events(m, method, &out->watch, err);
    out->drawn_row = out->nx + out->np + out->nextra + kept_rows(out);
    out->ndrawn = m->graph ? (size_t)m->graph->ndrawn : 0;
    out->nstate = out->drawn_row + out->ndrawn + out->watch.controls + 2 * out->watch.tallies +
                  LGV_EVENT_ROWS * out->watch.events + LGV_SECTION_ROWS * out->watch.sections;
    if (!status && m->callbacks) {
        out->user = (struct lgv_kernel_user){m->callbacks, method->values, method->program};
        out->entry = method->callbacks;
        snprintf(out->compiler, sizeof out->compiler, "compiled with the library");
    } else if (!status) {
        status = compile(m, options, out, err);
    }
    if (status) lgv_kernel_free(out);
    return status;
}

void lgv_kernel_free(struct lgv_kernel *k) {
    lgv_kernel_watch_free(&k->watch);
    lgv_module_free(k->module);
    k->module = NULL;
    lgv_bath_free(k->bath);
    k->bath = NULL;
    free(k->process);
    k->process = NULL;
    free(k->spin);
    k->spin = NULL;
    free(k->modes);
    k->modes = NULL;
}

size_t lgv_kernel_bath_size(const struct lgv_kernel *k) {
    return k->bath ? lgv_bath_numbers(k->bath, k->nnoise) : 0;
}

void lgv_kernel_bath_fill(const struct lgv_kernel *k, double dt, uint64_t coarsen, double *out) {
    if (k->bath) lgv_bath_fill(k->bath, k->nnoise, k->spans, dt, coarsen, out);
}

void lgv_kernel_bath_off(const struct lgv_kernel *k, double dt, double *numbers) {
    if (k->bath) lgv_bath_switch_off(k->bath, k->nnoise, k->spans, dt, k->method->metropolis, numbers);
}
