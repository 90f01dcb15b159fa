/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The same bits whatever the machine does: threads, lane widths, how a run is cut into calls, a path alone or among
 * thousands, a restart from a stored state; with both kernel compilers and with models given as C functions. */
#include "helpers.h"
#include "kernel/compile.h"
#include <unistd.h>

#define SMALL "parameters: {beta: 0.3}\ncoordinates: {q: '0.5*normal()'}\nmomenta: {p: '1 + uniform()'}\n"

static const struct subject {
    const char *name, *method, *text;
    double dt;
    uint64_t paths;
    bool fails; /* some paths do */
} subjects[] = {
    {"synchrotron", "P2N2Q2Lob",
     SMALL "hamiltonian: p^2/2 - cos(q)\nnoise: beta*sin(q)\n"
           "observe: {many: 'exp(sin(q)) + log(2 + cos(p)) + tanh(q) + atan(p) + erf(q) + sqrt(1 + q^2) + (1.5 + "
           "sin(q))^1.3 + atan2(q, p) + sinh(sin(p)) + asin(0.9*sin(q))'}\n",
     0.05, 1037, false},
    {"Kubo", "P1N1Q2Gau",
     SMALL "hamiltonian: p^2/2 + q^2/2\nnoise: beta*H\n"
           "exact:\n  q: p0*sin(t + beta*W[1]) + q0*cos(t + beta*W[1])\n",
     0.05, 333, false},
    {"two noises", "P1N1Q2Gau",
     "coordinates: {a: 0.7, b: 'normal(0, 0.4)'}\nmomenta: {u: 0.2, v: 0.5}\n"
     "hamiltonian: u^2/2 + v^2/2 + a^2*b^2/4 + (a^2 + b^2)/2 + 0.1*a*v\nnoise: [0.1*(a*u + b^2), 0.2*cos(b)*v]\n",
     0.05, 333, false},
    {"two noises", "IEM",
     "coordinates: {a: 0.7, b: 'normal(0, 0.4)'}\nmomenta: {u: 0.2, v: 0.5}\n"
     "hamiltonian: u^2/2 + v^2/2 + a^2*b^2/4 + (a^2 + b^2)/2 + 0.1*a*v\nnoise: [0.1*(a*u + b^2), 0.2*cos(b)*v]\n",
     0.05, 333, false},
    {"any noise", "P2N2Q4Gau-3flows",
     SMALL "hamiltonian: p^2/2 - cos(q)\nnoise: beta*sin(q - p)*p\n", 0.05, 333, false},
    {"noises that do not commute", "P1N1Q2Gau-Levy",
     SMALL "hamiltonian: p^2/2 - cos(q)\nnoise: [beta*sin(q), beta*p^2, beta*cos(q)*p]\n", 0.05, 333, false},
    {"noises of momenta that do not commute", "BCB-Levy",
     "momenta: {m in so3*: ['normal(0, 1)', 0.8, 0.5]}\nhamiltonian: m.x^2/2 + m.z^4/4\n"
     "noise: [0.3*m.x, 0.2*m.y, 0.1*m.z^2]\n", 0.05, 333, false},
    {"any noise, with brackets", "P2N2Q4Gau-Magnus",
     SMALL "hamiltonian: p^2/2 - cos(q)\nnoise: beta*sin(q - p)*p\n", 0.05, 333, false},
    {"any noise, with brackets apart", "P2N2Q4Gau-MagnusStrang",
     "coordinates: {a: 0.7, b: 'normal(0, 0.4)'}\nmomenta: {u: 0.2, v: 0.5}\n"
     "hamiltonian: u^2/2 + v^2/2 + a^2*b^2/4 + 0.1*a*v\nnoise: [0.3*a*u, 0.2*cos(b)*v]\n",
     0.05, 333, false},
    {"noise h(q), random coefficient", "P2N2Q4Gau-Jr",
     "coordinates: {a: 0.7, b: 'normal(0, 0.4)'}\nmomenta: {u: 0.2, v: 0.5}\n"
     "hamiltonian: sqrt(1 + u^2) + v^2/2 + a^2*b^2/4\nnoise: [0.3*sin(a + b), 0.2*b^2]\n",
     0.05, 333, false},
    {"mean energy", "Gonzalez",
     "coordinates: {a: 0.7, b: 'normal(0, 0.4)'}\nmomenta: {u: 0.2, v: 0.5}\n"
     "hamiltonian: u^2/2 + v^2/2 + a^2*b^2/4 + a^4/4\nnoise: [0.3*a, 0.2*b]\n",
     0.05, 333, false},
    {"ring of 20 with 20 noises", "P2N2Q2Lob", /* more noises than are drawn two steps at a time */
     "parameters: {N: 20}\ncoordinates: {'x[N]': 0}\nmomenta: {p: 'normal(0, 0.5)'}\n"
     "potential: sum(i=1..N, 1 - cos(x[wrap(i+1)] - x[i]) + 0.25*x[i]^4)\n"
     "noise: ['each(k=1..N, 0.2*sin(x[k]))']\nobserve: {spread: 'sum(i=1..N, x[i]^2)/N'}\n",
     0.05, 100, false},
    {"ring of 20, many ways", "P1N1Q2Gau", /* in some lanes and steps Newton's method, in others the fixed point */
     "parameters: {N: 20}\ncoordinates: {'x[N]': 0}\nmomenta: {p: 'normal(0, 1)'}\n"
     "potential: sum(i=1..N, (x[wrap(i+1)] - x[i])^2/2 + 0.25*x[i]^4)\n"
     "noise: ['each(k=1..N, 0.2*sin(x[k]))']\nobserve: {spread: 'sum(i=1..N, x[i]^2)/N'}\n",
     0.2, 100, false},
    {"ring of 20, stiff", "ZS(0.3)", /* sparse systems */
     "parameters: {N: 20}\ncoordinates: {'x[N]': 0}\nmomenta: {p: 'normal(0, 1)'}\n"
     "potential: sum(i=1..N, 10*(x[wrap(i+1)] - x[i])^2 + 0.25*x[i]^4)\n"
     "noise: ['each(k=1..N, 0.2*sin(x[k]))']\nobserve: {spread: 'sum(i=1..N, x[i]^2)/N'}\n",
     0.2, 100, false},
    {"near pairs in a box", "BAB", /* whose lists are made anew every few steps */
     "parameters: {N: 27, L: 3.6}\ncutoff: {radius: 1.7, switch: 0.5, skin: 0.1, box: L}\n"
     "coordinates: {'x[N] in R3': '[1.2*mod(i, 3) + 0.05*normal(), 1.2*mod(floor(i/3), 3), 1.2*floor((i - 1)/9)]'}\n"
     "momenta: {p: 'normal(0, 1.2)'}\npotential: 'pairs(i=1..N, j=i+1..N, d = x[i] - x[j], dot(d, d)^-3)'\n"
     "noise: ['each(k=1..N, 0.2*sin(x[k].x))']\n"
     "observe: {close: 'near(i=1..N, j=i+1..N, d = x[i] - x[j], 1)'}\n",
     0.02, 100, false},
    {"stiff pendulum", "PushNewmark-Suzuki4",
     "coordinates: {x: '0.2*normal()', y: -1}\npotential: y + 50*(x^2 + y^2 - 1)^2\nnoise: 0.2*x*y\n", 0.1, 100, false},
    {"stiff springs, modes of a width", "GarciaArchilla-Suzuki4",
     "coordinates: {x: '0.2*normal()', y: 0.1}\nwhere: {V: 40*(x - y - 0.1)^2}\npotential: V + cos(x + 2*y)\nstiff: V\n"
     "noise: 0.2*x*y\n",
     0.2, 100, false},
    {"pendulum by penalty", "MOLLY(3)",
     "coordinates: {x: '0.2*normal()', y: -1}\npotential: y\nconstraints: [x^2 + y^2 - 1]\n"
     "penalty: {omega: 10, window: 0.3}\nnoise: 0.2*x*y\nobserve: {tension: 'lambda[1]'}\n",
     0.1, 100, false},
    {"pendulum by penalty", "ZS", /* means over windows of the multiplier */
     "coordinates: {x: '0.2*normal()', y: -1}\npotential: y\nconstraints: [x^2 + y^2 - 1]\n"
     "penalty: {omega: 10, window: 0.3}\nnoise: 0.2*x*y\nobserve: {tension: 'lambda[1]'}\n",
     0.1, 100, false},
    {"stiff pendulum", "Newmark",
     "coordinates: {x: '0.2*normal()', y: -1}\npotential: y + 50*(x^2 + y^2 - 1)^2\nnoise: 0.2*x*y\n", 0.1, 100, false},
    {"sphere", "RATTLE",
     "coordinates: {x in R3: '[1, 0.3*normal(), 0.2*uniform()]'}\nvelocities: {v: '[0.1, 1, 0.3*normal()]'}\n"
     "lagrangian: dot(v, v)/2 - x.z\nconstraints: dot(x, x) - 1\nnoise_potential: [sin(x.x), sin(x.y), sin(x.z)]\n"
     "observe: {tension: 'lambda[1]'}\n",
     0.02, 333, false},
    {"sphere, mass of position", "Lobatto3-W1",
     "coordinates: {x in R3: '[1, 0.3*normal(), 0.2*uniform()]'}\nvelocities: {v: '[0.1, 1, 0.3*normal()]'}\n"
     "lagrangian: (1 + 0.3*x.z^2)*dot(v, v)/2 - x.z\nconstraints: dot(x, x) - 1\n"
     "noise_potential: [sin(x.x), sin(x.y), sin(x.z)]\nobserve: {tension: 'lambda[1]'}\n",
     0.02, 70, false},
    {"sphere by Newton's method, normal noise", "RATTLE", /* in some lanes from another start */
     "coordinates: {x in R3: '[1, 0.3*normal(), 0.2*uniform()]'}\nvelocities: {v: '[0.1, 1, 0.3*normal()]'}\n"
     "lagrangian: dot(v, v)/2 - x.z\nconstraints: exp(dot(x, x) - 1) - 1\nnoise_potential: [sin(x.x), '200*dot(x, "
     "x)']\n"
     "observe: {tension: 'lambda[1]'}\n",
     0.02, 100, false},
    {"sphere by stages, normal noise", "Lobatto3-W1", /* rounds, and in some lanes Newton's method */
     "coordinates: {x in R3: '[1, 0.3*normal(), 0.2*uniform()]'}\nvelocities: {v: '[0.1, 1, 0.3*normal()]'}\n"
     "lagrangian: dot(v, v)/2 - x.z\nconstraints: dot(x, x) - 1\nnoise_potential: [sin(x.x), '40*dot(x, x)']\n"
     "observe: {tension: 'lambda[1]'}\n",
     0.02, 100, false},
    {"chain of 12", "RATTLE", /* sparse constraints */
     "parameters: {N: 12}\ncoordinates: {'x[N] in R2': '[i, 0.1*normal()]'}\nvelocities: {v: '[0, 0.1*normal()]'}\n"
     "lagrangian: sum(i=1..N, dot(v[i], v[i])/2 - x[i].y)\n"
     "constraints: ['dot(x[1], x[1]) - 1', 'each(k=2..N, dot(x[k] - x[k-1], x[k] - x[k-1]) - 1)']\n"
     "noise_potential: ['sum(i=1..N, 0.1*sin(x[i].x))']\nobserve: {tension: 'lambda[1]'}\n",
     0.02, 100, false},
    {"double pendulum", "RATTLE", /* an observable, H, with products that are used twice */
     "coordinates: {x in R2: '[1, 0]', y in R2: '[2, 0]'}\nmomenta: {p: '[3*normal(), 3*normal()]', r: '[normal(), "
     "0]'}\n"
     "hamiltonian: dot(p, p)/2 + dot(r, r)/2 + x.y + y.y + (dot(x, x) + dot(y-x, y-x))^2/4\nnoise: 0.3*x.x*y.y\n"
     "constraints: ['dot(x, x) - 1', 'dot(y-x, y-x) - 1']\n",
     0.05, 64, false},
    {"bodies", "BRORB", /* different numbers of iterations; a pair sum by parts */
     "parameters: {K: 8}\ncoordinates: {'x[K] in R3': '[i, 0.1*normal(), 0]', 'R[K] in SO3': uniform}\n"
     "momenta: {p: maxwellian, m: maxwellian(2)}\n"
     "kinetic: {mass: 1.3, inertia: [[1, 0.2, 0], [0.2, 1.4, 0], [0, 0, 2]]}\n"
     "potential: sum(i=1..K, dot(x[i], x[i])/2)"
     " + sum(i=1..K, j=i+1..K, dot(R[i]*[0,0,1], R[j]*[1,0,0])*exp(-dot(x[i]-x[j], x[i]-x[j])))\n"
     "noise: ['each(k=1..K, 0.3*R[k].zx)']\nlangevin: {friction: 1, temperature: 1}\n"
     "observe: {spin: 'dot(R[1]*m[1], m[2])'}\n",
     0.1, 333, false},
    {"free bodies", "BAB",
     "coordinates: {'R[2] in SO3': uniform}\nmomenta: {m: '[normal(), 2*normal(), 0.1]'}\n"
     "kinetic: {inertia: [1, 2, 2.5]}\npotential: R[1].zz*R[2].xy\nnoise: 0.3*R[1].zx\n",
     0.1, 333, false},
    {"links with ball joints", "g-BRORB", /* sparse constraints, which take different numbers of iterations */
     "parameters: {N: 3}\n"
     "coordinates: {'x[N] in R3': '[i, 0.1*normal(), 0]', 'R[N] in SO3': '[0, pi/2, 0.1*normal()]'}\n"
     "momenta: {p: maxwellian, m: maxwellian}\nkinetic: {inertia: [0.2, 0.3, 0.15]}\npotential: sum(i=1..N, x[i].z)\n"
     "constraints: ['x[1] - R[1]*[0,0,0.5]', 'each(i=1..N-1, x[i] + R[i]*[0,0,0.5] - x[i+1] + R[i+1]*[0,0,0.5])']\n"
     "noise: 0.3*x[2].x*R[1].zx\nlangevin: {friction: {x: 0.5, R: 0.1}, temperature: 0.7}\n"
     "observe: {pull: 'lambda[2]'}\n",
     0.05, 64, false},
    {"escape", "P2N2Q2Lob", /* paths that pass the barrier become infinite */
     SMALL "hamiltonian: p^2/2 + q^2/2 - 0.08*q^4\nnoise: beta*q\n", 0.1, 500, true},
};
#define SUBJECTS (sizeof subjects / sizeof *subjects)

