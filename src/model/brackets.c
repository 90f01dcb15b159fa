/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Brackets of H and the noises: those that methods give weights of their own (kernel/text/brackets.h), and whether the
 * noises commute: grad {h_i, h_j} = 0 for all pairs, {f, g} = f_q . g_p - f_p . g_q, with rotations also
 * - m.(f_m x g_m) (rotations.c): noises m_x and m_y of a body do not. */
#include "model/brackets.h"
#include <math.h>
#include <stdlib.h>

#define MAX_PAIRS 2000
#define MAX_NOISES 4000 /* whose pairs are looked through for those that have a degree of freedom in common */
#define MAX_LEAVES 10000 /* coordinates and momenta in two noises: their bracket is written out */
#define WORK 200000000L /* steps on the graph for all pairs: about two seconds */
#define STATE (LGV_USES(LGV_Q) | LGV_USES(LGV_P))

/* ---- gradients ---- */

/* After a failure there is nothing to free. */
bool lgv_gradients_of(struct lgv_model *m, int node, struct lgv_gradients *out) {
    struct lgv_function f;
    *out = (struct lgv_gradients){0};
    if (!lgv_function_split(m->graph, node, false, &f)) return false;
    lgv_terms_gradient(m->graph, &f, LGV_Q, &out->q);
    out->velocities = (m->graph->node[node].uses & LGV_USES(LGV_V)) != 0;
    lgv_terms_gradient(m->graph, &f, out->velocities ? LGV_V : LGV_P, &out->p);
    lgv_function_free(&f);
    if (!m->graph->failed) return true;
    lgv_gradients_free(out);
    return false;
}

void lgv_gradients_free(struct lgv_gradients *g) {
    lgv_terms_free(&g->q);
    lgv_terms_free(&g->p);
}

/* ---- one pair ---- */

/* size[0], size[1] += |grad node| |factor|, by magnitudes. */
static void add_sizes(struct lgv_graph *g, int node, int factor, struct lgv_terms *size) {
    size_t n = 0;
    int *leaf = lgv_diff_leaves(g, node, STATE, &n), *d = lgv_new(n + 1, sizeof *d);
    int scale = lgv_diff_magnitude(g, factor);
    if (leaf && d) lgv_diff_gradient(g, node, leaf, n, d);
    for (size_t i = 0; leaf && d && i < n && !g->failed; i++) {
        int value = lgv_expr_mul(g, lgv_diff_magnitude(g, d[i]), scale);
        const struct lgv_node at = g->node[leaf[i]];
        lgv_terms_add(g, &size[at.count == LGV_P], (struct lgv_term){-1, at.aux, -1, value});
    }
    free(leaf);
    free(d);
}

/* What the gradient of {f, h} is made of, before terms of f and h are merged: that leaves round-off of the coefficients
 * where they cancel. */
static void bracket_sizes(struct lgv_graph *g, int f, int h, struct lgv_terms *size) {
    struct lgv_halves x;
    if (lgv_halves_of(g, f, h, &x))
        for (size_t i = 0; i < x.count && !g->failed; i++) {
            add_sizes(g, x.df[i], x.dh[i], size);
            add_sizes(g, x.dh[i], x.df[i], size);
        }
    lgv_halves_free(&x);
}

/* With rotations: derivatives are directional ones, and what they are made of is their own terms. */
static void gradient_sizes(struct lgv_graph *g, const struct lgv_terms *d, struct lgv_terms *size) {
    for (int part = 0; part < 2; part++)
        for (size_t i = 0; i < d[part].count && !g->failed; i++) {
            struct lgv_term t = d[part].term[i];
            t.value = lgv_diff_magnitude(g, t.value);
            lgv_terms_add(g, &size[part], t);
        }
}

/* Every value at most round-off of its size?  -1 when one is not a number. */
static int all_zero(const double *value, const double *size, size_t n) {
    int zero = 1;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(value[i]) || !isfinite(size[i])) return -1;
        if (fabs(value[i]) > LGV_ROUND_OFF * size[i]) zero = 0;
    }
    return zero;
}

