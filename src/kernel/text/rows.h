/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums whose rows are long (emit_rows.c).  Include-free; it follows face.h. */

/* Of the ROW_SUMS sums of a row. */
#define ROW_TOTAL(type, s)                                                                                             \
    ({                                                                                                                 \
        const type *const row = (const type *)(s);                                                                     \
        ((row[0] + row[1]) + (row[2] + row[3])) + ((row[4] + row[5]) + (row[6] + row[7]));                             \
    })

/* Room for so many numbers and what a vec may read behind them, all 0. */
INLINE double *row_stream(struct ctx *c, long places) {
    const long n = places / LANES + 2;
    vec *to = take(c, n);
    for (long i = 0; i < n; i++) to[i] = vec_set(0);
    return (double *)to;
}

/* Behind the end the last number again: an ordinary one. */
INLINE void row_fill(double *x, long places) {
    for (long m = 0; m < LANES; m++) x[places + m] = x[places - 1];
}

INLINE vec row_load(const double *x) {
    vec v;
    __builtin_memcpy(&v, x, sizeof v);
    return v;
}

INLINE void row_add(double *x, vec v) {
    v += row_load(x);
    __builtin_memcpy(x, &v, sizeof v);
}

INLINE ivec row_numbers(void) {
    ivec n;
    UNROLL for (int l = 0; l < LANES; l++) n[l] = l;
    return n;
}
