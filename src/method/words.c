/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Splittings of Langevin dynamics, by name:
 *
 *     BAOAB, OBABO, UBU, ...    words over A (drift), B (kick), O (Ornstein-Uhlenbeck flow of the bath) and U (drift
 *                               and bath together), each letter with the same share of the step
 *     g-BAOAB, g-BAB, ...       words without U on a constraint set: drifts are geodesic, by RATTLE without forces,
 *                               kicks and bath stay tangent; Leimkuhler & Matthews (2016), doi
 *                               10.1098/rspa.2016.0138.  g-BAB is RATTLE itself, g-BA variational Euler; g-BRB and
 *                               the like have other free motions of rotations between the multipliers
 *     g-SVE-Q, g-SVE-QI         variational Euler on a constraint set with friction and bath as forces, friction
 *                               explicit or implicit, as SVE-Q and SVE-QI have them without constraints
 *     NAME-GLA, NAME-GLA1       the geometric Langevin algorithm around a method NAME: O(1/2) NAME O(1/2), or NAME O;
 *                               Bou-Rabee & Owhadi (2010), doi 10.1137/090758842
 *
 *     NAME-Compensated          words of A and B, and splittings, with what is rounded off q and p carried along
 *     NAME-Metropolis           a symmetric one of these as a proposal that is accepted or not: stationary averages
 *                               have no bias from the step (methods/compose.c); with constraints every drift is
 *                               followed back, and rejected where it does not return (methods/vprk.c)
 *
 * With rotations A can be R, X or T (methods/rotate.c), C or E (methods/orbit.c), of order 2 and symmetric.
 *
 * Everything about a word is found from its letters.  All letters are exact flows, so a palindrome is symmetric and has
 * weak order 2.  A word x w with a palindrome w, or a rotation of one, is conjugate to the palindrome x(1/2) w x(1/2):
 * its weak order is 1.  Its stationary averages have a bias of order 2 too, of functions that are even in the momenta:
 * what kicks and drifts of half a step change in first order is odd, as is q.p, whose bias has order 1.  Only U knows
 * q and p of the bath together: with constant friction and no other noise palindromes with U have strong order 2,
 * others 1. */
#include "method/compose.h"
#include "base/base.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern const struct lgv_method lgv_method_composed, lgv_letter_drift, lgv_letter_kick, lgv_letter_bath,
    lgv_letter_flight, lgv_letter_cayley, lgv_letter_exponential, lgv_letter_turns, lgv_letter_orbit,
    lgv_letter_orbit_exponential;

const struct lgv_letter lgv_letters[] = {
    {'A', LGV_FLIES, &lgv_letter_drift},
    {'B', LGV_KICKS, &lgv_letter_kick},
    {'O', LGV_HEATS, &lgv_letter_bath},
    {'U', LGV_FLIES | LGV_HEATS, &lgv_letter_flight},
    {'R', LGV_FLIES | LGV_TURNS, &lgv_letter_cayley},
    {'X', LGV_FLIES | LGV_TURNS, &lgv_letter_exponential},
    {'T', LGV_FLIES | LGV_TURNS, &lgv_letter_turns},
    {'C', LGV_FLIES | LGV_TURNS, &lgv_letter_orbit},
    {'E', LGV_FLIES | LGV_TURNS, &lgv_letter_orbit_exponential},
};
#define LETTERS (sizeof lgv_letters / sizeof *lgv_letters)

int lgv_letter_of(char c) {
    for (size_t i = 0; i < LETTERS; i++)
        if (lgv_letters[i].name == toupper((unsigned char)c)) return (int)i;
    return -1;
}

/* How often each letter stands in a word; false when it has another one. */
static bool count_letters(const char *word, size_t count[LETTERS]) {
    for (size_t i = 0; i < LETTERS; i++) count[i] = 0;
    for (size_t k = 0; word[k]; k++) {
        int i = lgv_letter_of(word[k]);
        if (i < 0) return false;
        count[i]++;
    }
    return true;
}

