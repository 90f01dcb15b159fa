/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stochastic Galerkin Hamiltonian variational integrators PsNrQu.  Holm & Tyranowski, section 3.
 *
 * The path is a polynomial q_d(tau) = sum_{mu=0..s} q^mu l_mu(tau) with q^0 = q; momenta P_i live at quadrature
 * nodes c_i. With K_i = K(q_d(c_i), P_i; dt alpha_i, w_i), w_i = beta_i dW + gamma_i J, J = dZ/dt, and (for noise
 * h(q) with a rule of its own) k_j = K(q_d(chat_j); 0, what_j):
 *
 *     R_mu = [mu = 0] p + sum_i [alpha_i P_i l_mu'(c_i) - K_i,q l_mu(c_i)] - sum_j k_j,q l_mu(chat_j) = 0   mu = 0..s-1
 *     S_i  = alpha_i sum_nu q^nu l_nu'(c_i) - K_i,p = 0                                                     i = 1..r
 *     q' = q^s,   p' = p - sum_i K_i,q - sum_j k_j,q          (sum of all R_mu: the l_mu add up to 1)
 *
 * K has the correction of H by noise h(q) in it where the method is corrected (src/method/variational.c).
 * Solved by Newton's method for (q^1..q^s, P_1..P_r).  Separable models have a shorter form, nystrom.h, which is
 * explicit for many methods. */
#include "kernel/text/method_file.h"

/* Layout of the table, the same in generated kernels (a constant array) and for callbacks (the method's values): s,
 * r, n, diagonal, dz, general, then five numbers of the Nystroem form; alpha beta gamma c [r], L D [r][s+1]; beta
 * gamma c [n], L [n][s+1] of the noise rule; the table of nystrom.h. */
#ifndef GALERKIN_S
#define TABLE(k) c->option[k]
#define GALERKIN_S ((long)TABLE(0))
#define GALERKIN_R ((long)TABLE(1))
#define GALERKIN_N ((long)TABLE(2))
#define GALERKIN_DIAGONAL (TABLE(3) != 0)
#define METHOD_DZ (TABLE(4) != 0)
#define GALERKIN_GENERAL (TABLE(5) != 0)
#define NYS_N ((long)TABLE(6))
#define NYS_PRE ((long)TABLE(7))
#define NYS_IMP ((long)TABLE(8))
#define NYS_END ((long)TABLE(9))
#define NYS_CARRY (TABLE(10) != 0)
#else
#define TABLE(k) galerkin_table[k]
#endif
#define GS GALERKIN_S
#define GR GALERKIN_R
#define GN GALERKIN_N
#define HEAD 11
#define ALPHA(i) TABLE(HEAD + (i))
#define BETA(i) TABLE(HEAD + GR + (i))
#define GAMMA(i) TABLE(HEAD + 2 * GR + (i))
#define NODE(i) TABLE(HEAD + 3 * GR + (i))
#define SHAPE(i, mu) TABLE(HEAD + 4 * GR + (i) * (GS + 1) + (mu))
#define SLOPE(i, mu) TABLE(HEAD + (5 + GS) * GR + (i) * (GS + 1) + (mu))
#define TAIL (HEAD + (6 + 2 * GS) * GR)
#define NBETA(j) TABLE(TAIL + (j))
#define NGAMMA(j) TABLE(TAIL + GN + (j))
#define NNODE(j) TABLE(TAIL + 2 * GN + (j))
#define NSHAPE(j, mu) TABLE(TAIL + 3 * GN + (j) * (GS + 1) + (mu))
#define NYS(k) TABLE(TAIL + (4 + GS) * GN + (k))

/* K_p must be the same function at all nodes: steady, and with noise h(q,p) the same weights for dt and dW. */
#define NYSTROM                                                                                                        \
    (NYS_N > 0 && !GALERKIN_GENERAL && MODEL_SEPARABLE && !MODEL_PATTERN && !MODEL_KINETIC_TIME &&                     \
     (GS == 1 || MODEL_FLAT) &&                                                                                        \
     (MODEL_NOISE_OF_Q || (GALERKIN_DIAGONAL && GN == 0)))
#define UNKNOWNS ((GS + GR) * NP)

#define NYS_STRAIGHT (GS == 1)
#define METHOD_CARRY (NYSTROM && NYS_KEEP ? NP + NHQ : 0)

#include "kernel/text/nystrom.h"

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    if (NYSTROM) nystrom_begin(c, q, p, carry);
}

