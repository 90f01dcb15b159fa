/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv new: a model file to begin with, by field. */
#include "cli/cli.h"
#include "cli/templates.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct lgv_flag flags[] = {
    {"out", 'o', "FILE", offsetof(struct lgv_flags, out), "the file to write (default: the name of the template)"},
    {"json", 0, NULL, offsetof(struct lgv_flags, json), "one JSON document on standard output and nothing else"},
};

const char *lgv_template_name(size_t k, char *out, size_t size) {
    if (k >= lgv_templates_count) return NULL;
    snprintf(out, size, "%.*s", (int)strcspn(lgv_templates[k].name, "."), lgv_templates[k].name);
    return out;
}

/* The first line without its sign and the dot at its end. */
static const char *about(const struct lgv_template *t, char *out, size_t size) {
    size_t n = strcspn(t->text, "\n");
    snprintf(out, size, "%.*s", (int)(n - 2 - (t->text[n - 1] == '.')), t->text + 2);
    return out;
}

static int list(const struct lgv_arguments *a) {
    char name[40], text[200];
    json_t *all = a->flags.json ? json_array() : NULL;
    if (!a->flags.json) printf("Templates:\n");
    for (size_t k = 0; k < lgv_templates_count; k++) {
        lgv_template_name(k, name, sizeof name);
        about(&lgv_templates[k], text, sizeof text);
        if (a->flags.json)
            json_array_append_new(all, json_pack("{s:s, s:s}", "name", name, "about", text));
        else
            printf("  %-12s %s\n", name, text);
    }
    if (a->flags.json) return lgv_print_json(all, LGV_EXIT_DONE);
    printf("\n`lgv new NAME` writes NAME.yaml here; `lgv run NAME.yaml` runs it.\n");
    return lgv_finish(LGV_EXIT_DONE);
}

static int unknown(const char *name) {
    const char *known[32];
    char names[32][40], plain[80];
    size_t n = 0;
    for (; n < lgv_templates_count && n < 32; n++) known[n] = lgv_template_name(n, names[n], sizeof names[n]);
    const char *near = lgv_nearest(name, known, n);
    lgv_plain(plain, sizeof plain, name);
    if (near)
        fprintf(stderr, "lgv: there is no template %s; did you mean %s?\n", plain, near);
    else
        fprintf(stderr, "lgv: there is no template %s; `lgv new` lists them\n", plain);
    return LGV_EXIT_INPUT;
}

static int write_template(const struct lgv_arguments *a, const struct lgv_template *t) {
    const char *path = a->flags.out ? a->flags.out : t->name;
    struct lgv_error err = {0};
    struct stat there;
    char plain[400];
    if (lstat(path, &there) == 0) {
        fprintf(stderr, "lgv: %s is there already; --out FILE names another one\n",
                lgv_plain(plain, sizeof plain, path));
        return LGV_EXIT_INPUT;
    }
    enum lgv_status status = lgv_file_replace(path, t->text, strlen(t->text), &err);
    if (status) return lgv_complain(&err, status);
    if (a->flags.json) return lgv_print_json(json_pack("{s:s}", "written", path), LGV_EXIT_DONE);
    lgv_plain(plain, sizeof plain, path);
    printf("%s is written. Next:\n  lgv explain %s    its equations\n  lgv run %s        statistics, a certificate, "
           "figures and a report\n",
           plain, plain, plain);
    return lgv_finish(LGV_EXIT_DONE);
}

static int command_new(const struct lgv_arguments *a) {
    char name[40];
    if (!a->operand) return list(a);
    for (size_t k = 0; k < lgv_templates_count; k++)
        if (strcmp(lgv_template_name(k, name, sizeof name), a->operand) == 0)
            return write_template(a, &lgv_templates[k]);
    return unknown(a->operand);
}

const struct lgv_command lgv_command_new = {
    .name = "new",
    .operand = "[NAME]",
    .summary = "a model file to begin with: oscillator, magnetic, lattice, polymer, bodies, langevin",
    .about = "Writes a complete, commented model file to the present directory, from a template by field. Without a "
             "name it lists the templates. A file that is there already is never replaced.",
    .examples = "  lgv new\n  lgv new oscillator\n  lgv new langevin --out well.yaml\n",
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_new,
};
