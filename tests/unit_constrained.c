/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Single steps of the methods for constrained systems against tests/reference_constrained.h: constant masses, masses of
 * q, magnetic terms, a Lagrangian that is not quadratic, sparse constraints.  Symplecticity says nothing about weights
 * and signs of the noise or about the corrected potential; these numbers do. */
#include "constrained_models.h"
#include "helpers.h"
#include "reference_constrained.h"

/* Bodies that share their noises and nothing else make, each for itself, the same motion as one of them alone: a
 * model may consist of several.  The coordinates of a body are rows in sequence, or pairs of rows 2 * apart from each
 * other. */
static const struct body {
    const char *name;    /* in the table */
    size_t n, at, apart; /* rows of the coordinates */
    size_t nc, constraint, stride;
} sphere = {"sphere", 3, 0, 0, 1, 0, 1}, massive = {"mass of position", 3, 0, 0, 1, 0, 1},
  magnetic = {"magnetic", 3, 0, 0, 1, 0, 1}, quartic = {"quartic", 3, 0, 0, 1, 0, 1},
  pendulum = {"double pendulum", 4, 0, 0, 2, 0, 1}, torus = {"torus", 3, 4, 0, 1, 2, 1},
  row[4] = {{"double pendulum", 4, 0, 4, 2, 0, 4},
            {"double pendulum", 4, 2, 4, 2, 1, 4},
            {"double pendulum", 4, 4, 4, 2, 2, 4},
            {"double pendulum", 4, 6, 4, 2, 3, 4}};

#define CASES (sizeof constrained_cases / sizeof *constrained_cases)

static size_t row_of(const struct body *b, size_t i) {
    return b->apart ? b->at + (i / 2) * 2 * b->apart + i % 2 : b->at + i;
}

static const struct constrained_case *find_case(const struct body *b, const char *method, size_t number) {
    for (size_t i = 0; i < CASES; i++)
        if (strcmp(constrained_cases[i].model, b->name) == 0 && strcmp(constrained_cases[i].method, method) == 0)
            return &constrained_cases[i + number];
    fail_msg("no row for %s on %s", method, b->name);
    return NULL;
}

static void place(const struct lgv_kernel *k, const struct body *b, const struct constrained_case *r,
                  struct lgv_own_block *block) {
    size_t lanes = k->entry->lanes;
    for (size_t l = 0; l < lanes; l++) {
        block->path[l] = r->path + 100 * l; /* other lanes have other steps */
        for (size_t i = 0; i < b->n; i++) {
            block->block.state[row_of(b, i) * lanes + l] = r->q0[i];
            block->block.state[(k->np + row_of(b, i)) * lanes + l] = r->p0[i];
            /* a velocity to begin Newton's method with, if the kernel has one: only that it be near */
            if (k->nextra >= k->np) block->block.state[((k->nx + k->np) + row_of(b, i)) * lanes + l] = r->p0[i];
        }
    }
    block->block.step = r->step;
}

/* Newton's method leaves errors of 1e-15 in q and, through (q' - q)/dt, of 1e-14 in p, 1e-13 in lambda. */
static double compare(const struct lgv_kernel *k, const struct body *b, const struct constrained_case *r,
                      const struct lgv_own_block *block, size_t nc) {
    size_t lanes = k->entry->lanes, multipliers = k->nx + k->np + k->nextra - nc;
    const double *x = block->block.state;
    double e = 0;
    assert_int_equal(block->block.fail[0], 0);
    for (size_t i = 0; i < b->n; i++) {
        e = fmax(e, fabs(x[row_of(b, i) * lanes] - r->q[i]));
        e = fmax(e, fabs(x[(k->np + row_of(b, i)) * lanes] - r->p[i]));
    }
    if (!(e <= 1e-12)) fail_msg("%s on %s, path %u, step %u: wrong by %.3g", r->method, b->name, r->path, r->step, e);
    for (size_t i = 0; i < b->nc; i++) {
        double lambda = x[(multipliers + b->constraint + i * b->stride) * lanes];
        e = fmax(e, fabs(lambda - r->lambda[i]) / (1 + fabs(r->lambda[i])));
        if (!(e <= 1e-12)) fail_msg("%s on %s: multiplier %.17g, not %.17g", r->method, b->name, lambda, r->lambda[i]);
    }
    return e;
}

