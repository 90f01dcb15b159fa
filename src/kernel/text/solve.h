/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Small linear systems A x = b, one per lane.
 *
 * All lanes are eliminated together without pivoting (n = 2: Cramer's rule).  A lane that meets a pivot small against
 * the column below it, or ends with a result that is not finite, is solved again alone by LU with partial pivoting; the
 * decision and the result depend on the data of that lane only.
 *
 * This file has no includes; it follows lanes.h and pivot.h. */
#ifndef LGV_SOLVE_H
#define LGV_SOLVE_H

/* A pivot below this part of its column sends the lane to the pivoting solver; at most three digits are lost. */
#define SOLVE_THRESHOLD 1e-3
/* So much cancellation in a pivot or determinant sends it there too, to find out whether the system is singular. */
#define SOLVE_CANCELLED 1e-12
#define SOLVE_CRAMER 1e-4 /* so much cancellation in a determinant does too: elimination with pivoting loses less */
#define SOLVE_LOCAL 4     /* up to this n no scratch is needed */

/* The elimination itself.  Returns the lanes that must be solved again. */
INLINE ivec solve_eliminate(int n, vec *A, vec *b) {
    ivec bad = {0};
    vec sum = vec_set(0.0); /* of everything that must be finite */
    for (int k = 0; k < n; k++) {
        vec below = vec_set(0.0), above = vec_set(0.0), inverse = 1.0 / A[k * n + k];
        for (int i = 0; i < k; i++) {
            above = above + vec_abs(A[i * n + k]);
        }
        for (int i = k + 1; i < n; i++) {
            below = vec_max(below, vec_abs(A[i * n + k]));
            vec factor = A[i * n + k] * inverse;
            for (int j = k + 1; j < n; j++) {
                ADD_PRODUCT(A[i * n + j], -factor, A[k * n + j]);
            }
            ADD_PRODUCT(b[i], -factor, b[k]);
        }
        bad |= ~(ivec)(vec_abs(A[k * n + k]) > SOLVE_THRESHOLD * below + SOLVE_CANCELLED * above);
        sum = sum + vec_abs(A[k * n + k]);
        A[k * n + k] = inverse;
    }
    for (int i = n - 1; i >= 0; i--) {
        vec x = b[i];
        for (int j = i + 1; j < n; j++) {
            ADD_PRODUCT(x, -A[i * n + j], b[j]);
        }
        b[i] = x * A[i * n + i];
        sum = sum + vec_abs(b[i]);
    }
    return bad | ~vec_finite(sum);
}

/* Any n; scratch of n n + n vecs holds the copy. */
OUTLINE void solve_large(int n, vec *A, vec *b, vec *scratch, ivec *singular) {
    vec *right = scratch + n * n;
    for (int i = 0; i < n * n; i++) {
        scratch[i] = A[i];
    }
    for (int i = 0; i < n; i++) {
        right[i] = b[i];
    }
    ivec bad = solve_eliminate(n, A, b), again = bad;
    if (RARELY(vec_any(bad))) {
        solve_again(n, scratch, right, &again);
        for (int i = 0; i < n; i++) {
            b[i] = vec_select(bad, right[i], b[i]);
        }
    }
    *singular = again;
}

INLINE ivec solve_one(const vec *A, vec *b) {
    vec x = b[0] / A[0], check = (x - x) + (A[0] - A[0]); /* 0, or NaN where one of them is not finite */
    b[0] = x + check;
    return (ivec)(check != check);
}

/* Cramer's rule.  A determinant that is infinite, or round-off of its two products, is looked for; one that is
 * denormal has an infinite inverse and shows in x.  Not looked for: products |A| |b| that are denormal while |A|^2
 * is not. */
INLINE ivec solve_two(const vec *A, vec *b, vec *determinant, vec *products) {
    vec one = A[0] * A[3], two = A[1] * A[2], det = one - two, inverse = 1.0 / det, size = vec_abs(one) + vec_abs(two);
    *products = size;
    vec x = FUSED(b[0], A[3], -(b[1] * A[1])) * inverse, y = FUSED(A[0], b[1], -(A[2] * b[0])) * inverse;
    *determinant = det;
    b[0] = x;
    b[1] = y;
    return ~((ivec)(vec_abs(det) > SOLVE_CRAMER * size) & vec_finite(vec_abs(x) + vec_abs(y)));
}

/* The same for n = 3. */
INLINE ivec solve_three(const vec *A, vec *b, vec *determinant, vec *products) {
    vec c0 = FUSED(A[4], A[8], -(A[5] * A[7])), c1 = FUSED(A[5], A[6], -(A[3] * A[8]));
    vec c2 = FUSED(A[3], A[7], -(A[4] * A[6]));
    vec d0 = A[0] * c0, d1 = A[1] * c1, d2 = A[2] * c2, det = d0 + d1 + d2, inverse = 1.0 / det;
    *determinant = det;
    /* every product of two entries cancels too */
    vec size = vec_abs(A[0]) * (vec_abs(A[4] * A[8]) + vec_abs(A[5] * A[7])) +
               vec_abs(A[1]) * (vec_abs(A[5] * A[6]) + vec_abs(A[3] * A[8])) +
               vec_abs(A[2]) * (vec_abs(A[3] * A[7]) + vec_abs(A[4] * A[6]));
    *products = size;
    vec x = b[0], y = b[1], z = b[2];
    vec e0 = FUSED(A[2], A[7], -(A[1] * A[8])), f0 = FUSED(A[1], A[5], -(A[2] * A[4]));
    vec e1 = FUSED(A[0], A[8], -(A[2] * A[6])), f1 = FUSED(A[2], A[3], -(A[0] * A[5]));
    vec e2 = FUSED(A[1], A[6], -(A[0] * A[7])), f2 = FUSED(A[0], A[4], -(A[1] * A[3]));
    b[0] = inverse * FUSED(f0, z, FUSED(c0, x, e0 * y));
    b[1] = inverse * FUSED(f1, z, FUSED(c1, x, e1 * y));
    b[2] = inverse * FUSED(f2, z, FUSED(c2, x, e2 * y));
    return ~((ivec)(vec_abs(det) > SOLVE_CRAMER * size) & vec_finite(vec_abs(b[0]) + vec_abs(b[1]) + vec_abs(b[2])));
}

/* One equation in the form of the two above, for solve_near_one. */
INLINE ivec solve_single(const vec *A, vec *b, vec *determinant, vec *products) {
    *determinant = A[0];
    *products = vec_set(0);
    b[0] = b[0] / A[0];
    return (ivec){0};
}

/* Systems 1 + B, n <= 3: Cramer's rule.  Where the determinant is round-off of 1 the lane is singular; where it is
 * much smaller than its products (B is large, and nearly of lower rank) the lane is solved again.  NaN is left to be
 * seen in the result. */
typedef ivec solve_cramer(const vec *A, vec *b, vec *determinant, vec *products);
INLINE ivec solve_small_near_one(int n, const vec *A, vec *b, solve_cramer *cramer) {
    vec keep[3] = {b[0], n > 1 ? b[1] : b[0], n > 2 ? b[2] : b[0]}, det, size;
    (void)cramer(A, b, &det, &size);
    ivec singular = (ivec)(vec_abs(det) < 1e-13), bad = (ivec)(vec_abs(det) <= SOLVE_CRAMER * size) & ~singular;
    if (n > 1 && RARELY(vec_any(bad))) {
        vec a[9];
        ivec again = bad;
        UNROLL for (int i = 0; i < n * n; i++) {
            a[i] = A[i];
        }
        solve_again(n, a, keep, &again);
        UNROLL for (int i = 0; i < n; i++) {
            b[i] = vec_select(bad, keep[i], b[i]);
        }
        singular |= again;
    }
    return singular;
}

/* Solves A x = b in every lane: A [n][n] by rows, destroyed; x replaces b.  `scratch` has n n + n vecs, or is NULL for
 * n <= 4.  *singular becomes the mask of the lanes without a finite solution; x is NaN there.  With a constant n <= 4
 * everything unrolls into registers, and the copy for the second solution is only made in the rare branch. */
INLINE void solve_dense(int n, vec *A, vec *b, vec *scratch, ivec *singular) {
    if (n > SOLVE_LOCAL) {
        solve_large(n, A, b, scratch, singular);
        return;
    }
    if (n == 1) {
        *singular = solve_one(A, b);
        return;
    }
    vec keep[SOLVE_LOCAL * SOLVE_LOCAL], right[SOLVE_LOCAL];
    UNROLL for (int i = 0; i < n * n; i++) {
        keep[i] = A[i];
    }
    UNROLL for (int i = 0; i < n; i++) {
        right[i] = b[i];
    }
    vec det, size;
    ivec bad = n == 2   ? solve_two(A, b, &det, &size)
               : n == 3 ? solve_three(A, b, &det, &size)
                        : solve_eliminate(n, A, b);
    *singular = bad;
    if (RARELY(vec_any(bad))) {
        vec a[SOLVE_LOCAL * SOLVE_LOCAL], x[SOLVE_LOCAL];
        ivec again = bad;
        UNROLL for (int i = 0; i < n * n; i++) {
            a[i] = keep[i];
        }
        UNROLL for (int i = 0; i < n; i++) {
            x[i] = right[i];
        }
        solve_again(n, a, x, &again);
        UNROLL for (int i = 0; i < n; i++) {
            b[i] = vec_select(bad, x[i], b[i]);
        }
        *singular = again;
    }
}

/* Solves A x = b in every lane with row interchanges chosen lane by lane: for systems whose diagonal may vanish.  A
 * free unknown (its row and right side vanish to round-off) becomes 0; *singular marks lanes that contradict
 * themselves. */
OUTLINE void solve_pivoted(int n, vec *A, vec *b, ivec *singular) {
    vec scale[SOLVE_COLUMNS], right = vec_set(0);
    ivec wrong = {0};
    /* Equations and unknowns may have units of very different size: rows, then columns are scaled to 1 (all columns
     * of a system too large for that share the scale 1). */
    for (int i = 0; i < n; i++) {
        vec size = vec_set(0);
        for (int j = 0; j < n; j++) size = vec_max(size, vec_abs(A[i * n + j]));
        size = vec_select((ivec)(size > 0.0), 1.0 / size, vec_set(1));
        for (int j = 0; j < n; j++) A[i * n + j] *= size;
        b[i] *= size;
        right = vec_max(right, vec_abs(b[i]));
    }
    for (int j = 0; j < n && n <= SOLVE_COLUMNS; j++) {
        vec size = vec_set(0);
        for (int i = 0; i < n; i++) size = vec_max(size, vec_abs(A[i * n + j]));
        scale[j] = vec_select((ivec)(size > 0.0), 1.0 / size, vec_set(1));
        for (int i = 0; i < n; i++) A[i * n + j] *= scale[j];
    }
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) {
            ivec larger = (ivec)(vec_abs(A[i * n + k]) > vec_abs(A[k * n + k]));
            for (int j = k; j < n; j++) {
                vec up = A[k * n + j], down = A[i * n + j];
                A[k * n + j] = vec_select(larger, down, up);
                A[i * n + j] = vec_select(larger, up, down);
            }
            vec up = b[k], down = b[i];
            b[k] = vec_select(larger, down, up);
            b[i] = vec_select(larger, up, down);
        }
        ivec empty = ~(ivec)(vec_abs(A[k * n + k]) > 1e-15);
        wrong |= empty & ~(ivec)(vec_abs(b[k]) <= 1e-9 * right);
        vec inverse = vec_select(empty, vec_set(0), 1.0 / A[k * n + k]);
        for (int j = k; j < n; j++) A[k * n + j] *= inverse;
        b[k] *= inverse;
        for (int i = k + 1; i < n; i++) {
            vec f = A[i * n + k];
            for (int j = k; j < n; j++) ADD_PRODUCT(A[i * n + j], -f, A[k * n + j]);
            ADD_PRODUCT(b[i], -f, b[k]);
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) ADD_PRODUCT(b[k], -A[k * n + j], b[j]);
        wrong |= ~vec_finite(b[k]);
    }
    for (int k = 0; k < n && n <= SOLVE_COLUMNS; k++) b[k] *= scale[k];
    *singular = wrong;
}

#endif
