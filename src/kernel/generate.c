/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The C text of a kernel: prelude, the face of this model, the step of this method, the time loop.
 *
 * With K = a H + sum_m w_m h_m the face functions are scatter terms of K's derivatives.  model_force keeps H_q and the
 * entries of h_m,q apart, so that an explicit method evaluates the force once and applies different weights to it. */
#include "kernel/compile.h"
#include "kernel/embedded.h"
#include "kernel/generate.h"
#include <stdlib.h>
#include <string.h>

static const char *embedded_text(const char *name, size_t size) {
    for (size_t i = 0; i < lgv_embedded_count; i++)
        if (strlen(lgv_embedded[i].name) == size && strncmp(lgv_embedded[i].name, name, size) == 0)
            return lgv_embedded[i].text;
    return NULL;
}

/* Texts without their include lines, which belong to the library build, but for those of other embedded texts. */
static void embed(struct lgv_text *out, const char *text) {
    static const char include[] = "#include \"kernel/text/";
    if (!text) out->failed = true;
    for (const char *line = text; line && *line;) {
        const char *end = strchr(line, '\n'), *name = line + strlen(include);
        size_t size = end ? (size_t)(end - line) + 1 : strlen(line);
        bool ours = strncmp(line, include, strlen(include)) == 0;
        const char *part = ours ? embedded_text(name, strcspn(name, "\"\n")) : NULL;
        if (part)
            embed(out, part);
        else if (strncmp(line, "#include", 8) != 0)
            lgv_text_append(out, line, size);
        line += size;
    }
}

static void embed_file(struct lgv_text *out, const char *name) {
    embed(out, embedded_text(name, strlen(name)));
}

static bool add_slot(struct lgv_source *s, struct lgv_term term, int weight) {
    struct lgv_slots *l = &s->slots;
    if (!lgv_grow(&l->term, &l->capacity, l->count + 1, sizeof *l->term) ||
        !lgv_grow(&l->weight, &l->weight_capacity, l->count + 1, sizeof *l->weight))
        return false;
    l->weight[l->count] = weight;
    l->term[l->count++] = term;
    l->total += term.nest < 0 ? 1 : lgv_loops_count(s->g, term.nest, LGV_MAX_INSTANCES);
    return true;
}

/* K_q is linear in the weights: its coefficient of a gives H_q, those of the w_m the entries of h_m,q. */
static bool find_slots(struct lgv_source *s) {
    struct lgv_terms Kq = {0};
    bool ok = true;
    lgv_terms_gradient(s->g, &s->K, LGV_Q, &Kq);
    for (size_t i = 0; ok && i < Kq.count; i++) {
        struct lgv_term t = Kq.term[i];
        size_t count;
        int *leaf = lgv_diff_leaves(s->g, t.value, LGV_USES(LGV_WEIGHTS), &count);
        for (size_t k = 0; ok && leaf && k < count; k++) {
            int weight = s->g->node[leaf[k]].aux;
            t.value = lgv_expr_unit(s->g, Kq.term[i].value, LGV_WEIGHTS, leaf[k]);
            if (s->g->inode[weight].op == LGV_ICONST && s->g->inode[weight].value == 0)
                lgv_terms_add(s->g, &s->Hq, t);
            else
                ok = add_slot(s, t, weight);
        }
        free(leaf);
    }
    lgv_terms_free(&Kq);
    return ok && !s->g->failed;
}

/* Counted is what makes forces. */
void lgv_generate_signature(struct lgv_source *s, const char *text) {
    const char *count = strncmp(text, "model_K", 7) == 0   ? "    c->evaluations += Kq != 0;\n"
                        : strncmp(text, "model_L", 7) == 0 ? "    c->evaluations += Lq != 0;\n"
                        : strncmp(text, "model_f", 7) == 0 || strncmp(text, "model_t", 7) == 0
                            ? "    c->evaluations++;\n"
                            : "";
    lgv_text_add(&s->out, "\nINLINE void %s {\n    const double *par = c->par;\n    (void)par;\n%s", text, count);
}

void lgv_generate_absent(struct lgv_source *s) {
    lgv_text_add(&s->out, "    __builtin_unreachable();\n}\n");
}

/* p -= w h for entry i of the noises, up to the number of h. */
static void kick_by(struct lgv_source *s, size_t i) {
    lgv_text_add(&s->out, "    ADD_PRODUCT(p[");
    lgv_emit_index(&s->out, s->g, s->slots.term[i].row);
    lgv_text_add(&s->out, "], -w[-1 + ");
    lgv_emit_index(&s->out, s->g, s->slots.weight[i]);
    lgv_text_add(&s->out, "], F->h[");
}

