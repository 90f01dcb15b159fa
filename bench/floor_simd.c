/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The hand-written floor of the benchmark: what a specialist gets for four fixed cases with AVX2 and FMA intrinsics.
 * Noise and time loop are those of floor_simd.h.  With x = dt + beta dW a step is
 *
 *   Kubo Verlet       P = p - x/2 q,  q' = q + x P,  p' = P - x/2 q'
 *   Kubo midpoint     linear, solved directly:  a = x/2,  d = 1/(1 + a^2),  Q = d (q + a p),  P = d (p - a q)
 *   sync. Verlet      P = p - dt/2 sin q - beta dW/2 cos q,  q' = q + dt P,  likewise with q'; sin and cos at q' serve
 *                     the next step too
 *   sync. midpoint    P eliminated: f(Q) = Q - (q + dt/2 p) + A sin Q + B cos Q = 0,  A = dt^2/4,  B = dt beta dW/4.
 *                     Two Newton moves, the first with the second-order term; one full sincos and one division per
 *                     step, the rest from the addition theorem.  Reaches round-off for dt <= 0.25.
 *     the same, plain Two Newton moves with a full sincos and a division each.  Reaches round-off for dt <= 0.1.
 *
 * The full state (q, p) exists after every step: kicks of neighbouring steps are not merged. */
#include "floor_simd.h"

#ifdef FLOOR_SIMD

/* ---- steps: n is a standard normal ---- */

INLINE void step_kubo_verlet(struct lane_state *x, vec n, vec unused, double dt, double root) {
    (void)unused;
    vec w = fma3(n, real(BETA * root), real(dt)), half = mul(w, real(0.5));
    x->p = fnma3(half, x->q, x->p);
    x->q = fma3(w, x->p, x->q);
    x->p = fnma3(half, x->q, x->p);
}

INLINE void step_sync_verlet(struct lane_state *x, vec n, vec unused, double dt, double root) {
    (void)unused;
    vec half = mul(n, real(0.5 * BETA * root));
    x->p = fnma3(half, x->c, fnma3(real(0.5 * dt), x->s, x->p));
    x->q = fma3(real(dt), x->p, x->q);
    sincos_radians(x->q, &x->s, &x->c);
    x->p = fnma3(half, x->c, fnma3(real(0.5 * dt), x->s, x->p));
}

INLINE void step_kubo_midpoint(struct lane_state *x, vec n, vec unused, double dt, double root) {
    (void)unused;
    vec a = fma3(n, real(0.5 * BETA * root), real(0.5 * dt));
    vec e = _mm256_div_pd(add(a, a), fma3(a, a, real(1.0)));
    vec q = fma3(a, x->p, x->q), p = fnma3(a, x->q, x->p);
    x->q = fma3(e, p, x->q);
    x->p = fnma3(e, q, x->p);
}

/* f(Q) = Q - target + F(Q), F = A sin Q + B cos Q, f' = 1 + G, G = A cos Q - B sin Q, f'' = -F. */
INLINE void step_sync_midpoint(struct lane_state *x, vec n, vec unused, double dt, double root) {
    (void)unused;
    vec noise = mul(n, real(BETA * root)), A = real(0.25 * dt * dt), B = mul(noise, real(0.25 * dt)), s, c;
    sincos_radians(fma3(real(0.5 * dt), x->p, x->q), &s, &c);
    /* First move, from Q = target, with the second-order term: d = -e + e^3/2, e = F/f'. */
    vec F = fma3(A, s, mul(B, c)), slope = fnma3(B, s, fma3(A, c, real(1.0)));
    vec inverse = _mm256_div_pd(real(1.0), slope), e = mul(F, inverse);
    vec d = _mm256_fmsub_pd(mul(e, mul(e, e)), real(0.5), e);
    /* sin and cos after it from the addition theorem: |d| < 0.04, so short series do. */
    vec z = mul(d, d);
    vec sd = fma3(z, real(-1.0 / 5040), real(1.0 / 120)), cd = fma3(z, real(-1.0 / 720), real(1.0 / 24));
    sd = fma3(mul(z, d), fma3(z, sd, real(-1.0 / 6)), d);
    cd = mul(z, fma3(z, cd, real(-0.5)));
    vec s1 = add(s, fma3(s, cd, mul(c, sd))), c1 = add(c, fnma3(s, sd, mul(c, cd)));
    /* Second move: plain Newton; the reciprocal is refined from the first one instead of dividing again. */
    F = fma3(A, s1, mul(B, c1));
    slope = fnma3(B, s1, fma3(A, c1, real(1.0)));
    inverse = mul(inverse, fnma3(slope, inverse, real(2.0)));
    d = mul(add(d, F), inverse);
    s = fnma3(d, c1, s1);
    c = fma3(d, s1, c1);
    vec p = fnma3(noise, c, fnma3(real(dt), s, x->p));
    x->q = fma3(real(0.5 * dt), add(x->p, p), x->q);
    x->p = p;
}

