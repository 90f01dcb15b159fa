/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Four doubles side by side, for rows of 16 paths.  Functions that use them are compiled twice: for any processor, and
 * for those with AVX2, chosen at run time.  No operation here rounds differently in the two. */
#ifndef LGV_FOUR_H
#define LGV_FOUR_H

#include <stdint.h>
#include <string.h>

typedef double four __attribute__((vector_size(32)));
typedef int64_t four_masks __attribute__((vector_size(32)));

#define INLINE static inline __attribute__((always_inline))

#ifdef __x86_64__
#define WITH_AVX2 __attribute__((target("avx2,fma")))
#define HAS_AVX2 (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#else
#define WITH_AVX2
#define HAS_AVX2 0
#endif

INLINE four four_load(const double *x) {
    four v;
    memcpy(&v, x, sizeof v);
    return v;
}

INLINE four four_choose(four_masks first, four x, four y) {
    return (four)(((four_masks)x & first) | ((four_masks)y & ~first));
}

/* x where it is smaller (larger) than m, else m: a NaN in x is passed over. */
INLINE four four_min(four x, four m) {
    return four_choose(x < m, x, m);
}
INLINE four four_max(four x, four m) {
    return four_choose(x > m, x, m);
}

INLINE four four_abs(four x) {
    four_masks sign = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    return (four)((four_masks)x & sign);
}

/* The sum of the four, in one fixed order; and of four of them at once, in the same order. */
INLINE double four_sum(four s) {
    return (s[0] + s[1]) + (s[2] + s[3]);
}
INLINE four four_sums(const four s[4]) {
    four a = __builtin_shufflevector(s[0], s[1], 0, 4, 2, 6) + __builtin_shufflevector(s[0], s[1], 1, 5, 3, 7);
    four b = __builtin_shufflevector(s[2], s[3], 0, 4, 2, 6) + __builtin_shufflevector(s[2], s[3], 1, 5, 3, 7);
    return __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
}

INLINE four four_of(double x) {
    return (four){x, x, x, x};
}

#endif
