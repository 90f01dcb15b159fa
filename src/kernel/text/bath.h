/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friction and its noise in a kernel: dp = -Gamma M^-1 p dt + sqrt(2 kT Gamma) dW.  Include-free; it follows face.h.
 *
 * A step has BATH_SPANS spans of the bath's time, one for each letter O or U of its word, and every span has its own
 * E and F of all NM noises and NB channels (src/kernel/bath.c has the formulas).  c->span is the present one.
 *
 *     BATH_DENSE    channels are modes z = T^-1 p, else channel j belongs to coordinate BATH_ROW(j)
 *     BATH_OF_Q     friction is a function of q, model_friction
 *     BATH_MIDPOINT there are constraints, or masses that vary: where Gamma is not gamma M, bath_exact says so and E
 *                   is dW
 *     BATH_F        F is needed too */
#define NT (NM + NB)

/* Is the map below exact, or its projection onto the constraints? */
INLINE int bath_exact(const struct ctx *c) {
    return c->b->bath[0] != 0;
}

/* Of channel j over a span: exp(-g h), (1 - exp(-g h))/g, amplitude, 1/m, kT. */
INLINE const double *bath_channel(const struct ctx *c, long j) {
    return c->b->bath + 1 + 5 * NT + 5 * j;
}

/* T, T^-1, M^-1 T. */
INLINE const double *bath_matrix(const struct ctx *c, long which) {
    return c->b->bath + 1 + 5 * NT + 5 * NB + which * NP * NB;
}

INLINE const vec *bath_E(const struct ctx *c) {
    return c->bath + c->span * NT + NM;
}

INLINE const vec *bath_F(const struct ctx *c) {
    return c->bathz + c->span * NT + NM;
}

/* The increment of the Brownian motion of channel j. */
INLINE vec bath_W(const struct ctx *c, long j) {
    if (BATH_OF_Q || (BATH_MIDPOINT && !bath_exact(c))) return bath_E(c)[j];
    /* exp(-g h) = 1 - g phi */
    const double *k = bath_channel(c, j);
    return FUSED((1 - k[0]) / k[1], bath_F(c)[j], bath_E(c)[j]);
}

/* Behind all that: 1/m of every coordinate and Gamma of every channel, or the matrix Gamma of dense modes. */
INLINE const double *bath_rest(const struct ctx *c) {
    return bath_matrix(c, BATH_DENSE ? 3 : 0);
}

/* Gamma of every channel that belongs to a coordinate. */
INLINE void bath_friction(struct ctx *c, const vec *q, vec *gamma) {
#if BATH_OF_Q
    ivec negative = {0};
    model_friction(c, time_at(c, 0), q, gamma);
    for (long j = 0; j < NB; j++) negative |= (ivec)(gamma[j] < 0);
    if (RARELY(vec_any(negative))) lanes_failed(c, &negative, LGV_FAIL_FRICTION);
#else
    (void)q;
    for (long j = 0; j < NB; j++) gamma[j] = vec_set(bath_rest(c)[NP + j]);
#endif
}

/* ---- the Ornstein-Uhlenbeck map ---- */

#if BATH_DENSE
INLINE void bath_free(struct ctx *c, const vec *q, vec *p) {
    vec *top = c->top;
    ARRAY(z, NB);
    (void)q;
    const double *T = bath_matrix(c, 0), *from = bath_matrix(c, 1);
    for (long j = 0; j < NB; j++) {
        const double *k = bath_channel(c, j);
        z[j] = vec_set(0);
        for (long i = 0; i < NP; i++) ADD_PRODUCT(z[j], from[j * NP + i], p[i]);
        z[j] = FUSED(k[0], z[j], k[2] * bath_E(c)[j]);
    }
    for (long i = 0; i < NP; i++) {
        p[i] = vec_set(0);
        for (long j = 0; j < NB; j++) ADD_PRODUCT(p[i], T[i * NB + j], z[j]);
    }
    c->top = top;
}
#elif BATH_OF_Q
INLINE void bath_free(struct ctx *c, const vec *q, vec *p) {
    vec *top = c->top;
    ARRAY(gamma, NB);
    bath_friction(c, q, gamma);
    for (long j = 0; j < NB; j++) {
        const double *k = bath_channel(c, j);
        vec e = vec_exp(-(c->dt * k[3]) * gamma[j]);
        vec spread = FUSED(-e, e, 1.0); /* 1 - e^2 */
        p[BATH_ROW(j)] = FUSED(e, p[BATH_ROW(j)], vec_sqrt(k[4] / (k[3] * c->dt) * spread) * bath_E(c)[j]);
    }
    c->top = top;
}
#else
INLINE void bath_free(struct ctx *c, const vec *q, vec *p) {
    (void)q;
    for (long j = 0; j < NB; j++) {
        const double *k = bath_channel(c, j);
        p[BATH_ROW(j)] = FUSED(k[0], p[BATH_ROW(j)], k[2] * bath_E(c)[j]);
    }
}
#endif

