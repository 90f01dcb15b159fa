/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Free steps of rigid bodies against a Taylor series in long double: the exact motion of all kinds of bodies in all
 * kinds of motion, orders and equations of the others; momentum in space, symplecticity, reversibility, energy and
 * norms over many steps, lanes that fail, and that no lane changes the bits of another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../src/kernel/text/abi.h"
#include "../src/kernel/text/lanes.h"
#include "../src/kernel/text/pivot.h"
#include "../src/kernel/text/solve.h"
#include "../src/kernel/text/system.h"

#define NP 3L
void lgv_spin_numbers(const double inertia[3], double *out); /* kernel/kernel.h */

struct ctx { /* what newton.h needs of it */
    vec *top;
    u64 iterations;
    ivec failed;
};

static void lanes_failed(struct ctx *c, const ivec *mask, int reason) {
    assert_true(reason == LGV_FAIL_NEWTON || reason == LGV_FAIL_SINGULAR);
    c->failed |= *mask;
}

#include "../src/kernel/text/newton.h"
#include "../src/kernel/text/rotor.h"

typedef long double real;

static struct ctx context;

static void planar(double dt, const double *spin, vec *q, vec *m) {
    rotor_planar(dt, spin, q, m);
}
static void cayley(double dt, const double *spin, vec *q, vec *m) {
    rotor_cayley(&context, dt, spin, q, m);
}
static void exponential(double dt, const double *spin, vec *q, vec *m) {
    rotor_exponential(&context, dt, spin, q, m);
}

typedef void rotor_step(double dt, const double *spin, vec *q, vec *m);
static const struct {
    const char *name;
    rotor_step *step;
} maps[] = {{"planar", planar}, {"cayley", cayley}, {"exponential", exponential}, {"exact", rotor_exact}};
enum { PLANAR, CAYLEY, EXPONENTIAL, EXACT, MAPS };

/* Any order of the moments, equal ones, nearly equal ones, a flat body, a thin one. */
static const double bodies[][3] = {{1, 2, 2.5},     {2.5, 1, 2}, {2, 2.5, 1}, {2.5, 2, 1},         {1, 1, 2},
                                   {2, 1, 1},       {1, 2, 1},   {1, 1, 1},   {1, 2, 3},           {1, 0.05, 1.02},
                                   {1, 1 + 1e-7, 2}, {2, 1, 2 - 1e-7}, {2, 1 - 1e-12, 1}, {1, 1 + 1e-9, 1 + 2e-9}};
enum { BODIES = sizeof bodies / sizeof *bodies };

/* ---- random states ---- */

static uint64_t random_state = 1;

static double random_symmetric(void) { /* splitmix64, in (-1, 1) */
    uint64_t z = (random_state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
}

static void random_lanes(vec *q, vec *m) {
    for (int l = 0; l < LANES; l++) {
        double size = 0.0;
        for (int i = 0; i < 4; i++) {
            q[i][l] = random_symmetric();
            size += q[i][l] * q[i][l];
        }
        for (int i = 0; i < 4; i++) q[i][l] /= sqrt(size);
        for (int i = 0; i < 3; i++) m[i][l] = random_symmetric();
    }
}

enum regime { ANYWHERE, NEAR_MIDDLE, SEPARATRIX, NEAR_SEPARATRIX, ON_AXES, REGIMES };

static void random_motion(enum regime kind, const double *spin, vec *q, vec *m) {
    int a = (int)spin[LGV_SPIN_FIRST], b = (a + 1) % 3, c = (a + 2) % 3;
    random_lanes(q, m);
    for (int l = 0; l < LANES; l++) {
        double small = kind == NEAR_MIDDLE ? pow(10.0, -8.0 + 7.0 * random_symmetric()) : 1.0;
        m[a][l] *= small;
        m[c][l] *= small;
        if (kind == SEPARATRIX || kind == NEAR_SEPARATRIX) { /* f n1^2 = g n3^2 */
            m[c][l] = sqrt(spin[LGV_SPIN_PART]) * random_symmetric();
            m[a][l] = sqrt(spin[LGV_SPIN_REST]) * fabs(m[c][l]) / (sqrt(spin[LGV_SPIN_PART]) + 1e-300);
        }
        if (kind == NEAR_SEPARATRIX) m[a][l] *= 1.0 + 1e-7 * random_symmetric();
        int which = (int)(4.0 + 3.9 * random_symmetric());
        if (kind == ON_AXES && which & 1) m[a][l] = 0.0;
        if (kind == ON_AXES && which & 2) m[b][l] = 0.0;
        if (kind == ON_AXES && which & 4) m[c][l] = 0.0;
    }
}

/* ---- the motion in long double ---- */

static void add_products(const real *m, const real *w, const real *q, real *dm, real *dq) {
    dm[0] += m[1] * w[2] - m[2] * w[1];
    dm[1] += m[2] * w[0] - m[0] * w[2];
    dm[2] += m[0] * w[1] - m[1] * w[0];
    dq[0] -= 0.5L * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2]);
    dq[1] += 0.5L * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
    dq[2] += 0.5L * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
    dq[3] += 0.5L * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
}

