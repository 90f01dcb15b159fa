/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures of a run: which there are, and that they are really drawn.  The script of each is made in figures_plot.c. */
#include "out/private.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MEANS 12 /* at most so many figures of means */
#define PATH_FIGURES 4
#define HISTOGRAMS 8
#define FOUND 24 /* of what was found along the way */
#define PROFILES 6
#define MAPS 16 /* histograms of pairs, and densities */
#define PLOTTERS 8 /* at most so many gnuplots at the same time */

static bool any_finite(const double *x, size_t n) {
    for (size_t i = 0; x && i < n; i++)
        if (isfinite(x[i])) return true;
    return false;
}

/* Adds a figure with a file name no other one has. */
static void plan_add(struct lgv_figure *list, size_t *count, struct lgv_figure f, const char *prefix,
                     const char *name) {
    char base[80];
    lgv_file_name(base, 64, prefix, name, false);
    snprintf(f.file, sizeof f.file, "%s", base);
    unsigned again = 2;
    for (size_t i = 0; i < *count;) {
        if (strcmp(list[i].file, f.file) != 0) {
            i++;
            continue;
        }
        snprintf(f.file, sizeof f.file, "%.64s-%u", base, again++);
        i = 0;
    }
    list[(*count)++] = f;
}

static void plan_energy(const struct lgv_result *r, size_t i, struct lgv_figure *list, size_t *count) {
    const struct lgv_series *s = &r->series[i];
    struct lgv_figure f = {.kind = LGV_FIGURE_ENERGY, .index = i};
    if (r->paths == 1) {
        f.caption = "Energy H along the path.";
        snprintf(f.title, sizeof f.title, "Energy H: largest drift %.3g", s->drift);
    } else {
        f.caption = r->nsamples > 0 ? "Energy H: mean with its 95 % confidence band, the band between the 5 % and 95 % "
                                      "quantiles, and kept sample paths."
                                    : "Energy H: mean with its 95 % confidence band, and the band between the 5 % and "
                                      "95 % quantiles of the paths.";
        snprintf(f.title, sizeof f.title, "Energy H: largest drift of a path %.3g, mean drift %.3g", s->drift,
                 s->drift_mean);
    }
    snprintf(f.file, sizeof f.file, "energy");
    list[(*count)++] = f;
}

static void plan_mean(const struct lgv_result *r, size_t i, struct lgv_figure *list, size_t *count) {
    const struct lgv_series *s = &r->series[i];
    char name[100], formula[100];
    bool one = r->paths == 1;
    struct lgv_figure f = {.kind = LGV_FIGURE_MEAN,
                           .index = i,
                           .caption = one ? "Along the path."
                                          : "Mean over the ensemble with its 95 % confidence band, and the band "
                                            "between the 5 % and 95 % quantiles of the paths."};
    lgv_plain(name, sizeof name, s->name);
    lgv_plain(formula, sizeof formula, s->formula);
    if (s->kind == LGV_OBSERVABLE_MOMENTUM)
        snprintf(f.title, sizeof f.title, "Momentum map %s: largest drift%s %.2g", name, one ? "" : " of a path",
                 s->drift);
    else if (*formula && strcmp(name, formula) != 0)
        snprintf(f.title, sizeof f.title, "%s = %s", name, formula);
    else
        snprintf(f.title, sizeof f.title, "%s", name);
    plan_add(list, count, f, one ? "path" : "mean", s->name);
}

/* Component `index` of the first member stands for the family. */
static void plan_profile(const struct lgv_result *r, size_t i, const struct lgv_member *m, struct lgv_figure *list,
                         size_t *count) {
    const struct lgv_series *s = &r->series[i];
    const char *bracket = strchr(s->name, '['), *end = strrchr(s->name, ']');
    char name[100], formula[100];
    struct lgv_figure f = {.kind = LGV_FIGURE_PROFILE,
                           .index = i,
                           .members = m->count,
                           .stride = m->width,
                           .caption = r->paths == 1 ? "All members of a family of observables at the start and the end."
                                                    : "All members of a family of observables at the end: mean with "
                                                      "its 95 % confidence band, and the band between the 5 % and "
                                                      "95 % quantiles of the paths; grey: the mean at the start."};
    snprintf(name, sizeof name, "%.*s%s", (int)(bracket - s->name), s->name, end ? end + 1 : "");
    snprintf(f.title, sizeof f.title, "%s: %s", name, lgv_plain(formula, sizeof formula, s->formula));
    plan_add(list, count, f, "profile", name);
}

