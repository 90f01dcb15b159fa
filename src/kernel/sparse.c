/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Patterns of the matrix A of a step, of its LU factors without pivoting, and the list of products A is the sum of.
 *
 * Rows and columns are renumbered alike by approximate minimum degree (AMD of SuiteSparse).  On the symmetrised
 * pattern, row i of L holds every k < i on the paths from the columns of row i up the elimination tree, and U has the
 * pattern of L^T.  Memory is linear in the number of products and of entries of the factors. */
#include "kernel/sparse.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/amd.h>

/* Scratch of the construction. */
struct work {
    int *t_col, *t_row;        /* of B = M H: rows of its entries, and their columns */
    int *place;                /* [nc]: inverse of order */
    int *mark;                 /* [nc] */
    int *p_row, *p_col;        /* pattern of A before ordering, later symmetrised and permuted: [nc + 1], entries */
    int *l_row, *l_col;        /* rows of L, unsorted: [nc + 1], entries */
};

static const char *kind(const struct lgv_sparse *s) {
    return s->sets ? "equations" : "constraints";
}

static int *ints(long count) {
    return lgv_new((size_t)(count > 0 ? count : 1), sizeof(int));
}

/* Sorted unique places by rows. */
static enum lgv_status rows_of(const struct lgv_place *place, long count, int nrows, int ncols, int **row, int **col,
                               int *unique, struct lgv_error *err) {
    if (count < 0 || count > LGV_SPARSE_LARGEST)
        return lgv_fail(err, LGV_CANNOT_RUN, "%ld entries of a sparse matrix are too many", count);
    for (long i = 0; i < count; i++)
        if (place[i].row < 0 || place[i].row >= nrows || place[i].col < 0 || place[i].col >= ncols)
            return lgv_fail(err, LGV_BAD_INPUT, "entry (%d, %d) is outside of a %d x %d matrix", place[i].row,
                            place[i].col, nrows, ncols);
    struct lgv_place *sorted = lgv_new((size_t)count + 1, sizeof *sorted);
    *row = ints(nrows + 1L);
    *col = ints(count);
    if (!sorted || !*row || !*col) {
        free(sorted);
        return lgv_fail_memory(err);
    }
    if (count > 0) memcpy(sorted, place, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, lgv_place_order);
    int n = 0;
    for (long i = 0; i < count; i++) {
        if (i > 0 && lgv_place_order(&sorted[i], &sorted[i - 1]) == 0) continue;
        (*row)[sorted[i].row + 1]++;
        (*col)[n++] = sorted[i].col;
    }
    for (int i = 0; i < nrows; i++) (*row)[i + 1] += (*row)[i];
    free(sorted);
    *unique = n;
    return LGV_OK;
}

static bool columns_of(struct lgv_sparse *s) {
    s->t_col = ints(s->nq + 2L);
    s->t_row = ints(s->ng);
    s->t_at = ints(s->ng);
    if (!s->t_col || !s->t_row || !s->t_at) return false;
    for (int a = 0; a < s->ng; a++) s->t_col[s->g_col[a] + 2]++;
    for (int j = 0; j < s->nq; j++) s->t_col[j + 2] += s->t_col[j + 1];
    for (int i = 0; i < s->nc; i++) {
        for (int a = s->g_row[i]; a < s->g_row[i + 1]; a++) {
            int to = s->t_col[s->g_col[a] + 1]++; /* one further on than the column: ends as its start */
            s->t_row[to] = i;
            s->t_at[to] = a;
        }
    }
    return true;
}

/* Counts products and entries of row i of A.  Into `col`, unless NULL, go the columns of its entries. */
static int row_of_product(const struct lgv_sparse *s, const struct work *w, int i, int *col, long *products) {
    int count = 0;
    for (int a = s->g_row[i]; a < s->g_row[i + 1]; a++) {
        int k = s->g_col[a];
        for (int m = s->m_row[k]; m < s->m_row[k + 1]; m++) {
            int l = s->m_col[m];
            *products += s->t_col[l + 1] - s->t_col[l];
            for (int b = s->t_col[l]; *products <= LGV_SPARSE_LARGEST && b < s->t_col[l + 1]; b++) {
                if (w->mark[s->t_row[b]] == i) continue;
                w->mark[s->t_row[b]] = i;
                if (col) col[count] = s->t_row[b];
                count++;
            }
        }
    }
    return count;
}

