/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The equations of a model, for people.
 *
 *     Stratonovich    dx = {x, H} dt + sum_k {x, h_k} o dW_k
 *     Ito             dx = ({x, H} + 1/2 sum_k {{x, h_k}, h_k}) dt + sum_k {x, h_k} dW_k
 *
 * with forces F - Gamma H_p and the noise of a bath, and G^T d lambda of constraints g = 0, in the equation of p.
 * Small models have an equation for each coordinate and momentum, from the derivatives of the formulas; large ones, and
 * those with rotations, one for all of a kind, with derivatives as signs.  On a group {m, h} has m x h_m in it: noise
 * of momenta alone has a correction of Ito, too.
 *
 * Everything is made from a copy of the model: nodes added to its graph would change the order of sums, and with it the
 * last bits of runs. */
#include "model/typeset.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COMPONENTS 12 /* degrees of freedom that have equations of their own */
#define MOST_NOISES 8      /* noises that stand one by one in them */
#define MOST_NODES 150     /* of a formula that is shown in them; larger ones are signs */

struct page {
    struct lgv_typeset t;
    struct lgv_model *m;
    struct lgv_text out;
    bool ito;
    int *dH, *dh, *C; /* [2 np] derivatives by q, then p; [noise][2 np]; Ito corrections of q, then p */
};

/* ---- rows ---- */

static struct lgv_typed name(struct page *g, const char *text) {
    return lgv_set_text(&g->t, text);
}

static void row(struct page *g, struct lgv_typed left, struct lgv_typed right) {
    static const char *const form[] = {"@1 = @2\n", "@1 &= @2 \\\\\n",
                                       "<mtr><mtd>@1</mtd><mtd><mo>=</mo></mtd><mtd>@2</mtd></mtr>\n"};
    struct lgv_typed r = right;
    const char *const minus[] = {"-@1", "-@1", "<mrow><mo>−</mo>@1</mrow>"};
    if (r.minus) r = lgv_set_made(&g->t, LGV_SET_SUM, minus, r.text, "", "");
    lgv_text_add(&g->out, "%s", lgv_set_made(&g->t, LGV_SET_SUM, form, left.text, r.text, "").text);
}

/* coefficient times increment; nothing for 0. */
static void add_term(struct page *g, struct lgv_typed *term, size_t *count, int coefficient, bool minus,
                     struct lgv_typed sign, struct lgv_typed increment) {
    double x;
    const struct lgv_graph *graph = g->m->graph;
    bool number = lgv_expr_is_const(graph, coefficient, &x);
    if (number && x == 0) return;
    bool large = lgv_diff_size(graph, coefficient) > MOST_NODES;
    struct lgv_typed c = large ? sign : lgv_set_node(&g->t, g->m, coefficient), p = increment;
    if (large) minus = false; /* the sign has it */
    if (c.level <= LGV_SET_SUM) c = lgv_set_brackets(&g->t, c);
    if (!number || (x != 1 && x != -1))
        p = lgv_set_made(&g->t, LGV_SET_PRODUCT, LGV_FORMS("@1 @2", "@1 \\, @2", "<mrow>@1@2</mrow>"), c.text,
                         increment.text, "");
    p.minus = c.minus != minus;
    term[(*count)++] = p;
}

static struct lgv_typed noise_sign(struct page *g, char letter, size_t k) {
    const struct lgv_noise *n = g->m->noise;
    char text[LGV_MAX_NAME + 40];
    while (n + 1 < g->m->noise + g->m->nentries && n[1].first <= k) n++;
    if (n->name)
        snprintf(text, sizeof text, n->count == 1 ? "%c_%s" : "%c_%s_%zu", letter, n->name, k - n->first + 1);
    else
        snprintf(text, sizeof text, g->m->nnoise == 1 ? "%c" : "%c_%zu", letter, k + 1);
    return name(g, text);
}

/* ---- equations of single components ---- */

