/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The equations of models for people.  Plain text is the formula language: what is printed is read again, and its
 * values are compared with finite differences of H and h, by a second route: drift and noise of Stratonovich's form are
 * {x, H} and {x, h}, and Ito's drift has 1/2 {{x, h}, h} = 1/2 d/ds {x, h} along the flow of h.  LaTeX and MathML are
 * compared with texts written by hand, and MathML must be balanced. */
#include "helpers.h"

static char *equations(const char *text, enum lgv_equations which, enum lgv_markup markup) {
    struct lgv_model *m = model_of(text);
    struct lgv_error err = {0};
    char *out = NULL;
    if (lgv_model_equations(m, which, markup, &out, &err) != LGV_OK) fail_msg("%s", err.message);
    lgv_model_free(m);
    return out;
}

/* ---- values ---- */

#define MOST 8

static double value(struct lgv_model *m, int node, const double *q, const double *p) {
    struct lgv_evaluator e;
    struct lgv_env env = {.par = m->par, .t = 0.3, .space = {[LGV_Q] = q, [LGV_P] = p}};
    assert_true(lgv_eval_begin(&e, m->graph));
    double x = lgv_eval_node(&e, node, &env, NULL);
    lgv_eval_end(&e);
    return x;
}

/* The field of f, {x, f} for q then p, by differences of order 4. */
static void field(struct lgv_model *m, int f, const double *x, double *out) {
    const size_t n = m->np;
    const double h = 1e-3, weight[] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12}, at[] = {-2, -1, 1, 2};
    for (size_t i = 0; i < 2 * n; i++) {
        double d = 0, y[2 * MOST];
        for (int k = 0; k < 4; k++) {
            memcpy(y, x, 2 * n * sizeof *y);
            y[i] += at[k] * h;
            d += weight[k] / h * value(m, f, y, y + n);
        }
        out[i < n ? n + i : i - n] = i < n ? -d : d;
    }
}

/* 1/2 {{x, h}, h}: the change of the field of h along itself. */
static void correction(struct lgv_model *m, int h, const double *x, double *out) {
    const size_t n = 2 * m->np;
    const double s = 1e-3, weight[] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12}, at[] = {-2, -1, 1, 2};
    double along[2 * MOST], there[2 * MOST], y[2 * MOST];
    field(m, h, x, along);
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < n; i++) y[i] = x[i] + at[k] * s * along[i];
        field(m, h, y, there);
        for (size_t i = 0; i < n; i++) out[i] += 0.5 * weight[k] / s * there[i];
    }
}

/* One line "dx = a dt + b o dW" with numbers for dt and the dW: its right side as a formula. */
static void right_side(const char *line, size_t length, double dt, int noise, char *out, size_t size) {
    size_t k = 0, i = (size_t)(strstr(line, " = ") - line) + 3;
    bool term = true; /* at the beginning of a term: the coefficient is 1 */
    while (i < length) {
        const char *s = line + i;
        int number = 0;
        size_t skip = strncmp(s, "dt", 2) == 0 ? 2 : strncmp(s, "o dW", 4) == 0 ? 4 : strncmp(s, "dW", 2) == 0 ? 2 : 0;
        if (skip && (i + skip == length || strchr(" _", s[skip]))) {
            const bool time = s[skip - 1] == 't';
            if (!time && s[skip] == '_') sscanf(s + skip, "_%d", &number), skip += 2;
            double factor = time ? dt : noise == (number ? number : 1);
            k += (size_t)snprintf(out + k, size - k, term ? "%g" : "*%g", factor);
            i += skip;
            term = false;
            continue;
        }
        term = strchr("+-", *s) || (*s == ' ' && term);
        out[k++] = *s;
        i++;
    }
    out[k] = 0;
}

