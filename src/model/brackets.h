/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private to the model stage: Poisson brackets, and when a number counts as zero.
 *
 * The graph is asked first: canonical forms make most brackets vanish by themselves.  Where a bracket stays, it is
 * evaluated at random points near the start values and at times of the run.  A value is zero there when it is at most
 * LGV_ROUND_OFF of its magnitude (lgv_diff_magnitude): the terms it is made of, with the condition of every function
 * in it, so that neither a cancellation leaves too much nor a small term is lost.  Formulas that bend or jump show only
 * one side at a point: there zeros prove nothing. */
#ifndef LGV_BRACKETS_H
#define LGV_BRACKETS_H

#include "model/point.h"

#define LGV_ROUND_OFF 1e-13 /* 450 units in the last place: as many operations whose errors all point the same way */
#define LGV_FEWEST_POINTS 3 /* where a formula can be evaluated: below, nothing is decided */

struct lgv_gradients { /* of one function, as terms in q and p (or v, where the function uses it) */
    struct lgv_terms q, p;
    bool velocities;
};
bool lgv_gradients_of(struct lgv_model *m, int node, struct lgv_gradients *out);
void lgv_gradients_free(struct lgv_gradients *g);

/* algebra.c: the parts of {f, h} = sum_i +-df[i] dh[i]: derivatives in conjugate directions, for the leaves of f.  Free
 * them even after a failure. */
struct lgv_halves {
    size_t count;
    int *leaf, *df, *dh;
};
bool lgv_halves_of(struct lgv_graph *g, int f, int h, struct lgv_halves *out);
void lgv_halves_free(struct lgv_halves *x);

/* Fills commutes, commutes_decided and commutes_points. */
void lgv_brackets_commute(struct lgv_model *m, struct lgv_structure *s);
/* Fills symmetry[k]. */
void lgv_symmetry_check(struct lgv_model *m, size_t k, struct lgv_structure *s);

#endif
