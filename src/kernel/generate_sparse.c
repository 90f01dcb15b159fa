/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sparse matrices of the face: a map from the instances of scatter terms, in the order of the text, to their places;
 * and the second derivatives of K, or of a discrete Lagrangian, for Newton's method on many degrees of freedom.
 *
 *     model_stiffness(c, t, q, p, Hq, B, W)                       of methods for stiff potentials, dense or sparse;
 *                                                                 where forces are apart Hq is that of the stiff part
 *     model_K2_sparse(c, t, q, p, a, w, Kq, Kp, Kqq, Kpp)         as model_K2; Kqq, Kpp: entries by rows and columns
 *     model_K2, model_L2 with MODEL_PATTERN                       all with the entries of one pattern: pattern.h */
#include "kernel/generate.h"
#include "kernel/sparse.h"
#include <math.h>
#include <stdlib.h>

struct walk {
    const struct lgv_graph *g;
    const struct lgv_terms *terms;
    int nest;
    struct lgv_place *place;
    size_t count, capacity;
    bool failed;
};

static bool visit(void *user, const long *vars) {
    struct walk *w = user;
    for (size_t i = 0; i < w->terms->count && !w->failed; i++) {
        const struct lgv_term *t = &w->terms->term[i];
        if (t->nest != w->nest) continue;
        if (!lgv_grow(&w->place, &w->capacity, w->count + 1, sizeof *w->place)) {
            w->failed = true;
            return false;
        }
        w->place[w->count++] =
            (struct lgv_place){(int)lgv_loops_index(w->g, t->row, vars), (int)lgv_loops_index(w->g, t->col, vars)};
    }
    return true;
}

/* All instances of the terms in the order in which lgv_emit_targets writes them. */
static bool instances(struct lgv_source *s, const struct lgv_terms *terms, struct walk *w) {
    long none[LGV_MAX_LOOPS] = {0};
    *w = (struct walk){.g = s->g, .terms = terms, .nest = -1};
    visit(w, none);
    for (w->nest = 0; w->nest < (int)s->g->nnests && !w->failed; w->nest++) {
        bool used = false;
        for (size_t i = 0; i < terms->count; i++) used |= terms->term[i].nest == w->nest;
        if (used && lgv_loops_each(s->g, w->nest, LGV_MAX_INSTANCES, visit, w) < 0) w->failed = true;
    }
    return !w->failed;
}

/* Rows of the terms are `down` below their place. */
static bool map_below(struct lgv_source *s, const char *name, const struct lgv_terms *terms,
                      const struct lgv_place *place, size_t count, int down) {
    struct walk w;
    bool ok = instances(s, terms, &w);
    if (ok) lgv_text_add(&s->out, "static const int %s[] = {", name);
    for (size_t i = 0; ok && i < w.count; i++) {
        w.place[i].row += down;
        const struct lgv_place *at = bsearch(&w.place[i], place, count, sizeof *place, lgv_place_order);
        if (at) lgv_text_add(&s->out, i % 20 ? "%d," : "\n%d,", (int)(at - place));
        ok = at != NULL;
    }
    if (ok) lgv_text_add(&s->out, "0};\n");
    free(w.place);
    return ok;
}

bool lgv_generate_map(struct lgv_source *s, const char *name, const struct lgv_terms *terms,
                      const struct lgv_place *place, size_t count) {
    return map_below(s, name, terms, place, count, 0);
}

/* ---- Newton's method ---- */

/* Factors with more than this part of all entries are as well dense. */
#define SPARSE_ENOUGH 0.25

struct lgv_newton {
    struct lgv_sparse plan;
    struct lgv_terms hessian[5]; /* K_qq, K_pp; of a pattern K_qq, K_qp, K_pp, and with a border S_qq and G */
    struct lgv_place *place[2];
    long count[2];
};

void lgv_generate_newton_free(struct lgv_newton *n) {
    if (!n) return;
    lgv_sparse_free(&n->plan);
    for (int k = 0; k < 5; k++) lgv_terms_free(&n->hessian[k]);
    for (int k = 0; k < 2; k++) free(n->place[k]);
    free(n);
}

