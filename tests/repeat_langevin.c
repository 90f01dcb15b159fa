/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bits of paths with a bath: the same for any number of threads and lanes, in parts that are merged, and after a
 * parameter of the bath was changed. */
#include "helpers.h"

#define PATHS 333 /* the last unit is not full */

static const struct subject {
    const char *name, *method, *text;
} subjects[] = {
    {"matrix", "BAOAB",
     "parameters: {g: 0.8, kT: 0.5}\ncoordinates: {x: 0.3*normal(), y: 0}\nmomenta: {u: 1, v: 0}\n"
     "hamiltonian: u^2/2 + v^2 + 0.3*u*v - cos(x - y) + x^4/4\nnoise: 0.2*sin(x)\n"
     "langevin: {friction: [[g, g/2], [g/2, 0.6]], temperature: kT}\n"},
    {"flight", "UBU",
     "parameters: {g: 0.8, kT: 0.5}\ncoordinates: {x: 0.3*normal(), y: 0}\nmomenta: {u: 1, v: 0}\n"
     "hamiltonian: u^2/2 + v^2 - cos(x - y) + x^4/4\nlangevin: {friction: {y: g}, temperature: kT}\n"},
    {"friction of q", "OBABO",
     "parameters: {g: 0.8, kT: 0.5}\ncoordinates: {x: 0.3*normal()}\nmomenta: {u: 1}\n"
     "hamiltonian: u^2/2 + x^4/4\nlangevin: {friction: g + x^2, temperature: kT}\n"},
    {"sphere", "RATTLE-GLA",
     "parameters: {g: 0.8, kT: 0.5}\ncoordinates: {x in R3: '[1, 0, 0]'}\nmomenta: {p: '[0, normal(), 1]'}\n"
     "hamiltonian: dot(p, p)/2 + x.z\nconstraints: dot(x, x) - 1\n"
     "langevin: {friction: [g, 1, 1.5], temperature: kT}\n"},
    {"thin torus", "RATTLE-GLA-Metropolis", /* small enough for steps that lead nowhere */
     "parameters: {g: 0.8, kT: 4}\ncoordinates: {x: 0.35, y: 0, z: 0}\nmomenta: {u: 0, v: normal(), w: 1}\n"
     "hamiltonian: (u^2 + v^2 + w^2)/2 + 20*x\nconstraints: (sqrt(x^2 + y^2) - 0.25)^2 + z^2 - 0.01\n"
     "langevin: {friction: g, temperature: kT}\nobserve: {r: 'lambda[1]'}\n"},
};
#define SUBJECTS (sizeof subjects / sizeof *subjects)
static struct lgv_error err;

static void good(enum lgv_status status) {
    if (status != LGV_OK) fail_msg("%s", err.message);
}

static struct lgv_engine *engine_of(struct lgv_model *m, const struct subject *s, unsigned threads, unsigned lanes,
                                    const char *compiler) {
    struct lgv_engine *e = NULL;
    char number[3][20];
    snprintf(number[0], sizeof number[0], "%d", PATHS);
    snprintf(number[1], sizeof number[1], "%u", threads);
    snprintf(number[2], sizeof number[2], "%u", lanes);
    good(lgv_engine_create(m, &e, &err));
    const char *const set[][2] = {{"method", s->method},  {"paths", number[0]},  {"threads", number[1]},
                                  {"compiler", compiler}, {"step", "0.05"},      {"until", "2.55"},
                                  {"outputs", "3"},       {"check_states", "0"}, {"lanes", number[2]}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) good(lgv_engine_set(e, set[i][0], set[i][1], &err));
    return e;
}

static struct lgv_result *whole(struct lgv_engine *e) {
    struct lgv_result *r = NULL;
    good(lgv_engine_run(e, 0, PATHS, &err));
    good(lgv_engine_finish(e, &r, &err));
    return r;
}

static void same(const struct lgv_result *a, const struct lgv_result *b, const char *what) {
    assert_true(a->nseries == b->nseries && a->ntimes == b->ntimes);
    for (size_t i = 0; i < a->nseries; i++)
        for (size_t t = 0; t < a->ntimes; t++) {
            const struct lgv_series *s = &a->series[i], *u = &b->series[i];
            const double x[] = {s->mean[t], s->std[t], s->min[t], s->max[t]};
            const double y[] = {u->mean[t], u->std[t], u->min[t], u->max[t]};
            for (int k = 0; k < 4; k++)
                if (memcmp(&x[k], &y[k], sizeof *x) != 0)
                    fail_msg("%s, %s at time %zu: %.17g and %.17g", what, s->name, t, x[k], y[k]);
        }
}

