/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Phase volume: what a step multiplies it by, det J, from the columns of J that defect.c has measured.  On a constraint
 * set it is the volume that the symplectic form has there, sqrt(det W) of the pairings of tangent vectors. */
#include "stats/defect.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* det J of a system that is measured completely, and how well it is known: each entry of J changes it by that of the
 * inverse. */
void lgv_volume_find(const struct lgv_probe *p, const struct lgv_column *c, struct lgv_defect *how) {
    const int n = (int)p->n;
    long double *J = lgv_new(3 * p->n * p->n, sizeof *J), *A = J ? J + n * n : NULL, *inverse = J ? A + n * n : NULL;
    for (int i = 0; J && i < n * n; i++) {
        J[i] = A[i] = c[i % n].Ju[i / n] / p->scale[i / n]; /* in units of the scales, which cancel */
        inverse[i] = i % (n + 1) == 0;
    }
    if (J && lgv_linear_solve(n, n, A, inverse, 0)) {
        long double det = lgv_linear_determinant(n, J), error = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) error += fabsl(inverse[j * n + i]) * c[j].Ju_error[i] / p->scale[i];
        how->volume = (double)det;
        how->volume_error = (double)(fabsl(det) * error) + 1e-13;
    }
    free(J);
}

/* Numbers of directions that are far from depending on each other: with constraints they are tangent, and span fewer
 * dimensions than there are.  r [n][n] is work. */
static void choose_free(const struct lgv_probe *p, const struct lgv_column *c, size_t free_count, double *r,
                        size_t *chosen) {
    const size_t n = p->n;
    for (size_t i = 0; i < n * n; i++) r[i] = c[i / n].u[i % n] / p->scale[i % n];
    for (size_t k = 0; k < free_count; k++) {
        double most = -1;
        for (size_t i = 0; i < n; i++) {
            double square = 0;
            for (size_t j = 0; j < n; j++) square += r[i * n + j] * r[i * n + j];
            if (square > most) most = square, chosen[k] = i;
        }
        const double *v = r + chosen[k] * n;
        for (size_t i = 0; i < n; i++) {
            double part = 0;
            for (size_t j = 0; j < n && i != chosen[k]; j++) part += r[i * n + j] * v[j] / most;
            for (size_t j = 0; j < n && i != chosen[k]; j++) r[i * n + j] -= part * v[j];
        }
        memset(r + chosen[k] * n, 0, n * sizeof *r);
    }
}

/* sqrt(det W) of the pairings W_ij = omega(v_i, v_j), the volume that the v span, and its relative error. */
static long double spanned(const struct lgv_probe *p, const struct lgv_column *c, const size_t *chosen, int d,
                           bool after, long double *W, double *error) {
    long double *A = W + d * d, *inverse = A + d * d, sum = 0;
    const double *at = after ? p->end : p->x;
    for (int i = 0; i < d * d; i++) {
        const struct lgv_column *a = &c[chosen[i / d]], *b = &c[chosen[i % d]];
        W[i] = A[i] = lgv_omega(p, at, after ? a->Ju : a->u, after ? b->Ju : b->u) / p->action;
        inverse[i] = i % (d + 1) == 0;
    }
    if (!lgv_linear_solve(d, d, A, inverse, 0)) return NAN;
    for (int i = 0; i < d * d; i++) {
        const struct lgv_column *a = &c[chosen[i / d]], *b = &c[chosen[i % d]];
        double e = after ? lgv_omega_error(p, at, a->Ju, a->Ju_error, b->Ju, b->Ju_error)
                         : lgv_omega_error(p, at, a->u, a->u_error, b->u, b->u_error);
        sum += fabsl(inverse[i % d * d + i / d]) * e / p->action;
    }
    *error += (double)sum / 2;
    return sqrtl(fabsl(lgv_linear_determinant(d, W)));
}

/* With constraints: what a step makes of the volume of the symplectic form on the constraint set. */
void lgv_volume_tangent(const struct lgv_probe *p, const struct lgv_column *c, struct lgv_defect *how) {
    const size_t d = p->n - 2 * how->constraints;
    size_t *chosen = lgv_new(d + 1, sizeof *chosen);
    double *r = lgv_new(p->n * p->n, sizeof *r), error = 0;
    long double *work = lgv_new(3 * d * d + 1, sizeof *work);
    if (chosen && r && work && d > 0) {
        choose_free(p, c, d, r, chosen);
        long double before = spanned(p, c, chosen, (int)d, false, work, &error);
        how->volume = (double)(spanned(p, c, chosen, (int)d, true, work, &error) / before);
        how->volume_error = how->volume * error + 1e-13;
    }
    free(chosen);
    free(r);
    free(work);
}
