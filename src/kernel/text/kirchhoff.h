/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Free steps of a body in SE(3) whose kinetic energy is any positive quadratic form of xi = (w, v), angular and linear
 * velocity in the body frame (a body in a fluid: Kirchhoff's equations).  x: position, q: unit quaternion, (m, P): its
 * momentum in the body frame.  With u = dt xi the variational step is
 *
 *     (dtau^-1_u)^* I u = dt m,     g+ = g tau(u),     m+ = Ad*_tau(u) m,     tau(u) = (T, y):
 *     x+ = x + R y,   R+ = R T,   m+ = T^T (m - y x P),   P+ = T^T P,
 *
 *     kirchhoff_cayley       tau = cay: y = (1 - hat w/2)^-1 v,
 *                            dcay^-1 = [[1 - hat w/2 + w w^T/4, 0], [-(1 - hat w/2) hat v/2, 1 - hat w/2]]
 *     kirchhoff_exponential  tau = exp: y = dexp_w v,  dexp^-1 = 1 - ad/2 + A ad^2 + B ad^4
 *
 * as ad^5 + 2 |w|^2 ad^3 + |w|^4 ad = 0.  The momenta in space, R P and R m + x x R P, and the Casimirs |P|^2 and m.P
 * stay to round-off, whatever the step or the accuracy of the equation, which is solved by Newton's method in u.
 *
 *     kirchhoff_screws       explicit: the kinetic energy is P.M^-1 P/2 and three squares, with the eigenvectors e_k
 *                            and eigenvalues l_k of the angular part A of the inverse inertia [[A, B], [B^T, ..]],
 *
 *         sum_k l_k (a_k.(m, P))^2/2,   a_k = (e_k, B^T e_k/l_k),
 *
 * and each has a flow of its own: a constant velocity M^-1 P with m' = P x v, or a screw exp(t l_k (a_k.(m, P)) a_k),
 * since no square changes under its own flow.  In a symmetric order they are a step of order 2 that keeps the same
 * momenta and Casimirs, but no symmetry of the body.
 *
 * Bou-Rabee & Owhadi (2009), doi 10.1093/imanum/drn018; Bou-Rabee & Marsden (2009), Hamilton-Pontryagin integrators on
 * Lie groups, doi 10.1007/s10208-008-9030-4.  `body`: numbers of enum lgv_coupled_number (abi.h).  Vectors of six have
 * angular components first.  Include-free; it follows rotor.h. */
#ifndef LGV_KIRCHHOFF_H
#define LGV_KIRCHHOFF_H

/* out += a x x y */
INLINE void kirchhoff_cross(double a, const vec *x, const vec *y, vec *out) {
    vec z[3];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        z[k] = FUSED(x[i], y[j], -x[j] * y[i]);
    }
    for (int k = 0; k < 3; k++) ADD_PRODUCT(out[k], a, z[k]);
}

INLINE void kirchhoff_times(const double *A, const vec *x, vec *out) {
    for (int i = 0; i < 6; i++) {
        out[i] = A[6 * i] * x[0];
        for (int j = 1; j < 6; j++) ADD_PRODUCT(out[i], A[6 * i + j], x[j]);
    }
}

struct kirchhoff {
    const double *body;
    vec s[6], guess[6]; /* dt m, and I^-1 of it */
};

/* ---- the Cayley map: with z = I u the left side is (m + w x m/2 + w (w.m)/4 + v x p/2, p), p = P + w x P/2 ---- */

/* The left side at z, and its derivative where u changes by d and z by dz (d = 0: none). */
INLINE void kirchhoff_cayley_side(const vec *u, const vec *z, vec *out) {
    const vec *w = u, *v = u + 3;
    vec inner = 0.25 * rotor_dot(w, z);
    for (int k = 0; k < 6; k++) out[k] = z[k];
    kirchhoff_cross(0.5, w, z + 3, out + 3);
    kirchhoff_cross(0.5, w, z, out);
    for (int k = 0; k < 3; k++) ADD_PRODUCT(out[k], inner, w[k]);
    kirchhoff_cross(0.5, v, out + 3, out);
}

