/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files that write the text of a kernel share; private to generate*.c and face.c. */
#ifndef LGV_GENERATE_H
#define LGV_GENERATE_H

#include "kernel/emit.h"
#include "kernel/kernel.h"

/* Parts of the face that follow from the model and the kind of method, behind those that methods ask for. */
enum {
    LGV_FACE_BRACKETS = 1 << 15,    /* a Hamiltonian of brackets by itself */
    LGV_FACE_CONSTRAINTS = 1 << 16, /* the model has some */
    LGV_FACE_S2 = 1 << 17,          /* few enough coordinates for their dense second derivatives */
    LGV_FACE_BEND = 1 << 18,        /* one, and quadratic */
    LGV_FACE_VARIATIONAL = 1 << 19, /* the method is for constraints and Lagrangians: */
    LGV_FACE_MASS = 1 << 20,        /* it works with H and constant masses, */
    LGV_FACE_L = 1 << 21,           /* or with L(q, v) */
    LGV_FACE_NEWTON = 1 << 22,      /* implicit nodes of many degrees of freedom: nystrom_large.h */
    LGV_FACE_WATCH = 1 << 23,       /* start values and observables: every kernel */
    LGV_FACE_CONTROLS = 1 << 24,    /* martingale parts of observables */
    LGV_FACE_TALLIES = 1 << 25,     /* what is seen at every step */
    LGV_FACE_FRICTION = 1 << 26,    /* friction that is a function of q */
    LGV_FACE_PUSH = 1 << 27,        /* forces without a potential */
    LGV_FACE_EVENTS = 1 << 28,      /* margins of events */
    LGV_FACE_SECTIONS = 1 << 29,    /* Poincare sections, and what is seen there */
    LGV_FACE_MULTIPLIERS = 1 << 30  /* of constraints by penalty */
};

struct lgv_source {
    struct lgv_model *m;
    struct lgv_graph *g;
    const struct lgv_structure *s;
    const struct lgv_watch *watch;
    struct lgv_text out;
    struct lgv_function K, S, L; /* increments of H and L, sum of the constraints */
    const struct lgv_discrete *discrete; /* a discrete Lagrangian that is the method, or NULL */
    struct lgv_function H, V;    /* H, and what methods for stiff potentials take for stiff: H or a part of it */
    struct lgv_terms Hq, Vq; /* of the forces: H_q, or what V leaves of it; and V_q, where it is asked for */
    struct lgv_forces slots; /* their values have places in force.h, in this order */
    struct lgv_bracket_list brackets; /* with weights behind those of the noises, */
    struct lgv_function B;            /* or as a Hamiltonian of their own */
    size_t plain;                     /* summands of K in front of those that Newton's matrix leaves out; 0: none */
    struct lgv_newton *newton, *action, *pattern;
    struct lgv_terms kept[2]; /* of a function, found with what stands in front of it */
    long entries[2];          /* sparse: of G and of the masses */
    struct lgv_error err;     /* why there is no kernel; else graph->failed has it, or memory is out */
    unsigned face;            /* what is asked for, LGV_FACE_* */
    bool constrained;         /* the method is for constraints and Lagrangians */
    bool lagrangian;          /* the method works with L(q, v), not with H */
    bool sparse;              /* and with sparse constraints */
    bool longer;              /* stages of many coordinates and constraints: vprk_long.h */
    bool large;               /* implicit nodes by nystrom_large.h */
    unsigned few;             /* unknowns of these, where they are few enough for dense matrices; else 0 */
    bool stiff;               /* a method for stiff potentials: stiff.h */
};

/* generate_steps.c: an embedded file; the text of a method. */
void lgv_generate_file(struct lgv_text *out, const char *name);
void lgv_generate_method(struct lgv_text *out, const struct lgv_method *method);

/* ---- face.c ---- */

/* One function of the face. */
struct lgv_face_row {
    const char *name, *arguments;
    const char *counts; /* how c->evaluations changes by a call; NULL: it does not */
    unsigned only;      /* of the kernels that have it; 0: all, and models of C functions too */
    unsigned asked;     /* it has a body when this is asked for, else calling it traps */
    bool once;          /* compiled once, without much effort, when the model is large; else inlined */
    const char *opening; /* first lines, NULL: the parameters */
    void (*before)(struct lgv_source *s); /* writes what stands in front of it, or NULL */
    void (*body)(struct lgv_source *s);
};
const struct lgv_face_row *lgv_face_row(size_t number); /* NULL behind the last */
/* Writes the whole face; s->face has what the method asks for. */
void lgv_face_write(struct lgv_source *s);

