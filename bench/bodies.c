/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rigid bodies: a free body with and without noise, by the free steps A, R, X and T, beside the hand-written floor of
 * BRB (floor_body.c), whose paths are compared with those of the kernels. */
#include "bench.h"
#include "floor.h"

#include <math.h>
#include <stdio.h>

#define DT 0.01
#define STEPS 2000
#define CHECK_STEPS 200
#define CHECK_DIFFERENCE 1e-9
#define BODY                                                                                                           \
    "name: body\ncoordinates: { R in SO3: [0, 0, 0] }\nmomenta: { m: [0.3, 1, 0.5] }\n"                                \
    "kinetic: { inertia: [1, 2, 2.5] }\npotential: 0\n"

static const struct {
    const char *title, *text;
    bool noise;
    double goal; /* ns per step of a body, for BRB or BTB */
} models[] = {{"without noise", BODY, false, 35}, {"one noise", BODY "noise: 0.1*R.zz\n", true, 100}};

static double run_floor(void *noise) {
    double state[7][FLOOR_PATHS];
    return floor_body_run(*(const bool *)noise, STEPS, DT, 1, state) / (1.0 * FLOOR_PATHS * STEPS);
}

/* The largest difference between kernel and floor in all components; infinite when one is not finite. */
static double difference(struct bench_kernel *k, bool noise) {
    struct lgv_block *b = &k->block.block;
    size_t lanes = k->kernel.entry->lanes;
    double state[7][FLOOR_PATHS], most = 0;
    floor_body_run(noise, CHECK_STEPS, DT, 1, state);
    for (size_t first = 0; first < FLOOR_PATHS; first += lanes) {
        for (size_t l = 0; l < lanes; l++) k->block.path[l] = first + l;
        b->step = 0;
        k->kernel.entry->start(b);
        k->kernel.entry->advance(b, CHECK_STEPS);
        for (size_t i = 0; i < 7; i++)
            for (size_t l = 0; l < lanes && first + l < FLOOR_PATHS; l++) {
                double d = fabs(b->state[i * lanes + l] - state[i][first + l]);
                most = isfinite(d) ? fmax(most, d) : INFINITY;
            }
    }
    for (size_t l = 0; l < lanes; l++) k->block.path[l] = l;
    return most;
}

static void check(struct bench *b, struct bench_kernel *k, bool noise, json_t *row) {
    if (!k->ready || !floor_available()) return;
    double d = difference(k, noise);
    printf(" %9.1e", d);
    json_object_set_new(row, "difference", isfinite(d) ? json_real(d) : json_null());
    if (d < CHECK_DIFFERENCE) return;
    printf("  THE FLOOR IS NOT THIS METHOD: its paths end elsewhere");
    b->wrong++;
}

static void time_body(struct bench *b, struct bench_kernel *k, size_t m, json_t *row) {
    struct contender c[] = {{"floor", floor_available() ? run_floor : NULL, (void *)&models[m].noise, 0},
                            {"BRB", bench_kernel_run, &k[0], 0},
                            {"BTB", bench_kernel_run, &k[1], 0},
                            {"BXB", bench_kernel_run, &k[2], 0},
                            {"BAB", bench_kernel_run, &k[3], 0}};
    bench_race(c, 5, b->quick ? 15 : 60);
    for (int i = 0; i < 5; i++) {
        printf(" %8.2f", 1e9 * c[i].best);
        json_object_set_new(row, c[i].name, c[i].best > 0 ? json_real(1e9 * c[i].best) : json_null());
    }
    bool met = 1e9 * fmin(c[1].best, c[2].best) <= models[m].goal;
    printf(" %6.0f %-6s", models[m].goal, met ? "met" : "MISSED");
    b->missed += !met;
    json_object_set_new(row, "goal_met", json_boolean(met));
}

void bench_bodies(struct bench *b) {
    static const char *const method[] = {"BRB", "BTB", "BXB", "BAB"};
    if (b->check)
        printf("\nA rigid body, BRB, and its floor: largest difference after %d steps of %g\n\n", CHECK_STEPS, DT);
    else
        printf("\nRigid bodies: one free body, ns per step, step %g; goal for BRB or BTB; difference of BRB and its "
               "floor after %d steps\n\n  %-14s %8s %8s %8s %8s %8s %6s %-6s %9s\n",
               DT, CHECK_STEPS, "", "floor", method[0], method[1], method[2], method[3], "goal", "", "difference");
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        struct bench_kernel k[4] = {0};
        json_t *row = json_pack("{s:s}", "model", models[m].title);
        for (int i = 0; i < (b->check ? 1 : 4); i++)
            bench_kernel_open(&k[i], models[m].text, NULL, method[i], NULL, DT, STEPS);
        printf("  %-14s", models[m].title);
        if (!b->check) time_body(b, k, m, row);
        check(b, &k[0], models[m].noise, row);
        printf("\n");
        for (int i = 0; i < 4; i++) bench_kernel_close(&k[i]);
        bench_json_row(b, "bodies", row);
    }
}
