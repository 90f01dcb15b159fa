/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Running another program without a shell. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool is_program(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

bool lgv_process_find(const char *name, char *path, size_t size) {
    if (name[0] == '\0') return false;
    if (strchr(name, '/')) return snprintf(path, size, "%s", name) < (int)size && is_program(path);
    const char *folder = getenv("PATH");
    if (!folder || !*folder) folder = "/usr/local/bin:/usr/bin:/bin";
    while (*folder) {
        size_t n = strcspn(folder, ":");
        /* Relative entries would make the result depend on where the program was started. */
        if (folder[0] == '/' && n < INT_MAX && snprintf(path, size, "%.*s/%s", (int)n, folder, name) < (int)size &&
            is_program(path))
            return true;
        folder += n + (folder[n] == ':');
    }
    return false;
}

/* A compiler listens to many variables (CPATH, GCC_EXEC_PREFIX, CCC_OVERRIDE_OPTIONS, ...).  What is compiled must
 * depend on the source and the flags alone: these are the variables it gets. */
static bool needed(const char *variable) {
    static const char *const names[] = {"PATH=", "HOME=", "LD_LIBRARY_PATH=", "TMPDIR="};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strncmp(variable, names[k], strlen(names[k])) == 0) return true;
    return false;
}

/* The environment with LC_ALL=C, so that messages can be recognised, and TMPDIR.  Only the array is to be freed. */
static char **make_environment(bool bare, char *tmpdir) {
    static char plain[] = "LC_ALL=C";
    size_t n = 0, k = 0;
    while (environ && environ[n]) n++;
    char **copy = lgv_new(n + 3, sizeof *copy);
    if (!copy) return NULL;
    for (size_t i = 0; i < n; i++) {
        if (bare && !needed(environ[i])) continue;
        if (strncmp(environ[i], "LC_ALL=", 7) != 0 && !(tmpdir && strncmp(environ[i], "TMPDIR=", 7) == 0))
            copy[k++] = environ[i];
    }
    copy[k++] = plain;
    copy[k] = tmpdir;
    return copy;
}

/* Handlers of the caller are reset by exec; its mask and an ignored SIGPIPE or SIGCHLD would be inherited.  A group of
 * its own: compilers have children, and all of them are ended together. */
