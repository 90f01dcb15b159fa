/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods for stiff potentials have a number beta in their names: ZS(0.3) is the method of Zhang & Skeel with beta =
 * 0.3, ZS alone has the usual 0.4.  All that holds of one holds of the others, and a comparison can have several. */
#include "method/beta.h"
#include "base/base.h"
#include "method/compose.h"
#include "method/rules.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern const struct lgv_method lgv_method_zs, lgv_method_zss, lgv_method_stiff_zss, lgv_method_newmark,
    lgv_method_push_newmark, lgv_method_one_step_newmark;

#define USUAL "0.4" /* of the experiments of Tao & Owhadi (2016); the limit of stability is 1/4 */
#define LARGEST 1000

static const struct lgv_method *const bases[] = {&lgv_method_zs,      &lgv_method_zss,
                                                 &lgv_method_stiff_zss, &lgv_method_newmark,
                                                 &lgv_method_push_newmark, &lgv_method_one_step_newmark};

static bool is_name(const char *list, const char *name, size_t size) {
    for (const char *a = list; *a;) {
        size_t n = strcspn(a, " ");
        if (n == size && strncasecmp(a, name, n) == 0) return true;
        a += n + (a[n] == ' ');
    }
    return false;
}

static const struct lgv_method *base_of(const char *name, size_t size) {
    for (size_t k = 0; k < sizeof bases / sizeof *bases; k++)
        if (is_name(bases[k]->name, name, size) || is_name(bases[k]->aliases, name, size)) return bases[k];
    return NULL;
}

/* The name in front of the parenthesis, and the number inside; NaN: there is none. */
static const struct lgv_method *split(const char *name, double *beta) {
    size_t size = strcspn(name, "("), all = strlen(name);
    const struct lgv_method *base = base_of(name, size);
    char *end = NULL;
    *beta = NAN;
    if (!base) return NULL;
    if (size == all) {
        *beta = strtod(USUAL, NULL);
    } else if (name[all - 1] == ')' && strchr("0123456789.-+", name[size + 1])) {
        *beta = strtod(name + size + 1, &end);
        if (end != name + all - 1) *beta = NAN;
    } else if (!strchr(name, ')') || strcspn(name, ")") == all - 1) {
        return base;
    } else {
        return NULL; /* something follows: a composition of it */
    }
    return base;
}

static bool allowed(double beta) {
    return beta >= 0 && beta <= LARGEST;
}

struct chosen {
    const struct lgv_method *base;
    double beta;
};

static bool fill(const char *name, const void *what, struct lgv_method *m) {
    const struct chosen *of = what;
    struct lgv_text constants = {0};
    lgv_text_add(&constants, "%s#define STIFF_BETA %.17g\n", of->base->constants, of->beta);
    *m = *of->base;
    if (of->beta != strtod(USUAL, NULL)) m->aliases = "";
    m->name = lgv_copy(name);
    m->doc = lgv_copy(of->base->doc);
    m->constants = constants.data;
    return !constants.failed && m->name && m->doc;
}

/* The shortest decimal that is the number. */
static void write_number(double x, char *out, size_t size) {
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, size, "%.*g", digits, x);
        if (strtod(out, NULL) == x) return;
    }
}

const struct lgv_method *lgv_beta_find(const char *name) {
    struct chosen of = {0};
    char number[40], whole[80];
    of.base = split(name, &of.beta);
    if (!of.base || !allowed(of.beta)) return NULL;
    if (of.beta == 0) of.beta = 0; /* no -0 */
    write_number(of.beta, number, sizeof number);
    snprintf(whole, sizeof whole, "%s(%s)", of.base->name, number);
    return lgv_method_keep(whole, fill, &of);
}

void lgv_beta_explain(const char *name, char *why, size_t size) {
    double beta;
    const struct lgv_method *base = split(name, &beta);
    if (!base || allowed(beta)) return;
    if (beta < 0)
        snprintf(why, size, "beta must not be negative: M + beta dt^2 V'' would not be positive definite");
    else
        snprintf(why, size, "%s has a number beta from 0 to %d in parentheses, as in %s(%s)", base->name, LARGEST,
                 base->name, USUAL);
}
