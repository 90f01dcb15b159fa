/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The certificate in words: each measured number with what it means, for the terminal summary and the report.
 *
 *   symplectic defect   max |J^T Omega J - Omega| of one step map, J its derivative at states of the run
 *   momentum drift      max over paths and times of |J(t) - J(0)| of a declared symmetry
 *   constraint          max |g(q)|, hidden constraint max |g_q(q) H_p(q,p)| */
#include "kernel/text/abi.h"
#include "out/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double lgv_at(const double *array, size_t i) {
    return array ? array[i] : (double)NAN;
}

#define RUNAWAY 1e6 /* times |H| at the start: noise alone rarely does that */

static enum lgv_mark mark_of(const struct lgv_verdict *v) {
    return v && v->holds >= 0 ? v->holds ? LGV_MARK_HOLDS : LGV_MARK_BROKEN : LGV_MARK_NONE;
}

static void put(struct lgv_check *c, const char *name, const char *explained) {
    *c = (struct lgv_check){.mark = LGV_MARK_NONE, .explained = explained};
    lgv_plain(c->name, sizeof c->name, name);
}

static void check_symplectic(const struct lgv_result *r, struct lgv_check *c) {
    const struct lgv_certificate *k = &r->certificate;
    put(c, "symplectic defect",
        "The flow of a Hamiltonian system keeps the symplectic form, also with noise. The defect measures by how much "
        "one step of this run fails to keep it: zero up to round-off means the numerical paths are those of a "
        "mechanical system.");
    if (k->reduced)
        put(c, "Poisson defect",
            "The flow of a Lie-Poisson system keeps the brackets of momenta, also with noise, B_ij = {m_i, m_j}: one "
            "step with the derivative J has J B J^T = B where it ends. The defect is the largest difference, in units "
            "of the largest momentum.");
    if (k->bath && isfinite(k->form) && k->symplectic_claim) {
        put(c, "form contraction",
            "With friction the symplectic form is not kept: where friction is the same multiple of the mass "
            "everywhere, a step contracts it by exactly the factor exp(-gamma dt), or what the method puts in its "
            "place. This is the largest deviation from that.");
    }
    const char *claim = k->symplectic_claim ? "the method claims it" : "the method does not claim it";
    if (!isfinite(k->symplectic_defect)) {
        snprintf(c->value, sizeof c->value, "not measured");
        snprintf(c->verdict, sizeof c->verdict, "%s", claim);
        return;
    }
    if (!(k->symplectic_defect_error <= LGV_DEFECT_KNOWN)) {
        snprintf(c->value, sizeof c->value, "%.2g", k->symplectic_defect);
        snprintf(c->verdict, sizeof c->verdict, "could not be measured well enough (known to %.1g; %s)",
                 k->symplectic_defect_error, claim);
        return;
    }
    bool small = k->symplectic_defect <= fmax(k->symplectic_defect_error, k->symplectic_claim ? LGV_DEFECT_LIMIT : 0);
    snprintf(c->value, sizeof c->value, "%.2g", k->symplectic_defect);
    char known[80], contracts[64];
    snprintf(contracts, sizeof contracts, "the form contracts by %.10g to round-off", k->form);
    if (r->dof > LGV_MANY_DOF)
        snprintf(known, sizeof known, "known to %.1g, over all %llu degrees of freedom to %.1g",
                 k->symplectic_defect_error, (unsigned long long)r->dof, k->defect_all_error);
    else
        snprintf(known, sizeof known, "known to %.1g", k->symplectic_defect_error);
    snprintf(c->verdict, sizeof c->verdict, "%s (%s; %llu state%s, %s)",
             small && k->symplectic_claim ? k->bath ? contracts : k->reduced ? "a Poisson map to round-off"
                                                                      : "symplectic to round-off"
             : small                      ? "not seen at this step"
             : r->metropolis              ? "not symplectic: friction acts, steps that are not accepted reverse momenta"
             : k->bath                    ? "not symplectic, and not contracted by one factor: friction acts"
             : k->reduced                 ? "NOT a Poisson map"
                                          : "NOT symplectic",
             claim, (unsigned long long)k->defect_states, k->defect_states == 1 ? "" : "s", known);
    c->mark = mark_of(lgv_verdict_find(r, "symplectic"));
}

