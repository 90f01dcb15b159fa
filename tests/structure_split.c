/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods for a declared split V = V0 + V1: what is symplectic and reversible; the step on linear forces, against
 * the trace that theory has for it, and so where it resonates; momenta; sparse against dense systems. */
#include "stiff_steps.h"

/* ---- one step ---- */

#define PLANE                                                                                                          \
    "coordinates: {x: 0.4, y: 0.2}\nmomenta: {px: 0.3, py: -0.5}\n"                                                    \
    "where: {V1: 2*x^2 + x*y + 3*y^2 + x^2*y/2 + x^4/4, V0: x*y^2/2 + cos(x - y)}\n"                                   \
    "hamiltonian: px^2/2 + py^2/4 + V0 + V1\nstiff: V1\n"
#define MASSES /* off the diagonal, and a term of first degree */                                                      \
    "coordinates: {x: 0.1, y: 0.2}\nmomenta: {px: 0.3, py: -0.1}\nwhere: {V: x^2/2 + y^2/2 + x^2*y - y^3/3}\n"         \
    "hamiltonian: px^2/2 + px*py/3 + py^2 + 0.1*px + V + cos(x*y)\nstiff: V\nnoise: 0.1*x*y\n"
#define DRIVEN                                                                                                         \
    "coordinates: {q: 0.3}\nmomenta: {p: 0.9}\nwhere: {V: (1 + 0.5*cos(t))*q^4/4}\n"                                   \
    "hamiltonian: p^2/2 + V + cos(q - t)\nstiff: V\nnoise: 0.3*sin(q + t)\n"
#define LATTICE                                                                                                        \
    "parameters: {N: 24}\ncoordinates: {'x[N]': 0.2*sin(i)}\nmomenta: {p: 0.3*cos(2*i)}\n"                             \
    "where: {V: 'sum(i=1..N, (x[wrap(i+1)] - x[i])^2/2 + 0.25*x[i]^4)'}\n"                                             \
    "potential: V + sum(i=1..N, cos(x[i] + x[wrap(i+2)]))\nstiff: V\nnoise: ['each(k=1..N, 0.2*sin(x[k]))']\n"

#define QUADRATIC /* with masses off the diagonal, a linear term, noise, and time in what is not stiff */              \
    "coordinates: {x: 0.4, y: 0.2}\nmomenta: {px: 0.3, py: -0.5}\n"                                                    \
    "where: {V1: 20*x^2 + x*y + 30*y^2 + x/4, V0: x^2*y/2 + cos(x - y + t)}\n"                                         \
    "hamiltonian: px^2/2 + px*py/3 + py^2/4 + V0 + V1\nstiff: V1\nnoise: 0.3*sin(x*y)\n"
#define MOLECULES                                                                                                      \
    "parameters: {N: 20}\ncoordinates: {'x[N]': 0.1*sin(i)}\nmomenta: {p: 0.3*cos(2*i)}\n"                             \
    "where: {V: 'sum(i=1..N/2, 40*(x[2*i] - x[2*i-1] - 0.1)^2)'}\n"                                                    \
    "potential: V + sum(i=1..N, cos(x[i] + x[wrap(i+1)]))\nstiff: V\nnoise: ['each(k=1..N, 0.2*sin(x[k]))']\n"

