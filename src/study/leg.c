/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An ensemble of a study.  Values of single paths are stored by path number and added later in that order; sums along
 * time are exact: the same bits for any number of threads.
 *
 * Control variate: with n pairs (f, M) and E[M] = 0 the estimate is mean(f) - b mean(M), b = cov(f, M) / var(M); its
 * variance is that of f times 1 - corr(f, M)^2.  The b of the same sample makes a bias of order 1/n only. */
#include "study/leg.h"
#include "base/exact.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- references ---- */

const char *const *lgv_references_mixed(const struct lgv_model *m, const struct lgv_structure *s) {
    static const char *const commuting[] = {"P2N2Q4Gau-3flows", "P2N2Q4Gau-Magnus", "P3N3Q6Gau-3flows",
                                            "P2N2Q4Gau",        "P1N1Q2Gau",        NULL};
    static const char *const areas[] = {"P2N2Q4Gau-Levy", "P1N1Q2Gau-Levy", "BEB-Levy", "BCB-Levy",
                                        "P2N2Q4Gau",      "P1N1Q2Gau",      NULL};
    const char *const *list = m->nnoise > 1 && s->commutes != 1 ? areas : commuting;
    char ignore[400];
    if (!m->nnoise || !(s->noise_depends & LGV_ON_P) || s->additive || m->np > LGV_REFERENCE_DOF) return NULL;
    for (size_t i = 0; list[i]; i++)
        if (!lgv_method_refusal(lgv_method_find(list[i]), m, s, ignore, sizeof ignore)) return list;
    return NULL;
}

/* ---- sums ---- */

void lgv_pair_add(struct lgv_pair_sums *s, double f, double m) {
    if (s->n <= 0) s->shift = f;
    double d = f - s->shift;
    s->n += 1;
    s->f += d;
    s->m += m;
    s->ff += d * d;
    s->fm += d * m;
    s->mm += m * m;
}

struct lgv_pair_estimate lgv_pair_estimate(const struct lgv_pair_sums *s) {
    double n = s->n;
    struct lgv_pair_estimate e = {NAN, NAN, NAN, NAN, 0, 1};
    if (n < 1) return e;
    e.mean = e.plain = s->shift + s->f / n;
    if (n < 4) return e;
    double ff = s->ff - s->f * s->f / n, mm = s->mm - s->m * s->m / n, fm = s->fm - s->f * s->m / n;
    if (ff < 0) ff = 0; /* round-off; what overflowed stays NaN */
    e.err = e.plain_err = sqrt(ff / (n - 1) / n);
    if (!(mm > 1e-24 * fmax(s->mm, 1e-280)) || !(ff > 0)) return e;
    double rest = fmax(0, ff - fm * fm / mm);
    e.factor = fm / mm;
    e.left = rest / ff;
    e.mean = e.plain - e.factor * s->m / n;
    e.err = sqrt(rest / (n - 2) / n);
    return e;
}

/* ---- values of single paths, stored by path number ---- */

struct values {
    const struct lgv_leg *leg;
    double *final, *start, *control, *drift, *energy; /* as in the leg */
    unsigned char *have;                              /* [units] this one is there */
    uint64_t failed;
};

static size_t units_of(const struct lgv_leg *leg) {
    return (size_t)((leg->paths + LGV_UNIT - 1) / LGV_UNIT);
}

static void values_free(void *object) {
    struct values *v = object;
    if (!v) return;
    free(v->final);
    free(v->start);
    free(v->control);
    free(v->drift);
    free(v->energy);
    free(v->have);
    free(v);
}

