/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A convergence study from its options: steps, methods, reference, number of paths.
 *
 * All steps are whole multiples of the smallest one, h.  The reference takes steps h / refine; refine is found on a few
 * paths first: it is doubled until the reference's own error is a tenth of the smallest error of the methods. */
#include "study/converge.h"
#include "study/leg.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEVELS 5        /* unless told */
#define PILOT 128       /* paths that decide how fine the reference is */
#define FINE_PILOT 0.06 /* a tenth with some margin: few paths do not know the errors well */
#define LEAST_REFINE 8
#define MOST_REFINE 512
#define FIRST_PATHS (LGV_GROUPS * LGV_UNIT) /* of a study with a target */
#define MOST_PATHS ((uint64_t)1 << 22)

struct study {
    struct lgv_kernel kernel[LGV_CONVERGE_METHODS + 1];
    const struct lgv_method *method[LGV_CONVERGE_METHODS + 1];
    size_t built;
    uint64_t factor[LGV_CONVERGE_LEVELS];
    uint64_t common; /* least common multiple of the factors */
    struct lgv_structure structure;
    struct lgv_converge_job job;
};

/* ---- steps ---- */

static int falling(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static enum lgv_status read_steps(const char *text, double *step, size_t *count, struct lgv_error *err) {
    *count = 0;
    for (const char *s = text; *s;) {
        char *end;
        double x = strtod(s, &end);
        if (end == s || (*end && *end != ',') || !(x > 0) || !isfinite(x))
            return lgv_fail(err, LGV_BAD_INPUT, "--steps: \"%s\" is not a list of positive numbers like 0.04,0.02,0.01",
                            text);
        if (*count == LGV_CONVERGE_LEVELS)
            return lgv_fail(err, LGV_BAD_INPUT, "--steps: at most %d steps", LGV_CONVERGE_LEVELS);
        step[(*count)++] = x;
        s = *end ? end + 1 : end;
    }
    qsort(step, *count, sizeof *step, falling);
    return LGV_OK;
}

static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* Factors of the smallest step and their least common multiple. */
static enum lgv_status find_factors(struct study *s, const double *step, size_t count, struct lgv_error *err) {
    double smallest = step[count - 1];
    uint64_t *common = &s->common;
    *common = 1;
    for (size_t l = 0; l < count; l++) {
        double f = round(step[l] / smallest);
        if (fabs(step[l] / smallest - f) > 1e-6 * f || f > 1e9)
            return lgv_fail(err, LGV_BAD_INPUT,
                            "step %g is not a whole multiple of the smallest step %g: the paths could not be shared",
                            step[l], smallest);
        s->factor[l] = (uint64_t)f;
        if (l > 0 && s->factor[l] == s->factor[l - 1])
            return lgv_fail(err, LGV_BAD_INPUT, "--steps: %g is there twice", step[l]);
        *common = *common / gcd(*common, s->factor[l]) * s->factor[l];
        if (*common > (uint64_t)1e12)
            return lgv_fail(err, LGV_BAD_INPUT,
                            "the steps have no reasonable common multiple; choose factors like 1, 2, 4");
    }
    return LGV_OK;
}

static enum lgv_status plan_steps(struct study *s, const struct lgv_settings *set,
                                  const struct lgv_convergence_options *o, struct lgv_convergence *out,
                                  struct lgv_error *err) {
    double step[LGV_CONVERGE_LEVELS], length = set->until - set->start;
    size_t count = o->levels ? o->levels : LEVELS;
    enum lgv_status status = LGV_OK;
    if (o->steps)
        status = read_steps(o->steps, step, &count, err);
    else if (count <= LGV_CONVERGE_LEVELS)
        for (size_t l = 0; l < count; l++) step[l] = ldexp(o->largest > 0 ? o->largest : set->step, -(int)l);
    if (status) return status;
    if (count < 2 || count > LGV_CONVERGE_LEVELS)
        return lgv_fail(err, LGV_BAD_INPUT, "an order needs 2 to %d steps, not %zu", LGV_CONVERGE_LEVELS, count);
    if (!(length > 0))
        return lgv_fail(err, LGV_BAD_INPUT, "until = %g must lie after start = %g", set->until, set->start);
    if (step[0] > length * (1 + 1e-9))
        return lgv_fail(err, LGV_BAD_INPUT, "the largest step %g is longer than the whole time %g", step[0], length);
    status = find_factors(s, step, count, err);
    if (status) return status;
    uint64_t common = s->common;
    double period = (double)common * step[count - 1], periods = fmax(1, round(length / period));
    if (periods * (double)common > LGV_MOST_STEPS / MOST_REFINE)
        return lgv_fail(err, LGV_BAD_INPUT, "%.3g steps are too many", periods * (double)common);
    s->job.nlevels = count;
    s->job.factor = s->factor;
    s->job.smallest = step[count - 1];
    s->job.smallest_steps = (uint64_t)periods * common;
    s->job.t0 = set->start;
    out->nlevels = count;
    out->t0 = set->start;
    out->until_wanted = set->until;
    double end = set->start + periods * period;
    out->until = fabs(end - set->until) > 1e-9 * length ? end : set->until;
    return LGV_OK;
}

/* ---- methods ---- */

static bool is_tested(const struct study *s, const struct lgv_method *m) {
    for (size_t k = 0; k < s->job.nmethods; k++)
        if (s->method[k] == m) return true;
    return false;
}

static enum lgv_status read_methods(struct study *s, struct lgv_model *model, const char *list,
                                    struct lgv_convergence *out, struct lgv_error *err) {
    for (const char *c = list; *c;) {
        char name[LGV_WORD_SIZE];
        const struct lgv_method *m;
        size_t n = strcspn(c, ",");
        if (n == 0 || n >= sizeof name)
            return lgv_fail(err, LGV_BAD_INPUT, "--methods wants names separated by commas, not \"%s\"", list);
        memcpy(name, c, n);
        name[n] = '\0';
        enum lgv_status status = lgv_method_resolve(model, name, &m, &out->chosen, err);
        if (status) return status;
        if (m->metropolis)
            return lgv_fail(err, LGV_BAD_INPUT,
                            "%s has no order that could be measured: its steps are accepted or not. Its stationary "
                            "averages have no bias from the step; `lgv compare` sets it beside other methods",
                            m->name);
        if (is_tested(s, m)) return lgv_fail(err, LGV_BAD_INPUT, "--methods: %s is there twice", m->name);
        if (s->job.nmethods == LGV_CONVERGE_METHODS)
            return lgv_fail(err, LGV_BAD_INPUT, "--methods: at most %d methods", LGV_CONVERGE_METHODS);
        s->method[s->job.nmethods++] = m;
        c += n + (c[n] == ',');
    }
    return s->job.nmethods ? LGV_OK : lgv_fail(err, LGV_BAD_INPUT, "--methods: no method is named");
}

/* The first of the highest order that fits and is not itself under test, when there is one: a method that converges to
 * something wrong would agree with itself. */
static const struct lgv_method *choose_reference(const struct study *s, const struct lgv_model *m) {
    static const char *const noisy[] = {"VZc",       "LobZ", "MRT32",     "P2N2Q4Gau",   "P1N1Q2Gau",
                                        "P2N2Q2Lob", "Heun", "RATTLE-Jc", "Lobatto3-W1", "BAB", "ABA",
                                        "RATTLE",    "g-BRB", "BRB",    "BXB",         "BCB", "BEB", NULL};
    static const char *const noisy_large[] = {"VZc",  "MRT32",     "LobZ",   "P2N2Q2Lob", "P1N1Q2Gau",
                                              "Heun", "RATTLE-Jc", "RATTLE", "BAB",       "ABA",
                                              "g-BRB", "BRB",      "BXB",    "BCB",       "BEB", NULL};
    static const char *const quiet[] = {"P3N3Q6Gau", "P3N4Q6Lob", "RK4", "P2N2Q4Gau", "Lobatto4", "Lobatto3",
                                        "BAB-6", "BAB-8", "RATTLE-6", "BRB-6", "BXB-6", "BCB-6", "BEB-6", NULL};
    static const char *const quiet_large[] = {"RK4", "P2N2Q4Gau", "Lobatto3", "RATTLE-6", "RATTLE",
                                              "BAB-4", "BAB-6", "BRB-4", "BXB-4", "BCB-4", "BEB-4", NULL};
    const struct lgv_method *best = NULL;
    const char *const *mixed = lgv_references_mixed(m, &s->structure);
    bool large = m->np > LGV_REFERENCE_DOF;
    double order = 0;
    static const char *const bath[] = {"UBU", "BAOAB", "BUB", "OBABO", "ABOBA", "RATTLE-GLA",
                                       "g-BAOAB", "BRORB", "OBRBO", "P2N2Q4Gau-GLA", "P1N1Q2Gau-GLA",
                                       "P2N2Q2Lob-GLA", NULL};
    for (const char *const *name = mixed          ? mixed
                                   : m->bath.kind ? bath
                                   : m->nnoise    ? (large ? noisy_large : noisy)
                                   : large        ? quiet_large
                                                  : quiet;
         *name; name++) {
        char ignore[400];
        const struct lgv_method *r = lgv_method_find(*name);
        if (!r || lgv_method_refusal(r, m, &s->structure, ignore, sizeof ignore)) continue;
        if (lgv_method_mixes(r, &s->structure)) continue; /* others need fewer derivatives */
        double has = lgv_method_strong_order(r, &s->structure, m->nnoise, NULL);
        if (best && (has < order - 0.1 || !is_tested(s, best) || is_tested(s, r))) continue;
        best = r;
        order = has;
    }
    return best;
}

static bool exact_complete(const struct lgv_model *m) {
    for (size_t i = 0; m->exact && i < m->nx + m->np; i++)
        if (m->exact[i] < 0) return false;
    return m->exact != NULL;
}

static enum lgv_status plan_reference(struct study *s, struct lgv_model *m,
                                      const struct lgv_convergence_options *o, struct lgv_convergence *out,
                                      struct lgv_error *err) {
    bool asked = o->reference && strcmp(o->reference, "exact") == 0;
    if (asked && !m->exact)
        return lgv_fail(err, LGV_BAD_INPUT, "--reference exact: the model %s declares no exact solution", m->name);
    if (asked && o->weak)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "--reference exact gives strong errors; weak ones need a method as reference");
    if (asked && o->observe)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "--reference exact gives the error of the whole state; --observe needs a method as reference");
    s->job.exact = asked || (!o->reference && !o->weak && !o->observe && exact_complete(m));
    s->job.refine = s->job.exact ? 1 : LEAST_REFINE;
    if (s->job.exact) return LGV_OK;
    const struct lgv_method *r = NULL;
    enum lgv_status status = o->reference ? lgv_method_resolve(m, o->reference, &r, NULL, err) : LGV_OK;
    if (status) return status;
    if (!r) r = choose_reference(s, m);
    if (!r) return lgv_fail(err, LGV_BAD_INPUT, "no method fits as reference; name one by --reference");
    s->method[s->job.nmethods] = out->reference = r;
    return LGV_OK;
}

