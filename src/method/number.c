/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods with a number in their names: ZS(0.3) is the method of Zhang & Skeel with beta = 0.3, ZS alone has the
 * usual 0.4; Impulse(4) takes 4 inner steps.  All that holds of one holds of the others, and a comparison can have
 * several. */
#include "method/number.h"
#include "base/base.h"
#include "method/compose.h"
#include "method/rules.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern const struct lgv_method lgv_method_zs, lgv_method_zs_euler, lgv_method_zss, lgv_method_stiff_zss,
    lgv_method_newmark, lgv_method_push_newmark, lgv_method_one_step_newmark, lgv_method_impulse, lgv_method_molly;

/* A kind of number: how it is called, the usual one, what is allowed, and the macro that the text of a method knows it
 * by. */
struct number {
    const char *what, *usual, *macro;
    double least, largest;
    bool whole;
    const char *negative; /* why it must not be */
};
static const struct number beta = {
    .what = "number beta",
    .usual = "0.4", /* of the experiments of Tao & Owhadi (2016); the limit of stability is 1/4 */
    .macro = "STIFF_BETA",
    .largest = 1000,
    .negative = "beta must not be negative: M + beta dt^2 V'' would not be positive definite",
};
static const struct number inner = {
    .what = "whole number of inner steps", .usual = "8", .macro = "INNER_STEPS", .least = 1, .largest = 1000,
    .whole = true};

struct base {
    const struct lgv_method *method;
    const struct number *number;
};
static const struct base bases[] = {
    {&lgv_method_zs, &beta},        {&lgv_method_zs_euler, &beta},
    {&lgv_method_zss, &beta},       {&lgv_method_stiff_zss, &beta},
    {&lgv_method_newmark, &beta},   {&lgv_method_push_newmark, &beta},
    {&lgv_method_one_step_newmark, &beta},
    {&lgv_method_impulse, &inner},  {&lgv_method_molly, &inner},
};

static bool is_name(const char *list, const char *name, size_t size) {
    for (const char *a = list; *a;) {
        size_t n = strcspn(a, " ");
        if (n == size && strncasecmp(a, name, n) == 0) return true;
        a += n + (a[n] == ' ');
    }
    return false;
}

static const struct base *base_of(const char *name, size_t size) {
    for (size_t k = 0; k < sizeof bases / sizeof *bases; k++) {
        const struct lgv_method *m = bases[k].method;
        if (is_name(m->name, name, size) || is_name(m->aliases, name, size)) return &bases[k];
    }
    return NULL;
}

/* The name in front of the parenthesis, and the number inside; NaN: there is none. */
static const struct base *split(const char *name, double *value) {
    size_t size = strcspn(name, "("), all = strlen(name);
    const struct base *base = base_of(name, size);
    char *end = NULL;
    *value = NAN;
    if (!base) return NULL;
    if (size == all) {
        *value = strtod(base->number->usual, NULL);
    } else if (name[all - 1] == ')' && strchr("0123456789.-+", name[size + 1])) {
        *value = strtod(name + size + 1, &end);
        if (end != name + all - 1) *value = NAN;
    } else if (!strchr(name, ')') || strcspn(name, ")") == all - 1) {
        return base;
    } else {
        return NULL; /* something follows: a composition of it */
    }
    return base;
}

static bool allowed(const struct number *n, double x) {
    return x >= n->least && x <= n->largest && (!n->whole || x == floor(x));
}

struct chosen {
    const struct base *base;
    double value;
};

static bool fill(const char *name, const void *what, struct lgv_method *m) {
    const struct chosen *of = what;
    const struct lgv_method *base = of->base->method;
    const struct number *number = of->base->number;
    struct lgv_text constants = {0};
    lgv_text_add(&constants, "%s#define %s %.17g%s\n", base->constants, number->macro, of->value,
                 number->whole ? "L" : "");
    *m = *base;
    if (of->value != strtod(number->usual, NULL)) m->aliases = "";
    m->name = lgv_copy(name);
    m->doc = lgv_copy(base->doc);
    m->constants = constants.data;
    m->number = of->value;
    return !constants.failed && m->name && m->doc;
}

/* The shortest decimal that is the number, without an exponent where it is whole. */
static void write_number(double x, char *out, size_t size) {
    if (x == floor(x)) {
        snprintf(out, size, "%.0f", x);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, size, "%.*g", digits, x);
        if (strtod(out, NULL) == x) return;
    }
}

const struct lgv_method *lgv_number_find(const char *name) {
    struct chosen of = {0};
    char number[40], whole[80];
    of.base = split(name, &of.value);
    if (!of.base || !allowed(of.base->number, of.value)) return NULL;
    if (of.value == 0) of.value = 0; /* no -0 */
    write_number(of.value, number, sizeof number);
    snprintf(whole, sizeof whole, "%s(%s)", of.base->method->name, number);
    return lgv_method_keep(whole, fill, &of);
}

void lgv_number_explain(const char *name, char *why, size_t size) {
    double value;
    const struct base *base = split(name, &value);
    if (!base || allowed(base->number, value)) return;
    const struct number *n = base->number;
    if (value < 0 && n->negative)
        snprintf(why, size, "%s", n->negative);
    else
        snprintf(why, size, "%s has a %s from %g to %g in parentheses, as in %s(%s)", base->method->name, n->what,
                 n->least, n->largest, base->method->name, n->usual);
}
