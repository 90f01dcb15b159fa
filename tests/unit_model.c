/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Model files to models: values of Hamiltonians, noises, start values and exact solutions against numbers computed by
 * hand, gradients against finite differences, overrides, and the examples. */
#include "model/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define CLOSE 1e-13 /* relative: a few dozen roundings */

static struct lgv_model *parsed(const char *text) {
    struct lgv_model *m = NULL;
    struct lgv_error err = {0};
    if (lgv_model_parse(text, "test.yaml", &m, &err) != LGV_OK) fail_msg("%s", err.message);
    return m;
}

static void assert_close(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance * (1 + fabs(b)))) fail_msg("%.17g is not %.17g", a, b);
}

/* The value of a node where every space is filled by `state` (q then p) unless given. */
static double value(struct lgv_model *m, int node, const double *q, const double *p, double t) {
    struct lgv_evaluator e;
    double draw[64];
    for (int k = 0; k < 64; k++) draw[k] = 100 + k;
    struct lgv_env env = {.par = m->par,
                          .t = t,
                          .space = {[LGV_Q] = q,
                                    [LGV_P] = p,
                                    [LGV_DQ] = q,
                                    [LGV_DP] = p,
                                    [LGV_NORMAL] = draw,
                                    [LGV_UNIFORM] = draw,
                                    [LGV_BROWN] = draw}};
    assert_true(lgv_eval_begin(&e, m->graph));
    double x = lgv_eval_node(&e, node, &env, NULL);
    lgv_eval_end(&e);
    return x;
}

static double increment(struct lgv_model *m, const double *q, const double *p, const double *w) {
    struct lgv_function f;
    struct lgv_evaluator e;
    struct lgv_env env = {.par = m->par, .t = 0.3, .space = {[LGV_Q] = q, [LGV_P] = p, [LGV_WEIGHTS] = w}};
    assert_true(lgv_model_increment(m, &f));
    assert_true(lgv_eval_begin(&e, m->graph));
    double x = lgv_eval_function(&e, &f, &env);
    lgv_eval_end(&e);
    lgv_function_free(&f);
    return x;
}

/* Gradient of the increment Hamiltonian in one space against central differences. */
static void check_gradient(struct lgv_model *m, enum lgv_space space) {
    size_t n = m->np;
    double *s = lgv_new(2 * n + m->nnoise + 1 + n, sizeof *s), *w = s + 2 * n, *g = w + m->nnoise + 1;
    for (size_t k = 0; k < 2 * n; k++) s[k] = 1 + 0.8 * sin(3 * (double)k + 1);
    for (size_t k = 0; k <= m->nnoise; k++) w[k] = 0.5 + 0.1 * (double)(k % 7);
    struct lgv_function f;
    struct lgv_terms terms = {0};
    struct lgv_evaluator e;
    struct lgv_env env = {.par = m->par, .t = 0.3, .space = {[LGV_Q] = s, [LGV_P] = s + n, [LGV_WEIGHTS] = w}};
    assert_true(lgv_model_increment(m, &f));
    lgv_terms_gradient(m->graph, &f, space, &terms);
    assert_null(m->graph->failed);
    assert_true(lgv_eval_begin(&e, m->graph));
    lgv_eval_terms(&e, &terms, &env, g, n, 0);
    lgv_eval_end(&e);
    for (size_t k = 0; k < n; k++) {
        double *x = &s[(space == LGV_P ? n : 0) + k], old = *x, h = 1e-5;
        *x = old + h;
        double up = increment(m, s, s + n, w);
        *x = old - h;
        double down = increment(m, s, s + n, w);
        *x = old;
        assert_close(g[k], (up - down) / (2 * h), 1e-7); /* h^2 and eps/h */
    }
    lgv_terms_free(&terms);
    lgv_function_free(&f);
    free(s);
}

static void test_hamiltonian(void **state) {
    (void)state;
    struct lgv_model *m = parsed("parameters: {a: 2, b: a^2 + 1}\n"
                                 "coordinates: {y: 0, n: a}\n"
                                 "momenta: {on: 1, p: y + n + on}\n"
                                 "hamiltonian: on^2/2 + p^2/b + cos(y)*n^2 + t\n"
                                 "noise: [a*H, y*p]\n");
    double q[2] = {0.3, 0.7}, p[2] = {1.1, -0.4};
    double H = 1.1 * 1.1 / 2 + 0.4 * 0.4 / 5 + cos(0.3) * 0.49 + 0.3;
    assert_string_equal(m->name, "test");
    assert_int_equal(m->np, 2);
    assert_int_equal(m->nnoise, 2);
    assert_true(m->par[0] == 2 && m->par[1] == 5);
    assert_close(value(m, m->hamiltonian, q, p, 0.3), H, CLOSE);
    assert_close(increment(m, q, p, (double[]){2, 3, 5}), 2 * H + 3 * 2 * H + 5 * 0.3 * -0.4, CLOSE);
    double start[4] = {0, 2, 1, 0};
    assert_close(value(m, m->start[3], start, start + 2, 0), 3, CLOSE);
    assert_string_equal(m->component[1], "n");
    assert_string_equal(m->component[2], "on");
    check_gradient(m, LGV_Q);
    check_gradient(m, LGV_P);
    lgv_model_free(m);
}

