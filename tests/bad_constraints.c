/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lagrangians and constraints that are refused: by the reader, with the right words at the exact line and column, and
 * at the start values, where constraints contradict each other, repeat each other, or have a vanishing gradient. */
#include "model/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct bad {
    const char *text;
    int line, column;
    const char *message, *also; /* also: NULL, or more words of the message */
};

static void compare(const struct bad *b, enum lgv_status status, const struct lgv_error *err) {
    if (status != LGV_BAD_INPUT) fail_msg("status %d for\n%s", (int)status, b->text);
    if (!strstr(err->message, b->message) || (b->also && !strstr(err->message, b->also)))
        fail_msg("expected '%s' and '%s' in\n%s", b->message, b->also ? b->also : "", err->message);
    if (err->line != b->line || err->column != b->column)
        fail_msg("expected %d:%d, found %s", b->line, b->column, err->message);
    char place[32];
    snprintf(place, sizeof place, "bad.yaml:%d:%d: ", b->line, b->column);
    if (strncmp(err->message, place, strlen(place)) != 0) fail_msg("no %s in %s", place, err->message);
    assert_non_null(strchr(err->message, '^'));
}

/* A model that loads, and whose start is refused. */
static void check_start(const struct bad *row) {
    struct lgv_model *m = NULL;
    struct lgv_error err = {0};
    struct lgv_start_report report;
    if (lgv_model_parse(row->text, "bad.yaml", &m, &err) != LGV_OK) fail_msg("%s", err.message);
    enum lgv_status status = lgv_model_constraint_check(m, &report, &err);
    lgv_model_free(m);
    compare(row, status, &err);
}

#define QP "coordinates: {q: 0}\nmomenta: {p: 0}\nhamiltonian: p^2/2\n"                           /* three lines */
#define QV "coordinates: {q: 0}\nvelocities: {v: 0}\n"                                            /* two lines */
#define XY "coordinates: {x: 1, y: 0}\nvelocities: {u: 0, w: 1}\nlagrangian: (u^2 + w^2)/2 - y\n" /* three lines */

