/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Model files: text to struct lgv_model.  The format is described in docs/model-files.md; this file reads the sections
 * in an order that lets later ones use the names of earlier ones: parameters, coordinates, velocities, momenta, cutoff,
 * where, Hamiltonian or Lagrangian, stiff, constraints, penalty, noise, force, langevin, symmetries, observe, exact,
 * events, stop, sections, methods, run. */
#include "model/load.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STATE (LGV_USES(LGV_Q) | LGV_USES(LGV_P) | LGV_USES(LGV_V) | LGV_USES_TIME)

/* ---- formulas and names ---- */

bool lgv_load_formula(struct lgv_loader *l, int node, const char *place, unsigned allow, struct lgv_value *out,
                      int *nest) {
    struct lgv_formula_error why;
    const char *text = lgv_yaml_text(l, node, "a formula");
    if (!text) return false;
    l->m->scope.allow = allow;
    l->m->scope.place = place;
    if (!lgv_formula_parse(&l->m->scope, text, out, nest, &why)) return lgv_yaml_fail_in(l, node, &why);
    if (l->m->graph->failed) return lgv_yaml_fail(l, node, "%s", l->m->graph->failed);
    return true;
}

bool lgv_load_number(struct lgv_loader *l, int node, const char *place, unsigned allow, int *out) {
    struct lgv_value v;
    if (!lgv_load_formula(l, node, place, allow, &v, NULL)) return false;
    *out = v.node[0];
    return v.dim == 1 || lgv_yaml_fail(l, node, "%s is a number, but this is a %s", place,
                                       v.dim <= 3            ? "vector"
                                       : v.dim == LGV_MATRIX ? "matrix"
                                                             : "body: write .position, .rotation, .linear or .angular");
}

bool lgv_load_new_name(struct lgv_loader *l, int node, const char *name) {
    if (!lgv_formula_is_name(name))
        return lgv_yaml_fail(l, node, "'%.60s' is not a name (a letter, then letters, digits and _; letters may be "
                                      "Greek)", name);
    if (lgv_formula_is_reserved(name)) return lgv_yaml_fail(l, node, "%s has a meaning of its own in formulas", name);
    if (lgv_scope_find(&l->m->scope, name)) return lgv_yaml_fail(l, node, "%s is declared twice", name);
    return true;
}

/* Forgets the symbols added last, down to `count`. */
void lgv_load_drop(struct lgv_scope *scope, size_t count) {
    while (scope->count > count) {
        struct lgv_symbol *s = &scope->symbol[--scope->count];
        free(s->name);
        free(s->text);
        for (int k = 0; k < s->nformals; k++) free(s->formals[k]);
    }
}

/* ---- values of parameters ---- */

bool lgv_load_value_now(struct lgv_loader *l, int node, int formula, double *out) {
    struct lgv_evaluator e;
    struct lgv_env env = {.par = l->m->par};
    if (lgv_load_is_drawn(l, formula))
        return lgv_yaml_fail(l, node, "a value is needed here when the file is read, and this one is random");
    if (!lgv_eval_begin(&e, l->m->graph)) return lgv_yaml_memory(l);
    *out = lgv_eval_node(&e, formula, &env, NULL);
    lgv_eval_end(&e);
    lgv_scope_fix(&l->m->scope, formula);
    if (isnan(*out)) return lgv_yaml_fail(l, node, "the value is not a number");
    return isfinite(*out) || lgv_yaml_fail(l, node, "the value is %g; it must be a finite number", *out);
}

bool lgv_load_constant(struct lgv_loader *l, int node, const char *place, double *out) {
    int formula;
    return lgv_load_number(l, node, place, 0, &formula) &&
           lgv_load_value_now(l, node, formula, out);
}

/* ---- where ---- */

