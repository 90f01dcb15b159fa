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
 * k1 = k2 = 0 for s = 1, k1 = 3 for s = 2, and k2 = 5 for s = 3, when the rule is exact to degree 2s - 2 (3 and 5
 * are 1 over the norms of the Legendre polynomials on [0,1]; for P2N2Q2Otr the rule gives a third of the norm, k1 =
 * 9).  A node at 0 is a kick before the rest of the step, a node at 1 a kick after it, and sine and cosine at q'
 * serve the next step's node 0.  For s = 1 the matrix D has rank one and P is the only unknown.
 *
 * Kubo is linear: one direct solution of these equations.  Synchrotron: two Newton moves with full sine and cosine
 * each, which reach round-off for dt <= 0.02; the impulses after the last move by the linear term.  Systems of 1, 2
 * or 3 equations by Cramer's rule with one division. */
#include "floor_wide.h"

#include <string.h>

#ifdef FLOOR_SIMD

#define ROOT3 1.73205080756887729353
#define ROOT5 2.23606797749978969641
#define ROOT15 3.87298334620741688518
#define INNER 3 /* most nodes inside a step */

/* ---- rules ---- */

struct rule {
    int inner;                         /* nodes inside the step */
    double node[INNER], weight[INNER]; /* theirs */
    double end;                        /* weight of the nodes 0 and 1; 0: the rule has none */
    double k1, k2;
};
static const struct rule otr1 = {2, {1.0 / 3, 2.0 / 3}, {0.5, 0.5}, 0, 0, 0};
static const struct rule milne1 = {3, {0.25, 0.5, 0.75}, {2.0 / 3, -1.0 / 3, 2.0 / 3}, 0, 0, 0};
static const struct rule simpson1 = {1, {0.5}, {2.0 / 3}, 1.0 / 6, 0, 0};
static const struct rule otr2 = {2, {1.0 / 3, 2.0 / 3}, {0.5, 0.5}, 0, 9, 0};
static const struct rule gauss4 = {2, {0.5 - ROOT3 / 6, 0.5 + ROOT3 / 6}, {0.5, 0.5}, 0, 3, 0};
static const struct rule gauss6 = {3, {0.5 - ROOT15 / 10, 0.5, 0.5 + ROOT15 / 10}, {5.0 / 18, 8.0 / 18, 5.0 / 18}, 0, 3,
                                   5};
static const struct rule lobatto4 = {1, {0.5}, {2.0 / 3}, 1.0 / 6, 3, 0};
static const struct rule lobatto6 = {2, {0.5 - ROOT5 / 10, 0.5 + ROOT5 / 10}, {5.0 / 12, 5.0 / 12}, 1.0 / 12, 3, 5};

/* D_ji; the compiler folds it. */
INLINE double coupling(const struct rule *r, int j, int i) {
    double a = r->node[j], b = r->node[i], g = a * (1 - a) * b * (1 - b);
    double d = a * (1 - b) - r->k1 * g - r->k2 * g * (1 - 2 * a) * (1 - 2 * b);
    return d > 1e-12 || d < -1e-12 ? d : 0; /* one of P2N2Q2Otr vanishes */
}

/* m d = r by Cramer's rule, n <= 3. */
INLINE void solve(int n, struct wide m[INNER][INNER], const struct wide *r, struct wide *d) {
    if (n == 1) {
        d[0] = over(r[0], m[0][0]);
    } else if (n == 2) {
        struct wide inverse = over(all(1.0), less(m[0][1], m[1][0], times(m[0][0], m[1][1])));
        d[0] = times(inverse, less(m[0][1], r[1], times(m[1][1], r[0])));
        d[1] = times(inverse, less(m[1][0], r[0], times(m[0][0], r[1])));
    } else {
        struct wide c[3][3]; /* c[i][j]: cofactor of m[j][i] */
        UNROLL
        for (int i = 0; i < 3; i++) {
            UNROLL
            for (int j = 0; j < 3; j++) {
                int a = (j + 1) % 3, b = (j + 2) % 3, e = (i + 1) % 3, f = (i + 2) % 3;
                c[i][j] = less(m[a][f], m[b][e], times(m[a][e], m[b][f]));
            }
        }
        struct wide inverse = over(all(1.0), more(m[0][0], c[0][0], more(m[1][0], c[0][1], times(m[2][0], c[0][2]))));
        UNROLL
        for (int i = 0; i < 3; i++)
            d[i] = times(inverse, more(c[i][0], r[0], more(c[i][1], r[1], times(c[i][2], r[2]))));
    }
}