/* Instances of one nest walk through consecutive places of F->h, all terms of an instance side by side. */
static void noise_loops(struct lgv_source *s, bool kick) {
    struct lgv_slots *l = &s->slots;
    long base = 0;
    for (size_t i = 0; i < l->count; i++) base += l->term[i].nest < 0;
    for (int nest = 0; nest < (int)s->g->nnests; nest++) {
        int *list = lgv_new(l->count + 1, sizeof *list);
        size_t n = 0;
        if (!list) {
            s->out.failed = true;
            return;
        }
        for (size_t i = 0; i < l->count; i++)
            if (l->term[i].nest == nest) list[n++] = l->term[i].value;
        if (n) {
            lgv_text_add(&s->out, "    {\n    long s = %ld;\n", base);
            int braces = lgv_emit_loops(&s->out, s->g, nest);
            if (!kick) lgv_emit_nodes(&s->out, s->g, list, n);
            for (size_t i = 0; i < l->count; i++) {
                if (l->term[i].nest != nest) continue;
                if (kick) {
                    kick_by(s, i);
                    lgv_text_add(&s->out, "s++]);\n");
                } else {
                    lgv_text_add(&s->out, "    F->h[s++] = vec_set(0) + ");
                    lgv_emit_value(&s->out, s->g, l->term[i].value);
                    lgv_text_add(&s->out, ";\n");
                }
            }
            while (braces-- > 0) lgv_text_add(&s->out, "    }\n");
            lgv_text_add(&s->out, "    }\n");
            base += (long)n * lgv_loops_count(s->g, nest, LGV_MAX_INSTANCES);
        }
        free(list);
    }
}

static void force(struct lgv_source *s, bool wanted) {
    lgv_generate_signature(s, "model_force(struct ctx *c, double t, const vec *q, const vec *p, struct force *F)");
    if (!wanted) {
        lgv_generate_absent(s);
        return;
    }
    struct lgv_terms hq = {0};
    int slot = 0;
    for (size_t i = 0; i < s->slots.count; i++) {
        struct lgv_term t = s->slots.term[i];
        if (t.nest >= 0) continue;
        t.row = lgv_expr_iconst(s->g, slot++);
        lgv_terms_add(s->g, &hq, t);
    }
    struct lgv_target target[] = {{"F->H", &s->Hq, (long)s->m->nq, NULL, false, NULL},
                                  {"F->h", &hq, slot, NULL, false, NULL}};
    lgv_emit_targets(&s->out, s->g, target, 2);
    noise_loops(s, false);
    lgv_text_add(&s->out, "}\n");
    lgv_terms_free(&hq);
}

static void kick(struct lgv_source *s, bool wanted) {
    lgv_generate_signature(s, "model_kick(struct ctx *c, vec *p, const struct force *F, double a, const vec *w)");
    if (!wanted) {
        lgv_generate_absent(s);
        return;
    }
    lgv_text_add(&s->out, "    for (long i = 0; i < NQ; i++) ADD_PRODUCT(p[i], -a, F->H[i]);\n");
    int slot = 0;
    for (size_t i = 0; i < s->slots.count; i++) {
        if (s->slots.term[i].nest >= 0) continue;
        kick_by(s, i);
        lgv_text_add(&s->out, "%d]);\n", slot++);
    }
    noise_loops(s, true);
    lgv_text_add(&s->out, "}\n");
}

static void increment(struct lgv_source *s, bool first, bool second) {
    struct lgv_terms t[5] = {0};
    long n = (long)s->m->nq;
    lgv_terms_gradient(s->g, &s->K, LGV_Q, &t[0]);
    lgv_terms_gradient(s->g, &s->K, LGV_P, &t[1]);
    struct lgv_target target[] = {{"Kq", &t[0], n, NULL, true, NULL},
                                  {"Kp", &t[1], n, NULL, true, NULL},
                                  {"Kqq", &t[2], n * n, "NQ", true, NULL},
                                  {"Kqp", &t[3], n * n, "NQ", true, NULL},
                                  {"Kpp", &t[4], n * n, "NQ", true, NULL}};
    lgv_generate_signature(
        s, "model_K1(struct ctx *c, double t, const vec *q, const vec *p, double a, const vec *w, vec *Kq, vec *Kp)");
    if (first) lgv_emit_targets(&s->out, s->g, target, 2);
    if (first)
        lgv_text_add(&s->out, "}\n");
    else
        lgv_generate_absent(s);
    lgv_generate_signature(
        s, "model_K2(struct ctx *c, double t, const vec *q, const vec *p, double a, const vec *w, vec *Kq, vec *Kp,\n"
           "                     vec *Kqq, vec *Kqp, vec *Kpp)");
    if (second) {
        lgv_terms_hessian(s->g, &s->K, LGV_Q, LGV_Q, &t[2]);
        lgv_terms_hessian(s->g, &s->K, LGV_Q, LGV_P, &t[3]);
        lgv_terms_hessian(s->g, &s->K, LGV_P, LGV_P, &t[4]);
        lgv_emit_targets(&s->out, s->g, target, 5);
        lgv_text_add(&s->out, "}\n");
    } else {
        lgv_generate_absent(s);
    }
    for (int k = 0; k < 5; k++) lgv_terms_free(&t[k]);
}

