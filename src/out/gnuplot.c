/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs gnuplot on a script: no shell, the script in a temporary file, what gnuplot complains about in the error. */
#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np */
#include "out/private.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

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

/* Starts gnuplot with standard input from `script`, its complaints going to `complaints`. */
static int start(const char *dir, int script, int complaints, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    int why = posix_spawn_file_actions_init(&actions);
    if (why != 0) return why;
    char name[] = "gnuplot", defaults[] = "--default-settings", input[] = "-";
    char *argv[] = {name, defaults, input, NULL};
    why = posix_spawn_file_actions_adddup2(&actions, script, 0);
    if (why == 0) why = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (why == 0) why = posix_spawn_file_actions_adddup2(&actions, complaints, 2);
    if (why == 0) why = posix_spawn_file_actions_addchdir_np(&actions, dir);
    if (why == 0) why = posix_spawnp(pid, "gnuplot", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return why;
}

/* Reads all that comes and keeps the beginning. */
static void collect(int fd, char *out, size_t size) {
    size_t used = 0;
    char buffer[512];
    for (;;) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        size_t keep = (size_t)n < size - 1 - used ? (size_t)n : size - 1 - used;
        memcpy(out + used, buffer, keep);
        used += keep;
    }
    out[used] = '\0';
}

static enum lgv_status run(const char *dir, int script, struct lgv_error *err) {
    int ends[2], state = 0;
    pid_t pid = -1;
    if (pipe2(ends, O_CLOEXEC) != 0) return lgv_fail(err, LGV_CANNOT_RUN, "cannot start gnuplot: %s", strerror(errno));
    int why = start(dir, script, ends[1], &pid);
    close(ends[1]);
    if (why != 0) {
        close(ends[0]);
        if (why == ENOENT)
            return lgv_fail(err, LGV_CANNOT_RUN,
                            "cannot draw figures in '%s': gnuplot was not found (Debian package gnuplot-nox)", dir);
        return lgv_fail(err, LGV_CANNOT_RUN, "cannot start gnuplot in '%s': %s", dir, strerror(why));
    }
    char said[800], plain[800];
    collect(ends[0], said, sizeof said);
    close(ends[0]);
    pid_t got;
    do got = waitpid(pid, &state, 0);
    while (got < 0 && errno == EINTR);
    /* A caller that ignores SIGCHLD takes the exit status away; the figures tell then whether it went well. */
    if (got < 0 || (WIFEXITED(state) && WEXITSTATUS(state) == 0)) return LGV_OK;
    return lgv_fail(err, LGV_CANNOT_RUN, "gnuplot could not draw the figures in '%s': %s", dir,
                    *said ? lgv_plain(plain, sizeof plain, said) : "it ended without a message");
}

enum lgv_status lgv_gnuplot(const char *dir, const struct lgv_text *script, struct lgv_error *err) {
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
