/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sparse constraint systems: chains, trees, rings and networks of rods against dense elimination with pivoting, linear
 * fill of chains, dependent constraints, that no lane changes the bits of another, and the tables as C text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/sparse.h"

#define LANES 4
#include "kernel/text/lanes.h"

static struct lgv_sparse table;
#define SPARSE_TABLE(name) table.name
#define SPARSE_NC table.nc
#define SPARSE_NQ table.nq
#define SPARSE_NA table.na
#define SPARSE_NG table.ng
#include "kernel/text/sparse_lanes.h"

enum { ROWS = 300, PARTICLES = ROWS + 4, COORDINATES = 3 * PARTICLES };
enum kind { CHAIN, TREE, RING, NETWORK, STRIP, KINDS };
static const char *const kind_name[] = {"chain", "tree", "ring", "network", "strip"};

/* A system by its places, without any of the tables under test: value of place k in lane l. */
static int nc, nq, ng, nm, rods[ROWS][2];
static struct lgv_place place_g[6 * ROWS], place_m[3 * COORDINATES];
static double value_g1[6 * ROWS][LANES], value_g0[6 * ROWS][LANES], value_m[3 * COORDINATES][LANES];

static vec G1[6 * ROWS], G0[6 * ROWS], M[3 * COORDINATES], b[ROWS], keep[ROWS], work[ROWS], *A;
static ivec singular;
static uint64_t random_state;

