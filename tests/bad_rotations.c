/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rotations that are none, bodies that no body is, formulas that mix matrices and vectors, methods that know vectors
 * only: each is refused at its place, in words that name the fault.  And paths that end. */
#include "bodies.h"

#define TOP "coordinates: {R in SO3: [0.4, 0, 0]}\nmomenta: {m: [0, 0, 1]}\n"
#define TURNING "coordinates: {R in SO3: [0, 0, 0]}\nvelocities: {w: [0, 0, 1]}\n"
#define PLACED "coordinates: {b in SE3: {}}\nmomenta: {p: {}}\n"
#define COUPLED(inertia)                                                                                               \
    "coordinates: {b in SE3 coupled: {}}\nmomenta: {p: {}}\nkinetic: {inertia: {b: " inertia "}}\n"                    \
    "potential: b.position.x\n"
#define BODY(inertia) TOP "kinetic: {inertia: " inertia "}\npotential: R.zz\n"

static void test_files(void **state) {
    (void)state;
    static const struct bad_file row[] = {
        {"coordinates: {R in SO4: [0, 0, 0]}\npotential: '1'\n", 1, 20, "expected R2, R3, SO3 or SE3"},
        {"coordinates: {R in SO3: [1, 2]}\npotential: '1'\n", 1, 25, "a rotation starts as a vector of three numbers"},
        {"coordinates: {R in SO3: 0.3}\npotential: '1'\n", 1, 25, "a quaternion of four, {euler: [phi, theta, psi]}"},
        {"coordinates: {R in SO3: {}}\npotential: '1'\n", 1, 25, "given in one way: a rotation starts as"},
        {"coordinates: {R in SO3: [0, 0, 0, 0]}\npotential: '1'\n", 1, 25, "the quaternion 0"},
        {"coordinates: {R in SO3: [1e200, 1e200, 0]}\npotential: '1'\n", 1, 25, "angle of this rotation is too large"},
        {"coordinates: {R in SO3: {angle: 1}}\npotential: '1'\n", 1, 26, "unknown key angle: a rotation starts as"},
        {"coordinates: {R in SO3: {matrix: [[1, 0, 0], [0, 1, 0], [0, 0, 1.1]]}}\npotential: '1'\n", 1, 34,
         "this is not a rotation"},
        {"coordinates: {R in SO3: {matrix: [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}}\npotential: '1'\n", 1, 34,
         "its determinant is -1"},
        {"coordinates: {R in SO3 mod 2: [0, 0, 0]}\npotential: '1'\n", 1, 15, "no period"},
        {BODY("[1, 1, 2.1]"), 3, 20, "no body has the moments of inertia 1, 1, 2.1"},
        {BODY("[1, 0, 1]"), 3, 20, "a principal moment of inertia is 0"},
        {BODY("-1"), 3, 20, "a principal moment of inertia is -1"},
        {BODY("[[1, 0, 0], [0.1, 1, 0], [0, 0, 1]]"), 3, 20, "symmetric"},
        {BODY("[[1, 2, 0], [2, 1, 0], [0, 0, 1]]"), 3, 20, "all must be positive"},
        {BODY("[1, 1]"), 3, 20, "expected 3 numbers, found 2"},
        {BODY("{R: {angular: 1, linear: 2}}"), 3, 24, "declared with `in SE3 coupled`"},
        {"coordinates: {x: 0}\nmomenta: {p: 1}\npotential: x^2\nobserve: {a: 2*xi.x}\n", 4, 16,
         "unknown name xi; xi and mu are those of rotations and bodies, and the model has none"},
        {"coordinates: {x: 0}\nmomenta: {p: 1}\npotential: x^2\nobserve: {a: mu_x}\n", 4, 14, "the model has none"},
        {BODY("1") "observe: {a: xi_S.x}\n", 5, 14, "velocity and momentum of a body R are xi_R and mu_R"},
        {TOP "potential: xi.x\n", 3, 12, "unknown name xi; it is known in observe; elsewhere the angular velocity"},
        {TOP "potential: R.zz\nforce: {R: -omega}\n", 4, 13, "unknown name omega; the angular velocity along the"},
        {BODY("1") "observe: {a: omega.x}\n", 5, 14, "of a body is xi in observe"},
        {"coordinates: {x: 0}\npotential: omega*x^2\n", 2, 12, "unknown name omega"},
        {TOP "potential: ([0,0,1]*R^T).z\n", 3, 23, "unknown name T; R^T is written transpose(R)"},
        {TOP "potential: R.T\n", 3, 14, "its transpose is transpose(..)"},
        {TOP "potential: inverse(R).zz\n", 3, 12, "the inverse of a rotation R is transpose(R)"},
        {"coordinates: {'R[2] in SO3': [0.4, 0, 0]}\nmomenta: {m: 0}\npotential: R[1].zz\nobserve: {a: mu}\n", 4, 14,
         "mu is an array of 2: write mu[i]"},
        {PLACED "potential: b.position.x\nobserve: {a: mu}\n", 4, 14, "a body is observed by its parts"},
        {"coordinates: {b in SE3 coupled: {}}\nmomenta: {p: {}}\nhamiltonian: dot(p.angular, p.angular)/2 + "
         "dot(p.linear, p.linear) + p.linear.x + b.position.z\nobserve: {a: mu.angular.x}\n", 4, 14,
         "mu is known of bodies with"},
        {TURNING "lagrangian: (2 + R.zz)*dot(w, w)/2\nobserve: {a: mu}\n", 4, 14, "mu is known of bodies with"},
        {TOP "hamiltonian: dot(m, m)/2 + m.x + R.zz\nobserve: {a: mu}\n", 4, 14, "mu is known of bodies with"},
        {BODY("{S: 1}"), 3, 21, "there is no rotation S"},
        {TOP "kinetic: {mass: 2}\npotential: R.zz\n", 3, 11, "an inertia, not a mass"},
        {TOP "kinetic: {mass: {R: 1}}\npotential: R.zz\n", 3, 11, "an inertia, not a mass"},
        {"coordinates: {x: 1}\nkinetic: {inertia: 1}\npotential: x\n", 2, 11, "inertia is for rotations"},
        {TOP "potential: R\n", 3, 12, "is a number, but this is"},
        {"coordinates: {R in so3: [0, 0, 0]}\npotential: '1'\n", 1, 23, "coordinates in SO3 or SE3"},
        {TOP "potential: R[3]\n", 3, 13, "entries of a matrix are .xx to .zz"},
        {TOP "potential: R^2\n", 3, 13, "the square of a matrix is R*R"},
        {TOP "potential: R.w\n", 3, 14, "entries of a matrix"},
        {TOP "potential: dot(R, m)\n", 3, 16, "needs a vector, not a matrix"},
        {TOP "potential: R + 1\n", 3, 14, "cannot add a matrix and a number"},
        {TOP "potential: 'norm(R*[1,2])'\n", 3, 19, "a matrix of three rows"},
        {TOP "potential: 1/R\n", 3, 13, "cannot divide by a matrix"},
        {TOP "potential: trace([1,2,3])\n", 3, 18, "needs a matrix"},
        {BODY("1") "constraints: R\n", 5, 14, "a number or a vector, but this is a matrix"},
        {BODY("1") "constraints: '[R.xx, 1, R.xy]'\n", 5, 15, "a component of this constraint depends on no"},
        {TURNING "lagrangian: w.x^2 + w.y^2\n", 3, 13, "degenerate: w.z does not enter"},
        {TURNING "lagrangian: w.x^2 + w.y^2 + R.zz*w.z\n", 3, 13, "degenerate: w.z does not enter, or only linearly"},
        {TURNING "lagrangian: w.x^2 + (w.y + w.z)^2\n", 3, 13, "degenerate: L_vv is singular"},
        {TURNING "lagrangian: w^2\n", 3, 14, "the square of a vector is dot(x,x)"},
        {TURNING "lagrangian: dot(R, w)\n", 3, 17, "needs a vector, not a matrix"},
        {TURNING "lagrangian: 'dot(w, w) - p_R.x'\n", 3, 26, "p_R may not be used in the Lagrangian"},
        {TURNING "lagrangian: dot(w, w)\nnoise: w.x\n", 4, 8, "w may not be used in the noise"},
        {"coordinates: {R in SO3: [0, 0, 0]}\nvelocities: {w: 0, u: 0}\nlagrangian: dot(w, w)/2\n", 2, 13,
         "1 coordinates, but 2 velocities"},
        {"coordinates: {R in SO3: [0, 0, 0]}\nvelocities: {w: [0, 0]}\nlagrangian: dot(w, w)/2\n", 2, 17,
         "3 components"},
        {"coordinates: {b in SE3: {}}\nvelocities: {v: {position: 0}}\nlagrangian: dot(v.linear, v.linear)\n", 2, 18,
         "unknown key position; here a body has linear and angular"},
        {"coordinates: {b in SE3: [0, 0, 1]}\npotential: '1'\n", 1, 25, "belongs to a body: give {position"},
        {"coordinates: {b in SE3: {place: 1}}\npotential: '1'\n", 1, 26, "unknown key place"},
        {"coordinates: {b in SE3: {position: [1, 2]}}\npotential: '1'\n", 1, 36, "3 components"},
        {"coordinates: {b in SE3: {}, b: 1}\npotential: '1'\n", 1, 29, "declared twice"},
        {"coordinates: {b in SE3: {}}\nmomenta: {p: 0}\npotential: '1'\n", 2, 14, "give {linear"},
        {"coordinates: {b in SE3: {}}\nmomenta: {p: {}, q: {}}\npotential: '1'\n", 2, 10, "1 coordinates, but 2"},
        {"coordinates: {x: 1}\nmomenta: {p in SE3: 0}\npotential: '1'\n", 2, 11, "must have its shape"},
        {PLACED "potential: b\n", 3, 12, "but this is a body"},
        {PLACED "potential: b.z\n", 3, 14, "a body has .position and .rotation"},
        {PLACED "potential: b.position.w\n", 3, 23, "components are .x .y .z"},
        {PLACED "potential: b + b\n", 3, 14, "cannot add a body and a body"},
        {PLACED "potential: 2*b\n", 3, 13, "it has no other products"},
        {PLACED "potential: norm(b)\n", 3, 17, "needs a vector, not a body"},
        {PLACED "hamiltonian: dot(p, p)\n", 3, 18, "not a momentum of a body"},
        {PLACED "hamiltonian: p.angle.x\n", 3, 16, ".linear and .angular"},
        {PLACED "potential: b.position.x\nobserve: {b: b}\n", 4, 14, "observed by its parts"},
        {PLACED "kinetic: {inertia: {b: [1, 1, 3]}}\npotential: b.position.x\n", 3, 24, "no body has the moments"},
        {"coordinates: {b in SO3 coupled: [0, 0, 0]}\npotential: '1'\n", 1, 24, "expected a name like"},
        {COUPLED("[1, 2, 3]"), 3, 24, "{angular: ..., linear: ..., coupling: ...}"},
        {COUPLED("{mass: 1}"), 3, 25, "unknown key mass"},
        {COUPLED("{angular: [1, 2]}"), 3, 34, "expected 3 numbers, found 2"},
        {COUPLED("{linear: [[1, 0, 0], [0, 1, 0]]}"), 3, 33, "an inertia has three rows"},
        {COUPLED("{coupling: [1, 2, 3]}"), 3, 36, "expected 3 numbers"},
        {COUPLED("{angular: [[1, 0, 0], [0.1, 1, 0], [0, 0, 1]]}"), 3, 34, "symmetric"},
        {COUPLED("{linear: [1, -1, 1]}"), 3, 24, "positive definite"},
        {COUPLED("{coupling: [[1.1, 0, 0], [0, 0, 0], [0, 0, 0]]}"), 3, 24, "positive definite"},
        {"coordinates: {b in SE3 coupled: {}}\nkinetic: {inertia: {angular: 1}}\npotential: b.position.x\n", 2, 21,
         "there is no rotation angular; inertia is given as name: inertia"},
        {"coordinates: {b in SE3 coupled: {}}\nkinetic: {mass: {b: 2}}\npotential: b.position.x\n", 2, 18,
         "is a coupled body: its inertia has"},
        {PLACED "kinetic: {mass: {b: 0}}\npotential: b.position.x\n", 3, 21, "must be positive"},
        {BODY("1") "langevin: {friction: {R: -1}, temperature: 1}\n", 5, 26, "the friction is -1 here"},
        {BODY("1") "langevin: {friction: {R: [1, 2, -3]}, temperature: 1}\n", 5, 33, "the friction is -3 here"},
        {PLACED "potential: b.rotation.zz\nlangevin: {friction: {b: {position: 1, rotation: -2}}, temperature: 1}\n", 4,
         50, "the friction is -2 here"},
        {PLACED "potential: b.rotation.zz\nlangevin: {friction: 1, temperature: {b: {position: -1, rotation: 1}}}\n", 4,
         53, "the temperature is -1"},
    };
    assert_bad_files(row, sizeof row / sizeof *row);
}

