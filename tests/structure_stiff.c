/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods for stiff potentials: ZS is velocity Verlet in an effective potential; what is symplectic and reversible and
 * what is not; momenta; where linear forces become unstable; sparse against dense systems; paths that fail. */
#include "kernel/text/abi.h"
#include "stiff_steps.h"

/* ---- one step ---- */

#define HENON                                                                                                          \
    "coordinates: {x: 0.1, y: 0.2}\nmomenta: {px: 0.3, py: -0.1}\n"                                                    \
    "where: {V: x^2/2 + y^2/2 + x^2*y - y^3/3}\nhamiltonian: px^2/2 + py^2/2 + V\nstiff: V\n"
#define MASSES /* off the diagonal, and a term of first degree */                                                      \
    "coordinates: {x: 0.1, y: 0.2}\nmomenta: {px: 0.3, py: -0.1}\nwhere: {V: x^2/2 + y^2/2 + x^2*y - y^3/3}\n"         \
    "hamiltonian: px^2/2 + px*py/3 + py^2 + 0.1*px + V\nstiff: V\nnoise: 0.1*x*y\n"
#define DRIVEN                                                                                                         \
    "coordinates: {q: 0.3}\nmomenta: {p: 0.9}\nwhere: {V: (1 + 0.5*cos(t))*q^4/4}\nhamiltonian: p^2/2 + V\nstiff: V\n" \
    "noise: 0.3*sin(q + t)\n"
#define TURNED /* eigenvectors (1,1) and (1,-1) everywhere */                                                          \
    "coordinates: {x: 0.1, y: 0.5}\nmomenta: {px: 0.3, py: -0.1}\n"                                                    \
    "where: {V: (x + y)^2 + (x + y)^4 + cosh(x - y)}\nhamiltonian: px^2/2 + py^2/2 + V\nstiff: V\n"
#define LATTICE                                                                                                        \
    "parameters: {N: 24}\ncoordinates: {'x[N]': 0.2*sin(i)}\nmomenta: {p: 0.3*cos(2*i)}\n"                             \
    "where: {V: 'sum(i=1..N, (x[wrap(i+1)] - x[i])^2/2 + 0.25*x[i]^4)'}\npotential: V\nstiff: V\n"                     \
    "noise: ['each(k=1..N, 0.2*sin(x[k]))']\n"

/* As in structure_symplectic.c: 1e-11 is round-off of the differences; coefficients that are wrong by 1 % give 1e-4. */
static void test_symplectic(void **state) {
    (void)state;
    static const char *const text[] = {HENON, MASSES, DRIVEN, TURNED, LATTICE};
    static const char *const method[] = {"ZS(0.3)", "PushNewmark(0.3)", "ZS(1)-Suzuki4", "PushNewmark-Yoshida4"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        for (size_t k = 0; k < sizeof method / sizeof *method; k++)
            if (!(defect(text[i], method[k], 0.3) < 1e-11)) fail_msg("%s on model %zu", method[k], i);
    static const char *const good[] = {DRIVEN, TURNED};
    for (size_t i = 0; i < 2; i++) assert_true(defect(good[i], "ZSs(0.3)", 0.3) < 1e-11);
    static const char *const bad[] = {"ZSs(0.3)", "StiffZSs(0.3)", "Newmark(0.3)", "OneStepNewmark(0.3)"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) assert_true(defect(HENON, bad[k], 0.3) > 1e-6);
    assert_true(defect(LATTICE, "ZSs(0.3)", 0.3) > 1e-7);
}

/* Ten steps: round-off of 1e-16 a step, some of it amplified. */
static void test_reversible(void **state) {
    (void)state;
    static const char *const method[] = {"ZS",         "ZSs",         "StiffZSs", "Newmark",
                                         "PushNewmark", "ZSs-Suzuki4", "Newmark-6"};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++)
        if (!(way_back(HENON, method[k], 0.3) < 1e-13)) fail_msg("%s", method[k]);
    assert_true(way_back(HENON, "OneStepNewmark", 0.3) > 1e-8);
}

/* ---- the effective potential ---- */

#define EFFECTIVE(kinetic, a, b, c)                                                                                    \
    "parameters: {s: 0.3*0.3^2}\ncoordinates: {x: 0.4, y: 0.2}\nmomenta: {px: 0.3, py: -0.5}\nwhere:\n"                \
    "  V: x^2 + 2*y^2 + x^2*y + x^4/4 + y^4/5\n"                                                                       \
    "  Vx: 2*x + 2*x*y + x^3\n  Vy: 4*y + x^2 + 0.8*y^3\n"                                                             \
    "  a: " a " + s*(2 + 2*y + 3*x^2)\n  b: " b " + s*2*x\n  c: " c " + s*(4 + 2.4*y^2)\n"                             \
    "noise: 0.3*sin(x*y)\nhamiltonian: " kinetic " + V"
