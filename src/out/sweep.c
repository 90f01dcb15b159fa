/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A sweep as a table for the terminal, JSON, HDF5 and a report. */
#include "out/hdf5.h"
#include "out/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 40 /* points that tables show */
#define COLUMNS 5
#define ROUND_OFF 1e-12 /* of the size of a mean: less is no change */

size_t lgv_sweep_index(const struct lgv_sweep *s, size_t point, size_t axis) {
    for (size_t a = s->naxes; a-- > axis + 1;) point /= s->axis[a].count;
    return point % s->axis[axis].count;
}

void lgv_sweep_clear(struct lgv_sweep *s) {
    for (size_t a = 0; a < s->naxes; a++) {
        for (size_t i = 0; s->axis[a].text && i < s->axis[a].count; i++) free(s->axis[a].text[i]);
        free(s->axis[a].text);
        free(s->axis[a].value);
        free(s->axis[a].name);
    }
    for (size_t i = 0; s->series && i < s->nseries; i++) free(s->series[i]);
    void *all[] = {s->model_name, s->model_text, s->command, s->method, s->done,   s->series, s->mean,  s->err,  s->std,
                   s->min,        s->max,        s->paths,   s->failed, s->holds, s->time,   s->along, s->kept};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    *s = (struct lgv_sweep){0};
}

const char *lgv_sweep_point(const struct lgv_sweep *s, size_t point, char *out, size_t size) {
    size_t n = 0;
    out[0] = '\0';
    for (size_t a = 0; a < s->naxes && n + 1 < size; a++) {
        char name[60], text[60];
        int more = snprintf(out + n, size - n, "%s%s = %s", a ? ", " : "",
                            lgv_plain(name, sizeof name, s->axis[a].name),
                            lgv_plain(text, sizeof text, s->axis[a].text[lgv_sweep_index(s, point, a)]));
        n += more > 0 ? (size_t)more : 0;
    }
    return out;
}

/* ---- terminal ---- */

static void head_row(FILE *out, const struct lgv_sweep *s, size_t columns) {
    char name[60];
    for (size_t a = 0; a < s->naxes; a++) {
        fputs("  ", out);
        lgv_study_pad(out, lgv_plain(name, sizeof name, s->axis[a].name), 10);
    }
    for (size_t i = 0; i < columns; i++) {
        fputs("  ", out);
        lgv_study_pad(out, lgv_plain(name, sizeof name, s->series[i]), 22);
    }
    fputs("  failed\n", out);
}

void lgv_sweep_summary(FILE *out, const struct lgv_sweep *s, bool colour) {
    char b[200];
    size_t columns = s->nseries < COLUMNS ? s->nseries : COLUMNS, shown = 0;
    const char *method = s->method && *s->method ? s->method : "several methods";
    fprintf(out, "%s%s%s  %s, %zu of %zu points, %s\n\n", colour ? "\033[1m" : "",
            lgv_plain(b, sizeof b, s->model_name), colour ? "\033[0m" : "", method, s->ndone, s->npoints,
            s->common ? "the same noise for all" : "noise of their own");
    head_row(out, s, columns);
    for (size_t k = 0; k < s->npoints && shown < ROWS; k++) {
        if (!s->done[k]) continue;
        for (size_t a = 0; a < s->naxes; a++) {
            fputs("  ", out);
            lgv_study_pad(out, lgv_plain(b, sizeof b, s->axis[a].text[lgv_sweep_index(s, k, a)]), 10);
        }
        for (size_t i = 0; i < columns; i++) {
            fputs("  ", out);
            size_t at = k * s->nseries + i;
            lgv_study_pad(out, lgv_text_with_error(b, sizeof b, s->mean[at], s->err[at]), 22);
        }
        fprintf(out, "  %llu%s\n", (unsigned long long)s->failed[k], s->holds[k] > 0 ? "" : "  a claim does not hold");
        shown++;
    }
    if (s->ndone > shown) fprintf(out, "  ... and %zu more points\n", s->ndone - shown);
    if (s->nseries > columns) fprintf(out, "  ... and %zu more observables\n", s->nseries - columns);
}

/* ---- JSON ---- */

static json_t *numbers(const double *x, size_t n, size_t stride) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < n; i++)
        if (json_array_append_new(list, lgv_json_real(x[i * stride])) != 0) {
            json_decref(list);
            list = NULL;
        }
    return list;
}

