/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Private to the model stage: points near the start values at which formulas are evaluated. */
#ifndef LGV_POINT_H
#define LGV_POINT_H

#include "model/model.h"

struct lgv_point {
    double *x; /* [nx + 2 np] q, then p, then v (0 where there are no velocities); free() it */
    double t;
};

#define LGV_POINTS 12
#define LGV_TIMED_POINTS 48 /* for formulas of t: what happens at some times only is to be seen */

/* Start values with their random draws, then shaken in their own units: even numbers a little, odd ones a lot, negative
 * numbers not at all.  Times are random, one in each of `count` parts of the run's; the start for negative numbers.
 * False when memory is out. */
bool lgv_point_make(const struct lgv_model *m, struct lgv_evaluator *e, int number, int count, struct lgv_point *out);
struct lgv_env lgv_point_env(const struct lgv_model *m, const struct lgv_point *at);
double lgv_point_draw(uint64_t *state); /* uniform in (0,1) */

/* constraints.c; more of it in model.h */
/* Moves q onto g = 0 (Gauss-Newton, q -= G^T (G G^T)^-1 g); false when that fails. */
bool lgv_projector_move(struct lgv_projector *c, double *q);
/* Largest |(G xi)_k| relative to its parts at q. */
double lgv_projector_change(struct lgv_projector *c, const double *q, const double *xi);

#endif
