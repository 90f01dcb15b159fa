/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Work and precision: strong error sqrt(E |x - x_ref|^2) and weak error |E f - E f_ref| over a ladder of steps, on
 * the same paths also where E f is known: the sampling error of E f - known would hide the differences between
 * steps.  With the measured time and the gradient evaluations of a path.  Times are taken in a run of its own,
 * without the noise of the finest level that the errors need. */
#include "study/compare_parts.h"
#include <math.h>
#include <time.h>

#define TIMED_PATH_STEPS 2e6 /* of one measurement: some ten milliseconds */

/* Processor time of this thread: other work on the machine does not count. */
static double thread_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_per_path(const struct lgv_comparing *x, const struct lgv_kernel *k, double step, uint64_t steps) {
    double paths = floor(TIMED_PATH_STEPS / (double)steps / LGV_UNIT) * LGV_UNIT, best = INFINITY;
    size_t ntimes;
    for (int turn = 0; turn < 3; turn++) {
        struct lgv_leg leg = {.kernel = k,
                              .t0 = x->s->start,
                              .step = step,
                              .coarsen = 1,
                              .steps = steps,
                              .paths = (uint64_t)fmin(4096, fmax(LGV_UNIT, paths)),
                              .seed = x->s->seed,
                              .truncate = x->s->truncate,
                              .points = x->s->weak,
                              .threads = 1,
                              .ncolumns = 1,
                              .column = x->column};
        leg.time_step = lgv_leg_times(steps, 1, 1, &ntimes);
        leg.ntimes = ntimes;
        double begin = thread_seconds();
        const struct lgv_peers *others = lgv_peers;
        lgv_peers = NULL; /* every process measures its own */
        if (leg.time_step && lgv_leg_run(&leg, NULL, NULL, NULL) == LGV_OK)
            best = fmin(best, (thread_seconds() - begin) / (double)leg.paths);
        lgv_peers = others;
        lgv_leg_free(&leg);
    }
    return best;
}

static void measure(const struct lgv_comparing *x, const struct lgv_leg *leg, const struct lgv_leg *reference,
                    struct lgv_rung *r) {
    struct lgv_pair_sums square = {0}, weak = {0};
    const double *known = x->out->weak == LGV_BIAS_EXPECTED ? x->out->expected[0] : NULL;
    double mean = known ? known[x->out->ntimes - 1] : 0;
    bool strong = reference || x->out->exact;
    for (uint64_t p = 0; p < leg->paths; p++) {
        const double *a = leg->final + p * leg->ncolumns, *b = reference ? reference->final + p * leg->ncolumns : NULL;
        double sum = 0;
        for (size_t k = x->nobservables; k < x->ncolumns; k++) sum += b ? (a[k] - b[k]) * (a[k] - b[k]) : a[k] * a[k];
        if (!isfinite(sum)) continue;
        lgv_pair_add(&square, sum, 0);
        double m = leg->control ? leg->control[p * leg->ncolumns] : 0;
        if (b && leg->control) m -= reference->control[p * leg->ncolumns];
        double d = b ? a[0] - b[0] : known ? a[0] - mean : (double)NAN;
        if (isfinite(d) && isfinite(m)) lgv_pair_add(&weak, d, m);
    }
    struct lgv_pair_estimate s = lgv_pair_estimate(&square), w = lgv_pair_estimate(&weak);
    r->strong = strong ? sqrt(s.plain) : (double)NAN;
    r->strong_err = strong ? s.plain_err / (2 * r->strong) : (double)NAN;
    r->weak = fabs(w.mean);
    r->weak_err = w.err;
    r->failed = leg->failed;
    x->out->failed += leg->failed;
    r->evaluations = leg->report.evaluations * (double)leg->steps;
}

enum lgv_status lgv_compare_ladder(struct lgv_comparing *x, const struct lgv_compare_grid *g) {
    struct lgv_leg reference = {0};
    size_t rungs = x->rungs, last = g->count - 1;
    bool against = x->out->ladder_reference;
    enum lgv_status status = LGV_OK;
    if (against) status = lgv_compare_leg(x, g, last, &x->kernel[x->o->count], x->out->ladder_paths, 1, &reference);
    x->out->reference_failed += reference.failed;
    for (size_t i = 0; !status && i < x->o->count; i++) {
        struct lgv_compared *c = &x->out->method[i];
        c->rung = lgv_new(rungs, sizeof *c->rung);
        if (!c->rung) status = lgv_fail_memory(x->err);
        for (size_t j = 0; !status && j < rungs; j++) {
            struct lgv_leg leg = {0};
            struct lgv_rung *r = &c->rung[j];
            status = lgv_compare_leg(x, g, i * rungs + j, &x->kernel[i], x->out->ladder_paths, 1, &leg);
            if (!status) {
                r->step = leg.step;
                measure(x, &leg, against ? &reference : NULL, r);
                r->seconds = seconds_per_path(x, &x->plain[i], leg.step, leg.steps);
                c->nrungs++;
            }
            lgv_leg_free(&leg);
        }
    }
    lgv_leg_free(&reference);
    return status;
}