static struct lgv_result run_one(struct lgv_model *m, const struct subject *s, unsigned threads, unsigned lanes,
                                 const char *compiler) {
    struct lgv_settings set = settings_of(m);
    struct lgv_result r;
    snprintf(set.method, sizeof set.method, "%s", s->method);
    snprintf(set.compiler, sizeof set.compiler, "%s", compiler);
    snprintf(set.keep, sizeof set.keep, "0,5,17,63");
    set.step = s->dt;
    set.until = 103 * s->dt; /* an odd number of steps, output times odd and even */
    set.outputs = 9;
    set.paths = s->paths;
    set.threads = threads;
    set.lanes = lanes;
    set.check_states = 0;
    run_with(m, &set, s->fails ? LGV_FAILED_PATHS : LGV_OK, &r);
    assert_int_equal(r.threads, threads);
    if (lanes) assert_int_equal(r.lanes, lanes);
    return r;
}

static void same(const double *a, const double *b, size_t n, const char *what) {
    if (memcmp(a, b, n * sizeof *a) == 0) return;
    for (size_t i = 0; i < n; i++)
        if (memcmp(a + i, b + i, sizeof *a) != 0) fail_msg("%s, entry %zu: %.17g and %.17g", what, i, a[i], b[i]);
}

static void same_results(const struct lgv_result *a, const struct lgv_result *b) {
    assert_int_equal(a->ntimes, b->ntimes);
    assert_int_equal(a->nseries, b->nseries);
    assert_memory_equal(a->alive, b->alive, a->ntimes * sizeof *a->alive);
    same(a->time, b->time, a->ntimes, "time");
    for (size_t i = 0; i < a->nseries; i++) {
        const struct lgv_series *s = &a->series[i], *t = &b->series[i];
        same(s->mean, t->mean, a->ntimes, s->name);
        same(s->std, t->std, a->ntimes, s->name);
        same(s->err, t->err, a->ntimes, s->name);
        same(s->min, t->min, a->ntimes, s->name);
        same(s->max, t->max, a->ntimes, s->name);
        for (size_t k = 0; k < LGV_QUANTILES; k++) same(s->quantile[k], t->quantile[k], a->ntimes, s->name);
        same(&s->drift, &t->drift, 1, "drift");
        same(&s->drift_mean, &t->drift_mean, 1, "mean drift");
    }
    assert_true(a->nhistograms > 0 && a->nhistograms == b->nhistograms);
    for (size_t i = 0; i < a->nhistograms; i++) {
        same(a->histogram[i].edge, b->histogram[i].edge, a->histogram[i].bins + 1, "edges");
        same(a->histogram[i].count, b->histogram[i].count, a->histogram[i].bins, "histogram");
    }
    assert_true(a->nsamples == 4 && b->nsamples == 4);
    for (size_t i = 0; i < 4; i++) same(a->sample[i].value, b->sample[i].value, a->nseries * a->ntimes, "sample path");
    assert_int_equal(a->failed, b->failed);
    assert_int_equal(a->nfailures, b->nfailures);
    for (size_t i = 0; i < a->nfailures; i++)
        assert_true(a->failure[i].path == b->failure[i].path && a->failure[i].step == b->failure[i].step &&
                    a->failure[i].reason == b->failure[i].reason);
}

