/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Constraints phi(g) = 0 with a Lagrangian l(g, xi, t) on a group: the methods of vprk_group.h with an impulse at the
 * beginning of the step and a projection at its end,
 *
 *     m <- m + G(g)^T lam,   the halves of the step, from g to g+,   phi(g+) = 0,
 *     m+ <- m+ + G(g+)^T mu,   G(g+) xi(g+, m+) = 0,
 *
 * G the left-trivialised Jacobian.  Only the ends of the step lie on the constraint set, not the middle of RATTLE: the
 * discrete action has one point for each step.  All xi and lam are found together by Newton's method.  What a half
 * hands to the next is (dtau^-1_-u)^* l_xi, a function of its xi alone; and where g+ = g tau(u_1) tau(u_2), g+ moves
 * along dtau_-u2 du_2 + Ad_tau(u2)^-1 dtau_-u1 du_1.
 *
 * Bou-Rabee & Owhadi (2009), doi 10.1093/imanum/drn018, section 5.3.  Include-free; a part of vprk_group.h. */

struct joint {
    struct half half[VPRK_S];
    const vec *G; /* at the beginning */
    const vec *p;
    vec *g1, *G1, *mid, *end, *handed, *B, *A, *scratch, *last;
    vec parts;
    ivec outside;
};

/* x <- Ad_tau(u)^-1 x */
INLINE void body_back(const struct body *b, const vec *u, vec *x) {
    vec both[6], T[4], y[3];
    for (long k = 0; k < 6; k++) both[k] = k < b->n ? u[k] : vec_set(0);
    if (VPRK_EXPONENTIAL)
        kirchhoff_exponential_map(both, T, y);
    else
        kirchhoff_cayley_map(both, T, y);
    if (b->n == 6) kirchhoff_cross(-1, y, x, x + 3);
    rotor_turn_back(x, T);
    if (b->n == 6) rotor_turn_back(x + 3, T);
}

/* Column `column` of how the end of the step moves with xi of half j: its rows, and which these are. */
INLINE long end_column(const struct joint *h, const vec *x, long j, const struct body *b, long column, vec *out) {
    vec u[6], d[6];
    body_get(b, x + j * NP, 1, u);
    for (long k = 0; k < b->n; k++) {
        u[k] *= h->half[j].h;
        d[k] = vec_set(k == column ? h->half[j].h : 0.0);
    }
    body_tangent(b, u, d, out);
    if (j + 1 < VS) {
        body_get(b, x + (VS - 1) * NP, 1, u);
        for (long k = 0; k < b->n; k++) u[k] *= h->half[VS - 1].h;
        body_back(b, u, out);
    }
    return body_row(b, column);
}

/* Along direction `row` of the end, times `weight`: phi, and l_xi of a half that lies there and before which others
 * have moved (its own part is in its A). */
INLINE void end_moves(const struct joint *h, long j, long column, long row, vec weight, vec *B) {
    const long n = UNKNOWNS;
    for (long k = 0; k < NC; k++)
        ADD_PRODUCT(h->A[(VS * NP + k) * n + j * NP + column], weight, h->G1[k * NP + row]);
    if (j + 1 < VS && h->half[VS - 1].late)
        for (long i = 0; i < NP; i++) ADD_PRODUCT(B[i * NP + column], weight, h->half[VS - 1].Lqv[row * NP + i]);
}

INLINE void end_rows(const struct joint *h, const vec *x, long j, vec *B) {
    for (long i = 0; i < NP * NP; i++) B[i] = vec_set(0);
    for (long run = 0; run < VECTOR_RUNS; run++)
        for (long k = vector_run[run].p; k < vector_run[run].p + vector_run[run].count; k++)
            end_moves(h, j, k, k, vec_set(h->half[j].h), B);
    for (long number = 0; number < ROTATIONS; number++) {
        struct body b = body_of(number);
        vec along[6];
        for (long column = 0; column < b.n; column++) {
            long at = end_column(h, x, j, &b, column, along);
            for (long k = 0; k < b.n; k++) end_moves(h, j, at, body_row(&b, k), along[k], B);
        }
    }
}

