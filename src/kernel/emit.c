/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Graph to C.  Every node becomes one statement "const vec t12 = ...;" in ascending order, which is a topological
 * order; what is the same for all lanes (parameters, time, indices) is a plain double.  No text of the user gets
 * here: nodes carry numbers only. */
#include "kernel/emit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool lgv_emit_uniform(const struct lgv_graph *g, int node) {
    const struct lgv_node *n = &g->node[node];
    const unsigned numbers = LGV_USES(LGV_WEIGHTS) | LGV_USES(LGV_STEP);
    if (n->op == LGV_REF && n->count == LGV_STEP) return true;
    if (n->op == LGV_REF && n->count == LGV_WEIGHTS) {
        const struct lgv_inode *i = &g->inode[n->aux];
        return i->op == LGV_ICONST && i->value == 0;
    }
    if (!(n->uses & (LGV_USES(LGV_SPACES) - 1))) return true;
    if (n->op == LGV_REF || (n->uses & (LGV_USES(LGV_SPACES) - 1) & ~numbers)) return false;
    for (int i = 0; i < n->count; i++)
        if (!lgv_emit_uniform(g, g->arg[n->first + i].node)) return false;
    return true;
}

static void number(struct lgv_text *out, double x) {
    if (x == floor(x) && fabs(x) < 1e18)
        lgv_text_add(out, x < 0 ? "(%.1f)" : "%.1f", x);
    else if (isfinite(x))
        lgv_text_add(out, x < 0 ? "(%.17g)" : "%.17g", x);
    else
        lgv_text_add(out, isnan(x) ? "__builtin_nan(\"\")" : x > 0 ? "__builtin_inf()" : "(-__builtin_inf())");
}

void lgv_emit_index(struct lgv_text *out, const struct lgv_graph *g, int index) {
    const struct lgv_inode *n = &g->inode[index];
    if (n->op == LGV_ICONST) {
        lgv_text_add(out, n->value < 0 ? "(%ld)" : "%ld", n->value);
        return;
    }
    if (n->op == LGV_IVAR) {
        lgv_text_add(out, "i%d", n->a);
        return;
    }
    lgv_text_add(out, n->op == LGV_IMOD ? "imod(" : n->op == LGV_IDIV ? "idiv(" : "(");
    lgv_emit_index(out, g, n->a);
    lgv_text_add(out, n->op == LGV_IADD ? " + " : n->op == LGV_IMUL ? " * " : ", ");
    lgv_emit_index(out, g, n->b);
    lgv_text_add(out, ")");
}

bool lgv_emit_plain_index(const struct lgv_graph *g, int index) {
    const struct lgv_inode *n = &g->inode[index];
    if (n->op == LGV_ICONST || n->op == LGV_IVAR) return true;
    return n->op != LGV_IMOD && n->op != LGV_IDIV && lgv_emit_plain_index(g, n->a) && lgv_emit_plain_index(g, n->b);
}

void lgv_emit_value(struct lgv_text *out, const struct lgv_graph *g, int node) {
    const struct lgv_node *n = &g->node[node];
    if (n->op == LGV_CONST)
        number(out, n->value);
    else if (n->op == LGV_PARAM && lgv_expr_drawn(g, n->aux) >= 0)
        lgv_text_add(out, "DRAWN_VALUE(%d)", lgv_expr_drawn(g, n->aux));
    else if (n->op == LGV_PARAM)
        lgv_text_add(out, "par[%d]", n->aux);
    else if (n->op == LGV_TIME)
        lgv_text_add(out, "t");
    else if (n->op == LGV_REF && lgv_emit_uniform(g, node))
        lgv_text_add(out, "a");
    else
        lgv_text_add(out, "t%d", node);
}

/* What lanes are where a node is written: paths, instances of one path (emit_pairs.c), places in a row of one
 * (emit_rows.c). */
enum layout { PATHS, INSTANCES, PLACES };

