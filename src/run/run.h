/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The run stage: blocks of paths over threads.
 *
 * Paths come in units of 16 consecutive numbers; unit u belongs to group u mod 64.  One thread works through a group in
 * path order, so whatever is reduced per group, and then over groups in order, has the same bits for any number of
 * threads and any lane width. */
#ifndef LGV_RUN_H
#define LGV_RUN_H

#include "kernel/kernel.h"

#define LGV_GROUPS 64
#define LGV_UNIT 16

/* Options of a run: `run:` in the model file, --set, lgv_run_set.  The table is lgv_run_options. */
struct lgv_settings {
    char method[LGV_WORD_SIZE];
    double step, until, start;
    double truncate; /* k of the truncated increments; negative: 4 for implicit methods, none for explicit ones */
    uint64_t paths, seed, outputs, threads, lanes, bins, check_states;
    char keep[LGV_WORD_SIZE]; /* number of sample paths, or their numbers separated by commas */
    char compiler[LGV_WORD_SIZE];
};
extern const struct lgv_option lgv_run_options[];
extern const size_t lgv_run_option_count;

/* Settings from the defaults and the model's `run:` section. */
enum lgv_status lgv_settings_read(const struct lgv_model *m, struct lgv_settings *out, struct lgv_error *err);
/* Tells the model the times of the run, where its structure is examined. */
void lgv_settings_times(const struct lgv_settings *s, struct lgv_model *m);

struct lgv_plan {
    const struct lgv_kernel *kernel;
    double t0, dt;
    uint64_t steps, paths, seed, coarsen;
    size_t ntimes;
    const uint64_t *time_step; /* [ntimes] ascending step numbers at which to observe; the first is 0 */
    double clip;               /* largest |dW| / sqrt(dt); 0: no limit */
    unsigned threads;          /* 0: all cores */
    size_t nsnapshots;
    const size_t *snapshot; /* indices into time_step: states of the first unit kept for the certificate */
};

/* A finished (or stopped) block of paths. */
struct lgv_block_result {
    unsigned group, lanes, used; /* lanes of the arrays, paths really used */
    uint64_t path;               /* number of the first path; the others follow */
    size_t ntimes;               /* observed times; fewer than planned after a stop */
    const double *value;         /* [ntimes][nobserve][lanes] */
    const int *fail;             /* [lanes] reason or 0 */
    const uint64_t *fail_step;   /* [lanes] */
    bool complete;
};

struct lgv_run_report {
    double seconds;
    uint64_t path_steps; /* really done */
    uint64_t clipped;    /* path-steps with a truncated increment */
    double iterations;   /* Newton iterations per step */
    double evaluations;  /* gradient evaluations per step */
    unsigned threads;
    bool stopped;
    double *snapshot; /* [nsnapshots][LGV_UNIT][2 nq]; NaN where there is none */
};

/* Called for every block: blocks of one group in path order and by one thread at a time, groups concurrently.
 * False stops the run: out of memory. */
typedef bool lgv_block_done(void *user, const struct lgv_block_result *block);

enum lgv_status lgv_ensemble_run(const struct lgv_plan *plan, lgv_block_done *done, void *user, lgv_progress *progress,
                                 void *progress_user, struct lgv_run_report *report, struct lgv_error *err);

/* How many steps to take before the next look at the stop flag: at most `most`, and no more than take some tenths of a
 * second by what the last steps took.  Nothing but the time of the look depends on it.  Begins as {0}. */
struct lgv_pace {
    double seconds; /* of a step; 0: not known yet */
    double begin;
    uint64_t steps; /* being measured */
};
uint64_t lgv_pace_begin(struct lgv_pace *p, uint64_t left, uint64_t most);
void lgv_pace_end(struct lgv_pace *p);

/* One block with memory of its own, for measurements on single steps. */
struct lgv_bench_block {
    struct lgv_block block;
    unsigned long long *path;
    void *memory;
};
/* Bound for the normals of truncated increments with this step and setting of `truncate`: sqrt(2 k |ln dt|), or 0. */
double lgv_clip_bound(const struct lgv_kernel *k, double dt, double truncate);
/* Refuses a truncation that was asked for where there is no such bound: for dt >= 1, where ln dt is not negative. */
enum lgv_status lgv_clip_check(const struct lgv_kernel *k, double dt, double truncate, struct lgv_error *err);
bool lgv_block_create(const struct lgv_kernel *k, double t0, double dt, uint64_t seed, uint64_t coarsen,
                      struct lgv_bench_block *out);
void lgv_block_free(struct lgv_bench_block *b);

#endif
