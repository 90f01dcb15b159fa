/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hand-written floors of all other methods, on the same two models and noise as floor_simd.c.  With x = dt + beta dW on
 * Kubo, and on the synchrotron the impulse G_i(Q) = A_i sin Q + B_i cos Q of node i, A_i = dt alpha_i, B_i = beta w_i:
 *
 * Galerkin methods.  The kinetic energy is p^2/2, so the path is q_d(c) = q + dt int_0^c P with a polynomial P, and all
 * momenta can be eliminated (Nystroem form).  What is left are the positions at the nodes inside the step,
 *
 *     Q_j = q + c_j dt p - dt sum_i D_ji G_i(Q_i),       D_ji = c_j (1 - c_i) - k1 g_j g_i - k2 e_j e_i
 *     q'  = q + dt p - dt sum_i (1 - c_i) G_i,  p' = p - sum_i G_i,         g = c (1 - c),  e = g (1 - 2c),
 *
 * k1 = k2 = 0 for s = 1, k1 = 3 for s = 2, and k2 = 5 for s = 3, when the rule is exact to degree 2s - 2 (3 and 5 are
 * 1 over the norms of the Legendre polynomials on [0,1]; for P2N2Q2Otr the rule gives a third of the norm, k1 = 9).  A
 * node at 0 is a kick before the rest of the step, a node at 1 a kick after it, and sine and cosine at q' serve the next
 * step's node 0.  For s = 1 the matrix D has rank one and P is the only unknown.
 *
 * Kubo is linear: one direct solution of these equations.  Synchrotron: two Newton moves with full sine and cosine each,
 * which reach round-off for dt <= 0.02; the impulses after the last move by the linear term.  Systems of 1, 2 or 3
 * equations by Cramer's rule with one division. */
#include "floor_simd.h"

#include <string.h>

#ifdef FLOOR_SIMD

#define ROOT3 1.73205080756887729353
#define ROOT5 2.23606797749978969641
#define ROOT15 3.87298334620741688518
#define INNER 3 /* most nodes inside a step */

/* ---- rules ---- */

struct rule {
    int inner;                          /* nodes inside the step */
    double node[INNER], weight[INNER];  /* theirs */
    double end;                         /* weight of the nodes 0 and 1; 0: the rule has none */
    double k1, k2;
};
static const struct rule otr1 = {2, {1.0 / 3, 2.0 / 3}, {0.5, 0.5}, 0, 0, 0};
static const struct rule milne1 = {3, {0.25, 0.5, 0.75}, {2.0 / 3, -1.0 / 3, 2.0 / 3}, 0, 0, 0};
static const struct rule simpson1 = {1, {0.5}, {2.0 / 3}, 1.0 / 6, 0, 0};
static const struct rule otr2 = {2, {1.0 / 3, 2.0 / 3}, {0.5, 0.5}, 0, 9, 0};
static const struct rule gauss4 = {2, {0.5 - ROOT3 / 6, 0.5 + ROOT3 / 6}, {0.5, 0.5}, 0, 3, 0};
static const struct rule gauss6 = {
    3, {0.5 - ROOT15 / 10, 0.5, 0.5 + ROOT15 / 10}, {5.0 / 18, 8.0 / 18, 5.0 / 18}, 0, 3, 5};
static const struct rule lobatto4 = {1, {0.5}, {2.0 / 3}, 1.0 / 6, 3, 0};
static const struct rule lobatto6 = {2, {0.5 - ROOT5 / 10, 0.5 + ROOT5 / 10}, {5.0 / 12, 5.0 / 12}, 1.0 / 12, 3, 5};

/* D_ji; the compiler folds it. */
INLINE double coupling(const struct rule *r, int j, int i) {
    double a = r->node[j], b = r->node[i], g = a * (1 - a) * b * (1 - b);
    double d = a * (1 - b) - r->k1 * g - r->k2 * g * (1 - 2 * a) * (1 - 2 * b);
    return d > 1e-12 || d < -1e-12 ? d : 0; /* one of P2N2Q2Otr vanishes */
}

