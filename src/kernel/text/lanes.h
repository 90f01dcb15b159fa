/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The vector type of the kernels and its elementary functions.  One `vec` holds the same number of LANES paths.
 * Every operation is elementwise, so the bits of a lane do not depend on its neighbours or on LANES.
 *
 * This file has no includes: its text is part of every generated kernel, after abi.h and before noise.h.
 *
 * A mask is an ivec whose lanes are all ones (true) or all zeros (false), as vector comparisons give it.
 *
 * exp, log: within 1 ulp, sin, cos: within 1.5; argument reduction and polynomials after fdlibm.  Lanes outside the
 * range of the reduction (and only those) take the value of libm; finding out costs one comparison. */
#ifndef LGV_LANES_H
#define LGV_LANES_H

#ifndef LANES
#ifdef __clang__
#define LANES 16
#else
#define LANES 4 /* gcc lowers vectors wider than a register badly */
#endif
#endif

typedef unsigned long long u64;
typedef long long i64;
typedef unsigned u32;
typedef double vec __attribute__((vector_size(8 * LANES)));
typedef i64 ivec __attribute__((vector_size(8 * LANES)));
typedef u64 uvec __attribute__((vector_size(8 * LANES)));

#define INLINE static inline __attribute__((always_inline, unused))
#define OUTLINE static __attribute__((noinline, unused))
/* Functions that are the same in every kernel of one width are compiled once, apart, and linked (LGV_SHARED_END in
 * compile.h): LGV_HALF is 1 there, and 2 where they are only called.  Otherwise a text has its own. */
#ifndef LGV_HALF
#define LGV_HALF 0
#endif
#if LGV_HALF
#define SHARED __attribute__((noinline, visibility("hidden")))
#else
#define SHARED OUTLINE
#endif
#ifdef __clang__
#define UNKEPT __attribute__((noescape)) /* pointers that a SHARED function does not keep: its caller cannot see it */
#else
#define UNKEPT
#endif
#ifdef __clang__
#define SELDOM noinline, optnone /* the compiler is not to spend time on them */
#else
#define SELDOM noinline, optimize("O0")
#endif
#define ONCE static __attribute__((SELDOM)) /* long texts that run once */
#define RARELY(condition) __builtin_expect(!!(condition), 0)
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#define PLAIN _Pragma("clang loop unroll(disable) vectorize(disable)") /* a loop that is not worth time to compile */
#else
#define UNROLL _Pragma("GCC unroll 16")
#define PLAIN
#endif

#ifndef __has_builtin
#define __has_builtin(name) 0
#endif

/* The widest registers that the builtins below take.  LANES_REGISTER is their number of doubles, 0 for none. */
#if defined(__AVX__) && LANES >= 4 && __has_builtin(__builtin_ia32_sqrtpd256) &&                                       \
    __has_builtin(__builtin_ia32_movmskpd256)
#define LANES_REGISTER 4
#define LANES_SQRT __builtin_ia32_sqrtpd256
#define LANES_SIGNS __builtin_ia32_movmskpd256
#elif defined(__SSE2__) && LANES >= 2 && __has_builtin(__builtin_ia32_sqrtpd) && __has_builtin(__builtin_ia32_movmskpd)
#define LANES_REGISTER 2
#define LANES_SQRT __builtin_ia32_sqrtpd
#define LANES_SIGNS __builtin_ia32_movmskpd
#else
#define LANES_REGISTER 0
#endif
#if LANES_REGISTER
typedef double lanes_register __attribute__((vector_size(8 * LANES_REGISTER)));
typedef i64 lanes_iregister __attribute__((vector_size(8 * LANES_REGISTER)));
#endif
#if LANES_REGISTER == 4 && __has_builtin(__builtin_ia32_blendvpd256)
#define LANES_BLEND 1
#else
#define LANES_BLEND 0
#endif

/* a * b + c is one operation of this machine. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define LANES_FUSED 1
#else
#define LANES_FUSED 0
#endif

double exp(double), log(double), sin(double), cos(double), tan(double), asin(double), acos(double), atan(double);
double sinh(double), cosh(double), tanh(double), erf(double), pow(double, double), atan2(double, double);

INLINE vec vec_set(double x) {
    return x - (vec){0}; /* not x + 0: that would lose the sign of -0 */
}