static struct lgv_result *run_of(const struct subject *s, unsigned threads, unsigned lanes, const char *compiler) {
    struct lgv_model *m = model_of(s->text);
    struct lgv_engine *e = engine_of(m, s, threads, lanes, compiler);
    struct lgv_result *r = whole(e);
    lgv_engine_free(e);
    lgv_model_free(m);
    return r;
}

static void test_lanes_and_threads(void **state) {
    (void)state;
    static const char *const compiler[] = {"", "gcc"};
    for (size_t i = 0; i < SUBJECTS; i++)
        for (size_t c = 0; c < 2; c++) {
            struct lgv_result *first = run_of(&subjects[i], 1, 2, compiler[c]);
            for (unsigned lanes = 4; lanes <= 16; lanes *= 2) {
                if (lanes == 8 || (c && lanes == 16)) continue;
                struct lgv_result *r = run_of(&subjects[i], 2, lanes, compiler[c]);
                same(first, r, subjects[i].name);
                lgv_result_free(r);
            }
            lgv_result_free(first);
        }
}

/* Two ranges in two engines, merged, and one engine whose parameters were others before. */
static void test_parts_and_parameters(void **state) {
    (void)state;
    for (size_t i = 0; i < SUBJECTS; i++) {
        struct lgv_model *m = model_of(subjects[i].text), *other = model_of(subjects[i].text);
        set_parameter(other, "g", 0.35);
        set_parameter(other, "kT", 1.5);
        struct lgv_engine *a = engine_of(m, &subjects[i], 2, 4, ""), *b = engine_of(m, &subjects[i], 1, 4, ""),
                          *fresh = engine_of(other, &subjects[i], 1, 4, "");
        struct lgv_result *all = whole(a), *merged = NULL;
        lgv_engine_clear(a);
        good(lgv_engine_run(b, 160, PATHS - 160, &err));
        good(lgv_engine_run(a, 0, 160, &err));
        good(lgv_engine_merge(b, a, &err));
        good(lgv_engine_finish(b, &merged, &err));
        same(all, merged, "parts");
        good(lgv_engine_set(a, "g", "0.35", &err));
        good(lgv_engine_set(a, "kT", "1.5", &err));
        struct lgv_result *changed = whole(a), *wanted = whole(fresh);
        same(changed, wanted, "parameters");
        assert_true(changed->compile_seconds == 0 && changed->series[0].mean[2] != all->series[0].mean[2]);
        lgv_result_free(all);
        lgv_result_free(merged);
        lgv_result_free(changed);
        lgv_result_free(wanted);
        lgv_engine_free(a);
        lgv_engine_free(b);
        lgv_engine_free(fresh);
        lgv_model_free(m);
        lgv_model_free(other);
    }
}

/* Steps one by one, in one call and from a copy of the state are the same; so are neighbours. */
static void test_blocks(void **state) {
    (void)state;
    for (size_t i = 0; i < SUBJECTS; i++) {
        struct lgv_model *m = model_of(subjects[i].text);
        struct lgv_kernel k = kernel_with(m, subjects[i].method, 4, "");
        for (uint64_t coarsen = 1; coarsen <= 3; coarsen += 2) {
            struct lgv_own_block one, many;
            size_t lanes = k.entry->lanes;
            assert_true(lgv_block_create(&k, 0, 0.05, 1, coarsen, &one));
            assert_true(lgv_block_create(&k, 0, 0.05, 1, coarsen, &many));
            for (size_t l = 0; l < lanes; l++) one.path[l] = 40 + l, many.path[l] = 39 + lanes - l;
            k.entry->start(&one.block);
            k.entry->start(&many.block);
            k.entry->advance(&one.block, 23);
            for (int n = 0; n < 23; n++) k.entry->advance(&many.block, 1);
            for (size_t r = 0; r < k.nx + k.np; r++)
                for (size_t l = 0; l < lanes; l++)
                    assert_memory_equal(&one.block.state[r * lanes + l], &many.block.state[r * lanes + lanes - 1 - l],
                                        sizeof(double));
            lgv_block_free(&one);
            lgv_block_free(&many);
        }
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_and_threads),
        cmocka_unit_test(test_parts_and_parameters),
        cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
