/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The face of a model is one table: every function of it is in the text of a kernel, and for models of C functions in
 * face_callbacks.h; some method or model gives every row a body; what nobody asked for traps.  Rows that no method
 * asks for yet are compared with the scalar evaluator. */
#include "helpers.h"
#include "kernel/compile.h"
#include "kernel/generate.h"
#include <ctype.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD "coordinates: {q: 0.4, r: 1}\nmomenta: {p: -0.6, s: 0.2}\n"

static char *source_of(struct lgv_model *m, const struct lgv_method *method, bool control) {
    struct lgv_structure s;
    struct lgv_watch w;
    struct lgv_error err = {0};
    struct lgv_width width = {8, 1, true, false};
    assert_int_equal(lgv_model_structure(m, &s, &err), LGV_OK);
    assert_int_equal(lgv_kernel_watch(m, &w, &err), LGV_OK);
    w.events = m->nevents;
    w.event = m->event;
    w.sections = m->nsections;
    w.section = m->section;
    size_t count = w.count;
    if (control) w.count += w.controls = 1; /* of the first */
    char *text = lgv_kernel_source(m, method, &s, &w, &width, &err);
    if (!text) fail_msg("%s", err.message);
    w.count = count;
    lgv_kernel_watch_free(&w);
    return text;
}

/* What is generated stands between face.h, or rows.h where there are sums, and the next file; each of them begins with
 * its licence. */
static char *generated(char *source) {
    char *face = strstr(source, "The face of the model that methods see");
    assert_non_null(face);
    char *rows = strstr(face, "Sums whose rows are long"), *end = strstr(rows ? rows : face, "SPDX");
    assert_non_null(end);
    *end = 0;
    return face;
}

/* The text with every run of blanks as one. */
static char *plain(const char *text) {
    char *out = lgv_new(strlen(text) + 1, 1), *to = out;
    assert_non_null(out);
    for (; *text; text++)
        if (!isspace((unsigned char)*text))
            *to++ = *text;
        else if (to == out || to[-1] != ' ')
            *to++ = ' ';
    return out;
}

/* The function of a row in a plain text, or NULL; it must not be there twice. */
static const char *find(const char *text, const struct lgv_face_row *r) {
    struct lgv_text head = {0};
    lgv_text_add(&head, " void %s%s {", r->name, r->arguments);
    char *want = plain(head.data);
    const char *at = strstr(text, want);
    if (at && strstr(at + 1, want)) fail_msg("%s is there twice", r->name);
    free(want);
    lgv_text_free(&head);
    return at;
}

static bool traps(const char *at) {
    const char *trap = strstr(at, "__builtin_trap()");
    return trap && trap < at + strcspn(at, "}");
}

