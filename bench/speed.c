/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The flagship kernels, Kubo and synchrotron with Verlet and midpoint, in nanoseconds per path-step beside
 *   floor      hand-written AVX2 intrinsics for exactly this case (floor_simd.c),
 *   plain      hand-written too, but with the textbook Newton iteration: the synchrotron midpoint only,
 *   callbacks  the same methods with the model as C functions on batches (public API),
 *   scalar     the straightforward program, one path at a time through function pointers (scalar_callbacks.c),
 * and normals per second.  All in turn within one run. */
#include "bench.h"
#include "floor.h"

#include <math.h>
#include <string.h>

#define DT 0.02
#define STEPS 8000 /* of 16 paths: about a millisecond */
#define BETA 0.1

/* ---- the two models as C functions on batches ---- */

static void set(double *x, size_t n, double value) {
    for (size_t l = 0; x && l < n; l++) x[l] = value;
}

static void scaled(double *x, const double *y, size_t n, double factor) {
    for (size_t l = 0; x && l < n; l++) x[l] = factor * y[l];
}

static void kubo_value(void *user, const struct lgv_batch *b, double *H, double *h) {
    (void)user;
    for (size_t l = 0; l < b->lanes; l++) {
        double energy = 0.5 * (b->p[l] * b->p[l] + b->q[l] * b->q[l]);
        if (H) H[l] = energy;
        if (h) h[l] = BETA * energy;
    }
}

static void kubo_gradient(void *user, const struct lgv_batch *b, double *H_q, double *H_p, double *h_q, double *h_p) {
    (void)user;
    scaled(H_q, b->q, b->lanes, 1);
    scaled(H_p, b->p, b->lanes, 1);
    scaled(h_q, b->q, b->lanes, BETA);
    scaled(h_p, b->p, b->lanes, BETA);
}

static void kubo_hessian(void *user, const struct lgv_batch *b, double *H_qq, double *H_qp, double *H_pp, double *h_qq,
                         double *h_qp, double *h_pp) {
    (void)user;
    set(H_qq, b->lanes, 1);
    set(H_qp, b->lanes, 0);
    set(H_pp, b->lanes, 1);
    set(h_qq, b->lanes, BETA);
    set(h_qp, b->lanes, 0);
    set(h_pp, b->lanes, BETA);
}

static void sync_value(void *user, const struct lgv_batch *b, double *H, double *h) {
    (void)user;
    for (size_t l = 0; l < b->lanes; l++) {
        if (H) H[l] = 0.5 * b->p[l] * b->p[l] - cos(b->q[l]);
        if (h) h[l] = BETA * sin(b->q[l]);
    }
}

static void sync_gradient(void *user, const struct lgv_batch *b, double *H_q, double *H_p, double *h_q, double *h_p) {
    (void)user;
    for (size_t l = 0; l < b->lanes; l++) {
        if (H_q) H_q[l] = sin(b->q[l]);
        if (h_q) h_q[l] = BETA * cos(b->q[l]);
    }
    scaled(H_p, b->p, b->lanes, 1);
    set(h_p, b->lanes, 0);
}

static void sync_hessian(void *user, const struct lgv_batch *b, double *H_qq, double *H_qp, double *H_pp, double *h_qq,
                         double *h_qp, double *h_pp) {
    (void)user;
    for (size_t l = 0; l < b->lanes; l++) {
        if (H_qq) H_qq[l] = cos(b->q[l]);
        if (h_qq) h_qq[l] = -BETA * sin(b->q[l]);
    }
    set(H_qp, b->lanes, 0);
    set(H_pp, b->lanes, 1);
    set(h_qp, b->lanes, 0);
    set(h_pp, b->lanes, 0);
}

