/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The modified Hamiltonian of symplectic methods of order 2, which without noise they follow to order 4 (to 3 where
 * they are not symmetric):
 *
 *     H~ = H + dt^2 (k0 H_qq[H_p, H_p] - 2 k1 H_qp[H_q, H_p] + k2 H_pp[H_q, H_q]),
 *     k0 = (sum b c^2 - 1/3)/2,     k1 = (sum b c chat - 1/3)/2,     k2 = (sum b chat^2 - 1/3)/2
 *
 * with the weights b of a partitioned Runge-Kutta method, c = sum_j a_ij the places of its positions and chat those of
 * its momenta (Hairer, Lubich & Wanner (2006), Geometric Numerical Integration, section IX.10, doi
 * 10.1007/3-540-30666-8).  Verlet has 1/12, -1/24, -1/24, the midpoint rule three times -1/24.  A word of drifts and
 * kicks is such a method for separable H, where k1 does not count: its kicks are at c, the drifts done before, and its
 * drifts at chat, the kicks done before. */
#include "method/modified.h"
#include <math.h>

extern const struct lgv_method lgv_letter_drift, lgv_letter_kick;

static double excess(int n, const double *b, const double *x, const double *y) {
    double sum = -1.0 / 3;
    for (int i = 0; i < n; i++) sum += b[i] * x[i] * y[i];
    return sum / 2;
}

void lgv_modified_set(struct lgv_method *m, int n, const double *b, const double *c, const double *chat) {
    m->modified[0] = excess(n, b, c, c);
    m->modified[1] = excess(n, b, c, chat);
    m->modified[2] = excess(n, b, chat, chat);
}

/* A program of drifts and kicks alone. */
static bool word(const struct lgv_program *p, double k[3]) {
    double c = 0, chat = 0;
    k[0] = k[2] = -1.0 / 6;
    k[1] = NAN;
    for (size_t i = 0; i < p->count; i++) {
        const struct lgv_method *letter = p->step[p->substep[i].step];
        double w = p->substep[i].width;
        if (letter == &lgv_letter_drift) {
            k[2] += w * chat * chat / 2;
            c += w;
        } else if (letter == &lgv_letter_kick) {
            k[0] += w * c * c / 2;
            chat += w;
        } else {
            return false;
        }
    }
    return true;
}

bool lgv_method_modified(const struct lgv_method *m, const struct lgv_structure *s, double k[3]) {
    if (!m->symplectic || m->order < 2 || m->order > 2) return false;
    if (m->program && !word(m->program, k)) return false;
    for (int i = 0; i < 3 && !m->program; i++) k[i] = m->modified[i];
    if (!isfinite(k[0]) || !isfinite(k[2]) || (k[0] == 0 && k[2] == 0)) return false;
    if (isnan(k[1]) && !s->hamiltonian_separable) return false;
    if (isnan(k[1])) k[1] = 0; /* there is no H_qp */
    return true;
}
