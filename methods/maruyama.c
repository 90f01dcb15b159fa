/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Euler-Maruyama, explicit (EEM) and drift-implicit (IEM), for comparison: not structure preserving. In Ito form,
 * with X = (q, p), f = (H_p, -H_q), g_m = (h_m,p, -h_m,q) and the drift correction C = sum_m (Dg_m) g_m / 2:
 *
 *     EEM   X' = X + (f(X) + C(X)) dt + sum_m g_m(X) dW_m
 *     IEM   X' = X + (f(X') + C(X')) dt + sum_m g_m(X) dW_m
 *
 * Friction, its noise and forces are added to p: f has -Gamma H_p + F, g has sqrt(2 kT Gamma).
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
#define NYS_ONE
#define NYS(k) maruyama_node[k]
static const double maruyama_node[] = {1, 1, 0, 0, 1, 1};
#include "kernel/text/nystrom.h"

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    (void)c, (void)q, (void)p, (void)carry;
}

/* x += dt (f + C) at z, both halves. */
INLINE void add_ito_drift(struct ctx *c, double t, const vec *z, vec *x, const vec *none) {
    ARRAY(K, 2 * NP);
    ARRAY(C, 2 * NP);
    model_K1(c, t, z, z + NP, c->dt, none, K, K + NP);
    model_ito(c, t, z, z + NP, C, C + NP);
    for (long i = 0; i < NP; i++) {
        x[i] += FUSED(c->dt, C[i], K[NP + i]);
        x[NP + i] += FUSED(c->dt, C[NP + i], -K[i]);
    }
#if NB
    bath_drag(c, z, K + NP, C);
    for (long i = 0; i < NP; i++) x[NP + i] -= C[i];
#endif
#if MODEL_FORCED
    model_push(c, t, z, z + NP, C);
    for (long i = 0; i < NP; i++) ADD_PRODUCT(x[NP + i], c->dt, C[i]);
#endif
}

/* z = base + dt (f + C)(z).  Newton's method with the Jacobian of f; C vanishes for h(q), is linear in z for quadratic
 * models (its Jacobian then comes from its values at unit vectors), and else is left to the iteration. */
#define IEM_DRAGGED (NB > 0 || MODEL_FORCED)
#define IEM_WHOLE (MODEL_LINEAR && NP <= 2 && !IEM_DRAGGED) /* the system with the Jacobian of C too */
struct drift {
    double t;
    const vec *base, *none;
    vec *to, *Kqq, *Kqp, *Kpp, *A;
};

/* A = 1 - dt D(f + C). */
INLINE void whole_matrix(struct ctx *c, const struct drift *h) {
    const long n = 2 * NP;
    vec *top = c->top;
    for (long j = 0; j < n; j++) {
        ARRAY(axis, 2 * NP);
        ARRAY(zero, 2 * NP);
        ARRAY(at, 4 * NP);
        for (long i = 0; i < n; i++) {
            axis[i] = vec_set(i == j ? 1.0 : 0.0);
            zero[i] = at[i] = at[n + i] = vec_set(0);
        }
        add_ito_drift(c, h->t, axis, at, h->none);
        add_ito_drift(c, h->t, zero, at + n, h->none);
        for (long i = 0; i < n; i++) h->A[i * n + j] = (i == j ? 1.0 : 0.0) - (at[i] - at[n + i]);
        c->top = top;
    }
}

/* The same for constant masses and friction, [1, -dt H_pp; dt H_qq, 1 + dt Gamma H_pp]; forces are left to the
 * iteration. */
