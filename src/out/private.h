/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the output stage share: words for parts of a result, the plan of figures, axes, pages. */
#ifndef LGV_OUT_PRIVATE_H
#define LGV_OUT_PRIVATE_H

#include "out/out.h"

#include <math.h>

/* What is stored of a system too large to store all coordinates, and how to get more; false when all are stored. */
bool lgv_stored_line(const struct lgv_result *r, char *out, size_t size);

/* Value i of an array that may be missing. */
double lgv_at(const double *array, size_t i);
/* The series in the order people want them: observables, energy, momentum maps, coordinates, momenta, errors.
 * malloc'd indices; NULL when memory is out or there is none. */
size_t *lgv_series_order(const struct lgv_result *r);
/* The same without most members of large families; *count of them. */
size_t *lgv_series_listed(const struct lgv_result *r, size_t *count);
const char *lgv_observable_kind_name(int kind);

/* families.c: where every series stands in its family NAME[1] .. NAME[N], [nseries], malloc'd; NULL: no memory. */
struct lgv_member {
    size_t place, count; /* 0 and 1: it is of none */
    size_t width;        /* components of a member, which stand side by side */
};
struct lgv_member *lgv_members(const struct lgv_result *r);
/* Too many for a figure each. */
static inline bool lgv_family_large(const struct lgv_member *m) {
    return m->count > 6;
}

/* places.c: the components of the point whose first one is series i, the first point of all or else two or three
 * coordinates that are all there are; how many components, 0 for none. */
size_t lgv_series_point(const struct lgv_result *r, size_t i, size_t place[3]);
size_t lgv_series_place(const struct lgv_result *r, size_t place[3]);
/* The first coordinate and its momentum; the quaternion w, x, y, z of the first rotation. */
bool lgv_series_phase(const struct lgv_result *r, size_t pair[2]);
bool lgv_series_rotation(const struct lgv_result *r, size_t place[4]);

/* [nfindings], malloc'd: not those of later members of large families. */
bool *lgv_findings_shown(const struct lgv_result *r);

/* A figure that lgv_figures draws as file.svg, file.png and file.pdf and that the report shows. */
enum lgv_figure_kind {
    LGV_FIGURE_MEAN, /* along time; of one path, the path itself */
    LGV_FIGURE_ENERGY,
    LGV_FIGURE_PATHS,
    LGV_FIGURE_PHASE,
    LGV_FIGURE_TRAJECTORY,
    LGV_FIGURE_ORIENTATION, /* axes of a body on the sphere */
    LGV_FIGURE_HISTOGRAM,
    LGV_FIGURE_FOUND, /* along the way: found.c */
    LGV_FIGURE_PROFILE, /* a family over its index */
    LGV_FIGURE_MAP,     /* a histogram of a pair: maps.c */
    LGV_FIGURE_ARROWS   /* many bodies at the end: arrows.c */
};
struct lgv_figure {
    enum lgv_figure_kind kind;
    size_t index, second;       /* of the series (PHASE: coordinate and momentum) or of the histogram; ARROWS: the first
                                   of the directions and the first of the places */
    size_t members, stride;     /* PROFILE: series index, index + stride, ... */
    size_t place[4], dimension; /* TRAJECTORY: the series of two or three coordinates; ORIENTATION: of a quaternion */
    char file[80];              /* without extension */
    char title[240];            /* plain text */
    const char *caption;
};
/* malloc'd plan, determined by the result alone; NULL when memory is out or nothing is to be drawn. */
struct lgv_figure *lgv_figure_plan(const struct lgv_result *r, size_t *count);
/* Appends what draws it to a gnuplot script. */
void lgv_figure_script(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f);
/* How many kept times of the first path are drawn of a body that turns, and how far it turns between two of them. */
size_t lgv_figure_turns(const struct lgv_result *r, const size_t quaternion[4], double *pace);
/* How every script begins. */
#define LGV_PLOT_BEGIN                                                                                                 \
    "reset\nset encoding utf8\nset grid lc rgb '#DDDDDD' lw 0.7 lt 1\n"                                               \
    "set border 3 lc rgb '#444444' lw 1\nset tics nomirror out scale 0.6 textcolor rgb '#222222'\n"
/* gnuplot.c: where a script draws file.svg, .png and .pdf; the plot command stands between both. */
void lgv_plot_open(struct lgv_text *out, const char *file, int width, int height);
void lgv_plot_close(struct lgv_text *out, const char *file, int width, int height);
/* Behind lgv_plot_open: a logarithmic axis y with powers of ten.  All texts of the figure that are not known beforehand
 * must be set noenhanced. */
void lgv_plot_powers(struct lgv_text *out);
/* Histograms of pairs: at most so many figures, and the script of one. */
size_t lgv_map_plan(const struct lgv_result *r, struct lgv_figure *list, size_t most);
void lgv_map_script(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f);
/* A family of unit vectors as arrows: one figure or none. */
size_t lgv_arrows_plan(const struct lgv_result *r, const struct lgv_member *m, struct lgv_figure *list);
void lgv_arrows_script(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f);
/* Text of the user in a gnuplot script: in single quotes nothing of it has a meaning. */
void lgv_quote(struct lgv_text *out, const char *text);
const char *lgv_path_colour(size_t path); /* '#RRGGBB' */

