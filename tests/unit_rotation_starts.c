/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Start values of rotations: the same rotation as a vector, a quaternion of any length, Euler angles and a matrix. */
#include "helpers.h"
#include "model/point.h"

static void start_of(const char *rotation, double q[4]) {
    char text[500];
    struct lgv_evaluator e;
    struct lgv_point at;
    snprintf(text, sizeof text, "parameters: {s: 3}\ncoordinates: {R in SO3: %s}\npotential: R.zz\n", rotation);
    struct lgv_model *m = model_of(text);
    assert_true(lgv_eval_begin(&e, m->graph));
    assert_true(lgv_point_make(m, &e, -1, 1, &at));
    memcpy(q, at.x, 4 * sizeof *q);
    free(at.x);
    lgv_eval_end(&e);
    lgv_model_free(m);
}

static void check(const char *rotation, const double want[4]) {
    double q[4], sign = 0;
    start_of(rotation, q);
    for (int k = 0; k < 4; k++) sign += q[k] * want[k];
    for (int k = 0; k < 4; k++) assert_near(copysign(1, sign) * q[k], want[k], 4e-16, rotation);
}

/* Turns by pi/3 about (1, 2, 2)/3. */
static void test_one_rotation(void **state) {
    (void)state;
    const double want[4] = {sqrt(0.75), 1.0 / 6, 1.0 / 3, 1.0 / 3};
    check("[pi/9, 2*pi/9, 2*pi/9]", want);
    check("{vector: '[1, 2, 2]*pi/9'}", want);
    check("[sqrt(0.75), 1/6, 1/3, 1/3]", want);
    check("{quaternion: [s*sqrt(0.75), s/6, s/3, s/3]}", want);
    check("[1e200*sqrt(0.75), 1e200/6, 1e200/3, 1e200/3]", want); /* no square of them is a number */
    check("[1e-250*sqrt(0.75), 1e-250/6, 1e-250/3, 1e-250/3]", want);
    check("[[1 - 4/9, 2/18 - sqrt(3)/3, 2/18 + sqrt(3)/3], [2/18 + sqrt(3)/3, 1 - 5/18, 4/18 - sqrt(3)/6], "
          "[2/18 - sqrt(3)/3, 4/18 + sqrt(3)/6, 1 - 5/18]]", want);
}

/* About z, about the new x, about the new z: R = Rz(0.3) Rx(0.7) Rz(-1.1). */
static void test_euler(void **state) {
    (void)state;
    const double plus = (0.3 - 1.1) / 2, minus = (0.3 + 1.1) / 2;
    const double want[4] = {cos(0.35) * cos(plus), sin(0.35) * cos(minus), sin(0.35) * sin(minus),
                            cos(0.35) * sin(plus)};
    check("{euler: [0.3, 0.7, -1.1]}", want);
    check("{euler: ['s/10', 0.7, -1.1]}", want);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_rotation),
        cmocka_unit_test(test_euler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