/* A flat body, and one whose moments are nearly too large, are bodies. */
static void test_bodies(void **state) {
    (void)state;
    lgv_model_free(model_of(BODY("[1, 1, 2]")));
    lgv_model_free(model_of(BODY("[0.1, 0.2, 0.1 + 0.2]")));
    lgv_model_free(model_of(COUPLED("{angular: [1, 1, 9], coupling: [[0.9, 0, 0], [0, 0, 0], [0, 0, 0]]}")));
}

#define HELD                                                                                                           \
    "coordinates: {x in R3: [0, 0, -1], R in SO3: [0.1, 0, 0]}\nmomenta: {p: [0, 0, 0], m: [0, 0, 1]}\npotential: x.z\n"

/* Joints that repeat each other, contradict each other, or cannot be reached. */
static void test_joints(void **state) {
    (void)state;
    static const struct bad_file row[] = {
        {HELD "constraints: ['x + R*[0, 0, 1]', 'x.y + (R*[0, 0, 1]).y']\n", 4, 35, "is redundant"},
        {HELD "constraints: 'dot(R*[1,0,0], R*[1,0,0]) - 1'\n", 4, 15, "gradient vanishes"},
        {HELD "constraints: [R.zz - 1, R.xx - 1]\n", 4, 25, "has a solution near the start, but gradients vanish"},
        {HELD "constraints: R.zz - 2\n", 4, 14, "cannot be met near the start"},
        {HELD "constraints: ['x + R*[0, 0, 1]', 'dot(x, x) - 2']\n", 4, 16, "cannot be met"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_model *m = model_of(row[i].text);
        struct lgv_start_report report;
        struct lgv_error err = {0};
        if (lgv_model_constraint_check(m, &report, &err) != LGV_BAD_INPUT) fail_msg("taken:\n%s", row[i].text);
        assert_complaint(&row[i], &err);
        lgv_model_free(m);
    }
}

static void test_methods(void **state) {
    (void)state;
    static const struct misfit row[] = {
        {BODY("1"), "P2N2Q2Lob", "the model has rotations, and P2N2Q2Lob knows vectors only"},
        {BODY("1"), "EEM", "knows vectors only"},
        {BODY("1") "langevin: {friction: 1, temperature: 1}\n", "UBU", "knows vectors only"},
        {"coordinates: {q: 1}\nmomenta: {p: 0}\nhamiltonian: p^2 + q^2\n", "BRB", "the model has none"},
        {TOP "hamiltonian: dot(m, m)/2 + m.x*R.zz\n", "BAB", "constant masses and inertia"},
        {TOP "hamiltonian: dot(m, m)^2\n", "BAB", "constant masses and inertia"},
        {TOP "hamiltonian: dot(m, m)*(2 + R.zz)\n", "BCB", "where inertia varies SVE, VE-adjoint and RATTLE"},
        {TOP "hamiltonian: dot(m, m)\nnoise: m.x*R.zz\n", "BCB", "needs a separable model"},
        {TOP "hamiltonian: dot(m, m)/2 + R.zz\nnoise: m.x^2\n", "BAB", "linear in them with constant factors"},
        {TOP "hamiltonian: dot(m, m)/2 + R.zz\nnoise: R.zz*m.x\n", "BAB", "linear in them with constant factors"},
        {BODY("1") "noise: R.zz*m.x\nlangevin: {friction: 1, temperature: 1}\n", "BAOAB", "test, and no other does"},
        {TOP "hamiltonian: dot(m, m)/2 + R.zz\nnoise: m.x\n", "LieEM", "on momenta; words as BAB know such noise"},
        {BODY("1") "noise: m.x\nlangevin: {friction: 1, temperature: 1}\n", "BAOAB", "words as BRB, without a bath"},
        {TOP "hamiltonian: dot(m, m)/2 + m.x\n", "BAB", "first degree in m"},
        {TOP "hamiltonian: m.x^2 + m.y^2 + R.zz\n", "BAB", "positive definite"},
        {COUPLED("{}"), "BAB", "their free motion has no closed form; BRB has a step for it"},
        {COUPLED("{}") "noise: p.angular.x\n", "LieEM", "on momenta; words as BRB know such noise"},
        {COUPLED("{}") "constraints: 'b.position.x - 1'\n", "g-BAB", "g-BAB does not move them"},
        {COUPLED("{}"), "P2N2Q2Lob", "knows vectors only"},
        {COUPLED("{}") "langevin: {friction: 1, temperature: 1}\n", "BAOAB", "BRORB has a step for it"},
        {"coordinates: {b in SE3 coupled: {}}\nmomenta: {p: {}}\n"
         "hamiltonian: dot(p.linear, p.linear) + p.angular.x^2 + b.position.x\n", "BRB", "must be positive definite"},
        {"coordinates: {R in SO3: [0, 0, 0], x: 1}\nmomenta: {m: [0, 0, 1], p: 1}\n"
         "hamiltonian: dot(m, m)/2 + p^2/2 + 0.1*p*m.x\n", "BAB", "coupled to other momenta"},
        {TURNING "lagrangian: (1 + R.zz^2)*dot(w, w)\n", "BAB", "with others SVE, VE-adjoint and RATTLE work on"},
        {TURNING "lagrangian: dot(w, w) + w.x\n", "BRB", "with others SVE"},
        {TURNING "lagrangian: (1 + R.zz^2)*dot(w, w)\n", "Lobatto3", "knows vectors only"},
        {TURNING "lagrangian: (1 + R.zz^2)*dot(w, w)\nconstraints: R.xy\n", "RKMK4",
         "does not keep them"},
        {TURNING "lagrangian: (1 + R.zz^2)*dot(w, w)\nconstraints: R.xy\n", "RATTLE-Jc",
         "needs a kinetic energy with constant masses and inertia"},
        {TURNING "lagrangian: (1 + R.zz^2)*dot(w, w)\nlangevin: {friction: 1, temperature: 1}\n", "BAOAB",
         "constant masses"},
        {BODY("1"), "SVE-exp", "works with a Lagrangian (`lagrangian:` and `velocities:`)"},
        {"coordinates: {q: 1}\nvelocities: {u: 0}\nlagrangian: u^2*(1 + q^2)\n", "SVE-exp", "the model has none"},
        {HELD "constraints: 'x + R*[0, 0, 1]'\n", "BRB", "the model has constraints, and BRB does not keep them"},
        {HELD "constraints: 'x + R*[0, 0, 1]'\n", "Lobatto3", "knows vectors only"},
    };
    assert_misfits(row, sizeof row / sizeof *row);
}

/* Where no method fits, the part of the model that is to blame is shown. */
static void test_places(void **state) {
    (void)state;
    static const struct bad_file row[] = {
        {BODY("1") "noise: [R.zz, 2*m.x, m.x*R.zz]\n", 5, 22,
         "method BCB does not fit the model test, and no other does"},
        {BODY("1") "noise: m.x\nlangevin: {friction: 1, temperature: 1}\n", 5, 8, "and no other does"},
        {TOP "hamiltonian: dot(m, m)/2 + m.x*R.zz\nnoise: m.x\n", 3, 14, "and no other does"},
        {"coordinates: {x: 0}\nvelocities: {v: 0.1}\nlagrangian: -sqrt(1 - v^2)\nforce: -v\n", 4, 8,
         "depends on velocities"},
        {HELD "constraints: 'x + R*[0, 0, 1]'\nnoise: m.x\n", 5, 8, "noise that does not depend on momenta"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_model *m = model_of(row[i].text);
        const struct lgv_method *method;
        struct lgv_structure s;
        struct lgv_error err = {0};
        assert_int_equal(lgv_method_resolve(m, "auto", &method, NULL, &err), LGV_OK);
        assert_int_equal(lgv_model_structure(m, &s, &err), LGV_OK);
        if (lgv_method_refuse(method, m, &s, &err) != LGV_BAD_INPUT) fail_msg("taken:\n%s", row[i].text);
        assert_complaint(&row[i], &err);
        lgv_model_free(m);
    }
}

/* A path that is stopped is NaN in all rows: a rotation has four, its momentum three. */
static void test_stopped(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {'R[3] in SO3': [0, 0, 0]}\nmomenta: {m: [0.1, 0.7, 0.5]}\n"
                                   "potential: R[1].zz\nstop: R[1].zz < 0.99\n");
    struct lgv_kernel k;
    struct lgv_own_block b;
    struct lgv_kernel_options options = {.events = true};
    assert_int_equal(lgv_kernel_build(m, lgv_method_find("BAB"), &options, &k, &(struct lgv_error){0}), LGV_OK);
    assert_true(lgv_block_create(&k, 0, 0.1, 1, 1, &b));
    k.entry->start(&b.block);
    b.block.events = true;
    for (int step = 0; step < 10 && !b.block.fail[0]; step++) k.entry->advance(&b.block, 1);
    assert_int_equal(b.block.fail[0], LGV_STOPPED);
    for (size_t i = 0; i < k.nx + k.np; i++) assert_true(isnan(b.block.state[i * k.entry->lanes]));
    lgv_block_free(&b);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* A proposal has to exist wherever it begins, and the exponential has no step for bodies that turn far. */
static void test_proposals(void **state) {
    (void)state;
    char why[200] = "";
    assert_non_null(lgv_method_find("g-OBRBO-Metropolis"));
    assert_ptr_equal(lgv_method_find("OBRBO-Metropolis"), lgv_method_find("g-OBRBO-Metropolis"));
    assert_null(lgv_method_find("OBXBO-Metropolis"));
    assert_null(lgv_method_find("g-BCB"));
    assert_null(lgv_method_find("OBEBO-Metropolis"));
    assert_null(lgv_method_find("g-OBXBO-Metropolis"));
    lgv_method_explain(NULL, "g-OBXBO-Metropolis", why, sizeof why);
    if (!strstr(why, "use A, R or T")) fail_msg("%s", why);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_files), cmocka_unit_test(test_bodies),
                                       cmocka_unit_test(test_joints), cmocka_unit_test(test_methods),
                                       cmocka_unit_test(test_places), cmocka_unit_test(test_stopped),
                                       cmocka_unit_test(test_proposals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
