/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The face of a model: the functions of it that a kernel can call, one row each.  What a method asks for is generated
 * from the formulas, the rest is there and traps.  src/kernel/text/face_callbacks.h has the same functions, as far as
 * they belong to every kernel, for models given as C functions. */
#include "kernel/generate.h"

#define MANY_STARTS 50 /* degrees of freedom: beyond, the start values are not worth the time of the optimiser */

#define AT "struct ctx *c, double t, const vec *q, const vec *p"
#define INCREMENT AT ", double a, const vec *w"

static const struct lgv_face_row rows[] = {
    {"model_force", "(" AT ", struct force *F)", .counts = "++", .asked = LGV_FACE_FORCE, .body = lgv_face_force},
    {"model_kick", "(struct ctx *c, vec *p, const struct force *F, double a, const vec *w)", .asked = LGV_FACE_FORCE,
     .body = lgv_face_kick},
    {"model_K1", "(" INCREMENT ", vec *Kq, vec *Kp)", .counts = " += Kq != 0", .asked = LGV_FACE_K1,
     .body = lgv_face_K1},
    {"model_K2", "(" INCREMENT ", vec *Kq, vec *Kp,\n                     vec *Kqq, vec *Kqp, vec *Kpp)",
     .counts = " += Kq != 0", .asked = LGV_FACE_K2, .before = lgv_face_before_pattern, .body = lgv_face_K2},
    {"model_brackets", "(" AT ", const vec *w, vec *Bq, vec *Bp)", .counts = "++", .only = LGV_FACE_BRACKETS,
     .asked = LGV_FACE_BRACKETS, .body = lgv_face_brackets},
    {"model_ito", "(" AT ", vec *Cq, vec *Cp)", .asked = LGV_FACE_ITO, .body = lgv_face_ito},
    {"model_taylor", "(" INCREMENT ", vec *Xq, vec *Xp)", .counts = "++", .asked = LGV_FACE_TAYLOR,
     .before = lgv_face_before_taylor, .body = lgv_face_taylor},
    {"model_H", "(" AT ", vec *H)", .asked = LGV_FACE_H, .body = lgv_face_H},
    {"model_V3", "(" AT ", const vec *dq, vec *x)", .counts = "++", .asked = LGV_FACE_V3, .body = lgv_face_V3},
    {"model_action",
     "(struct ctx *c, double t, const vec *before, const vec *after, double a, const vec *w, vec *S0,\n"
     "                         vec *S1, vec *both, vec *S01)",
     .counts = "++", .only = LGV_FACE_ACTION, .asked = LGV_FACE_ACTION,
     .before = lgv_face_before_action, .body = lgv_face_action},
    {"model_stiffness", "(" AT ", vec *Hq, vec *B, vec *W)", .counts = " += Hq != 0",
     .only = LGV_FACE_STIFFNESS, .asked = LGV_FACE_STIFFNESS, .before = lgv_face_before_stiffness,
     .body = lgv_face_stiffness},
    {"model_stiff", "(" AT ", vec *Vq)", .counts = "++", .only = LGV_FACE_APART, .asked = LGV_FACE_APART,
     .body = lgv_face_stiff},
    {"model_friction", "(struct ctx *c, double t, const vec *q, vec *x)", .only = LGV_FACE_FRICTION,
     .asked = LGV_FACE_FRICTION, .body = lgv_face_friction},
    {"model_push", "(" AT ", vec *x)", .only = LGV_FACE_PUSH, .asked = LGV_FACE_PUSH, .body = lgv_face_push},
    /* constraints, with S = sum_k lambda_k g_k */
    {"model_g", "(struct ctx *c, const vec *q, vec *g)", .only = LGV_FACE_CONSTRAINTS, .asked = LGV_FACE_CONSTRAINTS,
     .body = lgv_face_g},
    {"model_multipliers", "(struct ctx *c, const vec *q, vec *x)", .only = LGV_FACE_MULTIPLIERS,
     .asked = LGV_FACE_MULTIPLIERS, .body = lgv_face_multipliers},
    {"model_gsize", "(struct ctx *c, const vec *q, vec *g)", .only = LGV_FACE_CONSTRAINTS,
     .asked = LGV_FACE_CONSTRAINTS, .body = lgv_face_gsize},
    {"model_GT", "(struct ctx *c, const vec *q, const vec *lambda, vec *x)", .only = LGV_FACE_CONSTRAINTS,
     .asked = LGV_FACE_CONSTRAINTS, .body = lgv_face_GT},
    {"model_G", "(struct ctx *c, const vec *q, vec *G)", .only = LGV_FACE_CONSTRAINTS, .asked = LGV_FACE_CONSTRAINTS,
     .before = lgv_face_before_G, .body = lgv_face_G},
    {"model_S2", "(struct ctx *c, const vec *q, const vec *lambda, vec *Sqq)", .only = LGV_FACE_CONSTRAINTS,
     .asked = LGV_FACE_S2, .body = lgv_face_S2},
    {"model_bend", "(struct ctx *c, const vec *q, vec *x)", .only = LGV_FACE_CONSTRAINTS, .asked = LGV_FACE_BEND,
     .before = lgv_face_before_bend, .body = lgv_face_bend},
    /* masses and Lagrangians, with the increment a L - sum_m w_m h_m */
    {"model_L1", "(struct ctx *c, double t, const vec *q, const vec *v, double a, const vec *w, vec *Lq, vec *Lv)",
     .counts = " += Lq != 0", .only = LGV_FACE_VARIATIONAL, .asked = LGV_FACE_L, .body = lgv_face_L1},
    {"model_L2",
     "(struct ctx *c, double t, const vec *q, const vec *v, double a, const vec *w, vec *Lq, vec *Lv,\n"
     "                     vec *Lqq, vec *Lqv, vec *Lvv)",
     .counts = " += Lq != 0", .only = LGV_FACE_VARIATIONAL, .asked = LGV_FACE_L, .body = lgv_face_L2},
    {"model_mass", "(struct ctx *c, const vec *q, const vec *p, vec *mass)", .only = LGV_FACE_VARIATIONAL,
     .asked = LGV_FACE_MASS, .body = lgv_face_mass},
    /* sparse second derivatives for Newton's method: as model_K2; Kqq, Kpp: entries by rows and columns */
    {"model_K2_sparse", "(" INCREMENT ", vec *Kq,\n                            vec *Kp, vec *Kqq, vec *Kpp)",
     .counts = " += Kq != 0", .only = LGV_FACE_NEWTON, .asked = LGV_FACE_NEWTON, .before = lgv_face_before_newton,
     .body = lgv_face_newton},
    {"model_start", "(struct ctx *c, uvec path, vec *q, vec *p, vec *v)", .asked = LGV_FACE_WATCH, .once = true,
     .opening = "    const double *par = c->b->par;\n    double t = c->b->t0;\n    (void)par, (void)t, (void)v;\n",
     .body = lgv_face_start},
    {"model_observe",
     "(" AT ", const vec *brown, const vec *dq,\n"
     "                          const vec *dp, const vec *v, const vec *lambda, vec *out)",
     .asked = LGV_FACE_WATCH, .before = lgv_face_before_observe, .body = lgv_face_observe},
    {"model_watch",
     "(" AT ", const vec *brown, const vec *dq,\n"
     "                        const vec *dp, const vec *v, const vec *lambda, vec *x)",
     .only = LGV_FACE_TALLIES, .asked = LGV_FACE_TALLIES, .body = lgv_face_watch},
    {"model_events", "(" AT ", const vec *v, vec *x)", .only = LGV_FACE_EVENTS, .asked = LGV_FACE_EVENTS,
     .body = lgv_face_events},
    {"model_sections", "(" AT ", const vec *v, vec *x)", .only = LGV_FACE_SECTIONS, .asked = LGV_FACE_SECTIONS,
     .body = lgv_face_sections},
    {"model_crossing", "(" AT ", const vec *v, vec *x)", .only = LGV_FACE_SECTIONS, .asked = LGV_FACE_SECTIONS,
     .body = lgv_face_crossing},
    {"model_martingale", "(" INCREMENT ", const vec *dq, const vec *dp, vec *X)", .only = LGV_FACE_CONTROLS,
     .asked = LGV_FACE_CONTROLS, .body = lgv_face_martingale},
};

