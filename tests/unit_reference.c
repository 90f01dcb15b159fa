/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every method against tests/reference_values.h.  The table gives its increments, kernels draw their own; so the steps
 * stand here a second time, with hand-written gradients and fixed-point iterations instead of Newton's method.  They
 * are held against the table first, then every kernel (generated from formulas, and compiled ahead of time for C
 * functions) is held against them, with the increments that the kernel will draw.  Rows of methods that the library
 * does not have, and P1N1Q1Rec with h(q,p), which it refuses, are counted and left out. */
#include "helpers.h"
#include "reference_values.h"

#define MOST 2 /* degrees of freedom, and noises */

/* Gradients and Hessians: [0] of H, [m] of h_m; x = (q, p), row-major in both. */
struct derivatives {
    double g[1 + MOST][2 * MOST], h[1 + MOST][2 * MOST * 2 * MOST];
};
struct subject {
    const char *name, *text, *noise;
    size_t n, nm;
    int separable, noise_of_q;
    double start[2 * MOST];
    void (*at)(double t, const double *x, struct derivatives *d);
};

static void kubo(double t, const double *x, struct derivatives *d) {
    (void)t;
    *d = (struct derivatives){.g = {{x[0], x[1]}, {0.1 * x[0], 0.1 * x[1]}}, .h = {{1, 0, 0, 1}, {0.1, 0, 0, 0.1}}};
}

static void synchrotron(double t, const double *x, struct derivatives *d) {
    (void)t;
    *d = (struct derivatives){.g = {{sin(x[0]), x[1]}, {0.1 * cos(x[0]), 0}},
                              .h = {{cos(x[0]), 0, 0, 1}, {-0.1 * sin(x[0]), 0, 0, 0}}};
}

static void twonoises(double t, const double *x, struct derivatives *d) {
    double a = x[0], b = x[1], u = x[2], v = x[3];
    (void)t;
    *d = (struct derivatives){
        .g = {{a * b * b / 2 + a + 0.1 * v, a * a * b / 2 + b, u, v + 0.1 * a},
              {0.1 * u, 0.2 * b, 0.1 * a, 0},
              {0, -0.2 * sin(b) * v, 0, 0.2 * cos(b)}},
        .h = {{b * b / 2 + 1, a * b, 0, 0.1, a * b, a * a / 2 + 1, 0, 0, 0, 0, 1, 0, 0.1, 0, 0, 1},
              {0, 0, 0.1, 0, 0, 0.2, 0, 0, 0.1, 0, 0, 0, 0, 0, 0, 0},
              {0, 0, 0, 0, 0, -0.2 * cos(b) * v, 0, -0.2 * sin(b), 0, 0, 0, 0, 0, -0.2 * sin(b), 0, 0}}};
}

/* Time in every part, once separable and once not: at which times do the methods look? */
static void driven(double t, const double *x, struct derivatives *d) {
    *d = (struct derivatives){.g = {{(1 + 0.5 * cos(t)) * x[0], (1 + 0.3 * sin(t)) * x[1]}, {0.3 * cos(x[0] + t), 0}},
                              .h = {{1 + 0.5 * cos(t), 0, 0, 1 + 0.3 * sin(t)}, {-0.3 * sin(x[0] + t), 0, 0, 0}}};
}

static void coupled(double t, const double *x, struct derivatives *d) {
    driven(t, x, d);
    d->g[0][0] += 0.2 * sin(t) * x[1];
    d->g[0][1] += 0.2 * sin(t) * x[0];
    d->h[0][1] += 0.2 * sin(t);
    d->h[0][2] += 0.2 * sin(t);
}

