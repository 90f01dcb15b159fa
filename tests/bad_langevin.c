/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friction, baths and forces that make no sense, methods that do not know them, and words that are none: each is
 * refused, in words that name the fault. */
#include "helpers.h"

#define START "coordinates: {q: 0.3}\nmomenta: {p: 0.9}\n"
#define ONE START "hamiltonian: p^2/2 + q^2/2\n"
#define TWO "coordinates: {x: 0, y: 0}\nmomenta: {u: 0, v: 0}\nhamiltonian: u^2/2 + v^2 + x^2 + y^2\n"
#define BATH "langevin: {friction: 0.5, temperature: 1}\n"
#define SPHERE                                                                                                         \
    "coordinates: {x in R3: '[1, 0, 0]'}\nmomenta: {p: '[0, 1, 0]'}\nhamiltonian: dot(p, p)/2\n"                       \
    "constraints: dot(x, x) - 1\n"

static void has(const char *message, const char *words) {
    if (!strstr(message, words)) fail_msg("'%s' is not in: %s", words, message);
}

/* ---- model files ---- */

static void test_files(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *message;
    } row[] = {
        {"coordinates: {q: 0}\nmomenta: {p: maxwellian}\nhamiltonian: p^2\n", 2, 14, "p has no temperature"},
        {"coordinates: {q: 0}\nmomenta: maxwellian\npotential: q^2\n", 2, 10, "p_q has no temperature in langevin"},
        {"coordinates: {q: 0}\nmomenta: maxwellian\npotential: q^2\nlangevin: {friction: 1, temp: 1}\n", 4, 25,
         "unknown key temp; langevin has"},
        {"coordinates: {q: 0}\nmomenta: {p: maxwellian(-1)}\nhamiltonian: p^2\n", 2, 14, "the temperature is -1"},
        {"coordinates: {q: 0}\nmomenta: {p: maxwellian(q)}\nhamiltonian: p^2\n", 2, 25, "a temperature"},
        {"coordinates: {q: 0}\nmomenta: {p: maxwellian(1)*2}\nhamiltonian: p^2\n", 2, 14, "expected maxwellian, or"},
        {"coordinates: {q: maxwellian}\nmomenta: {p: 0}\nhamiltonian: p^2\n", 1, 18, "unknown name maxwellian"},
        {"coordinates: {q: 0}\nmomenta: {p: maxwellian(1)}\nhamiltonian: p^4\n", 2, 14, "quadratic in the momenta"},
        {"coordinates: {q: 0}\nmomenta: {p: maxwellian(1)}\nhamiltonian: p^2*(2 + t)\n", 2, 14, "at all times"},
        {"coordinates: {q: 0}\nmomenta: {p: maxwellian(1)}\nhamiltonian: q^2 - p^2\n", 2, 14, "not positive definite"},
        {"coordinates: {q: 0}\nmomenta: {p: maxwellian(1)}\nhamiltonian: q^2\n", 2, 14, "not positive definite"},
        {"coordinates: {x: 0, y: 0}\nmomenta: {u: 0, v: maxwellian(1)}\nhamiltonian: u^2 + v^2 + u*v\n", 2, 20,
         "the masses couple v and u: both are maxwellian, or none"},
        {"coordinates: {x: 0, y: 0}\nmomenta: {u: maxwellian(2), v: maxwellian(1)}\nhamiltonian: u^2 + v^2 + u*v\n", 2,
         14, "which have different temperatures"},
        {"coordinates: {'x[20]': 0}\nmomenta: {p: maxwellian(2)}\n"
         "hamiltonian: sum(i=1..20, p[i]^2 + 0.1*p[i]*p[wrap(i+1)])\n", 2, 14, "at most 16 momenta"},
        {"coordinates: {x: 0}\nvelocities: {v: maxwellian(1)}\nlagrangian: v^2/2 + v^4\n", 2, 17,
         "quadratic in the velocities"},
        {ONE "langevin: 0.5\n", 4, 11, "expected {friction: ..., temperature: ...}"},
        {ONE "langevin: {friction: 0.5}\n", 4, 11, "langevin needs temperature (kT)"},
        {ONE "langevin: {temperature: 1}\n", 4, 11, "langevin needs friction"},
        {ONE "langevin: {friction: 1, temperature: 1, seed: 3}\n", 4, 41, "unknown key seed"},
        {ONE "langevin: {friction: 1, friction: 2, temperature: 1}\n", 4, 25, "friction is given twice"},
        {ONE "langevin: {friction: -0.5, temperature: 1}\n", 4, 22, "the friction is -0.5"},
        {ONE "langevin: {friction: 0.5, temperature: -1}\n", 4, 40, "the temperature is -1"},
        {ONE "langevin: {friction: 0, temperature: 1}\n", 4, 22, "the friction is zero everywhere"},
        {ONE "langevin: {friction: p, temperature: 1}\n", 4, 22, "a function of the coordinates"},
        {ONE "langevin: {friction: 1, temperature: q}\n", 4, 38, "a temperature"},
        {ONE "langevin: {friction: 1 + t, temperature: 1}\n", 4, 26, "a function of the coordinates"},
        {ONE "langevin: {friction: [1, 2], temperature: 1}\n", 4, 22, "has one component for each"},
        {"coordinates: {'x[3]': 0}\nmomenta: {p: 0}\nhamiltonian: sum(i=1..3, p[i]^2/2)\n"
         "langevin: {friction: {'x[1]': 1}, temperature: 1}\n", 4, 24, "x[1] is one entry of x"},
        {"coordinates: {x: 0, y: 0}\nmomenta: {p: 0, r: 0}\nhamiltonian: p^2 + r^2\n"
         "langevin: {friction: 1, temperature: {x: 1}}\n", 4, 38, "y has friction, and no temperature"},
        {"parameters: {g: 1}\n" ONE "langevin: {friction: 1/(g-1), temperature: 1}\n", 5, 22, "the friction is inf"},
        {TWO "langevin: {friction: {z: 1}, temperature: 1}\n", 4, 23, "there is no coordinate z"},
        {TWO "langevin: {friction: [1], temperature: 1}\n", 4, 22, "each of the 2 degrees of freedom"},
        {TWO "langevin: {friction: [1, -1], temperature: 1}\n", 4, 26, "the friction is -1"},
        {TWO "langevin: {friction: {x: 1, y: -1}, temperature: 1}\n", 4, 32, "the friction is -1"},
        {SPHERE "langevin: {friction: {x: [1, 2, -3]}, temperature: 1}\n", 5, 33, "the friction is -3"},
        {"parameters: {g: 1}\n" TWO "langevin: {friction: [[1, 0], [0, 1/(g-1)]], temperature: 1}\n", 5, 35,
         "the friction is inf"},
        {TWO "langevin: {friction: [[1, 0]], temperature: 1}\n", 4, 22, "the friction matrix has 1 rows"},
        {TWO "langevin: {friction: [[1, 0], [0]], temperature: 1}\n", 4, 31, "a sequence of 2 numbers"},
        {TWO "langevin: {friction: [[1, 0], 0], temperature: 1}\n", 4, 31, "a sequence of 2 numbers"},
        {TWO "langevin: {friction: [[1, x], [x, 1]], temperature: 1}\n", 4, 27, "an entry of a friction matrix"},
        {TWO "langevin: {friction: [[1, 0.5], [0.4, 1]], temperature: 1}\n", 4, 22, "symmetric"},
        {TWO "langevin: {friction: [[1, 2], [2, 1]], temperature: 1}\n", 4, 22, "positive semidefinite"},
        {TWO "langevin: {friction: [[0, 1], [1, 1]], temperature: 1}\n", 4, 22, "positive semidefinite"},
        {TWO "langevin: {friction: [[1, 0], [0, 1]], temperature: [1, 2]}\n", 4, 53, "one temperature"},
        {TWO "langevin: {friction: 1, temperature: [1, -2]}\n", 4, 42, "the temperature is -2"},
        {ONE "langevin: {friction: 1, temperature: 1, fixman: yes}\n", 4, 49, "for models with constraints"},
        {SPHERE "langevin: {friction: 1, temperature: 1, fixman: maybe}\n", 5, 49, "expected yes or no"},
        {SPHERE "langevin: {friction: 1, temperature: 1, fixman: []}\n", 5, 49, "expected yes or no"},
        {SPHERE "langevin: {friction: 1, temperature: [1, 1, 2], fixman: yes}\n", 5, 38, "needs one temperature"},
        {SPHERE "langevin: {friction: 1, fixman: yes}\n", 5, 11, "langevin needs temperature"},
        {SPHERE "langevin: {friction: 1, temperature: 1, fixman: yes, fixman: yes}\n", 5, 54, "given twice"},
        {"coordinates: {x: 1, y: 0}\nvelocities: {u: 0, v: 0}\nlagrangian: (1 + x^2)*u^2/2 + v^2/2\n"
         "constraints: x^2 + y^2 - 1\nlangevin: {friction: 1, temperature: 1, fixman: yes}\n",
         5, 49, "constant masses"},
        {"coordinates: {'x[202] in R3': '[i, 0, 0]'}\nmomenta: {p: '[0, 0, 0]'}\nkinetic: {mass: 1}\npotential: '0'\n"
         "constraints: ['each(i=1..201, dot(x[i+1] - x[i], x[i+1] - x[i]) - 1)']\n"
         "langevin: {friction: 1, temperature: 1, fixman: yes}\n", 6, 49, "200 constraints at most"},
        {"coordinates: {'x[60]': 1}\nmomenta: {p: 0}\nkinetic: {mass: 1}\npotential: '0'\n"
         "constraints: ['each(k=1..55, sum(i=1..60, x[i]^k) - 60)']\n"
         "langevin: {friction: 1, temperature: 1, fixman: yes}\n", 6, 49, "share coordinates"},
        {TWO "force: [x]\n", 4, 8, "each of the 2 degrees of freedom"},
        {TWO "force: {z: x}\n", 4, 9, "there is no coordinate z"},
        {TWO "force: {v: -v}\n", 4, 9, "v is a momentum; what belongs to it stands under its coordinate, y"},
        {TWO "langevin: {friction: {u: 1}, temperature: 1}\n", 4, 23, "u is a momentum"},
        {"coordinates: {x: 0}\nvelocities: {w: 0}\nlagrangian: w^2/2\nforce: {w: -w}\n", 4, 9, "w is a velocity"},
        {TWO "force: x\n", 4, 8, "a sequence"},
        {ONE "force: normal()\n", 4, 8, "normal"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_model *m = NULL;
        struct lgv_error err = {0};
        if (lgv_model_parse(row[i].text, "bad.yaml", &m, &err) != LGV_BAD_INPUT) fail_msg("taken:\n%s", row[i].text);
        assert_null(m);
        has(err.message, row[i].message);
        if (err.line != row[i].line || err.column != row[i].column)
            fail_msg("%d:%d expected: %s", row[i].line, row[i].column, err.message);
    }
}

