/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The numbers of a bath: E and F of a span against integrals, modes against matrix exponentials, coarse increments
 * against the recursion of fine ones. */
#include "langevin.h"

/* ---- a span ---- */

/* exp(-g h), (1 - exp(-g h))/g, and the three numbers that make E and F of normals. */
static void span_of(double g, double h, double out[5]) {
    double zero[1] = {0}, rate[1] = {g}, rest[2] = {1, g}, all[13];
    struct lgv_bath_modes b = {.channels = 1, .np = 1, .exact = true, .rate = rate, .noise_rate = rate,
                               .amplitude = zero, .inverse_mass = zero, .temperature = zero, .rest = rest, .nrest = 2};
    assert_int_equal(lgv_bath_numbers(&b, 0), 13);
    lgv_bath_fill(&b, 0, 1, h, 1, all);
    memcpy(out, all + 1, 5 * sizeof *out);
    assert_true(all[6] == out[0] && all[7] == out[1]); /* the whole span is the fine one */
}

static void relative(double a, long double b, double tolerance, const char *what, double x) {
    if (!(fabsl(a - b) <= tolerance * fabsl(b) + 1e-300L))
        fail_msg("%s at g h = %g: %.17g is not %.17Lg", what, x, a, b);
}

/* Round-off: exp and expm1 to an ulp, their sums lose a factor of at most 6 near g h = 1, and the root of F's part that
 * is not E's one of 4. */
static void test_span(void **state) {
    (void)state;
    static const double steps[] = {1e-3, 0.1, 3};
    for (int k = -120; k <= 30; k++)
        for (size_t s = 0; s < 3; s++) {
            double h = steps[s], x = k == -120 ? 0 : pow(10, k / 10.0), g = x / h, y[5];
            long double c[3];
            span_of(g, h, y);
            bath_covariance(g, h, c);
            relative(y[0], expl(-(long double)g * h), 3e-16 * (1 + x), "exp", x);
            relative(y[1], x > 0 ? -expm1l(-(long double)g * h) / g : (long double)h, 1e-15, "phi", x);
            relative(y[2], sqrtl(c[0]), 1e-15, "E", x);
            relative(y[3], c[1] / sqrtl(c[0]), 2e-15, "F along E", x);
            relative(y[4], sqrtl(c[2] - c[1] * c[1] / c[0]), 1e-14, "F across E", x);
        }
}

/* ---- modes ---- */

static matrix random_gram(size_t n, size_t rank, uint64_t *seed) { /* B B^T */
    matrix B = zeros(n, rank);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < rank; j++) B.at[i][j] = 2 * uniform_of(seed) - 1;
    return product(B, transposed(B));
}

static matrix as_doubles(matrix A) { /* what the text says */
    for (size_t i = 0; i < A.rows; i++)
        for (size_t j = 0; j < A.cols; j++) A.at[i][j] = (double)A.at[i > j ? i : j][i > j ? j : i];
    return A;
}

static char *text_of(matrix inverse, matrix friction, double kT, bool diagonal) {
    struct lgv_text t = {0};
    const size_t n = inverse.rows;
    lgv_text_add(&t, "coordinates: {");
    for (size_t i = 0; i < n; i++) lgv_text_add(&t, "x%zu: 0, ", i);
    lgv_text_add(&t, "}\nmomenta: {");
    for (size_t i = 0; i < n; i++) lgv_text_add(&t, "p%zu: 0, ", i);
    lgv_text_add(&t, "}\nhamiltonian: x0^2/2");
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (inverse.at[i][j] != 0) lgv_text_add(&t, " + (%.17Lg)*p%zu*p%zu/2", inverse.at[i][j], i, j);
    lgv_text_add(&t, "\nlangevin:\n  temperature: %.17g\n  friction: [", kT);
    for (size_t i = 0; i < n; i++) {
        if (diagonal) {
            lgv_text_add(&t, "%.17Lg, ", friction.at[i][i]);
            continue;
        }
        lgv_text_add(&t, "[");
        for (size_t j = 0; j < n; j++) lgv_text_add(&t, "%.17Lg, ", friction.at[i][j]);
        lgv_text_add(&t, "], ");
    }
    lgv_text_add(&t, "]\n");
    assert_false(t.failed);
    return t.data;
}