/* m d = r by Cramer's rule, n <= 3. */
INLINE void solve(int n, vec m[INNER][INNER], const vec *r, vec *d) {
    if (n == 1) {
        d[0] = _mm256_div_pd(r[0], m[0][0]);
    } else if (n == 2) {
        vec inverse = _mm256_div_pd(real(1.0), fnma3(m[0][1], m[1][0], mul(m[0][0], m[1][1])));
        d[0] = mul(inverse, fnma3(m[0][1], r[1], mul(m[1][1], r[0])));
        d[1] = mul(inverse, fnma3(m[1][0], r[0], mul(m[0][0], r[1])));
    } else {
        vec c[3][3]; /* c[i][j]: cofactor of m[j][i] */
        UNROLL
        for (int i = 0; i < 3; i++) {
            UNROLL
            for (int j = 0; j < 3; j++) {
                int a = (j + 1) % 3, b = (j + 2) % 3, e = (i + 1) % 3, f = (i + 2) % 3;
                c[i][j] = fnma3(m[a][f], m[b][e], mul(m[a][e], m[b][f]));
            }
        }
        vec inverse = _mm256_div_pd(
            real(1.0), fma3(m[0][0], c[0][0], fma3(m[1][0], c[0][1], mul(m[2][0], c[0][2]))));
        UNROLL
        for (int i = 0; i < 3; i++)
            d[i] = mul(inverse, fma3(c[i][0], r[0], fma3(c[i][1], r[1], mul(c[i][2], r[2]))));
    }
}

/* ---- Kubo ---- */

INLINE vec kubo_x(vec chi, double dt, double root) {
    return fma3(chi, real(BETA * root), real(dt));
}

/* s = 1: P (1 + x^2 sum_i alpha_i c_i (1 - c_i)) = p - x sum_i alpha_i (1 - c_i) q, end nodes apart. */
INLINE void kubo_straight(struct lane_state *y, const struct rule *r, vec chi, double dt, double root) {
    vec x = kubo_x(chi, dt, root), end = mul(x, real(r->end));
    double early = 0, curved = 0;
    for (int i = 0; i < r->inner; i++) {
        early += r->weight[i] * (1 - r->node[i]);
        curved += r->weight[i] * r->node[i] * (1 - r->node[i]);
    }
    if (r->end != 0) y->p = fnma3(end, y->q, y->p);
    vec P = _mm256_div_pd(fnma3(mul(x, real(early)), y->q, y->p), fma3(mul(x, x), real(curved), real(1.0)));
    vec step = mul(x, P), sum = real(0.0);
    UNROLL
    for (int i = 0; i < r->inner; i++) {
        vec Q = fma3(real(r->node[i]), step, y->q), w = real(r->weight[i] * r->node[i]);
        sum = i ? fma3(w, Q, sum) : mul(w, Q);
    }
    y->p = fnma3(x, sum, P);
    y->q = add(y->q, step);
    if (r->end != 0) y->p = fnma3(end, y->q, y->p);
}

INLINE void kubo_rule(struct lane_state *y, const struct rule *r, vec chi, double dt, double root) {
    vec x = kubo_x(chi, dt, root), z = mul(x, x), end = mul(x, real(r->end)), m[INNER][INNER], b[INNER], Q[INNER];
    if (r->end != 0) y->p = fnma3(end, y->q, y->p);
    vec step = mul(x, y->p), late = real(0.0), all = real(0.0);
    UNROLL
    for (int j = 0; j < r->inner; j++) {
        b[j] = fma3(real(r->node[j]), step, y->q);
        UNROLL
        for (int i = 0; i < r->inner; i++) {
            vec d = real(coupling(r, j, i) * r->weight[i]);
            m[j][i] = i == j ? fma3(z, d, real(1.0)) : mul(z, d);
        }
    }
    solve(r->inner, m, b, Q);
    UNROLL
    for (int i = 0; i < r->inner; i++) {
        vec w = real(r->weight[i]), v = real(r->weight[i] * (1 - r->node[i]));
        all = i ? fma3(w, Q[i], all) : mul(w, Q[i]);
        late = i ? fma3(v, Q[i], late) : mul(v, Q[i]);
    }
    y->q = fnma3(z, late, add(y->q, step));
    y->p = fnma3(x, all, y->p);
    if (r->end != 0) y->p = fnma3(end, y->q, y->p);
}

