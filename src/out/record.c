/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sink of `record`: takes what units give, and stores units that are complete as HDF5 files, each written whole
 * (layout in record.h).  A file is called after its first unit.  A run that was killed goes on from its last state, to
 * which all units have been stored that it knows to be complete; those that came later are run again and stored again,
 * with the same bits, so that whatever lies in the folder is right. */
#include "out/record.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct unit { /* 16 paths, or those of them that are recorded */
    uint64_t unit;
    struct lgv_rows rows;
    struct unit *next;
};
struct lgv_record {
    struct lgv_record_head head;
    char *folder, *run;
    struct lgv_column column[LGV_RECORD_COLUMNS];
    size_t columns;
    pthread_mutex_t lock;   /* guards all below */
    struct unit *open;      /* of which pieces are still to come: one of each thread */
    struct unit *done;      /* to be stored */
    size_t bytes;           /* of these */
    struct lgv_error error; /* the first */
};

static void free_units(struct unit *u) {
    for (struct unit *next; u; u = next) {
        next = u->next;
        lgv_rows_free(&u->rows);
        free(u);
    }
}

struct lgv_record *lgv_record_open(const struct lgv_plan *plan, const struct lgv_model *m, const char *run,
                                   const char *folder) {
    struct lgv_record *r = lgv_new(1, sizeof *r);
    if (!r) return NULL;
    r->run = lgv_copy(run);
    r->head = (struct lgv_record_head){plan, m, r->run};
    r->columns = lgv_record_columns(plan, r->column);
    r->folder = lgv_copy(folder);
    if (r->folder && r->run && pthread_mutex_init(&r->lock, NULL) == 0) return r;
    free(r->run);
    free(r->folder);
    free(r);
    return NULL;
}

/* ---- storing ---- */

struct bundle {
    const struct lgv_record_head *head;
    struct unit **unit; /* ascending */
    size_t units, paths;
};

static bool put_bundle(void *what, hid_t file) {
    const struct bundle *b = what;
    struct lgv_column c[LGV_RECORD_COLUMNS];
    struct lgv_rows all;
    size_t columns = lgv_record_columns(b->head->plan, c);
    if (!lgv_rows_create(&all, c, columns, b->paths)) return false;
    for (size_t i = 0, at = 0; i < b->units; at += b->unit[i++]->rows.count) { /* chunks are compressed once */
        const struct lgv_rows *u = &b->unit[i]->rows;
        memcpy(all.path + at, u->path, u->count * sizeof *all.path);
        memcpy(all.steps + at, u->steps, u->count * sizeof *all.steps);
        memcpy(all.status + at, u->status, u->count * sizeof *all.status);
        for (size_t k = 0; k < columns; k++)
            memcpy(all.value[k] + at * c[k].count, u->value[k], u->count * c[k].count * sizeof(double));
    }
    bool good = lgv_record_begin_file(file, b->head, b->paths) && lgv_record_put(file, b->head, &all, 0);
    lgv_rows_free(&all);
    return good;
}

