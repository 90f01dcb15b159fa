/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Single paths of a run (`record`): which, how much of them, where they go. */
#include "engine/private.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

enum lgv_status lgv_paths_listed(const char *name, const char *text, uint64_t number[LGV_MOST_LISTED], size_t *count,
                                 bool *list, struct lgv_error *err) {
    *list = strchr(text, ',') != NULL;
    *count = 0;
    for (const char *c = text; *c;) {
        char *end = NULL;
        bool good = isdigit((unsigned char)*c) && *count < LGV_MOST_LISTED;
        if (good) number[(*count)++] = strtoull(c, &end, 10);
        if (!good || (*end && *end != ','))
            return lgv_fail(err, LGV_BAD_INPUT, "%s: '%s' is neither a number of paths nor a list like 0,17,204", name,
                            text);
        c = *end ? end + 1 : end;
    }
    return LGV_OK;
}

static enum lgv_status chosen_paths(const struct lgv_settings *s, struct lgv_recording *r, struct lgv_error *err) {
    uint64_t number[LGV_MOST_LISTED];
    bool list = false;
    if (strcmp(s->record_paths, "all") == 0) {
        r->first = UINT64_MAX;
        return LGV_OK;
    }
    enum lgv_status status = lgv_paths_listed("record_paths", s->record_paths, number, &r->npaths, &list, err);
    if (status) return status;
    r->first = !list && r->npaths ? number[0] : 0;
    if (!list) r->npaths = 0;
    if (!list && r->first < 1)
        return lgv_fail(err, LGV_BAD_INPUT, "record_paths: there is nothing to record of 0 paths");
    if (!(r->path = lgv_new(r->npaths + 1, sizeof *r->path))) return lgv_fail_memory(err);
    for (size_t i = 0; i < r->npaths; i++) {
        r->path[i] = number[i];
        if (number[i] >= s->paths)
            return lgv_fail(err, LGV_BAD_INPUT,
                            "record_paths: path %llu is not among the %llu paths (numbers start at 0)",
                            (unsigned long long)number[i], (unsigned long long)s->paths);
    }
    return LGV_OK;
}

enum lgv_status lgv_layout_recording(struct lgv_layout *w, struct lgv_error *err) {
    struct lgv_recording *r = &w->recording;
    const char *list = w->settings.record;
    char word[40];
    while (lgv_list_next(&list, word, sizeof word)) {
        if (strcmp(word, "final") == 0)
            r->final = true;
        else if (strcmp(word, "states") == 0)
            r->states = true;
        else if (strcmp(word, "increments") == 0)
            r->increments = true;
        else
            return lgv_fail(err, LGV_BAD_INPUT, "record: '%s' is none of final, states, increments", word);
    }
    if (!r->final && !r->states && !r->increments) return LGV_OK;
    if (w->settings.extendable)
        return lgv_fail(err, LGV_BAD_INPUT, "record: a run that is extendable has no end yet; choose one of both");
    w->plan.recording = r;
    return chosen_paths(&w->settings, r, err);
}

enum lgv_status lgv_layout_recorded(const struct lgv_layout *w, struct lgv_error *err) {
    if (!w->plan.recording) return LGV_OK;
    if (w->recording.increments && w->plan.kernel->bath)
        return lgv_fail(err, LGV_BAD_INPUT, "record: the noise of a bath (`langevin`) cannot be stored as increments");
    if (w->recording.increments && !w->plan.kernel->nnoise)
        return lgv_fail(err, LGV_BAD_INPUT, "record: the model has no noise, so there are no increments");
    double unit = lgv_record_size(&w->plan) * LGV_UNIT * sizeof(double);
    if (unit <= LGV_MOST_SUSPENDED) return LGV_OK;
    return lgv_fail(err, LGV_CANNOT_RUN,
                    "record: %.3g numbers of every path are %.3g MB of each %d paths that run together; at most %u MB "
                    "are possible: record less of them, or at fewer times",
                    lgv_record_size(&w->plan), unit / 1e6, LGV_UNIT, LGV_MOST_SUSPENDED >> 20);
}

/* A unit in the hands of every thread, twice with its increments; and what is collected and stored, as it is and as a
 * file. */
double lgv_layout_record_bytes(const struct lgv_layout *w, double threads) {
    if (!w->plan.recording) return 0;
    double unit = lgv_record_size(&w->plan) * LGV_UNIT * sizeof(double);
    return 3 * threads * unit + 3 * (LGV_RECORD_BYTES + unit);
}

/* ---- running ---- */

enum lgv_status lgv_engine_record_in(struct lgv_engine *e, const char *folder, struct lgv_error *err) {
    char *copy = folder ? lgv_copy(folder) : NULL;
    if (folder && !copy) return lgv_fail_memory(err);
    free(e->record_dir);
    e->record_dir = copy;
    return LGV_OK;
}

bool lgv_engine_records(const struct lgv_engine *e) {
    return e->layout->plan.recording != NULL;
}

/* By which files of different runs are told apart. */
static void name_run(const struct lgv_engine *e, char out[32]) {
    snprintf(out, 32, "%016llx",
             (unsigned long long)lgv_hash(LGV_HASH_START, e->description, strlen(e->description)));
}

enum lgv_status lgv_engine_recorder(struct lgv_engine *e, struct lgv_plan *plan, struct lgv_record **out,
                                    struct lgv_error *err) {
    *out = NULL;
    if (!plan->recording) return LGV_OK;
    if (!e->record_dir)
        return lgv_fail(err, LGV_BAD_INPUT, "record: single paths are written to a directory, and there is none here");
    char run[32];
    name_run(e, run);
    if (!(*out = lgv_record_open(plan, e->model, run, e->record_dir))) return lgv_fail_memory(err);
    plan->sink = lgv_record_add;
    plan->sink_user = *out;
    return LGV_OK;
}

enum lgv_status lgv_engine_record_join(struct lgv_engine *e, const char *const *folder, size_t folders,
                                       const char *file, uint64_t *paths, uint64_t *wanted, struct lgv_error *err) {
    char run[32];
    enum lgv_status status = lgv_engine_ready(e, err);
    if (status) return status;
    const struct lgv_recording *r = &e->layout->recording;
    const uint64_t all = e->layout->settings.paths;
    *wanted = r->first < all ? r->first : all;
    *wanted += r->npaths;
    name_run(e, run);
    return lgv_record_join(&e->layout->plan, e->model, run, folder, folders, file, paths, err);
}