#define DRIVEN "coordinates: {q: 0.3}\nmomenta: {p: 0.9}\nhamiltonian: (1 + 0.3*sin(t))*p^2/2 + (1 + 0.5*cos(t))*q^2/2"
static const struct subject subjects[] = {
    {"kubo",
     "coordinates: {q: 0.3}\nmomenta: {p: 0.9}\nhamiltonian: p^2/2 + q^2/2\n",
     "noise: 0.1*H\n",
     1,
     1,
     1,
     0,
     {0.3, 0.9},
     kubo},
    {"synchrotron",
     "coordinates: {q: 0.3}\nmomenta: {p: 0.9}\nhamiltonian: p^2/2 - cos(q)\n",
     "noise: 0.1*sin(q)\n",
     1,
     1,
     1,
     1,
     {0.3, 0.9},
     synchrotron},
    {"twonoises",
     "coordinates: {a: 0.7, b: -0.4}\nmomenta: {u: 0.2, v: 0.5}\n"
     "hamiltonian: u^2/2 + v^2/2 + a^2*b^2/4 + (a^2 + b^2)/2 + 0.1*a*v\n",
     "noise: [0.1*(a*u + b^2), 0.2*cos(b)*v]\n",
     2,
     2,
     0,
     0,
     {0.7, -0.4, 0.2, 0.5},
     twonoises},
    {"driven", DRIVEN "\n", "noise: 0.3*sin(q + t)\n", 1, 1, 1, 1, {0.3, 0.9}, driven},
    {"coupled", DRIVEN " + 0.2*sin(t)*q*p\n", "noise: 0.3*sin(q + t)\n", 1, 1, 0, 1, {0.3, 0.9}, coupled},
};
#define SUBJECTS (sizeof subjects / sizeof *subjects)

/* ---- the steps, a second time ---- */

/* K_q (first n) and K_p of K = a H + sum w_m h_m. */
static void weighted(const struct subject *s, size_t nm, double t, const double *x, double a, const double *w,
                     double *K) {
    struct derivatives d;
    s->at(t, x, &d);
    for (size_t i = 0; i < 2 * s->n; i++) {
        K[i] = a * d.g[0][i];
        for (size_t m = 0; m < nm; m++) K[i] += w[m] * d.g[1 + m][i];
    }
}

#define ITERATIONS 200 /* of contractions with factor at most 0.2 */

static void step_midpoint(const struct subject *s, size_t nm, double t, double dt, const double *dW, double *x) {
    size_t n = s->n;
    double y[2 * MOST], mid[2 * MOST], K[2 * MOST];
    memcpy(y, x, sizeof y);
    for (int k = 0; k < ITERATIONS; k++) {
        for (size_t i = 0; i < 2 * n; i++) mid[i] = 0.5 * (x[i] + y[i]);
        weighted(s, nm, t + 0.5 * dt, mid, dt, dW, K);
        for (size_t i = 0; i < n; i++) {
            y[i] = x[i] + K[n + i];
            y[n + i] = x[n + i] - K[i];
        }
    }
    memcpy(x, y, sizeof y);
}

static void step_verlet(const struct subject *s, size_t nm, double t, double dt, const double *dW, double *x) {
    size_t n = s->n;
    double y[2 * MOST], z[2 * MOST], K[2 * MOST], w[MOST];
    for (size_t m = 0; m < nm; m++) w[m] = 0.5 * dW[m];
    memcpy(y, x, sizeof y); /* (q, P) */
    for (int k = 0; k < ITERATIONS; k++) {
        weighted(s, nm, t, y, 0.5 * dt, w, K);
        for (size_t i = 0; i < n; i++) y[n + i] = x[n + i] - K[i];
    }
    weighted(s, nm, t, y, 0.5 * dt, w, K);
    double first[MOST];
    memcpy(first, K + n, n * sizeof *first);
    memcpy(z, y, sizeof z); /* (q', P) */
    for (int k = 0; k < ITERATIONS; k++) {
        weighted(s, nm, t + dt, z, 0.5 * dt, w, K);
        for (size_t i = 0; i < n; i++) z[i] = x[i] + first[i] + K[n + i];
    }
    weighted(s, nm, t + dt, z, 0.5 * dt, w, K);
    for (size_t i = 0; i < n; i++) {
        x[i] = z[i];
        x[n + i] = z[n + i] - K[i];
    }
}

static void step_euler(const struct subject *s, size_t nm, double t, double dt, const double *dW, double *x) {
    size_t n = s->n;
    double y[2 * MOST], K[2 * MOST];
    memcpy(y, x, sizeof y);
    for (int k = 0; k < ITERATIONS; k++) {
        weighted(s, nm, t + dt, y, dt, dW, K);
        for (size_t i = 0; i < n; i++) y[i] = x[i] + K[n + i];
    }
    weighted(s, nm, t + dt, y, dt, dW, K);
    for (size_t i = 0; i < n; i++) {
        x[i] = y[i];
        x[n + i] -= K[i];
    }
}