static void test_increments(void **state) {
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int nm = 2; nm <= 3; nm++) {
            vec w[3], z[3];
            const struct constrained_case *r = &constrained_cases[i];
            noise_step(9, uvec_set(r->path), r->step, 1, r->dt, nm, 1, w, z);
            for (int m = 0; m < nm; m++) {
                assert_near(w[m][0], constrained_dW[i][nm - 2][m], 1e-15, "dW");
                assert_near(z[m][0], constrained_dZ[i][nm - 2][m], 1e-15, "dZ");
            }
        }
}

/* The three rows of every body. */
static double check_method(struct lgv_model *m, const char *method, size_t bodies, const struct body *const *body) {
    struct lgv_kernel k = kernel_with(m, method, LANES, NULL);
    struct lgv_own_block block;
    double worst = 0;
    size_t nc = 0;
    for (size_t i = 0; i < bodies; i++) nc += body[i]->nc;
    for (size_t number = 0; number < 3; number++) {
        const struct constrained_case *r = find_case(body[0], method, number);
        assert_true(lgv_block_create(&k, 0, r->dt, 9, 1, &block));
        for (size_t i = 0; i < bodies; i++) place(&k, body[i], find_case(body[i], method, number), &block);
        for (size_t next = number; next < (number ? number + 1 : 2); next++) { /* the first two also in one block */
            k.entry->advance(&block.block, 1);
            for (size_t i = 0; i < bodies; i++)
                worst = fmax(worst, compare(&k, body[i], find_case(body[i], method, next), &block, nc));
        }
        lgv_block_free(&block);
    }
    lgv_kernel_free(&k);
    return worst;
}

static const char *const methods[] = {"VE",    "VE-adjoint", "RATTLE",   "RATTLE-J",    "RATTLE-Jc",  "RATTLE-weak2",
                                      "SHAKE", "Lobatto3",   "Lobatto4", "Lobatto3-W1", "Lobatto3-W2"};
#define METHODS (sizeof methods / sizeof *methods)

static void test_constant_masses(void **state) {
    (void)state;
    double worst = 0;
    struct lgv_model *one = model_of(SPHERE), *two = model_of(PENDULUM_AND_TORUS);
    for (size_t k = 0; k < METHODS; k++) {
        worst = fmax(worst, check_method(one, methods[k], 1, (const struct body *const[]){&sphere}));
        if (strcmp(methods[k], "Lobatto3") != 0) /* its weights are in W2 */
            worst = fmax(worst, check_method(two, methods[k], 2, (const struct body *const[]){&pendulum, &torus}));
    }
    print_message("largest error %.2g\n", worst);
    assert_string_equal(lgv_method_find("SVE")->constants, lgv_method_find("VE")->constants);
    assert_string_equal(lgv_method_find("SVE")->source, lgv_method_find("VE")->source);
    lgv_model_free(one);
    lgv_model_free(two);
}

/* Steps with the velocities of all stages as unknowns. */
static void test_lagrangians(void **state) {
    (void)state;
    static const struct {
        const struct body *body;
        double a, b, c;
    } kinds[] = {{&sphere, 0, 0, 0}, {&massive, 0.3, 0, 0}, {&magnetic, 0, 0, 0.8}, {&quartic, 0.3, 0.1, 0}};
    double worst = 0;
    struct lgv_model *general = model_of(GENERAL("b*dot(v, v)^2")), *quadratic = model_of(GENERAL("0"));
    for (size_t k = 0; k < METHODS; k++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            const struct lgv_method *method = lgv_method_find(methods[k]);
            struct lgv_kernel kernel;
            struct lgv_error err = {0};
            assert_non_null(method);
            struct lgv_model *m = method->correction != 0 && kinds[i].b == 0 ? quadratic : general;
            set_parameter(m, "a", kinds[i].a);
            set_parameter(m, "b", kinds[i].b);
            set_parameter(m, "c", kinds[i].c);
            if (method->correction == 0 || kinds[i].b == 0) {
                worst = fmax(worst, check_method(m, methods[k], 1, &kinds[i].body));
                continue;
            }
            assert_int_equal(lgv_kernel_build(m, method, &(struct lgv_kernel_options){0}, &kernel, &err),
                             LGV_BAD_INPUT);
            assert_non_null(strstr(err.message, "velocit"));
        }
    print_message("largest error %.2g\n", worst);
    lgv_model_free(general);
    lgv_model_free(quadratic);
}

