/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Brownian increments as numbers: what is kept is what the kernel used, bit for bit; a run with kept increments repeats
 * the paths; increments written by hand give states computed by hand. */
#include "helpers.h"

#include "out/out.h"

#include <unistd.h>

static char file[] = "/tmp/lgv-increments-XXXXXX";

static int make_file(void **state) {
    (void)state;
    int fd = mkstemp(file);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(file);
}

static void write_text(const char *text) {
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static bool same(const double *a, const double *b, size_t n) {
    return memcmp(a, b, n * sizeof *a) == 0;
}

/* The sum W that an exact solution is evaluated at is dW after one step from 0. */
static void kernel_uses(unsigned lanes, const char *compiler) {
    struct lgv_model *m = model_of("name: two\ncoordinates: { q: 0 }\nmomenta: { p: 1 }\nhamiltonian: p^2/2\n"
                                   "noise: [q, 0.5*q]\nexact:\n  q: W[1]\n  p: W[2]\n");
    struct lgv_kernel k = kernel_with(m, "VZ", lanes, compiler);
    struct lgv_own_block b;
    size_t n = k.entry->lanes, at = k.nx + k.np + k.nextra;
    double *told = lgv_aligned(8 * 4 * n);
    assert_true(told && lgv_block_create(&k, 0, 0.3, 11, 1, &b));
    lgv_block_start(&k, &b, 5, (unsigned)n);
    assert_int_equal(lgv_increments_rows(&k), 4);
    k.entry->increments(&b.block, 8, told);
    for (size_t step = 0; step < 8; step++) {
        for (size_t i = 0; i < 2 * n; i++) b.block.state[at * n + i] = 0;
        k.entry->advance(&b.block, 1);
        assert_true(same(b.block.state + at * n, told + step * 4 * n, 2 * n));
    }
    lgv_block_free(&b);
    free(told);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

static void test_kernel_uses_what_it_tells(void **state) {
    (void)state;
    kernel_uses(16, "clang");
    kernel_uses(4, "gcc");
}

/* A run that keeps its increments, then one that is given them: other paths number, other seed unless it starts at
 * random. */
static void round_trip(struct lgv_model *m, const char *method, const char *compiler, double truncate,
                       bool random_start, bool uses_dz) {
    struct lgv_settings s = settings_of(m), again;
    struct lgv_result one, two;
    struct lgv_increments x;
    struct lgv_error err = {0};
    snprintf(s.method, sizeof s.method, "%s", method);
    snprintf(s.compiler, sizeof s.compiler, "%s", compiler);
    s.step = 0.05;
    s.until = 2.5;
    s.truncate = truncate;
    s.outputs = 10;
    s.check_states = 1;
    again = s;
    s.paths = 40;
    s.seed = again.seed = 77;
    if (!random_start) again.seed = 1;
    s.keep_increments = again.keep_increments = true;
    snprintf(s.keep, sizeof s.keep, "3,17,38,5,20");
    run_with(m, &s, LGV_OK, &one);
    assert_true(one.increment && !one.integral == !uses_dz);
    if (truncate > 0) assert_true(one.truncated > 0);
    if (lgv_hdf5_write(&one, file, &err) != LGV_OK) fail_msg("%s", err.message);
    if (lgv_increments_read(file, m->nnoise, &x, &err) != LGV_OK) fail_msg("%s", err.message);
    again.increments = &x;
    run_with(m, &again, LGV_OK, &two);
    size_t each = 50 * m->nnoise;
    assert_int_equal(two.paths, 5);
    assert_int_equal(two.nsamples, 5);
    assert_int_equal(two.nseries, one.nseries);
    for (size_t k = 0; k < 5; k++)
        if (!same(one.sample[k].value, two.sample[k].value, one.nseries * one.ntimes))
            fail_msg("%s, %s: kept path %zu is another one", method, compiler, k);
    assert_true(same(one.increment, two.increment, 5 * each));
    if (uses_dz) assert_true(same(one.integral, two.integral, 5 * each));
    lgv_increments_free(&x);
    lgv_result_clear(&one);
    lgv_result_clear(&two);
}

static void test_round_trip(void **state) {
    (void)state;
    struct lgv_model *m = model_of("name: a\ncoordinates: { q: normal() }\nmomenta: { p: 1 }\n"
                                   "hamiltonian: p^2/2 - cos(q)\nnoise: [0.3*sin(q), 0.2*q, 0.1*cos(2*q)]\n");
    round_trip(m, "VZ", "clang", -1, true, true);
    round_trip(m, "P1N1Q2Gau", "gcc", 0.1, true, false);
    round_trip(m, "MRT32", "gcc", 0.1, true, true);
    lgv_model_free(m);
    /* more noises than are drawn for several steps at once */
    m = model_of("name: b\nparameters: { n: 20 }\ncoordinates:\n  x[n]: 0.1*i\nmomenta:\n  y: 1\nkinetic: { mass: 1 }\n"
                 "potential: sum(i=1..n, x[i]^4/4)\nnoise: each(k=1..n, 0.1*x[k]^2)\n");
    round_trip(m, "P2N2Q2Lob", "clang", -1, false, false);
    lgv_model_free(m);
    m = model_of("name: c\ncoordinates:\n  x in R3: [1, 0, 0]\nvelocities:\n  v: [0, 1, 0]\n"
                 "lagrangian: dot(v, v)/2 - x.z\nnoise_potential: 0.1*x.z\nconstraints: dot(x, x) - 1\n");
    round_trip(m, "RATTLE-J", "clang", -1, false, true);
    lgv_model_free(m);
}

/* A path that breaks down does so at the same step: the search for it goes back and takes the same increments. */
static void test_failures(void **state) {
    (void)state;
    struct lgv_model *m = model_of("name: fall\ncoordinates: { q: 1 }\nmomenta: { p: 0 }\nhamiltonian: p^2/2 - q^6\n"
                                   "noise: q\nrun: { method: EEM, step: 0.01, until: 10, paths: 8, bins: 0 }\n");
    struct lgv_settings s = settings_of(m);
    struct lgv_result one, two;
    s.keep_increments = true;
    run_with(m, &s, LGV_FAILED_PATHS, &one);
    struct lgv_increments x = {.file = one.model_name, .paths = 8, .steps = 1000, .noises = 1, .dW = one.increment};
    s.increments = &x;
    s.seed = 2;
    x.step = one.step;
    run_with(m, &s, LGV_FAILED_PATHS, &two);
    assert_true(one.nfailures > 2 && one.nfailures == two.nfailures);
    bool differ = false;
    for (size_t i = 0; i < one.nfailures; i++) {
        assert_int_equal(one.failure[i].path, two.failure[i].path);
        assert_int_equal(one.failure[i].step, two.failure[i].step);
        differ = differ || one.failure[i].step != one.failure[0].step;
    }
    assert_true(differ);
    lgv_result_clear(&one);
    lgv_result_clear(&two);
    lgv_model_free(m);
}

/* ---- C functions ---- */

static void gradient(void *user, const struct lgv_batch *b, double *H_q, double *H_p, double *h_q, double *h_p) {
    (void)user;
    for (size_t l = 0; l < b->lanes; l++) {
        if (H_q) H_q[l] = b->q[l];
        if (H_p) H_p[l] = b->p[l];
        if (h_q) h_q[l] = 0.5;
        if (h_p) h_p[l] = 0;
    }
}

static void test_callbacks(void **state) {
    (void)state;
    const double q0 = 0.5, p0 = 1;
    struct lgv_callbacks c = {
        .dof = 1, .noises = 1, .q0 = &q0, .p0 = &p0, .separable = 1, .noise_of_q = 1, .gradient = gradient};
    struct lgv_model *m = NULL;
    assert_int_equal(lgv_model_from_callbacks(&c, &m, NULL), LGV_OK);
    round_trip(m, "VZ", "", -1, false, true);
    round_trip(m, "P2N2Q2Lob", "", -1, false, false);
    lgv_model_free(m);
}

/* ---- by hand: dq = p dt, dp = -q dt - dW / 2 from (0.5, 1), step 0.1 ---- */

static const double hand_dW[2][3] = {{0.3, -0.2, 0.1}, {-1.5, 0.25, 0}},
                    hand_dZ[2][3] = {{0.01, 0.02, -0.03}, {0, 0.04, 1}};

static void kick_drift_kick(double *q, double *p, double first, double second) {
    *p -= 0.05 * *q + 0.5 * first;
    *q += 0.1 * *p;
    *p -= 0.05 * *q + 0.5 * second;
}

static void by_hand(const char *method, double *q, double *p, double dW, double dZ) {
    if (strcmp(method, "P2N2Q2Lob") == 0) {
        kick_drift_kick(q, p, 0.5 * dW, 0.5 * dW);
    } else if (strcmp(method, "VZ") == 0) {
        kick_drift_kick(q, p, dZ / 0.1, dW - dZ / 0.1);
    } else { /* midpoint: (x' - x) = J (x + x')/2 dt + (0, -dW/2), solved for the change of q */
        double a = 0.05, c = -0.5 * dW, x = *q, y = *p;
        *q = ((1 - a * a) * x + 2 * a * y + a * c) / (1 + a * a);
        *p = ((1 - a * a) * y - 2 * a * x + c) / (1 + a * a);
    }
}

static void hand_made(const char *method, const char *text) {
    struct lgv_model *m = model_of("name: oscillator\ncoordinates: { q: 0.5 }\nmomenta: { p: 1 }\n"
                                   "hamiltonian: p^2/2 + q^2/2\nnoise: q/2\nrun: { step: 0.1, truncate: 0 }\n");
    struct lgv_run *run = NULL;
    struct lgv_result *r = NULL;
    struct lgv_error err = {0};
    size_t times;
    write_text(text);
    assert_int_equal(lgv_run_create(m, &run, &err), LGV_OK);
    assert_int_equal(lgv_run_set(run, "method", method, &err), LGV_OK);
    if (lgv_run_increments(run, file, &err) != LGV_OK) fail_msg("%s", err.message);
    if (lgv_run_execute(run, &r, &err) != LGV_OK) fail_msg("%s", err.message);
    lgv_result_times(r, &times);
    assert_int_equal(times, 4); /* paths and end follow from the file */
    for (size_t k = 0; k < 2; k++) {
        const double *have_q = lgv_result_path(r, k, "q"), *have_p = lgv_result_path(r, k, "p");
        double q = 0.5, p = 1;
        assert_true(have_q && have_p);
        for (size_t i = 0; i < 3; i++) {
            by_hand(method, &q, &p, hand_dW[k][i], hand_dZ[k][i]);
            assert_near(have_q[i + 1], q, 1e-14, method);
            assert_near(have_p[i + 1], p, 1e-14, method);
        }
    }
    lgv_result_free(r);
    lgv_run_free(run);
    lgv_model_free(m);
}

static void test_by_hand(void **state) {
    (void)state;
    const char *one = "# dW\n0.3\n -0.2 # a comment\n0.1\n\n\n-1.5\n# between\n2.5e-1\n0", *both =
        "\n0.3\t0.01\n-0.2 0.02\n0.1 -0.03\n  \n-1.5 0\r\n0.25 0.04\n0 1\n\n";
    hand_made("P2N2Q2Lob", one);
    hand_made("P1N1Q2Gau", one);
    hand_made("VZ", both);
    hand_made("P2N2Q2Lob", both); /* dZ that is not used does no harm */
}

/* ---- what the functions give ---- */

static void test_api(void **state) {
    (void)state;
    struct lgv_model *m = model_of("name: o\ncoordinates: { q: 0.5 }\nmomenta: { p: 1 }\nhamiltonian: p^2/2 + q^2/2\n"
                                   "noise: q/2\nrun: { method: P2N2Q2Lob, step: 0.1, until: 0.3, paths: 2 }\n");
    struct lgv_run *run = NULL;
    struct lgv_result *r = NULL;
    struct lgv_error err = {0};
    size_t steps, noises;
    double dW[3];
    assert_int_equal(lgv_run_create(m, &run, &err), LGV_OK);
    assert_int_equal(lgv_run_execute(run, &r, &err), LGV_OK);
    assert_null(lgv_result_increments(r, 0, &steps, &noises)); /* not asked for */
    assert_true(steps == 0 && noises == 0);
    lgv_result_free(r);
    assert_int_equal(lgv_run_set(run, "keep_increments", "yes", &err), LGV_OK);
    assert_int_equal(lgv_run_set(run, "truncate", "0.1", &err), LGV_OK);
    assert_int_equal(lgv_run_execute(run, &r, &err), LGV_OK);
    const double *have = lgv_result_increments(r, 1, &steps, &noises);
    assert_true(have && steps == 3 && noises == 1);
    for (size_t i = 0; i < 3; i++) {
        increments_of(1, 1, i, 0.1, 1, dW);
        assert_near(have[i], dW[0], 1e-15, "dW");
    }
    assert_null(lgv_result_increments(r, 2, NULL, NULL));
    assert_null(lgv_result_integrals(r, 0));
    assert_near(lgv_result_increment_bound(r), sqrt(2 * 0.1 * 0.1 * -log(0.1)), 1e-15, "bound");
    lgv_result_free(r);
    write_text("0.1\n0.2\n0.3\n\n0\n0\n0\n");
    assert_int_equal(lgv_run_increments(run, file, &err), LGV_OK);
    assert_int_equal(lgv_run_increments(run, "/nowhere/at all", &err), LGV_BAD_INPUT); /* the first ones stay */
    assert_int_equal(lgv_run_execute(run, &r, &err), LGV_OK);
    assert_true(lgv_result_increments(r, 0, NULL, NULL)[2] == 0.3);
    lgv_result_free(r);
    assert_int_equal(lgv_run_increments(run, NULL, &err), LGV_OK);
    assert_int_equal(lgv_run_execute(run, &r, &err), LGV_OK);
    assert_true(lgv_result_increments(r, 0, NULL, NULL)[2] != 0.3);
    lgv_result_free(r);
    lgv_run_free(run);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_uses_what_it_tells), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_callbacks),                 cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_api),                       cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