#define CORRECTED " - s/2*(c*Vx^2 - 2*b*Vx*Vy + a*Vy^2)/(a*c - b^2)"

/* U_eff = V - beta dt^2/2 V'.A^-1 V', with noise: 200 steps of round-off that grows a little. */
static void check_effective(const char *plain, const char *effective) {
    double x[4], y[4];
    end_of(plain, "ZS(0.3)", 0.3, 200, x);
    end_of(effective, "P2N2Q2Lob", 0.3, 200, y);
    for (int i = 0; i < 4; i++) assert_near(x[i], y[i], 1e-10, "effective potential");
    end_of(plain, "P2N2Q2Lob", 0.3, 200, y);
    assert_true(fabs(x[0] - y[0]) > 1e-3);
    double u[4], v[4];
    end_of(plain, "ZSEuler(0.3)", 0.3, 200, u);
    end_of(effective, "BA", 0.3, 200, v);
    for (int i = 0; i < 4; i++) assert_near(u[i], v[i], 1e-10, "variational Euler in the effective potential");
    assert_true(fabs(x[0] - u[0]) > 1e-3);
    end_of(plain, "ZS(0)", 0.3, 200, x);
    for (int i = 0; i < 4; i++) assert_near(x[i], y[i], 1e-10, "beta = 0");
}

static void test_effective(void **state) {
    (void)state;
    check_effective(EFFECTIVE("px^2/2 + py^2/4", "1", "0", "2"), EFFECTIVE("px^2/2 + py^2/4", "1", "0", "2") CORRECTED);
    /* M^-1 = ((2, 1), (1, 1)), M = ((1, -1), (-1, 2)) */
    check_effective(EFFECTIVE("px^2 + px*py + py^2/2", "1", "(-1)", "2"),
                    EFFECTIVE("px^2 + px*py + py^2/2", "1", "(-1)", "2") CORRECTED);
}

/* Newmark is PushNewmark in other variables: what is seen is the same, noise included, and so Newmark keeps the
 * symplectic form of those variables.  Newton's method leaves 1e-14 a step. */
static void test_newmark(void **state) {
    (void)state;
    static const char *const text[] = {HENON "noise: 0.2*x*y\n", MASSES, DRIVEN, LATTICE};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        struct lgv_model *m = model_of(text[i]);
        struct lgv_kernel a = kernel_of(m, "Newmark(0.3)"), b = kernel_of(m, "PushNewmark(0.3)");
        double *x = final_values(&a, 0.25, 40, 16, 3, 1), *y = final_values(&b, 0.25, 40, 16, 3, 1);
        for (size_t k = 0; k < 16 * a.watch.count; k++) assert_near(x[k], y[k], 1e-10, "Newmark and PushNewmark");
        free(x);
        free(y);
        x = final_values(&a, 0.25, 0, 16, 3, 1), y = final_values(&b, 0.25, 0, 16, 3, 1);
        for (size_t k = 0; k < 16 * a.watch.count; k++) assert_near(x[k], y[k], 1e-14, "start");
        free(x);
        free(y);
        lgv_kernel_free(&a);
        lgv_kernel_free(&b);
        lgv_model_free(m);
    }
}

/* ---- linear forces ---- */

/* Largest |q| of q'' = -(a + b) q in 2000 steps of 1, from q = 1 at rest. */
static double largest(const char *method, double a, double b) {
    char text[300];
    snprintf(text, sizeof text,
             "parameters: {a: %.17g, b: %.17g}\ncoordinates: {q: 1}\nmomenta: {p: 0}\n"
             "hamiltonian: p^2/2 + a*q^2/2 + b*q^2/2\nstiff: b*q^2/2\n",
             a, b);
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, method);
    struct lgv_own_block own;
    double most = 0;
    assert_true(lgv_block_create(&k, 0, 1, 5, 1, &own));
    lgv_block_start(&k, &own, 0, k.entry->lanes);
    for (int i = 0; i < 2000 && most < 1e6; i++) {
        k.entry->advance(&own.block, 1);
        most = fmax(most, fabs(own.block.state[0]));
    }
    lgv_block_free(&own);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    return most;
}

/* With w = dt omega Verlet with the force of ZS is stable for w^2/(1 + beta w^2) < 4: always from beta = 1/4 on, below
 * for w^2 < 4/(1 - 4 beta) = 20 when beta = 0.2.  With a split dt^2 (a + b)/(1 + beta dt^2 b) < 4. */
