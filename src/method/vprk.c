/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Coefficients and descriptions of the variational partitioned Runge-Kutta methods (methods/vprk.c).
 *
 * A tableau (a, b) with a_1j = 0 and a_sj = b_j gives ahat_ij = 1 - a_ji / b_i, multipliers on the stages 1..s-1 and
 * constraints on the stages 2..s.  The constraints determine the multipliers when the matrix (sum_k a_ik ahat_kj), i
 * = 2..s, j = 1..s-1, is invertible: to lowest order in dt the constraints are dt^2 times it, times G M^-1 G^T lam. */
#include "method/vprk.h"
#include "base/base.h"
#include "method/compose.h"
#include "method/modified.h"
#include "method/variational.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern const struct lgv_method lgv_method_vprk;

#define TABLE (LGV_VPRK_STAGES * (4 + 5 * LGV_VPRK_STAGES))

/* ---- tableaux ---- */

bool lgv_vprk_complete(struct lgv_vprk *t, char *why, size_t size) {
    int s = t->stages;
    long double A[LGV_VPRK_STAGES * LGV_VPRK_STAGES] = {0};
    if (s < 2 || s > LGV_VPRK_STAGES) {
        snprintf(why, size, "a tableau has 2 to %d stages", LGV_VPRK_STAGES);
        return false;
    }
    for (int i = 0; i < s; i++) {
        if (fabs(t->a[0][i]) > 1e-12 || fabs(t->a[s - 1][i] - t->b[i]) > 1e-12) {
            snprintf(
                why, size,
                "the first row of a must vanish and its last row must be b (column %d): stages must begin at q and "
                "end at the new q, where constraints hold",
                i + 1);
            return false;
        }
    }
    t->multipliers = s - 1;
    for (int i = 0; i < s; i++) {
        t->time[i] = 0;
        for (int j = 0; j < s; j++) {
            double hat = 1 - t->a[j][i] / t->b[i];
            t->ahat[i][j] = fabs(hat) < 1e-14 ? 0 : hat;
            t->time[i] += t->a[i][j];
        }
        if (fabs(t->time[i] - 1) < 1e-14) t->time[i] = 1;
        if (fabs(t->time[i]) < 1e-14) t->time[i] = 0;
    }
    for (int m = 0; m + 1 < s; m++)
        for (int j = 0; j < s; j++) {
            t->d[m][j] = t->a[m][j];
            t->e[m][j] = t->a[m + 1][j];
            t->am[j][m] = t->ahat[j][m];
        }
    for (int i = 1; i < s; i++)
        for (int j = 0; j + 1 < s; j++)
            for (int k = 0; k < s; k++) A[(i - 1) * (s - 1) + j] += t->a[i][k] * t->ahat[k][j];
    double det = (double)lgv_linear_determinant(s - 1, A);
    if (!(fabs(det) > 1e-10)) {
        snprintf(why, size,
                 "the solvability condition fails: the matrix sum_k a_ik (1 - a_jk/b_k), i = 2..s, j = 1..s-1, is "
                 "singular (determinant %.3g), so constraints would not determine the multipliers",
                 det);
        return false;
    }
    return true;
}

/* Lobatto IIIA: a_ij is the integral of the Lagrange polynomial j from 0 to c_i. */
static void lobatto(int s, struct lgv_vprk *t) {
    struct lgv_galerkin g, gauss;
    char name[32], ignore[200];
    *t = (struct lgv_vprk){.stages = s, .project = true};
    snprintf(name, sizeof name, "P1N%dQ%dLob", s, 2 * s - 2);
    if (!lgv_galerkin_parse(name, &g, ignore, sizeof ignore) ||
        !lgv_galerkin_parse("P1N6Q12Gau", &gauss, ignore, sizeof ignore))
        return;
    for (int i = 0; i < s; i++) {
        t->b[i] = t->nu[i] = g.rule.weight[i];
        for (int j = 0; j < s; j++)
            for (int k = 0; i > 0 && k < gauss.rule.count; k++) {
                double x = g.rule.node[i] * gauss.rule.node[k], value = gauss.rule.weight[k] * g.rule.node[i];
                for (int l = 0; l < s; l++)
                    if (l != j) value *= (x - g.rule.node[l]) / (g.rule.node[j] - g.rule.node[l]);
                t->a[i][j] += value;
            }
    }
    memcpy(t->a[s - 1], t->b, sizeof t->b);
    lgv_vprk_complete(t, ignore, sizeof ignore);
}

