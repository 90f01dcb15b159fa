/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several vectors side by side: every operation is written out for all of them before the next one begins, so that the
 * long chains of a Newton iteration fill the processor even when the compiler keeps the order of the program. */
#ifndef LGV_BENCH_FLOOR_WIDE_H
#define LGV_BENCH_FLOOR_WIDE_H

#include "floor_simd.h"

#ifdef FLOOR_SIMD

#define SIDE 2 /* vectors */

struct wide {
    vec v[SIDE];
};

#define WIDE(name, arguments, expression)                                                                              \
    INLINE struct wide name arguments {                                                                                \
        struct wide r;                                                                                                 \
        UNROLL                                                                                                         \
        for (int i = 0; i < SIDE; i++) r.v[i] = expression;                                                            \
        return r;                                                                                                      \
    }
WIDE(all, (double x), real(x))
WIDE(plus, (struct wide a, struct wide b), add(a.v[i], b.v[i]))
WIDE(minus, (struct wide a, struct wide b), sub(a.v[i], b.v[i]))
WIDE(negative, (struct wide a), sub(real(0.0), a.v[i]))
WIDE(times, (struct wide a, struct wide b), mul(a.v[i], b.v[i]))
WIDE(over, (struct wide a, struct wide b), _mm256_div_pd(a.v[i], b.v[i]))
WIDE(scaled, (double a, struct wide b), mul(real(a), b.v[i]))
/* c + a b and c - a b */
WIDE(more, (struct wide a, struct wide b, struct wide c), fma3(a.v[i], b.v[i], c.v[i]))
WIDE(less, (struct wide a, struct wide b, struct wide c), fnma3(a.v[i], b.v[i], c.v[i]))
/* the same with a number a */
WIDE(more_of, (double a, struct wide b, struct wide c), fma3(real(a), b.v[i], c.v[i]))
WIDE(less_of, (double a, struct wide b, struct wide c), fnma3(real(a), b.v[i], c.v[i]))
/* a b + c with a number c; a z + c with numbers a and c */
WIDE(shifted, (struct wide a, struct wide b, double c), fma3(a.v[i], b.v[i], real(c)))
WIDE(line, (double a, struct wide z, double c), fma3(real(a), z.v[i], real(c)))

/* As sincos_radians. */
INLINE void wide_sincos(struct wide x, struct wide *s, struct wide *c) {
    struct wide t = line(1 / HALF_PI, x, ROUND_MAGIC), k = minus(t, all(ROUND_MAGIC));
    struct wide r = less_of(6.123233995736766036e-17, k, less_of(HALF_PI, k, x)), z = times(r, r);
    struct wide a = line(1.58969099521155010221e-10, z, -2.50507602534068634195e-08);
    struct wide b = line(-1.13596475577881948265e-11, z, 2.08757232129817482790e-09);
    a = shifted(z, a, 2.75573137070700676789e-06);
    b = shifted(z, b, -2.75573143513906633035e-07);
    a = shifted(z, a, -1.98412698298579493134e-04);
    b = shifted(z, b, 2.48015872894767294178e-05);
    a = shifted(z, a, 8.33333333332248946124e-03);
    b = shifted(z, b, -1.38888888888741095749e-03);
    a = shifted(z, a, -1.66666666666666324348e-01);
    b = shifted(z, b, 4.16666666666666019037e-02);
    a = shifted(z, a, 1.0);
    b = shifted(z, b, -0.5);
    a = times(r, a);
    b = shifted(z, b, 1.0);
    UNROLL
    for (int i = 0; i < SIDE; i++) quadrant(t.v[i], a.v[i], b.v[i], &s->v[i], &c->v[i]);
}

struct wide_state {
    struct wide q, p, s, c; /* as in struct lane_state */
};

/* One step; arguments as those of floor_step. */
typedef void wide_step(struct wide_state *y, struct wide chi, struct wide eta, double dt, double root);

/* The time loop; `batch` vectors get their noise at once.  The state is parked in memory meanwhile: Philox and
 * Box-Muller need all registers. */
INLINE void wide_advance(wide_step *step, int batch, int with_dz, struct wide_state *x, const struct keys *k,
                         const struct block_noise *b, size_t steps, double dt) {
    double root = sqrt(dt);
    for (size_t n = 0; n < steps; n += 2) {
        UNROLL
        for (int first = 0; first < VECTORS; first += batch) {
            vec z[4][VECTORS]; /* chi of both steps, eta of both steps */
            UNROLL
            for (int j = 0; j < batch / SIDE; j++) __asm__("" : "+m"(x[first / SIDE + j]));
            UNROLL
            for (int v = 0; v < batch; v += NOISE_SIDE) {
                normals(k, b, 0, n >> 1, first + v, z[0] + v, z[1] + v);
                if (with_dz) normals(k, b, 1, n >> 1, first + v, z[2] + v, z[3] + v);
            }
            UNROLL
            for (int odd = 0; odd < 2; odd++) {
                if (odd && n + 1 == steps) break;
                UNROLL
                for (int j = 0; j < batch / SIDE; j++) {
                    struct wide chi, eta;
                    UNROLL
                    for (int i = 0; i < SIDE; i++) {
                        chi.v[i] = z[odd][j * SIDE + i];
                        eta.v[i] = z[with_dz ? 2 + odd : odd][j * SIDE + i];
                    }
                    step(&x[first / SIDE + j], chi, eta, dt, root);
                }
            }
        }
    }
}

/* A floor_advance for the step. */
#define WIDE_FLOOR(name, step, batch, with_dz)                                                                         \
    static __attribute__((noinline)) void name(struct lane_state *x, const struct keys *k,                             \
                                               const struct block_noise *b, size_t steps, double dt) {                 \
        struct wide_state y[VECTORS / SIDE];                                                                           \
        for (int v = 0; v < VECTORS; v++) {                                                                            \
            struct wide_state *to = &y[v / SIDE];                                                                      \
            to->q.v[v % SIDE] = x[v].q, to->p.v[v % SIDE] = x[v].p;                                                    \
            to->s.v[v % SIDE] = x[v].s, to->c.v[v % SIDE] = x[v].c;                                                    \
        }                                                                                                              \
        wide_advance(step, batch, with_dz, y, k, b, steps, dt);                                                        \
        for (int v = 0; v < VECTORS; v++) {                                                                            \
            const struct wide_state *from = &y[v / SIDE];                                                              \
            x[v] = (struct lane_state){from->q.v[v % SIDE], from->p.v[v % SIDE], from->s.v[v % SIDE],                  \
                                       from->c.v[v % SIDE]};                                                           \
        }                                                                                                              \
    }

#endif
#endif
