/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Momenta alone, on the dual of so(3) and se(3), and steps along coadjoint orbits for any H and noise of momenta: the
 * momenta of the model with rotations bit by bit, Poisson maps, Casimirs, orders, laws, Gamma = R^T e_z of a top. */
#include "bodies.h"

#define SPINS                                                                                                          \
    "parameters: {N: 9}\nmomenta: {'s[N] in so3*': '[sin(2*pi*i/N), cos(2*pi*i/N), 0.3]'}\n"                           \
    "hamiltonian: -sum(i=1..N, dot(s[i], s[wrap(i+1)])) + 0.3*sum(i=1..N, s[i].z^4)\n"                                 \
    "noise: ['each(i=1..N, 0.2*s[i].z + 0.1*s[i].x^2)']\n"
#define CURVED "momenta: {m in so3*: [0.3, 0.8, 0.5]}\nhamiltonian: m.x^2/2 + m.y^2/4 + m.z^4 + 0.3*m.x*m.y*m.z\n"
#define FLUID                                                                                                          \
    "momenta: {p in se3*: {linear: [1, 0.2, 0.3], angular: [0.5, 1, 1.4]}}\n"                                          \
    "hamiltonian: dot(p.angular, p.angular)/2 + p.linear.x^2 + p.linear.y^4 + p.angular.z*p.linear.x*p.linear.z\n"
#define TOP                                                                                                            \
    "momenta: {p in se3*: {linear: [0, 0.38941834230865047, 0.92106099400288510], angular: [0.5, 0.2, 2]}}\n"          \
    "hamiltonian: p.angular.x^2/2 + p.angular.y^2/2 + p.angular.z^2/1.2 + 1.5*p.linear.z\n"

/* ---- the same momenta ---- */

static void compare(const char *full, const char *reduced, const char *method) {
    struct lgv_model *a = model_of(full), *b = model_of(reduced);
    struct lgv_kernel k = kernel_of(a, method), l = kernel_of(b, method);
    double *x = final_values(&k, 0.1, 50, 40, 3, 1), *y = final_values(&l, 0.1, 50, 40, 3, 1);
    size_t both = 0;
    assert_int_equal(l.nx, 0);
    for (size_t i = 0; i < l.watch.count; i++)
        for (size_t j = 0; j < k.watch.count && l.watch.item[i].kind == LGV_OBSERVABLE_CONJUGATE; j++) {
            if (strcmp(l.watch.item[i].name, k.watch.item[j].name) != 0) continue;
            for (size_t p = 0; p < 40; p++)
                if (x[p * k.watch.count + j] != y[p * l.watch.count + i] || isnan(y[p * l.watch.count + i]))
                    fail_msg("%s: %s of path %zu is %.17g, with rotations %.17g", method, l.watch.item[i].name, p,
                             y[p * l.watch.count + i], x[p * k.watch.count + j]);
            both++;
        }
    assert_int_equal(both, b->np);
    free(x);
    free(y);
    lgv_kernel_free(&k);
    lgv_kernel_free(&l);
    lgv_model_free(a);
    lgv_model_free(b);
}

static void test_same_momenta(void **state) {
    (void)state;
    static const char *const plain[] = {"BAB", "BRB", "BTB", "BCB"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        const char *tensor = i % 2 ? "[1, 2, 2.5]" : "[[1, 0.2, 0.1], [0.2, 1.4, -0.1], [0.1, -0.1, 1.7]]";
        char full[500], reduced[500];
        snprintf(full, sizeof full, "coordinates: {'R[2] in SO3': [0.1, 0, 0]}\nmomenta: {m: '[0.3*i, 0.8, 0.5]'}\n"
                                    "kinetic: {inertia: %s}\npotential: 0\nnoise: ['0.3*m[1].x + 0.2*m[2].y', "
                                    "'0.2*m[2].x']\n", tensor);
        snprintf(reduced, sizeof reduced, "momenta: {'m[2] in so3*': '[0.3*i, 0.8, 0.5]'}\nkinetic: {inertia: %s}\n"
                                          "noise: ['0.3*m[1].x + 0.2*m[2].y', '0.2*m[2].x']\n", tensor);
        compare(full, reduced, plain[i]);
    }
#define INERTIA "{angular: [1, 2, 3], linear: [4, 2, 1], coupling: [[0, 0, 0.1], [0, 0, 0], [0.1, 0, 0]]}"
#define PUSHED                                                                                                         \
    "momenta: {p%s: {linear: [1, 0.2, 0.3], angular: [0.5, 1, 2]}}\nkinetic: {inertia: {%s: " INERTIA "}}\n"           \
    "noise: ['0.1*p.linear.x + 0.1*p.angular.z', '0.1*p.angular.x']\n"
    static const char *const coupled[] = {"BXB"};
    for (size_t i = 0; i < sizeof coupled / sizeof *coupled; i++) {
        char full[700], reduced[700], tail[600];
        snprintf(tail, sizeof tail, PUSHED, "", "b");
        snprintf(full, sizeof full, "coordinates: {b in SE3 coupled: {position: [0, 0, 0]}}\npotential: 0\n%s", tail);
        snprintf(reduced, sizeof reduced, PUSHED, " in se3*", "p");
        compare(full, reduced, coupled[i]);
    }
}

