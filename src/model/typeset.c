/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pieces of formulas put together in three ways of writing them: the formula language itself, LaTeX, and presentation
 * MathML. */
#include "model/typeset.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *letter; /* LaTeX names most of them as we do */
} greek[] = {
    {"alpha", "α"},   {"beta", "β"},   {"gamma", "γ"},   {"delta", "δ"},   {"epsilon", "ε"}, {"zeta", "ζ"},
    {"eta", "η"},     {"theta", "θ"},  {"iota", "ι"},    {"kappa", "κ"},   {"lambda", "λ"},  {"mu", "μ"},
    {"nu", "ν"},      {"xi", "ξ"},     {"pi", "π"},      {"rho", "ρ"},     {"sigma", "σ"},   {"tau", "τ"},
    {"upsilon", "υ"}, {"phi", "φ"},    {"chi", "χ"},     {"psi", "ψ"},     {"omega", "ω"},   {"Gamma", "Γ"},
    {"Delta", "Δ"},   {"Theta", "Θ"},  {"Lambda", "Λ"},  {"Xi", "Ξ"},      {"Pi", "Π"},      {"Sigma", "Σ"},
    {"Upsilon", "Υ"}, {"Phi", "Φ"},    {"Psi", "Ψ"},     {"Omega", "Ω"},   {"vartheta", "ϑ"}, {"varphi", "ϕ"},
};
#define NGREEK (sizeof greek / sizeof *greek)

void lgv_typeset_free(struct lgv_typeset *t) {
    for (size_t k = 0; k < t->count; k++) free(t->held[k]);
    free(t->held);
    *t = (struct lgv_typeset){.markup = t->markup};
}

/* The text is the typesetter's from now on. */
static const char *hold(struct lgv_typeset *t, struct lgv_text *x) {
    if (!x->failed && !x->data) lgv_text_append(x, "", 0);
    if (x->failed || !x->data || !lgv_grow(&t->held, &t->capacity, t->count + 1, sizeof *t->held)) {
        lgv_text_free(x);
        t->failed = true;
        return "";
    }
    t->held[t->count++] = x->data;
    return x->data;
}

struct lgv_typed lgv_set_made(struct lgv_typeset *t, enum lgv_typed_level level, const char *const form[3],
                              const char *first, const char *second, const char *third) {
    const char *const arg[] = {first, second, third};
    struct lgv_text out = {0};
    for (const char *s = form[t->markup]; *s; s++) {
        if (*s == '@' && s[1] >= '1' && s[1] <= '3') {
            const char *a = arg[*++s - '1'];
            lgv_text_append(&out, a, strlen(a));
        } else {
            lgv_text_append(&out, s, 1);
        }
    }
    return (struct lgv_typed){hold(t, &out), level, false};
}

/* ---- names and numbers ---- */

/* Letters without a subscript. */
static const char *letters(struct lgv_typeset *t, const char *s, size_t n) {
    struct lgv_text out = {0};
    size_t k = 0, first = lgv_char_size(s);
    while (k < NGREEK && !(strlen(greek[k].name) == n && memcmp(greek[k].name, s, n) == 0) &&
           !(strlen(greek[k].letter) == n && memcmp(greek[k].letter, s, n) == 0))
        k++;
    bool number = n && strspn(s, "0123456789") >= n;
    if (t->markup == LGV_MATHML && k < NGREEK)
        lgv_text_add(&out, "<mi>%s</mi>", greek[k].letter);
    else if (t->markup == LGV_MATHML)
        lgv_text_add(&out, number ? "<mn>%.*s</mn>" : "<mi>%.*s</mi>", (int)n, s);
    else if (k < NGREEK)
        lgv_text_add(&out, "\\%s", greek[k].name);
    else
        lgv_text_add(&out, n > first && !number ? "\\mathrm{%.*s}" : "%.*s", (int)n, s);
    return hold(t, &out);
}

