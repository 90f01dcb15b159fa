/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Quantiles of some thousand values.  They need a few order statistics, not the order: the range is cut into equal
 * bins, a count finds the bins where the ranks lie, and only the values of those are sorted. */
#include "stats/collect.h"
#include "stats/four.h"
#include <math.h>
#include <stdlib.h>

#define BINS 512
#define SOME 128 /* values that find the range */
#define RANKS (2 * LGV_QUANTILES)

struct lgv_ranks {
    int32_t bin[LGV_EARLY_PATHS + 4]; /* 0 .. BINS */
    uint16_t count[2][BINS + 1]; /* of even and odd places: one count seldom waits for the last; together in [0] */
    uint8_t wanted[BINS + 1];    /* 1: a rank that is asked for lies there */
    uint32_t first[BINS + 1], end[BINS + 1]; /* the values of a wanted bin in `sorted` */
    uint16_t taken[LGV_EARLY_PATHS + 1];
    double sorted[LGV_EARLY_PATHS];
};

struct lgv_ranks *lgv_ranks_create(void) {
    return malloc(sizeof(struct lgv_ranks));
}

void lgv_ranks_free(struct lgv_ranks *r) {
    free(r);
}

/* Shell's sort with the gaps of Ciura (2001), doi:10.1007/3-540-44669-9_12: mostly there are some ten values. */
static void sort(double *x, size_t n) {
    static const size_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
    size_t g = 0;
    while (gaps[g] > 1 && 3 * gaps[g] > n) g++;
    for (; g < sizeof gaps / sizeof *gaps; g++)
        for (size_t gap = gaps[g], i = gap; i < n; i++) {
            double v = x[i];
            size_t k = i;
            for (; k >= gap && x[k - gap] > v; k -= gap) x[k] = x[k - gap];
            x[k] = v;
        }
}

/* ---- bins ---- */

typedef int32_t four_ints __attribute__((vector_size(16)));

/* Any map that keeps the order will do: the range of the first values is cut into bins, and what lies outside goes to
 * the first and the last.  So a few values far away do not cost the others their resolution.  False when there is no
 * range. */
INLINE bool bin_values(struct lgv_ranks *r, const double *x, size_t n) {
    double low = x[0], high = x[0];
    for (size_t i = 1; i < n && i < SOME; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    double scale = BINS / (high - low);
    if (!(scale > 0 && scale < INFINITY)) return false;
    const four least = four_of(0), most = four_of(BINS);
    for (size_t i = 0; i < n; i += 4) {
        four y = four_min((four_load(x + i) - low) * scale, most);
        four_ints at = __builtin_convertvector(four_max(y, least), four_ints);
        memcpy(r->bin + i, &at, sizeof at);
    }
    return true;
}

static bool bin_values_any(struct lgv_ranks *r, const double *x, size_t n) {
    return bin_values(r, x, n);
}

static WITH_AVX2 bool bin_values_avx2(struct lgv_ranks *r, const double *x, size_t n) {
    return bin_values(r, x, n);
}

static void count_bins(struct lgv_ranks *r, size_t n) {
    memset(r->count, 0, sizeof r->count);
    r->bin[n] = BINS; /* if n is odd, then it is counted once too often */
    for (size_t i = 0; i < n; i += 2) {
        r->count[0][r->bin[i]]++;
        r->count[1][r->bin[i + 1]]++;
    }
    r->count[1][BINS] = (uint16_t)(r->count[1][BINS] - (n & 1));
    for (size_t k = 0; k <= BINS; k++) r->count[0][k] = (uint16_t)(r->count[0][k] + r->count[1][k]);
}

/* ---- ranks ---- */

/* Puts the values of the ascending ranks k[] among x[0..n) where sorting all would put them. */
static void sort_ranks(struct lgv_ranks *r, const double *x, size_t n, const size_t *k) {
    size_t bins[RANKS], nbins = 0, taken = 0;
    count_bins(r, n);
    memset(r->wanted, 0, sizeof r->wanted);
    for (size_t i = 0, b = 0, below = 0; i < RANKS; i++) {
        while (below + r->count[0][b] <= k[i]) below += r->count[0][b++];
        if (r->wanted[b]) continue;
        r->wanted[b] = 1;
        r->first[b] = r->end[b] = (uint32_t)below;
        bins[nbins++] = b;
    }
    for (size_t i = 0; i < n; i++) { /* without a branch: which values are wanted cannot be foreseen */
        r->taken[taken] = (uint16_t)i;
        taken += r->wanted[r->bin[i]];
    }
    for (size_t i = 0; i < taken; i++) r->sorted[r->end[r->bin[r->taken[i]]]++] = x[r->taken[i]];
    for (size_t i = 0; i < nbins; i++) sort(r->sorted + r->first[bins[i]], r->end[bins[i]] - r->first[bins[i]]);
}

void lgv_ranks_quantiles(struct lgv_ranks *r, const double *x, size_t n, double out[LGV_QUANTILES]) {
    bool (*bin)(struct lgv_ranks *, const double *, size_t) = HAS_AVX2 ? bin_values_avx2 : bin_values_any;
    double at[LGV_QUANTILES];
    size_t rank[RANKS];
    for (size_t k = 0; k < LGV_QUANTILES; k++) {
        at[k] = lgv_quantile_levels[k] * (double)(n ? n - 1 : 0);
        rank[2 * k] = (size_t)at[k];
        rank[2 * k + 1] = rank[2 * k] + 1 < n ? rank[2 * k] + 1 : rank[2 * k];
        out[k] = (double)NAN;
    }
    if (!n) return;
    if (bin(r, x, n))
        sort_ranks(r, x, n, rank);
    else {
        memcpy(r->sorted, x, n * sizeof *x);
        sort(r->sorted, n);
    }
    for (size_t k = 0; k < LGV_QUANTILES; k++) {
        double a = r->sorted[rank[2 * k]], b = r->sorted[rank[2 * k + 1]];
        out[k] = a + (at[k] - (double)rank[2 * k]) * (b - a);
    }
}