/* ---- Kubo ---- */

INLINE struct wide kubo_x(struct wide chi, double dt, double root) {
    return line(BETA * root, chi, dt);
}

/* s = 1: P (1 + x^2 sum_i alpha_i c_i (1 - c_i)) = p - x sum_i alpha_i (1 - c_i) q, end nodes apart. */
INLINE void kubo_straight(struct wide_state *y, const struct rule *r, struct wide chi, double dt, double root) {
    struct wide x = kubo_x(chi, dt, root), end = scaled(r->end, x);
    double early = 0, curved = 0;
    for (int i = 0; i < r->inner; i++) {
        early += r->weight[i] * (1 - r->node[i]);
        curved += r->weight[i] * r->node[i] * (1 - r->node[i]);
    }
    if (r->end != 0) y->p = less(end, y->q, y->p);
    struct wide P = over(less(scaled(early, x), y->q, y->p), line(curved, times(x, x), 1.0));
    struct wide step = times(x, P), sum = all(0.0);
    UNROLL
    for (int i = 0; i < r->inner; i++) {
        struct wide Q = more_of(r->node[i], step, y->q), w = all(r->weight[i] * r->node[i]);
        sum = i ? more(w, Q, sum) : times(w, Q);
    }
    y->p = less(x, sum, P);
    y->q = plus(y->q, step);
    if (r->end != 0) y->p = less(end, y->q, y->p);
}

INLINE void kubo_rule(struct wide_state *y, const struct rule *r, struct wide chi, double dt, double root) {
    struct wide x = kubo_x(chi, dt, root), z = times(x, x), end = scaled(r->end, x), m[INNER][INNER], b[INNER],
                Q[INNER];
    if (r->end != 0) y->p = less(end, y->q, y->p);
    struct wide step = times(x, y->p), late = all(0.0), sum = all(0.0);
    UNROLL
    for (int j = 0; j < r->inner; j++) {
        b[j] = more_of(r->node[j], step, y->q);
        UNROLL
        for (int i = 0; i < r->inner; i++) {
            struct wide d = all(coupling(r, j, i) * r->weight[i]);
            m[j][i] = i == j ? shifted(z, d, 1.0) : times(z, d);
        }
    }
    solve(r->inner, m, b, Q);
    UNROLL
    for (int i = 0; i < r->inner; i++) {
        struct wide w = all(r->weight[i]), v = all(r->weight[i] * (1 - r->node[i]));
        sum = i ? more(w, Q[i], sum) : times(w, Q[i]);
        late = i ? more(v, Q[i], late) : times(v, Q[i]);
    }
    y->q = less(z, late, plus(y->q, step));
    y->p = less(x, sum, y->p);
    if (r->end != 0) y->p = less(end, y->q, y->p);
}

#define STEP(name)                                                                                                     \
    INLINE void name(struct wide_state *y, __attribute__((unused)) struct wide chi,                                    \
                     __attribute__((unused)) struct wide eta, __attribute__((unused)) double dt,                       \
                     __attribute__((unused)) double root)
#define KUBO_RULE(rule, form)                                                                                          \
    STEP(kubo_##rule) {                                                                                                \
        form(y, &rule, chi, dt, root);                                                                                 \
    }
KUBO_RULE(otr1, kubo_straight)
KUBO_RULE(milne1, kubo_straight)
KUBO_RULE(simpson1, kubo_straight)
KUBO_RULE(otr2, kubo_rule)
KUBO_RULE(gauss4, kubo_rule)
KUBO_RULE(gauss6, kubo_rule)
KUBO_RULE(lobatto4, kubo_rule)
KUBO_RULE(lobatto6, kubo_rule)

/* X' = X + x J X + C dt, C = -beta^2/2 X, J = (0 1; -1 0). */
STEP(kubo_eem) {
    struct wide x = kubo_x(chi, dt, root), e = all(1 - 0.5 * BETA * BETA * dt), q = y->q;
    y->q = more(x, y->p, times(e, q));
    y->p = less(x, q, times(e, y->p));
}

