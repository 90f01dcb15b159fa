/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark beyond single kernels: compile latency, cost against the number of degrees of freedom, threads, and
 * what a whole run costs on top of its kernel. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TEXT 2048
#define PATHS 8000 /* of the whole run */

/* ---- compile latency ---- */

/* Twenty particles in space that all repel each other: sixty degrees of freedom, one pair sum. */
static const char pairs[] = "name: pairs\n"
                            "parameters: { N: 20, a: 0.1 }\n"
                            "coordinates: { \"x[N] in R3\": 0 }\n"
                            "momenta: { p: \"[normal(), normal(), normal()]\" }\n"
                            "hamiltonian: sum(i=1..N, dot(p[i], p[i])/2 + dot(x[i], x[i])/2)"
                            " + sum(i=1..N, j=i+1..N, a/(1 + dot(x[i] - x[j], x[i] - x[j])))\n"
                            "noise: a*sum(i=1..N, x[i].x)\n";

static void compile_row(struct bench *b, const char *title, const char *text, const char *method,
                        const char *compiler) {
    struct bench_kernel k;
    double cold = INFINITY, cached = INFINITY, compiler_alone = INFINITY;
    for (int i = 0; i < (b->quick ? 1 : 2); i++) {
        bench_cache_empty(b);
        if (!bench_kernel_open(&k, text, NULL, method, compiler, 0.01, 1)) return;
        cold = fmin(cold, k.build_seconds);
        compiler_alone = fmin(compiler_alone, k.kernel.compile_seconds);
        bench_kernel_close(&k);
    }
    for (int i = 0; i < 5; i++) {
        if (!bench_kernel_open(&k, text, NULL, method, compiler, 0.01, 1)) return;
        cached = fmin(cached, k.build_seconds);
        bench_kernel_close(&k);
    }
    printf("  %-34s %-6s %8.0f %10.0f %8.1f\n", title, compiler, 1e3 * cold, 1e3 * compiler_alone, 1e3 * cached);
    bench_json_row(b, "compile",
                   json_pack("{s:s,s:s,s:f,s:f,s:f}", "model", title, "compiler", compiler, "cold_ms", 1e3 * cold,
                             "compiler_ms", 1e3 * compiler_alone, "cached_ms", 1e3 * cached));
}

void bench_compile(struct bench *b) {
    char lattice[TEXT];
    bench_lattice(lattice, sizeof lattice, 60);
    const char *const compilers[] = {b->clang ? "clang" : NULL, b->gcc ? "gcc" : NULL};
    printf("\nFrom model to kernel, ms (goal: small models 50 to 100, 60 degrees of freedom 1000)\n");
    printf("  %-34s %-6s %8s %10s %8s\n", "", "", "cold", "(compiler)", "cached");
    for (int i = 0; i < 2; i++) {
        if (!compilers[i]) continue;
        compile_row(b, "Kubo Verlet", bench_kubo, "P2N2Q2Lob", compilers[i]);
        compile_row(b, "synchrotron midpoint", bench_synchrotron, "P1N1Q2Gau", compilers[i]);
        compile_row(b, "ring of 60, Verlet", lattice, "P2N2Q2Lob", compilers[i]);
        compile_row(b, "20 particles in R3, Verlet", pairs, "P2N2Q2Lob", compilers[i]);
        if (!b->quick) compile_row(b, "20 particles in R3, midpoint", pairs, "P1N1Q2Gau", compilers[i]);
    }
}

/* ---- size ---- */

static void size_row(struct bench *b, const char *method, const char *title, int n, double work) {
    char text[TEXT];
    struct bench_kernel k;
    unsigned long long steps = (unsigned long long)fmax(4, 2e-3 / work);
    printf("  %-10s %5d", title, n);
    if (!bench_kernel_open(&k, bench_lattice(text, sizeof text, n), NULL, method, NULL, 0.01, steps / 4 + 2)) return;
    struct contender c = {title, bench_kernel_run, &k, 0};
    bench_race(&c, 1, b->quick ? 5 : 30);
    unsigned lanes = k.kernel.entry->lanes;
    printf(" %6u %12.1f %10.2f %10.2f\n", lanes, 1e9 * c.best, 1e9 * c.best / n,
           (double)k.block.block.iterations / (double)k.steps);
    bench_json_row(b, "size",
                   json_pack("{s:s,s:i,s:i,s:f}", "method", method, "dof", n, "lanes", (int)lanes, "ns", 1e9 * c.best));
    bench_kernel_close(&k);
}