static bool derive(struct page *g) {
    struct lgv_model *m = g->m;
    struct lgv_graph *graph = m->graph;
    const size_t n = m->np;
    int *leaf = lgv_new(2 * n, sizeof *leaf), *h = lgv_model_noises(m);
    g->dH = lgv_new(2 * n, sizeof *g->dH);
    g->dh = lgv_new(2 * n * (m->nnoise + 1), sizeof *g->dh);
    g->C = lgv_new(2 * n, sizeof *g->C);
    bool ok = leaf && h && g->dH && g->dh && g->C;
    for (size_t i = 0; ok && i < 2 * n; i++)
        leaf[i] = lgv_expr_ref_at(graph, i < n ? LGV_Q : LGV_P, (long)(i < n ? i : i - n));
    if (ok) lgv_diff_gradient(graph, lgv_loops_instance(graph, m->hamiltonian, NULL, 0), leaf, 2 * n, g->dH);
    for (size_t k = 0; ok && k < m->nnoise; k++) lgv_diff_gradient(graph, h[k], leaf, 2 * n, g->dh + 2 * n * k);
    if (ok && g->ito) {
        struct lgv_terms Cq = {0}, Cp = {0};
        lgv_algebra_ito(m, &Cq, &Cp);
        for (size_t i = 0; i < Cq.count; i++) g->C[graph->inode[Cq.term[i].row].value] = Cq.term[i].value;
        for (size_t i = 0; i < Cp.count; i++) g->C[n + (size_t)graph->inode[Cp.term[i].row].value] = Cp.term[i].value;
        lgv_terms_free(&Cq);
        lgv_terms_free(&Cp);
    }
    free(leaf);
    free(h);
    return ok && !graph->failed;
}

/* (-Gamma H_p)_i */
static int friction_at(struct page *g, size_t i) {
    const struct lgv_model *m = g->m;
    const struct lgv_bath *b = &m->bath;
    struct lgv_graph *graph = m->graph;
    int sum = 0;
    for (size_t j = 0; b->kind != LGV_FRICTION_NONE && j < m->np; j++) {
        if (b->kind != LGV_FRICTION_MATRIX && i != j) continue;
        int rate = b->friction[b->kind == LGV_FRICTION_MATRIX ? i * m->np + j : i];
        sum = lgv_expr_sub(graph, sum, lgv_expr_mul(graph, rate, g->dH[m->np + j]));
    }
    return sum;
}

/* Whether a root has few digits; else the square says more. */
static bool plain_root(double square) {
    return sqrt(square) == round(sqrt(square) * 1000) / 1000;
}

/* sqrt(2 kT Gamma) dB of a bath, in the equation of p_i. */
static void add_bath(struct page *g, size_t i, struct lgv_typed *term, size_t *count) {
    const struct lgv_bath *b = &g->m->bath;
    struct lgv_graph *graph = g->m->graph;
    char text[40];
    snprintf(text, sizeof text, g->m->np == 1 ? "B" : "B_%zu", i + 1);
    struct lgv_typed dB = lgv_set_increment(&g->t, name(g, text), false);
    if (b->kind == LGV_FRICTION_NONE) return;
    if (b->kind == LGV_FRICTION_MATRIX) {
        struct lgv_typed c = name(g, "sqrt(2*kT*Gamma)"), B = name(g, "B");
        struct lgv_typed product = lgv_set_made(&g->t, LGV_SET_PRODUCT, LGV_FORMS("(@1 @2)", "(@1 \\, @2)",
                                                                            "<mrow><mo>(</mo>@1@2<mo>)</mo></mrow>"),
                                                c.text, lgv_set_increment(&g->t, B, false).text, "");
        snprintf(text, sizeof text, "%zu", i + 1);
        term[(*count)++] = lgv_set_entry(&g->t, product, name(g, text));
        return;
    }
    double x;
    int twice = lgv_expr_scale(graph, 2, lgv_expr_mul(graph, b->temperature[i], b->friction[i]));
    if (lgv_expr_is_const(graph, twice, &x) && plain_root(x)) {
        add_term(g, term, count, lgv_expr_const(graph, sqrt(x)), false, dB, dB);
        return;
    }
    struct lgv_typed square = lgv_set_node(&g->t, g->m, twice), root = lgv_set_call(&g->t, "sqrt", &square, 1);
    term[(*count)++] = lgv_set_made(&g->t, LGV_SET_PRODUCT, LGV_FORMS("@1 @2", "@1 \\, @2", "<mrow>@1@2</mrow>"),
                                    root.text, dB.text, "");
}