INLINE void dragged_matrix(struct ctx *c, const vec *z, const struct drift *h) {
    const long n = 2 * NP;
    vec *top = c->top;
    ARRAY(column, NP);
    ARRAY(drag, NP);
    for (long j = 0; j < NP; j++) {
        for (long i = 0; i < NP; i++) {
            column[i] = h->Kpp[i * NP + j];
            drag[i] = vec_set(0);
        }
#if NB
        bath_drag(c, z, column, drag);
#endif
        for (long i = 0; i < NP; i++) {
            h->A[i * n + j] = vec_set(i == j ? 1.0 : 0.0);
            h->A[i * n + NP + j] = -column[i];
            h->A[(NP + i) * n + j] = h->Kqq[i * NP + j];
            h->A[(NP + i) * n + NP + j] = drag[i] + (i == j ? 1.0 : 0.0);
        }
    }
    (void)z;
    c->top = top;
}

/* Solves the same for e.  Along the pattern friction belongs to coordinates, and is a multiple of the rows of H_pp. */
INLINE ivec dragged_solve(struct ctx *c, const vec *z, const struct drift *h, vec *e) {
#if MODEL_PATTERN
    ARRAY(A, PATTERN_BLOCKS(2));
    ARRAY(scratch, PATTERN_SCRATCH(2));
    pattern_clear(2, A);
    for (long i = 0; i < 2; i++) pattern_add_one(2, i, i, 1.0, A);
    pattern_add_flow(2, 0, 0, 1.0, 1.0, h->Kqq, h->Kqp, h->Kpp, A);
#if NB
    ARRAY(gamma, NB);
    bath_friction(c, z, gamma);
    for (long j = 0; j < NB; j++)
        for (long k = pattern_row[BATH_ROW(j)]; k < pattern_row[BATH_ROW(j) + 1]; k++)
            ADD_PRODUCT(A[4 * pattern_place[k] + 3], gamma[j], h->Kpp[k]);
#endif
    (void)z;
    return pattern_solve(2, A, e, scratch);
#else
    ARRAY(scratch, SYSTEM_SCRATCH(2 * NP));
    dragged_matrix(c, z, h);
    return system_solve(SYSTEM_ANY, 2 * NP, h->A, e, scratch);
#endif
}

INLINE ivec drift_correction(struct ctx *c, struct newton *s, void *of) {
    struct drift *h = of;
    vec *top = c->top;
    for (long i = 0; i < 2 * NP; i++) h->to[i] = h->base[i];
    add_ito_drift(c, h->t, s->x, h->to, h->none);
    c->top = top;
    for (long i = 0; i < 2 * NP; i++) s->e[i] = s->x[i] - h->to[i];
    if (IEM_WHOLE) {
        ARRAY(scratch, SYSTEM_SCRATCH(2 * NP));
        whole_matrix(c, h);
        return system_solve(SYSTEM_NEAR_ONE, 2 * NP, h->A, s->e, scratch);
    }
    model_K2(c, h->t, s->x, s->x + NP, c->dt, h->none, 0, 0, h->Kqq, h->Kqp, h->Kpp);
    if (IEM_DRAGGED) return dragged_solve(c, s->x, h, s->e);
    return solve_partitioned(c, 1, h->Kqq, h->Kqp, h->Kpp, s->e);
}

INLINE ivec drift_moving(struct ctx *c, struct newton *s, void *of) {
    (void)c, (void)of;
    const int whole = MODEL_NOISE_OF_Q && !MODEL_FORCED && !BATH_OF_Q; /* the matrix has all derivatives */
    return still_moving(2 * NP, s->e, s->x, s->x, whole ? NEWTON_RATE : 1e-14);
}

