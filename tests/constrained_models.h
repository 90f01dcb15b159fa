/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The constrained models of the tests, those of tests/reference/constrained.py and one more.  Numbers that differ
 * between tests are parameters: the tests then share their kernels, with few lanes because most of their time is taken
 * by the compiler. */
#ifndef LGV_TESTS_CONSTRAINED_MODELS_H
#define LGV_TESTS_CONSTRAINED_MODELS_H

#define ON_SPHERE                                                                                                      \
    "constraints: dot(x, x) - 1\nnoise_potential: [s*sin(x.x), s*sin(x.y), r*sin(x.z)]\n"                              \
    "symmetries: {vertical: [-x.y, x.x, 0]}\n"

/* Unit mass in a homogeneous field on the unit sphere. */
#define SPHERE                                                                                                         \
    "parameters: {s: 1, r: 1, x0: 0.6, y0: -0.48, z0: 0.64, u0: 0.3, v0: 0.7, w0: 0.5}\n"                              \
    "coordinates: {x in R3: '[x0, y0, z0]'}\nvelocities: {v: '[u0, v0, w0]'}\n"                                        \
    "lagrangian: dot(v, v)/2 - x.z\n" ON_SPHERE

/* The same in spherical angles, x = (sin a cos b, sin a sin b, cos a), from x = (1, 0, 0) with velocity (0, v0, w0). */
#define ANGLES                                                                                                         \
    "parameters: {s: 1, r: 1, v0: 1, w0: 0}\ncoordinates: {a: pi/2, b: 0}\nmomenta: {k: -w0, l: v0}\n"                 \
    "hamiltonian: k^2/2 + l^2/(2*sin(a)^2) + cos(a)\n"                                                                 \
    "noise_potential: [s*sin(sin(a)*cos(b)), s*sin(sin(a)*sin(b)), r*sin(cos(a))]\n"                                   \
    "observe:\n  x: sin(a)*cos(b)\n  y: sin(a)*sin(b)\n  z: cos(a)\n  u: k*cos(a)*cos(b) - l*sin(b)/sin(a)\n"          \
    "  v: k*cos(a)*sin(b) + l*cos(b)/sin(a)\n  w: -k*sin(a)\n"

/* On the sphere: a mass that depends on the position, a magnetic term, and one more term of L. */
#define GENERAL(term)                                                                                                  \
    "parameters: {s: 1, r: 1, a: 0.3, b: 0.1, c: 0.8}\ncoordinates: {x in R3: '[0.6, -0.48, 0.64]'}\n"                 \
    "velocities: {v: '[0.3, 0.7, 0.5]'}\n"                                                                             \
    "lagrangian: (1 + a*x.z^2)*dot(v, v)/2 + c*(x.x*x.z*v.y - x.y*v.x) + " term " - x.z\n" ON_SPHERE

/* A double pendulum of two masses in the plane beside a particle on a torus. */
#define PENDULUM_AND_TORUS                                                                                             \
    "parameters: {m: 1.3, k: 0.7}\n"                                                                                   \
    "coordinates: {x in R2: '[0.8, -0.6]', z in R2: '[1.7, -1.8]', r in R3: '[1.8, 1.2, 0.65]'}\n"                     \
    "velocities: {v: '[0.5, 0.9]', w: '[-0.4, 0.6]', u: '[0.4, 0.6, -0.3]'}\n"                                         \
    "lagrangian: (m*dot(v, v) + k*dot(w, w) + dot(u, u))/2 - m*x.y - k*z.y - r.z\n"                                    \
    "constraints: ['dot(x, x) - 1', 'dot(z - x, z - x) - 2.25', '(sqrt(r.x^2 + r.y^2) - 2)^2 + r.z^2 - 0.49']\n"       \
    "noise: ['-0.4*sin(z.x) - 0.5*sin(r.x)', '-0.3*cos(x.y + z.x) - 0.3*r.y*r.z']\n"

#define FOUR_PENDULUMS                                                                                                 \
    "parameters: {N: 4, m: 1.3, k: 0.7}\n"                                                                             \
    "coordinates: {'x[N] in R2': '[0.8, -0.6]', 'z[N] in R2': '[1.7, -1.8]'}\n"                                        \
    "velocities: {v: '[0.5, 0.9]', w: '[-0.4, 0.6]'}\n"                                                                \
    "lagrangian: sum(i=1..N, (m*dot(v[i], v[i]) + k*dot(w[i], w[i]))/2 - m*x[i].y - k*z[i].y)\n"                       \
    "constraints: ['each(i=1..N, dot(x[i], x[i]) - 1)', 'each(i=1..N, dot(z[i] - x[i], z[i] - x[i]) - 2.25)']\n"       \
    "noise_potential: ['sum(i=1..N, 0.4*sin(z[i].x))', 'sum(i=1..N, 0.3*cos(x[i].y + z[i].x))']\n"

#endif