static const double start_q[1] = {0}, start_p[1] = {1};
static const struct lgv_callbacks callbacks[2] = {
    {.name = "kubo",
     .dof = 1,
     .noises = 1,
     .q0 = start_q,
     .p0 = start_p,
     .separable = 1,
     .value = kubo_value,
     .gradient = kubo_gradient,
     .hessian = kubo_hessian},
    {.name = "synchrotron",
     .dof = 1,
     .noises = 1,
     .q0 = start_q,
     .p0 = start_p,
     .separable = 1,
     .noise_of_q = 1,
     .value = sync_value,
     .gradient = sync_gradient,
     .hessian = sync_hessian},
};

/* ---- the cases ---- */

struct speed_case {
    const char *title, *method;
    enum floor_case floor, plain; /* plain: the same when there is no second version */
    int model;                    /* 0 Kubo, 1 synchrotron */
    double goal;                  /* ns per path-step of the design on the machine it was written for */
};
static const struct speed_case cases[] = {
    {"Kubo Verlet", "P2N2Q2Lob", KUBO_VERLET, KUBO_VERLET, 0, 4.5},
    {"synchrotron Verlet", "P2N2Q2Lob", SYNC_VERLET, SYNC_VERLET, 1, 6.5},
    {"Kubo midpoint", "P1N1Q2Gau", KUBO_MIDPOINT, KUBO_MIDPOINT, 0, 5.5},
    {"synchrotron midpoint", "P1N1Q2Gau", SYNC_MIDPOINT, SYNC_MIDPOINT_PLAIN, 1, 12},
};
#define CASES (sizeof cases / sizeof *cases)
#define CLANG_RATIO 1.25 /* goals: ratio to the floor */
#define GCC_RATIO 2.0
enum { FLOOR, PLAIN, CLANG, GCC, CALLBACKS, SCALAR, CONTENDERS };

static double run_floor(void *floor_case) {
    return floor_run(*(enum floor_case *)floor_case, 16, STEPS, DT, 1, NULL) / (16.0 * STEPS);
}

static double run_scalar(void *floor_case) {
    return scalar_run(*(enum floor_case *)floor_case, 16, STEPS / 20, DT, 1, NULL) / (16.0 * (STEPS / 20));
}

static void print_goal(struct bench *b, const char *what, double ratio, double goal, json_t *row) {
    if (!(ratio > 0)) return;
    bool met = ratio <= goal;
    char key[48];
    printf("  %s %.2f %s %.2f: %s", what, ratio, met ? "<=" : ">", goal, met ? "met" : "MISSED");
    snprintf(key, sizeof key, "%s_goal_met", what);
    json_object_set_new(row, key, json_boolean(met));
    b->missed += !met;
}