/* B <- (dtau^-1_u)^* B of half j. */
INLINE void half_sides(const struct half *h, const vec *xi, vec *B) {
    for (long number = 0; number < ROTATIONS; number++) {
        struct body b = body_of(number);
        vec u[6], d[6], out[6], weight[4];
        body_get(&b, xi, 1, u);
        for (long i = 0; i < b.n; i++) u[i] *= h->h;
        body_weights(&b, u, weight);
        for (long j = 0; j < NP; j++) {
            body_get(&b, B + j, NP, d);
            body_side(&b, u, weight, d, out);
            for (long i = 0; i < b.n; i++) B[body_row(&b, i) * NP + j] = out[i];
        }
    }
}

/* handed = (dtau^-1_-u)^* l_xi of half 0, B = its derivative. */
INLINE void half_hands(const struct joint *h, const vec *xi) {
    struct half back = h->half[0];
    back.h = -back.h;
    back.A = h->B;
    for (long i = 0; i < NP * NP; i++) h->B[i] = back.Lvv[i];
    for (long i = 0; i < NP; i++) h->handed[i] = back.Lv[i];
    for (long k = 0; k < ROTATIONS; k++) half_body(&back, k, xi, h->handed);
}

INLINE void joint_block(const struct joint *h, long row, long column, double sign, const vec *B) {
    for (long i = 0; i < NP; i++) {
        vec *to = h->A + (row * NP + i) * UNKNOWNS + column * NP;
        for (long j = 0; j < NP; j++) ADD_PRODUCT(to[j], sign, B[i * NP + j]);
    }
}

INLINE void joint_system(struct ctx *c, struct joint *h, const vec *x, vec *e) {
    const vec *lam = x + VS * NP;
    vec *last_move = h->half[0].still;
    for (long i = 0; i < UNKNOWNS * UNKNOWNS; i++) h->A[i] = vec_set(0);
    for (long i = 0; i < NX; i++) h->mid[i] = h->half[0].q[i];
    if (VS > 1) group_move(h->half[0].h, x, h->mid, last_move);
    for (long i = 0; i < NX; i++) h->end[i] = h->mid[i];
    group_move(h->half[VS - 1].h, x + (VS - 1) * NP, h->end, last_move);
    half_rows(c, &h->half[0], x, e);
    joint_block(h, 0, 0, 1, h->half[0].A);
    if (VS > 1) {
        half_hands(h, x);
        joint_block(h, 1, 0, -1, h->B);
        half_rows(c, &h->half[VS - 1], x + (VS - 1) * NP, e + (VS - 1) * NP);
        joint_block(h, VS - 1, VS - 1, 1, h->half[VS - 1].A);
    }
    model_g(c, h->end, h->g1);
    model_G(c, h->end, h->G1);
    for (long j = 0; j < VS; j++) {
        end_rows(h, x, j, h->B);
        if (j + 1 == VS) continue;
        half_sides(&h->half[VS - 1], x + (VS - 1) * NP, h->B);
        joint_block(h, VS - 1, j, 1, h->B);
    }
    h->parts = vec_set(0);
    for (long i = 0; i < NP; i++) {
        h->parts += vec_abs(h->p[i]) + vec_abs(h->half[0].Lv[i]);
        for (long k = 0; k < NC; k++) {
            ADD_PRODUCT(e[i], -h->G[k * NP + i], lam[k]);
            h->parts += vec_abs(h->G[k * NP + i] * lam[k]);
            h->A[i * UNKNOWNS + VS * NP + k] = -h->G[k * NP + i];
        }
    }
    for (long k = 0; k < NC; k++) {
        e[VS * NP + k] = h->g1[k] / c->dt;
        for (long i = 0; i < VS * NP; i++) h->A[(VS * NP + k) * UNKNOWNS + i] *= 1 / c->dt;
    }
}

