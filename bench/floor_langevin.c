/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hand-written floors of BAOAB, noise as in floor_simd.h, friction 1 and kT = 1: a step is
 *
 *     p -= dt/2 U',   q += dt/2 p,   p = e p + s chi,   q += dt/2 p,   p -= dt/2 U',       e = exp(-dt), s^2 = 1 - e^2
 *
 * on a quartic oscillator, U = q^2/2 + q^4/4, and on the phi^4 ring of ten sites.  The force at the end of a step is
 * kept for the next. */
#include "floor_wide.h"

#ifdef FLOOR_SIMD

#define RING 10

struct ring {
    struct wide q[RING], p[RING], f[RING]; /* f = -U' */
};

INLINE void ring_force(int n, struct ring *y) {
    if (n == 1) {
        struct wide cube = times(y->q[0], y->q[0]);
        y->f[0] = negative(more(cube, y->q[0], y->q[0]));
        return;
    }
    UNROLL
    for (int i = 0; i < n; i++) {
        struct wide q = y->q[i], around = plus(y->q[(i + 1) % n], y->q[(i + n - 1) % n]);
        y->f[i] = less(q, shifted(q, q, 2.0), around);
    }
}

INLINE void ring_step(int n, struct ring *y, const struct wide *chi, double dt, double e, double s) {
    UNROLL
    for (int i = 0; i < n; i++) {
        struct wide p = more_of(0.5 * dt, y->f[i], y->p[i]), q = more_of(0.5 * dt, p, y->q[i]);
        y->p[i] = more_of(e, p, scaled(s, chi[i]));
        y->q[i] = more_of(0.5 * dt, y->p[i], q);
    }
    ring_force(n, y);
    UNROLL
    for (int i = 0; i < n; i++) y->p[i] = more_of(0.5 * dt, y->f[i], y->p[i]);
}

/* Two steps need n Box-Muller pairs: normal number m belongs to step m / n. */
INLINE void ring_advance(int n, struct ring *x, const struct keys *k, const struct block_noise *b, size_t steps,
                         double dt) {
    double e = exp(-dt), s = sqrt(1 - e * e);
    for (size_t step = 0; step < steps; step += 2) {
        for (int j = 0; j < VECTORS / SIDE; j++) {
            struct wide z[2 * RING];
            __asm__("" : "+m"(x[j])); /* the state is parked: noise needs all registers */
            if (n == 1) {
                normals(k, b, 0, step >> 1, j * SIDE, z[0].v, z[1].v);
            } else {
                for (int r = 0; r < n; r++)
                    normals(k, b, 0, (step >> 1) * (size_t)n + (size_t)r, j * SIDE, z[2 * r].v, z[2 * r + 1].v);
            }
            ring_step(n, &x[j], z, dt, e, s);
            if (step + 1 < steps) ring_step(n, &x[j], z + n, dt, e, s);
        }
    }
}

static __attribute__((noinline)) void one(struct ring *x, const struct keys *k, const struct block_noise *b,
                                          size_t steps, double dt) {
    ring_advance(1, x, k, b, steps, dt);
}
static __attribute__((noinline)) void ten(struct ring *x, const struct keys *k, const struct block_noise *b,
                                          size_t steps, double dt) {
    ring_advance(RING, x, k, b, steps, dt);
}

double floor_baoab_run(int n, size_t steps, double dt, unsigned long long seed, double state[][FLOOR_PATHS]) {
    struct ring x[VECTORS / SIDE];
    struct keys k;
    struct block_noise b;
    double begin = seconds();
    keys_fill(&k, seed);
    block_noise_fill(&b, 0);
    for (int j = 0; j < VECTORS / SIDE; j++) {
        for (int i = 0; i < n; i++) x[j].q[i] = all(0), x[j].p[i] = all(1), x[j].f[i] = all(0);
    }
    (n == 1 ? one : ten)(x, &k, &b, steps, dt);
    for (int i = 0; i < n; i++)
        for (int v = 0; v < VECTORS; v++) {
            _mm256_storeu_pd(state[i] + 4 * v, x[v / SIDE].q[i].v[v % SIDE]);
            _mm256_storeu_pd(state[n + i] + 4 * v, x[v / SIDE].p[i].v[v % SIDE]);
        }
    return seconds() - begin;
}

#else

double floor_baoab_run(int n, size_t steps, double dt, unsigned long long seed, double state[][FLOOR_PATHS]) {
    (void)n, (void)steps, (void)dt, (void)seed, (void)state;
    return -1;
}

#endif
