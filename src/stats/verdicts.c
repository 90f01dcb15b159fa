/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The certificate judged: each measured number with its error, the limit it is held against, whether that was claimed,
 * and whether it holds.  Words come in the output stage. */
#include "stats/stats.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONSTRAINT_LIMIT 1e-8 /* of the size of its terms: well above Newton's tolerance, well below any step error */
#define ROTATION_LIMIT 1e-12  /* |R^T R - 1|: a step makes unit quaternions unit again */
#define ENERGY_LIMIT 1e3      /* times |H| at the start, where the exact flow keeps H, and */
#define ENERGY_SHARE 0.5      /* of the sum of |kinetic| and |potential| */

static void judge_symplectic(const struct lgv_certificate *c, struct lgv_verdict *v) {
    v->value = c->symplectic_defect;
    v->error = c->symplectic_defect_error;
    v->claim = c->symplectic_claim ? 1 : 0;
    v->limit = fmax(c->symplectic_defect_error, c->symplectic_claim ? LGV_DEFECT_LIMIT : 0);
    if (v->claim == 1 && isfinite(v->value) && v->error <= LGV_DEFECT_KNOWN) v->holds = v->value <= v->limit;
}

/* The step without its bath. */
static void judge_conservative(const struct lgv_certificate *c, struct lgv_verdict *v) {
    v->value = c->conservative;
    v->error = c->conservative_error;
    v->claim = c->conservative_claim ? 1 : 0;
    v->limit = fmax(c->conservative_error, c->conservative_claim ? LGV_DEFECT_LIMIT : 0);
    if (v->claim == 1 && v->error <= LGV_DEFECT_KNOWN) v->holds = v->value <= v->limit;
}

/* Where a bath or a force acts: det J against what the method promises. */
static void judge_volume(const struct lgv_certificate *c, struct lgv_verdict *v) {
    v->value = isfinite(c->volume_expected) ? c->volume : c->volume_least;
    v->error = c->volume_error;
    v->claim = isfinite(c->volume_expected) ? 1 : 0;
    v->limit = fmax(c->volume_error, LGV_DEFECT_LIMIT);
    if (v->claim == 1 && isfinite(v->value) && v->error <= LGV_DEFECT_KNOWN) v->holds = v->value <= v->limit;
}

/* The kinetic temperature at the end: information, since the run may not have come to rest. */
static void judge_temperature(const struct lgv_result *r, const struct lgv_series *s, struct lgv_verdict *v) {
    size_t last = r->ntimes - 1;
    v->value = s->mean ? s->mean[last] : (double)NAN;
    v->error = s->err ? s->err[last] : (double)NAN;
    v->limit = r->certificate.law ? r->certificate.law_temperature : r->certificate.temperature;
    v->claim = -1;
}

static void judge_constraint(const struct lgv_result *r, double residual, double size, struct lgv_verdict *v) {
    v->value = residual;
    v->claim = 1;
    v->limit = CONSTRAINT_LIMIT * (size > 0 ? size : 1);
    if (r->steps_done) v->holds = residual <= v->limit; /* false for NaN */
}

/* Round-off grows with the steps; the scale is that of the parts of the map, which may cancel to zero. */
static void judge_momentum(const struct lgv_result *r, const struct lgv_series *s, struct lgv_verdict *v) {
    double scale = s->scale;
    for (size_t i = 0; s->min && s->max && i < r->ntimes; i++)
        scale = fmax(scale, fmax(fabs(s->min[i]), fabs(s->max[i])));
    v->value = s->drift;
    v->limit = scale * (1e-10 + 16 * DBL_EPSILON * (double)r->steps);
    v->claim = s->claim > 0 ? 1 : s->claim < 0 ? -1 : 0;
    if (v->claim == 1 && isfinite(v->value)) v->holds = v->value <= v->limit;
}

/* No claim; but where H is constant and has grown a thousandfold the step is too large.  Kinetic and potential energy
 * may cancel at the start, or both be about 0: then H is to have moved as far as they themselves do, too. */
static void judge_energy(const struct lgv_result *r, const struct lgv_series *s, struct lgv_verdict *v) {
    double start = s->mean ? s->mean[0] : (double)NAN;
    v->value = s->drift;
    v->claim = r->nnoise || r->certificate.time_dependent || r->certificate.dissipative ? -1 : 0;
    if (v->claim == 0 && fabs(start) > 0) v->limit = fmax(ENERGY_LIMIT * fabs(start), ENERGY_SHARE * s->scale);
    if (v->value > v->limit) v->holds = 0;
}