/* Refuses before anything is compiled, then compiles. */
static enum lgv_status build(struct study *s, struct lgv_model *m, const struct lgv_settings *set,
                             struct lgv_error *err) {
    struct lgv_kernel_options options = {.coarse = true,
                                         .lanes = (unsigned)set->lanes,
                                         .compiler = set->compiler,
                                         .progress = s->job.progress,
                                         .user = s->job.user};
    size_t count = s->job.nmethods + !s->job.exact;
    enum lgv_status status = LGV_OK;
    char ignore[400];
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t k = 0; !status && k < count; k++) {
            if (pass == 0 && !lgv_method_refusal(s->method[k], m, &s->structure, ignore, sizeof ignore)) continue;
            status = lgv_kernel_build(m, s->method[k], &options, &s->kernel[k], err);
            if (!status) s->built = k + 1;
        }
    unsigned common = 1;
    for (size_t k = 0; m->bath.kind && k < count; k++) common = lgv_method_common_spans(s->method[k], common);
    for (size_t k = 0; k < s->built; k++) s->kernel[k].common_spans = common;
    s->job.kernel = s->kernel;
    return status;
}

/* ---- what the errors are of ---- */

static enum lgv_status add_quantity(struct study *s, struct lgv_convergence *out, const char *name, const char *text,
                                    struct lgv_converge_quantity q, struct lgv_error *err) {
    struct lgv_converge_job *j = &s->job;
    bool whole = !j->weak && q.of_state && q.count == s->kernel[0].nx + s->kernel[0].np;
    q.width = j->weak && q.of_state ? q.count : 1;
    q.slot = whole ? LGV_SLOT_STATE : j->width;
    if (!whole) j->width += q.width;
    j->quantity[j->nquantities++] = q;
    struct lgv_convergence_quantity *x = &out->quantity[out->nquantities++];
    *x = (struct lgv_convergence_quantity){lgv_copy(name), lgv_copy(text), NAN};
    return x->name && x->text ? LGV_OK : lgv_fail_memory(err);
}

