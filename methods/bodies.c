/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Comparison methods for models with rotations: Euler-Maruyama and the classical Runge-Kutta method of order 4 on
 *
 *     R' = R hat omega,     m' = m x omega - H_R + F - Gamma omega + noise,     q' = H_p,     p' = -H_q + ...,
 *
 * once in the embedding, where the quaternion of R is a vector that leaves the unit sphere, q' = q (0, omega)/2, and
 * once on the group, R(t) = R exp(hat u), where a step is
 *
 *     u' = dexp^-1_{-u} omega = omega + u x omega/2 + u x (u x omega)/12 - ...,     u(0) = 0.
 *
 * Lie-group Euler-Maruyama, and the Runge-Kutta-Munthe-Kaas method of order 4 (Munthe-Kaas (1999), doi
 * 10.1016/S0168-9274(98)00030-0), whose stages need no further term of dexp^-1.  Noise is h(q), so that Ito and
 * Stratonovich mean the same and Euler-Maruyama has strong order 1. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define METHOD_CARRY 0

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

#if ROTATIONS
#define RATES (ON_GROUP && NX ? NP : NX) /* rows that move the configuration */

INLINE void add_cross(double a, const vec *x, const vec *y, vec *out) {
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] += a * (x[i] * y[j] - x[j] * y[i]);
    }
}

/* q moved by u, which has RATES rows. */
INLINE void moved(const vec *q, const vec *u, vec *out) {
    for (long i = 0; i < NX; i++) out[i] = ON_GROUP ? q[i] : q[i] + u[i];
    if (!ON_GROUP || !NX) return;
    vectors_move(u, out);
    rotations_turn(u, out);
    coupled_move(u, out);
}

#if COUPLED
/* [(a, b), (w, v)] = (a x w, a x v - w x b), added `times` */
INLINE void add_bracket(double times, const vec *a, const vec *b, const vec *w, const vec *v, vec *out, vec *linear) {
    add_cross(times, a, w, out);
    add_cross(times, a, v, linear);
    add_cross(-times, w, b, linear);
}

/* Kirchhoff's equations m' = m x w + P x v, P' = P x w, x' = R v. */
INLINE void coupled_rates(const vec *q, const vec *p, const vec *u, vec *Kq, const vec *Kp, vec *rate) {
    for (long run = 0; run < COUPLED_RUNS; run++)
        for (long k = 0, n = 3 * coupled_run[run].count; 3 * k < n; k++) {
            const long at = coupled_run[run].p + 3 * k, linear = at - n, from = coupled_run[run].q;
            const vec *x = q + from + 4 * k, *w = Kp + at, *v = Kp + linear;
            add_cross(-1, p + at, w, Kq + at);
            add_cross(-1, p + linear, v, Kq + at);
            add_cross(-1, p + linear, w, Kq + linear);
            if (!NX) continue; /* momenta alone */
            if (ON_GROUP) {
                vec once[6];
                for (int i = 0; i < 6; i++) once[i] = vec_set(0);
                for (int i = 0; i < 3; i++) rate[at + i] = w[i], rate[linear + i] = v[i];
                add_bracket(1, u + at, u + linear, w, v, once, once + 3);
                for (int i = 0; i < 3; i++) rate[at + i] += 0.5 * once[i], rate[linear + i] += 0.5 * once[3 + i];
                add_bracket(1.0 / 12, u + at, u + linear, once, once + 3, rate + at, rate + linear);
            } else {
                vec *out = rate + from + 4 * k, *way = rate + from - n + 3 * k;
                out[0] = -0.5 * rotor_dot(x + 1, w);
                for (int i = 0; i < 3; i++) out[1 + i] = 0.5 * x[0] * w[i], way[i] = vec_set(0);
                add_cross(0.5, x + 1, w, out + 1);
                kirchhoff_shift(x, v, way);
            }
        }
}
#endif

/* From Kq and Kp at (q, p): rate moves q, where u has led so far, and Kq gets what turns m. */
INLINE void rates(const vec *q, const vec *p, const vec *u, vec *Kq, const vec *Kp, vec *rate) {
    for (long run = 0; run < VECTOR_RUNS; run++)
        for (long k = 0; k < vector_run[run].count; k++)
            rate[(ON_GROUP ? vector_run[run].p : vector_run[run].q) + k] = Kp[vector_run[run].p + k];
#if COUPLED
    coupled_rates(q, p, u, Kq, Kp, rate);
#endif
    for (long run = 0; run < ROTATION_RUNS; run++)
        for (long k = 0; k < rotation_run[run].count; k++) {
            const long at = rotation_run[run].p + 3 * k;
            const vec *x = q + rotation_run[run].q + 4 * k, *w = Kp + at;
            add_cross(-1, p + at, w, Kq + at);
            if (!NX) continue; /* momenta alone */
            if (ON_GROUP) {
                vec once[3] = {vec_set(0), vec_set(0), vec_set(0)};
                for (int i = 0; i < 3; i++) rate[at + i] = w[i];
                add_cross(1, u + at, w, once);
                for (int i = 0; i < 3; i++) rate[at + i] += 0.5 * once[i];
                add_cross(1.0 / 12, u + at, once, rate + at);
            } else {
                vec *out = rate + rotation_run[run].q + 4 * k;
                out[0] = -0.5 * rotor_dot(x + 1, w);
                for (int i = 0; i < 3; i++) out[1 + i] = 0.5 * x[0] * w[i];
                add_cross(0.5, x + 1, w, out + 1);
            }
        }
}

