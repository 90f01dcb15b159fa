/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sections `events` and `stop` of a model file: conditions on the state.
 *
 *     condition  = all { "or" all }
 *     all        = one { "and" one }
 *     one        = "not" one | "(" condition ")" | name of an event | formula ("<" | ">") formula { ... }
 *
 * A condition becomes its margin, a number that is positive where it holds: a - b for a > b, the smaller margin for
 * `and`, the larger one for `or`, the negative for `not`.  So it is known how far a state is from it, and where inside
 * a step it begins to hold. */
#include "model/load.h"
#include "model/point.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define STATE (LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES(LGV_V) | LGV_USES_TIME)
#define MAX_NESTING 50

struct part { /* characters from .. to - 1 of the text of a node */
    struct lgv_loader *l;
    int node;
    const char *text;
    size_t from, to;
    int depth;
};

static bool fail_here(const struct part *p, size_t at, const char *message) {
    struct lgv_formula_error why = {.offset = at};
    snprintf(why.message, sizeof why.message, "%s", message);
    return lgv_yaml_fail_in(p->l, p->node, &why);
}

static struct part trimmed(struct part p, size_t from, size_t to) {
    while (from < to && isspace((unsigned char)p.text[from])) from++;
    while (to > from && isspace((unsigned char)p.text[to - 1])) to--;
    p.from = from;
    p.to = to;
    p.depth++;
    return p;
}

static bool in_name(char c) {
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Where a word, or one of the signs < and >, stands outside of all brackets from `at` on; p->to when nowhere. */
static size_t find(const struct part *p, size_t at, const char *word) {
    size_t n = word ? strlen(word) : 1;
    int open = 0;
    for (size_t i = p->from; i < p->to; i++) {
        char c = p->text[i];
        open += (c == '(' || c == '[') - (c == ')' || c == ']');
        if (open || i < at || i + n > p->to) continue;
        if (!word && (c == '<' || c == '>')) return i;
        if (word && strncmp(p->text + i, word, n) == 0 && (i == p->from || !in_name(p->text[i - 1])) &&
            (i + n == p->to || !in_name(p->text[i + n])))
            return i;
    }
    return p->to;
}

static bool formula(struct part p, int *out) {
    struct lgv_loader *l = p.l;
    struct lgv_formula_error why;
    struct lgv_value v;
    if (p.from == p.to) return fail_here(&p, p.from, "there is no formula on this side");
    char *text = lgv_copy_n(p.text + p.from, p.to - p.from);
    if (!text) return lgv_yaml_memory(l);
    l->m->scope.allow = STATE;
    l->m->scope.place = "a condition";
    bool ok = lgv_formula_parse(&l->m->scope, text, &v, NULL, &why);
    free(text);
    if (!ok) {
        why.offset += p.from;
        return lgv_yaml_fail_in(l, p.node, &why);
    }
    if (v.dim != 1) return fail_here(&p, p.from, "a condition compares numbers, but this is a vector");
    *out = lgv_load_without_velocities(l, v.node[0]);
    return !l->m->graph->failed || lgv_yaml_fail(l, p.node, "%s", l->m->graph->failed);
}

/* a < b < c: the smaller of b - a and c - b. */
static bool comparison(struct part p, size_t sign, int *out) {
    struct lgv_graph *g = p.l->m->graph;
    int left, right, margin = -1;
    if (!formula(trimmed(p, p.from, sign), &left)) return false;
    for (size_t next; sign < p.to; sign = next, left = right) {
        if (sign + 1 < p.to && strchr("=<>", p.text[sign + 1]))
            return fail_here(&p, sign, "conditions compare by < and > only: of numbers that vary continuously it makes "
                                       "no difference whether equality counts");
        next = find(&p, sign + 1, NULL);
        if (!formula(trimmed(p, sign + 1, next), &right)) return false;
        int one = p.text[sign] == '>' ? lgv_expr_sub(g, left, right) : lgv_expr_sub(g, right, left);
        margin = margin < 0 ? one : lgv_expr_call2(g, LGV_LOWER, margin, one);
    }
    *out = margin;
    return true;
}

static bool condition(struct part p, int *out);

/* "A or B" where the word stands there; *found tells. */
static bool joined(const struct part *p, const char *word, enum lgv_op op, bool *found, int *out) {
    size_t at = find(p, p->from, word);
    int a, b;
    *found = at < p->to;
    if (!*found) return true;
    if (!condition(trimmed(*p, p->from, at), &a) || !condition(trimmed(*p, at + strlen(word), p->to), &b)) return false;
    *out = lgv_expr_call2(p->l->m->graph, op, a, b);
    return true;
}

/* The bracket at p->from closes at the end. */
static bool enclosed(const struct part *p) {
    int open = 0;
    for (size_t i = p->from; i < p->to; i++) {
        open += (p->text[i] == '(') - (p->text[i] == ')');
        if (!open) return i + 1 == p->to && p->text[p->from] == '(';
    }
    return false;
}

static bool named(const struct part *p, int *out) {
    const struct lgv_model *m = p->l->m;
    for (size_t k = 0; k < m->nevents; k++) {
        const char *name = m->event[k].name;
        if (strlen(name) != p->to - p->from || strncmp(name, p->text + p->from, p->to - p->from) != 0) continue;
        *out = m->event[k].node;
        return true;
    }
    return false;
}

static bool condition(struct part p, int *out) {
    bool found;
    if (p.depth > MAX_NESTING) return fail_here(&p, p.from, "conditions are nested too deeply");
    if (p.from == p.to) return fail_here(&p, p.from, "there is no condition here");
    bool ok = joined(&p, "or", LGV_UPPER, &found, out);
    if (ok && !found) ok = joined(&p, "and", LGV_LOWER, &found, out);
    if (found) return ok;
    if (find(&p, p.from, "not") == p.from) {
        if (!condition(trimmed(p, p.from + 3, p.to), out)) return false;
        *out = lgv_expr_scale(p.l->m->graph, -1, *out);
        return true;
    }
    size_t sign = find(&p, p.from, NULL);
    if (sign < p.to) return comparison(p, sign, out);
    if (enclosed(&p)) return condition(trimmed(p, p.from + 1, p.to - 1), out);
    return named(&p, out) ||
           fail_here(&p, p.from, "a condition compares two formulas, as in x > 1, or is the name of an event above");
}

/* Adds event `name` with the condition of `value`. */
static bool add_event(struct lgv_loader *l, const char *name, int value) {
    struct lgv_model *m = l->m;
    const char *text = lgv_yaml_text(l, value, "a condition");
    if (!text) return false;
    if (m->nevents >= LGV_MAX_EVENTS)
        return lgv_yaml_fail(l, value, "there are more than %d events", LGV_MAX_EVENTS);
    struct part whole = {.l = l, .node = value, .text = text};
    struct lgv_event e = {.node = -1};
    if (!condition(trimmed(whole, 0, strlen(text)), &e.node)) return false;
    if (m->graph->failed) return lgv_yaml_fail(l, value, "%s", m->graph->failed);
    e.name = lgv_copy(name);
    e.text = lgv_copy(text);
    lgv_yaml_place(l, value, &e.line, &e.column);
    m->event[m->nevents++] = e;
    return (e.name && e.text) || lgv_yaml_memory(l);
}

bool lgv_load_events(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (!(m->event = lgv_new(LGV_MAX_EVENTS, sizeof *m->event))) return lgv_yaml_memory(l);
    if (node < 0) return true;
    if (!lgv_yaml_mapping(l, node, "events as name: condition")) return false;
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        if (!lgv_formula_is_name(name))
            return lgv_yaml_fail(l, key, "'%.60s' is not a name (a letter, then letters, digits and _)", name);
        if (strcmp(name, "and") == 0 || strcmp(name, "or") == 0 || strcmp(name, "not") == 0 ||
            strcmp(name, "stop") == 0)
            return lgv_yaml_fail(l, key, "%s has a meaning of its own; choose another name", name);
        for (size_t k = 0; k < m->nevents; k++)
            if (strcmp(m->event[k].name, name) == 0) return lgv_yaml_fail(l, key, "there are two events %.60s", name);
        if (!add_event(l, name, value)) return false;
    }
    return true;
}