static void test_kinetic(void **state) {
    (void)state;
    double q[] = {1, 2, 3, 4, 5, 6, 7}, p[] = {1, -1, 2, 0.5, 3, -2, 1};
    struct lgv_model *m = parsed("coordinates: {z: 1, 'x[3] in R2': 0}\npotential: z^2\n");
    assert_close(value(m, m->hamiltonian, q, p, 0), (1 + 1 + 4 + 0.25 + 9 + 4 + 1) / 2 + 1, CLOSE);
    assert_string_equal(m->component[7], "p_z");
    assert_string_equal(m->component[13], "p_x[3].y");
    check_gradient(m, LGV_P);
    lgv_model_free(m);
    m = parsed("parameters: {m1: 4}\ncoordinates: {z: 1, 'x[3] in R2': 0}\nkinetic: {mass: {x: m1}}\npotential: z\n");
    assert_close(value(m, m->hamiltonian, q, p, 0), 0.5 + (1 + 4 + 0.25 + 9 + 4 + 1) / 8 + 1, CLOSE);
    lgv_model_free(m);
    m = parsed("coordinates: {z: 1, 'x[3] in R2': 0}\nkinetic: {mass: 2}\npotential: z\n");
    assert_close(value(m, m->hamiltonian, q, p, 0), (1 + 1 + 4 + 0.25 + 9 + 4 + 1) / 4 + 1, CLOSE);
    lgv_model_free(m);
}

static void test_starts(void **state) {
    (void)state;
    struct lgv_model *m = parsed("parameters: {N: 4}\n"
                                 "where: {f(s): s^2 + normal()}\n"
                                 "coordinates:\n"
                                 "  a: 2*uniform(1, 3)\n"
                                 "  x[N]: i*10\n"
                                 "  y[3]: [1, 'y[1] + 1', 'y[2]*y[1] + sum(j=1..i-1, y[j])']\n"
                                 "  r in R2: normal()\n"
                                 "  s[2] in R3: '[i, normal(), x[i]]'\n"
                                 "  v[2] in R2: [[1, 2], [3, 4]]\n"
                                 "momenta: {pa: a, px: f(i), py: 0, pr: [1, 2], ps: 7, pv: '[r.x, i]'}\n"
                                 "potential: 0\n");
    assert_int_equal(m->np, 20);
    double q[20], p[20];
    for (size_t k = 0; k < 20; k++) {
        q[k] = 0;
        q[k] = value(m, m->start[k], q, p, 0);
    }
    for (size_t k = 0; k < 20; k++) p[k] = value(m, m->start[20 + k], q, p, 0);
    /* draws: uniform number 0 is 100; normals 0, 1 for r, then 2, 3 for s */
    const double expect[20] = {
        2 * (1 + 2 * 100.), 10, 20, 30, 40, 1, 2, 5, 100, 101, 1, 102, 10, 2, 103, 20, 1, 2, 3, 4};
    for (size_t k = 0; k < 20; k++) assert_close(q[k], expect[k], CLOSE);
    const double momenta[20] = {402, 1 + 104, 4 + 105, 9 + 106, 16 + 107, 0, 0,   0, 1,   2,
                                7,   7,       7,       7,       7,        7, 100, 1, 100, 2};
    for (size_t k = 0; k < 20; k++) assert_close(p[k], momenta[k], CLOSE);
    assert_int_equal(m->draws[0], 8);
    assert_int_equal(m->draws[1], 1);
    assert_string_equal(m->component[15], "s[2].z");
    lgv_model_free(m);
}