/* Whether the text of a macro consists of tokens at all; what it means is seen where it is used. */
static bool plain_text(struct lgv_loader *l, int node) {
    const char *text = lgv_yaml_text(l, node, "a formula");
    if (!text) return false;
    int open = 0;
    for (size_t k = 0, n = 1; text[k]; k += n) {
        struct lgv_formula_error why = {.offset = k};
        n = lgv_formula_letter(text + k);
        bool letter = n > 0;
        if (!letter) n = 1;
        open += text[k] == '(' || text[k] == '[';
        open -= text[k] == ')' || text[k] == ']';
        bool known = letter || isdigit((unsigned char)text[k]) || isspace((unsigned char)text[k]) ||
                     strchr("_+-*/^()[],.=<>!%", text[k]);
        snprintf(why.message, sizeof why.message, "%s",
                 known            ? "a closing bracket without an opening one"
                 : text[k] == '&' ? "between conditions stands and"
                                  : "unexpected character");
        if (!known || open < 0) return lgv_yaml_fail_in(l, node, &why);
    }
    return open == 0 || lgv_yaml_fail(l, node, "a bracket is not closed");
}

static bool read_macro(struct lgv_loader *l, int key, int value) {
    struct lgv_formula_error why = {0};
    struct lgv_symbol head = {0};
    char name[LGV_MAX_NAME] = "";
    const char *text = lgv_yaml_node(l, key)->text;
    size_t n = strcspn(text, "( ");
    bool ok = lgv_formula_macro_head(text, &head, &why);
    if (!ok && why.message[0])
        lgv_yaml_fail_in(l, key, &why);
    else if (!ok)
        lgv_yaml_fail(l, key, "expected a name or a function head like V(r)");
    if (ok && n < sizeof name) memcpy(name, text, n);
    for (int i = 0; ok && i < head.nformals; i++)
        for (int k = 0; ok && k < i; k++)
            if (strcmp(head.formals[i], head.formals[k]) == 0)
                ok = lgv_yaml_fail(l, key, "%s appears twice", head.formals[i]);
    ok = ok && lgv_load_new_name(l, key, name);
    if (ok && lgv_load_is_call(l, value, "table")) {
        bool one = head.nformals == 1;
        for (int k = one; k < head.nformals; k++) free(head.formals[k]);
        return one ? lgv_load_table(l, key, value, name, head.formals[0])
                   : lgv_yaml_fail(l, key, "a table is a function of one number: %s(x)", name);
    }
    ok = ok && plain_text(l, value);
    struct lgv_symbol *s = ok ? lgv_scope_add(&l->m->scope, name, LGV_SYM_MACRO) : NULL;
    if (ok && (!s || !(s->text = lgv_copy(lgv_yaml_node(l, value)->text)))) ok = lgv_yaml_memory(l);
    if (ok) lgv_yaml_place(l, key, &s->line, &s->column);
    for (int k = 0; k < head.nformals; k++) {
        if (ok)
            s->formals[s->nformals++] = head.formals[k];
        else
            free(head.formals[k]);
    }
    return ok;
}

/* Functions are read before the coordinates, so that start values may use them; values may use coordinates. */
static bool read_where(struct lgv_loader *l, int node, bool functions) {
    if (node < 0) return true;
    if (!lgv_yaml_mapping(l, node, "abbreviations as name: formula")) return false;
    LGV_EACH(l, node, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        struct lgv_value v;
        bool function = strchr(name, '(') != NULL;
        if (function && functions && !read_macro(l, key, value)) return false;
        if (function || functions) continue;
        if (!lgv_load_new_name(l, key, name) || !lgv_load_formula(l, value, "an abbreviation", STATE, &v, NULL))
            return false;
        struct lgv_symbol *s = lgv_scope_add(&l->m->scope, name, LGV_SYM_VALUE);
        if (!s || !(s->text = lgv_copy(lgv_yaml_node(l, value)->text))) return lgv_yaml_memory(l);
        s->value = v;
        lgv_yaml_place(l, key, &s->line, &s->column);
    }
    return true;
}

/* ---- the Hamiltonian ---- */

bool lgv_load_value(struct lgv_loader *l, const char *name, int node) {
    struct lgv_symbol *s = lgv_scope_add(&l->m->scope, name, LGV_SYM_VALUE);
    if (!s) return lgv_yaml_memory(l);
    s->value = (struct lgv_value){1, {node}};
    return true;
}

