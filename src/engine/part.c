/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parts of an ensemble as files, and what parts must agree in.
 *
 *     "LGVPART7"   8 bytes; the digit is the version of this format
 *     mark         the number below as this machine writes it: order of bytes
 *     size         of the body
 *     body         recipe (recipe.c), description, number of paths, ranges, counts, states for the certificate,
 *                  statistics, units on their way (run/suspend.c), units that have ended, if they are kept
 *     hash         of all before it
 *
 * Numbers have eight bytes.  The description is text, a line "name<tab>value" for everything that results depend on:
 * the first line that differs is what the message names. */
#include "engine/private.h"
#include <stdlib.h>
#include <string.h>

#define MAGIC "LGVPART7"
#define MARK UINT64_C(0x0102030405060708)
#define HEAD (8 + 2 * sizeof(uint64_t))
#define MOST ((size_t)1 << 36) /* bytes of a file */

/* ---- what parts must agree in ---- */

static void add_number(struct lgv_text *out, const char *name, uint64_t n) {
    lgv_text_add(out, "%s\t%llu\n", name, (unsigned long long)n);
}

static uint64_t hash_values(uint64_t hash, const void *data, size_t count) {
    return data ? lgv_hash(hash, data, count * 8) : hash;
}

static void add_options(struct lgv_text *out, const struct lgv_settings *s) {
    static const char *const free_of[] = {"method", "paths", "until_stderr", "threads", "lanes", "compiler"};
    for (size_t i = 0; i < lgv_run_option_count; i++) {
        char value[LGV_LIST_SIZE], plain[LGV_LIST_SIZE];
        bool counts = true;
        for (size_t k = 0; k < sizeof free_of / sizeof *free_of; k++)
            counts = counts && strcmp(lgv_run_options[i].name, free_of[k]) != 0;
        if (!counts) continue;
        lgv_option_get(&lgv_run_options[i], s, value, sizeof value);
        lgv_text_add(out, "option %s\t%s\n", lgv_run_options[i].name, lgv_plain(plain, sizeof plain, value));
    }
}

char *lgv_engine_describe(const struct lgv_engine *e) {
    const struct lgv_model *m = e->model;
    const struct lgv_layout *w = e->layout;
    struct lgv_text t = {0};
    char name[200];
    lgv_text_add(&t, "version of lgv\t%s\n", LGV_VERSION);
    lgv_text_add(&t, "model\t%s\n", lgv_plain(name, sizeof name, m->name));
    if (m->text) lgv_text_add(&t, "text of the model\t%016llx\n",
                              (unsigned long long)lgv_hash(LGV_HASH_START, m->text, strlen(m->text)));
    for (size_t i = 0; i < m->npar; i++) lgv_text_add(&t, "parameter %s\t%.17g\n", m->par_name[i], m->par[i]);
    lgv_text_add(&t, "method\t%s\n", lgv_plain(name, sizeof name, e->kernel.method->name));
    add_options(&t, &w->settings);
    const struct lgv_increments *x = w->settings.increments;
    uint64_t hash = LGV_HASH_START;
    size_t n = x ? (size_t)(x->paths * x->steps * x->noises) : 0;
    if (x) hash = hash_values(hash_values(hash_values(hash, x->dW, n), x->dZ, n), x->number, (size_t)x->paths);
    if (x) lgv_text_add(&t, "increments\t%016llx\n", (unsigned long long)hash);
    add_number(&t, "number of observables", w->shape.nseries);
    add_number(&t, "number of output times", w->shape.ntimes);
    hash = hash_values(hash_values(LGV_HASH_START, w->kept, w->nkept), w->dense_step, w->plan.ndense);
    lgv_text_add(&t, "paths that are kept\t%016llx\n", (unsigned long long)hash);
    if (t.failed) lgv_text_free(&t);
    return t.data;
}

static size_t line_size(const char *s) {
    return strcspn(s, "\n");
}

