/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The benchmark: bench [--quick] [--check] [--only PART] [--json FILE].
 *
 * --check times nothing: it only compares the paths of kernels and hand-written floors.  The exit status is 1 when they
 * differ.  --only takes one part; a name that there is not shows which there are.
 *
 * Times are least times of many short runs, contenders in turn.  Kernels are compiled into a private cache that is
 * removed at the end, so that neither the user's cache helps nor the benchmark leaves anything there. */
#include "bench.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *const bench_kubo = "name: kubo\n"
                               "parameters: { beta: 0.1 }\n"
                               "coordinates: { q: 0 }\n"
                               "momenta: { p: 1 }\n"
                               "hamiltonian: p^2/2 + q^2/2\n"
                               "noise: beta*H\n";
const char *const bench_synchrotron = "name: synchrotron\n"
                                      "parameters: { beta: 0.1 }\n"
                                      "coordinates: { q: 0 }\n"
                                      "momenta: { p: 1 }\n"
                                      "hamiltonian: p^2/2 - cos(q)\n"
                                      "noise: beta*sin(q)\n";

const char *bench_lattice(char *text, size_t size, int n) {
    snprintf(text, size,
             "name: lattice\n"
             "parameters: { N: %d, k: 1, a: 0.25, v: 0.3, b: 0.01 }\n"
             "coordinates: { \"x[N]\": 0 }\n"
             "momenta: { p: \"normal(0, v)\" }\n"
             "hamiltonian: sum(i=1..N, p[i]^2/2 + k*(x[wrap(i+1)] - x[i])^2/2 + a*x[i]^4)\n"
             "noise: b*sum(i=1..N, x[i])\n",
             n);
    return text;
}

const char *bench_ring(char *text, size_t size, int n) {
    snprintf(text, size,
             "name: ring\n"
             "parameters: { N: %d, a: 0.25, b: 0.5, v: 0.3, s: 0.01 }\n"
             "coordinates: { \"x[N]\": 0 }\n"
             "momenta: { p: \"normal(0, v)\" }\n"
             "where: { \"V(r)\": \"r^2/2 + a*r^3/3 + b*r^4/4\" }\n"
             "hamiltonian: sum(i=1..N, p[i]^2/2 + V(x[wrap(i+1)] - x[i]))\n"
             "noise: s*sum(i=1..N, x[i]^2/2)\n",
             n);
    return text;
}

double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_race(struct contender *c, size_t count, int rounds) {
    for (int r = 0; r < rounds; r++) {
        for (size_t i = 0; i < count; i++) {
            double t = c[i].run ? c[i].run(c[i].what) : 0;
            if (t > 0 && (c[i].best <= 0 || t < c[i].best)) c[i].best = t;
        }
    }
}

bool bench_kernel_open(struct bench_kernel *k, const char *text, const struct lgv_callbacks *callbacks,
                       const char *method, const char *compiler, double dt, unsigned long long steps) {
    return bench_kernel_open_for(0, k, text, callbacks, method, compiler, dt, steps);
}

bool bench_kernel_open_for(uint64_t paths, struct bench_kernel *k, const char *text,
                           const struct lgv_callbacks *callbacks, const char *method, const char *compiler, double dt,
                           unsigned long long steps) {
    struct lgv_error err = {0};
    struct lgv_kernel_options options = {.compiler = compiler, .paths = paths};
    *k = (struct bench_kernel){.steps = steps};
    enum lgv_status status = text ? lgv_model_parse(text, "benchmark", &k->model, &err)
                                  : lgv_model_from_callbacks(callbacks, &k->model, &err);
    double begin = bench_now();
    if (status == LGV_OK) status = lgv_kernel_build(k->model, lgv_method_find(method), &options, &k->kernel, &err);
    k->build_seconds = bench_now() - begin;
    k->ready = status == LGV_OK;
    if (k->ready && !lgv_block_create(&k->kernel, 0, dt, 1, 1, &k->block)) {
        lgv_kernel_free(&k->kernel);
        k->ready = false;
        snprintf(err.message, sizeof err.message, "out of memory");
    }
    if (!k->ready) {
        printf("  not measured: %s\n", err.message);
        lgv_model_free(k->model);
        k->model = NULL;
        return false;
    }
    for (unsigned l = 0; l < k->kernel.entry->lanes; l++) k->block.path[l] = l;
    return true;
}

void bench_kernel_close(struct bench_kernel *k) {
    if (!k->ready) return;
    lgv_block_free(&k->block);
    lgv_kernel_free(&k->kernel);
    lgv_model_free(k->model);
    k->ready = false;
}

double bench_thread_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_kernel_run(void *bench_kernel) {
    struct bench_kernel *k = bench_kernel;
    struct lgv_block *b = &k->block.block;
    if (!k->ready) return 0;
    b->step = 0;
    b->iterations = 0;
    k->kernel.entry->start(b);
    double begin = bench_thread_now();
    k->kernel.entry->advance(b, k->steps);
    return (bench_thread_now() - begin) / ((double)k->steps * k->kernel.entry->lanes);
}

