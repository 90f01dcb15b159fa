/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the library reads off the formulas: separability, kind of kinetic energy, what noise depends on, whether noises
 * commute, symmetries, time dependence, and the strong order it promises from all that. */
#include "helpers.h"

#define ONE "coordinates: {q: 0.3}\nmomenta: {p: 0.9}\n"
#define TWO "coordinates: {a: 0.7, b: -0.4}\nmomenta: {u: 0.2, v: 0.5}\n"

static void test_separable(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool separable, hamiltonian, quadratic, linear, time;
    } row[] = {
        {ONE "hamiltonian: p^2/2 - cos(q)\n", true, true, true, false, false},
        {ONE "hamiltonian: p^2/2 + q^2/2\nnoise: 0.1*H\n", true, true, true, true, false},
        {ONE "hamiltonian: p^2/2 + q^2/2\nnoise: 0.1*q*p\n", false, true, true, true, false},
        {ONE "hamiltonian: sqrt(1 + p^2) + q^2/2\n", true, true, false, false, false},
        {ONE "hamiltonian: p^2/2 + p + q^4\n", true, true, true, false, false},
        {ONE "hamiltonian: (1 + q^2)*p^2/2\n", false, false, false, false, false},
        {ONE "hamiltonian: p^2/2 + q*p - (q - 1)*p\n", true, true, true, true, false}, /* q p cancels */
        {ONE "hamiltonian: (p - q)^2/2 + q*p\n", true, true, true, true, false},
        {ONE "hamiltonian: p^2/2 + cos(t)*q^2/2\n", true, true, true, true, true},
        {ONE "hamiltonian: (2 + cos(t))*p^2/2 + q^2\n", true, true, false, true, true},
        {ONE "hamiltonian: p^2/2\nnoise: 't*sin(q)'\n", true, true, true, false, true},
        {TWO "hamiltonian: u^2 + u*v + v^2 + a*b\n", true, true, true, true, false},
        {TWO "hamiltonian: u^2 + v^2 + a*v\n", false, false, false, true, false},
        {"parameters: {N: 30}\ncoordinates: {'x[N]': 0}\nmomenta: {p: 0}\n"
         "hamiltonian: sum(i=1..N, p[i]^2/2 + (x[wrap(i+1)] - x[i])^4)\n",
         true, true, true, false, false},
        {"parameters: {N: 30}\ncoordinates: {'x[N]': 0}\nmomenta: {p: 0}\n"
         "hamiltonian: sum(i=1..N, p[i]^2*(1 + x[i]^2))\n",
         false, false, false, false, false},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_structure s = structure_of(row[i].text);
        if (s.separable != row[i].separable || s.hamiltonian_separable != row[i].hamiltonian ||
            s.quadratic_kinetic != row[i].quadratic || s.linear != row[i].linear || s.time_dependent != row[i].time)
            fail_msg("separable %d, H separable %d, quadratic %d, linear %d, time %d:\n%s", s.separable,
                     s.hamiltonian_separable, s.quadratic_kinetic, s.linear, s.time_dependent, row[i].text);
    }
}

