/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The Lagrangian of a model file and what follows from it.  With p = L_v and M = L_vv, a Lagrangian without third
 * derivatives in v is
 *     L = v.M(q)v/2 + a(q).v - U(q)    so    v = M^-1 (p - a),    H = (p - a).M^-1 (p - a)/2 + U.
 * H is built when M couples velocities in clusters of at most four; sums stay loops when every instance of a term
 * has its own velocity.  Otherwise the model has no Hamiltonian in closed form, and its energy is v.L_v - L. */
#include "model/load.h"
#include "model/point.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CLUSTER 4
#define MAX_PLACES 2000000
#define MAX_WRITTEN 4000 /* velocities: beyond it clusters are not written out one by one */
#define MAX_DENSE 400    /* clusters beyond it are not tested for being singular */

/* ---- replacing references ---- */

struct replace {
    struct lgv_graph *g;
    enum lgv_space space;
    const int *image;  /* by component; NULL: the entry itself, in the space `to`, divided by `mass` */
    const char *missing; /* what to say where an image is -1 */
    enum lgv_space to;
    int mass;
    int *memo; /* 1 + new node */
    size_t size;
};

static bool replace_begin(struct replace *r) {
    r->size = r->g->nnodes;
    r->memo = lgv_new(r->size, sizeof *r->memo);
    if (!r->memo && !r->g->failed) r->g->failed = "out of memory";
    return r->memo != NULL;
}

static int replaced(struct replace *r, int node) {
    struct lgv_graph *g = r->g;
    const struct lgv_node n = g->node[node];
    if (!(n.uses & LGV_USES(r->space)) || !lgv_expr_work(g, 1)) return node;
    if ((size_t)node < r->size && r->memo[node]) return r->memo[node] - 1;
    int id = 0;
    if (n.op == LGV_REF && r->image) {
        if (g->inode[n.aux].op == LGV_ICONST)
            id = r->image[g->inode[n.aux].value];
        else if (!g->failed)
            g->failed = "an index is used outside its sum";
        if (id < 0 && !g->failed) g->failed = r->missing;
        if (id < 0) id = 0;
    } else if (n.op == LGV_REF) {
        id = lgv_expr_div(g, lgv_expr_ref(g, r->to, n.aux), r->mass);
    } else {
        struct lgv_arg small[8], *arg = n.count <= 8 ? small : lgv_new((size_t)n.count, sizeof *arg);
        for (int i = 0; arg && i < n.count; i++) {
            struct lgv_arg a = g->arg[n.first + i];
            arg[i] = (struct lgv_arg){replaced(r, a.node), a.factor};
        }
        if (arg)
            id = lgv_expr_rebuild(g, &n, arg);
        else if (!g->failed)
            g->failed = "out of memory";
        if (arg != small) free(arg);
    }
    if ((size_t)node < r->size) r->memo[node] = id + 1;
    return id;
}

/* ---- the derivatives, and their terms one by one ---- */

struct legendre {
    struct lgv_loader *l;
    struct lgv_model *m;
    struct lgv_graph *g;
    struct lgv_function L;
    struct lgv_terms gradient, hessian; /* L_v, L_vv */
    int *cluster;                       /* [np] smallest velocity coupled with this one */
    int largest;                        /* number of velocities in the largest cluster; np + 1: not known */
};

static void legendre_free(struct legendre *x) {
    lgv_function_free(&x->L);
    lgv_terms_free(&x->gradient);
    lgv_terms_free(&x->hessian);
    free(x->cluster);
}

static bool legendre_make(struct lgv_loader *l, struct legendre *x) {
    *x = (struct legendre){.l = l, .m = l->m, .g = l->m->graph};
    x->cluster = lgv_new(x->m->np, sizeof *x->cluster);
    if (!x->cluster) x->g->failed = "out of memory";
    if (!x->cluster || !lgv_model_lagrangian(x->m, &x->L)) return false;
    lgv_terms_gradient(x->g, &x->L, LGV_V, &x->gradient);
    lgv_terms_hessian(x->g, &x->L, LGV_V, LGV_V, &x->hessian);
    return !x->g->failed;
}

