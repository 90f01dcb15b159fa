/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods made of others: compositions and splitting words.  A substep does what its step does alone, bit by bit;
 * orders, symplecticity and the number of force evaluations follow. */
#include "helpers.h"

#define HENON                                                                                                          \
    "coordinates: {x: 0.1, y: 0.2}\nmomenta: {px: 0.3, py: -0.1}\n"                                                    \
    "hamiltonian: px^2/2 + py^2/2 + x^2/2 + y^2/2 + x^2*y - y^3/3\n"
#define MIXED "coordinates: {q: 0.4}\nmomenta: {p: 1}\nhamiltonian: p^2/2*(1 + q^2/3) - cos(q) + p*q/5\n"
#define SPHERE                                                                                                         \
    "coordinates: {x: 1, y: 0, z: 0}\nmomenta: {px: 0, py: 1.1, pz: 0.3}\nhamiltonian: (px^2+py^2+pz^2)/2 + z\n"       \
    "constraints: [x^2+y^2+z^2-1]\n"
#define DRIVEN                                                                                                         \
    "coordinates: {q: 0.4}\nmomenta: {p: 1}\nhamiltonian: p^2/2*(1+0.3*sin(t)) - cos(q)*(1+0.5*cos(2*t))\n"

#define KEPLER                                                                                                         \
    "coordinates: {x: 0.7, y: 0}\nmomenta: {px: 0, py: 1.3627702877384937}\n"                                          \
    "hamiltonian: px^2/2 + py^2/2 - 1/sqrt(x^2 + y^2)\n"
#define RELATIVISTIC "coordinates: {q: 0.4}\nmomenta: {p: 1}\nhamiltonian: sqrt(1 + p^2) - cos(q)\n"
#define SHAKEN "coordinates: {q: 0.4}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)*(1+0.5*cos(2*t))\n"

static const double yoshida[] = {1.3512071919596576340, 1 - 2 * 1.3512071919596576340, 1.3512071919596576340};

/* ---- parts ---- */

static void begin_block(const struct lgv_kernel *k, double dt, struct lgv_own_block *b) {
    assert_true(lgv_block_create(k, 0, dt, 5, 1, b));
    lgv_block_start(k, b, 0, k->entry->lanes);
}

/* A composed step with the increment dW = 0.3 against three steps of its base with the parts of dt and dW. */
static void check_parts(const char *text, const char *base, bool noise) {
    struct lgv_model *m = model_of(text);
    char name[64];
    snprintf(name, sizeof name, "%s-Yoshida4", base);
    struct lgv_kernel whole = kernel_of(m, name), part = kernel_of(m, base);
    struct lgv_own_block a, b;
    double *dW = lgv_aligned(16), dt = 0.07;
    begin_block(&whole, dt, &a);
    begin_block(&part, dt, &b);
    size_t lanes = whole.entry->lanes;
    assert_int_equal(lanes, part.entry->lanes);
    for (int l = 0; l < 16; l++) dW[l] = 0.3;
    if (noise) a.block.given = dW;
    whole.entry->advance(&a.block, 1);
    for (int k = 0; k < 3; k++) {
        b.block.dt = yoshida[k] * dt;
        for (int l = 0; l < 16; l++) dW[l] = yoshida[k] * 0.3;
        if (noise) b.block.given = dW;
        part.entry->advance(&b.block, 1);
    }
    assert_int_equal(a.block.fail[0], 0);
    if (memcmp(a.block.state, b.block.state, (m->nx + m->np) * lanes * sizeof(double)) != 0)
        fail_msg("%s: %.17g is not %.17g", name, a.block.state[0], b.block.state[0]);
    lgv_block_free(&a);
    lgv_block_free(&b);
    free(dW);
    lgv_kernel_free(&whole);
    lgv_kernel_free(&part);
    lgv_model_free(m);
}

