/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How Langevin steps contract phase space: by a factor that depends on friction, masses and step alone. */
#include "langevin.h"

/* The Jacobian of one step with its own noise, by central differences of order 8. */
static matrix jacobian_of(const struct lgv_kernel *k, double dt, uint64_t step, const double *at) {
    static const double weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    const size_t n = k->nx + k->np;
    const double h = 0.02;
    matrix J = zeros(n, n);
    for (size_t j = 0; j < n; j++)
        for (int s = 1; s <= 4; s++) {
            double x[LARGEST], y[LARGEST];
            memcpy(x, at, n * sizeof *x);
            memcpy(y, at, n * sizeof *y);
            x[j] = at[j] + s * h;
            y[j] = at[j] - s * h;
            assert_true(one_step_of(k, 0, dt, 3, 5, step, x) && one_step_of(k, 0, dt, 3, 5, step, y));
            for (size_t i = 0; i < n; i++) J.at[i][j] += weight[s - 1] * ((long double)x[i] - y[i]) / h;
        }
    return J;
}

static long double determinant(matrix A) {
    long double det;
    inverse_of(A, &det);
    return det;
}

/* Round-off 1e-16 over the differences 0.02, in four columns; the forces are polynomials of degree 3, so that the
 * differences leave less than that. */
#define TOLERANCE 1e-11

static const double states[2][4] = {{0.3, -0.5, 0.7, 0.2}, {-0.8, 0.1, -0.4, 1.1}};

#define QUARTIC                                                                                                        \
    "parameters: {m: 0}\ncoordinates: {x: 0.3, y: -0.5}\nmomenta: {u: 0.7, v: 0.2}\n"                          \
    "hamiltonian: u^2 + v^2/4 + m*u*v + x^4/4 + x^2*y^2/2 + y^2/2\n"

enum { EXACT, EXPLICIT, IMPLICIT };

/* det J for friction Gamma (a matrix) and M^-1 = [2, m; m, 1/2]. */
static void check_volume(const char *bath, const char *method, int kind, const double friction[4], double m) {
    char text[600];
    const double dt = 0.13;
    snprintf(text, sizeof text, QUARTIC "langevin: {friction: %s, temperature: 0.4}\n", bath);
    struct lgv_model *model = model_of(text);
    set_parameter(model, "m", m);
    struct lgv_kernel k = kernel_with(model, method, 2, NULL);
    matrix drag = zeros(2, 2), inverse = drag;
    for (size_t i = 0; i < 4; i++) {
        drag.at[i / 2][i % 2] = friction[i];
        inverse.at[i / 2][i % 2] = i == 0 ? 2 : i == 3 ? 0.5 : m;
    }
    drag = product(drag, inverse);
    long double want = kind == EXACT      ? expl(-dt * (drag.at[0][0] + drag.at[1][1]))
                       : kind == EXPLICIT ? determinant(sum(identity(2), -dt, drag))
                                          : 1 / determinant(sum(identity(2), dt, drag));
    for (uint64_t step = 0; step < 2; step++) {
        long double det = determinant(jacobian_of(&k, dt, step, states[step]));
        if (!(fabsl(det - want) < TOLERANCE))
            fail_msg("%s, friction %s: det J is %.15Lg, not %.15Lg", method, bath, det, want);
    }
    lgv_kernel_free(&k);
    lgv_model_free(model);
}

static void test_volume(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int kind;
    } method[] = {{"BAOAB", EXACT}, {"UBU", EXACT}, {"P2N2Q2Lob-GLA", EXACT}, {"P1N1Q2Gau-GLA", EXACT},
                  {"OABAO", EXACT}, {"SVE-Q", EXPLICIT}, {"SVE-QI", IMPLICIT}};
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        const char *name = method[k].name;
        const int kind = method[k].kind;
        if (k != 3 && k != 4) check_volume("[0.6, 1.1]", name, kind, (double[]){0.6, 0, 0, 1.1}, 0.3);
        check_volume("[[0.6, 0.5], [0.5, 1.1]]", name, kind, (double[]){0.6, 0.5, 0.5, 1.1}, 0.3);
        check_volume("[[0.5, 0.5], [0.5, 0.5]]", name, kind, (double[]){0.5, 0.5, 0.5, 0.5}, 0);
    }
}

/* Where Gamma = gamma M a step multiplies the symplectic form by exp(-gamma dt): conformally symplectic. */
static void test_conformal(void **state) {
    (void)state;
    static const char *const method[] = {"BAOAB", "OBABO", "UBU", "BUB", "P2N2Q2Lob-GLA", "P1N1Q2Gau-GLA"};
    static const double omega[4][4] = {{0, 0, 1, 0}, {0, 0, 0, 1}, {-1, 0, 0, 0}, {0, -1, 0, 0}};
    const double dt = 0.13, gamma = 0.9;
    struct lgv_model *m = model_of("parameters: {g: 0.9}\ncoordinates: {x: 0.3, y: -0.5}\nmomenta: {u: 0.7, v: 0.2}\n"
                                   "hamiltonian: u^2 + v^2/4 + x^4/4 + x^2*y^2/2 + y^2/2\n"
                                   "langevin: {friction: [g/2, 2*g], temperature: 0.4}\n");
    matrix O = zeros(4, 4);
    for (size_t i = 0; i < 16; i++) O.at[i / 4][i % 4] = omega[i / 4][i % 4];
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        struct lgv_kernel kernel = kernel_with(m, method[k], 2, NULL);
        matrix J = jacobian_of(&kernel, dt, 3, states[0]);
        matrix defect = sum(around(transposed(J), O), -expl(-(long double)gamma * dt), O);
        print_message("%s: %.2Lg\n", method[k], largest(defect));
        if (!(largest(defect) < TOLERANCE)) fail_msg("%s: defect %Lg", method[k], largest(defect));
        lgv_kernel_free(&kernel);
    }
    lgv_model_free(m);
}