#define KUBO_STEP(name)                                                                                                \
    INLINE void name(struct lane_state *y, __attribute__((unused)) vec chi, __attribute__((unused)) vec eta,           \
                     __attribute__((unused)) double dt, __attribute__((unused)) double root)
#define SYNC_STEP KUBO_STEP

KUBO_STEP(kubo_otr1) {
    kubo_straight(y, &otr1, chi, dt, root);
}
KUBO_STEP(kubo_milne1) {
    kubo_straight(y, &milne1, chi, dt, root);
}
KUBO_STEP(kubo_simpson1) {
    kubo_straight(y, &simpson1, chi, dt, root);
}
KUBO_STEP(kubo_otr2) {
    kubo_rule(y, &otr2, chi, dt, root);
}
KUBO_STEP(kubo_gauss4) {
    kubo_rule(y, &gauss4, chi, dt, root);
}
KUBO_STEP(kubo_gauss6) {
    kubo_rule(y, &gauss6, chi, dt, root);
}
KUBO_STEP(kubo_lobatto4) {
    kubo_rule(y, &lobatto4, chi, dt, root);
}
KUBO_STEP(kubo_lobatto6) {
    kubo_rule(y, &lobatto6, chi, dt, root);
}

/* X' = X + x J X + C dt, C = -beta^2/2 X, J = (0 1; -1 0). */
KUBO_STEP(kubo_eem) {
    vec x = kubo_x(chi, dt, root), e = real(1 - 0.5 * BETA * BETA * dt), q = y->q;
    y->q = fma3(x, y->p, mul(e, q));
    y->p = fnma3(x, q, mul(e, y->p));
}

/* (1 + beta^2 dt/2 - dt J) X' = X + beta dW J X: the same matrix in all steps, inverted once. */
KUBO_STEP(kubo_iem) {
    double a = 1 + 0.5 * BETA * BETA * dt, inverse = 1 / (a * a + dt * dt);
    vec w = mul(chi, real(BETA * root)), r = fma3(w, y->p, y->q), s = fnma3(w, y->q, y->p);
    y->q = fma3(real(a * inverse), r, mul(real(dt * inverse), s));
    y->p = fnma3(real(dt * inverse), r, mul(real(a * inverse), s));
}

KUBO_STEP(kubo_heun) {
    vec x = kubo_x(chi, dt, root), half = mul(x, real(0.5));
    vec Q = fma3(x, y->p, y->q), P = fnma3(x, y->q, y->p), q = y->q;
    y->q = fma3(half, add(y->p, P), q);
    y->p = fnma3(half, add(q, Q), y->p);
}

/* X' = X + x J X - (beta dW)^2/2 X */
KUBO_STEP(kubo_milstein) {
    vec w = mul(chi, real(BETA * root)), x = add(w, real(dt)), e = fnma3(mul(w, w), real(0.5), real(1.0)), q = y->q;
    y->q = fma3(x, y->p, mul(e, q));
    y->p = fnma3(x, q, mul(e, y->p));
}

/* a = A X, b = B X with A = J - beta^2/2, B = beta J, which commute: L1 a = L0 b, so dZ drops out, and
 * X' = (1 + A dt + B dW + B^2 (dW^2 - dt)/2 + A B dW dt + A^2 dt^2/2 + B^3 (dW^2/3 - dt) dW/2) X = (e + f J) X. */
KUBO_STEP(kubo_taylor) {
    const double b2 = BETA * BETA;
    vec w = mul(chi, real(BETA * root)), ww = mul(w, w); /* beta dW */
    vec e = fma3(ww, real(-0.5), fnma3(w, real(dt), real(1 - 0.5 * dt * dt * (1 - 0.25 * b2 * b2))));
    vec f = fma3(w, fma3(ww, real(-1.0 / 6), real(1.0)), real(dt - 0.5 * b2 * dt * dt));
    vec q = y->q;
    y->q = fma3(f, y->p, mul(e, q));
    y->p = fnma3(f, q, mul(e, y->p));
}

/* ---- synchrotron ---- */

/* a sin Q + b cos Q, or one of the two. */
enum parts { SINE = 1, COSINE = 2, BOTH = 3 };
struct impulse {
    enum parts parts;
    vec a, b;
};

INLINE struct impulse impulse(enum parts parts, double a, vec noise, double b) {
    return (struct impulse){parts, real(a), mul(noise, real(b))};
}