/* How many kinds of letters of the word do that; *heats: in all, those that heat. */
static size_t kinds(const size_t count[LETTERS], int what, size_t *heats) {
    size_t n = 0;
    *heats = 0;
    for (size_t i = 0; i < LETTERS; i++) {
        n += count[i] && (lgv_letters[i].does & what);
        if (lgv_letters[i].does & LGV_HEATS) *heats += count[i];
    }
    return n;
}

/* Why a text of letters is not a word, or NULL. */
static const char *fault(const char *word, const size_t count[LETTERS]) {
    size_t heats, flights = kinds(count, LGV_FLIES, &heats), o = count[lgv_letter_of('O')];
    for (size_t k = 1; word[k]; k++)
        if (toupper((unsigned char)word[k]) == toupper((unsigned char)word[k - 1]))
            return "the same letter stands twice side by side, which is one step of it";
    if (strlen(word) > LGV_MOST_LETTERS) return "a word has " LGV_DIGITS(LGV_MOST_LETTERS) " letters at most";
    if (!count[lgv_letter_of('B')]) return "a word needs B, the kick by the force";
    if (!flights)
        return "a word needs A, the drift, or U, drift and bath together (R, X, T, C, E: rotations turn otherwise)";
    if (count[lgv_letter_of('U')] && (o || flights > 1))
        return "U is drift and bath together: a word has either U or A and O";
    return flights > 1 ? "a word has one kind of free motion: A, R, X, T, C or E" : NULL;
}

/* Letters only: looks like a word.  *bath: of a bath. */
static bool looks_like(const char *word, size_t count[LETTERS], bool *bath) {
    size_t heats;
    if (strlen(word) < 2 || !count_letters(word, count)) return false;
    kinds(count, LGV_HEATS, &heats);
    *bath = heats > 0;
    return true;
}

bool lgv_word_symmetric(const char *word, size_t n) {
    for (size_t i = 0; i < n / 2; i++)
        if (word[i] != word[n - 1 - i]) return false;
    return true;
}

/* Is some rotation of the word a palindrome, or a letter and a palindrome? */
static bool conjugate(const char *word) {
    size_t n = strlen(word);
    char turned[2 * LGV_MOST_LETTERS + 1];
    if (n > LGV_MOST_LETTERS) return false;
    for (size_t k = 0; k < n; k++) turned[k] = turned[n + k] = word[k];
    for (size_t k = 0; k < n; k++)
        if (lgv_word_symmetric(turned + k, n) || lgv_word_symmetric(turned + k + 1, n - 1)) return true;
    return false;
}

struct lgv_program *lgv_word_spell(const char *word) {
    size_t n = strlen(word), count[LETTERS], passed = 0, clock = 0, place[LETTERS], steps = 0;
    unsigned spans = 0;
    count_letters(word, count);
    for (size_t i = 0; i < LETTERS; i++) {
        place[i] = steps;
        steps += count[i] > 0;
        if (lgv_letters[i].does & LGV_FLIES) clock += count[i];
    }
    struct lgv_program *p = lgv_program_new(n, steps);
    if (!p) return NULL;
    for (size_t i = 0; i < LETTERS; i++)
        if (count[i]) p->step[place[i]] = lgv_letters[i].step;
    for (size_t k = 0; k < n; k++) {
        size_t i = (size_t)lgv_letter_of(word[k]);
        p->substep[k] = (struct lgv_substep){.step = place[i],
                                             .from = (double)passed / (double)clock,
                                             .width = 1.0 / (double)count[i],
                                             .span = spans};
        if (lgv_letters[i].does & LGV_FLIES) passed++;
        if (lgv_letters[i].does & LGV_HEATS) spans++;
    }
    lgv_program_link(p);
    return p;
}