/* As in structure_symplectic.c: 1e-11 is round-off of the differences; coefficients that are wrong by 1 % give 1e-4. */
static void test_symplectic(void **state) {
    (void)state;
    static const char *const text[] = {PLANE, MASSES, DRIVEN, LATTICE};
    static const char *const method[] = {"Impulse(3)", "MOLLY(3)", "IMEX", "MOLLY(2)-Suzuki4", "IMEX-Yoshida4"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        for (size_t k = 0; k < (i < 3 ? sizeof method / sizeof *method : 3); k++)
            if (!(defect(text[i], method[k], 0.3) < 1e-11)) fail_msg("%s on model %zu", method[k], i);
    static const char *const quadratic[] = {QUADRATIC, MOLECULES};
    static const char *const good[] = {"GarciaArchilla", "Deuflhard", "Deuflhard-Suzuki4", "GarciaArchilla-Yoshida4"};
    static const char *const bad[] = {"Gautschi", "HochbruckLubich", "HairerLubich", "GrimmHochbruck"};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < (i < 1 ? 4 : 1); k++) {
            if (!(defect(quadratic[i], good[k], 0.3) < 1e-11)) fail_msg("%s on quadratic model %zu", good[k], i);
            if (!(defect(quadratic[i], bad[k], 0.3) > 1e-4)) fail_msg("%s on quadratic model %zu", bad[k], i);
        }
}

/* Ten steps: round-off of 1e-16 a step, some of it amplified. */
static void test_reversible(void **state) {
    (void)state;
    static const char *const method[] = {"Impulse(3)", "MOLLY(3)", "IMEX", "Impulse(2)-Suzuki4", "MOLLY(2)-6"};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++)
        if (!(way_back(PLANE, method[k], 0.3) < 1e-13)) fail_msg("%s", method[k]);
    static const char text[] = "coordinates: {x: 0.4, y: 0.2}\nmomenta: {px: 0.3, py: -0.5}\n"
                               "where: {V1: 20*x^2 + x*y + 30*y^2 + x/4}\n"
                               "hamiltonian: px^2/2 + px*py/3 + py^2/4 + V1 + x^2*y/2 + cos(x - y)\nstiff: V1\n";
    static const char *const filtered[] = {"Gautschi",     "Deuflhard",      "GarciaArchilla",       "HochbruckLubich",
                                           "HairerLubich", "GrimmHochbruck", "GrimmHochbruck-Suzuki4"};
    for (size_t k = 0; k < sizeof filtered / sizeof *filtered; k++)
        if (!(way_back(text, filtered[k], 0.3) < 1e-13)) fail_msg("%s", filtered[k]);
}

/* Every method for a split becomes Verlet with V1 as kicks of its own: for one inner step, the same map. */
static void test_one_inner_step(void **state) {
    (void)state;
    double x[4], y[4];
    end_of(PLANE "noise: 0.3*sin(x*y)\n", "Impulse(1)", 0.1, 100, x);
    end_of(PLANE "noise: 0.3*sin(x*y)\n", "P2N2Q2Lob", 0.1, 100, y);
    for (int i = 0; i < 4; i++) assert_near(x[i], y[i], 1e-11, "Impulse(1) is Verlet");
}

/* ---- exact flows ---- */

/* Against 3000 steps of order 8, whose round-off is 1e-13 a unit of time; one step is as good. */
static void check_exact(const char *text, const char *method, size_t n, uint64_t steps) {
    double x[64], y[64], worst = 0;
    end_of(text, method, 3.0 / (double)steps, steps, x);
    end_of(text, "RKN8", 0.001, 3000, y);
    for (size_t i = 0; i < 2 * n; i++) worst = fmax(worst, fabs(x[i] - y[i]) / (1 + fabs(y[i])));
    print_message("%s, %g steps: %.2g from the exact flow\n", method, (double)steps, worst);
    assert_true(worst < 1e-11);
}

