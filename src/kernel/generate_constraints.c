/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The face of constraints and Lagrangians.  With S(q; lambda) = sum_k lambda_k g_k(q)
 *
 *     model_g = S_lambda,   model_G = S_lambda,q (the Jacobian G),   model_GT = S_q (G^T lambda),   model_S2 = S_qq
 *
 * and, for one constraint that is quadratic (MODEL_QUADRIC), model_bend = x . g_qq . x.  With the increment
 * Lagrangian a L(q, v) - sum_m w_m h_m(q) model_L1 and model_L2 are its gradient and Hessian. Of many constraints G
 * and the inverse masses are sparse: entries in the order of rows and columns (sparse_lanes.h). */
#include "kernel/generate.h"
#include "kernel/sparse.h"
#include <stdlib.h>

void lgv_generate_constraint_sizes(struct lgv_source *s) {
    lgv_text_add(&s->out,
                 "#define NC %zuL\n#define MODEL_L %d\n#define MODEL_SPARSE %d\n#define MODEL_QUADRATIC_L %d\n",
                 s->m->nconstraints, s->lagrangian, s->sparse, !s->m->lagrangian_only);
}

static void one(struct lgv_source *s, const char *signature, const char *array, const struct lgv_terms *terms,
                long rows, const char *cols) {
    struct lgv_target target = {array, terms, rows, cols, false, NULL};
    lgv_generate_signature(s, signature);
    lgv_emit_targets(&s->out, s->g, &target, 1);
    lgv_text_add(&s->out, "}\n");
}

#define MASS "model_mass(struct ctx *c, const vec *q, const vec *p, vec *mass)"

static void sparse(struct lgv_source *s, const struct lgv_terms *G) {
    struct lgv_terms inverse = {0}, *mass = &inverse;
    if (!lgv_algebra_inverse_masses(s->m, mass)) return;
    struct lgv_place *places[2] = {NULL, NULL};
    struct lgv_sparse plan = {0};
    long n[2] = {lgv_terms_pattern(s->g, G, LGV_MAX_INSTANCES, &places[0]),
                 lgv_terms_pattern(s->g, mass, LGV_MAX_INSTANCES, &places[1])};
    bool ok = n[0] >= 0 && n[1] >= 0 &&
              lgv_sparse_make(&plan, (int)s->m->nconstraints, (int)s->m->nq, places[0], n[0], places[1], n[1],
                              &s->err) == LGV_OK &&
              lgv_sparse_emit(&plan, &s->out) && lgv_generate_map(s, "jacobian_map", G, places[0], (size_t)n[0]) &&
              lgv_generate_map(s, "mass_map", mass, places[1], (size_t)n[1]);
    if (!ok && !s->g->failed) s->g->failed = s->err.message[0] ? s->err.message : "the constraints are too many";
    struct lgv_target jacobian = {"G", G, n[0], NULL, false, "jacobian_map"};
    struct lgv_target masses = {"mass", mass, n[1], NULL, false, "mass_map"};
    lgv_generate_signature(s, "model_G(struct ctx *c, const vec *q, vec *G)");
    if (ok) lgv_emit_targets(&s->out, s->g, &jacobian, 1);
    lgv_text_add(&s->out, "}\n");
    lgv_generate_signature(s, MASS);
    if (ok) lgv_emit_targets(&s->out, s->g, &masses, 1);
    lgv_text_add(&s->out, "}\n");
    lgv_sparse_free(&plan);
    lgv_terms_free(mass);
    free(places[0]);
    free(places[1]);
}

/* x . g_qq . x, x in the place of q, for one constraint that is a quadratic polynomial; terms of S_qq. */
static void bend(struct lgv_source *s, const struct lgv_terms *second) {
    struct lgv_terms t = {0};
    bool quadric = !s->sparse && lgv_algebra_bend(s->m, second, &t);
    lgv_text_add(&s->out, "#define MODEL_QUADRIC %d\n", quadric);
    if (quadric) one(s, "model_bend(struct ctx *c, const vec *q, vec *x)", "x", &t, 1, NULL);
    lgv_terms_free(&t);
}

