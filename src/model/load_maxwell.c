/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Maxwellian start values, `maxwellian` or `maxwellian(kT)`: momenta of the law exp(-H/kT) at the start positions,
 * velocities of the law exp(-v.L_vv v/(2 kT)).  With A = H_pp or L_vv, b = H_p at p = 0 (velocities: 0), A = L L^T and
 * independent standard normals z
 *
 *     L y = -b,     L^T p = y + sqrt(kT) z,     so that p has the mean -A^-1 b and the covariance kT A^-1.
 *
 * L is a formula, found by symbolic elimination among the momenta that A couples: a number for a mass, three rows for
 * a body whose tensor of inertia is not diagonal.  With constraints the start is projected along M^-1 G^T as any other,
 * which makes of this law the one on the tangent space. */
#include "model/load.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COUPLED 16 /* momenta that A couples with each other: formulas grow with its cube */

static const char word[] = "maxwellian";

bool lgv_load_is_maxwellian(const struct lgv_loader *l, int node) {
    const struct lgv_yaml_node *n = lgv_yaml_node(l, node);
    size_t size = sizeof word - 1;
    return n->kind == LGV_YAML_SCALAR && strncmp(n->text, word, size) == 0 && (!n->text[size] || n->text[size] == '(');
}

struct maxwell {
    struct lgv_loader *l;
    struct lgv_graph *g;
    size_t n;
    int *at;      /* [n] as in the loader */
    int *kT;      /* [n] formulas, -1: none */
    int *cluster; /* [n] first of those that A couples with this one */
    int *linear;  /* [n] b */
    int *start;   /* [n] what is made */
    char **name;  /* [n] */
    struct lgv_cells A;
};

/* ---- temperatures ---- */

/* kT of maxwellian(kT). */
static bool own_temperature(struct lgv_loader *l, int node, int *out) {
    struct lgv_scope *scope = &l->m->scope;
    struct lgv_formula_error why;
    struct lgv_evaluator e;
    struct lgv_env env = {.par = l->m->par};
    struct lgv_value v;
    const char *text = lgv_yaml_node(l, node)->text;
    size_t begin = sizeof word, size = strlen(text);
    if (text[size - 1] != ')') return lgv_yaml_fail(l, node, "expected maxwellian, or maxwellian(kT)");
    char *inner = lgv_copy_n(text + begin, size - 1 - begin);
    if (!inner) return lgv_yaml_memory(l);
    scope->allow = 0;
    scope->place = "a temperature";
    bool ok = lgv_formula_parse(scope, inner, &v, NULL, &why);
    free(inner);
    why.offset += begin;
    if (!ok) return lgv_yaml_fail_in(l, node, &why);
    if (v.dim != 1) return lgv_yaml_fail(l, node, "a temperature is a number, but this is a vector");
    *out = v.node[0];
    if (!lgv_eval_begin(&e, l->m->graph)) return lgv_yaml_memory(l);
    double kT = lgv_eval_node(&e, *out, &env, NULL);
    lgv_eval_end(&e);
    lgv_scope_fix(scope, *out);
    return (kT >= 0 && isfinite(kT)) ||
           lgv_yaml_fail(l, node, "the temperature is %g; it must be a finite number that is not negative", kT);
}

/* Those of the bath; the rest of its section is read later. */
static bool bath_temperatures(struct lgv_loader *l, int langevin, int *kT) {
    int friction, temperature;
    if (!lgv_load_langevin_keys(l, langevin, &friction, &temperature)) return false;
    for (size_t i = 0; i < l->m->np; i++) kT[i] = -1;
    return temperature < 0 || lgv_load_per_coordinate(l, temperature, "a temperature", 0, true, kT, NULL);
}

static bool temperatures(struct maxwell *x, int langevin) {
    struct lgv_loader *l = x->l;
    int node = 0, own = -1; /* components of one name have one value */
    if (!bath_temperatures(l, langevin, x->kT)) return false;
    for (size_t i = 0; i < x->n; i++) {
        if (!x->at[i]) continue;
        if (x->at[i] != node) {
            node = x->at[i];
            own = -1;
            if (lgv_yaml_node(l, node)->text[sizeof word - 1] && !own_temperature(l, node, &own)) return false;
        }
        if (own >= 0) x->kT[i] = own;
        if (x->kT[i] < 0)
            return lgv_yaml_fail(l, node, "%s has no temperature in langevin; write maxwellian(kT)", x->name[i]);
    }
    return true;
}

/* ---- the quadratic form ---- */