/* f + C: with g = Omega grad h the correction is sum_m Omega h'' Omega grad h / 2. */
static void ito_drift(const struct subject *s, size_t nm, double t, const double *x, double *out) {
    size_t n = s->n;
    struct derivatives d;
    s->at(t, x, &d);
    for (size_t i = 0; i < 2 * n; i++) {
        size_t row = i < n ? n + i : i - n; /* Omega swaps the halves */
        double value = d.g[0][row];
        for (size_t m = 1; m <= nm; m++)
            for (size_t j = 0; j < 2 * n; j++) {
                double g = j < n ? d.g[m][n + j] : -d.g[m][j - n];
                value += 0.5 * d.h[m][row * 2 * n + j] * g;
            }
        out[i] = i < n ? value : -value;
    }
}

static void step_eem(const struct subject *s, size_t nm, double t, double dt, const double *dW, double *x) {
    double f[2 * MOST], K[2 * MOST];
    size_t n = s->n;
    ito_drift(s, nm, t, x, f);
    weighted(s, nm, t, x, 0, dW, K);
    for (size_t i = 0; i < n; i++) {
        x[i] += dt * f[i] + K[n + i];
        x[n + i] += dt * f[n + i] - K[i];
    }
}

static void step_iem(const struct subject *s, size_t nm, double t, double dt, const double *dW, double *x) {
    double f[2 * MOST], K[2 * MOST], base[2 * MOST];
    size_t n = s->n;
    weighted(s, nm, t, x, 0, dW, K);
    for (size_t i = 0; i < n; i++) {
        base[i] = x[i] + K[n + i];
        base[n + i] = x[n + i] - K[i];
    }
    for (int k = 0; k < ITERATIONS; k++) {
        ito_drift(s, nm, t + dt, x, f);
        for (size_t i = 0; i < 2 * n; i++) x[i] = base[i] + dt * f[i];
    }
}

static void step_rk4(const struct subject *s, size_t nm, double t, double dt, const double *dW, double *x) {
    size_t n = s->n;
    double k[5][2 * MOST] = {{0}}, y[2 * MOST], K[2 * MOST];
    (void)dW;
    for (int i = 1; i <= 4; i++) {
        double c = i == 1 ? 0 : i == 4 ? 1 : 0.5;
        for (size_t j = 0; j < 2 * n; j++) y[j] = x[j] + c * dt * k[i - 1][j];
        weighted(s, nm, t + c * dt, y, 1, dW, K);
        for (size_t j = 0; j < n; j++) {
            k[i][j] = K[n + j];
            k[i][n + j] = -K[j];
        }
    }
    for (size_t j = 0; j < 2 * n; j++) x[j] += dt / 6 * (k[1][j] + 2 * k[2][j] + 2 * k[3][j] + k[4][j]);
}

/* ---- PsNrQu in general: q_d(tau) = sum_mu q^mu l_mu(tau) with control points mu/s ---- */

#define SQRT3_6 0.28867513459481288225
#define SQRT5_10 0.22360679774997896964
struct rule {
    size_t s, r;
    double c[4], alpha[4];
};
static const struct rule rules[] = {
    {2, 2, {0.5 - SQRT3_6, 0.5 + SQRT3_6}, {0.5, 0.5}},
    {2, 2, {1.0 / 3, 2.0 / 3}, {0.5, 0.5}},
    {2, 3, {0, 0.5, 1}, {1.0 / 6, 2.0 / 3, 1.0 / 6}},
    {3, 4, {0, 0.5 - SQRT5_10, 0.5 + SQRT5_10, 1}, {1.0 / 12, 5.0 / 12, 5.0 / 12, 1.0 / 12}},
    {1, 2, {0, 1}, {0.5, 0.5}},
    {1, 2, {1.0 / 3, 2.0 / 3}, {0.5, 0.5}},
    {1, 3, {0, 0.5, 1}, {1.0 / 6, 2.0 / 3, 1.0 / 6}},
    {1, 3, {0.25, 0.5, 0.75}, {2.0 / 3, -1.0 / 3, 2.0 / 3}},
};
enum { UNKNOWNS = (3 + 4) * MOST };

/* l_mu(c), and l_mu'(c) as the sum of products without one factor. */
static double lagrange(size_t s, size_t mu, double c, bool slope) {
    double value = slope ? 0 : 1;
    for (size_t k = 0; k <= s; k++) {
        if (k == mu) continue;
        double gap = ((double)mu - (double)k) / (double)s;
        if (!slope) {
            value *= (c - (double)k / (double)s) / gap;
            continue;
        }
        double product = 1 / gap;
        for (size_t j = 0; j <= s; j++)
            if (j != mu && j != k) product *= (c - (double)j / (double)s) / (((double)mu - (double)j) / (double)s);
        value += product;
    }
    return value;
}

