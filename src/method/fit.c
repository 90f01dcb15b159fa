/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What fits what: whether a method can run a model, in which form, and what order to expect.  Everything follows from
 * the description of the method and the structure of the model. */
#include "method/method.h"
#include <math.h>
#include <string.h>

static bool fits(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s) {
    char ignore[64];
    return !lgv_method_refusal(method, m, s, ignore, sizeof ignore);
}

bool lgv_method_separable(const struct lgv_method *method, const struct lgv_structure *s) {
    return s->separable && !lgv_method_joins(method) && !(method->steady_kinetic && s->kinetic_time) &&
           !(method->flat_kinetic && !s->flat) && !lgv_method_mixes(method, s);
}

bool lgv_method_joins(const struct lgv_method *method) {
    return method->brackets && method->brackets != LGV_BRACKETS_APART && !lgv_method_curved(method);
}

bool lgv_method_mixes(const struct lgv_method *method, const struct lgv_structure *s) {
    return (method->correction != 0 || method->random) && !method->constrained && !s->quadratic_kinetic;
}

size_t lgv_method_weights(const struct lgv_method *method, const struct lgv_model *m) {
    if (method->constrained) return m->nnoise;
    if (method->random) return m->nnoise + m->nnoise * (m->nnoise + 1) / 2;
    return m->nnoise + (method->correction != 0);
}

unsigned lgv_method_face(const struct lgv_method *method, const struct lgv_structure *s) {
    unsigned face = lgv_method_separable(method, s) ? method->face_separable : method->face_general;
    /* nothing to solve; what is explicit on every model and asks for K2 (Milstein) has it in its formula */
    return lgv_method_explicit(method, s) && !method->explicit_always ? face & ~(unsigned)LGV_FACE_K2 : face;
}

bool lgv_method_lagrangian(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s) {
    return method->constrained && m->lagrangian >= 0 && (s->rotations ? !s->spins || method->maps : !s->flat);
}

bool lgv_method_spins(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s) {
    if (lgv_method_curved(method)) return false;
    return method->constrained ? !lgv_method_lagrangian(method, m, s) : s->spins || !method->varies;
}

bool lgv_method_long(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s) {
    return method->constrained && m->kind->formulas && (!method->kicks || lgv_method_lagrangian(method, m, s)) &&
           !s->rotations && !(s->bath && lgv_method_lagrangian(method, m, s)) &&
           m->np + m->nconstraints > LGV_SECOND_DOF;
}

bool lgv_method_sparse(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s) {
    size_t dense = s->diagonal_mass ? LGV_DENSE_CONSTRAINTS : LGV_DENSE_MIXED;
    bool longer = lgv_method_long(method, m, s);
    return m->kind->formulas && m->nconstraints > (longer ? 0 : dense) && (method->kicks || longer) &&
           !lgv_method_lagrangian(method, m, s);
}

unsigned lgv_method_large(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s) {
    bool form = lgv_method_separable(method, s) && !lgv_method_explicit(method, s) && !(s->noise_depends & LGV_ON_P) &&
                (method->program || (!s->bath && !s->forced)); /* what is around a step has the bath */
    bool many = s->linear ? m->np > LGV_LARGE_DOF : method->implicit_sets * m->np > LGV_FEW_UNKNOWNS;
    return many && form && m->kind->formulas ? method->implicit_sets : 0;
}

bool lgv_method_patterned(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s) {
    const struct lgv_program *p = method->program;
    bool all = p || method->patterned;
    for (size_t j = 0; p && j < p->steps; j++)
        all = all && (p->step[j]->patterned || !(lgv_method_face(p->step[j], s) & LGV_FACE_K2));
    bool drag = !s->bath || p || (s->diagonal_mass && m->bath.kind != LGV_FRICTION_MATRIX);
    return all && drag && m->np > LGV_LARGE_DOF && m->kind->formulas && !s->rotations;
}

enum lgv_status lgv_method_too_large(const struct lgv_method *method, const struct lgv_model *m,
                                     struct lgv_error *err) {
    return lgv_fail(err, LGV_CANNOT_RUN,
                    "%s solves a dense system of all %zu degrees of freedom, and this version stops at %d: second "
                    "derivatives of this model couple too many of them; use an explicit method",
                    method->name, m->np, method->constrained ? LGV_SECOND_DOF : LGV_DENSE_DOF);
}

