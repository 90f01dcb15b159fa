/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Free steps of a rigid body: unit quaternion q = (w, x, y, z) with R(q) from body to space, and angular momentum m in
 * the frame of the body, along its principal axes:
 *
 *     omega = I^-1 m,   q' = q (0, omega) / 2,   m' = m x omega.
 *
 *     rotor_planar       turns about the axes, one after the other: explicit, symplectic, order 2
 *     rotor_cayley       Lie group variational integrator with the Cayley map: implicit, symplectic, order 2
 *     rotor_exponential  the same with the exponential
 *     rotor_exact        the motion itself, to round-off
 *
 * Each turns q and m by one and the same rotation, q+ = q T and m+ = T^-1 m: the momentum in space, R(q) m, and |m|
 * stay, whatever the step or the accuracy of an equation.  A step ends with one step of Newton's method for |q| = 1,
 * which keeps the norm at round-off however long a path is.
 *
 * `spin` holds numbers of the body that lgv_spin_numbers makes of the moments of inertia (enum lgv_spin_number, abi.h).
 * Include-free; it follows newton.h. */
#ifndef LGV_ROTOR_H
#define LGV_ROTOR_H

/* ---- quaternions ---- */

/* q <- q t */
INLINE void rotor_turn(vec *q, const vec *t) {
    vec w = q[0], x = q[1], y = q[2], z = q[3];
    q[0] = FUSED(w, t[0], -x * t[1]) - FUSED(y, t[2], z * t[3]);
    q[1] = FUSED(w, t[1], x * t[0]) + FUSED(y, t[3], -z * t[2]);
    q[2] = FUSED(w, t[2], y * t[0]) + FUSED(z, t[1], -x * t[3]);
    q[3] = FUSED(w, t[3], z * t[0]) + FUSED(x, t[2], -y * t[1]);
}

INLINE vec rotor_dot(const vec *a, const vec *b) {
    return FUSED(a[0], b[0], FUSED(a[1], b[1], a[2] * b[2]));
}

/* m <- R(t)^T m */
INLINE void rotor_turn_back(vec *m, const vec *t) {
    vec u[3];
    UNROLL for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        u[i] = 2.0 * FUSED(t[1 + j], m[k], -t[1 + k] * m[j]);
    }
    UNROLL for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        m[i] += FUSED(-t[0], u[i], FUSED(t[1 + j], u[k], -t[1 + k] * u[j]));
    }
}

/* One step of Newton's method for the norm 1. */
INLINE void rotor_unit(vec *q) {
    vec size = FUSED(q[0], q[0], q[1] * q[1]) + FUSED(q[2], q[2], q[3] * q[3]), lack = FUSED(size, -0.5, 0.5);
    UNROLL for (int i = 0; i < 4; i++) ADD_PRODUCT(q[i], lack, q[i]);
}

/* ---- turns about the axes ---- */

/* The flow of m_k^2 / (2 I_k) over the time dt; half = dt / (2 I_k). */
INLINE void rotor_axis(int k, double half, vec *q, vec *m) {
    int j = (k + 1) % 3, l = (k + 2) % 3;
    vec s, c;
    vec_sincos(half * m[k], &s, &c);
    vec w = q[0], qk = q[1 + k], qj = q[1 + j], ql = q[1 + l], mj = m[j], ml = m[l];
    q[0] = FUSED(c, w, -s * qk);
    q[1 + k] = FUSED(c, qk, s * w);
    q[1 + j] = FUSED(c, qj, s * ql);
    q[1 + l] = FUSED(c, ql, -s * qj);
    vec twice = 2.0 * s; /* sin 2x = 2 s c, cos 2x = 1 - 2 s^2 */
    m[j] = FUSED(twice, FUSED(c, ml, -s * mj), mj);
    m[l] = FUSED(-twice, FUSED(c, mj, s * ml), ml);
}

