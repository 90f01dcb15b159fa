/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads results.h5 back (layout in hdf5.h).  The file is untrusted: every type, rank and size is checked before
 * anything is allocated, no allocation is larger than the file, and links, external storage, filters and texts of
 * variable length are refused.  HDF5 itself survives less: what it gets has an intact seal, or none. */
#include "out/hdf5.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MANY 1000000 /* more series, histograms, samples or settings than this are damage, not data */
#define ANY_SIZE ((hsize_t)-1)

struct reader {
    const char *path;
    uint64_t file_size;
    struct lgv_error *err;
    bool reported;
};

/* Reports once, the innermost problem; returns false so that callers can return it. */
static bool problem(struct reader *rd, const char *what, const char *name) {
    char plain[200];
    if (!rd->reported)
        lgv_fail(rd->err, LGV_BAD_INPUT, "'%s' is damaged or not a result of lgv: %s '%s'", rd->path, what,
                 lgv_plain(plain, sizeof plain, name));
    rd->reported = true;
    return false;
}

static bool no_memory(struct reader *rd) {
    if (!rd->reported) lgv_fail_memory(rd->err);
    rd->reported = true;
    return false;
}

/* Only hard links: soft and external ones lead to other places, or other files. */
static bool is_hard(hid_t where, const char *name) {
    H5L_info_t info;
    return H5Lexists(where, name, H5P_DEFAULT) > 0 && H5Lget_info(where, name, &info, H5P_DEFAULT) >= 0 &&
           info.type == H5L_TYPE_HARD;
}

static hid_t open_group(struct reader *rd, hid_t where, const char *name) {
    hid_t group = is_hard(where, name) ? H5Gopen2(where, name, H5P_DEFAULT) : -1;
    if (group < 0) problem(rd, "cannot open group", name);
    return group;
}

/* The attribute when its type is `type` (an exact match) and it is one value. */
static bool get_number(struct reader *rd, hid_t where, const char *name, hid_t type, hid_t memory, void *out) {
    hid_t attribute = H5Aexists(where, name) > 0 ? H5Aopen(where, name, H5P_DEFAULT) : -1;
    hid_t have = attribute >= 0 ? H5Aget_type(attribute) : -1, space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    bool good = have >= 0 && space >= 0 && H5Tequal(have, type) > 0 && H5Sget_simple_extent_npoints(space) == 1 &&
                H5Aread(attribute, memory, out) >= 0;
    if (space >= 0) H5Sclose(space);
    if (have >= 0) H5Tclose(have);
    if (attribute >= 0) H5Aclose(attribute);
    return good || problem(rd, "cannot read attribute", name);
}

/* Size of a text of fixed length with one value, 0 when it is anything else. */
static size_t text_size(const struct reader *rd, hid_t type, hid_t space) {
    if (type < 0 || space < 0 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
        H5Sget_simple_extent_npoints(space) != 1)
        return 0;
    size_t size = H5Tget_size(type);
    return size <= rd->file_size ? size : 0;
}

static char *read_text_attribute(struct reader *rd, hid_t attribute, const char *name) {
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    size_t size = text_size(rd, type, space);
    char *text = size ? lgv_new(size + 1, 1) : NULL;
    if (size && !text) {
        no_memory(rd);
    } else if (!text || H5Aread(attribute, type, text) < 0) {
        problem(rd, "cannot read attribute", name);
        free(text);
        text = NULL;
    }
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return text;
}

/* A text that may be absent (then NULL). */
static bool get_text(struct reader *rd, hid_t where, const char *name, char **out) {
    *out = NULL;
    if (H5Aexists(where, name) == 0) return true;
    hid_t attribute = H5Aopen(where, name, H5P_DEFAULT);
    if (attribute < 0) return problem(rd, "cannot open attribute", name);
    *out = read_text_attribute(rd, attribute, name);
    H5Aclose(attribute);
    return *out != NULL;
}