static void test_noise(void **state) {
    (void)state;
    static const struct {
        const char *noise;
        int depends, additive, commutes;
        double midpoint_order;
    } row[] = {
        {"[]", LGV_ON_NOTHING, false, 1, 2},
        {"0.1*q", LGV_ON_Q, true, 1, 1},
        {"0.1*sin(q)", LGV_ON_Q, false, 1, 1},
        {"0.1*p^2", LGV_ON_P, false, 1, 1},
        {"0.1*H", LGV_ON_BOTH, false, 1, 1},
        {"[0.5*q^2/2, 0.5*p^2/2]", LGV_ON_BOTH, false, 0, 0.5},
        {"[0.5*sin(q), 0.5*cos(q)]", LGV_ON_Q, false, 1, 1},
        {"[0.1*H, 0.3*H]", LGV_ON_BOTH, false, 1, 1},
        {"['each(k=1..2, 0.1*k*H)']", LGV_ON_BOTH, false, 1, 1},
        {"[0.1*q, 0.2*p]", LGV_ON_BOTH, true, 1, 1}, /* {q, p} = 1 is constant */
        {"[0.1*q, 0.2*p^2]", LGV_ON_BOTH, false, 0, 0.5},
        {"[0.1*(q^2 + p^2), 0.2*(q^2 + p^2)^2]", LGV_ON_BOTH, false, 1, 1},
        {"[0.1*(q^2 + p^2), 0.2*sin(q^2 + p^2)]", LGV_ON_BOTH, false, 1, 1},
        {"[0.1*exp(q)*p, 0.2*exp(q)^2*p^2]", LGV_ON_BOTH, false, 1, 1}, /* both functions of exp(q) p */
        {"[0.1*q*p, 0.2*q*p + 1e-4*q^2]", LGV_ON_BOTH, false, 0, 0.5},
        {"0.1*t*q", LGV_ON_Q, false, 1, 1},
        {"0.1*(sin(q)^2 + cos(q)^2)", LGV_ON_NOTHING, true, 1, 1}, /* its gradient vanishes */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[300];
        snprintf(text, sizeof text, ONE "hamiltonian: p^2/2 + q^2/2\nnoise: %s\n", row[i].noise);
        struct lgv_model *m = model_of(text);
        struct lgv_structure s;
        assert_int_equal(lgv_model_structure(m, &s, NULL), LGV_OK);
        const char *why;
        double order = lgv_method_strong_order(lgv_method_find("midpoint"), &s, m->nnoise, &why);
        if (s.noise_depends != row[i].depends || s.additive != row[i].additive || s.commutes != row[i].commutes ||
            order != row[i].midpoint_order || strlen(why) < 10)
            fail_msg("noise %s: depends %d, additive %d, commutes %d, order %g (%s)", row[i].noise, s.noise_depends,
                     s.additive, s.commutes, order, why);
        lgv_model_free(m);
    }
}

/* Decisions at random points: at times of the run, by round-off of the terms, and never where a formula bends. */
static void test_points(void **state) {
    (void)state;
    static const struct {
        const char *noise;
        int commutes, decided;
    } row[] = {
        /* zero only up to round-off */
        {"['exp(log(1 + q^2)) - q^2 + p', 'p']", 1, LGV_DECIDED_POINTS},
        {"['(cosh(q)^2 - sinh(q)^2)*p', 'p^3']", 1, LGV_DECIDED_FORMULAS},
        {"['1e6*exp(log(1 + q^2)) - 1e6*q^2 + p^2', 'p']", 1, LGV_DECIDED_POINTS},
        {"['exp(log(1 + q^2)) - (1 + 1e-9)*q^2 + p', 'p']", 0, LGV_DECIDED_POINTS},
        {"['q*p', 'q*p + 1e-12*q^2']", 0, LGV_DECIDED_POINTS},
        {"['p*exp(q)', 'p*exp(q) + 1e-12*exp(log(1 + q^2))']", 0, LGV_DECIDED_POINTS},
        {"['1e-8*q^2', '1e-8*p^2']", 0, LGV_DECIDED_POINTS},
        /* coefficients that cancel to round-off */
        {"['0.01*exp(q)*p', '0.3*exp(q)^3*p^3 + p*exp(q)']", 1, LGV_DECIDED_POINTS},
        {"['1e6*q + 1e-9*q^2', 'p']", 0, LGV_DECIDED_POINTS},
        /* kinks */
        {"['abs(q)', 'p']", -1, LGV_DECIDED_KINKS},
        {"['q*floor(p)', 'p']", -1, LGV_DECIDED_KINKS},
        {"['max(q - 100, 0) + p', 'p^2']", -1, LGV_DECIDED_KINKS},
        {"['mod(q, 1)*p', 'p']", -1, LGV_DECIDED_KINKS},
        {"['sign(q)*p', 'p']", -1, LGV_DECIDED_KINKS},
        {"['0.25*(abs(q) + p)', '0.5*(abs(q) + p)']", 1, LGV_DECIDED_FORMULAS}, /* multiples of one function */
        {"['abs(q)', 'p', 'q^2', 'p^2']", 0, LGV_DECIDED_POINTS},               /* another pair settles it */
        {"['sqrt(q - 1e9)*p', 'p']", -1, LGV_DECIDED_UNDEFINED},
        {"['exp(-(t - 1)^2*1e4)*q^2', 'p']", 0, LGV_DECIDED_POINTS},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[300];
        snprintf(text, sizeof text, ONE "hamiltonian: p^2/2 + q^2/2\nnoise: %s\n", row[i].noise);
        struct lgv_structure s = structure_of(text);
        if (s.commutes != row[i].commutes || s.commutes_decided != row[i].decided)
            fail_msg("noise %s: commutes %d, decided %d", row[i].noise, s.commutes, s.commutes_decided);
        assert_true(row[i].decided != LGV_DECIDED_POINTS || s.commutes_points > 0);
    }
}

