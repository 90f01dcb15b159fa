/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: parts of ensembles and states of runs that somebody has changed, with a check sum that is right all the
 * same.  Four bytes are one change of a good file: place (two bytes), what is done there, value.  Whatever is accepted
 * must also be gone on with, saved and finished.  The empty input stands for some hundred random changes. */
#include "helpers.h"
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char model_text[] =
    "name: barrier\nparameters: {s: 0.35}\ncoordinates: {x: -1 + 0.1*normal()}\nmomenta: {p: 0}\n"
    "hamiltonian: p^2/2 - x^2/2 + x^4/4\nnoise: s*x\nlangevin: {friction: 0.3, temperature: 0.15}\n"
    "events: {over: x > 0}\nstop: p > 1.9\nsections: {plane: x}\n"
    "run: {method: BAOAB, step: 0.05, until: 30, paths: 72, outputs: 12, seed: 4, keep: '3,40', bins: 10, threads: 1,\n"
    "  averages: yes, correlations: yes, extremes: [x, H], quantiles: sketch, histograms2: [[x, p]], density: yes,\n"
    "  crossings: 5, check_states: 1}\n";

static char folder[] = "/tmp/lgv-fuzz-XXXXXX", path[64];
static char *good_part;
static size_t good_size;
static struct lgv_model *model;
static struct lgv_engine *engine;

static int stop_soon(void *user, double fraction) {
    int *calls = user;
    return fraction > 0 && ++*calls == 3;
}

static void need(bool ok) {
    if (!ok) abort();
}

static void remove_all(void) {
    lgv_engine_free(engine);
    lgv_model_free(model);
    free(good_part);
    unlink(path);
    rmdir(folder);
}

/* A state with ranges that are complete and units that are on their way. */
static void begin(void) {
    struct lgv_error err = {0};
    int calls = 0;
    double pause = lgv_crew_pause;
    need(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/part.lgv", folder);
    need(lgv_model_parse(model_text, "barrier.yaml", &model, &err) == LGV_OK);
    need(lgv_engine_create(model, &engine, &err) == LGV_OK);
    need(lgv_engine_run(engine, 16, 16, &err) == LGV_OK);
    lgv_crew_pause = 0;
    lgv_engine_on_progress(engine, stop_soon, &calls);
    need(lgv_engine_continue(engine, &err) == LGV_INTERRUPTED);
    lgv_engine_on_progress(engine, NULL, NULL);
    lgv_crew_pause = pause;
    need(lgv_engine_save(engine, path, &err) == LGV_OK);
    need((good_part = lgv_read_file(path, (size_t)1 << 28, &good_size, &err)) != NULL);
    atexit(remove_all);
}

/* The numbers that matter are small and many at the beginning of things: places are spread unevenly. */
static void change(char *file, const uint8_t *four) {
    size_t body = 24, room = good_size - body - 8, at = (size_t)(four[0] | four[1] << 8);
    at = body + (four[2] & 1 ? at * 97 % room : at % room);
    uint64_t word = (uint64_t)four[3];
    if (four[2] & 2) word = UINT64_MAX - word;
    if (four[2] & 4) word <<= 32;
    if (four[2] & 8) at = body + (at - body) / 8 * 8;
    if (four[2] & 16)
        file[at] = (char)four[3];
    else if (at + 8 <= good_size - 8)
        memcpy(file + at, &word, 8);
}

/* Accepted, it must be usable; refused, it must say why. */
static void try_part(const char *file, size_t size) {
    struct lgv_error err = {0};
    struct lgv_result *r = NULL;
    FILE *f = fopen(path, "wb");
    need(f && fwrite(file, 1, size, f) == size && fclose(f) == 0);
    lgv_engine_clear(engine);
    enum lgv_status status = lgv_engine_load(engine, path, &err);
    if (status != LGV_OK) {
        need(err.message[0] != '\0');
        return;
    }
    status = lgv_engine_continue(engine, &err);
    need(status == LGV_OK || err.message[0]);
    if (status == LGV_OK) status = lgv_engine_save(engine, path, &err);
    if (status == LGV_OK) lgv_engine_finish(engine, &r, &err);
    lgv_result_free(r);
}

static void try_changes(const uint8_t *data, size_t size) {
    char *file = lgv_copy_n(good_part, good_size);
    need(file != NULL);
    for (size_t i = 0; i + 4 <= size && i < 64; i += 4) change(file, data + i);
    uint64_t hash = lgv_hash(LGV_HASH_START, file, good_size - 8);
    memcpy(file + good_size - 8, &hash, 8);
    try_part(file, good_size);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!good_part) begin();
    if (size) {
        try_changes(data, size);
        return 0;
    }
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* libFuzzer makes random changes of its own */
    return 0;
#endif
    uint64_t state = 1, first, end;
    try_part(good_part, good_size);
    need(!lgv_engine_missing(engine, &first, &end)); /* the good one is complete now */
    for (int k = 0; k < 400; k++) {
        uint8_t four[8];
        for (size_t i = 0; i < sizeof four; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            four[i] = (uint8_t)(state >> 56);
        }
        if (k % 2) four[1] = 0; /* near the beginning */
        try_changes(four, k % 3 ? 4 : 8);
    }
    for (size_t cut = 0; cut < good_size; cut += good_size / 40 + 1) try_part(good_part, cut);
    return 0;
}
