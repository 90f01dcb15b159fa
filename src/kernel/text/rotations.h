/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Coordinates in SO(3) in a kernel.  Include-free; it follows rotor.h.
 *
 * A rotation is a unit quaternion of four rows of q, its momentum the angular momentum m in the body frame, three rows
 * of p.  Free steps know principal axes only: where the body frame has others (ROTATIONS_TILTED) a body is turned to
 * them and back.  Of each name rotation_run has its first rows and the number of its bodies, coupled_run those of
 * bodies in SE(3) with coupled inertia, vector_run the rows of vectors between them.
 *
 * In a reduced model (no rows of q) what would move a rotation moves one that nobody sees, UNSEEN: the text of the
 * steps and the bits of the momenta are the same, and the compiler leaves out what is not seen. */
#define UNSEEN {vec_set(1), vec_set(0), vec_set(0), vec_set(0), vec_set(0), vec_set(0), vec_set(0)}
#define SEEN_AT(q, unseen) (NX ? (q) : (unseen))

INLINE void quaternion_product(const vec *a, const double *b, vec *out) {
    vec w = a[0], x = a[1], y = a[2], z = a[3];
    out[0] = w * b[0] - x * b[1] - y * b[2] - z * b[3];
    out[1] = w * b[1] + x * b[0] + y * b[3] - z * b[2];
    out[2] = w * b[2] - x * b[3] + y * b[0] + z * b[1];
    out[3] = w * b[3] + x * b[2] - y * b[1] + z * b[0];
}

/* x turned by the quaternion b: x + 2 v x (v x x + w x). */
INLINE void quaternion_turn(const double *b, vec *x) {
    vec c[3], d[3];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        c[k] = b[1 + i] * x[j] - b[1 + j] * x[i] + b[0] * x[k];
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        d[k] = b[1 + i] * c[j] - b[1 + j] * c[i];
    }
    for (int k = 0; k < 3; k++) x[k] += 2.0 * d[k];
}

/* From the axes of the body frame to principal ones, or back. */
INLINE void rotation_tilt(const double *spin, int back, vec *q, vec *m) {
    const double *t = spin + LGV_SPIN_TILT, turn[4] = {t[0], t[1], t[2], t[3]}, other[4] = {t[0], -t[1], -t[2], -t[3]};
    quaternion_product(q, back ? other : turn, q);
    quaternion_turn(back ? turn : other, m);
}

/* Those of rotor.h that need no scratch and cannot fail. */
#define rotor_planarly(c, dt, spin, q, m) rotor_planar(dt, spin, q, m)
#define rotor_exactly(c, dt, spin, q, m) rotor_exact(dt, spin, q, m)

/* The free motion of all bodies: FREE(c, dt, spin, q, m) is one of rotor.h. */
#define ROTATE_ALL(c, q_, p_, FREE)                                                                                    \
    for (long run_ = 0, body_ = 0; run_ < ROTATION_RUNS; run_++)                                                       \
        for (long k_ = 0; k_ < rotation_run[run_].count; k_++, body_++) {                                              \
            const double *spin_ = (c)->b->spin + LGV_SPIN * body_;                                                     \
            vec unseen_[] = UNSEEN, *m_ = (p_) + rotation_run[run_].p + 3 * k_;                                        \
            vec *x_ = SEEN_AT((q_) + rotation_run[run_].q + 4 * k_, unseen_);                                          \
            if (ROTATIONS_TILTED) rotation_tilt(spin_, 0, x_, m_);                                                     \
            FREE(c, (c)->dt, spin_, x_, m_);                                                                           \
            if (ROTATIONS_TILTED) rotation_tilt(spin_, 1, x_, m_);                                                     \
        }

/* The same of all bodies in SE(3) whose inertia couples position and rotation: FREE(c, dt, body, x, q, m, P) is one of
 * kirchhoff.h.  The rows of positions and linear momenta of a name stand before those of rotations and angular ones. */
#define COUPLED_ALL(c, q_, p_, FREE)                                                                                   \
    for (long run_ = 0, body_ = 0; run_ < COUPLED_RUNS; run_++)                                                        \
        for (long k_ = 0, n_ = 3 * coupled_run[run_].count; 3 * k_ < n_; k_++, body_++) {                              \
            const double *numbers_ = (c)->b->spin + COUPLED_FROM + LGV_COUPLED_NUMBERS * body_;                        \
            vec unseen_[] = UNSEEN, *m_ = (p_) + coupled_run[run_].p + 3 * k_;                                         \
            vec *x_ = SEEN_AT((q_) + coupled_run[run_].q - n_ + 3 * k_, unseen_ + 4);                                  \
            vec *turned_ = SEEN_AT((q_) + coupled_run[run_].q + 4 * k_, unseen_);                                      \
            FREE(c, (c)->dt, numbers_, x_, turned_, m_, m_ - n_);                                                      \
        }

/* Rotations turn by x, which has the rows of p: R exp(hat x). */
INLINE void rotations_turn(const vec *x, vec *q) {
    for (long run = 0; run < ROTATION_RUNS; run++)
        for (long k = 0; k < rotation_run[run].count; k++) {
            const vec *y = x + rotation_run[run].p + 3 * k;
            vec turn[4], sinc;
            rotor_sinc(0.25 * rotor_dot(y, y), &sinc, &turn[0]);
            for (int i = 0; i < 3; i++) turn[1 + i] = 0.5 * sinc * y[i];
            rotor_turn(q + rotation_run[run].q + 4 * k, turn);
            rotor_unit(q + rotation_run[run].q + 4 * k);
        }
}

