/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Many bodies as arrows: a family of unit vectors, as `axis: each(k=1..K, R[k]*[0,0,1])`, at the places of another
 * family of vectors, as `place: each(k=1..K, x[k])`, or else from the centre of the unit sphere; at the end of the
 * first kept path. */
#include "out/private.h"

#include <math.h>
#include <string.h>

#define UNIT 1e-9 /* how far a unit vector may be from it */

/* Component c of member k of the family that begins with series `first`, at output time i. */
static double value_at(const struct lgv_result *r, size_t i, size_t first, size_t k, size_t c) {
    return r->sample[0].value ? r->sample[0].value[(first + 3 * k + c) * r->ntimes + i] : (double)NAN;
}

static double last_value(const struct lgv_result *r, size_t first, size_t k, size_t c) {
    return value_at(r, r->ntimes - 1, first, k, c);
}

/* Does a family of vectors begin here? */
static bool vectors(const struct lgv_result *r, const struct lgv_member *m, size_t i) {
    const char *name = r->series[i].name;
    size_t length = name ? strlen(name) : 0;
    return m[i].place == 0 && m[i].width == 3 && m[i].count > 1 && length > 2 && strcmp(name + length - 2, ".x") == 0;
}

static bool all_finite(const struct lgv_result *r, size_t first, size_t count) {
    for (size_t k = 0; k < 3 * count; k++)
        if (!isfinite(last_value(r, first, k / 3, k % 3))) return false;
    return true;
}

/* The length is 1, of all members and at the start too. */
static bool unit(const struct lgv_result *r, size_t first, size_t count) {
    for (size_t k = 0; k < count; k++) {
        double end = 0, start = 0;
        for (size_t c = 0; c < 3; c++) {
            end += pow(last_value(r, first, k, c), 2);
            start += pow(value_at(r, 0, first, k, c), 2);
        }
        if (!(fabs(end - 1) < UNIT && fabs(start - 1) < UNIT)) return false;
    }
    return true;
}

size_t lgv_arrows_plan(const struct lgv_result *r, const struct lgv_member *m, struct lgv_figure *list) {
    struct lgv_figure f = {.kind = LGV_FIGURE_ARROWS, .file = "arrows"};
    size_t i = 0, j = 0, n = r->nseries;
    if (r->nsamples == 0 || r->ntimes == 0) return 0;
    while (i < n && !(vectors(r, m, i) && unit(r, i, m[i].count))) i++;
    if (i == n) return 0;
    while (j < n && !(j != i && vectors(r, m, j) && m[j].count == m[i].count && all_finite(r, j, m[j].count))) j++;
    f.index = i;
    f.second = j < n ? j : i; /* the same: from the centre */
    f.members = m[i].count;
    f.caption = j < n ? "Bodies at the end of one path, an arrow through the place of each: blue points down, "
                        "red up."
                      : "Directions at the end of one path, blue points down, red up.";
    char name[60];
    lgv_plain(name, sizeof name, r->series[i].name);
    snprintf(f.title, sizeof f.title, "%.*s of %zu bodies at t = %g", (int)strcspn(name, "["), name, f.members,
             r->time[r->ntimes - 1]);
    list[0] = f;
    return 1;
}

/* Arrows are as long as bodies in the box around them are apart. */
static double length_of(const struct lgv_axis *axis, size_t count) {
    double volume = 1;
    for (size_t c = 0; c < 3; c++) volume *= fmax(axis[c].high - axis[c].low, 1e-300);
    return 0.8 * cbrt(volume / (double)count);
}

/* Bodies in a plane or on a line have a box, too: a side below half of the longest is made as long. */
static void widen(struct lgv_axis *axis) {
    double longest = 0;
    for (size_t c = 0; c < 3; c++) longest = fmax(longest, axis[c].high - axis[c].low);
    for (size_t c = 0; c < 3; c++) {
        const double centre = 0.5 * (axis[c].low + axis[c].high);
        if (axis[c].high - axis[c].low >= 0.5 * longest) continue;
        lgv_axis_extend(&axis[c], centre - 0.5 * longest);
        lgv_axis_extend(&axis[c], centre + 0.5 * longest);
    }
}

void lgv_arrows_script(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    static const struct lgv_axis plain;
    struct lgv_axis axis[3] = {LGV_AXIS_EMPTY, LGV_AXIS_EMPTY, LGV_AXIS_EMPTY};
    const bool sphere = f->second == f->index;
    for (size_t k = 0; k < 3 * f->members; k++)
        lgv_axis_extend(&axis[k % 3], sphere ? (k & 1 ? 1.0 : -1.0) : last_value(r, f->second, k / 3, k % 3));
    widen(axis);
    double length = sphere ? 1 : length_of(axis, f->members);
    lgv_text_add(out, "$arrow << END\n");
    for (size_t k = 0; k < f->members; k++) {
        for (size_t c = 0; c < 3; c++) {
            double from = sphere ? 0 : last_value(r, f->second, k, c) - 0.5 * length * last_value(r, f->index, k, c);
            lgv_axis_number(out, &plain, from);
        }
        for (size_t c = 0; c < 3; c++) lgv_axis_number(out, &plain, length * last_value(r, f->index, k, c));
        lgv_axis_number(out, &plain, last_value(r, f->index, k, 2));
        lgv_text_add(out, "\n");
    }
    lgv_text_add(out, "END\nset view 62,32,%s\nset view equal xyz\nunset colorbox\nset cbrange [-1:1]\n"
                      "set palette defined (-1 '#00507C', -0.3 '#56B4E9', 0.3 '#E69F00', 1 '#B03000')\n",
                 sphere ? "1.5" : "1.15");
    for (size_t c = 0; c < 3; c++) lgv_axis_range(out, "xyz"[c], &axis[c], 0.08);
    if (sphere)
        lgv_text_add(out, "unset border\nunset tics\nset xyplane at -1.05\nset parametric\nset urange [0:2*pi]\n"
                          "set vrange [-pi/2:pi/2]\nset isosamples 19,13\nset samples 73\n"
                          "splot cos(v)*cos(u),cos(v)*sin(u),sin(v) with lines lw 0.4 lc rgb '#DDDDDD' notitle, ");
    else
        lgv_text_add(out, "set border 895 lc rgb '#BBBBBB' lw 0.6\nset xyplane relative 0\nset xlabel 'x'\n"
                          "set ylabel 'y'\nset zlabel 'z'\nset xtics autofreq offset 0,-0.3\n"
                          "set ytics autofreq offset 0.6,-0.3\nsplot ");
    lgv_text_add(out, "$arrow using 1:2:3:4:5:6:7 with vectors head filled size graph 0.022,18 lw 1.6 lc palette "
                      "notitle\n");
}
