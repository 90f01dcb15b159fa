/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The options of studies: one table for the command line, help, reference pages and the C interface, and how the texts
 * are read. */
#include "engine/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct lgv_study_texts, field)
static const struct lgv_flag converge[] = {
    {"methods", 0, "A,B,C", AT(methods), "methods to measure, separated by commas (default: the method of the file)"},
    {"kind", 0, "strong|weak", AT(kind),
     "strong: RMS over paths of the distance to the solution; weak: error of a mean (default strong)"},
    {"observe", 0, "NAME,...", AT(observe),
     "what the errors are of: state, positions, momenta, or anything observed; each has its own orders (default: state "
     "for strong errors, H for weak ones)"},
    {"steps", 0, "H1,H2,...", AT(steps), "the steps: whole multiples of the smallest one"},
    {"largest", 0, "H", AT(largest), "the largest of the steps H, H/2, H/4, ... (default: the step of the file)"},
    {"levels", 0, "N", AT(levels), "number of steps H, H/2, H/4, ... (default 5)"},
    {"target", 0, "SE", AT(target),
     "double the number of paths until the standard error of every order is below SE (at most 4 million paths)"},
    {"reference", 0, "METHOD|exact", AT(reference),
     "what the solution is: the exact solution of the model file, or a fine solution of the same paths by a method "
     "(default: exact for strong errors when the file has it, else the best method that fits and is not under test)"},
};
static const struct lgv_flag compare[] = {
    {"methods", 0, "A,B,C", AT(methods), "methods to compare, separated by commas (default: the method of the file)"},
    {"steps", 0, "H1,H2,...", AT(steps),
     "one step for each method (default: --step for all); or from:to:number, a range of steps that all methods try, "
     "for the energy error and the surviving paths against the step"},
    {"observe", 0, "NAME,...", AT(observe), "what to compare (default: H and the observables of the file)"},
    {"expect", 0, "NAME=FORMULA", AT(expect),
     "a mean that is known, as a formula in t, the parameters and NAME0, the mean at the start; several separated by "
     ";"},
    {"reference", 0, "METHOD|none", AT(reference),
     "method of a fine run on the same paths, for biases without --expect and for errors (default: chosen; strong "
     "errors are against the exact solution when the file has one); none: no such run, weak errors are against "
     "--expect"},
    {"reference-step", 0, "H", AT(reference_step), "its step (default: a quarter of the smallest)"},
    {"ladder", 0, "N", AT(ladder), "steps H, H/2, ... of each method for work and precision, 0 for none (default 4)"},
    {"ladder-paths", 0, "N", AT(ladder_paths),
     "paths for work and precision (default: as many as take some seconds, from 64 to 1000)"},
};
static const struct lgv_flag mlmc[] = {
    {"tolerance", 0, "E", AT(tolerance), "--mlmc: root mean square error to reach"},
    {"observe", 0, "NAME", AT(observe), "--mlmc: the observable (default H)"},
    {"largest", 0, "H", AT(largest), "--mlmc: step of level 0 (default: the step of the run); level l has H/2^l"},
    {"levels", 0, "N", AT(levels), "--mlmc: most levels (default 12)"},
};
static const struct lgv_flag sweep[] = {
    {"over", 0, "NAME=VALUES", LGV_FLAG_OVER,
     "a parameter or a run option with its values: from:to:number, or a list as in 1,2,4; may be given up to four "
     "times"},
    {"independent", 0, NULL, AT(independent),
     "noise of its own at every point (default: the same noise for all, so that differences are seen with less of it)"},
    {"together", 0, NULL, AT(together),
     "all points as one run: paths with different values side by side in one kernel, which is faster where points have "
     "few paths; for parameters that may differ from path to path, with up to " LGV_DIGITS(LGV_SWEEP_TOGETHER)
     " paths of all points"},
};

#define ROWS(table) table, sizeof table / sizeof *table
const struct lgv_study_kind lgv_study_kinds[LGV_STUDIES] = {
    [LGV_STUDY_CONVERGE] = {"converge", ROWS(converge)},
    [LGV_STUDY_COMPARE] = {"compare", ROWS(compare)},
    [LGV_STUDY_MLMC] = {"mlmc", ROWS(mlmc)},
    [LGV_STUDY_SWEEP] = {"sweep", ROWS(sweep)},
};

/* ---- converge ---- */

static enum lgv_status read_number(const char *name, const char *text, double low, double high, double *out,
                                   struct lgv_error *err) {
    char *end;
    if (!text) return LGV_OK;
    *out = strtod(text, &end);
    if (end != text && !*end && *out >= low && *out <= high) return LGV_OK;
    char plain[80];
    return lgv_fail(err, LGV_BAD_INPUT, "--%s: \"%s\" is not a number from %g to %g", name,
                    lgv_plain(plain, sizeof plain, text), low, high);
}

