/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The output stage on a made-up result: what is written can be read back to the last bit, JSON keeps its contract,
 * hostile names stay text, damaged files and full disks are errors and never crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/abi.h"
#include "out/out.h"

#include <dirent.h>
#include <fcntl.h>
#include <hdf5.h>
#include <jansson.h>
#include <math.h>
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- a result like one of the Kubo oscillator --- */

static double wave(size_t series, size_t k, double t) { /* path k of a series; noise enough to look like a path */
    double phase = t + 0.1 * sin(1.7 * t + (double)k) * sqrt(t) + 0.05 * (double)k * sin(0.31 * t);
    switch (series) {
    case 0: return cos(phase);
    case 1: return -sin(phase);
    case 2: return cos(phase) * sin(phase);
    case 3: return 0.5 + 2e-3 * sin(0.9 * t + (double)k) * sin(0.02 * t);
    default: return 1.0 + 2e-16 * (double)k;
    }
}

static void fill_series(struct lgv_result *r, size_t i, const char *name, const char *formula, int kind) {
    struct lgv_series *s = &r->series[i];
    size_t n = r->ntimes ? r->ntimes : 1;
    *s = (struct lgv_series){.name = lgv_copy(name), .formula = lgv_copy(formula), .kind = kind};
    s->drift = kind == LGV_SERIES_MOMENTUM ? 3.1e-15 : kind == LGV_SERIES_ENERGY ? 4.2e-3 : 2.0;
    s->drift_mean = 0.5 * s->drift;
    double **array[] = {&s->mean,        &s->std,         &s->err,         &s->min,         &s->max,
                        &s->quantile[0], &s->quantile[1], &s->quantile[2], &s->quantile[3], &s->quantile[4]};
    static const double shift[] = {0, 0, 0, -3, 3, -1.64, -0.67, 0.02, 0.67, 1.64};
    for (size_t a = 0; a < sizeof array / sizeof *array; a++) {
        *array[a] = lgv_new(n, sizeof(double));
        for (size_t k = 0; k < r->ntimes; k++) {
            double t = r->time[k], spread = i < 3 ? 0.5 * (1 - exp(-0.1 * t)) : 1e-3,
                   decay = i < 3 ? exp(-0.05 * t) : 1;
            if (i == 4) spread = 1e-16;
            double mean = i < 3 ? decay * wave(i, 0, t) : wave(i, 0, t);
            (*array[a])[k] = a == 1 ? spread : a == 2 ? spread / 30 : mean + shift[a] * spread;
        }
    }
}

static void make_settings(struct lgv_result *r) {
    r->nsettings = 3;
    r->setting = lgv_new(3, sizeof *r->setting);
    r->setting[0] = (struct lgv_setting){lgv_copy("method"), lgv_copy("verlet")};
    r->setting[1] = (struct lgv_setting){lgv_copy("tolerance"), lgv_copy("1e-12")};
    r->setting[2] = (struct lgv_setting){lgv_copy("block"), lgv_copy("")};
    r->nparameters = 2;
    r->parameter = lgv_new(2, sizeof *r->parameter);
    r->parameter[0] = (struct lgv_setting){lgv_copy("beta"), lgv_copy("0.1")};
    r->parameter[1] = (struct lgv_setting){lgv_copy("alpha/2"), lgv_copy("x y")};
}

static void make_failures(struct lgv_result *r) {
    r->failed = 137;
    r->nfailures = 25;
    r->failure = lgv_new(25, sizeof *r->failure);
    for (size_t i = 0; i < 25; i++)
        r->failure[i] =
            (struct lgv_failure){11 * i, 400 + (i * 37) % 100, i % 3 ? LGV_FAIL_NEWTON : LGV_FAIL_NONFINITE};
}

static void make_histograms(struct lgv_result *r) {
    r->nhistograms = 2;
    r->histogram = lgv_new(2, sizeof *r->histogram);
    for (size_t i = 0; i < 2; i++) {
        struct lgv_histogram *h = &r->histogram[i];
        *h = (struct lgv_histogram){.name = lgv_copy(i ? "p" : "q"), .bins = 40, .below = 3, .above = (double)i};
        h->edge = lgv_new(41, sizeof(double));
        h->count = lgv_new(40, sizeof(double));
        for (size_t k = 0; k <= 40; k++) h->edge[k] = -2 + 0.1 * (double)k;
        for (size_t k = 0; k < 40; k++)
            h->count[k] = floor(400 * exp(-2 * pow(h->edge[k] + 0.05 - 0.3 * (double)i, 2)));
    }
}

