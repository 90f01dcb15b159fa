/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Brownian increments from a file: results.h5 of a run with keep_increments, or a text with a line for every step,
 *
 *     dW_1 .. dW_M  [dZ_1 .. dZ_M]        # comment
 *
 * and an empty line between paths. */
#include "out/private.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_LIMIT ((size_t)4 << 30)

struct reading {
    struct lgv_increments *x;
    struct lgv_error *err;
    size_t line;      /* in hand */
    size_t columns;   /* of all lines; 0: none yet */
    uint64_t here;    /* steps of the present path */
    double *value;    /* [line][column] */
    size_t count, capacity;
};

static enum lgv_status wrong(const struct reading *rd, const char *format, ...) __attribute__((format(printf, 2, 3)));
static enum lgv_status wrong(const struct reading *rd, const char *format, ...) {
    char why[400];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return lgv_fail(rd->err, LGV_BAD_INPUT, "%s:%zu: %s", rd->x->file, rd->line, why);
}

/* The numbers of one line, up to `end`. */
static enum lgv_status read_numbers(struct reading *rd, const char *s, const char *end) {
    size_t found = 0, n = (size_t)rd->x->noises;
    for (;;) {
        while (s < end && isspace((unsigned char)*s)) s++;
        if (s >= end) break;
        char *after, plain[60], word[60];
        size_t size = 0;
        while (s + size < end && !isspace((unsigned char)s[size])) size++;
        snprintf(word, sizeof word, "%.*s", (int)(size < 50 ? size : 50), s);
        lgv_plain(plain, sizeof plain, word);
        double value = strtod(s, &after);
        if (after != s + size) return wrong(rd, "\"%s\" is not a number", plain);
        if (!isfinite(value)) return wrong(rd, "\"%s\": increments must be finite", plain);
        if (!lgv_grow(&rd->value, &rd->capacity, rd->count + 1, sizeof *rd->value)) return lgv_fail_memory(rd->err);
        rd->value[rd->count++] = value;
        found++;
        s += size;
    }
    if (!rd->columns && (found == n || found == 2 * n)) {
        rd->columns = found;
        rd->x->line = rd->line;
    }
    if (!rd->columns)
        return wrong(rd, "%zu numbers; wanted are %zu, dW of every noise, or %zu, dW and then dZ of every noise", found,
                     n, 2 * n);
    if (found != rd->columns)
        return wrong(rd, "%zu numbers, but line %zu has %zu", found, rd->x->line, rd->columns);
    if ((double)rd->count > LGV_MOST_INCREMENTS)
        return wrong(rd, "more than %g numbers", LGV_MOST_INCREMENTS);
    rd->here++;
    return LGV_OK;
}

static enum lgv_status end_path(struct reading *rd) {
    if (rd->here == 0) return LGV_OK;
    if (rd->x->paths == 0) rd->x->steps = rd->here;
    if (rd->here != rd->x->steps)
        return wrong(rd, "path %llu ends after %llu steps, the one before has %llu", (unsigned long long)rd->x->paths,
                     (unsigned long long)rd->here, (unsigned long long)rd->x->steps);
    rd->x->paths++;
    rd->here = 0;
    return LGV_OK;
}

/* From lines of dW and dZ to an array of each. */
static enum lgv_status split_columns(struct reading *rd) {
    struct lgv_increments *x = rd->x;
    size_t n = (size_t)x->noises, rows = rd->count / rd->columns;
    bool both = rd->columns > n;
    x->dW = lgv_new(rows * n, sizeof *x->dW);
    x->dZ = both ? lgv_new(rows * n, sizeof *x->dZ) : NULL;
    if (!x->dW || (both && !x->dZ)) return lgv_fail_memory(rd->err);
    for (size_t i = 0; i < rows; i++) {
        memcpy(x->dW + i * n, rd->value + i * rd->columns, n * sizeof *x->dW);
        if (both) memcpy(x->dZ + i * n, rd->value + i * rd->columns + n, n * sizeof *x->dZ);
    }
    return LGV_OK;
}

