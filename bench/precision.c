/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Work against precision: how long a path takes at a given error of the energy, the largest |H/H(0) - 1| at the output
 * times, without noise.  Methods of Runge, Kutta and Nystroem beside the Taylor integrator heyoka (a Python module; see
 * peers.c for the interpreter), whose times are recorded ones where it is not installed.  Every method runs with
 * several steps, heyoka with several tolerances, all in turn; times are least ones, interpolated to powers of ten. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST 4 /* errors 1e-4 .. 1e-12 */
#define LAST 12
#define GOAL 10 /* faster than heyoka down to 1e-10 */
#define POINTS 10
#define BODIES 6
#define TIMED 500 /* steps of a timed piece, at most */

static const double gravity = 2.95912208286e-4;
static const double mass[BODIES] = {1.00000597682,   0.000954786104043, 0.000285583733151,
                                    4.37273164546e-5, 5.17759138449e-5,  1 / 1.3e8};

static const char henon_heiles[] = "name: henon\n"
                                   "coordinates: { x: 0, y: 'uniform(-0.1, 0.1)' }\n"
                                   "momenta: { px: 'uniform(0.25, 0.4)', py: 'uniform(0, 0.15)' }\n"
                                   "potential: (x^2 + y^2)/2 + x^2*y - y^3/3\n";

/* Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), section I.2.3, doi 10.1007/3-540-30666-8: the sun
 * with the inner planets, Jupiter, Saturn, Uranus, Neptune, Pluto; astronomical units and days. */
static const char outer_planets[] =
    "name: planets\n"
    "parameters: { G: 2.95912208286e-4, m0: 1.00000597682, m1: 0.000954786104043, m2: 0.000285583733151,"
    " m3: 4.37273164546e-5, m4: 5.17759138449e-5, m5: 1/1.3e8 }\n"
    "coordinates:\n"
    "  q0 in R3: [0, 0, 0]\n"
    "  q1 in R3: [-3.5023653, -3.8169847, -1.5507963]\n"
    "  q2 in R3: [9.0755314, -3.0458353, -1.6483708]\n"
    "  q3 in R3: [8.3101420, -16.2901086, -7.2521278]\n"
    "  q4 in R3: [11.4707666, -25.7294829, -10.8169456]\n"
    "  q5 in R3: [-15.5387357, -25.2225594, -3.1902382]\n"
    "momenta:\n"
    "  p0: [0, 0, 0]\n"
    "  p1: [m1*(0.00565429), m1*(-0.00412490), m1*(-0.00190589)]\n"
    "  p2: [m2*(0.00168318), m2*(0.00483525), m2*(0.00192462)]\n"
    "  p3: [m3*(0.00354178), m3*(0.00137102), m3*(0.00055029)]\n"
    "  p4: [m4*(0.00288930), m4*(0.00114527), m4*(0.00039677)]\n"
    "  p5: [m5*(0.00276725), m5*(-0.00170702), m5*(-0.00136504)]\n"
    "hamiltonian: >-\n"
    "  dot(p0, p0)/(2*m0) + dot(p1, p1)/(2*m1) + dot(p2, p2)/(2*m2)\n"
    "  + dot(p3, p3)/(2*m3) + dot(p4, p4)/(2*m4) + dot(p5, p5)/(2*m5)\n"
    "  - G*m1*(m0/norm(q1 - q0))\n"
    "  - G*m2*(m0/norm(q2 - q0) + m1/norm(q2 - q1))\n"
    "  - G*m3*(m0/norm(q3 - q0) + m1/norm(q3 - q1) + m2/norm(q3 - q2))\n"
    "  - G*m4*(m0/norm(q4 - q0) + m1/norm(q4 - q1) + m2/norm(q4 - q2) + m3/norm(q4 - q3))\n"
    "  - G*m5*(m0/norm(q5 - q0) + m1/norm(q5 - q1) + m2/norm(q5 - q2) + m3/norm(q5 - q3) + m4/norm(q5 - q4))\n";

