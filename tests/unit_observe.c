/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What observables can be: formulas of start values, vectors, families, periodic coordinates; families of unit vectors
 * as arrows, and what is shown of large families. */
#include "helpers.h"
#include "out/private.h"

enum { PATHS = 50 };

/* ---- start values ---- */

static const char spring[] = "coordinates: {x: 'normal(1, 0.2)', 'y[3]': 'i + 0.1*normal()', z in R2: 'normal()'}\n"
                             "momenta: {p: 'normal()', u: 0.5*i, w: '[1, normal()]'}\n"
                             "kinetic: {}\n"
                             "potential: x^2/2 + sum(k=1..3, y[k]^2/2) + dot(z, z)/2\n"
                             "noise: [0.3*x, '0.2*y[2]']\n";
static const char spring_observed[] =
    "observe:\n"
    "  sx: x0\n"
    "  sp: p0\n"
    "  sy: y0[2]\n"
    "  sz: z0.y\n"
    "  sw: w0.y\n"
    "  msd: (x - x0)^2 + sum(k=1..3, (y[k] - y0[k])^2) + dot(z - z0, z - z0)\n"
    "  corr: p*p0\n";

/* A formula of start values against the same from the state at the start and at the end, path by path. */
static void check_starts(unsigned lanes, const char *compiler, const char *method) {
    struct lgv_text text = {0};
    lgv_text_add(&text, "%s%s", spring, spring_observed);
    struct lgv_model *plain = model_of(spring), *m = model_of(text.data);
    struct lgv_kernel a = kernel_with(plain, method, lanes, compiler), b = kernel_with(m, method, lanes, compiler);
    assert_int_equal(b.nstate, a.nstate + a.nx + a.np);
    double *start = final_values(&a, 1e-300, 1, PATHS, 7, 1), *end = final_values(&a, 0.05, 40, PATHS, 7, 1);
    double *seen = final_values(&b, 0.05, 40, PATHS, 7, 1);
#define START(name) start[i * a.watch.count + watch_number(&a, name)]
#define END(name) end[i * a.watch.count + watch_number(&a, name)]
#define SEEN(name) seen[i * b.watch.count + watch_number(&b, name)]
    for (size_t i = 0; i < PATHS; i++) {
        static const char *const same[][2] = {{"sx", "x"}, {"sp", "p"}, {"sy", "y[2]"}, {"sz", "z.y"}, {"sw", "w.y"}};
        static const char *const moved[] = {"x", "y[1]", "y[2]", "y[3]", "z.x", "z.y"};
        double msd = 0;
        for (size_t k = 0; k < 5; k++) assert_true(SEEN(same[k][0]) == START(same[k][1]));
        for (size_t k = 0; k < 6; k++) {
            assert_true(SEEN(moved[k]) == END(moved[k])); /* rows more change no bit of a path */
            msd += (END(moved[k]) - START(moved[k])) * (END(moved[k]) - START(moved[k]));
        }
        assert_near(SEEN("msd"), msd, 1e-13 * (1 + msd), "displacement");
        assert_near(SEEN("corr"), END("p") * START("p"), 1e-15, "correlation");
    }
    free(start);
    free(end);
    free(seen);
    lgv_kernel_free(&a);
    lgv_kernel_free(&b);
    lgv_model_free(plain);
    lgv_model_free(m);
    lgv_text_free(&text);
}

static void test_starts(void **state) {
    (void)state;
    check_starts(0, NULL, "P2N2Q2Lob");
    check_starts(2, NULL, "P1N1Q2Gau");
    check_starts(16, "gcc", "P2N2Q2Lob"); /* blocks of several vecs */
}

