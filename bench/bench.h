/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of the benchmark share: timing of contenders side by side, kernels ready to be timed, and results that
 * are printed and kept for --json. */
#ifndef LGV_BENCH_H
#define LGV_BENCH_H

#include "engine/engine.h"

#include <jansson.h>

struct bench {
    bool quick;
    bool check;      /* only compare the paths of kernels and floors */
    json_t *json;    /* the document of --json */
    char folder[64]; /* private cache folder, removed at the end */
    bool clang, gcc; /* compilers found */
    int missed;      /* goals that were not met */
    int wrong;       /* floors whose paths are not those of the kernel */
};

/* One of several things timed in turn; run returns seconds per unit of work.  best starts at 0: not yet measured. */
struct contender {
    const char *name;
    double (*run)(void *what);
    void *what;
    double best;
};
/* Runs all of them `rounds` times in turn and keeps each one's least time: the machine's other work comes and goes, and
 * what is timed within the same milliseconds can be compared. */
void bench_race(struct contender *c, size_t count, int rounds);
double bench_now(void);
/* Time of the processor, on the thread that asks: what is longer than a time slice is interrupted on a busy machine. */
double bench_thread_now(void);

/* A kernel with one block, timed on the calling thread without anything of the run around it. */
struct bench_kernel {
    struct lgv_model *model;
    struct lgv_kernel kernel;
    struct lgv_own_block block;
    unsigned long long steps; /* per timed run */
    double build_seconds;     /* all of lgv_kernel_build */
    bool ready;
};
/* From a model text, or from callbacks when text is NULL.  Prints why and returns false when it cannot be built. */
bool bench_kernel_open(struct bench_kernel *k, const char *text, const struct lgv_callbacks *callbacks,
                       const char *method, const char *compiler, double dt, unsigned long long steps);
/* The same for so few paths that a block may have fewer lanes. */
bool bench_kernel_open_for(uint64_t paths, struct bench_kernel *k, const char *text,
                           const struct lgv_callbacks *callbacks, const char *method, const char *compiler, double dt,
                           unsigned long long steps);
void bench_kernel_close(struct bench_kernel *k);
double bench_kernel_run(void *bench_kernel); /* seconds per path-step */

/* An empty cache folder from here on: the next build of anything is a cold one. */
void bench_cache_empty(struct bench *b);
/* Adds a row (reference is taken over) to the array `table` of the JSON document. */
void bench_json_row(struct bench *b, const char *table, json_t *row);

/* A file in the folder, and a run of it by python3, or what LGV_BENCH_PYTHON names; false when that is not possible. */
bool bench_write(const char *folder, const char *name, const char *text);
bool bench_python(const char *folder, const char *file, const char *argument, struct lgv_text *printed);

/* LAMMPS (`lmp`) with a file of the folder: the least of its loop times, per step; 0 when that is not possible. */
double bench_lammps(const char *folder, const char *file, struct lgv_text *printed);

extern const char *const bench_kubo, *const bench_synchrotron;
/* The phi^4 ring of n sites with one noise on all of them, by indexed sums; in `text`. */
const char *bench_lattice(char *text, size_t size, int n);
/* The ring of Fermi, Pasta, Ulam and Tsingou with one noise h(q). */
const char *bench_ring(char *text, size_t size, int n);

void bench_methods(struct bench *b);     /* methods.c: every method beside its floor */
void bench_constrained(struct bench *b); /* constrained.c: RATTLE beside its floor, chains */
void bench_langevin(struct bench *b);    /* langevin.c: BAOAB beside its floors */
void bench_bodies(struct bench *b);      /* bodies.c: a rigid body beside its floor */
void bench_pairs(struct bench *b);       /* pairs.c: many bodies with pair forces beside a floor and LAMMPS */
void bench_liquid(struct bench *b);      /* molecules.c: Lennard-Jones particles beside LAMMPS, */
void bench_water(struct bench *b);       /* ... clusters of water */
void bench_speed(struct bench *b);       /* speed.c: flagship kernels against the floors, normals */
void bench_compile(struct bench *b);     /* system.c: compile latency, ... */
void bench_size(struct bench *b);        /* ... cost against degrees of freedom */
void bench_implicit(struct bench *b);    /* ... implicit methods on large systems */
void bench_threads(struct bench *b);     /* ... threads */
void bench_whole(struct bench *b);       /* ... everything around the kernel */
void bench_collectors(struct bench *b);  /* collectors.c: the cost of looking along the way */
void bench_workers(struct bench *b);     /* workers.c: weak scaling, merging of parts */
void bench_peers(struct bench *b);       /* peers.c: a chain of beads beside LAMMPS and OpenMM */
void bench_precision(struct bench *b);   /* precision.c: work against precision, beside heyoka */

#endif
