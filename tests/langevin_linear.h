/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Oscillators with friction, H = p.M^-1 p/2 + q.K q/2, and one step of every Langevin method on them, written down from
 * the formulas of the methods: mean map and covariance. */
#ifndef LGV_TESTS_LANGEVIN_LINEAR_H
#define LGV_TESTS_LANGEVIN_LINEAR_H

#include "langevin.h"

struct oscillators {
    const char *name, *text;
    size_t n;
    double inverse[4], K[4], friction[4], kT[2]; /* M^-1, K, Gamma */
};

#define ONE_OSCILLATOR "coordinates: {x: 0.4}\nmomenta: {u: -0.3}\nhamiltonian: u^2/(2*0.8) + 0.9*x^2\n"
#define TWO_STARTS "coordinates: {x: 0.4, y: -0.2}\nmomenta: {u: -0.3, v: 0.5}\n"
#define TWO_OSCILLATORS TWO_STARTS "hamiltonian: u^2 + v^2/4 + x^2 + 0.3*x*y + y^2/2\n"
/* One kernel for all of them. */
#define DENSE_OSCILLATORS(coupling, a, b, c)                                                                           \
    "parameters: {m: " #coupling ", a: " #a ", b: " #b ", c: " #c "}\n" TWO_STARTS                                     \
    "hamiltonian: u^2 + v^2/4 + m*u*v + x^2 + 0.3*x*y + y^2/2\n"                                                       \
    "langevin: {friction: [[a, b], [b, c]], temperature: 0.7}\n"
static const struct oscillators oscillators[] = {
    {"one", ONE_OSCILLATOR "langevin: {friction: 0.6, temperature: 0.7}\n", 1, {1.25}, {1.8}, {0.6}, {0.7}},
    {"two temperatures",
     TWO_OSCILLATORS "langevin: {friction: [0.6, 1.1], temperature: {x: 0.7, y: 0.2}}\n",
     2, {2, 0, 0, 0.5}, {2, 0.3, 0.3, 1}, {0.6, 0, 0, 1.1}, {0.7, 0.2}},
    {"bath of the second",
     TWO_OSCILLATORS "langevin: {friction: {y: 0.9}, temperature: 0.7}\n",
     2, {2, 0, 0, 0.5}, {2, 0.3, 0.3, 1}, {0, 0, 0, 0.9}, {0.7, 0.7}},
    {"friction matrix", DENSE_OSCILLATORS(0, 0.6, 0.4, 0.9),
     2, {2, 0, 0, 0.5}, {2, 0.3, 0.3, 1}, {0.6, 0.4, 0.4, 0.9}, {0.7, 0.7}},
    {"singular friction, full masses", DENSE_OSCILLATORS(0.3, 0.5, 0.5, 0.5),
     2, {2, 0.3, 0.3, 0.5}, {2, 0.3, 0.3, 1}, {0.5, 0.5, 0.5, 0.5}, {0.7, 0.7}},
    {"diagonal friction, full masses", DENSE_OSCILLATORS(0.3, 0.6, 0, 1.1),
     2, {2, 0.3, 0.3, 0.5}, {2, 0.3, 0.3, 1}, {0.6, 0, 0, 1.1}, {0.7, 0.7}},
};
#define OSCILLATORS (sizeof oscillators / sizeof *oscillators)

static const char *const langevin_methods[] = {
    "BAOAB", "OBABO",         "ABOBA",         "OABAO", "BAOA",   "UBU", "BUB",
    "UB",    "P2N2Q2Lob-GLA", "P1N1Q2Gau-GLA", "SVE-Q", "SVE-QI", "BBK", "EEM",
    "IEM",   "P2N2Q2Lob-GLA1"};
#define LANGEVIN_METHODS (sizeof langevin_methods / sizeof *langevin_methods)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

static matrix square_of(size_t n, const double *x) {
    matrix A = zeros(n, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) A.at[i][j] = x[i * n + j];
    return A;
}

/* 2 kT Gamma; several temperatures only where Gamma is diagonal. */
static matrix noise_of(const struct oscillators *o) {
    matrix S = scaled(2, square_of(o->n, o->friction));
    for (size_t i = 0; i < o->n; i++)
        for (size_t j = 0; j < o->n; j++) S.at[i][j] *= sqrtl((long double)o->kT[i] * o->kT[j]);
    return S;
}

static matrix four_blocks(matrix qq, matrix qp, matrix pq, matrix pp) {
    matrix A = zeros(2 * qq.rows, 2 * qq.rows);
    put(&A, 0, 0, qq);
    put(&A, 0, qq.rows, qp);
    put(&A, qq.rows, 0, pq);
    put(&A, qq.rows, qq.rows, pp);
    return A;
}