INLINE ivec joint_correct(struct ctx *c, struct newton *s, void *of) {
    struct joint *h = of;
    vec *e = s->e, left = vec_set(0);
    ivec met;
    joint_system(c, h, s->x, e);
    for (long i = 0; i < VS * NP; i++) left += vec_abs(e[i]);
    if (s->round >= NEWTON_PATIENT) { /* the rest is round-off */
        constraints_met(c, h->end, &met);
        s->live &= ~((ivec)(left <= 1e-14 * h->parts) & met);
    }
    h->outside = s->round > 0 ? left_domain(UNKNOWNS, e, s->live) : (ivec){0};
    vec m = largest_of(h->half[0].Lvv, NP, NP + 1), g = largest_of(h->G, NC * NP, 1);
    scale_system(m, g, e, h->A);
    ivec singular = system_solve(SYSTEM_ANY, UNKNOWNS, h->A, e, h->scratch);
    for (long k = 0; k < NC; k++) e[VS * NP + k] *= m / g;
    damp(UNKNOWNS, h->outside, e, h->last);
    return singular & ~h->outside;
}

INLINE ivec joint_moving(struct ctx *c, struct newton *s, void *of) {
    struct joint *h = of;
    ivec beyond = {0};
    (void)c;
    for (long j = 0; j < VS; j++) beyond |= half_beyond(&h->half[j], s->x + j * NP);
    return still_moving(VS * NP, s->e, s->x, s->x, HALF_RATE) | h->outside | beyond;
}

/* v: the velocity before, and that of the last half; lam: the impulse at the beginning. */
OUTLINE void group_solve(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *v, vec *lam) {
    vec *top = c->top;
    ARRAY(places, (VS + 2) * NX);
    ARRAY(rows, (3 * VS + 3) * NP + NC);
    ARRAY(second, (3 * VS + 1) * NP * NP);
    ARRAY(G, 2 * NC * NP);
    ARRAY(x, UNKNOWNS);
    ARRAY(e, 2 * UNKNOWNS);
    ARRAY(A, UNKNOWNS * UNKNOWNS);
    ARRAY(scratch, SYSTEM_SCRATCH(UNKNOWNS));
    ARRAY(w, VS * NM);
    vec *still = rows, *base = rows + NP, *handed = rows + 2 * NP, *each = rows + 3 * NP;
    struct joint h = {.G = G, .p = p, .g1 = each + 3 * VS * NP, .G1 = G + NC * NP, .mid = places,
                      .end = places + NX, .handed = handed, .B = second, .A = A, .scratch = scratch,
                      .last = e + UNKNOWNS};
    model_G(c, q, G);
    for (long i = 0; i < NP; i++) still[i] = vec_set(0), base[i] = p[i];
    for (long j = 0; j < VS; j++) {
        int late = V_TIME(j) != 0;
        vec *own = each + 3 * j * NP, *mine = second + (1 + 3 * j) * NP * NP;
        noise_weights(c, METHOD_DZ, V_BETA(j), V_GAMMA(j), dW, dZ, w + j * NM);
        if (NM > 0 && j == 0 && !late) group_push(c, time_at(c, 0), 0.0, w, q, v, base);
        h.half[j] = (struct half){.t = time_at(c, late ? 1 : 0), .h = c->dt * V_B(j), .late = late,
                                  .q = j ? h.mid : q, .base = j ? handed : base, .Q = places + (2 + j) * NX,
                                  .still = still, .Lq = own, .Lv = own + NP, .Lqv = mine, .Lvv = mine + NP * NP,
                                  .A = mine + 2 * NP * NP};
        for (long i = 0; i < NP; i++) x[j * NP + i] = v[i];
    }
    for (long k = 0; k < NC; k++) x[VS * NP + k] = vec_set(0);
    for (long i = 0; i < UNKNOWNS; i++) e[UNKNOWNS + i] = vec_set(0);
    struct newton s = {.n = UNKNOWNS, .x = x, .e = e, .live = (ivec)(p[0] == p[0])};
    newton(c, &s, NEWTON_MAX, joint_correct, joint_moving, 0, &h);
    constraint_add(c, G, x + VS * NP, p);
    for (long j = 0; j < VS; j++)
        group_apply(c, c->dt * V_B(j), V_TIME(j) != 0, w + j * NM, x + j * NP, q, p);
    for (long i = 0; i < NP; i++) v[i] = x[(VS - 1) * NP + i];
    for (long k = 0; k < NC; k++) lam[k] = x[VS * NP + k];
    c->top = top;
}
