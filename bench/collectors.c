/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The cost of looking along the way: runs with one kind of collector each, and with all of them, beside a run with
 * none.  BAOAB on cheap models, one thread, 1000 steps per output. */
#include "bench.h"

#include <stdio.h>

#define STEPS_PER_OUTPUT 1000
#define OUTPUTS 8
#define PATHS 1024
#define RATIO 1.3 /* goal against a run without: two events with or, and all collectors with one event */

#define BATH "langevin: { friction: 1, temperature: 1 }\nobserve: { r: x^2 + p^2 }\n"

static const struct {
    const char *title, *text;
} models[] = {
    {"quartic oscillator", "coordinates: { x: 0 }\nmomenta: { p: 1 }\npotential: x^2/2 + x^4/4\n" BATH},
    {"double well", "coordinates: { x: -1 }\nmomenta: { p: 'normal(0, 1)' }\npotential: 5*(x^2 - 1)^2\n" BATH},
};
#define MODELS (sizeof models / sizeof *models)

/* What differs from a run that only has moments at the output times: lines of the model file, and options. */
#define EVENT "events: { far: x > 3 }\n"
#define TWO_EVENTS "events: { far: x > 3 or x < -3, fast: p > 3 or p < -3 }\n"
#define SECTION "sections: { middle: x }\n"
#define ALONG {"averages", "yes"}, {"correlations", "yes"}
#define HISTOGRAM {"bins", "60"}, {"histograms2", "x:p"}
#define EVERY_STEP {"tally", "1024"}, {"extremes", "x"}
#define ALL HISTOGRAM, {"quantiles", "sketch"}, ALONG, {"keep", "8"}
enum { NONE, ONE_EVENT = 7, WITH_OR, ONE_OF_EACH, COLLECTORS = 11 };
static const struct collectors {
    const char *title, *lines;
    const char *option[10][2];
} cases[COLLECTORS] = {
    [NONE] = {"none", "", {{0}}},
    {"2-D histogram", "", {HISTOGRAM}},
    {"sketch of quantiles", "", {{"quantiles", "sketch"}}},
    {"averages, correlations", "", {ALONG}},
    {"sample paths, section", SECTION, {{"keep", "8"}}},
    {"extremes of H, x", "", {EVERY_STEP}},
    {"extremes of H, x, r", "", {{"tally", "1024"}, {"extremes", "x,r"}}},
    [ONE_EVENT] = {"event", EVENT, {{0}}},
    [WITH_OR] = {"two events with or", TWO_EVENTS, {{0}}},
    [ONE_OF_EACH] = {"all, one event", EVENT SECTION, {ALL, EVERY_STEP}},
    {"all, two events with or",
     TWO_EVENTS SECTION, {ALL, EVERY_STEP}},
};

/* A run of 1024 paths, put together from pieces that are short enough to be left alone by other work: the unit whose
 * paths are kept, four other units, and sixteen others.  What begins and ends a run is in all of them, and drops out.
 * From 4 to 16 units the sketch gets as many new bins a unit as in the whole run; from fewer on it gets more. */
enum { KEPT, FEW, MORE, PIECES };
struct looking {
    struct lgv_engine *engine;
    struct lgv_model *model;
    double best[PIECES];
};

static double run_one(void *what) {
    static const uint64_t first[PIECES] = {0, 1, 5}, count[PIECES] = {1, 4, 16}, units = PATHS / LGV_UNIT;
    struct looking *l = what;
    for (int i = 0; i < PIECES; i++) {
        lgv_engine_clear(l->engine);
        double begin = bench_thread_now();
        if (lgv_engine_run(l->engine, LGV_UNIT * first[i], LGV_UNIT * count[i], NULL) != LGV_OK) return 0;
        double spent = bench_thread_now() - begin;
        if (!(l->best[i] > 0) || spent < l->best[i]) l->best[i] = spent;
    }
    const double unit = (l->best[MORE] - l->best[FEW]) / 12, kept = l->best[KEPT] - (l->best[FEW] - 4 * unit);
    return ((double)(units - 1) * unit + kept) / ((double)PATHS * OUTPUTS * STEPS_PER_OUTPUT);
}

static bool set_all(struct lgv_engine *e, const char *const (*option)[2], struct lgv_error *err) {
    for (; (*option)[0]; option++)
        if (lgv_engine_option(e, (*option)[0], (*option)[1], err) != LGV_OK) return false;
    return true;
}

static bool prepare(struct looking *l, const char *text, const struct collectors *c) {
    static const char *const plain[][2] = {{"method", "BAOAB"}, {"threads", "1"}, {"keep", "0"},  {"bins", "0"},
                                           {"tally", "0"},      {"step", "0.01"}, {"until", "80"}, {"outputs", "8"},
                                           {"paths", "1024"},    {0}};
    char whole[2048];
    struct lgv_error err = {0};
    snprintf(whole, sizeof whole, "%s%s", text, c->lines);
    bool ready = lgv_model_parse(whole, "benchmark", &l->model, &err) == LGV_OK &&
                 lgv_engine_create(l->model, &l->engine, &err) == LGV_OK && set_all(l->engine, plain, &err) &&
                 set_all(l->engine, c->option, &err) && lgv_engine_prepare(l->engine, &err) == LGV_OK;
    if (!ready) printf("  %s: not measured: %s\n", c->title, err.message);
    return ready;
}

static void print_model(struct bench *b, const char *title, const struct contender *c) {
    json_t *row = json_pack("{s:s}", "model", title);
    printf("  %s\n", title);
    for (int i = 0; i < COLLECTORS && c[NONE].best > 0; i++) {
        if (!(c[i].best > 0)) continue;
        const double ratio = c[i].best / c[NONE].best;
        printf("    %-24s %8.2f %8.2f", c[i].name, 1e9 * c[i].best, ratio);
        json_object_set_new(row, c[i].name, json_real(1e9 * c[i].best));
        if (i == WITH_OR || i == ONE_OF_EACH) {
            printf(" %8.2f %s", RATIO, ratio <= RATIO ? "met" : "MISSED");
            b->missed += ratio > RATIO;
        }
        printf("\n");
    }
    bench_json_row(b, "collectors", row);
}

void bench_collectors(struct bench *b) {
    printf("\nLooking along the way: whole runs by BAOAB, %d steps per output, ns per path-step and times none\n",
           STEPS_PER_OUTPUT);
    for (size_t m = 0; m < MODELS; m++) {
        struct looking l[COLLECTORS] = {0};
        struct contender c[COLLECTORS] = {0};
        for (int i = 0; i < COLLECTORS; i++)
            if (prepare(&l[i], models[m].text, &cases[i]))
                c[i] = (struct contender){cases[i].title, run_one, &l[i], 0};
        bench_race(c, COLLECTORS, b->quick ? 30 : 120);
        for (int i = 0; i < COLLECTORS; i++)
            if (c[i].run) c[i].best = run_one(&l[i]); /* of the least times: differences of earlier ones may be less */
        print_model(b, models[m].title, c);
        for (int i = 0; i < COLLECTORS; i++) {
            lgv_engine_free(l[i].engine);
            lgv_model_free(l[i].model);
        }
    }
}
