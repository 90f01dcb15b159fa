/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model's face for models given as C functions on batches: sizes are known at run time only, the weights are
 * applied to the gradients and Hessians that the functions return. */
#ifndef LGV_FACE_CALLBACKS_H
#define LGV_FACE_CALLBACKS_H

#include "kernel/user.h"

#define NX ((long)c->cb->dof)
#define NP ((long)c->cb->dof)
#define NM ((long)c->cb->noises)
#define NHQ (NM * NP)
#define NW NM
#define MODEL_SEPARABLE (c->cb->separable)
#define MODEL_LINEAR 0
#define MODEL_NOISE_OF_Q (c->cb->noise_of_q || c->cb->noises == 0)
#define MODEL_TIME 1
#define MODEL_FLAT (c->cb->separable && c->cb->constant_mass)
#define MODEL_KINETIC_TIME 0 /* `separable` promises it */
#define MODEL_LARGE 0
#define MODEL_FEW 0
#define MODEL_PATTERN 0
#define VECS 1
#define TRACK_BROWN 0
#define DRAWS ((long)(c->cb->normals + c->cb->uniforms))
#define FACE_WORK (10 + DRAWS)
#define OBSERVED ((long)c->cb->observables)
#define WATCHED (1 + OBSERVED + (NP <= LGV_WATCHED_DOF ? 2 * NP : 0) + (NC > 0 ? 2 : 0))
#define NC ((long)c->cb->constraints)
#define WATCH_CONSTRAINT (WATCHED - 2)
#define MODEL_L 0 /* constrained methods work with H, and dense */
#define MODEL_SPARSE 0
#define MODEL_LONG 0
#define MODEL_QUADRIC 0
#define MODEL_QUADRATIC_L 0
#define no_noise ((const vec *)0)
#define ARRAY(name, n) vec *name = take(c, (n))
#define KERNEL_LINKAGE static
#define KERNEL_NAME callback_kernel
#define KERNEL_STEP callback_step
#define CONTEXT_SETUP(c, given)                                                                                        \
    ((c)->cb = ((const struct lgv_kernel_user *)(given))->callbacks,                                                   \
     (c)->option = ((const struct lgv_kernel_user *)(given))->values,                                                  \
     (c)->program = ((const struct lgv_kernel_user *)(given))->program)

#include "kernel/text/face.h"

/* A step that other steps can be made of. */
struct lgv_step {
    long (*carry)(struct ctx *c); /* vectors */
    void (*begin)(struct ctx *c, const vec *q, const vec *p, vec *carry);
    void (*step)(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry);
};

INLINE struct lgv_batch batch_of(double t, const vec *q, const vec *p) {
    return (struct lgv_batch){LANES, t, (const double *)q, (const double *)p};
}

INLINE void model_force(struct ctx *c, double t, const vec *q, const vec *p, struct force *F) {
    c->evaluations++;
    struct lgv_batch b = batch_of(t, q, p);
    c->cb->gradient(c->cb->user, &b, (double *)F->H, 0, NM ? (double *)F->h : 0, 0);
}

INLINE void model_kick(struct ctx *c, vec *p, const struct force *F, double a, const vec *w) {
    for (long i = 0; i < NP; i++) p[i] -= a * F->H[i];
    for (long m = 0; m < NM; m++)
        for (long i = 0; i < NP; i++) p[i] -= w[m] * F->h[m * NP + i];
}

/* No weights at all: those of H alone. */
INLINE void model_K1(struct ctx *c, double t, const vec *q, const vec *p, double a, const vec *w, vec *Kq, vec *Kp) {
    c->evaluations += Kq != 0;
    vec *top = c->top;
    const long noises = w ? NM : 0;
    ARRAY(hq, noises * NP);
    ARRAY(hp, noises * NP);
    struct lgv_batch b = batch_of(t, q, p);
    c->cb->gradient(c->cb->user, &b, (double *)Kq, (double *)Kp, Kq && noises ? (double *)hq : 0,
                    Kp && noises ? (double *)hp : 0);
    for (long i = 0; i < NP; i++) {
        if (Kq) Kq[i] *= a;
        if (Kp) Kp[i] *= a;
        for (long m = 0; m < noises; m++) {
            if (Kq) Kq[i] += w[m] * hq[m * NP + i];
            if (Kp) Kp[i] += w[m] * hp[m * NP + i];
        }
    }
    c->top = top;
}

