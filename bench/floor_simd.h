/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the hand-written floors of the benchmark share: AVX2 and FMA helpers, noise, sine and cosine, and the time loop.
 * Sixteen paths are four vectors of four; the state lives in registers and L1 for the whole time loop; one Philox call
 * and one Box-Muller pair serve two steps. */
#ifndef LGV_BENCH_FLOOR_SIMD_H
#define LGV_BENCH_FLOOR_SIMD_H

#include "floor.h"

#if defined(__AVX2__) && defined(__FMA__)
#define FLOOR_SIMD 1

#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <time.h>

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define VECTORS 4           /* per block */
#define LANES (4 * VECTORS) /* paths per block */
#define NOISE_SIDE 2        /* vectors whose noise is made side by side: hides latency without too many spills */
#define ROUNDS 10
#define PHILOX_M0 0xD2511F53u
#define PHILOX_M1 0xCD9E8D57u
#define PHILOX_W0 0x9E3779B9u
#define PHILOX_W1 0xBB67AE85u
#define ROUND_MAGIC 6755399441055744.0 /* 1.5 * 2^52: adding it rounds to an integer held in the low bits */
#define HALF_PI 1.57079632679489661923
#define BETA 0.1

typedef __m256d vec;
typedef __m256i ivec;

INLINE vec real(double x) {
    return _mm256_set1_pd(x);
}
INLINE ivec whole(uint64_t x) {
    return _mm256_set1_epi64x((long long)x);
}
INLINE vec add(vec a, vec b) {
    return _mm256_add_pd(a, b);
}
INLINE vec sub(vec a, vec b) {
    return _mm256_sub_pd(a, b);
}
INLINE vec mul(vec a, vec b) {
    return _mm256_mul_pd(a, b);
}
INLINE vec fma3(vec a, vec b, vec c) {
    return _mm256_fmadd_pd(a, b, c);
} /* a b + c */
INLINE vec fnma3(vec a, vec b, vec c) {
    return _mm256_fnmadd_pd(a, b, c);
} /* c - a b */

/* ---- noise ---- */

struct keys {
    ivec k0[ROUNDS], k1[ROUNDS];
    uint32_t s0[2], s1[2];
};

/* M1 * path, the part of the first Philox round that depends on the path but not on time. */
struct block_noise {
    ivec low[VECTORS], high[VECTORS];
    uint32_t path_high;
};

static inline void keys_fill(struct keys *k, unsigned long long seed) {
    uint32_t a = (uint32_t)seed, b = (uint32_t)(seed >> 32);
    for (int r = 0; r < ROUNDS; r++) {
        k->k0[r] = whole(a);
        k->k1[r] = whole(b);
        if (r < 2) {
            k->s0[r] = a;
            k->s1[r] = b;
        }
        a += PHILOX_W0;
        b += PHILOX_W1;
    }
}

static inline void block_noise_fill(struct block_noise *b, uint64_t first_path) {
    for (int v = 0; v < VECTORS; v++) {
        uint64_t n = first_path + 4 * (uint64_t)v;
        ivec path = _mm256_set_epi64x((long long)(n + 3), (long long)(n + 2), (long long)(n + 1), (long long)n);
        b->low[v] = _mm256_mul_epu32(path, whole(PHILOX_M1));
        b->high[v] = _mm256_srli_epi64(b->low[v], 32);
    }
    b->path_high = (uint32_t)(first_path >> 32); /* the same for all lanes: blocks start at multiples of 16 */
}

/* -2 log u for u in [2^-52, 1]: u = 2^k m, m in [sqrt(1/2), sqrt 2), s = (m-1)/(m+1), log m = s (2 + R(s^2)).
 * R is the classical fdlibm fit; all coefficients carry the factor -2. */
INLINE vec minus_two_log(vec u) {
    const uint64_t root_half = 0x3fe6a09e667f3bcdULL, bias = 0x3ff0000000000000ULL;
    ivec t = _mm256_add_epi64(_mm256_castpd_si256(u), whole(bias - root_half));
    vec m = _mm256_castsi256_pd(_mm256_add_epi64(_mm256_and_si256(t, whole(0x000fffffffffffffULL)), whole(root_half)));
    vec k = sub(_mm256_castsi256_pd(_mm256_or_si256(_mm256_srli_epi64(t, 52), whole(0x4330000000000000ULL))),
                real(4503599627370496.0 + 1023.0));
    vec s = _mm256_div_pd(sub(m, real(1.0)), add(m, real(1.0)));
    vec z = mul(s, s), w = mul(z, z);
    vec even = fma3(w, real(-2 * 1.531383769920937332e-01), real(-2 * 2.222219843214978396e-01));
    even = fma3(w, even, real(-2 * 3.999999999940941908e-01));
    even = fma3(w, even, real(-4.0));
    vec odd = fma3(w, real(-2 * 1.479819860511658591e-01), real(-2 * 1.818357216161805012e-01));
    odd = fma3(w, odd, real(-2 * 2.857142874366239149e-01));
    odd = fma3(w, odd, real(-2 * 6.666666666666735130e-01));
    return fma3(k, real(-2 * 6.93147180559945286227e-01), mul(s, fma3(z, odd, even)));
}