unsigned lgv_method_spans(const struct lgv_method *method) {
    return method->bath_spans ? method->bath_spans : 1;
}

unsigned lgv_method_common_spans(const struct lgv_method *method, unsigned others) {
    unsigned a = others, b = lgv_method_spans(method);
    while (b) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return others / a * lgv_method_spans(method);
}

bool lgv_method_explicit(const struct lgv_method *method, const struct lgv_structure *s) {
    return method->explicit_always ||
           (lgv_method_separable(method, s) && !(s->coupled && method->coupled_implicit) &&
            (method->explicit_separable || (method->explicit_additive && s->steady_noise)));
}

/* One reason why a method does not fit: whether it holds, how to say so with the name of the method and a limit, and
 * which part of the model it is about. */
enum part { ENERGY, NOISE, FORCE, BATH, CONSTRAINTS };
struct reason {
    bool holds;
    const char *format;
    int limit;
    enum part part;
};

/* How to say that a method knows what another one does not, and which ones may: the first that fits the model. */
struct advice {
    const char *format, *name[3];
};

struct refusal {
    char *why;
    size_t size;
    enum part part;
    struct advice advice;
};

static bool first_reason(const struct reason *row, size_t count, const char *name, struct refusal *out) {
    for (size_t i = 0; i < count; i++) {
        if (!row[i].holds) continue;
        snprintf(out->why, out->size, row[i].format, name, row[i].limit);
        out->part = row[i].part;
        return true;
    }
    return false;
}

static bool is_rotating(const struct lgv_method *method) {
    return method->rotations;
}

static bool is_coupled(const struct lgv_method *method) {
    return method->coupled;
}

static bool is_varying(const struct lgv_method *method) {
    return method->varies;
}

static bool is_reduced(const struct lgv_method *method) {
    return method->reduced;
}

static bool is_curved(const struct lgv_method *method) {
    return method->curved;
}

static bool is_swinging(const struct lgv_method *method) {
    return method->swings;
}

/* What is said of a method holds, or of all steps it is made of. */
static bool knows(const struct lgv_method *method, bool (*holds)(const struct lgv_method *method)) {
    if (method->compensated) return false;
    const struct lgv_program *p = method->program;
    for (size_t j = 0; p && j < p->steps; j++)
        if (!holds(p->step[j])) return false;
    return p || holds(method);
}

bool lgv_method_curved(const struct lgv_method *method) {
    return knows(method, is_curved);
}

bool lgv_method_turns(const struct lgv_method *method, bool coupled) {
    return knows(method, coupled ? is_coupled : is_rotating);
}

bool lgv_method_keeps(const struct lgv_method *method, const struct lgv_structure *s, size_t symmetry) {
    const struct lgv_program *p = method->program;
    bool body_axes = true;
    for (size_t j = 0; p && j < p->steps; j++) body_axes = body_axes && !p->step[j]->breaks_body_axes;
    if (s->forced) return false; /* a force may change it, and nobody has looked */
    if (method->discrete) return s->symmetry[symmetry].invariant && (method->discrete->invariant >> symmetry & 1);
    return method->linear_momentum_maps && s->symmetry[symmetry].invariant && s->symmetry[symmetry].affine &&
           (body_axes || !s->symmetry[symmetry].of_body) && (!method->only_shifts || s->symmetry[symmetry].shift) &&
           (!(method->needs & LGV_NEEDS_SPLIT) || s->symmetry[symmetry].of_stiff);
}