static void check_conservative(const struct lgv_result *r, const struct lgv_verdict *v, struct lgv_check *c) {
    const struct lgv_certificate *k = &r->certificate;
    put(c, "conservative part",
        "What is left of one step when the bath is switched off, with friction and noise of the bath 0: drifts, kicks "
        "and the noise of noise Hamiltonians. Of a splitting word it is the word without its letters O (U becomes a "
        "drift), of a Metropolis method the proposal. The number is its symplectic defect.");
    snprintf(c->value, sizeof c->value, "%.2g", v->value);
    bool known = v->error <= LGV_DEFECT_KNOWN, small = v->value <= v->limit;
    snprintf(c->verdict, sizeof c->verdict, "%s (%llu state%s, known to %.1g)",
             !known                ? "could not be measured well enough"
             : small && v->claim   ? "symplectic to round-off with the bath switched off"
             : small               ? "no defect seen at this step with the bath switched off; none is promised"
             : v->claim            ? "NOT symplectic with the bath switched off"
                                   : "not symplectic with the bath switched off, which is not claimed",
             (unsigned long long)k->conservative_states, k->conservative_states == 1 ? "" : "s", v->error);
    c->mark = mark_of(v);
}

static void check_volume(const struct lgv_result *r, const struct lgv_verdict *v, struct lgv_check *c) {
    const struct lgv_certificate *k = &r->certificate;
    put(c, "phase volume",
        "By how much the determinant of one step differs from what friction is to do to phase volume: exp(-tr(Gamma "
        "M^-1) dt) for methods with the exact flow of the bath. On a constraint set it is the volume there. Where "
        "friction or forces make the factor depend on the state, its values at the states that were tried are shown.");
    snprintf(c->value, sizeof c->value, "%.2g", v->value);
    if (!isfinite(k->volume_expected)) {
        snprintf(c->value, sizeof c->value, "%.4g", k->volume_least);
        snprintf(c->verdict, sizeof c->verdict,
                 "to %.4g is what a step multiplies it by (%llu state%s, known to %.1g); %s",
                 k->volume_most, (unsigned long long)k->volume_states, k->volume_states == 1 ? "" : "s", v->error,
                 r->metropolis ? "steps that are not accepted reverse momenta"
                               : "friction or forces may make it depend on the state");
    } else
        snprintf(c->verdict, sizeof c->verdict, "%s by %.10g a step (%llu state%s, known to %.1g)",
                 v->holds == 0 ? "does NOT contract" : "contracts", k->volume_expected,
                 (unsigned long long)k->volume_states, k->volume_states == 1 ? "" : "s", v->error);
    c->mark = mark_of(v);
}

/* A determinant takes as many columns as there are components. */
static void check_no_volume(const struct lgv_result *r, struct lgv_check *c) {
    put(c, "phase volume",
        "The determinant of one step needs its derivative in every direction. That is done up to " LGV_DIGITS(
            LGV_ALL_COMPONENTS) " components of q and p.");
    snprintf(c->value, sizeof c->value, "not measured");
    snprintf(c->verdict, sizeof c->verdict, "%llu components of q and p, and it is measured up to %d",
             2 * (unsigned long long)r->dof, LGV_ALL_COMPONENTS);
}

static void check_rotation(const struct lgv_verdict *v, struct lgv_check *c) {
    put(c, "rotations", "Largest entry of R^T R - 1 over the states kept of the run: rotations are to stay rotations.");
    snprintf(c->value, sizeof c->value, "%.2g", v->value);
    snprintf(c->verdict, sizeof c->verdict, "%s%s",
             v->value <= v->limit ? "R^T R = 1 to round-off" : "R is NOT a rotation any more",
             v->claim ? "" : " (the method does not promise it)");
    c->mark = mark_of(v);
}