static bool read_hamiltonian(struct lgv_loader *l, const int *at, const int *key) {
    struct lgv_model *m = l->m;
    int H = at[LGV_KEY_HAMILTONIAN], U = at[LGV_KEY_POTENTIAL], kinetic;
    if (H >= 0) {
        int other = key[LGV_KEY_KINETIC] >= 0 ? key[LGV_KEY_KINETIC] : key[LGV_KEY_POTENTIAL];
        if (other >= 0)
            return lgv_yaml_fail(l, other, "hamiltonian is given; kinetic and potential would be a second one");
        if (!lgv_load_number(l, H, "the Hamiltonian", STATE, &m->hamiltonian)) return false;
    } else {
        if (U >= 0 && !lgv_load_number(l, U, "the potential", LGV_USES(LGV_Q) | LGV_USES_TIME, &m->hamiltonian))
            return false;
        if (!lgv_load_kinetic(l, at[LGV_KEY_KINETIC], &kinetic)) return false;
        m->hamiltonian = lgv_expr_add(m->graph, kinetic, m->hamiltonian);
    }
    struct lgv_text t = {0};
    lgv_text_add(&t, H >= 0 ? "%s" : U >= 0 ? "kinetic energy + %s" : "kinetic energy",
                 H >= 0 || U >= 0 ? lgv_yaml_node(l, H >= 0 ? H : U)->text : "");
    m->hamiltonian_text = t.data;
    if (t.failed) return lgv_yaml_memory(l);
    return lgv_load_value(l, "H", m->hamiltonian);
}

/* A model is given by a Hamiltonian and momenta, or by a Lagrangian and velocities. */
static bool check_kind(struct lgv_loader *l, const int *at, const int *key) {
    if (at[LGV_KEY_LAGRANGIAN] < 0) {
        bool free = at[LGV_KEY_COORDINATES] < 0 && at[LGV_KEY_KINETIC] >= 0; /* momenta alone have no potential */
        if (at[LGV_KEY_HAMILTONIAN] < 0 && at[LGV_KEY_POTENTIAL] < 0 && !free)
            return lgv_yaml_fail(l, 0, "the model has neither hamiltonian nor potential nor lagrangian");
        return at[LGV_KEY_VELOCITIES] < 0 ||
               lgv_yaml_fail(l, key[LGV_KEY_VELOCITIES],
                             "velocities belong to a lagrangian; a Hamiltonian has momenta");
    }
    static const int other[] = {LGV_KEY_HAMILTONIAN, LGV_KEY_KINETIC, LGV_KEY_POTENTIAL};
    for (int k = 0; k < 3; k++)
        if (at[other[k]] >= 0)
            return lgv_yaml_fail(l, key[other[k]], "lagrangian is given; %s would be a second model",
                                 lgv_model_keys[other[k]].name);
    if (at[LGV_KEY_MOMENTA] >= 0)
        return lgv_yaml_fail(l, key[LGV_KEY_MOMENTA],
                             "lagrangian is given: its momenta are L_v, called p_NAME for the coordinate "
                             "NAME; give velocities instead");
    return at[LGV_KEY_VELOCITIES] >= 0 ||
           lgv_yaml_fail(l, key[LGV_KEY_LAGRANGIAN],
                         "a lagrangian needs velocities: names and start values, as for coordinates");
}

/* What a model of momenta alone cannot have. */
static bool check_reduced(struct lgv_loader *l, const int *at, const int *key) {
    static const int of_q[] = {LGV_KEY_POTENTIAL, LGV_KEY_LAGRANGIAN,      LGV_KEY_STIFF,  LGV_KEY_CONSTRAINTS,
                               LGV_KEY_PENALTY,   LGV_KEY_NOISE_POTENTIAL, LGV_KEY_METHODS};
    for (size_t k = 0; k < sizeof of_q / sizeof *of_q; k++)
        if (at[of_q[k]] >= 0)
            return lgv_yaml_fail(l, key[of_q[k]], "the model has momenta and no coordinates, and %s is about these",
                                 lgv_model_keys[of_q[k]].name);
    return true;
}

/* ---- the whole ---- */

