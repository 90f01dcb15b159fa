/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods for any noise h(q,p), by name:
 *
 *     NAME-3flows    three flows a step (methods/flows.c), each by a Gauss or Lobatto Galerkin method NAME of order 4
 *                    or more: strong order 3/2 and weak order 2 for one noise and for noises that commute
 *     NAME-Magnus    the same orders by NAME on the Magnus Hamiltonian, which has brackets of H and the noises beside
 *                    dt H + sum_i dW_i h_i (kernel/text/brackets.h); Newton's matrix is that of the latter
 *     NAME-MagnusStrang  the same with the brackets in two halves around NAME (methods/strang.c)
 *     NAME-Levy      any method NAME for general h(q,p) on dt H + sum_i dW_i h_i - sum_{i<j} A_ij {h_i, h_j} with Levy
 *                    areas A_ij: strong order 1 for noises that do not commute (kernel/text/brackets.h).  NAME may also
 *                    be a word that moves momenta along coadjoint orbits, as BCB, for noise of momenta alone: brackets
 *                    of these are functions of momenta, too */
#include "method/compose.h"
#include "base/base.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern const struct lgv_method lgv_method_flows, lgv_method_strang;

#define THREE_FLOWS "-3flows"
#define MAGNUS "-Magnus"
#define MAGNUS_STRANG "-MagnusStrang"
#define LEVY "-Levy"

/* The method in front of the suffix; *base is NULL when it is none.  False: the name has another ending. */
static bool split(const char *name, const char *suffix, const struct lgv_method **base) {
    size_t n = strlen(name), tail = strlen(suffix);
    if (n <= tail || strcasecmp(name + n - tail, suffix) != 0) return false;
    char *first = lgv_copy_n(name, n - tail);
    *base = first ? lgv_method_find(first) : NULL;
    free(first);
    return true;
}

/* Why a method cannot follow the flows of order 3/2; false: it can. */
static bool flow_fault(const struct lgv_method *base, const char *suffix, char *why, size_t size) {
    if (!base) {
        snprintf(why, size, "what %s goes around is not a method that has a name", suffix);
    } else if (strcmp(base->family, "Galerkin") != 0 || base->program || base->uses_dz || base->brackets ||
               base->needs & LGV_NEEDS_NOISE_OF_Q) {
        snprintf(why, size, "%s goes around a Galerkin method with one rule for dt and dW, such as P2N2Q4Gau", suffix);
    } else if (base->order < 4) {
        snprintf(why, size, "%s needs a method of order 4 or more, such as P2N2Q4Gau: the error of %s, of order %g, "
                 "would leave strong order 1", suffix, base->name, base->order);
    } else {
        return false;
    }
    return true;
}

/* What all of them promise beside what the method in front of the suffix keeps. */
static void promise(const struct lgv_method *base, struct lgv_method *m) {
    *m = *base;
    m->aliases = "";
    m->constants = NULL;
    m->values = NULL;
    m->step = NULL;
    m->uses_dz = true;
    m->symmetric = false;
    m->strong_order = m->strong_additive = 1.5;
    m->strong_one_sided = 0;
    m->weak_order = 2;
}

static struct lgv_program *one(const struct lgv_method *base) {
    struct lgv_program *p = lgv_program_new(1, 1);
    if (!p) return NULL;
    p->step[0] = base;
    p->substep[0] = (struct lgv_substep){.width = 1};
    lgv_program_link(p);
    return p;
}

static struct lgv_program *three(const struct lgv_method *base) {
    struct lgv_program *p = lgv_program_new(3, 1);
    if (!p) return NULL;
    p->step[0] = base;
    p->substep[1] = (struct lgv_substep){.width = 1};
    p->substep[2] = (struct lgv_substep){.from = 1};
    lgv_program_link(p);
    return p;
}

static bool fill_flows(const char *name, const void *what, struct lgv_method *m) {
    const struct lgv_method *base = what;
    char doc[300];
    promise(base, m);
    m->program = three(base);
    m->source = lgv_method_flows.source;
    m->callbacks = base->step ? lgv_method_flows.callbacks : NULL;
    m->paper = "derived for this project, after Foster, dos Reis & Strange (2022), doi 10.48550/arXiv.2210.17543";
    snprintf(doc, sizeof doc,
             "Three flows of noise, H and noise, and noise, each by %s, with weights that follow from dW and dZ: "
             "strong order 3/2 for any h(q,p).", base->name);
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    return m->program && m->name && m->doc;
}

static bool fill_magnus(const char *name, const void *what, struct lgv_method *m) {
    const struct lgv_method *base = what;
    char doc[300];
    promise(base, m);
    m->constants = lgv_copy(base->constants);
    m->callbacks = NULL;
    m->brackets = LGV_BRACKETS_MAGNUS;
    m->paper = "derived for this project, after Magnus (1954), doi 10.1002/cpa.3160070404";
    snprintf(doc, sizeof doc,
             "%s on the Magnus Hamiltonian of a step, with the brackets {H, h} and {h, {h, H}}: strong order 3/2 for "
             "any h(q,p).", base->name);
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    return m->constants && m->name && m->doc;
}