static void compare_runs(const char *compiler, const unsigned *lanes, size_t count) {
    for (size_t i = 0; i < SUBJECTS; i++) {
        struct lgv_model *m = model_of(subjects[i].text);
        struct lgv_result first = run_one(m, &subjects[i], 1, 0, compiler);
        for (size_t k = 0; k < count; k++)
            for (unsigned threads = 1; threads <= 2; threads++) {
                struct lgv_result r = run_one(m, &subjects[i], threads, lanes[k], compiler);
                same_results(&first, &r);
                lgv_result_clear(&r);
            }
        assert_true(!subjects[i].fails == !first.failed);
        lgv_result_clear(&first);
        lgv_model_free(m);
    }
}

static void test_lanes_and_threads(void **state) {
    (void)state;
    compare_runs("", (const unsigned[]){2, 4, 8, 16}, 4);
}

static void test_gcc(void **state) {
    (void)state;
    compare_runs("gcc", (const unsigned[]){4}, 1);
}

/* Where gcc decides by itself which products it fuses, it decides differently in kernels of different widths: this
 * model showed it, in paths that go far before they fail. */
static void test_gcc_widths(void **state) {
    (void)state;
    static const struct subject s = {"masses that grow",
                                     "P2N2Q2Lob",
                                     "coordinates: {q: '0.4 + 0.3*normal()'}\nmomenta: {p: '1 + 0.2*uniform()'}\n"
                                     "hamiltonian: p^2/2*(1 + q^2) - cos(q) + p*q/5\nnoise: [0.3*sin(q)*p, 0.2*q^2]\n"
                                     "run: {truncate: 0}\n",
                                     0.1, 3000, true};
    struct lgv_model *m = model_of(s.text);
    struct lgv_result first = run_one(m, &s, 1, 2, "gcc");
    for (unsigned lanes = 4; lanes <= 16; lanes *= 2) {
        struct lgv_result r = run_one(m, &s, 1, lanes, "gcc");
        same_results(&first, &r);
        lgv_result_clear(&r);
    }
    lgv_result_clear(&first);
    lgv_model_free(m);
}

