/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of Galerkin methods: PsNrQu, a degree s and a quadrature rule with r nodes of order u, and for noise h(q) a
 * second rule:
 *
 *     P2N2Q2Lob   P1N1Q2GauN2Q2Lob   P3N3Q6Gau
 *
 * Behind the name: -J for noise weights of dW and J (see j_weights below), c for the correction of H by noise h(q) and
 * r for the same with a random coefficient (variational.c):
 *
 *     P1N1Q2Gau-c   P2N2Q4Gau-J   P2N2Q4Gau-Jc   P2N2Q2Lob-Jr   LobZ-r
 *
 *     Gau  Gauss-Legendre, order 2r          Lob  Gauss-Lobatto, order 2r-2      Rec  right end point, N1Q1
 *     Otr  open trapezoidal, N2Q2            Mil  Milne, N3Q4
 *
 * Gauss and Lobatto nodes are computed: roots of P_r and of P'_{r-1} by Newton's method from Chebyshev points.  The
 * table of a method holds weights, nodes and the Lagrange polynomials on control points nu/s (the result does not
 * depend on them). */
#include "method/rules.h"
#include "method/compose.h"
#include "method/modified.h"
#include "method/variational.h"
#include "base/base.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern const struct lgv_method lgv_method_galerkin;

/* P_n(x) and its derivative by the three-term recurrence. */
static void legendre(int n, long double x, long double *value, long double *slope) {
    long double a = 1, b = x;
    if (n == 0) b = 1, a = 0;
    for (int k = 2; k <= n; k++) {
        long double next = ((2 * k - 1) * x * b - (k - 1) * a) / k;
        a = b;
        b = next;
    }
    *value = b;
    *slope = n == 0 ? 0 : n * (x * b - a) / (x * x - 1);
}

/* A root of P_n, or of its derivative with (1 - x^2) P'' = 2x P' - n(n+1) P: Newton's method from x. */
static long double root(int n, bool of_slope, long double x) {
    for (int k = 0; k < 100; k++) {
        long double f, d, move;
        legendre(n, x, &f, &d);
        move = of_slope ? d / ((2 * x * d - n * (n + 1) * f) / (1 - x * x)) : f / d;
        x -= move;
        if (fabsl(move) < 1e-19L) break;
    }
    return x;
}

static void gauss(int n, struct lgv_rule *r) {
    for (int i = 0; i < n; i++) {
        long double x = root(n, false, -cosl(3.14159265358979323846L * (i + 0.75L) / (n + 0.5L))), f, d;
        legendre(n, x, &f, &d);
        r->node[i] = (double)((1 + x) / 2);
        r->weight[i] = (double)(1 / ((1 - x * x) * d * d));
    }
    if (n % 2) r->node[n / 2] = 0.5;
}

/* Inner nodes: P'_{n-1} = 0. */
static void lobatto(int n, struct lgv_rule *r) {
    int m = n - 1;
    for (int i = 0; i < n; i++) {
        long double x = -cosl(3.14159265358979323846L * i / m), f, d;
        if (i > 0 && i < m) x = root(m, true, x);
        if (i == 0 || i == m)
            f = (i == 0 && m % 2) ? -1 : 1;
        else
            legendre(m, x, &f, &d);
        r->node[i] = i == 0 ? 0 : i == m ? 1 : (double)((1 + x) / 2);
        r->weight[i] = (double)(1 / (n * (n - 1) * f * f));
    }
    if (n % 2) r->node[n / 2] = 0.5;
}

