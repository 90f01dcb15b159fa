/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums over pairs: those with a cut-off, by lists of near pairs, against the same formulas over all pairs; lanes that
 * are pairs against lanes that are paths, to the bit; lists that have to grow; what is refused. */
#include "bodies.h"

#define LATTICE "'[1.2*mod(i, 4) + 0.1*sin(7*i), 1.2*mod(floor(i/4), 4) + 0.1*sin(5*i), 1.2*floor((i-1)/16)]'"
#define POINTS "parameters: {N: 64, L: 4.8, R: 2.4, w: 0.7}\ncoordinates: {'x[N] in R3': " LATTICE "}\n"
#define PLANE "parameters: {N: 48, L: 9, R: 2.4, w: 0.7}\ncoordinates: {'x[N] in R2': '[1.1*mod(i, 8), i/9]'}\n"
#define MOVING "momenta: {p: 'normal(0, 1.5)'}\n"
#define FUNCTIONS                                                                                                      \
    "  u(r): (r/1.2)^-6 - (r/1.2)^-3\n  im(x, L): x - L*floor(x/L + 0.5)\n"                                            \
    "  cl(r): max(0, min(1, (r - (R-w)^2)/(R^2 - (R-w)^2)))\n  sw(s): 1 - s^3*(10 - 15*s + 6*s^2)\n"                   \
    "  pair(d): u(dot(d, d))*sw(cl(dot(d, d)))\n"
#define WHERE "where:\n" FUNCTIONS
#define PAIRS(i, j) "pairs(" i ", " j ", d = x[i] - x[j], u(dot(d, d)))"

/* The same potential by lists, and written out over all pairs. */
static const struct both {
    const char *name, *near, *all;
} both[] = {
    {"open", POINTS MOVING "cutoff: {radius: R, switch: w}\n" WHERE "potential: " PAIRS("i=1..N", "j=i+1..N") "\n",
     POINTS MOVING WHERE "potential: sum(i=1..N, j=i+1..N, pair(x[i] - x[j]))\n"},
    {"a box", POINTS MOVING "cutoff: {radius: R, switch: w, box: L}\n" WHERE
                     "potential: " PAIRS("i=1..N", "j=i+1..N") "\n",
     POINTS MOVING WHERE "  image(d): '[im(d.x, L), im(d.y, L), im(d.z, L)]'\n"
                         "potential: sum(i=1..N, j=i+1..N, pair(image(x[i] - x[j])))\n"},
    {"a slab, two kinds, not neighbours in number",
     POINTS MOVING "cutoff: {radius: R, switch: w, box: [L, 0, 2*L]}\n" WHERE
                   "potential: 'pairs(i=1..40, j=41..N, d = x[i] - x[j], u(dot(d, d)))\n"
                   "  + pairs(i=1..40, j=1..40, j > i, j != i+1, d = x[i] - x[j], 0.5*u(dot(d, d))*cos(d.x))'\n",
     POINTS MOVING WHERE "  image(d): '[im(d.x, L), d.y, im(d.z, 2*L)]'\n"
                         "  half(d): 0.5*cos(d.x)*pair(d)\n"
                         "potential: 'sum(i=1..40, j=41..N, pair(image(x[i] - x[j]))) +\n"
                         "  sum(i=1..40, j=1..40, j > i, j != i+1, half(image(x[i] - x[j])))'\n"},
    {"a plane", PLANE MOVING "cutoff: {radius: R, switch: w, box: [L, L]}\n" WHERE
                "potential: " PAIRS("i=1..N", "j=i+1..N") "\n",
     PLANE MOVING WHERE
     "  image(d): '[im(d.x, L), im(d.y, L)]'\npotential: sum(i=1..N, j=i+1..N, pair(image(x[i] - x[j])))\n"},
    {"ranges without a pair beside others",
     POINTS MOVING "cutoff: {radius: R, switch: w}\n" WHERE
                   "potential: '" PAIRS("i=1..N", "j=N+1..N") " + " PAIRS("i=1..N", "j=i+1..N") " + "
                   PAIRS("i=1..0", "j=1..N") " + " PAIRS("i=1..N", "j=1..N, j > N") "'\n",
     POINTS MOVING WHERE "potential: sum(i=1..N, j=i+1..N, pair(x[i] - x[j]))\n"},
};