/* ---- the general equations ---- */

/* q_d and its slope at a node: shape and slope rows of the table start at TABLE(first) and TABLE(second). */
INLINE void curve_at(struct ctx *c, const vec *q, const vec *x, long shape, long slope, vec *Q, vec *V) {
    for (long i = 0; i < NP; i++) {
        Q[i] = TABLE(shape) * q[i];
        if (V) V[i] = TABLE(slope) * q[i];
        for (long nu = 1; nu <= GS; nu++) {
            ADD_PRODUCT(Q[i], TABLE(shape + nu), x[(nu - 1) * NP + i]);
            if (V) ADD_PRODUCT(V[i], TABLE(slope + nu), x[(nu - 1) * NP + i]);
        }
    }
}

/* What a node adds to the matrix: tiles of R_mu and S_j against q^nu and P_j. */
struct node {
    long j;
    int noise;
    double alpha;
    long shape, slope; /* where its rows of the table are */
    const vec *Kqq, *Kqp, *Kpp;
};

#if MODEL_PATTERN
#define MATRIX PATTERN_BLOCKS(GS + GR)
#define SCRATCH PATTERN_SCRATCH(GS + GR)

INLINE void add_matrix(const struct ctx *c, const struct node *n, vec *A) {
    const long S = GS + GR, own = GS + n->j;
    (void)c;
    for (long e = 0; e < PATTERN_NE; e++) {
        vec *block = A + pattern_place[e] * S * S;
        for (long mu = 0; mu < GS; mu++)
            for (long nu = 1; nu <= GS; nu++)
                ADD_PRODUCT(block[mu * S + nu - 1], -TABLE(n->shape + mu) * TABLE(n->shape + nu), n->Kqq[e]);
        if (n->noise) continue;
        for (long mu = 0; mu < GS; mu++) {
            ADD_PRODUCT(block[mu * S + own], -TABLE(n->shape + mu), n->Kqp[e]);
            ADD_PRODUCT(block[own * S + mu], -TABLE(n->shape + 1 + mu), n->Kqp[pattern_mirror[e]]);
        }
        block[own * S + own] -= n->Kpp[e];
    }
    for (long mu = 0; !n->noise && mu < GS; mu++) {
        pattern_add_one(S, mu, own, n->alpha * TABLE(n->slope + mu), A);
        pattern_add_one(S, own, mu, n->alpha * TABLE(n->slope + 1 + mu), A);
    }
}
#else
#define MATRIX (UNKNOWNS * UNKNOWNS)
#define SCRATCH 0

INLINE void add_matrix(const struct ctx *c, const struct node *k, vec *A) {
    const long n = UNKNOWNS, j = k->j;
    (void)c;
    for (long mu = 0; mu < GS; mu++) {
        double l = TABLE(k->shape + mu), d = k->noise ? 0 : k->alpha * TABLE(k->slope + mu);
        for (long i = 0; i < NP; i++) {
            vec *row = A + (mu * NP + i) * n;
            for (long nu = 1; nu <= GS; nu++)
                for (long h = 0; h < NP; h++)
                    ADD_PRODUCT(row[(nu - 1) * NP + h], -l * TABLE(k->shape + nu), k->Kqq[i * NP + h]);
            for (long h = 0; !k->noise && h < NP; h++)
                row[(GS + j) * NP + h] += (i == h ? d : 0.0) - l * k->Kqp[i * NP + h];
        }
    }
    for (long i = 0; !k->noise && i < NP; i++) {
        vec *row = A + ((GS + j) * NP + i) * n;
        for (long nu = 1; nu <= GS; nu++)
            for (long h = 0; h < NP; h++)
                row[(nu - 1) * NP + h] =
                    (i == h ? k->alpha * TABLE(k->slope + nu) : 0.0) - TABLE(k->shape + nu) * k->Kqp[h * NP + i];
        for (long h = 0; h < NP; h++) row[(GS + j) * NP + h] = -k->Kpp[i * NP + h];
    }
}
#endif