enum lgv_status lgv_engine_agree(const struct lgv_engine *e, const char *description, const char *whose,
                                 struct lgv_error *err) {
    const char *here = e->description, *there = description;
    while (*here && *there) {
        size_t a = line_size(here), b = line_size(there);
        if (a != b || memcmp(here, there, a) != 0) break;
        here += a + (here[a] == '\n');
        there += b + (there[b] == '\n');
    }
    if (!*here && !*there) return LGV_OK;
    char mine[300], other[300], file[300];
    snprintf(mine, sizeof mine, "%.*s", (int)line_size(here), here);
    snprintf(other, sizeof other, "%.*s", (int)line_size(there), there);
    char *value = strchr(mine, '\t'), *theirs = strchr(other, '\t');
    if (value) *value++ = '\0';
    if (theirs) *theirs++ = '\0';
    if (!value || !theirs || strcmp(mine, other) != 0)
        return lgv_fail(err, LGV_BAD_INPUT, "%s is a part of another run: other parameters or options",
                        lgv_plain(file, sizeof file, whose));
    char plain[300];
    return lgv_fail(err, LGV_BAD_INPUT, "%s is a part of another run: %s is %s there and %s here",
                    lgv_plain(file, sizeof file, whose), mine, lgv_plain(plain, sizeof plain, theirs), value);
}

/* ---- saving ---- */

static void add_counts(struct lgv_text *out, const struct lgv_run_report *r) {
    lgv_text_append(out, (const char *)&r->seconds, sizeof r->seconds);
    const uint64_t count[] = {r->path_steps, r->clipped, r->iterated, r->vec_steps, r->threads, r->astray, r->deepest};
    lgv_text_append(out, (const char *)count, sizeof count);
}

static void add_units(struct lgv_text *out, const struct lgv_suspended *list, size_t count) {
    lgv_text_append_count(out, count);
    for (size_t i = 0; i < count; i++) {
        lgv_text_append_count(out, list[i].unit);
        lgv_text_append_count(out, list[i].size);
        lgv_text_append(out, list[i].data, list[i].size);
    }
}

static void add_body(const struct lgv_engine *e, struct lgv_text *out) {
    const struct lgv_collection *c = e->collected;
    size_t n = e->layout->plan.nsnapshots * LGV_UNIT * (e->kernel.nx + e->kernel.np);
    lgv_recipe_add(e, out);
    lgv_text_append_count(out, strlen(e->description));
    lgv_text_append(out, e->description, strlen(e->description));
    lgv_text_append_count(out, e->layout->settings.paths);
    lgv_text_append_count(out, c->nranges);
    lgv_text_append(out, (const char *)c->range, c->nranges * sizeof *c->range);
    add_counts(out, &c->report);
    lgv_text_append_count(out, n);
    if (n) lgv_text_append(out, (const char *)c->report.snapshot, n * sizeof(double));
    lgv_statistics_save(&c->statistics, out);
    add_units(out, c->suspended, c->nsuspended);
    add_units(out, c->ended, c->nended);
}

enum lgv_status lgv_engine_save(struct lgv_engine *e, const char *path, struct lgv_error *err) {
    if (!e || !path) return lgv_fail(err, LGV_BAD_INPUT, "no engine or no file name");
    if (!*path) return lgv_fail(err, LGV_BAD_INPUT, "the name of the file is empty");
    enum lgv_status status = lgv_engine_ready(e, err);
    if (status) return status;
    if (!e->collected) return lgv_fail(err, LGV_BAD_INPUT, "no paths have been run");
    if (e->collected->report.stopped)
        return lgv_fail(err, LGV_BAD_INPUT, "the last range was stopped on the way: it is no part of an ensemble");
    struct lgv_text all = {0};
    lgv_text_append(&all, MAGIC, 8);
    lgv_text_append_count(&all, MARK);
    lgv_text_append_count(&all, 0);
    add_body(e, &all);
    if (!all.failed) {
        uint64_t size = all.size - HEAD;
        memcpy(all.data + 8 + sizeof size, &size, sizeof size);
        lgv_text_append_count(&all, lgv_hash(LGV_HASH_START, all.data, all.size));
    }
    status = all.failed ? lgv_fail_memory(err) : lgv_file_replace(path, all.data, all.size, err);
    lgv_text_free(&all);
    return status;
}