/* Semidefinite to round-off is taken: a matrix of rank one whose entries are rounded. */
static void test_rank_one(void **state) {
    (void)state;
    lgv_model_free(model_of(TWO "langevin: {friction: [[0.1, 0.3*0.7], [0.7*0.3, 0.441]], temperature: 1}\n"));
    lgv_model_free(model_of(TWO "langevin: {friction: [[0, 0], [0, 1]], temperature: 0}\n"));
}

/* ---- methods ---- */

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *name, *why;
    } row[] = {
        {"BAAOB", "twice side by side"},  {"OO", "twice side by side"},  {"UAB", "either U or A and O"},
        {"UBOBU", "either U or A and O"}, {"AO", "needs B"},             {"AOA", "needs B"},
        {"UO", "needs B"},                {"BO", "needs A"},             {"OBO", "needs A"},
        {"BABABAOABA", "9 letters"},      {"EEM-GLA", "GLA goes around"},
        {"RK4-GLA", "symplectic"},        {"Heun-GLA", "symplectic"},    {"BAOAB-GLA", "knows nothing of the bath"},
        {"SVE-Q-GLA", "knows nothing"},   {"LobZ-GLA", "no integrals"},  {"SHAKE-GLA", "hidden constraint"},
        {"XYZ-GLA", "is not a method"},   {"GLA", ""},                   {"-GLA", ""},
        {"BAOAB-4", "back in time"},      {"UBU-Yoshida4", "back"},      {"verlet-GLA-6", "back in time"},
        {"BAOA-4", "symmetric in time"},  {"U", ""},                     {"O", ""},
        {"BAOA-Metropolis", "symmetric"}, {"UBU-Metropolis", "with O"},  {"verlet-Metropolis", "a splitting"},
        {"P1N1Q2Gau-GLA-Metropolis", "explicit"}, {"Lobatto3-GLA-Metropolis", "RATTLE-GLA"},
        {"g-BAOA-Metropolis", "O at its ends"}, {"g-BAOAB-Metropolis", "no noise would ever enter"},
        {"g-UBU", "U has no flow"}, {"g-verlet", "splitting word"},
    };
    struct lgv_model *m = model_of(ONE BATH);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_settings s = settings_of(m);
        struct lgv_result r;
        struct lgv_error err = {0};
        snprintf(s.method, sizeof s.method, "%s", row[i].name);
        if (lgv_method_find(row[i].name)) fail_msg("%s is taken", row[i].name);
        assert_int_equal(lgv_engine_once(m, &s, NULL, NULL, NULL, &r, &err), LGV_BAD_INPUT);
        has(err.message, row[i].name);
        has(err.message, row[i].why);
    }
    static const char *const good[] = {"baoab", "BABAOABAB", "OBA", "UB", "verlet-gla", "verlet-4-GLA", "RATTLE-GLA1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_non_null(lgv_method_find(good[i]));
    assert_ptr_equal(lgv_method_find("baoab"), lgv_method_find("BAOAB"));
    lgv_model_free(m);
}

