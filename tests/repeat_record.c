/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Single paths that are recorded while they run: the numbers are those of sample paths and of kept increments, and the
 * file has the same bytes whatever the threads, the stops on the way and the order of parts; paths that failed or
 * stopped are marked as such. */
#include "helpers.h"
#include <hdf5.h>
#include <unistd.h>

static struct lgv_error err;
static char base[] = "/tmp/lgv-record-XXXXXX";

/* Some paths pass the barrier, where they stop, or fail because the force is none beyond. */
static const char barrier[] =
    "name: barrier\nparameters: {s: 0.35}\ncoordinates: {x: -1 + 0.1*normal()}\nmomenta: {p: 0}\n"
    "hamiltonian: p^2/2 - x^2/2 + x^4/4 + 1e-6*(1.4 - x + 0.02*t)^1.5\nnoise: s*x\n"
    "langevin: {friction: 0.3, temperature: 0.15}\nstop: p > 1.5 + 0.02*t\n"
    "run: {method: BAOAB, step: 0.05, until: 300, paths: 88, outputs: 60, seed: 4, keep: '3,40,87', keep_every: 7,\n"
    "  record: [final, states]}\n";
static const char sphere[] =
    "name: sphere\ncoordinates: {x in R3: [1, 0, 0]}\nmomenta: {p: [0, 1, 0.4]}\n"
    "hamiltonian: dot(p, p)/2 + x.z\nconstraints: dot(x, x) - 1\nnoise: [0.3*x.z, 0.2*x.x]\n"
    "run: {method: RATTLE, step: 0.02, until: 8, paths: 40, outputs: 30, seed: 2, keep: '2,33', keep_increments: yes,\n"
    "  record: [final, states, increments], record_paths: '2,17,33'}\n";

static void good(enum lgv_status status) {
    if (status != LGV_OK && status != LGV_FAILED_PATHS) fail_msg("%s", err.message);
}

static int calls;
static int stop_often(void *user, double fraction) {
    (void)user;
    return fraction > 0 && ++calls % 9 == 0;
}

struct run {
    struct lgv_model *m;
    struct lgv_engine *e;
    struct lgv_result *r;
    char folder[80], file[80];
};

static void begin(struct run *x, const char *text, const char *name, const char *threads) {
    *x = (struct run){0};
    snprintf(x->folder, sizeof x->folder, "%s/%s", base, name);
    snprintf(x->file, sizeof x->file, "%s/%s.h5", base, name);
    good(lgv_model_parse(text, "model.yaml", &x->m, &err));
    good(lgv_engine_create(x->m, &x->e, &err));
    good(lgv_engine_record_in(x->e, x->folder, &err));
    good(lgv_engine_set(x->e, "threads", threads, &err));
}

static uint64_t join(struct run *x) {
    const char *folder = x->folder;
    uint64_t paths, wanted;
    good(lgv_engine_record_join(x->e, &folder, 1, x->file, &paths, &wanted, &err));
    return paths == wanted ? paths : 0;
}

static void end(struct run *x) {
    lgv_record_remove(x->folder);
    assert_int_not_equal(access(x->folder, F_OK), 0);
    unlink(x->file);
    lgv_result_free(x->r);
    lgv_engine_free(x->e);
    lgv_model_free(x->m);
}

static void *read_set(const char *file, const char *name, hid_t type, hsize_t dims[3]) {
    hid_t f = H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT), set = H5Dopen2(f, name, H5P_DEFAULT);
    assert_true(f >= 0 && set >= 0);
    hid_t space = H5Dget_space(set), how = H5Dget_create_plist(set);
    dims[1] = dims[2] = 1;
    H5Sget_simple_extent_dims(space, dims, NULL);
    assert_int_equal(H5Pget_layout(how), H5D_CHUNKED);
    assert_int_equal(H5Pget_nfilters(how), 2);
    void *data = lgv_new((size_t)(dims[0] * dims[1] * dims[2]) + 1, 8);
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Pclose(how);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(f);
    return data;
}