/* ---- loading ---- */

/* The body of a file that is whole, unchanged and of this version. */
static enum lgv_status open_frame(const char *data, size_t size, const char *path, struct lgv_bytes *body,
                                  struct lgv_error *err) {
    struct lgv_bytes b = {.at = data, .left = size};
    char magic[8];
    lgv_bytes_take(&b, magic, sizeof magic);
    if (memcmp(magic, MAGIC, 7) != 0)
        return lgv_fail(err, LGV_BAD_INPUT, "%s is not a saved part of a run", path);
    if (magic[7] != MAGIC[7])
        return lgv_fail(err, LGV_BAD_INPUT, "%s was written by another version of lgv, which this one cannot read",
                        path);
    uint64_t mark = lgv_bytes_count(&b), length = lgv_bytes_count(&b);
    if (!b.bad && mark != MARK)
        return lgv_fail(err, LGV_BAD_INPUT, "%s was written by a machine with another order of bytes", path);
    if (b.bad || length > MOST || b.left != length + sizeof(uint64_t))
        return lgv_fail(err, LGV_BAD_INPUT, "%s is damaged: it is not as long as it should be", path);
    *body = (struct lgv_bytes){.at = b.at, .left = (size_t)length};
    uint64_t hash;
    memcpy(&hash, data + size - sizeof hash, sizeof hash);
    if (hash != lgv_hash(LGV_HASH_START, data, size - sizeof hash))
        return lgv_fail(err, LGV_BAD_INPUT, "%s is damaged: its check sum is wrong", path);
    return LGV_OK;
}

static enum lgv_status check_description(const struct lgv_engine *e, struct lgv_bytes *b, const char *path,
                                         struct lgv_error *err) {
    uint64_t size = lgv_bytes_count(b);
    if (b->bad || size > b->left) {
        b->bad = true;
        return LGV_OK;
    }
    char *text = lgv_copy_n(b->at, (size_t)size);
    if (!text) return lgv_fail_memory(err);
    b->at += size;
    b->left -= (size_t)size;
    enum lgv_status status = lgv_engine_agree(e, text, path, err);
    free(text);
    return status;
}

/* False: no memory. */
static bool take_ranges(struct lgv_collection *c, struct lgv_bytes *b, uint64_t paths) {
    uint64_t count = lgv_bytes_count(b), before = 0;
    for (uint64_t i = 0; i < count && !b->bad; i++) {
        struct lgv_range r;
        lgv_bytes_take(b, &r, sizeof r);
        if (r.first % LGV_UNIT || r.first < before || r.end <= r.first || r.end > paths) b->bad = true;
        before = r.end;
        if (!b->bad && !lgv_ranges_add(c, r)) return false;
    }
    return true;
}

static void take_counts(struct lgv_run_report *r, struct lgv_bytes *b) {
    uint64_t count[7];
    lgv_bytes_take(b, &r->seconds, sizeof r->seconds);
    lgv_bytes_take(b, count, sizeof count);
    r->path_steps = count[0];
    r->clipped = count[1];
    r->iterated = count[2];
    r->vec_steps = count[3];
    r->astray = count[5];
    r->deepest = count[6];
    r->threads = count[4] < 1 ? 1 : count[4] > LGV_MOST_THREADS ? LGV_MOST_THREADS : (unsigned)count[4];
}

/* False: no memory. */
static bool take_units(struct lgv_collection *c, struct lgv_bytes *b, uint64_t paths, bool ended) {
    uint64_t count = lgv_bytes_count(b), next = 0;
    for (uint64_t i = 0; i < count && !b->bad; i++) {
        uint64_t unit = lgv_bytes_count(b), size = lgv_bytes_count(b);
        if (b->bad || size > b->left || unit < next || unit >= (paths + LGV_UNIT - 1) / LGV_UNIT) {
            b->bad = true;
            break;
        }
        struct lgv_suspended s = {unit, lgv_copy_n(b->at, (size_t)size), (size_t)size};
        if (!s.data || !(ended ? lgv_collection_ended : lgv_collection_suspend)(c, s)) return false;
        b->at += size;
        b->left -= (size_t)size;
        next = unit + 1;
    }
    return true;
}

