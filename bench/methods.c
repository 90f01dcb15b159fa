/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nanoseconds per path-step of every named method on Kubo and synchrotron, beside its hand-written floor
 * (floor_simd.c, floor_methods.c) and Stoermer-Verlet of the same run.  Before it is timed, a floor must end where
 * the kernel does: the same paths on the same noise, so the states differ by round-off only. */
#include "bench.h"
#include "floor.h"

#include <math.h>
#include <stdio.h>

#define DT 0.01
#define STEPS 2000
#define EXPLICIT_RATIO 1.25 /* goals: ratio to the floor */
#define IMPLICIT_RATIO 1.5
#define CHECK_STEPS 200
#define CHECK_DIFFERENCE 1e-9

static const struct {
    const char *title, *json;
    enum floor_model floor;
} models[] = {{"Kubo", "kubo", FLOOR_KUBO}, {"synchrotron", "synchrotron", FLOOR_SYNCHROTRON}};

/* Does the method fit the model?  (bench_kernel_open would complain.) */
static bool fits(const char *text, const struct lgv_method *method) {
    struct lgv_model *m = NULL;
    struct lgv_structure s;
    char why[400];
    bool ok = lgv_model_parse(text, "bench", &m, NULL) == LGV_OK && lgv_model_structure(m, &s, NULL) == LGV_OK &&
              !lgv_method_refusal(method, m, &s, why, sizeof why);
    lgv_model_free(m);
    return ok;
}

static double run_floor(void *floor_method) {
    double q[FLOOR_PATHS], p[FLOOR_PATHS];
    return floor_method_run(floor_method, STEPS, DT, 1, q, p) / (1.0 * FLOOR_PATHS * STEPS);
}

/* The largest difference between kernel and floor in q and p; infinite when either is not finite. */
static double difference(struct bench_kernel *k, const struct floor_method *f) {
    struct lgv_block *b = &k->block.block;
    size_t lanes = k->kernel.entry->lanes;
    double q[FLOOR_PATHS], p[FLOOR_PATHS], most = 0;
    floor_method_run(f, CHECK_STEPS, DT, 1, q, p);
    for (size_t first = 0; first < FLOOR_PATHS; first += lanes) {
        for (size_t l = 0; l < lanes; l++) k->block.path[l] = first + l;
        b->step = 0;
        k->kernel.entry->start(b);
        k->kernel.entry->advance(b, CHECK_STEPS);
        for (size_t l = 0; l < lanes && first + l < FLOOR_PATHS; l++) {
            double d = fmax(fabs(b->state[l] - q[first + l]), fabs(b->state[lanes + l] - p[first + l]));
            most = isfinite(b->state[l] + b->state[lanes + l] + d) ? fmax(most, d) : INFINITY;
        }
    }
    for (size_t l = 0; l < lanes; l++) k->block.path[l] = l;
    return most;
}

static void json_number(json_t *row, const char *model, const char *what, double x) {
    char key[64];
    snprintf(key, sizeof key, "%s%s", model, what);
    json_object_set_new(row, key, isfinite(x) ? json_real(x) : json_null());
}

/* Prints the goal and its verdict. */
static void judge(struct bench *b, const char *model, const struct floor_method *f, double ratio, json_t *row) {
    double goal = floor_is_explicit(f) ? EXPLICIT_RATIO : IMPLICIT_RATIO;
    bool met = ratio <= goal;
    char key[64];
    printf(" %5.2f %-6s", goal, met ? "met" : "MISSED");
    snprintf(key, sizeof key, "%s_goal_met", model);
    json_object_set_new(row, key, json_boolean(met));
    json_number(row, model, "_goal", goal);
    b->missed += !met;
}

/* Kernel, floor and Verlet in turn; one line of the table. */
static void time_one(struct bench *b, int m, struct bench_kernel *k, struct bench_kernel *verlet,
                     const struct floor_method *f, json_t *row) {
    struct contender c[] = {{"lgv", bench_kernel_run, k, 0},
                            {"floor", f ? run_floor : NULL, (void *)f, 0},
                            {"verlet", bench_kernel_run, verlet, 0}};
    bench_race(c, 3, b->quick ? 10 : 40);
    json_number(row, models[m].json, "", 1e9 * c[0].best);
    printf(" %8.2f %8.2f", 1e9 * c[0].best, c[0].best / c[2].best);
    if (!f) return;
    json_number(row, models[m].json, "_floor", 1e9 * c[1].best);
    json_number(row, models[m].json, "_ratio", c[0].best / c[1].best);
    printf(" %8.2f %6.2f", 1e9 * c[1].best, c[0].best / c[1].best);
    judge(b, models[m].json, f, c[0].best / c[1].best, row);
}