static void test_methods(void **state) {
    (void)state;
    static const struct {
        const char *text, *method, *why;
    } row[] = {
        {ONE BATH, "P2N2Q2Lob", "knows nothing of them"},
        {ONE BATH, "BAB", "knows nothing of them"},
        {ONE BATH, "RK4", "knows nothing of them"},
        {ONE BATH, "Heun", "knows nothing of them"},
        {ONE, "BAOAB", "for models with friction"},
        {ONE, "UBU", "for models with friction"},
        {ONE, "verlet-GLA", "for models with friction"},
        {ONE "force: -q\n", "P2N2Q2Lob", "a force without a potential"},
        {ONE "force: -q\n", "P1N1Q2Gau", "a force without a potential"},
        {ONE "force: -q\nnoise: q\n", "RK4", "without noise"},
        {ONE "force: -p\n", "RATTLE-Jc", "do not depend on velocities"},
        {ONE "force: -p\n", "RATTLE-weak2", "do not depend on velocities"},
        {ONE "force: -q\n" BATH, "P1N1Q2Gau-GLA", "a force without a potential"},
        {ONE "langevin: {friction: 1 + q^2, temperature: 1}\n", "UBU", "constant friction only"},
        {SPHERE BATH, "BAOAB", "constraint"},
        {SPHERE BATH, "UBU", "constraint"},
        {SPHERE BATH, "SVE-Q", "constraint"},
        {ONE, "SVE-Q", "for friction, a bath or forces"},
        {ONE, "BBK", "for friction, a bath or forces"},
        {SPHERE BATH, "RATTLE", "knows nothing of them"},
        {SPHERE "force: {x: '-p'}\n", "RATTLE-J", "do not depend on velocities"},
        {SPHERE "force: {x: '-p'}\n", "SHAKE", "do not depend on velocities"},
        {SPHERE "force: {x: '-p'}\n", "Lobatto3", "a force without a potential"},
        {SPHERE "force: {x: '-p'}\n" BATH, "g-BAOAB", "RATTLE-GLA"},
        {SPHERE "force: {x: '-p'}\n" BATH, "RATTLE", "knows nothing of them"},
        {SPHERE, "g-SVE-Q", "is for friction, a bath or forces"},
        {"coordinates: {x: 1, y: 0}\nvelocities: {u: 0, v: 0}\nlagrangian: (1 + y^2)*(u^2 + v^2)/2\n"
         "constraints: x^2 + y^2 - 1\nforce: {y: 1}\n", "SHAKE", "constant masses only"},
        {"coordinates: {x: 1}\nvelocities: {u: 0}\nlagrangian: 1 - sqrt(1 - u^2)\nforce: -u\n", "RATTLE",
         "quadratic in"},
        {START "hamiltonian: p^2/2*(1 + q^2)\n" BATH, "EEM", "constant masses"},
        {START "hamiltonian: p^2/2 + p^4\n" BATH, "BAOAB", "constant masses"},
        {START "hamiltonian: (2 + sin(t))*p^2/2\n" BATH, "BAOAB", "constant masses"},
        {START "hamiltonian: p^2/2 + p + q^2\n" BATH, "BAOAB", "first degree in p"},
        {START "hamiltonian: p^2/2 + p + q^2\n" BATH, "SVE-Q", "first degree in p"},
        {START "hamiltonian: p^2/2 + p*sin(t) + q^2\n" BATH, "BAOAB", "first degree in p"},
        {"coordinates: {x: 0, y: 0}\nmomenta: {u: 0, v: 0}\nhamiltonian: u^2 + v^2 + 4*u*v + x^2\n" BATH, "BAOAB",
         "positive masses"},
        {"coordinates: {x: 0, y: 0}\nmomenta: {u: 0, v: 0}\nhamiltonian: u^2 - v^2 + x^2\n" BATH, "BAOAB",
         "positive masses"},
        {ONE "langevin: {friction: 1, temperature: 0}\n", "OBABO-Metropolis", "a temperature above 0"},
        {ONE BATH "noise: q\n", "OBABO-Metropolis", "other noise"},
        {SPHERE BATH "noise: x.z\n", "RATTLE-GLA-Metropolis", "other noise"},
        {SPHERE BATH "force: {x: '[0, 0, 1]'}\n", "g-OBABO-Metropolis", "has no H"},
        {SPHERE BATH, "OBABO-Metropolis", "constraint"},
        {ONE BATH "force: [1]\n", "OBABO-Metropolis", "has no H"},
        {"coordinates: {x: 0, y: 0}\nmomenta: {u: 0, v: 0}\nhamiltonian: u^2 + v^2 + u*v + x^2\n"
         "langevin: {friction: 1, temperature: [1, 2]}\n", "BAOAB", "several temperatures need diagonal masses"},
        {"coordinates: {x: 0, y: 0}\nmomenta: {u: 0, v: 0}\nhamiltonian: u^2 + v^2 + u*v + x^2\n"
         "langevin: {friction: [1 + x^2, 1], temperature: 1}\n", "BAOAB", "needs diagonal masses"},
        {ONE BATH "noise: q*p\n", "BAOA", "do not depend on the momenta"},
        {ONE "langevin: {friction: q - 1, temperature: 1}\n", "BAOAB", "-0.7 at the start; it must be at least 0"},
        {ONE "langevin: {friction: 1/(q - 0.3), temperature: 1}\n", "BAOAB", "inf at the start; it must be a finite"},
        {ONE "langevin: {friction: sqrt(q - 1), temperature: 1}\n", "BAOAB", "nan at the start; it must be a finite"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_model *m = model_of(row[i].text);
        struct lgv_settings s = settings_of(m);
        struct lgv_result r;
        struct lgv_error err = {0};
        snprintf(s.method, sizeof s.method, "%s", row[i].method);
        s.paths = 4;
        s.until = 10 * s.step;
        if (lgv_engine_once(m, &s, NULL, NULL, NULL, &r, &err) != LGV_BAD_INPUT)
            fail_msg("%s is taken for\n%s", row[i].method, row[i].text);
        has(err.message, row[i].why);
        lgv_model_free(m);
    }
}

/* ---- increments ---- */

/* Those of a bath are not dW: they can neither be given nor be kept. */
static void test_increments(void **state) {
    (void)state;
    struct lgv_model *m = model_of(ONE "noise: 0.1*q\n" BATH);
    struct lgv_settings s = settings_of(m);
    struct lgv_result r;
    struct lgv_error err = {0};
    double dW[20] = {0}, dZ[20] = {0};
    const struct lgv_increments given = {
        .paths = 1, .steps = 10, .noises = 1, .step = s.step, .dW = dW, .dZ = dZ, .file = (char[]){"given"}};
    s.paths = 1;
    s.until = 10 * s.step;
    s.keep_increments = true;
    assert_int_equal(lgv_engine_once(m, &s, NULL, NULL, NULL, &r, &err), LGV_BAD_INPUT);
    has(err.message, "keep_increments: the noise of a bath");
    s.keep_increments = false;
    s.increments = &given;
    assert_int_equal(lgv_engine_once(m, &s, NULL, NULL, NULL, &r, &err), LGV_BAD_INPUT);
    has(err.message, "given: increments cannot be given to a model with `langevin`");
    lgv_model_free(m);
}

/* ---- parameters ---- */

/* A value that is refused in a file is refused when it is set later. */
static void test_parameters(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {g: 1, kT: 1, c: 0.5}\n" TWO
                                   "langevin: {friction: [[g, c], [c, g]], temperature: kT}\n");
    static const struct {
        const char *name, *message;
        double bad, good;
    } row[] = {{"g", "positive semidefinite", -1, 1},
               {"kT", "the temperature is -1", -1, 1},
               {"c", "positive semidefinite", 1.5, 0.5},
               {"g", "finite", INFINITY, 1}};
    struct lgv_engine *e = NULL;
    struct lgv_error err = {0};
    assert_int_equal(lgv_engine_create(m, &e, &err), LGV_OK);
    assert_int_equal(lgv_engine_set(e, "paths", "4", &err), LGV_OK);
    assert_int_equal(lgv_engine_set(e, "until", "0.1", &err), LGV_OK);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        enum lgv_status status = lgv_model_set(m, row[i].name, row[i].bad, &err);
        if (!status) status = lgv_engine_run(e, 0, 4, &err);
        assert_int_equal(status, LGV_BAD_INPUT);
        has(err.message, row[i].message);
        assert_int_equal(lgv_model_set(m, row[i].name, row[i].good, &err), LGV_OK);
    }
    if (lgv_engine_run(e, 0, 4, &err)) fail_msg("%s", err.message);
    lgv_engine_free(e);
    lgv_model_free(m);
}

