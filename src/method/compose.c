/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods made of others (methods/compose.c), by name.
 *
 *     NAME-Yoshida4, NAME-Suzuki4, ...   a symmetric method NAME of order 2, composed to order 4: its steps with the
 *                                        widths g_1 .. g_n below, whose sum is 1 and whose sum of cubes vanishes
 *     BAB, ABA, ABABA, ...               a splitting word: letters A (drift) and B (kick), each with the same share of
 *                                        the step; symmetric words have order 2, others order 1
 *
 * What such a method needs, promises and keeps follows from its substeps. */
#include "method/compose.h"
#include "base/base.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern const struct lgv_method lgv_method_composed, lgv_letter_drift, lgv_letter_kick;

/* ---- tables ---- */

#define MOST_WIDTHS 5
#define YOSHIDA 1.3512071919596576340 /* 1 / (2 - 2^(1/3)) */
#define SUZUKI 0.41449077179437573714 /* 1 / (4 - 4^(1/3)) */

static const struct composition {
    const char *suffix, *paper;
    int order;
    int count;
    double width[MOST_WIDTHS];
} compositions[] = {
    {"Yoshida4", "Yoshida (1990), doi 10.1016/0375-9601(90)90092-3", 4, 3, {YOSHIDA, 1 - 2 * YOSHIDA, YOSHIDA}},
    {"Suzuki4",
     "Suzuki (1990), doi 10.1016/0375-9601(90)90962-N",
     4,
     5,
     {SUZUKI, SUZUKI, 1 - 4 * SUZUKI, SUZUKI, SUZUKI}},
};

/* A letter of a word. */
static const struct letter {
    char name;
    bool moves_time; /* the letters that let time pass */
    const struct lgv_method *step;
} letters[] = {
    {'A', true, &lgv_letter_drift},
    {'B', false, &lgv_letter_kick},
};
#define LETTERS (sizeof letters / sizeof *letters)

/* ---- programs ---- */

static unsigned moves(const struct lgv_method *m) {
    return m->moves ? m->moves : LGV_MOVES_Q | LGV_MOVES_P;
}

/* A substep has to begin unless its step was the last one to move q before it, or nothing has since that step came:
 * going back from substep k, round the end of the step before. */
static bool begins(const struct lgv_program *p, size_t k) {
    for (size_t back = 1; back <= p->count; back++) {
        size_t at = (k + p->count - back) % p->count;
        if (p->substep[at].step == p->substep[k].step) return false;
        if (moves(p->step[p->substep[at].step]) & LGV_MOVES_Q) return true;
    }
    return false;
}

