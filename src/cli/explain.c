/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv explain: the equations of a model in both senses of stochastic integrals, and how the noise enters. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static const struct lgv_flag flags[] = {
    {"set", 0, "NAME=VALUE", LGV_FLAG_SET, "a parameter of the model, or a run option; may be given many times"},
    {"format", 0, "WORD", offsetof(struct lgv_flags, format),
     "how the equations are written: text, latex or mathml (default text)"},
    {"json", 0, NULL, offsetof(struct lgv_flags, json), "one JSON document on standard output and nothing else"},
};

static const char *const formats[] = {"text", "latex", "mathml"};
static const char *const forms[] = {"definition", "stratonovich", "ito"};

struct explanation {
    struct lgv_model *model;
    struct lgv_structure structure;
    char *equations[3][3]; /* by form and format */
    bool same;             /* both senses have the same equations */
    struct lgv_text noise; /* how it enters, one sentence a line */
    const struct lgv_method *method;
    const char *chosen;
};

/* ---- what there is to say ---- */

/* Equations without the signs of Stratonovich's integrals. */
static bool equal_equations(const char *stratonovich, const char *ito) {
    while (*stratonovich && *ito) {
        if (strncmp(stratonovich, "o d", 3) == 0) stratonovich += 2;
        if (*stratonovich++ != *ito++) return false;
    }
    return *stratonovich == *ito;
}

static void one_noise(struct explanation *x, const struct lgv_noise *n) {
    const unsigned uses = x->model->graph->node[n->body].uses;
    const bool q = uses & LGV_USES(LGV_Q), p = uses & LGV_USES(LGV_P), more = n->count > 1;
    const char *driven = uses & LGV_USES_TIME ? " It also depends on time." : "";
    char name[LGV_MAX_NAME + 60];
    if (n->name)
        snprintf(name, sizeof name, more ? "Each of the noises h_%s" : "The noise h_%s", n->name);
    else if (x->model->nnoise == 1)
        snprintf(name, sizeof name, "The noise h");
    else if (more)
        snprintf(name, sizeof name, "Each of the noises h_%zu to h_%zu", n->first + 1, n->first + n->count);
    else
        snprintf(name, sizeof name, "The noise h_%zu", n->first + 1);
    if (q && p)
        lgv_text_add(&x->noise, "%s depends on coordinates and momenta: it moves both, along the flow of h.%s\n", name,
                     driven);
    else if (q)
        lgv_text_add(&x->noise,
                     "%s depends on coordinates alone: it is a random force -dh/dq; coordinates feel it through the "
                     "momenta only.%s\n",
                     name, driven);
    else if (p)
        lgv_text_add(&x->noise, "%s depends on momenta alone: it is a random velocity%s.%s\n", name,
                     x->structure.rotations ? ", with which momenta along the axes of a body turn"
                                            : " dh/dp, and momenta do not feel it", driven);
    else
        lgv_text_add(&x->noise, "%s depends on neither coordinates nor momenta: it moves nothing.\n", name);
}

static void describe_processes(struct explanation *x) {
    const struct lgv_structure *s = &x->structure;
    lgv_text_add(&x->noise, "Coloured noise: ");
    lgv_model_process_words(x->model, &x->noise);
    lgv_text_add(&x->noise, ". It is smooth enough that the senses of Ito and Stratonovich agree. A step has it "
                            "exactly in law, as its mean over the step.\n");
    if (!s->process_linear)
        lgv_text_add(&x->noise, "It does not enter linearly: the order in the step is 1.\n");
    if (s->process_in_noise)
        lgv_text_add(&x->noise, "It is a factor of white noise: the strong order in the step is 1/2.\n");
}

