/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The noise of a kernel with a bath: E and F of every span of a step, for the noises and the channels of the bath
 * alike.  src/kernel/bath.c has the formulas.  Include-free: a part of loop.h. */

/* Numbers of the noise of a fine span: exp(-g h), (1 - exp(-g h))/g, and those that make E and F of normals. */
INLINE const double *bath_fine(const struct lgv_block *b, long j) {
    return b->bath + 1 + 5 * j;
}

/* chi and eta of `count` spans into E and F. */
INLINE void bath_scale(const struct lgv_block *b, long count, vec *E, vec *F) {
    for (long i = 0; i < count; i++)
        for (long j = 0; j < NT; j++) {
            const double *k = bath_fine(b, j);
            vec chi = E[i * NT + j];
            E[i * NT + j] = k[2] * chi;
            if (DRAW_Z) F[i * NT + j] = FUSED(k[3], chi, k[4] * F[i * NT + j]);
        }
}

/* The spans of one step, each made of `coarsen` fine ones: the recursion of E and F.  Normals are made NOISE_SIDE pairs
 * at a time, and none of them twice. */
OUTLINE void bath_coarse(const struct lgv_block *b, const uvec *path, u64 step, vec *E, vec *F) {
    vec chi[2 * NOISE_SIDE], eta[2 * NOISE_SIDE];
    const u64 first = step * BATH_SPANS * b->coarsen * NT;
    if (b->coarsen == 1) {
        noise_fill(b->seed, *path, first, (int)(BATH_SPANS * NT), STREAM_W, E);
        if (DRAW_Z) noise_fill(b->seed, *path, first, (int)(BATH_SPANS * NT), STREAM_Z, F);
        bath_scale(b, BATH_SPANS, E, F);
        return;
    }
    u64 n = first;
    for (long s = 0; s < BATH_SPANS; s++, E += NT, F += DRAW_Z ? NT : 0) {
        for (u64 f = 0; f < b->coarsen; f++)
            for (long j = 0; j < NT; j++, n++) {
                const double *k = bath_fine(b, j);
                const u64 at = n % (2 * NOISE_SIDE);
                if (n == first || at == 0) {
                    noise_side(b->seed, path, (n - at) >> 1, STREAM_W, chi);
                    if (DRAW_Z) noise_side(b->seed, path, (n - at) >> 1, STREAM_Z, eta);
                }
                vec x = chi[at], e = k[2] * x;
                if (DRAW_Z) {
                    vec z = FUSED(k[3], x, k[4] * eta[at]);
                    F[j] = f ? F[j] + FUSED(k[1], E[j], z) : z;
                }
                E[j] = f ? FUSED(k[0], E[j], e) : e;
            }
    }
}

/* What noise Hamiltonians get of a step: dW and dZ over all its spans. */
INLINE void bath_whole(const struct ctx *c, const vec *E, const vec *F, vec *dW, vec *dZ) {
    double h = c->b->dt / BATH_SPANS;
    for (long m = 0; m < NM; m++) {
        dW[m] = E[m];
        if (METHOD_DZ) dZ[m] = F[m];
        for (long s = 1; s < BATH_SPANS; s++) {
            if (METHOD_DZ) dZ[m] += FUSED(h, dW[m], F[s * NT + m]);
            dW[m] += E[s * NT + m];
        }
    }
}
