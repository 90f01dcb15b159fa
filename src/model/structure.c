/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Structure recognised from the formulas.
 *
 *     separable            every second derivative K_qp vanishes
 *     noises commute       grad {h_i, h_j} = 0 for all pairs, {f, g} = f_q . g_p - f_p . g_q
 *     a symmetry holds     {H, J} = 0 and {h_m, J} = 0 for its momentum map J = p . xi(q), and xi . g_k,q = 0 for every
 *                          constraint where all of them hold; for a Lagrangian without a Hamiltonian in place of H
 *                          xi . L_q + (xi_q v) . L_v = 0
 *
 * The graph is asked first: canonical forms make most brackets vanish by themselves.  Where a bracket stays, it is
 * evaluated at random points near the start values; "zero" then means zero to round-off at all of them. */
#include "model/point.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 12
#define MAX_PAIRS 2000
#define SYMBOLIC_DOF 16 /* beyond it brackets are only evaluated, not built */

/* ---- the noises one by one ---- */

struct noises {
    struct lgv_model *m;
    const struct lgv_noise *entry;
    int *node;
    size_t count;
};

static bool noise_member(void *user, const long *vars) {
    struct noises *n = user;
    n->node[n->count++] =
        lgv_loops_instance(n->m->graph, n->entry->body, vars, n->m->graph->nest[n->entry->nest].count);
    return !n->m->graph->failed;
}

int *lgv_model_noises(struct lgv_model *m) {
    struct noises n = {.m = m, .node = lgv_new(m->nnoise + 1, sizeof *n.node)};
    for (size_t e = 0; n.node && e < m->nentries && !m->graph->failed; e++) {
        n.entry = &m->noise[e];
        if (n.entry->nest < 0)
            n.node[n.count++] = lgv_loops_instance(m->graph, n.entry->body, NULL, 0);
        else
            lgv_loops_each(m->graph, n.entry->nest, LGV_MAX_INSTANCES, noise_member, &n);
    }
    if (!n.node && !m->graph->failed) m->graph->failed = "out of memory";
    return n.node;
}

/* ---- brackets ---- */

static int conjugate(struct lgv_graph *g, int leaf) {
    const struct lgv_node n = g->node[leaf];
    return lgv_expr_ref(g, n.count == LGV_Q ? LGV_P : LGV_Q, n.aux);
}

/* {f, h} as a node, for formulas without sums. */
static int bracket(struct lgv_graph *g, int f, int h) {
    size_t n;
    int *leaf = lgv_diff_leaves(g, f, LGV_USES(LGV_Q) | LGV_USES(LGV_P), &n), id = 0;
    int *other = lgv_new(n + 1, sizeof *other), *df = lgv_new(n + 1, sizeof *df), *dh = lgv_new(n + 1, sizeof *dh);
    struct lgv_arg *arg = lgv_new(n + 1, sizeof *arg);
    if (leaf && other && df && dh && arg) {
        for (size_t i = 0; i < n; i++) other[i] = conjugate(g, leaf[i]);
        lgv_diff_gradient(g, f, leaf, n, df);
        lgv_diff_gradient(g, h, other, n, dh);
        for (size_t i = 0; i < n; i++)
            arg[i] = (struct lgv_arg){lgv_expr_mul(g, df[i], dh[i]), g->node[leaf[i]].count == LGV_Q ? 1 : -1};
        id = lgv_expr_sum(g, 0, arg, n);
    } else {
        g->failed = "out of memory";
    }
    free(leaf);
    free(other);
    free(df);
    free(dh);
    free(arg);
    return id;
}

struct gradients { /* of one function, as terms in q and p (or v, where the function uses it) */
    struct lgv_terms q, p;
    bool velocities;
};

static bool gradients_of(struct lgv_model *m, int node, struct gradients *out) {
    struct lgv_function f;
    *out = (struct gradients){0};
    if (!lgv_function_split(m->graph, node, false, &f)) return false;
    lgv_terms_gradient(m->graph, &f, LGV_Q, &out->q);
    out->velocities = (m->graph->node[node].uses & LGV_USES(LGV_V)) != 0;
    lgv_terms_gradient(m->graph, &f, out->velocities ? LGV_V : LGV_P, &out->p);
    lgv_function_free(&f);
    return !m->graph->failed;
}

static void gradients_free(struct gradients *g) {
    lgv_terms_free(&g->q);
    lgv_terms_free(&g->p);
}