/* "state", "positions", "momenta", or whatever is observed under that name. */
static enum lgv_status named_quantity(struct study *s, struct lgv_convergence *out, const char *name,
                                      struct lgv_error *err) {
    const struct lgv_watch *w = &s->kernel[0].watch;
    size_t nx = s->kernel[0].nx, np = s->kernel[0].np;
    const struct {
        const char *name, *text;
        struct lgv_converge_quantity q;
    } whole[] = {{"state", "all q and p", {.of_state = true, .first = 0, .count = nx + np}},
                 {"positions", "all q", {.of_state = true, .first = 0, .count = nx}},
                 {"momenta", "all p", {.of_state = true, .first = nx, .count = np}}};
    const char *known[200];
    size_t n = 0;
    for (size_t i = 0; i < w->count; i++) /* the distance to the exact solution is no observable of the reference */
        if (strcmp(w->item[i].name, name) == 0 && w->item[i].kind != LGV_OBSERVABLE_ERROR)
            return add_quantity(s, out, name, w->item[i].text, (struct lgv_converge_quantity){.first = i}, err);
    for (size_t i = 0; i < 3; i++)
        if (strcmp(whole[i].name, name) == 0) return add_quantity(s, out, name, whole[i].text, whole[i].q, err);
    for (size_t i = 0; i < 3; i++) known[n++] = whole[i].name;
    for (size_t i = 0; i < w->count && n < 200; i++) known[n++] = w->item[i].name;
    const char *near = lgv_nearest(name, known, n);
    return lgv_fail(err, LGV_BAD_INPUT,
                    near ? "--observe %s: no such observable; did you mean %s?"
                         : "--observe %s: no such observable (state, positions and momenta go always)",
                    name, near);
}

