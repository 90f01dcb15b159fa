/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Constrained models: RATTLE on the spherical pendulum beside its hand-written floor (floor_rattle.c), with the same
 * comparison of paths as in methods.c, and the cost of RATTLE on pendulum chains against their length. */
#include "bench.h"
#include "floor.h"

#include <math.h>
#include <stdio.h>

#define DT 0.01
#define STEPS 2000
#define CLANG_RATIO 1.5 /* goals: ratio to the floor */
#define GCC_RATIO 2.0
#define CHECK_STEPS 200
#define CHECK_DIFFERENCE 1e-9
#define TEXT 1024

#define SPHERE                                                                                                         \
    "name: sphere\n"                                                                                                   \
    "parameters: { beta: 0.1 }\n"                                                                                      \
    "coordinates: { x: 1, y: 0, z: 0 }\n"                                                                              \
    "momenta: { px: 0, py: 1, pz: 0.4 }\n"                                                                             \
    "hamiltonian: (px^2 + py^2 + pz^2)/2 + z\n"                                                                        \
    "constraints: [ x^2 + y^2 + z^2 - 1 ]\n"

static const struct {
    const char *title, *text;
    enum floor_sphere floor, textbook;
} models[] = {
    {"one noise", SPHERE "noise: beta*z\n", SPHERE_ONE, SPHERE_ONE_TEXTBOOK},
    {"three noises", SPHERE "noise: [ beta*sin(x), beta*sin(y), beta*sin(z) ]\n", SPHERE_THREE, SPHERE_THREE_TEXTBOOK},
};

static double run_floor(void *which) {
    double state[6][FLOOR_PATHS];
    return floor_rattle_run(*(const enum floor_sphere *)which, STEPS, DT, 1, state) / (1.0 * FLOOR_PATHS * STEPS);
}

/* The largest difference between kernel and floor in all components; infinite when one is not finite. */
static double difference(struct bench_kernel *k, enum floor_sphere which) {
    struct lgv_block *b = &k->block.block;
    size_t lanes = k->kernel.entry->lanes;
    double state[6][FLOOR_PATHS], most = 0;
    floor_rattle_run(which, CHECK_STEPS, DT, 1, state);
    for (size_t first = 0; first < FLOOR_PATHS; first += lanes) {
        for (size_t l = 0; l < lanes; l++) k->block.path[l] = first + l;
        b->step = 0;
        k->kernel.entry->start(b);
        k->kernel.entry->advance(b, CHECK_STEPS);
        for (size_t i = 0; i < 6; i++)
            for (size_t l = 0; l < lanes && first + l < FLOOR_PATHS; l++) {
                double d = fabs(b->state[i * lanes + l] - state[i][first + l]);
                most = isfinite(d) ? fmax(most, d) : INFINITY;
            }
    }
    for (size_t l = 0; l < lanes; l++) k->block.path[l] = l;
    return most;
}

static void check(struct bench *b, struct bench_kernel *k, size_t m, json_t *row) {
    if (!k->ready || !floor_available()) return;
    double d = fmax(difference(k, models[m].floor), difference(k, models[m].textbook));
    printf(" %9.1e", d);
    json_object_set_new(row, "difference", isfinite(d) ? json_real(d) : json_null());
    if (d < CHECK_DIFFERENCE) return;
    printf("  THE FLOOR IS NOT THIS METHOD: its paths end elsewhere");
    b->wrong++;
}

static void judge(struct bench *b, const char *compiler, double ratio, double goal, json_t *row) {
    char key[32];
    bool met = ratio <= goal;
    printf("  %5.2f %4.1f %-6s", ratio, goal, met ? "met" : "MISSED");
    b->missed += !met;
    snprintf(key, sizeof key, "%s_ratio", compiler);
    json_object_set_new(row, key, json_real(ratio));
    snprintf(key, sizeof key, "%s_goal_met", compiler);
    json_object_set_new(row, key, json_boolean(met));
}

