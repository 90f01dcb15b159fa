/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A main for fuzz targets without libFuzzer: feeds the empty input, then every file named on the command line (folders:
 * the files in them) to LLVMFuzzerTestOneInput.  The kept inputs so become ordinary regression tests. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int feed_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return 1;
    }
    size_t size = 0, capacity = 4096;
    uint8_t *data = malloc(capacity);
    while (data) {
        size += fread(data + size, 1, capacity - size, f);
        if (size < capacity) break;
        uint8_t *grown = realloc(data, capacity *= 2);
        if (!grown) free(data);
        data = grown;
    }
    fclose(f);
    if (!data) return 1;
    /* An exact copy, so that the sanitizer sees a read behind the end. */
    uint8_t *exact = malloc(size ? size : 1);
    if (exact) {
        memcpy(exact, data, size);
        printf("%s\n", path);
        fflush(stdout); /* a crash must not swallow the name */
        LLVMFuzzerTestOneInput(exact, size);
    }
    free(data);
    free(exact);
    return exact ? 0 : 1;
}

static int feed(const char *path) {
    DIR *dir = opendir(path);
    if (!dir) return feed_file(path);
    int failed = 0;
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        char name[4096];
        if (entry->d_name[0] == '.') continue;
        if (snprintf(name, sizeof name, "%s/%s", path, entry->d_name) < (int)sizeof name) failed |= feed_file(name);
    }
    closedir(dir);
    return failed;
}

int main(int argc, char **argv) {
    int failed = 0;
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) failed |= feed(argv[i]);
    return failed;
}
