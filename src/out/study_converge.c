/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A convergence study as JSON and as a table for the terminal.  The fields of the document are a contract and only
 * grow; numbers that are not finite are null. */
#include "out/study_compare.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

const char *lgv_convergence_order(double order, double stderror, char *out, size_t size) {
    if (stderror > 0 && isfinite(stderror)) return lgv_text_with_error(out, size, order, stderror);
    snprintf(out, size, "%.3f", order);
    return out;
}

const char *lgv_convergence_left_out(enum lgv_level_use use) {
    static const char *const word[LGV_LEVEL_USES] = {"", "no path", "round-off", "lost", "reference", "noise"};
    return word[use];
}

/* What most of the levels that are not fitted have in common. */
static enum lgv_level_use common_use(const struct lgv_convergence *c, const struct lgv_convergence_method *m) {
    size_t count[LGV_LEVEL_USES] = {0}, best = LGV_LEVEL_UNKNOWN;
    for (size_t l = 0; l < c->nlevels; l++) count[m->level[l].use]++;
    for (size_t u = LGV_LEVEL_UNKNOWN; u < LGV_LEVEL_USES; u++)
        if (count[u] > count[best]) best = u;
    return (enum lgv_level_use)best;
}

static const char *advise_until(const struct lgv_convergence *c, bool coarse, char *out, size_t size) {
    char until[40];
    out[0] = '\0';
    if (isfinite(c->until_enough))
        snprintf(out, size, "; --until %s would do", lgv_brief(until, sizeof until, c->until_enough, 6));
    else if (c->until_looked_at)
        snprintf(out, size, "; no shorter --until helps: %s",
                 coarse ? "name another --reference" : "take smaller steps");
    return out;
}

/* Why nothing is said. */
static void say_doubt(const struct lgv_convergence *c, const struct lgv_convergence_method *m, char *out, size_t size) {
    char until[80], finest[80], all[80];
    enum lgv_level_use use = m->doubt == LGV_DOUBT_LEVELS      ? common_use(c, m)
                             : m->doubt == LGV_DOUBT_SPREAD    ? LGV_LEVEL_SPREAD
                             : m->doubt == LGV_DOUBT_REFERENCE ? LGV_LEVEL_REFERENCE
                                                               : LGV_LEVEL_FITTED;
    size_t count = 0;
    for (size_t l = 0; l < c->nlevels; l++) count += m->level[l].use == use;
    advise_until(c, use == LGV_LEVEL_REFERENCE, until, sizeof until);
    lgv_convergence_order(m->finest, m->finest_stderr, finest, sizeof finest);
    lgv_convergence_order(m->order, m->order_stderr, all, sizeof all);
    if (m->doubt == LGV_DOUBT_PROMISE)
        snprintf(out, size, "no order is promised here, so there is nothing to compare with");
    else if (m->doubt == LGV_DOUBT_UNITS)
        snprintf(out, size, "not known how well: standard errors need more than %d paths", LGV_UNIT);
    else if (m->doubt == LGV_DOUBT_STDERR)
        snprintf(out, size,
                 "not known well enough to be compared with %g (%s at the two smallest steps; standard errors up to %g "
                 "are): take more paths",
                 m->expected, finest, LGV_ORDER_MOST_STDERR);
    else if (m->doubt == LGV_DOUBT_LAW)
        snprintf(out, size,
                 "no verdict: no power law at these steps (expected %g; %s over all, %s at the two smallest): take "
                 "other steps",
                 m->expected, all, finest);
    else if (use == LGV_LEVEL_SPREAD)
        snprintf(out, size,
                 "no verdict: at %zu of %zu levels the error is that of paths that have lost the solution, off by half "
                 "the spread of the states (%.2g) or more%s",
                 count, c->nlevels, c->spread, until);
    else if (use == LGV_LEVEL_REFERENCE)
        snprintf(out, size,
                 "no verdict: the reference is not reliable, at %zu of %zu levels its error (%.2g) is more than a "
                 "tenth of the error%s",
                 count, c->nlevels, c->quantity[m->quantity].reference_error, until);
    else if (use == LGV_LEVEL_ROUND_OFF)
        snprintf(out, size, "not enough signal: %zu of %zu levels are at round-off; take larger steps", count,
                 c->nlevels);
    else if (use == LGV_LEVEL_NOISE)
        snprintf(out, size,
                 "not enough signal: %zu of %zu levels cannot be told from noise; take more paths or larger steps",
                 count, c->nlevels);
    else
        snprintf(out, size, "not enough signal: no path arrived at %zu of %zu levels", count, c->nlevels);
}

