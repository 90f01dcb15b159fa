/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Euler-Maruyama, explicit (EEM) and drift-implicit (IEM), for comparison: not structure preserving.
 * In Ito form, with X = (q, p), f = (H_p, -H_q), g_m = (h_m,p, -h_m,q) and the drift correction C = sum_m (Dg_m) g_m / 2:
 *
 *     EEM   X' = X + (f(X) + C(X)) dt + sum_m g_m(X) dW_m
 *     IEM   X' = X + (f(X') + C(X')) dt + sum_m g_m(X) dW_m
 *
 * For noise h(q) the field g moves p and depends on q, so the Milstein term (Dg)g vanishes and the strong order is 1, not 1/2.
 * IEM is solved by Newton's method with the Jacobian of f; C is left to the iteration, whose rate is then O(dt). */
#include "kernel/method_file.h"

#ifndef IMPLICIT_DRIFT
#define IMPLICIT_DRIFT (c->option[0] != 0)
#endif
#define METHOD_DZ 0
#define METHOD_CARRY 0
#define METHOD_WORK (20 * NQ + NM + 12 * NQ * NQ)

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
        x[i] += K[NQ + i] + c->dt * C[i];
        x[NQ + i] += c->dt * C[NQ + i] - K[i];
    }
}

INLINE void solve_implicit_drift(struct ctx *c, double t, const vec *base, vec *z, const vec *none) {
    const long n = 2 * NQ;
    ARRAY(r, 2 * NQ);
    ARRAY(x, 2 * NQ);
    ARRAY(Kqq, NQ * NQ);
    ARRAY(Kqp, NQ * NQ);
    ARRAY(Kpp, NQ * NQ);
    ARRAY(A, 4 * NQ * NQ);
    ARRAY(scratch, 4 * NQ * NQ + 2 * NQ);
    ivec live = (ivec)(base[0] == base[0]), singular = {0}, now;
    vec *top = c->top;
    int k = 0;
    do {
        for (long i = 0; i < n; i++) x[i] = base[i];
        add_ito_drift(c, t, z, x, none);
        model_K2(c, t, z, z + NQ, c->dt, none, 0, 0, Kqq, Kqp, Kpp);
        for (long i = 0; i < NQ; i++)
            for (long j = 0; j < NQ; j++) {
                double one = i == j ? 1.0 : 0.0;
                A[i * n + j] = one - Kqp[j * NQ + i];
                A[i * n + NQ + j] = -Kpp[i * NQ + j];
                A[(NQ + i) * n + j] = Kqq[i * NQ + j];
                A[(NQ + i) * n + NQ + j] = one + Kqp[i * NQ + j];
            }
        for (long i = 0; i < n; i++) r[i] = z[i] - x[i];
        solve_dense((int)n, A, r, scratch, &now);
        singular |= now & live;
        for (long i = 0; i < n; i++) z[i] = vec_select(live, z[i] - r[i], z[i]);
        live &= still_moving(n, r, z, z, 1e-14) & ~singular;
        c->top = top;
        c->iterations++;
    } while (++k < NEWTON_MAX && vec_any(live));
    if (vec_any(live)) lanes_failed(c, &live, NQ, LGV_FAIL_NEWTON);
    if (vec_any(singular)) lanes_failed(c, &singular, NQ, LGV_FAIL_SINGULAR);
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    double t = c->b->t0 + (double)c->step * c->dt, t1 = c->b->t0 + (double)(c->step + 1) * c->dt;
    ARRAY(z, 2 * NQ);
    ARRAY(x, 2 * NQ);
    ARRAY(K, 2 * NQ);
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
        solve_implicit_drift(c, t1, x, z, none);
    } else {
        add_ito_drift(c, t, z, x, none);
        for (long i = 0; i < 2 * NQ; i++) z[i] = x[i];
    }
    for (long i = 0; i < NQ; i++) {
        vec bad = q[i]; /* a lane marked as failed by the solver has NaN here; keep it */
        q[i] = vec_select((ivec)(bad == bad), z[i], bad);
        p[i] = vec_select((ivec)(bad == bad), z[NQ + i], bad);
    }
}

#include "kernel/method_end.h"
#ifdef LGV_HOST
static const double explicit_drift[] = {0}, implicit_drift_value[] = {1};
#define MARUYAMA                                                                                                       \
    .family = "baseline", .source = "maruyama.c", .order = 1, .strong_order = 0.5, .strong_noncommuting = 0.5,         \
    .strong_additive = 1, .strong_one_sided = 1, .weak_order = 1, .callbacks = &KERNEL_NAME
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
    .claims = "Keeps nothing; the energy of an oscillator is damped.",
};
#endif
