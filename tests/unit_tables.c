/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables: polynomials up to the degree are reproduced, errors fall as the spacing to the power 6, the ends of periodic
 * tables meet, derivatives are those of the function; kernels against the evaluator and against the formula that the
 * table was made from, for equidistant and other points, the same bits in all lanes; what is refused, with its line. */
#include "helpers.h"
#include "model/csv.h"
#include "model/spline.h"

static double polynomial_at(const double *c, int degree, double x, int derivative) {
    double sum = 0;
    for (int j = degree; j >= derivative; j--) {
        double factor = 1;
        for (int i = 0; i < derivative; i++) factor *= j - i;
        sum = sum * x + factor * c[j];
    }
    return sum;
}

/* x, (x - 1)^2 + .., of degree 5 on points that are not equally far apart; with fewer points of a lower degree. */
static void test_reproduces(void **state) {
    (void)state;
    const double want[6] = {0.3, -1, 0.5, 0.25, -0.125, 0.0625};
    for (int degree = 3; degree <= 5; degree += 2)
        for (size_t n = 2; n <= 12; n++) {
            double x[12], y[12], c[11 * 6];
            const int d = (size_t)degree < n ? degree : (int)n - 1;
            for (size_t i = 0; i < n; i++) {
                x[i] = 0.1 * (double)i + 0.03 * (double)(i * i % 5) - 0.4;
                y[i] = polynomial_at(want, d, x[i], 0);
            }
            assert_true(lgv_spline(x, y, n, degree, false, c));
            for (size_t k = 0; k + 1 < n; k++)
                for (int r = 0; r <= d; r++)
                    for (int part = 0; part <= 2; part++) {
                        double at = x[k] + 0.5 * part * (x[k + 1] - x[k]);
                        double seen = polynomial_at(c + k * (size_t)(degree + 1), degree, at - x[k], r);
                        assert_near(seen, polynomial_at(want, d, at, r), 2e-9 * pow(10, r), "polynomial");
                    }
        }
}

static double error_with(size_t n, int degree, bool periodic, int derivative) {
    double *x = lgv_new(2 * n, sizeof *x), *c = lgv_new(6 * n, sizeof *c), worst = 0, period = 2 * M_PI;
    for (size_t i = 0; i < n; i++) {
        double u = (double)i / (double)(n - 1);
        x[i] = period * (u + 0.03 * sin(2 * M_PI * u));
        x[n + i] = sin(x[i] + 1);
    }
    assert_true(lgv_spline(x, x + n, n, degree, periodic, c));
    for (size_t k = 0; k + 1 < n; k++)
        for (int part = 0; part <= 4; part++) {
            double r = 0.25 * part * (x[k + 1] - x[k]);
            double seen = polynomial_at(c + k * (size_t)(degree + 1), degree, r, derivative);
            worst = fmax(worst, fabs(seen - sin(x[k] + r + 1 + derivative * M_PI / 2)));
        }
    free(x);
    free(c);
    return worst;
}

/* Derivative r of a spline of degree d is right to h^(d + 1 - r). */
static void test_order(void **state) {
    (void)state;
    for (int periodic = 0; periodic < 2; periodic++)
        for (int degree = 3; degree <= 5; degree += 2)
            for (int r = 0; r <= 2; r++) {
                double slope = log2(error_with(41, degree, periodic, r) / error_with(81, degree, periodic, r));
                if (!(fabs(slope - (degree + 1 - r)) < 0.45))
                    fail_msg("degree %d, derivative %d, periodic %d: order %g", degree, r, periodic, slope);
            }
}

/* d - 1 derivatives agree on both sides of every knot, and of the seam. */
static void test_smooth(void **state) {
    (void)state;
    double x[9] = {0, 0.2, 0.7, 1, 1.6, 1.9, 2.5, 2.7, 3}, y[9] = {1, 3, -2, 0, 4, 1, 2, -1, 1}, c[8 * 6];
    assert_true(lgv_spline(x, y, 9, 5, true, c));
    for (size_t k = 0; k < 8; k++)
        for (int r = 0; r <= 4; r++) {
            double left = polynomial_at(c + 6 * k, 5, x[k + 1] - x[k], r);
            double right = polynomial_at(c + 6 * ((k + 1) % 8), 5, 0, r);
            assert_near(left, right, 1e-11 * pow(30, r), "two sides of a knot");
        }
}

/* ---- models ---- */

