/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The certificate of a run. */
#include "stats/stats.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool one_name(const char *a, const char *b) { /* "x[3].y" and "x[4].x" */
    size_t n = strcspn(a, "[.");
    return strcspn(b, "[.") == n && strncmp(a, b, n) == 0;
}

#define ROUND_OFF 1e-12 /* of the largest scale */
#define CONSTANT 1e-9   /* moves that are smaller, compared with the values, are not taken for moves */

/* How far the components move over the states kept of the run; where they do not, how large they are.  Components of
 * one name have one unit and one scale; one that is always 0 gets that of the others. */
static double *state_scales(const struct lgv_model *m, const struct lgv_plan *plan,
                            const struct lgv_run_report *report) {
    size_t nx = m->nx, np = m->np, rows = nx + np;
    double *scale = lgv_new(rows, sizeof *scale), most[2] = {0, 0};
    for (size_t i = 0, end; scale && i < rows; i = end) {
        double moved = 0, size = 0;
        for (end = i; end < (i < nx ? nx : rows) && one_name(m->component[i], m->component[end]); end++) {
            double low = INFINITY, high = -INFINITY;
            for (size_t k = 0; k < plan->nsnapshots * LGV_UNIT; k++) {
                double x = report->snapshot[k * rows + end];
                if (isfinite(x)) low = fmin(low, x), high = fmax(high, x);
            }
            if (low <= high) moved = fmax(moved, high - low), size = fmax(size, fmax(fabs(low), fabs(high)));
        }
        for (size_t k = i; k < end; k++) scale[k] = moved > CONSTANT * size ? moved : size;
        most[i >= nx] = fmax(most[i >= nx], scale[i]);
    }
    for (size_t i = 0; scale && i < rows; i++)
        if (!(scale[i] > ROUND_OFF * most[i >= nx])) scale[i] = most[i >= nx] > 0 ? most[i >= nx] : 1;
    for (size_t i = 0; scale && nx > np && i < 2 * np; i++) { /* of tangent vectors; rotations in radians */
        int axis = -1;
        long row = i < np ? lgv_rotations_row(m->graph, (long)i, &axis) : (long)(i - np + nx);
        scale[i] = axis < 0 ? scale[row] : 1; /* row >= i, so nothing is lost before it is used */
    }
    return scale;
}

/* Largest entry of R^T R - 1, R being made of a quaternion x: |x|^4 - 1. */
static double off_rotations(const struct lgv_model *m, const struct lgv_plan *plan,
                            const struct lgv_run_report *report) {
    const struct lgv_graph *g = m->graph;
    double worst = NAN;
    for (size_t k = 0; g && g->nrotations && !g->reduced && k < plan->nsnapshots * LGV_UNIT; k++) {
        const double *state = report->snapshot + k * (m->nx + m->np);
        if (!isfinite(state[0])) continue;
        for (size_t r = 0; r < g->nrotations; r++)
            for (long body = 0; body < g->rotation[r].count; body++) {
                const double *x = state + g->rotation[r].q + 4 * body;
                double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3];
                worst = fmax(worst, fabs(square * square - 1));
            }
    }
    return worst;
}

double lgv_certificate_momentum(struct lgv_model *m, const struct lgv_symmetry *symmetry, const struct lgv_plan *plan,
                                const struct lgv_run_report *report) {
    struct lgv_evaluator e;
    double largest = 0;
    if (!lgv_eval_begin(&e, m->graph)) return 0;
    for (size_t k = 0; k < plan->nsnapshots * LGV_UNIT; k++) {
        const double *x = report->snapshot + k * (m->nx + m->np), *p = x + m->nx;
        struct lgv_env env = {.par = m->par, .space = {[LGV_Q] = x, [LGV_P] = p}};
        double of_p = 0, of_xi = 0; /* |p| |xi|: the parts of p.xi may all be 0 at a start, and round-off is not */
        for (size_t i = 0; i < m->np; i++) {
            if (!symmetry->xi[i]) continue;
            double xi = lgv_eval_node(&e, symmetry->xi[i], &env, NULL);
            of_p = hypot(of_p, p[i]);
            of_xi = hypot(of_xi, xi);
        }
        if (isfinite(of_p * of_xi)) largest = fmax(largest, of_p * of_xi);
    }
    lgv_eval_end(&e);
    return largest;
}

