/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv schema: the JSON schema of model files, for editors, from the tables of keys and run options that the program
 * itself uses.  It tells keys, their forms and run options; what formulas may say only the program knows. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static const struct lgv_flag flags[] = {
    {"out", 'o', "FILE", offsetof(struct lgv_flags, out), "a file to write to, in place of standard output"},
    {"json", 0, NULL, offsetof(struct lgv_flags, json), "the same: a schema is a JSON document"},
};

/* A formula, or a number. */
static json_t *text_form(void) {
    return json_pack("{s:[s,s]}", "type", "string", "number");
}

static json_t *value_of(const struct lgv_option *row) {
    json_t *out = json_object();
    const bool number = row->type == LGV_REAL || row->type == LGV_COUNT;
    if (row->type == LGV_SWITCH)
        json_object_set_new(out, "enum", json_pack("[s,s,b,b]", "yes", "no", 1, 0));
    else
        json_object_set_new(out, "type",
                            row->type == LGV_LIST    ? json_pack("[s,s,s]", "string", "number", "array")
                            : !number                ? json_pack("[s,s]", "string", "number")
                            : row->type == LGV_COUNT ? json_string("integer")
                                                     : json_string("number"));
    if (number && row->low > -1e299 && row->low > 1e-200) json_object_set_new(out, "minimum", json_real(row->low));
    if (number && row->low > 0 && row->low < 1e-200) json_object_set_new(out, "exclusiveMinimum", json_integer(0));
    if (number && row->low == 0) json_object_set_new(out, "minimum", json_integer(0));
    if (number && row->high < LGV_MOST_COUNT) json_object_set_new(out, "maximum", json_real(row->high));
    struct lgv_text doc = {0};
    lgv_text_add(&doc, "%s%s%s%s", row->doc, *row->standard ? " (default " : "", row->standard,
                 *row->standard ? ")" : "");
    json_object_set_new(out, "description", json_string(doc.data ? doc.data : row->doc));
    lgv_text_free(&doc);
    return out;
}

static json_t *run_form(void) {
    json_t *rows = json_object();
    for (size_t k = 0; k < lgv_run_option_count; k++)
        if (lgv_run_options[k].type != LGV_PROGRAM) /* never from a model file */
            json_object_set_new(rows, lgv_run_options[k].name, value_of(&lgv_run_options[k]));
    return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", rows, "additionalProperties", 0);
}

/* Keys whose mappings have fixed names, not those of the model. */
static const struct {
    const char *key, *names[5];
} fixed[] = {
    {"langevin", {"friction", "temperature", "fixman"}},
    {"cutoff", {"radius", "switch", "box", "skin"}},
    {"penalty", {"omega", "window"}},
    {"kinetic", {"mass", "inertia"}},
};

static json_t *mapping_form(const char *key) {
    if (strcmp(key, "run") == 0) return run_form();
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        if (strcmp(key, fixed[i].key) != 0) continue;
        json_t *names = json_object();
        for (const char *const *name = fixed[i].names; *name; name++) json_object_set_new(names, *name, json_object());
        return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", names, "additionalProperties", 0);
    }
    return json_pack("{s:s}", "type", "object");
}

static json_t *key_form(const struct lgv_model_key *key) {
    json_t *any = json_array();
    if (key->forms & LGV_KEY_IS_TEXT) json_array_append_new(any, text_form());
    if (key->forms & LGV_KEY_IS_LIST) json_array_append_new(any, json_pack("{s:s}", "type", "array"));
    if (key->forms & LGV_KEY_IS_MAPPING) json_array_append_new(any, mapping_form(key->name));
    json_t *out = json_array_size(any) == 1 ? json_incref(json_array_get(any, 0)) : json_pack("{s:O}", "anyOf", any);
    json_decref(any);
    json_object_set_new(out, "description", json_string(key->doc));
    return out;
}

static json_t *schema(void) {
    json_t *keys = json_object();
    for (size_t k = 0; k < lgv_model_key_count; k++)
        json_object_set_new(keys, lgv_model_keys[k].name, key_form(&lgv_model_keys[k]));
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:b, s:[{s:[s]}, {s:[s]}]}", "$schema",
                     "https://json-schema.org/draft/2020-12/schema", "title", "Model file of Lagrangevin",
                     "description", "A Hamiltonian or Lagrangian with its noise: keys of a model file", "type",
                     "object", "properties", keys, "additionalProperties", 0, "anyOf", "required", "coordinates",
                     "required", "momenta");
}

static int command_schema(const struct lgv_arguments *a) {
    struct lgv_error err = {0};
    json_t *document = schema();
    char *text = document ? json_dumps(document, JSON_INDENT(2)) : NULL;
    json_decref(document);
    if (!text) return lgv_complain(&err, lgv_fail_memory(&err));
    struct lgv_text t = {0};
    lgv_text_add(&t, "%s\n", text);
    free(text);
    return lgv_put_text(a, &t, NULL);
}

const struct lgv_command lgv_command_schema = {
    .name = "schema",
    .summary = "the JSON schema of model files, for editors",
    .about = "Prints the JSON schema of model files, by which editors complete keys and options, explain them and mark "
             "misspelt ones. `make install` puts it into share/lgv/model.schema.json. With a language server for YAML "
             "the first line of a model file names it: # yaml-language-server: $schema=PATH",
    .examples = "  lgv schema\n  lgv schema --out model.schema.json\n",
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_schema,
};
