/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Multiple time stepping for a declared split V = V0 + V1 of the potential of H = p.M^-1 p/2 + V(q).
 *
 *     Impulse(n)  kicks by V0 around n steps of velocity Verlet for V1: Verlet-I, r-RESPA.  Grubmueller, Heller,
 *                 Windemuth & Schulten (1991), doi 10.1080/08927029108022142; Tuckerman, Berne & Martyna (1992), doi
 *                 10.1063/1.463137
 *     MOLLY(n)    the mollified impulse method: kicks by the potential V0(A(q)), where A is the mean of q along the
 *                 stiff flow from rest.  Garcia-Archilla, Sanz-Serna & Skeel (1998), doi 10.1137/S1064827596313851
 *
 * With d = dt/n the mean is taken along n steps of velocity Verlet by the trapezoidal rule,
 *
 *     x_0 = q,     u_j = u_j-1 - d_j M^-1 V1'(x_j),     x_j+1 = x_j + d u_j,     A = (x_0/2 + x_1 + ... + x_n/2)/n,
 *
 * u_-1 = 0, d_0 = d/2, d_j = d; its transposed derivative, which the force A'(q)^T V0'(A) needs, by the same steps
 * backwards with V1''.  So the force is the gradient of V0(A(q)) to round-off.
 *
 * Where V1 is quadratic with frequency w and V0 with a q^2/2, one step of Impulse has the trace 2 (cos x - b sin x),
 * x being the angle of n Verlet steps and b = dt a/(2 w) about: unstable for x between k pi - 2 arctan b and k pi.  The
 * mean replaces b by b A^2, and A = sin x/(2 n tan(x/2n)) vanishes at k pi. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY (FORCE_ROWS + NP) /* V1' behind the force */

#ifdef INNER_STEPS
#if MOLLIFIED
#include "kernel/text/stiff.h"
#endif
#include "kernel/text/split.h"

#define INNER_STEP (c->dt / INNER_STEPS)

#if MOLLIFIED
/* x_0 .. x_n, one behind the other, and A.  V1' at x_0 is known. */
INLINE void mean_along(struct ctx *c, double t, const vec *p, const vec *W, const vec *V, vec *x, vec *A) {
    const double d = INNER_STEP;
    ARRAY(u, NP);
    ARRAY(g, NP);
    ARRAY(a, NP);
    for (long i = 0; i < NP; i++) {
        u[i] = vec_set(0);
        A[i] = 0.5 * x[i];
        g[i] = V[i];
    }
    for (long j = 0; j < INNER_STEPS; j++, x += NP) {
        if (j > 0) model_stiff(c, t, x, p, g);
        stiff_move(W, g, a);
        for (long i = 0; i < NP; i++) {
            ADD_PRODUCT(u[i], j > 0 ? -d : -0.5 * d, a[i]);
            x[NP + i] = FUSED(d, u[i], x[i]);
            ADD_PRODUCT(A[i], j == INNER_STEPS - 1 ? 0.5 : 1.0, x[NP + i]);
        }
    }
    for (long i = 0; i < NP; i++) A[i] *= 1.0 / INNER_STEPS;
}

/* f = A'(q)^T f: the same steps backwards. */
INLINE void mean_transposed(struct ctx *c, double t, const vec *p, const vec *W, const vec *x, vec *f) {
    const double d = INNER_STEP;
    ARRAY(B, STIFF_B);
    ARRAY(g, NP);
    ARRAY(b, NP);
    ARRAY(y, NP);
    ARRAY(z, NP);
    for (long i = 0; i < NP; i++) {
        g[i] = f[i] * (1.0 / INNER_STEPS);
        f[i] = 0.5 * g[i];
        b[i] = vec_set(0);
    }
    for (long j = INNER_STEPS - 1; j >= 0; j--) {
        for (long i = 0; i < NP; i++) {
            ADD_PRODUCT(b[i], d, f[i]);
            ADD_PRODUCT(f[i], j > 0 ? 1.0 : 0.5, g[i]);
        }
        model_stiffness(c, t, x + j * NP, p, 0, B, 0);
        stiff_move(W, b, y);
        stiff_bend(B, y, z);
        for (long i = 0; i < NP; i++) ADD_PRODUCT(f[i], j > 0 ? -d : -0.5 * d, z[i]);
    }
}
#endif