static void constraints(struct lgv_source *s) {
    struct lgv_function S, size;
    struct lgv_terms t[5] = {0};
    long n = (long)s->m->nq, m = (long)s->m->nconstraints;
    if (!lgv_model_constraint_sum(s->m, &S)) return;
    lgv_terms_gradient(s->g, &S, LGV_LAMBDA, &t[0]);
    lgv_terms_hessian(s->g, &S, LGV_LAMBDA, LGV_Q, &t[1]);
    lgv_terms_gradient(s->g, &S, LGV_Q, &t[2]);
    one(s, "model_g(struct ctx *c, const vec *q, vec *g)", "g", &t[0], m, NULL);
    if (lgv_model_constraint_size(s->m, &size)) {
        lgv_terms_gradient(s->g, &size, LGV_LAMBDA, &t[4]);
        one(s, "model_gsize(struct ctx *c, const vec *q, vec *g)", "g", &t[4], m, NULL);
        lgv_function_free(&size);
    }
    one(s, "model_GT(struct ctx *c, const vec *q, const vec *lambda, vec *x)", "x", &t[2], n, NULL);
    if (s->sparse)
        sparse(s, &t[1]);
    else
        one(s, "model_G(struct ctx *c, const vec *q, vec *G)", "G", &t[1], m * n, "NQ");
    lgv_generate_signature(s, "model_S2(struct ctx *c, const vec *q, const vec *lambda, vec *Sqq)");
    if (n <= LGV_SECOND_DOF) {
        struct lgv_target target = {"Sqq", &t[3], n * n, "NQ", false, NULL};
        lgv_terms_hessian(s->g, &S, LGV_Q, LGV_Q, &t[3]);
        lgv_emit_targets(&s->out, s->g, &target, 1);
        lgv_text_add(&s->out, "}\n");
        bend(s, &t[3]);
    } else {
        lgv_generate_absent(s);
    }
    for (int k = 0; k < 5; k++) lgv_terms_free(&t[k]);
    lgv_function_free(&S);
}

static void lagrangian(struct lgv_source *s) {
    struct lgv_function L;
    struct lgv_terms t[5] = {0};
    long n = (long)s->m->nq;
    struct lgv_target target[] = {{"Lq", &t[0], n, NULL, true, NULL},
                                  {"Lv", &t[1], n, NULL, true, NULL},
                                  {"Lqq", &t[2], n * n, "NQ", true, NULL},
                                  {"Lqv", &t[3], n * n, "NQ", true, NULL},
                                  {"Lvv", &t[4], n * n, "NQ", true, NULL}};
    if (!lgv_model_increment_lagrangian(s->m, &L)) return;
    lgv_terms_gradient(s->g, &L, LGV_Q, &t[0]);
    lgv_terms_gradient(s->g, &L, LGV_V, &t[1]);
    lgv_generate_signature(
        s, "model_L1(struct ctx *c, double t, const vec *q, const vec *v, double a, const vec *w, vec *Lq, vec *Lv)");
    lgv_emit_targets(&s->out, s->g, target, 2);
    lgv_text_add(&s->out, "}\n");
    lgv_terms_hessian(s->g, &L, LGV_Q, LGV_Q, &t[2]);
    lgv_terms_hessian(s->g, &L, LGV_Q, LGV_V, &t[3]);
    lgv_terms_hessian(s->g, &L, LGV_V, LGV_V, &t[4]);
    lgv_generate_signature(
        s, "model_L2(struct ctx *c, double t, const vec *q, const vec *v, double a, const vec *w, vec *Lq, vec *Lv,\n"
           "                     vec *Lqq, vec *Lqv, vec *Lvv)");
    lgv_emit_targets(&s->out, s->g, target, 5);
    lgv_text_add(&s->out, "}\n");
    for (int k = 0; k < 5; k++) lgv_terms_free(&t[k]);
    lgv_function_free(&L);
}

void lgv_generate_constraints(struct lgv_source *s) {
    struct lgv_terms mass = {0};
    long n = (long)s->m->nq;
    if (s->m->nconstraints) constraints(s);
    if (s->lagrangian)
        lagrangian(s);
    else if (s->constrained && !s->sparse && lgv_algebra_inverse_masses(s->m, &mass))
        one(s, MASS, "mass", &mass, n * n, "NQ");
    lgv_terms_free(&mass);
}