/* |T| + |V| at a state, V = H(q, 0) and T = H - V. */
static double energy_parts(const struct lgv_model *m, struct lgv_evaluator *e, const double *state,
                           const double *rest) {
    struct lgv_env env = {.par = m->par, .space = {[LGV_Q] = state, [LGV_P] = state + m->nx}};
    double all = lgv_eval_node(e, m->hamiltonian, &env, NULL);
    env.space[LGV_P] = rest;
    double V = lgv_eval_node(e, m->hamiltonian, &env, NULL);
    return fabs(all - V) + fabs(V);
}

double lgv_certificate_energy(struct lgv_model *m, const struct lgv_plan *plan, const struct lgv_run_report *report) {
    size_t rows = m->nx + m->np, states = plan->nsnapshots * LGV_UNIT;
    size_t stride = m->np > LGV_MANY_DOF ? LGV_UNIT : 1;
    struct lgv_evaluator e;
    double largest = 0;
    if (!m->kind->formulas || m->hamiltonian < 0 || m->lagrangian_only) return 0;
    double *rest = lgv_new(m->np + 1, sizeof *rest);
    if (rest && lgv_eval_begin(&e, m->graph)) {
        for (size_t k = 0; k < states; k += stride) {
            double size = energy_parts(m, &e, report->snapshot + k * rows, rest);
            if (isfinite(size)) largest = fmax(largest, size);
        }
        lgv_eval_end(&e);
    }
    free(rest);
    return largest;
}

/* sum sigma.M^-1 sigma/2 of additive noise h = sigma.q, by which the mean of H grows per time: differences of h are
 * exact, and so is the second one of H along sigma.  `state`: one where H is defined. */
#define MOST_DIFFERENCES 1000000
static double energy_rate(struct lgv_model *m, const double *state) {
    double rate = NAN, *x = lgv_new(m->nx + 3 * m->np, sizeof *x);
    int *h = x && m->np * m->nnoise <= MOST_DIFFERENCES ? lgv_model_noises(m) : NULL;
    struct lgv_evaluator e;
    bool drawn = m->graph->ndrawn && lgv_model_masses_drawn(m); /* then every path has a rate of its own */
    for (size_t k = 0; h && k < m->nnoise; k++) drawn = drawn || (m->graph->node[h[k]].uses & LGV_USES(LGV_DRAWN));
    if (h && !drawn && !m->graph->failed && lgv_eval_begin(&e, m->graph)) {
        double *p = x + m->nx, *more = p + m->np, *less = more + m->np, H[3];
        memcpy(x, state, (m->nx + m->np) * sizeof *x);
        rate = 0;
        for (size_t k = 0; k < m->nnoise; k++) {
            struct lgv_env env = {.par = m->par, .space = {[LGV_Q] = x, [LGV_P] = p}};
            double base = lgv_eval_node(&e, h[k], &env, NULL);
            for (size_t i = 0; i < m->np; i++) {
                x[i] = state[i] + 1;
                double sigma = lgv_eval_node(&e, h[k], &env, NULL) - base;
                x[i] = state[i];
                more[i] = p[i] + sigma;
                less[i] = p[i] - sigma;
            }
            const double *at[] = {less, p, more};
            for (int i = 0; i < 3; i++) {
                env.space[LGV_P] = at[i];
                H[i] = lgv_eval_node(&e, m->hamiltonian, &env, NULL);
            }
            rate += 0.5 * (H[0] - 2 * H[1] + H[2]);
        }
        lgv_eval_end(&e);
    }
    free(h);
    free(x);
    return rate;
}

/* A path of the first unit that is alive at snapshot `snap`, beginning with number `first`; -1 when there is none. */
static long living_path(const struct lgv_run_report *report, size_t snap, size_t first, size_t rows) {
    for (size_t k = 0; k < LGV_UNIT; k++) {
        size_t path = (first + k) % LGV_UNIT;
        if (isfinite(report->snapshot[(snap * LGV_UNIT + path) * rows])) return (long)path;
    }
    return -1;
}