static bool get_fields(struct reader *rd, hid_t where, const struct lgv_hdf5_field *row, size_t count, void *object) {
    for (const struct lgv_hdf5_field *end = row + count; row < end; row++) {
        void *field = (char *)object + row->offset;
        bool good;
        if (row->later && H5Aexists(where, row->name) <= 0) {
            if (row->type == LGV_HDF5_REAL) *(double *)field = NAN;
            continue;
        }
        if (row->type == LGV_HDF5_TEXT) {
            good = get_text(rd, where, row->name, (char **)field);
        } else if (row->type == LGV_HDF5_REAL) {
            good = get_number(rd, where, row->name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, field);
        } else if (row->type == LGV_HDF5_COUNT) {
            good = get_number(rd, where, row->name, H5T_STD_U64LE, H5T_NATIVE_UINT64, field);
        } else {
            int64_t wide = 0;
            good = get_number(rd, where, row->name, H5T_STD_I64LE, H5T_NATIVE_INT64, &wide);
            if (good && (wide < INT_MIN || wide > INT_MAX))
                good = problem(rd, "number out of range in attribute", row->name);
            *(int *)field = good ? (int)wide : 0;
        }
        if (!good) return false;
    }
    return true;
}

/* Opens a dataset that is stored plainly in this file. */
static hid_t open_plain(hid_t where, const char *name) {
    hid_t set = is_hard(where, name) ? H5Dopen2(where, name, H5P_DEFAULT) : -1;
    hid_t how = set >= 0 ? H5Dget_create_plist(set) : -1;
    H5D_layout_t layout = how >= 0 ? H5Pget_layout(how) : H5D_LAYOUT_ERROR;
    bool good = how >= 0 && (layout == H5D_CONTIGUOUS || layout == H5D_COMPACT) && H5Pget_external_count(how) == 0 &&
                H5Pget_nfilters(how) == 0;
    if (how >= 0) H5Pclose(how);
    if (set >= 0 && !good) {
        H5Dclose(set);
        set = -1;
    }
    return set;
}

/* Checks rank and sizes against dims; ANY_SIZE entries are filled in.  False also when the data cannot fit the file. */
static bool match_shape(const struct reader *rd, hid_t set, int rank, hsize_t *dims) {
    hid_t space = H5Dget_space(set);
    hsize_t have[3] = {0, 0, 0}, total = 8;
    bool good = space >= 0 && H5Sis_simple(space) > 0 && H5Sget_simple_extent_ndims(space) == rank &&
                H5Sget_simple_extent_dims(space, have, NULL) == rank;
    for (int k = 0; good && k < rank; k++) {
        good = (dims[k] == ANY_SIZE || dims[k] == have[k]) && !__builtin_mul_overflow(total, have[k], &total);
        dims[k] = have[k];
    }
    if (space >= 0) H5Sclose(space);
    return good && total <= rd->file_size && H5Dget_storage_size(set) >= total;
}

/* An array of 8-byte numbers, malloc'd (never NULL when it succeeds, even for no numbers). */
static bool get_array(struct reader *rd, hid_t where, const char *name, int rank, hsize_t *dims, hid_t type,
                      hid_t memory, void **out) {
    *out = NULL;
    hid_t set = open_plain(where, name);
    hid_t have = set >= 0 ? H5Dget_type(set) : -1;
    bool good = have >= 0 && H5Tequal(have, type) > 0 && match_shape(rd, set, rank, dims);
    if (good) {
        size_t total = 1;
        for (int k = 0; k < rank; k++) total *= (size_t)dims[k];
        *out = lgv_new(total ? total : 1, 8);
        if (!*out) no_memory(rd);
        good = *out && (total == 0 || H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) >= 0);
    }
    if (have >= 0) H5Tclose(have);
    if (set >= 0) H5Dclose(set);
    return good || problem(rd, "wrong type, size or contents of dataset", name);
}

