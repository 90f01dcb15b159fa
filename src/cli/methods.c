/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv methods: the table of integrators, or all about one of them. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct lgv_flag flags[] = {
    {"json", 0, NULL, offsetof(struct lgv_flags, json), "one JSON document on standard output and nothing else"},
};

/* Methods whose steps are proposals have no order. */
const char *lgv_cli_order(double order, char out[16]) {
    if (isnan(order))
        snprintf(out, 16, "-");
    else
        snprintf(out, 16, "%g", order);
    return out;
}

bool lgv_cli_of_bath(const struct lgv_method *m) {
    return m->needs_bath || m->needs_drag;
}

double lgv_cli_strong(const struct lgv_method *m) {
    return lgv_cli_of_bath(m) ? m->bath_strong : m->strong_order;
}

double lgv_cli_weak(const struct lgv_method *m) {
    return lgv_cli_of_bath(m) ? m->bath_weak : m->weak_order;
}

static void join_needs(const struct lgv_method *m, char *out, size_t size) {
    const char *need[5];
    size_t n = lgv_method_needs(m, need);
    snprintf(out, size, "%s", n ? "" : "-");
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%s", i ? ", " : "", need[i]);
    }
}

static void print_rule(void) {
    const struct lgv_default *r;
    puts("\nmethod: auto (the default) is the first of these whose condition holds and which fits the model:");
    for (size_t i = 0; (r = lgv_default_at(i)); i++) {
        char line[300];
        snprintf(line, sizeof line, "%s: %s", r->condition, r->reason);
        printf("  %-12s", r->method);
        lgv_wrap(stdout, line, 14, 14);
    }
}

/* Any method of order 2 that is symmetric in time, with a suffix. */
static void print_compositions(void) {
    char line[300] = "NAME-4, NAME-6 and NAME-8 compose any symmetric method NAME of order 2 to that order (verlet-8, "
                     "midpoint-6, RATTLE-4); so do";
    for (size_t i = 0; i < lgv_composition_count; i++) {
        const struct lgv_composition *c = &lgv_compositions[i];
        size_t used = strlen(line);
        if (strlen(c->suffix) > 1) snprintf(line + used, sizeof line - used, " -%s", c->suffix);
    }
    putchar('\n');
    lgv_wrap(stdout, line, 0, 0);
}

static void print_table(void) {
    bool colour = lgv_colour(stdout);
    printf("%s%-21s %-18s %5s %6s %5s  %-10s %-16s %-15s %s%s\n", colour ? "\033[1m" : "", "name", "family", "order",
           "strong", "weak", "symplectic", "explicit for", "needs", "aliases", colour ? "\033[0m" : "");
    for (size_t i = 0; i < lgv_method_count; i++) {
        const struct lgv_method *m = lgv_method_at(i);
        char need[80];
        join_needs(m, need, sizeof need);
        char order[16], strong[16], weak[16];
        printf("%-21s %-18s %5s %6s %5s  %-10s %-16s %-15s %s\n", m->name, m->family, lgv_cli_order(m->order, order),
               lgv_cli_order(lgv_cli_strong(m), strong), lgv_cli_order(lgv_cli_weak(m), weak),
               m->symplectic ? "yes" : "no", lgv_method_explicit_for(m), need, m->aliases ? m->aliases : "");
    }
    print_rule();
    print_compositions();
    lgv_wrap(stdout,
             "Words of up to " LGV_DIGITS(LGV_MOST_LETTERS) " letters A (drift) and B (kick), such as ABABA, are "
             "splittings; for a bath they have "
             "O (its exact flow) too, or U in the place of A and O (drift and bath together, exactly): BAOAB, OBABO, "
             "UBU, with constraints g-BAOAB. NAME-GLA is a symplectic method NAME between two halves of O, NAME-GLA1 "
             "one followed by O. NAME-Metropolis accepts or rejects the steps of a symmetric word with O or of "
             "NAME-GLA, so that stationary averages have no bias. PsNrQu are Galerkin methods of any degree. "
             "NAME-3flows, NAME-Magnus and NAME-MagnusStrang have strong order 3/2 for any noise h(q,p), NAME being "
             "one of these of order 4 or more; NAME-Levy has strong order 1 for noises that do not commute.",
             0, 0);
    lgv_wrap(stdout,
             LGV_CLI_ORDERS " `lgv methods NAME` tells more, `lgv check FILE` which of them fit a model.", 0, 0);
}