/* (1 + beta^2 dt/2 - dt J) X' = X + beta dW J X: the same matrix in all steps, inverted once. */
STEP(kubo_iem) {
    double a = 1 + 0.5 * BETA * BETA * dt, inverse = 1 / (a * a + dt * dt);
    struct wide w = scaled(BETA * root, chi), r = more(w, y->p, y->q), s = less(w, y->q, y->p);
    y->q = more_of(a * inverse, r, scaled(dt * inverse, s));
    y->p = less_of(dt * inverse, r, scaled(a * inverse, s));
}

STEP(kubo_heun) {
    struct wide x = kubo_x(chi, dt, root), half = scaled(0.5, x);
    struct wide Q = more(x, y->p, y->q), P = less(x, y->q, y->p), q = y->q;
    y->q = more(half, plus(y->p, P), q);
    y->p = less(half, plus(q, Q), y->p);
}

/* X' = X + x J X - (beta dW)^2/2 X */
STEP(kubo_milstein) {
    struct wide w = scaled(BETA * root, chi), x = plus(w, all(dt)), e = line(-0.5, times(w, w), 1.0), q = y->q;
    y->q = more(x, y->p, times(e, q));
    y->p = less(x, q, times(e, y->p));
}

/* a = A X, b = B X with A = J - beta^2/2, B = beta J, which commute: L1 a = L0 b, so dZ drops out, and
 * X' = (1 + A dt + B dW + B^2 (dW^2 - dt)/2 + A B dW dt + A^2 dt^2/2 + B^3 (dW^2/3 - dt) dW/2) X = (e + f J) X. */
STEP(kubo_taylor) {
    const double b2 = BETA * BETA;
    struct wide w = scaled(BETA * root, chi), ww = times(w, w); /* beta dW */
    struct wide e = more_of(-0.5, ww, line(-dt, w, 1 - 0.5 * dt * dt * (1 - 0.25 * b2 * b2)));
    struct wide f = shifted(w, line(-1.0 / 6, ww, 1.0), dt - 0.5 * b2 * dt * dt);
    struct wide q = y->q;
    y->q = more(f, y->p, times(e, q));
    y->p = less(f, q, times(e, y->p));
}

/* ---- synchrotron ---- */

/* a sin Q + b cos Q, or one of the two. */
enum parts { SINE = 1, COSINE = 2, BOTH = 3 };
struct impulse {
    enum parts parts;
    struct wide a, b;
};

INLINE struct impulse impulse(enum parts parts, double a, struct wide noise, double b) {
    return (struct impulse){parts, all(a), scaled(b, noise)};
}

INLINE struct wide impulse_value(struct impulse w, struct wide s, struct wide c) {
    return w.parts == BOTH ? more(w.a, s, times(w.b, c)) : w.parts == SINE ? times(w.a, s) : times(w.b, c);
}

INLINE struct wide impulse_slope(struct impulse w, struct wide s, struct wide c) {
    if (w.parts == BOTH) return less(w.b, s, times(w.a, c));
    return w.parts == SINE ? times(w.a, c) : negative(times(w.b, s));
}

/* A node at the beginning or the end of the step. */
INLINE void kick(struct wide_state *y, struct impulse w) {
    if (w.parts & SINE) y->p = less(w.a, y->s, y->p);
    if (w.parts & COSINE) y->p = less(w.b, y->c, y->p);
}

INLINE void drift(struct wide_state *y, double dt) {
    y->q = more_of(dt, y->p, y->q);
}

/* s = 1, nodes inside the step: P = p - sum_i (1 - c_i) G_i(q + c_i dt P), then q' = q + dt P, p' = p - sum_i G_i. */
INLINE void straight(struct wide_state *y, int n, const double *node, const struct impulse *w, double dt) {
    struct wide P = y->p, e = all(0.0), G[INNER], S[INNER], s, c; /* e = P - p */
    UNROLL
    for (int move = 0; move < 2; move++) {
        struct wide f = e, slope = all(1.0);
        UNROLL
        for (int i = 0; i < n; i++) {
            wide_sincos(more_of(node[i] * dt, P, y->q), &s, &c);
            G[i] = impulse_value(w[i], s, c);
            S[i] = impulse_slope(w[i], s, c);
            f = more_of(1 - node[i], G[i], f);
            slope = more_of(dt * node[i] * (1 - node[i]), S[i], slope);
        }
        struct wide d = over(f, slope);
        P = minus(P, d);
        e = minus(e, d);
        UNROLL
        for (int i = 0; move && i < n; i++) G[i] = less(scaled(node[i] * dt, d), S[i], G[i]);
    }
    y->q = more_of(dt, P, y->q);
    UNROLL
    for (int i = 0; i < n; i++) y->p = minus(y->p, G[i]);
}

