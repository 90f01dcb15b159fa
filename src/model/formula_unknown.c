/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names that nobody has declared: what was meant.  A misspelt name, one of another program, or the short form of a
 * name of this model. */
#include "model/formula.h"
#include "model/formula_parser.h"
#include <string.h>

#define MOST 256 /* names that are compared */

struct advice {
    const char *names, *text; /* names: divided by blanks */
};

static const struct advice functions[] = {
    {"pow power", "a power is a^b"},
    {"fabs", "it is abs"},
    {"sgn signum", "it is sign"},
    {"arcsin arccos arctan arctan2", "they are asin, acos, atan and atan2"},
    {"log10 log2", "a logarithm to the base b is log(x)/log(b)"},
    {"sqr square", "a square is x^2"},
    {"cbrt", "write sign(x)*abs(x)^(1/3)"},
    {"ceil", "write -floor(-x)"},
    {"round", "write floor(x + 0.5)"},
    {"fmod rem remainder modulo", "the remainder of a/b is mod(a, b)"},
    {"sec csc cot sech csch coth", "write 1/cos(x), 1/sin(x), ... for it"},
    {"heaviside theta step unit_step", "a comparison is 1 where it holds and else 0: (x > 0)"},
    {"piecewise where select ifelse iif cond when", "write if(condition, a, b)"},
    {"length len magnitude", "the length of a vector is norm(x)"},
    {"vec vector array", "a vector is [a, b] or [a, b, c]"},
    {"diff grad gradient deriv derivative", "derivatives are taken by the program, where it needs them"},
    {"rand random randn gauss gaussian rnd", "random start values and parameters are normal(mean, std) or "
                                             "uniform(low, high), and noise in time stands under noise"},
    {"delta dirac", "a kick at one time is a tall and narrow function of t"},
    {"inverse inv transposed", "the inverse of a rotation R is transpose(R)"},
    {"det", "a rotation has the determinant 1"},
    {"euler quaternion rotvec", "these are forms of start values; formulas have entries, R.xx to R.zz"},
    {"interp interpolate spline lookup", "a table of points is a function of where: V(x): table(file.csv)"},
};

static const struct advice names[] = {
    {"dW dw dB", "a noise is given by its function h alone: what belongs to dW is -h_q and h_p"},
    {"dx dq dp dy", "a model is given by energies, not by equations: see lgv explain"},
    {"v vel velocity", "only models with a lagrangian have names for velocities; else write p/m"},
    {"maxwell Maxwell maxwell_boltzmann thermal boltzmann", "momenta at a temperature start as maxwellian"},
    {"PI Pi \u03c0", "it is pi"},
    {"inf infinity nan", "numbers are finite"},
};

static const char *advised(const struct advice *list, size_t count, const char *name) {
    const size_t size = strlen(name);
    for (size_t i = 0; i < count; i++)
        for (const char *s = list[i].names, *next; *s; s = next) {
            const size_t n = strcspn(s, " ");
            next = s + n + strspn(s + n, " ");
            if (n == size && strncmp(s, name, n) == 0) return list[i].text;
        }
    return NULL;
}

void lgv_parser_unknown_function(struct lgv_parser *p, size_t at, const char *name) {
    const char *known[MOST], *advice = advised(functions, sizeof functions / sizeof *functions, name);
    size_t n = 0;
    while (n < MOST && (known[n] = lgv_formula_function(n))) n++;
    const char *near = lgv_nearest(name, known, n);
    if (advice) lgv_parser_error(p, at, "unknown function %s; %s", name, advice);
    else lgv_parser_error(p, at, near ? "unknown function %s; did you mean %s?" : "unknown function %s", name, near);
}

/* xi, mu, xi_NAME and mu_NAME in `observe`. */
static bool of_bodies(const struct lgv_parser *p, const char *name) {
    return (strncmp(name, "xi", 2) == 0 || strncmp(name, "mu", 2) == 0) && (!name[2] || name[2] == '_') &&
           p->scope->allow & LGV_USES(LGV_MU);
}

/* What a model with rotations has in the place of a name, or NULL. */
static const char *about_rotations(const struct lgv_parser *p, size_t at, const char *name) {
    static const struct advice words[] = {
        {"omega Omega", "the angular velocity along the axes of a body is xi in observe; elsewhere it is I^-1 m"},
        {"xi mu", "it is known in observe; elsewhere the angular velocity is I^-1 m, or the velocity of a lagrangian"},
    };
    if (!p->g->nrotations || p->g->reduced) return NULL;
    if (strcmp(name, "T") == 0 && at && p->text[at - 1] == '^') return "R^T is written transpose(R), and R^T*x is x*R";
    return advised(words, p->scope->allow & LGV_USES(LGV_MU) ? 1 : 2, name);
}

/* p for p_x, the name that a momentum has by itself. */
static const char *begins_with(const struct lgv_scope *scope, const char *name) {
    const size_t n = strlen(name);
    for (size_t i = 0; i < scope->count; i++)
        if (strncmp(scope->symbol[i].name, name, n) == 0 && scope->symbol[i].name[n] == '_')
            return scope->symbol[i].name;
    return NULL;
}

void lgv_parser_unknown_name(struct lgv_parser *p, size_t at, const char *name) {
    const char *known[MOST], *function;
    size_t n = 0;
    for (size_t i = 0; i < p->scope->count && n < MOST - 56; i++) known[n++] = p->scope->symbol[i].name;
    for (size_t i = 0; (function = lgv_formula_function(i)); i++) {
        if (n < MOST) known[n++] = function;
        if (strcmp(function, name) == 0) {
            lgv_parser_error(p, at, "%s is a function: write %s(...)", name, name);
            return;
        }
    }
    snprintf(p->err->unknown, sizeof p->err->unknown, "%s", name);
    const char *turning = about_rotations(p, at, name);
    if (turning) {
        lgv_parser_error(p, at, "unknown name %s; %s", name, turning);
        return;
    }
    const char *advice = advised(names, sizeof names / sizeof *names, strncmp(name, "v_", 2) == 0 ? "v" : name);
    const char *near = begins_with(p->scope, name);
    if (near) advice = NULL; /* a name of this model says more */
    else near = lgv_nearest(name, known, n);
    if (of_bodies(p, name))
        lgv_parser_error(p, at, p->g->nrotations
                                    ? "unknown name %s; velocity and momentum of a body R are xi_R and mu_R"
                                    : "unknown name %s; xi and mu are those of rotations and bodies, and the model has "
                                      "none", name);
    else if (advice) lgv_parser_error(p, at, "unknown name %s; %s", name, advice);
    else if (near) lgv_parser_error(p, at, "unknown name %s; did you mean %s?", name, near);
    else lgv_parser_error(p, at, p->g->reduced
                                     ? "unknown name %s; the model has momenta alone: rotations and bodies need "
                                       "coordinates"
                                     : "unknown name %s", name);
}