static void test_substeps(void **state) {
    (void)state;
    check_parts(HENON, "P2N2Q2Lob", false);
    check_parts(HENON "noise: 0.3*x*y\n", "P2N2Q2Lob", true);
    check_parts(HENON "noise: 0.3*x*y\n", "P1N2Q2Lob", true);
    check_parts(HENON "noise: 0.3*x*y\n", "P1N1Q2Gau", true);
    check_parts(MIXED "noise: 0.2*q*p\n", "P2N2Q2Lob", true);
    check_parts(MIXED "noise: 0.2*q*p\n", "P1N1Q2Gau", true);
    check_parts(SPHERE, "RATTLE", false);
    check_parts(SPHERE "noise: 0.2*x\n", "RATTLE", true);
}

/* BAB is the Stoermer-Verlet method, one force evaluation a step; so has ABA. */
static void test_words(void **state) {
    (void)state;
    struct lgv_model *m = model_of(HENON "noise: 0.1*x*y\n");
    static const char *const name[] = {"P2N2Q2Lob", "bab", "ABA", "ABABA", "BAB-Yoshida4"};
    static const unsigned evaluations[] = {101, 101, 100, 200, 301};
    struct lgv_own_block b[5];
    struct lgv_kernel k[5];
    for (int i = 0; i < 5; i++) {
        k[i] = kernel_of(m, name[i]);
        begin_block(&k[i], 0.05, &b[i]);
        k[i].entry->advance(&b[i].block, 100);
        if (b[i].block.evaluations != evaluations[i] * k[i].entry->vecs)
            fail_msg("%s: %llu evaluations", name[i], b[i].block.evaluations);
        for (size_t r = 0; i < 2 && r < 4 * k[i].entry->lanes; r++)
            assert_near(b[i].block.state[r], b[0].block.state[r], 1e-12, name[i]);
        assert_true(fabs(b[i].block.state[0] - b[0].block.state[0]) < 0.1);
    }
    for (int i = 0; i < 5; i++) {
        lgv_block_free(&b[i]);
        lgv_kernel_free(&k[i]);
    }
    lgv_model_free(m);
}

