/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the methods keep: the symplectic form of one step, angular and linear momentum, the energy of a Kubo
 * oscillator. */
#include "helpers.h"

static const struct {
    const char *name, *text;
    double dt;
    bool noise_of_q;
} subjects[] = {
    {"kubo", "coordinates: {q: 0.3}\nmomenta: {p: 0.9}\nhamiltonian: p^2/2 + q^2/2\nnoise: 0.5*H\n", 0.1, false},
    {"synchrotron", "coordinates: {q: 0.3}\nmomenta: {p: 0.9}\nhamiltonian: p^2/2 - cos(q)\nnoise: 0.5*sin(q)\n", 0.1,
     true},
    {"not separable", /* reference model 3 with a stronger coupling */
     "coordinates: {a: 0.7, b: -0.4}\nmomenta: {u: 0.2, v: 0.5}\n"
     "hamiltonian: u^2/2 + v^2/2 + a^2*b^2/4 + (a^2 + b^2)/2 + 0.4*a*v\n"
     "noise: [0.1*(a*u + b^2), 0.2*cos(b)*v]\n",
     0.1, false},
    {"not separable, noise of q",
     "coordinates: {a: 0.7, b: -0.4}\nmomenta: {u: 0.2, v: 0.5}\n"
     "hamiltonian: (1 + a^2/2)*u^2/2 + v^2/2 + a^2*b^2/4 + (a^2 + b^2)/2 + 0.4*a*v\nnoise: [0.2*sin(a*b), 0.1*b^2]\n",
     0.1, true},
    {"lattice",
     "parameters: {N: 12}\ncoordinates: {'x[N]': 0.2*sin(i)}\nmomenta: {p: 0.3*cos(2*i)}\n"
     "potential: sum(i=1..N, (x[wrap(i+1)] - x[i])^2/2 + 0.25*x[i]^4)\nnoise: ['each(k=1..N, 0.2*sin(x[k]))']\n",
     0.1, true},
    {"large lattice", /* more directions than are tried: the certificate takes random ones */
     "parameters: {N: 24}\ncoordinates: {'x[N]': 0.2*sin(i)}\nmomenta: {p: 0.3*cos(2*i)}\n"
     "potential: sum(i=1..N, (x[wrap(i+1)] - x[i])^2/2 + 0.25*x[i]^4)\nnoise: ['each(k=1..N, 0.2*sin(x[k]))']\n",
     0.1, true},
    {"driven",
     "coordinates: {q: 0.3}\nmomenta: {p: 0.9}\nhamiltonian: (1 + 0.3*sin(t))*p^2/2 + (1 + 0.5*cos(t))*q^4/4\n"
     "noise: 0.3*sin(q + t)\n",
     0.1, true},
};

static double defect(struct lgv_model *m, const char *method, double dt) {
    struct lgv_kernel k = kernel_of(m, method);
    struct lgv_own_block b;
    double x[64], worst = 0;
    assert_true((k.nx + k.np) <= 64);
    for (uint64_t path = 0; path < 3; path++) { /* three states along three paths, step numbers odd and even */
        assert_true(lgv_block_create(&k, 0.1, dt, 5, 1, &b));
        for (size_t l = 0; l < k.entry->lanes; l++) b.path[l] = path;
        k.entry->start(&b.block);
        k.entry->advance(&b.block, 7 * path);
        for (size_t i = 0; i < k.nx + k.np; i++) x[i] = b.block.state[i * k.entry->lanes];
        struct lgv_defect how = {0};
        double d = lgv_certificate_defect(&k, 0.1, dt, 5, path, 7 * path, x, NULL, NULL, NULL, &how), error = how.error;
        assert_true(d >= 0 && error < 1e-9);
        worst = fmax(worst, d);
        lgv_block_free(&b);
    }
    lgv_kernel_free(&k);
    return worst;
}

/* Below: round-off 1e-16 over the smallest usable difference 1e-3 of order 8, times a few directions, is 1e-12; the
 * limit of 1e-11 lies far under what any wrong coefficient gives (1e-3 for a change of one of them by 1 %).
 * Above: EEM and IEM change areas by dt^2 H_qq H_pp + beta^2 dW^2, 1e-2 at dt = 0.1. */