static enum lgv_status pattern_of_product(struct lgv_sparse *s, struct work *w, struct lgv_error *err) {
    long products = 0;
    w->mark = ints(s->nc);
    w->p_row = ints(s->nc + 1L);
    if (!w->mark || !w->p_row) return lgv_fail_memory(err);
    for (int i = 0; i < s->nc; i++) w->mark[i] = -1;
    for (int i = 0; i < s->nc; i++) {
        w->p_row[i + 1] = w->p_row[i] + row_of_product(s, w, i, NULL, &products);
        if (products > LGV_SPARSE_LARGEST)
            return lgv_fail(err, LGV_CANNOT_RUN, "%d %s are coupled too densely: more than %ld products",
                            s->nc, kind(s), LGV_SPARSE_LARGEST);
    }
    s->np = (int)products;
    w->p_col = ints(w->p_row[s->nc]);
    if (!w->p_col) return lgv_fail_memory(err);
    for (int i = 0; i < s->nc; i++) w->mark[i] = -1;
    products = 0;
    for (int i = 0; i < s->nc; i++) row_of_product(s, w, i, w->p_col + w->p_row[i], &products);
    return LGV_OK;
}

static bool order(struct lgv_sparse *s, struct work *w) {
    s->order = ints(s->nc);
    w->place = ints(s->nc);
    if (!s->order || !w->place) return false;
    if (amd_order(s->nc, w->p_row, w->p_col, s->order, NULL, NULL) < AMD_OK) return false;
    for (int k = 0; k < s->nc; k++) w->place[s->order[k]] = k;
    return true;
}

/* The pattern of P (A + A^T) P^T below the diagonal, by rows; entries may come twice. */
static bool symmetrise(const struct lgv_sparse *s, struct work *w) {
    int *row = ints(s->nc + 2L), *col = ints(w->p_row[s->nc]);
    if (!row || !col) {
        free(row);
        free(col);
        return false;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < s->nc; i++) {
            for (int p = w->p_row[i]; p < w->p_row[i + 1]; p++) {
                int a = w->place[i], b = w->place[w->p_col[p]], low = a < b ? a : b, high = a < b ? b : a;
                if (low == high) continue;
                if (pass == 0)
                    row[high + 2]++;
                else
                    col[row[high + 1]++] = low;
            }
        }
        for (int i = 0; pass == 0 && i < s->nc; i++) row[i + 2] += row[i + 1];
    }
    free(w->p_row);
    free(w->p_col);
    w->p_row = row;
    w->p_col = col;
    return true;
}

/* Rows of L from the elimination tree, which grows along: the parent of j is the first row that holds j. */
static enum lgv_status lower_rows(const struct lgv_sparse *s, struct work *w, struct lgv_error *err) {
    int *parent = ints(s->nc), count = 0;
    size_t capacity = 0;
    w->l_row = ints(s->nc + 1L);
    if (!parent || !w->l_row) goto memory;
    for (int i = 0; i < s->nc; i++) w->mark[i] = parent[i] = -1;
    for (int i = 0; i < s->nc; i++) {
        w->mark[i] = i;
        for (int p = w->p_row[i]; p < w->p_row[i + 1]; p++) {
            for (int j = w->p_col[p]; w->mark[j] != i; j = parent[j]) {
                if (!lgv_grow(&w->l_col, &capacity, (size_t)count + 1, sizeof *w->l_col)) goto memory;
                w->l_col[count++] = j;
                w->mark[j] = i;
                if (parent[j] < 0) parent[j] = i;
            }
        }
        w->l_row[i + 1] = count;
        if (2L * count + s->nc > LGV_SPARSE_LARGEST) {
            free(parent);
            return lgv_fail(err, LGV_CANNOT_RUN, "%d %s are coupled too densely: factors of more than %ld entries",
                            s->nc, kind(s), LGV_SPARSE_LARGEST);
        }
    }
    free(parent);
    return LGV_OK;
memory:
    free(parent);
    return lgv_fail_memory(err);
}

/* Rows of L, diagonal and U = pattern of L^T together.  Going through the rows in order makes those of U ascending, and
 * going through U in order those of L. */
