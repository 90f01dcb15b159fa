/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linear systems A x = b, one per lane: A = G1 M G0^T with sparse G0, G1 (constraint Jacobians) and M (inverse mass),
 * or A = 1 + (B_ik) with tiles that are multiples of M H (second derivatives H): Newton's method for implicit steps.
 *
 * All lanes share the pattern, and it is known before compilation: the tables are those of lgv_sparse_emit, explained
 * in sparse.h.  A = L U without pivoting, row by row: row k < i is taken off row i with the factor L_ik = A_ik / U_kk.
 * This is stable for G1 = G0 and M positive definite, and near it, and for M and H positive definite; elsewhere the
 * iteration around it has to look at how it converges.  For a chain all work is linear in its length.
 *
 * This file has no includes; it follows lanes.h and the tables. */
#ifndef LGV_SPARSE_LANES_H
#define LGV_SPARSE_LANES_H

/* Where the tables are; a program without generated text defines this and the sizes SPARSE_NC, ... before. */
#ifndef SPARSE_TABLE
#define SPARSE_TABLE(name) sparse_##name
#endif
/* A pivot below this part of the diagonal it came from is round-off: constraints depend on each other. */
#define SPARSE_CANCELLED 1e-13

#ifndef SPARSE_SETS
/* The entries A [SPARSE_NA] from G1, G0 [SPARSE_NG] and M [SPARSE_NM]; zero where the factors fill in. */
OUTLINE void sparse_assemble(const vec *G1, const vec *M, const vec *G0, vec *A) {
    int p = 0;
    for (int k = 0; k < SPARSE_NA; k++) {
        int end = SPARSE_TABLE(sum)[k + 1];
        vec value = vec_set(0.0);
        for (; p < end; p++)
            value = vec_fused(G1[SPARSE_TABLE(g1)[p]] * M[SPARSE_TABLE(m)[p]], G0[SPARSE_TABLE(g0)[p]], value);
        A[k] = value;
    }
}

/* S = G M, along the pattern of G: for a diagonal M. */
OUTLINE void sparse_scale(const vec *G, const vec *M, vec *S) {
    for (int p = 0; p < SPARSE_NG; p++) S[p] = G[p] * M[SPARSE_TABLE(g_col)[p]];
}

/* sparse_assemble with S = G0 M. */
OUTLINE void sparse_assemble_scaled(const vec *G1, const vec *S, vec *A) {
    int p = 0;
    for (int k = 0; k < SPARSE_NA; k++) {
        int end = SPARSE_TABLE(sum)[k + 1];
        vec value = vec_set(0.0);
        for (; p < end; p++) value = vec_fused(G1[SPARSE_TABLE(g1)[p]], S[SPARSE_TABLE(g0)[p]], value);
        A[k] = value;
    }
}

#endif

/* A becomes L and U, with the inverse of the diagonal.  *singular becomes the mask of the lanes with a bad pivot. */
OUTLINE void sparse_factor(vec *A, ivec *singular) {
    int at[SPARSE_NC]; /* of row i: where column j is.  Row k only has columns that row i has too. */
    ivec bad = {0};
    for (int i = 0; i < SPARSE_NC; i++) {
        int begin = SPARSE_TABLE(a_row)[i], diagonal = SPARSE_TABLE(a_diagonal)[i], end = SPARSE_TABLE(a_row)[i + 1];
        vec before = vec_abs(A[diagonal]);
        for (int p = begin; p < end; p++) at[SPARSE_TABLE(a_col)[p]] = p;
        for (int p = begin; p < diagonal; p++) {
            int k = SPARSE_TABLE(a_col)[p], first = SPARSE_TABLE(a_diagonal)[k], last = SPARSE_TABLE(a_row)[k + 1];
            vec factor = A[p] * A[first];
            for (int q = first + 1; q < last; q++) {
                int to = at[SPARSE_TABLE(a_col)[q]];
                A[to] = vec_fused(-factor, A[q], A[to]);
            }
            A[p] = factor;
        }
        vec pivot = A[diagonal];
        bad |= ~((ivec)(vec_abs(pivot) > SPARSE_CANCELLED * before) & vec_finite(pivot));
        A[diagonal] = 1.0 / pivot;
    }
    *singular = bad;
}

/* Solves A x = b with the factors; x replaces b [SPARSE_NC], `work` has SPARSE_NC vecs.  Lanes without a finite
 * solution are added to *singular; x is NaN in all of its lanes. */