static real evaluate(int terms, const real *first, int stride, real h) {
    real sum = 0.0L;
    for (int k = terms; k >= 0; k--) sum = sum * h + first[k * stride];
    return sum;
}

/* Taylor series of degree 26, over steps in which the body turns by at most 1/3: the angles are what is returned. */
static double reference(double T, const double *inertia, real *q, real *m) {
    enum { TERMS = 26 };
    real turn = 0.0L, M[TERMS + 1][3], w[TERMS + 1][3], Q[TERMS + 1][4];
    for (int i = 0; i < 3; i++) turn += m[i] * m[i] / inertia[i] / inertia[i];
    turn = sqrtl(turn) * 1.5L * fabsl((real)T); /* |omega| changes along the motion */
    long steps = (long)ceill(3.0L * turn) + 1;
    for (long n = 0; n < steps; n++) {
        memset(M, 0, sizeof M);
        memset(Q, 0, sizeof Q);
        memcpy(M[0], m, sizeof M[0]);
        memcpy(Q[0], q, sizeof Q[0]);
        for (int k = 0; k < TERMS; k++) {
            for (int i = 0; i < 3; i++) w[k][i] = M[k][i] / inertia[i];
            for (int j = 0; j <= k; j++) add_products(M[j], w[k - j], Q[j], M[k + 1], Q[k + 1]);
            for (int i = 0; i < 3; i++) M[k + 1][i] /= k + 1;
            for (int i = 0; i < 4; i++) Q[k + 1][i] /= k + 1;
        }
        for (int i = 0; i < 3; i++) m[i] = evaluate(TERMS, &M[0][i], 3, (real)T / steps);
        for (int i = 0; i < 4; i++) q[i] = evaluate(TERMS, &Q[0][i], 4, (real)T / steps);
    }
    return (double)turn;
}

struct body {
    real q[4], m[3];
};

static struct body lane_of(const vec *q, const vec *m, int l) {
    struct body b;
    for (int i = 0; i < 4; i++) b.q[i] = q[i][l];
    for (int i = 0; i < 3; i++) b.m[i] = m[i][l];
    return b;
}

static double size_of(const real *a, int n) {
    real sum = 0.0L;
    for (int i = 0; i < n; i++) sum += a[i] * a[i];
    return (double)sqrtl(sum);
}

/* Largest difference of two bodies, of m relative to |m|. */
static double distance(const struct body *a, const struct body *b) {
    double worst = 0.0, size = size_of(b->m, 3);
    for (int i = 0; i < 4; i++) worst = fmax(worst, (double)fabsl(a->q[i] - b->q[i]));
    for (int i = 0; i < 3 && size > 0.0; i++) worst = fmax(worst, (double)fabsl(a->m[i] - b->m[i]) / size);
    for (int i = 0; i < 4; i++) worst = isnan(a->q[i]) ? INFINITY : worst;
    for (int i = 0; i < 3; i++) worst = isnan(a->m[i]) ? INFINITY : worst;
    return worst;
}

