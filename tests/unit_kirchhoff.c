/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Free steps of bodies in SE(3) with coupled inertia (text/kirchhoff.h): the maps and their tangents against series and
 * finite differences in long double, the equation of the step, momentum in space and Casimirs over many steps,
 * symplecticity in (g, m), and that it is lost in (g, mu). */
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

#define NP 6L
void lgv_coupled_numbers(const double inverse[36], double *out); /* kernel/kernel.h */

struct ctx { /* what newton.h needs of it */
    vec *top;
    u64 iterations;
    ivec failed;
};

static void lanes_failed(struct ctx *c, const ivec *mask, int reason) {
    (void)reason;
    c->failed |= *mask;
}

#include "../src/kernel/text/newton.h"
#include "../src/kernel/text/rotor.h"
#include "../src/kernel/text/kirchhoff.h"

typedef long double real;
typedef void map(const vec *u, vec *T, vec *y);
typedef void step(struct ctx *c, double dt, const double *body, vec *x, vec *q, vec *m, vec *P);
static struct ctx context;

static void cayley_map(const vec *u, vec *T, vec *y) {
    kirchhoff_cayley_map(u, T, y);
}
static void exponential_map(const vec *u, vec *T, vec *y) {
    kirchhoff_exponential_map(u, T, y);
}
static void cayley_step(struct ctx *c, double dt, const double *body, vec *x, vec *q, vec *m, vec *P) {
    kirchhoff_cayley(c, dt, body, x, q, m, P);
}
static void exponential_step(struct ctx *c, double dt, const double *body, vec *x, vec *q, vec *m, vec *P) {
    kirchhoff_exponential(c, dt, body, x, q, m, P);
}
static map *const maps[2] = {cayley_map, exponential_map};
static void screws_step(struct ctx *c, double dt, const double *body, vec *x, vec *q, vec *m, vec *P) {
    kirchhoff_screws(c, dt, body, x, q, m, P);
}
static step *const steps[3] = {cayley_step, exponential_step, screws_step};

static void set(vec *out, const double *x, int n) {
    for (int k = 0; k < n; k++) out[k] = vec_set(x[k]);
}
static void get(const vec *x, double *out, int n) {
    for (int k = 0; k < n; k++) out[k] = x[k][0];
}

/* ---- 4 x 4 matrices in long double ---- */

static void multiply(const real *A, const real *B, real *out) {
    for (int i = 0; i < 16; i++) {
        out[i] = 0;
        for (int k = 0; k < 4; k++) out[i] += A[4 * (i / 4) + k] * B[4 * k + i % 4];
    }
}

static void hat(const real *u, real *out) {
    const real A[16] = {0, -u[2], u[1], u[3], u[2], 0, -u[0], u[4], -u[1], u[0], 0, u[5], 0, 0, 0, 0};
    memcpy(out, A, sizeof A);
}

/* A group element by its definition: exp by its series, cay = (1 - u/2)^-1 (1 + u/2) as 2 sum (u/2)^n - 1. */
static void element(int which, const real *u, real *out) {
    real A[16], term[16], next[16];
    hat(u, A);
    if (which == 0) { /* |u| < 2 is not asked of the Cayley map: solve by elimination, closed in the rotation part */
        real s = (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) / 4, W[16], W2[16];
        for (int k = 0; k < 16; k++) W[k] = k % 4 == 3 ? 0 : A[k] / 2;
        multiply(W, W, W2);
        real inverse[16]; /* (1 - W)^-1 = 1 + (W + W^2)/(1 + s) on the rotation part */
        for (int k = 0; k < 16; k++)
            inverse[k] = (k % 5 == 0) + (k / 4 < 3 && k % 4 < 3 ? (W[k] + W2[k]) / (1 + s) : 0);
        for (int i = 0; i < 3; i++) { /* its last column: (1 - W)^-1 v/2 */
            inverse[4 * i + 3] = 0;
            for (int k = 0; k < 3; k++) inverse[4 * i + 3] += inverse[4 * i + k] * u[3 + k] / 2;
        }
        for (int k = 0; k < 16; k++) term[k] = (k % 5 == 0) + A[k] / 2;
        multiply(inverse, term, out);
        return;
    }
    for (int k = 0; k < 16; k++) out[k] = term[k] = k % 5 == 0;
    for (int n = 1; n < 60; n++) {
        multiply(term, A, next);
        for (int k = 0; k < 16; k++) out[k] += term[k] = next[k] / n;
    }
}