/* What its letters ask for. */
void lgv_word_letters(struct lgv_method *m) {
    for (size_t j = 0; m->program && j < m->program->steps; j++) {
        const struct lgv_method *step = m->program->step[j];
        m->face_separable |= step->face_separable;
        m->needs |= step->needs;
        if (!step->explicit_separable) m->explicit_separable = false;
    }
    m->face_general = m->face_separable;
}

/* What all of them have in common. */
static void describe(struct lgv_method *m) {
    m->bath = m->needs_bath = true;
    m->contraction = LGV_CONTRACTS_EXACTLY;
    m->aliases = "";
    m->symplectic = m->quadratic_invariants = m->linear_momentum_maps = false;
    m->callbacks = NULL;
    m->step = NULL;
    m->constants = NULL;
    m->values = NULL;
    m->strong_noncommuting = 0.5;
    m->strong_one_sided = 0;
    m->weak_order = 1;
}

static bool fill_word(const char *name, const void *what, struct lgv_method *m) {
    char doc[400];
    size_t count[LETTERS];
    (void)what;
    count_letters(name, count);
    bool both = count[lgv_letter_of('U')] > 0;
    *m = lgv_method_composed;
    describe(m);
    m->program = lgv_word_spell(name);
    m->family = "Langevin splitting";
    m->paper = both ? "Zapatero (2017); Sanz-Serna & Zygalakis (2021), https://jmlr.org/papers/v22/21-0453.html"
                    : "Leimkuhler & Matthews (2013), doi 10.1093/amrx/abs010";
    m->needs = LGV_NEEDS_SEPARABLE | (both ? LGV_NEEDS_NOISE_OF_Q : 0);
    m->steady_bath = both;
    m->explicit_separable = true;
    lgv_word_letters(m);
    m->symmetric = lgv_word_symmetric(name, strlen(name));
    if (!m->symmetric) m->needs |= LGV_NEEDS_NOISE_OF_Q; /* the middle of a Stratonovich integral must be met */
    m->order = m->symmetric ? 2 : 1;
    m->strong_order = m->strong_additive = 1;
    m->bath_strong = both && m->symmetric ? 2 : 1;
    m->bath_weak = m->order;
    m->bias_order = conjugate(name) ? 2 : 1;
    m->bath_spans = (unsigned)(count[lgv_letter_of('O')] + count[lgv_letter_of('U')]);
    m->bath_f = both;
    m->forced = true;
    m->claims = "Its drifts and kicks are symplectic; the bath contracts phase volume by exactly "
                "exp(-tr(Gamma M^-1) dt).";
    snprintf(doc, sizeof doc,
             "Splitting word of %s and kicks (B), each letter with the same share of the step.%s%s",
             both ? "drift and bath together (U, exactly)" : "drifts (A), the exact flow of the bath (O)",
             strcmp(name, "BAOAB") == 0 ? " Positions of a harmonic oscillator have their exact stationary law." : "",
             m->bias_order > m->order ? " Conjugate to a symmetric word: stationary averages of functions even in the "
                                        "momenta have a bias of order 2."
                                      : "");
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    return m->program && m->name && m->doc;
}

/* ---- with constraints ---- */

/* A variational step with one more constant. */
static bool fill_variant(const char *name, const struct lgv_method *of, const char *constant, const char *doc,
                         struct lgv_method *m) {
    struct lgv_text constants = {0};
    *m = *of;
    lgv_text_add(&constants, "%s%s", constant, of->constants);
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    m->constants = constants.data;
    m->values = NULL;
    m->callbacks = NULL;
    m->step = NULL;
    return m->name && m->doc && !constants.failed;
}

