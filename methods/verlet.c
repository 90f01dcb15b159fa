/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stochastic Stoermer-Verlet, P2N2Q2Lob (Holm & Tyranowski (2018)), and its order-3/2 relatives VZ and VZc.
 *
 *     P  = p - K_q(q, P; dt/2, w1)
 *     q' = q + K_p(q, P; dt/2, w1) + K_p(q', P; dt/2, w2)
 *     p' = P - K_q(q', P; dt/2, w2)
 *
 * P2N2Q2Lob: w1 = w2 = dW/2.  VZ and VZc, for h(q): w1 = J, w2 = dW - J with J = dZ/dt.  VZc adds to H
 * (dt/12) sum_m grad h_m . H_pp grad h_m, and has strong order 3/2 (src/method/variational.c).  VZ has it where
 * that term is a constant, for additive noise and H = p . M^-1 p / 2 + U(q): else its mean is off by a term in E[J^2] =
 * dt/3, where dt/2 is needed, and the order is 1. Explicit when H and every h are separable, for VZc with constant
 * H_pp; the force at q' then serves the next step too.
 *
 * Rotations move freely between the two kicks, exactly (text/rotor.h), and VZc keeps its order: with C_m = {., h_m} and
 * A = {., T} the expansion of flow and step in these operators needs [C_m, C_n] = 0 and that [C_m, [C_n, A]] is a kick,
 * the one by h_m,g . I^-1 h_n,g.  Both hold on a group with left-trivialised derivatives, since {f, h} of functions of
 * degrees a and b in the momenta has degree a + b - 1 there too.  Bodies in SE(3) with coupled inertia have no free
 * motion in closed form; the variational step with the Cayley map, of order 2 (text/kirchhoff.h), is one near enough:
 * its error in a step is O(dt^3). */
#include "kernel/text/method_file.h"

#ifndef VERLET_J
#define VERLET_J (c->option[0] != 0)
#endif
#define METHOD_DZ VERLET_J
#define METHOD_CARRY (MODEL_SEPARABLE ? FORCE_ROWS : 0)

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    struct force F = CARRIED_FORCE(carry);
    if (MODEL_SEPARABLE) model_force(c, time_at(c, 0), q, p, &F);
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    double t = time_at(c, 0), t1 = time_at(c, 1), half = 0.5 * c->dt;
    ARRAY(w, NW);
    ARRAY(v, NW);
    ARRAY(Kp, NP);
    for (long m = 0; m < NM; m++) {
        w[m] = VERLET_J ? dZ[m] / c->dt : 0.5 * dW[m];
        v[m] = VERLET_J ? dW[m] - w[m] : w[m];
    }
    correction_weights(c, half, dW, dZ, w);
    correction_weights(c, half, dW, dZ, v);
    (void)dZ;
    if (MODEL_SEPARABLE) {
        struct force F = CARRIED_FORCE(carry);
        model_kick(c, p, &F, half, w);
#if ROTATIONS
        model_K1(c, time_at(c, 0.5), q, p, c->dt, w, 0, Kp);
        vectors_move(Kp, q);
        ROTATE_ALL(c, q, p, rotor_exactly)
#if COUPLED
        COUPLED_ALL(c, q, p, kirchhoff_cayley)
#endif
#else
        model_K1(c, t, q, p, half, w, 0, Kp);
        if (MODEL_TIME) { /* K_p changes between the two ends of the step */
            for (long i = 0; i < NP; i++) q[i] += Kp[i];
            model_K1(c, t1, q, p, half, v, 0, Kp);
            for (long i = 0; i < NP; i++) q[i] += Kp[i];
        } else {
            for (long i = 0; i < NP; i++) ADD_PRODUCT(q[i], 2.0, Kp[i]);
        }
#endif
        model_force(c, t1, q, p, &F);
        model_kick(c, p, &F, half, v);
        return;
    }
    ARRAY(Kq, NP);
    ARRAY(P, NP);
    ARRAY(Q, NP);
    model_K1(c, t, q, p, half, w, Kq, 0);
    for (long i = 0; i < NP; i++) P[i] = p[i] - Kq[i];
    implicit_kick(c, t, q, p, half, w, P);
    model_K1(c, t, q, P, half, w, 0, Kp);
    for (long i = 0; i < NP; i++) {
        q[i] += Kp[i];
        Q[i] = q[i] + Kp[i];
    }
    implicit_drift(c, t1, q, P, half, v, Q);
    model_K1(c, t1, Q, P, half, v, Kq, 0);
    for (long i = 0; i < NP; i++) { /* lanes that have failed on the way are NaN, and stay so */
        q[i] = vec_select((ivec)(q[i] == q[i]), Q[i], q[i]);
        p[i] = vec_select((ivec)(p[i] == p[i]), P[i] - Kq[i], p[i]);
    }
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
static const double plain[] = {0}, with_j[] = {1};
#define VERLET                                                                                                         \
    .family = "Galerkin", .source = "verlet.c", .face_separable = LGV_FACE_K1 | LGV_FACE_FORCE,                        \
    .face_general = LGV_FACE_K1 | LGV_FACE_K2, .order = 2, .symplectic = true, .explicit_separable = true,             \
    .patterned = true, .linear_momentum_maps = true, .callbacks = &KERNEL_NAME, .step = &KERNEL_STEP,                  \
    .linear = LGV_LINEAR_VERLET, .modified = {1.0 / 12, -1.0 / 24, -1.0 / 24},                                         \
    .claims = "Symplectic; keeps momentum maps of symmetries that act linearly on the coordinates or shift them. "     \
              "Without noise the energy has bounded errors and no drift."