static void inverse_of(const real *g, real *out) {
    for (int i = 0; i < 3; i++) {
        out[4 * i + 3] = 0;
        for (int j = 0; j < 3; j++) {
            out[4 * i + j] = g[4 * j + i];
            out[4 * i + 3] -= g[4 * j + i] * g[4 * j + 3];
        }
    }
    for (int k = 12; k < 16; k++) out[k] = k == 15;
}

static const double sizes[] = {1e-9, 1e-3, 0.1, 0.7, 1.4, 1.6, 2.5, 4, 5.5};
static const double direction[6] = {0.48, -0.6, 0.64, 0.9, 0.3, -1.3};

static void test_maps(void **state) {
    (void)state;
    for (int which = 0; which < 2; which++)
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
            double x[6], T[4], y[3];
            real u[6], g[16];
            vec vu[6], vT[4], vy[3];
            for (int k = 0; k < 6; k++) u[k] = x[k] = sizes[n] * direction[k];
            set(vu, x, 6);
            maps[which](vu, vT, vy);
            get(vT, T, 4);
            get(vy, y, 3);
            element(which, u, g);
            const double w = T[0], *v = T + 1;
            for (int i = 0; i < 3; i++) {
                assert_true(fabsl(g[4 * i + 3] - y[i]) < 1e-14L * (1 + sizes[n]));
                for (int j = 0; j < 3; j++) {
                    int k = 3 - i - j;
                    double R = i == j ? w * w + v[i] * v[i] - v[(i + 1) % 3] * v[(i + 1) % 3] -
                                            v[(i + 2) % 3] * v[(i + 2) % 3]
                                      : 2 * (v[i] * v[j] + ((j - i + 3) % 3 == 1 ? -1 : 1) * w * v[k]);
                    if (!(fabsl(g[4 * i + j] - R) < 2e-15L)) fail_msg("map %d, size %g", which, sizes[n]);
                }
            }
        }
}

/* <(dtau^-1_u)^* z, dtau_u d> = <z, d>, dtau_u d by differences of order 8 of tau(u + e d) tau(u)^-1. */
static void test_tangents(void **state) {
    (void)state;
    static const real weight[] = {4.0L / 5, -1.0L / 5, 4.0L / 105, -1.0L / 280};
    double worst = 0;
    for (int which = 0; which < 2; which++)
        for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
            for (int axis = 0; axis < 6; axis++) {
                double x[6], z[6] = {0.3, -0.7, 1.1, 0.5, 0.9, -0.2}, out[6];
                real u[6], g[16], back[16], d[16], e = 1e-3L, move[6] = {0};
                vec vu[6], vz[5][6], vout[6], vw[4];
                for (int k = 0; k < 6; k++) u[k] = x[k] = sizes[n] * direction[k];
                set(vu, x, 6);
                set(vz[0], z, 6);
                if (which == 0) {
                    kirchhoff_cayley_side(vu, vz[0], vout);
                } else {
                    kirchhoff_weights(rotor_dot(vu, vu), vw);
                    for (int k = 0; k < 4; k++) kirchhoff_ad(vu, vz[k], vz[k + 1]);
                    for (int k = 0; k < 6; k++)
                        vout[k] = vz[0][k] + 0.5 * vz[1][k] + vw[0] * vz[2][k] + vw[1] * vz[4][k];
                }
                get(vout, out, 6);
                element(which, u, g);
                inverse_of(g, back);
                memset(d, 0, sizeof d);
                for (int i = 1; i <= 4; i++)
                    for (int side = -1; side <= 1; side += 2) {
                        real at[6], moved[16], left[16];
                        for (int k = 0; k < 6; k++) at[k] = u[k] + (k == axis ? side * i * e : 0);
                        element(which, at, moved);
                        multiply(moved, back, left);
                        for (int k = 0; k < 16; k++) d[k] += side * weight[i - 1] * left[k] / e;
                    }
                move[0] = d[9], move[1] = d[2], move[2] = d[4], move[3] = d[3], move[4] = d[7], move[5] = d[11];
                real sum = -z[axis];
                for (int k = 0; k < 6; k++) sum += out[k] * move[k];
                worst = fmax(worst, (double)fabsl(sum) / (1 + sizes[n] * sizes[n]));
            }
    print_message("tangents: %.2g\n", worst);
    assert_true(worst < 1e-13);
}