static void one_case(struct bench *b, const struct speed_case *s) {
    static const char *const names[] = {"floor", "plain", "clang", "gcc", "callbacks", "scalar"};
    enum floor_case base = s->floor, plain = s->plain;
    const char *text = s->model ? bench_synchrotron : bench_kubo;
    struct bench_kernel k[3] = {0};
    struct contender c[CONTENDERS] = {
        {.run = run_floor, .what = &base},        {.run = plain != base ? run_floor : NULL, .what = &plain},
        {.run = bench_kernel_run, .what = &k[0]}, {.run = bench_kernel_run, .what = &k[1]},
        {.run = bench_kernel_run, .what = &k[2]}, {.run = run_scalar, .what = &base}};
    if (b->clang) bench_kernel_open(&k[0], text, NULL, s->method, "clang", DT, STEPS);
    if (b->gcc) bench_kernel_open(&k[1], text, NULL, s->method, "gcc", DT, 4 * STEPS);
    bench_kernel_open(&k[2], NULL, &callbacks[s->model], s->method, NULL, DT, STEPS / 4);
    bench_race(c, CONTENDERS, b->quick ? 30 : 120);

    json_t *row = json_pack("{s:s}", "case", s->title);
    printf("%-21s", s->title);
    for (int i = 0; i < CONTENDERS; i++) {
        if (c[i].best > 0) {
            printf(" %9.2f", 1e9 * c[i].best);
            json_object_set_new(row, names[i], json_real(1e9 * c[i].best));
        } else {
            printf(" %9s", "-");
        }
    }
    double iterations = k[0].ready ? (double)k[0].block.block.iterations / (double)k[0].steps : 0;
    printf("   Newton %.2f\n%-21s", iterations, "  ratio to floor");
    for (int i = 0; i < CONTENDERS; i++) {
        if (c[i].best > 0 && c[FLOOR].best > 0)
            printf(" %9.2f", c[i].best / c[FLOOR].best);
        else
            printf(" %9s", "-");
    }
    if (c[FLOOR].best > 0) {
        print_goal(b, "clang", c[CLANG].best / c[FLOOR].best, CLANG_RATIO, row);
        print_goal(b, "gcc", c[GCC].best / c[FLOOR].best, GCC_RATIO, row);
    }
    if (c[PLAIN].best > 0)
        printf("\n%-21s %9.2f %9.2f %9.2f %9.2f", "  ratio to plain", c[FLOOR].best / c[PLAIN].best, 1.0,
               c[CLANG].best / c[PLAIN].best, c[GCC].best / c[PLAIN].best);
    printf("\n");
    json_object_set_new(row, "newton_iterations", json_real(iterations));
    json_object_set_new(row, "design_goal_ns", json_real(s->goal));
    bench_json_row(b, "speed", row);
    for (int i = 0; i < 3; i++) bench_kernel_close(&k[i]);
}

/* ---- normals ---- */

#define NORMAL_NOISES 16

static double run_normals(void *unused) {
    (void)unused;
    return floor_normals(1 << 17) / (1 << 17);
}

/* A kernel whose step is hardly more than its normals: a free particle with sixteen additive noises. */
static void normals(struct bench *b) {
    char text[1024] = "name: normals\ncoordinates: { q: 0 }\nmomenta: { p: 0 }\nhamiltonian: p^2/2\nnoise: [ q";
    for (int i = 1; i < NORMAL_NOISES; i++) strcat(text, ", q");
    strcat(text, " ]\n");
    struct bench_kernel k[2] = {0};
    struct contender c[] = {
        {"floor", run_normals, NULL, 0}, {"clang", bench_kernel_run, &k[0], 0}, {"gcc", bench_kernel_run, &k[1], 0}};
    if (b->clang) bench_kernel_open(&k[0], text, NULL, "P2N2Q2Lob", "clang", DT, STEPS / 16);
    if (b->gcc) bench_kernel_open(&k[1], text, NULL, "P2N2Q2Lob", "gcc", DT, STEPS / 4);
    bench_race(c, 3, b->quick ? 30 : 120);
    c[1].best /= NORMAL_NOISES;
    c[2].best /= NORMAL_NOISES;
    printf("\nNormals, one core (kernels: Verlet with %d additive noises, per noise)\n", NORMAL_NOISES);
    for (int i = 0; i < 3; i++) {
        if (!(c[i].best > 0)) continue;
        printf("  %-8s %6.2f ns each  %7.0f million per second\n", c[i].name, 1e9 * c[i].best, 1e-6 / c[i].best);
        bench_json_row(b, "normals", json_pack("{s:s,s:f}", "by", c[i].name, "ns", 1e9 * c[i].best));
    }
    bench_kernel_close(&k[0]);
    bench_kernel_close(&k[1]);
}

void bench_speed(struct bench *b) {
    if (!floor_available()) printf("(no AVX2 and FMA here: there is no hand-written floor to compare with)\n");
    printf("\nOne core, ns per path-step, step %g\n", DT);
    printf("%-21s %9s %9s %9s %9s %9s %9s\n", "", "floor", "plain", "lgv clang", "lgv gcc", "lgv C fn", "scalar");
    for (size_t i = 0; i < CASES; i++) one_case(b, &cases[i]);
    normals(b);
}
