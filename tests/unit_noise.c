/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The noise of the kernels: Philox against Random123 and its published answers, the law of the normals, and the
 * identities of the increments (dW, dZ).  All seeds are fixed; bounds are in standard errors of the estimate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The oracle is only meant to be right; its header is not written for these warnings. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <Random123/philox.h>
#pragma GCC diagnostic pop

#include "../src/kernel/text/lanes.h"
#include "../src/kernel/text/noise.h"

/* The path numbers come out of a volatile: a compiler that knows them evaluates some of the calls itself, and may then
 * fuse multiplication and addition where the machine does not, or the other way round. */
static volatile u64 unknown_zero;

static uvec paths(u64 first) {
    uvec p = uvec_set(first + unknown_zero);
    for (int l = 0; l < LANES; l++) {
        p[l] += (u64)l;
    }
    return p;
}

static bool same_bits(const vec *a, const vec *b, int count) {
    return memcmp(a, b, sizeof *a * (size_t)count) == 0;
}

/* The three answers published with Random123 (kat_vectors, philox4x32 10): counter, key, result. */
static void test_published_answers(void **state) {
    (void)state;
    static const u32 known[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
         0x24126ea1},
    };
    for (int i = 0; i < 3; i++) {
        const u32 *k = known[i];
        uvec out[4];
        philox(k[4] | (u64)k[5] << 32, uvec_set(k[2] | (u64)k[3] << 32), k[0] | (u64)(k[1] & 0xffff) << 32, k[1] >> 16,
               out);
        for (int j = 0; j < 4; j++) {
            assert_true(out[j][0] == k[6 + j] && out[j][LANES - 1] == k[6 + j]);
        }
    }
}

static void test_random123(void **state) {
    (void)state;
    u64 x = 1;
    for (int n = 0; n < 20000; n++) {
        u64 r[3];
        for (int i = 0; i < 3; i++) {
            x = x * 6364136223846793005ULL + 1442695040888963407ULL;
            r[i] = x ^ (x >> 29);
        }
        u64 pair = r[1] >> 16;
        u32 stream = (u32)(r[1] & 0xffff);
        uvec path = paths(r[2]), out[4];
        philox(r[0], path, pair, stream, out);
        for (int l = 0; l < LANES; l++) {
            philox4x32_ctr_t c = {{(u32)pair, (u32)(pair >> 32) | stream << 16, (u32)path[l], (u32)(path[l] >> 32)}};
            philox4x32_key_t k = {{(u32)r[0], (u32)(r[0] >> 32)}};
            philox4x32_ctr_t expected = philox4x32(c, k);
            for (int j = 0; j < 4; j++) {
                assert_true(out[j][l] == expected.v[j]);
            }
        }
    }
}

/* Box-Muller from the words of Philox in long double; the error is absolute in r and the angle, hence the bound. */
static void test_box_muller(void **state) {
    (void)state;
    for (u64 n = 0; n < 20000; n++) {
        uvec path = paths(n * LANES), x[4];
        vec z0, z1;
        philox(7, path, n, STREAM_W, x);
        normal_pair(7, path, n, STREAM_W, &z0, &z1);
        for (int l = 0; l < LANES; l++) {
            long double u = 1.0L - (long double)((x[1][l] << 32 | x[0][l]) >> 12) * 0x1p-52L;
            long double v = (long double)((x[3][l] << 32 | x[2][l]) >> 12) * 0x1p-52L;
            long double r = sqrtl(-2.0L * logl(u)), angle = 6.28318530717958647692528676655900577L * v;
            assert_true(fabsl((long double)z0[l] - r * cosl(angle)) <= 4e-16L * r);
            assert_true(fabsl((long double)z1[l] - r * sinl(angle)) <= 4e-16L * r);
        }
    }
}

/* 4 million normals.  Standard errors of the sample moments of N(0,1): sqrt(1/n), sqrt(2/n), sqrt(15/n), sqrt(96/n).
 * Tails: P(|z| > 3, 4, 5), binomial.  Five standard errors each. */