static bool filled_rows(struct lgv_sparse *s, struct work *w) {
    int n = s->nc, below = w->l_row[n], *next = w->mark;
    s->na = n + 2 * below;
    s->a_row = ints(n + 1L);
    s->a_diagonal = ints(n);
    s->a_col = ints(s->na);
    if (!s->a_row || !s->a_diagonal || !s->a_col) return false;
    for (int p = 0; p < below; p++) s->a_row[w->l_col[p] + 1]++;
    for (int i = 0; i < n; i++) {
        int left = w->l_row[i + 1] - w->l_row[i];
        s->a_diagonal[i] = s->a_row[i] + left;
        s->a_row[i + 1] += s->a_row[i] + left + 1;
        s->a_col[s->a_diagonal[i]] = i;
        next[i] = s->a_diagonal[i] + 1;
    }
    for (int i = 0; i < n; i++)
        for (int p = w->l_row[i]; p < w->l_row[i + 1]; p++) s->a_col[next[w->l_col[p]]++] = i;
    for (int i = 0; i < n; i++) next[i] = s->a_row[i];
    for (int k = 0; k < n; k++)
        for (int p = s->a_diagonal[k] + 1; p < s->a_row[k + 1]; p++) s->a_col[next[s->a_col[p]]++] = k;
    return true;
}

/* One pass over all products.  The first counts them in sum[k + 2], the second puts them where sum[k + 1] points. */
static void each_product(struct lgv_sparse *s, const struct work *w, int pass) {
    int *at = w->mark;
    for (int i = 0; i < s->nc; i++) {
        int r = w->place[i];
        for (int p = s->a_row[r]; p < s->a_row[r + 1]; p++) at[s->a_col[p]] = p;
        for (int a = s->g_row[i]; a < s->g_row[i + 1]; a++) {
            for (int m = s->m_row[s->g_col[a]]; m < s->m_row[s->g_col[a] + 1]; m++) {
                for (int b = s->t_col[s->m_col[m]]; b < s->t_col[s->m_col[m] + 1]; b++) {
                    int k = at[w->place[s->t_row[b]]];
                    if (pass == 0) {
                        s->sum[k + 2]++;
                        continue;
                    }
                    int to = s->sum[k + 1]++;
                    s->g1[to] = a;
                    s->m[to] = m;
                    s->g0[to] = s->t_at[b];
                }
            }
        }
    }
}

static bool products_of(struct lgv_sparse *s, const struct work *w) {
    s->sum = ints(s->na + 2L);
    s->g1 = ints(s->np);
    s->m = ints(s->np);
    s->g0 = ints(s->np);
    if (!s->sum || !s->g1 || !s->m || !s->g0) return false;
    each_product(s, w, 0);
    for (int k = 0; k < s->na; k++) s->sum[k + 2] += s->sum[k + 1];
    each_product(s, w, 1);
    return true;
}

/* From the pattern of A, in its order, to that of its factors. */
static enum lgv_status factors_of(struct lgv_sparse *s, struct work *w, struct lgv_error *err) {
    if (!symmetrise(s, w)) return lgv_fail_memory(err);
    enum lgv_status status = lower_rows(s, w, err);
    if (status != LGV_OK) return status;
    return filled_rows(s, w) ? LGV_OK : lgv_fail_memory(err);
}

static enum lgv_status make(struct lgv_sparse *s, struct work *w, struct lgv_error *err) {
    if (!columns_of(s)) return lgv_fail_memory(err);
    enum lgv_status status = pattern_of_product(s, w, err);
    if (status == LGV_OK && !order(s, w)) status = lgv_fail_memory(err);
    if (status == LGV_OK) status = factors_of(s, w, err);
    if (status != LGV_OK) return status;
    return products_of(s, w) ? LGV_OK : lgv_fail_memory(err);
}

/* ---- tiles of M H ---- */