INLINE vec impulse_value(struct impulse w, vec s, vec c) {
    return w.parts == BOTH ? fma3(w.a, s, mul(w.b, c)) : w.parts == SINE ? mul(w.a, s) : mul(w.b, c);
}

INLINE vec impulse_slope(struct impulse w, vec s, vec c) {
    if (w.parts == BOTH) return fnma3(w.b, s, mul(w.a, c));
    return w.parts == SINE ? mul(w.a, c) : sub(real(0.0), mul(w.b, s));
}

/* A node at the beginning or the end of the step. */
INLINE void kick(struct lane_state *y, struct impulse w) {
    if (w.parts & SINE) y->p = fnma3(w.a, y->s, y->p);
    if (w.parts & COSINE) y->p = fnma3(w.b, y->c, y->p);
}

INLINE void drift(struct lane_state *y, double dt) {
    y->q = fma3(real(dt), y->p, y->q);
}

/* s = 1, nodes inside the step: P = p - sum_i (1 - c_i) G_i(q + c_i dt P), then q' = q + dt P, p' = p - sum_i G_i. */
INLINE void straight(struct lane_state *y, int n, const double *node, const struct impulse *w, double dt) {
    vec P = y->p, e = real(0.0), G[INNER], S[INNER], s, c; /* e = P - p */
    UNROLL
    for (int move = 0; move < 2; move++) {
        vec f = e, slope = real(1.0);
        UNROLL
        for (int i = 0; i < n; i++) {
            sincos_radians(fma3(real(node[i] * dt), P, y->q), &s, &c);
            G[i] = impulse_value(w[i], s, c);
            S[i] = impulse_slope(w[i], s, c);
            f = fma3(real(1 - node[i]), G[i], f);
            slope = fma3(real(dt * node[i] * (1 - node[i])), S[i], slope);
        }
        vec d = _mm256_div_pd(f, slope);
        P = sub(P, d);
        e = sub(e, d);
        UNROLL
        for (int i = 0; move && i < n; i++) G[i] = fnma3(mul(real(node[i] * dt), d), S[i], G[i]);
    }
    y->q = fma3(real(dt), P, y->q);
    UNROLL
    for (int i = 0; i < n; i++) y->p = sub(y->p, G[i]);
}

/* The nodes inside the step of any other rule: Newton's method for the positions. */
INLINE void inside(struct lane_state *y, const struct rule *r, const struct impulse *w, double dt) {
    const int n = r->inner;
    vec G[INNER], S[INNER], m[INNER][INNER], f[INNER], d[INNER], e[INNER], s, c; /* e = Q - (q + c dt p) */
    UNROLL
    for (int move = 0; move < 2; move++) {
        UNROLL
        for (int i = 0; i < n; i++) {
            vec Q = fma3(real(r->node[i] * dt), y->p, y->q);
            sincos_radians(move ? add(Q, e[i]) : Q, &s, &c);
            G[i] = impulse_value(w[i], s, c);
            S[i] = impulse_slope(w[i], s, c);
        }
        UNROLL
        for (int j = 0; j < n; j++) {
            f[j] = move ? e[j] : real(0.0);
            UNROLL
            for (int i = 0; i < n; i++) {
                vec a = real(dt * coupling(r, j, i));
                m[j][i] = i == j ? fma3(a, S[i], real(1.0)) : mul(a, S[i]);
                if (coupling(r, j, i) != 0) f[j] = fma3(a, G[i], f[j]);
            }
        }
        solve(n, m, f, d);
        UNROLL
        for (int i = 0; i < n; i++) {
            if (move)
                G[i] = fnma3(S[i], d[i], G[i]);
            else
                e[i] = sub(real(0.0), d[i]);
        }
    }
    drift(y, dt);
    UNROLL
    for (int i = 0; i < n; i++) {
        y->q = fnma3(real(dt * (1 - r->node[i])), G[i], y->q);
        y->p = sub(y->p, G[i]);
    }
}

INLINE vec sync_noise(vec chi, double root) {
    return mul(chi, real(BETA * root));
}