/* ---- clusters of L_vv ---- */

static int root(int *of, int k) {
    while (of[k] != k) k = of[k] = of[of[k]];
    return k;
}

/* Which velocities are coupled; fails when one has no entry at all. */
static bool find_clusters(struct legendre *x, int node) {
    struct lgv_place *place = NULL;
    size_t n = x->m->np;
    long count = lgv_terms_pattern(x->g, &x->hessian, MAX_PLACES, &place);
    x->largest = (int)n + 1;
    if (count < 0) return true;
    int *size = lgv_new(n, sizeof *size);
    if (!size) {
        free(place);
        return lgv_yaml_memory(x->l);
    }
    for (size_t k = 0; k < n; k++) x->cluster[k] = (int)k;
    for (long k = 0; k < count; k++) {
        int a = root(x->cluster, place[k].row), b = root(x->cluster, place[k].col);
        size[place[k].row] = 1;
        if (a < b)
            x->cluster[b] = a;
        else
            x->cluster[a] = b;
    }
    free(place);
    size_t missing = 0;
    while (missing < n && size[missing]) missing++;
    x->largest = 0;
    memset(size, 0, n * sizeof *size);
    for (size_t k = 0; k < n; k++) {
        x->cluster[k] = root(x->cluster, (int)k);
        if (++size[x->cluster[k]] > x->largest) x->largest = size[x->cluster[k]];
    }
    free(size);
    if (missing == n) return true;
    return lgv_yaml_fail(
        x->l, node,
        "the Lagrangian is degenerate: %s does not enter, or only linearly, so that it does not follow "
        "from the momentum",
        x->m->velocity_name[missing]);
}

struct values { /* of L_vv at a point, by place */
    struct lgv_evaluator *e;
    const struct lgv_env *env;
    const struct lgv_term *term;
    const int *cluster, *position;
    int only, size;
    long double *a;
};

static bool put_value(void *user, const long *vars) {
    struct values *v = user;
    int row = (int)lgv_loops_index(v->e->g, v->term->row, vars),
        col = (int)lgv_loops_index(v->e->g, v->term->col, vars);
    if (v->cluster[row] == v->only)
        v->a[v->position[row] * v->size + v->position[col]] += lgv_eval_node(v->e, v->term->value, v->env, vars);
    return true;
}

/* Is one cluster singular at the point?  The number of the velocity without a pivot, or -1. */
static int singular_cluster(struct legendre *x, struct values *v, int *member) {
    static const long none[LGV_MAX_LOOPS];
    memset(v->a, 0, (size_t)v->size * (size_t)v->size * sizeof *v->a);
    for (size_t k = 0; k < x->hessian.count; k++) {
        v->term = &x->hessian.term[k];
        if (v->term->nest < 0)
            put_value(v, none);
        else
            lgv_loops_each(x->g, v->term->nest, LGV_MAX_INSTANCES, put_value, v);
    }
    for (int k = 0; k < v->size * v->size; k++)
        if (!isfinite(v->a[k])) return -1;
    int bad = lgv_linear_dependent(v->size, v->a, 1e-13L);
    return bad < 0 ? -1 : member[bad];
}

/* Small clusters of a large model are alike: not more than this many of them are tested. */
#define MAX_TESTED 64

