/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The output stage on a made-up result: what is written can be read back to the last bit, JSON keeps its contract,
 * hostile names stay text, damaged files and full disks are errors and never crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_result.h"

#include <fcntl.h>
#include <hdf5.h>
#include <jansson.h>
#include <signal.h>
#include <sys/resource.h>

/* --- equality to the last bit (NaN equals NaN) --- */

static void same_text(const char *a, const char *b) {
    if (!a || !b)
        assert_true(!a && !b);
    else
        assert_string_equal(a, b);
}

static void same_bytes(const void *a, const void *b, size_t size) {
    if (size > 0) assert_memory_equal(a, b, size);
}

static void same_real(double a, double b) {
    same_bytes(&a, &b, sizeof a);
}

static void same_settings(const struct lgv_setting *a, const struct lgv_setting *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        same_text(a[i].name, b[i].name);
        same_text(a[i].value, b[i].value);
    }
}

static void same_series(const struct lgv_series *a, const struct lgv_series *b, size_t n) {
    same_text(a->name, b->name);
    same_text(a->formula, b->formula);
    assert_int_equal(a->kind, b->kind);
    same_real(a->drift, b->drift);
    same_real(a->drift_mean, b->drift_mean);
    same_bytes(a->mean, b->mean, n * 8);
    same_bytes(a->std, b->std, n * 8);
    same_bytes(a->err, b->err, n * 8);
    same_bytes(a->min, b->min, n * 8);
    same_bytes(a->max, b->max, n * 8);
    for (int k = 0; k < LGV_QUANTILES; k++) same_bytes(a->quantile[k], b->quantile[k], n * 8);
}

static void same_head(const struct lgv_result *a, const struct lgv_result *b) {
    same_text(a->model_name, b->model_name);
    same_text(a->model_text, b->model_text);
    same_text(a->model_file, b->model_file);
    same_text(a->method, b->method);
    same_text(a->method_doc, b->method_doc);
    same_text(a->version, b->version);
    same_text(a->compiler, b->compiler);
    same_text(a->command, b->command);
    same_text(a->date, b->date);
    assert_int_equal(a->nsettings, b->nsettings);
    same_settings(a->setting, b->setting, a->nsettings);
    assert_int_equal(a->nparameters, b->nparameters);
    same_settings(a->parameter, b->parameter, a->nparameters);
    const uint64_t counts[2][12] = {{a->dof, a->nnoise, a->nconstraints, a->steps, a->steps_done, a->paths,
                                     a->paths_done, a->seed, a->threads, a->lanes, a->sample_paths, a->failed},
                                    {b->dof, b->nnoise, b->nconstraints, b->steps, b->steps_done, b->paths,
                                     b->paths_done, b->seed, b->threads, b->lanes, b->sample_paths, b->failed}};
    same_bytes(counts[0], counts[1], sizeof counts[0]);
    const double reals[2][7] = {
        {a->t0, a->step, a->until, a->seconds, a->compile_seconds, a->path_steps_per_second, a->newton_iterations},
        {b->t0, b->step, b->until, b->seconds, b->compile_seconds, b->path_steps_per_second, b->newton_iterations}};
    same_bytes(reals[0], reals[1], sizeof reals[0]);
    assert_int_equal(a->interrupted, b->interrupted);
}

static void same_certificate(const struct lgv_certificate *a, const struct lgv_certificate *b) {
    same_real(a->symplectic_defect, b->symplectic_defect);
    same_real(a->symplectic_defect_error, b->symplectic_defect_error);
    same_real(a->constraint, b->constraint);
    same_real(a->hidden_constraint, b->hidden_constraint);
    same_real(a->strong_order, b->strong_order);
    same_real(a->weak_order, b->weak_order);
    assert_int_equal(a->defect_states, b->defect_states);
    assert_int_equal(a->symplectic_claim, b->symplectic_claim);
    same_real(a->conservative, b->conservative);
    same_real(a->conservative_error, b->conservative_error);
    assert_int_equal(a->conservative_states, b->conservative_states);
    assert_int_equal(a->conservative_claim, b->conservative_claim);
    assert_int_equal(a->volume_states, b->volume_states);
    assert_int_equal(a->noise_commutes, b->noise_commutes);
    assert_int_equal(a->commutes_decided, b->commutes_decided);
    same_text(a->order_reason, b->order_reason);
}

