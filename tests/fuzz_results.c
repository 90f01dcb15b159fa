/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: results.h5 that somebody has changed.  HDF5 itself survives no damaged files, and no such file gets to
 * it with a seal; so the input is a list of changes that are good HDF5 and bad results.  Four bytes are one change of a
 * made-up result: object, kind, and two bytes of a size or a value.  Whatever is accepted must also give a document,
 * figures and checks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_result.h"
#include "out/private.h"

#include <hdf5.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 512
struct names {
    char *name[MOST];
    size_t count;
};

static herr_t note(hid_t file, const char *name, const H5L_info_t *info, void *user) {
    struct names *n = user;
    (void)file, (void)info;
    if (n->count < MOST) n->name[n->count++] = lgv_copy(name);
    return 0;
}

/* A dataset in place of another object: of another type, rank or size. */
static void put_dataset(hid_t file, const char *name, uint8_t kind, uint16_t value) {
    hsize_t dims[2] = {value % 300u, value / 300u + 1};
    hid_t space = H5Screate_simple(kind & 1 ? 2 : 1, dims, NULL);
    hid_t type = kind & 2 ? H5Tcopy(H5T_C_S1) : H5Tcopy(kind & 4 ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE);
    if (kind & 2) H5Tset_size(type, kind & 8 ? H5T_VARIABLE : value + 1u);
    H5Ldelete(file, name, H5P_DEFAULT);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    size_t count = ((size_t)dims[0] + 1) * (size_t)dims[1];
    void *zeros = set >= 0 && !(kind & 8) ? lgv_new(count, H5Tget_size(type)) : NULL;
    if (zeros) H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros); /* a dataset without data is no challenge */
    free(zeros);
    if (set >= 0) H5Dclose(set);
    H5Tclose(type);
    H5Sclose(space);
}

/* The value of an attribute: a number of any size, or gone. */
static void change_attribute(hid_t file, const char *name, uint8_t kind, uint16_t value) {
    hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    if (object < 0) return;
    int count = H5Aget_num_attrs(object);
    if (count > 0) {
        hsize_t at = value % (unsigned)count;
        hid_t attribute = H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, at, H5P_DEFAULT, H5P_DEFAULT);
        char text[256] = "";
        if (attribute >= 0) {
            double number = kind & 16 ? NAN : kind & 32 ? 1e18 : -(double)value;
            H5Aget_name(attribute, sizeof text, text);
            H5Awrite(attribute, H5T_NATIVE_DOUBLE, &number); /* fails for texts */
            H5Aclose(attribute);
        }
        if (kind & 8) H5Adelete(object, text);
    }
    H5Oclose(object);
}

static void change(const char *path, const uint8_t *data, size_t size) {
    struct names n = {.count = 0};
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    if (file < 0) abort(); /* the unchanged file is good */
    H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, note, &n);
    for (size_t i = 0; n.count && i + 4 <= size && i < 64; i += 4) {
        const char *name = n.name[data[i] % n.count];
        uint16_t value = (uint16_t)(data[i + 2] | data[i + 3] << 8);
        if (data[i + 1] & 128)
            change_attribute(file, data[i + 1] & 64 ? "/" : name, data[i + 1], value);
        else if (data[i + 1] & 64)
            H5Ldelete(file, name, H5P_DEFAULT);
        else
            put_dataset(file, name, data[i + 1], value);
    }
    for (size_t i = 0; i < n.count; i++) free(n.name[i]);
    H5Fclose(file);
}

static void use(const struct lgv_result *r) {
    size_t count = 0;
    free(lgv_json_result(r));
    free(lgv_checks(r, &count));
    struct lgv_figure *plan = lgv_figure_plan(r, &count);
    struct lgv_text script = {0};
    for (size_t i = 0; plan && i < count && i < 20; i++) lgv_figure_script(&script, r, &plan[i]);
    lgv_text_free(&script);
    free(plan);
    FILE *f = fopen("/dev/null", "w");
    if (!f) return;
    lgv_summary(f, r, false);
    fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char folder[] = "/tmp/lgv-fuzz-XXXXXX", path[64];
    struct lgv_result made, r = {0};
    struct lgv_error err = {0};
    if (!mkdtemp(folder)) return 0;
    snprintf(path, sizeof path, "%s/results.h5", folder);
    make_result(&made, 5, 2);
    if (lgv_hdf5_write(&made, path, &err) != LGV_OK) abort();
    lgv_result_clear(&made);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (size >= 4) change(path, data, size);
    enum lgv_status status = lgv_hdf5_read(path, &r, &err);
    if (status == LGV_OK)
        use(&r);
    else if (!err.message[0] || size < 4)
        abort();
    lgv_result_clear(&r);
    unlink(path);
    rmdir(folder);
    return 0;
}
