/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text of a method in a kernel.  A plain method is its file.  A method made of others (methods/compose.c) is the
 * files of its steps, one after the other, and a table of substeps: every name that the text of step number j defines
 * gets the ending _j while it is read, and its macros are forgotten behind it.  So any two methods can
 * stand together. */
#include "base/embedded.h"
#include "kernel/generate.h"
#include <stdlib.h>
#include <string.h>

static const char *embedded_text(const char *name, size_t size) {
    for (size_t i = 0; i < lgv_embedded_count; i++)
        if (strlen(lgv_embedded[i].name) == size && strncmp(lgv_embedded[i].name, name, size) == 0)
            return lgv_embedded[i].text;
    return NULL;
}

/* Texts without their include lines, which belong to the library build, but for those of other embedded texts. */
static void embed(struct lgv_text *out, const char *text) {
    static const char include[] = "#include \"kernel/text/";
    if (!text) out->failed = true;
    for (const char *line = text; line && *line;) {
        const char *end = strchr(line, '\n'), *name = line + strlen(include);
        size_t size = end ? (size_t)(end - line) + 1 : strlen(line);
        bool ours = strncmp(line, include, strlen(include)) == 0;
        const char *file = ours ? embedded_text(name, strcspn(name, "\"\n")) : NULL;
        if (file)
            embed(out, file);
        else if (strncmp(line, "#include", 8) != 0)
            lgv_text_append(out, line, size);
        line += size;
    }
}

void lgv_generate_file(struct lgv_text *out, const char *name) {
    embed(out, embedded_text(name, strlen(name)));
}

/* ---- names that a text defines ---- */

struct names {
    struct lgv_text rename, forget;
    long number;
};

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static void add_macro(struct names *n, const char *line) {
    const char *name = line + strlen("#define ");
    lgv_text_add(&n->forget, "#undef %.*s\n", (int)strspn(name, WORD), name);
}

/* What a line that begins in the first column declares: the word before the first ( [ or = of a function or an object,
 * the tag before the { of a struct. */
static void add_declared(struct names *n, const char *line) {
    size_t size = strcspn(line, "\n"), stop = strcspn(line, "([={;\n");
    const char *end = line + stop;
    if (strncmp(line, "static __attribute__", 20) == 0 || strncmp(line, "OUTLINE __attribute__", 21) == 0) {
        const char *after = strstr(line, ")) ");
        if (!after || after > line + size) return;
        end = after + 3 + strcspn(after + 3, "([={;\n");
    }
    while (end > line && end[-1] == ' ') end--;
    const char *begin = end;
    while (begin > line && strchr(WORD, begin[-1])) begin--;
    if (begin == end) return;
    lgv_text_add(&n->rename, "#define %.*s %.*s_%ld\n", (int)(end - begin), begin, (int)(end - begin), begin,
                 n->number);
    lgv_text_add(&n->forget, "#undef %.*s\n", (int)(end - begin), begin);
}

static bool begins_with(const char *line, const char *word) {
    return strncmp(line, word, strlen(word)) == 0;
}

static void find_names(struct names *n, const char *text) {
    for (const char *line = text; line && *line;) {
        if (begins_with(line, "#define "))
            add_macro(n, line);
        else if (begins_with(line, "INLINE ") || begins_with(line, "OUTLINE ") || begins_with(line, "static ") ||
                 begins_with(line, "struct "))
            add_declared(n, line);
        const char *end = strchr(line, '\n');
        line = end ? end + 1 : NULL;
    }
}

/* ---- steps ---- */

/* The text of step number j, and what is needed of it afterwards. */
static void add_step(struct lgv_text *out, const struct lgv_method *step, long number) {
    struct lgv_text text = {0};
    struct names n = {.number = number};
    if (step->constants) lgv_text_add(&text, "%s", step->constants);
    lgv_generate_file(&text, step->source);
    find_names(&n, text.data);
    if (text.failed || n.rename.failed || n.forget.failed) out->failed = true;
    if (!out->failed) {
        const char *rename = n.rename.data ? n.rename.data : "", *forget = n.forget.data ? n.forget.data : "";
        lgv_text_add(out, "\n/* ---- step %ld: %s ---- */\n\n%s%s", number, step->name, rename, text.data);
        lgv_text_add(out, "#ifndef METHOD_SHIFT\n#define METHOD_SHIFT -1\n#endif\n"
                          "enum { step_carry_%ld = METHOD_CARRY, step_shift_%ld = METHOD_SHIFT };\n"
                          "#undef METHOD_SHIFT\n%s",
                     number, number, forget);
    }
    lgv_text_free(&text);
    lgv_text_free(&n.rename);
    lgv_text_free(&n.forget);
}

