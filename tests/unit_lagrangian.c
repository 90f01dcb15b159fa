/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Models given by a Lagrangian, and constraints: the Legendre transform against its definition
 *     p = L_v,   H = p.v - L,   H_p = v,   H_q = -L_q
 * with derivatives of L by finite differences; the sum S = lambda.g against the constraints it consists of; what is
 * found about the start and about symmetries. */
#include "helpers.h"

#define MANY 64

/* A point and everything formulas may refer to there. */
struct place {
    double q[MANY], p[MANY], v[MANY], lambda[MANY], draw[MANY];
};

static struct lgv_env env_of(const struct lgv_model *m, const struct place *x) {
    return (struct lgv_env){.par = m->par,
                            .t = 0.3,
                            .space = {[LGV_Q] = x->q,
                                      [LGV_P] = x->p,
                                      [LGV_V] = x->v,
                                      [LGV_LAMBDA] = x->lambda,
                                      [LGV_NORMAL] = x->draw,
                                      [LGV_UNIFORM] = x->draw}};
}

static void place_make(struct place *x, uint64_t seed) {
    for (int i = 0; i < MANY; i++) {
        x->q[i] = 0.4 + 0.8 * uniform_of(&seed);
        x->v[i] = 2 * uniform_of(&seed) - 1;
        x->p[i] = NAN; /* nothing may use it before it is known */
        x->lambda[i] = 1 + uniform_of(&seed);
        x->draw[i] = uniform_of(&seed);
    }
}

static double value_of(struct lgv_model *m, int node, const struct place *x) {
    struct lgv_evaluator e;
    struct lgv_env env = env_of(m, x);
    assert_true(lgv_eval_begin(&e, m->graph));
    double y = lgv_eval_node(&e, node, &env, NULL);
    lgv_eval_end(&e);
    return y;
}

/* d node / d *at, at being a number of x: central difference of order 4. */
static double slope_of(struct lgv_model *m, int node, struct place *x, double *at) {
    double old = *at, h = 1e-3, y[4];
    for (int k = 0; k < 4; k++) {
        *at = old + h * (k < 2 ? k - 2 : k - 1);
        y[k] = value_of(m, node, x);
    }
    *at = old;
    return (y[0] - 8 * y[1] + 8 * y[2] - y[3]) / (12 * h);
}

/* out[nrows][ncols]: first or second derivatives of a function as the code generator gets them. */
static void derivatives(struct lgv_model *m, const struct lgv_function *f, enum lgv_space rows, int cols,
                        const struct place *x, double *out, size_t size, size_t ncols) {
    struct lgv_terms t = {0};
    struct lgv_evaluator e;
    struct lgv_env env = env_of(m, x);
    if (cols < 0)
        lgv_terms_gradient(m->graph, f, rows, &t);
    else
        lgv_terms_hessian(m->graph, f, rows, (enum lgv_space)cols, &t);
    assert_null(m->graph->failed);
    assert_true(lgv_eval_begin(&e, m->graph));
    lgv_eval_terms(&e, &t, &env, out, size, ncols);
    lgv_eval_end(&e);
    lgv_terms_free(&t);
}

/* ---- the Legendre transform ---- */

/* Observables called V1, V2, ... must be the velocities again. */
static void check_legendre(const char *text) {
    struct lgv_model *m = model_of(text);
    struct place x;
    double d[MANY];
    if (m->lagrangian_only) fail_msg("no Hamiltonian for\n%s", text);
    for (uint64_t seed = 1; seed < 6; seed++) {
        double energy = 0;
        place_make(&x, seed);
        energy -= value_of(m, m->lagrangian, &x);
        for (size_t i = 0; i < m->np; i++) d[i] = slope_of(m, m->lagrangian, &x, &x.v[i]);
        for (size_t i = 0; i < m->np; i++) {
            x.p[i] = d[i];
            energy += d[i] * x.v[i];
        }
        assert_near(value_of(m, m->hamiltonian, &x), energy, 1e-9, text);
        struct lgv_function H;
        assert_true(lgv_function_split(m->graph, m->hamiltonian, false, &H));
        derivatives(m, &H, LGV_P, -1, &x, d, m->np, 1);
        for (size_t i = 0; i < m->np; i++) assert_near(d[i], x.v[i], 1e-9, text);
        derivatives(m, &H, LGV_Q, -1, &x, d, m->np, 1);
        for (size_t i = 0; i < m->np; i++) assert_near(d[i], -slope_of(m, m->lagrangian, &x, &x.q[i]), 1e-8, text);
        lgv_function_free(&H);
        for (size_t k = 0; k < m->nobservables; k++) {
            assert_false(m->graph->node[m->observable[k].node].uses & LGV_USES(LGV_V));
            if (m->observable[k].name[0] != 'V') continue;
            size_t i = strtoul(m->observable[k].name + 1, NULL, 10);
            assert_near(value_of(m, m->observable[k].node, &x), x.v[i - 1], 1e-9, text);
        }
    }
    lgv_model_free(m);
}