/* One stage, at q (adjoint: at the new q). */
static void euler(bool adjoint, struct lgv_vprk *t) {
    *t = (struct lgv_vprk){.stages = 1, .multipliers = 1, .b = {1}, .nu = {1}, .project = true};
    t->e[0][0] = t->am[0][0] = 1;
    t->a[0][0] = t->time[0] = adjoint;
    t->ahat[0][0] = !adjoint;
}

/* All forces at q, entering the drift, or at the new q: kicks around one drift. */
static bool kicks(const struct lgv_vprk *t) {
    if (t->multipliers != 1) return false;
    for (int i = 0; i < t->stages; i++)
        for (int j = 0; j < t->stages; j++)
            if ((t->time[i] != 0 && t->time[i] != 1) || t->ahat[i][j] != (t->time[j] == 0) || t->am[i][0] != 1 ||
                (t->time[i] == 0 && t->a[i][j] != 0))
                return false;
    return true;
}

static bool with_dz(const struct lgv_vprk *t) {
    for (int j = 0; j < t->stages; j++)
        if (t->kappa[j] != 0) return true;
    return false;
}

static size_t table_of(const struct lgv_vprk *t, double *out) {
    int s = t->stages, m = t->multipliers;
    size_t k = 0;
    const double root = 1.7320508075688772935;
    for (int j = 0; j < s; j++) out[k++] = t->b[j];
    for (int j = 0; j < s; j++) {
        double beta = t->nu[j] - root * t->kappa[j]; /* psi = sqrt 12 (J - dW/2) */
        out[k++] = fabs(beta) < 1e-15 ? 0 : beta;
    }
    for (int j = 0; j < s; j++) out[k++] = 2 * root * t->kappa[j];
    for (int j = 0; j < s; j++) out[k++] = t->time[j];
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) out[k++] = t->a[i][j];
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) out[k++] = t->ahat[i][j];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < s; j++) out[k++] = t->d[i][j];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < s; j++) out[k++] = t->e[i][j];
    for (int i = 0; i < s; i++)
        for (int j = 0; j < m; j++) out[k++] = t->am[i][j];
    return k;
}

/* ---- descriptions ---- */

/* Noise weights as variational.c has them: A = a ahat. */
static void weights_of(const struct lgv_vprk *t, struct lgv_weights *w) {
    *w = (struct lgv_weights){.count = t->stages};
    for (int i = 0; i < t->stages; i++) {
        w->c[i] = t->time[i];
        w->nu[i] = t->nu[i];
        w->kappa[i] = t->kappa[i];
        for (int j = 0; j < t->stages; j++)
            for (int k = 0; k < t->stages; k++) w->A[i][j] += t->a[i][k] * t->ahat[k][j];
    }
}

/* Momenta of stage i are at sum_j b_j ahat_ij. */
static void modified_of(const struct lgv_vprk *t, struct lgv_method *m) {
    double chat[LGV_VPRK_STAGES] = {0};
    for (int i = 0; i < t->stages; i++)
        for (int j = 0; j < t->stages; j++) chat[i] += t->b[j] * t->ahat[i][j];
    lgv_modified_set(m, t->stages, t->b, t->time, chat);
}

