/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The C text of a kernel: prelude, the face of this model, the step of this method, the time loop.
 *
 * The face is written by face.c; here it is put between the texts that every kernel has. */
#include "kernel/compile.h"
#include "kernel/generate.h"
#include <math.h>
#include <stdlib.h>

/* The correction of H by noise h(q) has weights of its own behind those of the noises: one, or where its coefficient is
 * random one for each pair of noises.  Of additive noise and constant masses it is a constant, which no force comes
 * from. */
static bool add_correction(struct lgv_source *s, const struct lgv_method *method) {
    long weight = (long)s->m->nnoise + 1;
    if (lgv_method_weights(method, s->m) == s->m->nnoise) return true;
    if (s->s->steady_noise && s->s->quadratic_kinetic) return !s->g->failed;
    if (!method->random) {
        int C = lgv_algebra_correction(s->m, method->correction);
        C = lgv_expr_mul(s->g, lgv_expr_ref_at(s->g, LGV_WEIGHTS, weight), C);
        return lgv_function_add(s->g, &s->K, -1, C) && !s->g->failed;
    }
    bool ok = true;
    for (size_t i = 0; ok && i < s->m->nnoise; i++)
        for (size_t j = i; ok && j < s->m->nnoise; j++) { /* half of every k_ij, and k_ij = k_ji */
            int C = lgv_algebra_correction_pair(s->m, i, j, i == j ? 0.5 : 1);
            C = lgv_expr_mul(s->g, lgv_expr_ref_at(s->g, LGV_WEIGHTS, weight++), C);
            ok = lgv_function_add(s->g, &s->K, -1, C) && !s->g->failed;
        }
    return ok;
}

/* Brackets have their weights behind those of the noises; or they are a Hamiltonian of their own. */
static bool add_brackets(struct lgv_source *s, enum lgv_brackets which) {
    if (!which) return !s->g->failed;
    if (!lgv_model_brackets(s->m, which, &s->brackets)) return false;
    const bool apart = which == LGV_BRACKETS_APART;
    if (which == LGV_BRACKETS_MAGNUS && s->brackets.count) s->plain = s->K.count;
    if (apart && s->brackets.count) s->face |= LGV_FACE_BRACKETS;
    for (size_t k = 0; k < s->brackets.count; k++) {
        int weight = lgv_expr_ref_at(s->g, LGV_WEIGHTS, (long)((apart ? 0 : s->m->nnoise) + 1 + k));
        int node = lgv_expr_mul(s->g, weight, s->brackets.item[k].node);
        if (!lgv_function_add(s->g, apart ? &s->B : &s->K, -1, node)) return false;
    }
    return !s->g->failed;
}

static void bracket_constants(struct lgv_source *s) {
    struct lgv_text *o = &s->out;
    bool areas = false;
    if (!s->brackets.count) return;
    lgv_text_add(o, "#define NOISES %zuL\n#define BRACKETS %zuL\n", s->m->nnoise, s->brackets.count);
    lgv_text_add(o, "static const struct {\n    int kind;\n    long i, j;\n} bracket[] = {\n");
    for (size_t k = 0; k < s->brackets.count; k++) {
        const struct lgv_bracket *b = &s->brackets.item[k];
        lgv_text_add(o, "    {%d, %zu, %zu},\n", b->kind, b->i, b->j);
        areas |= b->kind == LGV_BRACKET_AREA;
    }
    lgv_text_add(o, "};\n#define BRACKET_AREAS %d\n#define BRACKETS_APART %d\n#define MODEL_PARTIAL %d\n", areas,
                 s->B.count > 0, s->plain > 0);
}

