/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The gnuplot script of one figure: its data, its axes, its plot command.
 *
 * Titles and names are text of the user.  They enter the script only by lgv_quote(): inside single quotes gnuplot
 * knows no escapes, no variables and no command substitution, and the terminals have enhanced text switched off. */
#include "out/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PATHS_DRAWN 16
#define PORTRAITS_DRAWN 6
#define POINTS 600             /* along time; more would not be visible */
#define TRAJECTORY_POINTS 4000 /* a curve in space winds */

/* Okabe and Ito's colours, told apart by colour-blind readers too. */
#define BLUE "#0072B2"
#define VERMILION "#D55E00"
#define GREEN "#009E73"
static const char *const path_colour[] = {BLUE, VERMILION, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#666666"};
#define PATH_COLOURS (sizeof path_colour / sizeof *path_colour)

const char *lgv_path_colour(size_t k) {
    return path_colour[k % PATH_COLOURS];
}

static const struct lgv_axis plain_axis; /* of times: drawn as they are */

/* text as a gnuplot string; it has been through lgv_plain, so that no line ends in it. */
void lgv_quote(struct lgv_text *out, const char *text) {
    lgv_text_append(out, "'", 1);
    for (; *text; text++) lgv_text_append(out, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1);
    lgv_text_append(out, "'", 1);
}

/* Index of drawn point k of `points` among n. */
static size_t pick(size_t k, size_t points, size_t n) {
    return points > 1 ? (size_t)((double)k * (double)(n - 1) / (double)(points - 1) + 0.5) : n - 1;
}

static size_t kept_times(const struct lgv_result *r) {
    return r->ndense ? r->ndense : r->ntimes;
}

static size_t points_of(const struct lgv_result *r, size_t most) {
    return r->ntimes < most ? r->ntimes : most;
}

/* Where the axis of a series has its zero when only changes are drawn, and what that is called. */
static double start_of(const struct lgv_series *s) {
    return lgv_at(s->mean, 0);
}

static const char *start_symbol(const struct lgv_series *s) {
    return lgv_at(s->std, 0) > 0 ? "mean" : NULL; /* random start values: paths begin at different places */
}

static void put_label(struct lgv_text *out, char letter, const struct lgv_axis *a, const struct lgv_result *r,
                      const struct lgv_series *s) {
    lgv_axis_label(out, letter, a, s->name, start_symbol(s), r->ntimes ? r->time[0] : 0);
}

/* mean low95 high95 q05 q95 at time i */
static void band_row(const struct lgv_series *s, size_t i, double row[5]) {
    double mean = lgv_at(s->mean, i), half = 1.96 * lgv_at(s->err, i);
    if (!isfinite(half)) half = 0; /* one path has no standard error: the band is the line */
    row[0] = mean;
    row[1] = mean - half;
    row[2] = mean + half;
    row[3] = lgv_at(s->quantile[0], i);
    row[4] = lgv_at(s->quantile[4], i);
}

static void extend_band(struct lgv_axis *a, const struct lgv_result *r, const struct lgv_series *s) {
    double row[5];
    for (size_t i = 0; i < r->ntimes; i++) {
        band_row(s, i, row);
        for (int c = 0; c < (r->paths == 1 ? 1 : 5); c++) lgv_axis_extend(a, row[c]);
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Clips the axis of a series to what most paths do at most times: the band of lgv_series_core, but for the twentieth of
 * the times where it is widest.  Of one path, the values at all but the outermost times. */
static void clip_axis(struct lgv_axis *a, const struct lgv_result *r, const struct lgv_series *s) {
    double *low = lgv_new(r->ntimes + 1, sizeof *low), *high = lgv_new(r->ntimes + 1, sizeof *high);
    size_t n = 0;
    for (size_t i = 0; low && high && i < r->ntimes; i++) {
        if (r->paths == 1)
            low[n] = high[n] = lgv_at(s->mean, i);
        else
            lgv_series_core(s, i, &low[n], &high[n]);
        n += isfinite(low[n]) && isfinite(high[n]);
    }
    if (n > 0) {
        qsort(low, n, sizeof *low, ascending);
        qsort(high, n, sizeof *high, ascending);
        lgv_axis_clip(a, low[n / 20], high[n - 1 - n / 20]);
    }
    free(low);
    free(high);
}

/* A series along kept path k, at all times it is known at. */
static const double *kept_row(const struct lgv_result *r, size_t k, size_t series) {
    return r->ndense ? r->sample[k].dense + series * r->ndense : r->sample[k].value + series * r->ntimes;
}

static void extend_samples(struct lgv_axis *a, const struct lgv_result *r, size_t series, size_t drawn) {
    for (size_t k = 0; k < drawn; k++)
        for (size_t i = 0; i < kept_times(r); i++) lgv_axis_extend(a, kept_row(r, k, series)[i]);
}

/* A mean that a few escaping paths carry far away says nothing on the axis of the others: it is left out there. */
static void drop_lost_mean(const struct lgv_axis *y, double row[5]) {
    double width = y->high - y->low, low = y->base + y->low - width, high = y->base + y->high + width;
    if (y->clipped && !(row[1] > low && row[2] < high)) row[0] = row[1] = row[2] = (double)NAN;
}

/* The data $band of one series: t and the row above. */
static void put_band(struct lgv_text *out, const struct lgv_result *r, const struct lgv_series *s,
                     const struct lgv_axis *y) {
    size_t points = points_of(r, POINTS);
    double row[5];
    lgv_text_add(out, "$band << END\n");
    for (size_t k = 0; k < points; k++) {
        size_t i = pick(k, points, r->ntimes);
        band_row(s, i, row);
        if (r->paths > 1) drop_lost_mean(y, row);
        if (r->paths == 1 && s->period > 0 && k > 0 &&
            fabs(row[0] - lgv_at(s->mean, pick(k - 1, points, r->ntimes))) > 0.5 * s->period)
            lgv_text_add(out, "\n"); /* the path goes around: no line there */
        lgv_axis_number(out, &plain_axis, r->time[i]);
        for (int c = 0; c < 5; c++) lgv_axis_number(out, y, row[c]);
        lgv_text_add(out, "\n");
    }
    lgv_text_add(out, "END\n");
}

/* Does a periodic coordinate go around between two times?  No line is drawn there. */
static bool goes_around(const struct lgv_result *r, size_t path, const size_t *series, size_t columns, size_t a,
                        size_t b) {
    for (size_t c = 0; c < columns; c++) {
        const double *x = kept_row(r, path, series[c]);
        double period = r->series[series[c]].period;
        if (period > 0 && fabs(x[b] - x[a]) > 0.5 * period) return true;
    }
    return false;
}

/* The data $path: kept paths one after another, a column for each series, at `most` of their first `known` times; the
 * first column is t when asked for. */
static void put_samples(struct lgv_text *out, const struct lgv_result *r, size_t drawn, size_t known, size_t most,
                        bool time, const size_t *series, const struct lgv_axis *axis, size_t columns) {
    const size_t points = known < most ? known : most;
    lgv_text_add(out, "$path << END\n");
    for (size_t k = 0; k < drawn; k++) {
        for (size_t j = 0; j < points; j++) {
            size_t i = pick(j, points, known);
            if (j > 0 && goes_around(r, k, series, columns, pick(j - 1, points, known), i)) lgv_text_add(out, "\n");
            if (time) lgv_axis_number(out, &plain_axis, r->ndense ? r->dense_time[i] : r->time[i]);
            for (size_t c = 0; c < columns; c++) lgv_axis_number(out, &axis[c], kept_row(r, k, series[c])[i]);
            lgv_text_add(out, "\n");
        }
        lgv_text_add(out, "\n\n");
    }
    lgv_text_add(out, "END\n");
}

static void put_time_axis(struct lgv_text *out, const struct lgv_result *r) {
    double low = r->time[0], high = r->time[r->ntimes - 1];
    if (!(high > low)) high = low + 0.5, low -= 0.5;
    lgv_text_add(out, "set xrange [%.12g:%.12g]\nset xlabel 'time t'\n", low, high);
}

static void put_bands_plot(struct lgv_text *out, const struct lgv_result *r) {
    if (r->paths == 1) /* no ensemble, no legend */
        lgv_text_add(out, "$band using 1:2 with %s lc rgb '" BLUE "' notitle",
                     r->ntimes > 1 ? "lines lw 1.6" : "points pt 7 ps 1");
    else if (r->ntimes == 1) /* there is no band to fill: the same numbers as bars and a dot */
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

/* MEAN, ENERGY and PATHS: along time, the latter two with kept paths. */
static void put_series(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    const struct lgv_series *s = &r->series[f->index];
    struct lgv_axis y = LGV_AXIS_EMPTY;
    size_t drawn = f->kind == LGV_FIGURE_MEAN || r->paths == 1 ? 0
                   : r->nsamples < PATHS_DRAWN                 ? r->nsamples
                                                               : PATHS_DRAWN;
    extend_band(&y, r, s);
    extend_samples(&y, r, f->index, drawn);
    clip_axis(&y, r, s);
    lgv_axis_settle(&y, start_of(s));
    put_band(out, r, s, &y);
    if (drawn > 0) put_samples(out, r, drawn, kept_times(r), POINTS, true, &f->index, &y, 1);
    put_time_axis(out, r);
    lgv_axis_range(out, 'y', &y, 0.08);
    put_label(out, 'y', &y, r, s);
    lgv_axis_note(out, &y, 1);
    lgv_text_add(out, "plot ");
    if (f->kind == LGV_FIGURE_ENERGY && drawn > 0 && r->ntimes > 1)
        lgv_text_add(out, "$path using 1:2 with lines lc rgb '#E69F00' lw 0.7 title 'sample paths', ");
    if (f->kind != LGV_FIGURE_PATHS) {
        put_bands_plot(out, r);
        lgv_text_add(out, "\n");
        return;
    }
    for (size_t k = 0; k < drawn; k++)
        lgv_text_add(out, "$path index %zu using 1:2 with %s lc rgb '%s' notitle, ", k,
                     r->ntimes > 1 ? "lines lw 0.9" : "points pt 7 ps 0.7", path_colour[k % PATH_COLOURS]);
    lgv_text_add(out, "$band using 1:2 with %s lc rgb 'black' title 'mean of all paths'\n",
                 r->ntimes > 1 ? "lines lw 2.6" : "points pt 5 ps 1");
}

/* Lines and starting points of the paths in $path, in a plane. */
static void put_portraits(struct lgv_text *out, size_t drawn) {
    lgv_text_add(out, "plot ");
    for (size_t k = 0; k < drawn; k++)
        lgv_text_add(out, "$path index %zu using 1:2 with lines lw %s lc rgb '%s' notitle, ", k,
                     drawn > 1 ? "0.8" : "1.1", path_colour[k % PATH_COLOURS]);
    for (size_t k = 0; k < drawn; k++)
        lgv_text_add(out, "$path index %zu every ::0:0:0:0 using 1:2 with points pt 7 ps 0.8 lc rgb '%s' notitle%s", k,
                     path_colour[k % PATH_COLOURS], k + 1 < drawn ? ", " : "\n");
}

static void put_phase(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    const size_t series[2] = {f->index, f->second};
    struct lgv_axis axis[2] = {LGV_AXIS_EMPTY, LGV_AXIS_EMPTY};
    size_t drawn = r->nsamples < PORTRAITS_DRAWN ? r->nsamples : PORTRAITS_DRAWN;
    for (size_t c = 0; c < 2; c++) {
        extend_samples(&axis[c], r, series[c], drawn);
        clip_axis(&axis[c], r, &r->series[series[c]]);
        lgv_axis_settle(&axis[c], start_of(&r->series[series[c]]));
        lgv_axis_range(out, "xy"[c], &axis[c], 0.05);
        put_label(out, "xy"[c], &axis[c], r, &r -> series[series[c]]);
    }
    lgv_axis_note(out, axis, 2);
    put_samples(out, r, drawn, kept_times(r), TRAJECTORY_POINTS, false, series, axis, 2);
    put_portraits(out, drawn);
}

/* True shapes need the same scale along all axes.  Not where one of them would be pressed flat, or the whole curve is
 * small against its distance from zero: then every axis has a scale of its own. */
static bool same_scale(struct lgv_axis *axis, size_t n) {
    double widest = 0, size = 0;
    for (size_t c = 0; c < n; c++) {
        if (!(axis[c].low <= axis[c].high)) return false;
        widest = fmax(widest, axis[c].high - axis[c].low);
        size = fmax(size, fmax(fabs(axis[c].low), fabs(axis[c].high)));
    }
    if (!(widest > 1e-3 * size) || !(widest > 1e-290)) return false;
    for (size_t c = 0; c < n; c++) {
        double width = axis[c].high - axis[c].low;
        if (width > 1e-9 * widest && width < widest / 8) return false;
    }
    for (size_t c = 0; c < n; c++) {
        double middle = 0.5 * (axis[c].low + axis[c].high);
        axis[c].low = middle - 0.5 * widest;
        axis[c].high = middle + 0.5 * widest;
    }
    return true;
}

/* The first kept path in its plane, or in space with its shadow on the floor. */
static void put_trajectory(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    struct lgv_axis axis[3] = {LGV_AXIS_EMPTY, LGV_AXIS_EMPTY, LGV_AXIS_EMPTY};
    size_t n = f->dimension;
    for (size_t c = 0; c < n; c++) {
        extend_samples(&axis[c], r, f->place[c], 1);
        clip_axis(&axis[c], r, &r->series[f->place[c]]);
    }
    bool same = same_scale(axis, n), surface = same && n == 3 && lgv_surface_put(out, r, axis);
    for (size_t c = 0; c < n; c++) {
        const struct lgv_series *s = &r->series[f->place[c]];
        if (!same) lgv_axis_settle(&axis[c], start_of(s));
        lgv_axis_range(out, "xyz"[c], &axis[c], 0.05);
        put_label(out, "xyz"[c], &axis[c], r, s);
    }
    lgv_axis_note(out, axis, n);
    put_samples(out, r, 1, kept_times(r), TRAJECTORY_POINTS, false, f->place, axis, n);
    if (n == 2) {
        put_portraits(out, 1);
        return;
    }
    char below[160]; /* what the path stands out against: its surface, or its shadow */
    double floor_at = axis[2].low - 0.05 * (axis[2].high - axis[2].low);
    if (surface)
        snprintf(below, sizeof below,
                 "$surface using 1:2:3:($4-$1):($5-$2):($6-$3) with vectors nohead lw 0.5 lc rgb '#D0D0D0' notitle, ");
    else
        snprintf(below, sizeof below,
                 "$path using 1:2:(%.12g) with lines lw 0.7 lc rgb '#BBBBBB' notitle, ", floor_at);
    lgv_text_add(out,
                 "set border 895 lc rgb '#BBBBBB' lw 0.6\nset xyplane at %.12g\nset view 62,32,1.12\n%s"
                 "set xtics autofreq offset 0,-0.3\nset ytics autofreq offset 0.6,-0.3\n"
                 "set xlabel offset 0,-0.6\nset ylabel offset 1.2,-0.6\nset zlabel rotate by 90 offset -1,0\n"
                 "splot %s"
                 "$path using 1:2:3 with lines lw 1.2 lc rgb '" BLUE "' notitle, "
                 "$path every ::0:0:0:0 using 1:2:3 with points pt 7 ps 0.8 lc rgb '" VERMILION "' notitle\n",
                 floor_at, same ? "set view equal xyz\n" : "", below);
}

/* The columns of R(w, x, y, z), as formulas of the columns 1 to 4 of $path. */
static const char *const body_axis[3][3] = {
    {"1-2*($3**2+$4**2)", "2*($2*$3+$1*$4)", "2*($2*$4-$1*$3)"},
    {"2*($2*$3-$1*$4)", "1-2*($2**2+$4**2)", "2*($3*$4+$1*$2)"},
    {"2*($2*$4+$1*$3)", "2*($3*$4-$1*$2)", "1-2*($2**2+$3**2)"},
};

/* Axis k where it points to the viewer, or where it points away (side -1), or everywhere (0). */
static void put_body_axis(struct lgv_text *out, size_t k, int side) {
    const char *const *a = body_axis[k];
    lgv_text_add(out, "(%s):(%s):(", a[0], a[1]);
    if (side) lgv_text_add(out, "%d*toward(%s,%s,%s) > 0 ? ", side, a[0], a[1], a[2]);
    lgv_text_add(out, "%s%s)", a[2], side ? " : NaN" : "");
}

#define MOST_TURNED 80.0 /* radians that are drawn: curves of much longer ways cover the sphere */

size_t lgv_figure_turns(const struct lgv_result *r, const size_t quaternion[4], double *pace) {
    const size_t known = kept_times(r);
    double turned = 0;
    size_t i = 1;
    for (; i < known && turned <= MOST_TURNED; i++) {
        double along = 0;
        for (size_t c = 0; c < 4; c++) along += kept_row(r, 0, quaternion[c])[i - 1] * kept_row(r, 0, quaternion[c])[i];
        turned += 2 * acos(fmin(fabs(along), 1));
    }
    *pace = turned / (double)i;
    return i;
}

/* Where the three axes of a body point along the first kept path: curves on the unit sphere. */
static void put_orientation(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    static const char *const pale[3] = {"#AACFE4", "#F0C3A3", "#A3D9CA"};
    static const struct lgv_axis axis[4];
    double pace;
    const size_t known = lgv_figure_turns(r, f->place, &pace);
    put_samples(out, r, 1, known, TRAJECTORY_POINTS, false, f->place, axis, 4);
    if (known < kept_times(r))
        lgv_text_add(out, "set label 1 'up to t = %.4g' at screen 0.97,0.06 right\n",
                     (r->ndense ? r->dense_time : r->time)[known - 1]);
    lgv_text_add(out,
                 "unset border\nunset tics\nset xyplane at -1.05\nset view 62,32,1.5\nset view equal xyz\n"
                 "set xrange [-1.05:1.05]\nset yrange [-1.05:1.05]\nset zrange [-1.05:1.05]\n"
                 "set parametric\nset urange [0:2*pi]\nset vrange [-pi/2:pi/2]\nset isosamples 19,13\nset samples 73\n"
                 "toward(x,y,z) = 0.4679*x - 0.7488*y + 0.4695*z\n" /* of the view above */
                 "set key at screen 0.97,0.9 right top samplen 1.5\n"
                 "splot cos(v)*cos(u),cos(v)*sin(u),sin(v) with lines lw 0.4 lc rgb '#DDDDDD' notitle");
    for (size_t k = 0; k < 3; k++) {
        lgv_text_add(out, ", $path using ");
        put_body_axis(out, k, -1);
        lgv_text_add(out, " with lines lw 0.8 lc rgb '%s' notitle", pale[k]);
    }
    for (size_t k = 0; k < 3; k++) {
        lgv_text_add(out, ", $path using ");
        put_body_axis(out, k, 1);
        lgv_text_add(out, " with lines lw 1.3 lc rgb '%s' title 'axis %zu', $path every ::0:0:0:0 using ",
                     path_colour[k], k + 1);
        put_body_axis(out, k, 0);
        lgv_text_add(out, " with points pt 7 ps 0.8 lc rgb '%s' notitle", path_colour[k]);
    }
    lgv_text_add(out, "\n");
}

static void put_histogram(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    const struct lgv_histogram *h = &r->histogram[f->index];
    const struct lgv_series *s = NULL;
    struct lgv_axis x = LGV_AXIS_EMPTY;
    double paths = h->below + h->above, most = 0;
    for (size_t i = 0; i < r->nseries && !s; i++)
        if (r->series[i].name && h->name && strcmp(r->series[i].name, h->name) == 0) s = &r->series[i];
    for (size_t i = 0; i <= h->bins; i++) lgv_axis_extend(&x, h->edge[i]);
    lgv_axis_settle(&x, s ? start_of(s) : (double)NAN);
    lgv_text_add(out, "$bar << END\n");
    for (size_t i = 0; i < h->bins; i++) {
        double count = lgv_at(h->count, i);
        lgv_axis_number(out, &x, 0.5 * (h->edge[i] + h->edge[i + 1]));
        lgv_axis_number(out, &plain_axis, count);
        lgv_axis_number(out, &x, h->edge[i]);
        lgv_axis_number(out, &x, h->edge[i + 1]);
        lgv_text_add(out, "\n");
        if (isfinite(count) && count < 1e300) most = fmax(most, count);
        paths += count;
    }
    lgv_text_add(out, "END\n");
    lgv_axis_range(out, 'x', &x, 0.02);
    if (s)
        put_label(out, 'x', &x, r, s);
    else
        lgv_axis_label(out, 'x', &x, h->name, NULL, 0);
    lgv_text_add(out,
                 "set yrange [0:%.12g]\nset ylabel 'paths'\n"
                 "plot $bar using 1:2:3:4:(0):2 with boxxyerror fc rgb '" BLUE "' fs transparent solid 0.55 "
                 "border lc rgb '#00507C' lw 0.6 title '%.0f paths",
                 fmax(1, 1.08 * most), paths);
    if (h->below > 0 || h->above > 0) lgv_text_add(out, ", %.0f outside", h->below + h->above);
    lgv_text_add(out, "'\n");
}

/* The index in NAME[k], or the place in the family where there are several or none can be read. */
static double profile_at(const struct lgv_series *s, size_t place) {
    const char *bracket = strchr(s->name, '[');
    char *end = NULL;
    double k = bracket ? strtod(bracket + 1, &end) : 0;
    return end && *end == ']' ? k : (double)place + 1;
}

/* A family over its index, at the start and at the end. */
static void put_profile(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    const struct lgv_series *s = &r->series[f->index];
    struct lgv_axis y = LGV_AXIS_EMPTY;
    size_t last = r->ntimes - 1, points = f->members < POINTS ? f->members : POINTS;
    double row[5];
    for (size_t i = 0; i < f->members; i++) {
        band_row(&s[i * f->stride], last, row);
        for (int c = 0; c < (r->paths == 1 ? 1 : 5); c++) lgv_axis_extend(&y, row[c]);
        lgv_axis_extend(&y, lgv_at(s[i * f->stride].mean, 0));
    }
    lgv_axis_settle(&y, (double)NAN);
    lgv_text_add(out, "$band << END\n");
    for (size_t k = 0; k < points; k++) {
        size_t i = pick(k, points, f->members);
        band_row(&s[i * f->stride], last, row);
        lgv_axis_number(out, &plain_axis, profile_at(&s[i * f->stride], i));
        for (int c = 0; c < 5; c++) lgv_axis_number(out, &y, row[c]);
        lgv_axis_number(out, &y, lgv_at(s[i * f->stride].mean, 0));
        lgv_text_add(out, "\n");
    }
    lgv_text_add(out, "END\n");
    lgv_text_add(out, "set xrange [%.12g:%.12g]\nset xlabel 'index'\n", profile_at(s, 0),
                 profile_at(&s[(f->members - 1) * f->stride], f->members - 1));
    lgv_axis_range(out, 'y', &y, 0.08);
    lgv_axis_label(out, 'y', &y, "value", NULL, 0);
    lgv_text_add(out, "plot $band using 1:7 with lines lc rgb '#999999' lw 1.4 title 'at the start', ");
    put_bands_plot(out, r);
    lgv_text_add(out, "\n");
}

/* Everything a figure changes is set anew for each: no figure depends on the one before. */
void lgv_figure_script(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    static void (*const body[])(struct lgv_text *, const struct lgv_result *, const struct lgv_figure *) = {
        [LGV_FIGURE_MEAN] = put_series,           [LGV_FIGURE_ENERGY] = put_series,
        [LGV_FIGURE_PATHS] = put_series,          [LGV_FIGURE_PHASE] = put_phase,
        [LGV_FIGURE_TRAJECTORY] = put_trajectory, [LGV_FIGURE_HISTOGRAM] = put_histogram,
        [LGV_FIGURE_FOUND] = lgv_found_script,    [LGV_FIGURE_ORIENTATION] = put_orientation,
        [LGV_FIGURE_PROFILE] = put_profile,       [LGV_FIGURE_MAP] = lgv_map_script,
        [LGV_FIGURE_ARROWS] = lgv_arrows_script,
    };
    bool space = (f->kind == LGV_FIGURE_TRAJECTORY && f->dimension == 3) || f->kind == LGV_FIGURE_ORIENTATION ||
                 f->kind == LGV_FIGURE_ARROWS;
    bool square = space || f->kind == LGV_FIGURE_PHASE || f->kind == LGV_FIGURE_TRAJECTORY || f->kind == LGV_FIGURE_MAP;
    bool legend = !square && r->paths != 1 && f->kind != LGV_FIGURE_FOUND;
    int width = 600, height = square ? 480 : 350;
    lgv_text_add(out, LGV_PLOT_BEGIN
                      "set format '%%g'\n");
    if (!space) lgv_text_add(out, "set lmargin 13\nset rmargin 3\nset tmargin %s\n", legend || square ? "3.7" : "2.4");
    lgv_text_add(out, "%s%s", square && !space ? "set size square\n" : "",
                 legend ? "set key at graph 0,1.02 left bottom vertical maxrows 1 width -4 Left reverse samplen 2 "
                          "textcolor rgb '#444444'\n"
                        : "set key off\n");
    lgv_text_add(out, "set label 1 ");
    lgv_title(out, f->title, square ? 570 : LGV_TITLE_LEFT);
    lgv_text_add(out, " at %s noenhanced\n",
                 space    ? "screen 0.5,0.96 center"
                 : square ? "graph 0.5,1.05 center"
                 : legend ? "graph 0,1.15 left"
                          : "graph 0,1.06 left");
    lgv_plot_open(out, f->file, width, height);
    body[f->kind](out, r, f);
    lgv_plot_close(out, f->file, width, height);
}