/* An array of the table, into r or item number `item` of it. */
static bool get_row(struct reader *rd, hid_t group, const struct lgv_array_row *row, struct lgv_result *r,
                    size_t item) {
    bool reals = row->type == LGV_ARRAY_REAL;
    hsize_t dims[3];
    size_t shape[3];
    void *data;
    lgv_array_shape(row, r, item, shape);
    for (int k = 0; k < row->ndim; k++) dims[k] = k == 0 && row->defines ? ANY_SIZE : shape[k];
    if (!get_array(rd, group, row->name, row->ndim, dims, reals ? H5T_IEEE_F64LE : H5T_STD_U64LE,
                   reals ? H5T_NATIVE_DOUBLE : H5T_NATIVE_UINT64, &data)) {
        free(data);
        return false;
    }
    return lgv_array_take(row, r, item, data, (size_t)dims[0]) || no_memory(rd);
}

static bool get_rows(struct reader *rd, hid_t group, const char *name, struct lgv_result *r, size_t item) {
    for (const struct lgv_array_row *row = lgv_array_rows; row < lgv_array_rows + lgv_array_row_count; row++) {
        if (row->derived || strcmp(row->group, name) != 0) continue;
        if (row->optional && H5Lexists(group, row->name, H5P_DEFAULT) <= 0) continue;
        if (!get_row(rd, group, row, r, item)) return false;
    }
    return true;
}

static bool get_model(struct reader *rd, hid_t file, struct lgv_result *r) {
    hid_t group = open_group(rd, file, "model");
    if (group < 0) return false;
    if (H5Lexists(group, "text", H5P_DEFAULT) == 0) {
        H5Gclose(group);
        return true;
    }
    hid_t set = open_plain(group, "text");
    hid_t type = set >= 0 ? H5Dget_type(set) : -1, space = set >= 0 ? H5Dget_space(set) : -1;
    size_t size = text_size(rd, type, space);
    bool good = size > 0 && H5Dget_storage_size(set) >= size;
    if (good && !(r->model_text = lgv_new(size + 1, 1))) good = no_memory(rd);
    good = good && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, r->model_text) >= 0;
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    if (set >= 0) H5Dclose(set);
    H5Gclose(group);
    return good || problem(rd, "cannot read dataset", "model/text");
}

static bool get_setting(struct reader *rd, hid_t group, hsize_t i, struct lgv_setting *out) {
    hid_t attribute = H5Aopen_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0) return problem(rd, "cannot open an attribute of", "options or parameters");
    ssize_t n = H5Aget_name(attribute, 0, NULL);
    bool good = n >= 0 && (uint64_t)n < rd->file_size;
    if (good && !(out->name = lgv_new((size_t)n + 1, 1))) good = no_memory(rd);
    good = good && H5Aget_name(attribute, (size_t)n + 1, out->name) == n;
    good = good && (out->value = read_text_attribute(rd, attribute, out->name)) != NULL;
    H5Aclose(attribute);
    return good || problem(rd, "cannot read an attribute of", "options or parameters");
}

static bool get_settings(struct reader *rd, hid_t file, const char *name, struct lgv_setting **list, size_t *count) {
    hid_t group = open_group(rd, file, name);
    H5O_info_t info;
    if (group < 0) return false;
    bool good = H5Oget_info(group, &info) >= 0 && info.num_attrs <= MANY && info.num_attrs <= rd->file_size;
    if (!good) problem(rd, "cannot list attributes of group", name);
    if (good && !(*list = lgv_new((size_t)info.num_attrs + 1, sizeof **list))) good = no_memory(rd);
    for (hsize_t i = 0; good && i < info.num_attrs; i++) {
        *count = (size_t)i + 1;
        good = get_setting(rd, group, i, &(*list)[i]);
    }
    H5Gclose(group);
    return good;
}