static void constants(struct lgv_source *s, const struct lgv_method *method, const struct lgv_width *width,
                      unsigned uses) {
    struct lgv_text *o = &s->out;
    const size_t more = s->B.count ? 0 : s->brackets.count;
    const bool joined = lgv_method_joins(method);
    lgv_text_add(o, "#define LANES %u\n", width->lanes);
    lgv_generate_file(o, "abi.h");
    lgv_generate_file(o, "lanes.h");
    lgv_generate_file(o, "noise.h");
    lgv_generate_file(o, "seldom.h");
    lgv_generate_file(o, "pivot.h");
    lgv_text_add(o, LGV_SHARED_END "#define VECS %u\n#define COARSE %d\n", width->vecs, width->coarse);
    lgv_text_add(o, "#define NX %zuL\n#define NP %zuL\n#define NM %zuL\n#define NHQ %ldL\n#define NW %zuL\n", s->m->nx,
                 s->m->np, s->m->nnoise + more, s->slots.instances, lgv_method_weights(method, s->m) + more);
    bracket_constants(s);
    if (method->random)
        lgv_text_add(o, "#define CORRECTION_RANDOM 1\n#define CORRECTION_WW %.17g\n#define CORRECTION_WY %.17g\n"
                        "#define CORRECTION_YY %.17g\n", method->random[0], method->random[1], method->random[2]);
    lgv_text_add(o,
                 "#define MODEL_SEPARABLE %d\n#define MODEL_LINEAR %d\n#define MODEL_TIME %d\n#define TRACK_BROWN %d\n"
                 "#define START_Q %d\n#define START_P %d\n"
                 "#define MODEL_NOISE_OF_Q %d\n#define MODEL_KINETIC_TIME %d\n#define MODEL_FLAT %d\n"
                 "#define MODEL_LARGE %d\n#define MODEL_FEW %u\n#define MODEL_PATTERN %d\n",
                 s->s->separable && !joined && !lgv_method_mixes(method, s->s), s->s->linear && !s->plain,
                 s->s->time_dependent, (uses & LGV_USES(LGV_BROWN)) != 0, (uses & LGV_USES(LGV_DQ)) != 0,
                 (uses & LGV_USES(LGV_DP)) != 0, !(s->s->noise_depends & LGV_ON_P) && !joined,
                 s->s->kinetic_time, s->s->flat && !joined, s->large, s->few, s->pattern != NULL);
    if (s->few)
        lgv_text_add(o, "#define FEW_PATIENCE %.3g\n", lgv_generate_patience(pow(s->few, 3) / 3, s->few));
    if (s->stiff)
        lgv_text_add(o, "#define STIFF_SPARSE %d\n#define STIFF_DIAGONAL %d\n#define STIFF_QUADRATIC %d\n",
                     s->newton != NULL, s->s->diagonal_mass, s->s->stiff_quadratic);
    if (s->m->npenalties && uses & LGV_USES(LGV_LAMBDA))
        lgv_text_add(o, "#define PENALTIES %zuL\n#define PENALTY_WINDOW %.17g\n", s->m->npenalties,
                     s->m->penalty_window);
    if (method->explicit_additive) lgv_text_add(o, "#define MODEL_STEADY_NOISE %d\n", s->s->steady_noise);
    lgv_text_add(o, "#define FACE_WORK %dL\n", s->m->draws[0] + s->m->draws[1] + 8);
    lgv_text_add(o, "#define CONTEXT_SETUP(c, given) ((void)(c), (void)(given))\n#define KERNEL_LINKAGE\n"
                    "#define KERNEL_NAME lgv_kernel_entry\nstruct lgv_callbacks;\n");
    lgv_generate_constraint_sizes(s);
    if (method->constants) lgv_text_add(o, "%s", method->constants);
}

static void event_constants(struct lgv_source *s) {
    lgv_text_add(&s->out, "#define EVENTS %zuL\n#define EVENT_STOPS", s->watch->events);
    for (size_t k = 0; k < s->watch->events; k++)
        lgv_text_add(&s->out, "%s %d", k ? "," : "", s->watch->event[k].stops);
    lgv_text_add(&s->out, "\n");
}

/* Friction and forces: sizes and kinds, and where the channels of the bath belong. */
static void bath_constants(struct lgv_source *s, const struct lgv_method *method) {
    const struct lgv_bath *b = &s->m->bath;
    struct lgv_text *o = &s->out;
    if (s->m->force) lgv_text_add(o, "#define MODEL_FORCED 1\n#define MODEL_FORCE_P %d\n", s->m->force_of_p);
    if (!b->kind) return;
    bool dense = lgv_bath_dense(s->m, s->s, s->lagrangian), all = dense || b->rows == s->m->np;
    lgv_text_add(o,
                 "#define NB %zuL\n#define BATH_SPANS %uL\n#define BATH_F %d\n#define BATH_DENSE %d\n"
                 "#define BATH_OF_Q %d\n#define BATH_MIDPOINT %d\n",
                 dense ? s->m->np : b->rows, lgv_method_spans(method), method->bath_f, dense,
                 b->kind == LGV_FRICTION_OF_Q, s->lagrangian || (s->m->nconstraints && !(dense && s->sparse)));
    if (all) {
        lgv_text_add(o, "#define BATH_ROW(j) (j)\n");
        return;
    }
    lgv_text_add(o, "static const int bath_row[] = {");
    for (size_t j = 0; j < b->rows; j++) lgv_text_add(o, "%zu,%s", b->row[j], j % 20 == 19 ? "\n    " : "");
    lgv_text_add(o, "};\n#define BATH_ROW(j) bath_row[j]\n");
}