struct lgv_newton *lgv_generate_newton_plan(struct lgv_source *s, const struct lgv_function *const f[2],
                                            unsigned sets) {
    struct lgv_newton *n = lgv_new(1, sizeof *n);
    struct lgv_error ignore;
    if (!n) return NULL;
    bool ok = true;
    for (int k = 0; k < 2 && ok; k++) {
        lgv_terms_hessian(s->g, f[k], k ? LGV_P : LGV_Q, k ? LGV_P : LGV_Q, &n->hessian[k]);
        n->count[k] = s->g->failed ? -1 : lgv_terms_pattern(s->g, &n->hessian[k], LGV_MAX_INSTANCES, &n->place[k]);
        ok = n->count[k] >= 0 && n->count[k] <= LGV_SPARSE_LARGEST;
    }
    ok = ok && lgv_sparse_make_tiles(&n->plan, (int)s->m->np, (int)sets, n->place[0], n->count[0], n->place[1],
                                      n->count[1], &ignore) == LGV_OK;
    if (ok && n->plan.na <= SPARSE_ENOUGH * (double)n->plan.nc * n->plan.nc) return n;
    lgv_generate_newton_free(n);
    return NULL;
}

/* Newton's method takes about four matrices, each of which takes as long as six rounds without any, and its factors.
 * An error that falls by the result a round is round-off after as many rounds. */
double lgv_generate_patience(double operations, double unknowns) {
    const double matrices = 4, rounds = 6, work = 8, digits = 36; /* operations of a round and unknown; ln 1e16 */
    return exp(-digits / (matrices * (rounds + operations / (work * unknowns))));
}

static const char *const map[] = {"hessian_q_map", "hessian_p_map"};

void lgv_face_before_newton(struct lgv_source *s) {
    const struct lgv_newton *n = s->newton;
    bool ok = lgv_sparse_emit(&n->plan, &s->out);
    lgv_text_add(&s->out, "#define SPARSE_PATIENCE %.3g\n",
                 lgv_generate_patience(lgv_sparse_operations(&n->plan), n->plan.nc));
    for (int k = 0; k < 2 && ok; k++)
        ok = lgv_generate_map(s, map[k], &n->hessian[k], n->place[k], (size_t)n->count[k]);
    if (!ok) s->out.failed = true;
}

void lgv_face_newton(struct lgv_source *s) {
    const struct lgv_newton *n = s->newton;
    struct lgv_terms gradient[2] = {0};
    lgv_terms_gradient(s->g, &s->K, LGV_Q, &gradient[0]);
    lgv_terms_gradient(s->g, &s->K, LGV_P, &gradient[1]);
    struct lgv_target target[] = {{"Kq", &gradient[0], (long)s->m->np, NULL, true, NULL, false},
                                  {"Kp", &gradient[1], (long)s->m->np, NULL, true, NULL, false},
                                  {"Kqq", &n->hessian[0], n->count[0], NULL, true, map[0], false},
                                  {"Kpp", &n->hessian[1], n->count[1], NULL, true, map[1], false}};
    lgv_emit_targets(&s->out, s->g, target, 4);
    lgv_terms_free(&gradient[0]);
    lgv_terms_free(&gradient[1]);
}

/* ---- any implicit stages ---- */

/* Adds places and those across the diagonal. */
static bool add_places(const struct lgv_place *place, long count, struct lgv_place **all, size_t *n) {
    size_t capacity = *n;
    if (count < 0 || count > LGV_SPARSE_LARGEST ||
        !lgv_grow(all, &capacity, *n + 2 * (size_t)count + 1, sizeof **all))
        return false;
    for (long i = 0; i < count; i++) {
        (*all)[(*n)++] = place[i];
        (*all)[(*n)++] = (struct lgv_place){place[i].col, place[i].row};
    }
    return true;
}

static long sort_places(struct lgv_place *place, size_t count) {
    size_t unique = 0;
    qsort(place, count, sizeof *place, lgv_place_order);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || lgv_place_order(&place[i], &place[unique - 1]) != 0) place[unique++] = place[i];
    return (long)unique;
}

/* Adds the places of terms, rows `down` below. */
static bool add_terms(struct lgv_source *s, struct lgv_newton *n, int k, int down, size_t *count) {
    struct lgv_place *part = NULL;
    long entries = s->g->failed ? -1 : lgv_terms_pattern(s->g, &n->hessian[k], LGV_MAX_INSTANCES, &part);
    for (long i = 0; i < entries; i++) part[i].row += down;
    bool ok = add_places(part, entries, &n->place[0], count);
    free(part);
    return ok;
}