INLINE void kirchhoff_cayley_along(const vec *u, const vec *z, const vec *side, const vec *d, const vec *dz, vec *out) {
    const vec *w = u, *v = u + 3;
    vec inner = 0.25 * rotor_dot(w, z), change = 0.25 * (rotor_dot(d, z) + rotor_dot(w, dz));
    for (int k = 0; k < 6; k++) out[k] = dz[k];
    kirchhoff_cross(0.5, d, z + 3, out + 3);
    kirchhoff_cross(0.5, w, dz + 3, out + 3);
    kirchhoff_cross(0.5, d, z, out);
    kirchhoff_cross(0.5, w, dz, out);
    for (int k = 0; k < 3; k++) out[k] += FUSED(inner, d[k], change * w[k]);
    kirchhoff_cross(0.5, d + 3, side + 3, out);
    kirchhoff_cross(0.5, v, out + 3, out);
}

/* e = what u is to be corrected by, from the side and its matrix A, whose columns are rows here. */
INLINE ivec kirchhoff_solve(const struct kirchhoff *h, const vec *side, const vec *A, vec *e) {
    vec matrix[36], scratch[SYSTEM_SCRATCH(6)];
    for (int i = 0; i < 6; i++) {
        e[i] = side[i] - h->s[i];
        for (int j = 0; j < 6; j++) matrix[6 * i + j] = A[6 * j + i];
    }
    return system_solve(SYSTEM_ANY, 6, matrix, e, scratch);
}

/* d = e_j, and what I u changes by. */
INLINE void kirchhoff_unit(const struct kirchhoff *h, int j, vec *d, vec *dz) {
    for (int k = 0; k < 6; k++) {
        d[k] = vec_set(k == j);
        dz[k] = vec_set(h->body[LGV_COUPLED_INERTIA + 6 * k + j]);
    }
}

INLINE ivec kirchhoff_cayley_correct(struct ctx *c, struct newton *s, void *of) {
    const struct kirchhoff *h = of;
    vec z[6], side[6], A[36], d[6], dz[6];
    (void)c;
    kirchhoff_times(h->body + LGV_COUPLED_INERTIA, s->x, z);
    kirchhoff_cayley_side(s->x, z, side);
    for (int j = 0; j < 6; j++) {
        kirchhoff_unit(h, j, d, dz);
        kirchhoff_cayley_along(s->x, z, side, d, dz, A + 6 * j);
    }
    return kirchhoff_solve(h, side, A, s->e);
}

/* ---- the exponential: z + D z/2 + A D^2 z + B D^4 z, D z = (w x m + v x P, w x P) ---- */

#define KIRCHHOFF_TERMS 15   /* of the series in |w|^2, and up to where they are enough */
#define KIRCHHOFF_SMALL 2.4

/* A, B and their derivatives with respect to |w|^2 = s of lanes that turn far: with a = (r/2) cot(r/2) and
 * b = ((r/2)/sin(r/2))^2 they are A = (2 (1 - a) + (a - b)/2)/s,  B = (1 - a + (a - b)/2)/s^2. */
OUTLINE __attribute__((cold)) void kirchhoff_weights_far(vec s, ivec far, vec *out) {
    vec sinc = vec_set(1), cosine = vec_set(1);
    rotor_sinc_far(0.25 * s, far, &sinc, &cosine);
    vec a = cosine / sinc, b = 1.0 / (sinc * sinc), da = (a - b) / (2.0 * s), db = b * (1.0 - a) / s;
    vec A = (2.0 * (1.0 - a) + 0.5 * (a - b)) / s, B = (1.0 - a + 0.5 * (a - b)) / (s * s);
    vec dA = (0.5 * (da - db) - 2.0 * da - A) / s, dB = ((0.5 * (da - db) - da) / s - 2.0 * B) / s;
    out[0] = vec_select(far, A, out[0]);
    out[1] = vec_select(far, B, out[1]);
    out[2] = vec_select(far, dA, out[2]);
    out[3] = vec_select(far, dB, out[3]);
}

