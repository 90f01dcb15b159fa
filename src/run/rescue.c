/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps without a solution.  Where the equations of an implicit step have none, or Newton's method does not find it,
 * the path takes the step in two halves, and a half that fails likewise in two again.  The noise of the halves is drawn
 * from its law given that of the step: with y = dZ/dt - dW/2, normals x1, x2 for each noise, and g = dt/2,
 *
 *     dW1 = dW/2 + 3/2 y + sqrt(dt)/4 x1      y1 = y/4 - sqrt(dt)/8 x1 + sqrt(dt/48) x2      dZ1 = g (dW1/2 + y1)
 *     dW2 = dW - dW1                          y2 = y/4 - sqrt(dt)/8 x1 - sqrt(dt/48) x2      dZ2 = g (dW2/2 + y2)
 *
 * (the Brownian bridge given dW and dZ), so that the path keeps its law.  Fresh draws in the place of the step would
 * not: they would leave out just the increments that are hard.  For methods that do not use dZ, y is drawn too.  All
 * normals are functions of (seed, path, step, place in the tree of halves), in streams of their own: a path has the
 * same bits whatever its neighbours do, and wherever a run was stopped.  The steps of a study are made of several fine
 * ones, whose noise is known: these are shared out first, and drawn are the halves of fine steps only, so that all
 * methods and steps see the same path.
 *
 * Equations may also have solutions that lie far from the path: where that becomes infinite, the far side of its pole.
 * So a part counts as solved when its halves have solutions too and lead to about the same place, which are then taken;
 * else its halves are looked at likewise.  A path that is not found so at dt/2^LGV_RESCUE_DEPTH has failed.
 *
 * The parts are steps of the same kernel in a block of its own, with the increments given. */
#include "run/worker.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAM 0x8000u /* of the first draw; places in the tree, from 1 on, are added.  noise.h has those below */

struct lgv_rescue {
    struct lgv_own_block part;
    size_t rows;       /* of increments: dW, and dZ for methods that use it */
    double *before;    /* [nstate][lanes] the block before the present step */
    double *at;        /* [nstate] how far the path has come */
    double *tried;     /* [depth][begin, whole, middle][nstate] of a part */
    double *given;     /* [rows][lanes] */
    double *increment; /* [depth][dW, y, dW, y][noises] of both halves; of the step itself in front */
    double *fine;      /* [dW, y][noises] of a fine step */
    double *seen;      /* [observables][lanes] */
    int fail[LGV_UNIT];
};

/* What a step has beside q, p and rows that go along with them must not depend on its width.  Halves of Levy areas
 * given the area have no law in closed form, and the integral of a process over the step is known, not over halves. */
bool lgv_rescue_possible(const struct lgv_kernel *k) {
    const struct lgv_method *m = k->method;
    bool windows = (k->watch.uses & LGV_USES(LGV_LAMBDA)) && !k->structure.constrained;
    return !k->bath && !k->process && !m->metropolis && !m->carries_width && !m->loose && !k->watch.sections &&
           m->brackets != LGV_BRACKETS_AREAS && !windows && !lgv_method_explicit(m, &k->structure);
}

/* ---- noise ---- */

/* Philox4x32-10 and Box-Muller, as in noise.h. */
static void normals(uint64_t seed, uint64_t path, uint64_t pair, uint32_t stream, double z[2]) {
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    uint32_t c0 = (uint32_t)pair, c1 = ((uint32_t)(pair >> 32) & 0xffffu) | stream << 16;
    uint32_t c2 = (uint32_t)path, c3 = (uint32_t)(path >> 32);
    for (int round = 0; round < 10; round++, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u) {
        uint64_t a = (uint64_t)0xd2511f53u * c0, b = (uint64_t)0xcd9e8d57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
    }
    double u = 1 - (double)(((uint64_t)c1 << 32 | c0) >> 12) * 0x1p-52;
    double v = (double)(((uint64_t)c3 << 32 | c2) >> 12) * 0x1p-52, r = sqrt(-2 * log(u));
    z[0] = r * cos(6.28318530717958647692 * v);
    z[1] = r * sin(6.28318530717958647692 * v);
}

void lgv_bridge_normals(uint64_t seed, uint64_t path, uint64_t number, unsigned place, double z[2]) {
    normals(seed, path, number, STREAM + place, z);
}

