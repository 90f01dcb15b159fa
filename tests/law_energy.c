/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mean energies that are known in closed form.  Ito's formula with h = beta q gives dH = beta^2/2 dt - beta p dW for
 * every H = p^2/2 + U(q), so E[H] = H0 + beta^2 t/2; the Kubo oscillator keeps H and its mean E[q] decays. */
#include "helpers.h"

static void check(const char *text, const char *method, double dt, double until, uint64_t paths, const char *name,
                  double want, double bias) {
    struct lgv_model *m = model_of(text);
    struct lgv_settings s = settings_for(m, method, dt, until, paths);
    struct lgv_result r;
    s.outputs = 4;
    s.seed = 31;
    s.check_states = 0;
    run_with(m, &s, LGV_OK, &r);
    const struct lgv_series *x = series_of(&r, name);
    double mean = x->mean[r.ntimes - 1], err = x->err[r.ntimes - 1];
    print_message("%s, %s: %.4f +- %.4f, expected %.4f\n", name, method, mean, err, want);
    assert_true(err > 0 && err < 0.05 * fabs(want));
    assert_near(mean, want, 3 * err + bias, name);
    lgv_result_clear(&r);
    lgv_model_free(m);
}

#define ANHARMONIC                                                                                                     \
    "parameters: {gamma: 0.1, beta: 0.5}\ncoordinates: {q: 0}\nmomenta: {p: 1}\npotential: gamma*q^4\nnoise: beta*q\n"

/* H0 = 1/2, t = 20: E[H] = 0.5 + 0.25 * 10 = 3.  The symplectic methods see a modified energy that is off by
 * dt^2 U''/12 or so of H (Verlet) or dt/2 of its rate of change (Euler): below 0.01 at dt = 0.01. */
static void test_anharmonic(void **state) {
    (void)state;
    check(ANHARMONIC, "P2N2Q2Lob", 0.02, 20, 20000, "H", 3, 0.01);
    check(ANHARMONIC, "P1N1Q2Gau", 0.02, 20, 20000, "H", 3, 0.01);
    check(ANHARMONIC, "P1N1Q1Rec", 0.01, 20, 20000, "H", 3, 0.02);
}

/* Harmonic with noise in q and p: both add beta^2/2 each.  EEM's own growth, dt H per unit of time, is the bias:
 * 0.001 * (0.5 + 0.25 * 5) * 5. */
static void test_both(void **state) {
    (void)state;
    static const char text[] = "coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + q^2/2\n"
                               "noise: [0.5*q, 0.5*p]\n";
    check(text, "P1N1Q2Gau", 0.02, 5, 20000, "H", 0.5 + 0.25 * 5, 0.005);
    check(text, "EEM", 0.001, 5, 20000, "H", 0.5 + 0.25 * 5, 0.01);
}

/* Kubo with a strong noise: E[q] = E[sin(t + beta W)] = sin(t) exp(-beta^2 t/2).  It is the Stratonovich
 * correction that makes this decay and keeps H: an Ito reading would let H grow like exp(beta^2 t). */
static void test_kubo(void **state) {
    (void)state;
    static const char text[] = "parameters: {beta: 0.5}\ncoordinates: {q: 0}\nmomenta: {p: 1}\n"
                               "hamiltonian: p^2/2 + q^2/2\nnoise: beta*H\n";
    double t = 1.6, want = sin(t) * exp(-0.125 * t);
    check(text, "P1N1Q2Gau", 0.01, t, 20000, "q", want, 0.002); /* phase error of order beta^2 dt t/4 */
    check(text, "P2N2Q2Lob", 0.01, t, 20000, "q", want, 0.002);
    check(text, "EEM", 0.002, t, 20000, "q", want, 0.004); /* weak order 1 */
    check(text, "IEM", 0.002, t, 20000, "q", want, 0.004);
    check(text, "EEM", 0.002, t, 20000, "H", 0.5, 0.004);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_anharmonic),
        cmocka_unit_test(test_both),
        cmocka_unit_test(test_kubo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