/* Does the gradient vanish at random points?  1 yes, 0 no, -1 there are not enough points where it can be evaluated. */
static int vanishes(struct lgv_model *m, const struct lgv_terms *d, const struct lgv_terms *size, int points,
                    int *seen) {
    struct lgv_evaluator e;
    size_t n = m->np;
    double *x = lgv_new(4 * n, sizeof *x);
    int answer = -1, count = 0;
    if (x && lgv_eval_begin(&e, m->graph)) {
        for (int k = 0; k < points && answer != 0; k++) {
            struct lgv_point at;
            if (!lgv_point_make(m, &e, k, points, &at)) break;
            struct lgv_env env = lgv_point_env(m, &at);
            for (size_t part = 0; part < 2; part++) {
                lgv_eval_terms(&e, &d[part], &env, x + part * n, n, 1);
                lgv_eval_terms(&e, &size[part], &env, x + (2 + part) * n, n, 1);
            }
            int zero = all_zero(x, x + 2 * n, 2 * n);
            if (zero >= 0) count++;
            if (zero == 0 || (zero == 1 && count >= LGV_FEWEST_POINTS)) answer = zero;
            free(at.x);
        }
        lgv_eval_end(&e);
    }
    free(x);
    *seen = count;
    return answer;
}

struct verdict {
    int answer; /* as lgv_structure.commutes */
    int decided, points;
};

static struct verdict examine_pair(struct lgv_model *m, int f, int h) {
    struct lgv_graph *g = m->graph;
    const struct verdict formulas = {1, LGV_DECIDED_FORMULAS, 0}, kinks = {-1, LGV_DECIDED_KINKS, 0};
    if (lgv_expr_is_const(g, lgv_expr_div(g, f, h), NULL)) return formulas; /* multiples of one function */
    if (lgv_diff_uses(g, f, LGV_KINKS, STATE) || lgv_diff_uses(g, h, LGV_KINKS, STATE)) return kinks;
    int node = lgv_algebra_bracket(g, f, h);
    struct lgv_gradients d = {0};
    struct lgv_terms size[2] = {0};
    struct verdict v = formulas;
    if ((g->node[node].uses & STATE) && lgv_gradients_of(m, node, &d) && d.q.count + d.p.count) {
        bool time = (g->node[node].uses & LGV_USES_TIME) != 0;
        struct lgv_terms part[2] = {d.q, d.p};
        if (g->nrotations)
            gradient_sizes(g, part, size);
        else
            bracket_sizes(g, f, h, size);
        v.answer = vanishes(m, part, size, time ? LGV_TIMED_POINTS : LGV_POINTS, &v.points);
        v.decided = v.answer < 0 ? LGV_DECIDED_UNDEFINED : LGV_DECIDED_POINTS;
        if (v.answer == 1 && lgv_diff_uses(g, node, LGV_KINKS, LGV_USES_TIME)) v = kinks;
    }
    lgv_gradients_free(&d);
    lgv_terms_free(&size[0]);
    lgv_terms_free(&size[1]);
    return v;
}

/* What a verdict weighs among those on all pairs: a no settles it, then what is not known, then the weaker proof. */
static int weight(struct verdict v) {
    return v.answer == 0 ? 3 : v.answer < 0 ? 2 : v.decided == LGV_DECIDED_POINTS;
}

static size_t leaves(struct lgv_graph *g, int node) {
    size_t n = 0;
    free(lgv_diff_leaves(g, node, STATE, &n));
    return n;
}

/* The degrees of freedom of noises: those of noise i are row[first[i]] .. row[first[i + 1] - 1]. */
struct parts {
    size_t *first, *row, *stamp, capacity;
};

static void parts_free(struct parts *x) {
    free(x->first);
    free(x->row);
    free(x->stamp);
}