/* Adds sum_m (Dg_m) g_m / 2 for one noise, g = (h_p, -h_q), to the rows of Cq and Cp. */
static void ito_of(struct lgv_source *s, int h, struct lgv_arg **row, size_t *count, size_t *capacity) {
    struct lgv_graph *g = s->g;
    size_t n, k;
    int *leaf = lgv_diff_leaves(g, h, LGV_USES(LGV_Q) | LGV_USES(LGV_P), &n);
    int *d = lgv_new(n + 1, sizeof *d), *second = lgv_new(n + 1, sizeof *second), *flow = lgv_new(n + 1, sizeof *flow);
    if (!leaf || !d || !second || !flow)
        g->failed = "out of memory";
    else {
        lgv_diff_gradient(g, h, leaf, n, d);
        for (size_t i = 0; i < n; i++) { /* flow[i]: how leaf i moves along g, h_p for a q and -h_q for a p */
            const struct lgv_node x = g->node[leaf[i]];
            int partner = lgv_expr_ref(g, x.count == LGV_Q ? LGV_P : LGV_Q, x.aux);
            for (k = 0; k < n && leaf[k] != partner; k++) continue;
            flow[i] = k == n ? lgv_expr_const(g, 0) : x.count == LGV_Q ? d[k] : lgv_expr_scale(g, -1, d[k]);
        }
        for (size_t i = 0; i < n && !g->failed; i++) {
            const struct lgv_node x = g->node[leaf[i]];
            lgv_diff_gradient(g, d[i], leaf, n, second);
            struct lgv_arg *arg = lgv_new(n + 1, sizeof *arg);
            if (!arg) break;
            for (k = 0; k < n; k++) arg[k] = (struct lgv_arg){lgv_expr_mul(g, second[k], flow[k]), 1};
            int value = lgv_expr_sum(g, 0, arg, n);
            free(arg);
            /* h_q moves p with a minus sign, h_p moves q */
            size_t at = (size_t)g->inode[x.aux].value + (x.count == LGV_Q ? s->m->nq : 0);
            if (!lgv_grow(&row[at], &capacity[at], count[at] + 1, sizeof **row))
                g->failed = "out of memory";
            else
                row[at][count[at]++] = (struct lgv_arg){value, x.count == LGV_Q ? -0.5 : 0.5};
        }
    }
    free(leaf);
    free(d);
    free(second);
    free(flow);
}

static void ito(struct lgv_source *s, bool wanted) {
    lgv_generate_signature(s, "model_ito(struct ctx *c, double t, const vec *q, const vec *p, vec *Cq, vec *Cp)");
    if (!wanted) {
        lgv_generate_absent(s);
        return;
    }
    size_t n = s->m->nq;
    struct lgv_arg **row = lgv_new(2 * n, sizeof *row);
    size_t *count = lgv_new(2 * n, sizeof *count), *capacity = lgv_new(2 * n, sizeof *capacity);
    struct lgv_terms C[2] = {0};
    if (row && count && capacity) {
        int *h = lgv_model_noises(s->m);
        for (size_t k = 0; h && k < s->m->nnoise && !s->g->failed; k++) ito_of(s, h[k], row, count, capacity);
        free(h);
        for (size_t i = 0; i < 2 * n; i++) {
            int value = lgv_expr_sum(s->g, 0, row[i], count[i]);
            int at = lgv_expr_iconst(s->g, (long)(i < n ? i : i - n));
            lgv_terms_add(s->g, &C[i >= n], (struct lgv_term){-1, at, -1, value});
            free(row[i]);
        }
    } else {
        s->out.failed = true;
    }
    struct lgv_target target[] = {{"Cq", &C[0], (long)n, NULL, false, NULL}, {"Cp", &C[1], (long)n, NULL, false, NULL}};
    lgv_emit_targets(&s->out, s->g, target, 2);
    lgv_text_add(&s->out, "}\n");
    free(row);
    free(count);
    free(capacity);
    lgv_terms_free(&C[0]);
    lgv_terms_free(&C[1]);
}

/* ---- corrected potentials: c sum_m grad h_m . M^-1 grad h_m, with a weight of its own behind those of the noises ---- */

