/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Brownian increments as numbers: laid out for blocks, and read off the noise of a kernel.  Only the kernel itself
 * knows their last bit, because it depends on what its compiler fuses; so the kernel is asked. */
#include "run/run.h"
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#define DRAWN_STEPS 256 /* steps that the kernel is asked for at once, at most */
#define DRAWN_VALUES (1u << 16)

void lgv_increments_free(struct lgv_increments *x) {
    if (!x) return;
    free(x->file);
    free(x->number);
    free(x->dW);
    free(x->dZ);
    *x = (struct lgv_increments){0};
}

#define LARGE_PAGE ((size_t)2 << 20)

/* Memory of many pages asks for large ones: faults would take longer than writing it. */
double *lgv_aligned(size_t doubles) {
    void *p = NULL;
    size_t bytes = (doubles + 16) * sizeof(double);
    if (posix_memalign(&p, bytes > 2 * LARGE_PAGE ? LARGE_PAGE : 128, bytes)) return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes > 2 * LARGE_PAGE) madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return p;
}

size_t lgv_increments_rows(const struct lgv_kernel *k) {
    struct lgv_block b = {.par = k->par, .user = &k->user};
    return (size_t)k->entry->increments(&b, 0, NULL);
}

void lgv_increments_lay(const struct lgv_increments *x, size_t rows, size_t lanes, uint64_t path, uint64_t first,
                        uint64_t count, double *out) {
    size_t n = (size_t)x->noises;
    for (size_t l = 0; l < lanes; l++) {
        uint64_t mine = path + l < x->paths ? path + l : x->paths - 1;
        for (uint64_t k = 0; k < count; k++) {
            size_t at = (size_t)(mine * x->steps + first + k) * n;
            for (size_t r = 0; r < rows; r++)
                out[(k * rows + r) * lanes + l] = r < n ? x->dW[at + r] : x->dZ[at + r - n];
        }
    }
}

enum lgv_status lgv_increments_fit(const struct lgv_increments *x, const struct lgv_model *m, struct lgv_settings *s,
                                   struct lgv_error *err) {
    unsigned long long paths = x->paths, steps = x->steps;
    if (m->bath.kind)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "%s: increments cannot be given to a model with `langevin`, whose bath has noise of its own",
                        x->file);
    if (x->noises != m->nnoise)
        return lgv_fail(err, LGV_BAD_INPUT, "%s: increments of %llu noise%s, but the model has %zu", x->file,
                        (unsigned long long)x->noises, x->noises == 1 ? "" : "s", m->nnoise);
    if (!lgv_settings_given(s, "paths")) s->paths = x->paths;
    if (!lgv_settings_given(s, "step") && isfinite(x->step)) s->step = x->step;
    if (!lgv_settings_given(s, "until")) s->until = s->start + (double)x->steps * s->step;
    if (s->paths != x->paths)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "%s: increments of %llu path%s (of %llu steps), but the run has paths = %llu; set paths "
                        "to %llu",
                        x->file, paths, paths == 1 ? "" : "s", steps, (unsigned long long)s->paths, paths);
    return LGV_OK;
}