/* More than six constraints: their Jacobian is sparse. */
static void test_sparse(void **state) {
    (void)state;
    struct lgv_model *m = model_of(FOUR_PENDULUMS);
    const struct body *const four[] = {&row[0], &row[1], &row[2], &row[3]};
    double worst = fmax(check_method(m, "RATTLE-Jc", 4, four), check_method(m, "Lobatto3-W2", 4, four));
    print_message("largest error %.2g\n", worst);
    lgv_model_free(m);
}

/* ---- one quadratic constraint: solved in closed form ---- */

/* g and exp(g) - 1 have the same zeros, gradients and multipliers; only the second is left to Newton's method. */
#define QUADRIC                                                                                                        \
    "coordinates: {x: 0.4, y: 0.9, z: 0.2}\nmomenta: {px: 0.3, py: -0.2, pz: 0.8}\n"                                   \
    "hamiltonian: px^2/2 + py^2/4 + pz^2/6 + px*py/5 + z + x^2*y\nnoise: ['0.3*sin(x)*y', '0.2*z']\n"
#define ELLIPSOID "x^2/4 + x*y/8 + (y - 0.3)^2 + 2*z^2 + z/2 - 0.625"
#define LONG "coordinates: {'x[40]': 0.5}\nmomenta: {'p[40]': 'sin(2*i)/5'}\nkinetic: {mass: 1.5}\n"
#define LONG_NORM "sum(i=1..40, x[i]^2 - 0.25 + (x[i] - 0.5)/i)"

static void test_quadric(void **state) {
    (void)state;
    static const char *const pair[][2] = {
        {QUADRIC "constraints: ['" ELLIPSOID "']\n", QUADRIC "constraints: ['exp(" ELLIPSOID ") - 1']\n"},
        {LONG "potential: x[1]\nconstraints: ['" LONG_NORM "']\n",
         LONG "potential: x[1]\nconstraints: ['sinh(" LONG_NORM ")']\n"}};
    for (size_t i = 0; i < 2; i++) {
        double *end[2], worst = 0, moves[2];
        size_t count = 0;
        for (int k = 0; k < 2; k++) {
            struct lgv_model *m = model_of(pair[i][k]);
            struct lgv_kernel kernel = kernel_of(m, "RATTLE");
            struct lgv_own_block b;
            count = kernel.watch.count;
            end[k] = final_values(&kernel, 0.02, 100, 8, 5, 1);
            assert_true(lgv_block_create(&kernel, 0, 0.02, 5, 1, &b));
            kernel.entry->start(&b.block);
            kernel.entry->advance(&b.block, 10);
            moves[k] = (double)b.block.iterations / 10;
            lgv_block_free(&b);
            lgv_kernel_free(&kernel);
            lgv_model_free(m);
        }
        for (size_t j = 0; j < 8 * count; j++) worst = fmax(worst, fabs(end[0][j] - end[1][j]));
        print_message("model %zu: %g and %g moves a step, difference %.2g\n", i, moves[0], moves[1], worst);

        assert_true(moves[0] == 0 && moves[1] >= 2); /* closed form, Newton */
        assert_true(worst <= 1e-11);
        free(end[0]);
        free(end[1]);
    }
}

/* The solution that grows from q with the length of the step, by Newton's method in small steps.  False: it ends on the
 * way.  *least: of the slope along the way, which is 1 at q. */
static bool follow(const double A[3], const double q[3], const double v[3], double dt, double end[3], double *least) {
    const int steps = 1000;
    double G[3], square = 0, e = 0;
    *least = 1;
    for (int i = 0; i < 3; i++) G[i] = 2 * A[i] * q[i];
    for (int i = 0; i < 3; i++) square += G[i] * G[i];
    for (int k = 1; k <= steps; k++) {
        double slope = 0, change = 1, s = dt * k / steps;
        for (int round = 0; round < 20 && fabs(change) > 1e-14 * (1 + fabs(e)); round++) {
            double g = -1;
            slope = 0;
            for (int i = 0; i < 3; i++) {
                end[i] = q[i] + s * v[i] - e * G[i];
                g += A[i] * end[i] * end[i];
                slope += 2 * A[i] * end[i] * G[i] / square;
            }
            e += change = g / (slope * square);
        }
        if (!(slope > 0) || !(fabs(change) <= 1e-10 * (1 + fabs(e)))) return false;
        *least = fmin(*least, slope);
    }
    return true;
}

/* Steps of any length on quadrics reach the solution that grows from q, and fail where it ends; what of p is normal
 * plays no part. */