/* G^T d lambda */
static void add_constraints(struct page *g, size_t i, struct lgv_typed *term, size_t *count) {
    struct lgv_model *m = g->m;
    struct lgv_graph *graph = m->graph;
    struct lgv_function S = {0};
    if (!m->nconstraints) return;
    struct lgv_typed whole = name(g, "sum(k, G[k])");
    if (m->nconstraints > MOST_NOISES || !lgv_model_constraint_sum(m, &S)) {
        term[(*count)++] = lgv_set_made(&g->t, LGV_SET_PRODUCT,
                                        LGV_FORMS("(G^T dlambda)_@1", "(G^\\top \\mathrm{d}\\lambda)_{@1}",
                                                  "<msub><mrow><mo>(</mo><msup><mi>G</mi><mo>⊤</mo></msup><mi>d</mi>"
                                                  "<mi>λ</mi><mo>)</mo></mrow>@1</msub>"),
                                        lgv_set_text(&g->t, m->component[i]).text, "", "");
        return;
    }
    for (size_t k = 0; k < m->nconstraints; k++) {
        int sum = 0;
        char text[40];
        for (size_t s = 0; s < S.count; s++) {
            int body = S.summand[s].body;
            if (S.summand[s].nest >= 0) body = lgv_expr_loop(graph, S.summand[s].nest, body);
            body = lgv_loops_instance(graph, body, NULL, 0);
            body = lgv_diff_one(graph, body, lgv_expr_ref_at(graph, LGV_LAMBDA, (long)k));
            sum = lgv_expr_add(graph, sum, lgv_diff_one(graph, body, lgv_expr_ref_at(graph, LGV_Q, (long)i)));
        }
        snprintf(text, sizeof text, m->nconstraints == 1 ? "lambda" : "lambda_%zu", k + 1);
        add_term(g, term, count, sum, false, whole, lgv_set_increment(&g->t, name(g, text), false));
    }
    lgv_function_free(&S);
}

static void component_row(struct page *g, size_t i, bool momentum) {
    struct lgv_model *m = g->m;
    struct lgv_graph *graph = m->graph;
    const size_t n = m->np, partner = momentum ? i : n + i;
    struct lgv_typed term[3 * MOST_NOISES + 8], dt = lgv_set_increment(&g->t, name(g, "t"), false);
    size_t count = 0;
    struct lgv_typed x = lgv_set_text(&g->t, m->component[momentum ? n + i : i]);
    struct lgv_typed other = lgv_set_text(&g->t, m->component[momentum ? i : n + i]);
    int drift = lgv_expr_scale(graph, momentum ? -1 : 1, g->dH[partner]);
    if (g->ito) drift = lgv_expr_add(graph, drift, g->C[momentum ? n + i : i]);
    if (momentum && m->force) drift = lgv_expr_add(graph, drift, m->force[i]);
    if (momentum) drift = lgv_expr_add(graph, drift, friction_at(g, i));
    struct lgv_typed sign = lgv_set_partial(&g->t, name(g, "H"), other);
    sign.minus = momentum;
    add_term(g, term, &count, drift, false, sign, dt);
    for (size_t k = 0; k < m->nnoise; k++) {
        struct lgv_typed h = lgv_set_partial(&g->t, noise_sign(g, 'h', k), other);
        h.minus = momentum;
        add_term(g, term, &count, lgv_expr_scale(graph, momentum ? -1 : 1, g->dh[2 * n * k + partner]), false, h,
                 lgv_set_increment(&g->t, noise_sign(g, 'W', k), !g->ito));
    }
    if (momentum) add_bath(g, i, term, &count);
    if (momentum) add_constraints(g, i, term, &count);
    row(g, lgv_set_increment(&g->t, x, false), lgv_set_sum(&g->t, term, count));
}

static void component_rows(struct page *g) {
    if (!derive(g)) return;
    for (size_t i = 0; i < g->m->np; i++) component_row(g, i, false);
    for (size_t i = 0; i < g->m->np; i++) component_row(g, i, true);
}

/* ---- equations of all components of a kind ---- */

/* f by x as a piece; f is H, h_k or L */
static const char *by(struct page *g, const char *f, const char *x) {
    return lgv_set_partial(&g->t, name(g, f), name(g, x)).text;
}

/* f by x as a force: with respect to the position x of a coupled body along the axes of the body. */
static const char *slope(struct page *g, const char *f, const char *x) {
    static const char *const turned[] = {"R^T @1", "R^\\top @1",
                                         "<mrow><msup><mi>R</mi><mo>⊤</mo></msup>@1</mrow>"};
    return x[0] == 'x' ? lgv_set_made(&g->t, LGV_SET_SUM, turned, by(g, f, x), "", "").text : by(g, f, x);
}