/* Opens member i of a group in the order of writing. */
static hid_t open_member(struct reader *rd, hid_t all, hsize_t i) {
    char name[1024];
    ssize_t n = H5Lget_name_by_idx(all, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
    if (n < 0 || (size_t)n >= sizeof name) {
        problem(rd, "cannot list the members of", "statistics or histograms");
        return -1;
    }
    return open_group(rd, all, name);
}

/* Opens a group of groups and makes room for one item per member. */
static hid_t open_list(struct reader *rd, hid_t file, const char *name, size_t item, void **list, hsize_t *count) {
    hid_t all = open_group(rd, file, name);
    H5G_info_t info;
    *count = 0;
    if (all < 0) return -1;
    if (H5Gget_info(all, &info) < 0 || info.nlinks > MANY || info.nlinks > rd->file_size)
        problem(rd, "cannot list the members of", name);
    else if (!(*list = lgv_new((size_t)info.nlinks + 1, item)))
        no_memory(rd);
    else
        *count = info.nlinks;
    if (rd->reported) {
        H5Gclose(all);
        return -1;
    }
    return all;
}

static bool get_statistics(struct reader *rd, hid_t file, struct lgv_result *r) {
    hsize_t count;
    hid_t all = open_list(rd, file, LGV_ARRAYS_STATISTICS, sizeof *r->series, (void **)&r->series, &count);
    bool good = all >= 0;
    for (hsize_t i = 0; good && i < count; i++) {
        r->nseries = (size_t)i + 1;
        hid_t group = open_member(rd, all, i);
        good = group >= 0 && get_fields(rd, group, lgv_hdf5_series, lgv_hdf5_series_count, &r->series[i]) &&
               get_rows(rd, group, LGV_ARRAYS_STATISTICS, r, (size_t)i);
        if (group >= 0) H5Gclose(group);
    }
    if (all >= 0) H5Gclose(all);
    return good;
}

static bool get_histograms(struct reader *rd, hid_t file, struct lgv_result *r) {
    hsize_t count;
    hid_t all = open_list(rd, file, LGV_ARRAYS_HISTOGRAMS, sizeof *r->histogram, (void **)&r->histogram, &count);
    bool good = all >= 0;
    for (hsize_t i = 0; good && i < count; i++) {
        struct lgv_histogram *h = &r->histogram[i];
        r->nhistograms = (size_t)i + 1;
        hid_t group = open_member(rd, all, i);
        good = group >= 0 && get_text(rd, group, "name", &h->name) &&
               get_number(rd, group, "below", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &h->below) &&
               get_number(rd, group, "above", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &h->above) &&
               get_rows(rd, group, LGV_ARRAYS_HISTOGRAMS, r, (size_t)i);
        if (!good) h->bins = 0;
        if (group >= 0) H5Gclose(group);
    }
    if (all >= 0) H5Gclose(all);
    return good;
}

static bool get_paths(struct reader *rd, hid_t file, struct lgv_result *r) {
    hid_t group = open_group(rd, file, "paths");
    bool good = group >= 0 && get_rows(rd, group, "paths", r, 0);
    if (good && r->ndense && r->nsamples && !r->sample[0].dense)
        good = problem(rd, "there is no dataset", "paths/dense");
    if (group >= 0) H5Gclose(group);
    return good;
}

static bool get_failures(struct reader *rd, hid_t file, struct lgv_result *r) {
    hid_t group = open_group(rd, file, "failures");
    bool good = group >= 0 && get_rows(rd, group, "failures", r, 0);
    if (group >= 0) H5Gclose(group);
    return good;
}

static bool get_certificate(struct reader *rd, hid_t file, struct lgv_result *r) {
    hid_t group = open_group(rd, file, "certificate");
    bool good = group >= 0 && get_fields(rd, group, lgv_hdf5_certificate, lgv_hdf5_certificate_count, &r->certificate);
    if (group >= 0) H5Gclose(group);
    return good;
}

/* A finding has what rows of the table its file has. */
static bool get_finding(struct reader *rd, hid_t group, const char *kind, struct lgv_result *r) {
    char *name = NULL, *formula = NULL;
    bool good = get_text(rd, group, "name", &name) && get_text(rd, group, "formula", &formula);
    struct lgv_finding *f = good ? lgv_finding_add(r, kind, name ? name : "", formula) : NULL;
    free(name);
    free(formula);
    if (good && !f) return no_memory(rd);
    const struct lgv_found_row *row;
    for (size_t k = 0; good && (row = lgv_found_row(kind, k)); k++) {
        hsize_t dims[2] = {ANY_SIZE, ANY_SIZE};
        void *data = NULL;
        double x;
        if (row->ndim == 0 && H5Aexists(group, row->name) > 0) {
            good = get_number(rd, group, row->name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &x);
            if (good && !lgv_finding_number(f, row->name, x)) good = no_memory(rd);
        } else if (row->ndim > 0 && H5Lexists(group, row->name, H5P_DEFAULT) > 0) {
            good = get_array(rd, group, row->name, row->ndim, dims, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &data);
            f->item[k] = (struct lgv_found){data, {(size_t)dims[0], row->ndim > 1 ? (size_t)dims[1] : 1}};
        }
    }
    return good;
}

static bool get_findings(struct reader *rd, hid_t file, struct lgv_result *r) {
    bool good = true;
    for (size_t g = 0; good && g < lgv_found_group_count; g++) {
        void *none = NULL;
        hsize_t count;
        if (H5Lexists(file, lgv_found_groups[g], H5P_DEFAULT) <= 0) continue;
        hid_t all = open_list(rd, file, lgv_found_groups[g], 1, &none, &count);
        free(none);
        good = all >= 0;
        for (hsize_t i = 0; good && i < count; i++) {
            hid_t group = open_member(rd, all, i);
            good = group >= 0 && get_finding(rd, group, lgv_found_groups[g], r);
            if (group >= 0) H5Gclose(group);
        }
        if (all >= 0) H5Gclose(all);
    }
    return good;
}

/* Is it ours, and of a format we know? */
static bool check_kind(struct reader *rd, hid_t file) {
    char *software = NULL;
    uint64_t format = 0;
    bool ours = H5Aexists(file, "software") > 0 && get_text(rd, file, "software", &software) && software &&
                strcmp(software, LGV_HDF5_SOFTWARE) == 0;
    free(software);
    if (!ours) {
        if (!rd->reported) lgv_fail(rd->err, LGV_BAD_INPUT, "'%s' is an HDF5 file, but not a result of lgv", rd->path);
        rd->reported = true;
        return false;
    }
    if (!get_number(rd, file, "format", H5T_STD_U64LE, H5T_NATIVE_UINT64, &format)) return false;
    if (format != LGV_HDF5_FORMAT) {
        lgv_fail(rd->err, LGV_BAD_INPUT, "'%s' has result format %llu; this version of lgv reads format %d", rd->path,
                 (unsigned long long)format, LGV_HDF5_FORMAT);
        rd->reported = true;
    }
    return format == LGV_HDF5_FORMAT;
}

static bool get_result(struct reader *rd, hid_t file, struct lgv_result *r) {
    return check_kind(rd, file) && get_fields(rd, file, lgv_hdf5_result, lgv_hdf5_result_count, r) &&
           get_model(rd, file, r) && get_settings(rd, file, "options", &r->setting, &r->nsettings) &&
           get_settings(rd, file, "parameters", &r->parameter, &r->nparameters) && get_rows(rd, file, "", r, 0) &&
           get_statistics(rd, file, r) && get_histograms(rd, file, r) && get_paths(rd, file, r) &&
           get_failures(rd, file, r) && get_certificate(rd, file, r) && get_findings(rd, file, r);
}

static void read_all(struct reader *rd, struct lgv_result *r) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = -1;
    if (access >= 0 && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0)
        file = H5Fopen(rd->path, H5F_ACC_RDONLY, access);
    if (file < 0) {
        char reason[300];
        lgv_hdf5_reason(reason, sizeof reason);
        lgv_fail(rd->err, LGV_BAD_INPUT, "cannot open '%s' as HDF5 (truncated or damaged?): %s", rd->path, reason);
        rd->reported = true;
    } else if (!get_result(rd, file, r)) {
        problem(rd, "cannot read", "file");
    }
    if (file >= 0) H5Fclose(file);
    if (access >= 0) H5Pclose(access);
}