/* H_p of every degree of freedom, each found once: its own derivatives are the entries of M^-1 that do not vanish. */
static int *velocities(struct lgv_source *s) {
    struct lgv_graph *g = s->g;
    size_t n;
    int T = lgv_loops_instance(g, s->m->hamiltonian, NULL, 0);
    int *leaf = lgv_diff_leaves(g, T, LGV_USES(LGV_P), &n), *d = lgv_new(n + 1, sizeof *d);
    int *v = lgv_new(s->m->nq, sizeof *v), zero = lgv_expr_const(g, 0);
    if (leaf && d && v) {
        lgv_diff_gradient(g, T, leaf, n, d);
        for (size_t i = 0; i < s->m->nq; i++) v[i] = zero;
        for (size_t i = 0; i < n; i++) v[g->inode[g->node[leaf[i]].aux].value] = d[i];
    } else if (!g->failed) {
        g->failed = "out of memory";
    }
    free(leaf);
    free(d);
    return v;
}

/* Adds factor grad h . M^-1 grad h to the terms; `at` [nq] is 0, and is left so. */
static bool gradient_square(struct lgv_source *s, const int *v, int h, double factor, int *at, struct lgv_arg **term,
                            size_t *count, size_t *capacity) {
    struct lgv_graph *g = s->g;
    size_t n, m;
    int *leaf = lgv_diff_leaves(g, h, LGV_USES(LGV_Q), &n), *d = lgv_new(n + 1, sizeof *d);
    bool ok = leaf && d;
    if (ok) lgv_diff_gradient(g, h, leaf, n, d);
    for (size_t i = 0; ok && i < n; i++) at[g->inode[g->node[leaf[i]].aux].value] = (int)i + 1;
    for (size_t i = 0; ok && i < n; i++) {
        int row = v[g->inode[g->node[leaf[i]].aux].value];
        int *other = lgv_diff_leaves(g, row, LGV_USES(LGV_P), &m);
        ok = other != NULL;
        for (size_t k = 0; ok && k < m; k++) {
            int to = at[g->inode[g->node[other[k]].aux].value];
            if (to == 0) continue;
            int value = lgv_expr_mul(g, lgv_diff_one(g, row, other[k]), lgv_expr_mul(g, d[i], d[to - 1]));
            ok = lgv_grow(term, capacity, *count + 1, sizeof **term);
            if (ok) (*term)[(*count)++] = (struct lgv_arg){value, factor};
        }
        free(other);
    }
    for (size_t i = 0; leaf && i < n; i++) at[g->inode[g->node[leaf[i]].aux].value] = 0;
    free(leaf);
    free(d);
    return ok;
}

/* All terms are collected and summed once: work is linear in degrees of freedom and noises. */
static bool add_correction(struct lgv_source *s, double factor) {
    if (factor == 0 || s->m->nnoise == 0) return !s->g->failed;
    int *h = lgv_model_noises(s->m), *v = velocities(s), *at = lgv_new(s->m->nq, sizeof *at);
    struct lgv_arg *term = NULL;
    size_t count = 0, capacity = 0;
    bool ok = h && v && at;
    for (size_t i = 0; ok && i < s->m->nnoise && !s->g->failed; i++)
        ok = gradient_square(s, v, h[i], factor, at, &term, &count, &capacity);
    int C = lgv_expr_sum(s->g, 0, term, count);
    free(h);
    free(v);
    free(at);
    free(term);
    int weight = lgv_expr_ref_at(s->g, LGV_WEIGHTS, (long)s->m->nnoise + 1);
    return ok && lgv_function_add(s->g, &s->K, -1, lgv_expr_mul(s->g, weight, C)) && !s->g->failed;
}

/* ---- strong Taylor scheme 1.5 (Kloeden & Platen 10.4): one noise, or additive ones ---- */

/* L^m f = b_m . grad f along the noise field (h_p, -h_q), or along the drift field given by f_q, f_p of `h`. */
static int along_field(struct lgv_graph *g, int f, int h) {
    size_t n;
    int *leaf = lgv_diff_leaves(g, f, LGV_USES(LGV_Q) | LGV_USES(LGV_P), &n), id = lgv_expr_const(g, 0);
    int *d = lgv_new(n + 1, sizeof *d), *other = lgv_new(n + 1, sizeof *other), *e = lgv_new(n + 1, sizeof *e);
    if (leaf && d && other && e) {
        for (size_t i = 0; i < n; i++) {
            const struct lgv_node x = g->node[leaf[i]];
            other[i] = lgv_expr_ref(g, x.count == LGV_Q ? LGV_P : LGV_Q, x.aux);
        }
        lgv_diff_gradient(g, f, leaf, n, d);
        lgv_diff_gradient(g, h, other, n, e);
        for (size_t i = 0; i < n; i++) {
            int term = lgv_expr_mul(g, d[i], e[i]);
            id = g->node[leaf[i]].count == LGV_Q ? lgv_expr_add(g, id, term) : lgv_expr_sub(g, id, term);
        }
    } else if (!g->failed) {
        g->failed = "out of memory";
    }
    free(leaf);
    free(d);
    free(other);
    free(e);
    return id;
}