static bool read_name(struct lgv_loader *l, int node) {
    struct lgv_model *m = l->m;
    if (node >= 0) {
        const char *text = lgv_yaml_text(l, node, "a name");
        if (!text) return false;
        if (strlen(text) > 100 || strpbrk(text, "\t\r\n"))
            return lgv_yaml_fail(l, node, "the name is one line of at most 100 characters");
        m->name = lgv_copy(text);
    } else {
        const char *slash = strrchr(l->file, '/'), *base = slash ? slash + 1 : l->file, *dot = strrchr(base, '.');
        m->name = lgv_copy_n(base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
    }
    return m->name || lgv_yaml_memory(l);
}

/* Options of a run stand one level further in; the table of them belongs to a later stage. */
static const char *option_of_run(const char *name, bool misspelt) {
    static const char *const option[] = {
        "method", "step", "until", "paths", "until_stderr", "seed", "truncate", "rescue", "weak", "outputs",
        "threads", "lanes", "keep", "keep_every", "keep_increments", "tally", "averages", "correlations",
        "extendable", "record", "record_paths", "burn_in", "extremes", "modified_energy", "crossings", "quantiles",
        "bins", "histograms2", "density", "check_states"};
    const size_t count = sizeof option / sizeof *option;
    if (misspelt) return lgv_nearest(name, option, count);
    for (size_t k = 0; k < count; k++)
        if (strcmp(name, option[k]) == 0) return option[k];
    return NULL;
}

static bool unknown_section(struct lgv_loader *l, int key, const char *name) {
    static const char *const starts[] = {"start", "initial", "init", "initials", "initial_values", "start_values"};
    const char *known[LGV_KEYS];
    for (size_t i = 0; i < LGV_KEYS; i++) known[i] = lgv_model_keys[i].name;
    const char *near = lgv_nearest(name, known, LGV_KEYS), *option = option_of_run(name, false);
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strcmp(name, starts[i]) == 0)
            return lgv_yaml_fail(l, key, "unknown key %s; start values stand in coordinates and momenta, as in "
                                         "coordinates: { x: 1 }", name);
    if (option)
        return lgv_yaml_fail(l, key, "%s is an option of a run and stands in run, as in run: { %s: ... }", name, name);
    if (near) return lgv_yaml_fail(l, key, "unknown key %.60s; did you mean %s?", name, near);
    if ((option = option_of_run(name, true)))
        return lgv_yaml_fail(l, key, "unknown key %.60s; did you mean run: { %s: ... }?", name, option);
    char list[500] = "";
    for (size_t k = 0; k < LGV_KEYS; k++) {
        size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", k ? ", " : "", known[k]);
    }
    return lgv_yaml_fail(l, key, "unknown key %.60s; a model has %s", name, list);
}

static bool find_sections(struct lgv_loader *l, int *at, int *key_at) {
    if (lgv_yaml_node(l, 0)->kind != LGV_YAML_MAPPING)
        return lgv_yaml_fail(l, 0, "expected a model: name, parameters, coordinates, hamiltonian, ...");
    for (size_t k = 0; k < LGV_KEYS; k++) at[k] = key_at[k] = -1;
    if (!lgv_yaml_mapping(l, 0, "a model")) return false;
    LGV_EACH(l, 0, key, value) {
        const char *name = lgv_yaml_node(l, key)->text;
        size_t k = 0;
        while (k < LGV_KEYS && strcmp(lgv_model_keys[k].name, name) != 0) k++;
        if (k < LGV_KEYS) {
            if (at[k] >= 0) return lgv_yaml_fail(l, key, "%s is given twice", name);
            at[k] = value;
            key_at[k] = key;
            continue;
        }
        return unknown_section(l, key, name);
    }
    if (at[LGV_KEY_COORDINATES] < 0 && at[LGV_KEY_MOMENTA] < 0)
        return lgv_yaml_fail(l, 0, "the model has no coordinates");
    return check_kind(l, at, key_at) && (at[LGV_KEY_COORDINATES] >= 0 || check_reduced(l, at, key_at));
}

