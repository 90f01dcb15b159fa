/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bodies of the functions of the face that every model can have: forces, increments, corrections, values, start values
 * and observables.  With K = a H + sum_m w_m h_m they are scatter terms of K's derivatives.  model_force keeps H_q and
 * the entries of h_m,q apart, so that an explicit method evaluates the force once and applies different weights to it.
 */
#include "kernel/generate.h"
#include <stdlib.h>

/* One vector or matrix. */
void lgv_face_one(struct lgv_source *s, const char *array, const struct lgv_terms *terms, long rows, const char *cols) {
    struct lgv_target target = {array, terms, rows, cols, false, NULL, false};
    lgv_emit_targets(&s->out, s->g, &target, 1);
}

/* Two vectors side by side. */
static void pair(struct lgv_source *s, const char *first, struct lgv_terms *q, const char *second,
                 struct lgv_terms *p) {
    long n = (long)s->m->np;
    struct lgv_target target[] = {{first, q, n, NULL, false, NULL, false}, {second, p, n, NULL, false, NULL, false}};
    lgv_emit_targets(&s->out, s->g, target, 2);
    lgv_terms_free(q);
    lgv_terms_free(p);
}

/* Gradient of f and Hessian of h, functions of q and `other`; count 2: the gradient alone.  Every array may be null. */
static void derivatives(struct lgv_source *s, const struct lgv_function *f, const struct lgv_function *h,
                        enum lgv_space other, const char *const *name, size_t count) {
    struct lgv_terms t[5] = {0};
    struct lgv_target target[5];
    long n = (long)s->m->np;
    lgv_terms_gradient(s->g, f, LGV_Q, &t[0]);
    lgv_terms_gradient(s->g, f, other, &t[1]);
    if (count > 2) {
        lgv_terms_hessian(s->g, h, LGV_Q, LGV_Q, &t[2]);
        lgv_terms_hessian(s->g, h, LGV_Q, other, &t[3]);
        lgv_terms_hessian(s->g, h, other, other, &t[4]);
    }
    for (size_t k = 0; k < count; k++)
        target[k] = (struct lgv_target){name[k], &t[k], k < 2 ? n : n * n, k < 2 ? NULL : "NP", true, NULL, false};
    lgv_emit_targets(&s->out, s->g, target, count);
    for (size_t k = 0; k < 5; k++) lgv_terms_free(&t[k]);
}

void lgv_face_derivatives(struct lgv_source *s, const struct lgv_function *f, enum lgv_space other,
                          const char *const *name, size_t count) {
    derivatives(s, f, f, other, name, count);
}

/* ---- forces ---- */

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
    struct lgv_forces *l = &s->slots;
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
            if (!kick) lgv_emit_nodes(&s->out, s->g, list, n, false);
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

/* H of the increment K. */
static bool function_H(struct lgv_source *s, struct lgv_function *H) {
    int a = lgv_expr_ref_at(s->g, LGV_WEIGHTS, 0);
    bool ok = true;
    for (size_t k = 0; ok && k < s->K.count; k++) {
        int body = lgv_expr_only(s->g, s->K.summand[k].body, LGV_WEIGHTS, a);
        ok = body == 0 || lgv_function_add(s->g, H, s->K.summand[k].nest, body);
    }
    return ok && !s->g->failed;
}

/* Parts of pair sums first, the sums, then what follows from derivatives with respect to parts. */
static void force_by_parts(struct lgv_source *s, struct lgv_factored *f, const struct lgv_terms *hq, long slots) {
    struct lgv_terms Hq = {0}, pull = {0}, back = {0};
    const long n = (long)s->m->np;
    lgv_terms_gradient(s->g, &f->rest, LGV_Q, &Hq);
    lgv_terms_gradient(s->g, &f->rest, LGV_PART, &pull);
    lgv_terms_gradient(s->g, &f->back, LGV_Q, &back);
    struct lgv_target target[] = {{"F->H", &Hq, n, NULL, false, NULL, false},
                                  {"F->h", hq, slots, NULL, false, NULL, false},
                                  {"pull", &pull, f->rows, NULL, false, NULL, false}};
    struct lgv_target last = {"F->H", &back, 0, NULL, false, NULL, false};
    lgv_text_add(&s->out, "    vec *const top = c->top, *const part = take(c, %ld), *const pull = take(c, %ld);\n",
                 f->rows, f->rows);
    lgv_face_one(s, "part", &f->parts, f->rows, NULL);
    lgv_emit_targets(&s->out, s->g, target, 3);
    lgv_emit_targets(&s->out, s->g, &last, 1);
    lgv_text_add(&s->out, "    c->top = top;\n");
    lgv_terms_free(&Hq);
    lgv_terms_free(&pull);
    lgv_terms_free(&back);
}

