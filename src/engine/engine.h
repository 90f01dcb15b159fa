/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine: one object that prepares a run (the kernel is kept), takes parameters and options, runs ranges of paths,
 * merges, saves and finishes.  The command line, the C API and everything else that runs ensembles is a thin face of
 * it.  Its functions are declared in <lgv/lgv.h>; here is what only the stages above need. */
#ifndef LGV_ENGINE_H
#define LGV_ENGINE_H

#include "engine/study.h"

/* A run in one go: an engine used once.  Returns LGV_OK, LGV_FAILED_PATHS or LGV_INTERRUPTED with a valid result; else
 * *out is empty.  keep_source: file for the generated C, or NULL. */
enum lgv_status lgv_engine_once(struct lgv_model *m, const struct lgv_settings *settings, const char *keep_source,
                                lgv_progress *progress, void *user, struct lgv_result *out, struct lgv_error *err);

/* An engine with these settings instead of those of the model's file.  keep_source as above. */
enum lgv_status lgv_engine_with(struct lgv_model *m, const struct lgv_settings *settings, const char *keep_source,
                                struct lgv_engine **out, struct lgv_error *err);
/* The result, by what was collected, which is used up: less memory than lgv_engine_finish needs. */
enum lgv_status lgv_engine_end(struct lgv_engine *e, struct lgv_result *out, struct lgv_error *err);
/* Can paths be stopped on their way and gone on with, also from a file?  Of an engine that is prepared. */
bool lgv_engine_suspends(const struct lgv_engine *e);
bool lgv_engine_extendable(const struct lgv_engine *e); /* of one that is prepared */
double lgv_engine_bytes(const struct lgv_engine *e); /* of memory that a run needs, about; of one that is prepared */
uint64_t lgv_engine_paths(const struct lgv_engine *e); /* of the ensemble */
double lgv_engine_path_steps(const struct lgv_engine *e); /* of all paths, of one that is prepared */
struct lgv_model *lgv_engine_model(const struct lgv_engine *e);
double lgv_engine_step(const struct lgv_engine *e); /* dt of an engine that is prepared */
/* The share of its paths that have been collected. */
double lgv_engine_share(const struct lgv_engine *e);
/* The first paths that have not been collected: first .. end - 1.  False: there are none. */
bool lgv_engine_missing(const struct lgv_engine *e, uint64_t *first, uint64_t *end);

/* Single paths (`record`) are stored in this folder while they run; NULL: nowhere, and such a run is refused. */
enum lgv_status lgv_engine_record_in(struct lgv_engine *e, const char *folder, struct lgv_error *err);
bool lgv_engine_records(const struct lgv_engine *e); /* of one that is prepared */
/* What is in the folders becomes one file.  *paths of *wanted paths that the whole run has are in it. */
enum lgv_status lgv_engine_record_join(struct lgv_engine *e, const char *const *folder, size_t folders,
                                       const char *file, uint64_t *paths, uint64_t *wanted, struct lgv_error *err);

/* An option of a run alone; lgv_engine_set takes parameters too. */
enum lgv_status lgv_engine_option(struct lgv_engine *e, const char *name, const char *value, struct lgv_error *err);

/* until_stderr: prepares the engine; the number of paths to begin with becomes one of whole units. */
enum lgv_status lgv_engine_aim(struct lgv_engine *e, struct lgv_error *err);
/* When all paths have been run: more of them where until_stderr asks for them.  *more: there are. */
enum lgv_status lgv_engine_grow(struct lgv_engine *e, bool *more, struct lgv_error *err);

/* All paths of the settings, and the result: what was collected before is forgotten, and afterwards nothing is. */
enum lgv_status lgv_engine_whole(struct lgv_engine *e, struct lgv_result *out, struct lgv_error *err);

/* A later end; the paths go on, with the bits of a run that had it from the beginning and the same distance of outputs
 * (extend.c says when that is possible).  When it fails after the model was looked at, nothing is collected. */
enum lgv_status lgv_engine_extend(struct lgv_engine *e, const char *until, struct lgv_error *err);

/* The kernel it is prepared with; NULL: none yet. */
const struct lgv_kernel *lgv_engine_kernel(const struct lgv_engine *e);
uint64_t lgv_engine_builds(const struct lgv_engine *e); /* how many kernels it has had */

/* The status of a result, with a message for those that are not LGV_OK. */
enum lgv_status lgv_result_status(const struct lgv_result *r, enum lgv_status status, struct lgv_error *err);

#endif
