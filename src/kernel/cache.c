/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The folder of compiled kernels; see cache.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "kernel/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { FILE_LIMIT = 256 << 20, DAY = 24 * 3600, KEEP_DAYS = 90, HEAD_SIZE = 96 };

static char *join(const char *folder, const char *name) {
    struct lgv_text t = {0};
    lgv_text_add(&t, "%s/%s", folder, name);
    if (t.failed) lgv_text_free(&t);
    return t.data;
}

/* ---- where ---- */

/* $XDG_CACHE_HOME/lgv (relative values are to be ignored, says the standard), else ~/.cache/lgv. */
static char *folder_name(void) {
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (base && base[0] == '/') return join(base, "lgv");
    return home && home[0] == '/' ? join(home, ".cache/lgv") : NULL;
}

static bool make_folders(char *path) {
    for (char *s = path + 1; *s; s++) {
        if (*s != '/') continue;
        *s = '\0';
        int failed = mkdir(path, 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES;
        *s = '/';
        if (failed) return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

enum lgv_status lgv_cache_folder(char **folder, struct lgv_error *err) {
    struct stat info;
    char *path = folder_name();
    *folder = NULL;
    if (!path) return LGV_OK;
    if (!make_folders(path) || stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        free(path);
        return LGV_OK;
    }
    /* Code from here is loaded into the process: nobody else may be able to put it there. */
    enum lgv_status status = LGV_OK;
    if (info.st_uid != geteuid())
        status =
            lgv_fail(err, LGV_CANNOT_RUN,
                     "kernel cache %s belongs to another user (uid %lu); choose another folder with XDG_CACHE_HOME",
                     path, (unsigned long)info.st_uid);
    else if (info.st_mode & (S_IWGRP | S_IWOTH))
        status = lgv_fail(err, LGV_CANNOT_RUN,
                          "kernel cache %s can be written by other users (mode %03o); run: chmod go-w %s", path,
                          (unsigned)(info.st_mode & 0777), path);
    if (status == LGV_OK)
        *folder = path;
    else
        free(path);
    return status;
}

/* ---- the key ---- */

struct hash {
    uint64_t a, b;
};

/* FNV-1a twice, h = (h ^ byte) * prime, from different starts and with different odd multipliers. */
static void hash_bytes(struct hash *h, const void *data, size_t size) {
    const unsigned char *s = data;
    for (size_t i = 0; i < size; i++) {
        h->a = (h->a ^ s[i]) * 0x100000001b3u;
        h->b = (h->b ^ s[i]) * 0x9e3779b97f4a7c15u;
        h->b ^= h->b >> 32;
    }
}

static struct hash hash_start(void) {
    return (struct hash){0xcbf29ce484222325u, 0x6c62272e07bb0142u};
}

static void hash_text(struct hash *h, const char *text) {
    hash_bytes(h, text, strlen(text) + 1); /* with the NUL: "ab","c" is not "a","bc" */
}

/* What -march=native looks at: model and features of the first processor. */
static void hash_processor(struct hash *h) {
    static const char *const fields[] = {"vendor_id", "cpu family",  "model",    "stepping", "flags", "CPU implementer",
                                         "CPU part",  "CPU variant", "Features", "cpu",      "isa"};
    struct utsname system;
    if (uname(&system) == 0) hash_text(h, system.machine);
    FILE *f = fopen("/proc/cpuinfo", "re");
    char *line = NULL;
    size_t capacity = 0;
    while (f && getline(&line, &capacity, f) > 1) { /* an empty line ends the first processor */
        size_t n = strcspn(line, "\t:");
        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
            if (strncmp(line, fields[k], n) == 0) hash_text(h, line);
        }
    }
    free(line);
    if (f) fclose(f);
}

void lgv_cache_key(const char *source, const char *compiler, const char *const *flags, char key[LGV_CACHE_KEY]) {
    struct hash h = hash_start();
    hash_text(&h, source);
    hash_text(&h, compiler);
    for (; *flags; flags++) hash_text(&h, *flags);
    hash_processor(&h);
    snprintf(key, LGV_CACHE_KEY, "%016llx%016llx", (unsigned long long)h.a, (unsigned long long)h.b);
}

/* ---- entries ---- */

/* First line of KEY.c: with it a damaged object is seen before it is mapped, where it could only crash. */
static bool object_head(const char *object, char head[HEAD_SIZE]) {
    size_t size;
    char *data = lgv_read_file(object, FILE_LIMIT, &size, NULL);
    if (!data) return false;
    struct hash h = hash_start();
    hash_bytes(&h, data, size);
    free(data);
    snprintf(head, HEAD_SIZE, "/* lgv object %zu %016llx%016llx */\n", size, (unsigned long long)h.a,
             (unsigned long long)h.b);
    return true;
}

static void name_files(const char *folder, const char *key, const char *end, char **source, char **object) {
    char name[LGV_CACHE_KEY + 8];
    snprintf(name, sizeof name, "%s.c", key);
    *source = join(folder, name);
    snprintf(name, sizeof name, "%s%s", key, end);
    *object = join(folder, name);
}

char *lgv_cache_lookup(const char *folder, const char *key, const char *end, const char *source) {
    char *source_path, *object, *stored = NULL, head[HEAD_SIZE];
    size_t size = 0;
    bool hit = false;
    name_files(folder, key, end, &source_path, &object);
    if (source_path && object && (stored = lgv_read_file(source_path, FILE_LIMIT, &size, NULL)) &&
        object_head(object, head)) {
        size_t n = strlen(head);
        hit = size == n + strlen(source) && memcmp(stored, head, n) == 0 && strcmp(stored + n, source) == 0;
    }
    if (hit) { /* used today: the sweep goes by this */
        utimensat(AT_FDCWD, object, NULL, 0);
        utimensat(AT_FDCWD, source_path, NULL, 0);
    } else {
        free(object);
        object = NULL;
    }
    free(source_path);
    free(stored);
    return object;
}

static bool write_all(int fd, const char *text, size_t size) {
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text += n;
        size -= (size_t)n;
    }
    return true;
}

static bool write_text(const char *path, const char *head, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bool good = write_all(fd, head, strlen(head)) && write_all(fd, text, strlen(text));
    int saved = errno;
    if (close(fd) != 0) return false;
    errno = saved;
    return good;
}

enum lgv_status lgv_cache_begin(const char *folder, const char *key, const char *source, struct lgv_cache_files *files,
                                struct lgv_error *err) {
    char name[LGV_CACHE_KEY + 16];
    const char *parent = folder ? folder : getenv("TMPDIR");
    if (!parent || parent[0] != '/') parent = "/tmp";
    memset(files, 0, sizeof *files);
    name_files(parent, key, ".so", &files->source, &files->object);
    snprintf(name, sizeof name, "%s%s.XXXXXX", folder ? "" : "lgv-", key);
    files->work = join(parent, name);
    if (!files->source || !files->object || !files->work) {
        free(files->work); /* not a folder yet */
        files->work = NULL;
        lgv_cache_discard(files);
        return lgv_fail_memory(err);
    }
    enum lgv_status status = LGV_OK;
    if (!mkdtemp(files->work)) {
        status = lgv_fail(err, LGV_CANNOT_RUN, "no folder to compile the kernel in: %s: %s", parent, strerror(errno));
        free(files->work);
        files->work = NULL;
    } else {
        files->new_source = join(files->work, "kernel.c");
        files->middle = join(files->work, "kernel.o");
        files->rest = join(files->work, "rest.o");
        files->new_object = join(files->work, "kernel.so");
        if (!files->new_source || !files->middle || !files->rest || !files->new_object)
            status = lgv_fail_memory(err);
        else if (!write_text(files->new_source, "", source))
            status = lgv_fail(err, LGV_CANNOT_RUN, "%s: %s", files->new_source, strerror(errno));
    }
    if (status != LGV_OK) lgv_cache_discard(files);
    return status;
}

bool lgv_cache_shared(const struct lgv_cache_files *whole, const char *folder, const char *key, const char *source,
                      struct lgv_cache_files *shared) {
    memset(shared, 0, sizeof *shared);
    name_files(folder ? folder : whole->work, key, ".o", &shared->source, &shared->object);
    shared->new_source = join(whole->work, "shared.c");
    shared->new_object = join(whole->work, "shared.o");
    bool good = shared->source && shared->object && shared->new_source && shared->new_object &&
                write_text(shared->new_source, "", source);
    if (!good) lgv_cache_discard(shared);
    return good;
}

bool lgv_cache_commit(struct lgv_cache_files *files, const char *source) {
    char head[HEAD_SIZE];
    /* The source is written again under its head, which is known only now. */
    return object_head(files->new_object, head) && write_text(files->new_source, head, source) &&
           rename(files->new_object, files->object) == 0 && rename(files->new_source, files->source) == 0;
}

/* A work folder has files only; one with folders in it is not ours and stays. */
static void remove_work(const char *path) {
    DIR *dir = opendir(path);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir) closedir(dir);
    rmdir(path);
}

