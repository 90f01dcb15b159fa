/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Linear algebra of constraints g(q) = 0 with Jacobian G, and the projections onto the constraint set T*S:
 *
 *     positions   q += M^-1 G^T y until g(q) = 0                    (rotations turn by it)
 *     momenta     p += G^T mu so that G v(q, p) = 0, v the velocity that belongs to (q, p)        (hidden constraint)
 *
 * v = H_p for models with constant masses (H-face), L_v(q, v) = p for a Lagrangian (MODEL_L), whose velocities are
 * rows of the state.  NC may be 0: everything then disappears.  Include-free; it follows stages.h. */
#define CONSTRAINED 1

#if MODEL_SPARSE
#define JACOBIAN SPARSE_NG
#define MASSES SPARSE_NM
#elif MODEL_L && MODEL_LONG
#define JACOBIAN (PATTERN_NE - PATTERN_BORDER)
#define MASSES 0
#else
#define JACOBIAN (NC * NP)
#define MASSES (NP * NP)
#endif
#define MASSES_NEEDED ((MODEL_L && !MODEL_LONG) || MODEL_SPARSE) /* else H_p says what they do to a vector */

#ifdef LGV_HOST /* how many there are is known at run time */
#define NC_NONE 0
#else
#define NC_NONE (NC == 0)
static const vec no_noise[NM + 1] = {{0}}; /* weights of the derivatives of H or L alone */
#endif

#if NC_NONE
INLINE void model_g(struct ctx *c, const vec *q, vec *g) {
    (void)c, (void)q, (void)g;
}
INLINE void model_G(struct ctx *c, const vec *q, vec *G) {
    (void)c, (void)q, (void)G;
}
INLINE void model_gsize(struct ctx *c, const vec *q, vec *g) {
    (void)c, (void)q, (void)g;
}
INLINE void model_GT(struct ctx *c, const vec *q, const vec *lambda, vec *x) {
    (void)c, (void)q, (void)lambda;
    for (long i = 0; i < NP; i++) x[i] = vec_set(0);
}
INLINE void model_S2(struct ctx *c, const vec *q, const vec *lambda, vec *Sqq) {
    (void)c, (void)q, (void)lambda;
    for (long i = 0; i < NP * NP; i++) Sqq[i] = vec_set(0);
}
INLINE void model_bend(struct ctx *c, const vec *q, vec *x) {
    (void)c, (void)q, (void)x;
    __builtin_trap();
}
#define MODEL_QUADRIC 0
#endif

/* ---- linear algebra ---- */

#if MODEL_L && MODEL_LONG
OUTLINE void long_multiply(const vec *G, const vec *x, vec *y);
OUTLINE void long_add(const vec *G, const vec *y, vec *x);
#endif

/* y = G x */
INLINE void constraint_multiply(struct ctx *c, const vec *G, const vec *x, vec *y) {
    (void)c; /* sizes of callback models come from it */
#if MODEL_SPARSE
    sparse_multiply(G, x, y);
#elif MODEL_L && MODEL_LONG
    long_multiply(G, x, y);
#else
    for (long k = 0; k < NC; k++) {
        y[k] = vec_set(0);
        for (long i = 0; i < NP; i++) ADD_PRODUCT(y[k], G[k * NP + i], x[i]);
    }
#endif
}

/* x += G^T y */
INLINE void constraint_add(struct ctx *c, const vec *G, const vec *y, vec *x) {
    (void)c; /* sizes of callback models come from it */
#if MODEL_SPARSE
    sparse_multiply_transposed(G, y, x);
#elif MODEL_L && MODEL_LONG
    long_add(G, y, x);
#else
    for (long k = 0; k < NC; k++)
        for (long i = 0; i < NP; i++) ADD_PRODUCT(x[i], G[k * NP + i], y[k]);
#endif
}