/* The free motion of a letter, with multipliers. */
static bool fill_geodesic(const char *name, const void *what, struct lgv_method *m) {
    const struct lgv_method *rattle = ((const void *const *)what)[0], *letter = ((const void *const *)what)[1];
    struct lgv_text constants = {0};
    lgv_text_add(&constants, "#define VPRK_FREE 1\n");
    if (letter->constants) lgv_text_add(&constants, "%s#define VPRK_ROTATE ROTATE\n"
                                                     "#define VPRK_ROTATE_COUPLED ROTATE_COUPLED\n", letter->constants);
    bool ok = !constants.failed && fill_variant(name, rattle, constants.data,
                                                "RATTLE without forces: a letter of splitting words.", m);
    lgv_text_free(&constants);
    m->needs |= letter->needs;
    m->coupled = letter->coupled;
    m->breaks_body_axes = letter->breaks_body_axes;
    return ok;
}

static const struct lgv_method *geodesic_of(const struct lgv_method *letter) {
    const struct lgv_method *rattle = lgv_method_find("RATTLE");
    const void *what[] = {rattle, letter};
    char name[40];
    snprintf(name, sizeof name, "RATTLE without forces, %s", letter->name);
    return rattle ? lgv_method_keep(name, fill_geodesic, what) : NULL;
}

static bool flies(const struct lgv_method *step) {
    for (size_t i = 0; i < LETTERS; i++)
        if (lgv_letters[i].step == step) return lgv_letters[i].does & LGV_FLIES;
    return false;
}

/* The word with another drift. */
static bool fill_constrained(const char *name, const void *what, struct lgv_method *m) {
    const struct lgv_method *word = ((const void *const *)what)[0], *geodesic = ((const void *const *)what)[1];
    char doc[300];
    *m = *word;
    struct lgv_program *p = lgv_program_copy(word->program);
    for (size_t j = 0; p && j < p->steps; j++)
        if (flies(p->step[j])) p->step[j] = geodesic;
    m->program = p;
    m->aliases = "";
    m->constrained = m->kicks = true;
    m->explicit_separable = false;
    m->forced = true;
    m->callbacks = NULL;
    m->needs = LGV_NEEDS_NOISE_OF_Q | geodesic->needs;
    m->face_separable = m->face_general = geodesic->face_general;
    if (word->bath) {
        m->paper = "Leimkuhler & Matthews (2016), doi 10.1098/rspa.2016.0138";
        m->claims = "Its drifts and kicks are symplectic on the constraint set. The bath contracts the phase volume "
                    "there by exp(-n gamma dt) with n degrees of freedom where Gamma = gamma M, else by the factor of "
                    "its midpoint rule, which differs from that of tangential friction by O(dt^3).";
    } else {
        m->family = "variational";
        m->paper = "Bou-Rabee & Owhadi (2009), Stochastic variational integrators, doi 10.1093/imanum/drn018; Andersen "
                   "(1983), doi 10.1016/0021-9991(83)90014-1";
        m->claims = "Symplectic on the constraint set; keeps constraints and hidden constraints, and momentum maps of "
                    "symmetries that act linearly on the coordinates or shift them.";
    }
    snprintf(doc, sizeof doc,
             "%s on the constraint set: %s by RATTLE without forces, kicks%s stay tangent.", word->name,
             geodesic->needs & LGV_NEEDS_ROTATIONS ? "free motions" : "drifts",
             word->bath ? " and bath" : "");
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    return m->program && m->name && m->doc;
}

/* ---- friction as a force ---- */