/* Sum of |df/dx| |dg/dx*| over conjugate pairs: the size the parts of {f, g} have at a point. */
static double bracket_size(struct lgv_evaluator *e, const struct lgv_env *env, const struct gradients *f,
                           const struct gradients *h, double *d, size_t n) {
    double sum = 0;
    lgv_eval_terms(e, &f->q, env, d, n, 1);
    lgv_eval_terms(e, &f->p, env, d + n, n, 1);
    lgv_eval_terms(e, &h->q, env, d + 2 * n, n, 1);
    lgv_eval_terms(e, &h->p, env, d + 3 * n, n, 1);
    for (size_t i = 0; i < n; i++) sum += fabs(d[i] * d[3 * n + i]) + fabs(d[n + i] * d[2 * n + i]);
    return sum;
}

/* Is the gradient of {f, h} zero?  1 yes by formula, 2 yes at random points, 0 no, -1 could not be evaluated.  At a
 * point x the change |x . grad {f, h}| is compared with the parts that {f, h} consists of. */
static int bracket_constant(struct lgv_model *m, int f, int h) {
    struct lgv_graph *g = m->graph;
    int node = bracket(g, f, h);
    if (!(g->node[node].uses & (LGV_USES(LGV_Q) | LGV_USES(LGV_P)))) return 1;
    struct gradients db = {0}, df = {0}, dh = {0};
    bool ok = gradients_of(m, node, &db) && gradients_of(m, f, &df) && gradients_of(m, h, &dh);
    int answer = ok && db.q.count + db.p.count == 0 ? 1 : -1;
    struct lgv_evaluator e;
    double *d = lgv_new(4 * m->nq, sizeof *d);
    if (ok && answer < 0 && d && lgv_eval_begin(&e, g)) {
        for (int k = 0; k < POINTS && answer != 0; k++) {
            struct lgv_point at;
            if (!lgv_point_make(m, &e, k, &at)) break;
            struct lgv_env env = lgv_point_env(m, &at);
            double size = bracket_size(&e, &env, &df, &dh, d, m->nq), change = 0;
            lgv_eval_terms(&e, &db.q, &env, d, m->nq, 1);
            lgv_eval_terms(&e, &db.p, &env, d + m->nq, m->nq, 1);
            for (size_t i = 0; i < 2 * m->nq; i++) change += fabs(d[i] * at.x[i]);
            if (isfinite(change) && isfinite(size)) answer = change <= 1e-10 * size ? 2 : 0;
            free(at.x);
        }
        lgv_eval_end(&e);
    }
    free(d);
    gradients_free(&db);
    gradients_free(&df);
    gradients_free(&dh);
    return answer;
}

static void commutativity(struct lgv_model *m, struct lgv_structure *s) {
    s->commutes = 1;
    s->commutes_decided = m->nnoise > 1;
    if (m->nnoise <= 1 || s->additive || s->noise_depends != LGV_ON_BOTH) return;
    int *h = lgv_model_noises(m);
    if (!h || m->graph->failed || m->nnoise * (m->nnoise - 1) / 2 > MAX_PAIRS) {
        s->commutes = -1;
        free(h);
        return;
    }
    for (size_t i = 0; i < m->nnoise && s->commutes == 1; i++)
        for (size_t j = i + 1; j < m->nnoise && s->commutes == 1; j++) {
            int zero = bracket_constant(m, h[i], h[j]);
            if (zero <= 0) s->commutes = zero;
            if (zero == 2 || zero == 0) s->commutes_decided = 2;
        }
    free(h);
}

bool lgv_model_kinks(const struct lgv_model *m) {
    bool smooth =
        lgv_diff_smooth(m->graph, m->hamiltonian) && (m->lagrangian < 0 || lgv_diff_smooth(m->graph, m->lagrangian));
    for (size_t i = 0; i < m->nentries; i++) smooth = smooth && lgv_diff_smooth(m->graph, m->noise[i].body);
    for (size_t i = 0; i < m->nconstraint_entries; i++)
        smooth = smooth && lgv_diff_smooth(m->graph, m->constraint[i].body);
    return !smooth;
}

/* ---- symmetries ---- */