void lgv_cache_discard(struct lgv_cache_files *files) {
    if (files->work) remove_work(files->work);
    free(files->work);
    free(files->new_source);
    free(files->middle);
    free(files->rest);
    free(files->new_object);
    free(files->source);
    free(files->object);
    memset(files, 0, sizeof *files);
}

/* ---- notes ---- */

static char *note_path(const char *folder, const char *key, const char *end) {
    char name[LGV_CACHE_KEY + 16];
    snprintf(name, sizeof name, "%s%s", key, end);
    return join(folder, name);
}

char *lgv_cache_recall(const char *folder, const char *key, const char *about) {
    char *path = note_path(folder, key, ".id");
    size_t size, n = strlen(about);
    char *note = path ? lgv_read_file(path, FILE_LIMIT, &size, NULL) : NULL;
    free(path);
    if (note && strncmp(note, about, n) == 0) {
        memmove(note, note + n, strlen(note + n) + 1);
        return note;
    }
    free(note);
    return NULL;
}

void lgv_cache_remember(const char *folder, const char *key, const char *about, const char *text) {
    char *path = note_path(folder, key, ".id"), *new = note_path(folder, key, ".XXXXXX");
    int fd = path && new ? mkstemp(new) : -1;
    if (fd >= 0) {
        bool good = write_all(fd, about, strlen(about)) && write_all(fd, text, strlen(text));
        good = close(fd) == 0 && good;
        if (!good || rename(new, path) != 0) unlink(new);
    }
    free(path);
    free(new);
}

/* Own names only: 32 hexadecimal digits, then .c, .so, .o or .id, or .XXXXXX for a work folder. */
static bool own_name(const char *name) {
    size_t n = strspn(name, "0123456789abcdef");
    if (n != LGV_CACHE_KEY - 1 || name[n] != '.') return false;
    return strcmp(name + n, ".c") == 0 || strcmp(name + n, ".so") == 0 || strcmp(name + n, ".o") == 0 ||
           strcmp(name + n, ".id") == 0 || strlen(name + n) == 7;
}

void lgv_cache_sweep(const char *folder) {
    DIR *dir = opendir(folder);
    if (!dir) return;
    time_t today = time(NULL);
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        struct stat info;
        if (!own_name(entry->d_name) || fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (S_ISDIR(info.st_mode) && today - info.st_mtime > DAY) {
            char *work = join(folder, entry->d_name);
            if (work) remove_work(work);
            free(work);
        } else if (today - info.st_mtime > KEEP_DAYS * (time_t)DAY) {
            unlinkat(dirfd(dir), entry->d_name, 0);
        }
    }
    closedir(dir);
}
