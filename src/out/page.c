/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all pages consist of: head and end, text, figures.  A page is one file that opens offline.
 *
 * Figures are inline SVG, so that they follow the colours of the page and the script can read them.  Only what gnuplot
 * writes is taken: a figure with anything that could act by itself (scripts, handlers, links) is shown as an image,
 * where nothing of it runs.  Every text goes through lgv_html(). */
#include "base/embedded.h"
#include "out/private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FIGURE_LIMIT ((size_t)32 << 20)

void lgv_html(struct lgv_text *out, const char *text) {
    for (const char *s = text ? text : ""; *s;) {
        size_t n = lgv_char_size(s);
        if (*s == '&')
            lgv_text_add(out, "&amp;");
        else if (*s == '<')
            lgv_text_add(out, "&lt;");
        else if (*s == '>')
            lgv_text_add(out, "&gt;");
        else if (*s == '"')
            lgv_text_add(out, "&quot;");
        else if (*s == '\'')
            lgv_text_add(out, "&#39;");
        else if (n > 0 || *s == '\n' || *s == '\t')
            lgv_text_append(out, s, n ? n : 1);
        else if (*s != '\r')
            lgv_text_add(out, "\xef\xbf\xbd");
        s += n ? n : 1;
    }
}

void lgv_base64(struct lgv_text *out, const unsigned char *data, size_t size) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        unsigned long v = (unsigned long)data[i] << 16;
        v |= i + 1 < size ? (unsigned long)data[i + 1] << 8 : 0;
        v |= i + 2 < size ? (unsigned long)data[i + 2] : 0;
        char four[4] = {digit[v >> 18 & 63], digit[v >> 12 & 63], i + 1 < size ? digit[v >> 6 & 63] : '=',
                        i + 2 < size ? digit[v & 63] : '='};
        lgv_text_append(out, four, 4);
    }
}

/* ---- figures ---- */

static bool begins(const char *s, const char *with) {
    for (; *with; s++, with++)
        if (tolower((unsigned char)*s) != *with) return false;
    return true;
}

/* Does a tag, from < up to >, do nothing but draw? */
static bool harmless(const char *tag, size_t size) {
    static const char *const known[] = {"g",     "path", "polygon", "polyline", "rect",    "circle",      "line",
                                        "text",  "tspan", "defs",   "use",      "filter",  "feflood",     "image",
                                        "clippath", "pattern", "fecomposite"};
    const char *name = tag + 1 + (tag[1] == '/');
    size_t n = 0, length = strcspn(name, " \t\r\n/>");
    while (n < sizeof known / sizeof *known && !(strlen(known[n]) == length && begins(name, known[n]))) n++;
    if (n == sizeof known / sizeof *known) return false;
    for (const char *s = tag; s < tag + size; s++) {
        if ((isspace((unsigned char)*s) || strchr("/'\"", *s)) && begins(s + 1, "on")) return false;
        if (begins(s, "href") && s[4] != '=') return false;
        if (begins(s, "url(") && s[4] != '#') return false;
        if (begins(s, "href=") && s[6] != '#' && !begins(s + 6, "data:image/png;base64,")) return false;
        if (begins(s, "style=") || begins(s, "javascript:")) return false;
    }
    return true;
}

/* A tag with its identifiers made different from those of other figures. */
static void put_tag(struct lgv_text *out, const char *tag, size_t size, unsigned number) {
    for (const char *s = tag; s < tag + size;) {
        size_t n = begins(s, " id=") ? 5 : begins(s, "href=") && s[6] == '#' ? 7 : begins(s, "url(#") ? 5 : 0;
        lgv_text_append(out, s, n ? n : 1);
        if (n) lgv_text_add(out, "f%u-", number);
        s += n ? n : 1;
    }
}

/* Titles of gnuplot would show up under the pointer, and its background would hide that of the page. */
static const char *leave_out(const char *s) {
    if (begins(s, "<title>")) {
        const char *end = strstr(s, "</title>");
        return end ? end + 8 : s;
    }
    if (begins(s, "<desc>")) {
        const char *end = strstr(s, "</desc>");
        return end ? end + 7 : s;
    }
    const char *end = begins(s, "<rect x=\"0\" y=\"0\"") ? strchr(s, '>') : NULL;
    return end && memmem(s, (size_t)(end - s), "#ffffff", 7) ? end + 1 : s;
}

/* What stands between the tags of the root, or false when it is not all known. */
static bool put_drawing(struct lgv_text *out, const char *s, unsigned number) {
    while (*s && !begins(s, "</svg>")) {
        const char *behind = leave_out(s);
        if (behind != s) {
            s = behind;
            continue;
        }
        if (*s != '<') {
            size_t n = strcspn(s, "<");
            lgv_text_append(out, s, n);
            s += n;
            continue;
        }
        const char *end = strchr(s, '>');
        if (!end || !harmless(s, (size_t)(end - s))) return false;
        put_tag(out, s, (size_t)(end - s) + 1, number);
        s = end + 1;
    }
    return *s != '\0';
}

