/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stochastic partitioned Runge-Kutta methods (methods/sprk.c) from their coefficients: the table, the symplectic
 * conditions
 *
 *     alpha_i abar_ij + alpha_j a_ji = alpha_i alpha_j        beta_i abar_ij + alpha_j b_ji = beta_i alpha_j
 *     alpha_i bbar_ij + beta_j a_ji = alpha_i beta_j          beta_i bbar_ij + beta_j b_ji = beta_i beta_j
 *
 * (Ma & Ding (2015)), the order without noise from the order conditions up to 4, and what is needed of the
 * noise. */
#include "method/rules.h"
#include "base/base.h"
#include "method/modified.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N LGV_RULE_NODES
#define EXACT 1e-12
#define ROUND_OFF 1e-15 /* coefficients below it are zeros that were computed */

extern const struct lgv_method lgv_method_sprk;

double lgv_tableau_violation(const struct lgv_tableau *t, const char **condition, int *row, int *column) {
    static const char *const text[] = {
        "alpha_i abar_ij + alpha_j a_ji = alpha_i alpha_j", "beta_i abar_ij + alpha_j b_ji = beta_i alpha_j",
        "alpha_i bbar_ij + beta_j a_ji = alpha_i beta_j", "beta_i bbar_ij + beta_j b_ji = beta_i beta_j"};
    double worst = -1;
    for (int i = 0; i < t->stages; i++)
        for (int j = 0; j < t->stages; j++) {
            double violation[] = {t->alpha[i] * t->abar[i][j] + t->alpha[j] * t->a[j][i] - t->alpha[i] * t->alpha[j],
                                  t->beta[i] * t->abar[i][j] + t->alpha[j] * t->b[j][i] - t->beta[i] * t->alpha[j],
                                  t->alpha[i] * t->bbar[i][j] + t->beta[j] * t->a[j][i] - t->alpha[i] * t->beta[j],
                                  t->beta[i] * t->bbar[i][j] + t->beta[j] * t->b[j][i] - t->beta[i] * t->beta[j]};
            for (int k = 0; k < 4; k++) {
                if (!(fabs(violation[k]) > worst)) continue;
                worst = fabs(violation[k]);
                *condition = text[k];
                *row = i + 1;
                *column = j + 1;
            }
        }
    return worst;
}

/* ---- order conditions of partitioned methods, every vertex of a tree being of either kind ---- */

static const double (*matrix(const struct lgv_tableau *t, int kind))[N] {
    return kind ? t->abar : t->a;
}

static void apply(const struct lgv_tableau *t, int kind, const double *x, double *out) {
    for (int i = 0; i < t->stages; i++) {
        out[i] = 0;
        for (int j = 0; j < t->stages; j++) out[i] += matrix(t, kind)[i][j] * x[j];
    }
}

/* sum_i alpha_i x_i y_i z_i = want? */
static bool holds(const struct lgv_tableau *t, const double *x, const double *y, const double *z, double want) {
    double sum = 0;
    for (int i = 0; i < t->stages; i++) sum += t->alpha[i] * x[i] * y[i] * z[i];
    return fabs(sum - want) < EXACT;
}

int lgv_tableau_order(const struct lgv_tableau *t) {
    double one[N], c[2][N], Ac[2][2][N], x[N];
    bool good[5] = {true, true, true, true, true};
    for (int i = 0; i < t->stages; i++) one[i] = 1;
    good[1] = holds(t, one, one, one, 1);
    for (int k = 0; k < 2; k++) apply(t, k, one, c[k]);
    for (int k = 0; k < 8; k++) {
        int f = k & 1, g = k >> 1 & 1, h = k >> 2;
        good[2] &= holds(t, c[f], one, one, 1.0 / 2);
        apply(t, f, c[g], Ac[f][g]);
        good[3] &= holds(t, c[f], c[g], one, 1.0 / 3) && holds(t, Ac[f][g], one, one, 1.0 / 6);
        good[4] &= holds(t, c[f], c[g], c[h], 1.0 / 4) && holds(t, c[h], Ac[f][g], one, 1.0 / 8);
        apply(t, h, Ac[f][g], x);
        good[4] &= holds(t, x, one, one, 1.0 / 24);
        double square[N];
        for (int i = 0; i < t->stages; i++) square[i] = c[f][i] * c[g][i];
        apply(t, h, square, x);
        good[4] &= holds(t, x, one, one, 1.0 / 12);
    }
    int order = 0;
    while (order < 4 && good[order + 1]) order++;
    return order;
}

/* The terms dW^2/2 of h(q,p) come out right: sum beta_i b_ij = sum beta_i bbar_ij = 1/2. */
static bool any_noise(const struct lgv_tableau *t) {
    double sum[2] = {0};
    for (int i = 0; i < t->stages; i++)
        for (int j = 0; j < t->stages; j++) {
            sum[0] += t->beta[i] * t->b[i][j];
            sum[1] += t->beta[i] * t->bbar[i][j];
        }
    return fabs(sum[0] - 0.5) < EXACT && fabs(sum[1] - 0.5) < EXACT;
}

/* ---- the table ---- */

static bool zero(double x) {
    return fabs(x) < ROUND_OFF;
}

/* An order of the stages Q_1..Q_r (0..r-1), P_1..P_r (r..2r-1) in which separable models need earlier stages only. */
static bool stage_order(const struct lgv_tableau *t, int *order) {
    int r = t->stages, known = 0;
    bool done[2 * N] = {false};
    for (int found = 1; found;) {
        found = 0;
        for (int s = 0; s < 2 * r; s++) {
            bool ready = !done[s];
            for (int j = 0; ready && j < r; j++) {
                bool needs = s < r ? !zero(t->a[s][j]) || !zero(t->b[s][j])
                                   : !zero(t->abar[s - r][j]) || !zero(t->bbar[s - r][j]);
                ready = !needs || done[s < r ? r + j : j];
            }
            if (!ready) continue;
            done[s] = true;
            order[known++] = s;
            found = 1;
        }
    }
    return known == 2 * r;
}

