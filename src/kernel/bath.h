/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bath of a Langevin model for its kernels: see bath.c. */
#ifndef LGV_BATH_H
#define LGV_BATH_H

#include "model/model.h"

struct lgv_bath_modes {
    size_t channels, np;
    bool one_temperature;
    bool steady;        /* neither friction nor masses depend on q: rates are known */
    bool exact;         /* the flow is known: constant friction, with constraints Gamma = gamma M */
    bool dense;         /* modes are combinations of momenta; else channel j is momentum row[j] */
    double *rate;       /* [channels] of the decay; of constant friction */
    double *noise_rate; /* the same, or 0 where the step takes the Brownian motion itself */
    double *amplitude;  /* sqrt(2 kT Gamma), of a mode sqrt(2 kT rate) */
    double *inverse_mass, *temperature;
    double *to, *from, *move; /* p = to z, z = from p, M^-1 p = move z */
    double *rest;             /* 1/m [np] and Gamma [channels]; dense: Gamma [np][np] */
    size_t nrest;
};

/* Modes at the present values of the parameters; *out is freed first.  `varying`: the kernel works on a Lagrangian,
 * whose masses are in its step; those of the modes are 1. */
enum lgv_status lgv_bath_prepare(struct lgv_model *m, const struct lgv_structure *s, bool varying,
                                 struct lgv_bath_modes **out, struct lgv_error *err);
void lgv_bath_free(struct lgv_bath_modes *b);
/* Are modes needed, because friction or masses are not diagonal? */
bool lgv_bath_dense(const struct lgv_model *m, const struct lgv_structure *s, bool varying);
/* By what a step of a method contracts the symplectic form, where all modes have the same rate and all momenta one
 * (else NaN), and phase volume (NaN: it depends on the state, or nothing is known).  Without a bath both are 1. */
void lgv_bath_contraction(const struct lgv_bath_modes *b, int contraction, double dt, double *form, double *volume);
/* The largest rate; 0 where friction depends on q. */
double lgv_bath_fastest(const struct lgv_bath_modes *b);
/* What a block of steps of size dt needs: bath.h of the kernel text.  `noises`: noise Hamiltonians. */
size_t lgv_bath_numbers(const struct lgv_bath_modes *b, size_t noises);
void lgv_bath_fill(const struct lgv_bath_modes *b, size_t noises, unsigned spans, double dt, uint64_t coarsen,
                   double *out);
/* The same numbers as of friction 0, without noise: what is left of a step is its conservative part.  A Metropolis
 * method (`accepts`) then accepts every proposal that has an end.  Friction of q is switched off in the bath's own
 * flow only, not as a force. */
void lgv_bath_switch_off(const struct lgv_bath_modes *b, size_t noises, unsigned spans, double dt, bool accepts,
                         double *numbers);

/* Of a dense matrix [n][n]: A = C C^T with C lower triangular in the place of A, false where A is not positive
 * definite. */
bool lgv_bath_cholesky(size_t n, double *A);

#endif