/* "N2Q2Lob" at *text; moves *text behind it. */
static bool parse_rule(const char **text, struct lgv_rule *r, char *why, size_t size) {
    int n = 0, q = 0, used = 0;
    char kind[4] = "";
    if (sscanf(*text, "N%2dQ%2d%3[A-Za-z]%n", &n, &q, kind, &used) != 3 || used == 0) {
        snprintf(why, size, "expected a rule like N2Q2Lob at '%s'", *text);
        return false;
    }
    int order;
    if (strcasecmp(kind, "Gau") == 0)
        order = 2 * n;
    else if (strcasecmp(kind, "Lob") == 0)
        order = n > 1 ? 2 * n - 2 : -1;
    else if (strcasecmp(kind, "Rec") == 0)
        order = n == 1 ? 1 : -1;
    else if (strcasecmp(kind, "Otr") == 0)
        order = n == 2 ? 2 : -1;
    else if (strcasecmp(kind, "Mil") == 0)
        order = n == 3 ? 4 : -1;
    else {
        snprintf(why, size, "unknown rule %s; known are Gau, Lob, Rec, Otr and Mil", kind);
        return false;
    }
    if (n < 1 || n > LGV_RULE_NODES || order < 0) {
        snprintf(why, size, "there is no %s rule with %d nodes", kind, n);
        return false;
    }
    if (q != order) {
        snprintf(why, size, "the %s rule with %d nodes has order %d, not %d: write N%dQ%d%s", kind, n, order, q, n,
                 order, kind);
        return false;
    }
    *r = (struct lgv_rule){.count = n, .order = order};
    if (strcasecmp(kind, "Gau") == 0)
        gauss(n, r);
    else if (strcasecmp(kind, "Lob") == 0)
        lobatto(n, r);
    else if (strcasecmp(kind, "Rec") == 0)
        r->node[0] = r->weight[0] = 1;
    else if (n == 2)
        r->node[0] = 1.0 / 3, r->node[1] = 2.0 / 3, r->weight[0] = r->weight[1] = 0.5;
    else
        for (int i = 0; i < 3; i++) r->node[i] = 0.25 * (i + 1), r->weight[i] = i == 1 ? -1.0 / 3 : 2.0 / 3;
    r->gauss = strcasecmp(kind, "Gau") == 0;
    *text += used;
    return true;
}

void lgv_rule_lagrange(int s, int mu, double x, double *value, double *slope) {
    *value = 1;
    *slope = 0;
    for (int k = 0; k <= s; k++) {
        if (k == mu) continue;
        double scale = (double)s / (mu - k);
        double term = scale;
        for (int j = 0; j <= s; j++)
            if (j != mu && j != k) term *= (x - (double)j / s) * s / (mu - j);
        *slope += term;
        *value *= (x - (double)k / s) * scale;
    }
}

size_t lgv_galerkin_table(const struct lgv_galerkin *g, double *out) {
    int s = g->degree, r = g->rule.count, n = g->noise.count;
    bool diagonal = true, dz = false;
    struct lgv_nystrom f;
    size_t k = 0;
    for (int i = 0; i < r; i++) {
        diagonal &= g->beta[i] == g->rule.weight[i] && g->gamma[i] == 0;
        dz |= g->gamma[i] != 0;
    }
    lgv_nystrom_of(g, &f);
    double head[] = {s, r, n, diagonal, dz, g->general, f.count, f.before, f.implicit, f.end, f.carry};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) out[k++] = head[i];
    for (int i = 0; i < r; i++) out[k++] = g->rule.weight[i];
    for (int i = 0; i < r; i++) out[k++] = n ? 0 : g->beta[i];
    for (int i = 0; i < r; i++) out[k++] = n ? 0 : g->gamma[i];
    for (int i = 0; i < r; i++) out[k++] = g->rule.node[i];
    for (int slope = 0; slope < 2; slope++)
        for (int i = 0; i < r; i++)
            for (int mu = 0; mu <= s; mu++) {
                double v, d;
                lgv_rule_lagrange(s, mu, g->rule.node[i], &v, &d);
                out[k++] = slope ? d : v;
            }
    for (int j = 0; j < n; j++) out[k++] = g->noise.weight[j];
    for (int j = 0; j < n; j++) out[k++] = 0;
    for (int j = 0; j < n; j++) out[k++] = g->noise.node[j];
    for (int j = 0; j < n; j++)
        for (int mu = 0; mu <= s; mu++) {
            double v, d;
            lgv_rule_lagrange(s, mu, g->noise.node[j], &v, &d);
            out[k++] = v;
        }
    const double *column[] = {f.node, f.alpha, f.beta, f.gamma};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < f.count; j++) out[k++] = column[i][j];
    for (int i = 0; f.count && i <= f.count; i++)
        for (int j = 0; j < f.count; j++) out[k++] = f.r[i][j];
    return k;
}