/* What has to do with rotations. */
static bool refusal_by_rotations(const struct lgv_method *method, const struct lgv_model *m,
                                 const struct lgv_structure *s, struct refusal *out) {
    const bool curved = lgv_method_curved(method), varies = knows(method, is_varying);
    const bool group = varies && s->rotations && lgv_method_lagrangian(method, m, s);
    const bool spins = s->spins || (s->flat && s->quadratic_kinetic && m->lagrangian < 0);
    const bool noise_of_p = s->rotations && s->noise_depends & LGV_ON_P;
    const struct {
        struct reason reason;
        struct advice advice;
    } row[] = {
        {{(method->needs & LGV_NEEDS_ROTATIONS) && !s->rotations,
          "%s turns rotations, and the model has none", 0, ENERGY}, {0}},
        {{s->reduced && !knows(method, is_reduced),
          "the model has momenta in so3* or se3* alone, and %s does not move these", 0, ENERGY},
         {"words as %s do", {"BAB", "BRB", "BCB"}}},
        {{s->rotations && !lgv_method_turns(method, false),
          "the model has rotations, and %s knows vectors only", 0, ENERGY}, {0}},
        {{s->coupled && !lgv_method_turns(method, true) && !group,
          "the model has bodies in SE3 whose inertia couples position and rotation, and %s does not move them: their "
          "free motion has no closed form", 0, ENERGY},
         {"%s has a step for it", {"BRB", "BRORB", "RATTLE"}}},
        {{s->rotations && method->maps && m->lagrangian < 0,
          "%s works with a Lagrangian (`lagrangian:` and `velocities:`); with constant inertia the words BX and BXB "
          "turn bodies in the same way", 0, ENERGY}, {0}},
        {{noise_of_p && s->bath,
          "with rotations and a bath %s needs noise that does not depend on momenta; words as BRB, without a bath, "
          "know noise that is linear in them", 0, NOISE}, {0}},
        {{noise_of_p && !curved && !knows(method, is_swinging),
          "with rotations %s needs noise that does not depend on momenta", 0, NOISE},
         {"words as %s know such noise", {"BAB", "BRB", "BCB"}}},
        {{noise_of_p && !curved && (s->noise_turns || s->noise_curved),
          "with rotations %s needs noise that does not depend on momenta, or is linear in them with constant factors",
          0, NOISE},
         {"words with C or E, as %s, know other noise of momenta", {"BCB"}}},
        {{s->rotations && curved && !s->hamiltonian_separable && m->lagrangian < 0,
          "%s needs H = A(p) + B(q); where inertia varies SVE, VE-adjoint and RATTLE work on a Lagrangian "
          "(`lagrangian:` and `velocities:`)", 0, ENERGY}, {0}},
        {{s->rotations && !spins && !group && !curved && !(varies && !method->constrained),
          "with rotations %s needs a kinetic energy with constant masses and inertia; with others SVE, VE-adjoint and "
          "RATTLE work on a Lagrangian (`lagrangian:` and `velocities:`)", 0, ENERGY},
         {"words with C or E, as %s, know other functions of momenta alone", {"BCB"}}},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        out->advice = row[i].advice;
        if (first_reason(&row[i].reason, 1, method->name, out)) return true;
    }
    out->advice = (struct advice){0};
    return false;
}

/* What has to do with constraints and Lagrangians. */
static bool refusal_by_kind(const struct lgv_method *method, const struct lgv_model *m,
                                   const struct lgv_structure *s, struct refusal *out) {
    bool for_constraints = method->needs & LGV_NEEDS_CONSTRAINTS, corrected = method->correction != 0;
    bool keeps = method->constrained, dense = !method->kicks || lgv_method_lagrangian(method, m, s);
    const struct reason row[] = {
        {m->nconstraints && !keeps, "the model has constraints, and %s does not keep them", 0, CONSTRAINTS},
        {for_constraints && !m->nconstraints,
         "%s is for models with constraints; without any it would be EEM", 0, ENERGY},
        {for_constraints && !s->flat,
         "%s needs constant masses, H = p.M^-1 p/2 + U(q), beside the constraints", 0, ENERGY},
        {m->lagrangian_only && !keeps,
         "there is no formula for H, which %s needs: the Lagrangian is not quadratic in the velocities, or couples "
         "more than four of them", 0, ENERGY},
        {keeps && !m->kind->formulas && !method->callbacks,
         "%s needs formulas; with C functions constraints are kept by RATTLE, SVE and others that are kicks around one "
         "drift", 0, ENERGY},
        {keeps && m->lagrangian < 0 && !s->flat,
         "%s works with a Lagrangian, or with H = p.M^-1 p/2 + U(q) with constant masses: write this model with "
         "`lagrangian:` and `velocities:`", 0, ENERGY},
        {keeps && corrected && m->lagrangian_only,
         "the correction of %s needs masses that do not depend on the velocities", 0, ENERGY},
        {keeps && corrected && !method->kicks && lgv_method_lagrangian(method, m, s),
         "the correction of %s needs constant masses; RATTLE-Jc knows others, and Lobatto3-W1 needs no correction",
         0, ENERGY},
        {keeps && dense && m->np + m->nconstraints > LGV_SECOND_DOF && !lgv_method_long(method, m, s),
         "%s solves dense equations of all stages with rotations or with friction on variable masses, for up to %d "
         "coordinates and constraints; RATTLE and SVE with constant masses have no such limit", LGV_SECOND_DOF, ENERGY},
        {keeps && corrected && m->np > LGV_CORRECTED_DOF,
         "the correction of %s is for models with up to %d degrees of freedom", LGV_CORRECTED_DOF, ENERGY},
    };
    return first_reason(row, sizeof row / sizeof *row, method->name, out);
}