/* A rule with the same weights for dt and dW. */
INLINE void sync_rule(struct lane_state *y, const struct rule *r, vec noise, double dt) {
    struct impulse w[INNER], end = impulse(BOTH, r->end * dt, noise, r->end);
    UNROLL
    for (int i = 0; i < r->inner; i++) w[i] = impulse(BOTH, r->weight[i] * dt, noise, r->weight[i]);
    if (r->end != 0) kick(y, end);
    if (r->k1 != 0)
        inside(y, r, w, dt);
    else
        straight(y, r->inner, r->node, w, dt);
    if (r->end != 0) {
        sincos_radians(y->q, &y->s, &y->c);
        kick(y, end);
    }
}

SYNC_STEP(sync_otr1) {
    sync_rule(y, &otr1, sync_noise(chi, root), dt);
}
SYNC_STEP(sync_milne1) {
    sync_rule(y, &milne1, sync_noise(chi, root), dt);
}
SYNC_STEP(sync_simpson1) {
    sync_rule(y, &simpson1, sync_noise(chi, root), dt);
}
SYNC_STEP(sync_otr2) {
    sync_rule(y, &otr2, sync_noise(chi, root), dt);
}
SYNC_STEP(sync_gauss4) {
    sync_rule(y, &gauss4, sync_noise(chi, root), dt);
}
SYNC_STEP(sync_gauss6) {
    sync_rule(y, &gauss6, sync_noise(chi, root), dt);
}
SYNC_STEP(sync_lobatto4) {
    sync_rule(y, &lobatto4, sync_noise(chi, root), dt);
}
SYNC_STEP(sync_lobatto6) {
    sync_rule(y, &lobatto6, sync_noise(chi, root), dt);
}

/* P1N1Q1Rec and P1N1Q1RecN2Q2Lob, P1N1Q1RecN1Q2Gau: all of the force at the end, the noise there, at both ends or in the
 * middle. */
SYNC_STEP(sync_euler) {
    drift(y, dt);
    sincos_radians(y->q, &y->s, &y->c);
    kick(y, impulse(BOTH, dt, sync_noise(chi, root), 1));
}

SYNC_STEP(sync_euler_lobatto) {
    vec noise = sync_noise(chi, root);
    kick(y, impulse(COSINE, 0, noise, 0.5));
    drift(y, dt);
    sincos_radians(y->q, &y->s, &y->c);
    kick(y, impulse(BOTH, dt, noise, 0.5));
}

static const double middle[] = {0.5};

SYNC_STEP(sync_euler_gauss) {
    struct impulse w = impulse(COSINE, 0, sync_noise(chi, root), 1);
    straight(y, 1, middle, &w, dt);
    sincos_radians(y->q, &y->s, &y->c);
    kick(y, impulse(SINE, dt, chi, 0));
}

/* P2N2Q2LobN1Q1Rec: Verlet with all of the noise at the end. */
SYNC_STEP(sync_verlet_euler) {
    kick(y, impulse(SINE, 0.5 * dt, chi, 0));
    drift(y, dt);
    sincos_radians(y->q, &y->s, &y->c);
    kick(y, impulse(BOTH, 0.5 * dt, sync_noise(chi, root), 1));
}

/* P1N1Q2GauN2Q2Lob and P1N2Q2LobN1Q2Gau: force in the middle and noise at the ends, and the other way round. */
SYNC_STEP(sync_gauss_lobatto) {
    vec noise = sync_noise(chi, root);
    struct impulse w = impulse(SINE, dt, noise, 0), end = impulse(COSINE, 0, noise, 0.5);
    kick(y, end);
    straight(y, 1, middle, &w, dt);
    sincos_radians(y->q, &y->s, &y->c);
    kick(y, end);
}

SYNC_STEP(sync_lobatto_gauss) {
    struct impulse w = impulse(COSINE, 0, sync_noise(chi, root), 1), end = impulse(SINE, 0.5 * dt, chi, 0);
    kick(y, end);
    straight(y, 1, middle, &w, dt);
    sincos_radians(y->q, &y->s, &y->c);
    kick(y, end);
}

/* beta J = beta dZ / dt */
INLINE vec sync_level(vec chi, vec eta, double root) {
    return mul(fma3(eta, real(ROOT3 / 3), chi), real(0.5 * BETA * root));
}