static int root(int *of, int k) {
    while (of[k] != k) k = of[k] = of[of[k]];
    return k;
}

static void find_clusters(struct maxwell *x) {
    for (size_t i = 0; i < x->n; i++) x->cluster[i] = (int)i;
    for (size_t k = 0; k < x->A.count; k++) {
        if (!x->A.cell[k].node) continue; /* node 0 is the constant 0 */
        int a = root(x->cluster, x->A.cell[k].row), b = root(x->cluster, x->A.cell[k].col);
        x->cluster[a < b ? b : a] = a < b ? a : b;
    }
    for (size_t i = 0; i < x->n; i++) x->cluster[i] = root(x->cluster, (int)i);
}

/* A and b as formulas of the positions. */
static bool quadratic_form(struct maxwell *x, bool velocities, int node) {
    struct lgv_model *m = x->l->m;
    enum lgv_space space = velocities ? LGV_V : LGV_P;
    struct lgv_function f = {0};
    struct lgv_terms first = {0}, second = {0};
    struct lgv_cells b = {0};
    bool ok = velocities ? lgv_model_lagrangian(m, &f) : lgv_function_split(x->g, m->hamiltonian, false, &f);
    if (ok) lgv_terms_hessian(x->g, &f, space, space, &second);
    if (ok && !velocities) lgv_terms_gradient(x->g, &f, space, &first);
    bool fits = !lgv_terms_use(x->g, &second, LGV_USES(space) | LGV_USES_TIME);
    ok = ok && fits && lgv_terms_cells(x->g, &second, LGV_SPACES, &x->A) && lgv_terms_cells(x->g, &first, space, &b);
    for (size_t k = 0; ok && k < b.count; k++) x->linear[b.cell[k].row] = b.cell[k].node;
    if (ok) find_clusters(x);
    lgv_function_free(&f);
    lgv_terms_free(&first);
    lgv_terms_free(&second);
    free(b.cell);
    if (!fits)
        return lgv_yaml_fail(x->l, node,
                             "maxwellian needs an energy that is quadratic in the %s, at all times the same",
                             velocities ? "velocities" : "momenta");
    return ok && !x->g->failed;
}

/* ---- elimination ---- */

static bool positive(struct maxwell *x, int row, int pivot) {
    struct lgv_evaluator e;
    struct lgv_env env = {.par = x->l->m->par};
    if (x->g->failed || (x->g->node[pivot].uses & LGV_USES(LGV_Q))) return true; /* where it is not, the path fails */
    if (!lgv_eval_begin(&e, x->g)) return lgv_yaml_memory(x->l);
    double value = lgv_eval_node(&e, pivot, &env, NULL);
    lgv_eval_end(&e);
    lgv_scope_fix(&x->l->m->scope, pivot);
    return value > 0 || lgv_yaml_fail(x->l, x->at[row],
                                      "the kinetic energy is not positive definite: %s has no Maxwellian law",
                                      x->name[row]);
}

/* The members of one cluster, their matrix a and the right side r = -b: L in the place of a, y in that of r. */
static bool eliminate(struct maxwell *x, int n, const int *member, int a[MAX_COUPLED][MAX_COUPLED], int *r) {
    struct lgv_graph *g = x->g;
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) a[j][j] = lgv_expr_sub(g, a[j][j], lgv_expr_power(g, a[j][k], 2));
        if (!positive(x, member[j], a[j][j])) return false;
        a[j][j] = lgv_expr_power(g, a[j][j], 0.5);
        for (int k = 0; k < j; k++) r[j] = lgv_expr_sub(g, r[j], lgv_expr_mul(g, a[j][k], r[k]));
        r[j] = lgv_expr_div(g, r[j], a[j][j]);
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++) a[i][j] = lgv_expr_sub(g, a[i][j], lgv_expr_mul(g, a[i][k], a[j][k]));
            a[i][j] = lgv_expr_div(g, a[i][j], a[j][j]);
        }
    }
    return true;
}

static bool draw_cluster(struct maxwell *x, int n, const int *member, int a[MAX_COUPLED][MAX_COUPLED]) {
    struct lgv_graph *g = x->g;
    int r[MAX_COUPLED];
    for (int i = 0; i < n; i++) r[i] = lgv_expr_scale(g, -1, x->linear[member[i]]);
    if (!eliminate(x, n, member, a, r)) return false;
    for (int i = 0; i < n; i++) {
        int z = lgv_expr_ref_at(g, LGV_NORMAL, x->l->m->draws[0]++);
        r[i] = lgv_expr_add(g, r[i], lgv_expr_mul(g, lgv_expr_power(g, x->kT[member[i]], 0.5), z));
    }
    for (int i = n; i-- > 0;) {
        for (int k = i + 1; k < n; k++) r[i] = lgv_expr_sub(g, r[i], lgv_expr_mul(g, a[k][i], r[k]));
        r[i] = lgv_expr_div(g, r[i], a[i][i]);
        x->start[member[i]] = r[i];
    }
    return true;
}