static void check_rows(const char *text, enum lgv_equations which, const double *x) {
    char *page = equations(text, which, LGV_PLAIN), formula[4000];
    struct lgv_model *m = model_of(text);
    const size_t n = m->np;
    int *h = lgv_model_noises(m);
    for (int k = 0; k <= (int)m->nnoise; k++) { /* the drift, then each noise */
        double expected[2 * MOST] = {0};
        field(m, k ? h[k - 1] : m->hamiltonian, x, expected);
        for (size_t j = 0; k == 0 && which == LGV_EQUATIONS_ITO && j < m->nnoise; j++) correction(m, h[j], x, expected);
        const char *line = page;
        for (size_t i = 0; i < 2 * n; i++) {
            size_t length = strcspn(line, "\n");
            struct lgv_value v;
            struct lgv_formula_error why;
            right_side(line, length, k == 0, k, formula, sizeof formula);
            m->scope.allow = ~0u;
            m->scope.place = "a test";
            if (!lgv_formula_parse(&m->scope, formula, &v, NULL, &why)) fail_msg("%s\n%s", why.message, formula);
            double seen = value(m, v.node[0], x, x + n);
            if (!(fabs(seen - expected[i]) <= 1e-8 * (1 + fabs(expected[i]))))
                fail_msg("%.*s\nis %.12g, not %.12g (noise %d)\n%s", (int)length, line, seen, expected[i], k, formula);
            line += length + 1;
        }
    }
    free(h);
    free(page);
    lgv_model_free(m);
}

static void test_values(void **state) {
    (void)state;
    static const char *const models[] = {
        "parameters: {beta: 0.3}\ncoordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 - cos(q)\nnoise: beta*H\n",
        "parameters: {s: 0.3, k_B: 2}\nwhere: {r2: x^2 + y^2, V(r): k_B*r^4/4 - r}\ncoordinates: {x: 1, y: 0}\n"
        "momenta: {px: 0, py: 1}\nhamiltonian: (px^2 + py^2)/(2*k_B) + V(sqrt(1 + r2)) + t*x\n"
        "noise: [s*(x*py - y*px), s*x^2/(1 + y^2), -s*exp(-px^2/2)*sqrt(1 + x^2)]\n",
        "coordinates: {q: 0.5}\nmomenta: {p: 1}\nhamiltonian: p^2*(1 + q^2)/3 + if(q > 0, ln(1 + q), abs(q))\n"
        "noise: [q*p, \"atan2(p, 2 + q)\", 2^q/tan(1 + p/4)]\n",
        "parameters: {N: 3}\ncoordinates: {\"x[N]\": 0.1*i}\nmomenta: {p: 0}\n"
        "hamiltonian: sum(i=1..N, p[i]^2/2) + sum(i=1..N, cos(x[i] - x[wrap(i+1)]))\nnoise: sum(i=1..N, x[i]*p[i])/7\n",
        "coordinates: {x in R2: [1, 0]}\nmomenta: {p: [0, 1]}\nkinetic: {mass: 3}\npotential: 1/norm(x)\n"
        "noise: cross(x, p)\n"};
    const double x[] = {0.7, -0.4, 0.3, 1.1, 0.45, -0.8};
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        check_rows(models[k], LGV_EQUATIONS_STRATONOVICH, x);
        check_rows(models[k], LGV_EQUATIONS_ITO, x);
    }
}

/* ---- texts ---- */

static const char *const pendulum =
    "parameters: {beta: 0.1, omega_0: 2}\ncoordinates: {theta: 0}\nmomenta: {p_theta: 1}\n"
    "hamiltonian: p_theta^2/2 - omega_0^2*cos(theta)\nnoise: beta*sin(theta)\n";

static void assert_equations(const char *model, enum lgv_equations which, enum lgv_markup markup, const char *wanted) {
    char *page = equations(model, which, markup);
    assert_string_equal(page, wanted);
    free(page);
}