/* R(q) m with q made a unit. */
static void to_space(const struct body *b, real *out) {
    const real *q = b->q, *m = b->m;
    real size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], t[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        t[i] = 2.0L / size * (q[1 + j] * m[k] - q[1 + k] * m[j]);
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = m[i] + q[0] * t[i] + q[1 + j] * t[k] - q[1 + k] * t[j];
    }
}

/* Of one lane. */
static double energy(const double *spin, const vec *m, int l) {
    double sum = 0.0;
    for (int i = 0; i < 3; i++) sum += 0.5 * spin[LGV_SPIN_INVERSE + i] * m[i][l] * m[i][l];
    return sum;
}

/* ---- the exact motion ---- */

/* Round-off of q, m and of the angle: 1e-15 for each radian.  Along the separatrix neighbours part by
 * exp(sqrt(f g) tau), whoever computes them. */
static void test_exact(void **state) {
    static const double steps[] = {1e-3, 0.1, 0.6, -0.6, 3.0, 11.0};
    (void)state;
    for (int b = 0; b < BODIES; b++) {
        double spin[LGV_SPIN];
        lgv_spin_numbers(bodies[b], spin);
        for (int n = 0; n < REGIMES * 6; n++) {
            vec q[4], m[3], q0[4], m0[3];
            double dt = steps[n % 6] * (1.0 + 0.2 * random_symmetric());
            enum regime kind = (enum regime)(n / 6);
            if (n % 6 == 5 && (kind == SEPARATRIX || kind == NEAR_SEPARATRIX)) dt *= 4.0; /* on to the axis */
            random_motion(kind, spin, q, m);
            memcpy(q0, q, sizeof q);
            memcpy(m0, m, sizeof m);
            rotor_exact(dt, spin, q, m);
            for (int l = 0; l < LANES; l++) {
                struct body want = lane_of(q0, m0, l), got = lane_of(q, m, l);
                double growth = sqrt(spin[LGV_SPIN_PART] * spin[LGV_SPIN_REST]) * fabs(spin[LGV_SPIN_SPREAD] * dt);
                growth = exp(growth * size_of(want.m, 3));
                double angle = reference(dt, bodies[b], want.q, want.m), error = distance(&got, &want);
                if (!(error <= 1e-15 * (1.0 + angle) * growth))
                    fail_msg("body %d, motion %d, step %g, lane %d: error %.2e, angle %g, growth %g", b, n / 6, dt, l,
                             error, angle, growth);
            }
        }
    }
}

/* Steady rotation about each axis, the intermediate one too, for any time; no motion; what is not finite is alone. */
static void test_exact_steady(void **state) {
    (void)state;
    for (int b = 0; b < BODIES; b++)
        for (int i = 0; i < 3; i++)
            for (int huge = 0; huge < 2; huge++) {
                double spin[LGV_SPIN], dt = huge ? 1e9 : 700.0, size = 0.9;
                vec q[4], m[3], q0[4];
                lgv_spin_numbers(bodies[b], spin);
                random_lanes(q, m);
                memcpy(q0, q, sizeof q);
                for (int j = 0; j < 3; j++) m[j] = vec_set(j == i ? size : 0.0);
                m[i][1] = 0.0;
                m[0][2] = huge ? INFINITY : NAN;
                rotor_exact(dt, spin, q, m);
                struct body still = lane_of(q0, m, 1), got = lane_of(q, m, 1);
                assert_true(distance(&got, &still) <= 1e-15);
                assert_true(isnan(q[0][2]));
                for (int l = 0; l < LANES; l += 3) {
                    for (int j = 0; j < 3; j++) assert_true(fabs(m[j][l] - (j == i ? size : 0.0)) <= 1e-15);
                    real half = 0.5L * dt * (real)size / (real)bodies[b][i], u[4] = {cosl(half), 0, 0, 0};
                    u[1 + i] = sinl(half);
                    real w = u[0] * q0[0][l] - u[1] * q0[1][l] - u[2] * q0[2][l] - u[3] * q0[3][l];
                    assert_true(fabsl(w - q[0][l]) <= 4e-16 * (1.0 + dt / bodies[b][i]));
                }
            }
}