/* Implicit methods beside Verlet on the same model, and how much more they cost. */
struct implicit {
    const char *title, *text;
    int dof;
    const char *method[3];
};

static void implicit_rows(struct bench *b, const struct implicit *m, double dt) {
    enum { COUNT = 1 + sizeof m->method / sizeof *m->method };
    struct bench_kernel k[COUNT] = {0};
    struct contender c[COUNT] = {0};
    unsigned long long steps = 4 + 20000 / (unsigned)m->dof;
    for (int i = 0; i < COUNT; i++) {
        const char *method = i ? m->method[i - 1] : "P2N2Q2Lob";
        if (method && bench_kernel_open(&k[i], m->text, NULL, method, NULL, dt, steps))
            c[i] = (struct contender){method, bench_kernel_run, &k[i], 0};
    }
    bench_race(c, COUNT, b->quick ? 5 : 30);
    for (int i = 0; i < COUNT; i++) {
        if (!k[i].ready) continue;
        double iterations = (double)k[i].block.block.iterations / (double)k[i].steps, ratio = c[i].best / c[0].best;
        printf("  %-8s %-10s %6d %6.3g %6u %12.1f %10.2f %10.2f %9.2f\n", m->title, c[i].name, m->dof, dt,
               k[i].kernel.entry->lanes, 1e9 * c[i].best, 1e9 * c[i].best / m->dof, iterations, ratio);
        bench_json_row(b, "implicit",
                       json_pack("{s:s,s:s,s:i,s:f,s:f,s:f,s:f}", "model", m->title, "method", c[i].name, "dof", m->dof,
                                 "step", dt, "ns", 1e9 * c[i].best, "iterations", iterations, "ratio", ratio));
        bench_kernel_close(&k[i]);
    }
}

/* A square of n x n sites with springs between neighbours, round in both directions: omega_max = sqrt(8). */
static const char *square(char *text, size_t size, int n) {
    snprintf(text, size,
             "name: square\n"
             "parameters: { N: %d, n: %d, b: 0.5, v: 0.3, s: 0.01 }\n"
             "coordinates: { \"x[N]\": 0 }\n"
             "momenta: { p: \"normal(0, v)\" }\n"
             "where: { \"V(r)\": \"r^2/2 + b*r^4/4\" }\n"
             "hamiltonian: sum(i=1..N, p[i]^2/2) + sum(i=0..n-1, j=1..n, V(x[i*n + wrap(j+1, n)] - x[i*n + j])"
             " + V(x[mod(i+1, n)*n + j] - x[i*n + j]))\n"
             "noise: s*sum(i=1..N, x[i]^2/2)\n",
             n * n, n);
    return text;
}

/* A ring that is not separable: masses depend on positions, momenta of neighbours are coupled. */
static const char *coupled_ring(char *text, size_t size, int n) {
    snprintf(text, size,
             "name: coupled ring\n"
             "parameters: { N: %d, s: 0.01 }\n"
             "coordinates: { \"x[N]\": 0.2*sin(i) }\n"
             "momenta: { p: 0.3*cos(2*i) }\n"
             "hamiltonian: sum(i=1..N, p[i]^2/2*(1 + 0.1*cos(x[i])) + 0.1*p[i]*p[wrap(i+1)]*sin(x[i])"
             " + (x[wrap(i+1)] - x[i])^2/2 + (x[wrap(i+1)] - x[i])^4/8)\n"
             "noise: s*sum(i=1..N, x[i]^2/2)\n",
             n);
    return text;
}

/* The same masses in a Lagrangian. */
static const char *lagrangian_ring(char *text, size_t size, int n) {
    snprintf(text, size,
             "name: Lagrangian ring\n"
             "parameters: { N: %d, s: 0.01 }\n"
             "coordinates: { \"x[N]\": 0.2*sin(i) }\n"
             "velocities: { v: 0.3*cos(2*i) }\n"
             "lagrangian: sum(i=1..N, v[i]^2/2*(1 + 0.1*cos(x[i] - x[wrap(i+1)]))"
             " - (x[wrap(i+1)] - x[i])^2/2 - (x[wrap(i+1)] - x[i])^4/8)\n"
             "noise: s*sum(i=1..N, x[i]^2/2)\n",
             n);
    return text;
}