static bool fill_drag(const char *name, const void *what, struct lgv_method *m) {
    const bool implicit = strlen(name) > strlen("g-SVE-Q");
    if (!fill_variant(name, what, implicit ? "#define VPRK_DRAG 2\n" : "#define VPRK_DRAG 1\n",
                      implicit ? "Variational Euler with friction and bath as forces, on the constraint set or with "
                                 "a Lagrangian whose masses vary, friction implicit: stable for any friction."
                               : "Variational Euler with friction and bath as forces, on the constraint set or with "
                                 "a Lagrangian whose masses vary, friction explicit.", m))
        return false;
    m->family = "Langevin";
    m->aliases = "";
    m->paper = "Bou-Rabee & Owhadi (2009), Stochastic variational integrators, doi 10.1093/imanum/drn018, with the "
               "constraints of SVE";
    m->symplectic = m->quadratic_invariants = m->linear_momentum_maps = false;
    m->bath = m->needs_drag = m->bath_f = true;
    m->coupled = !implicit;
    m->contraction = implicit ? LGV_CONTRACTS_IMPLICITLY : LGV_CONTRACTS_EXPLICITLY;
    m->friction_limit = implicit ? 0 : 2;
    m->order = m->weak_order = m->bath_strong = m->bath_weak = m->bias_order = 1;
    m->strong_order = m->strong_additive = 1;
    m->claims = implicit ? "Contracts the symplectic form of the constraint set by 1/(1 + dt gamma) where Gamma = "
                           "gamma M, with rotations at temperature 0 only; without friction it is variational Euler."
                         : "Contracts the symplectic form of the constraint set by 1 - dt gamma where Gamma = gamma "
                           "M, with rotations at temperature 0 only; without friction it is variational Euler.";
    return true;
}

static const struct lgv_method *find_drag(const char *name) {
    static const char *const names[] = {"g-SVE-Q", "g-SVE-QI"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct lgv_method *euler = strcasecmp(name, names[i]) == 0 ? lgv_method_find("SVE") : NULL;
        if (euler) return lgv_method_keep(names[i], fill_drag, euler);
    }
    return NULL;
}

/* g-WORD; *word is NULL when that is none. */
static bool split_constrained(const char *name, const struct lgv_method **word) {
    if (strncasecmp(name, "g-", 2) != 0) return false;
    size_t count[LETTERS];
    bool bath;
    *word = looks_like(name + 2, count, &bath) ? lgv_method_find(name + 2) : NULL;
    return true;
}

static const char *constrained_fault(const struct lgv_method *word) {
    if (!word) return "g- stands in front of a splitting word";
    if (strpbrk(word->name, "CE")) return "C and E move momenta along orbits, without multipliers: use A, R, X or T";
    return word->bath_f ? "U has no flow on a constraint set: use A and O" : NULL;
}

static const struct lgv_method *find_constrained(const struct lgv_method *word) {
    const struct lgv_method *found = NULL;
    const void *what[2] = {word, NULL};
    struct lgv_text whole = {0};
    for (size_t j = 0; j < word->program->steps; j++)
        if (flies(word->program->step[j])) what[1] = geodesic_of(word->program->step[j]);
    lgv_text_add(&whole, "g-%s", word->name);
    if (!whole.failed && what[1]) found = lgv_method_keep(whole.data, fill_constrained, what);
    lgv_text_free(&whole);
    return found;
}

/* ---- around a method ---- */

/* The substeps of NAME between O(1/2) and O(1/2), or in front of O. */
static struct lgv_program *surround(const struct lgv_method *base, bool strang) {
    const struct lgv_substep whole = {.width = 1}, *inner = base->program ? base->program->substep : &whole;
    size_t n = base->program ? base->program->count : 1, steps = base->program ? base->program->steps : 1;
    struct lgv_program *p = lgv_program_new(n + (strang ? 2 : 1), steps + 1);
    if (!p) return NULL;
    for (size_t j = 0; j < steps; j++) p->step[j] = base->program ? base->program->step[j] : base;
    p->step[steps] = &lgv_letter_bath;
    for (size_t k = 0; k < n; k++) p->substep[k + strang] = inner[k];
    if (strang) p->substep[0] = (struct lgv_substep){.step = steps, .width = 0.5};
    p->substep[p->count - 1] =
        (struct lgv_substep){.step = steps, .from = 1, .width = strang ? 0.5 : 1, .span = strang ? 1 : 0};
    lgv_program_link(p);
    return p;
}