/* The nodes inside the step of any other rule: Newton's method for the positions. */
INLINE void inside(struct wide_state *y, const struct rule *r, const struct impulse *w, double dt) {
    const int n = r->inner;
    struct wide G[INNER], S[INNER], m[INNER][INNER], f[INNER], d[INNER], e[INNER], s, c; /* e = Q - (q + c dt p) */
    UNROLL
    for (int move = 0; move < 2; move++) {
        UNROLL
        for (int i = 0; i < n; i++) {
            struct wide Q = more_of(r->node[i] * dt, y->p, y->q);
            wide_sincos(move ? plus(Q, e[i]) : Q, &s, &c);
            G[i] = impulse_value(w[i], s, c);
            S[i] = impulse_slope(w[i], s, c);
        }
        UNROLL
        for (int j = 0; j < n; j++) {
            f[j] = move ? e[j] : all(0.0);
            UNROLL
            for (int i = 0; i < n; i++) {
                struct wide a = all(dt * coupling(r, j, i));
                m[j][i] = i == j ? shifted(a, S[i], 1.0) : times(a, S[i]);
                if (coupling(r, j, i) != 0) f[j] = more(a, G[i], f[j]);
            }
        }
        solve(n, m, f, d);
        UNROLL
        for (int i = 0; i < n; i++) {
            if (move)
                G[i] = less(S[i], d[i], G[i]);
            else
                e[i] = negative(d[i]);
        }
    }
    drift(y, dt);
    UNROLL
    for (int i = 0; i < n; i++) {
        y->q = less_of(dt * (1 - r->node[i]), G[i], y->q);
        y->p = minus(y->p, G[i]);
    }
}

INLINE struct wide sync_noise(struct wide chi, double root) {
    return scaled(BETA * root, chi);
}

/* A rule with the same weights for dt and dW. */
INLINE void sync_rule(struct wide_state *y, const struct rule *r, struct wide noise, double dt) {
    struct impulse w[INNER], end = impulse(BOTH, r->end * dt, noise, r->end);
    UNROLL
    for (int i = 0; i < r->inner; i++) w[i] = impulse(BOTH, r->weight[i] * dt, noise, r->weight[i]);
    if (r->end != 0) kick(y, end);
    if (r->k1 != 0)
        inside(y, r, w, dt);
    else
        straight(y, r->inner, r->node, w, dt);
    if (r->end != 0) {
        wide_sincos(y->q, &y->s, &y->c);
        kick(y, end);
    }
}

#define SYNC_RULE(rule)                                                                                                \
    STEP(sync_##rule) {                                                                                                \
        sync_rule(y, &rule, sync_noise(chi, root), dt);                                                                \
    }
SYNC_RULE(otr1)
SYNC_RULE(milne1)
SYNC_RULE(simpson1)
SYNC_RULE(otr2)
SYNC_RULE(gauss4)
SYNC_RULE(gauss6)
SYNC_RULE(lobatto4)
SYNC_RULE(lobatto6)

/* P1N1Q1Rec and P1N1Q1RecN2Q2Lob, P1N1Q1RecN1Q2Gau: all of the force at the end, the noise there, at both ends or in
 * the middle. */
STEP(sync_euler) {
    drift(y, dt);
    wide_sincos(y->q, &y->s, &y->c);
    kick(y, impulse(BOTH, dt, sync_noise(chi, root), 1));
}

STEP(sync_euler_lobatto) {
    struct wide noise = sync_noise(chi, root);
    kick(y, impulse(COSINE, 0, noise, 0.5));
    drift(y, dt);
    wide_sincos(y->q, &y->s, &y->c);
    kick(y, impulse(BOTH, dt, noise, 0.5));
}