static void test_rows(void **state) {
    (void)state;
    static const struct {
        const char *text, *method;
        bool control;
        unsigned asked;
    } kernels[] = {
        {HEAD "hamiltonian: p^2/2 + s^2/2 - cos(q*r)\nnoise: sin(q)\n", "P2N2Q2Lob", true, LGV_FACE_H | LGV_FACE_V3},
        {HEAD "hamiltonian: p^2/2 + s^2/2 - cos(q*r)\nnoise: sin(q*p)\n", "P1N1Q2Gau", false, 0},
        {HEAD "hamiltonian: p^2/2 + s^2/2 - cos(q*r)\nnoise: sin(q*p)\nevents: {a: q > 2}\n"
         "sections: {b: q}\n", "EEM", false, 0},
        {HEAD "hamiltonian: p^2/2 + s^2/2 - cos(q*r)\nnoise: sin(q*p)\n", "Taylor15", false, 0},
        {HEAD "hamiltonian: p^2/2 + s^2/2 + q\nconstraints: [q^2 + r^2 - 1]\n", "RATTLE", false, 0},
        {HEAD "hamiltonian: p^2/2 + s^2/2 + q\nnoise: sin(q)\n", "RATTLE", false, 0},
        {"coordinates: {q: 0.4}\nvelocities: {v: 1}\nlagrangian: (1 + q^2)*v^2/2 - q^2\n", "RATTLE", false, 0},
        {"parameters: {N: 9}\ncoordinates: {'x[N]': 1, 'y[N]': 0}\nmomenta: {p: 0, r: 1}\n"
         "hamiltonian: sum(i=1..N, p[i]^2/2 + r[i]^2/2)\nconstraints: ['each(k=1..N, x[k]^2 + y[k]^2 - 1)']\n",
         "RATTLE", false, 0},
        {"parameters: {N: 40}\ncoordinates: {'x[N]': 0.1*i}\nmomenta: {p: 0}\n"
         "hamiltonian: sum(i=1..N, p[i]^2/2 + (x[wrap(i+1)] - x[i])^4 + x[i]^2/2)\n",
         "P1N1Q2Gau", false, 0},
        {HEAD "hamiltonian: p^2/2 + s^2/2 + q^2\nforce: [r, -q]\nlangevin: {friction: 1 + q^2, temperature: 1}\n",
         "BAOAB", false, 0},
        {HEAD "hamiltonian: p^2/2 + s^2/2 + q^4\n", "ZSs", false, 0},
        {HEAD "hamiltonian: p^2/2 + s^2/2 + q^4 + r^2\nstiff: q^4\n", "Impulse(2)", false, 0},
        {HEAD "hamiltonian: p^2/2 + s^2/2 + q^4\nmethods: {own: {discrete_lagrangian: "
         "((q1 - q0)^2 + (r1 - r0)^2)/(2*dt^2) - q0^4}}\n", "own", false, 0},
        {HEAD "hamiltonian: p^2/2 + s^2/2\nconstraints: [q]\npenalty: {omega: 9}\nobserve: {l: 'lambda[1]'}\n",
         "P2N2Q2Lob", false, 0},
        {HEAD "hamiltonian: p^2/2 + s^2/2 - cos(q*r)\nnoise: sin(q*p)\n", "P2N2Q4Gau-MagnusStrang", false, 0},
    };
    bool filled[64] = {false}, absent[64] = {false};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        struct lgv_model *m = model_of(kernels[k].text);
        struct lgv_method method = *lgv_method_for(m, kernels[k].method);
        method.face_separable |= kernels[k].asked;
        method.face_general |= kernels[k].asked;
        char *source = source_of(m, &method, kernels[k].control), *text = plain(generated(source));
        const struct lgv_face_row *r;
        for (size_t i = 0; (r = lgv_face_row(i)); i++) {
            const char *at = find(text, r);
            if (!at && !r->only) fail_msg("%s with %s has no %s", kernels[k].text, kernels[k].method, r->name);
            filled[i] |= at && !traps(at);
            absent[i] |= at && traps(at);
        }
        free(text);
        free(source);
        lgv_model_free(m);
    }
    const struct lgv_face_row *r;
    for (size_t i = 0; (r = lgv_face_row(i)); i++) {
        if (!filled[i]) fail_msg("no kernel has a body for %s", r->name);
        if (!r->only && r->asked != LGV_FACE_WATCH && !absent[i]) fail_msg("%s is never left out", r->name);
    }
}

static void test_callbacks(void **state) {
    (void)state;
    char path[1024];
    struct lgv_error err;
    size_t size;
    snprintf(path, sizeof path, "%s/src/kernel/text/face_callbacks.h", getenv("SRC"));
    char *file = lgv_read_file(path, 1000000, &size, &err);
    assert_non_null(file);
    char *text = plain(file);
    const struct lgv_face_row *r;
    for (size_t i = 0; (r = lgv_face_row(i)); i++)
        if (!r->only && !find(text, r)) fail_msg("face_callbacks.h has no %s%s", r->name, r->arguments);
    free(text);
    free(file);
}

/* ---- values ---- */

typedef double row[8];
typedef void probe(const double *par, double t, const row *x, const row *dq, row *out);

static const char probe_text[] = "void probe(const double *par, double t, const vec *x, const vec *dq, vec *out) {\n"
                                 "    struct ctx c = {.par = par};\n"
                                 "    model_H(&c, t, x, x + NX, out);\n"
                                 "    out[1] = vec_set((double)c.evaluations);\n"
                                 "    model_V3(&c, t, x, x + NX, dq, out + 2);\n"
                                 "    out[2 + NP] = vec_set((double)c.evaluations);\n}\n";

static struct lgv_module *module_of(struct lgv_model *m, unsigned asked, probe **out) {
    struct lgv_method method = *lgv_method_find("P1N1Q2Gau");
    struct lgv_compiler cc;
    struct lgv_error err;
    struct lgv_module *module = NULL;
    struct lgv_text all = {0};
    method.face_separable |= asked;
    method.face_general |= asked;
    char *source = source_of(m, &method, false);
    lgv_text_add(&all, "%s%s", source, probe_text);
    if (lgv_compiler_find(NULL, &cc, &err) || lgv_module_build(all.data, &cc, NULL, &module, NULL, &err))
        fail_msg("%s", err.message);
    void *symbol = lgv_module_symbol(module, "probe");
    assert_non_null(symbol);
    memcpy(out, &symbol, sizeof *out);
    free(source);
    lgv_text_free(&all);
    return module;
}