static int spawn_plain(const struct lgv_process *p, char **environment, int output, pid_t *pid) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, reset;
    sigemptyset(&none);
    sigemptyset(&reset);
    sigaddset(&reset, SIGPIPE);
    sigaddset(&reset, SIGCHLD);
    int error = posix_spawn_file_actions_init(&files);
    if (error) return error;
    if ((error = posix_spawnattr_init(&attributes))) {
        posix_spawn_file_actions_destroy(&files);
        return error;
    }
    error = p->input > 0 ? posix_spawn_file_actions_adddup2(&files, p->input, STDIN_FILENO)
                         : posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    if (!error) error = posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
    if (!error && p->folder) error = posix_spawn_file_actions_addchdir_np(&files, p->folder);
    if (!error) error = posix_spawnattr_setsigmask(&attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(&attributes, &reset);
    if (!error) error = posix_spawnattr_setpgroup(&attributes, 0);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP;
    if (!error) error = posix_spawnattr_setflags(&attributes, flags);
    if (!error) error = posix_spawn(pid, p->argv[0], &files, &attributes, p->argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Starts it; *output is the end of the pipe to read from. */
static int start(const struct lgv_process *p, int *output, pid_t *pid) {
    int ends[2], error = ENOMEM;
    struct lgv_text variable = {0};
    if (p->tmpdir) lgv_text_add(&variable, "TMPDIR=%s", p->tmpdir);
    char **environment = variable.failed ? NULL : make_environment(p->bare, variable.data);
    if (environment && pipe2(ends, O_CLOEXEC) != 0) {
        error = errno;
    } else if (environment) {
        /* dup2 of a descriptor onto itself would leave close-on-exec set: keep the pipe clear of 0, 1 and 2. */
        int input = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
        error = input < 0 ? errno : spawn_plain(p, environment, input, pid);
        close(ends[1]);
        if (input >= 0) close(input);
        if (error) close(ends[0]);
        *output = ends[0];
    }
    free(environment);
    lgv_text_free(&variable);
    return error;
}

/* ---- waiting ---- */

#define LOOK 50    /* milliseconds between two looks at what asks for an end */
#define PATIENCE 0.5 /* seconds before progress is asked: most programs have ended by then */
#define MERCY 0.3  /* seconds between SIGTERM and SIGKILL */

#define AT_ONCE 32 /* programs waited for by as many threads; more are not ended by lgv_process_abandon */
static _Atomic pid_t waited_for[AT_ONCE];

void lgv_process_abandon(void) {
    for (size_t i = 0; i < AT_ONCE; i++) {
        pid_t pid = waited_for[i];
        if (pid > 0) kill(-pid, SIGTERM);
    }
}

/* Exchanges one entry `from` of the list for `to`. */
static void note(pid_t from, pid_t to) {
    for (size_t i = 0; i < AT_ONCE; i++) {
        pid_t here = from;
        if (atomic_compare_exchange_strong(&waited_for[i], &here, to)) return;
    }
}

static bool signal_waits(void) {
    sigset_t pending;
    return sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
                                         sigismember(&pending, SIGHUP) == 1);
}

/* 0: go on. */
static int asked_to_end(const struct lgv_process *p, double spent) {
    if (signal_waits()) return LGV_PROCESS_STOPPED;
    if (p->seconds > 0 && spent > p->seconds) return LGV_PROCESS_TOO_LONG;
    return p->progress && spent > PATIENCE && p->progress(p->user, 0) ? LGV_PROCESS_STOPPED : 0;
}

/* Takes what there is; reads on past the limit: a program must not hang or die on a full pipe.  False at the end. */
static bool collect(const struct lgv_process *p, int fd) {
    char buffer[4096];
    ssize_t n = read(fd, buffer, sizeof buffer);
    if (n > 0 && p->printed && p->printed->size < p->limit) {
        size_t room = p->limit - p->printed->size;
        lgv_text_append(p->printed, buffer, (size_t)n < room ? (size_t)n : room);
    }
    return n > 0 || (n < 0 && errno == EINTR);
}

/* Waits for the end of the output, then of the program.  *why is set when it was ended here. */
static bool wait_for(const struct lgv_process *p, pid_t pid, int output, int *why) {
    double begin = lgv_seconds(), told = begin;
    bool open = true, killed = false;
    for (;;) {
        struct pollfd ready = {.fd = open ? output : -1, .events = POLLIN};
        if (poll(&ready, 1, open ? LOOK : 1) > 0 && open) open = collect(p, output);
        if (!open) {
            siginfo_t end = {0}; /* not reaped here: while it is in the list its number must not become another's */
            int failed = waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT);
            if (!failed && end.si_pid == pid) return true;
            if (failed && errno != EINTR) return false;
        }
        double t = lgv_seconds();
        if (*why == 0 && (*why = asked_to_end(p, t - begin)) != 0) {
            kill(-pid, SIGTERM);
            told = t;
        } else if (*why != 0 && !killed && t - told > MERCY) {
            kill(-pid, SIGKILL);
            killed = true;
        }
    }
}

int lgv_process_run(const struct lgv_process *p) {
    int output = -1, status = 0, why = 0;
    pid_t pid;
    int error = start(p, &output, &pid);
    if (error) {
        errno = error;
        return LGV_PROCESS_NOT_STARTED;
    }
    note(0, pid);
    bool known = wait_for(p, pid, output, &why);
    note(pid, 0);
    while (known && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) known = false;
    close(output);
    if (why) return why;
    if (!known) return LGV_PROCESS_UNKNOWN;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