/* Forces: the momenta after a kick are p - dt H_q; H at the start and after some steps. */
static void test_near_is_all(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        struct lgv_model *near = model_of(both[i].near), *all = model_of(both[i].all);
        struct lgv_kernel a = kernel_of(near, "BA"), b = kernel_of(all, "BA");
        double *x[2], size = 0, apart = 0;
        struct lgv_own_block block[2];
        const struct lgv_kernel *k[] = {&a, &b};
        for (int s = 0; s < 2; s++) {
            assert_true(lgv_block_create(k[s], 0, 1e-3, 3, 1, &block[s]));
            lgv_block_start(k[s], &block[s], 5, 2);
            x[s] = block[s].block.state;
        }
        size_t np = a.np, la = a.entry->lanes, lb = b.entry->lanes;
        for (int step = 0; step < 3; step++) {
            double *before = lgv_new(np, sizeof *before);
            for (size_t r = 0; r < np; r++) before[r] = x[1][(a.nx + r) * lb];
            for (int s = 0; s < 2; s++) k[s]->entry->advance(&block[s].block, 1);
            for (size_t r = 0; r < np; r++) {
                size = fmax(size, fabs(x[1][(a.nx + r) * lb] - before[r]));
                apart = fmax(apart, fabs(x[0][(a.nx + r) * la] - x[1][(a.nx + r) * lb]));
            }
            free(before);
        }
        assert_true(size > 1e-4);
        assert_near(apart / size, 0, 1e-12, both[i].name);
        for (int s = 0; s < 2; s++) lgv_block_free(&block[s]);
        double *h[] = {final_values(&a, 0.005, 40, 3, 1, 1), final_values(&b, 0.005, 40, 3, 1, 1)};
        for (int path = 0; path < 3; path++) {
            double one = h[0][(size_t)path * a.watch.count], other = h[1][(size_t)path * b.watch.count];
            assert_near(one / other, 1, 1e-11, both[i].name); /* some hundred forces, each to round-off */
        }
        free(h[0]);
        free(h[1]);
        lgv_kernel_free(&a);
        lgv_kernel_free(&b);
        lgv_model_free(near);
        lgv_model_free(all);
    }
}

/* The evaluator finds near pairs in its own way; derivatives are those of the switched sum. */
static void test_evaluator(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        struct lgv_model *near = model_of(both[i].near), *all = model_of(both[i].all);
        struct lgv_evaluator e[2];
        double x[600], sum[2];
        uint64_t seed = 7;
        for (size_t r = 0; r < 2 * near->nx; r++) x[r] = 11 * uniform_of(&seed) - 3;
        for (int s = 0; s < 2; s++) {
            struct lgv_model *m = s ? all : near;
            struct lgv_env env = {.par = m->par, .space = {[LGV_Q] = x, [LGV_P] = x + m->nx}};
            assert_true(lgv_eval_begin(&e[s], m->graph));
            sum[s] = lgv_eval_node(&e[s], m->hamiltonian, &env, NULL);
            lgv_eval_end(&e[s]);
        }
        assert_near(sum[0] / sum[1], 1, 1e-12, both[i].name);
        assert_true(near->kind->derivative_error(near) < 1e-9);
        lgv_model_free(near);
        lgv_model_free(all);
    }
}

/* Points anywhere, as those that have left their box, and boxes of many cells.  Whatever is missed shows, since all
 * pairs count alike. */