static enum lgv_status read_text(const char *path, struct lgv_increments *x, struct lgv_error *err) {
    struct reading rd = {.x = x, .err = err};
    size_t size;
    char *text = lgv_read_file(path, TEXT_LIMIT, &size, err);
    if (!text) return err ? err->status : LGV_BAD_INPUT;
    enum lgv_status status = LGV_OK;
    for (const char *s = text, *all = text + size; status == LGV_OK && s < all;) {
        const char *next = memchr(s, '\n', (size_t)(all - s)), *end = next ? next : all;
        const char *comment = memchr(s, '#', (size_t)(end - s)), *first = s;
        rd.line++;
        while (first < end && isspace((unsigned char)*first)) first++;
        if (first == end)
            status = end_path(&rd);
        else if (first != comment)
            status = read_numbers(&rd, s, comment ? comment : end);
        s = end + 1;
    }
    if (status == LGV_OK) status = end_path(&rd);
    if (status == LGV_OK && x->paths == 0)
        status = lgv_fail(err, LGV_BAD_INPUT, "%s: there are no increments in it", path);
    if (status == LGV_OK) status = split_columns(&rd);
    free(rd.value);
    free(text);
    return status;
}

static enum lgv_status read_result(const char *path, struct lgv_increments *x, struct lgv_error *err) {
    struct lgv_result r;
    enum lgv_status status = lgv_hdf5_read(path, &r, err);
    if (status != LGV_OK) return status;
    size_t total = r.nsamples * (size_t)r.steps * (size_t)r.nnoise; /* no overflow: such an array has been read */
    if (!r.increment || total == 0)
        status = lgv_fail(err, LGV_BAD_INPUT,
                          "%s: no increments are stored in these results; run it with keep_increments=yes", path);
    for (size_t i = 0; status == LGV_OK && i < total; i++)
        if (!isfinite(r.increment[i]) || (r.integral && !isfinite(r.integral[i])))
            status = lgv_fail(err, LGV_BAD_INPUT, "%s: increment of path %zu, step %zu is not finite", path,
                              i / (size_t)(r.steps * r.nnoise), i / (size_t)r.nnoise % (size_t)r.steps);
    x->number = lgv_new(r.nsamples, sizeof *x->number);
    if (status == LGV_OK && !x->number) status = lgv_fail_memory(err);
    for (size_t i = 0; status == LGV_OK && i < r.nsamples; i++) x->number[i] = r.sample[i].path;
    x->paths = r.nsamples;
    x->steps = r.steps;
    x->noises = r.nnoise;
    x->step = r.step;
    x->dW = r.increment;
    x->dZ = r.integral;
    r.increment = r.integral = NULL;
    lgv_result_clear(&r);
    return status;
}

static bool is_hdf5(const char *path) {
    static const unsigned char mark[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char head[8] = {0};
    struct stat info;
    FILE *f = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rbe") : NULL;
    bool is = f && fread(head, 1, sizeof head, f) == sizeof head && memcmp(head, mark, sizeof mark) == 0;
    if (f) fclose(f);
    return is;
}

enum lgv_status lgv_increments_read(const char *path, size_t noises, struct lgv_increments *out,
                                    struct lgv_error *err) {
    struct lgv_error own = {0};
    *out = (struct lgv_increments){.file = lgv_copy(path), .step = (double)NAN, .noises = noises};
    if (!out->file) return lgv_fail_memory(err);
    enum lgv_status status;
    if (noises == 0)
        status = lgv_fail(&own, LGV_BAD_INPUT, "%s: the model has no noise that could use increments", path);
    else
        status = is_hdf5(path) ? read_result(path, out, &own) : read_text(path, out, &own);
    if (status == LGV_OK) return LGV_OK;
    lgv_increments_free(out);
    return lgv_fail(err, status, "%s", own.message);
}