/* What has to do with friction and forces. */
static bool refusal_by_bath(const struct lgv_method *method, const struct lgv_model *m,
                                   const struct lgv_structure *s, struct refusal *out) {
    const bool bath = m->bath.kind != LGV_FRICTION_NONE, of_q = m->bath.kind == LGV_FRICTION_OF_Q;
    const bool large = m->np > LGV_BATH_MATRIX, varying = lgv_method_lagrangian(method, m, s);
    const bool modes = bath && !varying; /* friction and masses are brought to modes, and masses must be constant */
    const struct reason row[] = {
        {bath && !method->bath,
         "the model has friction and a bath (`langevin`), and %s knows nothing of them", 0, BATH},
        {!bath && method->needs_bath, "%s is for models with friction and a bath (`langevin`)", 0, ENERGY},
        {!bath && !m->force && method->needs_drag,
         "%s is for friction, a bath or forces without a potential; without them it is a splitting word, BA or BAB",
         0, ENERGY},
        {m->force && !method->forced,
         "the model has a force without a potential (`force`), and %s does not use it", 0, FORCE},
        {bath && varying && !method->forced_ends,
         "friction in %s needs constant masses; RATTLE-GLA, g-SVE-Q and g-SVE-QI know it with a Lagrangian whose "
         "masses or inertia vary", 0, ENERGY},
        {modes && !s->quadratic_kinetic,
         "friction in %s needs constant masses, H = p.M^-1 p/2 + U(q); where they vary, write the model with "
         "`lagrangian:` and `velocities:` for RATTLE-GLA, g-SVE-Q and g-SVE-QI", 0, ENERGY},
        {modes && s->shifted,
         "friction in %s needs H = p.M^-1 p/2 + U(q), and this one has a term of first degree in p", 0, ENERGY},
        {modes && !s->diagonal_mass && large,
         "friction with masses off the diagonal in %s is for up to %d degrees of freedom", LGV_BATH_MATRIX, ENERGY},
        {modes && of_q && !s->diagonal_mass, "friction that depends on q needs diagonal masses in %s", 0, BATH},
        {modes && !s->diagonal_mass && !m->bath.one_temperature,
         "several temperatures need diagonal masses in %s", 0, BATH},
        {of_q && method->steady_bath,
         "%s knows the flow of drift and bath together for constant friction only", 0, BATH},
        {method->metropolis && m->nnoise,
         "%s is for the noise of the bath alone, and the model has other noise", 0, NOISE},
        {method->metropolis && m->force,
         "%s needs H to be all there is: a force without a potential has no H", 0, FORCE},
        {method->metropolis && varying, "%s needs constant masses and inertia", 0, ENERGY},
        {method->metropolis && s->time_dependent, "%s needs an H that does not depend on t", 0, ENERGY},
        {method->metropolis && !m->bath.one_temperature, "%s needs one temperature", 0, BATH},
        {m->force_of_p && (m->nconstraints || method->kicks) && !method->forced_ends, /* they keep the force for long */
         "%s knows forces F(q, t) only, that do not depend on velocities; with constraints RATTLE, RATTLE-GLA, SVE, VE "
         "and VE-adjoint know them", 0, FORCE},
        {m->force && lgv_method_lagrangian(method, m, s) && !method->forced_ends,
         "%s knows forces with constant masses only; RATTLE, SVE, VE and VE-adjoint know them with others", 0, FORCE},
        {m->force_of_p && m->lagrangian_only,
         "a force that depends on velocities needs a Lagrangian that is quadratic in them in %s", 0, FORCE},
    };
    return first_reason(row, sizeof row / sizeof *row, method->name, out);
}

