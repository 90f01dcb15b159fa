/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Single paths of a run, from the files of a folder to one file in the order of their numbers.  Of all files only the
 * numbers of their paths are known at once, as ranges; the rest goes through a block of rows. */
#include "out/record.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define BLOCK_BYTES (32u << 20)

struct range { /* paths first .. first + count - 1, in rows row .. of a file */
    uint64_t first;
    size_t count, row, file, at; /* at: row of the whole */
};
struct join {
    struct lgv_record_head head;
    struct lgv_column column[LGV_RECORD_COLUMNS];
    size_t columns;
    char **file;
    size_t files, files_room;
    double bytes; /* of them */
    struct range *range;
    size_t ranges, ranges_room, paths;
    const char *out;
    struct lgv_error *err;
};

static bool is_record(const char *name) {
    size_t n = strlen(name), prefix = strlen(LGV_RECORD_PREFIX);
    return n > prefix + 3 && strncmp(name, LGV_RECORD_PREFIX, prefix) == 0 && strcmp(name + n - 3, ".h5") == 0;
}

void lgv_record_remove(const char *folder) {
    DIR *d = opendir(folder);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));)
        if (is_record(e->d_name)) unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    lgv_file_sweep(folder);
    rmdir(folder); /* where nothing else is in it */
}

/* ---- looking through the files ---- */

static hid_t open_file(const char *path) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file = -1;
    if (access >= 0 && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0)
        file = H5Fopen(path, H5F_ACC_RDONLY, access);
    if (access >= 0) H5Pclose(access);
    return file;
}

/* Does the file belong to this run? */
static bool of_run(hid_t file, const char *run) {
    char there[64] = "";
    hid_t a = H5Aexists(file, "run") > 0 ? H5Aopen(file, "run", H5P_DEFAULT) : -1;
    hid_t type = a >= 0 ? H5Aget_type(a) : -1;
    bool same = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tget_size(type) <= sizeof there &&
                H5Tis_variable_str(type) == 0 && H5Aread(a, type, there) >= 0 && strcmp(there, run) == 0;
    if (type >= 0) H5Tclose(type);
    if (a >= 0) H5Aclose(a);
    return same;
}

/* The shape of a dataset is [*count][dims]; *count = 0: whatever it is. */
static bool has_shape(hid_t set, int rank, const hsize_t *dims, hsize_t *count) {
    hid_t space = set >= 0 ? H5Dget_space(set) : -1;
    hsize_t there[3] = {0};
    bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 + rank &&
                H5Sget_simple_extent_dims(space, there, NULL) >= 0;
    if (good && !*count) *count = there[0];
    good = good && there[0] == *count;
    for (int k = 0; good && k < rank; k++) good = there[1 + k] == dims[k];
    if (space >= 0) H5Sclose(space);
    return good;
}

static bool note_paths(struct join *j, const uint64_t *path, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct range *r = j->ranges ? &j->range[j->ranges - 1] : NULL;
        if (i && r && path[i] == path[i - 1] + 1) {
            r->count++;
            continue;
        }
        if (!lgv_grow(&j->range, &j->ranges_room, j->ranges + 1, sizeof *j->range)) return false;
        j->range[j->ranges++] = (struct range){path[i], 1, i, j->files, 0};
    }
    return true;
}

/* The numbers of its paths.  A file of another run is passed over, as is one that is not like this run. */
static enum lgv_status look(struct join *j, const char *path) {
    hid_t file = open_file(path), set = file >= 0 ? H5Dopen2(file, "path", H5P_DEFAULT) : -1;
    hsize_t count = 0;
    enum lgv_status status = LGV_OK;
    bool ours = file >= 0 && of_run(file, j->head.run) && has_shape(set, 0, NULL, &count) && count;
    for (size_t i = 0; ours && i < j->columns; i++) {
        hid_t column = H5Dopen2(file, j->column[i].name, H5P_DEFAULT);
        ours = has_shape(column, j->column[i].rank, j->column[i].dims, &count);
        if (column >= 0) H5Dclose(column);
    }
    uint64_t *number = ours ? lgv_new((size_t)count, sizeof *number) : NULL;
    if (ours && !number) status = lgv_fail_memory(j->err);
    if (number && H5Dread(set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, number) >= 0) {
        char *copy = lgv_copy(path);
        bool ok = copy && note_paths(j, number, (size_t)count) &&
                  lgv_grow(&j->file, &j->files_room, j->files + 1, sizeof *j->file);
        if (ok)
            j->file[j->files++] = copy;
        else
            free(copy), status = lgv_fail_memory(j->err);
    }
    free(number);
    if (set >= 0) H5Dclose(set);
    if (file >= 0) H5Fclose(file);
    return status;
}

