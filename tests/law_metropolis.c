/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Metropolis' rule on constraint sets and for bodies whose free motion is an equation: stationary laws against
 * quadrature at steps where the method itself is far off or fails, rejected proposals, and their counts. */
#include "helpers.h"

/* A narrow valley around the equator of the sphere. */
#define SPHERE                                                                                                         \
    "coordinates: {x: 1, y: 0, z: 0}\nmomenta: {u: 0, v: '0.5*normal()', w: '0.2*normal()'}\n"                         \
    "hamiltonian: (u^2 + v^2 + w^2)/2 + 50*z^2 + x\nconstraints: x^2 + y^2 + z^2 - 1\n"                                \
    "langevin: {friction: %s, temperature: 1}\nobserve: {a: z^2, b: x}\n"
/* Newton's method finds one of up to four solutions on a torus: from the end of a step it may find another one. */
#define TORUS                                                                                                          \
    "coordinates: {x: 1.5, y: 0, z: 0}\nmomenta: {u: 0, v: '0.3*normal()', w: '0.3*normal()'}\n"                       \
    "hamiltonian: (u^2 + v^2 + w^2)/2 + 1.5*x + 4*z^2\n"                                                               \
    "constraints: (sqrt(x^2 + y^2) - 1)^2 + z^2 - 0.25\n"                                                              \
    "langevin: {friction: 1, temperature: 1}\nobserve: {a: z^2, b: x, c: 2*(sqrt(x^2 + y^2) - 1)}\n"
/* A dipole in a field; and one in a fluid and a trap, whose inertia couples translation and rotation.  R solves an
 * equation for their free motion. */
#define DIPOLE                                                                                                         \
    "coordinates: {R in SO3: uniform}\nmomenta: {m: maxwellian}\nkinetic: {inertia: '[0.5, 0.7, 0.9]'}\n"              \
    "potential: -10*R.zz\nlangevin: {friction: %s, temperature: 1}\nobserve: {a: R.zz, b: R.zz^2}\n"
#define CARRIED                                                                                                        \
    "coordinates: {B in SE3 coupled: {}}\nmomenta: {p: {}}\nkinetic: {inertia: {B: {angular: [0.5, 0.7, 0.9],\n"       \
    "  linear: [2, 1, 1.5], coupling: [[0, 0.2, 0], [0, 0, 0.1], [0.3, 0, 0]]}}}\n"                                    \
    "potential: 2*dot(B.position, B.position) - 10*B.rotation.zz\nlangevin: {friction: %s, temperature: 1}\n"          \
    "observe: {a: B.rotation.zz, b: B.rotation.zz^2, c: 'dot(B.position, B.position)'}\n"
#define CHAIN                                                                                                          \
    "coordinates: {'x[9] in R3': '[0.8*i, 0.6*mod(i, 2), 0]'}\n"                                                       \
    "momenta: {p: '[0.5*normal(), 0.5*normal(), 0.5*normal()]'}\n"                                                     \
    "kinetic: {mass: 1}\npotential: sum(i=1..9, dot(x[i], x[i]))/2\n"                                                  \
    "constraints: ['each(i=1..8, dot(x[i+1] - x[i], x[i+1] - x[i]) - 1)']\n"                                           \
    "langevin: {friction: 1, temperature: 1}\nobserve: {a: 'sum(i=1..9, dot(p[i], p[i]))/19'}\n"

/* ---- laws ---- */

/* A point of the surface and its area at two angles in (0, 2 pi). */
struct surface {
    const char *text;
    size_t count; /* of moments */
    double (*point)(double s, double t, double *moment);
};

static double on_sphere(double s, double t, double *moment) {
    double z = cos(s / 2), x = sin(s / 2) * cos(t);
    moment[0] = z * z;
    moment[1] = x;
    return sin(s / 2) * exp(-50 * z * z - x);
}

static double on_torus(double s, double t, double *moment) {
    double r = 1 + 0.5 * cos(s), z = 0.5 * sin(s), x = r * cos(t);
    moment[0] = z * z;
    moment[1] = x;
    moment[2] = cos(s);
    return r * exp(-1.5 * x - 4 * z * z);
}

/* On the sphere of directions; the mean of z is Langevin's function, coth 10 - 1/10. */
static double along_field(double s, double t, double *moment) {
    double z = cos(s / 2);
    (void)t;
    moment[0] = z;
    moment[1] = z * z;
    moment[2] = 0.75; /* in the trap, of three normal numbers with the variance 1/4 */
    return sin(s / 2) * exp(10 * z);
}

