/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The files a figure is drawn to, and gnuplot, which draws them: one process for each script and all at the same time,
 * no shell, the script in a temporary file, what gnuplot complains about in the error. */
#include "base/process.h"
#include "out/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files of a figure ---- */

#define ENHANCED "set termoption enhanced\n"

void lgv_plot_open(struct lgv_text *out, const char *file, int width, int height) {
    lgv_text_add(out,
                 "set terminal svg noenhanced size %d,%d background '#FFFFFF' font 'sans-serif,13'\n"
                 "set output '%s.svg'\n",
                 width, height, file);
}

void lgv_plot_powers(struct lgv_text *out) {
    lgv_text_add(out, ENHANCED "set logscale y\nset format y '10^{%%L}'\n");
}

/* The script of the figure at the end of out: what it has set since the last one. */
static const char *last_figure(const struct lgv_text *out) {
    const char *from = out->data ? out->data : "";
    for (const char *s = from; (s = strstr(s, "reset\n")); s++) from = s;
    return from;
}

/* The frame and the values at its edges, behind the drawing in the SVG, for values under the pointer. */
static void leave_axes(struct lgv_text *out, const char *file) {
    const char *script = last_figure(out);
    bool up = strstr(script, "set logscale y\n") != NULL, across = strstr(script, "set logscale x\n") != NULL;
    if (strstr(script, "splot ")) return;
    lgv_text_add(out,
                 "set print '%s.svg' append\n"
                 "print sprintf('<!-- axes %%.2f %%.2f %%.2f %%.2f %%.12g %%.12g %%.12g %%.12g %d %d -->', "
                 "GPVAL_TERM_XMIN, GPVAL_TERM_XMAX, GPVAL_TERM_YMIN, GPVAL_TERM_YMAX, GPVAL_X_MIN, GPVAL_X_MAX, "
                 "GPVAL_Y_MIN, GPVAL_Y_MAX)\nset print\n",
                 file, across, up);
}

void lgv_plot_close(struct lgv_text *out, const char *file, int width, int height) {
    const char *no = strstr(last_figure(out), ENHANCED) ? "" : "no";
    lgv_text_add(out, "set output\n");
    leave_axes(out, file);
    lgv_text_add(out,
                 "set terminal pngcairo %senhanced size %d,%d background '#FFFFFF' font 'sans-serif,20' linewidth 1.8 "
                 "pointscale 1.8\nset output '%s.png'\nreplot\n"
                 "set terminal pdfcairo %senhanced size %gin,%gin font 'sans-serif,9.75' linewidth 1 pointscale 0.8\n"
                 "set output '%s.pdf'\nreplot\nset output\n",
                 no, 2 * width, 2 * height, file, no, width / 96.0, height / 96.0, file);
}

/* ---- running it ---- */

static enum lgv_status write_script(int fd, const struct lgv_text *script, struct lgv_error *err) {
    const char *data = script->data;
    for (size_t left = script->size; left > 0;) {
        ssize_t n = write(fd, data, left);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return lgv_fail(err, LGV_CANNOT_RUN, "cannot write the script of the figures: %s", strerror(errno));
        data += n;
        left -= (size_t)n;
    }
    return LGV_OK;
}

static enum lgv_status run(const char *dir, int script, struct lgv_error *err) {
    char path[1024], defaults[] = "--default-settings", input[] = "-", plain[800];
    char *argv[] = {path, defaults, input, NULL};
    if (!lgv_process_find("gnuplot", path, sizeof path))
        return lgv_fail(err, LGV_CANNOT_RUN,
                        "cannot draw figures in '%s': gnuplot was not found (Debian package gnuplot-nox)", dir);
    struct lgv_text said = {0};
    int code = lgv_process_run(
        &(struct lgv_process){.argv = argv, .folder = dir, .input = script, .limit = 800, .printed = &said});
    enum lgv_status status = LGV_OK;
    if (code == LGV_PROCESS_NOT_STARTED)
        status = lgv_fail(err, LGV_CANNOT_RUN, "cannot start gnuplot in '%s': %s", dir, strerror(errno));
    else if (code == LGV_PROCESS_STOPPED)
        status = lgv_fail(err, LGV_CANNOT_RUN, "the drawing of figures in '%s' was interrupted", dir);
    else if (code != 0 && code != LGV_PROCESS_UNKNOWN) /* the figures tell then whether it went well */
        status = lgv_fail(err, LGV_CANNOT_RUN, "gnuplot could not draw the figures in '%s': %s", dir,
                          said.size ? lgv_plain(plain, sizeof plain, said.data) : "it ended without a message");
    lgv_text_free(&said);
    return status;
}

static enum lgv_status draw(const char *dir, const struct lgv_text *script, struct lgv_error *err) {
    /* Unlinked at once: nothing is left behind, whatever happens. */
    FILE *file = tmpfile();
    if (!file) return lgv_fail(err, LGV_CANNOT_RUN, "cannot make a temporary file for gnuplot: %s", strerror(errno));
    int fd = fileno(file);
    enum lgv_status status = write_script(fd, script, err);
    if (status == LGV_OK && lseek(fd, 0, SEEK_SET) != 0)
        status = lgv_fail(err, LGV_CANNOT_RUN, "cannot rewind the script of the figures: %s", strerror(errno));
    if (status == LGV_OK) status = run(dir, fd, err);
    fclose(file);
    return status;
}

enum lgv_status lgv_gnuplot(const char *dir, const struct lgv_text *script, size_t count, struct lgv_error *err) {
    struct lgv_error *why = lgv_new(count, sizeof *why);
    if (!why) return lgv_fail_memory(err);
    /* Threads that do nothing but wait: lgv_process_run waits for one program. */
#pragma omp parallel for schedule(static, 1) num_threads((int)count)
    for (size_t i = 0; i < count; i++) draw(dir, &script[i], &why[i]);
    enum lgv_status status = LGV_OK;
    for (size_t i = 0; i < count && status == LGV_OK; i++)
        if (why[i].status != LGV_OK) status = lgv_fail(err, why[i].status, "%s", why[i].message);
    free(why);
    return status;
}