static void test_families(void **state) {
    (void)state;
    struct lgv_model *m = parsed("parameters: {N: 3}\n"
                                 "coordinates: {'x[N]': 0}\nmomenta: {p: 0}\n"
                                 "potential: sum(i=1..N, x[i]^2)\n"
                                 "noise:\n - x[1]\n - each(k=1..N, j=2..3, k*x[k]*p[j])\n - p[2]\n"
                                 "noise_potential: each(k=2..3, x[k]^2)\n");
    assert_int_equal(m->nnoise, 10);
    assert_int_equal(m->nentries, 4);
    assert_int_equal(m->noise[1].first, 1);
    assert_int_equal(m->noise[1].count, 6);
    assert_int_equal(m->noise[3].first, 8);
    double q[3] = {2, 3, 5}, p[3] = {7, 11, 13}, w[11] = {0, 1, 10, 20, 30, 40, 50, 60, 1000, 2000, 3000};
    double expect = 2 + 1000 * 11 - 2000 * 9 - 3000 * 25.;
    int member = 2;
    for (int k = 1; k <= 3; k++)
        for (int j = 2; j <= 3; j++) expect += w[member++] * k * q[k - 1] * p[j - 1];
    assert_close(increment(m, q, p, w), expect, CLOSE);
    check_gradient(m, LGV_Q);
    check_gradient(m, LGV_P);
    lgv_model_free(m);
    /* the Hamiltonian, itself a sum, inside a family: its loop variable is not the family's */
    m = parsed("coordinates: {'x[40]': 0}\npotential: sum(i=1..40, i*x[i]^2)\nnoise: each(k=1..40, H*x[k])\n");
    double y[80], v[41], H = 0;
    for (int k = 0; k < 80; k++) y[k] = 0.1 * k + 1;
    for (int k = 0; k < 40; k++) H += (k + 1) * y[k] * y[k] + y[40 + k] * y[40 + k] / 2;
    expect = v[0] = 0;
    for (int k = 1; k <= 40; k++) {
        v[k] = 1 + k % 5;
        expect += v[k] * H * y[k - 1];
    }
    assert_close(increment(m, y, y + 40, v), expect, CLOSE);
    lgv_model_free(m);
}

/* Sums inside sums through names and functions: loop variables of one must not catch those of the other. */
static void test_nested_sums(void **state) {
    (void)state;
    struct lgv_model *m = parsed("parameters: {N: 30}\n"
                                 "coordinates: {'x[N]': 0}\nmomenta: {p: 0}\n"
                                 "where:\n"
                                 "  S: sum(i=1..N, x[i])\n"
                                 "  D(s): sum(j=1..3, s*x[j])\n"
                                 "hamiltonian: sum(i=1..N, x[i]*p[i]*S) + sum(i=1..N, D(sum(k=1..2, x[k])*i)*p[i])\n"
                                 "observe: {square: 'sum(i=1..N, x[i]*S)^2'}\n");
    double q[30], p[30], w[1] = {1}, S = 0, xp = 0, ip = 0;
    for (int k = 0; k < 30; k++) {
        q[k] = cos(k);
        p[k] = 1 + sin(2 * k);
        S += q[k];
        xp += q[k] * p[k];
        ip += (k + 1) * p[k];
    }
    double H = xp * S + ip * (q[0] + q[1]) * (q[0] + q[1] + q[2]);
    assert_close(value(m, m->hamiltonian, q, p, 0), H, CLOSE);
    assert_close(increment(m, q, p, w), H, CLOSE);
    assert_close(value(m, m->observable[0].node, q, p, 0), S * S * S * S, CLOSE);
    struct lgv_function f;
    struct lgv_evaluator e;
    struct lgv_env env = {.par = m->par, .space = {[LGV_Q] = q, [LGV_P] = p}};
    assert_true(lgv_function_split(m->graph, m->observable[0].node, true, &f));
    assert_true(lgv_eval_begin(&e, m->graph));
    assert_close(lgv_eval_function(&e, &f, &env), S * S * S * S, CLOSE);
    lgv_eval_end(&e);
    lgv_function_free(&f);
    check_gradient(m, LGV_Q);
    check_gradient(m, LGV_P);
    lgv_model_free(m);
}

