/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hand-written floor of the benchmark: what a specialist gets for four fixed cases with AVX2 and FMA intrinsics.
 * Sixteen paths are four vectors of four; the state lives in registers and L1 for the whole time loop; one Philox call
 * and one Box-Muller pair serve two steps.  With x = dt + beta dW a step is
 *
 *   Kubo Verlet       P = p - x/2 q,  q' = q + x P,  p' = P - x/2 q'
 *   Kubo midpoint     linear, solved directly:  a = x/2,  d = 1/(1 + a^2),  Q = d (q + a p),  P = d (p - a q)
 *   sync. Verlet      P = p - dt/2 sin q - beta dW/2 cos q,  q' = q + dt P,  likewise with q'; sin and cos at q' serve
 *                     the next step too
 *   sync. midpoint    P eliminated: f(Q) = Q - (q + dt/2 p) + A sin Q + B cos Q = 0,  A = dt^2/4,  B = dt beta dW/4.
 *                     Two Newton moves, the first with the second-order term; one full sincos and one division per
 *                     step, the rest from the addition theorem.  Reaches round-off for dt <= 0.25.
 *     the same, plain Two Newton moves with a full sincos and a division each.  Reaches round-off for dt <= 0.1.
 *
 * The full state (q, p) exists after every step: kicks of neighbouring steps are not merged. */
#include "floor.h"

#if defined(__AVX2__) && defined(__FMA__)

#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <time.h>

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")
#define VECTORS 4           /* per block */
#define LANES (4 * VECTORS) /* paths per block */
#define GROUP 2             /* vectors whose noise is made side by side: hides latency without too many spills */
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