/* -cos(x) and 0.3 sin(t) as lines of text. */
static char *model_with(const char *words, bool even, size_t n, const char *rest) {
    struct lgv_text t = {0};
    lgv_text_add(&t, "parameters: {s: 0.1}\ncoordinates: {q: 0.7 + 0.5*normal()}\nmomenta: {p: 0.2}\n"
                     "where: {U(x): \"table(u.csv%s)\", F(x): table(f.csv)}\n%sdata:\n  u.csv: |\n    x, U\n",
                 words, rest);
    for (size_t i = 0; i < n; i++) {
        double u = (double)i / (double)(n - 1), x = 2 * M_PI * (even ? u : u + 0.05 * sin(2 * M_PI * u)) - M_PI;
        lgv_text_add(&t, "    %.17g, %.17g\n", x, -cos(x));
    }
    lgv_text_add(&t, "  f.csv: |\n");
    for (int i = 0; i <= 100; i++) lgv_text_add(&t, "    %.17g %.17g\n", 0.05 * i, 0.3 * sin(0.05 * i));
    return t.data;
}

static const char *const H = "hamiltonian: p^2/2 + U(q) - q*F(t)\nnoise: s*q*F(t)\n";

static double value_at(struct lgv_model *m, int node, double q, double t) {
    struct lgv_evaluator e;
    double p = 0;
    struct lgv_env env = {.par = m->par, .t = t, .space = {[LGV_Q] = &q, [LGV_P] = &p}};
    assert_true(lgv_eval_begin(&e, m->graph));
    double x = lgv_eval_node(&e, node, &env, NULL);
    lgv_eval_end(&e);
    return x;
}

static void test_derivatives(void **state) {
    (void)state;
    char *text = model_with(", x:U, periodic", false, 201, H);
    struct lgv_model *m = model_of(text);
    int q = lgv_expr_ref_at(m->graph, LGV_Q, 0);
    int first = lgv_diff_one(m->graph, m->hamiltonian, q), second = lgv_diff_one(m->graph, first, q);
    for (double x = -9; x < 9; x += 0.37) {
        assert_near(value_at(m, m->hamiltonian, x, 2), -cos(x) - x * 0.3 * sin(2), 1e-9, "H");
        assert_near(value_at(m, first, x, 2), sin(x) - 0.3 * sin(2), 1e-7, "H_q");
        assert_near(value_at(m, second, x, 2), cos(x), 1e-5, "H_qq");
    }
    assert_true(isnan(value_at(m, m->hamiltonian, 1, 5.1)) && isnan(value_at(m, m->hamiltonian, 1, -0.1)));
    assert_near(value_at(m, m->hamiltonian, 0, 5 + 1e-10), -1, 1e-9, "the end of the table");
    lgv_model_free(m);
    free(text);
    text = model_with(", linear", true, 201, H); /* along the tangents of -cos: slope 0, value 1, and no curvature */
    m = model_of(text);
    q = lgv_expr_ref_at(m->graph, LGV_Q, 0);
    first = lgv_diff_one(m->graph, m->hamiltonian, q), second = lgv_diff_one(m->graph, first, q);
    for (double x = -8; x < 9; x += 16) {
        assert_near(value_at(m, m->hamiltonian, x, 0), 1, 5 * pow(M_PI / 100, 5), "H outside"); /* slope: h^5 */
        assert_near(value_at(m, first, x, 0), 0, 1e-8, "H_q outside");
        assert_true(value_at(m, second, x, 0) == 0);
    }
    lgv_model_free(m);
    free(text);
}

/* Paths with the tables against paths with the formulas; the same bits for all widths. */
static void test_kernels(void **state) {
    (void)state;
    static const char *const methods[] = {"verlet", "midpoint"};
    for (int kind = 0; kind < 2; kind++) {
        const char *const words[] = {", periodic", ", linear"};
        char *text = model_with(words[kind], kind, 401, H);
        struct lgv_model *m = model_of(text);
        struct lgv_model *plain = model_of("parameters: {s: 0.1}\ncoordinates: {q: 0.7 + 0.5*normal()}\n"
                                           "momenta: {p: 0.2}\nhamiltonian: p^2/2 - cos(q) - q*0.3*sin(t)\n"
                                           "noise: s*q*0.3*sin(t)\n");
        for (size_t k = 0; k < 2; k++) {
            struct lgv_kernel want = kernel_of(plain, methods[k]), seen[2];
            double *a = final_values(&want, 0.02, 200, 32, 7, 1), *first = NULL;
            const unsigned lanes[] = {2, 8};
            for (size_t w = 0; w < 2; w++) {
                seen[w] = kernel_with(m, methods[k], lanes[w], NULL);
                double *b = final_values(&seen[w], 0.02, 200, 32, 7, 1);
                for (size_t i = 0; i < 32 * want.watch.count; i++) {
                    assert_near(b[i], a[i], 3e-8, "a path with tables");
                    assert_true(!first || memcmp(&first[i], &b[i], sizeof *b) == 0);
                }
                if (first) free(b);
                else first = b;
                lgv_kernel_free(&seen[w]);
            }
            free(a);
            free(first);
            lgv_kernel_free(&want);
        }
        lgv_model_free(m);
        lgv_model_free(plain);
        free(text);
    }
}

