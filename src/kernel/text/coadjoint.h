/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A step along coadjoint orbits for any H(m) and any noise h_k(m) of momenta of rotations and coupled bodies.  With the
 * increment Hamiltonian K(p; dt, dW) of the part that depends on momenta a step is
 *
 *     m = (dtau^-1_u)^* mu,   u = K_p(mu),     g+ = g tau(u),     m+ = Ad*_tau(u) m = (dtau^-1_-u)^* mu,
 *
 * for vectors q+ = q + K_p(mu), p+ = p.  It is the variational step of the Lagrangian whose Legendre transform K is,
 * written in mu, so that K needs no inverse: symplectic in (g, m), a Poisson map of m alone, and symmetric, since
 * exchanging m and m+ changes the sign of u.  For H = m.I^-1 m/2 without noise it is the step of letters R and X
 * (rotor.h, kirchhoff.h).  With noise the midpoint mu is that of Stratonovich's integral: strong order 1, or 1/2 where
 * noises do not commute.  m+ is m turned by one rotation, whatever the accuracy of mu, so that Casimirs and momenta in
 * space stay to round-off.
 *
 * mu is found by Newton's method, beyond COADJOINT_NEWTON momenta by iterating the equation as it stands.
 *
 * Bou-Rabee & Marsden (2009), doi 10.1007/s10208-008-9030-4; Holm & Tyranowski (2018), Stochastic discrete Hamiltonian
 * variational integrators, doi 10.1007/s10543-018-0720-2.  Include-free; it follows kirchhoff.h and rotations.h. */

#define COADJOINT_NEWTON 16L

struct coadjoint {
    double t;
    const vec *q, *p, *dW;
    vec *u, *Kpp, *A, *scratch; /* K_p(mu) */
    int exponential;
};

/* The left side of one body with n momenta, 3 or 6, angular ones first. */
struct coadjoint_side {
    vec u[6], z[5][6], weight[4], side[6];
};

/* z + w x z/2 + w (w.z)/4, or z + w x z/2 + k w x (w x z); z[1] and z[2] keep the products, weight k and k'. */
INLINE void coadjoint_side3(int exponential, struct coadjoint_side *b) {
    const vec *w = b->u;
    for (int k = 0; k < 3; k++) b->z[1][k] = b->z[2][k] = vec_set(0);
    kirchhoff_cross(1, w, b->z[0], b->z[1]);
    kirchhoff_cross(1, w, b->z[1], b->z[2]);
    vec inner = 0.25 * rotor_dot(w, b->z[0]);
    if (exponential) rotor_kappa(0.25 * rotor_dot(w, w), &b->weight[0], &b->weight[1]);
    if (exponential) b->weight[0] *= 0.25, b->weight[1] *= 0.0625;
    for (int k = 0; k < 3; k++)
        b->side[k] = b->z[0][k] + FUSED(0.5, b->z[1][k], exponential ? b->weight[0] * b->z[2][k] : inner * w[k]);
}

INLINE void coadjoint_along3(int exponential, const struct coadjoint_side *b, const vec *d, const vec *dz, vec *out) {
    const vec *w = b->u, *z = b->z[0];
    vec once[3] = {vec_set(0), vec_set(0), vec_set(0)}, twice[3] = {vec_set(0), vec_set(0), vec_set(0)};
    kirchhoff_cross(1, d, z, once);
    kirchhoff_cross(1, w, dz, once);
    if (exponential) {
        vec rise = 2.0 * b->weight[1] * rotor_dot(w, d);
        kirchhoff_cross(1, d, b->z[1], twice);
        kirchhoff_cross(1, w, once, twice);
        for (int k = 0; k < 3; k++) twice[k] = FUSED(b->weight[0], twice[k], rise * b->z[2][k]);
    } else {
        vec inner = 0.25 * rotor_dot(w, z), change = 0.25 * (rotor_dot(d, z) + rotor_dot(w, dz));
        for (int k = 0; k < 3; k++) twice[k] = FUSED(inner, d[k], change * w[k]);
    }
    for (int k = 0; k < 3; k++) out[k] = dz[k] + FUSED(0.5, once[k], twice[k]);
}