static void keys_fill(struct keys *k, unsigned long long seed) {
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

static void block_noise_fill(struct block_noise *b, uint64_t first_path) {
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

/* Two standard normals per lane for the vectors first..first+GROUP-1 of the block.  Only the low 32 bits of the words
 * count; what products leave above them is never read.  In round one every word is either constant in time or the same
 * in all lanes, and in round two still half of them: those cost no vector products. */
INLINE void normals(const struct keys *k, const struct block_noise *b, uint64_t pair, int first, vec *n0, vec *n1) {
    uint64_t a1 = (uint64_t)PHILOX_M0 * (uint32_t)pair;
    uint64_t b2 = (uint64_t)PHILOX_M1 * (uint32_t)((a1 >> 32) ^ b->path_high ^ k->s1[0]);
    ivec x1 = whole((pair >> 32) ^ k->s0[0]), x2 = whole((b2 >> 32) ^ k->s0[1]), y2 = whole((uint32_t)a1 ^ k->s1[1]);
    ivec m0 = whole(PHILOX_M0), m1 = whole(PHILOX_M1), c0[GROUP], c1[GROUP], c2[GROUP], c3[GROUP];
    UNROLL
    for (int v = 0; v < GROUP; v++) {
        ivec a2 = _mm256_mul_epu32(_mm256_xor_si256(b->high[first + v], x1), m0);
        c0[v] = _mm256_xor_si256(b->low[first + v], x2);
        c1[v] = whole(b2);
        c2[v] = _mm256_xor_si256(_mm256_srli_epi64(a2, 32), y2);
        c3[v] = a2;
    }
    UNROLL
    for (int r = 2; r < ROUNDS; r++) {
        UNROLL
        for (int v = 0; v < GROUP; v++) {
            ivec p0 = _mm256_mul_epu32(c0[v], m0), p1 = _mm256_mul_epu32(c2[v], m1);
            c0[v] = _mm256_xor_si256(_mm256_srli_epi64(p1, 32), _mm256_xor_si256(c1[v], k->k0[r]));
            c2[v] = _mm256_xor_si256(_mm256_srli_epi64(p0, 32), _mm256_xor_si256(c3[v], k->k1[r]));
            c1[v] = p1;
            c3[v] = p0;
        }
    }
    UNROLL
    for (int v = 0; v < GROUP; v++) {
        vec radius = _mm256_sqrt_pd(minus_two_log(sub(real(2.0), one_to_two(c0[v], c1[v]))));
        vec y = mul(one_to_two(c2[v], c3[v]), real(4.0)), t = add(y, real(ROUND_MAGIC)), s, c;
        sincos_reduced(sub(y, sub(t, real(ROUND_MAGIC))), HALF_PI, &s, &c);
        quadrant(t, s, c, &s, &c);
        n0[v] = mul(radius, c);
        n1[v] = mul(radius, s);
    }
}

/* ---- steps: n is a standard normal ---- */

struct lane_state {
    vec q, p, s, c; /* s, c: sin q and cos q, kept by synchrotron Verlet */
};

INLINE void step_kubo_verlet(struct lane_state *x, vec n, double dt, double root) {
    vec w = fma3(n, real(BETA * root), real(dt)), half = mul(w, real(0.5));
    x->p = fnma3(half, x->q, x->p);
    x->q = fma3(w, x->p, x->q);
    x->p = fnma3(half, x->q, x->p);
}

INLINE void step_sync_verlet(struct lane_state *x, vec n, double dt, double root) {
    vec half = mul(n, real(0.5 * BETA * root));
    x->p = fnma3(half, x->c, fnma3(real(0.5 * dt), x->s, x->p));
    x->q = fma3(real(dt), x->p, x->q);
    sincos_radians(x->q, &x->s, &x->c);
    x->p = fnma3(half, x->c, fnma3(real(0.5 * dt), x->s, x->p));
}

INLINE void step_kubo_midpoint(struct lane_state *x, vec n, double dt, double root) {
    vec a = fma3(n, real(0.5 * BETA * root), real(0.5 * dt));
    vec e = _mm256_div_pd(add(a, a), fma3(a, a, real(1.0)));
    vec q = fma3(a, x->p, x->q), p = fnma3(a, x->q, x->p);
    x->q = fma3(e, p, x->q);
    x->p = fnma3(e, q, x->p);
}

/* f(Q) = Q - target + F(Q), F = A sin Q + B cos Q, f' = 1 + G, G = A cos Q - B sin Q, f'' = -F. */
INLINE void step_sync_midpoint(struct lane_state *x, vec n, double dt, double root) {
    vec noise = mul(n, real(BETA * root)), A = real(0.25 * dt * dt), B = mul(noise, real(0.25 * dt)), s, c;
    sincos_radians(fma3(real(0.5 * dt), x->p, x->q), &s, &c);
    /* First move, from Q = target, with the second-order term: d = -e + e^3/2, e = F/f'. */
    vec F = fma3(A, s, mul(B, c)), slope = fnma3(B, s, fma3(A, c, real(1.0)));
    vec inverse = _mm256_div_pd(real(1.0), slope), e = mul(F, inverse);
    vec d = _mm256_fmsub_pd(mul(e, mul(e, e)), real(0.5), e);
    /* sin and cos after it from the addition theorem: |d| < 0.04, so short series do. */
    vec z = mul(d, d);
    vec sd = fma3(z, real(-1.0 / 5040), real(1.0 / 120)), cd = fma3(z, real(-1.0 / 720), real(1.0 / 24));
    sd = fma3(mul(z, d), fma3(z, sd, real(-1.0 / 6)), d);
    cd = mul(z, fma3(z, cd, real(-0.5)));
    vec s1 = add(s, fma3(s, cd, mul(c, sd))), c1 = add(c, fnma3(s, sd, mul(c, cd)));
    /* Second move: plain Newton; the reciprocal is refined from the first one instead of dividing again. */
    F = fma3(A, s1, mul(B, c1));
    slope = fnma3(B, s1, fma3(A, c1, real(1.0)));
    inverse = mul(inverse, fnma3(slope, inverse, real(2.0)));
    d = mul(add(d, F), inverse);
    s = fnma3(d, c1, s1);
    c = fma3(d, s1, c1);
    vec p = fnma3(noise, c, fnma3(real(dt), s, x->p));
    x->q = fma3(real(0.5 * dt), add(x->p, p), x->q);
    x->p = p;
}

INLINE void step_sync_midpoint_plain(struct lane_state *x, vec n, double dt, double root) {
    vec noise = mul(n, real(BETA * root)), A = real(0.25 * dt * dt), B = mul(noise, real(0.25 * dt)), s, c;
    vec target = fma3(real(0.5 * dt), x->p, x->q), Q = target, d = real(0.0);
    UNROLL
    for (int i = 0; i < 2; i++) {
        sincos_radians(Q, &s, &c);
        vec f = add(sub(Q, target), fma3(A, s, mul(B, c))), slope = fnma3(B, s, fma3(A, c, real(1.0)));
        d = _mm256_div_pd(f, slope);
        Q = sub(Q, d);
    }
    /* sin and cos at the last Q: the second move is so small that two terms of the series are exact */
    vec s1 = fnma3(d, c, s), c1 = fma3(d, s, c), p = fnma3(noise, c1, fnma3(real(dt), s1, x->p));
    x->q = fma3(real(0.5 * dt), add(x->p, p), x->q);
    x->p = p;
}

INLINE void step(enum floor_case c, struct lane_state *x, vec n, double dt, double root) {
    if (c == KUBO_VERLET)
        step_kubo_verlet(x, n, dt, root);
    else if (c == SYNC_VERLET)
        step_sync_verlet(x, n, dt, root);
    else if (c == KUBO_MIDPOINT)
        step_kubo_midpoint(x, n, dt, root);
    else if (c == SYNC_MIDPOINT)
        step_sync_midpoint(x, n, dt, root);
    else
        step_sync_midpoint_plain(x, n, dt, root);
}

/* ---- driver ---- */

/* `width` vectors step side by side: two when the step is short, all four when its latency is long. */
INLINE void advance(enum floor_case c, int width, struct lane_state *x, const struct keys *k,
                    const struct block_noise *b, size_t steps, double dt) {
    double root = sqrt(dt);
    for (size_t n = 0; n < steps; n += 2) {
        UNROLL
        for (int first = 0; first < VECTORS; first += width) {
            vec n0[VECTORS], n1[VECTORS];
            UNROLL
            for (int v = 0; v < width; v += GROUP) normals(k, b, n >> 1, first + v, n0 + v, n1 + v);
            UNROLL
            for (int v = 0; v < width; v++) step(c, &x[first + v], n0[v], dt, root);
            if (n + 1 < steps) {
                UNROLL
                for (int v = 0; v < width; v++) step(c, &x[first + v], n1[v], dt, root);
            }
        }
    }
}

/* One function per case, so that each loop is compiled for its own step. */
#define ADVANCE(name, c, width)                                                                                        \
    static __attribute__((noinline)) void name(struct lane_state *x, const struct keys *k,                             \
                                               const struct block_noise *b, size_t steps, double dt) {                 \
        struct lane_state y[VECTORS];                                                                                  \
        for (int v = 0; v < VECTORS; v++) y[v] = x[v];                                                                 \
        advance(c, width, y, k, b, steps, dt);                                                                         \
        for (int v = 0; v < VECTORS; v++) x[v] = y[v];                                                                 \
    }
ADVANCE(advance_kubo_verlet, KUBO_VERLET, 2)
ADVANCE(advance_sync_verlet, SYNC_VERLET, 4)
ADVANCE(advance_kubo_midpoint, KUBO_MIDPOINT, 2)
ADVANCE(advance_sync_midpoint, SYNC_MIDPOINT, 4)
ADVANCE(advance_sync_midpoint_plain, SYNC_MIDPOINT_PLAIN, 4)

static void run_block(enum floor_case c, const struct keys *k, uint64_t first_path, size_t steps, double dt,
                      double q[LANES], double p[LANES]) {
    struct block_noise b;
    struct lane_state x[VECTORS];
    block_noise_fill(&b, first_path);
    for (int v = 0; v < VECTORS; v++) x[v] = (struct lane_state){real(0.0), real(1.0), real(0.0), real(1.0)};
    switch (c) {
    case KUBO_VERLET: advance_kubo_verlet(x, k, &b, steps, dt); break;
    case SYNC_VERLET: advance_sync_verlet(x, k, &b, steps, dt); break;
    case KUBO_MIDPOINT: advance_kubo_midpoint(x, k, &b, steps, dt); break;
    case SYNC_MIDPOINT: advance_sync_midpoint(x, k, &b, steps, dt); break;
    case SYNC_MIDPOINT_PLAIN: advance_sync_midpoint_plain(x, k, &b, steps, dt); break;
    }
    for (int v = 0; v < VECTORS; v++) {
        _mm256_storeu_pd(q + 4 * v, x[v].q);
        _mm256_storeu_pd(p + 4 * v, x[v].p);
    }
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int floor_available(void) {
    return 1;
}

double floor_run(enum floor_case c, size_t paths, size_t steps, double dt, unsigned long long seed,
                 double *mean_energy) {
    struct keys k;
    double q[LANES], p[LANES], sum = 0, start = seconds();
    keys_fill(&k, seed);
    for (size_t first = 0; first < paths; first += LANES) {
        run_block(c, &k, first, steps, dt, q, p);
        for (size_t l = 0; l < LANES && first + l < paths; l++) {
            double potential = c == KUBO_VERLET || c == KUBO_MIDPOINT ? 0.5 * q[l] * q[l] : -cos(q[l]);
            sum += 0.5 * p[l] * p[l] + potential;
        }
    }
    if (mean_energy) *mean_energy = paths ? sum / (double)paths : 0;
    return seconds() - start;
}

double floor_normals(size_t count) {
    static volatile double sink; /* keeps the sum, and with it the work, alive */
    struct keys k;
    struct block_noise b;
    vec sum[VECTORS] = {real(0), real(0), real(0), real(0)};
    double out[4], start = seconds();
    keys_fill(&k, 1);
    block_noise_fill(&b, 0);
    for (size_t done = 0; done < count; done += 2 * LANES) {
        UNROLL
        for (int first = 0; first < VECTORS; first += GROUP) {
            vec n0[GROUP], n1[GROUP];
            normals(&k, &b, done / (2 * LANES), first, n0, n1);
            UNROLL
            for (int v = 0; v < GROUP; v++) sum[first + v] = add(sum[first + v], add(n0[v], n1[v]));
        }
    }
    _mm256_storeu_pd(out, add(add(sum[0], sum[1]), add(sum[2], sum[3])));
    sink = out[0] + out[1] + out[2] + out[3];
    (void)sink;
    return seconds() - start;
}

#else

int floor_available(void) {
    return 0;
}

double floor_run(enum floor_case c, size_t paths, size_t steps, double dt, unsigned long long seed,
                 double *mean_energy) {
    (void)c, (void)paths, (void)steps, (void)dt, (void)seed;
    if (mean_energy) *mean_energy = 0;
    return -1;
}

double floor_normals(size_t count) {
    (void)count;
    return -1;
}

#endif