static const char heyoka[] =
    "import sys, time, numpy as np, heyoka as hy\n"
    "if sys.argv[1] == 'henon':\n"
    "    x, y, px, py = hy.make_vars('x', 'y', 'px', 'py')\n"
    "    f, T, outputs, n = [(x, px), (y, py), (px, -x - 2*x*y), (py, -y - x*x + y*y)], 100., 10, 32\n"
    "    r = np.random.default_rng(1)\n"
    "    S = np.array([0*r.uniform(size=n), r.uniform(-.1, .1, n), r.uniform(.25, .4, n), r.uniform(0, .15, n)])\n"
    "    H = lambda s: (s[2]**2 + s[3]**2 + s[0]**2 + s[1]**2)/2 + s[0]**2*s[1] - s[1]**3/3\n"
    "    make = lambda tol: hy.taylor_adaptive_batch(f, S[:, :4].copy(), tol=tol)\n"
    "    starts, reset = [S[:, k:k+4] for k in range(0, n, 4)], lambda ta: ta.set_time([0.]*4)\n"
    "else:\n"
    "    G, m = 2.95912208286e-4, np.array([1.00000597682, 0.000954786104043, 0.000285583733151, 4.37273164546e-5,\n"
    "                                       5.17759138449e-5, 1/1.3e8])\n"
    "    T, outputs, n = 1e6, 50, 1\n"
    "    ic = np.array([\n"
    "                   0, 0, 0, 0, 0, 0,\n"
    "                   -3.5023653, -3.8169847, -1.5507963, 0.00565429, -0.00412490, -0.00190589,\n"
    "                   9.0755314, -3.0458353, -1.6483708, 0.00168318, 0.00483525, 0.00192462,\n"
    "                   8.3101420, -16.2901086, -7.2521278, 0.00354178, 0.00137102, 0.00055029,\n"
    "                   11.4707666, -25.7294829, -10.8169456, 0.00288930, 0.00114527, 0.00039677,\n"
    "                   -15.5387357, -25.2225594, -3.1902382, 0.00276725, -0.00170702, -0.00136504\n"
    "                  ])\n"
    "    def H(s):\n"
    "        s = s.reshape(6, 6); e = sum(m[i]*s[i, 3:] @ s[i, 3:]/2 for i in range(6))\n"
    "        return e - sum(G*m[i]*m[j]/np.linalg.norm(s[i, :3] - s[j, :3]) for i in range(6) for j in range(i))\n"
    "    make = lambda tol: hy.taylor_adaptive(hy.model.nbody(6, masses=m, Gconst=G), ic.copy(), tol=tol)\n"
    "    def reset(ta): ta.time = 0.\n"
    "    starts = [ic]\n"
    "for tol in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 2.3e-16):\n"
    "    ta, best, err = make(tol), 1e9, 0\n"
    "    for s in starts:\n"
    "        reset(ta); ta.state[:] = s; h0 = H(ta.state.copy())\n"
    "        for k in range(outputs):\n"
    "            ta.propagate_until(T*(k + 1)/outputs); err = max(err, np.max(abs(H(ta.state)/h0 - 1)))\n"
    "    for i in range(20):\n"
    "        reset(ta); ta.state[:] = starts[i % len(starts)]\n"
    "        t = time.perf_counter(); ta.propagate_until(T); best = min(best, time.perf_counter() - t)\n"
    "    print('point', err, best/(4 if n > 1 else 1))\n";

/* One method with one step, or heyoka with one tolerance. */
struct point {
    double error, seconds;
};

struct measured {
    const char *name;
    struct point point[POINTS];
    size_t count;
};

struct problem {
    const char *name, *title, *text, *unit;
    double until, scale; /* printed: seconds times scale */
    uint64_t paths;      /* 0: many, by lanes */
    unsigned outputs;
    double (*energy)(const double *state, size_t lanes, size_t lane);
    double step[3][POINTS]; /* of the methods */
    double recorded[LAST - FIRST + 1]; /* of heyoka 7.13.2 */
};