static bool check_regular(struct legendre *x, int node) {
    size_t n = x->m->np;
    for (size_t k = 0; k < x->hessian.count; k++) lgv_scope_fix(&x->m->scope, x->hessian.term[k].value);
    if (x->largest > MAX_DENSE || x->largest > (int)n) return true;
    struct lgv_evaluator e;
    struct lgv_point at = {0};
    int *position = lgv_new(2 * n, sizeof *position), *member = position + n, bad = -1, tested = 0;
    long double *a = lgv_new((size_t)x->largest * (size_t)x->largest, sizeof *a);
    bool ok = position && a && lgv_eval_begin(&e, x->g);
    if (ok && lgv_point_make(x->m, &e, 0, LGV_POINTS, &at)) {
        struct lgv_env env = lgv_point_env(x->m, &at);
        for (size_t b = 0; b < n && bad < 0 && tested < MAX_TESTED; b++) {
            struct values v = {&e, &env, NULL, x->cluster, position, (int)b, 0, a};
            for (size_t k = b; k < n; k++)
                if (x->cluster[k] == (int)b) {
                    position[k] = v.size;
                    member[v.size++] = (int)k;
                }
            if (!v.size) continue;
            tested++;
            bad = singular_cluster(x, &v, member);
        }
    }
    if (ok) lgv_eval_end(&e);
    free(at.x);
    free(position);
    free(a);
    if (!ok) return lgv_yaml_memory(x->l);
    return bad < 0 ||
           lgv_yaml_fail(x->l, node,
                         "the Lagrangian is degenerate: L_vv is singular, and %s does not follow from the momenta",
                         x->m->velocity_name[bad]);
}

/* ---- the Hamiltonian ---- */

struct once {
    const struct lgv_graph *g;
    int row;
    unsigned char *seen;
    size_t count;
};

static bool see(void *user, const long *vars) {
    struct once *o = user;
    long row = lgv_loops_index(o->g, o->row, vars);
    if (o->seen[row]) return false;
    o->seen[row] = 1;
    o->count++;
    return true;
}

/* sum of (p - a)^2/(2 m) over the terms m v + a of L_v, as loops: when every instance has a velocity of its own.  -1
 * when that is not so.  l->mass becomes the mass if there is but one and a = 0. */
static int kinetic_loops(struct legendre *x) {
    static const long none[LGV_MAX_LOOPS];
    struct lgv_graph *g = x->g;
    struct once o = {.g = g, .seen = lgv_new(x->m->np, 1)};
    int kinetic = 0, mass = -1;
    bool ok = o.seen != NULL, same = true;
    for (size_t k = 0; ok && k < x->gradient.count && !g->failed; k++) {
        struct lgv_term t = x->gradient.term[k];
        int a = lgv_expr_only(g, t.value, LGV_V, -1), m = lgv_diff_one(g, t.value, lgv_expr_ref(g, LGV_V, t.row));
        size_t leaves = 0;
        int *leaf = lgv_diff_leaves(g, t.value, LGV_USES(LGV_V), &leaves);
        free(leaf);
        o.row = t.row;
        ok = leaves == 1 && m != 0;
        if (ok && t.nest < 0) ok = see(&o, none);
        if (ok && t.nest >= 0) {
            size_t before = o.count;
            ok = lgv_loops_each(g, t.nest, LGV_MAX_INSTANCES, see, &o) == (long)(o.count - before);
        }
        if (!ok) break;
        int p = lgv_expr_sub(g, lgv_expr_ref(g, LGV_P, t.row), a);
        int term = lgv_expr_scale(g, 0.5, lgv_expr_div(g, lgv_expr_power(g, p, 2), m));
        kinetic = lgv_expr_add(g, kinetic, t.nest < 0 ? term : lgv_expr_loop(g, t.nest, term));
        if (a != 0 || (g->node[m].uses & (LGV_USES_LOOPVAR | LGV_USES_LOOP)) || (mass >= 0 && mass != m)) same = false;
        mass = m;
    }
    ok = ok && o.count == x->m->np && !g->failed;
    free(o.seen);
    if (ok && same) x->l->mass = mass;
    return ok ? kinetic : -1;
}