static int by_unit(const void *a, const void *b) {
    const struct unit *x = *(struct unit *const *)a, *y = *(struct unit *const *)b;
    return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static enum lgv_status store_bundle(const struct lgv_record *r, struct bundle *b, struct lgv_error *err) {
    char name[80];
    qsort(b->unit, b->units, sizeof(struct unit *), by_unit);
    snprintf(name, sizeof name, LGV_RECORD_PREFIX "%012llu.h5", (unsigned long long)b->unit[0]->unit);
    if (mkdir(r->folder, 0777) != 0 && errno != EEXIST)
        return lgv_fail(err, LGV_CANNOT_RUN, "cannot make the directory %s: %s", r->folder, strerror(errno));
    char *path = lgv_join(r->folder, name);
    enum lgv_status status =
        path ? lgv_hdf5_store(put_bundle, b, LGV_RECORD_BYTES / sizeof(double), path, err) : lgv_fail_memory(err);
    free(path);
    return status;
}

static void store(struct lgv_record *r, struct unit *list) {
    struct bundle b = {.head = &r->head};
    struct lgv_error err = {0};
    for (const struct unit *u = list; u; u = u->next) b.units++, b.paths += u->rows.count;
    if (b.units && (b.unit = lgv_new(b.units, sizeof(struct unit *)))) {
        size_t n = 0;
        for (struct unit *u = list; u; u = u->next) b.unit[n++] = u;
        store_bundle(r, &b, &err);
    } else if (b.units) {
        lgv_fail_memory(&err);
    }
    free(b.unit);
    free_units(list);
    if (!err.status) return;
    pthread_mutex_lock(&r->lock);
    if (!r->error.status) r->error = err;
    pthread_mutex_unlock(&r->lock);
}

enum lgv_status lgv_record_close(struct lgv_record *r, struct lgv_error *err) {
    store(r, r->done);
    free_units(r->open);
    const struct lgv_error why = r->error;
    pthread_mutex_destroy(&r->lock);
    free(r->run);
    free(r->folder);
    free(r);
    return why.status ? lgv_fail(err, why.status, "%s", why.message) : LGV_OK;
}

/* ---- taking ---- */

static struct unit *new_unit(const struct lgv_record *r, const struct lgv_piece *piece) {
    const struct lgv_recording *what = r->head.plan->recording;
    struct unit *u = lgv_new(1, sizeof *u);
    size_t n = 0;
    for (unsigned l = 0; l < piece->used; l++) n += lgv_recording_path(what, piece->path + l);
    if (!u || !lgv_rows_create(&u->rows, r->column, r->columns, n)) {
        free(u);
        return NULL;
    }
    u->unit = piece->unit;
    n = 0;
    for (unsigned l = 0; l < piece->used; l++)
        if (lgv_recording_path(what, piece->path + l)) u->rows.path[n++] = piece->path + l;
    return u;
}

/* Takes it out of the list of open units; a new one where it is not there.  NULL: no memory. */
static struct unit *take_unit(struct lgv_record *r, const struct lgv_piece *piece) {
    pthread_mutex_lock(&r->lock);
    struct unit **at = &r->open, *u;
    while (*at && (*at)->unit != piece->unit) at = &(*at)->next;
    if ((u = *at)) *at = u->next;
    pthread_mutex_unlock(&r->lock);
    return u ? u : new_unit(r, piece);
}

static double *column_of(const struct lgv_record *r, struct unit *u, const char *name, size_t row) {
    for (size_t i = 0; i < r->columns; i++)
        if (strcmp(r->column[i].name, name) == 0) return u->rows.value[i] + row * r->column[i].count;
    return NULL;
}

static void copy_states(const struct lgv_record *r, struct unit *u, const struct lgv_piece *piece) {
    const size_t n = r->head.plan->kernel->nx + r->head.plan->kernel->np;
    for (size_t k = 0; k < u->rows.count; k++) {
        unsigned l = (unsigned)(u->rows.path[k] - piece->path);
        double *to = column_of(r, u, "states", k) + piece->first * n;
        for (size_t t = 0; t < piece->count; t++)
            for (size_t i = 0; i < n; i++)
                to[t * n + i] = piece->alive[t] >> l & 1 ? piece->state[(t * n + i) * LGV_UNIT + l] : (double)NAN;
    }
}

static void copy_end(const struct lgv_record *r, struct unit *u, const struct lgv_piece *piece) {
    const size_t n = r->head.plan->kernel->nx + r->head.plan->kernel->np;
    for (size_t k = 0; k < u->rows.count; k++) {
        unsigned l = (unsigned)(u->rows.path[k] - piece->path);
        double *to = column_of(r, u, "final", k);
        u->rows.status[k] = piece->fail[l];
        u->rows.steps[k] = piece->steps[l];
        bool failed = piece->fail[l] && piece->fail[l] != LGV_STOPPED;
        for (size_t i = 0; to && i < n; i++) to[i] = failed ? (double)NAN : piece->final[i * LGV_UNIT + l];
    }
}

/* A path is a function of its number, and so is its noise. */
static enum lgv_status copy_increments(const struct lgv_record *r, struct unit *u, struct lgv_error *err) {
    double *to[2] = {column_of(r, u, "dW", 0), column_of(r, u, "dZ", 0)}, *from[2] = {NULL, NULL};
    const struct lgv_plan *p = r->head.plan;
    if (!to[0]) return LGV_OK;
    enum lgv_status status = lgv_increments_of(p, u->rows.path, u->rows.count, &from[0], &from[1], err);
    size_t n = u->rows.count * (size_t)p->steps * p->kernel->nnoise;
    for (int k = 0; k < 2; k++) {
        if (!status && to[k]) memcpy(to[k], from[k], n * sizeof **to);
        free(from[k]);
    }
    return status;
}

/* Back into the list of open units, or to those that are to be stored, by this thread if there are enough. */
static bool put_unit(struct lgv_record *r, struct unit *u, bool done) {
    struct unit *list = NULL;
    pthread_mutex_lock(&r->lock);
    u->next = done ? r->done : r->open;
    *(done ? &r->done : &r->open) = u;
    for (size_t i = 0; done && i < r->columns; i++) r->bytes += u->rows.count * r->column[i].count * sizeof(double);
    if (r->bytes >= LGV_RECORD_BYTES) {
        list = r->done;
        r->done = NULL;
        r->bytes = 0;
    }
    pthread_mutex_unlock(&r->lock);
    if (list) store(r, list);
    pthread_mutex_lock(&r->lock);
    bool good = !r->error.status;
    pthread_mutex_unlock(&r->lock);
    return good;
}

bool lgv_record_add(void *record, const struct lgv_piece *piece) {
    struct lgv_record *r = record;
    struct lgv_error err = {0};
    struct unit *u = take_unit(r, piece);
    if (u && piece->last && !piece->complete) { /* it will come again */
        u->next = NULL;
        free_units(u);
        return true;
    }
    if (u && piece->state) copy_states(r, u, piece);
    if (u && piece->complete) copy_end(r, u, piece);
    if (!u || (piece->complete && copy_increments(r, u, &err))) {
        pthread_mutex_lock(&r->lock);
        if (!r->error.status) lgv_fail_memory(&r->error);
        pthread_mutex_unlock(&r->lock);
    }
    return u && put_unit(r, u, piece->complete);
}