/* Steps so long that nobody knows the phase at their end: on the same curve, with the same momentum in space. */
static void test_exact_far(void **state) {
    (void)state;
    for (int b = 0; b < BODIES; b++)
        for (int n = 0; n < 10; n++) {
            double spin[LGV_SPIN], dt = pow(1000.0, n + 1);
            vec q[4], m[3], q0[4], m0[3];
            lgv_spin_numbers(bodies[b], spin);
            random_motion((enum regime)(n % REGIMES), spin, q, m);
            memcpy(q0, q, sizeof q);
            memcpy(m0, m, sizeof m);
            rotor_exact(dt, spin, q, m);
            for (int l = 0; l < LANES; l++) {
                struct body start = lane_of(q0, m0, l), end = lane_of(q, m, l);
                real J[2][3], size = size_of(start.m, 3);
                to_space(&start, J[0]);
                to_space(&end, J[1]);
                for (int i = 0; i < 3; i++) assert_true(fabsl(J[0][i] - J[1][i]) <= 4e-15L * size);
                assert_true(fabs(size_of(end.q, 4) - 1.0) <= 5e-16);
                assert_true(fabs(energy(spin, m, l) - energy(spin, m0, l)) <= 1e-14 * energy(spin, m0, l));
            }
        }
}

/* Many steps of random size.  The error is relative to all that the body has turned: each step rounds m.  Near the
 * separatrix the period has no bound on its derivative: the motions keep away from it. */
static void test_exact_long(void **state) {
    (void)state;
    for (int b = 0; b < 3; b++) {
        vec q[4], m[3];
        struct body want[LANES];
        double spin[LGV_SPIN], T = 0.0, least = 1e300;
        lgv_spin_numbers(bodies[4 * b], spin);
        random_lanes(q, m);
        for (int l = 0; l < 2; l++) {
            m[((int)spin[LGV_SPIN_FIRST] + 2 * l) % 3][l] = 1.0; /* about the first axis, and about the third */
            want[l] = lane_of(q, m, l);
        }
        for (int n = 0; n < 10000; n++) {
            double dt = ldexp(floor(0x1p20 * 0.25 * (1.0 + random_symmetric())), -20); /* their sum is exact */
            T += dt;
            rotor_exact(dt, spin, q, m);
        }
        for (int l = 0; l < 2; l++) {
            struct body got = lane_of(q, m, l);
            double angle = reference(T, bodies[4 * b], want[l].q, want[l].m);
            least = fmin(least, angle);
            if (!(distance(&got, &want[l]) <= 2e-14 * angle))
                fail_msg("body %d: %g after %g radians", b, distance(&got, &want[l]), angle);
        }
        assert_true(least > 100.0);
    }
}

/* A body that comes back to its middle axis again and again: there |m| would drift, by 1e-17 a step and more. */
static void test_exact_size(void **state) {
    (void)state;
    double spin[LGV_SPIN], start[LANES];
    vec q[4] = {vec_set(1)}, m[3] = {vec_set(0), vec_set(2), vec_set(0)};
    lgv_spin_numbers(bodies[0], spin);
    for (int l = 0; l < LANES; l++) {
        m[0][l] = 0.01 + 0.003 * l;
        start[l] = 4 + m[0][l] * m[0][l];
    }
    for (int step = 0; step < 100000; step++) rotor_exact(0.05, spin, q, m);
    for (int l = 0; l < LANES; l++) {
        real size = (real)m[0][l] * m[0][l] + (real)m[1][l] * m[1][l] + (real)m[2][l] * m[2][l];
        double drift = fabs((double)(size / start[l] - 1));
        if (!(drift < 1.5e-13)) fail_msg("|m|^2 is off by %g in 100000 steps, lane %d", drift, l);
    }
}

/* ---- orders and equations ---- */