INLINE void step_sync_midpoint_plain(struct lane_state *x, vec n, vec unused, double dt, double root) {
    (void)unused;
    vec noise = mul(n, real(BETA * root)), A = real(0.25 * dt * dt), B = mul(noise, real(0.25 * dt)), s, c;
    vec target = fma3(real(0.5 * dt), x->p, x->q), Q = target, d = real(0.0);
    UNROLL
    for (int i = 0; i < 2; i++) {
        sincos_radians(Q, &s, &c);
        vec f = add(sub(Q, target), fma3(A, s, mul(B, c))), slope = fnma3(B, s, fma3(A, c, real(1.0)));
        d = _mm256_div_pd(f, slope);
        Q = sub(Q, d);
    }
    /* sin and cos at the last Q: the second move is so small that two terms of the series are exact */
    vec s1 = fnma3(d, c, s), c1 = fma3(d, s, c), p = fnma3(noise, c1, fnma3(real(dt), s1, x->p));
    x->q = fma3(real(0.5 * dt), add(x->p, p), x->q);
    x->p = p;
}

FLOOR(floor_kubo_verlet, step_kubo_verlet, 2, 0)
FLOOR(floor_sync_verlet, step_sync_verlet, 4, 0)
FLOOR(floor_kubo_midpoint, step_kubo_midpoint, 2, 0)
FLOOR(floor_sync_midpoint, step_sync_midpoint, 4, 0)
static FLOOR(sync_midpoint_plain, step_sync_midpoint_plain, 4, 0)

    /* ---- runs ---- */

    int floor_available(void) {
    return 1;
}

double floor_run(enum floor_case c, size_t paths, size_t steps, double dt, unsigned long long seed,
                 double *mean_energy) {
    static floor_advance *const advances[] = {floor_kubo_verlet, floor_sync_verlet, floor_kubo_midpoint,
                                              floor_sync_midpoint, sync_midpoint_plain};
    struct keys k;
    double q[LANES], p[LANES], sum = 0, start = seconds();
    keys_fill(&k, seed);
    for (size_t first = 0; first < paths; first += LANES) {
        run_block(advances[c], &k, first, steps, dt, q, p);
        for (size_t l = 0; l < LANES && first + l < paths; l++) {
            double potential = c == KUBO_VERLET || c == KUBO_MIDPOINT ? 0.5 * q[l] * q[l] : -cos(q[l]);
            sum += 0.5 * p[l] * p[l] + potential;
        }
    }
    if (mean_energy) *mean_energy = paths ? sum / (double)paths : 0;
    return seconds() - start;
}

double floor_normals(size_t count) {
    static volatile double sink; /* keeps the sum, and with it the work, alive */
    struct keys k;
    struct block_noise b;
    vec sum[VECTORS] = {real(0), real(0), real(0), real(0)};
    double out[4], start = seconds();
    keys_fill(&k, 1);
    block_noise_fill(&b, 0);
    for (size_t done = 0; done < count; done += 2 * LANES) {
        UNROLL
        for (int first = 0; first < VECTORS; first += NOISE_SIDE) {
            vec n0[NOISE_SIDE], n1[NOISE_SIDE];
            normals(&k, &b, 0, done / (2 * LANES), first, n0, n1);
            UNROLL
            for (int v = 0; v < NOISE_SIDE; v++) sum[first + v] = add(sum[first + v], add(n0[v], n1[v]));
        }
    }
    _mm256_storeu_pd(out, add(add(sum[0], sum[1]), add(sum[2], sum[3])));
    sink = out[0] + out[1] + out[2] + out[3];
    (void)sink;
    return seconds() - start;
}

#else

int floor_available(void) {
    return 0;
}

double floor_run(enum floor_case c, size_t paths, size_t steps, double dt, unsigned long long seed,
                 double *mean_energy) {
    (void)c, (void)paths, (void)steps, (void)dt, (void)seed;
    if (mean_energy) *mean_energy = 0;
    return -1;
}

double floor_normals(size_t count) {
    (void)count;
    return -1;
}

#endif
