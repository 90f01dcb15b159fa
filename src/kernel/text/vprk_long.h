/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The equations of vprk_stages.h for many coordinates and constraints, without dense matrices.
 *
 * Lagrangians: Newton's method for all stages, along the pattern of all second derivatives of L and of the constraints
 * (pattern.h).  A node is a coordinate, with its VS velocities, or a constraint, with its VM multipliers; what a block
 * of a constraint has beyond these is 1 on the diagonal and 0 elsewhere.
 *
 * Constant masses: the rounds of quick_stages alone, whose system for the multipliers has blocks of VM rows at the
 * entries of G M^-1 G^T.  Without constraints the error falls by a factor of rho(a ahat) dt^2 omega^2 a round, which is
 * dt^2 omega^2 / 24 for Lobatto IIIA-IIIB with three stages: below 1 wherever that method is stable (dt omega < 2.9),
 * so nothing is lost by having no other way.  With constraints omega is that of the multipliers, too: a hanging chain
 * of N rods of length l has frequencies up to 2 sqrt(N g/l).  Where the error does not fall, lanes fail, and such a
 * step is taken in parts (run/rescue.c).
 * Include-free; a part of vprk_stages.h. */

#if MODEL_L
#define STAGES_MATRIX PATTERN_BLOCKS(VS)
#define STAGES_SCRATCH (PATTERN_SCRATCH(VS) + VS * PATTERN_NODES)

/* What stage j's force and momentum add; fQ, fY, PQ, PY are those of stage j. */
INLINE void add_stage(const struct ctx *c, long j, const struct stages *s, vec *A) {
    for (long e = 0; e < PATTERN_BORDER; e++) {
        vec *block = A + pattern_place[e] * VS * VS;
        for (long k = 0; k < VS; k++) {
            if (V_A(j, k) == 0) continue;
            for (long i = 0; i < VS; i++)
                if (V_AHAT(i, j) != 0)
                    ADD_PRODUCT(block[i * VS + k], -V_AHAT(i, j) * c->dt * V_A(j, k), s->fQ[e]);
            ADD_PRODUCT(block[j * VS + k], c->dt * V_A(j, k), s->PQ[pattern_mirror[e]]);
        }
        block[j * VS + j] += s->PY[e];
        for (long i = 0; i < VS; i++)
            if (V_AHAT(i, j) != 0) ADD_PRODUCT(block[i * VS + j], -V_AHAT(i, j), s->fY[e]);
    }
}

/* What multiplier m adds, with G at its point, and constraint m with G at that. */
INLINE void add_multiplier(const struct ctx *c, long m, const struct stages *s, const vec *S, const vec *G, vec *A) {
    for (long e = 0; e < PATTERN_BORDER; e++)
        for (long i = 0; i < VS; i++)
            for (long k = 0; k < VS; k++)
                if (V_AM(i, m) != 0 && V_D(m, k) != 0)
                    ADD_PRODUCT(A[(pattern_place[e] * VS + i) * VS + k], -V_AM(i, m) * c->dt * V_D(m, k), S[e]);
    for (long l = 0; l < NC; l++) {
        for (long e = BORDER_BEGIN(l); e < BORDER_END(l); e++)
            for (long i = 0; i < VS; i++) {
                A[(BORDER_ACROSS(e) * VS + i) * VS + m] = -V_AM(i, m) * s->GX[m * JACOBIAN + e];
                A[(BORDER_PLACE(e) * VS + m) * VS + i] = V_E(m, i) * G[e];
            }
        for (long i = VM; i < VS; i++) A[(BORDER_PLACE(BORDER_END(l)) * VS + i) * VS + i] = vec_set(1);
    }
}

INLINE void stage_system(struct ctx *c, const vec *q, const vec *p, const vec *dW, const vec *dZ, const vec *extra,
                         const vec *mass, struct stages *s, vec *r, vec *A) {
    vec *top = c->top;
    ARRAY(w, NM);
    ARRAY(point, NP);
    ARRAY(G, JACOBIAN);
    (void)extra, (void)mass;
    pattern_clear(VS, A);
    for (long j = 0; j < VS; j++) {
        noise_weights(c, METHOD_DZ, V_BETA(j), V_GAMMA(j), dW, dZ, w);
        stage_values(c, j, w, 1, s);
        add_stage(c, j, s, A);
    }
    for (long m = 0; NC > 0 && m < VM; m++) {
        combine(c, q, &V_E(m, 0), s->V, point);
        model_g(c, point, r + VS * NP + m * NC);
        model_G(c, point, G);
        model_G(c, s->X + m * NP, s->GX + m * JACOBIAN);
        model_S2(c, s->X + m * NP, s->lam + m * NC, s->S);
        add_multiplier(c, m, s, s->S, G, A);
        for (long l = 0; l < NC; l++) r[VS * NP + m * NC + l] /= c->dt;
    }
    stage_residual(c, p, s, r);
    c->top = top;
}

/* Sets of unknowns one behind the other, all nodes of a set together. */
INLINE ivec stage_solve(const struct ctx *c, const struct stages *s, const vec *mass, vec *A, vec *r, vec *scratch) {
    vec *x = scratch + PATTERN_SCRATCH(VS);
    (void)c, (void)s, (void)mass;
    for (long k = 0; k < VS; k++) {
        for (long i = 0; i < NP; i++) x[k * PATTERN_NODES + i] = r[k * NP + i];
        for (long l = 0; l < NC; l++)
            x[k * PATTERN_NODES + NP + l] = k < VM ? r[VS * NP + k * NC + l] : vec_set(0);
    }
    ivec singular = pattern_solve(VS, A, x, scratch);
    for (long k = 0; k < VS; k++) {
        for (long i = 0; i < NP; i++) r[k * NP + i] = x[k * PATTERN_NODES + i];
        for (long l = 0; k < VM && l < NC; l++) r[VS * NP + k * NC + l] = x[k * PATTERN_NODES + NP + l];
    }
    return singular;
}
#else
#define STAGES_MATRIX 0
#define STAGES_SCRATCH 0

/* Matrix and solution of the system for the multipliers, in r; T has SPARSE_NA vecs. */
INLINE ivec quick_solve(const struct ctx *c, const vec *G, const vec *mass, vec *A, vec *r, vec *scratch) {
    (void)c, (void)G, (void)mass, (void)A, (void)r, (void)scratch;
#if !NC_NONE
    vec *T = scratch + PATTERN_SCRATCH(VM);
    for (long i = 1; i < VS; i++)
        for (long m = 0; m < VM; m++) {
            double C = 0;
            for (long k = 0; k < VS; k++) C += V_A(i, k) * V_AM(k, m);
            sparse_assemble(G + i * JACOBIAN, mass, G + m * JACOBIAN, T);
            for (long e = 0; e < SPARSE_NA; e++) A[(e * VM + i - 1) * VM + m] = C * T[e];
        }
    return pattern_solve(VM, A, r, scratch);
#else
    return (ivec){0};
#endif
}
#endif
