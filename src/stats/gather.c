/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reproducible statistics.  Within a group values are added in path order; groups are merged in group order by
 *
 *     mean = mean_a + d n_b / n,   M2 = M2_a + M2_b + d^2 n_a n_b / n,   d = mean_b - mean_a
 *
 * so the bits depend neither on threads nor on the lane width.  Failed paths count until they fail. */
#include "stats/gather.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EARLY_PATHS 4096
#define EARLY_BYTES (256u << 20)
#define FINAL_PATHS 1000000
#define MAX_FAILURES 10000

bool lgv_gather_begin(struct lgv_gather *g, const uint64_t *time_step, size_t ntimes, size_t nseries, uint64_t paths,
                      const uint64_t *kept, size_t nkept) {
    *g = (struct lgv_gather){.time_step = time_step, .ntimes = ntimes, .nseries = nseries, .nkept = nkept};
    uint64_t fit = EARLY_BYTES / (sizeof(double) * ntimes * nseries);
    g->nearly = paths < EARLY_PATHS ? paths : EARLY_PATHS;
    if (g->nearly > fit) g->nearly = fit;
    g->nfinal = paths < FINAL_PATHS ? paths : FINAL_PATHS;
    g->early = lgv_new(ntimes * nseries * g->nearly + 1, sizeof *g->early);
    g->final = lgv_new(nseries * g->nfinal + 1, sizeof *g->final);
    g->kept = lgv_new(nkept + 1, sizeof *g->kept);
    g->kept_value = lgv_new(nkept * nseries * ntimes + 1, sizeof *g->kept_value);
    if (!g->early || !g->final || !g->kept || !g->kept_value) return false;
    for (size_t i = 0; i < ntimes * nseries * g->nearly; i++) g->early[i] = NAN;
    for (size_t i = 0; i < nseries * g->nfinal; i++) g->final[i] = NAN;
    for (size_t i = 0; i < nkept * nseries * ntimes; i++) g->kept_value[i] = NAN;
    if (nkept) memcpy(g->kept, kept, nkept * sizeof *kept);
    return true;
}

void lgv_gather_end(struct lgv_gather *g) {
    for (unsigned k = 0; k < LGV_GROUPS; k++) {
        free(g->group[k].moments);
        free(g->group[k].alive);
        free(g->group[k].drift);
        free(g->group[k].drift_sum);
        free(g->group[k].failure);
    }
    free(g->early);
    free(g->final);
    free(g->kept);
    free(g->kept_value);
    *g = (struct lgv_gather){0};
}

static bool group_begin(const struct lgv_gather *g, struct lgv_group_sums *s) {
    if (s->moments) return true;
    s->moments = lgv_new(g->ntimes * g->nseries, sizeof *s->moments);
    s->alive = lgv_new(g->ntimes, sizeof *s->alive);
    s->drift = lgv_new(g->nseries, sizeof *s->drift);
    s->drift_sum = lgv_new(g->nseries, sizeof *s->drift_sum);
    return s->moments && s->alive && s->drift && s->drift_sum;
}

static void add_value(struct lgv_moments *m, double x, bool first) {
    if (first) *m = (struct lgv_moments){x, 0, 0, INFINITY, -INFINITY};
    double d = x - m->shift;
    m->s1 += d;
    m->s2 += d * d;
    if (x < m->min) m->min = x;
    if (x > m->max) m->max = x;
}

static size_t kept_place(const struct lgv_gather *g, uint64_t path) {
    for (size_t i = 0; i < g->nkept; i++)
        if (g->kept[i] == path) return i;
    return g->nkept;
}

/* How many output times a path has values for. */
static size_t lifetime(const struct lgv_block_result *b, unsigned lane, const uint64_t *time_step) {
    if (!b->fail[lane]) return b->ntimes;
    size_t n = 0;
    while (n < b->ntimes && time_step[n] <= b->fail_step[lane]) n++;
    return b->fail[lane] == LGV_FAIL_START ? 0 : n;
}

static bool record_failure(struct lgv_group_sums *s, const struct lgv_block_result *b, unsigned lane) {
    s->failed++;
    if (s->nfailures >= MAX_FAILURES) return true;
    if (!lgv_grow(&s->failure, &s->failure_capacity, s->nfailures + 1, sizeof *s->failure)) return false;
    s->failure[s->nfailures++] = (struct lgv_failure){b->path + lane, b->fail_step[lane], b->fail[lane]};
    return true;
}