/* S: the sum of the constraints that are its border, or NULL. */
static struct lgv_newton *pattern_plan(struct lgv_source *s, const struct lgv_function *f, enum lgv_space other,
                                       const struct lgv_function *S) {
    struct lgv_newton *n = lgv_new(1, sizeof *n);
    struct lgv_error ignore;
    const int np = (int)s->m->np, nodes = np + (S ? (int)s->m->nconstraints : 0);
    struct lgv_place *one = lgv_new((size_t)nodes, sizeof *one);
    size_t count = 0;
    bool ok = n && one;
    for (int k = 0; k < 5 && ok; k++) {
        if (k > 2 && !S) break;
        enum lgv_space row = k == 4 ? LGV_LAMBDA : k == 2 ? other : LGV_Q, col = k == 1 || k == 2 ? other : LGV_Q;
        lgv_terms_hessian(s->g, k > 2 ? S : f, row, col, &n->hessian[k]);
        ok = add_terms(s, n, k, k == 4 ? np : 0, &count);
    }
    for (int i = 0; one && i < nodes; i++) one[i] = (struct lgv_place){i, i};
    ok = ok && add_places(one, nodes, &n->place[0], &count);
    free(one);
    if (ok) n->count[0] = sort_places(n->place[0], count);
    ok = ok && lgv_sparse_make_pattern(&n->plan, nodes, np, n->place[0], n->count[0], &ignore) == LGV_OK;
    if (ok && n->plan.na <= SPARSE_ENOUGH * (double)n->plan.nc * n->plan.nc) return n;
    lgv_generate_newton_free(n);
    return NULL;
}

struct lgv_newton *lgv_generate_pattern_plan(struct lgv_source *s, const struct lgv_function *f, enum lgv_space other) {
    return pattern_plan(s, f, other, NULL);
}

struct lgv_newton *lgv_generate_border_plan(struct lgv_source *s) {
    struct lgv_function L = {0}, S = {0};
    struct lgv_newton *n = NULL;
    if (lgv_model_increment_lagrangian(s->m, &L) && (!s->m->nconstraints || lgv_model_constraint_sum(s->m, &S)))
        n = pattern_plan(s, &L, LGV_V, s->m->nconstraints ? &S : NULL);
    lgv_function_free(&L);
    lgv_function_free(&S);
    return n;
}

static const char *const pattern_map[] = {"second_qq_map", "second_qp_map", "second_pp_map", "bend_map", "border_map"};

/* Entries of the pattern before those of the border. */
static long before_border(const struct lgv_source *s) {
    return s->pattern->plan.g_row[s->m->np];
}

void lgv_face_before_pattern(struct lgv_source *s) {
    const struct lgv_newton *n = s->pattern;
    bool ok = !n || lgv_sparse_emit_pattern(&n->plan, &s->out);
    if (n) lgv_text_add(&s->out, "#define PATTERN_BORDER %ldL\n", before_border(s));
    for (int k = 0; n && k < 5 && ok; k++) {
        const long from = k == 4 ? before_border(s) : 0;
        if (k < 3 || n->hessian[4].count)
            ok = map_below(s, pattern_map[k], &n->hessian[k], n->place[0] + from, (size_t)(n->count[0] - from),
                           k == 4 ? (int)s->m->np : 0);
    }
    if (!ok) s->out.failed = true;
}

void lgv_face_border(struct lgv_source *s) {
    struct lgv_target target = {"G",  &s->pattern->hessian[4], s->pattern->count[0] - before_border(s), NULL, false,
                                pattern_map[4], false};
    lgv_emit_targets(&s->out, s->g, &target, 1);
}

void lgv_face_pattern_bend(struct lgv_source *s) {
    struct lgv_target target = {"Sqq", &s->pattern->hessian[3], s->pattern->count[0], NULL, false, pattern_map[3],
                                false};
    lgv_emit_targets(&s->out, s->g, &target, 1);
}

void lgv_face_pattern(struct lgv_source *s, const struct lgv_function *f, enum lgv_space other,
                      const char *const *name) {
    struct lgv_terms gradient[2] = {0};
    struct lgv_target target[5];
    lgv_terms_gradient(s->g, f, LGV_Q, &gradient[0]);
    lgv_terms_gradient(s->g, f, other, &gradient[1]);
    for (int k = 0; k < 2; k++)
        target[k] = (struct lgv_target){name[k], &gradient[k], (long)s->m->np, NULL, true, NULL, false};
    for (int k = 0; k < 3; k++)
        target[2 + k] = (struct lgv_target){name[2 + k],    &s->pattern->hessian[k], s->pattern->count[0], NULL, true,
                                            pattern_map[k], false};
    lgv_emit_targets(&s->out, s->g, target, 5);
    lgv_terms_free(&gradient[0]);
    lgv_terms_free(&gradient[1]);
}

/* ---- methods for stiff potentials ---- */

void lgv_face_before_stiffness(struct lgv_source *s) {
    if (s->newton) lgv_face_before_newton(s);
}

