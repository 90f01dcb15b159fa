/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hand-written floor of a rigid body with the word BRB, noise as in floor_simd.h: half kick, the variational free step
 * by the Cayley map, half kick.  With s = dt m / 2 and x = dt omega / 2 the free step is (L I - hat s) x = s with
 * L = 1 + |x|^2.  Of x = (L I - hat s)^-1 s, written out, and L in turn three moves from x = I^-1 s are enough: each
 * makes the error smaller by |x|^2, which is 3e-5 here.  Then q turns by (1, x) / sqrt L, and m back by it. */
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

/* m -= w grad(R.zz), w half an increment times BETA; u = R^T e_z, grad = e_z x u. */
INLINE void half_kick(struct body *y, struct wide w) {
    struct wide twice = plus(w, w), *q = y->q;
    y->m[0] = more(twice, more(q[2], q[3], times(q[0], q[1])), y->m[0]);
    y->m[1] = less(twice, less(q[0], q[2], times(q[1], q[3])), y->m[1]);
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

INLINE void body_step(struct body *y, int noise, struct wide chi, double dt, double size) {
    struct wide w = scaled(size, chi);
    if (noise) half_kick(y, w);
    free_step(y, dt);
    if (noise) half_kick(y, w);
}

INLINE void body_advance(int noise, struct body *x, const struct keys *k, const struct block_noise *b, size_t steps,
                         double dt) {
    double size = 0.5 * BETA * sqrt(dt);
    for (size_t n = 0; n < steps; n += 2)
        for (int j = 0; j < VECTORS / SIDE; j++) {
            struct wide z[2] = {all(0.0), all(0.0)};
            if (noise) normals(k, b, 0, n >> 1, j * SIDE, z[0].v, z[1].v);
            body_step(&x[j], noise, z[0], dt, size);
            if (n + 1 < steps) body_step(&x[j], noise, z[1], dt, size);
        }
}

typedef void body_loop(struct body *x, const struct keys *k, const struct block_noise *b, size_t steps, double dt);
#define BODY(name, noise)                                                                                              \
    static __attribute__((noinline)) void name(struct body *x, const struct keys *k, const struct block_noise *b,      \
                                               size_t steps, double dt) {                                              \
        body_advance(noise, x, k, b, steps, dt);                                                                       \
    }
BODY(quiet, 0)
BODY(noisy, 1)

double floor_body_run(bool noise, size_t steps, double dt, unsigned long long seed, double state[7][FLOOR_PATHS]) {
    static body_loop *const loop[] = {quiet, noisy};
    static const double start[7] = {1, 0, 0, 0, 0.3, 1, 0.5};
    struct body x[VECTORS / SIDE];
    struct keys k;
    struct block_noise b;
    double begin = seconds();
    keys_fill(&k, seed);
    block_noise_fill(&b, 0);
    for (int j = 0; j < VECTORS / SIDE; j++) {
        for (int i = 0; i < 4; i++) x[j].q[i] = all(start[i]);
        for (int i = 0; i < 3; i++) x[j].m[i] = all(start[4 + i]);
    }
    loop[noise](x, &k, &b, steps, dt);
    for (int v = 0; v < VECTORS; v++) {
        for (int i = 0; i < 4; i++) _mm256_storeu_pd(state[i] + 4 * v, x[v / SIDE].q[i].v[v % SIDE]);
        for (int i = 0; i < 3; i++) _mm256_storeu_pd(state[4 + i] + 4 * v, x[v / SIDE].m[i].v[v % SIDE]);
    }
    return seconds() - begin;
}

#else

double floor_body_run(bool noise, size_t steps, double dt, unsigned long long seed, double state[7][FLOOR_PATHS]) {
    (void)noise, (void)steps, (void)dt, (void)seed, (void)state;
    return -1;
}

#endif
