/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files that write the text of a kernel share; private to generate*.c. */
#ifndef LGV_GENERATE_H
#define LGV_GENERATE_H

#include "kernel/emit.h"
#include "kernel/kernel.h"

struct lgv_source {
    struct lgv_model *m;
    struct lgv_graph *g;
    const struct lgv_structure *s;
    struct lgv_text out;
    struct lgv_function K;
    struct lgv_terms Hq;
    struct lgv_forces slots; /* their values have places in force.h, in this order */
    struct lgv_error err;
    bool constrained; /* the method is for constraints and Lagrangians */
    bool lagrangian;  /* the method works with L(q, v), not with H */
    bool sparse;      /* and with sparse constraints */
    bool large;       /* implicit nodes of many degrees of freedom: nystrom_large.h */
};

/* generate_steps.c: an embedded file; the text of a method. */
void lgv_generate_file(struct lgv_text *out, const char *name);
void lgv_generate_method(struct lgv_text *out, const struct lgv_method *method);

/* The head of a face function with this declarator; without the rest of it the function is absent. */
void lgv_generate_signature(struct lgv_source *s, const char *text);
void lgv_generate_absent(struct lgv_source *s);

/* generate_constraints.c: constraints and the Lagrangian side of the face.  Sizes first, before face.h. */
void lgv_generate_constraint_sizes(struct lgv_source *s);
void lgv_generate_constraints(struct lgv_source *s);

/* generate_sparse.c.  The array `name`: for every instance of the terms, in the order of the text, its number among
 * `place`, the sorted pattern. */
bool lgv_generate_map(struct lgv_source *s, const char *name, const struct lgv_terms *terms,
                      const struct lgv_place *place, size_t count);
/* Newton's matrix of `sets` sets of unknowns in the Nystroem form; NULL when it is dense, or memory is out. */
struct lgv_newton;
struct lgv_newton *lgv_generate_newton_plan(struct lgv_source *s, unsigned sets);
void lgv_generate_newton(struct lgv_source *s, const struct lgv_newton *n); /* NULL: nothing */
void lgv_generate_newton_free(struct lgv_newton *n);

#endif
