/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A thread that runs units of an ensemble: what ensemble.c and suspend.c share. */
#ifndef LGV_WORKER_H
#define LGV_WORKER_H

#include "run/run.h"

#define PIECE_TIMES 256

struct job {
    const struct lgv_plan *plan;
    const struct lgv_collecting *list;
    struct lgv_collecting *own; /* what this process alone collects, where there are several; else NULL */
    size_t ncollectors;
    struct lgv_run_report *report;
    struct lgv_crew crew;
    atomic_ullong advanced; /* steps of all lanes that paths have, at rest or not: for progress */
    atomic_ullong path_steps, iterations, evaluations, vec_steps, clipped, astray, deepest;
    atomic_ullong wanted; /* bytes of scratch that a kernel could not get */
    double total;
    size_t rows;            /* output times of a piece, at most */
};

struct worker {
    struct job *job;
    unsigned nblocks, lanes;
    struct lgv_own_block block[LGV_UNIT];
    double *copy;  /* a block's state at the beginning of a chunk */
    double *values; /* [rows][nobserve][LGV_UNIT], or all that a unit observes: then it can be suspended */
    double *value;  /* of the present piece, in there */
    double *tally; /* [tallies][2][LGV_UNIT] */
    double *events; /* [events][LGV_EVENT_ROWS][LGV_UNIT] */
    double *crossing, *crossings; /* of sections, as in struct lgv_piece */
    double *given; /* increments of a chunk of one block, when the plan has some */
    size_t given_rows;
    double *by_block; /* [blocks][rows][nobserve][lanes]; `value` is the place when a block is a unit */
    void **object;    /* [ncollectors] */
    struct lgv_rescue *rescue; /* NULL until it is needed */
    struct lgv_pace pace;
    /* the present unit */
    struct lgv_piece piece;
    uint16_t alive[PIECE_TIMES];
    int fail[LGV_UNIT];
    uint64_t fail_step[LGV_UNIT], steps[LGV_UNIT];
    unsigned lost; /* bit l: path l has no start */
    size_t ntimes;
    const uint64_t *time_step;
    bool dense;
    bool recorded;  /* it has paths that are recorded: */
    double *states; /* [times, or 1][nx + np][LGV_UNIT]; NULL: no states are */
    double *final;  /* [nx + np][LGV_UNIT] */
    struct lgv_own_block again; /* for the ends of recorded paths that have stopped; no memory: not needed so far */
    size_t planned; /* times that collectors of planned times have had */
};

/* Doubles of the crossings of one path. */
size_t lgv_crossing_values(const struct lgv_plan *p);

/* suspend.c: the present unit, of which `times` output times have been observed.  False: no memory. */
bool lgv_suspend(const struct worker *w, size_t times, struct lgv_suspended *out);
/* Back into a unit that has just begun; returns how many times have been observed, 0 when the bytes make no sense. */
size_t lgv_suspend_end(struct worker *w, const struct lgv_suspended *from);

/* record.c: states of units that are recorded.  Memory, false: there is none; and its end. */
bool lgv_record_create(struct worker *w);
void lgv_record_destroy(struct worker *w);
bool lgv_record_all(const struct worker *w); /* of the present unit states are taken at all its times */
void lgv_record_take(struct worker *w, size_t time); /* that it has just come to */
void lgv_record_show(struct worker *w);              /* in the piece that is handed over */
size_t lgv_record_values(const struct lgv_plan *p);  /* doubles that a thread keeps for it */

/* peers.c: the job of this process is one of several from here on, */
void lgv_peers_begin(struct job *j);
/* and has what all of them have done in the end. */
void lgv_peers_end(struct job *j);

/* rescue.c: the state before a step that is repeated by itself; false: no memory. */
bool lgv_rescue_before(struct worker *w, const struct lgv_block *b);
/* Behind it: lanes whose equations had no solution take the step in parts.  given: the increments of the step, or NULL;
 * value: where b->value was before it. */
void lgv_rescue_after(struct worker *w, struct lgv_block *b, const double *given, double *value);
void lgv_rescue_end(struct worker *w);

/* ensemble.c: a block of the worker: paths from `path` on to their start, and on by at most lgv_worker_chunk steps. */
void lgv_worker_start(struct worker *w, struct lgv_own_block *b, uint64_t path, unsigned used);
void lgv_worker_advance(struct worker *w, struct lgv_block *b, uint64_t path, uint64_t steps);
uint64_t lgv_worker_chunk(const struct worker *w);
uint64_t lgv_steps_made(const struct lgv_block *b, unsigned lane); /* before it failed or came to rest */
/* Steps of the job have been halved so often. */
void lgv_deepest(struct job *j, uint64_t deepest);
/* The report gets one more; false: no memory. */
bool lgv_report_suspend(struct lgv_run_report *r, const struct lgv_suspended *s);

#endif
