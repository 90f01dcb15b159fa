/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Fixman term: its value and its derivatives against a determinant taken in long double, and the two laws of a
 * trimer, of rigid bonds and of stiff ones, against their densities. */
#include "helpers.h"

#define BATH "langevin: {friction: 1, temperature: kT, fixman: %s}\n"
#define TRIMER                                                                                                         \
    "parameters: {kT: 0.7, m: 0.2}\n"                                                                                  \
    "coordinates: {'x[3] in R3': '[i - 2, 0.6*mod(i, 2), 0]'}\n"                                                       \
    "momenta: {p: '[0.3*normal(), 0.3*normal(), 0.3*normal()]'}\n"                                                     \
    "hamiltonian: dot(p[1], p[1])/2 + dot(p[2], p[2])/(2*m) + dot(p[3], p[3])/2 + dot(x[2], x[2])/2\n"                 \
    "constraints: ['each(i=1..2, dot(x[i+1] - x[i], x[i+1] - x[i]) - 1.36)']\n" BATH                                   \
    "observe: {c: 'dot(x[2] - x[1], x[3] - x[2])/1.36'}\n"
/* A ring and a plane, all of them coupled, with masses off the diagonal. */
#define RING                                                                                                           \
    "parameters: {kT: 0.7}\n"                                                                                          \
    "coordinates: {'x[4] in R3': '[cos(pi*i/2), sin(pi*i/2), 0.1*i]'}\nmomenta: {p: '[0, 0, 0]'}\n"                   \
    "hamiltonian: sum(i=1..4, i*dot(p[i], p[i])) + p[1].x*p[2].y/2 + p[3].z*p[1].x\n"                                  \
    "constraints: ['each(i=1..4, norm(x[wrap(i+1)] - x[i]) - 1.4)', 'x[1].x + x[2].x*x[3].x + x[4].x']\n" BATH
#define CHAIN                                                                                                          \
    "parameters: {kT: 0.7}\ncoordinates: {'x[9] in R3': '[i, 0.2*sin(i), 0.1*i]'}\nmomenta: {p: '[0, 0, 0]'}\n"      \
    "kinetic: {mass: 2}\npotential: sum(i=1..9, dot(x[i], x[i]))\n"                                                   \
    "constraints: ['each(i=1..8, dot(x[i+1] - x[i], x[i+1] - x[i]) - 1)']\n" BATH

static struct lgv_model *with(const char *text, const char *fixman) {
    char whole[2000];
    snprintf(whole, sizeof whole, text, fixman);
    return model_of(whole);
}

/* ---- the term ---- */

#define MOST 40

/* Second derivatives of a function of the model, by rows of `space`, at q. */
static void matrix_at(struct lgv_model *m, const struct lgv_terms *t, const double *q, size_t cols, double *out,
                      size_t size) {
    struct lgv_evaluator e;
    struct lgv_env env = {.par = m->par, .space = {[LGV_Q] = q, [LGV_P] = q}};
    assert_true(lgv_eval_begin(&e, m->graph));
    lgv_eval_terms(&e, t, &env, out, size, cols);
    lgv_eval_end(&e);
}

static long double determinant(size_t n, long double A[MOST][MOST]) {
    long double det = 1;
    for (size_t k = 0; k < n; k++) {
        size_t p = k;
        for (size_t i = k + 1; i < n; i++)
            if (fabsl(A[i][k]) > fabsl(A[p][k])) p = i;
        for (size_t j = 0; j < n; j++) {
            long double x = A[k][j];
            A[k][j] = A[p][j], A[p][j] = x;
        }
        det *= p == k ? A[k][k] : -A[k][k];
        for (size_t i = k + 1; i < n; i++)
            for (size_t j = n; j-- > k;) A[i][j] -= A[i][k] / A[k][k] * A[k][j];
    }
    return det;
}

