/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The findings of `lgv check` as JSON. */
#include "engine/engine.h"

#include <jansson.h>
#include <math.h>

static json_t *real(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text(const char *s) {
    char plain[600];
    return json_string(lgv_plain(plain, sizeof plain, s));
}

static json_t *symmetries_json(const struct lgv_examination *x) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < x->model->nsymmetries && i < x->structure.nsymmetries; i++)
        json_array_append_new(list,
                              json_pack("{s:o s:o s:o s:o s:s}", "name", text(x->model->symmetry[i].name), "invariant",
                                        x->structure.symmetry[i].unknown
                                            ? json_null()
                                            : json_boolean(x->structure.symmetry[i].invariant),
                                        "drift", real(lgv_examination_drift(x, i)), "residual",
                                        real(x->structure.symmetry[i].residual), "decided",
                                        x->structure.symmetry[i].unknown              ? "no"
                                        : x->structure.symmetry[i].decided_by_formula ? "formulas"
                                                                                      : "points"));
    return list;
}

static json_t *method_json(const struct lgv_examination *x, const struct lgv_method *m, const char *why) {
    const char *reason;
    double strong = lgv_method_strong_order(m, &x->structure, x->model->nnoise, &reason);
    return json_pack("{s:s s:b s:o s:o s:o s:o s:b s:b s:f}", "name", m->name, "fits", !why, "reason",
                     why ? text(why) : json_null(), "strong_order", why ? json_null() : real(strong), "weak_order",
                     why ? json_null() : real(lgv_examination_weak(x, m)), "order_reason",
                     why ? json_null() : text(reason),
                     "explicit", lgv_method_explicit(m, &x->structure), "symplectic", m->symplectic,
                     "symplectic_violation", m->violation);
}

static json_t *methods_json(const struct lgv_examination *x, bool names) {
    json_t *list = json_array();
    const struct lgv_method *m;
    for (size_t i = 0; list && (m = lgv_method_listed(x->model, i)); i++) {
        char buffer[400];
        const char *why = lgv_method_refusal(m, x->model, &x->structure, buffer, sizeof buffer);
        if (!names)
            json_array_append_new(list, method_json(x, m, why));
        else if (!why)
            json_array_append_new(list, json_string(m->name));
    }
    return list;
}

static json_t *problems_json(const struct lgv_examination *x) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < x->nproblems; i++) json_array_append_new(list, text(x->problem[i].text));
    return list;
}

static json_t *unused_json(const struct lgv_examination *x) {
    json_t *list = json_array();
    const struct lgv_symbol *s;
    for (size_t k = 0; list && (s = lgv_model_unused(x->model, k, &k)); k++)
        json_array_append_new(list, text(s->name));
    return list;
}

static json_t *stability_json(const struct lgv_stability *s) {
    if (!s->text[0]) return json_null();
    return json_pack("{s:o s:o s:o s:o s:o s:o s:o}", "highest_frequency", real(s->frequency), "limit", real(s->limit),
                     "largest_step", real(s->largest), "least_beta", real(s->beta), "penalty_step", real(s->penalty),
                     "stable", s->stable < 0 ? json_null() : json_boolean(s->stable), "text", text(s->text));
}

static json_t *drawn_json(const struct lgv_model *m, bool laws) {
    json_t *out = laws ? json_object() : json_array();
    for (int k = 0; m->graph && k < m->graph->nsteady; k++) {
        const struct lgv_symbol *s = lgv_model_drawn_symbol(m, k);
        if (!s || (k && s == lgv_model_drawn_symbol(m, k - 1))) continue;
        if (laws)
            json_object_set_new(out, s->name, s->text ? text(s->text) : json_null());
        else
            json_array_append_new(out, text(s->name));
    }
    return out;
}

static json_t *processes_json(struct lgv_model *m) {
    double x[LGV_MAX_PROCESSES * LGV_PROCESS_NUMBERS];
    json_t *out = json_object();
    if (!m->nprocesses || lgv_model_process_values(m, x, NULL)) return out;
    for (size_t k = 0; k < m->nprocesses; k++)
        for (int i = 0; i < LGV_PROCESS_NUMBERS; i++) {
            const char *name = lgv_model_process_name(m, k);
            json_t *one = i ? json_object_get(out, name) : json_object();
            if (m->process[k].node[i] >= 0)
                json_object_set_new(one, lgv_process_number_name[i], real(x[k * LGV_PROCESS_NUMBERS + (size_t)i]));
            if (!i) json_object_set_new(out, name, one);
        }
    return out;
}