/* A, B: the Bernoulli series of ad, powers of which are applied as they stand. */
static void test_weights(void **state) {
    (void)state;
    static const real b[] = {1.0L / 12, -1.0L / 720, 1.0L / 30240, -1.0L / 1209600, 1.0L / 47900160,
                             -691.0L / 1307674368000, 1.0L / 74724249600, -3617.0L / 10670622842880000};
    for (double s = 0.01; s < 0.5; s *= 1.7) { /* beyond, eight terms are not enough */
        real A = 0, B = 0, alpha = 1, beta = 0; /* ad^(2k) = alpha ad^2 + beta ad^4 */
        vec out[4];
        for (int k = 0; k < 8; k++) {
            A += b[k] * alpha;
            B += b[k] * beta;
            real old = alpha;
            alpha = -s * s * beta;
            beta = old - 2 * s * beta;
        }
        kirchhoff_weights(vec_set(s), out);
        assert_true(fabsl(A - out[0][0]) < 1e-14L * 12 && fabsl(B - out[1][0]) < 1e-14L);
    }
    for (double s = 0.3; s < 36; s *= 1.3) { /* derivatives, and both forms where they meet */
        vec a[4], c[4], far[4];
        double h = 1e-4 * s;
        kirchhoff_weights(vec_set(s - h), a);
        kirchhoff_weights(vec_set(s + h), c);
        kirchhoff_weights(vec_set(s), far);
        for (int k = 0; k < 2; k++)
            assert_true(fabs((c[k][0] - a[k][0]) / (2 * h) - far[2 + k][0]) < 1e-6 * fabs(far[2 + k][0]));
        if (s > 5) continue;
        vec near[4] = {far[0], far[1], far[2], far[3]};
        kirchhoff_weights_far(vec_set(s), (ivec)(vec_set(1) > vec_set(0)), far);
        assert_true(fabs(far[0][0] - near[0][0]) < 1e-14 && fabs(far[1][0] - near[1][0]) < 1e-13);
    }
}

/* ---- steps ---- */

struct body {
    double numbers[LGV_COUPLED_NUMBERS];
    double x[3], q[4], m[3], P[3];
};

/* Coupled, and of no plain body: no moments obey the triangle inequality. */
static void start(struct body *b) {
    static const double I[36] = {1, 0, 0.1, 0.2, 0.1, 0,   0, 2, 0, -0.1, 0.3, 0.1, 0.1, 0, 5, 0, 0.2, 0.4,
                                 0.2, -0.1, 0, 4, 0.3, 0,  0.1, 0.3, 0.2, 0.3, 2, 0, 0, 0.1, 0.4, 0, 0, 1};
    double inverse[36], A[36];
    for (int i = 0; i < 36; i++) A[i] = I[i], inverse[i] = i % 7 == 0;
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 6; i++) {
            double f = A[6 * i + k] / A[7 * k];
            for (int j = 0; j < 6 && i != k; j++) {
                A[6 * i + j] -= f * A[6 * k + j];
                inverse[6 * i + j] -= f * inverse[6 * k + j];
            }
        }
    for (int i = 0; i < 36; i++) inverse[i] /= A[7 * (i / 6)];
    lgv_coupled_numbers(inverse, b->numbers);
    for (int i = 0; i < 36; i++) assert_true(fabs(b->numbers[LGV_COUPLED_INERTIA + i] - I[i]) < 1e-14);
    const struct body at = {.x = {0.3, -0.2, 1}, .q = {0.5, 0.5, -0.1, 0.7}, .m = {1, -0.4, 2}, .P = {0.7, 1.2, -0.9}};
    memcpy(b->x, at.x, sizeof at.x);
    memcpy(b->m, at.m, sizeof at.m);
    memcpy(b->P, at.P, sizeof at.P);
    for (int k = 0; k < 4; k++) b->q[k] = at.q[k]; /* of length 1 */
}