/* Touma & Wisdom (1994), Lie-Poisson integrators for rigid body dynamics in the solar system, doi 10.1086/116931. */
INLINE void rotor_planar(double dt, const double *spin, vec *q, vec *m) {
    const double *inverse = spin + LGV_SPIN_INVERSE;
    rotor_axis(0, 0.25 * dt * inverse[0], q, m);
    rotor_axis(1, 0.25 * dt * inverse[1], q, m);
    rotor_axis(2, 0.5 * dt * inverse[2], q, m);
    rotor_axis(1, 0.25 * dt * inverse[1], q, m);
    rotor_axis(0, 0.25 * dt * inverse[0], q, m);
    rotor_unit(q);
}

/* ---- the Cayley map ----
 *
 * With x = dt xi / 2 and s = dt r / 2 the equation  I xi + dt/2 xi x I xi + dt^2/4 (xi.I xi) xi = r  is
 * (1 + hat x + x x^T) I x = s.  The matrix is (1 + |x|^2) (1 - hat x)^-1, hence
 *
 *     (L I - hat s) x = s,   L = 1 + |x|^2:   x = (L^2 y + L b + a) / (L (L^2 + e)),   y = I^-1 s,
 *     b_i = y_j y_k (I_j - I_k) / I_i,   a = |s|^2 s / det I,   e = s.I s / det I
 *
 * and one equation for u = L - 1 is left: u L^2 (L^2 + e)^2 = |L^2 y + L b + a|^2.  It always has a root. */

struct rotor_root {
    vec four, three, two, none; /* the right side, by powers of L: a.b = 0 */
    vec e;
};

INLINE ivec rotor_root_correct(struct ctx *c, struct newton *s, void *of) {
    const struct rotor_root *h = of;
    (void)c;
    vec u = s->x[0], L = 1.0 + u, L2 = L * L;
    vec root = L * (L2 + h->e), slope = FUSED(3.0, L2, h->e); /* of L (L^2 + e), and its derivative */
    vec right = FUSED(FUSED(FUSED(h->four, L, h->three), L, h->two), L2, h->none);
    vec rise = L * FUSED(FUSED(4.0 * h->four, L, 3.0 * h->three), L, 2.0 * h->two);
    vec f = FUSED(u * root, root, -right), df = FUSED(root, FUSED(2.0 * u, slope, root), -rise);
    s->e[0] = f / df;
    return (ivec)(vec_abs(s->e[0]) > 1.79769313486231570815e+308);
}

/* The error left is at most 3 e^2 / L, for a polynomial of degree 7. */
INLINE ivec rotor_root_moving(struct ctx *c, struct newton *s, void *of) {
    (void)c;
    (void)of;
    return (ivec)(vec_abs(s->e[0]) > 4e-9 * (1.0 + s->x[0]));
}

/* Where a step turns the body far, u is about |y|^(2/3): too far from |y|^2 for Newton's method. */
OUTLINE __attribute__((cold)) vec rotor_root_far(vec yy, vec u, ivec far) {
    return vec_select(far, vec_pow(yy, vec_set(1.0 / 3)), u);
}