/* Largest |{F, J}| relative to its parts at random points; NaN when it cannot be evaluated anywhere. */
static double bracket_residual(struct lgv_model *m, const struct gradients *F, const struct gradients *J) {
    size_t n = m->nq;
    double *d = lgv_new(4 * n, sizeof *d), worst = NAN;
    struct lgv_evaluator e;
    if (d && lgv_eval_begin(&e, m->graph)) {
        for (int k = 0; k < POINTS; k++) {
            struct lgv_point at;
            if (!lgv_point_make(m, &e, k, &at)) break;
            struct lgv_env env = lgv_point_env(m, &at);
            lgv_eval_terms(&e, &F->q, &env, d, n, 1);
            lgv_eval_terms(&e, &F->p, &env, d + n, n, 1);
            lgv_eval_terms(&e, &J->q, &env, d + 2 * n, n, 1);
            lgv_eval_terms(&e, &J->p, &env, d + 3 * n, n, 1);
            double value = 0, parts = 0;
            for (size_t i = 0; i < n; i++) {
                double a = d[i] * d[3 * n + i], b = d[n + i] * d[2 * n + i];
                value += a - b;
                parts += fabs(a) + fabs(b);
            }
            if (isfinite(value)) worst = fmax(isnan(worst) ? 0 : worst, fabs(value) / (1e-300 + parts));
            free(at.x);
        }
        lgv_eval_end(&e);
    }
    free(d);
    return worst;
}

int lgv_model_momentum_map(struct lgv_model *m, const struct lgv_symmetry *s) {
    struct lgv_arg *arg = lgv_new(m->nq, sizeof *arg);
    if (!arg) return 0;
    for (size_t i = 0; i < m->nq; i++)
        arg[i] = (struct lgv_arg){lgv_expr_mul(m->graph, lgv_expr_ref_at(m->graph, LGV_P, (long)i), s->xi[i]), 1};
    int id = lgv_expr_sum(m->graph, 0, arg, m->nq);
    free(arg);
    return id;
}

/* Largest |xi . L_q + (xi_q v) . L_v| relative to its parts at random points; NaN when it cannot be evaluated
 * anywhere. */
static double lagrangian_residual(struct lgv_model *m, const struct lgv_symmetry *s) {
    size_t n = m->nq;
    struct gradients L = {0};
    struct lgv_evaluator e;
    int *along = lgv_new(n, sizeof *along); /* xi_q v: directions are velocities here */
    double *d = lgv_new(2 * n, sizeof *d), worst = NAN;
    bool ok = along && d && gradients_of(m, m->lagrangian, &L);
    for (size_t i = 0; ok && i < n; i++)
        along[i] = lgv_diff_along(m->graph, lgv_loops_instance(m->graph, s->xi[i], NULL, 0));
    if (ok && !m->graph->failed && lgv_eval_begin(&e, m->graph)) {
        for (int k = 0; k < POINTS; k++) {
            struct lgv_point at;
            if (!lgv_point_make(m, &e, k, &at)) break;
            struct lgv_env env = lgv_point_env(m, &at);
            env.space[LGV_DQ] = env.space[LGV_V];
            lgv_eval_terms(&e, &L.q, &env, d, n, 1);
            lgv_eval_terms(&e, &L.p, &env, d + n, n, 1);
            double value = 0, parts = 0;
            for (size_t i = 0; i < n; i++) {
                double a = d[i] * lgv_eval_node(&e, s->xi[i], &env, NULL);
                double b = d[n + i] * lgv_eval_node(&e, along[i], &env, NULL);
                value += a + b;
                parts += fabs(a) + fabs(b);
            }
            if (isfinite(value)) worst = fmax(isnan(worst) ? 0 : worst, fabs(value) / (1e-300 + parts));
            free(at.x);
        }
        lgv_eval_end(&e);
    }
    gradients_free(&L);
    free(along);
    free(d);
    return worst;
}

/* xi . grad g = 0 identically, for every constraint of a small model without families? */
static bool constraints_invariant(struct lgv_model *m, const struct lgv_symmetry *s) {
    struct lgv_graph *g = m->graph;
    bool zero = m->nq <= SYMBOLIC_DOF;
    for (size_t c = 0; zero && c < m->nconstraint_entries; c++) {
        const struct lgv_constraint *h = &m->constraint[c];
        int body = h->body, change = 0;
        size_t n = 0;
        zero = h->nest < 0 && !(g->node[body].uses & LGV_USES_LOOP);
        int *leaf = zero ? lgv_diff_leaves(g, body, LGV_USES(LGV_Q), &n) : NULL;
        for (size_t i = 0; leaf && i < n; i++) {
            int xi = s->xi[g->inode[g->node[leaf[i]].aux].value];
            change = lgv_expr_add(g, change, lgv_expr_mul(g, lgv_diff_one(g, body, leaf[i]), xi));
        }
        free(leaf);
        zero = zero && change == 0 && !g->failed; /* node 0 is the constant 0 */
    }
    return zero;
}