static void test_reader(void **state) {
    (void)state;
    static const struct bad row[] = {
        {QV "lagrangian: v^2\nhamiltonian: 1\n", 4, 1, "lagrangian is given; hamiltonian would be a second model",
         NULL},
        {QV "lagrangian: v^2\npotential: q\n", 4, 1, "lagrangian is given; potential", NULL},
        {QV "kinetic: {mass: 1}\nlagrangian: v^2\n", 3, 1, "lagrangian is given; kinetic", NULL},
        {QV "momenta: {p: 0}\nlagrangian: v^2\n", 3, 1, "give velocities instead", NULL},
        {QV "hamiltonian: q\n", 2, 1, "velocities belong to a lagrangian", NULL},
        {"coordinates: {q: 0}\nlagrangian: q\n", 2, 1, "a lagrangian needs velocities", NULL},
        {QV "lagrangian: v^2 - p_q\n", 3, 19, "p_q may not be used in the Lagrangian", NULL},
        {QV "lagrangian: '[v, q]'\n", 3, 14, "the Lagrangian is a number", NULL},
        {QV "lagrangain: v^2\n", 3, 1, "did you mean lagrangian?", NULL},
        {QP "constraint: q\n", 4, 1, "did you mean constraints?", NULL},
        {"coordinates: {q: 0}\nvelocity: {v: 0}\nlagrangian: v^2\n", 2, 1, "did you mean velocities?", NULL},
        {"coordinates: {q: 0, r: 0}\nvelocities: {v: 0}\nlagrangian: v^2\n", 2, 13, "2 coordinates, but 1 velocities",
         NULL},
        {"coordinates: {'q[3]': 0}\nvelocities: {'v[2]': 0}\nlagrangian: v^2\n", 2, 15, "is the velocity of q", NULL},
        {"coordinates: {q: 0}\nvelocities: {q: 0}\nlagrangian: v^2\n", 2, 14, "q is declared twice", NULL},
        /* degenerate */
        {QV "lagrangian: q*v - q^2\n", 3, 13, "degenerate: v does not enter, or only linearly", NULL},
        {"coordinates: {q: 0, r: 0}\nvelocities: {v: 0, w: 0}\nlagrangian: v^2 + q*r\n", 3, 13, "degenerate: w", NULL},
        {"coordinates: {q: 0, r: 0}\nvelocities: {v: 0, w: 0}\nlagrangian: (v + w)^2\n", 3, 13, "degenerate",
         "w does not follow"},
        {"coordinates: {q: 0, r: 0}\nvelocities: {v: 0, w: 0}\nlagrangian: (q*v + r*w)^2 + (q*v + r*w)^4\n", 3, 13,
         "degenerate", "w does not follow"},
        {"parameters: {a: 0}\ncoordinates: {q: 0}\nvelocities: {v: 0}\nlagrangian: a*v^2\n", 4, 13, "degenerate",
         "v does"},
        {"parameters: {N: 50}\ncoordinates: {'x[N]': 0}\nvelocities: {v: 0}\nlagrangian: sum(i=1..N-1, v[i]^2)\n", 4,
         13, "degenerate: v[50]", NULL},
        /* noise */
        {QV "lagrangian: v^2\nnoise: q*v\n", 4, 10, "v may not be used in the noise of a model with a Lagrangian",
         NULL},
        {QV "lagrangian: v^2\nnoise: p_q\n", 4, 8, "p_q may not be used in the noise of a model with a Lagrangian",
         NULL},
        {QV "lagrangian: v^2\nnoise: 0.1*H\n", 4, 12, "H depends on what may not be used in the noise", NULL},
        /* constraints */
        {QP "constraints: q + p\n", 4, 18, "p may not be used in a constraint", NULL},
        {QP "constraints: ['q - 1', t*q]\n", 4, 24, "the time t may not be used in a constraint", NULL},
        {QV "lagrangian: v^2\nconstraints: q - v\n", 4, 18, "v may not be used in a constraint", NULL},
        {QP "constraints: q - H\n", 4, 18, "H depends on what may not be used in a constraint", NULL},
        {QP "constraints: q - lambda[1]\n", 4, 18, "unknown name lambda", NULL},
        {QP "constraints: q - r\n", 4, 18, "unknown name r", NULL},
        {QP "constraints: q = 1\n", 4, 16, "unexpected '='", "write a - b"},
        {QP "constraints: q == 1\n", 4, 16, "unexpected '=='", "write a - b"},
        {QP "constraints: normal()*q\n", 4, 14, "normal", NULL},
        {QP "constraints: '[q, q]'\n", 4, 15, "more constraints than coordinates: 2 up to here, but 1", NULL},
        {QP "constraints: 1\n", 4, 14, "does not depend on any coordinate", NULL},
        {QP "constraints: [q, q - 1]\n", 4, 18, "more constraints than coordinates: 2 up to here, but 1", NULL},
        {QP "constraints: 'each(k=1..3, q - k)'\n", 4, 15, "more constraints than coordinates", NULL},
        {QP "constraints: 'each(k=3..1, q - k)'\n", 4, 15, "this family of constraints is empty", NULL},
        {QP "constraints: 'each(k=1..2, k != 1, q - k)'\n", 4, 15, "may not have conditions", NULL},
        {QP "constraints: {a: q}\n", 4, 14, "expected a formula", NULL},
        {QP "observe: {l: 'lambda[1]'}\n", 4, 15, "unknown name lambda", NULL},
        {QP "constraints: q\nobserve: {l: 'lambda[2]'}\n", 5, 22, "lambda", NULL},
        {QP "constraints: q\nobserve: {l: lambda}\n", 5, 14, "lambda is an array of 1", NULL},
        {QP "observe: {v: v}\n", 4, 14, "unknown name v", NULL},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct lgv_model *m = NULL;
        struct lgv_error err = {0};
        enum lgv_status status = lgv_model_parse(row[k].text, "bad.yaml", &m, &err);
        assert_null(m);
        compare(&row[k], status, &err);
    }
}