INLINE void rotor_cayley(struct ctx *c, double dt, const double *spin, vec *q, vec *m) {
    const double *I = spin, *inverse = spin + LGV_SPIN_INVERSE;
    vec y[3], a[3], b[3], e, u, t[4];
    UNROLL for (int i = 0; i < 3; i++) y[i] = 0.5 * dt * inverse[i] * m[i];
    vec square[3] = {I[0] * y[0] * y[0], I[1] * y[1] * y[1], I[2] * y[2] * y[2]}; /* s_i^2 / I_i */
    vec ss = FUSED(I[0], square[0], FUSED(I[1], square[1], I[2] * square[2])) * inverse[0] * inverse[1] * inverse[2];
    UNROLL for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        a[i] = I[i] * ss * y[i];
        b[i] = (I[j] - I[k]) * inverse[i] * y[j] * y[k];
    }
    e = FUSED(I[0] * inverse[1] * inverse[2], square[0],
              FUSED(I[1] * inverse[2] * inverse[0], square[1], I[2] * inverse[0] * inverse[1] * square[2]));
    vec yy = rotor_dot(y, y);
    struct rotor_root h = {yy, 2.0 * rotor_dot(y, b), FUSED(2.0, rotor_dot(y, a), rotor_dot(b, b)), rotor_dot(a, a), e};
    struct newton s = {.n = 1, .x = &u, .e = &t[0], .live = (ivec)(m[0] == m[0])};
    u = vec_max(vec_set(0), yy / FUSED(2.0, yy, 1.0) + h.three);
    ivec far = (ivec)(yy > 1.0);
    if (RARELY(vec_any(far))) u = rotor_root_far(yy, u, far);
    newton(c, &s, NEWTON_MAX, rotor_root_correct, rotor_root_moving, 0, &h);
    vec L = 1.0 + u, L2 = L * L, factor = 1.0 / (L * (L2 + e));
    if (RARELY(vec_any(s.live))) factor = vec_select(s.live, vec_set(__builtin_nan("")), factor);
    UNROLL for (int i = 0; i < 3; i++) t[1 + i] = factor * FUSED(L, FUSED(L, y[i], b[i]), a[i]);
    t[0] = 1.0 / vec_sqrt(1.0 + rotor_dot(t + 1, t + 1));
    UNROLL for (int i = 0; i < 3; i++) t[1 + i] *= t[0];
    rotor_turn(q, t);
    rotor_turn_back(m, t);
    rotor_unit(q);
}

/* ---- the exponential ----
 *
 * With y = dt xi / 2, w = |y|^2 and kappa(w) = (1 - sqrt(w) cot(sqrt w)) / w the equation (dexp^-1_{dt xi})^T I xi = r
 * is I y + y x I y + kappa y x (y x I y) = dt r / 2.  Row i divided by I_i, where g = dt I^-1 r / 2:
 *
 *     y_i - (I_j - I_k)/I_i y_j y_k + kappa y_i t_i = g_i,   t_i = sum_j (I_j/I_i - 1) y_j^2. */

#define ROTOR_SMALL 0.6 /* up to this w the polynomials of sine and cosine hold: sqrt(w) < pi/4 */

struct rotor_log {
    const double *I, *inverse;
    vec g[3];
};

/* sin(sqrt w) / sqrt w and cos(sqrt w) of the lanes that turn far. */
OUTLINE __attribute__((cold)) void rotor_sinc_far(vec w, ivec far, vec *sinc, vec *cosine) {
    vec angle = vec_sqrt(w), s, co;
    far_sincos(angle, &s, &co);
    *sinc = vec_select(far, s / angle, *sinc);
    *cosine = vec_select(far, co, *cosine);
}

INLINE void rotor_sinc(vec w, vec *sinc, vec *cosine) {
    vec p, r, one, other;
    lanes_polynomials(w, &p, &r);
    one = FUSED(w, p, 1.0);
    other = FUSED(FUSED(r, w, -0.5), w, 1.0);
    ivec far = (ivec)(w > ROTOR_SMALL);
    if (RARELY(vec_any(far))) {
        vec a = one, b = other; /* copies: what has its address known elsewhere does not live in registers */
        rotor_sinc_far(w, far, &a, &b);
        one = a;
        other = b;
    }
    *sinc = one;
    *cosine = other;
}

OUTLINE __attribute__((cold)) void rotor_kappa_far(vec w, ivec far, vec *kappa, vec *slope) {
    vec sinc = vec_set(1), cosine = vec_set(1);
    rotor_sinc_far(w, far, &sinc, &cosine);
    vec k = (sinc - cosine) / (w * sinc);
    *kappa = vec_select(far, k, *kappa);
    *slope = vec_select(far, FUSED(k, FUSED(k, w, -3.0), 1.0) / (2.0 * w), *slope);
}

