/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The arrays of a result: one table, from which results.h5 is written and read, and which serves lgv_result_array and
 * JSON.  A row is an array of struct lgv_result, or of each series or histogram in it, by its place in results.h5.
 * Arrays that the structs do not hold in one array are gathered when they are asked for. */
#include "stats/stats.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the structs do not hold in one array ---- */

static void *gather_index(const struct lgv_result *r) {
    uint64_t *out = lgv_new(r->nsamples + 1, sizeof *out);
    for (size_t i = 0; out && i < r->nsamples; i++) out[i] = r->sample[i].path;
    return out;
}

static bool scatter_index(struct lgv_result *r, const void *data, size_t n) {
    const uint64_t *index = data;
    if (!(r->sample = lgv_new(n + 1, sizeof *r->sample))) return false;
    r->nsamples = n;
    for (size_t i = 0; i < n; i++) r->sample[i].path = index[i];
    return true;
}

static double **sample_values(const struct lgv_result *r, size_t i, bool dense) {
    return dense ? &r->sample[i].dense : &r->sample[i].value;
}

static void *gather_samples(const struct lgv_result *r, size_t times, bool dense) {
    size_t each = r->nseries * times;
    double *out = lgv_new(r->nsamples * each + 1, sizeof *out);
    for (size_t i = 0; out && each > 0 && i < r->nsamples; i++)
        memcpy(out + i * each, *sample_values(r, i, dense), each * sizeof *out);
    return out;
}

static bool scatter_samples(struct lgv_result *r, const void *data, size_t times, bool dense) {
    size_t each = r->nseries * times;
    for (size_t i = 0; i < r->nsamples; i++) {
        double *own = lgv_new(each ? each : 1, sizeof *own);
        *sample_values(r, i, dense) = own;
        if (!own) return false;
        if (each) memcpy(own, (const double *)data + i * each, each * sizeof *own);
    }
    return true;
}

static void *gather_values(const struct lgv_result *r) {
    return gather_samples(r, r->ntimes, false);
}
static bool scatter_values(struct lgv_result *r, const void *data, size_t n) {
    (void)n;
    return scatter_samples(r, data, r->ntimes, false);
}
static void *gather_dense(const struct lgv_result *r) {
    return gather_samples(r, r->ndense, true);
}
static bool scatter_dense(struct lgv_result *r, const void *data, size_t n) {
    (void)n;
    return scatter_samples(r, data, r->ndense, true);
}

/* Columns of the list of failures. */
#define FAILURES(column, get, set)                                                                                     \
    static void *gather_failed_##column(const struct lgv_result *r) {                                                  \
        uint64_t *out = lgv_new(r->nfailures + 1, sizeof *out);                                                        \
        for (size_t i = 0; out && i < r->nfailures; i++) out[i] = get;                                                 \
        return out;                                                                                                    \
    }                                                                                                                  \
    static bool scatter_failed_##column(struct lgv_result *r, const void *data, size_t n) {                            \
        const uint64_t *in = data;                                                                                     \
        if (!r->failure && !(r->failure = lgv_new(n + 1, sizeof *r->failure))) return false;                           \
        r->nfailures = n;                                                                                              \
        for (size_t i = 0; i < n; i++) set;                                                                            \
        return true;                                                                                                   \
    }
FAILURES(path, r->failure[i].path, r->failure[i].path = in[i])
FAILURES(step, r->failure[i].step, r->failure[i].step = in[i])
FAILURES(reason, (uint64_t)r->failure[i].reason, r->failure[i].reason = in[i] <= INT_MAX ? (int)in[i] : -1)

/* One number of every verdict. */
#define VERDICTS(column)                                                                                               \
    static void *gather_##column(const struct lgv_result *r) {                                                         \
        double *out = lgv_new(r->nverdicts + 1, sizeof *out);                                                          \
        for (size_t i = 0; out && i < r->nverdicts; i++) out[i] = r->verdict[i].column;                                \
        return out;                                                                                                    \
    }
VERDICTS(value)
VERDICTS(error)
VERDICTS(limit)
VERDICTS(claim)
VERDICTS(holds)

/* ---- the table ---- */

#define AT(field) .offset = offsetof(struct lgv_result, field)
#define OF_SERIES(label, field, what)                                                                                  \
    {                                                                                                                  \
        .group = LGV_ARRAYS_STATISTICS, .name = label, .ndim = 1, .size = {LGV_SIZE_TIMES}, .unit = SAME, .doc = what, \
        .offset = offsetof(struct lgv_series, field)                                                                   \
    }