void lgv_face_force(struct lgv_source *s) {
    struct lgv_terms hq = {0};
    struct lgv_function H = {0};
    struct lgv_factored parts = {0};
    int slot = 0;
    for (size_t i = 0; i < s->slots.count; i++) {
        struct lgv_term t = s->slots.term[i];
        if (t.nest >= 0) continue;
        t.row = lgv_expr_iconst(s->g, slot++);
        lgv_terms_add(s->g, &hq, t);
    }
    struct lgv_target target[] = {{"F->H", &s->Hq, (long)s->m->np, NULL, false, NULL, false},
                                  {"F->h", &hq, slot, NULL, false, NULL, false}};
    if (s->g->nrotations && function_H(s, &H) && lgv_factor(s->g, &H, &parts))
        force_by_parts(s, &parts, &hq, slot);
    else
        lgv_emit_targets(&s->out, s->g, target, 2);
    noise_loops(s, false);
    lgv_factored_free(&parts);
    lgv_function_free(&H);
    lgv_terms_free(&hq);
}

void lgv_face_kick(struct lgv_source *s) {
    lgv_text_add(&s->out, "    for (long i = 0; i < NP; i++) ADD_PRODUCT(p[i], -a, F->H[i]);\n");
    int slot = 0;
    for (size_t i = 0; i < s->slots.count; i++) {
        if (s->slots.term[i].nest >= 0) continue;
        kick_by(s, i);
        lgv_text_add(&s->out, "%d]);\n", slot++);
    }
    noise_loops(s, true);
}

/* ---- increments and corrections ---- */

static const char *const of_K[] = {"Kq", "Kp", "Kqq", "Kqp", "Kpp"};

void lgv_face_K1(struct lgv_source *s) {
    lgv_face_derivatives(s, &s->K, LGV_P, of_K, 2);
}

void lgv_face_K2(struct lgv_source *s) {
    const struct lgv_function plain = {s->K.summand, s->plain ? s->plain : s->K.count, 0};
    if (s->pattern)
        lgv_face_pattern(s, &s->K, LGV_P, of_K);
    else
        derivatives(s, &s->K, &plain, LGV_P, of_K, 5);
}

void lgv_face_brackets(struct lgv_source *s) {
    static const char *const name[] = {"Bq", "Bp"};
    lgv_face_derivatives(s, &s->B, LGV_P, name, 2);
}

void lgv_face_ito(struct lgv_source *s) {
    struct lgv_terms Cq = {0}, Cp = {0};
    lgv_algebra_ito(s->m, &Cq, &Cp);
    pair(s, "Cq", &Cq, "Cp", &Cp);
}

void lgv_face_before_taylor(struct lgv_source *s) {
    bool dz = (s->face & LGV_FACE_TAYLOR) && lgv_algebra_taylor(s->m, s->s->linear, &s->kept[0], &s->kept[1]);
    lgv_text_add(&s->out, "#define TAYLOR_DZ %d\n", dz);
}

void lgv_face_taylor(struct lgv_source *s) {
    pair(s, "Xq", &s->kept[0], "Xp", &s->kept[1]);
}

void lgv_face_H(struct lgv_source *s) {
    struct lgv_terms t = {0};
    lgv_algebra_value(s->g, s->m->hamiltonian, 0, &t);
    lgv_face_one(s, "H", &t, 1, NULL);
    lgv_terms_free(&t);
}

void lgv_face_V3(struct lgv_source *s) {
    struct lgv_function H;
    struct lgv_terms t = {0};
    if (!lgv_function_split(s->g, s->m->hamiltonian, false, &H)) return;
    lgv_terms_third(s->g, &H, &t);
    lgv_face_one(s, "x", &t, (long)s->m->np, NULL);
    lgv_terms_free(&t);
    lgv_function_free(&H);
}

/* ---- start values and observables ---- */

/* Start values that are numbers, from number i on; a long run of them becomes a table: of thousands of statements the
 * compiler would take seconds.  Returns where the run ends. */
