/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A made-up result for tests of the output stage, and a directory to write to. */
#ifndef LGV_TESTS_MADE_RESULT_H
#define LGV_TESTS_MADE_RESULT_H

#include "kernel/text/abi.h"
#include "out/out.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- a result like one of the Kubo oscillator --- */

static inline double wave(size_t series, size_t k,
                          double t) { /* path k of a series; noise enough to look like a path */
    double phase = t + 0.1 * sin(1.7 * t + (double)k) * sqrt(t) + 0.05 * (double)k * sin(0.31 * t);
    switch (series) {
    case 0: return cos(phase);
    case 1: return -sin(phase);
    case 2: return cos(phase) * sin(phase);
    case 3: return 0.5 + 2e-3 * sin(0.9 * t + (double)k) * sin(0.02 * t);
    default: return 1.0 + 2e-16 * (double)k;
    }
}

static inline void fill_series(struct lgv_result *r, size_t i, const char *name, const char *formula, int kind) {
    struct lgv_series *s = &r->series[i];
    size_t n = r->ntimes ? r->ntimes : 1;
    *s = (struct lgv_series){.name = lgv_copy(name), .formula = lgv_copy(formula), .kind = kind};
    s->drift = kind == LGV_OBSERVABLE_MOMENTUM ? 3.1e-15 : kind == LGV_OBSERVABLE_ENERGY ? 4.2e-3 : 2.0;
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

static inline void make_settings(struct lgv_result *r) {
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

static inline void make_failures(struct lgv_result *r) {
    r->failed = 137;
    r->nfailures = 25;
    r->failure = lgv_new(25, sizeof *r->failure);
    for (size_t i = 0; i < 25; i++)
        r->failure[i] =
            (struct lgv_failure){11 * i, 400 + (i * 37) % 100, i % 3 ? LGV_FAIL_NEWTON : LGV_FAIL_NONFINITE};
}

static inline void make_histograms(struct lgv_result *r) {
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

static inline void make_samples(struct lgv_result *r, size_t count) {
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

static inline void make_result(struct lgv_result *r, size_t ntimes, size_t samples) {
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
    r->dof = 1;
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
    fill_series(r, 0, "q", "q", LGV_OBSERVABLE_COORDINATE);
    fill_series(r, 1, "p", "p", LGV_OBSERVABLE_CONJUGATE);
    fill_series(r, 2, "product", "q*p", LGV_OBSERVABLE_DECLARED);
    fill_series(r, 3, "H", "(p^2 + q^2)/2", LGV_OBSERVABLE_ENERGY);
    fill_series(r, 4, "rotation", "p.xi", LGV_OBSERVABLE_MOMENTUM);
    r->sample_paths = 4096;
    make_settings(r);
    make_failures(r);
    make_histograms(r);
    make_samples(r, samples);
    r->certificate = (struct lgv_certificate){.symplectic_defect = 3.3e-11,
                                              .conservative = 2.2e-15,
                                              .conservative_error = 4.4e-13,
                                              .conservative_states = 3,
                                              .conservative_claim = 1,
                                              .volume_states = 2,
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

static inline void rename_series(struct lgv_result *r, size_t i, const char *name) {
    free(r->series[i].name);
    r->series[i].name = lgv_copy(name);
}

/* --- places to write to --- */

static char place[64];

static inline int make_place(void **state) {
    (void)state;
    snprintf(place, sizeof place, "/tmp/lgv-unit-out-XXXXXX");
    return mkdtemp(place) ? 0 : -1;
}

static inline int remove_place(void **state) {
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

static inline const char *in_place(const char *name) {
    static char path[4][200];
    static unsigned next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof path[0], "%s/%s", place, name);
    return out;
}

static inline bool exists(const char *name) {
    struct stat st;
    return lstat(in_place(name), &st) == 0;
}

static inline char *slurp(const char *path, size_t *size) {
    struct lgv_error err;
    char *data = lgv_read_file(path, (size_t)1 << 28, size, &err);
    assert_non_null(data);
    return data;
}

static inline void spill(const char *path, const void *data, size_t size) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* --- names that must stay text --- */

static const char *const hostile[] = {"../../etc/x", "a' ; system(\"touch pwned\") ; '", "`touch pwned`",
                                      "<script>alert(1)</script>\n\033[31m", "\xff\xfe bad \xc2"};

static inline void make_hostile(struct lgv_result *r) {
    for (size_t i = 0; i < 5; i++) rename_series(r, i, hostile[i]);
    char **text[] = {&r->model_name, &r->method, &r->histogram[0].name, &r->parameter[0].value, &r->model_file};
    for (size_t i = 0; i < 5; i++) {
        free(*text[i]);
        *text[i] = lgv_copy(hostile[(i + 1) % 5]);
    }
}

#endif