SYNC_STEP(sync_vz) {
    vec level = sync_level(chi, eta, root), rest = fma3(chi, real(BETA * root), sub(real(0.0), level));
    kick(y, impulse(BOTH, 0.5 * dt, level, 1));
    drift(y, dt);
    sincos_radians(y->q, &y->s, &y->c);
    kick(y, impulse(BOTH, 0.5 * dt, rest, 1));
}

/* The potential is -cos q + dt/12 (beta cos q)^2: sin q (1 - dt beta^2/6 cos q) is its force. */
SYNC_STEP(sync_vzc) {
    vec level = sync_level(chi, eta, root), rest = fma3(chi, real(BETA * root), sub(real(0.0), level));
    vec half = real(0.5 * dt), less = real(dt * dt * BETA * BETA / 12);
    y->p = fnma3(fnma3(less, y->c, half), y->s, fnma3(level, y->c, y->p));
    drift(y, dt);
    sincos_radians(y->q, &y->s, &y->c);
    y->p = fnma3(fnma3(less, y->c, half), y->s, fnma3(rest, y->c, y->p));
}

/* P2N3Q4Lob with the noise weights beta_i dW + gamma_i J, beta = (-k, 2k, 1 - k), gamma = (1, 0, -1), k = sqrt 2/3. */
SYNC_STEP(sync_lobz) {
    const double k = 0.47140452079103168293;
    vec noise = sync_noise(chi, root), level = sync_level(chi, eta, root);
    struct impulse w = impulse(BOTH, 2.0 / 3 * dt, noise, 2 * k);
    kick(y, impulse(BOTH, dt / 6, fnma3(real(k), noise, level), 1));
    inside(y, &lobatto4, &w, dt);
    sincos_radians(y->q, &y->s, &y->c);
    kick(y, impulse(BOTH, dt / 6, _mm256_fmsub_pd(real(1 - k), noise, level), 1));
}

SYNC_STEP(sync_mrt32) {
    vec noise = sync_noise(chi, root), level = sync_level(chi, eta, root), s, c;
    sincos_radians(y->q, &s, &c);
    vec P = fnma3(fma3(level, real(1.5), mul(noise, real(-0.5))), c, fnma3(real(0.25 * dt), s, y->p));
    sincos_radians(fma3(real(2.0 / 3 * dt), P, y->q), &s, &c);
    y->p = fnma3(mul(sub(noise, level), real(1.5)), c, fnma3(real(0.75 * dt), s, P));
    y->q = fma3(real(2.0 / 3 * dt), P, fma3(real(dt / 3), y->p, y->q));
}

/* EEM and Milstein: for noise h(q) and kinetic energy p^2/2 neither has a correction. */
SYNC_STEP(sync_eem) {
    vec s, c, p = y->p;
    sincos_radians(y->q, &s, &c);
    y->p = fnma3(sync_noise(chi, root), c, fnma3(real(dt), s, p));
    y->q = fma3(real(dt), p, y->q);
}

/* q' = q + dt p',  p' = p - beta dW cos q - dt sin q':  Newton for q'; cos q' serves the next step. */
SYNC_STEP(sync_iem) {
    vec e = real(0.0), d = real(0.0), s, c;
    y->p = fnma3(sync_noise(chi, root), y->c, y->p);
    vec target = fma3(real(dt), y->p, y->q);
    UNROLL
    for (int move = 0; move < 2; move++) {
        sincos_radians(move ? add(target, e) : target, &s, &c);
        d = _mm256_div_pd(fma3(real(dt * dt), s, e), fma3(real(dt * dt), c, real(1.0)));
        e = sub(e, d);
    }
    y->p = fnma3(real(dt), fnma3(d, c, s), y->p);
    y->c = fma3(d, s, c);
    y->q = add(target, e);
}

SYNC_STEP(sync_heun) {
    vec noise = sync_noise(chi, root), s, c;
    sincos_radians(y->q, &s, &c);
    vec G = fma3(noise, c, mul(real(dt), s));
    sincos_radians(fma3(real(dt), y->p, y->q), &s, &c);
    vec sum = add(G, fma3(noise, c, mul(real(dt), s)));
    y->q = fma3(real(dt), fnma3(G, real(0.5), y->p), y->q);
    y->p = fnma3(sum, real(0.5), y->p);
}