static bool fill_gla(const char *name, const void *what, struct lgv_method *m) {
    const struct lgv_method *base = ((const void *const *)what)[0];
    bool strang = *(const bool *)((const void *const *)what)[1];
    char doc[300];
    *m = *base;
    describe(m);
    m->program = surround(base, strang);
    m->source = lgv_method_composed.source;
    m->family = "Langevin splitting";
    m->paper = "Bou-Rabee & Owhadi (2010), doi 10.1137/090758842";
    m->symmetric = base->symmetric && strang;
    m->order = fmin(base->order, strang ? 2 : 1);
    m->strong_order = fmin(base->strong_order, 1);
    m->strong_additive = fmin(base->strong_additive, 1);
    m->bath_strong = 1;
    m->bath_weak = m->order;
    m->bias_order = base->order; /* S O is conjugate to O(1/2) S O(1/2) */
    m->bath_spans = strang ? 2 : 1;
    m->loose = false;
    if (!base->symplectic) m->contraction = LGV_CONTRACTS_UNKNOWN;
    m->claims = base->constrained
                    ? "Its inner step keeps what it keeps without a bath. Where masses are constant the bath contracts "
                      "phase volume on n degrees of freedom by exp(-n gamma dt) if Gamma = gamma M, and without "
                      "constraints by exp(-tr(Gamma M^-1) dt); else by the factor of its midpoint rule."
                    : "Its inner step keeps what it keeps without a bath; the bath contracts phase volume by exactly "
                      "exp(-tr(Gamma M^-1) dt).";
    snprintf(doc, sizeof doc, "Geometric Langevin algorithm: %s %s the flow of the bath.", base->name,
             strang ? "between two halves of" : "followed by");
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    return m->program && m->name && m->doc;
}

static bool split_gla(const char *name, const struct lgv_method **base, bool *strang) {
    size_t n = strlen(name), tail = n > 4 && strcasecmp(name + n - 4, "-GLA") == 0    ? 4
                                    : n > 5 && strcasecmp(name + n - 5, "-GLA1") == 0 ? 5
                                                                                      : 0;
    if (!tail) return false;
    char *first = lgv_copy_n(name, n - tail);
    *base = first ? lgv_method_find(first) : NULL;
    *strang = tail == 4;
    free(first);
    return true;
}

static const char *gla_fault(const struct lgv_method *base) {
    if (!base) return "what GLA goes around is not a method";
    if (base->bath) return "GLA goes around a method that knows nothing of the bath";
    if (base->compensated) return "GLA goes around methods without compensated sums";
    if (!base->symplectic && !(base->carries_width && base->symmetric)) return "GLA goes around a symplectic method";
    if (base->uses_dz) return "GLA goes around methods that use no integrals of the noise beside dW";
    if (base->correction != 0 && !base->constrained) return "GLA goes around methods without a correction of H";
    return base->loose && base->constrained ? "GLA goes around methods that keep the hidden constraint" : NULL;
}

/* ---- accepted or not ---- */

static const char *metropolis_fault(const struct lgv_method *base) {
    if (!base) return "what -Metropolis goes around is not a method";
    if (!base->needs_bath) return "-Metropolis goes around a splitting of Langevin dynamics";
    if (base->metropolis) return "-Metropolis is there twice";
    if (base->bath_f) return "-Metropolis needs the heat of the bath apart: a word with O, not with U";
    if (base->constrained && !base->kicks)
        return "-Metropolis with constraints goes around RATTLE-GLA and words with g- in front";
    if (base->constrained && !base->program->step[base->program->substep[0].step]->heats)
        return "-Metropolis with constraints or implicit motions needs a word with O at its ends, as OBRBO: where a "
               "first drift leads nowhere, no noise would ever enter";
    if (base->constrained && strncmp(base->name, "g-", 2) == 0 && strchr(base->name, 'X'))
        return "-Metropolis needs free motions that always exist, and X loses bodies that turn far: use A, R or T";
    if (!base->constrained && !base->explicit_separable)
        return "-Metropolis goes around explicit steps, RATTLE-GLA and words such as OBRBO: of others nobody knows "
               "whether they have a solution and a way back";
    return base->symmetric ? NULL : "-Metropolis needs a method that is symmetric in time: only these are reversible";
}