/* kappa and its derivative.  With sin = x + x w p and cos = 1 - w/2 + w^2 r nothing cancels in
 * kappa = (1/2 + p - w r) / (1 + w p); the derivative is for Newton's matrix only, and good to 1e-6. */
INLINE void rotor_kappa(vec w, vec *kappa, vec *slope) {
    vec p, r, k, d;
    lanes_polynomials(w, &p, &r);
    k = FUSED(-w, r, 0.5 + p) / FUSED(w, p, 1.0);
    d = FUSED(FUSED(FUSED(FUSED(w, 1.3156e-6, 1.0822e-5), w, 8.0 / 93555), w, 3.0 / 4725), w, 4.0 / 945);
    d = FUSED(d, w, 1.0 / 45);
    ivec far = (ivec)(w > ROTOR_SMALL);
    if (RARELY(vec_any(far))) {
        vec a = k, b = d;
        rotor_kappa_far(w, far, &a, &b);
        k = a;
        d = b;
    }
    *kappa = k;
    *slope = d;
}

INLINE ivec rotor_log_correct(struct ctx *c, struct newton *s, void *of) {
    const struct rotor_log *h = of;
    const double *I = h->I, *inverse = h->inverse;
    vec y[3] = {s->x[0], s->x[1], s->x[2]}, A[9], kappa, slope;
    (void)c;
    rotor_kappa(rotor_dot(y, y), &kappa, &slope);
    UNROLL for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double rj = (I[j] - I[i]) * inverse[i], rk = (I[k] - I[i]) * inverse[i], cross = (I[j] - I[k]) * inverse[i];
        vec t = FUSED(rj, y[j] * y[j], rk * y[k] * y[k]), ky = 2.0 * kappa * y[i], sy = 2.0 * slope * t * y[i];
        s->e[i] = FUSED(kappa * t, y[i], FUSED(-cross * y[j], y[k], y[i] - h->g[i]));
        A[3 * i + i] = FUSED(sy, y[i], FUSED(kappa, t, 1.0));
        A[3 * i + j] = FUSED(FUSED(ky, rj, sy), y[j], -cross * y[k]);
        A[3 * i + k] = FUSED(FUSED(ky, rk, sy), y[k], -cross * y[j]);
    }
    return system_solve(SYSTEM_NEAR_ONE, 3, A, s->e, 0);
}

/* Beyond a half turn, w = pi^2, the exponential takes its values again: no solution there is one. */
INLINE ivec rotor_log_moving(struct ctx *c, struct newton *s, void *of) {
    const struct rotor_log *h = of;
    (void)c;
    return still_moving(3, s->e, s->x, h->g, 1e-8) | (ivec)(rotor_dot(s->x, s->x) > 9.8696044010893586);
}

INLINE void rotor_exponential(struct ctx *c, double dt, const double *spin, vec *q, vec *m) {
    const double *I = spin, *inverse = spin + LGV_SPIN_INVERSE;
    struct rotor_log h = {.I = I, .inverse = inverse};
    vec y[3], e[3], t[4], sinc;
    UNROLL for (int i = 0; i < 3; i++) h.g[i] = 0.5 * dt * inverse[i] * m[i];
    UNROLL for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        y[i] = FUSED((I[j] - I[k]) * inverse[i] * h.g[j], h.g[k], h.g[i]);
    }
    struct newton s = {.n = 3, .x = y, .e = e, .live = (ivec)(m[0] == m[0])};
    newton(c, &s, NEWTON_MAX, rotor_log_correct, rotor_log_moving, 0, &h);
    rotor_sinc(rotor_dot(y, y), &sinc, &t[0]);
    if (RARELY(vec_any(s.live | s.singular))) sinc = vec_select(s.live | s.singular, vec_set(__builtin_nan("")), sinc);
    UNROLL for (int i = 0; i < 3; i++) t[1 + i] = sinc * y[i];
    rotor_turn(q, t);
    rotor_turn_back(m, t);
    rotor_unit(q);
}

