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
                 "#define NC %zuL\n#define MODEL_L %d\n#define MODEL_SPARSE %d\n#define MODEL_QUADRATIC_L %d\n"
                 "#define MODEL_LONG %d\n",
                 s->m->nconstraints, s->lagrangian, s->sparse, !s->m->lagrangian_only, s->longer);
    if (s->longer && s->sparse) /* blocks of multipliers: pattern.h */
        lgv_text_add(&s->out, "#define PATTERN_TABLE(name) sparse_##name\n#define PATTERN_NODES SPARSE_NC\n"
                              "#define PATTERN_NA SPARSE_NA\n");
}

void lgv_face_g(struct lgv_source *s) {
    struct lgv_terms t = {0};
    lgv_terms_gradient(s->g, &s->S, LGV_LAMBDA, &t);
    lgv_face_one(s, "g", &t, (long)s->m->nconstraints, NULL);
    lgv_terms_free(&t);
}

/* -omega^2 g of constraints by penalty. */
void lgv_face_multipliers(struct lgv_source *s) {
    struct lgv_function f;
    struct lgv_terms t = {0};
    if (!lgv_model_penalty_sum(s->m, &f)) return;
    lgv_terms_gradient(s->g, &f, LGV_LAMBDA, &t);
    lgv_face_one(s, "x", &t, (long)s->m->npenalties, NULL);
    lgv_terms_free(&t);
    lgv_function_free(&f);
}

/* The same with absolute values: what the round-off of g is a part of. */
void lgv_face_gsize(struct lgv_source *s) {
    struct lgv_function size;
    struct lgv_terms t = {0};
    if (!lgv_model_constraint_size(s->m, &size)) return;
    lgv_terms_gradient(s->g, &size, LGV_LAMBDA, &t);
    lgv_face_one(s, "g", &t, (long)s->m->nconstraints, NULL);
    lgv_terms_free(&t);
    lgv_function_free(&size);
}

void lgv_face_GT(struct lgv_source *s) {
    struct lgv_terms t = {0};
    lgv_terms_gradient(s->g, &s->S, LGV_Q, &t);
    lgv_face_one(s, "x", &t, (long)s->m->np, NULL);
    lgv_terms_free(&t);
}

/* ---- G and the inverse masses ---- */

/* The rows of a body have entries of all its momenta, three or, coupled, six: how it moves depends on all of them
 * (vprk_bodies.h).  The number of places; negative: no memory. */
static long add_bodies(const struct lgv_graph *g, struct lgv_place **places, long given) {
    size_t capacity = (size_t)given, count = (size_t)given, unique = 0;
    for (size_t r = 0; given > 0 && r < g->nrotations; r++) {
        const struct lgv_rotations *b = &g->rotation[r];
        const long n = b->coupled ? 6 : 3, behind = 3 * b->count;
        for (long k = 0; k < n * n * b->count; k++) {
            const long i = k % (n * n) / n, j = k % n, p = b->p + k / (n * n) * 3; /* linear ones last */
            if (!lgv_grow(places, &capacity, count + 1, sizeof **places)) return -1;
            (*places)[count++] = (struct lgv_place){(int)(i < 3 ? p + i : p - behind + i - 3),
                                                    (int)(j < 3 ? p + j : p - behind + j - 3)};
        }
    }
    if (given <= 0 || !g->nrotations) return given;
    qsort(*places, count, sizeof **places, lgv_place_order);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || lgv_place_order(&(*places)[i], &(*places)[unique - 1]) != 0) (*places)[unique++] = (*places)[i];
    return (long)unique;
}