/* L0 f: in Stratonovich form the generator is {., H} + 1/2 sum_m {{., h_m}, h_m} (+ d/dt, models without t only). */
static int generator(struct lgv_source *s, int f, int H, const int *h) {
    int id = along_field(s->g, f, H);
    for (size_t m = 0; m < s->m->nnoise; m++)
        id = lgv_expr_add(s->g, id, lgv_expr_scale(s->g, 0.5, along_field(s->g, along_field(s->g, f, h[m]), h[m])));
    return id;
}

/* Does the flow of H commute with that of h, so that L^m a = L0 b and dZ drops out?  {H, h} is then constant. */
static bool drift_commutes(struct lgv_source *s, int H, int h) {
    return !(s->g->node[along_field(s->g, H, h)].uses & (LGV_USES(LGV_Q) | LGV_USES(LGV_P)));
}

/* X = a dt + L0 a dt^2/2 + sum_m [b_m dW_m + L^m a dZ_m + L0 b_m (dW_m dt - dZ_m)], and for one noise
 *     + L1 b (dW^2 - dt)/2 + L1 L1 b (dW^2/3 - dt) dW/2,   a = L0 x, b_m = L^m x for the component x.
 * Several noises are all h(q), all h(p) or additive: a field b_m moves p and depends on q, or the other way round, or
 * is constant, so L^k b_m = 0 for all pairs and no integral of two of them is needed. */
static int taylor_component(struct lgv_source *s, int x, int H, const int *h) {
    struct lgv_graph *g = s->g;
    int dt = lgv_expr_ref_at(g, LGV_WEIGHTS, 0), a = generator(s, x, H, h);
    int sum = lgv_expr_mul(g, a, dt);
    sum =
        lgv_expr_add(g, sum, lgv_expr_scale(g, 0.5, lgv_expr_mul(g, generator(s, a, H, h), lgv_expr_power(g, dt, 2))));
    for (size_t m = 0; m < s->m->nnoise; m++) {
        int dW = lgv_expr_ref_at(g, LGV_WEIGHTS, (long)m + 1);
        int dZ = lgv_expr_ref_at(g, LGV_WEIGHTS, (long)(s->m->nnoise + m) + 1);
        int b = along_field(g, x, h[m]), square = lgv_expr_power(g, dW, 2);
        sum = lgv_expr_add(g, sum, lgv_expr_mul(g, b, dW));
        bool commutes = drift_commutes(s, H, h[m]);
        if (!commutes) sum = lgv_expr_add(g, sum, lgv_expr_mul(g, along_field(g, a, h[m]), dZ));
        int b1 = along_field(g, b, h[m]), b11 = along_field(g, b1, h[m]);
        int rest = lgv_expr_mul(g, dW, dt);
        if (!commutes) rest = lgv_expr_sub(g, rest, dZ);
        int third = lgv_expr_mul(g, lgv_expr_sub(g, lgv_expr_scale(g, 1.0 / 3, square), dt), dW);
        sum = lgv_expr_add(g, sum, lgv_expr_scale(g, 0.5, lgv_expr_mul(g, b1, lgv_expr_sub(g, square, dt))));
        sum = lgv_expr_add(g, sum, lgv_expr_mul(g, generator(s, b, H, h), rest));
        sum = lgv_expr_add(g, sum, lgv_expr_scale(g, 0.5, lgv_expr_mul(g, b11, third)));
    }
    return sum;
}

/* A formula that is affine in the state, as constant term plus coefficient times component: then what the
 * coefficients have in common is computed once. */
static int collected(struct lgv_graph *g, int x) {
    size_t n = 0;
    int *leaf = lgv_diff_leaves(g, x, LGV_USES(LGV_Q) | LGV_USES(LGV_P), &n);
    int id = lgv_expr_unit(g, lgv_expr_unit(g, x, LGV_Q, -1), LGV_P, -1);
    for (size_t i = 0; leaf && i < n; i++)
        id = lgv_expr_add(g, id, lgv_expr_mul(g, lgv_diff_one(g, x, leaf[i]), leaf[i]));
    if (!leaf) g->failed = g->failed ? g->failed : "out of memory";
    free(leaf);
    return id;
}