/* q' = q + p dt - h' dZ - dt^2/2 U',  p' = p - U' dt - h' dW - p (dt^2/2 U'' + h'' (dW dt - dZ)) */
SYNC_STEP(sync_taylor) {
    vec noise = sync_noise(chi, root), level = sync_level(chi, eta, root), s, c;
    sincos_radians(y->q, &s, &c);
    vec force = fma3(noise, c, mul(real(dt), s));
    vec bend = fnma3(mul(sub(noise, level), real(dt)), s, mul(real(0.5 * dt * dt), c));
    y->q = fma3(real(dt), fnma3(level, c, fnma3(real(0.5 * dt), s, y->p)), y->q);
    y->p = sub(fnma3(bend, y->p, y->p), force);
}

/* ---- the table ---- */

#define KUBO(name, width) static FLOOR(advance_##name, name, width, 0)
#define SYNC(name, width, dz) static FLOOR(advance_##name, name, width, dz)
#ifndef WIDTH
#define WIDTH 2
#endif
KUBO(kubo_otr1, WIDTH)
KUBO(kubo_milne1, WIDTH)
KUBO(kubo_simpson1, WIDTH)
KUBO(kubo_otr2, WIDTH)
KUBO(kubo_gauss4, WIDTH)
KUBO(kubo_gauss6, WIDTH)
KUBO(kubo_lobatto4, WIDTH)
KUBO(kubo_lobatto6, WIDTH)
KUBO(kubo_eem, WIDTH)
KUBO(kubo_iem, WIDTH)
KUBO(kubo_heun, WIDTH)
KUBO(kubo_milstein, WIDTH)
KUBO(kubo_taylor, WIDTH)
SYNC(sync_euler, WIDTH, 0)
SYNC(sync_otr1, WIDTH, 0)
SYNC(sync_milne1, WIDTH, 0)
SYNC(sync_simpson1, WIDTH, 0)
SYNC(sync_otr2, WIDTH, 0)
SYNC(sync_euler_lobatto, WIDTH, 0)
SYNC(sync_euler_gauss, WIDTH, 0)
SYNC(sync_verlet_euler, WIDTH, 0)
SYNC(sync_gauss_lobatto, WIDTH, 0)
SYNC(sync_lobatto_gauss, WIDTH, 0)
SYNC(sync_gauss4, WIDTH, 0)
SYNC(sync_gauss6, WIDTH, 0)
SYNC(sync_lobatto4, WIDTH, 0)
SYNC(sync_lobatto6, WIDTH, 0)
SYNC(sync_mrt32, WIDTH, 1)
SYNC(sync_vz, WIDTH, 1)
SYNC(sync_vzc, WIDTH, 1)
SYNC(sync_lobz, WIDTH, 1)
SYNC(sync_eem, WIDTH, 0)
SYNC(sync_iem, WIDTH, 0)
SYNC(sync_heun, WIDTH, 0)
SYNC(sync_taylor, WIDTH, 1)