#define SAME "that of the series"
#define QUANTILE(label, k, what) OF_SERIES(label, quantile[k], what " of the first paths at every output time")
#define FAILED(column, first, what)                                                                                    \
    {                                                                                                                  \
        .group = "failures", .name = #column, .type = LGV_ARRAY_COUNT, .ndim = 1, .size = {LGV_SIZE_FAILURES},         \
        .defines = first, .unit = "", .doc = what, .gather = gather_failed_##column,                                   \
        .scatter = scatter_failed_##column                                                                             \
    }
#define VERDICT(column, what)                                                                                          \
    {                                                                                                                  \
        .group = "certificate", .name = #column, .ndim = 1, .size = {LGV_SIZE_VERDICTS}, .unit = "", .doc = what,      \
        .derived = true, .optional = true, .gather = gather_##column                                                   \
    }

/* A row that defines a size comes before the others that have it. */
const struct lgv_array_row lgv_array_rows[] = {
    {.group = "", .name = "time", .ndim = 1, .size = {LGV_SIZE_TIMES}, .defines = true, .unit = "time",
     .doc = "output times", AT(time)},
    {.group = "", .name = "alive", .type = LGV_ARRAY_COUNT, .ndim = 1, .size = {LGV_SIZE_TIMES}, .unit = "paths",
     .doc = "paths behind the statistics at every output time", AT(alive)},
    OF_SERIES("mean", mean, "mean over the paths alive, at every output time"),
    OF_SERIES("std", std, "standard deviation over the paths alive"),
    OF_SERIES("stderr", err, "standard error of the mean"),
    OF_SERIES("min", min, "smallest value"),
    OF_SERIES("max", max, "largest value"),
    QUANTILE("q05", 0, "5 % quantile"),
    QUANTILE("q25", 1, "25 % quantile"),
    QUANTILE("q50", 2, "median"),
    QUANTILE("q75", 3, "75 % quantile"),
    QUANTILE("q95", 4, "95 % quantile"),
    {.group = LGV_ARRAYS_HISTOGRAMS, .name = "edge", .ndim = 1, .size = {LGV_SIZE_EDGES}, .defines = true,
     .unit = SAME, .doc = "edges of the bins", .offset = offsetof(struct lgv_histogram, edge)},
    {.group = LGV_ARRAYS_HISTOGRAMS, .name = "count", .ndim = 1, .size = {LGV_SIZE_BINS}, .unit = "paths",
     .doc = "values at the end in every bin", .offset = offsetof(struct lgv_histogram, count)},
    {.group = "paths", .name = "index", .type = LGV_ARRAY_COUNT, .ndim = 1, .size = {LGV_SIZE_SAMPLES},
     .defines = true, .unit = "", .doc = "numbers of the paths that are kept", .gather = gather_index,
     .scatter = scatter_index},
    {.group = "paths", .name = "value", .ndim = 3, .size = {LGV_SIZE_SAMPLES, LGV_SIZE_SERIES, LGV_SIZE_TIMES},
     .unit = SAME, .doc = "kept paths at the output times, [path][series][time]; NaN after a failure",
     .gather = gather_values, .scatter = scatter_values},
    {.group = "paths", .name = "dense_time", .ndim = 1, .size = {LGV_SIZE_DENSE}, .defines = true, .optional = true,
     .unit = "time", .doc = "times at which kept paths are known", AT(dense_time)},
    {.group = "paths", .name = "dense", .ndim = 3, .size = {LGV_SIZE_SAMPLES, LGV_SIZE_SERIES, LGV_SIZE_DENSE},
     .optional = true, .unit = SAME, .doc = "kept paths at these times, [path][series][dense_time]",
     .gather = gather_dense, .scatter = scatter_dense},
    {.group = "paths", .name = "increments", .ndim = 3, .size = {LGV_SIZE_SAMPLES, LGV_SIZE_STEPS, LGV_SIZE_NOISES},
     .optional = true, .unit = "sqrt(time)", .doc = "Brownian increments dW of the kept paths, [path][step][noise]",
     AT(increment)},
    {.group = "paths", .name = "integrals", .ndim = 3, .size = {LGV_SIZE_SAMPLES, LGV_SIZE_STEPS, LGV_SIZE_NOISES},
     .optional = true, .unit = "time^(3/2)", .doc = "their integrals dZ of W - W_n over the step", AT(integral)},
    FAILED(path, true, "numbers of failed paths, the lowest first, at most 10000"),
    FAILED(step, false, "steps at which they failed"),
    FAILED(reason, false, "why: the attributes reason_N of the group say it in words"),
    VERDICT(value, "what was measured; the attribute verdicts of the group has the names"),
    VERDICT(error, "how well it is known"),
    VERDICT(limit, "what it is held against"),
    VERDICT(claim, "1: it is promised, 0: the method does not, -1: the model does not have it"),
    VERDICT(holds, "1: it holds, 0: it does not, -1: nothing is claimed, or it could not be measured"),
};
const size_t lgv_array_row_count = sizeof lgv_array_rows / sizeof *lgv_array_rows;

