/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The summary of a run for the terminal: what was run, how fast, final values, certificate, failures. */
#include "out/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_SHOWN 10

struct style {
    const char *bold, *dim, *good, *bad, *off;
};
static const struct style plain_style = {"", "", "", "", ""};
static const struct style colour_style = {"\033[1m", "\033[2m", "\033[32m", "\033[1;31m", "\033[0m"};

static void pad(FILE *out, const char *text, size_t width) {
    size_t have = lgv_text_width(text);
    fprintf(out, "%s%*s", text, have < width ? (int)(width - have) : 0, "");
}

static void print_run(FILE *out, const struct lgv_result *r, const struct style *s) {
    char a[120], b[120], c[40], d[40], e[40];
    fprintf(out, "%s%s%s", s->bold, lgv_plain(a, sizeof a, r->model_name), s->off);
    if (r->model_file) fprintf(out, "  %s%s%s", s->dim, lgv_plain(b, sizeof b, r->model_file), s->off);
    fprintf(out, "\n  method  %s", lgv_plain(a, sizeof a, r->method));
    if (r->method_doc) fprintf(out, "  %s%s%s", s->dim, lgv_plain(b, 90, r->method_doc), s->off);
    if (r->method_reason) fprintf(out, "\n          chosen by `auto`: %s", lgv_plain(b, sizeof b, r->method_reason));
    fprintf(out, "\n  run     step %s, until %s (%s step%s), %s path%s, seed %llu\n",
            lgv_brief(a, sizeof a, r->step, 12), lgv_brief(b, sizeof b, r->until, 12),
            lgv_spaced(c, sizeof c, r->steps), r->steps == 1 ? "" : "s", lgv_spaced(d, sizeof d, r->paths),
            r->paths == 1 ? "" : "s", (unsigned long long)r->seed);
    if (r->increments_file)
        fprintf(out, "  noise   the increments of %s\n", lgv_plain(a, sizeof a, r->increments_file));
    fprintf(out, "  speed   %.3g s, %s path-steps/s, %llu thread%s x %llu lane%s", r->seconds,
            lgv_rate(e, sizeof e, r->path_steps_per_second), (unsigned long long)r->threads, r->threads == 1 ? "" : "s",
            (unsigned long long)r->lanes, r->lanes == 1 ? "" : "s");
    if (r->compile_seconds > 0) fprintf(out, ", compiled in %.2g s", r->compile_seconds);
    if (r->seconds > 1.2 * r->paths_seconds && r->paths_seconds > 0) /* the rest is worth telling */
        fprintf(out, ", paths alone %.2g s", r->paths_seconds);
    if (r->newton_iterations > 0)
        fprintf(out, ", %.3g Newton iteration%s per step", r->newton_iterations, r->newton_iterations == 1 ? "" : "s");
    fputc('\n', out);
}

/* Of one path: where it started, where it is, and how far from the start it has been. */
static void print_value(FILE *out, const struct lgv_series *s, size_t last) {
    char first[32], value[32], change[32];
    fprintf(out, "%14s %14s %14s\n", lgv_brief(first, sizeof first, lgv_at(s->mean, 0), 8),
            lgv_brief(value, sizeof value, lgv_at(s->mean, last), 8), lgv_brief(change, sizeof change, s->drift, 3));
}

static void print_row(FILE *out, const struct lgv_series *s, size_t last) {
    char both[80], std[32], low[32], high[32];
    lgv_text_with_error(both, sizeof both, lgv_at(s->mean, last), lgv_at(s->err, last));
    const char *sign = strstr(both, " ±"); /* these stand below each other */
    size_t before = sign ? (size_t)(sign - both) : strlen(both), indent = before < 12 ? 12 - before : 0;
    fprintf(out, "%*s", (int)indent, "");
    pad(out, both, 24 - indent);
    fprintf(out, " %11s %11s %11s\n", lgv_brief(std, sizeof std, lgv_at(s->std, last), 4),
            lgv_brief(low, sizeof low, lgv_at(s->min, last), 5), lgv_brief(high, sizeof high, lgv_at(s->max, last), 5));
}

