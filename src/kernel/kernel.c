/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods by name, what fits what, and building a kernel for a model. */
#include "kernel/kernel.h"
#include "kernel/compile.h"
#include "kernel/rules.h"
#include "kernel/vprk.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern const struct lgv_method lgv_method_euler, lgv_method_verlet, lgv_method_midpoint, lgv_method_eem, lgv_method_iem,
    lgv_method_rk4, lgv_method_vz, lgv_method_vzc, lgv_method_mrt32, lgv_method_heun, lgv_method_milstein,
    lgv_method_taylor, lgv_method_pem;

/* Methods with a file of their own; NULL: made from the name by rules.c or vprk.c. */
static const struct {
    const char *name, *alias;
    const struct lgv_method *method;
} methods[] = {
    {"P1N1Q1Rec", NULL, &lgv_method_euler},
    {"P2N2Q2Lob", NULL, &lgv_method_verlet},
    {"P1N1Q2Gau", NULL, &lgv_method_midpoint},
    {"P1N2Q2Lob", "trapezoidal", NULL},
    {"P1N3Q4Lob", NULL, NULL},
    {"P1N2Q2Otr", NULL, NULL},
    {"P2N2Q2Otr", NULL, NULL},
    {"P1N3Q4Mil", NULL, NULL},
    {"P1N1Q1RecN2Q2Lob", NULL, NULL},
    {"P1N1Q1RecN1Q2Gau", NULL, NULL},
    {"P2N2Q2LobN1Q1Rec", NULL, NULL},
    {"P1N1Q2GauN2Q2Lob", NULL, NULL},
    {"P1N2Q2LobN1Q2Gau", NULL, NULL},
    {"P2N2Q4Gau", "gauss4", NULL},
    {"P3N3Q6Gau", "gauss6", NULL},
    {"P2N3Q4Lob", NULL, NULL},
    {"P3N4Q6Lob", NULL, NULL},
    {"MRT32", NULL, &lgv_method_mrt32},
    {"VZ", NULL, &lgv_method_vz},
    {"VZc", NULL, &lgv_method_vzc},
    {"LobZ", NULL, NULL},
    {"EEM", NULL, &lgv_method_eem},
    {"IEM", NULL, &lgv_method_iem},
    {"Heun", NULL, &lgv_method_heun},
    {"Milstein", NULL, &lgv_method_milstein},
    {"Taylor15", NULL, &lgv_method_taylor},
    {"RK4", NULL, &lgv_method_rk4},
    {"VE", NULL, NULL},
    {"VE-adjoint", NULL, NULL},
    {"SVE", NULL, NULL},
    {"RATTLE", NULL, NULL},
    {"RATTLE-J", NULL, NULL},
    {"RATTLE-Jc", NULL, NULL},
    {"RATTLE-weak2", NULL, NULL},
    {"SHAKE", NULL, NULL},
    {"Lobatto3", NULL, NULL},
    {"Lobatto4", NULL, NULL},
    {"Lobatto3-W1", NULL, NULL},
    {"Lobatto3-W2", NULL, NULL},
    {"PEM", NULL, &lgv_method_pem},
};

const size_t lgv_method_count = sizeof methods / sizeof *methods;

static const struct lgv_method *made(const char *name, const char *alias) {
    struct lgv_galerkin g;
    char ignore[200];
    const struct lgv_method *variational = lgv_vprk_find(name);
    if (variational) return variational;
    return lgv_galerkin_parse(name, &g, ignore, sizeof ignore) ? lgv_galerkin_method(name, alias, &g) : NULL;
}

const struct lgv_method *lgv_method_at(size_t number) {
    if (number >= lgv_method_count) return NULL;
    return methods[number].method ? methods[number].method : made(methods[number].name, methods[number].alias);
}

void lgv_method_explain(const char *name, char *why, size_t size) {
    struct lgv_galerkin g;
    why[0] = 0;
    if (toupper((unsigned char)name[0]) == 'P' && isdigit((unsigned char)name[1]))
        lgv_galerkin_parse(name, &g, why, size);
}