static void test_orders(void **state) {
    (void)state;
    for (int k = PLANAR; k < EXACT; k++)
        for (int b = 0; b < 3; b++) {
            double spin[LGV_SPIN], error[3] = {0.0};
            vec q0[4], m0[3];
            lgv_spin_numbers(bodies[4 * b], spin);
            random_lanes(q0, m0);
            for (int level = 0; level < 3; level++) {
                vec q[4], m[3];
                memcpy(q, q0, sizeof q);
                memcpy(m, m0, sizeof m);
                for (int n = 0; n < 40 << level; n++) maps[k].step(2.0 / (40 << level), spin, q, m);
                struct body want = lane_of(q0, m0, 0), got = lane_of(q, m, 0);
                reference(2.0, bodies[4 * b], want.q, want.m);
                error[level] = distance(&got, &want);
            }
            for (int level = 0; level < 2; level++) {
                double order = log2(error[level] / error[level + 1]);
                if (fabs(order - 2.0) > 0.03)
                    fail_msg("%s, body %d: order %.3f, errors %g %g %g", maps[k].name, b, order, error[0], error[1],
                             error[2]);
            }
        }
}

/* (dtau^-1_x)^T a = a + x x a / 2 + quadratic terms. */
static void trivialised(int map, const real *x, const real *a, real *out) {
    real xx = x[0] * x[0] + x[1] * x[1] + x[2] * x[2], xa = x[0] * a[0] + x[1] * a[1] + x[2] * a[2];
    real theta = sqrtl(xx), c = theta < 1e-4L ? 1.0L / 12 : (1.0L - 0.5L * theta / tanl(0.5L * theta)) / xx;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = a[i] + 0.5L * (x[j] * a[k] - x[k] * a[j]);
        out[i] += map == CAYLEY ? 0.25L * x[i] * xa : c * (x[i] * xa - xx * a[i]);
    }
}

/* The equation as it is printed, with xi found again from the rotation of the step: q is rounded, the more so the
 * smaller or the larger its angle. */
static void test_equations(void **state) {
    (void)state;
    for (int k = CAYLEY; k <= EXPONENTIAL; k++)
        for (int b = 0; b < BODIES; b++)
            for (int n = 0; n < 6; n++) {
                double spin[LGV_SPIN], dt = (const double[]){1e-5, 0.02, 0.2, 0.5, 1.0, 2.0}[n];
                if (bodies[b][1] < 0.1) dt *= 0.2; /* thin: strongly nonlinear */
                vec q[4] = {vec_set(1)}, m[3], r[3];
                lgv_spin_numbers(bodies[b], spin);
                for (int i = 0; i < 3; i++)
                    for (int l = 0; l < LANES; l++) m[i][l] = spin[LGV_SPIN_I + i] * random_symmetric();
                memcpy(r, m, sizeof m);
                context.failed = (ivec){0};
                maps[k].step(dt, spin, q, m);
                assert_false(vec_any(context.failed));
                for (int l = 0; l < LANES; l++) {
                    real x[3], Ix[3], left[3], residual[3], right[3], v = 0.0L;
                    for (int i = 0; i < 3; i++) v += (real)q[1 + i][l] * q[1 + i][l];
                    v = sqrtl(v);
                    real half = k == CAYLEY ? v / q[0][l] : atan2l(v, q[0][l]);
                    for (int i = 0; i < 3; i++) {
                        x[i] = 2.0L * half / v * q[1 + i][l];
                        Ix[i] = x[i] * bodies[b][i] / dt;
                        right[i] = r[i][l];
                    }
                    trivialised(k, x, Ix, left);
                    for (int i = 0; i < 3; i++) residual[i] = (left[i] - right[i]) / bodies[b][i];
                    if (!(size_of(residual, 3) <= 1e-15 * (2.0 + 1e-5 / dt + dt)))
                        fail_msg("%s, body %d, step %g: residual %g", maps[k].name, b, dt, size_of(residual, 3));
                }
            }
}

/* ---- structure ---- */