static void print_finals(FILE *out, const struct lgv_result *r, const struct style *s) {
    size_t listed, *order = lgv_series_listed(r, &listed);
    if (!order || r->ntimes == 0) {
        free(order);
        return;
    }
    size_t last = r->ntimes - 1, shown = listed < ROWS_SHOWN ? listed : ROWS_SHOWN, width = 4;
    for (size_t i = 0; i < shown; i++) {
        char name[28];
        size_t w = lgv_text_width(lgv_plain(name, sizeof name, r->series[order[i]].name));
        width = w > width ? w : width;
    }
    char time[40];
    unsigned long long alive = r->alive ? r->alive[last] : r->paths_done;
    if (alive + r->stopped < r->paths_done && !alive)
        fprintf(out, "\n  %sno path of %llu reaches the end%s\n", s->bad, (unsigned long long)r->paths_done, s->off);
    else if (alive + r->stopped < r->paths_done)
        fprintf(
            out,
            "\n  %sonly %llu of %llu paths reach the end:%s the numbers are theirs, and they are not a fair sample\n",
            s->bad, alive, (unsigned long long)r->paths_done, s->off);
    snprintf(time, sizeof time, "at t = %.6g", r->time[last]);
    width = (width > strlen(time) ? width : strlen(time)) + 1;
    fprintf(out, "\n  %s", s->bold);
    pad(out, time, width);
    if (r->paths == 1)
        fprintf(out, "%14s %14s %14s%s\n", "start", "end", "largest change", s->off);
    else
        fprintf(out, "%12s ± %-9s %11s %11s %11s%s\n", "mean", "stderr", "std", "min", "max", s->off);
    for (size_t i = 0; i < shown; i++) {
        char name[28];
        fputs("  ", out);
        pad(out, lgv_plain(name, sizeof name, r->series[order[i]].name), width);
        (r->paths == 1 ? print_value : print_row)(out, &r->series[order[i]], last);
    }
    if (shown < r->nseries)
        fprintf(out, "  %s... and %zu more, all of them in results.h5%s\n", s->dim, r->nseries - shown, s->off);
    free(order);
    char line[300];
    if (lgv_stored_line(r, line, sizeof line)) fprintf(out, "\n  %s\n", line);
}

static void print_checks(FILE *out, const struct lgv_result *r, const struct style *s) {
    size_t count, shown = 0, width = 0, values = 0;
    struct lgv_check *row = lgv_checks(r, &count);
    if (!row) return;
    for (size_t i = 0; i < count; i++) {
        size_t name = lgv_text_width(row[i].name), value = lgv_text_width(row[i].value);
        width = name > width ? name : width;
        values = value > values ? value : values;
    }
    width = (width > 36 ? 36 : width) + 2;
    fprintf(out, "\n  %scertificate%s\n", s->bold, s->off);
    for (size_t i = 0; i < count; i++) {
        bool holds = row[i].mark == LGV_MARK_HOLDS, broken = row[i].mark == LGV_MARK_BROKEN;
        /* Long lists of kept momentum maps say little; one that is not kept is always shown. */
        if (!broken && i + 4 < count && ++shown > ROWS_SHOWN) continue;
        fprintf(out, "  %s%s%s ",
                holds    ? s->good
                : broken ? s->bad
                         : s->dim,
                holds    ? "ok  "
                : broken ? "FAIL"
                         : "-   ",
                s->off);
        pad(out, row[i].name, width);
        pad(out, row[i].value, values + 2);
        fprintf(out, "%s\n", row[i].verdict);
    }
    if (shown > ROWS_SHOWN)
        fprintf(out, "  %s... and %zu more rows like these%s\n", s->dim, shown - ROWS_SHOWN, s->off);
    free(row);
}

void lgv_summary(FILE *out, const struct lgv_result *r, bool colour) {
    const struct style *s = colour ? &colour_style : &plain_style;
    print_run(out, r, s);
    if (r->interrupted)
        fprintf(out,
                "  %sinterrupted%s: %llu of %llu paths, %llu of %llu steps done; the numbers below are of that part\n",
                s->bad, s->off, (unsigned long long)r->paths_done, (unsigned long long)r->paths,
                (unsigned long long)r->steps_done, (unsigned long long)r->steps);
    print_finals(out, r, s);
    lgv_found_summary(out, r, s->bold, s->off);
    print_checks(out, r, s);
}
