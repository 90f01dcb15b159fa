/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The symplecticity defect of a step, measured on the compiled step itself.
 *
 * J is found by central differences of order 8 in directions u: with D_k = F(x + k h u) - F(x - k h u),
 *
 *     J u = (4/5 D_1 - 1/5 D_2 + 4/105 D_3 - 1/280 D_4) / h
 *
 * the perturbed states being lanes of one block with the same noise.  Several h are tried; the one is taken at which
 * J u is known best: by the difference of the formulas of order 6 and 8, of which round-off shows only a twelfth,
 * and eps/h.  Then
 *
 *     defect = max |omega(J u, J v) - omega(u, v)|,   omega(u, v) = u_q . v_p - u_p . v_q
 *
 * over pairs of directions; it is known to the sum of |error of J u| |J v| over conjugate components, and the same
 * with u and v exchanged.  u is measured in units of the size of q and p, so the defect has no unit.  With
 * constraints the perturbed states are first moved onto T*S: u is then the derivative of these states, a tangent
 * vector of T*S. */
#include "stats/stats.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIRECTIONS 32 /* a system with at most so many components is measured completely */
#define FEW_DIRECTIONS 8  /* random directions of a larger one */
#define MANY 64           /* degrees of freedom: up to here each is in some direction */
#define SAFETY 4          /* round-off estimated from one difference may be that much too small */

struct probe {
    const struct lgv_kernel *k;
    struct lgv_own_block b;
    const double *x;
    size_t n; /* 2 nq */
    uint64_t path, step;
    const double *scale; /* [n] */
    double action;
    lgv_progress *progress;
    void *user;
};

/* The states x + offset[i] * u, moved onto the constraints.  Velocities of a Lagrangian are found from 0, or else
 * from the momenta: they may not enter L_vv in a way that allows 0. */
static bool place(struct probe *p, const double *u, const double *offset, size_t count) {
    size_t lanes = p->k->entry->lanes;
    struct lgv_block *b = &p->b.block;
    bool ok = false;
    for (int guess = 0; guess < 2 && !ok; guess++) {
        for (size_t l = 0; l < lanes; l++) {
            size_t i = l < count ? l : count - 1;
            p->b.path[l] = p->path;
            b->fail[l] = 0;
            for (size_t r = 0; r < p->k->nstate; r++)
                b->state[r * lanes + l] = r < p->n                       ? p->x[r] + offset[i] * u[r]
                                          : guess && r < p->n + p->n / 2 ? p->x[r - p->n / 2]
                                                                         : 0;
        }
        b->step = p->step;
        p->k->entry->project(b);
        ok = true;
        for (size_t l = 0; l < lanes; l++) ok &= !b->fail[l];
    }
    return ok;
}

/* One step from each of them; result i in out[i * n ...], where it started in from[i * n ...].  False when a step
 * fails. */
static bool steps_from(struct probe *p, const double *u, const double *offset, size_t count, double *from,
                       double *out) {
    size_t lanes = p->k->entry->lanes;
    struct lgv_block *b = &p->b.block;
    for (size_t first = 0; first < count; first += lanes) {
        if (!place(p, u, offset + first, count - first)) return false;
        for (size_t l = 0; l < lanes && first + l < count; l++)
            for (size_t r = 0; r < p->n; r++) from[(first + l) * p->n + r] = b->state[r * lanes + l];
        p->k->entry->advance(b, 1);
        for (size_t l = 0; l < lanes && first + l < count; l++) {
            if (b->fail[l]) return false;
            for (size_t r = 0; r < p->n; r++) {
                out[(first + l) * p->n + r] = b->state[r * lanes + l];
                if (!isfinite(b->state[r * lanes + l])) return false;
            }
        }
    }
    return true;
}

/* The derivative of states by the formula of order 8, and how well each component is known. */
static void difference(const struct probe *p, const double *states, double h, double *out, double *error) {
    static const double eight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}, six[] = {3.0 / 4, -3.0 / 20, 1.0 / 60, 0};
    for (size_t r = 0; r < p->n; r++) {
        double d8 = 0, d6 = 0;
        for (size_t i = 0; i < 4; i++) {
            double D = states[2 * i * p->n + r] - states[(2 * i + 1) * p->n + r];
            d8 += eight[i] * D;
            d6 += six[i] * D;
        }
        out[r] = d8 / h; /* both formulas share the round-off of the step itself */
        error[r] = (SAFETY * 12 * fabs(d8 - d6) + 4 * DBL_EPSILON * (p->scale[r] + fabs(states[r]))) / h;
    }
}

/* A direction, and what the step makes of it, with errors; with constraints u becomes tangent to them. */
struct column {
    double *u, *Ju, *u_error, *Ju_error;
};

/* A bound of what omega(error, v) can be for v of the size of the scales. */
static double weight(const struct probe *p, const double *error) {
    double sum = 0;
    for (size_t i = 0; i < p->n; i++) sum += error[i] * p->scale[i < p->n / 2 ? i + p->n / 2 : i - p->n / 2];
    return sum;
}

