/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The certificate sees a fault in any single degree of freedom of a large system: oscillators given as C functions, one
 * of which is pulled by another that is not pulled back.  And it sees changes of H and of momentum maps at every
 * step. */
#include <lgv/lgv.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define DOF 300

struct fault {
    size_t at, by; /* coordinate `at` feels `by` */
    double size;
};

static void value(void *user, const struct lgv_batch *b, double *H, double *h) {
    (void)user, (void)h;
    for (size_t l = 0; H && l < b->lanes; l++) {
        H[l] = 0;
        for (size_t i = 0; i < DOF; i++) {
            double q = b->q[i * b->lanes + l], p = b->p[i * b->lanes + l];
            H[l] += p * p / 2 + q * q / 2 + q * q * q * q / 40;
        }
    }
}

static void gradient(void *user, const struct lgv_batch *b, double *H_q, double *H_p, double *h_q, double *h_p) {
    const struct fault *f = user;
    (void)h_q, (void)h_p;
    for (size_t i = 0; i < DOF; i++)
        for (size_t l = 0; l < b->lanes; l++) {
            double q = b->q[i * b->lanes + l];
            double pull = i == f->at ? f->size * b->q[f->by * b->lanes + l] : 0;
            if (H_q) H_q[i * b->lanes + l] = q + q * q * q / 10 + pull;
            if (H_p) H_p[i * b->lanes + l] = b->p[i * b->lanes + l];
        }
}

static double defect(struct fault fault) {
    static double q0[DOF], p0[DOF];
    for (size_t i = 0; i < DOF; i++) q0[i] = cos((double)i), p0[i] = sin(3.0 * (double)i);
    struct lgv_callbacks c = {.name = "oscillators", .dof = DOF, .user = &fault, .q0 = q0, .p0 = p0, .separable = 1,
                              .noise_of_q = 1, .constant_mass = 1, .value = value, .gradient = gradient};
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    struct lgv_run *run = NULL;
    struct lgv_result *r = NULL;
    if (lgv_model_from_callbacks(&c, &m, &err) || lgv_run_create(m, &run, &err) ||
        lgv_run_set(run, "method", "verlet", &err) || lgv_run_set(run, "paths", "1", &err) ||
        lgv_run_set(run, "step", "0.1", &err) || lgv_run_set(run, "until", "2", &err) ||
        lgv_run_execute(run, &r, &err))
        fail_msg("%s", err.message);
    double d = lgv_result_symplectic_defect(r);
    lgv_result_free(r);
    lgv_run_free(run);
    lgv_model_free(m);
    return d;
}

static void test_every_degree_of_freedom(void **state) {
    (void)state;
    static const size_t at[] = {0, 1, 77, 150, 299};
    double sound = defect((struct fault){0, 2, 0});
    if (!(sound < 1e-11)) fail_msg("defect %g of a sound step", sound);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        /* a pull of 1e-3 changes omega by about 1e-3 dt, times the square of the parts, a hundredth */
        double d = defect((struct fault){at[i], (at[i] + 2) % DOF, 1e-3});
        if (!(d > 1e-8)) fail_msg("a fault in coordinate %zu is not seen: %g", at[i], d);
    }
}

/* The verdict `name` of a run with so many outputs and tallied paths. */
static double largest_change(struct lgv_model *m, const char *method, const char *outputs, const char *tally,
                             const char *lanes, const char *name) {
    struct lgv_error err = {0};
    struct lgv_run *run = NULL;
    struct lgv_result *r = NULL;
    enum lgv_status status = LGV_OK;
    if (lgv_run_create(m, &run, &err) || lgv_run_set(run, "method", method, &err) ||
        lgv_run_set(run, "outputs", outputs, &err) || lgv_run_set(run, "tally", tally, &err) ||
        lgv_run_set(run, "lanes", lanes, &err) || lgv_run_set(run, "paths", "40", &err) ||
        lgv_run_set(run, "step", "0.05", &err) || lgv_run_set(run, "until", "2.5", &err) ||
        lgv_run_set(run, "keep", "0", &err) || (status = lgv_run_execute(run, &r, &err)) != LGV_OK)
        fail_msg("%s: %d %s", method, status, err.message);
    size_t count;
    const struct lgv_verdict *v = lgv_result_verdicts(r, &count);
    double found = NAN;
    for (size_t i = 0; i < count; i++)
        if (strcmp(v[i].name, name) == 0) found = v[i].value;
    lgv_result_free(r);
    lgv_run_free(run);
    return found;
}