static void describe_noise(struct explanation *x) {
    const struct lgv_structure *s = &x->structure;
    const struct lgv_model *m = x->model;
    char words[400];
    const bool drawn = m->graph && m->graph->nsteady > 0;
    if (m->nprocesses) describe_processes(x);
    else if (!m->nnoise && !s->bath)
        lgv_text_add(&x->noise, "There is no noise: every path follows from its start%s.\n",
                     drawn ? " and its random parameters" : "");
    if (drawn) {
        lgv_model_drawn_words(m, &x->noise);
        lgv_text_add(&x->noise, ": random parameters, drawn once for every path.\n");
    }
    for (size_t k = 0; k < m->nentries && k < 20; k++) one_noise(x, &m->noise[k]);
    if (m->nnoise && s->additive)
        lgv_text_add(&x->noise, "It is additive: its strength is the same in every state.\n");
    else if (m->nnoise)
        lgv_text_add(&x->noise, "It is multiplicative: its strength depends on the state.\n");
    if (m->nnoise > 1) {
        lgv_structure_commutes(s, m->nnoise, words, sizeof words);
        const char *how = s->commutes == 1 ? "commute" : s->commutes == 0 ? "do not commute" : "may or may not commute";
        lgv_text_add(&x->noise, "The noises %s (%s).\n", how, words);
    }
    bool ito = false;
    for (size_t k = 0; k < m->nentries; k++) ito = ito || m->noise[k].ito;
    if (ito)
        lgv_text_add(&x->noise, "Noises under noise_ito were given in the sense of Ito; what that adds in the sense of "
                                "Stratonovich is taken from H.\n");
    if (m->nnoise)
        lgv_text_add(&x->noise,
                     x->same ? "Ito and Stratonovich integrals agree here, since no noise moves what its own "
                               "coefficient depends on.\n"
                             : "Formulas of noise are read in the sense of Stratonovich; in the sense of Ito the drift "
                               "has the additional term 1/2 sum(k, {{x, h_k}, h_k}).\n");
    if (s->bath) {
        struct lgv_law law;
        lgv_model_law(x->model, s, &law);
        lgv_text_add(&x->noise, "A heat bath acts on the momenta: friction -Gamma v, and the noise sqrt(2 kT Gamma) dB "
                                "that belongs to it. The stationary law is ");
        lgv_law_words(m, &law, &x->noise);
        lgv_text_add(&x->noise, ".\n");
    }
}

static enum lgv_status look(struct explanation *x, const struct lgv_settings *settings, struct lgv_error *err) {
    lgv_settings_times(settings, x->model);
    enum lgv_status status = lgv_model_structure(x->model, &x->structure, err);
    if (!status) status = lgv_method_resolve(x->model, settings->method, &x->method, &x->chosen, err);
    for (int form = 0; !status && form < 3; form++)
        for (int format = 0; !status && format < 3; format++)
            status = lgv_model_equations(x->model, (enum lgv_equations)form, (enum lgv_markup)format,
                                         &x->equations[form][format], err);
    if (status) return status;
    const bool turning = x->structure.rotations && (x->structure.noise_depends & LGV_ON_P);
    x->same = !turning && equal_equations(x->equations[LGV_EQUATIONS_STRATONOVICH][LGV_PLAIN],
                                          x->equations[LGV_EQUATIONS_ITO][LGV_PLAIN]);
    describe_noise(x);
    return x->noise.failed ? lgv_fail_memory(err) : LGV_OK;
}

/* ---- saying it ---- */

static json_t *document(const struct explanation *x) {
    json_t *noise = json_array(), *out = json_object();
    for (const char *s = x->noise.data; s && *s;) {
        size_t n = strcspn(s, "\n");
        json_array_append_new(noise, json_stringn(s, n));
        s += n + (s[n] == '\n');
    }
    json_object_set_new(out, "model", json_string(x->model->name));
    for (int form = 0; form < 3; form++) {
        json_t *way = json_object();
        for (int format = 0; format < 3; format++)
            json_object_set_new(way, formats[format], json_string(x->equations[form][format]));
        json_object_set_new(out, forms[form], way);
    }
    json_object_set_new(out, "noise", noise);
    lgv_inputs_json(x->model, out);
    json_object_set_new(out, "ito_equals_stratonovich", json_boolean(x->same));
    json_object_set_new(out, "method", json_string(x->method->name));
    json_object_set_new(out, "method_reason", x->chosen ? json_string(x->chosen) : json_null());
    return out;
}

static void print_equations(const char *title, const char *text) {
    const bool colour = lgv_colour(stdout);
    printf("\n%s%s%s\n", colour ? "\033[1m" : "", title, colour ? "\033[0m" : "");
    for (const char *s = text; *s;) {
        size_t n = strcspn(s, "\n");
        printf("  %.*s\n", (int)n, s);
        s += n + (s[n] == '\n');
    }
}

