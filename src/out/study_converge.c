/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A convergence study as JSON and as a table for the terminal.  The fields of the document are a contract and only
 * grow; numbers that are not finite are null. */
#include "out/private.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

const char *lgv_plus_minus(double stderror, char *out, size_t size) {
    out[0] = '\0';
    if (stderror > 0 && isfinite(stderror)) snprintf(out, size, " ± %.2g", stderror);
    return out;
}

const char *lgv_convergence_verdict(const struct lgv_convergence *c, const struct lgv_convergence_method *m, char *out,
                                    size_t size) {
    double off = fabs(m->order - m->expected), errors = off / m->order_stderr;
    char far[60] = "", finest[32];
    bool lower = m->order < m->expected;
    if (m->order_stderr > 0) snprintf(far, sizeof far, ", %.1f standard errors", errors);
    lgv_plus_minus(m->finest_stderr, finest, sizeof finest);
    switch (m->verdict) {
    case LGV_ORDER_AGREES:
        if (m->order_stderr > 0 && errors <= LGV_ORDER_ERRORS)
            snprintf(out, size, "as expected: %g, %.1f standard errors away (%g are allowed)", m->expected, errors,
                     LGV_ORDER_ERRORS);
        else
            snprintf(out, size, "as expected: %g, off by %.2g (%g is allowed); at the two smallest steps %.3f",
                     m->expected, off, LGV_ORDER_OFF, m->finest);
        break;
    case LGV_ORDER_BENDS:
        snprintf(out, size,
                 "as expected, %g, at the two smallest steps (%.3f%s); at the larger ones the law does not hold yet",
                 m->expected, m->finest, finest);
        break;
    case LGV_ORDER_MIXED:
        snprintf(out, size,
                 "better than the expected %g, up to the order %g without noise: promised is what holds for all steps",
                 m->expected, m->method->order);
        break;
    case LGV_ORDER_BETTER:
        snprintf(out, size, "better than the expected %g (%.3f%s at the two smallest steps)", m->expected, m->finest,
                 finest);
        break;
    case LGV_ORDER_DIFFERS:
        if (lower)
            snprintf(out, size, "%s than the expected %g (off by %.2g%s); at the two smallest steps %.3f%s",
                     c->weak ? "worse" : "WORSE", m->expected, off, far, m->finest, finest);
        else
            snprintf(out, size, "%s power law at these steps (expected %g; at the two smallest steps %.3f%s)",
                     c->weak ? "no" : "NO", m->expected, m->finest, finest);
        break;
    default:
        if (m->fitted >= 2 && !isfinite(m->order_stderr))
            snprintf(out, size, "not known how well: standard errors need more than %d paths", LGV_UNIT);
        else if (m->fitted >= 2)
            snprintf(out, size, "not known well enough to be compared with %g: take more paths", m->expected);
        else
            snprintf(out, size, "not enough signal: %zu of %zu levels can be told from %s", m->fitted, c->nlevels,
                     c->weak ? "noise; take more paths or larger steps" : "the error of the reference");
    }
    return out;
}