static double energy_henon(const double *s, size_t n, size_t l) {
    double x = s[l], y = s[n + l], px = s[2 * n + l], py = s[3 * n + l];
    return (px * px + py * py + x * x + y * y) / 2 + x * x * y - y * y * y / 3;
}

static double energy_planets(const double *s, size_t n, size_t l) {
    double sum = 0;
    for (size_t i = 0; i < BODIES; i++) {
        for (size_t d = 0; d < 3; d++) {
            double p = s[(3 * (BODIES + i) + d) * n + l];
            sum += p * p / (2 * mass[i]);
        }
        for (size_t j = 0; j < i; j++) {
            double square = 0;
            for (size_t d = 0; d < 3; d++) {
                double r = s[(3 * i + d) * n + l] - s[(3 * j + d) * n + l];
                square += r * r;
            }
            sum -= gravity * mass[i] * mass[j] / sqrt(square);
        }
    }
    return sum;
}

static const struct problem problems[] = {
    {"henon", "Henon-Heiles until t = 100", henon_heiles, "us", 100, 1e6, 0, 10, energy_henon,
     {{1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.06},
      {1.25, 1, 0.8, 0.6, 0.45, 0.3, 0.2, 0.14, 0.1},
      {1.25, 1, 0.8, 0.6, 0.45, 0.35, 0.28, 0.2, 0.15}},
     {20, 20, 20, 20, 21, 21, 21, 22, 22}},
    {"planets", "outer solar system, 10^6 days", outer_planets, "ms", 1e6, 1e3, 1, 50, energy_planets,
     {{700, 500, 350, 200, 130, 90, 60, 40},
      {1000, 700, 500, 350, 250, 180, 120, 80, 55},
      {1000, 750, 600, 450, 350, 270, 200, 150, 110}},
     {7.3, 8.7, 11, 13, 15, 16, 22, 26, 30}},
};
static const char *const methods[] = {"RKN4", "RKN6", "RKN8"};

/* ---- ours ---- */

static void set_step(struct bench_kernel *k, const struct problem *p, double dt) {
    k->steps = p->outputs * (unsigned long long)ceil(p->until / dt / p->outputs);
    k->block.block.dt = p->until / (double)k->steps;
}

static double error_of(struct bench_kernel *k, const struct problem *p) {
    struct lgv_block *b = &k->block.block;
    size_t lanes = k->kernel.entry->lanes;
    double first[LGV_MOST_LANES], most = 0;
    b->step = 0;
    k->kernel.entry->start(b);
    for (size_t l = 0; l < lanes; l++) first[l] = p->energy(b->state, lanes, l);
    for (unsigned i = 0; i < p->outputs; i++) {
        k->kernel.entry->advance(b, k->steps / p->outputs);
        for (size_t l = 0; l < lanes; l++) most = fmax(most, fabs(p->energy(b->state, lanes, l) / first[l] - 1));
    }
    return most;
}

static void measure_ours(struct bench_kernel *k, const struct problem *p, const double *step, struct measured *m) {
    double used = p->paths ? (double)p->paths / k->kernel.entry->lanes : 1; /* part of the lanes */
    for (m->count = 0; m->count < POINTS && step[m->count] > 0; m->count++) {
        struct point *x = &m->point[m->count];
        set_step(k, p, step[m->count]);
        if (!(x->seconds > 0)) x->error = error_of(k, p);
        const double steps = (double)k->steps;
        if (k->steps > TIMED) k->steps = TIMED; /* short pieces: other work on the machine disturbs fewer of them */
        struct contender c = {m->name, bench_kernel_run, k, 0};
        bench_race(&c, 1, 15);
        double seconds = c.best * steps / used;
        if (!(x->seconds > 0) || seconds < x->seconds) x->seconds = seconds;
    }
}

/* ---- heyoka ---- */