/* One output and a tally see what 50 outputs at all 50 steps see, to the last bit. */
static void test_every_step(void **state) {
    (void)state;
    static const struct {
        const char *text, *method, *name;
        bool tally;
    } cases[] = {
        {"coordinates: {q: 0.4}\nmomenta: {p: normal()}\nhamiltonian: p^2/2 - cos(q)\nnoise: 0.3*sin(q)\n", "verlet",
         "energy", true},
        {"coordinates: {q: 0.4}\nmomenta: {p: normal()}\nhamiltonian: p^2/2*(1+sin(q)/4) - cos(q)*sin(5*t)\n",
         "midpoint", "energy", true},
        {"coordinates: {x: 1, y: 0}\nmomenta: {px: 0, py: 1+0.1*normal()}\nhamiltonian: (px^2+py^2)/2 - "
         "1/sqrt(x^2+y^2)\nsymmetries: {rotation: [-y, x]}\n", "RK4", "momentum/rotation", true},
        {"coordinates: {x: 1, y: 0}\nmomenta: {px: 0, py: 1+0.1*normal()}\nhamiltonian: (px^2+py^2)/2 + y\n"
         "constraints: [x^2+y^2-1]\n", "RATTLE", "energy", true},
        {"coordinates: {x: 1, y: 0}\nmomenta: {px: 0, py: 1+0.1*normal()}\nhamiltonian: (px^2+py^2)/2 + y\n"
         "constraints: [x^2+y^2-1]\n", "SHAKE", "energy", false}, /* shows other momenta than it has: no tally */
        {"coordinates: {q: 0.4}\nvelocities: {v: 0.3+0.1*normal()}\nlagrangian: -sqrt(1-v^2) - q^2/2\n", "Lobatto3",
         "energy", true},
    };
    int between = 0; /* cases in which outputs alone miss the largest change */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lgv_error err = {0};
        struct lgv_model *m = NULL;
        if (lgv_model_parse(cases[i].text, "test", &m, &err)) fail_msg("%s", err.message);
        double seen = largest_change(m, cases[i].method, "50", "0", "0", cases[i].name);
        double tallied = largest_change(m, cases[i].method, "1", "40", "0", cases[i].name);
        double narrow = largest_change(m, cases[i].method, "1", "1000", "4", cases[i].name);
        double blind = largest_change(m, cases[i].method, "1", "0", "0", cases[i].name);
        between += blind < seen;
        if (tallied != (cases[i].tally ? seen : blind) || narrow != tallied)
            fail_msg("%s: %.17g and %.17g instead of %.17g", cases[i].method, tallied, narrow, seen);
        lgv_model_free(m);
    }
    assert_true(between >= 3);
}

/* Whether a verdict holds: 0 no, -1 nothing is claimed, or it could not be measured. */
static int holds_in(const char *text, const char *name) {
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    struct lgv_run *run = NULL;
    struct lgv_result *r = NULL;
    size_t count;
    int holds = 2;
    if (lgv_model_parse(text, "test", &m, &err) || lgv_run_create(m, &run, &err) || lgv_run_execute(run, &r, &err))
        fail_msg("%s", err.message);
    const struct lgv_verdict *v = lgv_result_verdicts(r, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(v[i].name, name) == 0) holds = v[i].holds;
    lgv_result_free(r);
    lgv_run_free(run);
    lgv_model_free(m);
    return holds;
}