/* The same at random points: largest |xi . grad g| relative to its parts, NaN when there is no such point.  onto: at
 * points moved onto g = 0, which stay close enough to the start for that: the first is the start itself, the others are
 * as far from it in all as a tenth of the largest coordinate. */
static double constraint_residual_at(struct lgv_model *m, struct lgv_projector *c, const struct lgv_symmetry *s,
                                     bool onto) {
    struct lgv_evaluator e;
    double *xi = lgv_new(m->nq, sizeof *xi), worst = NAN, scale = 0;
    uint64_t seed = 4711;
    if (!xi || !lgv_eval_begin(&e, m->graph)) {
        free(xi);
        return NAN;
    }
    for (int k = 0; k < (onto && m->nconstraints > 100 ? 2 : POINTS); k++) {
        struct lgv_point at;
        if (!lgv_point_make(m, &e, onto ? -1 - k : k, &at)) break;
        struct lgv_env env = lgv_point_env(m, &at);
        for (size_t i = 0; i < m->nq; i++) scale = fmax(scale, fabs(at.x[i]));
        double amount = onto && k ? 0.3 * (scale > 0 ? scale : 1) / sqrt((double)m->nq) : 0;
        for (size_t i = 0; i < m->nq; i++) at.x[i] += amount * (lgv_point_draw(&seed) - 0.5);
        if (!onto || lgv_projector_move(c, at.x)) {
            for (size_t i = 0; i < m->nq; i++) xi[i] = lgv_eval_node(&e, s->xi[i], &env, NULL);
            double r = lgv_projector_change(c, at.x, xi);
            if (isfinite(r)) worst = fmax(isnan(worst) ? 0 : worst, r);
        }
        free(at.x);
    }
    lgv_eval_end(&e);
    free(xi);
    return worst;
}

static double constraint_residual(struct lgv_model *m, const struct lgv_symmetry *s) {
    struct lgv_projector *c = lgv_projector_create(m);
    double r = c ? constraint_residual_at(m, c, s, false) : NAN;
    if (c && !(r <= 1e-10)) r = constraint_residual_at(m, c, s, true);
    lgv_projector_free(c);
    return r;
}

/* H and all noises as formulas, families as sums of their members with weights of 1: one bracket each. */
static void check_symmetry(struct lgv_model *m, size_t k, struct lgv_structure *s) {
    int J = lgv_model_momentum_map(m, &m->symmetry[k]);
    struct gradients dJ;
    double worst = 0;
    bool formula = true, ok = gradients_of(m, J, &dJ);
    int *h = lgv_model_noises(m);
    for (size_t i = 0; ok && h && i <= m->nnoise; i++) {
        int F = i == 0 ? m->hamiltonian : h[i - 1];
        bool sums = (m->graph->node[F].uses & LGV_USES_LOOP) != 0;
        double zero;
        bool symbolic = !sums && m->nq <= SYMBOLIC_DOF && !(i == 0 && m->lagrangian_only);
        if (symbolic && lgv_expr_is_const(m->graph, bracket(m->graph, F, J), &zero) && zero == 0) continue;
        struct gradients dF = {0};
        double r = NAN;
        formula = false;
        if (i == 0 && m->lagrangian_only)
            r = lagrangian_residual(m, &m->symmetry[k]);
        else if (gradients_of(m, F, &dF))
            r = bracket_residual(m, &dF, &dJ);
        if (isnan(r)) r = INFINITY;
        if (r > worst) s->symmetry[k].worst = i == 0 ? LGV_WORST_H : (int)i;
        worst = fmax(worst, r);
        gradients_free(&dF);
    }
    if (m->nconstraints && !constraints_invariant(m, &m->symmetry[k])) {
        double r = constraint_residual(m, &m->symmetry[k]);
        formula = false;
        if (isnan(r)) r = INFINITY;
        if (r > worst) s->symmetry[k].worst = LGV_WORST_CONSTRAINTS;
        worst = fmax(worst, r);
    }
    gradients_free(&dJ);
    free(h);
    s->symmetry[k].residual = worst;
    s->symmetry[k].decided_by_formula = formula;
    s->symmetry[k].invariant = worst <= 1e-10;
    s->symmetry[k].affine = true;
    for (size_t i = 0; i < m->nq; i++) {
        struct lgv_function f = {0};
        struct lgv_terms d = {0};
        if (lgv_function_add(m->graph, &f, -1, lgv_loops_instance(m->graph, m->symmetry[k].xi[i], NULL, 0)))
            lgv_terms_gradient(m->graph, &f, LGV_Q, &d);
        if (lgv_terms_use(m->graph, &d, LGV_USES(LGV_Q))) s->symmetry[k].affine = false;
        lgv_terms_free(&d);
        lgv_function_free(&f);
    }
}