/* What later stages do first, tried here: what cannot be written as loops must be refused with the file's name. */
static bool try_increment(struct lgv_loader *l, int node) {
    struct lgv_function f = {0};
    bool ok = lgv_model_increment(l->m, &f);
    lgv_function_free(&f);
    const char *why = l->m->graph->failed;
    return ok || lgv_yaml_fail(l, node, "%s", why ? why : "the formulas are too large");
}

static bool read_state(struct lgv_loader *l, const int *at) {
    if (at[LGV_KEY_COORDINATES] < 0) return lgv_load_reduced(l, at[LGV_KEY_MOMENTA]);
    return lgv_load_coordinates(l, at[LGV_KEY_COORDINATES]) && lgv_load_velocities(l, at[LGV_KEY_VELOCITIES]) &&
           lgv_load_momenta(l, at[LGV_KEY_MOMENTA]);
}

static bool read_model(struct lgv_loader *l) {
    int at[LGV_KEYS], key[LGV_KEYS];
    if (!lgv_yaml_read(l) || !find_sections(l, at, key)) return false;
    int energy = at[LGV_KEY_LAGRANGIAN];
    if (energy < 0) energy = at[LGV_KEY_HAMILTONIAN];
    if (energy < 0) energy = at[LGV_KEY_POTENTIAL];
    if (energy < 0) energy = at[LGV_KEY_KINETIC];
    lgv_yaml_place(l, energy, &l->m->line, &l->m->column);
    l->langevin = at[LGV_KEY_LANGEVIN];
    l->observe = at[LGV_KEY_OBSERVE];
    if (l->observe >= 0 && lgv_yaml_node(l, l->observe)->kind != LGV_YAML_MAPPING) l->observe = -1;
    return read_name(l, at[LGV_KEY_NAME]) && lgv_load_data(l, at[LGV_KEY_DATA]) &&
           lgv_load_parameters(l, at[LGV_KEY_PARAMETERS]) && lgv_load_processes(l, at[LGV_KEY_PROCESSES]) &&
           lgv_load_by_point_end(l) &&
           read_where(l, at[LGV_KEY_WHERE], true) && read_state(l, at) &&
           lgv_load_cutoff(l, at[LGV_KEY_CUTOFF]) && read_where(l, at[LGV_KEY_WHERE], false) &&
           (at[LGV_KEY_LAGRANGIAN] >= 0 ? lgv_load_lagrangian(l, at[LGV_KEY_LAGRANGIAN])
                                        : read_hamiltonian(l, at, key)) &&
           lgv_load_maxwellian(l, false, l->langevin) && lgv_load_stiff(l, at[LGV_KEY_STIFF]) &&
           lgv_load_constraints(l, at[LGV_KEY_CONSTRAINTS]) && lgv_load_penalty(l, at[LGV_KEY_PENALTY]) &&
           lgv_load_fixman(l, at[LGV_KEY_LANGEVIN]) &&
           lgv_load_noise(l, at[LGV_KEY_NOISE], LGV_NOISE_STRATONOVICH) &&
           lgv_load_noise(l, at[LGV_KEY_NOISE_ITO], LGV_NOISE_ITO) &&
           lgv_load_noise(l, at[LGV_KEY_NOISE_POTENTIAL], LGV_NOISE_POTENTIAL) &&
           lgv_load_force(l, at[LGV_KEY_FORCE]) &&
           lgv_load_langevin(l, at[LGV_KEY_LANGEVIN]) && lgv_load_symmetries(l, at[LGV_KEY_SYMMETRIES]) &&
           lgv_load_casimirs(l) &&
           lgv_load_observe(l, at[LGV_KEY_OBSERVE]) && lgv_load_observe_drawn(l) &&
           lgv_load_exact(l, at[LGV_KEY_EXACT]) &&
           lgv_load_events(l, at[LGV_KEY_EVENTS]) && lgv_load_stop(l, at[LGV_KEY_STOP]) &&
           lgv_load_sections(l, at[LGV_KEY_CROSSED]) &&
           lgv_load_raw(l, at[LGV_KEY_METHODS], &l->m->methods) && lgv_load_run(l, at[LGV_KEY_RUN]) &&
           lgv_load_near_check(l, at[LGV_KEY_CUTOFF]) && try_increment(l, energy) &&
           lgv_load_discrete(l, at[LGV_KEY_METHODS]) && lgv_load_drawn_check(l) && lgv_load_keep_data(l);
}