static void test_moments_and_tails(void **state) {
    (void)state;
    static const double exact[4] = {0, 1, 0, 3}, variance[4] = {1, 2, 15, 96};
    static const double tail[3] = {2.699796063260e-03, 6.334248366624e-05, 5.733031437584e-07};
    double m[4] = {0}, n = 0;
    long beyond[3] = {0};
    double largest = 0;
    for (u64 j = 0; j < 1000; j++) {
        for (u64 block = 0; block < 2048 / LANES; block++) {
            vec z[2];
            normal_pair(2024, paths(block * LANES), j, STREAM_W, &z[0], &z[1]);
            for (int i = 0; i < 2 * LANES; i++) {
                double x = z[i / LANES][i % LANES], a = fabs(x);
                m[0] += x;
                m[1] += x * x;
                m[2] += x * x * x;
                m[3] += x * x * x * x;
                beyond[0] += a > 3;
                beyond[1] += a > 4;
                beyond[2] += a > 5;
                largest = fmax(largest, a);
                n++;
            }
        }
    }
    for (int k = 0; k < 4; k++) {
        double deviation = (m[k] / n - exact[k]) / sqrt(variance[k] / n);
        print_message("moment %d: %+.6f, %+.2f standard errors\n", k + 1, m[k] / n, deviation);
        assert_true(fabs(deviation) < 5);
    }
    for (int k = 0; k < 3; k++) {
        double deviation = ((double)beyond[k] - n * tail[k]) / sqrt(n * tail[k]);
        print_message("beyond %d: %ld of %.1f, %+.2f standard errors\n", k + 3, beyond[k], n * tail[k], deviation);
        assert_true(fabs(deviation) < 5);
    }
    assert_true(largest < 8.5);
}

static void test_uniform(void **state) {
    (void)state;
    double sum = 0, square = 0, n = 0;
    int bin[16] = {0};
    for (u64 j = 0; j < 20000; j++) {
        vec u[2];
        uvec words[4];
        uvec path = paths(100);
        uniform_pair(5, &path, j, STREAM_START_UNIFORM, &u[0], &u[1]);
        philox(5, paths(100), j, STREAM_START_UNIFORM, words);
        for (int i = 0; i < 2 * LANES; i++) {
            double x = u[i / LANES][i % LANES];
            const uvec *w = &words[2 * (i / LANES)];
            assert_true(x == ((double)((w[1][i % LANES] << 32 | w[0][i % LANES]) >> 12) + 0.5) * 0x1p-52);
            assert_true(x > 0 && x < 1);
            sum += x;
            square += x * x;
            bin[(int)(16 * x)]++;
            n++;
        }
    }
    assert_true(fabs(sum / n - 0.5) < 5 * sqrt(1 / (12 * n)));
    assert_true(fabs(square / n - 1.0 / 3) < 5 * sqrt(4 / (45 * n)));
    double chi2 = 0; /* 15 degrees of freedom: 50 is passed by chance once in 1e5 */
    for (int i = 0; i < 16; i++) {
        chi2 += (bin[i] - n / 16) * (bin[i] - n / 16) / (n / 16);
    }
    assert_true(chi2 < 50);
}

/* Products of normals that must be independent: neighbouring lanes, streams, seeds, pairs, the halves of a pair, and
 * their squares.  Each mean has standard error 1/sqrt(n) (4/sqrt(n) bounds that of the centred squares). */