static void test_exact(void **state) {
    (void)state;
    /* frequencies 5 and 1.6 about, a direction that bends down, one that is free but for a constant force, and masses
     * that couple them; molecules, with a linear term each */
    static const char all[] =
        "coordinates: {x: 0.4, y: 0.2, z: 0.1, u: 0}\nmomenta: {px: 0.3, py: -0.5, pz: 0.2, pu: 0.1}\n"
        "where: {V1: 10*(x - y)^2 + 2*x^2 + y - z^2/3 + x*z/5 + (x - u)/2}\n"
        "hamiltonian: px^2/2 + px*py/3 + py^2/4 + pz^2/2 + pz*pu/5 + pu^2 + V1\nstiff: V1\n";
    static const char molecules[] =
        "parameters: {N: 20}\ncoordinates: {'x[N]': i + 0.1*sin(i)}\nmomenta: {p: 0.3*cos(2*i)}\n"
        "kinetic: {mass: 1.5}\nwhere: {V: 'sum(i=1..N/2, 40*(x[2*i] - x[2*i-1] - 1)^2)'}\n"
        "potential: V\nstiff: V\n";
    static const char *const method[] = {"Gautschi",        "Deuflhard",    "GarciaArchilla",
                                         "HochbruckLubich", "HairerLubich", "GrimmHochbruck"};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) check_exact(all, method[k], 4, k < 3 ? 1 : 7);
    check_exact(molecules, "Deuflhard", 20, 1);
    check_exact(molecules, "GarciaArchilla-Suzuki4", 20, 2);
    /* Gautschi: with constant forces that are not in V1 too */
    static const char constant[] = "coordinates: {x: 0.4, y: 0.2}\nmomenta: {px: 0.3, py: -0.5}\n"
                                   "where: {V1: 20*x^2 + x*y + 30*y^2}\n"
                                   "hamiltonian: px^2/2 + px*py/3 + py^2/4 + V1 + 3*x - 2*y\nstiff: V1\n";
    check_exact(constant, "Gautschi", 2, 2);
}

/* With many inner steps of size d the impulse methods are the trigonometric ones up to (omega d)^2: a quarter with
 * twice as many. */
static void test_limit_of_inner_steps(void **state) {
    (void)state;
    static const char *const pair[][3] = {{"Impulse(100)", "Impulse(200)", "Deuflhard"},
                                          {"MOLLY(100)", "MOLLY(200)", "GarciaArchilla"}};
    for (int k = 0; k < 2; k++) {
        double x[3][4], error[2] = {0, 0};
        for (int i = 0; i < 3; i++) end_of(QUADRATIC, pair[k][i], 0.25, 20, x[i]);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 2; j++) error[j] = fmax(error[j], fabs(x[j][i] - x[2][i]));
        print_message("%s: %.3g and %.3g from %s\n", pair[k][0], error[0], error[1], pair[k][2]);
        assert_near(error[0] / error[1], 4, 0.05, pair[k][0]);
    }
}

/* ---- linear forces ---- */

#define LINEAR                                                                                                         \
    "coordinates: {q: 1}\nmomenta: {p: 0}\nparameters: {a: 0.5, w: 1}\n"                                             \
    "hamiltonian: p^2/2 + a*q^2/2 + w^2*q^2/2\nstiff: w^2*q^2/2\n"

static void set_frequency(struct lgv_model *m, struct lgv_kernel *k, double w) {
    struct lgv_error err = {0};
    set_parameter(m, "w", w);
    if (lgv_kernel_refresh(k, m, &err) != LGV_OK) fail_msg("%s", err.message);
}

/* The matrix of a step of size 1. */
static void matrix_of(struct lgv_model *m, struct lgv_kernel *k, double w, double J[4]) {
    set_frequency(m, k, w);
    for (int j = 0; j < 2; j++) {
        double x[2] = {j == 0, j == 1};
        assert_true(one_step_of(k, 0, 1, 5, 0, 0, x));
        J[j] = x[0];
        J[2 + j] = x[1];
    }
}

/* Angle x and strength b of the kicks: the trace is 2 (cos x - b sin x). */
struct kicked {
    double x, b;
};

static struct kicked impulse(double w, double a, long n) {
    double s = w / (2 * (double)n);
    return (struct kicked){2 * (double)n * asin(s), a / (2 * w * sqrt(1 - s * s))};
}

