/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How large things are in a convergence study, from a few paths at the smallest step and a few times along them:
 *
 *     spread = sqrt(sum_i var x_i) over paths and times,       size of f = sqrt(mean f^2).
 *
 * Two states that have nothing to do with each other are sqrt(2) spreads apart: a path that is half a spread away from
 * the solution has lost it.  Sizes tell what round-off is.  A method that runs away makes both of them large, so the
 * method with the smallest spread counts. */
#include "study/converge.h"

#include <math.h>
#include <stdlib.h>

#define PATHS 64
#define TIMES 16
#define LOST 0.5 /* spreads */

#define CHUNK 4096 /* most steps between two looks at the stop flag */

struct scales {
    double n, *shift, *sum, *square; /* [nx + np] and then the quantities; of x - shift, shift the first x */
    double *watched;                 /* [count][lanes] */
};

static double row(const struct lgv_converge_job *j, const struct lgv_own_block *b, const struct scales *s,
                  unsigned lanes, unsigned lane, size_t i) {
    size_t rows = j->kernel->nx + j->kernel->np;
    if (i < rows) return b->block.state[i * lanes + lane];
    return j->quantity[i - rows].of_state ? 0 : s->watched[j->quantity[i - rows].first * lanes + lane];
}

static void sample(const struct lgv_converge_job *j, const struct lgv_kernel *k, struct lgv_own_block *b,
                   unsigned used, struct scales *s) {
    unsigned lanes = k->entry->lanes;
    size_t count = k->nx + k->np + j->nquantities;
    k->entry->observe(&b->block, s->watched);
    for (unsigned l = 0; l < used; l++) {
        bool good = !b->block.fail[l];
        for (size_t i = 0; good && i < count; i++) good = isfinite(row(j, b, s, lanes, l, i));
        for (size_t i = 0; good && i < count; i++) {
            double x = row(j, b, s, lanes, l, i);
            if (!(s->n > 0)) s->shift[i] = x;
            s->sum[i] += x - s->shift[i];
            s->square[i] += (x - s->shift[i]) * (x - s->shift[i]);
        }
        s->n += good;
    }
}

static void walk(const struct lgv_converge_job *j, const struct lgv_kernel *k, uint64_t paths,
                 struct lgv_own_block *b, struct scales *s) {
    unsigned lanes = k->entry->lanes;
    struct lgv_pace pace = {0};
    b->block.clip = lgv_clip_bound(k, j->smallest, j->truncate);
    for (uint64_t path = 0; path < paths; path += lanes) {
        unsigned used = paths - path < lanes ? (unsigned)(paths - path) : lanes;
        lgv_block_start(k, b, path, used);
        sample(j, k, b, used, s);
        for (uint64_t t = 1; t <= TIMES; t++) {
            uint64_t to = (uint64_t)((long double)j->smallest_steps * (long double)t / TIMES);
            while (b->block.step < to) {
                if (j->progress && j->progress(j->user, fmax(1e-6, j->fraction_base))) return; /* the study stops */
                k->entry->advance(&b->block, lgv_pace_begin(&pace, to - b->block.step, CHUNK));
                lgv_pace_end(&pace);
            }
            sample(j, k, b, used, s);
        }
    }
}

static double variance(const struct scales *s, size_t i) {
    return fmax(0, s->square[i] - s->sum[i] * s->sum[i] / s->n) / s->n;
}

static double mean_square(const struct scales *s, size_t i) {
    double mean = s->shift[i] + s->sum[i] / s->n;
    return variance(s, i) + mean * mean;
}

/* Takes spread and sizes over when this spread is the smallest yet. */
static void settle(struct lgv_converge_job *j, const struct scales *s) {
    size_t rows = j->kernel->nx + j->kernel->np;
    double var = 0;
    if (!(s->n > 0)) return;
    for (size_t i = 0; i < rows; i++) var += variance(s, i);
    if (!isfinite(var) || (isfinite(j->spread) && sqrt(var) >= j->spread)) return;
    j->spread = sqrt(var);
    j->lost = var > 0 ? LOST * j->spread : (double)INFINITY;
    for (size_t k = 0; k < j->nquantities; k++) {
        struct lgv_converge_quantity *q = &j->quantity[k];
        double square = q->of_state ? 0 : mean_square(s, rows + k);
        for (size_t i = 0; q->of_state && i < q->count; i++) square += mean_square(s, q->first + i);
        q->size = sqrt(square);
    }
}

bool lgv_converge_scales(struct lgv_converge_job *j, uint64_t paths) {
    size_t count = j->kernel->nx + j->kernel->np + j->nquantities;
    bool good = true;
    j->spread = NAN;
    j->lost = INFINITY;
    for (size_t q = 0; q < j->nquantities; q++) j->quantity[q].size = 0;
    for (size_t i = 0; good && i < j->nmethods + !j->exact; i++) {
        const struct lgv_kernel *k = &j->kernel[i];
        struct scales s = {.shift = lgv_new(count, sizeof *s.shift),
                           .sum = lgv_new(count, sizeof *s.sum),
                           .square = lgv_new(count, sizeof *s.square)};
        struct lgv_own_block b = {0};
        if (posix_memalign((void **)&s.watched, 128, (k->watch.count + 1) * LGV_UNIT * sizeof *s.watched))
            s.watched = NULL;
        good = s.shift && s.sum && s.square && s.watched && lgv_block_create(k, j->t0, j->smallest, j->seed, 1, &b);
        if (good) {
            walk(j, k, paths < PATHS ? paths : PATHS, &b, &s);
            settle(j, &s);
        }
        lgv_block_free(&b);
        free(s.shift);
        free(s.sum);
        free(s.square);
        free(s.watched);
    }
    return good;
}
