/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The run stage: units of paths over threads, and collectors that take what they give.
 *
 * A unit is 16 paths with consecutive numbers.  Whatever is summed inside a unit is summed in one fixed order; across
 * units only what commutes exactly is done (exact sums, counts, extremes, values stored by path number).  So results do
 * not depend on the number of threads, the width of a block or the order in which units are done. */
#ifndef LGV_RUN_H
#define LGV_RUN_H

#include "kernel/kernel.h"
#include <stdatomic.h>

#define LGV_UNIT 16
#define LGV_TALLY_DOF 16     /* up to here every step is looked at without being asked */
#define LGV_MANY_DOF 64      /* beyond, the certificate measures fewer directions and states */
#define LGV_DENSE_TIMES 4000 /* of kept paths, unless asked for otherwise */
#define LGV_MOST_STEPS 2.8e14 /* of a run: pairs of normals are counted in 48 bits */
#define LGV_MOST_BYTES 4e9    /* of what is collected along time: beyond, ask for fewer outputs */
#define LGV_MOST_THREADS 4096
#define LGV_GROUPS 64 /* unit u belongs to group u mod 64: standard errors by leaving out groups */

/* Brownian increments that somebody else has made: what a run uses instead of noise of its own. */
struct lgv_increments {
    char *file;  /* where they come from, for messages */
    size_t line; /* of the first step there; 0 when it has no lines */
    uint64_t paths, steps, noises;
    double step;      /* size of the steps; NaN when it is not told */
    uint64_t *number; /* [paths] path numbers, by which random start values are drawn; NULL: 0, 1, ... */
    double *dW, *dZ;  /* [paths][steps][noises]; dZ may be NULL */
};
void lgv_increments_free(struct lgv_increments *x);
#define LGV_MOST_INCREMENTS 1e8 /* values, to keep or to give */

/* The points of a sweep in one run: path j of point k is path number k * each + j. */
struct lgv_points {
    uint64_t each; /* paths of a point; 0: there are no points */
    bool common;   /* path j has the noise and the random start of path number j, at every point */
};
uint64_t lgv_points_stream(const struct lgv_points *p, uint64_t path); /* whose noise a path has */

/* Options of a run: `run:` in the model file, --set, lgv_run_set.  The table is lgv_run_options. */
struct lgv_settings {
    char method[LGV_WORD_SIZE];
    double step, until, start;
    double truncate; /* k of the truncated increments; negative: 4 for implicit methods, none for explicit ones */
    bool rescue;     /* steps without a solution are taken in parts */
    bool weak;       /* three-point increments */
    uint64_t paths, seed, outputs, threads, lanes, bins, check_states, keep_every;
    uint64_t tally;           /* paths whose changes are taken over every step */
    char keep[LGV_WORD_SIZE]; /* number of sample paths, or their numbers separated by commas */
    bool keep_increments;
    bool averages, correlations, extendable;
    char record[LGV_LIST_SIZE];       /* of single paths: final, states, increments */
    char record_paths[LGV_WORD_SIZE]; /* of which: all, how many, or their numbers */
    char until_stderr[LGV_WORD_SIZE]; /* NAME=E: paths are added until the error is reached */
    uint64_t crossings;
    double burn_in;
    char extremes[LGV_LIST_SIZE];    /* observables */
    bool modified_energy;            /* the modified Hamiltonian of the method is observed */
    char histograms2[LGV_LIST_SIZE]; /* pairs of them, a:b */
    bool density;
    char quantiles[LGV_WORD_SIZE]; /* sample or sketch */
    char compiler[LGV_WORD_SIZE];
    uint64_t given;                          /* bit i: row i of the table was given, in the file or later */
    const struct lgv_increments *increments; /* never from a model file; NULL: noise by seed */
    struct lgv_points points;                /* nor this */
};
extern const struct lgv_option lgv_run_options[];
extern const size_t lgv_run_option_count;