/* False when no step size works, or after a stop. */
static bool derivative(struct probe *p, struct column *c, double *work) {
    static const double sizes[] = {0.2, 0.1, 0.05, 0.02, 0.01, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6};
    size_t n = p->n, size = n * sizeof *work;
    double best = INFINITY, *from = work + 8 * n, *given = work + 16 * n;
    struct column trial = {work + 17 * n, work + 18 * n, work + 19 * n, work + 20 * n};
    memcpy(given, c->u, size);
    memcpy(trial.u, c->u, size);
    memset(trial.u_error, 0, size);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double h = sizes[s], offset[8];
        if (p->progress && p->progress(p->user, 1)) return false;
        for (int k = 0; k < 4; k++) {
            offset[2 * k] = (k + 1) * h;
            offset[2 * k + 1] = -(k + 1) * h;
        }
        if (!steps_from(p, given, offset, 8, from, work)) continue;
        difference(p, work, h, trial.Ju, trial.Ju_error);
        if (p->k->nextra) difference(p, from, h, trial.u, trial.u_error);
        double error = weight(p, trial.Ju_error) + weight(p, trial.u_error);
        if (!(error < best)) continue;
        best = error;
        memcpy(c->u, trial.u, size);
        memcpy(c->Ju, trial.Ju, size);
        memcpy(c->u_error, trial.u_error, size);
        memcpy(c->Ju_error, trial.Ju_error, size);
    }
    return isfinite(best);
}

static double omega(const double *u, const double *v, size_t n) {
    double s = 0;
    for (size_t i = 0; i < n / 2; i++) s += u[i] * v[n / 2 + i] - u[n / 2 + i] * v[i];
    return s;
}

/* How well omega(u, v) is known. */
static double omega_error(const double *u, const double *u_error, const double *v, const double *v_error, size_t n) {
    double s = 0;
    for (size_t i = 0, j = n / 2; i < n; i++, j = (j + 1) % n) s += u_error[i] * fabs(v[j]) + v_error[i] * fabs(u[j]);
    return s;
}

/* All unit directions of a small system.  Of a larger one the degrees of freedom in turn, or, when there are many,
 * some at random, others at each state. */
static void direction(const struct probe *p, size_t i, double *u) {
    size_t nq = p->n / 2, pairs = FEW_DIRECTIONS / 2, entries = nq <= MANY ? (nq + pairs - 1) / pairs : 8;
    memset(u, 0, p->n * sizeof *u);
    if (p->n <= MAX_DIRECTIONS) {
        u[i] = p->scale[i];
        return;
    }
    uint64_t z = 0x9E3779B97F4A7C15ull * (i / 2 + 1) + 0xD1B54A32D192ED03ull * (p->path + 1000 * p->step);
    for (size_t k = 0; k < entries; k++) { /* neighbouring directions share their places: omega(u, v) is not just 0 */
        z = z * 6364136223846793005ull + 1442695040888963407ull;
        size_t at = nq <= MANY ? i / 2 + k * pairs : (size_t)(z >> 33) % nq;
        double weight = ((double)((z >> 20) & 1023) / 512 - 1) / 8;
        if (at >= nq) continue;
        if (i % 2)
            u[nq + at] += (weight + 0.1) * p->scale[nq + at];
        else
            u[at] += (weight - 0.1) * p->scale[at];
    }
}

/* In units of x itself where none are given. */
static bool own_scales(struct probe *p, double *scale) {
    size_t nq = p->n / 2;
    double size[2] = {0, 0}; /* of the coordinates and of the momenta */
    for (size_t i = 0; i < p->n; i++) {
        if (!isfinite(p->x[i])) return false;
        size[i >= nq] = fmax(size[i >= nq], fabs(p->x[i]));
    }
    for (size_t i = 0; i < p->n; i++) scale[i] = size[i >= nq] > 0 ? size[i >= nq] : 1;
    return true;
}

double lgv_certificate_defect(const struct lgv_kernel *k, double t0, double dt, uint64_t seed, uint64_t path,
                              uint64_t n, const double *x, const double *scale, lgv_progress *progress, void *user,
                              double *error) {
    struct probe p = {
        .k = k, .x = x, .n = 2 * k->nq, .path = path, .step = n, .progress = progress, .user = user};
    size_t count = p.n <= MAX_DIRECTIONS ? p.n : FEW_DIRECTIONS;
    double *vectors = lgv_new(4 * count * p.n, sizeof *vectors), *own = lgv_new(p.n, sizeof *own);
    double *work = lgv_new(21 * p.n, sizeof *work), defect = NAN, unsure = 0;
    struct column *c = lgv_new(count, sizeof *c);
    if (!vectors || !own || !work || !c || !own_scales(&p, own)) goto done;
    p.scale = scale ? scale : own;
    for (size_t i = 0; i < k->nq; i++) p.action = fmax(p.action, p.scale[i] * p.scale[k->nq + i]);
    if (!lgv_block_create(k, t0, dt, seed, 1, &p.b)) goto done;
    for (size_t i = 0; i < count; i++) {
        double *at = vectors + 4 * i * p.n;
        c[i] = (struct column){at, at + p.n, at + 2 * p.n, at + 3 * p.n};
        direction(&p, i, c[i].u);
        if (!derivative(&p, &c[i], work)) goto done;
    }
    double most = 0, worst[2] = {0, 0}; /* a pair whose defect is beyond its own error counts before all others */
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            double d = omega(c[i].Ju, c[j].Ju, p.n) - omega(c[i].u, c[j].u, p.n);
            double e = omega_error(c[i].Ju, c[i].Ju_error, c[j].Ju, c[j].Ju_error, p.n) +
                       omega_error(c[i].u, c[i].u_error, c[j].u, c[j].u_error, p.n);
            d = fabs(d) / p.action;
            e = e / p.action + 1e-13;
            if (d > e && d - e > worst[0] - worst[1]) worst[0] = d, worst[1] = e;
            most = fmax(most, d);
            unsure = fmax(unsure, e);
        }
    defect = worst[0] > 0 ? worst[0] : most;
    if (worst[0] > 0) unsure = worst[1];
done:
    if (error) *error = unsure;
    lgv_block_free(&p.b);
    free(own);
    free(vectors);
    free(c);
    free(work);
    return defect;
}