static void make_samples(struct lgv_result *r, size_t count) {
    r->nsamples = count;
    r->sample = lgv_new(count + 1, sizeof *r->sample);
    for (size_t k = 0; k < count; k++) {
        r->sample[k].path = 7 * k;
        r->sample[k].value = lgv_new(r->nseries * r->ntimes + 1, sizeof(double));
        for (size_t i = 0; i < r->nseries; i++)
            for (size_t j = 0; j < r->ntimes; j++)
                r->sample[k].value[i * r->ntimes + j] =
                    k == 3 && j > r->ntimes / 2 ? (double)NAN : wave(i, k, r->time[j]);
    }
}

static void make_result(struct lgv_result *r, size_t ntimes, size_t samples) {
    memset(r, 0, sizeof *r);
    r->model_name = lgv_copy("Kubo oscillator");
    r->model_text =
        lgv_copy("name: Kubo oscillator\nparameters: { beta: 0.1 }\ncoordinates: { q: 1 }\nmomenta: { p: 0 }\n"
                 "hamiltonian: (p^2 + q^2)/2\nnoise: [ beta*(p^2 + q^2)/2 ]   # <b>&amp;\n");
    r->model_file = lgv_copy("examples/kubo/kubo.yaml");
    r->method = lgv_copy("verlet");
    r->method_doc = lgv_copy("Stochastic Stoermer-Verlet (P2N2Q2Lob), Holm and Tyranowski 2018");
    r->version = lgv_copy(LGV_VERSION);
    r->compiler = lgv_copy("clang 14.0.6");
    r->date = lgv_copy("2026-11-15T20:33:17Z");
    r->nq = 1;
    r->nnoise = 1;
    r->step = 0.05;
    r->until = 40;
    r->steps = r->steps_done = 800;
    r->paths = r->paths_done = 10000;
    r->seed = UINT64_MAX - 4;
    r->threads = 2;
    r->lanes = 16;
    r->seconds = 0.04321;
    r->compile_seconds = 0.051;
    r->path_steps_per_second = 1.85e8;
    r->ntimes = ntimes;
    r->time = lgv_new(ntimes + 1, sizeof(double));
    r->alive = lgv_new(ntimes + 1, sizeof(uint64_t));
    for (size_t i = 0; i < ntimes; i++) {
        r->time[i] = 40.0 * (double)i / (double)(ntimes > 1 ? ntimes - 1 : 1);
        r->alive[i] = 10000 - i / 2;
    }
    r->nseries = 5;
    r->series = lgv_new(5, sizeof *r->series);
    fill_series(r, 0, "q", "q", LGV_SERIES_COORDINATE);
    fill_series(r, 1, "p", "p", LGV_SERIES_CONJUGATE);
    fill_series(r, 2, "product", "q*p", LGV_SERIES_OBSERVABLE);
    fill_series(r, 3, "H", "(p^2 + q^2)/2", LGV_SERIES_ENERGY);
    fill_series(r, 4, "rotation", "p.xi", LGV_SERIES_MOMENTUM);
    r->sample_paths = 4096;
    make_settings(r);
    make_failures(r);
    make_histograms(r);
    make_samples(r, samples);
    r->certificate = (struct lgv_certificate){.symplectic_defect = 3.3e-11,
                                              .symplectic_defect_error = 2e-9,
                                              .defect_states = 64,
                                              .constraint = (double)NAN,
                                              .hidden_constraint = (double)NAN,
                                              .symplectic_claim = 1,
                                              .noise_commutes = 1,
                                              .strong_order = 1,
                                              .weak_order = 1,
                                              .order_reason = lgv_copy("there is only one noise, so it commutes")};
}

static void rename_series(struct lgv_result *r, size_t i, const char *name) {
    free(r->series[i].name);
    r->series[i].name = lgv_copy(name);
}

/* --- places to write to --- */

static char place[64];

static int make_place(void **state) {
    (void)state;
    snprintf(place, sizeof place, "/tmp/lgv-unit-out-XXXXXX");
    return mkdtemp(place) ? 0 : -1;
}

static int remove_place(void **state) {
    (void)state;
    DIR *dir = opendir(place);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", place, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) unlink(path);
    }
    if (dir) closedir(dir);
    return rmdir(place);
}

static const char *in_place(const char *name) {
    static char path[4][200];
    static unsigned next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof path[0], "%s/%s", place, name);
    return out;
}

static bool exists(const char *name) {
    struct stat st;
    return lstat(in_place(name), &st) == 0;
}

static char *slurp(const char *path, size_t *size) {
    struct lgv_error err;
    char *data = lgv_read_file(path, (size_t)1 << 28, size, &err);
    assert_non_null(data);
    return data;
}