/* A = sum_k c_k (2 - k) s^(k-1),  B = -sum_k c_k (k - 1) s^(k-2),  c_k = |B_2k|/(2k)! of Bernoulli's numbers. */
INLINE void kirchhoff_weights(vec s, vec out[4]) {
    static const double c[KIRCHHOFF_TERMS + 1] = {
        0,
        8.3333333333333333e-02, 1.3888888888888889e-03, 3.3068783068783069e-05, 8.2671957671957672e-07,
        2.0876756987868099e-08, 5.2841901386874932e-10, 1.3382536530684679e-11, 3.3896802963225829e-13,
        8.5860620562778446e-15, 2.1748686985580619e-16, 5.5090028283602295e-18, 1.3954464685812523e-19,
        3.5347070396294675e-21, 8.9535174270375469e-23, 2.2679524523376831e-24};
    vec A = vec_set(0), B = A, dA = A, dB = A;
    for (int k = KIRCHHOFF_TERMS; k >= 1; k--) {
        A = FUSED(A, s, c[k] * (2 - k));
        if (k >= 2) B = FUSED(B, s, -c[k] * (k - 1));
        if (k >= 2) dA = FUSED(dA, s, c[k] * (2 - k) * (k - 1));
        if (k >= 3) dB = FUSED(dB, s, -c[k] * (k - 1) * (k - 2));
    }
    ivec far = (ivec)(s > KIRCHHOFF_SMALL);
    out[0] = A, out[1] = B, out[2] = dA, out[3] = dB;
    if (RARELY(vec_any(far))) kirchhoff_weights_far(s, far, out);
}

/* out = D z for u */
INLINE void kirchhoff_ad(const vec *u, const vec *z, vec *out) {
    for (int k = 0; k < 6; k++) out[k] = vec_set(0);
    kirchhoff_cross(1, u, z, out);
    kirchhoff_cross(1, u + 3, z + 3, out);
    kirchhoff_cross(1, u, z + 3, out + 3);
}

/* The left side at z[0]; z[n] = D^n z and the weights are left for its derivative. */
INLINE void kirchhoff_exponential_side(const vec *u, vec z[5][6], vec *weight, vec *side) {
    for (int n = 0; n < 4; n++) kirchhoff_ad(u, z[n], z[n + 1]);
    kirchhoff_weights(rotor_dot(u, u), weight);
    for (int k = 0; k < 6; k++)
        side[k] = z[0][k] + FUSED(0.5, z[1][k], FUSED(weight[0], z[2][k], weight[1] * z[4][k]));
}

/* Its derivative where u changes by d, z by dz[0] and |w|^2 by *rise (a null pointer: not at all). */
INLINE void kirchhoff_exponential_along(const vec *u, vec z[5][6], const vec *weight, const vec *d, vec dz[5][6],
                                        const vec *rise, vec *out) {
    vec more[6];
    for (int n = 0; n < 4; n++) {
        kirchhoff_ad(u, dz[n], dz[n + 1]);
        kirchhoff_ad(d, z[n], more);
        for (int k = 0; k < 6; k++) dz[n + 1][k] += more[k];
    }
    for (int k = 0; k < 6; k++) {
        out[k] = dz[0][k] + FUSED(0.5, dz[1][k], FUSED(weight[0], dz[2][k], weight[1] * dz[4][k]));
        if (rise) out[k] += *rise * FUSED(weight[2], z[2][k], weight[3] * z[4][k]);
    }
}

INLINE ivec kirchhoff_exponential_correct(struct ctx *c, struct newton *s, void *of) {
    const struct kirchhoff *h = of;
    const vec *u = s->x;
    vec z[5][6], side[6], A[36], d[6], dz[5][6], weight[4];
    (void)c;
    kirchhoff_times(h->body + LGV_COUPLED_INERTIA, u, z[0]);
    kirchhoff_exponential_side(u, z, weight, side);
    for (int j = 0; j < 6; j++) {
        vec rise = 2.0 * u[j];
        kirchhoff_unit(h, j, d, dz[0]);
        kirchhoff_exponential_along(u, z, weight, d, dz, j < 3 ? &rise : 0, A + 6 * j);
    }
    return kirchhoff_solve(h, side, A, s->e);
}

