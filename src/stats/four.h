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
typedef uint64_t four_bits __attribute__((vector_size(32)));

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
INLINE void four_store(double *x, four v) {
    memcpy(x, &v, sizeof v);
}

/* x where it is smaller (larger) than m, else m: a NaN in x is passed over.  Written so that compilers see the one
 * instruction that does just this. */
INLINE four four_min(four x, four m) {
    for (int i = 0; i < 4; i++) m[i] = x[i] < m[i] ? x[i] : m[i];
    return m;
}
INLINE four four_max(four x, four m) {
    for (int i = 0; i < 4; i++) m[i] = x[i] > m[i] ? x[i] : m[i];
    return m;
}

/* x y + z, rounded once. */
INLINE four four_fused(four x, four y, four z) {
    for (int i = 0; i < 4; i++) z[i] = __builtin_fma(x[i], y[i], z[i]);
    return z;
}

INLINE int four_any(four_masks m, uint64_t bits) {
    return ((uint64_t)(m[0] | m[1] | m[2] | m[3]) & bits) != 0;
}

/* The sum of the four, in one fixed order; and of four of them at once, in the same order. */
INLINE double four_sum(four s) {
    return (s[0] + s[1]) + (s[2] + s[3]);
}
#define FOUR_HALVES(x, y) __builtin_shufflevector(x, y, 0, 4, 2, 6), __builtin_shufflevector(x, y, 1, 5, 3, 7)
#define FOUR_ENDS(x, y) __builtin_shufflevector(x, y, 0, 1, 4, 5), __builtin_shufflevector(x, y, 2, 3, 6, 7)
INLINE four four_plus(four x, four y) {
    return x + y;
}
INLINE four four_sums(const four s[4]) {
    four a = four_plus(FOUR_HALVES(s[0], s[1])), b = four_plus(FOUR_HALVES(s[2], s[3]));
    return four_plus(FOUR_ENDS(a, b));
}
/* The least and the largest of each, likewise; of numbers.  Choosing by masks: gcc takes shuffled minima apart. */
INLINE four four_choose(four_masks first, four x, four y) {
    return (four)(((four_masks)x & first) | ((four_masks)y & ~first));
}
INLINE four four_less(four x, four y) {
    return four_choose(x < y, x, y);
}
INLINE four four_more(four x, four y) {
    return four_choose(x > y, x, y);
}
INLINE four four_mins(const four s[4]) {
    four a = four_less(FOUR_HALVES(s[0], s[1])), b = four_less(FOUR_HALVES(s[2], s[3]));
    return four_less(FOUR_ENDS(a, b));
}
INLINE four four_maxs(const four s[4]) {
    four a = four_more(FOUR_HALVES(s[0], s[1])), b = four_more(FOUR_HALVES(s[2], s[3]));
    return four_more(FOUR_ENDS(a, b));
}

INLINE four four_of(double x) {
    return (four){x, x, x, x};
}

#endif
