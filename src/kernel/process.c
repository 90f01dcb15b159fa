/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Running another program without a shell. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "kernel/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
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

/* The environment with LC_ALL=C, so that messages can be recognised, and TMPDIR.  Only the array is to be freed. */
static char **plain_environment(char *tmpdir) {
    static char plain[] = "LC_ALL=C";
    size_t n = 0, k = 0;
    while (environ && environ[n]) n++;
    char **copy = lgv_new(n + 3, sizeof *copy);
    if (!copy) return NULL;
    for (size_t i = 0; i < n; i++) {
        if (strncmp(environ[i], "LC_ALL=", 7) != 0 && !(tmpdir && strncmp(environ[i], "TMPDIR=", 7) == 0))
            copy[k++] = environ[i];
    }
    copy[k++] = plain;
    copy[k] = tmpdir;
    return copy;
}

/* Handlers of the caller are reset by exec; its mask and an ignored SIGPIPE or SIGCHLD would be inherited.  SIGINT
 * stays as it is: the terminal sends it to the whole group, and a compiler that gets it removes its own files. */
static int spawn_plain(char *const argv[], char **environment, int output, pid_t *pid) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, reset;
    sigemptyset(&none);
    sigemptyset(&reset);
    sigaddset(&reset, SIGPIPE);
    sigaddset(&reset, SIGCHLD);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &reset);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawn(pid, argv[0], &files, &attributes, argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Reads to the end even past the limit: a program must not hang or die on a full pipe. */
static void collect(int fd, size_t limit, struct lgv_text *printed) {
    char part[4096];
    for (;;) {
        ssize_t n = read(fd, part, sizeof part);
        if (n == 0 || (n < 0 && errno != EINTR)) return;
        if (n > 0 && printed && printed->size < limit) {
            size_t room = limit - printed->size;
            lgv_text_append(printed, part, (size_t)n < room ? (size_t)n : room);
        }
    }
}

/* Starts argv; *output is the end of the pipe to read from. */
static int start(char *const argv[], const char *tmpdir, int *output, pid_t *pid) {
    int ends[2], error = ENOMEM;
    struct lgv_text variable = {0};
    if (tmpdir) lgv_text_add(&variable, "TMPDIR=%s", tmpdir);
    char **environment = variable.failed ? NULL : plain_environment(variable.data);
    if (environment && pipe2(ends, O_CLOEXEC) != 0) {
        error = errno;
    } else if (environment) {
        /* dup2 of a descriptor onto itself would leave close-on-exec set: keep the pipe clear of 0, 1 and 2. */
        int input = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
        error = input < 0 ? errno : spawn_plain(argv, environment, input, pid);
        close(ends[1]);
        if (input >= 0) close(input);
        if (error) close(ends[0]);
        *output = ends[0];
    }
    free(environment);
    lgv_text_free(&variable);
    return error;
}

int lgv_process_run(char *const argv[], const char *tmpdir, size_t limit, struct lgv_text *printed) {
    int output = -1, status;
    pid_t pid;
    int error = start(argv, tmpdir, &output, &pid);
    if (error) {
        errno = error;
        return -1;
    }
    collect(output, limit, printed);
    close(output);
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return -2;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