/* One step with its bath switched off. */
static void step_without_bath(const struct lgv_kernel *k, double dt, const double *from, double *to) {
    const size_t n = k->nx + k->np, lanes = k->entry->lanes;
    struct lgv_own_block b;
    assert_true(lgv_block_create(k, 0, dt, 3, 1, &b));
    lgv_block_without_bath(k, &b);
    for (size_t l = 0; l < lanes; l++) b.path[l] = 5;
    for (size_t r = 0; r < n * lanes; r++) b.block.state[r] = from[r / lanes];
    k->entry->project(&b.block);
    k->entry->advance(&b.block, 1);
    assert_false(b.block.fail[0]);
    for (size_t r = 0; r < n; r++) to[r] = b.block.state[r * lanes];
    lgv_block_free(&b);
}

/* It is symplectic by itself, and the step of the method `plain` on the model without a bath. */
static void check_conservative(const char *model, const char *friction, const char *name, const char *plain) {
    char text[600];
    const double dt = 0.13;
    snprintf(text, sizeof text, "%slangevin: {friction: %s, temperature: 1e-6}\n", model, friction);
    struct lgv_model *m = model_of(text), *bare = model_of(model);
    struct lgv_kernel k = kernel_with(m, name, 2, NULL), other = kernel_with(bare, plain ? plain : "BAB", 2, NULL);
    const double x[4] = {0.6, -0.8, 0.4, 0.3}; /* on the circle; at this kT a proposal from here is rejected */
    double end[4], want[4];
    struct lgv_defect how = {.without_bath = true, .constraints = m->nconstraints};
    double d = lgv_certificate_defect(&k, 0, dt, 3, 5, 1, x, NULL, NULL, NULL, &how);
    print_message("%s, friction %s: defect %.2g, known to %.2g\n", name, friction, d, how.error);
    if (!(d <= how.error && how.error < TOLERANCE)) fail_msg("%s: defect %g", name, d);
    step_without_bath(&k, dt, x, end);
    step_without_bath(&other, dt, x, want);
    for (size_t r = 0; plain && r < 4; r++) assert_near(end[r], want[r], 1e-14, "conservative part");
    lgv_kernel_free(&other);
    lgv_kernel_free(&k);
    lgv_model_free(bare);
    lgv_model_free(m);
}

#define PLANE "coordinates: {x: 0.6, y: -0.8}\nmomenta: {u: 0.4, v: 0.3}\n"
#define FREE PLANE "hamiltonian: u^2 + v^2/4 + x^4/4 + x^2*y^2/2 + y^2/2\n"
#define COUPLED PLANE "hamiltonian: u^2 + v^2/4 + 0.3*u*v + x^4/4 + x^2*y^2/2 + y^2/2\n"
#define NOISY FREE "noise: x*y/5\n"
#define CIRCLE PLANE "hamiltonian: (u^2 + v^2)/2 + y + x^2\nconstraints: x^2 + y^2 - 1\n"

static void test_conservative(void **state) {
    (void)state;
    static const struct {
        const char *model, *friction, *name, *plain;
    } row[] = {
        {FREE, "[0.6, 1.1]", "BAOAB", "BAB"},
        {FREE, "0.5 + x^2", "BAOAB", "BAB"},
        {FREE, "[0.6, 0]", "UBU", "ABA"},
        {FREE, "0.6", "SVE-QI", "SVE"},
        {NOISY, "[0.6, 1.1]", "BAOAB", NULL}, /* without a bath the noise has other numbers */
        {COUPLED, "[[0.5, 0.5], [0.5, 0.5]]", "ABOBA", "ABA"},
        {COUPLED, "[[0.5, 0.5], [0.5, 0.5]]", "UBU", "ABA"},
        {COUPLED, "[[0.5, 0.5], [0.5, 0.5]]", "BBK", "BAB"},
        {COUPLED, "0.7", "P1N1Q2Gau-GLA", "P1N1Q2Gau"},
        {COUPLED, "0.7", "OBABO-Metropolis", "BAB"},
        {CIRCLE, "0.7", "g-OBABO", "RATTLE"},
        {CIRCLE, "[0.5, 2]", "g-OBABO", "RATTLE"},
        {CIRCLE, "0.5 + x^2", "RATTLE-GLA", "RATTLE"},
        {CIRCLE, "0.5 + x^2", "g-OBABO-Metropolis", "RATTLE"},
        {CIRCLE, "[0.5, 2]", "g-SVE-Q", "SVE"},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++)
        check_conservative(row[k].model, row[k].friction, row[k].name, row[k].plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_volume), cmocka_unit_test(test_conformal),
                                       cmocka_unit_test(test_conservative)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
