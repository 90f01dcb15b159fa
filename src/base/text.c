/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Growing text, numbers with their errors, and the nearest known word. */
#include "base/base.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Room for `more` bytes and the NUL. */
static bool text_reserve(struct lgv_text *t, size_t more) {
    size_t need;
    if (t->failed) return false;
    if (__builtin_add_overflow(t->size, more, &need) || __builtin_add_overflow(need, (size_t)1, &need) ||
        !lgv_grow(&t->data, &t->capacity, need, 1))
        t->failed = true;
    return !t->failed;
}

void lgv_text_append(struct lgv_text *t, const char *data, size_t size) {
    if (!text_reserve(t, size)) return;
    if (size) memcpy(t->data + t->size, data, size);
    t->size += size;
    t->data[t->size] = '\0';
}

void lgv_text_add(struct lgv_text *t, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    char small[512]; /* most texts are short: one pass of printf */
    int n = vsnprintf(small, sizeof small, format, args);
    if (n < 0) {
        t->failed = true;
    } else if ((size_t)n < sizeof small) {
        lgv_text_append(t, small, (size_t)n);
    } else if (text_reserve(t, (size_t)n)) {
        vsnprintf(t->data + t->size, (size_t)n + 1, format, again);
        t->size += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

void lgv_text_free(struct lgv_text *t) {
    free(t->data);
    *t = (struct lgv_text){0};
}

/* Decimal exponent of x once it is rounded to two digits: 0.0996 is 1.0e-1. */
static int exponent_of(double x) {
    char two[16];
    snprintf(two, sizeof two, "%.1e", x);
    return atoi(strchr(two, 'e') + 1);
}

#define MOST_DIGITS 11 /* beyond, the error is round-off, and zeros up to its place say nothing */

const char *lgv_text_with_error(char *out, size_t size, double value, double error) {
    bool known = error > 0 && isfinite(error);
    int low = known ? exponent_of(error) - 1 : 0; /* place of the second digit of the error */
    int high = known && isfinite(value) ? exponent_of(fmax(fabs(value), error)) : 0;
    int power = high < 7 && low >= -6 ? 0 : high; /* 0: written out; else both numbers have this power of ten */
    double tens = pow(10, power), place = pow(10, low);
    if (!isfinite(value)) {
        snprintf(out, size, "n/a");
    } else if (!known) {
        snprintf(out, size, error >= 0 && error <= 0 ? "%.6g ± 0" : "%.6g", value);
    } else if (high - low >= MOST_DIGITS || abs(high) > 290 || abs(low) > 290) {
        snprintf(out, size, "%.10g ± %.2g", value, error);
    } else {
        int digits = power > low ? power - low : 0;
        if (low > power) value = place * round(value / place), error = place * round(error / place);
        if (fabs(value) < 0.5 * place) value = 0; /* not -0.0 */
        snprintf(out, size, power ? "(%.*f ± %.*f)e%d" : "%.*f ± %.*f", digits, value / tens, digits, error / tens,
                 power);
    }
    return out;
}

enum { NEAREST_LENGTH = 64 }; /* longer words are no misspelt names */

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Levenshtein distance d(i,j) = min(d(i-1,j) + 1, d(i,j-1) + 1, d(i-1,j-1) + [a_i != b_j]), a swap of neighbours
 * counting as one edit and the case of letters as none. */
static size_t edit_distance(const char *a, size_t na, const char *b, size_t nb) {
    size_t row[3][NEAREST_LENGTH + 1];
    for (size_t j = 0; j <= nb; j++) row[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            now[j] = smaller(smaller(last[j], now[j - 1]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && y == tolower((unsigned char)a[i - 2]))
                now[j] = smaller(now[j], before[j - 2] + 1);
        }
    }
    return row[na % 3][nb];
}

/* What other programs call options of a run and keys of a model: nearer than any misspelling. */
static const char *const elsewhere[][2] = {
    {"dt", "step"},         {"timestep", "step"},      {"time_step", "step"},     {"stepsize", "step"},
    {"tmax", "until"},      {"t_max", "until"},        {"t_end", "until"},        {"tend", "until"},
    {"t", "until"},         {"end", "until"},          {"steps", "until"},        {"nsteps", "until"},
    {"n", "paths"},         {"samples", "paths"},      {"trajectories", "paths"}, {"realizations", "paths"},
    {"h", "hamiltonian"},   {"energy", "hamiltonian"}, {"l", "lagrangian"},       {"v", "potential"},
    {"u", "potential"},     {"k", "kinetic"},          {"mass", "kinetic"},       {"masses", "kinetic"},
    {"q", "coordinates"},   {"positions", "coordinates"}, {"p", "momenta"},       {"params", "parameters"},
    {"constants", "parameters"}, {"bath", "langevin"}, {"thermostat", "langevin"}, {"friction", "langevin"},
    {"temperature", "langevin"}, {"observables", "observe"}, {"output", "observe"}, {"integrator", "method"},
    {"solver", "method"},   {"scheme", "method"},      {"diffusion", "noise"},
};

static const char *synonym(const char *word, const char *const *known, size_t count) {
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        for (size_t k = 0; k < count && strcasecmp(word, elsewhere[i][0]) == 0; k++)
            if (known[k] && strcmp(known[k], elsewhere[i][1]) == 0) return known[k];
    return NULL;
}

const char *lgv_nearest(const char *word, const char *const *known, size_t count) {
    size_t length = strlen(word);
    const char *same = synonym(word, known, count);
    if (same) return same;
    if (length == 0 || length > NEAREST_LENGTH) return NULL;
    /* Three edits turn any three letters into any other three, so short words must agree better. */
    size_t best = smaller(3, 1 + length / 3) + 1;
    const char *nearest = NULL;
    for (size_t k = 0; k < count; k++) {
        size_t n = known[k] ? strlen(known[k]) : 0;
        if (n == 0 || n > NEAREST_LENGTH) continue;
        size_t d = edit_distance(word, length, known[k], n);
        if (d < best && d < n && d < length) {
            best = d;
            nearest = known[k];
        }
    }
    return nearest;
}