static bool has_alias(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *a = list; n && a && *a;) {
        size_t size = strcspn(a, " ");
        if (size == n && strncasecmp(a, name, n) == 0) return true;
        a += size + (a[size] == ' ');
    }
    return false;
}

const struct lgv_method *lgv_method_find(const char *name) {
    const struct lgv_method *m;
    for (size_t i = 0; (m = lgv_method_at(i)); i++)
        if (strcasecmp(m->name, name) == 0 || has_alias(m->aliases, name)) return m;
    return made(name, NULL);
}

const struct lgv_method *lgv_method_for(const struct lgv_model *m, const char *name) {
    for (size_t i = 0; i < m->nmethods; i++)
        if (strcasecmp(m->method[i]->name, name) == 0) return m->method[i];
    return lgv_method_find(name);
}

const struct lgv_method *lgv_method_listed(const struct lgv_model *m, size_t number) {
    if (number < lgv_method_count) return lgv_method_at(number);
    number -= lgv_method_count;
    return number < m->nmethods ? m->method[number] : NULL;
}

/* ---- fitting ---- */

static bool fits(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s) {
    char ignore[64];
    return !lgv_kernel_refusal(method, m, s, ignore, sizeof ignore);
}

static size_t noises(const struct lgv_model *m) {
    return m->callbacks ? m->callbacks->noises : m->nnoise;
}

bool lgv_kernel_separable(const struct lgv_method *method, const struct lgv_structure *s) {
    return s->separable && !(method->steady_kinetic && s->kinetic_time) && !(method->flat_kinetic && !s->flat);
}

unsigned lgv_kernel_face(const struct lgv_method *method, const struct lgv_structure *s) {
    unsigned face = lgv_kernel_separable(method, s) ? method->face_separable : method->face_general;
    /* nothing to solve; what is explicit on every model and asks for K2 (Milstein) has it in its formula */
    return lgv_kernel_explicit(method, s) && !method->explicit_always ? face & ~(unsigned)LGV_FACE_K2 : face;
}

bool lgv_kernel_lagrangian(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s) {
    return method->constrained && m->lagrangian >= 0 && !m->callbacks && !s->flat;
}

bool lgv_kernel_sparse(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s) {
    return m->nconstraints > (s->diagonal_mass ? LGV_DENSE_CONSTRAINTS : LGV_DENSE_MIXED) && method->kicks &&
           !lgv_kernel_lagrangian(method, m, s);
}

unsigned lgv_kernel_large(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s) {
    bool form = lgv_kernel_separable(method, s) && !lgv_kernel_explicit(method, s) && !(s->noise_depends & LGV_ON_P);
    return m->nq > LGV_LARGE_DOF && form && !m->callbacks ? method->implicit_sets : 0;
}

enum lgv_status lgv_kernel_too_large(const struct lgv_method *method, const struct lgv_model *m,
                                     struct lgv_error *err) {
    return lgv_fail(err, LGV_CANNOT_RUN,
                    "%s solves a dense system of all %zu degrees of freedom, and this version stops at %d; use an "
                    "explicit method",
                    method->name, m->nq, LGV_DENSE_DOF);
}

bool lgv_kernel_explicit(const struct lgv_method *method, const struct lgv_structure *s) {
    return method->explicit_always ||
           (lgv_kernel_separable(method, s) &&
            (method->explicit_separable || (method->explicit_additive && s->steady_noise)));
}