static struct lgv_program *program_new(size_t substeps, size_t steps) {
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

void lgv_program_free(struct lgv_program *p) {
    if (!p) return;
    free(p->substep);
    free((void *)p->step);
    free(p);
}

/* ---- compositions ---- */

/* The substeps of the base again and again: a word has several, another method is one. */
static struct lgv_program *repeat(const struct lgv_method *base, const struct composition *c) {
    const struct lgv_substep whole = {.width = 1}, *substep = base->program ? base->program->substep : &whole;
    size_t substeps = base->program ? base->program->count : 1, steps = base->program ? base->program->steps : 1;
    struct lgv_program *p = program_new((size_t)c->count * substeps, steps);
    double from = 0;
    if (!p) return NULL;
    for (size_t j = 0; j < steps; j++) p->step[j] = base->program ? base->program->step[j] : base;
    for (size_t k = 0; k < p->count; k++) {
        double width = c->width[k / substeps];
        p->substep[k] = substep[k % substeps];
        p->substep[k].from = from + width * substep[k % substeps].from;
        p->substep[k].width = width * substep[k % substeps].width;
        if (k % substeps == substeps - 1) from += width;
    }
    for (size_t k = 0; k < p->count; k++) p->substep[k].begins = begins(p, k);
    return p;
}

/* The promises of NAME, but for the order: along a path that is linear in a step the composition follows the flow of
 * dt H + sum dW_m h_m, which is as good as commuting noises allow. */
static bool fill_composition(const char *name, const void *what, struct lgv_method *m) {
    const struct lgv_method *base = ((const void *const *)what)[0];
    const struct composition *c = ((const void *const *)what)[1];
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
    snprintf(doc, sizeof doc, "%s composed to order %d: %d of its steps, with shares of the increments in proportion.",
             base->name, c->order, c->count);
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    return m->program && m->name && m->doc;
}

/* NAME-SUFFIX; *base is NULL when NAME is no method. */
static const struct composition *split(const char *name, const struct lgv_method **base) {
    for (size_t i = 0; i < sizeof compositions / sizeof *compositions; i++) {
        const struct composition *c = &compositions[i];
        size_t n = strlen(name), tail = strlen(c->suffix) + 1;
        if (n <= tail || name[n - tail] != '-' || strcasecmp(name + n - tail + 1, c->suffix) != 0) continue;
        char *first = lgv_copy_n(name, n - tail);
        *base = first ? lgv_method_find(first) : NULL;
        free(first);
        return c;
    }
    return NULL;
}

static bool can_compose(const struct lgv_method *base) {
    return base && base->symmetric && base->order == 2;
}

static const struct lgv_method *find_composition(const char *name) {
    const struct lgv_method *base, *found = NULL;
    const struct composition *c = split(name, &base);
    if (!c || !can_compose(base)) return NULL;
    struct lgv_text whole = {0};
    lgv_text_add(&whole, "%s-%s", base->name, c->suffix);
    const void *what[] = {base, c};
    if (!whole.failed) found = lgv_method_keep(whole.data, fill_composition, what);
    lgv_text_free(&whole);
    return found;
}

/* ---- words ---- */

#define MOST_LETTERS 9

static int letter_of(char c) {
    for (size_t i = 0; i < LETTERS; i++)
        if (letters[i].name == toupper((unsigned char)c)) return (int)i;
    return -1;
}

/* The rule that a name breaks: NULL when it is a word, "" when it is not made of letters. */
static const char *word_fault(const char *name) {
    size_t n = strlen(name);
    bool seen[LETTERS] = {0}, twice = false;
    for (size_t k = 0; k < n; k++) {
        int i = letter_of(name[k]);
        if (i < 0) return "";
        seen[i] = true;
        twice = twice || (k > 0 && i == letter_of(name[k - 1]));
    }
    for (size_t i = 0; i < LETTERS; i++)
        if (!seen[i]) return n ? "a splitting word needs both drifts (A) and kicks (B)" : "";
    if (twice) return "neighbouring letters of a splitting word must differ";
    return n > MOST_LETTERS ? "a splitting word has at most " LGV_DIGITS(MOST_LETTERS) " letters" : NULL;
}

static bool is_palindrome(const char *word) {
    for (size_t i = 0, n = strlen(word); i < n / 2; i++)
        if (word[i] != word[n - 1 - i]) return false;
    return true;
}

static struct lgv_program *spell(const char *word) {
    size_t n = strlen(word), count[LETTERS] = {0}, passed = 0;
    struct lgv_program *p = program_new(n, LETTERS);
    if (!p) return NULL;
    for (size_t i = 0; i < LETTERS; i++) p->step[i] = letters[i].step;
    for (size_t k = 0; k < n; k++) count[letter_of(word[k])]++;
    for (size_t k = 0; k < n; k++) {
        size_t i = (size_t)letter_of(word[k]);
        double clock = (double)count[letter_of('A')];
        p->substep[k] =
            (struct lgv_substep){.step = i, .from = (double)passed / clock, .width = 1.0 / (double)count[i]};
        passed += letters[i].moves_time;
    }
    for (size_t k = 0; k < n; k++) p->substep[k].begins = begins(p, k);
    return p;
}

static bool fill_word(const char *name, const void *what, struct lgv_method *m) {
    char doc[300];
    (void)what;
    *m = lgv_method_composed;
    m->program = spell(name);
    m->family = "splitting";
    m->paper = "splittings of separable Hamiltonians: Strang (1968), doi 10.1137/0705041";
    m->aliases = "";
    m->needs = LGV_NEEDS_SEPARABLE;
    for (size_t i = 0; i < LETTERS; i++) m->face_separable |= letters[i].step->face_separable;
    m->face_general = m->face_separable;
    m->symmetric = is_palindrome(name);
    m->order = m->symmetric ? 2 : 1;
    m->strong_order = m->strong_additive = m->weak_order = 1;
    m->strong_noncommuting = 0.5;
    if (!m->symmetric) m->needs |= LGV_NEEDS_NOISE_OF_Q; /* the middle of a Stratonovich integral must be met */
    m->symplectic = m->explicit_separable = m->linear_momentum_maps = true;
    m->claims = "Symplectic; keeps momentum maps of symmetries that act linearly on the coordinates or shift them.";
    snprintf(doc, sizeof doc,
             "Splitting word of drifts (A: q moves by K_p) and kicks (B: p moves by -K_q), each letter with the same "
             "share of the step.%s",
             strcmp(name, "BAB") == 0   ? " The same map as P2N2Q2Lob on separable models."
             : strcmp(name, "ABA") == 0 ? " Position Verlet."
                                        : "");
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    return m->program && m->name && m->doc;
}

const struct lgv_method *lgv_compose_find(const char *name) {
    char word[MOST_LETTERS + 1];
    if (word_fault(name)) return find_composition(name);
    for (size_t k = 0; k <= strlen(name); k++) word[k] = (char)toupper((unsigned char)name[k]);
    return lgv_method_keep(word, fill_word, NULL);
}

void lgv_compose_explain(const char *name, char *why, size_t size) {
    const struct lgv_method *base;
    const struct composition *c = split(name, &base);
    if (c && can_compose(base)) return;
    if (!c) {
        const char *fault = word_fault(name);
        if (fault && *fault) snprintf(why, size, "%s", fault);
    } else if (!base) {
        snprintf(why, size, "what %s composes is not a method", c->suffix);
    } else if (!base->symmetric) {
        snprintf(why, size, "%s composes methods that are symmetric in time, and %s is not", c->suffix, base->name);
    } else {
        snprintf(why, size, "%s composes methods of order 2, and %s has order %g", c->suffix, base->name, base->order);
    }
}