static json_t *tables_json(const struct lgv_model *m) {
    static const char *const outside[] = {"undefined", "straight", "periodic"};
    json_t *list = json_array();
    for (size_t k = 0; m->graph && k < m->graph->ntables; k++) {
        const struct lgv_table *t = &m->graph->tabulated[k];
        if (t->degree == 0) continue; /* a column by path */
        json_array_append_new(
            list, json_pack("{s:o s:o s:o s:I s:b s:i s:s}", "name", text(t->name), "from",
                            real(m->par[t->at + LGV_TABLE_LOW]), "to", real(m->par[t->at + LGV_TABLE_HIGH]), "points",
                            (json_int_t)t->intervals + 1, "even", t->even, "degree", t->degree, "outside",
                            outside[t->outside]));
    }
    return list;
}

void lgv_inputs_json(struct lgv_model *m, struct json_t *out) {
    json_object_set_new(out, "random_parameters", drawn_json(m, false));
    json_object_set_new(out, "random_parameter_laws", drawn_json(m, true));
    json_object_set_new(out, "processes", processes_json(m));
    json_object_set_new(out, "tables", tables_json(m));
    json_object_set_new(out, "starts_by_path", json_boolean(m->by_path));
}

static json_t *document(const struct lgv_examination *x) {
    static const char *const decided[] = {"trivially", "formulas", "points", "kinks", "undefined", "size"};
    const struct lgv_structure *s = &x->structure;
    const struct lgv_certificate *c = &x->result.certificate;
    const char *reason = "";
    double strong = lgv_method_strong_order(x->method, s, x->model->nnoise, &reason), n = (double)x->model->np;
    bool fits = x->method_fits;
    json_t *d =
        json_pack("{s:o s:o s:I s:I s:b s:s s:s s:o s:s s:o s:o s:o}", "model", text(x->model->name), "file",
                  text(x->model->file), "dof", (json_int_t)x->model->np, "noises", (json_int_t)x->model->nnoise,
                  "separable", s->separable, "kinetic", s->quadratic_kinetic ? "quadratic" : "general",
                  "noise_depends_on", (const char *[]){"nothing", "q", "p", "qp"}[s->noise_depends & 3],
                  "noise_commutes", s->commutes < 0 ? json_null() : json_boolean(s->commutes), "noise_commutes_decided",
                  decided[s->commutes_decided], "predicted_strong_order", fits ? real(strong) : json_null(),
                  "predicted_weak_order", fits ? real(lgv_examination_weak(x, x->method)) : json_null(), "order_reason",
                  fits ? text(reason) : json_null());
    char commutes[200];
    lgv_structure_commutes(s, x->model->nnoise, commutes, sizeof commutes);
    json_t *more = json_pack(
        "{s:o s:o s:o s:o s:o s:o s:o s:o s:s s:o s:b s:b s:b s:b s:b s:o s:I s:b s:o}", "unused", unused_json(x),
        "noise_commutes_reason", text(commutes), "derivative_error", real(x->derivative_error), "symplectic_defect",
        x->measured ? real(c->symplectic_defect) : json_null(), "symplectic_defect_error",
        x->measured ? real(c->symplectic_defect_error) : json_null(), "symmetries",
        symmetries_json(x), "methods", methods_json(x, true), "method_details", methods_json(x, false), "method",
        x->method->name, "method_reason", x->chosen ? text(x->chosen) : json_null(), "method_fits", fits,
        "hamiltonian_separable", s->hamiltonian_separable, "linear", s->linear && !x->model->force, "additive",
        s->additive, "time_dependent", s->time_dependent, "hessian_entries",
        x->hessian_entries < 0 ? json_null() : json_integer(x->hessian_entries), "hessian_size",
        (json_int_t)(4 * n * n), "holds", x->nproblems == 0, "problems", problems_json(x));
    struct lgv_text law = {0};
    lgv_law_words(x->model, &x->law, &law);
    json_object_set_new(more, "stationary_law", law.data ? text(law.data) : json_null());
    json_object_set_new(more, "stationary_temperature", real(x->law.temperature));
    lgv_text_free(&law);
    json_object_set_new(more, "stability", stability_json(&x->stability));
    lgv_inputs_json(x->model, more);
    json_object_set_new(more, "force_symmetric",
                        x->force_symmetric < 0 ? json_null() : json_boolean(x->force_symmetric));
    json_object_set_new(more, "areas", x->areas[0] ? text(x->areas) : json_null());
    if (d && more && json_object_update(d, more) == 0) {
        json_decref(more);
        return d;
    }
    json_decref(d);
    json_decref(more);
    return NULL;
}

char *lgv_examination_json(const struct lgv_examination *x) {
    json_t *d = document(x);
    char *out = d ? json_dumps(d, JSON_INDENT(2)) : NULL;
    json_decref(d);
    return out;
}