/* ---- the motion itself ----
 *
 * Axes in the cyclic order a, b, c = 1, 2, 3 whose second has the intermediate moment; n = m/|m|, f = LGV_SPIN_PART,
 * g = LGV_SPIN_REST = 1 - f, and the time tau = |m| (1/I_1 - 1/I_3) t.  Then
 *
 *     n1' = -g n2 n3,   n2' = n1 n3,   n3' = -f n1 n2,
 *
 * and P = n1^2 + g n2^2, Q = n3^2 + f n2^2 = 1 - P and E = f n1^2 - g n3^2 = f P - g Q are constant; E = 0 is the
 * separatrix.  The elliptic functions z, c, d of tau with
 *
 *     z' = c d,   z(0) = 0,   c^2 = 1 - f P z^2,   d^2 = 1 - g Q z^2      (multiples of sn, cn, dn)
 *
 * give n by their addition theorem without a further constant or inverse function, whatever moments are equal:
 *
 *     n1(tau) = (n1 d - g n2 n3 z c) / D,  n2(tau) = (n2 c d + n1 n3 z) / D,  n3(tau) = (n3 c - f n1 n2 z d) / D,
 *     D = c^2 + f n1^2 z^2.
 *
 * Seen from space the second axis turns about m by the angle |m| t / I_2 + phi, where phi' = E / (1 - n2^2).  This
 * integral of the third kind has an addition theorem too.  Along the motion that begins with n2 = 0, where
 * n2^2 = P Q z^2, it is a function phi(tau), and
 *
 *     from n on, over tau:    phi(tau) + arg(A + i B),   A = n1^2 + n3^2 (1 - P z^2) - n2 n3 n1(tau) z c,
 *                                                        B = E z n2 n2(tau)
 *     phi(2 tau) =          2 phi(tau) + arg(A + i B),   A = W c^2 d^2 + E z^2 (P d^2 - Q c^2),  W = P d^2 + Q c^2,
 *                                                        B = 2 E P Q z^3 c d.
 *
 * So z, c, d, exp(i phi/2) come from a Taylor series at a time tau / 2^N below 1/16, and N doublings.  All that can be
 * small, near the separatrix and long after it, is a sum of terms of one sign, or of products of small ones.
 *
 * The motion itself: van Zon & Schofield (2007), doi 10.1016/j.jcp.2006.11.019; Celledoni, Fasso, Saefstroem & Zanna
 * (2008), doi 10.1137/070704393. */

#define ROTOR_TERMS 7       /* of the series: the next one is below 1e-17 */
#define ROTOR_LEAST 1e-20   /* nearer to the second axis than this is on it */
#define ROTOR_MOST 0x1p52   /* no time tau beyond this has a phase */

struct rotor_motion {
    vec P, Q, x, y, E; /* x = f P >= y = g Q, E = x - y: the axes 1 and 3 change places where it is negative */
    vec z, c, d;
    vec re, im; /* exp(i phi / 2) */
};

INLINE ivec rotor_sign(vec x) {
    return (ivec)x & (i64)0x8000000000000000ULL;
}

/* The unit vector at half the angle of (a, b), which lies between -pi and pi. */
INLINE void rotor_half(vec a, vec b, vec *cosine, vec *sine) {
    vec large = vec_sqrt(FUSED(a, a, b * b)) + vec_abs(a), factor = 1.0 / vec_sqrt(FUSED(large, large, b * b));
    ivec back = (ivec)(a < 0.0);
    *cosine = factor * vec_select(back, vec_abs(b), large);
    *sine = factor * vec_select(back, (vec)((ivec)large | rotor_sign(b)), b);
}

/* (re, im) <- (re, im) (c, s) */
INLINE void rotor_times(vec *re, vec *im, vec c, vec s) {
    vec a = *re, b = *im;
    *re = FUSED(a, c, -b * s);
    *im = FUSED(a, s, b * c);
}

