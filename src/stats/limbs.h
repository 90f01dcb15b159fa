/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Exact sums of four rows at a time, for what is added most often.
 *
 * A row has a grain g, a power of two, kept as M = 3/2 2^52 g.  Doubles near M are the multiples of g, so
 *
 *     (x + M) - M = high     is x rounded to a multiple of g,
 *     x - high = low         is exact and at most g/2; the same with g 2^-48 splits it again, and nothing is left.
 *
 * The multiples of g and of g 2^-48 are integers, which the bits of x + M and M tell without a conversion, and integers
 * add exactly: so a row is two sums of 64 bits that hold all of x while its bits lie between 2^47 g and 2^-48 g.  What
 * does not fit, numbers that are none included, goes to the wide sum of the row (base/exact.h), and so do the limbs
 * before they overflow.  Which way a number takes does not change the sum. */
#ifndef LGV_LIMBS_H
#define LGV_LIMBS_H

#include "base/exact.h"
#include "stats/four.h"
#include <math.h>

#define LGV_LIMBS_MOST (1u << 15) /* additions that limbs take */
#define LIMB 0x1p-48              /* a grain of the low limb, in grains of the high one */

#define LGV_LIMBS_NONE (1.5 * 0x1p1000) /* M of a row before its first number: of usual numbers nothing but 0 fits */

struct lgv_limbs { /* arrays of all rows */
    double *grain; /* M */
    int64_t *high, *low;
};

/* Gives row k, if it is empty and has none yet, a grain for numbers like x: room for such as are 2^20 times as large,
 * and for all bits of those down to a 2^21th. */
static inline void lgv_limbs_begin(const struct lgv_limbs *s, size_t k, double x) {
    int e;
    if (s->grain[k] != LGV_LIMBS_NONE || s->high[k] || s->low[k]) return;
    if (!(fabs(x) > 0x1p-900 && fabs(x) < 0x1p900)) return;
    frexp(x, &e);
    s->grain[k] = ldexp(1.5, 52 + e - 26);
}

struct lgv_limbs_step { /* x in the grains of four rows */
    four_masks high, low;
};

/* Splits x for rows k .. k + 3.  Misfits get a bit of LGV_LIMBS_BAD into their `bad`. */
#define LGV_LIMBS_BAD ((uint64_t)0xffff << 48)
INLINE struct lgv_limbs_step lgv_limbs_split(const struct lgv_limbs *s, size_t k, four x, four_masks *bad) {
    const four_bits most = {(uint64_t)1 << 47, (uint64_t)1 << 47, (uint64_t)1 << 47, (uint64_t)1 << 47};
    four M = four_load(s->grain + k), m = M * LIMB, t = x + M, low = x - (t - M), u = low + m;
    /* without signs: what does not fit may overflow, and is left to the wide sums */
    four_bits high = (four_bits)t - (four_bits)M, rest = (four_bits)u - (four_bits)m;
    *bad |= (four_masks)(high + most) | (four_masks)(low != u - m);
    return (struct lgv_limbs_step){(four_masks)high, (four_masks)rest};
}

INLINE void lgv_limbs_add(const struct lgv_limbs *s, size_t k, const struct lgv_limbs_step *step) {
    four_masks a, b;
    memcpy(&a, s->high + k, sizeof a);
    memcpy(&b, s->low + k, sizeof b);
    a += step->high;
    b += step->low;
    memcpy(s->high + k, &a, sizeof a);
    memcpy(s->low + k, &b, sizeof b);
}

/* to += the limbs of row k.  The part in the middle first: it decides where the window of `to` lies. */
static inline bool lgv_limbs_into(const struct lgv_limbs *s, size_t k, struct lgv_exact *to) {
    double g = s->grain[k] / (1.5 * 0x1p52), low = g * LIMB;
    if (!s->high[k] && !s->low[k]) return true;
    bool ok = lgv_exact_add(to, g * (double)(s->high[k] & 0xffffffff));
    ok &= lgv_exact_add(to, g * 0x1p32 * (double)(s->high[k] >> 32));
    ok &= lgv_exact_add(to, low * 0x1p32 * (double)(s->low[k] >> 32));
    ok &= lgv_exact_add(to, low * (double)(s->low[k] & 0xffffffff));
    return ok;
}

#endif