/* A step of RATTLE that is NaN where there is no way back. */
static bool fill_checked(const char *name, const void *what, struct lgv_method *m) {
    return fill_variant(name, what, "#define VPRK_CHECKED 1\n", "RATTLE with its way back: a part of proposals.", m);
}

static const struct lgv_method *find_checked(const struct lgv_method *step) {
    struct lgv_text whole = {0};
    lgv_text_add(&whole, "%s, checked", step->name);
    const struct lgv_method *found = whole.failed ? NULL : lgv_method_keep(whole.data, fill_checked, step);
    lgv_text_free(&whole);
    return found;
}

struct proposal {
    const struct lgv_method *base, *checked[LGV_MOST_LETTERS]; /* for each step of its program, or NULL */
};

static bool fill_metropolis(const char *name, const void *what, struct lgv_method *m) {
    const struct proposal *of = what;
    const struct lgv_method *base = of->base;
    char doc[300];
    *m = *base;
    struct lgv_program *p = lgv_program_copy(base->program);
    for (size_t j = 0; p && j < p->steps; j++)
        if (of->checked[j]) p->step[j] = of->checked[j];
    m->program = p;
    m->constants = lgv_copy("#define METROPOLIS 1\n");
    m->metropolis = true;
    m->symmetric = false;
    m->face_separable |= LGV_FACE_H;
    m->face_general |= LGV_FACE_H;
    m->bath_strong = m->bath_weak = NAN;
    m->bias_order = INFINITY;
    m->contraction = LGV_CONTRACTS_UNKNOWN;
    m->claims = base->constrained ? "Keeps the law exp(-H/kT) on the constraint set, whatever the step."
                                  : "Keeps the law exp(-H/kT), whatever the step.";
    m->order = m->strong_order = m->strong_additive = m->strong_noncommuting = m->weak_order = NAN;
    if (base->constrained)
        m->paper = "Lelievre, Rousset & Stoltz (2019), doi 10.1007/s00211-019-01056-4; Zappa, Holmes-Cerfon & Goodman "
                   "(2018), doi 10.1002/cpa.21783";
    snprintf(doc, sizeof doc, "%s as a proposal that is accepted or not%s; where it is not, momenta are reversed.",
             base->name, base->constrained ? ", and not where its drifts have no solution or do not lead back" : "");
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    return m->program && m->name && m->doc && m->constants;
}

static const struct lgv_method *find_metropolis(const struct lgv_method *base) {
    struct proposal of = {.base = base};
    const struct lgv_method *found = NULL;
    struct lgv_text whole = {0};
    bool ok = base->program->steps <= LGV_MOST_LETTERS;
    for (size_t j = 0; ok && j < base->program->steps; j++) {
        const struct lgv_method *step = base->program->step[j];
        if (step->constrained) ok = (of.checked[j] = find_checked(step)) != NULL;
    }
    lgv_text_add(&whole, "%s-Metropolis", base->name);
    if (ok && !whole.failed) found = lgv_method_keep(whole.data, fill_metropolis, &of);
    lgv_text_free(&whole);
    return found;
}

static bool split_suffix(const char *name, const char *suffix, const struct lgv_method **base) {
    size_t n = strlen(name), tail = strlen(suffix);
    if (n <= tail || strcasecmp(name + n - tail, suffix) != 0) return false;
    char *first = lgv_copy_n(name, n - tail);
    *base = first ? lgv_method_find(first) : NULL;
    free(first);
    return true;
}