INLINE void solve_implicit_drift(struct ctx *c, double t, const vec *base, vec *z, const vec *none) {
    ARRAY(r, 2 * NP);
    ARRAY(x, 2 * NP);
    ARRAY(Kqq, SECOND);
    ARRAY(Kqp, SECOND);
    ARRAY(Kpp, SECOND);
    ARRAY(A, IEM_WHOLE || (IEM_DRAGGED && !MODEL_PATTERN) ? 4 * NP * NP : 1);
    struct drift step = {t, base, none, x, Kqq, Kqp, Kpp, A};
    struct newton s = {.n = 2 * NP, .x = z, .e = r, .live = (ivec)(base[0] == base[0])};
    /* one correction leads from anywhere to the solution */
    for (long i = 0; IEM_WHOLE && i < 2 * NP; i++) z[i] = vec_set(0);
    newton(c, &s, IEM_WHOLE ? 1 : NEWTON_MAX, drift_correction, drift_moving, 0, &step);
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    double t = time_at(c, 0), t1 = time_at(c, 1);
    ARRAY(K, 2 * NP);
    if (MODEL_LARGE) {
        model_K1(c, t, q, p, 0, dW, K, 0);
        for (long i = 0; i < NP; i++) p[i] -= K[i];
        nystrom_step(c, q, p, dW, dZ, carry);
        return;
    }
    ARRAY(z, 2 * NP);
    ARRAY(x, 2 * NP);
    ARRAY(none, NM);
    (void)dZ, (void)carry;
    for (long m = 0; m < NM; m++) none[m] = vec_set(0);
    for (long i = 0; i < NP; i++) {
        z[i] = q[i];
        z[NP + i] = p[i];
    }
    model_K1(c, t, q, p, 0, dW, K, K + NP);
    for (long i = 0; i < NP; i++) {
        x[i] = q[i] + K[NP + i];
        x[NP + i] = p[i] - K[i];
    }
#if NB
    bath_shake(c, q, x + NP);
#endif
    if (IMPLICIT_DRIFT) {
        if (MODEL_SEPARABLE &&
            MODEL_NOISE_OF_Q && !IEM_DRAGGED) { /* a better guess: p follows from q in the first correction */
            model_K1(c, t1, q, x + NP, c->dt, none, 0, K);
            for (long i = 0; i < NP; i++) z[i] = x[i] + K[i];
        }
        solve_implicit_drift(c, t1, x, z, none);
    } else {
        add_ito_drift(c, t, z, x, none);
        for (long i = 0; i < 2 * NP; i++) z[i] = x[i];
    }
    for (long i = 0; i < NP; i++) {
        vec bad = q[i]; /* a lane marked as failed by the solver has NaN here; keep it */
        q[i] = IMPLICIT_DRIFT ? vec_select((ivec)(bad == bad), z[i], bad) : z[i];
        p[i] = IMPLICIT_DRIFT ? vec_select((ivec)(bad == bad), z[NP + i], bad) : z[NP + i];
    }
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
static const double explicit_drift[] = {0}, implicit_drift_value[] = {1};
#define MARUYAMA                                                                                                       \
    .family = "baseline", .source = "maruyama.c", .order = 1, .strong_order = 0.5, .strong_noncommuting = 0.5,         \
    .strong_additive = 1, .strong_one_sided = 1, .weak_order = 1, .callbacks = &KERNEL_NAME, .step = &KERNEL_STEP, \
    .bath = true, .forced = true, .bath_f = true, .bath_strong = 1, .bath_weak = 1, .bias_order = 1
const struct lgv_method lgv_method_eem = {
    MARUYAMA,
    .name = "EEM",
    .friction_limit = 2,
    .aliases = "euler-maruyama",
    .paper = "Maruyama (1955), doi 10.1007/BF02846028; Ito form, with the drift correction taken from the formulas",
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
    .paper = "Kloeden & Platen (1992), doi 10.1007/978-3-662-12616-5, chapter 12; Ito form, with the drift "
             "correction taken from the formulas",
    .doc = "Drift-implicit Euler-Maruyama: for comparison only.",
    .constants = "#define IMPLICIT_DRIFT 1\n",
    .values = implicit_drift_value,
    .face_separable = LGV_FACE_K1 | LGV_FACE_K2 | LGV_FACE_ITO,
    .face_general = LGV_FACE_K1 | LGV_FACE_K2 | LGV_FACE_ITO,
    .patterned = true,
    .steady_kinetic = true,
    .implicit_sets = 1,
    .linear = LGV_LINEAR_FREE,
    .claims = "Keeps nothing; the energy of an oscillator is damped.",
};
#endif