/* Adds a node's part to the rows R_mu and S_k of the residual r and of the matrix A (0: residual only). */
INLINE void add_node(struct ctx *c, long k, const vec *q, const vec *x, const vec *dW, const vec *dZ, vec *r, vec *A,
                     vec *total) {
    ARRAY(Q, NP);
    ARRAY(V, NP);
    ARRAY(Kq, NP);
    ARRAY(Kp, NP);
    ARRAY(Kqq, SECOND);
    ARRAY(Kqp, SECOND);
    ARRAY(Kpp, SECOND);
    ARRAY(w, NW);
    int noise = k >= GR;
    long j = noise ? k - GR : k;
    double at = noise ? NNODE(j) : NODE(j), a = noise ? 0 : c->dt * ALPHA(j), alpha = noise ? 0 : ALPHA(j);
    double t = time_at(c, at);
    long shape = noise ? TAIL + 3 * GN + j * (GS + 1) : HEAD + 4 * GR + j * (GS + 1);
    long slope = HEAD + (5 + GS) * GR + j * (GS + 1);
    if (noise)
        noise_weights(c, METHOD_DZ, NBETA(j), NGAMMA(j), dW, dZ, w);
    else
        noise_weights(c, METHOD_DZ, BETA(j), GAMMA(j), dW, dZ, w);
    correction_weights(c, a, dW, dZ, w);
    curve_at(c, q, x, shape, slope, Q, noise ? 0 : V);
    const vec *P = x + (GS + (noise ? 0 : j)) * NP;
    if (A)
        model_K2(c, t, Q, P, a, w, Kq, noise ? 0 : Kp, Kqq, noise ? 0 : Kqp, noise ? 0 : Kpp);
    else
        model_K1(c, t, Q, P, a, w, Kq, 0);
    for (long i = 0; total && i < NP; i++) total[i] += Kq[i];
    if (!A) return;
    for (long mu = 0; mu < GS; mu++) {
        double l = TABLE(shape + mu), d = noise ? 0 : alpha * TABLE(slope + mu);
        for (long i = 0; i < NP; i++) {
            ADD_PRODUCT(r[mu * NP + i], -l, Kq[i]);
            if (!noise) ADD_PRODUCT(r[mu * NP + i], d, P[i]);
        }
    }
    for (long i = 0; !noise && i < NP; i++) r[(GS + j) * NP + i] = FUSED(alpha, V[i], -Kp[i]);
    struct node node = {j, noise, alpha, shape, slope, Kqq, Kqp, Kpp};
    add_matrix(c, &node, A);
}

#define CURVE_PACE 0.02 /* the smallest factor that is believed: large parts of an error may fall faster than others */

struct curve {
    const vec *q, *p, *dW, *dZ, *w;
    vec *A, *scratch, *moved; /* the matrix; what the momentum moved by, see below */
};

INLINE ivec curve_correct(struct ctx *c, struct newton *s, void *of) {
    struct curve *h = of;
    const long n = UNKNOWNS;
    vec *top = c->top;
    for (long i = 0; i < n; i++) s->e[i] = i < NP ? h->p[i] : vec_set(0);
    for (long i = 0; i < MATRIX; i++) h->A[i] = vec_set(0);
    for (long k = 0; k < GR + GN; k++) {
        add_node(c, k, h->q, s->x, h->dW, h->dZ, s->e, h->A, 0);
        c->top = top;
    }
#if MODEL_PATTERN
    return pattern_solve(GS + GR, h->A, s->e, h->scratch);
#else
    return system_solve(SYSTEM_FREE, n, h->A, s->e, 0);
#endif
}