/* Members of a cluster that can be drawn together: of all of them the law is wanted, at one temperature. */
static bool judge(struct maxwell *x, int n, const int *member) {
    int with = 0;
    while (!x->at[member[with]]) with++;
    const int node = x->at[member[with]];
    const char *name = x->name[member[with]];
    for (int i = 0; i < n; i++) {
        if (!x->at[member[i]])
            return lgv_yaml_fail(x->l, node, "the masses couple %s and %s: both are maxwellian, or none", name,
                                 x->name[member[i]]);
        if (x->kT[member[i]] != x->kT[member[with]])
            return lgv_yaml_fail(x->l, node, "the masses couple %s and %s, which have different temperatures", name,
                                 x->name[member[i]]);
    }
    return true;
}

/* The cluster whose first member is `first`; next: the members as lists, 1 + the number of the next, 0 at the end. */
static bool draw(struct maxwell *x, int first, const int *next, const size_t *row) {
    int member[MAX_COUPLED], a[MAX_COUPLED][MAX_COUPLED] = {{0}}, n = 0, wanted = 0;
    for (int i = first + 1; i; i = next[i - 1]) {
        if (x->at[i - 1]) wanted = x->at[i - 1];
        if (n < MAX_COUPLED) member[n] = i - 1;
        n++;
    }
    if (!wanted) return true;
    if (n > MAX_COUPLED)
        return lgv_yaml_fail(x->l, wanted,
                             "maxwellian is for at most %d momenta that the masses couple, and %s is one of %d",
                             MAX_COUPLED, x->name[first], n);
    if (!judge(x, n, member)) return false;
    for (int i = 0; i < n; i++)
        for (size_t k = row[member[i]]; k < row[member[i] + 1]; k++)
            for (int j = 0; j < n; j++)
                if (x->A.cell[k].col == member[j]) a[i][j] = x->A.cell[k].node;
    return draw_cluster(x, n, member, a);
}

static bool draw_all(struct maxwell *x) {
    size_t n = x->n, at = 0, *row = lgv_new(n + 1, sizeof *row); /* the first entry of A of each row */
    int *next = lgv_new(2 * n, sizeof *next), *last = next + n;
    bool ok = row && next;
    for (size_t i = 0; ok && i <= n; i++) {
        while (at < x->A.count && x->A.cell[at].row < (int)i) at++;
        row[i] = at;
    }
    for (size_t i = 0; ok && i < n; i++) { /* the first of a cluster is its smallest */
        int c = x->cluster[i];
        if (c < (int)i) next[last[c]] = (int)i + 1;
        last[c] = (int)i;
    }
    bool memory = ok;
    for (size_t i = 0; ok && i < n; i++) ok = x->cluster[i] != (int)i || draw(x, (int)i, next, row);
    free(row);
    free(next);
    return memory ? ok : lgv_yaml_memory(x->l);
}

bool lgv_load_maxwellian(struct lgv_loader *l, bool velocities, int langevin) {
    struct lgv_model *m = l->m;
    size_t first = 0, n = m->np;
    while (first < n && !l->maxwellian[first]) first++;
    if (first == n || (m->start_velocity && !velocities)) return true; /* momenta follow from velocities */
    struct maxwell x = {.l = l, .g = m->graph, .n = n, .at = l->maxwellian, .kT = lgv_new(3 * n, sizeof *x.kT)};
    if (!x.kT) return lgv_yaml_memory(l);
    x.cluster = x.kT + n;
    x.linear = x.kT + 2 * n;
    x.start = velocities ? m->start_velocity : m->start + m->nx;
    x.name = velocities ? m->velocity_name : m->component + m->nx;
    m->maxwellian = true;
    bool ok = temperatures(&x, langevin) && quadratic_form(&x, velocities, x.at[first]) && draw_all(&x);
    free(x.kT);
    free(x.A.cell);
    if (m->graph->failed) return lgv_yaml_fail(l, x.at[first], "%s", m->graph->failed);
    return ok;
}
