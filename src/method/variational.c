/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Corrections and orders of variational methods with noise h(q), from their coefficients.
 *
 * A step sees the noise by forces -w_j grad h(Q_j), w_j = nu_j dW + kappa_j psi, sum nu = 1, sum kappa = 0, with psi =
 * sqrt 12 y and y = J - dW/2 = dZ/dt - dW/2, a Brownian increment independent of dW.  To the order that counts Q_j =
 * q + dt c_j H_p - dt H_pp sum_l A_jl w_l grad h; in a partitioned Runge-Kutta method A_jl = sum_k a_jk (1 - a_lk/b_k).
 * Against the expansion of the flow:
 *
 *     dt^(3/2)   sum_j w_j (1 - c_j) = J:      nu.(1 - c) = 1/2,  kappa.(1 - c) = 1/sqrt 12
 *     dt^2       the momentum has a mean dt^2 G grad(grad h . H_pp grad h)/2 with G = nu.A nu + kappa.A kappa, where
 *                the flow has int (int W dt) dW, of mean 0
 *
 * So H + (dt/2) G sum_m grad h_m . H_pp grad h_m has the right mean.  The same term serves any H: the step is that of
 * a generating function, and the only function that has two h and one H in it is grad h . H_pp grad h = {h, {h, H}};
 * its derivative with respect to p makes up for the mean of H_ppp (sum_l w_l)^2 / 2 in the velocities.  With order 2
 * without noise the first two conditions and the term (or G = 0) are strong order 3/2, and weak order 2 by parity
 * (fit.c); the first condition and the term are weak order 2.
 *
 * With constraints on all stages the multipliers take away the normal part of every w_j grad h, so that grad h becomes
 * its projection P grad h in Q_j, and the forces of the multipliers make h_qq into h_qq - (y.g)_qq, which is what the
 * gradient of |P grad h|^2/2 has (methods/vprk.c): the same G with the projected gradient.
 *
 * Random coefficient.  The term in question is dt sum_ij C_ij grad h_i . H_pp grad h_j, with the symmetric part of
 * int (int W_i dt) dW_j / dt in the flow and -w_i.A w_j in the step.  Given (dW, J) the mean of the former is
 * dW_i dW_j/6 - 6/5 y_i y_j - delta_ij dt/15, so the best coefficient that is known when the step is made is
 *
 *     k_ij = [w_i.A w_j - dW_i dW_j/6 + 6/5 y_i y_j]/dt + delta_ij/15,    with mean G delta_ij. */
#include "method/variational.h"
#include "base/base.h"
#include <math.h>

#define EXACT 1e-12
#define ROOT12 3.46410161513775458705L

static long double product(const struct lgv_weights *w, const double *x, const double *y) {
    long double sum = 0;
    for (int j = 0; j < w->count; j++)
        for (int l = 0; l < w->count; l++) sum += (long double)x[j] * w->A[j][l] * y[l];
    return sum;
}

/* Weights with roots in them are rounded, and G is a fraction all the same: one with a small denominator is taken for
 * it. */
double lgv_weights_excess(const struct lgv_weights *w) {
    long double G = product(w, w->nu, w->nu) + product(w, w->kappa, w->kappa);
    for (int below = 1; below <= 120; below++) {
        long double above = roundl(G * below);
        if (fabsl(G - above / below) < 1e-15L) return (double)(above / below);
    }
    return fabsl(G) < EXACT ? 0 : (double)G;
}

bool lgv_weights_judge(const struct lgv_weights *w, enum lgv_correction how, struct lgv_method *m) {
    long double nu = 0, kappa = 0;
    double G = lgv_weights_excess(w);
    for (int j = 0; j < w->count; j++) {
        nu += w->nu[j] * (1 - (long double)w->c[j]);
        kappa += w->kappa[j] * (1 - (long double)w->c[j]);
    }
    bool right = G == 0 || how != LGV_CORRECTION_NONE;
    bool half = m->order >= 2 && fabs((double)nu - 0.5) < EXACT;
    bool strong = half && fabs((double)(kappa - 1 / ROOT12)) < EXACT;
    m->correction = how == LGV_CORRECTION_NONE ? 0 : G / 2;
    m->strong_order = m->strong_noncommuting = strong && right ? 1.5 : 1;
    m->strong_additive = strong ? 1.5 : 1;
    m->additive_quadratic = strong && !right;
    m->weak_order = half && right ? 2 : 1;
    if (how != LGV_CORRECTION_RANDOM) return true;
    double *k = lgv_new(3, sizeof *k);
    m->random = k;
    if (!k) return false;
    k[0] = (double)(product(w, w->nu, w->nu) - 1 / 6.0L);
    k[1] = (double)(ROOT12 * (product(w, w->nu, w->kappa) + product(w, w->kappa, w->nu)) / 2);
    k[2] = (double)(12 * product(w, w->kappa, w->kappa) + 6 / 5.0L);
    return true;
}
