/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Coefficients of modified Hamiltonians from those of a method.  Private to the method stage. */
#ifndef LGV_MODIFIED_H
#define LGV_MODIFIED_H

#include "method/method.h"

/* Of a symplectic partitioned Runge-Kutta method with n stages: weights, places of the positions and of the momenta. */
void lgv_modified_set(struct lgv_method *m, int n, const double *b, const double *c, const double *chat);

#endif