static struct kicked theory(const char *method, double w, double a) {
    const long n = 20;
    struct kicked r = impulse(w, a, n);
    if (strcmp(method, "IMEX") == 0) return (struct kicked){2 * atan(w / 2), a / (2 * w)};
    const double sinc = sin(w) / w, tangent = tan(w / 2) / (w / 2), b = a / (2 * w);
    const struct {
        const char *method;
        double psi1, phi;
    } filter[] = {
        {"Gautschi", tangent, 1},      {"Deuflhard", 1, 1},
        {"GarciaArchilla", sinc, sinc}, {"HochbruckLubich", tangent, sinc * (1 + pow(sin(w / 2), 2) / 3)},
        {"HairerLubich", sinc, 1},     {"GrimmHochbruck", sinc * sinc, sinc},
    };
    for (size_t k = 0; k < sizeof filter / sizeof *filter; k++)
        if (strcmp(method, filter[k].method) == 0) return (struct kicked){w, b * filter[k].psi1 * filter[k].phi};
    double mean = sin(r.x) / (2 * (double)n * tan(r.x / (2 * (double)n)));
    if (strcmp(method, "MOLLY(20)") == 0) r.b *= mean * mean;
    return r;
}

static const char *const linear[] = {"Impulse(20)",    "MOLLY(20)",       "IMEX",         "Gautschi",      "Deuflhard",
                                     "GarciaArchilla", "HochbruckLubich", "HairerLubich", "GrimmHochbruck"};