/* Where rotations stand among the coordinates, and the vectors between them. */
static void rotation_constants(struct lgv_source *s) {
    const struct lgv_graph *g = s->g;
    struct lgv_text *o = &s->out;
    const size_t plain = lgv_model_bodies(s->m, false), coupled = lgv_model_bodies(s->m, true);
    long q = 0, p = 0, runs = 0, kinds[2] = {0, 0};
    lgv_text_add(o, "#define ROTATIONS %zuL\n#define ROTATIONS_TILTED %d\n#define COUPLED %zuL\n"
                    "#define COUPLED_FROM %zuL\nstatic const struct {\n    int q, p, count;\n} ",
                 plain + coupled, !s->s->diagonal_mass, coupled, plain * LGV_SPIN);
    for (int kind = 0; kind < 2; kind++) {
        lgv_text_add(o, kind ? "coupled_run[] = {" : "rotation_run[] = {");
        for (size_t k = 0; k < g->nrotations; k++) {
            if (g->rotation[k].coupled != kind) continue;
            lgv_text_add(o, "{%ld, %ld, %ld}, ", g->rotation[k].q, g->rotation[k].p, g->rotation[k].count);
            kinds[kind]++;
        }
        lgv_text_add(o, kinds[kind] ? "}, " : "{0, 0, 0}}, ");
    }
    lgv_text_add(o, "vector_run[] = {");
    for (size_t k = 0; k <= g->nrotations; k++) {
        bool last = k == g->nrotations;
        long end = last ? (long)s->m->nx : g->rotation[k].q - (g->rotation[k].coupled ? 3 * g->rotation[k].count : 0);
        if (end > q) lgv_text_add(o, "{%ld, %ld, %ld}, ", q, p, end - q), runs++;
        if (last) break;
        p = g->rotation[k].p + 3 * g->rotation[k].count;
        q = g->rotation[k].q + 4 * g->rotation[k].count;
    }
    if (!runs) lgv_text_add(o, "{0, 0, 0}");
    lgv_text_add(o, "};\n#define ROTATION_RUNS %ldL\n#define COUPLED_RUNS %ldL\n#define VECTOR_RUNS %ldL\n", kinds[0],
                 kinds[1], runs);
}

static void near_constants(struct lgv_source *s) {
    long lists = lgv_emit_near_lists(s->g);
    if (!lists) return;
    lgv_text_add(&s->out, "#define NEAR_LISTS %ldL\n#define NEAR_KINDS {", lists);
    for (size_t i = 0; i < s->g->nnests; i++) {
        long low[2], high[2];
        if (!s->g->nest[i].near) continue;
        const struct lgv_cut *cut = &s->g->cut[s->g->nest[i].near - 1];
        lgv_near_ranges(s->g, (int)i, low, high);
        lgv_text_add(&s->out, "{{%ld, %ld}, {%ld, %ld}, %.17g, %.17g, {%.17g, %.17g, %.17g}}, ", low[0], low[1],
                     high[0] - low[0] + 1, high[1] - low[1] + 1, cut->radius, cut->skin, cut->box[0], cut->box[1],
                     cut->box[2]);
    }
    lgv_text_add(&s->out, "}\n");
}

static void section_constants(struct lgv_source *s) {
    struct lgv_text way = {0}, first = {0}, count = {0};
    size_t all = 0;
    for (size_t k = 0; k < s->watch->sections; k++) {
        const struct lgv_section *x = &s->watch->section[k];
        lgv_text_add(&way, "%s %d", k ? "," : "", x->direction);
        lgv_text_add(&first, "%s %zu", k ? "," : "", all);
        lgv_text_add(&count, "%s %zu", k ? "," : "", x->nseen);
        all += x->nseen;
    }
    if (way.failed || first.failed || count.failed)
        s->out.failed = true;
    else
        lgv_text_add(&s->out,
                     "#define SECTIONS %zuL\n#define SECTION_WAYS%s\n#define SECTION_FIRSTS%s\n"
                     "#define SECTION_COUNTS%s\n#define SECTION_SEEN %zuL\n#define SECTION_WIDTH %zuL\n",
                     s->watch->sections, way.data, first.data, count.data, all, lgv_kernel_crossing(s->watch));
    lgv_text_free(&way);
    lgv_text_free(&first);
    lgv_text_free(&count);
}