static enum lgv_status plan_quantities(struct study *s, const struct lgv_convergence_options *o,
                                       struct lgv_convergence *out, struct lgv_error *err) {
    const struct lgv_watch *w = &s->kernel[0].watch;
    enum lgv_status status = LGV_OK;
    s->job.width = LGV_SLOTS;
    out->whole = !o->weak && !o->observe;
    for (size_t i = 0; s->job.exact && i < w->count; i++)
        if (w->item[i].kind == LGV_OBSERVABLE_ERROR) s->job.distance = i;
    for (const char *c = o->observe ? o->observe : o->weak ? "H" : "state"; !status && *c;) {
        char name[LGV_WORD_SIZE];
        size_t n = strcspn(c, ",");
        if (n == 0 || n >= sizeof name)
            return lgv_fail(err, LGV_BAD_INPUT, "--observe wants names separated by commas, not \"%s\"", o->observe);
        if (out->nquantities == LGV_CONVERGE_QUANTITIES)
            return lgv_fail(err, LGV_BAD_INPUT, "--observe: at most %d names", LGV_CONVERGE_QUANTITIES);
        memcpy(name, c, n);
        name[n] = '\0';
        for (size_t i = 0; i < out->nquantities; i++)
            if (strcmp(out->quantity[i].name, name) == 0)
                return lgv_fail(err, LGV_BAD_INPUT, "--observe: %s is there twice", name);
        status = named_quantity(s, out, name, err);
        c += n + (c[n] == ',');
    }
    return status;
}

/* ---- the study ---- */

/* The smallest error the main run will be able to see at the smallest two steps; `shrink` is by how much its standard
 * errors are smaller. */
