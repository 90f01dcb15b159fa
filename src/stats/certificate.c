/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The symplecticity defect of a step, measured on the compiled step itself.
 *
 * J is found by central differences of order 8 in directions u: with D_k = F(x + k h u) - F(x - k h u),
 *
 *     J u = (4/5 D_1 - 1/5 D_2 + 4/105 D_3 - 1/280 D_4) / h
 *
 * the perturbed states being lanes of one block with the same noise.  Several h are tried; the one is taken at which the
 * difference of the formulas of order 6 and 8 plus the round-off eps/h is smallest: that is how well J u is known.  Then
 *
 *     defect = max |omega(J u, J v) - omega(u, v)|,   omega(u, v) = u_q . v_p - u_p . v_q
 *
 * over pairs of directions; u is measured in units of the size of q and p, so the defect has no unit.  With constraints the
 * perturbed states are first moved onto T*S: u is then the derivative of these states, a tangent vector of T*S. */
#include "stats/stats.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIRECTIONS 32 /* a system with at most so many components is measured completely */
#define FEW_DIRECTIONS 8  /* random directions of a larger one */

struct probe {
    const struct lgv_kernel *k;
    struct lgv_bench_block b;
    const double *x;
    size_t n; /* 2 nq */
    uint64_t path, step;
    const double *scale; /* [n] */
    double action;
};

/* One step from x + offset[i] * u for up to `lanes` offsets; result i in out[i * n ...], where it started in from[i * n ...].
 * False when a step fails. */
static bool steps_from(struct probe *p, const double *u, const double *offset, size_t count, double *from,
                       double *out) {
    size_t lanes = p->k->entry->lanes;
    struct lgv_block *b = &p->b.block;
    for (size_t first = 0; first < count; first += lanes) {
        for (size_t l = 0; l < lanes; l++) {
            size_t i = first + l < count ? first + l : count - 1;
            p->b.path[l] = p->path;
            b->fail[l] = 0;
            for (size_t r = 0; r < p->k->nstate; r++)
                b->state[r * lanes + l] = r < p->n ? p->x[r] + offset[i] * u[r] : 0;
        }
        b->step = p->step;
        p->k->entry->project(b);
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

/* The derivative of states by the formulas of order 8; its difference to order 6, and the size of the states, in units of the
 * scales. */
static void difference(const struct probe *p, const double *states, double h, double *out, double *error,
                       double *size) {
    static const double eight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}, six[] = {3.0 / 4, -3.0 / 20, 1.0 / 60, 0};
    for (size_t r = 0; r < p->n; r++) {
        double d8 = 0, d6 = 0;
        for (size_t k = 0; k < 4; k++) {
            double D = states[2 * k * p->n + r] - states[(2 * k + 1) * p->n + r];
            d8 += eight[k] * D;
            d6 += six[k] * D;
        }
        out[r] = d8 / h;
        *error = fmax(*error, fabs(d8 - d6) / h / p->scale[r]);
        *size = fmax(*size, fabs(states[r]) / p->scale[r]);
    }
}

/* J u with its uncertainty (largest component in units of the scales); NaN when no step size works.  With constraints u
 * becomes tangent to them. */
static double derivative(struct probe *p, double *u, double *Ju, double *work) {
    static const double sizes[] = {0.2, 0.1, 0.05, 0.02, 0.01, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6};
    double best = NAN, *from = work + 10 * p->n, *tangent = work + 18 * p->n, *taken = work + 19 * p->n;
    memcpy(taken, u, p->n * sizeof *u);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double h = sizes[s], offset[8], error = 0, size = 0;
        for (int k = 0; k < 4; k++) {
            offset[2 * k] = (k + 1) * h;
            offset[2 * k + 1] = -(k + 1) * h;
        }
        if (!steps_from(p, u, offset, 8, from, work)) continue;
        double *trial = work + 8 * p->n;
        difference(p, work, h, trial, &error, &size);
        if (p->k->nextra) difference(p, from, h, tangent, &error, &size);
        error += 4 * DBL_EPSILON * (1 + size) / h; /* round-off of the step itself, which both formulas share */
        if (isnan(best) || error < best) {
            best = error;
            memcpy(Ju, trial, p->n * sizeof *Ju);
            if (p->k->nextra) memcpy(taken, tangent, p->n * sizeof *taken);
        }
    }
    memcpy(u, taken, p->n * sizeof *u);
    return best;
}