/* What has to do with noise, form and derivatives of the model. */
static bool refusal_by_form(const struct lgv_method *method, const struct lgv_model *m,
                                   const struct lgv_structure *s, struct refusal *out) {
    unsigned face = lgv_method_face(method, s), needs = method->needs;
    bool formulas = m->kind->formulas, noise_of_p = s->noise_depends & LGV_ON_P;
    bool corrected = (method->correction != 0 || method->random) && !method->constrained;
    bool third = method->brackets || corrected || /* the correction of RATTLE-Jc has second ones only */
                 (method->face_general & (LGV_FACE_TAYLOR | LGV_FACE_V3));
    const unsigned second = LGV_FACE_K2 | LGV_FACE_ITO | LGV_FACE_TAYLOR | LGV_FACE_V3 | LGV_FACE_ACTION;
    const bool near = formulas && m->graph->ncuts, split = face & LGV_FACE_SPLIT;
    const bool bends = near && (face & second || third ||
                                (face & LGV_FACE_STIFFNESS && (!split || lgv_near_used(m->graph, m->stiff))));
    const bool bracket_kinks = formulas && (method->brackets == LGV_BRACKETS_AREAS
                                                ? s->commutes_decided == LGV_DECIDED_KINKS
                                                : method->brackets && lgv_model_kinks(m));
    const enum part mixed = s->hamiltonian_separable ? NOISE : ENERGY;
    bool pairs = m->nnoise > 1 && !s->additive && s->noise_depends == LGV_ON_BOTH;
    const struct reason row[] = {
        {bends,
         "%s needs second derivatives of the potential, and sums over near pairs (`cutoff`) have forces only",
         0, ENERGY},
        {(needs & LGV_NEEDS_NO_NOISE) && m->nnoise > 0,
         "the model has noise, and %s is a method for models without noise", 0, NOISE},
        {(needs & LGV_NEEDS_NOISE_OF_Q) && noise_of_p,
         "%s needs noise Hamiltonians h(q) that do not depend on the momenta; with h(q,p) it would converge to "
         "another equation", 0, NOISE},
        {(needs & LGV_NEEDS_SEPARABLE_NOISE) && noise_of_p && !s->separable,
         "%s has degree 1 and several nodes; with noise h(q,p) that is not of the form A(p) + B(q) (or with such an H "
         "beside a noise that depends on p) it does not converge to the right equation", 0, NOISE},
        {(needs & LGV_NEEDS_QUADRATIC_KINETIC) && !s->quadratic_kinetic,
         "%s needs a Hamiltonian p.M^-1 p/2 + U(q) with constant masses", 0, ENERGY},
        {(needs & LGV_NEEDS_SPLIT) && m->stiff < 0,
         "%s needs the stiff part of the potential, and the model declares none (`stiff`)", 0, ENERGY},
        {(needs & LGV_NEEDS_QUADRATIC_STIFF) && !s->stiff_quadratic,
         "%s needs a stiff part that is quadratic with constant coefficients: the formulas of its second derivatives, "
         "or of its linear term, have coordinates or t in them, or it bends", 0, ENERGY},
        {(needs & LGV_NEEDS_QUADRATIC_STIFF) && s->shifted,
         "%s needs H = p.M^-1 p/2 + U(q), and this one has a term of first degree in p", 0, ENERGY},
        {(needs & LGV_NEEDS_NO_TIME) && s->time_dependent,
         "%s is for models whose formulas do not depend on the time t", 0, ENERGY},
        {(needs & LGV_NEEDS_ONE_NOISE) && pairs,
         "%s is for one noise, additive noise, or noises that all depend on q alone or all on p alone: with "
         "others it would need iterated integrals of pairs", 0, NOISE},
        {method->random && m->nnoise > LGV_RANDOM_NOISES,
         "the random coefficient of %s has a term for each pair of noises, and is for up to %d of these",
         LGV_RANDOM_NOISES, NOISE},
        {!formulas && !method->callbacks, "%s needs formulas", 0, ENERGY},
        {!formulas && third, "%s needs formulas: derivatives beyond the second are taken from them", 0, ENERGY},
        {bracket_kinks,
         "%s has brackets of H and the noises, and these need derivatives of formulas that bend or jump (abs, sign, "
         "floor, mod, min, max, if)", 0, ENERGY},
        {method->brackets && lgv_method_curved(method) && (s->noise_depends & LGV_ON_Q),
         "%s needs noise of momenta alone: the bracket of such a noise with one of positions is neither", 0, NOISE},
        {method->brackets && (m->np > LGV_BRACKET_DOF || m->nnoise > LGV_BRACKET_DOF),
         "%s writes brackets of H and the noises out, for up to %d degrees of freedom and noises",
         LGV_BRACKET_DOF, ENERGY},
        {(needs & LGV_NEEDS_SEPARABLE) && !s->separable,
         "%s needs a separable model: H and every h of the form A(p) + B(q)", 0, mixed},
        {(needs & LGV_NEEDS_FLAT) && !s->flat,
         "%s needs H = p.M^-1 p/2 + U(q) with constant masses, and every h of the same form", 0, mixed},
        {(needs & LGV_NEEDS_STEADY_KINETIC) && s->kinetic_time,
         "%s needs velocities that do not depend on the time t: the order would be 2", 0, ENERGY},
        {!m->kind->has_second(m) && (face & (LGV_FACE_K2 | LGV_FACE_ITO)),
         "%s needs second derivatives, and the model gives no hessian function", 0, ENERGY},
        {!m->kind->has_bends(m) && method->correction != 0,
         "%s needs second derivatives of the constraints, and the model gives no constraint_hessian function",
         0, ENERGY},
        {!m->kind->has_energy(m) && (face & LGV_FACE_H),
         "%s needs the value of H, and the model gives no value function", 0, ENERGY},
        {m->nprocesses && (method->loose || method->carries_width),
         "%s carries something from step to step that coloured noise (`processes`) changes", 0, ENERGY},
    };
    return first_reason(row, sizeof row / sizeof *row, method->name, out);
}

