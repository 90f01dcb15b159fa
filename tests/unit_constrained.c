/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Single steps of the methods for constrained systems against tests/reference_constrained.h, for models given by a
 * Hamiltonian and by a Lagrangian, with constant masses and others, and with sparse constraints.  Symplecticity says
 * nothing about weights and signs of the noise or about the corrected potential; these numbers do. */
#include "helpers.h"
#include "reference_constrained.h"

#define SPHERE(v) "coordinates: {x in R3: '[0.6, -0.48, 0.64]'}\n" v ": {v: '[0, 0, 0]'}\n"
#define ON_SPHERE "constraints: dot(x, x) - 1\nnoise_potential: [sin(x.x), sin(x.y), sin(x.z)]\n"

/* Equal bodies side by side that share their noises make, each for itself, the same motion as one of them alone. */
static const struct subject {
    const char *name, *text;
    size_t n, nm, nc, copies;
} subjects[] = {
    {"sphere", SPHERE("velocities") "lagrangian: dot(v, v)/2 - x.z\n" ON_SPHERE, 3, 3, 1, 1},
    {"sphere", SPHERE("momenta") "hamiltonian: dot(v, v)/2 + x.z\n" ON_SPHERE, 3, 3, 1, 1},
    {"double pendulum",
     "parameters: {m: 1.3, k: 0.7}\ncoordinates: {x in R2: '[0.8, -0.6]', y in R2: '[1.7, -1.8]'}\n"
     "velocities: {v: '[0, 0]', w: '[0, 0]'}\nlagrangian: (m*dot(v, v) + k*dot(w, w))/2 - m*x.y - k*y.y\n"
     "constraints: ['dot(x, x) - 1', 'dot(y - x, y - x) - 2.25']\nnoise: [-0.4*sin(y.x), -0.3*cos(x.y + y.x)]\n",
     4, 2, 2, 1},
    {"double pendulum", /* eight constraints: their Jacobian is sparse */
     "parameters: {N: 4, m: 1.3, k: 0.7}\n"
     "coordinates: {'x[N] in R2': '[0.8, -0.6]', 'y[N] in R2': '[1.7, -1.8]'}\n"
     "velocities: {v: '[0, 0]', w: '[0, 0]'}\n"
     "lagrangian: sum(i=1..N, (m*dot(v[i], v[i]) + k*dot(w[i], w[i]))/2 - m*x[i].y - k*y[i].y)\n"
     "constraints: ['each(i=1..N, dot(x[i], x[i]) - 1)', 'each(i=1..N, dot(y[i] - x[i], y[i] - x[i]) - 2.25)']\n"
     "noise_potential: ['sum(i=1..N, 0.4*sin(y[i].x))', 'sum(i=1..N, 0.3*cos(x[i].y + y[i].x))']\n",
     4, 2, 2, 4},
    {"torus",
     "coordinates: {x in R3: '[1.8, 1.2, 0.65]'}\nmomenta: {p: '[0, 0, 0]'}\npotential: x.z\n"
     "constraints: (sqrt(x.x^2 + x.y^2) - 2)^2 + x.z^2 - 0.49\nnoise_potential: [0.5*sin(x.x), 0.3*x.y*x.z]\n",
     3, 2, 1, 1},
    {"mass of position", SPHERE("velocities") "lagrangian: (1 + 0.3*x.z^2)*dot(v, v)/2 - x.z\n" ON_SPHERE, 3, 3, 1, 1},
    {"magnetic", SPHERE("velocities") "lagrangian: dot(v, v)/2 + 0.8*(x.x*x.z*v.y - x.y*v.x) - x.z\n" ON_SPHERE, 3, 3, 1,
     1},
    {"quartic",
     SPHERE("velocities") "lagrangian: (1 + 0.3*x.z^2)*dot(v, v)/2 + 0.1*dot(v, v)^2 - x.z\n" ON_SPHERE, 3, 3, 1, 1},
};
#define SUBJECTS (sizeof subjects / sizeof *subjects)
#define CASES (sizeof constrained_cases / sizeof *constrained_cases)

/* Row of component i of body b: bodies stand in pairs of numbers behind each other, x of all first, then y. */
static size_t row_of(const struct subject *s, size_t b, size_t i) {
    return s->copies == 1 ? i : (i / 2) * 2 * s->copies + 2 * b + i % 2;
}