/* The kernel's H at random states is that of the evaluator, inside and outside, NaN where it is not defined. */
static void test_oracle(void **state) {
    (void)state;
    static const char *const words[] = {"", ", cubic", ", linear", ", periodic", ", cubic, linear"};
    for (size_t k = 0; k < 5; k++)
        {
            const bool even = k % 2;
            char *text = model_with(words[k], even, 23, "hamiltonian: p^2/2 + U(9*q)\nnoise: 0.001*q\n");
            struct lgv_model *m = model_of(text);
            struct lgv_kernel kernel = kernel_of(m, "verlet");
            size_t nx = watch_number(&kernel, "q"), nh = watch_number(&kernel, "H"), np = watch_number(&kernel, "p");
            double *b = final_values(&kernel, 1e-6, 1, 64, 3, 1);
            for (size_t i = 0; i < 64; i++) {
                const double *v = b + i * kernel.watch.count;
                if (isnan(v[nx])) { /* failed: it started outside */
                    assert_true(k < 2);
                    continue;
                }
                double want = value_at(m, m->hamiltonian, v[nx], 0) + v[np] * v[np] / 2;
                assert_true(isfinite(want));
                assert_near(v[nh], want, 1e-12 * (1 + fabs(want)), words[k]);
            }
            free(b);
            lgv_kernel_free(&kernel);
            lgv_model_free(m);
            free(text);
        }
}

/* ---- files ---- */

static void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static struct lgv_error refused(const char *text) {
    struct lgv_model *m = NULL;
    struct lgv_error err = {0};
    assert_int_equal(lgv_model_parse(text, "test.yaml", &m, &err), LGV_BAD_INPUT);
    return err;
}