static void quadrature(const struct surface *f, double *mean) {
    enum { N = 400 };
    double total = 0, moment[3];
    for (size_t k = 0; k < f->count; k++) mean[k] = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double w = f->point(2 * M_PI * (i + 0.5) / N, 2 * M_PI * (j + 0.5) / N, moment);
            total += w;
            for (size_t k = 0; k < f->count; k++) mean[k] += w * moment[k];
        }
    for (size_t k = 0; k < f->count; k++) mean[k] /= total;
}

/* The largest deviation of a mean in standard errors. */
static double deviation(const struct surface *f, const char *friction, const char *method, double step, double until,
                        uint64_t paths) {
    static const char *const name[] = {"a", "b", "c"};
    char text[1000];
    double want[3] = {0}, worst = 0;
    snprintf(text, sizeof text, f->text, friction);
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_with(m, method, 0, NULL);
    double *value = final_values(&k, step, (uint64_t)(until / step + 0.5), paths, 2, 1);
    quadrature(f, want);
    for (size_t o = 0; o < f->count; o++) {
        double mean = 0, square = 0;
        size_t at = watch_number(&k, name[o]);
        for (size_t i = 0; i < paths; i++) {
            double x = value[i * k.watch.count + at];
            mean += x / (double)paths;
            square += x * x / (double)paths;
        }
        double error = sqrt((square - mean * mean) / (double)paths);
        print_message("%s, friction %s, step %g: %s %.4f +- %.4f, exact %.4f\n", method, friction, step, name[o], mean,
                      error, want[o]);
        worst = fmax(worst, fabs(mean - want[o]) / error);
        if (isnan(mean)) worst = INFINITY;
    }
    free(value);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    return worst;
}

static const struct surface sphere = {SPHERE, 2, on_sphere}, torus = {TORUS, 3, on_torus};
static const struct surface dipole = {DIPOLE, 2, along_field}, carried = {CARRIED, 3, along_field};

/* The step is the inverse frequency of the valley: RATTLE-GLA is off by more than ten standard errors. */
static void test_sphere(void **state) {
    (void)state;
    assert_true(deviation(&sphere, "1", "RATTLE-GLA", 0.1, 14, 5000) > 10);
    assert_true(deviation(&sphere, "1", "RATTLE-GLA-Metropolis", 0.1, 14, 5000) < 4);
    assert_true(deviation(&sphere, "1", "g-OBABABO-Metropolis", 0.1, 14, 5000) < 4);
    assert_true(deviation(&sphere, "[0.5, 1, 2]", "g-OBABO-Metropolis", 0.1, 14, 5000) < 4); /* bath by midpoints */
}

/* Half of the proposals go astray; without the way back the mean of c is 12 standard errors too large. */
static void test_torus(void **state) {
    (void)state;
    assert_true(deviation(&torus, "1", "RATTLE-GLA-Metropolis", 0.6, 100, 6000) < 4);
}

/* Free motions of bodies by an equation, which a large step may not solve: no constraints, and no bias either. */
static void test_bodies(void **state) {
    (void)state;
    double mean[3];
    quadrature(&dipole, mean);
    assert_near(mean[0], 1 / tanh(10) - 0.1, 1e-4, "Langevin's function");
    assert_true(deviation(&dipole, "1", "OBRBO", 0.4, 40, 6000) > 8);
    assert_true(deviation(&dipole, "1", "OBRBO-Metropolis", 0.4, 40, 6000) < 4);
    assert_true(deviation(&carried, "1", "OBRBO", 0.4, 40, 6000) > 8);
    assert_true(deviation(&carried, "1", "OBRBO-Metropolis", 0.4, 40, 6000) < 4);
}

/* ---- one step ---- */

