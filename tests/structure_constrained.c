/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the methods for constrained systems keep: constraints and hidden constraints, the symplectic form on T*S, the
 * vertical angular momentum. */
#include "constrained_models.h"
#include "helpers.h"

static const char *const methods[] = {"VE",    "VE-adjoint", "RATTLE",   "RATTLE-J",    "RATTLE-Jc",  "RATTLE-weak2",
                                      "SHAKE", "Lobatto3",   "Lobatto4", "Lobatto3-W1", "Lobatto3-W2"};
#define METHODS (sizeof methods / sizeof *methods)

/* Largest |value|, or |change| since the start, of an observable at 50 times of 32 paths, T = 20. */
static double largest(const struct lgv_kernel *k, const char *name, bool change) {
    const double dt = 0.02;
    struct lgv_own_block b;
    size_t lanes = k->entry->lanes, at = watch_number(k, name) * lanes;
    double *seen = NULL, *start = NULL, worst = 0;
    assert_int_equal(posix_memalign((void **)&seen, 128, k->watch.count * lanes * sizeof *seen), 0);
    assert_int_equal(posix_memalign((void **)&start, 128, k->watch.count * lanes * sizeof *start), 0);
    for (size_t first = 0; first < 32; first += lanes) {
        assert_true(lgv_block_create(k, 0, dt, 4, 1, &b));
        for (size_t l = 0; l < lanes; l++) b.path[l] = first + l;
        k->entry->start(&b.block);
        k->entry->observe(&b.block, start);
        for (size_t t = 0; t < 50; t++) {
            k->entry->advance(&b.block, 20);
            k->entry->observe(&b.block, seen);
            for (size_t l = 0; l < lanes; l++) {
                assert_int_equal(b.block.fail[l], 0);
                worst = fmax(worst, fabs(seen[at + l] - (change ? start[at + l] : 0)));
            }
        }
        lgv_block_free(&b);
    }
    free(seen);
    free(start);
    return worst;
}

static const struct {
    const char *name, *text;
} subjects[] = {
    {"sphere", SPHERE},
    {"pendulum and torus", PENDULUM_AND_TORUS},
    {"quadratic Lagrangian", GENERAL("0")}, /* only for what is refused by the next one */
    {"Lagrangian", GENERAL("b*dot(v, v)^2")},
};
#define SUBJECTS (sizeof subjects / sizeof *subjects)

static bool left_out(size_t subject, const char *method) {
    bool corrected = lgv_method_find(method)->correction != 0;
    return (subject == 2 && !corrected) || (subject == 3 && corrected);
}

/* ---- constraints ---- */

/* g is known to 1e-16 times its terms; the hidden residual G v to 1e-16 times velocities (up to 10) and G (up to 3).
 * SHAKE leaves the hidden constraint, but shows momenta that are on it. */
static void test_constraints(void **state) {
    (void)state;
    for (size_t j = 0; j < SUBJECTS; j++) {
        struct lgv_model *m = model_of(subjects[j].text);
        for (size_t i = 0; i < METHODS; i++) {
            if (left_out(j, methods[i])) continue;
            struct lgv_kernel k = kernel_with(m, methods[i], LANES, NULL);
            double g = largest(&k, "constraint", false), hidden = largest(&k, "hidden_constraint", false);
            print_message("%s, %s: constraint %.2g, hidden %.2g\n", subjects[j].name, methods[i], g, hidden);
            if (!(g < 1e-13)) fail_msg("%s on %s: |g| = %g", methods[i], subjects[j].name, g);
            if (!(hidden < 1e-13)) fail_msg("%s on %s: |G v| = %g", methods[i], subjects[j].name, hidden);
            lgv_kernel_free(&k);
        }
        lgv_model_free(m);
    }
}