INLINE void body_step(struct ctx *c, vec *q, vec *p, const vec *dW) {
    static const double at[4] = {0, 0.5, 0.5, 1}, four[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}, one[1] = {1};
    const double *share = STAGES == 4 ? four : one;
    ARRAY(z, NX + NP);
    ARRAY(K, 2 * NP);
    ARRAY(rate, RATES);
    ARRAY(u, RATES);
    ARRAY(sum, RATES + NP);
    for (long i = 0; i < RATES + NP; i++) sum[i] = vec_set(0);
    for (int s = 0; s < STAGES; s++) {
        for (long i = 0; i < RATES; i++) u[i] = s ? at[s] * rate[i] : vec_set(0);
        moved(q, u, z);
        for (long i = 0; i < NP; i++) z[NX + i] = s ? FUSED(-at[s], K[i], p[i]) : p[i];
        model_K1(c, time_at(c, at[s]), z, z + NX, c->dt, dW, K, K + NP);
        vec *top = c->top;
        ARRAY(x, NP);
#if MODEL_FORCED
        model_push(c, time_at(c, at[s]), z, z + NX, x);
        for (long i = 0; i < NP; i++) ADD_PRODUCT(K[i], -c->dt, x[i]);
#endif
#if NB
        bath_drag(c, z, K + NP, x);
        for (long i = 0; i < NP; i++) K[i] += x[i];
#endif
        (void)x;
        c->top = top;
        rates(z, z + NX, u, K, K + NP, rate);
        for (long i = 0; i < RATES; i++) ADD_PRODUCT(sum[i], share[s], rate[i]);
        for (long i = 0; i < NP; i++) ADD_PRODUCT(sum[RATES + i], -share[s], K[i]);
    }
#if NB
    bath_shake(c, q, p);
#endif
    moved(q, sum, z);
    for (long i = 0; i < NX; i++) q[i] = z[i];
    for (long i = 0; i < NP; i++) p[i] += sum[RATES + i];
}
#endif

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    (void)c, (void)q, (void)p, (void)dW, (void)dZ, (void)carry;
#if ROTATIONS
    body_step(c, q, p, dW);
#endif
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
#define BODIES                                                                                                         \
    .family = "baseline", .source = "bodies.c", .face_separable = LGV_FACE_K1, .face_general = LGV_FACE_K1,            \
    .rotations = true, .coupled = true, .varies = true, .reduced = true, .forced = true, .explicit_separable = true,   \
    .explicit_always = true, .aliases = ""
#define MARUYAMA                                                                                                       \
    BODIES, .needs = LGV_NEEDS_ROTATIONS, .order = 1, .strong_order = 1, .strong_noncommuting = 1,                     \
            .strong_additive = 1, .weak_order = 1, .bath = true, .bath_f = true, .bath_strong = 1, .bath_weak = 1,     \
            .bias_order = 1, .friction_limit = 2
#define RUNGE                                                                                                          \
    BODIES, .needs = LGV_NEEDS_ROTATIONS | LGV_NEEDS_NO_NOISE, .order = 4, .strong_order = 4,                          \
            .strong_noncommuting = 4, .strong_additive = 4, .weak_order = 4
const struct lgv_method lgv_method_body_em = {
    MARUYAMA,
    .name = "EM-embedded",
    .paper = "Maruyama (1955), doi 10.1007/BF02846028",
    .doc = "Euler-Maruyama for models with rotations, whose quaternions are taken for vectors: for comparison.",
    .constants = "#define ON_GROUP 0\n#define STAGES 1\n",
    .leaves_group = true,
    .claims = "Keeps nothing: rotations do not stay rotations.",
};
const struct lgv_method lgv_method_lie_em = {
    MARUYAMA,
    .name = "LieEM",
    .paper = "Maruyama (1955), doi 10.1007/BF02846028, on a group as in Munthe-Kaas (1999), doi "
             "10.1016/S0168-9274(98)00030-0",
    .doc = "Euler-Maruyama for models with rotations, which turn by the exponential: for comparison.",
    .constants = "#define ON_GROUP 1\n#define STAGES 1\n",
    .claims = "Keeps rotations, and nothing else.",
};
const struct lgv_method lgv_method_body_rk4 = {
    RUNGE,
    .name = "RK4-embedded",
    .paper = "W. Kutta (1901)",
    .doc = "Runge-Kutta method of order 4 for models with rotations, whose quaternions are taken for vectors, without "
           "noise: for comparison.",
    .constants = "#define ON_GROUP 0\n#define STAGES 4\n",
    .leaves_group = true,
    .claims = "Keeps nothing: rotations leave the group slowly, and the energy drifts.",
};
const struct lgv_method lgv_method_rkmk4 = {
    RUNGE,
    .name = "RKMK4",
    .paper = "Munthe-Kaas (1999), doi 10.1016/S0168-9274(98)00030-0",
    .doc = "Runge-Kutta-Munthe-Kaas method of order 4 for models with rotations, without noise: for comparison.",
    .constants = "#define ON_GROUP 1\n#define STAGES 4\n",
    .claims = "Keeps rotations; the energy drifts slowly.",
};
#endif