#define XY "parameters: {a: 2, b: 3}\ncoordinates: {x: 1, y: 0.2}\nvelocities: {u: 0.5, w: x + u}\n"
#define XYZ "coordinates: {x: 1, y: 0.2, z: 0}\nvelocities: {u: 0.5, v: 0, w: 1}\n"
#define ARRAY "parameters: {N: 12, m: 2}\ncoordinates: {'x[N]': i}\nvelocities: {v: 0}\n"
#define POINTS "parameters: {N: 9, m: 2, B: 0.7}\ncoordinates: {'x[N] in R2': '[i, 0]'}\nvelocities: {v: 0}\n"

static void test_legendre(void **state) {
    (void)state;
    static const char *const text[] = {
        /* constant masses, one mass, masses by coordinate, coupled */
        XY "lagrangian: (u^2 + w^2)/2 - x*y\nobserve: {V1: u, V2: w}\n",
        XY "lagrangian: a*u^2/2 + b*w^2/2 - cos(x)*y\nobserve: {V1: u, V2: w}\n",
        XY "lagrangian: a*u^2/2 + b*w^2/2 + u*w - cos(x)*y\nobserve: {V1: u, V2: w}\n",
        /* a relativistic look-alike that is quadratic all the same, and time */
        XY "lagrangian: (1 + t)*u^2/2 + (u + w)^2 - t*y\nobserve: {V1: u, V2: w}\n",
        /* M(q): polar coordinates, double pendulum, dense 3 x 3 */
        XY "lagrangian: (u^2 + x^2*w^2)/2 - 1/x\nobserve: {V1: u, V2: w}\n",
        XY "lagrangian: u^2 + w^2/2 + u*w*cos(x - y) + 2*cos(x) + cos(y)\nobserve: {V1: u, V2: w}\n",
        XYZ "lagrangian: ((2 + x^2)*u^2 + 3*v^2 + (3 + sin(z))*w^2)/2 + x*u*v + y*z*v*w + 0.3*cos(x)*u*w - x*y*z\n"
            "observe: {V1: u, V2: v, V3: w}\n",
        "coordinates: {'q[4]': i}\nvelocities: {v: 0}\n"
        "lagrangian: sum(i=1..4, (i + q[i]^2)*v[i]^2)/2 + 0.1*sum(i=1..4, j=i+1..4, q[i]*v[i]*v[j])\n"
        "observe: {V1: 'v[1]', V2: 'v[2]', V3: 'v[3]', V4: 'v[4]'}\n",
        /* terms linear in v: magnetic fields */
        XYZ "lagrangian: (u^2 + 2*v^2 + 3*w^2)/2 + (x*v - y*u)*z - x^2\nobserve: {V1: u, V2: v, V3: w}\n",
        XYZ "lagrangian: u^2 + v^2 + w^2 + u*v + y*u + x*y*z*w\nobserve: {V1: u, V2: v, V3: w}\n",
        /* sums */
        ARRAY "lagrangian: sum(i=1..N, m*v[i]^2/2 - (x[wrap(i+1)] - x[i])^2)\nobserve: {V2: 'v[2]', V12: 'v[N]'}\n",
        ARRAY "lagrangian: sum(i=1..N, i*v[i]^2/2)\nobserve: {V2: 'v[2]', V12: 'v[N]'}\n",
        ARRAY "lagrangian: sum(i=1..N, (1 + x[i]^2)*v[i]^2/2 + x[wrap(i+1)]*v[i])\nobserve: {V3: 'v[3]'}\n",
        ARRAY "lagrangian: sum(i=1..N, v[i]^2/2) + v[1]^2 + sum(i=2..N, x[i]*v[i-1])\nobserve: {V1: 'v[1]'}\n",
        ARRAY "lagrangian: sum(i=1..N/2, v[2*i]^2 + v[2*i-1]^2 + v[2*i]*v[2*i-1])\nobserve: {V7: 'v[7]'}\n",
        POINTS
        "lagrangian: sum(i=1..N, m*dot(v[i], v[i])/2 + B*(x[i].x*v[i].y - x[i].y*v[i].x)/2) - cos(norm(x[1] + x[2]))\n"
        "observe: {V1: 'v[1].x', V18: 'v[9].y'}\n",
        POINTS "where: {T: 'sum(i=1..N, m*dot(v[i], v[i])/2)'}\nlagrangian: T - sum(i=1..N, dot(x[i], x[i]))\n"
               "observe: {V4: 'v[2].y', energy: T}\n",
    };
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) check_legendre(text[k]);
}

