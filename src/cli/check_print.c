/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The findings of `lgv check` for people. */
#include "cli/check.h"

#include <math.h>
#include <string.h>

static const char *const depends_text[] = {"nothing", "q", "p", "q and p"};

struct look {
    const char *bold, *good, *bad, *off;
};

static void commutes_text(const struct lgv_examination *x, char *out, size_t size) {
    const struct lgv_structure *s = &x->structure;
    char how[200];
    lgv_structure_commutes(s, x->model->nnoise, how, sizeof how);
    snprintf(out, size, "%s%s",
             x->model->nnoise == 0 || s->commutes < 0 ? "" : s->commutes ? "yes: " : "no: ", how);
}

/* ---- for people ---- */

static void row(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool is_random(const struct lgv_examination *x) {
    return x->model->nnoise > 0 || x->model->bath.kind != LGV_FRICTION_NONE;
}

static void row(const char *name, const char *format, ...) {
    char text[900];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("  %-20s", name);
    lgv_wrap(stdout, text, 22, 22);
}

/* Friction and bath, and the law that they lead to. */
static void print_bath(const struct lgv_examination *x) {
    static const char *const kind[] = {"none", "constant, for each coordinate", "a constant matrix", "functions of q"};
    const struct lgv_model *m = x->model;
    struct lgv_text law = {0};
    if (m->bath.kind)
        row("friction", "%s; %zu of %zu coordinates feel the bath", kind[m->bath.kind], m->bath.rows, m->np);
    lgv_law_words(m, &x->law, &law);
    if (law.data) row("stationary law", "%s", law.data);
    lgv_text_free(&law);
}

static void print_tables(const struct lgv_model *m) {
    if (m->by_path) row("start values", "some are from a file, with a row for each path");
    for (size_t k = 0; m->graph && k < m->graph->ntables; k++) {
        struct lgv_text words = {0};
        if (m->graph->tabulated[k].degree == 0) continue; /* a column by path; tables of where come first */
        lgv_model_table_words(m, k, &words);
        if (words.data) row(k ? "" : "tables", "%s", words.data);
        lgv_text_free(&words);
    }
}

static void print_drawn(struct lgv_model *m) {
    struct lgv_text words = {0};
    lgv_model_drawn_words(m, &words);
    if (words.data) row("random parameters", "%s: every path has its own", words.data);
    lgv_text_free(&words);
    lgv_model_process_words(m, &words);
    if (words.data) row("coloured noise", "%s", words.data);
    lgv_text_free(&words);
}

static void print_structure(const struct lgv_examination *x) {
    const struct lgv_structure *s = &x->structure;
    size_t n = x->model->np;
    row("degrees of freedom", "%zu", n);
    if (x->model->nnoise)
        row("noises", "%zu, depending on %s%s", x->model->nnoise, depends_text[s->noise_depends & 3],
            s->additive ? " (additive: constant gradients)" : "");
    else
        row("noises", "none%s", x->model->bath.kind ? " beside that of the bath" : "");
    if (x->model->force)
        row("forces", "beside the potential, depending on q%s: H is not kept%s%s", x->model->force_of_p ? " and p" : "",
            x->law.kind == LGV_LAW_NONE ? ", and there need not be a stationary law" : "",
            x->force_symmetric > 0    ? "; their derivative is symmetric, so that they have a potential, and kicks by "
                                        "them are symplectic"
            : x->force_symmetric == 0 ? "; their derivative is not symmetric, so that kicks by them are not symplectic"
                                      : "");
    print_bath(x);
    if (x->model->nconstraints) row("constraints", "%zu", x->model->nconstraints);
    char moved[200];
    if (x->measured && lgv_start_line(&x->result.certificate, moved, sizeof moved))
        row("start values", "moved: %s", moved);
    if (x->model->lagrangian_only)
        row("structure", "a Lagrangian that is not quadratic in the velocities, or couples many: no formula for H");
    else
        row("structure", "%s%s%s",
            s->separable               ? "separable: H and every h are A(p) + B(q)"
            : s->hamiltonian_separable ? "H is separable, the noise is not"
                                       : "not separable: H mixes q and p",
            s->quadratic_kinetic ? "; kinetic energy quadratic with constant masses" : "",
            s->linear && !x->model->nconstraints && !x->model->force ? "; equations linear" : "");
    row("time", "%s",
        s->process          ? "a formula depends on coloured noise, and so on t"
        : s->time_dependent ? "a formula depends on t"
                            : "no formula depends on t");
    if (x->hessian_entries >= 0 && !x->model->lagrangian_only)
        row("Hessian of H", "%ld of %.0f entries can differ from zero", x->hessian_entries,
            4.0 * (double)n * (double)n);
    if (lgv_model_kinks(x->model))
        row("smoothness",
            "abs, sign, floor, min, max or a comparison is used: where it bends or jumps, no method keeps "
            "its order, nor what it claims to keep");
    print_tables(x->model);
    print_drawn(x->model);
    row("derivatives", "agree with finite differences to %.2g", x->derivative_error);
    char commutes[220];
    commutes_text(x, commutes, sizeof commutes);
    row("noise commutes", "%s", commutes);
    if (x->areas[0]) row("Levy areas", "%s", x->areas);
}

static void print_symmetries(const struct lgv_examination *x, const struct look *l) {
    if (x->model->nsymmetries == 0) return;
    printf("\n  %ssymmetries%s\n", l->bold, l->off);
    for (size_t i = 0; i < x->model->nsymmetries && i < x->structure.nsymmetries; i++) {
        bool good = x->structure.symmetry[i].invariant, unknown = x->structure.symmetry[i].unknown;
        double drift = lgv_examination_drift(x, i);
        printf("  %s%s%s %-14s ", good ? l->good : unknown ? "" : l->bad, good ? "ok  " : unknown ? "?   " : "FAIL",
               good || !unknown ? l->off : "", x->model->symmetry[i].name);
        if (good)
            printf("H%s are invariant (%s)",
                   x->model->nconstraints ? ", every noise and every constraint" : " and every noise",
                   x->structure.symmetry[i].decided_by_formula ? "from the formulas" : "to round-off at random points");
        else if (unknown)
            printf("not known: %s", lgv_model_kinks(x->model)
                                        ? "abs, sign, floor, mod, min or max bends or jumps, and points see one side"
                                        : "the formulas cannot be evaluated near the start");
        else
            printf("NOT invariant: |{., J}| reaches %.2g at random points", x->structure.symmetry[i].residual);
        if (isfinite(drift)) printf("; drift %.2g in %d steps", drift, LGV_CHECK_STEPS);
        putchar('\n');
    }
}

/* The reason with "it" for the name of the method, so that equal reasons can be told once. */
static void without_name(const char *why, const char *name, struct lgv_text *out) {
    for (size_t n = strlen(name); *why;) {
        bool here = strncmp(why, name, n) == 0;
        lgv_text_append(out, here ? "it" : why, here ? 2 : 1);
        why += here ? n : 1;
    }
}

#define MOST_REASONS 16
struct refusals {
    struct lgv_text reason[MOST_REASONS], names[MOST_REASONS];
    size_t count;
};

static void add_refusal(struct refusals *r, const char *why, const char *name) {
    struct lgv_text reason = {0};
    size_t k = 0;
    without_name(why, name, &reason);
    while (k < r->count && reason.data && strcmp(r->reason[k].data, reason.data) != 0) k++;
    if (reason.data && k < MOST_REASONS) {
        lgv_text_add(&r->names[k], "%s%s", k < r->count ? ", " : "", name);
        if (k == r->count) {
            r->reason[r->count++] = reason;
            return;
        }
    }
    lgv_text_free(&reason);
}

static void print_methods(const struct lgv_examination *x, const struct look *l) {
    struct refusals r = {0};
    bool composable = false;
    printf("\n  %smethods%s\n", l->bold, l->off);
    const struct lgv_method *m;
    for (size_t i = 0; (m = lgv_method_listed(x->model, i)); i++) {
        char why[400];
        if (lgv_method_refusal(m, x->model, &x->structure, why, sizeof why)) {
            add_refusal(&r, why, m->name);
            continue;
        }
        composable |= m->symmetric && m->order == 2 && !m->bath;
        printf("  fits    %-21s ", m->name);
        if (m->metropolis)
            printf("no order, no bias at rest, ");
        else if (is_random(x) && isnan(lgv_examination_weak(x, m)))
            printf("no order: loses paths at every step, ");
        else if (is_random(x))
            printf("strong %g, weak %g, ", lgv_method_strong_order(m, &x->structure, x->model->nnoise, NULL),
                   lgv_examination_weak(x, m));
        else
            printf("order %g, ", lgv_method_strong_order(m, &x->structure, 0, NULL));
        printf("%s here, %s\n", lgv_method_explicit(m, &x->structure) ? "explicit" : "implicit",
               m->symplectic        ? x->model->force ? "symplectic but for the force" : "symplectic"
               : m->contraction     ? "contracts as friction does"
                                    : "not symplectic");
    }
    if (composable) puts("          symmetric ones of order 2 also to higher order: NAME-4, NAME-6, NAME-8");
    for (size_t k = 0; k < r.count; k++) {
        printf("  refused ");
        lgv_wrap(stdout, r.names[k].data ? r.names[k].data : "", 10, 10);
        printf("          because");
        lgv_wrap(stdout, r.reason[k].data, 10, 17);
        lgv_text_free(&r.names[k]);
        lgv_text_free(&r.reason[k]);
    }
}

/* What the coefficients of the file amount to. */
static void print_given(const struct lgv_examination *x, const struct look *l) {
    if (x->model->nmethods) printf("\n  %smethods of the file%s\n", l->bold, l->off);
    for (size_t i = 0; i < x->model->nmethods; i++) {
        const struct lgv_method *m = x->model->method[i];
        char need[40] = "";
        if (m->needs & LGV_NEEDS_NOISE_OF_Q) snprintf(need, sizeof need, " For noise h(q) only.");
        row(m->name, "%s Order %g without noise.%s", m->doc, m->order, need);
    }
}

/* With friction that is the same multiple of the mass everywhere the form is not kept, but contracted by one factor. */
static void print_defect(const struct lgv_certificate *c) {
    bool contracts = c->bath && c->symplectic_claim;
    char claim[120];
    if (contracts)
        snprintf(claim, sizeof claim, "a step is to contract the symplectic form by %.10g", c->form);
    else
        snprintf(claim, sizeof claim, "the method %s to be %s", c->symplectic_claim ? "claims" : "does not claim",
                 c->reduced ? "a Poisson map" : "symplectic");
    row(contracts ? "form contraction" : c->reduced ? "Poisson defect" : "symplectic defect",
        "%.2g%s at %llu state%s of a short run, known to %.1g (%s)", c->symplectic_defect, contracts ? " off" : "",
        (unsigned long long)c->defect_states, c->defect_states == 1 ? "" : "s", c->symplectic_defect_error, claim);
}

static void print_choice(const struct lgv_examination *x, const struct look *l) {
    const struct lgv_certificate *c = &x->result.certificate;
    const char *reason;
    printf("\n  %schosen: %s%s, step %g\n", l->bold, x->method->name, l->off, x->step);
    if (x->chosen) row("why", "method: auto; %s", x->chosen);
    if (!x->method_fits) return;
    double strong = lgv_method_strong_order(x->method, &x->structure, x->model->nnoise, &reason);
    if (!is_random(x))
        row("expected order", "%g (%s)", strong, reason);
    else if (isnan(strong))
        row("expected order", "none (%s)", reason);
    else
        row("expected order", "strong %g, weak %g (%s)", strong, lgv_examination_weak(x, x->method), reason);
    if (!x->measured)
        row("symplectic defect", "not measured");
    else if (!isfinite(c->symplectic_defect))
        row("symplectic defect", "not measured: the steps tried did not succeed");
    else
        print_defect(c);
    char friction[200];
    if (x->measured) lgv_friction_line(c, friction, sizeof friction);
    if (x->measured && friction[0]) row("friction", "%s", friction);
    if (x->stability.frequency > 0)
        row("highest frequency", "%.4g at the start: period %.4g, %.3g steps", x->stability.frequency,
            2 * acos(-1) / x->stability.frequency, 2 * acos(-1) / x->stability.frequency / x->step);
    if (x->stability.text[0])
        row("stability", "%s%s", x->stability.stable == 0 ? "NOT stable: " : "", x->stability.text);
    row("keeps", "%s%s", x->model->force ? "Without the force: " : "", x->method->claims);
}

void lgv_examination_print(const struct lgv_examination *x) {
    static const struct look plain = {"", "", "", ""}, coloured = {"\033[1m", "\033[32m", "\033[1;31m", "\033[0m"};
    const struct look *l = lgv_colour(stdout) ? &coloured : &plain;
    char name[120], file[300];
    printf("%s%s%s  %s\n", l->bold, lgv_plain(name, sizeof name, x->model->name), l->off,
           lgv_plain(file, sizeof file, x->model->file));
    print_structure(x);
    print_symmetries(x, l);
    print_methods(x, l);
    print_given(x, l);
    print_choice(x, l);
    putchar('\n');
    const struct lgv_certificate *c = &x->result.certificate;
    bool known = x->measured && (!c->symplectic_claim || c->symplectic_defect_error <= LGV_DEFECT_KNOWN);
    if (x->nproblems == 0 && known) printf("  %severything claimed holds%s\n", l->good, l->off);
    if (x->nproblems == 0 && !known)
        printf("  nothing claimed was seen to fail; the symplectic defect could not be measured\n");
    for (size_t i = 0; i < x->nproblems; i++) {
        printf("  %sFAIL%s ", l->bad, l->off);
        lgv_wrap(stdout, x->problem[i].text, 7, 7);
    }
}