/* The momenta count through sum_i alpha_i P_i l_s'(c_i): other combinations may be free and do not matter. */
INLINE ivec curve_moving(struct ctx *c, struct newton *s, void *of) {
    struct curve *h = of;
    vec moved = vec_set(0), size = vec_set(0);
    (void)c;
    for (long i = 0; i < NP; i++) {
        h->moved[i] = vec_set(0);
        for (long k = 0; k < GR; k++) ADD_PRODUCT(h->moved[i], ALPHA(k) * SLOPE(k, GS), s->e[(GS + k) * NP + i]);
        moved += vec_abs(h->moved[i]);
        size += vec_abs(h->p[i]) + vec_abs(s->x[(GS + GR - 1) * NP + i]);
    }
    if (MODEL_PARTIAL) { /* what is left depends on the pace */
        vec e = moved * moved, x = size * size, rate;
        for (long i = 0; i < GS * NP; i++) {
            ADD_PRODUCT(e, s->e[i], s->e[i]);
            ADD_PRODUCT(x, s->x[i], s->x[i]);
        }
        return still_falling(s, e, x, vec_set(0), vec_set(CURVE_PACE), &rate);
    }
    ivec momentum = (ivec)(moved > 1e-10 * size + 1e-300);
    return still_moving(GS * NP, s->e, s->x, s->x, 1e-10) | momentum;
}

INLINE ivec curve_settled(struct ctx *c, struct newton *s, void *of) {
    struct curve *h = of;
    ivec settled;
    settle(c, time_at(c, 0), h->q, h->p, c->dt, h->w, s->e + (GS - 1) * NP, h->moved, &settled);
    return settled;
}

INLINE void general_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ) {
    ARRAY(x, UNKNOWNS);
    ARRAY(r, UNKNOWNS);
    ARRAY(A, MATRIX);
    ARRAY(scratch, SCRATCH);
    ARRAY(moved, NP);
    ARRAY(Kp, NP);
    ARRAY(w, NW);
    noise_weights(c, METHOD_DZ, 1, 0, dW, dZ, w);
    correction_weights(c, c->dt, dW, dZ, w);
    vec *top = c->top;
    model_K1(c, time_at(c, 0.5), q, p, c->dt, w, 0, Kp);
    c->top = top;
    for (long i = 0; i < NP; i++) {
        for (long nu = 1; nu <= GS; nu++) x[(nu - 1) * NP + i] = q[i] + (double)nu / (double)GS * Kp[i];
        for (long k = 0; k < GR; k++) x[(GS + k) * NP + i] = p[i];
    }
    struct curve path = {q, p, dW, dZ, w, A, scratch, moved};
    struct newton s = {.n = UNKNOWNS, .x = x, .e = r, .live = (ivec)(p[0] == p[0])};
    newton(c, &s, NEWTON_MAX, curve_correct, curve_moving, curve_settled, &path);
    for (long i = 0; i < NP; i++) Kp[i] = vec_set(0);
    for (long k = 0; k < GR + GN; k++) {
        add_node(c, k, q, x, dW, dZ, 0, 0, Kp);
        c->top = top;
    }
    for (long i = 0; i < NP; i++) {
        vec keep = p[i];
        q[i] = vec_select((ivec)(keep == keep), x[(GS - 1) * NP + i], q[i]);
        p[i] = keep - Kp[i];
    }
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    if (NYSTROM)
        nystrom_step(c, q, p, dW, dZ, carry);
    else
        general_step(c, q, p, dW, dZ);
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_method_galerkin = {
    .family = "Galerkin",
    .paper = "Holm & Tyranowski (2018), Stochastic discrete Hamiltonian variational integrators, section 3, doi "
             "10.1007/s10543-018-0720-2",
    .source = "galerkin.c",
    .face_separable = LGV_FACE_K1 | LGV_FACE_K2,
    .face_general = LGV_FACE_K1 | LGV_FACE_K2,
    .patterned = true,
    .strong_order = 1,
    .strong_noncommuting = 0.5,
    .strong_additive = 1,
    .weak_order = 1,
    .symplectic = true,
    .linear = LGV_LINEAR_TABLE,
    .linear_momentum_maps = true,
    .callbacks = &KERNEL_NAME,
    .step = &KERNEL_STEP,
};
#endif
