/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The library inside a program that has chosen a locale with a decimal comma and Latin letters of one byte: the same
 * bits and the same text as in the "C" locale. */
#include "helpers.h"
#include "made_result.h"

#include <locale.h>
#include <unistd.h>

#include "out/private.h"

static char folder[] = "/tmp/lgv-locale-XXXXXX";

/* A locale of our own, so that the test does not depend on those that the machine has. */
static int make_locale(void **state) {
    (void)state;
    char command[256], source[64];
    if (!mkdtemp(folder)) return -1;
    snprintf(source, sizeof source, "%s/source", folder);
    FILE *f = fopen(source, "w");
    if (!f) return -1;
    fputs("LC_CTYPE\ncopy \"en_US\"\nEND LC_CTYPE\n"
          "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n",
          f);
    fclose(f);
    /* It warns about the categories that are not there, hence no look at its exit code. */
    snprintf(command, sizeof command,
             "cd %s && { localedef -c -i source -f ISO-8859-1 ./comma > log 2>&1; test -s comma/LC_NUMERIC; }", folder);
    if (system(command) != 0) {
        fprintf(stderr, "localedef made no locale; is the package `locales` installed?\n");
        return -1;
    }
    return setenv("LOCPATH", folder, 1);
}

static int remove_locale(void **state) {
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void use(const char *name) {
    char text[16];
    assert_non_null(setlocale(LC_ALL, name));
    snprintf(text, sizeof text, "%g", 0.5);
    assert_string_equal(text, strcmp(name, "C") == 0 ? "0.5" : "0,5"); /* the locale is what it should be */
}

/* Without the lines that tell of time spent. */
static char *timeless(char *text) {
    static const char *const volatile_word[] = {"second", "\"date\"", "cached"};
    char *to = text;
    for (char *line = text, *next; line && *line; line = next) {
        char *end = strchr(line, '\n');
        size_t n = end ? (size_t)(end - line) + 1 : strlen(line);
        bool keep = true;
        next = line + n;
        for (size_t k = 0; k < sizeof volatile_word / sizeof *volatile_word; k++) {
            char *found = strstr(line, volatile_word[k]);
            if (found && found < next) keep = false;
        }
        if (keep) memmove(to, line, n), to += n;
    }
    *to = '\0';
    return text;
}

static char *run_document(const char *file, const char *method, const char *step) {
    struct lgv_error err = {0};
    struct lgv_model *m = NULL;
    struct lgv_run *run = NULL;
    struct lgv_result *r = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s/examples/%s", getenv("SRC"), file);
    if (lgv_model_load(path, &m, &err) != LGV_OK) fail_msg("%s", err.message);
    if (lgv_run_create(m, &run, &err) != LGV_OK) fail_msg("%s", err.message);
    const char *const set[][2] = {{"method", method}, {"step", step},     {"until", "0.5"},
                                  {"paths", "16"},    {"outputs", "4"}, {"threads", "2"}};
    for (size_t k = 0; k < sizeof set / sizeof *set; k++)
        if (lgv_run_set(run, set[k][0], set[k][1], &err) != LGV_OK) fail_msg("%s", err.message);
    if (lgv_run_execute(run, &r, &err) != LGV_OK) fail_msg("%s", err.message);
    char *text = lgv_result_json(r);
    assert_non_null(text);
    lgv_result_free(r);
    lgv_run_free(run);
    lgv_model_free(m);
    return timeless(text);
}

static void test_runs(void **state) {
    (void)state;
    static const char *const what[][3] = {
        {"spherical-pendulum-noise/spherical-pendulum-noise.yaml", "RATTLE-weak2", "0.125"},
        {"spherical-pendulum-noise/spherical-pendulum-noise.yaml", "Lobatto3", "0.125"},
        {"synchrotron/synchrotron.yaml", "LobZ", "0.0625"}};
    for (size_t k = 0; k < sizeof what / sizeof *what; k++) {
        use("C");
        char *plain = run_document(what[k][0], what[k][1], what[k][2]);
        use("comma");
        char *comma = run_document(what[k][0], what[k][1], what[k][2]);
        use("C");
        assert_string_equal(plain, comma);
        assert_non_null(strstr(plain, "\"mean\": 0."));
        free(plain);
        free(comma);
    }
}

static char *study_document(void) {
    struct lgv_error err = {0};
    struct lgv_model *m = model_of("name: swing\nparameters: { b: 0.25 }\ncoordinates: { q: 0.5 }\nmomenta: { p: 1 }\n"
                                   "hamiltonian: p^2/2 - cos(q)\nnoise: [ b*sin(q) ]\n");
    struct lgv_settings s = settings_of(m);
    struct lgv_convergence c;
    s.until = 0.5;
    s.paths = 32;
    s.threads = 1;
    struct lgv_convergence_options options = {.methods = "verlet,midpoint", .steps = "0.125,0.0625,0.03125"};
    if (lgv_converge(m, &s, &options, NULL, NULL, &c, &err) != LGV_OK) fail_msg("%s", err.message);
    char *document = lgv_json_convergence(&c), *page = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&page, &size);
    assert_non_null(f);
    lgv_convergence_summary(f, &c, false);
    fclose(f);
    struct lgv_text all = {0};
    char line[512];
    for (size_t k = 0; k < c.nmethods; k++)
        lgv_text_add(&all, "%s\n", lgv_convergence_verdict(&c, &c.method[k], line, sizeof line));
    lgv_text_add(&all, "%s\n", timeless(document));
    for (char *p = page; *p; p++) /* columns of times; what is left is whether a comma stands in a number */
        if (p > page && *p == ',' && p[-1] >= '0' && p[-1] <= '9' && p[1] >= '0' && p[1] <= '9')
            lgv_text_add(&all, "comma in a number: %.20s\n", p - 1);
    free(page);
    free(document);
    lgv_convergence_clear(&c);
    lgv_model_free(m);
    assert_false(all.failed);
    return all.data;
}