static void check_temperature(const struct lgv_result *r, const struct lgv_verdict *v, struct lgv_check *c) {
    const struct lgv_certificate *k = &r->certificate;
    char bias[160] = "", error[40];
    put(c, "temperature",
        "Kinetic temperature over all paths at the end, with its standard error, beside kT. It can differ by the bias "
        "of the method, or because the run has not come to rest.");
    snprintf(c->value, sizeof c->value, "%.4g", v->value);
    if (r->metropolis && r->acceptance < LGV_LOW_ACCEPTANCE)
        snprintf(bias, sizeof bias,
                 "; with %.2g of the steps accepted paths mix slowly: the law, which has no bias from the step, may "
                 "not be reached", r->acceptance);
    else if (r->metropolis)
        snprintf(bias, sizeof bias, "; stationary averages have no bias from the step");
    else if (k->bias_order > 0)
        snprintf(bias, sizeof bias, "; stationary averages have a bias of order %g", k->bias_order);
    snprintf(error, sizeof error, isfinite(v->error) ? "± %.2g at the end" : "at the end of one path", v->error);
    if (isnan(v->value)) snprintf(c->value, sizeof c->value, "-");
    if (!isfinite(v->value))
        snprintf(c->verdict, sizeof c->verdict, "%s", r->interrupted    ? "the run did not come to its end"
                                                     : isinf(v->value) ? "paths run away: the step may be too large"
                                                                       : "no path is left at the end");
    else if (isfinite(v->limit))
        snprintf(c->verdict, sizeof c->verdict, "%s, kT = %.6g%s", error, v->limit, bias);
    else
        snprintf(c->verdict, sizeof c->verdict, "%s; there is no kT to compare it with%s", error, bias);
}

static void check_law(const struct lgv_result *r, struct lgv_check *c) {
    const struct lgv_certificate *k = &r->certificate;
    put(c, "stationary law",
        "Friction and noise lead to the law exp(-H/kT) exactly when the strength of the noise is 2 kT times the "
        "friction, in every direction and everywhere. That is found from the formulas, not measured.");
    if (isfinite(k->law_temperature))
        snprintf(c->value, sizeof c->value, "kT = %.4g", k->law_temperature);
    else
        snprintf(c->value, sizeof c->value, "-");
    lgv_plain(c->verdict, sizeof c->verdict, k->law);
}

#define FAST 1 /* friction times step: beyond, momenta forget within a step what they were */

/* Where drift and bath take turns a free particle moves by h p in a step, and momenta of steps in a row have the
 * correlation c = exp(-x), x = friction times step: its diffusion coefficient is h kT/m (1/2 + c/(1 - c)), which is
 * (x/2) coth(x/2) times the kT/(m friction) of the equation.  Words with several letters O come nearer. */
static double faster(double x) { return x / 2 / tanh(x / 2); }

bool lgv_friction_line(const struct lgv_certificate *k, char *out, size_t size) {
    bool unstable = k->friction_limit > 0 && k->friction_step > k->friction_limit;
    *out = '\0';
    if (!(k->friction_step > FAST)) return false;
    const char *advice = isnan(k->start_constraint)
                             ? "take a smaller step, or one that has the flow of the bath, as BAOAB"
                             : "take a smaller step, or friction in proportion to the masses, with which the flow of "
                               "the bath is exact";
    if (k->friction_exact && !unstable)
        snprintf(out, size, "friction over mass times step is %.3g: the flow of the bath is exact, but motion within "
                            "1/friction is not resolved, and diffusion is up to %.3g times too fast, except with UBU "
                            "and BUB", k->friction_step, faster(k->friction_step));
    else
        snprintf(out, size, "friction over mass times step is %.3g: %s%s", k->friction_step,
                 unstable ? "beyond 2 this method is unstable; " : "this method is not exact in it; ", advice);
    return !k->friction_exact;
}

static void check_friction(const struct lgv_result *r, const char *line, struct lgv_check *c) {
    put(c, "friction a step",
        "The largest rate of friction (friction over mass or inertia) times the step. Where it is large, momenta "
        "forget within a step what they were: methods with the exact flow of the bath stay stable, others are "
        "inaccurate, or unstable.");
    snprintf(c->value, sizeof c->value, "%.3g", r->certificate.friction_step);
    snprintf(c->verdict, sizeof c->verdict, "%s", strchr(line, ':') + 2);
}