static void *values_create(const void *shape) {
    const struct lgv_leg *leg = shape;
    size_t paths = (size_t)leg->paths, all = paths * leg->ncolumns;
    struct values *v = lgv_new(1, sizeof *v);
    if (!v) return NULL;
    v->leg = leg;
    v->final = lgv_new(all, sizeof *v->final);
    v->start = lgv_new(all, sizeof *v->start);
    v->control = leg->kernel->watch.controls ? lgv_new(all, sizeof *v->control) : NULL;
    v->drift = lgv_new(paths, sizeof *v->drift);
    v->energy = lgv_new(paths, sizeof *v->energy);
    v->have = lgv_new(units_of(leg), sizeof *v->have);
    bool ok = v->final && v->start && v->drift && v->energy && v->have && (v->control || !leg->kernel->watch.controls);
    if (ok) return v;
    values_free(v);
    return NULL;
}

static bool values_add(void *object, const struct lgv_piece *piece) {
    struct values *v = object;
    const struct lgv_leg *leg = v->leg;
    size_t watched = leg->kernel->watch.count, controls = leg->kernel->watch.controls, last = leg->ntimes - 1;
    for (size_t i = 0; i < piece->count * piece->used; i++) {
        size_t t = i / piece->used, lane = i % piece->used, time = piece->first + t;
        uint64_t path = piece->path + lane;
        bool alive = piece->alive[t] >> lane & 1;
        const double *row = piece->value + t * watched * LGV_UNIT + lane;
        for (size_t k = 0; k < leg->ncolumns; k++) {
            size_t o = leg->column[k] * LGV_UNIT, at = path * leg->ncolumns + k;
            if (time == 0) v->start[at] = alive ? row[o] : (double)NAN;
            if (time < last) continue;
            v->final[at] = alive ? row[o] : (double)NAN;
            if (v->control) v->control[at] = alive ? row[controls * LGV_UNIT + o] : (double)NAN;
        }
        if (time == 0) v->energy[path] = row[0];        /* observable 0 is the energy */
        double change = fabs(row[0] - v->energy[path]); /* dead paths: no change */
        if (alive && change > v->drift[path]) v->drift[path] = change;
    }
    if (piece->last) v->have[piece->unit] = 1;
    for (unsigned l = 0; piece->last && l < piece->used; l++)
        if (piece->fail[l]) {
#pragma omp atomic
            v->failed++;
        }
    return true;
}

/* The rows of a unit: their places and sizes in the arrays. */
struct row {
    double *at;
    size_t count;
};
static void rows_of(const struct values *v, size_t unit, struct row row[5]) {
    size_t path = unit * LGV_UNIT, left = (size_t)v->leg->paths - path, n = v->leg->ncolumns;
    size_t paths = left < LGV_UNIT ? left : LGV_UNIT;
    row[0] = (struct row){v->final + path * n, paths * n};
    row[1] = (struct row){v->start + path * n, paths * n};
    row[2] = (struct row){v->drift + path, paths};
    row[3] = (struct row){v->energy + path, paths};
    row[4] = (struct row){v->control ? v->control + path * n : NULL, v->control ? paths * n : 0};
}

static bool values_merge(void *object, const void *other) {
    struct values *v = object;
    const struct values *w = other;
    struct row to[5], from[5];
    for (size_t u = 0; u < units_of(v->leg); u++) {
        if (!w->have[u]) continue;
        rows_of(v, u, to);
        rows_of(w, u, from);
        for (size_t k = 0; k < 5; k++)
            if (to[k].count) memcpy(to[k].at, from[k].at, to[k].count * sizeof(double));
        v->have[u] = 1;
    }
    v->failed += w->failed;
    return true;
}

static void values_save(void *object, struct lgv_text *out) {
    struct values *v = object;
    struct row row[5];
    lgv_text_append_count(out, v->failed);
    lgv_text_append(out, (const char *)v->have, units_of(v->leg));
    for (size_t u = 0; u < units_of(v->leg); u++) {
        if (!v->have[u]) continue;
        rows_of(v, u, row);
        for (size_t k = 0; k < 5; k++)
            if (row[k].count) lgv_text_append(out, (const char *)row[k].at, row[k].count * sizeof(double));
    }
}