/* Uniform in (0, 1), one for each step: whether it is accepted. */
INLINE vec bath_chance(const struct ctx *c) {
    vec u[2];
    uvec path = paths_at(c->b->path);
    uniform_pair(c->b->seed, &path, c->step >> 1, STREAM_ACCEPT, &u[0], &u[1]);
    return u[c->step & 1];
}

/* ---- friction and noise as forces ---- */

/* x = Gamma v */
INLINE void bath_drag(struct ctx *c, const vec *q, const vec *v, vec *x) {
    vec *top = c->top;
    for (long i = 0; i < NP; i++) x[i] = vec_set(0);
#if BATH_DENSE
    (void)q;
    for (long i = 0; i < NP; i++)
        for (long j = 0; j < NP; j++) ADD_PRODUCT(x[i], bath_rest(c)[i * NP + j], v[j]);
#else
    ARRAY(gamma, NB);
    bath_friction(c, q, gamma);
    for (long j = 0; j < NB; j++) x[BATH_ROW(j)] = gamma[j] * v[BATH_ROW(j)];
#endif
    c->top = top;
}

/* f -= h Gamma v, and fv -= h Gamma, its derivative, if wanted: where masses vary (MODEL_L) friction is a part of an
 * equation for v.  1/m of a channel is 1 there, and next to nothing where the bath is switched off. */
INLINE void bath_resist(struct ctx *c, double h, const vec *q, const vec *v, vec *f, vec *fv) {
    vec *top = c->top;
#if BATH_DENSE
    (void)q;
    for (long i = 0; i < NP; i++)
        for (long j = 0; j < NP; j++) {
            const double gamma = h * bath_rest(c)[i * NP + j];
            ADD_PRODUCT(f[i], -gamma, v[j]);
            if (fv) fv[i * NP + j] -= gamma;
        }
#else
    ARRAY(gamma, NB);
    bath_friction(c, q, gamma);
    for (long j = 0; j < NB; j++) {
        const long i = BATH_ROW(j);
        const vec x = h * bath_channel(c, j)[3] * gamma[j];
        ADD_PRODUCT(f[i], -x, v[i]);
        if (fv) fv[i * (NP + 1)] -= x;
    }
#endif
    c->top = top;
}

/* p += sqrt(2 kT Gamma) dW */
INLINE void bath_shake(struct ctx *c, const vec *q, vec *p) {
    vec *top = c->top;
#if BATH_DENSE
    (void)q;
    for (long j = 0; j < NB; j++) {
        vec w = bath_channel(c, j)[2] * bath_W(c, j);
        for (long i = 0; i < NP; i++) ADD_PRODUCT(p[i], bath_matrix(c, 0)[i * NB + j], w);
    }
#elif BATH_OF_Q
    ARRAY(gamma, NB);
    bath_friction(c, q, gamma);
    for (long j = 0; j < NB; j++)
        ADD_PRODUCT(p[BATH_ROW(j)], vec_sqrt(2.0 * bath_channel(c, j)[4] * gamma[j]), bath_W(c, j));
#else
    (void)q;
    for (long j = 0; j < NB; j++) ADD_PRODUCT(p[BATH_ROW(j)], bath_channel(c, j)[2], bath_W(c, j));
#endif
    c->top = top;
}

/* p = (1 + a Gamma M^-1)^-1 p */
INLINE void bath_relax(struct ctx *c, const vec *q, double a, vec *p) {
    vec *top = c->top;
#if BATH_DENSE
    ARRAY(z, NB);
    (void)q;
    for (long j = 0; j < NB; j++) {
        z[j] = vec_set(0);
        for (long i = 0; i < NP; i++) ADD_PRODUCT(z[j], bath_matrix(c, 1)[j * NP + i], p[i]);
        /* the rate of a mode: from exp(-g h) = 1 - g (1 - exp(-g h))/g */
        const double *k = bath_channel(c, j);
        z[j] = z[j] / (1.0 + a * ((1.0 - k[0]) / k[1]));
    }
    for (long i = 0; i < NP; i++) {
        p[i] = vec_set(0);
        for (long j = 0; j < NB; j++) ADD_PRODUCT(p[i], bath_matrix(c, 0)[i * NB + j], z[j]);
    }
#else
    ARRAY(gamma, NB);
    bath_friction(c, q, gamma);
    for (long j = 0; j < NB; j++) p[BATH_ROW(j)] = p[BATH_ROW(j)] / (1.0 + (a * bath_channel(c, j)[3]) * gamma[j]);
#endif
    c->top = top;
}