static void test_independence(void **state) {
    (void)state;
    double c[6] = {0}, n = 0;
    for (u64 j = 0; j < 60000; j++) {
        vec a, b, next, z, other, unused;
        normal_pair(1, paths(0), j, STREAM_W, &a, &b);
        normal_pair(1, paths(0), j + 1, STREAM_W, &next, &unused);
        normal_pair(1, paths(0), j, STREAM_Z, &z, &unused);
        normal_pair(2, paths(0), j, STREAM_W, &other, &unused);
        for (int l = 0; l < LANES; l++) {
            c[0] += a[l] * a[(l + 1) % LANES];
            c[1] += a[l] * b[l];
            c[2] += a[l] * next[l];
            c[3] += a[l] * z[l];
            c[4] += a[l] * other[l];
            c[5] += (a[l] * a[l] - 1) * (b[l] * b[l] - 1) / 4;
            n++;
        }
    }
    for (int i = 0; i < 6; i++) {
        assert_true(fabs(c[i] / n) < 5 / sqrt(n));
    }
}

enum { NUMBERS = 24 };

/* Whatever the splitting, first number or neighbours, normal j is half j & 1 of pair j >> 1. */
static void test_purity(void **state) {
    (void)state;
    const u64 first = (1ULL << 33) - 5; /* passes 2^32 pairs on the way */
    vec whole[NUMBERS], part[NUMBERS], half[2];
    noise_fill(9, paths(3), first, NUMBERS, STREAM_Z, whole);
    for (int i = 0; i < NUMBERS; i++) {
        u64 j = first + (u64)i;
        normal_pair(9, paths(3), j >> 1, STREAM_Z, &half[0], &half[1]);
        assert_true(same_bits(&whole[i], &half[j & 1], 1));
    }
    for (int size = 1; size <= 7; size++) {
        for (int i = 0; i < NUMBERS; i += size) {
            int count = i + size > NUMBERS ? NUMBERS - i : size;
            noise_fill(9, paths(3), first + (u64)i, count, STREAM_Z, part + i);
        }
        assert_true(same_bits(whole, part, NUMBERS));
    }
    noise_fill(9, paths(4), first, 1, STREAM_Z, part); /* the neighbour's lane moved by one */
    assert_true(part[0][0] == whole[0][1]);
    part[0] = vec_set(1.0);
    noise_fill(9, paths(4), first, 0, STREAM_Z, part);
    assert_true(part[0][0] == 1.0);
}

/* Several steps at once have the bits of one after the other; without dZ, dW is the same. */
static void test_many_steps(void **state) {
    (void)state;
    for (int nm = 1; nm <= 3; nm++) {
        const u64 first = 3 * NOISE_STEPS;
        uvec path = paths(0);
        vec w[2][3 * NOISE_STEPS], z[2][3 * NOISE_STEPS], only[3 * NOISE_STEPS];
        noise_steps(3, &path, first, 0.1, nm, 1, w[0], z[0]);
        for (int k = 0; k < NOISE_STEPS; k++) {
            noise_step(3, path, first + (u64)k, 1, 0.1, nm, 1, w[1] + k * nm, z[1] + k * nm);
        }
        noise_steps(3, &path, first, 0.1, nm, 0, only, NULL);
        assert_true(same_bits(w[0], w[1], NOISE_STEPS * nm));
        assert_true(same_bits(z[0], z[1], NOISE_STEPS * nm));
        assert_true(same_bits(w[0], only, NOISE_STEPS * nm));
        for (int k = 0; k < NOISE_STEPS; k++) { /* a coarse step of one fine step, as kernels hand noise out */
            noise_coarse(3, &path, first + (u64)k, 1, 0.1, nm, 1, w[1] + k * nm, z[1] + k * nm);
        }
        assert_true(same_bits(w[0], w[1], NOISE_STEPS * nm));
        assert_true(same_bits(z[0], z[1], NOISE_STEPS * nm));
    }
}

/* dW and dZ of a coarse step against the definition, from the fine increments one by one: W by summation, and the
 * integral of W - W_0 as the sum over fine steps of (level at its start) * length + its own dZ. */
