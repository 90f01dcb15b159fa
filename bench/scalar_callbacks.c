/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The other end of the benchmark: the straightforward scalar program.  One path at a time, derivatives through function
 * pointers, libm for sin, cos, log and sqrt, one Philox call per pair of normals.
 *
 *   Verlet      P = p - K_q(q)/2,  q' = q + K_p(P),  p' = P - K_q(q')/2            K = dt H + dW h, separable
 *   midpoint    Q = q + K_p(Q, P)/2,  P = p - K_q(Q, P)/2 by Newton with K's Hessian,  q' = 2Q - q,  p' = 2P - p */
#include "floor.h"

#include <math.h>
#include <stdint.h>
#include <time.h>

#define BETA 0.1
#define TWO_PI 6.28318530717958647693

struct hessian {
    double qq, qp, pp;
};
/* H and h of a model with one degree of freedom: value, derivative by q, derivative by p, second derivatives. */
struct hamiltonian {
    double (*value)(double q, double p);
    double (*by_q)(double q, double p);
    double (*by_p)(double q, double p);
    struct hessian (*second)(double q, double p);
};
struct model {
    struct hamiltonian energy, noise;
};

static double kubo_value(double q, double p) {
    return 0.5 * (p * p + q * q);
}
static double kubo_by_q(double q, double p) {
    return (void)p, q;
}
static double kubo_by_p(double q, double p) {
    return (void)q, p;
}
static struct hessian kubo_second(double q, double p) {
    return (void)q, (void)p, (struct hessian){1, 0, 1};
}
static double kubo_noise_value(double q, double p) {
    return BETA * kubo_value(q, p);
}
static double kubo_noise_by_q(double q, double p) {
    return (void)p, BETA * q;
}
static double kubo_noise_by_p(double q, double p) {
    return (void)q, BETA * p;
}
static struct hessian kubo_noise_second(double q, double p) {
    return (void)q, (void)p, (struct hessian){BETA, 0, BETA};
}

static double sync_value(double q, double p) {
    return 0.5 * p * p - cos(q);
}
static double sync_by_q(double q, double p) {
    return (void)p, sin(q);
}
static double sync_by_p(double q, double p) {
    return (void)q, p;
}
static struct hessian sync_second(double q, double p) {
    return (void)p, (struct hessian){cos(q), 0, 1};
}
static double sync_noise_value(double q, double p) {
    return (void)p, BETA * sin(q);
}
static double sync_noise_by_q(double q, double p) {
    return (void)p, BETA * cos(q);
}
static double sync_noise_by_p(double q, double p) {
    return (void)q, (void)p, 0;
}
static struct hessian sync_noise_second(double q, double p) {
    return (void)p, (struct hessian){-BETA * sin(q), 0, 0};
}

static const struct model models[2] = {
    {{kubo_value, kubo_by_q, kubo_by_p, kubo_second},
     {kubo_noise_value, kubo_noise_by_q, kubo_noise_by_p, kubo_noise_second}},
    {{sync_value, sync_by_q, sync_by_p, sync_second},
     {sync_noise_value, sync_noise_by_q, sync_noise_by_p, sync_noise_second}},
};

static void philox(uint32_t c[4], uint32_t k0, uint32_t k1) {
    for (int r = 0; r < 10; r++) {
        uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
        c[0] = (uint32_t)(b >> 32) ^ c[1] ^ k0;
        c[2] = (uint32_t)(a >> 32) ^ c[3] ^ k1;
        c[1] = (uint32_t)b;
        c[3] = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

/* Two normals from two uniforms of 52 bits: u in [0, 1), 1 - u in (0, 1]. */
static void normal_pair(uint64_t seed, uint64_t path, uint64_t pair, double out[2]) {
    uint32_t c[4] = {(uint32_t)pair, (uint32_t)(pair >> 32), (uint32_t)path, (uint32_t)(path >> 32)};
    philox(c, (uint32_t)seed, (uint32_t)(seed >> 32));
    double u = (double)(((uint64_t)c[1] << 32 | c[0]) >> 12) * 0x1p-52;
    double v = (double)(((uint64_t)c[3] << 32 | c[2]) >> 12) * 0x1p-52;
    double radius = sqrt(-2 * log(1 - u));
    out[0] = radius * cos(TWO_PI * v);
    out[1] = radius * sin(TWO_PI * v);
}

/* Derivatives of the increment K = dt H + dW h. */
static double increment_by_q(const struct model *m, double q, double p, double dt, double dW) {
    return dt * m->energy.by_q(q, p) + dW * m->noise.by_q(q, p);
}

static double increment_by_p(const struct model *m, double q, double p, double dt, double dW) {
    return dt * m->energy.by_p(q, p) + dW * m->noise.by_p(q, p);
}

static struct hessian increment_second(const struct model *m, double q, double p, double dt, double dW) {
    struct hessian a = m->energy.second(q, p), b = m->noise.second(q, p);
    return (struct hessian){dt * a.qq + dW * b.qq, dt * a.qp + dW * b.qp, dt * a.pp + dW * b.pp};
}

static void step_verlet(const struct model *m, double *q, double *p, double dt, double dW) {
    *p -= 0.5 * increment_by_q(m, *q, *p, dt, dW);
    *q += increment_by_p(m, *q, *p, dt, dW);
    *p -= 0.5 * increment_by_q(m, *q, *p, dt, dW);
}

static void step_midpoint(const struct model *m, double *q, double *p, double dt, double dW) {
    double Q = *q, P = *p;
    for (int i = 0; i < 20; i++) {
        double f = Q - *q - 0.5 * increment_by_p(m, Q, P, dt, dW);
        double e = P - *p + 0.5 * increment_by_q(m, Q, P, dt, dW);
        struct hessian h = increment_second(m, Q, P, dt, dW);
        double a = 1 - 0.5 * h.qp, b = -0.5 * h.pp, c = 0.5 * h.qq, d = 1 + 0.5 * h.qp;
        double det = a * d - b * c, u = (d * f - b * e) / det, v = (a * e - c * f) / det;
        Q -= u;
        P -= v;
        /* Newton is quadratic: a move of 1e-8 leaves an error at round-off */
        if (fabs(u) + fabs(v) < 1e-8) break;
    }
    *q = 2 * Q - *q;
    *p = 2 * P - *p;
}

static void run_path(const struct model *m, enum floor_case c, uint64_t path, size_t steps, double dt, uint64_t seed,
                     double *q, double *p) {
    double root = sqrt(dt), n[2] = {0, 0};
    void (*step)(const struct model *, double *, double *, double, double) =
        c == KUBO_VERLET || c == SYNC_VERLET ? step_verlet : step_midpoint;
    *q = 0;
    *p = 1;
    for (size_t k = 0; k < steps; k++) {
        if (!(k & 1)) normal_pair(seed, path, k >> 1, n);
        step(m, q, p, dt, root * n[k & 1]);
    }
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double scalar_run(enum floor_case c, size_t paths, size_t steps, double dt, unsigned long long seed,
                  double *mean_energy) {
    const struct model *m = &models[c != KUBO_VERLET && c != KUBO_MIDPOINT];
    double sum = 0, start = seconds();
    for (size_t i = 0; i < paths; i++) {
        double q, p;
        run_path(m, c, i, steps, dt, seed, &q, &p);
        sum += m->energy.value(q, p);
    }
    if (mean_energy) *mean_energy = paths ? sum / (double)paths : 0;
    return seconds() - start;
}