const char *lgv_convergence_verdict(const struct lgv_convergence *c, const struct lgv_convergence_method *m, char *out,
                                    size_t size) {
    double off = fabs(m->order - m->expected), errors = off / m->order_stderr;
    char far[60] = "", finest[80];
    if (m->order_stderr > 0) snprintf(far, sizeof far, ", %.1f standard errors", errors);
    lgv_convergence_order(m->finest, m->finest_stderr, finest, sizeof finest);
    switch (m->verdict) {
    case LGV_ORDER_AGREES:
        if (m->order_stderr > 0 && errors <= LGV_ORDER_ERRORS)
            snprintf(out, size, "as expected: %g, %.1f standard errors away (%g are allowed)", m->expected, errors,
                     LGV_ORDER_ERRORS);
        else
            snprintf(out, size, "as expected: %g, off by %.2g (%g is allowed); at the two smallest steps %s",
                     m->expected, off, LGV_ORDER_OFF, finest);
        break;
    case LGV_ORDER_BENDS:
        snprintf(out, size,
                 "as expected, %g, at the two smallest steps (%s); at the larger ones the law does not hold yet",
                 m->expected, finest);
        break;
    case LGV_ORDER_MIXED:
        snprintf(out, size,
                 "better than the expected %g, up to the order %g without noise: promised is what holds for all steps",
                 m->expected, m->method->order);
        break;
    case LGV_ORDER_BETTER:
        snprintf(out, size, "better than the expected %g (%s at the two smallest steps)", m->expected, finest);
        break;
    case LGV_ORDER_DIFFERS:
        snprintf(out, size, "%s than the expected %g (off by %.2g%s); at the two smallest steps %s",
                 c->weak ? "worse" : "WORSE", m->expected, off, far, finest);
        break;
    default: say_doubt(c, m, out, size);
    }
    return out;
}

const char *lgv_convergence_banner(const struct lgv_convergence *c, char *out, size_t size) {
    size_t good = 0, better = 0, worse = 0, unknown = 0;
    for (size_t k = 0; k < c->nrows; k++) {
        enum lgv_order_verdict v = c->method[k].verdict;
        good += v == LGV_ORDER_AGREES || v == LGV_ORDER_BENDS;
        better += v == LGV_ORDER_MIXED || v == LGV_ORDER_BETTER;
        worse += v == LGV_ORDER_DIFFERS;
        unknown += v == LGV_ORDER_NONE;
    }
    if (c->nrows == 1) {
        snprintf(out, size, "The order is %s.",
                 good     ? "as expected"
                 : better ? "better than expected"
                 : worse  ? "NOT as expected"
                          : "not known well enough");
        return out;
    }
    const struct {
        size_t count;
        const char *text;
    } part[] = {{good, "as expected"},
                {better, "better than expected"},
                {worse, "NOT as expected"},
                {unknown, "not known well enough"}};
    int used = c->nquantities == 1 ? snprintf(out, size, "Orders of %zu methods: ", c->nmethods)
                                   : snprintf(out, size, "%zu orders: ", c->nrows);
    const char *separator = "";
    for (size_t i = 0; i < 4 && used > 0 && (size_t)used < size; i++) {
        if (!part[i].count) continue;
        if (part[i].count == c->nrows)
            used += snprintf(out + used, size - (size_t)used, "all %s", part[i].text);
        else
            used += snprintf(out + used, size - (size_t)used, "%s%zu %s", separator, part[i].count, part[i].text);
        separator = ", ";
    }
    if (used > 0 && (size_t)used < size) snprintf(out + used, size - (size_t)used, ".");
    return out;
}

