/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes a result as results.h5 (layout in hdf5.h).
 *
 * The file is built in memory and written by lgv_file_replace: a full disk is then an ordinary failed write with errno,
 * and never an HDF5 file that the library can neither close nor forget. */
#include "out/hdf5.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool put_attribute(hid_t where, const char *name, hid_t type, const void *value) {
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(where, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    if (space >= 0) H5Sclose(space);
    return good;
}

/* A text type that holds n bytes and the end mark. */
static hid_t text_type(size_t n) {
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && (H5Tset_size(type, n + 1) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
        H5Tclose(type);
        return -1;
    }
    return type;
}

bool lgv_hdf5_put_text(hid_t where, const char *name, const char *value) {
    hid_t type = text_type(strlen(value));
    bool good = type >= 0 && put_attribute(where, name, type, value);
    if (type >= 0) H5Tclose(type);
    return good;
}

static bool put_fields(hid_t where, const struct lgv_hdf5_field *row, size_t count, const void *object) {
    bool good = true;
    for (const struct lgv_hdf5_field *end = row + count; good && row < end; row++) {
        const void *field = (const char *)object + row->offset;
        if (row->type == LGV_HDF5_TEXT) {
            const char *text = *(char *const *)field;
            good = !text || lgv_hdf5_put_text(where, row->name, text);
        } else if (row->type == LGV_HDF5_INT) {
            int64_t wide = *(const int *)field;
            good = put_attribute(where, row->name, H5T_STD_I64LE, &wide);
        } else {
            good = put_attribute(where, row->name, row->type == LGV_HDF5_REAL ? H5T_IEEE_F64LE : H5T_STD_U64LE, field);
        }
    }
    return good;
}