static void spill(const char *path, const void *data, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

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
    const uint64_t counts[2][12] = {{a->nq, a->nnoise, a->nconstraints, a->steps, a->steps_done, a->paths,
                                     a->paths_done, a->seed, a->threads, a->lanes, a->sample_paths, a->failed},
                                    {b->nq, b->nnoise, b->nconstraints, b->steps, b->steps_done, b->paths,
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

static const char *const hostile[] = {"../../etc/x", "a' ; system(\"touch pwned\") ; '", "`touch pwned`",
                                      "<script>alert(1)</script>\n\033[31m", "\xff\xfe bad \xc2"};

static void make_hostile(struct lgv_result *r) {
    for (size_t i = 0; i < 5; i++) rename_series(r, i, hostile[i]);
    char **text[] = {&r->model_name, &r->method, &r->histogram[0].name, &r->parameter[0].value, &r->model_file};
    for (size_t i = 0; i < 5; i++) {
        free(*text[i]);
        *text[i] = lgv_copy(hostile[(i + 1) % 5]);
    }
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
    assert_int_equal(lgv_hdf5_write(&r, "/nonexistent/r.h5", &err), LGV_CANNOT_RUN);
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
    char *text = summary_text(&r, false);
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

static bool have_gnuplot(void) {
    return system("command -v gnuplot >/dev/null 2>&1") == 0;
}

static void expect_figure(const char *name) {
    struct stat st;
    if (stat(in_place(name), &st) != 0 || st.st_size < 1000) fail_msg("%s was not drawn", name);
}

static void test_figures_and_report(void **state) {
    (void)state;
    struct lgv_result r;
    struct lgv_error err = {0};
    if (!have_gnuplot()) skip();
    make_result(&r, 50, 3);
    make_hostile(&r);
    if (lgv_figures(&r, place, &err) != LGV_OK || lgv_report(&r, place, &err) != LGV_OK) fail_msg("%s", err.message);
    expect_figure("energy.svg");
    expect_figure("energy.png");
    expect_figure("phase.svg");
    expect_figure("mean-_touch_pwned_.png");
    assert_false(exists("pwned"));
    assert_true(access("pwned", F_OK) != 0);
    size_t size;
    char *page = slurp(in_place("report.html"), &size);
    assert_null(strstr(page, "<script"));
    assert_non_null(strstr(page, "&lt;script&gt;"));
    assert_non_null(strstr(page, "data:image/svg+xml;base64,"));
    assert_null(strstr(page, "not drawn"));
    assert_null(memchr(page, '\033', size));
    free(page);
    lgv_result_clear(&r);
}

/* One time, one path, constants, nothing but NaN, nothing. */
static void test_figures_degenerate(void **state) {
    (void)state;
    struct lgv_result r;
    struct lgv_error err = {0};
    if (!have_gnuplot()) skip();
    for (int way = 0; way < 5; way++) {
        make_result(&r, way == 4 ? 0 : way == 0 ? 1 : 6, way == 2 ? 0 : 1);
        for (size_t k = 0; k < r.ntimes; k++) {
            for (int c = 0; c < LGV_QUANTILES; c++) r.series[0].quantile[c][k] = way == 1 ? (double)NAN : 0;
            r.series[0].mean[k] = way == 1 ? (double)NAN : 0;
            r.series[0].err[k] = way == 3 ? (double)NAN : 0;
            for (size_t i = 0; r.nsamples && i < r.nseries; i++)
                r.sample[0].value[i * r.ntimes + k] = way == 1 ? (double)NAN : 1e300 * (double)(way - 1);
        }
        memset(r.histogram[0].count, 0, 40 * sizeof(double));
        if (lgv_figures(&r, place, &err) != LGV_OK || lgv_report(&r, place, &err) != LGV_OK)
            fail_msg("case %d: %s", way, err.message);
        lgv_result_clear(&r);
    }
    expect_figure("mean-q.png");
}

static void test_no_gnuplot(void **state) {
    (void)state;
    struct lgv_result r;
    struct lgv_error err = {0};
    make_result(&r, 5, 1);
    char *path = lgv_copy(getenv("PATH") ? getenv("PATH") : "");
    setenv("PATH", place, 1);
    enum lgv_status status = lgv_figures(&r, place, &err);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(status, LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "gnuplot-nox"));
    assert_int_equal(lgv_report(&r, place, &err), LGV_OK); /* the report does without */
    size_t size;
    char *page = slurp(in_place("report.html"), &size);
    assert_non_null(strstr(page, "not drawn"));
    free(page);
    assert_int_equal(lgv_figures(&r, in_place("nowhere"), &err), LGV_CANNOT_RUN);
    lgv_result_clear(&r);
}

int main(void) {
#define IN_PLACE(f) cmocka_unit_test_setup_teardown(f, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(test_round_trip),
        IN_PLACE(test_round_trip_odd),
        IN_PLACE(test_long_names_stay_apart),
        IN_PLACE(test_foreign_files),
        IN_PLACE(test_truncated),
        IN_PLACE(test_wrong_contents),
        IN_PLACE(test_damaged),
        IN_PLACE(test_annotated),
        IN_PLACE(test_full_disk),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_summary),
        IN_PLACE(test_figures_and_report),
        IN_PLACE(test_figures_degenerate),
        IN_PLACE(test_no_gnuplot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