/* The kinetic energy as an observable with its sum, in both forms. */
static void test_observed_velocities(void **state) {
    (void)state;
    static const char *const text[] = {
        ARRAY "lagrangian: sum(i=1..N, m*v[i]^2/2)\nobserve: {T: 'sum(i=1..N, m*v[i]^2/2)', E: H}\n",
        ARRAY "lagrangian: sum(i=1..N, i*v[i]^2/2)\nobserve: {T: 'sum(i=1..N, i*v[i]^2/2)', E: H}\n",
    };
    for (size_t k = 0; k < 2; k++) {
        struct lgv_model *m = model_of(text[k]);
        struct place x;
        place_make(&x, 5);
        for (int i = 0; i < MANY; i++) x.p[i] = sin(i);
        assert_near(value_of(m, m->observable[0].node, &x), value_of(m, m->hamiltonian, &x), 1e-12, text[k]);
        assert_int_equal(m->observable[1].node, m->hamiltonian);
        lgv_model_free(m);
    }
}

/* No closed form: the energy in terms of q and v, velocities stay in observables. */
static void test_lagrangian_only(void **state) {
    (void)state;
    static const char *const text[] = {
        XY "lagrangian: u^4/4 + u^2/2 + w^2 - x*y\nobserve: {twice: 2*u}\n",
        XY "lagrangian: 1 - sqrt(1 - (u^2 + w^2)/4) - x\nobserve: {twice: 2*u}\n",
        "coordinates: {'q[6]': i}\nvelocities: {v: 1}\nobserve: {twice: '2*v[1]'}\n" /* a dense matrix of six */
        "lagrangian: sum(i=1..6, v[i]^2) + sum(i=1..6, v[i])^2 - q[1]\n",
        ARRAY "lagrangian: sum(i=1..N, cosh(v[i]) + x[i]*v[i] - x[i]^2)\nobserve: {twice: '2*v[1]'}\n",
    };
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        struct lgv_model *m = model_of(text[k]);
        struct place x;
        struct lgv_function L;
        struct lgv_structure s;
        struct lgv_error err = {0};
        double d[MANY], energy;
        place_make(&x, k);
        assert_true(m->lagrangian_only);
        energy = -value_of(m, m->lagrangian, &x);
        assert_true(lgv_model_lagrangian(m, &L));
        derivatives(m, &L, LGV_V, -1, &x, d, m->np, 1);
        for (size_t i = 0; i < m->np; i++) {
            assert_near(d[i], slope_of(m, m->lagrangian, &x, &x.v[i]), 1e-8, text[k]);
            energy += d[i] * x.v[i];
        }
        lgv_function_free(&L);
        assert_near(value_of(m, m->hamiltonian, &x), energy, 1e-9, text[k]);
        assert_near(value_of(m, m->observable[0].node, &x), 2 * x.v[0], 1e-15, text[k]);
        assert_int_equal(lgv_model_structure(m, &s, &err), LGV_OK);
        assert_false(s.separable || s.hamiltonian_separable || s.linear || s.flat || s.quadratic_kinetic);
        assert_true(lgv_model_derivative_error(m) < 1e-6);
        lgv_model_free(m);
    }
}