static void test_refused(void **state) {
    (void)state;
#define HEAD "coordinates: {q: 0}\nhamiltonian: U(q)\nwhere: {U(x): "
    static const struct {
        const char *text, *message;
    } row[] = {
        {HEAD "table(nowhere.csv)}\n", "nowhere.csv"},
        {HEAD "table(/etc/passwd)}\n", "in its folder"},
        {HEAD "table(a/../../b.csv)}\n", "in its folder"},
        {HEAD "table(u.csv)}\ndata: {v.csv: \"1 2\"}\n", "u.csv is not in the section data"},
        {HEAD "table(u.csv)}\ndata: {u.csv: \"1 2\\n2 3\\n\\n2 4\\n\"}\n", "u.csv:4: x must increase"},
        {HEAD "table(u.csv)}\ndata: {u.csv: \"x,y\\n1,2\\n2,z\\n\"}\n", "u.csv:3: 'z' is not a number"},
        {HEAD "table(u.csv)}\ndata: {u.csv: \"1,2\\n2,\\n\"}\n", "u.csv:2: '' is not a number"},
        {HEAD "table(u.csv)}\ndata: {u.csv: \"1;2,5\\n2;3\\n\"}\n",
         "u.csv:1: '2,5' is not a number; numbers are written with a point"},
        {HEAD "table(u.csv)}\ndata: {u.csv: \"x;y\\n\"}\n", "u.csv:1: there are no numbers"},
        {HEAD "table(u.csv)}\ndata: {u.csv: \"1 2\\n2 3 4\\n\"}\n", "u.csv:2: more numbers"},
        {HEAD "table(u.csv)}\ndata: {u.csv: \"1 2\\n2\\n\"}\n", "u.csv:2: fewer numbers"},
        {HEAD "table(u.csv)}\ndata: {u.csv: \"1 2\\n2 inf\\n\"}\n", "u.csv:2: 'inf' is not a finite number"},
        {HEAD "table(u.csv)}\ndata: {u.csv: \"1\\n2\\n\"}\n", "one column"},
        {HEAD "table(u.csv)}\ndata: {u.csv: \"1 2\\n\"}\n", "at least 2 points"},
        {HEAD "\"table(u.csv, round)\"}\ndata: {u.csv: \"1 2\\n2 3\\n\"}\n", "'round' is none of periodic"},
        {HEAD "\"table(u.csv, x:z)\"}\ndata: {u.csv: \"x,y\\n1,2\\n2,3\\n\"}\n", "has no column z; it has 2: x, y"},
        {HEAD "\"table(u.csv, 1:3)\"}\ndata: {u.csv: \"1,2\\n2,3\\n\"}\n", "has no column 3"},
        {HEAD "\"table(u.csv, periodic)\"}\ndata: {u.csv: \"1,2\\n2,3\\n3,1\\n\"}\n", "the first one again"},
        {HEAD "table(u.csv) + 1}\ndata: {u.csv: \"1,2\\n2,3\\n\"}\n", "and nothing else"},
        {"coordinates: {q: 0}\nhamiltonian: U(q, 1)\nwhere: {U(x): table(u.csv)}\ndata: {u.csv: \"1,2\\n2,3\"}\n",
         "U is a table and has one argument"},
        {"coordinates: {q: 0}\nhamiltonian: U\nwhere: {U(x): table(u.csv)}\ndata: {u.csv: \"1,2\\n2,3\"}\n",
         "write U(...)"},
        {"coordinates: {q: 0}\nhamiltonian: table(q)\n", "where: { V(x): table(file.csv) }"},
        {"coordinates: {q: 0}\nhamiltonian: U(q, q)\nwhere: {\"U(x, y)\": table(u.csv)}\n"
         "data: {u.csv: \"1,2\\n2,3\"}\n",
         "a function of one number"},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct lgv_error err = refused(row[k].text);
        if (!strstr(err.message, row[k].message)) fail_msg("%s\nsays %s", row[k].text, err.message);
        assert_true(err.line > 0);
    }
}

/* The model keeps what it has read: the file is not asked for again. */
static void test_keeps(void **state) {
    (void)state;
    const char *text = "parameters: {N: 2}\ncoordinates: {\"q[N]\": 0.5}\nwhere: {U(x): table(kept.csv)}\n"
                       "hamiltonian: sum(i=1..N, p_q[i]^2/2 + U(q[i]))\n";
    write_text("kept.csv", "x;y\r\n0;0\r\n\r\n# half way\r\n0.5;0.25\r\n1;1\r\n");
    struct lgv_model *m = model_of(text), *again;
    assert_int_equal(remove("kept.csv"), 0);
    assert_non_null(strstr(m->text, "data:\n  \"kept.csv\": |2\n    x;y\n    0;0\n"));
    set_parameter(m, "N", 3); /* the text is read again */
    assert_int_equal(m->np, 3);
    again = model_of(m->text);
    assert_string_equal(again->text, m->text);
    assert_true(again->par[again->graph->tabulated[0].at + LGV_TABLE_HEAD + 3] == 1); /* x^2: the coefficient */
    lgv_model_free(again);
    lgv_model_free(m);
    refused(text);
}

