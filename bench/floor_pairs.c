/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hand-written floor of many rigid bodies with pair forces, the word BRB: bodies of mass 1 with one site each, off the
 * centre of mass, U = sum over pairs of 4 (r^-12 - r^-6), r the distance of two sites.  Sites are found once a step,
 * pairs know sites only, and the force on a site is turned to the body once a step. */
#include "floor_body.h"

#include <stdlib.h>

#ifdef FLOOR_SIMD

struct sited {
    struct body turn;
    struct wide x[3], p[3], site[3], force[3];
};

static const double arm = 0.2; /* of the site, along the third axis */

/* Column k of R(q). */
INLINE void column(const struct wide *q, int k, struct wide *out) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    const struct wide *v = q + 1;
    out[k] = line(-2.0, more(v[i], v[i], times(v[j], v[j])), 1.0);
    out[i] = scaled(2.0, more(v[k], v[i], times(q[0], v[j])));
    out[j] = scaled(2.0, less(q[0], v[i], times(v[k], v[j])));
}

static void forces(struct sited *y, size_t bodies) {
    for (size_t k = 0; k < bodies; k++) {
        struct wide axis[3];
        column(y[k].turn.q, 2, axis);
        for (int i = 0; i < 3; i++) {
            y[k].site[i] = more_of(arm, axis[i], y[k].x[i]);
            y[k].force[i] = all(0.0);
        }
    }
    for (size_t a = 0; a < bodies; a++) {
        struct wide s[3], f[3];
        for (int i = 0; i < 3; i++) {
            s[i] = y[a].site[i];
            f[i] = y[a].force[i];
        }
        for (size_t b = a + 1; b < bodies; b++) {
            struct wide d[3];
            UNROLL
            for (int i = 0; i < 3; i++) d[i] = minus(s[i], y[b].site[i]);
            struct wide near = over(all(1.0), dot3(d, d)), six = times(near, times(near, near));
            struct wide size = times(scaled(24.0, near), times(six, line(2.0, six, -1.0)));
            UNROLL
            for (int i = 0; i < 3; i++) {
                f[i] = more(size, d[i], f[i]);
                y[b].force[i] = less(size, d[i], y[b].force[i]);
            }
        }
        for (int i = 0; i < 3; i++) y[a].force[i] = f[i];
    }
}

/* p += h f, m += h arm e_z x R^T f. */
static void kick(struct sited *y, size_t bodies, double h) {
    for (size_t k = 0; k < bodies; k++) {
        struct wide axis[2][3];
        for (int c = 0; c < 2; c++) column(y[k].turn.q, c, axis[c]);
        y[k].turn.m[0] = less_of(h * arm, dot3(axis[1], y[k].force), y[k].turn.m[0]);
        y[k].turn.m[1] = more_of(h * arm, dot3(axis[0], y[k].force), y[k].turn.m[1]);
        for (int i = 0; i < 3; i++) y[k].p[i] = more_of(h, y[k].force[i], y[k].p[i]);
    }
}

double floor_pairs_run(size_t bodies, size_t steps, double dt, const double *start, double *end) {
    struct sited *y = aligned_alloc(64, bodies * sizeof *y);
    if (!y) return -1;
    for (size_t k = 0; k < bodies; k++) {
        const double *x = start + 13 * k;
        for (int i = 0; i < 3; i++) y[k].x[i] = all(x[i]), y[k].p[i] = all(x[7 + i]), y[k].turn.m[i] = all(x[10 + i]);
        for (int i = 0; i < 4; i++) y[k].turn.q[i] = all(x[3 + i]);
    }
    forces(y, bodies);
    double begin = seconds();
    for (size_t n = 0; n < steps; n++) {
        kick(y, bodies, 0.5 * dt);
        for (size_t k = 0; k < bodies; k++) {
            for (int i = 0; i < 3; i++) y[k].x[i] = more_of(dt, y[k].p[i], y[k].x[i]);
            free_step(&y[k].turn, dt);
        }
        forces(y, bodies);
        kick(y, bodies, 0.5 * dt);
    }
    double took = seconds() - begin;
    for (size_t k = 0; end && k < bodies; k++) {
        double *to = end + 13 * k;
        for (int i = 0; i < 3; i++) to[i] = _mm256_cvtsd_f64(y[k].x[i].v[0]);
        for (int i = 0; i < 4; i++) to[3 + i] = _mm256_cvtsd_f64(y[k].turn.q[i].v[0]);
        for (int i = 0; i < 3; i++) to[7 + i] = _mm256_cvtsd_f64(y[k].p[i].v[0]);
        for (int i = 0; i < 3; i++) to[10 + i] = _mm256_cvtsd_f64(y[k].turn.m[i].v[0]);
    }
    free(y);
    return took / (4.0 * SIDE * (double)steps);
}

#else

double floor_pairs_run(size_t bodies, size_t steps, double dt, const double *start, double *end) {
    (void)bodies, (void)steps, (void)dt, (void)start, (void)end;
    return -1;
}

#endif
