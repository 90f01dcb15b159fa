/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linear systems A x = b, one per lane, whose unknowns are S sets of one number for each node, where a node is a
 * coordinate (or a multiplier): A is a sparse matrix of blocks of S rows, at the places where any second derivatives
 * of the model are.  Newton's method for implicit stages of models of any form has such systems, S being the number of
 * stage values: its tiles, one set against another, are multiples of 1 and of second derivatives.
 *
 * All lanes share the pattern, and it is known before compilation: the tables are those of lgv_sparse_emit_pattern,
 * explained in sparse.h; matrices of second derivatives have PATTERN_NE entries.  A = L U block by block, without
 * exchanging nodes.  Inside a block of the diagonal every lane exchanges its rows, so that these may have any form: the
 * equations of a Galerkin method have none of their unknowns on the diagonal, and momenta that are free become 0.  What
 * a chain costs is linear in its length.
 *
 * This file has no includes; it follows lanes.h, face.h and the tables. */
#ifndef LGV_PATTERN_H
#define LGV_PATTERN_H

/* Where the tables are; a program without generated text defines this and the sizes before. */
#ifndef PATTERN_TABLE
#define PATTERN_TABLE(name) pattern_##name
#endif
#define PATTERN_BLOCKS(S) (PATTERN_NA * (S) * (S))                      /* vecs of A */
#define PATTERN_SCRATCH(S) (PATTERN_NODES * ((S) + 1) * (S) + 3 * (S) * (S) + 3 * (S))
#define PATTERN_EMPTY 1e-15     /* of rows and columns of the size 1: nothing is left to be divided by */
#define PATTERN_CANCELLED 1e-13 /* a row of which no more is left is round-off */
#define PATTERN_FREE 1e-9       /* as far as this an equation without unknowns may be off 0 */

INLINE void pattern_clear(long S, vec *A) {
    for (long i = 0; i < PATTERN_BLOCKS(S); i++) A[i] = vec_set(0);
}

#ifdef PATTERN_NE
/* Adds a number to the diagonal of tile (i, j). */
INLINE void pattern_add_one(long S, long i, long j, double factor, vec *A) {
    for (long k = 0; factor != 0 && k < PATTERN_NODES; k++) A[(PATTERN_TABLE(a_diagonal)[k] * S + i) * S + j] += factor;
}

/* Adds factor X, or its transpose, to tile (i, j). */
INLINE void pattern_add(long S, long i, long j, double factor, const vec *X, int across, vec *A) {
    for (long e = 0; factor != 0 && e < PATTERN_NE; e++) {
        vec *to = A + (PATTERN_TABLE(place)[e] * S + i) * S + j;
        ADD_PRODUCT(*to, factor, X[across ? PATTERN_TABLE(mirror)[e] : e]);
    }
}

/* Adds to two rows and columns of every block what stage j of a partitioned method adds to stage i:
 * -a (K_pq, K_pp) and b (K_qq, K_qp). */
INLINE void pattern_add_flow(long S, long i, long j, double a, double b, const vec *Kqq, const vec *Kqp,
                             const vec *Kpp, vec *A) {
    for (long e = 0; (a != 0 || b != 0) && e < PATTERN_NE; e++) {
        vec *up = A + (PATTERN_TABLE(place)[e] * S + 2 * i) * S + 2 * j, *down = up + S;
        ADD_PRODUCT(up[0], -a, Kqp[PATTERN_TABLE(mirror)[e]]);
        ADD_PRODUCT(up[1], -a, Kpp[e]);
        ADD_PRODUCT(down[0], b, Kqq[e]);
        ADD_PRODUCT(down[1], b, Kqp[e]);
    }
}

#endif

/* C -= A B, blocks of S rows. */
INLINE void pattern_subtract(long S, const vec *A, const vec *B, vec *C) {
    for (long i = 0; i < S; i++)
        for (long j = 0; j < S; j++) {
            vec sum = C[i * S + j];
            for (long k = 0; k < S; k++) sum = vec_fused(-A[i * S + k], B[k * S + j], sum);
            C[i * S + j] = sum;
        }
}

/* B becomes its inverse; M has 2 S S + S vecs.  Where a row has nothing left, an unknown is free: it is to be 0, and
 * the lane is in the result. */