/* inner: the loop variable that has a value for each lane unless they are paths. */
static void reference(struct lgv_text *out, const struct lgv_graph *g, int k, enum layout layout, int inner) {
    static const char *const array[] = {"q[", "p[", "w[-1 + ", "brown[", "zn[", "zu[", "dq[", "dp[", "v[", "lambda[",
                                        "before[", "after[", [LGV_PART] = "part[", [LGV_PULL] = "pull["};
    const struct lgv_node *n = &g->node[k];
    bool own = layout == INSTANCES && n->count == LGV_Q; /* has a column for itself */
    bool each = layout != PATHS && lgv_index_vars(g, n->aux) & 1u << inner;
    if (layout == PLACES && each) {
        lgv_text_add(out, "row_load(row_x%d + row_k)", k);
        return;
    }
    if (layout != PATHS) lgv_text_add(out, each ? "PICK(i%d, " : "vec_set(", inner);
    lgv_text_add(out, own ? "pairs_%s" : "%s", array[n->count]);
    lgv_emit_index(out, g, n->aux);
    lgv_text_add(out, layout == PATHS ? "]" : own ? "])" : layout == PLACES ? "][row_lane])" : "][pairs_lane])");
}

/* +- factor * term, the sign as it stands between terms, or before the first one. */
static void addend(struct lgv_text *out, const struct lgv_graph *g, struct lgv_arg a, bool first) {
    lgv_text_add(out, a.factor < 0 ? (first ? "-" : " - ") : first ? "" : " + ");
    if (fabs(a.factor) != 1) number(out, fabs(a.factor));
    if (fabs(a.factor) != 1 && a.node >= 0) lgv_text_add(out, " * ");
    if (a.node >= 0) lgv_emit_value(out, g, a.node);
    if (a.node < 0 && fabs(a.factor) == 1) lgv_text_add(out, "1.0");
}

/* *sum becomes factor * term + *sum. */
static void fuse(struct lgv_text *sum, const struct lgv_graph *g, struct lgv_arg a) {
    struct lgv_text whole = {0};
    lgv_text_add(&whole, "FUSED(");
    number(&whole, a.factor);
    lgv_text_add(&whole, ", ");
    lgv_emit_value(&whole, g, a.node);
    lgv_text_add(&whole, ", %s)", sum->data ? sum->data : "");
    whole.failed |= sum->failed;
    lgv_text_free(sum);
    *sum = whole;
}

/* t<k> = sum factor * term + value.  Each product meets an addition and is fused with it; of two products that meet,
 * the first.  One FUSED a statement: compilers do not like expressions nested hundreds deep. */
static void sum(struct lgv_text *out, const struct lgv_graph *g, int k, const char *type) {
    const struct lgv_node *n = &g->node[k];
    struct lgv_text so_far = {0};
    bool fused = false;
    for (int i = 0; i < n->count + (n->value != 0); i++) {
        struct lgv_arg a = i < n->count ? g->arg[n->first + i] : (struct lgv_arg){-1, n->value};
        struct lgv_arg next = i + 1 < n->count ? g->arg[n->first + i + 1] : (struct lgv_arg){-1, n->value};
        bool product = a.node >= 0 && fabs(a.factor) != 1 && !lgv_emit_uniform(g, a.node);
        if (product && i == 0 && (n->count > 1 || n->value != 0)) {
            addend(&so_far, g, next, true);
            i++;
        } else if (product && fused) {
            lgv_text_add(out, "    %st%d = %s;\n", type, k, so_far.data ? so_far.data : "");
            out->failed |= so_far.failed;
            lgv_text_free(&so_far);
            lgv_text_add(&so_far, "t%d", k);
            type = "";
        }
        product &= n->count + (n->value != 0) > 1;
        if (product)
            fuse(&so_far, g, a);
        else
            addend(&so_far, g, a, i == 0);
        fused |= product;
    }
    lgv_text_add(out, "    %st%d = %s;\n", type, k, so_far.data ? so_far.data : "");
    out->failed |= so_far.failed;
    lgv_text_free(&so_far);
}

