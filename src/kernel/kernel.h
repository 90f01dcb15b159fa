/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernel stage: a model and a method become a compiled step.  This is the header other stages include. */
#ifndef LGV_KERNEL_H
#define LGV_KERNEL_H

#include "kernel/abi.h"
#include "kernel/method.h"
#include "kernel/user.h"
#include "model/model.h"

/* What is observed: the energy "H", momentum maps, the declared observables, the distance to the exact solution, and
 * for small systems every coordinate and momentum. */
struct lgv_watch {
    size_t count;
    struct lgv_observable *item;
    size_t controls; /* 0, or half of count: item [controls + i] is then the martingale part of item [i] */
};

struct lgv_kernel {
    const struct lgv_entry *entry;
    const struct lgv_method *method;
    struct lgv_watch watch;
    struct lgv_structure structure;
    bool energy_known;         /* row 0 of what is observed is H (a model of C functions may not tell) */
    size_t nq, nnoise, nstate; /* nstate: rows of a block's state */
    size_t nextra;             /* rows behind q and p: velocities of a Lagrangian, multipliers */
    double compile_seconds;    /* 0 when the cache had it */
    char compiler[256];
    struct lgv_module *module;
    struct lgv_kernel_user user;   /* models given as C functions */
    const double *par;             /* of the model */
    struct lgv_start_report start; /* how typical start values stand to the constraints */
};

struct lgv_kernel_options {
    unsigned lanes;          /* 0: chosen by size, compiler and number of paths */
    uint64_t paths;          /* 0: many.  Fewer paths than lanes get fewer lanes */
    const char *compiler;    /* NULL or "": clang, else gcc */
    const char *keep_source; /* file for the generated C, or NULL / "" */
    lgv_progress *progress;  /* asked with fraction 0 while the compiler takes long, NULL: nobody */
    void *user;
    bool control;            /* also sum the martingale part M = sum_k sum_m ({f, h_m} + dt/2 {{f, h_m}, H})(X_k) dW_m,k
                              * of every observable f: its mean is zero for every method */
};

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
/* Why a method does not fit a model, NULL when it does.  The text is written to `why`. */
const char *lgv_kernel_refusal(const struct lgv_method *method, const struct lgv_model *m,
                               const struct lgv_structure *s, char *why, size_t size);
/* Builds the kernel; refuses before compiling when method and model do not fit.  The model must outlive the kernel. */
enum lgv_status lgv_kernel_build(struct lgv_model *m, const struct lgv_method *method,
                                 const struct lgv_kernel_options *options, struct lgv_kernel *out,
                                 struct lgv_error *err);
void lgv_kernel_free(struct lgv_kernel *k);
/* Does the method use its form for separable models?  Which parts of the model's face does it need?  Is its step
 * explicit? */
bool lgv_kernel_separable(const struct lgv_method *method, const struct lgv_structure *s);
unsigned lgv_kernel_face(const struct lgv_method *method, const struct lgv_structure *s);
bool lgv_kernel_explicit(const struct lgv_method *method, const struct lgv_structure *s);
/* Does the method work with the Lagrangian of the model, whose velocities are then rows of the state?  Where it can,
 * it works with H: for constant masses. */
bool lgv_kernel_lagrangian(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s);
/* Does it work with sparse constraints? */
bool lgv_kernel_sparse(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s);
/* How many sets of unknowns its implicit nodes have when they are found without dense matrices, if these turn out to be
 * sparse; 0: it has none, or few degrees of freedom. */
unsigned lgv_kernel_large(const struct lgv_method *method, const struct lgv_model *m, const struct lgv_structure *s);
/* The message for dense matrices of more than LGV_DENSE_DOF degrees of freedom. */
enum lgv_status lgv_kernel_too_large(const struct lgv_method *method, const struct lgv_model *m, struct lgv_error *err);
#define LGV_CORRECTED_DOF 64
#define LGV_SECOND_DOF 200 /* up to here the stages of Lagrangian methods are solved with dense second derivatives */
#define LGV_LARGE_DOF 16   /* beyond, implicit nodes of separable models are found by nystrom_large.h */
#define LGV_DENSE_DOF 2000 /* beyond, a dense Newton matrix per lane would take hundreds of megabytes */
#define LGV_DENSE_CONSTRAINTS 6 /* beyond, their Jacobian is sparse */
#define LGV_DENSE_MIXED                                                                                                \
    40 /* the same for masses off the diagonal: the sparse solver does not pivot, so they must be
                                   positive definite */
/* Can `control` be asked for?  It needs formulas, noise, and a model small enough to write every bracket out. */
bool lgv_kernel_can_control(const struct lgv_model *m);
/* Strong order to expect, and one sentence why; NaN: none can be promised. */
double lgv_kernel_strong_order(const struct lgv_method *method, const struct lgv_structure *s, size_t nnoise,
                               const char **reason);
/* The same for averages. */
double lgv_kernel_weak_order(const struct lgv_method *method, const struct lgv_structure *s, size_t nnoise,
                             const char **reason);

/* A block has `groups` vecs of `lanes` paths. */
struct lgv_width {
    unsigned lanes, groups;
};
/* generate.c: the C text of a kernel; free() it. */
char *lgv_kernel_source(struct lgv_model *m, const struct lgv_method *method, const struct lgv_structure *s,
                        const struct lgv_watch *watch, const struct lgv_width *width, struct lgv_error *err);
enum lgv_status lgv_kernel_watch(struct lgv_model *m, struct lgv_watch *out, struct lgv_error *err);
void lgv_kernel_watch_free(struct lgv_watch *w);

#endif