enum lgv_status lgv_converge_read(const struct lgv_study_texts *f, bool paths, struct lgv_settings *s,
                                  struct lgv_convergence_options *o, struct lgv_error *err) {
    double levels = 0;
    *o = (struct lgv_convergence_options){
        .methods = f->methods, .observe = f->observe, .steps = f->steps, .reference = f->reference};
    if (f->kind && strcmp(f->kind, "weak") != 0 && strcmp(f->kind, "strong") != 0)
        return lgv_fail(err, LGV_BAD_INPUT, "--kind is strong or weak");
    o->weak = f->kind && strcmp(f->kind, "weak") == 0;
    if (f->steps && (f->largest || f->levels))
        return lgv_fail(err, LGV_BAD_INPUT, "--steps names all steps; --largest and --levels go without it");
    if (f->target && paths)
        return lgv_fail(err, LGV_BAD_INPUT, "--target finds the number of paths itself; leave out --paths");
    enum lgv_status status = read_number("largest", f->largest, 1e-300, 1e300, &o->largest, err);
    if (!status) status = read_number("levels", f->levels, 2, LGV_CONVERGE_LEVELS, &levels, err);
    if (!status) status = read_number("target", f->target, 1e-6, 1, &o->target, err);
    o->levels = (size_t)levels;
    if (!paths && s->paths > LGV_CONVERGE_PATHS) s->paths = LGV_CONVERGE_PATHS;
    return status;
}

/* ---- compare ---- */

/* Cuts a copy of the list at the separator; blanks around words are dropped.  Returns the number of words, one more
 * than LGV_COMPARE_MOST when there are too many or one is empty. */
static size_t cut(char *list, char separator, const char *word[LGV_COMPARE_MOST]) {
    size_t n = 0;
    for (char *s = list; s;) {
        char *next = strchr(s, separator);
        if (next) *next++ = '\0';
        s += strspn(s, " ");
        for (char *end = s + strlen(s); end > s && end[-1] == ' ';) *--end = '\0';
        if (!*s && !next && n) break; /* a separator at the end is fine */
        if (!*s || n == LGV_COMPARE_MOST) return LGV_COMPARE_MOST + 1;
        word[n++] = s;
        s = next;
    }
    return n;
}

static enum lgv_status read_list(const char *flag, const char *text, char separator, char **memory,
                                 const char *word[LGV_COMPARE_MOST], size_t *count, struct lgv_error *err) {
    *count = 0;
    if (!text) return LGV_OK;
    if (!(*memory = lgv_copy(text))) return lgv_fail_memory(err);
    *count = cut(*memory, separator, word);
    if (*count <= LGV_COMPARE_MOST) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT, "--%s: a list of at most %d words is wanted", flag, LGV_COMPARE_MOST);
}

static enum lgv_status read_real(const char *flag, const char *text, double *out, struct lgv_error *err) {
    const struct lgv_option row = {.name = flag, .type = LGV_REAL, .low = 1e-300, .high = 1e300};
    struct lgv_error why;
    if (!text || lgv_option_set(&row, 1, out, flag, text, &why) == LGV_OK) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT, "--%s", why.message);
}

static enum lgv_status read_count(const char *flag, const char *text, double high, uint64_t *out,
                                  struct lgv_error *err) {
    const struct lgv_option row = {.name = flag, .type = LGV_COUNT, .low = 0, .high = high};
    struct lgv_error why;
    if (!text || lgv_option_set(&row, 1, out, flag, text, &why) == LGV_OK) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT, "--%s", why.message);
}

/* from:to:number */
static enum lgv_status read_trials(const char *text, const struct lgv_settings *s, struct lgv_compare_options *o,
                                   struct lgv_error *err) {
    char *end, plain[80];
    o->from = strtod(text, &end);
    o->to = *end == ':' ? strtod(end + 1, &end) : (double)NAN;
    o->trials = *end == ':' && end[1] >= '0' && end[1] <= '9' ? strtoull(end + 1, &end, 10) : 0;
    lgv_plain(plain, sizeof plain, text);
    if (*end || !(o->from > 0) || !(o->to > o->from) || o->trials < 2 || o->trials > LGV_COMPARE_TRIALS)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "--steps: \"%s\" is no range; wanted is from:to:number with 0 < from < to and 2 to %d steps, "
                        "as in 0.01:1:20", plain, LGV_COMPARE_TRIALS);
    if (!(o->to <= s->until - s->start))
        return lgv_fail(err, LGV_BAD_INPUT, "--steps: %s goes beyond the time of the run, which is %g", plain,
                        s->until - s->start);
    return LGV_OK;
}