static double smallest_error(const struct lgv_converge_job *j, size_t quantity, double shrink) {
    double smallest = INFINITY;
    for (size_t k = 0; k < j->nmethods; k++)
        for (size_t l = 0; l < j->nlevels; l++) {
            double stderror, error = fabs(lgv_converge_error(j, k, l, quantity, &stderror));
            if (j->weak) error = fmax(error, 2 * shrink * stderror);
            if (error > 0) smallest = fmin(smallest, error);
        }
    return smallest;
}

/* Whether the reference need not be finer, or cannot become so: its errors no longer fall.  before: its errors at twice
 * the step, which are replaced. */
static bool fine_enough(const struct lgv_converge_job *j, double shrink, double before[LGV_CONVERGE_QUANTITIES]) {
    bool fine = true, falls = false;
    for (size_t q = 0; q < j->nquantities; q++) {
        double error = lgv_converge_reference_error(j, q) * (j->weak ? shrink : 1);
        fine = fine && error <= FINE_PILOT * smallest_error(j, q, shrink);
        falls = falls || error < 0.9 * before[q];
        before[q] = error;
    }
    return fine || !falls;
}

static bool reference_lost(const struct lgv_converge_job *j) {
    uint64_t paths = 0, failed = 0;
    for (size_t g = 0; g < LGV_GROUPS; g++) {
        paths += j->group_paths[g];
        failed += j->sum[j->nmethods * j->nlevels * LGV_GROUPS + g].failed;
    }
    return failed > 0 && failed >= paths;
}

/* Finds how fine the reference has to be, on a few paths and the two smallest steps. */
static enum lgv_status refine(struct study *s, uint64_t paths, struct lgv_error *err) {
    struct lgv_converge_job *main = &s->job;
    double before[LGV_CONVERGE_QUANTITIES], shrink = sqrt((double)PILOT / fmax((double)paths, PILOT));
    enum lgv_status status = LGV_OK;
    for (size_t q = 0; q < LGV_CONVERGE_QUANTITIES; q++) before[q] = INFINITY;
    while (!status && !main->exact) {
        struct lgv_converge_job j = *main;
        j.first = 0;
        j.end = paths < PILOT ? paths : PILOT;
        j.factor = main->factor + main->nlevels - 2;
        j.nlevels = 2;
        status = lgv_converge_new_sums(&j) ? lgv_converge_paths(&j, err) : lgv_fail_memory(err);
        if (!status && reference_lost(&j))
            status =
                lgv_fail(err, LGV_CANNOT_RUN, "the reference %s loses all paths; name another one with --reference",
                         j.kernel[j.nmethods].method->name);
        bool fine = !status && (fine_enough(&j, shrink, before) || main->refine >= MOST_REFINE);
        lgv_converge_free_sums(&j);
        if (fine) break;
        if (!status) main->refine *= 2;
    }
    return status;
}

/* Does the study lose levels because the time is long: paths drift apart, from the solution and from the reference? */
static bool too_long(const struct lgv_convergence *out) {
    for (size_t i = 0; i < out->nrows; i++) {
        const struct lgv_convergence_method *m = &out->method[i];
        if (m->verdict != LGV_ORDER_NONE) continue;
        for (size_t l = 0; l < out->nlevels; l++)
            if (m->level[l].use == LGV_LEVEL_SPREAD || m->level[l].use == LGV_LEVEL_REFERENCE) return true;
    }
    return false;
}

/* The longest of T/2, T/4, ... at which no level would be lost like that, tried on a few paths: together they cost no
 * more than the same few paths of the whole study. */
static void find_until(struct study *s, struct lgv_convergence *out) {
    struct lgv_convergence trial = *out;
    trial.method = lgv_new(out->nrows, sizeof *trial.method);
    bool going = trial.method != NULL && too_long(out);
    out->until_looked_at = going;
    for (uint64_t periods = s->job.smallest_steps / s->common / 2; going && periods > 0; periods /= 2) {
        struct lgv_converge_job j = s->job;
        memset(j.group_paths, 0, sizeof j.group_paths);
        memcpy(trial.method, out->method, out->nrows * sizeof *trial.method);
        j.smallest_steps = periods * s->common;
        j.fraction_base = 1;
        j.fraction_size = 0;
        j.first = 0;
        j.end = out->paths < PILOT ? out->paths : PILOT;
        going = lgv_converge_scales(&j, j.end) && lgv_converge_new_sums(&j) && !lgv_converge_paths(&j, NULL);
        if (going) {
            lgv_converge_fit(&j, &trial);
            bool lost = false;
            for (size_t i = 0; i < out->nrows; i++)
                for (size_t l = 0; l < out->nlevels; l++)
                    lost = lost || trial.method[i].level[l].use == LGV_LEVEL_SPREAD ||
                           trial.method[i].level[l].use == LGV_LEVEL_REFERENCE;
            if (!lost) out->until_enough = out->t0 + (double)j.smallest_steps * j.smallest;
            going = lost;
        }
        lgv_converge_free_sums(&j);
    }
    free(trial.method);
}