static void test_evaluator_finds_all(void **state) {
    (void)state;
    static const char *const box[] = {"[24, 24, 24]", "[24, 0, 13]", "[0, 0, 0]", "[4.8, 30, 9]"};
    static const char *const image[] = {"im(d.x, 24), im(d.y, 24), im(d.z, 24)", "im(d.x, 24), d.y, im(d.z, 13)",
                                        "d.x, d.y, d.z", "im(d.x, 4.8), im(d.y, 30), im(d.z, 9)"};
    for (size_t i = 0; i < sizeof box / sizeof *box; i++) {
        char text[2000];
        snprintf(text, sizeof text,
                 "parameters: {N: 100, R: 2.4, w: 0.7}\ncoordinates: {'x[N] in R3': '[i, 0, 0]'}\n"
                 "cutoff: {radius: R, switch: w, box: %s}\n" WHERE "  image(d): '[%s]'\n  f(r): 1 + 1/(1 + r)\n"
                 "  g(d): f(dot(d, d))*sw(cl(dot(d, d)))\n  all: sum(i=1..N, j=i+1..N, g(image(x[i] - x[j])))\n"
                 "potential: 'pairs(i=1..N, j=i+1..N, d = x[i] - x[j], f(dot(d, d))) - all'\n",
                 box[i], image[i]);
        struct lgv_model *m = model_of(text);
        struct lgv_evaluator e;
        double x[600] = {0};
        uint64_t seed = 7;
        assert_true(lgv_eval_begin(&e, m->graph));
        for (int k = 0; k < 40; k++) {
            struct lgv_env env = {.par = m->par, .space = {[LGV_Q] = x, [LGV_P] = x + m->nx}};
            for (size_t r = 0; r < m->nx; r++) x[r] = 12 + (k % 2 ? 12 : 70) * (uniform_of(&seed) - 0.5);
            assert_near(lgv_eval_node(&e, m->hamiltonian, &env, NULL), 0, 1e-10, box[i]);
        }
        lgv_eval_end(&e);
        lgv_model_free(m);
    }
}

/* ---- lists along a motion ---- */

/* Combs of points that swing along x as they are, through each other and to where they began. */
#define COMBS(from, speed)                                                                                             \
    "parameters: {N: 24, R: 1, w: 0.1}\ncoordinates: {'x[N] in R2': '[1.02*mod(i-1, 12), 0.3*floor((i-1)/12)]'}\n"     \
    "momenta: {p: '[" speed ", 0]'}\ncutoff: {radius: R, switch: w}\n" WHERE                                           \
    "potential: sum(i=" from "..N, (x[i].x - 1.02*mod(i-1, 12))^2/2)\n"

#define BOTH(ranges)                                                                                                   \
    "observe:\n  near: 'pairs(" ranges ", d = x[i] - x[j], u(dot(d, d)))'\n"                                           \
    "  all: 'sum(" ranges ", pair(x[i] - x[j]))'\n  counted: 'near(" ranges ", d = x[i] - x[j], 1)'\n"                 \
    "  there: 'sum(" ranges ", (dot(x[i] - x[j], x[i] - x[j]) < R^2))'\n"

/* Lists are made again early enough, whichever points move, and are not those of where the points were before. */
static void test_lists_follow(void **state) {
    (void)state;
    static const char *const text[] = {
        COMBS("1", "3 - 6*floor((i-1)/12)") BOTH("i=1..N, j=i+1..N"),
        COMBS("13", "3*floor((i-1)/12)") BOTH("i=1..12, j=13..N"),
        COMBS("13", "3*floor((i-1)/12)") BOTH("i=13..N, j=1..12"),
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        struct lgv_model *m = model_of(text[i]);
        struct lgv_kernel k = kernel_of(m, "BAB");
        struct lgv_own_block b;
        double *seen = NULL;
        size_t lanes = k.entry->lanes, near = watch_number(&k, "near"), all = watch_number(&k, "all");
        size_t counted = watch_number(&k, "counted"), there = watch_number(&k, "there");
        assert_int_equal(posix_memalign((void **)&seen, 128, k.watch.count * lanes * sizeof *seen), 0);
        assert_true(lgv_block_create(&k, 0, 2e-3, 1, 1, &b));
        lgv_block_start(&k, &b, 0, 1);
        for (int step = 0; step < 4000; step++) {
            k.entry->advance(&b.block, 1);
            k.entry->observe(&b.block, seen);
            double size = fabs(seen[all * lanes]) + 1;
            assert_near((seen[near * lanes] - seen[all * lanes]) / size, 0, 1e-12, "a sum by lists");
            assert_true(seen[counted * lanes] == seen[there * lanes]);
        }
        assert_int_equal(b.block.fail[0], 0);
        free(seen);
        lgv_block_free(&b);
        lgv_kernel_free(&k);
        lgv_model_free(m);
    }
}

