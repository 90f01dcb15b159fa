/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv reference: the pages of docs/reference, from the tables that the program itself uses.  The same program writes
 * the same bytes, so a test can tell whether the pages are current. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#define NOTE "<!-- Written by `lgv reference`; change the tables in the sources, then `make docs`. -->\n\n"

/* Text in a cell of a table. */
static void cell(struct lgv_text *t, const char *text) {
    for (const char *s = text; *s; s++) lgv_text_add(t, *s == '|' ? "\\|" : *s == '\n' ? " " : "%c", *s);
}

static void add_run_options(struct lgv_text *t) {
    lgv_text_add(t,
                 "\n## Run options\n\nEach is a flag `--NAME VALUE`, an entry `NAME: VALUE` of the section `run:` of "
                 "a model file, and an option of `lgv_run_set`. The command line wins over the file. Flags are "
                 "written with `-` for `_`.\n\n| name | value | unit | meaning |\n|---|---|---|---|\n");
    for (size_t k = 0; k < lgv_run_option_count; k++) {
        const struct lgv_option *row = &lgv_run_options[k];
        char kind[160];
        lgv_option_describe(row, kind, sizeof kind);
        lgv_text_add(t, "| `%s` | ", row->name);
        cell(t, kind);
        lgv_text_add(t, " | %s | ", row->unit ? row->unit : "");
        cell(t, row->doc);
        lgv_text_add(t, " |\n");
    }
}

static void command_page(struct lgv_text *t, const struct lgv_command *c) {
    lgv_text_add(t, "# lgv %s\n\n" NOTE "    lgv %s%s%s [flags]\n\n%s\n\n## Flags\n\n| flag | meaning |\n|---|---|\n",
                 c->name, c->name, c->operand ? " " : "", c->operand ? c->operand : "", c->about);
    const struct lgv_flag *f;
    for (size_t k = 0; (f = lgv_command_flag(c, k)); k++) {
        lgv_text_add(t, "| `--%s%s%s`", f->name, f->argument ? " " : "", f->argument ? f->argument : "");
        if (f->letter) lgv_text_add(t, ", `-%c`", f->letter);
        lgv_text_add(t, " | ");
        cell(t, f->doc);
        lgv_text_add(t, " |\n");
    }
    lgv_text_add(t, "| `--help`, `-h` | flags of this command |\n");
    if (c == &lgv_command_run)
        add_run_options(t);
    else if (c->run_options)
        lgv_text_add(t, "\nAll [run options](run.md#run-options) are flags too.\n");
    if (c->examples) lgv_text_add(t, "\n## Examples\n\n```\n%s```\n", c->examples);
    lgv_text_add(t, "\nExit code: 0 done, 1 ran but paths failed or a claim does not hold, 2 bad input, 3 could not "
                    "run, 4 ran but there is no verdict (converge).\n");
}

static const char *momentum_maps(const struct lgv_method *m) {
    bool split = m->needs & LGV_NEEDS_SPLIT;
    if (!m->linear_momentum_maps) return "no";
    if (m->only_shifts)
        return split ? "of symmetries that shift, if the stiff part has them too" : "of symmetries that shift";
    return split ? "of symmetries that act linearly or by shifts, if the stiff part has them too"
                 : "of symmetries that act linearly or by shifts";
}

/* A DOI as an address: parentheses and angle brackets would end a link. */
static void link_doi(struct lgv_text *t, const char *doi, size_t size) {
    lgv_text_add(t, "[doi %.*s](https://doi.org/", (int)size, doi);
    for (size_t i = 0; i < size; i++)
        lgv_text_add(t, strchr("()<>", doi[i]) ? "%%%02X" : "%c", (unsigned char)doi[i]);
    lgv_text_add(t, ")");
}

/* The papers in words, with DOIs as links. */
static void linked_papers(struct lgv_text *t, const char *paper) {
    for (const char *s = paper; *s;) {
        const char *doi = strstr(s, "doi 10.");
        lgv_text_append(t, s, doi ? (size_t)(doi - s) : strlen(s));
        if (!doi) break;
        size_t size = strcspn(doi + 4, " ,;");
        link_doi(t, doi + 4, size);
        s = doi + 4 + size;
    }
}

static void method_step(struct lgv_text *t, const struct lgv_method *m) {
    struct lgv_text formula = {0};
    lgv_text_add(t, "# %s\n\n" NOTE "%s\n\n", m->name, m->doc);
    if (lgv_method_formula(m, &formula))
        lgv_text_add(t, "## Step\n\n```\n%s```\n\n" LGV_METHOD_SYMBOLS " [Theory](../theory.md).\n\n", formula.data);
    lgv_text_add(t, "## When to take it\n\n%s\n\n    lgv run FILE --method %s%s%s\n", lgv_method_advice(m),
                 strchr(m->name, '(') ? "'" : "", m->name, strchr(m->name, '(') ? "'" : "");
    t->failed = t->failed || formula.failed;
    lgv_text_free(&formula);
}