/* x = M^-1 x: for constant masses H_p(x) - H_p(0), which knows their pattern. */
INLINE void apply_masses(struct ctx *c, double t, const vec *q, const vec *mass, vec *x) {
    vec *top = c->top;
    ARRAY(y, NP);
    ARRAY(z, NP);
    if (MODEL_L) {
        for (long i = 0; i < NP; i++) {
            y[i] = vec_set(0);
            for (long j = 0; j < NP; j++) ADD_PRODUCT(y[i], mass[i * NP + j], x[j]);
        }
        for (long i = 0; i < NP; i++) x[i] = y[i];
    } else {
        for (long i = 0; i < NP; i++) z[i] = vec_set(0);
        model_K1(c, t, q, z, 1.0, no_noise, 0, y);
        model_K1(c, t, q, x, 1.0, no_noise, 0, z);
        for (long i = 0; i < NP; i++) x[i] = z[i] - y[i];
    }
    c->top = top;
}

/* The rows of G mass, which are symmetric masses applied to those of G.  Constant masses are the same at any point. */
INLINE void constraint_rows(struct ctx *c, const vec *G, const vec *mass, vec *MG) {
    for (long k = 0; k < NC; k++) {
        for (long i = 0; i < NP; i++) MG[k * NP + i] = G[k * NP + i];
        apply_masses(c, 0.0, G, mass, MG + k * NP);
    }
}

/* b = (G1 MG^T)^-1 b, dense; MG from constraint_rows.  Not finite where the system is singular. */
INLINE void constraint_system(struct ctx *c, const vec *G1, const vec *MG, vec *b, ivec *singular) {
    vec *top = c->top;
    *singular = (ivec){0};
#if !NC_NONE
    ARRAY(A, NC * NC);
    ARRAY(scratch, SYSTEM_SCRATCH(NC));
    for (long k = 0; k < NC; k++)
        for (long l = 0; l < NC; l++) {
            vec sum = G1[k * NP] * MG[l * NP];
            for (long i = 1; i < NP; i++) ADD_PRODUCT(sum, G1[k * NP + i], MG[l * NP + i]);
            A[k * NC + l] = sum;
        }
    *singular = system_solve(SYSTEM_GRAM, NC, A, b, scratch);
#else
    (void)G1, (void)MG, (void)b;
#endif
    c->top = top;
}

/* b = (G1 mass G0^T)^-1 b */
INLINE void constraint_solve(struct ctx *c, const vec *G1, const vec *mass, const vec *G0, vec *b, ivec *singular) {
    vec *top = c->top;
#if MODEL_SPARSE
    ARRAY(A, SPARSE_NA);
    ARRAY(work, NC);
    sparse_assemble(G1, mass, G0, A);
    *singular = system_solve(SYSTEM_SPARSE, NC, A, b, work);
#else
    ARRAY(MG, NC * NP);
    constraint_rows(c, G0, mass, MG);
    constraint_system(c, G1, MG, b, singular);
#endif
    c->top = top;
}

/* M^-1: constant for the H-face, the inverse of L_vv for a Lagrangian (dense). */
INLINE void constraint_masses(struct ctx *c, double t, const vec *q, const vec *v, vec *mass) {
    vec *top = c->top;
    if (MODEL_L) {
        ARRAY(Lvv, NP * NP);
        ARRAY(A, NP * NP);
        ARRAY(b, NP);
        ARRAY(scratch, SYSTEM_SCRATCH(NP));
        model_L2(c, t, q, v, 1.0, no_noise, 0, 0, 0, 0, Lvv);
        for (long j = 0; j < NP; j++) {
            for (long i = 0; i < NP * NP; i++) A[i] = Lvv[i];
            for (long i = 0; i < NP; i++) b[i] = vec_set(i == j ? 1.0 : 0.0);
            (void)system_solve(SYSTEM_ANY, NP, A, b, scratch); /* where L_vv is singular, mass is NaN */
            for (long i = 0; i < NP; i++) mass[i * NP + j] = b[i];
        }
    } else {
        model_mass(c, q, v, mass);
    }
    c->top = top;
}

/* Lanes whose g is round-off of the terms it consists of: nothing is left to solve, however small the positions are. */
static __attribute__((noinline, cold, unused)) void constraints_met(struct ctx *c, const vec *q, ivec *met) {
    vec *top = c->top;
    ARRAY(g, NC);
    ARRAY(size, NC);
    model_g(c, q, g);
    model_gsize(c, q, size);
    *met = ~(ivec){0};
    for (long k = 0; k < NC; k++) *met &= (ivec)(vec_abs(g[k]) <= 4e-15 * size[k]);
    c->top = top;
}

/* ---- projections ---- */

