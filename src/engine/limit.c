/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How much memory there is: that of the machine, or less where this process is in a group with a limit (a container, a
 * job of a cluster) or has one of its own.
 *
 *     /proc/self/cgroup   0::/PATH         /sys/fs/cgroup/PATH/memory.max, and so in all folders above (version 2)
 *                         N:memory:/PATH   /sys/fs/cgroup/memory/PATH/memory.limit_in_bytes, likewise (version 1)
 *
 * Files without a number ("max") are no limits. */
#include "engine/private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The smaller one of `bytes` and the number in a file. */
static double at_most(double bytes, const char *file) {
    char line[64], *end = line;
    FILE *f = fopen(file, "re");
    if (f && fgets(line, sizeof line, f)) {
        double x = (double)strtoull(line, &end, 10);
        if (end > line && x > 0 && !(x > bytes)) bytes = x;
    }
    if (f) fclose(f);
    return bytes;
}

/* In a folder and all above it; `path` begins with a slash and is cut on the way. */
static double upwards(double bytes, const char *root, char *path, const char *name) {
    char file[1200];
    for (;;) {
        if (snprintf(file, sizeof file, "%s%s/%s", root, path, name) < (int)sizeof file) bytes = at_most(bytes, file);
        char *slash = strrchr(path, '/');
        if (!slash) return bytes;
        *slash = '\0';
    }
}

static double of_groups(double bytes) {
    char line[1100];
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
        if (!path || path[1] != '/') continue;
        *path++ = '\0';
        if (strcmp(names, ":") == 0) bytes = upwards(bytes, "/sys/fs/cgroup", path, "memory.max");
        if (strcmp(names, ":memory") == 0)
            bytes = upwards(bytes, "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes");
    }
    if (f) fclose(f);
    return bytes;
}

double lgv_memory_there(void) {
    struct rlimit own;
    double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (!(bytes > 0)) return 0;
    if (getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY && (double)own.rlim_cur < bytes)
        bytes = (double)own.rlim_cur;
    return of_groups(bytes);
}
