/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Friction and bath: BAOAB on a quartic oscillator and on the phi^4 ring of ten sites beside hand-written floors
 * (floor_langevin.c), with the same comparison of paths as in methods.c. */
#include "bench.h"
#include "floor.h"

#include <math.h>
#include <stdio.h>

#define DT 0.01
#define STEPS 2000
#define RATIO 1.25 /* goal: ratio to the floor, for clang */
#define CHECK_STEPS 200
#define CHECK_DIFFERENCE 1e-9
#define MOST 20 /* numbers of a state */

#define BATH "langevin: { friction: 1, temperature: 1 }\n"

static const struct {
    const char *title, *text;
    int dof;
} models[] = {
    {"oscillator", "coordinates: { q: 0 }\nmomenta: { p: 1 }\npotential: q^2/2 + q^4/4\n" BATH, 1},
    {"ring of 10", "coordinates: { 'x[10]': 0 }\nmomenta: { p: 1 }\n"
                   "potential: sum(i=1..10, (x[wrap(i+1)] - x[i])^2/2 + x[i]^4/4)\n" BATH, 10},
};

static double run_floor(void *dof) {
    double state[MOST][FLOOR_PATHS];
    return floor_baoab_run(*(const int *)dof, STEPS, DT, 1, state) / (1.0 * FLOOR_PATHS * STEPS);
}

/* The largest difference between kernel and floor in all components; infinite when one is not finite. */
static double difference(struct bench_kernel *k, int dof) {
    struct lgv_block *b = &k->block.block;
    size_t lanes = k->kernel.entry->lanes;
    double state[MOST][FLOOR_PATHS], most = 0;
    floor_baoab_run(dof, CHECK_STEPS, DT, 1, state);
    for (size_t first = 0; first < FLOOR_PATHS; first += lanes) {
        for (size_t l = 0; l < lanes; l++) k->block.path[l] = first + l;
        b->step = 0;
        k->kernel.entry->start(b);
        k->kernel.entry->advance(b, CHECK_STEPS);
        for (size_t i = 0; i < 2 * (size_t)dof; i++)
            for (size_t l = 0; l < lanes && first + l < FLOOR_PATHS; l++) {
                double d = fabs(b->state[i * lanes + l] - state[i][first + l]);
                most = isfinite(d) ? fmax(most, d) : INFINITY;
            }
    }
    for (size_t l = 0; l < lanes; l++) k->block.path[l] = l;
    return most;
}

static void time_one(struct bench *b, struct bench_kernel k[2], size_t m, json_t *row) {
    bool floors = floor_available();
    struct contender c[] = {{"floor", floors ? run_floor : NULL, (void *)&models[m].dof, 0},
                            {"clang", bench_kernel_run, &k[0], 0},
                            {"gcc", bench_kernel_run, &k[1], 0}};
    bench_race(c, 3, b->quick ? 15 : 60);
    for (int i = 0; i < 3; i++) {
        printf(" %8.2f", 1e9 * c[i].best);
        json_object_set_new(row, c[i].name, c[i].best > 0 ? json_real(1e9 * c[i].best) : json_null());
    }
    if (!floors || !(c[1].best > 0)) return;
    double ratio = c[1].best / c[0].best;
    printf(" %6.2f %5.2f %-6s", ratio, RATIO, ratio <= RATIO ? "met" : "MISSED");
    b->missed += ratio > RATIO;
    json_object_set_new(row, "clang_ratio", json_real(ratio));
    json_object_set_new(row, "clang_goal_met", json_boolean(ratio <= RATIO));
}

static void check(struct bench *b, struct bench_kernel *k, size_t m, json_t *row) {
    if (!k->ready || !floor_available()) return;
    double d = difference(k, models[m].dof);
    printf(" %9.1e", d);
    json_object_set_new(row, "difference", isfinite(d) ? json_real(d) : json_null());
    if (d < CHECK_DIFFERENCE) return;
    printf("  THE FLOOR IS NOT THIS METHOD: its paths end elsewhere");
    b->wrong++;
}

void bench_langevin(struct bench *b) {
    if (b->check)
        printf("\nBAOAB and its floors: largest difference after %d steps of %g\n\n", CHECK_STEPS, DT);
    else
        printf("\nFriction and bath: BAOAB, ns per path-step, step %g; ratio of clang to the floor; difference after "
               "%d steps\n\n  %-14s %8s %8s %8s %6s %5s %-6s %9s\n",
               DT, CHECK_STEPS, "", "floor", "clang", "gcc", "ratio", "goal", "", "difference");
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct bench_kernel k[2] = {0};
        json_t *row = json_pack("{s:s}", "model", models[m].title);
        if (b->clang) bench_kernel_open(&k[0], models[m].text, NULL, "BAOAB", "clang", DT, STEPS);
        if (b->gcc) bench_kernel_open(&k[1], models[m].text, NULL, "BAOAB", "gcc", DT, STEPS);
        printf("  %-14s", models[m].title);
        if (!b->check) time_one(b, k, m, row);
        for (int i = 0; i < 2; i++) check(b, &k[i], m, row);
        printf("\n");
        for (int i = 0; i < 2; i++) bench_kernel_close(&k[i]);
        bench_json_row(b, "langevin", row);
    }
}
