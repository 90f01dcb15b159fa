/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checked memory and whole files. */
#include "base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void *lgv_new(size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) return NULL;
    /* calloc(0) may return NULL; here NULL means that memory is out and nothing else. */
    return calloc(1, total ? total : 1);
}

bool lgv_grow(void *array_pointer, size_t *capacity, size_t need, size_t item) {
    if (need <= *capacity) return true;
    size_t count = *capacity ? *capacity : 8, bytes;
    while (count < need) {
        if (__builtin_mul_overflow(count, (size_t)2, &count)) return false;
    }
    if (__builtin_mul_overflow(count, item, &bytes)) return false;
    void *old; /* the caller's pointer has its own type: copied, not accessed as void * */
    memcpy(&old, array_pointer, sizeof old);
    void *grown = realloc(old, bytes ? bytes : 1);
    if (!grown) return false;
    memcpy(array_pointer, &grown, sizeof grown);
    *capacity = count;
    return true;
}

char *lgv_copy_n(const char *text, size_t size) {
    if (size == SIZE_MAX) return NULL;
    char *copy = malloc(size + 1);
    if (!copy) return NULL;
    if (size) memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

char *lgv_copy(const char *text) {
    return text ? lgv_copy_n(text, strlen(text)) : NULL;
}

/* Reads to the end, so that pipes work as well as files. */
static enum lgv_status read_stream(FILE *f, const char *path, size_t limit, struct lgv_text *t, struct lgv_error *err) {
    char buffer[16384];
    size_t n;
    while ((n = fread(buffer, 1, sizeof buffer, f)) > 0) {
        if (n > limit - t->size)
            return lgv_fail(err, LGV_BAD_INPUT, "%s: larger than the %zu bytes allowed", path, limit);
        lgv_text_append(t, buffer, n);
        if (t->failed) return lgv_fail_memory(err);
    }
    if (ferror(f)) return lgv_fail(err, LGV_BAD_INPUT, "%s: %s", path, strerror(errno));
    return LGV_OK;
}

char *lgv_read_file(const char *path, size_t limit, size_t *size, struct lgv_error *err) {
    struct stat info;
    FILE *f = fopen(path, "rbe");
    if (!f) {
        lgv_fail(err, LGV_BAD_INPUT, "%s: %s", path, strerror(errno));
        return NULL;
    }
    struct lgv_text t = {0};
    enum lgv_status status;
    if (fstat(fileno(f), &info) == 0 && S_ISDIR(info.st_mode))
        status = lgv_fail(err, LGV_BAD_INPUT, "%s: %s", path, strerror(EISDIR));
    else
        status = read_stream(f, path, limit, &t, err);
    fclose(f);
    if (status == LGV_OK && !t.data && !(t.data = lgv_new(1, 1))) status = lgv_fail_memory(err);
    if (status != LGV_OK) {
        lgv_text_free(&t);
        return NULL;
    }
    if (size) *size = t.size;
    return t.data;
}
