/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The C text of a kernel: prelude, the face of this model, the step of this method, the time loop.
 *
 * With K = a H + sum_m w_m h_m the face functions are scatter terms of K's derivatives.  model_force keeps H_q and the
 * entries of h_m,q apart, so that an explicit method evaluates the force once and applies different weights to it. */
#include "kernel/compile.h"
#include "kernel/generate.h"
#include <stdlib.h>
#include <string.h>

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

/* Two vectors of terms, side by side. */
static void pair(struct lgv_source *s, const char *first, struct lgv_terms *q, const char *second,
                 struct lgv_terms *p) {
    long n = (long)s->m->nq;
    struct lgv_target target[] = {{first, q, n, NULL, false, NULL}, {second, p, n, NULL, false, NULL}};
    lgv_emit_targets(&s->out, s->g, target, 2);
    lgv_text_add(&s->out, "}\n");
    lgv_terms_free(q);
    lgv_terms_free(p);
}

static void ito(struct lgv_source *s, bool wanted) {
    struct lgv_terms Cq = {0}, Cp = {0};
    lgv_generate_signature(s, "model_ito(struct ctx *c, double t, const vec *q, const vec *p, vec *Cq, vec *Cp)");
    if (!wanted) {
        lgv_generate_absent(s);
        return;
    }
    lgv_algebra_ito(s->m, &Cq, &Cp);
    pair(s, "Cq", &Cq, "Cp", &Cp);
}

/* The correction of a potential has a weight of its own behind those of the noises. */
static bool add_correction(struct lgv_source *s, double factor) {
    if (factor == 0 || s->m->nnoise == 0) return !s->g->failed;
    int C = lgv_algebra_correction(s->m, factor);
    int weight = lgv_expr_ref_at(s->g, LGV_WEIGHTS, (long)s->m->nnoise + 1);
    return lgv_function_add(s->g, &s->K, -1, lgv_expr_mul(s->g, weight, C)) && !s->g->failed;
}

static void taylor(struct lgv_source *s, bool wanted) {
    struct lgv_terms Xq = {0}, Xp = {0};
    bool dz = wanted && lgv_algebra_taylor(s->m, s->s->linear, &Xq, &Xp);
    lgv_text_add(&s->out, "#define TAYLOR_DZ %d\n", dz);
    lgv_generate_signature(
        s,
        "model_taylor(struct ctx *c, double t, const vec *q, const vec *p, double a, const vec *w, vec *Xq, vec *Xp)");
    if (!wanted) {
        lgv_generate_absent(s);
        return;
    }
    pair(s, "Xq", &Xq, "Xp", &Xp);
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

static void martingale(struct lgv_source *s, const struct lgv_watch *watch) {
    if (!watch->controls) return;
    struct lgv_terms X = {0};
    lgv_generate_signature(
        s, "model_martingale(struct ctx *c, double t, const vec *q, const vec *p, double a, const vec *w, vec *X)");
    lgv_algebra_martingale(s->m, watch->item, watch->controls, &X);
    struct lgv_target target = {"X", &X, (long)watch->controls, NULL, false, NULL};
    lgv_emit_targets(&s->out, s->g, &target, 1);
    lgv_text_add(&s->out, "    (void)a;\n}\n");
    lgv_terms_free(&X);
}

static void observe(struct lgv_source *s, const struct lgv_watch *watch) {
    struct lgv_terms t = {0};
    size_t count = watch->count - watch->controls; /* the loop adds the martingale parts */
    lgv_generate_signature(
        s, "model_observe(struct ctx *c, double t, const vec *q, const vec *p, const vec *brown, const vec *dq,\n"
           "                          const vec *dp, const vec *v, const vec *lambda, vec *out)");
    for (size_t k = 0; k < count; k++) {
        if (watch->item[k].node < 0) continue; /* the loop fills it */
        if (!lgv_algebra_value(s->g, watch->item[k].node, (long)k, &t)) break;
    }
    struct lgv_target target = {"out", &t, (long)count, NULL, false, NULL};
    lgv_emit_early(&s->out, s->g, &target);
    lgv_text_add(&s->out, "}\n");
    lgv_terms_free(&t);
}

static void constants(struct lgv_source *s, const struct lgv_method *method, const struct lgv_width *width,
                      bool track) {
    struct lgv_text *o = &s->out;
    lgv_text_add(o, "#define LANES %u\n", width->lanes);
    lgv_generate_file(o, "abi.h");
    lgv_generate_file(o, "lanes.h");
    lgv_generate_file(o, "noise.h");
    lgv_text_add(o, LGV_SHARED_END "#define GROUPS %u\n", width->groups);
    lgv_generate_file(o, "solve.h");
    lgv_text_add(o, "#define NQ %zuL\n#define NM %zuL\n#define NHQ %ldL\n#define NW %zuL\n", s->m->nq, s->m->nnoise,
                 s->slots.instances, s->m->nnoise + (method->correction != 0 && !method->constrained));
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
        lgv_algebra_forces(s.g, &s.K, &s.Hq, &s.slots)) {
        newton = sets ? lgv_generate_newton_plan(&s, sets) : NULL;
        s.large = newton != NULL;
        if (s.large) face &= ~(unsigned)(LGV_FACE_K2 | LGV_FACE_ITO); /* noise h(q): no correction */
        constants(&s, method, width, m->exact != NULL);
        lgv_text_add(&s.out, "#define WATCHED %zuL\n", watch->count);
        if (m->nconstraints)
            lgv_text_add(&s.out, "#define WATCH_CONSTRAINT %zuL\n", watch->count - watch->controls - 2);
        if (m->npar <= 64) lgv_text_add(&s.out, "#define PARAMETERS %zu\n", m->npar);
        if (watch->controls) lgv_text_add(&s.out, "#define CONTROLS %zuL\n", watch->controls);
        lgv_generate_file(&s.out, "face.h");
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
        lgv_generate_file(&s.out, "stages.h");
        if (s.sparse || s.large) lgv_generate_file(&s.out, "sparse_lanes.h");
        if (m->nconstraints || method->constrained) lgv_generate_file(&s.out, "constrained.h");
        lgv_generate_method(&s.out, method);
        lgv_generate_file(&s.out, "loop.h");
    }
    lgv_generate_newton_free(newton);
    lgv_function_free(&s.K);
    lgv_terms_free(&s.Hq);
    lgv_forces_free(&s.slots);
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
