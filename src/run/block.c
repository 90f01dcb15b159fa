/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A block of paths with its memory. */
#include "run/run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_CLIP 6.0

static size_t rounded(size_t bytes) {
    return (bytes + 127) / 128 * 128;
}

double lgv_clip_bound(const struct lgv_kernel *k, double dt, double truncate) {
    bool explicit_step = lgv_method_explicit(k->method, &k->structure);
    /* That bound is for small dt, and dt has a unit: the automatic one never cuts below LEAST_CLIP, a normal in 5e8. */
    double least = truncate < 0 ? LEAST_CLIP : 0;
    if (truncate < 0) truncate = explicit_step ? 0 : 4;
    if (!(truncate > 0)) return 0;
    return fmax(dt < 1 ? sqrt(2 * truncate * -log(dt)) : 0, least);
}

#define WHOLE 1e-9 /* relative: a number of steps this close to a whole one is that, but for round-off */

uint64_t lgv_whole_steps(double span, double wanted, double *step) {
    double n = span / wanted, whole = floor(n + 0.5);
    bool divides = whole >= 1 && fabs(n - whole) <= WHOLE * n;
    if (!divides) whole = fmax(1, ceil(n));
    *step = divides ? wanted : span / whole;
    return (uint64_t)whole;
}

enum lgv_status lgv_clip_check(const struct lgv_kernel *k, double dt, double truncate, struct lgv_error *err) {
    if (!(truncate > 0) || dt < 1 || k->nnoise == 0) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT,
                    "truncate = %g cuts increments at sqrt(2 k dt |ln dt|), which is for steps below 1, and the step "
                    "is %g: choose a smaller step, a larger unit of time, truncate = 0 for no bound or -1 for the "
                    "usual one",
                    truncate, dt);
}

/* Steps of a study share the spans of all its methods, and are sums of `coarsen` finer ones. */
enum lgv_status lgv_normals_check(const struct lgv_kernel *k, uint64_t steps, uint64_t coarsen, struct lgv_error *err) {
    size_t noises = k->nnoise + (k->bath ? k->bath->channels : 0);
    uint64_t most = (uint64_t)1 << 49; /* pairs of normals are numbered by 48 bits */
    if (noises == 0 || steps <= most / noises / k->common_spans / coarsen) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT,
                    "%.3g steps with %zu noises, each made of %.3g draws, need more than the 2^49 = 5.6e14 normals a "
                    "path has",
                    (double)steps, noises, (double)coarsen * k->common_spans);
}

/* Scratch that grows by itself.  The first of it stays: a kernel can count on that much. */
struct lgv_growing {
    struct lgv_scratch scratch; /* first: `grow` gets a pointer to it */
    double *first;
    size_t first_room;
    void *more, *kept;
};

static void *keep(struct lgv_scratch *s, unsigned long long bytes) {
    struct lgv_growing *g = (struct lgv_growing *)s;
    size_t size = rounded((size_t)bytes);
    free(g->kept);
    g->kept = NULL;
    if (size < bytes || posix_memalign(&g->kept, 128, size)) g->kept = NULL;
    return g->kept;
}

static int grow(struct lgv_scratch *s, unsigned long long bytes) {
    struct lgv_growing *g = (struct lgv_growing *)s;
    size_t size = rounded((size_t)bytes);
    free(g->more); /* before there is new: nothing in it is needed any more */
    g->more = NULL;
    s->memory = g->first;
    s->room = g->first_room;
    if (size < bytes || posix_memalign(&g->more, 128, size)) {
        g->more = NULL;
        return 0;
    }
    s->memory = g->more;
    s->room = size;
    return 1;
}