/* Equations of the velocities have the units of p and of g, unknowns those of v and of multipliers: with the sizes m
 * of the masses and s of G, rows divided by m and s and multipliers counted in m / s are all of the size of 1. */
INLINE vec largest_of(const vec *x, long count, long stride) {
    vec most = vec_set(0);
    for (long i = 0; i < count; i++) most = vec_max(most, vec_abs(x[i * stride]));
    return vec_select((ivec)(most > 0.0), most, vec_set(1));
}

/* Of the lanes that are live, those whose residual is not finite: their last move has left the domain of the formulas,
 * as |v| < 1 of sqrt(1 - v^2).  They go back half of it instead of taking a new one. */
INLINE ivec left_domain(long n, const vec *r, ivec live) {
    vec sum = vec_set(0);
    for (long i = 0; i < n; i++) sum += vec_abs(r[i]);
    return live & ~vec_finite(sum);
}

/* What to take off the unknowns: the solution r, kept in `last`, or minus half of the last one. */
INLINE void damp(long n, ivec outside, vec *r, vec *last) {
    if (RARELY(vec_any(outside)))
        for (long i = 0; i < n; i++) {
            last[i] *= vec_select(outside, vec_set(0.5), vec_set(1));
            r[i] = vec_select(outside, -last[i], r[i]);
        }
    for (long i = 0; i < n; i++) last[i] = vec_select(outside, last[i], r[i]);
}

/* L_v(q, v) [+ drag Gamma v] = p + G^T mu, G v = 0, in (v, mu). */
struct velocity {
    double t, drag;
    long nc; /* NC, or 0: no G */
    const vec *q, *p, *G;
    vec size; /* of G */
    vec *Lvv, *A, *scratch, *last;
    ivec outside;
};

/* g(q) = 0 along M^-1 G^T. */
struct onto {
    double t;
    vec *v, *G, *mass, *g;
};

#if MODEL_L && MODEL_LONG
#include "kernel/text/constrained_long.h"
#endif

INLINE ivec velocity_correct(struct ctx *c, struct newton *s, void *of) {
    struct velocity *h = of;
#if MODEL_L && MODEL_LONG
    return long_velocity(c, s, h);
#else
    const long n = s->n, nc = h->nc;
    const vec *G = h->G, *v = s->x, *mu = s->x + NP;
    vec *r = s->e, *A = h->A, *Lvv = h->Lvv, size = h->size;
    vec left = vec_set(0), parts = vec_set(0), hidden = vec_set(0), speed = vec_set(0);
    model_L2(c, h->t, h->q, v, 1.0, no_noise, 0, r, 0, 0, Lvv);
#if NB
    if (h->drag != 0) bath_resist(c, -h->drag, h->q, v, r, Lvv);
#endif
    vec m = largest_of(Lvv, NP, NP + 1);
    for (long i = 0; i < NP; i++) {
        parts += vec_abs(r[i]) + vec_abs(h->p[i]);
        r[i] -= h->p[i];
        for (long k = 0; k < nc; k++) {
            ADD_PRODUCT(r[i], -G[k * NP + i], mu[k]);
            parts += vec_abs(G[k * NP + i] * mu[k]);
        }
        left += vec_abs(r[i]);
        r[i] = r[i] / m;
        for (long j = 0; j < NP; j++) A[i * n + j] = Lvv[i * NP + j] / m;
        for (long k = 0; k < nc; k++) {
            A[i * n + NP + k] = -G[k * NP + i] / size;
            A[(NP + k) * n + i] = G[k * NP + i] / size;
        }
    }
    for (long k = 0; k < nc; k++) {
        r[NP + k] = vec_set(0);
        for (long i = 0; i < NP; i++) {
            r[NP + k] += G[k * NP + i] * v[i] / size;
            speed += vec_abs(G[k * NP + i] * v[i] / size);
        }
        hidden += vec_abs(r[NP + k]);
        for (long l = 0; l < nc; l++) A[(NP + k) * n + NP + l] = vec_set(0);
    }
    /* round-off of p moves v by its part of p / m */
    ivec done = (ivec)(left <= 1e-14 * parts) & (ivec)(hidden <= 1e-14 * (speed + parts / m));
    if (s->round > 0) s->live &= ~done;
    h->outside = s->round > 0 && !MODEL_QUADRATIC_L ? left_domain(NP, r, s->live) : (ivec){0};
    ivec singular = system_solve(SYSTEM_ANY, n, A, r, h->scratch);
    for (long k = 0; k < nc; k++) r[NP + k] *= m / size; /* moves of mu itself: damping goes back by what was moved */
    if (!MODEL_QUADRATIC_L) damp(n, h->outside, r, h->last);
    return singular & ~h->outside;
#endif
}