void lgv_bridge_halve(double dt, double dW, double y, const double x[2], struct lgv_bridge half[2]) {
    double root = sqrt(dt), mean = y / 4 - root / 8 * x[0], apart = sqrt(dt / 48) * x[1];
    half[0] = (struct lgv_bridge){dW / 2 + 1.5 * y + root / 4 * x[0], mean + apart};
    half[1] = (struct lgv_bridge){dW - half[0].dW, mean - apart};
}

/* ---- parts of a step ---- */

static void rescue_free(struct lgv_rescue *r) {
    if (!r) return;
    lgv_block_free(&r->part);
    free(r->before);
    free(r->at);
    free(r->tried);
    free(r->given);
    free(r->increment);
    free(r->fine);
    free(r->seen);
    free(r);
}

void lgv_rescue_end(struct worker *w) {
    rescue_free(w->rescue);
    w->rescue = NULL;
}

/* False: no memory, and the paths fail as they would have. */
static bool prepare(struct worker *w) {
    const struct lgv_plan *p = w->job->plan;
    const struct lgv_kernel *k = p->kernel;
    if (w->rescue) return true;
    struct lgv_rescue *r = lgv_new(1, sizeof *r);
    if (!r) return false;
    r->rows = lgv_increments_rows(k);
    r->before = lgv_aligned(k->nstate * w->lanes);
    r->at = lgv_new(k->nstate, sizeof *r->at);
    r->tried = lgv_new(3 * (LGV_RESCUE_DEPTH + 1) * k->nstate, sizeof *r->tried);
    r->given = lgv_aligned(2 * r->rows * w->lanes + 1);
    r->increment = lgv_new(4 * (LGV_RESCUE_DEPTH + 1) * k->nnoise + 1, sizeof *r->increment);
    r->fine = lgv_new(2 * k->nnoise + 1, sizeof *r->fine);
    r->seen = lgv_aligned(k->watch.count * w->lanes);
    bool ok = r->before && r->at && r->tried && r->given && r->increment && r->fine && r->seen &&
              lgv_block_create(k, p->t0, p->dt, p->seed, 1, &r->part);
    if (ok)
        w->rescue = r;
    else
        rescue_free(r);
    return ok;
}

struct lost { /* a path whose step has no solution */
    struct worker *w;
    const struct lgv_block *block;
    const double *given;
    size_t lane;
    uint64_t path, step;
    unsigned deepest;
    int stopped; /* LGV_STOPPED: it has come to where `stop` holds */
};

/* One step of the width dt from the part `from` of the step on; 1: made, 0: it has no solution, -1: it cannot be made.
 * Time of a block begins at its step 0, where events are looked at for the first time: this is its step 1. */
static int make_part(struct lost *x, double from, double dt, const double *dW, const double *y) {
    const struct lgv_plan *p = x->w->job->plan;
    const struct lgv_kernel *k = p->kernel;
    struct lgv_rescue *r = x->w->rescue;
    struct lgv_block *b = &r->part.block;
    const size_t lanes = x->w->lanes, n = k->nnoise;
    b->dt = dt;
    b->step = 1;
    b->t0 = x->block->t0 + ((double)x->step + from) * x->block->dt - dt;
    b->clip = x->block->clip;
    b->tally = x->block->tally;
    b->events = x->block->events;
    b->given = r->rows ? r->given : NULL;
    for (size_t l = 0; l < lanes; l++) {
        r->part.path[l] = x->path;
        b->fail[l] = 0;
        for (size_t i = 0; i < k->nstate; i++) b->state[i * lanes + l] = r->at[i];
        for (size_t m = 0; m < r->rows; m++)
            r->given[m * lanes + l] = m < n ? dW[m] : dt * (dW[m - n] / 2 + y[m - n]);
    }
    k->entry->advance(b, 1);
    int fail = b->fail[0];
    if (b->scratch->wanted) return -1;
    if (fail == LGV_FAIL_NEWTON || fail == LGV_FAIL_SINGULAR) return 0;
    if (fail && fail != LGV_STOPPED) return -1;
    for (size_t i = 0; i < k->nx + k->np; i++)
        if (!isfinite(b->state[i * lanes]) && !fail) return -1;
    x->stopped = fail;
    for (size_t i = 0; i < k->nstate; i++) r->at[i] = b->state[i * lanes];
    return 1;
}

