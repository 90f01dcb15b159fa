/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files of single paths as HDF5: datasets in compressed chunks that are filled row by row (layout in record.h). */
#include "out/record.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (1u << 20)

size_t lgv_record_columns(const struct lgv_plan *plan, struct lgv_column out[LGV_RECORD_COLUMNS]) {
    const struct lgv_recording *what = plan->recording;
    const struct lgv_kernel *k = plan->kernel;
    const size_t rows = k->nx + k->np, noises = k->nnoise;
    size_t n = 0;
    if (what->final) out[n++] = (struct lgv_column){"final", 1, {rows, 0}, rows};
    if (what->states) out[n++] = (struct lgv_column){"states", 2, {plan->ndense, rows}, plan->ndense * rows};
    if (!what->increments || !noises) return n;
    out[n++] = (struct lgv_column){"dW", 2, {plan->steps, noises}, (size_t)plan->steps * noises};
    if (lgv_increments_rows(k) > noises)
        out[n++] = (struct lgv_column){"dZ", 2, {plan->steps, noises}, (size_t)plan->steps * noises};
    return n;
}

double lgv_record_size(const struct lgv_plan *plan) {
    struct lgv_column c[LGV_RECORD_COLUMNS];
    double sum = 0;
    size_t n = lgv_record_columns(plan, c);
    for (size_t i = 0; i < n; i++) sum += (double)c[i].dims[0] * (c[i].rank > 1 ? (double)c[i].dims[1] : 1);
    return sum;
}

bool lgv_rows_create(struct lgv_rows *r, const struct lgv_column *c, size_t columns, size_t count) {
    *r = (struct lgv_rows){.count = count,
                           .path = lgv_new(count + 1, sizeof *r->path),
                           .steps = lgv_new(count + 1, sizeof *r->steps),
                           .status = lgv_new(count + 1, sizeof *r->status)};
    bool ok = r->path && r->steps && r->status;
    for (size_t i = 0; ok && i < columns; i++)
        ok = (r->value[i] = lgv_new(count * c[i].count + 1, sizeof **r->value)) != NULL;
    if (!ok) lgv_rows_free(r);
    return ok;
}

void lgv_rows_free(struct lgv_rows *r) {
    free(r->path);
    free(r->steps);
    free(r->status);
    for (size_t i = 0; i < LGV_RECORD_COLUMNS; i++) free(r->value[i]);
    *r = (struct lgv_rows){0};
}

/* ---- datasets ---- */

/* Whole paths in a chunk where they are short, else some of the times of one. */
static hid_t chunked(int rank, const hsize_t *dims) {
    hsize_t chunk[3] = {dims[0] ? dims[0] : 1, rank > 1 ? dims[1] : 1, rank > 2 ? dims[2] : 1};
    hsize_t most = CHUNK_BYTES / sizeof(double), last = chunk[2] ? chunk[2] : 1, path = chunk[1] * last;
    if (path > most) {
        chunk[0] = 1;
        chunk[1] = most / last ? most / last : 1;
    } else if (path && chunk[0] > most / path) {
        chunk[0] = most / path;
    }
    hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    bool good = how >= 0 && H5Pset_chunk(how, rank, chunk) >= 0 && H5Pset_fill_time(how, H5D_FILL_TIME_NEVER) >= 0 &&
                H5Pset_obj_track_times(how, false) >= 0;
    if (good && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
        good = H5Pset_shuffle(how) >= 0 && H5Pset_deflate(how, 4) >= 0;
    if (good) return how;
    if (how >= 0) H5Pclose(how);
    return -1;
}

static bool create(hid_t file, const char *name, hid_t type, int rank, const hsize_t *dims) {
    hid_t space = H5Screate_simple(rank, dims, NULL), how = chunked(rank, dims);
    hid_t set = space >= 0 && how >= 0 ? H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT) : -1;
    bool good = set >= 0;
    if (set >= 0) H5Dclose(set);
    if (space >= 0) H5Sclose(space);
    if (how >= 0) H5Pclose(how);
    return good;
}

/* Rows at .. at + dims[0] - 1 of a dataset. */
static bool fill(hid_t file, const char *name, hid_t memory, int rank, const hsize_t *dims, size_t at,
                 const void *data) {
    const hsize_t from[3] = {at, 0, 0};
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), here = H5Screate_simple(rank, dims, NULL);
    hid_t there = set >= 0 ? H5Dget_space(set) : -1;
    bool good = set >= 0 && here >= 0 && there >= 0 &&
                H5Sselect_hyperslab(there, H5S_SELECT_SET, from, NULL, dims, NULL) >= 0 &&
                H5Dwrite(set, memory, here, there, H5P_DEFAULT, data) >= 0;
    if (there >= 0) H5Sclose(there);
    if (here >= 0) H5Sclose(here);
    if (set >= 0) good = H5Dclose(set) >= 0 && good;
    return good;
}