INLINE uvec uvec_set(u64 x) {
    return x - (uvec){0};
}

/* a where the mask is true, b where not.  The blend only looks at the signs of the mask. */
INLINE vec lanes_blend(ivec mask, vec a, vec b) {
#if LANES_BLEND
    union {
        vec v;
        lanes_register p[LANES / LANES_REGISTER];
    } m = {(vec)mask}, x = {a}, y = {b};
    UNROLL for (int i = 0; i < LANES / LANES_REGISTER; i++) {
        x.p[i] = __builtin_ia32_blendvpd256(y.p[i], x.p[i], m.p[i]);
    }
    return x.v;
#else
    return (vec)((mask & (ivec)a) | (~mask & (ivec)b));
#endif
}

/* The same for any mask.  Here and in vec_fused clang gets operations on whole vecs, of which it makes the same
 * instructions in less time. */
INLINE vec vec_select(ivec mask, vec a, vec b) {
#ifdef __clang__
    ivec sign = (ivec)(mask < 0);
    return (vec)((sign & (ivec)a) | (~sign & (ivec)b));
#else
    return lanes_blend(mask, a, b);
#endif
}

INLINE int vec_any(ivec mask) {
#if LANES_REGISTER
    union {
        ivec v;
        lanes_iregister p[LANES / LANES_REGISTER];
    } m = {mask};
    lanes_iregister r = m.p[0];
    UNROLL for (int i = 1; i < LANES / LANES_REGISTER; i++) {
        r |= m.p[i];
    }
    return LANES_SIGNS((lanes_register)r) != 0;
#else
    i64 r = 0;
    for (int l = 0; l < LANES; l++) {
        r |= mask[l];
    }
    return r != 0;
#endif
}

/* Is there a lane in a that is not in b? */
INLINE int vec_more(ivec a, ivec b) {
#if defined(__AVX512DQ__) && LANES >= 8 && __has_builtin(__builtin_ia32_cvtq2mask512)
    union {
        ivec v;
        i64 __attribute__((vector_size(64))) p[LANES / 8];
    } x = {a}, y = {b};
    unsigned in_a = 0, in_b = 0; /* a bit for each lane */
    UNROLL for (int i = 0; i < LANES / 8; i++) {
        in_a |= (unsigned)__builtin_ia32_cvtq2mask512(x.p[i]) << 8 * i;
        in_b |= (unsigned)__builtin_ia32_cvtq2mask512(y.p[i]) << 8 * i;
    }
    return (in_a & ~in_b) != 0;
#else
    return vec_any(a - b); /* the signs of it.  Masks that are joined would be packed to bytes and back */
#endif
}

INLINE int vec_all(ivec mask) {
    return !vec_any(~mask);
}

INLINE vec vec_abs(vec x) {
    return (vec)((ivec)x & 0x7fffffffffffffffLL);
}

/* Smaller and larger of two; NaN if either is NaN, so that a failed path is not healed. */
INLINE vec vec_min(vec a, vec b) {
    return vec_select((ivec)(a < b) | (ivec)(a != a), a, b);
}

INLINE vec vec_max(vec a, vec b) {
    return vec_select((ivec)(a > b) | (ivec)(a != a), a, b);
}

INLINE vec vec_floor(vec x) {
    for (int l = 0; l < LANES; l++) x[l] = __builtin_floor(x[l]);
    return x;
}

/* -1, 0 or 1 with the sign of x; zeros and NaN are returned as they are. */
INLINE vec vec_sign(vec x) {
    ivec one = ((ivec)x & (i64)0x8000000000000000ULL) | 0x3ff0000000000000LL;
    return vec_select((ivec)(vec_abs(x) > 0.0), (vec)one, x);
}

/* 1.0 where the relation holds, 0.0 where not. */
INLINE vec vec_less(vec a, vec b) {
    return (vec)((ivec)(a < b) & 0x3ff0000000000000LL);
}