OUTLINE void sparse_substitute(const vec *A, vec *b, vec *work, ivec *singular) {
    vec sum = vec_set(0.0); /* finite if all of x is */
    for (int i = 0; i < SPARSE_NC; i++) {
        vec x = b[SPARSE_TABLE(order)[i]];
        for (int p = SPARSE_TABLE(a_row)[i]; p < SPARSE_TABLE(a_diagonal)[i]; p++)
            x = vec_fused(-A[p], work[SPARSE_TABLE(a_col)[p]], x);
        work[i] = x;
    }
    for (int i = SPARSE_NC - 1; i >= 0; i--) {
        int diagonal = SPARSE_TABLE(a_diagonal)[i];
        vec x = work[i];
        for (int p = diagonal + 1; p < SPARSE_TABLE(a_row)[i + 1]; p++)
            x = vec_fused(-A[p], work[SPARSE_TABLE(a_col)[p]], x);
        x = x * A[diagonal];
        sum = sum + vec_abs(x);
        work[i] = x;
        b[SPARSE_TABLE(order)[i]] = x;
    }
    *singular |= ~vec_finite(sum);
    if (RARELY(vec_any(*singular)))
        for (int i = 0; i < SPARSE_NC; i++) b[i] = vec_select(*singular, vec_set(__builtin_nan("")), b[i]);
}

/* Both at once: A is destroyed, x replaces b.  *singular becomes the mask of the lanes without a solution. */
INLINE void sparse_solve(vec *A, vec *b, vec *work, ivec *singular) {
    sparse_factor(A, singular);
    sparse_substitute(A, b, work, singular);
}

/* y = G x, or H x, of so many rows. */
OUTLINE void sparse_multiply_rows(int rows, const vec *G, const vec *x, vec *y) {
    for (int i = 0; i < rows; i++) {
        vec value = vec_set(0.0);
        for (int p = SPARSE_TABLE(g_row)[i]; p < SPARSE_TABLE(g_row)[i + 1]; p++)
            value = vec_fused(G[p], x[SPARSE_TABLE(g_col)[p]], value);
        y[i] = value;
    }
}

INLINE void sparse_multiply(const vec *G, const vec *x, vec *y) {
    sparse_multiply_rows(SPARSE_NC, G, x, y);
}

#ifndef SPARSE_SETS
/* x = x + G^T lambda, column by column: every x is read and written once. */
OUTLINE void sparse_multiply_transposed(const vec *G, const vec *lambda, vec *x) {
    int p = 0;
    for (int j = 0; j < SPARSE_NQ; j++) {
        int end = SPARSE_TABLE(t_col)[j + 1];
        vec value = x[j];
        for (; p < end; p++) value = vec_fused(G[SPARSE_TABLE(t_at)[p]], lambda[SPARSE_TABLE(t_row)[p]], value);
        x[j] = value;
    }
}

/* x = G^T lambda, and *size = sum |x|. */
OUTLINE void sparse_transposed(const vec *G, const vec *lambda, vec *x, vec *size) {
    int p = 0;
    vec sum = vec_set(0.0);
    for (int j = 0; j < SPARSE_NQ; j++) {
        int end = SPARSE_TABLE(t_col)[j + 1];
        vec value = vec_set(0.0);
        for (; p < end; p++) value = vec_fused(G[SPARSE_TABLE(t_at)[p]], lambda[SPARSE_TABLE(t_row)[p]], value);
        x[j] = value;
        sum += vec_abs(value);
    }
    *size = sum;
}
#endif

/* y = M x. */
OUTLINE void sparse_multiply_mass(const vec *M, const vec *x, vec *y) {
    for (int i = 0; i < SPARSE_NQ; i++) {
        vec value = vec_set(0.0);
        for (int p = SPARSE_TABLE(m_row)[i]; p < SPARSE_TABLE(m_row)[i + 1]; p++)
            value = vec_fused(M[p], x[SPARSE_TABLE(m_col)[p]], value);
        y[i] = value;
    }
}

#ifdef SPARSE_SETS
/* A = 1. */
OUTLINE void sparse_one(vec *A) {
    for (int k = 0; k < SPARSE_NA; k++) A[k] = vec_set(0.0);
    for (int i = 0; i < SPARSE_NC; i++) A[SPARSE_TABLE(a_diagonal)[i]] = vec_set(1.0);
}

/* Adds factor M H to tile (i, j) of A. */
OUTLINE void sparse_add_tile(int i, int j, double factor, const vec *M, const vec *H, vec *A) {
    int p = 0;
    if (factor == 0) return;
    for (int k = 0; k < SPARSE_NB; k++) {
        int end = SPARSE_TABLE(sum)[k + 1], to = SPARSE_TABLE(place)[(k * SPARSE_SETS + i) * SPARSE_SETS + j];
        vec value = vec_set(0.0);
        for (; p < end; p++) value = vec_fused(M[SPARSE_TABLE(m)[p]], H[SPARSE_TABLE(g0)[p]], value);
        A[to] = vec_fused(vec_set(factor), value, A[to]);
    }
}
#endif

#endif