/* base ^ exponent for a positive exponent. */
static void power(struct lgv_text *out, const struct lgv_graph *g, int base, double exponent, bool uniform) {
    double whole = floor(exponent);
    const char *pre = uniform ? "num" : "vec";
    /* repeated multiplication is only good for small exponents: q^1e10 would never end */
    if ((exponent - whole != 0 && exponent - whole != 0.5) || whole > LGV_MAX_POWER) {
        lgv_text_add(out, uniform ? "__builtin_pow(" : "vec_pow(");
        lgv_emit_value(out, g, base);
        lgv_text_add(out, uniform ? ", " : ", vec_set(");
        number(out, exponent);
        lgv_text_add(out, uniform ? ")" : "))");
        return;
    }
    if (exponent != whole) {
        lgv_text_add(out, uniform ? "__builtin_sqrt(" : "vec_sqrt(");
        lgv_emit_value(out, g, base);
        lgv_text_add(out, whole > 0 ? ") * " : ")");
    }
    if (whole > 3) {
        lgv_text_add(out, "%s_powi(", pre);
        lgv_emit_value(out, g, base);
        lgv_text_add(out, ", %d)", (int)whole);
        return;
    }
    for (int k = 0; k < (int)whole; k++) {
        if (k) lgv_text_add(out, " * ");
        lgv_emit_value(out, g, base);
    }
}

/* base ^ exponent with a negative exponent, which several products have as a factor: the division is done once.  Of
 * several whole exponents of a base, as in r^-4 and r^-7, each is a power of 1/base. */
struct inverse {
    int base;
    double exponent; /* negative, as in the products */
    int uses;
    bool known;   /* written, as u<base>_<number> */
    bool derived; /* a power of 1/base, which is an inverse itself */
    int next;     /* the next one with this base */
};

/* What a list of nodes needs. */
struct wanted {
    unsigned char *mark;
    int *sine, *cosine; /* [argument] node that is marked, 0: none */
    int calls;          /* of functions with long copies */
    int last;
    enum layout layout;
    int inner;           /* the innermost loop variable; -1 unless the layout or `late` needs it */
    unsigned char *late; /* [node] it knows the innermost variable, and is written inside of its loop; NULL: all are */
    bool inside;         /* writing those that do */
    int *inverse_of; /* [base] number of an inverse, from 1 */
    struct inverse *inverse;
    size_t inverses, capacity;
};

static struct inverse *inverse_at(const struct wanted *w, struct lgv_arg a) {
    for (int i = w->inverse_of[a.node]; i; i = w->inverse[i - 1].next)
        if (w->inverse[i - 1].exponent == a.factor) return &w->inverse[i - 1];
    return NULL;
}

static bool count_inverse(const struct lgv_graph *g, struct wanted *w, struct lgv_arg a) {
    if (a.factor >= 0 || lgv_emit_uniform(g, a.node)) return true;
    struct inverse *known = inverse_at(w, a);
    if (known) {
        known->uses++;
        return true;
    }
    if (!lgv_grow(&w->inverse, &w->capacity, w->inverses + 1, sizeof *w->inverse)) return false;
    w->inverse[w->inverses++] = (struct inverse){a.node, a.factor, 1, false, false, w->inverse_of[a.node]};
    w->inverse_of[a.node] = (int)w->inverses;
    return true;
}

static bool is_whole(double exponent) {
    return exponent == floor(exponent) && exponent >= -LGV_MAX_POWER;
}

/* Bases with several whole exponents. */
static bool derive_inverses(const struct lgv_graph *g, struct wanted *w) {
    for (size_t i = 0, n = w->inverses; i < n; i++) {
        const int base = w->inverse[i].base;
        int count = 0;
        for (int k = w->inverse_of[base]; k; k = w->inverse[k - 1].next) count += is_whole(w->inverse[k - 1].exponent);
        if (count < 2 || w->inverse[i].derived || !is_whole(w->inverse[i].exponent)) continue;
        if (!count_inverse(g, w, (struct lgv_arg){base, -1})) return false;
        for (int k = w->inverse_of[base]; k; k = w->inverse[k - 1].next) {
            struct inverse *x = &w->inverse[k - 1];
            if (!is_whole(x->exponent)) continue;
            x->derived = x->exponent != -1;
            x->uses += 2; /* written as what products share */
        }
    }
    return true;
}

static bool shared(const struct lgv_graph *g, const struct wanted *w, struct lgv_arg a) {
    return a.factor < 0 && !lgv_emit_uniform(g, a.node) && inverse_at(w, a)->uses > 1;
}

static void inverse_name(struct lgv_text *out, const struct wanted *w, const struct inverse *x) {
    lgv_text_add(out, "u%d_%d", x->base, (int)(x - w->inverse));
}