static enum lgv_status look_in(struct join *j, const char *folder) {
    DIR *d = opendir(folder);
    enum lgv_status status = LGV_OK;
    if (!d && errno == ENOENT) return LGV_OK;
    if (!d) return lgv_fail(j->err, LGV_CANNOT_RUN, "cannot read the directory %s: %s", folder, strerror(errno));
    for (struct dirent *e; !status && (e = readdir(d));) {
        uint64_t size = 0;
        bool sealed;
        struct lgv_hdf5_guard guard;
        if (!is_record(e->d_name)) continue;
        char *path = lgv_join(folder, e->d_name);
        status = path ? lgv_hdf5_look(path, &size, &sealed, j->err) : lgv_fail_memory(j->err);
        lgv_hdf5_begin(&guard);
        if (!status) status = look(j, path);
        lgv_hdf5_end(&guard);
        j->bytes += (double)size;
        free(path);
    }
    closedir(d);
    return status;
}

static int by_first(const void *a, const void *b) {
    const struct range *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x->count < y->count) - (x->count > y->count);
}

/* In the order of paths, each once: what was stored twice has the same bits. */
static void put_in_order(struct join *j) {
    uint64_t next = 0;
    size_t n = 0;
    if (j->ranges) qsort(j->range, j->ranges, sizeof *j->range, by_first);
    for (size_t i = 0; i < j->ranges; i++) {
        struct range r = j->range[i];
        uint64_t twice = r.first < next ? next - r.first : 0;
        if (twice >= r.count) continue;
        r.first += twice;
        r.row += (size_t)twice;
        r.count -= (size_t)twice;
        r.at = j->paths;
        j->paths += r.count;
        next = r.first + r.count;
        j->range[n++] = r;
    }
    j->ranges = n;
}

/* ---- copying ---- */

static bool read_rows(hid_t file, const char *name, hid_t memory, const struct lgv_column *c, size_t row, size_t count,
                      void *out) {
    const hsize_t from[3] = {row, 0, 0}, dims[3] = {count, c ? c->dims[0] : 1, c ? c->dims[1] : 1};
    int rank = 1 + (c ? c->rank : 0);
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), here = H5Screate_simple(rank, dims, NULL);
    hid_t there = set >= 0 ? H5Dget_space(set) : -1;
    bool good = set >= 0 && here >= 0 && there >= 0 &&
                H5Sselect_hyperslab(there, H5S_SELECT_SET, from, NULL, dims, NULL) >= 0 &&
                H5Dread(set, memory, here, there, H5P_DEFAULT, out) >= 0;
    if (there >= 0) H5Sclose(there);
    if (here >= 0) H5Sclose(here);
    if (set >= 0) H5Dclose(set);
    return good;
}

/* What a file has of the rows at .. at + rows->count - 1 of the whole. */
static bool read_from(const struct join *j, size_t file, const struct range *first, size_t ranges, size_t at,
                      struct lgv_rows *rows) {
    hid_t from = open_file(j->file[file]);
    bool good = from >= 0;
    for (size_t i = 0; good && i < ranges; i++) {
        struct range r = first[i];
        if (r.file != file) continue;
        size_t skip = r.at < at ? at - r.at : 0, to = r.at + skip - at, n = r.count - skip;
        if (n > rows->count - to) n = rows->count - to;
        good = read_rows(from, "path", H5T_NATIVE_UINT64, NULL, r.row + skip, n, rows->path + to) &&
               read_rows(from, "steps", H5T_NATIVE_UINT64, NULL, r.row + skip, n, rows->steps + to) &&
               read_rows(from, "status", H5T_NATIVE_INT64, NULL, r.row + skip, n, rows->status + to);
        for (size_t k = 0; good && k < j->columns; k++)
            good = read_rows(from, j->column[k].name, H5T_NATIVE_DOUBLE, &j->column[k], r.row + skip, n,
                             rows->value[k] + to * j->column[k].count);
    }
    if (from >= 0) H5Fclose(from);
    return good;
}