static enum lgv_status read_contenders(struct lgv_model *m, const struct lgv_study_texts *f,
                                       const struct lgv_settings *s, struct lgv_compare_request *r,
                                       struct lgv_error *err) {
    const char *name[LGV_COMPARE_MOST], *step[LGV_COMPARE_MOST];
    size_t n, steps;
    enum lgv_status status =
        read_list("methods", f->methods ? f->methods : s->method, ',', &r->memory[0], name, &n, err);
    const bool range = f->steps && strchr(f->steps, ':');
    if (!status && range) status = read_trials(f->steps, s, &r->options, err);
    if (!status) status = read_list("steps", range ? NULL : f->steps, ',', &r->memory[1], step, &steps, err);
    if (!status && steps && steps != n && steps != 1)
        status = lgv_fail(err, LGV_BAD_INPUT, "--steps: %zu steps for %zu methods", steps, n);
    for (size_t i = 0; !status && i < n; i++) {
        r->contender[i].step = s->step;
        status = lgv_method_resolve(m, name[i], &r->contender[i].method, &r->options.chosen, err);
        if (!status && steps) status = read_real("steps", step[steps == 1 ? 0 : i], &r->contender[i].step, err);
    }
    r->options.contender = r->contender;
    r->options.count = n;
    return status;
}

static enum lgv_status read_expected(const struct lgv_study_texts *f, struct lgv_compare_request *r,
                                     struct lgv_error *err) {
    const char *word[LGV_COMPARE_MOST];
    enum lgv_status status = read_list("expect", f->expect, ';', &r->memory[3], word, &r->options.nexpect, err);
    for (size_t i = 0; !status && i < r->options.nexpect; i++) {
        char *name = r->memory[3] + (word[i] - r->memory[3]), *equals = strchr(name, '=');
        if (!equals || equals == name || !equals[1])
            return lgv_fail(err, LGV_BAD_INPUT, "--expect wants NAME=FORMULA, not \"%s\"", name);
        *equals = '\0';
        while (equals > name && equals[-1] == ' ') *--equals = '\0';
        r->expect[i] = (struct lgv_expected){name, name + strlen(name) + 1};
        while (*r->expect[i].formula == '\0') r->expect[i].formula++; /* blanks before = became ends of text */
    }
    r->options.expect = r->expect;
    return status;
}

enum lgv_status lgv_compare_read(struct lgv_model *m, const struct lgv_study_texts *f, const struct lgv_settings *s,
                                 struct lgv_compare_request *r, struct lgv_error *err) {
    *r = (struct lgv_compare_request){0};
    r->options.ladder = 4;
    enum lgv_status status = read_contenders(m, f, s, r, err);
    if (!status) status = read_list("observe", f->observe, ',', &r->memory[2], r->observe, &r->options.nobserve, err);
    r->options.observe = r->observe;
    if (!status) status = read_expected(f, r, err);
    if (!status) status = read_real("reference-step", f->reference_step, &r->options.reference_step, err);
    if (!status) status = read_count("ladder", f->ladder, 16, &r->options.ladder, err);
    if (!status) status = read_count("ladder-paths", f->ladder_paths, 1e9, &r->options.ladder_paths, err);
    bool more = f->reference || f->reference_step || f->expect || f->ladder || f->ladder_paths;
    if (!status && r->options.trials && more)
        status = lgv_fail(err, LGV_BAD_INPUT, "--steps with a range looks at the energy and at survival only: leave "
                                              "out --reference, --expect and --ladder");
    r->options.no_reference = f->reference && strcmp(f->reference, "none") == 0;
    bool complete = m->exact != NULL;
    for (size_t i = 0; complete && i < m->nx + m->np; i++) complete = m->exact[i] >= 0;
    if (!status && f->reference && strcmp(f->reference, "exact") == 0 && !complete)
        status = lgv_fail(err, LGV_BAD_INPUT, "--reference exact: the model %s declares no exact solution%s", m->name,
                          m->exact ? " of all coordinates and momenta" : "");
    if (!status && f->reference && !r->options.no_reference && strcmp(f->reference, "exact") != 0)
        status = lgv_method_resolve(m, f->reference, &r->options.reference, NULL, err);
    return status;
}

void lgv_compare_request_free(struct lgv_compare_request *r) {
    for (size_t i = 0; i < 4; i++) free(r->memory[i]);
}

/* ---- mlmc ---- */