static void advance(struct body *b, int which, double dt, int count) {
    vec x[3], q[4], m[3], P[3];
    set(x, b->x, 3), set(q, b->q, 4), set(m, b->m, 3), set(P, b->P, 3);
    context.failed = (ivec){0};
    for (int k = 0; k < count; k++) steps[which](&context, dt, b->numbers, x, q, m, P);
    get(x, b->x, 3), get(q, b->q, 4), get(m, b->m, 3), get(P, b->P, 3);
}

static void turn(const double *q, const double *x, double *out) {
    double c[3];
    for (int k = 0; k < 3; k++)
        c[k] = q[1 + (k + 1) % 3] * x[(k + 2) % 3] - q[1 + (k + 2) % 3] * x[(k + 1) % 3] + q[0] * x[k];
    for (int k = 0; k < 3; k++)
        out[k] = x[k] + 2 * (q[1 + (k + 1) % 3] * c[(k + 2) % 3] - q[1 + (k + 2) % 3] * c[(k + 1) % 3]);
}

/* Linear and angular momentum in space, |P|^2, m.P, H. */
static void invariants(const struct body *b, double out[9]) {
    double P[3], m[3], both[6], H = 0;
    turn(b->q, b->P, P);
    turn(b->q, b->m, m);
    for (int k = 0; k < 3; k++) {
        out[k] = P[k];
        out[3 + k] = m[k] + b->x[(k + 1) % 3] * P[(k + 2) % 3] - b->x[(k + 2) % 3] * P[(k + 1) % 3];
        both[k] = b->m[k];
        both[3 + k] = b->P[k];
    }
    for (int i = 0; i < 36; i++) H += 0.5 * b->numbers[LGV_COUPLED_INVERSE + i] * both[i / 6] * both[i % 6];
    out[6] = b->P[0] * b->P[0] + b->P[1] * b->P[1] + b->P[2] * b->P[2];
    out[7] = b->m[0] * b->P[0] + b->m[1] * b->P[1] + b->m[2] * b->P[2];
    out[8] = H;
}

static void test_invariants(void **state) {
    (void)state;
    for (int which = 0; which < 3; which++) {
        struct body b;
        double first[9], last[9], worst = 0;
        start(&b);
        invariants(&b, first);
        for (int n = 0; n < 100; n++) {
            advance(&b, which, 0.1, 1000);
            invariants(&b, last);
            for (int k = 0; k < 8; k++)
                if (!(fabs(last[k] - first[k]) < 1e-12 * (k < 3 || k > 5 ? 1 : 1 + fabs(b.x[0]) + fabs(b.x[1]))))
                    fail_msg("map %d: invariant %d off by %g after %d steps", which, k, last[k] - first[k], 1000 * n);
            worst = fmax(worst, fabs(last[8] - first[8]));
        }
        print_message("map %d: energy within %.2g of %.3g over 1e5 steps\n", which, worst, first[8]);
        assert_true(worst < 0.005 * first[8]);
        double back[3] = {b.m[0], b.m[1], b.m[2]};
        advance(&b, which, 0.1, 1); /* there and back: the step is symmetric */
        advance(&b, which, -0.1, 1);
        for (int k = 0; k < 3; k++) assert_true(fabs(b.m[k] - back[k]) < 1e-13);
    }
}

