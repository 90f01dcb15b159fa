/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What methods for stiff potentials share: the linear systems
 *
 *     J x = r,     J = 1 + s M^-1 B = M^-1 (M + s B),     s = beta dt^2,
 *
 * B being the second derivatives of the potential, or of its stiff part; and velocity Verlet with a force that is found
 * from such a system.  Many degrees of freedom have tables of the pattern of M^-1 B (sparse_lanes.h).  Nothing is
 * pivoted, because M + s B has to be positive definite: where it is not, the step is too large for the method, and the
 * lanes fail with that reason.  With diagonal masses the pivots have the signs of those of M + s B.  Else small systems
 * are solved in the symmetric form M^-1 (M + s B) M^-1 y = r, x = M^-1 y; of sparse ones with other masses only pivots
 * that vanish are seen.
 *
 * Part of the text of a method: include-free, behind system.h and newton.h. */

#if STIFF_SPARSE
#define STIFF_B SPARSE_NG
#define STIFF_W SPARSE_NM
#else
#define STIFF_B (NP * NP)
#define STIFF_W (NP * NP)
#endif

/* y = B x, and y = M^-1 x. */
INLINE void stiff_bend(const vec *B, const vec *x, vec *y) {
#if STIFF_SPARSE
    sparse_multiply_rows(SPARSE_NQ, B, x, y);
#else
    for (long i = 0; i < NP; i++) {
        vec sum = vec_set(0);
        for (long j = 0; j < NP; j++) ADD_PRODUCT(sum, B[i * NP + j], x[j]);
        y[i] = sum;
    }
#endif
}

INLINE void stiff_move(const vec *W, const vec *x, vec *y) {
#if STIFF_SPARSE
    sparse_multiply_mass(W, x, y);
#else
    for (long i = 0; i < NP; i++) {
        vec sum = vec_set(0);
        if (STIFF_DIAGONAL) sum = W[i * NP + i] * x[i];
        for (long j = 0; !STIFF_DIAGONAL && j < NP; j++) ADD_PRODUCT(sum, W[i * NP + j], x[j]);
        y[i] = sum;
    }
#endif
}

#if STIFF_SPARSE
INLINE ivec stiff_eliminate(struct ctx *c, double s, const vec *B, const vec *W, vec *r) {
    ARRAY(A, SPARSE_NA);
    ARRAY(work, SPARSE_NC);
    ivec lost, negative = {0};
    sparse_one(A);
    sparse_add_tile(0, 0, s, W, B, A);
    sparse_factor(A, &lost);
    for (long i = 0; STIFF_DIAGONAL && i < SPARSE_NC; i++) negative |= ~(ivec)(A[SPARSE_TABLE(a_diagonal)[i]] > 0);
    sparse_substitute(A, r, work, &lost);
    return lost | negative;
}
#else
INLINE void stiff_dense(struct ctx *c, double s, const vec *B, const vec *W, vec *A) {
    if (STIFF_DIAGONAL) {
        for (long i = 0; i < NP; i++)
            for (long j = 0; j < NP; j++) A[i * NP + j] = FUSED(s * W[i * NP + i], B[i * NP + j], vec_set(i == j));
        return;
    }
    ARRAY(row, NP);
    for (long i = 0; i < NP; i++) {
        for (long j = 0; j < NP; j++) {
            row[j] = vec_set(0);
            for (long k = 0; k < NP; k++) ADD_PRODUCT(row[j], W[i * NP + k], B[k * NP + j]);
        }
        for (long j = 0; j < NP; j++) {
            vec sum = vec_set(0);
            for (long k = 0; k < NP; k++) ADD_PRODUCT(sum, row[k], W[k * NP + j]);
            A[i * NP + j] = FUSED(s, sum, W[i * NP + j]);
        }
    }
}

INLINE ivec stiff_eliminate(struct ctx *c, double s, const vec *B, const vec *W, vec *r) {
    ARRAY(A, NP * NP);
    ARRAY(y, NP);
    ivec bad = {0};
    stiff_dense(c, s, B, W, A);
    for (long k = 0; k < NP; k++) {
        bad |= ~((ivec)(A[k * NP + k] > 0) & vec_finite(A[k * NP + k]));
        A[k * NP + k] = 1.0 / A[k * NP + k];
        for (long i = k + 1; i < NP; i++) {
            vec factor = A[i * NP + k] * A[k * NP + k];
            for (long j = k + 1; j < NP; j++) ADD_PRODUCT(A[i * NP + j], -factor, A[k * NP + j]);
            ADD_PRODUCT(r[i], -factor, r[k]);
        }
    }
    for (long i = NP - 1; i >= 0; i--) {
        for (long j = i + 1; j < NP; j++) ADD_PRODUCT(r[i], -A[i * NP + j], r[j]);
        r[i] *= A[i * NP + i];
    }
    if (STIFF_DIAGONAL) return bad;
    stiff_move(W, r, y);
    for (long i = 0; i < NP; i++) r[i] = y[i];
    return bad;
}
#endif

/* x replaces r.  Returns the lanes where M + s B is not positive definite. */
INLINE ivec stiff_solve(struct ctx *c, double s, const vec *B, const vec *W, vec *r) {
    vec *top = c->top;
    ivec bad = stiff_eliminate(c, s, B, W, r);
    c->top = top;
    return bad;
}

/* Lanes that have failed before are NaN, and stay what they are. */
INLINE void stiff_failed(struct ctx *c, const vec *q, ivec bad) {
    bad &= (ivec)(q[0] == q[0]);
    if (RARELY(vec_any(bad))) lanes_failed(c, &bad, LGV_FAIL_INDEFINITE);
}

/* The force at x, weights not yet applied: as model_force. */
typedef void stiff_force(struct ctx *c, double t, const vec *x, const vec *p, struct force *F);

/* Velocity Verlet with the force that is carried from the step before. */
INLINE void stiff_verlet(struct ctx *c, vec *x, vec *p, const vec *dW, vec *carry, stiff_force *force) {
    struct force F = CARRIED_FORCE(carry);
    double half = 0.5 * c->dt;
    ARRAY(w, NW);
    ARRAY(Kp, NP);
    for (long m = 0; m < NM; m++) w[m] = 0.5 * dW[m];
    model_kick(c, p, &F, half, w);
    model_K1(c, time_at(c, 0), x, p, c->dt, dW, 0, Kp);
    for (long i = 0; i < NP; i++) x[i] += Kp[i];
    force(c, time_at(c, 1), x, p, &F);
    model_kick(c, p, &F, half, w);
}