/* One time and observable of all lanes, in path order. */
static void add_row(struct lgv_gather *g, const struct lgv_block_result *b, size_t t, size_t o, const size_t *alive,
                    const uint64_t *before, double *change) {
    struct lgv_moments *m = &g->group[b->group].moments[t * g->nseries + o];
    const double *x = b->value + (t * g->nseries + o) * b->lanes, *x0 = b->value + o * b->lanes;
    bool first = before[t] == 0;
    for (unsigned lane = 0; lane < b->used; lane++) {
        if (t >= alive[lane]) continue;
        add_value(m, x[lane], first);
        first = false;
        double d = fabs(x[lane] - x0[lane]);
        if (d > change[lane]) change[lane] = d;
    }
    if (b->path < g->nearly)
        for (unsigned lane = 0; lane < b->used && b->path + lane < g->nearly; lane++)
            if (t < alive[lane]) g->early[(t * g->nseries + o) * g->nearly + b->path + lane] = x[lane];
}

/* Values of single paths that are kept: sample paths and final values. */
static void keep_values(struct lgv_gather *g, const struct lgv_block_result *b, unsigned lane, size_t alive) {
    uint64_t path = b->path + lane;
    size_t kept = kept_place(g, path), n = g->nseries;
    for (size_t o = 0; kept < g->nkept && o < n; o++)
        for (size_t t = 0; t < alive; t++)
            g->kept_value[(kept * n + o) * g->ntimes + t] = b->value[(t * n + o) * b->lanes + lane];
    for (size_t o = 0; alive == g->ntimes && path < g->nfinal && o < n; o++)
        g->final[o * g->nfinal + path] = b->value[((g->ntimes - 1) * n + o) * b->lanes + lane];
}

bool lgv_gather_block(void *user, const struct lgv_block_result *b) {
    struct lgv_gather *g = user;
    struct lgv_group_sums *s = &g->group[b->group];
    size_t alive[LGV_UNIT], longest = 0;
    if (!group_begin(g, s)) return false;
    for (unsigned lane = 0; lane < b->used; lane++) {
        alive[lane] = lifetime(b, lane, g->time_step);
        if (alive[lane] > longest) longest = alive[lane];
        if (b->fail[lane] && !record_failure(s, b, lane)) return false;
        keep_values(g, b, lane, alive[lane]);
    }
    for (size_t o = 0; o < g->nseries; o++) {
        double change[LGV_UNIT] = {0};
        for (size_t t = 0; t < longest; t++) add_row(g, b, t, o, alive, s->alive, change);
        for (unsigned lane = 0; lane < b->used; lane++) {
            s->drift[o] = fmax(s->drift[o], change[lane]);
            s->drift_sum[o] += change[lane];
        }
    }
    for (unsigned lane = 0; lane < b->used; lane++)
        for (size_t t = 0; t < alive[lane]; t++) s->alive[t]++;
    s->paths += b->used;
    if (b->complete) s->complete += b->used;
    return true;
}

/* ---- results ---- */

struct merged {
    double n, mean, m2, min, max;
};

static struct merged merge(const struct lgv_gather *g, size_t t, size_t o) {
    struct merged r = {0, 0, 0, INFINITY, -INFINITY};
    for (unsigned k = 0; k < LGV_GROUPS; k++) {
        const struct lgv_group_sums *s = &g->group[k];
        if (!s->moments || !s->alive[t]) continue;
        const struct lgv_moments *m = &s->moments[t * g->nseries + o];
        double n = (double)s->alive[t], mean = m->s1 / n, m2 = m->s2 - m->s1 * mean;
        if (m2 < 0) m2 = 0; /* round-off; a NaN stays, it must not look like a standard error of 0 */
        double d = m->shift + mean - r.mean, total = r.n + n;
        r.m2 += m2 + (r.n > 0 ? d * d * r.n * n / total : 0);
        r.mean = r.n > 0 ? r.mean + d * n / total : m->shift + mean;
        r.n = total;
        r.min = fmin(r.min, m->min);
        r.max = fmax(r.max, m->max);
    }
    return r;
}