struct lgv_typed lgv_set_name(struct lgv_typeset *t, const char *name) {
    size_t n = strlen(name), head = strcspn(name, "_");
    if (t->markup == LGV_PLAIN) return lgv_set_made(t, LGV_SET_ATOM, LGV_FORMS("@1", "", ""), name, "", "");
    size_t next = head + (name[head] == '_');
    if (head == n) /* x12: digits at the end are a subscript, too */
        while (head > 1 && isdigit((unsigned char)name[head - 1])) next = --head;
    if (head == 0 || next >= n)
        return lgv_set_made(t, LGV_SET_ATOM, LGV_FORMS("@1", "@1", "@1"), letters(t, name, n), "", "");
    struct lgv_text below = {0};
    for (const char *s = name + next; *s;) { /* a_b_c: commas between parts */
        size_t k = strcspn(s, "_");
        if (s > name + next) lgv_text_add(&below, "%s", t->markup == LGV_LATEX ? "," : "<mo>,</mo>");
        lgv_text_add(&below, "%s", letters(t, s, k));
        s += k + (s[k] == '_');
    }
    return lgv_set_made(t, LGV_SET_ATOM, LGV_FORMS("", "@1_{@2}", "<msub>@1<mrow>@2</mrow></msub>"),
                        letters(t, name, head), hold(t, &below), "");
}

struct lgv_typed lgv_set_number(struct lgv_typeset *t, double x) {
    char text[40], part[40] = "";
    lgv_exact(text, sizeof text, fabs(x));
    char *e = strchr(text, 'e');
    struct lgv_typed p;
    if (e && t->markup != LGV_PLAIN) {
        snprintf(part, sizeof part, "%d", atoi(e + 1));
        *e = 0;
        bool one = strcmp(text, "1") == 0;
        p = lgv_set_made(t, one ? LGV_SET_POWER : LGV_SET_PRODUCT,
                         one ? LGV_FORMS("", "10^{@2}", "<msup><mn>10</mn><mn>@2</mn></msup>")
                             : LGV_FORMS("", "@1 \\cdot 10^{@2}",
                                         "<mrow><mn>@1</mn><mo>·</mo><msup><mn>10</mn><mn>@2</mn></msup></mrow>"),
                         text, part, "");
    } else {
        p = lgv_set_made(t, LGV_SET_ATOM, LGV_FORMS("@1", "@1", "<mn>@1</mn>"), text, "", "");
    }
    p.minus = x < 0;
    return p;
}

struct lgv_typed lgv_set_rational(struct lgv_typeset *t, double x) {
    for (int d = 2; d <= 120 && x != floor(x); d++) {
        double n = fabs(x) * d;
        if (fabs(n - round(n)) > 4e-16 * n || round(n) / d != fabs(x) || round(n) > 1000) continue;
        struct lgv_typed over = lgv_set_number(t, round(n)), under = lgv_set_number(t, d);
        struct lgv_typed p = lgv_set_product(t, &over, 1, &under, 1);
        p.minus = x < 0;
        return p;
    }
    return lgv_set_number(t, x);
}

/* ---- sums, products, powers ---- */

struct lgv_typed lgv_set_brackets(struct lgv_typeset *t, struct lgv_typed x) {
    return lgv_set_made(
        t, LGV_SET_ATOM,
        x.minus ? LGV_FORMS("(-@1)", "\\left(-@1\\right)", "<mrow><mo>(</mo><mo>−</mo>@1<mo>)</mo></mrow>")
                : LGV_FORMS("(@1)", "\\left(@1\\right)", "<mrow><mo>(</mo>@1<mo>)</mo></mrow>"),
        x.text, "", "");
}

struct lgv_typed lgv_set_negative(struct lgv_typed x) {
    x.minus = !x.minus;
    return x;
}

/* With its sign, and in brackets unless it binds that tightly. */
static const char *within(struct lgv_typeset *t, struct lgv_typed x, enum lgv_typed_level least) {
    if (x.level < least || (x.minus && (least > LGV_SET_SUM || x.level < LGV_SET_SUM)))
        return lgv_set_brackets(t, x).text;
    if (!x.minus) return x.text;
    return lgv_set_made(t, LGV_SET_SUM, LGV_FORMS("-@1", "-@1", "<mrow><mo>−</mo>@1</mrow>"), x.text, "", "").text;
}

struct lgv_typed lgv_set_sum(struct lgv_typeset *t, const struct lgv_typed *term, size_t count) {
    struct lgv_text out = {0};
    if (count == 0) return lgv_set_number(t, 0);
    if (count == 1) return term[0];
    const char *const plus[] = {" + ", " + ", "<mo>+</mo>"}, *const minus[] = {" - ", " - ", "<mo>−</mo>"};
    for (size_t k = 0; k < count; k++) {
        const char *sign = term[k].minus ? minus[t->markup] : plus[t->markup];
        if (k == 0 && t->markup != LGV_MATHML) sign = term[k].minus ? "-" : "";
        if (k == 0 && !term[k].minus) sign = "";
        struct lgv_typed x = term[k];
        x.minus = false;
        if (x.level < LGV_SET_SUM || (term[k].minus && x.level == LGV_SET_SUM)) x = lgv_set_brackets(t, x);
        lgv_text_add(&out, "%s%s", sign, x.text);
    }
    return lgv_set_made(t, LGV_SET_SUM, LGV_FORMS("@1", "@1", "<mrow>@1</mrow>"), hold(t, &out), "", "");
}