/* Of thousands of pairs of noises only those that have a degree of freedom in common are looked at. */
static void test_many_commute(void **state) {
    (void)state;
    static const struct {
        const char *noise;
        int commutes, decided;
    } row[] = {
        {"['each(i=1..N, sin(q[i])*p[i])']", 1, LGV_DECIDED_FORMULAS},
        {"['each(i=1..N, sin(q[i])*p[i])', 'sin(q[3])^2*p[3]^2']", 1, LGV_DECIDED_FORMULAS},
        {"['each(i=1..N, sin(q[i])*p[i])', 'p[N]']", 0, LGV_DECIDED_POINTS},
        {"['q[1]', 'each(i=1..N, sin(q[i])*p[i])']", 0, LGV_DECIDED_POINTS},
        {"['each(i=1..N-1, q[i]*p[i + 1])']", 0, LGV_DECIDED_POINTS}, /* {q1 p2, q2 p3} = -q1 p3 */
        {"['each(i=1..N/2, q[2*i]*p[2*i - 1])']", 1, LGV_DECIDED_FORMULAS},
        {"['each(i=1..N, sin(q[i])*p[i])', 'sum(i=1..N, p[i])']", -1, LGV_DECIDED_SIZE},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[300];
        snprintf(text, sizeof text, "parameters: {N: 200}\ncoordinates: {'q[N]': 0.3}\nmomenta: {'p[N]': 0.2}\n"
                 "hamiltonian: sum(i=1..N, p[i]^2/2 + q[i]^4/4)\nnoise: %s\n", row[i].noise);
        struct lgv_structure s = structure_of(text);
        if (s.commutes != row[i].commutes || s.commutes_decided != row[i].decided)
            fail_msg("noise %s: commutes %d, decided %d", row[i].noise, s.commutes, s.commutes_decided);
    }
}

/* On a body {m_x, m_y} = -m_z, and {h(R), s.m} is the derivative of h about the axis s of the body. */
static void test_bodies_commute(void **state) {
    (void)state;
    static const struct {
        const char *noise;
        int commutes;
        double order;
    } row[] = {
        {"[b.rotation.xx, b.rotation.zz]", 1, 1},
        {"[p.angular.x, p.angular.y]", 0, 0.5},
        {"[p.angular.x, 0.3*p.angular.x]", 1, 1},
        {"[p.angular.x, b.rotation.xx]", 1, 1},
        {"[p.angular.x, b.rotation.zz]", 0, 0.5},
        {"[p.angular.x, p.linear.x]", 1, 1},
        {"[p.angular.x, p.linear.y]", 0, 0.5}, /* {m_x, P_y} = -P_z */
        {"[p.linear.x, p.linear.y]", 1, 1},
        {"[p.linear.x + p.angular.x, 2*p.linear.x + 3*p.angular.x]", 1, 1},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *why;
        char text[300];
        snprintf(text, sizeof text,
                 "coordinates: {b in SE3 coupled: {}}\nmomenta: {p: {}}\npotential: '0'\nnoise: %s\n", row[i].noise);
        struct lgv_structure s = structure_of(text);
        double order = lgv_method_strong_order(lgv_method_find("BRB"), &s, 2, &why);
        if (s.commutes != row[i].commutes || order != row[i].order)
            fail_msg("noise %s: commutes %d, order %g", row[i].noise, s.commutes, order);
    }
}