/* The worst of several states: what is certain counts before all others.  A state of which too little is known to say
 * anything, as of bodies on joints that have fallen far, counts only where all are such; *states: those that count. */
static void keep_worst(double d, double error, double *worst, double *worst_error, uint64_t *states) {
    bool seen = d > error, first = isnan(*worst), before = *worst > *worst_error;
    bool vague = !seen && error > LGV_DEFECT_KNOWN, was_vague = !first && !before && *worst_error > LGV_DEFECT_KNOWN;
    if (!first && vague && !was_vague) return;
    *states = was_vague && !vague ? 1 : *states + 1;
    if (first || (was_vague && !vague) || (seen && (!before || d - error > *worst - *worst_error))) {
        *worst = d;
        *worst_error = error;
    } else if (!seen && !before) {
        *worst = fmax(*worst, d);
        *worst_error = fmax(*worst_error, error);
    }
}

/* The defect of step n of a path at x, in units of how far the run goes; where too little is known of it so, as of the
 * start of bodies that fall far, in those of x itself. */
static double measure(const struct lgv_kernel *k, const struct lgv_plan *plan, uint64_t path, uint64_t n,
                      const double *x, const double *scale, lgv_progress *progress, void *user,
                      struct lgv_defect *how) {
    double d = lgv_certificate_defect(k, plan->t0, plan->dt, plan->seed, path, n, x, scale, progress, user, how);
    if (!(d <= how->error && how->error > LGV_DEFECT_KNOWN)) return d;
    struct lgv_defect other = *how;
    other.size = 0;
    double own = lgv_certificate_defect(k, plan->t0, plan->dt, plan->seed, path, n, x, NULL, progress, user, &other);
    if (!isfinite(own) || !(other.error < how->error)) return d;
    other.size = how->size;
    *how = other;
    return own;
}

/* What a step makes of phase volume at one more state. */
static void keep_volume(const struct lgv_defect *how, struct lgv_certificate *c) {
    double off = fabs(how->volume - c->volume_expected);
    c->volume_states += isfinite(how->volume) ? 1 : 0;
    c->volume_least = fmin(c->volume_least, how->volume);
    c->volume_most = fmax(c->volume_most, how->volume);
    if (!isfinite(c->volume_expected)) c->volume_error = fmax(c->volume_error, how->volume_error);
    if (isfinite(off) && !(off - how->volume_error <= c->volume - c->volume_error)) {
        c->volume = off;
        c->volume_error = how->volume_error;
    }
}

/* Can the bath of the method be switched off?  Friction of q is part of the kernel where it is a force of the step. */
static bool has_conservative_part(const struct lgv_kernel *k) {
    return k->bath &&
           (k->bath->steady || k->method->metropolis || k->method->contraction == LGV_CONTRACTS_EXACTLY);
}

/* What is known before anything is measured. */
static struct lgv_certificate claims(const struct lgv_model *m, const struct lgv_plan *plan,
                                     const struct lgv_run_report *report, bool constrained) {
    const struct lgv_kernel *k = plan->kernel;
    const struct lgv_method *method = k->method;
    bool exactly = method->metropolis || method->contraction == LGV_CONTRACTS_EXACTLY;
    return (struct lgv_certificate){
        .symplectic_defect = NAN,
        .symplectic_defect_error = NAN,
        .reduced = k->structure.reduced,
        .defect_all_error = NAN,
        .constraint = NAN,
        .rotation = off_rotations(m, plan, report),
        .rotation_claim = !method->leaves_group,
        .hidden_constraint = NAN,
        .conservative = NAN,
        .conservative_error = NAN,
        .conservative_claim = !k->structure.forced && (method->metropolis || method->contraction),
        .symplectic_claim = method->symplectic,
        .constraint_size = constrained ? k->start.size : NAN,
        .hidden_size = constrained ? k->start.hidden_size : NAN,
        .start_constraint = constrained ? k->start.residual : NAN,
        .start_hidden = constrained ? k->start.hidden : NAN,
        .noise_commutes = k->structure.commutes,
        .volume = NAN,
        .volume_error = NAN,
        .volume_least = NAN,
        .volume_most = NAN,
        .temperature = NAN,
        .bath = k->structure.bath,
        .bias_order = lgv_method_bias_order(method, &k->structure, k->nnoise),
        .dissipative = k->structure.bath || k->structure.forced,
        .time_dependent = k->structure.time_dependent,
        .energy_rate = NAN,
        .commutes_decided = k->structure.commutes_decided,
        .friction_step = k->bath ? lgv_bath_fastest(k->bath) * plan->dt : 0,
        .friction_limit = method->friction_limit,
        .friction_exact = exactly && (!constrained || (k->bath && k->bath->exact)), /* else the midpoint rule */
    };
}

