/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The noise of the kernels: a pure function of (seed, path, number, stream), without any generator state.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror & Shaw, SC11) with key = seed and counter = (pair, stream, path), then Box-Muller
 *   z0 = sqrt(-2 log u) cos(2 pi v),  z1 = sqrt(-2 log u) sin(2 pi v)
 * with 52-bit uniforms u in (0,1], v in [0,1): |z| <= 8.5.  Normal number j of a stream is half j & 1 of pair j >> 1.
 *
 * Of a model with nm noises, noise m in fine step n has the normals number n nm + m: chi of STREAM_W, eta of STREAM_Z,
 *   dW = sqrt(dt) chi,   dZ = integral of (W - W_n) dt over the step = dt^(3/2) (chi + eta / sqrt 3) / 2.
 *
 * This file has no includes; it follows lanes.h. */
#ifndef LGV_NOISE_H
#define LGV_NOISE_H

enum {
    STREAM_W = 0,
    STREAM_Z = 1,
    STREAM_START = 2,
    STREAM_START_UNIFORM = 3,
    STREAM_ACCEPT = 4,
    STREAM_AREA = 5,
    STREAM_PROCESS = 6
};

/* The normals of the pairs pair .. pair + NOISE_SIDE - 1: z[2 NOISE_SIDE].  The only copy of all this in a kernel,
 * out of line and without a loop around it: it takes as long to compile as all the rest of a small kernel, and a call
 * costs little against it. */
SHARED void noise_side(u64 seed, UNKEPT const uvec *path, u64 pair, u32 stream, UNKEPT vec *z);
/* Uniform in (0, 1): the odd multiples of 2^-53. */
SHARED void uniform_pair(u64 seed, UNKEPT const uvec *path, u64 pair, u32 stream, UNKEPT vec *u0, UNKEPT vec *u1);

/* Pairs made side by side: a processor works on two chains of operations at once, and short vecs leave room for it. */
#define NOISE_SIDE (LANES <= 4 ? 2 : 1)

#if LGV_HALF != 2
/* Products of the low halves of the lanes. */
INLINE uvec noise_multiply(uvec a, uvec b) {
#if defined(__AVX2__) && !defined(__clang__) && LANES_REGISTER == 4
    typedef int noise_ints __attribute__((vector_size(32)));
    union {
        uvec v;
        lanes_iregister p[LANES / 4];
    } x = {a}, y = {b};
    UNROLL for (int i = 0; i < LANES / 4; i++) {
        x.p[i] = __builtin_ia32_pmuludq256((noise_ints)x.p[i], (noise_ints)y.p[i]);
    }
    return x.v;
#else
    return (a & 0xffffffffULL) * (b & 0xffffffffULL);
#endif
}

/* Four random 32-bit words per lane, in the low halves of out[j], for the pairs pair + j, j < count <= NOISE_SIDE.
 * pair < 2^48, stream < 2^16. */