/* sum_k of d h_k / d x with their noises, as text behind other terms. */
static const char *all_noises(struct page *g, const char *x, bool minus) {
    const unsigned wanted = strchr("pmP", x[0]) ? LGV_USES(LGV_P) : LGV_USES(LGV_Q);
    unsigned uses = g->m->graph ? 0 : ~0u;
    for (size_t k = 0; k < g->m->nentries && g->m->graph; k++) uses |= g->m->graph->node[g->m->noise[k].body].uses;
    if (!g->m->nnoise || !(uses & wanted)) return "";
    const char *h = slope(g, g->m->nnoise == 1 ? "h" : "h_k", x);
    const char *W = lgv_set_increment(&g->t, name(g, g->m->nnoise == 1 ? "W" : "W_k"), !g->ito).text;
    static const char *const one[] = {" @3 @1 @2", " @3 @1 \\, @2", "<mo>@3</mo>@1@2"};
    static const char *const all[] = {" @3 sum(k, @1 @2)", " @3 \\sum_k @1 \\, @2",
                                      "<mo>@3</mo><munder><mo>∑</mo><mi>k</mi></munder>@1@2"};
    const char *const *sum = g->m->nnoise == 1 ? one : all;
    return lgv_set_made(&g->t, LGV_SET_SUM, sum, h, W, minus ? (g->t.markup == LGV_MATHML ? "−" : "-") : "+").text;
}

/* What else acts on a momentum. */
static const char *others(struct page *g, const char *v) {
    const struct lgv_model *m = g->m;
    struct lgv_text out = {0};
    static const char *const F[] = {" + F dt", " + F \\, \\mathrm{d}t", "<mo>+</mo><mi>F</mi><mi>d</mi><mi>t</mi>"};
    static const char *const B[] = {" - Gamma @1 dt + sqrt(2 kT Gamma) dB",
                                    " - \\Gamma @1 \\, \\mathrm{d}t + \\sqrt{2 k T \\Gamma} \\, \\mathrm{d}B",
                                    ("<mo>−</mo><mi>Γ</mi>@1<mi>d</mi><mi>t</mi><mo>+</mo><msqrt><mn>2</mn>"
                                     "<mi>k</mi><mi>T</mi><mi>Γ</mi></msqrt><mi>d</mi><mi>B</mi>")};
    static const char *const G[] = {" + G^T dlambda", " + G^\\top \\mathrm{d}\\lambda",
                                    "<mo>+</mo><msup><mi>G</mi><mo>⊤</mo></msup><mi>d</mi><mi>λ</mi>"};
    if (m->force) lgv_text_add(&out, "%s", F[g->t.markup]);
    if (m->bath.kind != LGV_FRICTION_NONE)
        lgv_text_add(&out, "%s", lgv_set_made(&g->t, LGV_SET_SUM, B, v, "", "").text);
    if (m->nconstraints) lgv_text_add(&out, "%s", G[g->t.markup]);
    g->t.failed = g->t.failed || out.failed;
    static const char *const as_is[] = {"@1", "@1", "@1"};
    const char *kept = lgv_set_made(&g->t, LGV_SET_SUM, as_is, out.data ? out.data : "", "", "").text;
    lgv_text_free(&out);
    return kept;
}

static struct lgv_typed made(struct page *g, const char *const form[3], const char *a, const char *b, const char *c) {
    return lgv_set_made(&g->t, LGV_SET_SUM, form, a, b, c);
}

/* 1/2 sum_k {{x, h_k}, h_k} dt, where there may be some. */
static const char *correction(struct page *g, const char *x) {
    const unsigned both = LGV_USES(LGV_Q) | LGV_USES(LGV_P);
    const unsigned wanted = g->m->graph->nrotations ? LGV_USES(LGV_P) : both; /* m x s turns m: h(m) has one, too */
    bool some = false;                                                        /* vectors: h(q) and h(p) have none */
    for (size_t k = 0; k < g->m->nentries; k++)
        some = some || (g->m->graph->node[g->m->noise[k].body].uses & wanted) == wanted;
    if (!g->ito || !some) return "";
    static const char *const one[] = {" + 1/2 {{@1, h}, h} dt",
                                      " + \\tfrac12 \\{\\{@1, h\\}, h\\} \\, \\mathrm{d}t",
                                      ("<mo>+</mo><mfrac><mn>1</mn><mn>2</mn></mfrac><mo>{</mo><mo>{</mo>@1<mo>,</mo>"
                                       "<mi>h</mi><mo>}</mo><mo>,</mo><mi>h</mi><mo>}</mo><mi>d</mi><mi>t</mi>")};
    static const char *const all[] = {
        " + 1/2 sum(k, {{@1, h_k}, h_k}) dt", " + \\tfrac12 \\sum_k \\{\\{@1, h_k\\}, h_k\\} \\, \\mathrm{d}t",
        ("<mo>+</mo><mfrac><mn>1</mn><mn>2</mn></mfrac><munder><mo>∑</mo><mi>k</mi></munder>"
         "<mo>{</mo><mo>{</mo>@1<mo>,</mo><msub><mi>h</mi><mi>k</mi></msub><mo>}</mo><mo>,</mo>"
         "<msub><mi>h</mi><mi>k</mi></msub><mo>}</mo><mi>d</mi><mi>t</mi>")};
    return made(g, g->m->nnoise == 1 ? one : all, name(g, x).text, "", "").text;
}