static bool fill(const char *name, const char *doc, const struct lgv_vprk *t, double order, struct lgv_method *m) {
    double table[TABLE];
    char defines[400];
    size_t count = table_of(t, table);
    struct lgv_weights w;
    weights_of(t, &w);
    *m = lgv_method_vprk;
    m->order = order;
    modified_of(t, m);
    lgv_weights_judge(&w, t->corrected ? LGV_CORRECTION_MEAN : LGV_CORRECTION_NONE, m);
    m->uses_dz = with_dz(t);
    m->kicks = kicks(t);
    m->forced = m->kicks;
    if (m->kicks) m->linear = LGV_LINEAR_VERLET; /* or conjugate to it: without constraints */
    m->rotations = m->coupled = m->kicks; /* text/vprk_bodies.h */
    m->varies = m->kicks && m->correction == 0 && t->stages <= 2; /* text/vprk_group.h */
    m->maps = t->exponential;
    if (m->maps) m->needs |= LGV_NEEDS_ROTATIONS;
    m->forced_ends = m->kicks && t->project && !m->uses_dz && m->correction == 0;
    m->face_general = m->face_separable =
        LGV_FACE_K1 | (m->kicks ? LGV_FACE_FORCE : LGV_FACE_K2) | (m->correction != 0 ? LGV_FACE_K2 : 0);
    snprintf(
        defines, sizeof defines,
        "#define VPRK_S %dL\n#define VPRK_M %dL\n#define VPRK_DZ %d\n#define VPRK_KICKS %d\n#define VPRK_PROJECT %d\n"
        "#define VPRK_CORRECTION %.17g\n%s",
        t->stages, t->multipliers, m->uses_dz, m->kicks, t->project, m->correction,
        t->exponential ? "#define VPRK_EXPONENTIAL 1\n" : "");
    m->name = lgv_copy(name);
    m->doc = lgv_copy(doc);
    m->constants = lgv_table_text(defines, "vprk_table", table, count);
    /* values as methods/vprk.c has them */
    m->callbacks = m->kicks && t->project && !m->maps ? lgv_method_vprk.callbacks : NULL;
    double *values = lgv_new(3 + count, sizeof *values);
    if (values) {
        const double head[] = {t->stages, m->uses_dz, m->correction};
        memcpy(values, head, sizeof head);
        memcpy(values + 3, table, count * sizeof *table);
    }
    m->values = values;
    return m->name && m->doc && m->constants && m->values;
}

/* Order without noise, up to 4, of the partitioned method (a, abar_ij = ahat_ij b_j). */
static double order_of(const struct lgv_vprk *t) {
    struct lgv_tableau p = {.stages = t->stages};
    for (int i = 0; i < t->stages; i++) {
        p.alpha[i] = t->b[i];
        for (int j = 0; j < t->stages; j++) {
            p.a[i][j] = t->a[i][j];
            p.abar[i][j] = t->ahat[i][j] * t->b[j];
        }
    }
    return lgv_tableau_order(&p);
}

struct lgv_method *lgv_vprk_describe(const char *name, const struct lgv_vprk *t) {
    struct lgv_method *m = lgv_new(1, sizeof *m);
    char doc[160];
    snprintf(doc, sizeof doc, "Variational partitioned Runge-Kutta method with %d stages%s, given in the model file.",
             t->stages, t->corrected ? " on a potential corrected for noise h(q)" : "");
    if (m && fill(name, doc, t, order_of(t), m)) {
        m->paper = "given in the model file";
        m->claims = "Symplectic; keeps constraints and momentum maps of symmetries that act linearly on the "
                    "coordinates or shift them.";
        return m;
    }
    if (m) lgv_method_free(m);
    return NULL;
}

#define ROOT 0.28867513459481288 /* 1 / (2 sqrt 3): J = dW/2 + ROOT psi */

/* What has noise here is theirs: variational partitioned Runge-Kutta methods with noise h(q) and constraints. */
#define WITH_NOISE                                                                                                     \
    "Bou-Rabee & Owhadi, Stochastic variational partitioned Runge-Kutta integrators for constrained systems"

#define ON_GROUPS "Bou-Rabee & Owhadi (2009), Stochastic variational integrators, doi 10.1093/imanum/drn018"