static void check_constraint(const struct lgv_result *r, struct lgv_check *c, const char *name, const char *verdict,
                             const char *explained) {
    const struct lgv_verdict *v = lgv_verdict_find(r, verdict);
    put(c, name, explained);
    if (!v || v->holds < 0) {
        snprintf(c->value, sizeof c->value, "not measured");
        snprintf(c->verdict, sizeof c->verdict, "no path made a step that was seen");
        return;
    }
    lgv_brief(c->value, sizeof c->value, v->value, 2);
    snprintf(c->verdict, sizeof c->verdict, "%s", v->holds ? "kept to solver accuracy" : "NOT kept");
    c->mark = mark_of(v);
}

/* Residuals are measured by the size of what they consist of. */
#define START_LIMIT 1e-8 /* start values off by more have been changed noticeably */

bool lgv_start_line(const struct lgv_certificate *k, char *out, size_t size) {
    snprintf(out, size, "as given |g| was %.2g and |d/dt g| %.2g", k->start_constraint, k->start_hidden);
    return k->start_constraint > START_LIMIT * k->constraint_size ||
           k->start_hidden > START_LIMIT * fmax(k->hidden_size, k->constraint_size);
}

static bool check_start(const struct lgv_result *r, struct lgv_check *c) {
    put(c, "start values",
        "Start values are moved onto the constraints, and velocities onto their tangents. Here is how far off those "
        "of a typical path were.");
    snprintf(c->value, sizeof c->value, "moved");
    return lgv_start_line(&r->certificate, c->verdict, sizeof c->verdict);
}

/* Where changes of H and of momentum maps were looked for. */
static const char *changes_over(const struct lgv_result *r, char *out, size_t size) {
    if (r->tallied_paths == 0)
        snprintf(out, size, "at output times");
    else if (r->tallied_paths >= r->paths)
        snprintf(out, size, "at every step");
    else
        snprintf(out, size, "at every step of the first %llu paths, at output times of the others",
                 (unsigned long long)r->tallied_paths);
    return out;
}

static void check_momentum(const struct lgv_result *r, const struct lgv_series *s, struct lgv_check *c) {
    char name[64], label[96], over[128];
    snprintf(label, sizeof label, "momentum map %s", lgv_plain(name, sizeof name, s->name));
    put(c, label,
        "A symmetry of the Hamiltonian and of its noise gives a momentum map that every path keeps (Noether). The "
        "number is the largest change seen on any path.");
    snprintf(label, sizeof label, "momentum/%s", s->name ? s->name : "");
    const struct lgv_verdict *v = lgv_verdict_find(r, label);
    bool small = v && s->drift <= v->limit;
    lgv_brief(c->value, sizeof c->value, s->drift, 2);
    if (!isfinite(s->drift)) {
        snprintf(c->verdict, sizeof c->verdict, "not measured");
        return;
    }
    if (small)
        snprintf(c->verdict, sizeof c->verdict, "kept to round-off %s", changes_over(r, over, sizeof over));
    else
        snprintf(c->verdict, sizeof c->verdict, "NOT kept (mean over paths %.2g; %s)", s->drift_mean,
                 s->claim > 0   ? "the method promises it"
                 : s->claim < -1 ? "whether H, the noises and the constraints have this symmetry is not known"
                 : s->claim < 0 ? "H, a noise or a constraint does not have this symmetry"
                                : "not promised by the method for this symmetry");
    c->mark = mark_of(v);
}

static void check_energy(const struct lgv_result *r, const struct lgv_series *s, struct lgv_check *c) {
    put(c, "energy drift",
        "Largest change of H along a path. Without noise a symplectic method keeps it small "
        "for ever; with noise the energy is kept only when every noise Hamiltonian commutes with H, so this is "
        "information, not a claim.");
    double start = lgv_at(s->mean, 0);
    char h[24], mean[24], over[128];
    lgv_brief(c->value, sizeof c->value, s->drift, 3);
    snprintf(c->verdict, sizeof c->verdict, "largest of a path, %s; mean over paths %s, H starts at %s%s",
             changes_over(r, over, sizeof over), lgv_brief(mean, sizeof mean, s->drift_mean, 3),
             lgv_brief(h, sizeof h, start, 4),
             r->certificate.time_dependent ? " (a formula depends on t)"
             : r->certificate.dissipative  ? " (friction or forces change it)"
             : r->nnoise == 0              ? " (no noise)"
                                           : "");
    if ((r->nnoise || r->certificate.bath) && start != 0 && s->drift > RUNAWAY * fabs(start))
        snprintf(c->verdict, sizeof c->verdict, "%.1g times H at the start: look whether the step is too large",
                 s->drift / fabs(start));
    c->mark = mark_of(lgv_verdict_find(r, "energy"));
    if (c->mark == LGV_MARK_BROKEN)
        snprintf(c->verdict, sizeof c->verdict, "%.1g times H at the start: the step is too large for this model",
                 s->drift / fabs(start));
}

