/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A figure of curves that were measured elsewhere: the figures of experiments. */
#include "out/study_compare.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

#define POINTS 2000 /* of a curve; more would only make the file larger */

static void put_label(struct lgv_text *out, char letter, const char *label) {
    lgv_text_add(out, "set %clabel ", letter);
    lgv_quote(out, label ? label : "");
    lgv_text_add(out, " noenhanced\n");
}

/* Of curves with more points one in `apart` is drawn, and the last. */
static void put_points(struct lgv_text *out, const struct lgv_curves *c, size_t i) {
    const struct lgv_curve *u = &c->curve[i];
    size_t points = u->count < POINTS ? u->count : POINTS;
    lgv_text_add(out, "$m%zu << END\n", i);
    for (size_t j = 0; j < points; j++) {
        size_t k = points > 1 ? j * (u->count - 1) / (points - 1) : 0;
        lgv_study_number(out, u->x[k]);
        lgv_study_number(out, c->log && !(u->y[k] > 0) ? (double)NAN : u->y[k]);
        lgv_text_add(out, "\n");
    }
    lgv_text_add(out, "END\n");
}

static void put_script(struct lgv_text *out, const struct lgv_curves *c) {
    size_t widest = 0;
    struct lgv_text key = {0};
    for (size_t i = 0; i < c->count; i++) {
        size_t width = lgv_text_width(c->curve[i].title);
        widest = width > widest ? width : widest;
        put_points(out, c, i);
    }
    int height = lgv_study_key(&key, c->count, widest);
    lgv_study_plot_begin(out, c->file, c->title, height);
    lgv_text_add(out, "%s", key.failed || !key.data ? "" : key.data);
    lgv_text_free(&key);
    put_label(out, 'x', c->xlabel);
    put_label(out, 'y', c->ylabel);
    if (c->log) lgv_plot_powers(out);
    lgv_text_add(out, "set autoscale xfix\nplot ");
    for (size_t i = 0; i < c->count; i++) {
        struct lgv_study_style s = lgv_study_style(i, c->count);
        lgv_text_add(out, "%s$m%zu using 1:2 with lines lw %.3g dt %s lc rgb '%s' title ", i ? ", " : "", i, s.width,
                     s.dash, s.colour);
        lgv_quote(out, c->curve[i].title);
    }
    lgv_study_plot_end(out, c->file, height);
}

enum lgv_status lgv_curves_draw(const struct lgv_curves *c, const char *dir, struct lgv_error *err) {
    struct lgv_text script = {0};
    struct lgv_figure figure = {0};
    if (c->count == 0) return lgv_fail(err, LGV_BAD_INPUT, "a figure needs at least one curve");
    snprintf(figure.file, sizeof figure.file, "%s", c->file);
    /* gnuplot wants points, whatever the locale of the calling program */
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), before = plain ? uselocale(plain) : (locale_t)0;
    put_script(&script, c);
    enum lgv_status status = lgv_figures_draw(&script, dir, &figure, 1, err);
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    lgv_text_free(&script);
    return status;
}