/* Masses, charges and positions from columns are those that are written out. */
static void test_columns(void **state) {
    (void)state;
#define REST "hamiltonian: sum(i=1..N, dot(p[i], p[i])/(2*m[i]) + c[i]*dot(x[i], x[i])) + dot(R*[0,0,1], x[1])\n"
    const char *lines = "data:\n  atoms.csv: |\n    name_x y m c z\n    1 2 3 4 5\n    6 7 8 9 10\n"
                        "  body.csv: |\n    0 0 0 2\n";
    char text[1500];
    snprintf(text, sizeof text,
             "parameters: {N: 2, \"m[N]\": \"file(atoms.csv, m)\", \"c[N]\": \"file(atoms.csv, 4)\"}\n"
             "coordinates: {\"x[N] in R3\": \"file(atoms.csv, name_x, y, z)\", R in SO3: file(body.csv)}\n"
             "momenta: {p: file(atoms.csv), mu: [0, 0, 1]}\n" REST "%s", lines);
    struct lgv_model *m = model_of(text);
    struct lgv_model *plain = model_of("parameters: {N: 2, \"m[N]\": [3, 8], \"c[N]\": [4, 9]}\n"
        "coordinates: {\"x[N] in R3\": [[1,2,5],[6,7,10]], R in SO3: [0, 0, 0, 1]}\n"
        "momenta: {p: [[1,2,3],[6,7,8]], mu: [0, 0, 1]}\n" REST);
    assert_true(m->npar == 5 && m->nx == 10);
    for (size_t i = 0; i < m->npar; i++) assert_true(m->par[i] == plain->par[i]);
    for (size_t i = 0; i < m->nx + m->np; i++)
        assert_true(m->graph->node[m->start[i]].value == plain->graph->node[plain->start[i]].value);
    set_parameter(m, "m[2]", 7);
    assert_true(m->par[2] == 7 && m->par[1] == 3);
    lgv_model_free(m);
    lgv_model_free(plain);
    static const char *const wrong[][2] = {
        {"parameters: {\"m[3]\": file(a.csv)}\ncoordinates: {q: 1}\n", "m needs 3 rows, but a.csv has 2"},
        {"parameters: {\"m[2]\": \"file(a.csv, 3)\"}\ncoordinates: {q: 1}\n", "a.csv has no column 3; it has 2"},
        {"coordinates: {\"q[2] in R3\": file(a.csv)}\n", "q needs 3 columns, but a.csv has 2"},
        {"coordinates: {\"q[2] in R2\": \"file(a.csv, 1)\"}\n", "q needs 2 columns of a.csv, but 1 are named"},
        {"coordinates: {q: file(a.csv) + 1}\n", "and nothing else"},
        {"coordinates: {\"q[2]\": \"file(b.csv, 1)\"}\n", "b.csv:1: 'a' is not a number"},
        {"coordinates: {q: 1 + file(a.csv)}\n", "is all of the value"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        snprintf(text, sizeof text, "%shamiltonian: 1\ndata: {a.csv: \"1 2\\n3 4\\n\", b.csv: \"a 1\\nb 2\\n\"}\n",
                 wrong[k][0]);
        struct lgv_error err = refused(text);
        if (!strstr(err.message, wrong[k][1])) fail_msg("%s\nsays %s", text, err.message);
    }
}

static void test_lines(void **state) {
    (void)state;
    struct lgv_csv c;
    char why[200];
    assert_true(lgv_csv_read("\n# a\n \"a b\",'c'\n 1 , -2e-3 # x\n\n+3,.5", &c, why, sizeof why));
    assert_true(c.rows == 2 && c.columns == 2 && c.value[1] == -0.002 && c.value[3] == 0.5 && c.line[1] == 6);
    assert_true(lgv_csv_column(&c, "a b") == 0 && lgv_csv_column(&c, "2") == 1 && lgv_csv_column(&c, "3") == -1);
    lgv_csv_free(&c);
    assert_true(lgv_csv_read("1   2\t3", &c, why, sizeof why) || strstr(why, "1:"));
    lgv_csv_free(&c);
    assert_true(lgv_csv_read("1\t2\n3\t4\n", &c, why, sizeof why) && c.columns == 2);
    lgv_csv_free(&c);
    /* Words where nobody looks for numbers; a first line with numbers is a row if others begin with a word, too. */
    assert_true(lgv_csv_read("el,x,y\nAr,1,2\nKr,3,4\n", &c, why, sizeof why) && c.rows == 2 && c.value[5] == 4);
    assert_true(isnan(c.value[0]) && strcmp(c.odd[0], "2: 'Ar' is not a number") == 0 && !c.odd[1]);
    lgv_csv_free(&c);
    assert_true(lgv_csv_read("Ar 1 2\nKr 3 4\n", &c, why, sizeof why) && c.rows == 2 && !c.name);
    lgv_csv_free(&c);
    assert_true(lgv_csv_read("t,1,2\n0,3,4\n", &c, why, sizeof why) && c.rows == 1 && c.name);
    lgv_csv_free(&c);
    assert_false(lgv_csv_read("# nothing\n", &c, why, sizeof why));
    assert_false(lgv_csv_read("", &c, why, sizeof why));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reproduces), cmocka_unit_test(test_order),   cmocka_unit_test(test_smooth),
        cmocka_unit_test(test_derivatives), cmocka_unit_test(test_kernels), cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_keeps),   cmocka_unit_test(test_lines),
        cmocka_unit_test(test_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
