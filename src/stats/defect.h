/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The derivative of a step as it is measured (defect.c), for what is found from it. */
#ifndef LGV_DEFECT_H
#define LGV_DEFECT_H

#include "stats/stats.h"

struct lgv_probe {
    const struct lgv_kernel *k;
    struct lgv_own_block b;
    const double *x;
    size_t rows, n; /* nx + np, and 2 np: components of tangent vectors, np in a reduced model */
    size_t nq;      /* of these components those of q come first: np, or 0 */
    const struct lgv_graph *g; /* where rotations stand; NULL: there are none */
    double *begin, *end; /* [rows] where the step from x begins, on the constraints, and ends: with rotations */
    uint64_t path, number, step; /* whose noise it has; its own number */
    const double *scale; /* [n] */
    double action;
    int size; /* which h was best for the last direction; negative: none yet */
    bool accepted; /* a proposal that is rejected is no step */
    bool complete; /* all unit directions are measured */
    double *given; /* [row][lane], the same in every lane; NULL: noise by seed */
    lgv_progress *progress;
    void *user;
};

/* A direction, and what the step makes of it, with errors; with constraints u becomes tangent to them. */
struct lgv_column {
    double *u, *Ju, *u_error, *Ju_error;
};

/* At a state x: rotations have a term with their momenta. */
double lgv_omega(const struct lgv_probe *p, const double *x, const double *u, const double *v);
/* How well it is known. */
double lgv_omega_error(const struct lgv_probe *p, const double *x, const double *u, const double *u_error,
                       const double *v, const double *v_error);

/* poisson.c: of a reduced model that is measured completely, how far the step is from a Poisson map. */
void lgv_poisson_find(const struct lgv_probe *p, const struct lgv_column *c, double *defect, double *error);

/* volume.c: det J of a system that is measured completely; of one with constraints, on the constraint set. */
void lgv_volume_find(const struct lgv_probe *p, const struct lgv_column *c, struct lgv_defect *how);
void lgv_volume_tangent(const struct lgv_probe *p, const struct lgv_column *c, struct lgv_defect *how);

#endif
