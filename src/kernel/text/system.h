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

/* x replaces b; A is destroyed.  Returns the lanes that have no finite solution. */
INLINE ivec system_solve(enum system_kind kind, long n, vec *A, vec *b, vec *scratch) {
    ivec singular = {0};
#ifdef LGV_SPARSE_LANES_H
    if (kind == SYSTEM_SPARSE) {
        sparse_solve(A, b, scratch, &singular);
        return singular;
    }
#endif
    if (kind == SYSTEM_NEAR_ONE) return n <= 3 ? solve_near_one((int)n, A, b) : solve_large_near_one(n, A, b, scratch);
    if (kind == SYSTEM_GRAM && n == 1) { /* what solve_one adds to it would be on the critical path of RATTLE */
        b[0] = b[0] / A[0];
        return ~vec_finite(b[0]);
    }
    if (kind == SYSTEM_FREE)
        solve_pivoted((int)n, A, b, &singular);
    else
        solve_dense((int)n, A, b, scratch, &singular);
    return singular;
}

#endif