/* Per step; then after all of them: where m hardly changes, each step rounds it alike. */
static void test_momentum(void **state) {
    enum { STEPS = 2000 };
    (void)state;
    for (int k = 0; k < MAPS; k++)
        for (int b = 0; b < BODIES; b++) {
            double spin[LGV_SPIN], worst = 0.0, end = 0.0;
            vec q[4], m[3], q0[4], m0[3];
            lgv_spin_numbers(bodies[b], spin);
            random_lanes(q, m);
            memcpy(q0, q, sizeof q);
            memcpy(m0, m, sizeof m);
            for (int n = 0; n < STEPS; n++) {
                struct body before = lane_of(q, m, 0);
                maps[k].step(0.3, spin, q, m);
                struct body after = lane_of(q, m, 0), start = lane_of(q0, m0, 0);
                real J0[3], J1[3], J[3];
                to_space(&before, J0);
                to_space(&after, J1);
                to_space(&start, J);
                for (int i = 0; i < 3; i++) {
                    J[i] -= J1[i];
                    J1[i] -= J0[i];
                }
                double size = size_of(start.m, 3);
                worst = fmax(worst, size_of(J1, 3) / size);
                worst = fmax(worst, fabs(size_of(after.m, 3) - size_of(before.m, 3)) / size);
                end = fmax(end, size_of(J, 3) / size);
            }
            if (!(worst <= 1.5e-15 && end <= 1e-16 * STEPS))
                fail_msg("%s, body %d: R m moves by %g in a step, %g in all", maps[k].name, b, worst, end);
        }
}

/* q exp(h xi), m + h mu of the tangent vector e: xi for e < 3, else mu. */
static void displaced(int e, double h, const vec *q0, const vec *m0, vec *q, vec *m) {
    vec t[4] = {vec_set(cos(0.5 * h)), vec_set(0), vec_set(0), vec_set(0)};
    memcpy(q, q0, 4 * sizeof *q);
    memcpy(m, m0, 3 * sizeof *m);
    if (e >= 3) {
        m[e - 3] += h;
        return;
    }
    t[1 + e] = vec_set(sin(0.5 * h));
    rotor_turn(q, t);
}

/* The image of a tangent vector: central differences of order 6. */
static void tangent(rotor_step *step, double dt, const double *spin, const vec *q0, const vec *m0, int e, double *out) {
    static const double weight[] = {0.75, -0.15, 1.0 / 60};
    const double h = 1e-2 * fmin(1.0, 4.0 / fmax(spin[LGV_SPIN_INVERSE], spin[LGV_SPIN_INVERSE + 1]));
    vec q1[4], m1[3], q[4], m[3];
    memset(out, 0, 6 * sizeof *out);
    displaced(0, 0.0, q0, m0, q1, m1);
    step(dt, spin, q1, m1);
    for (int n = 0; n < 6; n++) {
        double at = n < 3 ? n + 1 : 2 - n, w = n < 3 ? weight[n] : -weight[n - 3];
        displaced(e, at * h, q0, m0, q, m);
        step(dt, spin, q, m);
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            double x = q1[0][0] * q[1 + i][0] - q[0][0] * q1[1 + i][0];
            x -= q1[1 + j][0] * q[1 + k][0] - q1[1 + k][0] * q[1 + j][0];
            out[i] += 2.0 * w / h * x;
            out[3 + i] += w / h * (m[i][0] - m1[i][0]);
        }
    }
}

static double form(const double *a, const double *b, const vec *m) {
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        sum += b[3 + i] * a[i] - a[3 + i] * b[i] + m[i][0] * (a[j] * b[k] - a[k] * b[j]);
    }
    return sum;
}

