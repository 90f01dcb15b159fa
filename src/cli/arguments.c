/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line by table: flags of the command, run options, --set NAME=VALUE, operands. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- names ---- */

/* check_states and check-states are the same name. */
static bool same_name(const char *a, const char *b) {
    while (*a && (*a == *b || (*a == '_' && *b == '-') || (*a == '-' && *b == '_'))) a++, b++;
    return *a == *b;
}

const struct lgv_flag *lgv_command_flag(const struct lgv_command *c, size_t k) {
    size_t n = c->study ? c->study->count : 0;
    return k < n ? &c->study->option[k] : k - n < c->nflags ? &c->flag[k - n] : NULL;
}

static const struct lgv_flag *find_flag(const struct lgv_command *c, const char *name) {
    const struct lgv_flag *f;
    for (size_t k = 0; (f = lgv_command_flag(c, k)); k++)
        if (same_name(f->name, name)) return f;
    return NULL;
}

static const struct lgv_option *find_option(const char *name) {
    for (size_t k = 0; k < lgv_run_option_count; k++)
        if (same_name(lgv_run_options[k].name, name)) return &lgv_run_options[k];
    return NULL;
}

static bool fail(const struct lgv_command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(const struct lgv_command *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "lgv %s: ", c->name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

static bool unknown_flag(const struct lgv_command *c, const char *given, const char *name) {
    const struct lgv_flag *f;
    size_t n = lgv_run_option_count + 1, count = 0;
    for (size_t k = 0; lgv_command_flag(c, k); k++) n++;
    const char **known = lgv_new(n, sizeof *known);
    char(*option)[LGV_WORD_SIZE] = lgv_new(n, sizeof *option);
    for (size_t k = 0; known && (f = lgv_command_flag(c, k)); k++) known[count++] = f->name;
    for (size_t k = 0; known && option && c->run_options && k < lgv_run_option_count; k++)
        known[count++] = lgv_flag_name(&lgv_run_options[k], option[k], sizeof option[k]);
    if (known) known[count++] = "help";
    const char *near = known ? lgv_nearest(name, known, count) : NULL;
    char plain[80];
    lgv_plain(plain, sizeof plain, given);
    if (near)
        fail(c, "unknown flag %s; did you mean --%s?", plain, near);
    else
        fail(c, "unknown flag %s; `lgv %s --help` lists them", plain, c->name);
    free(known);
    free(option);
    return false;
}

/* ---- reading ---- */

static bool give(struct lgv_arguments *a, const char *name, size_t size, const char *value, bool set) {
    char *copy = lgv_copy_n(name, size);
    if (!copy || !lgv_grow(&a->given, &a->capacity, a->ngiven + 1, sizeof *a->given)) {
        free(copy);
        a->no_memory = true;
        return fail(a->command, "out of memory");
    }
    a->given[a->ngiven++] = (struct lgv_given){copy, value, set};
    return true;
}

static bool take_set(struct lgv_arguments *a, const char *value) {
    const char *equals = strchr(value, '=');
    char plain[80];
    if (!equals || equals == value || !equals[1])
        return fail(a->command, "--set wants NAME=VALUE, not \"%s\"", lgv_plain(plain, sizeof plain, value));
    return give(a, value, (size_t)(equals - value), equals + 1, true);
}

static bool take_flag(struct lgv_arguments *a, const struct lgv_flag *f, const char *value) {
    if (f->offset == LGV_FLAG_SET) return take_set(a, value);
    if (f->offset == LGV_FLAG_OVER) {
        if (a->flags.study.nover == LGV_SWEEP_AXES)
            return fail(a->command, "--over is given more than %d times", LGV_SWEEP_AXES);
        a->flags.study.over[a->flags.study.nover++] = value;
        return true;
    }
    char *field = (char *)&a->flags + f->offset;
    if (f->argument) {
        if (!*value) return fail(a->command, "--%s: the %s is empty", f->name, f->argument);
        memcpy(field, &value, sizeof value);
    } else {
        bool on = true;
        memcpy(field, &on, sizeof on);
    }
    return true;
}

/* One flag at argv[*i]; moves *i over its value. */
static bool read_flag(struct lgv_arguments *a, int argc, char **argv, int *i) {
    const struct lgv_command *c = a->command;
    const char *given = argv[*i], *equals = NULL;
    const struct lgv_flag *flag = NULL;
    const struct lgv_option *option = NULL;
    char name[LGV_WORD_SIZE] = "";
    if (given[1] == '-') {
        equals = strchr(given, '=');
        size_t n = equals ? (size_t)(equals - given) - 2 : strlen(given) - 2;
        if (n >= sizeof name) return unknown_flag(c, given, "");
        memcpy(name, given + 2, n);
        if (strcmp(name, "help") == 0) return a->flags.help = true;
        flag = find_flag(c, name);
        option = !flag && c->run_options ? find_option(name) : NULL;
    } else {
        if (strcmp(given, "-h") == 0) return a->flags.help = true;
        for (size_t k = 0; k < c->nflags && given[1] && !given[2]; k++)
            if (c->flag[k].letter == given[1]) flag = &c->flag[k]; /* those of studies have no letters */
    }
    if (!flag && !option) return unknown_flag(c, given, given + (given[1] == '-' ? 2 : 1));
    if (flag && !flag->argument) return equals ? fail(c, "--%s takes no value", flag->name) : take_flag(a, flag, NULL);
    const char *value = equals ? equals + 1 : *i + 1 < argc ? argv[*i + 1] : NULL;
    if (!value || (!equals && strncmp(value, "--", 2) == 0))
        return fail(c, "%s needs a value%s%s", given, flag ? ": " : "", flag ? flag->argument : "");
    *i += !equals;
    return flag ? take_flag(a, flag, value) : give(a, option->name, strlen(option->name), value, false);
}

/* The command line as it could be typed again. */
static char *quoted_line(int argc, char **argv) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    struct lgv_text t = {0};
    lgv_text_add(&t, "lgv");
    for (int i = 1; i < argc; i++) {
        lgv_text_add(&t, " ");
        if (argv[i][0] && strspn(argv[i], plain) == strlen(argv[i])) {
            lgv_text_add(&t, "%s", argv[i]);
            continue;
        }
        lgv_text_add(&t, "'");
        for (const char *s = argv[i]; *s; s++) lgv_text_add(&t, *s == '\'' ? "'\\''" : "%c", *s);
        lgv_text_add(&t, "'");
    }
    if (t.failed) lgv_text_free(&t);
    return t.data;
}

bool lgv_arguments_read(const struct lgv_command *command, int argc, char **argv, struct lgv_arguments *out) {
    *out = (struct lgv_arguments){.command = command, .line = quoted_line(argc, argv)};
    bool flags_end = false;
    char plain[80];
    for (int i = 2; i < argc; i++) {
        if (!flags_end && strcmp(argv[i], "--") == 0) {
            flags_end = true;
        } else if (!flags_end && argv[i][0] == '-' && argv[i][1]) {
            if (!read_flag(out, argc, argv, &i)) return false;
        } else if (!command->operand) {
            return fail(command, "unexpected argument %s", lgv_plain(plain, sizeof plain, argv[i]));
        } else if (out->operand && !strstr(command->operand, "...")) {
            return fail(command, "only one argument is wanted, and %s is a second",
                        lgv_plain(plain, sizeof plain, argv[i]));
        } else if (!lgv_grow(&out->operands, &out->operand_capacity, out->noperands + 1, sizeof *out->operands)) {
            out->no_memory = true;
            return fail(command, "out of memory");
        } else {
            out->operands[out->noperands++] = argv[i];
            out->operand = out->operands[0];
        }
    }
    if (!out->operand && command->operand && command->operand[0] != '[' && !out->flags.help)
        return fail(command, "the %s is missing; usage: lgv %s %s [flags]", command->operand, command->name,
                    command->operand);
    return true;
}

void lgv_arguments_free(struct lgv_arguments *a) {
    for (size_t i = 0; i < a->ngiven; i++) free(a->given[i].name);
    free(a->given);
    free(a->operands);
    free(a->line);
    *a = (struct lgv_arguments){0};
}

/* ---- the model and its settings ---- */

static enum lgv_status unknown_name(const struct lgv_model *m, const char *name, struct lgv_error *err) {
    const char **known = lgv_new(m->npar + lgv_run_option_count, sizeof *known);
    size_t count = 0;
    if (!known) return lgv_fail_memory(err);
    for (size_t i = 0; i < m->npar; i++) known[count++] = m->par_name[i];
    for (size_t i = 0; i < lgv_run_option_count; i++) known[count++] = lgv_run_options[i].name;
    const char *near = lgv_nearest(name, known, count);
    free(known);
    char plain[80];
    lgv_plain(plain, sizeof plain, name);
    if (near)
        return lgv_fail(err, LGV_BAD_INPUT, "--set %s: neither a parameter of %s nor a run option; did you mean %s?",
                        plain, m->name, near);
    return lgv_fail(err, LGV_BAD_INPUT, "--set %s: neither a parameter of %s nor a run option", plain, m->name);
}

static enum lgv_status read_parameter(const struct lgv_given *g, struct lgv_override *out, struct lgv_error *err) {
    const struct lgv_option row = {.name = g->name, .type = LGV_REAL, .low = -1e300, .high = 1e300};
    out->name = g->name;
    struct lgv_error why;
    if (lgv_option_set(&row, 1, &out->value, g->name, g->value, &why) == LGV_OK) return LGV_OK;
    return lgv_fail(err, LGV_BAD_INPUT, "--set %s", why.message);
}

/* Loads again with the parameters of --set: they may be sizes of arrays, so they come before the formulas. */
static enum lgv_status override_parameters(const struct lgv_arguments *a, struct lgv_model **m, struct lgv_error *err) {
    struct lgv_override *override = lgv_new(a->ngiven, sizeof *override);
    size_t count = 0;
    enum lgv_status status = override ? LGV_OK : lgv_fail_memory(err);
    for (size_t i = 0; status == LGV_OK && i < a->ngiven; i++) {
        const struct lgv_given *g = &a->given[i];
        if (!g->set || !lgv_model_has_parameter(*m, g->name)) continue;
        size_t at = 0; /* the last of several wins */
        while (at < count && strcmp(override[at].name, g->name) != 0) at++;
        status = read_parameter(g, &override[at], err);
        count += at == count;
    }
    struct lgv_model *fresh = NULL;
    if (status == LGV_OK && count > 0)
        status = lgv_model_complete((*m)->text, (*m)->file, override, count, &fresh, err);
    free(override);
    if (fresh) {
        lgv_model_free(*m);
        *m = fresh;
    }
    return status;
}

static enum lgv_status apply_options(const struct lgv_arguments *a, const struct lgv_model *m, struct lgv_settings *s,
                                     struct lgv_error *err) {
    for (size_t i = 0; i < a->ngiven; i++) {
        const struct lgv_given *g = &a->given[i];
        if (g->set && lgv_model_has_parameter(m, g->name)) continue;
        const struct lgv_option *row = find_option(g->name);
        if (!row) return unknown_name(m, g->name, err);
        struct lgv_error why;
        enum lgv_status status = lgv_settings_set(s, row->name, g->value, &why);
        if (status == LGV_OK) continue;
        char flag[LGV_WORD_SIZE]; /* as it is written on the command line; messages begin with the name of the row */
        const char *message = why.message + strlen(row->name);
        return g->set ? lgv_fail(err, status, "--set %s", why.message)
                      : lgv_fail(err, status, "--%s%s", lgv_flag_name(row, flag, sizeof flag), message);
    }
    return LGV_OK;
}

/* A wrong method of the file is shown in the file. */
static enum lgv_status check_method(const struct lgv_model *m, const struct lgv_settings *s, struct lgv_error *err) {
    if (strcasecmp(s->method, LGV_METHOD_AUTO) == 0 || lgv_method_for(m, s->method)) return LGV_OK;
    char why[200];
    if (lgv_method_unknown(m, s->method, why, sizeof why) != LGV_BAD_INPUT) return lgv_fail_memory(err);
    for (size_t i = 0; i < m->nrun; i++)
        if (strcmp(m->run[i].key, "method") == 0 && strcmp(m->run[i].value, s->method) == 0)
            return lgv_model_fail(err, m->file, m->text, m->run[i].line, m->run[i].column, "%s", why);
    return lgv_fail(err, LGV_BAD_INPUT, "%s", why);
}

enum lgv_status lgv_arguments_model(const struct lgv_arguments *a, struct lgv_model **m, struct lgv_settings *settings,
                                    struct lgv_error *err) {
    const char *file = strcmp(a->operand, "-") == 0 ? "/dev/stdin" : a->operand;
    enum lgv_status status = lgv_model_load(file, m, err);
    if (status == LGV_OK && a->ngiven > 0) status = override_parameters(a, m, err);
    if (status == LGV_OK) status = lgv_settings_read(*m, settings, err);
    if (status == LGV_OK) status = apply_options(a, *m, settings, err);
    if (status == LGV_OK) status = lgv_settings_check(settings, *m, err);
    if (status == LGV_OK) status = check_method(*m, settings, err);
    if (status == LGV_OK) lgv_settings_times(settings, *m); /* the rule of `auto` looks at the model at these times */
    if (status != LGV_OK) {
        lgv_model_free(*m);
        *m = NULL;
    }
    return status;
}

void lgv_warn_model(struct lgv_model *m) {
    char text[sizeof(struct lgv_error)];
    for (size_t k = 0; lgv_model_warning(m, k, text, sizeof text); k++) lgv_warn("%s", text);
}

void lgv_warn_events(const struct lgv_model *m, const char *command) {
    if (m->nevents || m->nsections)
        lgv_warn("%s follows all paths to the end: events, `stop` and sections of the model are not looked at",
                 command);
}

char *lgv_output_place(const struct lgv_arguments *a, const struct lgv_model *m, const char *suffix) {
    char name[80];
    struct lgv_text t = {0};
    if (a->flags.no_files || (a->flags.json && !a->flags.out)) return NULL;
    if (a->flags.out) return lgv_copy(a->flags.out);
    lgv_file_name(name, sizeof name, "lgv", m->name, true);
    lgv_text_add(&t, "%s%s", name, suffix);
    if (t.failed) lgv_text_free(&t);
    return t.data;
}

char *lgv_output_directory(const struct lgv_arguments *a, const struct lgv_model *m, const char *suffix) {
    return lgv_silent() ? NULL : lgv_output_place(a, m, suffix);
}