static void test_defect(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        struct lgv_model *m = model_of(subjects[i].text);
        static const char *const good[] = {"P1N1Q2Gau", "P2N2Q2Lob", "P1N1Q1Rec"}, *const bad[] = {"EEM", "IEM"};
        for (size_t k = 0; k < 3; k++) {
            if (k == 2 && !subjects[i].noise_of_q) continue;
            double d = defect(m, good[k], subjects[i].dt);
            print_message("%s, %s: %.2g\n", subjects[i].name, good[k], d);
            if (!(d < 1e-11)) fail_msg("%s on %s: defect %g", good[k], subjects[i].name, d);
        }
        for (size_t k = 0; k < 2 && i < 3; k++) {
            double d = defect(m, bad[k], subjects[i].dt);
            print_message("%s, %s: %.2g\n", subjects[i].name, bad[k], d);
            if (!(d > 1e-4)) fail_msg("%s on %s: defect %g is too small to be true", bad[k], subjects[i].name, d);
        }
        lgv_model_free(m);
    }
}

static double drift(const char *text, const char *method, double dt, double until, uint64_t paths, const char *series) {
    struct lgv_model *m = model_of(text);
    double d = drift_in_run(m, method, dt, until, paths, series);
    lgv_model_free(m);
    return d;
}

/* The rotation example.  Round-off of n steps adds up like a random walk, 1e-16 * |J| * sqrt(5000), and |J| is about 1:
 * 1e-14 to be expected; Newton's iteration in the midpoint rule leaves 2e-15 a step, which may add up with one sign:
 * 1e-11 at worst, in fact 1e-13.  EEM loses it at once. */
static void test_angular_momentum(void **state) {
    (void)state;
    static const char text[] = "parameters: {sigma: 0.3}\n"
                               "coordinates:\n  x in R2: '[1 + 0.1*normal(), 0.1*normal()]'\n"
                               "momenta:\n  p: '[0.1*normal(), 1 + 0.1*normal()]'\n"
                               "where: {r2: 'dot(x, x)'}\n"
                               "hamiltonian: dot(p, p)/2 + r2^2/4 + r2/2\nnoise: sigma*log(1 + r2)\n"
                               "symmetries:\n  rotation: [-x.y, x.x]\n";
    assert_true(drift(text, "P2N2Q2Lob", 0.02, 100, 200, "rotation") < 1e-12);
    assert_true(drift(text, "P1N1Q2Gau", 0.02, 100, 200, "rotation") < 1e-12);
    assert_true(drift(text, "P1N1Q1Rec", 0.02, 100, 200, "rotation") < 1e-12);
    assert_true(drift(text, "EEM", 0.02, 10, 200, "rotation") > 1e-2);
}

/* The midpoint rule keeps quadratic invariants: round-off only, 4000 steps of 0.25 to T = 1000.  Verlet does not: the
 * median of max|H - H0| is 0.05 by experiment 3, the largest of many paths is above that and far below 1. */
static void test_kubo_energy(void **state) {
    (void)state;
    static const char text[] = "parameters: {beta: 0.1}\ncoordinates: {q: 0}\nmomenta: {p: 1}\n"
                               "hamiltonian: p^2/2 + q^2/2\nnoise: beta*H\n";
    assert_true(drift(text, "P1N1Q2Gau", 0.25, 1000, 1000, "H") < 1e-12);
    double d = drift(text, "P2N2Q2Lob", 0.25, 1000, 1000, "H");
    assert_true(d > 0.03 && d < 0.5);
}

/* Forces and noises of a ring come in pairs, so the sum of the momenta stays: 1e-16 * sqrt(16 * 2000 steps) = 2e-14. */
static void test_total_momentum(void **state) {
    (void)state;
    static const char text[] = "parameters: {N: 16}\ncoordinates: {'x[N]': 0}\nmomenta: {p: 'normal(0, 0.3)'}\n"
                               "potential: sum(i=1..N, (x[wrap(i+1)] - x[i])^2/2 + 0.25*(x[wrap(i+1)] - x[i])^4)\n"
                               "noise: ['each(k=1..N, 0.2*cos(x[wrap(k+1)] - x[k]))']\nsymmetries: {shift: {x: 1}}\n";
    assert_true(drift(text, "P2N2Q2Lob", 0.05, 100, 50, "shift") < 1e-12);
    assert_true(drift(text, "P1N1Q2Gau", 0.05, 20, 16, "shift") < 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defect),
        cmocka_unit_test(test_angular_momentum),
        cmocka_unit_test(test_kubo_energy),
        cmocka_unit_test(test_total_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
