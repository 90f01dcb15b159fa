/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program with faults, and with moments that do not depend on how fast or busy the machine is.  LGV_FAULT is one of
 *     memory:N      the Nth allocation of lgv's own code fails
 *     memory-on:N   all from the Nth on
 *     write:N       the Nth call that writes, syncs or renames fails (ENOSPC)
 *     kill-write:N  the program is killed there
 *     kill:N        it is killed at the Nth look at a run; these come after every few steps, not after some time
 *     stop:N        a SIGTERM comes at that look
 *     late:N        the clock goes on by ten days
 *     hold:N        the run stands still until it is killed
 *     ready:1       nothing; the program listens to signals
 * The linker leads the calls here; those of other libraries stay as they are.  LGV_FAULT_SEEN names a file that is made
 * when it has come to that, LGV_PEAK one that tells the most memory there was, in kB. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include "run/run.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
int __real_posix_memalign(void **out, size_t align, size_t size);
ssize_t __real_write(int fd, const void *data, size_t size);
int __real_fsync(int fd);
int __real_rename(const char *from, const char *to);
double __real_lgv_seconds(void);
int __real_lgv_meter_progress(void *meter, double fraction);
void __real_lgv_stop_on_signals(void);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __wrap_posix_memalign(void **out, size_t align, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
int __wrap_fsync(int fd);
int __wrap_rename(const char *from, const char *to);
double __wrap_lgv_seconds(void);
int __wrap_lgv_meter_progress(void *meter, double fraction);
void __wrap_lgv_stop_on_signals(void);

enum what { NONE, MEMORY, MEMORY_ON, WRITE, KILL_WRITE, KILL, STOP, LATE, HOLD, READY };
static const char *const name[] = {"", "memory", "memory-on", "write", "kill-write", "kill", "stop", "late", "hold",
                                   "ready"};
static enum what what;
static unsigned long wanted;
static atomic_ulong count;
static _Atomic double ahead; /* seconds that the clock has gone on */

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("LGV_FAULT"), *colon = text ? strchr(text, ':') : NULL;
    for (size_t k = 1; colon && k < sizeof name / sizeof *name; k++)
        if (strlen(name[k]) == (size_t)(colon - text) && strncmp(name[k], text, strlen(name[k])) == 0)
            what = (enum what)k;
    if (text && *text && !what) {
        fprintf(stderr, "LGV_FAULT=%s is nothing that this program can do\n", text);
        _exit(99);
    }
    wanted = colon ? strtoul(colon + 1, NULL, 10) : 0;
    if (what >= KILL_WRITE) lgv_crew_pause = 0; /* a look after every few steps */
}

__attribute__((destructor)) static void end(void) {
    const char *file = getenv("LGV_PEAK");
    struct rusage use;
    FILE *f = file && getrusage(RUSAGE_SELF, &use) == 0 ? fopen(file, "w") : NULL;
    if (f) fprintf(f, "%ld\n", use.ru_maxrss);
    if (f) fclose(f);
}

static void seen(void) {
    const char *file = getenv("LGV_FAULT_SEEN");
    int fd = file ? open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) close(fd);
}

/* Is this the one? */
static bool reached(void) {
    unsigned long n = atomic_fetch_add(&count, 1) + 1;
    if (what == MEMORY_ON ? n < wanted : n != wanted) return false;
    seen();
    return true;
}

/* ---- memory and files ---- */

static bool fails(bool memory) {
    bool mine = memory ? what == MEMORY || what == MEMORY_ON : what == WRITE || what == KILL_WRITE;
    if (!mine || !reached()) return false;
    if (what == KILL_WRITE) raise(SIGKILL);
    errno = memory ? ENOMEM : ENOSPC;
    return true;
}

void *__wrap_malloc(size_t size) {
    return fails(true) ? NULL : __real_malloc(size);
}
void *__wrap_calloc(size_t n, size_t size) {
    return fails(true) ? NULL : __real_calloc(n, size);
}
void *__wrap_realloc(void *old, size_t size) {
    return fails(true) ? NULL : __real_realloc(old, size);
}
int __wrap_posix_memalign(void **out, size_t align, size_t size) {
    return fails(true) ? ENOMEM : __real_posix_memalign(out, align, size);
}
ssize_t __wrap_write(int fd, const void *data, size_t size) {
    return fails(false) ? -1 : __real_write(fd, data, size);
}
int __wrap_fsync(int fd) {
    return fails(false) ? -1 : __real_fsync(fd);
}
int __wrap_rename(const char *from, const char *to) {
    return fails(false) ? -1 : __real_rename(from, to);
}

/* ---- moments ---- */

double __wrap_lgv_seconds(void) {
    return __real_lgv_seconds() + atomic_load(&ahead);
}

int __wrap_lgv_meter_progress(void *meter, double fraction) {
    int stop = __real_lgv_meter_progress(meter, fraction);
    if (!(fraction > 0) || what < KILL || what > HOLD || !reached()) return stop;
    if (what == KILL) raise(SIGKILL);
    if (what == LATE) atomic_store(&ahead, 864000.0);
    if (what == STOP) {
        raise(SIGTERM);
        stop = __real_lgv_meter_progress(meter, fraction);
    }
    while (what == HOLD) pause();
    return stop;
}

void __wrap_lgv_stop_on_signals(void) {
    __real_lgv_stop_on_signals();
    if (what == READY) seen();
}