INLINE void philox_pairs(u64 seed, uvec path, u64 pair, int count, u32 stream, uvec out[][4]) {
    u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
    uvec c0[NOISE_SIDE], c1[NOISE_SIDE], c2[NOISE_SIDE], c3[NOISE_SIDE];
    UNROLL for (int j = 0; j < count; j++) {
        c0[j] = uvec_set((pair + (u64)j) & 0xffffffffULL);
        c1[j] = uvec_set((((pair + (u64)j) >> 32) & 0xffffULL) | ((u64)stream << 16));
        c2[j] = path;
        c3[j] = path >> 32;
    }
    UNROLL for (int round = 0; round < 10; round++) {
        UNROLL for (int j = 0; j < count; j++) {
            uvec a = noise_multiply(uvec_set(0xd2511f53u), c0[j]), b = noise_multiply(uvec_set(0xcd9e8d57u), c2[j]);
            /* the high halves of the words may hold anything: multiplication does not look at them */
            c0[j] = (b >> 32) ^ c1[j] ^ (u64)k0;
            c1[j] = b;
            c2[j] = (a >> 32) ^ c3[j] ^ (u64)k1;
            c3[j] = a;
        }
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    UNROLL for (int j = 0; j < count; j++) {
        out[j][0] = c0[j] & 0xffffffffULL;
        out[j][1] = c1[j] & 0xffffffffULL;
        out[j][2] = c2[j] & 0xffffffffULL;
        out[j][3] = c3[j] & 0xffffffffULL;
    }
}

INLINE void philox(u64 seed, uvec path, u64 pair, u32 stream, uvec out[4]) {
    uvec x[1][4];
    philox_pairs(seed, path, pair, 1, stream, x);
    for (int i = 0; i < 4; i++) {
        out[i] = x[0][i];
    }
}

/* A number in [1, 2) from the upper 52 of 64 bits. */
INLINE vec noise_mantissa(uvec low, uvec high) {
    return (vec)((((high << 32) | low) >> 12) | 0x3ff0000000000000ULL);
}

/* Sine and cosine of a quarter turns, |a| <= 1/2: lanes_polynomials with pi/2 in the coefficients. */
INLINE void noise_circle(vec a, vec *sine, vec *cosine) {
    vec z = a * a;
    vec u = FUSED(z, 5.63470411388475095176e-08, -3.59864957024069190163e-06);
    u = FUSED(u, z, 1.60441152667380958341e-04);
    u = FUSED(u, z, -4.68175413262593341380e-03);
    u = FUSED(u, z, 7.96926262460633439230e-02);
    u = FUSED(u, z, -6.45964097506244926902e-01);
    u = FUSED(u, z, 1.57079632679489661923e+00);
    vec v = FUSED(z, -6.32474667886606989108e-09, 4.71064150580350187943e-07);
    v = FUSED(v, z, -2.52020379169177423705e-05);
    v = FUSED(v, z, 9.19260274390553378474e-04);
    v = FUSED(v, z, -2.08634807633307598219e-02);
    v = FUSED(v, z, 2.53669507901047619355e-01);
    v = FUSED(v, z, -1.23370055013616982735e+00);
    *sine = a * u;
    *cosine = FUSED(v, z, 1.0);
}

/* z0, z1 from the words of Philox. */
INLINE void box_muller(const uvec x[4], vec *z0, vec *z1) {
    vec r = vec_sqrt(vec_minus_two_log(2.0 - noise_mantissa(x[0], x[1]))), s, c;
    /* the angle in quarter turns, less the nearest whole number of them: exact */
    vec y = noise_mantissa(x[2], x[3]) * 4.0, t = y + LANES_ROUND;
    noise_circle(y - (t - LANES_ROUND), &s, &c);
    lanes_quadrant((uvec)t, s, c, &s, &c);
    *z0 = r * c;
    *z1 = r * s;
}

SHARED void noise_side(u64 seed, const uvec *path, u64 pair, u32 stream, vec *z) {
    uvec x[NOISE_SIDE][4];
    philox_pairs(seed, *path, pair, NOISE_SIDE, stream, x);
    UNROLL for (int j = 0; j < NOISE_SIDE; j++) {
        box_muller(x[j], &z[2 * j], &z[2 * j + 1]);
    }
}

SHARED void uniform_pair(u64 seed, const uvec *path, u64 pair, u32 stream, vec *u0, vec *u1) {
    uvec x[4];
    philox(seed, *path, pair, stream, x);
    *u0 = (noise_mantissa(x[0], x[1]) - 1.0) + 0x1p-53;
    *u1 = (noise_mantissa(x[2], x[3]) - 1.0) + 0x1p-53;
}
#endif

/* The normals of any number of pairs: z[2 count]. */
INLINE void noise_pairs(u64 seed, const uvec *path, u64 pair, int count, u32 stream, vec *z) {
    for (; count >= NOISE_SIDE; count -= NOISE_SIDE, pair += NOISE_SIDE, z += 2 * NOISE_SIDE) {
        noise_side(seed, path, pair, stream, z);
    }
    if (NOISE_SIDE > 1 && count > 0) { /* one pair is left */
        vec last[2 * NOISE_SIDE];
        noise_side(seed, path, pair, stream, last);
        z[0] = last[0];
        z[1] = last[1];
    }
}

INLINE void normal_pair(u64 seed, uvec path, u64 pair, u32 stream, vec *z0, vec *z1) {
    uvec paths = path;
    vec z[2];
    noise_pairs(seed, &paths, pair, 1, stream, z);
    *z0 = z[0];
    *z1 = z[1];
}

/* Normals number first .. first + count - 1 of a stream. */
INLINE void noise_fill(u64 seed, uvec path, u64 first, int count, u32 stream, vec *z) {
    uvec paths = path;
    vec unused;
    int i = 0;
    if ((first & 1) && count > 0) {
        normal_pair(seed, path, first >> 1, stream, &unused, &z[i++]);
    }
    noise_pairs(seed, &paths, (first + (u64)i) >> 1, (count - i) / 2, stream, z + i);
    if ((count - i) & 1) {
        normal_pair(seed, path, (first + (u64)count - 1) >> 1, stream, &z[count - 1], &unused);
    }
}

/* The same out of line. */
OUTLINE void noise_fill_any(u64 seed, const uvec *path, u64 first, int count, u32 stream, vec *z) {
    noise_fill(seed, *path, first, count, stream, z);
}

/* Turns chi in dW and eta in dZ into the increments of fine steps of size dt. */
INLINE void noise_scale(double dt, int count, int want_z, vec *dW, vec *dZ) {
    double root = __builtin_sqrt(dt), half = 0.5 * dt * root;
    for (int i = 0; i < count; i++) {
        if (want_z) {
            dZ[i] = half * FUSED(0.57735026918962576451, dZ[i], dW[i]);
        }
        dW[i] = root * dW[i];
    }
}

/* Loops over noises in the shared half, which does not know their number: what counts there are the normals. */
#if LGV_HALF == 1
#define ROLLED PLAIN
#else
#define ROLLED
#endif

/* Increments over several fine steps.  With A before B: the integral of W - W_n over both parts is dZ_A + dZ_B plus
 * dW_A for the length of B, since B starts at the level W_n + dW_A.  In units of sqrt(dt_f) and dt_f^(3/2) / 2 that is
 *   dW = sum chi,   dZ = sum (chi + eta / sqrt 3 + 2 (dW before)),
 * scaled once at the end.  Out of line: its text in every time loop would only cost compile time.  Each
 * kernel has its own: with nm and want_z known it takes a sixth less time. */
OUTLINE void noise_coarse(u64 seed, const uvec *paths, u64 step, u64 coarsen, double dt, int nm, int want_z, vec *dW,
                          vec *dZ) {
    double fine = dt / (double)coarsen, root = __builtin_sqrt(fine), half = 0.5 * fine * root;
    u64 first = step * coarsen * (u64)nm, end = first + coarsen * (u64)nm;
    vec chi[2 * NOISE_SIDE], eta[2 * NOISE_SIDE];
    ROLLED for (int m = 0; m < nm; m++) {
        dW[m] = vec_set(-0.0); /* which changes no number that is added to it, not even the sign of a zero */
        if (want_z) {
            dZ[m] = vec_set(-0.0);
        }
    }
    int m = 0;
    ROLLED for (u64 j = first; j < end; j++) {
        u64 at = j % (2 * NOISE_SIDE);
        if (j == first || at == 0) {
            noise_pairs(seed, paths, (j - at) >> 1, NOISE_SIDE, STREAM_W, chi);
            if (want_z) {
                noise_pairs(seed, paths, (j - at) >> 1, NOISE_SIDE, STREAM_Z, eta);
            }
        }
        if (want_z) {
            dZ[m] = dZ[m] + FUSED(2.0, dW[m], FUSED(0.57735026918962576451, eta[at], chi[at]));
        }
        dW[m] = dW[m] + chi[at];
        m = m + 1 == nm ? 0 : m + 1;
    }
    ROLLED for (m = 0; m < nm; m++) {
        dW[m] = root * dW[m];
        if (want_z) {
            dZ[m] = half * dZ[m];
        }
    }
}

/* Increments of step number `step` of size dt, made of `coarsen` fine steps: dW[nm] and, if want_z, dZ[nm]. */
INLINE void noise_step(u64 seed, uvec path, u64 step, u64 coarsen, double dt, int nm, int want_z, vec *dW, vec *dZ) {
    if (coarsen != 1) {
        uvec paths = path;
        noise_coarse(seed, &paths, step, coarsen, dt, nm, want_z, dW, dZ);
        return;
    }
    noise_fill_any(seed, &path, step * (u64)nm, nm, STREAM_W, dW);
    if (want_z) {
        noise_fill_any(seed, &path, step * (u64)nm, nm, STREAM_Z, dZ);
    }
    ROLLED for (int m = 0; m < nm; m++) {
        noise_scale(dt, 1, want_z, dW + m, dZ + m);
    }
}

/* Steps whose normals fill whole calls of noise_side, for any number of noises. */
#define NOISE_STEPS (2 * NOISE_SIDE)

/* The increments of the NOISE_STEPS fine steps from `step` on, a multiple of NOISE_STEPS: dW[NOISE_STEPS nm], and
 * dZ.  No half of a pair is lost, which for one noise halves the work. */
INLINE void noise_steps(u64 seed, const uvec *path, u64 step, double dt, int nm, int want_z, vec *dW, vec *dZ) {
    u64 pair = step / 2 * (u64)nm;
    noise_pairs(seed, path, pair, NOISE_SIDE * nm, STREAM_W, dW);
    if (want_z) {
        noise_pairs(seed, path, pair, NOISE_SIDE * nm, STREAM_Z, dZ);
    }
    noise_scale(dt, NOISE_STEPS * nm, want_z, dW, dZ);
}

#endif