/* ---- sizes and places ---- */

static size_t size_of(const struct lgv_result *r, size_t item, enum lgv_array_size size) {
    switch (size) {
    case LGV_SIZE_TIMES: return r->ntimes;
    case LGV_SIZE_SERIES: return r->nseries;
    case LGV_SIZE_SAMPLES: return r->nsamples;
    case LGV_SIZE_DENSE: return r->ndense;
    case LGV_SIZE_STEPS: return (size_t)r->steps;
    case LGV_SIZE_NOISES: return (size_t)r->nnoise;
    case LGV_SIZE_FAILURES: return r->nfailures;
    case LGV_SIZE_VERDICTS: return r->nverdicts;
    case LGV_SIZE_EDGES: return r->histogram[item].bins + 1;
    case LGV_SIZE_BINS: return r->histogram[item].bins;
    }
    return 0;
}

void lgv_array_shape(const struct lgv_array_row *row, const struct lgv_result *r, size_t item, size_t shape[3]) {
    for (int k = 0; k < row->ndim; k++) shape[k] = size_of(r, item, row->size[k]);
}

/* Where the pointer to the array is kept. */
static void **place_of(const struct lgv_array_row *row, const struct lgv_result *r, size_t item) {
    char *object = strcmp(row->group, LGV_ARRAYS_STATISTICS) == 0   ? (char *)&r->series[item]
                   : strcmp(row->group, LGV_ARRAYS_HISTOGRAMS) == 0 ? (char *)&r->histogram[item]
                                                                    : (char *)r;
    return (void **)(void *)(object + row->offset);
}

const double *lgv_array_reals(const struct lgv_array_row *row, const struct lgv_result *r, size_t item) {
    return row->gather || row->type != LGV_ARRAY_REAL ? NULL : *place_of(row, r, item);
}

bool lgv_array_take(const struct lgv_array_row *row, struct lgv_result *r, size_t item, void *data, size_t first) {
    if (row->scatter) {
        bool ok = row->scatter(r, data, first);
        free(data);
        return ok;
    }
    *place_of(row, r, item) = data;
    if (!row->defines) return true;
    if (row->size[0] == LGV_SIZE_TIMES) r->ntimes = first;
    if (row->size[0] == LGV_SIZE_DENSE) r->ndense = first;
    if (row->size[0] == LGV_SIZE_EDGES) r->histogram[item].bins = first ? first - 1 : 0;
    return true;
}

/* ---- all of them ---- */

/* A group for a name of the user: HDF5 reserves '/', "." and "", and names may repeat. */
static char *safe_name(const char *name, char *const *before, size_t count) {
    char safe[256];
    size_t n = 0;
    for (const char *s = name ? name : ""; *s && n < 200; s++) safe[n++] = *s == '/' ? '_' : *s;
    if (n == 0 || (n == 1 && safe[0] == '.')) safe[n > 0 ? n - 1 : n++] = '_';
    safe[n] = '\0';
    for (unsigned again = 2; again < 1000000; again++) {
        size_t k = 0;
        while (k < count && strcmp(before[k], safe) != 0) k++;
        if (k == count) break;
        snprintf(safe + n, sizeof safe - n, "_%u", again);
    }
    return lgv_copy(safe);
}

static bool add_array(struct lgv_arrays *a, const struct lgv_array_row *row, const struct lgv_result *r, size_t item,
                      const char *group) {
    struct lgv_array x = {.type = row->type, .ndim = row->ndim, .unit = row->unit, .doc = row->doc};
    struct lgv_text name = {0};
    void *owned = row->gather ? row->gather(r) : NULL;
    lgv_array_shape(row, r, item, x.shape);
    x.data = row->gather ? owned : *place_of(row, r, item);
    lgv_text_add(&name, "%s%s%s", group, *group ? "/" : "", row->name);
    bool ok = !name.failed && (!row->gather || owned) && lgv_grow(&a->item, &a->room, a->count + 1, sizeof *a->item);
    if (!ok) {
        lgv_text_free(&name);
        free(owned);
        return false;
    }
    x.name = name.data;
    a->item[a->count++] = (struct lgv_listed_array){.array = x, .row = row, .owned = owned, .index = item};
    return true;
}

