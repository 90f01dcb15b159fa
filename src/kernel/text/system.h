/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The linear systems A x = b of a step, one per lane, by what is known of A.  Dense ones are in solve.h, those along a
 * pattern in sparse_lanes.h: a kernel that has tables of a pattern has one, and bands and blocks are patterns too.
 * Include-free; it follows both. */
#ifndef LGV_SYSTEM_H
#define LGV_SYSTEM_H

enum system_kind {
    SYSTEM_ANY,      /* nothing: a lane whose pivots are small is solved again with pivoting */
    SYSTEM_NEAR_ONE, /* 1 + B, of Newton's method: where 1 and B cancel, what is left is round-off, and singular */
    SYSTEM_GRAM,     /* G1 M^-1 G0^T, of multipliers: entries that are not finite show in x by themselves */
    SYSTEM_FREE,     /* the diagonal may vanish and unknowns may be free: every lane pivots, and what is free is 0 */
    SYSTEM_SPARSE    /* along the pattern of the kernel's tables: A has its entries only */
};
#define SYSTEM_CANCELLED 1e12 /* so much larger than the right side is no solution of 1 + B but round-off */

/* How many vecs of scratch a dense system takes. */
#define SYSTEM_SCRATCH(n) ((n) * (n) + (n))

/* 1 + B with n > 3: see solve_near_one. */
INLINE ivec solve_large_near_one(long n, vec *A, vec *b, vec *scratch) {
    vec residual = vec_set(0), solution = vec_set(0);
    ivec singular;
    for (long i = 0; i < n; i++) residual += vec_abs(b[i]);
    solve_dense((int)n, A, b, scratch, &singular);
    for (long i = 0; i < n; i++) solution += vec_abs(b[i]);
    return singular | (ivec)(solution > SYSTEM_CANCELLED * residual);
}

/* G1 M^-1 G0^T with n = 1: what solve_one adds to it would be on the critical path of RATTLE. */
INLINE ivec solve_gram_one(const vec *A, vec *b) {
    b[0] = b[0] / A[0];
    return ~vec_finite(b[0]);
}

INLINE ivec solve_any(long n, vec *A, vec *b, vec *scratch) {
    ivec singular;
    solve_dense((int)n, A, b, scratch, &singular);
    return singular;
}

INLINE ivec solve_free(long n, vec *A, vec *b) {
    ivec singular;
    solve_pivoted((int)n, A, b, &singular);
    return singular;
}

#ifdef LGV_SPARSE_LANES_H
INLINE ivec solve_sparse(vec *A, vec *b, vec *scratch) {
    ivec singular;
    sparse_solve(A, b, scratch, &singular);
    return singular;
}
#else
#define solve_sparse(A, b, scratch) ((ivec){0})
#endif

/* x replaces b; A is destroyed.  Gives the lanes that have no finite solution.  A macro: kind and n are constants in
 * kernels, and what they leave out is then left out before anything is compiled. */
#define SOLVE_NEAR_ONE(n, A, b, scratch)                                                                               \
    ((n) > 3    ? solve_large_near_one(n, A, b, scratch)                                                               \
     : (n) == 3 ? solve_small_near_one(3, A, b, solve_three)                                                           \
     : (n) == 2 ? solve_small_near_one(2, A, b, solve_two)                                                             \
                : solve_small_near_one(1, A, b, solve_single))
#define system_solve(kind, n, A, b, scratch)                                                                           \
    ((kind) == SYSTEM_SPARSE              ? solve_sparse(A, b, scratch)                                                \
     : (kind) == SYSTEM_NEAR_ONE          ? SOLVE_NEAR_ONE(n, A, b, scratch)                                           \
     : (kind) == SYSTEM_GRAM && (n) == 1  ? solve_gram_one(A, b)                                                       \
     : (kind) == SYSTEM_FREE              ? solve_free(n, A, b)                                                        \
                                          : solve_any(n, A, b, scratch))

#endif