static void measure_heyoka(struct bench *b, const struct problem *p, struct measured *m) {
    struct lgv_text printed = {0};
    if (bench_python(b->folder, "precision.py", p->name, &printed)) {
        size_t n = 0;
        for (char *at = printed.data; n < POINTS && (at = strstr(at, "point ")); n++) {
            struct point x = {.error = strtod(at + 6, &at), .seconds = strtod(at, &at)};
            if (n >= m->count || x.seconds < m->point[n].seconds) m->point[n] = x;
        }
        m->count = n;
    }
    lgv_text_free(&printed);
}

/* ---- the table ---- */

/* The least time with which the error is reached, between two points along a line of logarithms; 0: it is not. */
static double seconds_at(const struct measured *m, double error) {
    double best = 0;
    for (size_t i = 0; i < m->count; i++) {
        const struct point *a = &m->point[i];
        if (a->error <= error && (!(best > 0) || a->seconds < best)) best = a->seconds;
        for (size_t j = 0; a->error <= error && j < m->count; j++) {
            const struct point *c = &m->point[j];
            if (!(c->error > error && c->error < 1)) continue;
            double part = log(error / a->error) / log(c->error / a->error);
            best = fmin(best, a->seconds * pow(c->seconds / a->seconds, part));
        }
    }
    return best;
}

static void print_problem(struct bench *b, const struct problem *p, struct measured *m) {
    const size_t peer = sizeof methods / sizeof *methods;
    printf("  %-32s %8s %8s %8s %8s   %s\n", p->title, methods[0], methods[1], methods[2], "heyoka",
           m[peer].count ? "" : "not installed: recorded with heyoka 7.13.2");
    for (int e = FIRST; e <= LAST; e++) {
        double best = 0, other = 0;
        char title[32];
        snprintf(title, sizeof title, "1e-%d, %s a path", e, p->unit);
        printf("    %-30s", title);
        for (size_t i = 0; i <= peer; i++) {
            double seconds = seconds_at(&m[i], pow(10, -e));
            if (i < peer && seconds > 0 && (!(best > 0) || seconds < best)) best = seconds;
            if (i == peer) other = seconds = m[i].count ? seconds : p->recorded[e - FIRST] / p->scale;
            if (seconds > 0)
                printf(" %8.2f", seconds * p->scale);
            else
                printf(" %8s", "-");
        }
        bool met = best > 0 && best < other;
        printf("   %s\n", e > GOAL ? "" : met ? "met" : "MISSED");
        b->missed += e <= GOAL && !met;
        bench_json_row(b, "precision", json_pack("{s:s,s:f,s:f,s:f}", "problem", p->name, "error", pow(10, -e),
                                                 "seconds", best, "heyoka_seconds", other));
    }
    double floor = 1;
    for (size_t i = 0; i < peer; i++)
        for (size_t j = 0; j < m[i].count; j++) floor = fmin(floor, m[i].point[j].error);
    printf("    %-30s %8.1e\n", "least error", floor);
}

void bench_precision(struct bench *b) {
    enum { METHODS = sizeof methods / sizeof *methods };
    printf("\nWork against precision: time of a path at an error of H; goal: faster than heyoka down to 1e-%d\n", GOAL);
    if (!bench_write(b->folder, "precision.py", heyoka)) return;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        const struct problem *p = &problems[i];
        struct bench_kernel k[METHODS] = {0};
        struct measured m[METHODS + 1] = {{.name = methods[0]}, {.name = methods[1]}, {.name = methods[2]}};
        for (int j = 0; j < METHODS; j++)
            bench_kernel_open_for(p->paths, &k[j], p->text, NULL, methods[j], NULL, 1, 1);
        for (int r = 0; r < (b->quick ? 1 : 2); r++) {
            for (int j = 0; j < METHODS; j++)
                if (k[j].ready) measure_ours(&k[j], p, p->step[j], &m[j]);
            measure_heyoka(b, p, &m[METHODS]);
        }
        print_problem(b, p, m);
        for (int j = 0; j < METHODS; j++) bench_kernel_close(&k[j]);
    }
}
