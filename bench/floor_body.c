/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hand-written floor of a rigid body with the word BRB, noise as in floor_simd.h: half kick, the variational free step
 * by the Cayley map (floor_body.h), half kick. */
#include "floor_body.h"

#ifdef FLOOR_SIMD

/* m -= w grad(R.zz), w half an increment times BETA; u = R^T e_z, grad = e_z x u. */
INLINE void half_kick(struct body *y, struct wide w) {
    struct wide twice = plus(w, w), *q = y->q;
    y->m[0] = more(twice, more(q[2], q[3], times(q[0], q[1])), y->m[0]);
    y->m[1] = less(twice, less(q[0], q[2], times(q[1], q[3])), y->m[1]);
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