enum lgv_status lgv_increments_check(const struct lgv_plan *plan, struct lgv_error *err) {
    const struct lgv_increments *x = plan->increments;
    if (!x) return LGV_OK;
    if (plan->kernel->method->brackets == LGV_BRACKETS_AREAS)
        return lgv_fail(err, LGV_BAD_INPUT, "%s: increments have no Levy areas, which %s needs beside dW and dZ",
                        x->file, plan->kernel->method->name);
    if (x->steps != plan->steps)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "%s: increments of %llu steps, but the run takes %llu: from %g to %g with step %.8g; set "
                        "until to %.12g",
                        x->file, (unsigned long long)x->steps, (unsigned long long)plan->steps, plan->t0,
                        plan->t0 + (double)plan->steps * plan->dt, plan->dt, plan->t0 + (double)x->steps * plan->dt);
    if (fabs(x->step - plan->dt) > 1e-12 * plan->dt)
        return lgv_fail(err, LGV_BAD_INPUT, "%s: increments over steps of %.17g, but the step of the run is %.17g",
                        x->file, x->step, plan->dt);
    if (x->dZ || lgv_increments_rows(plan->kernel) == plan->kernel->nnoise) return LGV_OK;
    char line[32] = "";
    if (x->line) snprintf(line, sizeof line, ":%zu", x->line);
    return lgv_fail(err, LGV_BAD_INPUT,
                    "%s%s: %s uses dZ, the integral of W - W_n over the step, beside dW, and there is none: %zu "
                    "numbers a step are wanted, dW and then dZ of every noise",
                    x->file, line, plan->kernel->method->name, 2 * plan->kernel->nnoise);
}

static void copy_given(const struct lgv_plan *p, uint64_t path, double *dW, double *dZ) {
    const struct lgv_increments *x = p->increments;
    size_t each = (size_t)(p->steps * x->noises);
    for (size_t i = 0; i < each; i++) {
        dW[i] = x->dW[path * each + i];
        if (dZ) dZ[i] = x->dZ[path * each + i];
    }
}

/* The paths in the lanes of a block, `used` of them. */
static void draw(const struct lgv_plan *p, struct lgv_own_block *b, const uint64_t *path, size_t used, double *drawn,
                 double *dW, double *dZ) {
    size_t n = p->kernel->nnoise, rows = lgv_increments_rows(p->kernel), lanes = p->kernel->entry->lanes;
    uint64_t most = DRAWN_VALUES / (rows * lanes);
    most = most < 1 ? 1 : most > DRAWN_STEPS ? DRAWN_STEPS : most;
    for (size_t l = 0; l < lanes; l++) b->path[l] = lgv_points_stream(&p->points, path[l < used ? l : used - 1]);
    for (uint64_t step = 0, count; step < p->steps; step += count) {
        count = p->steps - step < most ? p->steps - step : most;
        b->block.step = step;
        p->kernel->entry->increments(&b->block, count, drawn);
        for (size_t l = 0; l < used; l++)
            for (uint64_t k = 0; k < count; k++)
                for (size_t r = 0; r < rows; r++)
                    (r < n ? dW : dZ)[(l * p->steps + step + k) * n + r % n] = drawn[(k * rows + r) * lanes + l];
    }
}

enum lgv_status lgv_increments_of(const struct lgv_plan *plan, const uint64_t *path, size_t paths, double **dW,
                                  double **dZ, struct lgv_error *err) {
    const struct lgv_kernel *k = plan->kernel;
    size_t n = k->nnoise, each = (size_t)plan->steps * n, rows = lgv_increments_rows(k), lanes = k->entry->lanes;
    struct lgv_own_block b = {0};
    double *drawn = lgv_aligned((rows * lanes > DRAWN_VALUES ? rows * lanes : DRAWN_VALUES));
    bool ok = drawn && lgv_block_create(k, plan->t0, plan->dt, plan->seed, plan->coarsen, &b);
    *dW = lgv_new(paths * each, sizeof **dW);
    *dZ = rows > n ? lgv_new(paths * each, sizeof **dZ) : NULL;
    ok = ok && *dW && (rows == n || *dZ);
    for (size_t i = 0; ok && n && i < paths; i += plan->increments ? 1 : lanes) {
        double *w = *dW + i * each, *z = *dZ ? *dZ + i * each : NULL;
        if (plan->increments)
            copy_given(plan, path[i], w, z);
        else
            draw(plan, &b, path + i, paths - i < lanes ? paths - i : lanes, drawn, w, z);
    }
    lgv_block_free(&b);
    free(drawn);
    return ok ? LGV_OK : lgv_fail_memory(err);
}
