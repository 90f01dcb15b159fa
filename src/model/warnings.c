/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is no mistake in a model, but hardly what was meant. */
#include "model/model.h"

#include <stdio.h>
#include <string.h>

#define ROUNDED 1e-12 /* of R^T R - 1: what is nearer to a rotation is one with all its digits */

/* The strength alone, as other programs want it, is a Hamiltonian without derivatives. */
static bool idle(const struct lgv_model *m, const struct lgv_noise *n) {
    const unsigned state = LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES(LGV_V);
    return !(m->graph->node[n->body].uses & state) && !(n->text && strcmp(n->text, "0") == 0); /* 0 is meant as none */
}

bool lgv_model_warning(const struct lgv_model *m, size_t number, char *out, size_t size) {
    const struct lgv_symbol *s;
    for (size_t k = 0; (s = lgv_model_unused(m, k, &k)); k++) {
        if (number-- > 0) continue;
        snprintf(out, size, "%s:%d:%d: %s is not used", m->file, s->line, s->column, s->name);
        return true;
    }
    for (size_t i = 0; m->graph && i < m->nentries; i++) {
        struct lgv_error at = {0};
        if (!idle(m, &m->noise[i]) || number-- > 0) continue;
        lgv_model_fail_at(&at, m, m->noise[i].at, "noise");
        snprintf(out, size, "%s:%d:%d: this noise depends on neither coordinates nor momenta, and moves nothing; a "
                 "random force s dW on a coordinate x is the noise s*x", m->file, at.line, at.column);
        return true;
    }
    const struct lgv_cutoff *c = &m->scope.cutoff;
    if (c->given && m->graph && !m->graph->ncuts && number-- == 0) {
        snprintf(out, size, "%s:%d:%d: no sum uses this cutoff: sum(...) counts all pairs, pairs(...) those within the "
                 "radius", m->file, c->line, c->column);
        return true;
    }
    if (number > 0 || !(m->projected > ROUNDED)) return false;
    snprintf(out, size, "%s:%d:%d: R^T R differs from 1 by %.2g: the matrix is made a rotation", m->file,
             m->projected_line, m->projected_column, m->projected);
    return true;
}