/* V1' has been put behind the force. */
INLINE void kick_force(struct ctx *c, double t, const vec *q, const vec *p, vec *carry) {
    struct force F = CARRIED_FORCE(carry);
#if MOLLIFIED
    vec *top = c->top;
    ARRAY(W, STIFF_W);
    ARRAY(A, NP);
    ARRAY(x, (INNER_STEPS + 1) * NP);
    ARRAY(h, NHQ);
    struct force there = {F.H, h};
    if (NHQ > 0) model_force(c, t, q, p, &F);
    model_stiffness(c, t, q, p, 0, 0, W);
    for (long i = 0; i < NP; i++) x[i] = q[i];
    mean_along(c, t, p, W, carry + FORCE_ROWS, x, A);
    model_force(c, t, A, p, &there);
    mean_transposed(c, t, p, W, x, F.H);
    c->top = top;
#else
    model_force(c, t, q, p, &F);
#endif
}

/* n steps of velocity Verlet for p.M^-1 p/2 + V1. */
INLINE void inner_steps(struct ctx *c, vec *q, vec *p, const vec *dW, vec *carry) {
    const double d = INNER_STEP;
    vec *V = carry + FORCE_ROWS;
    ARRAY(Kp, NP);
    for (long i = 0; i < NP; i++) ADD_PRODUCT(p[i], -0.5 * d, V[i]);
    for (long j = 1; j <= INNER_STEPS; j++) {
        model_K1(c, time_at(c, 0), q, p, d, dW, 0, Kp);
        for (long i = 0; i < NP; i++) q[i] += Kp[i];
        model_stiff(c, time_at(c, (double)j / INNER_STEPS), q, p, V);
        for (long i = 0; i < NP; i++) ADD_PRODUCT(p[i], j < INNER_STEPS ? -d : -0.5 * d, V[i]);
    }
}

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    model_stiff(c, time_at(c, 0), q, p, carry + FORCE_ROWS);
    kick_force(c, time_at(c, 0), q, p, carry);
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    (void)dZ;
    split_step(c, q, p, dW, carry, kick_force, inner_steps);
}
#endif

#ifdef LGV_HOST
#define IMPULSE                                                                                                        \
    .family = "stiff", .source = "impulse.c", .order = 2, .strong_order = 1, .strong_noncommuting = 0.5,               \
    .strong_additive = 1, .weak_order = 1, .symmetric = true, .symplectic = true, .explicit_separable = true,          \
    .linear_momentum_maps = true,                                                                                      \
    .needs = LGV_NEEDS_NOISE_OF_Q | LGV_NEEDS_QUADRATIC_KINETIC | LGV_NEEDS_FLAT | LGV_NEEDS_SPLIT
#define IMPULSE_FACE LGV_FACE_K1 | LGV_FACE_FORCE | LGV_FACE_SPLIT | LGV_FACE_APART
const struct lgv_method lgv_method_impulse = {
    IMPULSE,
    .linear = LGV_LINEAR_IMPULSE,
    .name = "Impulse",
    .aliases = "r-RESPA RESPA Verlet-I",
    .paper = "Grubmueller, Heller, Windemuth & Schulten (1991), doi 10.1080/08927029108022142; Tuckerman, Berne & "
             "Martyna (1992), doi 10.1063/1.463137",
    .doc = "Impulse method (r-RESPA): kicks by V - V1 around a number of inner steps of velocity Verlet with the "
           "declared stiff part V1 (`stiff`).",
    .constants = "#define MOLLIFIED 0\n",
    .face_separable = IMPULSE_FACE,
    .face_general = IMPULSE_FACE,
    .claims = "Symplectic; keeps momentum maps of symmetries that act linearly on the coordinates or shift them, where "
              "V1 has the symmetry too. Resonances: unstable just below dt omega = k pi, omega being a frequency of V1 "
              "as the inner steps have it.",
};
const struct lgv_method lgv_method_molly = {
    IMPULSE,
    .linear = LGV_LINEAR_MOLLIFIED,
    .name = "MOLLY",
    .aliases = "mollified-impulse",
    .paper = "Garcia-Archilla, Sanz-Serna & Skeel (1998), doi 10.1137/S1064827596313851",
    .doc = "Mollified impulse method: the impulse method with V0 = V - V1 taken at the mean of q along the stiff flow "
           "from rest. For any stiff part V1; GarciaArchilla is the same with the exact flow where V1 is quadratic.",
    .constants = "#define MOLLIFIED 1\n",
    .face_separable = IMPULSE_FACE | LGV_FACE_STIFFNESS,
    .face_general = IMPULSE_FACE | LGV_FACE_STIFFNESS,
    .carries_width = true,
    .claims = "Symplectic; keeps momentum maps of symmetries that act linearly on the coordinates or shift them, where "
              "V1 has the symmetry too. No resonance of first order at dt omega = k pi.",
};
#endif