INLINE void coadjoint_side_of(int n, int exponential, struct coadjoint_side *b) {
    if (n == 3)
        coadjoint_side3(exponential, b);
    else if (exponential)
        kirchhoff_exponential_side(b->u, b->z, b->weight, b->side);
    else
        kirchhoff_cayley_side(b->u, b->z[0], b->side);
}

INLINE void coadjoint_along(int n, int exponential, struct coadjoint_side *b, const vec *d, const vec *dz, vec *out) {
    if (n == 3) {
        coadjoint_along3(exponential, b, d, dz, out);
    } else if (exponential) {
        vec change[5][6], rise = 2.0 * rotor_dot(b->u, d);
        for (int k = 0; k < 6; k++) change[0][k] = dz[k];
        kirchhoff_exponential_along(b->u, b->z, b->weight, d, change, &rise, out);
    } else {
        kirchhoff_cayley_along(b->u, b->z[0], b->side, d, dz, out);
    }
}

/* The residual of the body whose angular momenta begin with row `angular`, and its rows of the matrix. */
INLINE void coadjoint_body(const struct coadjoint *h, struct newton *s, int n, long angular, long linear) {
    struct coadjoint_side b;
    for (int k = 0; k < n; k++) {
        long row = k < 3 ? angular + k : linear + k - 3;
        b.u[k] = h->u[row];
        b.z[0][k] = s->x[row];
    }
    coadjoint_side_of(n, h->exponential, &b);
    for (int k = 0; k < n; k++) {
        long row = k < 3 ? angular + k : linear + k - 3;
        s->e[row] = b.side[k] - h->p[row];
    }
    for (long j = 0; NP <= COADJOINT_NEWTON && j < NP; j++) {
        vec d[6], dz[6], column[6];
        for (int k = 0; k < n; k++) {
            long row = k < 3 ? angular + k : linear + k - 3;
            d[k] = h->Kpp[row * NP + j];
            dz[k] = vec_set(row == j);
        }
        coadjoint_along(n, h->exponential, &b, d, dz, column);
        for (int k = 0; k < n; k++) h->A[(k < 3 ? angular + k : linear + k - 3) * NP + j] = column[k];
    }
}

INLINE ivec coadjoint_correct(struct ctx *c, struct newton *s, void *of) {
    struct coadjoint *h = of;
    const int with_matrix = NP <= COADJOINT_NEWTON;
    if (with_matrix)
        model_K2(c, h->t, h->q, s->x, c->dt, h->dW, 0, h->u, 0, 0, h->Kpp);
    else
        model_K1(c, h->t, h->q, s->x, c->dt, h->dW, 0, h->u);
    for (long i = 0; i < NP; i++) { /* of vectors p stays */
        s->e[i] = vec_set(0);
        for (long j = 0; with_matrix && j < NP; j++) h->A[i * NP + j] = vec_set(i == j);
    }
    for (long run = 0; run < ROTATION_RUNS; run++)
        for (long k = 0; k < rotation_run[run].count; k++) coadjoint_body(h, s, 3, rotation_run[run].p + 3 * k, 0);
    for (long run = 0; run < COUPLED_RUNS; run++)
        for (long k = 0, n = 3 * coupled_run[run].count; 3 * k < n; k++)
            coadjoint_body(h, s, 6, coupled_run[run].p + 3 * k, coupled_run[run].p + 3 * k - n);
    return with_matrix ? system_solve(SYSTEM_ANY, NP, h->A, s->e, h->scratch) : (ivec){0};
}

/* Beyond a whole turn the exponential takes its values again, and no solution there is one. */
INLINE ivec coadjoint_far(const struct coadjoint *h) {
    ivec far = {0};
    for (long run = 0; h->exponential && run < ROTATION_RUNS + COUPLED_RUNS; run++) {
        long plain = run < ROTATION_RUNS, at = plain ? rotation_run[run].p : coupled_run[run - ROTATION_RUNS].p;
        long count = plain ? rotation_run[run].count : coupled_run[run - ROTATION_RUNS].count;
        for (long k = 0; k < count; k++)
            far |= (ivec)(rotor_dot(h->u + at + 3 * k, h->u + at + 3 * k) > 39.478417604357434);
    }
    return far;
}