/* Rows are there for what is used: nothing, positions, momenta. */
static void test_rows(void **state) {
    (void)state;
    static const char *const observe[] = {"x", "x - x0", "p*p0", "x0 + p0"};
    for (size_t k = 0; k < 4; k++) {
        char text[200];
        snprintf(text, sizeof text, "coordinates: {x: 1, y: 2}\nmomenta: {p: 0, u: 1}\npotential: x^2 + y^2\n"
                                    "observe: {o: '%s'}\n", observe[k]);
        struct lgv_model *m = model_of(text);
        struct lgv_kernel kernel = kernel_of(m, "P2N2Q2Lob");
        assert_int_equal(kernel.nstate, 4 + 2 * kernel.watch.tallies + (k == 0 ? 0u : k == 3 ? 4u : 2u));
        lgv_kernel_free(&kernel);
        lgv_model_free(m);
    }
}

/* On constraints the start is the projected one, and names of the file come first. */
static void test_projected(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {q0: 5}\ncoordinates: {x in R2: '[1.1 + 0.1*normal(), 0.2]', q: 1}\n"
                                   "momenta: {p: '[0.3, 1]', r: 0}\nkinetic: {}\npotential: x.y + q^2/2\n"
                                   "constraints: dot(x, x) - 1\n"
                                   "observe: {length: 'norm(x0)', turned: 'dot(x, x0)', five: q0, rest: r0}\n");
    struct lgv_kernel k = kernel_of(m, "RATTLE");
    double *seen = final_values(&k, 0.01, 20, PATHS, 3, 1);
    for (size_t i = 0; i < PATHS; i++) {
        const double *x = seen + i * k.watch.count;
        assert_near(x[watch_number(&k, "length")], 1, 1e-14, "start on the circle");
        assert_true(fabs(x[watch_number(&k, "turned")]) <= 1 + 1e-12 && x[watch_number(&k, "turned")] < 0.9999);
        assert_true(x[watch_number(&k, "five")] == 5 && x[watch_number(&k, "rest")] == 0);
    }
    free(seen);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* The martingale part of (x - x0)^2, dx = dW: the sum of 2 (x - x0) dW, and with it E (x - x0)^2 = t. */