static void test_symplectic(void **state) {
    (void)state;
    for (int k = 0; k < MAPS; k++)
        for (int b = 0; b < BODIES; b++) {
            double spin[LGV_SPIN], dt = bodies[b][1] < 0.1 ? 0.1 : 0.4, image[6][6], worst = 0.0, size = 1.0;
            vec q[4], m[3], q1[4], m1[3];
            lgv_spin_numbers(bodies[b], spin);
            random_lanes(q, m);
            for (int i = 0; i < 3; i++) m[i] *= fmin(1.0, bodies[b][i]);
            memcpy(q1, q, sizeof q);
            memcpy(m1, m, sizeof m);
            maps[k].step(dt, spin, q1, m1);
            for (int e = 0; e < 6; e++) {
                tangent(maps[k].step, dt, spin, q, m, e, image[e]);
                for (int i = 0; i < 6; i++) size = fmax(size, fabs(image[e][i]));
            }
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < i; j++) {
                    double unit[2][6] = {{0.0}};
                    unit[0][i] = unit[1][j] = 1.0;
                    worst = fmax(worst, fabs(form(image[i], image[j], m1) - form(unit[0], unit[1], m)));
                }
            if (!(worst <= 1e-11 * size * size))
                fail_msg("%s, body %d: the form changes by %g", maps[k].name, b, worst);
        }
}

static void test_reversible(void **state) {
    (void)state;
    for (int k = 0; k < MAPS; k++)
        for (int b = 0; b < BODIES; b++)
            for (int n = 0; n < 10; n++) {
                double spin[LGV_SPIN];
                vec q[4], m[3], q0[4], m0[3];
                lgv_spin_numbers(bodies[b], spin);
                random_lanes(q, m);
                for (int i = 0; i < 3; i++) m[i] *= fmin(1.0, bodies[b][i]);
                memcpy(q0, q, sizeof q);
                memcpy(m0, m, sizeof m);
                for (int turn = 0; turn < 2; turn++) {
                    maps[k].step(0.8, spin, q, m);
                    for (int i = 0; i < 3; i++) m[i] = -m[i];
                }
                for (int l = 0; l < LANES; l++) {
                    struct body back = lane_of(q, m, l), start = lane_of(q0, m0, l);
                    if (!(distance(&back, &start) <= 1e-14))
                        fail_msg("%s, body %d: %g from where it began", maps[k].name, b, distance(&back, &start));
                }
            }
}

/* ---- many steps ---- */

/* Smooth averages of the energy over the first and the last tenth of the path: what differs is a drift.  The energy
 * itself swings by much more, except for the exact motion, where it is the sum of random errors. */
static void test_energy(void **state) {
    enum { STEPS = 100000, WINDOW = 10000 };
    static double weight[WINDOW];
    (void)state;
    for (int n = 0; n < WINDOW; n++) weight[n] = pow(sin(acos(-1.0) * (n + 0.5) / WINDOW), 2.0);
    for (int k = 0; k < MAPS; k++) {
        double spin[LGV_SPIN], first[LANES] = {0.0}, last[LANES] = {0.0}, swing = 0.0;
        vec q[4], m[3], m0[3];
        lgv_spin_numbers(bodies[0], spin);
        random_state = 1;
        random_lanes(q, m);
        memcpy(m0, m, sizeof m);
        for (int n = 0; n < STEPS; n++) {
            maps[k].step(0.5, spin, q, m);
            for (int l = 0; l < LANES; l++) {
                double e = energy(spin, m, l) / energy(spin, m0, l) - 1.0;
                first[l] += n < WINDOW ? weight[n] * e : 0.0;
                last[l] += n >= STEPS - WINDOW ? weight[n - (STEPS - WINDOW)] * e : 0.0;
                swing = fmax(swing, fabs(e));
            }
        }
        for (int l = 0; l < LANES; l++) {
            double drift = (last[l] - first[l]) / (0.5 * WINDOW);
            if (!(fabs(drift) <= (k == EXACT ? 1e-15 * sqrt(STEPS) : 1e-9)))
                fail_msg("%s: the energy drifts by %g, swings by %g", maps[k].name, drift, swing);
        }
        assert_true(k == EXACT ? swing < 1e-15 * sqrt(STEPS) : swing > 1e-4);
    }
}