/* Group whose members and attributes keep their order. */
static hid_t new_group(hid_t where, const char *name) {
    hid_t how = H5Pcreate(H5P_GROUP_CREATE);
    hid_t group = -1;
    if (how >= 0 && H5Pset_link_creation_order(how, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0 &&
        H5Pset_attr_creation_order(how, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0)
        group = H5Gcreate2(where, name, H5P_DEFAULT, how, H5P_DEFAULT);
    if (how >= 0) H5Pclose(how);
    return group;
}

bool lgv_hdf5_put_array(hid_t where, const char *name, int rank, const hsize_t *dims, hid_t type, hid_t memory,
                      const void *data) {
    hid_t space = H5Screate_simple(rank, dims, NULL);
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    bool timeless = how >= 0 && H5Pset_obj_track_times(how, false) >= 0; /* the same numbers are the same bytes */
    hid_t set = timeless ? H5Dcreate2(where, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT) : -1;
    bool good = set >= 0;
    if (how >= 0) H5Pclose(how);
    if (good && data && H5Sget_simple_extent_npoints(space) > 0)
        good = H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    if (set >= 0) good = H5Dclose(set) >= 0 && good;
    if (space >= 0) H5Sclose(space);
    return good;
}

/* A missing array is written as "not known". */
static bool put_listed(hid_t group, const struct lgv_listed_array *x) {
    hsize_t dims[3], total = 1;
    bool reals = x->array.type == LGV_ARRAY_REAL;
    double *none = NULL;
    for (int k = 0; k < x->array.ndim; k++) total *= dims[k] = x->array.shape[k];
    if (!x->array.data && reals && total) {
        if (!(none = lgv_new((size_t)total, sizeof *none))) return false;
        for (size_t i = 0; i < total; i++) none[i] = (double)NAN;
    }
    bool good = lgv_hdf5_put_array(group, x->row->name, x->array.ndim, dims, reals ? H5T_IEEE_F64LE : H5T_STD_U64LE,
                          reals ? H5T_NATIVE_DOUBLE : H5T_NATIVE_UINT64, none ? none : x->array.data);
    free(none);
    return good;
}

struct writer {
    const struct lgv_result *r;
    struct lgv_arrays *arrays;
    size_t next; /* of them: they are listed in the order in which they are written */
};

/* The arrays of a group, or of item number `index` of it. */
static bool put_arrays(struct writer *w, hid_t group, const char *name, size_t index) {
    bool good = true;
    for (; good && w->next < w->arrays->count; w->next++) {
        const struct lgv_listed_array *x = &w->arrays->item[w->next];
        if (x->index != index || strcmp(x->row->group, name) != 0) break;
        good = put_listed(group, x);
    }
    return good;
}

static bool put_settings(hid_t file, const char *name, const struct lgv_setting *list, size_t count) {
    hid_t group = new_group(file, name);
    bool good = group >= 0;
    for (size_t i = 0; good && i < count; i++)
        good = lgv_hdf5_put_text(group, list[i].name && *list[i].name ? list[i].name : "_",
                                 list[i].value ? list[i].value : "");
    if (group >= 0) H5Gclose(group);
    return good;
}

static bool put_model(hid_t file, const struct lgv_result *r) {
    hid_t group = new_group(file, "model");
    const char *text = r->model_text ? r->model_text : "";
    hid_t type = text_type(strlen(text)), space = H5Screate(H5S_SCALAR);
    hid_t set = group >= 0 && type >= 0 && r->model_text
                    ? H5Dcreate2(group, "text", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                    : -1;
    bool good =
        group >= 0 && (!r->model_text || (set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0));
    if (set >= 0) good = H5Dclose(set) >= 0 && good;
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    if (group >= 0) H5Gclose(group);
    return good;
}

static bool put_statistics(struct writer *w, hid_t file) {
    const struct lgv_result *r = w->r;
    hid_t all = new_group(file, LGV_ARRAYS_STATISTICS);
    bool good = all >= 0;
    for (size_t i = 0; good && i < r->nseries; i++) {
        const struct lgv_series *s = &r->series[i];
        hid_t group = new_group(all, w->arrays->series[i]);
        good = group >= 0 && put_fields(group, lgv_hdf5_series, lgv_hdf5_series_count, s) &&
               lgv_hdf5_put_text(group, "kind_name", lgv_observable_kind_name(s->kind)) &&
               put_arrays(w, group, LGV_ARRAYS_STATISTICS, i);
        if (group >= 0) H5Gclose(group);
    }
    if (all >= 0) H5Gclose(all);
    return good;
}

static bool put_histograms(struct writer *w, hid_t file) {
    const struct lgv_result *r = w->r;
    hid_t all = new_group(file, LGV_ARRAYS_HISTOGRAMS);
    bool good = all >= 0;
    for (size_t i = 0; good && i < r->nhistograms; i++) {
        const struct lgv_histogram *h = &r->histogram[i];
        hid_t group = new_group(all, w->arrays->histogram[i]);
        good = group >= 0 && lgv_hdf5_put_text(group, "name", h->name ? h->name : "") &&
               put_attribute(group, "below", H5T_IEEE_F64LE, &h->below) &&
               put_attribute(group, "above", H5T_IEEE_F64LE, &h->above) &&
               put_arrays(w, group, LGV_ARRAYS_HISTOGRAMS, i);
        if (group >= 0) H5Gclose(group);
    }
    if (all >= 0) H5Gclose(all);
    return good;
}

/* Increments are as they were drawn or given; what a step beyond `bound` used is the bound. */
static bool describe_increments(hid_t group, const char *name, const struct lgv_result *r, const double *data,
                                double bound) {
    if (!data) return true;
    uint64_t cut = 0;
    for (size_t i = 0; bound > 0 && i < r->nsamples * r->steps * r->nnoise; i++) cut += fabs(data[i]) > bound;
    hid_t set = H5Dopen2(group, name, H5P_DEFAULT);
    bool good = set >= 0 && lgv_hdf5_put_text(set, "dimensions", "path, step, noise") &&
                put_attribute(set, "bound", H5T_IEEE_F64LE, &bound) && put_attribute(set, "cut", H5T_STD_U64LE, &cut);
    if (set >= 0) good = H5Dclose(set) >= 0 && good;
    return good;
}

static bool put_paths(struct writer *w, hid_t file) {
    const struct lgv_result *r = w->r;
    hid_t group = new_group(file, "paths");
    bool good = group >= 0 && put_arrays(w, group, "paths", 0) &&
                lgv_hdf5_put_text(group, "dimensions", "path, series in the order of /statistics, time") &&
                describe_increments(group, "increments", r, r->increment, lgv_increment_bound(r)) &&
                describe_increments(group, "integrals", r, r->integral, lgv_integral_bound(r));
    if (group >= 0) H5Gclose(group);
    return good;
}

static bool put_failures(struct writer *w, hid_t file) {
    hid_t group = new_group(file, "failures");
    bool good = group >= 0 && put_arrays(w, group, "failures", 0);
    for (int reason = 1; good && reason <= 4; reason++) {
        char name[32];
        snprintf(name, sizeof name, "reason_%d", reason);
        good = lgv_hdf5_put_text(group, name, lgv_fail_text(reason));
    }
    if (group >= 0) H5Gclose(group);
    return good;
}

static bool put_certificate(struct writer *w, hid_t file) {
    const struct lgv_result *r = w->r;
    struct lgv_text names = {0};
    hid_t group = new_group(file, "certificate");
    for (size_t i = 0; i < r->nverdicts; i++) lgv_text_add(&names, "%s%s", i ? "\n" : "", r->verdict[i].name);
    bool good = group >= 0 && put_fields(group, lgv_hdf5_certificate, lgv_hdf5_certificate_count, &r->certificate);
    if (good && r->nverdicts)
        good = !names.failed && lgv_hdf5_put_text(group, "verdicts", names.data) &&
               put_arrays(w, group, "certificate", 0);
    if (group >= 0) H5Gclose(group);
    lgv_text_free(&names);
    return good;
}

static bool put_finding(hid_t all, const struct lgv_finding *f) {
    hid_t group = new_group(all, f->name);
    bool good = group >= 0 && lgv_hdf5_put_text(group, "name", f->name) && lgv_hdf5_put_text(group, "formula", f->text);
    const struct lgv_found_row *row;
    for (size_t k = 0; good && (row = lgv_found_row(f->group, k)); k++) {
        const struct lgv_found *x = &f->item[k];
        hsize_t dims[2] = {x->shape[0], x->shape[1]};
        if (x->data && row->ndim == 0) good = put_attribute(group, row->name, H5T_IEEE_F64LE, x->data);
        if (x->data && row->ndim > 0)
            good = lgv_hdf5_put_array(group, row->name, row->ndim, dims, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, x->data);
    }
    if (group >= 0) H5Gclose(group);
    return good;
}

/* Groups of what was found along the way, where there is any. */
static bool put_findings(hid_t file, const struct lgv_result *r) {
    bool good = true;
    for (size_t g = 0; good && g < lgv_found_group_count; g++) {
        hid_t all = -1;
        for (size_t i = 0; good && i < r->nfindings; i++) {
            if (strcmp(r->finding[i].group, lgv_found_groups[g]) != 0) continue;
            if (all < 0) all = new_group(file, lgv_found_groups[g]);
            good = all >= 0 && put_finding(all, &r->finding[i]);
        }
        if (all >= 0) H5Gclose(all);
    }
    return good;
}

static bool put_result(void *what, hid_t file) {
    struct writer *w = what;
    const struct lgv_result *r = w->r;
    uint64_t format = LGV_HDF5_FORMAT;
    return lgv_hdf5_put_text(file, "software", LGV_HDF5_SOFTWARE) &&
           put_attribute(file, "format", H5T_STD_U64LE, &format) &&
           put_fields(file, lgv_hdf5_result, lgv_hdf5_result_count, r) && put_model(file, r) &&
           put_settings(file, "options", r->setting, r->nsettings) &&
           put_settings(file, "parameters", r->parameter, r->nparameters) && put_arrays(w, file, "", 0) &&
           put_statistics(w, file) && put_histograms(w, file) && put_paths(w, file) && put_failures(w, file) &&
           put_certificate(w, file) && put_findings(file, r);
}

/* HDF5's in-memory file asks these for memory.  What it would free when it closes the file is the finished file; the
 * call made for this purpose, H5Fget_file_image, leaves a wrong checksum in files of the 1.8 format (HDF5 1.10). */
struct image {
    void *data;
    size_t size;
};

static void *image_malloc(size_t size, H5FD_file_image_op_t op, void *image) {
    (void)op, (void)image;
    return malloc(size);
}

static void *image_realloc(void *data, size_t size, H5FD_file_image_op_t op, void *image) {
    (void)op, (void)image;
    return realloc(data, size);
}

static herr_t image_free(void *data, H5FD_file_image_op_t op, void *image) {
    if (op == H5FD_FILE_IMAGE_OP_FILE_CLOSE)
        ((struct image *)image)->data = data;
    else
        free(data);
    return 0;
}

static void *image_share(void *image) {
    return image;
}

static herr_t image_leave(void *image) {
    (void)image;
    return 0;
}

/* Access to a file in memory.  The 1.8 format has checksums in all its metadata and no 64 kB limit for attributes. */
static hid_t image_access(struct image *image, size_t grow) {
    H5FD_file_image_callbacks_t calls = {.image_malloc = image_malloc,
                                         .image_realloc = image_realloc,
                                         .image_free = image_free,
                                         .udata_copy = image_share,
                                         .udata_free = image_leave,
                                         .udata = image};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_fapl_core(access, grow, 0) >= 0 && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
        H5Pset_file_image_callbacks(access, &calls) >= 0 &&
        H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST) >= 0)
        return access;
    if (access >= 0) H5Pclose(access);
    return -1;
}

/* The file as bytes in memory; false with err filled. */
static bool build_image(lgv_hdf5_put *put, void *what, size_t numbers, const char *path, struct image *image,
                        struct lgv_error *err) {
    hid_t access = image_access(image, ((size_t)1 << 18) + numbers);
    hid_t file = access >= 0 ? H5Fcreate("lgv-result-in-memory", H5F_ACC_TRUNC, H5P_DEFAULT, access) : -1;
    bool good = file >= 0 && put(what, file) && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
    ssize_t size = good ? H5Fget_file_image(file, NULL, 0) : -1; /* closing does not make it larger */
    char reason[300];
    lgv_hdf5_reason(reason, sizeof reason);
    if (file >= 0) good = H5Fclose(file) >= 0 && good;
    if (access >= 0) H5Pclose(access);
    image->size = size > 0 ? (size_t)size : 0;
    if (!good || size <= 0 || !image->data) {
        lgv_fail(err, LGV_CANNOT_RUN, "cannot put the results for '%s' together as HDF5: %s", path, reason);
        return false;
    }
    return true;
}

enum lgv_status lgv_hdf5_store(lgv_hdf5_put *put, void *what, size_t numbers, const char *path,
                               struct lgv_error *err) {
    struct lgv_hdf5_guard guard;
    struct image image = {NULL, 0};
    lgv_hdf5_begin(&guard);
    bool good = build_image(put, what, numbers, path, &image, err);
    lgv_hdf5_end(&guard);
    enum lgv_status status = good ? LGV_OK : LGV_CANNOT_RUN;
    unsigned char *sealed = good ? realloc(image.data, image.size + LGV_HDF5_SEAL) : NULL;
    if (sealed) {
        image.data = sealed;
        lgv_hdf5_seal(sealed + image.size, image.size, lgv_hash(LGV_HASH_START, sealed, image.size));
        status = lgv_file_replace(path, sealed, image.size + LGV_HDF5_SEAL, err);
    } else if (good) {
        status = lgv_fail_memory(err);
    }
    free(image.data);
    return status;
}

enum lgv_status lgv_hdf5_write(const struct lgv_result *r, const char *path, struct lgv_error *err) {
    struct writer w = {.r = r, .arrays = lgv_arrays_open(r)};
    if (!w.arrays) return lgv_fail_memory(err);
    size_t numbers = 0;
    for (size_t i = 0; i < w.arrays->count; i++) {
        const struct lgv_array *x = &w.arrays->item[i].array;
        numbers += x->shape[0] * (x->ndim > 1 ? x->shape[1] * x->shape[2] : 1);
    }
    enum lgv_status status = lgv_hdf5_store(put_result, &w, numbers, path, err);
    lgv_arrays_close(w.arrays);
    return status;
}
