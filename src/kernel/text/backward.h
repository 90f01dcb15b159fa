/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The equation of implicit methods for stiff potentials,
 *
 *     q + s M^-1 V'(q) = x,
 *
 * by Newton's method from q = x.  V is that of model_stiffness.  Part of the text of a method, behind stiff.h. */

struct backward {
    double t, s;
    const vec *x, *p;
    vec *H, *B, *W;
    ivec indefinite;
};

INLINE ivec backward_correct(struct ctx *c, struct newton *s, void *of) {
    struct backward *h = of;
    model_stiffness(c, h->t, s->x, h->p, h->H, h->B, h->W);
    stiff_move(h->W, h->H, s->e);
    for (long i = 0; i < NP; i++) s->e[i] = FUSED(h->s, s->e[i], s->x[i] - h->x[i]);
    ivec bad = stiff_solve(c, h->s, h->B, h->W, s->e);
    h->indefinite = (s->live & bad) | (~s->live & h->indefinite); /* where it ends */
    return bad & ~vec_finite(s->e[0]);
}

INLINE ivec backward_moving(struct ctx *c, struct newton *s, void *of) {
    struct backward *h = of;
    (void)c;
    return still_moving(NP, s->e, s->x, h->x, NEWTON_RATE);
}

/* q, and V' there.  linear: V' is, and one correction solves it. */
OUTLINE void backward_solve(struct ctx *c, double t, double s, const vec *x, const vec *p, int linear, vec *q, vec *H) {
    vec *top = c->top;
    ARRAY(B, STIFF_B);
    ARRAY(W, STIFF_W);
    ARRAY(e, NP);
    struct backward rule = {.t = t, .s = s, .x = x, .p = p, .H = H, .B = B, .W = W};
    struct newton n = {.n = NP, .x = q, .e = e, .live = (ivec)(x[0] == x[0])};
    for (long i = 0; i < NP; i++) q[i] = x[i];
    newton(c, &n, linear ? 1 : NEWTON_MAX, backward_correct, backward_moving, 0, &rule);
    stiff_failed(c, x, rule.indefinite);
    model_stiffness(c, t, q, p, H, 0, 0);
    c->top = top;
}