/* ---- structure ---- */

static double poisson_defect(struct lgv_model *m, const char *method, double dt, size_t steps, double *casimir) {
    struct lgv_kernel k = kernel_of(m, method);
    double *x = final_values(&k, dt, 1, 1, 5, 1), state[64], worst = 0;
    size_t first = k.watch.count;
    for (size_t i = k.watch.count; i-- > 0;)
        if (k.watch.item[i].kind == LGV_OBSERVABLE_CONJUGATE) first = i;
    for (size_t i = 0; i < m->np; i++) state[i] = first < k.watch.count ? x[first + i] : (i % 3 == 2 ? 0.3 : 0.7);
    free(x);
    for (uint64_t path = 0; path < 3; path++) {
        struct lgv_defect how = {.rotations = m->graph};
        double d = lgv_certificate_defect(&k, 0, dt, 5, path, path, state, NULL, NULL, NULL, &how);
        if (!(how.error < 1e-10)) fail_msg("%s: the defect is known to %g only", method, how.error);
        worst = fmax(worst, isfinite(d) ? d : INFINITY);
    }
    double *begin = final_values(&k, dt, 0, 40, 5, 1), *end = final_values(&k, dt, steps, 40, 5, 1);
    *casimir = 0;
    for (size_t i = 0; i < 40 * k.watch.count; i++)
        if (k.watch.item[i % k.watch.count].kind == LGV_OBSERVABLE_MOMENTUM)
            *casimir = fmax(*casimir, fabs(end[i] / begin[i] - 1));
    free(begin);
    free(end);
    lgv_kernel_free(&k);
    return worst;
}

static void test_poisson(void **state) {
    (void)state;
    static const char *const text[] = {CURVED "noise: ['0.3*m.x^2', '0.2*sin(m.y)']\n",
                                       FLUID "noise: ['0.2*p.linear.z^2 + 0.1*p.angular.x*p.linear.y']\n",
                                       TOP "noise: ['0.2*p.linear.z']\n", SPINS};
    static const char *const method[] = {"BCB", "BEB"};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = i == 3; j < (i == 2 ? 1 : 2); j++) { /* the last two by one of them */
            struct lgv_model *m = model_of(text[i]);
            double casimir, d = poisson_defect(m, method[j], 0.1, 1000, &casimir);
            print_message("model %zu by %s: Poisson to %.1e, Casimirs to %.1e in 1000 steps\n", i, method[j], d,
                          casimir);
            assert_true(d < 1e-10);
            assert_true(casimir < 1e-12);
            lgv_model_free(m);
        }
    struct lgv_model *m = model_of(CURVED); /* and it is seen where it is not so */
    double casimir, d = poisson_defect(m, "RK4-embedded", 0.2, 100, &casimir);
    print_message("RK4: Poisson to %.1e, Casimir to %.1e in 100 steps\n", d, casimir);
    assert_true(d > 1e-6 && casimir > 1e-6);
    lgv_model_free(m);
}