static void test_vectors(void **state) {
    (void)state;
    struct lgv_model *m = parsed("coordinates: {'x[3] in R3': normal()}\nmomenta: {p: 0}\n"
                                 "where:\n"
                                 "  LJ(r2): 4*(r2^-6 - r2^-3)\n"
                                 "  d12: x[1] - x[2]\n"
                                 "  L: sum(i=1..3, cross(x[i], p[i]).z)\n"
                                 "hamiltonian: |\n"
                                 "  sum(i=1..3, dot(p[i], p[i]))/2\n"
                                 "  + sum(i=1..3, j=i+1..3, LJ(dot(x[i]-x[j], x[i]-x[j])))\n"
                                 "symmetries:\n"
                                 "  turn: {x: ['-x[i].y', 'x[i].x', 0]}\n"
                                 "  push: {'x[3]': '[1, 0, 0]'}\n"
                                 "  list: ['-x[1].y', 'x[1].x', 0, 0, 0, 0, 0, 0, i3]\n"
                                 "observe: {L: L, d: norm(d12)}\n"
                                 "run: {method: RK4, step: 0.1}\n"
                                 "parameters: {i3: 3}\n");
    double q[9] = {0, 0, 0, 1, 0.5, 0, 0, 1, 1.5}, p[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, U = 0, T = 0;
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 3; j++) {
            double r2 = 0;
            for (int k = 0; k < 3; k++) r2 += (q[3 * i + k] - q[3 * j + k]) * (q[3 * i + k] - q[3 * j + k]);
            U += 4 * (pow(r2, -6) - pow(r2, -3));
        }
    for (int k = 0; k < 9; k++) T += p[k] * p[k] / 2;
    assert_close(value(m, m->hamiltonian, q, p, 0), T + U, CLOSE);
    assert_close(value(m, m->observable[0].node, q, p, 0), 1 * 5 - 0.5 * 4 + 0 - 1 * 7, CLOSE);
    assert_close(value(m, m->observable[1].node, q, p, 0), sqrt(1.25), CLOSE);
    assert_int_equal(m->nsymmetries, 3);
    assert_close(value(m, m->symmetry[0].xi[3], q, p, 0), -0.5, CLOSE);
    assert_close(value(m, m->symmetry[0].xi[7], q, p, 0), 0, CLOSE);
    assert_close(value(m, m->symmetry[1].xi[6], q, p, 0), 1, CLOSE);
    assert_close(value(m, m->symmetry[2].xi[8], q, p, 0), 3, CLOSE);
    assert_int_equal(m->nrun, 2);
    assert_string_equal(m->run[1].value, "0.1");
    assert_int_equal(m->run[1].line, 15);
    assert_int_equal(m->run[1].column, 26);
    assert_int_equal(m->run[1].key_column, 20);
    check_gradient(m, LGV_Q);
    lgv_model_free(m);
}

static void test_exact(void **state) {
    (void)state;
    struct lgv_model *m = parsed("parameters: {b: 0.1}\ncoordinates: {q: 0, z: 0}\nmomenta: {p: 1, pz: 0}\n"
                                 "hamiltonian: p^2/2 + q^2/2\nnoise: b*H\n"
                                 "exact:\n  q: p0*sin(t + b*W[1]) + q0*cos(t + b*W[1])\n"
                                 "observe: {H: H, first: h1}\n");
    double q[2] = {0.5, 0}, p[2] = {2, 0}; /* W[1] is 100 */
    assert_close(value(m, m->exact[0], q, p, 0.3), 2 * sin(10.3) + 0.5 * cos(10.3), CLOSE);
    assert_int_equal(m->exact[1], -1);
    assert_int_equal(m->exact[2], -1);
    assert_int_equal(m->observable[0].node, m->hamiltonian);
    assert_close(value(m, m->observable[1].node, q, p, 0), 0.1 * (2 + 0.125), CLOSE);
    lgv_model_free(m);
}

static void test_overrides(void **state) {
    (void)state;
    struct lgv_error err;
    struct lgv_model *m =
        parsed("parameters: {N: 2, alpha: 1, b: 2*alpha}\ncoordinates: {'x[N]': 0}\npotential: b*x[N]^2\n");
    struct lgv_model *same = m;
    assert_int_equal(lgv_model_set(m, "alpha", 5, &err), LGV_OK);
    assert_true(m == same && m->par[2] == 10);
    assert_int_equal(lgv_model_set(m, "N", 3, &err), LGV_OK);
    assert_int_equal(m->np, 3);
    assert_true(m->par[2] == 10);
    assert_int_equal(lgv_model_set(m, "alpha", 7, &err), LGV_OK);
    assert_int_equal(m->nsettings, 2);
    assert_true(m->par[2] == 14 && m->np == 3);
    assert_int_equal(lgv_model_set(m, "b", 1, &err), LGV_OK); /* a derived one */
    assert_true(m->par[2] == 1);
    assert_int_equal(lgv_model_set(m, "alfa", 1, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "no parameter alfa; did you mean alpha?"));
    assert_int_equal(lgv_model_set(m, "alpha", NAN, &err), LGV_BAD_INPUT);
    assert_int_equal(lgv_model_set(m, "alpha", INFINITY, NULL), LGV_BAD_INPUT);
    assert_int_equal(lgv_model_set(m, "N", 2.5, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "whole number"));
    assert_true(m->np == 3 && m->par[1] == 7); /* as it was */
    lgv_model_free(m);
    lgv_model_free(NULL);
}