static void test_start(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {a: 2}\ncoordinates: {x: normal(), y: 1 + x}\n"
                                   "velocities: {u: 3 + x, w: u*normal()}\n"
                                   "lagrangian: a*u^2/2 + (1 + x^2)*w^2/2 + t*u + y*w\n");
    struct place x;
    place_make(&x, 3);
    x.q[0] = value_of(m, m->start[0], &x);
    x.q[1] = value_of(m, m->start[1], &x);
    double u = 3 + x.q[0], w = u * x.draw[1];
    x.v[0] = x.v[1] = NAN; /* start values are in terms of coordinates and draws */
    assert_near(value_of(m, m->start_velocity[0], &x), u, 1e-14, "u");
    assert_near(value_of(m, m->start_velocity[1], &x), w, 1e-14, "w");
    assert_near(value_of(m, m->start[2], &x), 2 * u + 0.3, 1e-14, "p_x");
    assert_near(value_of(m, m->start[3], &x), (1 + x.q[0] * x.q[0]) * w + x.q[1], 1e-14, "p_y");
    assert_string_equal(m->component[2], "p_x");
    assert_string_equal(m->velocity_name[1], "w");
    lgv_model_free(m);
}

/* A thousand particles: few formulas. */
static void test_large(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {N: 1000, m: 2}\ncoordinates: {'x[N] in R3': '[i, 0, 0]'}\n"
                                   "velocities: {v: '[0, normal(), 0]'}\n"
                                   "lagrangian: sum(i=1..N, m*dot(v[i], v[i])/2) - sum(i=1..N-1, x[i].x*x[i+1].y)\n"
                                   "constraints: ['each(k=1..N-1, dot(x[k+1] - x[k], x[k+1] - x[k]) - 1)']\n"
                                   "observe: {T: 'sum(i=1..N, m*dot(v[i], v[i])/2)', force: 'lambda[N-1]'}\n");
    struct lgv_function f;
    struct lgv_terms t = {0};
    assert_true(lgv_model_increment(m, &f));
    lgv_terms_gradient(m->graph, &f, LGV_P, &t);
    lgv_terms_gradient(m->graph, &f, LGV_Q, &t);
    assert_true(f.count <= 2 && t.count <= 5);
    lgv_function_free(&f);
    lgv_terms_free(&t);
    assert_true(lgv_model_constraint_sum(m, &f));
    lgv_terms_hessian(m->graph, &f, LGV_LAMBDA, LGV_Q, &t);
    assert_true(f.count == 1 && t.count == 6);
    lgv_function_free(&f);
    lgv_terms_free(&t);
    struct lgv_start_report r;
    struct lgv_error err = {0};
    if (lgv_model_constraint_check(m, &r, &err) != LGV_OK) fail_msg("%s", err.message);
    assert_true(r.rank_known && r.rank == 999 && r.residual == 0 && r.hidden == 0);
    lgv_model_free(m);
}

/* ---- constraints ---- */