/* Do one step and two halves, by way of `middle`, lead to about the same place?  Rows first .. first + count - 1. */
static bool near_each_other(size_t first, size_t count, const double *begin, const double *whole, const double *middle,
                            const double *end) {
    double apart = 0, way = 0, size = 0;
    for (size_t i = first; i < first + count; i++) {
        apart += fabs(whole[i] - end[i]);
        way += fabs(middle[i] - begin[i]) + fabs(end[i] - middle[i]);
        size += fabs(begin[i]);
    }
    return apart <= LGV_RESCUE_NEAR * way + 1e-12 * size;
}

struct part { /* of a step: fine steps of it, or a place in the tree of halves of one of them */
    double from, dt;
    uint64_t first, count; /* fine steps */
    unsigned place, depth;
    double *dW, *y;
};

/* The noise of a fine step: before any cut. */
static void fine_noise(const struct lost *x, uint64_t step, double dt, double *dW, double *y) {
    struct lgv_rescue *r = x->w->rescue;
    const struct lgv_kernel *k = x->w->job->plan->kernel;
    const size_t n = k->nnoise, lanes = x->w->lanes;
    struct lgv_block now = *x->block;
    now.step = step;
    now.dt = dt;
    now.coarsen = 1;
    double *drawn = r->given + r->rows * lanes;
    if (!x->given && n) k->entry->increments(&now, 1, drawn);
    const double *row = x->given ? x->given : drawn;
    for (size_t m = 0; m < n; m++) {
        double z[2];
        lgv_bridge_normals(x->w->job->plan->seed, x->path, step * n + m, 0, z);
        dW[m] = row[m * lanes + x->lane];
        y[m] = r->rows > n ? row[(n + m) * lanes + x->lane] / dt - dW[m] / 2 : sqrt(dt / 12) * z[0];
    }
}

/* The noise of the fine steps of a part.  They follow each other as dW = a + b, dZ = dZ_a + dt_b a + dZ_b. */
static void noise_of(const struct lost *x, const struct part *p) {
    const size_t n = x->w->job->plan->kernel->nnoise;
    double *dW = x->w->rescue->fine, *y = dW + n, fine = x->block->dt / (double)x->block->coarsen;
    for (size_t m = 0; m < n; m++) p->dW[m] = p->y[m] = 0; /* dZ in the place of y */
    for (uint64_t k = 0; k < p->count; k++) {
        fine_noise(x, p->first + k, fine, dW, y);
        for (size_t m = 0; m < n; m++) {
            p->y[m] += fine * (p->dW[m] + dW[m] / 2 + y[m]);
            p->dW[m] += dW[m];
        }
    }
    for (size_t m = 0; m < n; m++) p->y[m] = p->count > 1 ? p->y[m] / p->dt - p->dW[m] / 2 : y[m];
}

/* The noise of both halves of a fine step, or of half of it. */
static void bridge(const struct lost *x, const struct part *p, const struct part half[2]) {
    const size_t n = x->w->job->plan->kernel->nnoise;
    for (size_t m = 0; m < n; m++) {
        double z[2];
        struct lgv_bridge part[2];
        lgv_bridge_normals(x->w->job->plan->seed, x->path, p->first * n + m, p->place, z);
        lgv_bridge_halve(p->dt, p->dW[m], p->y[m], z, part);
        for (unsigned k = 0; k < 2; k++) half[k].dW[m] = part[k].dW, half[k].y[m] = part[k].y;
    }
}

/* The halves of a part, with memory for their noise. */
static void halve(struct lost *x, const struct part *p, struct part half[2]) {
    const size_t n = x->w->job->plan->kernel->nnoise;
    double *to = x->w->rescue->increment + 4 * (p->depth + 1) * n, from = p->from;
    uint64_t first = p->first, count = p->count;
    for (unsigned k = 0; k < 2; k++) {
        const uint64_t share = count < 2 ? count : k ? count - count / 2 : count / 2;
        const double dt = count < 2 ? p->dt / 2 : p->dt * (double)share / (double)count;
        half[k] = (struct part){.from = from,
                                .dt = dt,
                                .first = first,
                                .count = share,
                                .place = count < 2 ? 2 * p->place + k : 1,
                                .depth = p->depth + 1,
                                .dW = to + 2 * k * n,
                                .y = to + (2 * k + 1) * n};
        from += dt / x->block->dt;
        if (count > 1) {
            noise_of(x, &half[k]);
            first += share;
        }
    }
    if (count < 2) bridge(x, p, half);
}