/* Two bodies on a joint that have fallen 5e4 lengths of theirs: parts of the way are no measure of the joint.  */
static void test_fallen(void **state) {
    (void)state;
#define FALLING(method)                                                                                                \
    "coordinates: {'b[2] in SE3': {position: '[0, 0, 1.5 - i]'}}\nmomenta: {p: {angular: ['0.3*i', 0.2, 0.1]}}\n"      \
    "kinetic: {mass: 1, inertia: {b: [0.1, 0.1, 0.02]}}\npotential: 9.81*sum(i=1..2, b[i].position.z)\n"              \
    "constraints: ['b[1]*[0,0,-0.5] - b[2]*[0,0,0.5]']\nrun: {step: 0.01, until: 100, paths: 2, method: " method "}\n"
    assert_int_equal(holds_in(FALLING("RATTLE"), "symplectic"), 1);
    assert_int_equal(holds_in(FALLING("VE-adjoint"), "symplectic"), 1);
}

/* A small drift is no fault because H happens to be about 0 at the start; a run that blows up is one nevertheless. */
static void test_energy_scale(void **state) {
    (void)state;
    const char *rod = "coordinates: {q: pi/2}\nmomenta: {p: 0}\nhamiltonian: p^2/2 - cos(q)\n"
                      "run: {step: 0.01, until: 10, paths: 1, method: verlet}\n";
    const char *cancels = "coordinates: {q: 1}\nmomenta: {p: sqrt(2)+1e-13}\nhamiltonian: p^2/2 - 1/q\n"
                          "run: {step: 0.01, until: 3, paths: 20, method: verlet}\n";
    const char *large = "coordinates: {q: 1e-9}\nmomenta: {p: 0}\nhamiltonian: p^2/2 + q^2/2\n"
                        "run: {step: 2.1, until: 840, paths: 1, method: verlet}\n";
    assert_int_equal(holds_in(rod, "energy"), -1);
    assert_int_equal(holds_in(cancels, "energy"), -1);
    assert_int_equal(holds_in(large, "energy"), 0);
}

/* A path that fails leaves nothing behind in the tallies but what it was until then: seen at all outputs, it is the
 * same. */
static void test_failures(void **state) {
    (void)state;
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    struct lgv_run *run = NULL;
    double most[2];
    const char *text = "coordinates: {q: 0.4+0.1*normal()}\nmomenta: {p: 1+2*normal()}\n"
                       "hamiltonian: p^2/2*(1+q^2) - cos(q)\nnoise: 0.5*q*p\n";
    if (lgv_model_parse(text, "test", &m, &err)) fail_msg("%s", err.message);
    for (int way = 0; way < 2; way++) {
        struct lgv_result *r = NULL;
        size_t count;
        if (lgv_run_create(m, &run, &err) || lgv_run_set(run, "method", "verlet", &err) ||
            lgv_run_set(run, "outputs", way ? "1" : "40", &err) || lgv_run_set(run, "tally", way ? "64" : "0", &err) ||
            lgv_run_set(run, "paths", "64", &err) || lgv_run_set(run, "step", "0.1", &err) ||
            lgv_run_set(run, "until", "4", &err) || lgv_run_set(run, "keep", "0", &err) ||
            lgv_run_set(run, "rescue", "no", &err)) /* whose parts of a step only tallies see */
            fail_msg("%s", err.message);
        assert_int_equal(lgv_run_execute(run, &r, &err), LGV_FAILED_PATHS);
        assert_true(lgv_result_failed(r) > 3);
        const struct lgv_verdict *v = lgv_result_verdicts(r, &count);
        for (size_t i = 0; i < count; i++)
            if (strcmp(v[i].name, "energy") == 0) most[way] = v[i].value;
        lgv_result_free(r);
        lgv_run_free(run);
    }
    if (most[0] != most[1]) fail_msg("%.17g at outputs, %.17g by tallies", most[0], most[1]);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_degree_of_freedom),
                                       cmocka_unit_test(test_every_step), cmocka_unit_test(test_failures),
                                       cmocka_unit_test(test_energy_scale), cmocka_unit_test(test_fallen)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
