/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The method stage, between models and kernels.  This is the header other stages include.
 *
 * One description per method: what it is, what it needs of a model, what it promises.  The command line, the reference
 * page, the certificate and the refusals are all made from it. */
#ifndef LGV_METHOD_H
#define LGV_METHOD_H

#include "model/model.h"
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
    LGV_NEEDS_FLAT = 256,           /* separable, with constant K_pp: H = p.M^-1 p/2 + U(q), and every h likewise */
    LGV_NEEDS_STEADY_KINETIC = 512, /* no derivative with respect to p depends on t */
    LGV_NEEDS_ROTATIONS = 1024,
    LGV_NEEDS_SPLIT = 2048,         /* a declared stiff part of the potential */
    LGV_NEEDS_QUADRATIC_STIFF = 4096, /* ... with constant second derivatives, and no term of first degree in p */
    LGV_NEEDS_SEPARABLE_NOISE = 8   /* every h is a function of q alone, or of the form A(p) + B(q) with H too */
};

/* Parts of the model's face that a kernel has to contain. */
enum {
    LGV_FACE_K1 = 1,
    LGV_FACE_K2 = 2,
    LGV_FACE_FORCE = 4,
    LGV_FACE_ITO = 8,
    LGV_FACE_TAYLOR = 16,
    LGV_FACE_H = 32, /* the value of H */
    LGV_FACE_V3 = 64, /* a . H_qqq . a, third derivatives */
    LGV_FACE_ACTION = 128,    /* derivatives of a discrete Lagrangian */
    LGV_FACE_STIFFNESS = 256, /* second derivatives of the potential, for M + beta dt^2 V'' */
    LGV_FACE_SPLIT = 512,     /* ... of its stiff part only */
    LGV_FACE_APART = 1024     /* forces of the stiff part and of the rest by themselves */
};

/* By what a mode of the bath with rate g is contracted in a step. */
enum lgv_contraction {
    LGV_CONTRACTS_UNKNOWN,
    LGV_CONTRACTS_EXACTLY,    /* exp(-g dt) */
    LGV_CONTRACTS_EXPLICITLY, /* 1 - g dt */
    LGV_CONTRACTS_IMPLICITLY, /* 1/(1 + g dt) */
    LGV_CONTRACTS_HALF        /* (1 - g dt/2)/(1 + g dt/2) */
};

/* What a step does to an oscillator q'' = -omega^2 q, with the number of the method: stability.c. */
enum lgv_linear {
    LGV_LINEAR_UNKNOWN,
    LGV_LINEAR_VERLET,    /* velocity Verlet with omega^2/(1 + number dt^2 omega^2) in the place of omega^2 */
    LGV_LINEAR_PULLED,    /* the same for (1 + number dt^2 omega^2) q in the place of q */
    LGV_LINEAR_SPLIT,     /* with a declared stiff part V1: M + number dt^2 V1'' in the place of M */
    LGV_LINEAR_IMPULSE,   /* ... kicks by V - V1 around as many inner steps as the number says; 0: the exact flow */
    LGV_LINEAR_MOLLIFIED, /* ... with V - V1 at the mean along these */
    LGV_LINEAR_FREE,      /* stable for any omega */
    LGV_LINEAR_RK4,
    LGV_LINEAR_TABLE      /* by its table: Galerkin methods */
};

struct lgv_entry; /* kernel/text/abi.h */
struct lgv_step;  /* kernel/text/face_callbacks.h */
struct lgv_method;

/* A method made of others: substeps that follow each other, each on its span of the step.  See methods/compose.c. */
struct lgv_substep {
    size_t step;        /* index of its step */
    double from, width; /* in units of the step */
    unsigned span;      /* number of its span of the bath's time */
    bool begins;        /* what its step carries does not hold here */
};
struct lgv_program {
    size_t count, steps;
    struct lgv_substep *substep;
    const struct lgv_method **step;
};

