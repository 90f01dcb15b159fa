/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods made of others (methods/compose.c), by name.
 *
 *     NAME-Suzuki4, NAME-6, NAME-8, ...  a symmetric method NAME of order 2, composed to order 4, 6 or 8
 *     RKN8, BlanesMoan4, ...             letters A (drift) and B (kick) with widths of their own, for separable models
 *     BAB, ABA, ABABA, ...               a splitting word: letters that each have the same share of the step; symmetric
 *                                        words have order 2, others order 1
 *
 * The coefficients are in compose_tables.c.  What such a method needs, promises and keeps follows from its substeps. */
#include "method/compose.h"
#include "base/base.h"
#include "method/rules.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern const struct lgv_method lgv_method_composed, lgv_letter_drift, lgv_letter_kick;

#define MOST_WIDTHS 32

/* ---- programs ---- */

static unsigned moves(const struct lgv_method *m) {
    return m->moves ? m->moves : LGV_MOVES_Q | LGV_MOVES_P;
}

/* A substep has to begin unless its step was the last one to move q before it, or nothing has since that step came:
 * going back from substep k, round the end of the step before.  What depends on the width of the step, by its square,
 * must also have been carried with that width. */
static bool begins(const struct lgv_program *p, size_t k) {
    for (size_t back = 1; back <= p->count; back++) {
        size_t at = (k + p->count - back) % p->count;
        if (p->substep[at].step == p->substep[k].step)
            return p->step[p->substep[k].step]->carries_width &&
                   fabs(p->substep[at].width) != fabs(p->substep[k].width);
        if (moves(p->step[p->substep[at].step]) & LGV_MOVES_Q) return true;
    }
    return false;
}

struct lgv_program *lgv_program_new(size_t substeps, size_t steps) {
    struct lgv_program *p = lgv_new(1, sizeof *p);
    if (!p) return NULL;
    p->count = substeps;
    p->steps = steps;
    p->substep = lgv_new(substeps, sizeof *p->substep);
    p->step = lgv_new(steps, sizeof *p->step);
    if (p->substep && p->step) return p;
    lgv_program_free(p);
    return NULL;
}

struct lgv_program *lgv_program_copy(const struct lgv_program *p) {
    struct lgv_program *copy = lgv_program_new(p->count, p->steps);
    for (size_t k = 0; copy && k < p->count; k++) copy->substep[k] = p->substep[k];
    for (size_t j = 0; copy && j < p->steps; j++) copy->step[j] = p->step[j];
    return copy;
}

void lgv_program_link(struct lgv_program *p) {
    for (size_t k = 0; k < p->count; k++) p->substep[k].begins = begins(p, k);
}

void lgv_program_free(struct lgv_program *p) {
    if (!p) return;
    free(p->substep);
    free((void *)p->step);
    free(p);
}

/* ---- compositions ---- */

/* The substeps of the base again and again: a word has several, another method is one.  The last ones end at 1, to the
 * bit: what is carried to the next step is then what a call that begins there computes. */
static struct lgv_program *repeat(const struct lgv_method *base, const struct lgv_composition *c) {
    const struct lgv_substep whole = {.width = 1}, *substep = base->program ? base->program->substep : &whole;
    size_t substeps = base->program ? base->program->count : 1, steps = base->program ? base->program->steps : 1;
    struct lgv_program *p = lgv_program_new(c->count * substeps, steps);
    double width[MOST_WIDTHS], from = 0;
    if (!p) return NULL;
    lgv_palindrome(c->half, c->count, width);
    for (size_t j = 0; j < steps; j++) p->step[j] = base->program ? base->program->step[j] : base;
    for (size_t i = 0; i < c->count; i++) {
        if (i == c->count - 1) from = 1 - width[i];
        for (size_t k = 0; k < substeps; k++) {
            struct lgv_substep *to = &p->substep[i * substeps + k];
            *to = substep[k];
            to->from = from + width[i] * substep[k].from;
            to->width = width[i] * substep[k].width;
        }
        from += width[i];
    }
    lgv_program_link(p);
    return p;
}