/* C functions have no bath: methods that need one are refused. */
static void test_callbacks(void **state) {
    (void)state;
    static const char *const method[] = {"BAOAB", "UBU", "verlet-GLA", "SVE-Q", "BBK"};
    static const double q0[] = {0.2}, p0[] = {1};
    struct lgv_callbacks c = {.name = "pendulum", .dof = 1, .noises = 1, .q0 = q0, .p0 = p0, .separable = 1,
                              .noise_of_q = 1, .value = pendulum_value, .gradient = pendulum_gradient,
                              .hessian = pendulum_hessian};
    struct lgv_model *m = NULL;
    assert_int_equal(lgv_model_from_callbacks(&c, &m, NULL), LGV_OK);
    for (size_t i = 0; i < sizeof method / sizeof *method; i++) {
        struct lgv_settings s = settings_of(m);
        struct lgv_result r;
        struct lgv_error err = {0};
        snprintf(s.method, sizeof s.method, "%s", method[i]);
        s.paths = 4;
        s.until = 0.1;
        assert_int_equal(lgv_engine_once(m, &s, NULL, NULL, NULL, &r, &err), LGV_BAD_INPUT);
        has(err.message, i < 3 ? "for models with friction" : "for friction, a bath or forces");
    }
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_rank_one),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_increments),
        cmocka_unit_test(test_callbacks),
        cmocka_unit_test(test_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
