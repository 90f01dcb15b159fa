/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A model as JSON: names, formulas as they were written, values of parameters. */
#include "out/study_compare.h"

#include <jansson.h>
#include <stdlib.h>

static json_t *names(char *const *name, size_t from, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; list && name && i < count; i++) json_array_append_new(list, lgv_json_text(name[from + i]));
    return list;
}

static json_t *parameters(const struct lgv_model *m) {
    json_t *out = json_object();
    for (size_t i = 0; out && i < m->npar; i++) json_object_set_new(out, m->par_name[i], lgv_json_real(m->par[i]));
    return out;
}

static json_t *texts_of_noises(const struct lgv_model *m) {
    json_t *list = json_array();
    for (size_t i = 0; list && m->noise && i < m->nentries; i++)
        json_array_append_new(list, lgv_json_text(m->noise[i].text));
    return list;
}

static json_t *texts_of_constraints(const struct lgv_model *m) {
    json_t *list = json_array();
    for (size_t i = 0; list && m->constraint && i < m->nconstraint_entries; i++)
        json_array_append_new(list, lgv_json_text(m->constraint[i].text));
    return list;
}

static json_t *observables(const struct lgv_model *m) {
    json_t *out = json_object();
    for (size_t i = 0; out && m->observable && i < m->nobservables; i++)
        json_object_set_new(out, m->observable[i].name, lgv_json_text(m->observable[i].text));
    return out;
}

static json_t *symmetries(const struct lgv_model *m) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < m->nsymmetries; i++)
        json_array_append_new(list, lgv_json_text(m->symmetry[i].name));
    return list;
}

static json_t *warnings(struct lgv_model *m) {
    char text[sizeof(struct lgv_error)];
    json_t *list = json_array();
    for (size_t k = 0; list && lgv_model_warning(m, k, text, sizeof text); k++)
        json_array_append_new(list, lgv_json_text(text));
    return list;
}

char *lgv_json_model(struct lgv_model *m) {
    json_t *d = json_pack(
        "{s:o s:o s:o s:o s:o s:o s:o s:o s:I s:I s:I s:o s:o s:o s:o}", "name", lgv_json_text(m->name), "file",
        lgv_json_text(m->file),
        "parameters", parameters(m), "coordinates", names(m->component, 0, m->nx), "momenta",
        names(m->component, m->nx, m->np), "velocities", names(m->velocity_name, 0, m->velocity_name ? m->np : 0),
        "hamiltonian", lgv_json_text(m->hamiltonian_text), "lagrangian", lgv_json_text(m->lagrangian_text), "dof",
        (json_int_t)m->np,
        "noises", (json_int_t)m->nnoise, "constraint_count", (json_int_t)m->nconstraints, "noise", texts_of_noises(m),
        "constraints", texts_of_constraints(m), "observe", observables(m), "symmetries", symmetries(m));
    if (d) json_object_set_new(d, "warnings", warnings(m));
    if (d) json_object_set_new(d, "text", m->text ? json_string(m->text) : json_null()); /* with its line breaks */
    char *out = d ? json_dumps(d, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(d);
    return out;
}