/* Positions of SHAKE are those of RATTLE, and so are its momenta once they are projected. */
static void test_shake(void **state) {
    (void)state;
    static const char *const text[] = {SPHERE, GENERAL("b*dot(v, v)^2")};
    for (size_t i = 0; i < 2; i++) {
        struct lgv_model *m = model_of(text[i]);
        struct lgv_kernel k[2] = {kernel_with(m, "RATTLE", LANES, NULL), kernel_with(m, "SHAKE", LANES, NULL)};
        struct lgv_own_block b[2];
        size_t lanes = k[0].entry->lanes, n = k[0].np * lanes;
        double apart = 0;
        assert_int_equal(lanes, k[1].entry->lanes);
        for (size_t j = 0; j < 2; j++) {
            assert_true(lgv_block_create(&k[j], 0, 0.05, 4, 1, &b[j]));
            for (size_t l = 0; l < lanes; l++) b[j].path[l] = l;
            k[j].entry->start(&b[j].block);
            k[j].entry->advance(&b[j].block, 40);
        }
        for (size_t r = 0; r < n; r++) {
            assert_near(b[0].block.state[r], b[1].block.state[r], 1e-12, "position");
            apart = fmax(apart, fabs(b[0].block.state[n + r] - b[1].block.state[n + r]));
        }
        assert_true(apart > 1e-3);
        k[1].entry->project(&b[1].block);
        for (size_t r = 0; r < 2 * n; r++) assert_near(b[0].block.state[r], b[1].block.state[r], 1e-12, "projected");
        for (size_t j = 0; j < 2; j++) {
            lgv_block_free(&b[j]);
            lgv_kernel_free(&k[j]);
        }
        lgv_model_free(m);
    }
}

/* ---- the symplectic form ---- */

static double defect_of(const struct lgv_kernel *k) {
    double x[32], worst = 0;
    assert_true((k->nx + k->np) <= 32);
    for (uint64_t path = 0; path < 2; path++) {
        struct lgv_own_block b;
        assert_true(lgv_block_create(k, 0.1, 0.1, 5, 1, &b));
        for (size_t l = 0; l < k->entry->lanes; l++) b.path[l] = path;
        k->entry->start(&b.block);
        k->entry->advance(&b.block, 3 * path);
        for (size_t i = 0; i < k->nx + k->np; i++) x[i] = b.block.state[i * k->entry->lanes];
        struct lgv_defect how = {0};
        double d = lgv_certificate_defect(k, 0.1, 0.1, 5, path, 3 * path, x, NULL, NULL, NULL, &how), error = how.error;
        assert_true(d >= 0 && error < 1e-8);
        worst = fmax(worst, d);
        lgv_block_free(&b);
    }
    return worst;
}