/* The promises of NAME, but for the order: along a path that is linear in a step the composition follows the flow of
 * dt H + sum dW_m h_m, which is as good as commuting noises allow. */
static bool fill_composition(const char *name, const void *what, struct lgv_method *m) {
    const struct lgv_method *base = ((const void *const *)what)[0];
    const struct lgv_composition *c = ((const void *const *)what)[1];
    char doc[300];
    *m = *base;
    m->program = repeat(base, c);
    m->source = lgv_method_composed.source;
    m->callbacks = base->step || base->program ? lgv_method_composed.callbacks : NULL;
    m->aliases = "";
    m->paper = c->paper;
    m->constants = NULL;
    m->values = NULL;
    m->step = NULL;
    m->order = c->order;
    m->strong_order = fmin(base->strong_order, 1);
    m->strong_noncommuting = fmin(base->strong_noncommuting, 0.5);
    m->strong_additive = fmin(base->strong_additive, 1);
    m->strong_one_sided = 0;
    m->weak_order = 1;
    m->loose = false; /* the state is what is composed */
    snprintf(doc, sizeof doc, "%s composed to order %d: %zu of its steps, with shares of the increments in proportion.",
             base->name, c->order, c->count);
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    return m->program && m->name && m->doc;
}

/* Does the name end with - and the suffix? */
static bool ends_with(const char *name, const char *suffix, size_t size) {
    size_t n = strlen(name);
    return n > size + 1 && name[n - size - 1] == '-' && strncasecmp(name + n - size, suffix, size) == 0;
}

/* The length of the suffix or alias of c that a name ends with; 0: none. */
static size_t suffix_of(const char *name, const struct lgv_composition *c) {
    if (ends_with(name, c->suffix, strlen(c->suffix))) return strlen(c->suffix);
    for (const char *a = c->aliases; *a;) {
        size_t size = strcspn(a, " ");
        if (ends_with(name, a, size)) return size;
        a += size + (a[size] == ' ');
    }
    return 0;
}

/* NAME-SUFFIX; *base is NULL when NAME is no method. */
static const struct lgv_composition *split(const struct lgv_model *m, const char *name,
                                           const struct lgv_method **base) {
    for (size_t i = 0; i < lgv_composition_count; i++) {
        size_t tail = suffix_of(name, &lgv_compositions[i]);
        if (!tail) continue;
        char *first = lgv_copy_n(name, strlen(name) - tail - 1);
        *base = !first ? NULL : m ? lgv_method_for(m, first) : lgv_method_find(first);
        free(first);
        return &lgv_compositions[i];
    }
    return NULL;
}

bool lgv_compose_takes(const struct lgv_method *base) {
    return base && base->symmetric && base->order == 2 && !base->bath && !base->compensated;
}

static const struct lgv_method *find_composition(const char *name) {
    const struct lgv_method *base, *found = NULL;
    const struct lgv_composition *c = split(NULL, name, &base);
    if (!c || !lgv_compose_takes(base)) return NULL;
    struct lgv_text whole = {0};
    lgv_text_add(&whole, "%s-%s", base->name, c->suffix);
    const void *what[] = {base, c};
    if (!whole.failed) found = lgv_method_keep(whole.data, fill_composition, what);
    lgv_text_free(&whole);
    return found;
}

struct lgv_method *lgv_compose_describe(const struct lgv_method *base, const struct lgv_composition *c) {
    struct lgv_method *m = lgv_new(1, sizeof *m);
    struct lgv_text whole = {0};
    const void *what[] = {base, c};
    lgv_text_add(&whole, "%s-%s", base->name, c->suffix);
    bool made = m && !whole.failed && fill_composition(whole.data, what, m);
    lgv_text_free(&whole);
    if (made) return m;
    lgv_method_free(m);
    return NULL;
}