static json_t *counts(const uint64_t *x, size_t n) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < n; i++) json_array_append_new(list, lgv_json_count(x[i]));
    return list;
}

static json_t *axes(const struct lgv_sweep *s) {
    json_t *list = json_array();
    for (size_t a = 0; list && a < s->naxes; a++) {
        json_t *values = json_array(), *axis = json_object();
        for (size_t i = 0; i < s->axis[a].count; i++)
            json_array_append_new(values, s->axis[a].value ? lgv_json_real(s->axis[a].value[i])
                                                           : lgv_json_text(s->axis[a].text[i]));
        lgv_json_put(axis, "name", lgv_json_text(s->axis[a].name));
        lgv_json_put(axis, "values", values);
        json_array_append_new(list, axis);
    }
    return list;
}

char *lgv_sweep_json(const struct lgv_sweep *s) {
    json_t *all = json_object(), *final = json_object();
    static const char *const name[] = {"mean", "stderr", "std", "min", "max"};
    const double *const array[] = {s->mean, s->err, s->std, s->min, s->max};
    bool ok = all && final && lgv_json_put(all, "model", lgv_json_text(s->model_name)) &&
              lgv_json_put(all, "method", lgv_json_text(s->method)) &&
              lgv_json_put(all, "command", lgv_json_text(s->command)) &&
              lgv_json_put(all, "date", lgv_json_text(s->date)) &&
              lgv_json_put(all, "common_noise", json_boolean(s->common)) &&
              lgv_json_put(all, "together", json_boolean(s->together)) && lgv_json_put(all, "axes", axes(s)) &&
              lgv_json_put(all, "points", lgv_json_count(s->npoints)) &&
              lgv_json_put(all, "done", lgv_json_count(s->ndone)) &&
              lgv_json_put(all, "paths", counts(s->paths, s->npoints)) &&
              lgv_json_put(all, "failed", counts(s->failed, s->npoints)) &&
              lgv_json_put(all, "holds", numbers(s->holds, s->npoints, 1));
    for (size_t i = 0; ok && i < s->nseries; i++) {
        json_t *series = json_object();
        for (size_t k = 0; series && k < 5; k++)
            lgv_json_put(series, name[k], numbers(array[k] + i, s->npoints, s->nseries));
        ok = series && lgv_json_put(final, s->series[i], series);
    }
    if (ok) ok = lgv_json_put(all, "final", json_incref(final));
    char *text = ok ? json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(final);
    json_decref(all);
    return text;
}

/* ---- HDF5 ---- */

static bool put_grid(hid_t where, const struct lgv_sweep *s, const char *name, const double *data, size_t more,
                     const size_t *extra) {
    hsize_t dims[LGV_SWEEP_AXES + 3];
    for (size_t a = 0; a < s->naxes; a++) dims[a] = s->axis[a].count;
    for (size_t k = 0; k < more; k++) dims[s->naxes + k] = extra[k];
    return lgv_hdf5_put_array(where, name, (int)(s->naxes + more), dims, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, data);
}

static bool put_axes(const struct lgv_sweep *s, hid_t file) {
    bool ok = true;
    for (size_t a = 0; ok && a < s->naxes; a++) {
        char name[32];
        struct lgv_text words = {0};
        hsize_t n = s->axis[a].count;
        for (size_t i = 0; i < n; i++) lgv_text_add(&words, "%s%s", i ? "\n" : "", s->axis[a].text[i]);
        snprintf(name, sizeof name, "axis%zu", a + 1);
        ok = lgv_hdf5_put_text(file, name, s->axis[a].name);
        snprintf(name, sizeof name, "axis%zu_values", a + 1);
        ok = ok && !words.failed && lgv_hdf5_put_text(file, name, words.data ? words.data : "");
        if (ok && s->axis[a].value)
            ok = lgv_hdf5_put_array(file, name, 1, &n, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, s->axis[a].value);
        lgv_text_free(&words);
    }
    return ok;
}