static void test_martingale(void **state) {
    (void)state;
    struct lgv_model *m = model_of("coordinates: {x: 'normal()'}\nmomenta: {p: 0}\nhamiltonian: 0*p\nnoise: p\n"
                                   "observe: {d: (x - x0)^2}\n");
    struct lgv_kernel k;
    struct lgv_error err = {0};
    struct lgv_kernel_options options = {.control = true};
    if (lgv_kernel_build(m, lgv_method_find("P2N2Q2Lob"), &options, &k, &err) != LGV_OK) fail_msg("%s", err.message);
    double *seen = final_values(&k, 0.01, 100, PATHS, 3, 1);
    for (size_t i = 0; i < PATHS; i++) { /* (x - x0)^2 = 2 sum (x - x0) dW + sum dW^2 */
        double d = seen[i * k.watch.count + watch_number(&k, "d")];
        double rest = d - seen[i * k.watch.count + watch_number(&k, "d~martingale")];
        assert_near(rest, 1, 6 * sqrt(2.0 / 100), "sum of the squares of 100 increments");
    }
    free(seen);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* ---- vectors and families ---- */

static const char ring[] = "parameters: {N: 12}\n"
                           "coordinates: {'x[N]': '0.3*i + 0.1*normal()', 'z[2] in R3': 'normal()'}\n"
                           "momenta: {p: '0.1*i', w: 'normal()'}\nkinetic: {mass: {x: 2, z: 3}}\n"
                           "potential: sum(i=1..N, 1 - cos(x[wrap(i+1)] - x[i])) + sum(k=1..2, dot(z[k], z[k]))\n"
                           "noise: 0.1*x[1]\n";

static double seen_of(const struct lgv_kernel *k, const double *seen, size_t path, const char *format, long i, long j) {
    char name[80];
    snprintf(name, sizeof name, format, i, j);
    return seen[path * k->watch.count + watch_number(k, name)];
}

/* Members against the formula written for each of them from single coordinates. */
static void test_families(void **state) {
    (void)state;
    struct lgv_text text = {0};
    lgv_text_add(&text, "%sobserve:\n", ring);
    for (int i = 1; i <= 12; i++) lgv_text_add(&text, "  a%d: x[%d]\n  b%d: p[%d]\n", i, i, i, i);
    lgv_text_add(&text, "  site: each(k=2..N, x[k])\n"
                        "  corr: each(k=0..5, sum(i=1..N, x[i]*x[wrap(i+k)])/N)\n"
                        "  square: each(k=1..3, sum(i=1..k, x[i])^2)\n"
                        "  both: each(i=1..2, j=0..2, x[i]*p[j+1])\n"
                        "  plane: each(k=1..N, [x[k], k*p[k]])\n"
                        "  turn: cross(z[1], w[1]) + cross(z[2], w[2])\n"
                        "  t1: z[1].y*w[1].z - z[1].z*w[1].y + z[2].y*w[2].z - z[2].z*w[2].y\n"
                        "  moved: each(k=1..2, z[k] - z0[k])\n  m1: z[2].z - z0[2].z\n"
                        "  none: each(k=2..1, x[k])\n");
    struct lgv_model *m = model_of(text.data);
    struct lgv_kernel k = kernel_with(m, "P2N2Q2Lob", 4, NULL);
    assert_int_equal(k.watch.count, 1 + 24 + 11 + 6 + 3 + 6 + 24 + 3 + 1 + 6 + 1);
    double *seen = final_values(&k, 0.05, 30, PATHS, 5, 1);
    for (size_t n = 0; n < PATHS; n++) {
        double x[13], p[13];
        for (long i = 1; i <= 12; i++) {
            x[i] = seen_of(&k, seen, n, "a%ld", i, 0);
            p[i] = seen_of(&k, seen, n, "b%ld", i, 0);
            if (i > 1) assert_true(seen_of(&k, seen, n, "site[%ld]", i, 0) == x[i]);
            assert_true(seen_of(&k, seen, n, "plane[%ld].x", i, 0) == x[i]);
            assert_near(seen_of(&k, seen, n, "plane[%ld].y", i, 0), (double)i * p[i], 1e-14, "second component");
        }
        for (long i = 0; i < 6; i++) {
            double sum = 0;
            for (long j = 1; j <= 12; j++) sum += x[j] * x[(j + i - 1) % 12 + 1] / 12;
            assert_near(seen_of(&k, seen, n, "corr[%ld]", i, 0), sum, 1e-13 * (1 + fabs(sum)), "a sum in a family");
            assert_near(seen_of(&k, seen, n, "both[%ld,%ld]", i / 3 + 1, i % 3), x[i / 3 + 1] * p[i % 3 + 1], 1e-14,
                        "two ranges");
        }
        assert_near(seen_of(&k, seen, n, "square[%ld]", 3, 0), pow(x[1] + x[2] + x[3], 2), 1e-13, "square of a sum");
        assert_near(seen_of(&k, seen, n, "turn.x", 0, 0), seen_of(&k, seen, n, "t1", 0, 0), 1e-13, "vector");
        assert_true(seen_of(&k, seen, n, "moved[2].z", 0, 0) == seen_of(&k, seen, n, "m1", 0, 0));
    }
    free(seen);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    lgv_text_free(&text);
}

/* Velocities of a family stand for momenta over masses, whether these are one or many. */
static void test_family_velocities(void **state) {
    (void)state;
    static const char *const lagrangian[] = {"sum(i=1..2, 2*v[i]^2/2) - x[1]^2 - x[2]^2",
                                             "v[1]^2/2 + v[1]*v[2]/2 + 3*v[2]^2/2 - x[1]^2 - x[2]^2"};
    for (size_t n = 0; n < 2; n++) {
        char text[400];
        snprintf(text, sizeof text, "coordinates: {'x[2]': i}\nvelocities: {v: 0.5*i}\nlagrangian: '%s'\n"
                                    "observe: {u: 'each(k=1..2, v[k])', a: 'v[1]', b: 'v[2]'}\n", lagrangian[n]);
        struct lgv_model *m = model_of(text);
        struct lgv_kernel k = kernel_of(m, "P1N1Q2Gau");
        double *seen = final_values(&k, 0.05, 30, 1, 5, 1);
        assert_near(seen_of(&k, seen, 0, "u[1]", 0, 0), seen_of(&k, seen, 0, "a", 0, 0), 1e-15, "velocity");
        assert_near(seen_of(&k, seen, 0, "u[2]", 0, 0), seen_of(&k, seen, 0, "b", 0, 0), 1e-15, "velocity");
        free(seen);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

/* ---- periodic coordinates ---- */

#define ROTOR(theta, x) "parameters: {L: 3}\ncoordinates: {" theta ": '5*normal()', " x ": 'normal()'}\n" \
                        "momenta: {p: 2, w: '4*normal()'}\nkinetic: {}\npotential: -cos(theta)\n" \
                        "noise: 0.5*sin(theta)\nobserve: {as_it_is: theta, y: 'each(k=1..2, x[k])'%s}\n"

static double *rotor_values(const char *format, const char *more, bool wrapped, struct lgv_kernel *k,
                            struct lgv_model **m) {
    char text[600];
    struct lgv_error err = {0};
    struct lgv_kernel_options options = {.wrapped = wrapped};
    snprintf(text, sizeof text, format, more);
    *m = model_of(text);
    if (lgv_kernel_build(*m, lgv_method_find("P2N2Q2Lob"), &options, k, &err) != LGV_OK) fail_msg("%s", err.message);
    return final_values(k, 0.05, 100, PATHS, 5, 1);
}

static void check_wrapped(double shown, double x, double period, double from) {
    assert_true(shown >= from && shown < from + period);
    double turns = (x - shown) / period;
    assert_near(turns, nearbyint(turns), 1e-13 * (1 + fabs(turns)), "whole turns");
}

/* The same paths, shown in their range where coordinates are shown, and as they are in formulas. */
static void test_periodic(void **state) {
    (void)state;
    static const char plain[] = ROTOR("theta", "'x[2] in R2'");
    static const char wrapped[] = ROTOR("theta mod 2*pi from -pi", "'x[2] in R2 mod L'");
    struct lgv_model *m[3];
    struct lgv_kernel k[3];
    double *a = rotor_values(plain, "", true, &k[0], &m[0]), *b = rotor_values(wrapped, "", true, &k[1], &m[1]);
    double *c = rotor_values(wrapped, ", x: 'each(k=1..2, x[k])', theta: theta", true, &k[2], &m[2]);
    size_t around = 0;
    for (size_t i = 0; i < PATHS; i++) {
        static const char *const name[] = {"x[1].x", "x[1].y", "x[2].x", "x[2].y"};
        static const char *const other[] = {"y[1].x", "y[1].y", "y[2].x", "y[2].y"};
        double theta = seen_of(&k[0], a, i, "theta", 0, 0);
        check_wrapped(seen_of(&k[1], b, i, "theta", 0, 0), theta, 2 * M_PI, -M_PI);
        check_wrapped(seen_of(&k[2], c, i, "theta", 0, 0), theta, 2 * M_PI, -M_PI);
        assert_true(seen_of(&k[1], b, i, "as_it_is", 0, 0) == theta);
        around += fabs(theta) > M_PI;
        for (size_t n = 0; n < 4; n++) {
            double x = seen_of(&k[0], a, i, name[n], 0, 0);
            check_wrapped(seen_of(&k[1], b, i, name[n], 0, 0), x, 3, 0);
            check_wrapped(seen_of(&k[2], c, i, name[n], 0, 0), x, 3, 0);
            assert_true(seen_of(&k[1], b, i, other[n], 0, 0) == x);
        }
        assert_true(seen_of(&k[1], b, i, "p", 0, 0) == seen_of(&k[0], a, i, "p", 0, 0));
    }
    assert_true(around > PATHS / 4);
    free(b);
    lgv_kernel_free(&k[1]);
    lgv_model_free(m[1]);
    b = rotor_values(wrapped, "", false, &k[1], &m[1]); /* studies */
    for (size_t i = 0; i < PATHS; i++)
        assert_true(seen_of(&k[1], b, i, "theta", 0, 0) == seen_of(&k[0], a, i, "theta", 0, 0));
    free(a);
    free(b);
    free(c);
    for (size_t i = 0; i < 3; i++) {
        lgv_kernel_free(&k[i]);
        lgv_model_free(m[i]);
    }
}

/* At the ends of the range, and so far away that the turns are not known to a part of one. */
static void test_wrapping(void **state) {
    (void)state;
    static const char starts[] = "[-1e-20, 0, 0.3, 0.7, 0.69999999999999984, -0.4, 7e15, -7e15, 1e300, 4.2, 2.1, -0.7]";
    char text[600];
    struct lgv_kernel k;
    struct lgv_model *m;
    snprintf(text, sizeof text, "coordinates: {'q[12] mod 0.7': %s, 'r[12] mod 0.7 from -0.3': %s}\nkinetic: {}\n"
                                "potential: 0*q[1]%%s\nobserve: {q: 'each(k=1..12, q[k])', r: 'each(k=1..12, r[k])'}\n",
             starts, starts);
    double *x = rotor_values(text, "", true, &k, &m);
    for (long i = 1; i <= 12; i++) {
        double q = seen_of(&k, x, 0, "q[%ld]", i, 0), r = seen_of(&k, x, 0, "r[%ld]", i, 0);
        assert_true(q >= 0 && q < 0.7 && r >= -0.3 && r < -0.3 + 0.7);
    }
    free(x);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

static void refused(const char *entry, const char *message) {
    struct lgv_model *m = NULL;
    struct lgv_error err = {0};
    struct lgv_text text = {0};
    lgv_text_add(&text, "%sobserve:\n%s\n", ring, entry);
    assert_int_equal(lgv_model_parse(text.data, "test.yaml", &m, &err), LGV_BAD_INPUT);
    if (!strstr(err.message, message)) fail_msg("%s\n  instead of: %s", err.message, message);
    lgv_text_free(&text);
}

static void test_refused(void **state) {
    (void)state;
    refused("  a: each(k=1..20000, x[1]*k)", "more than 10000 observables");
    refused("  a: each(k=1..6000, x[1]*k)\n  b: each(k=1..6000, x[1]*k)", "more than 10000 observables");
    refused("  a: each(k=1..13, x[k])", "index 13 is outside 1..12 of x");
    refused("  a: each(k=1..3, x[k])\n  a: x[1]", "a is");
    refused("  a: each(i=1..3, j=i..3, x[i]*x[j])", "ranges of a family of observables must be constant");
    refused("  a: 1 + each(k=1..3, x[k])", "at the beginning of an observable");
    refused("  H: each(k=1..3, x[k])", "H is the Hamiltonian");
    refused("  a: x0[13]", "index 13 is outside 1..12 of x0");
    refused("  a: x0", "x0");
}

/* ---- temperatures of a bath ---- */

/* q.U_q says something only where all coordinates can be bound. */
static void test_temperatures(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool bound;
    } row[] = {
        {"coordinates: {x: 0, y: 0}\npotential: x^2/2 + y^4\n", true},
        {"coordinates: {x: 0, y: 0}\npotential: x^2/2\n", false},
        {"coordinates: {x: 0, 'y mod 2*pi': 0}\npotential: x^2/2 + cos(y)\n", false},
        {"coordinates: {'z[50]': 0}\npotential: sum(i=1..50, z[i]^2)\n", true},
        {"coordinates: {'z[50]': 0}\npotential: sum(i=1..49, z[i]^2)\n", false},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[300];
        struct lgv_watch w = {0};
        bool kinetic = false, configurational = false;
        snprintf(text, sizeof text, "%slangevin: {friction: 1, temperature: 1}\n", row[i].text);
        struct lgv_model *m = model_of(text);
        assert_int_equal(lgv_kernel_watch(m, &w, NULL), LGV_OK);
        for (size_t k = 0; k < w.count; k++) {
            kinetic |= strcmp(w.item[k].name, LGV_KINETIC) == 0;
            configurational |= strcmp(w.item[k].name, LGV_CONFIGURATIONAL) == 0;
        }
        if (!kinetic || configurational != row[i].bound) fail_msg("%s%d", text, configurational);
        lgv_kernel_watch_free(&w);
        lgv_model_free(m);
    }
}

/* ---- bodies as arrows ---- */

/* The last figure of that kind, and how many there are. */
static struct lgv_figure figure_of(const struct lgv_result *r, enum lgv_figure_kind kind, size_t *number) {
    size_t count;
    struct lgv_figure *list = lgv_figure_plan(r, &count), found = {0};
    *number = 0;
    for (size_t i = 0; i < count; i++)
        if (list[i].kind == kind) {
            found = list[i];
            ++*number;
        }
    free(list);
    return found;
}

/* Directions of length 1 go through the places of the other family, or else out from the centre; neither is drawn over
 * its index too. */
static void test_arrows(void **state) {
    (void)state;
    static const struct {
        const char *observe;
        size_t arrows, index, second, profiles;
    } row[] = {
        {"{at: 'each(k=1..8, x[k])', axis: 'each(k=1..8, R[k]*[0,0,1])'}", 1, 24, 0, 0},
        {"{axis: 'each(k=1..8, R[k]*[0,0,1])', at: 'each(k=1..8, x[k])', p: 'each(k=1..8, p[k])'}", 1, 0, 24, 3},
        {"{axis: 'each(k=1..8, R[k]*[0,0,1])', few: 'each(k=1..7, x[k])'}", 1, 0, 0, 3},
        {"{axis: 'each(k=1..8, 2*(R[k]*[0,0,1]))', at: 'each(k=1..8, x[k])'}", 0, 0, 0, 6},
        {"{grows: 'each(k=1..8, [cos(k), sin(k), x[k].x - x0[k].x])'}", 0, 0, 0, 3},
        {"{flat: 'each(k=1..8, R[k].zz)'}", 0, 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "coordinates: {'x[8] in R3': 'normal()', 'R[8] in SO3': uniform}\nmomenta: {p: maxwellian(1), m: 0}\n"
                 "potential: '0'\nobserve: %s\nrun: {method: BAB, step: 0.1, until: 1, paths: 4, averages: yes}\n",
                 row[i].observe);
        struct lgv_model *m = model_of(text);
        struct lgv_settings settings = settings_of(m);
        struct lgv_result r;
        size_t arrows, profiles, listed = 0;
        run_with(m, &settings, LGV_OK, &r);
        struct lgv_figure f = figure_of(&r, LGV_FIGURE_ARROWS, &arrows);
        figure_of(&r, LGV_FIGURE_PROFILE, &profiles);
        if (arrows != row[i].arrows || profiles != row[i].profiles)
            fail_msg("%s: %zu arrows, %zu profiles", row[i].observe, arrows, profiles);
        if (arrows) {
            struct lgv_text script = {0};
            size_t first = f.index < f.second ? f.index : f.second; /* the first of all is H */
            assert_int_equal(f.members, 8);
            assert_int_equal(f.index - first, row[i].index);
            assert_int_equal(f.second - first, row[i].second);
            lgv_figure_script(&script, &r, &f);
            assert_non_null(strstr(script.data, "with vectors"));
            assert_int_equal(strstr(script.data, "cos(v)*cos(u)") != NULL, f.index == f.second);
            lgv_text_free(&script);
        }
        bool *shown = lgv_findings_shown(&r);
        for (size_t k = 0; k < r.nfindings; k++) {
            const char *bracket = strchr(r.finding[k].name, '[');
            if (bracket && shown[k] != (strtol(bracket + 1, NULL, 10) <= 3)) fail_msg("%s", r.finding[k].name);
            if (!bracket) assert_true(shown[k]);
            listed += shown[k];
        }
        assert_true(listed > 1);
        free(shown);
        lgv_result_clear(&r);
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arrows), cmocka_unit_test(test_starts),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_projected),
        cmocka_unit_test(test_martingale),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_family_velocities),
        cmocka_unit_test(test_periodic),
        cmocka_unit_test(test_wrapping),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_temperatures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
