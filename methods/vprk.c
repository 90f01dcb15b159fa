/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stochastic variational partitioned Runge-Kutta methods for L(q, v), noise h_r(q) and constraints g(q) = 0.
 * Bou-Rabee & Owhadi, Stochastic variational partitioned Runge-Kutta integrators for constrained systems.
 * Stages i = 1..s, multipliers m = 1..M:
 *
 *     Q_i = q + dt sum_j a_ij V_j,     P_i = L_v(Q_i, V_i) = p + sum_j ahat_ij F_j + sum_m am_im G(X_m)^T lam_m
 *     F_j = dt b_j L_q(Q_j, V_j) - sum_r w_jr grad h_r(Q_j),     X_m = q + dt sum_j d_mj V_j
 *     g(q + dt sum_j e_mj V_j) = 0,     q' = q + dt sum_j b_j V_j,     p* = p + sum_j F_j + sum_m G(X_m)^T lam_m
 *     p' = p* + G(q')^T mu  with  G(q') v(q', p') = 0                                 (no mu: SHAKE)
 *
 * Lobatto IIIA-IIIB: ahat_ij = 1 - a_ji / b_i, multipliers on stages 1..s-1, constraints on stages 2..s.
 * Variational Euler has s = 1 and a = 0 (force, noise and multiplier at q), its adjoint a = 1, ahat = 0 (force and
 * noise at q').  Noise weights are w_j = beta_j dW + gamma_j J.  RATTLE-Jc and other corrected methods subtract dt c
 * C(q) from L, C = sum_r |P grad h_r|^2 in the metric M^-1, P the tangential projector, c from
 * src/method/variational.c; with u_r = M^-1 (grad h_r - G^T y_r), G u_r = 0, its gradient is
 *
 *     C_q = sum_r [2 h_r,qq u_r - 2 (y_r . g)_qq u_r - u_r . M_q . u_r].
 *
 * So it is with rotations, on a submanifold of a group: M is constant in the frame of the body, the second derivatives
 * are those along direction i of the ones along j, which do not commute, and {h_m, {h_n, T}} is again the product of
 * gradients along the constraint set that the order 3/2 needs (methods/verlet.c).
 *
 * Forces without a potential and friction as a force (VPRK_DRAG) are in vprk_forces.h.
 *
 * For constant masses (H-face) V = H_p(P).  Methods with one multiplier and all forces at q and q' (VPRK_KICKS) are
 * then kicks and a drift, and only lam is unknown: g(q + dt H_p(p + F + G(q)^T lam)) = 0, in closed form for one
 * quadratic constraint.  All others are in vprk_stages.h: the multipliers alone for constant masses, else Newton's
 * method for all stages.  Lagrangians with rotations are in vprk_group.h. */
#include "kernel/text/constrained_file.h"

/* Compiled with the library it is the form of kicks and a drift, with the coefficients of the method at run time: the
 * values are s, whether dZ is used, the factor of the correction, and the table. */
#ifdef LGV_HOST
#define VPRK_S ((long)c->option[0])
#define VPRK_M 1L
#define VPRK_DZ (c->option[1] != 0)
#define VPRK_CORRECTION (c->option[2])
#define VPRK_KICKS 1
#define VPRK_PROJECT 1
#define vprk_table (c->option + 3)
#endif

#ifndef VPRK_FREE /* 1: the drift alone, as a letter of splitting words */
#define VPRK_FREE 0
#endif

#ifndef VPRK_CHECKED /* 1: a step of a proposal, NaN where it has no solution or no way back */
#define VPRK_CHECKED 0
#endif

#ifndef VPRK_DRAG /* 1, 2: friction and bath as forces, explicit or implicit */
#define VPRK_DRAG 0
#endif

/* Forces that are no part of the kicks: vprk_forces.h. */
#if !defined LGV_HOST && !VPRK_FREE && MODEL_FORCED && (MODEL_FORCE_P || MODEL_L)
#define FORCES_APART 1
#else
#define FORCES_APART 0
#endif
#if !defined LGV_HOST && NB
#define DRAGGED VPRK_DRAG
#else
#define DRAGGED 0
#endif

#define METHOD_DZ VPRK_DZ
#define METHOD_LOOSE (!VPRK_PROJECT)
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

#define UNKNOWNS (VS * NP + VM * NC)
#if MODEL_SPARSE
#define KEPT_MASSES MASSES
#define KEPT_INVERSE (SPARSE_NA + 1)
#define SCALED (SPARSE_DIAGONAL && !ROTATIONS) /* G M^-1 has the pattern of G */
#define KEPT_ROWS (SCALED ? JACOBIAN : 0)
#else
#define KEPT_MASSES 0 /* the kept rows serve instead */
#define KEPT_INVERSE 1
#define SCALED 0
#define KEPT_ROWS (NC * NP)
#endif
#define METHOD_CARRY (KICKS ? NP + NHQ + (CORRECTED ? NP : 0) + JACOBIAN + KEPT_ROWS + KEPT_MASSES + KEPT_INVERSE : 0)

/* x = grad C(q). */
INLINE void correction_gradient(struct ctx *c, double t, const vec *q, const vec *G, const vec *mass, vec *x) {
    vec *top = c->top;
    ARRAY(axis, NM);
    ARRAY(zero, NP);
    ARRAY(d, NP);
    ARRAY(u, NP);
    ARRAY(y, NC);
    ARRAY(hqq, NP * NP);
    ARRAY(Sqq, NP * NP);
    ARRAY(Lq, NP);
    ivec singular;
    for (long i = 0; i < NP; i++) x[i] = zero[i] = vec_set(0);
    for (long m = 0; m < NM; m++) {
        for (long k = 0; k < NM; k++) axis[k] = vec_set(k == m ? 1.0 : 0.0);
        if (MODEL_L) {
            model_L2(c, t, q, zero, 0.0, axis, d, 0, hqq, 0, 0);
            for (long i = 0; i < NP; i++) d[i] = -d[i];
            for (long i = 0; i < NP * NP; i++) hqq[i] = -hqq[i];
        } else {
            model_K2(c, t, q, zero, 0.0, axis, d, 0, hqq, 0, 0);
        }
        for (long i = 0; i < NP; i++) u[i] = d[i];
        apply_masses(c, t, q, mass, u);
        constraint_multiply(c, G, u, y);
        constraint_solve(c, G, mass, G, y, &singular);
        for (long i = 0; i < NP; i++) u[i] = vec_set(0);
        constraint_add(c, G, y, u);
        for (long i = 0; i < NP; i++) u[i] = d[i] - u[i];
        apply_masses(c, t, q, mass, u);
        model_S2(c, q, y, Sqq);
        for (long i = 0; i < NP; i++)
            for (long j = 0; j < NP; j++) { /* derivatives along i of those along j */
                const long at = ROTATIONS ? j * NP + i : i * NP + j;
                ADD_PRODUCT(x[i], 2.0 * (hqq[at] - Sqq[at]), u[j]);
            }
        if (MODEL_L) { /* u . M_q . u from L_q at u, -u and 0: L is quadratic in v */
            for (long k = 0; k < NM; k++) axis[k] = vec_set(0);
            for (int sign = -1; sign <= 1; sign++) {
                for (long i = 0; i < NP; i++) d[i] = (double)sign * u[i];
                model_L1(c, t, q, d, 1.0, axis, Lq, 0);
                for (long i = 0; i < NP; i++) ADD_PRODUCT(x[i], sign == 0 ? 2.0 : -1.0, Lq[i]);
            }
        }
    }
    c->top = top;
}

#include "kernel/text/vprk_kicks.h"

#ifndef LGV_HOST
#include "kernel/text/vprk_stages.h"
#if MODEL_L && ROTATIONS
#include "kernel/text/vprk_group.h"
#endif
#include "kernel/text/vprk_forces.h"
#endif

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    if (KICKS) {
        vec *top = c->top;
        struct kept k = kept_in(c, carry);
        if (MODEL_SPARSE) constraint_masses(c, time_at(c, 0), q, p, k.mass);
        keep(c, time_at(c, 0), q, p, &k);
        c->top = top;
    }
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
#if FORCES_APART || DRAGGED
    forces_before(c, q, p);
#endif
#if KICKS
    kicks_step(c, q, p, dW, dZ, carry);
#else
    (void)carry;
#if MODEL_L && ROTATIONS
    group_step(c, q, p, dW, dZ);
#else
    stages_step(c, q, p, dW, dZ);
#endif
#endif
#if FORCES_APART
    forces_after(c, q, p);
#endif
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_method_vprk = {
    .family = "variational",
    .source = "vprk.c",
    .needs = LGV_NEEDS_NOISE_OF_Q,
    .weak_order = 1,
    .symplectic = true,
    .linear_momentum_maps = true,
    .constrained = true,
    .callbacks = &KERNEL_NAME, /* of those that are kicks */
};
#endif