struct step {
    const struct subject *s;
    const struct rule *rule;
    size_t nm;
    double t, dt;
    const double *dW, *x;
};

/* Residuals of the equations for z = (q^1 .. q^s, P_1 .. P_r), and the end point y. */
static void residual(const struct step *e, const double *z, double *f, double *y) {
    size_t n = e->s->n, s = e->rule->s, r = e->rule->r;
    memset(f, 0, n * (s + r) * sizeof *f);
    for (size_t i = 0; i < n; i++) {
        f[i] = e->x[n + i];
        y[i] = z[(s - 1) * n + i];
        y[n + i] = 0;
    }
    for (size_t k = 0; k < r; k++) {
        double c = e->rule->c[k], alpha = e->rule->alpha[k], at[2 * MOST] = {0}, K[2 * MOST];
        const double *P = z + (s + k) * n;
        for (size_t i = 0; i < n; i++) {
            for (size_t mu = 0; mu <= s; mu++) {
                double q = mu ? z[(mu - 1) * n + i] : e->x[i];
                at[i] += q * lagrange(s, mu, c, false);
                f[(s + k) * n + i] += alpha * q * lagrange(s, mu, c, true);
            }
            at[n + i] = P[i];
        }
        weighted(e->s, e->nm, e->t + c * e->dt, at, e->dt, e->dW, K);
        for (size_t i = 0; i < n; i++) {
            f[(s + k) * n + i] -= alpha * K[n + i];
            for (size_t mu = 0; mu <= s; mu++) {
                double part = alpha * (P[i] * lagrange(s, mu, c, true) - K[i] * lagrange(s, mu, c, false));
                *(mu < s ? &f[mu * n + i] : &y[n + i]) += part;
            }
        }
    }
}

static void eliminate(double A[UNKNOWNS][UNKNOWNS + 1], size_t n) {
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++) best = fabs(A[i][k]) > fabs(A[best][k]) ? i : best;
        for (size_t j = 0; j <= n; j++) {
            double keep = A[k][j];
            A[k][j] = A[best][j];
            A[best][j] = keep;
        }
        for (size_t i = 0; i < n; i++) {
            double factor = i == k ? 0 : A[i][k] / A[k][k];
            for (size_t j = 0; j <= n; j++) A[i][j] -= factor * A[k][j];
        }
    }
}

/* Newton's method with a Jacobian by differences (good to 1e-9), until the correction is round-off. */
static void step_galerkin(const struct subject *sub, const struct rule *rule, size_t nm, double t, double dt,
                          const double *dW, double *x) {
    size_t n = sub->n, m = n * (rule->s + rule->r);
    struct step e = {sub, rule, nm, t, dt, dW, x};
    double z[UNKNOWNS], f[UNKNOWNS], up[UNKNOWNS], down[UNKNOWNS], y[2 * MOST], A[UNKNOWNS][UNKNOWNS + 1];
    for (size_t i = 0; i < m; i++) z[i] = i < n * rule->s ? x[i % n] : x[n + i % n];
    for (int k = 0; k < 12; k++) {
        residual(&e, z, f, y);
        for (size_t j = 0; j < m; j++) {
            double keep = z[j], h = 1e-4;
            z[j] = keep + h;
            residual(&e, z, up, y);
            z[j] = keep - h;
            residual(&e, z, down, y);
            z[j] = keep;
            for (size_t i = 0; i < m; i++) A[i][j] = (up[i] - down[i]) / (2 * h);
        }
        for (size_t i = 0; i < m; i++) A[i][m] = f[i];
        eliminate(A, m);
        for (size_t i = 0; i < m; i++) z[i] -= A[i][m] / A[i][i];
    }
    residual(&e, z, f, y);
    memcpy(x, y, 2 * n * sizeof *x);
}

static const struct {
    const char *name;
    void (*step)(const struct subject *s, size_t nm, double t, double dt, const double *dW, double *x);
    const struct rule *rule; /* instead of a step */
} methods[] = {
    {"P1N1Q2Gau", step_midpoint, NULL},
    {"P2N2Q2Lob", step_verlet, NULL},
    {"P1N1Q1Rec", step_euler, NULL},
    {"EEM", step_eem, NULL},
    {"IEM", step_iem, NULL},
    {"RK4", step_rk4, NULL},
    {"P2N2Q4Gau", NULL, &rules[0]},
    {"P2N2Q2Otr", NULL, &rules[1]},
    {"P2N3Q4Lob", NULL, &rules[2]},
    {"P3N4Q6Lob", NULL, &rules[3]},
    {"P1N2Q2Lob", NULL, &rules[4]},
    {"P1N2Q2Otr", NULL, &rules[5]},
    {"P1N3Q4Lob", NULL, &rules[6]},
    {"P1N3Q4Mil", NULL, &rules[7]},
};
#define METHODS (sizeof methods / sizeof *methods)

