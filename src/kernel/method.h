/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One description per method: what it is, what it needs of a model, what it promises.  The command line, the reference
 * page, the certificate and the refusals are all made from it. */
#ifndef LGV_METHOD_H
#define LGV_METHOD_H

#include "kernel/abi.h"
#include <stdbool.h>
#include <stddef.h>

/* Needs: what a model must have. */
enum {
    LGV_NEEDS_NO_NOISE = 1,
    LGV_NEEDS_NOISE_OF_Q = 2, /* every h is a function of q alone */
    LGV_NEEDS_SEPARABLE = 4,
    LGV_NEEDS_QUADRATIC_KINETIC = 16,
    LGV_NEEDS_ONE_NOISE = 32,     /* or additive noise, or every h a function of q alone, or every h of p alone */
    LGV_NEEDS_NO_TIME = 64,       /* no formula depends on t */
    LGV_NEEDS_CONSTRAINTS = 128,  /* and constant masses */
    LGV_NEEDS_SEPARABLE_NOISE = 8 /* every h is a function of q alone, or of the form A(p) + B(q) with H too */
};

/* Parts of the model's face that a kernel has to contain. */
enum { LGV_FACE_K1 = 1, LGV_FACE_K2 = 2, LGV_FACE_FORCE = 4, LGV_FACE_ITO = 8, LGV_FACE_TAYLOR = 16 };

struct lgv_method {
    const char *name, *aliases; /* aliases separated by spaces */
    const char *family, *paper, *doc;
    const char *source;    /* embedded file with the step */
    const char *constants; /* text put before the source (#define lines), or NULL */
    const double *values;  /* the same constants for the kernel compiled ahead of time, or NULL */
    unsigned needs;
    unsigned face_separable, face_general; /* for separable models and for all others */
    double order;                          /* without noise */
    double strong_order;                   /* one noise or commuting noises */
    double strong_noncommuting;
    double strong_additive;
    bool additive_quadratic; /* ... for H = p.M^-1 p/2 + U(q) with constant masses only, else as strong_order */
    double strong_one_sided; /* every h a function of q alone, or of p alone; 0: as strong_order */
    double weak_order;
    bool symplectic;
    bool explicit_separable, explicit_always;
    bool explicit_additive;    /* for separable models with additive noise or none */
    bool steady_kinetic;       /* the form for separable models needs a K_p that does not depend on t */
    bool flat_kinetic;         /* ... and constant K_pp */
    unsigned implicit_sets;    /* of NQ unknowns, in the form for separable models (nystrom.h); 0: none */
    bool surplus_momenta;      /* else it has more momenta than degrees, and finds them by inverting K_pp */
    bool quadratic_invariants; /* conserves momentum maps and other quadratic invariants exactly */
    bool linear_momentum_maps; /* conserves momentum maps linear in p (cotangent lifts) */
    bool uses_dz;
    bool constrained;   /* keeps constraints, and works with Lagrangians */
    bool kicks;         /* ... by kicks and one drift where masses are constant: only multipliers are implicit */
    double correction;  /* c of the term c dt sum_m grad h_m . M^-1 grad h_m added to the potential; 0 for none */
    double violation;   /* largest violation of the symplectic conditions, for methods given by a tableau; else 0 */
    const char *claims; /* one or two sentences: what is kept */
    const struct lgv_entry *callbacks; /* the same step compiled ahead of time for models given as C functions */
};

#define LGV_METHOD_AUTO "auto" /* not a method: the choice of one by the rule of choose.c */

/* The named methods, in order; NULL behind the last. */
extern const size_t lgv_method_count;
const struct lgv_method *lgv_method_at(size_t number);
/* By name or alias, letter case ignored; also any PsNrQu that makes sense.  NULL when unknown. */
const struct lgv_method *lgv_method_find(const char *name);
/* Why a name that looks like PsNrQu is none, or an empty text. */
void lgv_method_explain(const char *name, char *why, size_t size);

#endif