/* a where the condition is not 0. */
INLINE vec vec_pick(vec condition, vec a, vec b) {
    return vec_select((ivec)(condition != 0.0), a, b);
}

INLINE vec vec_le(vec a, vec b) {
    return (vec)((ivec)(a <= b) & 0x3ff0000000000000LL);
}

INLINE ivec vec_finite(vec x) {
    return (ivec)(vec_abs(x) <= 1.79769313486231570815e+308);
}

/* Roots and divisions of a whole register take as long as those of a part of it: short vecs share one. */
#if defined(__AVX__) && LANES < 4 && __has_builtin(__builtin_ia32_sqrtpd256)
#define LANES_SHARED (4 / LANES)
typedef double lanes_wide __attribute__((vector_size(32)));
#define LANES_WIDE_SQRT __builtin_ia32_sqrtpd256
#elif defined(__AVX512F__) && LANES == 4 && defined(__clang__)
#define LANES_SHARED 2
typedef double lanes_wide __attribute__((vector_size(64)));
#define LANES_WIDE_SQRT lanes_halves_sqrt
#else
#define LANES_SHARED 1
typedef vec lanes_wide;
#define LANES_WIDE_SQRT vec_sqrt
#endif

INLINE vec vec_sqrt(vec x) {
#if LANES_REGISTER
    union {
        vec v;
        lanes_register p[LANES / LANES_REGISTER];
    } a = {x};
    UNROLL for (int i = 0; i < LANES / LANES_REGISTER; i++) {
        a.p[i] = LANES_SQRT(a.p[i]);
    }
    return a.v;
#else
    vec r = x;
    for (int l = 0; l < LANES; l++) {
        r[l] = __builtin_sqrt(x[l]);
    }
    return r;
#endif
}

/* a * b + c, fused where that is fast. */
INLINE vec vec_fused(vec a, vec b, vec c) {
#if defined(__clang__) || !LANES_FUSED
    return a * b + c;
#elif LANES_REGISTER == 4 && __has_builtin(__builtin_ia32_vfmaddpd256)
    union {
        vec v;
        lanes_register p[LANES / LANES_REGISTER];
    } x = {a}, y = {b}, z = {c};
    UNROLL for (int i = 0; i < LANES / LANES_REGISTER; i++) {
        x.p[i] = __builtin_ia32_vfmaddpd256(x.p[i], y.p[i], z.p[i]);
    }
    return x.v;
#elif LANES_REGISTER == 2 && __has_builtin(__builtin_ia32_vfmaddpd)
    union {
        vec v;
        lanes_register p[LANES / LANES_REGISTER];
    } x = {a}, y = {b}, z = {c};
    UNROLL for (int i = 0; i < LANES / LANES_REGISTER; i++) {
        x.p[i] = __builtin_ia32_vfmaddpd(x.p[i], y.p[i], z.p[i]);
    }
    return x.v;
#else
    for (int l = 0; l < LANES; l++) {
        c[l] = __builtin_fma(a[l], b[l], c[l]);
    }
    return c;
#endif
}

/* a * b + c of vecs and doubles, at least one of them a vec, where speed asks for one operation.  Which products are
 * fused is in the text, never left to the optimiser: gcc, where it is allowed to, fuses a product in one copy of an
 * inlined function and not in another, and bits come to depend on the number of lanes.  Kernels are compiled by gcc
 * with -ffp-contract=off, and by clang with -ffp-contract=on: it fuses a * b + c where the source says so, and
 * there only. */
#if defined(__clang__) || !LANES_FUSED
#define FUSED(a, b, c) ((a) * (b) + (c))
#else
#define FUSED(a, b, c) vec_fused((a) - (vec){0}, (b) - (vec){0}, (c) - (vec){0})
#endif
#define ADD_PRODUCT(sum, a, b) ((sum) = FUSED(a, b, sum))
#if defined(__clang__) && !LANES_FUSED
#pragma STDC FP_CONTRACT OFF /* else constants are folded as if it were one operation */
#endif

/* f(x) in the lanes of the mask, y in the others.  Out of line, so that a kernel keeps its registers for the usual
 * case, and const, so that the compiler drops it with a value that nobody asks for; that needs results in a
 * register, hence one register at a time. */