#define WHOLE LGV_FORMS("@1@2@3", "@1@2@3", "<mrow>@1@2@3</mrow>")

static const char *with_dt(struct page *g, const char *f, bool minus) {
    static const char *const plus[] = {"@1 dt", "@1 \\, \\mathrm{d}t", "@1<mi>d</mi><mi>t</mi>"};
    static const char *const less[] = {"-@1 dt", "-@1 \\, \\mathrm{d}t", "<mo>−</mo>@1<mi>d</mi><mi>t</mi>"};
    return made(g, minus ? less : plus, f, "", "").text;
}

static void vector_rows(struct page *g) {
    struct lgv_typed q = lgv_set_increment(&g->t, name(g, "q"), false);
    struct lgv_typed p = lgv_set_increment(&g->t, name(g, "p"), false);
    const char *velocity = by(g, "H", "p");
    row(g, q, made(g, WHOLE, with_dt(g, velocity, false), correction(g, "q"), all_noises(g, "p", false)));
    const char *rest = made(g, WHOLE, correction(g, "p"), all_noises(g, "q", true), others(g, velocity)).text;
    row(g, p, made(g, WHOLE, with_dt(g, by(g, "H", "q"), true), rest, ""));
}

/* ---- rotations and bodies ---- */

#define HAS_VECTORS 1
#define HAS_ROTATIONS 2
#define HAS_COUPLED 4 /* bodies with both momenta in the body frame */

static unsigned shapes(const struct lgv_graph *graph, size_t np) {
    unsigned out = 0;
    size_t rows = 0;
    for (size_t k = 0; graph && k < graph->nrotations; k++) {
        const struct lgv_rotations *r = &graph->rotation[k];
        out |= r->coupled ? HAS_COUPLED : HAS_ROTATIONS;
        rows += (size_t)r->count * (r->coupled ? 6 : 3);
    }
    return rows < np ? out | HAS_VECTORS : out;
}

/* What is said of rotations with H in terms of m and P, and with L in terms of L_w and L_v. */
struct turning {
    const char *m, *P, *dm, *dP; /* momenta and their increments */
    const char *w, *v;           /* velocities, along the axes of the body */
    const char *energy;          /* H or L */
    bool minus;                  /* the force is -H_R */
};

static const char *const turn_sign[] = {"dxi", "\\mathrm{d}\\xi", "<mrow><mi>d</mi><mi>ξ</mi></mrow>"};
static const char *const shift_sign[] = {"deta", "\\mathrm{d}\\eta", "<mrow><mi>d</mi><mi>η</mi></mrow>"};

static struct turning turning(struct page *g, bool lagrangian) {
    static const char *const change[] = {"d(@1)", "\\mathrm{d}@1", "<mrow><mi>d</mi>@1</mrow>"};
    struct turning s = {.energy = "L", .w = name(g, "w").text, .v = name(g, "v").text};
    if (lagrangian) {
        s.m = by(g, "L", "w"), s.P = by(g, "L", "v");
        s.dm = made(g, change, s.m, "", "").text, s.dP = made(g, change, s.P, "", "").text;
        return s;
    }
    s = (struct turning){.energy = "H", .minus = true, .w = by(g, "H", "m"), .v = by(g, "H", "P")};
    s.m = name(g, "m").text, s.P = name(g, "P").text;
    s.dm = lgv_set_increment(&g->t, name(g, "m"), false).text;
    s.dP = lgv_set_increment(&g->t, name(g, "P"), false).text;
    return s;
}

/* dxi = H_m dt + sum_k h_k,m o dW_k and dR = R hat(dxi); deta = H_P dt + .. and dx = R deta */
static void moving_rows(struct page *g, const struct turning *s, bool shift) {
    static const char *const places[2][3] = {
        {"dR", "\\mathrm{d}R", "<mrow><mi>d</mi><mi>R</mi></mrow>"},
        {"dx", "\\mathrm{d}x", "<mrow><mi>d</mi><mi>x</mi></mrow>"}};
    static const char *const moves[2][3] = {
        {"R hat(dxi)@1", "R \\, \\widehat{\\mathrm{d}\\xi}@1",
         "<mrow><mi>R</mi><mover><mrow><mi>d</mi><mi>ξ</mi></mrow><mo>^</mo></mover>@1</mrow>"},
        {"R deta@1", "R \\, \\mathrm{d}\\eta@1", "<mrow><mi>R</mi><mi>d</mi><mi>η</mi>@1</mrow>"}};
    const char *velocity = with_dt(g, shift ? s->v : s->w, false), *noises = all_noises(g, shift ? "P" : "m", false);
    row(g, made(g, shift ? shift_sign : turn_sign, "", "", ""), made(g, WHOLE, velocity, s->minus ? noises : "", ""));
    if (!g->m->graph->reduced)
        row(g, made(g, places[shift], "", "", ""), made(g, moves[shift], correction(g, shift ? "x" : "R"), "", ""));
}