static bool values_load(void *object, struct lgv_bytes *from) {
    struct values *v = object;
    struct row row[5];
    v->failed = lgv_bytes_count(from);
    lgv_bytes_take(from, v->have, units_of(v->leg));
    for (size_t u = 0; u < units_of(v->leg) && !from->bad; u++) {
        if (!v->have[u]) continue;
        rows_of(v, u, row);
        for (size_t k = 0; k < 5; k++)
            if (row[k].count) lgv_bytes_take(from, row[k].at, row[k].count * sizeof(double));
    }
    return true;
}

static const struct lgv_collector path_values = {.name = "values", .shared = true, .create = values_create,
                                                 .add = values_add, .merge = values_merge, .free = values_free,
                                                 .save = values_save, .load = values_load};

/* ---- sums along time ----
 *
 * With pairs (f, M) of n living paths in a unit: S_f, S_M, and the sums of products as those about the unit's means
 * plus S S/n, which enters in two parts so that nothing is lost.  Across units the sums are exact. */

struct exact_pair {
    struct lgv_exact f, m, ff, fm, mm;
    uint64_t n;
};

struct along {
    size_t rows;
    const struct lgv_leg *leg;
    struct exact_pair *pair; /* [ntimes][nseries], then the same for running averages where these are wanted */
    double *total;           /* [nseries][LGV_UNIT] of the present unit: f - first, added up from where they begin */
    double *first;           /* ... and f there */
};

static void along_free(void *object) {
    struct along *a = object;
    if (!a) return;
    for (size_t i = 0; a->pair && i < a->rows; i++) {
        struct exact_pair *p = &a->pair[i];
        struct lgv_exact *all[] = {&p->f, &p->m, &p->ff, &p->fm, &p->mm};
        for (size_t k = 0; k < 5; k++) lgv_exact_free(all[k], 1);
    }
    free(a->pair);
    free(a->total);
    free(a);
}

static bool averaged(const struct lgv_leg *leg) {
    return leg->averages_from < leg->ntimes;
}

static void *along_create(const void *shape) {
    const struct lgv_leg *leg = shape;
    struct along *a = lgv_new(1, sizeof *a);
    if (!a) return NULL;
    *a = (struct along){.rows = leg->ntimes * leg->nseries * (averaged(leg) ? 2 : 1), .leg = leg};
    a->pair = lgv_new(a->rows + 1, sizeof *a->pair);
    a->total = lgv_new(2 * leg->nseries * LGV_UNIT + 1, sizeof *a->total);
    a->first = a->total ? a->total + leg->nseries * LGV_UNIT : NULL;
    if (a->pair && a->total) return a;
    along_free(a);
    return NULL;
}

/* sum += d + x y / n */
static bool add_product(struct lgv_exact *sum, double d, double x, double y, double n) {
    double mean = y / n, high = x * mean;
    double low = fma(x, mean, -high) + x / n * fma(-n, mean, y);
    return lgv_exact_add(sum, high) && lgv_exact_add(sum, d + low);
}

static bool add_unit(struct exact_pair *p, const double *f, const double *m, unsigned alive) {
    double n = __builtin_popcount(alive), sf = 0, sm = 0, ff = 0, fm = 0, mm = 0;
    for (unsigned l = 0; l < LGV_UNIT; l++) {
        if (!(alive >> l & 1)) continue;
        sf += f[l];
        sm += m ? m[l] : 0;
    }
    for (unsigned l = 0; l < LGV_UNIT; l++) {
        double x = f[l] - sf / n, y = m ? m[l] - sm / n : 0;
        if (!(alive >> l & 1)) continue;
        ff += x * x;
        fm += x * y;
        mm += y * y;
    }
    p->n += (uint64_t)n;
    return lgv_exact_add(&p->f, sf) && lgv_exact_add(&p->m, sm) && add_product(&p->ff, ff, sf, sf, n) &&
           add_product(&p->fm, fm, sf, sm, n) && add_product(&p->mm, mm, sm, sm, n);
}