INLINE void weigh(struct ctx *c, double a, const vec *w, vec *K, const vec *h) {
    const long noises = w ? NM : 0;
    for (long i = 0; K && i < NP * NP; i++) {
        K[i] *= a;
        for (long m = 0; m < noises; m++) K[i] += w[m] * h[m * NP * NP + i];
    }
}

INLINE void model_K2(struct ctx *c, double t, const vec *q, const vec *p, double a, const vec *w, vec *Kq, vec *Kp,
                     vec *Kqq, vec *Kqp, vec *Kpp) {
    vec *top = c->top;
    if (Kq || Kp) model_K1(c, t, q, p, a, w, Kq, Kp);
    ARRAY(hqq, NM * NP * NP);
    ARRAY(hqp, NM * NP * NP);
    ARRAY(hpp, NM * NP * NP);
    struct lgv_batch b = batch_of(t, q, p);
    c->cb->hessian(c->cb->user, &b, (double *)Kqq, (double *)Kqp, (double *)Kpp, Kqq && NM ? (double *)hqq : 0,
                   Kqp && NM ? (double *)hqp : 0, Kpp && NM ? (double *)hpp : 0);
    weigh(c, a, w, Kqq, hqq);
    weigh(c, a, w, Kqp, hqp);
    weigh(c, a, w, Kpp, hpp);
    c->top = top;
}

/* C = sum_m (Dg_m) g_m / 2 with g_m = (h_p, -h_q). */
INLINE void model_ito(struct ctx *c, double t, const vec *q, const vec *p, vec *Cq, vec *Cp) {
    vec *top = c->top;
    const long n = NP;
    ARRAY(hq, NM * NP);
    ARRAY(hp, NM * NP);
    ARRAY(hqq, NM * NP * NP);
    ARRAY(hqp, NM * NP * NP);
    ARRAY(hpp, NM * NP * NP);
    for (long i = 0; i < n; i++) Cq[i] = Cp[i] = vec_set(0);
    struct lgv_batch b = batch_of(t, q, p);
    if (NM) {
        c->cb->gradient(c->cb->user, &b, 0, 0, (double *)hq, (double *)hp);
        c->cb->hessian(c->cb->user, &b, 0, 0, 0, (double *)hqq, (double *)hqp, (double *)hpp);
    }
    for (long m = 0; m < NM; m++)
        for (long i = 0; i < n; i++)
            for (long j = 0; j < n; j++) {
                const vec *H = hqq + m * n * n, *X = hqp + m * n * n, *P = hpp + m * n * n;
                vec gq = hp[m * n + j], gp = -hq[m * n + j];
                Cq[i] += 0.5 * (X[j * n + i] * gq + P[i * n + j] * gp);
                Cp[i] -= 0.5 * (H[i * n + j] * gq + X[i * n + j] * gp);
            }
    c->top = top;
}

/* Needs third derivatives: methods that use it are refused for callbacks. */
INLINE void model_taylor(struct ctx *c, double t, const vec *q, const vec *p, double a, const vec *w, vec *Xq,
                         vec *Xp) {
    (void)c, (void)t, (void)q, (void)p, (void)a, (void)w, (void)Xq, (void)Xp;
    __builtin_trap();
}

INLINE void model_H(struct ctx *c, double t, const vec *q, const vec *p, vec *H) {
    struct lgv_batch b = batch_of(t, q, p);
    c->cb->value(c->cb->user, &b, (double *)H, 0);
}

/* Like model_taylor. */
INLINE void model_V3(struct ctx *c, double t, const vec *q, const vec *p, const vec *dq, vec *x) {
    (void)c, (void)t, (void)q, (void)p, (void)dq, (void)x;
    __builtin_trap();
}

/* ---- constraints; functions of a Lagrangian do not exist ---- */