/* - H_R dt - sum_k h_k,R o dW_k, of a position R^T H_x; nothing where there are momenta alone */
static const char *pushing(struct page *g, const struct turning *s, const char *x) {
    static const char *const plus[] = {" + @1", " + @1", "<mo>+</mo>@1"};
    static const char *const less[] = {" - @1", " - @1", "<mo>−</mo>@1"};
    if (g->m->graph->reduced) return "";
    const char *force = made(g, s->minus ? less : plus, with_dt(g, slope(g, s->energy, x), false), "", "").text;
    return made(g, WHOLE, force, all_noises(g, x, true), "").text;
}

/* dm = m x dxi + P x deta - H_R dt - ..., dP = P x dxi - R^T H_x dt - ... */
static void momentum_rows(struct page *g, const struct turning *s, bool coupled) {
    static const char *const cross[] = {"@1 x @2", "@1 \\times @2", "@1<mo>×</mo>@2"};
    static const char *const more[] = {"@1 + @2", "@1 + @2", "@1<mo>+</mo>@2"};
    const char *turn = made(g, turn_sign, "", "", "").text, *shift = made(g, shift_sign, "", "", "").text;
    const char *arm = made(g, cross, s->m, turn, "").text, *pull = made(g, cross, s->P, turn, "").text;
    if (coupled) arm = made(g, more, arm, made(g, cross, s->P, shift, "").text, "").text;
    arm = made(g, WHOLE, arm, correction(g, "m"), "").text;
    pull = made(g, WHOLE, pull, correction(g, "P"), "").text;
    row(g, (struct lgv_typed){s->dm, LGV_SET_SUM, false}, made(g, WHOLE, arm, pushing(g, s, "R"), others(g, s->w)));
    if (!coupled) return;
    row(g, (struct lgv_typed){s->dP, LGV_SET_SUM, false}, made(g, WHOLE, pull, pushing(g, s, "x"), others(g, s->v)));
}

static void rotation_rows(struct page *g, unsigned has, bool lagrangian) {
    const struct turning s = turning(g, lagrangian);
    moving_rows(g, &s, false);
    if (has & HAS_COUPLED) moving_rows(g, &s, true);
    if (has & HAS_ROTATIONS) momentum_rows(g, &s, false);
    if (has & HAS_COUPLED) momentum_rows(g, &s, true);
}

/* ---- Lagrangians ---- */

static void lagrangian_rows(struct page *g) {
    static const char *const change[] = {"d(@1)", "\\mathrm{d}@1", "<mrow><mi>d</mi>@1</mrow>"};
    const char *left = made(g, change, by(g, "L", "v"), "", "").text;
    struct lgv_typed v = {with_dt(g, name(g, "v").text, false), LGV_SET_PRODUCT, false};
    row(g, lgv_set_increment(&g->t, name(g, "q"), false), v);
    row(g, (struct lgv_typed){left, LGV_SET_SUM, false},
        made(g, WHOLE, with_dt(g, by(g, "L", "q"), false), all_noises(g, "q", true), others(g, name(g, "v").text)));
}

/* ---- coloured noise ---- */

/* size sqrt(square) dW */
static void add_process_noise(struct page *g, int size, int square, struct lgv_typed dW, struct lgv_typed *term,
                              size_t *count) {
    struct lgv_graph *graph = g->m->graph;
    double x;
    if (lgv_expr_is_const(graph, square, &x) && plain_root(x)) {
        add_term(g, term, count, lgv_expr_scale(graph, sqrt(x), size), false, dW, dW);
        return;
    }
    struct lgv_typed inside = lgv_set_node(&g->t, g->m, square), root = lgv_set_call(&g->t, "sqrt", &inside, 1);
    struct lgv_typed increment =
        lgv_set_made(&g->t, LGV_SET_PRODUCT, LGV_FORMS("@1 @2", "@1 \\, @2", "<mrow>@1@2</mrow>"), root.text,
                     dW.text, "");
    add_term(g, term, count, size, false, increment, increment);
}

