/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the noise weights of a variational tableau are worth.  Private to the method stage. */
#ifndef LGV_VARIATIONAL_H
#define LGV_VARIATIONAL_H

#include "method/rules.h"

enum lgv_correction { LGV_CORRECTION_NONE, LGV_CORRECTION_MEAN, LGV_CORRECTION_RANDOM };

/* Forces w_j = nu_j dW + kappa_j psi of the noise at the positions Q_j = q + dt c_j v - dt sum_l A_jl w_l M^-1 grad h,
 * psi = sqrt 12 (J - dW/2). */
struct lgv_weights {
    int count;
    double c[LGV_NYSTROM_NODES], nu[LGV_NYSTROM_NODES], kappa[LGV_NYSTROM_NODES];
    double A[LGV_NYSTROM_NODES][LGV_NYSTROM_NODES];
};

/* G = nu.A nu + kappa.A kappa, 0 where it is round-off. */
double lgv_weights_excess(const struct lgv_weights *w);
/* Fills in what follows for noise h(q): the correction, and the orders with it.  m has its order without noise.  False
 * when memory is out. */
bool lgv_weights_judge(const struct lgv_weights *w, enum lgv_correction how, struct lgv_method *m);

#endif