/* ---- bodies: generate_model.c ---- */

void lgv_face_one(struct lgv_source *s, const char *array, const struct lgv_terms *terms, long rows, const char *cols);
void lgv_face_derivatives(struct lgv_source *s, const struct lgv_function *f, enum lgv_space other,
                          const char *const *name, size_t count);
void lgv_face_force(struct lgv_source *s);
void lgv_face_kick(struct lgv_source *s);
void lgv_face_K1(struct lgv_source *s);
void lgv_face_K2(struct lgv_source *s);
void lgv_face_brackets(struct lgv_source *s);
void lgv_face_ito(struct lgv_source *s);
void lgv_face_before_taylor(struct lgv_source *s);
void lgv_face_taylor(struct lgv_source *s);
void lgv_face_H(struct lgv_source *s);
void lgv_face_V3(struct lgv_source *s);
void lgv_face_start(struct lgv_source *s);
void lgv_face_before_observe(struct lgv_source *s);
void lgv_face_observe(struct lgv_source *s);
void lgv_face_watch(struct lgv_source *s);
void lgv_face_events(struct lgv_source *s);
void lgv_face_sections(struct lgv_source *s);
void lgv_face_crossing(struct lgv_source *s);
void lgv_face_martingale(struct lgv_source *s);
void lgv_face_friction(struct lgv_source *s);
void lgv_face_push(struct lgv_source *s);

/* ---- generate_constraints.c ---- */

void lgv_generate_constraint_sizes(struct lgv_source *s); /* before face.h */
void lgv_face_g(struct lgv_source *s);
void lgv_face_multipliers(struct lgv_source *s);
void lgv_face_gsize(struct lgv_source *s);
void lgv_face_GT(struct lgv_source *s);
void lgv_face_before_G(struct lgv_source *s);
void lgv_face_G(struct lgv_source *s);
void lgv_face_S2(struct lgv_source *s);
void lgv_face_before_bend(struct lgv_source *s);
void lgv_face_bend(struct lgv_source *s);
void lgv_face_mass(struct lgv_source *s);
void lgv_face_L1(struct lgv_source *s);
void lgv_face_L2(struct lgv_source *s);

/* ---- generate_sparse.c ---- */

/* The array `name`: for every instance of the terms, in the order of the text, its number among `place`, the sorted
 * pattern. */
bool lgv_generate_map(struct lgv_source *s, const char *name, const struct lgv_terms *terms,
                      const struct lgv_place *place, size_t count);
/* Newton's matrix of `sets` sets of unknowns, 1 + (multiples of f_pp f_qq): f[0] is differentiated with respect to q,
 * f[1] to p.  NULL when it is dense, or memory is out. */
struct lgv_newton;
struct lgv_newton *lgv_generate_newton_plan(struct lgv_source *s, const struct lgv_function *const f[2], unsigned sets);
/* The factor a round beyond which an iteration without matrices takes longer than Newton's method, whose factors take
 * so many operations. */
double lgv_generate_patience(double operations, double unknowns);
void lgv_generate_newton_free(struct lgv_newton *n);
/* The pattern of all second derivatives of f with respect to q and `other`, for systems of any sets of unknowns; NULL
 * when its factors are dense, or memory is out. */
struct lgv_newton *lgv_generate_pattern_plan(struct lgv_source *s, const struct lgv_function *f, enum lgv_space other);
/* The same for the Lagrangian, bordered by the Jacobian of the constraints: nodes behind the coordinates. */
struct lgv_newton *lgv_generate_border_plan(struct lgv_source *s);
void lgv_face_border(struct lgv_source *s);          /* G, entries of the border */
void lgv_face_pattern_bend(struct lgv_source *s);    /* S_qq, entries of the pattern */
void lgv_face_before_pattern(struct lgv_source *s);
void lgv_face_pattern(struct lgv_source *s, const struct lgv_function *f, enum lgv_space other,
                      const char *const *name);
void lgv_face_before_newton(struct lgv_source *s);
void lgv_face_newton(struct lgv_source *s);
void lgv_face_before_stiffness(struct lgv_source *s);
void lgv_face_stiffness(struct lgv_source *s);
void lgv_face_stiff(struct lgv_source *s);
/* The matrix of a discrete Lagrangian; NULL when it is dense, or memory is out. */
struct lgv_newton *lgv_generate_action_plan(struct lgv_source *s);
void lgv_face_before_action(struct lgv_source *s);
void lgv_face_action(struct lgv_source *s);

#endif