static void factor(struct lgv_text *out, const struct lgv_graph *g, const struct wanted *w, struct lgv_arg a,
                   bool first) {
    if (!first) lgv_text_add(out, " * ");
    if (shared(g, w, a))
        inverse_name(out, w, inverse_at(w, a));
    else
        power(out, g, a.node, fabs(a.factor), lgv_emit_uniform(g, a.node));
}

/* Factors of one kind: those that are the same for all lanes, those that products share, and the others. */
enum { UNIFORM, COMMON, OWN };

static int kind_of(const struct lgv_graph *g, const struct wanted *w, struct lgv_arg a) {
    return lgv_emit_uniform(g, a.node) ? UNIFORM : shared(g, w, a) ? COMMON : OWN;
}

/* The number of factors of a kind, written behind `before` others where `out` is not NULL. */
static int factors(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_node *n, const struct wanted *w,
                   int kind, bool below, int before) {
    int count = 0;
    for (int i = 0; i < n->count; i++) {
        struct lgv_arg a = g->arg[n->first + i];
        if (kind_of(g, w, a) != kind || (kind != COMMON && (a.factor < 0) != below)) continue;
        if (out) factor(out, g, w, a, before + count == 0);
        count++;
    }
    return count;
}

static void divisor(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_node *n, const struct wanted *w,
                    int kind) {
    lgv_text_add(out, " / (");
    factors(out, g, n, w, kind, true, 0);
    lgv_text_add(out, ")");
}

/* Uniform factors first: scalars are multiplied once, not once per lane, and the inverse of a mass is found outside of
 * the time loop.  Then what products have in common, so that the compiler finds the same beginning in all of them. */
static void product(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_node *n, const struct wanted *w,
                    bool uniform) {
    int count = factors(out, g, n, w, UNIFORM, false, 0);
    bool scaled = factors(NULL, g, n, w, UNIFORM, true, 0) > 0, divided = factors(NULL, g, n, w, OWN, true, 0) > 0;
    if (scaled) {
        lgv_text_add(out, count == 0 ? "(1.0" : uniform ? "" : " * (1.0");
        divisor(out, g, n, w, UNIFORM);
        lgv_text_add(out, count == 0 || !uniform ? ")" : "");
        count++;
    }
    count += factors(out, g, n, w, COMMON, false, count);
    count += factors(out, g, n, w, OWN, false, count);
    if (count == 0) lgv_text_add(out, "1.0");
    if (divided) divisor(out, g, n, w, OWN);
}

/* Roots and divisions of several bases at a time (vec_inverses in lanes.h), as far as these are known before node k. */
#define INVERSES 4

static bool plain_exponent(double exponent) {
    return -2 * exponent == floor(-2 * exponent) && exponent > -4;
}

static void inverse_group(struct lgv_text *out, const struct lgv_graph *g, int k, const struct wanted *w,
                          struct inverse *first) {
    struct inverse *group[INVERSES] = {first};
    int n = 1;
    for (struct inverse *x = w->inverse; plain_exponent(first->exponent) && x < w->inverse + w->inverses; x++)
        if (n < INVERSES && x != first && !x->known && x->uses > 1 && x->base < k && x->exponent == first->exponent &&
            !x->derived && (w->inside || !w->late || !w->late[x->base]))
            group[n++] = x;
    for (int i = 0; i < n; i++) {
        group[i]->known = true;
        lgv_text_add(out, i ? ", " : "    vec ");
        inverse_name(out, w, group[i]);
        if (n > 1) continue;
        lgv_text_add(out, " = 1.0 / (");
        power(out, g, first->base, -first->exponent, false);
        lgv_text_add(out, ")");
    }
    lgv_text_add(out, ";\n");
    if (n == 1) return;
    lgv_text_add(out, "    {\n    vec x[] = {");
    for (int i = 0; i < n; i++) {
        lgv_text_add(out, i ? ", " : "");
        lgv_emit_value(out, g, group[i]->base);
    }
    lgv_text_add(out, "};\n    vec_inverses(x, %d, %d, %d);\n   ", n, (int)floor(-first->exponent),
                 first->exponent != floor(first->exponent));
    for (int i = 0; i < n; i++) {
        lgv_text_add(out, " ");
        inverse_name(out, w, group[i]);
        lgv_text_add(out, " = x[%d];", i);
    }
    lgv_text_add(out, "\n    }\n");
}

