/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs of model texts and what they found along the way, for tests of events, averages, correlations and sections. */
#ifndef LGV_TESTS_ALONG_H
#define LGV_TESTS_ALONG_H

#include "helpers.h"
#include <unistd.h>

struct option {
    const char *name, *value;
};

static inline struct lgv_engine *engine_of(struct lgv_model *m, const struct option *option) {
    struct lgv_engine *e = NULL;
    struct lgv_error err = {0};
    if (lgv_engine_create(m, &e, &err) != LGV_OK) fail_msg("%s", err.message);
    for (; option && option->name; option++)
        if (lgv_engine_set(e, option->name, option->value, &err) != LGV_OK) fail_msg("%s", err.message);
    return e;
}

/* All paths in one go; the status is to be LGV_OK. */
static inline struct lgv_result *run_text(const char *text, const struct option *option) {
    struct lgv_model *m = model_of(text);
    struct lgv_engine *e = engine_of(m, option);
    struct lgv_result *r = lgv_new(1, sizeof *r);
    struct lgv_error err = {0};
    enum lgv_status status = lgv_engine_whole(e, r, &err);
    if (status != LGV_OK)
        fail_msg("status %d, %llu failed: %s", (int)status, (unsigned long long)r->failed, err.message);
    lgv_engine_free(e);
    lgv_model_free(m);
    return r;
}

static inline const struct lgv_finding *found(const struct lgv_result *r, const char *group, const char *name) {
    for (size_t i = 0; i < r->nfindings; i++)
        if (strcmp(r->finding[i].group, group) == 0 && strcmp(r->finding[i].name, name) == 0) return &r->finding[i];
    fail_msg("there is no %s/%s", group, name);
    return NULL;
}

static inline const double *found_array(const struct lgv_finding *f, const char *name, size_t *count) {
    const struct lgv_found *x = lgv_finding_get(f, name);
    if (!x->data) fail_msg("%s has no %s", f->name, name);
    *count = x->shape[0];
    return x->data;
}

static inline void same_findings(const struct lgv_result *a, const struct lgv_result *b, const char *what) {
    assert_true(a->nfindings == b->nfindings && a->nfindings > 0 && a->stopped == b->stopped);
    for (size_t i = 0; i < a->nfindings; i++)
        for (size_t k = 0; k < LGV_FOUND_ROWS; k++) {
            const struct lgv_found *x = &a->finding[i].item[k], *y = &b->finding[i].item[k];
            assert_true(x->shape[0] == y->shape[0] && x->shape[1] == y->shape[1] && !x->data == !y->data);
            if (x->data && memcmp(x->data, y->data, x->shape[0] * x->shape[1] * sizeof(double)) != 0)
                fail_msg("%s: %s/%s/%s differs", what, a->finding[i].group, a->finding[i].name,
                         lgv_found_row(a->finding[i].group, k)->name);
        }
    for (size_t i = 0; i < a->nseries; i++)
        assert_memory_equal(a->series[i].mean, b->series[i].mean, a->ntimes * sizeof(double));
}

/* The same bits for other lanes and threads, for parts that are saved and loaded in another order, and from results.h5.
 * The ensemble has 301 paths. */
static inline void check_bits(const char *text) {
    struct lgv_result *r = run_text(text, (struct option[]){{"threads", "1"}, {NULL, NULL}});
    static const char *const lanes[] = {"2", "4", "16"};
    for (size_t k = 0; k < 3; k++) {
        const struct option option[] = {{"lanes", lanes[k]}, {"threads", "3"}, {NULL, NULL}};
        struct lgv_result *other = run_text(text, option);
        same_findings(r, other, lanes[k]);
        lgv_result_free(other);
    }
    static const uint64_t first[] = {0, 64, 208, 301};
    static const size_t order[] = {2, 0, 1};
    struct lgv_model *m = model_of(text);
    struct lgv_engine *whole = engine_of(m, NULL);
    char file[3][40];
    for (size_t p = 0; p < 3; p++) {
        struct lgv_engine *e = engine_of(m, NULL);
        snprintf(file[p], sizeof file[p], "along_%d_%zu.part", (int)getpid(), p);
        assert_int_equal(lgv_engine_run(e, first[p], first[p + 1] - first[p], NULL), LGV_OK);
        assert_int_equal(lgv_engine_save(e, file[p], NULL), LGV_OK);
        lgv_engine_free(e);
    }
    for (size_t p = 0; p < 3; p++) assert_int_equal(lgv_engine_load(whole, file[order[p]], NULL), LGV_OK);
    for (size_t p = 0; p < 3; p++) unlink(file[p]);
    struct lgv_result *merged = NULL, back;
    assert_int_equal(lgv_engine_finish(whole, &merged, NULL), LGV_OK);
    same_findings(r, merged, "parts");
    snprintf(file[0], sizeof file[0], "along_%d.h5", (int)getpid());
    assert_int_equal(lgv_hdf5_write(r, file[0], NULL), LGV_OK);
    assert_int_equal(lgv_hdf5_read(file[0], &back, NULL), LGV_OK);
    unlink(file[0]);
    same_findings(r, &back, "results.h5");
    lgv_result_clear(&back);
    lgv_result_free(merged);
    lgv_result_free(r);
    lgv_engine_free(whole);
    lgv_model_free(m);
}

#endif