/* The entries of B = M H and its diagonal row by row, each with its products: in w->t_col rows, in w->t_row columns. */
static enum lgv_status tiles_of_product(struct lgv_sparse *s, struct work *w, struct lgv_error *err) {
    long products = 0, entries = s->nq;
    for (int k = 0; k < s->nm; k++) products += s->g_row[s->m_col[k] + 1] - s->g_row[s->m_col[k]];
    if (products > LGV_SPARSE_LARGEST)
        return lgv_fail(err, LGV_CANNOT_RUN, "%d %s are coupled too densely: more than %ld products", s->nc,
                        kind(s), LGV_SPARSE_LARGEST);
    entries += products;
    w->t_col = ints(s->nq + 1L);
    w->t_row = ints(entries);
    w->mark = ints(s->nc);
    s->sum = ints(entries + 2);
    s->m = ints(products);
    s->g0 = ints(products);
    if (!w->t_col || !w->t_row || !w->mark || !s->sum || !s->m || !s->g0) return lgv_fail_memory(err);
    s->np = (int)products;
    for (int i = 0; i < s->nq; i++) w->mark[i] = -1;
    for (int i = 0; i < s->nq; i++) { /* mark: where a column's entry is; those before t_col[i] are of other rows */
        w->mark[i] = s->nb;
        w->t_row[s->nb++] = i;
        for (int pass = 0; pass < 2; pass++) {
            for (int k = s->m_row[i]; k < s->m_row[i + 1]; k++) {
                for (int h = s->g_row[s->m_col[k]]; h < s->g_row[s->m_col[k] + 1]; h++) {
                    int j = s->g_col[h];
                    if (pass == 0 && w->mark[j] < w->t_col[i]) {
                        w->mark[j] = s->nb;
                        w->t_row[s->nb++] = j;
                    }
                    if (pass == 0) {
                        s->sum[w->mark[j] + 2]++;
                        continue;
                    }
                    int to = s->sum[w->mark[j] + 1]++;
                    s->m[to] = k;
                    s->g0[to] = h;
                }
            }
            for (int e = w->t_col[i]; pass == 0 && e < s->nb; e++) s->sum[e + 2] += s->sum[e + 1];
        }
        w->t_col[i + 1] = s->nb;
    }
    return LGV_OK;
}

/* The pattern of all tiles, unknown (i, c) having the number i nq + c. */
static bool spread_tiles(const struct lgv_sparse *s, struct work *w) {
    w->p_row = ints(s->nc + 1L);
    w->p_col = ints((long)s->nb * s->sets * s->sets);
    if (!w->p_row || !w->p_col) return false;
    int count = 0;
    for (int r = 0; r < s->nc; r++) {
        for (int e = w->t_col[r % s->nq]; e < w->t_col[r % s->nq + 1]; e++)
            for (int k = 0; k < s->sets; k++) w->p_col[count++] = k * s->nq + w->t_row[e];
        w->p_row[r + 1] = count;
    }
    return true;
}

static bool places_of_tiles(struct lgv_sparse *s, const struct work *w) {
    s->place = ints((long)s->nb * s->sets * s->sets);
    for (int c = 0, to = 0; s->place && c < s->nq; c++)
        for (int e = w->t_col[c]; e < w->t_col[c + 1]; e++)
            for (int i = 0; i < s->sets; i++)
                for (int k = 0; k < s->sets; k++)
                    s->place[to++] = lgv_sparse_find(s->a_row, s->a_col, w->place[i * s->nq + c],
                                                     w->place[k * s->nq + w->t_row[e]]);
    return s->place != NULL;
}

static enum lgv_status make_tiles(struct lgv_sparse *s, struct work *w, struct lgv_error *err) {
    enum lgv_status status = tiles_of_product(s, w, err);
    if (status != LGV_OK) return status;
    if ((long)s->nb * s->sets * s->sets > LGV_SPARSE_LARGEST)
        return lgv_fail(err, LGV_CANNOT_RUN, "%d %s are coupled too densely", s->nc, kind(s));
    if (!spread_tiles(s, w) || !order(s, w)) return lgv_fail_memory(err);
    status = factors_of(s, w, err);
    if (status != LGV_OK) return status;
    return places_of_tiles(s, w) ? LGV_OK : lgv_fail_memory(err);
}

/* ---- blocks on a pattern ---- */

/* Those from `border` on go behind the last of what they are coupled to, and keep their order otherwise. */
static bool put_behind(struct lgv_sparse *s, struct work *w, int border) {
    struct lgv_place *key = lgv_new((size_t)s->nc, sizeof *key);
    if (!key) return false;
    for (int k = 0; k < s->nc; k++) {
        int i = s->order[k], last = k;
        for (int e = s->g_row[i]; i >= border && e < s->g_row[i + 1]; e++)
            if (s->g_col[e] < border && w->place[s->g_col[e]] > last) last = w->place[s->g_col[e]];
        key[i] = (struct lgv_place){last, i}; /* of equal ones the border is last: its numbers are larger */
    }
    qsort(key, (size_t)s->nc, sizeof *key, lgv_place_order);
    for (int k = 0; k < s->nc; k++) {
        s->order[k] = key[k].col;
        w->place[key[k].col] = k;
    }
    free(key);
    return true;
}