static size_t series(const struct lgv_result *r, const char *name) {
    size_t i = 0;
    while (i < r->nseries && strcmp(r->series[i].name, name) != 0) i++;
    assert_true(i < r->nseries);
    return i;
}

/* States of paths that are both kept and recorded. */
static void check_states(const struct run *x, const char *const *name, size_t rows) {
    hsize_t n[3], m[3];
    double *state = read_set(x->file, "states", H5T_NATIVE_DOUBLE, n);
    double *last = read_set(x->file, "final", H5T_NATIVE_DOUBLE, m);
    uint64_t *path = read_set(x->file, "path", H5T_NATIVE_UINT64, m);
    int64_t *status = read_set(x->file, "status", H5T_NATIVE_INT64, m);
    uint64_t *steps = read_set(x->file, "steps", H5T_NATIVE_UINT64, m);
    size_t seen = 0, ends = 0;
    assert_int_equal(n[1], x->r->ndense);
    assert_int_equal(n[2], rows);
    for (size_t p = 0; p < n[0]; p++) {
        const double *s = state + p * n[1] * rows;
        if (!status[p]) assert_int_equal(steps[p], x->r->steps);
        if (!status[p]) assert_memory_equal(s + (n[1] - 1) * rows, last + p * rows, rows * 8);
        if (status[p]) assert_true(isnan(s[(n[1] - 1) * rows]) && steps[p] < x->r->steps);
        ends += status[p] != 0;
        assert_int_equal(isnan(last[p * rows]) != 0, status[p] != 0 && status[p] != LGV_STOPPED);
        for (size_t k = 0; k < x->r->nsamples; k++) {
            if (x->r->sample[k].path != path[p]) continue;
            seen++;
            for (size_t t = 0; t < n[1]; t++)
                for (size_t i = 0; i < rows; i++) {
                    double there = x->r->sample[k].dense[series(x->r, name[i]) * n[1] + t];
                    assert_true(s[t * rows + i] == there || (isnan(s[t * rows + i]) && isnan(there)));
                }
        }
    }
    assert_int_equal(seen, x->r->nsamples);
    assert_int_equal(ends, x->r->failed + x->r->stopped);
    if (rows == 2) assert_true(x->r->failed && x->r->stopped);
    free(state), free(last), free(path), free(status), free(steps);
}

static void same_file(const char *a, const char *b) {
    size_t n = 0, m = 0;
    char *x = lgv_read_file(a, (size_t)1 << 28, &n, &err), *y = lgv_read_file(b, (size_t)1 << 28, &m, &err);
    assert_true(x && y);
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    free(x), free(y);
}

/* Stopped again and again, saved, and gone on with by another engine. */
static void stopped(struct run *x, const char *text, const char *name) {
    char part[100];
    begin(x, text, name, "1");
    snprintf(part, sizeof part, "%s/%s.lgv", base, name);
    enum lgv_status status = LGV_INTERRUPTED;
    lgv_crew_pause = 0;
    for (int k = 0; status == LGV_INTERRUPTED; k++) {
        calls = 0;
        lgv_engine_on_progress(x->e, k < 12 ? stop_often : NULL, NULL);
        status = lgv_engine_continue(x->e, &err);
        if (status != LGV_INTERRUPTED) break;
        good(lgv_engine_save(x->e, part, &err));
        lgv_engine_clear(x->e);
        good(lgv_engine_set(x->e, "threads", k % 2 ? "1" : "3", &err));
        good(lgv_engine_load(x->e, part, &err));
    }
    good(status);
    unlink(part);
}