static bool parts_of(struct lgv_model *m, const int *h, struct parts *out) {
    *out = (struct parts){.first = lgv_new(m->nnoise + 1, sizeof *out->first),
                          .stamp = lgv_new(m->np + 1, sizeof *out->stamp)};
    bool ok = out->first && out->stamp;
    for (size_t i = 0, count = 0; ok && i < m->nnoise; i++) {
        size_t n = 0;
        int *leaf = lgv_diff_leaves(m->graph, h[i], STATE, &n);
        ok = leaf && lgv_grow(&out->row, &out->capacity, count + n + 1, sizeof *out->row);
        for (size_t k = 0; ok && k < n; k++) {
            long row = lgv_loops_index(m->graph, m->graph->node[leaf[k]].aux, NULL);
            ok = row >= 0 && (size_t)row < m->np;
            out->row[count++] = ok ? (size_t)row : 0;
        }
        out->first[i + 1] = count;
        free(leaf);
    }
    if (!ok) parts_free(out);
    return ok;
}

static void parts_stamp(struct parts *x, size_t i) {
    for (size_t k = x->first[i]; k < x->first[i + 1]; k++) x->stamp[x->row[k]] = i + 1;
}

/* Has noise j one in common with noise i, which was stamped last? */
static bool parts_meet(const struct parts *x, size_t i, size_t j) {
    for (size_t k = x->first[j]; k < x->first[j + 1]; k++)
        if (x->stamp[x->row[k]] == i + 1) return true;
    return false;
}

/* parts NULL: all pairs are looked at; else those that have a degree of freedom in common, the others commute. */
static struct verdict examine_pairs(struct lgv_model *m, const int *h, struct parts *parts) {
    struct verdict all = {1, LGV_DECIDED_FORMULAS, 0}, size = {-1, LGV_DECIDED_SIZE, 0};
    long end = m->graph->work + WORK, met = 0;
    for (size_t i = 0; i < m->nnoise; i++) {
        if (parts) parts_stamp(parts, i);
        for (size_t j = i + 1; j < m->nnoise; j++) {
            if (parts && !parts_meet(parts, i, j)) continue;
            if (leaves(m->graph, h[i]) + leaves(m->graph, h[j]) > MAX_LEAVES || ++met > MAX_PAIRS) return size;
            struct verdict v = examine_pair(m, h[i], h[j]);
            if (weight(v) > weight(all) || (weight(v) == weight(all) && v.points < all.points)) all = v;
            if (all.answer == 0) return all;
            if (m->graph->failed || m->graph->work > end) return size;
        }
    }
    return all;
}

/* Many noises are written out where each of them is small: a member of a family without sums. */
static bool small_each(const struct lgv_model *m) {
    bool small = m->nnoise <= MAX_NOISES && !m->graph->nrotations;
    for (size_t e = 0; small && e < m->nentries; e++)
        small = !(m->graph->node[m->noise[e].body].uses & (LGV_USES_LOOP | LGV_USES(LGV_V)));
    return small;
}

static struct verdict examine_noises(struct lgv_model *m) {
    const bool many = m->nnoise * (m->nnoise - 1) / 2 > MAX_PAIRS;
    struct verdict v = {-1, LGV_DECIDED_SIZE, 0};
    struct parts parts;
    int *h = many && !small_each(m) ? NULL : lgv_model_noises(m);
    if (h && !many) {
        v = examine_pairs(m, h, NULL);
    } else if (h && !m->graph->failed && parts_of(m, h, &parts)) {
        v = examine_pairs(m, h, &parts);
        parts_free(&parts);
    }
    free(h);
    return v;
}

void lgv_brackets_commute(struct lgv_model *m, struct lgv_structure *s) {
    struct verdict v = {1, m->nnoise > 1 ? LGV_DECIDED_FORMULAS : LGV_DECIDED_TRIVIALLY, 0};
    if (s->bath && s->noise_turns) { /* the bracket of a kick of p and the flow of h is that of h_p */
        v = (struct verdict){0, LGV_DECIDED_FORMULAS, 0};
    } else if (m->nnoise > 1 && !s->additive &&
               (s->noise_depends == LGV_ON_BOTH || (m->graph->nrotations && (s->noise_depends & LGV_ON_P)))) {
        v = examine_noises(m);
    }
    s->commutes = v.answer;
    s->commutes_decided = v.decided;
    s->commutes_points = v.points;
    s->from = m->from;
    s->until = m->until;
}

/* ---- brackets with weights ---- */