/* Determinant of the matrix of nodes a without row i and column j (-1: whole), of size n <= 4. */
static int minor_of(struct lgv_graph *g, int n, int a[MAX_CLUSTER][MAX_CLUSTER], int skip_row, int skip_col) {
    int b[MAX_CLUSTER][MAX_CLUSTER], rows = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        int cols = 0;
        if (i == skip_row) continue;
        for (int j = 0; j < n; j++)
            if (j != skip_col) b[rows][cols++] = a[i][j];
        rows++;
    }
    if (rows == 0) return lgv_expr_const(g, 1);
    if (rows == 1) return b[0][0];
    for (int j = 0; j < rows; j++) {
        if (b[0][j] == 0) continue; /* node 0 is the constant 0 */
        int part = lgv_expr_mul(g, b[0][j], minor_of(g, rows, b, 0, j));
        sum = lgv_expr_add(g, sum, j % 2 ? lgv_expr_scale(g, -1, part) : part);
    }
    return sum;
}

/* Velocities of one cluster: v = M^-1 (p - a) by minors. */
static void invert_cluster(struct lgv_graph *g, int n, int mass[MAX_CLUSTER][MAX_CLUSTER], const int *shifted, int *v) {
    int det = minor_of(g, n, mass, -1, -1);
    for (int i = 0; i < n; i++) {
        v[i] = 0;
        for (int j = 0; j < n; j++) {
            int c = lgv_expr_mul(g, minor_of(g, n, mass, j, i), shifted[j]);
            v[i] = lgv_expr_add(g, v[i], (i + j) % 2 ? lgv_expr_scale(g, -1, c) : c);
        }
        v[i] = lgv_expr_div(g, v[i], det);
    }
}

/* velocity[i] and momentum[i] = p_i - a_i for all components, written out. */
static bool velocities_of(struct legendre *x, int *velocity, int *momentum) {
    struct lgv_graph *g = x->g;
    size_t n = x->m->np, at = 0;
    struct lgv_cells mass = {0}, linear = {0};
    int *head = lgv_new(2 * n, sizeof *head), *next = head + n;
    bool ok = head && lgv_terms_cells(x->g, &x->hessian, LGV_SPACES, &mass) &&
              lgv_terms_cells(x->g, &x->gradient, LGV_V, &linear);
    for (size_t i = 0; ok && i < n; i++) momentum[i] = lgv_expr_ref_at(g, LGV_P, (long)i);
    for (size_t k = 0; ok && k < linear.count; k++)
        momentum[linear.cell[k].row] = lgv_expr_sub(g, momentum[linear.cell[k].row], linear.cell[k].node);
    for (size_t i = n; ok && i-- > 0;) { /* members of a cluster in ascending order */
        next[i] = head[x->cluster[i]];
        head[x->cluster[i]] = (int)i + 1;
    }
    size_t *first = lgv_new(n + 1, sizeof *first); /* of the entries of a row */
    ok = ok && first;
    for (size_t i = 0; ok && i <= n; i++) {
        while (at < mass.count && mass.cell[at].row < (int)i) at++;
        first[i] = at;
    }
    for (size_t b = 0; ok && b < n; b++) {
        int member[MAX_CLUSTER], a[MAX_CLUSTER][MAX_CLUSTER] = {{0}}, shifted[MAX_CLUSTER], v[MAX_CLUSTER], size = 0;
        for (int k = x->cluster[b] == (int)b ? head[b] : 0; k; k = next[k - 1]) member[size++] = k - 1;
        for (int i = 0; i < size; i++) {
            shifted[i] = momentum[member[i]];
            for (size_t k = first[member[i]]; k < first[member[i] + 1]; k++)
                for (int j = 0; j < size; j++)
                    if (mass.cell[k].col == member[j]) a[i][j] = mass.cell[k].node;
        }
        invert_cluster(g, size, a, shifted, v);
        for (int i = 0; i < size; i++) velocity[member[i]] = v[i];
    }
    if (!ok && !g->failed) g->failed = "out of memory";
    free(first);
    free(head);
    free(mass.cell);
    free(linear.cell);
    return !g->failed;
}