/* `stop` is an event of its own unless it is just the name of another one. */
bool lgv_load_stop(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (node < 0) return true;
    const char *text = lgv_yaml_text(l, node, "a condition");
    if (!text) return false;
    for (size_t k = 0; k < m->nevents; k++)
        if (strcmp(m->event[k].name, text) == 0) {
            m->event[k].stops = true;
            lgv_yaml_place(l, node, &m->event[k].line, &m->event[k].column);
            return true;
        }
    if (!add_event(l, "stop", node)) return false;
    m->event[m->nevents - 1].stops = true;
    return true;
}

enum lgv_status lgv_model_stop_check(const struct lgv_model *m, struct lgv_error *err) {
    struct lgv_evaluator e;
    struct lgv_point at = {0};
    enum lgv_status status = LGV_OK;
    if (!m->nevents || m->draws[0] || m->draws[1]) return LGV_OK; /* starts differ from path to path */
    if (!lgv_eval_begin(&e, m->graph)) return lgv_fail_memory(err);
    if (!lgv_point_make(m, &e, -1, 1, &at)) status = lgv_fail_memory(err);
    struct lgv_env env = lgv_point_env(m, &at);
    for (size_t k = 0; status == LGV_OK && k < m->nevents; k++)
        if (m->event[k].stops && lgv_eval_node(&e, m->event[k].node, &env, NULL) > 0)
            status = lgv_model_fail(err, m->file, m->text, m->event[k].line, m->event[k].column,
                                    "this holds at the start already (t = %g): every path would stop there", at.t);
    free(at.x);
    lgv_eval_end(&e);
    return status;
}