static void check_growth(const struct lgv_result *r, const struct lgv_verdict *v, struct lgv_check *c) {
    put(c, "mean energy",
        "With additive noise h = sigma.q the mean of H grows by the sum of sigma.M^-1 sigma/2 per time. This method "
        "has that law exactly, for every step; what is left is the statistical error of the mean.");
    char law[24], error[24];
    lgv_brief(c->value, sizeof c->value, v->value, 5);
    snprintf(c->verdict, sizeof c->verdict, "growth of the mean of H, standard error %s; the law says %s%s",
             lgv_brief(error, sizeof error, v->error, 2), lgv_brief(law, sizeof law, v->limit, 5),
             v->holds == 0                   ? ": more than 4.5 standard errors away"
             : r->paths < LGV_GROWTH_PATHS ? " (too few paths to judge)"
                                             : "");
    c->mark = mark_of(v);
}

static double grown(const struct lgv_result *r, const struct lgv_series *s) {
    return lgv_at(s->mean, r->ntimes - 1) - lgv_at(s->mean, 0);
}

/* s: the modified energy, H: the energy. */
static void check_modified(const struct lgv_result *r, const struct lgv_series *s, const struct lgv_series *H,
                           struct lgv_check *c) {
    put(c, "modified energy",
        "Largest change of H_modified = H + dt^2 H_2, which the method follows to the next order. Without noise it "
        "changes by dt^4 where H changes by dt^2, so growth of it is no oscillation of the method. With noise its mean "
        "shows the growth that comes from the noise, without the dt^2 that comes and goes in H.");
    char a[24], b[24], error[24];
    lgv_brief(c->value, sizeof c->value, s->drift, 3);
    if (r->nnoise == 0)
        snprintf(c->verdict, sizeof c->verdict, "largest of a path; of the change of H this is the part %s",
                 lgv_brief(a, sizeof a, s->drift / H->drift, 2));
    else
        snprintf(c->verdict, sizeof c->verdict, "its mean has grown by %s (standard error %s), that of H by %s",
                 lgv_brief(a, sizeof a, grown(r, s), 5),
                 lgv_brief(error, sizeof error, hypot(lgv_at(s->err, r->ntimes - 1), lgv_at(s->err, 0)), 2),
                 lgv_brief(b, sizeof b, grown(r, H), 5));
    c->mark = mark_of(lgv_verdict_find(r, "modified_energy"));
}

static void check_order(const struct lgv_result *r, struct lgv_check *strong, struct lgv_check *commutes) {
    const struct lgv_certificate *k = &r->certificate;
    put(strong, "expected order",
        "How fast the error falls when the step is made smaller: strong is for single paths, weak for averages.");
    char a[24], b[24], reason[200];
    snprintf(strong->value, sizeof strong->value, "strong %s, weak %s", lgv_brief(a, sizeof a, k->strong_order, 3),
             lgv_brief(b, sizeof b, k->weak_order, 3));
    if (r->weak) /* of the increments: 2 */
        snprintf(strong->value, sizeof strong->value, "weak %s", lgv_brief(b, sizeof b, fmin(k->weak_order, 2), 3));
    if (isnan(k->strong_order)) snprintf(strong->value, sizeof strong->value, "none");
    snprintf(strong->verdict, sizeof strong->verdict, "%s", lgv_plain(reason, sizeof reason, k->order_reason));
    put(commutes, "noise commutes",
        "When the noise Hamiltonians commute (their Poisson brackets vanish), increments of the Brownian motion are "
        "enough for strong order 1; otherwise the order in single paths is one half.");
    snprintf(commutes->value, sizeof commutes->value, "%s",
             k->noise_commutes == 1   ? "yes"
             : k->noise_commutes == 0 ? "no"
                                      : "not known");
    snprintf(commutes->verdict, sizeof commutes->verdict, "%s", k->commutes_reason ? k->commutes_reason : "");
}

