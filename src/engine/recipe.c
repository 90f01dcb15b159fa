/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The recipe of a run: what a saved part says about the ensemble it belongs to, so that the run can be made again from
 * the file alone.
 *
 *     kind         1: a model file; 0: C functions or given increments, which no file can tell
 *     texts        name of the model file, its text
 *     parameters   that were set: number, then name and value of each
 *     options      that were given: number, then name and value of each
 *
 * Texts are a number of bytes and the bytes.  Threads, lanes and the compiler belong to a machine and are left out: a
 * file from elsewhere starts no program. */
#include "engine/private.h"
#include <stdlib.h>
#include <string.h>

#define MOST_NAMES 100000

static void add_string(struct lgv_text *out, const char *text) {
    size_t size = text ? strlen(text) : 0;
    lgv_text_append_count(out, size);
    if (size) lgv_text_append(out, text, size);
}

/* NULL: no memory, or there is no such text. */
static char *take_string(struct lgv_bytes *b) {
    uint64_t size = lgv_bytes_count(b);
    if (b->bad || size > b->left) {
        b->bad = true;
        return NULL;
    }
    char *text = lgv_copy_n(b->at, (size_t)size);
    b->at += size;
    b->left -= (size_t)size;
    return text;
}

static bool of_machine(const char *option) {
    return strcmp(option, "threads") == 0 || strcmp(option, "lanes") == 0 || strcmp(option, "compiler") == 0;
}

void lgv_recipe_add(const struct lgv_engine *e, struct lgv_text *out) {
    const struct lgv_model *m = e->model;
    const struct lgv_settings *s = &e->settings;
    uint64_t count = 0;
    lgv_text_append_count(out, m->text && !s->increments);
    add_string(out, m->file);
    add_string(out, m->text);
    lgv_text_append_count(out, m->nsettings);
    for (size_t i = 0; i < m->nsettings; i++) {
        add_string(out, m->setting_name[i]);
        lgv_text_append(out, (const char *)&m->setting_value[i], sizeof m->setting_value[i]);
    }
    for (int counting = 1; counting >= 0; counting--) {
        if (!counting) lgv_text_append_count(out, count);
        for (size_t i = 0; i < lgv_run_option_count; i++) {
            char value[LGV_LIST_SIZE];
            const struct lgv_option *row = &lgv_run_options[i];
            if (!(s->given >> i & 1) || of_machine(row->name)) continue;
            count += (uint64_t)counting;
            if (counting) continue;
            lgv_option_get(row, s, value, sizeof value);
            add_string(out, row->name);
            add_string(out, value);
        }
    }
}

void lgv_recipe_free(struct lgv_recipe *r) {
    for (size_t i = 0; i < r->nparameters; i++) free((char *)(uintptr_t)r->parameter[i].name);
    for (size_t i = 0; i < 2 * r->noptions; i++) free(r->option[i]);
    free(r->parameter);
    free(r->option);
    free(r->file);
    free(r->text);
    *r = (struct lgv_recipe){0};
}

/* False: no memory. */
bool lgv_recipe_take(struct lgv_bytes *b, struct lgv_recipe *r) {
    *r = (struct lgv_recipe){.whole = lgv_bytes_count(b) == 1};
    r->file = take_string(b);
    r->text = take_string(b);
    uint64_t n = lgv_bytes_count(b);
    if (n > MOST_NAMES) b->bad = true;
    if (!b->bad && !(r->parameter = lgv_new((size_t)n + 1, sizeof *r->parameter))) return false;
    for (; !b->bad && r->nparameters < n; r->nparameters++) {
        r->parameter[r->nparameters].name = take_string(b);
        lgv_bytes_take(b, &r->parameter[r->nparameters].value, sizeof r->parameter->value);
        if (!b->bad && !r->parameter[r->nparameters].name) return false;
    }
    n = lgv_bytes_count(b);
    if (n > MOST_NAMES) b->bad = true;
    if (!b->bad && !(r->option = lgv_new(2 * (size_t)n + 1, sizeof *r->option))) return false;
    while (!b->bad && r->noptions < n) {
        char **pair = r->option + 2 * r->noptions++; /* counted first: half of it is freed as well */
        for (size_t k = 0; k < 2; k++)
            if (!(pair[k] = take_string(b)) && !b->bad) return false;
    }
    return b->bad || (r->file && r->text);
}

enum lgv_status lgv_recipe_make(const struct lgv_recipe *r, const char *path, struct lgv_model **model,
                                struct lgv_engine **engine, struct lgv_error *err) {
    if (!r->whole)
        return lgv_fail(err, LGV_BAD_INPUT,
                        "%s is a part of a run of C functions or of given increments, which cannot be made from a file",
                        path);
    enum lgv_status status = lgv_model_complete(r->text, r->file, r->parameter, r->nparameters, model, err);
    if (!status) status = lgv_engine_create(*model, engine, err);
    for (size_t i = 0; !status && i < r->noptions; i++) {
        if (of_machine(r->option[2 * i])) continue;
        status = lgv_engine_option(*engine, r->option[2 * i], r->option[2 * i + 1], err);
    }
    if (status) {
        lgv_engine_free(*engine);
        lgv_model_free(*model);
        *engine = NULL;
        *model = NULL;
    }
    return status;
}