/* The pieces of a unit come one after the other, in the order of time. */
static bool add_running(struct along *a, size_t time, size_t k, const double *f, unsigned alive) {
    const struct lgv_leg *leg = a->leg;
    double *total = a->total + k * LGV_UNIT, *first = a->first + k * LGV_UNIT, mean[LGV_UNIT];
    if (time < leg->averages_from) return true;
    for (unsigned l = 0; l < LGV_UNIT; l++) {
        if (time == leg->averages_from) total[l] = 0, first[l] = f[l];
        total[l] += f[l] - first[l];
        mean[l] = first[l] + total[l] / (double)(time - leg->averages_from + 1);
    }
    return add_unit(&a->pair[(leg->ntimes + time) * leg->nseries + k], mean, NULL, alive);
}

static bool along_add(void *object, const struct lgv_piece *piece) {
    struct along *a = object;
    const struct lgv_leg *leg = a->leg;
    size_t watched = leg->kernel->watch.count, controls = leg->kernel->watch.controls;
    bool ok = true;
    for (size_t t = 0; t < piece->count; t++) {
        const double *row = piece->value + t * watched * LGV_UNIT;
        for (size_t k = 0; piece->alive[t] && k < leg->nseries; k++) {
            const double *f = row + leg->column[k] * LGV_UNIT, *m = controls ? f + controls * LGV_UNIT : NULL;
            ok = add_unit(&a->pair[(piece->first + t) * leg->nseries + k], f, m, piece->alive[t]) && ok;
            ok = add_running(a, piece->first + t, k, f, piece->alive[t]) && ok;
        }
    }
    return ok;
}

static bool along_merge(void *object, const void *other) {
    struct along *a = object;
    const struct along *b = other;
    bool ok = true;
    for (size_t i = 0; i < a->rows; i++) {
        struct exact_pair *x = &a->pair[i];
        const struct exact_pair *y = &b->pair[i];
        x->n += y->n;
        ok = lgv_exact_merge(&x->f, &y->f) && lgv_exact_merge(&x->m, &y->m) && lgv_exact_merge(&x->ff, &y->ff) &&
             lgv_exact_merge(&x->fm, &y->fm) && lgv_exact_merge(&x->mm, &y->mm) && ok;
    }
    return ok;
}

static void along_save(void *object, struct lgv_text *out) {
    struct along *a = object;
    for (size_t i = 0; i < a->rows; i++) {
        const struct exact_pair *p = &a->pair[i];
        const struct lgv_exact *all[] = {&p->f, &p->m, &p->ff, &p->fm, &p->mm};
        lgv_text_append_count(out, p->n);
        for (size_t k = 0; k < 5; k++) lgv_exact_save(all[k], out);
    }
}

static bool along_load(void *object, struct lgv_bytes *from) {
    struct along *a = object;
    bool ok = true;
    for (size_t i = 0; ok && i < a->rows && !from->bad; i++) {
        struct exact_pair *p = &a->pair[i];
        struct lgv_exact *all[] = {&p->f, &p->m, &p->ff, &p->fm, &p->mm};
        p->n = lgv_bytes_count(from);
        for (size_t k = 0; ok && k < 5; k++) ok = lgv_exact_load(all[k], from);
    }
    return ok;
}

static const struct lgv_collector along_time = {.name = "sums", .create = along_create, .add = along_add,
                                                .merge = along_merge, .free = along_free, .save = along_save,
                                                .load = along_load};

/* The sums about the mean of f. */
static struct lgv_pair_sums rounded(const struct exact_pair *p) {
    double n = (double)p->n;
    struct lgv_pair_sums s = {.n = n};
    if (!p->n) return s;
    s.shift = lgv_exact_round(&p->f) / n;
    s.m = lgv_exact_round(&p->m);
    s.ff = lgv_exact_comoment(p->n, &p->f, &p->f, &p->ff);
    s.fm = lgv_exact_comoment(p->n, &p->f, &p->m, &p->fm);
    s.mm = lgv_exact_comoment(p->n, &p->m, &p->m, &p->mm) + s.m * s.m / n;
    return s;
}

/* ---- the run ---- */