/* With v = tau^2 and z^2 = sum zeta_k v^k:  (z^2)'' = 2 - 4 (x + y) z^2 + 6 x y z^4. */
INLINE void rotor_series(struct rotor_motion *o, vec tau) {
    vec zeta[ROTOR_TERMS + 1], h[ROTOR_TERMS], sum = -4.0 * (o->x + o->y), product = 6.0 * o->x * o->y, v = tau * tau;
    vec PQ = o->P * o->Q, ratio, phi, p, r;
    zeta[1] = vec_set(1);
    h[0] = vec_set(1);
    UNROLL for (int k = 2; k <= ROTOR_TERMS; k++) {
        vec square = vec_set(0);
        UNROLL for (int i = 1; i < k - 1; i++) ADD_PRODUCT(square, zeta[i], zeta[k - 1 - i]);
        zeta[k] = FUSED(sum, zeta[k - 1], product * square) * (1.0 / (2 * k * (2 * k - 1)));
    }
    UNROLL for (int k = 1; k < ROTOR_TERMS; k++) { /* 1 / (1 - P Q z^2) */
        h[k] = vec_set(0);
        UNROLL for (int i = 1; i <= k; i++) ADD_PRODUCT(h[k], zeta[i], h[k - i]);
        h[k] *= PQ;
    }
    ratio = zeta[ROTOR_TERMS];
    phi = h[ROTOR_TERMS - 1] * (1.0 / (2 * ROTOR_TERMS - 1));
    UNROLL for (int k = ROTOR_TERMS - 1; k >= 1; k--) {
        ratio = FUSED(ratio, v, zeta[k]);
        phi = FUSED(phi, v, h[k - 1] * (1.0 / (2 * k - 1)));
    }
    o->z = tau * vec_sqrt(ratio);
    o->c = vec_sqrt(FUSED(-o->x * v, ratio, 1.0));
    o->d = vec_sqrt(FUSED(-o->y * v, ratio, 1.0));
    phi *= 0.5 * o->E * tau;
    v = phi * phi;
    lanes_polynomials(v, &p, &r);
    o->re = FUSED(FUSED(r, v, -0.5), v, 1.0);
    o->im = FUSED(phi * v, p, phi);
}

/* Twice the time.  Of z and c the smaller is carried, the other two follow from it: errors do not leave the curve. */
INLINE struct rotor_motion rotor_twice(const struct rotor_motion *from, vec inverse_x) {
    struct rotor_motion o = *from;
    vec zz = o.z * o.z, cc = o.c * o.c, dd = o.d * o.d, part = o.x * zz, Ez = o.E * zz, cosine, sine;
    vec zcd = o.z * o.c * o.d, ccdd = cc * dd, inverse = 1.0 / FUSED(part, dd, cc);
    vec Pd = o.P * dd, Qc = o.Q * cc;
    rotor_half(FUSED(Pd + Qc, ccdd, Ez * (Pd - Qc)), 2.0 * Ez * o.P * o.Q * zcd, &cosine, &sine);
    vec factor = FUSED(FUSED(o.re, o.re, o.im * o.im), -1.0, 2.0); /* |.| = 1, squared */
    cosine *= factor;
    sine *= factor;
    rotor_times(&cosine, &sine, o.re, o.im);
    rotor_times(&cosine, &sine, o.re, o.im);
    o.re = cosine;
    o.im = sine;
    vec z = 2.0 * zcd * inverse, c = (ccdd - Ez) * inverse;
    part = o.x * z * z;
    ivec small = (ivec)(part <= 0.5);
    c = vec_select((ivec)(vec_abs(c) < ROTOR_LEAST), (vec)((ivec)vec_set(ROTOR_LEAST) | rotor_sign(c)), c);
    cc = c * c;
    vec other = vec_sqrt(vec_select(small, 1.0 - part, (1.0 - cc) * inverse_x));
    o.d = vec_sqrt(vec_select(small, FUSED(-o.y * z, z, 1.0), FUSED(o.y, cc, o.E) * inverse_x));
    o.z = vec_select(small, z, (vec)((ivec)other | rotor_sign(z)));
    o.c = vec_select(small, (vec)((ivec)other | rotor_sign(c)), c);
    return o;
}

