/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv completion: scripts by which bash and zsh complete commands, flags, methods and model files, from the tables that
 * the program itself uses. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static const struct lgv_flag flags[] = {
    {"out", 'o', "FILE", offsetof(struct lgv_flags, out), "a file to write to, in place of standard output"},
    {"json", 0, NULL, offsetof(struct lgv_flags, json), "the script as a text of a JSON document"},
};

/* ---- words ---- */

static void add_methods(struct lgv_text *t) {
    for (size_t i = 0; i < lgv_method_count; i++) {
        const struct lgv_method *m = lgv_method_at(i);
        if (!strchr(m->name, '(')) lgv_text_add(t, "%s ", m->name);
        for (const char *s = m->aliases ? m->aliases : ""; *s;) {
            size_t n = strcspn(s, " ,");
            if (n) lgv_text_add(t, "%.*s ", (int)n, s);
            s += n + strspn(s + n, " ,");
        }
    }
    lgv_text_add(t, "auto");
}

static void add_templates(struct lgv_text *t) {
    char name[40];
    for (size_t k = 0; lgv_template_name(k, name, sizeof name); k++) lgv_text_add(t, "%s%s", k ? " " : "", name);
}

static void add_flags(struct lgv_text *t, const struct lgv_command *c) {
    char name[LGV_WORD_SIZE];
    for (size_t k = 0; k < c->nflags; k++) lgv_text_add(t, "--%s ", c->flag[k].name);
    for (size_t k = 0; c->run_options && k < lgv_run_option_count; k++)
        lgv_text_add(t, "--%s ", lgv_flag_name(&lgv_run_options[k], name, sizeof name));
    lgv_text_add(t, "--help");
}

/* What the operand of a command is. */
enum operand { NOTHING, MODEL, RESULTS, METHOD, TEMPLATE, COMMAND_SHELL };

static enum operand operand_of(const struct lgv_command *c) {
    if (c == &lgv_command_methods) return METHOD;
    if (c == &lgv_command_new) return TEMPLATE;
    if (c == &lgv_command_completion) return COMMAND_SHELL;
    if (!c->operand) return NOTHING;
    return strncmp(c->operand, "FILE", 4) == 0 && c != &lgv_command_report && c != &lgv_command_merge ? MODEL : RESULTS;
}

/* ---- bash ---- */

static void bash_operand(struct lgv_text *t, enum operand what) {
    lgv_text_add(t, "            ");
    if (what == MODEL)
        lgv_text_add(t, "files='yaml yml'");
    else if (what == RESULTS)
        lgv_text_add(t, "files='*'");
    else if (what == METHOD)
        lgv_text_add(t, "words=$methods");
    else if (what == TEMPLATE) {
        lgv_text_add(t, "words='");
        add_templates(t);
        lgv_text_add(t, "'");
    } else
        lgv_text_add(t, what == COMMAND_SHELL ? "words='bash zsh'" : ":");
    lgv_text_add(t, " ;;\n");
}