/* Settings from the defaults and the model's `run:` section. */
enum lgv_status lgv_settings_read(const struct lgv_model *m, struct lgv_settings *out, struct lgv_error *err);
/* One option, by name. */
enum lgv_status lgv_settings_set(struct lgv_settings *s, const char *name, const char *value, struct lgv_error *err);
/* Has it been given? */
bool lgv_settings_given(const struct lgv_settings *s, const char *name);
/* Refuses a step that is lost in the rounding of the start time, at its place in the file. */
enum lgv_status lgv_settings_check(const struct lgv_settings *s, const struct lgv_model *m, struct lgv_error *err);
/* A refusal that begins with the name of an option, as in "method X does not fit", gets the place of that option where
 * the file has given it; one that has a place keeps it. */
enum lgv_status lgv_settings_place(const struct lgv_settings *s, const struct lgv_model *m, struct lgv_error *err);
/* Refuses three-point increments in a study that compares paths. */
enum lgv_status lgv_settings_paths(const struct lgv_settings *s, struct lgv_error *err);
/* The same, where they are asked for, with kernels that cannot have them, and with a truncation. */
enum lgv_status lgv_settings_weak(const struct lgv_settings *s, const struct lgv_kernel *k, struct lgv_error *err);
/* Tells the model the times of the run, where its structure is examined. */
void lgv_settings_times(const struct lgv_settings *s, struct lgv_model *m);

/* A unit that was stopped on its way (suspend.c). */
struct lgv_suspended {
    uint64_t unit;
    char *data;
    size_t size;
};
void lgv_suspended_free(struct lgv_suspended *s, size_t count); /* what they hold */
uint64_t lgv_suspended_step(const struct lgv_suspended *s); /* up to which it has come */
bool lgv_suspended_copy(const struct lgv_suspended *from, struct lgv_suspended *to); /* false: no memory */

/* What is taken of single paths, beside what is observed (record.c). */
struct lgv_recording {
    bool final, states, increments; /* states: at all dense times */
    uint64_t first;                 /* of the paths before this one, */
    size_t npaths;                  /* and of these */
    uint64_t *path;
};
bool lgv_recording_path(const struct lgv_recording *r, uint64_t path);
bool lgv_recording_unit(const struct lgv_recording *r, uint64_t unit);
struct lgv_piece;
typedef bool lgv_sink(void *user, const struct lgv_piece *piece); /* called by any thread; false: the run stops */

struct lgv_plan {
    const struct lgv_kernel *kernel;
    double t0, dt;
    uint64_t steps, paths, seed, coarsen;
    uint64_t tally_units; /* so many units, from the first of the ensemble on, are tallied at every step */
    uint64_t first_unit; /* units before it are left out: a part of the ensemble */
    uint64_t end_unit;   /* and so are those from here on; 0: none */
    size_t ntimes;
    const uint64_t *time_step; /* [ntimes] ascending step numbers at which to observe; the first is 0 */
    double clip;               /* largest |dW| / sqrt(dt); 0: no limit; < 0: three-point increments */
    bool rescue;               /* steps without a solution are taken in parts */
    unsigned threads;          /* 0: all cores */
    const struct lgv_increments *increments; /* used instead of noise; NULL: none */
    struct lgv_points points;
    size_t nsnapshots;
    const size_t *snapshot; /* indices into time_step: states of the first unit kept for the certificate */
    uint64_t crossings; /* of every section and path that are stored, in the units below */
    /* Some units may be observed more often, for pictures of their paths. */
    size_t ndense, ndense_units;
    const uint64_t *dense_step; /* [ndense] ascending, with all of time_step among them */
    const uint64_t *dense_unit; /* [ndense_units] ascending */
    /* Units that are stopped can be gone on with: what they observe is kept until they end. */
    bool suspend;
    bool ends; /* units that end are among those, too: they can be gone on with to a later time */
    const struct lgv_suspended *resume; /* [nresume] units to go on with, beside the others */
    size_t nresume;
    /* Units with recorded paths give their states to the sink, too, at all dense times. */
    const struct lgv_recording *recording; /* NULL: nothing is recorded */
    lgv_sink *sink;                        /* NULL: what is recorded goes nowhere */
    void *sink_user;
};
size_t lgv_suspend_values(const struct lgv_plan *p); /* doubles that are kept for it, by every thread */