static void derived_inverse(struct lgv_text *out, const struct lgv_graph *g, int k, const struct wanted *w,
                            struct inverse *x) {
    struct inverse *one = inverse_at(w, (struct lgv_arg){x->base, -1});
    if (!one->known) inverse_group(out, g, k, w, one);
    x->known = true;
    lgv_text_add(out, "    const vec ");
    inverse_name(out, w, x);
    lgv_text_add(out, " = vec_powi(");
    inverse_name(out, w, one);
    lgv_text_add(out, ", %d);\n", (int)-x->exponent);
}

/* The inverses that product k is the first to have. */
static void inverses(struct lgv_text *out, const struct lgv_graph *g, int k, const struct wanted *w) {
    const struct lgv_node *n = &g->node[k];
    for (int i = 0; i < n->count; i++) {
        struct lgv_arg a = g->arg[n->first + i];
        if (!shared(g, w, a) || inverse_at(w, a)->known) continue;
        (inverse_at(w, a)->derived ? derived_inverse : inverse_group)(out, g, k, w, inverse_at(w, a));
    }
}

/* Functions whose copies are long. */
static bool inlined(const struct lgv_node *n) {
    return n->op == LGV_EXP || n->op == LGV_LOG || n->op == LGV_SIN || n->op == LGV_COS;
}

static void function(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_node *n, bool uniform,
                     bool far) {
    static const char *const name[] = {
        [LGV_POW] = "pow",     [LGV_EXP] = "exp",     [LGV_LOG] = "log",   [LGV_SIN] = "sin",   [LGV_COS] = "cos",
        [LGV_TAN] = "tan",     [LGV_ASIN] = "asin",   [LGV_ACOS] = "acos", [LGV_ATAN] = "atan", [LGV_SINH] = "sinh",
        [LGV_COSH] = "cosh",   [LGV_TANH] = "tanh",   [LGV_ABS] = "abs",   [LGV_SIGN] = "sign", [LGV_ERF] = "erf",
        [LGV_FLOOR] = "floor", [LGV_ATAN2] = "atan2", [LGV_LOWER] = "min", [LGV_UPPER] = "max", [LGV_LESS] = "less",
        [LGV_PICK] = "pick"};
    const char *f = name[n->op];
    if (uniform && (n->op == LGV_SIGN || n->op >= LGV_LOWER))
        lgv_text_add(out, "num_%s(", f);
    else if (uniform)
        lgv_text_add(out, "__builtin_%s(", n->op == LGV_ABS ? "fabs" : f);
    else
        lgv_text_add(out, "%s_%s(", far && inlined(n) ? "far" : "vec", f);
    for (int i = 0; i < n->count; i++) {
        int a = g->arg[n->first + i].node;
        bool widen = !uniform && lgv_emit_uniform(g, a);
        lgv_text_add(out, i ? ", %s" : "%s", widen ? "vec_set(" : "");
        lgv_emit_value(out, g, a);
        if (widen) lgv_text_add(out, ")");
    }
    lgv_text_add(out, ")");
}

static void table(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_node *n, bool uniform) {
    const struct lgv_table *t = &g->tabulated[n->aux];
    const int a = g->arg[n->first].node;
    const bool widen = !uniform && lgv_emit_uniform(g, a);
    lgv_text_add(out, "%s_table(par + %ld, %s", uniform ? "num" : "vec", t->at, widen ? "vec_set(" : "");
    lgv_emit_value(out, g, a);
    lgv_text_add(out, "%s, %ld, %d, %d, %d, %d)", widen ? ")" : "", t->intervals, t->degree, (int)n->value,
                 (int)t->outside, t->even);
}

