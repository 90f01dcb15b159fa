/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stochastic variational partitioned Runge-Kutta methods for L(q, v), noise h_r(q) and constraints g(q) = 0.
 * Paper A (constrained stochastic VPRK), equations (5)-(8), (17)-(20).  Stages i = 1..s, multipliers m = 1..M:
 *
 *     Q_i = q + dt sum_j a_ij V_j,     P_i = L_v(Q_i, V_i) = p + sum_j ahat_ij F_j + sum_m am_im G(X_m)^T lam_m
 *     F_j = dt b_j L_q(Q_j, V_j) - sum_r w_jr grad h_r(Q_j),     X_m = q + dt sum_j d_mj V_j
 *     g(q + dt sum_j e_mj V_j) = 0,     q' = q + dt sum_j b_j V_j,     p* = p + sum_j F_j + sum_m G(X_m)^T lam_m
 *     p' = p* + G(q')^T mu  with  G(q') v(q', p') = 0                                 (no mu: SHAKE)
 *
 * Lobatto IIIA-IIIB: ahat_ij = 1 - a_ji / b_i, multipliers on stages 1..s-1, constraints on stages 2..s.  Variational Euler has
 * s = 1 and a = 0 (force, noise and multiplier at q), its adjoint a = 1, ahat = 0 (force and noise at q').  Noise weights are
 * w_j = beta_j dW + gamma_j J.  RATTLE-Jc and -weak2 subtract dt c C(q) from L, C = sum_r |P grad h_r|^2 in the metric M^-1, P the
 * tangential projector; with u_r = M^-1 (grad h_r - G^T y_r), G u_r = 0, its gradient is
 *
 *     C_q = sum_r [2 h_r,qq u_r - 2 (y_r . g)_qq u_r - u_r . M_q . u_r].
 *
 * For constant masses (H-face) V = H_p(P).  Methods with one multiplier and all forces at q and q' (VPRK_KICKS) are then kicks and
 * a drift, and only lam is unknown: g(q + dt H_p(p + F + G(q)^T lam)) = 0, in closed form for one quadratic constraint.  Otherwise Newton's method for all stages. */
#ifdef NQ /* in a kernel */

#define METHOD_DZ VPRK_DZ
#define VS VPRK_S
#define VM VPRK_M
#define V_B(j) vprk_table[j]
#define V_BETA(j) vprk_table[VS + (j)]
#define V_GAMMA(j) vprk_table[2 * VS + (j)]
#define V_TIME(j) vprk_table[3 * VS + (j)]
#define V_A(i, j) vprk_table[(4 + (i)) * VS + (j)]
#define V_AHAT(i, j) vprk_table[(4 + VS + (i)) * VS + (j)]
#define V_D(m, j) vprk_table[(4 + 2 * VS + (m)) * VS + (j)]
#define V_E(m, j) vprk_table[(4 + 2 * VS + VM + (m)) * VS + (j)]
#define V_AM(i, m) vprk_table[(4 + 2 * VS + 2 * VM) * VS + (i)*VM + (m)]
#define KICKS (VPRK_KICKS && !MODEL_L)
#define CORRECTED (VPRK_CORRECTION != 0)
#define QUICK (!MODEL_L && VPRK_S > 1 && !VPRK_KICKS)

#define ONE_ROW (NC == 1 && !MODEL_SPARSE)

#define UNKNOWNS (VS * NQ + VM * NC)
#define KEPT_MASSES (MODEL_SPARSE ? MASSES : 0) /* dense: the kept rows serve instead */
#define KEPT_ROWS (MODEL_SPARSE ? 0 : NC * NQ)
#define METHOD_CARRY (KICKS ? NQ + NHQ + (CORRECTED ? NQ : 0) + JACOBIAN + KEPT_ROWS + KEPT_MASSES + 1 : 0)
#define METHOD_WORK                                                                                                    \
    (2 * PROJECTION_WORK + 20 * NQ + 10 * NC + 4 * NM + (CORRECTED ? 4 * NQ * NQ + 10 * NQ + 4 * NC : 0) +             \
     (KICKS ? 3 * JACOBIAN + 2 * SYSTEM                                                                                \
            : 2 * UNKNOWNS * UNKNOWNS + 4 * UNKNOWNS + VS * (6 * NQ + 3 * NQ * NQ) + 8 * NQ * NQ +                     \
                  VM * (2 * NC * NQ + 2 * NQ * NQ + 6 * NQ) + (QUICK ? QUICK_WORK : 0)))

/* x = grad C(q). */
INLINE void correction_gradient(struct ctx *c, double t, const vec *q, const vec *G, const vec *mass, vec *x) {
    vec *top = c->top;
    ARRAY(unit, NM);
    ARRAY(zero, NQ);
    ARRAY(d, NQ);
    ARRAY(u, NQ);
    ARRAY(y, NC);
    ARRAY(hqq, NQ * NQ);
    ARRAY(Sqq, NQ * NQ);
    ARRAY(Lq, NQ);
    ivec singular;
    for (long i = 0; i < NQ; i++) x[i] = zero[i] = vec_set(0);
    for (long m = 0; m < NM; m++) {
        for (long k = 0; k < NM; k++) unit[k] = vec_set(k == m ? 1.0 : 0.0);
        if (MODEL_L) {
            face_L2(c, t, q, zero, 0.0, unit, d, 0, hqq, 0, 0);
            for (long i = 0; i < NQ; i++) d[i] = -d[i];
            for (long i = 0; i < NQ * NQ; i++) hqq[i] = -hqq[i];
        } else {
            face_K2(c, t, q, zero, 0.0, unit, d, 0, hqq, 0, 0);
        }
        for (long i = 0; i < NQ; i++) u[i] = d[i];
        apply_masses(c, t, q, mass, u);
        constraint_multiply(G, u, y);
        constraint_solve(c, G, mass, G, y, &singular);
        for (long i = 0; i < NQ; i++) u[i] = vec_set(0);
        constraint_add(G, y, u);
        for (long i = 0; i < NQ; i++) u[i] = d[i] - u[i];
        apply_masses(c, t, q, mass, u);
        model_S2(c, q, y, Sqq);
        for (long i = 0; i < NQ; i++)
            for (long j = 0; j < NQ; j++) x[i] += 2.0 * (hqq[i * NQ + j] - Sqq[i * NQ + j]) * u[j];
        if (MODEL_L) { /* u . M_q . u from L_q at u, -u and 0: L is quadratic in v */
            for (long k = 0; k < NM; k++) unit[k] = vec_set(0);
            for (int sign = -1; sign <= 1; sign++) {
                for (long i = 0; i < NQ; i++) d[i] = (double)sign * u[i];
                face_L1(c, t, q, d, 1.0, unit, Lq, 0);
                for (long i = 0; i < NQ; i++) x[i] -= (sign == 0 ? -2.0 : 1.0) * Lq[i];
            }
        }
    }
    c->top = top;
}

/* ---- kicks and a drift ---- */

struct kept {
    struct force F;
    vec *C, *G, *MG, *mass; /* dense: the rows G M^-1; sparse: M^-1, which is constant */
    vec *inverse;           /* 1 / (G M^-1 G^T) of a single constraint */
};

INLINE struct kept kept_in(vec *carry) {
    vec *C = carry + NQ + NHQ, *G = C + (CORRECTED ? NQ : 0);
    vec *MG = G + JACOBIAN, *mass = MG + KEPT_ROWS;
    return (struct kept){{carry, carry + NQ}, C, G, MG, mass, mass + KEPT_MASSES};
}

INLINE vec dot(const vec *a, const vec *b) {
    vec sum = a[0] * b[0];
    for (long i = 1; i < NQ; i++) sum += a[i] * b[i];
    return sum;
}

/* Force, gradient of the correction, and G at q. */
ONE_COPY void keep(struct ctx *c, double t, const vec *q, const vec *p, struct kept *k) {
#if KICKS
    model_force(c, t, q, p, &k->F);
    model_G(c, q, k->G);
    if (!MODEL_SPARSE) constraint_rows(c, k->G, k->mass, k->MG);
    if (ONE_ROW) k->inverse[0] = 1.0 / dot(k->G, k->MG);
    if (CORRECTED) correction_gradient(c, t, q, k->G, k->mass, k->C);
#else
    (void)c, (void)t, (void)q, (void)p, (void)k;
#endif
}

INLINE void kick(struct ctx *c, const struct kept *k, double b, const vec *w, vec *p) {
#if KICKS
    model_kick(c, p, &k->F, b * c->dt, w);
    for (long i = 0; CORRECTED && i < NQ; i++) p[i] -= b * c->dt * VPRK_CORRECTION * c->dt * k->C[i];
#else
    (void)c, (void)k, (void)b, (void)w, (void)p;
#endif
}

/* Lanes that are live have no solution, those with infinite or NaN multipliers a singular system: NaN in everything.  Where p is NaN
 * the lane had failed before. */
static __attribute__((noinline, cold, unused)) void drift_failed(struct ctx *c, const vec *p, const vec *lam, vec *P,
                                                                 vec *Q, const ivec *live) {
    ivec known = (ivec)(p[0] == p[0]), newton = known & *live, singular = known & ~vec_finite(lam[0]) & ~newton, met;
    if (!vec_any(newton | singular)) return;
    constraints_met(c, Q, &met); /* the rest was round-off of g, which near the origin is larger than that of q */
    newton &= ~met;
    lanes_failed(c, &newton, NQ, LGV_FAIL_NEWTON);
    lanes_failed(c, &singular, NQ, LGV_FAIL_SINGULAR);
    for (long i = 0; i < NQ; i++) {
        P[i] = vec_select(newton | singular, vec_set(__builtin_nan("")), P[i]);
        Q[i] = vec_select(newton | singular, vec_set(__builtin_nan("")), Q[i]);
    }
}

/* b = (G1 M^-1 G^T)^-1 b,  x = M^-1 G^T b,  G and M those kept. */
INLINE void kept_solve(struct ctx *c, const struct kept *k, const vec *G1, vec *b, ivec *singular) {
    if (MODEL_SPARSE)
        constraint_solve(c, G1, k->mass, k->G, b, singular);
    else
        constraint_system(c, G1, k->MG, b, singular);
}

/* Returns the size of x, or a bound of it: sum_k |b_k| size_k of the rows' sizes. */
INLINE vec kept_move(struct ctx *c, const struct kept *k, const vec *row_size, const vec *b, vec *x) {
    vec size = vec_set(0);
#if MODEL_SPARSE
    vec *top = c->top;
    ARRAY(impulse, NQ);
    for (long i = 0; i < NQ; i++) impulse[i] = vec_set(0);
    constraint_add(k->G, b, impulse);
    sparse_multiply_mass(k->mass, impulse, x);
    for (long i = 0; i < NQ; i++) size += vec_abs(x[i]);
    c->top = top;
    (void)row_size;
#else
    (void)c;
    for (long i = 0; i < NQ; i++) {
        x[i] = k->MG[i] * b[0];
        for (long m = 1; m < NC; m++) x[i] += k->MG[m * NQ + i] * b[m];
    }
    for (long m = 0; m < NC; m++) size += vec_abs(b[m]) * row_size[m];
#endif
    return size;
}

/* Both move Q along M^-1 G(q)^T until g(Q) = 0 and leave the impulse -dt lam of that in e; *live: lanes without a solution.  The
 * solution wanted is the one that comes from q as dt grows from 0: G M^-1 G(q)^T keeps its sign.  Forces normal to the constraints
 * may be large, and Q beyond the centre of a sphere: then it is not the nearest one.
 *
 * One quadratic constraint is g(Q) - b e + a e^2 / 2 there; g, a and b are counted in units of G M^-1 G^T at q. */
INLINE void quadric_drift(struct ctx *c, const struct kept *kept, vec *Q, vec *e, ivec *live) {
    ARRAY(G1, JACOBIAN);
    ARRAY(a, 1);
    model_g(c, Q, e);
    model_G(c, Q, G1);
    model_bend(c, kept->MG, a);
    vec unit = kept->inverse[0], g = e[0] * unit, b = dot(G1, kept->MG) * unit, half = 0.5 * a[0] * unit;
    vec square = b * b - 4.0 * half * g, root = vec_sqrt(square);
    vec over = 2.0 * g, under = b + root;
    ivec beyond = (ivec)(b < 0.0);
    if (RARELY(vec_any(beyond))) {
        over = vec_select(beyond, b - root, over);
        under = vec_select(beyond, 2.0 * half, under);
    }
    e[0] = over / under;
    for (long i = 0; i < NQ; i++) Q[i] -= e[0] * kept->MG[i];
    *live = (ivec)(square < 0.0);
}

#define NEWTON_LEFT (2e-15 / NQ)

/* Newton's method, two moves at least; sum grows by what they add to e.  Then a lane is done when the error left, e^3 / e_before^2
 * by quadratic convergence, is below round-off of a coordinate; after three also by the rule of still_moving, where round-off is
 * larger than that.  few: only the lanes of *live, which are moved with care for the others.  G1 is left near the solution. */
INLINE void newton_moves(struct ctx *c, const vec *q, const struct kept *kept, int few, vec *Q, vec *sum, vec *G1,
                         ivec *live) {
    ARRAY(e, NC);
    ARRAY(move, NQ);
    ARRAY(row_size, NC);
    ivec still = few ? *live : ~(ivec){0}, now;
    vec *top = c->top, size = vec_set(0), before = vec_set(0);
    int it = 0;
    for (long i = 0; i < NQ; i++) size += vec_abs(q[i]);
    for (long k = 0; k < NC; k++) {
        row_size[k] = vec_set(0);
        for (long i = 0; !MODEL_SPARSE && i < NQ; i++) row_size[k] += vec_abs(kept->MG[k * NQ + i]);
    }
    do {
        model_g(c, Q, e);
        model_G(c, Q, G1);
        kept_solve(c, kept, G1, e, &now);
        for (long k = 0; (few || it > 1) && k < NC; k++) e[k] = vec_select(still, e[k], vec_set(0));
        for (long k = 0; k < NC; k++) sum[k] += e[k];
        vec moved = kept_move(c, kept, row_size, e, move);
        for (long i = 0; i < NQ; i++) Q[i] -= move[i];
        if (it > 0) {
            ivec far = (ivec)(moved * moved * moved > NEWTON_LEFT * size * before * before);
            still = (ivec)vec_select(still, (vec)far, vec_set(0)); /* of `&` clang makes more than this */
        }
        if (it > 1) {
            vec length = vec_set(0);
            for (long i = 0; i < NQ; i++) length += vec_abs(Q[i] - q[i]);
            still &= (ivec)(moved > NEWTON_RATE * length + 2e-15 * size);
        }
        before = moved;
        c->top = top;
        c->iterations++;
    } while (++it < NEWTON_MAX && (it == 1 || vec_any(still)));
    *live = it < NEWTON_MAX ? (ivec){0} : still;
}

/* Lanes in which the gradient of a constraint has turned by a right angle from q on: another solution than the one wanted. */
INLINE ivec rows_turned(const vec *G, const vec *G1) {
    ivec turned = {0};
    for (long k = 0; k < NC; k++) {
#if MODEL_SPARSE
        long first = SPARSE_TABLE(g_row)[k], end = SPARSE_TABLE(g_row)[k + 1];
#else
        long first = k * NQ, end = first + NQ;
#endif
        vec sum = G[first] * G1[first];
        for (long i = first + 1; i < end; i++) sum += G[i] * G1[i];
        turned |= (ivec)(sum <= 0.0);
    }
    return turned;
}

/* The lanes *live once more, from the point that the velocities tangent at q lead to. */
static __attribute__((noinline, cold, unused)) void
newton_again(struct ctx *c, const vec *q, const vec *p, const struct kept *kept, vec *Q, vec *sum, ivec *live) {
    vec *top = c->top;
    ARRAY(move, NQ);
    ARRAY(T, NQ);
    ARRAY(e, NC);
    ARRAY(zero, NC);
    ARRAY(G1, JACOBIAN);
    ivec lanes = *live, now;
    for (long k = 0; k < NC; k++) zero[k] = vec_set(0);
    face_K1(c, time_at(c, 0.5), q, p, c->dt, no_noise, 0, move);
    for (long i = 0; i < NQ; i++) T[i] = q[i] + move[i];
    constraint_multiply(kept->G, move, e);
    kept_solve(c, kept, kept->G, e, &now);
    kept_move(c, kept, zero, e, move);
    for (long i = 0; i < NQ; i++) T[i] -= move[i];
    newton_moves(c, q, kept, 1, T, e, G1, live);
    *live |= lanes & rows_turned(kept->G, G1);
    for (long i = 0; i < NQ; i++) Q[i] = vec_select(lanes, T[i], Q[i]);
    for (long k = 0; k < NC; k++) sum[k] = vec_select(lanes, e[k], sum[k]);
    c->top = top;
}

INLINE void newton_drift(struct ctx *c, const vec *q, const vec *p, const struct kept *kept, vec *Q, vec *sum,
                         ivec *live) {
    ARRAY(G1, JACOBIAN);
    for (long k = 0; k < NC; k++) sum[k] = vec_set(0);
    newton_moves(c, q, kept, 0, Q, sum, G1, live);
    *live |= rows_turned(kept->G, G1) | (~vec_finite(sum[0]) & (ivec)(p[0] == p[0]));
    if (RARELY(vec_any(*live))) newton_again(c, q, p, kept, Q, sum, live);
}

/* P = p + G(q)^T lam so that g(q + dt H_p(P)) = 0; the end point in Q. */
INLINE void constrained_drift(struct ctx *c, const vec *q, const vec *p, const struct kept *kept, vec *P, vec *Q,
                              vec *lam) {
    ARRAY(move, NQ);
    ivec live;
    face_K1(c, time_at(c, 0.5), q, p, c->dt, no_noise, 0, move);
    for (long i = 0; i < NQ; i++) {
        Q[i] = q[i] + move[i];
        P[i] = p[i];
    }
    if (NC == 0) return;
    if (MODEL_QUADRIC)
        quadric_drift(c, kept, Q, lam, &live);
    else
        newton_drift(c, q, p, kept, Q, lam, &live);
    for (long k = 0; k < NC; k++) lam[k] *= -1 / c->dt;
    constraint_add(kept->G, lam, P);
    if (RARELY(!vec_all(vec_finite(lam[0])) || (!MODEL_QUADRIC && vec_any(live)))) drift_failed(c, p, lam, P, Q, &live);
}

/* Stages lie at q (their row of a vanishes) or at q'. */
INLINE void kicks_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    double b[2] = {0, 0}, beta[2] = {0, 0}, gamma[2] = {0, 0};
    struct kept k = kept_in(carry);
    ARRAY(w, NM);
    ARRAY(P, NQ);
    ARRAY(Q, NQ);
    ARRAY(v, NQ);
    ARRAY(lam, NC);
    ARRAY(mu, NC);
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
    constrained_drift(c, q, p, &k, P, Q, lam);
    c->top = top;
    for (long i = 0; i < NQ; i++) {
        q[i] = Q[i];
        p[i] = P[i];
    }
    keep(c, time_at(c, 1), q, p, &k);
    noise_weights(c, METHOD_DZ, beta[1], gamma[1], dW, dZ, w);
    kick(c, &k, b[1], w, p);
    for (long m = 0; m < NC; m++) mu[m] = vec_set(0);
    if (NC > 0 && VPRK_PROJECT) {
        face_K1(c, time_at(c, 1), q, p, 1.0, no_noise, 0, v);
        constraint_multiply(k.G, v, mu);
        for (long m = 0; m < NC; m++) mu[m] = -mu[m];
        if (ONE_ROW) {
            mu[0] *= k.inverse[0];
            singular = ~vec_finite(mu[0]);
        } else {
            kept_solve(c, &k, k.G, mu, &singular);
        }
        constraint_add(k.G, mu, p);
    }
    if (NC > 0 && RARELY(vec_any(singular))) {
        singular &= (ivec)(v[0] == v[0]);
        lanes_failed(c, &singular, NQ, LGV_FAIL_SINGULAR);
    }
    for (long m = 0; m < NC; m++) c->extra[m * GROUPS] = (lam[m] + mu[m]) * (1 / c->dt);
}

/* ---- all stages by Newton's method ---- */

/* Velocity, momentum and force of stage values: unknown Y is V (Lagrangian) or P (constant masses). */
struct stages {
    vec *Y, *V, *Q, *P, *f;     /* [s][NQ] */
    vec *PQ, *PY, *fQ, *fY;     /* [NQ][NQ], of the stage looked at */
    vec *X, *GX, *S, *GT, *lam; /* multipliers: [M][NQ], [M][NC][NQ], [M][NQ][NQ], [M][NQ], [M][NC] */
};

INLINE void combine(const struct ctx *c, const vec *q, const double *row, const vec *V, vec *Q) {
    for (long i = 0; i < NQ; i++) {
        Q[i] = q[i];
        for (long j = 0; j < VS; j++)
            if (row[j] != 0) Q[i] += c->dt * row[j] * V[j * NQ + i];
    }
}

INLINE void stage_positions(struct ctx *c, const vec *q, struct stages *s) {
    for (long j = 0; j < VS; j++) {
        if (MODEL_L)
            for (long i = 0; i < NQ; i++) s->V[j * NQ + i] = s->Y[j * NQ + i];
        else
            face_K1(c, time_at(c, V_TIME(j)), q, s->Y + j * NQ, 1.0, no_noise, 0, s->V + j * NQ);
    }
    for (long j = 0; j < VS; j++) combine(c, q, &V_A(j, 0), s->V, s->Q + j * NQ);
    for (long m = 0; NC > 0 && m < VM; m++) {
        combine(c, q, &V_D(m, 0), s->V, s->X + m * NQ);
        model_GT(c, s->X + m * NQ, s->lam + m * NC, s->GT + m * NQ);
    }
}

/* Force of stage j and, if wanted, the derivatives of force and momentum. */
INLINE void stage_values(struct ctx *c, long j, const vec *w, int second, struct stages *s) {
    double t = time_at(c, V_TIME(j));
    const vec *Q = s->Q + j * NQ, *Y = s->Y + j * NQ;
    vec *f = s->f + j * NQ, *P = s->P + j * NQ;
    if (MODEL_L) {
        face_L2(c, t, Q, Y, c->dt * V_B(j), w, f, 0, second ? s->fQ : 0, second ? s->fY : 0, 0);
        face_L2(c, t, Q, Y, 1.0, no_noise, 0, P, 0, second ? s->PQ : 0, second ? s->PY : 0);
        return;
    }
    face_K2(c, t, Q, Y, c->dt * V_B(j), w, f, 0, second ? s->fQ : 0, 0, 0);
    for (long i = 0; i < NQ; i++) {
        f[i] = -f[i];
        P[i] = Y[i];
    }
    for (long i = 0; second && i < NQ * NQ; i++) s->fQ[i] = -s->fQ[i];
}

/* B += factor A VY, VY the derivative of the velocity: 1 or the masses. */
INLINE void add_product(double factor, const vec *A, const vec *mass, vec *B, long stride) {
    for (long i = 0; i < NQ; i++)
        for (long j = 0; j < NQ; j++) {
            vec sum = MODEL_L ? A[i * NQ + j] : vec_set(0);
            for (long k = 0; !MODEL_L && k < NQ; k++) sum += A[i * NQ + k] * mass[k * NQ + j];
            B[i * stride + j] += factor * sum;
        }
}

/* Columns of stage j's force and momentum in the matrix; fQ, fY, PQ, PY are those of stage j. */
INLINE void add_stage(const struct ctx *c, long j, const struct stages *s, const vec *mass, vec *A) {
    const long n = UNKNOWNS;
    for (long k = 0; k < VS; k++) {
        if (V_A(j, k) != 0)
            for (long i = 0; i < VS; i++)
                if (V_AHAT(i, j) != 0)
                    add_product(-V_AHAT(i, j) * c->dt * V_A(j, k), s->fQ, mass, A + i * NQ * n + k * NQ, n);
        if (MODEL_L && V_A(j, k) != 0) /* L_vq: the transpose of L_qv */
            for (long a = 0; a < NQ; a++)
                for (long b = 0; b < NQ; b++) A[(j * NQ + a) * n + k * NQ + b] += c->dt * V_A(j, k) * s->PQ[b * NQ + a];
    }
    for (long a = 0; a < NQ; a++)
        for (long b = 0; b < NQ; b++) {
            A[(j * NQ + a) * n + j * NQ + b] += MODEL_L ? s->PY[a * NQ + b] : vec_set(a == b ? 1.0 : 0.0);
            for (long i = 0; MODEL_L && i < VS; i++)
                A[(i * NQ + a) * n + j * NQ + b] -= V_AHAT(i, j) * s->fY[a * NQ + b];
        }
}

INLINE void add_multiplier(const struct ctx *c, long m, const struct stages *s, const vec *mass, vec *A) {
    const long n = UNKNOWNS;
    for (long i = 0; i < VS; i++) {
        if (V_AM(i, m) == 0) continue;
        for (long k = 0; k < VS; k++)
            if (V_D(m, k) != 0)
                add_product(-V_AM(i, m) * c->dt * V_D(m, k), s->S + m * NQ * NQ, mass, A + i * NQ * n + k * NQ, n);
        for (long a = 0; a < NQ; a++)
            for (long l = 0; l < NC; l++)
                A[(i * NQ + a) * n + VS * NQ + m * NC + l] -= V_AM(i, m) * s->GX[(m * NC + l) * NQ + a];
    }
}

/* Residual r and matrix A of stage equations and of constraints (divided by dt). */
INLINE void stage_system(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *dZ, const vec *extra,
                         const vec *mass, struct stages *s, vec *r, vec *A) {
    const long n = UNKNOWNS;
    vec *top = c->top;
    ARRAY(w, NM);
    ARRAY(point, NQ);
    ARRAY(G, NC * NQ);
    for (long i = 0; i < n * n; i++) A[i] = vec_set(0);
    for (long j = 0; j < VS; j++) {
        noise_weights(c, METHOD_DZ, V_BETA(j), V_GAMMA(j), dW, dZ, w);
        stage_values(c, j, w, 1, s);
        for (long i = 0; CORRECTED && V_TIME(j) == 0 && i < NQ; i++) s->f[j * NQ + i] += V_B(j) * extra[i];
        add_stage(c, j, s, mass, A);
    }
    for (long m = 0; NC > 0 && m < VM; m++) {
        model_G(c, s->X + m * NQ, s->GX + m * NC * NQ);
        model_S2(c, s->X + m * NQ, s->lam + m * NC, s->S + m * NQ * NQ);
        add_multiplier(c, m, s, mass, A);
        combine(c, q, &V_E(m, 0), s->V, point);
        model_g(c, point, r + VS * NQ + m * NC);
        model_G(c, point, G);
        for (long l = 0; l < NC; l++) {
            vec *row = A + (VS * NQ + m * NC + l) * n;
            r[VS * NQ + m * NC + l] /= c->dt;
            for (long k = 0; k < VS; k++)
                for (long a = 0; V_E(m, k) != 0 && a < NQ; a++) {
                    vec sum = MODEL_L ? G[l * NQ + a] : vec_set(0);
                    for (long b = 0; !MODEL_L && b < NQ; b++) sum += G[l * NQ + b] * mass[b * NQ + a];
                    row[k * NQ + a] += V_E(m, k) * sum;
                }
        }
    }
    for (long i = 0; i < VS; i++)
        for (long a = 0; a < NQ; a++) {
            vec sum = s->P[i * NQ + a] - p[a];
            for (long j = 0; j < VS; j++)
                if (V_AHAT(i, j) != 0) sum -= V_AHAT(i, j) * s->f[j * NQ + a];
            for (long m = 0; NC > 0 && m < VM; m++) sum -= V_AM(i, m) * s->GT[m * NQ + a];
            r[i * NQ + a] = sum;
        }
    c->top = top;
}

/* Rows and unknowns in units in which the matrix is of the size of 1: see constrained.h; m is the size of the masses, g that of G.
 * For constant masses the unknowns are momenta, counted in m. */
INLINE void scale_system(vec m, vec g, vec *r, vec *A) {
    const long n = UNKNOWNS;
    vec row[2] = {1.0 / m, 1.0 / g}, col[2] = {MODEL_L ? vec_set(1) : m, m / g};
    for (long i = 0; i < n; i++) {
        r[i] *= row[i >= VS * NQ];
        for (long j = 0; j < n; j++) A[i * n + j] *= row[i >= VS * NQ] * col[j >= VS * NQ];
    }
}

/* Lanes whose equations hold to round-off of their terms. */
static __attribute__((noinline, cold)) ivec stages_met(struct ctx *c, const vec *q, const vec *p,
                                                       const struct stages *s, const vec *r) {
    vec *top = c->top;
    ARRAY(point, NQ);
    vec left = vec_set(0), parts = vec_set(0);
    ivec met = ~(ivec){0}, here;
    for (long i = 0; i < NQ; i++) {
        parts += vec_abs(p[i]);
        for (long j = 0; j < VS; j++) {
            left += vec_abs(r[j * NQ + i]);
            parts += vec_abs(s->P[j * NQ + i]) + vec_abs(s->f[j * NQ + i]);
        }
        for (long m = 0; NC > 0 && m < VM; m++) parts += vec_abs(s->GT[m * NQ + i]);
    }
    met = (ivec)(left <= 1e-14 * parts);
    for (long m = 0; NC > 0 && m < VM; m++) {
        combine(c, q, &V_E(m, 0), s->V, point);
        constraints_met(c, point, &here);
        met &= here;
    }
    c->top = top;
    return met;
}

/* Newton's method for all stages, on the lanes *live; those left had no solution. */
INLINE void newton_stages(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *dZ, const vec *extra,
                          const vec *mass, struct stages *s, ivec *live) {
    const long n = UNKNOWNS;
    vec *top = c->top;
    ARRAY(A, UNKNOWNS * UNKNOWNS);
    ARRAY(scratch, UNKNOWNS * UNKNOWNS + UNKNOWNS);
    ARRAY(r, UNKNOWNS);
    ARRAY(end, NQ);
    ARRAY(move, NQ);
    ARRAY(x, NQ);
    vec *inner = c->top;
    ivec singular = {0}, now;
    int it = 0;
    stage_positions(c, q, s);
    combine(c, q, vprk_table, s->V, end);
    do {
        stage_system(c, q, p, dW, dZ, extra, mass, s, r, A);
        if (it >= NEWTON_PATIENT) *live &= ~stages_met(c, q, p, s, r);
        vec m = MODEL_L ? largest_of(s->PY, NQ, NQ + 1) : 1.0 / largest_of(mass, NQ, NQ + 1);
        vec g = NC > 0 ? largest_of(s->GX, NC * NQ, 1) : vec_set(1);
        scale_system(m, g, r, A);
        solve_dense((int)n, A, r, scratch, &now);
        for (long i = 0; i < n; i++) r[i] *= i >= VS * NQ ? m / g : MODEL_L ? vec_set(1) : m;
        singular |= now & *live;
        for (long i = 0; i < VS * NQ; i++) s->Y[i] = vec_select(*live, s->Y[i] - r[i], s->Y[i]);
        for (long i = 0; i < VM * NC; i++) s->lam[i] = vec_select(*live, s->lam[i] - r[VS * NQ + i], s->lam[i]);
        for (long i = 0; i < NQ; i++) move[i] = end[i];
        stage_positions(c, q, s);
        combine(c, q, vprk_table, s->V, end);
        for (long i = 0; i < NQ; i++) {
            x[i] = end[i] - q[i];
            move[i] -= end[i];
        }
        *live &= (still_moving(NQ, move, x, q, 1e-9) | (ivec)(vec_set(it == 0 ? 1.0 : 0.0) > 0.5)) & ~singular;
        c->top = inner;
        c->iterations++;
    } while (++it < NEWTON_MAX && vec_any(*live));
    if (vec_any(singular)) lanes_failed(c, &singular, NQ, LGV_FAIL_SINGULAR);
    c->top = top;
}

/* For constant masses and tableaux whose multipliers and constraints lie at the stages themselves (VPRK_S >= 2: X_m = Q_m, constraint
 * m at Q_m+1) the multipliers alone are solved for, with forces and directions of the multipliers from the stages before:
 *
 *     sum_m C_im G(Q_i) M^-1 G(Q_m)^T delta_m = g(Q_i) / dt,   C_im = sum_k a_ik ahat_km,   lam_m -= delta_m.
 *
 * The error falls by a factor of the size dt^2 in each round; lanes where it falls too slowly are left in *live. */
#define QUICK_ROUNDS 12
#define QUICK_SIZE (VM * NC)
#define QUICK_WORK (VS * (2 * NC * NQ + NQ + NM) + 2 * QUICK_SIZE * QUICK_SIZE + 3 * QUICK_SIZE + SYSTEM)

/* The rows of the system for the multipliers. */
INLINE void quick_system(const vec *G, const vec *MG, vec *A) {
    for (long i = 1; i < VS; i++)
        for (long m = 0; m < VM; m++) {
            double C = 0;
            for (long k = 0; k < VS; k++) C += V_A(i, k) * V_AM(k, m);
            for (long a = 0; a < NC; a++)
                for (long b = 0; b < NC; b++)
                    A[((i - 1) * NC + a) * QUICK_SIZE + m * NC + b] =
                        C * dot(G + (i * NC + a) * NQ, MG + (m * NC + b) * NQ);
        }
}

/* Momenta and velocities of the stages from their forces and multipliers, in the lanes that are not done: a lane's bits must not
 * depend on the others. */
INLINE void quick_momenta(struct ctx *c, const vec *q, const vec *p, const ivec *far, struct stages *s) {
    for (long j = 0; j < VS; j++) {
        for (long i = 0; i < NQ; i++) {
            vec sum = p[i];
            for (long k = 0; k < VS; k++)
                if (V_AHAT(j, k) != 0) sum += V_AHAT(j, k) * s->f[k * NQ + i];
            for (long m = 0; NC > 0 && m < VM; m++)
                if (V_AM(j, m) != 0) sum += V_AM(j, m) * s->GT[m * NQ + i];
            s->Y[j * NQ + i] = vec_select(*far, sum, s->Y[j * NQ + i]);
        }
        face_K1(c, time_at(c, V_TIME(j)), q, s->Y + j * NQ, 1.0, no_noise, 0, s->V + j * NQ);
    }
}

INLINE void quick_stages(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *dZ, const vec *extra,
                         struct stages *s, ivec *live) {
    vec *top = c->top;
    ARRAY(G, VS * NC * NQ);
    ARRAY(MG, VS * NC * NQ);
    ARRAY(A, QUICK_SIZE * QUICK_SIZE);
    ARRAY(scratch, QUICK_SIZE * QUICK_SIZE + QUICK_SIZE);
    ARRAY(r, QUICK_SIZE);
    ARRAY(w, VS * NM);
    ARRAY(old, VS * NQ);
    vec *inner = c->top, before = vec_set(0), size = vec_set(0);
    ivec known = *live, far = known, now;
    int round = 0;
    for (long j = 0; j < VS; j++) noise_weights(c, METHOD_DZ, V_BETA(j), V_GAMMA(j), dW, dZ, w + j * NM);
    for (long i = 0; i < NQ; i++) size += vec_abs(q[i]);
    for (long j = 0; j < VS; j++)
        for (long i = 0; i < NQ; i++) {
            s->Q[j * NQ + i] = q[i];
            s->Y[j * NQ + i] = p[i];
        }
    do {
        vec moved = vec_set(0);
        for (long j = 0; j < VS; j++) {
            if (round > 0 && j > 0) {
                combine(c, q, &V_A(j, 0), s->V, s->Q + j * NQ);
                for (long i = 0; i < NQ; i++) moved += vec_abs(s->Q[j * NQ + i] - old[j * NQ + i]);
            }
            for (long i = 0; i < NQ; i++) old[j * NQ + i] = s->Q[j * NQ + i];
            if (round > 0 && j == 0) continue; /* the first stage is q */
            face_K1(c, time_at(c, V_TIME(j)), s->Q + j * NQ, p, c->dt * V_B(j), w + j * NM, s->f + j * NQ, 0);
            for (long i = 0; i < NQ; i++) {
                s->f[j * NQ + i] = -s->f[j * NQ + i];
                if (CORRECTED && V_TIME(j) == 0) s->f[j * NQ + i] += V_B(j) * extra[i];
            }
            if (NC == 0) continue;
            model_G(c, s->Q + j * NQ, G + j * NC * NQ);
            if (j < VM) constraint_rows(c, G + j * NC * NQ, 0, MG + j * NC * NQ);
            if (round > 0 && j > 0) model_g(c, s->Q + j * NQ, r + (j - 1) * NC);
        }
        if (NC > 0 && round > 0) {
            quick_system(G, MG, A);
            for (long k = 0; k < QUICK_SIZE; k++) r[k] *= 1 / c->dt;
            solve_dense((int)QUICK_SIZE, A, r, scratch, &now);
            for (long k = 0; k < QUICK_SIZE; k++) s->lam[k] -= vec_select(far, r[k], vec_set(0));
        }
        for (long m = 0; NC > 0 && m < VM; m++) {
            for (long i = 0; i < NQ; i++) s->GT[m * NQ + i] = vec_set(0);
            constraint_add(G + m * NC * NQ, s->lam + m * NC, s->GT + m * NQ);
        }
        quick_momenta(c, q, p, &far, s);
        if (round > 1) far &= (ivec)(moved * moved > 1e-18 * size * before) & (ivec)(moved > 1e-15 * size);
        before = moved;
        c->top = inner;
        c->iterations++;
    } while (++round < QUICK_ROUNDS && vec_any(far));
    for (long i = 0; i < NQ; i++) far |= known & ~vec_finite(s->Y[(VS - 1) * NQ + i]);
    *live = far;
    c->top = top;
}

/* What the stages have found becomes the end of the step. */
INLINE void stages_end(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, const vec *extra, struct stages *s,
                       vec *v) {
    ARRAY(w, NM);
    ARRAY(end, NQ);
    combine(c, q, vprk_table, s->V, end);
    for (long j = 0; j < VS; j++) {
        noise_weights(c, METHOD_DZ, V_BETA(j), V_GAMMA(j), dW, dZ, w);
        stage_values(c, j, w, 0, s);
        for (long i = 0; i < NQ; i++)
            p[i] += s->f[j * NQ + i] + (CORRECTED && V_TIME(j) == 0 ? V_B(j) * extra[i] : vec_set(0));
    }
    for (long m = 0; NC > 0 && m < VM; m++)
        for (long i = 0; i < NQ; i++) p[i] += s->GT[m * NQ + i];
    for (long i = 0; i < NQ; i++) {
        q[i] = vec_select((ivec)(q[i] == q[i]), end[i], q[i]);
        v[i] = s->Y[(VS - 1) * NQ + i];
    }
}

INLINE void stages_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ) {
    ARRAY(values, VS * 5 * NQ);
    ARRAY(blocks, 4 * NQ * NQ);
    ARRAY(multipliers, VM * (2 * NQ + NC * NQ + NQ * NQ + NC));
    ARRAY(mass, NQ * NQ);
    ARRAY(v, NQ);
    ARRAY(mu, NC);
    ARRAY(extra, NQ);
    ARRAY(G, NC * NQ);
    struct stages s = {.Y = values,
                       .V = values + VS * NQ,
                       .Q = values + 2 * VS * NQ,
                       .P = values + 3 * VS * NQ,
                       .f = values + 4 * VS * NQ,
                       .PQ = blocks,
                       .PY = blocks + NQ * NQ,
                       .fQ = blocks + 2 * NQ * NQ,
                       .fY = blocks + 3 * NQ * NQ,
                       .X = multipliers,
                       .GT = multipliers + VM * NQ,
                       .GX = multipliers + 2 * VM * NQ,
                       .S = multipliers + VM * (2 * NQ + NC * NQ),
                       .lam = multipliers + VM * (2 * NQ + NC * NQ + NQ * NQ)};
    ivec live = (ivec)(p[0] == p[0]), singular = {0};
    for (long i = 0; i < NQ; i++) v[i] = MODEL_L ? c->extra[i * GROUPS] : p[i];
    for (long i = 0; i < VM * NC; i++) s.lam[i] = vec_set(0);
    if (MODEL_L && CORRECTED) constraint_masses(c, time_at(c, 0), q, v, mass);
    if (CORRECTED) {
        model_G(c, q, G);
        correction_gradient(c, time_at(c, 0), q, G, mass, extra);
        for (long i = 0; i < NQ; i++) extra[i] *= -c->dt * VPRK_CORRECTION * c->dt;
    }
    if (QUICK) quick_stages(c, q, p, dW, dZ, extra, &s, &live);
    if (!QUICK || RARELY(vec_any(live))) {
        for (long j = 0; j < VS; j++)
            for (long i = 0; i < NQ; i++) s.Y[j * NQ + i] = QUICK ? vec_select(live, v[i], s.Y[j * NQ + i]) : v[i];
        for (long i = 0; i < VM * NC; i++) s.lam[i] = vec_select(live, vec_set(0), s.lam[i]);
        if (!MODEL_L) constraint_masses(c, time_at(c, 0), q, v, mass);
        newton_stages(c, q, p, dW, dZ, extra, mass, &s, &live);
        if (vec_any(live)) lanes_failed(c, &live, NQ, LGV_FAIL_NEWTON);
    }
    stage_positions(c, q, &s);
    stages_end(c, q, p, dW, dZ, extra, &s, v);
    model_G(c, q, G);
    if (MODEL_L && CORRECTED) constraint_masses(c, time_at(c, 1), q, v, mass);
    if (CORRECTED) {
        correction_gradient(c, time_at(c, 1), q, G, mass, extra);
        for (long j = 0; j < VS; j++)
            for (long i = 0; V_TIME(j) == 1 && i < NQ; i++) p[i] -= V_B(j) * c->dt * VPRK_CORRECTION * c->dt * extra[i];
    }
    for (long m = 0; m < NC; m++) mu[m] = vec_set(0);
    singular = live = (ivec){0};
    if (VPRK_PROJECT) project_momentum(c, time_at(c, 1), q, G, mass, p, v, mu, &singular, &live);
    if (!VPRK_PROJECT && MODEL_L) project_velocity(c, time_at(c, 1), q, G, 0, p, v, mu, &singular, &live);
    live &= (ivec)(p[0] == p[0]);
    if (vec_any(live)) lanes_failed(c, &live, NQ, LGV_FAIL_NEWTON);
    singular &= (ivec)(p[0] == p[0]);
    if (vec_any(singular)) lanes_failed(c, &singular, NQ, LGV_FAIL_SINGULAR);
    for (long i = 0; MODEL_L && i < NQ; i++) c->extra[i * GROUPS] = v[i];
    for (long m = 0; m < NC; m++) {
        vec sum = mu[m];
        for (long k = 0; k < VM; k++) sum += s.lam[k * NC + m];
        c->extra[(m + (MODEL_L ? NQ : 0)) * GROUPS] = sum / c->dt;
    }
}

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    if (KICKS) {
        vec *top = c->top;
        struct kept k = kept_in(carry);
        if (MODEL_SPARSE) constraint_masses(c, time_at(c, 0), q, p, k.mass);
        keep(c, time_at(c, 0), q, p, &k);
        c->top = top;
    }
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    if (KICKS)
        kicks_step(c, q, p, dW, dZ, carry);
    else
        stages_step(c, q, p, dW, dZ);
}
#else
#include "kernel/method.h"
const struct lgv_method lgv_method_vprk = {
    .family = "variational",
    .source = "vprk.c",
    .needs = LGV_NEEDS_NOISE_OF_Q,
    .weak_order = 1,
    .symplectic = true,
    .linear_momentum_maps = true,
    .constrained = true,
};
#endif