static int kinetic_written_out(struct legendre *x) {
    struct lgv_graph *g = x->g;
    size_t n = x->m->np;
    int *v = lgv_new(2 * n, sizeof *v), id = 0;
    struct lgv_arg *arg = lgv_new(n, sizeof *arg);
    if (v && arg && velocities_of(x, v, v + n)) {
        for (size_t i = 0; i < n; i++) arg[i] = (struct lgv_arg){lgv_expr_mul(g, v[n + i], v[i]), 0.5};
        id = lgv_expr_sum(g, 0, arg, n);
    } else if (!g->failed) {
        g->failed = "out of memory";
    }
    free(arg);
    x->l->velocity_of = v;
    return id;
}

/* v.L_v - L, with the sums of L. */
static int energy(struct legendre *x) {
    struct lgv_graph *g = x->g;
    int id = lgv_expr_scale(g, -1, x->m->lagrangian);
    for (size_t k = 0; k < x->gradient.count; k++) {
        struct lgv_term t = x->gradient.term[k];
        int part = lgv_expr_mul(g, lgv_expr_ref(g, LGV_V, t.row), t.value);
        id = lgv_expr_add(g, id, t.nest < 0 ? part : lgv_expr_loop(g, t.nest, part));
    }
    return id;
}

static void transform(struct legendre *x) {
    struct lgv_model *m = x->m;
    m->lagrangian_only = lgv_terms_use(x->g, &x->hessian, LGV_USES(LGV_V)) || x->largest > MAX_CLUSTER;
    int kinetic = m->lagrangian_only || x->largest > 1 ? -1 : kinetic_loops(x);
    if (!m->lagrangian_only && kinetic < 0 && m->np > MAX_WRITTEN) m->lagrangian_only = true;
    if (m->lagrangian_only) {
        m->hamiltonian = energy(x);
        return;
    }
    if (kinetic < 0) kinetic = kinetic_written_out(x);
    m->hamiltonian = lgv_expr_sub(x->g, kinetic, lgv_expr_only(x->g, m->lagrangian, LGV_V, -1));
}

/* ---- start values ---- */

/* Start velocities without references to earlier ones, then p = L_v at the start. */
static bool start_momenta(struct legendre *x) {
    struct lgv_model *m = x->m;
    struct replace r = {.g = x->g, .space = LGV_V, .image = m->start_velocity};
    struct lgv_cells p = {0};
    for (size_t i = 0; i < m->np && !x->g->failed; i++)
        m->start_velocity[i] = lgv_loops_instance(x->g, m->start_velocity[i], NULL, 0);
    bool ok = !x->g->failed && replace_begin(&r);
    for (size_t i = 0; ok && i < m->np; i++) m->start_velocity[i] = replaced(&r, m->start_velocity[i]);
    free(r.memo);
    r.memo = NULL;
    ok = ok && lgv_terms_cells(x->g, &x->gradient, LGV_SPACES, &p) && replace_begin(&r);
    for (size_t k = 0; ok && k < p.count; k++) m->start[m->nx + (size_t)p.cell[k].row] = replaced(&r, p.cell[k].node);
    free(r.memo);
    free(p.cell);
    return ok && !x->g->failed;
}

/* ---- for the loader ---- */

bool lgv_load_lagrangian(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    struct lgv_text t = {0};
    struct legendre x;
    int L;
    l->mass = -1;
    if (!lgv_load_number(l, node, "the Lagrangian", LGV_USES(LGV_Q) | LGV_USES(LGV_V) | LGV_USES_TIME, &L))
        return false;
    m->lagrangian = L;
    if (!(m->lagrangian_text = lgv_copy(lgv_yaml_node(l, node)->text))) return lgv_yaml_memory(l);
    bool made = legendre_make(l, &x), ok = made && find_clusters(&x, node);
    ok = ok && lgv_load_maxwellian(l, true, l->langevin) && start_momenta(&x) && check_regular(&x, node);
    if (ok) transform(&x);
    legendre_free(&x);
    if (m->graph->failed) return lgv_yaml_fail(l, node, "%s", m->graph->failed);
    if (!ok) return false;
    lgv_text_add(&t, m->lagrangian_only ? "energy of L = %s" : "Legendre transform of L = %s", m->lagrangian_text);
    m->hamiltonian_text = t.data;
    if (t.failed) return lgv_yaml_memory(l);
    return lgv_load_value(l, "H", m->hamiltonian);
}