static void print_text(const struct explanation *x) {
    printf("%s\n", x->model->name);
    print_equations("The model", x->equations[LGV_EQUATIONS_DEFINITION][LGV_PLAIN]);
    if (x->model->nnoise && !x->same) {
        print_equations("Stratonovich", x->equations[LGV_EQUATIONS_STRATONOVICH][LGV_PLAIN]);
        print_equations("Ito", x->equations[LGV_EQUATIONS_ITO][LGV_PLAIN]);
    } else {
        print_equations(x->model->nnoise ? "Equations, in the sense of Stratonovich or Ito" : "Equations",
                        x->equations[LGV_EQUATIONS_ITO][LGV_PLAIN]);
    }
    printf("\n%sHow the noise enters%s\n", lgv_colour(stdout) ? "\033[1m" : "", lgv_colour(stdout) ? "\033[0m" : "");
    for (const char *s = x->noise.data; s && *s;) {
        char line[1000];
        size_t n = strcspn(s, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, s);
        fputs("  ", stdout);
        lgv_wrap(stdout, line, 2, 2);
        s += n + (s[n] == '\n');
    }
    const struct lgv_graph *g = x->model->graph;
    for (size_t k = 0; g && k < g->ntables; k++) {
        struct lgv_text words = {0};
        if (g->tabulated[k].degree == 0) continue; /* a column by path; tables of where come first */
        if (k == 0) printf("\n%sTables%s\n", lgv_colour(stdout) ? "\033[1m" : "", lgv_colour(stdout) ? "\033[0m" : "");
        lgv_model_table_words(x->model, k, &words);
        if (words.data) printf("  %s\n", words.data);
        lgv_text_free(&words);
    }
    printf("\n  method         %s%s%s%s\n", x->method->name, x->chosen ? " (" : "", x->chosen ? x->chosen : "",
           x->chosen ? ")" : "");
}

static int show(const struct lgv_arguments *a, const struct explanation *x) {
    int format = 0;
    while (a->flags.format && format < 3 && strcmp(formats[format], a->flags.format) != 0) format++;
    if (a->flags.json) return lgv_print_json(document(x), LGV_EXIT_DONE);
    if (format == LGV_PLAIN) print_text(x);
    for (int form = 0; format != LGV_PLAIN && form < 3; form++)
        printf(format == LGV_LATEX ? "%% %s\n%s\n" : "<!-- %s -->\n%s\n", forms[form], x->equations[form][format]);
    return lgv_finish(LGV_EXIT_DONE);
}

static int command_explain(const struct lgv_arguments *a) {
    struct lgv_error err = {0};
    struct lgv_settings settings;
    struct explanation x = {0};
    const char *format = a->flags.format;
    bool known = !format;
    for (int k = 0; k < 3; k++) known = known || strcmp(format, formats[k]) == 0;
    if (!known) {
        char plain[80];
        fprintf(stderr, "lgv: unknown format %s; --format is text, latex or mathml\n",
                lgv_plain(plain, sizeof plain, format));
        return LGV_EXIT_INPUT;
    }
    enum lgv_status status = lgv_arguments_model(a, &x.model, &settings, &err);
    if (!status) status = look(&x, &settings, &err);
    int code = status ? lgv_complain(&err, status) : show(a, &x);
    for (int k = 0; k < 9; k++) free(x.equations[k / 3][k % 3]);
    lgv_text_free(&x.noise);
    lgv_model_free(x.model);
    return code;
}

const struct lgv_command lgv_command_explain = {
    .name = "explain",
    .operand = "FILE",
    .summary = "the equations of a model, Stratonovich and Ito, and how the noise enters",
    .about = "Shows what a model file means: its Hamiltonian or Lagrangian, the equations of motion in the sense of "
             "Stratonovich and of Ito, derived from the formulas, and in words how the noise enters. Small models have "
             "an equation for every coordinate and momentum; large ones, and those with rotations, one for all of a "
             "kind. Nothing is run.\n\n"
             "`--format latex` and `--format mathml` give the equations for papers and pages: what the file says, then "
             "Stratonovich, then Ito.",
    .examples = "  lgv explain kubo.yaml\n  lgv explain kubo.yaml --format latex\n  lgv explain kubo.yaml --json\n",
    .run_options = true,
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_explain,
};