/* The axes that lgv_plot_end() has left behind the drawing: frame in pixels, values, logarithms. */
static void put_axes(struct lgv_text *out, const char *svg, double height) {
    const char *at = strstr(svg, "<!-- axes ");
    double left, right, low, high, x0, x1, y0, y1;
    int lx, ly;
    if (at && sscanf(at + 10, "%lf %lf %lf %lf %lf %lf %lf %lf %d %d", &left, &right, &low, &high, &x0, &x1, &y0, &y1,
                     &lx, &ly) == 10)
        lgv_text_add(out, " data-axes=\"%g %g %g %g %.12g %.12g %.12g %.12g %d %d\"", left, right, height - high,
                     height - low, x0, x1, y0, y1, lx, ly);
}

/* Nothing is written when the figure is not one of ours. */
static bool put_inline(struct lgv_text *out, const char *svg, const char *title, unsigned number) {
    struct lgv_text drawing = {0};
    const char *root = strstr(svg, "<svg"), *box = root ? strstr(root, "viewBox=\"") : NULL;
    const char *end = root ? strchr(root, '>') : NULL;
    double width = 0, height = 0;
    bool good = box && end && box < end && sscanf(box, "viewBox=\"0 0 %lf %lf\"", &width, &height) == 2 &&
                put_drawing(&drawing, end + 1, number) && !drawing.failed;
    if (good) {
        lgv_text_add(out, "<svg class=\"plot\" role=\"img\" viewBox=\"0 0 %g %g\" aria-label=\"", width, height);
        lgv_html(out, title);
        lgv_text_add(out, "\"");
        put_axes(out, svg, height);
        lgv_text_add(out, ">");
        lgv_text_append(out, drawing.data, drawing.size);
        lgv_text_add(out, "</svg>");
    }
    lgv_text_free(&drawing);
    return good;
}

/* Figures of a page are counted by those that stand in it. */
static unsigned number_of(const struct lgv_text *page) {
    unsigned n = 0;
    for (const char *s = page->data; s && (s = strstr(s, "<figure")); s++) n++;
    return n;
}

void lgv_page_figure(struct lgv_text *out, const char *dir, const char *file, const char *title, const char *caption) {
    struct lgv_text path = {0};
    size_t size = 0;
    lgv_text_add(&path, "%s/%s.svg", dir, file);
    char *svg = path.failed ? NULL : lgv_read_file(path.data, FIGURE_LIMIT, &size, NULL);
    unsigned number = number_of(out);
    lgv_text_add(out, "<figure>");
    if (!svg) {
        lgv_text_add(out, "<p>");
        lgv_html(out, title);
        lgv_text_add(out, ": not drawn (gnuplot is needed, Debian package gnuplot-nox)</p>");
    } else if (!put_inline(out, svg, title, number)) {
        lgv_text_add(out, "<img alt=\"");
        lgv_html(out, title);
        lgv_text_add(out, "\" src=\"data:image/svg+xml;base64,");
        lgv_base64(out, (const unsigned char *)svg, size);
        lgv_text_add(out, "\">");
    }
    lgv_text_add(out, "<figcaption>");
    lgv_html(out, caption);
    lgv_text_add(out, "</figcaption></figure>\n");
    free(svg);
    lgv_text_free(&path);
}

void lgv_page_planned(struct lgv_text *out, const char *dir, const struct lgv_figure *list, size_t count) {
    for (size_t i = 0; i < count; i++) lgv_page_figure(out, dir, list[i].file, list[i].title, list[i].caption);
}

void lgv_page_fact(struct lgv_text *out, const char *name, const char *value) {
    lgv_text_add(out, "<div><dt>%s</dt><dd>", name);
    lgv_html(out, value);
    lgv_text_add(out, "</dd></div>\n");
}

/* ---- the frame ---- */

static void put_embedded(struct lgv_text *out, const char *name) {
    for (size_t i = 0; i < lgv_embedded_count; i++)
        if (strcmp(lgv_embedded[i].name, name) == 0) lgv_text_add(out, "%s", lgv_embedded[i].text);
}

void lgv_page_begin(struct lgv_text *out, const char *title) {
    lgv_text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    lgv_html(out, title);
    lgv_text_add(out, " - lgv report</title>\n<style>\n");
    put_embedded(out, "report.css");
    lgv_text_add(out, "</style>\n</head>\n<body>\n<main>\n");
}

/* Headings get names, and the contents that lead to them stand at the side of the page. */
static void put_contents(struct lgv_text *page) {
    struct lgv_text whole = {0}, list = {0};
    unsigned count = 0;
    const char *from = page->data;
    for (const char *s; (s = strstr(from, "<h2>")); from = s + 4) {
        const char *end = strstr(s, "</h2>");
        if (!end) break;
        lgv_text_append(&whole, from, (size_t)(s - from));
        lgv_text_add(&whole, "<h2 id=\"s%u\">", ++count);
        lgv_text_add(&list, "<a href=\"#s%u\">%.*s</a>\n", count, (int)(end - s - 4), s + 4);
    }
    lgv_text_add(&whole, "%s", from);
    if (count > 2) lgv_text_add(&whole, "<nav aria-label=\"Contents\">\n%s</nav>\n", list.failed ? "" : list.data);
    lgv_text_free(&list);
    lgv_text_free(page);
    *page = whole;
}

void lgv_page_end(struct lgv_text *out) {
    lgv_text_add(out, "</main>\n");
    if (!out->failed) put_contents(out);
    lgv_text_add(out, "<script>\n");
    put_embedded(out, "report.js");
    lgv_text_add(out, "</script>\n</body>\n</html>\n");
}
