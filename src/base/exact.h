/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Exact sums of doubles.  A sum is an integer in units of 2^-1088, kept as digits of 32 bits that each have 64 bits of
 * room.  Adding commutes and associates without any rounding, and so does merging: the same numbers give the same sum
 * whichever thread, part of a job or later run added them.
 *
 * Numbers that are added together mostly have similar sizes.  So a sum has a window of six digits around the first
 * number it met, in one cache line with the rest; what falls outside goes to a wide sum that is allocated when needed.
 * Where the window lies does not change the sum. */
#ifndef LGV_EXACT_H
#define LGV_EXACT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LGV_EXACT_WINDOW 6
#define LGV_EXACT_DIGITS 68
#define LGV_EXACT_SHIFT 1088 /* digit k is worth 2^(32 k - 1088) */

struct lgv_exact_wide {
    int64_t digit[LGV_EXACT_DIGITS];
    uint64_t nan, up, down; /* how many were not a number, +infinity, -infinity */
    uint32_t pending;       /* additions since digits were last brought below 2^32 */
};

struct lgv_exact { /* all zero: an empty sum */
    int64_t digit[LGV_EXACT_WINDOW];
    int32_t base;     /* digit [j] is number base - 1 + j of the wide sum; 0: no window yet */
    uint32_t pending; /* additions since digits were last brought below 2^32 */
    struct lgv_exact_wide *wide;
};

/* Numbers outside the window, and what keeps the digits small.  False: no memory. */
bool lgv_exact_add_slowly(struct lgv_exact *s, double x);

/* s += x.  False when memory is out. */
static inline bool lgv_exact_add(struct lgv_exact *s, double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    int e = (int)(u >> 52 & 2047), at = e - 1 + (LGV_EXACT_SHIFT - 1074), k = (at >> 5) - (s->base - 1);
    /* x = m 2^(e - 1075) = m 2^(at - 1088), in three digits from number at / 32 on */
    if ((unsigned)k > LGV_EXACT_WINDOW - 3 || (unsigned)(e - 1) > 2045 || s->base == 0 || s->pending >= 1u << 30)
        return x == 0 || lgv_exact_add_slowly(s, x);
    uint64_t m = (u & 0xfffffffffffffULL) | 1ULL << 52;
    unsigned r = (unsigned)at & 31;
    int64_t sign = (int64_t)u >> 63;
    uint64_t low = m << r, high = r > 11 ? m >> (64 - r) : 0;
    s->digit[k] += ((int64_t)(uint32_t)low ^ sign) - sign;
    s->digit[k + 1] += ((int64_t)(low >> 32) ^ sign) - sign;
    s->digit[k + 2] += ((int64_t)high ^ sign) - sign;
    s->pending++;
    return true;
}

/* a += b; b stays as it is.  False when memory is out. */
bool lgv_exact_merge(struct lgv_exact *a, const struct lgv_exact *b);
/* The sum as part[0] + part[1] + part[2], each the nearest double to what the ones before it leave.  part[0] is the
 * rounded sum.  A sum with infinities or NaN gives them in part[0]. */
void lgv_exact_parts(const struct lgv_exact *s, double part[3]);
double lgv_exact_round(const struct lgv_exact *s);
/* Bytes of a sum, the same for the same sum however it came about but for the place of its window; and back, into an
 * empty sum.  Load is false when memory is out; what makes no sense sets from->bad. */
struct lgv_text;
struct lgv_bytes;
void lgv_exact_save(const struct lgv_exact *s, struct lgv_text *out);
bool lgv_exact_load(struct lgv_exact *s, struct lgv_bytes *from);
void lgv_exact_free(struct lgv_exact *s, size_t count);

/* sum of (x - mean x)(y - mean y) from n, sum x, sum y and sum x y, without cancellation: (n sum xy - sum x sum y)/n up
 * to two roundings.  NaN when one of them is not finite. */
double lgv_exact_comoment(uint64_t n, const struct lgv_exact *x, const struct lgv_exact *y, const struct lgv_exact *xy);

#endif