enum { LGV_MOVES_Q = 1, LGV_MOVES_P = 2 };

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
    unsigned implicit_sets;    /* of NP unknowns, in the form for separable models (nystrom.h); 0: none */
    bool patterned;            /* its equations can be solved along the pattern of second derivatives (pattern.h) */
    bool surplus_momenta;      /* else it has more momenta than degrees, and finds them by inverting K_pp */
    bool quadratic_invariants; /* conserves momentum maps and other quadratic invariants exactly */
    bool linear_momentum_maps; /* conserves momentum maps linear in p (cotangent lifts) */
    bool only_shifts;      /* ... of symmetries that shift coordinates only */
    bool breaks_body_axes; /* a letter: not those of rotations about an axis of a body */
    bool uses_dz;
    enum lgv_brackets brackets; /* with weights of their own, which makes every model one that is not separable */
    bool constrained;   /* keeps constraints, and works with Lagrangians */
    bool kicks;         /* ... by kicks and one drift where masses are constant: only multipliers are implicit */
    double correction;  /* c of the term c dt sum_m grad h_m . H_pp grad h_m added to H; 0 for none */
    const double *random; /* in the place of c random numbers k_ij/2 of mean c: correction_weights in text/face.h */
    double violation;   /* largest violation of the symplectic conditions, for methods given by a tableau; else 0 */
    double modified[3]; /* of dt^2 in the modified Hamiltonian (modified.c): all 0, none is known; the second NaN: for
                           separable H only */
    const char *claims; /* one or two sentences: what is kept */
    bool energy_law;    /* with additive noise the mean of H grows exactly as it does for the flow */
    bool loose;         /* its state is not what it shows: momenta that leave the hidden constraint, other variables */
    bool bath;           /* it knows friction and its noise (`langevin`); words with O or U cannot do without */
    bool needs_bath;
    bool needs_drag;     /* ... or at least forces: else it is a splitting word by another name */
    bool heats;          /* a letter: it exchanges heat with the bath */
    bool metropolis;     /* its steps are proposals, accepted or not */
    bool compensated;    /* what is rounded off q and p goes along, in 2 NP rows of the state */
    unsigned bath_spans; /* spans of the bath's time in a step, each with noise of its own; 0 counts as 1 */
    bool bath_f;         /* ... and with F beside E: src/kernel/bath.c */
    bool leaves_group;   /* it takes rotations for vectors */
    bool rotations;      /* it knows coordinates in SO(3); a method made of others does when all of them do */
    bool swings;         /* ... and noise that is linear in their momenta */
    bool coupled;        /* ... and bodies in SE(3) whose inertia couples position and rotation */
    bool coupled_implicit; /* ... by an equation, where the rest of the step is explicit */
    bool varies;         /* ... and any kinetic energy of them; variational methods: by their Lagrangian */
    bool maps;           /* ... by that alone: a map of the group has to be there, whatever the inertia */
    bool reduced;        /* ... and momenta alone, without these */
    bool curved;         /* ... and any H and noise of their momenta */
    bool forced;         /* it knows forces (`force`) */
    bool forced_ends;    /* variational methods: at the ends of the step, F(q, p, t) and variable masses too */
    bool steady_bath;    /* friction must be constant */
    double bath_strong, bath_weak; /* orders with a bath of constant friction and no other noise */
    enum lgv_contraction contraction; /* of the symplectic form by friction */
    double friction_limit; /* of g dt for a mode with rate g, beyond which it is unstable; 0: none */
    double bias_order;   /* of stationary averages in the step, with a bath alone; 0: not known */
    enum lgv_linear linear; /* what it does to an oscillator; of a method made of others its steps tell */
    double number;          /* in its name: ZS(0.3); see number.c */
    bool symmetric;     /* its adjoint is itself: it can be composed to higher order */
    unsigned moves;     /* LGV_MOVES_*; 0: both */
    const struct lgv_discrete *discrete; /* the step is that of a discrete Lagrangian of the model, else NULL */
    bool carries_width; /* what it carries depends on the width of the step too */
    const struct lgv_program *program; /* of a method made of others, else NULL */
    const struct lgv_step *step; /* the step alone, for methods made of it; NULL: there is none for C functions */
    const struct lgv_entry *callbacks; /* the same step compiled ahead of time for models given as C functions */
};

#define LGV_METHOD_AUTO "auto" /* not a method: the choice of one by the rule of choose.c */

/* ---- registry.c ---- */

/* The named methods, in order; NULL behind the last. */
extern const size_t lgv_method_count;
const struct lgv_method *lgv_method_at(size_t number);
/* By name or alias, letter case ignored; also any PsNrQu that makes sense.  NULL when unknown. */
const struct lgv_method *lgv_method_find(const char *name);
/* Steps of a symmetric method of order 2 one after the other: NAME-suffix, or an alias (separated by spaces).  The
 * error constant is the norm of the coefficients of the Lyndon words of weight order + 1, see compose_tables.c. */
struct lgv_composition {
    const char *suffix, *aliases, *paper;
    int order;
    size_t count;
    double error;
    const double *half; /* the first (count - 1) / 2 widths */
};
extern const struct lgv_composition lgv_compositions[];
extern const size_t lgv_composition_count;
/* Why a name that looks like PsNrQu or a composition is none, or an empty text.  m: a model whose methods count too, or
 * NULL. */
void lgv_method_explain(const struct lgv_model *m, const char *name, char *why, size_t size);

/* ---- file.c ---- */