/* To round-off: 1e-13 of twenty inner steps. */
static void test_trace(void **state) {
    (void)state;
    struct lgv_model *m = model_of(LINEAR);
    for (size_t i = 0; i < sizeof linear / sizeof *linear; i++) {
        struct lgv_kernel k = kernel_of(m, linear[i]);
        for (double w = 0.3; w < 12; w += 0.37) {
            double J[4];
            matrix_of(m, &k, w, J);
            struct kicked r = theory(linear[i], w, 0.5);
            double size = 1e-12 * (1 + w) * (1 + fabs(r.b));
            assert_near(J[0] + J[3], 2 * (cos(r.x) - r.b * sin(r.x)), size, linear[i]);
            assert_near(J[0] * J[3] - J[1] * J[2], 1, size * (1 + fabs(r.b)), "volume");
        }
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* Largest |q| in 20000 steps of 1. */
static double largest(struct lgv_model *m, struct lgv_kernel *k, double w) {
    struct lgv_own_block own;
    double most = 0;
    set_frequency(m, k, w);
    assert_true(lgv_block_create(k, 0, 1, 5, 1, &own));
    lgv_block_start(k, &own, 0, k->entry->lanes);
    for (int i = 0; i < 20000 && most < 1e6; i++) {
        k->entry->advance(&own.block, 1);
        most = fmax(most, fabs(own.block.state[0]));
    }
    lgv_block_free(&own);
    return most;
}

/* The w at which n inner steps turn by x. */
static double turning(double x, long n) {
    return 2 * (double)n * sin(x / (2 * (double)n));
}

/* The impulse method is unstable for x from k pi - 2 arctan b to k pi, and there only; the mean along the stiff flow
 * takes that away, and the midpoint rule never turns by so much.  Near an end of the interval, 1e-3 from it, amplitudes
 * are large on the stable side too: about sqrt(b/1e-3) = 9 and less. */
static void test_resonances(void **state) {
    (void)state;
    struct lgv_model *m = model_of(LINEAR);
    struct lgv_kernel impulses = kernel_of(m, "Impulse(20)"), molly = kernel_of(m, "MOLLY(20)");
    struct lgv_kernel imex = kernel_of(m, "IMEX");
    for (int k = 1; k <= 3; k++) {
        const double end = k * acos(-1);
        double begin = end;
        for (int i = 0; i < 50; i++) begin = end - 2 * atan(impulse(turning(begin, 20), 0.5, 20).b);
        assert_true(largest(m, &impulses, turning(begin - 2e-3, 20)) < 30);
        assert_true(largest(m, &impulses, turning(begin + 5e-3, 20)) >= 1e6);
        assert_true(largest(m, &impulses, turning((begin + end) / 2, 20)) >= 1e6);
        assert_true(largest(m, &impulses, turning(end - 1e-3, 20)) >= 1e6);
        assert_true(largest(m, &impulses, turning(end + 1e-3, 20)) < 30);
        for (int i = -20; i <= 20; i++) {
            double w = turning(end + 0.01 * i, 20), growth = largest(m, &molly, w);
            if (growth >= 30) fail_msg("MOLLY at %d pi + %g: %g", k, 0.01 * i, growth);
            assert_true(largest(m, &imex, w) < 3);
        }
    }
    lgv_kernel_free(&impulses);
    lgv_kernel_free(&molly);
    lgv_kernel_free(&imex);
    lgv_model_free(m);
}

/* Where |trace| > 2 a step of a trigonometric method grows, elsewhere it does not: Deuflhard is unstable just below all
 * k pi, Gautschi and HochbruckLubich at odd ones, the filters that vanish there at none. */
static void test_filters(void **state) {
    (void)state;
    static const struct {
        const char *method;
        bool odd, even;
    } row[] = {{"Deuflhard", true, true},         {"Gautschi", true, false},       {"HochbruckLubich", true, false},
               {"GarciaArchilla", false, false}, {"HairerLubich", false, false}, {"GrimmHochbruck", false, false}};
    struct lgv_model *m = model_of(LINEAR);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_kernel k = kernel_of(m, row[i].method);
        for (int n = 1; n <= 4; n++) {
            bool unstable = n % 2 ? row[i].odd : row[i].even;
            double growth = largest(m, &k, n * acos(-1) - 1e-3);
            if ((growth >= 1e6) != unstable) fail_msg("%s below %d pi: %g", row[i].method, n, growth);
            for (double w = n * acos(-1) - 0.6; w < n * acos(-1) + 0.6; w += 0.0371) {
                struct kicked r = theory(row[i].method, w, 0.5);
                double half = fabs(cos(r.x) - r.b * sin(r.x)); /* of the trace */
                if (fabs(half - 1) < 1e-4) continue;
                growth = largest(m, &k, w);
                if ((growth >= 1e6) != (half > 1)) fail_msg("%s at %g: %g", row[i].method, w, growth);
            }
        }
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
}

/* IMEX is stable for a dt^2 < 4, whatever the frequency. */
static void test_imex_limit(void **state) {
    (void)state;
    static const double w[] = {0.5, 3, 100};
    struct lgv_model *m = model_of(LINEAR);
    struct lgv_kernel k = kernel_of(m, "IMEX");
    for (int i = 0; i < 3; i++) {
        set_parameter(m, "a", 3.9);
        assert_true(largest(m, &k, w[i]) < 100);
        set_parameter(m, "a", 4.1);
        assert_true(largest(m, &k, w[i]) >= 1e6);
    }
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* ---- momenta ---- */

/* 400 steps of round-off, 1e-16 each times the size 3 of the momenta and forces. */
static void test_momenta(void **state) {
    (void)state;
    static const char text[] =
        "parameters: {N: 5, k: 100}\ncoordinates: {'x[N] in R2': '[cos(i), sin(2*i)]'}\n"
        "momenta: {p: '[0.3*sin(i), 0.4*cos(3*i)]'}\n"
        "where: {V: 'sum(i=1..N, k/8*(dot(x[wrap(i+1)] - x[i], x[wrap(i+1)] - x[i]) - 1)^2)'}\n"
        "potential: V + sum(i=1..N, j=i+1..N, exp(-dot(x[i] - x[j], x[i] - x[j])))\nstiff: V\n"
        "symmetries: {shift: {x: '[1, 0]'}, turn: {x: '[-x[i].y, x[i].x]'}}\n";
    static const char *const method[] = {"Impulse(4)", "MOLLY(4)", "IMEX", "Impulse(2)-Suzuki4"};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        struct lgv_model *m = model_of(text);
        struct lgv_settings s = settings_for(m, method[k], 0.05, 20, 1);
        struct lgv_result r;
        s.check_states = 0;
        run_with(m, &s, LGV_OK, &r);
        double linear_drift = series_of(&r, "shift")->drift, angular = series_of(&r, "turn")->drift;
        print_message("%s: linear momentum %.2g, angular %.2g\n", method[k], linear_drift, angular);
        assert_true(linear_drift < 1e-12 && angular < 1e-12);
        assert_int_equal(series_of(&r, "shift")->claim, 1);
        assert_int_equal(series_of(&r, "turn")->claim, 1);
        lgv_result_clear(&r);
        lgv_model_free(m);
    }
}

/* Two bodies on one stiff spring without a length, V1 = 20 |x - y|^2: trigonometric integrators keep linear momenta,
 * and angular ones if the kick is a gradient.  Where V1 has not the symmetry of V nothing is promised. */
static void check_promises(const char *stiff, const char *method, int shift, int turn, bool turning_kept) {
    char text[600];
    snprintf(text, sizeof text,
             "coordinates: {'x in R2': '[1, 0]', 'y in R2': '[0.2, 0.3]'}\n"
             "momenta: {px: '[0.1, 0.5]', py: '[0, 0.3]'}\n"
             "hamiltonian: dot(px, px)/2 + dot(py, py)/4 + 20*dot(x, x) + 20*dot(y, y) - 40*dot(x, y) + "
             "exp(-dot(x - y, x - y))\nstiff: %s\n"
             "symmetries: {shift: {x: '[1, 0]', y: '[1, 0]'}, turn: {x: '[-x.y, x.x]', y: '[-y.y, y.x]'}}\n",
             stiff);
    struct lgv_model *m = model_of(text);
    struct lgv_settings s = settings_for(m, method, 0.1, 20, 1);
    struct lgv_result r;
    s.check_states = 0;
    run_with(m, &s, LGV_OK, &r);
    const struct lgv_series *a = series_of(&r, "shift"), *b = series_of(&r, "turn");
    print_message("%s: linear momentum %.2g, angular %.2g\n", method, a->drift, b->drift);
    assert_int_equal(a->claim, shift);
    assert_int_equal(b->claim, turn);
    assert_int_equal(a->drift < 1e-12, shift);
    assert_int_equal(b->drift < 1e-12, turning_kept);
    lgv_result_clear(&r);
    lgv_model_free(m);
}

static void test_promises(void **state) {
    (void)state;
    static const char both[] = "20*dot(x, x) + 20*dot(y, y) - 40*dot(x, y)", alone[] = "20*dot(x, x) + 20*dot(y, y)";
    check_promises(both, "Deuflhard", 1, 1, true);
    check_promises(both, "GarciaArchilla", 1, 1, true);
    check_promises(both, "GrimmHochbruck", 1, 0, true); /* central forces of two: kept, though not promised */
    check_promises(alone, "GarciaArchilla", 0, 1, true);
}

/* ---- sparse and dense ---- */

/* A term with factor 0 between all coordinates makes the same system dense. */
static void test_sparse(void **state) {
    (void)state;
    static const char text[] =
        "parameters: {N: 12, none: 0}\ncoordinates: {'x[N] in R2': '[i, 0.1*sin(i)]'}\n"
        "momenta: {p: '[0.2*cos(i), 0]'}\n"
        "kinetic: {mass: 1.5}\n"
        "where:\n  V: '50*sum(i=2..N, (dot(x[i] - x[i-1], x[i] - x[i-1]) - 1)^2)'\n"
        "potential: sum(i=1..N, x[i].y) + V%s\nstiff: V%s\nnoise: 0.1*sum(i=1..N, sin(x[i].x))\n";
    static const char dense[] = " + none*sum(i=1..N, sum(j=1..N, (x[i].x + x[i].y)*(x[j].x + x[j].y)))";
    static const char *const method[] = {"MOLLY(4)", "IMEX", "IMEX-Suzuki4"};
    char model[2][1000];
    snprintf(model[0], sizeof model[0], text, "", "");
    snprintf(model[1], sizeof model[1], text, dense, dense);
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        double x[2][48], worst = 0;
        for (int i = 0; i < 2; i++) end_of(model[i], method[k], 0.02, 50, x[i]);
        for (int i = 0; i < 48; i++) worst = fmax(worst, fabs(x[0][i] - x[1][i]));
        print_message("%s: sparse and dense differ by %.2g\n", method[k], worst);
        assert_true(worst < 1e-11 && x[0][0] != 1);
    }
}

/* ---- what does not fit ---- */

static void refused(const char *text, const char *method, const char *want) {
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k;
    struct lgv_error err = {0};
    struct lgv_kernel_options options = {0};
    const struct lgv_method *found = lgv_method_find(method);
    assert_non_null(found);
    if (lgv_kernel_build(m, found, &options, &k, &err) == LGV_OK) fail_msg("%s was not refused", method);
    if (!strstr(err.message, want)) fail_msg("%s: %s", method, err.message);
    lgv_model_free(m);
}

static void test_refusals(void **state) {
    (void)state;
#define Q "coordinates: {q: 1}\nmomenta: {p: 0}\n"
    refused(Q "hamiltonian: p^2/2 + q^2\n", "Impulse", "needs the stiff part of the potential");
    refused(Q "hamiltonian: p^2/2 + q^2\n", "Gautschi", "needs the stiff part of the potential");
    refused(Q "hamiltonian: p^2/2 + q^2 + q^4\nstiff: q^4\n", "Gautschi", "test.yaml:4:8: Gautschi needs a stiff part "
                                                                         "that is quadratic");
    refused(Q "hamiltonian: p^2/2 + q^2*(1 + t)\nstiff: q^2*(1 + t)\n", "Deuflhard", "test.yaml:4:8");
    refused(Q "hamiltonian: p^2/2 + 5*(q - sin(t))^2\nstiff: 5*(q - sin(t))^2\n", "Deuflhard", "test.yaml:4:8");
    refused(Q "hamiltonian: p^2/2 + q*abs(q)\nstiff: q*abs(q)\n", "Deuflhard", "test.yaml:4:8");
    refused(Q "hamiltonian: p^2/2 + q^2\nconstraints: q^2 - 1\npenalty: {omega: 3}\n", "Deuflhard", "test.yaml:5:10");
    refused(Q "hamiltonian: p^2/2 + q^2 + p\nstiff: q^2\n", "Deuflhard", "a term of first degree in p");
    refused(Q "hamiltonian: q^2 - p^2/2\nstiff: q^2\n", "Deuflhard", "test.yaml:3:14: trigonometric integrators need "
                                                                     "positive masses");
    refused("coordinates: {'x[600]': 0}\nwhere: {V: 'sum(i=2..600, (x[i] - x[i-1])^2)'}\npotential: V\nstiff: V\n",
            "Deuflhard", "test.yaml:4:8: the stiff part couples 600 coordinates");
#undef Q
    char why[400];
    lgv_method_explain(NULL, "Impulse(0)", why, sizeof why);
    assert_string_equal(why, "Impulse has a whole number of inner steps from 1 to 1000 in parentheses, as in "
                             "Impulse(8)");
    lgv_method_explain(NULL, "MOLLY(2.5)", why, sizeof why);
    assert_non_null(strstr(why, "MOLLY has a whole number"));
    assert_string_equal(lgv_method_find("r-RESPA(10)")->name, "Impulse(10)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symplectic), cmocka_unit_test(test_reversible),
        cmocka_unit_test(test_one_inner_step), cmocka_unit_test(test_trace), cmocka_unit_test(test_resonances),
        cmocka_unit_test(test_imex_limit), cmocka_unit_test(test_exact), cmocka_unit_test(test_limit_of_inner_steps),
        cmocka_unit_test(test_filters), cmocka_unit_test(test_refusals), cmocka_unit_test(test_momenta),
        cmocka_unit_test(test_sparse), cmocka_unit_test(test_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