/* LobZ: P2N3Q4Lob with noise weights beta_i dW + gamma_i J, beta = (-k, 2k, 1-k), k = sqrt2/3, gamma = (1, 0, -1). */
static void lobz(struct lgv_galerkin *g) {
    const char *text = "N3Q4Lob";
    char ignore[64];
    const double k = 0.47140452079103168293;
    double beta[] = {-k, 2 * k, 1 - k}, gamma[] = {1, 0, -1};
    g->degree = 2;
    parse_rule(&text, &g->rule, ignore, sizeof ignore);
    memcpy(g->beta, beta, sizeof beta);
    memcpy(g->gamma, gamma, sizeof gamma);
}

/* -J: the force of the noise is that of a path with velocity dW + 12 (1/2 - tau) y, y = J - dW/2, on the nodes of the
 * rule, the best linear one; 12 is 1 over the variance of the nodes, which the rule may have another value of: nu = b,
 * kappa_i = b_i (1/2 - c_i) / (sqrt 12 V).  On the rule N2Q2Lob these are the weights of VZ. */
static bool j_weights(struct lgv_galerkin *g, char *why, size_t size) {
    const struct lgv_rule *r = &g->rule;
    double V = 0, mean = 0;
    for (int i = 0; i < r->count; i++) {
        V += r->weight[i] * (0.5 - r->node[i]) * (0.5 - r->node[i]);
        mean += r->weight[i] * r->node[i];
    }
    if (g->noise.count || !(fabs(V) > 1e-9) || fabs(mean - 0.5) > 1e-12) {
        snprintf(why, size, "weights of J need a rule of order 2 with several nodes, and no other rule for the noise");
        return false;
    }
    for (int i = 0; i < r->count; i++) {
        double gamma = r->weight[i] * (0.5 - r->node[i]) / V, beta = r->weight[i] - gamma / 2;
        g->gamma[i] = gamma;
        g->beta[i] = fabs(beta) < 1e-15 ? 0 : beta;
    }
    return true;
}

/* Is there noise with J? */
static bool with_j(const struct lgv_galerkin *g) {
    for (int i = 0; i < g->rule.count; i++)
        if (g->gamma[i] != 0) return true;
    return false;
}

/* What stands behind the rules, as -Jc. */
static bool parse_noise(const char *text, struct lgv_galerkin *g, char *why, size_t size) {
    if (*text == 0) return true;
    bool j = *text == '-' && toupper((unsigned char)text[1]) == 'J' && !with_j(g);
    const char *last = text + 1 + j;
    int letter = *text == '-' ? tolower((unsigned char)*last) : 0;
    if ((letter != 'c' && letter != 'r' && !(j && letter == 0)) || (letter && last[1])) {
        snprintf(why, size, "unexpected '%s' at the end of the name; known are -J, -c, -Jc and -Jr", text);
        return false;
    }
    if (j && !j_weights(g, why, size)) return false;
    g->correction = letter == 'c' ? LGV_CORRECTION_MEAN : letter == 'r' ? LGV_CORRECTION_RANDOM : LGV_CORRECTION_NONE;
    return lgv_galerkin_corrects(g, why, size);
}

bool lgv_galerkin_parse(const char *name, struct lgv_galerkin *g, char *why, size_t size) {
    char *end;
    bool general = strncasecmp(name, "general-", 8) == 0;
    *g = (struct lgv_galerkin){.general = general};
    if (general) name += 8;
    if (strncasecmp(name, "LobZ", 4) == 0 && (name[4] == 0 || name[4] == '-')) {
        lobz(g);
        return parse_noise(name + 4, g, why, size);
    }
    if ((name[0] != 'P' && name[0] != 'p') || !isdigit((unsigned char)name[1])) {
        snprintf(why, size, "not a name of the form PsNrQu");
        return false;
    }
    long s = strtol(name + 1, &end, 10);
    if (s < 1 || s > LGV_GALERKIN_DEGREE) {
        snprintf(why, size, "the degree %ld must lie between 1 and %d", s, LGV_GALERKIN_DEGREE);
        return false;
    }
    g->degree = (int)s;
    const char *text = end;
    if (!parse_rule(&text, &g->rule, why, size)) return false;
    if (*text && *text != '-' && !parse_rule(&text, &g->noise, why, size)) return false;
    if (*text && *text != '-') {
        snprintf(why, size, "unexpected '%s' at the end of the name", text);
        return false;
    }
    if (g->rule.count < g->degree) {
        snprintf(why, size,
                 "degree %d needs a rule with at least %d nodes: with fewer the equations have no unique solution",
                 g->degree, g->degree);
        return false;
    }
    memcpy(g->beta, g->rule.weight, sizeof g->beta);
    return parse_noise(text, g, why, size);
}