const char *lgv_kernel_refusal(const struct lgv_method *method, const struct lgv_model *m,
                               const struct lgv_structure *s, char *why, size_t size) {
    unsigned face = lgv_kernel_face(method, s);
    if (m->nconstraints && !method->constrained) {
        snprintf(why, size, "the model has constraints, and %s does not keep them", method->name);
        return why;
    }
    if ((method->needs & LGV_NEEDS_CONSTRAINTS) && !m->nconstraints) {
        snprintf(why, size, "%s is for models with constraints; without any it would be EEM", method->name);
        return why;
    }
    if ((method->needs & LGV_NEEDS_CONSTRAINTS) && !m->callbacks && !s->flat) {
        snprintf(why, size, "%s needs constant masses, H = p.M^-1 p/2 + U(q), beside the constraints", method->name);
        return why;
    }
    if (m->lagrangian_only && !method->constrained) {
        snprintf(why, size,
                 "the Lagrangian is not quadratic in the velocities, so there is no formula for H, which %s needs",
                 method->name);
        return why;
    }
    if (method->constrained && m->callbacks) {
        snprintf(why, size, "%s needs formulas: it works with the Lagrangian and the constraints", method->name);
        return why;
    }
    if (method->constrained && m->lagrangian < 0 && !s->flat) {
        snprintf(
            why, size,
            "%s works with a Lagrangian, or with H = p.M^-1 p/2 + U(q) with constant masses: write this model with "
            "`lagrangian:` and `velocities:`",
            method->name);
        return why;
    }
    if (method->constrained && method->correction != 0 && m->lagrangian_only) {
        snprintf(why, size, "the correction of %s needs masses that do not depend on the velocities", method->name);
        return why;
    }
    if (method->constrained && (!method->kicks || lgv_kernel_lagrangian(method, m, s)) &&
        m->nq + m->nconstraints > LGV_SECOND_DOF) {
        snprintf(why, size,
                 "%s solves dense equations of all stages here, for up to %d coordinates and constraints; RATTLE and "
                 "SVE with "
                 "constant "
                 "masses have no such limit",
                 method->name, LGV_SECOND_DOF);
        return why;
    }
    if (method->constrained && method->correction != 0 && m->nq > LGV_CORRECTED_DOF) {
        snprintf(why, size, "the correction of %s is for models with up to %d degrees of freedom", method->name,
                 LGV_CORRECTED_DOF);
        return why;
    }
    if ((method->needs & LGV_NEEDS_NO_NOISE) && noises(m) > 0) {
        snprintf(why, size, "the model has noise, and %s is a method for models without noise", method->name);
        return why;
    }
    if ((method->needs & LGV_NEEDS_NOISE_OF_Q) && (s->noise_depends & LGV_ON_P)) {
        snprintf(why, size,
                 "%s needs noise Hamiltonians h(q) that do not depend on the momenta; with h(q,p) it would converge to "
                 "another equation",
                 method->name);
        return why;
    }
    if ((method->needs & LGV_NEEDS_SEPARABLE_NOISE) && (s->noise_depends & LGV_ON_P) && !s->separable) {
        snprintf(why, size,
                 "%s has degree 1 and several nodes; with noise h(q,p) that is not of the form A(p) + B(q) (or with "
                 "such an H "
                 "beside a noise that depends on p) it does not converge to the right equation",
                 method->name);
        return why;
    }
    if ((method->needs & LGV_NEEDS_QUADRATIC_KINETIC) && !s->quadratic_kinetic) {
        snprintf(why, size, "%s needs a Hamiltonian p.M^-1 p/2 + U(q) with constant masses", method->name);
        return why;
    }
    if ((method->needs & LGV_NEEDS_NO_TIME) && s->time_dependent) {
        snprintf(why, size, "%s is for models whose formulas do not depend on the time t", method->name);
        return why;
    }
    if ((method->needs & LGV_NEEDS_ONE_NOISE) && noises(m) > 1 && !s->additive &&
        s->noise_depends == LGV_ON_BOTH) {
        snprintf(why, size,
                 "%s is for one noise, additive noise, or noises that all depend on q alone or all on p alone: with "
                 "others it would need iterated integrals of pairs",
                 method->name);
        return why;
    }
    if (m->callbacks && !method->callbacks) {
        snprintf(why, size, "%s needs formulas", method->name);
        return why;
    }
    if (m->callbacks && (method->correction != 0 || (method->face_general & LGV_FACE_TAYLOR))) {
        snprintf(why, size, "%s needs formulas: derivatives beyond the second are taken from them", method->name);
        return why;
    }
    if ((method->needs & LGV_NEEDS_SEPARABLE) && !s->separable) {
        snprintf(why, size, "%s needs a separable model: H and every h of the form A(p) + B(q)", method->name);
        return why;
    }
    if (m->callbacks && !m->callbacks->hessian && (face & (LGV_FACE_K2 | LGV_FACE_ITO))) {
        snprintf(why, size, "%s needs second derivatives, and the model gives no hessian function", method->name);
        return why;
    }
    return NULL;
}