static void take_values(struct lgv_leg *leg, struct values *v) {
    leg->final = v->final;
    leg->start = v->start;
    leg->control = v->control;
    leg->drift = v->drift;
    leg->energy = v->energy;
    leg->failed = v->failed;
    free(v->have);
    free(v);
}

enum lgv_status lgv_leg_run(struct lgv_leg *leg, lgv_progress *progress, void *user, struct lgv_error *err) {
    if (lgv_clip_check(leg->kernel, leg->step, leg->truncate, err)) return LGV_BAD_INPUT;
    if (lgv_normals_check(leg->kernel, leg->steps, leg->coarsen, err)) return LGV_BAD_INPUT;
    leg->sum = lgv_new((averaged(leg) ? 2 : 1) * leg->ntimes * leg->nseries + 1, sizeof *leg->sum);
    if (leg->sum && averaged(leg)) leg->running = leg->sum + leg->ntimes * leg->nseries;
    struct values *values = values_create(leg);
    struct along *along = along_create(leg);
    if (!leg->sum || !along || !values) {
        values_free(values);
        along_free(along);
        return lgv_fail_memory(err);
    }
    struct lgv_collecting list[] = {{&path_values, leg, values}, {&along_time, leg, along}};
    struct lgv_plan plan = {.kernel = leg->kernel,
                            .t0 = leg->t0,
                            .dt = leg->step,
                            .steps = leg->steps,
                            .paths = leg->paths,
                            .seed = leg->seed,
                            .coarsen = leg->coarsen,
                            .ntimes = leg->ntimes,
                            .time_step = leg->time_step,
                            .threads = leg->threads,
                            .rescue = leg->rescue && !leg->points && lgv_rescue_possible(leg->kernel),
                            .clip = leg->points ? LGV_CLIP_THREE
                                                : lgv_clip_bound(leg->kernel, leg->step, leg->truncate)};
    enum lgv_status status = lgv_ensemble_run(&plan, list, 2, progress, user, &leg->report, err);
    leg->rescued = plan.rescue ? leg->report.astray : 0;
    for (size_t i = 0; i < along->rows; i++) leg->sum[i] = rounded(&along->pair[i]);
    along_free(along);
    take_values(leg, values);
    free(leg->report.snapshot);
    leg->report.snapshot = NULL;
    lgv_suspended_free(leg->report.suspended, leg->report.nsuspended);
    free(leg->report.suspended);
    leg->report.suspended = NULL;
    leg->report.nsuspended = leg->report.suspended_room = 0;
    leg->done = status == LGV_OK;
    return status;
}

void lgv_leg_free(struct lgv_leg *leg) {
    free(leg->sum);
    free(leg->energy);
    free(leg->time_step);
    free(leg->final);
    free(leg->start);
    free(leg->control);
    free(leg->drift);
    *leg = (struct lgv_leg){0};
}

uint64_t *lgv_leg_times(uint64_t steps, uint64_t every, uint64_t outputs, size_t *count) {
    uint64_t rounds = steps / every;
    if (outputs > rounds) outputs = rounds;
    uint64_t *at = lgv_new((size_t)outputs + 1, sizeof *at);
    if (!at) return NULL;
    for (uint64_t i = 0; i <= outputs; i++)
        at[i] = every * (uint64_t)((long double)rounds * (long double)i / (long double)outputs);
    at[outputs] = steps;
    *count = (size_t)outputs + 1;
    return at;
}

bool lgv_common_step(const double *step, size_t count, double *base, uint64_t *multiple) {
    double least = step[0];
    for (size_t i = 1; i < count; i++) least = fmin(least, step[i]);
    for (int k = 1; k <= 1024; k++) {
        bool all = true;
        *base = least / k;
        for (size_t i = 0; all && i < count; i++) {
            double ratio = step[i] / *base, whole = floor(ratio + 0.5);
            all = fabs(ratio - whole) <= 1e-9 * whole && whole < 1e15;
            multiple[i] = (uint64_t)whole;
        }
        if (all) return true;
    }
    return false;
}