/* The velocities of all rows of p: from L, or H_p of a Hamiltonian. */
static void find_velocities(struct lgv_loader *l) {
    struct lgv_model *m = l->m;
    struct legendre x;
    l->velocity_of = lgv_new(m->nx + m->np, sizeof *l->velocity_of);
    if (!l->velocity_of) {
        m->graph->failed = "out of memory";
    } else if (m->lagrangian < 0) {
        lgv_load_hamiltonian_velocities(l, l->velocity_of);
    } else {
        if (legendre_make(l, &x) && find_clusters(&x, 0))
            velocities_of(&x, l->velocity_of, l->velocity_of + m->nx);
        legendre_free(&x);
    }
}

static int without(struct replace r, int formula) {
    if (r.image) formula = lgv_loops_instance(r.g, formula, NULL, 0);
    int id = !r.g->failed && replace_begin(&r) ? replaced(&r, formula) : 0;
    free(r.memo);
    return id;
}

static int without_mu(struct lgv_loader *l, int formula) {
    struct lgv_graph *g = l->m->graph;
    struct replace r = {.g = g, .space = LGV_MU};
    r.missing = "mu is known of bodies with constant inertia that nothing else is coupled to: H = m.I^-1 m/2 + U";
    if (!(g->node[formula].uses & LGV_USES(LGV_MU))) return formula;
    if (!l->mu_of) {
        l->mu_of = lgv_new(l->m->np, sizeof *l->mu_of);
        bool made = l->mu_of && lgv_load_step_momenta(l, l->mu_of);
        if (!made && !g->failed) g->failed = "out of memory";
    }
    r.image = l->mu_of;
    return g->failed ? 0 : without(r, formula);
}

int lgv_load_without_velocities(struct lgv_loader *l, int formula) {
    struct lgv_model *m = l->m;
    const int mass = m->lagrangian < 0 ? -1 : l->mass;
    formula = without_mu(l, formula);
    if (m->lagrangian_only || !(m->graph->node[formula].uses & LGV_USES(LGV_V))) return formula;
    if (mass < 0 && !l->velocity_of) find_velocities(l);
    struct replace r = {.g = m->graph, .space = LGV_V, .to = LGV_P, .mass = mass};
    if (mass < 0) r.image = l->velocity_of;
    return without(r, formula);
}

/* Summand by summand: what a loop holds has indices of its own. */
int lgv_model_virial(struct lgv_model *m, enum lgv_space space) {
    struct lgv_graph *g = m->graph;
    struct replace r = {.g = g, .space = space == LGV_Q ? LGV_DQ : LGV_DP, .to = space, .mass = lgv_expr_const(g, 1)};
    struct lgv_function H = {0};
    int sum = lgv_expr_const(g, 0);
    if (m->lagrangian_only && space == LGV_P) return lgv_expr_add(g, m->hamiltonian, m->lagrangian); /* v.L_v */
    bool good = lgv_function_split(g, m->hamiltonian, false, &H);
    for (size_t k = 0; good && k < H.count; k++) {
        int along = lgv_diff_along(g, H.summand[k].body, LGV_USES(space)), nest = H.summand[k].nest;
        good = !g->failed && replace_begin(&r);
        int body = good ? replaced(&r, along) : 0;
        free(r.memo);
        sum = lgv_expr_add(g, sum, nest < 0 ? body : lgv_expr_loop(g, nest, body));
    }
    lgv_function_free(&H);
    return sum;
}