INLINE ivec velocity_moving(struct ctx *c, struct newton *s, void *of) {
    struct velocity *h = of;
    (void)c;
    return still_moving(NP, s->e, s->x, s->x, 1e-9) | h->outside;
}

/* Newton's method for them; one step is exact for quadratic L.  p becomes p + G^T mu.  With no G it finds the velocity
 * that belongs to p.  *lost: no solution found. */
INLINE void dragged_velocity(struct ctx *c, double t, double drag, const vec *q, const vec *G, long nc, vec *p, vec *v,
                             vec *mu, ivec *singular, ivec *lost) {
    vec *top = c->top;
    ARRAY(Lvv, SECOND);
    ARRAY(A, MODEL_LONG ? 0 : (NP + NC) * (NP + NC));
    ARRAY(scratch, MODEL_LONG ? 0 : SYSTEM_SCRATCH(NP + NC));
    ARRAY(x, NP + NC);
    ARRAY(r, NP + NC);
    ARRAY(last, NP + NC);
    ivec known = (ivec)(p[0] == p[0]);
    vec size = nc ? largest_of(G, JACOBIAN, 1) : vec_set(1);
    struct velocity h = {t, drag, nc, q, p, G, size, Lvv, A, scratch, last, {0}};
    struct newton s = {.n = NP + nc, .x = x, .e = r, .live = known};
    for (long i = 0; i < NP + nc; i++) x[i] = i < NP ? v[i] : vec_set(0);
    newton_iterate(c, &s, MODEL_QUADRATIC_L ? 1 : NEWTON_MAX, velocity_correct, velocity_moving, 0, &h);
    for (long i = 0; i < NP; i++) v[i] = x[i];
    for (long k = 0; k < nc; k++) mu[k] = x[NP + k];
    *singular = s.singular & known;
    *lost = MODEL_QUADRATIC_L ? (ivec){0} : s.live;
    if (nc) constraint_add(c, G, mu, p);
    c->top = top;
}

INLINE void project_velocity(struct ctx *c, double t, const vec *q, const vec *G, long nc, vec *p, vec *v, vec *mu,
                             ivec *singular, ivec *lost) {
    dragged_velocity(c, t, 0.0, q, G, nc, p, v, mu, singular, lost);
}

/* p += G^T mu with G v = 0; the velocity is left in v. */
INLINE void project_momentum(struct ctx *c, double t, const vec *q, const vec *G, const vec *mass, vec *p, vec *v,
                             vec *mu, ivec *singular, ivec *lost) {
    if (MODEL_L) {
        project_velocity(c, t, q, G, NC, p, v, mu, singular, lost);
        return;
    }
    *lost = (ivec){0};
    vec *top = c->top;
    ARRAY(Kp, NP);
    model_K1(c, t, q, p, 1.0, no_noise, 0, Kp);
    constraint_multiply(c, G, Kp, mu);
    for (long k = 0; k < NC; k++) mu[k] = -mu[k];
    constraint_solve(c, G, mass, G, mu, singular);
    constraint_add(c, G, mu, p);
    c->top = top;
}

#define START_MAX 100

INLINE ivec onto_correct(struct ctx *c, struct newton *s, void *of) {
    struct onto *h = of;
#if MODEL_L && MODEL_LONG
    return long_onto(c, s, h);
#else
    ivec singular;
    model_g(c, s->x, h->g);
    model_G(c, s->x, h->G);
    if (MASSES_NEEDED) constraint_masses(c, h->t, s->x, h->v, h->mass);
    constraint_solve(c, h->G, h->mass, h->G, h->g, &singular);
    for (long i = 0; i < NP; i++) s->e[i] = vec_set(0);
    constraint_add(c, h->G, h->g, s->e);
    apply_masses(c, h->t, s->x, h->mass, s->e);
#if ROTATIONS /* moves them itself */
    for (long i = 0; i < NP; i++) s->e[i] = -s->e[i];
    configuration_move(s->live, s->e, s->x);
#endif
    return singular;
#endif
}