static void take_step(size_t method, const struct subject *s, size_t nm, double t, double dt, const double *dW,
                      double *x) {
    if (methods[method].rule)
        step_galerkin(s, methods[method].rule, nm, t, dt, dW, x);
    else
        methods[method].step(s, nm, t, dt, dW, x);
}

/* ---- this file against the table ---- */

static void test_table(void **state) {
    (void)state;
    size_t done = 0, unknown = 0;
    for (size_t c = 0; c < sizeof reference_cases / sizeof *reference_cases; c++) {
        const struct reference_case *r = &reference_cases[c];
        size_t i = 0, k = 0, n = (size_t)r->dof;
        while (i < METHODS && strcmp(methods[i].name, r->method) != 0) i++;
        while (k < SUBJECTS && strcmp(subjects[k].name, r->model) != 0) k++;
        assert_true(k < SUBJECTS);
        if (i == METHODS) {
            if (lgv_method_find(r->method))
                fail_msg("the library has %s now: write its step in this file too", r->method);
            unknown++;
            continue;
        }
        double x[2 * MOST];
        for (size_t j = 0; j < n; j++) {
            x[j] = r->q0[j];
            x[n + j] = r->p0[j];
        }
        for (int step = 0; step < r->steps; step++)
            take_step(i, &subjects[k], (size_t)r->noises, step * r->dt, r->dt, reference_dW[step], x);
        for (size_t j = 0; j < n; j++) { /* both sides are solved to round-off: ten steps leave some 1e-15 */
            assert_near(x[j], r->q[j], 1e-13, r->method);
            assert_near(x[n + j], r->p[j], 1e-13, r->method);
        }
        done++;
    }
    print_message("%zu rows, %zu of methods that the library does not have\n", done, unknown);
    assert_int_equal(done + unknown, 76);
}

/* ---- kernels against this file ---- */

static double scatter(uint64_t *z, double around) {
    return around + 1.6 * uniform_of(z) - 0.8;
}

/* Forty random states, steps and paths of a kernel, dt 0.02 to 0.12.  Newton stops at corrections of 1e-7, after which
 * the error left is of the order 1e-15, or at round-off, 2e-15 of the state; states are of size 1. */
static void check_kernel(const struct subject *s, size_t method, const struct lgv_kernel *k) {
    uint64_t z = 99;
    for (uint64_t trial = 0; trial < 40; trial++) {
        double dt = 0.02 + 0.1 * uniform_of(&z), t0 = uniform_of(&z), x[2 * MOST], y[2 * MOST], dW[MOST];
        uint64_t step = (uint64_t)(1000 * uniform_of(&z)), path = (uint64_t)(1e6 * uniform_of(&z));
        for (size_t i = 0; i < 2 * s->n; i++) y[i] = x[i] = scatter(&z, s->start[i]);
        increments_of(trial, path, step, dt, k->nnoise, dW);
        assert_true(one_step_of(k, t0, dt, trial, path, step, x));
        take_step(method, s, k->nnoise, t0 + (double)step * dt, dt, dW, y);
        for (size_t i = 0; i < 2 * s->n; i++)
            /* t0 + (step + 1/2) dt and (t0 + step dt) + dt/2 differ by 1e-14 at t = 100 */
            if (!(fabs(x[i] - y[i]) <= 3e-14))
                fail_msg("%s on %s: %.17g is not %.17g", methods[method].name, s->name, x[i], y[i]);
    }
}

static bool refused(const struct subject *s, size_t method) {
    bool euler = strcmp(methods[method].name, "P1N1Q1Rec") == 0;
    bool straight = methods[method].rule && methods[method].rule->s == 1; /* s = 1, r > 1 */
    return (euler && !s->noise_of_q) || (straight && !s->noise_of_q && !s->separable);
}

/* Callbacks that call themselves separable promise a p part without t; the driven model has one with t. */
static bool reduced_in_time(const struct subject *s, size_t method) {
    return methods[method].rule && methods[method].rule->s == 1 && s->separable && strcmp(s->name, "driven") == 0;
}

