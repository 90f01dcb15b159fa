/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What tests of methods for stiff potentials share: the symplecticity defect of a step, the way back, states at the
 * end. */
#ifndef LGV_TESTS_STIFF_STEPS_H
#define LGV_TESTS_STIFF_STEPS_H

#include "helpers.h"

static double defect(const char *text, const char *method, double dt) {
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, method);
    struct lgv_own_block b;
    double x[64], worst = 0;
    assert_true(k.nx + k.np <= 64);
    for (uint64_t path = 0; path < 3; path++) {
        assert_true(lgv_block_create(&k, 0.1, dt, 5, 1, &b));
        for (size_t l = 0; l < k.entry->lanes; l++) b.path[l] = path;
        k.entry->start(&b.block);
        k.entry->advance(&b.block, 7 * path);
        for (size_t i = 0; i < k.nx + k.np; i++) x[i] = b.block.state[i * k.entry->lanes];
        struct lgv_defect how = {0};
        double d = lgv_certificate_defect(&k, 0.1, dt, 5, path, 7 * path, x, NULL, NULL, NULL, &how);
        assert_true(d >= 0 && how.error < 1e-9);
        worst = fmax(worst, d);
        lgv_block_free(&b);
    }
    lgv_kernel_free(&k);
    lgv_model_free(m);
    print_message("%s, dt = %g: defect %.2g\n", method, dt, worst);
    return worst;
}

/* There and back again. */
static double way_back(const char *text, const char *method, double dt) {
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, method);
    size_t n = m->np;
    double x[64], y[64], worst = 0;
    struct lgv_own_block b;
    assert_true(lgv_block_create(&k, 0, dt, 5, 1, &b));
    k.entry->start(&b.block);
    for (size_t i = 0; i < 2 * n; i++) x[i] = y[i] = b.block.state[i * k.entry->lanes];
    lgv_block_free(&b);
    for (int way = 0; way < 2; way++) {
        for (uint64_t s = 0; s < 5; s++) assert_true(one_step_of(&k, 0, dt, 5, 0, s, x));
        for (size_t i = 0; i < n; i++) x[n + i] = -x[n + i];
    }
    for (size_t i = 0; i < 2 * n; i++) worst = fmax(worst, fabs(x[i] - y[i]));
    lgv_kernel_free(&k);
    lgv_model_free(m);
    print_message("%s: back to %.2g\n", method, worst);
    return worst;
}

/* Values of the state at the end. */
static void end_of(const char *text, const char *method, double dt, uint64_t steps, double *x) {
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, method);
    struct lgv_own_block b;
    assert_true(lgv_block_create(&k, 0, dt, 5, 1, &b));
    lgv_block_start(&k, &b, 0, k.entry->lanes);
    k.entry->advance(&b.block, steps);
    assert_int_equal(b.block.fail[0], 0);
    for (size_t i = 0; i < k.nx + k.np; i++) x[i] = b.block.state[i * k.entry->lanes];
    lgv_block_free(&b);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

#endif