static bool put_sweep(void *what, hid_t file) {
    const struct lgv_sweep *s = what;
    const size_t series[] = {s->nseries}, along[] = {s->nseries, s->ntimes}, times[] = {s->ntimes},
                 kept[] = {s->nkept, s->nseries, s->ntimes};
    struct lgv_text names = {0};
    for (size_t i = 0; i < s->nseries; i++) lgv_text_add(&names, "%s%s", i ? "\n" : "", s->series[i]);
    bool ok = !names.failed && lgv_hdf5_put_text(file, "software", LGV_HDF5_SOFTWARE) &&
              lgv_hdf5_put_text(file, "kind", "sweep") && lgv_hdf5_put_text(file, "model", s->model_name) &&
              lgv_hdf5_put_text(file, "method", s->method ? s->method : "") &&
              lgv_hdf5_put_text(file, "command", s->command ? s->command : "") &&
              lgv_hdf5_put_text(file, "observables", names.data ? names.data : "") && put_axes(s, file) &&
              put_grid(file, s, "mean", s->mean, 1, series) && put_grid(file, s, "stderr", s->err, 1, series) &&
              put_grid(file, s, "std", s->std, 1, series) && put_grid(file, s, "min", s->min, 1, series) &&
              put_grid(file, s, "max", s->max, 1, series) && put_grid(file, s, "holds", s->holds, 0, NULL);
    if (ok && s->ntimes)
        ok = put_grid(file, s, "time", s->time, 1, times) && put_grid(file, s, "mean_along_time", s->along, 2, along);
    if (ok && s->ntimes && s->nkept) ok = put_grid(file, s, "paths", s->kept, 3, kept);
    lgv_text_free(&names);
    return ok;
}

enum lgv_status lgv_sweep_hdf5(const struct lgv_sweep *s, const char *path, struct lgv_error *err) {
    size_t n = s->npoints * s->nseries * (5 + s->ntimes * (1 + s->nkept));
    return lgv_hdf5_store(put_sweep, (void *)(uintptr_t)s, 8 * n, path, err);
}

/* ---- report ---- */

static void put_table(struct lgv_text *out, const struct lgv_sweep *s) {
    size_t columns = s->nseries < COLUMNS ? s->nseries : COLUMNS, shown = 0;
    char b[200];
    lgv_text_add(out, "<h2>At the end</h2>\n<div class=\"card\"><table class=\"wide\">\n<tr>");
    for (size_t a = 0; a < s->naxes; a++) {
        lgv_text_add(out, "<th>");
        lgv_html(out, s->axis[a].name);
        lgv_text_add(out, "</th>");
    }
    for (size_t i = 0; i < columns; i++) {
        lgv_text_add(out, "<th class=\"n\">");
        lgv_html(out, s->series[i]);
        lgv_text_add(out, "</th>");
    }
    lgv_text_add(out, "<th class=\"n\">failed</th></tr>\n");
    for (size_t k = 0; k < s->npoints && shown < ROWS; k++) {
        if (!s->done[k]) continue;
        lgv_text_add(out, "<tr>");
        for (size_t a = 0; a < s->naxes; a++) {
            lgv_text_add(out, "<td>");
            lgv_html(out, s->axis[a].text[lgv_sweep_index(s, k, a)]);
            lgv_text_add(out, "</td>");
        }
        for (size_t i = 0; i < columns; i++)
            lgv_text_add(out, "<td class=\"n\">%s</td>",
                         lgv_text_with_error(b, sizeof b, s->mean[k * s->nseries + i], s->err[k * s->nseries + i]));
        lgv_text_add(out, "<td class=\"n\">%llu</td></tr>\n", (unsigned long long)s->failed[k]);
        shown++;
    }
    lgv_text_add(out, "</table></div>\n");
    if (s->ndone > shown)
        lgv_text_add(out, "<p>The first %zu of %zu points; all are in sweep.h5 and sweep.json.</p>\n", shown, s->ndone);
}

static void put_extreme(struct lgv_text *out, const struct lgv_sweep *s, size_t i, size_t point, const char *what) {
    char b[300];
    lgv_text_add(out, " %s at ", what);
    lgv_html(out, lgv_sweep_point(s, point, b, sizeof b));
    lgv_text_add(out, ", <b>%s</b>", lgv_text_with_error(b, sizeof b, s->mean[point * s->nseries + i],
                                                        s->err[point * s->nseries + i]));
}