/* Moves the numbers among x[0..n) to the front, returns how many. */
static size_t keep_numbers(double *x, size_t n) {
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i])) x[k++] = x[i];
    return k;
}

/* Puts the value of rank k of x[low..high) where sorting would put it, smaller ones before it, larger ones after it
 * (Hoare's selection).  The middle one of three as pivot: values come in the order of paths, which is no order. */
static void select_rank(double *x, size_t low, size_t high, size_t k) {
    while (high - low > 1) {
        double a = x[low], b = x[low + (high - low) / 2], c = x[high - 1];
        double less = a < b ? a : b, more = a < b ? b : a, pivot = c < less ? less : c > more ? more : c;
        size_t i = low, j = high - 1;
        for (;;) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i >= j) break;
            double swap = x[i];
            x[i++] = x[j];
            x[j--] = swap;
        }
        /* x[low..j] <= pivot <= x[j+1..high); where i and j meet stands the pivot itself, in its place */
        if (k > j)
            low = j + 1;
        else if (i > j)
            high = j + 1;
        else if (k < j)
            high = j;
        else
            return;
    }
}

/* The levels must be asked for in rising order: what lies before *done is already in its place. */
static double quantile(double *x, size_t n, double level, size_t *done) {
    if (!n) return NAN;
    double at = level * (double)(n - 1);
    size_t i = (size_t)at;
    for (size_t k = i; k <= i + 1 && k < n; k++) {
        if (k < *done) continue;
        select_rank(x, *done, n, k);
        *done = k + 1;
    }
    return i + 1 < n ? x[i] + (at - (double)i) * (x[i + 1] - x[i]) : x[n - 1];
}

static bool allocate_series(struct lgv_series *s, size_t n) {
    double **array[] = {&s->mean, &s->std, &s->err, &s->min, &s->max};
    bool ok = true;
    for (size_t i = 0; i < 5; i++) ok &= (*array[i] = lgv_new(n, sizeof(double))) != NULL;
    for (size_t i = 0; i < LGV_QUANTILES; i++) ok &= (s->quantile[i] = lgv_new(n, sizeof(double))) != NULL;
    return ok;
}

static void finish_series(struct lgv_gather *g, size_t o, struct lgv_series *s) {
    for (size_t t = 0; t < g->ntimes; t++) {
        struct merged m = merge(g, t, o);
        s->mean[t] = m.n > 0 ? m.mean : NAN;
        s->std[t] = m.n > 1 ? sqrt(m.m2 / (m.n - 1)) : m.n > 0 ? 0 : NAN;
        s->err[t] = m.n > 1 ? s->std[t] / sqrt(m.n) : NAN;
        s->min[t] = m.min <= m.max ? m.min : NAN; /* over the values that are numbers */
        s->max[t] = m.min <= m.max ? m.max : NAN;
        double *x = g->early + (t * g->nseries + o) * g->nearly;
        size_t n = keep_numbers(x, g->nearly), done = 0;
        for (size_t k = 0; k < LGV_QUANTILES; k++) s->quantile[k][t] = quantile(x, n, lgv_quantile_levels[k], &done);
    }
    double paths = 0, sum = 0;
    for (unsigned k = 0; k < LGV_GROUPS; k++) { /* over the paths that started */
        if (!g->group[k].moments) continue;
        s->drift = fmax(s->drift, g->group[k].drift[o]);
        sum += g->group[k].drift_sum[o];
        paths += (double)g->group[k].alive[0];
    }
    s->drift_mean = paths > 0 ? sum / paths : NAN;
    if (!(paths > 0)) s->drift = NAN;
}

/* Values far outside of the range that most paths keep to are counted, but get no bins: they would take all of them. */
static void core_range(const struct lgv_series *s, size_t last, double *low, double *high) {
    double a, b;
    lgv_series_core(s, last, &a, &b);
    double width = b - a;
    if (!(width > 0) || !(*high / 100 - *low / 100 > width)) return;
    *low = fmax(*low, a - 0.5 * width);
    *high = fmin(*high, b + 0.5 * width);
}