/* What a step can call beside the face: of the texts those that this kernel needs, since reading takes time too. */
static void texts_before(struct lgv_source *s) {
    bool constrained = s->m->nconstraints || s->constrained, rotates = s->g->nrotations > 0;
    bool solves = constrained || rotates || s->large || s->stiff ||
                  s->face & (LGV_FACE_K2 | LGV_FACE_ACTION | LGV_FACE_BRACKETS);
    bool orbits = rotates && (s->face & LGV_FACE_K2);
    const struct {
        const char *file;
        bool wanted;
    } text[] = {
        {"solve.h", solves},      {"sparse_lanes.h", s->sparse || s->newton || s->action},
        {"pattern.h", s->pattern || (s->longer && s->sparse)},
        {"system.h", solves},     {"newton.h", solves},
        {"stages.h", solves},     {"unsolved.h", !solves},
        {"rotor.h", rotates},     {"kirchhoff.h", s->s->coupled || orbits || (rotates && s->lagrangian)},
        {"rotations.h", rotates}, {"coadjoint.h", orbits},
        {"bath.h", s->m->bath.kind != LGV_FRICTION_NONE}, {"constrained.h", constrained},
    };
    for (size_t k = 0; k < sizeof text / sizeof *text; k++)
        if (text[k].wanted) lgv_generate_file(&s->out, text[k].file);
}

/* H, and what a method for stiff potentials takes for stiff. */
static bool stiff_functions(struct lgv_source *s) {
    int V = s->face & LGV_FACE_SPLIT ? s->m->stiff : s->m->hamiltonian;
    return lgv_function_split(s->g, s->m->hamiltonian, false, &s->H) && lgv_function_split(s->g, V, false, &s->V);
}

/* Forces of H and of the noises; where they are wanted apart, without the stiff part, and that by itself. */
static bool forces(struct lgv_source *s) {
    struct lgv_function K = {0};
    if (!(s->face & LGV_FACE_APART)) return lgv_algebra_forces(s->g, &s->K, &s->Hq, &s->slots);
    lgv_terms_gradient(s->g, &s->V, LGV_Q, &s->Vq);
    bool ok = lgv_model_soft_increment(s->m, &K) && lgv_algebra_forces(s->g, &K, &s->Hq, &s->slots);
    lgv_function_free(&K);
    return ok;
}