static void same_result(const struct lgv_result *a, const struct lgv_result *b) {
    same_head(a, b);
    assert_int_equal(a->ntimes, b->ntimes);
    same_bytes(a->time, b->time, a->ntimes * 8);
    same_bytes(a->alive, b->alive, a->ntimes * 8);
    assert_int_equal(a->nseries, b->nseries);
    for (size_t i = 0; i < a->nseries; i++) same_series(&a->series[i], &b->series[i], a->ntimes);
    assert_int_equal(a->nhistograms, b->nhistograms);
    for (size_t i = 0; i < a->nhistograms; i++) {
        const struct lgv_histogram *g = &a->histogram[i], *h = &b->histogram[i];
        same_text(g->name, h->name);
        assert_int_equal(g->bins, h->bins);
        same_bytes(g->edge, h->edge, 8 * (g->bins + 1));
        same_bytes(g->count, h->count, 8 * g->bins);
        same_real(g->below, h->below);
        same_real(g->above, h->above);
    }
    assert_int_equal(a->nsamples, b->nsamples);
    for (size_t i = 0; i < a->nsamples; i++) {
        assert_int_equal(a->sample[i].path, b->sample[i].path);
        same_bytes(a->sample[i].value, b->sample[i].value, 8 * a->nseries * a->ntimes);
    }
    assert_int_equal(a->nfailures, b->nfailures);
    for (size_t i = 0; i < a->nfailures; i++) {
        assert_int_equal(a->failure[i].path, b->failure[i].path);
        assert_int_equal(a->failure[i].step, b->failure[i].step);
        assert_int_equal(a->failure[i].reason, b->failure[i].reason);
    }
    same_certificate(&a->certificate, &b->certificate);
}

static void round_trip(const struct lgv_result *r) {
    struct lgv_error err = {0};
    struct lgv_result back;
    const char *path = in_place("r.h5");
    if (lgv_hdf5_write(r, path, &err) != LGV_OK || lgv_hdf5_read(path, &back, &err) != LGV_OK)
        fail_msg("%s", err.message);
    assert_false(exists("r.h5.tmp"));
    same_result(r, &back);
    lgv_result_clear(&back);
}

/* --- tests --- */

static void test_round_trip(void **state) {
    (void)state;
    struct lgv_result r;
    make_result(&r, 200, 8);
    round_trip(&r);
    lgv_result_clear(&r);
}

static void test_round_trip_odd(void **state) {
    (void)state;
    struct lgv_result r;
    static const size_t times[] = {0, 1, 3}, samples[] = {0, 1, 2};
    for (size_t i = 0; i < 3; i++) {
        make_result(&r, times[i], samples[i]);
        round_trip(&r);
        lgv_result_clear(&r);
    }
    make_result(&r, 4, 2);
    make_hostile(&r);
    rename_series(&r, 0, "");
    rename_series(&r, 1, "."); /* and both become "_" as group names */
    free(r.command);
    r.command = lgv_new(200001, 1); /* an attribute beyond the old 64 kB limit */
    memset(r.command, 'x', 200000);
    round_trip(&r);
    lgv_result_clear(&r);
    memset(&r, 0, sizeof r);
    round_trip(&r);
}

static void test_long_names_stay_apart(void **state) {
    (void)state;
    struct lgv_result r;
    char name[5000];
    make_result(&r, 2, 1);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    rename_series(&r, 0, name);
    name[4000] = 'm';
    rename_series(&r, 1, name);
    round_trip(&r);
    lgv_result_clear(&r);
}

static void refuse(const char *path, const char *word) {
    struct lgv_error err = {0};
    struct lgv_result back;
    assert_int_equal(lgv_hdf5_read(path, &back, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, path));
    if (!strstr(err.message, word)) fail_msg("'%s' is not in: %s", word, err.message);
    assert_null(back.series);
    assert_int_equal(lgv_hdf5_read(path, &back, NULL), LGV_BAD_INPUT);
}