const struct lgv_method lgv_method_verlet = {
    VERLET,
    .name = "P2N2Q2Lob",
    .symmetric = true,
    .weak_order = 1,
    .aliases = "verlet stoermer-verlet velocity-verlet leapfrog",
    .paper = "Holm & Tyranowski (2018), Stochastic discrete Hamiltonian variational integrators, doi "
             "10.1007/s10543-018-0720-2",
    .doc = "Stochastic Stoermer-Verlet. Explicit for separable models with one force evaluation a step, implicit "
           "otherwise.",
    .constants = "#define VERLET_J 0\n",
    .values = plain,
    .strong_order = 1,
    .strong_noncommuting = 0.5,
    .strong_additive = 1,
};
const struct lgv_method lgv_method_vz = {
    VERLET,
    .name = "VZ",
    .weak_order = 1,
    .aliases = "",
    .paper = "derived for this project: Stoermer-Verlet of Holm & Tyranowski (2018), doi 10.1007/s10543-018-0720-2, "
             "with noise weights J and dW - J",
    .doc = "Stoermer-Verlet with noise weights (J, dW - J), for noise h(q): strong order 3/2 when the noise is "
           "additive and H = p.M^-1 p/2 + U(q) with constant masses.",
    .constants = "#define VERLET_J 1\n",
    .values = with_j,
    .needs = LGV_NEEDS_NOISE_OF_Q,
    .strong_order = 1,
    .strong_noncommuting = 1,
    .strong_additive = 1.5,
    .additive_quadratic = true,
    .uses_dz = true,
    .rotations = true,
    .coupled = true,
    .coupled_implicit = true,
};
const struct lgv_method lgv_method_vzc = {
    VERLET,
    .name = "VZc",
    .aliases = "",
    .paper = "derived for this project: VZ, on Holm & Tyranowski (2018), doi 10.1007/s10543-018-0720-2, applied to H + "
             "dt/12 sum grad h . H_pp grad h",
    .doc = "Symplectic method of strong order 3/2 for noise h(q), rotations included: explicit with one force "
           "evaluation a step for H = p.M^-1 p/2 + U(q), the recommended default there; implicit for any other H.",
    .constants = "#define VERLET_J 1\n",
    .values = with_j,
    .needs = LGV_NEEDS_NOISE_OF_Q,
    .correction = 1.0 / 12,
    .weak_order = 2,
    .strong_order = 1.5,
    .strong_noncommuting = 1.5,
    .strong_additive = 1.5,
    .uses_dz = true,
    .rotations = true,
    .coupled = true,
    .coupled_implicit = true,
};
#endif