/* ---- blocks ---- */

static void begin(const struct lgv_kernel *k, const struct subject *s, uint64_t path, uint64_t stride,
                  struct lgv_own_block *b) {
    assert_true(lgv_block_create(k, 0.25, s->dt, 1, 1, b));
    for (size_t l = 0; l < k->entry->lanes; l++) b->path[l] = path + stride * l;
    k->entry->start(&b->block);
}

/* 61 steps in one call, one by one, in odd pieces, and from a copy of the state in another block. */
static void check_pieces(const struct lgv_kernel *k, const struct subject *s) {
    enum { STEPS = 61 };
    static const unsigned pieces[] = {3, 1, 8, 5, 13, 2, 29};
    struct lgv_own_block whole, single, odd, late;
    size_t n = k->nstate * k->entry->lanes;
    begin(k, s, 40, 1, &whole);
    begin(k, s, 40, 1, &single);
    begin(k, s, 40, 1, &odd);
    k->entry->advance(&whole.block, STEPS);
    for (int i = 0; i < STEPS; i++) k->entry->advance(&single.block, 1);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        k->entry->advance(&odd.block, pieces[i]);
        k->entry->advance(&odd.block, 0);
    }
    assert_true(whole.block.step == STEPS && single.block.step == STEPS && odd.block.step == STEPS);
    same(whole.block.state, single.block.state, n, "one by one");
    same(whole.block.state, odd.block.state, n, "odd pieces");
    assert_int_equal(whole.block.evaluations, single.block.evaluations);
    assert_int_equal(whole.block.evaluations, odd.block.evaluations);
    assert_int_equal(whole.block.iterations, single.block.iterations);
    for (uint64_t at = 16; at <= 17; at++) {
        lgv_block_free(&odd);
        begin(k, s, 40, 1, &odd);
        k->entry->advance(&odd.block, at);
        assert_true(lgv_block_create(k, 0.25, s->dt, 1, 1, &late));
        memcpy(late.block.state, odd.block.state, n * sizeof(double));
        memcpy(late.path, odd.path, k->entry->lanes * sizeof *late.path);
        late.block.step = at;
        k->entry->advance(&late.block, STEPS - at);
        same(whole.block.state, late.block.state, n, "restart");
        lgv_block_free(&late);
    }
    lgv_block_free(&whole);
    lgv_block_free(&single);
    lgv_block_free(&odd);
}