static const struct entry {
    const char *name, *paper, *aliases, *doc;
    int kind; /* 0 Euler, 1 its adjoint, else the number of Lobatto stages */
    double order;
    bool corrected;
    bool weights; /* nu and kappa are given, else nu = b */
    bool linear;  /* nu = b, kappa_i = sqrt 12 b_i (1/2 - c_i): those of PsNrQu-J in rules.c */
    double nu[3], kappa[3];
    bool loose;       /* without the last projection */
    bool exponential; /* rotations by exp, on a Lagrangian */
} entries[] = {
    {.name = "VE",
     .paper = WITH_NOISE,
     .aliases = "variational-euler",
     .doc = "Variational Euler: force, noise and multipliers at the old position.",
     .order = 1},
    {.name = "SVE",
     .paper = WITH_NOISE,
     .aliases = "stochastic-variational-euler",
     .doc = "Stochastic variational Euler: variational Euler (VE) under the name it has with noise.",
     .order = 1},
    {.name = "VE-adjoint",
     .paper = WITH_NOISE,
     .doc = "Adjoint of variational Euler: force and noise at the new position.",
     .kind = 1,
     .order = 1},
    {.name = "RATTLE",
     .paper = "Andersen (1983), doi 10.1016/0021-9991(83)90014-1; with noise: " WITH_NOISE,
     .doc = "Stochastic RATTLE (Lobatto IIIA-IIIB, s = 2) with noise weights (dW/2, dW/2).",
     .kind = 2,
     .order = 2},
    {.name = "RATTLE-J",
     .paper = "derived for this project, on RATTLE with noise: " WITH_NOISE,
     .doc =
         "RATTLE with noise weights (J, dW - J): of order 3/2 for additive noise in flat space with constant masses, "
         "where it has order 2 without.",
     .kind = 2,
     .order = 2,
     .weights = true,
     .nu = {0.5, 0.5},
     .kappa = {ROOT, -ROOT}},
    {.name = "RATTLE-Jc",
     .paper = "derived for this project, on RATTLE with noise: " WITH_NOISE,
     .doc = "RATTLE-J on a potential corrected by dt/12 |P grad h|^2: strong order 3/2, weak order 2.",
     .kind = 2,
     .order = 2,
     .corrected = true,
     .weights = true,
     .nu = {0.5, 0.5},
     .kappa = {ROOT, -ROOT}},
    {.name = "RATTLE-weak2",
     .paper = "derived for this project, on RATTLE with noise: " WITH_NOISE,
     .doc = "RATTLE on a potential corrected by dt/8 |P grad h|^2: weak order 2.",
     .kind = 2,
     .order = 2,
     .corrected = true},
    {.name = "SHAKE",
     .paper = "Ryckaert, Ciccotti & Berendsen (1977), doi 10.1016/0021-9991(77)90098-5; with noise: " WITH_NOISE,
     .doc = "SHAKE: RATTLE without the last projection. Its positions are those of RATTLE; its momenta are shown "
            "projected onto the hidden constraint, which they leave between outputs.",
     .kind = 2,
     .order = 2,
     .loose = true},
    {.name = "SVE-exp",
     .paper = ON_GROUPS,
     .doc = "Stochastic variational Euler on a group with tau = exp, for Lagrangians l(g, xi) with rotations; SVE has "
            "the Cayley map.",
     .order = 1,
     .exponential = true},
    {.name = "VE-adjoint-exp",
     .paper = ON_GROUPS,
     .doc = "Adjoint of SVE-exp: force and noise at the new position.",
     .kind = 1,
     .order = 1,
     .exponential = true},
    {.name = "RATTLE-exp",
     .paper = ON_GROUPS,
     .doc = "Half a step of SVE-exp and half a step of its adjoint; RATTLE has the Cayley map.",
     .kind = 2,
     .order = 2,
     .exponential = true},
    {.name = "Lobatto3",
     .paper = "Jay (1996), doi 10.1137/0733019; with noise: " WITH_NOISE,
     .doc = "Lobatto IIIA-IIIB with 3 stages: order 4 without noise.",
     .kind = 3,
     .order = 4},
    {.name = "Lobatto4",
     .paper = "Jay (1996), doi 10.1137/0733019; with noise: " WITH_NOISE,
     .doc = "Lobatto IIIA-IIIB with 4 stages: order 6 without noise.",
     .kind = 4,
     .order = 6},
    {.name = "Lobatto3-Jc",
     .paper = "derived for this project, on the methods of Jay (1996), doi 10.1137/0733019",
     .doc = "Lobatto3 with noise weights of dW and J on a potential corrected by dt/24 |P grad h|^2: strong order 3/2, "
            "weak order 2.",
     .kind = 3,
     .order = 4,
     .corrected = true,
     .linear = true},
    {.name = "Lobatto4-Jc",
     .paper = "derived for this project, on the methods of Jay (1996), doi 10.1137/0733019",
     .doc = "Lobatto4 with noise weights of dW and J on a potential corrected by dt/30 |P grad h|^2: strong order 3/2, "
            "weak order 2.",
     .kind = 4,
     .order = 6,
     .corrected = true,
     .linear = true},
    {.name = "Lobatto3-W1",
     .paper = "derived for this project, on the methods of Jay (1996), doi 10.1137/0733019",
     .doc = "Lobatto3 with noise weights of strong order 3/2, symmetric in time.",
     .kind = 3,
     .order = 4,
     .weights = true,
     .nu = {0.028595479208968317, 0.94280904158206337, 0.028595479208968317},
     .kappa = {ROOT, 0, -ROOT}},
    {.name = "Lobatto3-W2",
     .paper = "derived for this project, on the methods of Jay (1996), doi 10.1137/0733019",
     .doc = "Lobatto3 with the weights of its rule for dW and further ones for J: strong order 3/2.",
     .kind = 3,
     .order = 4,
     .weights = true,
     .nu = {1.0 / 6, 2.0 / 3, 1.0 / 6},
     .kappa = {ROOT - 1.0 / 3, 2.0 / 3, -ROOT - 1.0 / 3}},
};
#define ENTRIES (sizeof entries / sizeof *entries)

