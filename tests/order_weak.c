/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Weak orders without sampling: means over dW and dZ of a step are integrals over two normals for each noise, and
 * increments that are given stand at the nodes of a quadrature.
 *
 * Linear equations dX = A X dt + B X o dW have second moments P' = (A + B^2/2) P + P (A + B^2/2)^T + B P B^T.  A step
 * X -> S X maps them by the mean of S P S^T, so that the error at the end of many steps is known to round-off.  Else
 * the mean of f after one step is held against that after two half steps: it differs by dt^(order + 1). */
#include "helpers.h"

#define MOST_NODES 64

struct rule {
    size_t n;
    double x[MOST_NODES], w[MOST_NODES]; /* the mean of f over a normal is sum w f(x) */
};

/* Gauss and Legendre on both sides of 0, where the weights of the three flows jump, out to nine deviations. */
static struct rule two_sides(void) {
    enum { HALF = MOST_NODES / 2 };
    struct rule r = {.n = 2 * HALF};
    for (size_t i = 0; i < HALF; i++) {
        double x = cos(M_PI * ((double)i + 0.75) / (HALF + 0.5)), slope = 1;
        for (int turn = 0; turn < 20; turn++) {
            double a = 1, b = x;
            for (int k = 2; k <= HALF; k++) {
                double next = ((2 * k - 1) * x * b - (k - 1) * a) / k;
                a = b;
                b = next;
            }
            slope = HALF * (x * b - a) / (x * x - 1);
            x -= b / slope;
        }
        double at = 4.5 * (x + 1), weight = 9 / ((1 - x * x) * slope * slope) * exp(-at * at / 2) / sqrt(2 * M_PI);
        r.x[i] = at;
        r.x[HALF + i] = -at;
        r.w[i] = r.w[HALF + i] = weight;
    }
    return r;
}

/* Gauss and Hermite: roots of He_n by bisection between sign changes, weights n!/(n He_(n-1))^2. */
static double hermite(int n, double x) {
    double a = 1, b = x;
    for (int k = 1; k < n; k++) {
        double next = x * b - k * a;
        a = b;
        b = next;
    }
    return n ? b : 1;
}

/* Three points (three_points in seldom.h), 0 of either sign. */
static const struct rule three = {4, {-1.7320508075688772935, -0.0, 0.0, 1.7320508075688772935},
                                  {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}};

static struct rule few_nodes(int n) {
    struct rule r = {0};
    double factorial = tgamma(n + 1.0);
    for (double left = -8.005, step = 0.01; r.n < (size_t)n && left < 8; left += step) {
        double a = left, b = left + step;
        if ((hermite(n, a) < 0) == (hermite(n, b) < 0)) continue;
        for (int k = 0; k < 60; k++) {
            double c = (a + b) / 2;
            *((hermite(n, a) < 0) == (hermite(n, c) < 0) ? &a : &b) = c;
        }
        double below = n * hermite(n - 1, a);
        r.x[r.n] = a;
        r.w[r.n++] = factorial / (below * below);
    }
    assert_int_equal(r.n, n);
    return r;
}

/* ---- means ---- */

struct ends { /* of all combinations of nodes */
    size_t paths, count; /* observables of a path */
    double *value, *weight;
};

/* `steps` steps of the width dt for every combination of the nodes of their dW and y. */
static struct ends run_nodes(const struct lgv_kernel *k, const struct rule *r, double dt, uint64_t steps) {
    size_t paths = 1, pairs = (size_t)steps * k->nnoise;
    for (size_t i = 0; i < 2 * pairs; i++) paths *= r->n;
    struct ends e = {.paths = paths, .count = k->watch.count, .weight = lgv_new(paths, sizeof *e.weight)};
    double *dW = lgv_new(paths * pairs, sizeof *dW), *dZ = lgv_new(paths * pairs, sizeof *dZ);
    uint64_t time_step[2] = {0, steps};
    assert_true(e.weight && dW && dZ);
    for (size_t p = 0; p < paths; p++) {
        e.weight[p] = 1;
        for (size_t s = 0, left = p; s < pairs; s++, left /= r->n * r->n) {
            size_t i = left % r->n, j = left / r->n % r->n;
            double w = sqrt(dt) * r->x[i], y = sqrt(dt / 12) * r->x[j];
            dW[p * pairs + s] = w;
            dZ[p * pairs + s] = dt * (w / 2 + y);
            e.weight[p] *= r->w[i] * r->w[j];
        }
    }
    struct lgv_increments given = {
        .paths = paths, .steps = steps, .noises = k->nnoise, .step = dt, .dW = dW, .dZ = dZ};
    struct finals f = {.count = e.count, .value = lgv_new(paths * e.count, sizeof *f.value)};
    struct lgv_plan plan = {.kernel = k, .dt = dt, .steps = steps, .paths = paths, .seed = 1, .coarsen = 1,
                            .ntimes = 2, .time_step = time_step, .increments = &given};
    const struct lgv_collector collector = {.name = "finals", .shared = true, .add = finals_add};
    struct lgv_collecting list = {&collector, NULL, &f};
    struct lgv_run_report report;
    struct lgv_error err = {0};
    assert_non_null(f.value);
    if (lgv_ensemble_run(&plan, &list, 1, NULL, NULL, &report, &err)) fail_msg("%s", err.message);
    free(report.snapshot);
    free(dW);
    free(dZ);
    e.value = f.value;
    return e;
}

