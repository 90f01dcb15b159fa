/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The law at rest of methods for a declared split in a bath: two coordinates, one of them on a stiff spring of
 * frequency omega = 50, coupled by V0 = x^2/2 + (x - z)^2/2, with steps that do not resolve it.  All is linear, so that
 * the covariance is kT K^-1, K = ((2, -1), (-1, 1 + omega^2)). */
#include "helpers.h"

/* n inner steps of Verlet have the spring of z softer, by the factor 1 - (omega dt/2n)^2; 0: there are none. */
static void check_law(const char *method, double dt, double n) {
    const double softer = n > 0 ? 1 - pow(50 * dt / (2 * n), 2) : 1;
    struct lgv_model *m = model_of(
        "parameters: {w: 50}\ncoordinates: {x: 'normal()/sqrt(2)', z: 'normal()/w'}\n"
        "momenta: {p: normal(), y: normal()}\n"
        "where: {V1: w^2*z^2/2}\nhamiltonian: p^2/2 + y^2/2 + V1 + x^2/2 + (x - z)^2/2\nstiff: V1\n"
        "langevin: {friction: 1, temperature: 1}\nobserve: {xx: x^2, zz: w^2*z^2, pp: p^2, yy: y^2}\n");
    struct lgv_settings s = settings_for(m, method, dt, 100 * dt, 40000);
    struct lgv_result r;
    s.check_states = 0;
    run_with(m, &s, LGV_OK, &r);
    /* of a step of size dt: bias of order dt^2 in x, by the force 2 of V0 as in Verlet, dt^2/2 at most */
    const struct {
        const char *name;
        double mean;
    } row[] = {{"xx", 2501.0 / 5001}, {"zz", 2 * 2500.0 / 5001 / softer}, {"pp", 1}, {"yy", 1}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct lgv_series *x = series_of(&r, row[i].name);
        size_t last = r.ntimes - 1;
        double error = x->err[last];
        print_message("%s, dt omega = %g: %s %.4f +- %.4f, expected %.4f\n", method, 50 * dt, row[i].name,
                      x->mean[last], error, row[i].mean);
        assert_near(x->mean[last], row[i].mean, 4 * error + dt * dt / 2, row[i].name);
    }
    lgv_result_clear(&r);
    lgv_model_free(m);
}

static void test_law(void **state) {
    (void)state;
    static const char *const method[] = {"Deuflhard-GLA", "GarciaArchilla-GLA", "HairerLubich-GLA", "IMEX-GLA",
                                         "Deuflhard-GLA-Metropolis"};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) check_law(method[k], 0.1, 0);
    check_law("Impulse(8)-GLA", 0.1, 8);
    check_law("MOLLY(8)-GLA", 0.1, 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_law)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