bool lgv_stability_line(const struct lgv_certificate *k, char *out, size_t size) {
    snprintf(out, size, "%s", k->stability ? k->stability : "");
    return k->stability && k->stable == 0;
}

static void check_stability(const struct lgv_result *r, struct lgv_check *c) {
    const struct lgv_certificate *k = &r->certificate;
    put(c, "highest frequency",
        "The highest frequency omega of the motion linearised at a typical start, from the second derivatives of H, "
        "and the largest step for which this method stays bounded there. Elsewhere on the way frequencies can be "
        "higher, and nonlinear forces have limits of their own.");
    lgv_brief(c->value, sizeof c->value, k->highest_frequency, 3);
    snprintf(c->verdict, sizeof c->verdict, "%s%s", k->stable == 0 ? "NOT stable: " : "", k->stability);
}

/* What the frequencies at the start say about a path that was lost. */
static void stability_of_failure(const struct lgv_result *r, int reason, char *out, size_t size) {
    const struct lgv_certificate *k = &r->certificate;
    const bool lost = reason == LGV_FAIL_NONFINITE || reason == LGV_FAIL_NEWTON || reason == LGV_FAIL_SINGULAR ||
                      reason == LGV_FAIL_INDEFINITE;
    if (!lost || !k->stability) return;
    if (k->penalty_step > LGV_PENALTY_LIMIT)
        snprintf(out, size, "; omega dt^2 of the penalty is %.3g, beyond the limit of about %g", k->penalty_step,
                 LGV_PENALTY_LIMIT);
    else if (isfinite(k->stable_limit))
        snprintf(out, size, "; dt omega was %.3g at the start, %s the limit %.4g of the method",
                 r->step * k->highest_frequency, k->stable ? "within" : "beyond", k->stable_limit);
    else
        snprintf(out, size, "; at the start the step was %s for linear forces", k->stable ? "stable" : "NOT stable");
}

/* The model has a table that is not defined outside of its points. */
static bool bounded_table(const char *model) {
    for (const char *s = model; s && (s = strstr(s, "table(")); s++) {
        const char *end = s + strcspn(s, ")\n"), *linear = strstr(s, "linear"), *periodic = strstr(s, "periodic");
        if ((!linear || linear > end) && (!periodic || periodic > end)) return true;
    }
    return false;
}

void lgv_failure_line(const struct lgv_result *r, char *out, size_t size) {
    if (r->failed == 0) {
        snprintf(out, size, "no path failed");
        return;
    }
    int n =
        snprintf(out, size, "%llu of %llu paths failed", (unsigned long long)r->failed, (unsigned long long)r->paths);
    if (r->nfailures == 0 || !r->failure || n < 0 || (size_t)n >= size) return;
    const struct lgv_failure *first = r->failure;
    for (size_t i = 1; i < r->nfailures; i++)
        if (r->failure[i].step < first->step) first = &r->failure[i];
    char time[40];
    snprintf(out + n, size - (size_t)n, ", first at t = %s (path %llu): %s",
             lgv_brief(time, sizeof time, r->t0 + (double)first->step * r->step, 6), (unsigned long long)first->path,
             lgv_fail_text(first->reason));
    size_t used = strlen(out);
    if (first->reason == LGV_FAIL_NONFINITE && bounded_table(r->model_text))
        used += (size_t)snprintf(out + used, size - used, "; it may have left a table, which is not defined outside of "
                                                          "its points (`linear` continues it)");
    if (used < size) stability_of_failure(r, first->reason, out + used, size - used);
}

static void check_failures(const struct lgv_result *r, struct lgv_check *c) {
    put(c, "failed paths",
        "Paths whose step could not be solved or whose state became infinite. They leave the statistics from that "
        "time on; what remains is then an average over the paths that did not fail.");
    lgv_spaced(c->value, sizeof c->value, r->failed);
    lgv_failure_line(r, c->verdict, sizeof c->verdict);
    c->mark = mark_of(lgv_verdict_find(r, "failed_paths"));
}