/* substep_begin or substep_step: calls that function of the step with number j. */
static void add_switch(struct lgv_text *out, const struct lgv_program *p, const char *what, const char *parameters,
                       const char *arguments) {
    lgv_text_add(out, "\nINLINE void substep_%s(struct ctx *c, long j, %s, vec *carry) {\n    switch (j) {\n", what,
                 parameters);
    for (size_t j = 0; j < p->steps; j++) {
        lgv_text_add(out, "    case %zu: method_%s_%zu(c, %s, carry", j, what, j, arguments);
        for (size_t i = 0; i < j; i++) lgv_text_add(out, " + step_carry_%zu", i);
        lgv_text_add(out, "); break;\n");
    }
    lgv_text_add(out, "    }\n}\n");
}

/* Where the substep that moves q carries what it is shifted by; the shifts of several ones cancel up to dt^4. */
static void add_shift(struct lgv_text *out, const struct lgv_program *p) {
    size_t moving = 0, step = 0;
    for (size_t k = 0; k < p->count; k++) {
        if (p->step[p->substep[k].step]->moves == LGV_MOVES_P) continue;
        step = p->substep[k].step;
        moving++;
    }
    if (moving != 1) {
        lgv_text_add(out, "#define METHOD_SHIFT -1\n");
        return;
    }
    lgv_text_add(out, "#define METHOD_SHIFT (step_shift_%zu < 0 ? -1 : step_shift_%zu", step, step);
    for (size_t i = 0; i < step; i++) lgv_text_add(out, " + step_carry_%zu", i);
    lgv_text_add(out, ")\n");
}

static void add_table(struct lgv_text *out, const struct lgv_program *p) {
    bool begins = false;
    for (size_t k = 0; k < p->count; k++) begins |= p->substep[k].begins;
    lgv_text_add(out, "\n#define PROGRAM_BEGINS %d", begins);
    lgv_text_add(out, "\n#define PROGRAM_SUBSTEPS %zuL\n#define PROGRAM_STEPS %zuL\n#define METHOD_DZ 0\n"
                      "#define METHOD_CARRY (0",
                 p->count, p->steps);
    for (size_t j = 0; j < p->steps; j++) lgv_text_add(out, " + step_carry_%zu", j);
    lgv_text_add(out, ")\n");
    add_shift(out, p);
    lgv_text_add(out, "static const struct {\n    double from, width;\n    long step, span;\n");
    lgv_text_add(out, "    int begins, heats;\n}");
    lgv_text_add(out, " program[] = {\n");
    for (size_t k = 0; k < p->count; k++)
        lgv_text_add(out, "    {%.17g, %.17g, %zu, %u, %d, %d},\n", p->substep[k].from, p->substep[k].width,
                     p->substep[k].step, p->substep[k].span, p->substep[k].begins,
                     p->step[p->substep[k].step]->heats);
    lgv_text_add(out, "};\n#define SUBSTEP_STEP(k) (PROGRAM_STEPS == 1 ? 0 : program[k].step)\n"
                      "#define SUBSTEP_FROM(k) program[k].from\n#define SUBSTEP_WIDTH(k) program[k].width\n"
                      "#define SUBSTEP_BEGINS(k) (PROGRAM_BEGINS && program[k].begins)\n"
                      "#define SUBSTEP_SPAN(k) program[k].span\n#define SUBSTEP_HEATS(k) program[k].heats\n");
}

void lgv_generate_method(struct lgv_text *out, const struct lgv_method *method) {
    const struct lgv_program *p = method->program;
    for (size_t j = 0; p && j < p->steps; j++) add_step(out, p->step[j], (long)j);
    if (p) {
        add_table(out, p);
        add_switch(out, p, "begin", "const vec *q, const vec *p", "q, p");
        add_switch(out, p, "step", "vec *q, vec *p, const vec *dW, const vec *dZ", "q, p, dW, dZ");
    }
    lgv_generate_file(out, method->source);
}