/* Rows at .. of the whole; range number *next is the first that ends behind `at`. */
static bool gather(const struct join *j, size_t at, size_t *next, struct lgv_rows *rows) {
    bool good = true;
    while (j->range[*next].at + j->range[*next].count <= at) ++*next;
    size_t n = 0;
    while (*next + n < j->ranges && j->range[*next + n].at < at + rows->count) n++;
    const struct range *first = j->range + *next;
    for (size_t i = 0; good && i < n; i++) {
        bool before = false;
        for (size_t k = 0; k < i && !before; k++) before = first[k].file == first[i].file;
        if (!before) good = read_from(j, first[i].file, first, n, at, rows);
    }
    return good;
}

static bool copy_all(const struct join *j, hid_t file, bool *no_memory) {
    double size = sizeof(double) * lgv_record_size(j->head.plan) + 24;
    size_t most = size < BLOCK_BYTES ? (size_t)(BLOCK_BYTES / size) : 1, next = 0;
    bool good = lgv_record_begin_file(file, &j->head, j->paths);
    for (size_t at = 0, n; good && at < j->paths; at += n) {
        struct lgv_rows rows;
        n = j->paths - at < most ? j->paths - at : most;
        *no_memory = !lgv_rows_create(&rows, j->column, j->columns, n);
        good = !*no_memory && gather(j, at, &next, &rows) && lgv_record_put(file, &j->head, &rows, at);
        if (!*no_memory) lgv_rows_free(&rows);
    }
    return good;
}

/* HDF5 cannot give up a file that the disk has no room for: that is found out before. */
static enum lgv_status room_for(const struct join *j, const char *file) {
    char *folder = lgv_copy(file), *slash = folder ? strrchr(folder, '/') : NULL;
    struct statvfs disk;
    double wanted = 1.05 * j->bytes + 1e6, free_bytes = -1;
    if (slash) slash[slash == folder] = '\0';
    if (folder && statvfs(slash ? folder : ".", &disk) == 0)
        free_bytes = (double)disk.f_bavail * (double)disk.f_frsize;
    free(folder);
    if (free_bytes < 0 || free_bytes > wanted) return LGV_OK;
    return lgv_fail(j->err, LGV_CANNOT_RUN, "cannot write '%s': about %.3g MB are needed and the disk has %.3g MB left",
                    file, wanted / 1e6, free_bytes / 1e6);
}

static int write_file(void *user, int fd, const char *path) {
    const struct join *j = user;
    struct lgv_hdf5_guard guard;
    char reason[300] = "";
    bool no_memory = false;
    (void)fd;
    lgv_hdf5_begin(&guard);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_FILE_CREATE), h5 = -1;
    if (access >= 0 && H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST) >= 0 &&
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 && how >= 0 && H5Pset_obj_track_times(how, false) >= 0)
        h5 = H5Fcreate(path, H5F_ACC_TRUNC, how, access);
    bool good = h5 >= 0 && copy_all(j, h5, &no_memory) && H5Fflush(h5, H5F_SCOPE_GLOBAL) >= 0;
    if (!good) lgv_hdf5_reason(reason, sizeof reason);
    if (h5 >= 0) good = H5Fclose(h5) >= 0 && good;
    if (how >= 0) H5Pclose(how);
    if (access >= 0) H5Pclose(access);
    lgv_hdf5_end(&guard);
    if (no_memory) return lgv_fail_memory(j->err), -1;
    if (!good) lgv_fail(j->err, LGV_CANNOT_RUN, "cannot write '%s': %s", j->out, reason);
    return good ? 0 : -1;
}

enum lgv_status lgv_record_join(const struct lgv_plan *plan, const struct lgv_model *m, const char *run,
                                const char *const *folder, size_t folders, const char *file, uint64_t *paths,
                                struct lgv_error *err) {
    struct join j = {.head = {plan, m, run}, .out = file, .err = err};
    enum lgv_status status = LGV_OK;
    j.columns = lgv_record_columns(plan, j.column);
    for (size_t i = 0; !status && i < folders; i++) status = look_in(&j, folder[i]);
    put_in_order(&j);
    if (!status) status = room_for(&j, file);
    if (!status) status = lgv_file_made(file, write_file, &j, err);
    *paths = j.paths;
    for (size_t i = 0; i < j.files; i++) free(j.file[i]);
    free(j.file);
    free(j.range);
    return status;
}