/* What a unit gives: its paths at some of the output times.  Pieces of a unit come in the order of time. */
struct lgv_piece {
    uint64_t unit, path;    /* the first path is number path = 16 unit; the others follow */
    unsigned used;          /* paths that there are */
    size_t first, count;    /* output times first .. first + count - 1 */
    const double *value;    /* [count][nobserve][LGV_UNIT] */
    const uint16_t *alive;  /* [count] bit l: path l has a value at that time */
    const double *tally;    /* with `last`: [tallies][2][LGV_UNIT] extremes over all steps; NULL: none were taken */
    const double *events;   /* with `last`: [events][LGV_EVENT_ROWS][LGV_UNIT] (abi.h); NULL: there are none */
    const double *crossing; /* with `last`, in dense units: as in struct lgv_block, LGV_UNIT lanes; NULL: none */
    const double *crossings; /* [sections][LGV_SECTION_ROWS][LGV_UNIT] */
    const double *state;    /* in units that are recorded: [count][nx + np][LGV_UNIT]; NULL: not taken */
    const double *final;    /* with `complete`, in these: [nx + np][LGV_UNIT] */
    bool last;              /* nothing more comes of this unit; `fail` is final */
    bool complete;          /* with `last`: it was not stopped before its end */
    const int *fail;        /* [LGV_UNIT] reason, LGV_STOPPED or 0 */
    const uint64_t *fail_step; /* [LGV_UNIT] */
    const uint64_t *steps;     /* [LGV_UNIT] that the paths have made */
};

/* A collector takes pieces.  Every thread has an object of its own, and these are merged at the end in any order; or
 * all threads share one and write to places that belong to their paths. */
struct lgv_collector {
    const char *name;
    bool shared;
    bool dense;                        /* takes the units that are observed more often, at all those times */
    void *(*create)(const void *shape); /* NULL: no memory */
    bool (*add)(void *object, const struct lgv_piece *piece); /* false: no memory */
    bool (*merge)(void *object, const void *other);           /* false: no memory */
    void (*free)(void *object);                               /* NULL allowed */
    /* What it has, appended to `out`; and back, into an object that create has just made for the same shape but for the
     * number of paths.  Load is false when memory is out; bytes that make no sense set from->bad and nothing worse. */
    void (*save)(void *object, struct lgv_text *out);
    bool (*load)(void *object, struct lgv_bytes *from);
};
struct lgv_collecting { /* one entry of a list of them */
    const struct lgv_collector *kind;
    const void *shape; /* what create needs */
    void *object;      /* receives everything */
};
void lgv_collecting_save(const struct lgv_collecting *list, size_t count, struct lgv_text *out);
/* Into objects that create has just made; false: no memory.  Bytes that make no sense set from->bad. */
bool lgv_collecting_load(const struct lgv_collecting *list, size_t count, struct lgv_bytes *from);

struct lgv_run_report {
    double seconds;
    uint64_t path_steps; /* that paths have made: those at rest make none */
    uint64_t clipped;    /* path-steps with a truncated increment, or proposals not accepted; */
    uint64_t astray;     /* those of them that do not lead back, or to no place at all; without proposals: steps that */
    uint64_t deepest;    /* were taken in parts, and how often the smallest of these were halved */
    double iterations;   /* Newton iterations per step */
    double evaluations;  /* gradient evaluations per step */
    uint64_t iterated, vec_steps; /* Newton iterations, and the steps of vecs they were for */
    unsigned threads;
    bool stopped;     /* and units that were on their way are lost */
    double *snapshot; /* [nsnapshots][LGV_UNIT][nx + np]; NaN where there is none */
    uint64_t next_unit; /* those before it have been taken: they are complete, or suspended */
    struct lgv_suspended *suspended;
    size_t nsuspended, suspended_room;
};

enum lgv_status lgv_ensemble_run(const struct lgv_plan *plan, const struct lgv_collecting *list, size_t count,
                                 lgv_progress *progress, void *progress_user, struct lgv_run_report *report,
                                 struct lgv_error *err);

/* Hands over what suspended units have observed, as if they ended there, and counts their steps in the report.  False:
 * no memory. */
bool lgv_ensemble_partly(const struct lgv_plan *plan, const struct lgv_collecting *list, size_t count,
                         const struct lgv_suspended *unit, size_t units, struct lgv_run_report *report);

/* Several processes that run ensembles together (lgv-mpi).  Each runs the same program and takes the same decisions;
 * inside lgv_ensemble_run the units are dealt, and what was collected is merged, exactly, and given to all.  deal and
 * stop may be called by any thread, by one at a time; the others by all processes together, in the same order. */