const struct lgv_method *lgv_compose_among(struct lgv_method *const *list, size_t count, const char *name) {
    for (size_t k = 0; k < count; k++) {
        const char *base = list[k]->program->step[0]->name;
        const struct lgv_composition *c = &lgv_compositions[k % lgv_composition_count];
        size_t tail = suffix_of(name, c), size = strlen(base);
        if (tail && strlen(name) == size + 1 + tail && strncasecmp(name, base, size) == 0) return list[k];
    }
    return NULL;
}

/* ---- words ---- */

/* What all words of drifts and kicks have in common. */
static void describe_word(struct lgv_method *m, struct lgv_program *p) {
    *m = lgv_method_composed;
    m->program = p;
    m->family = "splitting";
    m->aliases = "";
    m->needs = LGV_NEEDS_SEPARABLE;
    m->explicit_separable = true;
    lgv_word_letters(m);
    m->strong_order = m->strong_additive = m->weak_order = 1;
    m->strong_noncommuting = 0.5;
    m->symplectic = m->linear_momentum_maps = true;
    m->forced = true;
    m->claims = "Symplectic; keeps momentum maps of symmetries that act linearly on the coordinates or shift them.";
}

/* Lie group methods are words. */
static const struct {
    const char *word, *names;
} aliases[] = {
    {"BAB", "LieVerlet"}, {"BRB", "LieVerlet-cay"}, {"BXB", "LieVerlet-exp"}, {"BTB", "LieVerlet-turns"},
    {"BA", "LieEuler"},   {"BX", "LieEuler-exp"},   {"BT", "LieEuler-turns"}, {"BCB", "LiePoisson-cay"},
    {"BEB", "LiePoisson-exp"}, {"BR", "LieEuler-cay LieEuler-spatial"},
};

/* The words for its letter of free motion. */
static const char *free_motion(const struct lgv_program *p) {
    for (size_t j = 0; p && j < p->steps; j++)
        if (p->step[j]->doc) return p->step[j]->doc;
    return "drifts (A: q moves by K_p)";
}

bool lgv_word_fill(const char *name, const void *what, struct lgv_method *m) {
    char doc[300];
    (void)what;
    describe_word(m, lgv_word_spell(name));
    m->paper = "splittings of separable Hamiltonians: Strang (1968), doi 10.1137/0705041";
    m->symmetric = lgv_word_symmetric(name, strlen(name));
    m->order = m->symmetric ? 2 : 1;
    if (!m->symmetric) m->needs |= LGV_NEEDS_NOISE_OF_Q; /* the middle of a Stratonovich integral must be met */
    snprintf(doc, sizeof doc,
             "Splitting word of %s and kicks (B: p moves by -K_q), each letter with the same share of the step.%s",
             free_motion(m->program),
             strcmp(name, "BAB") == 0   ? " The same map as P2N2Q2Lob on separable models; Lie-Verlet with rotations."
             : strcmp(name, "ABA") == 0 ? " Position Verlet."
             : strcmp(name, "BR") == 0  ? " Stochastic variational Euler with rotations; LieEuler-spatial, its form "
                                          "in space, is the same map on SO(3)."
                                        : "");
    for (size_t k = 0; k < sizeof aliases / sizeof *aliases; k++)
        if (strcmp(aliases[k].word, name) == 0) m->aliases = aliases[k].names;
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    return m->program && m->name && m->doc;
}

/* ---- words with widths of their own ---- */