/* Path 77 in every lane, path 77 among others in other lanes, and path 77 of an ensemble. */
static void check_alone(const struct lgv_kernel *k, const struct subject *s) {
    struct lgv_own_block alone, among;
    size_t lanes = k->entry->lanes, rows = k->watch.count;
    double *all = final_values(k, s->dt, 51, 200, 1, 1), *seen = NULL;
    assert_int_equal(posix_memalign((void **)&seen, 128, rows * lanes * sizeof *seen), 0);
    begin(k, s, 77, 0, &alone);
    begin(k, s, 78 - lanes, 1, &among); /* the last lane is path 77 */
    alone.block.t0 = among.block.t0 = 0;
    k->entry->advance(&alone.block, 51);
    k->entry->advance(&among.block, 51);
    for (size_t i = 0; i < k->nx + k->np; i++)
        for (size_t l = 0; l < lanes; l++)
            same(&alone.block.state[i * lanes + l], &among.block.state[i * lanes + lanes - 1], 1, "neighbours");
    k->entry->observe(&alone.block, seen);
    for (size_t o = 0; o < rows; o++) same(&seen[o * lanes], &all[77 * rows + o], 1, "path of the ensemble");
    free(seen);
    free(all);
    lgv_block_free(&alone);
    lgv_block_free(&among);
}