static void ends_free(struct ends *e) {
    free(e->value);
    free(e->weight);
}

/* The power of dt that e[l], at steps of the width dt/2^l, begins with: e = c dt^n + .. has whole powers, of which
 * n + 1 to n + 3 are eliminated first, where n is expected. */
static double power(const double *e, int levels, int n) {
    double x[MAX_LEVELS];
    memcpy(x, e, (size_t)levels * sizeof *x);
    for (int k = n + 1; k <= n + 3; k++, levels--)
        for (int l = 0; l + 1 < levels; l++) x[l] = ldexp(x[l + 1], k) - x[l];
    assert_true(levels >= 2);
    return log2(x[levels - 2] / x[levels - 1]);
}

/* ---- linear equations ---- */

/* Quadratic forms (qq, qp, pp)/2 of H and h: those of a square have 1, others have (1, 2, 1). */
struct linear {
    const char *name, *h;
    double H[3], noise[3];
};

/* The rate of (E qq, E qp, E pp). */
static void moment_rate(const double a[3], const double b[3], const double P[3], double rate[3]) {
    double A[2][2] = {{a[1], a[2]}, {-a[0], -a[1]}}, B[2][2] = {{b[1], b[2]}, {-b[0], -b[1]}}, C[2][2], x[2][2];
    double M[2][2] = {{P[0], P[1]}, {P[1], P[2]}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) C[i][j] = A[i][j] + (B[i][0] * B[0][j] + B[i][1] * B[1][j]) / 2;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            x[i][j] = 0;
            for (int k = 0; k < 2; k++) {
                x[i][j] += C[i][k] * M[k][j] + M[i][k] * C[j][k];
                for (int l = 0; l < 2; l++) x[i][j] += B[i][k] * M[k][l] * B[j][l];
            }
        }
    rate[0] = x[0][0];
    rate[1] = x[0][1];
    rate[2] = x[1][1];
}

static void exact_moments(const struct linear *x, double t, double P[3]) {
    double term[3], sum[3], next[3];
    memcpy(term, P, sizeof term);
    memcpy(sum, P, sizeof sum);
    for (int k = 1; k < 60; k++) {
        moment_rate(x->H, x->noise, term, next);
        for (int i = 0; i < 3; i++) sum[i] += term[i] = next[i] * t / k;
    }
    memcpy(P, sum, sizeof sum);
}

/* The error of E p^2 at t = 1 after steps of the width dt: two copies of the equation from (1, 0) and (0, 1). */
static double moment_error(const struct linear *x, const struct lgv_kernel *k, const struct rule *r, double dt) {
    struct ends e = run_nodes(k, r, dt, 1);
    const size_t at[4] = {watch_number(k, "q"), watch_number(k, "r"), watch_number(k, "p"), watch_number(k, "s")};
    double map[3][3] = {{0}}, total = 0, P[3] = {1, 0.5, 0.25}, want[3] = {1, 0.5, 0.25};
    for (size_t i = 0; i < e.paths; i++) {
        const double *v = e.value + i * e.count, w = e.weight[i];
        double a = v[at[0]], b = v[at[1]], c = v[at[2]], d = v[at[3]];
        const double row[3][3] = {{a * a, 2 * a * b, b * b}, {a * c, a * d + b * c, b * d}, {c * c, 2 * c * d, d * d}};
        for (int m = 0; m < 9; m++) map[m / 3][m % 3] += w * row[m / 3][m % 3];
        total += w;
    }
    ends_free(&e);
    assert_near(total, 1, 1e-12, "weights");
    for (int n = (int)(1 / dt + 0.5); n > 0; n--) {
        double next[3];
        for (int i = 0; i < 3; i++) next[i] = map[i][0] * P[0] + map[i][1] * P[1] + map[i][2] * P[2];
        memcpy(P, next, sizeof P);
    }
    exact_moments(x, 1, want);
    return P[2] - want[2];
}