/* d eta = -eta/tau dt + sigma sqrt(2/tau) dW, or
 * d eta_rate = -(frequency^2 eta + damping eta_rate) dt + sigma frequency sqrt(2 damping) dW, d eta = eta_rate dt. */
static void process_rows(struct page *g) {
    const struct lgv_model *m = g->m;
    struct lgv_graph *graph = m->graph;
    struct lgv_typed term[2], dt = lgv_set_increment(&g->t, name(g, "t"), false);
    for (size_t k = 0, at = 0; k < m->nprocesses; at += (size_t)m->process[k++].rows) {
        const int *n = m->process[k].node, first = graph->drawn[(size_t)graph->nsteady + at];
        const bool turns = m->process[k].rows > 1;
        const int value = first + turns, x = lgv_expr_param(graph, value), rate = lgv_expr_param(graph, first);
        const int two = lgv_expr_const(graph, 2), omega = n[LGV_PROCESS_FREQUENCY], gamma = n[LGV_PROCESS_DAMPING];
        int drift = turns ? lgv_expr_mul(graph, gamma, rate) : lgv_expr_div(graph, x, n[LGV_PROCESS_TAU]);
        if (turns) drift = lgv_expr_add(graph, drift, lgv_expr_mul(graph, lgv_expr_power(graph, omega, 2), x));
        int square = turns ? lgv_expr_mul(graph, two, gamma) : lgv_expr_div(graph, two, n[LGV_PROCESS_TAU]);
        int size = turns ? lgv_expr_mul(graph, n[LGV_PROCESS_SIGMA], omega) : n[LGV_PROCESS_SIGMA];
        char text[LGV_MAX_NAME + 40];
        size_t count = 0;
        snprintf(text, sizeof text, "W_%s", m->par_name[value]);
        add_term(g, term, &count, lgv_expr_scale(graph, -1, drift), false, dt, dt);
        add_process_noise(g, size, square, lgv_set_increment(&g->t, name(g, text), false), term, &count);
        row(g, lgv_set_increment(&g->t, name(g, m->par_name[first]), false), lgv_set_sum(&g->t, term, count));
        count = 0;
        if (turns) add_term(g, term, &count, rate, false, dt, dt);
        if (turns) row(g, lgv_set_increment(&g->t, name(g, m->par_name[value]), false), lgv_set_sum(&g->t, term, 1));
    }
}

/* ---- what the model is made of ---- */

static struct lgv_typed energy_of(struct page *g) {
    static const char kinetic[] = "kinetic energy";
    struct lgv_model *m = g->m;
    const char *text = m->hamiltonian_text;
    const size_t n = strlen(kinetic);
    if (!text || strncmp(text, kinetic, n) != 0) return name(g, text ? text : "H");
    const bool small = !m->graph->nrotations && m->np <= MOST_COMPONENTS;
    int H = small ? lgv_loops_instance(m->graph, m->hamiltonian, NULL, 0) : -1;
    if (H >= 0 && !m->graph->failed && lgv_diff_size(m->graph, H) <= MOST_NODES) return lgv_set_node(&g->t, m, H);
    const bool turns = m->graph->nrotations > 0; /* with vectors beside them: the letters stand for both */
    static const char *const energy[] = {"@1.@2^-1 @1/2", "\\tfrac12 @1^\\top @2^{-1} @1",
                                         ("<mrow><mfrac><mn>1</mn><mn>2</mn></mfrac><msup><mi>@1</mi><mo>⊤</mo>"
                                          "</msup><msup><mi>@2</mi><mn>-1</mn></msup><mi>@1</mi></mrow>")};
    struct lgv_typed term[2] = {made(g, energy, turns ? "m" : "p", turns ? "I" : "M", "")};
    term[0].level = LGV_SET_PRODUCT;
    if (!text[n]) return term[0];
    term[1] = name(g, text + n + strlen(" + "));
    return lgv_set_sum(&g->t, term, 2);
}