/* Does the result have it?  Arrays that may be missing are there when they have been asked for. */
static bool present(const struct lgv_array_row *row, const struct lgv_result *r) {
    if (!row->optional) return true;
    if (row->size[0] == LGV_SIZE_VERDICTS) return r->nverdicts > 0;
    if (row->size[0] == LGV_SIZE_DENSE || row->size[2] == LGV_SIZE_DENSE) return r->ndense > 0;
    return *place_of(row, r, 0) != NULL;
}

/* Rows of a group for each of `count` items with these names, or once for names NULL. */
static bool add_group(struct lgv_arrays *a, const struct lgv_result *r, const char *group, size_t count,
                      char *const *names) {
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        char path[300];
        snprintf(path, sizeof path, "%s%s%s", group, names ? "/" : "", names ? names[i] : "");
        for (const struct lgv_array_row *row = lgv_array_rows; ok && row < lgv_array_rows + lgv_array_row_count; row++)
            if (strcmp(row->group, group) == 0 && present(row, r)) ok = add_array(a, row, r, i, path);
    }
    return ok;
}

static char **names_of(struct lgv_arrays *a, size_t *count, size_t n, const struct lgv_result *r, bool series) {
    char **list = lgv_new(n + 1, sizeof *list);
    for (*count = 0; list && *count < n; ++*count) {
        const char *name = series ? r->series[*count].name : r->histogram[*count].name;
        if (!(list[*count] = safe_name(name, list, *count))) break;
    }
    a->failed = a->failed || !list || *count < n;
    return list;
}

/* Arrays of what was found along the way come last: GROUP/NAME/ARRAY. */
static bool add_findings(struct lgv_arrays *a, const struct lgv_result *r) {
    static const struct lgv_array_row found = {.group = "found", .name = "", .unit = "", .doc = ""};
    const struct lgv_found_row *row;
    for (size_t i = 0; i < r->nfindings; i++)
        for (size_t k = 0; (row = lgv_found_row(r->finding[i].group, k)); k++) {
            const struct lgv_found *x = &r->finding[i].item[k];
            struct lgv_text name = {0};
            if (!x->data || row->ndim == 0) continue;
            lgv_text_add(&name, "%s/%s/%s", row->group, r->finding[i].name, row->name);
            if (name.failed || !lgv_grow(&a->item, &a->room, a->count + 1, sizeof *a->item)) {
                lgv_text_free(&name);
                return false;
            }
            struct lgv_array array = {.name = name.data, .data = x->data, .ndim = row->ndim, .unit = row->unit,
                                      .doc = row->doc};
            for (int d = 0; d < row->ndim; d++) array.shape[d] = x->shape[d];
            a->item[a->count++] = (struct lgv_listed_array){.array = array, .row = &found};
        }
    return true;
}

struct lgv_arrays *lgv_arrays_open(const struct lgv_result *r) {
    struct lgv_arrays *a = lgv_new(1, sizeof *a);
    if (!a) return NULL;
    a->series = names_of(a, &a->nseries, r->nseries, r, true);
    a->histogram = names_of(a, &a->nhistograms, r->nhistograms, r, false);
    bool ok = !a->failed && add_group(a, r, "", 1, NULL) &&
              add_group(a, r, LGV_ARRAYS_STATISTICS, a->nseries, a->series) &&
              add_group(a, r, LGV_ARRAYS_HISTOGRAMS, a->nhistograms, a->histogram) &&
              add_group(a, r, "paths", 1, NULL) && add_group(a, r, "failures", 1, NULL) &&
              add_group(a, r, "certificate", 1, NULL) && add_findings(a, r);
    if (ok) return a;
    lgv_arrays_close(a);
    return NULL;
}

void lgv_arrays_close(struct lgv_arrays *a) {
    if (!a) return;
    for (size_t i = 0; i < a->count; i++) {
        free((void *)a->item[i].array.name);
        free(a->item[i].owned);
    }
    for (size_t i = 0; i < a->nseries; i++) free(a->series[i]);
    for (size_t i = 0; i < a->nhistograms; i++) free(a->histogram[i]);
    free(a->series);
    free(a->histogram);
    free(a->item);
    free(a);
}