static struct lgv_bath_modes *modes_of(const char *text) {
    struct lgv_model *m = model_of(text);
    struct lgv_bath_modes *b = NULL;
    struct lgv_structure s;
    struct lgv_error err = {0};
    if (lgv_model_structure(m, &s, &err) || lgv_bath_prepare(m, &s, false, &b, &err)) fail_msg("%s", err.message);
    lgv_model_free(m);
    return b;
}

/* p = T z with the numbers of the modes: mean map, displacement and covariance over a time h. */
static void check_modes(const struct lgv_bath_modes *b, matrix inverse, matrix friction, double kT, double h) {
    const size_t n = inverse.rows;
    matrix T = zeros(n, n), from = T, move = T, decay = T, phi = T, spread = T;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            T.at[i][j] = b->dense ? b->to[i * n + j] : i == j;
            from.at[i][j] = b->dense ? b->from[i * n + j] : i == j;
            move.at[i][j] = b->dense ? b->move[i * n + j] : i == j ? b->inverse_mass[i] : 0;
        }
    for (size_t j = 0; j < n; j++) {
        double y[5];
        span_of(b->rate[j], h, y);
        decay.at[j][j] = y[0];
        phi.at[j][j] = y[1];
        spread.at[j][j] = powl(b->amplitude[j] * y[2], 2);
        assert_true(b->noise_rate[j] == b->rate[j] && b->rate[j] >= 0);
    }
    /* free motion with friction: q and p together */
    matrix F = zeros(2 * n, 2 * n), S = F, masses = inverted(inverse);
    put(&F, 0, n, inverse);
    put(&F, n, n, scaled(-1, product(friction, inverse)));
    put(&S, n, n, scaled(2 * kT, friction));
    struct gaussian exact = flow(F, S, h);
    matrix e = block(exact.A, n, n, n, n), Q = block(exact.Q, n, n, n, n);
    double most = (double)(largest(masses) * largest(inverse));
    assert_same_matrix(Q, scaled(kT, sum(masses, -1, around(e, masses))), 1e-15 * most * kT, "two ways to the law");
    assert_same_matrix(product(product(T, decay), from), e, 1e-14 * most, "mean");
    assert_same_matrix(product(product(move, phi), from), block(exact.A, 0, n, n, n), 1e-14 * most, "displacement");
    assert_same_matrix(around(T, spread), Q, 1e-14 * most * kT * (double)largest(masses), "covariance");
}

static void test_modes(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (size_t n = 1; n <= 6; n++)
        for (size_t rank = 1; rank <= n; rank++)
            for (int diagonal = 0; diagonal < 2; diagonal++) {
                matrix inverse = as_doubles(sum(random_gram(n, n, &seed), 0.3L, identity(n)));
                matrix friction = as_doubles(random_gram(n, rank, &seed));
                for (size_t i = 0; i < n * n && diagonal; i++)
                    if (i % (n + 1)) friction.at[i / n][i % n] = 0;
                double kT = 0.2 + uniform_of(&seed);
                char *text = text_of(inverse, friction, kT, diagonal);
                struct lgv_bath_modes *b = modes_of(text);
                assert_true(b->dense == (n > 1 || !diagonal) && b->channels == n && b->exact);
                size_t none = 0; /* modes without friction are exactly that */
                for (size_t j = 0; j < n; j++) none += b->rate[j] == 0;
                assert_int_equal(none, diagonal ? 0 : n - rank);
                for (double h = 0.01; h < 2; h *= 7) check_modes(b, inverse, friction, kT, h);
                lgv_bath_free(b);
                free(text);
            }
}

/* ---- coarse increments of fine ones ---- */

