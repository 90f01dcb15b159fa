/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files that are replaced whole or not at all, their names, a hash of what they hold, and bytes read in order. */
#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t lgv_hash(uint64_t hash, const void *data, size_t size) {
    for (const unsigned char *u = data, *end = u + size; u < end; u++) hash = (hash ^ *u) * 1099511628211u;
    return hash;
}

void lgv_bytes_take(struct lgv_bytes *b, void *out, size_t size) {
    if (size > b->left) {
        b->bad = true;
        b->left = 0;
        if (size) memset(out, 0, size);
        return;
    }
    if (size) memcpy(out, b->at, size);
    b->at += size;
    b->left -= size;
}

uint64_t lgv_bytes_count(struct lgv_bytes *b) {
    uint64_t n;
    lgv_bytes_take(b, &n, sizeof n);
    return n;
}

void lgv_text_append_count(struct lgv_text *t, uint64_t n) {
    lgv_text_append(t, (const char *)&n, sizeof n);
}

/* All of data to fd; errno tells what went wrong. */
static bool write_all(int fd, const char *data, size_t size) {
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            errno = n == 0 ? ENOSPC : errno;
            return false;
        }
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* Whether there is something that is not a file: a rename would put a file in place of a device. */
bool lgv_file_special(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && !S_ISREG(s.st_mode);
}

/* A file of a new name that nobody can guess, beside `path`: PATH.lgv-PID.RANDOM.tmp; -1: errno tells why. */
static int make_temporary(const char *path, struct lgv_text *name) {
    int fd = -1;
    for (int tries = 0; tries < 10 && fd < 0; tries++) {
        uint32_t number = 0;
        if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) number = (uint32_t)tries;
        lgv_text_free(name);
        *name = (struct lgv_text){0};
        lgv_text_add(name, "%s.lgv-%ld.%08lx.tmp", path, (long)getpid(), (unsigned long)number);
        if (name->failed || !name->data) return -1;
        fd = open(name->data, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) return -1;
    }
    return fd;
}

enum lgv_status lgv_file_made(const char *path, lgv_file_maker *make, void *user, struct lgv_error *err) {
    struct lgv_text tmp = {0};
    if (lgv_file_special(path))
        return lgv_fail(err, LGV_CANNOT_RUN, "cannot replace '%s': it is not a regular file", path);
    enum lgv_status status = LGV_OK;
    int fd = make_temporary(path, &tmp);
    if (tmp.failed || !tmp.data) {
        lgv_text_free(&tmp);
        return lgv_fail_memory(err);
    }
    if (fd < 0) {
        status = lgv_fail(err, LGV_CANNOT_RUN, "cannot create '%s': %s", tmp.data, strerror(errno));
        lgv_text_free(&tmp);
        return status;
    }
    int why = make(user, fd, tmp.data);
    /* A device or a network file system may not know fsync; that is no loss of data we could prevent. */
    if (!why && fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP) why = errno;
    if (close(fd) != 0 && !why) why = errno; /* network file systems report a full disk only here */
    if (why > 0)
        status = lgv_fail(err, LGV_CANNOT_RUN, "cannot write '%s': %s", path, strerror(why));
    else if (why < 0)
        status = LGV_CANNOT_RUN; /* the maker has said why */
    else if (rename(tmp.data, path) != 0)
        status = lgv_fail(err, LGV_CANNOT_RUN, "cannot rename '%s' to '%s': %s", tmp.data, path, strerror(errno));
    if (status != LGV_OK) unlink(tmp.data);
    lgv_text_free(&tmp);
    return status;
}

struct bytes {
    const char *data;
    size_t size;
};

static int write_bytes(void *user, int fd, const char *path) {
    const struct bytes *b = user;
    (void)path;
    return write_all(fd, b->data, b->size) ? 0 : errno;
}

enum lgv_status lgv_file_replace(const char *path, const void *data, size_t size, struct lgv_error *err) {
    struct bytes b = {data, size};
    return lgv_file_made(path, write_bytes, &b, err);
}

/* The process that has made a temporary file of this name; 0: it is no such name. */
static long maker_of(const char *name) {
    const char *mark = NULL, *next = name;
    char *end = NULL;
    while ((next = strstr(next, ".lgv-"))) mark = next, next += 5;
    if (!mark || mark[5] < '0' || mark[5] > '9') return 0;
    long pid = strtol(mark + 5, &end, 10);
    bool ours = *end == '.' && strspn(end + 1, "0123456789abcdef") == 8 && strcmp(end + 9, ".tmp") == 0;
    return ours && pid > 0 ? pid : 0;
}

void lgv_file_sweep(const char *dir) {
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        long pid = maker_of(e->d_name);
        if (pid && kill((pid_t)pid, 0) != 0 && errno == ESRCH) unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d) closedir(d);
}

void lgv_file_name(char *out, size_t size, const char *prefix, const char *text, bool distinct) {
    int n = snprintf(out, size, "%s-", prefix);
    size_t used = n > 0 && (size_t)n < size ? (size_t)n : 0, start = used;
    bool replaced = false;
    for (const char *s = text ? text : ""; *s && used + 1 < size && used < start + 40; s++) {
        bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s == '-';
        replaced |= !plain && *s != '_';
        out[used++] = plain ? *s : '_';
    }
    bool cut = text && strlen(text) > used - start;
    if (used == start && used + 1 < size) out[used++] = '_';
    out[used] = '\0';
    if (!cut && !(distinct && replaced)) return;
    size_t end = used < start + 31 ? used : start + 31; /* names that differ only in what is lost must not become one */
    if (end + 10 > size) end = size > 10 ? size - 10 : 0;
    if (end > start) snprintf(out + end, size - end, "-%08x", (unsigned)lgv_hash(LGV_HASH_START, text, strlen(text)));
}

char *lgv_join(const char *dir, const char *name) {
    struct lgv_text t = {0};
    lgv_text_add(&t, "%s/%s", dir, name);
    if (t.failed) lgv_text_free(&t);
    return t.data;
}
