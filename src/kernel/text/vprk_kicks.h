/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Variational methods with one multiplier and all forces at q and q' on constant masses: kicks and a drift,
 *
 *     P = p + F(q) + G(q)^T lam,   q' = q + dt H_p(P),   g(q') = 0,   p' = P + F(q') + G(q')^T mu,   G(q') H_p(p') = 0.
 *
 * Only lam is unknown; in closed form for one quadratic constraint, else by Newton's method.  Include-free; a part of
 * methods/vprk.c. */

struct kept {
    struct force F;
    vec *C, *G, *MG, *mass; /* dense or SCALED: the rows G M^-1; sparse: M^-1, which is constant */
    vec *inverse;           /* of G M^-1 G^T: a number, or sparse factors and the lanes without; used twice */
};

INLINE struct kept kept_in(struct ctx *c, vec *carry) {
    (void)c; /* sizes of callback models come from it */
    vec *C = carry + NP + NHQ, *G = C + (CORRECTED ? NP : 0);
    vec *MG = G + JACOBIAN, *mass = MG + KEPT_ROWS;
    return (struct kept){{carry, carry + NP}, C, G, MG, mass, mass + KEPT_MASSES};
}

INLINE vec dot(struct ctx *c, const vec *a, const vec *b) {
    (void)c;
    vec sum = a[0] * b[0];
    for (long i = 1; i < NP; i++) ADD_PRODUCT(sum, a[i], b[i]);
    return sum;
}

#if MODEL_SPARSE
/* A = G1 M^-1 G^T. */
INLINE void kept_assemble(const struct kept *k, const vec *G1, vec *A) {
    if (SCALED)
        sparse_assemble_scaled(G1, k->MG, A);
    else
        sparse_assemble(G1, k->mass, k->G, A);
}
#endif

/* Force, gradient of the correction, and G at q. */
INLINE void keep(struct ctx *c, double t, const vec *q, const vec *p, struct kept *k) {
#if KICKS
#if !VPRK_FREE
    model_force(c, t, q, p, &k->F);
#endif
#if MODEL_FORCED && !VPRK_FREE && !FORCES_APART
    vec *top = c->top;
    ARRAY(push, NP); /* a force F(q, t): H_q - F in the place of H_q */
    model_push(c, t, q, p, push);
    for (long i = 0; i < NP; i++) k->F.H[i] -= push[i];
    c->top = top;
#endif
    model_G(c, q, k->G);
    if (!MODEL_SPARSE) constraint_rows(c, k->G, k->mass, k->MG);
    if (ONE_ROW) k->inverse[0] = 1.0 / dot(c, k->G, k->MG);
#if MODEL_SPARSE
    ivec bad;
    if (SCALED) sparse_scale(k->G, k->mass, k->MG);
    kept_assemble(k, k->G, k->inverse);
    sparse_factor(k->inverse, &bad);
    k->inverse[SPARSE_NA] = (vec)bad;
#endif
    if (CORRECTED) correction_gradient(c, t, q, k->G, k->mass, k->C);
#else
    (void)c, (void)t, (void)q, (void)p, (void)k;
#endif
}

INLINE void kick(struct ctx *c, const struct kept *k, double b, const vec *w, vec *p) {
#if KICKS && !VPRK_FREE
    model_kick(c, p, &k->F, b * c->dt, w);
    for (long i = 0; CORRECTED && i < NP; i++) ADD_PRODUCT(p[i], -b * c->dt * VPRK_CORRECTION * c->dt, k->C[i]);
#else
    (void)c, (void)k, (void)b, (void)w, (void)p;
#endif
}

/* Lanes that are live have no solution, those with infinite or NaN multipliers a singular system: NaN in
 * everything.  Where p is NaN the lane had failed before. */
static __attribute__((noinline, cold, unused)) void drift_failed(struct ctx *c, const vec *p, const vec *lam, vec *P,
                                                                 vec *Q, const ivec *live) {
    ivec known = (ivec)(p[0] == p[0]), stuck = known & *live, singular = known & ~vec_finite(lam[0]) & ~stuck, met;
    if (!vec_any(stuck | singular)) return;
    constraints_met(c, Q, &met); /* the rest was round-off of g, which near the origin is larger than that of q */
    stuck &= ~met;
    if (!VPRK_CHECKED) lanes_failed(c, &stuck, LGV_FAIL_NEWTON);
    if (!VPRK_CHECKED) lanes_failed(c, &singular, LGV_FAIL_SINGULAR);
    for (long i = 0; i < NP; i++) P[i] = vec_select(stuck | singular, vec_set(__builtin_nan("")), P[i]);
    for (long i = 0; i < NX; i++) Q[i] = vec_select(stuck | singular, vec_set(__builtin_nan("")), Q[i]);
}

/* b = (G1 M^-1 G^T)^-1 b,  x = M^-1 G^T b,  G and M those kept. */
INLINE void kept_solve(struct ctx *c, const struct kept *k, const vec *G1, vec *b, ivec *singular) {
    if (MODEL_SPARSE)
        constraint_solve(c, G1, k->mass, k->G, b, singular);
    else
        constraint_system(c, G1, k->MG, b, singular);
}

/* The same with G1 = G. */
INLINE void kept_solve_here(struct ctx *c, const struct kept *k, vec *b, ivec *singular) {
#if MODEL_SPARSE
    vec *top = c->top;
    ARRAY(work, NC);
    *singular = (ivec)k->inverse[SPARSE_NA];
    sparse_substitute(k->inverse, b, work, singular);
    c->top = top;
#else
    if (ONE_ROW) {
        b[0] *= k->inverse[0];
        *singular = ~vec_finite(b[0]);
    } else {
        constraint_system(c, k->G, k->MG, b, singular);
    }
#endif
}

/* Returns the size of x, or a bound of it: sum_k |b_k| size_k of the rows' sizes. */
INLINE vec kept_move(struct ctx *c, const struct kept *k, const vec *row_size, const vec *b, vec *x) {
    vec size = vec_set(0);
#if MODEL_SPARSE
    vec *top = c->top;
    ARRAY(impulse, SCALED ? 0 : NP);
    sparse_transposed(SCALED ? k->MG : k->G, b, SCALED ? x : impulse, &size);
    if (!SCALED) {
        sparse_multiply_mass(k->mass, impulse, x);
        size = vec_set(0);
        for (long i = 0; i < NP; i++) size += vec_abs(x[i]);
    }
    c->top = top;
    (void)row_size;
#else
    (void)c;
    for (long i = 0; i < NP; i++) {
        x[i] = k->MG[i] * b[0];
        for (long m = 1; m < NC; m++) ADD_PRODUCT(x[i], k->MG[m * NP + i], b[m]);
    }
    for (long m = 0; m < NC; m++) ADD_PRODUCT(size, vec_abs(b[m]), row_size[m]);
#endif
    return size;
}

#if ROTATIONS
#include "kernel/text/vprk_bodies.h"
#else
/* Q moves along M^-1 G(q)^T until g(Q) = 0, and e is -dt lam of that.  Where the velocities tangent at q lead to is
 * a good beginning: forces normal to the constraints, however large, then do nothing to q' but change lam. */
INLINE void tangent_point(struct ctx *c, const vec *q, const struct kept *kept, vec *Q, vec *e) {
    ARRAY(move, NP);
    ARRAY(row_size, NC);
    ivec now;
    for (long i = 0; i < NP; i++) move[i] = Q[i] - q[i];
    for (long k = 0; k < NC; k++) row_size[k] = vec_set(0);
    constraint_multiply(c, kept->G, move, e);
    kept_solve_here(c, kept, e, &now);
    kept_move(c, kept, row_size, e, move);
    for (long i = 0; i < NP; i++) Q[i] -= move[i];
}

/* One quadratic constraint is g - b e + a e^2/2 along the way from Q; g, a and b count in units of G M^-1 G^T at q.
 * The solution wanted grows from e = 0 at q as dt does: its slope b - a e = sqrt(b^2 - 2 a g) is positive.  At the
 * tangent point of a step s v, where b = 1 + beta s and g = gamma s^2/2, the root is that of
 *
 *     b^2 - 2 a g = (1 + beta s)^2 - a gamma s^2.
 *
 * For a gamma < 0 it never vanishes, and the solution exists for all s.  For a gamma > 0 the solution ends at the
 * first zero; until there b > 0, and beyond the second one b < 0.  For a gamma = 0 it ends at b = 0.  So there is none
 * where the root is imaginary, or b <= 0 and a g >= 0.  A point Q that lies `normal` away from the tangent point has
 * the same root and another b and g. */
struct quadric {
    vec half, b, g, root; /* a/2; root: NaN where there is no solution */
    ivec none;
};

INLINE struct quadric quadric_at(struct ctx *c, const struct kept *kept, const vec *Q, vec normal) {
    ARRAY(G1, JACOBIAN);
    ARRAY(a, 1);
    ARRAY(g, 1);
    struct quadric x;
    model_g(c, Q, g);
    model_G(c, Q, G1);
    model_bend(c, kept->MG, a);
    vec inverse = kept->inverse[0];
    x.half = 0.5 * a[0] * inverse;
    x.g = g[0] * inverse;
    x.b = dot(c, G1, kept->MG) * inverse;
    vec square = x.b * x.b - 4.0 * x.half * x.g, b = x.b - 2.0 * x.half * normal;
    ivec beyond = (ivec)(b <= 0.0) & (ivec)(x.half * (x.g - (x.b - x.half * normal) * normal) >= 0.0);
    square = vec_select(beyond, vec_set(-1.0), square);
    x.none = (ivec)(square < 0.0);
    x.root = vec_sqrt(square);
    return x;
}

/* The same from the tangent point, in the lanes `far` from it: their normal moves are not small against the
 * curvature.  A copy of all that is needed comes in `w` (q, Q, G, MG, inverse): what is handed over lives in memory,
 * and the usual way must not. */
static __attribute__((noinline, cold, unused)) void quadric_again(struct ctx *c, const ivec *far, vec *w, vec *e,
                                                                  vec *more, ivec *live) {
    struct kept kept = {.G = w + 2 * NP, .MG = w + 3 * NP, .inverse = w + 4 * NP};
    vec *top = c->top, *Q = w + NP;
    ARRAY(T, NP);
    ARRAY(normal, 1);
    for (long i = 0; i < NP; i++) T[i] = Q[i];
    tangent_point(c, w, &kept, T, normal);
    struct quadric x = quadric_at(c, &kept, T, vec_set(0));
    vec found = vec_select((ivec)(x.b > 0.0), 2.0 * x.g / (x.b + x.root), (x.b - x.root) / (2.0 * x.half));
    *live = (*live & ~*far) | (x.none & *far);
    for (long i = 0; i < NP; i++) Q[i] = vec_select(*far, T[i], Q[i]);
    *e = vec_select(*far, normal[0], *e);
    *more = vec_select(*far, found, *more);
    c->top = top;
}

INLINE void quadric_drift(struct ctx *c, const vec *q, const struct kept *kept, vec *Q, vec *e, ivec *live) {
    vec normal = kept->G[0] * (Q[0] - q[0]);
    for (long i = 1; i < NP; i++) ADD_PRODUCT(normal, kept->G[i], Q[i] - q[i]);
    struct quadric x = quadric_at(c, kept, Q, normal * kept->inverse[0]);
    vec more = 2.0 * x.g / (x.b + x.root);
    /* A proposal must not depend on what of p is normal: its way back has another normal part. */
    ivec far = VPRK_CHECKED ? ~(ivec){0} : (ivec)(vec_abs(x.b - 1.0) > 0.5);
    *live = x.none;
    e[0] = vec_set(0);
    if (RARELY(vec_any(far))) {
        vec *top = c->top, moved = vec_set(0), found = more;
        ARRAY(w, 4 * NP + 1);
        ivec none = *live, lanes = far;
        for (long i = 0; i < NP; i++) {
            w[i] = q[i];
            w[NP + i] = Q[i];
            w[2 * NP + i] = kept->G[i];
            w[3 * NP + i] = kept->MG[i];
        }
        w[4 * NP] = kept->inverse[0];
        quadric_again(c, &lanes, w, &moved, &found, &none);
        for (long i = 0; i < NP; i++) Q[i] = w[NP + i];
        e[0] = moved;
        more = found;
        *live = none;
        c->top = top;
    }
    for (long i = 0; i < NP; i++) ADD_PRODUCT(Q[i], -more, kept->MG[i]);
    e[0] += more;
}

#define NEWTON_LEFT (2e-16 / (double)NP)
/* The third move, which is small, takes the sparse factors of the second. */
#define NEWTON_AGAIN(round) (MODEL_SPARSE && (round) == 2)

struct along { /* M^-1 G(q)^T */
    const vec *q;
    const struct kept *kept;
    vec *Q, *sum, *e, *move, *row_size, *G1, *A, *work, moved, size;
    ivec bad; /* lanes whose factors in A are none */
};

/* e = (G(Q) M^-1 G(q)^T)^-1 e */
INLINE void along_solve(struct ctx *c, struct along *h, int round) {
    ivec singular = h->bad;
    if (!NEWTON_AGAIN(round)) model_G(c, h->Q, h->G1);
#if MODEL_SPARSE
    if (!NEWTON_AGAIN(round)) {
        kept_assemble(h->kept, h->G1, h->A);
        sparse_factor(h->A, &singular);
        h->bad = singular;
    }
    sparse_substitute(h->A, h->e, h->work, &singular);
#else
    constraint_system(c, h->G1, h->kept->MG, h->e, &singular);
#endif
}

/* Moves Q itself: in lanes that rest by 0. */
INLINE ivec along_correct(struct ctx *c, struct newton *s, void *of) {
    struct along *h = of;
    model_g(c, h->Q, h->e);
    along_solve(c, h, s->round);
    for (long k = 0; s->round > 1 && k < NC; k++) h->e[k] = vec_select(s->live, h->e[k], vec_set(0));
    for (long k = 0; k < NC; k++) h->sum[k] += h->e[k];
    h->moved = kept_move(c, h->kept, h->row_size, h->e, h->move);
    for (long i = 0; i < NP; i++) {
        h->Q[i] -= h->move[i];
        if (s->round == 0) h->size += vec_select((ivec)(h->move[i] == 0.0), vec_set(0), vec_abs(h->q[i]));
    }
    return (ivec){0}; /* a singular lane shows in lam */
}

/* A lane is done when the error left, e^3 / e_before^2 by quadratic convergence, or e^2 / e_before by old factors, is
 * below round-off of the coordinates that move; after three moves also by the rule of still_moving, where round-off is
 * larger than that. */
INLINE ivec along_moving(struct ctx *c, struct newton *s, void *of) {
    struct along *h = of;
    vec moved = h->moved, before = s->last, length = vec_set(0);
    ivec far = ~(ivec){0};
    (void)c;
    if (NEWTON_AGAIN(s->round)) {
        far = (ivec)(moved * moved > NEWTON_LEFT * h->size * before) & (ivec)(moved > 2e-15 * h->size);
    } else {
        if (s->round > 0) far = (ivec)(moved * moved * moved > NEWTON_LEFT * h->size * before * before);
        for (long i = 0; s->round > 1 && i < NP; i++) length += vec_abs(h->Q[i] - h->q[i]);
        if (s->round > 1) far &= (ivec)(moved > NEWTON_RATE * length + 2e-15 * h->size);
    }
    s->last = moved;
    return far;
}

/* Newton's method from Q on, two moves at least; sum grows by what they add to e.  *live: lanes without a solution. */
INLINE void newton_drift(struct ctx *c, const vec *q, const struct kept *kept, vec *Q, vec *sum, ivec *live) {
    ARRAY(e, NC);
    ARRAY(move, NP);
    ARRAY(row_size, NC);
    ARRAY(G1, JACOBIAN);
#if MODEL_SPARSE
    ARRAY(A, SPARSE_NA);
    ARRAY(work, NC);
#else
    vec *A = 0, *work = 0;
#endif
    for (long k = 0; k < NC; k++) {
        row_size[k] = vec_set(0);
        for (long i = 0; !MODEL_SPARSE && i < NP; i++) row_size[k] += vec_abs(kept->MG[k * NP + i]);
    }
    struct along h = {q, kept, Q, sum, e, move, row_size, G1, A, work, vec_set(0), vec_set(0), {0}};
    struct newton s = {.live = ~(ivec){0}};
    newton_iterate(c, &s, NEWTON_MAX, along_correct, along_moving, 0, &h);
    *live = s.round < NEWTON_MAX ? (ivec){0} : s.live;
}

/* P = p + G(q)^T lam so that g(q + dt H_p(P)) = 0; the end point in Q. */
INLINE void constrained_drift(struct ctx *c, const vec *q, const vec *p, const struct kept *kept, vec *P, vec *Q,
                              vec *lam) {
    ARRAY(move, NP);
    ivec live;
    model_K1(c, time_at(c, 0.5), q, p, c->dt, no_noise, 0, move);
    for (long i = 0; i < NP; i++) {
        Q[i] = q[i] + move[i];
        P[i] = p[i];
    }
    if (NC == 0) return;
    if (MODEL_QUADRIC) {
        quadric_drift(c, q, kept, Q, lam, &live);
    } else {
        tangent_point(c, q, kept, Q, lam);
        newton_drift(c, q, kept, Q, lam, &live);
    }
    for (long k = 0; k < NC; k++) lam[k] *= -1 / c->dt;
    constraint_add(c, kept->G, lam, P);
    if (RARELY(!vec_all(vec_finite(lam[0])) || (!MODEL_QUADRIC && vec_any(live)))) drift_failed(c, p, lam, P, Q, &live);
}

#endif

/* Lanes whose step of momentum -P from q', k being what is kept there, does not lead back to q.  The solution that is
 * found depends on the part of P that is tangent at q' alone, so kicks need not be repeated; that it is q once more
 * makes the step an involution up to the sign of p: Zappa, Holmes-Cerfon & Goodman (2018), doi 10.1002/cpa.21783,
 * Lelievre, Rousset & Stoltz (2019), doi 10.1007/s00211-019-01056-4.  Another solution is a finite distance away. */
INLINE ivec no_way_back(struct ctx *c, const vec *q, const vec *end, const vec *P, const struct kept *k) {
    vec *top = c->top, off = vec_set(0), size = vec_set(0);
    ARRAY(minus, NP);
    ARRAY(back, NP);
    ARRAY(Q, NX);
    ARRAY(lam, NC);
    for (long i = 0; i < NP; i++) minus[i] = -P[i];
    constrained_drift(c, end, minus, k, back, Q, lam);
    for (long i = 0; i < NX; i++) {
        off += vec_abs(Q[i] - q[i]);
        size += vec_abs(q[i]) + vec_abs(end[i] - q[i]);
    }
    c->top = top;
    return ~(ivec)(off <= 1e-8 * size); /* NaN: no solution */
}

#if DRAGGED == 2
/* The same with friction implicit, A = 1 + dt Gamma M^-1: P = A^-1 (p + G(q)^T lam), q' = q + dt H_p(P), or with
 * rotations the free motion from (q, P), whose impulse is A^-1 G^T lam then.  Where the constraints are many A is a
 * number, and lam counts in units of it. */
INLINE void dragged_drift(struct ctx *c, const vec *q, vec *p, const struct kept *k, vec *P, vec *Q, vec *lam) {
    bath_relax(c, q, c->dt, p);
#if MODEL_SPARSE
    constrained_drift(c, q, p, k, P, Q, lam);
#else
    ARRAY(AG, ROTATIONS ? NC * NP : 0);
    ARRAY(MG, NC * NP);
    ARRAY(inverse, 1);
    struct kept slow = *k;
    for (long m = 0; m < NC; m++) {
        for (long i = 0; i < NP; i++) MG[m * NP + i] = k->G[m * NP + i];
        bath_relax(c, q, c->dt, MG + m * NP);
        for (long i = 0; ROTATIONS && i < NP; i++) AG[m * NP + i] = MG[m * NP + i];
        apply_masses(c, 0.0, q, 0, MG + m * NP);
    }
    if (ROTATIONS) slow.G = AG;
    if (ONE_ROW) inverse[0] = 1.0 / dot(c, slow.G, MG);
    slow.MG = MG;
    slow.inverse = inverse;
    constrained_drift(c, q, p, &slow, P, Q, lam);
    if (ROTATIONS) return;
    for (long i = 0; i < NP; i++) P[i] -= p[i];
    bath_relax(c, q, c->dt, P);
    for (long i = 0; i < NP; i++) P[i] += p[i];
#endif
}
#endif

/* Stages lie at q (their row of a vanishes) or at q'. */
INLINE void kicks_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    double b[2] = {0, 0}, beta[2] = {0, 0}, gamma[2] = {0, 0};
    struct kept k = kept_in(c, carry);
    ARRAY(w, NM);
    ARRAY(P, NP);
    ARRAY(Q, NX);
    ARRAY(v, NP);
    ARRAY(lam, NC);
    ARRAY(mu, NC);
    ARRAY(old, VPRK_CHECKED ? NX : 0);
    ivec singular = {0};
    vec *top = c->top;
    for (long j = 0; j < VS; j++) {
        int end = V_TIME(j) != 0;
        b[end] += V_B(j);
        beta[end] += V_BETA(j);
        gamma[end] += V_GAMMA(j);
    }
    noise_weights(c, METHOD_DZ, beta[0], gamma[0], dW, dZ, w);
    kick(c, &k, b[0], w, p);
#if DRAGGED == 2
    dragged_drift(c, q, p, &k, P, Q, lam);
#else
    constrained_drift(c, q, p, &k, P, Q, lam);
#endif
    c->top = top;
    for (long i = 0; i < NX; i++) {
        if (VPRK_CHECKED) old[i] = q[i];
        q[i] = Q[i];
    }
    for (long i = 0; i < NP; i++) p[i] = P[i];
    keep(c, time_at(c, 1), q, p, &k);
    ivec lost = VPRK_CHECKED && NC > 0 ? no_way_back(c, old, q, P, &k) : (ivec){0};
    noise_weights(c, METHOD_DZ, beta[1], gamma[1], dW, dZ, w);
    kick(c, &k, b[1], w, p);
    for (long m = 0; m < NC; m++) mu[m] = vec_set(0);
    if (NC > 0 && VPRK_PROJECT) {
        model_K1(c, time_at(c, 1), q, p, 1.0, no_noise, 0, v);
        constraint_multiply(c, k.G, v, mu);
        for (long m = 0; m < NC; m++) mu[m] = -mu[m];
        kept_solve_here(c, &k, mu, &singular);
        constraint_add(c, k.G, mu, p);
    }
    if (VPRK_CHECKED) {
        lost |= singular;
        for (long i = 0; i < NX; i++) q[i] = vec_select(lost, vec_set(__builtin_nan("")), q[i]);
        for (long i = 0; i < NP; i++) p[i] = vec_select(lost, vec_set(__builtin_nan("")), p[i]);
    } else if (NC > 0 && RARELY(vec_any(singular))) {
        singular &= (ivec)(v[0] == v[0]);
        lanes_failed(c, &singular, LGV_FAIL_SINGULAR);
    }
    for (long m = 0; m < NC; m++) c->extra[m * VECS] = (lam[m] + mu[m]) * (1 / c->dt);
}