/* A part by two halves, if these agree with the part as a whole; as make_part.  `tried`: room for three states. */
static int try_halves(struct lost *x, const struct part *p, const struct part half[2], double *tried) {
    const struct lgv_kernel *k = x->w->job->plan->kernel;
    double *at = x->w->rescue->at, *begin = tried, *whole = tried + k->nstate, *middle = whole + k->nstate;
    const size_t bytes = k->nstate * sizeof *at;
    int made = p->depth == 0 ? 0 : make_part(x, p->from, p->dt, p->dW, p->y);
    memcpy(whole, at, bytes);
    memcpy(at, begin, bytes);
    if (made == 1) made = x->stopped ? 0 : make_part(x, half[0].from, half[0].dt, half[0].dW, half[0].y);
    memcpy(middle, at, bytes);
    if (made == 1 && !x->stopped) made = make_part(x, half[1].from, half[1].dt, half[1].dW, half[1].y);
    if (made == 1 && !x->stopped)
        made = near_each_other(0, k->nx, begin, whole, middle, at) &&
               near_each_other(k->nx, k->np, begin, whole, middle, at);
    if (made == 1) return 1;
    x->stopped = 0;
    memcpy(at, begin, bytes);
    return made;
}

static bool in_parts(struct lost *x, const struct part *p) {
    const size_t states = x->w->job->plan->kernel->nstate;
    struct part half[2];
    double *tried = x->w->rescue->tried + 3 * p->depth * states;
    if (p->depth == LGV_RESCUE_DEPTH) return false;
    halve(x, p, half);
    if (half->depth > x->deepest) x->deepest = half->depth;
    memcpy(tried, x->w->rescue->at, states * sizeof *tried);
    int made = try_halves(x, p, half, tried);
    if (made) return made > 0;
    return in_parts(x, &half[0]) && (x->stopped || in_parts(x, &half[1]));
}

/* ---- from the runner ---- */

bool lgv_rescue_before(struct worker *w, const struct lgv_block *b) {
    if (!prepare(w)) return false;
    memcpy(w->rescue->before, b->state, w->job->plan->kernel->nstate * w->lanes * sizeof(double));
    memcpy(w->rescue->fail, b->fail, w->lanes * sizeof *b->fail);
    return true;
}

static bool rescue(struct worker *w, struct lgv_block *b, const double *given, size_t lane) {
    const struct lgv_kernel *k = w->job->plan->kernel;
    struct lgv_rescue *r = w->rescue;
    struct lost x = {
        .w = w, .block = b, .given = given, .lane = lane, .path = b->path[lane], .step = b->step - 1};
    struct part whole = {.dt = b->dt, .first = x.step * b->coarsen, .count = b->coarsen, .place = 1};
    whole.dW = r->increment;
    whole.y = whole.dW + k->nnoise;
    for (size_t i = 0; i < k->nstate; i++) r->at[i] = r->before[i * w->lanes + lane];
    noise_of(&x, &whole);
    if (!in_parts(&x, &whole)) return false;
    for (size_t i = 0; i < k->nstate; i++) b->state[i * w->lanes + lane] = r->at[i];
    b->fail[lane] = x.stopped;
    b->fail_step[lane] = x.stopped ? x.step : 0;
    uint64_t deepest = LGV_RESCUE_DEEPEST(b->astray[lane]), count = LGV_RESCUE_COUNT(b->astray[lane]);
    b->astray[lane] = LGV_RESCUE_OF(count + 1, deepest > x.deepest ? deepest : x.deepest);
    return true;
}

void lgv_rescue_after(struct worker *w, struct lgv_block *b, const double *given, double *value) {
    const struct lgv_kernel *k = w->job->plan->kernel;
    unsigned saved = 0;
    for (size_t l = 0; l < w->lanes; l++)
        if (b->fail[l] != w->rescue->fail[l] && (b->fail[l] == LGV_FAIL_NEWTON || b->fail[l] == LGV_FAIL_SINGULAR) &&
            rescue(w, b, given, l))
            saved |= 1u << l;
    if (!saved || b->value == value) return; /* nothing was observed behind this step */
    k->entry->observe(b, w->rescue->seen);
    for (size_t i = 0; i < k->watch.count * w->lanes; i++)
        if (saved >> i % w->lanes & 1) value[i] = w->rescue->seen[i];
}