static void test_foreign_files(void **state) {
    (void)state;
    refuse(in_place("none.h5"), "No such file");
    refuse(place, "not a file");
    spill(in_place("r.h5"), "hello", 5);
    refuse(in_place("r.h5"), "not an HDF5 file");
    spill(in_place("r.h5"), "", 0);
    refuse(in_place("r.h5"), "not an HDF5 file");
    hid_t file = H5Fcreate(in_place("other.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    refuse(in_place("other.h5"), "not a result of lgv");
}

static void test_truncated(void **state) {
    (void)state;
    struct lgv_result r;
    size_t size;
    make_result(&r, 20, 2);
    assert_int_equal(lgv_hdf5_write(&r, in_place("r.h5"), NULL), LGV_OK);
    char *data = slurp(in_place("r.h5"), &size);
    for (size_t k = 1; k < 20; k++) {
        spill(in_place("cut.h5"), data, size * k / 20);
        refuse(in_place("cut.h5"), "truncated");
    }
    free(data);
    lgv_result_clear(&r);
}

/* Replaces a member of a good file by something else and expects the reader to say so. */
static void test_wrong_contents(void **state) {
    (void)state;
    struct lgv_result r;
    make_result(&r, 20, 2);
    static const char *const member[] = {
        "time", "alive", "paths/value", "statistics/q/mean", "failures/step", "histograms/p/edge", "model/text"};
    for (size_t way = 0; way < 4 * sizeof member / sizeof *member; way++) {
        const char *name = member[way / 4];
        assert_int_equal(lgv_hdf5_write(&r, in_place("r.h5"), NULL), LGV_OK);
        hid_t file = H5Fopen(in_place("r.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
        hsize_t many[1] = {(hsize_t)1 << 40}, chunk[1] = {1024};
        hid_t how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, many, NULL), set = -1;
        if (way % 4 == 0) { /* eight terabytes that are not there */
            H5Pset_chunk(how, 1, chunk);
            set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
        } else if (way % 4 == 1) { /* bytes of another file */
            many[0] = 20;
            H5Sclose(space);
            space = H5Screate_simple(1, many, NULL);
            H5Pset_external(how, "/etc/passwd", 0, 160);
            set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
        } else if (way % 4 == 2) { /* a link to elsewhere */
            assert_true(H5Lcreate_external("other.h5", "/x", file, name, H5P_DEFAULT, H5P_DEFAULT) >= 0);
        } else { /* texts of variable length */
            hid_t type = H5Tcopy(H5T_C_S1);
            many[0] = 20;
            H5Tset_size(type, H5T_VARIABLE);
            H5Sclose(space);
            space = H5Screate_simple(1, many, NULL);
            set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
            H5Tclose(type);
        }
        if (set >= 0) H5Dclose(set);
        H5Sclose(space);
        H5Pclose(how);
        H5Fclose(file);
        refuse(in_place("r.h5"), strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
    }
    lgv_result_clear(&r);
}

/* One wrong bit anywhere is noticed; in the seal's mark it only switches the seal off. */
static void test_damaged(void **state) {
    (void)state;
    struct lgv_result r;
    size_t size;
    make_result(&r, 3, 1);
    assert_int_equal(lgv_hdf5_write(&r, in_place("r.h5"), NULL), LGV_OK);
    lgv_result_clear(&r);
    char *data = slurp(in_place("r.h5"), &size);
    for (size_t k = 0; k < 400; k++) {
        size_t at = k < 64 ? k : k < 80 ? size - 1 - (k - 64) : (k * 2654435761u) % (size - 24);
        data[at] ^= (char)(1u << (k % 8));
        spill(in_place("bad.h5"), data, size);
        refuse(in_place("bad.h5"), "cannot read");
        data[at] ^= (char)(1u << (k % 8));
    }
    free(data);
}

/* A note added by another program takes the seal away and changes nothing else. */
static void test_annotated(void **state) {
    (void)state;
    struct lgv_result r, back;
    make_result(&r, 3, 1);
    assert_int_equal(lgv_hdf5_write(&r, in_place("r.h5"), NULL), LGV_OK);
    hid_t file = H5Fopen(in_place("r.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t note = H5Gcreate2(file, "note", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(note >= 0);
    H5Gclose(note);
    H5Fclose(file);
    assert_int_equal(lgv_hdf5_read(in_place("r.h5"), &back, NULL), LGV_OK);
    same_result(&r, &back);
    lgv_result_clear(&back);
    lgv_result_clear(&r);
}

/* A limit on the size of files stands for a full disk: write() fails in the middle. */
static void limit_files(rlim_t most) {
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = most;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static size_t files_in_place(void) {
    size_t n = 0;
    DIR *d = opendir(place);
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

static void test_full_disk(void **state) {
    (void)state;
    struct lgv_result r;
    struct lgv_error err = {0};
    size_t before, after;
    make_result(&r, 20, 2);
    assert_int_equal(lgv_hdf5_write(&r, in_place("r.h5"), &err), LGV_OK);
    char *old = slurp(in_place("r.h5"), &before);
    size_t files = files_in_place();
    limit_files(100);
    enum lgv_status hdf5 = lgv_hdf5_write(&r, in_place("r.h5"), &err);
    struct lgv_error why = {0};
    enum lgv_status report = lgv_report(&r, place, &why);
    limit_files(RLIM_INFINITY);
    assert_int_equal(hdf5, LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "cannot write"));
    assert_int_equal(report, LGV_CANNOT_RUN);
    assert_non_null(strstr(why.message, "cannot write"));
    assert_int_equal(files_in_place(), files);   /* nothing half written is left */
    char *now = slurp(in_place("r.h5"), &after); /* the old file is untouched */
    assert_int_equal(before, after);
    same_bytes(old, now, before);
    free(old);
    free(now);
    assert_int_equal(lgv_hdf5_write(&r, in_place("nowhere/r.h5"), &err), LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "No such file"));
    lgv_result_clear(&r);
}

static void test_json(void **state) {
    (void)state;
    struct lgv_result r;
    make_result(&r, 50, 2);
    r.series[2].mean[49] = (double)INFINITY;
    char *text = lgv_json_result(&r);
    assert_non_null(text);
    json_t *d = json_loads(text, 0, NULL);
    assert_non_null(d);
    static const char *const need[] = {"model", "method",      "step",    "until",    "paths",
                                       "seed",  "steps",       "failed",  "seconds",  "path_steps_per_second",
                                       "final", "certificate", "version", "failures", "options"};
    for (size_t i = 0; i < sizeof need / sizeof *need; i++) assert_non_null(json_object_get(d, need[i]));
    assert_string_equal(json_string_value(json_object_get(d, "seed")), "18446744073709551611");
    assert_int_equal(json_integer_value(json_object_get(d, "failed")), 137);
    json_t *q = json_object_get(json_object_get(d, "final"), "q");
    assert_true(json_real_value(json_object_get(q, "mean")) == r.series[0].mean[49]);
    assert_true(json_real_value(json_object_get(q, "stderr")) == r.series[0].err[49]);
    assert_true(json_is_null(json_object_get(json_object_get(json_object_get(d, "final"), "product"), "mean")));
    json_t *c = json_object_get(d, "certificate");
    assert_true(json_real_value(json_object_get(c, "symplectic_defect")) == 3.3e-11);
    assert_true(json_is_null(json_object_get(c, "constraint")));
    assert_true(json_real_value(json_object_get(json_object_get(c, "momentum"), "rotation")) == 3.1e-15);
    assert_true(json_real_value(json_object_get(json_object_get(d, "parameters"), "beta")) == 0.1);
    json_decref(d);
    free(text);
    make_hostile(&r);
    text = lgv_json_result(&r);
    d = json_loads(text, 0, NULL);
    assert_non_null(d);
    assert_int_equal(json_object_size(json_object_get(d, "final")), 5);
    json_decref(d);
    free(text);
    lgv_result_clear(&r);
}

static char *summary_text(const struct lgv_result *r, bool colour) {
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    lgv_summary(f, r, colour);
    fclose(f);
    return text;
}

static void test_summary(void **state) {
    (void)state;
    struct lgv_result r;
    make_result(&r, 50, 2);
    r.series[0].mean[49] = 1.1201701;
    r.series[0].err[49] = 0.01387;
    char *text = summary_text(&r, false);
    assert_non_null(strstr(text, " 1.120 ± 0.014 ")); /* two digits of the error */
    size_t lines = 0;
    for (const char *s = text; *s; s++) lines += *s == '\n';
    assert_true(lines <= 30);
    assert_non_null(strstr(text, "symplectic to round-off"));
    assert_non_null(strstr(text, "137 of 10000 paths failed, first at t = 20 "));
    assert_null(strchr(text, '\033'));
    free(text);
    r.certificate.symplectic_defect = 1e-3;
    r.failed = 0;
    r.interrupted = 1;
    make_hostile(&r);
    text = summary_text(&r, false);
    assert_non_null(strstr(text, "NOT symplectic"));
    assert_non_null(strstr(text, "no path failed"));
    assert_non_null(strstr(text, "interrupted"));
    assert_null(strchr(text, '\033'));
    free(text);
    lgv_result_clear(&r);
    memset(&r, 0, sizeof r); /* nothing at all is still a summary */
    text = summary_text(&r, true);
    assert_non_null(text);
    free(text);
}

int main(void) {
#define IN_PLACE(f) cmocka_unit_test_setup_teardown(f, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(test_round_trip),    IN_PLACE(test_round_trip_odd),  IN_PLACE(test_long_names_stay_apart),
        IN_PLACE(test_foreign_files), IN_PLACE(test_truncated),       IN_PLACE(test_wrong_contents),
        IN_PLACE(test_damaged),       IN_PLACE(test_annotated),       IN_PLACE(test_full_disk),
        cmocka_unit_test(test_json),  cmocka_unit_test(test_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
