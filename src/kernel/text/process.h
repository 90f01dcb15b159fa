/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Coloured noise: over every fine step of a step z' = E z + L x, exactly (src/kernel/process.c), where the last row is
 * the integral of the process.  Formulas of the step see its mean over the whole step.  A flow with the mean in place
 * of the process differs by double integrals of differences of the process, O(dt^(5/2)) of mean O(dt^3): strong order
 * 2 for whatever method has it, where the process enters linearly.  Include-free. */
#define PROCESS_ROWS (DRAWN_ROWS - PROCESS_FIRST)
#define PROCESS_N 3
#define PROCESS_NUMBERS (1 + 2 * PROCESS_N * PROCESS_N)

/* Process k over the fine steps of the present step: z, its rows, and the integral of the last of them. */
INLINE vec process_move(const struct lgv_block *b, const uvec *path, u64 step, long k, vec *z) {
    const double *number = b->process + 1 + k * PROCESS_NUMBERS, *E = number + 1, *L = E + PROCESS_N * PROCESS_N;
    const u64 fine = (u64)b->process[0];
    const int n = (int)number[0];
    vec integral = vec_set(0);
    PLAIN for (u64 at = step * fine; at < (step + 1) * fine; at++) {
        vec x[4], next[PROCESS_N];
        noise_pairs(b->seed, path, 2 * (at * (u64)PROCESSES + (u64)k), n > 2 ? 2 : 1, STREAM_PROCESS, x);
        PLAIN for (int i = 0; i < n; i++) {
            next[i] = vec_set(0);
            PLAIN for (int j = 0; j + 1 < n; j++) ADD_PRODUCT(next[i], E[i * PROCESS_N + j], z[j]);
            PLAIN for (int j = 0; j <= i; j++) ADD_PRODUCT(next[i], L[i * PROCESS_N + j], x[j]);
        }
        PLAIN for (int i = 0; i + 1 < n; i++) z[i] = next[i];
        integral += next[n - 1];
    }
    return integral;
}

/* Before a step: the rows become means over it, `ends` what they are behind it. */
OUTLINE void process_step(const struct ctx *c, vec *ends) {
    const struct lgv_block *b = c->b;
    const uvec path = paths_at(b->path);
    vec *row = c->drawn + PROCESS_FIRST * VECS;
    for (long k = 0; k < PROCESSES; k++) {
        const int rows = (int)b->process[1 + k * PROCESS_NUMBERS] - 1;
        vec z[2] = {row[0], rows > 1 ? row[VECS] : row[0]}, before = z[rows - 1];
        vec integral = process_move(b, &path, c->step, k, z);
        for (int i = 0; i < rows; i++) ends[i] = z[i];
        if (rows > 1) row[0] = (z[1] - before) / b->dt;
        row[(rows - 1) * VECS] = integral / b->dt;
        row += rows * VECS;
        ends += rows;
    }
}

INLINE void process_end(const struct ctx *c, const vec *ends) {
    for (long i = 0; i < PROCESS_ROWS; i++) c->drawn[(PROCESS_FIRST + i) * VECS] = ends[i];
}