#if LANES_REGISTER
SHARED __attribute__((cold, const)) lanes_register lanes_repair(double (*f)(double), lanes_register x,
                                                                lanes_iregister mask, lanes_register y);
#if LGV_HALF != 2
SHARED lanes_register lanes_repair(double (*f)(double), lanes_register x, lanes_iregister mask, lanes_register y) {
    for (int l = 0; l < LANES_REGISTER; l++) {
        if (mask[l]) {
            y[l] = f(x[l]);
        }
    }
    return y;
}
#endif
#endif

INLINE vec vec_repair(double (*f)(double), vec x, ivec mask, vec y) {
#if LANES_REGISTER
    union {
        vec v;
        ivec i;
        lanes_register p[LANES / LANES_REGISTER];
        lanes_iregister m[LANES / LANES_REGISTER];
    } a = {x}, b = {.i = mask}, value = {y};
    UNROLL for (int i = 0; i < LANES / LANES_REGISTER; i++) {
        value.p[i] = lanes_repair(f, a.p[i], b.m[i], value.p[i]);
    }
    return value.v;
#else
    for (int l = 0; l < LANES; l++) {
        if (mask[l]) {
            y[l] = f(x[l]);
        }
    }
    return y;
#endif
}

#if defined(__AVX512F__) && LANES == 4 && defined(__clang__)
INLINE lanes_wide lanes_halves_sqrt(lanes_wide x) {
    union {
        lanes_wide w;
        vec v[2];
    } a = {x};
    a.v[0] = vec_sqrt(a.v[0]);
    a.v[1] = vec_sqrt(a.v[1]);
    return a.w;
}
#endif

typedef u64 lanes_uwide __attribute__((vector_size(sizeof(lanes_wide))));
#if LANES_SHARED == 1 || defined(__clang__) || !LANES_FUSED
#define WIDE_FUSED FUSED
#else
#define WIDE_FUSED(a, b, c)                                                                                            \
    __builtin_ia32_vfmaddpd256((a) - (lanes_wide){0}, (b) - (lanes_wide){0}, (c) - (lanes_wide){0})
#endif
#define LANES_MOST_INVERSES 4 /* of vec_inverses */
/* Negative where x is not in [2^-1000, 2^1000]: zero, negative, infinite and NaN, too.  Masks that are joined would be
 * packed to bytes and back. */
#define LANES_OUTSIDE(x) ((ivec)(((uvec)(x) - 0x0170000000000000ULL) | (0x7e70000000000000ULL - (uvec)(x))))

/* 1 / sqrt(x) without root and division, for x in [2^-1000, 2^1000], within 1.1 ulp (1.5 without fused products).
 * Half the exponent is right to 3.5 % (the constant is that of Lomont 2003 for double); with e = 1 - x y^2,
 * 1 / sqrt(x) = y (1 - e)^(-1/2).  The first polynomial is the one of least error on |e| <= 0.072: 2e-8.  The second
 * is Taylor's. */
INLINE lanes_wide lanes_inverse_root(lanes_wide x) {
    lanes_wide y = (lanes_wide)(0x5fe6eb50c7b537a9ULL - ((lanes_uwide)x >> 1));
    lanes_wide e = WIDE_FUSED(-(x * y), y, 1.0);
    lanes_wide p = WIDE_FUSED(e, 0.2728310971, 0.3139278441);
    p = WIDE_FUSED(e, p, 0.3750040475);
    p = WIDE_FUSED(e, p, 0.4999983405);
    y = WIDE_FUSED(y * e, p, y);
    e = WIDE_FUSED(-(x * y), y, 1.0);
    return WIDE_FUSED(y * e, WIDE_FUSED(e, 0.375, 0.5), y);
}

