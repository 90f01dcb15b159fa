/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The projections of constrained.h for Lagrangians with many coordinates: G and the second derivatives have the entries
 * of one pattern (pattern.h), whose nodes are the coordinates and behind them, as a border, the constraints.  The
 * system of both,
 *
 *     [ L_vv  -G^T ] [ x ]   [ r ]
 *     [ G      0   ] [ y ] = [ s ],
 *
 * is eliminated in an order in which a constraint comes behind all its coordinates, so that no exchange is needed:
 * every leading part has as many independent constraints as it has rows of G, and L_vv is positive definite.
 * Include-free; a part of constrained.h. */

/* Entry e of the border, which is entry PATTERN_BORDER + e of the pattern; the last of a row is its empty diagonal. */
#define BORDER_BEGIN(k) (pattern_row[NP + (k)] - PATTERN_BORDER)
#define BORDER_END(k) (pattern_row[NP + (k) + 1] - PATTERN_BORDER - 1)
#define BORDER_COL(e) pattern_col[PATTERN_BORDER + (e)]
#define BORDER_PLACE(e) pattern_place[PATTERN_BORDER + (e)]
#define BORDER_ACROSS(e) pattern_place[pattern_mirror[PATTERN_BORDER + (e)]]

/* y = G x */
OUTLINE void long_multiply(const vec *G, const vec *x, vec *y) {
    for (long k = 0; k < NC; k++) {
        y[k] = vec_set(0);
        for (long e = BORDER_BEGIN(k); e < BORDER_END(k); e++) ADD_PRODUCT(y[k], G[e], x[BORDER_COL(e)]);
    }
}

/* x += G^T y */
OUTLINE void long_add(const vec *G, const vec *y, vec *x) {
    for (long k = 0; k < NC; k++)
        for (long e = BORDER_BEGIN(k); e < BORDER_END(k); e++) ADD_PRODUCT(x[BORDER_COL(e)], G[e], y[k]);
}

/* (x, y) replaces (r, s); with nc = 0 there are no constraints, and y = s. */
OUTLINE ivec long_solve(struct ctx *c, const vec *Lvv, const vec *G, long nc, vec *r) {
    vec *top = c->top;
    ARRAY(A, PATTERN_BLOCKS(1));
    ARRAY(scratch, PATTERN_SCRATCH(1));
    pattern_clear(1, A);
    for (long e = 0; e < PATTERN_BORDER; e++) A[pattern_place[e]] += Lvv[e];
    for (long k = 0; k < NC; k++) {
        if (nc == 0) A[BORDER_PLACE(BORDER_END(k))] = vec_set(1);
        for (long e = BORDER_BEGIN(k); nc > 0 && e < BORDER_END(k); e++) {
            A[BORDER_PLACE(e)] = G[e];
            A[BORDER_ACROSS(e)] = -G[e];
        }
    }
    ivec lost = pattern_solve(1, A, r, scratch);
    c->top = top;
    return lost;
}

/* velocity_correct of constrained.h. */
INLINE ivec long_velocity(struct ctx *c, struct newton *s, struct velocity *h) {
    const long nc = h->nc;
    const vec *v = s->x, *mu = s->x + NP;
    vec *r = s->e, left = vec_set(0), parts = vec_set(0), hidden = vec_set(0), speed = vec_set(0);
    ARRAY(pull, NP);
    model_L2(c, h->t, h->q, v, 1.0, no_noise, 0, r, 0, 0, h->Lvv);
    for (long i = 0; i < NP; i++) pull[i] = vec_set(0);
    for (long i = NP; i < NP + NC; i++) r[i] = vec_set(0);
    if (nc) {
        long_add(h->G, mu, pull);
        long_multiply(h->G, v, r + NP);
    }
    vec fast = vec_set(0);
    for (long i = 0; i < NP; i++) {
        parts += vec_abs(r[i]) + vec_abs(h->p[i]) + vec_abs(pull[i]);
        r[i] = r[i] - h->p[i] - pull[i];
        left += vec_abs(r[i]);
        fast = vec_max(fast, vec_abs(v[i]));
    }
    for (long k = 0; k < nc; k++) {
        hidden += vec_abs(r[NP + k]);
        for (long e = BORDER_BEGIN(k); e < BORDER_END(k); e++) speed += vec_abs(h->G[e]) * fast;
    }
    ivec done = (ivec)(left <= 1e-14 * parts) & (ivec)(hidden <= 1e-14 * speed);
    if (s->round > 0) s->live &= ~done;
    h->outside = s->round > 0 && !MODEL_QUADRATIC_L ? left_domain(NP, r, s->live) : (ivec){0};
    ivec singular = long_solve(c, h->Lvv, h->G, nc, r);
    if (!MODEL_QUADRATIC_L) damp(NP + nc, h->outside, r, h->last);
    return singular & ~h->outside;
}

/* onto_correct of constrained.h: e along M^-1 G^T with G e = g. */
INLINE ivec long_onto(struct ctx *c, struct newton *s, struct onto *h) {
    ARRAY(Lvv, SECOND);
    ARRAY(r, NP + NC);
    for (long i = 0; i < NP; i++) r[i] = vec_set(0);
    model_L2(c, h->t, s->x, h->v, 1.0, no_noise, 0, 0, 0, 0, Lvv);
    model_G(c, s->x, h->G);
    model_g(c, s->x, r + NP);
    ivec singular = long_solve(c, Lvv, h->G, NC, r);
    for (long i = 0; i < NP; i++) s->e[i] = r[i];
    return singular;
}