int lgv_rule_order(const struct lgv_rule *r, int most) {
    double power[LGV_RULE_NODES];
    for (int i = 0; i < r->count; i++) power[i] = r->weight[i];
    for (int k = 1; k <= most; k++) {
        double sum = 0;
        for (int i = 0; i < r->count; i++) {
            sum += power[i];
            power[i] *= r->node[i];
        }
        if (!(fabs(sum - 1.0 / k) < 1e-12)) return k - 1;
    }
    return most;
}

/* ---- descriptions ---- */

char *lgv_table_text(const char *defines, const char *array, const double *table, size_t count) {
    struct lgv_text t = {0};
    lgv_text_add(&t, "%sstatic const double %s[] = {", defines, array);
    for (size_t i = 0; i < count; i++) lgv_text_add(&t, "%s%.17g", i ? ", " : "", table[i]);
    lgv_text_add(&t, "};\n");
    if (!t.failed) return t.data;
    lgv_text_free(&t);
    return NULL;
}

/* The same method for models with additive noise or none, when only that makes its Nystroem form explicit. */
static bool additive_form(const struct lgv_galerkin *g, struct lgv_galerkin *form, double *table, size_t *count) {
    double implicit = (lgv_galerkin_table(g, table), table[8]);
    *form = *g;
    form->additive = true;
    *count = lgv_galerkin_table(form, table);
    return !g->general && !g->additive && implicit > 0 && table[6] > 0 && table[8] == 0;
}

static char *constants_text(const struct lgv_galerkin *g, const double *table, size_t count) {
    char defines[600];
    snprintf(defines, sizeof defines,
             "#define GALERKIN_S %dL\n#define GALERKIN_R %dL\n#define GALERKIN_N %dL\n#define GALERKIN_DIAGONAL %d\n"
             "#define METHOD_DZ %d\n#define GALERKIN_GENERAL %d\n#define NYS_N %.0fL\n#define NYS_PRE %.0fL\n"
             "#define NYS_IMP %.0fL\n#define NYS_END (%.0fL)\n#define NYS_CARRY %d\n",
             g->degree, g->rule.count, g->noise.count, table[3] != 0, table[4] != 0, g->general, table[6], table[7],
             table[8], table[9], table[10] != 0);
    return lgv_table_text(defines, "galerkin_table", table, count);
}

/* Everything a kernel needs of the method, in the form that fits the model. */
static char *both_constants(const struct lgv_galerkin *g, const double *table, size_t count) {
    struct lgv_galerkin form;
    double other[LGV_GALERKIN_TABLE];
    size_t length;
    char *plain = constants_text(g, table, count);
    if (!plain || !additive_form(g, &form, other, &length)) return plain;
    char *additive = constants_text(&form, other, length);
    struct lgv_text t = {0};
    if (additive) lgv_text_add(&t, "#if MODEL_STEADY_NOISE\n%s#else\n%s#endif\n", additive, plain);
    free(plain);
    free(additive);
    if (additive && !t.failed) return t.data;
    lgv_text_free(&t);
    return NULL;
}

/* The noise of a method as variational.c has it.  In the Nystroem form Q_i = q + dt c_i H_p(p - sum_k R_ik w_k grad h),
 * so A_ik = c_i R_ik.  False: it has none. */
static bool weights_of(const struct lgv_galerkin *g, struct lgv_weights *w) {
    struct lgv_nystrom f;
    struct lgv_galerkin form = *g;
    form.additive = false;
    lgv_nystrom_of(&form, &f);
    *w = (struct lgv_weights){.count = f.count};
    for (int i = 0; i < f.count; i++) {
        w->c[i] = f.node[i];
        w->nu[i] = f.beta[i] + f.gamma[i] / 2; /* J = dW/2 + psi/sqrt 12 */
        w->kappa[i] = f.gamma[i] * 0.28867513459481288;
        for (int k = 0; k < f.count; k++) w->A[i][k] = f.node[i] * f.r[i][k];
    }
    return f.count > 0;
}