static bool keep_settings(struct lgv_loader *l) {
    struct lgv_model *m = l->m;
    m->setting_name = lgv_new(l->noverrides + 1, sizeof *m->setting_name);
    m->setting_value = lgv_new(l->noverrides + 1, sizeof *m->setting_value);
    if (!m->setting_name || !m->setting_value) return lgv_yaml_memory(l);
    for (size_t k = 0; k < l->noverrides; k++) {
        const struct lgv_override *o = &l->override[k];
        if (!isfinite(o->value)) {
            lgv_fail(l->err, LGV_BAD_INPUT, "%s: the parameter %.80s = %g must be a finite number", l->file, o->name,
                     o->value);
            return false;
        }
        m->setting_value[k] = o->value;
        if (!(m->setting_name[k] = lgv_copy(o->name))) return lgv_yaml_memory(l);
        m->nsettings = k + 1;
    }
    return true;
}

enum lgv_status lgv_model_read(const char *text, const char *file, const struct lgv_override *override, size_t count,
                               struct lgv_model **out, struct lgv_error *err) {
    struct lgv_error local;
    if (out) *out = NULL;
    if (!text || !out || (count && !override)) return lgv_fail(err, LGV_BAD_INPUT, "no model text");
    struct lgv_loader l = {.text = text,
                           .file = file && *file ? file : "model",
                           .err = err ? err : &local,
                           .override = override,
                           .noverrides = count,
                           .m = lgv_new(1, sizeof *l.m)};
    struct lgv_model *m = l.m;
    if (!m) return lgv_fail_memory(err);
    l.err->status = LGV_CANNOT_RUN;
    m->kind = &lgv_model_formulas;
    m->lagrangian = m->stiff = -1;
    m->until = 1;
    m->text = lgv_copy(text);
    m->file = lgv_copy(l.file);
    m->graph = m->scope.graph = lgv_expr_graph_create();
    bool ok = m->text && m->file && m->graph ? keep_settings(&l) && read_model(&l) : lgv_yaml_memory(&l);
    lgv_yaml_free(&l.yaml);
    lgv_load_files_free(&l);
    free(l.rows);
    free(l.coordinate);
    free(l.momentum);
    free(l.velocity);
    free(l.velocity_of);
    free(l.mu_of);
    free(l.maxwellian);
    if (!ok) { /* without memory nothing is known about the file, wherever it was noticed */
        if (m->graph && lgv_expr_no_memory(m->graph)) lgv_fail_memory(l.err);
        lgv_model_free(m);
        return l.err->status;
    }
    m->graph->allowance = LGV_DERIVE_WORK;
    m->scope.place = NULL;
    *out = m;
    return LGV_OK;
}

char *lgv_model_text(const char *path, struct lgv_error *err) {
    size_t size = 0;
    char *text = lgv_read_file(path, LGV_MAX_TEXT, &size, err);
    if (!text || strlen(text) == size) return text;
    free(text);
    lgv_fail(err, LGV_BAD_INPUT, "%s: this is not a text file (it has zero bytes)", path);
    return NULL;
}

/* Keeps the value for the next time the text is read; false: no memory. */
static bool remember(struct lgv_model *m, const char *name, double value) {
    size_t k = 0;
    while (k < m->nsettings && strcmp(m->setting_name[k], name) != 0) k++;
    if (k == m->nsettings) {
        char **names = realloc(m->setting_name, (k + 1) * sizeof *names);
        if (names) m->setting_name = names;
        double *values = names ? realloc(m->setting_value, (k + 1) * sizeof *values) : NULL;
        if (values) m->setting_value = values;
        if (!values || !(m->setting_name[k] = lgv_copy(name))) return false;
        m->nsettings++;
    }
    m->setting_value[k] = value;
    return true;
}