static void test_texts(void **state) {
    (void)state;
    assert_equations(pendulum, LGV_EQUATIONS_DEFINITION, LGV_PLAIN,
                     "H = p_theta^2/2 - omega_0^2*cos(theta)\nh = beta*sin(theta)\n");
    assert_equations(pendulum, LGV_EQUATIONS_STRATONOVICH, LGV_PLAIN,
                     "dtheta = p_theta dt\n"
                     "dp_theta = -omega_0^2*sin(theta) dt - beta*cos(theta) o dW\n");
    assert_equations(pendulum, LGV_EQUATIONS_ITO, LGV_LATEX,
                     "\\begin{aligned}\n"
                     "\\mathrm{d}\\theta &= p_{\\theta} \\, \\mathrm{d}t \\\\\n"
                     "\\mathrm{d}p_{\\theta} &= -{\\omega_{0}}^{2} \\, \\sin\\left(\\theta\\right) \\, \\mathrm{d}t"
                     " - \\beta \\, \\cos\\left(\\theta\\right) \\, \\mathrm{d}W \\\\\n"
                     "\\end{aligned}\n");
    assert_equations("coordinates: {θ: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + θ^2/2\n"
                     "langevin: {friction: 0.5, temperature: 2.25}\n",
                     LGV_EQUATIONS_ITO, LGV_PLAIN, "dθ = p dt\ndp = (-p/2 - θ) dt + 3/2 dB\n");
    assert_equations("coordinates: {x: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/(2*pi) + cos(2*pi*x)/(4*pi^2)\n"
                     "langevin: {friction: 0.1, temperature: 1}\n",
                     LGV_EQUATIONS_ITO, LGV_PLAIN,
                     "dx = p/pi dt\ndp = (sin(2*pi*x)/(2*pi) - p/(10*pi)) dt + sqrt(1/5) dB\n");
    assert_equations("coordinates: {x: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + 3.14159265*x^2/2\n",
                     LGV_EQUATIONS_ITO, LGV_PLAIN, "dx = p dt\ndp = -3.14159265*x dt\n");
    assert_equations("coordinates: {x: 1, y: 0}\nmomenta: {px: 0, py: 1}\nkinetic: {mass: 1}\npotential: y\n"
                     "constraints: x^2 + y^2 - 1\n",
                     LGV_EQUATIONS_ITO, LGV_PLAIN,
                     "dx = px dt\ndy = py dt\ndpx = 2*x dlambda\ndpy = -dt + 2*y dlambda\n");
    assert_equations("coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: if(q > 0 and q < 1, q, -q)*p\n",
                     LGV_EQUATIONS_DEFINITION, LGV_PLAIN, "H = if(q > 0 and q < 1, q, -q)*p\n");
    static const char mixed[] = "coordinates: {q: 0}\nmomenta: {p: 1}\n"
                                "hamiltonian: if((q < 1 or q > 2) and p < 3 or q < t, q, -q)*p + (1 + (q > 5))\n";
    assert_equations(mixed, LGV_EQUATIONS_DEFINITION, LGV_PLAIN,
                     "H = if((q < 1 or q > 2) and p < 3 or q < t, q, -q)*p + 1 + (q > 5)\n");
    assert_equations(mixed, LGV_EQUATIONS_STRATONOVICH, LGV_PLAIN,
                     "dq = if((q < 1 or 2 < q) and p < 3 or q < t, q, -q) dt\n"
                     "dp = -p*if((q < 1 or 2 < q) and p < 3 or q < t, 1, -1) dt\n");
}