/* z, c, d and exp(i phi / 2) at tau.  Each lane doubles as often as its own time asks for. */
INLINE void rotor_elliptic(struct rotor_motion *o, vec tau) {
    vec size = vec_abs(tau), most = (vec)(rotor_sign(tau) | (ivec)vec_set(ROTOR_MOST));
    tau = vec_select((ivec)(size > ROTOR_MOST), most, tau);
    ivec count = (((ivec)tau & 0x7fffffffffffffffLL) >> 52) - (1023 - 5);
    count &= (ivec)(count > 0) & (ivec)(size == size);
    rotor_series(o, tau * (vec)((1023 - count) << 52));
    vec inverse_x = 1.0 / o->x;
    for (i64 round = 0; vec_any((ivec)(count > round)); round++) {
        ivec live = (ivec)(count > round);
        struct rotor_motion next = rotor_twice(o, inverse_x);
        o->z = vec_select(live, next.z, o->z);
        o->c = vec_select(live, next.c, o->c);
        o->d = vec_select(live, next.d, o->d);
        o->re = vec_select(live, next.re, o->re);
        o->im = vec_select(live, next.im, o->im);
    }
}

/* cos and sin of half the angle between n and the second axis; side^2 = n1^2 + n3^2. */
INLINE void rotor_tilt(const vec *n, vec side, vec *cosine, vec *sine) {
    vec large = vec_sqrt(FUSED(vec_abs(n[1]), 0.5, 0.5)), little = 0.5 * side / large;
    ivec back = (ivec)(n[1] < 0.0);
    *cosine = vec_select(back, little, large);
    *sine = vec_select(back, large, little);
}

/* The rotation t from the frame of the body at k to that at n.  With azimuth alpha and tilt theta of a vector it is
 * R_2(alpha_n) R_1(theta_n) R_2(psi) R_1(-theta_k) R_2(-alpha_k); (re, im) = exp(i psi / 2). */
INLINE void rotor_between(const vec *n, const vec *k, vec re, vec im, vec *t) {
    vec side_n = vec_sqrt(FUSED(n[0], n[0], n[2] * n[2])), side_k = vec_sqrt(FUSED(k[0], k[0], k[2] * k[2]));
    vec cn, sn, ck, sk, c, s, inverse = 1.0 / side_n;
    rotor_tilt(n, side_n, &cn, &sn);
    rotor_tilt(k, side_k, &ck, &sk);
    rotor_half(FUSED(k[2], n[2], k[0] * n[0]), FUSED(k[0], n[2], -k[2] * n[0]), &c, &s);
    vec a = re * FUSED(cn, ck, sn * sk), b = im * FUSED(cn, ck, -sn * sk);
    vec x = re * FUSED(sn, ck, -cn * sk), y = im * FUSED(sn, ck, cn * sk);
    rotor_times(&a, &b, c, -s);
    rotor_times(&x, &y, c, -s);
    rotor_times(&x, &y, n[2] * inverse, -n[0] * inverse);
    t[0] = a;
    t[1] = x;
    t[2] = b;
    t[3] = y;
}

/* k = n after the time of o, and exp(i phi / 2) from n on.  The addition theorem of phi has n and k in it alike; it is
 * read from the one that is nearer to the second axis, since there its terms are no larger than their sum. */