static enum lgv_status refuse(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s,
                              const char *why, struct lgv_error *err) {
    char others[512] = "";
    const struct lgv_method *other;
    for (size_t i = 0; (other = lgv_method_listed(m, i)); i++) {
        size_t used = strlen(others);
        if (fits(other, m, s)) snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "", other->name);
    }
    return lgv_fail(err, LGV_BAD_INPUT, "method %s does not fit the model %s: %s.\n%s%s", method->name, m->name, why,
                    others[0] ? "Methods that fit: " : "No method fits it", others);
}

/* Galerkin methods with more momenta P_i than degrees find them from alpha_i q' = dt alpha_i H_p + dW beta_i h_p, which
 * needs the inverse of dt H_pp + dW h_pp: singular for increments of the size dt, however small dt is.  With as many
 * momenta as degrees, or in the Nystroem form, nothing of that kind is inverted. */
static bool loses_paths(const struct lgv_method *method, const struct lgv_structure *s) {
    return method->surplus_momenta && s->noise_curved && !lgv_kernel_separable(method, s);
}

double lgv_kernel_strong_order(const struct lgv_method *method, const struct lgv_structure *s, size_t nnoise,
                               const char **reason) {
    const char *why;
    double order;
    if (nnoise == 0) {
        order = method->order;
        why = "no noise: the order of the deterministic method";
    } else if (loses_paths(method, s)) {
        order = NAN;
        why = "dt H_pp + dW h_pp is inverted here and can be singular, so paths are lost at every step size; "
              "methods with as many nodes as degrees lose none";
    } else if (s->additive && !s->constrained && !(method->constrained && !s->flat)) { /* and space is flat */
        bool as_needed = !method->additive_quadratic || s->quadratic_kinetic;
        order = as_needed ? method->strong_additive : method->strong_order;
        why = as_needed ? "additive noise"
                        : "additive noise, but H is not p.M^-1 p/2 + U(q) with constant masses, which more would need";
    } else if (method->strong_one_sided > 0 && s->noise_depends != LGV_ON_BOTH) {
        order = method->strong_one_sided;
        why = "every noise depends on q alone or on p alone: the terms that limit this method vanish";
    } else if (nnoise == 1) {
        order = method->strong_order;
        why = "one noise: it commutes with itself";
    } else if (s->commutes == 1) {
        order = method->strong_order;
        why = s->commutes_decided == LGV_DECIDED_POINTS ? "the noises commute (to round-off at random points)"
                                                        : "the noises commute (from the formulas)";
    } else {
        order = s->noise_depends == LGV_ON_Q ? method->strong_order : method->strong_noncommuting;
        why = s->commutes == 0 ? "the noises do not commute" : "whether the noises commute is not known";
    }
    if (reason) *reason = why;
    return order;
}

/* Strong order 3/2 is weak order 2.  Expand flow and step in powers of dt^(1/2): the term dt^(k/2) has the parity of k
 * in the noise, since dt^(1/2) comes with dW and J only.  Strong order 3/2 means that the error of one step begins with
 * dt^2 R of mean zero; the next term, dt^(5/2), is odd and has mean zero too, and so has R times an increment.  The
 * mean of the error of one step, also against smooth functions of the state, is then O(dt^3). */