/* x[i] = 1 / (sqrt(x[i])^half x[i]^whole), i < n, with root and division or without. */
INLINE void lanes_inverses(vec *x, int n, int whole, int half, int divide) {
    UNROLL for (int i = 0; i < n; i += LANES_SHARED) {
        union {
            lanes_wide w;
            vec v[LANES_SHARED];
        } a, r;
        UNROLL for (int j = 0; j < LANES_SHARED; j++) a.v[j] = x[i + j < n ? i + j : n - 1];
        if (divide) {
            r.w = half ? LANES_WIDE_SQRT(a.w) : a.w;
            UNROLL for (int k = half ? 0 : 1; k < whole; k++) r.w *= a.w;
            r.w = 1.0 / r.w;
        } else {
            r.w = lanes_inverse_root(a.w);
            a.w = r.w * r.w;
            UNROLL for (int k = 0; k < whole; k++) r.w *= a.w;
        }
        UNROLL for (int j = 0; j < LANES_SHARED; j++)
            if (i + j < n) x[i + j] = r.v[j];
    }
}

/* The same: roots without dividing where their argument is an ordinary number. */
INLINE void vec_inverses(vec *x, int n, int whole, int half) {
    vec of[LANES_MOST_INVERSES];
    ivec outside = {0};
    UNROLL for (int i = 0; half && i < n; i++) {
        of[i] = x[i];
        outside |= LANES_OUTSIDE(x[i]);
    }
    lanes_inverses(x, n, whole, half, !half);
    if (RARELY(vec_any(outside >> 63))) {
        UNROLL for (int i = 0; i < n; i++) {
            ivec mask = LANES_OUTSIDE(of[i]) >> 63;
            lanes_inverses(of + i, 1, whole, half, 1);
            x[i] = vec_select(mask, of[i], x[i]);
        }
    }
}

/* Adding and subtracting 1.5 * 2^52 rounds to an integer, which is then also in the low bits of the sum. */
#define LANES_ROUND 6755399441055744.0

/* exp x = 2^k exp r, k = round(x / log 2), |r| <= log(2) / 2; Taylor to degree 13, truncation 5e-18. */
INLINE vec vec_exp(vec x) {
    vec t = FUSED(x, 1.44269504088896338700e+00, LANES_ROUND), k = t - LANES_ROUND;
    vec r = FUSED(k, -6.93147180369123816490e-01, x);
    r = FUSED(k, -1.90821492927058770002e-10, r);
    vec q = FUSED(r, 1.0 / 6227020800, 1.0 / 479001600);
    q = FUSED(q, r, 1.0 / 39916800);
    q = FUSED(q, r, 1.0 / 3628800);
    q = FUSED(q, r, 1.0 / 362880);
    q = FUSED(q, r, 1.0 / 40320);
    q = FUSED(q, r, 1.0 / 5040);
    q = FUSED(q, r, 1.0 / 720);
    q = FUSED(q, r, 1.0 / 120);
    q = FUSED(q, r, 1.0 / 24);
    q = FUSED(q, r, 1.0 / 6);
    q = FUSED(q, r, 0.5);
    vec e = FUSED(r * r, q, r);
    vec y = (1.0 + e) * (vec)(((uvec)t + 1023) << 52);
    ivec outside = (ivec)(vec_abs(x) > 708.0);
    if (RARELY(vec_any(outside))) {
        ivec none = (ivec)(x < -745.2); /* too small for a number: far pairs of a bell */
        y = vec_select(none, vec_set(0), y);
        outside &= ~none;
        if (vec_any(outside)) {
            y = vec_repair(exp, x, outside, y);
        }
    }
    return y;
}