struct lgv_peers {
    unsigned number, count;
    void (*begin)(void);                /* units are dealt from 0 on */
    uint64_t (*deal)(uint64_t count);   /* takes so many of them: the first; it may be beyond the last there is */
    bool (*stop)(bool mine);            /* says that all shall stop, or asks whether somebody has said so */
    bool (*any)(bool mine);             /* does one of them say yes? */
    void (*send)(unsigned to, const char *data, size_t size);
    char *(*receive)(unsigned from, size_t *size);      /* free() it; NULL: no memory */
    char *(*spread)(const char *data, size_t *size);    /* what process 0 gives to all; free() it; NULL: no memory */
};
extern const struct lgv_peers *lgv_peers; /* NULL: this process is alone */
bool lgv_peers_any(bool mine);            /* does one of all processes say yes? */

/* peers.c: what processes exchange when they have done something together. */
struct lgv_exchange {
    void (*pack)(void *user, struct lgv_text *out);  /* what this one has done */
    bool (*add)(void *user, struct lgv_bytes *from); /* what another one has; false: no memory */
    bool (*reset)(void *user);                       /* nothing is done yet; false: no memory */
    void *user;
};
/* By all processes: each has then what all have done.  `ok`: this one has had memory.  False: one of them had none. */
bool lgv_peers_exchange(const struct lgv_exchange *x, bool ok);

/* crew.c: threads that take the units next .. end - 1, one after the other, until all are taken or somebody stops. */
struct lgv_crew {
    atomic_ullong next;
    uint64_t end;
    bool dealt; /* by lgv_peers, to several processes; then `next` is not used, and */
    uint64_t have, have_end; /* these are the units that this process has been given, */
    uint64_t seen;           /* those before this one have been given to somebody */
    lgv_progress *progress; /* NULL: nobody is told */
    void *user;
    atomic_int stop, no_memory;
    atomic_flag telling; /* guards told, furthest and the call */
    double told;         /* when progress was last reported */
    double furthest;     /* what was reported: a thread that was held up is not to tell an older number */
};
#define LGV_CREW(first, last, whom, whose)                                                                             \
    {.next = (first), .end = (last), .progress = (whom), .user = (whose), .telling = ATOMIC_FLAG_INIT}
typedef void lgv_crew_work(struct lgv_crew *c, void *user);
/* Calls `work` in each of at most so many threads; returns how many there were. */
unsigned lgv_crew_run(struct lgv_crew *c, unsigned threads, lgv_crew_work *work, void *user);
bool lgv_crew_next(struct lgv_crew *c, uint64_t *unit); /* false: there is no more to do */
bool lgv_crew_stopped(struct lgv_crew *c);
void lgv_crew_no_memory(struct lgv_crew *c); /* everybody stops */
extern double lgv_crew_pause; /* seconds from one time that progress is told to the next; tests want more of them */
/* Tells the progress, a few times a second; where the answer is not 0 everybody stops. */
void lgv_crew_tell(struct lgv_crew *c, double fraction);

/* How many steps to take before the next look at the stop flag: at most `most`, and no more than take some tenths of a
 * second by what the last steps took.  Nothing but the time of the look depends on it.  Begins as {0}. */
struct lgv_pace {
    double seconds; /* of a step; 0: not known yet */
    double begin;
    uint64_t steps; /* being measured */
};
uint64_t lgv_pace_begin(struct lgv_pace *p, uint64_t left, uint64_t most);
void lgv_pace_end(struct lgv_pace *p);

/* Steps that end at `span`: of the size wanted where that divides it, else shorter ones. */
uint64_t lgv_whole_steps(double span, double wanted, double *step);