double lgv_kernel_weak_order(const struct lgv_method *method, const struct lgv_structure *s, size_t nnoise,
                             const char **reason) {
    double strong = lgv_kernel_strong_order(method, s, nnoise, reason);
    if (nnoise == 0 || isnan(strong)) return strong;
    bool parity = strong >= 1.5 && method->weak_order <= 2;
    if (reason)
        *reason = parity ? "weak order 2: half an order above strong 3/2, by parity in the noise" : "weak order";
    return parity ? 2 : method->weak_order;
}

/* ---- what is observed ---- */

static bool watch_add(struct lgv_watch *w, size_t *capacity, const char *name, const char *text, int kind, int node) {
    if (!lgv_grow(&w->item, capacity, w->count + 1, sizeof *w->item)) return false;
    struct lgv_observable o = {lgv_copy(name), lgv_copy(text ? text : name), kind, node};
    w->item[w->count] = o;
    if (!o.name || !o.text) {
        free(o.name);
        free(o.text);
        return false;
    }
    w->count++;
    return true;
}

static bool watch_has(const struct lgv_watch *w, const char *name) {
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->item[i].name, name) == 0) return true;
    return false;
}

/* Distance of the state to the declared exact solution, over the components that have one. */
static int error_node(struct lgv_model *m) {
    struct lgv_arg *arg = lgv_new(2 * m->nq, sizeof *arg);
    size_t n = 0;
    for (size_t i = 0; arg && i < 2 * m->nq; i++) {
        if (m->exact[i] < 0) continue;
        int x = lgv_expr_ref_at(m->graph, i < m->nq ? LGV_Q : LGV_P, (long)(i < m->nq ? i : i - m->nq));
        arg[n++] = (struct lgv_arg){lgv_expr_power(m->graph, lgv_expr_sub(m->graph, x, m->exact[i]), 2), 1};
    }
    int id = arg ? lgv_expr_power(m->graph, lgv_expr_sum(m->graph, 0, arg, n), 0.5) : 0;
    free(arg);
    return id;
}

enum lgv_status lgv_kernel_watch(struct lgv_model *m, struct lgv_watch *out, struct lgv_error *err) {
    size_t capacity = 0, n = m->nq;
    *out = (struct lgv_watch){0};
    bool ok = watch_add(out, &capacity, "H", m->hamiltonian_text ? m->hamiltonian_text : "H", 1, m->hamiltonian);
    for (size_t i = 0; ok && i < m->nobservables; i++)
        ok = watch_add(out, &capacity, m->observable[i].name, m->observable[i].text, 0, m->observable[i].node);
    for (size_t i = 0; ok && i < m->nsymmetries; i++) {
        char text[256];
        snprintf(text, sizeof text, "p . xi, xi = %s", m->symmetry[i].text ? m->symmetry[i].text : "generator");
        ok = watch_add(out, &capacity, m->symmetry[i].name, text, 2, lgv_model_momentum_map(m, &m->symmetry[i]));
    }
    if (ok && m->exact) ok = watch_add(out, &capacity, "error", "distance to the exact solution", 5, error_node(m));
    for (size_t i = 0; ok && n <= LGV_WATCHED_DOF && i < 2 * n; i++)
        if (!watch_has(out, m->component[i])) {
            int node = m->callbacks ? 0 : lgv_expr_ref_at(m->graph, i < n ? LGV_Q : LGV_P, (long)(i < n ? i : i - n));
            ok = watch_add(out, &capacity, m->component[i], NULL, i < n ? 3 : 4, node);
        }
    if (ok && m->nconstraints) /* the last two, filled by the time loop */
        ok = watch_add(out, &capacity, "constraint", "largest |g_k(q)|", 7, -1) &&
             watch_add(out, &capacity, "hidden_constraint", "largest |(G(q) v)_k|", 8, -1);
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

/* ---- control variates ---- */

#define CONTROL_DOF 200
#define CONTROL_BRACKETS 20000

bool lgv_kernel_can_control(const struct lgv_model *m) {
    size_t watched = 2 + m->nobservables + m->nsymmetries + (m->nq <= LGV_WATCHED_DOF ? 2 * m->nq : 0);
    return !m->callbacks && !m->nconstraints && !m->lagrangian_only && m->nnoise > 0 && m->nq <= CONTROL_DOF &&
           watched * m->nnoise <= CONTROL_BRACKETS;
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
        bool ok = !name.failed && watch_add(w, &capacity, name.data, NULL, 6, w->item[i].node);
        lgv_text_free(&name);
        if (!ok) return lgv_fail_memory(err);
    }
    w->controls = n;
    return LGV_OK;
}