/* x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt 2);  log(1 + f) = f - f^2/2 + s (f^2/2 + R),  s = f / (2 + f). */
INLINE vec vec_log(vec x) {
    uvec shifted = (uvec)x + (0x3ff0000000000000ULL - 0x3fe6a09e667f3bcdULL);
    uvec e = shifted >> 52;
    vec m = (vec)((uvec)x - ((e - 1023) << 52));
    vec k = (vec)(e | 0x4330000000000000ULL) - (4503599627370496.0 + 1023.0);
    vec f = m - 1.0, s = f / (f + 2.0), z = s * s, w = z * z;
    vec t1 = FUSED(w, 1.531383769920937332e-01, 2.222219843214978396e-01);
    t1 = w * FUSED(w, t1, 3.999999999940941908e-01);
    vec t2 = FUSED(w, 1.479819860511658591e-01, 1.818357216161805012e-01);
    t2 = FUSED(w, t2, 2.857142874366239149e-01);
    t2 = z * FUSED(w, t2, 6.666666666666735130e-01);
    vec half = 0.5 * f * f;
    vec low = FUSED(s, half + (t1 + t2), k * 1.90821492927058770002e-10);
    vec y = FUSED(k, 6.93147180369123816490e-01, -((half - low) - f));
    /* zero, denormal, negative, infinite and NaN are what is not within these bits; the sum wraps to compare signed */
    ivec outside = (ivec)((ivec)((uvec)x + 0x7ff0000000000000ULL) >= -0x0020000000000000LL);
    if (RARELY(vec_any(outside))) {
        y = vec_repair(log, x, outside, y);
    }
    return y;
}

#if LGV_HALF != 2
/* -2 log x for the normals: 0 < x <= 1, no special values.  With x = 2^k m, m in [sqrt(1/2), sqrt 2), s = (m-1)/(m+1):
 * -2 log x = -2 k log 2 - 4 artanh s, the factor already in the coefficients.  Not as exact as vec_log (3.5 ulp, of
 * which a normal number sees half), and much shorter. */
INLINE vec vec_minus_two_log(vec x) {
    uvec shifted = (uvec)x + (0x3ff0000000000000ULL - 0x3fe6a09e667f3bcdULL);
    vec m = (vec)((shifted & 0x000fffffffffffffULL) + 0x3fe6a09e667f3bcdULL);
    vec k = (vec)((shifted >> 52) | 0x4330000000000000ULL) - (4503599627370496.0 + 1023.0);
    vec s = (m - 1.0) / (m + 1.0), z = s * s, w = z * z;
    vec even = FUSED(w, -3.062767539841874664e-01, -4.444439686429956792e-01);
    even = FUSED(w, even, -7.999999999881883816e-01);
    even = FUSED(w, even, -4.0);
    vec odd = FUSED(w, -2.959639721023317182e-01, -3.636714432323610024e-01);
    odd = FUSED(w, odd, -5.714285748732478298e-01);
    odd = FUSED(w, odd, -1.333333333333347026);
    return vec_fused(s, FUSED(z, odd, even), k * -1.386294361119890618835);
}
#endif

/* The polynomials of sin x = x + x z p, cos x = 1 - z/2 + z z q in z = x^2, |x| <= pi/4. */
INLINE void lanes_polynomials(vec z, vec *p, vec *q) {
    vec u = FUSED(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08);
    u = FUSED(u, z, 2.75573137070700676789e-06);
    u = FUSED(u, z, -1.98412698298579493134e-04);
    u = FUSED(u, z, 8.33333333332248946124e-03);
    *p = FUSED(u, z, -1.66666666666666324348e-01);
    vec v = FUSED(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09);
    v = FUSED(v, z, -2.75573143513906633035e-07);
    v = FUSED(v, z, 2.48015872894767294178e-05);
    v = FUSED(v, z, -1.38888888888741095749e-03);
    *q = FUSED(v, z, 4.16666666666666019037e-02);
}

/* Sine and cosine of x + k pi/2 from those of x; k is in the low bits. */
INLINE void lanes_quadrant(uvec k, vec s, vec c, vec *sine, vec *cosine) {
    uvec odd = k << 63, half = (k << 62) & 0x8000000000000000ULL;
    ivec swap = LANES_BLEND ? (ivec)odd : -(ivec)(k & 1);
    vec a = lanes_blend(swap, c, s), b = lanes_blend(swap, s, c);
    *sine = (vec)((uvec)a ^ half);
    *cosine = (vec)((uvec)b ^ half ^ odd);
}

/* x = k pi/2 + r (+ tail), pi/2 in three parts.  Fused, the first subtraction is exact and r
 * right to half a unit (sin -0 becomes +0).  Else k times the first two parts must be exact (k <= 2^19), and r needs
 * a tail. */