static void taylor(struct lgv_source *s, bool wanted) {
    int *h = lgv_model_noises(s->m), H = wanted ? lgv_loops_instance(s->g, s->m->hamiltonian, NULL, 0) : 0;
    bool dz = false;
    for (size_t m = 0; h && wanted && m < s->m->nnoise; m++) dz |= !drift_commutes(s, H, h[m]);
    lgv_text_add(&s->out, "#define TAYLOR_DZ %d\n", dz);
    lgv_generate_signature(
        s,
        "model_taylor(struct ctx *c, double t, const vec *q, const vec *p, double a, const vec *w, vec *Xq, vec *Xp)");
    if (!wanted) {
        free(h);
        lgv_generate_absent(s);
        return;
    }
    size_t n = s->m->nq;
    struct lgv_terms X[2] = {0};
    for (size_t i = 0; h && i < 2 * n && !s->g->failed; i++) {
        long at = (long)(i < n ? i : i - n);
        int x = lgv_expr_ref_at(s->g, i < n ? LGV_Q : LGV_P, at);
        int value = taylor_component(s, x, H, h);
        if (s->s->linear && n <= 8) value = collected(s->g, value);
        lgv_terms_add(s->g, &X[i >= n], (struct lgv_term){-1, lgv_expr_iconst(s->g, at), -1, value});
    }
    struct lgv_target target[] = {{"Xq", &X[0], (long)n, NULL, false, NULL}, {"Xp", &X[1], (long)n, NULL, false, NULL}};
    lgv_emit_targets(&s->out, s->g, target, 2);
    lgv_text_add(&s->out, "}\n");
    free(h);
    lgv_terms_free(&X[0]);
    lgv_terms_free(&X[1]);
}

/* Start values that are numbers, from number i on; a long run of them becomes a table: of thousands of statements the
 * compiler would take seconds.  Returns where the run ends. */
static size_t start_numbers(struct lgv_source *s, const int *node, const char *name, size_t i) {
    size_t n = s->m->nq, end = i;
    double x;
    while (end < n && lgv_expr_is_const(s->g, node[end], &x)) end++;
    if (end - i < 8) return i;
    lgv_text_add(&s->out, "    {\n    static const double number[] = {");
    for (size_t k = i; k < end; k++) {
        lgv_emit_value(&s->out, s->g, node[k]);
        lgv_text_add(&s->out, k % 8 == 7 ? ",\n        " : ",");
    }
    lgv_text_add(&s->out, "};\n    for (long k = 0; k < %zu; k++) %s[%zu + k] = vec_set(number[k]);\n    }\n", end - i,
                 name, i);
    return end;
}

static void start_values(struct lgv_source *s, const int *node, const char *name) {
    for (size_t i = 0; i < s->m->nq; i++) {
        i = start_numbers(s, node, name, i);
        if (i == s->m->nq) return;
        lgv_text_add(&s->out, "    {\n");
        lgv_emit_nodes(&s->out, s->g, &node[i], 1);
        lgv_text_add(&s->out, "    %s[%zu] = vec_set(0) + ", name, i);
        lgv_emit_value(&s->out, s->g, node[i]);
        lgv_text_add(&s->out, ";\n    }\n");
    }
}

#define MANY_STARTS 50

static void start(struct lgv_source *s) {
    const struct lgv_model *m = s->m;
    lgv_text_add(&s->out,
                 "\n%s void model_start(struct ctx *c, uvec path, vec *q, vec *p, vec *v) {\n"
                 "    const double *par = c->b->par;\n    double t = c->b->t0;\n    (void)par, (void)t, (void)v;\n",
                 m->nq > MANY_STARTS ? "ONCE" : "INLINE");
    /* Draws come from memory of the caller's scratch: their number can be large. */
    lgv_text_add(&s->out, "    vec *zn = (vec *)c->b->scratch->memory, *zu = zn + %d;\n", m->draws[0] + 1);
    if (m->draws[0])
        lgv_text_add(&s->out,
                     "    for (long k = 0; 2 * k < %d; k++) {\n        vec z0, z1;\n"
                     "        normal_pair(c->b->seed, path, (u64)k, STREAM_START, &z0, &z1);\n"
                     "        zn[2 * k] = z0;\n        if (2 * k + 1 < %d) zn[2 * k + 1] = z1;\n    }\n",
                     m->draws[0], m->draws[0]);
    if (m->draws[1])
        lgv_text_add(&s->out,
                     "    for (long k = 0; 2 * k < %d; k++) {\n        vec z0, z1;\n"
                     "        uniform_pair(c->b->seed, path, (u64)k, STREAM_START_UNIFORM, &z0, &z1);\n"
                     "        zu[2 * k] = z0;\n        if (2 * k + 1 < %d) zu[2 * k + 1] = z1;\n    }\n",
                     m->draws[1], m->draws[1]);
    start_values(s, m->start, "q");
    start_values(s, m->start + m->nq, "p");
    if (m->start_velocity && s->lagrangian) start_values(s, m->start_velocity, "v");
    lgv_text_add(&s->out, "}\n");
}

