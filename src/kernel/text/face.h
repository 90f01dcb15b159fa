/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The face of the model that methods see, and the few helpers they share.  Include-free: part of every kernel.
 *
 * A method chooses weights; the model answers with the increment Hamiltonian K(q,p,t; a, w) = a H + sum_m w_m h_m:
 *
 *     NX, NP, NM                    rows of q, rows of p (equal for vectors), noises
 *     model_K1(c, t, q, p, a, w, Kq, Kp)                          gradient of K           (any output may be 0)
 *     model_K2(c, t, q, p, a, w, Kq, Kp, Kqq, Kqp, Kpp)           and Hessians, row-major NP x NP, or with the
 *                                                                 entries of a pattern (MODEL_PATTERN): SECOND of them
 *     model_force(c, t, q, p, F)                                  H_q and all h_m,q, weights not yet applied
 *     model_kick(c, p, F, a, w)                                   p -= a H_q + sum_m w_m h_m,q
 *     model_brackets(c, t, q, p, w, Bq, Bp)                       gradient of sum_k w_k B_k, brackets of H and the h_m
 *     model_ito(c, t, q, p, Cq, Cp)                               Ito drift minus Stratonovich drift
 *     model_taylor(c, t, q, p, dt, w, Xq, Xp)                     increment of the strong Taylor scheme 1.5, w = dW, dZ
 *     model_H(c, t, q, p, H)                                      value of H, one vector
 *     model_V3(c, t, q, p, a, x)                                  a.V'''.a: x_i = sum_jk H_q_i,q_j,q_k a_j a_k
 *     model_stiffness(c, t, q, p, Hq, B, W)                       H_q, V_qq (or that of the stiff part) and H_pp
 *     model_stiff(c, t, q, p, Vq)                                 V1_q of the stiff part; model_force has H_q - V1_q
 *                                                                 then, and model_stiffness V1_q for H_q
 *
 * src/kernel/face.c has them all in a table.  What the description of a method does not ask for traps when called.
 *
 * a is a number (a part of dt), w an array of NM vectors (parts of dW, J, ...).  A method file defines METHOD_CARRY
 * (vectors kept from step to step), METHOD_DZ (does it use dZ?), method_begin and method_step.  Arrays are made by
 * ARRAY(name, count): registers or stack when small, scratch memory when large.
 *
 * A step works on a span of time: a whole step of the run, or a part of one when it stands in a composition.  Its
 * length is c->dt, time_at(c, part) the time at a part of it, and dW, dZ are the noise that belongs to it. */

/* Two quarters of a kernel can be compiled at the same time (compile.h): LGV_QUARTER is 1 for the time loop and noise,
 * which are most of the work, and 2 for everything else.  Without it there is one text. */
#ifndef LGV_QUARTER
#define LGV_QUARTER 0
#endif
#if LGV_QUARTER
#define ACROSS SHARED /* called from the other quarter */
#else
#define ACROSS OUTLINE
#endif

#if MODEL_PATTERN
#define SECOND PATTERN_NE
#else
#define SECOND (NP * NP)
#endif

#ifndef NB /* friction: bath.h */
#define NB 0L
#define BATH_SPANS 1
#define BATH_F 0
#define BATH_OF_Q 0
#endif
#ifndef NEAR_LISTS /* near.h */
#define NEAR_LISTS 0
#endif
#ifndef PENALTIES /* multipliers of constraints by penalty: loop.h */
#define PENALTIES 0L
#endif
#ifndef ROTATIONS /* rotations.h */
#define ROTATIONS 0L
#define COUPLED 0L
#endif
#ifndef MODEL_PARTIAL /* Newton's matrix has a part of the Hessian only: convergence is linear */
#define MODEL_PARTIAL 0
#endif
#ifndef MODEL_FORCED /* forces without a potential: model_push */
#define MODEL_FORCED 0
#define MODEL_FORCE_P 0
#endif

#ifndef VECS
#define VECS 1
#endif
/* Parameters that every path has a value of its own of: rows of the state. */
#ifndef DRAWN_ROWS
#define DRAWN_ROWS 0L
#endif
#define DRAWN_VALUE(k) c->drawn[(k) * VECS]

struct ctx {
    struct lgv_block *b;
    const double *par;
    double dt;          /* length of the span */
    double base;        /* where the present step of the run begins, in steps */
    double from, width; /* where the span begins in it and how long it is: a whole step has 0 and 1 */
    u64 step;           /* number of the present step of the run: failures are told by it, times never */
    vec *top, *end;     /* free scratch */
    long *escape;       /* where to go when there is not enough of it */
    u64 iterations, evaluations;
    const struct lgv_callbacks *cb; /* models given as callbacks */
    const double *option;           /* methods compiled ahead of time: their constants */
    const struct lgv_program *program; /* ... and their substeps, when they are made of others */
    vec *q, *p;                     /* the state, one behind the other, to mark failed lanes */
    const vec *bath, *bathz;        /* friction: E and F of every span of the step, [BATH_SPANS][NM + NB] */
    long span;                      /* which of them a part of the step has */
    vec *extra;                     /* further rows of the state, VECS apart */
    vec *drawn;                     /* those of parameters, VECS apart */
};

struct force {
    vec *H, *h; /* H_q [NP]; h_m,q: the entries that can be non-zero [NHQ] */
};
/* The force that a step carries: the end of one is the beginning of the next. */
#define FORCE_ROWS (NP + NHQ)
#define CARRIED_FORCE(carry) ((struct force){(carry), (carry) + NP})

#define SMALL_ARRAY 64
#ifndef ARRAY
#define ARRAY(name, n)                                                                                                 \
    vec name##_memory[(n) < 1 || (n) > SMALL_ARRAY ? 1 : (n)];                                                         \
    vec *name = (n) > SMALL_ARRAY ? take(c, (n)) : name##_memory
#endif

#ifndef COMPENSATED
#define COMPENSATED 0 /* q and p have rests, which are rows of the state behind them */
#endif
/* x += y, where what is rounded off goes along in `rest` (Kahan 1965, doi 10.1145/363707.363723).  It is exact where y
 * is not larger than x; where x passes zero what is lost is small against y, which is small against x elsewhere. */
INLINE void add_compensated(vec *x, vec *rest, vec y) {
    vec whole = y + *rest, sum = *x + whole;
    *rest = whole - (sum - *x);
    *x = sum;
}

INLINE vec *take(struct ctx *c, long n) {
    vec *r = c->top;
    if (RARELY(c->end - c->top < n)) scratch_overrun(c->b->scratch, c->top + n, c->escape);
    c->top += n;
    return r;
}

/* The time at a part of the span.  The end of a span that ends with its step is the beginning of the next step, to the
 * bit. */
INLINE double time_at(const struct ctx *c, double part) {
    return c->b->t0 + (c->base + (c->from + part * c->width)) * c->b->dt;
}

INLINE long imod(long a, long b) {
    long m = a % b;
    return m < 0 ? m + b : m;
}

INLINE long idiv(long a, long b) {
    return (a - imod(a, b)) / b;
}

/* Constant n: the loop disappears. */
INLINE vec vec_powi(vec x, int n) {
    vec r = vec_set(1);
    for (; n; n >>= 1, x *= x)
        if (n & 1) r *= x;
    return r;
}

INLINE double num_powi(double x, int n) {
    double r = 1;
    for (; n; n >>= 1, x *= x)
        if (n & 1) r *= x;
    return r;
}

/* A context whose state is a copy in `q`, for calls out of line that are rare: what they get the address of must be in
 * memory at every step, while the loop's own state can stay in registers. */
INLINE struct ctx apart(const struct ctx *c, vec *q) {
    struct ctx copy = *c;
    for (long i = 0; i < NX + NP; i++) q[i] = c->q[i];
    copy.q = q;
    copy.p = q + NX;
    return copy;
}

INLINE void lanes_failed(struct ctx *c, const ivec *mask, int reason) {
    fail_lanes(c->b, c->step, mask, NX + NP, c->q, reason);
}

INLINE double num_sign(double x) {
    return (double)((x > 0) - (x < 0));
}
INLINE double num_min(double a, double b) {
    return b < a ? b : a;
}
INLINE double num_max(double a, double b) {
    return b > a ? b : a;
}
INLINE double num_pick(double condition, double a, double b) {
    return condition != 0 ? a : b;
}
INLINE double num_less(double a, double b) {
    return a < b ? 1.0 : 0.0;
}

/* Weights of the correction of H by noise h(q) on a part a of the step, behind those of the noises: a dt, or with
 * y = J - dW/2, J = dZ / dt, and numbers of the method's tableau (src/method/variational.c) a dt k_ij,
 *
 *     k_ij = (WW dW_i dW_j + WY (dW_i y_j + y_i dW_j) + YY y_i y_j) / dt + delta_ij / 15. */
#ifndef CORRECTION_RANDOM
#define CORRECTION_RANDOM 0
#define CORRECTION_WW 0.0
#define CORRECTION_WY 0.0
#define CORRECTION_YY 0.0
#endif
INLINE void correction_weights(const struct ctx *c, double a, const vec *dW, const vec *dZ, vec *w) {
    if (NW == NM) return;
    if (!CORRECTION_RANDOM) w[NM] = vec_set(a * c->dt);
    vec *k = w + NM;
    for (long i = 0; CORRECTION_RANDOM && i < NM; i++)
        for (long j = i; j < NM; j++) {
            vec y = dZ[i] / c->dt - 0.5 * dW[i], z = dZ[j] / c->dt - 0.5 * dW[j];
            vec sum = CORRECTION_WW * dW[i] * dW[j] + CORRECTION_WY * (dW[i] * z + y * dW[j]) + CORRECTION_YY * y * z;
            *k++ = a * (i == j ? sum + c->dt / 15.0 : sum);
        }
}

/* w = beta dW + gamma J, J = dZ / dt; methods without dZ leave it out. */
INLINE void noise_weights(const struct ctx *c, int dz, double beta, double gamma, const vec *dW, const vec *dZ,
                          vec *w) {
    for (long m = 0; m < NM; m++) {
        w[m] = beta * dW[m];
        if (dz) ADD_PRODUCT(w[m], gamma / c->dt, dZ[m]);
    }
}
