/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the program says and hears: messages, JSON, the progress line and Ctrl-C. */
#include "cli/cli.h"
#include "base/process.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool lgv_colour(FILE *stream) {
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(stream)) && !(no && *no) && terminal && strcmp(terminal, "dumb") != 0;
}

/* Messages quote files and names of the user: nothing of them may steer the terminal. */
static void say(const char *prefix, const char *message) {
    fflush(stdout);
    fputs(prefix, stderr);
    for (const char *s = message; *s;) {
        size_t n = *s == '\n' || *s == '\t' ? 1 : lgv_char_size(s);
        if (n)
            fwrite(s, 1, n, stderr);
        else
            fputc('?', stderr);
        s += n ? n : 1;
    }
    fputc('\n', stderr);
}

int lgv_complain(const struct lgv_error *err, enum lgv_status status) {
    say(err->line > 0 ? "" : "lgv: ", err->message);
    return status == LGV_BAD_INPUT ? LGV_EXIT_INPUT : LGV_EXIT_CANNOT;
}

void lgv_warn(const char *format, ...) {
    char message[sizeof(struct lgv_error) + 1000];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    say("lgv: warning: ", message);
}

int lgv_print_json(json_t *document, int code) {
    char *text = document ? json_dumps(document, JSON_INDENT(2)) : NULL;
    json_decref(document);
    if (!text) {
        fputs("lgv: out of memory\n", stderr);
        return LGV_EXIT_CANNOT;
    }
    puts(text);
    free(text);
    return lgv_finish(code);
}

int lgv_finish(int code) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    fprintf(stderr, "lgv: cannot write to standard output: %s\n", errno ? strerror(errno) : "write error");
    return LGV_EXIT_CANNOT;
}

/* ---- signals ---- */

static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t stop_asked, keeping;
static char unfinished[1024];

/* While there are results to keep, the first signal asks the run to stop.  Otherwise it ends the program here: reading
 * a file, examining a model and drawing figures are nowhere asked to stop, and nothing is lost.  The second one ends
 * the program by its default action. */
static void on_signal(int number) {
    static const char message[] = "\nlgv: interrupted\n";
    (void)number;
    for (size_t k = 0; k < sizeof stopping / sizeof *stopping; k++) signal(stopping[k], SIG_DFL);
    stop_asked = 1;
    if (keeping) return;
    lgv_process_abandon();
    if (unfinished[0]) rmdir(unfinished); /* succeeds only when nothing was written */
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written;
    _exit(LGV_EXIT_BROKEN);
}

/* A signal that is ignored from outside (nohup, background jobs of scripts) stays ignored. */
static void listen_to(int number) {
    struct sigaction old, action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(number, &action, NULL);
}

void lgv_stop_on_signals(void) {
    for (size_t k = 0; k < sizeof stopping / sizeof *stopping; k++) listen_to(stopping[k]);
}

void lgv_stop_keeps(bool results) {
    keeping = results;
}

void lgv_stop_removes(const char *directory) {
    if (strlen(directory) < sizeof unfinished) strcpy(unfinished, directory);
}

bool lgv_stop_asked(void) {
    return stop_asked != 0;
}

/* ---- progress ---- */

static void duration(char *out, size_t size, double seconds) {
    if (seconds < 100)
        snprintf(out, size, "%.0f s", ceil(seconds));
    else if (seconds < 6000)
        snprintf(out, size, "%.0f min", seconds / 60);
    else if (seconds < 360000)
        snprintf(out, size, "%.1f h", seconds / 3600);
    else
        snprintf(out, size, "%.3g days", seconds / 86400);
}

void lgv_meter_begin(struct lgv_meter *meter, bool wanted) {
    *meter = (struct lgv_meter){.shown = wanted && isatty(STDERR_FILENO), .begin = lgv_seconds()};
    meter->last = meter->begin;
    if (!meter->shown) return;
    fputs("\r\033[Kpreparing ...", stderr);
    fflush(stderr);
    meter->drawn = true;
}

void lgv_meter_phase(struct lgv_meter *meter, const char *what) {
    if (!meter->shown) return;
    meter->drawn = true;
    fprintf(stderr, "\r\033[K%s ...", what);
    fflush(stderr);
}

#define PACE_KNOWN 5    /* seconds */
#define A_LIFE 3.2e9    /* seconds: a hundred years */

/* Once the pace is known: whether there is a life to wait. */
static void warn_endless(struct lgv_meter *meter, double t, double fraction) {
    if (meter->first_time == 0) {
        meter->first = fraction;
        meter->first_time = t;
    }
    double spent = t - meter->first_time;
    if (spent < PACE_KNOWN || !(fraction > meter->first)) return;
    double left = spent * (1 - fraction) / (fraction - meter->first);
    meter->warns = false;
    if (left < A_LIFE) return;
    if (meter->drawn) fputs("\r\033[K", stderr);
    lgv_warn("at this pace the run ends in %.3g years; fewer paths or steps, or Ctrl-C for the results so far",
             left / (365.25 * 86400));
}

int lgv_meter_progress(void *user, double fraction) {
    struct lgv_meter *meter = user;
    double t = lgv_seconds(), spent = t - meter->begin;
    if (fraction > 0) lgv_stop_keeps(true);
    if (stop_asked) {
        lgv_meter_end(meter);
        return 1;
    }
    if (meter->warns && fraction > 0) warn_endless(meter, t, fraction);
    if (!meter->shown || t - meter->last < 0.2) return 0;
    meter->last = t;
    meter->drawn = true;
    if (!(fraction > 0)) { /* only the compiler is watched before the first step */
        fprintf(stderr, "\r\033[Kcompiling the kernel ... %.0f s", spent);
        fflush(stderr);
        return 0;
    }
    char left[40] = "";
    if (fraction > 1e-5 && spent > 0.5) {
        char time[32];
        duration(time, sizeof time, spent * (1 - fraction) / fraction);
        snprintf(left, sizeof left, ", %s left", time);
    }
    fprintf(stderr, "\r\033[K%*.*f %%%s", 3, fraction < 0.1 ? 1 : 0, 100 * fraction, left);
    fflush(stderr);
    return 0;
}

void lgv_meter_end(struct lgv_meter *meter) {
    if (meter->drawn) fputs("\r\033[K", stderr);
    if (meter->shown && stop_asked) fputs("stopping; once more ends at once\n", stderr);
    fflush(stderr);
    meter->drawn = meter->shown = false;
}
