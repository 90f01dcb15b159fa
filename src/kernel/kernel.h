/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernel stage: a model and a method become a compiled step.  This is the header other stages include. */
#ifndef LGV_KERNEL_H
#define LGV_KERNEL_H

#include "kernel/text/abi.h"
#include "kernel/bath.h"
#include "kernel/user.h"
#include "method/method.h"

#define LGV_MAX_EXTREMES 32

/* Observables of Langevin models. */
#define LGV_KINETIC "kinetic_temperature"
#define LGV_MODIFIED "H_modified"
#define LGV_CONFIGURATIONAL "configurational_temperature"

/* What is observed: the energy "H", momentum maps, the declared observables, the distance to the exact solution, and
 * for small systems every coordinate and momentum. */
struct lgv_watch {
    size_t count;
    struct lgv_observable *item;
    size_t tallies;  /* of what is seen at every step: the items `tallied` */
    size_t tallied[2 + LGV_MAX_SYMMETRIES + LGV_MAX_EXTREMES];
    size_t extremes; /* of these, those that were asked for: numbers among the tallies */
    size_t extreme[LGV_MAX_EXTREMES];
    unsigned uses;   /* LGV_USES bits of all formulas: W and start values are rows of the state where they are used */
    size_t events;   /* conditions that are looked at after every step: those of the model, when asked for */
    const struct lgv_event *event;
    size_t sections; /* Poincare sections, likewise */
    const struct lgv_section *section;
    size_t controls; /* 0, or half of count: item [controls + i] is then the martingale part of item [i] */
};

#define LGV_SECTION_ROWS 2 /* of the state, for each: its value, and the number of crossings */
#define LGV_EVENT_ROWS 3 /* of the state, for each: its margin, when it first began to hold, how often */

struct lgv_kernel {
    const struct lgv_entry *entry;
    const struct lgv_method *method;
    struct lgv_watch watch;
    struct lgv_structure structure;
    bool energy_known;         /* row 0 of what is observed is H (a model of C functions may not tell) */
    size_t nx, np, nnoise, nstate; /* nstate: rows of a block's state */
    size_t drawn_row, ndrawn;  /* rows of the random parameters */
    size_t nextra;             /* rows behind q and p: velocities of a Lagrangian, multipliers; or rests */
    double compile_seconds;    /* 0 when the cache had it */
    char compiler[256];
    struct lgv_module *module;
    struct lgv_kernel_user user;   /* models given as C functions */
    unsigned spans;                /* of the bath's time in a step; 1 without a bath */
    unsigned common_spans;         /* fine spans of noise in a fine step: those of its method, unless it shares
                                    * its Brownian paths with others: lgv_method_common_spans */
    struct lgv_bath_modes *bath;   /* of a Langevin model, else NULL */
    double *process;               /* of coloured noise: process.c; else NULL */
    size_t nprocesses;
    double *spin;                  /* of rotations: spin.c; else NULL */
    double *modes;                 /* of a quadratic stiff part: modes.c; else NULL */
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
    bool wrapped;            /* periodic coordinates are shown in their range; else as they are integrated */
    bool modified;           /* the modified Hamiltonian is observed, too */
    const char *extremes;    /* names of observables to be seen at every step, separated by commas; NULL: none */
    bool events;             /* also look at the events of the model, and let paths stop */
    bool coarse;             /* steps will have coarse noise: the kernel gets a function of its own for it, which takes
                              * time to compile and is a twentieth faster than the one it shares.  Same bits */
    bool control;            /* also sum the martingale part M = sum_k sum_m ({f, h_m} + dt/2 {{f, h_m}, H})(X_k) dW_m,k
                              * of every observable f: its mean is zero for every method */
};

/* Builds the kernel; refuses before compiling when method and model do not fit.  The model must outlive the kernel. */
enum lgv_status lgv_kernel_build(struct lgv_model *m, const struct lgv_method *method,
                                 const struct lgv_kernel_options *options, struct lgv_kernel *out,
                                 struct lgv_error *err);
/* The same kernel after values of parameters have changed that its text does not have (lgv_model_adjust): looks at the
 * structure and the start of the model again.  Not LGV_OK: the model with these values is refused. */
enum lgv_status lgv_kernel_refresh(struct lgv_kernel *k, struct lgv_model *m, struct lgv_error *err);
void lgv_kernel_free(struct lgv_kernel *k);
/* Numbers for b->bath of blocks with steps dt, each made of `coarsen` fine spans a span; 0 of them without a bath. */
size_t lgv_kernel_bath_size(const struct lgv_kernel *k);
void lgv_kernel_bath_fill(const struct lgv_kernel *k, double dt, uint64_t coarsen, double *out);
void lgv_kernel_bath_off(const struct lgv_kernel *k, double dt, double *numbers); /* which are filled already */
/* process.c: values of sigma, tau, frequency, damping; malloc'd into *out, what was there is freed.  Then the numbers
 * of b->process for steps of dt, each `coarsen` fine ones. */
enum lgv_status lgv_process_prepare(struct lgv_model *m, double **out, struct lgv_error *err);
size_t lgv_process_size(const struct lgv_kernel *k);
void lgv_process_fill(const struct lgv_kernel *k, double dt, uint64_t coarsen, double *out);

/* spin.c: LGV_SPIN numbers of each body for b->spin; malloc'd into *out, what was there is freed. */
void lgv_spin_numbers(const double inertia[3], double *out); /* of principal moments, enum lgv_spin_number */
void lgv_coupled_numbers(const double inverse[36], double *out); /* enum lgv_coupled_number */
enum lgv_status lgv_spin_prepare(struct lgv_model *m, double **out, struct lgv_error *err);
/* modes.c: of the quadratic stiff part of a potential, enum lgv_mode_number, for b->modes; malloc'd likewise. */
enum lgv_status lgv_modes_prepare(struct lgv_model *m, double **out, struct lgv_error *err);
/* Can `control` be asked for?  It needs formulas, noise, and a model small enough to write every bracket out. */
bool lgv_kernel_can_control(const struct lgv_model *m);
/* A block has `vecs` vecs, each with `lanes` lanes.  coarse: as in the options. */
struct lgv_width {
    unsigned lanes, vecs;
    bool coarse;
    bool pairs; /* lanes of pair sums are instances: there are fewer paths than lanes */
};
/* generate.c: the C text of a kernel; free() it. */
char *lgv_kernel_source(struct lgv_model *m, const struct lgv_method *method, const struct lgv_structure *s,
                        const struct lgv_watch *watch, const struct lgv_width *width, struct lgv_error *err);
/* Doubles of one crossing: its time, and the most that any section observes. */
size_t lgv_kernel_crossing(const struct lgv_watch *w);
enum lgv_status lgv_kernel_watch(struct lgv_model *m, struct lgv_watch *out, struct lgv_error *err);
void lgv_kernel_watch_free(struct lgv_watch *w);
/* The number of the observable with that name. */
enum lgv_status lgv_kernel_watched(const struct lgv_watch *w, const char *name, size_t *at, struct lgv_error *err);
/* May somebody ask for so many lanes? */
enum lgv_status lgv_kernel_lanes(uint64_t lanes, struct lgv_error *err);

#endif