const char *lgv_convergence_banner(const struct lgv_convergence *c, char *out, size_t size) {
    size_t good = 0, better = 0, worse = 0, unknown = 0;
    for (size_t k = 0; k < c->nmethods; k++) {
        enum lgv_order_verdict v = c->method[k].verdict;
        good += v == LGV_ORDER_AGREES || v == LGV_ORDER_BENDS;
        better += v == LGV_ORDER_MIXED || v == LGV_ORDER_BETTER;
        worse += v == LGV_ORDER_DIFFERS;
        unknown += v == LGV_ORDER_NONE;
    }
    if (c->nmethods == 1) {
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
    int used = snprintf(out, size, "Orders of %zu methods: ", c->nmethods);
    const char *separator = "";
    for (size_t i = 0; i < 4 && used > 0 && (size_t)used < size; i++) {
        if (!part[i].count) continue;
        if (part[i].count == c->nmethods)
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
    if (!isfinite(c->reference_error))
        snprintf(out + used, size - (size_t)used, ", which FAILED on all paths");
    else
        snprintf(out + used, size - (size_t)used, ", own error about %s%s",
                 lgv_brief(error, sizeof error, c->reference_error, 2),
                 c->reference_fine ? "" : ": MORE than a tenth of the smallest error, which is not reliable then");
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
                put(d, "fitted", json_boolean(!l->noise)) && put(d, "paths", count(l->paths)) &&
                put(d, "failed", count(l->failed)) && put(d, "truncated", count(l->truncated)) &&
                put(d, "seconds", real(l->seconds)) && put(d, "gradient_evaluations", real(l->evaluations)) &&
                (!c->weak || put(d, "bias", real(l->bias)));
    return kept(d, good);
}

static bool put_method(json_t *d, const struct lgv_convergence *c, const struct lgv_convergence_method *m) {
    static const char *const word[] = {"not enough signal", "agrees",  "agrees at the smallest steps",
                                       "noise is small",    "differs", "better than expected"};
    json_t *levels = json_array();
    bool good = levels != NULL;
    for (size_t l = 0; good && l < c->nlevels; l++)
        good = json_array_append_new(levels, level_json(c, &m->level[l])) == 0;
    good = put(d, "levels", levels) && good;
    return good && put(d, "method", text(m->method->name)) && put(d, "order", real(m->order)) &&
           put(d, "order_stderr", real(m->order_stderr)) && put(d, "order_finest", real(m->finest)) &&
           put(d, "order_finest_stderr", real(m->finest_stderr)) && put(d, "expected_order", real(m->expected)) &&
           put(d, "expected_reason", text(m->expected_reason)) && put(d, "verdict", json_string(word[m->verdict]));
}

static json_t *methods_json(const struct lgv_convergence *c) {
    json_t *list = json_array();
    bool good = list != NULL;
    for (size_t k = 0; good && k < c->nmethods; k++) {
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
    char *out = NULL;
    bool good =
        d && put(d, "kind", json_string(c->weak ? "weak" : "strong")) && put(d, "model", text(c->model_name)) &&
        put(d, "file", text(c->model_file)) && put(d, "parameters", parameters_json(c)) &&
        (c->nmethods != 1 || put_method(d, c, &c->method[0])) &&
        put(d, "reference", json_string(c->reference ? c->reference->name : "exact")) &&
        put(d, "reference_step", real(c->reference_step)) && put(d, "reference_error", real(c->reference_error)) &&
        put(d, "reference_fine", json_boolean(c->reference_fine)) &&
        put(d, "reference_failed", count(c->reference_failed)) && (!c->weak || put(d, "observe", text(c->observe))) &&
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
    fprintf(out, "  %12s %12s ", "step", head);
    if (c->random) fprintf(out, "%11s ", "± stderr"); /* ± are two bytes */
    fprintf(out, "%8s %14s %8s %8s\n", "local", "gradients/path", "seconds", "failed");
    for (size_t l = 0; l < c->nlevels; l++) {
        const struct lgv_convergence_level *x = &m->level[l], *y = l ? x - 1 : NULL;
        char step[32], error[32], se[32], local[32] = "", gradients[32];
        if (y && !x->noise && !y->noise)
            snprintf(local, sizeof local, "%.3f", log(y->error / x->error) / log(y->step / x->step));
        fprintf(out, "  %12s %12s ", lgv_brief(step, sizeof step, x->step, 6),
                lgv_brief(error, sizeof error, x->error, 4));
        if (c->random) fprintf(out, "%10s ", lgv_brief(se, sizeof se, x->stderror, 2));
        fprintf(out, "%8s %14s %8.2g %8llu%s\n", local, lgv_brief(gradients, sizeof gradients, x->evaluations, 6),
                x->seconds, (unsigned long long)x->failed, x->noise ? "  not fitted" : "");
    }
}

void lgv_convergence_summary(FILE *out, const struct lgv_convergence *c, bool colour) {
    const char *bold = colour ? "\033[1m" : "", *good = colour ? "\033[32m" : "", *bad = colour ? "\033[1;31m" : "",
               *off = colour ? "\033[0m" : "";
    char line[400], a[40], b[40];
    fprintf(out, "%s%s%s: %s convergence", bold, lgv_plain(line, sizeof line, c->model_name), off,
            c->weak ? "weak" : "strong");
    if (c->weak) fprintf(out, " of %s", lgv_plain(line, 60, c->observe));
    fprintf(out, ", until %s, %s path%s, seed %llu, %.3g s\n", lgv_brief(a, sizeof a, c->until, 12),
            lgv_grouped(b, sizeof b, c->paths), c->paths == 1 ? "" : "s", (unsigned long long)c->seed, c->seconds);
    lgv_convergence_reference(c, line, sizeof line);
    fprintf(out, "  reference  %s\n", line);
    if (c->chosen) fprintf(out, "  method     chosen by `auto`: %s\n", c->chosen);
    for (size_t k = 0; k < c->nmethods; k++) {
        const struct lgv_convergence_method *m = &c->method[k];
        bool wrong = m->verdict == LGV_ORDER_NONE || (m->verdict == LGV_ORDER_DIFFERS && !c->weak);
        fprintf(out, "\n%s%s%s\n", bold, m->method->name, off);
        print_levels(out, c, m);
        if (isfinite(m->order))
            fprintf(out, "  %sorder %.3f%s%s, ", bold, m->order, off, lgv_plus_minus(m->order_stderr, a, sizeof a));
        else
            fputs("  ", out);
        fprintf(out, "%s%s%s\n", wrong ? bad : good, lgv_convergence_verdict(c, m, line, sizeof line), off);
    }
    if (c->nmethods > 1) fprintf(out, "\n%s\n", lgv_convergence_banner(c, line, sizeof line));
    uint64_t failed = lgv_convergence_failed(c);
    if (failed)
        fprintf(out, "\n%s%llu failed path%s%s left out where they failed (%llu in the reference)\n", bad,
                (unsigned long long)failed, failed == 1 ? "" : "s", off, (unsigned long long)c->reference_failed);
    if (c->target > 0 && c->random)
        fprintf(out, "\ntarget: standard errors of the orders below %g %s\n", c->target,
                c->target_reached ? "reached" : "NOT reached");
}