enum lgv_status lgv_mlmc_read(const struct lgv_study_texts *f, struct lgv_mlmc_options *o, struct lgv_error *err) {
    const struct lgv_option row[] = {
        {.name = "tolerance",
         .type = LGV_REAL,
         .low = 1e-300,
         .high = 1e300,
         .offset = offsetof(struct lgv_mlmc_options, tolerance)},
        {.name = "largest",
         .type = LGV_REAL,
         .low = 1e-300,
         .high = 1e300,
         .offset = offsetof(struct lgv_mlmc_options, largest)},
        {.name = "levels",
         .type = LGV_COUNT,
         .low = 2,
         .high = LGV_MLMC_LEVELS,
         .offset = offsetof(struct lgv_mlmc_options, levels)},
    };
    const char *given[] = {f->tolerance, f->largest, f->levels};
    *o = (struct lgv_mlmc_options){.observe = f->observe};
    if (!f->tolerance)
        return lgv_fail(err, LGV_BAD_INPUT, "--tolerance E is needed, the root mean square error to reach");
    for (size_t i = 0; i < 3; i++) {
        struct lgv_error why;
        if (given[i] && lgv_option_set(row, 3, o, row[i].name, given[i], &why) != LGV_OK)
            return lgv_fail(err, LGV_BAD_INPUT, "--%s", why.message);
    }
    return LGV_OK;
}

/* ---- sweep ---- */

#define MOST_POINTS 1000000

static bool refuse(struct lgv_error *err, const char *text, const char *why) {
    char plain[120];
    lgv_fail(err, LGV_BAD_INPUT, "--over %s: %s", lgv_plain(plain, sizeof plain, text), why);
    return false;
}

static bool add_value(struct lgv_sweep_axis *x, size_t *room, const char *text, size_t size) {
    if (x->count >= MOST_POINTS || !lgv_grow(&x->text, room, x->count + 1, sizeof *x->text)) return false;
    x->text[x->count] = lgv_copy_n(text, size);
    return x->text[x->count++] != NULL;
}

/* from:to:number */
static bool read_range(const char *all, const char *text, struct lgv_sweep_axis *x, struct lgv_error *err) {
    char *end, number[40];
    size_t room = 0;
    double from = strtod(text, &end), to = *end == ':' ? strtod(end + 1, &end) : (double)NAN;
    unsigned long long n = *end == ':' && end[1] >= '0' && end[1] <= '9' ? strtoull(end + 1, &end, 10) : 0;
    if (*end || !isfinite(from) || !isfinite(to) || n < 1 || n > MOST_POINTS)
        return refuse(err, all, "a range is from:to:number, as in beta=0:1:11");
    for (unsigned long long i = 0; i < n; i++) {
        double part = n > 1 ? (double)i / (double)(n - 1) : 0;
        /* 0.1 and not 0.10000000000000001, where that is what is meant */
        double value = i + 1 == n && n > 1 ? to : from + (to - from) * part;
        snprintf(number, sizeof number, "%.12g", value);
        if (!add_value(x, &room, number, strlen(number))) return refuse(err, all, "out of memory");
    }
    return true;
}

static bool read_values(const char *all, const char *text, struct lgv_sweep_axis *x, struct lgv_error *err) {
    size_t room = 0;
    for (const char *s = text;; s++) {
        size_t n = strcspn(s, ",");
        if (n == 0) return refuse(err, all, "a value is empty");
        if (!add_value(x, &room, s, n)) return refuse(err, all, "too many values, or out of memory");
        s += n;
        if (!*s) return true;
    }
}

static bool read_axis(const char *text, struct lgv_sweep_axis *x, struct lgv_error *err) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) return refuse(err, text, "wanted is NAME=VALUES");
    if (!(x->name = lgv_copy_n(text, (size_t)(equals - text)))) return refuse(err, text, "out of memory");
    bool range = strchr(equals, ':') != NULL;
    if (!(range ? read_range : read_values)(text, equals + 1, x, err)) return false;
    x->value = lgv_new(x->count, sizeof *x->value);
    for (size_t i = 0; x->value && i < x->count; i++) {
        char *end;
        x->value[i] = strtod(x->text[i], &end);
        if (!*end && end != x->text[i]) continue;
        free(x->value);
        x->value = NULL;
    }
    return true;
}

static bool read_axes(const struct lgv_study_texts *t, struct lgv_sweep *s, struct lgv_error *err) {
    s->npoints = 1;
    if (!t->nover) return refuse(err, "", "at least one NAME=VALUES is needed, as in --over beta=0:1:11");
    for (size_t k = 0; k < t->nover; k++) {
        s->naxes = k + 1;
        if (!read_axis(t->over[k], &s->axis[k], err)) return false;
        for (size_t i = 0; i < k; i++)
            if (strcmp(s->axis[i].name, s->axis[k].name) == 0) return refuse(err, t->over[k], "given twice");
        if (s->npoints > MOST_POINTS / s->axis[k].count) return refuse(err, t->over[k], "too many points");
        s->npoints *= s->axis[k].count;
    }
    return true;
}

enum lgv_status lgv_sweep_read(const struct lgv_study_texts *t, struct lgv_sweep *out, struct lgv_error *err) {
    *out = (struct lgv_sweep){.common = !t->independent, .together = t->together};
    if (read_axes(t, out, err)) return LGV_OK;
    lgv_sweep_clear(out);
    return LGV_BAD_INPUT;
}