static void statement(struct lgv_text *out, const struct lgv_graph *g, int k, const struct wanted *w, bool uniform,
                      bool far) {
    const struct lgv_node *n = &g->node[k];
    if (n->op == LGV_SUM) {
        sum(out, g, k, uniform ? "double " : "vec ");
        return;
    }
    if (n->op == LGV_PRODUCT && !uniform) inverses(out, g, k, w);
    lgv_text_add(out, "    const %s t%d = ", uniform ? "double" : "vec", k);
    if (n->op == LGV_REF)
        reference(out, g, k, w->layout, w->inner);
    else if (n->op == LGV_INDEX) {
        lgv_text_add(out, "(double)");
        lgv_emit_index(out, g, n->aux);
    } else if (n->op == LGV_ENTRY) {
        lgv_text_add(out, n->value < 0 ? "DRAWN_VALUE(" : "par[");
        lgv_emit_index(out, g, n->aux);
        if (n->value < 0)
            lgv_text_add(out, " + (%d))", (int)n->value + 1);
        else
            lgv_text_add(out, "]");
    } else if (n->op == LGV_PRODUCT)
        product(out, g, n, w, uniform);
    else if (n->op == LGV_TABLE)
        table(out, g, n, uniform);
    else
        function(out, g, n, uniform, far);
    lgv_text_add(out, ";\n");
}

/* A text with more calls of long functions than this calls them; with fewer it has copies, unless it runs seldom. */
#define MOST_COPIES 32

static bool find_wanted(const struct lgv_graph *g, const int *list, size_t count, struct wanted *w) {
    *w = (struct wanted){.last = -1, .inner = -1};
    for (size_t i = 0; i < count; i++)
        if (list[i] > w->last) w->last = list[i];
    w->mark = lgv_new((size_t)w->last + 1, 1);
    w->sine = lgv_new((size_t)w->last + 1, sizeof *w->sine);
    w->cosine = lgv_new((size_t)w->last + 1, sizeof *w->cosine);
    w->inverse_of = lgv_new((size_t)w->last + 1, sizeof *w->inverse_of);
    if (!w->mark || !w->sine || !w->cosine || !w->inverse_of) return false;
    for (size_t i = 0; i < count; i++) w->mark[list[i]] = 1;
    for (int k = w->last; k >= 0; k--) {
        const struct lgv_node *n = &g->node[k];
        if (!w->mark[k] || n->op == LGV_REF) continue;
        for (int i = 0; i < n->count; i++) w->mark[g->arg[n->first + i].node] = 1;
        for (int i = 0; n->op == LGV_PRODUCT && i < n->count; i++)
            if (!count_inverse(g, w, g->arg[n->first + i])) return false;
        if (n->op == LGV_SIN) w->sine[g->arg[n->first].node] = k;
        if (n->op == LGV_COS) w->cosine[g->arg[n->first].node] = k;
        w->calls += inlined(n) && !lgv_emit_uniform(g, k);
    }
    return derive_inverses(g, w);
}

static void wanted_free(struct wanted *w) {
    free(w->mark);
    free(w->sine);
    free(w->cosine);
    free(w->inverse_of);
    free(w->inverse);
    free(w->late);
}

static bool find_late(const struct lgv_graph *g, struct wanted *w) {
    w->late = lgv_new((size_t)w->last + 1, 1);
    if (!w->late) return false;
    for (int k = 0; k <= w->last; k++) {
        const struct lgv_node *n = &g->node[k];
        if (!w->mark[k]) continue;
        if (n->op == LGV_REF || n->op == LGV_INDEX || n->op == LGV_ENTRY)
            w->late[k] = lgv_index_vars(g, n->aux) >> w->inner & 1;
        for (int i = 0; n->op != LGV_REF && i < n->count; i++) w->late[k] |= w->late[g->arg[n->first + i].node];
    }
    return true;
}

static void place(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_target *t,
                  const struct lgv_term *term, const char *op) {
    if (t->guarded)
        lgv_text_add(out, "    if (%s) ", t->array);
    else
        lgv_text_add(out, "    ");
    lgv_text_add(out, "%s[", t->array);
    if (t->map)
        lgv_text_add(out, "%s[at_%s++]", t->map, t->array);
    else
        lgv_emit_index(out, g, term->row);
    if (t->cols) {
        lgv_text_add(out, " * %s + ", t->cols);
        lgv_emit_index(out, g, term->col);
    }
    lgv_text_add(out, "] %s ", op);
    bool widen = lgv_emit_uniform(g, term->value);
    if (widen) lgv_text_add(out, "vec_set(");
    lgv_emit_value(out, g, term->value);
    lgv_text_add(out, widen ? ");\n" : ";\n");
}