/* The growth of the mean of H over the run, against the law that the method claims. */
static void judge_growth(const struct lgv_result *r, const struct lgv_series *s, struct lgv_verdict *v) {
    size_t last = r->ntimes - 1;
    double span = r->time[last] - r->time[0];
    v->value = s->mean[last] - s->mean[0];
    v->error = hypot(s->err[last], s->err[0]);
    v->limit = r->certificate.energy_rate * span;
    v->claim = 1;
    double size = fmax(fabs(v->limit), s->scale), round = size * (1e-10 + 16 * DBL_EPSILON * (double)r->steps);
    if (r->failed || r->interrupted || r->paths < LGV_GROWTH_PATHS || !isfinite(v->error)) return;
    v->holds = fabs(v->value - v->limit) <= LGV_GROWTH_ERRORS * v->error + round;
}

static bool add(struct lgv_result *r, const char *what, const char *name, struct lgv_verdict **out) {
    struct lgv_text text = {0};
    lgv_text_add(&text, name ? "%s/%s" : "%s", what, name);
    *out = &r->verdict[r->nverdicts++];
    **out = (struct lgv_verdict){.name = text.data, (double)NAN, (double)NAN, (double)NAN, 0, -1};
    return !text.failed;
}

bool lgv_verdicts_make(struct lgv_result *r) {
    const struct lgv_certificate *c = &r->certificate;
    struct lgv_verdict *v;
    bool ok = true;
    lgv_verdicts_free(r);
    r->verdict = lgv_new(r->nseries + 12, sizeof *r->verdict);
    if (!r->verdict) return false;
    if (ok && (ok = add(r, "symplectic", NULL, &v))) judge_symplectic(c, v);
    if (ok && isfinite(c->conservative) && (ok = add(r, "conservative", NULL, &v))) judge_conservative(c, v);
    if (ok && c->dissipative && isfinite(c->volume_least) && (ok = add(r, "volume", NULL, &v))) judge_volume(c, v);
    for (size_t i = 0; ok && c->bath && r->ntimes > 0 && i < r->nseries; i++)
        if (r->series[i].name && strcmp(r->series[i].name, LGV_KINETIC) == 0 &&
            (ok = add(r, "temperature", NULL, &v)))
            judge_temperature(r, &r->series[i], v);
    if (r->nconstraints > 0 || isfinite(c->constraint)) {
        double hidden = fmax(c->hidden_size, c->constraint_size / fabs(r->until - r->t0));
        if (ok && (ok = add(r, "constraint", NULL, &v))) judge_constraint(r, c->constraint, c->constraint_size, v);
        if (ok && (ok = add(r, "hidden_constraint", NULL, &v))) judge_constraint(r, c->hidden_constraint, hidden, v);
    }
    if (ok && isfinite(c->rotation) && (ok = add(r, "rotation", NULL, &v))) {
        v->value = c->rotation;
        v->claim = c->rotation_claim;
        v->limit = ROTATION_LIMIT;
        if (v->claim) v->holds = v->value <= v->limit;
    }
    for (size_t i = 0; ok && i < r->nseries; i++) {
        const struct lgv_series *s = &r->series[i];
        if (s->kind == LGV_OBSERVABLE_MOMENTUM && (ok = add(r, "momentum", s->name ? s->name : "", &v)))
            judge_momentum(r, s, v);
        if (s->kind == LGV_OBSERVABLE_ENERGY && r->ntimes > 0 && (ok = add(r, "energy", NULL, &v)))
            judge_energy(r, s, v);
        if (ok && s->kind == LGV_OBSERVABLE_MODIFIED && r->ntimes > 0 && (ok = add(r, "modified_energy", NULL, &v))) {
            v->value = s->drift; /* information: what is left of the change of H */
            v->claim = -1;
        }
        if (ok && s->kind == LGV_OBSERVABLE_ENERGY && r->ntimes > 1 && s->mean && s->err && isfinite(c->energy_rate) &&
            (ok = add(r, "energy_law", NULL, &v)))
            judge_growth(r, s, v);
    }
    if (ok && r->metropolis && (ok = add(r, "acceptance", NULL, &v))) {
        v->value = r->acceptance;
        v->limit = LGV_LOW_ACCEPTANCE;
        v->claim = -1;
        v->holds = v->value >= v->limit;
    }
    if (ok && (ok = add(r, "failed_paths", NULL, &v))) {
        v->value = (double)r->failed;
        v->limit = 0;
        v->claim = 1;
        v->holds = r->failed == 0;
    }
    return ok;
}

void lgv_verdicts_free(struct lgv_result *r) {
    for (size_t i = 0; i < r->nverdicts; i++) free((void *)(uintptr_t)r->verdict[i].name);
    free(r->verdict);
    r->verdict = NULL;
    r->nverdicts = 0;
}

const struct lgv_verdict *lgv_verdict_find(const struct lgv_result *r, const char *name) {
    for (size_t i = 0; i < r->nverdicts; i++)
        if (strcmp(r->verdict[i].name, name) == 0) return &r->verdict[i];
    return NULL;
}