static uint64_t random_bits(void) { /* splitmix64 */
    uint64_t z = (random_state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static double random_symmetric(void) {
    return (double)(random_bits() >> 11) * 0x1p-52 - 1.0;
}

static bool joined(int count, int i, int j) {
    for (int k = 0; k < count; k++)
        if ((rods[k][0] == i && rods[k][1] == j) || (rods[k][0] == j && rods[k][1] == i)) return true;
    return false;
}

/* Which particles each of n rods joins; the number of particles.  A strip has rods to the next and the one after it. */
static int join(enum kind kind, int n, int dim) {
    int network = dim == 3 ? n / 2 + 4 : n + 4;
    int particles = kind == NETWORK ? network : kind == STRIP ? n / 2 + 2 : kind == RING ? n : n + 1;
    for (int k = 0; k < n; k++) {
        int i = k, j = (k + 1) % particles;
        if (kind == STRIP) {
            i = k / 2;
            j = i + 1 + k % 2;
        } else if (kind == TREE) {
            i = (int)(random_bits() % (uint64_t)(k + 1));
            j = k + 1;
        }
        if (kind == NETWORK) {
            do {
                i = (int)(random_bits() % (uint64_t)particles);
                j = (int)(random_bits() % (uint64_t)particles);
            } while (i == j || joined(k, i, j));
        }
        rods[k][0] = i;
        rods[k][1] = j;
    }
    return particles;
}

/* G0 has the rods q_i - q_j and their negatives, G1 those of positions nearby; M is symmetric in blocks. */
static void fill(enum kind kind, int n, int dim, bool block) {
    static double q[2][COORDINATES][LANES];
    int particles = join(kind, n, dim);
    nc = n;
    nq = dim * particles;
    ng = nm = 0;
    for (int c = 0; c < nq; c++) {
        for (int l = 0; l < LANES; l++) {
            q[0][c][l] = random_symmetric();
            q[1][c][l] = q[0][c][l] + 0.1 * random_symmetric();
        }
    }
    for (int k = 0; k < n; k++) {
        for (int e = 0; e < 2 * dim; e++) {
            int i = rods[k][e / dim] * dim + e % dim, j = rods[k][1 - e / dim] * dim + e % dim;
            place_g[ng] = (struct lgv_place){k, i};
            for (int l = 0; l < LANES; l++) {
                value_g0[ng][l] = q[0][i][l] - q[0][j][l];
                value_g1[ng][l] = q[1][i][l] - q[1][j][l];
            }
            ng++;
        }
    }
    for (int c = 0; c < nq; c++) {
        for (int e = block ? 0 : c % dim; e < (block ? dim : c % dim + 1); e++) {
            place_m[nm] = (struct lgv_place){c, c - c % dim + e};
            for (int l = 0; l < LANES; l++) value_m[nm][l] = e == c % dim ? 1.5 + random_symmetric() : 0.2;
            nm++;
        }
    }
    for (int k = 0; k < n; k++)
        for (int l = 0; l < LANES; l++) keep[k][l] = random_symmetric();
}

/* Makes the table, from places in some other order and partly twice, and puts the values where it wants them. */
static void prepare(void) {
    struct lgv_error err;
    static struct lgv_place twice[12 * ROWS];
    for (int k = 0; k < ng; k++) {
        twice[k] = place_g[ng - 1 - k];
        twice[ng + k] = place_g[k];
    }
    lgv_sparse_free(&table);
    free(A);
    assert_int_equal(lgv_sparse_make(&table, nc, nq, twice, ng + ng / 3, place_m, nm, &err), LGV_OK);
    assert_int_equal(table.ng, ng);
    assert_int_equal(table.nm, nm);
    A = aligned_alloc(sizeof(vec), (size_t)table.na * sizeof(vec));
    assert_non_null(A);
    for (int k = 0; k < ng; k++) {
        int at = lgv_sparse_find(table.g_row, table.g_col, place_g[k].row, place_g[k].col);
        assert_in_range(at, 0, ng - 1);
        for (int l = 0; l < LANES; l++) {
            G1[at][l] = value_g1[k][l];
            G0[at][l] = value_g0[k][l];
        }
    }
    for (int k = 0; k < nm; k++) {
        int at = lgv_sparse_find(table.m_row, table.m_col, place_m[k].row, place_m[k].col);
        for (int l = 0; l < LANES; l++) M[at][l] = value_m[k][l];
    }
}

static void solve(void) {
    memcpy(b, keep, sizeof b);
    sparse_assemble(G1, M, G0, A);
    sparse_solve(A, b, work, &singular);
}

/* The same for diagonal masses, which are put on the rows of G0 first. */
static void solve_scaled(void) {
    static vec S[6 * ROWS];
    memcpy(b, keep, sizeof b);
    sparse_scale(G0, M, S);
    sparse_assemble_scaled(G1, S, A);
    sparse_solve(A, b, work, &singular);
}

/* The solution of lane l by elimination with pivoting on the dense matrix. */
static void dense(int l, double *x) {
    static double H[ROWS][COORDINATES], D[ROWS][ROWS + 1];
    memset(H, 0, sizeof H);
    memset(D, 0, sizeof D);
    for (int a = 0; a < ng; a++)
        for (int m = 0; m < nm; m++)
            if (place_m[m].row == place_g[a].col) H[place_g[a].row][place_m[m].col] += value_g1[a][l] * value_m[m][l];
    for (int i = 0; i < nc; i++) {
        for (int a = 0; a < ng; a++) D[i][place_g[a].row] += H[i][place_g[a].col] * value_g0[a][l];
        D[i][nc] = keep[i][l];
    }
    for (int k = 0; k < nc; k++) {
        int best = k;
        for (int i = k + 1; i < nc; i++)
            if (fabs(D[i][k]) > fabs(D[best][k])) best = i;
        for (int j = k; j <= nc; j++) {
            double swap = D[k][j];
            D[k][j] = D[best][j];
            D[best][j] = swap;
        }
        for (int i = k + 1; i < nc; i++) {
            double f = D[i][k] / D[k][k];
            for (int j = k; f != 0 && j <= nc; j++) D[i][j] -= f * D[k][j];
        }
    }
    for (int i = nc - 1; i >= 0; i--) {
        x[i] = D[i][nc];
        for (int j = i + 1; j < nc; j++) x[i] -= D[i][j] * x[j];
        x[i] /= D[i][i];
    }
}

/* Largest error of all lanes against the largest part of x. */
static double error(void) {
    double x[ROWS], worst = 0;
    for (int l = 0; l < LANES; l++) {
        double top = 0, off = 0;
        dense(l, x);
        for (int i = 0; i < nc; i++) {
            top = fmax(top, fabs(x[i]));
            off = fmax(off, fabs(b[i][l] - x[i]));
            assert_true(isfinite(b[i][l]));
        }
        worst = fmax(worst, off / top);
    }
    return worst;
}

static void test_dense(void **state) {
    (void)state;
    static const int sizes[] = {1, 2, 3, 4, 7, 20, 61, ROWS};
    for (enum kind kind = CHAIN; kind < KINDS; kind++) {
        for (int dim = kind == STRIP ? 3 : 2; dim <= 3; dim++) { /* a strip in R2 is rigid: condition about n^4 */
            for (int block = 0; block < 2; block++) {
                double worst = 0;
                random_state = 10 * (uint64_t)kind + (uint64_t)dim;
                for (size_t k = kind == RING ? 2 : 0; k < sizeof sizes / sizeof *sizes; k++) {
                    fill(kind, sizes[k], dim, block);
                    prepare();
                    solve();
                    assert_false(vec_any(singular));
                    worst = fmax(worst, error());
                    if (block) continue;
                    solve_scaled();
                    worst = fmax(worst, error());
                }
                print_message("%s in R%d, %s mass: error %.1e, %d entries of %d rows\n", kind_name[kind], dim,
                              block ? "block" : "diagonal", worst, table.na, nc);
                assert_true(worst <= 1e-10);
            }
        }
    }
}

/* Row i of L and U is ascending around its diagonal, the order is a permutation, and every product is there once. */
static void test_tables(void **state) {
    (void)state;
    for (enum kind kind = CHAIN; kind < KINDS; kind++) {
        bool seen[ROWS] = {false};
        random_state = 77;
        fill(kind, 200, 3, true);
        prepare();
        for (int i = 0; i < nc; i++) {
            assert_in_range(table.order[i], 0, nc - 1);
            assert_false(seen[table.order[i]]);
            seen[table.order[i]] = true;
            assert_int_equal(table.a_col[table.a_diagonal[i]], i);
            for (int p = table.a_row[i] + 1; p < table.a_row[i + 1]; p++)
                assert_true(table.a_col[p - 1] < table.a_col[p]);
        }
        assert_int_equal(table.a_row[nc], table.na);
        assert_int_equal(table.sum[table.na], table.np);
    }
}

/* y = G x, x + G^T lambda and M x against sums over the places. */
static void test_multiply(void **state) {
    (void)state;
    static vec x[COORDINATES], y[COORDINATES], z[ROWS];
    random_state = 5;
    fill(NETWORK, 50, 3, true);
    prepare();
    for (int j = 0; j < nq; j++) x[j] = y[j] = vec_set(random_symmetric());
    sparse_multiply(G0, x, z);
    for (int k = 0; k < ng; k++)
        for (int l = 0; l < LANES; l++) z[place_g[k].row][l] -= value_g0[k][l] * x[place_g[k].col][l];
    for (int i = 0; i < nc; i++) assert_true(vec_all((ivec)(vec_abs(z[i]) < 1e-14)));
    sparse_multiply_transposed(G1, keep, y);
    for (int k = 0; k < ng; k++)
        for (int l = 0; l < LANES; l++) y[place_g[k].col][l] -= value_g1[k][l] * keep[place_g[k].row][l];
    for (int j = 0; j < nq; j++) assert_true(vec_all((ivec)(vec_abs(y[j] - x[j]) < 1e-14)));
    sparse_multiply_mass(M, x, y);
    for (int k = 0; k < nm; k++)
        for (int l = 0; l < LANES; l++) y[place_m[k].row][l] -= value_m[k][l] * x[place_m[k].col][l];
    for (int j = 0; j < nq; j++) assert_true(vec_all((ivec)(vec_abs(y[j]) < 1e-14)));
}

/* A chain of n rods is tridiagonal and stays so; one of vector constraints (q_i+1 - q_i given) is so in blocks. */
static void check_linear(int n, int dim, bool vectors) {
    int rows = vectors ? n * dim : n, each = vectors ? 2 : 2 * dim, count = 0;
    struct lgv_place *g = calloc((size_t)(rows * each), sizeof *g), *m = calloc((size_t)(n + 1) * 9, sizeof *m);
    struct lgv_sparse s;
    struct lgv_error err;
    assert_non_null(g);
    assert_non_null(m);
    for (int k = 0; k < rows; k++)
        for (int e = 0; e < each; e++)
            g[count++] = vectors ? (struct lgv_place){k, k + e * dim} : (struct lgv_place){k, k * dim + e};
    int masses = 0;
    for (int c = 0; c < dim * (n + 1); c++)
        for (int e = 0; e < dim; e++)
            if (vectors || e == c % dim) m[masses++] = (struct lgv_place){c, c - c % dim + e};
    assert_int_equal(lgv_sparse_make(&s, rows, dim * (n + 1), g, count, m, masses, &err), LGV_OK);
    int width = vectors ? dim : 1;
    assert_true(s.na <= 3 * n * width * width);
    print_message("chain of %d, %d rows: %d entries, %d products\n", n, rows, s.na, s.np);
    struct lgv_text text = {0};
    assert_true(lgv_sparse_emit(&s, &text));
    assert_non_null(strstr(text.data, vectors ? "SPARSE_DIAGONAL 0\n" : "SPARSE_DIAGONAL 1\n"));
    assert_non_null(strstr(text.data, s.np > 65535 ? "const int sparse_sum[" : "const unsigned short sparse_sum["));
    lgv_text_free(&text);
    lgv_sparse_free(&s);
    free(g);
    free(m);
}

static void test_linear(void **state) {
    (void)state;
    for (int n = 1; n <= 3000; n = n == 1 ? 3 : n * 10) {
        check_linear(n, 2, false);
        check_linear(n, 3, false);
        check_linear(n, 3, true);
    }
}

/* Lane 0 is spoiled: it must be marked and NaN, and nothing else; the others have the bits they have without it. */
static void assert_singular(const vec *alone) {
    solve();
    for (int l = 0; l < LANES; l++) {
        assert_int_equal(singular[l], l == 0 ? -1 : 0);
        for (int i = 0; i < nc; i++) {
            double x = b[i][l], y = alone[i][l];
            assert_true(l == 0 ? isnan(x) : memcmp(&x, &y, sizeof x) == 0);
        }
    }
}

static void test_singular(void **state) {
    (void)state;
    static const double spoiled[] = {NAN, INFINITY, -INFINITY};
    vec alone[ROWS];
    for (enum kind kind = CHAIN; kind < KINDS; kind++) {
        random_state = 9;
        fill(kind, 40, 3, false);
        prepare();
        solve();
        assert_false(vec_any(singular));
        memcpy(alone, b, sizeof b);
        for (int k = 0; k < 3; k++) {
            double good = keep[17][0];
            keep[17][0] = spoiled[k];
            assert_singular(alone);
            keep[17][0] = good;
            good = G1[33][0];
            G1[33][0] = spoiled[k];
            assert_singular(alone);
            G1[33][0] = good;
        }
        for (int p = table.g_row[11]; p < table.g_row[12]; p++) G0[p][0] = 0; /* a rod without direction */
        assert_singular(alone);
    }
}

/* Finite entries with a pivot that overflows: its inverse is 0, and the solution would look finite. */
static void test_overflow(void **state) {
    (void)state;
    random_state = 1;
    fill(CHAIN, 2, 3, false);
    prepare();
    for (int k = 0; k < 4; k++) A[k] = vec_set(k == 0 || k == 3 ? 2.0 : 1.0);
    A[1][0] = -1e200;
    A[2][0] = 1e200;
    b[0] = b[1] = vec_set(1.0);
    sparse_solve(A, b, work, &singular);
    for (int l = 0; l < LANES; l++) {
        assert_int_equal(singular[l], l == 0 ? -1 : 0);
        assert_true(l == 0 ? isnan(b[0][l]) && isnan(b[1][l]) : fabs(b[0][l] - 1.0 / 3) < 1e-15);
    }
}

/* Rods drawn twice: independent in the lanes where their directions differ, dependent in lane 0. */
static void test_dependent(void **state) {
    (void)state;
    vec alone[ROWS];
    for (int n = 2; n <= 200; n *= 3) {
        random_state = (uint64_t)n;
        fill(CHAIN, n, 3, true);
        for (int e = 0; e < 6; e++) {
            place_g[ng - 6 + e].col = place_g[ng - 12 + e].col;
            for (int l = 0; l < LANES; l++) value_g1[ng - 6 + e][l] = value_g0[ng - 6 + e][l];
        }
        prepare();
        solve();
        assert_false(vec_any(singular));
        assert_true(error() <= 1e-10);
        memcpy(alone, b, sizeof b);
        for (int e = 0; e < 6; e++) {
            G1[ng - 6 + e][0] = -1.7 * G1[ng - 12 + e][0];
            G0[ng - 6 + e][0] = -1.7 * G0[ng - 12 + e][0];
        }
        assert_singular(alone);
    }
}

/* A constraint on nothing has no solution in any lane; places outside of the matrix are refused. */
static void test_degenerate(void **state) {
    (void)state;
    struct lgv_error err;
    random_state = 3;
    fill(CHAIN, 5, 3, false);
    nc = 6;
    prepare();
    solve();
    assert_true(vec_all(singular));
    lgv_sparse_free(&table);
    place_g[4].col = nq;
    assert_int_equal(lgv_sparse_make(&table, nc, nq, place_g, ng, place_m, nm, &err), LGV_BAD_INPUT);
    assert_int_equal(lgv_sparse_make(&table, 0, nq, place_g, 0, place_m, nm, &err), LGV_CANNOT_RUN);
    assert_int_equal(lgv_sparse_make(&table, 2, nq, place_g, 0, place_m, 0, &err), LGV_OK);
    assert_int_equal(table.na, 2);
}

/* 3000 constraints on one coordinate: the products alone are nine million. */
static void test_too_dense(void **state) {
    (void)state;
    struct lgv_place *g = calloc(3000, sizeof *g), m = {0, 0};
    struct lgv_sparse s;
    struct lgv_error err;
    assert_non_null(g);
    for (int k = 0; k < 3000; k++) g[k].row = k;
    assert_int_equal(lgv_sparse_make(&s, 3000, 1, g, 3000, &m, 1, &err), LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "too densely"));
    free(g);
}

static void assert_array(const char *text, const char *name, const int *value, int count) {
    char head[64];
    snprintf(head, sizeof head, " sparse_%s[] = {", name);
    char *at = strstr(text, head);
    assert_non_null(at);
    at += strlen(head);
    for (int i = 0; i < count; i++, at++) assert_int_equal(strtol(at, &at, 10), value[i]);
    assert_memory_equal(at, "};", 2);
}

static void test_text(void **state) {
    (void)state;
    struct lgv_text text = {0};
    random_state = 8;
    fill(NETWORK, ROWS, 3, true);
    prepare();
    assert_true(lgv_sparse_emit(&table, &text));
    assert_non_null(strstr(text.data, "#define SPARSE_NC 300\n"));
    assert_array(text.data, "g_row", table.g_row, nc + 1);
    assert_array(text.data, "g_col", table.g_col, ng);
    assert_array(text.data, "m_row", table.m_row, nq + 1);
    assert_array(text.data, "m_col", table.m_col, nm);
    assert_array(text.data, "order", table.order, nc);
    assert_array(text.data, "a_row", table.a_row, nc + 1);
    assert_array(text.data, "a_diagonal", table.a_diagonal, nc);
    assert_array(text.data, "a_col", table.a_col, table.na);
    assert_array(text.data, "sum", table.sum, table.na + 1);
    assert_array(text.data, "g1", table.g1, table.np);
    assert_array(text.data, "m", table.m, table.np);
    assert_array(text.data, "g0", table.g0, table.np);
    lgv_text_free(&text);
}

static int clean(void **state) {
    (void)state;
    lgv_sparse_free(&table);
    free(A);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense),      cmocka_unit_test(test_tables),   cmocka_unit_test(test_multiply),
        cmocka_unit_test(test_linear),     cmocka_unit_test(test_singular), cmocka_unit_test(test_dependent),
        cmocka_unit_test(test_degenerate), cmocka_unit_test(test_overflow), cmocka_unit_test(test_too_dense),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, clean);
}