bool lgv_block_create(const struct lgv_kernel *k, double t0, double dt, uint64_t seed, uint64_t coarsen,
                      struct lgv_own_block *out) {
    size_t lanes = k->entry->lanes;
    size_t state = rounded(k->nstate * lanes * sizeof(double));
    size_t work = rounded((size_t)k->entry->work(&k->user)), growing = rounded(sizeof(struct lgv_growing));
    size_t small = rounded(lanes * sizeof(unsigned long long));
    size_t bath = rounded(lgv_kernel_bath_size(k) * sizeof(double));
    size_t process = rounded(lgv_process_size(k) * sizeof(double));
    char *memory = NULL;
    *out = (struct lgv_own_block){0};
    if (posix_memalign((void **)&memory, 128, 2 * state + 6 * small + growing + work + bath + process)) return false;
    memset(memory, 0, 2 * state + 6 * small);
    out->memory = memory;
    double *first = (double *)(void *)(memory + 2 * state + 6 * small + growing);
    out->scratch = (struct lgv_growing *)(void *)(memory + 2 * state + 6 * small);
    *out->scratch = (struct lgv_growing){.scratch = {.memory = first, .room = work, .grow = grow, .keep = keep},
                                         .first = first,
                                         .first_room = work};
    out->scratch->scratch.state = (double *)(void *)(memory + state + 6 * small);
    out->path = (unsigned long long *)(void *)(memory + state);
    out->number = (unsigned long long *)(void *)(memory + state + 5 * small);
    out->block = (struct lgv_block){.state = (double *)(void *)memory,
                                    .path = out->path,
                                    .number = out->number,
                                    .seed = seed,
                                    .t0 = t0,
                                    .par = k->par,
                                    .fail = (int *)(void *)(memory + state + small),
                                    .fail_step = (unsigned long long *)(void *)(memory + state + 2 * small),
                                    .clipped = (unsigned long long *)(void *)(memory + state + 3 * small),
                                    .astray = (unsigned long long *)(void *)(memory + state + 4 * small),
                                    .scratch = &out->scratch->scratch,
                                    .spin = k->spin,
                                    .modes = k->modes,
                                    .user = &k->user};
    if (bath) out->bath = (double *)(void *)(memory + 2 * state + 6 * small + growing + work);
    if (process) out->process = (double *)(void *)(memory + 2 * state + 6 * small + growing + work + bath);
    lgv_block_step(k, out, dt, coarsen ? coarsen : 1);
    return true;
}

void lgv_block_step(const struct lgv_kernel *k, struct lgv_own_block *b, double dt, uint64_t coarsen) {
    b->block.dt = dt;
    b->block.coarsen = coarsen * k->common_spans / k->spans;
    b->block.bath = b->bath;
    b->block.process = b->process;
    if (b->process) lgv_process_fill(k, dt, coarsen, b->process);
    if (b->bath) lgv_kernel_bath_fill(k, dt, b->block.coarsen, b->bath);
}

void lgv_block_without_bath(const struct lgv_kernel *k, struct lgv_own_block *b) {
    if (b->bath) lgv_kernel_bath_off(k, b->block.dt, b->bath);
}

void lgv_block_free(struct lgv_own_block *b) {
    if (b->scratch) free(b->scratch->more), free(b->scratch->kept);
    free(b->memory);
    *b = (struct lgv_own_block){0};
}

uint64_t lgv_points_stream(const struct lgv_points *p, uint64_t path) {
    return p->each && p->common ? path % p->each : path;
}

void lgv_block_start_points(const struct lgv_kernel *k, struct lgv_own_block *b, const struct lgv_points *points,
                            uint64_t path, unsigned used) {
    for (unsigned l = 0; l < k->entry->lanes; l++) {
        b->number[l] = path + (l < used ? l : used - 1);
        b->path[l] = lgv_points_stream(points, b->number[l]);
        b->block.fail[l] = 0;
        b->block.fail_step[l] = 0;
        b->block.clipped[l] = 0;
        b->block.astray[l] = 0;
    }
    b->block.step = 0;
    b->block.ntimes = 0;
    k->entry->start(&b->block);
}

void lgv_block_start(const struct lgv_kernel *k, struct lgv_own_block *b, uint64_t path, unsigned used) {
    const struct lgv_points none = {0};
    lgv_block_start_points(k, b, &none, path, used);
}