/* Path and first step number of a block that starts at the row; other lanes go through other steps. */
static void place(const struct lgv_kernel *k, const struct subject *s, const struct constrained_case *r,
                  struct lgv_bench_block *b) {
    size_t lanes = k->entry->lanes;
    assert_true(lgv_block_create(k, 0, r->dt, 9, 1, b));
    for (size_t l = 0; l < lanes; l++) {
        b->path[l] = r->path + 100 * l;
        for (size_t c = 0; c < s->copies; c++)
            for (size_t i = 0; i < s->n; i++) {
                size_t row = row_of(s, c, i);
                b->block.state[row * lanes + l] = r->q0[i];
                b->block.state[(k->nq + row) * lanes + l] = r->p0[i];
                /* a velocity to begin Newton's method with, if the kernel has one: only that it be near */
                if (k->nextra >= k->nq) b->block.state[(2 * k->nq + row) * lanes + l] = r->p0[i];
            }
    }
    b->block.step = r->step;
}

/* Newton's method leaves errors of 1e-15 in q and, through (q' - q)/dt, of 1e-14 in p, 1e-13 in lambda. */
static void compare(const struct lgv_kernel *k, const struct subject *s, const struct constrained_case *r,
                    const struct lgv_bench_block *b, double *worst) {
    size_t lanes = k->entry->lanes, multipliers = k->nstate - s->nc * s->copies;
    const double *x = b->block.state;
    assert_int_equal(b->block.fail[0], 0);
    for (size_t c = 0; c < s->copies; c++) {
        double e = 0;
        for (size_t i = 0; i < s->n; i++) {
            e = fmax(e, fabs(x[row_of(s, c, i) * lanes] - r->q[i]));
            e = fmax(e, fabs(x[(k->nq + row_of(s, c, i)) * lanes] - r->p[i]));
        }
        for (size_t i = 0; i < s->nc; i++)
            e = fmax(e, fabs(x[(multipliers + i * s->copies + c) * lanes] - r->lambda[i]) / (1 + fabs(r->lambda[i])));
        if (!(e <= 1e-12)) {
            print_message("q %.17g %.17g %.17g p %.17g %.17g %.17g lambda %.17g\n", x[0], x[lanes], x[2 * lanes],
                          x[k->nq * lanes], x[(k->nq + 1) * lanes], x[(k->nq + 2) * lanes], x[multipliers * lanes]);
            fail_msg("%s on %s, path %u, step %u: wrong by %.3g", r->method, s->text, r->path, r->step, e);
        }
        *worst = fmax(*worst, e);
    }
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

static void check_method(struct lgv_model *m, const struct subject *s, const char *method, double *worst) {
    struct lgv_kernel k = kernel_of(m, method);
    size_t rows = 0;
    assert_int_equal(k.nnoise, s->nm);
    for (size_t i = 0; i < CASES; i++) {
        const struct constrained_case *r = &constrained_cases[i];
        struct lgv_bench_block b;
        if (strcmp(r->model, s->name) != 0 || strcmp(r->method, method) != 0) continue;
        place(&k, s, r, &b);
        k.entry->advance(&b.block, 1);
        compare(&k, s, r, &b, worst);
        if (r->step == 0 && r[1].step == 1) { /* and on in the same block */
            k.entry->advance(&b.block, 1);
            compare(&k, s, r + 1, &b, worst);
        }
        lgv_block_free(&b);
        rows++;
    }
    assert_int_equal(rows, 3);
    lgv_kernel_free(&k);
}

static void test_steps(void **state) {
    (void)state;
    static const char *const methods[] = {"VE",       "SVE",      "VE-adjoint",   "RATTLE",
                                          "RATTLE-J", "RATTLE-Jc", "RATTLE-weak2", "SHAKE",
                                          "Lobatto3", "Lobatto4", "Lobatto3-W1",  "Lobatto3-W2"};
    for (size_t i = 0; i < SUBJECTS; i++) {
        const struct subject *s = &subjects[i];
        struct lgv_model *m = model_of(s->text);
        double worst = 0;
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
            const struct lgv_method *method = lgv_method_find(methods[k]);
            assert_non_null(method);
            if (method->correction != 0 && strcmp(s->name, "quartic") == 0) {
                struct lgv_kernel kernel;
                struct lgv_error err = {0};
                assert_int_equal(lgv_kernel_build(m, method, &(struct lgv_kernel_options){0}, &kernel, &err),
                                 LGV_BAD_INPUT);
                assert_non_null(strstr(err.message, "velocit"));
                continue;
            }
            /* SVE is VE, and full steps of many bodies with four stages take long to compile */
            if ((i > 0 && strcmp(methods[k], "SVE") == 0) || (s->copies > 1 && strncmp(methods[k], "Lobatto", 7) == 0))
                continue;
            check_method(m, s, methods[k], &worst);
        }
        print_message("%s: largest error %.2g\n", s->name, worst);
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_increments),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