static bool describe(const char *name, const void *what, struct lgv_method *m) {
    const struct entry *e = what;
    struct lgv_vprk t;
    if (e->kind < 2)
        euler(e->kind, &t);
    else
        lobatto(e->kind, &t);
    for (int j = 0; e->weights && j < t.stages; j++) {
        t.nu[j] = e->nu[j];
        t.kappa[j] = e->kappa[j];
    }
    for (int j = 0; e->linear && j < t.stages; j++) t.kappa[j] = t.b[j] * (0.5 - t.time[j]) / ROOT;
    t.project = !e->loose;
    t.exponential = e->exponential;
    t.corrected = e->corrected;
    if (!fill(name, e->doc, &t, e->order, m)) return false;
    m->aliases = e->aliases ? e->aliases : "";
    m->paper = e->paper;
    m->loose = e->loose;
    m->symmetric = e->kind >= 2 && !e->loose && !m->uses_dz && !e->corrected;
    m->claims =
        m->maps ? "Symplectic in (g, m), where m is the momentum of the state; keeps momentum maps of symmetries. For "
                  "Lagrangians without constraints."
        : e->loose ? "Symplectic; keeps constraints, but not the hidden ones, and momentum maps of symmetries that act "
                   "linearly on the coordinates or shift them."
                 : "Symplectic on the constraint set; keeps constraints and hidden constraints, and momentum maps of "
                   "symmetries that act linearly on the coordinates or shift them.";
    return true;
}

const struct lgv_method *lgv_vprk_find(const char *name) {
    for (size_t i = 0; i < ENTRIES; i++)
        if (strcasecmp(name, entries[i].name) == 0) return lgv_method_keep(entries[i].name, describe, &entries[i]);
    return NULL;
}
