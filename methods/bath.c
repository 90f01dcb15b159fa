/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The letter O of splitting words: the Ornstein-Uhlenbeck flow of a bath, q held fixed,
 *
 *     dp = -Gamma M^-1 p dt + sqrt(2 kT Gamma) dW,
 *
 * exactly (src/kernel/bath.c), for friction that is a function of q too.  With constraints p stays in the cotangent
 * space of g = 0, G M^-1 p = 0.  Where Gamma = gamma M the free map followed by the projection is exact.  Else it is
 * the midpoint rule with multipliers of Lelievre, Rousset & Stoltz (2012), doi 10.1090/S0025-5718-2012-02594-4,
 *
 *     p' = p - dt/2 Gamma M^-1 (p + p') + sqrt(2 kT Gamma) dW + G^T lambda,     G M^-1 p' = 0,
 *
 * whose stationary law is exact: the Gaussian with covariance kT P M P^T.  Masses off the diagonal and matrices Gamma
 * have it in modes.  Masses M(q) of a Lagrangian that vary, also on groups, have the same rule, in the velocities that
 * belong to p and p',
 *
 *     L_v(q, v') = p' = p - dt/2 Gamma (v + v') + sqrt(2 kT Gamma) dW + G^T lambda,     G v' = 0. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY 0

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

#if NB && CONSTRAINED && MODEL_L
/* The equation for v' is linear where L is quadratic in v. */
INLINE void bath_midpoint(struct ctx *c, const vec *q, vec *p) {
    const double t = time_at(c, 0), half = 0.5 * c->dt;
    ARRAY(G, JACOBIAN);
    ARRAY(v, NP);
    ARRAY(mu, NC);
    ivec singular, bad, lost, unsolved;
    for (long i = 0; i < NP; i++) v[i] = c->extra[i * VECS];
    model_G(c, q, G);
    project_velocity(c, t, q, G, 0, p, v, mu, &bad, &unsolved);
    bath_resist(c, half, q, v, p, 0);
    bath_shake(c, q, p);
    dragged_velocity(c, t, half, q, G, NC, p, v, mu, &singular, &lost);
    bath_resist(c, half, q, v, p, 0);
    for (long i = 0; i < NP; i++) c->extra[i * VECS] = v[i];
    lost = (lost | unsolved) & (ivec)(p[0] == p[0]);
    if (RARELY(vec_any(lost))) lanes_failed(c, &lost, LGV_FAIL_NEWTON);
    singular = (singular | bad) & (ivec)(p[0] == p[0]);
    if (RARELY(vec_any(singular))) lanes_failed(c, &singular, LGV_FAIL_SINGULAR);
}
#elif NB && BATH_MIDPOINT && BATH_DENSE
/* In modes, p = T z: A = 1 + dt/2 Gamma M^-1 is diagonal there.  Constraints are dense. */
INLINE void bath_midpoint(struct ctx *c, const vec *q, vec *p) {
    const double *T = bath_matrix(c, 0), *from = bath_matrix(c, 1);
    ARRAY(z, NB);
    ARRAY(v, NP);
    ARRAY(G, NC * NP);
    ARRAY(MG, NC * NP);
    ARRAY(y, NC);
    ivec singular;
    for (long j = 0; j < NB; j++) {
        const double *k = bath_channel(c, j), x = 0.5 * c->dt * ((1.0 - k[0]) / k[1]); /* k: of the rate, as relax */
        z[j] = vec_set(0);
        for (long i = 0; i < NP; i++) ADD_PRODUCT(z[j], from[j * NP + i], p[i]);
        z[j] = FUSED(1.0 - x, z[j], k[2] * bath_E(c)[j]);
    }
    for (long i = 0; i < NP; i++) {
        p[i] = vec_set(0);
        for (long j = 0; j < NB; j++) ADD_PRODUCT(p[i], T[i * NB + j], z[j]);
    }
    bath_relax(c, q, 0.5 * c->dt, p);
    model_G(c, q, G);
    for (long k = 0; k < NC; k++) { /* A^-1 G^T, and M^-1 of it */
        for (long i = 0; i < NP; i++) MG[k * NP + i] = G[k * NP + i];
        bath_relax(c, q, 0.5 * c->dt, MG + k * NP);
        apply_masses(c, 0.0, q, 0, MG + k * NP);
    }
    for (long i = 0; i < NP; i++) v[i] = p[i];
    apply_masses(c, 0.0, q, 0, v);
    for (long k = 0; k < NC; k++) {
        y[k] = vec_set(0);
        for (long i = 0; i < NP; i++) ADD_PRODUCT(y[k], -G[k * NP + i], v[i]);
    }
    constraint_system(c, G, MG, y, &singular);
    for (long i = 0; i < NP; i++) v[i] = vec_set(0);
    constraint_add(c, G, y, v);
    bath_relax(c, q, 0.5 * c->dt, v);
    for (long i = 0; i < NP; i++) p[i] += v[i];
    singular &= (ivec)(p[0] == p[0]);
    if (RARELY(vec_any(singular))) lanes_failed(c, &singular, LGV_FAIL_SINGULAR);
}
#elif NB && BATH_MIDPOINT
/* A = 1 + dt/2 Gamma M^-1 is diagonal: p' = A^-1 (r + G^T lambda), G M^-1 A^-1 G^T lambda = -G M^-1 A^-1 r. */
INLINE void bath_midpoint(struct ctx *c, const vec *q, vec *p) {
    ARRAY(gamma, NB);
    ARRAY(weight, NP); /* of M^-1 A^-1 */
    ARRAY(A, NP);
    ARRAY(G, JACOBIAN);
    ARRAY(y, NC);
    ivec singular;
    for (long i = 0; i < NP; i++) {
        weight[i] = vec_set(bath_rest(c)[i]);
        A[i] = vec_set(1);
    }
    bath_friction(c, q, gamma);
    for (long j = 0; j < NB; j++) {
        const double *k = bath_channel(c, j);
        vec x = 0.5 * c->dt * k[3] * gamma[j];
        long i = BATH_ROW(j);
        p[i] = FUSED(-x, p[i], p[i]) + vec_sqrt(2.0 * k[4] * gamma[j]) * bath_E(c)[j];
        A[i] = 1.0 + x;
    }
    model_G(c, q, G);
    for (long i = 0; i < NP; i++) weight[i] = weight[i] / A[i];
#if MODEL_SPARSE
    ARRAY(mass, MASSES);
    ARRAY(v, NP);
    for (long i = 0; i < NP; i++) {
        v[i] = -weight[i] * p[i];
        for (long k = SPARSE_TABLE(m_row)[i]; k < SPARSE_TABLE(m_row)[i + 1]; k++)
            mass[k] = SPARSE_TABLE(m_col)[k] == i ? weight[i] : vec_set(0);
    }
    constraint_multiply(c, G, v, y);
    constraint_solve(c, G, mass, G, y, &singular);
#else
    ARRAY(MG, NC * NP);
    for (long i = 0; i < NP; i++)
        for (long k = 0; k < NC; k++) MG[k * NP + i] = G[k * NP + i] * weight[i];
    for (long k = 0; k < NC; k++) {
        y[k] = vec_set(0);
        for (long i = 0; i < NP; i++) ADD_PRODUCT(y[k], -MG[k * NP + i], p[i]);
    }
    constraint_system(c, G, MG, y, &singular);
#endif
    constraint_add(c, G, y, p);
    for (long i = 0; i < NP; i++) p[i] = p[i] / A[i];
    singular &= (ivec)(p[0] == p[0]);
    if (RARELY(vec_any(singular))) lanes_failed(c, &singular, LGV_FAIL_SINGULAR);
}
#endif

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    vec *top = c->top;
    (void)q, (void)p, (void)dW, (void)dZ, (void)carry;
#if NB && BATH_MIDPOINT
    if (!bath_exact(c)) {
        bath_midpoint(c, q, p);
        c->top = top;
        return;
    }
#endif
#if NB
    bath_free(c, q, p);
#endif
#if NB && CONSTRAINED
    onto_tangent(c, q, p);
#endif
    c->top = top;
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_letter_bath = {
    .name = "O",
    .source = "bath.c",
    .moves = LGV_MOVES_P,
    .rotations = true,
    .reduced = true,
    .curved = true,
    .varies = true,
    .coupled = true,
    .swings = true,
    .explicit_separable = true,
    .heats = true,
};
#endif