void lgv_convergence_reference(const struct lgv_convergence *c, char *out, size_t size) {
    char step[40], error[40];
    if (!c->reference) {
        snprintf(out, size, "the exact solution of the model file");
        return;
    }
    int used = snprintf(out, size, "%s at step %s on the same paths", c->reference->name,
                        lgv_brief(step, sizeof step, c->reference_step, 6));
    if (used < 0 || (size_t)used >= size) return;
    if (!isfinite(c->quantity[0].reference_error)) {
        snprintf(out + used, size - (size_t)used, ", which FAILED on all paths");
        return;
    }
    for (size_t q = 0; q < c->nquantities && (size_t)used < size; q++) {
        char name[60];
        used += snprintf(out + used, size - (size_t)used, "%s%s%s", q == 0 ? ", own error about " : ", ",
                         lgv_brief(error, sizeof error, c->quantity[q].reference_error, 2),
                         c->nquantities > 1 ? " of " : "");
        if (c->nquantities > 1 && (size_t)used < size)
            used += snprintf(out + used, size - (size_t)used, "%s",
                             lgv_plain(name, sizeof name, c->quantity[q].name));
    }
    if (!c->reference_fine && (size_t)used < size)
        snprintf(out + used, size - (size_t)used, ": MORE than a tenth of some errors, which are left out of the fits");
}

const char *lgv_convergence_of(const struct lgv_convergence *c, char *out, size_t size) {
    char name[60];
    size_t used = 0;
    out[0] = '\0';
    for (size_t q = 0; !c->whole && q < c->nquantities && used < size; q++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", q ? ", " : "",
                                 lgv_plain(name, sizeof name, c->quantity[q].name));
    return out;
}

/* ---- JSON ---- */

static json_t *real(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *text(const char *s) {
    char *plain = s ? lgv_plain_copy(s) : NULL;
    json_t *out = !s ? json_null() : plain ? json_string(plain) : NULL;
    free(plain);
    return out;
}

static json_t *count(uint64_t n) {
    char digits[32];
    if (n <= INT64_MAX) return json_integer((json_int_t)n);
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)n); /* a seed may be so large; readers would round it */
    return json_string(digits);
}

static bool put(json_t *object, const char *name, json_t *value) {
    return json_object_set_new(object, name, value) == 0; /* refuses NULL: memory running out makes all of it fail */
}

static json_t *kept(json_t *object, bool good) {
    if (good) return object;
    json_decref(object);
    return NULL;
}

static json_t *level_json(const struct lgv_convergence *c, const struct lgv_convergence_level *l) {
    json_t *d = json_object();
    bool good = d && put(d, "step", real(l->step)) && put(d, "error", real(l->error)) &&
                put(d, "stderr", real(l->stderror)) && put(d, "steps", count(l->steps)) &&
                put(d, "fitted", json_boolean(l->use == LGV_LEVEL_FITTED)) &&
                put(d, "left_out", l->use ? json_string(lgv_convergence_left_out(l->use)) : json_null()) &&
                put(d, "paths", count(l->paths)) &&
                put(d, "failed", count(l->failed)) && put(d, "truncated", count(l->truncated)) &&
                put(d, "seconds", real(l->seconds)) && put(d, "gradient_evaluations", real(l->evaluations)) &&
                (!c->weak || put(d, "bias", real(l->bias)));
    return kept(d, good);
}