void bench_implicit(struct bench *b) {
    static const int sites[] = {10, 100, 1000, 10000, 100000};
    static const double omega_dt[] = {0.3, 1, 2};
    char text[TEXT];
    printf("\nImplicit methods on large systems, one core: the ring of Fermi, Pasta, Ulam and Tsingou and a square of\n"
           "sites, with one noise\n");
    printf("  %-8s %-10s %6s %6s %6s %12s %10s %10s %9s\n", "", "", "dof", "step", "lanes", "ns per step", "per dof",
           "iterations", "/ Verlet");
    for (int k = 0; k < 3; k++) {
        struct implicit lattice = {"square", square(text, sizeof text, 64), 4096, {"P1N1Q2Gau", "P2N2Q4Gau"}};
        implicit_rows(b, &lattice, omega_dt[k] / sqrt(8));
    }
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++) {
        const char *ring_text = bench_ring(text, sizeof text, sites[i]);
        struct implicit ring = {"ring", ring_text, sites[i], {"P1N1Q2Gau", "P2N2Q4Gau", "IEM"}};
        implicit_rows(b, &ring, 0.05);
        for (int k = 0; k < 3; k++) implicit_rows(b, &ring, omega_dt[k] / 2);
    }
    printf("  not separable (the first row is Stoermer-Verlet, implicit there), Lobatto IIIA-IIIB, and a Lagrangian\n");
    for (size_t i = 1; i + 1 < sizeof sites / sizeof *sites; i++) {
        struct implicit coupled = {"coupled", coupled_ring(text, sizeof text, sites[i]), sites[i],
                                   {"P1N1Q2Gau", "P2N2Q4Gau", "IEM"}};
        implicit_rows(b, &coupled, 0.1);
        struct implicit lobatto = {"ring", bench_ring(text, sizeof text, sites[i]), sites[i], {"Lobatto3", "Lobatto4"}};
        if (sites[i] > 200) implicit_rows(b, &lobatto, 0.1);
        struct implicit mass = {"L(q, v)", lagrangian_ring(text, sizeof text, sites[i]), sites[i],
                                {"RATTLE", "Lobatto3"}};
        if (sites[i] > 200) implicit_rows(b, &mass, 0.1);
    }
}

void bench_size(struct bench *b) {
    static const int verlet[] = {1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000}, midpoint[] = {1, 2, 3, 5, 10, 20, 30};
    size_t stride = b->quick ? 2 : 1;
    printf("\nCost of a step against degrees of freedom (ring with indexed sums and one noise), one core\n");
    printf("  %-10s %5s %6s %12s %10s %10s\n", "", "dof", "lanes", "ns per step", "per dof", "Newton");
    for (size_t i = 0; i < sizeof verlet / sizeof *verlet; i += stride)
        size_row(b, "P2N2Q2Lob", "Verlet", verlet[i], 1e-8 * verlet[i]);
    for (size_t i = 0; i < sizeof midpoint / sizeof *midpoint; i += stride)
        size_row(b, "P1N1Q2Gau", "midpoint", midpoint[i], 5e-8 * midpoint[i] * midpoint[i]);
}

/* ---- threads ---- */

static double run_ensemble(void *what) {
    struct lgv_run_report report;
    enum lgv_status status = lgv_ensemble_run(what, NULL, 0, NULL, NULL, &report, NULL);
    free(report.snapshot);
    return status == LGV_OK ? report.seconds / (double)report.path_steps : 0;
}