static void plan_paths(const struct lgv_result *r, size_t i, struct lgv_figure *list, size_t *count) {
    char name[100];
    struct lgv_figure f = {.kind = LGV_FIGURE_PATHS,
                           .index = i,
                           .caption = "Kept sample paths (thin) and the mean of the whole ensemble (thick)."};
    snprintf(f.title, sizeof f.title, "Sample paths of %s", lgv_plain(name, sizeof name, r->series[i].name));
    plan_add(list, count, f, "paths", r->series[i].name);
}

static void plan_phase(const struct lgv_result *r, struct lgv_figure *list, size_t *count) {
    size_t pair[2];
    if (r->nsamples == 0 || !lgv_series_phase(r, pair)) return;
    char a[100], b[100];
    struct lgv_figure f = {.kind = LGV_FIGURE_PHASE,
                           .index = pair[0],
                           .second = pair[1],
                           .file = "phase",
                           .caption = r->paths == 1 ? "The path in the plane of the first coordinate and its "
                                                      "momentum; the dot marks where it starts."
                                                    : "Kept sample paths in the plane of the first coordinate and "
                                                      "its momentum; dots mark where they start."};
    snprintf(f.title, sizeof f.title, "Phase portrait in the plane of %s and %s",
             lgv_plain(a, sizeof a, r->series[pair[0]].name), lgv_plain(b, sizeof b, r->series[pair[1]].name));
    list[(*count)++] = f;
}

static void plan_trajectory(const struct lgv_result *r, struct lgv_figure *list, size_t *count) {
    struct lgv_figure f = {.kind = LGV_FIGURE_TRAJECTORY, .file = "trajectory"};
    char name[3][60] = {"", "", ""};
    f.dimension = r->nsamples > 0 && r->ntimes > 1 ? lgv_series_place(r, f.place) : 0;
    if (f.dimension == 0) return;
    for (size_t c = 0; c < f.dimension; c++) lgv_plain(name[c], sizeof name[c], r->series[f.place[c]].name);
    if (f.dimension == 2) {
        f.caption = "One path at the output times; the dot marks where it starts.";
        snprintf(f.title, sizeof f.title, "Path in the plane of %s and %s", name[0], name[1]);
    } else {
        f.caption = "One path; the dot marks where it starts. Grey: the surface of its constraint, or its shadow "
                    "on the floor.";
        snprintf(f.title, sizeof f.title, "Path in the space of %s, %s and %s", name[0], name[1], name[2]);
    }
    list[(*count)++] = f;
}

#define COARSE 1.0 /* radians between kept times, beyond which lines between them are not the way of the body */

/* The axes of the first body. */
static void plan_orientation(const struct lgv_result *r, struct lgv_figure *list, size_t *count) {
    struct lgv_figure f = {.kind = LGV_FIGURE_ORIENTATION,
                           .file = "orientation",
                           .caption = "Where the axes of a body point along one path, for a dozen turns at most; "
                                      "pale behind the sphere. Dots mark the start."};
    if (r->nsamples == 0 || r->ntimes < 2 || !lgv_series_rotation(r, f.place)) return;
    char name[100];
    double pace;
    lgv_figure_turns(r, f.place, &pace);
    if (pace > COARSE) return;
    lgv_plain(name, sizeof name, r->series[f.place[0]].name);
    snprintf(f.title, sizeof f.title, "Axes of the body %.*s", (int)(strlen(name) - 2), name);
    list[(*count)++] = f;
}

