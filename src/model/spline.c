/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spline interpolation, s(x_i) = y_i, by B-splines (de Boor, A Practical Guide to Splines, 2001, ISBN 978-0387953663):
 *
 *     s = sum_j c_j B_j,     B_j of degree d on the knots x_0 (d + 1 times), x_r, .., x_(n-1-r), x_(n-1) (d + 1 times)
 *
 * with r = (d + 1)/2,
 *
 * so the points next to an end are no knots ("not a knot"): there are as many coefficients as points, polynomials of
 * degree d are reproduced, and no derivative at an end has to be made up.  Collocation matrices of B-splines are
 * totally positive: their banded elimination needs no pivots (the same, chapter XIII).
 *
 * s has d - 1 continuous derivatives.  What a point does to s decays by at least 0.43 from point to point (equidistant
 * points, d = 5), so a periodic spline is the middle of one through enough repeated periods, to round-off. */
#include "model/spline.h"
#include <math.h>
#include <stdlib.h>

#define REPEATED 60 /* points beyond either end: 0.43^60 = 1e-22 */
#define MOST (LGV_SPLINE_DEGREE + 1)

struct system {
    size_t n;
    int d;
    const double *x;
    double *t, *band, *c; /* knots [n + d + 1], matrix [n][2 d + 1], right-hand side and coefficients [n] */
};

/* The values at x of the B-splines of degree d that are not 0 on [t[s], t[s + 1]]: B_(s-d) .. B_s. */
static void basis(const double *t, size_t s, int d, double x, double *out) {
    out[0] = 1;
    for (int k = 1; k <= d; k++) {
        double carried = 0;
        for (int r = 0; r < k; r++) {
            double right = t[s + 1 + (size_t)r], left = t[s + 1 + (size_t)r - (size_t)k];
            double part = out[r] / (right - left);
            out[r] = carried + (right - x) * part;
            carried = (x - left) * part;
        }
        out[k] = carried;
    }
}

/* The last interval of knots that begins at x or before it. */
static size_t span(const struct system *a, double x, size_t from) {
    size_t s = from;
    while (s + 1 < a->n && a->t[s + 1] <= x) s++;
    return s;
}

static void assemble(struct system *a, const double *y) {
    const size_t d = (size_t)a->d, r = (d + 1) / 2, width = 2 * d + 1;
    for (size_t i = 0; i <= a->n + d; i++)
        a->t[i] = i <= d ? a->x[0] : i >= a->n ? a->x[a->n - 1] : a->x[i - d - 1 + r];
    for (size_t i = 0, s = d; i < a->n; i++) {
        double value[MOST];
        s = span(a, a->x[i], s);
        basis(a->t, s, a->d, a->x[i], value);
        for (size_t k = 0; k <= d; k++) {
            size_t j = s - d + k; /* column; |i - j| <= d */
            a->band[i * width + j + d - i] = value[k];
        }
        a->c[i] = y[i];
    }
}

static void solve(struct system *a) {
    const size_t d = (size_t)a->d, width = 2 * d + 1;
    for (size_t k = 0; k < a->n; k++)
        for (size_t i = k + 1; i < a->n && i <= k + d; i++) {
            double f = a->band[i * width + k + d - i] / a->band[k * width + d];
            if (f == 0) continue;
            for (size_t j = k; j < a->n && j <= k + d; j++)
                a->band[i * width + j + d - i] -= f * a->band[k * width + j + d - k];
            a->c[i] -= f * a->c[k];
        }
    for (size_t i = a->n; i-- > 0;) {
        for (size_t j = i + 1; j < a->n && j <= i + d; j++) a->c[i] -= a->band[i * width + j + d - i] * a->c[j];
        a->c[i] /= a->band[i * width + d];
    }
}

/* s^(j)(x)/j! from the right, j = 0 .. d: derivatives of B-splines are differences of their coefficients. */
static void expand(const struct system *a, size_t s, double x, double *out) {
    double c[MOST], value[MOST], factorial = 1;
    for (int k = 0; k <= a->d; k++) c[k] = a->c[s - (size_t)(a->d - k)];
    for (int j = 0; j <= a->d; j++) {
        const int e = a->d - j;
        basis(a->t, s, e, x, value);
        double sum = 0;
        for (int k = 0; k <= e; k++) sum += value[k] * c[k];
        out[j] = sum / factorial;
        factorial *= j + 1;
        for (int k = 0; k < e; k++) {
            size_t first = s + 1 + (size_t)k - (size_t)e;
            c[k] = e * (c[k + 1] - c[k]) / (a->t[first + (size_t)e] - a->t[first]);
        }
    }
}

/* Polynomials of the intervals first .. first + count - 1. */
static bool interpolate(const double *x, const double *y, size_t n, int degree, size_t first, size_t count,
                        double *out) {
    int d = (size_t)degree < n ? degree : (int)n - 1;
    struct system a = {.n = n, .d = d, .x = x};
    a.t = lgv_new(n + (size_t)d + 1, sizeof *a.t);
    a.band = lgv_new(n * (2 * (size_t)d + 1), sizeof *a.band);
    a.c = lgv_new(n, sizeof *a.c);
    bool ok = a.t && a.band && a.c;
    if (ok) {
        assemble(&a, y);
        solve(&a);
        for (size_t k = 0, s = (size_t)d; k < count; k++) {
            s = span(&a, x[first + k], s);
            for (int j = 0; j <= degree; j++) out[k * (size_t)(degree + 1) + (size_t)j] = 0;
            expand(&a, s, x[first + k], out + k * (size_t)(degree + 1));
        }
    }
    free(a.t);
    free(a.band);
    free(a.c);
    return ok;
}

bool lgv_spline(const double *x, const double *y, size_t n, int degree, bool periodic, double *out) {
    if (!periodic) return interpolate(x, y, n, degree, 0, n - 1, out);
    const size_t many = n - 1, all = n + 2 * REPEATED;
    double *longer = lgv_new(2 * all, sizeof *longer);
    if (!longer) return false;
    for (size_t i = 0; i < all; i++) {
        size_t k = (i + many * REPEATED - REPEATED) % many; /* of the first period */
        double turn = floor(((double)i - REPEATED) / (double)many);
        longer[i] = x[k] + turn * (x[many] - x[0]);
        longer[all + i] = y[k];
    }
    bool ok = interpolate(longer, longer + all, all, degree, REPEATED, many, out);
    free(longer);
    return ok;
}