INLINE void rotor_move(struct rotor_motion *o, double f, double g, vec P, vec E, const vec *n, vec *k) {
    vec z = o->z, c = o->c, d = o->d, cosine, sine;
    vec inverse = 1.0 / FUSED(f * n[0] * z, n[0] * z, c * c);
    k[0] = inverse * FUSED(n[0], d, -g * n[1] * n[2] * z * c);
    k[1] = inverse * FUSED(n[1] * c, d, n[0] * n[2] * z);
    k[2] = inverse * FUSED(n[2], c, -f * n[0] * n[1] * z * d);
    ivec nearer = (ivec)(FUSED(k[0], k[0], k[2] * k[2]) < FUSED(n[0], n[0], n[2] * n[2]));
    vec b0 = vec_select(nearer, k[0], n[0]), b1 = vec_select(nearer, k[1], n[1]), b2 = vec_select(nearer, k[2], n[2]);
    vec zc = c * vec_select(nearer, -z, z), to = vec_select(nearer, n[0], k[0]);
    vec A = FUSED(b0, b0, b2 * FUSED(b2, FUSED(-P * z, z, 1.0), -b1 * to * zc));
    rotor_half(A, E * z * n[1] * k[1], &cosine, &sine);
    rotor_times(&o->re, &o->im, cosine, sine);
}

OUTLINE void rotor_exact(double dt, const double *spin, vec *q, vec *m) {
    int axis[3] = {(int)spin[LGV_SPIN_FIRST], ((int)spin[LGV_SPIN_FIRST] + 1) % 3, ((int)spin[LGV_SPIN_FIRST] + 2) % 3};
    double f = spin[LGV_SPIN_PART], g = spin[LGV_SPIN_REST];
    vec n[3] = {m[axis[0]], m[axis[1]], m[axis[2]]}, k[3], t[4], turn[4], s, c;
    vec size = vec_sqrt(rotor_dot(n, n)), inverse = vec_select((ivec)(size == 0.0), vec_set(0), 1.0 / size);
    UNROLL for (int i = 0; i < 3; i++) n[i] *= inverse;
    vec_sincos(0.5 * dt * spin[LGV_SPIN_MIDDLE] * size, &s, &c);
    vec side = FUSED(n[0], n[0], n[2] * n[2]), bb = n[1] * n[1];
    vec P = FUSED(g, bb, n[0] * n[0]), Q = FUSED(f, bb, n[2] * n[2]), E = FUSED(f * n[0], n[0], -g * n[2] * n[2]);
    ivec swap = (ivec)(E < 0.0), on = (ivec)(side <= ROTOR_LEAST * ROTOR_LEAST);
    struct rotor_motion o = {.P = vec_select(swap, Q, P), .Q = vec_select(swap, P, Q), .E = vec_abs(E)};
    o.x = vec_select(swap, g * Q, f * P);
    o.y = vec_select(swap, f * P, g * Q);
    rotor_elliptic(&o, dt * spin[LGV_SPIN_SPREAD] * size);
    vec other = o.c;
    o.c = vec_select(swap, o.d, o.c);
    o.d = vec_select(swap, other, o.d);
    o.im = vec_select(swap, -o.im, o.im);
    rotor_move(&o, f, g, P, E, n, k);
    rotor_times(&o.re, &o.im, c, s);
    rotor_between(n, k, o.re, o.im, t);
    turn[0] = vec_select(on, c, t[0]);
    vec lack = vec_set(0); /* |m|^2 as differences: near an axis errors of |m| have one sign, step after step */
    UNROLL for (int i = 0; i < 3; i++) {
        k[i] *= size;
        ADD_PRODUCT(lack, m[axis[i]] - k[i], m[axis[i]] + k[i]);
    }
    lack = 0.5 * inverse * lack * inverse; /* in this order: inverse^2 can overflow */
    UNROLL for (int i = 0; i < 3; i++) {
        turn[1 + axis[i]] = vec_select(on, s * n[i], t[1 + i]);
        m[axis[i]] = vec_select(on, m[axis[i]], FUSED(lack, k[i], k[i]));
    }
    rotor_turn(q, turn);
    rotor_unit(q);
}

#endif
