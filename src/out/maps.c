/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Histograms of pairs of observables as maps: the darker a cell, the more values are in it. */
#include "out/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEW 200 /* one cell of so many */
#define FAR 3   /* may have so many times the values of the others without a colour of its own */

static bool drawable(const struct lgv_finding *f) {
    const struct lgv_found *count = lgv_finding_get(f, "count"), *x = lgv_finding_get(f, "x_edge"),
                           *y = lgv_finding_get(f, "y_edge");
    return count->data && x->data && y->data && count->shape[0] > 0 && count->shape[1] > 0 &&
           x->shape[0] == count->shape[0] + 1 && y->shape[0] == count->shape[1] + 1;
}

size_t lgv_map_plan(const struct lgv_result *r, struct lgv_figure *list, size_t most) {
    size_t n = 0;
    for (size_t i = 0; i < r->nfindings && n < most; i++) {
        const struct lgv_finding *f = &r->finding[i];
        bool end = strcmp(f->group, LGV_FOUND_PAIRS) == 0, all = strcmp(f->group, LGV_FOUND_DENSITIES) == 0;
        if ((!end && !all) || !drawable(f)) continue;
        char name[100];
        struct lgv_figure x = {.kind = LGV_FIGURE_MAP,
                               .index = i,
                               .caption = end ? "How the pairs of values at the end are distributed over the paths: "
                                                "the darker, the more."
                                              : "How the pairs of values at all output times are distributed: the "
                                                "darker, the more."};
        snprintf(x.title, sizeof x.title, "%s %s, %.0f values", end ? "Final values of" : "Density of",
                 lgv_plain(name, sizeof name, f->name), lgv_finding_value(f, "values"));
        lgv_file_name(x.file, 64, end ? "map" : "density", f->name, true);
        list[n++] = x;
    }
    return n;
}

static void put_edge_axis(struct lgv_text *out, char letter, const struct lgv_found *edge, struct lgv_axis *a) {
    for (size_t i = 0; i < edge->shape[0]; i++) lgv_axis_extend(a, edge->data[i]);
    lgv_axis_settle(a, (double)NAN);
    lgv_axis_range(out, letter, a, 0);
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where the colours end: at the fullest cell, unless a few cells are far fuller than all others, as that where all
 * paths start.  Then they have the darkest colour, and the others keep theirs apart.  0: at the fullest cell. */
static double darkest(const struct lgv_found *count) {
    size_t n = 0, all = count->shape[0] * count->shape[1];
    double *full = lgv_new(all, sizeof *full), end = 0;
    if (!full) return 0;
    for (size_t i = 0; i < all; i++)
        if (count->data[i] > 0) full[n++] = count->data[i];
    qsort(full, n, sizeof *full, by_size);
    size_t few = n / FEW;
    if (few && full[n - 1] > FAR * full[n - 1 - few]) end = full[n - 1 - few];
    free(full);
    return end;
}

void lgv_map_script(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f) {
    static const struct lgv_axis plain;
    const struct lgv_finding *map = &r->finding[f->index];
    const struct lgv_found *count = lgv_finding_get(map, "count"), *x = lgv_finding_get(map, "x_edge"),
                           *y = lgv_finding_get(map, "y_edge");
    struct lgv_axis u = LGV_AXIS_EMPTY, v = LGV_AXIS_EMPTY;
    char name[300];
    put_edge_axis(out, 'x', x, &u);
    put_edge_axis(out, 'y', y, &v);
    snprintf(name, sizeof name, "%s", map->name);
    char *second = strchr(name, ':');
    if (second) *second++ = '\0';
    lgv_axis_label(out, 'x', &u, name, NULL, 0);
    lgv_axis_label(out, 'y', &v, second ? second : "", NULL, 0);
    lgv_text_add(out, "$map << END\n");
    for (size_t i = 0; i < count->shape[0]; i++) {
        for (size_t k = 0; k < count->shape[1]; k++) {
            double n = count->data[i * count->shape[1] + k];
            lgv_axis_number(out, &u, 0.5 * (x->data[i] + x->data[i + 1]));
            lgv_axis_number(out, &v, 0.5 * (y->data[k] + y->data[k + 1]));
            lgv_axis_number(out, &plain, n > 0 ? n : (double)NAN); /* empty cells stay white */
            lgv_text_add(out, "\n");
        }
        lgv_text_add(out, "\n");
    }
    double end = darkest(count);
    lgv_text_add(out, "END\nset palette defined (0 '#DCEAF5', 0.35 '#56B4E9', 0.7 '#0072B2', 1 '#06304D')\n"
                      "set rmargin 14\n");
    if (end > 0)
        lgv_text_add(out, "set cbrange [0:%.17g]\n"
                          "set cblabel 'values in a cell, the darkest: %.0f or more' offset 1.5\n", end, end);
    else
        lgv_text_add(out, "set cbrange [0:*]\nset cblabel 'values in a cell' offset 1.5\n");
    lgv_text_add(out, "plot $map using 1:2:3 with image notitle\n");
}