static void expect_orders(const struct lgv_model *m, const struct lgv_kernel *k, struct lgv_certificate *c) {
    const char *reason;
    char commutes[200], all[400];
    const bool bends = m->kind->formulas && lgv_model_kinks(m);
    c->strong_order = lgv_method_strong_order(k->method, &k->structure, k->nnoise, &reason);
    c->weak_order = lgv_method_weak_order(k->method, &k->structure, k->nnoise, NULL);
    snprintf(all, sizeof all, "%s%s", reason, bends ? "; none is kept where a formula bends or jumps" : "");
    c->order_reason = lgv_copy(all);
    lgv_structure_commutes(&k->structure, k->nnoise, commutes, sizeof commutes);
    c->commutes_reason = lgv_copy(commutes);
}

static void expect_stability(struct lgv_model *m, const struct lgv_plan *plan, struct lgv_certificate *c) {
    const struct lgv_kernel *k = plan->kernel;
    struct lgv_stability stability;
    lgv_method_stability(k->method, m, &k->structure, plan->dt, LGV_STABILITY_QUICKLY, &stability);
    c->highest_frequency = stability.frequency;
    c->stable_limit = stability.limit;
    c->largest_step = stability.largest;
    c->penalty_step = stability.penalty;
    c->stable = stability.stable;
    c->stability = stability.text[0] ? lgv_copy(stability.text) : NULL;
}

static void expect_law(struct lgv_model *m, const struct lgv_kernel *k, struct lgv_certificate *c) {
    struct lgv_law law;
    struct lgv_text words = {0};
    lgv_model_law(m, &k->structure, &law);
    lgv_law_words(m, &law, &words);
    c->law = words.data;
    c->law_temperature = law.kind == LGV_LAW_GIBBS ? law.temperature : (double)NAN;
}

/* What the step is to make of the symplectic form and of phase volume. */
static void expect_contraction(const struct lgv_model *m, const struct lgv_plan *plan, struct lgv_certificate *c) {
    const struct lgv_kernel *k = plan->kernel;
    c->form = c->volume_expected = k->structure.forced && m->force_of_p ? NAN : 1;
    if (k->bath && isfinite(c->form))
        lgv_bath_contraction(k->bath, (int)k->method->contraction, plan->dt, &c->form, &c->volume_expected);
    if (k->bath && m->nconstraints) /* on the constraint set, where other friction has no one factor */
        c->volume_expected = pow(c->form, (double)(k->np - m->nconstraints));
    if (k->bath && k->structure.rotations) c->form = NAN; /* noise along axes of a body is no gradient */
    if (k->bath || k->structure.forced)
        c->symplectic_claim = !k->structure.forced && isfinite(c->form) && (k->bath || k->method->symplectic);
    if (k->bath) c->temperature = k->bath->one_temperature ? k->bath->temperature[0] : NAN;
}

/* The largest residuals that were seen at output times. */
static void keep_residuals(const struct lgv_result *r, struct lgv_certificate *c) {
    for (size_t i = 0; i < r->nseries; i++) {
        const struct lgv_series *x = &r->series[i];
        double *to = x->kind == LGV_OBSERVABLE_CONSTRAINT ? &c->constraint : &c->hidden_constraint;
        bool residual = x->kind == LGV_OBSERVABLE_CONSTRAINT || x->kind == LGV_OBSERVABLE_HIDDEN;
        for (size_t j = 0; residual && j < r->ntimes; j++) *to = fmax(*to, x->max[j]);
    }
}

/* The step that is measured at one state of a run: of a path, at a time, with its noise. */
struct measured {
    const struct lgv_plan *plan;
    const double *scale;
    double *given; /* increments of the step, where those of the run are given */
    uint64_t path, step;
    const double *x;
    lgv_progress *progress;
    void *user;
};