INLINE ivec pattern_invert(long S, vec *B, vec *M) {
    vec *N = M + S * S, *scale = N + S * S;
    ivec some = {0};
    for (long i = 0; i < S; i++) {
        vec size = vec_set(0);
        for (long j = 0; j < S; j++) size = vec_max(size, vec_abs(B[i * S + j]));
        size = vec_select((ivec)(size > 0.0), 1.0 / size, vec_set(1));
        for (long j = 0; j < S; j++) {
            M[i * S + j] = size * B[i * S + j];
            N[i * S + j] = i == j ? size : vec_set(0);
        }
    }
    for (long j = 0; j < S; j++) {
        vec size = vec_set(0);
        for (long i = 0; i < S; i++) size = vec_max(size, vec_abs(M[i * S + j]));
        scale[j] = vec_select((ivec)(size > 0.0), 1.0 / size, vec_set(1));
        for (long i = 0; i < S; i++) M[i * S + j] *= scale[j];
    }
    for (long k = 0; k < S; k++) {
        for (long i = k + 1; i < S; i++) {
            ivec larger = (ivec)(vec_abs(M[i * S + k]) > vec_abs(M[k * S + k]));
            if (!vec_any(larger)) continue;
            for (long j = 0; j < S; j++) {
                vec up = M[k * S + j], down = M[i * S + j], left = N[k * S + j], right = N[i * S + j];
                M[k * S + j] = vec_select(larger, down, up);
                M[i * S + j] = vec_select(larger, up, down);
                N[k * S + j] = vec_select(larger, right, left);
                N[i * S + j] = vec_select(larger, left, right);
            }
        }
        ivec empty = ~(ivec)(vec_abs(M[k * S + k]) > PATTERN_EMPTY);
        vec inverse = vec_select(empty, vec_set(0), 1.0 / M[k * S + k]);
        some |= empty;
        for (long j = k + 1; j < S; j++) M[k * S + j] *= inverse;
        for (long j = 0; j < S; j++) N[k * S + j] *= inverse;
        for (long i = 0; i < S; i++) {
            if (i == k) continue;
            vec f = -M[i * S + k];
            for (long j = k + 1; j < S; j++) ADD_PRODUCT(M[i * S + j], f, M[k * S + j]);
            for (long j = 0; j < S; j++) ADD_PRODUCT(N[i * S + j], f, N[k * S + j]);
        }
    }
    for (long i = 0; i < S; i++)
        for (long j = 0; j < S; j++) B[i * S + j] = scale[i] * N[i * S + j];
    return some;
}

/* A becomes L and U, with the inverses of the diagonal; D [PATTERN_NODES][S][S] has what these were the inverses of.
 * Gives the lanes where a row was lost to round-off; *some: those with free unknowns. */
INLINE ivec pattern_factor(long S, vec *A, vec *D, vec *scratch, ivec *some) {
    int at[PATTERN_NODES]; /* of row i: where column j is.  Row k only has columns that row i has too. */
    vec *before = scratch, *F = before + S, *M = F + S * S;
    ivec lost = {0};
    *some = (ivec){0};
    for (long i = 0; i < PATTERN_NODES; i++) {
        const long begin = PATTERN_TABLE(a_row)[i], diagonal = PATTERN_TABLE(a_diagonal)[i];
        const long end = PATTERN_TABLE(a_row)[i + 1];
        vec *own = A + diagonal * S * S;
        for (long a = 0; a < S; a++) {
            before[a] = vec_set(0);
            for (long b = 0; b < S; b++) before[a] = vec_max(before[a], vec_abs(own[a * S + b]));
        }
        for (long p = begin; p < end; p++) at[PATTERN_TABLE(a_col)[p]] = (int)p;
        for (long p = begin; p < diagonal; p++) {
            const long k = PATTERN_TABLE(a_col)[p], first = PATTERN_TABLE(a_diagonal)[k];
            const long last = PATTERN_TABLE(a_row)[k + 1];
            for (long e = 0; e < S * S; e++) F[e] = vec_set(0);
            pattern_subtract(S, A + p * S * S, A + first * S * S, F);
            for (long e = 0; e < S * S; e++) A[p * S * S + e] = F[e] = -F[e];
            for (long q = first + 1; q < last; q++)
                pattern_subtract(S, F, A + q * S * S, A + at[PATTERN_TABLE(a_col)[q]] * S * S);
        }
        for (long a = 0; a < S; a++) {
            vec left = vec_set(0);
            for (long b = 0; b < S; b++) left = vec_max(left, vec_abs(own[a * S + b]));
            lost |= (ivec)(before[a] > 0.0) & ~(ivec)(left > PATTERN_CANCELLED * before[a]);
        }
        for (long e = 0; e < S * S; e++) D[i * S * S + e] = own[e];
        *some |= pattern_invert(S, own, M);
    }
    return lost;
}