static void check_acceptance(const struct lgv_result *r, struct lgv_check *c) {
    put(c, "acceptance",
        "Share of the steps that the Metropolis rule accepted. Where it does not accept a step, the path goes back the "
        "way it came: few accepted steps mean little motion, and a smaller step would be better.");
    snprintf(c->value, sizeof c->value, "%.4g", r->acceptance);
    bool low = r->acceptance < LGV_LOW_ACCEPTANCE;
    char lost[80] = "";
    if (r->nconstraints) snprintf(lost, sizeof lost, "; %.3g led to no place, or to one with no way back", r->astray);
    snprintf(c->verdict, sizeof c->verdict, "of all steps were accepted%s%s", lost,
             low ? ": few, so that paths mix slowly; take a smaller step" : "");
    if (low) c->mark = LGV_MARK_BROKEN;
}

static void check_truncation(const struct lgv_result *r, struct lgv_check *c) {
    put(c, "truncated increments",
        "Implicit equations may have no solution for a very large increment of the noise, so increments beyond a "
        "bound are cut there. The bound is chosen so that the order is not affected; here is how often it was "
        "reached.");
    lgv_spaced(c->value, sizeof c->value, r->truncated);
    snprintf(c->verdict, sizeof c->verdict, "path-steps with |dW| cut at %.3g sqrt(dt)", r->truncation);
}

static void check_weak(struct lgv_check *c) {
    put(c, "increments",
        "Increments of three points have the first five moments of normal ones, which is enough for averages to weak "
        "order 2. Single paths, their extremes and times of events are not those of the model.");
    snprintf(c->value, sizeof c->value, "three points");
    snprintf(c->verdict, sizeof c->verdict, "averages only: paths are not approximated");
}

#define MANY_IN_PARTS 0.01 /* of all path-steps */

static void check_rescue(const struct lgv_result *r, struct lgv_check *c) {
    put(c, "steps in parts",
        "Where the equations of a step have no solution, or Newton's method does not find it, the path takes the step "
        "in two halves, and these likewise. The noise of the halves has its law given that of the step, so that the "
        "path keeps its law. A path that often does has steps of varying width: its energy may drift as with any "
        "other method, and a smaller step is better.");
    double share = (double)r->rescued / (fmax((double)r->steps_done, 1) * (double)r->paths);
    char many[80] = "";
    if (share > MANY_IN_PARTS)
        snprintf(many, sizeof many, ": %.3g %% of all, so the step is too large", 100 * share);
    lgv_spaced(c->value, sizeof c->value, r->rescued);
    snprintf(c->verdict, sizeof c->verdict, "path-steps without a solution, taken in parts down to dt/%llu%s",
             1ull << r->halvings, many);
}