static bool put_method(json_t *d, const struct lgv_convergence *c, const struct lgv_convergence_method *m) {
    static const char *const word[] = {"not enough signal", "agrees",  "agrees at the smallest steps",
                                       "noise is small",    "differs", "better than expected"};
    char why[400] = "";
    if (m->verdict == LGV_ORDER_NONE) say_doubt(c, m, why, sizeof why);
    const char *verdict = strncmp(why, "no verdict", 10) == 0 ? "no verdict" : word[m->verdict];
    json_t *levels = json_array();
    bool good = levels != NULL;
    for (size_t l = 0; good && l < c->nlevels; l++)
        good = json_array_append_new(levels, level_json(c, &m->level[l])) == 0;
    good = put(d, "levels", levels) && good;
    return good && put(d, "method", text(m->method->name)) && put(d, "order", real(m->order)) &&
           put(d, "order_stderr", real(m->order_stderr)) && put(d, "order_finest", real(m->finest)) &&
           put(d, "order_finest_stderr", real(m->finest_stderr)) && put(d, "expected_order", real(m->expected)) &&
           put(d, "expected_reason", text(m->expected_reason)) && put(d, "verdict", json_string(verdict)) &&
           put(d, "no_verdict_because", why[0] ? text(why) : json_null()) &&
           (c->whole || put(d, "observe", text(c->quantity[m->quantity].name))) &&
           (c->nquantities == 1 || put(d, "reference_error", real(c->quantity[m->quantity].reference_error)));
}

static json_t *methods_json(const struct lgv_convergence *c) {
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t k = 0; good && k < c->nrows; k++) {
        json_t *d = json_object();
        good = d && put_method(d, c, &c->method[k]);
        good = json_array_append_new(list, d) == 0 && good;
    }
    return kept(list, good);
}

static json_t *parameters_json(const struct lgv_convergence *c) {
    json_t *d = json_object();
    bool good = d != NULL;
    for (size_t i = 0; good && i < c->nparameters; i++) good = put(d, c->parameter[i], real(c->parameter_value[i]));
    return kept(d, good);
}

char *lgv_json_convergence(const struct lgv_convergence *c) {
    json_t *d = json_object();
    char *out = NULL, of[400];
    bool good =
        d && put(d, "kind", json_string(c->weak ? "weak" : "strong")) && put(d, "model", text(c->model_name)) &&
        put(d, "file", text(c->model_file)) && put(d, "parameters", parameters_json(c)) &&
        (c->nrows != 1 || put_method(d, c, &c->method[0])) &&
        put(d, "reference", json_string(c->reference ? c->reference->name : "exact")) &&
        put(d, "reference_step", real(c->reference_step)) &&
        put(d, "reference_error", real(c->quantity[0].reference_error)) &&
        put(d, "reference_fine", json_boolean(c->reference_fine)) &&
        put(d, "reference_failed", count(c->reference_failed)) &&
        (c->whole || put(d, "observe", json_string(lgv_convergence_of(c, of, sizeof of)))) &&
        put(d, "spread", real(c->spread)) && put(d, "until_enough", real(c->until_enough)) &&
        put(d, "start", real(c->t0)) && put(d, "until", real(c->until)) && put(d, "paths", count(c->paths)) &&
        put(d, "seed", count(c->seed)) && put(d, "failed", count(lgv_convergence_failed(c))) &&
        put(d, "noise_commutes", c->noise_commutes < 0 ? json_null() : json_boolean(c->noise_commutes)) &&
        put(d, "interrupted", json_boolean(c->interrupted)) && put(d, "seconds", real(c->seconds)) &&
        put(d, "threads", count(c->threads)) && put(d, "version", json_string(LGV_VERSION)) &&
        put(d, "compiler", text(c->compiler)) && put(d, "date", text(c->date)) && put(d, "command", text(c->command)) &&
        put(d, "method_reason", text(c->chosen)) && put(d, "methods", methods_json(c));
    if (good && c->target > 0)
        good = put(d, "target", real(c->target)) && put(d, "target_reached", json_boolean(c->target_reached));
    if (good) out = json_dumps(d, JSON_INDENT(2));
    json_decref(d);
    return out;
}

/* ---- terminal ---- */