static void test_constraint_sum(void **state) {
    (void)state;
    /* g_1 = 2 x_1 - x_2^2, g_2 .. g_4 = x_{k+1}^2 - x_k x_4 - a for k = 1, 2, 3, g_5 = sum x_i^2 - 1 */
    struct lgv_model *m = model_of("parameters: {a: 0.7, N: 30}\ncoordinates: {'x[N]': 1}\n"
                                   "hamiltonian: sum(i=1..N, p_x[i]^2/2)\n"
                                   "constraints:\n  - 2*x[1] - x[2]^2\n  - each(k=1..3, x[k+1]^2 - x[k]*x[4] - a)\n"
                                   "  - sum(i=1..N, x[i]^2) - 1\n"
                                   "observe: {second: 'lambda[2]', all: 'sum(k=1..5, lambda[k])'}\n");
    struct place x;
    struct lgv_function S;
    double g[5], G[5 * 30], Sq[30], Sqq[30 * 30], *l = x.lambda, *q = x.q;
    place_make(&x, 17);
    assert_int_equal(m->nconstraints, 5);
    assert_int_equal(m->nconstraint_entries, 3);
    assert_true(m->constraint[1].first == 1 && m->constraint[1].count == 3 && m->constraint[1].line == 6);
    assert_true(lgv_model_constraint_sum(m, &S));
    derivatives(m, &S, LGV_LAMBDA, -1, &x, g, 5, 1);
    derivatives(m, &S, LGV_LAMBDA, LGV_Q, &x, G, 5 * 30, 30);
    derivatives(m, &S, LGV_Q, -1, &x, Sq, 30, 1);
    derivatives(m, &S, LGV_Q, LGV_Q, &x, Sqq, 30 * 30, 30);
    lgv_function_free(&S);
    double want = -1;
    for (int i = 0; i < 30; i++) want += q[i] * q[i];
    assert_near(g[0], 2 * q[0] - q[1] * q[1], 1e-14, "g1");
    for (int k = 0; k < 3; k++) assert_near(g[1 + k], q[k + 1] * q[k + 1] - q[k] * q[3] - 0.7, 1e-14, "family");
    assert_near(g[4], want, 1e-13, "g5");
    /* each constraint is a node of its own for the differences: S with one multiplier */
    struct place one = x;
    for (int k = 0; k < 5; k++) {
        int sum = 0;
        for (int j = 0; j < 5; j++) one.lambda[j] = j == k;
        for (size_t e = 0; e < m->nconstraint_entries; e++) {
            const struct lgv_constraint *c = &m->constraint[e];
            int part = lgv_expr_mul(m->graph, lgv_expr_ref(m->graph, LGV_LAMBDA, c->weight), c->body);
            sum = lgv_expr_add(m->graph, sum, c->nest < 0 ? part : lgv_expr_loop(m->graph, c->nest, part));
        }
        for (int i = 0; i < 30; i++) assert_near(G[k * 30 + i], slope_of(m, sum, &one, &one.q[i]), 1e-9, "Jacobian");
    }
    for (int i = 0; i < 30; i++) {
        double sum = 0;
        for (int k = 0; k < 5; k++) sum += l[k] * G[k * 30 + i];
        assert_near(Sq[i], sum, 1e-12, "G^T lambda");
    }
    assert_near(Sqq[0], 2 * l[4], 1e-13, "S_11");
    assert_near(Sqq[31], 2 * (l[4] + l[1] - l[0]), 1e-13, "S_22");
    assert_near(Sqq[3], -l[1], 1e-13, "S_14");
    assert_near(Sqq[3 * 30 + 2], -l[3], 1e-13, "S_43");
    assert_near(value_of(m, m->observable[0].node, &x), l[1], 0, "lambda[2]");
    assert_near(value_of(m, m->observable[1].node, &x), l[0] + l[1] + l[2] + l[3] + l[4], 1e-14, "sum of lambda");
    lgv_model_free(m);
}

static void test_start_report(void **state) {
    (void)state;
    /* a pendulum of length 1 that starts at (3, 4) with velocity (2, 0): g = 24, G v = 12, 4 away from the circle */
    struct lgv_model *m = model_of("coordinates: {x: 3, y: 4}\nvelocities: {u: 2, w: 0}\n"
                                   "lagrangian: 5*(u^2 + w^2)/2 - y\nconstraints: x^2 + y^2 - 1\n");
    struct lgv_start_report r;
    struct lgv_error err = {0};
    if (lgv_model_constraint_check(m, &r, &err) != LGV_OK) fail_msg("%s", err.message);
    assert_near(r.residual, 24, 1e-12, "residual");
    assert_near(r.hidden, 12, 1e-12, "hidden residual");
    assert_near(r.moved, 3.2, 1e-10, "distance");
    assert_true(r.rank == 1 && r.rank_known && r.worst == 0 && r.iterations > 2);
    lgv_model_free(m);
    m = model_of("coordinates: {x: 1, y: 0, z: 2}\nmomenta: {u: 0, v: 3, w: 1}\n"
                 "hamiltonian: (u^2 + v^2 + w^2)/4 + v\nconstraints: [x^2 + y^2 - 1, x + y - z + 1.5]\n");
    if (lgv_model_constraint_check(m, &r, &err) != LGV_OK) fail_msg("%s", err.message);
    assert_near(r.residual, 0.5, 1e-12, "residual");
    assert_near(r.hidden, 2, 1e-12, "hidden residual"); /* v = (0, 2.5, 0.5) */
    assert_true(r.worst == 1 && r.worst_hidden == 1 && r.rank == 2);
    lgv_model_free(m);
}

/* ---- symmetries ---- */

#define FREE "coordinates: {x: 0.6, y: 0.8}\nvelocities: {u: 0.8, w: -0.6}\nsymmetries: {turn: [-y, x]}\n"
#define QUADRATIC "lagrangian: (u^2 + w^2)/2\n"

