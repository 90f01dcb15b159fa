/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where recorded paths have ended (`record: final`), as lines of text: what others can start from. */
#include "out/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 4096 /* paths in memory */

/* A dataset [dims] of the file and its size; -1: there is none of this rank. */
static hid_t open_set(hid_t file, const char *name, int rank, hsize_t *dims) {
    hid_t set = H5Lexists(file, name, H5P_DEFAULT) > 0 ? H5Dopen2(file, name, H5P_DEFAULT) : -1;
    hid_t space = set >= 0 ? H5Dget_space(set) : -1;
    bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                H5Sget_simple_extent_dims(space, dims, NULL) >= 0;
    if (space >= 0) H5Sclose(space);
    if (!good && set >= 0) H5Dclose(set);
    return good ? set : -1;
}

static bool print_names(hid_t file, hsize_t rows, FILE *out) {
    hsize_t n = 0;
    hid_t set = open_set(file, "rows", 1, &n), type = set >= 0 ? H5Dget_type(set) : -1;
    size_t size = type >= 0 && H5Tget_class(type) == H5T_STRING && !H5Tis_variable_str(type) ? H5Tget_size(type) : 0;
    char *text = size && n == rows ? lgv_new((size_t)n + 1, size) : NULL;
    bool good = text && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    for (size_t i = 0; good && i < n; i++)
        fprintf(out, "%s%.*s", i ? "," : "", (int)strnlen(text + i * size, size), text + i * size);
    if (good) fputs(",path\n", out);
    free(text);
    if (type >= 0) H5Tclose(type);
    if (set >= 0) H5Dclose(set);
    return good;
}

/* Some rows of a table, or of a list: rank 2 or 1. */
static bool read_rows(hid_t set, int rank, hsize_t first, hsize_t count, hsize_t width, hid_t type, void *out) {
    const hsize_t from[2] = {first, 0}, size[2] = {count, width};
    hid_t there = H5Dget_space(set), here = H5Screate_simple(rank, size, NULL);
    bool good = there >= 0 && here >= 0 && H5Sselect_hyperslab(there, H5S_SELECT_SET, from, NULL, size, NULL) >= 0 &&
                H5Dread(set, type, here, there, H5P_DEFAULT, out) >= 0;
    if (there >= 0) H5Sclose(there);
    if (here >= 0) H5Sclose(here);
    return good;
}

/* A path that has failed has no end. */
static bool print_end(const double *row, size_t count, uint64_t path, FILE *out) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(row[i])) return false;
    for (size_t i = 0; i < count; i++) fprintf(out, "%.17g,", row[i]);
    fprintf(out, "%llu\n", (unsigned long long)path);
    return true;
}

static bool print_ends(hid_t file, FILE *out, uint64_t *missing) {
    hsize_t dims[2], paths = 0;
    uint64_t path[AT_ONCE];
    hid_t set = open_set(file, "final", 2, dims), numbers = open_set(file, "path", 1, &paths);
    double *x = set >= 0 && dims[1] < SIZE_MAX / AT_ONCE ? lgv_new((size_t)dims[1] * AT_ONCE, sizeof *x) : NULL;
    bool good = x && numbers >= 0 && paths == dims[0] && print_names(file, dims[1], out);
    for (hsize_t first = 0, n; good && first < dims[0]; first += n) {
        n = dims[0] - first < AT_ONCE ? dims[0] - first : AT_ONCE;
        good = read_rows(set, 2, first, n, dims[1], H5T_NATIVE_DOUBLE, x) &&
               read_rows(numbers, 1, first, n, 0, H5T_NATIVE_UINT64, path);
        for (size_t k = 0; good && k < n; k++) *missing += !print_end(x + k * dims[1], (size_t)dims[1], path[k], out);
    }
    free(x);
    if (numbers >= 0) H5Dclose(numbers);
    if (set >= 0) H5Dclose(set);
    return good;
}

enum lgv_status lgv_record_ends(const char *path, FILE *out, uint64_t *missing, struct lgv_error *err) {
    *missing = 0;
    struct lgv_hdf5_guard guard;
    lgv_hdf5_begin(&guard);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    bool good = file >= 0 && print_ends(file, out, missing);
    if (file >= 0) H5Fclose(file);
    lgv_hdf5_end(&guard);
    if (good) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT, "%s has no final states that can be read: run it with record=final", path);
}