static size_t put_rows(const struct lgv_result *r, struct lgv_check *rows) {
    size_t n = 0;
    const struct lgv_verdict *volume = lgv_verdict_find(r, "volume"), *heat = lgv_verdict_find(r, "temperature");
    const struct lgv_verdict *alone = lgv_verdict_find(r, "conservative");
    const struct lgv_verdict *turned = lgv_verdict_find(r, "rotation");
    check_symplectic(r, &rows[n++]);
    if (alone) check_conservative(r, alone, &rows[n++]);
    if (volume) check_volume(r, volume, &rows[n++]);
    if (!volume && r->certificate.dissipative && 2 * r->dof > LGV_ALL_COMPONENTS) check_no_volume(r, &rows[n++]);
    if (heat) check_temperature(r, heat, &rows[n++]);
    if (r->certificate.law) check_law(r, &rows[n++]);
    char line[200];
    lgv_friction_line(&r->certificate, line, sizeof line);
    if (line[0]) check_friction(r, line, &rows[n++]);
    if (r->certificate.stability) check_stability(r, &rows[n++]);
    if (turned) check_rotation(turned, &rows[n++]);
    if (r->nconstraints > 0 || isfinite(r->certificate.constraint)) {
        check_constraint(r, &rows[n++], "constraint", "constraint",
                         "Largest |g(q)| of the constraints g(q) = 0 over all paths and output times.");
        check_constraint(r, &rows[n++], "hidden constraint", "hidden_constraint",
                         "Largest |d/dt g(q)|: the velocities must be tangent to the constraint too.");
    }
    if (check_start(r, &rows[n])) n++;
    for (size_t i = 0; i < r->nseries; i++)
        if (r->series[i].kind == LGV_OBSERVABLE_MOMENTUM) check_momentum(r, &r->series[i], &rows[n++]);
    for (size_t i = 0; i < r->nseries; i++)
        if (r->series[i].kind == LGV_OBSERVABLE_ENERGY && r->ntimes > 0) {
            check_energy(r, &r->series[i], &rows[n++]);
            break;
        }
    for (size_t i = 1; i < r->nseries && r->ntimes > 0; i++) /* H is the first */
        if (r->series[i].kind == LGV_OBSERVABLE_MODIFIED) check_modified(r, &r->series[i], r->series, &rows[n++]);
    const struct lgv_verdict *growth = lgv_verdict_find(r, "energy_law");
    if (growth) check_growth(r, growth, &rows[n++]);
    check_order(r, &rows[n], &rows[n + 1]);
    n += 2;
    if (r->truncation > 0 && r->nnoise > 0) check_truncation(r, &rows[n++]);
    if (r->weak) check_weak(&rows[n++]);
    if (r->rescued) check_rescue(r, &rows[n++]);
    if (r->metropolis) check_acceptance(r, &rows[n++]);
    check_failures(r, &rows[n++]);
    return n;
}

struct lgv_check *lgv_checks(const struct lgv_result *r, size_t *count) {
    struct lgv_check *rows = lgv_new(r->nseries + 25, sizeof *rows);
    struct lgv_result judged = *r; /* with verdicts of its own: those of r may be older than its numbers */
    judged.verdict = NULL;
    judged.nverdicts = 0;
    bool ok = rows && lgv_verdicts_make(&judged);
    *count = ok ? put_rows(&judged, rows) : 0;
    lgv_verdicts_free(&judged);
    if (ok) return rows;
    free(rows);
    return NULL;
}

bool lgv_stored_line(const struct lgv_result *r, char *out, size_t size) {
    size_t coordinates = 0;
    char paths[64] = "";
    const int kind = r->certificate.reduced ? LGV_OBSERVABLE_CONJUGATE : LGV_OBSERVABLE_COORDINATE;
    for (size_t i = 0; i < r->nseries; i++) coordinates += r->series[i].kind == kind;
    if (r->nsamples && r->paths > 1) snprintf(paths, sizeof paths, ", and of %zu of them alone", r->nsamples);
    snprintf(out, size,
             "stored: H and what is observed, of all paths%s.  With %llu degrees of freedom single\n  "
             "coordinates are stored only where named, as in observe: { first: \"x[1]\" }; keep: N stores N paths",
             paths, (unsigned long long)r->dof);
    return r->nseries > 0 && coordinates < r->dof;
}

const char *lgv_observable_kind_name(int kind) {
    static const char *const name[] = {"observable", "energy",          "momentum map", "coordinate",       "momentum",
                                       "error",      "martingale part", "constraint",   "hidden constraint",
                                       "modified energy"};
    return kind >= 0 && kind < (int)(sizeof name / sizeof *name) ? name[kind] : "observable";
}

size_t *lgv_series_order(const struct lgv_result *r) {
    size_t *order = r->nseries ? lgv_new(r->nseries, sizeof *order) : NULL;
    if (!order) return NULL;
    size_t n = 0;
    for (int kind = LGV_OBSERVABLE_DECLARED; kind <= LGV_OBSERVABLE_ERROR; kind++)
        for (size_t i = 0; i < r->nseries; i++)
            if (r->series[i].kind == kind) order[n++] = i;
    for (size_t i = 0; i < r->nseries; i++)
        if (r->series[i].kind < LGV_OBSERVABLE_DECLARED || r->series[i].kind > LGV_OBSERVABLE_ERROR) order[n++] = i;
    return order;
}