static void bash(struct lgv_text *t) {
    lgv_text_add(t, "# Completion of lgv for bash.  Written by `lgv completion bash`.\n_lgv() {\n"
                    "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                    "    local command=${COMP_WORDS[1]} flags= words= files= kind\n    local methods='");
    add_methods(t);
    lgv_text_add(t, "'\n    COMPREPLY=()\n    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W '");
    for (size_t k = 0; k < lgv_command_count; k++) lgv_text_add(t, "%s ", lgv_commands[k]->name);
    lgv_text_add(t, "help --help --version' -- \"$current\"))\n        return\n    fi\n"
                    "    case $before in\n"
                    "        --method|--methods) COMPREPLY=($(compgen -W \"$methods\" -- \"$current\")); return ;;\n"
                    "        --out|-o) COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n    esac\n"
                    "    case $command in\n");
    for (size_t k = 0; k < lgv_command_count; k++) {
        lgv_text_add(t, "        %s)\n            flags='", lgv_commands[k]->name);
        add_flags(t, lgv_commands[k]);
        lgv_text_add(t, "'\n");
        bash_operand(t, operand_of(lgv_commands[k]));
    }
    lgv_text_add(t, "        help)\n            words='");
    for (size_t k = 0; k < lgv_command_count; k++) lgv_text_add(t, "%s%s", k ? " " : "", lgv_commands[k]->name);
    lgv_text_add(t, "' ;;\n    esac\n"
                    "    case $current in\n"
                    "        -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$current\")) ;;\n"
                    "        *)\n            COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                    "            if [ \"$files\" = '*' ]; then COMPREPLY=($(compgen -f -- \"$current\"))\n"
                    "            elif [ -n \"$files\" ]; then\n"
                    "                COMPREPLY=($(compgen -d -- \"$current\"))\n"
                    "                for kind in $files; do\n"
                    "                    COMPREPLY+=($(compgen -f -X \"!*.$kind\" -- \"$current\"))\n"
                    "                done\n            fi ;;\n    esac\n}\n"
                    "complete -o filenames -F _lgv lgv lgv-mpi\n");
}

/* ---- zsh ---- */

/* A description inside '...[...]': up to the first sentence or bracket, without signs that mean something there. */
static void zsh_doc(struct lgv_text *t, const char *doc) {
    for (const char *s = doc; *s && !strchr("(;\n", *s) && !(*s == ':' && s[1] == ' '); s++)
        if (strchr("[]'\\", *s)) continue;
        else lgv_text_add(t, *s == ':' ? "\\:" : "%c", *s);
}

static void zsh_flag(struct lgv_text *t, const char *name, const char *argument, const char *doc) {
    lgv_text_add(t, "            '*--%s[", name);
    zsh_doc(t, doc);
    lgv_text_add(t, "]");
    if (argument && strncmp(name, "method", 6) == 0)
        lgv_text_add(t, ":method:(${=methods})");
    else if (argument && strcmp(name, "out") == 0)
        lgv_text_add(t, ":file:_files");
    else if (argument)
        lgv_text_add(t, ":%s:", argument);
    lgv_text_add(t, "' \\\n");
}

static void zsh_command(struct lgv_text *t, const struct lgv_command *c) {
    static const char *const operand[] = {[NOTHING] = "", [MODEL] = "'*:model file:_files -g \"*.(yaml|yml)\"'",
                                          [RESULTS] = "'*:file:_files'", [METHOD] = "'1:method:(${=methods})'",
                                          [TEMPLATE] = NULL, [COMMAND_SHELL] = "'1:shell:(bash zsh)'"};
    char name[LGV_WORD_SIZE];
    lgv_text_add(t, "        %s)\n            _arguments \\\n", c->name);
    for (size_t k = 0; k < c->nflags; k++) zsh_flag(t, c->flag[k].name, c->flag[k].argument, c->flag[k].doc);
    for (size_t k = 0; c->run_options && k < lgv_run_option_count; k++)
        zsh_flag(t, lgv_flag_name(&lgv_run_options[k], name, sizeof name), "value", lgv_run_options[k].doc);
    lgv_text_add(t, "            '--help[flags of this command]' ");
    if (operand_of(c) == TEMPLATE) {
        lgv_text_add(t, "'1:template:(");
        add_templates(t);
        lgv_text_add(t, ")'");
    } else {
        lgv_text_add(t, "%s", operand[operand_of(c)]);
    }
    lgv_text_add(t, " ;;\n");
}

static void zsh(struct lgv_text *t) {
    lgv_text_add(t, "#compdef lgv lgv-mpi\n# Completion of lgv for zsh.  Written by `lgv completion zsh`.\n"
                    "_lgv() {\n    local methods='");
    add_methods(t);
    lgv_text_add(t, "'\n    local -a commands\n    commands=(\n");
    for (size_t k = 0; k < lgv_command_count; k++) {
        lgv_text_add(t, "        '%s:", lgv_commands[k]->name);
        zsh_doc(t, lgv_commands[k]->summary);
        lgv_text_add(t, "'\n");
    }
    lgv_text_add(t, "        'help:flags of a command'\n    )\n    if (( CURRENT == 2 )); then\n"
                    "        _describe -t commands 'command of lgv' commands\n        return\n    fi\n"
                    "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in\n");
    for (size_t k = 0; k < lgv_command_count; k++) zsh_command(t, lgv_commands[k]);
    lgv_text_add(t, "    esac\n}\n_lgv \"$@\"\n");
}

/* ---- the command ---- */

int lgv_put_text(const struct lgv_arguments *a, struct lgv_text *t, const char *field) {
    struct lgv_error err = {0};
    int code = LGV_EXIT_DONE;
    if (t->failed || !t->data) {
        code = lgv_complain(&err, lgv_fail_memory(&err));
    } else if (a->flags.out) {
        enum lgv_status status = lgv_file_replace(a->flags.out, t->data, t->size, &err);
        code = status ? lgv_complain(&err, status) : LGV_EXIT_DONE;
    } else if (field && a->flags.json) {
        code = lgv_print_json(json_pack("{s:s}", field, t->data), LGV_EXIT_DONE);
    } else {
        fputs(t->data, stdout);
        code = lgv_finish(LGV_EXIT_DONE);
    }
    lgv_text_free(t);
    return code;
}

static int command_completion(const struct lgv_arguments *a) {
    struct lgv_text t = {0};
    if (strcmp(a->operand, "bash") == 0)
        bash(&t);
    else if (strcmp(a->operand, "zsh") == 0)
        zsh(&t);
    else {
        char plain[80];
        fprintf(stderr, "lgv: there is no completion for %s; it is bash or zsh\n",
                lgv_plain(plain, sizeof plain, a->operand));
        return LGV_EXIT_INPUT;
    }
    return lgv_put_text(a, &t, "script");
}

const struct lgv_command lgv_command_completion = {
    .name = "completion",
    .operand = "SHELL",
    .summary = "a script by which bash or zsh completes commands, flags and methods",
    .about = "Prints a script by which a shell completes the commands of lgv, their flags, methods and model files. "
             "SHELL is bash or zsh. `make install` installs both where these shells look for them; without an "
             "installation put the first example into ~/.bashrc, or the file of the second into a folder of zsh's "
             "`fpath`.",
    .examples = "  source <(lgv completion bash)\n  lgv completion zsh --out ~/.zsh/_lgv\n",
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_completion,
};