static double omega(const double *u, const double *v, size_t n) {
    double s = 0;
    for (size_t i = 0; i < n / 2; i++) s += u[i] * v[n / 2 + i] - u[n / 2 + i] * v[i];
    return s;
}

/* All unit directions of a small system; for a large one random ones with a few entries each. */
static void direction(const struct probe *p, size_t i, double *u) {
    memset(u, 0, p->n * sizeof *u);
    if (p->n <= MAX_DIRECTIONS) {
        u[i] = p->scale[i];
        return;
    }
    uint64_t z = 0x9E3779B97F4A7C15ull * (i / 2 + 1);
    for (int k = 0; k < 8; k++) { /* neighbouring directions share their places, so that omega(u, v) is not just 0 */
        z = z * 6364136223846793005ull + 1442695040888963407ull;
        size_t at = (size_t)(z >> 33) % (p->n / 2);
        double weight = ((double)((z >> 20) & 1023) / 512 - 1) / 8;
        if (i % 2)
            u[p->n / 2 + at] += (weight + 0.1) * p->scale[p->n / 2 + at];
        else
            u[at] += (weight - 0.1) * p->scale[at];
    }
}

double lgv_certificate_defect(const struct lgv_kernel *k, double t0, double dt, uint64_t seed, uint64_t path,
                              uint64_t n, const double *x, const double *scale, double *error) {
    struct probe p = {.k = k, .x = x, .n = 2 * k->nq, .path = path, .step = n};
    size_t count = p.n <= MAX_DIRECTIONS ? p.n : FEW_DIRECTIONS;
    double *u = lgv_new(count * p.n, sizeof *u), *Ju = lgv_new(count * p.n, sizeof *Ju);
    double *work = lgv_new(20 * p.n, sizeof *work), defect = NAN, unsure = 0;
    double *own = scale ? NULL : lgv_new(p.n, sizeof *own);
    if (!scale && !own) goto done;
    double size_of[2] = {0, 0}; /* of the coordinates and of the momenta */
    for (size_t i = 0; i < p.n; i++) {
        if (!isfinite(x[i])) goto done;
        size_of[i >= k->nq] = fmax(size_of[i >= k->nq], fabs(x[i]));
    }
    for (size_t i = 0; own && i < p.n; i++) own[i] = size_of[i >= k->nq] > 0 ? size_of[i >= k->nq] : 1;
    p.scale = scale ? scale : own;
    scale = p.scale;
    for (size_t i = 0; i < k->nq; i++) p.action = fmax(p.action, scale[i] * scale[k->nq + i]);
    if (!u || !Ju || !work || !lgv_block_create(k, t0, dt, seed, 1, &p.b)) goto done;
    for (size_t i = 0; i < count; i++) {
        direction(&p, i, u + i * p.n);
        double e = derivative(&p, u + i * p.n, Ju + i * p.n, work);
        if (isnan(e)) goto done;
        unsure = fmax(unsure, e);
    }
    defect = 0;
    double size = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            double d = omega(Ju + i * p.n, Ju + j * p.n, p.n) - omega(u + i * p.n, u + j * p.n, p.n);
            defect = fmax(defect, fabs(d) / p.action);
        }
    for (size_t i = 0; i < count * p.n; i++) size = fmax(size, fabs(Ju[i]) / scale[i % p.n]);
    unsure = (double)p.n * 2 * unsure * fmax(1, size) + 1e-13;
done:
    if (error) *error = unsure;
    lgv_block_free(&p.b);
    free(own);
    free(u);
    free(Ju);
    free(work);
    return defect;
}