/* Lanes where a node does not solve its equation D x = y to round-off of the right sides: nothing has these unknowns.
 */
INLINE ivec pattern_contradicts(long S, const vec *D, const vec *x, const vec *y, const vec *right) {
    ivec wrong = {0};
    for (long a = 0; a < S; a++) {
        vec off = y[a], size = right[a];
        for (long b = 0; b < S; b++) {
            ADD_PRODUCT(off, -D[a * S + b], x[b]);
            size += vec_abs(D[a * S + b] * x[b]);
        }
        wrong |= ~(ivec)(vec_abs(off) <= PATTERN_FREE * size);
    }
    return wrong;
}

/* Solves A x = b with the factors; x replaces b, which has one set behind the other.  `lost` are lanes without a
 * solution.  Gives these and those without a finite one; x is NaN there. */
INLINE ivec pattern_substitute(long S, const vec *A, const vec *D, ivec some, ivec lost, vec *b, vec *scratch) {
    vec *x = scratch, *y = x + PATTERN_NODES * S, *right = y + S, sum = vec_set(0);
    for (long a = 0; a < S; a++) {
        right[a] = vec_set(0);
        for (long i = 0; i < PATTERN_NODES; i++) right[a] = vec_max(right[a], vec_abs(b[a * PATTERN_NODES + i]));
    }
    for (long i = 0; i < PATTERN_NODES; i++) {
        for (long a = 0; a < S; a++) x[i * S + a] = b[a * PATTERN_NODES + PATTERN_TABLE(order)[i]];
        for (long p = PATTERN_TABLE(a_row)[i]; p < PATTERN_TABLE(a_diagonal)[i]; p++)
            for (long a = 0; a < S; a++)
                for (long k = 0; k < S; k++)
                    ADD_PRODUCT(x[i * S + a], -A[(p * S + a) * S + k], x[PATTERN_TABLE(a_col)[p] * S + k]);
    }
    for (long i = PATTERN_NODES - 1; i >= 0; i--) {
        const long diagonal = PATTERN_TABLE(a_diagonal)[i];
        for (long a = 0; a < S; a++) y[a] = x[i * S + a];
        for (long p = diagonal + 1; p < PATTERN_TABLE(a_row)[i + 1]; p++)
            for (long a = 0; a < S; a++)
                for (long k = 0; k < S; k++)
                    ADD_PRODUCT(y[a], -A[(p * S + a) * S + k], x[PATTERN_TABLE(a_col)[p] * S + k]);
        for (long a = 0; a < S; a++) {
            vec value = vec_set(0);
            for (long k = 0; k < S; k++) ADD_PRODUCT(value, A[(diagonal * S + a) * S + k], y[k]);
            x[i * S + a] = b[a * PATTERN_NODES + PATTERN_TABLE(order)[i]] = value;
            sum += vec_abs(value);
        }
        if (RARELY(vec_any(some))) lost |= some & pattern_contradicts(S, D + i * S * S, x + i * S, y, right);
    }
    lost |= ~vec_finite(sum);
    if (RARELY(vec_any(lost)))
        for (long i = 0; i < PATTERN_NODES * S; i++) b[i] = vec_select(lost, vec_set(__builtin_nan("")), b[i]);
    return lost;
}

/* Both at once: A is destroyed, x replaces b; scratch has PATTERN_SCRATCH(S) vecs.  Gives the lanes that have no finite
 * solution. */
INLINE ivec pattern_solve(long S, vec *A, vec *b, vec *scratch) {
    vec *D = scratch, *work = D + PATTERN_NODES * S * S;
    ivec some, lost = pattern_factor(S, A, D, work, &some);
    return pattern_substitute(S, A, D, some, lost, b, work);
}

#endif