static void test_linear_stability(void **state) {
    (void)state;
    static const char *const name[] = {"ZS", "ZSs", "Newmark", "PushNewmark", "OneStepNewmark"};
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        char quarter[64], fifth[64];
        snprintf(quarter, sizeof quarter, "%s(0.25)", name[k]);
        snprintf(fifth, sizeof fifth, "%s(0.2)", name[k]);
        assert_true(largest(quarter, 0, 1e4) < 1e4);
        assert_true(largest(fifth, 0, 19.8) < 100);
        assert_true(largest(fifth, 0, 20.2) >= 1e6);
    }
    assert_true(largest("StiffZSs(0.45)", 19.8, 19.8) < 100 * 20 && largest("StiffZSs(0.45)", 20.2, 20.2) >= 1e6);
    assert_true(largest("StiffZSs(0.5)", 1e3, 1e3) < 1e4 && largest("StiffZSs(0.25)", 1e3, 1e3) >= 1e6);
    assert_true(largest("StiffZSs(0.25)", 3.9, 1e3) < 1e4);
}

/* ---- momenta ---- */

static void changes(const char *method, double *linear, double *angular) {
    static const char text[] =
        "parameters: {N: 5, k: 100}\ncoordinates: {'x[N] in R2': '[cos(i), sin(2*i)]'}\n"
        "momenta: {p: '[0.3*sin(i), 0.4*cos(3*i)]'}\n"
        "where: {V: 'sum(i=1..N, k/8*(dot(x[wrap(i+1)] - x[i], x[wrap(i+1)] - x[i]) - 1)^2)'}\npotential: V\nstiff: V\n"
        "symmetries: {shift: {x: '[1, 0]'}, turn: {x: '[-x[i].y, x[i].x]'}}\n";
    struct lgv_model *m = model_of(text);
    struct lgv_settings s = settings_for(m, method, 0.05, 20, 1);
    struct lgv_result r;
    s.check_states = 0;
    run_with(m, &s, LGV_OK, &r);
    *linear = series_of(&r, "shift")->drift;
    *angular = series_of(&r, "turn")->drift;
    print_message("%s: linear momentum %.2g, angular %.2g\n", method, *linear, *angular);
    lgv_result_clear(&r);
    lgv_model_free(m);
}

/* 400 steps of round-off, 1e-16 each times the size 3 of the momenta and forces. */
static void test_momenta(void **state) {
    (void)state;
    static const char *const keeps[] = {"ZS", "ZSEuler", "ZS-Suzuki4"};
    static const char *const half[] = {"ZSs", "StiffZSs", "Newmark", "PushNewmark"};
    double linear, angular;
    for (size_t k = 0; k < 3; k++) {
        changes(keeps[k], &linear, &angular);
        assert_true(linear < 1e-12 && angular < 1e-12);
    }
    for (size_t k = 0; k < 4; k++) {
        changes(half[k], &linear, &angular);
        assert_true(linear < 1e-12 && angular > 1e-5);
    }
}

/* ---- sparse and dense ---- */

/* A term with factor 0 between all coordinates makes the same system dense. */
static void check_sparse(const char *method) {
    static const char text[] =
        "parameters: {N: 12, none: 0}\ncoordinates: {'x[N] in R2': '[i, 0.1*sin(i)]'}\n"
        "momenta: {p: '[0.2*cos(i), 0]'}\n"
        "kinetic: {mass: 1.5}\n"
        "where:\n  V: '50*sum(i=2..N, (dot(x[i] - x[i-1], x[i] - x[i-1]) - 1)^2)'\n"
        "potential: sum(i=1..N, x[i].y) + V%s\nstiff: V%s\nnoise: 0.1*sum(i=1..N, sin(x[i].x))\n";
    static const char dense[] = " + none*sum(i=1..N, sum(j=1..N, (x[i].x + x[i].y)*(x[j].x + x[j].y)))";
    char model[2][1000];
    double x[2][48];
    snprintf(model[0], sizeof model[0], text, "", "");
    snprintf(model[1], sizeof model[1], text, dense, dense);
    for (int k = 0; k < 2; k++) end_of(model[k], method, 0.02, 50, x[k]);
    double worst = 0;
    for (int i = 0; i < 48; i++) worst = fmax(worst, fabs(x[0][i] - x[1][i]));
    print_message("%s: sparse and dense differ by %.2g\n", method, worst);
    assert_true(worst < 1e-11 && x[0][0] != 1);
}

static void test_sparse(void **state) {
    (void)state;
    static const char *const method[] = {"ZS", "StiffZSs", "Newmark", "OneStepNewmark", "ZS-Suzuki4"};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) check_sparse(method[k]);
}

/* ---- paths that fail ---- */

static int reason_of(const char *text, const char *method, double dt, uint64_t steps) {
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, method);
    struct lgv_own_block b;
    assert_true(lgv_block_create(&k, 0, dt, 5, 1, &b));
    lgv_block_start(&k, &b, 0, k.entry->lanes);
    if (steps) k.entry->advance(&b.block, steps);
    int reason = b.block.fail[0];
    assert_true(reason == 0 || isnan(b.block.state[0]));
    lgv_block_free(&b);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    return reason;
}

