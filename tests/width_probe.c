/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Prints one hash per set of lane functions over the same COUNT arguments, whatever LANES is.  Built with several
 * -DLANES=...; the outputs must be the same text: the bits of a lane do not depend on the width of the vectors. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../src/kernel/text/abi.h"
#include "../src/kernel/text/lanes.h"
#include "../src/kernel/text/noise.h"
#include "../src/kernel/text/pivot.h"
#include "../src/kernel/text/solve.h"
#include "../src/kernel/text/system.h"

#define NP 3L
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

enum { COUNT = 4096, COLUMNS = 24 };

static double out[COLUMNS][COUNT];

/* Element e of a table of arguments: of all magnitudes, some beyond the reductions, some not finite. */
static double argument(uint64_t e, uint64_t column) {
    uint64_t z = (e * 64 + column + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    double x = (double)(z >> 11) * 0x1p-52 - 1.0;
    if (e % 97 == 0) {
        memcpy(&x, &z, sizeof x); /* any bits at all */
        return x;
    }
    return e % 3 == 0 ? x : e % 3 == 1 ? 50.0 * x : 1e6 * x;
}

static vec load(uint64_t first, uint64_t column) {
    vec x;
    for (int l = 0; l < LANES; l++) {
        x[l] = argument(first + (uint64_t)l, column);
    }
    return x;
}

static void store(uint64_t first, int column, vec x) {
    for (int l = 0; l < LANES; l++) {
        out[column][first + (uint64_t)l] = x[l];
    }
}

/* NaN counts as one value: which of two NaN an operation hands on is not fixed by the source. */
static void print_hash(const char *name, int columns) {
    uint64_t h = 0xcbf29ce484222325ULL;
    for (int c = 0; c < columns; c++) {
        for (int e = 0; e < COUNT; e++) {
            uint64_t bits = 0;
            if (out[c][e] == out[c][e]) {
                memcpy(&bits, &out[c][e], sizeof bits);
            }
            h = (h ^ bits) * 0x100000001b3ULL;
            h ^= h >> 29;
        }
    }
    printf("%s %016llx\n", name, (unsigned long long)h);
}

static void probe_functions(void) {
    for (uint64_t e = 0; e < COUNT; e += LANES) {
        vec x = load(e, 0), y = load(e, 1), s, c;
        vec roots[] = {x, y, vec_abs(x)};
        vec_sincos(x, &s, &c);
        vec_inverses(roots, 3, 1, 1);
        vec values[] = {s,          c,           vec_exp(x),    vec_log(x),    vec_log(vec_abs(x)), vec_sqrt(x),
                        vec_abs(x), vec_sign(x), vec_min(x, y), vec_max(x, y), vec_less(x, y),      vec_le(x, y),
                        vec_tan(x), vec_atan(x), vec_tanh(x),   vec_pow(x, y), vec_atan2(x, y),     vec_erf(x),
                        roots[0],   roots[1],    roots[2]};
        for (int i = 0; i < 21; i++) {
            store(e, i, values[i]);
        }
    }
    print_hash("functions", 21);
}

static void probe_noise(void) {
    for (uint64_t e = 0; e < COUNT; e += LANES) {
        uvec path = uvec_set(e);
        for (int l = 0; l < LANES; l++) {
            path[l] += (u64)l;
        }
        vec v[COLUMNS];
        noise_fill(42, path, 7, 4, STREAM_W, v);
        noise_step(42, path, 5, 1, 0.01, 2, 1, v + 4, v + 6);
        noise_step(42, path, 5, 3, 0.01, 2, 1, v + 8, v + 10);
        noise_step(42, path, 6, 1, 0.01, 1, 1, v + 12, v + 13);
        noise_step(42, path, 7, 1, 0.01, 1, 1, v + 14, v + 15);
        uniform_pair(42, &path, 1, STREAM_START_UNIFORM, &v[16], &v[17]);
        for (int i = 0; i < 18; i++) {
            store(e, i, v[i]);
        }
    }
    print_hash("noise", 18);
}

static void probe_solve(int n) {
    static vec A[36], b[6], scratch[42];
    for (uint64_t e = 0; e < COUNT; e += LANES) {
        ivec singular;
        for (int i = 0; i < n * n; i++) {
            A[i] = load(e, (uint64_t)i);
        }
        for (int i = 0; i < n; i++) {
            b[i] = load(e, (uint64_t)(40 + i));
        }
        switch (n) {
        case 1: solve_dense(1, A, b, NULL, &singular); break;
        case 2: solve_dense(2, A, b, NULL, &singular); break;
        case 3: solve_dense(3, A, b, NULL, &singular); break;
        case 4: solve_dense(4, A, b, NULL, &singular); break;
        default: solve_dense(n, A, b, scratch, &singular);
        }
        for (int i = 0; i < n; i++) {
            store(e, i, b[i]);
        }
        store(e, n, (vec)(singular & 0x3ff0000000000000LL));
    }
    char name[32];
    snprintf(name, sizeof name, "solve_%d", n);
    print_hash(name, n + 1);
}

static void probe_rotor(void) {
    static const double spin[LGV_SPIN] = {1.0, 2.0, 2.5, 1.0, 0.5, 0.4, 0.0, 0.5, 0.6, 0.5 / 0.6, 0.1 / 0.6};
    for (uint64_t e = 0; e < COUNT; e += LANES) {
        struct ctx c = {0};
        vec v[21];
        for (int i = 0; i < 21; i++) v[i] = load(e, (uint64_t)(i % 7));
        rotor_planar(0.1, spin, v, v + 4);
        rotor_cayley(&c, 0.1, spin, v + 7, v + 11);
        rotor_exact(0.1, spin, v + 14, v + 18);
        for (int i = 0; i < 21; i++) store(e, i, v[i]);
        for (int i = 0; i < 7; i++) v[i] = load(e, (uint64_t)i);
        rotor_exponential(&c, 0.1, spin, v, v + 4);
        store(e, 21, v[0]);
        store(e, 22, v[4]);
        store(e, 23, (vec)(c.failed & 0x3ff0000000000000LL));
    }
    print_hash("rotor", 24);
}

int main(void) {
    probe_functions();
    probe_rotor();
    probe_noise();
    for (int n = 1; n <= 6; n++) {
        probe_solve(n);
    }
    return 0;
}