static void test_start(void **state) {
    (void)state;
    static const struct bad row[] = {
        /* redundant */
        {XY "constraints: [x - 1, 2*x - 2]\n", 4, 22, "constraint 2 (2*x - 2) is redundant", "constraint 1 (x - 1)"},
        {XY "constraints:\n  - x^2 + y^2 - 1\n  - x - 1\n", 6, 5, "constraint 2 (x - 1) is redundant", "constraint 1"},
        {"coordinates: {x: 1, y: 0, z: 2}\nhamiltonian: p_x^2\nconstraints: [x - 1, y, x + 3*y - 1]\n", 3, 25,
         "constraint 3 (x + 3*y - 1) is redundant", "constraint 1 (x - 1) and constraint 2 (y)"},
        {"parameters: {N: 5}\ncoordinates: {'x[N]': i}\nhamiltonian: p_x[1]^2\n"
         "constraints:\n  - each(k=1..N-1, x[k+1] - x[k] - 1)\n  - x[5] - x[1] - 4\n",
         6, 5, "constraint 5 (x[5] - x[1] - 4) is redundant", "constraint 4"},
        /* contradictory */
        {XY "constraints: [x - 1, x - 2]\n", 4, 22, "constraint 2 (x - 2) cannot hold together",
         "constraint 1 (x - 1)"},
        {XY "constraints: [x^2 + y^2 - 1, x^2 + y^2 - 4]\n", 4, 30, "cannot hold together", "constraint 1"},
        {XY "constraints: [x^2 + y^2 - 1, x - 3]\n", 4, 30, "constraint 2 (x - 3) cannot hold together",
         "constraint 1"},
        {"coordinates: {x: 1, y: 0.3}\nhamiltonian: p_x^2\nconstraints: [x^2 + y^2 - 1, x - 3]\n", 3, 30,
         "constraint 2 (x - 3) cannot be met near the start: it stays at", NULL},
        {XY "constraints: x^2 + y^2 + 1\n", 4, 14, "cannot be met near the start: it stays at", NULL},
        {XY "constraints: exp(x)\n", 4, 14, "cannot be met near the start: it stays at", NULL},
        /* singular */
        {XY "constraints: (x^2 + y^2 - 1)^2\n", 4, 14, "is singular: its gradient vanishes where it holds", NULL},
        {XY "constraints: (x - 0.5)^2\n", 4, 14, "is singular: its gradient vanishes where it holds", NULL},
        {XY "constraints: x*y^2\n", 4, 14, "is singular", NULL},
        {"coordinates: {x: 0, y: 0}\nhamiltonian: p_x^2\nconstraints: x^2 + y^2 - 1\n", 3, 14,
         "does not hold at the start, and its gradient vanishes there", NULL},
        {"coordinates: {x: 0, y: 0}\nhamiltonian: p_x^2\nconstraints: x*y\n", 3, 14, "is singular", NULL},
        {"coordinates: {x: 1, y: 0, z: 0}\nhamiltonian: p_x^2\nconstraints: [x^2 + y^2 - 1, x + 1e-8*y - 1]\n", 3, 30,
         "constraint 2 (x + 1e-8*y - 1) is redundant", "constraint 1 (x^2 + y^2 - 1)"},
        /* without a value */
        {XY "constraints: [x^2 + y^2 - 1, log(y - 1)]\n", 4, 30, "constraint 2 (log(y - 1)) is not a number", NULL},
        {XY "constraints: 1/y\n", 4, 14, "is infinite at the start", NULL},
        {XY "constraints: sqrt(y)\n", 4, 14, "has no finite gradient at the start", NULL},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) check_start(&row[k]);
}

/* Large models have another way to find the rank. */
static void test_large(void **state) {
    (void)state;
#define CHAIN                                                                                                          \
    "parameters: {N: 800}\ncoordinates: {'x[N] in R3': '[0.8*i, 0.6*mod(i, 2), 0]'}\n"                                 \
    "hamiltonian: sum(i=1..N, dot(p_x[i], p_x[i]))\n"                                                                  \
    "constraints:\n  - each(k=1..N-1, dot(x[k+1] - x[k], x[k+1] - x[k]) - 1)\n"
    static const struct bad row[] = {
        {CHAIN "  - dot(x[1] - x[2], x[1] - x[2]) - 1\n", 6, 5,
         "constraint 800 (dot(x[1] - x[2], x[1] - x[2]) - 1) is redundant", "constraints before it"},
        {CHAIN "  - sum(k=1..N-1, dot(x[k+1] - x[k], x[k+1] - x[k])) - N + 1\n", 6, 5, "constraint 800", "redundant"},
        {"parameters: {N: 800}\ncoordinates: {'x[N]': i}\nhamiltonian: sum(i=1..N, p_x[i]^2)\n"
         "constraints:\n  - each(k=1..N-1, x[k+1] - x[k] - 1)\n  - x[N] - x[1] - N + 1\n",
         6, 5, "constraint 800 (x[N] - x[1] - N + 1) is redundant", NULL},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) check_start(&row[k]);
}

/* Nothing is wrong with these. */
static void test_accepted(void **state) {
    (void)state;
    static const char *const text[] = {
        XY "constraints: x^2 + y^2 - 1\n",
        XY "constraints: [1000000*(x^2 + y^2 - 1)]\n",
        XY "constraints: [sqrt(x^2 + y^2) - 1]\n",
        XY "constraints: [x - 1, y]\n",
        "coordinates: {x: 1e-6, y: 0}\nhamiltonian: p_x^2\nconstraints: x^2 + y^2 - 1e-12\n",
        "coordinates: {x: normal(), y: 3}\nhamiltonian: p_x^2\nconstraints: x^2 + y^2 - 1\n",
        "coordinates: {x: 1, y: 0, z: 0}\nhamiltonian: p_x^2\nconstraints: [x^2 + y^2 - 1, x + 1e-6*y - 1]\n",
    };
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        struct lgv_model *m = NULL;
        struct lgv_error err = {0};
        struct lgv_start_report r;
        if (lgv_model_parse(text[k], "good.yaml", &m, &err) != LGV_OK) fail_msg("%s", err.message);
        if (lgv_model_constraint_check(m, &r, &err) != LGV_OK) fail_msg("%s", err.message);
        assert_true(r.rank == m->nconstraints);
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