static void print_levels(FILE *out, const struct lgv_convergence *c, const struct lgv_convergence_method *m) {
    const char *head = c->weak ? "weak error" : c->random ? "RMS error" : "error";
    fprintf(out, "  %12s  ", "step");
    lgv_study_pad(out, head, 25);
    fprintf(out, "%8s %14s %8s %8s\n", "local", "gradients/path", "seconds", "failed");
    for (size_t l = 0; l < c->nlevels; l++) {
        const struct lgv_convergence_level *x = &m->level[l], *y = l ? x - 1 : NULL;
        char step[32], error[80], local[32] = "", gradients[32];
        if (y && !x->use && !y->use)
            snprintf(local, sizeof local, "%.3f", log(y->error / x->error) / log(y->step / x->step));
        if (x->stderror > 0)
            lgv_text_with_error(error, sizeof error, x->error, x->stderror);
        else
            lgv_brief(error, sizeof error, x->error, 4);
        fprintf(out, "  %12s  ", lgv_brief(step, sizeof step, x->step, 6));
        lgv_study_pad(out, error, 25);
        fprintf(out, "%8s %14s %8.2g %8llu%s%s\n", local, lgv_brief(gradients, sizeof gradients, x->evaluations, 6),
                x->seconds, (unsigned long long)x->failed, x->use ? "  not fitted: " : "",
                lgv_convergence_left_out(x->use));
    }
}

void lgv_convergence_summary(FILE *out, const struct lgv_convergence *c, bool colour) {
    const char *bold = colour ? "\033[1m" : "", *good = colour ? "\033[32m" : "", *bad = colour ? "\033[1;31m" : "",
               *off = colour ? "\033[0m" : "";
    char line[600], a[80], b[40];
    fprintf(out, "%s%s%s: %s convergence", bold, lgv_plain(line, sizeof line, c->model_name), off,
            c->weak ? "weak" : "strong");
    if (!c->whole) fprintf(out, " of %s", lgv_convergence_of(c, line, sizeof line));
    fprintf(out, ", until %s, %s path%s, seed %llu, %.3g s\n", lgv_brief(a, sizeof a, c->until, 12),
            lgv_spaced(b, sizeof b, c->paths), c->paths == 1 ? "" : "s", (unsigned long long)c->seed, c->seconds);
    lgv_convergence_reference(c, line, sizeof line);
    fprintf(out, "  reference  %s\n", line);
    if (c->chosen) fprintf(out, "  method     chosen by `auto`: %s\n", c->chosen);
    for (size_t k = 0; k < c->nrows; k++) {
        const struct lgv_convergence_method *m = &c->method[k];
        bool wrong = m->verdict == LGV_ORDER_NONE || (m->verdict == LGV_ORDER_DIFFERS && !c->weak);
        fprintf(out, "\n%s%s%s", bold, m->method->name, off);
        if (c->nquantities > 1) fprintf(out, ", %s", lgv_plain(line, 60, c->quantity[m->quantity].name));
        fputc('\n', out);
        print_levels(out, c, m);
        if (isfinite(m->order))
            fprintf(out, "  %sorder %s%s, ", bold, lgv_convergence_order(m->order, m->order_stderr, a, sizeof a), off);
        else
            fputs("  ", out);
        fprintf(out, "%s%s%s\n", wrong ? bad : good, lgv_convergence_verdict(c, m, line, sizeof line), off);
    }
    if (c->nrows > 1) fprintf(out, "\n%s\n", lgv_convergence_banner(c, line, sizeof line));
    uint64_t failed = lgv_convergence_failed(c);
    if (failed)
        fprintf(out, "\n%s%llu failed path%s%s left out where they failed (%llu in the reference)\n", bad,
                (unsigned long long)failed, failed == 1 ? "" : "s", off, (unsigned long long)c->reference_failed);
    if (c->target > 0 && c->random)
        fprintf(out, "\ntarget: standard errors of the orders below %g %s\n", c->target,
                c->target_reached ? "reached" : "NOT reached");
}