/* ---- the step ---- */

/* Angles count as lengths by a number of the body.  `most`: of |w|^2; beyond a whole turn the exponential takes its
 * values again, and no solution there is one. */
INLINE ivec kirchhoff_moving(const struct kirchhoff *h, const struct newton *s, double most) {
    vec e[6], x[6], base[6];
    for (int k = 0; k < 6; k++) {
        double length = k < 3 ? h->body[LGV_COUPLED_LENGTH] : 1;
        e[k] = length * s->e[k];
        x[k] = length * s->x[k];
        base[k] = length * h->guess[k];
    }
    return still_moving(6, e, x, base, 1e-8) | (ivec)(rotor_dot(s->x, s->x) > most);
}

INLINE ivec kirchhoff_cayley_moving(struct ctx *c, struct newton *s, void *of) {
    (void)c;
    return kirchhoff_moving(of, s, __builtin_inf());
}

INLINE ivec kirchhoff_exponential_moving(struct ctx *c, struct newton *s, void *of) {
    (void)c;
    return kirchhoff_moving(of, s, 39.478417604357434);
}

/* y = (1 + hat w/2 + w w^T/4) v / (1 + |w|^2/4), and T = cay(w). */
INLINE void kirchhoff_cayley_map(const vec *u, vec *T, vec *y) {
    vec inner = 0.25 * rotor_dot(u, u + 3), scale = 1.0 / FUSED(0.25, rotor_dot(u, u), 1.0);
    for (int k = 0; k < 3; k++) y[k] = FUSED(inner, u[k], u[3 + k]);
    kirchhoff_cross(0.5, u, u + 3, y);
    T[0] = vec_sqrt(scale);
    for (int k = 0; k < 3; k++) {
        y[k] *= scale;
        T[1 + k] = 0.5 * T[0] * u[k];
    }
}

/* (1 - sin r/r)/r^2 of lanes that turn far. */
OUTLINE __attribute__((cold)) void kirchhoff_bend_far(vec s, ivec far, vec sinc, vec cosine, vec *out) {
    *out = vec_select(far, (1.0 - sinc * cosine) / s, *out);
}

/* y = v + (1 - cos r)/r^2 w x v + (1 - sin r/r)/r^2 w x (w x v), r = |w|, and T = exp(w). */
INLINE void kirchhoff_exponential_map(const vec *u, vec *T, vec *y) {
    vec s = rotor_dot(u, u), quarter = 0.25 * s, sinc, p, r, once[3] = {vec_set(0), vec_set(0), vec_set(0)}, twice[3];
    ivec far = (ivec)(quarter > ROTOR_SMALL);
    rotor_sinc(quarter, &sinc, &T[0]);
    lanes_polynomials(quarter, &p, &r); /* of half the angle; nothing cancels */
    vec bend = 0.25 * (0.5 - p - quarter * (FUSED(-0.5, p, r) + quarter * p * r));
    if (RARELY(vec_any(far))) {
        vec copy = bend;
        kirchhoff_bend_far(s, far, sinc, T[0], &copy);
        bend = copy;
    }
    kirchhoff_cross(1, u, u + 3, once);
    for (int k = 0; k < 3; k++) twice[k] = vec_set(0);
    kirchhoff_cross(1, u, once, twice);
    for (int k = 0; k < 3; k++) {
        y[k] = u[3 + k] + FUSED(0.5 * sinc * sinc, once[k], bend * twice[k]);
        T[1 + k] = 0.5 * sinc * u[k];
    }
}

/* x += R(q) y: y + 2 a x (a x y + w y), q = (w, a). */
INLINE void kirchhoff_shift(const vec *q, const vec *y, vec *x) {
    vec z[3];
    for (int k = 0; k < 3; k++) {
        z[k] = q[0] * y[k];
        x[k] += y[k];
    }
    kirchhoff_cross(1, q + 1, y, z);
    kirchhoff_cross(2, q + 1, z, x);
}