/* V'' = -2 everywhere, in one direction, or among many: 1 - 2 beta dt^2 vanishes at dt = 1.118 for beta = 0.4. */
static void test_indefinite(void **state) {
    (void)state;
    static const char *const text[] = {
        "coordinates: {q: 1}\nmomenta: {p: 0}\nhamiltonian: p^2/2 - q^2\n",
        ("coordinates: {x: 1, y: 1}\nmomenta: {px: 0, py: 0}\n"
         "hamiltonian: px^2/2 + px*py/10 + py^2/2 + 3*x^2 - 1.03*y^2\n"),
        "parameters: {N: 40}\ncoordinates: {'x[N]': i}\npotential: sum(i=2..N, (x[i] - x[i-1])^2/10) - x[20]^2\n"};
    static const char *const method[] = {"ZS", "Newmark", "OneStepNewmark", "ZS-Suzuki4"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
            if (k < 3 && reason_of(text[i], method[k], 1.05, 3) != 0) fail_msg("%s on model %zu failed", method[k], i);
            int reason = reason_of(text[i], method[k], k < 3 ? 1.25 : 2.5, 3);
            if (reason != LGV_FAIL_INDEFINITE) fail_msg("%s on model %zu: reason %d", method[k], i, reason);
        }
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) { /* its own variables are found at the start */
        assert_int_equal(reason_of(text[i], "PushNewmark", 1.05, 3), 0);
        assert_int_equal(reason_of(text[i], "PushNewmark", 1.25, 0), LGV_FAIL_INDEFINITE);
    }
}

/* ---- the double pendulum ---- */

#define RODS "coordinates: {x1: 0, y1: -1, x2: 1, y2: -2}\npotential: y1 + y2"
#define SPRINGS " + 200*((x1^2 + y1^2 - 1)^2 + ((x2 - x1)^2 + (y2 - y1)^2 - 2)^2)\n"

struct track {
    double x[101], y[101];
};

static struct track track_of(const char *text, const char *method, double dt, uint64_t every) {
    struct track t;
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, method);
    struct lgv_own_block b;
    unsigned lanes = k.entry->lanes;
    size_t at = watch_number(&k, "x2");
    double *out = lgv_aligned(k.watch.count * lanes);
    assert_true(lgv_block_create(&k, 0, dt, 5, 1, &b));
    lgv_block_start(&k, &b, 0, lanes);
    for (int i = 0; i <= 100; i++) {
        k.entry->observe(&b.block, out);
        t.x[i] = out[at * lanes];
        t.y[i] = out[watch_number(&k, "y2") * lanes];
        k.entry->advance(&b.block, every);
    }
    assert_int_equal(b.block.fail[0], 0);
    free(out);
    lgv_block_free(&b);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    return t;
}

/* Largest error of x2 and y2 for t <= 10 at dt = 0.1, omega = 20, against the rigid pendulum.  A program of its own has
 * 0.01810, 0.03206, 0.01995, 0.03397; the midpoint rule and SHAKE are in the same table.  What PushNewmark shows is
 * Newmark. */
static void test_double_pendulum(void **state) {
    (void)state;
    static const struct {
        const char *method;
        bool rods;
        double error;
    } row[] = {{"ZS", false, 0.0181},          {"ZSs", false, 0.032},         {"Newmark", false, 0.020},
               {"OneStepNewmark", false, 0.034}, {"PushNewmark", false, 0.020}, {"P1N1Q2Gau", false, 0.012},
               {"SHAKE", true, 0.0040}};
    static const char rods[] = RODS "\nconstraints: [x1^2 + y1^2 - 1, (x2 - x1)^2 + (y2 - y1)^2 - 2]\n";
    struct track exact = track_of(rods, "RATTLE-8", 0.01, 10);
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct track t = track_of(row[k].rods ? rods : RODS SPRINGS, row[k].method, 0.1, 1);
        double worst = 0;
        for (int i = 0; i <= 100; i++)
            worst = fmax(worst, fmax(fabs(t.x[i] - exact.x[i]), fabs(t.y[i] - exact.y[i])));
        print_message("%s: error %.5f\n", row[k].method, worst);
        assert_near(worst, row[k].error, 0.05 * row[k].error, row[k].method);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symplectic),       cmocka_unit_test(test_reversible), cmocka_unit_test(test_effective),
        cmocka_unit_test(test_newmark),          cmocka_unit_test(test_momenta),    cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_linear_stability), cmocka_unit_test(test_indefinite),
        cmocka_unit_test(test_double_pendulum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
