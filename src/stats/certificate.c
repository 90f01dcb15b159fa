/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The symplecticity defect of a step, measured on the compiled step itself.
 *
 * J is found by central differences of order 8 in directions u: with D_k = F(x + k h u) - F(x - k h u),
 *
 *     J u = (4/5 D_1 - 1/5 D_2 + 4/105 D_3 - 1/280 D_4) / h
 *
 * the perturbed states being lanes of one block with the same noise.  Several h are tried; the one is taken at which J u is
 * known best: by the difference of the formulas of order 6 and 8, of which round-off shows only a twelfth, and eps/h.  Then
 *
 *     defect = max |omega(J u, J v) - omega(u, v)|,   omega(u, v) = u_q . v_p - u_p . v_q
 *
 * over pairs of directions, known to sum_i (e_u |J v_i| + e_v |J u_i|), e the errors of J u and J v; u is measured in units of the size of q and p, so the defect has no unit.  With constraints the
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

/* A derivative of states: how large its halves are and how well they are known, in units of the scales. */
struct known {
    double error[2], norm[2]; /* largest error of a component; sum of |components| */
};

/* The derivative of states by the formula of order 8. */
static struct known difference(const struct probe *p, const double *states, double h, double *out) {
    static const double eight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}, six[] = {3.0 / 4, -3.0 / 20, 1.0 / 60, 0};
    struct known k = {{0, 0}, {0, 0}};
    for (size_t r = 0; r < p->n; r++) {
        double d8 = 0, d6 = 0, *error = &k.error[r >= p->n / 2];
        for (size_t i = 0; i < 4; i++) {
            double D = states[2 * i * p->n + r] - states[(2 * i + 1) * p->n + r];
            d8 += eight[i] * D;
            d6 += six[i] * D;
        }
        out[r] = d8 / h;
        double size = fabs(states[r]) / p->scale[r]; /* round-off of the step itself, which both formulas share */
        *error = fmax(*error, (12 * fabs(d8 - d6) / p->scale[r] + 4 * DBL_EPSILON * (1 + size)) / h);
        k.norm[r >= p->n / 2] += fabs(out[r]) / p->scale[r];
    }
    return k;
}

/* A direction, and what the step makes of it; with constraints u becomes tangent to them. */
struct column {
    double *u, *Ju;
    struct known before, after;
};

/* False when no step size works. */
static bool derivative(struct probe *p, struct column *c, double *work) {
    static const double sizes[] = {0.2, 0.1, 0.05, 0.02, 0.01, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6};
    double best = INFINITY, *trial = work + 8 * p->n, *from = work + 10 * p->n, *tangent = work + 18 * p->n;
    double *taken = work + 19 * p->n;
    memcpy(taken, c->u, p->n * sizeof *taken);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double h = sizes[s], offset[8], error = 0;
        for (int k = 0; k < 4; k++) {
            offset[2 * k] = (k + 1) * h;
            offset[2 * k + 1] = -(k + 1) * h;
        }
        if (!steps_from(p, c->u, offset, 8, from, work)) continue;
        struct known after = difference(p, work, h, trial), before = {{0, 0}, {0, 0}};
        if (p->k->nextra) before = difference(p, from, h, tangent);
        for (int half = 0; half < 2; half++) error = fmax(error, after.error[half] + before.error[half]);
        if (!(error < best)) continue;
        best = error;
        c->after = after;
        c->before = before;
        memcpy(c->Ju, trial, p->n * sizeof *trial);
        if (p->k->nextra) memcpy(taken, tangent, p->n * sizeof *taken);
    }
    memcpy(c->u, taken, p->n * sizeof *taken);
    return isfinite(best);
}

/* How well omega of two derivatives is known. */
static double omega_error(const struct known *a, const struct known *b) {
    return a->error[0] * b->norm[1] + a->error[1] * b->norm[0] + b->error[0] * a->norm[1] + b->error[1] * a->norm[0];
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
                              uint64_t n, const double *x, const double *scale, double *error) {
    struct probe p = {.k = k, .x = x, .n = 2 * k->nq, .path = path, .step = n};
    size_t count = p.n <= MAX_DIRECTIONS ? p.n : FEW_DIRECTIONS;
    double *vectors = lgv_new(2 * count * p.n, sizeof *vectors), *own = lgv_new(p.n, sizeof *own);
    double *work = lgv_new(20 * p.n, sizeof *work), defect = NAN, unsure = 0;
    struct column *c = lgv_new(count, sizeof *c);
    if (!vectors || !own || !work || !c || !own_scales(&p, own)) goto done;
    p.scale = scale ? scale : own;
    for (size_t i = 0; i < k->nq; i++) p.action = fmax(p.action, p.scale[i] * p.scale[k->nq + i]);
    if (!lgv_block_create(k, t0, dt, seed, 1, &p.b)) goto done;
    for (size_t i = 0; i < count; i++) {
        c[i].u = vectors + 2 * i * p.n;
        c[i].Ju = c[i].u + p.n;
        direction(&p, i, c[i].u);
        if (!derivative(&p, &c[i], work)) goto done;
    }
    defect = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            double d = omega(c[i].Ju, c[j].Ju, p.n) - omega(c[i].u, c[j].u, p.n);
            double e = omega_error(&c[i].after, &c[j].after) + omega_error(&c[i].before, &c[j].before);
            defect = fmax(defect, fabs(d) / p.action);
            unsure = fmax(unsure, e);
        }
    unsure += 1e-13;
done:
    if (error) *error = unsure;
    lgv_block_free(&p.b);
    free(own);
    free(vectors);
    free(c);
    free(work);
    return defect;
}
