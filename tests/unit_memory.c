/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory and work of kernels of many degrees of freedom: linear where the step is, failures that say what they are. */
#include "helpers.h"
#include <sys/resource.h>
#include <unistd.h>

#define RING_OF(N)                                                                                                     \
    "parameters: {N: " N "}\ncoordinates: {'x[N]': 0.1}\nmomenta: {p: 0.2}\n"                                         \
    "hamiltonian: sum(i=1..N, p[i]^2/2 + (x[wrap(i+1)] - x[i])^2/2 + 0.25*x[i]^4)\n"
#define RING RING_OF("100")
#define NOISES "noise: ['each(k=1..N, 0.2*sin(x[k]))']\n"

/* Scratch in numbers per path and degree of freedom: what a step has made of it. */
static double scratch_of(struct lgv_model *m, const char *method) {
    struct lgv_kernel k = kernel_of(m, method);
    struct lgv_own_block b;
    assert_true(lgv_block_create(&k, 0, 0.1, 1, 1, &b));
    lgv_block_start(&k, &b, 0, k.entry->lanes);
    k.entry->advance(&b.block, 2);
    for (size_t l = 0; l < k.entry->lanes; l++) assert_int_equal(b.block.fail[l], LGV_FAIL_NONE);
    double bytes = (double)b.block.scratch->room / (double)k.entry->lanes;
    lgv_block_free(&b);
    lgv_kernel_free(&k);
    return bytes / sizeof(double) / (double)m->np;
}

/* A hundred degrees of freedom show a matrix: it would have 100 numbers for each of them. */
static void test_explicit_steps(void **state) {
    (void)state;
    static const char *const methods[] = {"P2N2Q2Lob", "VZc", "EEM", "Heun", "P1N1Q1Rec", "P2N2Q2LobN1Q1Rec"};
    struct lgv_model *m = model_of(RING "noise: 0.1*x[1]\n");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        double each = scratch_of(m, methods[i]);
        if (each > 60) fail_msg("%s: %g per degree of freedom", methods[i], each);
    }
    lgv_model_free(m);
}

static int (*really_grow)(struct lgv_scratch *, unsigned long long);
static int grown;
static int grow_slowly(struct lgv_scratch *s, unsigned long long bytes) {
    (void)bytes;
    grown++;
    return really_grow(s, s->wanted); /* no more than it asks for: as many beginnings as there can be */
}