/* Noises that commute while t < 1 (to round-off) but not later: what counts is the time of the run. */
static void test_run_times(void **state) {
    (void)state;
    static const struct {
        double from, until;
        int commutes;
        bool invariant;
    } row[] = {{0, 1, 1, true}, {0, 30, 0, false}, {20, 30, 0, false}, {-5, 0, 1, true}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_model *m = model_of(ONE "hamiltonian: p^2/2 + exp(100*t - 2000)*q^2\n"
                                           "noise: ['exp(q)*p', 'exp(q)^2*p^2 + exp(100*t - 2000)*q^2']\n"
                                           "symmetries: {shift: [1]}\n");
        struct lgv_settings settings = {.start = row[i].from, .until = row[i].until};
        struct lgv_structure s;
        lgv_settings_times(&settings, m);
        assert_int_equal(lgv_model_structure(m, &s, NULL), LGV_OK);
        if (s.commutes != row[i].commutes) fail_msg("times %g to %g: %d", row[i].from, row[i].until, s.commutes);
        lgv_model_free(m);
        m = model_of(ONE "hamiltonian: p^2/2 + cosh(q)^2 - sinh(q)^2 + exp(100*t - 2000)*cosh(q)^2\n"
                         "symmetries: {shift: [1]}\n");
        lgv_settings_times(&settings, m);
        assert_int_equal(lgv_model_structure(m, &s, NULL), LGV_OK);
        if (s.symmetry[0].invariant != row[i].invariant || s.symmetry[0].unknown)
            fail_msg("times %g to %g: invariant %d", row[i].from, row[i].until, s.symmetry[0].invariant);
        lgv_model_free(m);
    }
}

/* What jumps has no derivative that tells about it. */
static void test_jumps(void **state) {
    (void)state;
    struct lgv_structure s = structure_of(ONE "hamiltonian: p^2/2 + q*floor(p)\n");
    assert_false(s.separable || s.hamiltonian_separable || s.linear);
    s = structure_of(ONE "hamiltonian: p^2/2 + floor(q)*q\nnoise: 'floor(p)'\n");
    assert_true(s.separable && !s.linear && !s.additive && s.noise_depends == LGV_ON_P);
    s = structure_of(ONE "hamiltonian: p^2/2 + abs(q)\n");
    assert_true(s.separable && !s.linear);
    static const struct {
        const char *text;
        int invariant; /* -1: not known */
    } row[] = {
        {"hamiltonian: u^2/2 + v^2/2 + floor(a)\nsymmetries: {shift: [1, 1]}\n", -1},
        {"hamiltonian: u^2/2 + v^2/2 + floor(a - b)\nsymmetries: {shift: [1, 1]}\n", 1},
        {"hamiltonian: u^2/2 + v^2/2 + abs(a - b)\nsymmetries: {shift: [1, 1]}\n", 1},
        {"hamiltonian: u^2/2 + v^2/2 + abs(a)\nsymmetries: {shift: [1, 1]}\n", 0},
        {"hamiltonian: u^2/2 + v^2/2 + max(a - 100, 0)^2\nsymmetries: {shift: [1, 1]}\n", -1},
        {"hamiltonian: u^2/2 + v^2/2 + max(a^2 + b^2 - 100, 0)^2\nsymmetries: {turn: [-b, a]}\n", 1},
        {"hamiltonian: u^2/2 + v^2/2 + sqrt(a - b - 1e9)\nsymmetries: {turn: [-b, a]}\n", -1},
        {"hamiltonian: u^2/2 + v^2/2 + (a^2 + (1 + 1e-12)*b^2)^2\nsymmetries: {turn: [-b, a]}\n", 0},
        {"hamiltonian: u^2/2 + v^2/2 + exp(log(1 + a^2)) + b^2\nsymmetries: {turn: [-b, a]}\n", 1},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[300];
        snprintf(text, sizeof text, TWO "%s", row[i].text);
        s = structure_of(text);
        int found = s.symmetry[0].unknown ? -1 : s.symmetry[0].invariant;
        if (found != row[i].invariant) fail_msg("invariant %d (residual %g):\n%s", found, s.symmetry[0].residual, text);
    }
}