INLINE ivec coadjoint_moving(struct ctx *c, struct newton *s, void *of) {
    const struct coadjoint *h = of;
    (void)c;
    if (NP <= COADJOINT_NEWTON) return still_moving(NP, s->e, s->x, h->p, 1e-8) | coadjoint_far(h);
    vec e = vec_set(0), x = vec_set(0), base = vec_set(0), rate;
    for (long i = 0; i < NP; i++) {
        ADD_PRODUCT(e, s->e[i], s->e[i]);
        ADD_PRODUCT(x, s->x[i], s->x[i]);
        ADD_PRODUCT(base, h->p[i], h->p[i]);
    }
    return still_falling(s, e, x, base, vec_set(1e-3), &rate) | coadjoint_far(h);
}

/* g+ = g tau(u), m+ = Ad*_tau(u) m */
INLINE void coadjoint_move(int exponential, const vec *u, vec *q, vec *p) {
    for (long run = 0; run < ROTATION_RUNS; run++)
        for (long k = 0; k < rotation_run[run].count; k++) {
            const vec *w = u + rotation_run[run].p + 3 * k;
            vec T[4], sinc = vec_set(1), s = 0.25 * rotor_dot(w, w), unseen[] = UNSEEN;
            vec *x = SEEN_AT(q + rotation_run[run].q + 4 * k, unseen);
            if (exponential)
                rotor_sinc(s, &sinc, &T[0]);
            else
                T[0] = sinc = 1.0 / vec_sqrt(1.0 + s);
            for (int i = 0; i < 3; i++) T[1 + i] = 0.5 * sinc * w[i];
            rotor_turn(x, T);
            rotor_turn_back(p + rotation_run[run].p + 3 * k, T);
            rotor_unit(x);
        }
    for (long run = 0; run < COUPLED_RUNS; run++)
        for (long k = 0, n = 3 * coupled_run[run].count; 3 * k < n; k++) {
            const vec *w = u + coupled_run[run].p + 3 * k, *v = w - n;
            vec both[6] = {w[0], w[1], w[2], v[0], v[1], v[2]}, T[4], y[3], unseen[] = UNSEEN;
            vec *x = SEEN_AT(q + coupled_run[run].q - n + 3 * k, unseen + 4), *m = p + coupled_run[run].p + 3 * k;
            if (exponential)
                kirchhoff_exponential_map(both, T, y);
            else
                kirchhoff_cayley_map(both, T, y);
            kirchhoff_move(T, y, x, SEEN_AT(q + coupled_run[run].q + 4 * k, unseen), m, m - n);
        }
}

INLINE void coadjoint_step(struct ctx *c, int exponential, vec *q, vec *p, const vec *dW) {
    vec *top = c->top;
    ARRAY(mu, NP);
    ARRAY(e, NP);
    ARRAY(u, NP);
    ARRAY(Kpp, NP <= COADJOINT_NEWTON ? NP * NP : 1);
    ARRAY(A, NP <= COADJOINT_NEWTON ? NP * NP : 1);
    ARRAY(scratch, NP <= COADJOINT_NEWTON ? SYSTEM_SCRATCH(NP) : 1);
    struct coadjoint h = {time_at(c, 0.5), q, p, dW, u, Kpp, A, scratch, exponential};
    struct newton s = {.n = NP, .x = mu, .e = e, .live = (ivec)(p[0] == p[0])};
    for (long i = 0; i < NP; i++) mu[i] = p[i];
    newton(c, &s, NP <= COADJOINT_NEWTON ? NEWTON_MAX : 4 * NEWTON_MAX, coadjoint_correct, coadjoint_moving, 0, &h);
    model_K1(c, h.t, q, mu, c->dt, dW, 0, u);
    ivec lost = s.live | s.singular;
    for (long i = 0; i < NP; i++) u[i] = vec_select(lost, vec_set(__builtin_nan("")), u[i]);
    vectors_move(u, q);
    coadjoint_move(exponential, u, q, p);
    c->top = top;
}