/* A model file with the methods that it gives: lgv_model_read, and then these.  lgv_model_load, lgv_model_parse and
 * lgv_model_set go this way. */
enum lgv_status lgv_model_complete(const char *text, const char *file, const struct lgv_override *override,
                                   size_t count, struct lgv_model **out, struct lgv_error *err);

/* ---- fit.c, choose.c: methods and models ---- */

/* A method by name or alias: those of the model file first, then as lgv_method_find.  NULL when unknown. */
const struct lgv_method *lgv_method_for(const struct lgv_model *m, const char *name);
/* The named methods, then those of the model; NULL behind the last. */
const struct lgv_method *lgv_method_listed(const struct lgv_model *m, size_t number);
/* choose.c.  A method by name, or for "auto" the one that the rule below chooses for this model; *chosen (NULL allowed)
 * is then set to the reason, a constant text, and left alone for names.  LGV_BAD_INPUT for unknown names. */
enum lgv_status lgv_method_resolve(struct lgv_model *m, const char *name, const struct lgv_method **out,
                                   const char **chosen, struct lgv_error *err);
/* The message for a method that does not exist, with the nearest name or alias: LGV_BAD_INPUT, or LGV_CANNOT_RUN when
 * memory is out and nobody knows.  m: a model whose methods count too, or NULL. */
enum lgv_status lgv_method_unknown(const struct lgv_model *m, const char *name, char *out, size_t size);
/* The rule of "auto", row by row: the first whose condition holds and whose method fits.  NULL behind the last. */
struct lgv_default {
    const char *method, *condition, *reason;
};
const struct lgv_default *lgv_default_at(size_t number);
/* Is it what "auto" takes for this model? */
bool lgv_method_is_default(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s);
/* Why a method does not fit a model, NULL when it does.  The text is written to `why`. */
const char *lgv_method_refusal(const struct lgv_method *method, const struct lgv_model *m,
                               const struct lgv_structure *s, char *why, size_t size);
/* The same as a message that names methods which do fit.  Where none does, or "auto" takes this one all the same, it is
 * at the part of the file that is to blame. */
enum lgv_status lgv_method_refuse(const struct lgv_method *method, const struct lgv_model *m,
                                  const struct lgv_structure *s, struct lgv_error *err);

/* Limits of what is solved with dense matrices. */
#define LGV_MOST_LETTERS 9      /* of a splitting word */
#define LGV_RANDOM_NOISES 16    /* noises of a correction with a random coefficient, which has a term for each pair */
#define LGV_CORRECTED_DOF 64    /* degrees of freedom with the correction of RATTLE-Jc and its relatives */
#define LGV_BRACKET_DOF 64      /* ... with brackets that have weights, and noises with areas */
#define LGV_SECOND_DOF 200      /* coordinates and constraints: beyond, stages have no dense matrices (vprk_long.h) */
#define LGV_FEW_UNKNOWNS 7      /* beyond, implicit nodes of separable models are found by nystrom_large.h; of linear
                                 * equations, which take one correction, beyond LGV_LARGE_DOF */
#define LGV_LARGE_DOF 16        /* beyond, matrices of implicit steps are sparse */
#define LGV_DENSE_DOF 2000      /* beyond, a dense Newton matrix per lane would take hundreds of megabytes */
#define LGV_DENSE_CONSTRAINTS 6 /* beyond, their Jacobian is sparse */
#define LGV_DENSE_MIXED 40      /* ... for masses off the diagonal: the sparse solver does not pivot, so they must be
                                 * positive definite */

/* Does the method use its form for separable models?  Which parts of the model's face does it need?  Is its step
 * explicit? */
bool lgv_method_separable(const struct lgv_method *method, const struct lgv_structure *s);
unsigned lgv_method_face(const struct lgv_method *method, const struct lgv_structure *s);
/* Does its correction depend on momenta here, so that H is not separable with it? */
/* Does K have brackets in it, which mix q and p whatever the model is?  Not of noise of momenta alone, on orbits. */
bool lgv_method_joins(const struct lgv_method *method);
bool lgv_method_mixes(const struct lgv_method *method, const struct lgv_structure *s);
/* How many weights of h does an increment K have: those of the noises, and those of the correction. */
size_t lgv_method_weights(const struct lgv_method *method, const struct lgv_model *m);
bool lgv_method_explicit(const struct lgv_method *method, const struct lgv_structure *s);
/* A method with Levy areas that fits, or NULL. */
const struct lgv_method *lgv_method_with_areas(const struct lgv_model *m, const struct lgv_structure *s);
/* Does it move rotations with any H and noise of momenta, so that nothing is known of an inertia? */
bool lgv_method_curved(const struct lgv_method *method);
/* Does it have a step for rotations; with coupled: for bodies in SE(3) whose inertia couples position and rotation? */
bool lgv_method_turns(const struct lgv_method *method, bool coupled);
/* Does the method work with the Lagrangian of the model, whose velocities are then rows of the state?  Where it can,
 * it works with H: for constant masses. */
