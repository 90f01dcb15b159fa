/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the end of the free motion of a body with coupled inertia depends on its momentum before: what vprk_bodies.h has
 * for rotations, on SE(3).  A body whose momentum in space is changed by a has moved by eta more, in the frame of the
 * body eta' = I^-1 (a + ad*_eta mu) where the frame is held and mu does not move with eta.  By the midpoint rule, in
 * the frame half-way,
 *
 *     (I - dt/2 B) eta = dt a,     B (w, v) = ad*_(w, v) mu = (m x w + P x v, P x w),
 *
 * so that with the half h = (H, z) of the motion, h h = (T, y), z = (1 + H)^-1 y,
 *
 *     X = Ad_h^-1 (I - dt/2 B)^-1 Ad*_h,     Ad*_h (m, P) = (H^T (m - z x P), H^T P),
 *                                            Ad_h^-1 (w, v) = (H^T w, H^T (v - z x w))
 *
 * is the derivative over dt up to O(dt^2), for every free step of order 2.  With I = [[J, C], [C^T, M]], D = C - dt/2
 * hat P and E = C^T - dt/2 hat P its middle is solved by the matrix J - dt/2 hat m - D M^-1 E of three rows.
 * Include-free; a part of vprk_bodies.h. */

struct coupled_slope {
    vec h[4], z[3];              /* the half of the motion */
    vec D[9], E[9], inverse[9];
    const double *light;         /* M^-1 */
};

/* out -= hat(s), three rows */
INLINE void subtract_hat(const vec *s, vec *out) {
    UNROLL for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[3 * i + j] += s[k];
        out[3 * j + i] -= s[k];
    }
}

/* Of any matrix of three rows, by cofactors. */
INLINE void matrix_inverse(const vec *A, vec *out) {
    vec det = vec_set(0);
    UNROLL for (int i = 0; i < 3; i++)
        UNROLL for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            out[3 * j + i] = FUSED(A[3 * a + c], A[3 * b + d], -A[3 * a + d] * A[3 * b + c]);
            if (i == 0) ADD_PRODUCT(det, A[j], out[3 * j]);
        }
    vec factor = 1.0 / det;
    UNROLL for (int i = 0; i < 9; i++) out[i] *= factor;
}

/* x = A x */
INLINE void matrix_apply(const vec *A, vec *x) {
    vec y[3] = {x[0], x[1], x[2]};
    UNROLL for (int i = 0; i < 3; i++) x[i] = rotor_dot(A + 3 * i, y);
}

INLINE void light_apply(const double *A, vec *x) {
    vec y[3] = {x[0], x[1], x[2]};
    UNROLL for (int i = 0; i < 3; i++) x[i] = FUSED(A[3 * i], y[0], FUSED(A[3 * i + 1], y[1], A[3 * i + 2] * y[2]));
}

/* z of the half of a motion by y, whose turn has the half h: (y - s x y/2)/2 where H = cay(s). */
INLINE void half_way(const vec *h, const vec *y, vec *z) {
    vec scale = -0.5 / h[0];
    UNROLL for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        z[k] = FUSED(scale, FUSED(h[1 + i], y[j], -h[1 + j] * y[i]), 0.5 * y[k]);
    }
}