/* Terms that are placed as soon as their values are there. */
struct early {
    const struct lgv_target *target;
    const struct lgv_term **term; /* [count] by value */
    size_t next, count;
};

static void place_below(struct lgv_text *out, const struct lgv_graph *g, struct early *e, int node) {
    for (; e->next < e->count && e->term[e->next]->value < node; e->next++)
        place(out, g, e->target, e->term[e->next], "=");
}

static void write_node(struct lgv_text *out, const struct lgv_graph *g, int k, struct wanted *w, bool far) {
    const struct lgv_node *n = &g->node[k];
    if (w->mark[k] != 1 || n->op == LGV_CONST || n->op == LGV_PARAM || n->op == LGV_TIME) return;
    bool uniform = lgv_emit_uniform(g, k);
    if (uniform && n->op == LGV_REF) return;
    int arg = n->op == LGV_SIN || n->op == LGV_COS ? g->arg[n->first].node : 0;
    int s = w->sine[arg], c = w->cosine[arg];
    if (uniform || !arg || !s || !c) {
        statement(out, g, k, w, uniform, far);
        return;
    }
    lgv_text_add(out, "    vec t%d, t%d;\n    %s_sincos(", s, c, far ? "far" : "vec");
    lgv_emit_value(out, g, arg);
    lgv_text_add(out, ", &t%d, &t%d);\n", s, c);
    w->mark[s] = w->mark[c] = 2;
}

static bool runs_far(const struct wanted *w, bool seldom) {
    return seldom || w->calls > MOST_COPIES;
}

static void emit_nodes(struct lgv_text *out, const struct lgv_graph *g, const int *list, size_t count, bool seldom,
                       int inner, struct early *early) {
    struct wanted w;
    if (!find_wanted(g, list, count, &w)) out->failed = true;
    w.layout = inner < 0 ? PATHS : INSTANCES;
    w.inner = inner;
    for (int k = 0; k <= w.last && !out->failed; k++) {
        place_below(out, g, early, k);
        write_node(out, g, k, &w, runs_far(&w, seldom));
    }
    place_below(out, g, early, w.last + 1);
    wanted_free(&w);
}

void lgv_emit_nodes(struct lgv_text *out, const struct lgv_graph *g, const int *list, size_t count, bool seldom) {
    emit_nodes(out, g, list, count, seldom, -1, &(struct early){0});
}

void lgv_emit_nodes_each(struct lgv_text *out, const struct lgv_graph *g, const int *list, size_t count, bool seldom,
                         int inner) {
    emit_nodes(out, g, list, count, seldom, inner, &(struct early){0});
}

void lgv_emit_nodes_row(struct lgv_text *out, const struct lgv_graph *g, const int *list, size_t count, bool seldom,
                        int inner, void (*open)(void *user, struct lgv_text *out), void *user) {
    struct wanted w;
    if (!find_wanted(g, list, count, &w)) out->failed = true;
    w.layout = g->pairs ? PLACES : PATHS;
    w.inner = inner;
    if (!out->failed && !find_late(g, &w)) out->failed = true;
    for (int pass = 0; pass < 2 && !out->failed; pass++) {
        w.inside = pass;
        if (w.inside) open(user, out);
        for (int k = 0; k <= w.last; k++)
            if (w.late[k] == pass) write_node(out, g, k, &w, runs_far(&w, seldom));
    }
    wanted_free(&w);
}

void lgv_emit_levels(struct lgv_text *out, const struct lgv_graph *g, int nest, int count) {
    for (int k = 0; k < count; k++) {
        const struct lgv_level *l = &g->level[g->nest[nest].first + k];
        lgv_text_add(out, "    for (long i%d = ", k);
        lgv_emit_index(out, g, l->low);
        lgv_text_add(out, "; i%d <= ", k);
        lgv_emit_index(out, g, l->high);
        lgv_text_add(out, "; i%d++) {\n", k);
    }
}

void lgv_emit_condition(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_condition *c) {
    lgv_emit_index(out, g, c->a);
    lgv_text_add(out, c->compare == '<' ? " < " : c->compare == 'l' ? " <= " : c->compare == '=' ? " == " : " != ");
    lgv_emit_index(out, g, c->b);
}

