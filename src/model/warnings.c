/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is no mistake in a model, but hardly what was meant.  Every kind of warning counts *number down to its own. */
#include "model/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ROUNDED 1e-12 /* of R^T R - 1: what is nearer to a rotation is one with all its digits */

struct warning {
    size_t number; /* of warnings before the one that is wanted */
    char *out;
    size_t size;
};

/* True: this is the one. */
__attribute__((format(printf, 5, 6))) static bool warn(struct warning *w, const struct lgv_model *m, int line,
                                                       int column, const char *format, ...) {
    if (w->number-- > 0) return false;
    int used = snprintf(w->out, w->size, "%s:%d:%d: ", m->file, line, column);
    va_list list;
    va_start(list, format);
    if (used >= 0 && (size_t)used < w->size) vsnprintf(w->out + used, w->size - (size_t)used, format, list);
    va_end(list);
    return true;
}

static bool unused(struct warning *w, const struct lgv_model *m) {
    const struct lgv_symbol *s;
    for (size_t k = 0; (s = lgv_model_unused(m, k, &k)); k++)
        if (warn(w, m, s->line, s->column, "%s is not used", s->name)) return true;
    return false;
}

/* The strength alone, as other programs want it, is a Hamiltonian without derivatives. */
static bool idle(const struct lgv_model *m, const struct lgv_noise *n) {
    const unsigned state = LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES(LGV_V);
    return !(m->graph->node[n->body].uses & state) && !(n->text && strcmp(n->text, "0") == 0); /* 0 is meant as none */
}

static bool idle_noise(struct warning *w, const struct lgv_model *m) {
    for (size_t i = 0; m->graph && i < m->nentries; i++) {
        struct lgv_error at = {0};
        if (!idle(m, &m->noise[i])) continue;
        lgv_model_fail_at(&at, m, m->noise[i].at, "noise");
        if (warn(w, m, at.line, at.column, "this noise depends on neither coordinates nor momenta, and moves nothing; "
                 "a random force s dW on a coordinate x is the noise s*x"))
            return true;
    }
    return false;
}

static bool idle_cutoff(struct warning *w, const struct lgv_model *m) {
    const struct lgv_cutoff *c = &m->scope.cutoff;
    return c->given && m->graph && !m->graph->ncuts &&
           warn(w, m, c->line, c->column,
                "no sum uses this cutoff: sum(...) counts all pairs, pairs(...) those within the radius");
}

static bool turned(struct warning *w, const struct lgv_model *m) {
    return m->projected > ROUNDED && warn(w, m, m->projected_line, m->projected_column,
                                          "R^T R differs from 1 by %.2g: the matrix is made a rotation", m->projected);
}

static bool no_body(struct warning *w, struct lgv_model *m) {
    double I[3];
    return lgv_model_no_body(m, I) &&
           warn(w, m, m->line, m->column,
                "no rigid body has the moments of inertia %g, %g, %g that follow from this: none is larger than the "
                "sum of the other two", I[0], I[1], I[2]);
}

bool lgv_model_warning(struct lgv_model *m, size_t number, char *out, size_t size) {
    struct warning w = {number, out, size};
    return unused(&w, m) || idle_noise(&w, m) || idle_cutoff(&w, m) || turned(&w, m) || no_body(&w, m);
}