bool lgv_model_adjust(struct lgv_model *m, const char *parameter, double value) {
    struct lgv_symbol *s = lgv_scope_find(&m->scope, parameter);
    if (!s || s->kind != LGV_SYM_PARAMETER || s->fixed || s->length || !isfinite(value)) return false;
    if (!remember(m, parameter, value)) return false;
    s->number = m->par[s->index] = value;
    m->changes++;
    return true;
}

static void free_texts(char **text, size_t count) {
    for (size_t k = 0; text && k < count; k++) free(text[k]);
    free(text);
}

void lgv_model_free(struct lgv_model *m) {
    if (!m) return;
    free_texts(m->par_name, m->npar + 1); /* one more: a parameter that failed half way */
    free_texts(m->component, m->nx + m->np);
    free_texts(m->velocity_name, m->np);
    free_texts(m->setting_name, m->nsettings);
    for (size_t k = 0; k < m->nentries; k++) free(m->noise[k].text), free(m->noise[k].name);
    for (size_t k = 0; k < m->nobservables; k++) free(m->observable[k].name), free(m->observable[k].text);
    for (size_t k = 0; k < m->nsymmetries; k++) {
        free(m->symmetry[k].name);
        free(m->symmetry[k].text);
        free(m->symmetry[k].xi);
    }
    for (size_t k = 0; k < m->nrun; k++) free(m->run[k].key), free(m->run[k].value);
    for (size_t k = 0; k < m->ncomposed; k++) m->method_free(m->composed[k]);
    for (size_t k = 0; k < m->nmethods; k++) m->method_free(m->method[k]);
    free(m->composed);
    free(m->method);
    lgv_load_raw_free(m->methods);
    lgv_load_discrete_free(m);
    for (size_t k = 0; k < m->nconstraint_entries; k++) free(m->constraint[k].text);
    free(m->noise);
    free(m->constraint);
    free(m->start_velocity);
    free(m->period);
    free(m->force);
    free(m->bath.friction);
    free(m->bath.temperature);
    free(m->bath.row);
    free(m->bath.friction_at);
    free(m->bath.temperature_at);
    free(m->lagrangian_text);
    for (size_t k = 0; k < m->nevents; k++) free(m->event[k].name), free(m->event[k].text);
    free(m->event);
    lgv_load_sections_free(m);
    free(m->observable);
    free(m->symmetry);
    free(m->run);
    free(m->exact);
    free(m->start);
    free(m->par);
    free(m->setting_value);
    free(m->hamiltonian_text);
    free(m->name);
    free(m->text);
    free(m->file);
    m->kind->free(m);
    free(m->known);
    free(m);
}

/* ---- the increment Hamiltonian ---- */

static bool add_weighted(struct lgv_graph *g, int node, int weight, struct lgv_function *out) {
    struct lgv_function f;
    bool ok = lgv_function_split(g, node, false, &f);
    for (size_t k = 0; ok && k < f.count; k++)
        ok = lgv_function_add(g, out, f.summand[k].nest, lgv_expr_mul(g, weight, f.summand[k].body));
    lgv_function_free(&f);
    return ok && !g->failed;
}

/* node times the weight; a family: its sum over the members, each with its own. */
static bool add_member(struct lgv_graph *g, int nest, int body, int weight, struct lgv_function *out) {
    if (nest < 0) return add_weighted(g, body, weight, out);
    return add_weighted(g, lgv_expr_loop(g, nest, lgv_expr_mul(g, weight, body)), lgv_expr_const(g, 1), out);
}

bool lgv_model_increment(struct lgv_model *m, struct lgv_function *out) {
    struct lgv_graph *g = m->graph;
    *out = (struct lgv_function){0};
    if (!g) return false;
    bool ok = add_weighted(g, m->hamiltonian, lgv_expr_ref_at(g, LGV_WEIGHTS, 0), out);
    for (size_t k = 0; ok && k < m->nentries; k++) {
        const struct lgv_noise *h = &m->noise[k];
        ok = add_member(g, h->nest, h->body, lgv_expr_ref(g, LGV_WEIGHTS, h->weight), out);
    }
    if (!ok) lgv_function_free(out);
    return ok;
}