static void test_coarsening(void **state) {
    (void)state;
    const double dt = 0.3;
    for (int nm = 1; nm <= 3; nm++) {
        for (u64 coarsen = 1; coarsen <= 9; coarsen++) {
            for (u64 step = 0; step < 4; step++) {
                vec w[3] = {{0}}, z[3] = {{0}};
                noise_step(11, paths(50), step, coarsen, dt, nm, 1, w, z);
                double fine = dt / (double)coarsen;
                for (int m = 0; m < nm; m++) {
                    double level = 0, integral = 0;
                    for (u64 k = 0; k < coarsen; k++) {
                        vec fw[3] = {{0}}, fz[3] = {{0}};
                        noise_step(11, paths(50), step * coarsen + k, 1, fine, nm, 1, fw, fz);
                        integral += level * fine + fz[m][1];
                        level += fw[m][1];
                    }
                    assert_true(fabs(w[m][1] - level) < 1e-14);
                    assert_true(fabs(z[m][1] - integral) < 1e-14);
                }
            }
        }
    }
}

/* The recursion for dZ against quadrature: on a path of 4096 parts with Z switched off in the parts, the trapezoidal
 * rule for the integral of W differs from dZ by the parts' own eta, of standard deviation
 * dt_f^(3/2) sqrt(parts / 12). */
static void test_quadrature(void **state) {
    (void)state;
    enum { PARTS = 4096 };
    const double dt = 2.0, fine = dt / PARTS;
    vec dW, dZ;
    noise_step(21, paths(0), 3, PARTS, dt, 1, 1, &dW, &dZ);
    vec level = vec_set(0.0), area = vec_set(0.0), w;
    for (u64 k = 0; k < PARTS; k++) {
        noise_fill(21, paths(0), 3 * PARTS + k, 1, STREAM_W, &w);
        area += fine * (level + 0.5 * sqrt(fine) * w);
        level += sqrt(fine) * w;
    }
    for (int l = 0; l < LANES; l++) {
        assert_true(fabs(dW[l] - level[l]) < 1e-12);
        assert_true(fabs(dZ[l] - area[l]) < 5 * pow(fine, 1.5) * sqrt(PARTS / 12.0));
    }
}

/* Var dW = dt, Cov(dW, dZ) = dt^2 / 2, Var dZ = dt^3 / 3 for fine and coarse steps, and no correlation between noises.
 * Standard errors of the second moments of Gaussians: sqrt(2) v / sqrt n, sqrt(v1 v2 + cov^2) / sqrt n. */
static void test_covariance(void **state) {
    (void)state;
    const double dt = 0.7;
    for (u64 coarsen = 1; coarsen <= 3; coarsen++) {
        double ww = 0, wz = 0, zz = 0, cross = 0, n = 0;
        for (u64 step = 0; step < 40000; step++) {
            vec w[2], z[2];
            noise_step(31, paths(0), step, coarsen, dt, 2, 1, w, z);
            for (int l = 0; l < LANES; l++) {
                ww += w[0][l] * w[0][l];
                wz += w[0][l] * z[0][l];
                zz += z[0][l] * z[0][l];
                cross += w[0][l] * w[1][l] + w[0][l] * z[1][l];
                n++;
            }
        }
        double vw = dt, vz = dt * dt * dt / 3, cov = dt * dt / 2;
        assert_true(fabs(ww / n - vw) < 5 * vw * sqrt(2 / n));
        assert_true(fabs(zz / n - vz) < 5 * vz * sqrt(2 / n));
        assert_true(fabs(wz / n - cov) < 5 * sqrt((vw * vz + cov * cov) / n));
        assert_true(fabs(cross / n) < 5 * sqrt(vw * (vw + vz + 2 * cov) / n));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_answers),
        cmocka_unit_test(test_random123),
        cmocka_unit_test(test_box_muller),
        cmocka_unit_test(test_moments_and_tails),
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_independence),
        cmocka_unit_test(test_purity),
        cmocka_unit_test(test_many_steps),
        cmocka_unit_test(test_coarsening),
        cmocka_unit_test(test_quadrature),
        cmocka_unit_test(test_covariance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
