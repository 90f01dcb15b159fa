/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reference programs of the benchmark: how fast a specialist's hand-written kernel is (floor_simd.c, floor_methods.c,
 * floor_rattle.c), and how fast a straightforward scalar program with callbacks is (scalar_callbacks.c).  All integrate
 * the same paths.
 *
 * Models, beta = 0.1, start q = 0, p = 1:
 *   Kubo          H = p^2/2 + q^2/2,   h = beta H
 *   synchrotron   H = p^2/2 - cos q,   h = beta sin q
 * Methods: stochastic Stoermer-Verlet (P2N2Q2Lob) and stochastic midpoint (P1N1Q2Gau); floor_methods.c has all others.
 *
 * Noise of step n of a path: the increment is sqrt(dt) times half n&1 of the Box-Muller pair n>>1; the pair comes from
 * one Philox4x32-10 call with key = seed and counter = (pair, pair>>32 | stream<<16, path, path>>32), stream 0.
 * Methods with dZ take a second normal eta in the same way from stream 1: dZ = dt^(3/2) (chi + eta / sqrt 3) / 2. */
#ifndef LGV_BENCH_FLOOR_H
#define LGV_BENCH_FLOOR_H

#include <stdbool.h>
#include <stddef.h>

/* The plain version of the synchrotron midpoint has two textbook Newton moves; it is here to show what the tricks of
 * the other one bring.  scalar_run does not tell the two apart. */
enum floor_case { KUBO_VERLET, SYNC_VERLET, KUBO_MIDPOINT, SYNC_MIDPOINT, SYNC_MIDPOINT_PLAIN };

/* 1 when floor_simd.c was compiled for AVX2 and FMA; otherwise floor_run and floor_normals return -1. */
int floor_available(void);

/* Integrates paths 0..paths-1 over `steps` steps on the calling thread and returns the seconds it took, measured on the
 * monotonic clock.  *mean_energy (NULL allowed) becomes the mean of H over the paths at the end.
 * floor_run works on blocks of 16 paths: use a multiple of 16, else the last block is only partly counted.
 * floor_run solves the synchrotron midpoint to round-off for dt <= 0.25 (plain: 0.1); scalar_run iterates to a
 * tolerance. */
double floor_run(enum floor_case c, size_t paths, size_t steps, double dt, unsigned long long seed,
                 double *mean_energy);
double scalar_run(enum floor_case c, size_t paths, size_t steps, double dt, unsigned long long seed,
                  double *mean_energy);

/* The floor of a method by name on one of the models. */
enum floor_model { FLOOR_KUBO, FLOOR_SYNCHROTRON };
#define FLOOR_PATHS 16
struct floor_method;
/* NULL: there is none, because the method does not fit the model or there is no AVX2 and FMA. */
const struct floor_method *floor_find(const char *method, enum floor_model model);
/* Does a step solve no equations? */
bool floor_is_explicit(const struct floor_method *f);
/* Integrates paths 0..FLOOR_PATHS-1 and returns the seconds it took; q and p become the states at the end. */
double floor_method_run(const struct floor_method *f, size_t steps, double dt, unsigned long long seed,
                        double q[FLOOR_PATHS], double p[FLOOR_PATHS]);

/* RATTLE on the spherical pendulum (floor_rattle.c):  H = |p|^2/2 + z,  g = |q|^2 - 1,  start q = (1,0,0),
 * p = (0,1,0.4),  noise h = beta z or the three beta sin x, beta sin y, beta sin z.  textbook: without what is special
 * about the sphere.  Integrates paths 0..FLOOR_PATHS-1 and returns the seconds it took, -1 without AVX2 and FMA;
 * state[i] becomes component i of (q, p) at the end. */
enum floor_sphere { SPHERE_ONE, SPHERE_THREE, SPHERE_ONE_TEXTBOOK, SPHERE_THREE_TEXTBOOK };
double floor_rattle_run(enum floor_sphere which, size_t steps, double dt, unsigned long long seed,
                        double state[6][FLOOR_PATHS]);

/* BAOAB (floor_langevin.c) with friction 1 and kT = 1, start q = 0, p = 1: on U = q^2/2 + q^4/4 (dof 1), or on the ring
 * of ten sites (dof 10) with U = sum (q_{i+1} - q_i)^2/2 + q_i^4/4.  As floor_rattle_run; state has 2 dof rows. */
double floor_baoab_run(int dof, size_t steps, double dt, unsigned long long seed, double state[][FLOOR_PATHS]);

/* A free rigid body with moments 1, 2, 2.5 by BRB (floor_body.c), start R = 1, m = (0.3, 1, 0.5), with the noise
 * h = beta R.zz or none.  As floor_rattle_run; state has the quaternion (w, x, y, z) and m. */
double floor_body_run(bool noise, size_t steps, double dt, unsigned long long seed, double state[7][FLOOR_PATHS]);

/* BRB of many bodies with pair forces (floor_pairs.c), moments of inertia as above: seconds per step of a path, of
 * which some are side by side; -1 without AVX2 and FMA.  start and end (NULL allowed) have x, q, p, m of each body, 13
 * numbers. */
double floor_pairs_run(size_t bodies, size_t steps, double dt, const double *start, double *end);

/* Seconds to make `count` normals (rounded up to a multiple of 32). */
double floor_normals(size_t count);

#endif