/* ---- all of it ---- */

static void noise_structure(struct lgv_model *m, struct lgv_structure *s) {
    s->additive = m->nnoise > 0;
    for (size_t e = 0; e < m->nentries; e++) {
        const struct lgv_noise *n = &m->noise[e];
        struct gradients d;
        if (!gradients_of(m, n->nest < 0 ? n->body : lgv_expr_loop(m->graph, n->nest, n->body), &d)) return;
        if (d.q.count) s->noise_depends |= LGV_ON_Q;
        if (d.p.count) s->noise_depends |= LGV_ON_P;
        unsigned moving = LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES_TIME;
        if (lgv_terms_use(m->graph, &d.q, moving) || lgv_terms_use(m->graph, &d.p, moving)) s->additive = false;
        gradients_free(&d);
    }
}

enum lgv_status lgv_model_structure(struct lgv_model *m, struct lgv_structure *out, struct lgv_error *err) {
    struct lgv_graph *g = m->graph;
    *out = (struct lgv_structure){.derivative_error = NAN, .commutes = 1, .constrained = m->nconstraints > 0};
    if (m->callbacks) {
        out->separable = out->hamiltonian_separable = m->callbacks->separable;
        out->flat = m->callbacks->separable && m->callbacks->constant_mass;
        out->time_dependent = true;
        out->noise_depends = m->callbacks->noises == 0 ? 0 : m->callbacks->noise_of_q ? LGV_ON_Q : LGV_ON_BOTH;
        out->commutes = m->callbacks->noises <= 1 || m->callbacks->noise_of_q ? 1 : -1;
        return LGV_OK;
    }
    struct lgv_function K, H;
    struct lgv_terms t[4] = {0};
    unsigned state = LGV_USES(LGV_Q) | LGV_USES(LGV_P);
    if (lgv_model_increment(m, &K) && lgv_function_split(g, m->hamiltonian, false, &H)) {
        lgv_terms_hessian(g, &K, LGV_Q, LGV_P, &t[0]);
        lgv_terms_hessian(g, &K, LGV_Q, LGV_Q, &t[1]);
        lgv_terms_hessian(g, &K, LGV_P, LGV_P, &t[2]);
        out->separable = t[0].count == 0;
        out->linear =
            !lgv_terms_use(g, &t[0], state) && !lgv_terms_use(g, &t[1], state) && !lgv_terms_use(g, &t[2], state);
        for (size_t i = 0; i < K.count; i++)
            out->time_dependent |= (g->node[K.group[i].body].uses & LGV_USES_TIME) != 0;
        lgv_terms_gradient(g, &K, LGV_P, &t[3]);
        out->kinetic_time = lgv_terms_use(g, &t[3], LGV_USES_TIME);
        out->flat = out->separable && !out->kinetic_time && !lgv_terms_use(g, &t[2], state);
        t[3].count = 0;
        lgv_terms_hessian(g, &H, LGV_Q, LGV_P, &t[3]);
        out->hamiltonian_separable = t[3].count == 0;
        t[3].count = 0;
        lgv_terms_hessian(g, &H, LGV_P, LGV_P, &t[3]);
        out->quadratic_kinetic =
            out->hamiltonian_separable && t[3].count && !lgv_terms_use(g, &t[3], state | LGV_USES_TIME);
        out->diagonal_mass = t[3].count > 0;
        for (size_t k = 0; k < t[3].count; k++) out->diagonal_mass &= t[3].term[k].row == t[3].term[k].col;
        if (m->lagrangian_only) /* the energy in terms of q and v says nothing about H */
            out->separable = out->linear = out->flat = out->hamiltonian_separable = out->quadratic_kinetic = false;
        noise_structure(m, out);
        commutativity(m, out);
        out->nsymmetries = m->nsymmetries;
        for (size_t k = 0; k < m->nsymmetries && k < 32; k++) check_symmetry(m, k, out);
        lgv_function_free(&H);
    }
    lgv_function_free(&K);
    for (int k = 0; k < 4; k++) lgv_terms_free(&t[k]);
    if (g->failed) return lgv_fail(err, LGV_BAD_INPUT, "%s: the formulas cannot be analysed: %s", m->file, g->failed);
    return LGV_OK;
}