/* A body that went from (x, q) to (X, Q) and has the momentum (m, P) there. */
INLINE struct coupled_slope coupled_slope_of(double dt, const double *body, const vec *x, const vec *q, const vec *X,
                                             const vec *Q, const vec *m, const vec *P) {
    struct coupled_slope s = {.light = body + LGV_COUPLED_LIGHT};
    vec y[3], n[3], r[3], F[9], A[9];
    const double *I = body + LGV_COUPLED_INERTIA;
    UNROLL for (int k = 0; k < 3; k++) y[k] = X[k] - x[k], n[k] = m[k], r[k] = P[k];
    rotor_turn_back(y, q);
    half_turn(q, Q, s.h);
    half_way(s.h, y, s.z);
    vec forth[4] = {s.h[0], -s.h[1], -s.h[2], -s.h[3]};
    rotor_turn_back(n, forth); /* the momentum half-way: (H m + z x H P, H P) */
    rotor_turn_back(r, forth);
    kirchhoff_cross(1, s.z, r, n);
    UNROLL for (int k = 0; k < 3; k++) n[k] *= 0.5 * dt, r[k] *= 0.5 * dt;
    UNROLL for (int i = 0; i < 9; i++) {
        s.D[i] = vec_set(I[6 * (i / 3) + 3 + i % 3]);
        s.E[i] = vec_set(I[6 * (i % 3) + 3 + i / 3]);
        A[i] = vec_set(I[6 * (i / 3) + i % 3]);
    }
    subtract_hat(r, s.D);
    subtract_hat(r, s.E);
    subtract_hat(n, A);
    UNROLL for (int j = 0; j < 3; j++) { /* M^-1 E, column by column */
        vec e[3] = {s.E[j], s.E[3 + j], s.E[6 + j]};
        light_apply(s.light, e);
        UNROLL for (int i = 0; i < 3; i++) F[3 * i + j] = e[i];
    }
    matrix_product(s.D, F, s.inverse);
    UNROLL for (int i = 0; i < 9; i++) A[i] -= s.inverse[i];
    matrix_inverse(A, s.inverse);
    return s;
}

/* (a, b) <- X (a, b), angular and linear. */
INLINE void coupled_slope_apply(const struct coupled_slope *s, vec *a, vec *b) {
    vec way[3];
    kirchhoff_cross(-1, s->z, b, a);
    rotor_turn_back(a, s->h);
    rotor_turn_back(b, s->h);
    UNROLL for (int k = 0; k < 3; k++) way[k] = b[k];
    light_apply(s->light, way);
    matrix_apply(s->D, way);
    UNROLL for (int k = 0; k < 3; k++) a[k] -= way[k];
    matrix_apply(s->inverse, a);
    UNROLL for (int k = 0; k < 3; k++) way[k] = a[k];
    matrix_apply(s->E, way);
    UNROLL for (int k = 0; k < 3; k++) b[k] -= way[k];
    light_apply(s->light, b);
    kirchhoff_cross(-1, s->z, a, b);
    rotor_turn_back(a, s->h);
    rotor_turn_back(b, s->h);
}

/* X of all coupled bodies in the place of the masses. */
INLINE void coupled_slopes(struct ctx *c, const vec *q, const vec *Q, const vec *P, const struct kept *k,
                           struct kept *out) {
    long body = 0;
    for (long run = 0; run < COUPLED_RUNS; run++)
        for (long n = 0, behind = 3 * coupled_run[run].count; 3 * n < behind; n++, body++) {
            const double *numbers = c->b->spin + COUPLED_FROM + LGV_COUPLED_NUMBERS * body;
            const long x = coupled_run[run].q - behind + 3 * n, R = coupled_run[run].q + 4 * n;
            const long p = coupled_run[run].p + 3 * n, linear = p - behind;
            struct coupled_slope s =
                coupled_slope_of(c->dt, numbers, q + x, q + R, Q + x, Q + R, P + p, P + linear);
            vec a[3], b[3];
#if MODEL_SPARSE /* the rows of a body have six entries, linear ones first */
            for (long j = 0; j < 6; j++) {
                for (long i = 0; i < 3; i++) a[i] = vec_set(j == 3 + i), b[i] = vec_set(j == i);
                coupled_slope_apply(&s, a, b);
                for (long i = 0; i < 3; i++) {
                    out->mass[SPARSE_TABLE(m_row)[linear + i] + j] = b[i];
                    out->mass[SPARSE_TABLE(m_row)[p + i] + j] = a[i];
                }
            }
            (void)k;
#else
            for (long m = 0; m < NC; m++) {
                const vec *G = k->G + m * NP;
                for (long i = 0; i < 3; i++) a[i] = G[p + i], b[i] = G[linear + i];
                coupled_slope_apply(&s, a, b);
                for (long i = 0; i < 3; i++) {
                    out->MG[m * NP + p + i] = a[i];
                    out->MG[m * NP + linear + i] = b[i];
                }
            }
#endif
        }
}