/* False: no memory.  c begins with the layout of a copy that has as many paths as the part. */
static bool take_body(struct lgv_collection *c, struct lgv_bytes *b, uint64_t paths, size_t snapshots) {
    if (!take_ranges(c, b, paths)) return false;
    take_counts(&c->report, b);
    if (lgv_bytes_count(b) != snapshots) b->bad = true;
    if (!b->bad) lgv_bytes_take(b, c->report.snapshot, snapshots * sizeof(double));
    return b->bad || (lgv_statistics_load(&c->statistics, b) && take_units(c, b, paths, false) &&
                      take_units(c, b, paths, true));
}

static enum lgv_status take(struct lgv_engine *e, struct lgv_bytes *b, const char *path, struct lgv_error *err) {
    struct lgv_recipe recipe;
    bool known = lgv_recipe_take(b, &recipe);
    lgv_recipe_free(&recipe);
    enum lgv_status status = known ? check_description(e, b, path, err) : lgv_fail_memory(err);
    if (status) return status;
    struct lgv_layout layout = *e->layout; /* whose arrays stay where they are */
    struct lgv_collection c;
    layout.shape.paths = lgv_bytes_count(b);
    if (!lgv_collection_begin(&c, &layout)) return lgv_fail_memory(err);
    size_t n = layout.plan.nsnapshots * LGV_UNIT * (e->kernel.nx + e->kernel.np);
    bool ok = take_body(&c, b, layout.shape.paths, n);
    if (!ok)
        status = lgv_fail_memory(err);
    else if (b->bad || b->left)
        status = lgv_fail(err, LGV_BAD_INPUT, "%s is damaged: what it holds makes no sense", path);
    else
        status = lgv_engine_absorb(e, &c, path, err);
    lgv_collection_end(&c);
    return status;
}

/* A whole file of this format; free() *data. */
static enum lgv_status read_part(const char *path, char **data, struct lgv_bytes *body, struct lgv_error *err) {
    size_t size = 0;
    *data = NULL;
    if (!path) return lgv_fail(err, LGV_BAD_INPUT, "no file name");
    if (!*path) return lgv_fail(err, LGV_BAD_INPUT, "the name of the file is empty");
    if (lgv_file_special(path)) return lgv_fail(err, LGV_BAD_INPUT, "'%s' is not a regular file", path);
    *data = lgv_read_file(path, MOST, &size, err);
    return *data ? open_frame(*data, size, path, body, err) : err->status;
}

enum lgv_status lgv_engine_load(struct lgv_engine *e, const char *path, struct lgv_error *err) {
    char *data;
    struct lgv_bytes body;
    struct lgv_error local;
    struct lgv_error *why = err ? err : &local;
    if (!e) return lgv_fail(err, LGV_BAD_INPUT, "no engine");
    enum lgv_status status = lgv_engine_ready(e, why);
    if (status) return status;
    status = read_part(path, &data, &body, why);
    if (!status) status = take(e, &body, path, why);
    free(data);
    return status;
}

enum lgv_status lgv_engine_open(const char *path, struct lgv_model **model, struct lgv_engine **engine,
                                struct lgv_error *err) {
    char *data;
    struct lgv_bytes body;
    struct lgv_error local;
    struct lgv_error *why = err ? err : &local;
    struct lgv_recipe recipe = {0};
    if (model) *model = NULL;
    if (engine) *engine = NULL;
    if (!model || !engine) return lgv_fail(err, LGV_BAD_INPUT, "no place for the model and the engine");
    enum lgv_status status = read_part(path, &data, &body, why);
    if (!status && !lgv_recipe_take(&body, &recipe)) status = lgv_fail_memory(why);
    if (!status && body.bad)
        status = lgv_fail(why, LGV_BAD_INPUT, "%s is damaged: what it holds makes no sense", path);
    if (!status) status = lgv_recipe_make(&recipe, path, model, engine, why);
    lgv_recipe_free(&recipe);
    free(data);
    return status;
}