/* Coupled bodies move by x, which has the rows of p: g exp(x). */
INLINE void coupled_move(const vec *x, vec *q) {
#if COUPLED
    for (long run = 0; run < COUPLED_RUNS; run++)
        for (long k = 0, n = 3 * coupled_run[run].count; 3 * k < n; k++) {
            const vec *w = x + coupled_run[run].p + 3 * k, *v = w - n;
            vec *R = q + coupled_run[run].q + 4 * k, *to = q + coupled_run[run].q - n + 3 * k, turn[4], y[3];
            const vec both[6] = {w[0], w[1], w[2], v[0], v[1], v[2]};
            kirchhoff_exponential_map(both, turn, y);
            kirchhoff_shift(R, y, to);
            rotor_turn(R, turn);
            rotor_unit(R);
        }
#else
    (void)x, (void)q;
#endif
}

#if !MODEL_NOISE_OF_Q
/* Half of the flow of noise h = s.m of the momenta of bodies, s constant, exactly: g exp(u), Ad*_exp(u) m with
 * u = s dW/2 (Arnaudon, De Castro & Holm (2018), doi 10.1007/s00332-017-9404-3: noise on coadjoint orbits). */
INLINE void noise_turn(struct ctx *c, vec *q, vec *p, const vec *dW) {
    vec *top = c->top;
    ARRAY(K, NP);
    model_K1(c, time_at(c, 0.5), q, p, 0.0, dW, 0, K);
    for (long run = 0; run < ROTATION_RUNS; run++)
        for (long k = 0; k < rotation_run[run].count; k++) {
            const vec *u = K + rotation_run[run].p + 3 * k; /* twice the turn */
            vec turn[4], sinc, unseen[] = UNSEEN, *x = SEEN_AT(q + rotation_run[run].q + 4 * k, unseen);
            rotor_sinc(0.0625 * rotor_dot(u, u), &sinc, &turn[0]);
            for (int i = 0; i < 3; i++) turn[1 + i] = 0.25 * sinc * u[i];
            rotor_turn(x, turn);
            rotor_turn_back(p + rotation_run[run].p + 3 * k, turn);
            rotor_unit(x);
        }
#if COUPLED
    for (long run = 0; run < COUPLED_RUNS; run++)
        for (long k = 0, n = 3 * coupled_run[run].count; 3 * k < n; k++) {
            const vec *w = K + coupled_run[run].p + 3 * k, *v = w - n;
            vec u[6], turn[4], y[3], unseen[] = UNSEEN, *m = p + coupled_run[run].p + 3 * k;
            vec *x = SEEN_AT(q + coupled_run[run].q - n + 3 * k, unseen + 4);
            vec *turned = SEEN_AT(q + coupled_run[run].q + 4 * k, unseen);
            for (int i = 0; i < 3; i++) u[i] = 0.5 * w[i], u[3 + i] = 0.5 * v[i];
            kirchhoff_exponential_map(u, turn, y);
            kirchhoff_move(turn, y, x, turned, m, m - n);
        }
#endif
    c->top = top;
}
#else
#define noise_turn(c, q, p, dW) ((void)(c), (void)(dW))
#endif

/* Vectors move by x, which has the rows of p. */
INLINE void vectors_move(const vec *x, vec *q) {
    for (long run = 0; run < VECTOR_RUNS; run++)
        for (long k = 0; k < vector_run[run].count; k++) q[vector_run[run].q + k] += x[vector_run[run].p + k];
}

/* Rotates by Cayley's map in the lanes that are live. */
INLINE void rotation_move(ivec live, const vec *xi, vec *to) {
    vec turned[4] = {to[0], to[1], to[2], to[3]}, t[4] = {vec_set(1), 0.5 * xi[0], 0.5 * xi[1], 0.5 * xi[2]};
    vec scale = 1.0 / vec_sqrt(1.0 + rotor_dot(t + 1, t + 1));
    for (int i = 0; i < 4; i++) t[i] *= scale;
    rotor_turn(turned, t);
    rotor_unit(turned);
    for (int i = 0; i < 4; i++) to[i] = vec_select(live, turned[i], to[i]);
}

/* q moves by x, which has the rows of p, in the lanes that are live: vectors by adding, rotations by turns about axes
 * of the body, coupled bodies along them. */
INLINE void configuration_move(ivec live, const vec *x, vec *q) {
    for (long run = 0; run < VECTOR_RUNS; run++)
        for (long k = 0; k < vector_run[run].count; k++) {
            vec *to = q + vector_run[run].q + k;
            *to = vec_select(live, *to + x[vector_run[run].p + k], *to);
        }
    for (long run = 0; run < ROTATION_RUNS; run++)
        for (long k = 0; k < rotation_run[run].count; k++)
            rotation_move(live, x + rotation_run[run].p + 3 * k, q + rotation_run[run].q + 4 * k);
#if COUPLED
    for (long run = 0; run < COUPLED_RUNS; run++)
        for (long k = 0, n = 3 * coupled_run[run].count; 3 * k < n; k++) {
            const vec *turn = x + coupled_run[run].p + 3 * k;
            vec *R = q + coupled_run[run].q + 4 * k, *to = q + coupled_run[run].q - n + 3 * k;
            vec moved[3] = {to[0], to[1], to[2]};
            kirchhoff_shift(R, turn - n, moved);
            for (int i = 0; i < 3; i++) to[i] = vec_select(live, moved[i], to[i]);
            rotation_move(live, turn, R);
        }
#endif
}