static bool has_values(const struct lgv_histogram *h) {
    double sum = h->below + h->above;
    for (size_t i = 0; h->count && i < h->bins; i++) sum += h->count[i];
    return sum > 0;
}

static void plan_histograms(const struct lgv_result *r, const struct lgv_member *m, struct lgv_figure *list,
                            size_t *count) {
    size_t drawn = 0;
    for (size_t i = 0; i < r->nhistograms && drawn < HISTOGRAMS; i++) {
        const struct lgv_histogram *h = &r->histogram[i];
        if (i < r->nseries && lgv_family_large(&m[i])) continue; /* histograms stand in the order of series */
        if (h->bins == 0 || !any_finite(h->edge, h->bins + 1) || !has_values(h)) continue; /* no path may be left */
        char name[100];
        struct lgv_figure f = {.kind = LGV_FIGURE_HISTOGRAM,
                               .index = i,
                               .caption = "How the values at the end of the run are distributed over the paths."};
        snprintf(f.title, sizeof f.title, "Final values of %s", lgv_plain(name, sizeof name, h->name));
        plan_add(list, count, f, "histogram", h->name);
        drawn++;
    }
}

/* Is the family that begins with series i drawn as arrows? */
static bool as_arrows(const struct lgv_figure *list, size_t count, size_t i) {
    for (size_t k = 0; k < count; k++)
        if (list[k].kind == LGV_FIGURE_ARROWS && (i - list[k].index < 3 || i - list[k].second < 3)) return true;
    return false;
}

/* Series along time, families as profiles, and kept paths of some. */
static void plan_series(const struct lgv_result *r, const size_t *order, const struct lgv_member *m,
                        struct lgv_figure *list, size_t *count) {
    size_t means = 0, paths = 0, profiles = 0;
    bool energy = false, ensemble = r->paths != 1; /* of one path, its series are all there is to see */
    for (size_t k = 0; k < r->nseries; k++) {
        size_t i = order[k];
        if (lgv_family_large(&m[i])) {
            if (m[i].place == 0 && !as_arrows(list, *count, i) && profiles++ < PROFILES)
                plan_profile(r, i, &m[i], list, count);
        } else if (r->series[i].kind != LGV_OBSERVABLE_ENERGY) {
            if (means++ < MEANS) plan_mean(r, i, list, count);
        } else if (!energy) {
            plan_energy(r, i, list, count);
            energy = true;
        }
    }
    for (size_t k = 0; k < r->nseries && r->nsamples > 0 && ensemble; k++) {
        int kind = r->series[order[k]].kind;
        if (kind != LGV_OBSERVABLE_ENERGY && kind != LGV_OBSERVABLE_MOMENTUM && !lgv_family_large(&m[order[k]]) &&
            paths++ < PATH_FIGURES)
            plan_paths(r, order[k], list, count);
    }
}

struct lgv_figure *lgv_figure_plan(const struct lgv_result *r, size_t *count) {
    *count = 0;
    struct lgv_figure *list = lgv_new(MEANS + PATH_FIGURES + HISTOGRAMS + PROFILES + FOUND + MAPS + 5, sizeof *list);
    struct lgv_member *m = lgv_members(r);
    size_t *order = lgv_series_order(r);
    if (list && order && m && r->ntimes > 0) {
        plan_trajectory(r, list, count);
        plan_orientation(r, list, count);
        *count += lgv_arrows_plan(r, m, list + *count);
        plan_series(r, order, m, list, count);
        plan_phase(r, list, count);
        if (r->paths != 1) plan_histograms(r, m, list, count);
        *count += lgv_map_plan(r, list + *count, MAPS);
        *count += lgv_found_plan(r, list + *count, FOUND);
    }
    free(order);
    free(m);
    if (*count > 0) return list;
    free(list);
    return NULL;
}

/* gnuplot ends well even on a full disk: a figure is there when its end is. */
static const struct {
    const char *suffix, *end;
} formats[] = {{"svg", "</svg>"}, {"png", "IEND"}, {"pdf", "%%EOF"}};
#define FORMATS (sizeof formats / sizeof *formats)