static void test_norm(void **state) {
    (void)state;
    for (int k = 0; k < MAPS; k++) {
        double spin[LGV_SPIN], worst = 0.0;
        vec q[4], m[3];
        lgv_spin_numbers(bodies[0], spin);
        random_lanes(q, m);
        for (int n = 0; n < (k == EXACT ? 300000 : 1000000); n++) {
            maps[k].step(0.1, spin, q, m);
            worst = fmax(worst, fabs(size_of(lane_of(q, m, n % LANES).q, 4) - 1.0));
        }
        if (!(worst <= 5e-16)) fail_msg("%s: |q| differs from 1 by %g", maps[k].name, worst);
    }
}

/* ---- lanes ---- */

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Motions of all kinds beside each other, in any place. */
static void test_bits(void **state) {
    (void)state;
    for (int k = 0; k < MAPS; k++)
        for (int b = 0; b < BODIES; b++) {
            double spin[LGV_SPIN], small = k == EXACT ? 1.0 : fmin(1.0, bodies[b][1]);
            vec q[4], m[3], q1[4], m1[3], q2[4], m2[3];
            lgv_spin_numbers(bodies[b], spin);
            random_motion((enum regime)(b % REGIMES), spin, q, m);
            if (b % 3 == 0) m[0][0] = m[1][0] = m[2][0] = 0.0;
            double far = k == CAYLEY || k == EXACT ? 40.0 : k == EXPONENTIAL && bodies[b][1] > 0.1 ? 3.0 : 1.0;
            for (int i = 0; i < 3; i++)
                for (int l = 0; l < LANES; l++) m[i][l] *= small * (l == 1 ? 0.3 : l == 2 ? 1e-9 : l == 3 ? far : 1.0);
            for (int l = 0; l < LANES; l++) { /* alone, then beside all others in every place */
                for (int i = 0; i < 4; i++) q1[i] = vec_set(q[i][l]);
                for (int i = 0; i < 3; i++) m1[i] = vec_set(m[i][l]);
                maps[k].step(0.7, spin, q1, m1);
                for (int place = 0; place < LANES; place++) {
                    for (int to = 0; to < LANES; to++) {
                        for (int i = 0; i < 4; i++) q2[i][to] = q[i][(to + place) % LANES];
                        for (int i = 0; i < 3; i++) m2[i][to] = m[i][(to + place) % LANES];
                    }
                    maps[k].step(0.7, spin, q2, m2);
                    int at = (l + LANES - place) % LANES;
                    for (int i = 0; i < 4; i++) assert_true(same_bits(q2[i][at], q1[i][at]));
                    for (int i = 0; i < 3; i++) assert_true(same_bits(m2[i][at], m1[i][at]));
                }
            }
        }
}

/* Steps that turn too far for the exponential fail, alone; the Cayley map takes any.  A lane that has failed before
 * takes no part. */
static void test_failures(void **state) {
    (void)state;
    for (int k = CAYLEY; k <= EXPONENTIAL; k++) {
        double spin[LGV_SPIN];
        vec q[4], m[3];
        lgv_spin_numbers(bodies[0], spin);
        random_lanes(q, m);
        m[0][1] = 1e3;
        m[1][1] = -2e3;
        m[0][2] = m[1][2] = m[2][2] = NAN;
        m[0][3] = 7.53; /* another sheet of the logarithm would have a root */
        m[1][3] = 4.94;
        m[2][3] = 1.04;
        context = (struct ctx){0};
        maps[k].step(1.0, spin, q, m);
        for (int l = 0; l < LANES; l++) {
            bool fails = k == EXPONENTIAL && (l == 1 || l == 3);
            assert_int_equal(context.failed[l] != 0, fails);
            assert_int_equal(isnan(q[0][l]) && isnan(m[0][l]), fails || l == 2);
        }
        assert_true(context.iterations > 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),      cmocka_unit_test(test_exact_steady), cmocka_unit_test(test_exact_long),
        cmocka_unit_test(test_exact_far),  cmocka_unit_test(test_exact_size),
        cmocka_unit_test(test_orders),     cmocka_unit_test(test_equations),    cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_symplectic), cmocka_unit_test(test_reversible),   cmocka_unit_test(test_energy),
        cmocka_unit_test(test_norm),       cmocka_unit_test(test_bits),         cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
