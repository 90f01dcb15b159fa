/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables: functions that are polynomials between knots, with numbers among the parameters (struct lgv_table).  Every
 * lane has an interval of its own, found without a branch: counted where knots are equally far apart, else by halving.
 * All arguments but x are constants of the text, so that what does not apply disappears.  Include-free. */

#define TABLE_HEAD 5 /* low, high, intervals per unit of x, from, until */

enum { OUTSIDE_NOTHING, OUTSIDE_LINE, OUTSIDE_PERIODIC };

/* The interval that x is in, the first or the last one for x outside; 0 for NaN. */
INLINE long table_interval(const double *head, double x, long intervals, int degree, int even) {
    if (even) {
        double k = (x - head[0]) * head[2], last = (double)(intervals - 1);
        k = k > 0 ? k : 0;
        return (long)(k < last ? k : last);
    }
    const double *knot = head + TABLE_HEAD;
    long k = 0;
    for (long left = intervals; left > 1;) {
        long half = left / 2;
        k = knot[(k + half) * (degree + 2)] <= x ? k + half : k;
        left -= half;
    }
    return k;
}

/* d^order/dx^order of the polynomials. */
INLINE vec table_polynomial(const double *head, vec x, long intervals, int degree, int order, int even) {
    const double *row[LANES];
    vec knot = vec_set(0), sum = vec_set(0);
    for (int l = 0; l < LANES; l++) {
        row[l] = head + TABLE_HEAD + table_interval(head, x[l], intervals, degree, even) * (degree + 2);
        knot[l] = row[l][0];
    }
    vec r = x - knot;
    UNROLL for (int j = degree; j >= order; j--) {
        double factor = 1;
        for (int i = 0; i < order; i++) factor *= j - i;
        vec c = vec_set(0);
        for (int l = 0; l < LANES; l++) c[l] = row[l][1 + j];
        if (factor != 1) c *= factor;
        sum = j == degree ? c : FUSED(sum, r, c);
    }
    return sum;
}

INLINE vec vec_table(const double *head, vec x, long intervals, int degree, int order, int outside, int even) {
    vec inside = x, low = vec_set(head[0]), high = vec_set(head[1]);
    if (outside == OUTSIDE_PERIODIC) inside = x - (high - low) * vec_floor((x - low) / (high - low));
    if (outside == OUTSIDE_LINE) inside = vec_min(vec_max(x, low), high);
    vec y = table_polynomial(head, inside, intervals, degree, order, even);
    if (outside == OUTSIDE_LINE && order == 0)
        y = FUSED(x - inside, table_polynomial(head, inside, intervals, degree, 1, even), y);
    if (outside == OUTSIDE_LINE && order > 1) y = vec_select((ivec)(x != inside), x - x, y);
    if (outside == OUTSIDE_NOTHING)
        y = vec_select((ivec)(x >= vec_set(head[3])) & (ivec)(x <= vec_set(head[4])), y, vec_set(__builtin_nan("")));
    return y;
}

/* The same of one number for all lanes: t. */
INLINE double num_table(const double *head, double x, long intervals, int degree, int order, int outside, int even) {
    return vec_table(head, vec_set(x), intervals, degree, order, outside, even)[0];
}
