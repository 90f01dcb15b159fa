/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every dataset of results.h5 can be had through lgv_result_array with the same shape and values, and the other way
 * round; a file that is read back has the same arrays. */
#include "helpers.h"
#include <hdf5.h>
#include <unistd.h>

static struct lgv_error err;
static char folder[] = "/tmp/lgv-arrays-XXXXXX", file[64];

/* A spherical pendulum with noise: constraints, a symmetry, increments of kept paths, histograms. */
static const char pendulum[] = "coordinates: {x in R3: '[0.6, 0, -0.8]'}\nmomenta: {p: '[0, 1, 0]'}\n"
                               "hamiltonian: dot(p, p)/2 + x.z\nnoise: [0.3*x.x, 0.1*x.z]\nconstraints: dot(x, x) - 1\n"
                               "symmetries: {turn: [-x.y, x.x, 0]}\nobserve: {height: x.z, speed: norm(p)}\n"
                               "run: {method: RATTLE, step: 0.05, until: 1, paths: 40, outputs: 10, keep: 3, bins: 7,"
                               " keep_increments: yes}\n";
/* dZ, and paths that fail. */
static const char barrier[] = "coordinates: {q: 0.3*normal()}\nmomenta: {p: 1}\nnoise: 0.5*q\n"
                              "hamiltonian: p^2/2 + q^2/2 - 0.08*q^4\n"
                              "run: {method: VZc, step: 0.1, until: 10, paths: 200, outputs: 10, keep: '2,150',"
                              " keep_increments: yes}\n";

static struct lgv_result *result_of(const char *text, enum lgv_status wanted) {
    struct lgv_model *m = model_of(text);
    struct lgv_run *run;
    struct lgv_result *r;
    assert_int_equal(lgv_run_create(m, &run, &err), LGV_OK);
    if (lgv_run_execute(run, &r, &err) != wanted) fail_msg("%s", err.message);
    lgv_run_free(run);
    lgv_model_free(m);
    return r;
}

static size_t entries(const struct lgv_array *a) {
    size_t n = 1;
    for (int k = 0; k < a->ndim; k++) n *= a->shape[k];
    return n;
}

struct visit {
    const struct lgv_result *r;
    size_t seen;
};