static void test_blocks(void **state) {
    (void)state;
    static const char *const compilers[] = {"", "gcc"};
    for (size_t i = 0; i + 1 < SUBJECTS; i++) {
        struct lgv_model *m = model_of(subjects[i].text);
        for (size_t c = 0; c < 2; c++) {
            struct lgv_kernel k = kernel_with(m, subjects[i].method, 0, compilers[c]);
            check_pieces(&k, &subjects[i]);
            check_alone(&k, &subjects[i]);
            lgv_kernel_free(&k);
        }
        lgv_model_free(m);
    }
}

/* The kernel again from its source, compiled in another way. */
static struct lgv_kernel again(const struct lgv_kernel *k, const char *source, const char *compiler,
                               enum lgv_quarters quarters) {
    struct lgv_kernel other = *k;
    struct lgv_compiler cc;
    struct lgv_error err = {0};
    assert_int_equal(lgv_compiler_find(compiler, &cc, &err), LGV_OK);
    cc.quarters = quarters;
    lgv_module_forget(source, &cc);
    if (lgv_module_build(source, &cc, NULL, &other.module, NULL, &err) != LGV_OK) fail_msg("%s", err.message);
    assert_false(lgv_module_cached(other.module));
    other.entry = lgv_module_symbol(other.module, "lgv_kernel_entry");
    assert_non_null(other.entry);
    return other;
}

/* A kernel whose shared piece is linked to it, the same source compiled in more pieces and as a whole, and a kernel
 * that has the shared function for coarse noise. */
