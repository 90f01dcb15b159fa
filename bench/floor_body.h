/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The free step of a rigid body by the Cayley map, hand-written.  With s = dt m / 2 and x = dt omega / 2 it is
 * (L I - hat s) x = s with L = 1 + |x|^2.  Of x = (L I - hat s)^-1 s, written out, and L in turn three moves from
 * x = I^-1 s are enough: each makes the error smaller by |x|^2, which is 3e-5 here.  Then q turns by (1, x) / sqrt L,
 * and m back by it. */
#ifndef LGV_BENCH_FLOOR_BODY_H
#define LGV_BENCH_FLOOR_BODY_H

#include "floor_wide.h"

#ifdef FLOOR_SIMD

static const double inertia[3] = {1, 2, 2.5};

struct body {
    struct wide q[4], m[3];
};

WIDE(root, (struct wide a), _mm256_sqrt_pd(a.v[i]))

INLINE struct wide dot3(const struct wide *a, const struct wide *b) {
    return more(a[2], b[2], more(a[1], b[1], times(a[0], b[0])));
}

INLINE void cross(const struct wide *a, const struct wide *b, struct wide *out) {
    UNROLL
    for (int i = 0; i < 3; i++)
        out[i] = less(a[(i + 2) % 3], b[(i + 1) % 3], times(a[(i + 1) % 3], b[(i + 2) % 3]));
}

INLINE void free_step(struct body *y, double dt) {
    double det = inertia[0] * inertia[1] * inertia[2];
    struct wide s[3], g[3], a[3], b[3], x[3], e, ss, L;
    UNROLL
    for (int i = 0; i < 3; i++) {
        s[i] = scaled(0.5 * dt, y->m[i]);
        g[i] = scaled(1 / inertia[i], s[i]);
    }
    ss = scaled(1 / det, dot3(s, s));
    e = all(0.0);
    UNROLL
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        a[i] = times(ss, s[i]);
        b[i] = scaled((inertia[j] - inertia[k]) / inertia[i], times(g[j], g[k]));
        e = more(scaled(inertia[i] / det, s[i]), s[i], e);
    }
    L = plus(dot3(g, g), all(1.0));
    UNROLL
    for (int move = 0; move < 3; move++) {
        struct wide LL = times(L, L), factor = over(all(1.0), times(L, plus(LL, e)));
        UNROLL
        for (int i = 0; i < 3; i++) x[i] = times(factor, more(L, more(L, g[i], b[i]), a[i]));
        L = plus(dot3(x, x), all(1.0));
    }
    struct wide t = over(all(1.0), root(L)), q[4], c[3], d[3];
    UNROLL
    for (int i = 0; i < 4; i++) q[i] = times(t, y->q[i]);
    cross(q + 1, x, c);
    y->q[0] = minus(q[0], dot3(q + 1, x));
    UNROLL
    for (int i = 0; i < 3; i++) y->q[1 + i] = plus(more(q[0], x[i], q[1 + i]), c[i]);
    struct wide lack = line(-0.5, more(y->q[0], y->q[0], dot3(y->q + 1, y->q + 1)), 0.5);
    UNROLL
    for (int i = 0; i < 4; i++) y->q[i] = more(lack, y->q[i], y->q[i]);
    cross(x, y->m, c); /* m + 2/L (x x (x x m) - x x m) */
    cross(x, c, d);
    t = scaled(2.0, times(t, t));
    UNROLL
    for (int i = 0; i < 3; i++) y->m[i] = more(t, minus(d[i], c[i]), y->m[i]);
}

#endif

#endif