/* The increments of `steps` steps of path 3: [step][row]. */
static double *drawn(const struct lgv_kernel *k, double dt, uint64_t coarsen, size_t steps) {
    struct lgv_own_block b;
    assert_true(lgv_block_create(k, 0, dt, 11, coarsen, &b));
    size_t lanes = k->entry->lanes, rows = (size_t)k->entry->increments(&b.block, 0, NULL);
    double *all = NULL, *one = lgv_new(steps * rows, sizeof *one);
    assert_int_equal(posix_memalign((void **)&all, 128, rows * lanes * sizeof *all), 0);
    for (size_t l = 0; l < lanes; l++) b.path[l] = l;
    for (size_t step = steps; step-- > 0;) { /* from the last: none can use what another has left */
        b.block.step = step;
        k->entry->increments(&b.block, 1, all);
        for (size_t r = 0; r < rows; r++) one[step * rows + r] = all[r * lanes + (lanes > 3 ? 3 : 0)];
    }
    free(all);
    lgv_block_free(&b);
    return one;
}

/* Channel `j` of NT in span `span` of the coarse noise, from fine spans. */
static void check_channel(const double *fine, size_t first, size_t count, size_t nt, size_t j, long double g,
                          long double h, double E, double F) {
    long double e = 0, f = 0, phi = g > 0 ? -expm1l(-g * h) / g : h;
    for (size_t k = first; k < first + count; k++) {
        const double *row = fine + k * 2 * nt;
        f += phi * e + row[nt + j];
        e = expl(-g * h) * e + row[j];
    }
    assert_near(E, (double)e, 1e-14, "E");
    assert_near(F, (double)f, 1e-14, "F");
}

static void test_coarse(void **state) {
    (void)state;
    static const char text[] =
        "coordinates: {x: 0, y: 0}\nmomenta: {u: 0, v: 0}\nhamiltonian: u^2/2 + v^2/(2*0.7)\nnoise: 0.3*x\n"
        "langevin: {friction: [[1.2, 0.6], [0.6, 0.4]], temperature: 1}\n";
    static const struct {
        const char *method;
        size_t spans;
    } word[] = {{"BUB", 1}, {"UBU", 2}, {"UBUBU", 3}};
    enum { STEPS = 5, NT = 3 };
    struct lgv_model *m = model_of(text);
    struct lgv_kernel basic = kernel_with(m, "BUB", 2, NULL);
    for (size_t w = 0; w < 3; w++) {
        struct lgv_kernel k = kernel_with(m, word[w].method, 2, NULL);
        assert_int_equal(rows_of(&k), 2 * word[w].spans * NT);
        for (size_t coarsen = 1; coarsen <= 8; coarsen += coarsen) {
            const size_t spans = word[w].spans, c = coarsen == 4 ? 3 : coarsen;
            const double dt = 0.4, h = dt / (double)(spans * c);
            double *fine = drawn(&basic, h, 1, STEPS * spans * c), *coarse = drawn(&k, dt, c, STEPS);
            for (size_t s = 0; s < STEPS * spans; s++)
                for (size_t j = 0; j < NT; j++) {
                    const double *row = coarse + s / spans * 2 * spans * NT + s % spans * NT;
                    double g = j ? k.bath->noise_rate[j - 1] : 0;
                    check_channel(fine, s * c, c, NT, j, g, h, row[j], row[spans * NT + j]);
                }
            free(fine);
            free(coarse);
        }
        lgv_kernel_free(&k);
    }
    lgv_kernel_free(&basic);
    lgv_model_free(m);
}

/* A method that shares its Brownian paths with others takes finer spans. */
static void test_common_spans(void **state) {
    (void)state;
    const struct lgv_method *one = lgv_method_find("BAOAB"), *two = lgv_method_find("OBABO"),
                            *three = lgv_method_find("UBUBU");
    assert_int_equal(lgv_method_common_spans(one, 1), 1);
    assert_int_equal(lgv_method_common_spans(two, 1), 2);
    assert_int_equal(lgv_method_common_spans(one, 2), 2);
    assert_int_equal(lgv_method_common_spans(three, 2), 6);
    assert_int_equal(lgv_method_common_spans(three, 6), 6);
}

