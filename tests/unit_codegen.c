/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Generated code against the scalar evaluator on random formulas: values as observables, gradients, Hessians and Ito
 * corrections through steps of the methods; sums kept as loops against the same sums written out, with the contraction
 * a.V'''.a against finite differences.  Everything comes from one generator with a fixed seed. */
#include "helpers.h"
#include <unistd.h>

/* ---- random formulas ---- */

struct writer {
    uint64_t z;
    struct lgv_text out;
    const char *const *leaf;
    size_t leaves;
    bool smooth; /* no kinks: what is differentiated or solved with */
    bool array;  /* there is x[N], px[N] */
    int loops;   /* loop variables in scope: i, then j, then k */
    int most_loops;
};

static unsigned pick(struct writer *w, unsigned n) {
    return (unsigned)(uniform_of(&w->z) * n);
}

static void put(struct writer *w, const char *text) {
    lgv_text_add(&w->out, "%s", text);
}

static void leaf(struct writer *w) {
    static const char *const one[] = {"x[i]", "px[i]", "x[wrap(i+1)]", "px[wrap(i-2)]", "0.1*i", "x[mod(2*i, N) + 1]"};
    static const char *const two[] = {"x[j]", "px[j]", "(x[i] - x[j])", "x[wrap(i+j)]", "0.1*(i - j)"};
    static const char *const family[] = {"x[k]", "px[k]", "x[wrap(k+1)]"};
    unsigned kind = pick(w, 6);
    if (w->loops == 3)
        put(w, family[pick(w, 3)]); /* only families count as k */
    else if (w->loops == 2 && kind < 3)
        put(w, two[pick(w, 5)]);
    else if (w->loops >= 1 && kind < 5)
        put(w, one[pick(w, 6)]);
    else if (kind < 5)
        put(w, w->leaf[pick(w, (unsigned)w->leaves)]);
    else
        lgv_text_add(&w->out, "%.3f", 0.2 + 1.5 * uniform_of(&w->z));
}

static void formula(struct writer *w, int depth);

static void indexed_sum(struct writer *w, int depth) {
    static const char *const single[] = {"sum(i=1..N, ", "sum(i=2..N-1, ", "sum(i=1..N, i != 2, ", "sum(i=1..N/2, "};
    static const char *const pairs[] = {"sum(i=1..N, j=i+1..N, ", "sum(i=1..N, j=1..N, i != j, ",
                                        "sum(i=2..N-1, j=i-1..i+1, ", "sum(i=1..N, j=1..N, i < j, ",
                                        "sum(i=1..N, j=1..2, i <= j + 1, "};
    int old = w->loops;
    if (old == 0 && pick(w, 2) && w->most_loops > 1) {
        put(w, pairs[pick(w, 5)]);
        w->loops = 2;
    } else if (old == 0) {
        put(w, single[pick(w, 4)]);
        w->loops = 1;
    } else { /* inside sum(i): a sum of its own, over j */
        put(w, pick(w, 2) ? "sum(j=1..i, " : "sum(j=1..2, ");
        w->loops = 2;
    }
    formula(w, depth - 1);
    put(w, ")");
    w->loops = old;
}

/* Every operator and function, arguments kept inside their domains and values of the order 1. */
static void formula(struct writer *w, int depth) {
    /* A and B stand for formulas */
    static const char *const pattern[] = {
        "(A + B)", "(A - B)", "A*sin(B)", "A/(2 + cos(B))", "(-A)", "sin(A)", "cos(A)", "exp(sin(A))",
        "log(2.5 + sin(A))", "sqrt(1.5 + cos(A))", "tan(0.9*sin(A))", "asin(0.9*sin(A))", "acos(0.9*cos(A))", "atan(A)",
        "sinh(sin(A))", "cosh(cos(A))", "tanh(A)", "erf(A)", "sin(A)^2", "sin(A)^3", "(2 + sin(A))^(-2)",
        "(2 + sin(A))^1.3", "(1.5 + sin(A))^cos(B)", "atan2(A, 2 + cos(B))", "(2 + sin(A))^2.5", "1/sqrt(2 + sin(A))",
        "cos(A)^5", "sin(A)^7", "(2 + cos(A))^(-3.5)", "2^sin(A)", "sin(A)*cos(A)*sin(B)", "alpha*A + beta*B",
        "(A + 2*B - 1)*0.25",
        /* not for differences or solvers from here: steep, kinks */
        "(0.7 + 0.3*sin(A))^70", "(0.7 + 0.3*sin(A))^(-9.5)", "min(A, B)", "max(A, B)", "abs(A)", "sign(A)*B",
        "min(abs(A), 1)", "if(A < B, sin(A), B)", "if(A > 0 and B >= 0.2, ln(2 + sin(A)), cos(B))",
        "if(not (A <= B or A < 0.3) or A > 1, A, B)", "(A > B)*sin(B)"};
    enum { SMOOTH = 33, ALL = sizeof pattern / sizeof *pattern };
    if (depth <= 0) {
        leaf(w);
        return;
    }
    if (w->array && w->loops < w->most_loops && w->loops < 2 && pick(w, 5) == 0) {
        indexed_sum(w, depth);
        return;
    }
    for (const char *c = pattern[pick(w, w->smooth ? SMOOTH : ALL)]; *c; c++) {
        if (*c == 'A' || *c == 'B')
            formula(w, depth - 1 - (int)pick(w, 2));
        else
            lgv_text_add(&w->out, "%c", *c);
    }
}

static char *text_of(struct writer *w, int depth) {
    w->out = (struct lgv_text){0};
    formula(w, depth);
    assert_false(w->out.failed);
    return w->out.data;
}

static const char *const small_leaf[] = {"q", "p", "alpha", "beta", "t", "q", "p"};
static const char *const large_leaf[] = {"q", "p", "alpha", "beta", "t", "x[1]", "x[N]", "px[2]", "px[N-1]", "x[2]"};

static struct writer writer_of(uint64_t seed, int n, bool smooth) {
    return (struct writer){.z = seed,
                           .leaf = n ? large_leaf : small_leaf,
                           .leaves = n ? 10 : 7,
                           .smooth = smooth,
                           .array = n > 0,
                           .most_loops = 2};
}

/* One degree of freedom, or 1 + n. */
static void head(struct lgv_text *out, int n) {
    lgv_text_add(out,
                 n ? "parameters: {alpha: 1.3, beta: -0.7, N: %d}\ncoordinates: {q: 0.4, 'x[N]': 0.2*i}\n"
                     "momenta: {p: -0.6, px: 0.3}\n"
                   : "parameters: {alpha: 1.3, beta: -0.7}\ncoordinates: {q: 0.4}\nmomenta: {p: -0.6}\n",
                 n);
}

static void random_state(uint64_t *z, double *x, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = 3 * uniform_of(z) - 1.5;
}

/* ---- values ---- */

/* Differences come from another order of additions, fused operations and functions good to 2 ulp: 1e-16 per operation,
 * sums of up to 380 terms, times the condition of up to five nested functions. */
#define SAME 1e-11

static void check_values(int n, size_t formulas, int depth, uint64_t seed, unsigned lanes, const char *compiler) {
    struct lgv_text text = {0};
    struct writer w = writer_of(seed, n, false);
    head(&text, n);
    lgv_text_add(&text, "hamiltonian: p^2/2\nobserve:\n");
    for (size_t i = 0; i < formulas; i++) {
        char *f = text_of(&w, depth);
        lgv_text_add(&text, "  o%zu: '%s'\n", i, f);
        free(f);
    }
    struct lgv_model *m = model_of(text.data);
    struct lgv_kernel k = kernel_with(m, "P2N2Q2Lob", lanes, compiler);
    struct lgv_own_block b;
    struct lgv_evaluator e;
    size_t L = k.entry->lanes, nq = k.np, far = 0;
    double *out = NULL, *x = lgv_new(2 * nq, sizeof *x);
    assert_int_equal(posix_memalign((void **)&out, 128, k.watch.count * L * sizeof *out), 0);
    assert_true(lgv_eval_begin(&e, m->graph) && lgv_block_create(&k, 0.7, 0.1, 1, 1, &b));
    for (uint64_t round = 0; round < 5; round++) {
        random_state(&w.z, b.block.state, 2 * nq * L);
        b.block.step = round;
        k.entry->observe(&b.block, out);
        for (size_t l = 0; l < L; l++) {
            for (size_t i = 0; i < 2 * nq; i++) x[i] = b.block.state[i * L + l];
            struct lgv_env env = {.par = m->par, .space = {[LGV_Q] = x, [LGV_P] = x + nq}};
            env.t = 0.7 + (double)round * 0.1;
            for (size_t o = 0; o < k.watch.count; o++) {
                double want = lgv_eval_node(&e, k.watch.item[o].node, &env, NULL), got = out[o * L + l];
                assert_true(isfinite(want));
                far += fabs(want) > 1e4;
                if (!(fabs(got - want) <= SAME * (1 + fabs(want))))
                    fail_msg("%s = %s: generated %.17g, evaluated %.17g", k.watch.item[o].name, k.watch.item[o].text,
                             got, want);
            }
        }
    }
    assert_int_equal(far, 0); /* the bound above counts on it */
    lgv_eval_end(&e);
    lgv_block_free(&b);
    lgv_kernel_free(&k);
    lgv_model_free(m);
    lgv_text_free(&text);
    free(out);
    free(x);
}

static void test_values(void **state) {
    (void)state;
    check_values(0, 60, 4, 1, 16, NULL);
    check_values(3, 60, 4, 2, 4, NULL);
    check_values(20, 40, 3, 3, 8, NULL);
    check_values(3, 30, 3, 4, 4, "gcc");
}

/* ---- derivatives ---- */

struct derived { /* of K = a H + sum w h, by the evaluator */
    struct lgv_model *m;
    struct lgv_function K;
    struct lgv_terms q, p, qq, qp, pp;
    struct lgv_evaluator e;
    size_t n;
};

static void derive(struct lgv_model *m, struct derived *d) {
    *d = (struct derived){.m = m, .n = m->np};
    assert_true(lgv_model_increment(m, &d->K));
    lgv_terms_gradient(m->graph, &d->K, LGV_Q, &d->q);
    lgv_terms_gradient(m->graph, &d->K, LGV_P, &d->p);
    lgv_terms_hessian(m->graph, &d->K, LGV_Q, LGV_Q, &d->qq);
    lgv_terms_hessian(m->graph, &d->K, LGV_Q, LGV_P, &d->qp);
    lgv_terms_hessian(m->graph, &d->K, LGV_P, LGV_P, &d->pp);
    assert_null(m->graph->failed);
    assert_true(lgv_eval_begin(&d->e, m->graph));
}

static void derived_free(struct derived *d) {
    lgv_eval_end(&d->e);
    lgv_terms_free(&d->q);
    lgv_terms_free(&d->p);
    lgv_terms_free(&d->qq);
    lgv_terms_free(&d->qp);
    lgv_terms_free(&d->pp);
    lgv_function_free(&d->K);
}

static struct lgv_env env_of(const struct derived *d, double t, const double *x, const double *w) {
    return (struct lgv_env){.par = d->m->par, .t = t, .space = {[LGV_Q] = x, [LGV_P] = x + d->n, [LGV_WEIGHTS] = w}};
}

/* K_q and K_p; w: a, then the weights of the noises. */
static void gradient_of(struct derived *d, double t, const double *x, const double *w, double *K) {
    struct lgv_env env = env_of(d, t, x, w);
    lgv_eval_terms(&d->e, &d->q, &env, K, d->n, 0);
    lgv_eval_terms(&d->e, &d->p, &env, K + d->n, d->n, 0);
}

#define MOST 24 /* degrees of freedom and noises here */

/* Expected result of one EEM step: the Ito correction from Hessians of each noise alone. */
static void euler_maruyama(struct derived *d, double t, double dt, const double *dW, const double *x, double *y) {
    size_t n = d->n, nm = d->m->nnoise;
    double w[1 + MOST] = {0}, K[2 * MOST], g[2 * MOST], *H = lgv_new(3 * n * n, sizeof *H);
    assert_non_null(H);
    w[0] = dt;
    for (size_t m = 0; m < nm; m++) w[1 + m] = dW[m];
    gradient_of(d, t, x, w, K);
    for (size_t i = 0; i < n; i++) {
        y[i] = x[i] + K[n + i];
        y[n + i] = x[n + i] - K[i];
    }
    for (size_t m = 0; m < nm; m++) {
        memset(w, 0, sizeof w);
        w[1 + m] = 1;
        gradient_of(d, t, x, w, g);
        struct lgv_env env = env_of(d, t, x, w);
        lgv_eval_terms(&d->e, &d->qq, &env, H, n * n, n);
        lgv_eval_terms(&d->e, &d->qp, &env, H + n * n, n * n, n);
        lgv_eval_terms(&d->e, &d->pp, &env, H + 2 * n * n, n * n, n);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) { /* (Dg) g / 2 with g = (h_p, -h_q) */
                double *qq = H, *qp = H + n * n, *pp = H + 2 * n * n;
                y[i] += 0.5 * dt * (qp[j * n + i] * g[n + j] - pp[i * n + j] * g[j]);
                y[n + i] -= 0.5 * dt * (qq[i * n + j] * g[n + j] - qp[i * n + j] * g[j]);
            }
    }
    free(H);
}

/* One step of EEM, and the equations of the midpoint rule for its result, at random states. */
static void check_steps(struct lgv_model *m, struct derived *d, const struct lgv_kernel *k, bool implicit,
                        uint64_t *z) {
    size_t n = d->n, nm = m->nnoise;
    assert_true(n <= MOST && nm <= MOST);
    for (uint64_t trial = 0; trial < 6; trial++) {
        double x[2 * MOST], y[2 * MOST], want[2 * MOST], dW[MOST], w[1 + MOST] = {0}, K[2 * MOST];
        double dt = 0.01, t0 = 0.3, t = t0 + (double)trial * dt;
        random_state(z, x, 2 * n);
        memcpy(y, x, sizeof y);
        increments_of(5, trial, trial, dt, nm, dW);
        assert_true(one_step_of(k, t0, dt, 5, trial, trial, y));
        w[0] = dt;
        for (size_t i = 0; i < nm; i++) w[1 + i] = dW[i];
        if (implicit) {
            double mid[2 * MOST];
            for (size_t i = 0; i < 2 * n; i++) mid[i] = 0.5 * (x[i] + y[i]);
            gradient_of(d, t + 0.5 * dt, mid, w, K);
            for (size_t i = 0; i < n; i++) {
                want[i] = x[i] + K[n + i];
                want[n + i] = x[n + i] - K[i];
            }
        } else {
            euler_maruyama(d, t, dt, dW, x, want);
        }
        for (size_t i = 0; i < 2 * n; i++) /* increments are at most of size 1: SAME of them, and of the state */
            assert_near(y[i], want[i], SAME, k->method->name);
    }
}

static void check_derivatives(int n, uint64_t seed, int depth) {
    struct lgv_text text = {0};
    struct writer w = writer_of(seed, n, true);
    char *H = text_of(&w, depth), *h1 = text_of(&w, depth - 1), *h2 = text_of(&w, depth - 1);
    head(&text, n);
    lgv_text_add(&text, "hamiltonian: p^2/2 + %s\n", H);
    lgv_text_add(&text, "noise:\n  - '0.2*(%s) + 0.3*sin(q*p)'\n  - '0.2*(%s)*cos(q + p)'\n", h1, h2);
    if (n) {
        w.loops = 3;
        char *h = text_of(&w, 2);
        lgv_text_add(&text, "  - 'each(k=1..N, 0.3*(%s)*sin(x[k] + px[k]))'\n", h);
        free(h);
    }
    struct lgv_model *m = model_of(text.data);
    struct derived d;
    struct lgv_kernel eem = kernel_with(m, "EEM", 4, NULL), mid = kernel_with(m, "P1N1Q2Gau", 4, NULL);
    derive(m, &d);
    /* central differences of order 4 with a step of 2e-3: 1e-11 times fifth derivatives of up to some 1e3 */
    assert_true(lgv_model_derivative_error(m) < 1e-6);
    check_steps(m, &d, &eem, false, &w.z);
    check_steps(m, &d, &mid, true, &w.z);
    derived_free(&d);
    lgv_kernel_free(&eem);
    lgv_kernel_free(&mid);
    lgv_model_free(m);
    lgv_text_free(&text);
    free(H);
    free(h1);
    free(h2);
}

static void test_derivatives(void **state) {
    (void)state;
    check_derivatives(0, 11, 3);
    check_derivatives(0, 12, 4);
    check_derivatives(3, 13, 3);
    check_derivatives(3, 14, 4);
    check_derivatives(20, 15, 3);
}

/* A separable model with a family of noises: Verlet keeps forces and applies weights to them, which is other generated
 * code than K's gradient. */
static void test_forces(void **state) {
    (void)state;
    static const char *const of_q[] = {"q", "x[1]", "x[N]", "x[2]", "alpha", "t"};
    for (int n = 3; n <= 20; n += 17) {
        struct lgv_text text = {0};
        struct writer w = writer_of(20 + (uint64_t)n, n, true);
        w.leaf = of_q;
        w.leaves = 6;
        w.array = false;
        char *U = text_of(&w, 4), *h = text_of(&w, 3);
        head(&text, n);
        lgv_text_add(&text,
                     "hamiltonian: p^2/2 + sum(i=1..N, px[i]^2*(1 + 0.1*i)/2 + cosh(px[i])*sin(t)/3) + %s + "
                     "sum(i=1..N, cos(x[wrap(i+1)] - x[i]) + exp(sin(x[i] + t)))\n"
                     "noise: ['0.2*(%s) + 0.1*p', 'each(k=1..N, 0.2*sin(x[k]*x[wrap(k+1)]) + 0.1*px[k]^2)', "
                     "'sum(i=1..N, 0.1*cos(x[i]))']\n",
                     U, h);
        struct lgv_model *m = model_of(text.data);
        struct lgv_kernel k = kernel_with(m, "P2N2Q2Lob", 4, NULL);
        struct derived d;
        derive(m, &d);
        assert_true(k.structure.separable);
        for (uint64_t trial = 0; trial < 6; trial++) {
            double dt = 0.05, x[2 * MOST], y[2 * MOST], dW[MOST], W[1 + MOST] = {0}, K[2 * MOST];
            size_t nq = d.n;
            random_state(&w.z, x, 2 * nq);
            memcpy(y, x, sizeof y);
            increments_of(5, trial, trial, dt, m->nnoise, dW);
            assert_true(one_step_of(&k, 0.3, dt, 5, trial, trial, y));
            double t = 0.3 + (double)trial * dt;
            W[0] = 0.5 * dt;
            for (size_t i = 0; i < m->nnoise; i++) W[1 + i] = 0.5 * dW[i];
            for (int part = 0; part < 4; part++) { /* kick, drift, drift, kick */
                gradient_of(&d, part < 2 ? t : t + dt, x, W, K);
                for (size_t i = 0; i < nq; i++) x[part % 3 ? i : nq + i] += part % 3 ? K[nq + i] : -K[i];
            }
            for (size_t i = 0; i < 2 * nq; i++) assert_near(y[i], x[i], SAME, "Verlet");
        }
        derived_free(&d);
        lgv_kernel_free(&k);
        lgv_model_free(m);
        lgv_text_free(&text);
        free(U);
        free(h);
    }
}

/* ---- loops against sums written out ---- */

struct split {
    struct lgv_function f;
    struct lgv_terms g, h, third;
    double value, G[MOST], H[MOST * MOST], T[MOST];
};

static void split_make(struct lgv_model *m, int node, bool unroll, struct split *s) {
    *s = (struct split){0};
    assert_true(lgv_function_split(m->graph, node, unroll, &s->f));
    lgv_terms_gradient(m->graph, &s->f, LGV_Q, &s->g);
    lgv_terms_hessian(m->graph, &s->f, LGV_Q, LGV_Q, &s->h);
    lgv_terms_third(m->graph, &s->f, &s->third);
    assert_null(m->graph->failed);
}

static void split_at(struct lgv_model *m, struct lgv_evaluator *e, const double *x, const double *a, struct split *s) {
    size_t n = m->np;
    static const double still[MOST];
    struct lgv_env env = {.par = m->par, .t = 0.4, .space = {[LGV_Q] = x, [LGV_P] = x + n, [LGV_DQ] = a}};
    env.space[LGV_DP] = still;
    s->value = lgv_eval_function(e, &s->f, &env);
    lgv_eval_terms(e, &s->g, &env, s->G, n, 0);
    lgv_eval_terms(e, &s->h, &env, s->H, n * n, n);
    lgv_eval_terms(e, &s->third, &env, s->T, n, 0);
}

static void split_free(struct split *s) {
    lgv_function_free(&s->f);
    lgv_terms_free(&s->g);
    lgv_terms_free(&s->h);
    lgv_terms_free(&s->third);
}

static double contracted(const struct split *s, const double *a, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) sum += a[i] * s->H[i * n + j] * a[j];
    return sum;
}

static void compare_splits(struct lgv_model *m, int node, bool has_loop, uint64_t *z) {
    struct split loop, plain, moved;
    struct lgv_evaluator e;
    size_t n = m->np;
    double x[2 * MOST], a[MOST];
    split_make(m, node, false, &loop);
    split_make(m, node, true, &plain);
    bool kept = false;
    for (size_t i = 0; i < loop.f.count; i++) kept |= loop.f.summand[i].nest >= 0;
    for (size_t i = 0; i < plain.f.count; i++) assert_true(plain.f.summand[i].nest < 0);
    assert_true(kept || !has_loop);
    assert_true(lgv_eval_begin(&e, m->graph));
    for (int trial = 0; trial < 3; trial++) {
        random_state(z, x, 2 * n);
        random_state(z, a, n);
        split_at(m, &e, x, a, &loop);
        split_at(m, &e, x, a, &plain);
        /* the same formulas, added in another order */
        assert_near(loop.value, plain.value, SAME * (1 + fabs(plain.value)), "value");
        for (size_t i = 0; i < n; i++) {
            assert_near(loop.G[i], plain.G[i], SAME * (1 + fabs(plain.G[i])), "gradient");
            assert_near(loop.T[i], plain.T[i], 10 * SAME * (1 + fabs(plain.T[i])), "third derivative");
            for (size_t j = 0; j < n; j++) {
                assert_near(loop.H[i * n + j], plain.H[i * n + j], SAME * (1 + fabs(plain.H[i * n + j])), "Hessian");
                assert_near(loop.H[i * n + j], loop.H[j * n + i], SAME * (1 + fabs(plain.H[i * n + j])), "symmetry");
            }
        }
        moved = loop;
        for (size_t i = 0; i < n; i++) { /* (8 (S(h) - S(-h)) - S(2h) + S(-2h)) / 12 h, h = 1e-3: h^4 and 1e-15/h */
            double keep = x[i], S[4], h = 1e-3;
            for (int k = 0; k < 4; k++) {
                x[i] = keep + h * (k == 0 ? 1 : k == 1 ? -1 : k == 2 ? 2 : -2);
                split_at(m, &e, x, a, &moved);
                S[k] = contracted(&moved, a, n);
            }
            x[i] = keep;
            assert_near(loop.T[i], (8 * (S[0] - S[1]) - S[2] + S[3]) / (12 * h), 1e-7 * (1 + fabs(loop.T[i])),
                        "third derivative against differences");
        }
    }
    lgv_eval_end(&e);
    split_free(&loop);
    split_free(&plain);
}

static void test_loops(void **state) {
    (void)state;
    static const char *const fixed[] = {
        "sum(i=1..N, cos(x[wrap(i+1)] - x[i]) + 0.25*x[i]^4)",
        "sum(i=1..N, j=i+1..N, 1/(1 + (x[i] - x[j])^2) + exp(-(x[i] - x[j])^2))",
        "sum(i=1..N, j=1..N, i != j, sin(x[i])*x[j]^2*q/(i + j))",
        "sum(i=2..N-1, j=i-1..i+1, x[i]*x[j]*cos(q + 0.1*j))",
        "q^2 + 3*sum(i=1..N, (x[i] - q)^3*x[wrap(i+3)]) - sin(q)*sum(i=1..N, j=1..i, x[i]*tanh(x[j]))",
        "sum(i=1..N, x[i]^2*x[N + 1 - i]^2)",
    };
    uint64_t z = 77;
    struct lgv_text text = {0};
    head(&text, 22);
    lgv_text_add(&text, "hamiltonian: p^2/2\nobserve:\n");
    size_t known = sizeof fixed / sizeof *fixed;
    for (size_t i = 0; i < known; i++) lgv_text_add(&text, "  f%zu: '%s'\n", i, fixed[i]);
    for (size_t i = 0; i < 8; i++) {
        struct writer w = writer_of(40 + i, 22, true);
        w.most_loops = 2;
        w.loops = 0;
        w.out = (struct lgv_text){0};
        indexed_sum(&w, 3);
        lgv_text_add(&text, "  r%zu: '%s'\n", i, w.out.data);
        lgv_text_free(&w.out);
    }
    struct lgv_model *m = model_of(text.data);
    for (size_t i = 0; i < m->nobservables; i++)
        compare_splits(m, m->observable[i].node, i + 1 < known, &z); /* the last is small: written out */
    lgv_model_free(m);
    lgv_text_free(&text);
}

/* ---- the algebra of methods ---- */

/* Formulas that are built from derivatives against the brackets they stand for: C x = 1/2 sum {{x, h}, h}, and for
 * H = p.M^-1 p/2 + U and h(q) the correction grad h . M^-1 grad h = {{H, h}, h}; {f, g} = -{g, f}. */
static void test_algebra(void **state) {
    (void)state;
    struct lgv_model *m = model_of(
        "parameters: {N: 3}\ncoordinates: {'x[N]': 0.2*i}\nmomenta: {p: 0.3}\n"
        "hamiltonian: sum(i=1..N, p[i]^2*i/2 + cos(x[i])) + 0.3*p[1]*p[2]\n"
        "noise: ['sin(x[1]*p[2]) + p[3]^2*x[2]', 'each(k=1..N, cos(x[k] + p[wrap(k+1)]))']\n"
        "observe: {f: 'sin(x[1] + 2*x[2]*x[3])', g: 'x[1]*x[3]'}\n");
    struct lgv_graph *g = m->graph;
    struct lgv_terms C[2] = {0};
    struct lgv_evaluator e;
    int *h = lgv_model_noises(m), H = lgv_loops_instance(g, m->hamiltonian, NULL, 0);
    int f[2] = {m->observable[0].node, m->observable[1].node}, double_bracket[6], square = 0;
    assert_non_null(h);
    lgv_algebra_ito(m, &C[0], &C[1]);
    for (int i = 0; i < 6; i++) {
        int x = lgv_expr_ref_at(g, i < 3 ? LGV_Q : LGV_P, i % 3), sum = 0;
        for (size_t k = 0; k < m->nnoise; k++)
            sum = lgv_expr_add(g, sum, lgv_algebra_bracket(g, lgv_algebra_bracket(g, x, h[k]), h[k]));
        double_bracket[i] = lgv_expr_scale(g, 0.5, sum);
    }
    int forth = lgv_algebra_bracket(g, h[0], H), back = lgv_algebra_bracket(g, H, h[0]);
    assert_int_equal(lgv_expr_add(g, forth, back), 0);
    for (int k = 0; k < 2; k++)
        square = lgv_expr_add(g, square, lgv_algebra_bracket(g, lgv_algebra_bracket(g, H, f[k]), f[k]));
    /* the same model with the two functions as its noises */
    struct lgv_model *of_q = model_of(
        "parameters: {N: 3}\ncoordinates: {'x[N]': 0.2*i}\nmomenta: {p: 0.3}\n"
        "hamiltonian: sum(i=1..N, p[i]^2*i/2 + cos(x[i])) + 0.3*p[1]*p[2]\n"
        "noise: ['sin(x[1] + 2*x[2]*x[3])', 'x[1]*x[3]']\n");
    int correction = lgv_algebra_correction(of_q, 0.25);
    uint64_t z = 91;
    for (int trial = 0; trial < 4; trial++) {
        double x[6], got[6], value;
        random_state(&z, x, 6);
        struct lgv_env env = {.par = m->par, .space = {[LGV_Q] = x, [LGV_P] = x + 3}};
        assert_true(lgv_eval_begin(&e, g));
        lgv_eval_terms(&e, &C[0], &env, got, 3, 0);
        lgv_eval_terms(&e, &C[1], &env, got + 3, 3, 0);
        for (int i = 0; i < 6; i++) assert_near(got[i], lgv_eval_node(&e, double_bracket[i], &env, NULL), SAME, "Ito");
        value = lgv_eval_node(&e, square, &env, NULL);
        lgv_eval_end(&e);
        assert_true(lgv_eval_begin(&e, of_q->graph));
        env.par = of_q->par;
        assert_near(lgv_eval_node(&e, correction, &env, NULL), 0.25 * value, SAME, "correction");
        lgv_eval_end(&e);
    }
    assert_null(g->failed);
    lgv_terms_free(&C[0]);
    lgv_terms_free(&C[1]);
    free(h);
    lgv_model_free(m);
    lgv_model_free(of_q);
}

/* ---- divisions ---- */

#define BODIES                                                                                                         \
    "parameters: {m1: 1.3, m2: 0.7, m3: 0.4, G: 1.1}\n"                                                                \
    "coordinates: {x in R3: [1, 0, 0.1], y in R3: [0, 1.2, 0], z in R3: [-1, 0.2, 0.8]}\n"                             \
    "momenta: {px: [0, 0.4, 0], py: [0.1, 0, -0.3], pz: [-0.2, 0, 0.1]}\n"                                             \
    "hamiltonian: dot(px,px)/(2*m1) + dot(py,py)/(2*m2) + dot(pz,pz)/(2*m3) - G*m1*m2/norm(x-y) "                      \
    "- G*m1*m3/norm(x-z) - G*m2*m3/norm(y-z)\n"

static char *source_of(struct lgv_model *m, const char *method) {
    char path[] = "/tmp/lgv-codegen-XXXXXX";
    int file = mkstemp(path);
    struct lgv_kernel k;
    struct lgv_kernel_options options = {.keep_source = path};
    struct lgv_error err = {0};
    assert_true(file >= 0);
    close(file);
    if (lgv_kernel_build(m, lgv_method_find(method), &options, &k, &err) != LGV_OK) fail_msg("%s", err.message);
    lgv_kernel_free(&k);
    FILE *f = fopen(path, "r");
    char *text = lgv_new(400000, 1);
    assert_true(f && text && fread(text, 1, 399999, f) > 0);
    fclose(f);
    unlink(path);
    return text;
}

/* Three components of a force have one root and one division together, all pairs side by side; a mass is divided by
 * outside of the time loop.  So nothing but 1 is ever divided. */
static void test_divisions(void **state) {
    (void)state;
    static const char *const function[] = {"INLINE void model_force(", "INLINE void model_K1("};
    struct lgv_model *m = model_of(BODIES);
    char *text = source_of(m, "RKN4");
    for (int i = 0; i < 2; i++) {
        char *begin = strstr(text, function[i]), *end = begin ? strstr(begin, "\n}\n") : NULL;
        assert_non_null(end);
        for (char *at = begin; (at = strstr(at, " / ")) && at < end; at += 3)
            if (strncmp(at - 3, "1.0", 3) != 0) fail_msg("a division in %s: %.60s", function[i], at - 30);
        if (i == 0) assert_true(strstr(begin, "vec_inverses(x, 3, 1, 1)") < end && strstr(begin, "vec_inverses"));
    }
    free(text);
    struct lgv_kernel two = kernel_with(m, "RKN4", 2, NULL), eight = kernel_with(m, "RKN4", 8, NULL);
    double *a = final_values(&two, 0.05, 100, 2, 1, 1), *b = final_values(&eight, 0.05, 100, 2, 1, 1);
    assert_memory_equal(a, b, 2 * two.watch.count * sizeof *a); /* whoever shares a register: the same bits */
    free(a);
    free(b);
    lgv_kernel_free(&two);
    lgv_kernel_free(&eight);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_forces),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_algebra),
        cmocka_unit_test(test_divisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