/* axis.c: a title in quotes, shortened so that it is not wider than this. */
#define LGV_TITLE_SIZE 13  /* of its letters, in pixels of a figure that is 600 wide */
#define LGV_TITLE_LEFT 480 /* from the left end of the axis to the right end of the figure */
void lgv_title(struct lgv_text *out, const char *title, double pixels);

/* found.c: what was found along the way, in the summary, the report and figures. */
void lgv_found_summary(FILE *out, const struct lgv_result *r, const char *bold, const char *off);
void lgv_found_report(struct lgv_text *out, const struct lgv_result *r);
size_t lgv_found_plan(const struct lgv_result *r, struct lgv_figure *list, size_t most); /* how many it has put there */
void lgv_found_script(struct lgv_text *out, const struct lgv_result *r, const struct lgv_figure *f);

/* An axis of values: extend it by all of them, settle it, then write numbers, range and label.  Values that stay close
 * to where they start are drawn as their change. */
struct lgv_axis {
    double low, high;
    double base;  /* subtracted from what is drawn */
    bool shifted; /* base is worth telling */
    bool clipped; /* the axis does not show all: the values go from least to most */
    double least, most;
};
#define LGV_AXIS_EMPTY ((struct lgv_axis){.low = (double)INFINITY, .high = -(double)INFINITY})
void lgv_axis_extend(struct lgv_axis *a, double x);     /* what is not finite does not count */
/* Before it is settled: where the values reach a hundred times as far as the range that most of them keep to, a few of
 * them escape, and the axis shows that range with as much again around it. */
void lgv_axis_clip(struct lgv_axis *a, double low, double high);
void lgv_axis_settle(struct lgv_axis *a, double start); /* start: the value at the first time, or NaN */
void lgv_axis_number(struct lgv_text *out, const struct lgv_axis *a, double x);
void lgv_axis_range(struct lgv_text *out, char letter, const struct lgv_axis *a, double air);
/* A line at the foot of the figure about axes that are clipped, or nothing. */
void lgv_axis_note(struct lgv_text *out, const struct lgv_axis *a, size_t count);
/* "name", or "name - symbol(time), symbol(time) = base"; symbol NULL: the name. */
void lgv_axis_label(struct lgv_text *out, char letter, const struct lgv_axis *a, const char *name, const char *symbol,
                    double time);

/* surface.c: the data $surface of a constraint surface in space, six columns, lines from here to there; the axes become
 * wider for it.  False: there is none. */
bool lgv_surface_put(struct lgv_text *out, const struct lgv_result *r, struct lgv_axis axis[3]);

/* Runs scripts that draw list[i].file as .svg, .png and .pdf in dir, one gnuplot each at the same time; whatever was
 * not finished is removed and an error. */
enum lgv_status lgv_figures_draw_all(const struct lgv_text *script, size_t scripts, const char *dir,
                                     const struct lgv_figure *list, size_t count, struct lgv_error *err);
/* The same with one script. */
enum lgv_status lgv_figures_draw(const struct lgv_text *script, const char *dir, const struct lgv_figure *list,
                                 size_t count, struct lgv_error *err);
/* Runs gnuplot in dir on script texts, all of them at the same time. */
enum lgv_status lgv_gnuplot(const char *dir, const struct lgv_text *script, size_t count, struct lgv_error *err);

/* player.c: the moving pictures of a report. */
void lgv_players(struct lgv_text *out, const struct lgv_result *r);

/* More parts of a page. */
void lgv_base64(struct lgv_text *out, const unsigned char *data, size_t size);
void lgv_page_fact(struct lgv_text *out, const char *name, const char *value);           /* inside <dl class="facts"> */
void lgv_page_planned(struct lgv_text *out, const char *dir, const struct lgv_figure *list, size_t count);

/* The order of a method against what was expected, and the reference, in words. */
const char *lgv_convergence_verdict(const struct lgv_convergence *c, const struct lgv_convergence_method *m, char *out,
                                    size_t size);
void lgv_convergence_reference(const struct lgv_convergence *c, char *out, size_t size);
/* All methods in one sentence: how many are as expected, better, not as expected. */
const char *lgv_convergence_banner(const struct lgv_convergence *c, char *out, size_t size);
/* "1.012 ± 0.023", or "1.012" when there is no randomness or the error is not known. */
const char *lgv_convergence_order(double order, double stderror, char *out, size_t size);
/* One word for why a level is not in the fit; "" when it is. */
const char *lgv_convergence_left_out(enum lgv_level_use use);
/* What the errors are of, "positions, momenta"; "" for the whole state. */
const char *lgv_convergence_of(const struct lgv_convergence *c, char *out, size_t size);

#endif