/* sin(c r) and cos(c r) for |c r| <= pi/4, where c = 1 (r in radians) or pi/2 (r in quarter turns); fdlibm's fits with
 * the factor folded into the coefficients. */
INLINE void sincos_reduced(vec r, double c, vec *s, vec *co) {
    const double d = c * c, d2 = d * d, d3 = d2 * d, d4 = d2 * d2, d5 = d4 * d, d6 = d3 * d3, d7 = d4 * d3;
    vec z = mul(r, r);
    vec a = fma3(z, real(1.58969099521155010221e-10 * d6 * c), real(-2.50507602534068634195e-08 * d5 * c));
    vec b = fma3(z, real(-1.13596475577881948265e-11 * d7), real(2.08757232129817482790e-09 * d6));
    a = fma3(z, a, real(2.75573137070700676789e-06 * d4 * c));
    b = fma3(z, b, real(-2.75573143513906633035e-07 * d5));
    a = fma3(z, a, real(-1.98412698298579493134e-04 * d3 * c));
    b = fma3(z, b, real(2.48015872894767294178e-05 * d4));
    a = fma3(z, a, real(8.33333333332248946124e-03 * d2 * c));
    b = fma3(z, b, real(-1.38888888888741095749e-03 * d3));
    a = fma3(z, a, real(-1.66666666666666324348e-01 * d * c));
    b = fma3(z, b, real(4.16666666666666019037e-02 * d2));
    b = fma3(z, b, real(-0.5 * d));
    *s = mul(r, fma3(z, a, real(c)));
    *co = fma3(z, b, real(1.0));
}

/* Undoes the reduction by a quarter turns; the low bits of `turns` (a double near ROUND_MAGIC) are a. */
INLINE void quadrant(vec turns, vec s, vec c, vec *sine, vec *cosine) {
    const ivec sign = whole(0x8000000000000000ULL);
    ivec a = _mm256_castpd_si256(turns);
    ivec bit0 = _mm256_slli_epi64(a, 63), bit1 = _mm256_and_si256(_mm256_slli_epi64(a, 62), sign);
    vec swap = _mm256_castsi256_pd(bit0); /* blendv looks at the sign bit only */
    *sine = _mm256_xor_pd(_mm256_blendv_pd(s, c, swap), _mm256_castsi256_pd(bit1));
    *cosine = _mm256_xor_pd(_mm256_blendv_pd(c, s, swap), _mm256_castsi256_pd(_mm256_xor_si256(bit0, bit1)));
}

/* sin and cos of x for |x| < 1e6 or so: two-part reduction, exact enough because fma rounds once. */
INLINE void sincos_radians(vec x, vec *s, vec *c) {
    vec t = fma3(x, real(1 / HALF_PI), real(ROUND_MAGIC)), k = sub(t, real(ROUND_MAGIC));
    vec r = fnma3(k, real(6.123233995736766036e-17), fnma3(k, real(HALF_PI), x));
    sincos_reduced(r, 1.0, s, c);
    quadrant(t, *s, *c, s, c);
}

/* 52 bits of (low32(a), low32(b)) as a double in [1, 2). */
INLINE vec one_to_two(ivec a, ivec b) {
    ivec x = _mm256_blend_epi32(_mm256_slli_epi64(b, 32), a, 0x55);
    return _mm256_castsi256_pd(_mm256_or_si256(_mm256_srli_epi64(x, 12), whole(0x3ff0000000000000ULL)));
}

/* Two standard normals per lane of a stream (0: dW, 1: dZ) for vectors first..first+NOISE_SIDE-1 of the block.  Only
 * the low 32 bits of the words count; what products leave above them is never read.  In round one every word is
 * either constant in time or the same in all lanes, and in round two still half of them: those cost no vector
 * products. */