/* Factors one behind the other. */
static struct lgv_typed row(struct lgv_typeset *t, const struct lgv_typed *factor, size_t count) {
    struct lgv_text out = {0};
    bool minus = false;
    if (count == 0) return lgv_set_number(t, 1);
    for (size_t k = 0; k < count; k++) minus ^= factor[k].minus;
    for (size_t k = 0; k < count; k++) {
        struct lgv_typed x = factor[k];
        x.minus = false;
        const char *text = count == 1 ? x.text : within(t, x, LGV_SET_PRODUCT);
        bool number = k && isdigit((unsigned char)text[0]);
        const char *const times[] = {"*", number ? " \\cdot " : " \\, ", "<mo>&#8290;</mo>"};
        lgv_text_add(&out, "%s%s", k ? times[t->markup] : "", text);
    }
    struct lgv_typed p = {hold(t, &out), count == 1 ? factor[0].level : LGV_SET_PRODUCT, minus};
    if (count > 1 && t->markup == LGV_MATHML)
        p.text = lgv_set_made(t, LGV_SET_PRODUCT, LGV_FORMS("", "", "<mrow>@1</mrow>"), p.text, "", "").text;
    return p;
}

struct lgv_typed lgv_set_product(struct lgv_typeset *t, const struct lgv_typed *over, size_t above,
                                 const struct lgv_typed *under, size_t below) {
    struct lgv_typed a = row(t, over, above);
    if (below == 0) return a;
    struct lgv_typed b = row(t, under, below);
    bool minus = a.minus ^ b.minus;
    a.minus = b.minus = false;
    const char *left = t->markup == LGV_PLAIN ? within(t, a, LGV_SET_PRODUCT) : a.text;
    const char *right = t->markup == LGV_PLAIN ? within(t, b, LGV_SET_POWER) : b.text;
    struct lgv_typed p = lgv_set_made(t, LGV_SET_PRODUCT, LGV_FORMS("@1/@2", "\\frac{@1}{@2}", "<mfrac>@1 @2</mfrac>"),
                                      left, right, "");
    p.minus = minus;
    return p;
}

struct lgv_typed lgv_set_power(struct lgv_typeset *t, struct lgv_typed base, struct lgv_typed exponent) {
    const char *b = within(t, base, LGV_SET_ATOM);
    const char *e = t->markup == LGV_PLAIN && (exponent.minus || exponent.level < LGV_SET_POWER)
                        ? lgv_set_brackets(t, exponent).text
                        : within(t, exponent, LGV_SET_SUM);
    return lgv_set_made(t, LGV_SET_POWER, LGV_FORMS("@1^@2", "{@1}^{@2}", "<msup>@1 @2</msup>"), b, e, "");
}

/* ---- calls, vectors, subscripts ---- */

static const char *list(struct lgv_typeset *t, const struct lgv_typed *arg, size_t count) {
    struct lgv_text out = {0};
    for (size_t k = 0; k < count; k++)
        lgv_text_add(&out, "%s%s", !k ? "" : t->markup == LGV_MATHML ? "<mo>,</mo>" : ", ",
                     within(t, arg[k], LGV_SET_OR));
    return hold(t, &out);
}