static enum lgv_status make_pattern(struct lgv_sparse *s, struct work *w, int border, struct lgv_error *err) {
    w->mark = ints(s->nc);
    w->p_row = ints(s->nc + 1L);
    w->p_col = ints(s->ng);
    s->place = ints(s->ng);
    s->mirror = ints(s->ng);
    if (!w->mark || !w->p_row || !w->p_col || !s->place || !s->mirror) return lgv_fail_memory(err);
    memcpy(w->p_row, s->g_row, ((size_t)s->nc + 1) * sizeof *w->p_row);
    memcpy(w->p_col, s->g_col, (size_t)s->ng * sizeof *w->p_col);
    if (!order(s, w) || (border < s->nc && !put_behind(s, w, border))) return lgv_fail_memory(err);
    enum lgv_status status = factors_of(s, w, err);
    for (int i = 0; status == LGV_OK && i < s->nc; i++)
        for (int e = s->g_row[i]; e < s->g_row[i + 1]; e++) {
            s->place[e] = lgv_sparse_find(s->a_row, s->a_col, w->place[i], w->place[s->g_col[e]]);
            s->mirror[e] = lgv_sparse_find(s->g_row, s->g_col, s->g_col[e], i);
        }
    return status;
}

#define MOST_OPERATIONS 3e7 /* some hundredths of a second a step and path */

double lgv_sparse_operations(const struct lgv_sparse *s) {
    double sum = 0;
    for (int i = 0; i < s->nc; i++)
        for (int p = s->a_row[i]; p < s->a_diagonal[i]; p++) {
            int k = s->a_col[p];
            sum += s->a_row[k + 1] - s->a_diagonal[k];
        }
    return sum;
}

/* s->sets is 0 for constraints; `rows` is the number of rows of G or H.  Without m: blocks, with that border. */
static enum lgv_status make_any(struct lgv_sparse *s, int rows, const struct lgv_place *g, long ng,
                                const struct lgv_place *m, long nm, int border, struct lgv_error *err) {
    struct work w = {0};
    if (s->nc < 1 || s->nq < 1 || s->nc > LGV_SPARSE_LARGEST || s->nq > LGV_SPARSE_LARGEST)
        return lgv_fail(err, LGV_CANNOT_RUN, "%d %s on %d coordinates: none, or too many", s->nc, kind(s), s->nq);
    enum lgv_status status = rows_of(g, ng, rows, s->nq, &s->g_row, &s->g_col, &s->ng, err);
    if (status == LGV_OK && m) status = rows_of(m, nm, s->nq, s->nq, &s->m_row, &s->m_col, &s->nm, err);
    if (status == LGV_OK)
        status = !m ? make_pattern(s, &w, border, err) : s->sets ? make_tiles(s, &w, err) : make(s, &w, err);
    if (status == LGV_OK && lgv_sparse_operations(s) > MOST_OPERATIONS)
        status = lgv_fail(err, LGV_CANNOT_RUN,
                          "%d %s are coupled too densely: solving them takes %.2g operations, and this version "
                          "stops at %.2g",
                          s->nc, kind(s), lgv_sparse_operations(s), MOST_OPERATIONS);
    int *const scratch[] = {w.t_col, w.t_row, w.place, w.mark, w.p_row, w.p_col, w.l_row, w.l_col};
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++) free(scratch[i]);
    if (status != LGV_OK) lgv_sparse_free(s);
    return status;
}

enum lgv_status lgv_sparse_make(struct lgv_sparse *s, int nc, int nq, const struct lgv_place *g, long ng,
                                const struct lgv_place *m, long nm, struct lgv_error *err) {
    *s = (struct lgv_sparse){.nc = nc, .nq = nq};
    return make_any(s, nc, g, ng, m, nm, 0, err);
}

enum lgv_status lgv_sparse_make_tiles(struct lgv_sparse *s, int nq, int sets, const struct lgv_place *h, long nh,
                                       const struct lgv_place *m, long nm, struct lgv_error *err) {
    *s = (struct lgv_sparse){.nc = nq > LGV_SPARSE_LARGEST ? nq : nq * sets, .nq = nq, .sets = sets};
    return make_any(s, nq, h, nh, m, nm, 0, err);
}

enum lgv_status lgv_sparse_make_pattern(struct lgv_sparse *s, int n, int border, const struct lgv_place *w, long nw,
                                        struct lgv_error *err) {
    *s = (struct lgv_sparse){.nc = n, .nq = n, .sets = 1};
    return make_any(s, n, w, nw, NULL, 0, border, err);
}

