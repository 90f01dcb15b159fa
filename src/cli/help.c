/* SPDX-License-Identifier: BSD-3-Clause
 *
 * --help, from the tables. */
#include "cli/cli.h"

#include <math.h>
#include <string.h>

#define WIDTH 100
#define INDENT 26

const char *lgv_flag_name(const struct lgv_option *row, char *out, size_t size) {
    snprintf(out, size, "%s", row->name);
    for (char *s = out; *s; s++)
        if (*s == '_') *s = '-';
    return out;
}

void lgv_option_describe(const struct lgv_option *row, char *out, size_t size) {
    static const char *const kind[] = {"number", "whole number", "word", "yes or no", "program", "list of names"};
    char range[80] = "", standard[LGV_WORD_SIZE + 16] = "";
    double least = row->low, most = row->high;
    bool ranged = row->type == LGV_REAL || row->type == LGV_COUNT;
    /* Limits far away are there to catch nonsense and would only distract. */
    if (ranged && least > -1e299 && most < LGV_MOST_COUNT)
        snprintf(range, sizeof range, " from %.15g to %.15g", least, most);
    else if (ranged && least > 0 && least < 1e-200)
        snprintf(range, sizeof range, " above 0");
    else if (ranged && least > -1e299 && !(row->type == LGV_COUNT && least <= 0))
        snprintf(range, sizeof range, " of at least %g", least);
    if (row->standard && *row->standard) snprintf(standard, sizeof standard, ", default %s", row->standard);
    snprintf(out, size, "%s%s%s", kind[row->type], range, standard);
}

void lgv_wrap(FILE *out, const char *text, size_t indent, size_t at) {
    for (const char *s = text; *s;) {
        if (*s == '\n') {
            fputc('\n', out);
            fprintf(out, "%*s", (int)(s[1] == '\n' ? 0 : indent), "");
            at = indent;
            s++;
            continue;
        }
        size_t n = strcspn(s, " \n");
        if (at > indent && at + 1 + n > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent && n > 0) {
            fputc(' ', out);
            at++;
        }
        fwrite(s, 1, n, out);
        at += n;
        s += n + (s[n] == ' ');
    }
    fputc('\n', out);
}

static void print_row(FILE *out, char letter, const char *name, const char *argument, const char *doc) {
    char left[80], shorter[8] = "";
    if (letter) snprintf(shorter, sizeof shorter, "-%c, ", letter);
    int n = snprintf(left, sizeof left, "  %s--%s%s%s", shorter, name, argument ? " " : "", argument ? argument : "");
    fputs(left, out);
    if (n >= INDENT)
        fprintf(out, "\n%*s", INDENT, "");
    else
        fprintf(out, "%*s", INDENT - n, "");
    lgv_wrap(out, doc, INDENT, INDENT);
}

void lgv_help_command(FILE *out, const struct lgv_command *c) {
    fprintf(out, "Usage: lgv %s%s%s [flags]\n\n", c->name, c->operand ? " " : "", c->operand ? c->operand : "");
    lgv_wrap(out, c->about, 0, 0);
    fputs("\nFlags:\n", out);
    const struct lgv_flag *f;
    for (size_t k = 0; (f = lgv_command_flag(c, k)); k++) print_row(out, f->letter, f->name, f->argument, f->doc);
    print_row(out, 'h', "help", NULL, "this text");
    if (c->run_options) {
        fputs("\nRun options (also in the run: section of the model file, and by --set):\n", out);
        for (size_t k = 0; k < lgv_run_option_count; k++) {
            const struct lgv_option *row = &lgv_run_options[k];
            static const char *const value[] = {"X", "N", "WORD", "YES/NO", "PROGRAM", "NAMES"};
            char name[LGV_WORD_SIZE], kind[160], doc[600];
            lgv_option_describe(row, kind, sizeof kind);
            snprintf(doc, sizeof doc, "%s (%s)", row->doc, kind);
            print_row(out, 0, lgv_flag_name(row, name, sizeof name), value[row->type], doc);
        }
    }
    if (c->examples) fprintf(out, "\nExamples:\n%s", c->examples);
}

void lgv_help_overview(FILE *out) {
    fputs("lgv " LGV_VERSION ": ensembles of random mechanical systems by structure-preserving integrators\n\n"
          "Usage: lgv COMMAND [FILE] [flags]\n\nCommands:\n",
          out);
    for (size_t k = 0; k < lgv_command_count; k++) {
        char left[60];
        snprintf(left, sizeof left, "%s %s", lgv_commands[k]->name,
                 lgv_commands[k]->operand ? lgv_commands[k]->operand : "");
        fprintf(out, "  %-18s %s\n", left, lgv_commands[k]->summary);
    }
    fputs("  help [COMMAND]     this text, or the flags of a command (also: lgv COMMAND --help)\n"
          "\nExit code: 0 done, 1 ran but paths failed or a claim does not hold, 2 bad input, 3 could not run,\n"
          "4 ran but there is no verdict (converge).\n"
          "A first run: lgv run examples/kubo/kubo.yaml\n",
          out);
}