/* kT/2 ln det(G M^-1 G^T) */
static double fixman_at(struct lgv_model *m, const double *q) {
    static double G[MOST * MOST], M[MOST * MOST];
    static long double A[MOST][MOST];
    struct lgv_function S;
    struct lgv_terms jacobian = {0}, inverse = {0};
    size_t nc = m->nconstraints, n = m->np;
    assert_true(n <= MOST && lgv_model_constraint_sum(m, &S) && lgv_algebra_inverse_masses(m, &inverse));
    lgv_terms_hessian(m->graph, &S, LGV_LAMBDA, LGV_Q, &jacobian);
    matrix_at(m, &jacobian, q, n, G, nc * n);
    matrix_at(m, &inverse, q, n, M, n * n);
    for (size_t k = 0; k < nc; k++)
        for (size_t l = 0; l < nc; l++) {
            A[k][l] = 0;
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++) A[k][l] += (long double)G[k * n + i] * M[i * n + j] * G[l * n + j];
        }
    lgv_function_free(&S);
    lgv_terms_free(&jacobian);
    lgv_terms_free(&inverse);
    return 0.5 * 0.7 * (double)logl(determinant(nc, A));
}

static double energy_at(struct lgv_model *m, const double *q) {
    struct lgv_evaluator e;
    struct lgv_env env = {.par = m->par, .space = {[LGV_Q] = q, [LGV_P] = q}};
    assert_true(lgv_eval_begin(&e, m->graph));
    double H = lgv_eval_node(&e, m->hamiltonian, &env, NULL);
    lgv_eval_end(&e);
    return H;
}

static void test_value(void **state) {
    (void)state;
    static const char *const text[] = {TRIMER, RING, CHAIN};
    for (size_t i = 0; i < 3; i++) {
        struct lgv_model *plain = with(text[i], "no"), *m = with(text[i], "yes");
        uint64_t seed = 7;
        for (int point = 0; point < 5; point++) {
            double q[MOST];
            for (size_t k = 0; k < m->np; k++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                q[k] = (double)(seed >> 11) / 9007199254740992.0 - 0.5 + (k % 3 == 0 ? 0.7 * (double)k : 0);
            }
            double want = fixman_at(plain, q), got = energy_at(m, q) - energy_at(plain, q);
            assert_near(got, want, 1e-11 * (fabs(want) + fabs(energy_at(m, q))), "Fixman term");
        }
        assert_true(lgv_model_derivative_error(m) < 1e-8); /* finite differences */
        lgv_model_free(plain);
        lgv_model_free(m);
    }
}

/* ---- laws ---- */

/* With c the cosine between the two bonds, the density of rigid bonds is sqrt(det A) ~ sqrt((1 + m)^2 - c^2) in c; that
 * of stiff ones is flat.  The trap around the bead in the middle does not change it. */
static double cosine_square(bool stiff) {
    double total = 0, square = 0;
    for (int i = -2000; i < 2000; i++) {
        double c = (i + 0.5) / 2000, w = stiff ? 1 : sqrt(1.2 * 1.2 - c * c);
        total += w;
        square += w * c * c;
    }
    return square / total;
}

static void check_law(bool stiff, const char *method, double step, bool biased) {
    enum { PATHS = 8000 };
    struct lgv_model *m = with(TRIMER, stiff ? "yes" : "no");
    struct lgv_kernel k = kernel_with(m, method, 0, NULL);
    double *value = final_values(&k, step, (uint64_t)(12 / step), PATHS, 3, 1), mean = 0, square = 0;
    size_t c = watch_number(&k, "c");
    for (size_t i = 0; i < PATHS; i++) {
        double x = value[i * k.watch.count + c];
        mean += x * x / PATHS;
        square += x * x * x * x / PATHS;
    }
    double error = sqrt((square - mean * mean) / PATHS), want = cosine_square(stiff), other = cosine_square(!stiff);
    print_message("%s, %s: mean square cosine %.4f +- %.4f, %.4f expected; the other law has %.4f\n", method,
                  stiff ? "stiff" : "rigid", mean, error, want, other);
    assert_near(mean, want, 4 * error + (biased ? 0.002 : 0), "law");
    assert_true(fabs(mean - other) > 8 * error);
    free(value);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

static void test_laws(void **state) {
    (void)state;
    check_law(false, "g-BAOAB", 0.04, false);
    check_law(true, "g-BAOAB", 0.04, false);
    check_law(true, "RATTLE-GLA", 0.03, true); /* a bias of second order */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value),
        cmocka_unit_test(test_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