/* Order 2 against a fine step; both maps and the screws have the same limit. */
static void test_order(void **state) {
    (void)state;
    struct body fine;
    start(&fine);
    advance(&fine, 1, 1.0 / 4096, 4096);
    for (int which = 0; which < 3; which++) {
        double error[3];
        for (int n = 0; n < 3; n++) {
            struct body b;
            start(&b);
            advance(&b, which, 1.0 / (32 << n), 32 << n);
            error[n] = 0;
            for (int k = 0; k < 3; k++)
                error[n] = fmax(error[n], fmax(fabs(b.m[k] - fine.m[k]), fabs(b.x[k] - fine.x[k])));
        }
        print_message("map %d: %.3g %.3g %.3g\n", which, error[0], error[1], error[2]);
        assert_true(fabs(log2(error[0] / error[1]) - 2) < 0.03 && fabs(log2(error[1] / error[2]) - 2) < 0.02);
    }
}

/* A step that has no solution by the exponential is told, not taken. */
static void test_far(void **state) {
    (void)state;
    struct body b;
    start(&b);
    advance(&b, 1, 300, 1);
    assert_true(vec_any(context.failed) && isnan(b.m[0]));
    start(&b);
    advance(&b, 0, 9, 1); /* the Cayley map has one at a turn and more */
    assert_true(!vec_any(context.failed) && isfinite(b.m[0]));
}

/* ---- the symplectic form ---- */

/* mu of m: I xi, where (dtau^-1_{-dt xi})^* I xi = m; by one step back, whose u is -dt xi.  Or m of mu. */
static void change(const struct body *at, int which, double dt, bool to_mu, double *m, double *P) {
    double z[6] = {m[0], m[1], m[2], P[0], P[1], P[2]}, out[6];
    vec u[6], vz[5][6], side[6], w[4], e[6];
    struct kirchhoff h = {.body = at->numbers};
    if (to_mu) {
        for (int k = 0; k < 6; k++) h.s[k] = vec_set(-dt * z[k]);
        kirchhoff_times(at->numbers + LGV_COUPLED_INVERSE, h.s, h.guess);
        memcpy(u, h.guess, sizeof u);
        struct newton s = {.n = 6, .x = u, .e = e, .live = (ivec)(vec_set(1) > vec_set(0))};
        if (which)
            newton(&context, &s, NEWTON_MAX, kirchhoff_exponential_correct, kirchhoff_exponential_moving, 0, &h);
        else
            newton(&context, &s, NEWTON_MAX, kirchhoff_cayley_correct, kirchhoff_cayley_moving, 0, &h);
        kirchhoff_times(at->numbers + LGV_COUPLED_INERTIA, u, side);
        for (int k = 0; k < 6; k++) side[k] = side[k] / -dt;
    } else {
        set(vz[0], z, 6);
        kirchhoff_times(at->numbers + LGV_COUPLED_INVERSE, vz[0], u);
        for (int k = 0; k < 6; k++) u[k] *= -dt;
        kirchhoff_weights(rotor_dot(u, u), w);
        for (int k = 0; k < 4; k++) kirchhoff_ad(u, vz[k], vz[k + 1]);
        if (which == 0) kirchhoff_cayley_side(u, vz[0], side);
        for (int k = 0; which && k < 6; k++)
            side[k] = vz[0][k] + 0.5 * vz[1][k] + w[0] * vz[2][k] + w[1] * vz[4][k];
    }
    get(side, out, 6);
    memcpy(m, out, 3 * sizeof *m);
    memcpy(P, out + 3, 3 * sizeof *P);
}

/* The step in (g, m) or in (g, mu), from `at` moved by e along direction `axis` of 12: xi, then momenta. */
static void image(const struct body *at, int which, bool mu, int axis, double e, struct body *out) {
    *out = *at;
    if (mu) change(out, which, 0.3, true, out->m, out->P);
    if (axis < 6) {
        vec u[6], T[4], y[3], x[3], q[4];
        for (int k = 0; k < 6; k++) u[k] = vec_set(k == axis ? e : 0);
        kirchhoff_exponential_map(u, T, y);
        set(x, out->x, 3), set(q, out->q, 4);
        kirchhoff_shift(q, y, x);
        rotor_turn(q, T);
        get(x, out->x, 3), get(q, out->q, 4);
    } else if (axis < 9) {
        out->m[axis - 6] += e;
    } else {
        out->P[axis - 9] += e;
    }
    if (mu) change(out, which, 0.3, false, out->m, out->P);
    advance(out, which, 0.3, 1);
    if (mu) change(out, which, 0.3, true, out->m, out->P);
}