static const double middle[] = {0.5};

STEP(sync_euler_gauss) {
    struct impulse w = impulse(COSINE, 0, sync_noise(chi, root), 1);
    straight(y, 1, middle, &w, dt);
    wide_sincos(y->q, &y->s, &y->c);
    kick(y, impulse(SINE, dt, chi, 0));
}

/* P2N2Q2LobN1Q1Rec: Verlet with all of the noise at the end. */
STEP(sync_verlet_euler) {
    kick(y, impulse(SINE, 0.5 * dt, chi, 0));
    drift(y, dt);
    wide_sincos(y->q, &y->s, &y->c);
    kick(y, impulse(BOTH, 0.5 * dt, sync_noise(chi, root), 1));
}

/* P1N1Q2GauN2Q2Lob and P1N2Q2LobN1Q2Gau: force in the middle and noise at the ends, and the other way round. */
STEP(sync_gauss_lobatto) {
    struct wide noise = sync_noise(chi, root);
    struct impulse w = impulse(SINE, dt, noise, 0), end = impulse(COSINE, 0, noise, 0.5);
    kick(y, end);
    straight(y, 1, middle, &w, dt);
    wide_sincos(y->q, &y->s, &y->c);
    kick(y, end);
}

STEP(sync_lobatto_gauss) {
    struct impulse w = impulse(COSINE, 0, sync_noise(chi, root), 1), end = impulse(SINE, 0.5 * dt, chi, 0);
    kick(y, end);
    straight(y, 1, middle, &w, dt);
    wide_sincos(y->q, &y->s, &y->c);
    kick(y, end);
}

/* beta J = beta dZ / dt */
INLINE struct wide sync_level(struct wide chi, struct wide eta, double root) {
    return scaled(0.5 * BETA * root, more_of(ROOT3 / 3, eta, chi));
}

STEP(sync_vz) {
    struct wide level = sync_level(chi, eta, root), rest = more_of(BETA * root, chi, negative(level));
    kick(y, impulse(BOTH, 0.5 * dt, level, 1));
    drift(y, dt);
    wide_sincos(y->q, &y->s, &y->c);
    kick(y, impulse(BOTH, 0.5 * dt, rest, 1));
}

/* The potential is -cos q + dt/12 (beta cos q)^2: sin q (1 - dt beta^2/6 cos q) is its force. */
STEP(sync_vzc) {
    struct wide level = sync_level(chi, eta, root), rest = more_of(BETA * root, chi, negative(level));
    struct wide half = all(0.5 * dt), bend = all(dt * dt * BETA * BETA / 12);
    y->p = less(less(bend, y->c, half), y->s, less(level, y->c, y->p));
    drift(y, dt);
    wide_sincos(y->q, &y->s, &y->c);
    y->p = less(less(bend, y->c, half), y->s, less(rest, y->c, y->p));
}

/* P2N3Q4Lob with the noise weights beta_i dW + gamma_i J, beta = (-k, 2k, 1 - k), gamma = (1, 0, -1), k = sqrt 2/3. */
STEP(sync_lobz) {
    const double k = 0.47140452079103168293;
    struct wide noise = sync_noise(chi, root), level = sync_level(chi, eta, root);
    struct impulse w = impulse(BOTH, 2.0 / 3 * dt, noise, 2 * k);
    kick(y, impulse(BOTH, dt / 6, less_of(k, noise, level), 1));
    inside(y, &lobatto4, &w, dt);
    wide_sincos(y->q, &y->s, &y->c);
    kick(y, impulse(BOTH, dt / 6, more_of(1 - k, noise, negative(level)), 1));
}

STEP(sync_mrt32) {
    struct wide noise = sync_noise(chi, root), level = sync_level(chi, eta, root), s, c;
    wide_sincos(y->q, &s, &c);
    struct wide P = less(more_of(1.5, level, scaled(-0.5, noise)), c, less_of(0.25 * dt, s, y->p));
    wide_sincos(more_of(2.0 / 3 * dt, P, y->q), &s, &c);
    y->p = less(scaled(1.5, minus(noise, level)), c, less_of(0.75 * dt, s, P));
    y->q = more_of(2.0 / 3 * dt, P, more_of(dt / 3, y->p, y->q));
}