/* ---- control variates ---- */

#define CONTROL_SMALL 64 /* noises times degrees of freedom: up to here the second term is cheap */

/* sum_m ({f, h_m} + dt/2 {{f, h_m}, H}) w_m with {f, h} = f_q.h_p - f_p.h_q, every sum written out.  The second term
 * moves the bracket to the middle of the step along the drift: known at its beginning too, and what most methods
 * really do. */
static int martingale_of(struct lgv_source *s, int f, const int *h, int H) {
    struct lgv_graph *g = s->g;
    bool small = s->m->nnoise * s->m->nq <= CONTROL_SMALL;
    int id = lgv_expr_const(g, 0), node = lgv_loops_instance(g, f, NULL, 0);
    for (size_t m = 0; m < s->m->nnoise && !g->failed; m++) {
        int bracket = lgv_expr_scale(g, -1, along_field(g, h[m], node)); /* {f, h} = -{h, f}: h has few leaves */
        int half = lgv_expr_scale(g, 0.5, lgv_expr_ref_at(g, LGV_WEIGHTS, 0));
        if (small) bracket = lgv_expr_add(g, bracket, lgv_expr_mul(g, half, along_field(g, bracket, H)));
        id = lgv_expr_add(g, id, lgv_expr_mul(g, lgv_expr_ref_at(g, LGV_WEIGHTS, (long)m + 1), bracket));
    }
    return id;
}

static void martingale(struct lgv_source *s, const struct lgv_watch *watch) {
    if (!watch->controls) return;
    struct lgv_terms X = {0};
    int *h = lgv_model_noises(s->m), H = lgv_loops_instance(s->g, s->m->hamiltonian, NULL, 0);
    lgv_generate_signature(
        s, "model_martingale(struct ctx *c, double t, const vec *q, const vec *p, double a, const vec *w, vec *X)");
    for (size_t k = 0; h && k < watch->controls && !s->g->failed; k++) {
        /* The distance to the exact solution depends on W itself and gets none. */
        bool plain = !(s->g->node[watch->item[k].node].uses & LGV_USES(LGV_BROWN));
        int value = plain ? martingale_of(s, watch->item[k].node, h, H) : lgv_expr_const(s->g, 0);
        lgv_terms_add(s->g, &X, (struct lgv_term){-1, lgv_expr_iconst(s->g, (long)k), -1, value});
    }
    struct lgv_target target = {"X", &X, (long)watch->controls, NULL, false, NULL};
    lgv_emit_targets(&s->out, s->g, &target, 1);
    lgv_text_add(&s->out, "    (void)a;\n}\n");
    free(h);
    lgv_terms_free(&X);
}

static void observe(struct lgv_source *s, const struct lgv_watch *watch) {
    struct lgv_terms t = {0};
    size_t count = watch->count - watch->controls; /* the loop adds the martingale parts */
    lgv_generate_signature(
        s, "model_observe(struct ctx *c, double t, const vec *q, const vec *p, const vec *brown, const vec *dq,\n"
           "                          const vec *dp, const vec *v, const vec *lambda, vec *out)");
    for (size_t k = 0; k < count; k++) {
        struct lgv_function f;
        if (watch->item[k].node < 0) continue; /* the loop fills it */
        if (!lgv_function_split(s->g, watch->item[k].node, false, &f)) break;
        for (size_t i = 0; i < f.count; i++)
            lgv_terms_add(s->g, &t,
                          (struct lgv_term){f.group[i].nest, lgv_expr_iconst(s->g, (long)k), -1, f.group[i].body});
        lgv_function_free(&f);
    }
    struct lgv_target target = {"out", &t, (long)count, NULL, false, NULL};
    lgv_emit_targets(&s->out, s->g, &target, 1);
    lgv_text_add(&s->out, "}\n");
    lgv_terms_free(&t);
}