/* Where there is no solution the state stays, with its momentum reversed, to the last bit, and nothing fails. */
static void test_rejected(void **state) {
    (void)state;
    static const char *const method[] = {"RATTLE-GLA-Metropolis", "g-OBABO-Metropolis"};
    for (size_t i = 0; i < 2; i++) {
        struct lgv_model *m = model_of(TORUS);
        struct lgv_kernel k = kernel_of(m, method[i]);
        size_t rejected = 0;
        for (uint64_t path = 0; path < 64; path++) {
            double x[6] = {1.5, 0, 0, 0, 0.25, -0.5};
            assert_true(one_step_of(&k, 0, 40, 1, path, 0, x));
            rejected += x[0] == 1.5 && x[1] == 0 && x[2] == 0 && x[3] == 0 && x[4] == -0.25 && x[5] == 0.5;
            assert_near(hypot(hypot(x[0], x[1]) - 1, x[2]), 0.5, 1e-12, "constraint");
        }
        print_message("%s: %zu of 64 steps of 40 rejected\n", method[i], rejected);
        assert_true(rejected > 50);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

/* Hot, and with hardly any friction, a step that leads back is accepted whatever it does to H.  From its end, with the
 * momentum reversed, another one leads to its beginning: steps that are accepted one way only change the law. */
static void test_involution(void **state) {
    (void)state;
    static const struct {
        const char *constraint;
        double start[3];
    } set[] = {{"x^2/16 + y^2 + z^2 - 1", {0.8, 0.6, 0.7745966692414834}}, /* quadrics: solved in closed form */
               {"x^2 + y^2 - z^2 - 1", {1.2, 0.9, 1.118033988749895}},
               {"x^2 - y^2 - 1", {2.2360679774997896, 2, 0}},
               {"(sqrt(x^2 + y^2) - 1)^2 + z^2 - 0.25", {1.5, 0, 0}}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        char text[400];
        size_t accepted = 0, lost = 0;
        uint64_t seed = 5;
        snprintf(text, sizeof text,
                 "coordinates: {x: %.17g, y: %.17g, z: %.17g}\nmomenta: {u: 0, v: 0, w: 0}\nkinetic: {mass: 1}\n"
                 "potential: 0\nconstraints: %s\nlangevin: {friction: 1e-40, temperature: 1e12}\n",
                 set[i].start[0], set[i].start[1], set[i].start[2], set[i].constraint);
        struct lgv_model *m = model_of(text);
        struct lgv_kernel k = kernel_of(m, "g-OBABO-Metropolis");
        for (uint64_t path = 0; path < 4000; path++) {
            double x[6], there[6], back[6], dt = 8 * uniform_of(&seed), off = 0;
            for (int j = 0; j < 6; j++) x[j] = j < 3 ? set[i].start[j] : 4 * uniform_of(&seed) - 2;
            assert_true(one_step_of(&k, 0, 1e-9, 1, path, 0, x)); /* to a momentum that is tangent */
            memcpy(there, x, sizeof x);
            assert_true(one_step_of(&k, 0, dt, 1, path, 1, there));
            if (there[0] == x[0] && there[1] == x[1]) continue;
            accepted++;
            for (int j = 0; j < 6; j++) back[j] = j < 3 ? there[j] : -there[j];
            assert_true(one_step_of(&k, 0, dt, 1, path, 2, back));
            for (int j = 0; j < 6; j++) off = fmax(off, fabs(back[j] - (j < 3 ? x[j] : -x[j])));
            lost += !(off <= 1e-6);
        }
        print_message("%s: %zu of 4000 steps accepted, %zu not on the way back\n", set[i].constraint, accepted, lost);
        assert_true(accepted > 300);
        assert_int_equal(lost, 0);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

/* ---- runs ---- */

/* Acceptance and the share that goes astray are told; a chain of eight rods, whose equations are sparse, keeps its
 * constraints and its temperature at a step where RATTLE-GLA loses paths. */
static void test_counts(void **state) {
    (void)state;
    struct lgv_model *m = model_of(CHAIN);
    struct lgv_settings s = settings_of(m);
    struct lgv_result r;
    s.step = 0.25;
    s.until = 10;
    s.paths = 1000;
    snprintf(s.method, sizeof s.method, "RATTLE-GLA");
    run_with(m, &s, LGV_FAILED_PATHS, &r);
    lgv_result_clear(&r);
    snprintf(s.method, sizeof s.method, "RATTLE-GLA-Metropolis");
    run_with(m, &s, LGV_OK, &r);
    print_message("acceptance %.4f, astray %.4f, constraint %.2g\n", r.acceptance, r.astray, r.certificate.constraint);
    assert_true(r.acceptance > 0.3 && r.acceptance < 0.95 && r.astray > 0.01 && r.astray < 1 - r.acceptance);
    assert_true(r.certificate.constraint < 1e-12);
    for (size_t i = 0; i < r.nseries; i++) {
        if (strcmp(r.series[i].name, "a") != 0) continue;
        double mean = r.series[i].mean[r.ntimes - 1], error = r.series[i].err[r.ntimes - 1];
        print_message("temperature %.4f +- %.4f\n", mean, error);
        assert_near(mean, 1, 4 * error, "temperature");
    }
    lgv_result_clear(&r);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sphere),
        cmocka_unit_test(test_torus),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_rejected),
        cmocka_unit_test(test_involution),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