/* ---- lanes that are pairs ---- */

static const struct few {
    const char *name, *method, *text;
} few[] = {
    {"all pairs", "BAB", POINTS MOVING WHERE "potential: 'sum(i=1..N, j=i+1..N, u(dot(x[i] - x[j], x[i] - x[j])))'\n"
                                             "observe: {sizes: 'sum(i=1..N, j=i+1..N, norm(x[i] - x[j]))'}\n"},
    {"a row that several terms of an instance go to", "BAB",
     "parameters: {N: 24}\ncoordinates: {'x[N]': i + 0.1*sin(i)}\n" MOVING
     "potential: 'sum(i=1..N, j=1..N, exp(-(x[i] - x[j])^2)*x[wrap(j+1)]^2 + 0.01*x[j]^2*x[i]^2)'\n"},
    {"conditions, three indices, an index as a number", "P2N2Q2Lob",
     "parameters: {N: 9}\ncoordinates: {'x[N]': i}\n" MOVING
     "potential: 'sum(i=1..N, x[i]^2/2) + sum(i=1..N, j=1..N, i != j, mod(j, 3) < 2, sin(x[i] - x[j])/i)\n"
     "  + sum(i=1..3, j=1..3, k=1..N, cos(x[i] + x[j+1] - x[k])/10) + sum(i=1..N, j=1..N, sin(x[i]*x[j])/(i+j))'\n"
     "noise: 'sum(i=1..N, j=1..N, 0.01*sin(x[i] + x[j]))'\n"},
    {"long rows: all ordered pairs, two kinds of points, three indices, what differs from row to row alone", "BAB",
     "parameters: {N: 37, c: 0.3}\ncoordinates: {'x[N] in R3': '[i + 0.1*sin(i), sin(3*i), cos(5*i)]', 'y[N]': i}\n"
     "momenta: {p: 'normal(0, 1)', r: 0.5}\n"
     "potential: 'sum(i=1..N, j=1..N, i != j, c*sin(x[i].x)/norm(x[i] - x[j]))\n"
     "  + sum(i=1..N, j=5..N, i < j, cos(y[i] - y[j])*x[j].z) + sum(i=1..N, exp(-y[i]^2)*x[i].x^2)\n"
     "  + sum(i=1..3, j=1..2, k=2..N, cos(x[i].x + x[j+1].y - x[k].z)/10)'\n"},
    {"bodies by their sites, long rows", "BRB",
     "parameters: {K: 40}\nwhere: {'s(a, A)': 'a + A*[0,0,0.2]', u(r): 'dot(r, r)^-3'}\n"
     "coordinates: {'x[K] in R3': '[2*mod(i, 4), 2*mod(floor(i/4), 4), floor(i/8)]', "
     "'R[K] in SO3': '[0.1*i, 0.2, 0]'}\n"
     "momenta: {p: 0.1, m: '[0.3, 1, 0.5]'}\nkinetic: {inertia: [1, 2, 2.5]}\n"
     "potential: 'sum(i=1..K, j=i+1..K, u(s(x[i], R[i]) - s(x[j], R[j])))'\n"},
    {"bodies by their sites", "BRB",
     "parameters: {K: 12}\nwhere: {'s(a, A)': 'a + A*[0,0,0.2]', u(r): 'dot(r, r)^-3'}\n"
     "coordinates: {'x[K] in R3': '[2*mod(i, 3), 2*floor(i/3), 0.1*i]', 'R[K] in SO3': '[0.1*i, 0.2, 0]'}\n"
     "momenta: {p: 0.1, m: '[0.3, 1, 0.5]'}\nkinetic: {inertia: [1, 2, 2.5]}\n"
     "potential: 'sum(i=1..K, j=i+1..K, u(s(x[i], R[i]) - s(x[j], R[j])))'\n"},
    {"constraints", "RATTLE",
     "parameters: {N: 16}\ncoordinates: {'x[N] in R3': '[i, 0, 0]'}\nmomenta: {p: 'normal(0, 0.3)'}\n"
     "potential: 'sum(i=1..N, j=i+1..N, 1/norm(x[i] - x[j]))'\n"
     "constraints: ['each(i=1..N-1, dot(x[i+1] - x[i], x[i+1] - x[i]) - 1)']\n"},
};