static bool refused(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s,
                    struct refusal *out) {
    if (refusal_by_rotations(method, m, s, out) || refusal_by_kind(method, m, s, out)) return true;
    if (s->inertia_fault && !lgv_method_curved(method) && !knows(method, is_varying)) {
        snprintf(out->why, out->size, "%s, which %s does not know", s->inertia_fault, method->name);
        out->part = ENERGY;
        out->advice = (struct advice){"words with C or E, as %s, do", {"BCB"}};
        return true;
    }
    return refusal_by_bath(method, m, s, out) || refusal_by_form(method, m, s, out);
}

/* The first of the methods that fits is added to the reason. */
static void advise(const struct lgv_model *m, const struct lgv_structure *s, struct refusal *out) {
    char other[400];
    const char *const *name = out->advice.name;
    for (size_t i = 0; i < sizeof out->advice.name / sizeof *name && name[i]; i++) {
        const struct lgv_method *method = lgv_method_find(name[i]);
        size_t used = strlen(out->why);
        if (!method || refused(method, m, s, &(struct refusal){.why = other, .size = sizeof other})) continue;
        snprintf(other, sizeof other, out->advice.format, method->name);
        snprintf(out->why + used, out->size - used, "; %s", other);
        return;
    }
}

const char *lgv_method_refusal(const struct lgv_method *method, const struct lgv_model *m,
                               const struct lgv_structure *s, char *why, size_t size) {
    struct refusal out = {.why = why, .size = size};
    if (!refused(method, m, s, &out)) return NULL;
    advise(m, s, &out);
    return why;
}