void lgv_sparse_free(struct lgv_sparse *s) {
    int *const array[] = {s->g_row, s->g_col,      s->t_col, s->t_row, s->t_at, s->m_row, s->m_col, s->order,
                          s->a_row, s->a_diagonal, s->a_col, s->sum,   s->g1,   s->m,     s->g0,    s->place,
                          s->mirror};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++) free(array[i]);
    *s = (struct lgv_sparse){0};
}

int lgv_sparse_find(const int *row, const int *col, int i, int j) {
    int low = row[i], high = row[i + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (col[middle] == j) return middle;
        if (col[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

/* The narrower type halves what the kernel reads along with its values. */
static void emit_any(struct lgv_text *out, const char *prefix, const char *name, const int *value, long count) {
    int largest = 0;
    for (long i = 0; i < count; i++)
        if (value[i] > largest) largest = value[i];
    lgv_text_add(out, "static const %s %s_%s[] = {", largest <= USHRT_MAX ? "unsigned short" : "int", prefix, name);
    for (long i = 0; i < count && !out->failed; i++) lgv_text_add(out, i % 20 ? "%d," : "\n%d,", value[i]);
    lgv_text_add(out, "%s};\n", count > 0 ? "" : "0");
}

static void emit_array(struct lgv_text *out, const char *name, const int *value, long count) {
    emit_any(out, "sparse", name, value, count);
}

/* Has M, which is invertible, its diagonal only? */
static bool is_diagonal(const struct lgv_sparse *s) {
    bool diagonal = s->nm == s->nq;
    for (int i = 0; diagonal && i < s->nq; i++) diagonal = s->m_col[i] == i;
    return diagonal;
}

bool lgv_sparse_emit(const struct lgv_sparse *s, struct lgv_text *out) {
    lgv_text_add(out, "#define SPARSE_NC %d\n#define SPARSE_NQ %d\n#define SPARSE_NG %d\n", s->nc, s->nq, s->ng);
    lgv_text_add(out, "#define SPARSE_NM %d\n#define SPARSE_NA %d\n#define SPARSE_NP %d\n", s->nm, s->na, s->np);
    lgv_text_add(out, "#define SPARSE_DIAGONAL %d\n", is_diagonal(s));
    emit_array(out, "g_row", s->g_row, (s->sets ? s->nq : s->nc) + 1L);
    emit_array(out, "g_col", s->g_col, s->ng);
    emit_array(out, "m_row", s->m_row, s->nq + 1L);
    emit_array(out, "m_col", s->m_col, s->nm);
    emit_array(out, "order", s->order, s->nc);
    emit_array(out, "a_row", s->a_row, s->nc + 1L);
    emit_array(out, "a_diagonal", s->a_diagonal, s->nc);
    emit_array(out, "a_col", s->a_col, s->na);
    emit_array(out, "sum", s->sum, (s->sets ? s->nb : s->na) + 1L);
    if (s->sets) {
        lgv_text_add(out, "#define SPARSE_SETS %d\n#define SPARSE_NB %d\n", s->sets, s->nb);
        emit_array(out, "place", s->place, (long)s->nb * s->sets * s->sets);
    } else {
        emit_array(out, "t_col", s->t_col, s->nq + 1L);
        emit_array(out, "t_row", s->t_row, s->ng);
        emit_array(out, "t_at", s->t_at, s->ng);
        emit_array(out, "g1", s->g1, s->np);
    }
    emit_array(out, "m", s->m, s->np);
    emit_array(out, "g0", s->g0, s->np);
    return !out->failed;
}

bool lgv_sparse_emit_pattern(const struct lgv_sparse *s, struct lgv_text *out) {
    lgv_text_add(out, "#define PATTERN_NODES %dL\n#define PATTERN_NE %dL\n#define PATTERN_NA %dL\n", s->nc, s->ng,
                 s->na);
    emit_any(out, "pattern", "row", s->g_row, s->nc + 1L);
    emit_any(out, "pattern", "col", s->g_col, s->ng);
    emit_any(out, "pattern", "place", s->place, s->ng);
    emit_any(out, "pattern", "mirror", s->mirror, s->ng);
    emit_any(out, "pattern", "order", s->order, s->nc);
    emit_any(out, "pattern", "a_row", s->a_row, s->nc + 1L);
    emit_any(out, "pattern", "a_diagonal", s->a_diagonal, s->nc);
    emit_any(out, "pattern", "a_col", s->a_col, s->na);
    return !out->failed;
}