static void definition_rows(struct page *g) {
    struct lgv_model *m = g->m;
    for (size_t k = 0; k < m->scope.count; k++) {
        const struct lgv_symbol *s = &m->scope.symbol[k];
        struct lgv_typed formal[LGV_MAX_ARGUMENTS];
        if (!s->text || !s->used) continue;
        for (int i = 0; i < s->nformals; i++) formal[i] = name(g, s->formals[i]);
        row(g, s->nformals ? lgv_set_call(&g->t, s->name, formal, (size_t)s->nformals) : name(g, s->name),
            name(g, s->text));
    }
    if (m->lagrangian_text) row(g, name(g, "L"), name(g, m->lagrangian_text));
    if (!m->lagrangian_text) row(g, name(g, "H"), energy_of(g));
    for (size_t k = 0; k < m->nentries; k++) {
        const struct lgv_noise *h = &m->noise[k];
        char sign[LGV_MAX_NAME + 40];
        if (h->name)
            snprintf(sign, sizeof sign, "h_%s", h->name);
        else if (h->nest < 0)
            snprintf(sign, sizeof sign, m->nnoise == 1 ? "h" : "h_%zu", h->first + 1);
        else
            snprintf(sign, sizeof sign, h->first ? "h_%zu_k" : "h_k", h->first + 1);
        struct lgv_typed body = name(g, h->text);
        row(g, name(g, sign), h->potential ? lgv_set_negative(body) : body);
    }
    for (size_t k = 0; k < m->nconstraint_entries; k++)
        if (k == 0 || m->constraint[k].first != m->constraint[k - 1].first) {
            if (m->npenalties) /* a part of H, held by springs */
                row(g, name(g, "g"), name(g, m->constraint[k].text));
            else
                row(g, name(g, m->constraint[k].text), lgv_set_number(&g->t, 0));
        }
}

static void equation_rows(struct page *g) {
    struct lgv_model *m = g->m;
    const unsigned has = shapes(m->graph, m->np);
    const bool turns = has & (HAS_ROTATIONS | HAS_COUPLED);
    const bool lagrangian = m->lagrangian_only || (turns && m->lagrangian_text);
    if (!turns && !lagrangian && m->kind->formulas && m->np <= MOST_COMPONENTS && m->nnoise <= MOST_NOISES) {
        component_rows(g);
    } else if (has & HAS_VECTORS) {
        if (lagrangian)
            lagrangian_rows(g);
        else
            vector_rows(g);
    }
    if (turns) rotation_rows(g, has, lagrangian);
    process_rows(g);
}

/* ---- the whole ---- */

/* The model again from its text, with the values its parameters have now. */
static enum lgv_status copy_of(const struct lgv_model *m, struct lgv_model **out, struct lgv_error *err) {
    struct lgv_override *set = lgv_new(m->nsettings + 1, sizeof *set);
    if (!set) return lgv_fail_memory(err);
    for (size_t k = 0; k < m->nsettings; k++)
        set[k] = (struct lgv_override){.name = m->setting_name[k], .value = m->setting_value[k]};
    enum lgv_status status = lgv_model_read(m->text, m->file, set, m->nsettings, out, err);
    free(set);
    return status;
}

enum lgv_status lgv_model_equations(const struct lgv_model *model, enum lgv_equations which, enum lgv_markup markup,
                                    char **out, struct lgv_error *err) {
    static const char *const begin[] = {"", "\\begin{aligned}\n",
                                        ("<math xmlns=\"http://www.w3.org/1998/Math/MathML\" display=\"block\">"
                                         "<mtable columnalign=\"right center left\">\n")};
    static const char *const end[] = {"", "\\end{aligned}\n", "</mtable></math>\n"};
    struct lgv_model *copy = NULL;
    if (out) *out = NULL;
    if (!model || !out || (unsigned)markup > LGV_MATHML || (unsigned)which > LGV_EQUATIONS_ITO)
        return lgv_fail(err, LGV_BAD_INPUT, "no model, no place for its equations, or no such form of them");
    if (!model->kind->formulas)
        return lgv_fail(err, LGV_BAD_INPUT, "a model of C functions has no formulas to show");
    enum lgv_status status = copy_of(model, &copy, err);
    if (status) return status;
    struct page g = {.t = {.markup = markup}, .m = copy, .ito = which == LGV_EQUATIONS_ITO};
    lgv_text_add(&g.out, "%s", begin[markup]);
    if (which == LGV_EQUATIONS_DEFINITION)
        definition_rows(&g);
    else
        equation_rows(&g);
    lgv_text_add(&g.out, "%s", end[markup]);
    if (g.t.failed || g.out.failed || lgv_expr_no_memory(copy->graph))
        status = lgv_fail_memory(err);
    else if (copy->graph->failed)
        status = lgv_fail(err, LGV_BAD_INPUT, "%s: the equations cannot be shown: %s", copy->file, copy->graph->failed);
    free(g.dH);
    free(g.dh);
    free(g.C);
    lgv_typeset_free(&g.t);
    lgv_model_free(copy);
    if (status) lgv_text_free(&g.out);
    *out = g.out.data;
    return status;
}