/* File i of the figures: is it whole?  With `discard` it is removed. */
static bool check_file(const char *dir, const struct lgv_figure *list, size_t i, bool discard) {
    struct lgv_text path = {0};
    char tail[301] = {0};
    const char *end = formats[i % FORMATS].end;
    lgv_text_add(&path, "%s/%s.%s", dir, list[i / FORMATS].file, formats[i % FORMATS].suffix);
    FILE *f = path.failed || discard ? NULL : fopen(path.data, "rb");
    if (discard && !path.failed) unlink(path.data);
    size_t n = 0;
    if (f && (fseek(f, -300, SEEK_END) == 0 || fseek(f, 0, SEEK_SET) == 0)) n = fread(tail, 1, 300, f);
    if (f) fclose(f);
    lgv_text_free(&path);
    return n > 0 && memmem(tail, n, end, strlen(end)) != NULL;
}

static bool disk_full(const char *dir) {
    struct statvfs info;
    return statvfs(dir, &info) == 0 && info.f_blocks > 0 && info.f_bavail * info.f_frsize < 1 << 16;
}

enum lgv_status lgv_figures_draw_all(const struct lgv_text *script, size_t scripts, const char *dir,
                                     const struct lgv_figure *list, size_t count, struct lgv_error *err) {
    size_t files = FORMATS * count;
    for (size_t i = 0; i < files; i++) check_file(dir, list, i, true); /* an old figure must not pass for a new one */
    enum lgv_status status = LGV_OK;
    for (size_t i = 0; i < scripts; i++)
        if (script[i].failed) status = lgv_fail_memory(err);
    if (status == LGV_OK) status = lgv_gnuplot(dir, script, scripts, err);
    for (size_t i = 0; status == LGV_OK && i < files; i++)
        if (!check_file(dir, list, i, false))
            status = lgv_fail(err, LGV_CANNOT_RUN, "gnuplot did not finish '%s/%s.%s'%s", dir, list[i / FORMATS].file,
                              formats[i % FORMATS].suffix, disk_full(dir) ? ": the disk is full" : "");
    for (size_t i = 0; status != LGV_OK && i < files; i++)
        if (!check_file(dir, list, i, false)) check_file(dir, list, i, true);
    return status;
}

enum lgv_status lgv_figures_draw(const struct lgv_text *script, const char *dir, const struct lgv_figure *list,
                                 size_t count, struct lgv_error *err) {
    return lgv_figures_draw_all(script, 1, dir, list, count, err);
}

/* No figure depends on another, so there is a script for every core. */
static enum lgv_status draw(const struct lgv_result *r, const char *dir, const struct lgv_figure *list, size_t count,
                            struct lgv_error *err) {
    struct lgv_text script[PLOTTERS] = {0};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = cores < 1 ? 1 : cores < PLOTTERS ? (size_t)cores : PLOTTERS;
    if (n > count) n = count;
    for (size_t i = 0; i < count; i++) lgv_figure_script(&script[i % n], r, &list[i]);
    enum lgv_status status = lgv_figures_draw_all(script, n, dir, list, count, err);
    for (size_t i = 0; i < n; i++) lgv_text_free(&script[i]);
    return status;
}

enum lgv_status lgv_figures(const struct lgv_result *r, const char *dir, struct lgv_error *err) {
    struct stat st;
    if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
        return lgv_fail(err, LGV_CANNOT_RUN, "cannot draw figures in '%s': it is not a directory", dir);
    size_t count;
    struct lgv_figure *list = lgv_figure_plan(r, &count);
    if (!list) return LGV_OK;
    /* gnuplot wants points, whatever the locale of the calling program. */
    locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = c ? uselocale(c) : (locale_t)0;
    enum lgv_status status = draw(r, dir, list, count, err);
    if (c) {
        uselocale(before);
        freelocale(c);
    }
    free(list);
    return status;
}