INLINE void vec_sincos(vec x, vec *sine, vec *cosine) {
    vec s, c, p, q;
#if LANES_FUSED
    vec t = FUSED(x, 6.36619772367581382433e-01, LANES_ROUND), k = t - LANES_ROUND;
    vec r = vec_fused(k, vec_set(-1.57079632679489655800e+00), x);
    r = vec_fused(k, vec_set(-6.12323399573676603587e-17), r);
    r = vec_fused(k, vec_set(1.49738490485918330000e-33), r);
    vec z = r * r;
    lanes_polynomials(z, &p, &q);
    s = FUSED(r * z, p, r);
    c = FUSED(FUSED(q, z, -0.5), z, 1.0);
    lanes_quadrant((uvec)t, s, c, &s, &c);
#else
    vec a = vec_abs(x), t = a * 6.36619772367581382433e-01 + LANES_ROUND, k = t - LANES_ROUND;
    vec first = a - k * 1.57079632673412561417e+00;
    vec second = k * 6.07710050630396597660e-11;
    vec r = first - second;
    vec tail = ((first - r) - second) - k * 2.02226624879595063154e-21;
    vec z = r * r, w = 1.0 - 0.5 * z;
    lanes_polynomials(z, &p, &q);
    s = r + (r * z * p + tail * w); /* the first two terms of the cosine are all the tail can see */
    c = w + (z * z * q - s * tail);
    lanes_quadrant((uvec)t, s, c, &s, &c);
    s = (vec)((uvec)s ^ ((uvec)x & 0x8000000000000000ULL));
#endif
    ivec outside = (ivec)(vec_abs(x) > 800000.0);
    if (RARELY(vec_any(outside))) {
        s = vec_repair(sin, x, outside, s);
        c = vec_repair(cos, x, outside, c);
    }
    *sine = s;
    *cosine = c;
}

INLINE vec vec_sin(vec x) {
    vec s, c;
    vec_sincos(x, &s, &c);
    return s;
}

INLINE vec vec_cos(vec x) {
    vec s, c;
    vec_sincos(x, &s, &c);
    return c;
}

/* One copy each, for what runs seldom and for texts with so many calls that copies would cost more to compile than
 * calls cost to make.  Sine and cosine are in so many models that their copy is shared. */
OUTLINE vec far_exp(vec x) {
    return vec_exp(x);
}

OUTLINE vec far_log(vec x) {
    return vec_log(x);
}

SHARED void far_sincos(vec x, UNKEPT vec *sine, UNKEPT vec *cosine);
#if LGV_HALF != 2
SHARED void far_sincos(vec x, vec *sine, vec *cosine) {
    vec_sincos(x, sine, cosine);
}
#endif

INLINE vec far_sin(vec x) {
    vec s, c;
    far_sincos(x, &s, &c);
    return s;
}

INLINE vec far_cos(vec x) {
    vec s, c;
    far_sincos(x, &s, &c);
    return c;
}

/* The less frequent functions go lane by lane through libm. */
OUTLINE void lanes_map(double (*f)(double), vec *x) {
    for (int l = 0; l < LANES; l++) {
        (*x)[l] = f((*x)[l]);
    }
}

OUTLINE void lanes_map2(double (*f)(double, double), vec *x, const vec *y) {
    for (int l = 0; l < LANES; l++) {
        (*x)[l] = f((*x)[l], (*y)[l]);
    }
}

#define LANES_MAP(name)                                                                                                \
    INLINE vec vec_##name(vec x) {                                                                                     \
        vec value = x;                                                                                                 \
        lanes_map(name, &value);                                                                                       \
        return value;                                                                                                  \
    }
LANES_MAP(tan)
LANES_MAP(asin)
LANES_MAP(acos)
LANES_MAP(atan)
LANES_MAP(sinh)
LANES_MAP(cosh)
LANES_MAP(tanh)
LANES_MAP(erf)

INLINE vec vec_pow(vec x, vec y) {
    vec value = x, exponent = y;
    lanes_map2(pow, &value, &exponent);
    return value;
}

INLINE vec vec_atan2(vec y, vec x) {
    vec value = y, other = x;
    lanes_map2(atan2, &value, &other);
    return value;
}

#endif