/* One block with memory of its own. */
struct lgv_own_block {
    struct lgv_block block;
    unsigned long long *path, *number;
    struct lgv_growing *scratch;
    double *bath; /* numbers of a Langevin model, or NULL */
    double *process; /* numbers of coloured noise, or NULL */
    void *memory;
};
/* rescue.c: can steps of this kernel be taken in parts? */
#define LGV_RESCUE_DEPTH 12  /* halves of halves, at most */
#define LGV_RESCUE_NEAR 0.25 /* of the way that both halves go: so far apart may they and the whole be */
bool lgv_rescue_possible(const struct lgv_kernel *k);
/* In b->astray of a lane: how many steps were taken in parts, and the most halvings. */
#define LGV_RESCUE_OF(count, deepest) ((uint64_t)(deepest) << 48 | (count))
#define LGV_RESCUE_COUNT(x) ((x) & (((uint64_t)1 << 48) - 1))
#define LGV_RESCUE_DEEPEST(x) ((x) >> 48)
/* The noise of both halves of a step dt, given dW and y = dZ/dt - dW/2 and two independent normals. */
struct lgv_bridge {
    double dW, y;
};
void lgv_bridge_halve(double dt, double dW, double y, const double x[2], struct lgv_bridge half[2]);
/* Normals of number step * noises + noise of a path, at a place of the tree of halves, below 2^15: 1 is the step, 2 and
 * 3 are its halves; 0 is for y. */
void lgv_bridge_normals(uint64_t seed, uint64_t path, uint64_t number, unsigned place, double z[2]);

/* Bound for the normals of truncated increments with this step and setting of `truncate`: sqrt(2 k |ln dt|), or 0. */
#define LGV_CLIP_THREE (-1.0) /* instead: three-point increments */
double lgv_clip_bound(const struct lgv_kernel *k, double dt, double truncate);
/* Refuses a truncation that was asked for where there is no such bound: for dt >= 1, where ln dt is not negative. */
enum lgv_status lgv_clip_check(const struct lgv_kernel *k, double dt, double truncate, struct lgv_error *err);
/* Refuses more steps than a path has numbers for; each step is the sum of `coarsen` finer ones. */
enum lgv_status lgv_normals_check(const struct lgv_kernel *k, uint64_t steps, uint64_t coarsen, struct lgv_error *err);
bool lgv_block_create(const struct lgv_kernel *k, double t0, double dt, uint64_t seed, uint64_t coarsen,
                      struct lgv_own_block *out);
/* Another size of step, made of `coarsen` fine ones. */
void lgv_block_step(const struct lgv_kernel *k, struct lgv_own_block *b, double dt, uint64_t coarsen);
/* Its steps from now on are without friction and noise of the bath, up to the next lgv_block_step: lgv_bath_switch_off.
 */
void lgv_block_without_bath(const struct lgv_kernel *k, struct lgv_own_block *b);
/* Step 0 of paths path .. path + used - 1; idle lanes repeat the last of them. */
void lgv_block_start(const struct lgv_kernel *k, struct lgv_own_block *b, uint64_t path, unsigned used);
/* The same of paths that are points of a sweep. */
void lgv_block_start_points(const struct lgv_kernel *k, struct lgv_own_block *b, const struct lgv_points *points,
                            uint64_t path, unsigned used);
void lgv_block_free(struct lgv_own_block *b);

/* increments.c: between [path][step][noise] and the [step][row][lane] of blocks. */

/* Rows of a step: dW of every noise, and dZ where the kernel uses it. */
size_t lgv_increments_rows(const struct lgv_kernel *k);
/* Steps first .. first + count - 1 of the paths path .. path + lanes - 1; lanes without a path repeat the last one. */
void lgv_increments_lay(const struct lgv_increments *x, size_t rows, size_t lanes, uint64_t path, uint64_t first,
                        uint64_t count, double *out);
/* Takes from x what the settings leave open (paths, step, until), and refuses what contradicts it. */
enum lgv_status lgv_increments_fit(const struct lgv_increments *x, const struct lgv_model *m, struct lgv_settings *s,
                                   struct lgv_error *err);
/* Refuses increments that do not fit the plan and its kernel. */
enum lgv_status lgv_increments_check(const struct lgv_plan *plan, struct lgv_error *err);
/* What a run of this plan uses for these paths, before any cut.  dZ is NULL where the kernel does not use it.  The
 * numbers are those of x, if there is one, else the noise by seed.  LGV_CANNOT_RUN when memory is out. */
enum lgv_status lgv_increments_of(const struct lgv_plan *plan, const uint64_t *path, size_t paths, double **dW,
                                  double **dZ, struct lgv_error *err);
/* Memory for vectors: free() it. */
double *lgv_aligned(size_t doubles);

#endif