/* noise_ito: the Ito form has the drift of H alone, whatever was taken from H for it. */
static void test_ito(void **state) {
    (void)state;
    static const char head[] = "coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + q^2/2\n";
    static const struct {
        const char *noise, *ito, *stratonovich;
    } row[] = {
        {"noise_ito: p + q^3/3\n", "dq = p dt + dW\ndp = -q dt - q^2 dW\n",
         "dq = p dt + o dW\ndp = -q^2 o dW\n"},
        {"noise_ito: p^4/4 - 2*q\n", "dq = p dt + p^3 dW\ndp = -q dt + 2 dW\n", NULL},
        {"noise_ito: {kick: sin(q), jump: p^2}\n", "dq = p dt + 2*p dW_jump\ndp = -q dt - cos(q) dW_kick\n",
         "dq = p dt + 2*p o dW_jump\ndp = -q dt - cos(q) o dW_kick\n"},
        {"noise_ito: (q + 2*p)^3\n", NULL, NULL},
        {"noise_ito: each(k=1..2, p + k*q^2)\n", "dq = p dt + dW_1 + dW_2\ndp = -q dt - 2*q dW_1 - 4*q dW_2\n",
         "dq = p dt + o dW_1 + o dW_2\ndp = (3 - q) dt - 2*q o dW_1 - 4*q o dW_2\n"},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        char text[400];
        snprintf(text, sizeof text, "%s%s", head, row[k].noise);
        const double x[] = {0.7, -0.4};
        if (row[k].ito) assert_equations(text, LGV_EQUATIONS_ITO, LGV_PLAIN, row[k].ito);
        if (row[k].stratonovich)
            assert_equations(text, LGV_EQUATIONS_STRATONOVICH, LGV_PLAIN, row[k].stratonovich);
        if (k != 2) check_rows(text, LGV_EQUATIONS_STRATONOVICH, x); /* names are not read again here */
        if (k != 2) check_rows(text, LGV_EQUATIONS_ITO, x);
    }
}

/* On groups momenta turn, m x h_m o dW, so that noise of momenta alone has a correction of Ito. */
static void test_rotations(void **state) {
    (void)state;
    static const char top[] = "coordinates: {R in SO3: [0.4, 0, 0]}\nmomenta: {m: [0, 0, 2]}\n"
                              "kinetic: {inertia: [1, 1, 0.6]}\npotential: R.zz\nnoise: [0.1*m.x, R.zx]\n";
    static const char coupled[] =
        "coordinates: {b in SE3 coupled: {position: [0, 0, 1], rotation: [0.4, 0, 0]}}\n"
        "momenta: {p: {linear: [1, 0, 0], angular: [0, 0, 2]}}\n"
        "kinetic: {inertia: {b: {angular: 1, linear: 2}}}\npotential: b.position.z\nnoise: b.rotation.zx\n";
    static const char alone[] = "momenta: {p in se3*: {linear: [1, 0, 0], angular: [0, 0, 2]}}\n"
                                "hamiltonian: dot(p.linear, p.angular)\nnoise: p.linear.x*p.angular.z\n";
    static const char lagrangian[] =
        "coordinates: {R in SO3: [0.4, 0, 0], s: 1}\nvelocities: {w: [0, 0, 2], u: 0}\n"
        "lagrangian: dot(w, w)/2 + s^2*w.x^2 + u^2/2 - R.zz\nnoise: 0.1*R.zx\n";
    assert_equations(top, LGV_EQUATIONS_STRATONOVICH, LGV_PLAIN,
                     "dxi = dH/dm dt + sum(k, dh_k/dm o dW_k)\ndR = R hat(dxi)\n"
                     "dm = m x dxi - dH/dR dt - sum(k, dh_k/dR o dW_k)\n");
    assert_equations(top, LGV_EQUATIONS_ITO, LGV_PLAIN,
                     "dxi = dH/dm dt + sum(k, dh_k/dm dW_k)\ndR = R hat(dxi) + 1/2 sum(k, {{R, h_k}, h_k}) dt\n"
                     "dm = m x dxi + 1/2 sum(k, {{m, h_k}, h_k}) dt - dH/dR dt - sum(k, dh_k/dR dW_k)\n");
    assert_equations(coupled, LGV_EQUATIONS_ITO, LGV_PLAIN,
                     "dxi = dH/dm dt\ndR = R hat(dxi)\ndeta = dH/dP dt\ndx = R deta\n"
                     "dm = m x dxi + P x deta - dH/dR dt - dh/dR dW\n"
                     "dP = P x dxi - R^T dH/dx dt - R^T dh/dx dW\n");
    assert_equations(alone, LGV_EQUATIONS_ITO, LGV_PLAIN,
                     "dxi = dH/dm dt + dh/dm dW\ndeta = dH/dP dt + dh/dP dW\n"
                     "dm = m x dxi + P x deta + 1/2 {{m, h}, h} dt\ndP = P x dxi + 1/2 {{P, h}, h} dt\n");
    assert_equations(lagrangian, LGV_EQUATIONS_ITO, LGV_PLAIN,
                     "dq = v dt\nd(dL/dv) = dL/dq dt - dh/dq dW\ndxi = w dt\ndR = R hat(dxi)\n"
                     "d(dL/dw) = dL/dw x dxi + dL/dR dt - dh/dR dW\n");
}