/* Any H and noise of momenta beside a potential and noise of R: symplectic in (R, m), and R, X for m.I^-1 m/2. */
static void test_with_rotations(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {R in SO3: [0.4, 0.1, -0.3], x: 0.3}\n"
                                   "momenta: {m: [0.1, 0.2, 1], p: 0}\nhamiltonian: m.x^2/2 + m.y^4 + m.z^2*p^2 + "
                                   "dot(m, m) + p^2/2 + R.zz + x*R.xy + x^2\n"
                                   "noise: ['0.2*m.x*m.y + 0.1*p^2', '0.3*R.zz']\n");
    static const char *const method[] = {"BCB", "BEB"}, *const same[] = {"BRB", "BXB"};
    for (size_t j = 0; j < 2; j++) {
        struct lgv_kernel k = kernel_of(m, method[j]);
        double x[9] = {0.9, 0.3, -0.1, 0.3, 0.2, 0.5, -0.7, 0.6, 0.4};
        double size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
        for (int i = 0; i < 4; i++) x[i] /= size;
        struct lgv_defect how = {.rotations = m->graph};
        double d = lgv_certificate_defect(&k, 0, 0.05, 5, 1, 3, x, NULL, NULL, NULL, &how);
        print_message("%s with rotations: symplectic to %.1e (%.1e)\n", method[j], d, how.error);
        assert_true(d < 1e-10 && how.error < 1e-10);
        lgv_kernel_free(&k);
    }
    lgv_model_free(m);
    m = model_of("coordinates: {R in SO3: [0.4, 0.1, -0.3]}\nmomenta: {m: [0.1, 0.2, 1]}\n"
                 "kinetic: {inertia: [[1, 0.2, 0.1], [0.2, 1.4, -0.1], [0.1, -0.1, 1.7]]}\npotential: R.zz\n");
    for (size_t j = 0; j < 2; j++) {
        struct lgv_kernel k = kernel_of(m, method[j]), l = kernel_of(m, same[j]);
        double *x = final_values(&k, 0.1, 100, 1, 1, 1), *y = final_values(&l, 0.1, 100, 1, 1, 1);
        for (size_t i = 0; i < k.watch.count; i++) assert_near(x[i], y[i], 1e-12, k.watch.item[i].name);
        free(x);
        free(y);
        lgv_kernel_free(&k);
        lgv_kernel_free(&l);
    }
    lgv_model_free(m);
}

/* A top on se(3)* beside the one with a rotation and a potential: Gamma = R^T e_z.  Both have order 2. */
static void test_top(void **state) {
    (void)state;
    struct lgv_model *a = model_of(TOP);
    struct lgv_model *b = model_of("coordinates: {R in SO3: [0.4, 0, 0]}\nmomenta: {m: [0.5, 0.2, 2]}\n"
                                   "kinetic: {inertia: [1, 1, 0.6]}\npotential: 1.5*R.zz\n"
                                   "observe: {g: '[0, 0, 1]*R'}\n");
    static const char *const name[2][6] = {
        {"p.linear.x", "p.linear.y", "p.linear.z", "p.angular.x", "p.angular.y", "p.angular.z"},
        {"g.x", "g.y", "g.z", "m.x", "m.y", "m.z"}};
    struct lgv_kernel k = kernel_of(a, "BCB"), l = kernel_of(b, "BAB");
    double off[3];
    for (int level = 0; level < 3; level++) {
        uint64_t steps = 200u << level;
        double *x = final_values(&k, 2.0 / (double)steps, steps, 1, 1, 1);
        double *y = final_values(&l, 2.0 / (double)steps, steps, 1, 1, 1);
        off[level] = 0;
        for (int i = 0; i < 6; i++)
            off[level] = fmax(off[level], fabs(x[watch_number(&k, name[0][i])] - y[watch_number(&l, name[1][i])]));
        free(x);
        free(y);
    }
    print_message("top on se(3)* and on SO(3): %.2e, %.2e, %.2e apart\n", off[0], off[1], off[2]);
    assert_true(off[2] < 1e-3);
    assert_near(log2(off[1] / off[2]), 2, 0.05, "order");
    lgv_kernel_free(&k);
    lgv_kernel_free(&l);
    lgv_model_free(a);
    lgv_model_free(b);
}

/* ---- orders and laws ---- */