/* ---- building ---- */

/* The widest block whose state and matrices are still served by registers and the first cache (measured).  Sparse
 * systems of constraints are worked on through tables of indices, whose cost more lanes share. */
static unsigned choose_lanes(size_t nq, bool dense, bool sparse, bool clang) {
    if (nq < (dense ? 3 : clang ? 10 : 9)) return 16;
    if (!clang) return 4;
    if (sparse) return nq <= 256 ? 16 : 8; /* beyond, compiling takes much longer for a tenth less time per step */
    double vectors = dense ? 6.0 * (double)nq * (double)nq + 12.0 * (double)nq : 8.0 * (double)nq;
    return vectors * 8 * 8 <= 131072 ? 8 : 4;
}

/* gcc is only good at vectors of the hardware width, so there a wide block of a small model is made of several. */
static struct lgv_width choose_width(size_t nq, unsigned lanes, bool clang) {
    if (clang || lanes <= 4 || 2 * nq * lanes / 4 > 64) return (struct lgv_width){lanes, 1};
    return (struct lgv_width){4, lanes / 4};
}

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
    unsigned face = lgv_kernel_face(k->method, &k->structure);
    unsigned lanes = options->lanes;
    bool sparse = lgv_kernel_sparse(k->method, m, &k->structure);
    bool dense = (face & LGV_FACE_K2) && !lgv_kernel_large(k->method, m, &k->structure);
    if (!lanes) lanes = choose_lanes(m->nq, dense, sparse, cc.kind == LGV_COMPILER_CLANG);
    while (!options->lanes && options->paths && lanes > 2 && lanes / 2 >= options->paths) lanes /= 2;
    struct lgv_width width = choose_width(m->nq, lanes, cc.kind == LGV_COMPILER_CLANG);
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

enum lgv_status lgv_kernel_build(struct lgv_model *m, const struct lgv_method *method,
                                 const struct lgv_kernel_options *options, struct lgv_kernel *out,
                                 struct lgv_error *err) {
    char why[400];
    *out = (struct lgv_kernel){.method = method, .par = m->par};
    if (options->lanes > 16 || (options->lanes & (options->lanes - 1)))
        return lgv_fail(err, LGV_BAD_INPUT, "lanes must be 2, 4, 8 or 16 (or 0 to choose)");
    out->nq = m->nq;
    out->energy_known = !m->callbacks || m->callbacks->value;
    out->nnoise = noises(m);
    out->nstate = 2 * out->nq + (m->exact ? out->nnoise + 2 * out->nq : 0);
    enum lgv_status status = lgv_model_structure(m, &out->structure, err);
    if (status) return status;
    if (lgv_kernel_refusal(method, m, &out->structure, why, sizeof why))
        return refuse(method, m, &out->structure, why, err);
    if (m->nconstraints) status = lgv_model_constraint_check(m, &out->start, err);
    if (status) return status;
    out->nextra = m->nconstraints + (lgv_kernel_lagrangian(method, m, &out->structure) ? m->nq : 0);
    out->nstate += out->nextra;
    unsigned face = lgv_kernel_face(method, &out->structure);
    if ((face & LGV_FACE_K2) && m->nq > LGV_DENSE_DOF && !lgv_kernel_large(method, m, &out->structure))
        return lgv_kernel_too_large(method, m, err);
    status = lgv_kernel_watch(m, &out->watch, err);
    if (!status && options->control) status = watch_controls(m, &out->watch, err);
    out->nstate += out->watch.controls;
    if (!status && m->callbacks) {
        out->user = (struct lgv_kernel_user){m->callbacks, method->values};
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
}
