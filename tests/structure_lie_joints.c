/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Constraints with Lagrangians l(g, xi) whose inertia varies: the symplectic form on the constraint set, momentum maps,
 * agreement with the methods for constant inertia, and with the same motion written without constraints; orders,
 * bits. */
#include "bodies.h"

/* A body with a mass that slides along its axis, a term of first degree, and the point [0,0,a] of it held in space. */
#define SLIDE                                                                                                          \
    "w.x^2/2 + (1.4 + k*s^2)*w.y^2/2 + (1.5 + k*s^2)*w.z^2/2 + 0.2*s*w.x*w.z + k*u^2/2 + 0.1*w.z*R.zz - (s - 1)^2"
#define HELD(noise)                                                                                                    \
    "parameters: {k: 0.4, a: 0.7}\ncoordinates: {R in SO3: [0.4, 0.1, 0.2], s: 0.5, x in R3: '-a*(R*[0,0,1])'}\n"      \
    "velocities: {w: [0.3, 1, 0.2], u: 0.3, v: '-a*(R*cross(w, [0,0,1]))'}\n"                                          \
    "lagrangian: " SLIDE " + dot(v,v)/2 - x.z\nconstraints: ['x + R*[0,0,a]']\n" noise                                 \
    "symmetries: {vertical: {R: '[0,0,1]*R', x: 'cross([0,0,1], x)'}}\n"                                               \
    "observe: {c: R.zz, d: R.xy, place: s}\n"
#define NOISE "noise: [0.3*R.zz, 0.2*s*R.zz]\n"
/* The same as a rotation about the point. */
#define ABOUT                                                                                                          \
    "parameters: {k: 0.4, a: 0.7}\ncoordinates: {R in SO3: [0.4, 0.1, 0.2], s: 0.5}\n"                                 \
    "velocities: {w: [0.3, 1, 0.2], u: 0.3}\nlagrangian: " SLIDE " + a^2*(w.x^2 + w.y^2)/2 + a*R.zz\n"                 \
    "observe: {c: R.zz, d: R.xy, place: s}\n"
/* A body in a fluid whose added mass depends on a shape, held at a point. */
#define FLUID                                                                                                          \
    "coordinates: {s: 0.2, b in SE3 coupled: {position: [0, 0, -0.5], rotation: [0, 0, 0]}}\n"                         \
    "velocities: {u: 0.1, V: {linear: [0, 0.15, 0], angular: [0.3, 0, 0.2]}}\n"                                        \
    "lagrangian: u^2/2 - s^2/2 + (1 + 0.3*s^2)*V.angular.x^2/2 + 0.7*V.angular.y^2 + 0.4*V.angular.z^2"                \
    " + V.linear.x^2 + (1 + 0.2*s)*V.linear.y^2 + 1.2*V.linear.z^2 + 0.1*u*V.linear.y"                                 \
    " + 0.1*V.linear.x*V.angular.y - (b*[0,0,-0.5]).z\n"                                                               \
    "constraints: ['b*[0,0,0.5]']\nnoise: [0.2*b.rotation.zz]\n"

static void test_symplectic(void **state) {
    (void)state;
    struct lgv_model *m = model_of(HELD(NOISE)), *f = model_of(FLUID);
    assert_symplectic(m, "RATTLE-exp", 1e-10, "held");
    assert_symplectic(f, "RATTLE", 1e-10, "in a fluid");
    lgv_model_free(m);
    lgv_model_free(f);
}

static void test_run(void **state) {
    (void)state;
    struct lgv_model *m = model_of(HELD(NOISE) "run: {step: 0.1, until: 20, paths: 16}\n");
    struct lgv_result r;
    run_method(m, "RATTLE-exp", &r);
    assert_kept(&r, "RATTLE-exp", "vertical", true, 1e-12);
    print_message("constraint %.2g, hidden %.2g\n", r.certificate.constraint, r.certificate.hidden_constraint);
    assert_true(r.certificate.constraint < 1e-14 && r.certificate.hidden_constraint < 1e-13);
    lgv_result_clear(&r);
    lgv_model_free(m);
}

/* k = 0 is a value of the run: the inertia is constant and nothing but the formulas knows.  g-BR and g-BX are then the
 * same maps, by another way to their solution. */
#define HANGING "coordinates: {R in SO3: [0.4, 0.1, 0.2], x in R3: '-0.7*(R*[0,0,1])'}\n"
#define REST "constraints: ['x + R*[0,0,0.7]']\nnoise: [0.5*R.zz, 0.3*x.x*R.xy]\n"
static void test_constant(void **state) {
    (void)state;
    struct lgv_model *l = model_of("parameters: {k: 0}\n" HANGING "velocities: {w: [0.3, 1, 0.2], v: 0}\n"
                                   "lagrangian: (1 + k*x.x)*w.x^2/2 + 0.7*w.y^2 + 0.75*w.z^2 + dot(v,v)/2 - x.z\n"
                                   REST);
    struct lgv_model *h = model_of(HANGING "momenta: {p_R: [0.3, 1.4, 0.3], p_x: 0}\n"
                                   "kinetic: {inertia: [1, 1.4, 1.5]}\npotential: x.z\n" REST);
    assert_true(apart(l, "SVE", h, "g-BR") < 1e-12);
    assert_true(apart(l, "SVE-exp", h, "g-BX") < 1e-12);
    assert_true(apart(l, "SVE", h, "g-BX") > 1e-5);
    lgv_model_free(l);
    lgv_model_free(h);
}

static double off(const struct lgv_kernel *k, uint64_t steps, const struct lgv_kernel *fine) {
    static const char *const name[] = {"c", "d", "place"};
    double *x = final_values(k, 1.0 / (double)steps, steps, 1, 1, 1), *y = final_values(fine, 0.01, 100, 1, 1, 1);
    double worst = 0;
    for (size_t i = 0; i < 3; i++)
        worst = fmax(worst, fabs(x[watch_number(k, name[i])] - y[watch_number(fine, name[i])]));
    free(x);
    free(y);
    return worst;
}

static void test_without(void **state) {
    (void)state;
    static const struct order_row row[] = {{"SVE", 160, 1, 0.05}, {"RATTLE", 20, 2, 0.05}};
    struct lgv_model *held = model_of(HELD("")), *about = model_of(ABOUT);
    struct lgv_kernel fine = kernel_of(about, "RATTLE-6");
    for (size_t i = 0; i < 2; i++) {
        struct lgv_kernel k = kernel_of(held, row[i].method);
        double coarse = off(&k, row[i].steps, &fine);
        assert_order(&row[i], coarse, off(&k, 2 * row[i].steps, &fine));
        lgv_kernel_free(&k);
    }
    lgv_kernel_free(&fine);
    lgv_model_free(held);
    lgv_model_free(about);
}

static void test_bits(void **state) {
    (void)state;
    struct lgv_model *m = model_of(HELD(NOISE));
    assert_bits(m, "SVE");
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symplectic), cmocka_unit_test(test_run),  cmocka_unit_test(test_constant),
        cmocka_unit_test(test_without),    cmocka_unit_test(test_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