bool lgv_model_soft_increment(struct lgv_model *m, struct lgv_function *out) {
    const int whole = m->hamiltonian;
    m->hamiltonian = lgv_expr_sub(m->graph, whole, m->stiff);
    bool ok = lgv_model_increment(m, out);
    m->hamiltonian = whole;
    return ok;
}

bool lgv_model_increment_lagrangian(struct lgv_model *m, struct lgv_function *out) {
    struct lgv_graph *g = m->graph;
    *out = (struct lgv_function){0};
    bool ok = g && m->lagrangian_text && add_weighted(g, m->lagrangian, lgv_expr_ref_at(g, LGV_WEIGHTS, 0), out);
    for (size_t k = 0; ok && k < m->nentries; k++) {
        const struct lgv_noise *h = &m->noise[k];
        ok = add_member(g, h->nest, lgv_expr_scale(g, -1, h->body), lgv_expr_ref(g, LGV_WEIGHTS, h->weight), out);
    }
    if (!ok) lgv_function_free(out);
    return ok;
}

bool lgv_model_discrete_action(struct lgv_model *m, const struct lgv_discrete *d, bool noise_alone,
                               struct lgv_function *out) {
    struct lgv_graph *g = m->graph;
    *out = (struct lgv_function){0};
    bool ok = noise_alone || add_weighted(g, d->lagrangian, lgv_expr_ref_at(g, LGV_WEIGHTS, 0), out);
    for (size_t k = 0; ok && k < d->nentries; k++) {
        const struct lgv_noise *b = &d->noise[k];
        ok = add_member(g, b->nest, b->body, lgv_expr_ref(g, LGV_WEIGHTS, b->weight), out);
    }
    if (!ok) lgv_function_free(out);
    return ok;
}

bool lgv_model_constraint_sum(struct lgv_model *m, struct lgv_function *out) {
    struct lgv_graph *g = m->graph;
    *out = (struct lgv_function){0};
    bool ok = g != NULL;
    for (size_t k = 0; ok && k < m->nconstraint_entries; k++) {
        const struct lgv_constraint *c = &m->constraint[k];
        ok = add_member(g, c->nest, c->body, lgv_expr_ref(g, LGV_LAMBDA, c->weight), out);
    }
    if (!ok) lgv_function_free(out);
    return ok;
}

bool lgv_model_penalty_sum(struct lgv_model *m, struct lgv_function *out) {
    struct lgv_graph *g = m->graph;
    int factor = lgv_expr_scale(g, -1, m->penalty);
    bool ok = true;
    *out = (struct lgv_function){0};
    for (size_t k = 0; ok && k < m->nconstraint_entries; k++) {
        const struct lgv_constraint *c = &m->constraint[k];
        ok = add_member(g, c->nest, lgv_expr_mul(g, factor, c->body), lgv_expr_ref(g, LGV_LAMBDA, c->weight), out);
    }
    if (!ok) lgv_function_free(out);
    return ok;
}

bool lgv_model_constraint_size(struct lgv_model *m, struct lgv_function *out) {
    struct lgv_graph *g = m->graph;
    *out = (struct lgv_function){0};
    bool ok = g != NULL;
    for (size_t k = 0; ok && k < m->nconstraint_entries; k++) {
        const struct lgv_constraint *c = &m->constraint[k];
        ok = add_member(g, c->nest, lgv_diff_magnitude(g, c->body), lgv_expr_ref(g, LGV_LAMBDA, c->weight), out);
    }
    if (!ok) lgv_function_free(out);
    return ok;
}

bool lgv_model_lagrangian(struct lgv_model *m, struct lgv_function *out) {
    *out = (struct lgv_function){0};
    return m->graph && m->lagrangian_text && lgv_function_split(m->graph, m->lagrangian, false, out);
}

const struct lgv_symbol *lgv_model_unused(const struct lgv_model *m, size_t from, size_t *number) {
    for (size_t k = from; k < m->scope.count; k++) {
        const struct lgv_symbol *s = &m->scope.symbol[k];
        if (s->line == 0 || s->used) continue;
        *number = k;
        return s;
    }
    return NULL;
}