static uint64_t little_endian(const unsigned char *u) {
    uint64_t x = 0;
    for (int k = 7; k >= 0; k--) x = x << 8 | u[k];
    return x;
}

/* Looks at the file before HDF5 does.  A message, or NULL when nothing is wrong so far. */
static const char *check_bytes(FILE *f, uint64_t size, bool *sealed) {
    static const unsigned char mark[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char head[64] = {0}, seal[LGV_HDF5_SEAL], right[LGV_HDF5_SEAL], buffer[1 << 14];
    size_t n = fread(head, 1, sizeof head, f);
    if (n < sizeof head || memcmp(head, mark, sizeof mark) != 0) return "it is not an HDF5 file";
    /* Superblock of version 2 or 3 with 8-byte addresses: the end of the file as it was written is at byte 28. */
    if ((head[8] == 2 || head[8] == 3) && head[9] == 8 && little_endian(head + 28) > size) return "it is truncated";
    if (fseeko(f, (off_t)(size - LGV_HDF5_SEAL), SEEK_SET) != 0 || fread(seal, 1, sizeof seal, f) != sizeof seal)
        return "it cannot be read to its end";
    *sealed = memcmp(seal, LGV_HDF5_SEAL_MARK, 8) == 0;
    if (!*sealed) return NULL;
    rewind(f);
    uint64_t hash = LGV_HASH_START;
    for (uint64_t left = size - LGV_HDF5_SEAL; left > 0; left -= n) {
        n = fread(buffer, 1, left < sizeof buffer ? (size_t)left : sizeof buffer, f);
        if (n == 0) return "it cannot be read to its end";
        hash = lgv_hash(hash, buffer, n);
    }
    lgv_hdf5_seal(right, size - LGV_HDF5_SEAL, hash);
    return memcmp(seal, right, sizeof seal) == 0 ? NULL : "it is damaged (its checksum is wrong)";
}

/* Is it a file that may be handed to HDF5? */
enum lgv_status lgv_hdf5_look(const char *path, uint64_t *size, bool *sealed, struct lgv_error *err) {
    struct stat st;
    *sealed = false;
    if (stat(path, &st) != 0) return lgv_fail(err, LGV_BAD_INPUT, "cannot read '%s': %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode)) return lgv_fail(err, LGV_BAD_INPUT, "cannot read '%s': it is not a file", path);
    FILE *f = fopen(path, "rb");
    if (!f) return lgv_fail(err, LGV_BAD_INPUT, "cannot read '%s': %s", path, strerror(errno));
    *size = (uint64_t)st.st_size;
    const char *wrong = check_bytes(f, *size, sealed);
    fclose(f);
    return wrong ? lgv_fail(err, LGV_BAD_INPUT, "cannot read '%s': %s", path, wrong) : LGV_OK;
}

enum lgv_status lgv_hdf5_read(const char *path, struct lgv_result *r, struct lgv_error *err) {
    uint64_t size = 0;
    bool sealed = false;
    memset(r, 0, sizeof *r);
    enum lgv_status status = lgv_hdf5_look(path, &size, &sealed, err);
    if (status) return status;
    struct lgv_error own; /* the status of a failure comes from here when the caller gave no err */
    memset(&own, 0, sizeof own);
    struct reader rd = {path, size, &own, false};
    struct lgv_hdf5_guard guard;
    lgv_hdf5_begin(&guard);
    read_all(&rd, r);
    lgv_hdf5_end(&guard);
    r->unsealed = !sealed;
    if (!rd.reported) {
        if (lgv_verdicts_make(r)) return LGV_OK;
        lgv_result_clear(r);
        return lgv_fail_memory(err);
    }
    lgv_result_clear(r);
    return lgv_fail(err, own.status, "%s", own.message);
}