static bool orders_known(const struct lgv_convergence *out, double target) {
    for (size_t k = 0; k < out->nrows; k++)
        if (!(out->method[k].order_stderr <= target)) return false;
    return true;
}

static enum lgv_status run(struct study *s, const struct lgv_settings *set, double target, struct lgv_convergence *out,
                           struct lgv_error *err) {
    struct lgv_converge_job *j = &s->job;
    j->random = out->random;
    uint64_t paths = !out->random ? 1 : target > 0 ? FIRST_PATHS : set->paths;
    enum lgv_status status = lgv_converge_scales(j, paths) ? refine(s, paths, err) : lgv_fail_memory(err);
    if (status)
        return status == LGV_INTERRUPTED ? lgv_fail(err, LGV_CANNOT_RUN, "interrupted before it began") : status;
    j->first = 0;
    for (;;) {
        j->end = paths;
        j->fraction_base = (double)j->first / (double)paths;
        j->fraction_size = 1 - j->fraction_base;
        status = lgv_converge_paths(j, err);
        if (status && status != LGV_INTERRUPTED) return status;
        lgv_converge_fit(j, out);
        out->target_reached = target > 0 && orders_known(out, target);
        if (status || !(target > 0) || !out->random || out->target_reached || paths >= MOST_PATHS) break;
        j->first = paths;
        paths *= 2;
    }
    out->interrupted = status == LGV_INTERRUPTED;
    if (out->interrupted && out->paths == 0)
        return lgv_fail(err, LGV_CANNOT_RUN, "interrupted before any path was done");
    if (!out->interrupted) find_until(s, out);
    return status;
}