/* ---- what a file is about ---- */

static bool put_number(hid_t file, const char *name, hid_t type, const void *value) {
    hid_t space = H5Screate(H5S_SCALAR), a = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = a >= 0 && H5Awrite(a, type, value) >= 0;
    if (a >= 0) H5Aclose(a);
    if (space >= 0) H5Sclose(space);
    return good;
}

static bool put_times(hid_t file, const struct lgv_plan *p) {
    hsize_t n = p->ndense;
    double *time = lgv_new(p->ndense + 1, sizeof *time);
    for (size_t i = 0; time && i < n; i++) time[i] = p->t0 + (double)p->dense_step[i] * p->dt;
    bool good = time && lgv_hdf5_put_array(file, "time", 1, &n, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, time);
    free(time);
    return good;
}

static bool put_names(hid_t file, const struct lgv_record_head *h) {
    hsize_t n = h->plan->kernel->nx + h->plan->kernel->np;
    size_t longest = 1;
    for (size_t i = 0; i < n; i++)
        if (strlen(h->model->component[i]) > longest) longest = strlen(h->model->component[i]);
    char *text = lgv_new((size_t)n * (longest + 1), 1);
    hid_t type = H5Tcopy(H5T_C_S1);
    for (size_t i = 0; text && i < n; i++)
        memcpy(text + i * (longest + 1), h->model->component[i], strlen(h->model->component[i]));
    bool good = text && type >= 0 && H5Tset_size(type, longest + 1) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
                lgv_hdf5_put_array(file, "rows", 1, &n, type, type, text);
    if (type >= 0) H5Tclose(type);
    free(text);
    return good;
}

static bool put_words(hid_t file) {
    struct lgv_text t = {0};
    for (int k = 1; k <= LGV_FAIL_LAST; k++) lgv_text_add(&t, "%d: %s\n", k, lgv_fail_text(k));
    bool good = !t.failed && lgv_hdf5_put_text(file, "words", t.data);
    lgv_text_free(&t);
    return good;
}

static bool put_head(hid_t file, const struct lgv_record_head *h) {
    const uint64_t format = LGV_RECORD_FORMAT;
    return lgv_hdf5_put_text(file, "software", LGV_HDF5_SOFTWARE) &&
           put_number(file, "record", H5T_NATIVE_UINT64, &format) && lgv_hdf5_put_text(file, "run", h->run) &&
           lgv_hdf5_put_text(file, "model", h->model->name) &&
           lgv_hdf5_put_text(file, "method", h->plan->kernel->method->name) &&
           lgv_hdf5_put_text(file, "version", LGV_VERSION) && put_words(file) &&
           put_number(file, "seed", H5T_NATIVE_UINT64, &h->plan->seed) &&
           put_number(file, "step", H5T_NATIVE_DOUBLE, &h->plan->dt) && put_times(file, h->plan) && put_names(file, h);
}

bool lgv_record_begin_file(hid_t file, const struct lgv_record_head *h, size_t paths) {
    struct lgv_column c[LGV_RECORD_COLUMNS];
    size_t columns = lgv_record_columns(h->plan, c);
    hsize_t n = paths;
    bool good = put_head(file, h) && create(file, "path", H5T_STD_U64LE, 1, &n) &&
                create(file, "status", H5T_STD_I64LE, 1, &n) && create(file, "steps", H5T_STD_U64LE, 1, &n);
    for (size_t i = 0; good && i < columns; i++) {
        const hsize_t dims[3] = {paths, c[i].dims[0], c[i].dims[1]};
        good = create(file, c[i].name, H5T_IEEE_F64LE, 1 + c[i].rank, dims);
    }
    return good;
}

bool lgv_record_put(hid_t file, const struct lgv_record_head *h, const struct lgv_rows *rows, size_t at) {
    struct lgv_column c[LGV_RECORD_COLUMNS];
    size_t columns = lgv_record_columns(h->plan, c);
    hsize_t n = rows->count;
    bool good = fill(file, "path", H5T_NATIVE_UINT64, 1, &n, at, rows->path) &&
                fill(file, "status", H5T_NATIVE_INT64, 1, &n, at, rows->status) &&
                fill(file, "steps", H5T_NATIVE_UINT64, 1, &n, at, rows->steps);
    for (size_t i = 0; good && i < columns; i++) {
        const hsize_t dims[3] = {rows->count, c[i].dims[0], c[i].dims[1]};
        good = fill(file, c[i].name, H5T_NATIVE_DOUBLE, 1 + c[i].rank, dims, at, rows->value[i]);
    }
    return good;
}