/* ---- derivatives against finite differences ---- */

/* Central difference of order 4. */
static double central(struct lgv_evaluator *e, const struct lgv_function *f, const struct lgv_env *env, double *x,
                      double h) {
    double keep = *x, v[4];
    for (int k = 0; k < 4; k++) {
        *x = keep + h * (k < 2 ? k - 2 : k - 1);
        v[k] = lgv_eval_function(e, f, env);
    }
    *x = keep;
    return (v[0] - 8 * v[1] + 8 * v[2] - v[3]) / (12 * h);
}

/* The best of several step sizes: near a singularity only small ones are good, and a wrong derivative fails at all. */
static double difference_error(struct lgv_evaluator *e, const struct lgv_function *f, const struct lgv_env *env,
                               double *x, double derivative, double size) {
    double best = INFINITY, scale = *x != 0 ? fabs(*x) : 1;
    for (double h = 0.1 * scale; h > 1e-7 * scale; h /= 8)
        best = fmin(best, fabs(central(e, f, env, x, h) - derivative) / (1e-300 + size + fabs(derivative)));
    return best;
}

static double function_error(struct lgv_model *m, int node) {
    struct lgv_function f;
    struct gradients d;
    struct lgv_evaluator e;
    size_t n = m->nq, checks = 2 * n < 24 ? 2 * n : 24, skip = 0;
    double *g = lgv_new(2 * n, sizeof *g), worst = 0;
    if (!g || !gradients_of(m, node, &d)) {
        free(g);
        return NAN;
    }
    bool ok = lgv_function_split(m->graph, node, false, &f) && lgv_eval_begin(&e, m->graph);
    if (d.velocities) skip = n; /* x holds q, p, v */
    for (int k = 0; ok && k < 6; k++) {
        struct lgv_point at;
        uint64_t pick = 77 + (uint64_t)k;
        if (!lgv_point_make(m, &e, k, &at)) break;
        struct lgv_env env = lgv_point_env(m, &at);
        lgv_eval_terms(&e, &d.q, &env, g, n, 1);
        lgv_eval_terms(&e, &d.p, &env, g + n, n, 1);
        double size = 0; /* of the gradient, per component of the same kind: what a wrong entry is compared with */
        for (size_t i = 0; i < 2 * n; i++) size = fmax(size, fabs(g[i] * at.x[i + (i < n ? 0 : skip)]));
        for (size_t c = 0; c < checks; c++) {
            size_t i = 2 * n <= 24 ? c : (size_t)(lgv_point_draw(&pick) * (double)(2 * n));
            double *x = &at.x[i + (i < n ? 0 : skip)];
            double error = difference_error(&e, &f, &env, x, g[i], *x != 0 ? size / fabs(*x) : 0);
            if (isfinite(error) && error > worst) worst = error;
        }
        free(at.x);
    }
    if (ok) lgv_eval_end(&e);
    lgv_function_free(&f);
    gradients_free(&d);
    free(g);
    return worst;
}

double lgv_model_derivative_error(struct lgv_model *m) {
    if (m->callbacks) return NAN;
    double worst = function_error(m, m->hamiltonian);
    for (size_t e = 0; e < m->nentries; e++) {
        const struct lgv_noise *n = &m->noise[e];
        worst = fmax(worst, function_error(m, n->nest < 0 ? n->body : lgv_expr_loop(m->graph, n->nest, n->body)));
    }
    for (size_t e = 0; e < m->nconstraint_entries; e++) {
        const struct lgv_constraint *c = &m->constraint[e];
        worst = fmax(worst, function_error(m, c->nest < 0 ? c->body : lgv_expr_loop(m->graph, c->nest, c->body)));
    }
    if (m->lagrangian_text) worst = fmax(worst, function_error(m, m->lagrangian));
    return worst;
}