bool lgv_method_lagrangian(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s);
/* Does it need the numbers of free bodies (kernel/spin.c)? */
bool lgv_method_spins(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s);
/* Does it work with sparse constraints? */
bool lgv_method_sparse(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s);
/* How many sets of unknowns its implicit nodes have when these are found by nystrom_large.h; 0: it has none, or few
 * unknowns. */
unsigned lgv_method_large(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s);
/* Does it solve its equations, in the form that lgv_method_large says nothing of, along the pattern of all second
 * derivatives, if its factors turn out to be sparse? */
bool lgv_method_patterned(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s);
/* A method with stages for constraints or Lagrangians, beyond LGV_SECOND_DOF: without dense matrices. */
bool lgv_method_long(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s);
/* The message for dense matrices of more than LGV_DENSE_DOF degrees of freedom. */
enum lgv_status lgv_method_too_large(const struct lgv_method *method, const struct lgv_model *m, struct lgv_error *err);
/* Spans of the bath's time in a step. */
unsigned lgv_method_spans(const struct lgv_method *method);
/* Their least common multiple with `others`: methods that use the same Brownian paths divide a step into so many. */
unsigned lgv_method_common_spans(const struct lgv_method *method, unsigned others);
/* Is the momentum map of that symmetry kept to round-off? */
bool lgv_method_keeps(const struct lgv_method *method, const struct lgv_structure *s, size_t symmetry);
/* Strong order to expect, and one sentence why; NaN: none can be promised. */
double lgv_method_strong_order(const struct lgv_method *method, const struct lgv_structure *s, size_t nnoise,
                               const char **reason);
/* The same for averages. */
double lgv_method_weak_order(const struct lgv_method *method, const struct lgv_structure *s, size_t nnoise,
                             const char **reason);
/* Of the bias of stationary averages in a bath; 0: not known, infinite: there is none. */
double lgv_method_bias_order(const struct lgv_method *method, const struct lgv_structure *s, size_t nnoise);

/* ---- modified.c ---- */

/* The coefficients of dt^2 H_qq[H_p, H_p], -2 dt^2 H_qp[H_q, H_p] and dt^2 H_pp[H_q, H_q] in the modified Hamiltonian
 * of a method of order 2; false where they are not known. */
bool lgv_method_modified(const struct lgv_method *method, const struct lgv_structure *s, double k[3]);

/* ---- notes.c ---- */

/* The step as plain text, a line for an equation, in the symbols below; false when there is none to tell. */
bool lgv_method_formula(const struct lgv_method *m, struct lgv_text *out);
/* When to take it, in a sentence or two; "" for methods of model files. */
const char *lgv_method_advice(const struct lgv_method *m);
#define LGV_METHOD_SYMBOLS \
    "K(q, p; dt, dW) = dt H + sum_m dW_m h_m, subscripts are derivatives, q' and p' the state after the step, J the " \
    "mean of W - W(t) over it; V potential, M masses, g constraints, G = g_q."

/* ---- stability.c ---- */

/* The largest dt omega for which a step stays bounded on an oscillator q'' = -omega^2 q; INFINITY: any, NaN: not
 * known, or a matter of how V is split. */
double lgv_method_limit(const struct lgv_method *method);

/* How a step stands to the fastest motion at a typical start, linearised there. */
struct lgv_stability {
    double frequency; /* the highest, omega; NaN: not known */
    double limit;     /* of dt omega, as lgv_method_limit */
    double largest;   /* step that is stable; INFINITY: any, NaN: not known */
    double beta;      /* the least number beta for which this step is stable, NaN: not looked for, or none */
    double penalty;   /* omega dt^2 of constraints by penalty where the method has a limit for it, else NaN */
    int stable;       /* 1, 0, or -1: not known */
    char text[480];   /* all this in a sentence */
};
#define LGV_PENALTY_LIMIT 0.20 /* of omega dt^2, measured for ZS(0.4) on the double pendulum: beyond, paths are lost */
/* most: terms of second derivatives that are evaluated one by one; where there are more, nothing is known. */
#define LGV_STABILITY_QUICKLY 500000 /* some tenths of a second */
#define LGV_STABILITY_WELL 10000000
void lgv_method_stability(const struct lgv_method *method, struct lgv_model *m, const struct lgv_structure *s,
                          double step, size_t most, struct lgv_stability *out);

#endif