static struct lgv_program *weigh(const struct lgv_splitting *s) {
    enum { DRIFT, KICK };
    size_t n = s->drifts + s->kicks, used[2] = {0, 0};
    struct lgv_program *p = lgv_program_new(n, 2);
    double width[2][MOST_WIDTHS], from = 0;
    if (!p) return NULL;
    p->step[DRIFT] = &lgv_letter_drift;
    p->step[KICK] = &lgv_letter_kick;
    lgv_palindrome(s->a, s->drifts, width[DRIFT]);
    lgv_palindrome(s->b, s->kicks, width[KICK]);
    for (size_t k = 0; k < n; k++) {
        size_t i = (k + (s->first == 'B')) % 2;
        double w = width[i][used[i]++];
        p->substep[k] = (struct lgv_substep){.step = i, .from = from, .width = w};
        if (i == DRIFT) from += w;
    }
    if (p->substep[n - 1].step == KICK) p->substep[n - 1].from = 1; /* to the bit, as in repeat */
    lgv_program_link(p);
    return p;
}

static bool fill_splitting(const char *name, const void *what, struct lgv_method *m) {
    const struct lgv_splitting *s = what;
    char doc[300];
    describe_word(m, weigh(s));
    m->paper = s->paper;
    m->aliases = s->aliases;
    m->needs |= s->nystrom ? LGV_NEEDS_FLAT : LGV_NEEDS_STEADY_KINETIC;
    m->symmetric = true;
    m->order = s->order;
    snprintf(doc, sizeof doc, "Splitting of order %d, %s: %zu force evaluations a step.", s->order, s->what,
             s->first == 'A' ? s->kicks : s->kicks - 1);
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    return m->program && m->name && m->doc;
}

static const struct lgv_splitting *splitting_of(const char *name) {
    for (size_t i = 0; i < lgv_splitting_count; i++)
        if (strcasecmp(lgv_splittings[i].name, name) == 0) return &lgv_splittings[i];
    return NULL;
}

const struct lgv_method *lgv_compose_find(const char *name) {
    const struct lgv_splitting *s = splitting_of(name);
    const struct lgv_method *word = lgv_word_find(name);
    if (word) return word;
    const struct lgv_method *magnus = lgv_magnus_find(name);
    if (magnus) return magnus;
    return s ? lgv_method_keep(s->name, fill_splitting, s) : find_composition(name);
}

/* The method of order 2 with the same terms that is symmetric; NULL: there is none with a name. */
static const char *symmetric_relative(const char *name) {
    static const char *const pair[][2] = {
        {"P1N1Q1Rec", "P2N2Q2Lob"}, {"SVE", "RATTLE"}, {"VE", "RATTLE"}, {"VE-adjoint", "RATTLE"}, {"ZSEuler", "ZS"}};
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        size_t n = strlen(pair[i][0]);
        if (strncmp(name, pair[i][0], n) == 0 && (!name[n] || name[n] == '(')) return pair[i][1];
    }
    return NULL;
}

static void explain_symmetry(const char *suffix, const char *base, char *why, size_t size) {
    const char *other = symmetric_relative(base), *beta = other ? strchr(base, '(') : NULL;
    int used = snprintf(why, size, "-%s composes methods that are symmetric in time, and %s is not", suffix, base);
    if (!other || used < 0 || (size_t)used >= size) return;
    snprintf(why + used, size - (size_t)used, ", but %s%s is: %s%s-%s", other, beta ? beta : "", other,
             beta ? beta : "", suffix);
}

void lgv_compose_explain(const struct lgv_model *m, const char *name, char *why, size_t size) {
    const struct lgv_method *base;
    const struct lgv_composition *c = split(m, name, &base);
    lgv_word_explain(name, why, size);
    lgv_magnus_explain(name, why, size);
    if (!c || lgv_compose_takes(base)) return;
    if (!base) {
        snprintf(why, size, "what -%s composes is not a method", c->suffix);
    } else if (base->compensated) {
        snprintf(why, size, "-Compensated stands at the end, behind -%s", c->suffix);
    } else if (!base->symmetric) {
        explain_symmetry(c->suffix, base->name, why, size);
    } else if (base->bath) {
        snprintf(why, size, "-%s has substeps that go back in time, which no bath does", c->suffix);
    } else {
        snprintf(why, size, "-%s composes methods of order 2, and %s has order %g", c->suffix, base->name, base->order);
    }
}