static void test_symmetries(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool invariant, formula;
    } row[] = {
        {FREE QUADRATIC, true, true},
        {FREE QUADRATIC "constraints: x^2 + y^2 - 1\n", true, true},
        {FREE QUADRATIC "constraints: x^2 + 2*y^2 - 1\n", false, false},
        {FREE QUADRATIC "constraints: x - 0.6\n", false, false},
        {FREE QUADRATIC "constraints: (x^2 + y^2 - 1)*(3 + x)\n", true, false}, /* only where it holds */
        {FREE "lagrangian: (u^2 + w^2)/2 + (u^2 + w^2)^2\n", true, false},
        {FREE "lagrangian: (u^2 + w^2)/2 + (u^2 + w^2)^2 - x\n", false, false},
        {FREE "lagrangian: (u^2 + w^2)/2 + (u^2 + 2*w^2)^2\n", false, false},
        {FREE "lagrangian: (u^2 + w^2)/2 + (u^2 + w^2)^2\nnoise: x\n", false, false},
        {FREE "lagrangian: (u^2 + w^2)/2 + (u^2 + w^2)^2\nnoise: x^2 + y^2\nconstraints: x^2 + y^2 - 1\n", true, false},
        {"parameters: {N: 30}\ncoordinates: {'x[N] in R2': '[i, 0]'}\nvelocities: {v: '[0, 1]'}\n"
         "symmetries: {turn: {x: ['-x[i].y', 'x[i].x']}}\nlagrangian: sum(i=1..N, dot(v[i], v[i])/2)\n"
         "constraints: ['each(k=1..N-1, dot(x[k+1] - x[k], x[k+1] - x[k]) - 1)']\n",
         true, false},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct lgv_structure s = structure_of(row[k].text);
        assert_int_equal(s.constrained, strstr(row[k].text, "constraints") != NULL);
        if (s.symmetry[0].invariant != row[k].invariant || s.symmetry[0].decided_by_formula != row[k].formula)
            fail_msg("invariant %d, by formula %d, residual %g:\n%s", s.symmetry[0].invariant,
                     s.symmetry[0].decided_by_formula, s.symmetry[0].residual, row[k].text);
    }
}

static void test_structure(void **state) {
    (void)state;
    struct lgv_structure s = structure_of(XY "lagrangian: a*u^2/2 + b*w^2/2 - x^4\nnoise: x\n");
    assert_true(s.separable && s.quadratic_kinetic && s.additive && !s.constrained && s.noise_depends == LGV_ON_Q);
    s = structure_of(XY "lagrangian: (u^2 + x^2*w^2)/2 - 1/x\nnoise: [x, x*y]\n");
    assert_true(!s.separable && !s.quadratic_kinetic && s.commutes == 1);
}

/* Newton's method from a good guess may move to |v| > 1, where L has no value; all these steps have a solution.  Bits
 * do not depend on the lanes that are damped with a lane. */
static void test_domain(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {q: '0.5*normal()'}\nvelocities: {v: '0.9*(2*uniform() - 1)'}\n"
                                   "lagrangian: 1 - sqrt(1 - v^2) - 2*q^2\nnoise_potential: 0.5*sin(q)\n");
    enum { PATHS = 128 };
    double *value[2];
    size_t count = 0;
    for (int i = 0; i < 2; i++) {
        struct lgv_kernel k = kernel_with(m, "Lobatto3", i ? 16 : 2, NULL);
        value[i] = final_values(&k, 0.2, 25, PATHS, 1, 1);
        count = PATHS * k.watch.count;
        lgv_kernel_free(&k);
    }
    for (size_t i = 0; i < count; i++) assert_true(isfinite(value[0][i]));
    assert_memory_equal(value[0], value[1], count * sizeof *value[0]);
    free(value[0]);
    free(value[1]);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legendre),        cmocka_unit_test(test_observed_velocities),
        cmocka_unit_test(test_lagrangian_only), cmocka_unit_test(test_start),
        cmocka_unit_test(test_large),           cmocka_unit_test(test_constraint_sum),
        cmocka_unit_test(test_start_report),    cmocka_unit_test(test_symmetries),
        cmocka_unit_test(test_structure),       cmocka_unit_test(test_domain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