static void add_bracket(struct lgv_graph *g, struct lgv_bracket_list *list, struct lgv_bracket b) {
    if (!(g->node[b.node].uses & STATE)) return; /* it moves nothing */
    if (!lgv_grow(&list->item, &list->capacity, list->count + 1, sizeof *list->item))
        g->failed = g->failed ? g->failed : "out of memory";
    else
        list->item[list->count++] = b;
}

/* By Jacobi's identity {h_i, {h_j, H}} is symmetric in i and j where {h_i, h_j} is constant. */
static void add_magnus(struct lgv_model *m, const int *h, size_t i, struct lgv_bracket_list *list) {
    struct lgv_graph *g = m->graph;
    int H = lgv_loops_instance(g, m->hamiltonian, NULL, 0), t = lgv_expr_time(g);
    int turn = lgv_expr_add(g, lgv_algebra_bracket(g, h[i], H), lgv_diff_one(g, h[i], t));
    add_bracket(g, list, (struct lgv_bracket){LGV_BRACKET_DRIFT, i, i, lgv_expr_scale(g, -1, turn)});
    for (size_t j = 0; j <= i && !g->failed; j++)
        add_bracket(g, list, (struct lgv_bracket){LGV_BRACKET_DOUBLE, j, i, lgv_algebra_bracket(g, h[j], turn)});
}

bool lgv_model_brackets(struct lgv_model *m, enum lgv_brackets which, struct lgv_bracket_list *out) {
    struct lgv_graph *g = m->graph;
    int *h = lgv_model_noises(m);
    *out = (struct lgv_bracket_list){0};
    for (size_t i = 0; h && i < m->nnoise && !g->failed; i++) {
        if (which != LGV_BRACKETS_AREAS) add_magnus(m, h, i, out);
        for (size_t j = i + 1; which == LGV_BRACKETS_AREAS && j < m->nnoise && !g->failed; j++)
            if (examine_pair(m, h[i], h[j]).answer != 1)
                add_bracket(g, out, (struct lgv_bracket){LGV_BRACKET_AREA, i, j, lgv_algebra_bracket(g, h[i], h[j])});
    }
    free(h);
    if (!g->failed) return true;
    free(out->item);
    *out = (struct lgv_bracket_list){0};
    return false;
}

void lgv_structure_commutes(const struct lgv_structure *s, size_t nnoise, char *out, size_t size) {
    char when[60] = "", where[120];
    if (s->time_dependent) snprintf(when, sizeof when, ", t from %g to %g", s->from, s->until);
    snprintf(where, sizeof where, "%d random points near the start%s", s->commutes_points, when);
    if (s->bath && s->noise_turns)
        snprintf(out, size, "the bath kicks the momenta, and a noise has an h_p that depends on q or p");
    else if (nnoise <= 1)
        snprintf(out, size, "there is %s%s", nnoise ? "only one noise" : s->process ? "no white noise" : "no noise",
                 !s->bath ? "" : nnoise ? " beside that of the bath, and they commute" : " but that of the bath");
    else if (s->commutes_decided == LGV_DECIDED_KINKS)
        snprintf(out, size, "not decided: a noise uses abs, sign, floor, mod, min or max, which bend or jump");
    else if (s->commutes_decided == LGV_DECIDED_UNDEFINED)
        snprintf(out, size, "not decided: the brackets {h_i, h_j} can be evaluated at no more than %s", where);
    else if (s->commutes_decided == LGV_DECIDED_SIZE)
        snprintf(out, size, "not decided: there are too many brackets {h_i, h_j}, or they are too large");
    else if (s->commutes < 0)
        snprintf(out, size, "not decided: the noises are given as C functions");
    else if (s->commutes_decided == LGV_DECIDED_POINTS && s->commutes)
        snprintf(out, size, "every bracket {h_i, h_j} is constant to %g of its terms at %s", LGV_ROUND_OFF, where);
    else if (s->commutes_decided == LGV_DECIDED_POINTS)
        snprintf(out, size, "a bracket {h_i, h_j} varies by more than %g of its terms at a random point%s",
                 LGV_ROUND_OFF, when);
    else
        snprintf(out, size, "decided from the formulas");
}
