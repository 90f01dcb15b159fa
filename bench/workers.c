/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Many workers: weak scaling, as many paths for each thread however many there are, and for each process with MPI, and
 * the cost of putting 10000 parts of an ensemble together, in time of the processor and in memory. */
#include "bench.h"

#include "base/process.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PARTS 10000
#define PATHS 4096 /* of a thread */
#define MORE 16    /* times as many of a process, which others have to be told of */

static double processor(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool open_engine(struct lgv_model **m, struct lgv_engine **e, const char *const (*option)[2]) {
    struct lgv_error err = {0};
    bool ok = lgv_model_parse(bench_kubo, "kubo.yaml", m, &err) == LGV_OK && lgv_engine_create(*m, e, &err) == LGV_OK;
    for (; ok && (*option)[0]; option++) ok = lgv_engine_set(*e, (*option)[0], (*option)[1], &err) == LGV_OK;
    if (!ok) printf("  %s\n", err.message);
    return ok;
}

/* ---- weak scaling ---- */

static bool run_threads(struct lgv_engine *e, int threads, int steps, double *seconds, double *work) {
    char text[32];
    snprintf(text, sizeof text, "%d", threads);
    bool ok = lgv_engine_set(e, "threads", text, NULL) == LGV_OK;
    snprintf(text, sizeof text, "%d", threads * PATHS);
    lgv_engine_clear(e);
    ok = ok && lgv_engine_set(e, "paths", text, NULL) == LGV_OK && lgv_engine_prepare(e, NULL) == LGV_OK;
    double begin = bench_now(), spent = processor();
    ok = ok && lgv_engine_continue(e, NULL) == LGV_OK;
    *seconds = bench_now() - begin;
    *work = (processor() - spent) / ((double)threads * PATHS * steps);
    return ok;
}

static void weak(struct bench *b) {
    static const char *const option[][2] = {{"step", "0.01"}, {"until", "20"}, {"outputs", "100"}, {0}};
    struct lgv_model *m = NULL;
    struct lgv_engine *e = NULL;
    double best[2] = {0}, first[2] = {0};
    int cores = omp_get_num_procs(), rounds = b->quick ? 3 : 10;
    printf("\nWeak scaling, kubo, %d paths of 2000 steps for each thread (%d processors)\n\n", PATHS, cores);
    printf("  threads   seconds   of one thread's   processor ns per path-step\n");
    bool ok = open_engine(&m, &e, option);
    for (int threads = 1; ok && threads <= cores; threads *= 2) {
        best[0] = best[1] = 0;
        for (int r = 0; ok && r < rounds; r++) {
            double seconds, work;
            ok = run_threads(e, threads, 2000, &seconds, &work);
            if (r == 0 || seconds < best[0]) best[0] = seconds;
            if (r == 0 || work < best[1]) best[1] = work;
        }
        if (threads == 1) first[0] = best[0], first[1] = best[1];
        if (ok) printf("  %7d   %7.3f   %15.2f   %26.2f\n", threads, best[0], best[0] / first[0], 1e9 * best[1]);
        if (ok)
            bench_json_row(b, "weak_scaling", json_pack("{s:i, s:f, s:f}", "threads", threads, "seconds", best[0],
                                                        "processor_seconds_per_path_step", best[1]));
    }
    lgv_engine_free(e);
    lgv_model_free(m);
}

/* lgv-mpi beside this program. */
static bool find_program(char *path, size_t size) {
    ssize_t length = readlink("/proc/self/exe", path, size - 10);
    if (length <= 0) return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (!slash) return false;
    strcpy(slash, "/lgv-mpi");
    return access(path, X_OK) == 0;
}

/* Seconds of the paths alone, 0 where it cannot be run. */
static double run_processes(const struct bench *b, int processes) {
    char mpirun[300], program[300], paths[16], number[16], *word[] = {
        mpirun, "--bind-to", "none", "--oversubscribe", "-n", number, program, "run", "kubo.yaml", "--step", "0.01",
        "--until", "20", "--outputs", "100", "--threads", "1", "--paths", paths, "--json", NULL};
    struct lgv_text printed = {0};
    double seconds = 0;
    snprintf(number, sizeof number, "%d", processes);
    snprintf(paths, sizeof paths, "%d", processes * PATHS * MORE);
    struct lgv_process p = {.argv = word, .folder = b->folder, .seconds = 600, .limit = 1 << 22, .printed = &printed};
    if (lgv_process_find("mpirun", mpirun, sizeof mpirun) && find_program(program, sizeof program) &&
        lgv_process_run(&p) == 0 && printed.data) {
        const char *key = "\"paths_seconds\":", *at = strstr(printed.data, key);
        seconds = at ? strtod(at + strlen(key), NULL) : 0;
    }
    lgv_text_free(&printed);
    return seconds;
}

static void weak_processes(struct bench *b) {
    int cores = omp_get_num_procs(), rounds = b->quick ? 3 : 10;
    double first = 0;
    printf("\nThe same with MPI, %d paths for each process of one thread\n\n", PATHS * MORE);
    printf("  processes   seconds   of one process\n");
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    for (int n = 1; n <= cores; n *= 2) {
        double best = bench_write(b->folder, "kubo.yaml", bench_kubo) ? run_processes(b, n) : 0;
        for (int r = 1; r < rounds && best > 0; r++) {
            double seconds = run_processes(b, n);
            if (seconds < best) best = seconds;
        }
        if (!(best > 0)) {
            printf("  lgv-mpi or mpirun is not there, or does not run\n");
            return;
        }
        if (n == 1) first = best;
        printf("  %9d   %7.3f   %14.2f\n", n, best, best / first);
        bench_json_row(b, "weak_scaling_mpi", json_pack("{s:i, s:f}", "processes", n, "seconds", best));
    }
}

/* ---- parts ---- */

static void name_part(const struct bench *b, char *out, size_t size, int k) {
    snprintf(out, size, "%s/part-%05d.lgv", b->folder, k);
}

static double peak_mb(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024;
}

static void merge(struct bench *b) {
    const char *const option[][2] = {{"step", "0.05"},   {"until", "10"},     {"outputs", "200"}, {"threads", "1"},
                                     {"paths", "160000"}, {"check_states", "0"}, {"keep", "8"},    {0}};
    struct lgv_model *m[2] = {NULL};
    struct lgv_engine *e[2] = {NULL};
    int parts = b->quick ? PARTS / 10 : PARTS;
    char file[200];
    bool ok = open_engine(&m[0], &e[0], option) && open_engine(&m[1], &e[1], option);
    double begin = bench_now();
    for (int k = 0; ok && k < parts; k++) {
        name_part(b, file, sizeof file, k);
        lgv_engine_clear(e[0]);
        ok = lgv_engine_run(e[0], (uint64_t)k * LGV_UNIT, LGV_UNIT, NULL) == LGV_OK &&
             lgv_engine_save(e[0], file, NULL) == LGV_OK;
    }
    double written = bench_now() - begin, before = peak_mb();
    ok = ok && lgv_engine_prepare(e[1], NULL) == LGV_OK;
    begin = processor();
    for (int k = 0; ok && k < parts; k++) {
        name_part(b, file, sizeof file, (int)((long long)k * 7919 % parts)); /* in no order */
        ok = lgv_engine_load(e[1], file, NULL) == LGV_OK;
    }
    double spent = processor() - begin, more = peak_mb() - before;
    for (int k = 0; k < parts; k++) name_part(b, file, sizeof file, k), unlink(file);
    printf("\nParts: %d of %d paths, kubo with 200 output times\n\n", parts, LGV_UNIT);
    if (ok)
        printf("  run and written in %.1f s; merged in %.2f s of the processor, %.2f ms a part, %.1f MB more memory\n",
               written, spent, 1e3 * spent / parts, more);
    else
        printf("  they could not be run, written or merged\n");
    if (ok)
        bench_json_row(b, "merge", json_pack("{s:i, s:f, s:f}", "parts", parts, "processor_seconds", spent,
                                             "more_megabytes", more));
    for (int k = 0; k < 2; k++) lgv_engine_free(e[k]), lgv_model_free(m[k]);
}

void bench_workers(struct bench *b) {
    weak(b);
    weak_processes(b);
    merge(b);
}