static struct gaussian drift_of(const struct oscillators *o, long double h) {
    matrix one = identity(o->n), zero = zeros(o->n, o->n);
    return certain(four_blocks(one, scaled(h, square_of(o->n, o->inverse)), zero, one));
}

static struct gaussian kick_of(const struct oscillators *o, long double h) {
    matrix one = identity(o->n), zero = zeros(o->n, o->n);
    return certain(four_blocks(one, zero, scaled(-h, square_of(o->n, o->K)), one));
}

/* Friction and bath with or without the drift. */
static struct gaussian bath_of(const struct oscillators *o, bool drift, long double h) {
    matrix zero = zeros(o->n, o->n), inverse = square_of(o->n, o->inverse);
    matrix rate = scaled(-1, product(square_of(o->n, o->friction), inverse));
    return flow(four_blocks(zero, drift ? inverse : zero, zero, rate), four_blocks(zero, zero, zero, noise_of(o)), h);
}

/* The field of H with friction: x' = J x. */
static matrix field_of(const struct oscillators *o, bool friction) {
    matrix inverse = square_of(o->n, o->inverse), zero = zeros(o->n, o->n);
    matrix drag = friction ? product(square_of(o->n, o->friction), inverse) : zero;
    return four_blocks(zero, inverse, scaled(-1, square_of(o->n, o->K)), scaled(-1, drag));
}

static struct gaussian word_of(const struct oscillators *o, const char *word, long double h) {
    struct gaussian g = certain(identity(2 * o->n));
    for (const char *c = word; *c; c++) {
        int count = 0;
        for (const char *d = word; *d; d++) count += *d == *c;
        g = follow(g, *c == 'A'   ? drift_of(o, h / count)
                      : *c == 'B' ? kick_of(o, h / count)
                                  : bath_of(o, *c == 'U', h / count));
    }
    return g;
}

/* p becomes R (P p + Q q + noise of covariance S h), R = (1 + a Gamma M^-1)^-1 and P = 1 - b Gamma M^-1. */
static struct gaussian pushed(const struct oscillators *o, long double a, long double b, long double kick,
                              long double h) {
    matrix drag = product(square_of(o->n, o->friction), square_of(o->n, o->inverse)), one = identity(o->n);
    matrix zero = zeros(o->n, o->n), R = inverted(sum(one, a, drag)), P = sum(one, -b, drag);
    matrix Q = scaled(-kick, square_of(o->n, o->K));
    return (struct gaussian){four_blocks(one, zero, product(R, Q), product(R, P)),
                             four_blocks(zero, zero, zero, around(R, scaled(h, noise_of(o))))};
}

static struct gaussian euler_of(const struct oscillators *o, bool implicit, long double h) {
    matrix zero = zeros(o->n, o->n), one = identity(2 * o->n);
    struct gaussian noise = {one, four_blocks(zero, zero, zero, scaled(h, noise_of(o)))};
    matrix A = implicit ? inverted(sum(one, -h, field_of(o, true))) : sum(one, h, field_of(o, true));
    return implicit ? follow(noise, certain(A)) : follow(certain(A), noise);
}

/* One step of size h of a method. */
static struct gaussian formula_of(const struct oscillators *o, const char *method, long double h) {
    matrix J = scaled(h / 2, field_of(o, false)), one = identity(2 * o->n);
    struct gaussian half = bath_of(o, false, h / 2);
    if (strcmp(method, "P2N2Q2Lob-GLA") == 0) return word_of(o, "OBABO", h);
    if (strcmp(method, "P2N2Q2Lob-GLA1") == 0) return word_of(o, "BABO", h);
    if (strcmp(method, "P1N1Q2Gau-GLA") == 0)
        return follow(follow(half, certain(product(inverted(sum(one, -1, J)), sum(one, 1, J)))), half);
    if (strcmp(method, "SVE-Q") == 0) return follow(pushed(o, 0, h, h, h), drift_of(o, h));
    if (strcmp(method, "SVE-QI") == 0) return follow(pushed(o, h, 0, h, h), drift_of(o, h));
    if (strcmp(method, "BBK") == 0)
        return follow(follow(pushed(o, 0, h / 2, h / 2, h / 2), drift_of(o, h)), pushed(o, h / 2, 0, h / 2, h / 2));
    if (strcmp(method, "EEM") == 0 || strcmp(method, "IEM") == 0) return euler_of(o, method[0] == 'I', h);
    return word_of(o, method, h);
}

#pragma GCC diagnostic pop
#endif
