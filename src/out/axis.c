/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The axis of a quantity in a figure.
 *
 * An energy of 11.2815 that moves by 4e-5 would have the same label at every tick.  So where the values x(t) stay
 * within a thousandth of their size, x(t) - x(0) is drawn and the label has x(0); and an axis is never finer than 1e-12
 * of the values, where round-off is the flat line it should be.
 *
 * One path that escapes to 1e299 would press all others into a line.  So an axis is clipped to the range that most
 * values keep to when that is a hundredth of the whole; the figure says so. */
#include "out/private.h"

#include <math.h>
#include <string.h>

#define CHANGE 1e-3     /* of the size: below it the change is drawn */
#define ROUND_OFF 1e-12 /* of the size: no axis shows less */
#define ESCAPE 100      /* times the range of most values: beyond it they escape */
#define LABEL_WIDTH 32  /* characters beside a figure */

/* ---- titles ---- */

/* Widths of characters in a common sans-serif font, in parts of its size. */
static double width_of(const char *c) {
    if (strchr("ijl'|!.,:;/ ", *c)) return 0.33;
    if (strchr("()[]{}ftrI-", *c)) return 0.4;
    if (strchr("mwMW@%+=<>^~", *c)) return 0.9;
    return (*c & 0x80) == 0 && *c >= 'A' && *c <= 'Z' ? 0.7 : 0.62;
}

void lgv_title(struct lgv_text *out, const char *title, double pixels) {
    char plain[240];
    double room = pixels / LGV_TITLE_SIZE, used = 0;
    size_t cut = 0; /* so much fits with dots behind it */
    lgv_plain(plain, sizeof plain, title);
    for (const char *c = plain; *c;) {
        if (used + 3 * 0.33 <= room) cut = (size_t)(c - plain);
        used += width_of(c);
        for (c++; (*c & 0xC0) == 0x80; c++) {} /* the rest of one character */
    }
    if (used > room) snprintf(plain + cut, sizeof plain - cut, "...");
    lgv_quote(out, plain);
}

/* ---- axes ---- */

static bool drawable(double x) {
    return isfinite(x) && fabs(x) < 1e300;
}

void lgv_axis_extend(struct lgv_axis *a, double x) {
    if (!drawable(x)) return;
    a->low = fmin(a->low, x);
    a->high = fmax(a->high, x);
}

void lgv_axis_clip(struct lgv_axis *a, double low, double high) {
    double width = high - low;
    if (!drawable(low) || !drawable(high) || !(width > 0) || !(a->high / ESCAPE - a->low / ESCAPE > width)) return;
    a->clipped = true;
    a->least = a->low;
    a->most = a->high;
    a->low = fmax(a->low, low - 0.5 * width);
    a->high = fmin(a->high, high + 0.5 * width);
}

void lgv_axis_settle(struct lgv_axis *a, double start) {
    a->base = 0;
    a->shifted = false;
    if (!(a->low <= a->high)) { /* nothing to draw still gets an axis */
        a->low = 0;
        a->high = 1;
        return;
    }
    double size = fmax(fabs(a->low), fabs(a->high)), least = size > 1e-290 ? ROUND_OFF * size : 1;
    if (size > 1e-290 && a->high - a->low < CHANGE * size) {
        a->shifted = true;
        a->base = drawable(start) ? start : a->low;
        a->low -= a->base;
        a->high -= a->base;
    }
    if (a->high - a->low < least) {
        a->low = fmin(a->low, -least);
        a->high = fmax(a->high, least);
    }
}

void lgv_axis_number(struct lgv_text *out, const struct lgv_axis *a, double x) {
    double far = 10 * (a->high - a->low); /* gnuplot takes no coordinates far outside of a figure */
    if (a->clipped && !isnan(x)) x = fmin(fmax(x, a->base + a->low - far), a->base + a->high + far);
    if (drawable(x))
        lgv_text_add(out, " %.9g", x - a->base);
    else
        lgv_text_add(out, " NaN");
}

/* Long numbers below a narrow figure, as -0.006, would run into each other: then at most six intervals. */
static void space_out(struct lgv_text *out, double low, double high) {
    const double least = (high - low) / 6, ten = pow(10, floor(log10(least)));
    const double step = ten >= least ? ten : 2 * ten >= least ? 2 * ten : 5 * ten >= least ? 5 * ten : 10 * ten;
    size_t longest = 0;
    if (!(step > 0) || !drawable(low) || !drawable(high)) return;
    const double first = ceil(low / step) * step;
    for (int k = 0; k < 8; k++) { /* by number: x + step may be x */
        const double x = first + k * step;
        char label[40];
        if (x > high) break;
        const size_t n = (size_t)snprintf(label, sizeof label, "%.9g", fabs(x) < 1e-6 * step ? 0 : x);
        longest = n > longest ? n : longest;
    }
    if (longest > 5) lgv_text_add(out, "set xtics %.9g\n", step);
}

void lgv_axis_range(struct lgv_text *out, char letter, const struct lgv_axis *a, double air) {
    double width = a->high - a->low;
    if (letter == 'x') space_out(out, a->low - air * width, a->high + air * width);
    lgv_text_add(out, "set %crange [%.12g:%.12g]\n", letter, a->low - air * width, a->high + air * width);
}

void lgv_axis_note(struct lgv_text *out, const struct lgv_axis *a, size_t count) {
    char line[100];
    size_t clipped = 0;
    double farthest = 0;
    for (size_t i = 0; i < count; i++)
        if (a[i].clipped) {
            clipped++;
            farthest = fmax(farthest, fmax(fabs(a[i].least), fabs(a[i].most)));
        }
    if (clipped == 0) return;
    if (count == 1)
        snprintf(line, sizeof line, "axis clipped: values from %.2g to %.2g", a->least, a->most);
    else
        snprintf(line, sizeof line, "ax%ss clipped: values up to %.2g", clipped == 1 ? "i" : "e", farthest);
    lgv_text_add(out, "set label 2 ");
    lgv_quote(out, line);
    lgv_text_add(out, " at graph 0.99,0.04 right front noenhanced textcolor rgb '#B03000'\n");
}

void lgv_axis_label(struct lgv_text *out, char letter, const struct lgv_axis *a, const char *name, const char *symbol,
                    double time) {
    char plain[100], label[400];
    lgv_plain(plain, sizeof plain, name);
    if (!symbol) symbol = plain;
    if (a->shifted) {
        snprintf(label, sizeof label, "%s - %s(%g), %s(%g) = %.8g", plain, symbol, time, symbol, time, a->base);
        if (lgv_text_width(label) > LABEL_WIDTH) snprintf(label, sizeof label, "change from %.8g", a->base);
    } else {
        snprintf(label, sizeof label, "%s", plain);
    }
    lgv_text_add(out, "set %clabel ", letter);
    lgv_quote(out, label);
    lgv_text_add(out, " noenhanced\n");
}