INLINE void normals(const struct keys *k, const struct block_noise *b, uint64_t stream, uint64_t pair, int first,
                    vec *n0, vec *n1) {
    uint64_t a1 = (uint64_t)PHILOX_M0 * (uint32_t)pair;
    uint64_t b2 = (uint64_t)PHILOX_M1 * (uint32_t)((a1 >> 32) ^ b->path_high ^ k->s1[0]);
    ivec x1 = whole((pair >> 32) ^ (stream << 16) ^ k->s0[0]), x2 = whole((b2 >> 32) ^ k->s0[1]),
         y2 = whole((uint32_t)a1 ^ k->s1[1]);
    ivec m0 = whole(PHILOX_M0), m1 = whole(PHILOX_M1), c0[NOISE_SIDE], c1[NOISE_SIDE], c2[NOISE_SIDE], c3[NOISE_SIDE];
    UNROLL
    for (int v = 0; v < NOISE_SIDE; v++) {
        ivec a2 = _mm256_mul_epu32(_mm256_xor_si256(b->high[first + v], x1), m0);
        c0[v] = _mm256_xor_si256(b->low[first + v], x2);
        c1[v] = whole(b2);
        c2[v] = _mm256_xor_si256(_mm256_srli_epi64(a2, 32), y2);
        c3[v] = a2;
    }
    UNROLL
    for (int r = 2; r < ROUNDS; r++) {
        UNROLL
        for (int v = 0; v < NOISE_SIDE; v++) {
            ivec p0 = _mm256_mul_epu32(c0[v], m0), p1 = _mm256_mul_epu32(c2[v], m1);
            c0[v] = _mm256_xor_si256(_mm256_srli_epi64(p1, 32), _mm256_xor_si256(c1[v], k->k0[r]));
            c2[v] = _mm256_xor_si256(_mm256_srli_epi64(p0, 32), _mm256_xor_si256(c3[v], k->k1[r]));
            c1[v] = p1;
            c3[v] = p0;
        }
    }
    UNROLL
    for (int v = 0; v < NOISE_SIDE; v++) {
        vec radius = _mm256_sqrt_pd(minus_two_log(sub(real(2.0), one_to_two(c0[v], c1[v]))));
        vec y = mul(one_to_two(c2[v], c3[v]), real(4.0)), t = add(y, real(ROUND_MAGIC)), s, c;
        sincos_reduced(sub(y, sub(t, real(ROUND_MAGIC))), HALF_PI, &s, &c);
        quadrant(t, s, c, &s, &c);
        n0[v] = mul(radius, c);
        n1[v] = mul(radius, s);
    }
}

/* ---- time loop ---- */

struct lane_state {
    vec q, p, s, c; /* s, c: sin q and cos q, kept by methods that end a step with the force at its end point */
};

/* One step; chi and eta are standard normals, eta only for methods that draw dZ; root = sqrt(dt). */
typedef void floor_step(struct lane_state *x, vec chi, vec eta, double dt, double root);
/* Many steps of a block. */
typedef void floor_advance(struct lane_state x[VECTORS], const struct keys *k, const struct block_noise *b,
                           size_t steps, double dt);

/* `width` vectors step side by side: two when the step is short, all four when its latency is long. */
INLINE void advance(floor_step *step, int width, int with_dz, struct lane_state *x, const struct keys *k,
                    const struct block_noise *b, size_t steps, double dt) {
    double root = sqrt(dt);
    for (size_t n = 0; n < steps; n += 2) {
        UNROLL
        for (int first = 0; first < VECTORS; first += width) {
            vec chi[2][VECTORS], eta[2][VECTORS];
            UNROLL
            for (int v = 0; v < width; v += NOISE_SIDE) {
                normals(k, b, 0, n >> 1, first + v, chi[0] + v, chi[1] + v);
                if (with_dz) normals(k, b, 1, n >> 1, first + v, eta[0] + v, eta[1] + v);
            }
            UNROLL
            for (int v = 0; v < width; v++) step(&x[first + v], chi[0][v], with_dz ? eta[0][v] : chi[0][v], dt, root);
            if (n + 1 < steps) {
                UNROLL
                for (int v = 0; v < width; v++)
                    step(&x[first + v], chi[1][v], with_dz ? eta[1][v] : chi[1][v], dt, root);
            }
        }
    }
}

/* One function per step, so that each loop is compiled for its own. */
#define FLOOR(name, step, width, with_dz)                                                                              \
    __attribute__((noinline)) void name(struct lane_state *x, const struct keys *k, const struct block_noise *b,       \
                                        size_t steps, double dt) {                                                     \
        struct lane_state y[VECTORS];                                                                                  \
        for (int v = 0; v < VECTORS; v++) y[v] = x[v];                                                                 \
        advance(step, width, with_dz, y, k, b, steps, dt);                                                             \
        for (int v = 0; v < VECTORS; v++) x[v] = y[v];                                                                 \
    }

/* Sixteen paths from q = 0, p = 1. */
static inline void run_block(floor_advance *go, const struct keys *k, uint64_t first_path, size_t steps, double dt,
                             double q[LANES], double p[LANES]) {
    struct block_noise b;
    struct lane_state x[VECTORS];
    block_noise_fill(&b, first_path);
    for (int v = 0; v < VECTORS; v++) x[v] = (struct lane_state){real(0.0), real(1.0), real(0.0), real(1.0)};
    go(x, k, &b, steps, dt);
    for (int v = 0; v < VECTORS; v++) {
        _mm256_storeu_pd(q + 4 * v, x[v].q);
        _mm256_storeu_pd(p + 4 * v, x[v].p);
    }
}

static inline double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* floor_simd.c; the table of floor_methods.c uses them too. */
floor_advance floor_kubo_verlet, floor_sync_verlet, floor_kubo_midpoint, floor_sync_midpoint;

#endif
#endif