static bool fill_strang(const char *name, const void *what, struct lgv_method *m) {
    const struct lgv_method *base = what;
    char doc[300];
    promise(base, m);
    m->program = one(base);
    m->source = lgv_method_strang.source;
    m->callbacks = NULL;
    m->brackets = LGV_BRACKETS_APART;
    m->explicit_separable = m->explicit_always = m->explicit_additive = false;
    m->paper = "derived for this project, after Magnus (1954), doi 10.1002/cpa.3160070404";
    snprintf(doc, sizeof doc,
             "%s between two halves of a step of the brackets {H, h} and {h, {h, H}}: the Magnus Hamiltonian split, "
             "strong order 3/2 for any h(q,p).", base->name);
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    return m->program && m->name && m->doc;
}

/* ---- Levy areas ---- */

/* A bracket is a Hamiltonian like any other: what a method asks of the model it would ask of brackets, too. */
static bool levy_fault(const struct lgv_method *base, const char *suffix, char *why, size_t size) {
    const unsigned plain = LGV_FACE_K1 | LGV_FACE_K2 | LGV_FACE_FORCE | LGV_FACE_H;
    if (!base)
        snprintf(why, size, "what %s goes around is not a method that has a name", suffix);
    else if (base->brackets || base->uses_dz || base->bath || base->constrained || base->correction != 0 ||
             base->random)
        snprintf(why, size, "%s goes around methods with dW alone, without bath, constraints or corrections", suffix);
    else if (!lgv_method_curved(base) &&
             (base->needs || base->face_general & ~plain || base->rotations || base->compensated ||
              base->discrete))
        snprintf(why, size, "%s goes around methods for any H(q,p) and h(q,p), and %s is none", suffix, base->name);
    else
        return false;
    return true;
}

static bool fill_levy(const char *name, const void *what, struct lgv_method *m) {
    const struct lgv_method *base = what;
    char doc[300];
    *m = *base;
    m->program = base->program ? lgv_program_copy(base->program) : NULL;
    m->constants = base->constants ? lgv_copy(base->constants) : NULL;
    m->values = NULL;
    m->step = NULL;
    m->callbacks = NULL;
    m->aliases = "";
    m->uses_dz = true;
    m->symmetric = false;
    m->brackets = LGV_BRACKETS_AREAS;
    m->strong_noncommuting = base->strong_order;
    m->paper = "derived for this project; areas after Kloeden, Platen & Wright (1992), doi 10.1080/07362999208809281";
    snprintf(doc, sizeof doc,
             "%s with the Levy areas of noises that do not commute, drawn given dW and dZ: strong order %g for these.",
             base->name, m->strong_noncommuting);
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    return m->name && m->doc && (!base->program || m->program) && (!base->constants || m->constants);
}

const struct lgv_method *lgv_method_with_areas(const struct lgv_model *m, const struct lgv_structure *s) {
    static const char *const name[] = {"P1N1Q2Gau-Levy", "BCB-Levy"};
    char ignore[400];
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        const struct lgv_method *method = lgv_method_find(name[k]);
        if (method && !lgv_method_refusal(method, m, s, ignore, sizeof ignore)) return method;
    }
    return NULL;
}

/* ---- by name ---- */

static const struct suffix {
    const char *name;
    bool (*fault)(const struct lgv_method *base, const char *suffix, char *why, size_t size);
    lgv_method_fill *fill;
} suffixes[] = {
    {THREE_FLOWS, flow_fault, fill_flows},
    {MAGNUS, flow_fault, fill_magnus},
    {MAGNUS_STRANG, flow_fault, fill_strang},
    {LEVY, levy_fault, fill_levy},
};
#define SUFFIXES (sizeof suffixes / sizeof *suffixes)

const struct lgv_method *lgv_magnus_find(const char *name) {
    const struct lgv_method *base, *found = NULL;
    char ignore[200];
    for (size_t k = 0; k < SUFFIXES; k++) {
        const struct suffix *x = &suffixes[k];
        if (!split(name, x->name, &base) || x->fault(base, x->name, ignore, sizeof ignore)) continue;
        struct lgv_text whole = {0};
        lgv_text_add(&whole, "%s%s", base->name, x->name);
        if (!whole.failed) found = lgv_method_keep(whole.data, x->fill, base);
        lgv_text_free(&whole);
    }
    return found;
}

void lgv_magnus_explain(const char *name, char *why, size_t size) {
    const struct lgv_method *base;
    for (size_t k = 0; k < SUFFIXES; k++)
        if (split(name, suffixes[k].name, &base)) suffixes[k].fault(base, suffixes[k].name, why, size);
}