size_t lgv_tableau_table(const struct lgv_tableau *t, double *out) {
    int r = t->stages, order[2 * N] = {0};
    bool same = true, explicit_stages = stage_order(t, order);
    const double(*const coefficients[4])[N] = {t->a, t->abar, t->b, t->bbar};
    size_t k = 3;
    for (int i = 0; i < r; i++) {
        same &= zero(t->alpha[i] - t->beta[i]);
        for (int j = 0; j < r; j++) same &= zero(t->a[i][j] - t->b[i][j]) && zero(t->abar[i][j] - t->bbar[i][j]);
    }
    out[0] = r;
    out[1] = same;
    out[2] = explicit_stages;
    for (int i = 0; i < 2 * r; i++) out[k++] = explicit_stages ? order[i] : i;
    for (int i = 0; i < r; i++) out[k++] = t->alpha[i];
    for (int i = 0; i < r; i++) out[k++] = t->beta[i];
    for (int i = 0; i < r; i++) {
        double c = 0;
        for (int j = 0; j < r; j++) c += t->a[i][j];
        out[k++] = c;
    }
    for (int b = 0; b < 4; b++)
        for (int i = 0; i < r; i++)
            for (int j = 0; j < r; j++) out[k++] = zero(coefficients[b][i][j]) ? 0 : coefficients[b][i][j];
    return k;
}

/* ---- symmetry in time ---- */

/* The adjoint has the stages in the opposite order, with the coefficients w_j - c_ij: is it the method itself? */
static bool turns_into_itself(int s, const double (*c)[N], const double *w) {
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++)
            if (!(fabs(c[s - 1 - i][s - 1 - j] + c[i][j] - w[j]) <= EXACT)) return false;
    for (int j = 0; j < s; j++)
        if (!(fabs(w[j] - w[s - 1 - j]) <= EXACT)) return false;
    return true;
}

static bool is_symmetric(const struct lgv_tableau *t) {
    return turns_into_itself(t->stages, t->a, t->alpha) && turns_into_itself(t->stages, t->abar, t->alpha) &&
           turns_into_itself(t->stages, t->b, t->beta) && turns_into_itself(t->stages, t->bbar, t->beta);
}

/* ---- the description ---- */

static void modified_of(const struct lgv_tableau *t, struct lgv_method *m) {
    double one[N], c[2][N];
    for (int i = 0; i < t->stages; i++) one[i] = 1;
    for (int k = 0; k < 2; k++) apply(t, k, one, c[k]);
    lgv_modified_set(m, t->stages, t->alpha, c[0], c[1]);
}

static void describe(const struct lgv_tableau *t, struct lgv_method *m, char *doc, size_t size) {
    const char *condition;
    int i, j;
    m->order = lgv_tableau_order(t);
    modified_of(t, m);
    m->symmetric = is_symmetric(t);
    m->violation = lgv_tableau_violation(t, &condition, &i, &j);
    m->symplectic = m->linear_momentum_maps = m->violation <= LGV_TABLEAU_SYMPLECTIC;
    m->needs = any_noise(t) ? 0 : LGV_NEEDS_NOISE_OF_Q;
    m->quadratic_invariants = m->symplectic;
    for (int k = 0; k < t->stages; k++)
        for (int l = 0; l < t->stages; l++)
            m->quadratic_invariants &=
                fabs(t->a[k][l] - t->abar[k][l]) < EXACT && fabs(t->b[k][l] - t->bbar[k][l]) < EXACT;
    if (m->symplectic)
        snprintf(doc, size,
                 "Stochastic partitioned Runge-Kutta method with %d stage%s. The symplectic conditions hold to %.1g.",
                 t->stages, t->stages > 1 ? "s" : "", m->violation);
    else
        snprintf(doc, size,
                 "Stochastic partitioned Runge-Kutta method with %d stage%s. Not symplectic: %s is violated by %.3g at "
                 "i = %d, j = %d.",
                 t->stages, t->stages > 1 ? "s" : "", condition, m->violation, i, j);
    m->claims = m->quadratic_invariants ? "Symplectic; keeps every quadratic invariant of H and all h."
                : m->symplectic ? "Symplectic; keeps momentum maps of symmetries that act linearly on the "
                                  "coordinates or shift them."
                                : "Nothing: the coefficients do not satisfy the symplectic conditions.";
}

struct lgv_method *lgv_tableau_describe(const char *name, const struct lgv_tableau *t) {
    double table[LGV_TABLEAU_TABLE];
    char doc[300], defines[200];
    struct lgv_method *m = lgv_new(1, sizeof *m);
    if (!m) return NULL;
    size_t count = lgv_tableau_table(t, table);
    *m = lgv_method_sprk;
    describe(t, m, doc, sizeof doc);
    m->explicit_separable = table[2] != 0;
    if (m->explicit_separable) m->face_separable = LGV_FACE_K1;
    snprintf(defines, sizeof defines, "#define SPRK_R %dL\n#define SPRK_SAME %d\n#define SPRK_EXPLICIT %d\n", t->stages,
             table[1] != 0, table[2] != 0);
    double *values = lgv_new(count, sizeof *values);
    if (values) memcpy(values, table, count * sizeof *values);
    m->values = values;
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    m->constants = lgv_table_text(defines, "sprk_table", table, count);
    if (values && m->name && m->doc && m->constants) return m;
    lgv_method_free(m);
    return NULL;
}