static void constants(struct lgv_source *s, const struct lgv_method *method, const struct lgv_width *width,
                      bool track) {
    struct lgv_text *o = &s->out;
    lgv_text_add(o, "#define LANES %u\n", width->lanes);
    embed_file(o, "abi.h");
    embed_file(o, "lanes.h");
    embed_file(o, "noise.h");
    lgv_text_add(o, LGV_SHARED_END "#define GROUPS %u\n", width->groups);
    embed_file(o, "solve.h");
    lgv_text_add(o, "#define NQ %zuL\n#define NM %zuL\n#define NHQ %ldL\n#define NW %zuL\n", s->m->nq, s->m->nnoise,
                 s->slots.total, s->m->nnoise + (method->correction != 0 && !method->constrained));
    lgv_text_add(o,
                 "#define MODEL_SEPARABLE %d\n#define MODEL_LINEAR %d\n#define MODEL_TIME %d\n#define TRACK_BROWN %d\n"
                 "#define MODEL_NOISE_OF_Q %d\n#define MODEL_KINETIC_TIME %d\n#define MODEL_FLAT %d\n"
                 "#define MODEL_LARGE %d\n",
                 s->s->separable, s->s->linear, s->s->time_dependent, track, !(s->s->noise_depends & LGV_ON_P),
                 s->s->kinetic_time, s->s->flat, s->large);
    if (method->explicit_additive) lgv_text_add(o, "#define MODEL_STEADY_NOISE %d\n", s->s->steady_noise);
    lgv_text_add(o, "#define FACE_WORK %dL\n", s->m->draws[0] + s->m->draws[1] + 8);
    lgv_text_add(o, "#define CONTEXT_SETUP(c, given) ((void)(c), (void)(given))\n#define KERNEL_LINKAGE\n"
                    "#define KERNEL_NAME lgv_kernel_entry\nstruct lgv_callbacks;\n");
    lgv_generate_constraint_sizes(s);
    if (method->constants) lgv_text_add(o, "%s", method->constants);
}

char *lgv_kernel_source(struct lgv_model *m, const struct lgv_method *method, const struct lgv_structure *structure,
                        const struct lgv_watch *watch, const struct lgv_width *width, struct lgv_error *err) {
    struct lgv_source s = {.m = m, .g = m->graph, .s = structure};
    s.constrained = method->constrained;
    s.lagrangian = lgv_method_lagrangian(method, m, structure);
    s.sparse = lgv_method_sparse(method, m, structure);
    unsigned face = s.lagrangian ? 0 : lgv_method_face(method, structure);
    unsigned sets = lgv_method_large(method, m, structure);
    struct lgv_newton *newton = NULL;
    if (lgv_model_increment(m, &s.K) && add_correction(&s, method->constrained ? 0 : method->correction) &&
        find_slots(&s)) {
        newton = sets ? lgv_generate_newton_plan(&s, sets) : NULL;
        s.large = newton != NULL;
        if (s.large) face &= ~(unsigned)(LGV_FACE_K2 | LGV_FACE_ITO); /* noise h(q): no correction */
        constants(&s, method, width, m->exact != NULL);
        lgv_text_add(&s.out, "#define WATCHED %zuL\n", watch->count);
        if (m->nconstraints)
            lgv_text_add(&s.out, "#define WATCH_CONSTRAINT %zuL\n", watch->count - watch->controls - 2);
        if (m->npar <= 64) lgv_text_add(&s.out, "#define PARAMETERS %zu\n", m->npar);
        if (watch->controls) lgv_text_add(&s.out, "#define CONTROLS %zuL\n", watch->controls);
        embed_file(&s.out, "face.h");
        force(&s, face & LGV_FACE_FORCE);
        kick(&s, face & LGV_FACE_FORCE);
        increment(&s, face & LGV_FACE_K1, face & LGV_FACE_K2);
        ito(&s, face & LGV_FACE_ITO);
        taylor(&s, face & LGV_FACE_TAYLOR);
        lgv_generate_constraints(&s);
        lgv_generate_newton(&s, newton);
        start(&s);
        observe(&s, watch);
        martingale(&s, watch);
        embed_file(&s.out, "stages.h");
        if (s.sparse || s.large) embed_file(&s.out, "sparse_lanes.h");
        if (m->nconstraints || method->constrained) embed_file(&s.out, "constrained.h");
        embed_file(&s.out, method->source);
        embed_file(&s.out, "loop.h");
    }
    lgv_generate_newton_free(newton);
    lgv_function_free(&s.K);
    lgv_terms_free(&s.Hq);
    free(s.slots.term);
    free(s.slots.weight);
    if ((face & LGV_FACE_K2) && m->nq > LGV_DENSE_DOF) {
        lgv_text_free(&s.out);
        lgv_method_too_large(method, m, err);
        return NULL;
    }
    if (!m->graph->failed && !s.out.failed && s.out.data) return s.out.data;
    lgv_fail(err, LGV_CANNOT_RUN, "the kernel cannot be generated: %s",
             m->graph->failed ? m->graph->failed : "out of memory");
    lgv_text_free(&s.out);
    return NULL;
}