/* Sparse: the tables of sparse_lanes.h, and the terms for lgv_face_G and lgv_face_mass. */
void lgv_face_before_G(struct lgv_source *s) {
    struct lgv_terms *G = &s->kept[0], *mass = &s->kept[1];
    struct lgv_place *places[2] = {NULL, NULL};
    struct lgv_sparse plan = {0};
    if (!s->sparse) return;
    lgv_terms_hessian(s->g, &s->S, LGV_LAMBDA, LGV_Q, G);
    bool ok = lgv_algebra_inverse_masses(s->m, mass);
    long *n = s->entries;
    n[0] = ok ? lgv_terms_pattern(s->g, G, LGV_MAX_INSTANCES, &places[0]) : -1;
    n[1] = ok ? lgv_terms_pattern(s->g, mass, LGV_MAX_INSTANCES, &places[1]) : -1;
    n[1] = add_bodies(s->g, &places[1], n[1]);
    ok = n[0] >= 0 && n[1] >= 0 &&
         lgv_sparse_make(&plan, (int)s->m->nconstraints, (int)s->m->np, places[0], n[0], places[1], n[1], &s->err) ==
             LGV_OK &&
         lgv_sparse_emit(&plan, &s->out) && lgv_generate_map(s, "jacobian_map", G, places[0], (size_t)n[0]) &&
         lgv_generate_map(s, "mass_map", mass, places[1], (size_t)n[1]);
    if (!ok) s->out.failed = true;
    if (!ok && !s->err.message[0]) lgv_fail(&s->err, LGV_CANNOT_RUN, "the constraints are too many");
    lgv_sparse_free(&plan);
    free(places[0]);
    free(places[1]);
}

static void sparse(struct lgv_source *s, const char *array, struct lgv_terms *terms, long entries, const char *map) {
    struct lgv_target target = {array, terms, entries, NULL, false, map, false};
    if (!s->out.failed) lgv_emit_targets(&s->out, s->g, &target, 1);
    lgv_terms_free(terms);
}

void lgv_face_G(struct lgv_source *s) {
    struct lgv_terms t = {0};
    if (s->sparse) {
        sparse(s, "G", &s->kept[0], s->entries[0], "jacobian_map");
        return;
    }
    if (s->pattern) {
        lgv_face_border(s);
        return;
    }
    lgv_terms_hessian(s->g, &s->S, LGV_LAMBDA, LGV_Q, &t);
    lgv_face_one(s, "G", &t, (long)(s->m->nconstraints * s->m->np), "NP");
    lgv_terms_free(&t);
}

void lgv_face_mass(struct lgv_source *s) {
    struct lgv_terms t = {0};
    if (s->sparse)
        sparse(s, "mass", &s->kept[1], s->entries[1], "mass_map");
    else if (lgv_algebra_inverse_masses(s->m, &t))
        lgv_face_one(s, "mass", &t, (long)(s->m->np * s->m->np), "NP");
    lgv_terms_free(&t);
}

/* ---- second derivatives ---- */

void lgv_face_S2(struct lgv_source *s) {
    struct lgv_terms t = {0};
    if (s->pattern) {
        lgv_face_pattern_bend(s);
        return;
    }
    lgv_terms_hessian(s->g, &s->S, LGV_Q, LGV_Q, &t);
    lgv_face_one(s, "Sqq", &t, (long)(s->m->np * s->m->np), "NP");
    lgv_terms_free(&t);
}

void lgv_face_before_bend(struct lgv_source *s) {
    struct lgv_terms second = {0};
    if ((s->face & LGV_FACE_S2) && !s->sparse && !s->pattern) {
        lgv_terms_hessian(s->g, &s->S, LGV_Q, LGV_Q, &second);
        if (lgv_algebra_bend(s->m, &second, &s->kept[0])) s->face |= LGV_FACE_BEND;
        lgv_terms_free(&second);
    }
    lgv_text_add(&s->out, "#define MODEL_QUADRIC %d\n", (s->face & LGV_FACE_BEND) != 0);
}

void lgv_face_bend(struct lgv_source *s) {
    lgv_face_one(s, "x", &s->kept[0], 1, NULL);
    lgv_terms_free(&s->kept[0]);
}

/* ---- the Lagrangian ---- */

static const char *const of_L[] = {"Lq", "Lv", "Lqq", "Lqv", "Lvv"};

void lgv_face_L1(struct lgv_source *s) {
    lgv_face_derivatives(s, &s->L, LGV_V, of_L, 2);
}

void lgv_face_L2(struct lgv_source *s) {
    if (s->pattern)
        lgv_face_pattern(s, &s->L, LGV_V, of_L);
    else
        lgv_face_derivatives(s, &s->L, LGV_V, of_L, 5);
}