static bool describe(const struct study *s, const struct lgv_model *m, const struct lgv_settings *set,
                     const struct lgv_convergence_options *o, struct lgv_convergence *out) {
    time_t t = time(NULL);
    struct tm utc;
    strftime(out->date, sizeof out->date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
    snprintf(out->compiler, sizeof out->compiler, "%s", s->kernel[0].compiler);
    out->model_name = lgv_copy(m->name);
    out->model_text = lgv_copy(m->text ? m->text : "(a model of C functions)");
    out->model_file = m->file ? lgv_copy(m->file) : NULL;
    out->weak = o->weak;
    out->seed = set->seed;
    out->target = o->target;
    out->dof = s->kernel[0].np;
    out->nnoise = s->kernel[0].nnoise;
    out->noise_commutes = s->structure.commutes;
    out->random = out->nnoise > 0 || m->bath.kind != LGV_FRICTION_NONE || m->draws[0] > 0 || m->draws[1] > 0;
    out->nmethods = s->job.nmethods;
    out->nrows = out->nmethods * out->nquantities;
    out->method = lgv_new(out->nrows, sizeof *out->method);
    out->parameter = lgv_new(m->npar + 1, sizeof *out->parameter);
    out->parameter_value = lgv_new(m->npar + 1, sizeof *out->parameter_value);
    if (!out->model_name || !out->model_text || !out->method || !out->parameter || !out->parameter_value) return false;
    for (size_t k = 0; k < out->nrows; k++) out->method[k].method = s->method[k % out->nmethods];
    for (size_t i = 0; i < m->npar; i++) {
        if (m->graph && lgv_expr_drawn(m->graph, (int)i) >= 0) continue; /* every path has its own */
        out->parameter_value[out->nparameters] = m->par[i];
        if (!(out->parameter[out->nparameters] = lgv_copy(m->par_name[i]))) return false;
        out->nparameters++;
    }
    return true;
}

static enum lgv_status plan(struct study *s, struct lgv_model *m, const struct lgv_settings *set,
                            const struct lgv_convergence_options *o, struct lgv_convergence *out,
                            struct lgv_error *err) {
    s->job.weak = o->weak;
    s->job.seed = set->seed;
    s->job.truncate = set->truncate;
    s->job.threads = set->threads ? (unsigned)set->threads : (unsigned)omp_get_num_procs();
    out->threads = s->job.threads;
    enum lgv_status status = plan_steps(s, set, o, out, err);
    if (!status) status = lgv_kernel_lanes(set->lanes, err);
    lgv_settings_times(set, m);
    if (!status) status = read_methods(s, m, o->methods ? o->methods : set->method, out, err);
    if (!status) status = lgv_model_structure(m, &s->structure, err);
    if (!status) status = plan_reference(s, m, o, out, err);
    if (!status) status = build(s, m, set, err);
    double largest = s->job.smallest * (double)s->factor[0];
    if (!status) status = lgv_clip_check(&s->kernel[0], largest, set->truncate, err);
    uint64_t finest = s->job.exact ? 1 : MOST_REFINE;
    if (!status) status = lgv_normals_check(&s->kernel[0], s->job.smallest_steps, finest, err);
    if (!status) status = plan_quantities(s, o, out, err);
    if (!status && !describe(s, m, set, o, out)) status = lgv_fail_memory(err);
    return status;
}

enum lgv_status lgv_converge(struct lgv_model *m, const struct lgv_settings *settings,
                             const struct lgv_convergence_options *options, lgv_progress *progress, void *user,
                             struct lgv_convergence *out, struct lgv_error *err) {
    *out = (struct lgv_convergence){.reference_step = NAN, .spread = NAN, .until_enough = NAN};
    if (lgv_settings_paths(settings, err)) return LGV_BAD_INPUT;
    struct study *s = lgv_new(1, sizeof *s);
    if (!s) return lgv_fail_memory(err);
    s->job.progress = progress;
    s->job.user = user;
    enum lgv_status status = plan(s, m, settings, options, out, err);
    if (status == LGV_INTERRUPTED) status = lgv_fail(err, LGV_CANNOT_RUN, "stopped before the study began");
    double begin = lgv_seconds();
    if (!status && !lgv_converge_new_sums(&s->job)) status = lgv_fail_memory(err);
    if (!status) status = run(s, settings, options->target, out, err);
    out->seconds = lgv_seconds() - begin;
    if (out->reference) out->reference_step = s->job.smallest / (double)s->job.refine;
    for (size_t k = 0; k < s->built; k++) lgv_kernel_free(&s->kernel[k]);
    lgv_converge_free_sums(&s->job);
    free(s);
    if (status && status != LGV_INTERRUPTED) lgv_convergence_clear(out);
    return status;
}

void lgv_convergence_clear(struct lgv_convergence *c) {
    for (size_t i = 0; i < c->nparameters; i++) free(c->parameter[i]);
    free(c->parameter);
    free(c->parameter_value);
    free(c->model_name);
    free(c->model_text);
    free(c->model_file);
    free(c->command);
    for (size_t i = 0; i < c->nquantities; i++) {
        free(c->quantity[i].name);
        free(c->quantity[i].text);
    }
    free(c->method);
    *c = (struct lgv_convergence){0};
}

uint64_t lgv_convergence_failed(const struct lgv_convergence *c) {
    uint64_t failed = c->reference_failed;
    for (size_t k = 0; k < c->nmethods; k++) /* the paths of all quantities are the same */
        for (size_t l = 0; l < c->nlevels; l++) failed += c->method[k].level[l].failed;
    return failed;
}

enum lgv_convergence_outcome lgv_convergence_judge(const struct lgv_convergence *c) {
    bool unknown = false;
    if (lgv_convergence_failed(c)) return LGV_CONVERGENCE_BROKEN;
    for (size_t k = 0; k < c->nrows; k++) {
        if (!c->weak && c->method[k].verdict == LGV_ORDER_DIFFERS) return LGV_CONVERGENCE_BROKEN;
        unknown = unknown || c->method[k].verdict == LGV_ORDER_NONE;
    }
    return unknown ? LGV_CONVERGENCE_UNKNOWN : LGV_CONVERGENCE_HOLDS;
}