#define SQUARES "0.3*(q^2 + r^2) + 0.5*(q*p + r*s) + 0.2*(p^2 + s^2)"
#define ROOT 1.2206555615733703 /* of 1 + 0.7^2: a noise and 0.7 of it are one that is larger by this */
static const struct linear systems[] = {
    {"h(q,p)", SQUARES, {1, 0.2, 1.4}, {0.6, 0.5, 0.4}},
    {"h(q)", "0.4*(q^2 + r^2)", {1, 0, 1}, {0.8, 0, 0}},
    {"two that commute", "[" SQUARES ", 0.7*(" SQUARES ")]", {1, 0.2, 1.4},
     {0.6 * ROOT, 0.5 * ROOT, 0.4 * ROOT}},
};

static void check_linear(const struct linear *x, const char *method, const struct rule *r, int expected) {
    enum { LEVELS = 6 };
    char text[600];
    snprintf(text, sizeof text,
             "coordinates: {q: 1, r: 0}\nmomenta: {p: 0, s: 1}\n"
             "hamiltonian: %g*(q^2 + r^2)/2 + %g*(q*p + r*s) + %g*(p^2 + s^2)/2\nnoise: %s\n", x->H[0], x->H[1],
             x->H[2], x->h);
    struct lgv_model *m = model_of(text);
    struct lgv_kernel k = kernel_of(m, method);
    double error[LEVELS];
    for (int l = 0; l < LEVELS; l++) error[l] = moment_error(x, &k, r, ldexp(1.0 / 16, -l));
    double order = power(error, LEVELS - (expected > 2), expected);
    print_message("%s, %s: error %.3g at 1/16, %.3g at 1/128, weak order %.3f\n", x->name, method, error[0],
                  error[3], order);
    assert_near(order, expected, 0.05, method);
    assert_true(lgv_method_weak_order(k.method, &k.structure, k.nnoise, NULL) == fmin(expected, 2));
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

struct row {
    const char *method;
    int system, order;
};

/* Gauss with J and its correction has weak order 3 here; its last level is near round-off. */
static void test_linear(void **state) {
    (void)state;
    static const struct row row[] = {
        {"P2N2Q4Gau", 0, 1}, {"P2N2Q4Gau-3flows", 0, 2}, {"P2N2Q4Gau-Magnus", 0, 2}, {"P2N2Q4Gau-MagnusStrang", 0, 2},
        {"P3N3Q6Gau-Magnus", 0, 2}, {"VZ", 1, 1}, {"VZc", 1, 2}, {"P2N2Q2Lob-Jr", 1, 2}, {"LobZ", 1, 2},
        {"P1N1Q2Gau-c", 1, 2}, {"P2N2Q4Gau-Jc", 1, 3}};
    const struct rule r = two_sides();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        check_linear(&systems[row[i].system], row[i].method, &r, row[i].order);
}

/* With three points, which are 0 in two of three steps: the polygon of the three flows has a sign there, too. */
static void test_three_points(void **state) {
    (void)state;
    static const struct row row[] = {{"P2N2Q4Gau", 0, 1}, {"P2N2Q4Gau-3flows", 0, 2}, {"P2N2Q4Gau-3flows", 2, 2},
                                     {"P2N2Q4Gau-Magnus", 0, 2}, {"P2N2Q4Gau-Magnus", 2, 2},
                                     {"P2N2Q4Gau-MagnusStrang", 2, 2}, {"VZc", 1, 2}, {"P2N2Q2Lob-Jr", 1, 2}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        check_linear(&systems[row[i].system], row[i].method, &three, row[i].order);
}

/* ---- others ---- */

#define CURVED                                                                                                         \
    "coordinates: {q: 0.4}\nmomenta: {p: 0.9}\nhamiltonian: (1 + q^2/4)*p^2/2 + q^4/4\nnoise: 0.8*sin(q - p/2)*p\n"   \
    "observe: {f: 'p^2 + sin(q)'}\n"
#define OF_TIME                                                                                                        \
    "coordinates: {q: 0.5}\nmomenta: {p: 0.8}\nhamiltonian: p^2/2*(1 + 0.3*sin(3*t)) + q^4/4\n"                        \
    "noise: 0.6*sin(q + 2*t)*(1 + p^2/4)\nobserve: {f: 'p^2 + sin(q)'}\n"
#define OF_Q                                                                                                           \
    "coordinates: {q: 0.5}\nmomenta: {p: 0.8}\nhamiltonian: sqrt(1 + p^2) + q^4/4\nnoise: 0.7*sin(2*q)\n"              \
    "observe: {f: 'p^2 + sin(q)'}\n"
/* A body about a point, one whose inertia couples position and rotation, and one that hangs. */
#define TURNING                                                                                                        \
    "coordinates: {R in SO3: [0.4, 0.1, -0.3]}\nmomenta: {m: [0.3, 0.6, 1]}\n"                                         \
    "kinetic: {inertia: [[1, 0.2, 0.1], [0.2, 1.4, -0.1], [0.1, -0.1, 1.7]]}\npotential: R.zz + 0.3*R.xx*R.yz\n"     \
    "noise: 0.7*R.zz + 0.4*R.xy\nobserve: {f: 'R.zy + m.x^2 + m.y*R.xx'}\n"
#define SWIMMING                                                                                                       \
    "coordinates: {b in SE3 coupled: {position: [0.2, 0, 0], rotation: [0.4, 0.1, -0.3]}}\n"                          \
    "momenta: {p: {linear: [0.4, 0.1, 0.5], angular: [0.3, 0.6, 1]}}\n"                                               \
    "kinetic: {inertia: {b: {angular: [1, 2, 3], linear: [4, 2, 1.5], coupling: [[0, 0.3, 0.1], [0.2, 0, 0], "         \
    "[0.1, 0.4, 0]]}}}\npotential: (b*[0.3, 0, 1]).z\nnoise: 0.7*b.rotation.zz + 0.5*sin(b.position.x)\n"            \
    "observe: {f: 'b.rotation.zy + p.angular.x^2 + p.linear.y*b.rotation.xx'}\n"
#define HANGING                                                                                                        \
    "coordinates: {b in SE3: {position: '[-0.5*sin(1), 0, -0.5*cos(1)]', rotation: [0, 1, 0]}}\n"                      \
    "momenta: {p: {linear: [0, 0.5, 0], angular: [-0.1*cos(1), 0, 0.1*sin(1) + 0.3]}}\n"                              \
    "kinetic: {mass: 1, inertia: {b: [0.1, 0.1, 0.05]}}\npotential: b.position.z\nconstraints: ['b*[0, 0, 0.5]']\n"  \
    "noise: 0.3*b.rotation.zz + 0.2*b.rotation.xy\nobserve: {f: 'b.rotation.zy + p.angular.x^2 + p.linear.y'}\n"

static double mean_of(const struct lgv_kernel *k, const struct rule *r, double dt, uint64_t steps) {
    struct ends e = run_nodes(k, r, dt, steps);
    size_t f = watch_number(k, "f");
    double mean = 0;
    for (size_t i = 0; i < e.paths; i++) mean += e.weight[i] * e.value[i * e.count + f];
    ends_free(&e);
    return mean;
}

static void test_curved(void **state) {
    (void)state;
    enum { LEVELS = 5 };
    static const struct {
        const char *method, *text;
    } row[] = {{"P2N2Q4Gau", CURVED}, {"P2N2Q4Gau-Magnus", CURVED}, {"P2N2Q4Gau-MagnusStrang", CURVED},
               {"P2N2Q4Gau-Magnus", OF_TIME}, {"P2N2Q4Gau-MagnusStrang", OF_TIME}, {"VZ", OF_Q}, {"VZc", OF_Q},
               {"P2N2Q2Lob-Jr", OF_Q}, {"LobZ", OF_Q}, {"P2N2Q4Gau-Jc", OF_Q}, {"BRB", TURNING}, {"VZ", TURNING},
               {"VZc", TURNING}, {"RATTLE-weak2", TURNING}, {"VZc", SWIMMING}, {"RATTLE-Jc", HANGING},
               {"RATTLE-weak2", HANGING}};
    const struct rule r = few_nodes(9);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_model *m = model_of(row[i].text);
        struct lgv_kernel k = kernel_of(m, row[i].method);
        double apart[LEVELS];
        for (int l = 0; l < LEVELS; l++) {
            double dt = ldexp(1.0 / 16, -l);
            apart[l] = mean_of(&k, &r, dt, 1) - mean_of(&k, &r, dt / 2, 2);
        }
        int order = (int)lgv_method_weak_order(k.method, &k.structure, k.nnoise, NULL) + 1;
        double found = power(apart, LEVELS, order);
        print_message("%s: %.3g at 1/16, local order %.3f\n", row[i].method, apart[0], found);
        assert_near(found, order, 0.05, row[i].method);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_linear), cmocka_unit_test(test_three_points),
                                       cmocka_unit_test(test_curved)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