/* The noise that a reason is about: the first that mixes q and p, or depends on p; or the first of all. */
static size_t noise_at(const struct lgv_model *m) {
    const unsigned both = LGV_USES(LGV_Q) | LGV_USES(LGV_P);
    size_t worst = 0;
    unsigned most = 0;
    for (size_t i = 0; i < m->nentries; i++) {
        unsigned uses = m->graph->node[m->noise[i].body].uses & both;
        unsigned rank = uses == both ? 2 : uses & LGV_USES(LGV_P) ? 1 : 0;
        if (rank > most) worst = i;
        if (rank > most) most = rank;
    }
    return m->noise[worst].at;
}

/* The refusal at the part of the file that it is about. */
static enum lgv_status fail_in_model(struct lgv_error *err, const struct lgv_model *m, enum part part,
                                     const char *message) {
    if (!m->text) return lgv_fail(err, LGV_BAD_INPUT, "%s", message);
    if (part == NOISE && m->nentries) return lgv_model_fail_at(err, m, noise_at(m), "%s", message);
    if (part == FORCE && m->force) return lgv_model_fail_at(err, m, m->force_at, "%s", message);
    if (part == BATH && m->bath.kind)
        return lgv_model_fail(err, m->file, m->text, m->bath.line, m->bath.column, "%s", message);
    if (part == CONSTRAINTS && m->nconstraint_entries)
        return lgv_model_fail(err, m->file, m->text, m->constraint[0].line, m->constraint[0].column, "%s", message);
    return lgv_model_fail(err, m->file, m->text, m->line, m->column, "%s", message);
}

enum lgv_status lgv_method_refuse(const struct lgv_method *method, const struct lgv_model *m,
                                  const struct lgv_structure *s, struct lgv_error *err) {
    char why[400], message[2048], others[1024] = "", composed[64] = "";
    struct refusal out = {.why = why, .size = sizeof why};
    if (!refused(method, m, s, &out)) return LGV_OK;
    advise(m, s, &out);
    if ((method->needs & LGV_NEEDS_QUADRATIC_STIFF) && m->stiff >= 0 && !s->stiff_quadratic)
        return lgv_model_fail(err, m->file, m->text, m->stiff_line, m->stiff_column, "%s", why);
    const struct lgv_method *other;
    for (size_t i = 0; (other = lgv_method_listed(m, i)); i++) {
        size_t used = strlen(others);
        if (!fits(other, m, s)) continue;
        if (other->program && other->program->steps == 1 && !other->uses_dz) /* one of the names below */
            snprintf(composed, sizeof composed, ", and compositions of them such as %.20s", other->name);
        else
            snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "", other->name);
    }
    if (!others[0]) { /* the model is to blame */
        snprintf(message, sizeof message, "method %s does not fit the model %.200s, and no other does: %s",
                 method->name, m->name, why);
        return fail_in_model(err, m, out.part, message);
    }
    snprintf(message, sizeof message, "method %s does not fit the model %.200s: %s.\nMethods that fit: %s%s",
             method->name, m->name, why, others, composed);
    return lgv_method_is_default(method, m, s) ? fail_in_model(err, m, out.part, message)
                                               : lgv_fail(err, LGV_BAD_INPUT, "%s", message);
}

/* Galerkin methods with more momenta P_i than degrees find them from alpha_i q' = dt alpha_i H_p + dW beta_i h_p, which
 * needs the inverse of dt H_pp + dW h_pp: singular for increments of the size dt, however small dt is.  With as many
 * momenta as degrees, or in the Nystroem form, nothing of that kind is inverted. */
static bool loses_paths(const struct lgv_method *method, const struct lgv_structure *s) {
    return method->surplus_momenta && s->noise_curved && !lgv_method_separable(method, s);
}

/* Coloured noise stands as its mean over the step (text/process.h).  Where it enters linearly, that leaves O(dt^(5/2))
 * of mean O(dt^3) in a step; in a formula that is not linear the mean of a function is not the function of the mean, by
 * the variance over a step, O(dt); and as a factor of white noise it leaves the integral of (eta - mean) dW, O(dt). */
