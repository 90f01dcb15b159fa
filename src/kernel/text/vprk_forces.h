/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Forces F(q, p, t) without a potential, and friction with its bath, in variational methods whose stages lie at q and
 * q': the discrete Lagrange-d'Alembert principle with forces at the ends of the step,
 *
 *     p_0 = p + b dt F(q, p, t) [- dt Gamma v(q, p) + sqrt(2 kT Gamma) dB],   the step from (q, p_0) to (q', p_1),
 *     p' = p_1 + b' dt F(q', p', t') + G(q')^T mu,   G(q') v(q', p') = 0.
 *
 * b and b' are the weights of the stages there: b = 1 explicit at v (VE, SVE), b' = 1 implicit at v' (VE-adjoint), 1/2
 * and 1/2 symmetric (RATTLE).  What of p_0 is normal to the constraints the multipliers of the step take up.  The
 * equation of p' is a fixed point, whose error falls by b' dt |F_p| a round.  With constant masses forces F(q, t) are
 * a part of the kicks instead.  Friction can be implicit too, in place of what is in brackets: with constant masses at
 * M^-1 p of the momentum that the drift begins with (vprk_kicks.h), else at the velocity that is solved for, Gamma xi
 * at (g, xi) of the step (vprk_stages.h, vprk_group.h).  Include-free; a part of methods/vprk.c. */

/* The weight of all stages at q (end = 0) or q' (1). */
INLINE double force_weight(const struct ctx *c, int end) {
    double sum = 0;
    (void)c;
    for (long j = 0; j < VS; j++)
        if ((V_TIME(j) != 0) == end) sum += V_B(j);
    return sum;
}

INLINE void forces_before(struct ctx *c, const vec *q, vec *p) {
    vec *top = c->top;
    double t = time_at(c, 0);
    ARRAY(x, NP);
    ARRAY(y, NP);
    ARRAY(v, NP);
    for (long i = 0; i < NP; i++) x[i] = y[i] = v[i] = vec_set(0);
#if FORCES_APART
    model_push(c, t, q, p, x);
#endif
#if DRAGGED == 1 && MODEL_L
    ivec singular, lost;
    for (long i = 0; i < NP; i++) v[i] = c->extra[i * VECS];
    project_velocity(c, t, q, 0, 0, p, v, 0, &singular, &lost);
    lost = (lost | singular) & (ivec)(p[0] == p[0]);
    if (RARELY(vec_any(lost))) lanes_failed(c, &lost, LGV_FAIL_NEWTON);
    bath_resist(c, 1.0, q, v, y, 0);
    for (long i = 0; i < NP; i++) y[i] = -y[i];
#elif DRAGGED == 1
    model_K1(c, t, q, p, 1.0, no_noise, 0, v);
    bath_drag(c, q, v, y);
#endif
    for (long i = 0; i < NP; i++) p[i] += c->dt * (force_weight(c, 0) * x[i] - y[i]);
#if DRAGGED
    bath_shake(c, q, p);
#endif
    (void)t;
    c->top = top;
}

#if FORCES_APART
struct reaction {
    double t;
    const vec *q, *base, *G, *mass;
    vec *v, *mu, *y, *w, *nu; /* velocity and multipliers; and those of the round */
};

/* e = p - (p_1 + b' dt F(q', p) + G^T mu) */
INLINE ivec reaction_correct(struct ctx *c, struct newton *s, void *of) {
    struct reaction *h = of;
    ivec singular = {0}, lost = {0};
    model_push(c, h->t, h->q, s->x, h->y);
    for (long i = 0; i < NP; i++) {
        h->y[i] = FUSED(force_weight(c, 1) * c->dt, h->y[i], h->base[i]);
        h->w[i] = h->v[i];
    }
    if (NC > 0 || MODEL_L) project_momentum(c, h->t, h->q, h->G, h->mass, h->y, h->w, h->nu, &singular, &lost);
    for (long i = 0; i < NP; i++) {
        h->v[i] = vec_select(s->live, h->w[i], h->v[i]);
        s->e[i] = s->x[i] - h->y[i];
    }
    for (long m = 0; m < NC; m++) h->mu[m] = vec_select(s->live, h->nu[m], h->mu[m]);
    return singular | lost;
}

INLINE ivec reaction_moving(struct ctx *c, struct newton *s, void *of) {
    struct reaction *h = of;
    vec e = vec_set(0), x = vec_set(0), base = vec_set(0), rate;
    (void)c;
    for (long i = 0; i < NP; i++) {
        ADD_PRODUCT(e, s->e[i], s->e[i]);
        ADD_PRODUCT(x, s->x[i] - h->base[i], s->x[i] - h->base[i]);
        ADD_PRODUCT(base, h->base[i], h->base[i]);
    }
    return still_falling(s, e, x, base, vec_set(0.1), &rate);
}

INLINE void forces_after(struct ctx *c, const vec *q, vec *p) {
    vec *top = c->top;
    const long first = MODEL_L ? NP : 0; /* multipliers in the rows behind p */
    double t = time_at(c, 1);
    ARRAY(base, NP);
    ARRAY(e, NP);
    ARRAY(v, NP);
    ARRAY(y, NP);
    ARRAY(w, NP);
    ARRAY(mu, NC);
    ARRAY(nu, NC);
    ARRAY(G, JACOBIAN);
    ARRAY(mass, MASSES_NEEDED ? MASSES : 0);
    if (force_weight(c, 1) == 0) return;
    for (long i = 0; i < NP; i++) {
        base[i] = p[i];
        v[i] = MODEL_L ? c->extra[i * VECS] : p[i];
    }
    for (long m = 0; m < NC; m++) mu[m] = vec_set(0);
    model_G(c, q, G);
    if (MASSES_NEEDED && !MODEL_L) constraint_masses(c, t, q, v, mass);
    struct reaction h = {t, q, base, G, mass, v, mu, y, w, nu};
    struct newton s = {.n = NP, .x = p, .e = e, .live = (ivec)(p[0] == p[0])};
    newton(c, &s, 4 * NEWTON_MAX, reaction_correct, reaction_moving, 0, &h);
    for (long i = 0; MODEL_L && i < NP; i++) c->extra[i * VECS] = v[i];
    for (long m = 0; m < NC; m++) c->extra[(first + m) * VECS] += mu[m] / c->dt;
    c->top = top;
}
#endif