/* Bits do not depend on where a call begins, also where forces depend on time. */
static void test_calls(void **state) {
    (void)state;
    static const char *const name[] = {"P2N2Q2Lob-Suzuki4", "P2N2Q2Lob-Yoshida4", "BAB", "BA", "P1N1Q2Gau-Yoshida4",
                                       "P2N2Q2Lob-6", "P2N2Q2Lob-KahanLi6", "P2N2Q2Lob-8", "P2N2Q2Lob-KahanLi8",
                                       "P1N2Q2Lob-8", "BAB-8", "ABA-6", "BAB-8-Compensated", "ABA-Compensated"};
    static const char *const text[] = {DRIVEN "noise: 0.2*sin(q+t)\n", HENON "noise: 0.1*x*y\n"};
    for (size_t i = 0; i < 2 * sizeof name / sizeof *name; i++) {
        struct lgv_model *m = model_of(text[i % 2]);
        struct lgv_kernel k = kernel_of(m, name[i / 2]);
        struct lgv_own_block one, many;
        begin_block(&k, 0.1, &one);
        begin_block(&k, 0.1, &many);
        k.entry->advance(&one.block, 41);
        for (int s = 0; s < 41; s++) k.entry->advance(&many.block, 1);
        if (memcmp(one.block.state, many.block.state, (m->nx + m->np) * k.entry->lanes * sizeof(double)) != 0)
            fail_msg("%s depends on calls", name[i / 2]);
        lgv_block_free(&one);
        lgv_block_free(&many);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

/* Forces that depend on time are computed as seldom as others: the last substep ends where the next step begins. */
static void test_driven(void **state) {
    (void)state;
    static const char *const name[] = {"P2N2Q2Lob-Suzuki4", "P2N2Q2Lob-8", "BAB", "BAB-6", "ABA", "RKN4", "RKN8"};
    static const unsigned evaluations[] = {501, 2101, 101, 1301, 100, 601, 1900};
    struct lgv_model *m = model_of(SHAKEN "noise: 0.2*sin(q+t)\n");
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct lgv_kernel k = kernel_of(m, name[i]);
        struct lgv_own_block one, many;
        begin_block(&k, 0.1, &one);
        begin_block(&k, 0.1, &many);
        k.entry->advance(&one.block, 100);
        for (int s = 0; s < 100; s++) k.entry->advance(&many.block, 1);
        if (one.block.evaluations != evaluations[i] * k.entry->vecs)
            fail_msg("%s: %llu evaluations", name[i], one.block.evaluations);
        if (memcmp(one.block.state, many.block.state, (m->nx + m->np) * k.entry->lanes * sizeof(double)) != 0)
            fail_msg("%s depends on calls", name[i]);
        lgv_block_free(&one);
        lgv_block_free(&many);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* ---- compensated sums ---- */

/* The largest |H/H(0) - 1| of Henon-Heiles at every hundredth of 20000 steps of 0.05. */
static double energy_error(const char *method, const char *compiler) {
    struct lgv_model *m = model_of(HENON);
    struct lgv_kernel k = kernel_with(m, method, 0, compiler);
    struct lgv_own_block b;
    long double first = 0;
    double most = 0;
    begin_block(&k, 0.05, &b);
    for (int n = 0; n <= 100; n++) {
        const double *s = b.block.state;
        const size_t lanes = k.entry->lanes;
        long double x = s[0], y = s[lanes], px = s[2 * lanes], py = s[3 * lanes];
        long double H = (px * px + py * py + x * x + y * y) / 2 + x * x * y - y * y * y / 3;
        if (n == 0) first = H;
        most = fmax(most, (double)fabsl(H / first - 1));
        k.entry->advance(&b.block, 200);
    }
    lgv_block_free(&b);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    return most;
}

/* What is left is the rounding of the state that is shown, and what forces are rounded by.  Wherever a call ends the
 * rests stay: in test_calls. */
static void test_compensated(void **state) {
    (void)state;
    static const char *const name[][2] = {{"RKN8", "RKN8-Compensated"}, {"BAB-8", "BAB-8-Compensated"}};
    for (size_t i = 0; i < 2; i++) {
        double plain = energy_error(name[i][0], NULL), sum = energy_error(name[i][1], NULL);
        print_message("%s: %.1e, compensated %.1e\n", name[i][0], plain, sum);
        assert_true(plain > 2e-14 && sum < 2e-15);
        assert_true(energy_error(name[i][1], "gcc") == sum);
    }
}

/* ---- orders ---- */

static void final_state(struct lgv_model *m, const char *method, double dt, uint64_t steps, double *x) {
    struct lgv_kernel k = kernel_of(m, method);
    struct lgv_own_block b;
    begin_block(&k, dt, &b);
    k.entry->advance(&b.block, steps);
    assert_int_equal(b.block.fail[0], 0);
    for (size_t i = 0; i < m->nx + m->np; i++) x[i] = b.block.state[i * k.entry->lanes];
    lgv_block_free(&b);
    lgv_kernel_free(&k);
}

/* Slope of log error against log step over five steps, and its standard error: until / first, each `ratio` times as
 * small as the one before. */
static void check_slope(const char *text, const char *method, const char *reference, double order, double until,
                        double first, double ratio) {
    struct lgv_model *m = model_of(text);
    double exact[16], x[16], lx[5], ly[5], sx = 0, sy = 0, sxx = 0, sxy = 0, left = 0;
    final_state(m, reference, until / 4096, 4096, exact);
    for (int i = 0; i < 5; i++) {
        uint64_t steps = (uint64_t)lround(first * pow(ratio, i));
        double error = 0;
        final_state(m, method, until / (double)steps, steps, x);
        for (size_t j = 0; j < m->nx + m->np; j++) error += (x[j] - exact[j]) * (x[j] - exact[j]);
        sx += lx[i] = log(until / (double)steps);
        sy += ly[i] = 0.5 * log(error);
    }
    for (int i = 0; i < 5; i++) {
        sxx += (lx[i] - sx / 5) * (lx[i] - sx / 5);
        sxy += (lx[i] - sx / 5) * (ly[i] - sy / 5);
    }
    for (int i = 0; i < 5; i++) left += pow(ly[i] - sy / 5 - sxy / sxx * (lx[i] - sx / 5), 2);
    double slope = sxy / sxx, error = sqrt(left / 3 / sxx);
    print_message("%s: order %.4f +- %.4f\n", method, slope, error);
    /* the standard error tells how far the largest steps are from where only one term counts */
    double bend = order > 4 ? 0.0125 * order : 0.02; /* orders 6 and 8 meet round-off where others leave that range */
    if (!(error < fmax(0.05, 0.0125 * order) && fabs(slope - order) < bend + 3 * error))
        fail_msg("%s: order %g, expected %g", method, slope, order);
    lgv_model_free(m);
}

static void check_order(const char *text, const char *method, const char *reference, double order) {
    check_slope(text, method, reference, order, 2, 32, 2);
}

static void test_orders(void **state) {
    (void)state;
    check_order(HENON, "P2N2Q2Lob-Yoshida4", "P3N3Q6Gau", 4);
    check_order(HENON, "P2N2Q2Lob-Suzuki4", "P3N3Q6Gau", 4);
    check_order(MIXED, "P2N2Q2Lob-Suzuki4", "P3N3Q6Gau", 4);
    check_order(DRIVEN, "P1N1Q2Gau-Suzuki4", "P3N3Q6Gau", 4);
    check_order(SPHERE, "RATTLE-Yoshida4", "Lobatto4", 4);
    check_order(SPHERE, "RATTLE-Suzuki4", "Lobatto4", 4);
    check_order(HENON, "ABA-Suzuki4", "P3N3Q6Gau", 4);
    check_order(HENON, "ABA", "P3N3Q6Gau", 2);
    check_order(DRIVEN, "BAB", "P3N3Q6Gau", 2);
    check_order(HENON, "BA", "P3N3Q6Gau", 1);
}

/* Orders 4, 6 and 8 of every kind of base and of every table. */
static void test_high_orders(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double order, henon, kepler, ratio; /* steps to begin with; on Kepler the term dt^4 of RKN4 hides behind dt^6 */
    } row[] = {
        {"BlanesMoan4", 4, 100, 256, 1.5},         {"RKN4", 4, 100, 0, 1.5},
        {"P2N2Q2Lob-Yoshida6", 6, 120, 320, 1.4},  {"P2N2Q2Lob-KahanLi6", 6, 80, 200, 1.4},
        {"P2N2Q2Lob-6", 6, 80, 100, 1.4},          {"BlanesMoan6", 6, 80, 128, 1.4},
        {"RKN6", 6, 60, 64, 1.3},                  {"P2N2Q2Lob-SuzukiUmeno8", 8, 80, 128, 1.2},
        {"P2N2Q2Lob-Yoshida8", 8, 160, 300, 1.2},  {"P2N2Q2Lob-KahanLi8", 8, 60, 96, 1.2},
        {"P2N2Q2Lob-8", 8, 50, 72, 1.2},           {"RKN8", 8, 50, 64, 1.2},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        check_slope(HENON, row[i].name, "P3N3Q6Gau", row[i].order, 20, row[i].henon, row[i].ratio);
        if (row[i].kepler > 0)
            check_slope(KEPLER, row[i].name, "P3N3Q6Gau", row[i].order, 10, row[i].kepler, row[i].ratio);
    }
    check_slope(MIXED, "P1N1Q2Gau-6", "P3N3Q6Gau", 6, 2, 6, 1.3);
    check_slope(MIXED, "P2N2Q2Lob-8", "P3N3Q6Gau", 8, 6, 24, 1.2);
    check_slope(SPHERE, "RATTLE-6", "Lobatto4", 6, 2, 12, 1.4);
    check_slope(SPHERE, "RATTLE-8", "Lobatto4", 8, 2, 8, 1.25);
    check_slope(RELATIVISTIC, "BlanesMoan6", "P3N3Q6Gau", 6, 3, 8, 1.4);
    check_slope(SHAKEN, "RKN8", "P3N3Q6Gau", 8, 10, 48, 1.2);
    check_slope(SHAKEN, "BlanesMoan4", "P3N3Q6Gau", 4, 3, 16, 1.5);
    check_slope(DRIVEN, "P2N2Q2Lob-6", "P3N3Q6Gau", 6, 3, 16, 1.3);
}

/* Partitioned Runge-Kutta methods of the file are symmetric when their coefficients say so.  Velocity Verlet composed
 * is the built-in one composed; the same with kicks of unequal weight is no composition. */
static void test_file_tableau(void **state) {
    (void)state;
    struct lgv_model *m = model_of(HENON "methods:\n"
                                   "  leap: {a: [[0, 0], [1/2, 1/2]], abar: [[1/2, 0], [1/2, 0]], alpha: [1/2, 1/2],\n"
                                   "         b: [[0, 0], [1/2, 1/2]], bbar: [[1/2, 0], [1/2, 0]], beta: [1/2, 1/2]}\n"
                                   "  limp: {a: [[0, 0], [1/2, 1/2]], abar: [[1/2, 0], [1/2, 0]], alpha: [1/2, 1/2],\n"
                                   "         b: [[0, 0], [1/3, 2/3]], bbar: [[1/3, 0], [1/3, 0]], beta: [1/3, 2/3]}\n");
    const struct lgv_method *leap = lgv_method_for(m, "leap-6");
    assert_non_null(leap);
    assert_true(leap->order == 6 && leap->symplectic && !lgv_method_for(m, "limp-6"));
    assert_true(lgv_method_for(m, "leap")->symmetric && !lgv_method_for(m, "limp")->symmetric);
    struct lgv_kernel k = {0}, verlet = kernel_with(m, "verlet-6", 2, NULL);
    struct lgv_error err = {0};
    if (lgv_kernel_build(m, leap, &(struct lgv_kernel_options){0}, &k, &err) != LGV_OK) fail_msg("%s", err.message);
    double x[] = {0.1, -0.2, 0.3, 0.1}, y[] = {0.1, -0.2, 0.3, 0.1};
    for (uint64_t step = 0; step < 20; step++) {
        one_step_of(&k, 0, 0.1, 3, 1, step, x);
        one_step_of(&verlet, 0, 0.1, 3, 1, step, y);
    }
    for (int i = 0; i < 4; i++) assert_near(x[i], y[i], 1e-13, "leap-6");
    lgv_kernel_free(&k);
    lgv_kernel_free(&verlet);
    lgv_model_free(m);
}

/* Methods of the model file are composed like others: the midpoint rule under a name of one's own. */
static void test_file_methods(void **state) {
    (void)state;
    struct lgv_model *m = model_of(HENON "methods: {mine: {degree: 1, nodes: [1/2], weights: [1]}, "
                                         "skew: {degree: 1, nodes: [0], weights: [1]}}\n");
    double x[4], y[4];
    char why[400];
    const struct lgv_method *mine = lgv_method_for(m, "Mine-sofroniou-spaletta6");
    assert_non_null(mine);
    assert_string_equal(mine->name, "mine-6");
    assert_ptr_equal(lgv_method_for(m, "mine-6"), mine);
    assert_true(mine->order == 6 && lgv_method_for(m, "mine-4")->order == 4);
    struct lgv_kernel k;
    struct lgv_error err = {0};
    struct lgv_own_block b;
    if (lgv_kernel_build(m, mine, &(struct lgv_kernel_options){0}, &k, &err) != LGV_OK) fail_msg("%s", err.message);
    begin_block(&k, 0.1, &b);
    k.entry->advance(&b.block, 20);
    for (size_t i = 0; i < 4; i++) x[i] = b.block.state[i * k.entry->lanes];
    lgv_block_free(&b);
    lgv_kernel_free(&k);
    final_state(m, "P1N1Q2Gau-6", 0.1, 20, y);
    for (int i = 0; i < 4; i++) assert_near(x[i], y[i], 1e-12, "mine-6");
    assert_null(lgv_method_for(m, "skew-6"));
    lgv_method_unknown(m, "skew-6", why, sizeof why);
    assert_non_null(strstr(why, "symmetric in time, and skew is not"));
    assert_null(lgv_method_find("mine-6"));
    lgv_model_free(m);
}

/* ---- C functions ---- */

static void test_callbacks(void **state) {
    (void)state;
    static const char *const name[] = {"BAB", "ABABA", "P2N2Q2Lob-Yoshida4", "P1N1Q2Gau-Suzuki4", "P1N2Q2Lob-Yoshida4",
                                       "P2N2Q2Lob-8", "RKN8", "BlanesMoan6"};
    double q0 = 0.4, p0 = 1;
    struct lgv_callbacks c = {.name = "pendulum", .dof = 1, .noises = 1, .q0 = &q0, .p0 = &p0, .separable = 1,
                              .noise_of_q = 1, .constant_mass = 1, .value = pendulum_value,
                              .gradient = pendulum_gradient, .hessian = pendulum_hessian};
    struct lgv_model *m, *f = model_of("coordinates: {q: 0.4}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\n"
                                       "noise: 0.3*sin(q)\n");
    assert_int_equal(lgv_model_from_callbacks(&c, &m, NULL), LGV_OK);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct lgv_kernel a = kernel_of(m, name[i]), b = kernel_of(f, name[i]);
        double *x = final_values(&a, 0.1, 50, 20, 3, 1), *y = final_values(&b, 0.1, 50, 20, 3, 1);
        for (size_t j = 0; j < 20 * a.watch.count; j++) assert_near(x[j], y[j], 1e-12, name[i]);
        free(x);
        free(y);
        lgv_kernel_free(&a);
        lgv_kernel_free(&b);
    }
    lgv_model_free(m);
    lgv_model_free(f);
}

/* ---- names ---- */

static void test_names(void **state) {
    (void)state;
    static const char *const none[] = {"RK4-Yoshida4", "VZc-Yoshida4", "P1N1Q1Rec-Yoshida4", "P2N2Q4Gau-Suzuki4",
                                       "SHAKE-Suzuki4", "P2N2Q2Lob-Yoshida4-Suzuki4", "-Yoshida4", "AB-", "AABB", "A",
                                       "BB", "ABABABABAB", "ABC", "BA-Suzuki4",
                                       "RKN8-6", "verlet-5", "verlet-10", "verlet-66",
                                       "RK4-8", "-8", "verlet-6-8", "SHAKE-6", "verlet-Compensated", "-Compensated",
                                       "BAB-Compensated-4", "BAB-Compensated-GLA", "BAOAB-Compensated",
                                       "RKN8-Compensated-Compensated"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (lgv_method_find(none[i])) fail_msg("%s is a method", none[i]);
    char why[400];
    lgv_method_unknown(NULL, "RK4-Yoshida4", why, sizeof why);
    assert_non_null(strstr(why, "symmetric in time, and RK4 is not"));
    static const char *const relative[][2] = {{"VE-6", "RATTLE-6"},
                                              {"SVE-4", "RATTLE-Suzuki4"},
                                              {"symplectic-euler-8", "P2N2Q2Lob-8"},
                                              {"ZSEuler(0.3)-Suzuki4", "ZS(0.3)-Suzuki4"}};
    for (size_t i = 0; i < sizeof relative / sizeof *relative; i++) {
        lgv_method_unknown(NULL, relative[i][0], why, sizeof why);
        if (!strstr(why, relative[i][1])) fail_msg("%s: %s", relative[i][0], why);
        assert_non_null(lgv_method_find(relative[i][1]));
    }
    lgv_method_unknown(NULL, "gauss4-Suzuki4", why, sizeof why);
    assert_non_null(strstr(why, "P2N2Q4Gau has order 4"));
    static const char *const fault[][2] = {{"ABAA", "the same letter stands twice side by side"},
                                           {"bb", "the same letter stands twice side by side"},
                                           {"ABABABABAB", "a word has 9 letters at most"},
                                           {"BAB-Compensated-4", "-Compensated stands at the end"},
                                           {"BAB-Compensated-Compensated", "-Compensated is there twice"},
                                           {"BAOAB-Compensated", "words of A and B"},
                                           {"BAB-Compensated-GLA", "without compensated sums"},
                                           {"", "the name of the method is empty"}};
    for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) {
        lgv_method_unknown(NULL, fault[i][0], why, sizeof why);
        if (!strstr(why, fault[i][1])) fail_msg("%s, not %s", why, fault[i][1]);
    }
    assert_string_equal(lgv_method_find("verlet-yoshida4")->name, "P2N2Q2Lob-Yoshida4");
    assert_ptr_equal(lgv_method_find("verlet-yoshida4"), lgv_method_find("leapfrog-YOSHIDA4"));
    assert_string_equal(lgv_method_find("verlet-8")->name, "P2N2Q2Lob-8");
    assert_ptr_equal(lgv_method_find("verlet-sofroniou-spaletta8"), lgv_method_find("P2N2Q2Lob-8"));
    assert_ptr_equal(lgv_method_find("midpoint-4"), lgv_method_find("P1N1Q2Gau-Suzuki4"));
    assert_ptr_equal(lgv_method_find("ABA-Kahan-Li8"), lgv_method_find("aba-kahanli8"));
    assert_ptr_equal(lgv_method_find("rkn8"), lgv_method_find("RKN8"));
    lgv_method_unknown(NULL, "RKN8-6", why, sizeof why);
    assert_non_null(strstr(why, "RKN8 has order 8"));
    assert_string_equal(lgv_method_find("bab")->name, "BAB");
    assert_true(lgv_method_find("BABAB")->symmetric && !lgv_method_find("BABA")->symmetric);
    assert_string_equal(lgv_method_find("BAB-Yoshida4")->name, "BAB-Yoshida4");
}

static void check_fits(const char *text, const char *method, const char *reason) {
    struct lgv_model *m = model_of(text);
    struct lgv_structure s;
    char why[400] = "";
    assert_int_equal(lgv_model_structure(m, &s, NULL), LGV_OK);
    bool refused = lgv_method_refusal(lgv_method_find(method), m, &s, why, sizeof why);
    if (refused != (reason != NULL) || (reason && !strstr(why, reason))) fail_msg("%s: '%s'", method, why);
    lgv_model_free(m);
}

/* Orders hold where [B,[B,[B,A]]] = 0, and where a drift is a flow. */
static void test_fits(void **state) {
    (void)state;
    check_fits(HENON, "RKN8", NULL);
    check_fits(HENON "noise: 0.1*x*y\n", "RKN6", NULL);
    check_fits(SHAKEN, "RKN4", NULL);
    check_fits(RELATIVISTIC, "RKN8", "constant masses");
    check_fits(RELATIVISTIC, "BlanesMoan6", NULL);
    check_fits(HENON "noise: cos(px)\n", "RKN8", "every h");
    check_fits(DRIVEN, "BlanesMoan4", "do not depend on the time");
    check_fits(DRIVEN, "RKN4", "constant masses");
    check_fits(DRIVEN, "BAB-6", NULL);
    check_fits(MIXED, "BlanesMoan4", "separable");
    check_fits(SPHERE, "RKN4", "constraints");
    check_fits(SPHERE, "BAB-Compensated", "constraints");
    check_fits(HENON "noise: 0.1*x*y\n", "RKN6-Compensated", NULL);
    check_fits(HENON "force: {x: -0.1*px, y: 0}\n", "RKN6-Compensated", "does not use it");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_substeps),  cmocka_unit_test(test_words),     cmocka_unit_test(test_calls),
        cmocka_unit_test(test_orders), cmocka_unit_test(test_callbacks), cmocka_unit_test(test_names),
        cmocka_unit_test(test_high_orders), cmocka_unit_test(test_driven), cmocka_unit_test(test_file_methods),
        cmocka_unit_test(test_file_tableau), cmocka_unit_test(test_fits), cmocka_unit_test(test_compensated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