bool lgv_galerkin_corrects(const struct lgv_galerkin *g, char *why, size_t size) {
    struct lgv_weights w;
    const bool random = g->correction == LGV_CORRECTION_RANDOM;
    if (g->correction == LGV_CORRECTION_NONE) return true;
    if (!weights_of(g, &w))
        snprintf(why, size, "the equations of this rule do not give the mean that a correction would make up for");
    else if (random && !with_j(g))
        snprintf(why, size, "a random coefficient needs noise weights of J");
    else if (!random && lgv_weights_excess(&w) == 0)
        snprintf(why, size, "the mean is right as it is: there is nothing to correct");
    else
        return true;
    return false;
}

/* What a rule can do with noise h(q,p): the term dW^2 / 2 must come out right, which a rule of order 2 does for dt
 * and dW alike; own weights or nodes of the noise are left to h(q), where there is no such term. */
static unsigned galerkin_needs(const struct lgv_galerkin *g, bool diagonal) {
    if (g->correction) return LGV_NEEDS_NOISE_OF_Q;
    if (g->noise.count || !diagonal || g->rule.order < 2) return LGV_NEEDS_NOISE_OF_Q;
    return g->degree == 1 && g->rule.count > 1 ? LGV_NEEDS_SEPARABLE_NOISE : 0;
}

/* Order without noise of a rule of order u on degree s <= u.  For r = s nodes the method is a partitioned Runge-Kutta
 * method: a is that of collocation, C(s), which with B(u) gives D(u - s); its symplectic partner abar has then C(u - s)
 * and D(s), and the simplifying assumptions give min(u, 2(u - s) + 2), where u <= 2s.  For r > s it is measured. */
static int galerkin_order(int s, int u) {
    int order = u < 2 * s ? u : 2 * s, limit = 2 * (u - s) + 2;
    return order < limit ? order : limit;
}

/* Nodes and weights are the same seen from the end of the step. */
static bool is_symmetric(const struct lgv_rule *r) {
    for (int i = 0; i < r->count; i++) {
        bool found = false;
        for (int j = 0; j < r->count; j++)
            found = found || (fabs(r->node[i] + r->node[j] - 1) < 1e-14 && fabs(r->weight[i] - r->weight[j]) < 1e-14);
        if (!found) return false;
    }
    return true;
}

/* The same of noise weights that are not those of a rule. */
static bool even(const struct lgv_galerkin *g) {
    for (int i = 0; i < g->rule.count; i++)
        for (int j = 0; j < g->rule.count; j++)
            if (fabs(g->rule.node[i] + g->rule.node[j] - 1) < 1e-14 && fabs(g->beta[i] - g->beta[j]) > 1e-14)
                return false;
    return true;
}

/* Degree 1: one velocity, so that for separable H the momenta of all nodes are one, in the middle.  As many nodes as
 * the degree: Q_i = q + dt sum_j a_ij V_j, a_ij the integral of the Lagrange polynomial of node j up to c_i, and the
 * momenta are at sum_j b_j (1 - a_ji/b_i). */
static void modified_of(const struct lgv_galerkin *g, struct lgv_method *m) {
    const struct lgv_rule *r = &g->rule;
    double chat[LGV_RULE_NODES];
    const bool full = r->count == g->degree;
    struct lgv_rule exact = {.count = LGV_RULE_NODES / 2};
    if (!full && g->degree > 1) return;
    gauss(exact.count, &exact);
    for (int i = 0; i < r->count; i++) {
        chat[i] = full ? 1 : 0.5;
        for (int j = 0; j < r->count && full; j++)
            for (int k = 0; k < exact.count; k++) {
                double x = r->node[j] * exact.node[k], l = r->node[j] * exact.weight[k];
                for (int n = 0; n < r->count; n++)
                    if (n != i) l *= (x - r->node[n]) / (r->node[i] - r->node[n]);
                chat[i] -= r->weight[j] * l / r->weight[i];
            }
    }
    lgv_modified_set(m, r->count, r->weight, r->node, chat);
    if (!full) m->modified[1] = NAN;
}

