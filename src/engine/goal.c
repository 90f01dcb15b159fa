/* SPDX-License-Identifier: BSD-3-Clause
 *
 * until_stderr: paths are added until the standard error of the mean of an observable at the end is small enough.  The
 * bits are those of a run with that number of paths from the beginning. */
#include "engine/private.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4.0 /* times as many paths at once, for an error that is not known well yet */
#define NAMED 12 /* observables in a message */
#define HOPELESS 1000 /* paths of which none has come to the end: no others are tried */

static enum lgv_status set_paths(struct lgv_engine *e, uint64_t paths, struct lgv_error *err) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)paths);
    return lgv_engine_option(e, "paths", text, err);
}

/* NAME=E.  *size: of the name. */
static enum lgv_status read_goal(const char *text, size_t *size, double *limit, struct lgv_error *err) {
    const char *equals = strrchr(text, '=');
    char *end = NULL, plain[LGV_WORD_SIZE];
    *size = equals ? (size_t)(equals - text) : 0;
    *limit = equals ? strtod(equals + 1, &end) : 0;
    if (*size > 0 && end != equals + 1 && !*end && *limit > 0 && isfinite(*limit)) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT, "until_stderr: NAME=E is wanted, an observable and a number above 0, not %s",
                    lgv_plain(plain, sizeof plain, text));
}

static enum lgv_status no_observable(const struct lgv_watch *w, const char *name, size_t size, struct lgv_error *err) {
    struct lgv_text known = {0};
    char plain[LGV_WORD_SIZE], wanted[LGV_WORD_SIZE];
    snprintf(wanted, sizeof wanted, "%.*s", (int)size, name);
    for (size_t i = 0; i < w->count && i < NAMED; i++)
        lgv_text_add(&known, "%s%s", i ? ", " : "", lgv_plain(plain, sizeof plain, w->item[i].name));
    if (w->count > NAMED) lgv_text_add(&known, ", ...");
    enum lgv_status status = lgv_fail(err, LGV_BAD_INPUT, "until_stderr: there is no observable %s; there are %s",
                                      lgv_plain(plain, sizeof plain, wanted), known.data ? known.data : "none");
    lgv_text_free(&known);
    return status;
}

/* Of an engine that is prepared. */
static enum lgv_status find_goal(const struct lgv_engine *e, size_t *series, double *limit, struct lgv_error *err) {
    const struct lgv_watch *w = &e->kernel.watch;
    const char *text = e->settings.until_stderr;
    size_t size;
    enum lgv_status status = read_goal(text, &size, limit, err);
    for (*series = 0; !status && *series < w->count; ++*series) {
        const char *name = w->item[*series].name;
        if (strlen(name) == size && strncmp(name, text, size) == 0) return LGV_OK;
    }
    return status ? status : no_observable(w, text, size, err);
}

/* An error that is not known becomes so with more paths where fewer than two have come to the end; where more have,
 * some of their values are infinite. */
static bool hopeless(const struct lgv_result *r, double error) {
    uint64_t good = r->paths - r->failed - r->stopped;
    return !isfinite(error) && (good > 1 || (good == 0 && r->paths >= HOPELESS));
}

/* How many paths it takes to reach the goal; the number there is when it is reached, or never will be. */
static enum lgv_status paths_wanted(struct lgv_engine *e, uint64_t *paths, struct lgv_error *err) {
    struct lgv_result *r = NULL;
    double limit;
    size_t series;
    enum lgv_status status = find_goal(e, &series, &limit, err);
    if (!status) status = lgv_engine_finish(e, &r, err);
    if (!r) return status;
    /* As 1/sqrt(paths), a little more at a time than that. */
    double error = r->series[series].err[r->ntimes - 1], ratio = error / limit;
    *paths = r->paths;
    if (!(error <= limit) && !hopeless(r, error)) {
        double more = isfinite(ratio) ? fmin(fmax(1.05 * ratio * ratio, 1.1), MOST) : MOST;
        *paths = ((uint64_t)ceil((double)r->paths * more) + LGV_UNIT - 1) / LGV_UNIT * LGV_UNIT;
    }
    lgv_result_free(r);
    return LGV_OK;
}

enum lgv_status lgv_engine_aim(struct lgv_engine *e, struct lgv_error *err) {
    size_t series;
    double limit;
    if (!e->settings.until_stderr[0]) return lgv_engine_ready(e, err);
    if (e->settings.increments)
        return lgv_fail(err, LGV_BAD_INPUT, "until_stderr: increments are given, for so many paths and no more");
    uint64_t paths = lgv_engine_paths(e);
    enum lgv_status status = LGV_OK;
    if (paths % LGV_UNIT) status = set_paths(e, (paths / LGV_UNIT + 1) * LGV_UNIT, err);
    if (!status) status = lgv_engine_ready(e, err);
    return status ? status : find_goal(e, &series, &limit, err);
}

enum lgv_status lgv_engine_grow(struct lgv_engine *e, bool *more, struct lgv_error *err) {
    uint64_t wanted = 0, first, end;
    *more = false;
    if (!e->settings.until_stderr[0]) return LGV_OK;
    enum lgv_status status = paths_wanted(e, &wanted, err);
    struct lgv_error why = {0};
    if (!status && set_paths(e, wanted, &why) != LGV_OK)
        return lgv_fail(err, LGV_CANNOT_RUN, "until_stderr: not so many as %llu paths: %s", (unsigned long long)wanted,
                        why.message);
    *more = !status && lgv_engine_missing(e, &first, &end);
    return status;
}