static struct lgv_model *probed_model(void) {
    return model_of("parameters: {alpha: 0.7, N: 30}\ncoordinates: {q: 0.4, 'x[N]': 0.1*i}\n"
                    "momenta: {p: -0.6, s: 0.2}\n"
                    "hamiltonian: p^2*(1 + q^2)/2 + sin(q*x[1]*p)*t + alpha*q^3 + sum(i=1..N, s[i]^2/2 + "
                    "cos(x[i] - q)*s[i] + (x[wrap(i+1)] - x[i])^4)\nnoise: 0.1*q*p\n");
}

#define NP 31
/* As in unit_codegen.c: another order of additions, and functions good to 2 ulp, with values of the order 100. */
#define SAME 1e-11

static void test_values(void **state) {
    (void)state;
    struct lgv_model *m = probed_model();
    struct lgv_graph *g = m->graph;
    struct lgv_function H;
    struct lgv_terms third = {0}, first = {0};
    struct lgv_evaluator e;
    probe *run;
    struct lgv_module *module = module_of(m, LGV_FACE_H | LGV_FACE_V3, &run);
    assert_true(m->np == NP && lgv_function_split(g, m->hamiltonian, false, &H));
    lgv_terms_third(g, &H, &third);
    lgv_terms_gradient(g, &H, LGV_Q, &first);
    row *v = NULL;
    assert_int_equal(posix_memalign((void **)&v, 128, (3 + 4 * NP) * sizeof *v), 0);
    uint64_t z = 5;
    for (size_t i = 0; i < 3 * NP; i++)
        for (size_t l = 0; l < 8; l++) v[i][l] = 2 * uniform_of(&z) - 1;
    row *x = v, *a = v + 2 * NP, *out = v + 3 * NP;
    run(m->par, 0.3, (const row *)x, (const row *)a, out);
    assert_true(lgv_eval_begin(&e, g));
    for (size_t l = 0; l < 8; l++) {
        double y[2 * NP], b[NP], want[NP], D[3][NP], h = 1e-3;
        struct lgv_env env = {.par = m->par, .t = 0.3, .space = {[LGV_Q] = y, [LGV_P] = y + NP, [LGV_DQ] = b}};
        for (size_t i = 0; i < 2 * NP; i++) y[i] = x[i][l];
        for (size_t i = 0; i < NP; i++) b[i] = a[i][l];
        double value = lgv_eval_function(&e, &H, &env);
        assert_near(out[0][l], value, SAME * (1 + fabs(value)), "H");
        lgv_eval_terms(&e, &third, &env, want, NP, 0);
        for (int k = 0; k < 3; k++) { /* H_q at q - h a, q, q + h a: differences to h^2 and 1e-14/h^2 */
            for (size_t i = 0; i < NP; i++) y[i] = x[i][l] + (k - 1) * h * b[i];
            lgv_eval_terms(&e, &first, &env, D[k], NP, 0);
        }
        for (size_t i = 0; i < NP; i++) {
            assert_near(out[2 + i][l], want[i], SAME * (1 + fabs(want[i])), "a.V'''.a");
            double differences = (D[0][i] - 2 * D[1][i] + D[2][i]) / (h * h);
            assert_near(out[2 + i][l], differences, 1e-4 * (1 + fabs(want[i])), "a.V'''.a against differences");
        }
        assert_true(out[1][l] == 0 && out[2 + NP][l] == 1); /* H is not a force; a.V'''.a costs one */
    }
    lgv_eval_end(&e);
    lgv_terms_free(&third);
    lgv_terms_free(&first);
    lgv_function_free(&H);
    lgv_module_free(module);
    lgv_model_free(m);
    free(v);
}

static void test_trap(void **state) {
    (void)state;
    struct lgv_model *m = probed_model();
    probe *run;
    struct lgv_module *module = module_of(m, 0, &run);
    row *v = NULL;
    assert_int_equal(posix_memalign((void **)&v, 128, (3 + 4 * NP) * sizeof *v), 0);
    memset(v, 0, (3 + 4 * NP) * sizeof *v);
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGILL, SIG_DFL); /* cmocka catches it */
        run(m->par, 0, (const row *)v, (const row *)v, v + 3 * NP);
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGILL);
    lgv_module_free(module);
    lgv_model_free(m);
    free(v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_callbacks),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_trap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