static void method_claims(struct lgv_text *t, const struct lgv_method *m) {
    const char *need[5];
    size_t n = lgv_method_needs(m, need);
    lgv_text_add(t, "\n## What it claims\n\n%s\n\n| | |\n|---|---|\n", m->claims);
    if (m->aliases && *m->aliases) lgv_text_add(t, "| aliases | %s |\n", m->aliases);
    lgv_text_add(t, "| family | %s |\n| needs | ", m->family);
    for (size_t i = 0; i < n; i++) lgv_text_add(t, "%s%s", i ? ", " : "", need[i]);
    char order[16];
    lgv_text_add(t, "%s |\n| order without noise | %s |\n", n ? "" : "-", lgv_cli_order(m->order, order));
    if (!(m->needs & LGV_NEEDS_NO_NOISE) && !m->metropolis)
        lgv_text_add(t,
                     "| strong order, one noise or commuting noises | %g |\n"
                     "| strong order, noises that do not commute | %g |\n"
                     "| strong order, additive noise | %g%s |\n| weak order | %g |\n",
                     m->strong_order, m->strong_noncommuting, m->strong_additive,
                     m->additive_quadratic ? LGV_ADDITIVE_QUADRATIC : "", m->weak_order);
    if (m->bath && !m->metropolis)
        lgv_text_add(t, "| in a bath, constant friction and no other noise | strong %g, weak %g |\n", m->bath_strong,
                     m->bath_weak);
    lgv_text_add(t, "| [increments](../noise.md) | %s |\n", lgv_method_increments(m));
    lgv_text_add(t, "| symplectic | %s |\n| explicit for | %s |\n", m->symplectic ? "yes" : "no",
                 lgv_method_explicit_for(m));
    lgv_text_add(t, "| quadratic invariants kept | %s |\n| momentum maps kept | %s |\n",
                 m->quadratic_invariants ? "yes" : "no",
                 momentum_maps(m));
    lgv_text_add(t, "| source | [methods/%s](../../methods/%s) |\n\n", m->source, m->source);
}

static void method_page(struct lgv_text *t, const struct lgv_method *m) {
    struct lgv_text papers = {0};
    method_step(t, m);
    method_claims(t, m);
    lgv_text_add(t, "## Citation\n\n");
    linked_papers(t, m->paper);
    lgv_cite_method(&papers, m->name);
    lgv_text_add(t, ".%s%s%s\n", papers.data ? "\n\n```bibtex" : "", papers.data ? papers.data : "",
                 papers.data ? "```" : "");
    t->failed = t->failed || papers.failed;
    lgv_text_free(&papers);
}

static void composition_rows(struct lgv_text *t) {
    lgv_text_add(t, "\n## Compositions\n\nA suffix composes any method NAME that is symmetric in time and has order "
                    "2, words and constrained methods included: `verlet-8`, `P1N1Q2Gau-6`, `RATTLE-4`. The step is "
                    "made of as many steps of NAME as the table says, each with its share of the increments; needs "
                    "and what is kept are those of NAME. The error constant is the norm of the first coefficients of "
                    "Lyndon words that do not vanish. Without noise `-4`, `-6` and `-8` are the best of their order; "
                    "with noise the strong order stays 1 (1/2 for noises that do not commute).\n\n"
                    "| suffix | also | order | steps of NAME | error constant | source |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < lgv_composition_count; i++) {
        const struct lgv_composition *c = &lgv_compositions[i];
        lgv_text_add(t, "| `-%s` | ", c->suffix);
        for (const char *a = c->aliases; *a;) {
            int size = (int)strcspn(a, " ");
            lgv_text_add(t, "`-%.*s` ", size, a);
            a += size + (a[size] == ' ');
        }
        lgv_text_add(t, "| %d | %zu | %.3g | %s |\n", c->order, c->count, c->error, c->paper);
    }
    lgv_text_add(t, "\n`-Compensated` behind a word of A and B, its compositions and splittings (`BAB-8-Compensated`, "
                    "`RKN8-Compensated`) carries along what is rounded off q and p in every substep (Kahan 1965, doi "
                    "10.1145/363707.363723): round-off in the energy stays near 1e-15 where it grows to 1e-13 without. "
                    "It is for errors below 1e-12; models with constraints, a bath or a `force` are refused.\n");
    lgv_text_add(t, "\nMethods for stiff potentials have a number beta in their names: `ZS(0.3)`, in a shell with "
                    "quotes, `--method 'ZS(0.3)'`; `ZS` alone is `ZS(0.4)`. beta is at least 0. For linear forces they "
                    "are stable at any step from beta = 1/4 on. Nonlinear forces have limits of their own, which "
                    "depend on the model: on a double pendulum with springs omega^2/2 |g|^2 for rods, ZS(0.4) is "
                    "lost by t = 8 at omega dt^2 = 0.40, whatever the step, and holds to t = 1000 at 0.20. "
                    "Symmetric ones can be composed, `ZS(0.4)-Suzuki4`, "
                    "and all but OneStepNewmark stand in the middle of `-GLA`. `Impulse` and `MOLLY` have a whole "
                    "number of inner steps there, `Impulse(4)`; alone they have 8.\n");
}