/* Projected Euler-Maruyama stays on T*S, but is not symplectic there: its defect is of the order dt^2. */
static void test_projected(void **state) {
    (void)state;
    for (size_t j = 0; j < 2; j++) {
        struct lgv_model *m = model_of(subjects[j].text);
        struct lgv_kernel k = kernel_with(m, "projected-euler-maruyama", LANES, NULL);
        double g = largest(&k, "constraint", false), hidden = largest(&k, "hidden_constraint", false);
        double d = defect_of(&k);
        print_message("PEM on %s: constraint %.2g, hidden %.2g, defect %.2g\n", subjects[j].name, g, hidden, d);
        assert_true(g < 1e-13 && hidden < 1e-12 && d > 1e-3 && !k.method->symplectic);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
    static const char *const other[] = {GENERAL("b*dot(v, v)^2"),
                                        "coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + q^2/2\n"};
    for (size_t j = 0; j < 2; j++) {
        struct lgv_model *m = model_of(other[j]);
        struct lgv_structure s;
        char why[400];
        assert_int_equal(lgv_model_structure(m, &s, NULL), LGV_OK);
        assert_non_null(lgv_method_refusal(lgv_method_find("PEM"), m, &s, why, sizeof why));
        assert_non_null(strstr(why, j ? "EEM" : "constant masses"));
        lgv_model_free(m);
    }
}

static void check_defects(struct lgv_model *m, size_t subject, const char *name) {
    for (size_t i = 0; i < METHODS; i++) {
        if (left_out(subject, methods[i])) continue;
        struct lgv_kernel k = kernel_with(m, methods[i], LANES, NULL);
        double d = defect_of(&k);
        print_message("%s, %s: %.2g\n", name, methods[i], d);
        if (!(d < 1e-10)) fail_msg("%s on %s: defect %g", methods[i], name, d);
        lgv_kernel_free(&k);
    }
}

static void test_symplectic(void **state) {
    (void)state;
    for (size_t j = 0; j < SUBJECTS; j++) {
        struct lgv_model *m = model_of(subjects[j].text);
        check_defects(m, j, subjects[j].name);
        if (j >= 2) { /* one term alone */
            set_parameter(m, "b", 0);
            set_parameter(m, "c", 0);
            check_defects(m, j, "mass of position");
            set_parameter(m, "a", 0);
            set_parameter(m, "c", 0.8);
            check_defects(m, j, "magnetic");
            set_parameter(m, "a", 0.3);
            set_parameter(m, "b", 0.1);
            set_parameter(m, "c", 0);
            check_defects(m, j, "quartic");
        }
        lgv_model_free(m);
    }
}

/* RATTLE on the sphere with something done to the momenta behind every step. */
static const struct lgv_entry *inner;
static enum { DAMPED, SWIRLED, PUSHED, KINDS } kind;

static void advance_with(struct lgv_block *b, unsigned long long steps) {
    size_t lanes = inner->lanes;
    for (; steps > 0; steps--) {
        inner->advance(b, 1);
        for (size_t l = 0; l < lanes; l++) {
            double *q = b->state + l, *p = q + 3 * lanes;
            if (kind == DAMPED)
                for (size_t i = 0; i < 3; i++) p[i * lanes] *= 0.999;
            if (kind == SWIRLED) { /* a force that is no gradient */
                p[0] -= 1e-3 * q[lanes];
                p[lanes] += 1e-3 * q[0];
            }
            if (kind == PUSHED) p[0] += 1e-3 * q[0] * q[0];
        }
        inner->project(b);
    }
}

/* What is not symplectic shows: areas shrink by 1e-3 with damping; d(x dy - y dx) = 2 dx dy.  A kick by
 * a gradient is symplectic. */
static void test_controls(void **state) {
    (void)state;
    struct lgv_model *m = model_of(SPHERE);
    struct lgv_kernel k = kernel_with(m, "RATTLE", LANES, NULL);
    struct lgv_entry entry = *k.entry;
    inner = k.entry;
    entry.advance = advance_with;
    k.entry = &entry;
    for (kind = DAMPED; kind < KINDS; kind++) {
        double d = defect_of(&k);
        print_message("changed momenta %d: %.2g\n", (int)kind, d);
        assert_true(kind == PUSHED ? d < 1e-10 : d > 2e-4 && d < 1e-2);
    }
    k.entry = inner;
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* ---- momentum maps ---- */

/* Noise that depends on the height only keeps p . (-y, x, 0): impulses of constraints are along q, and what is left is
 * round-off of 1000 steps.  With the others it is lost. */
static void test_vertical(void **state) {
    (void)state;
    static const size_t which[] = {0, 2, 3};
    for (size_t j = 0; j < 3; j++) {
        struct lgv_model *m = model_of(subjects[which[j]].text);
        if (which[j] > 0) set_parameter(m, "c", 0);
        for (size_t i = 0; i < METHODS; i++) {
            if (left_out(which[j], methods[i])) continue;
            double change[2];
            for (int noise = 0; noise < 2; noise++) { /* a parameter is set before the kernel is made */
                set_parameter(m, "s", noise);
                struct lgv_kernel k = kernel_with(m, methods[i], LANES, NULL);
                change[noise] = largest(&k, "vertical", true);
                lgv_kernel_free(&k);
            }
            print_message("%s, %s: %.2g\n", subjects[which[j]].name, methods[i], change[0]);
            if (!(change[0] < 1e-12)) fail_msg("%s: vertical momentum changes by %g", methods[i], change[0]);
            assert_true(change[1] > 0.1);
        }
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constraints),
        cmocka_unit_test(test_shake),
        cmocka_unit_test(test_projected),
        cmocka_unit_test(test_symplectic),
        cmocka_unit_test(test_controls),
        cmocka_unit_test(test_vertical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