INLINE ivec onto_moving(struct ctx *c, struct newton *s, void *of) {
    vec size = vec_set(0), moved = vec_set(0);
    (void)of;
    for (long i = 0; i < NX; i++) size += vec_abs(s->x[i]);
    for (long i = 0; i < NP; i++) moved += vec_abs(s->e[i]);
    ivec far = (ivec)(moved > 1e-15 * size), met;
    if (s->round < 3 || !vec_any(s->live & far)) return far;
    constraints_met(c, s->x, &met);
    return far & ~met;
}

/* A state near T*S onto it; mu is what moved the momenta.  Lanes where that fails are marked with `reason`. */
static __attribute__((noinline)) void project_onto(struct ctx *c, vec *q, vec *p, vec *v, vec *mu, int reason) {
    double t = time_at(c, 0);
    vec *top = c->top;
    ARRAY(G, JACOBIAN);
    ARRAY(mass, MASSES_NEEDED ? MASSES : 0);
    ARRAY(g, NC);
    ARRAY(x, NP);
    ivec known = (ivec)(p[0] == p[0]), lost = {0}, singular, unsolved;
    if (NC > 0 && vec_any(known)) {
        struct onto h = {t, v, G, mass, g};
        struct newton s = {.n = ROTATIONS ? 0 : NP, .x = q, .e = x, .live = known};
        newton_iterate(c, &s, START_MAX, onto_correct, onto_moving, 0, &h);
        lost = s.live | s.singular;
    }
    model_G(c, q, G);
    if (MASSES_NEEDED) constraint_masses(c, t, q, v, mass);
    project_momentum(c, t, q, G, mass, p, v, mu, &singular, &unsolved);
    lost |= (singular | unsolved) & (ivec)(p[0] == p[0]);
    if (vec_any(lost)) lanes_failed(c, &lost, reason);
    c->top = top;
}

/* The same for the start of a path. */
INLINE void project_state(struct ctx *c, vec *q, vec *p, vec *v) {
    vec *top = c->top;
    ARRAY(mu, NC);
    project_onto(c, q, p, v, mu, LGV_FAIL_PROJECT);
    c->top = top;
}

/* Momenta into the cotangent space at q: letters of splitting words. */
INLINE void onto_tangent(struct ctx *c, const vec *q, vec *p) {
    double t = time_at(c, 0);
    ARRAY(G, JACOBIAN);
    ARRAY(mass, MASSES_NEEDED ? MASSES : 0);
    ARRAY(v, NP);
    ARRAY(mu, NC);
    ivec singular, lost;
    model_G(c, q, G);
    if (MASSES_NEEDED) constraint_masses(c, t, q, v, mass);
    project_momentum(c, t, q, G, mass, p, v, mu, &singular, &lost);
    lost = singular & (ivec)(p[0] == p[0]);
    if (RARELY(vec_any(lost))) lanes_failed(c, &lost, LGV_FAIL_SINGULAR);
}

/* Rows for the certificate: the largest |g_k| and |(G v)_k|. */
INLINE void observe_constraints(struct ctx *c, const vec *q, const vec *p, const vec *rows, vec *seen) {
#if !NC_NONE
    vec *top = c->top, most[2] = {vec_set(0), vec_set(0)};
    ARRAY(G, JACOBIAN);
    ARRAY(g, NC);
    ARRAY(v, NP);
    if (MODEL_L)
        for (long i = 0; i < NP; i++) v[i] = rows[i];
    else
        model_K1(c, 0.0, q, p, 1.0, no_noise, 0, v);
    model_g(c, q, g);
    for (long k = 0; k < NC; k++) most[0] = vec_max(most[0], vec_abs(g[k]));
    model_G(c, q, G);
    constraint_multiply(c, G, v, g);
    for (long k = 0; k < NC; k++) most[1] = vec_max(most[1], vec_abs(g[k]));
    seen[WATCH_CONSTRAINT] = most[0];
    seen[WATCH_CONSTRAINT + 1] = most[1];
    c->top = top;
#else
    (void)c, (void)q, (void)p, (void)rows, (void)seen;
#endif
}