static void test_quadric_follows(void **state) {
    (void)state;
    static const struct {
        double A[3], q[3];
        bool ends; /* for some steps; else for none */
    } set[] = {{{1, 1, -1}, {1.2, 0.9, 1.118033988749895}, true},
               {{1, -1, 0}, {2.2360679774997896, 2, 0}, false},
               {{1, -1, -1}, {2.4494897427831779, 2, 1}, false},
               {{0.0625, 1, 1}, {0.8, 0.6, 0.7745966692414834}, true}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        const double *A = set[i].A, *q = set[i].q;
        char text[400];
        size_t found = 0, ended = 0;
        uint64_t seed = 3;
        double worst = 0;
        snprintf(text, sizeof text,
                 "coordinates: {x: %.17g, y: %.17g, z: %.17g}\nmomenta: {u: 0, v: 0, w: 0}\nkinetic: {mass: 1}\n"
                 "potential: 0\nconstraints: %g*x^2 + %g*y^2 + %g*z^2 - 1\n",
                 q[0], q[1], q[2], A[0], A[1], A[2]);
        struct lgv_model *m = model_of(text);
        struct lgv_kernel k = kernel_of(m, "RATTLE");
        for (uint64_t path = 0; path < 1500; path++) {
            double x[6], v[3], G[3], end[3], across = 0, square = 0, slope = 0, bend = 0, push = 0, least;
            double dt = 5 * uniform_of(&seed);
            for (int j = 0; j < 3; j++) v[j] = 2 * uniform_of(&seed) - 1;
            for (int j = 0; j < 3; j++) across += (G[j] = 2 * A[j] * q[j]) * v[j];
            for (int j = 0; j < 3; j++) square += G[j] * G[j];
            for (int j = 0; j < 3; j++) v[j] -= across / square * G[j];
            for (int j = 0; j < 3; j++) {
                slope += 2 * A[j] * (q[j] + dt * v[j]) * G[j] / square;
                bend += 2 * A[j] * G[j] * G[j] / square;
            }
            if (path % 3 == 1) push = (4 * uniform_of(&seed) - 2) / dt;
            if (path % 3 == 2) push = (1 - slope) / bend / dt; /* to where the slope is 1 again */
            for (int j = 0; j < 6; j++) x[j] = j < 3 ? q[j] : v[j - 3] + push * G[j - 3];
            bool there = follow(A, q, v, dt, end, &least);
            if (there && least < 0.05) continue; /* a small push decides */
            assert_int_equal(one_step_of(&k, 0, dt, 1, path, 0, x), there);
            found += there;
            ended += !there;
            for (int j = 0; there && j < 3; j++) worst = fmax(worst, fabs(x[j] - end[j]) / (1 + fabs(end[j])));
        }
        print_message("%g, %g, %g: %zu found, %zu ended, difference %.2g\n", A[0], A[1], A[2], found, ended, worst);
        assert_true(found > 100 && (ended > 100) == set[i].ends && worst < 1e-11);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

/* From q + dt v with dt |v| > 1 no move along q reaches the circle, nor does one along a side of a roof beyond its
 * ridge. */
static void test_no_solution(void **state) {
    (void)state;
#define CIRCLE "coordinates: {x: 1, y: 0}\nmomenta: {px: 0, py: 1}\nhamiltonian: (px^2+py^2)/2\n"
#define ROOF "coordinates: {x: -0.35, y: -0.05}\nmomenta: {px: 1, py: 3}\nhamiltonian: (px^2+py^2)/2\n"
    static const char *const text[] = {CIRCLE "constraints: x^2 + y^2 - 1\n",
                                       CIRCLE "constraints: exp(x^2 + y^2 - 1) - 1\n",
                                       ROOF "constraints: 3*abs(x) + y - 1\n"};
    static const double step[] = {1.5, 1.5, 0.1};
    for (size_t i = 0; i < 3; i++) {
        struct lgv_model *m = model_of(text[i]);
        struct lgv_kernel kernel = kernel_of(m, "RATTLE");
        struct lgv_own_block b;
        assert_true(lgv_block_create(&kernel, 0, step[i], 1, 1, &b));
        kernel.entry->start(&b.block);
        kernel.entry->advance(&b.block, 5);
        assert_int_equal(b.block.fail[0], LGV_FAIL_NEWTON);
        lgv_block_free(&b);
        lgv_kernel_free(&kernel);
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_increments),
        cmocka_unit_test(test_constant_masses),
        cmocka_unit_test(test_lagrangians),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_quadric),
        cmocka_unit_test(test_quadric_follows),
        cmocka_unit_test(test_no_solution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
