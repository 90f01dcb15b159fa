/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Brackets of H and the noises with weights of their own: what a kernel's increment Hamiltonian has beside dt H and
 * sum_m dW_m h_m (src/model/brackets.c).  With y = dZ/dt - dW/2 and A_ij = 1/2 int (W_i dW_j - W_j dW_i) over the step
 *
 *     {h_i, h_j}           -A_ij
 *     {H, h_i} - h_i,t     dt y_i
 *     {h_i, {h_j, H}}      dt (3/5 y_i y_j + delta_ij dt/30)     the mean given (dW, dZ); twice that for i < j
 *
 * Levy areas are drawn given dW and dZ of a fine step: the bridge of W_i is a Fourier series with coefficients a_ir of
 * the cosines, whose sum is -y_i, and c_ir of the sines, of variance v_r = dt/(2 pi^2 r^2), so that
 *
 *     A_ij = y_i dW_j - dW_i y_j + pi sum_r r (a_ir c_jr - c_ir a_jr).
 *
 * Modes 1 .. p are drawn one after the other given what is left of the sum, s_i; the tail of all others has the
 * covariance that it has given s.  Its distance from the true law is about dt^2/(192 pi^2 (p + 1)^3) in the square
 * (Kloeden, Platen & Wright (1992), doi 10.1080/07362999208809281, have the series; the tail is derived here).  That is
 * at most dt^3/100 for the p that area_modes chooses, and strong order 1 is kept.
 *
 * Coarse areas follow from fine ones by Chen's relation, A = A' + A'' + (dW'_i dW''_j - dW'_j dW''_i)/2: runs with
 * several steps see the same path.  Include-free; it stands in front of the method. */

enum { BRACKET_AREA, BRACKET_DRIFT, BRACKET_DOUBLE };
#define AREAS (BRACKET_AREAS ? NOISES * (NOISES - 1) / 2 : 0)

/* The least p with (p + 1)^3 dt/100 >= 0.081^3. */
INLINE long area_modes(double dt) {
    long p = 0;
    while (LGV_AREA_MORE(p, dt)) p++;
    return p;
}

/* Adds the areas of one fine step, in the order (0,1), (0,2), .., (1,2), ..; z: its normals, s: room for what is left
 * of the sums. */
OUTLINE void area_add(double dt, long modes, UNKEPT const vec *z, UNKEPT const vec *dW, UNKEPT const vec *dZ,
                      UNKEPT vec *s, UNKEPT vec *A) {
    const double pi = 3.14159265358979323846, kappa = dt / (2 * pi * pi);
    double S2 = pi * pi / 6, S4 = pi * pi * pi * pi / 90;
    for (long i = 0; i < NOISES; i++) s[i] = FUSED(0.5, dW[i], -dZ[i] / dt);
    for (long i = 0, k = 0; i < NOISES; i++)
        for (long j = i + 1; j < NOISES; j++, k++) A[k] = A[k] + FUSED(dW[i], s[j], -s[i] * dW[j]);
    for (long r = 1; r <= modes; r++, z += 2 * NOISES) {
        double part = 1 / (double)(r * r), left = S2 - part; /* v_r and V_r, in units of kappa */
        vec a[NOISES];
        for (long i = 0; i < NOISES; i++) {
            a[i] = FUSED(part / S2, s[i], __builtin_sqrt(kappa * part * left / S2) * z[i]);
            s[i] = s[i] - a[i];
        }
        const double scale = pi * (double)r * __builtin_sqrt(kappa * part);
        for (long i = 0, k = 0; i < NOISES; i++)
            for (long j = i + 1; j < NOISES; j++, k++)
                A[k] = FUSED(scale, FUSED(a[i], z[NOISES + j], -z[NOISES + i] * a[j]), A[k]);
        S2 = left;
        S4 = S4 - part * part;
    }
    const double by_sum = __builtin_sqrt(0.5 * dt * S4) / S2, alone = dt * __builtin_sqrt((S2 - S4 / S2) / 2) / pi;
    for (long i = 0, k = 0; i < NOISES; i++)
        for (long j = i + 1; j < NOISES; j++, k++) {
            ADD_PRODUCT(A[k], by_sum, FUSED(s[i], z[j], -s[j] * z[i]));
            ADD_PRODUCT(A[k], alone, z[NOISES + k]);
        }
}

/* The areas of the present step; dW and dZ are its own. */
OUTLINE void areas_of(struct ctx *c, UNKEPT const vec *dW, UNKEPT const vec *dZ, UNKEPT vec *A) {
    const struct lgv_block *b = c->b;
    const u64 fine = b->coarsen;
    const double dt = b->dt / (double)fine;
    const long modes = area_modes(dt), count = LGV_AREA_NORMALS(modes, NOISES);
    uvec path = paths_at(b->path);
    vec *top = c->top, *z = take(c, count), *s = take(c, 4 * NOISES), *w = s + NOISES, *x = w + NOISES,
        *before = x + NOISES;
    for (long k = 0; k < AREAS; k++) A[k] = vec_set(0);
    for (long i = 0; i < NOISES; i++) before[i] = vec_set(0);
    for (u64 n = c->step * fine; n < (c->step + 1) * fine; n++) {
        const vec *dw = dW, *dz = dZ;
        noise_fill_any(b->seed, &path, n * (u64)count, (int)count, STREAM_AREA, z);
        if (fine > 1) {
            noise_step(b->seed, path, n, 1, dt, (int)NOISES, 1, w, x);
            for (long i = 0, k = 0; i < NOISES; i++)
                for (long j = i + 1; j < NOISES; j++, k++)
                    A[k] = FUSED(0.5, FUSED(before[i], w[j], -before[j] * w[i]), A[k]);
            for (long i = 0; i < NOISES; i++) before[i] = before[i] + w[i];
            dw = w;
            dz = x;
        }
        area_add(dt, modes, z, dw, dz, s, A);
    }
    c->top = top;
}

/* The weights of all brackets. */
INLINE void bracket_weights(const struct ctx *c, const vec *dW, const vec *dZ, const vec *A, vec *w) {
    const double dt = c->dt;
    for (long k = 0; k < BRACKETS; k++) {
        const long i = bracket[k].i, j = bracket[k].j;
        vec x = FUSED(-0.5 * dt, dW[i], dZ[i]), y = FUSED(-0.5 * dt, dW[j], dZ[j]);
        w[k] = bracket[k].kind == BRACKET_AREA    ? -A[i * (2 * NOISES - i - 1) / 2 + j - i - 1]
               : bracket[k].kind == BRACKET_DRIFT ? x
               : i == j                           ? FUSED(0.6 / dt * x, y, vec_set(dt * dt / 30))
                                                  : 1.2 / dt * x * y;
    }
}
