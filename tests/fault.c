/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program with faults: LGV_FAULT=memory:N makes the Nth allocation of lgv's own code fail, memory-on:N all from the
 * Nth on, write:N the Nth call that writes, opens for writing, or renames (ENOSPC).  The linker leads the calls here;
 * those of other libraries stay as they are.  LGV_FAULT_SEEN names a file that is made when a call has failed. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
int __real_posix_memalign(void **out, size_t align, size_t size);
ssize_t __real_write(int fd, const void *data, size_t size);
int __real_fsync(int fd);
int __real_rename(const char *from, const char *to);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __wrap_posix_memalign(void **out, size_t align, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
int __wrap_fsync(int fd);
int __wrap_rename(const char *from, const char *to);

enum { NONE, MEMORY, MEMORY_ON, WRITE };
static int kind = -1;
static unsigned long wanted;
static atomic_ulong count;

static void begin(void) {
    const char *text = getenv("LGV_FAULT"), *colon = text ? strchr(text, ':') : NULL;
    kind = !colon                                ? NONE
           : strncmp(text, "write", 5) == 0     ? WRITE
           : strncmp(text, "memory-on", 9) == 0 ? MEMORY_ON
                                                : MEMORY;
    wanted = colon ? strtoul(colon + 1, NULL, 10) : 0;
}

static bool fails(bool memory) {
    if (kind < 0) begin();
    if (kind == NONE || memory != (kind != WRITE)) return false;
    unsigned long n = atomic_fetch_add(&count, 1) + 1;
    if (kind == MEMORY_ON ? n < wanted : n != wanted) return false;
    const char *seen = getenv("LGV_FAULT_SEEN");
    int fd = seen ? open(seen, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) close(fd);
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