/* g+ = g (T, y), m+ = Ad*_(T, y) m */
INLINE void kirchhoff_move(const vec *T, const vec *y, vec *x, vec *q, vec *m, vec *P) {
    kirchhoff_shift(q, y, x);
    kirchhoff_cross(-1, y, P, m);
    rotor_turn(q, T);
    rotor_turn_back(m, T);
    rotor_turn_back(P, T);
    rotor_unit(q);
}

/* The velocity M^-1 P in a straight line, x along R y. */
INLINE void kirchhoff_glide(double dt, const double *body, vec *x, const vec *q, vec *m, const vec *P) {
    const double *light = body + LGV_COUPLED_LIGHT;
    vec y[3];
    for (int k = 0; k < 3; k++)
        y[k] = dt * FUSED(light[3 * k], P[0], FUSED(light[3 * k + 1], P[1], light[3 * k + 2] * P[2]));
    kirchhoff_shift(q, y, x);
    kirchhoff_cross(-1, y, P, m);
}

/* a: the rate l_k, and a_k. */
INLINE void kirchhoff_screw(double dt, const double *a, vec *x, vec *q, vec *m, vec *P) {
    vec rate = vec_set(0), u[6], T[4], y[3];
    for (int k = 0; k < 6; k++) ADD_PRODUCT(rate, a[1 + k], k < 3 ? m[k] : P[k - 3]);
    for (int k = 0; k < 6; k++) u[k] = dt * a[0] * a[1 + k] * rate;
    kirchhoff_exponential_map(u, T, y);
    kirchhoff_move(T, y, x, q, m, P);
}

INLINE void kirchhoff_screws(struct ctx *c, double dt, const double *body, vec *x, vec *q, vec *m, vec *P) {
    const double *a = body + LGV_COUPLED_SCREWS;
    (void)c;
    kirchhoff_glide(0.5 * dt, body, x, q, m, P);
    kirchhoff_screw(0.5 * dt, a, x, q, m, P);
    kirchhoff_screw(0.5 * dt, a + 7, x, q, m, P);
    kirchhoff_screw(dt, a + 14, x, q, m, P);
    kirchhoff_screw(0.5 * dt, a + 7, x, q, m, P);
    kirchhoff_screw(0.5 * dt, a, x, q, m, P);
    kirchhoff_glide(0.5 * dt, body, x, q, m, P);
}

#define KIRCHHOFF_STEP(name, correct, moving, map)                                                                     \
    INLINE void name(struct ctx *c, double dt, const double *body, vec *x, vec *q, vec *m, vec *P) {                   \
        struct kirchhoff h = {.body = body};                                                                           \
        vec u[6], e[6], T[4], y[3];                                                                                    \
        for (int k = 0; k < 6; k++) h.s[k] = dt * (k < 3 ? m[k] : P[k - 3]);                                           \
        kirchhoff_times(body + LGV_COUPLED_INVERSE, h.s, h.guess);                                                     \
        for (int k = 0; k < 6; k++) u[k] = h.guess[k];                                                                 \
        struct newton s = {.n = 6, .x = u, .e = e, .live = (ivec)(m[0] == m[0])};                                      \
        newton(c, &s, NEWTON_MAX, correct, moving, 0, &h);                                                             \
        map(u, T, y);                                                                                                  \
        ivec lost = s.live | s.singular;                                                                               \
        if (RARELY(vec_any(lost))) T[0] = vec_select(lost, vec_set(__builtin_nan("")), T[0]);                          \
        kirchhoff_move(T, y, x, q, m, P);                                                                              \
    }
KIRCHHOFF_STEP(kirchhoff_cayley, kirchhoff_cayley_correct, kirchhoff_cayley_moving, kirchhoff_cayley_map)
KIRCHHOFF_STEP(kirchhoff_exponential, kirchhoff_exponential_correct, kirchhoff_exponential_moving,
               kirchhoff_exponential_map)

#endif
