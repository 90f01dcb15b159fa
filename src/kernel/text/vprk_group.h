/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Variational Euler, its adjoint, and RATTLE for a Lagrangian l(g, xi, t) on a group G: products of vectors, rotations
 * and bodies in SE(3), xi the velocity along the axes of the body (left-trivialised, g' = g xi).
 *
 * The discrete action is the sum of dt l(g_k, xi) - sum_m h_m(g_k) dW_m with g_k+1 = g_k tau(dt xi).  Where g_k moves
 * along g_k exp(eta_k), dt xi changes by dtau^-1_{dt xi} (Ad_tau(dt xi) eta_k+1 - eta_k), dtau the right-trivialised
 * tangent, so that with u = dt xi and dtau^-1_u Ad_tau(u) = dtau^-1_-u the momenta m_k = -D_1, m_k+1 = D_2 are
 *
 *     (dtau^-1_u)^* l_xi(g, xi) = r,   r = m + dt l_g(g, xi) - sum_m h_m,g(g) dW_m,
 *     g+ = g tau(u),   m+ = (dtau^-1_-u)^* l_xi(g, xi) = Ad*_tau(u) r                       variational Euler
 *
 *     (dtau^-1_u)^* l_xi(g+, xi) = m,   g+ = g tau(u),
 *     m+ = Ad*_tau(u) m + dt l_g(g+, xi) - sum_m h_m,g(g+) dW_m                             its adjoint
 *
 * The second one has dt l(g_k+1, xi) in the action.  The unknown is xi.  Momenta in space are kept by the form of m+,
 * whatever the accuracy of the equation.  RATTLE is a half step of the first and one of the second: symmetric, order 2.
 * m is the momentum that is canonical; mu = l_xi is off by O(dt).  Momenta of vectors have tau(u) = u.  Constraints are
 * in vprk_joints.h.
 *
 * Bou-Rabee & Owhadi (2009), Stochastic variational integrators, doi 10.1093/imanum/drn018; Bou-Rabee & Marsden (2009),
 * doi 10.1007/s10208-008-9030-4.  Include-free; a part of methods/vprk.c. */

#ifndef VPRK_EXPONENTIAL /* tau = exp, else tau = cay */
#define VPRK_EXPONENTIAL 0
#endif

/* ---- bodies: vectors of six have angular components first; rotations have three ---- */

struct body {
    long n;              /* 3 or 6 */
    long q, x, m, P;     /* rows of quaternion and position, of angular and linear components */
};

INLINE struct body body_of(long number) {
    long run = 0;
    for (; run < ROTATION_RUNS && number >= rotation_run[run].count; run++) number -= rotation_run[run].count;
    if (run < ROTATION_RUNS)
        return (struct body){3, rotation_run[run].q + 4 * number, 0, rotation_run[run].p + 3 * number, 0};
    for (run = 0; number >= coupled_run[run].count; run++) number -= coupled_run[run].count;
    const long q = coupled_run[run].q, p = coupled_run[run].p, back = 3 * coupled_run[run].count;
    return (struct body){6, q + 4 * number, q - back + 3 * number, p + 3 * number, p - back + 3 * number};
}

INLINE long body_row(const struct body *b, long i) {
    return i < 3 ? b->m + i : b->P + i - 3;
}

INLINE void body_get(const struct body *b, const vec *x, long stride, vec *out) {
    for (long i = 0; i < b->n; i++) out[i] = x[body_row(b, i) * stride];
}

/* ---- one body: tau, and what its equation consists of ---- */

/* Weights of ad^2 and ad^4 in dexp^-1_u and their derivatives; nothing for the Cayley map. */
INLINE void body_weights(const struct body *b, const vec *u, vec *weight) {
    if (!VPRK_EXPONENTIAL) return;
    vec s = rotor_dot(u, u);
    kirchhoff_weights(s, weight);
    if (b->n > 3) return;
    weight[2] -= FUSED(s, weight[3], weight[1]); /* ad^4 = -|u|^2 ad^2 */
    weight[0] -= s * weight[1];
    weight[1] = weight[3] = vec_set(0);
}

/* out = D z of ad^*: (w x m + v x P, w x P) */
INLINE void body_ad(const struct body *b, const vec *u, const vec *z, vec *out) {
    for (long k = 0; k < b->n; k++) out[k] = vec_set(0);
    kirchhoff_cross(1, u, z, out);
    if (b->n == 3) return;
    kirchhoff_cross(1, u + 3, z + 3, out);
    kirchhoff_cross(1, u, z + 3, out + 3);
}

/* out = (dtau^-1_u)^* z */
INLINE void body_side(const struct body *b, const vec *u, const vec *weight, const vec *z, vec *out) {
    vec power[5][6];
    if (VPRK_EXPONENTIAL) {
        const long last = b->n == 3 ? 2 : 4;
        for (long k = 0; k < b->n; k++) power[0][k] = z[k];
        for (long n = 0; n < last; n++) body_ad(b, u, power[n], power[n + 1]);
        for (long k = 0; k < b->n; k++) {
            out[k] = FUSED(0.5, power[1][k], FUSED(weight[0], power[2][k], z[k]));
            if (last == 4) ADD_PRODUCT(out[k], weight[1], power[4][k]);
        }
    } else if (b->n == 3) {
        vec inner = 0.25 * rotor_dot(u, z);
        for (int k = 0; k < 3; k++) out[k] = FUSED(inner, u[k], z[k]);
        kirchhoff_cross(0.5, u, z, out);
    } else {
        kirchhoff_cayley_side(u, z, out);
    }
}

/* out = its derivative where u changes by d, and z stays */
INLINE void body_bend(const struct body *b, const vec *u, const vec *weight, const vec *z, const vec *side,
                      const vec *d, vec *out) {
    vec power[5][6], dz[5][6], more[6];
    if (VPRK_EXPONENTIAL) {
        const long last = b->n == 3 ? 2 : 4;
        for (long k = 0; k < b->n; k++) power[0][k] = z[k], dz[0][k] = vec_set(0);
        for (long n = 0; n < last; n++) {
            body_ad(b, u, power[n], power[n + 1]);
            body_ad(b, u, dz[n], dz[n + 1]);
            body_ad(b, d, power[n], more);
            for (long k = 0; k < b->n; k++) dz[n + 1][k] += more[k];
        }
        vec slope = 2.0 * rotor_dot(u, d);
        for (long k = 0; k < b->n; k++) {
            out[k] = FUSED(0.5, dz[1][k], FUSED(weight[0], dz[2][k], slope * weight[2] * power[2][k]));
            if (last == 4) out[k] += FUSED(weight[1], dz[4][k], slope * weight[3] * power[4][k]);
        }
    } else if (b->n == 3) {
        vec inner = 0.25 * rotor_dot(u, z), change = 0.25 * rotor_dot(d, z);
        for (int k = 0; k < 3; k++) out[k] = FUSED(inner, d[k], change * u[k]);
        kirchhoff_cross(0.5, d, z, out);
    } else {
        for (int k = 0; k < 6; k++) more[k] = vec_set(0);
        kirchhoff_cayley_along(u, z, side, d, more, out);
    }
}

/* out = tau(u)^-1 (tau(u))' where u changes by d, dtau_-u d: for Newton's matrix, and of exp up to |u|^5/720. */
INLINE void body_tangent(const struct body *b, const vec *u, const vec *d, vec *out) {
    vec scale = 1.0 / FUSED(0.25, rotor_dot(u, u), 1.0);
    if (VPRK_EXPONENTIAL) { /* d - [u, d]/2 + [u, [u, d]]/6 - ... */
        static const double share[] = {-1.0 / 2, -1.0 / 3, -1.0 / 4, -1.0 / 5};
        vec term[6], next[6];
        for (long k = 0; k < b->n; k++) out[k] = term[k] = d[k];
        for (int n = 0; n < 4; n++) {
            for (long k = 0; k < b->n; k++) next[k] = vec_set(0);
            kirchhoff_cross(share[n], u, term, next);
            if (b->n == 6) {
                kirchhoff_cross(share[n], u, term + 3, next + 3);
                kirchhoff_cross(share[n], u + 3, term, next + 3);
            }
            for (long k = 0; k < b->n; k++) out[k] += term[k] = next[k];
        }
        return;
    }
    for (int k = 0; k < 3; k++) out[k] = d[k];
    kirchhoff_cross(-0.5, u, d, out);
    for (int k = 0; k < 3; k++) out[k] *= scale;
    if (b->n == 3) return;
    vec inner = 0.25 * rotor_dot(u, d + 3); /* (1 + hat w/2)^-1 d_v - v x a/2, a the angular part */
    for (int k = 0; k < 3; k++) out[3 + k] = FUSED(inner, u[k], d[3 + k]);
    kirchhoff_cross(-0.5, u, d + 3, out + 3);
    for (int k = 0; k < 3; k++) out[3 + k] *= scale;
    kirchhoff_cross(-0.5, u + 3, out, out + 3);
}

/* g <- g tau(u), m <- Ad*_tau(u) m */
INLINE void body_move(const struct body *b, const vec *u, vec *q, vec *p) {
    vec both[6], turn[4], y[3];
    for (long k = 0; k < 6; k++) both[k] = k < b->n ? u[k] : vec_set(0);
    if (VPRK_EXPONENTIAL)
        kirchhoff_exponential_map(both, turn, y);
    else
        kirchhoff_cayley_map(both, turn, y);
    if (b->n == 6) {
        kirchhoff_move(turn, y, q + b->x, q + b->q, p + b->m, p + b->P);
    } else {
        rotor_turn(q + b->q, turn);
        rotor_turn_back(p + b->m, turn);
        rotor_unit(q + b->q);
    }
}

/* ---- all of them ---- */

/* g <- g tau(h xi), m <- Ad* m */
INLINE void group_move(double h, const vec *xi, vec *q, vec *p) {
    for (long run = 0; run < VECTOR_RUNS; run++)
        for (long k = 0; k < vector_run[run].count; k++)
            q[vector_run[run].q + k] += h * xi[vector_run[run].p + k];
    for (long k = 0; k < ROTATIONS; k++) {
        struct body b = body_of(k);
        vec u[6];
        body_get(&b, xi, 1, u);
        for (long i = 0; i < b.n; i++) u[i] *= h;
        body_move(&b, u, q, p);
    }
}

/* The equation of one half: the unknown is xi. */
struct half {
    double t, h;
    int late; /* l at the end of the half */
    const vec *q, *base; /* base: m, with the kick of the noise where it is at q */
    vec *Q, *still;      /* where l is, and momenta that nobody reads */
    vec *Lq, *Lv, *Lqv, *Lvv, *A, *scratch, *last;
    ivec outside;
};

/* A = d l_xi/d xi, with the way g+ depends on xi. */
INLINE void half_slope(const struct half *h, const vec *xi) {
    for (long i = 0; i < NP * NP; i++) h->A[i] = h->Lvv[i];
    for (long run = 0; h->late && run < VECTOR_RUNS; run++)
        for (long k = vector_run[run].p; k < vector_run[run].p + vector_run[run].count; k++)
            for (long i = 0; i < NP; i++) ADD_PRODUCT(h->A[i * NP + k], h->h, h->Lqv[k * NP + i]);
    for (long number = 0; h->late && number < ROTATIONS; number++) {
        struct body b = body_of(number);
        vec u[6], d[6], along[6];
        body_get(&b, xi, 1, u);
        for (long i = 0; i < b.n; i++) u[i] *= h->h;
        for (long j = 0; j < b.n; j++) {
            for (long k = 0; k < b.n; k++) d[k] = vec_set(k == j ? h->h : 0.0);
            body_tangent(&b, u, d, along);
            for (long k = 0; k < b.n; k++)
                for (long i = 0; i < NP; i++)
                    ADD_PRODUCT(h->A[i * NP + body_row(&b, j)], along[k], h->Lqv[body_row(&b, k) * NP + i]);
        }
    }
}

/* The rows of a body: e = (dtau^-1_u)^* e and A = (dtau^-1_u)^* A + its derivative. */
INLINE void half_body(const struct half *h, long number, const vec *xi, vec *e) {
    struct body b = body_of(number);
    vec u[6], z[6], side[6], d[6], out[6], weight[4];
    body_get(&b, xi, 1, u);
    for (long i = 0; i < b.n; i++) u[i] *= h->h;
    body_weights(&b, u, weight);
    body_get(&b, h->Lv, 1, z);
    body_side(&b, u, weight, z, side);
    for (long i = 0; i < b.n; i++) e[body_row(&b, i)] = side[i];
    for (long j = 0; j < NP; j++) {
        body_get(&b, h->A + j, NP, d);
        body_side(&b, u, weight, d, out);
        for (long i = 0; i < b.n; i++) h->A[body_row(&b, i) * NP + j] = out[i];
    }
    for (long j = 0; j < b.n; j++) {
        for (long k = 0; k < b.n; k++) d[k] = vec_set(k == j ? h->h : 0.0);
        body_bend(&b, u, weight, z, side, d, out);
        for (long i = 0; i < b.n; i++) h->A[body_row(&b, i) * NP + body_row(&b, j)] += out[i];
    }
}

/* What is left of the equation at xi, and A, its derivative. */
INLINE void half_rows(struct ctx *c, struct half *h, const vec *xi, vec *e) {
    if (h->late) {
        for (long i = 0; i < NX; i++) h->Q[i] = h->q[i];
        group_move(h->h, xi, h->Q, h->still);
    }
    model_L2(c, h->t, h->late ? h->Q : h->q, xi, 1.0, no_noise, h->Lq, h->Lv, 0, h->Lqv, h->Lvv);
#if DRAGGED == 2 /* dt l_g - dt Gamma xi, of SVE */
    bath_resist(c, 1.0, h->q, xi, h->Lq, h->Lqv);
#endif
    half_slope(h, xi);
    for (long i = 0; i < NP; i++) e[i] = h->Lv[i];
    for (long k = 0; k < ROTATIONS; k++) half_body(h, k, xi, e);
    for (long i = 0; i < NP; i++) {
        e[i] -= h->base[i];
        if (h->late) continue;
        ADD_PRODUCT(e[i], -h->h, h->Lq[i]);
        for (long j = 0; j < NP; j++) ADD_PRODUCT(h->A[i * NP + j], -h->h, h->Lqv[i * NP + j]);
    }
}

INLINE ivec half_correct(struct ctx *c, struct newton *s, void *of) {
    struct half *h = of;
    vec *e = s->e;
    half_rows(c, h, s->x, e);
    vec parts = vec_set(0), left = vec_set(0);
    for (long i = 0; i < NP; i++) {
        left += vec_abs(e[i]);
        parts += vec_abs(h->Lv[i]) + vec_abs(h->base[i]);
    }
    if (s->round >= NEWTON_PATIENT) s->live &= ~(ivec)(left <= 1e-14 * parts); /* the rest is round-off */
    h->outside = s->round > 0 ? left_domain(NP, e, s->live) : (ivec){0};
    for (long i = 0; i < NP; i++) { /* rows in units in which the matrix is of the size of 1 */
        vec scale = 1.0 / largest_of(h->Lvv + i * (NP + 1), 1, 1);
        e[i] *= scale;
        for (long j = 0; j < NP; j++) h->A[i * NP + j] *= scale;
    }
    ivec singular = system_solve(SYSTEM_ANY, NP, h->A, e, h->scratch);
    damp(NP, h->outside, e, h->last);
    return singular & ~h->outside;
}

/* Beyond a whole turn the exponential takes its values again, and no solution there is one. */
INLINE ivec half_beyond(const struct half *h, const vec *xi) {
    ivec beyond = {0};
    for (long k = 0; VPRK_EXPONENTIAL && k < ROTATIONS; k++) {
        const vec *w = xi + body_of(k).m;
        beyond |= (ivec)(h->h * h->h * rotor_dot(w, w) > 39.478417604357434);
    }
    return beyond;
}

/* The tangent of exp is that of a series, so that errors fall by a factor of about |u|^6/720 a round there. */
#define HALF_RATE (VPRK_EXPONENTIAL ? 1e-12 : 1e-9)

INLINE ivec half_moving(struct ctx *c, struct newton *s, void *of) {
    struct half *h = of;
    (void)c;
    return still_moving(NP, s->e, s->x, s->x, HALF_RATE) | h->outside | half_beyond(h, s->x);
}

/* p -= sum_m w_m h_m,g(q) + the rest of h l_g where that is wanted (h != 0). */
INLINE void group_push(struct ctx *c, double t, double h, const vec *w, const vec *q, const vec *xi, vec *p) {
    vec *top = c->top;
    ARRAY(f, NP);
    model_L1(c, t, q, xi, h, w, f, 0);
#if DRAGGED == 2
    if (h != 0) bath_resist(c, h, q, xi, f, 0);
#endif
    for (long i = 0; i < NP; i++) p[i] += f[i];
    c->top = top;
}

/* q and p move by a half of the width h with the xi that was found. */
INLINE void group_apply(struct ctx *c, double h, int late, const vec *w, const vec *xi, vec *q, vec *p) {
    vec *top = c->top;
    ARRAY(Q, NX);
    double t = time_at(c, late ? 1 : 0);
    if (!late) group_push(c, t, h, w, q, xi, p);
    for (long i = 0; i < NX; i++) Q[i] = q[i];
    group_move(h, xi, Q, p);
    for (long i = 0; i < NX; i++) q[i] = vec_select((ivec)(q[i] == q[i]), Q[i], q[i]);
    if (late) group_push(c, t, h, w, q, xi, p);
    c->top = top;
}

#if NC_NONE
/* One half of the width h: xi is found from a guess. */
OUTLINE void group_half(struct ctx *c, double h, int late, const vec *w, vec *xi, vec *q, vec *p) {
    vec *top = c->top;
    ARRAY(Q, NX);
    ARRAY(base, NP);
    ARRAY(rows, 5 * NP);
    ARRAY(second, 3 * NP * NP);
    ARRAY(scratch, SYSTEM_SCRATCH(NP));
    double t = time_at(c, late ? 1 : 0);
    for (long i = 0; i < NP; i++) base[i] = p[i], rows[i] = rows[3 * NP + i] = vec_set(0);
    if (NM > 0 && !late) group_push(c, t, 0.0, w, q, xi, base);
    struct half of = {.t = t, .h = h, .late = late, .q = q, .base = base, .Q = Q, .still = rows, .Lq = rows + NP,
                      .Lv = rows + 2 * NP, .last = rows + 3 * NP, .Lqv = second, .Lvv = second + NP * NP,
                      .A = second + 2 * NP * NP, .scratch = scratch};
    struct newton s = {.n = NP, .x = xi, .e = rows + 4 * NP, .live = (ivec)(p[0] == p[0])};
    newton(c, &s, NEWTON_MAX, half_correct, half_moving, 0, &of);
    group_apply(c, h, late, w, xi, q, p);
    c->top = top;
}

/* All halves, one behind the other; v: the velocity before, and that of the last half. */
INLINE void group_solve(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *v, vec *lam) {
    ARRAY(w, NM);
    (void)lam;
    for (long j = 0; j < VS; j++) {
        noise_weights(c, METHOD_DZ, V_BETA(j), V_GAMMA(j), dW, dZ, w);
        group_half(c, c->dt * V_B(j), V_TIME(j) != 0, w, v, q, p);
    }
}
#else
#include "kernel/text/vprk_joints.h"
#endif

INLINE void group_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ) {
    ARRAY(v, NP);
    ARRAY(mu, NC);
    ARRAY(lam, NC);
    ARRAY(G, JACOBIAN);
    ivec singular = {0}, lost = {0};
    for (long i = 0; i < NP; i++) v[i] = c->extra[i * VECS];
    for (long m = 0; m < NC; m++) mu[m] = lam[m] = vec_set(0);
    group_solve(c, q, p, dW, dZ, v, lam);
    model_G(c, q, G);
    project_velocity(c, time_at(c, 1), q, G, VPRK_PROJECT ? NC : 0, p, v, mu, &singular, &lost);
    lost &= (ivec)(p[0] == p[0]);
    if (vec_any(lost)) lanes_failed(c, &lost, LGV_FAIL_NEWTON);
    singular &= (ivec)(p[0] == p[0]);
    if (vec_any(singular)) lanes_failed(c, &singular, LGV_FAIL_SINGULAR);
    for (long i = 0; i < NP; i++) c->extra[i * VECS] = v[i];
    for (long m = 0; m < NC; m++) c->extra[(NP + m) * VECS] = (lam[m] + mu[m]) / c->dt;
}
