/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv COMMAND ...: finds the command and runs it. */
#include "cli/cli.h"

#include <signal.h>
#include <string.h>

const struct lgv_command *const lgv_commands[] = {
    &lgv_command_run,      &lgv_command_resume, &lgv_command_merge,   &lgv_command_replay,
    &lgv_command_sweep,    &lgv_command_compare, &lgv_command_converge, &lgv_command_check,
    &lgv_command_explain,  &lgv_command_new,     &lgv_command_schema,   &lgv_command_completion,
    &lgv_command_methods,  &lgv_command_report,   &lgv_command_cite,    &lgv_command_ends,
    &lgv_command_reproduce, &lgv_command_reference};
const size_t lgv_command_count = sizeof lgv_commands / sizeof *lgv_commands;

bool lgv_silent(void) {
    return lgv_peers && lgv_peers->number > 0;
}

static const struct lgv_command *find_command(const char *name) {
    for (size_t k = 0; k < lgv_command_count; k++)
        if (strcmp(lgv_commands[k]->name, name) == 0) return lgv_commands[k];
    return NULL;
}

static int unknown_command(const char *name) {
    const char *known[32];
    size_t count = 0;
    while (count < lgv_command_count && count < 31) {
        known[count] = lgv_commands[count]->name;
        count++;
    }
    known[count++] = "help";
    size_t n = strlen(name);
    char plain[80];
    lgv_plain(plain, sizeof plain, name);
    const char *near = lgv_nearest(name, known, count);
    if (near)
        fprintf(stderr, "lgv: unknown command %s; did you mean %s?\n", plain, near);
    else if (n > 5 && strcmp(name + n - 5, ".yaml") == 0)
        fprintf(stderr, "lgv: %s is not a command; did you mean `lgv run %s`?\n", plain, plain);
    else
        fprintf(stderr, "lgv: unknown command %s; `lgv help` lists them\n", plain);
    return LGV_EXIT_INPUT;
}

static int help(int argc, char **argv) {
    if (argc < 3) {
        lgv_help_overview(stdout);
        return lgv_finish(LGV_EXIT_DONE);
    }
    const struct lgv_command *c = find_command(argv[2]);
    if (!c) return unknown_command(argv[2]);
    lgv_help_command(stdout, c);
    return lgv_finish(LGV_EXIT_DONE);
}

int lgv_main(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN); /* a limit of the size of files is told like a disk that is full */
    if (argc < 2) {
        lgv_help_overview(stderr);
        return LGV_EXIT_INPUT;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        const char *built = strchr(lgv_build(), '\n'); /* behind the version itself */
        printf("lgv %s\n%s", lgv_version(), built ? built + 1 : "");
        return lgv_finish(LGV_EXIT_DONE);
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help(argc, argv);
    const struct lgv_command *c = find_command(argv[1]);
    if (!c) return unknown_command(argv[1]);
    struct lgv_arguments a;
    int code = LGV_EXIT_INPUT;
    if (lgv_arguments_read(c, argc, argv, &a)) {
        if (a.flags.help) lgv_help_command(stdout, c);
        code = a.flags.help ? lgv_finish(LGV_EXIT_DONE) : c->run(&a);
    }
    if (a.no_memory) code = LGV_EXIT_CANNOT;
    lgv_arguments_free(&a);
    return code;
}