static void time_sphere(struct bench *b, struct bench_kernel k[2], size_t m, json_t *row) {
    bool floors = floor_available();
    struct contender c[] = {{"floor", floors ? run_floor : NULL, (void *)&models[m].floor, 0},
                            {"textbook", floors ? run_floor : NULL, (void *)&models[m].textbook, 0},
                            {"clang", bench_kernel_run, &k[0], 0},
                            {"gcc", bench_kernel_run, &k[1], 0}};
    bench_race(c, 4, b->quick ? 15 : 60);
    for (int i = 0; i < 4; i++) {
        bool known = c[i].best > 0;
        printf(" %8.2f", 1e9 * c[i].best);
        if (i >= 2 && known && floors)
            judge(b, c[i].name, c[i].best / c[0].best, i == 2 ? CLANG_RATIO : GCC_RATIO, row);
        json_object_set_new(row, c[i].name, known ? json_real(1e9 * c[i].best) : json_null());
    }
}

static void bench_sphere(struct bench *b) {
    if (b->check)
        printf("\nRATTLE on the spherical pendulum and its floors: largest difference after %d steps of %g\n\n",
               CHECK_STEPS, DT);
    else
        printf("\nConstrained: RATTLE on the spherical pendulum, ns per path-step, step %g; ratio to the floor; "
               "difference after %d steps\n\n  %-14s %8s %8s %8s  %5s %4s %-6s %8s  %5s %4s %-6s %9s\n",
               DT, CHECK_STEPS, "", "floor", "textbook", "clang", "ratio", "goal", "", "gcc", "ratio", "goal", "",
               "difference");
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct bench_kernel k[2] = {0};
        json_t *row = json_pack("{s:s}", "model", models[m].title);
        if (b->clang) bench_kernel_open(&k[0], models[m].text, NULL, "RATTLE", "clang", DT, STEPS);
        if (b->gcc) bench_kernel_open(&k[1], models[m].text, NULL, "RATTLE", "gcc", DT, STEPS);
        printf("  %-14s", models[m].title);
        if (!b->check) time_sphere(b, k, m, row);
        for (int i = 0; i < 2; i++) check(b, &k[i], m, row);
        printf("\n");
        for (int i = 0; i < 2; i++) bench_kernel_close(&k[i]);
        bench_json_row(b, "rattle", row);
    }
}

/* ---- chains ---- */

static const char *chain(char *text, size_t size, int n) {
    snprintf(text, size,
             "name: chain\n"
             "parameters: { N: %d }\n"
             "coordinates: { 'x[N] in R2': ['i', 0] }\n"
             "momenta: { 'p[N] in R2': 0 }\n"
             "kinetic: { mass: 1 }\n"
             "potential: sum(i=1..N, x[i].y)\n"
             "constraints:\n"
             "  - dot(x[1], x[1]) - 1\n"
             "  - each(k=2..N, dot(x[k]-x[k-1], x[k]-x[k-1]) - 1)\n",
             n);
    return text;
}

static void bench_chain(struct bench *b) {
    static const int length[] = {10, 30, 100, 300, 1000};
    double first = 0;
    printf("\nConstrained: RATTLE on a planar pendulum chain of N masses, one core, step %g\n\n"
           "  %6s %6s %12s %14s %8s %8s %12s %12s\n",
           DT, "N", "lanes", "us per step", "ns/constraint", "growth", "Newton", "build s", "compiler s");
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        struct bench_kernel k;
        char text[TEXT];
        int n = length[i];
        printf("  %6d", n);
        if (!bench_kernel_open(&k, chain(text, sizeof text, n), NULL, "RATTLE", NULL, DT, n > 30 ? 20 : 200)) continue;
        struct contender c = {"chain", bench_kernel_run, &k, 0};
        bench_race(&c, 1, b->quick ? 5 : 30);
        if (i == 0) first = c.best;
        double growth = c.best / first, newton = (double)k.block.block.iterations / (double)k.steps;
        printf(" %6u %12.3f %14.1f %8.1f %8.2f %12.2f %12.2f\n", k.kernel.entry->lanes, 1e6 * c.best, 1e9 * c.best / n,
               growth, newton, k.build_seconds, k.kernel.compile_seconds);
        bench_json_row(b, "chain",
                       json_pack("{s:i,s:i,s:f,s:f,s:f,s:f}", "n", n, "lanes", (int)k.kernel.entry->lanes,
                                 "us_per_step", 1e6 * c.best, "growth", growth, "build_s", k.build_seconds,
                                 "compiler_s", k.kernel.compile_seconds));
        bench_kernel_close(&k);
    }
}

void bench_constrained(struct bench *b) {
    bench_sphere(b);
    if (!b->check) bench_chain(b);
}
