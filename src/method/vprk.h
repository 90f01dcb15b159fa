/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Variational partitioned Runge-Kutta methods by name and by tableau: the coefficients of methods/vprk.c.  Private
 * to the method stage. */
#ifndef LGV_VPRK_H
#define LGV_VPRK_H

#include "method/method.h"

#define LGV_VPRK_STAGES 6

struct lgv_vprk {
    int stages, multipliers;
    double b[LGV_VPRK_STAGES], time[LGV_VPRK_STAGES];
    double nu[LGV_VPRK_STAGES], kappa[LGV_VPRK_STAGES]; /* noise weights nu dW + kappa psi, psi = sqrt 12 (J - dW/2) */
    double a[LGV_VPRK_STAGES][LGV_VPRK_STAGES], ahat[LGV_VPRK_STAGES][LGV_VPRK_STAGES];
    double d[LGV_VPRK_STAGES][LGV_VPRK_STAGES];  /* [multiplier][stage] where G is taken */
    double e[LGV_VPRK_STAGES][LGV_VPRK_STAGES];  /* [multiplier][stage] where g vanishes */
    double am[LGV_VPRK_STAGES][LGV_VPRK_STAGES]; /* [stage][multiplier] */
    bool project;
    bool exponential; /* rotations by exp, on a Lagrangian: text/vprk_group.h */
    bool corrected; /* for noise h(q): variational.c */
};

/* Completes a tableau (stages, a, b, nu, kappa) with a_1j = 0 and a_sj = b_j.  False with the reason in `why` when
 * it does not meet these or the solvability condition of constrained methods.  The weights b add up to 1 and none is
 * 0. */
bool lgv_vprk_complete(struct lgv_vprk *t, char *why, size_t size);
/* A named method; NULL when the name is none of them or memory is out. */
const struct lgv_method *lgv_vprk_find(const char *name);
/* The description of a tableau of the user, for lgv_method_free. */
struct lgv_method *lgv_vprk_describe(const char *name, const struct lgv_vprk *t);

#endif