void lgv_face_stiffness(struct lgv_source *s) {
    long n = (long)s->m->np;
    struct lgv_terms own[2] = {0};
    const struct lgv_terms *B = s->newton ? &s->newton->hessian[0] : &own[0];
    const struct lgv_terms *W = s->newton ? &s->newton->hessian[1] : &own[1];
    if (!s->newton) {
        lgv_terms_hessian(s->g, &s->V, LGV_Q, LGV_Q, &own[0]);
        lgv_terms_hessian(s->g, &s->H, LGV_P, LGV_P, &own[1]);
    }
    struct lgv_target target[] = {{"Hq", s->face & LGV_FACE_APART ? &s->Vq : &s->Hq, n, NULL, true, NULL, false},
                                  {"B", B, n * n, "NP", true, NULL, false},
                                  {"W", W, n * n, "NP", true, NULL, false}};
    for (int k = 0; s->newton && k < 2; k++) {
        target[1 + k].rows = s->newton->count[k];
        target[1 + k].cols = NULL;
        target[1 + k].map = map[k];
    }
    lgv_emit_targets(&s->out, s->g, target, 3);
    lgv_terms_free(&own[0]);
    lgv_terms_free(&own[1]);
}

void lgv_face_stiff(struct lgv_source *s) {
    lgv_face_one(s, "Vq", &s->Vq, (long)s->m->np, NULL);
}

/* ---- discrete Lagrangians ---- */

/* Their matrix D_2 D_1 S has the pattern of 1 + M H with M = 1 and H itself. */
struct lgv_newton *lgv_generate_action_plan(struct lgv_source *s) {
    struct lgv_newton *n = lgv_new(1, sizeof *n);
    struct lgv_place *one = lgv_new(s->m->np, sizeof *one);
    struct lgv_function S = {0};
    struct lgv_error ignore;
    bool ok = n && one && lgv_model_discrete_action(s->m, s->discrete, false, &S);
    if (ok) lgv_terms_hessian(s->g, &S, LGV_BEFORE, LGV_AFTER, &n->hessian[0]);
    if (ok) n->count[0] = lgv_terms_pattern(s->g, &n->hessian[0], LGV_MAX_INSTANCES, &n->place[0]);
    for (size_t i = 0; one && i < s->m->np; i++) one[i] = (struct lgv_place){(int)i, (int)i};
    ok = ok && !s->g->failed && n->count[0] >= 0 && n->count[0] <= LGV_SPARSE_LARGEST &&
         lgv_sparse_make_tiles(&n->plan, (int)s->m->np, 1, n->place[0], n->count[0], one, (long)s->m->np, &ignore) ==
             LGV_OK;
    lgv_function_free(&S);
    free(one);
    if (ok && n->plan.na <= SPARSE_ENOUGH * (double)n->plan.nc * n->plan.nc) return n;
    lgv_generate_newton_free(n);
    return NULL;
}

void lgv_face_before_action(struct lgv_source *s) {
    const struct lgv_newton *n = s->action;
    lgv_text_add(&s->out, "#define ACTION_SPARSE %d\n#define ACTION_ENTRIES %ldL\n", n != NULL, n ? n->count[0] : 0);
    if (n && !(lgv_sparse_emit(&n->plan, &s->out) &&
               lgv_generate_map(s, "action_map", &n->hessian[0], n->place[0], (size_t)n->count[0])))
        s->out.failed = true;
}

/* The derivatives of the action of a step by its beginning, by its end, their sum, and by both. */
void lgv_face_action(struct lgv_source *s) {
    static const char *const name[] = {"S0", "S1", "both", "S01"};
    const struct lgv_newton *sparse = s->action;
    struct lgv_terms t[4] = {0};
    struct lgv_target target[4];
    struct lgv_function S;
    const long n = (long)s->m->np;
    if (!lgv_model_discrete_action(s->m, s->discrete, false, &S)) {
        s->out.failed = true;
        return;
    }
    lgv_terms_gradient(s->g, &S, LGV_BEFORE, &t[0]);
    lgv_terms_gradient(s->g, &S, LGV_AFTER, &t[1]);
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < t[k].count; i++) lgv_terms_add(s->g, &t[2], t[k].term[i]);
    lgv_terms_merge(s->g, &t[2]);
    if (!sparse) lgv_terms_hessian(s->g, &S, LGV_BEFORE, LGV_AFTER, &t[3]);
    for (size_t k = 0; k < 3; k++) target[k] = (struct lgv_target){name[k], &t[k], n, NULL, true, NULL, false};
    target[3] = sparse ? (struct lgv_target){name[3], &sparse->hessian[0], sparse->count[0], NULL, true, "action_map",
                                             false}
                       : (struct lgv_target){name[3], &t[3], n * n, "NP", true, NULL, false};
    lgv_emit_targets(&s->out, s->g, target, 4);
    for (size_t k = 0; k < 4; k++) lgv_terms_free(&t[k]);
    lgv_function_free(&S);
}