const struct lgv_face_row *lgv_face_row(size_t number) {
    return number < sizeof rows / sizeof *rows ? &rows[number] : NULL;
}

static void write_row(struct lgv_source *s, const struct lgv_face_row *r) {
    struct lgv_text *o = &s->out;
    if (r->only && !(s->face & r->only)) return;
    if (r->before) r->before(s);
    lgv_text_add(o, "\n%s void %s%s {\n%s", r->once && s->m->np > MANY_STARTS ? "ONCE" : "INLINE", r->name,
                 r->arguments, r->opening ? r->opening : "    const double *par = c->par;\n    (void)par;\n");
    if (r->counts) lgv_text_add(o, "    c->evaluations%s;\n", r->counts);
    if (s->face & r->asked)
        r->body(s);
    else
        lgv_text_add(o, "    __builtin_trap();\n");
    lgv_text_add(o, "}\n");
}

/* What follows from the model and the kind of method. */
static bool of_model(struct lgv_source *s) {
    s->face |= LGV_FACE_WATCH;
    if (s->watch->controls) s->face |= LGV_FACE_CONTROLS;
    if (s->watch->tallies) s->face |= LGV_FACE_TALLIES;
    if (s->watch->events) s->face |= LGV_FACE_EVENTS;
    if (s->watch->sections) s->face |= LGV_FACE_SECTIONS;
    if (s->m->npenalties && s->watch->uses & LGV_USES(LGV_LAMBDA)) s->face |= LGV_FACE_MULTIPLIERS;
    if (s->large && s->newton) s->face |= LGV_FACE_NEWTON;
    if (s->m->bath.kind == LGV_FRICTION_OF_Q) s->face |= LGV_FACE_FRICTION;
    if (s->m->force) s->face |= LGV_FACE_PUSH;
    if (s->m->nconstraints) {
        s->face |= LGV_FACE_CONSTRAINTS | (s->m->np <= LGV_SECOND_DOF || s->pattern ? LGV_FACE_S2 : 0);
        if (!lgv_model_constraint_sum(s->m, &s->S)) return false;
    }
    if (!s->constrained) return true;
    s->face |= LGV_FACE_VARIATIONAL | (s->lagrangian ? LGV_FACE_L : LGV_FACE_MASS);
    return !s->lagrangian || lgv_model_increment_lagrangian(s->m, &s->L);
}

void lgv_face_write(struct lgv_source *s) {
    if (!of_model(s))
        s->out.failed = true; /* graph->failed has the reason */
    else
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) write_row(s, &rows[k]);
    lgv_function_free(&s->S);
    lgv_function_free(&s->L);
}