static struct lgv_kernel kernel_for(struct lgv_model *m, const char *method, uint64_t paths) {
    struct lgv_kernel k;
    struct lgv_error err = {0};
    struct lgv_kernel_options options = {.paths = paths};
    if (lgv_kernel_build(m, lgv_method_for(m, method), &options, &k, &err) != LGV_OK) fail_msg("%s", err.message);
    return k;
}

static void test_lanes_are_pairs(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
        struct lgv_model *m = model_of(few[i].text);
        struct lgv_kernel wide = kernel_for(m, few[i].method, 0), one = kernel_for(m, few[i].method, 1);
        double *a = final_values(&wide, 0.01, 50, 3, 9, 1), *b = final_values(&one, 0.01, 50, 3, 9, 1);
        assert_true(m->graph->pairs == false);
        assert_true(one.entry->lanes == 4);
        for (size_t k = 0; k < 3 * one.watch.count; k++)
            if (memcmp(&a[k], &b[k], sizeof *a) != 0)
                fail_msg("%s, number %zu: %.17g is not %.17g", few[i].name, k, b[k], a[k]);
        assert_true(isfinite(a[0]));
        free(a);
        free(b);
        lgv_kernel_free(&wide);
        lgv_kernel_free(&one);
        lgv_model_free(m);
    }
}

/* ---- rigid molecules, and bodies ---- */

