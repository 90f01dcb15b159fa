/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of the engine share. */
#ifndef LGV_ENGINE_PRIVATE_H
#define LGV_ENGINE_PRIVATE_H

#include "engine/engine.h"

#define LGV_MAX_PAIRS 16
#define LGV_MOST_SUSPENDED (256u << 20) /* bytes that a unit may have observed and be suspended all the same */

/* The plan of an ensemble with the arrays it refers to; it must not move. */
struct lgv_layout {
    struct lgv_settings settings; /* fitted to the increments where these are given */
    struct lgv_plan plan;
    struct lgv_shape shape;
    uint64_t *time_step, *kept, *dense_step, *dense_unit;
    uint64_t every; /* steps between two times of kept paths */
    struct lgv_recording recording;
    size_t nkept, snapshot[4];
    double *centre;                         /* of sketches: what path 0 has at its start */
    size_t npairs, pair[2 * LGV_MAX_PAIRS]; /* series that have a histogram together */
};
/* plan.c, in this order: settings, then steps and paths, then what needs the kernel. */
enum lgv_status lgv_layout_begin(struct lgv_model *m, const struct lgv_settings *asked, struct lgv_layout *w,
                                 struct lgv_error *err);
enum lgv_status lgv_layout_steps(struct lgv_layout *w, struct lgv_error *err);
enum lgv_status lgv_layout_finish(struct lgv_layout *w, const struct lgv_kernel *k, struct lgv_error *err);
/* Numbers as in "8" or "0,17,204": at most LGV_MOST_LISTED; *list: it is a list.  `name` is the option. */
#define LGV_MOST_LISTED 64
enum lgv_status lgv_paths_listed(const char *name, const char *text, uint64_t number[LGV_MOST_LISTED], size_t *count,
                                 bool *list, struct lgv_error *err);
/* record.c: what is recorded, before and after times are known; bytes of memory for it. */
enum lgv_status lgv_layout_recording(struct lgv_layout *w, struct lgv_error *err);
enum lgv_status lgv_layout_recorded(const struct lgv_layout *w, struct lgv_error *err);
double lgv_layout_record_bytes(const struct lgv_layout *w, double threads);
bool lgv_layout_suspends(const struct lgv_layout *w); /* what a unit observes can be kept until it ends */
double lgv_layout_bytes(const struct lgv_layout *w); /* of memory that a run needs, about */
/* Of memory that this process may have: of the machine, or of a group that it is in (a container, a job of a cluster);
 * 0: not known. */
double lgv_memory_there(void);
void lgv_layout_free(struct lgv_layout *w); /* and what it consists of */

struct lgv_range { /* paths first .. end - 1 */
    uint64_t first, end;
};

/* What has been collected: by running, from a file or from another engine. */
struct lgv_collection {
    struct lgv_statistics statistics;
    struct lgv_run_report report; /* of all runs together */
    struct lgv_range *range;      /* ascending, apart from each other */
    size_t nranges;
    struct lgv_suspended *suspended; /* units on their way, ascending; not in the ranges */
    size_t nsuspended, suspended_room;
    struct lgv_suspended *ended; /* where units of the ranges have ended, if that is kept (`extendable`); ascending */
    size_t nended, ended_room;
};
/* False: no memory, and the statistics are lost. */
bool lgv_collection_begin(struct lgv_collection *c, const struct lgv_layout *layout);
void lgv_collection_end(struct lgv_collection *c);
/* c += other. */
bool lgv_collection_merge(struct lgv_collection *c, const struct lgv_collection *other, size_t snapshots);
void lgv_report_add(struct lgv_run_report *r, const struct lgv_run_report *other, size_t snapshots);
bool lgv_ranges_add(struct lgv_collection *c, struct lgv_range r);
/* Takes over what s holds, also when memory is out. */
bool lgv_collection_suspend(struct lgv_collection *c, struct lgv_suspended s);
bool lgv_collection_ended(struct lgv_collection *c, struct lgv_suspended s);
/* The first paths that are neither collected nor on their way.  False: there are none. */
bool lgv_collection_gap(const struct lgv_collection *c, uint64_t paths, struct lgv_range *out);
struct lgv_range lgv_unit_range(uint64_t unit, uint64_t paths);

struct lgv_engine {
    struct lgv_model *model;
    struct lgv_settings settings; /* as asked for */
    struct lgv_increments increments;
    char *keep_source;
    char *record_dir; /* where single paths are stored on their way; NULL: nowhere */
    lgv_progress *progress;
    void *user;
    uint64_t changes, loads; /* of the model, when the engine was prepared */

    bool built; /* there is a kernel, made for these: */
    struct lgv_kernel kernel;
    uint64_t builds;
    char compiler[LGV_WORD_SIZE];
    char extremes[LGV_LIST_SIZE];
    bool modified;
    uint64_t lanes, few; /* few: the number of paths, where that is smaller than a unit */
    const char *chosen;

    struct lgv_layout *layout; /* NULL: not prepared */
    char *description;         /* what parts must agree in: a line "name<tab>value" each */
    struct lgv_collection *collected; /* NULL: nothing */
};

/* recipe.c: what a part says about the run it belongs to. */
struct lgv_recipe {
    bool whole; /* the run can be made from it */
    char *file, *text;
    struct lgv_override *parameter;
    size_t nparameters, noptions;
    char **option; /* [2 noptions] name, value */
};
void lgv_recipe_add(const struct lgv_engine *e, struct lgv_text *out);
bool lgv_recipe_take(struct lgv_bytes *b, struct lgv_recipe *r); /* false: no memory; free it in any case */
void lgv_recipe_free(struct lgv_recipe *r);
enum lgv_status lgv_recipe_make(const struct lgv_recipe *r, const char *path, struct lgv_model **model,
                                struct lgv_engine **engine, struct lgv_error *err);

/* part.c: the text by which parts are known to belong together; malloc'd, NULL: no memory. */
char *lgv_engine_describe(const struct lgv_engine *e);
/* LGV_BAD_INPUT with the first line that differs; `whose` is what messages call the other. */
enum lgv_status lgv_engine_agree(const struct lgv_engine *e, const char *description, const char *whose,
                                 struct lgv_error *err);
/* engine.c: takes in what another has collected. */
enum lgv_status lgv_engine_absorb(struct lgv_engine *e, const struct lgv_collection *c, const char *whose,
                                  struct lgv_error *err);
/* record.c: the sink of a plan that is about to be run; LGV_OK with *out NULL where nothing is recorded. */
enum lgv_status lgv_engine_recorder(struct lgv_engine *e, struct lgv_plan *plan, struct lgv_record **out,
                                    struct lgv_error *err);
bool lgv_engine_collecting(struct lgv_engine *e); /* there is something to collect in; false: no memory */
void lgv_engine_unprepare(struct lgv_engine *e);
enum lgv_status lgv_engine_ready(struct lgv_engine *e, struct lgv_error *err); /* prepared, and nothing has changed */

#endif
