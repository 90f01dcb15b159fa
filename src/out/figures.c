/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures of a run: which there are, and the gnuplot script that draws each as SVG and PNG.
 *
 * Titles and names are text of the user.  They enter the script only by lgv_quote(): inside single quotes gnuplot
 * knows no escapes, no variables and no command substitution, and the terminals have enhanced text switched off. */
#include "out/private.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEANS 12 /* at most so many figures of means */
#define PATH_FIGURES 4
#define HISTOGRAMS 8
#define PATHS_DRAWN 16
#define PORTRAITS_DRAWN 6
#define POINTS 600 /* along time; more would not be visible */

/* Okabe and Ito's colours, told apart by colour-blind readers too. */
#define BLUE "#0072B2"
#define VERMILION "#D55E00"
#define GREEN "#009E73"
static const char *const path_colour[] = {BLUE, VERMILION, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#666666"};
#define PATH_COLOURS (sizeof path_colour / sizeof *path_colour)

static bool any_finite(const double *x, size_t n) {
    for (size_t i = 0; x && i < n; i++)
        if (isfinite(x[i])) return true;
    return false;
}

/* Adds a figure with a file name no other one has. */
static void plan_add(struct lgv_figure *list, size_t *count, struct lgv_figure f, const char *prefix,
                     const char *name) {
    char base[80];
    lgv_file_name(base, 64, prefix, name);
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
    struct lgv_figure f = {.kind = LGV_FIGURE_ENERGY,
                           .index = i,
                           .caption = "Energy H: mean with its 95 % confidence band, the band between the 5 % and 95 % "
                                      "quantiles, and kept sample paths."};
    snprintf(f.title, sizeof f.title, "Energy H: largest drift of a path %.3g, mean drift %.3g", r->series[i].drift,
             r->series[i].drift_mean);
    snprintf(f.file, sizeof f.file, "energy");
    list[(*count)++] = f;
}

static void plan_mean(const struct lgv_result *r, size_t i, struct lgv_figure *list, size_t *count) {
    const struct lgv_series *s = &r->series[i];
    char name[100], formula[100];
    struct lgv_figure f = {.kind = LGV_FIGURE_MEAN,
                           .index = i,
                           .caption =
                               "Mean over the ensemble with its 95 % confidence band, and the band between the 5 % "
                               "and 95 % quantiles of the paths."};
    lgv_plain(name, sizeof name, s->name);
    lgv_plain(formula, sizeof formula, s->formula);
    if (s->kind == LGV_SERIES_MOMENTUM)
        snprintf(f.title, sizeof f.title, "Momentum map %s: largest drift of a path %.2g", name, s->drift);
    else if (*formula && strcmp(name, formula) != 0)
        snprintf(f.title, sizeof f.title, "%s = %s", name, formula);
    else
        snprintf(f.title, sizeof f.title, "%s", name);
    plan_add(list, count, f, "mean", s->name);
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
    size_t q = r->nseries, p = r->nseries;
    for (size_t i = r->nseries; i-- > 0;) {
        if (r->series[i].kind == LGV_SERIES_COORDINATE) q = i;
        if (r->series[i].kind == LGV_SERIES_CONJUGATE) p = i;
    }
    if (q == r->nseries || p == r->nseries || r->nsamples == 0) return;
    char a[100], b[100];
    struct lgv_figure f = {.kind = LGV_FIGURE_PHASE,
                           .index = q,
                           .second = p,
                           .file = "phase",
                           .caption =
                               "Kept sample paths in the plane of the first coordinate and its momentum; dots mark "
                               "where they start."};
    snprintf(f.title, sizeof f.title, "Phase portrait in the plane of %s and %s",
             lgv_plain(a, sizeof a, r->series[q].name), lgv_plain(b, sizeof b, r->series[p].name));
    list[(*count)++] = f;
}

static void plan_histograms(const struct lgv_result *r, struct lgv_figure *list, size_t *count) {
    size_t drawn = 0;
    for (size_t i = 0; i < r->nhistograms && drawn < HISTOGRAMS; i++) {
        const struct lgv_histogram *h = &r->histogram[i];
        if (h->bins == 0 || !any_finite(h->edge, h->bins + 1)) continue;
        char name[100];
        struct lgv_figure f = {.kind = LGV_FIGURE_HISTOGRAM,
                               .index = i,
                               .caption = "How the values at the end of the run are distributed over the paths."};
        snprintf(f.title, sizeof f.title, "Final values of %s", lgv_plain(name, sizeof name, h->name));
        plan_add(list, count, f, "histogram", h->name);
        drawn++;
    }
}

struct lgv_figure *lgv_figure_plan(const struct lgv_result *r, size_t *count) {
    *count = 0;
    struct lgv_figure *list = lgv_new(MEANS + PATH_FIGURES + HISTOGRAMS + 2, sizeof *list);
    size_t *order = lgv_series_order(r), means = 0, paths = 0;
    bool energy = false;
    if (list && order && r->ntimes > 0) {
        for (size_t k = 0; k < r->nseries; k++) {
            if (r->series[order[k]].kind != LGV_SERIES_ENERGY) {
                if (means++ < MEANS) plan_mean(r, order[k], list, count);
            } else if (!energy) {
                plan_energy(r, order[k], list, count);
                energy = true;
            }
        }
        for (size_t k = 0; k < r->nseries && r->nsamples > 0; k++) {
            int kind = r->series[order[k]].kind;
            if (kind != LGV_SERIES_ENERGY && kind != LGV_SERIES_MOMENTUM && paths++ < PATH_FIGURES)
                plan_paths(r, order[k], list, count);
        }
        plan_phase(r, list, count);
        plan_histograms(r, list, count);
    }
    free(order);
    if (*count > 0) return list;
    free(list);
    return NULL;
}

/* text as a gnuplot string; it has been through lgv_plain, so that no line ends in it. */
void lgv_quote(struct lgv_text *out, const char *text) {
    lgv_text_append(out, "'", 1);
    for (; *text; text++) lgv_text_append(out, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1);
    lgv_text_append(out, "'", 1);
}

static void number(struct lgv_text *out, double x) {
    if (isfinite(x) && fabs(x) < 1e300)
        lgv_text_add(out, " %.9g", x);
    else
        lgv_text_add(out, " NaN");
}

/* Index of drawn point k of `points` among n. */
static size_t pick(size_t k, size_t points, size_t n) {
    return points > 1 ? (size_t)((double)k * (double)(n - 1) / (double)(points - 1) + 0.5) : n - 1;
}

struct range {
    double low, high;
};

static void extend(struct range *range, double x) {
    if (isfinite(x) && fabs(x) < 1e300) {
        range->low = fmin(range->low, x);
        range->high = fmax(range->high, x);
    }
}

/* Writes "[low:high]" with some air.  A constant, or nothing at all, still gets an axis, and one on which round-off
 * looks like the flat line it is. */
static void put_range(struct lgv_text *out, const char *axis, struct range range, double air) {
    if (!(range.low <= range.high)) range = (struct range){0, 1};
    double width = range.high - range.low, size = fmax(fabs(range.low), fabs(range.high));
    if (width <= 1e-9 * size || width <= 1e-300) {
        width = size > 1e-290 ? 0.2 * size : 2;
        range =
            (struct range){0.5 * (range.low + range.high) - 0.5 * width, 0.5 * (range.low + range.high) + 0.5 * width};
    }
    lgv_text_add(out, "set %srange [%.12g:%.12g]\n", axis, range.low - air * width, range.high + air * width);
}

/* Block $band of one series: t mean low95 high95 q05 q95. */
static void put_band(struct lgv_text *out, const struct lgv_result *r, const struct lgv_series *s,
                     struct range *range) {
    size_t points = r->ntimes < POINTS ? r->ntimes : POINTS;
    lgv_text_add(out, "$band << END\n");
    for (size_t k = 0; k < points; k++) {
        size_t i = pick(k, points, r->ntimes);
        double mean = lgv_at(s->mean, i), half = 1.96 * lgv_at(s->err, i);
        if (!isfinite(half)) half = 0; /* one path has no standard error: the band is the line */
        double row[6] = {
            r->time[i], mean, mean - half, mean + half, lgv_at(s->quantile[0], i), lgv_at(s->quantile[4], i)};
        for (int c = 0; c < 6; c++) {
            number(out, row[c]);
            if (c > 0) extend(range, row[c]);
        }
        lgv_text_add(out, "\n");
    }
    lgv_text_add(out, "END\n");
}

/* Block $path: kept paths one after another as (t, x) or, with a second series, (x, y); NULL ranges are not wanted. */
static size_t put_samples(struct lgv_text *out, const struct lgv_result *r, size_t first, size_t second, bool phase,
                          struct range *x_range, struct range *y_range) {
    size_t most = phase ? PORTRAITS_DRAWN : PATHS_DRAWN, drawn = r->nsamples < most ? r->nsamples : most;
    size_t points = r->ntimes < POINTS ? r->ntimes : POINTS;
    lgv_text_add(out, "$path << END\n");
    for (size_t k = 0; k < drawn; k++) {
        for (size_t j = 0; j < points; j++) {
            size_t i = pick(j, points, r->ntimes);
            const double *value = r->sample[k].value;
            double x = phase ? value[first * r->ntimes + i] : r->time[i];
            double y = value[(phase ? second : first) * r->ntimes + i];
            number(out, x);
            number(out, y);
            lgv_text_add(out, "\n");
            if (x_range) extend(x_range, x);
            extend(y_range, y);
        }
        lgv_text_add(out, "\n\n");
    }
    lgv_text_add(out, "END\n");
    return drawn;
}

static struct range time_range(const struct lgv_result *r) {
    struct range t = {INFINITY, -INFINITY};
    for (size_t i = 0; i < r->ntimes; i++) extend(&t, r->time[i]);
    return t;
}

static void put_bands_plot(struct lgv_text *out, const struct lgv_result *r) {
    /* With one output time there is no band to fill: the same numbers as bars and a dot. */
    if (r->ntimes == 1)
        lgv_text_add(out,
                     "$band using 1:2:5:6 with yerrorbars lc rgb '#8FBBDA' lw 6 pt 7 ps 0.1 title '5-95 %% of paths', "
                     "$band using 1:2:3:4 with yerrorbars lc rgb '" BLUE "' lw 2.5 pt 7 ps 1 "
                     "title 'mean (95 %% band)'");
    else
        lgv_text_add(out, "$band using 1:5:6 with filledcurves fc rgb '" BLUE "' fs transparent solid 0.16 noborder "
                          "title '5-95 %% of paths', "
                          "$band using 1:3:4 with filledcurves fc rgb '" BLUE "' fs transparent solid 0.42 noborder "
                          "notitle, $band using 1:2 with lines lc rgb '" BLUE "' lw 2 "
                          "title 'mean (95 %% band)'");
}

static void put_series_labels(struct lgv_text *out, const struct lgv_series *s) {
    char name[100];
    lgv_text_add(out, "set xlabel 'time t'\nset ylabel ");
    lgv_quote(out, lgv_plain(name, sizeof name, s->name));
    lgv_text_add(out, "\n");
}

static void put_mean(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    struct range y = {INFINITY, -INFINITY};
    put_band(out, r, &r->series[f->index], &y);
    put_range(out, "x", time_range(r), r->ntimes == 1 ? 0.2 : 0);
    put_range(out, "y", y, 0.08);
    put_series_labels(out, &r->series[f->index]);
    lgv_text_add(out, "plot ");
    put_bands_plot(out, r);
    lgv_text_add(out, "\n");
}

static void put_energy(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    struct range y = {INFINITY, -INFINITY};
    put_band(out, r, &r->series[f->index], &y);
    size_t drawn = put_samples(out, r, f->index, 0, false, NULL, &y);
    put_range(out, "x", time_range(r), r->ntimes == 1 ? 0.2 : 0);
    put_range(out, "y", y, 0.08);
    put_series_labels(out, &r->series[f->index]);
    lgv_text_add(out, "plot ");
    if (drawn > 0 && r->ntimes > 1)
        lgv_text_add(out, "$path using 1:2 with lines lc rgb '#E69F00' lw 0.7 title 'sample paths', ");
    put_bands_plot(out, r);
    lgv_text_add(out, "\n");
}

static void put_paths(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    struct range y = {INFINITY, -INFINITY};
    put_band(out, r, &r->series[f->index], &y);
    size_t drawn = put_samples(out, r, f->index, 0, false, NULL, &y);
    put_range(out, "x", time_range(r), r->ntimes == 1 ? 0.2 : 0);
    put_range(out, "y", y, 0.08);
    put_series_labels(out, &r->series[f->index]);
    lgv_text_add(out, "plot ");
    for (size_t k = 0; k < drawn; k++)
        lgv_text_add(out, "$path index %zu using 1:2 with %s lc rgb '%s' %s notitle, ", k,
                     r->ntimes > 1 ? "lines lw 0.9" : "points pt 7 ps 0.7", path_colour[k % PATH_COLOURS], "");
    lgv_text_add(out, "$band using 1:2 with %s lc rgb 'black' title 'mean of all paths'\n",
                 r->ntimes > 1 ? "lines lw 2.6" : "points pt 5 ps 1");
}

static void put_phase(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    struct range x = {INFINITY, -INFINITY}, y = x;
    char name[100];
    size_t drawn = put_samples(out, r, f->index, f->second, true, &x, &y);
    put_range(out, "x", x, 0.05);
    put_range(out, "y", y, 0.05);
    lgv_text_add(out, "set xlabel ");
    lgv_quote(out, lgv_plain(name, sizeof name, r->series[f->index].name));
    lgv_text_add(out, "\nset ylabel ");
    lgv_quote(out, lgv_plain(name, sizeof name, r->series[f->second].name));
    lgv_text_add(out, "\nplot ");
    for (size_t k = 0; k < drawn; k++)
        lgv_text_add(out, "$path index %zu using 1:2 with lines lw 0.8 lc rgb '%s' notitle, ", k,
                     path_colour[k % PATH_COLOURS]);
    for (size_t k = 0; k < drawn; k++)
        lgv_text_add(out, "$path index %zu every ::0::0 using 1:2 with points pt 7 ps 0.8 lc rgb '%s' notitle%s", k,
                     path_colour[k % PATH_COLOURS], k + 1 < drawn ? ", " : "\n");
}

static void put_histogram(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    const struct lgv_histogram *h = &r->histogram[f->index];
    struct range x = {INFINITY, -INFINITY}, y = {0, 0};
    double paths = h->below + h->above;
    char name[100];
    lgv_text_add(out, "$bar << END\n");
    for (size_t i = 0; i < h->bins; i++) {
        number(out, 0.5 * (h->edge[i] + h->edge[i + 1]));
        number(out, lgv_at(h->count, i));
        number(out, h->edge[i]);
        number(out, h->edge[i + 1]);
        lgv_text_add(out, "\n");
        extend(&x, h->edge[i]);
        extend(&x, h->edge[i + 1]);
        extend(&y, lgv_at(h->count, i));
        paths += lgv_at(h->count, i);
    }
    lgv_text_add(out, "END\n");
    put_range(out, "x", x, 0.02);
    put_range(out, "y", (struct range){0, fmax(1, 1.08 * y.high)}, 0);
    lgv_text_add(out, "set xlabel ");
    lgv_quote(out, lgv_plain(name, sizeof name, h->name));
    lgv_text_add(out,
                 "\nset ylabel 'paths'\n"
                 "plot $bar using 1:2:3:4:(0):2 with boxxyerror fc rgb '" BLUE "' fs transparent solid 0.55 "
                 "border lc rgb '#00507C' lw 0.6 title '%.0f paths",
                 paths);
    if (h->below > 0 || h->above > 0) lgv_text_add(out, ", %.0f outside", h->below + h->above);
    lgv_text_add(out, "'\n");
}

/* Everything a figure changes is set anew for each: no figure depends on the one before. */
static void put_figure(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    static void (*const body[])(struct lgv_text *, const struct lgv_result *, const struct lgv_figure *) = {
        [LGV_FIGURE_MEAN] = put_mean,   [LGV_FIGURE_ENERGY] = put_energy,       [LGV_FIGURE_PATHS] = put_paths,
        [LGV_FIGURE_PHASE] = put_phase, [LGV_FIGURE_HISTOGRAM] = put_histogram,
    };
    bool square = f->kind == LGV_FIGURE_PHASE;
    int width = 600, height = square ? 480 : 350;
    lgv_text_add(out, "reset\nset encoding utf8\nset grid lc rgb '#DDDDDD' lw 0.7 lt 1\n"
                      "set border 3 lc rgb '#444444' lw 1\nset tics nomirror out scale 0.6 textcolor rgb '#222222'\n"
                      "set format '%%g'\nset datafile missing 'NaN'\nset lmargin 10\nset rmargin 3\nset tmargin 3.7\n");
    lgv_text_add(out, square
                          ? "set size square\nset key off\n"
                          : "set key at graph 0,1.02 left bottom horizontal maxrows 1 width -4 Left reverse samplen 2 "
                            "textcolor rgb '#444444'\n");
    lgv_text_add(out, "set label 1 ");
    char title[80]; /* as much as fits the width */
    lgv_quote(out, lgv_plain(title, sizeof title, f->title));
    lgv_text_add(out, " at graph %s noenhanced\n", square ? "0.5,1.05 center" : "0,1.15 left");
    lgv_text_add(out,
                 "set terminal svg noenhanced size %d,%d background '#FFFFFF' font 'sans-serif,13'\n"
                 "set output '%s.svg'\n",
                 width, height, f->file);
    body[f->kind](out, r, f);
    lgv_text_add(out,
                 "set terminal pngcairo noenhanced size %d,%d background '#FFFFFF' font 'sans-serif,20' linewidth 1.8\n"
                 "set output '%s.png'\nreplot\nset output\n",
                 width * 2, height * 2, f->file);
}

/* gnuplot ends well even on a full disk: a figure is there when its last bytes are.  With `discard` it is removed. */
static bool check_file(const char *dir, const char *name, bool png, bool discard) {
    struct lgv_text path = {0};
    char tail[13] = {0};
    lgv_text_add(&path, "%s/%s.%s", dir, name, png ? "png" : "svg");
    FILE *f = path.failed || discard ? NULL : fopen(path.data, "rb");
    if (discard && !path.failed) unlink(path.data);
    bool good = f && fseek(f, -12, SEEK_END) == 0 && fread(tail, 1, 12, f) == 12 &&
                (png ? memcmp(tail + 4, "IEND", 4) == 0 : strstr(tail, "</svg>") != NULL);
    if (f) fclose(f);
    lgv_text_free(&path);
    return good;
}

enum lgv_status lgv_figures_draw(const struct lgv_text *script, const char *dir, const struct lgv_figure *list,
                                 size_t count, struct lgv_error *err) {
    for (size_t i = 0; i < 2 * count; i++)
        check_file(dir, list[i / 2].file, i % 2, true); /* an old figure must not pass for a new one */
    enum lgv_status status = script->failed ? lgv_fail_memory(err) : lgv_gnuplot(dir, script, err);
    for (size_t i = 0; status == LGV_OK && i < 2 * count; i++)
        if (!check_file(dir, list[i / 2].file, i % 2, false))
            status = lgv_fail(err, LGV_CANNOT_RUN, "gnuplot did not finish '%s/%s.%s' (is the disk full?)", dir,
                              list[i / 2].file, i % 2 ? "png" : "svg");
    for (size_t i = 0; status != LGV_OK && i < 2 * count; i++)
        if (!check_file(dir, list[i / 2].file, i % 2, false)) check_file(dir, list[i / 2].file, i % 2, true);
    return status;
}

static enum lgv_status draw(const struct lgv_result *r, const char *dir, const struct lgv_figure *list, size_t count,
                            struct lgv_error *err) {
    struct lgv_text script = {0};
    for (size_t i = 0; i < count; i++) put_figure(&script, r, &list[i]);
    enum lgv_status status = lgv_figures_draw(&script, dir, list, count, err);
    lgv_text_free(&script);
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