/* Energy stays, and the method is symplectic: what forces are derivatives of is what is observed. */
static void test_energy(void **state) {
    (void)state;
    static const struct few row[] = {
        {"rods", "RATTLE",
         "parameters: {N: 40, L: 7}\ncutoff: {radius: 2.5, switch: 0.8, box: L}\nwhere: {u(r): '(r/0.8)^-3'}\n"
         "coordinates: {'x[N] in R3': '[1.75*mod(floor((i-1)/2), 4) + mod(i, 2)/2, 1.75*mod(floor((i-1)/8), 4), "
         "1.75*floor((i-1)/32)]'}\n"
         "momenta: {p: 'normal(0, 0.7)'}\n"
         "potential: 'pairs(i=1..N, j=i+1..N, j > i+1, d = x[i] - x[j], u(dot(d, d)))'\n"
         "constraints: ['each(k=1..N/2, dot(x[2*k] - x[2*k-1], x[2*k] - x[2*k-1]) - 0.25)']\n"
         "run: {method: RATTLE, step: 0.002, until: 2, paths: 2, check_states: 1}\n"},
        {"bodies", "BRB",
         "parameters: {K: 27, L: 6}\ncutoff: {radius: 2.5, switch: 0.8, box: L}\n"
         "where: {'site(d, A, B)': 'd + A*[0,0,0.3] - B*[0,0,0.3]', u(r): 'dot(r, r)^-3'}\n"
         "coordinates: {'x[K] in R3': '[2*mod(i, 3), 2*mod(floor(i/3), 3), 2*floor((i-1)/9)]', "
         "'R[K] in SO3': '[i, 0.2, 0]'}\nmomenta: {p: 'normal(0, 0.5)', m: '[0.3, 1, 0.5]'}\n"
         "kinetic: {inertia: [1, 2, 2.5]}\n"
         "potential: 'pairs(i=1..K, j=i+1..K, d = x[i] - x[j], u(site(d, R[i], R[j])))'\n"
         "run: {method: BRB, step: 0.002, until: 2, paths: 2, check_states: 1}\n"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lgv_model *m = model_of(row[i].text);
        struct lgv_settings s = settings_of(m);
        struct lgv_result r;
        run_with(m, &s, LGV_OK, &r);
        const struct lgv_series *H = series_of(&r, "H");
        assert_near(H->drift / fabs(H->mean[0]), 0, 2e-5, row[i].name);
        assert_true(r.certificate.symplectic_defect < 1e-8);
        lgv_result_clear(&r);
        lgv_model_free(m);
    }
}

/* Points that fall together: the list grows many times over, and the path goes on. */
static void test_lists_grow(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {N: 125}\ncutoff: {radius: 1, switch: 0.5}\n"
                                   "coordinates: {'x[N] in R3': '[3*mod(i, 5), 3*mod(floor(i/5), 5), "
                                   "3*floor((i-1)/25)]'}\n"
                                   "momenta: {p: 0}\nwhere: {far: 'sum(i=1..N, dot(x[i], x[i]))'}\n"
                                   "potential: 'far + pairs(i=1..N, j=i+1..N, d = x[i] - x[j], 0.001*dot(d, d))'\n"
                                   "observe: {close: 'near(i=1..N, j=i+1..N, d = x[i] - x[j], 1)'}\n");
    struct lgv_kernel k = kernel_of(m, "BAB");
    struct lgv_own_block b;
    double *seen = NULL;
    size_t lanes = k.entry->lanes, close = watch_number(&k, "close");
    assert_int_equal(posix_memalign((void **)&seen, 128, k.watch.count * lanes * sizeof *seen), 0);
    assert_true(lgv_block_create(&k, 0, 1.1107207345395915 / 50, 1, 1, &b)); /* all meet at the origin in 50 steps */
    lgv_block_start(&k, &b, 0, 1);
    k.entry->observe(&b.block, seen);
    assert_true(seen[close * lanes] == 0);
    k.entry->advance(&b.block, 50);
    k.entry->observe(&b.block, seen);
    assert_true(seen[close * lanes] == 125 * 124 / 2);
    assert_true(b.block.fail[0] == 0);
    free(seen);
    lgv_block_free(&b);
    lgv_kernel_free(&k);
    lgv_model_free(m);
}

/* ---- what is refused ---- */

#define TWO "coordinates: {'x[4] in R3': '[i, 0, 0]'}\n"
#define CUT(values) TWO "cutoff: " values "\n"
#define SUM "potential: 'pairs(i=1..4, j=i+1..4, d = x[i] - x[j], dot(d, d))'\n"

