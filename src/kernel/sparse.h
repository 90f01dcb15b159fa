/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The patterns of the matrix A of a step and of its factors, found when a kernel is generated.  A is either
 *
 *     G1 M G0^T          G0, G1 [nc][nq]: constraint Jacobians of one pattern, M [nq][nq]: the inverse mass
 *     1 + (B_ik)         tiles B_ik, i, k < sets, all with the pattern of M H; H [nq][nq]: second derivatives in q
 *     (A_kl)             blocks of any one size at the places (k, l) of a pattern
 *
 * sparse_lanes.h computes with the tables that lgv_sparse_emit writes, pattern.h with those of
 * lgv_sparse_emit_pattern.  Private to the kernel stage. */
#ifndef LGV_SPARSE_H
#define LGV_SPARSE_H

#include "model/model.h"

/* More products or entries than this are refused: the text of their tables would be larger than compilers digest. */
#define LGV_SPARSE_LARGEST (1L << 22)

/* Values of G (or H) and M are stored by rows, columns ascending (the order of lgv_terms_pattern).  Row and column k of
 * the factors belong to equation order[k]; L and U share the rows of A, with all entries that fill in. */
struct lgv_sparse {
    int nc, nq, ng, nm, na, np;      /* equations, coordinates, entries of G or H, of M and of L + U, products */
    int *g_row, *g_col;              /* [nc + 1] of G or [nq + 1] of H, [ng]: g_row[i] to g_row[i + 1] are in row i */
    int *t_col, *t_row, *t_at;       /* G by columns, without sets: [nq + 1], rows and places [ng], rows ascending */
    int *m_row, *m_col;              /* [nq + 1], [nm] */
    int *order;                      /* [nc] */
    int *a_row, *a_diagonal, *a_col; /* [nc + 1], [nc], [na] */
    /* [na + 1], [np], [np], [np]: A[k] = sum over sum[k] <= p < sum[k + 1] of G1[g1[p]] M[m[p]] G0[g0[p]] */
    int *sum, *g1, *m, *g0;
    /* Of 1 + (B_ik): B has nb entries, B[k] = sum over sum[k] <= p < sum[k + 1] of M[m[p]] H[g0[p]].  Entry k of tile
     * (i, j) is A[place[(k sets + i) sets + j]]; unknown (i, c) has number i nq + c.  There is no g1. */
    int sets, nb, *place;
    /* Of blocks: entry e of the pattern, which g_row and g_col have, is block place[e] of the factors, and mirror[e] is
     * the number of the entry across the diagonal.  There are no m_row, sum, g1, m and g0. */
    int *mirror;
};

/* The places may come in any order and more than once; `g` has `ng` of them, `m` has `nm`.  What was made is freed with
 * lgv_sparse_free; after a failure there is nothing to free. */
enum lgv_status lgv_sparse_make(struct lgv_sparse *s, int nc, int nq, const struct lgv_place *g, long ng,
                                const struct lgv_place *m, long nm, struct lgv_error *err);
/* The same for 1 + (B_ik). */
enum lgv_status lgv_sparse_make_tiles(struct lgv_sparse *s, int nq, int sets, const struct lgv_place *h, long nh,
                                       const struct lgv_place *m, long nm, struct lgv_error *err);
/* The same for blocks on a pattern with all of its diagonal and, with every place, the one across it.  Those from
 * number `border` on have nothing on their diagonal, as multipliers: they are eliminated behind all they are coupled
 * to. */
enum lgv_status lgv_sparse_make_pattern(struct lgv_sparse *s, int n, int border, const struct lgv_place *w, long nw,
                                        struct lgv_error *err);
void lgv_sparse_free(struct lgv_sparse *s);
/* Multiplications of one factorisation. */
double lgv_sparse_operations(const struct lgv_sparse *s);
/* Position of an entry in rows like g_row, g_col; -1 when it is none. */
int lgv_sparse_find(const int *row, const int *col, int i, int j);
/* #define SPARSE_NC, SPARSE_NQ, SPARSE_NG, SPARSE_NM, SPARSE_NA, SPARSE_NP, SPARSE_DIAGONAL: of M (and SPARSE_SETS,
 * SPARSE_NB) and the arrays above as sparse_g_row, ...  False when memory is out. */
bool lgv_sparse_emit(const struct lgv_sparse *s, struct lgv_text *out);
/* #define PATTERN_NODES, PATTERN_NE, PATTERN_NA and pattern_row, pattern_col (of the pattern), pattern_order, ... */
bool lgv_sparse_emit_pattern(const struct lgv_sparse *s, struct lgv_text *out);

#endif