static void test_generated(void **state) {
    (void)state;
    for (size_t i = 0; i < SUBJECTS; i++) {
        for (size_t k = 0; k < METHODS; k++) {
            char text[600];
            bool noise = strcmp(methods[k].name, "RK4") != 0;
            snprintf(text, sizeof text, "%s%s", subjects[i].text, noise ? subjects[i].noise : "");
            struct lgv_model *m = model_of(text);
            if (refused(&subjects[i], k)) {
                struct lgv_kernel kernel;
                struct lgv_error err = {0};
                assert_int_equal(lgv_kernel_build(m, lgv_method_find(methods[k].name), &(struct lgv_kernel_options){0},
                                                  &kernel, &err),
                                 LGV_BAD_INPUT);
                if (!strstr(err.message, methods[k].rule ? "does not converge" : "do not depend on the momenta"))
                    fail_msg("%s on %s: %s", methods[k].name, subjects[i].name, err.message);
            } else {
                struct lgv_kernel kernel = kernel_of(m, methods[k].name);
                check_kernel(&subjects[i], k, &kernel);
                lgv_kernel_free(&kernel);
            }
            lgv_model_free(m);
        }
    }
}

/* ---- the same as C functions ---- */

static void gradient(void *user, const struct lgv_batch *b, double *H_q, double *H_p, double *h_q, double *h_p) {
    const struct subject *s = user;
    for (size_t l = 0; l < b->lanes; l++) {
        double x[2 * MOST];
        struct derivatives d;
        for (size_t i = 0; i < s->n; i++) {
            x[i] = b->q[i * b->lanes + l];
            x[s->n + i] = b->p[i * b->lanes + l];
        }
        s->at(b->t, x, &d);
        for (size_t i = 0; i < s->n; i++) {
            if (H_q) H_q[i * b->lanes + l] = d.g[0][i];
            if (H_p) H_p[i * b->lanes + l] = d.g[0][s->n + i];
            for (size_t m = 0; m < s->nm; m++) {
                if (h_q) h_q[(m * s->n + i) * b->lanes + l] = d.g[1 + m][i];
                if (h_p) h_p[(m * s->n + i) * b->lanes + l] = d.g[1 + m][s->n + i];
            }
        }
    }
}

static void hessian(void *user, const struct lgv_batch *b, double *H_qq, double *H_qp, double *H_pp, double *h_qq,
                    double *h_qp, double *h_pp) {
    const struct subject *s = user;
    size_t n = s->n;
    for (size_t l = 0; l < b->lanes; l++) {
        double x[2 * MOST];
        struct derivatives d;
        for (size_t i = 0; i < n; i++) {
            x[i] = b->q[i * b->lanes + l];
            x[n + i] = b->p[i * b->lanes + l];
        }
        s->at(b->t, x, &d);
        for (size_t m = 0; m <= s->nm; m++) {
            double *out[3] = {m ? h_qq : H_qq, m ? h_qp : H_qp, m ? h_pp : H_pp};
            for (size_t k = 0; k < 3; k++)
                for (size_t i = 0; out[k] && i < n; i++)
                    for (size_t j = 0; j < n; j++)
                        out[k][(((m ? m - 1 : 0) * n + i) * n + j) * b->lanes + l] =
                            d.h[m][((k == 2 ? n : 0) + i) * 2 * n + (k ? n : 0) + j];
        }
    }
}

static void test_callbacks(void **state) {
    (void)state;
    for (size_t i = 0; i < SUBJECTS; i++) {
        for (size_t k = 0; k < METHODS; k++) {
            struct subject s = subjects[i];
            if (strcmp(methods[k].name, "RK4") == 0) s.nm = 0;
            if (refused(&s, k) || reduced_in_time(&s, k)) continue;
            struct lgv_callbacks c = {.name = s.name,
                                      .dof = s.n,
                                      .noises = s.nm,
                                      .user = &s,
                                      .q0 = s.start,
                                      .p0 = s.start + s.n,
                                      .separable = s.separable,
                                      .noise_of_q = s.noise_of_q,
                                      .gradient = gradient,
                                      .hessian = hessian};
            struct lgv_model *m = NULL;
            struct lgv_error err = {0};
            if (lgv_model_from_callbacks(&c, &m, &err) != LGV_OK) fail_msg("%s", err.message);
            struct lgv_kernel kernel = kernel_of(m, methods[k].name);
            check_kernel(&s, k, &kernel);
            lgv_kernel_free(&kernel);
            lgv_model_free(m);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_generated),
        cmocka_unit_test(test_callbacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