struct lgv_typed lgv_set_call(struct lgv_typeset *t, const char *name, const struct lgv_typed *arg, size_t count) {
    static const struct {
        const char *name;
        size_t args;
        enum lgv_typed_level level;
        const char *form[3];
    } own[] = {
        {"sqrt", 1, LGV_SET_ATOM, {"sqrt(@1)", "\\sqrt{@1}", "<msqrt>@1</msqrt>"}},
        {"abs", 1, LGV_SET_ATOM, {"abs(@1)", "\\left|@1\\right|", "<mrow><mo>|</mo>@1<mo>|</mo></mrow>"}},
        {"norm", 1, LGV_SET_ATOM, {"norm(@1)", "\\left\\|@1\\right\\|", "<mrow><mo>‖</mo>@1<mo>‖</mo></mrow>"}},
        {"floor", 1, LGV_SET_ATOM,
         {"floor(@1)", "\\left\\lfloor @1\\right\\rfloor", "<mrow><mo>⌊</mo>@1<mo>⌋</mo></mrow>"}},
    };
    static const char *const roman[] = {"exp", "log", "ln",   "sin",  "cos",  "tan", "asin", "acos",
                                        "atan", "sinh", "cosh", "tanh", "min", "max"};
    static const char *const latex[] = {"exp", "ln",  "ln",   "sin",  "cos",  "tan", "arcsin", "arccos",
                                        "arctan", "sinh", "cosh", "tanh", "min", "max"};
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        if (strcmp(own[k].name, name) == 0 && count == own[k].args)
            return lgv_set_made(t, own[k].level, own[k].form, within(t, arg[0], LGV_SET_OR), "", "");
    if (t->markup != LGV_PLAIN && count == 2 && (strcmp(name, "dot") == 0 || strcmp(name, "cross") == 0))
        return lgv_set_made(t, LGV_SET_PRODUCT,
                            name[0] == 'd' ? LGV_FORMS("", "@1 \\cdot @2", "<mrow>@1<mo>·</mo>@2</mrow>")
                                           : LGV_FORMS("", "@1 \\times @2", "<mrow>@1<mo>×</mo>@2</mrow>"),
                            within(t, arg[0], LGV_SET_POWER), within(t, arg[1], LGV_SET_POWER), "");
    if (t->markup != LGV_PLAIN && count == 1 && strcmp(name, "transpose") == 0)
        return lgv_set_made(t, LGV_SET_POWER, LGV_FORMS("", "{@1}^{\\top}", "<msup>@1<mo>⊤</mo></msup>"),
                            within(t, arg[0], LGV_SET_ATOM), "", "");
    struct lgv_text head = {0};
    size_t k = 0;
    while (k < sizeof roman / sizeof *roman && strcmp(roman[k], name) != 0) k++;
    bool known = k < sizeof roman / sizeof *roman;
    if (t->markup == LGV_LATEX && known) lgv_text_add(&head, "\\%s", latex[k]);
    else if (t->markup == LGV_MATHML && known) lgv_text_add(&head, "<mi>%s</mi>", latex[k]);
    else if (t->markup == LGV_LATEX) lgv_text_add(&head, "\\operatorname{%s}", name);
    else lgv_text_add(&head, "%s", t->markup == LGV_MATHML ? lgv_set_name(t, name).text : name);
    return lgv_set_made(t, LGV_SET_ATOM,
                        LGV_FORMS("@1(@2)", "@1\\left(@2\\right)",
                                  "<mrow>@1<mo>&#8289;</mo><mo>(</mo>@2<mo>)</mo></mrow>"),
                        hold(t, &head), list(t, arg, count), "");
}

struct lgv_typed lgv_set_vector(struct lgv_typeset *t, const struct lgv_typed *arg, size_t count) {
    return lgv_set_made(t, LGV_SET_ATOM,
                        LGV_FORMS("[@1]", "\\left(@1\\right)", "<mrow><mo>(</mo>@1<mo>)</mo></mrow>"),
                        list(t, arg, count), "", "");
}

struct lgv_typed lgv_set_entry(struct lgv_typeset *t, struct lgv_typed base, struct lgv_typed index) {
    return lgv_set_made(t, LGV_SET_ATOM, LGV_FORMS("@1[@2]", "{@1}_{@2}", "<msub>@1<mrow>@2</mrow></msub>"),
                        within(t, base, LGV_SET_ATOM), within(t, index, LGV_SET_SUM), "");
}

struct lgv_typed lgv_set_part(struct lgv_typeset *t, struct lgv_typed base, const char *part) {
    return lgv_set_made(t, LGV_SET_ATOM,
                        LGV_FORMS("@1.@2", part[0] && part[1] && part[2] ? "{@1}_{\\mathrm{@2}}" : "{@1}_{@2}",
                                  "<msub>@1<mi>@2</mi></msub>"),
                        within(t, base, LGV_SET_ATOM), part, "");
}

/* ---- relations, sums over indices, derivatives ---- */