INLINE void model_g(struct ctx *c, const vec *q, vec *g) {
    struct lgv_batch b = batch_of(time_at(c, 0), q, q);
    if (NC) c->cb->constraint(c->cb->user, &b, (double *)g, 0);
}
INLINE void model_G(struct ctx *c, const vec *q, vec *G) {
    struct lgv_batch b = batch_of(time_at(c, 0), q, q);
    if (NC) c->cb->constraint(c->cb->user, &b, 0, (double *)G);
}
/* The sizes of the terms of g are not known: what g changes by when q does by all of itself is of their size. */
INLINE void model_gsize(struct ctx *c, const vec *q, vec *g) {
    vec *top = c->top;
    ARRAY(G, NC * NP);
    model_g(c, q, g);
    model_G(c, q, G);
    for (long k = 0; k < NC; k++) {
        g[k] = vec_abs(g[k]);
        for (long i = 0; i < NP; i++) g[k] += vec_abs(G[k * NP + i] * q[i]);
    }
    c->top = top;
}
INLINE void model_S2(struct ctx *c, const vec *q, const vec *lambda, vec *Sqq) {
    struct lgv_batch b = batch_of(time_at(c, 0), q, q);
    for (long i = 0; i < NP * NP; i++) Sqq[i] = vec_set(0);
    if (NC) c->cb->constraint_hessian(c->cb->user, &b, (const double *)lambda, (double *)Sqq);
}
INLINE void model_bend(struct ctx *c, const vec *q, vec *x) {
    (void)c, (void)q, (void)x;
    __builtin_trap();
}
INLINE void model_mass(struct ctx *c, const vec *q, const vec *p, vec *mass) {
    (void)c, (void)q, (void)p, (void)mass;
    __builtin_trap();
}
INLINE void model_L1(struct ctx *c, double t, const vec *q, const vec *v, double a, const vec *w, vec *Lq, vec *Lv) {
    (void)c, (void)t, (void)q, (void)v, (void)a, (void)w, (void)Lq, (void)Lv;
    __builtin_trap();
}
INLINE void model_L2(struct ctx *c, double t, const vec *q, const vec *v, double a, const vec *w, vec *Lq, vec *Lv,
                     vec *Lqq, vec *Lqv, vec *Lvv) {
    (void)c, (void)t, (void)q, (void)v, (void)a, (void)w, (void)Lq, (void)Lv, (void)Lqq, (void)Lqv, (void)Lvv;
    __builtin_trap();
}

/* Draws lie in the scratch that a block has from the beginning. */
INLINE void model_start(struct ctx *c, uvec path, vec *q, vec *p, vec *v) {
    const long normals = (long)c->cb->normals, uniforms = (long)c->cb->uniforms;
    vec *zn = (vec *)c->b->scratch->memory, *zu = zn + normals + 1;
    for (long i = 0; i < NP; i++) {
        q[i] = vec_set(c->cb->q0[i]);
        p[i] = vec_set(c->cb->p0[i]);
    }
    (void)v;
    if (!c->cb->start) return;
    for (long k = 0; k < normals; k += 2) normal_pair(c->b->seed, path, (u64)k / 2, STREAM_START, &zn[k], &zn[k + 1]);
    for (long k = 0; k < uniforms; k += 2)
        uniform_pair(c->b->seed, &path, (u64)k / 2, STREAM_START_UNIFORM, &zu[k], &zu[k + 1]);
    struct lgv_batch b = batch_of(c->b->t0, q, p);
    c->cb->start(c->cb->user, &b, (const double *)zn, (const double *)zu, (double *)q, (double *)p);
}

/* Rows: the energy, the observables, then (small systems) the coordinates and momenta. */
INLINE void model_observe(struct ctx *c, double t, const vec *q, const vec *p, const vec *brown, const vec *dq,
                          const vec *dp, const vec *v, const vec *lambda, vec *out) {
    (void)v, (void)lambda;
    struct lgv_batch b = batch_of(t, q, p);
    (void)brown, (void)dq, (void)dp;
    if (c->cb->value)
        c->cb->value(c->cb->user, &b, (double *)out, 0);
    else
        out[0] = vec_set(__builtin_nan(""));
    if (OBSERVED) c->cb->observe(c->cb->user, &b, (double *)(out + 1));
    for (long i = 0; NP <= LGV_WATCHED_DOF && i < NP; i++) {
        out[1 + OBSERVED + i] = q[i];
        out[1 + OBSERVED + NP + i] = p[i];
    }
}

#define TALLIES (c->cb->value ? 1L : 0L)
INLINE void model_watch(struct ctx *c, double t, const vec *q, const vec *p, const vec *brown, const vec *dq,
                        const vec *dp, const vec *v, const vec *lambda, vec *x) {
    struct lgv_batch b = batch_of(t, q, p);
    (void)brown, (void)dq, (void)dp, (void)v, (void)lambda;
    c->cb->value(c->cb->user, &b, (double *)x, 0);
}

#endif