static void one_method(struct bench *b, int m, const char *method, struct bench_kernel *verlet, json_t *row) {
    const struct floor_method *f = floor_find(method, models[m].floor);
    struct bench_kernel k = {0};
    printf("  %-18s %-12s", method, models[m].title);
    if (bench_kernel_open(&k, models[m].floor == FLOOR_KUBO ? bench_kubo : bench_synchrotron, NULL, method,
                          b->clang ? "clang" : NULL, DT, STEPS)) {
        double d = f ? difference(&k, f) : 0;
        if (!b->check) time_one(b, m, &k, verlet, f, row);
        if (f) printf(" %9.1e", d);
        if (!f && floor_available()) printf("  no floor");
        if (!(d < CHECK_DIFFERENCE)) {
            printf("  THE FLOOR IS NOT THIS METHOD: its paths end elsewhere");
            b->wrong++;
        }
        if (f) json_number(row, models[m].json, "_difference", d);
        printf("\n");
    }
    bench_kernel_close(&k);
}

/* Order 3/2 for noise h(q,p), beside Gauss with order 1. */
#define ANY_NOISE_RATIO 3.5

static void any_noise(struct bench *b) {
    static const char text[] = "coordinates: {q: 0.5}\nmomenta: {p: 0.8}\nhamiltonian: p^2/2 - cos(q)\n"
                               "noise: cos(q)*cos(p)\n";
    static const char *const name[] = {"P2N2Q4Gau", "P2N2Q4Gau-Magnus", "P2N2Q4Gau-3flows"};
    struct bench_kernel k[3] = {0};
    struct contender c[3];
    bool ready = true;
    for (int i = 0; i < 3; i++) {
        ready &= bench_kernel_open(&k[i], text, NULL, name[i], b->clang ? "clang" : NULL, DT, STEPS);
        c[i] = (struct contender){name[i], bench_kernel_run, &k[i], 0};
    }
    if (ready) bench_race(c, 3, b->quick ? 10 : 40);
    for (int i = 0; ready && i < 3; i++) {
        double ratio = c[i].best / c[0].best;
        bool met = ratio <= ANY_NOISE_RATIO;
        printf("  %-18s %-15s %8.2f, / %s %5.2f", name[i], "h = cos q cos p", 1e9 * c[i].best, name[0], ratio);
        printf(i ? " goal %g %s\n" : "\n", ANY_NOISE_RATIO, met ? "met" : "MISSED");
        b->missed += !met;
        bench_json_row(b, "any_noise", json_pack("{s:s, s:f, s:f}", "method", name[i], "ns", 1e9 * c[i].best, "ratio",
                                                 ratio));
    }
    for (int i = 0; i < 3; i++) bench_kernel_close(&k[i]);
}

void bench_methods(struct bench *b) {
    const struct lgv_method *method;
    struct bench_kernel verlet[2] = {0};
    const char *text[] = {bench_kubo, bench_synchrotron};
    if (b->check)
        printf("\nEvery method and its floor: largest difference after %d steps of %g\n\n", CHECK_STEPS, DT);
    else
        printf("\nEvery method, ns per path-step, step %g; difference to the floor after %d steps\n\n  %-18s %-12s %8s "
               "%8s %8s %6s %5s %-6s %9s\n",
               DT, CHECK_STEPS, "method", "model", "lgv", "/ Verlet", "floor", "ratio", "goal", "", "difference");
    for (int m = 0; m < 2 && !b->check; m++)
        bench_kernel_open(&verlet[m], text[m], NULL, "P2N2Q2Lob", b->clang ? "clang" : NULL, DT, STEPS);
    for (size_t i = 0; (method = lgv_method_at(i)); i++) {
        json_t *row = json_pack("{s:s, s:n, s:n}", "method", method->name, "kubo", "synchrotron");
        bool fit = false;
        for (int m = 0; m < 2; m++) {
            if (!fits(text[m], method)) continue; /* on Kubo methods for noise h(q), on both RK4 */
            one_method(b, m, method->name, &verlet[m], row);
            fit = true;
        }
        if (fit)
            bench_json_row(b, "methods", row);
        else
            json_decref(row);
    }
    for (int m = 0; m < 2; m++) bench_kernel_close(&verlet[m]);
    if (!b->check) any_noise(b);
}