/* Every element is closed, and there is no bare & or <. */
static void assert_balanced(const char *page) {
    char open[64][16];
    size_t depth = 0;
    for (const char *s = strchr(page, '<'); s; s = strchr(s + 1, '<')) {
        size_t end = strcspn(s, ">"), n = strcspn(s + 1, " />");
        assert_true(s[end] == '>');
        if (s[1] == '/') {
            n = strcspn(s + 2, ">");
            assert_true(depth > 0 && strlen(open[depth - 1]) == n && strncmp(open[depth - 1], s + 2, n) == 0);
            depth--;
        } else {
            assert_true(depth < 64 && n < 16);
            memcpy(open[depth], s + 1, n);
            open[depth++][n] = 0;
        }
    }
    assert_int_equal(depth, 0);
}

static void test_mathml(void **state) {
    (void)state;
    static const char *const models[] = {
        "parameters: {N: 40}\ncoordinates: {\"x[N] in R3\": \"[i, 0, 0]\"}\nmomenta: {p: 0}\nkinetic: {mass: 1}\n"
        "potential: \"sum(i=1..N, j=i+1..N, 1/norm(x[i] - x[j]))\"\nnoise: \"each(k=1..N, x[k].y)\"\n",
        "coordinates: {R in SO3: [0.4, 0, 0]}\nmomenta: {m: [0, 0, 2]}\nkinetic: {inertia: [1, 1, 0.6]}\n"
        "potential: R.zz\nnoise: \"dot(R*[0,0,1], [1,0,0])\"\n",
        "coordinates: {b in SE3 coupled: {position: [0, 0, 1], rotation: [0.4, 0, 0]}}\nmomenta: {p: "
        "{linear: [1, 0, 0], angular: [0, 0, 2]}}\nkinetic: {inertia: {b: {angular: 1, linear: 2}}}\n"
        "potential: b.position.z\nnoise: [p.angular.x, b.position.x]\n",
        "coordinates: {q: 1}\nvelocities: {v: 0}\nlagrangian: v^4/4 + v^2/2 - q^2\nnoise: q\n",
        "coordinates: {q: 1}\nmomenta: {p: 0}\nhamiltonian: p^2/2 + if(q < 1, q^2/(1 + q^2), 1e-20*q)\n"};
    for (size_t k = 0; k < sizeof models / sizeof *models; k++)
        for (int which = 0; which < 3; which++) {
            char *page = equations(models[k], (enum lgv_equations)which, LGV_MATHML);
            assert_balanced(page);
            free(page);
            free(equations(models[k], (enum lgv_equations)which, LGV_LATEX));
        }
    struct lgv_error err = {0};
    char *out;
    assert_int_equal(lgv_model_equations(NULL, LGV_EQUATIONS_ITO, LGV_PLAIN, &out, &err), LGV_BAD_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_texts),
                                       cmocka_unit_test(test_ito), cmocka_unit_test(test_rotations),
                                       cmocka_unit_test(test_mathml)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
