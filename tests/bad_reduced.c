/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Models of momenta alone: declarations, sections and names that are about rotations or coordinates, and methods that
 * do not move momenta alone.  Each is refused at its place, in words that name the fault. */
#include "helpers.h"

#define SPIN "momenta: {m in so3*: [0, 0, 1]}\n"

static void test_files(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *message;
    } row[] = {
        {"momenta: {m in so3: [0, 0, 1]}\nkinetic: {inertia: 1}\n", 1, 19, "momenta are in so3* or se3*"},
        {"momenta: {m in so4*: [0, 0, 1]}\nkinetic: {inertia: 1}\n", 1, 16, "so3* or se3* of momenta alone"},
        {"momenta: {m: 1}\nhamiltonian: m^2\n", 1, 11, "m has no coordinate"},
        {"momenta: {m in R3: [0, 0, 1]}\nhamiltonian: m.x^2\n", 1, 11, "m has no coordinate"},
        {"momenta: {}\nhamiltonian: '1'\n", 1, 10, "the model has no momenta"},
        {"momenta: {m in so3*: [0, 0]}\nkinetic: {inertia: 1}\n", 1, 22, "m has 3 components"},
        {"momenta: {m in so3* mod 2: [0, 0, 1]}\nkinetic: {inertia: 1}\n", 1, 11, "a momentum has no period"},
        {"momenta: {m in so3*: [0, 0, 1], 'm[2] in so3*': 1}\nkinetic: {inertia: 1}\n", 1, 34, "m is declared twice"},
        {"momenta: {p in se3*: [0, 0, 1]}\nhamiltonian: p.linear.x\n", 1, 22, "give {linear: ..., angular: ...}"},
        {"momenta: {p in se3*: {position: 1}}\nhamiltonian: p.linear.x\n", 1, 23, "unknown key position"},
        {"coordinates: {m in so3*: [0, 0, 1]}\npotential: '1'\n", 1, 15, "so3* and se3* are spaces of momenta"},
        {"coordinates: {R in SO3: [0, 0, 0]}\nmomenta: {m in so3*: [0, 0, 1]}\npotential: '1'\n", 2, 11,
         "a model of them has no coordinates"},
        {SPIN "hamiltonian: dot(m, m) + R.zz\n", 2, 26, "unknown name R; the model has momenta alone"},
        {SPIN "kinetic: {inertia: 1}\nnoise: 'm.x*R.zz'\n", 3, 13, "unknown name R; the model has momenta alone"},
        {SPIN "kinetic: {inertia: 1}\nforce: {m: '[0,0,1]*R'}\n", 3, 21, "unknown name R; the model has momenta alone"},
        {SPIN "kinetic: {inertia: 1}\npotential: m.z\n", 3, 1, "no coordinates, and potential is about these"},
        {SPIN "kinetic: {inertia: 1}\nconstraints: m.z\n", 3, 1, "no coordinates, and constraints is about these"},
        {SPIN "kinetic: {inertia: 1}\nnoise_potential: m.z\n", 3, 1, "no coordinates, and noise_potential is"},
        {SPIN "kinetic: {mass: 1}\n", 2, 11, "an inertia, not a mass"},
        {SPIN "kinetic: {inertia: {R: 1}}\n", 2, 21, "there is no rotation R"},
        {SPIN "kinetic: {inertia: [1, 1, 2.1]}\n", 2, 20, "no body has the moments"},
        {SPIN "kinetic: {inertia: 1}\nforce: {R: [0, 0, 1]}\n", 3, 9, "there is no coordinate R"},
        {SPIN "kinetic: {inertia: 1}\nsymmetries: {spin: {m: m}}\n", 3, 24, "m may not be used in a symmetry"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_model *m = NULL;
        struct lgv_error err = {0};
        char place[40];
        snprintf(place, sizeof place, "test.yaml:%d:%d: ", row[i].line, row[i].column);
        if (lgv_model_parse(row[i].text, "test.yaml", &m, &err) == LGV_OK) fail_msg("%s was taken", row[i].text);
        if (strncmp(err.message, place, strlen(place)) != 0 || !strstr(err.message, row[i].message))
            fail_msg("'%s%s' is not in: %s", place, row[i].message, err.message);
    }
}

static void test_methods(void **state) {
    (void)state;
    static const struct {
        const char *text, *method, *message;
    } row[] = {
        {SPIN "kinetic: {inertia: 1}\n", "P2N2Q2Lob", "does not move these; words as BAB do"},
        {SPIN "hamiltonian: m.x^4\n", "P2N2Q2Lob", "does not move these; words as BCB do"},
        {SPIN "kinetic: {inertia: 1}\n", "VZc", "momenta in so3* or se3* alone"},
        {SPIN "kinetic: {inertia: 1}\n", "RATTLE", "momenta in so3* or se3* alone"},
        {SPIN "kinetic: {inertia: 1}\n", "SVE-Q", "momenta in so3* or se3* alone"},
        {SPIN "kinetic: {inertia: 1}\nnoise: m.x\n", "LieEM", "noise that does not depend on momenta"},
        {SPIN "kinetic: {inertia: 1}\nnoise: m.x^2\n", "BRB", "words with C or E, as BCB, know other noise"},
        {SPIN "hamiltonian: m.x^4\n", "BAB", "words with C or E, as BCB, know other "},
        {SPIN "hamiltonian: m.x^2 + m.y^2\n", "BAB", "must be positive definite, which BAB does not know"},
        {SPIN "hamiltonian: dot(m, m) + m.x\n", "BRB", "first degree in m, which BRB does not know"},
        {SPIN "kinetic: {inertia: 1}\nnoise: m.x\nlangevin: {friction: 1, temperature: 1}\n", "BCOCB",
         "noise that does not depend on momenta"},
        {SPIN "hamiltonian: m.x^4\nlangevin: {friction: 1, temperature: 1}\n", "BCOCB", "needs constant masses"},
        {"coordinates: {q: 0}\npotential: q^2\n", "BCB", "turns rotations, and the model has none"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_model *m = model_of(row[i].text);
        struct lgv_kernel k;
        struct lgv_error err = {0};
        struct lgv_kernel_options options = {.lanes = 2};
        if (lgv_kernel_build(m, lgv_method_find(row[i].method), &options, &k, &err) != LGV_BAD_INPUT)
            fail_msg("%s was taken by %s", row[i].text, row[i].method);
        if (!strstr(err.message, row[i].message)) fail_msg("'%s' is not in: %s", row[i].message, err.message);
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_files), cmocka_unit_test(test_methods)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