/* How g and momenta of b differ from those of a: log(a^-1 b), but for terms of order 5. */
static void difference(const struct body *a, const struct body *b, double out[12]) {
    double back[4] = {a->q[0], -a->q[1], -a->q[2], -a->q[3]}, r[4], x[3], way[3];
    vec vr[4], vq[4];
    set(vr, back, 4), set(vq, b->q, 4);
    rotor_turn(vr, vq);
    get(vr, r, 4);
    double angle = atan2(sqrt(r[1] * r[1] + r[2] * r[2] + r[3] * r[3]), r[0]);
    double s = angle > 0 ? 2 * angle / sin(angle) : 2;
    for (int k = 0; k < 3; k++) x[k] = b->x[k] - a->x[k], out[k] = s * r[1 + k];
    turn(back, x, way);
    double once[3];
    for (int k = 0; k < 3; k++) once[k] = out[(k + 1) % 3] * way[(k + 2) % 3] - out[(k + 2) % 3] * way[(k + 1) % 3];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[3 + k] = way[k] - once[k] / 2 + (out[i] * once[j] - out[j] * once[i]) / 12;
        out[6 + k] = b->m[k] - a->m[k];
        out[9 + k] = b->P[k] - a->P[k];
    }
}

static double form(const double *m, const double *P, const double *u, const double *v) {
    double s = 0;
    for (int k = 0; k < 6; k++) s += u[k] * v[6 + k] - u[6 + k] * v[k];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        s += m[k] * (u[i] * v[j] - u[j] * v[i]);
        s += P[k] * (u[i] * v[3 + j] - u[j] * v[3 + i] + u[3 + i] * v[j] - u[3 + j] * v[i]);
    }
    return s;
}

static double defect(int which, bool mu) {
    struct body at, end, start_mu;
    double d[12][12], worst = 0;
    start(&at);
    image(&at, which, mu, 0, 0, &end);
    start_mu = at;
    if (mu) change(&start_mu, which, 0.3, true, start_mu.m, start_mu.P);
    for (int axis = 0; axis < 12; axis++) {
        static const double weight[] = {3.0 / 4, -3.0 / 20, 1.0 / 60};
        memset(d[axis], 0, sizeof d[axis]);
        for (int i = 1; i <= 3; i++) {
            struct body minus, plus;
            double e = 4e-3, change_of[12];
            image(&at, which, mu, axis, -i * e, &minus);
            image(&at, which, mu, axis, i * e, &plus);
            difference(&minus, &plus, change_of);
            for (int k = 0; k < 12; k++) d[axis][k] += weight[i - 1] * change_of[k] / e;
        }
    }
    for (int a = 0; a < 12; a++)
        for (int b = 0; b < a; b++) {
            double u[12] = {0}, v[12] = {0};
            u[a] = v[b] = 1;
            worst = fmax(worst, fabs(form(end.m, end.P, d[a], d[b]) - form(start_mu.m, start_mu.P, u, v)));
        }
    return worst;
}

static void test_symplectic(void **state) {
    (void)state;
    for (int which = 0; which < 3; which++) {
        double m = defect(which, false), mu = which < 2 ? defect(which, true) : 1; /* screws have no other momentum */
        print_message("map %d: defect %.2g in (g, m), %.2g in (g, mu)\n", which, m, mu);
        assert_true(m < 1e-10 && mu > 1e-3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_maps),       cmocka_unit_test(test_tangents),
                                       cmocka_unit_test(test_weights),    cmocka_unit_test(test_invariants),
                                       cmocka_unit_test(test_order),      cmocka_unit_test(test_far),
                                       cmocka_unit_test(test_symplectic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