static void check_linked(const struct subject *s, const char *compiler) {
    static const char *const what[] = {"in two pieces", "in three pieces", "in one piece",
                                       "with its own coarse noise and the shared one"};
    char path[] = "/tmp/lgv-whole-XXXXXX";
    struct lgv_model *m = model_of(s->text);
    struct lgv_kernel_options options = {.compiler = compiler, .keep_source = path, .coarse = true};
    struct lgv_kernel linked, other[4];
    struct lgv_error err = {0};
    close(mkstemp(path));
    if (lgv_kernel_build(m, lgv_method_find(s->method), &options, &linked, &err) != LGV_OK) fail_msg("%s", err.message);
    char *source = lgv_read_file(path, 1 << 24, &(size_t){0}, NULL), *mark = strstr(source, LGV_SHARED_END);
    unlink(path);
    assert_non_null(mark);
    other[0] = again(&linked, source, compiler, LGV_QUARTERS_NEVER);
    other[1] = again(&linked, source, compiler, LGV_QUARTERS_ALWAYS);
    memset(mark, ' ', strlen(LGV_SHARED_END));
    other[2] = again(&linked, source, compiler, LGV_QUARTERS_NEVER);
    options = (struct lgv_kernel_options){.compiler = compiler};
    if (lgv_kernel_build(m, lgv_method_find(s->method), &options, &other[3], &err) != LGV_OK)
        fail_msg("%s", err.message);
    for (uint64_t coarsen = 1; coarsen <= 3; coarsen += 2) {
        double *a = final_values(&linked, s->dt, 50, 64, 1, coarsen);
        for (size_t i = 0; i < 4; i++) {
            double *b = final_values(&other[i], s->dt, 50, 64, 1, coarsen);
            same(a, b, 64 * linked.watch.count, what[i]);
            free(b);
        }
        free(a);
    }
    free(source);
    for (size_t i = 0; i < 3; i++) lgv_module_free(other[i].module);
    lgv_kernel_free(&other[3]);
    lgv_kernel_free(&linked);
    lgv_model_free(m);
}

static void test_linked(void **state) {
    (void)state;
    static const size_t some[] = {0, 3, 4, 6};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) check_linked(&subjects[some[i]], "");
    check_linked(&subjects[0], "gcc");
    check_linked(&subjects[6], "gcc");
}

/* ---- C functions ---- */

static void test_callbacks(void **state) {
    (void)state;
    static const char *const methods[] = {"P2N2Q2Lob", "P1N1Q2Gau", "P1N1Q1Rec", "EEM", "IEM"};
    static const double q0[] = {0.2}, p0[] = {1};
    struct lgv_callbacks c = {.name = "pendulum",
                              .dof = 1,
                              .noises = 1,
                              .q0 = q0,
                              .p0 = p0,
                              .separable = 1,
                              .noise_of_q = 1,
                              .value = pendulum_value,
                              .gradient = pendulum_gradient,
                              .hessian = pendulum_hessian};
    struct lgv_model *m = NULL;
    assert_int_equal(lgv_model_from_callbacks(&c, &m, NULL), LGV_OK);
    struct lgv_model *formulas = model_of("coordinates: {q1: 0.2}\nmomenta: {p1: 1}\nhamiltonian: p1^2/2 - cos(q1)\n"
                                          "noise: 0.3*sin(q1)\n");
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        struct subject s = {"pendulum", methods[i], NULL, 0.05, 100, false};
        struct lgv_result one = run_one(m, &s, 1, 0, ""), two = run_one(m, &s, 2, 0, "");
        same_results(&one, &two);
        lgv_result_clear(&one);
        lgv_result_clear(&two);
        struct lgv_kernel k = kernel_of(m, methods[i]), g = kernel_of(formulas, methods[i]);
        check_pieces(&k, &s);
        check_alone(&k, &s);
        /* round-off of 100 steps, grown by the flow: |d flow| < exp(0.5 t) = 12 at t = 5 */
        double *a = final_values(&k, s.dt, 100, 100, 9, 1), *b = final_values(&g, s.dt, 100, 100, 9, 1);
        assert_int_equal(k.watch.count, g.watch.count);
        for (size_t j = 0; j < 100 * k.watch.count; j++) assert_near(a[j], b[j], 1e-12, "callbacks against formulas");
        free(a);
        free(b);
        lgv_kernel_free(&k);
        lgv_kernel_free(&g);
    }
    lgv_model_free(m);
    lgv_model_free(formulas);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_and_threads),
        cmocka_unit_test(test_gcc),
        cmocka_unit_test(test_gcc_widths),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_linked),
        cmocka_unit_test(test_callbacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