static herr_t compare(hid_t all, const char *name, const H5O_info_t *info, void *user) {
    struct visit *v = user;
    struct lgv_array a;
    if (info->type != H5O_TYPE_DATASET || strcmp(name, "model/text") == 0) return 0;
    if (!lgv_result_array(v->r, name, &a)) fail_msg("%s is in the file only", name);
    hid_t set = H5Dopen2(all, name, H5P_DEFAULT), space = H5Dget_space(set), type = H5Dget_type(set);
    hsize_t dims[3] = {0};
    assert_int_equal(H5Sget_simple_extent_ndims(space), a.ndim);
    H5Sget_simple_extent_dims(space, dims, NULL);
    for (int k = 0; k < a.ndim; k++) assert_int_equal(dims[k], a.shape[k]);
    bool reals = a.type == LGV_ARRAY_REAL;
    assert_true(H5Tequal(type, reals ? H5T_IEEE_F64LE : H5T_STD_U64LE) > 0);
    void *data = lgv_new(entries(&a) + 1, 8);
    assert_true(H5Dread(set, reals ? H5T_NATIVE_DOUBLE : H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    if (memcmp(data, a.data, entries(&a) * 8) != 0) fail_msg("%s: other values", name);
    assert_true(a.unit && a.doc && *a.doc && strcmp(a.name, name) == 0);
    v->seen++;
    free(data);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(set);
    return 0;
}

static void test_file(void **state) {
    struct lgv_result *r = *state;
    struct visit v = {.r = r};
    struct lgv_array a, b;
    struct lgv_result again;
    assert_int_equal(lgv_result_write(r, file, &err), LGV_OK);
    assert_int_equal(lgv_hdf5_read(file, &again, &err), LGV_OK);
    hid_t h5 = H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(h5 >= 0);
    H5Ovisit(h5, H5_INDEX_NAME, H5_ITER_INC, compare, &v);
    size_t count = 0;
    for (; lgv_result_arrays(r, count, &a); count++) {
        if (H5Lexists(h5, a.name, H5P_DEFAULT) <= 0) fail_msg("%s is not in the file", a.name);
        assert_true(lgv_result_array(&again, a.name, &b) && b.ndim == a.ndim && b.type == a.type);
        assert_memory_equal(a.shape, b.shape, (size_t)a.ndim * sizeof *a.shape);
        if (memcmp(a.data, b.data, entries(&a) * 8) != 0) fail_msg("%s: other values were read", a.name);
    }
    H5Fclose(h5);
    assert_int_equal(v.seen, count);
    assert_true(count > 50);
    lgv_result_clear(&again);
}

/* Under every name what belongs there. */
static void check_series(const struct lgv_result *r) {
    static const char *const name[] = {"mean", "std", "stderr", "min", "max", "q05", "q25", "q50", "q75", "q95"};
    for (size_t i = 0; i < r->nseries; i++) {
        const struct lgv_series *s = &r->series[i];
        const double *const wanted[] = {s->mean,        s->std,         s->err,         s->min,         s->max,
                                        s->quantile[0], s->quantile[1], s->quantile[2], s->quantile[3], s->quantile[4]};
        for (size_t k = 0; k < 10; k++) {
            char path[100];
            struct lgv_array a;
            snprintf(path, sizeof path, "statistics/%s/%s", s->name, name[k]);
            assert_true(lgv_result_array(r, path, &a));
            assert_ptr_equal(a.data, wanted[k]);
        }
    }
}

static void test_pendulum(void **state) {
    (void)state;
    struct lgv_result *r = result_of(pendulum, LGV_OK);
    struct lgv_array a;
    void *given = r;
    test_file(&given);
    check_series(r);
    assert_true(lgv_result_array(r, "paths/increments", &a) && a.ndim == 3);
    assert_true(a.shape[0] == 3 && a.shape[1] == 20 && a.shape[2] == 2);
    assert_ptr_equal(a.data, lgv_result_increments(r, 0, NULL, NULL));
    assert_true(lgv_result_array(r, "statistics/height/mean", &a) && a.ndim == 1 && a.shape[0] == 11);
    assert_ptr_equal(a.data, lgv_result_series(r, "height", LGV_MEAN));
    assert_true(lgv_result_array(r, "statistics/hidden_constraint/max", &a));
    assert_true(lgv_result_array(r, "statistics/turn/q95", &a));
    assert_true(lgv_result_array(r, "histograms/height/edge", &a) && a.shape[0] == 8);
    assert_true(lgv_result_array(r, "certificate/holds", &a) && a.shape[0] == r->nverdicts);
    assert_true(lgv_result_array(r, "paths/value", &a) && a.shape[0] == 3 && a.shape[2] == 11);
    size_t at = 0;
    while (strcmp(r->series[at].name, "height") != 0) at++;
    for (size_t k = 0; k < 3; k++)
        assert_memory_equal((const double *)a.data + (k * a.shape[1] + at) * 11, lgv_result_path(r, k, "height"), 88);
    assert_false(lgv_result_array(r, "paths/integrals", &a)); /* RATTLE uses none */
    lgv_result_free(r);
}

static void test_barrier(void **state) {
    (void)state;
    struct lgv_result *r = result_of(barrier, LGV_FAILED_PATHS);
    struct lgv_array a;
    void *given = r;
    test_file(&given);
    assert_true(lgv_result_array(r, "paths/integrals", &a) && a.shape[1] == 100);
    assert_true(lgv_result_array(r, "failures/step", &a) && a.type == LGV_ARRAY_COUNT);
    assert_true(a.shape[0] == r->failed && ((const uint64_t *)a.data)[0] == r->failure[0].step);
    lgv_result_free(r);
}

/* Names that HDF5 cannot have, and names that repeat. */
static void test_names(void **state) {
    (void)state;
    static const char *const name[] = {"a/b", "a_b", "", ".", "a/b"};
    static const char *const place[] = {"a_b", "a_b_2", "_", "__2", "a_b_3"};
    struct lgv_result r = {.nseries = 5, .ntimes = 1};
    struct lgv_array a;
    r.series = lgv_new(5, sizeof *r.series);
    for (size_t i = 0; i < 5; i++) r.series[i].name = lgv_copy(name[i]);
    for (size_t i = 0; i < 5; i++) {
        char path[80];
        snprintf(path, sizeof path, "statistics/%s/mean", place[i]);
        if (!lgv_result_array(&r, path, &a)) fail_msg("there is no %s", path);
    }
    assert_false(lgv_result_array(&r, "statistics/a/b/mean", &a) || lgv_result_array(&r, NULL, &a) ||
                 lgv_result_array(NULL, "time", &a) || lgv_result_array(&r, "time", NULL));
    lgv_result_clear(&r);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    snprintf(file, sizeof file, "%s/results.h5", folder);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pendulum), cmocka_unit_test(test_barrier),
                                       cmocka_unit_test(test_names)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(file);
    rmdir(folder);
    return failed;
}