static void test_study(void **state) {
    (void)state;
    use("C");
    char *plain = study_document();
    use("comma");
    char *comma = study_document();
    use("C");
    assert_string_equal(plain, comma);
    free(plain);
    free(comma);
}

static char *figures_and_words(void) {
    struct lgv_text all = {0};
    struct lgv_result r;
    make_result(&r, 20, 2);
    size_t count = 0;
    struct lgv_figure *plan = lgv_figure_plan(&r, &count);
    assert_non_null(plan);
    for (size_t k = 0; k < count; k++) {
        lgv_text_add(&all, "%s\n", plan[k].title);
        lgv_figure_script(&all, &r, &plan[k]);
    }
    free(plan);
    struct lgv_check *check = lgv_checks(&r, &count);
    for (size_t k = 0; k < count; k++) lgv_text_add(&all, "%s %s\n", check[k].value, check[k].verdict);
    free(check);
    lgv_result_clear(&r);
    static const char *const wrong[] = {
        "name: a\ncoordinates: { q: 0 }\nmomenta: { p: 0 }\nhamiltonian: p^2/2 + \xc3\xa4*q\n",
        "name: a\ncoordinates: { q: 0 }\nmomenta: { p: 0 }\nhamiltonian: p^2/2 + q,5\n",
        "name: a\ncoordinates: { q: 0 }\nmomenta: { p: 0 }\nhamiltonian: p^2/2\nrun: { step: -0.5 }\n"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        struct lgv_model *m = NULL;
        struct lgv_run *run = NULL;
        struct lgv_error err = {0};
        if (lgv_model_parse(wrong[k], "test.yaml", &m, &err) == LGV_OK) lgv_run_create(m, &run, &err);
        assert_int_equal(err.status, LGV_BAD_INPUT);
        lgv_text_add(&all, "%s\n", err.message);
        lgv_run_free(run);
        lgv_model_free(m);
    }
    assert_false(all.failed);
    return all.data;
}

static void test_words(void **state) {
    (void)state;
    use("C");
    char *plain = figures_and_words();
    use("comma");
    char *comma = figures_and_words();
    use("C");
    assert_string_equal(plain, comma);
    free(plain);
    free(comma);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs), cmocka_unit_test(test_study),
                                       cmocka_unit_test(test_words)};
    return cmocka_run_group_tests(tests, make_locale, remove_locale);
}