static void test(const char *text, const char *const *name, size_t rows, uint64_t paths) {
    struct run one, other;
    begin(&one, text, "one", "2");
    good(lgv_engine_continue(one.e, &err));
    good(lgv_engine_finish(one.e, &one.r, &err));
    assert_int_equal(join(&one), paths);
    check_states(&one, name, rows);

    stopped(&other, text, "other");
    assert_int_equal(join(&other), paths);
    same_file(one.file, other.file);
    end(&other);

    begin(&other, text, "parts", "1"); /* the last first; and some of it once more, as after a kill */
    good(lgv_engine_run(other.e, 32, lgv_engine_paths(other.e) - 32, &err));
    assert_int_equal(join(&other), 0);
    lgv_engine_clear(other.e);
    good(lgv_engine_run(other.e, 16, lgv_engine_paths(other.e) == 40 ? 24 : 32, &err));
    good(lgv_engine_run(other.e, 0, 16, &err));
    assert_int_equal(join(&other), paths);
    same_file(one.file, other.file);
    end(&other);
    end(&one);
}

static void test_barrier(void **state) {
    (void)state;
    static const char *const name[] = {"x", "p"};
    test(barrier, name, 2, 88);
}

static void test_sphere(void **state) {
    (void)state;
    static const char *const name[] = {"x.x", "x.y", "x.z", "p.x", "p.y", "p.z"};
    test(sphere, name, 6, 3);
}

static void test_increments(void **state) {
    (void)state;
    struct run x;
    hsize_t n[3];
    begin(&x, sphere, "noise", "2");
    good(lgv_engine_continue(x.e, &err));
    good(lgv_engine_finish(x.e, &x.r, &err));
    assert_int_equal(join(&x), 3);
    double *dW = read_set(x.file, "dW", H5T_NATIVE_DOUBLE, n);
    size_t each = (size_t)(n[1] * n[2]);
    assert_int_equal(n[1], x.r->steps);
    assert_int_equal(n[2], 2);
    assert_memory_equal(dW, x.r->increment, each * 8);                 /* path 2 */
    assert_memory_equal(dW + 2 * each, x.r->increment + each, each * 8); /* path 33; 17 is not kept */
    assert_memory_not_equal(dW + each, x.r->increment, 8);
    free(dW);
    end(&x);
}

/* Refused before it runs: no place, no such thing, too much, of what there is none. */
static void test_refused(void **state) {
    (void)state;
    struct run x;
    begin(&x, barrier, "refused", "1");
    good(lgv_engine_record_in(x.e, NULL, &err));
    assert_int_equal(lgv_engine_continue(x.e, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "directory"));
    static const char *const bad[][3] = {{"record", "end", "none of final, states, increments"},
                                         {"record", "increments", "bath"},
                                         {"record_paths", "0,88", "path 88 is not among"},
                                         {"record_paths", "some", "neither a number"},
                                         {"extendable", "yes", "choose one"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct lgv_engine *e;
        good(lgv_engine_create(x.m, &e, &err));
        good(lgv_engine_set(e, bad[i][0], bad[i][1], &err));
        assert_int_equal(lgv_engine_prepare(e, &err), LGV_BAD_INPUT);
        if (!strstr(err.message, bad[i][2])) fail_msg("%s", err.message);
        lgv_engine_free(e);
    }
    good(lgv_engine_set(x.e, "until", "3e7", &err));
    good(lgv_engine_set(x.e, "keep_every", "5", &err));
    good(lgv_engine_set(x.e, "keep", "0", &err));
    assert_int_equal(lgv_engine_prepare(x.e, &err), LGV_CANNOT_RUN);
    if (!strstr(err.message, "record: 2.4e+08 numbers of every path are 3.07e+04 MB")) fail_msg("%s", err.message);
    end(&x);
}

/* A disk that is full, here a folder that cannot be made: the message of the system, and nothing is counted as done. */
static void test_no_room(void **state) {
    (void)state;
    struct run x;
    begin(&x, barrier, "none", "2");
    good(lgv_engine_record_in(x.e, "/proc/none/recorded", &err));
    assert_int_equal(lgv_engine_continue(x.e, &err), LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "/proc/none/recorded"));
    assert_true(lgv_engine_share(x.e) == 0);
    end(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_barrier), cmocka_unit_test(test_sphere),
                                       cmocka_unit_test(test_increments), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_no_room)};
    if (!mkdtemp(base)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(base);
    return failed;
}