/* A call that has to begin again, many times and in the middle of its steps, gives the same bits. */
static void test_growing(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {'q[20]': 0.1+0.2*normal()}\nmomenta: {'p[20]': 0.3}\n"
                                   "hamiltonian: 'sum(i=1..20, p[i]^2/2*(1 + q[i]^2/4) - cos(q[i])) + "
                                   "sum(i=1..20, j=1..20, 0.001*q[i]*p[j]^2)'\n"
                                   "noise: ['0.2*sin(q[1])', '0.1*cos(q[2])*p[2]']\n");
    static const char *const methods[] = {"P1N1Q2Gau", "P2N2Q2Lob", "IEM", "P2N2Q4Gau"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct lgv_kernel k = kernel_of(m, methods[i]);
        struct lgv_own_block b[2];
        for (int j = 0; j < 2; j++) {
            assert_true(lgv_block_create(&k, 0, 0.1, 1, 1, &b[j]));
            lgv_block_start(&k, &b[j], 0, k.entry->lanes);
        }
        k.entry->advance(&b[0].block, 3);
        really_grow = b[1].block.scratch->grow;
        b[1].block.scratch->grow = grow_slowly;
        grown = 0;
        k.entry->advance(&b[1].block, 3);
        assert_true(grown > 3);
        assert_int_equal(b[0].block.iterations, b[1].block.iterations);
        assert_memory_equal(b[0].block.state, b[1].block.state, k.nstate * k.entry->lanes * sizeof(double));
        for (int j = 0; j < 2; j++) lgv_block_free(&b[j]);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

static int never(struct lgv_scratch *s, unsigned long long bytes) {
    (void)s, (void)bytes;
    return 0;
}

/* Too little scratch and no memory fails the paths of the block, with its reason; the program goes on. */
static void test_overrun(void **state) {
    (void)state;
    struct lgv_model *m = model_of(RING "noise: 0.1*x[1]\n");
    struct lgv_kernel k = kernel_of(m, "P2N2Q2Lob");
    struct lgv_own_block b;
    assert_true(lgv_block_create(&k, 0, 0.1, 1, 1, &b));
    lgv_block_start(&k, &b, 0, k.entry->lanes);
    b.block.scratch->grow = never;
    k.entry->advance(&b.block, 1);
    assert_true(b.block.scratch->wanted > b.block.scratch->room);
    assert_int_equal(b.block.step, 1);
    for (size_t l = 0; l < k.entry->lanes; l++) {
        assert_int_equal(b.block.fail[l], LGV_FAIL_SCRATCH);
        assert_true(isnan(b.block.state[l]));
    }
    assert_non_null(strstr(lgv_fail_text(LGV_FAIL_SCRATCH), "not enough memory"));
    lgv_block_free(&b);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* The message says how much was asked for. */
static void test_message(void **state) {
    (void)state;
#ifdef __has_feature
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
    skip(); /* its shadow memory needs all addresses */
#endif
    struct lgv_model *m = model_of("coordinates: {'q[400]': 0.1}\nmomenta: {'p[400]': 0}\nnoise: 0.1*q[1]\n"
                                   "hamiltonian: 'sum(i=1..400, j=1..400, p[i]^2/800*(1 + q[j]^2))'\n");
    /* not separable, and every site coupled to every other: dense matrices of 200 MB or more, beyond what the heap may
     * have left */
    struct lgv_kernel k = kernel_of(m, "IEM");
    uint64_t time_step[2] = {0, 1};
    struct lgv_plan plan = {.kernel = &k, .dt = 0.1, .steps = 1, .paths = 16, .seed = 1, .coarsen = 1, .ntimes = 2};
    struct lgv_run_report report;
    struct lgv_error err = {0};
    struct rlimit old, little;
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu", &pages), 1);
    fclose(f);
    plan.time_step = time_step;
    plan.threads = 1;
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    little = (struct rlimit){pages * (rlim_t)sysconf(_SC_PAGESIZE) + 8000000, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
    enum lgv_status status = lgv_ensemble_run(&plan, NULL, 0, NULL, NULL, &report, &err);
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
    assert_int_equal(status, LGV_CANNOT_RUN);
    if (!strstr(err.message, "out of memory") || !strstr(err.message, " MB")) fail_msg("%s", err.message);
    free(report.snapshot);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* Arguments of all nodes that the text of a kernel is made from. */
static double nodes_of(const char *text_of_model) {
    struct lgv_model *m = model_of(text_of_model);
    struct lgv_structure s;
    struct lgv_watch watch;
    struct lgv_width width = {4, 1, true, false};
    assert_int_equal(lgv_model_structure(m, &s, NULL), LGV_OK);
    assert_int_equal(lgv_kernel_watch(m, &watch, NULL), LGV_OK);
    char *text = lgv_kernel_source(m, lgv_method_find("VZc"), &s, &watch, &width, NULL);
    assert_non_null(text);
    double n = (double)m->graph->nargs;
    free(text);
    lgv_kernel_watch_free(&watch);
    lgv_model_free(m);
    return n;
}

static void test_correction_is_linear(void **state) {
    (void)state;
    double one = nodes_of(RING_OF("200") NOISES), two = nodes_of(RING_OF("400") NOISES);
    if (two > 2.2 * one) fail_msg("%g arguments for 200 sites and noises, %g for 400", one, two);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explicit_steps),
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_overrun),
        cmocka_unit_test(test_message),
        cmocka_unit_test(test_correction_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