static void test_symmetries(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool invariant;
    } row[] = {
        {"hamiltonian: u^2/2 + v^2/2 + (a^2 + b^2)^2\nsymmetries:\n  turn: [-b, a]\n", true},
        {"hamiltonian: u^2/2 + v^2/2 + (a^2 + 1.001*b^2)^2\nsymmetries:\n  turn: [-b, a]\n", false},
        {"hamiltonian: u^2/2 + v^2/2 + (a^2 + b^2)^2\nnoise: 0.1*log(1 + a^2 + b^2)\nsymmetries:\n  turn: [-b, a]\n",
         true},
        {"hamiltonian: u^2/2 + v^2/2 + (a^2 + b^2)^2\nnoise: 0.001*a\nsymmetries:\n  turn: [-b, a]\n", false},
        {"hamiltonian: u^2/2 + v^2/2 + cos(a - b)\nsymmetries:\n  shift: [1, 1]\n", true},
        {"hamiltonian: u^2/2 + v^2/2 + cos(a - b)\nsymmetries:\n  shift: [1, -1]\n", false},
        {"hamiltonian: u^2/2 + v^2/2 + cos(a - 2*b)\nsymmetries:\n  shift: [2, 1]\n", true},
        {"hamiltonian: u^2/2 + v^2 + (a^2 + b^2)^2\nsymmetries:\n  turn: [-b, a]\n", false}, /* unequal masses */
        /* sinh^2 hides the invariance from the canonical form: decided at random points */
        {"hamiltonian: u^2/2 + v^2/2 + (cosh(a - b)^2 - sinh(a - b)^2)*b\nsymmetries:\n  shift: [1, 0]\n", true},
        {"hamiltonian: u^2/2 + v^2/2 + cos(t)*(a^2 + b^2)\nsymmetries:\n  turn: [-b, a]\n", true},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[400];
        snprintf(text, sizeof text, TWO "%s", row[i].text);
        struct lgv_structure s = structure_of(text);
        assert_int_equal(s.nsymmetries, 1);
        if (s.symmetry[0].invariant != row[i].invariant || (s.symmetry[0].residual > 1e-10) == row[i].invariant)
            fail_msg("invariant %d, residual %g:\n%s", s.symmetry[0].invariant, s.symmetry[0].residual, text);
    }
    struct lgv_structure s = structure_of(
        "parameters: {N: 40}\ncoordinates: {'x[N]': 0.1*i}\nmomenta: {p: 0}\n"
        "potential: sum(i=1..N, cos(x[wrap(i+1)] - x[i]))\nnoise: ['each(k=1..N, sin(x[wrap(k+1)] - x[k]))']\n"
        "symmetries: {shift: {x: 1}}\n");
    assert_true(s.symmetry[0].invariant && s.separable && s.noise_depends == LGV_ON_Q && s.commutes == 1);
}

/* The noise of a bath kicks the momenta: noise with an h_p that depends on the state does not commute with it, and the
 * strong order is one half (measured: 0.51 for p^2/2). */
