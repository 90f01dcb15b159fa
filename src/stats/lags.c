/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over pairs of times of 16 series side by side, x [n][LGV_UNIT]: squared differences, products, and how much the
 * variance of a time average is larger than that of independent values.
 *
 * This file is compiled without contraction of products and sums: the copies for different processors have the same
 * bits. */
#include "stats/collect.h"
#include "stats/four.h"

#include <math.h>

#define LAGS 50    /* of one level */
#define WINDOW 6.0 /* integrated times that are summed over: exp(-6) of the sum is left out */
#define FIRST 10   /* the window is never narrower: correlations may change their sign */
#define LEAST 40   /* values of a level */

/* ---- sums over pairs ---- */

/* Sum over t = 0, stride, 2 stride, ... of (x[t + lag] - x[t])^2, and of x[t + lag] x[t]. */
INLINE void pairs(const double *x, size_t n, size_t stride, size_t lag, bool products, double *out) {
    four sum[LGV_UNIT / 4];
    for (size_t k = 0; k < LGV_UNIT / 4; k++) sum[k] = four_of(0);
    for (size_t t = 0; t + lag < n; t += stride)
        for (size_t k = 0; k < LGV_UNIT / 4; k++) {
            four a = four_load(x + t * LGV_UNIT + 4 * k), b = four_load(x + (t + lag) * LGV_UNIT + 4 * k), d = b - a;
            sum[k] += products ? a * b : d * d;
        }
    for (size_t k = 0; k < LGV_UNIT / 4; k++) four_store(out + 4 * k, sum[k]);
}

static void pairs_any(const double *x, size_t n, size_t stride, size_t lag, bool products, double *out) {
    if (products)
        pairs(x, n, stride, lag, true, out);
    else
        pairs(x, n, stride, lag, false, out);
}

static WITH_AVX2 void pairs_avx2(const double *x, size_t n, size_t stride, size_t lag, bool products, double *out) {
    if (products)
        pairs(x, n, stride, lag, true, out);
    else
        pairs(x, n, stride, lag, false, out);
}

static void sum_pairs(const double *x, size_t n, size_t stride, size_t lag, bool products, double *out) {
    (HAS_AVX2 ? pairs_avx2 : pairs_any)(x, n, stride, lag, products, out);
}

/* ---- lags of a multiple-tau correlator ---- */

#define POINTS 16 /* lags of the first level; the second half of them, twice as far apart, are those of the next */

size_t lgv_lags_count(size_t n) {
    size_t count = n < POINTS ? n : POINTS;
    for (size_t stride = 2; POINTS / 2 * stride < n; stride *= 2) {
        size_t most = (n - 1) / stride;
        count += (most < POINTS ? most + 1 : POINTS) - POINTS / 2;
    }
    return count;
}

size_t lgv_lags_at(size_t number, size_t *stride) {
    size_t level = number < POINTS ? 0 : (number - POINTS) / (POINTS / 2) + 1;
    *stride = (size_t)1 << level;
    return (level ? POINTS / 2 + (number - POINTS) % (POINTS / 2) : number) * *stride;
}

void lgv_lags_squares(const double *x, size_t n, size_t number, double out[LGV_UNIT]) {
    size_t stride, lag = lgv_lags_at(number, &stride);
    double count = (double)((n - 1 - lag) / stride + 1);
    sum_pairs(x, n, stride, lag, false, out);
    for (size_t l = 0; l < LGV_UNIT; l++) out[l] /= count;
}

/* ---- time averages ---- */

/* One level for one lane, m values: c [lags + 1] autocovariances.  True when the window closes; *sum is
 * c0 + 2 (c1 + ... + ck).  Deviations from a mean that is itself uncertain make each covariance too small by sum/m. */
static bool close_window(const double *c, size_t lags, size_t lane, size_t m, double *sum) {
    double first = c[lane], all = first;
    for (size_t k = 1; k <= lags; k++) {
        all += 2 * c[k * LGV_UNIT + lane];
        *sum = all * (1 + (double)(2 * k + 1) / (double)m);
        if (k >= FIRST && (double)k * first >= WINDOW / 2 * all) return true;
    }
    return false;
}

double lgv_lags_doubt(double values) {
    return 2 * sqrt(FIRST / values);
}

/* Means of pairs, in place of the series. */
static size_t halve(double *x, size_t n) {
    for (size_t t = 0; t < n / 2; t++)
        for (size_t l = 0; l < LGV_UNIT; l++)
            x[t * LGV_UNIT + l] = 0.5 * (x[2 * t * LGV_UNIT + l] + x[(2 * t + 1) * LGV_UNIT + l]);
    return n / 2;
}

void lgv_lags_variance(double *x, size_t n, double out[LGV_UNIT]) {
    double c[(LAGS + 1) * LGV_UNIT];
    unsigned open = (1u << LGV_UNIT) - 1;
    for (size_t m = n; open; m = halve(x, m)) {
        size_t lags = m / 4 < LAGS ? m / 4 : LAGS;
        for (size_t k = 0; k <= lags; k++) {
            sum_pairs(x, m, 1, k, true, c + k * LGV_UNIT);
            for (size_t l = 0; l < LGV_UNIT; l++) c[k * LGV_UNIT + l] /= (double)(m - k);
        }
        for (size_t l = 0; l < LGV_UNIT; l++) {
            double sum = c[l];
            if (!(open >> l & 1) || (!close_window(c, lags, l, m, &sum) && m / 2 >= LEAST)) continue;
            open &= ~(1u << l);
            if (!(sum > 0)) sum = c[l]; /* values that follow each other cancel: better than independent ones */
            out[l] = sum * ((double)n / (double)m);
        }
    }
}