/* Pages are called by what stands in front of a number in parentheses. */
static int page_length(const char *name) {
    return (int)strcspn(name, "(");
}

static void index_page(struct lgv_text *t) {
    lgv_text_add(t, "# Reference\n\n" NOTE "## Commands\n\n| command | |\n|---|---|\n");
    for (size_t k = 0; k < lgv_command_count; k++)
        lgv_text_add(t, "| [lgv %s](%s.md) | %s |\n", lgv_commands[k]->name, lgv_commands[k]->name,
                     lgv_commands[k]->summary);
    lgv_text_add(t, "\nAll options of a run: [run.md](run.md#run-options).\n\n## Methods\n\n"
                    "| name | order | strong | weak | symplectic | explicit for | |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < lgv_method_count; i++) {
        const struct lgv_method *m = lgv_method_at(i);
        char order[16], strong[16], weak[16];
        lgv_text_add(t, "| [%s](method-%.*s.md) | %s | %s | %s | %s | %s | ", m->name, page_length(m->name),
                     m->name, lgv_cli_order(m->order, order), lgv_cli_order(lgv_cli_strong(m), strong),
                     lgv_cli_order(lgv_cli_weak(m), weak), m->symplectic ? "yes" : "no", lgv_method_explicit_for(m));
        cell(t, m->doc);
        lgv_text_add(t, " |\n");
    }
    lgv_text_add(t, "\n" LGV_CLI_ORDERS "\n\n"
                    "## The default method\n\n"
                    "`method: auto`, the default, is the first row of this table whose condition holds and whose "
                    "method fits the model (`lgv check` tells which do); the reason is part of every output.\n\n"
                    "| method | condition | why |\n|---|---|---|\n");
    const struct lgv_default *r;
    for (size_t i = 0; (r = lgv_default_at(i)); i++) {
        lgv_text_add(t, "| [%s](method-%s.md) | ", r->method, r->method);
        cell(t, r->condition);
        lgv_text_add(t, " | ");
        cell(t, r->reason);
        lgv_text_add(t, " |\n");
    }
    composition_rows(t);
}

/* Writes and frees the page. */
static enum lgv_status put(const char *dir, const char *prefix, const char *name, struct lgv_text *page,
                           struct lgv_error *err) {
    struct lgv_text path = {0};
    lgv_text_add(&path, "%s/%s%.*s.md", dir, prefix, page_length(name), name);
    enum lgv_status status = page->failed || path.failed || !page->data
                                 ? lgv_fail_memory(err)
                                 : lgv_file_replace(path.data, page->data, page->size, err);
    lgv_text_free(&path);
    lgv_text_free(page);
    return status;
}

static int command_reference(const struct lgv_arguments *a) {
    struct lgv_error err = {0};
    bool made;
    const char *dir = a->operand;
    enum lgv_status status = lgv_directory(dir, &made, &err);
    struct lgv_text page = {0};
    if (status == LGV_OK) {
        index_page(&page);
        status = put(dir, "", "README", &page, &err);
    }
    for (size_t k = 0; status == LGV_OK && k < lgv_command_count; k++) {
        command_page(&page, lgv_commands[k]);
        status = put(dir, "", lgv_commands[k]->name, &page, &err);
    }
    for (size_t i = 0; status == LGV_OK && i < lgv_method_count; i++) {
        method_page(&page, lgv_method_at(i));
        status = put(dir, "method-", lgv_method_at(i)->name, &page, &err);
    }
    return status == LGV_OK ? LGV_EXIT_DONE : lgv_complain(&err, status);
}

const struct lgv_command lgv_command_reference = {
    .name = "reference",
    .operand = "DIR",
    .summary = "write the reference pages (one per command and method)",
    .about = "Writes the reference pages in Markdown to a directory, from the tables that the program itself uses: an "
             "index, one page per command, one per method.",
    .examples = "  lgv reference docs/reference\n",
    .run = command_reference,
};