/* Steps of a free particle do not depend on how its path is divided: U with 1, 2 or 3 spans ends at one point. */
static void test_free_particle(void **state) {
    (void)state;
    static const char text[] =
        "coordinates: {x: 0.3, y: 0}\nmomenta: {u: 1, v: -0.4}\nhamiltonian: u^2/2 + v^2/(2*0.7) + 0.2*u*v\n"
        "langevin: {friction: [1.2, 0], temperature: 0.8}\n";
    static const char *const word[] = {"BUB", "UBU", "UBUBU"};
    struct lgv_model *m = model_of(text);
    double end[3][4];
    for (size_t w = 0; w < 3; w++) {
        struct lgv_kernel k = kernel_with(m, word[w], 2, NULL);
        struct lgv_own_block b;
        k.common_spans = 6;
        assert_true(lgv_block_create(&k, 0, 0.5, 11, w == 1 ? 2 : 4, &b));
        if (w == 1) lgv_block_step(&k, &b, 0.25, 2);
        for (size_t l = 0; l < k.entry->lanes; l++) b.path[l] = 3;
        k.entry->start(&b.block);
        k.entry->advance(&b.block, w == 1 ? 8 : 4);
        for (size_t i = 0; i < 4; i++) end[w][i] = b.block.state[i * k.entry->lanes];
        lgv_block_free(&b);
        lgv_kernel_free(&k);
    }
    for (size_t w = 1; w < 3; w++)
        for (size_t i = 0; i < 4; i++) assert_near(end[w][i], end[0][i], 2e-14, word[w]);
    assert_true(fabs(end[0][2] - 1) > 0.01);
    lgv_model_free(m);
}

/* ---- how many normals there are ---- */

/* 2^48 pairs a path: those of all noises and channels, in all spans that the methods of a study share. */
static void test_normals(void **state) {
    (void)state;
    struct lgv_bath_modes bath = {.channels = 2};
    struct lgv_kernel k = {.nnoise = 1, .bath = &bath, .spans = 2, .common_spans = 6};
    const uint64_t most = ((uint64_t)1 << 49) / (3 * 6 * 5);
    struct lgv_error err = {0};
    assert_int_equal(lgv_normals_check(&k, most, 5, &err), LGV_OK);
    assert_int_equal(lgv_normals_check(&k, most + 1, 5, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "2^49"));
    k.common_spans = 2;
    assert_int_equal(lgv_normals_check(&k, most + 1, 5, &err), LGV_OK);
    k = (struct lgv_kernel){.spans = 1, .common_spans = 1};
    assert_int_equal(lgv_normals_check(&k, UINT64_MAX, 5, &err), LGV_OK);
}

/* Friction that is explicit has a limit, with constraints too. */
static void test_limit(void **state) {
    (void)state;
    assert_true(lgv_method_find("SVE-Q")->friction_limit == 2 && lgv_method_find("g-SVE-Q")->friction_limit == 2);
    assert_true(lgv_method_find("SVE-QI")->friction_limit == 0 && lgv_method_find("g-SVE-QI")->friction_limit == 0);
}

/* ---- the stationary law ---- */