/* ---- the private cache ---- */

static void remove_folder(const char *path) {
    DIR *d = opendir(path);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        char inside[512];
        struct stat s;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        snprintf(inside, sizeof inside, "%.200s/%.255s", path, e->d_name);
        if (lstat(inside, &s) == 0 && S_ISDIR(s.st_mode))
            remove_folder(inside);
        else
            unlink(inside);
    }
    if (d) closedir(d);
    rmdir(path);
}

void bench_cache_empty(struct bench *b) {
    if (b->folder[0]) remove_folder(b->folder);
    snprintf(b->folder, sizeof b->folder, "/tmp/lgv-bench-XXXXXX");
    if (!mkdtemp(b->folder)) {
        fprintf(stderr, "bench: no temporary folder\n");
        exit(3);
    }
    setenv("XDG_CACHE_HOME", b->folder, 1);
}

void bench_json_row(struct bench *b, const char *table, json_t *row) {
    json_t *rows = json_object_get(b->json, table);
    if (!rows) json_object_set_new(b->json, table, rows = json_array());
    json_array_append_new(rows, row);
}

/* ---- the program ---- */

static bool compiler_works(struct bench *b, const char *name) {
    struct bench_kernel k;
    printf("%-8s", name);
    bool works = bench_kernel_open(&k, bench_kubo, NULL, "P2N2Q2Lob", name, 0.02, 1);
    if (works) {
        printf("%s\n", k.kernel.compiler);
        json_object_set_new(b->json, name, json_string(k.kernel.compiler));
    }
    bench_kernel_close(&k);
    return works;
}

static const struct part {
    const char *name;
    void (*run)(struct bench *);
    bool checks; /* --check has something to compare here */
} parts[] = {
    {"speed", bench_speed, false},           {"methods", bench_methods, true},
    {"constrained", bench_constrained, true}, {"langevin", bench_langevin, true},
    {"bodies", bench_bodies, true},          {"pairs", bench_pairs, true},
    {"liquid", bench_liquid, false},         {"water", bench_water, false},
    {"compile", bench_compile, false},
    {"size", bench_size, false},             {"implicit", bench_implicit, false},
    {"threads", bench_threads, false},       {"whole", bench_whole, false},
    {"collectors", bench_collectors, false}, {"workers", bench_workers, false}, {"peers", bench_peers, false},
    {"precision", bench_precision, false},
};
#define PARTS (sizeof parts / sizeof *parts)

static int usage(void) {
    fprintf(stderr, "usage: bench [--quick] [--check] [--only PART] [--json FILE]\nparts:");
    for (size_t i = 0; i < PARTS; i++) fprintf(stderr, " %s", parts[i].name);
    fprintf(stderr, "\n");
    return 2;
}

static bool is_part(const char *name) {
    for (size_t i = 0; i < PARTS; i++)
        if (!strcmp(parts[i].name, name)) return true;
    return false;
}

/* Where the system puts code and stack differs from process to process, and on some processors a kernel is up to a
 * third slower for some of these places: the program starts itself again with fixed ones, so that runs can be
 * compared. */
static void fix_addresses(char **argv) {
    int now = personality(0xffffffff);
    if (now >= 0 && !(now & ADDR_NO_RANDOMIZE) && personality((unsigned long)now | ADDR_NO_RANDOMIZE) >= 0)
        execv("/proc/self/exe", argv);
}

int main(int argc, char **argv) {
    fix_addresses(argv);
    struct bench b = {.json = json_object()};
    const char *file = NULL, *only = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick"))
            b.quick = true;
        else if (!strcmp(argv[i], "--check"))
            b.check = true;
        else if (!strcmp(argv[i], "--only") && i + 1 < argc && is_part(argv[i + 1]))
            only = argv[++i];
        else if (!strcmp(argv[i], "--json") && i + 1 < argc)
            file = argv[++i];
        else
            return usage();
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    bench_cache_empty(&b);
    b.clang = compiler_works(&b, "clang");
    b.gcc = compiler_works(&b, "gcc");
    double begin = bench_now();
    for (size_t i = 0; i < PARTS; i++)
        if ((!only || !strcmp(only, parts[i].name)) && (parts[i].checks || !b.check)) parts[i].run(&b);
    remove_folder(b.folder);
    if (b.wrong) printf("\n%d floor%s with other paths than the kernel\n", b.wrong, b.wrong == 1 ? "" : "s");
    if (!b.check) printf("\n%d goal%s missed; %.0f s\n", b.missed, b.missed == 1 ? "" : "s", bench_now() - begin);
    json_object_set_new(b.json, "goals_missed", json_integer(b.missed));
    json_object_set_new(b.json, "floors_wrong", json_integer(b.wrong));
    bool failed = file && json_dump_file(b.json, file, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) != 0;
    if (failed) fprintf(stderr, "bench: %s cannot be written\n", file);
    json_decref(b.json);
    return failed ? 3 : b.wrong ? 1 : 0;
}