static void test_refused(void **state) {
    (void)state;
    static const struct bad_file row[] = {
        {TWO SUM, 2, 13, "needs a section cutoff"},
        {CUT("2") SUM, 2, 9, "a cutoff: { radius: ... }"},
        {CUT("{box: 3}") SUM, 2, 9, "cutoff needs a radius"},
        {CUT("{radius: 1, radii: 2}") SUM, 2, 21, "unknown key radii; cutoff has radius, switch, skin and box"},
        {CUT("{radius: 0}") SUM, 2, 18, "the radius is 0; it must be positive"},
        {CUT("{radius: 1, switch: 2}") SUM, 2, 29, "the switch is 2; it may be at most the radius"},
        {CUT("{radius: 1, switch: 0}") SUM, 2, 29, "the switch is 0; it must be positive"},
        {CUT("{radius: 1.6, box: 3}") SUM, 2, 28, "more than half of the side 3 of the box"},
        {CUT("{radius: 1.6, box: [9, 9, 3]}") SUM, 2, 28, "more than half of the side 3 of the box"},
        {CUT("{radius: 1, box: [9, 9]}") SUM, 3, 41, "the box of the cutoff has 2 sides, and this is a vector of R3"},
        {CUT("{radius: 1, box: -3}") SUM, 2, 26, "a side of the box is -3"},
        {CUT("{radius: 1}") "potential: 'pairs(i=1..4, d = x[i] - x[1], 1)'\n", 3, 19, "expected two ranges"},
        {CUT("{radius: 1}") "potential: 'pairs(i=1..4, j=i+1..4, norm(x[i] - x[j]))'\n", 3, 37,
         "expected a name for the distance"},
        {CUT("{radius: 1}") "potential: 'pairs(i=1..4, j=i+1..4, d = x[i] + x[j], 1)'\n", 3, 41,
         "the difference of a point of the first index"},
        {CUT("{radius: 1}") "potential: 'pairs(i=1..4, j=i+1..4, d = x[i] - x[j+1], 1)'\n", 3, 50, "outside 1..4"},
        {CUT("{radius: 1}") "potential: 'pairs(i=1..4, j=i+1..4, d = x[i] - x[j], i*d.x)'\n", 3, 54,
         "in subscripts only"},
        {CUT("{radius: 1}") "potential: 'pairs(i=1..4, j=i+1..4, x = x[i] - x[j], 1)'\n", 3, 37, "a meaning already"},
        {CUT("{radius: 1}") "potential: 'sum(k=1..2, pairs(i=1..4, j=i+1..4, d = x[i] - x[j], 1))'\n", 3, 25,
         "may not stand inside another sum"},
        {CUT("{radius: 1}") "potential: 'near(i=1..4, j=i+1..4, d = x[i] - x[j], 1)'\n", 3, 13,
         "it is for observables"},
        {CUT("{radius: 1}") "potential: '1'\nnoise: 'pairs(i=1..4, j=i+1..4, d = x[i] - x[j], 1)'\n", 2, 9,
         "not for noise"},
        {"coordinates: {'x[33000] in R3': '[i, 0, 0]'}\ncutoff: {radius: 5, box: 10}\n"
         "potential: 'pairs(i=1..33000, j=i+1..33000, d = x[i] - x[j], dot(d, d))'\n", 3, 19,
         "more than a list can hold"},
    };
    assert_bad_files(row, sizeof row / sizeof *row);
    struct lgv_model *m = model_of(CUT("{radius: 1.5}") SUM);
    struct lgv_structure s;
    struct lgv_error err = {0};
    assert_int_equal(lgv_model_structure(m, &s, &err), LGV_OK);
    assert_int_equal(lgv_method_refuse(lgv_method_for(m, "P1N1Q2Gau"), m, &s, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "sums over near pairs (`cutoff`) have forces only"));
    assert_int_equal(lgv_method_refuse(lgv_method_for(m, "RATTLE"), m, &s, &err), LGV_OK);
    lgv_model_free(m);
}

/* In an open box the start tells how many pairs there are; it is looked at in samples, so the answer comes at once. */
static void test_dense_start(void **state) {
    (void)state;
    struct lgv_model *m = model_of("parameters: {N: 30000}\ncoordinates: {'x[N] in R3': '[sin(1.1*i), sin(2.3*i), "
                                   "sin(3.7*i)]'}\ncutoff: {radius: 2, switch: 0.5}\n"
                                   "potential: 'pairs(i=1..N, j=i+1..N, d = x[i] - x[j], dot(d, d))'\n");
    struct lgv_structure s;
    struct lgv_error err = {0};
    assert_int_equal(lgv_model_structure(m, &s, &err), LGV_BAD_INPUT);
    assert_non_null(strstr(err.message, "pairs are within the radius and its skin at the start"));
    assert_int_equal(err.line, 3);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near_is_all), cmocka_unit_test(test_evaluator), cmocka_unit_test(test_lanes_are_pairs),
        cmocka_unit_test(test_energy),      cmocka_unit_test(test_lists_grow), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_dense_start), cmocka_unit_test(test_evaluator_finds_all),
        cmocka_unit_test(test_lists_follow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