/* exp(-H/kT) is stationary when the strength of all noise is 2 kT times the symmetric part of all friction. */
static void test_law(void **state) {
    (void)state;
    const double nan_ = (double)NAN;
    static const char plain[] = "coordinates: {x: 0.1, y: 1}\nmomenta: {u: 0, w: 0}\n";
    const struct {
        const char *rest;
        enum lgv_law_kind kind;
        double temperature;
    } row[] = {
        {"hamiltonian: u^2/2 + w^2/4 + x^2\nlangevin: {friction: 0.5, temperature: 0.7}\n", LGV_LAW_GIBBS, 0.7},
        {"hamiltonian: u^2/2 + w^2/4 + x^2\nlangevin: {friction: 0.5, temperature: 0}\n", LGV_LAW_REST, 0},
        {"hamiltonian: u^2/2 + w^2/4 + x^2\nlangevin: {friction: 0.5, temperature: [1, 2]}\n", LGV_LAW_MISMATCH, nan_},
        /* noise on top of that of the bath: 0.7 + 0.6^2/(2 0.5) */
        {"hamiltonian: u^2/2 + w^2/4 + x^2\nlangevin: {friction: 0.5, temperature: 0.7}\nnoise: [0.6*x, 0.6*y]\n",
         LGV_LAW_GIBBS, 1.06},
        {"hamiltonian: u^2/2 + w^2/4 + x^2\nlangevin: {friction: 0.5, temperature: 0.7}\nnoise: 0.6*x\n",
         LGV_LAW_MISMATCH, nan_},
        /* noise that makes up for several temperatures */
        {"hamiltonian: u^2/2 + w^2/4 + x^2\nlangevin: {friction: 0.5, temperature: [1, 2]}\nnoise: x\n", LGV_LAW_GIBBS,
         2},
        /* friction as a force with masses off the diagonal: F = -Gamma M^-1 p, Gamma = (0.5, 1) */
        {"hamiltonian: u^2/2 + w^2/4 + u*w/5 + x^2\nforce: [-0.5*(u + w/5), -(w/2 + u/5)]\n"
         "noise: [sqrt(0.7)*x, sqrt(1.4)*y]\n",
         LGV_LAW_GIBBS, 0.7},
        {"hamiltonian: u^2/2 + w^2/4 + u*w/5 + x^2\nforce: [-0.5*u, -w/2]\nnoise: [sqrt(0.7)*x, sqrt(1.4)*y]\n",
         LGV_LAW_MISMATCH, nan_},
        /* a magnetic part does no work; friction and noise of rank one */
        {"hamiltonian: u^2/2 + w^2/2\nforce: [-u - w + 3*w, -u - w - 3*u]\nnoise: 2*(x + y)\n", LGV_LAW_GIBBS, 2},
        {"hamiltonian: u^2/2 + w^2/2\nforce: [-u - w, -u - w]\nnoise: 2*(x - y)\n", LGV_LAW_MISMATCH, nan_},
        /* both depend on q: (h_q)^2 = 2 kT (1 + x^2) with h = sqrt(2 kT) (x^3/3 + x) needs Gamma = (1 + x^2)^2 */
        {"hamiltonian: u^2/2 + w^2/2 + x^2\nlangevin: {friction: {x: (1 + x^2)^2}, temperature: {x: 0}}\n"
         "noise: 1.2*(x + x^3/3)\n",
         LGV_LAW_GIBBS, 0.72},
        {"hamiltonian: u^2/2 + w^2/2 + x^2\nlangevin: {friction: {x: 1 + x^2}, temperature: {x: 0}}\n"
         "noise: 1.2*(x + x^3/3)\n",
         LGV_LAW_MISMATCH, nan_},
        /* friction that drives, and what is not friction at all */
        {"hamiltonian: u^2/2 + w^2/2\nforce: [u, w]\nnoise: [x, y]\n", LGV_LAW_MISMATCH, nan_},
        {"hamiltonian: u^2/2 + w^2/2\nforce: [-u^3, -w]\nnoise: [x, y]\n", LGV_LAW_UNKNOWN, nan_},
        {"hamiltonian: u^2/2 + w^2/2\nforce: [1 - u, -w]\nnoise: [x, y]\n", LGV_LAW_UNKNOWN, nan_},
        {"hamiltonian: u^2/2 + w^2/2\nforce: [-u, -w]\nnoise: [x*u, y]\n", LGV_LAW_UNKNOWN, nan_},
        {"hamiltonian: u^2/2 + w^2/2\nforce: [-abs(u), -w]\nnoise: [sqrt(2)*x, sqrt(2)*y]\n", LGV_LAW_UNKNOWN, nan_},
        /* without noise: friction brings to rest; driving and magnetic forces do not */
        {"hamiltonian: u^2/2 + w^2/2 + x^2 + y^2\nforce: [-u - w, -u - w]\n", LGV_LAW_REST, 0},
        {"hamiltonian: u^2/2 + w^2/2 + x^2 + y^2\nforce: [(1 - x^2)*u, -w]\n", LGV_LAW_UNKNOWN, nan_},
        {"hamiltonian: u^2/2 + w^2/2 + x^2 + y^2\nforce: [2*w, 2*u]\n", LGV_LAW_UNKNOWN, nan_},
        {"hamiltonian: u^2/2 + w^2/6 + u*w/7 + x^2\nforce: [0.3*(w/3 + u/7), -0.3*(u + w/7)]\n", LGV_LAW_NONE, nan_},
        {"hamiltonian: u^2/2 + w^2/2 + x^2 + y^2\nforce: [-u, -1e-8*w]\n", LGV_LAW_REST, 0},
        {"hamiltonian: u^2/2 + w^2/2 + x^2\nforce: [-u, 0]\n", LGV_LAW_REST, 0},
        {"hamiltonian: u^2/2 + w^2/2 + x^2\nlangevin: {friction: [1, 0], temperature: 0}\n", LGV_LAW_REST, 0},
        {"hamiltonian: u^2/2 + w^2/2\nlangevin: {friction: [[1, 1], [1, 1]], temperature: 0}\n", LGV_LAW_REST, 0},
        {"hamiltonian: u^2/2 + w^2/2\nlangevin: {friction: [[1, 1], [1, 2]], temperature: 0}\n", LGV_LAW_REST, 0},
        /* a heavy mass hides nothing; a shift of the velocities is a push; temperatures that happen to be equal */
        {"hamiltonian: u^2/2 + w^2/4000\nlangevin: {friction: 0.5, temperature: 1}\nnoise: y\n", LGV_LAW_MISMATCH,
         nan_},
        {"hamiltonian: u^2/2 + 0.7*u + w^2/2\nforce: [-u, -w]\nnoise: [x, y]\n", LGV_LAW_UNKNOWN, nan_},
        {"parameters: {a: 0.7, b: 0.7}\nhamiltonian: u^2/2 + w^2/4\nlangevin: {friction: 0.5, temperature: [a, b]}\n",
         LGV_LAW_GIBBS, 0.7},
        {"hamiltonian: u^2/2 + w^2/2\nnoise: [x, y]\n", LGV_LAW_NONE, nan_},
    };
    struct lgv_model *top = model_of("coordinates: {'R in SO3': [0.4, 0, 0]}\nmomenta: {m: [0.1, 0.2, 1]}\n"
                                     "kinetic: {inertia: [1, 1, 0.6]}\npotential: R.zz\nnoise: 0.3*R.zz\n"
                                     "langevin: {friction: 1, temperature: 1}\n");
    struct lgv_structure turning;
    struct lgv_law unknown;
    assert_int_equal(lgv_model_structure(top, &turning, NULL), LGV_OK);
    lgv_model_law(top, &turning, &unknown);
    assert_int_equal(unknown.kind, LGV_LAW_UNKNOWN);
    lgv_model_free(top);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[600];
        struct lgv_structure s;
        struct lgv_law law;
        struct lgv_text words = {0};
        snprintf(text, sizeof text, "%s%s", plain, row[i].rest);
        struct lgv_model *m = model_of(text);
        assert_int_equal(lgv_model_structure(m, &s, NULL), LGV_OK);
        lgv_model_law(m, &s, &law);
        lgv_law_words(m, &law, &words);
        if (law.kind != row[i].kind) fail_msg("law %zu is %d: %s", i, (int)law.kind, words.data ? words.data : "");
        assert_true(isnan(row[i].temperature) ? isnan(law.temperature)
                                              : fabs(law.temperature - row[i].temperature) <= 1e-12);
        assert_true((words.data != NULL) == (law.kind != LGV_LAW_NONE));
        if (law.kind == LGV_LAW_REST) { /* where some velocities have no friction, rest is not promised */
            static const char *const some[] = {"[-u - w", ", 0]", "[1, 0]", "[[1, 1], [1, 1]]"};
            bool partial = false;
            for (size_t k = 0; k < sizeof some / sizeof *some; k++) partial = partial || strstr(text, some[k]);
            assert_int_equal(strstr(words.data, "reaches all coordinates") != NULL, partial);
        }
        lgv_text_free(&words);
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_span),         cmocka_unit_test(test_modes),         cmocka_unit_test(test_coarse),
        cmocka_unit_test(test_common_spans), cmocka_unit_test(test_free_particle),
        cmocka_unit_test(test_normals),      cmocka_unit_test(test_law), cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
