/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Interpolation of tables; the mathematics is in spline.c. */
#ifndef LGV_SPLINE_H
#define LGV_SPLINE_H

#include "base/base.h"

#define LGV_SPLINE_DEGREE 5

/* The spline of the given degree (3 or 5; with few points lower) through points at ascending x, n >= 2, as polynomials:
 * on [x[k], x[k+1]] it is sum_j out[k][j] (x - x[k])^j, out: [n - 1][degree + 1].  Periodic: the last point is the
 * first one again.  False: no memory. */
bool lgv_spline(const double *x, const double *y, size_t n, int degree, bool periodic, double *out);

#endif