void bench_threads(struct bench *b) {
    enum { MOST = 16 };
    uint64_t times[2] = {0, 1000};
    struct bench_kernel k;
    struct lgv_plan plan[MOST];
    struct contender c[MOST] = {0};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = 0;
    printf("\nThreads (synchrotron Verlet, whole ensemble without statistics; %ld cores)\n", cores);
    if (!bench_kernel_open(&k, bench_synchrotron, NULL, "P2N2Q2Lob", NULL, 0.02, 1)) return;
    for (long n = 1; n <= cores && count < MOST; n = n < cores && 2 * n > cores ? cores : 2 * n, count++) {
        plan[count] = (struct lgv_plan){.kernel = &k.kernel,
                                        .dt = 0.02,
                                        .steps = times[1],
                                        .seed = 1,
                                        .coarsen = 1,
                                        .paths = 2048 * (uint64_t)cores,
                                        .ntimes = 2,
                                        .time_step = times,
                                        .threads = (unsigned)n};
        c[count] = (struct contender){NULL, run_ensemble, &plan[count], 0};
    }
    bench_race(c, count, b->quick ? 4 : 25);
    for (size_t i = 0; i < count; i++) {
        printf("  %3u  %7.2f ns per path-step  %5.2fx\n", plan[i].threads, 1e9 * c[i].best, c[0].best / c[i].best);
        bench_json_row(b, "threads",
                       json_pack("{s:i,s:f,s:f}", "threads", (int)plan[i].threads, "ns", 1e9 * c[i].best, "speedup",
                                 c[0].best / c[i].best));
    }
    bench_kernel_close(&k);
}

/* ---- a whole run ---- */

struct whole_run {
    struct lgv_model *model;
    struct lgv_settings settings;
    double path_steps;
    double cpu; /* least processor seconds per path-step, 0 before the first run */
};

static double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double run_whole(void *what) {
    struct whole_run *w = what;
    struct lgv_result result;
    double begin = bench_now(), cpu = processor_seconds();
    enum lgv_status status = lgv_engine_once(w->model, &w->settings, NULL, NULL, NULL, &result, NULL);
    double spent = bench_now() - begin;
    cpu = (processor_seconds() - cpu) / w->path_steps;
    w->cpu = w->cpu > 0 ? fmin(w->cpu, cpu) : cpu;
    lgv_result_clear(&result);
    return status == LGV_OK ? spent / w->path_steps : 0;
}

static void whole_row(struct bench *b, const char *title, const char *text, const char *method, unsigned outputs) {
    struct bench_kernel k;
    struct whole_run w = {0};
    printf("  %-22s %7u", title, outputs);
    if (!bench_kernel_open(&k, text, NULL, method, NULL, 0.02, 10000)) return;
    if (lgv_model_parse(text, "benchmark", &w.model, NULL) == LGV_OK &&
        lgv_settings_read(w.model, &w.settings, NULL) == LGV_OK) {
        snprintf(w.settings.method, sizeof w.settings.method, "%s", method);
        w.settings.step = 0.02;
        w.settings.until = 100;
        w.settings.paths = PATHS;
        w.settings.outputs = outputs;
        w.settings.threads = 1;
        w.path_steps = 5000.0 * (double)w.settings.paths;
        struct contender c[] = {{"kernel", bench_kernel_run, &k, 0}, {"run", run_whole, &w, 0}};
        for (int i = 0; i < (b->quick ? 2 : 4); i++) {
            bench_race(&c[0], 1, 30);
            bench_race(&c[1], 1, 1);
        }
        printf(" %10.2f %10.2f %8.0f%% %10.2f\n", 1e9 * c[0].best, 1e9 * c[1].best, 100 * (c[1].best / c[0].best - 1),
               1e9 * w.cpu);
        bench_json_row(b, "whole",
                       json_pack("{s:s,s:i,s:f,s:f,s:f}", "model", title, "outputs", (int)outputs, "kernel_ns",
                                 1e9 * c[0].best, "run_ns", 1e9 * c[1].best, "cpu_ns", 1e9 * w.cpu));
    }
    lgv_model_free(w.model);
    bench_kernel_close(&k);
}

void bench_whole(struct bench *b) {
    printf("\nA whole run (%d paths, 5000 steps, one thread, kernel from the cache), ns per path-step\n", PATHS);
    printf("  %-22s %7s %10s %10s %9s %10s\n", "", "outputs", "kernel", "whole run", "overhead", "CPU time");
    whole_row(b, "synchrotron Verlet", bench_synchrotron, "P2N2Q2Lob", 20);
    whole_row(b, "synchrotron Verlet", bench_synchrotron, "P2N2Q2Lob", 200);
    whole_row(b, "Kubo midpoint", bench_kubo, "P1N1Q2Gau", 200);
}