/* A big array stays small: the formulas do not grow with N. */
static void test_size(void **state) {
    (void)state;
    struct lgv_model *m = parsed("parameters: {N: 30000}\ncoordinates: {'x[N] in R3': 0}\n"
                                 "potential: sum(i=1..N, dot(x[i], x[wrap(i+1)]))\nnoise: each(k=1..N, x[k].x)\n");
    struct lgv_function f;
    assert_int_equal(m->np, 90000);
    assert_int_equal(m->nnoise, 30000);
    assert_true(m->graph->nnodes < 30100); /* the constants i of the start values */
    assert_true(lgv_model_increment(m, &f));
    assert_int_equal(f.count, 2); /* loops over components and over particles */
    lgv_function_free(&f);
    lgv_model_free(m);
}

/* Arguments of all nodes after the Hessian of n nested sines. */
static double chain_size(int n) {
    struct lgv_text t = {0};
    lgv_text_add(&t, "coordinates: {q: 0.5}\nmomenta: {p: 0}\nhamiltonian: p^2/2 + ");
    for (int k = 0; k < n; k++) lgv_text_add(&t, "sin(");
    lgv_text_add(&t, "q");
    for (int k = 0; k < n; k++) lgv_text_add(&t, ")");
    lgv_text_add(&t, "\n");
    struct lgv_model *m = parsed(t.data);
    struct lgv_function f;
    struct lgv_terms h = {0};
    assert_true(lgv_model_increment(m, &f));
    lgv_terms_hessian(m->graph, &f, LGV_Q, LGV_Q, &h);
    check_gradient(m, LGV_Q);
    double size = (double)m->graph->nargs;
    lgv_terms_free(&h);
    lgv_function_free(&f);
    lgv_model_free(m);
    lgv_text_free(&t);
    return size;
}

/* A chain of functions has derivatives as long as the chain, not as its square or cube. */
static void test_chain(void **state) {
    (void)state;
    assert_true(chain_size(160) < 2.5 * chain_size(80));
}

/* What grows too large while it is analysed is refused at its place in the file. */
static void test_growth(void **state) {
    (void)state;
    struct lgv_model *m = parsed("coordinates: {q: 0.5}\nmomenta: {p: 0}\nhamiltonian: p^2/2 + sin(sin(q))\n");
    struct lgv_structure s;
    struct lgv_error err = {0};
    m->graph->allowance = m->graph->work + 100;
    assert_int_equal(lgv_model_structure(m, &s, &err), LGV_BAD_INPUT);
    assert_int_equal(err.line, 3);
    assert_int_equal(err.column, 14);
    assert_non_null(strstr(err.message, "too large"));
    lgv_model_free(m);
}

/* The derivatives of a sum of many terms are compared on some of them. */
static void test_sample(void **state) {
    (void)state;
    struct lgv_model *m = parsed("parameters: {N: 40}\ncoordinates: {'x[N] in R3': '[i, sin(i), cos(i)]'}\n"
                                 "potential: sum(i=1..N, j=i+1..N, norm(x[i] - x[j])^-6)\n");
    double error = lgv_model_derivative_error(m);
    assert_true(error > 0 && error < 1e-6);
    lgv_model_free(m);
}

static void test_examples(void **state) {
    (void)state;
    static const char *const names[] = {"kubo", "synchrotron", "anharmonic", "rotation", "lattice"};
    const char *src = getenv("SRC");
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char path[4096];
        struct lgv_model *m = NULL;
        struct lgv_error err = {0};
        snprintf(path, sizeof path, "%s/examples/%s/%s.yaml", src ? src : ".", names[k], names[k]);
        if (lgv_model_load(path, &m, &err) != LGV_OK) fail_msg("%s", err.message);
        assert_string_equal(m->name, names[k]);
        check_gradient(m, LGV_Q);
        check_gradient(m, LGV_P);
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hamiltonian), cmocka_unit_test(test_kinetic),
                                       cmocka_unit_test(test_starts),      cmocka_unit_test(test_families),
                                       cmocka_unit_test(test_nested_sums), cmocka_unit_test(test_vectors),
                                       cmocka_unit_test(test_exact),       cmocka_unit_test(test_overrides),
                                       cmocka_unit_test(test_size),        cmocka_unit_test(test_chain),
                                       cmocka_unit_test(test_growth),      cmocka_unit_test(test_sample),
                                       cmocka_unit_test(test_examples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
