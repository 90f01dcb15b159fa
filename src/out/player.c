/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Moving pictures of a report: the ensemble as a cloud in phase space and in space, the points of one path in space,
 * the axes of a body.  text/report.js draws them.
 *
 * A scene is items at times, each a place in two or three dimensions and perhaps a direction there.  Its numbers are
 * written as 16-bit parts of the range of each dimension, which is finer than a screen. */
#include "out/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIMES 101
#define ITEMS 500
#define MISSING 65535u

struct scene {
    const char *title, *caption;
    size_t dims, items, times;
    bool arrows; /* every place is followed by a direction */
    bool shape;  /* all dimensions have one scale */
    bool fixed;  /* from -1 to 1 */
    const double *time;
    double *value; /* [times][items][dims, or twice as many] */
    const char *name[3];
    double low[3], high[3];
};

static size_t width_of(const struct scene *s) {
    return s->dims * (s->arrows ? 2 : 1);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The range that all places keep to, or most of them where a few escape. */
static bool range_of(struct scene *s, size_t c) {
    size_t total = s->items * s->times, n = 0;
    double *x = lgv_new(total + 1, sizeof *x);
    for (size_t i = 0; x && i < total; i++) {
        x[n] = s->value[i * width_of(s) + c];
        n += isfinite(x[n]) ? 1u : 0u;
    }
    if (n > 0) {
        qsort(x, n, sizeof *x, ascending);
        double low = x[n / 200], high = x[n - 1 - n / 200], air = 0.5 * (high - low);
        s->low[c] = fmax(x[0], low - air);
        s->high[c] = fmin(x[n - 1], high + air);
        if (!(s->high[c] - s->low[c] > 1e-12 * fmax(fabs(s->low[c]), fabs(s->high[c])))) {
            double half = fmax(1e-3 * fabs(s->low[c]), 1e-12);
            s->low[c] -= half;
            s->high[c] += half;
        }
    }
    free(x);
    return n > 0;
}

static bool ranges(struct scene *s) {
    double widest = 0;
    if (s->fixed) { /* directions from one place */
        for (size_t c = 0; c < s->dims; c++) s->low[c] = -1, s->high[c] = 1;
        return true;
    }
    for (size_t c = 0; c < s->dims; c++) {
        if (!range_of(s, c)) return false;
        widest = fmax(widest, s->high[c] - s->low[c]);
    }
    for (size_t c = 0; s->shape && c < s->dims; c++) {
        double middle = 0.5 * (s->low[c] + s->high[c]);
        s->low[c] = middle - 0.5 * widest;
        s->high[c] = middle + 0.5 * widest;
    }
    return true;
}

static void put_numbers(struct lgv_text *out, const struct scene *s) {
    size_t width = width_of(s), n = s->times * s->items * width;
    unsigned char *bytes = lgv_new(2 * n + 1, 1);
    for (size_t i = 0; bytes && i < n; i++) {
        size_t c = i % width;
        double low = c < s->dims ? s->low[c] : -1, high = c < s->dims ? s->high[c] : 1;
        double part = (s->value[i] - low) / (high - low);
        unsigned v = part >= 0 && part <= 1 ? (unsigned)(part * (MISSING - 1) + 0.5) : MISSING;
        bytes[2 * i] = v & 255u;
        bytes[2 * i + 1] = (unsigned char)(v >> 8);
    }
    if (!bytes) out->failed = true;
    if (bytes) lgv_base64(out, bytes, 2 * n);
    free(bytes);
}

/* Names are text of the user: in JSON inside of HTML only letters that mean nothing in either. */
static void put_name(struct lgv_text *out, const char *name) {
    char plain[60];
    lgv_plain(plain, sizeof plain, name);
    for (char *s = plain; *s; s++)
        if (strchr("\"\\<>&'", *s)) *s = ' ';
    lgv_text_add(out, "\"%s\"", plain);
}

/* Result files may have any numbers; JSON knows finite ones only. */
static bool timed(const struct scene *s) {
    for (size_t t = 0; t < s->times; t++)
        if (!isfinite(s->time[t])) return false;
    return true;
}

static void put_scene(struct lgv_text *out, struct scene *s) {
    if (!timed(s) || !ranges(s)) return;
    lgv_text_add(out, "<figure class=\"player\" hidden><b>%s</b><canvas></canvas><div class=\"controls\">"
                      "<button type=\"button\">Play</button><input type=\"range\" min=\"0\" max=\"%zu\" value=\"%zu\" "
                      "aria-label=\"time\"><output></output></div><figcaption>%s</figcaption>\n"
                      "<script type=\"application/json\">{\"dims\":%zu,\"items\":%zu,\"arrows\":%s,"
                      "\"reach\":%s,\"names\":[",
                 s->title, s->times - 1, s->times / 3, s->caption, s->dims, s->items, s->arrows ? "true" : "false",
                 s->fixed ? "1" : "0.16");
    for (size_t c = 0; c < s->dims; c++) {
        lgv_text_add(out, "%s", c ? "," : "");
        put_name(out, s->name[c]);
    }
    lgv_text_add(out, "],\"low\":[");
    for (size_t c = 0; c < s->dims; c++) lgv_text_add(out, "%s%.6g", c ? "," : "", s->low[c]);
    lgv_text_add(out, "],\"high\":[");
    for (size_t c = 0; c < s->dims; c++) lgv_text_add(out, "%s%.6g", c ? "," : "", s->high[c]);
    lgv_text_add(out, "],\"time\":[");
    for (size_t t = 0; t < s->times; t++) lgv_text_add(out, "%s%.6g", t ? "," : "", s->time[t]);
    lgv_text_add(out, "],\"data\":\"");
    put_numbers(out, s);
    lgv_text_add(out, "\"}</script></figure>\n");
}

/* ---- the ensemble ---- */

static const struct lgv_finding *cloud_of(const struct lgv_result *r, size_t series) {
    for (size_t i = 0; i < r->nfindings; i++)
        if (strcmp(r->finding[i].group, LGV_FOUND_CLOUDS) == 0 &&
            strcmp(r->finding[i].name, r->series[series].name ? r->series[series].name : "") == 0)
            return &r->finding[i];
    return NULL;
}

/* Clouds of these series against each other, where all of them are known at the same times. */
static void put_cloud(struct lgv_text *out, const struct lgv_result *r, const size_t *series, size_t dims,
                      const char *title, bool shape) {
    const struct lgv_found *value[3], *time = NULL;
    struct scene s = {.title = title, .dims = dims, .shape = shape};
    s.caption = "The first paths of the ensemble as a cloud that moves along time.";
    for (size_t c = 0; c < dims; c++) {
        const struct lgv_finding *f = cloud_of(r, series[c]);
        if (!f) return;
        value[c] = lgv_finding_get(f, "value");
        time = lgv_finding_get(f, "time");
        s.name[c] = f->name;
        if (!value[c]->data || !time->data || value[c]->shape[0] != value[0]->shape[0] ||
            value[c]->shape[1] != value[0]->shape[1] || time->shape[0] != value[c]->shape[0])
            return;
    }
    s.time = time->data;
    s.times = value[0]->shape[0];
    s.items = value[0]->shape[1];
    s.value = lgv_new(s.times * s.items * dims + 1, sizeof *s.value);
    if (!s.value || s.times < 2) {
        free(s.value);
        return;
    }
    for (size_t i = 0; i < s.times * s.items; i++)
        for (size_t c = 0; c < dims; c++) s.value[i * dims + c] = value[c]->data[i];
    put_scene(out, &s);
    free(s.value);
}

/* ---- one path ---- */

/* Times of the first kept path for a scene; malloc'd. */
static double *some_times(const struct lgv_result *r, size_t *count) {
    *count = r->ntimes < TIMES ? r->ntimes : TIMES;
    double *time = lgv_new(*count + 1, sizeof *time);
    for (size_t k = 0; time && k < *count; k++) time[k] = r->time[k * (r->ntimes - 1) / (*count - 1)];
    return time;
}

static double kept_at(const struct lgv_result *r, size_t series, size_t k, size_t times) {
    return r->sample[0].value[series * r->ntimes + k * (r->ntimes - 1) / (times - 1)];
}

/* Places [3] of all points of the model, as many as a picture can take; their dimension, 0 where there are no two. */
static size_t points_of(const struct lgv_result *r, size_t (*place)[3], size_t *count) {
    size_t dims = 0;
    *count = 0;
    for (size_t i = 0; i < r->nseries && *count < ITEMS; i++) {
        size_t d = lgv_series_point(r, i, place[*count]);
        if (!d || (dims && d != dims)) continue;
        dims = d;
        ++*count;
    }
    return *count > 1 ? dims : 0;
}

static void put_points(struct lgv_text *out, const struct lgv_result *r) {
    struct scene s = {.title = "Points in space", .shape = true, .name = {"x", "y", "z"},
                      .caption = "All points of one path along time, with the last stretch of their way."};
    size_t(*place)[3] = lgv_new(ITEMS, sizeof *place);
    s.dims = place ? points_of(r, place, &s.items) : 0;
    double *time = some_times(r, &s.times);
    s.time = time;
    s.value = lgv_new(s.times * s.items * s.dims + 1, sizeof *s.value);
    for (size_t i = 0; s.dims && time && s.value && i < s.times * s.items; i++)
        for (size_t c = 0; c < s.dims; c++)
            s.value[i * s.dims + c] = kept_at(r, place[i % s.items][c], i / s.items, s.times);
    if (s.dims && time && s.value) put_scene(out, &s);
    free(place);
    free(time);
    free(s.value);
}

/* The axes of a body: columns of the rotation of a quaternion. */
static void put_axes(struct lgv_text *out, const struct lgv_result *r, const size_t place[4]) {
    struct scene s = {.title = "Axes of a body", .caption = "The three axes of a body along one path; drag to turn.",
                      .dims = 3, .items = 3, .arrows = true, .fixed = true, .name = {"x", "y", "z"}};
    double *time = some_times(r, &s.times);
    s.time = time;
    s.value = lgv_new(s.times * 18 + 1, sizeof *s.value);
    for (size_t t = 0; time && s.value && t < s.times; t++) {
        double q[4];
        for (size_t c = 0; c < 4; c++) q[c] = kept_at(r, place[c], t, s.times);
        double w = q[0], x = q[1], y = q[2], z = q[3];
        const double axis[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
                                   {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
                                   {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}};
        for (size_t k = 0; k < 3; k++)
            for (size_t c = 0; c < 3; c++) s.value[(t * 3 + k) * 6 + 3 + c] = axis[k][c];
    }
    if (time && s.value) put_scene(out, &s);
    free(time);
    free(s.value);
}

void lgv_players(struct lgv_text *out, const struct lgv_result *r) {
    size_t pair[2], place[4], dims;
    if (r->ntimes < 2) return;
    if (lgv_series_phase(r, pair)) put_cloud(out, r, pair, 2, "The ensemble in phase space", false);
    dims = lgv_series_place(r, place);
    if (dims) put_cloud(out, r, place, dims, "The ensemble in space", true);
    if (r->nsamples == 0) return;
    put_points(out, r);
    if (lgv_series_rotation(r, place)) put_axes(out, r, place);
}
