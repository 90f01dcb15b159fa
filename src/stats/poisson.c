/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Poisson property of a step of a reduced model, from the columns of its derivative D that defect.c has measured.
 * With the brackets B_ij(m) = {m_i, m_j} a map m+ of momenta is a Poisson map if and only if
 *
 *     D B(m) D^T = B(m+).
 *
 * The defect is the largest entry of the difference, in units of the largest momentum, which the entries of B are. */
#include "stats/defect.h"
#include <math.h>
#include <stdlib.h>

/* {m_i, m_j} where the momenta are x. */
static double entry(const struct lgv_probe *p, const double *x, double *unit, size_t i, size_t j) {
    double size = 0, *other = unit + p->n;
    unit[i] = other[j] = 1;
    double value = lgv_rotations_pairing(p->g, x, unit, other, &size);
    unit[i] = other[j] = 0;
    return value;
}

void lgv_poisson_find(const struct lgv_probe *p, const struct lgv_column *c, double *defect, double *error) {
    const size_t n = p->n;
    double *D = lgv_new(2 * n * (n + 1), sizeof *D), *D_error = D ? D + n * n : NULL;
    double *unit = D ? D_error + n * n : NULL;
    double largest = 0, worst[2] = {0, 0}, most[2] = {0, 0}; /* what is beyond its own error counts before all others */
    for (size_t i = 0; i < n; i++) largest = fmax(largest, fmax(fabs(p->begin[i]), fabs(p->end[i])));
    for (size_t i = 0; D && i < n * n; i++) {
        D[i] = c[i % n].Ju[i / n] / p->scale[i % n];
        D_error[i] = c[i % n].Ju_error[i / n] / p->scale[i % n];
    }
    for (size_t i = 0; D && i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            const double *a = D + i * n, *b = D + j * n;
            double e = 0, size = 0, d = lgv_rotations_pairing(p->g, p->begin, a, b, &size);
            d = fabs(d - entry(p, p->end, unit, i, j)) / largest;
            lgv_rotations_pairing(p->g, p->begin, D_error + i * n, b, &e);
            lgv_rotations_pairing(p->g, p->begin, a, D_error + j * n, &e);
            e = e / largest + 1e-13;
            if (d > e && d - e > worst[0] - worst[1]) worst[0] = d, worst[1] = e;
            most[0] = fmax(most[0], d);
            most[1] = fmax(most[1], e);
        }
    *defect = !D || !(largest > 0) ? (double)NAN : worst[0] > 0 ? worst[0] : most[0];
    *error = worst[0] > 0 ? worst[1] : most[1];
    free(D);
}