/* Strong errors of the momenta at t = 1 against fine steps, on the same paths. */
static struct fit strong_order(const char *text, const char *method) {
    enum { PATHS = 400, LEVELS = 4, FINE = 2048 };
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, method);
    double *fine = final_values(&k, 1.0 / FINE, FINE, PATHS, 7, 1), squared[LEVELS * PATHS], dt[LEVELS];
    for (size_t level = 0; level < LEVELS; level++) {
        uint64_t steps = 8u << level;
        dt[level] = 1.0 / (double)steps;
        double *x = final_values(&k, dt[level], steps, PATHS, 7, FINE / steps);
        for (size_t p = 0; p < PATHS; p++) {
            squared[level * PATHS + p] = 0;
            for (size_t i = 0; i < k.watch.count; i++) {
                double d = x[p * k.watch.count + i] - fine[p * k.watch.count + i];
                if (k.watch.item[i].kind == LGV_OBSERVABLE_CONJUGATE) squared[level * PATHS + p] += d * d;
            }
        }
        free(x);
    }
    free(fine);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    return fit_order(squared, dt, LEVELS, PATHS);
}

static void test_orders(void **state) {
    (void)state;
    static const struct {
        const char *text, *method;
        double want;
    } row[] = {
        {CURVED, "BCB", 2},
        {CURVED, "BCB-4", 4},
        {CURVED "noise: '0.4*m.x^2 + 0.3*m.y'\n", "BCB", 1},
        {FLUID "noise: '0.2*p.linear.z^2 + 0.2*p.angular.x*p.linear.y'\n", "BEB", 1},
        {"momenta: {m in so3*: [0.3, 0.8, 0.5]}\nkinetic: {inertia: [1, 2, 2.5]}\nnoise: '0.5*m.x'\n", "BRB", 1},
        {"momenta: {m in so3*: [0.3, 0.8, 0.5]}\nkinetic: {inertia: [1, 2, 2.5]}\nnoise: ['m.x', 'm.y']\n", "BRB", 0.5},
        {CURVED "noise: ['m.x', 'm.y^2']\n", "BCB", 0.5},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_structure s = structure_of(row[i].text);
        struct fit f = strong_order(row[i].text, row[i].method);
        struct lgv_model *m = model_of(row[i].text);
        double said = lgv_method_strong_order(lgv_method_find(row[i].method), &s, m->nnoise, NULL);
        print_message("%s, row %zu: order %.3f +- %.3f, %g expected\n", row[i].method, i, f.slope, f.slope_error, said);
        assert_near(said, row[i].want, 0, "order that is expected");
        assert_near(f.slope, row[i].want, 0.1 + 3 * f.slope_error, "order");
        lgv_model_free(m);
    }
}

/* Noise about all axes: uniform on the sphere |m| = 1, whatever H is.  With a bath: exp(-H/kT) on so(3)*. */
static void test_laws(void **state) {
    (void)state;
    enum { PATHS = 4000 };
    static const struct {
        const char *text, *method;
        double want[2];
    } row[] = {
        {"momenta: {m in so3*: [0, 0, 1]}\nkinetic: {inertia: [1, 2, 2.5]}\nnoise: [m.x, m.y, m.z]\n"
         "observe: {a: m.z^2, b: m.x^4}\n", "BRB", {1.0 / 3, 0.2}},
        {"momenta: {m in so3*: [0, 0, 1]}\nhamiltonian: m.x^2 + m.z^4\nnoise: [m.x, 'm.y^2', m.z]\n"
         "observe: {a: m.z^2, b: m.x^4}\n", "BCB", {1.0 / 3, 0.2}},
        {"momenta: {m in so3*: [0, 0, 1]}\nkinetic: {inertia: [1, 2, 2.5]}\nlangevin: {friction: 2, temperature: 0.7}\n"
         "observe: {a: m.x^2, b: m.z^2}\n", "BAOAB", {0.7, 1.75}},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_model *m = model_of(row[i].text);
        struct lgv_kernel k = kernel_of(m, row[i].method);
        double *x = final_values(&k, 0.1, 80, PATHS, 11, 1);
        assert_mean(&k, x, PATHS, "a", row[i].want[0], 3);
        assert_mean(&k, x, PATHS, "b", row[i].want[1], 3);
        free(x);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_momenta), cmocka_unit_test(test_poisson), cmocka_unit_test(test_with_rotations),
        cmocka_unit_test(test_top),          cmocka_unit_test(test_orders),  cmocka_unit_test(test_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