struct floor_method {
    const char *name;
    enum floor_model model;
    bool solves; /* equations in every step */
    floor_advance *advance;
};
static const struct floor_method table[] = {
    {"P2N2Q2Lob", FLOOR_KUBO, false, floor_kubo_verlet},
    {"P1N1Q2Gau", FLOOR_KUBO, true, floor_kubo_midpoint},
    {"P1N2Q2Lob", FLOOR_KUBO, false, floor_kubo_verlet}, /* for separable models the same map as Verlet */
    {"P1N3Q4Lob", FLOOR_KUBO, true, advance_kubo_simpson1},
    {"P1N2Q2Otr", FLOOR_KUBO, true, advance_kubo_otr1},
    {"P2N2Q2Otr", FLOOR_KUBO, true, advance_kubo_otr2},
    {"P1N3Q4Mil", FLOOR_KUBO, true, advance_kubo_milne1},
    {"P2N2Q4Gau", FLOOR_KUBO, true, advance_kubo_gauss4},
    {"P3N3Q6Gau", FLOOR_KUBO, true, advance_kubo_gauss6},
    {"P2N3Q4Lob", FLOOR_KUBO, true, advance_kubo_lobatto4},
    {"P3N4Q6Lob", FLOOR_KUBO, true, advance_kubo_lobatto6},
    {"EEM", FLOOR_KUBO, false, advance_kubo_eem},
    {"IEM", FLOOR_KUBO, true, advance_kubo_iem},
    {"Heun", FLOOR_KUBO, false, advance_kubo_heun},
    {"Milstein", FLOOR_KUBO, false, advance_kubo_milstein},
    {"Taylor15", FLOOR_KUBO, false, advance_kubo_taylor},
    {"P1N1Q1Rec", FLOOR_SYNCHROTRON, false, advance_sync_euler},
    {"P2N2Q2Lob", FLOOR_SYNCHROTRON, false, floor_sync_verlet},
    {"P1N1Q2Gau", FLOOR_SYNCHROTRON, true, floor_sync_midpoint},
    {"P1N2Q2Lob", FLOOR_SYNCHROTRON, false, floor_sync_verlet},
    {"P1N3Q4Lob", FLOOR_SYNCHROTRON, true, advance_sync_simpson1},
    {"P1N2Q2Otr", FLOOR_SYNCHROTRON, true, advance_sync_otr1},
    {"P2N2Q2Otr", FLOOR_SYNCHROTRON, true, advance_sync_otr2},
    {"P1N3Q4Mil", FLOOR_SYNCHROTRON, true, advance_sync_milne1},
    {"P1N1Q1RecN2Q2Lob", FLOOR_SYNCHROTRON, false, advance_sync_euler_lobatto},
    {"P1N1Q1RecN1Q2Gau", FLOOR_SYNCHROTRON, true, advance_sync_euler_gauss},
    {"P2N2Q2LobN1Q1Rec", FLOOR_SYNCHROTRON, false, advance_sync_verlet_euler},
    {"P1N1Q2GauN2Q2Lob", FLOOR_SYNCHROTRON, true, advance_sync_gauss_lobatto},
    {"P1N2Q2LobN1Q2Gau", FLOOR_SYNCHROTRON, true, advance_sync_lobatto_gauss},
    {"P2N2Q4Gau", FLOOR_SYNCHROTRON, true, advance_sync_gauss4},
    {"P3N3Q6Gau", FLOOR_SYNCHROTRON, true, advance_sync_gauss6},
    {"P2N3Q4Lob", FLOOR_SYNCHROTRON, true, advance_sync_lobatto4},
    {"P3N4Q6Lob", FLOOR_SYNCHROTRON, true, advance_sync_lobatto6},
    {"MRT32", FLOOR_SYNCHROTRON, false, advance_sync_mrt32},
    {"VZ", FLOOR_SYNCHROTRON, false, advance_sync_vz},
    {"VZc", FLOOR_SYNCHROTRON, false, advance_sync_vzc},
    {"LobZ", FLOOR_SYNCHROTRON, true, advance_sync_lobz},
    {"EEM", FLOOR_SYNCHROTRON, false, advance_sync_eem},
    {"IEM", FLOOR_SYNCHROTRON, true, advance_sync_iem},
    {"Heun", FLOOR_SYNCHROTRON, false, advance_sync_heun},
    {"Milstein", FLOOR_SYNCHROTRON, false, advance_sync_eem},
    {"Taylor15", FLOOR_SYNCHROTRON, false, advance_sync_taylor},
};

const struct floor_method *floor_find(const char *method, enum floor_model model) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].model == model && !strcmp(table[i].name, method)) return &table[i];
    return NULL;
}

bool floor_is_explicit(const struct floor_method *f) {
    return !f->solves;
}

double floor_method_run(const struct floor_method *f, size_t steps, double dt, unsigned long long seed,
                        double q[FLOOR_PATHS], double p[FLOOR_PATHS]) {
    struct keys k;
    double start = seconds();
    keys_fill(&k, seed);
    run_block(f->advance, &k, 0, steps, dt, q, p);
    return seconds() - start;
}

#else

const struct floor_method *floor_find(const char *method, enum floor_model model) {
    (void)method, (void)model;
    return NULL;
}

bool floor_is_explicit(const struct floor_method *f) {
    (void)f;
    return false;
}

double floor_method_run(const struct floor_method *f, size_t steps, double dt, unsigned long long seed,
                        double q[FLOOR_PATHS], double p[FLOOR_PATHS]) {
    (void)f, (void)steps, (void)dt, (void)seed, (void)q, (void)p;
    return -1;
}

#endif