static size_t start_numbers(struct lgv_source *s, const int *node, const char *name, size_t n, size_t i) {
    size_t end = i;
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

/* Each value has a block of its own; of many values some stand together, since finding the nodes of a block takes
 * a look at all of them. */
#define MANY_VALUES 4096
#define VALUES_TOGETHER 256

static void start_values(struct lgv_source *s, const int *node, const char *name, size_t n) {
    const size_t most = n > MANY_VALUES ? VALUES_TOGETHER : 1;
    for (size_t i = 0; i < n;) {
        i = start_numbers(s, node, name, n, i);
        size_t count = n - i < most ? n - i : most;
        if (i == n) return;
        lgv_text_add(&s->out, "    {\n");
        lgv_emit_nodes(&s->out, s->g, &node[i], count, true);
        for (size_t k = i; k < i + count; k++) {
            lgv_text_add(&s->out, "    %s[%zu] = vec_set(0) + ", name, k);
            lgv_emit_value(&s->out, s->g, node[k]);
            lgv_text_add(&s->out, ";\n");
        }
        lgv_text_add(&s->out, "    }\n");
        i += count;
    }
}

/* Two positions in the place of momenta: p = -dt D_1 L_d. */
static void start_second(struct lgv_source *s) {
    struct lgv_function S;
    struct lgv_terms t = {0};
    struct lgv_discrete quiet = *s->discrete;
    quiet.nentries = 0;
    if (!lgv_model_discrete_action(s->m, &quiet, false, &S)) {
        s->out.failed = true;
        return;
    }
    lgv_terms_gradient(s->g, &S, LGV_BEFORE, &t);
    for (size_t i = 0; i < t.count; i++) t.term[i].value = lgv_expr_scale(s->g, -1, t.term[i].value);
    lgv_text_add(&s->out, "    const double a = c->b->dt;\n    const vec *before = q;\n    vec after[NX];\n");
    start_values(s, s->discrete->second, "after", s->m->nx);
    lgv_face_one(s, "p", &t, (long)s->m->np, NULL);
    lgv_terms_free(&t);
    lgv_function_free(&S);
}

void lgv_face_start(struct lgv_source *s) {
    const struct lgv_model *m = s->m;
    /* Draws come from memory of the caller's scratch: their number can be large. */
    lgv_text_add(&s->out, "    vec *zn = (vec *)c->b->scratch->memory, *zu = zn + %d;\n", m->draws[0] + 1);
    if (m->by_path)
        lgv_text_add(&s->out, "    for (int l = 0; l < LANES; l++) zu[-1][l] = (double)c->b->number[l];\n");
    if (m->draws[0])
        lgv_text_add(&s->out,
                     "    for (long k = 0; 2 * k < %d; k++) {\n        vec z0, z1;\n"
                     "        normal_pair(c->b->seed, path, (u64)k, STREAM_START, &z0, &z1);\n"
                     "        zn[2 * k] = z0;\n        if (2 * k + 1 < %d) zn[2 * k + 1] = z1;\n    }\n",
                     m->draws[0], m->draws[0]);
    if (m->draws[1])
        lgv_text_add(&s->out,
                     "    for (long k = 0; 2 * k < %d; k++) {\n        vec z0, z1;\n"
                     "        uniform_pair(c->b->seed, &path, (u64)k, STREAM_START_UNIFORM, &z0, &z1);\n"
                     "        zu[2 * k] = z0;\n        if (2 * k + 1 < %d) zu[2 * k + 1] = z1;\n    }\n",
                     m->draws[1], m->draws[1]);
    for (int k = 0; k < m->graph->ndrawn; k++) { /* one may depend on those before */
        lgv_text_add(&s->out, "    {\n");
        lgv_emit_nodes(&s->out, s->g, &m->drawn[k], 1, true);
        lgv_text_add(&s->out, "    DRAWN_VALUE(%d) = vec_set(0) + ", k);
        lgv_emit_value(&s->out, s->g, m->drawn[k]);
        lgv_text_add(&s->out, ";\n    }\n");
    }
    start_values(s, m->start, "q", m->nx);
    start_values(s, m->start + m->nx, "p", m->np);
    if (m->start_velocity && s->lagrangian) start_values(s, m->start_velocity, "v", m->np);
    if (s->discrete && s->discrete->second) start_second(s);
}

/* All members of a family as loops: with the weights w of their rows, the derivative of sum_k w_k f_k with respect to
 * w.  k: the row of o. */
static bool observe_family(struct lgv_source *s, const struct lgv_observable *o, size_t k, struct lgv_terms *t) {
    struct lgv_function f;
    int row = lgv_expr_iop(s->g, LGV_IADD, o->row, lgv_expr_iconst(s->g, (long)(k - o->member)));
    int term = lgv_expr_mul(s->g, lgv_expr_ref(s->g, LGV_WEIGHTS, row), o->node);
    if (!lgv_function_split(s->g, lgv_expr_loop(s->g, o->nest, term), false, &f)) return false;
    lgv_terms_gradient(s->g, &f, LGV_WEIGHTS, t);
    lgv_function_free(&f);
    return !s->g->failed;
}

/* Periodic coordinates are shown in [from, from + period), whatever the rounding. */
void lgv_face_before_observe(struct lgv_source *s) {
    bool any = false;
    for (size_t k = 0; k < s->watch->count; k++) any |= s->watch->item[k].period > 0;
    if (any)
        lgv_text_add(&s->out, "\nINLINE vec vec_wrapped(vec x, double period, double from) {\n"
                              "    vec y = x - from;\n    y -= period * vec_floor(y / period);\n"
                              "    y = from + vec_select((ivec)(y < 0), vec_set(0), y);\n"
                              "    return vec_select((ivec)(y >= from + period), vec_set(from), y);\n}\n");
}

/* Observables may know the width of a step. */
static void width_of_step(struct lgv_source *s) {
    if (s->watch->uses & LGV_USES(LGV_STEP)) lgv_text_add(&s->out, "    const double a = c->dt;\n    (void)a;\n");
}

void lgv_face_observe(struct lgv_source *s) {
    const struct lgv_watch *watch = s->watch;
    struct lgv_terms t = {0};
    size_t count = watch->count - watch->controls; /* the loop adds the martingale parts */
    for (size_t k = 0; k < count; k++) {
        const struct lgv_observable *o = &watch->item[k];
        if (o->node < 0) continue; /* the loop fills it */
        if (o->family && o->member >= o->width) continue; /* the first has written all */
        if (!(o->family ? observe_family(s, o, k, &t) : lgv_algebra_value(s->g, o->node, (long)k, &t))) break;
    }
    struct lgv_target target = {.array = "out", .terms = &t, .rows = (long)count, .seldom = true};
    width_of_step(s);
    lgv_emit_early(&s->out, s->g, &target);
    lgv_terms_free(&t);
    for (size_t k = 0; k < count; k++)
        if (watch->item[k].period > 0)
            lgv_text_add(&s->out, "    out[%zu] = vec_wrapped(out[%zu], %.17g, %.17g);\n", k, k, watch->item[k].period,
                         watch->item[k].from);
}

void lgv_face_watch(struct lgv_source *s) {
    const struct lgv_watch *watch = s->watch;
    struct lgv_terms t = {0};
    for (size_t k = 0; k < watch->tallies; k++)
        if (!lgv_algebra_value(s->g, lgv_model_observed(s->m, &watch->item[watch->tallied[k]]), (long)k, &t)) break;
    width_of_step(s);
    lgv_face_one(s, "x", &t, (long)watch->tallies, NULL);
    lgv_terms_free(&t);
}

void lgv_face_events(struct lgv_source *s) {
    struct lgv_terms t = {0};
    for (size_t k = 0; k < s->watch->events; k++)
        if (!lgv_algebra_value(s->g, s->watch->event[k].node, (long)k, &t)) break;
    lgv_face_one(s, "x", &t, (long)s->watch->events, NULL);
    lgv_terms_free(&t);
}

void lgv_face_friction(struct lgv_source *s) {
    const struct lgv_bath *b = &s->m->bath;
    struct lgv_terms t = {0};
    for (size_t k = 0; k < b->rows; k++)
        if (!lgv_algebra_value(s->g, b->friction[b->row[k]], (long)k, &t)) break;
    lgv_face_one(s, "x", &t, (long)b->rows, NULL);
    lgv_terms_free(&t);
}

void lgv_face_push(struct lgv_source *s) {
    struct lgv_terms t = {0};
    for (size_t k = 0; k < s->m->np; k++)
        if (!lgv_algebra_value(s->g, s->m->force[k], (long)k, &t)) break;
    lgv_face_one(s, "x", &t, (long)s->m->np, NULL);
    lgv_terms_free(&t);
}

void lgv_face_sections(struct lgv_source *s) {
    struct lgv_terms t = {0};
    for (size_t k = 0; k < s->watch->sections; k++)
        if (!lgv_algebra_value(s->g, s->watch->section[k].node, (long)k, &t)) break;
    lgv_face_one(s, "x", &t, (long)s->watch->sections, NULL);
    lgv_terms_free(&t);
}

void lgv_face_crossing(struct lgv_source *s) {
    struct lgv_terms t = {0};
    long row = 0;
    for (size_t k = 0; k < s->watch->sections; k++)
        for (size_t i = 0; i < s->watch->section[k].nseen; i++)
            lgv_algebra_value(s->g, s->watch->section[k].seen[i], row++, &t);
    lgv_face_one(s, "x", &t, row, NULL);
    lgv_terms_free(&t);
}

void lgv_face_martingale(struct lgv_source *s) {
    struct lgv_terms X = {0};
    lgv_algebra_martingale(s->m, s->watch->item, s->watch->controls, &X);
    lgv_face_one(s, "X", &X, (long)s->watch->controls, NULL);
    lgv_text_add(&s->out, "    (void)a;\n");
    lgv_terms_free(&X);
}