/* EEM and Milstein: for noise h(q) and kinetic energy p^2/2 neither has a correction. */
STEP(sync_eem) {
    struct wide s, c, p = y->p;
    wide_sincos(y->q, &s, &c);
    y->p = less(sync_noise(chi, root), c, less_of(dt, s, p));
    y->q = more_of(dt, p, y->q);
}

/* q' = q + dt p',  p' = p - beta dW cos q - dt sin q':  Newton for q'; cos q' serves the next step. */
STEP(sync_iem) {
    struct wide e = all(0.0), d = all(0.0), s, c;
    y->p = less(sync_noise(chi, root), y->c, y->p);
    struct wide target = more_of(dt, y->p, y->q);
    UNROLL
    for (int move = 0; move < 2; move++) {
        wide_sincos(move ? plus(target, e) : target, &s, &c);
        d = over(more_of(dt * dt, s, e), line(dt * dt, c, 1.0));
        e = minus(e, d);
    }
    y->p = less_of(dt, less(d, c, s), y->p);
    y->c = more(d, s, c);
    y->q = plus(target, e);
}

STEP(sync_heun) {
    struct wide noise = sync_noise(chi, root), s, c;
    wide_sincos(y->q, &s, &c);
    struct wide G = more(noise, c, scaled(dt, s));
    wide_sincos(more_of(dt, y->p, y->q), &s, &c);
    struct wide sum = plus(G, more(noise, c, scaled(dt, s)));
    y->q = more_of(dt, less_of(0.5, G, y->p), y->q);
    y->p = less_of(0.5, sum, y->p);
}

/* q' = q + p dt - h' dZ - dt^2/2 U',  p' = p - U' dt - h' dW - p (dt^2/2 U'' + h'' (dW dt - dZ)) */
STEP(sync_taylor) {
    struct wide noise = sync_noise(chi, root), level = sync_level(chi, eta, root), s, c;
    wide_sincos(y->q, &s, &c);
    struct wide force = more(noise, c, scaled(dt, s));
    struct wide bend = less(scaled(dt, minus(noise, level)), s, scaled(0.5 * dt * dt, c));
    y->q = more_of(dt, less(level, c, less_of(0.5 * dt, s, y->p)), y->q);
    y->p = minus(less(bend, y->p, y->p), force);
}

/* ---- the table ---- */

/* The second argument is the batch of wide_advance, whichever was measured to be faster. */
#define KUBO(name, batch) WIDE_FLOOR(advance_##name, name, batch, 0)
#define SYNC(name, batch, dz) WIDE_FLOOR(advance_##name, name, batch, dz)
KUBO(kubo_otr1, 4)
KUBO(kubo_milne1, 4)
KUBO(kubo_simpson1, 4)
KUBO(kubo_otr2, 4)
KUBO(kubo_gauss4, 4)
KUBO(kubo_gauss6, 4)
KUBO(kubo_lobatto4, 4)
KUBO(kubo_lobatto6, 4)
KUBO(kubo_eem, 2)
KUBO(kubo_iem, 2)
KUBO(kubo_heun, 2)
KUBO(kubo_milstein, 2)
KUBO(kubo_taylor, 2)
SYNC(sync_euler, 2, 0)
SYNC(sync_otr1, 4, 0)
SYNC(sync_milne1, 4, 0)
SYNC(sync_simpson1, 4, 0)
SYNC(sync_otr2, 4, 0)
SYNC(sync_euler_lobatto, 2, 0)
SYNC(sync_euler_gauss, 4, 0)
SYNC(sync_verlet_euler, 2, 0)
SYNC(sync_gauss_lobatto, 4, 0)
SYNC(sync_lobatto_gauss, 4, 0)
SYNC(sync_gauss4, 4, 0)
SYNC(sync_gauss6, 2, 0)
SYNC(sync_lobatto4, 4, 0)
SYNC(sync_lobatto6, 4, 0)
SYNC(sync_mrt32, 2, 1)
SYNC(sync_vz, 4, 1)
SYNC(sync_vzc, 4, 1)
SYNC(sync_lobz, 4, 1)
SYNC(sync_eem, 2, 0)
SYNC(sync_iem, 4, 0)
SYNC(sync_heun, 2, 0)
SYNC(sync_taylor, 4, 1)

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