/* Points where an observable is least and largest; whether it changes by more than round-off between them. */
static bool extremes(const struct lgv_sweep *s, size_t i, size_t *least, size_t *most) {
    *least = *most = s->npoints;
    for (size_t k = 0; k < s->npoints; k++) {
        const double x = s->mean[k * s->nseries + i];
        if (!s->done[k] || !isfinite(x)) continue;
        if (*least == s->npoints || x < s->mean[*least * s->nseries + i]) *least = k;
        if (*most == s->npoints || x > s->mean[*most * s->nseries + i]) *most = k;
    }
    if (*least == s->npoints) return false;
    const double low = s->mean[*least * s->nseries + i], high = s->mean[*most * s->nseries + i];
    return high - low > ROUND_OFF * fmax(fabs(low), fabs(high));
}

static void put_name(struct lgv_text *out, const struct lgv_sweep *s, size_t i) {
    lgv_text_add(out, "The mean of <b>");
    lgv_html(out, s->series[i]);
    lgv_text_add(out, "</b> at the end is");
}

/* What a reader wants to know first: where the first two observables that change are least and largest, or that none
 * does. */
static void put_finding(struct lgv_text *out, const struct lgv_sweep *s) {
    size_t told = 0, least, most;
    char b[300];
    if (s->ndone == 0) return;
    lgv_text_add(out, "<p class=\"finding\">");
    for (size_t i = 0; i < s->nseries && told < 2; i++) {
        if (!extremes(s, i, &least, &most)) continue;
        lgv_text_add(out, told++ ? " " : "");
        put_name(out, s, i);
        put_extreme(out, s, i, least, "least");
        put_extreme(out, s, i, most, "and largest");
        lgv_text_add(out, ".");
    }
    if (told == 0 && s->nseries && (extremes(s, 0, &least, &most), least < s->npoints)) {
        put_name(out, s, 0);
        lgv_text_add(out, " <b>%s</b> at every point.",
                     lgv_text_with_error(b, sizeof b, s->mean[least * s->nseries], s->err[least * s->nseries]));
    }
    lgv_text_add(out, "</p>\n");
}

static void page(struct lgv_text *out, const void *study, const char *dir, const struct lgv_figure *list,
                 size_t count) {
    const struct lgv_sweep *s = study;
    uint64_t failed = 0;
    size_t broken = 0;
    for (size_t k = 0; k < s->npoints; k++) failed += s->failed[k], broken += s->done[k] && s->holds[k] <= 0;
    lgv_page_begin(out, s->model_name);
    lgv_text_add(out, "<h1>");
    lgv_html(out, s->model_name);
    lgv_text_add(out, "</h1>\n<p class=\"sub\">Sweep over %zu points, %s</p>\n", s->npoints, s->date);
    put_finding(out, s);
    bool good = !failed && !broken && s->ndone == s->npoints;
    lgv_text_add(out, "<p class=\"verdict%s\">", good ? "" : " bad");
    if (s->ndone < s->npoints) lgv_text_add(out, "%zu of %zu points are done. ", s->ndone, s->npoints);
    if (failed) lgv_text_add(out, "%llu path%s failed. ", (unsigned long long)failed, failed == 1 ? "" : "s");
    if (broken) lgv_text_add(out, "At %zu point%s a claim does not hold.", broken, broken == 1 ? "" : "s");
    else if (s->ndone) lgv_text_add(out, "Everything claimed holds at all %zu points.", s->ndone);
    lgv_text_add(out, "</p>\n<dl class=\"facts\">\n");
    lgv_page_fact(out, "method", s->method ? s->method : "");
    lgv_page_fact(out, "noise", s->common ? "the same for all points" : "of their own at every point");
    if (s->together) lgv_page_fact(out, "points", "all in one run, with one certificate");
    lgv_text_add(out, "</dl>\n<h2>Figures</h2>\n<div class=\"figures\">\n");
    lgv_page_planned(out, dir, list, count);
    lgv_text_add(out, "</div>\n");
    put_table(out, s);
    if (s->command) {
        lgv_text_add(out, "<h2>How to repeat it</h2>\n<pre>");
        lgv_html(out, s->command);
        lgv_text_add(out, "</pre>\n");
    }
    lgv_page_end(out);
}

enum lgv_status lgv_sweep_report(const struct lgv_sweep *s, const char *dir, bool *drawn, struct lgv_error *err) {
    struct lgv_figure list[LGV_SWEEP_FIGURES];
    size_t count = lgv_sweep_plan(s, list);
    return lgv_study_pages(s, dir, list, count, lgv_sweep_script, page, drawn, err);
}