int lgv_emit_loops(struct lgv_text *out, const struct lgv_graph *g, int nest) {
    const struct lgv_nest *n = &g->nest[nest];
    lgv_emit_levels(out, g, nest, n->count);
    for (int k = 0; k < n->ncond; k++) {
        lgv_text_add(out, "    if (!(");
        lgv_emit_condition(out, g, &g->condition[n->cond + k]);
        lgv_text_add(out, ")) continue;\n");
    }
    return n->count;
}

/* The terms of one nest (or the plain ones) of all targets in one body. */
static void body(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_target *target, size_t count,
                 int nest) {
    int *list = NULL;
    size_t n = 0, capacity = 0;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < target[k].terms->count; i++) {
            if (target[k].terms->term[i].nest != nest) continue;
            if (!lgv_grow(&list, &capacity, n + 1, sizeof *list)) {
                out->failed = true;
                free(list);
                return;
            }
            list[n++] = target[k].terms->term[i].value;
        }
    if (n && lgv_emit_is_in_rows(g, target, count, nest, list, n)) {
        lgv_emit_in_rows(out, g, target, count, nest, list, n);
    } else if (n && lgv_emit_is_over_pairs(g, target, count, nest)) {
        lgv_emit_over_pairs(out, g, target, count, nest, list, n);
    } else if (n) {
        int braces = 1;
        if (nest < 0)
            lgv_text_add(out, "    {\n");
        else
            braces = lgv_emit_loops(out, g, nest);
        lgv_emit_nodes(out, g, list, n, target->seldom);
        for (size_t k = 0; k < count; k++)
            for (size_t i = 0; i < target[k].terms->count; i++)
                if (target[k].terms->term[i].nest == nest)
                    place(out, g, &target[k], &target[k].terms->term[i], nest < 0 ? "=" : "+=");
        while (braces-- > 0) lgv_text_add(out, "    }\n");
    }
    free(list);
}

static bool all_plain(const struct lgv_graph *g, const struct lgv_target *t) {
    long plain = 0;
    for (size_t i = 0; i < t->terms->count; i++) plain += t->terms->term[i].nest < 0;
    (void)g;
    return plain == (long)t->terms->count && plain == t->rows;
}

/* Unless every entry will be assigned. */
static void clear(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_target *t) {
    if (t->map) lgv_text_add(out, "    long at_%s = 0;\n", t->array);
    if (!t->map && (t->rows == 0 || all_plain(g, t))) return;
    lgv_text_add(out, "    %s%s%sfor (long z = 0; z < %ld; z++) %s[z] = vec_set(0);\n", t->guarded ? "if (" : "",
                 t->guarded ? t->array : "", t->guarded ? ") " : "", t->rows, t->array);
}

void lgv_emit_targets(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_target *target, size_t count) {
    for (size_t k = 0; k < count; k++) clear(out, g, &target[k]);
    body(out, g, target, count, -1);
    for (int nest = 0; nest < (int)g->nnests; nest++) body(out, g, target, count, nest);
}

static int by_value(const void *a, const void *b) {
    const struct lgv_term *x = *(const struct lgv_term *const *)a, *y = *(const struct lgv_term *const *)b;
    return (x->value > y->value) - (x->value < y->value);
}

void lgv_emit_early(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_target *target) {
    const struct lgv_terms *t = target->terms;
    struct early early = {.target = target, .term = lgv_new(t->count + 1, sizeof *early.term)};
    int *list = lgv_new(t->count + 1, sizeof *list);
    if (!early.term || !list) out->failed = true;
    for (size_t i = 0; !out->failed && i < t->count; i++)
        if (t->term[i].nest < 0) early.term[early.count++] = &t->term[i];
    if (!out->failed) {
        clear(out, g, target);
        qsort(early.term, early.count, sizeof *early.term, by_value);
        for (size_t i = 0; i < early.count; i++) list[i] = early.term[i]->value;
        if (early.count) {
            lgv_text_add(out, "    {\n");
            emit_nodes(out, g, list, early.count, target->seldom, -1, &early);
            lgv_text_add(out, "    }\n");
        }
        for (int nest = 0; nest < (int)g->nnests; nest++) body(out, g, target, 1, nest);
    }
    free(early.term);
    free(list);
}