static bool histogram(struct lgv_gather *g, size_t o, size_t bins, const struct lgv_series *s,
                      struct lgv_histogram *h) {
    double *x = g->final + o * g->nfinal;
    size_t n = keep_numbers(x, g->nfinal);
    double low = n ? x[0] : 0, high = n ? x[0] : 1;
    for (size_t i = 1; i < n; i++) {
        if (x[i] < low) low = x[i];
        if (x[i] > high) high = x[i];
    }
    core_range(s, g->ntimes - 1, &low, &high);
    if (!(high > low)) {
        double w = 1e-3 * (1 + fabs(low));
        low -= w;
        high += w;
    }
    *h = (struct lgv_histogram){.name = lgv_copy(s->name),
                                .bins = bins,
                                .edge = lgv_new(bins + 1, sizeof *h->edge),
                                .count = lgv_new(bins, sizeof *h->count)};
    if (!h->name || !h->edge || !h->count) return false;
    double half = high / 2 - low / 2; /* high - low may overflow */
    for (size_t i = 0; i <= bins; i++) h->edge[i] = low + 2 * (half * ((double)i / (double)bins));
    for (size_t i = 0; i < n; i++) {
        if (x[i] < low || x[i] > high) {
            *(x[i] < low ? &h->below : &h->above) += 1;
            continue;
        }
        size_t at = (size_t)((x[i] / 2 - low / 2) / half * (double)bins);
        h->count[at < bins ? at : bins - 1]++;
    }
    return true;
}

static int by_path(const void *a, const void *b) {
    uint64_t x = ((const struct lgv_failure *)a)->path, y = ((const struct lgv_failure *)b)->path;
    return (x > y) - (x < y);
}

static bool finish_failures(const struct lgv_gather *g, struct lgv_result *r) {
    size_t n = 0;
    for (unsigned k = 0; k < LGV_GROUPS; k++) {
        n += g->group[k].nfailures;
        r->failed += g->group[k].failed;
        r->paths_done += g->group[k].complete;
    }
    r->failure = lgv_new(n + 1, sizeof *r->failure);
    if (!r->failure) return false;
    for (unsigned k = 0; k < LGV_GROUPS; k++) {
        if (g->group[k].nfailures)
            memcpy(r->failure + r->nfailures, g->group[k].failure, g->group[k].nfailures * sizeof *r->failure);
        r->nfailures += g->group[k].nfailures;
    }
    qsort(r->failure, n, sizeof *r->failure, by_path);
    if (r->nfailures > MAX_FAILURES) r->nfailures = MAX_FAILURES;
    return true;
}

static bool finish_samples(const struct lgv_gather *g, struct lgv_result *r) {
    r->sample = lgv_new(g->nkept + 1, sizeof *r->sample);
    if (!r->sample) return false;
    for (size_t i = 0; i < g->nkept; i++) {
        size_t n = g->nseries * g->ntimes;
        r->sample[i] = (struct lgv_sample){g->kept[i], lgv_new(n, sizeof(double))};
        if (!r->sample[i].value) return false;
        memcpy(r->sample[i].value, g->kept_value + i * n, n * sizeof(double));
        r->nsamples++;
    }
    return true;
}

bool lgv_gather_finish(struct lgv_gather *g, size_t bins, struct lgv_result *r) {
    bool ok = true;
    r->alive = lgv_new(g->ntimes, sizeof *r->alive);
    r->histogram = lgv_new(g->nseries, sizeof *r->histogram);
    if (!r->alive || !r->histogram) return false;
    for (size_t t = 0; t < g->ntimes; t++)
        for (unsigned k = 0; k < LGV_GROUPS; k++)
            if (g->group[k].alive) r->alive[t] += g->group[k].alive[t];
    r->sample_paths = g->nearly;
    for (size_t o = 0; ok && o < g->nseries; o++) ok = allocate_series(&r->series[o], g->ntimes);
    if (!ok) return false;
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)(r->threads ? r->threads : 1))
    for (size_t o = 0; o < g->nseries; o++) finish_series(g, o, &r->series[o]);
    for (size_t o = 0; ok && bins && o < g->nseries; o++) {
        ok = histogram(g, o, bins, &r->series[o], &r->histogram[o]);
        r->nhistograms++;
    }
    return ok && finish_failures(g, r) && finish_samples(g, r);
}
