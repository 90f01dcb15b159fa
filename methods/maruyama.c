/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Euler-Maruyama, explicit (EEM) and drift-implicit (IEM), for comparison: not structure preserving. In Ito form,
 * with X = (q, p), f = (H_p, -H_q), g_m = (h_m,p, -h_m,q) and the drift correction C = sum_m (Dg_m) g_m / 2:
 *
 *     EEM   X' = X + (f(X) + C(X)) dt + sum_m g_m(X) dW_m
 *     IEM   X' = X + (f(X') + C(X')) dt + sum_m g_m(X) dW_m
 *
 * For noise h(q) the field g moves p and depends on q, so the Milstein term (Dg)g vanishes and the strong order is
 * 1, not 1/2. IEM is solved by Newton's method; on separable models with many degrees of freedom as in nystrom.h. */
#include "kernel/text/method_file.h"

#ifndef IMPLICIT_DRIFT
#define IMPLICIT_DRIFT (c->option[0] != 0)
#endif
#define METHOD_DZ 0
#define METHOD_CARRY 0
/* IEM on separable models with noise h(q): behind the kick of the noise, one implicit node at the end of the step. */
#define NYS_STRAIGHT 1
#define NYS_N 1L
#define NYS_PRE 0L
#define NYS_IMP 1L
#define NYS_END (-1L)
#define NYS_CARRY 0
#define NYS(k) maruyama_node[k]
static const double maruyama_node[] = {1, 1, 0, 0, 1, 1};
#include "kernel/text/nystrom.h"


INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

/* x += dt (f + C) at z, both halves. */
INLINE void add_ito_drift(struct ctx *c, double t, const vec *z, vec *x, const vec *none) {
    ARRAY(K, 2 * NQ);
    ARRAY(C, 2 * NQ);
    model_K1(c, t, z, z + NQ, c->dt, none, K, K + NQ);
    model_ito(c, t, z, z + NQ, C, C + NQ);
    for (long i = 0; i < NQ; i++) {
        x[i] += FUSED(c->dt, C[i], K[NQ + i]);
        x[NQ + i] += FUSED(c->dt, C[NQ + i], -K[i]);
    }
}

/* z = base + dt (f + C)(z).  Newton's method with the Jacobian of f; C vanishes for h(q), is linear in z for quadratic
 * models (its Jacobian then comes from its values at unit vectors), and else is left to the iteration. */
INLINE void solve_implicit_drift(struct ctx *c, double t, const vec *base, vec *z, const vec *none) {
    const long n = 2 * NQ;
    const int whole = MODEL_LINEAR && NQ <= 2; /* the system with the Jacobian of C too */
    const double rate = MODEL_NOISE_OF_Q || whole ? NEWTON_RATE : 1e-14;
    ARRAY(r, 2 * NQ);
    ARRAY(x, 2 * NQ);
    ARRAY(Kqq, NQ * NQ);
    ARRAY(Kqp, NQ * NQ);
    ARRAY(Kpp, NQ * NQ);
    ARRAY(A, whole ? 4 * NQ * NQ : 1);
    ivec live = (ivec)(base[0] == base[0]), singular = {0}, now;
    vec *top = c->top;
    int k = 0;
    for (long i = 0; whole && i < n; i++) z[i] = vec_set(0); /* one correction leads from anywhere to the solution */
    do {
        for (long i = 0; i < n; i++) x[i] = base[i];
        add_ito_drift(c, t, z, x, none);
        c->top = top;
        for (long i = 0; i < n; i++) r[i] = z[i] - x[i];
        if (whole) {
            for (long j = 0; j < n; j++) {
                ARRAY(unit, 2 * NQ);
                ARRAY(zero, 2 * NQ);
                ARRAY(at, 4 * NQ);
                for (long i = 0; i < n; i++) {
                    unit[i] = vec_set(i == j ? 1.0 : 0.0);
                    zero[i] = at[i] = at[n + i] = vec_set(0);
                }
                add_ito_drift(c, t, unit, at, none);
                add_ito_drift(c, t, zero, at + n, none);
                for (long i = 0; i < n; i++) A[i * n + j] = (i == j ? 1.0 : 0.0) - (at[i] - at[n + i]);
                c->top = top;
            }
            if (n <= 3) {
                now = solve_near_one((int)n, A, r);
            } else {
                ARRAY(scratch, 4 * NQ * NQ + 2 * NQ);
                solve_dense((int)n, A, r, scratch, &now);
            }
        } else {
            model_K2(c, t, z, z + NQ, c->dt, none, 0, 0, Kqq, Kqp, Kpp);
            solve_partitioned(c, 1, Kqq, Kqp, Kpp, r, &now);
        }
        c->top = top;
        singular |= now & live;
        for (long i = 0; i < n; i++) z[i] = whole ? z[i] - r[i] : vec_select(live, z[i] - r[i], z[i]);
        live &= still_moving(n, r, z, z, rate) & ~singular;
        c->iterations++;
    } while (!whole && ++k < NEWTON_MAX && vec_any(live));
    if (!whole && vec_any(live)) lanes_failed(c, &live, NQ, LGV_FAIL_NEWTON);
    if (vec_any(singular)) lanes_failed(c, &singular, NQ, LGV_FAIL_SINGULAR);
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    double t = time_at(c, 0), t1 = time_at(c, 1);
    ARRAY(K, 2 * NQ);
    if (MODEL_LARGE) {
        model_K1(c, t, q, p, 0, dW, K, 0);
        for (long i = 0; i < NQ; i++) p[i] -= K[i];
        nystrom_step(c, q, p, dW, dZ, carry);
        return;
    }
    ARRAY(z, 2 * NQ);
    ARRAY(x, 2 * NQ);
    ARRAY(none, NM);
    (void)dZ, (void)carry;
    for (long m = 0; m < NM; m++) none[m] = vec_set(0);
    for (long i = 0; i < NQ; i++) {
        z[i] = q[i];
        z[NQ + i] = p[i];
    }
    model_K1(c, t, q, p, 0, dW, K, K + NQ);
    for (long i = 0; i < NQ; i++) {
        x[i] = q[i] + K[NQ + i];
        x[NQ + i] = p[i] - K[i];
    }
    if (IMPLICIT_DRIFT) {
        if (MODEL_SEPARABLE &&
            MODEL_NOISE_OF_Q) { /* a better guess costs nothing: p follows from q in the first correction */
            model_K1(c, t1, q, x + NQ, c->dt, none, 0, K);
            for (long i = 0; i < NQ; i++) z[i] = x[i] + K[i];
        }
        solve_implicit_drift(c, t1, x, z, none);
    } else {
        add_ito_drift(c, t, z, x, none);
        for (long i = 0; i < 2 * NQ; i++) z[i] = x[i];
    }
    for (long i = 0; i < NQ; i++) {
        vec bad = q[i]; /* a lane marked as failed by the solver has NaN here; keep it */
        q[i] = IMPLICIT_DRIFT ? vec_select((ivec)(bad == bad), z[i], bad) : z[i];
        p[i] = IMPLICIT_DRIFT ? vec_select((ivec)(bad == bad), z[NQ + i], bad) : z[NQ + i];
    }
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
static const double explicit_drift[] = {0}, implicit_drift_value[] = {1};
#define MARUYAMA                                                                                                       \
    .family = "baseline", .source = "maruyama.c", .order = 1, .strong_order = 0.5, .strong_noncommuting = 0.5,         \
    .strong_additive = 1, .strong_one_sided = 1, .weak_order = 1, .callbacks = &KERNEL_NAME, .step = &KERNEL_STEP
const struct lgv_method lgv_method_eem = {
    MARUYAMA,
    .name = "EEM",
    .aliases = "euler-maruyama",
    .paper = "G. Maruyama (1955); Ito form, with the drift correction taken from the formulas",
    .doc = "Explicit Euler-Maruyama: for comparison only.",
    .constants = "#define IMPLICIT_DRIFT 0\n",
    .values = explicit_drift,
    .face_separable = LGV_FACE_K1 | LGV_FACE_ITO,
    .face_general = LGV_FACE_K1 | LGV_FACE_ITO,
    .explicit_separable = true,
    .explicit_always = true,
    .claims = "Keeps nothing; the energy of an oscillator grows.",
};
const struct lgv_method lgv_method_iem = {
    MARUYAMA,
    .name = "IEM",
    .aliases = "implicit-euler-maruyama",
    .paper = "Drift-implicit Euler-Maruyama; Ito form, with the drift correction taken from the formulas",
    .doc = "Drift-implicit Euler-Maruyama: for comparison only.",
    .constants = "#define IMPLICIT_DRIFT 1\n",
    .values = implicit_drift_value,
    .face_separable = LGV_FACE_K1 | LGV_FACE_K2 | LGV_FACE_ITO,
    .face_general = LGV_FACE_K1 | LGV_FACE_K2 | LGV_FACE_ITO,
    .steady_kinetic = true,
    .implicit_sets = 1,
    .claims = "Keeps nothing; the energy of an oscillator is damped.",
};
#endif