struct lgv_typed lgv_set_relation(struct lgv_typeset *t, struct lgv_typed a, const char *relation, struct lgv_typed b) {
    static const char *const sign[][3] = {
        {"<", "<", "&lt;"},       {">", ">", "&gt;"},     {"<=", "\\le", "≤"},        {">=", "\\ge", "≥"},
        {"==", "=", "="},         {"!=", "\\ne", "≠"},    {"=", "=", "="},           {"in", "\\in", "∈"},
        {"and", "\\wedge", "∧"}, {"or", "\\vee", "∨"}, {"for", "\\quad\\text{for }", "for"},
    };
    enum { AND = 8, OR, FOR };
    size_t k = 0;
    while (k < FOR && strcmp(sign[k][0], relation) != 0) k++;
    const enum lgv_typed_level level = k == AND ? LGV_SET_AND : k >= OR ? LGV_SET_OR : LGV_SET_RELATION;
    return lgv_set_made(t, level, LGV_FORMS("@1 @2 @3", "@1 @2 @3", "<mrow>@1<mo>@2</mo>@3</mrow>"),
                        within(t, a, level), sign[k][t->markup], within(t, b, k < AND ? LGV_SET_SUM : level));
}

struct lgv_typed lgv_set_choice(struct lgv_typeset *t, struct lgv_typed condition, struct lgv_typed a,
                                struct lgv_typed b) {
    return lgv_set_made(t, LGV_SET_ATOM,
                        LGV_FORMS("if(@1, @2, @3)",
                                  "\\begin{cases} @2 & @1 \\\\ @3 & \\text{else} \\end{cases}",
                                  "<mrow><mo>{</mo><mtable columnalign=\"left\"><mtr><mtd>@2</mtd><mtd>@1</mtd></mtr>"
                                  "<mtr><mtd>@3</mtd><mtd><mtext>else</mtext></mtd></mtr></mtable></mrow>"),
                        within(t, condition, LGV_SET_OR), within(t, a, LGV_SET_SUM), within(t, b, LGV_SET_SUM));
}

struct lgv_typed lgv_set_range(struct lgv_typeset *t, struct lgv_typed index, struct lgv_typed low,
                               struct lgv_typed high) {
    return lgv_set_made(t, LGV_SET_SUM,
                        LGV_FORMS("@1=@2..@3", "@1 = @2, \\dots, @3",
                                  "<mrow>@1<mo>=</mo>@2<mo>,</mo><mo>…</mo><mo>,</mo>@3</mrow>"),
                        index.text, within(t, low, LGV_SET_SUM), within(t, high, LGV_SET_SUM));
}

struct lgv_typed lgv_set_big_sum(struct lgv_typeset *t, const struct lgv_typed *range, size_t count,
                                 struct lgv_typed body) {
    struct lgv_text below = {0};
    for (size_t k = 0; k < count; k++)
        lgv_text_add(&below, "%s%s",
                     !k                      ? ""
                     : t->markup == LGV_PLAIN ? ", "
                     : t->markup == LGV_LATEX ? ";\\; "
                                              : "<mo>;</mo>",
                     range[k].text);
    return lgv_set_made(t, t->markup == LGV_PLAIN ? LGV_SET_ATOM : LGV_SET_PRODUCT,
                        LGV_FORMS("sum(@1, @2)", "\\sum_{@1} @2",
                                  "<mrow><munder><mo>∑</mo><mrow>@1</mrow></munder>@2</mrow>"),
                        hold(t, &below), within(t, body, t->markup == LGV_PLAIN ? LGV_SET_SUM : LGV_SET_PRODUCT), "");
}

struct lgv_typed lgv_set_partial(struct lgv_typeset *t, struct lgv_typed f, struct lgv_typed x) {
    return lgv_set_made(t, LGV_SET_PRODUCT,
                        LGV_FORMS("d@1/d@2", "\\frac{\\partial @1}{\\partial @2}",
                                  "<mfrac><mrow><mo>∂</mo>@1</mrow><mrow><mo>∂</mo>@2</mrow></mfrac>"),
                        f.text, x.text, "");
}

struct lgv_typed lgv_set_increment(struct lgv_typeset *t, struct lgv_typed x, bool stratonovich) {
    return lgv_set_made(t, LGV_SET_ATOM,
                        stratonovich ? LGV_FORMS("o d@1", "\\circ \\mathrm{d}@1",
                                                 "<mrow><mo>∘</mo><mi>d</mi>@1</mrow>")
                                     : LGV_FORMS("d@1", "\\mathrm{d}@1", "<mrow><mi>d</mi>@1</mrow>"),
                        x.text, "", "");
}