static void test_bath_commutes(void **state) {
    (void)state;
    static const struct {
        const char *noise, *words;
        int commutes;
        double order;
    } row[] = {{"", "there is no noise but that of the bath", 1, 1},
               {"noise: q^3\n", "beside that of the bath", 1, 1},
               {"noise: q^3 + 2*p\n", "beside that of the bath", 1, 1},
               {"noise: p^2/2\n", "the bath kicks", 0, 0.5}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[300], words[200];
        snprintf(text, sizeof text, ONE "hamiltonian: p^2/2 + q^2/2\nlangevin: {friction: 1, temperature: 1}\n%s",
                 row[i].noise);
        struct lgv_structure s = structure_of(text);
        size_t noises = i > 0;
        double order = lgv_method_strong_order(lgv_method_find("BAOAB"), &s, noises, NULL);
        lgv_structure_commutes(&s, noises, words, sizeof words);
        if (s.commutes != row[i].commutes || order != row[i].order || !strstr(words, row[i].words))
            fail_msg("bath and %s: %d, order %g, %s", row[i].noise, s.commutes, order, words);
    }
}

/* A momentum map p . xi(q) is promised, and kept to round-off, when xi is linear or constant in q.  With xi = q^2 it is
 * an invariant of the flow that no method here keeps, and none may promise it. */
static void test_momentum_claims(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int claim;
    } row[] = {
        {"coordinates: {q: 1}\nmomenta: {p: 1}\nhamiltonian: (p*q)^2/2\nsymmetries: {s: [q]}\n", 1},
        {"coordinates: {q: 1}\nmomenta: {p: 1}\nhamiltonian: p^4\nsymmetries: {s: [1]}\n", 1},
        {"coordinates: {q: 0.7}\nmomenta: {p: 1}\nhamiltonian: (p*q^2)^2/2\nsymmetries: {s: [q^2]}\n", 0},
    };
    static const char *const methods[] = {"P1N1Q1Rec", "P2N2Q2Lob", "P1N1Q2Gau", "P2N3Q4Lob"};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
            struct lgv_error err = {0};
            struct lgv_model *m = NULL;
            struct lgv_result r;
            assert_int_equal(lgv_model_parse(row[i].text, "model", &m, &err), LGV_OK);
            struct lgv_settings s = settings_for(m, methods[k], 0.05, 0.5, 2);
            run_with(m, &s, LGV_OK, &r);
            const struct lgv_series *map = series_of(&r, "s");
            assert_int_equal(map->claim, row[i].claim);
            if (row[i].claim) assert_true(map->drift < 1e-12);
            if (!row[i].claim) assert_true(map->drift > 1e-10);
            lgv_result_clear(&r);
            lgv_model_free(m);
        }
}

/* What was found once serves until a parameter is set, or until the run has other times. */
static void test_changes(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {k: 1, w: 0}\nsymmetries: {turn: [-b, a]}\n" TWO
                                   "hamiltonian: u^2/2 + v^2/2 + (a^2 + k*b^2)^2 + w*t*a\n");
    static const struct {
        const char *name;
        double value;
        bool invariant;
    } row[] = {{"k", 1.5, false}, {"k", 1, true}, {"w", 1, false}, {"w", 0, true}};
    struct lgv_structure s;
    struct lgv_error err = {0};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_int_equal(lgv_model_set(m, row[i].name, row[i].value, &err), LGV_OK);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(lgv_model_structure(m, &s, &err), LGV_OK);
            assert_int_equal(s.symmetry[0].invariant, row[i].invariant);
        }
        m->until = 3 + (double)i;
        assert_int_equal(lgv_model_structure(m, &s, &err), LGV_OK);
        assert_true(s.until == m->until && s.symmetry[0].invariant == row[i].invariant);
    }
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_momentum_claims),
        cmocka_unit_test(test_separable),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_many_commute),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_run_times),
        cmocka_unit_test(test_jumps),
        cmocka_unit_test(test_symmetries),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_bath_commutes),
        cmocka_unit_test(test_bodies_commute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
