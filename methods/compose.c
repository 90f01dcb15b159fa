/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A step made of other steps: substeps k = 0, 1, ... follow each other, number k on the span from_k .. from_k + width_k
 * of the step with the share width_k dW of its noise,
 *
 *     Phi = phi_n o ... o phi_1,     phi_k = step j_k with (width_k dt, width_k dW).
 *
 * With METROPOLIS a step is a proposal: it is accepted with probability min(1, exp(-w/kT)), w being what H changes by
 * in all substeps but those of the bath, else the state stays as it was with its momentum reversed (generalised hybrid
 * Monte Carlo; Lelievre, Rousset & Stoltz (2010), doi 10.1142/p579; the work of the substeps as in Sivak, Chodera &
 * Crooks (2013), doi 10.1103/PhysRevX.3.011007).  For symmetric programs of reversible steps exp(-H/kT) is then exact.
 * With constraints a drift is reversible only where the step back from its end leads to where it began (methods/vprk.c
 * with VPRK_CHECKED); elsewhere, and where it has no solution, its lanes come out as NaN and the proposal is rejected.
 *
 * Compositions (one step, widths that add up to 1) and splitting words (a letter is a step) are tables of substeps:
 * src/method/compose.c.  What a step carries depends on q alone, so it has to begin anew only where another step has
 * moved q; the table says where. */
#include "kernel/text/method_file.h"

#include "kernel/text/program.h"

#ifndef METROPOLIS
#define METROPOLIS 0
#endif

#ifdef CONSTRAINED
#define METROPOLIS_EXTRA NC /* multipliers */
#else
#define METROPOLIS_EXTRA 0
#endif

#if METROPOLIS
/* Where the proposal is rejected the state of before comes back, and what was carried with it. */
INLINE void metropolis(struct ctx *c, vec work, const vec *before, const vec *kept, vec *q, vec *p, vec *carry) {
    ivec accept = (ivec)(bath_chance(c) < vec_exp(work * (-1.0 / bath_channel(c, 0)[4]))); /* false for NaN */
    ivec lost = (ivec)(q[0] != q[0]);
    if (vec_all(accept)) return;
    for (long i = 0; i < NX; i++) q[i] = vec_select(accept, q[i], before[i]);
    for (long i = 0; i < NP; i++) p[i] = vec_select(accept, p[i], -before[NX + i]);
    for (long i = 0; i < METHOD_CARRY; i++) carry[i] = vec_select(accept, carry[i], kept[i]);
    for (long m = 0; m < METROPOLIS_EXTRA; m++)
        c->extra[m * VECS] = vec_select(accept, c->extra[m * VECS], kept[METHOD_CARRY + m]);
    for (int l = 0; l < LANES; l++) {
        if (accept[l] || before[0][l] != before[0][l]) continue;
        if (c->b->fail[l]) { /* on the way: it does not come back */
            for (long i = 0; i < NX; i++) q[i][l] = __builtin_nan("");
            for (long i = 0; i < NP; i++) p[i][l] = __builtin_nan("");
            continue;
        }
        c->b->clipped[l]++; /* there is no noise that could be cut */
        c->b->astray[l] += METROPOLIS_EXTRA > 0 && lost[l];
    }
}
#endif

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
#if METROPOLIS
    ARRAY(before, NX + NP);
    ARRAY(kept, METHOD_CARRY + METROPOLIS_EXTRA);
    vec work, H;
    for (long i = 0; i < NX + NP; i++) before[i] = i < NX ? q[i] : p[i - NX];
    for (long i = 0; i < METHOD_CARRY; i++) kept[i] = carry[i];
    for (long m = 0; m < METROPOLIS_EXTRA; m++) kept[METHOD_CARRY + m] = c->extra[m * VECS];
    model_H(c, time_at(c, 0), q, p, &H);
    work = -H;
#endif
    ARRAY(w, NM);
    vec *top = c->top;
    for (long k = 0; k < PROGRAM_SUBSTEPS; k++) {
        enter(c, SUBSTEP_FROM(k), SUBSTEP_WIDTH(k));
        c->span = SUBSTEP_SPAN(k);
        for (long m = 0; m < NM; m++) w[m] = SUBSTEP_WIDTH(k) * dW[m];
        if (SUBSTEP_BEGINS(k)) substep_begin(c, SUBSTEP_STEP(k), q, p, carry);
#if METROPOLIS
        if (SUBSTEP_HEATS(k)) model_H(c, time_at(c, 0), q, p, &H), work += H;
#endif
        substep_step(c, SUBSTEP_STEP(k), q, p, w, dZ, carry);
#if METROPOLIS
        if (SUBSTEP_HEATS(k)) model_H(c, time_at(c, 0), q, p, &H), work -= H;
#endif
        c->top = top;
    }
    enter(c, 0, 1);
    c->span = 0;
#if METROPOLIS
    model_H(c, time_at(c, 1), q, p, &H);
    metropolis(c, work + H, before, kept, q, p, carry);
    c->top = top;
#endif
}

#include "kernel/text/method_end.h"
#ifdef LGV_HOST
const struct lgv_method lgv_method_composed = {
    .source = "compose.c",
    .callbacks = &KERNEL_NAME,
};
#endif