static bool describe(const struct lgv_galerkin *g, const double *table, bool lobz, struct lgv_method *m, char *doc,
                     size_t size) {
    int s = g->degree;
    bool second = g->noise.count > 0, diagonal = table[3] != 0;
    struct lgv_galerkin form;
    double other[LGV_GALERKIN_TABLE];
    struct lgv_weights w;
    size_t length;
    m->order = galerkin_order(s, g->rule.order);
    modified_of(g, m);
    m->surplus_momenta = g->rule.count > s;
    m->quadratic_invariants = g->rule.gauss && g->rule.count == s && !second && diagonal;
    m->needs = galerkin_needs(g, diagonal);
    m->uses_dz = table[4] != 0;
    if ((m->uses_dz || g->correction) && weights_of(g, &w) &&
        !lgv_weights_judge(&w, (enum lgv_correction)g->correction, m))
        return false;
    m->symmetric = is_symmetric(&g->rule) && is_symmetric(&g->noise) && !m->uses_dz && !g->correction && even(g);
    if (table[6] > 0 && !g->general) { /* the Nystroem form */
        m->steady_kinetic = true;
        m->flat_kinetic = s > 1;
        m->explicit_separable = table[8] == 0;
        m->implicit_sets = s == 1 && table[8] > 1 ? 1 : (unsigned)table[8];
        m->face_separable = LGV_FACE_K1 | (table[8] > 0 ? LGV_FACE_K2 : 0) | (table[10] != 0 ? LGV_FACE_FORCE : 0);
        m->explicit_additive = additive_form(g, &form, other, &length);
        if (m->explicit_additive && other[10] != 0) m->face_separable |= LGV_FACE_FORCE;
    }
    snprintf(doc, size, "Galerkin method of degree %d with a quadrature rule of %d node%s and order %d%s%s.%s", s,
             g->rule.count, g->rule.count > 1 ? "s" : "", g->rule.order,
             second               ? ", and a rule of its own for the noise h(q)"
             : !diagonal && !lobz ? ", and noise weights of their own for h(q)"
                                  : "",
             m->random            ? ", on an H corrected by dt sum k_ij grad h_i . H_pp grad h_j / 2 with random k"
             : m->correction != 0 ? ", on an H corrected by a multiple of dt sum grad h . H_pp grad h"
                                  : "",
             m->explicit_additive ? " Explicit for separable models with additive noise or none." : "");
    m->claims =
        m->quadratic_invariants
            ? "Symplectic; keeps every quadratic invariant of H and all h, and momentum maps of symmetries that act "
              "linearly on the coordinates or shift them."
            : "Symplectic; keeps momentum maps of symmetries that act linearly on the coordinates or shift them.";
    return true;
}

/* Everything the description points to is its own memory. */
static bool fill(const char *name, const struct lgv_galerkin *g, struct lgv_method *m) {
    double table[LGV_GALERKIN_TABLE];
    char doc[400];
    size_t count = lgv_galerkin_table(g, table);
    bool lobz = strncasecmp(name, "LobZ", 4) == 0;
    *m = lgv_method_galerkin;
    bool described = describe(g, table, lobz, m, doc, sizeof doc);
    if (m->correction != 0 || m->uses_dz)
        m->paper = "derived for this project, on the rule of Holm & Tyranowski (2018), doi 10.1007/s10543-018-0720-2";
    if (lobz)
        m->paper =
            "derived for this project: P2N3Q4Lob of Holm & Tyranowski (2018), doi 10.1007/s10543-018-0720-2, "
            "with noise weights (-k, 2k, 1-k) dW + (1, 0, -1) J, k = sqrt 2 / 3";
    double *values = lgv_new(count, sizeof *values);
    if (values) memcpy(values, table, count * sizeof *values);
    m->values = values;
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    m->constants = both_constants(g, table, count);
    return described && values && m->name && m->doc && m->constants;
}

struct lgv_method *lgv_galerkin_describe(const char *name, const struct lgv_galerkin *g) {
    struct lgv_method *m = lgv_new(1, sizeof *m);
    bool ok = m && fill(name, g, m);
    if (ok) m->paper = "given in the model file";
    if (ok) return m;
    lgv_method_free(m);
    return NULL;
}

struct named {
    const struct lgv_galerkin *g;
    const char *alias;
};

static bool fill_named(const char *name, const void *what, struct lgv_method *m) {
    const struct named *n = what;
    bool ok = fill(name, n->g, m);
    m->aliases = n->alias;
    return ok;
}

const struct lgv_method *lgv_galerkin_method(const char *name, const char *alias, const struct lgv_galerkin *g) {
    struct named what = {g, alias};
    return lgv_method_keep(name, fill_named, &what);
}