/* Of words with implicit motions the form that follows them back, as on a constraint set. */
static bool split_metropolis(const char *name, const struct lgv_method **base) {
    size_t count[LETTERS];
    bool bath;
    if (!split_suffix(name, "-Metropolis", base)) return false;
    if (*base && !(*base)->explicit_separable && looks_like((*base)->name, count, &bath) && !constrained_fault(*base))
        *base = find_constrained(*base);
    return true;
}

/* ---- compensated ---- */

static const char *compensated_fault(const struct lgv_method *base) {
    if (!base) return "what -Compensated goes around is not a method";
    if (base->compensated) return "-Compensated is there twice";
    for (size_t j = 0; base->program && j < base->program->steps; j++)
        if (base->program->step[j] != &lgv_letter_drift && base->program->step[j] != &lgv_letter_kick)
            return "-Compensated goes around words of A and B and splittings such as RKN8";
    return base->program ? NULL : "-Compensated goes around words of A and B and splittings such as RKN8";
}

static bool fill_compensated(const char *name, const void *what, struct lgv_method *m) {
    const struct lgv_method *base = what;
    char doc[300];
    *m = *base;
    m->program = lgv_program_copy(base->program);
    m->constants = lgv_copy("#define COMPENSATED 1\n");
    m->compensated = true;
    m->aliases = NULL;
    m->forced = false;
    m->callbacks = NULL;
    snprintf(doc, sizeof doc, "%s with compensated sums: what is rounded off q and p is not lost.", base->name);
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    return m->program && m->name && m->doc && m->constants;
}

static const struct lgv_method *find_compensated(const struct lgv_method *base) {
    struct lgv_text whole = {0};
    lgv_text_add(&whole, "%s-Compensated", base->name);
    const struct lgv_method *found = whole.failed ? NULL : lgv_method_keep(whole.data, fill_compensated, base);
    lgv_text_free(&whole);
    return found;
}

const struct lgv_method *lgv_word_find(const char *name) {
    size_t count[LETTERS];
    const struct lgv_method *base, *found = NULL;
    bool strang, bath;
    char word[LGV_MOST_LETTERS + 1];
    if (looks_like(name, count, &bath)) {
        if (fault(name, count)) return NULL;
        for (size_t k = 0; k <= strlen(name); k++) word[k] = (char)toupper((unsigned char)name[k]);
        return lgv_method_keep(word, bath ? fill_word : lgv_word_fill, NULL);
    }
    struct lgv_text whole = {0};
    if (split_metropolis(name, &base)) return metropolis_fault(base) ? NULL : find_metropolis(base);
    if (split_suffix(name, "-Compensated", &base)) return compensated_fault(base) ? NULL : find_compensated(base);
    if ((found = find_drag(name))) return found;
    if (!split_gla(name, &base, &strang))
        return split_constrained(name, &base) && !constrained_fault(base) ? find_constrained(base) : NULL;
    if (gla_fault(base)) return NULL;
    lgv_text_add(&whole, "%s-GLA%s", base->name, strang ? "" : "1");
    const void *what[] = {base, &strang};
    if (!whole.failed) found = lgv_method_keep(whole.data, fill_gla, what);
    lgv_text_free(&whole);
    return found;
}

void lgv_word_explain(const char *name, char *why, size_t size) {
    size_t count[LETTERS];
    const struct lgv_method *base;
    bool strang, bath;
    const char *reason = NULL;
    if (looks_like(name, count, &bath))
        reason = fault(name, count);
    else if (split_metropolis(name, &base))
        reason = metropolis_fault(base);
    else if (split_suffix(name, "-Compensated", &base))
        reason = compensated_fault(base);
    else if (split_gla(name, &base, &strang))
        reason = gla_fault(base);
    else if (split_constrained(name, &base))
        reason = constrained_fault(base);
    if (reason) snprintf(why, size, "%s", reason);
}