static void print_field(const char *name, const char *text) {
    printf("  %-14s", name);
    lgv_wrap(stdout, text, 16, 16);
}

static void print_method(const struct lgv_method *m) {
    char text[300];
    bool colour = lgv_colour(stdout);
    printf("%s%s%s\n", colour ? "\033[1m" : "", m->name, colour ? "\033[0m" : "");
    bool of_q = m->needs & LGV_NEEDS_NOISE_OF_Q;
    char half[24];
    snprintf(half, sizeof half, "%g", m->strong_noncommuting);
    print_field("", m->doc);
    if (*lgv_method_advice(m)) print_field("advice", lgv_method_advice(m));
    print_field("family", m->family);
    if (m->aliases && *m->aliases) print_field("also called", m->aliases);
    print_field("paper", m->paper);
    join_needs(m, text, sizeof text);
    print_field("needs", strcmp(text, "-") == 0 ? "nothing special" : text);
    if (m->metropolis)
        snprintf(text, sizeof text, "none: its steps are proposals");
    else if (m->needs & LGV_NEEDS_NO_NOISE)
        snprintf(text, sizeof text, "%g", m->order);
    else
        snprintf(text, sizeof text, "%g without noise; strong %g (%s%s, additive %g%s), weak %g", m->order,
                 m->strong_order,
                 of_q ? "noises h(q) always commute" : "noises that do not commute ", of_q ? "" : half,
                 m->strong_additive, m->additive_quadratic ? LGV_ADDITIVE_QUADRATIC : "", m->weak_order);
    print_field("order", text);
    if (m->bath && !m->metropolis) {
        snprintf(text, sizeof text, "strong %g, weak %g with constant friction and no other noise", m->bath_strong,
                 m->bath_weak);
        print_field("in a bath", text);
    }
    print_field("explicit for", lgv_method_explicit_for(m));
    print_field("increments", lgv_method_increments(m));
    print_field("symplectic", m->symplectic ? "yes" : "no");
    print_field("keeps", m->claims);
    struct lgv_text formula = {0};
    if (lgv_method_formula(m, &formula) && formula.data) {
        puts("\n  one step");
        for (char *line = formula.data; *line;) {
            size_t n = strcspn(line, "\n");
            printf("    %.*s\n", (int)n, line);
            line += n + (line[n] == '\n');
        }
        putchar('\n');
        printf("  ");
        lgv_wrap(stdout, LGV_METHOD_SYMBOLS, 2, 2);
    }
    lgv_text_free(&formula);
}

static int command_methods(const struct lgv_arguments *a) {
    const struct lgv_method *m = a->operand ? lgv_method_find(a->operand) : NULL;
    if (a->operand && !m) {
        char why[200];
        lgv_method_unknown(NULL, a->operand, why, sizeof why);
        fprintf(stderr, "lgv: %s\n", why);
        return LGV_EXIT_INPUT;
    }
    if (a->flags.json) {
        char *text = lgv_json_methods(m);
        struct lgv_error err = {0};
        if (!text) return lgv_complain(&err, lgv_fail_memory(&err));
        puts(text);
        free(text);
        return lgv_finish(LGV_EXIT_DONE);
    }
    if (m)
        print_method(m);
    else
        print_table();
    return lgv_finish(LGV_EXIT_DONE);
}

const struct lgv_command lgv_command_methods = {
    .name = "methods",
    .operand = "[NAME]",
    .summary = "list the integrators, or describe one",
    .about =
        "Lists the integrators with family, orders, needs and properties. With a name or alias: all about that one.",
    .examples = "  lgv methods\n  lgv methods verlet\n  lgv methods --json\n",
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_methods,
};
