/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hand-written floor of stochastic RATTLE on the spherical pendulum, noise as in floor_simd.h.  With the half kick
 * k = dt/2 e_z + sum_r dW_r/2 grad h_r a step is
 *
 *     P = p - k(q),   Q = q + dt P,   q' = Q + s q  with  |q'|^2 = 1
 *     p* = P + s/dt q - k(q'),   p' = p* - (q'.p*) q'.
 *
 * s solves |Q|^2 - 1 + 2 s Q.q + s^2 |q|^2 = 0: two Newton moves from s = 0, whose error is about (dt |p|)^8 / 128,
 * which is round-off for dt |p| <= 0.02.  Only s is iterated, the scalar products are taken once; |q| = 1 saves one
 * of them and the division of the last projection.  Sine and cosine at q' serve the next step too.
 *
 * The textbook version is for any constraint: every move computes the end point, g and its gradient there; the
 * projection divides by |grad g|^2. */
#include "floor_wide.h"

#ifdef FLOOR_SIMD

struct sphere {
    struct wide q[3], p[3], slope[3]; /* slope: of the noises at q, when it is not constant */
};

INLINE struct wide dot3(const struct wide *a, const struct wide *b) {
    return more(a[2], b[2], more(a[1], b[1], times(a[0], b[0])));
}

/* p -= k; w: half increments times beta. */
INLINE void half_kick(struct sphere *y, int noises, const struct wide *w, double dt) {
    if (noises == 1) {
        y->p[2] = minus(y->p[2], plus(w[0], all(0.5 * dt)));
        return;
    }
    UNROLL
    for (int i = 0; i < 3; i++) y->p[i] = less(w[i], y->slope[i], y->p[i]);
    y->p[2] = minus(y->p[2], all(0.5 * dt));
}

/* q' and P + s/dt q. */
INLINE void drift(struct sphere *y, double dt) {
    struct wide Q[3];
    UNROLL
    for (int i = 0; i < 3; i++) Q[i] = more_of(dt, y->p[i], y->q[i]);
    struct wide c = minus(dot3(Q, Q), all(1.0)), b = dot3(Q, y->q), twice = plus(b, b);
    struct wide s = negative(over(c, twice));
    struct wide f = more(s, plus(s, twice), c);
    s = minus(s, over(f, more_of(2.0, s, twice)));
    struct wide impulse = scaled(1 / dt, s);
    UNROLL
    for (int i = 0; i < 3; i++) {
        y->p[i] = more(impulse, y->q[i], y->p[i]);
        y->q[i] = more(s, y->q[i], Q[i]);
    }
}

INLINE void drift_textbook(struct sphere *y, double dt) {
    struct wide Q[3], P[3], lambda = all(0.0);
    UNROLL
    for (int i = 0; i < 3; i++) Q[i] = more_of(dt, y->p[i], y->q[i]);
    UNROLL
    for (int move = 0; move < 2; move++) {
        struct wide g = minus(dot3(Q, Q), all(1.0)), slope = scaled(4 * dt, dot3(Q, y->q));
        lambda = minus(lambda, over(g, slope));
        UNROLL
        for (int i = 0; i < 3; i++) {
            P[i] = more(lambda, plus(y->q[i], y->q[i]), y->p[i]);
            Q[i] = more_of(dt, P[i], y->q[i]);
        }
    }
    UNROLL
    for (int i = 0; i < 3; i++) {
        y->q[i] = Q[i];
        y->p[i] = P[i];
    }
}

INLINE void sphere_step(struct sphere *y, int noises, int textbook, const struct wide *chi, double dt, double root) {
    struct wide w[3];
    UNROLL
    for (int r = 0; r < noises; r++) w[r] = scaled(0.5 * BETA * root, chi[r]);
    half_kick(y, noises, w, dt);
    if (textbook)
        drift_textbook(y, dt);
    else
        drift(y, dt);
    if (noises == 3) {
        UNROLL
        for (int i = 0; i < 3; i++) {
            struct wide sine;
            wide_sincos(y->q[i], &sine, &y->slope[i]);
        }
    }
    half_kick(y, noises, w, dt);
    struct wide off = dot3(y->q, y->p);
    if (textbook) off = over(off, dot3(y->q, y->q));
    UNROLL
    for (int i = 0; i < 3; i++) y->p[i] = less(off, y->q[i], y->p[i]);
}

/* Two steps need `noises` Box-Muller pairs: normal number n belongs to step n / noises. */
INLINE void sphere_advance(int noises, int textbook, struct sphere *x, const struct keys *k,
                           const struct block_noise *b, size_t steps, double dt) {
    double root = sqrt(dt);
    for (size_t n = 0; n < steps; n += 2) {
        for (int j = 0; j < VECTORS / SIDE; j++) {
            struct wide z[6];
            UNROLL
            for (int r = 0; r < noises; r++)
                normals(k, b, 0, (n >> 1) * (size_t)noises + (size_t)r, j * SIDE, z[2 * r].v, z[2 * r + 1].v);
            sphere_step(&x[j], noises, textbook, z, dt, root);
            if (n + 1 < steps) sphere_step(&x[j], noises, textbook, z + noises, dt, root);
        }
    }
}

typedef void sphere_loop(struct sphere *x, const struct keys *k, const struct block_noise *b, size_t steps, double dt);
#define SPHERE(name, noises, textbook)                                                                                 \
    static __attribute__((noinline)) void name(struct sphere *x, const struct keys *k, const struct block_noise *b,    \
                                               size_t steps, double dt) {                                              \
        sphere_advance(noises, textbook, x, k, b, steps, dt);                                                          \
    }
SPHERE(one, 1, 0)
SPHERE(three, 3, 0)
SPHERE(one_textbook, 1, 1)
SPHERE(three_textbook, 3, 1)

double floor_rattle_run(enum floor_sphere which, size_t steps, double dt, unsigned long long seed,
                        double state[6][FLOOR_PATHS]) {
    static sphere_loop *const loop[] = {one, three, one_textbook, three_textbook};
    static const double start[6] = {1, 0, 0, 0, 1, 0.4};
    struct sphere x[VECTORS / SIDE];
    struct keys k;
    struct block_noise b;
    double begin = seconds();
    keys_fill(&k, seed);
    block_noise_fill(&b, 0);
    for (int j = 0; j < VECTORS / SIDE; j++) {
        for (int i = 0; i < 3; i++) {
            x[j].q[i] = all(start[i]);
            x[j].p[i] = all(start[3 + i]);
            x[j].slope[i] = all(cos(start[i]));
        }
    }
    loop[which](x, &k, &b, steps, dt);
    for (int i = 0; i < 3; i++)
        for (int v = 0; v < VECTORS; v++) {
            _mm256_storeu_pd(state[i] + 4 * v, x[v / SIDE].q[i].v[v % SIDE]);
            _mm256_storeu_pd(state[3 + i] + 4 * v, x[v / SIDE].p[i].v[v % SIDE]);
        }
    return seconds() - begin;
}

#else

double floor_rattle_run(enum floor_sphere which, size_t steps, double dt, unsigned long long seed,
                        double state[6][FLOOR_PATHS]) {
    (void)which, (void)steps, (void)dt, (void)seed, (void)state;
    return -1;
}

#endif