char *lgv_kernel_source(struct lgv_model *m, const struct lgv_method *method, const struct lgv_structure *structure,
                        const struct lgv_watch *watch, const struct lgv_width *width, struct lgv_error *err) {
    struct lgv_source s = {.m = m, .g = m->graph, .s = structure};
    s.constrained = method->constrained;
    s.lagrangian = lgv_method_lagrangian(method, m, structure);
    s.sparse = lgv_method_sparse(method, m, structure);
    s.longer = lgv_method_long(method, m, structure);
    s.watch = watch;
    s.discrete = method->discrete;
    s.face = s.lagrangian ? 0 : lgv_method_face(method, structure);
    unsigned sets = lgv_method_large(method, m, structure);
    s.stiff = s.face & LGV_FACE_STIFFNESS;
    s.g->pairs = width->pairs;
    if (lgv_model_increment(m, &s.K) && (!(s.face & (LGV_FACE_STIFFNESS | LGV_FACE_SPLIT)) || stiff_functions(&s)) &&
        add_correction(&s, method) && add_brackets(&s, method->brackets) &&
        forces(&s)) {
        const struct lgv_function *const nodes[] = {&s.K, &s.K}, *const stiff[] = {&s.V, &s.H};
        s.few = m->np <= LGV_LARGE_DOF ? sets * (unsigned)m->np : 0;
        s.newton = sets && !s.few ? lgv_generate_newton_plan(&s, nodes, sets) : NULL;
        s.large = s.newton || s.few || (sets && m->np > LGV_DENSE_DOF); /* then without factors */
        if (s.stiff && m->np > LGV_LARGE_DOF) s.newton = lgv_generate_newton_plan(&s, stiff, 1);
        if (!sets && s.face & LGV_FACE_K2 && lgv_method_patterned(method, m, structure))
            s.pattern = lgv_generate_pattern_plan(&s, &s.K, LGV_P);
        if (s.longer && s.lagrangian) s.pattern = lgv_generate_border_plan(&s);
        if (s.longer) s.face &= ~(unsigned)LGV_FACE_K2; /* forces alone */
        s.action = s.discrete && m->np > LGV_LARGE_DOF ? lgv_generate_action_plan(&s) : NULL;
        if (s.large) s.face &= ~(unsigned)LGV_FACE_ITO; /* noise h(q): no correction */
        if (s.large && !s.few) s.face &= ~(unsigned)LGV_FACE_K2;
        constants(&s, method, width, watch->uses);
        lgv_text_add(&s.out, "#define WATCHED %zuL\n", watch->count);
        if (m->nconstraints)
            lgv_text_add(&s.out, "#define WATCH_CONSTRAINT %zuL\n", watch->count - watch->controls - 2);
        bath_constants(&s, method);
        if (m->graph->nrotations) rotation_constants(&s);
        if (m->npar <= 64 && !m->graph->ntables) lgv_text_add(&s.out, "#define PARAMETERS %zu\n", m->npar);
        if (m->graph->ndrawn) lgv_text_add(&s.out, "#define DRAWN_ROWS %dL\n", m->graph->ndrawn);
        if (m->nprocesses)
            lgv_text_add(&s.out, "#define PROCESSES %zuL\n#define PROCESS_FIRST %dL\n", m->nprocesses,
                         m->graph->nsteady);
        if (watch->controls) lgv_text_add(&s.out, "#define CONTROLS %zuL\n", watch->controls);
        if (watch->tallies) lgv_text_add(&s.out, "#define TALLIES %zuL\n", watch->tallies);
        if (watch->extremes) lgv_text_add(&s.out, "#define EXTREMES 1\n");
        if (watch->events) event_constants(&s);
        if (watch->sections) section_constants(&s);
        near_constants(&s);
        lgv_generate_file(&s.out, "face.h");
        if (m->graph->ntables) lgv_generate_file(&s.out, "table.h");
        if (width->pairs || m->graph->ncuts) lgv_generate_file(&s.out, "near.h");
        if (s.g->nnests) lgv_generate_file(&s.out, "rows.h");
        lgv_emit_near(&s.out, s.g);
        lgv_face_write(&s);
        texts_before(&s);
        if (s.brackets.count) lgv_generate_file(&s.out, "brackets.h");
        lgv_generate_method(&s.out, method);
        if (watch->events) lgv_generate_file(&s.out, "events.h");
        if (watch->sections) lgv_generate_file(&s.out, "sections.h");
        lgv_generate_file(&s.out, "loop.h");
    }
    s.g->pairs = false;
    bool dense = (s.face & LGV_FACE_K2 && !s.pattern) || (s.stiff && !s.newton) || (s.discrete && !s.action);
    bool unsolvable = s.longer && s.lagrangian && !s.pattern;
    lgv_generate_newton_free(s.newton);
    lgv_generate_newton_free(s.action);
    lgv_generate_newton_free(s.pattern);
    free(s.brackets.item);
    lgv_function_free(&s.K);
    lgv_function_free(&s.B);
    lgv_function_free(&s.H);
    lgv_function_free(&s.V);
    lgv_terms_free(&s.Hq);
    lgv_terms_free(&s.Vq);
    lgv_forces_free(&s.slots);
    for (int k = 0; k < 2; k++) lgv_terms_free(&s.kept[k]);
    if (unsolvable || (dense && m->np > LGV_DENSE_DOF)) {
        lgv_text_free(&s.out);
        lgv_method_too_large(method, m, err);
        return NULL;
    }
    if (!m->graph->failed && !s.out.failed && s.out.data) return s.out.data;
    lgv_fail(err, LGV_CANNOT_RUN, "the kernel cannot be generated: %s",
             m->graph->failed   ? m->graph->failed
             : s.err.message[0] ? s.err.message
                                : "out of memory");
    lgv_text_free(&s.out);
    return NULL;
}