/* The whole step, and its conservative part, at that state; `how` and `alone` say in which way. */
static void measure_state(const struct measured *at, struct lgv_defect *how, struct lgv_defect *alone,
                          struct lgv_certificate *c) {
    const struct lgv_plan *plan = at->plan;
    const struct lgv_kernel *k = plan->kernel;
    if (at->given) {
        size_t rows = lgv_increments_rows(k);
        lgv_increments_lay(plan->increments, rows, 1, at->path, at->step, 1, at->given);
    }
    how->complete = c->dissipative && !c->volume_states; /* of a large system at one state: it takes long */
    double d = measure(k, plan, at->path, at->step, at->x, at->scale, at->progress, at->user, how);
    if (isfinite(d)) {
        c->defect_all_error = fmax(c->defect_all_error, how->all_error);
        keep_worst(d, how->error, &c->symplectic_defect, &c->symplectic_defect_error, &c->defect_states);
        keep_volume(how, c);
    }
    if (!has_conservative_part(k)) return;
    d = measure(k, plan, at->path, at->step, at->x, at->scale, at->progress, at->user, alone);
    if (isfinite(d))
        keep_worst(d, alone->error, &c->conservative, &c->conservative_error, &c->conservative_states);
}

/* Path i at snapshot i, cycling through both. */
static void measure_states(const struct lgv_ran *ran, struct measured *at, struct lgv_certificate *c) {
    const struct lgv_model *m = ran->model;
    const struct lgv_plan *plan = ran->plan;
    const struct lgv_kernel *k = plan->kernel;
    struct lgv_defect how = {.rotations = m->graph,
                             .given = at->given,
                             .points = plan->points,
                             .contracts = isfinite(c->form),
                             .form = c->form,
                             .constraints = m->nconstraints};
    struct lgv_defect alone = {
        .rotations = m->graph, .points = plan->points, .constraints = m->nconstraints, .without_bath = true};
    /* by size, not by the clock: the certificate must not depend on the machine */
    uint64_t asked = ran->settings->check_states, states = k->np > LGV_MANY_DOF ? (asked + 1) / 2 : asked;
    for (size_t i = 0; i < states; i++) {
        size_t snap = i % plan->nsnapshots;
        long path = living_path(ran->report, snap, i, k->nx + k->np);
        if (path < 0) continue;
        at->path = (uint64_t)path;
        at->step = plan->time_step[plan->snapshot[snap]];
        at->x = ran->report->snapshot + (snap * LGV_UNIT + (size_t)path) * (k->nx + k->np);
        measure_state(at, &how, &alone, c);
    }
}

/* The defect of a stopped run is not measured: it may take longer than all steps that were done. */
void lgv_certificate_make(const struct lgv_ran *ran, lgv_progress *progress, void *user, struct lgv_result *r) {
    const struct lgv_plan *plan = ran->plan;
    const struct lgv_kernel *k = plan->kernel;
    const struct lgv_run_report *report = ran->report;
    struct lgv_certificate *c = &r->certificate;
    *c = claims(ran->model, plan, report, r->nconstraints > 0);
    expect_orders(ran->model, k, c);
    expect_stability(ran->model, plan, c);
    expect_law(ran->model, k, c);
    expect_contraction(ran->model, plan, c);
    keep_residuals(r, c);
    long first = plan->nsnapshots ? living_path(report, 0, 0, k->nx + k->np) : -1;
    const bool apart = !plan->points.common; /* else means know less than so many paths should */
    if (apart && k->method->energy_law && k->structure.additive && k->nnoise && ran->model->kind->formulas &&
        first >= 0)
        c->energy_rate = energy_rate(ran->model, report->snapshot + (size_t)first * (k->nx + k->np));
    double *scale = state_scales(ran->model, plan, report);
    double *given = plan->increments ? lgv_new(lgv_increments_rows(k), sizeof *given) : NULL;
    struct measured at = {.plan = plan, .scale = scale, .given = given, .progress = progress, .user = user};
    bool memory = scale && (given || !plan->increments);
    if (memory && plan->nsnapshots && !report->stopped) measure_states(ran, &at, c);
    free(scale);
    free(given);
}