static double coloured_order(const struct lgv_structure *s, double order, const char **why) {
    const double most = s->process_in_noise ? 0.5 : s->process_linear ? 2 : 1;
    if (order < most) return order;
    *why = s->process_in_noise ? "coloured noise is a factor of white noise, as its mean over a step"
           : s->process_linear ? "coloured noise as its mean over a step, which is exact in law"
                               : "coloured noise does not enter linearly, and stands as its mean over a step";
    return isnan(order) ? order : most;
}

double lgv_method_strong_order(const struct lgv_method *method, const struct lgv_structure *s, size_t nnoise,
                               const char **reason) {
    const char *why;
    double order;
    if (s->bath) {
        bool alone = nnoise == 0 && s->steady_bath && !s->constrained && !s->force_of_p; /* F(p) sees dB in a step */
        order = alone || isnan(method->bath_strong) ? method->bath_strong : fmin(method->bath_strong, 1);
        why = alone             ? "constant friction and no other noise"
              : s->constrained  ? "friction and constraints"
              : !s->steady_bath ? "friction depends on q"
              : nnoise          ? "friction beside other noise"
                                : "friction beside forces that depend on velocities";
        if (method->metropolis) why = "steps that are not accepted have no order: the law at rest is what is kept";
        if (nnoise && s->commutes != 1 && s->noise_depends != LGV_ON_Q) {
            order = fmin(order, 0.5);
            why = s->commutes ? "whether the noises commute is not known" : "the noises do not commute";
        }
    } else if (nnoise == 0) {
        bool kicked = s->force_of_p && !method->forced_ends && method->order > 4;
        order = kicked ? 4 : method->order;
        why = kicked       ? "no noise; kicks by forces that depend on velocities have order 4"
              : s->process ? "no white noise: the order of the deterministic method"
                           : "no noise: the order of the deterministic method";
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
    if (s->process) order = coloured_order(s, order, &why);
    if (reason) *reason = why;
    return order;
}

/* Strong order 3/2 is weak order 2.  Expand flow and step in powers of dt^(1/2): the term dt^(k/2) has the parity of k
 * in the noise, since dt^(1/2) comes with dW and J only.  Strong order 3/2 means that the error of one step begins with
 * dt^2 R of mean zero; the next term, dt^(5/2), is odd and has mean zero too, and so has R times an increment.  The
 * mean of the error of one step, also against smooth functions of the state, is then O(dt^3). */
double lgv_method_weak_order(const struct lgv_method *method, const struct lgv_structure *s, size_t nnoise,
                             const char **reason) {
    double strong = lgv_method_strong_order(method, s, nnoise, reason), most = s->process_linear ? 2 : 1;
    if (s->bath && nnoise == 0) {
        if (reason) *reason = "weak order";
        /* who has friction as a force takes forces at momenta that are there already */
        double weak = s->force_of_p && method->needs_drag ? fmin(method->bath_weak, 1) : method->bath_weak;
        return s->process ? fmin(weak, most) : weak;
    }
    if (nnoise == 0 || isnan(strong)) return strong;
    if (strong < 1) { /* areas are missing, which have mean zero */
        if (reason) *reason = "weak order";
        return fmin(method->weak_order, 1);
    }
    bool parity = strong >= 1.5 && method->weak_order <= 2;
    if (reason)
        *reason = parity ? "weak order 2: half an order above strong 3/2, by parity in the noise" : "weak order";
    double weak = parity ? 2 : method->weak_order;
    return s->process ? fmin(weak, most) : weak;
}

/* The flow of the bath keeps exp(-H/kT), and a symplectic step of order n keeps exp(-H'/kT) with an H' that differs
 * from H by O(dt^n), so around a composition the bias has order n.  Where the momenta have another rule than that flow,
 * or the law is another one, no more is known than what one step does, and the bias has the weak order. */
double lgv_method_bias_order(const struct lgv_method *method, const struct lgv_structure *s, size_t nnoise) {
    double order = method->bias_order;
    if (!s->bath || !(order > 0) || method->metropolis) return order;
    const bool flows = s->separable && s->quadratic_kinetic;
    if (!flows || s->forced) order = fmin(order, 2);
    if (nnoise || s->process || (s->force_of_p && method->needs_drag))
        order = fmin(order, lgv_method_weak_order(method, s, nnoise, NULL));
    return order;
}
